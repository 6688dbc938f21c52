//! `trainyard bench`: the speed of this machine.

mod gpu;
mod hashing;
mod matmul;
mod ranks;
mod train;
mod transport;

use crate::args::DeviceArgs;
use anyhow::{bail, ensure, Context};
use serde::de::DeserializeOwned;
use std::{
	io::{BufRead, BufReader, IsTerminal},
	process::{Command, ExitCode, Stdio},
	time::Duration,
};
use trainyard_bench::Machine;
use trainyard_engine::{Compute, Isa, ISA_VARIABLE};

/// The variable from which rayon and candle take their number of threads.
const THREADS_VARIABLE: &str = "RAYON_NUM_THREADS";

/// Numbers of threads that are measured by default, as far as there are cores.
const THREADS: [usize; 2] = [1, 2];

#[derive(Debug, clap::Args)]
pub(super) struct Bench {
	#[command(flatten)]
	device: DeviceArgs,
	#[command(subcommand)]
	what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
	/// Strict matrix products against those of stock candle, in turns, and as shares of the
	/// processor's peak. TRAINYARD_ISA chooses one instruction set; without it, all but the scalar
	/// one are measured.
	Matmul(matmul::Matmul),
	/// Training steps of the strict engine against those of stock candle, in turns, with the peak
	/// memory of each. TRAINYARD_ISA chooses one instruction set; without it, all but the scalar
	/// one are measured.
	Train(train::Train),
	/// Steps of virtual ranks by several processes, one thread each: equal states, and how fast.
	Ranks(ranks::Ranks),
	/// The content hashes of a checkpoint: BLAKE3 beside BLAKE2b, in turns.
	Hashing(hashing::Hashing),
	/// How fast a state comes over loopback: by HTTP, and over iroh from one source and from several.
	Transport(transport::Transport),
	/// Training steps and laps of drilling on a GPU (--device cuda) against the processor, in turns. Both
	/// compute the same bits, which is checked first.
	Gpu(gpu::Gpu),
}

impl Bench {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		self.device.choose()?;
		match self.what {
			What::Matmul(_) if self.device.device != Compute::Cpu => {
				bail!("bench matmul compares kernels of the processor; leave --device out")
			}
			What::Hashing(_) if self.device.device != Compute::Cpu => {
				bail!("bench hashing measures the processor; leave --device out")
			}
			What::Train(_) if self.device.device != Compute::Cpu => {
				bail!("bench train compares kernels of the processor; bench gpu measures a GPU")
			}
			What::Ranks(_) if self.device.device != Compute::Cpu => {
				bail!("bench ranks measures the processor; leave --device out")
			}
			What::Matmul(matmul) => matmul.run(),
			What::Ranks(ranks) => ranks.run(),
			What::Hashing(hashing) => hashing.run(),
			What::Train(train) => train.run(),
			What::Transport(transport) => transport.run(),
			What::Gpu(gpu) => gpu.run(),
		}
	}
}

/// Returns the time that `--seconds` gives.
fn seconds(seconds: f64) -> anyhow::Result<Duration> {
	Duration::try_from_secs_f64(seconds).with_context(|| format!("--seconds: {seconds} is no time"))
}

/// Returns the numbers of threads that were asked for, or the default ones. More threads than cores
/// would wait for each other and measure nothing.
fn thread_counts(asked: &[usize]) -> anyhow::Result<Vec<usize>> {
	let cores = std::thread::available_parallelism().context("cannot count the cores")?.get();
	for threads in asked {
		ensure!(*threads > 0, "--threads: nothing runs on 0 threads; give at least one");
		ensure!(
			*threads <= cores,
			"--threads: {threads} threads do not run at once on {cores} cores, so their speed would \
			 mean nothing; give at most {cores}"
		);
	}
	match asked {
		[] => Ok(THREADS.into_iter().filter(|threads| *threads <= cores).collect()),
		_ => Ok(asked.to_vec()),
	}
}

/// Checks that the threads of this process are the ones that were asked for, on both sides.
fn check_threads(asked: &[usize]) -> anyhow::Result<()> {
	let (ours, candle) = (rayon::current_num_threads(), candle_core::utils::get_num_threads());
	ensure!(
		asked == [ours] && asked == [candle],
		"this process has {ours} threads and candle {candle}, not {asked:?}; set {THREADS_VARIABLE}"
	);
	Ok(())
}

/// Runs `trainyard bench ARGUMENTS --here` on `threads` threads, in its own process: rayon's
/// threads are made once in a process, and candle takes as many. Adds the rows that it prints, and
/// shows on a terminal what `progress` says of each, given its number from 1.
fn measured<R: DeserializeOwned>(
	threads: usize,
	arguments: &[&str],
	rows: &mut Vec<R>,
	progress: impl Fn(usize, &R) -> String,
) -> anyhow::Result<()> {
	let program = std::env::current_exe().context("cannot find this program")?;
	let mut child = Command::new(&program)
		.arg("bench")
		.args(arguments)
		.args(["--here", "--threads", &threads.to_string()])
		.env(THREADS_VARIABLE, threads.to_string())
		.stdout(Stdio::piped())
		.spawn()
		.with_context(|| format!("cannot start {}", program.display()))?;
	let output = child.stdout.take().context("the measurement has no output")?;
	let show = std::io::stderr().is_terminal();
	for (index, line) in BufReader::new(output).lines().enumerate() {
		let row: R = serde_json::from_str(&line?)
			.context("the measurement printed something else than its rows")?;
		if show {
			eprintln!("{}", progress(index + 1, &row));
		}
		rows.push(row);
	}
	let status = child.wait()?;
	if !status.success() {
		bail!("the measurement on {} failed ({status})", threads_title(threads));
	}
	Ok(())
}

/// Returns the instruction set that the environment names, otherwise all but the scalar one, if
/// there are any.
fn kernels() -> anyhow::Result<Vec<Isa>> {
	if std::env::var_os(ISA_VARIABLE).is_some_and(|name| !name.is_empty()) {
		return Ok(vec![Isa::from_environment()?]);
	}
	let mut all = Isa::supported();
	if all.len() > 1 {
		all.retain(|kernel| *kernel != Isa::Scalar);
	}
	Ok(all)
}

/// Describes the machine in a line.
fn machine(machine: &Machine) -> String {
	let Machine { cpu, cores, system, flags, worker, .. } = machine;
	format!("{cpu}, {cores} cores, {system}, {}; trainyard {worker}\n", flags.join(" "))
}

/// `1 thread`, `2 threads`.
fn threads_title(threads: usize) -> String {
	format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}
