//! The Trainyard node: BABE authorship weighted by verified compute power, GRANDPA
//! finality, and JSON-RPC.

mod chain_spec;
mod cli;
mod command;
mod ports;
mod rpc;
mod service;

fn main() -> sc_cli::Result<()> {
	command::run()
}
