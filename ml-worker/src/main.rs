//! The command `trainyard`.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
	trainyard_worker::cli::Cli::parse().main()
}
