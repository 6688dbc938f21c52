//! The Trainyard node: BABE authorship weighted by verified compute power, GRANDPA
//! finality, and JSON-RPC.

mod chain_spec;
mod cli;
mod command;
mod ports;
mod rpc;
mod service;

use std::process::ExitCode;

fn main() -> ExitCode {
	match command::run() {
		Ok(()) => ExitCode::SUCCESS,
		Err(error) => {
			eprintln!("Error: {error}");
			ExitCode::FAILURE
		}
	}
}
