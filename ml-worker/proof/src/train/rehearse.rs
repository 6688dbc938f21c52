//! A rehearsal: a few steps in memory, to see whether training holds before money depends
//! on it.

use crate::inputs::{InputError, InputPaths, Inputs};
use primitive_types::H256;
use std::{
	sync::atomic::{AtomicBool, Ordering},
	time::{Duration, Instant},
};
use trainyard_engine::{Engine, EngineError};
use trainyard_program::spec::CheckedSpec;

/// The length of a rehearsal: it ends at whichever limit comes first. At least one step is taken.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
	/// Most steps.
	pub steps: u32,
	/// Time after which no further step is begun.
	pub time: Duration,
}

/// Says why training should not begin.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
	/// The data, the labels or the initial model are not those of the job.
	#[error(transparent)]
	Input(#[from] InputError),
	/// A value became infinite or NaN.
	#[error("training diverges: {what} after {steps} step(s) of a rehearsal")]
	Diverged {
		/// Steps taken.
		steps: u32,
		/// Where.
		what: String,
	},
	/// The engine failed.
	#[error(transparent)]
	Engine(EngineError),
	/// Stopped on request.
	#[error("the rehearsal was stopped")]
	Stopped,
}

/// Trains `spec` for a moment under its own seed, and evaluates once; nothing is written. Returns
/// the number of steps taken, or why training should not begin: a loss, a value of the state or the
/// validation loss that is not finite.
///
/// The assignment seed gives different initial weights and a different order of the rows, and most
/// steps are never tried, so a run may still diverge.
pub fn rehearse(
	spec: &CheckedSpec,
	paths: &InputPaths,
	budget: Budget,
	stop: &AtomicBool,
) -> Result<u32, RehearsalError> {
	rehearse_under(H256(rand::random()), spec, paths, budget, stop)
}

fn rehearse_under(
	seed: H256,
	spec: &CheckedSpec,
	paths: &InputPaths,
	budget: Budget,
	stop: &AtomicBool,
) -> Result<u32, RehearsalError> {
	use RehearsalError::{Engine as Failed, Stopped};
	let inputs = Inputs::load_until(spec, paths, stop).map_err(|error| match error {
		error if error.is_stopped() => Stopped,
		error => error.into(),
	})?;
	let initial = Engine::initial_state(spec, &seed, inputs.initial_model());
	let mut state = initial.map_err(Failed)?;
	let engine = Engine::new(spec, seed, inputs.data).map_err(Failed)?;
	let most = budget.steps.clamp(1, spec.training.steps.max(1));
	let begun = Instant::now();
	let mut steps = 0;
	while steps < most && (steps == 0 || begun.elapsed() < budget.time) {
		if stop.load(Ordering::Relaxed) {
			return Err(Stopped);
		}
		let trace = engine.step(&mut state, steps);
		steps += 1;
		match trace {
			Ok(trace) if trace.loss.is_finite() => {}
			Ok(trace) => return Err(diverged(steps, format!("the loss is {}", trace.loss))),
			Err(EngineError::NotANumber { tensor, .. }) => {
				// The state is still the one before the step.
				let cause = match engine.checked_step(&mut state, steps - 1) {
					Ok(Some(fault)) => format!("; first {fault}"),
					_ => String::new(),
				};
				return Err(diverged(steps, format!("{tensor} is not a number{cause}")));
			}
			Err(e) => return Err(Failed(e)),
		}
	}
	for (name, tensor) in state.to_host().map_err(Failed)? {
		if let Some(value) = tensor.data.iter().find(|value| !value.is_finite()) {
			return Err(diverged(steps, format!("{name} holds {value}")));
		}
	}
	match engine.evaluate(&state) {
		Ok(found) => match found.loss() {
			loss if loss.is_finite() => Ok(steps),
			loss => Err(diverged(steps, format!("the validation loss is {loss}"))),
		},
		Err(EngineError::LossNotANumber) => {
			Err(diverged(steps, "the validation loss is not a number".to_owned()))
		}
		Err(e) => Err(Failed(e)),
	}
}

fn diverged(steps: u32, what: String) -> RehearsalError {
	RehearsalError::Diverged { steps, what }
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::testing::{changed, job, table, undivided, SEED};
	use std::path::Path;
	use trainyard_program::spec::{Loss, Optimizer};

	const BUDGET: Budget = Budget { steps: 200, time: Duration::from_secs(600) };

	fn tried(spec: &CheckedSpec, data: &Path, budget: Budget) -> Result<u32, RehearsalError> {
		rehearse_under(SEED, spec, &InputPaths::data(data), budget, &AtomicBool::new(false))
	}

	#[test]
	fn a_sound_job_passes_within_the_budget() {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let spec = job(&data);
		assert_eq!(tried(&spec, &data, BUDGET).unwrap(), 60, "no more steps than the job has");
		assert_eq!(tried(&spec, &data, Budget { steps: 7, ..BUDGET }).unwrap(), 7);
		let no_time = Budget { time: Duration::ZERO, ..BUDGET };
		assert_eq!(tried(&spec, &data, no_time).unwrap(), 1);
		let stopped = AtomicBool::new(true);
		let error = rehearse(&spec, &InputPaths::data(&data), BUDGET, &stopped).unwrap_err();
		assert!(matches!(error, RehearsalError::Stopped), "{error}");
		// Nothing was written beside the data.
		assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
	}

	#[test]
	fn a_learning_rate_beyond_reason_is_seen_before_anything_is_at_stake() {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let spec = changed(&job(&data), |spec| {
			spec.training.learning_rate_nano = 1_000_000_000_000;
			spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
			spec.training.loss = Loss::MeanSquaredError;
		});
		let error = tried(&spec, &data, BUDGET).unwrap_err();
		assert!(matches!(error, RehearsalError::Diverged { .. }), "{error}");
		assert!(error.to_string().starts_with("training diverges: "), "{error}");
	}

	/// Training rows are harmless, so only an evaluation can show it.
	#[test]
	fn validation_rows_that_overflow_are_seen() {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let text = std::fs::read_to_string(&data).unwrap();
		let mut rows = String::new();
		for (at, line) in text.lines().enumerate() {
			match at.checked_sub(1).filter(|row| row % 4 == 3) {
				Some(row) => {
					let label = line.rsplit(',').next().unwrap();
					let cell = |bit: usize| if row >> bit & 1 == 0 { "3e38" } else { "-3e38" };
					rows += &format!("{},{},{},{},{label}\n", cell(2), cell(3), cell(4), cell(5));
				}
				None => rows += &format!("{line}\n"),
			}
		}
		std::fs::write(&data, rows).unwrap();
		let spec = undivided(&job(&data), &data);
		let error = tried(&spec, &data, Budget { steps: 1, ..BUDGET }).unwrap_err();
		assert!(error.to_string().contains("validation loss"), "{error}");
	}
}
