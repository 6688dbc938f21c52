//! Tests, by behaviour.

mod direct;
mod random;
mod register;
mod retention;
mod room;
mod upload;
