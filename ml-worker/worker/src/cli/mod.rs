//! The command line: `trainyard COMMAND`.
//!
//! Every command returns its exit code, or an error that `main` prints with its causes:
//! what was wrong, where, and what to do. Results go to standard output, everything else
//! to standard error.

mod bench;
mod certificate;
pub mod chain;
mod estimate;
mod evaluate;
mod fetch;
mod hash;
mod plot;
mod profile;
pub mod progress;
mod ranks;
mod relay;
mod seal;
mod serve;
mod states;
mod task;
mod train;
mod verify;
mod whetstone;

use crate::{roles::replay, terminal};
use clap::{Parser, Subcommand};
use std::{future::Future, io::IsTerminal, process::ExitCode};
use tracing_subscriber::{
	field::MakeExt,
	filter::LevelFilter,
	fmt::{format, FormatFields},
	EnvFilter,
};

/// Trainyard: machine-learning training that is bought, sold and checked.
#[derive(Debug, Parser)]
#[command(name = "trainyard", version, max_term_width = 100)]
pub struct Cli {
	/// Say more; twice for everything. RUST_LOG chooses in detail.
	#[arg(short, long, global = true, action = clap::ArgAction::Count)]
	verbose: u8,
	#[command(subcommand)]
	command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
	/// Says what a job costs: parameters, FLOP by layer, ut, price, escrow.
	Estimate(estimate::Estimate),
	/// Trains a job on this machine into a bundle (Proof of Training).
	Train(train::Train),
	/// Checks a bundle: all files, the full-pass rules, and segments by replay. Or a certificate of a
	/// job, without a node. Exit code 0: passed, 1: failed, 2: cannot be checked.
	Verify(verify::Verify),
	/// Removes states of a finished bundle that can be computed again from those that stay.
	Thin(states::Thin),
	/// Computes the states of a bundle again that are not there, to the bit.
	Restore(states::Restore),
	/// Evaluates a model on the validation rows of a job.
	Evaluate(evaluate::Evaluate),
	/// Draws losses, accuracy and learning rate of a bundle into DIR/curves.svg, or of several
	/// into one picture.
	Plot(plot::Plot),
	/// Measures the full-pass rules on honest runs of a job under other seeds: what their
	/// thresholds should be for it.
	Profile(profile::Profile),
	/// Trains one model by several processes of one owner, here or on other machines: the same model, whatever
	/// their number.
	#[command(subcommand)]
	Ranks(ranks::RanksCommand),
	/// Runs deterministic tasks, and checks their modules; posts, computes, audits and checks those on a chain.
	#[command(subcommand)]
	Task(task::TaskCommand),
	/// Measures the speed of this machine.
	Bench(bench::Bench),
	/// Prints length, content hash and blob root of a file.
	Hash(hash::Hash),
	/// Seals files for a key, opens them, and makes keys for it.
	#[command(subcommand)]
	Seal(seal::SealCommand),
	/// Fetches a file from a location, as trainers do, and prints its length, content hash and blob root.
	Fetch(Box<fetch::FetchCommand>),
	/// Serves files of your jobs from this machine, over iroh or by HTTP, until it is stopped.
	Serve(Box<serve::ServeCommand>),
	/// Runs the Whetstone benchmark, and says what this machine is worth in ut a day by it and by
	/// strict training.
	Whetstone(whetstone::WhetstoneCommand),
	/// Runs a relay, at which endpoints of iroh wait that have no open port.
	Relay(relay::RelayCommand),
	/// Replays for a role, which starts it by itself.
	#[command(hide = true)]
	Replay,
	#[command(flatten)]
	Chain(Box<chain::ChainCommand>),
}

