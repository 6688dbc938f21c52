//! What several pallets do in the same way. This is a library: it has no storage, calls or events
//! of its own, and no pallet imports another through it.
//!
//! - [`agenda`] is the clock of a pallet: what is due when, and the bounded service of what is due.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

pub mod agenda;
