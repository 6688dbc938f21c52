//! Tests, by behaviour.

mod attacks;
mod claims;
mod members;
mod random;