impl Cli {
	/// Runs the command, prints its error if it fails, and returns its exit code.
	pub fn main(self) -> ExitCode {
		self.start_log();
		let result = match self.command {
			Command::Estimate(command) => command.run(),
			Command::Train(command) => command.run(),
			Command::Verify(command) => command.run(),
			Command::Thin(command) => command.run(),
			Command::Restore(command) => command.run(),
			Command::Evaluate(command) => command.run(),
			Command::Plot(command) => command.run(),
			Command::Profile(command) => command.run(),
			Command::Ranks(command) => command.run(),
			Command::Task(command) => command.run(),
			Command::Bench(command) => command.run(),
			Command::Hash(command) => command.run(),
			Command::Seal(command) => command.run(),
			Command::Fetch(command) => command.run(),
			Command::Serve(command) => command.run(),
			Command::Whetstone(command) => command.run(),
			Command::Relay(command) => command.run(),
			Command::Replay => Ok(replay::serve()),
			Command::Chain(command) => run_async(command.run()),
		};
		result.unwrap_or_else(|error| {
			// A chain of causes in one paragraph; the first line says what failed.
			eprintln!("{}", terminal::lines(&format!("error: {error:#}")));
			ExitCode::FAILURE
		})
	}

	/// Sends log lines to standard error: warnings by default, more with `-v`, anything by
	/// RUST_LOG.
	fn start_log(&self) {
		let level = match (self.verbose, &self.command) {
			// The owner of a role wants to see what it does.
			(0, Command::Chain(_) | Command::Relay(_) | Command::Serve(_)) => LevelFilter::INFO,
			(0, Command::Task(command)) if command.is_on_chain() => LevelFilter::INFO,
			(0, _) => LevelFilter::WARN,
			(1, _) => LevelFilter::DEBUG,
			(_, _) => LevelFilter::TRACE,
		};
		let ours = |level: LevelFilter| format!("warn,trainyard={level},trainyard_worker={level}");
		let default = match self.verbose {
			0 | 1 => ours(level),
			_ => level.to_string(),
		};
		let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
		tracing_subscriber::fmt()
			.with_env_filter(filter)
			.fmt_fields(fields())
			.with_target(self.verbose > 0)
			.with_ansi(std::io::stderr().is_terminal())
			.with_writer(std::io::stderr)
			.init();
	}
}

/// Returns how the fields of a log line are written: what is logged may be a stranger's.
fn fields() -> impl for<'a> FormatFields<'a> + Send + Sync + 'static {
	let field = format::debug_fn(|out, field, value| {
		let value = terminal::line(&format!("{value:?}"));
		match field.name() {
			"message" => write!(out, "{value}"),
			// Where a line of the crate `log` came from, which the line shows already.
			name if name.starts_with("log.") => Ok(()),
			name => write!(out, "{name}={value}"),
		}
	});
	field.delimited(" ")
}

fn run_async(command: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
	let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
	let result = runtime.block_on(command);
	// Tasks that still train or serve in the background must not delay the exit.
	runtime.shutdown_background();
	result
}

#[cfg(test)]
mod tests {
	use super::*;
	use clap::CommandFactory;
	use std::sync::{Arc, Mutex};

	#[test]
	fn the_command_line_is_consistent() {
		Cli::command().debug_assert();
	}

	/// What was logged.
	#[derive(Clone, Default)]
	struct Log(Arc<Mutex<Vec<u8>>>);

	impl std::io::Write for Log {
		fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
			self.0.lock().unwrap().write(bytes)
		}

		fn flush(&mut self) -> std::io::Result<()> {
			Ok(())
		}
	}

	#[test]
	fn what_strangers_wrote_forges_no_line_of_the_log() {
		let log = Log::default();
		let to = log.clone();
		let subscriber = tracing_subscriber::fmt()
			.fmt_fields(fields())
			.with_ansi(false)
			.with_writer(move || to.clone())
			.finish();
		let url = "http://\x1b[2J\nWARN paid";
		tracing::subscriber::with_default(subscriber, || tracing::warn!(at = url, "no {url}"));
		let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
		assert_eq!(text.lines().count(), 1, "{text}");
		assert!(text.contains("no http://\\u{1b}[2J\\u{a}WARN paid"), "{text}");
		assert!(text.contains(" at=") && !text.contains('\x1b'), "{text}");
	}
}
