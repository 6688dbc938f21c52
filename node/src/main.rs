//! The command `trainyard-node`.

use std::process::ExitCode;

fn main() -> ExitCode {
	match trainyard_node::command::run() {
		Ok(()) => ExitCode::SUCCESS,
		Err(error) => {
			eprintln!("Error: {error}");
			ExitCode::FAILURE
		}
	}
}
