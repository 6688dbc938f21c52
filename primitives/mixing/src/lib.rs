//! Strict mixing of models that were trained apart.
//!
//! Peers train copies of one model on their own, and mix them now and then. There are two ways, and both
//! are functions of their inputs to the bit, so whoever has the inputs can say what must come out:
//!
//! - [`average`]: the mean of two models;
//! - **outer steps**: each peer says by how much its copy moved, compressed ([`Compression`]), and what the
//!   compression lost waits for the next update ([`Residual`]); the updates of all peers are aggregated
//!   ([`Aggregation`]) and the model takes a step of an outer optimizer by it ([`OuterStep`], [`OuterStep::take`]).
//!
//! Numbers are binary32, in strict arithmetic. Everything works *block by block*: 4,096 values of one tensor
//! that follow one another, at most. The bytes of a block in an update begin where lengths alone say, so a
//! single block can be opened, checked and computed again without the others; only the norm of an update
//! ([`norm`]) is over all of it.
//!
//! `docs/mixing.md` says the same in words, with vectors.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

extern crate alloc;

mod aggregate;
mod bits;
mod block;
mod outer;
mod rule;
mod step;
#[cfg(test)]
mod tests;
mod update;

pub use aggregate::{late_weight, norm, Aggregation, Contribution};
pub use block::{Block, Entry};
pub use outer::{average, OuterStep};
pub use rule::{Compression, Fault, RuleError, BLOCK, MAX_VALUES};
pub use step::Counted;
pub use update::{compress, move_of, Layout, Residual, Update};
