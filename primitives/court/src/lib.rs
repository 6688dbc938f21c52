//! Disputes about a training, narrowed until a chain can decide by recomputing.
//!
//! A defendant said what a training comes to, and a challenger says that it comes to something else.
//! Step by step the defendant posts digests of its computation and the challenger names the first
//! that it denies, until a *piece* is left: a stretch of one chain of one element of one tensor, or
//! a join of hashes. Whoever is accused brings the openings that the piece reads, and the
//! [`referee`] computes.
//!
//! Everything here is a pure function of its arguments, `no_std` and free of panics: a chain runs
//! it, and so do the workers that play. There is no money, no clock and no storage in it.
//!
//! - [`case`] is what a dispute is about: specification and seed, and what a referee says;
//! - [`game`] is how it narrows: places, moves and posts;
//! - [`referee`] decides about pieces from openings.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

extern crate alloc;

pub mod case;
pub mod game;
pub mod referee;
/// Jobs with their data and runs of them in memory, for tests of this crate and of those that play.
#[cfg(any(test, feature = "testing"))]
#[allow(
	missing_docs,
	clippy::unwrap_used,
	clippy::expect_used,
	clippy::indexing_slicing,
	clippy::panic
)]
pub mod testing;

pub use case::{Case, Refused, Value, Verdict};
