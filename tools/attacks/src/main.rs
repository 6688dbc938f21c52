//! Tries attacks on the protocol, on the whole runtime in one process.
//!
//! `attack` and `all` try those of the reviews, each in a scene of its own, and print what the
//! attacker spent and gained and what each honest party lost. `docs/security.md` is the table of
//! them.
//!
//! `random` makes random sequences of calls of accounts that are honest, careless and hostile, and
//! checks after each block that no money came from nowhere or went there, and again and again that
//! the state of every pallet is what it should be and that exactly what is recorded is on hold.

mod attacks;
mod disputes;
mod jobs;
mod random;
mod report;
mod scene;
mod states;
mod swarms;
mod transcripts;
mod world;

use clap::{Parser, Subcommand};
use report::{Attack, Report};
use std::path::PathBuf;

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
	/// Lists the attacks.
	List,
	/// Tries one attack.
	Attack {
		/// Its name.
		name: String,
	},
	/// Tries all attacks. Fails where somebody honest loses more than fees by one that is not known
	/// to be open, or where one that is called open is not.
	All {
		/// Only those whose name has this in it; may be given again.
		#[arg(long)]
		only: Vec<String>,
		/// Prints the table of docs/security.md.
		#[arg(long, conflicts_with = "json")]
		table: bool,
	},
	/// Makes random calls and checks the books.
	Random {
		/// Calls in all.
		#[arg(long, default_value_t = 100_000)]
		calls: u64,
		/// Seed of the sequence: the same seed makes the same calls.
		#[arg(long, default_value_t = 1)]
		seed: u64,
	},
	/// Counts what swarms of so many peers cost on chain.
	Swarms {
		/// How many peers.
		#[arg(long, num_args = 1.., default_values_t = [20, 200, 20_000], value_parser = clap::value_parser!(u32).range(2..))]
		peers: Vec<u32>,
	},
	/// Plays disputes of every operator and of everything else that can be false, each with a cheat and
	/// with a false accuser, and prints their transcripts: transactions, bytes, weight, fees, money.
	Transcripts {
		/// Only those of this operator, or of something else by its name; may be given again.
		#[arg(long)]
		operator: Vec<String>,
		/// Prints the tables of docs/disputes.md in their place.
		#[arg(long, conflicts_with = "json")]
		table: bool,
		/// Writes each into a file of this folder.
		#[arg(long)]
		write: Option<PathBuf>,
		/// Writes their rows, and the dispute that it shows, into this page, docs/disputes.md.
		#[arg(long)]
		page: Option<PathBuf>,
		/// Fails where this page, docs/disputes.md, says something else; weights and fees aside.
		#[arg(long)]
		check: Option<PathBuf>,
	},
}

fn main() {
	let Cli { command, json } = Cli::parse();
	let all = attacks::all();
	match command {
		Command::List => {
			for Attack { name, source, tries, .. } in all {
				println!("{name} ({source}): {tries}");
			}
		}
		Command::Attack { name } => {
			let named: Vec<_> = all.into_iter().filter(|attack| attack.name == name).collect();
			finish(&named, if json { Form::Json } else { Form::Text });
		}
		Command::All { only, table } => {
			let wanted = |attack: &Attack| {
				only.is_empty() || only.iter().any(|part| attack.name.contains(part))
			};
			let some: Vec<_> = all.into_iter().filter(wanted).collect();
			finish(
				&some,
				if json {
					Form::Json
				} else if table {
					Form::Table
				} else {
					Form::Text
				},
			);
		}
		Command::Random { calls, seed } => match random::run(seed, calls) {
			Ok(report) if json => println!("{}", report.json()),
			Ok(report) => println!("{report}"),
			Err(problem) => {
				eprintln!("seed {seed}: {problem}");
				std::process::exit(1);
			}
		},
		Command::Swarms { peers } => {
			let all: Vec<_> = peers.into_iter().map(swarms::cost).collect();
			match json {
				true => {
					println!("{}", serde_json::to_string(&all).expect("it has no keys but strings"))
				}
				false => swarms::table(&all),
			}
		}
		Command::Transcripts { operator: only, table, write, page, check } => {
			let options = transcripts::Options { only, json, table, write, page, check };
			if let Err(problem) = transcripts::run(&options) {
				eprintln!("{problem}");
				std::process::exit(1);
			}
		}
	}
}

/// How reports are printed.
#[derive(Clone, Copy, PartialEq)]
enum Form {
	Text,
	Json,
	Table,
}

/// Tries these, prints their reports, and ends with 1 where one is not as it should be.
fn finish(attacks: &[Attack], form: Form) {
	if attacks.is_empty() {
		eprintln!("there is no attack of this name; `list` names them");
		std::process::exit(2);
	}
	if form == Form::Table {
		println!("{}", report::TABLE);
	}
	let mut reports = Vec::new();
	for attack in attacks {
		let report = Report::of(attack);
		match form {
			Form::Text => println!("{report}"),
			Form::Table => println!("{}", report.row()),
			// All together, in the end.
			Form::Json => {}
		}
		reports.push(report);
	}
	if form == Form::Json {
		println!("{}", serde_json::to_string(&reports).expect("it has no keys but strings"));
	}
	let unexpected: Vec<_> = reports.iter().filter(|report| !report.is_expected()).collect();
	for report in &unexpected {
		eprintln!("{} is not as it should be: {:?}", report.name, report.verdict);
	}
	std::process::exit(i32::from(!unexpected.is_empty()));
}

#[cfg(test)]
mod tests {
	use super::*;
	use std::collections::BTreeSet;

	/// A part of them, so that they run side by side.
	fn try_part(part: usize, parts: usize) {
		for attack in attacks::all().iter().skip(part).step_by(parts) {
			let report = Report::of(attack);
			assert!(report.is_expected(), "{report}");
		}
	}

	#[test]
	fn the_first_half_is_as_it_should_be() {
		try_part(0, 2);
	}

	#[test]
	fn the_second_half_is_as_it_should_be() {
		try_part(1, 2);
	}

	/// The page names every attack, and says of which the honest lose something.
	#[test]
	fn the_page_is_complete() {
		let page = include_str!("../../../docs/security.md");
		let mut names = BTreeSet::new();
		for attack in attacks::all() {
			assert!(names.insert(attack.name), "two are called {}", attack.name);
			assert!(page.contains(&format!("`{}`", attack.name)), "{} is missing", attack.name);
		}
	}

	#[test]
	fn a_short_random_sequence_balances() {
		random::run(1, 400).unwrap();
	}
}
