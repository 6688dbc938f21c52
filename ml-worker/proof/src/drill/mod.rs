//! Computes units of drilling with the engine's kernels. It gives the bits of
//! `trainyard_protocol::drill::reference`, and is much faster.
//!
//! A calibration is executed program by program on the processor, and so is a chain where no GPU was
//! chosen; a trial is a training on the device that was chosen, whose checkpoints are not kept.

mod cheat;
mod laps;
#[cfg(test)]
mod tests;

pub use cheat::fabricate;
pub use laps::{LapBatches, Laps};

use std::sync::{
	atomic::{AtomicBool, Ordering},
	Arc,
};
use trainyard_engine::{
	ChainBatches, Compute, Data, Engine, EngineError, Isa, ProgramRunner, State, Target,
};
use trainyard_program::{ops::Program, reference::StepContext, spec::CheckedSpec};
use trainyard_protocol::{
	drill::{
		calibration_state, chain_state, diverged_state, program, trial_state, DrillError, Template,
		UnitResult,
	},
	H256,
};

/// Says why a unit was not computed.
#[derive(Debug, thiserror::Error)]
pub enum UnitError {
	/// The template is invalid.
	#[error("the project's template is invalid: {0}")]
	Template(#[from] DrillError),
	/// The data of a trial are missing.
	#[error("a trial needs the data of its job")]
	NoData,
	/// The engine failed.
	#[error(transparent)]
	Engine(#[from] EngineError),
	/// Stopped on request.
	#[error("stopped before its end")]
	Stopped,
}

/// A unit.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
	/// What the units of its project compute.
	pub template: &'a Template,
	/// Its number in the project.
	pub index: u32,
	/// Its seed.
	pub seed: H256,
}

/// How a unit is computed.
pub struct Options<'a> {
	/// The device on which trials are trained and chains are computed; calibrations are computed on
	/// the processor.
	pub target: Target,
	/// The data that a trial trains and validates on.
	pub data: Option<Arc<Data>>,
	/// Called after every link, pass or step, with how many are done and how many there are. Links on
	/// a GPU count when they were given to it.
	pub progress: &'a mut dyn FnMut(u32, u32),
	/// Once it is set, the work ends after the present link, pass or step.
	pub stop: &'a AtomicBool,
}

impl<'a> Options<'a> {
	/// Returns options for the device that was chosen for this process.
	pub fn chosen(
		data: Option<Arc<Data>>,
		progress: &'a mut dyn FnMut(u32, u32),
		stop: &'a AtomicBool,
	) -> Result<Self, EngineError> {
		Ok(Self { target: Compute::chosen().target()?, data, progress, stop })
	}

	fn isa(&self) -> Result<Isa, EngineError> {
		match &self.target {
			Target::Cpu(isa) => Ok(*isa),
			Target::Cuda(_) => Ok(Isa::from_environment()?),
		}
	}

	/// Fails with [`UnitError::Stopped`] once nobody waits for the result any more.
	fn check(&self) -> Result<(), UnitError> {
		match self.stop.load(Ordering::Relaxed) {
			true => Err(UnitError::Stopped),
			false => Ok(()),
		}
	}
}

/// Computes a unit.
pub fn compute(unit: Unit<'_>, mut options: Options<'_>) -> Result<UnitResult, UnitError> {
	unit.template.validate()?;
	match unit.template {
		Template::Chain { size, links } => {
			if let Some(batches) = ChainBatches::new(&options.target, *size, *links) {
				return chain_there(&batches, *size, *links, unit.seed, &mut options);
			}
			let isa = options.isa()?;
			let begin = ProgramRunner::new(program::begin(*size), isa)?;
			let mut state = begin.zeros()?;
			begin.advance(&mut state, StepContext { seed: unit.seed, step: 0 })?;
			repeat(program::link(*size), &mut state, unit.seed, 1..=*links, &mut options)?;
			let content = state.content(program::STATE)?;
			Ok(UnitResult { state: chain_state(*size, content), score: None })
		}
		Template::Calibration { passes } => {
			let pass = program::pass();
			let mut state = ProgramRunner::new(pass.clone(), options.isa()?)?.zeros()?;
			repeat(pass, &mut state, unit.seed, 0..=passes.saturating_sub(1), &mut options)?;
			let content = state.content(program::STATE)?;
			Ok(UnitResult { state: calibration_state(content), score: None })
		}
		Template::Trial(_) => {
			let spec = unit.template.trial(unit.index).ok_or(DrillError::NoRates)?;
			let data = options.data.clone().ok_or(UnitError::NoData)?;
			trial(&spec, unit.seed, data, &mut options)
		}
	}
}

/// Computes a chain on a GPU.
fn chain_there(
	batches: &ChainBatches,
	size: u32,
	links: u32,
	seed: H256,
	options: &mut Options<'_>,
) -> Result<UnitResult, UnitError> {
	options.check()?;
	let mut go_on = |done| {
		(options.progress)(done, links);
		!options.stop.load(Ordering::Relaxed)
	};
	let found = batches.compute(&[seed], &mut go_on)?.and_then(|found| found.first().copied());
	let content = found.ok_or(UnitError::Stopped)?;
	Ok(UnitResult { state: chain_state(size, content), score: None })
}

/// Executes `program` at each of `steps`.
fn repeat(
	program: Program,
	state: &mut State,
	seed: H256,
	steps: std::ops::RangeInclusive<u32>,
	options: &mut Options<'_>,
) -> Result<(), UnitError> {
	let list = ProgramRunner::new(program, options.isa()?)?;
	let all = steps.clone().count() as u32;
	for (done, step) in (1..).zip(steps) {
		options.check()?;
		list.advance(state, StepContext { seed, step })?;
		(options.progress)(done, all);
	}
	Ok(())
}

fn trial(
	spec: &CheckedSpec,
	seed: H256,
	data: Arc<Data>,
	options: &mut Options<'_>,
) -> Result<UnitResult, UnitError> {
	let engine = Engine::on(spec, seed, data, options.target.clone())?;
	let mut state = Engine::initial_state(spec, &seed, None)?;
	let steps = spec.training.steps;
	let diverged = |step, trace: &[H256]| {
		let state = diverged_state(step, trace);
		Ok(UnitResult { state, score: None })
	};
	let mut trace = Vec::with_capacity(steps as usize + 1);
	for step in 0..steps {
		options.check()?;
		match engine.step(&mut state, step) {
			Ok(made) => trace.push(made.leaf(step)),
			Err(EngineError::NotANumber { .. }) => return diverged(step, &trace),
			Err(e) => return Err(e.into()),
		}
		(options.progress)(step + 1, steps);
	}
	let found = match engine.evaluate_slices(&state) {
		Ok(found) => found,
		Err(EngineError::LossNotANumber) => return diverged(steps, &trace),
		Err(e) => return Err(e.into()),
	};
	trace.push(found.leaf(steps));
	let score = Some(found.evaluation);
	Ok(UnitResult { state: trial_state(&state.hash()?, &trace), score })
}
