//! Trainers that do not do the work of the job: for tests and the demo only, to show that they are
//! caught.
//!
//! One skips the last segments and fabricates their checkpoints: the parameters go on in the direction
//! in which they last moved, the optimizer's moments stay, its powers of beta are those of the step.
//! Hashes, root, model and manifest are consistent with each other, the accuracy hardly changes,
//! adjacent checkpoints are close and each is a state that an honest run could have; only a replay of a
//! fabricated segment shows that nothing was computed. Reached by `--test-only-cheat N`. Before the
//! court it has nothing to say.
//!
//! The other delivers a run with half of the learning rate, as if it sold one that it had made before.
//! Everything in it was computed, so it can defend each claim by those below it, down to the element of
//! an update in which the court finds another rate. Reached by `--test-only-half-rate`.

use trainyard_engine::TensorMap;
use trainyard_program::{
	lower,
	reachable::{Kind, Reachable},
	spec::CheckedSpec,
};

/// How to cheat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cheat {
	/// The last segments are fabricated.
	Fabricate {
		/// How many; at least 1, and more than there are means all.
		segments: u32,
	},
	/// Everything is trained with half of the learning rate.
	HalfRate,
}

impl Cheat {
	/// Returns the first fabricated segment of a job of `segments` segments, where there is one.
	pub fn first_fabricated(&self, segments: u32) -> Option<u32> {
		match self {
			Self::Fabricate { segments: last } => Some(segments.saturating_sub((*last).max(1))),
			Self::HalfRate => None,
		}
	}

	/// Returns the specification by which it trains a job, where that is another one.
	pub fn trained(&self, spec: &CheckedSpec) -> Option<CheckedSpec> {
		match self {
			Self::Fabricate { .. } => None,
			Self::HalfRate => {
				let mut other = spec.spec().clone();
				other.training.learning_rate_nano /= 2;
				other.check().ok()
			}
		}
	}
}

/// How far a fabricated segment moves, as a share of the last honest segment's way.
const PACE: f32 = 0.25;

/// Returns a made-up state after `step` steps to follow `now`, which is one segment after `before`.
/// Without a `before` the parameters shrink a little.
pub fn fabricate(
	spec: &CheckedSpec,
	step: u32,
	before: Option<&TensorMap>,
	now: &TensorMap,
) -> TensorMap {
	let mut next = now.clone();
	let at = Reachable::at(spec, step);
	for tensor in lower::state(spec) {
		if matches!(Kind::of(&tensor.name).0, Kind::Beta1Power | Kind::Beta2Power) {
			let power = at.most(&tensor) as f32;
			next.get_mut(&tensor.name).map(|kept| kept.data.fill(power)).unwrap_or_default();
		}
	}
	for (name, tensor) in &mut next {
		if Kind::of(name).0 != Kind::Parameter {
			continue;
		}
		let past = before.and_then(|state| state.get(name));
		for (i, x) in tensor.data.iter_mut().enumerate() {
			let old = past.and_then(|t| t.data.get(i)).copied().unwrap_or(*x * 1.01);
			*x += (*x - old) * PACE;
		}
	}
	next
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_engine::Tensor32;
	use trainyard_program::spec::JobSpec;

	#[test]
	fn fabricated_states_go_on_and_differ() {
		let spec = JobSpec::example().check().unwrap();
		let names = ["layers.0.weight", "optimizer.m.layers.0.weight", lower::BETA1_POWER];
		let state = |x: f32| -> TensorMap {
			names.map(|name| (name.to_owned(), Tensor32 { shape: vec![1], data: vec![x] })).into()
		};
		let next = fabricate(&spec, 2, Some(&state(1.0)), &state(2.0));
		assert_eq!(next["layers.0.weight"].data, [2.25]);
		assert_eq!(next["optimizer.m.layers.0.weight"].data, [2.0]);
		assert_eq!(next[lower::BETA1_POWER].data, [0.9 * 0.9f32]);
		assert_ne!(fabricate(&spec, 2, None, &state(2.0)), state(2.0));
	}

	#[test]
	fn the_last_segments_are_fabricated() {
		let first = |last| Cheat::Fabricate { segments: last }.first_fabricated(30);
		assert_eq!([10, 0, 99].map(first), [Some(20), Some(29), Some(0)]);
		assert_eq!(Cheat::HalfRate.first_fabricated(30), None);
	}

	#[test]
	fn half_of_the_rate_is_all_that_differs() {
		let spec = JobSpec::example().check().unwrap();
		assert_eq!(Cheat::Fabricate { segments: 1 }.trained(&spec), None);
		let mut other = Cheat::HalfRate.trained(&spec).unwrap().spec().clone();
		let rate = spec.spec().training.learning_rate_nano;
		assert_eq!(other.training.learning_rate_nano, rate / 2);
		other.training.learning_rate_nano = rate;
		assert_eq!(other, *spec.spec());
	}
}
