//! What the Trainyard chain and its workers must agree on, in one place: the job
//! specification, the operator list it lowers to, the count of its work, units of drilling,
//! content hashes and Merkle proofs, commitments, draws, and strict scalar arithmetic.
//!
//! Everything here is a pure function of its arguments, `no_std`, free of panics
//! and identical in the runtime's wasm and in the worker.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

extern crate alloc;

pub mod audit;
pub mod blob;
pub mod bundle;
pub mod commitment;
pub mod draw;
pub mod drill;
pub mod init;
pub mod job;
pub mod lower;
pub mod merkle;
pub mod ops;
pub mod order;
pub mod philox;
pub mod schedule;
pub mod spec;
pub mod strict;
pub mod text;
#[cfg(feature = "frame")]
pub mod traits;
pub mod units;
pub mod views;
pub mod work;

pub use primitive_types::H256;
pub use text::Text;
pub use units::MicroUt;

/// Number of a job: 0, 1, 2, … in order of posting.
pub type JobId = u32;

/// Version of what this crate defines. A client refuses a chain whose runtime
/// speaks another one, instead of misreading its bytes.
pub const PROTOCOL_VERSION: u32 = 3;
