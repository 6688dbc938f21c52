//! Swarms of peers that train apart and mix what they have, played in one process and measured.
//!
//! `--paper` plays the session of LEARNAE's study again, by its rule of payment, and what the study leaves to
//! the future: profit seekers, and peers that are killed, cut off, lie or take without paying. Training and
//! averaging are those of the chain, in strict arithmetic, so the tables are the same on every machine.
//! `docs/swarm.md` has them.

mod bets;
mod compression;
mod data;
mod links;
mod model;
mod outer;
mod paper;
mod private;
mod report;
mod session;

use anyhow::{Context, Result};
use clap::{Args, Parser};
use std::{fs, path::PathBuf, process::ExitCode};

#[derive(Parser)]
#[command(about = "Plays swarms of peers that train apart and mix, and measures them")]
struct Cli {
	#[command(flatten)]
	what: What,
	#[command(flatten)]
	size: paper::Size,
	#[command(flatten)]
	trained: compression::Size,
	#[command(flatten)]
	terms: links::peer::Terms,
	#[command(flatten)]
	hidden: private::Size,
	/// Prints JSON.
	#[arg(long)]
	json: bool,
	/// Fails where this page, docs/swarm.md, has other tables.
	#[arg(long)]
	check: Option<PathBuf>,
}

/// What is played: one of these.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct What {
	/// Plays the session of the study, and what it leaves to the future. Exit code 1 where what docs/swarm.md
	/// says of it does not hold.
	#[arg(long)]
	paper: bool,
	/// Trains a transformer by outer steps over compressed updates, and over whole ones beside it.
	#[arg(long, conflicts_with_all = ["json", "check"])]
	compression: bool,
	/// Computes what luck brings whoever claims without a gain, by the rule of the chain.
	#[arg(long, conflicts_with = "json")]
	bets: bool,
	/// Trains rounds alone, writes a model and its movement to this file, and says in JSON what a round takes and
	/// what strict mixing adds to it. For tools/swarm/links.
	#[arg(long, conflicts_with_all = ["json", "check"])]
	links_alone: Option<PathBuf>,
	/// Runs the peer of this number, and talks to tools/swarm/links.
	#[arg(long, hide = true, conflicts_with_all = ["json", "check"])]
	links_peer: Option<u32>,
	/// Trains with hidden rows (differential privacy), and without beside it.
	#[arg(long, conflicts_with_all = ["json", "check"])]
	private: bool,
}

fn main() -> ExitCode {
	let cli = Cli::parse();
	match played(&cli) {
		Ok(wrong) => {
			for wrong in &wrong {
				eprintln!("this should hold, and does not: {wrong}");
			}
			ExitCode::from(u8::from(!wrong.is_empty()))
		}
		Err(error) => {
			eprintln!("error: {error:#}");
			ExitCode::from(2)
		}
	}
}

/// Plays what is asked for and prints it. Returns what should hold and does not.
fn played(cli: &Cli) -> Result<Vec<String>> {
	if cli.what.compression {
		print!("{}", compression::run(&cli.trained)?);
		return Ok(Vec::new());
	}
	if let Some(to) = &cli.what.links_alone {
		println!("{}", links::alone::run(&cli.trained, to)?);
		return Ok(Vec::new());
	}
	if let Some(number) = cli.what.links_peer {
		links::peer::run(&cli.trained, &cli.terms, number)?;
		return Ok(Vec::new());
	}
	if cli.what.private {
		print!("{}", private::run(&cli.hidden)?);
		return Ok(Vec::new());
	}
	// Before all is played.
	let page = cli.check.as_ref().map(|page| {
		fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))
	});
	let page = page.transpose()?;
	let mut found = match cli.what.bets {
		true => paper::Found { text: bets::table()?, ..Default::default() },
		false => paper::run(cli.size)?,
	};
	match cli.json {
		true => println!("{}", serde_json::Value::Object(found.json)),
		false => print!("{}", found.text),
	}
	for line in found.text.lines().filter(|line| line.starts_with('|')) {
		if page.as_ref().is_some_and(|page| !page.lines().any(|other| other == line)) {
			found.wrong.push(format!("the page has this line: {line}"));
		}
	}
	Ok(found.wrong)
}
