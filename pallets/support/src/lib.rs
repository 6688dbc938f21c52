//! What several pallets do in the same way. This is a library: it has no storage, calls or events
//! of its own, and no pallet imports another through it.
//!
//! - [`agenda`] is the clock of a pallet: what is due when, and the bounded service of what is due.
//! - [`history`] is a value with its recent changes, for draws that look back.
//! - [`majority`] says what most of a committee found.
//! - [`turnover`] says how fast the members of a pool may change.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

pub mod agenda;
pub mod history;
pub mod majority;
pub mod turnover;
