//! The Trainyard worker: the command `trainyard`.
//!
//! - [`cli`] is the command line, [`args`] the options that several commands share;
//! - [`roles`] are the long-running roles: trainer, verifier, driller;
//! - [`job_toml`] reads jobs as people write them, [`demands`] counts what they ask for;
//! - [`encoding`] compresses files, and rounds the tensors of models to 16 or 8 bits;
//! - [`federate`] prepares federated rounds, and follows them;
//! - [`ranks`] are several processes of one owner that train one model;
//! - [`sweep`] makes sets of jobs of one, and shows what their members score;
//! - [`swarm`] is a peer of a swarm;
//! - [`task`] runs deterministic tasks;
//! - [`plot`] draws the curves of a run;
//! - [`whetstone`] measures what this machine is worth in units of work;
//! - [`table`] lays out what is printed, and [`terminal`] keeps strangers' text harmless there.
//!
//! It computes with `trainyard_engine`, proves with `trainyard_proof`, and talks to the chain
//! through `trainyard_client`.

pub mod args;
pub mod cli;
pub mod demands;
pub mod encoding;
pub mod federate;
pub mod job_toml;
pub mod plot;
pub mod ranks;
pub mod roles;
pub mod swarm;
pub mod sweep;
pub mod table;
pub mod task;
pub mod terminal;
pub mod whetstone;
