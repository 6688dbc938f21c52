//! What chain and workers exchange: jobs and their money, states, bundles and the roots that bind
//! them, commitments, draws, verdicts, work units of drilling, and the views that clients read.
//!
//! Everything here is a pure function of its arguments, `no_std`, free of panics and identical in
//! the runtime's wasm and in the worker. What a job computes is in `trainyard_program`.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

extern crate alloc;

pub mod accusation;
pub mod audit;
pub mod bets;
pub mod blob;
pub mod bundle;
pub mod claims;
pub mod commitment;
pub mod content;
pub mod court;
pub mod decay;
pub mod draw;
pub mod drill;
pub mod duties;
pub mod federation;
pub mod fees;
pub mod forced;
pub mod job;
pub mod lottery;
pub mod merkle;
pub mod model_file;
pub mod pieces;
pub mod pools;
pub mod price;
pub mod relay;
pub mod reputation;
pub mod retention;
pub mod rows;
pub mod seats;
pub mod sets;
pub mod state;
pub mod stint;
pub mod swarm;
pub mod trace;
pub mod views;
pub mod vrf;
pub mod watch;

pub use trainyard_program::{MicroUt, Text, H256};

/// Number of a job: 0, 1, 2, … in order of posting.
pub type JobId = u32;

/// Version of what is hashed, signed, stored or asked for. A client refuses a chain whose runtime
/// speaks a different version, instead of misreading its bytes.
pub const PROTOCOL_VERSION: u32 = 28;
