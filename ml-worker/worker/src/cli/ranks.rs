//! `trainyard ranks`: one training by several processes.

use super::train::{parse_seed, stop_on_signals};
use crate::{
	args::{use_threads, InputArgs},
	job_toml,
	ranks::{
		crew::{Crew, Options, Patience, Ranked, SECRET_VARIABLE},
		wire::Secret,
		work,
	},
};
use anyhow::{bail, ensure, Context};
use clap::Subcommand;
use primitive_types::H256;
use std::{
	net::SocketAddr,
	num::{NonZeroU32, NonZeroUsize},
	path::{Path, PathBuf},
	process::ExitCode,
	sync::atomic::Ordering,
	time::{Duration, Instant},
};
use trainyard_engine::Engine;
use trainyard_program::{
	lower::OPTIMIZER_PREFIX,
	spec::{CheckedSpec, StopRule},
};
use trainyard_proof::{
	bundle::{files, tensors, MODEL_FILE},
	inputs::Inputs,
};

/// Trains with virtual ranks: several processes of one owner compute one training, and the model does not depend
/// on how many they are.
#[derive(Debug, Subcommand)]
pub(super) enum RanksCommand {
	/// Trains a job. Nobody can replay it for the market: there, a step has one rank
	Train(Box<Train>),
	/// Computes for the training of another process, here or on another machine, until it ends
	Work(Work),
}

/// Options of everything that trains with virtual ranks.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CrewArgs {
	/// Virtual ranks: equal parts of a batch, whose gradients are added in a fixed tree. The model depends on it
	#[arg(long, value_name = "V", default_value = "1")]
	pub ranks: NonZeroU32,
	/// Processes that compute on this machine, this one among them. The model does not depend on it
	#[arg(long, value_name = "N", default_value = "1")]
	pub workers: NonZeroU32,
	/// Where workers of other machines connect: `trainyard ranks work --connect`
	#[arg(long, value_name = "ADDRESS", requires = "ranks_secret")]
	pub ranks_listen: Option<SocketAddr>,
	/// File with the secret that they must know, 64 hexadecimal digits; made where it is not there
	#[arg(long, value_name = "FILE")]
	pub ranks_secret: Option<PathBuf>,
}

impl CrewArgs {
	/// Returns how many threads each process has where none are named: the cores, in equal parts.
	pub fn threads(&self, named: Option<NonZeroUsize>) -> NonZeroUsize {
		let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
		let each = cores.checked_div(self.workers.get() as usize).unwrap_or(1);
		named.or(NonZeroUsize::new(each)).unwrap_or(NonZeroUsize::MIN)
	}

	/// Returns whether anything but this process computes.
	pub fn is_shared(&self) -> bool {
		self.workers.get() > 1 || self.ranks_listen.is_some()
	}

	/// Begins the crew; `threads` are those of each process that is started.
	pub fn start(&self, threads: NonZeroUsize) -> anyhow::Result<Crew> {
		ensure!(
			self.workers <= self.ranks,
			"{} workers have nothing to do with {} virtual ranks: take as many ranks or more (--ranks)",
			self.workers,
			self.ranks
		);
		let secret = match &self.ranks_secret {
			Some(path) => secret_of(path, true)?,
			None => Secret::draw(),
		};
		let program = std::env::current_exe().context("cannot find this program")?;
		Ok(Crew::start(Options {
			workers: self.workers.get(),
			threads,
			listen: self.ranks_listen,
			secret,
			patience: Patience::default(),
			program,
		})?)
	}
}

/// Reads the secret of a file, or draws one where there is no file and one may be made.
fn secret_of(path: &Path, make: bool) -> anyhow::Result<Secret> {
	if make && !path.exists() {
		let secret = Secret::draw();
		files::write_private(path, format!("{}\n", secret.to_hex()).as_bytes())?;
		return Ok(secret);
	}
	let bytes = files::read(path, 1 << 10)?;
	let secret = Secret::parse(&String::from_utf8_lossy(&bytes));
	secret.with_context(|| {
		format!(
			"{} has no secret: 64 hexadecimal digits, as the coordinator wrote them",
			path.display()
		)
	})
}

