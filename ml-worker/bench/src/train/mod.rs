//! Measures training steps of the strict engine against those of stock candle: the same models with
//! the same initial parameters, the same batches, loss and optimizer.

mod models;
mod stock;

pub use models::{parse_models, Case, Model};

use super::{median, memory};
use anyhow::ensure;
use primitive_types::H256;
use serde::{Deserialize, Serialize};
use std::{
	sync::Arc,
	time::{Duration, Instant},
};
use stock::{Rows, Stock};
use trainyard_engine::{Data, Engine, Isa, State};
use trainyard_program::{lower, spec::CheckedSpec};

/// The measurements of a model on a number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
	/// Name of the model.
	pub model: String,
	/// Its layers.
	pub layers: String,
	/// Rows of a batch.
	pub batch: u32,
	/// Parameters.
	pub parameters: u64,
	/// Threads, of both sides.
	pub threads: usize,
	/// Floating-point operations of a step, by the count that the chain pays by.
	pub flop: u64,
	/// Turns.
	pub turns: usize,
	/// Steps that each side made in a turn.
	pub steps: u32,
	/// Largest difference of candle's loss from ours over the first steps, as a share of it.
	pub difference: f64,
	/// The speed of candle.
	pub candle: Side,
	/// The speed of each instruction set.
	pub kernels: Vec<Side>,
}

/// The speed of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
	/// `candle`, or the instruction set of the strict engine.
	pub name: String,
	/// Median of the steps in a second.
	pub steps_per_second: f64,
	/// [`Row::flop`] times that, in 10^9 in a second.
	pub rate: f64,
	/// Median of its speed over candle's in the same turn.
	pub ratio: f64,
	/// Peak memory in bytes above what there was before the model, see [`peak_memory`]; none if it
	/// was not measured.
	pub memory: Option<u64>,
}

/// Returns the floating-point operations of a training step, by the count that the chain pays by.
pub(crate) fn step_flop(spec: &CheckedSpec) -> anyhow::Result<u64> {
	Ok(u64::try_from(lower::training_step(spec).flop())?)
}

/// The side that trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trainer {
	/// Stock candle.
	Candle,
	/// The strict engine with an instruction set.
	Strict(Isa),
}

/// The name of candle's side.
pub const CANDLE: &str = "candle";

/// Shortest time that one side's steps of a turn may take: the resolution of the clock and wake-ups
/// do not matter then.
const SHORTEST: Duration = Duration::from_millis(30);

/// Fewest turns.
const TURNS: usize = 7;

/// Steps over which losses are compared.
const CHECKED_STEPS: u32 = 5;

/// Steps after which the peak of memory is read. Each step allocates the same as the one before.
const MEMORY_STEPS: u32 = 8;

/// The share of itself by which a loss may differ from candle's. Both round each step differently,
/// and AdamW divides by the size of the gradient, however small.
const TOLERANCE: f64 = 1e-4;

/// Seed of the parameters and of the order of rows.
pub(crate) const SEED: H256 = H256::repeat_byte(7);

/// A case with its data and initial state.
struct Ready {
	case: Case,
	data: Arc<Data>,
	spec: CheckedSpec,
	rows: Rows,
	state: State,
}

/// A model in training.
enum Training {
	Candle(Box<Stock>),
	Strict(Box<(Engine, State)>),
}

impl Ready {
	fn new(case: Case) -> anyhow::Result<Self> {
		let data = case.data();
		let rows = Rows::new(&case.spec, data.train.clone())?;
		let spec = case.spec.clone().check()?;
		let state = Engine::initial_state(&spec, &SEED, None)?;
		Ok(Self { case, data: Arc::new(data), spec, rows, state })
	}

	/// Begins a training from its first step.
	fn begin(&self, trainer: Trainer) -> anyhow::Result<Training> {
		let spec = &self.spec;
		Ok(match trainer {
			Trainer::Candle => {
				let stock = Stock::new(spec, SEED, &self.state, self.rows.clone())?;
				Training::Candle(Box::new(stock))
			}
			Trainer::Strict(isa) => {
				let engine = Engine::with_isa(spec, SEED, self.data.clone(), isa)?;
				Training::Strict(Box::new((engine, self.state.clone())))
			}
		})
	}
}

impl Training {
	/// Makes a step, and returns the loss of its batch.
	fn step(&mut self, step: u32) -> anyhow::Result<f32> {
		match self {
			Training::Candle(stock) => stock.step(step),
			Training::Strict(strict) => Ok(strict.0.step(&mut strict.1, step)?.loss),
		}
	}
}

