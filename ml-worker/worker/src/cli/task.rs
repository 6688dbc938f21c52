//! `trainyard task`: deterministic tasks on this machine.

use super::{
	progress::{clock, scaled},
	train::stop_on_signals,
};
use crate::task::{
	self,
	market::dispute::Inputs,
	run::{self, Finished, Options, Progress},
	saved, Program, TaskError,
};
use anyhow::{bail, Context};
use clap::{ArgGroup, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
	io::IsTerminal,
	path::{Path, PathBuf},
	process::ExitCode,
	time::{Duration, Instant},
};
use trainyard_proof::bundle::files;
use trainyard_task::{Form, Limits, StateId, TaskSpec, Trace};
use trainyard_task_vm::{Kind, MAX_FUEL, MAX_MEMORY_PAGES, MAX_MODULE_BYTES, MAX_STATE_BYTES};

/// Deterministic tasks: a WebAssembly module and an input.
#[derive(Debug, Subcommand)]
pub(super) enum TaskCommand {
	/// Runs a task on this machine to its end, and prints what it results in, its fuel, and what that is worth
	Run(Box<Run>),
	/// Says whether a module can be that of a task, and what it has
	Check(Check),
	#[command(flatten)]
	Chain(Box<super::chain::task::TaskOnChain>),
}

/// What a step may take.
#[derive(Debug, clap::Args)]
struct LimitArgs {
	/// Most fuel of a step or an index
	#[arg(long, value_name = "UNITS", default_value_t = MAX_FUEL)]
	fuel: u64,
	/// Most memory of a step, in pages of 64 KiB
	#[arg(long, value_name = "PAGES", default_value_t = MAX_MEMORY_PAGES)]
	pages: u32,
	/// Most bytes of a state, or of the input
	#[arg(long, value_name = "BYTES", default_value_t = MAX_STATE_BYTES)]
	state: u32,
}

impl LimitArgs {
	fn limits(&self) -> Limits {
		Limits { fuel: self.fuel, pages: self.pages, state: self.state }
	}
}

/// Options of `trainyard task run`.
#[derive(Debug, clap::Args)]
pub(super) struct Run {
	#[command(flatten)]
	what: What,
	/// File for the last state, or for the records of all indices. While the task runs, what is done is kept in
	/// FILE.part, and the same command goes on after a kill
	#[arg(long, value_name = "FILE")]
	out: Option<PathBuf>,
	/// File for the trace: the leaf of each state, 32 bytes
	#[arg(long, value_name = "FILE", conflicts_with = "map")]
	trace: Option<PathBuf>,
	/// Stop after so many seconds; with --out, the same command goes on
	#[arg(long, value_name = "SECONDS")]
	seconds: Option<u64>,
	/// Threads for the indices of a map [default: one for each core]
	#[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
	threads: usize,
	/// Print JSON
	#[arg(long)]
	json: bool,
}

/// Options of `trainyard task check`.
#[derive(Debug, clap::Args)]
pub(super) struct Check {
	/// The module.
	#[arg(value_name = "MODULE.wasm")]
	module: PathBuf,
	#[command(flatten)]
	limits: LimitArgs,
}

impl TaskCommand {
	/// Returns whether it talks to a chain.
	pub(super) fn is_on_chain(&self) -> bool {
		matches!(self, Self::Chain(_))
	}

	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		match self {
			Self::Run(run) => run.run(),
			Self::Check(check) => check.run(),
			Self::Chain(command) => super::run_async(command.run()),
		}
	}
}

/// Names what a task is computed from, and how.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("given").required(true).args(["input", "input_hex"])))]
#[command(group(ArgGroup::new("form").required(true).args(["steps", "map"])))]
pub(super) struct What {
	/// The module.
	#[arg(value_name = "MODULE.wasm")]
	module: PathBuf,
	/// File with the input: the first state, or what every index gets
	#[arg(long, value_name = "FILE")]
	input: Option<PathBuf>,
	/// The input as hexadecimal digits
	#[arg(long, value_name = "HEX")]
	input_hex: Option<String>,
	/// How many steps; the module exports `step`
	#[arg(long, value_name = "N")]
	steps: Option<u32>,
	/// How many indices, from 0; the module exports `map`
	#[arg(long, value_name = "N")]
	map: Option<u32>,
	/// Most bytes of the result of an index
	#[arg(long, value_name = "BYTES", default_value = "64", conflicts_with = "steps")]
	record: u32,
	#[command(flatten)]
	limits: LimitArgs,
}

