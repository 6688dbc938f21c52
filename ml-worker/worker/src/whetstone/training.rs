//! Measures how many FLOP of strict training this machine does in a second: the digits job, in
//! memory, with the engine that trains for the chain.

use super::{side_by_side, ut_per_day};
use primitive_types::H256;
use serde::Serialize;
use std::{
	sync::Arc,
	time::{Duration, Instant},
};
use trainyard_engine::{Data, Engine, EngineError, Isa, Table};
use trainyard_program::{
	spec::{CheckedSpec, JobSpec, SpecError},
	work::Parts,
};

/// Says why training could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
	/// The engine failed.
	#[error(transparent)]
	Engine(#[from] EngineError),
	/// The work of the job cannot be counted.
	#[error("the work of the job cannot be counted: {0}")]
	Work(#[from] SpecError),
	/// The system cannot start a thread.
	#[error("no thread could be started: {0}. Close other programs, or raise ulimit -u")]
	Threads(#[from] rayon::ThreadPoolBuildError),
}

/// Strict training, measured.
#[derive(Clone, Debug, Serialize)]
pub struct StrictTraining {
	/// What was trained.
	pub job: &'static str,
	/// Instruction set of the kernels.
	pub kernel: String,
	/// On one thread and on all.
	pub totals: Vec<Total>,
}

/// The work of some jobs together, each on its own thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Total {
	/// Jobs that ran side by side.
	pub threads: usize,
	/// FLOP of all of them, by the count that the chain pays by.
	pub flop: u128,
	/// Time of the slowest.
	pub seconds: f64,
	/// The former by the latter.
	pub flop_per_second: f64,
	/// That in ut a day.
	pub ut_per_day: f64,
}

impl Total {
	fn of(jobs: &[Trained]) -> Self {
		let flop = jobs.iter().map(|job| job.flop).sum();
		let seconds = jobs.iter().map(|job| job.seconds).fold(0.0, f64::max);
		let flop_per_second = flop as f64 / seconds;
		Self {
			threads: jobs.len(),
			flop,
			seconds,
			flop_per_second,
			ut_per_day: ut_per_day(flop_per_second),
		}
	}
}

impl StrictTraining {
	/// Trains the digits job for about `seconds` for each entry of `threads`.
	pub fn measure(seconds: f64, threads: &[usize]) -> Result<Self, TrainingError> {
		let spec = JobSpec::example().check()?;
		let data = Arc::new(images(&spec));
		let isa = Isa::from_environment().map_err(EngineError::from)?;
		let duration = Duration::from_secs_f64(seconds);
		// An engine for each job: it keeps what gives the order of rows in the epoch where its job is.
		let job = || -> Result<Trained, TrainingError> {
			let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
			pool.install(|| {
				let engine = Engine::with_isa(&spec, H256::zero(), data.clone(), isa)?;
				train(&engine, &spec, duration)
			})
		};
		let totals = threads
			.iter()
			.map(|threads| {
				let jobs: Result<Vec<_>, _> = side_by_side(*threads, job).into_iter().collect();
				Ok(Total::of(&jobs?))
			})
			.collect::<Result<_, TrainingError>>()?;
		Ok(Self { job: "digits (64-64-32-10, batch 32)", kernel: isa.to_string(), totals })
	}
}

/// The work of one job.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trained {
	flop: u128,
	seconds: f64,
}

/// Trains, and evaluates at every checkpoint, until `duration` has passed; when the job ends, it
/// begins again. It takes at least one step.
fn train(
	engine: &Engine,
	spec: &CheckedSpec,
	duration: Duration,
) -> Result<Trained, TrainingError> {
	let parts = Parts::of(spec);
	let seed = H256::zero();
	let mut state = Engine::initial_state(spec, &seed, None)?;
	// One step beforehand: the first step allocates memory and makes the order of rows.
	engine.step(&mut state, 0)?;
	let (mut flop, mut step) = (0u128, 0u32);
	let begun = Instant::now();
	loop {
		if step == spec.training.steps {
			(state, step) = (Engine::initial_state(spec, &seed, None)?, 0);
		}
		engine.step(&mut state, step)?;
		(flop, step) = (flop + parts.step, step + 1);
		if step % spec.training.checkpoint_interval == 0 || step == spec.training.steps {
			engine.evaluate(&state)?;
			flop += parts.evaluation;
		}
		let taken = begun.elapsed();
		if taken >= duration {
			return Ok(Trained { flop, seconds: taken.as_secs_f64() });
		}
	}
}

/// Images of the shape of the digits, made up: the time of a step does not depend on what
/// they show.
fn images(spec: &JobSpec) -> Data {
	let dataset = &spec.dataset;
	let table = |rows: u32| {
		let mut table = Table { features: dataset.features as usize, ..Table::default() };
		for row in 0..rows {
			let label = row % dataset.classes;
			table.y.push(label);
			for pixel in 0..dataset.features {
				// Stripes, as wide as the label says, and a little that differs from row to row.
				let shade = (pixel / (label + 1)) % 2 * 12 + (row / 7 + pixel) % 5;
				table.x.push(shade as f32 / dataset.feature_divisor as f32);
			}
		}
		table
	};
	Data { train: table(dataset.train_rows), validation: table(dataset.validation_rows) }
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn every_step_and_evaluation_is_counted() {
		let mut spec = JobSpec::example();
		(spec.training.steps, spec.training.checkpoint_interval) = (3, 2);
		let spec = spec.check().unwrap();
		let engine = Engine::new(&spec, H256::zero(), Arc::new(images(&spec))).unwrap();
		let Parts { step, evaluation } = Parts::of(&spec);
		// No time at all: one step.
		let least = train(&engine, &spec, Duration::ZERO).unwrap();
		assert_eq!(least.flop, step);
		// Whatever a while brings: whole steps, and evaluations after steps 2 and 3 of three.
		let some = train(&engine, &spec, Duration::from_millis(20)).unwrap();
		let round = 3 * step + 2 * evaluation;
		let rest = some.flop % round;
		let ends = [0, step, 2 * step + evaluation];
		assert!(ends.contains(&rest), "{rest} of {round}");
		assert!(some.seconds >= 0.02);
	}

	#[test]
	fn jobs_add_up_in_the_time_of_the_slowest() {
		let job = |flop, seconds| Trained { flop, seconds };
		let total = Total::of(&[job(4_000_000_000, 2.0), job(6_000_000_000, 5.0)]);
		assert_eq!((total.threads, total.flop, total.seconds), (2, 10_000_000_000, 5.0));
		assert_eq!((total.flop_per_second, total.ut_per_day), (2e9, 400.0));
	}

	#[test]
	fn the_images_are_those_of_the_digits_in_shape() {
		let spec = JobSpec::example();
		let data = images(&spec);
		for (table, rows) in [
			(&data.train, spec.dataset.train_rows),
			(&data.validation, spec.dataset.validation_rows),
		] {
			assert_eq!(table.y.len(), rows as usize);
			assert_eq!(table.x.len(), table.y.len() * 64);
			assert!(table.x.iter().all(|x| (0.0..=1.0).contains(x)));
		}
	}
}
