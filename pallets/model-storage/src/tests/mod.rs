//! Tests, by behaviour.

mod direct;
mod proofs;
mod random;
mod register;
mod retention;
mod room;
mod upload;
mod versions;