/// Reads a module. One that is too long is read no further than its limit.
fn read_module(path: &Path) -> anyhow::Result<Vec<u8>> {
	let size = files::size(path)?;
	if size > u64::from(MAX_MODULE_BYTES) {
		bail!(
			"{} has {size} bytes, and a module has {MAX_MODULE_BYTES} at most: compile it for size and strip names",
			path.display()
		);
	}
	let bytes = files::read(path, MAX_MODULE_BYTES.into())?;
	if !bytes.starts_with(b"\0asm") {
		bail!("{} is no WebAssembly module: it does not begin with \\0asm", path.display());
	}
	Ok(bytes)
}

impl What {
	/// Reads module and input, and compiles the module for so many threads.
	pub(super) fn read(&self, threads: usize) -> anyhow::Result<(Program, TaskSpec, Inputs)> {
		let (module, input) = (read_module(&self.module)?, self.read_input()?);
		let form = match (self.steps, self.map) {
			(Some(steps), _) => Form::Step { steps },
			(None, Some(count)) => Form::Map { count, most: self.record },
			(None, None) => bail!("give --steps N or --map N"),
		};
		let limits = self.limits.limits();
		let program = Program::new(&module, &limits, threads)
			.with_context(|| format!("cannot run {}", self.module.display()))?;
		let spec = run::specification(&program, &input, form, limits)?;
		Ok((program, spec, Inputs { module, input }))
	}

	fn read_input(&self) -> anyhow::Result<Vec<u8>> {
		let bytes = match (&self.input, &self.input_hex) {
			(Some(path), _) => {
				let size = files::size(path)?;
				if size > self.limits.state.into() {
					bail!(
						"{} has {size} bytes, and the limit of a state is {} (--state)",
						path.display(),
						self.limits.state
					);
				}
				files::read(path, self.limits.state.into())?
			}
			(None, Some(text)) => {
				let digits = text.trim_start_matches("0x");
				hex::decode(digits).context("--input-hex takes pairs of hexadecimal digits")?
			}
			(None, None) => bail!("give --input FILE or --input-hex HEX"),
		};
		if bytes.is_empty() {
			bail!("the input is empty: a task's has 1 byte at least");
		}
		Ok(bytes)
	}
}

impl Run {
	fn run(self) -> anyhow::Result<ExitCode> {
		let (program, spec, Inputs { input, .. }) = self.what.read(self.threads)?;
		let form = spec.form;
		let keep = self.out.as_ref().map(|out| {
			let mut name = out.file_name().unwrap_or_default().to_owned();
			name.push(".part");
			out.with_file_name(name)
		});
		let stop = stop_on_signals()?;
		let mut display = Display::new(spec.units(), matches!(form, Form::Map { .. }));
		let begun = Instant::now();
		let options = Options {
			keep: keep.as_deref(),
			states: false,
			cheat: None,
			until: self.seconds.and_then(|seconds| begun.checked_add(Duration::from_secs(seconds))),
			stop: &stop,
			progress: &mut |at| display.update(at),
		};
		let finished = match run::run(&program, spec, &input, options) {
			Ok(finished) => finished,
			Err(stopped @ TaskError::Stopped { .. }) => {
				display.finish();
				eprintln!("{stopped}");
				return Ok(ExitCode::from(130));
			}
			Err(error) => {
				display.finish();
				return Err(error.into());
			}
		};
		display.finish();
		if let (Some(path), Some(trace)) = (&self.trace, &finished.trace) {
			files::write(path, &leaves(trace))?;
		}
		if let (Some(out), Ok(bytes)) = (&self.out, &finished.output) {
			files::write(out, bytes)?;
		}
		if let Some(keep) = keep {
			saved::remove(&keep)?;
		}
		self.print(&finished, &display, begun.elapsed());
		// Whoever asks for a result and gets a fault, or records that say nothing, should notice.
		let failed = finished.output.is_err() || finished.faults > 0 || too_long(&finished) > 0;
		Ok(if failed { ExitCode::from(2) } else { ExitCode::SUCCESS })
	}

