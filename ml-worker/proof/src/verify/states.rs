//! Which states a verifier believes: those that an honest run of the job can have.
//!
//! A segment is replayed from the trainer's own start state, so a state that no training reaches
//! could make all later segments cheap and true. `docs/start-states.md` derives the bounds.

use std::collections::BTreeMap;
use trainyard_engine::{first_nan, TensorMap};
use trainyard_program::{
	lower,
	reachable::{Movement, Reachable, Unreachable},
	spec::CheckedSpec,
};
use trainyard_protocol::audit::RejectReason;

/// Why a state is none of an honest run.
#[derive(Clone, Debug, PartialEq)]
pub struct FalseState {
	/// What it is rejected for.
	pub reason: RejectReason,
	/// What is wrong, in one line.
	pub why: String,
}

impl FalseState {
	fn unreachable(checkpoint: u32, why: Unreachable) -> Self {
		Self { reason: RejectReason::UnreachableState { checkpoint }, why: why.to_string() }
	}
}

/// Fails if `state` cannot be checkpoint `index` of an honest run: it holds other tensors than the
/// job's, or a NaN, or a number that the steps up to there cannot make.
pub fn check_state(spec: &CheckedSpec, index: u32, state: &TensorMap) -> Result<(), FalseState> {
	let wrong =
		|why| Err(FalseState { reason: RejectReason::WrongState { checkpoint: index }, why });
	let mut expected: Vec<_> = lower::state(spec).into_iter().map(|t| (t.name, t.shape)).collect();
	expected.sort();
	let found = state.iter().map(|(name, tensor)| (name, &tensor.shape));
	if !found.eq(expected.iter().map(|(name, shape)| (name, shape))) {
		return wrong("its tensors are not those of the job".into());
	}
	if let Some(name) = first_nan(state) {
		return wrong(format!("{name} holds a NaN"));
	}
	let step = spec.checkpoint_step(index).unwrap_or(spec.training.steps);
	Reachable::at(spec, step)
		.state(spec, |name| state.get(name).map(|tensor| &tensor.data[..]))
		.map_err(|why| FalseState::unreachable(index, why))
}

/// Fails with the first of these states that is farther from the one before it than the steps
/// between them go. All must have passed [`check_state`].
pub fn check_movements<'a>(
	spec: &CheckedSpec,
	states: impl IntoIterator<Item = (u32, &'a TensorMap)>,
) -> Result<(), FalseState> {
	let mut before: Option<(u32, &TensorMap)> = None;
	for (index, state) in states {
		if let Some((from, begin)) = before.filter(|(from, _)| *from < index) {
			let steps = spec.checkpoint_step(from).zip(spec.checkpoint_step(index));
			let (from, to) = steps.unwrap_or_default();
			let movement = Movement::over(spec, from, to);
			for (name, tensor) in state {
				let begin = begin.get(name).map_or(&[][..], |tensor| &tensor.data);
				movement
					.tensor(name, begin, &tensor.data)
					.map_err(|why| FalseState::unreachable(index, why))?;
			}
		}
		before = Some((index, state));
	}
	Ok(())
}

/// States by the index of their checkpoint.
pub type States = BTreeMap<u32, TensorMap>;