/// Measures `case` for about `time`, in at least seven turns, on the threads that rayon and
/// candle have in this process. Memory is not measured.
///
/// # Errors
/// Fails if candle or the engine fails, if the bits of two instruction sets differ, or if candle
/// computes something else.
pub fn measure(case: Case, isas: &[Isa], time: Duration) -> anyhow::Result<Row> {
	let ready = Ready::new(case)?;
	let difference = check(&ready, isas)?;
	// Both sides make the same steps from the beginning in every turn. The cost of a step does not
	// depend on how many there were before.
	let turn = |trainer, steps: u32| -> anyhow::Result<f64> {
		let mut training = ready.begin(trainer)?;
		// This step allocates memory and makes the order of rows.
		training.step(0)?;
		let started = Instant::now();
		for step in 1..=steps {
			training.step(step)?;
		}
		Ok(f64::from(steps) / started.elapsed().as_secs_f64())
	};
	let steps = (SHORTEST.as_secs_f64() * turn(Trainer::Candle, 1)?).ceil();
	let steps = (steps as u32).clamp(1, ready.case.spec.training.steps - 1);
	let mut of_candle = Vec::new();
	let mut of_kernels = vec![Vec::new(); isas.len()];
	let mut ratios = vec![Vec::new(); isas.len()];
	let started = Instant::now();
	while of_candle.len() < TURNS || started.elapsed() < time {
		let candle = turn(Trainer::Candle, steps)?;
		of_candle.push(candle);
		for (index, isa) in isas.iter().enumerate() {
			let strict = turn(Trainer::Strict(*isa), steps)?;
			of_kernels[index].push(strict);
			ratios[index].push(strict / candle);
		}
	}
	let spec = &ready.spec;
	let flop = step_flop(spec)?;
	let side = |name: String, rates: &[f64], ratios: &[f64]| Side {
		name,
		steps_per_second: median(rates),
		rate: median(rates) * flop as f64 / 1e9,
		ratio: median(ratios),
		memory: None,
	};
	let of =
		|(index, isa): (usize, &Isa)| side(isa.to_string(), &of_kernels[index], &ratios[index]);
	Ok(Row {
		model: ready.case.name.clone(),
		layers: ready.case.layers.clone(),
		batch: spec.training.batch_size,
		parameters: spec.parameters(),
		threads: rayon::current_num_threads(),
		flop,
		turns: of_candle.len(),
		steps,
		difference,
		candle: side(CANDLE.into(), &of_candle, &[1.0]),
		kernels: isas.iter().enumerate().map(of).collect(),
	})
}

/// Fails unless all instruction sets train to equal bits and candle's losses are near theirs.
/// Returns the largest difference.
fn check(ready: &Ready, isas: &[Isa]) -> anyhow::Result<f64> {
	let losses = |training: &mut Training| -> anyhow::Result<Vec<f32>> {
		(0..CHECKED_STEPS).map(|step| training.step(step)).collect()
	};
	let of_candle = losses(&mut ready.begin(Trainer::Candle)?)?;
	let (mut first, mut difference) = (None, 0f64);
	for isa in isas {
		let engine = Engine::with_isa(&ready.spec, SEED, ready.data.clone(), *isa)?;
		let mut training = Training::Strict(Box::new((engine, ready.state.clone())));
		let found = losses(&mut training)?;
		let Training::Strict(strict) = training else { continue };
		let hash = strict.1.hash()?;
		let same = *first.get_or_insert(hash) == hash;
		ensure!(same, "{}: the {isa} kernel gives other bits", ready.case.name);
		for (step, (ours, candle)) in found.iter().zip(&of_candle).enumerate() {
			let apart = f64::from((ours - candle).abs() / ours.abs());
			ensure!(
				apart <= TOLERANCE,
				"{}: candle computes something else: its loss in step {step} is {candle}, that of \
				 the {isa} kernel {ours}",
				ready.case.name
			);
			difference = difference.max(apart);
		}
	}
	Ok(difference)
}

/// Returns the most memory that this process takes in some steps of `trainer`, above what it took
/// before the model: parameters, what the optimizer keeps, and what a step needs; without the data.
/// It is `None` if the system does not say. Call it in a process that has done nothing else.
///
/// # Errors
/// Fails if candle or the engine fails.
pub fn peak_memory(case: &Case, trainer: Trainer) -> anyhow::Result<Option<u64>> {
	let (data, spec) = (case.data(), case.spec.clone().check()?);
	// Each side holds its rows once.
	let (data, rows) = match trainer {
		Trainer::Candle => (Data::default(), Some(Rows::new(&case.spec, data.train)?)),
		Trainer::Strict(_) => (data, None),
	};
	let data = Arc::new(data);
	// The threads are started before the measurement.
	rayon::broadcast(|_| ());
	let before = memory::resident();
	let mut training = match (trainer, rows) {
		(Trainer::Strict(isa), _) => {
			let engine = Engine::with_isa(&spec, SEED, data, isa)?;
			Training::Strict(Box::new((engine, Engine::initial_state(&spec, &SEED, None)?)))
		}
		(Trainer::Candle, rows) => {
			let state = Engine::initial_state(&spec, &SEED, None)?;
			let rows = rows.map_or_else(|| Rows::new(&case.spec, case.data().train), Ok)?;
			Training::Candle(Box::new(Stock::new(&spec, SEED, &state, rows)?))
		}
	};
	for step in 0..MEMORY_STEPS {
		training.step(step)?;
	}
	Ok(memory::peak().zip(before).map(|(peak, before)| peak.saturating_sub(before)))
}

#[cfg(test)]
mod tests;