	fn print(&self, finished: &Finished, display: &Display, took: Duration) {
		let units = finished.spec.units();
		let work = task::work(finished.fuel);
		let fault = finished.output.as_ref().err().map(task::describe);
		if self.json {
			let (bytes, root) = match &finished.claim.output {
				StateId::Bytes(file) => (Some(file.bytes), Some(format!("{:?}", file.root))),
				StateId::Fault(_) => (None, None),
			};
			let printed = serde_json::json!({
				"module": format!("{:?}", finished.spec.module.root),
				"input": format!("{:?}", finished.spec.input.root),
				"root": format!("{:?}", finished.claim.root),
				"output_bytes": bytes,
				"output_root": root,
				"fault": fault,
				"faults": finished.faults,
				"fuel": finished.fuel.to_string(),
				"most_fuel": finished.most,
				"micro_ut": work,
			});
			println!("{printed:#}");
			return;
		}
		println!(
			"module       {:?}, {} bytes",
			finished.spec.module.root, finished.spec.module.bytes
		);
		println!(
			"input        {:?}, {} bytes",
			finished.spec.input.root, finished.spec.input.bytes
		);
		match (&finished.output, &finished.claim.output) {
			(Ok(bytes), StateId::Bytes(file)) => {
				println!("output       {:?}, {} bytes", file.root, file.bytes);
				if self.out.is_none() {
					let shown = &bytes[..bytes.len().min(256)];
					let more =
						if shown.len() < bytes.len() { "… (--out FILE has all)" } else { "" };
					println!("             0x{}{more}", hex::encode(shown));
				}
			}
			_ => println!("output       none"),
		}
		if let Some(fault) = fault {
			println!("fault        {fault}, in step {}", self.faulted(finished));
		} else if finished.faults > 0 {
			println!("faults       {} of {units} indices", finished.faults);
		}
		let long = too_long(finished);
		if long > 0 {
			println!("too long     {long} of {units} results have more bytes than a record: raise --record");
		}
		let name = if finished.trace.is_some() { "trace root " } else { "root       " };
		println!("{name}  {:?}", finished.claim.root);
		let each = finished.fuel / u128::from(units.max(1));
		println!(
			"fuel         {}, {each} each in the mean, {} at most (of {})",
			finished.fuel, finished.most, finished.spec.limits.fuel
		);
		if let Some(work) = work {
			let work = work as f64 / 1e6;
			println!("work         {work:.6} ut (a unit of fuel is {} FLOP)", task::FLOP_PER_FUEL);
		}
		if let Some(speed) = display.speed(took) {
			println!("computed     in {:.1} s, {}", took.as_secs_f64(), scaled(speed, "units/s"));
		}
		if let Some(out) = self.out.as_ref().filter(|_| finished.output.is_ok()) {
			println!("file         {}", out.display());
		}
	}

	/// Returns the number of the first step that ended with a fault.
	fn faulted(&self, finished: &Finished) -> u32 {
		let Some(trace) = &finished.trace else { return 0 };
		let leaf = finished.claim.output.leaf();
		let leaves = trace.nodes(0, 0..trace.count());
		leaves.iter().position(|other| *other == leaf).unwrap_or_default() as u32
	}
}

/// Returns how many results of a map are longer than a record.
fn too_long(finished: &Finished) -> usize {
	let (Form::Map { most, .. }, Ok(records)) = (finished.spec.form, &finished.output) else {
		return 0;
	};
	let none = trainyard_task::state::record(Ok(&vec![0; most as usize + 1]), most);
	records.chunks(none.len()).filter(|record| **record == *none).count()
}

