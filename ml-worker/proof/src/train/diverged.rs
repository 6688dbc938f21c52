//! Says what went wrong when a value became infinite or NaN: in which step, which operator of which
//! layer made the first such value, and what helps.

use super::{Position, Run, TrainError};
use crate::bundle;
use std::fmt;
use trainyard_engine::{Engine, EngineError, Fault, State};
use trainyard_program::{lower, ops::Phase, spec::Training};

/// The first value that is infinite or NaN.
struct Cause {
	/// The step that made it, from 1; of an evaluation, the steps before it.
	step: u32,
	evaluation: bool,
	fault: Fault,
}

impl Cause {
	/// Returns whether the learning rate had no part in it yet: in the first step it affects only
	/// the next parameters.
	fn is_of_the_beginning(&self) -> bool {
		let update = self.fault.made_by.as_ref().is_some_and(|by| by.phase == Phase::Update);
		let parameter = update && !self.fault.tensor.starts_with(lower::OPTIMIZER_PREFIX);
		match self.step {
			0 => true,
			1 => !parameter && !self.evaluation,
			_ => false,
		}
	}
}

impl fmt::Display for Cause {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		let place = if self.evaluation { "the validation after step" } else { "step" };
		write!(f, "the first value out of range is of {place} {}: {}", self.step, self.fault)
	}
}

impl Run<'_> {
	/// Returns the error of a run in which `what` was noticed in step `step`, from 1; 0 is the
	/// initial state.
	pub(super) fn diverged(&self, step: u32, what: String) -> TrainError {
		let advice = advice(&self.bundle.manifest().spec.training, step == 0);
		TrainError::Diverged { step, what, advice, kept: self.kept(), bundle: None }
	}

	/// Returns what an engine's error in step `step`, from 1, means for the run.
	pub(super) fn failed(&self, step: u32, error: EngineError) -> TrainError {
		match error {
			EngineError::NotANumber { tensor, .. } => {
				self.diverged(step, format!("{tensor} is not a number any more"))
			}
			EngineError::LossNotANumber => {
				self.diverged(step, "the validation loss is not a number any more".to_owned())
			}
			error => TrainError::Engine(error),
		}
	}

	/// Adds to a divergence where it came from. Values are not checked while all goes well. So the
	/// last step is repeated with checks if the present state is still the one before it
	/// (`is_before`) or, if that does not show it, all steps since the last checkpoint.
	pub(super) fn explained(
		&self,
		error: TrainError,
		at: &Position,
		is_before: bool,
	) -> TrainError {
		let TrainError::Diverged { step, mut what, mut advice, kept, bundle } = error else {
			return error;
		};
		if let Some((name, value)) = largest(&at.state) {
			what = format!("{what}; the largest parameter is {value:e}, in {name}");
		}
		let before = is_before.then(|| at.state.clone());
		let cause = last_step(&self.engine, before, step).or_else(|| {
			tracing::info!("steps {} to {step} are repeated with checks", at.begin);
			first_fault(&self.engine, at, step).ok().flatten()
		});
		if let Some(cause) = cause {
			what = format!("{what}; {cause}");
			let training = &self.bundle.manifest().spec.training;
			advice = self::advice(training, cause.is_of_the_beginning());
		}
		TrainError::Diverged { step, what, advice, kept, bundle }
	}
}

/// Returns the fault of step `step`, from 1, if the state `before` it is at hand and finite.
fn last_step(engine: &Engine, before: Option<State>, step: u32) -> Option<Cause> {
	let fault = engine.checked_step(&mut before?, step.checked_sub(1)?).ok()??;
	fault.made_by.is_some().then_some(Cause { step, evaluation: false, fault })
}

/// Returns the first fault from the last checkpoint on, up to step `end` and its evaluation.
fn first_fault(engine: &Engine, at: &Position, end: u32) -> Result<Option<Cause>, TrainError> {
	let mut state = State::from_host(at.raw.clone()).map_err(TrainError::Engine)?;
	for step in at.begin..end {
		let fault = engine.checked_step(&mut state, step).map_err(TrainError::Engine)?;
		if let Some(fault) = fault {
			return Ok(Some(Cause { step: step + 1, evaluation: false, fault }));
		}
	}
	let fault = engine.checked_evaluation(&state).map_err(TrainError::Engine)?;
	Ok(fault.map(|fault| Cause { step: end, evaluation: true, fault }))
}

/// Returns what to do about a divergence.
fn advice(training: &Training, at_the_beginning: bool) -> String {
	if at_the_beginning {
		return "Nothing was learned yet, so the learning rate is not the cause: the inputs are \
		        probably too large. Scale them, for example by dataset.feature_divisor"
			.to_owned();
	}
	let rate = decimal(training.learning_rate_nano);
	let clip = match training.clip_norm_nano {
		0 => ", or set training.clip_norm = 1.0",
		_ => "",
	};
	format!("The learning rate {rate} is probably too high: try a tenth of it{clip}")
}

/// Writes a count of 10^-9 as people do: 2000000 as 0.002.
fn decimal(nano: u64) -> String {
	let text = format!("{}.{:09}", nano / 1_000_000_000, nano % 1_000_000_000);
	text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the parameter of largest magnitude, and the tensor that holds it.
fn largest(state: &State) -> Option<(String, f32)> {
	let raw = bundle::parameters(state.to_host().ok()?);
	raw.into_iter()
		.filter_map(|(name, tensor)| {
			let value = tensor.data.into_iter().map(f32::abs).max_by(f32::total_cmp)?;
			Some((name, value))
		})
		.max_by(|a, b| a.1.total_cmp(&b.1))
}