#[derive(Debug, clap::Args)]
pub(super) struct Train {
	/// The job.
	#[arg(value_name = "JOB.toml")]
	job: PathBuf,
	#[command(flatten)]
	crew: CrewArgs,
	/// Threads of each process [default: the cores, in equal parts]
	#[arg(long, value_name = "N")]
	threads: Option<NonZeroUsize>,
	/// Folder for the model
	#[arg(long, value_name = "DIR")]
	out: Option<PathBuf>,
	/// Seed, 64 hexadecimal digits [default: all zeros]
	#[arg(long, value_name = "HEX", value_parser = parse_seed)]
	seed: Option<H256>,
	#[command(flatten)]
	inputs: InputArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct Work {
	/// Where the coordinator listens
	#[arg(long, value_name = "HOST:PORT")]
	connect: String,
	/// File with the secret of the coordinator (or its digits in TRAINYARD_RANKS_SECRET)
	#[arg(long, value_name = "FILE")]
	ranks_secret: Option<PathBuf>,
	/// Threads [default: one for each core]
	#[arg(long, value_name = "N")]
	threads: Option<NonZeroUsize>,
	/// How long it tries to connect
	#[arg(long, value_name = "SECONDS", default_value_t = 60)]
	patience: u64,
}

impl RanksCommand {
	pub(super) fn run(self) -> anyhow::Result<ExitCode> {
		match self {
			Self::Train(command) => command.run(),
			Self::Work(command) => command.run(),
		}
	}
}

impl Work {
	fn run(self) -> anyhow::Result<ExitCode> {
		use_threads(self.threads)?;
		let secret = match (&self.ranks_secret, std::env::var(SECRET_VARIABLE)) {
			(Some(path), _) => secret_of(path, false)?,
			(None, Ok(digits)) => Secret::parse(&digits)
				.with_context(|| format!("{SECRET_VARIABLE} is not 64 hexadecimal digits"))?,
			(None, Err(_)) => bail!(
				"the secret of the coordinator is missing: name its file by --ranks-secret, or set {SECRET_VARIABLE}"
			),
		};
		let stream = work::connect(&self.connect, Duration::from_secs(self.patience))
			.with_context(|| format!("cannot connect to {}", self.connect))?;
		work::serve(stream, &secret)?;
		Ok(ExitCode::SUCCESS)
	}
}

impl Train {
	fn run(self) -> anyhow::Result<ExitCode> {
		let threads = self.crew.threads(self.threads);
		use_threads(Some(threads))?;
		let job = job_toml::load(&self.job)?;
		let inputs = Inputs::load(&job.spec, &job.inputs(&self.inputs.given(), &self.job)?)?;
		let seed = self.seed.unwrap_or_default();
		let spec: &CheckedSpec = &job.spec;
		let ranked = Ranked::new(spec, seed, self.crew.ranks.get())?;
		let mut state = Engine::initial_state(spec, &seed, inputs.initial_model())?;
		let engine = Engine::new(spec, seed, inputs.data.clone())?;
		let stop = stop_on_signals()?;
		let crew = self.crew.start(threads)?;
		eprintln!("virtual ranks {}, workers {}", self.crew.ranks, crew.size());
		if let Some(address) = crew.address().filter(|_| self.crew.ranks_listen.is_some()) {
			eprintln!("others connect to {address}");
		}
		eprintln!("processes {:?}", crew.children());
		let (begun, mut rule) = (Instant::now(), StopRule::default());
		let (steps, interval) = (spec.training.steps, spec.training.checkpoint_interval);
		let mut done = 0;
		let mut last = engine.evaluate(&state)?;
		if let Some(early) = spec.training.early_stop {
			early.take(&mut rule, 0, last.loss());
		}
		while done < steps {
			if stop.load(Ordering::Relaxed) {
				eprintln!("stopped after {done} of {steps} steps; nothing was kept");
				return Ok(ExitCode::from(130));
			}
			let step = crew.step(&ranked, &engine, &mut state, done)?;
			done += 1;
			if done % interval == 0 || done == steps {
				last = engine.evaluate(&state)?;
				eprintln!(
					"step {done} of {steps}: loss {}, validation {:.2} %",
					step.loss,
					100.0 * last.accuracy()
				);
				let checkpoint = done.div_ceil(interval);
				let early = spec.training.early_stop;
				if early.is_some_and(|early| early.take(&mut rule, checkpoint, last.loss())) {
					break;
				}
			}
		}
		let seconds = begun.elapsed().as_secs_f64();
		println!("state hash   {:?}", state.hash()?);
		println!(
			"validation   {:.2} % ({} of {} rows), loss {}",
			100.0 * last.accuracy(),
			last.correct,
			last.labels,
			last.loss()
		);
		println!("computed     {done} steps in {seconds:.1} s");
		println!("workers lost {}", crew.lost());
		if let Some(out) = &self.out {
			files::create_folder(out)?;
			let mut model = state.to_host()?;
			model.retain(|name, _| !name.starts_with(OPTIMIZER_PREFIX));
			let path = out.join(MODEL_FILE);
			files::write(&path, &tensors::encode(&model))?;
			println!("model        {}", path.display());
		}
		Ok(ExitCode::SUCCESS)
	}
}
