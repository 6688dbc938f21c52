//! Tests, by behaviour.

mod accusing;
mod attacks;
mod bonds;
mod claims;
mod committing;
mod decisions;
mod draws;
mod forced;
mod forfeits;
mod opening;
mod places;
mod pool;
mod random;
mod recompute;
mod rejections;
mod relay;
mod rescues;
mod revealing;
mod rule;
mod seats;
mod shares;
mod standing;
mod thinning;
mod unheard;
mod vrf;
mod withholding;
