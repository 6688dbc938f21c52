//! Proof of Training: what a run reads, what it leaves, and how somebody else checks it.
//!
//! - [`data`] reads what a job trains on, [`inputs`] all files that it names, [`hash`] says what
//!   is in them;
//! - [`train`] runs a job into a [`bundle`], killed or not;
//! - [`restore`] thins the states of a bundle out, and computes those again that are not there;
//! - [`trace`] is the trace of a segment while it is computed;
//! - [`verify`] checks bundles: integrity, the six full-pass rules, replay;
//! - [`court`] computes again what a dispute asks for;
//! - [`drill`] computes work units of drilling.
//!
//! # Example
//!
#![doc = "```rust"]
#![doc = include_str!("../examples/verify_bundle.rs")]
#![doc = "```"]

pub mod bundle;
pub mod court;
pub mod data;
pub mod drill;
pub mod hash;
pub mod inputs;
pub mod restore;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trace;
pub mod train;
pub mod verify;