/// Returns the leaves of a trace, one after the other.
fn leaves(trace: &Trace) -> Vec<u8> {
	let leaves = trace.nodes(0, 0..trace.count());
	leaves.iter().flat_map(|leaf| leaf.as_bytes()).copied().collect()
}

impl Check {
	fn run(self) -> anyhow::Result<ExitCode> {
		let module = read_module(&self.module)?;
		let limits = self.limits.limits();
		let program = Program::new(&module, &limits, 1)
			.with_context(|| format!("{}", self.module.display()))?;
		let prepared = program.prepared().context("the module is refused")?;
		let facts = prepared.facts();
		println!("module          {:?}, {} bytes", program.file().root, program.file().bytes);
		let computes = match prepared.kind() {
			Kind::Step => "steps (it exports `step`)",
			Kind::Map => "indices (it exports `map`)",
		};
		println!("computes        {computes}");
		println!("functions       {}, {} instructions", facts.functions, facts.instructions);
		println!("with its meter  {} bytes", prepared.bytes().len());
		println!(
			"memory          {} to {} pages of 64 KiB, {} bytes of data",
			facts.pages, facts.most_pages, facts.data_bytes
		);
		println!(
			"fuel of a step  {} for its instance, {} at most",
			prepared.instance_fuel(),
			limits.fuel
		);
		Ok(ExitCode::SUCCESS)
	}
}

/// Shows a task on standard error: a bar on a terminal, plain lines otherwise.
struct Display {
	bar: Option<ProgressBar>,
	unit: &'static str,
	begun: Instant,
	said: Option<Instant>,
	/// Fuel of what was there before, and of what is there now.
	fuel: Option<(u128, u128)>,
}

/// Time between two plain lines.
const PAUSE: Duration = Duration::from_secs(5);

impl Display {
	fn new(all: u32, map: bool) -> Self {
		let bar = std::io::stderr().is_terminal().then(|| {
			let bar = ProgressBar::new(all.into());
			if let Ok(style) =
				ProgressStyle::with_template("{wide_bar} {pos}/{len}, {eta} left, {msg}")
			{
				bar.set_style(style);
			}
			bar
		});
		let unit = if map { "index" } else { "step" };
		Self { bar, unit, begun: Instant::now(), said: None, fuel: None }
	}

	fn update(&mut self, at: &Progress) {
		let before = self.fuel.map_or(at.fuel, |(before, _)| before);
		if self.fuel.is_none() && at.begun_at > 0 {
			eprintln!("goes on after {} {} of {}", self.unit, at.begun_at, at.all);
		}
		// What the first look shows was partly computed here; what was saved was not.
		let before = if at.begun_at == 0 { 0 } else { before };
		self.fuel = Some((before, at.fuel));
		let passed = self.begun.elapsed();
		let speed = self.speed(passed).map(|speed| scaled(speed, "units/s")).unwrap_or_default();
		if let Some(bar) = &self.bar {
			bar.set_position(at.done.into());
			bar.set_message(speed);
			return;
		}
		if self.said.map_or(passed, |said| said.elapsed()) < PAUSE {
			return;
		}
		self.said = Some(Instant::now());
		let done = at.done.saturating_sub(at.begun_at);
		let left = at.all.saturating_sub(at.done);
		let left = (done > 0 && left > 0).then(|| {
			format!(", {} left", clock(passed.mul_f64(f64::from(left) / f64::from(done))))
		});
		eprintln!("{} {} of {}, {speed}{}", self.unit, at.done, at.all, left.unwrap_or_default());
	}

	/// Returns the fuel of this process in a second.
	fn speed(&self, passed: Duration) -> Option<f64> {
		let (before, now) = self.fuel?;
		let fuel = now.checked_sub(before).filter(|fuel| *fuel > 0)?;
		Some(fuel as f64 / passed.as_secs_f64())
	}

	fn finish(&self) {
		if let Some(bar) = &self.bar {
			bar.finish_and_clear();
		}
	}
}
