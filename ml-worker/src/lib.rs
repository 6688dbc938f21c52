//! The Trainyard worker: everything that computes.
//!
//! Offline:
//! - [`job_toml`] reads jobs as people write them, [`data`] the data they train on, [`inputs`]
//!   all files that they name;
//! - [`engine`] executes the operator list of a job with strict arithmetic;
//! - [`train`] runs a job into a [`bundle`] (Proof of Training), killed or not;
//! - [`verify`] checks bundles: integrity, the six full-pass rules, replay;
//! - [`drill`] computes units of drilling;
//! - [`plot`] draws the curves of a run;
//! - [`whetstone`] measures what this machine is worth in units of work.
//!
//! On chain:
//! - [`chain`] speaks with a node: calls, blobs, keys;
//! - [`daemon`] are the long-running roles: trainer, verifier, driller.
//!
//! [`cli`] is the command line over all of it.

pub mod amount;
pub mod bench;
pub mod bundle;
pub mod chain;
pub mod cli;
pub mod daemon;
pub mod data;
pub mod drill;
pub mod engine;
pub mod hash;
pub mod inputs;
pub mod job_toml;
pub mod plot;
pub mod train;
pub mod verify;
pub mod whetstone;

#[cfg(test)]
pub(crate) mod testing;
