//! A trainer that does not do the work: for tests and the demo only, to show that it is
//! caught. Reached by `--test-only-cheat N`.
//!
//! It trains honestly up to the last `N` segments and fabricates their checkpoints: the
//! parameters go on in the direction in which they last moved, the optimizer's moments stay,
//! its powers of beta are those of the step. Hashes, root, model and manifest are consistent
//! with each other, the accuracy hardly changes, adjacent checkpoints are close and each is a
//! state that an honest run could have; only a replay of a fabricated segment shows that
//! nothing was computed.

use trainyard_engine::TensorMap;
use trainyard_program::{
	lower::{self, OPTIMIZER_PREFIX},
	reachable::{Kind, Reachable},
	spec::CheckedSpec,
};

/// How to cheat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cheat {
	/// The number of last segments that are fabricated; at least 1, and more than there are means
	/// all.
	pub segments: u32,
}

impl Cheat {
	/// Returns the first fabricated segment of a job of `segments` segments.
	pub fn first_fabricated(&self, segments: u32) -> u32 {
		segments.saturating_sub(self.segments.max(1))
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
		if name.starts_with(OPTIMIZER_PREFIX) {
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
		assert_eq!(Cheat { segments: 10 }.first_fabricated(30), 20);
		assert_eq!(Cheat { segments: 0 }.first_fabricated(30), 29);
		assert_eq!(Cheat { segments: 99 }.first_fabricated(30), 0);
	}
}
