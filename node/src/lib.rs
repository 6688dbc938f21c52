//! The Trainyard node: BABE authorship weighted by verified compute power, GRANDPA
//! finality, and JSON-RPC.
//!
//! It is a library, so that the binary and the tests share one compilation of it.

pub mod chain_spec;
pub mod chunks;
pub mod cli;
pub mod client;
pub mod command;
pub mod equivocations;
mod finality;
pub mod metrics;
pub mod ports;
pub mod rpc;
pub mod service;
