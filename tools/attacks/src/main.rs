//! Tries attacks on the protocol, on the whole runtime in one process.
//!
//! `random` makes random sequences of calls of accounts that are honest, careless and hostile, and
//! checks after each block that no money came from nowhere or went there, and again and again that
//! the state of every pallet is what it should be and that exactly what is recorded is on hold.

mod random;
mod world;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Tries attacks on the protocol, on the whole runtime in one process")]
struct Cli {
	#[command(subcommand)]
	command: Command,
	/// Prints JSON.
	#[arg(long, global = true)]
	json: bool,
}

#[derive(Subcommand)]
enum Command {
	/// Makes random calls and checks the books.
	Random {
		/// Calls in all.
		#[arg(long, default_value_t = 100_000)]
		calls: u64,
		/// Seed of the sequence: the same seed makes the same calls.
		#[arg(long, default_value_t = 1)]
		seed: u64,
	},
}

fn main() {
	let Cli { command, json } = Cli::parse();
	match command {
		Command::Random { calls, seed } => match random::run(seed, calls) {
			Ok(report) if json => println!("{}", report.json()),
			Ok(report) => println!("{report}"),
			Err(problem) => {
				eprintln!("seed {seed}: {problem}");
				std::process::exit(1);
			}
		},
	}
}
