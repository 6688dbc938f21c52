//! Which states a verifier believes: those that an honest run of the job can have.
//!
//! A segment is replayed from the trainer's own start state, so a state that no training reaches
//! could make all later segments cheap and true. `docs/start-states.md` derives the bounds. They are
//! inductive: what follows from a state within them is within them as well. So the first state that is
//! not follows one that is, and the segment between them is false.

use rayon::prelude::*;
use std::{collections::BTreeMap, fmt};
use trainyard_engine::{first_nan, TensorMap};
use trainyard_program::{
	lower,
	reachable::{Movement, Reachable, Unreachable},
	spec::CheckedSpec,
};

/// Why a state is none of an honest run.
#[derive(Clone, Debug, PartialEq)]
pub struct FalseState {
	/// The index of its checkpoint.
	pub checkpoint: u32,
	/// What is wrong, in one line.
	pub why: String,
}

impl FalseState {
	fn unreachable(checkpoint: u32, why: Unreachable) -> Self {
		Self { checkpoint, why: why.to_string() }
	}
}

impl fmt::Display for FalseState {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		write!(
			f,
			"checkpoint {} is a state that no honest run can have: {}",
			self.checkpoint, self.why
		)
	}
}

/// Fails if `state` cannot be checkpoint `index` of an honest run: it holds other tensors than the
/// job's, or a NaN, or a number that the steps up to there cannot make.
pub fn check_state(spec: &CheckedSpec, index: u32, state: &TensorMap) -> Result<(), FalseState> {
	let wrong = |why| Err(FalseState { checkpoint: index, why });
	let tensors = lower::state(spec);
	let mut expected: Vec<_> = tensors.iter().map(|t| (&t.name, &t.shape)).collect();
	expected.sort();
	let found = state.iter().map(|(name, tensor)| (name, &tensor.shape));
	if !found.eq(expected) {
		return wrong("its tensors are not those of the job".into());
	}
	if let Some(name) = first_nan(state) {
		return wrong(format!("{name} holds a NaN"));
	}
	let step = spec.checkpoint_step(index).unwrap_or(spec.training.steps);
	let reachable = Reachable::at(spec, step);
	let read = |name: &str| state.get(name).map(|tensor| &tensor.data[..]);
	let found: Vec<_> = tensors.par_iter().map(|tensor| reachable.one(tensor, read)).collect();
	reachable.all(found).map_err(|why| FalseState::unreachable(index, why))
}

/// Fails unless checkpoint `index`, in this state, can follow the one that is `before` it, in a state of
/// an honest run: by itself, and no farther from it than the steps between them go.
pub fn check_next(
	spec: &CheckedSpec,
	(from, begin): (u32, &TensorMap),
	(index, state): (u32, &TensorMap),
) -> Result<(), FalseState> {
	check_state(spec, index, state)?;
	if from >= index {
		return Ok(());
	}
	let steps = spec.checkpoint_step(from).zip(spec.checkpoint_step(index));
	let (from, to) = steps.unwrap_or_default();
	let movement = Movement::over(spec, from, to);
	let moved = state.par_iter().map(|(name, tensor)| {
		let begin = begin.get(name).map_or(&[][..], |tensor| &tensor.data);
		movement.tensor(name, begin, &tensor.data)
	});
	// The first tensor that moved too far, not the first that a thread found.
	let moved: Vec<_> = moved.collect();
	let moved = moved.into_iter().collect::<Result<(), _>>();
	moved.map_err(|why| FalseState::unreachable(index, why))
}

/// Finds the segment in which a run leaves what an honest one can do: `good` is a state of an honest
/// run, and checkpoint `bad` is none that can follow it. Reads as many states as the number of segments
/// between has binary digits, each by `state`. Returns the segment and the state in which it begins.
pub fn jump<E>(
	spec: &CheckedSpec,
	good: (u32, TensorMap),
	bad: u32,
	mut state: impl FnMut(u32) -> Result<TensorMap, E>,
) -> Result<(u32, TensorMap), E> {
	let ((mut from, mut begin), mut to) = (good, bad);
	while to.saturating_sub(from) > 1 {
		let middle = from + (to - from) / 2;
		let found = state(middle)?;
		match check_next(spec, (from, &begin), (middle, &found)) {
			Ok(()) => (from, begin) = (middle, found),
			Err(_) => to = middle,
		}
	}
	Ok((from, begin))
}

/// States by the index of their checkpoint.
pub type States = BTreeMap<u32, TensorMap>;
