//! Tests, by behaviour.

mod bonds;
mod committing;
mod decisions;
mod draws;
mod opening;
mod random;
mod recompute;
mod rescues;
mod revealing;
mod rule;
