//! Tests, by behaviour.

mod accusing;
mod attacks;
mod bonds;
mod claims;
mod committing;
mod decisions;
mod draws;
mod opening;
mod pool;
mod random;
mod recompute;
mod relay;
mod rescues;
mod revealing;
mod rule;
mod seats;
mod standing;
mod vrf;
mod withholding;
