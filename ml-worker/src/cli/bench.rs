//! `trainyard bench`: the speed of this machine.

use super::table::{grouped, table, Align};
use crate::{
	bench::{
		matmul::{self, Row},
		median, Machine,
	},
	engine::{Compute, DeviceArgs, Kernel, KERNEL_VARIABLE},
};
use anyhow::{bail, ensure, Context};
use serde::Serialize;
use std::{
	io::{BufRead, BufReader, IsTerminal, Write},
	process::{Command, ExitCode, Stdio},
	time::Duration,
};

/// The variable from which rayon and candle take their number of threads.
const THREADS_VARIABLE: &str = "RAYON_NUM_THREADS";

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
	/// processor's peak. TRAINYARD_KERNEL chooses one kernel; without it, all but the scalar
	/// one are measured.
	Matmul(Matmul),
}

#[derive(Debug, clap::Args)]
struct Matmul {
	/// Products: N (m = n = k), MxNxK, or `layers`, separated by commas.
	#[arg(long, default_value = "128,256,384,512,768,1024,1536,2048,layers")]
	sizes: String,
	/// Numbers of threads, separated by commas.
	#[arg(long, default_value = "1,2", value_delimiter = ',')]
	threads: Vec<usize>,
	/// Time for each product and number of threads.
	#[arg(long, default_value_t = 1.0, value_name = "SECONDS", allow_negative_numbers = true)]
	seconds: f64,
	/// Print JSON.
	#[arg(long)]
	json: bool,
	/// Measure in this process and print a line of JSON for each row.
	#[arg(long, hide = true)]
	here: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
	machine: Machine,
	rows: Vec<Row>,
}

impl Bench {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		self.device.choose()?;
		match self.what {
			What::Matmul(_) if self.device.device != Compute::Cpu => {
				bail!("bench matmul compares kernels of the processor; leave --device out")
			}
			What::Matmul(matmul) => matmul.run(),
		}
	}
}

impl Matmul {
	fn run(self) -> anyhow::Result<ExitCode> {
		let cases = matmul::parse_cases(&self.sizes)?;
		let time = Duration::try_from_secs_f64(self.seconds)
			.with_context(|| format!("--seconds: {} is no time", self.seconds))?;
		let kernels = kernels()?;
		if self.here {
			self.check_threads()?;
			for case in cases {
				let row = matmul::measure(case, &kernels, time)?;
				println!("{}", serde_json::to_string(&row)?);
				std::io::stdout().flush()?;
			}
			return Ok(ExitCode::SUCCESS);
		}
		let mut rows = Vec::new();
		for threads in &self.threads {
			ensure!(*threads > 0, "--threads: a product needs at least one thread");
			self.measure(*threads, cases.len(), &mut rows)?;
		}
		let report = Report { machine: Machine::here(), rows };
		match self.json {
			true => println!("{}", serde_json::to_string_pretty(&report)?),
			false => print!("{}", text(&report)),
		}
		Ok(ExitCode::SUCCESS)
	}

	/// The threads of this process are the ones that were asked for, on both sides.
	fn check_threads(&self) -> anyhow::Result<()> {
		let (ours, candle) = (rayon::current_num_threads(), candle_core::utils::get_num_threads());
		ensure!(
			self.threads == [ours] && self.threads == [candle],
			"this process has {ours} threads and candle {candle}, not {:?}; set {THREADS_VARIABLE}",
			self.threads
		);
		Ok(())
	}

	/// Measures in a process of its own: rayon's threads are made once in a process, and
	/// candle takes as many.
	fn measure(&self, threads: usize, cases: usize, rows: &mut Vec<Row>) -> anyhow::Result<()> {
		let program = std::env::current_exe().context("cannot find this program")?;
		let mut child = Command::new(&program)
			.args(["bench", "matmul", "--here", "--sizes", &self.sizes])
			.args(["--threads", &threads.to_string(), "--seconds", &self.seconds.to_string()])
			.env(THREADS_VARIABLE, threads.to_string())
			.stdout(Stdio::piped())
			.spawn()
			.with_context(|| format!("cannot start {}", program.display()))?;
		let output = child.stdout.take().context("the measurement has no output")?;
		let show = std::io::stderr().is_terminal();
		for (index, line) in BufReader::new(output).lines().enumerate() {
			let row: Row = serde_json::from_str(&line?)
				.context("the measurement printed something else than its rows")?;
			if show {
				eprintln!("{} of {cases}, {threads} threads: {}", index + 1, row.case.name);
			}
			rows.push(row);
		}
		let status = child.wait()?;
		if !status.success() {
			bail!("the measurement on {threads} threads failed ({status})");
		}
		Ok(())
	}
}

/// The kernel that the environment names, otherwise all but the scalar one, if there are any.
fn kernels() -> anyhow::Result<Vec<Kernel>> {
	if std::env::var_os(KERNEL_VARIABLE).is_some_and(|name| !name.is_empty()) {
		return Ok(vec![Kernel::from_environment()?]);
	}
	let mut all = Kernel::supported();
	if all.len() > 1 {
		all.retain(|kernel| *kernel != Kernel::Scalar);
	}
	Ok(all)
}

/// One table for each number of threads.
fn text(report: &Report) -> String {
	let Machine { cpu, cores, system, flags, worker, .. } = &report.machine;
	let mut out = format!(
		"{cpu}, {cores} cores, {system}, {}; trainyard {worker}\n\
		 GFLOP/s, medians. ratio: to candle in the same turn; most: the ratio at the peak, that \
		 is multiply-adds between registers only\n",
		flags.join(" ")
	);
	for rows in report.rows.chunk_by(|a, b| a.threads == b.threads) {
		let Some(first) = rows.first() else { continue };
		let threads = if first.threads == 1 { "thread" } else { "threads" };
		let peaks: Vec<String> = (0..first.kernels.len())
			.map(|index| {
				let of = |row: &Row| row.kernels.get(index).map(|kernel| kernel.peak);
				let peaks: Vec<f64> = rows.iter().filter_map(of).collect();
				format!("{} {:.1}", first.kernels[index].kernel, median(&peaks))
			})
			.collect();
		out.push_str(&format!("\n{} {threads}; peak: {}\n", first.threads, peaks.join(", ")));
		let mut header = vec![
			("product", Align::Left),
			("m", Align::Right),
			("n", Align::Right),
			("k", Align::Right),
			("flop/byte", Align::Right),
			("candle", Align::Right),
		];
		for kernel in &first.kernels {
			let names = [kernel.kernel.as_str(), "ratio", "most", "of peak"];
			header.extend(names.map(|name| (name, Align::Right)));
		}
		let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
		out.push_str(&table(&header, &cells));
	}
	out
}

fn cells(row: &Row) -> Vec<String> {
	let mut cells = vec![row.case.name.clone()];
	cells.extend([row.case.m, row.case.n, row.case.k].map(|size| grouped(size as u128)));
	cells.push(format!("{:.1}", row.flop as f64 / row.bytes as f64));
	cells.push(format!("{:.1}", row.candle));
	for kernel in &row.kernels {
		cells.push(format!("{:.1}", kernel.rate));
		cells.push(format!("{:.2}", kernel.ratio));
		cells.push(format!("{:.2}", kernel.peak / row.candle));
		cells.push(format!("{:.0}%", 100.0 * kernel.rate / kernel.peak));
	}
	cells
}
