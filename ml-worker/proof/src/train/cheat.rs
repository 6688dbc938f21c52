//! A trainer that does not do the work: for tests and the demo only, to show that it is
//! caught. Reached by `--test-only-cheat N`.
//!
//! It trains honestly up to the last `N` segments and fabricates their checkpoints: the
//! parameters go on in the direction in which they last moved, the optimizer's state fades.
//! Hashes, root, model and manifest are consistent with each other, the accuracy hardly
//! changes and adjacent checkpoints are close; only a replay of a fabricated segment shows
//! that nothing was computed.

use trainyard_engine::TensorMap;
use trainyard_program::lower::OPTIMIZER_PREFIX;

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
/// What remains of moments after a fabricated segment.
const FADE: f32 = 0.95;

/// Returns a made-up state to follow `now`, which is one segment after `before`. Without a `before`
/// the parameters shrink a little.
pub fn fabricate(before: Option<&TensorMap>, now: &TensorMap) -> TensorMap {
	let mut next = now.clone();
	for (name, tensor) in &mut next {
		if name.starts_with(OPTIMIZER_PREFIX) {
			tensor.data.iter_mut().for_each(|x| *x *= FADE);
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

	#[test]
	fn fabricated_states_go_on_and_differ() {
		let state = |x: f32| -> TensorMap {
			["layers.0.weight", "optimizer.m.layers.0.weight"]
				.map(|name| (name.to_owned(), Tensor32 { shape: vec![1], data: vec![x] }))
				.into()
		};
		let next = fabricate(Some(&state(1.0)), &state(2.0));
		assert_eq!(next["layers.0.weight"].data, [2.25]);
		assert_eq!(next["optimizer.m.layers.0.weight"].data, [1.9]);
		assert_ne!(fabricate(None, &state(2.0)), state(2.0));
	}

	#[test]
	fn the_last_segments_are_fabricated() {
		assert_eq!(Cheat { segments: 10 }.first_fabricated(30), 20);
		assert_eq!(Cheat { segments: 0 }.first_fabricated(30), 29);
		assert_eq!(Cheat { segments: 99 }.first_fabricated(30), 0);
	}
}
