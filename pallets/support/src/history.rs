//! A value and when it changed, for draws that look at what was there at an earlier height.
//!
//! A draw is made from the outputs of blocks after a height, and the author of the last of these
//! blocks knows it while it chooses what its block includes. So what counts in a draw is what was
//! there at that height, and a change remembers what was before it for as long as somebody may ask.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{traits::ConstU32, BoundedVec};
use scale_info::TypeInfo;
use trainyard_protocol::job::BlockNumber;

/// Most changes that are remembered, the oldest value among them.
pub const STEPS: u32 = 4;

/// A value with its recent changes, oldest first.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct History<V> {
	steps: BoundedVec<(BlockNumber, V), ConstU32<STEPS>>,
}

impl<V> Default for History<V> {
	fn default() -> Self {
		Self { steps: BoundedVec::new() }
	}
}

impl<V: Copy + PartialEq> History<V> {
	/// Returns the history of something that begins at `now` with this value.
	pub fn new(now: BlockNumber, value: V) -> Self {
		let mut history = Self::default();
		history.force(now, value, 0);
		history
	}

	/// Returns the value at `height`; `None` before it began, or before what is remembered.
	pub fn at(&self, height: BlockNumber) -> Option<V> {
		self.steps.iter().rev().find(|(since, _)| *since <= height).map(|(_, value)| *value)
	}

	/// Returns the present value.
	pub fn latest(&self) -> Option<V> {
		self.steps.last().map(|(_, value)| *value)
	}

	/// Returns the height of the last change.
	pub fn changed(&self) -> Option<BlockNumber> {
		self.steps.last().map(|(since, _)| *since)
	}

	/// Changes the value at `now`; what it was in the `memory` blocks before stays known. Returns
	/// whether there was room: where there is none, nothing changes.
	#[must_use]
	pub fn push(&mut self, now: BlockNumber, value: V, memory: BlockNumber) -> bool {
		self.forget(now.saturating_sub(memory));
		if let Some((since, last)) = self.steps.last_mut() {
			if *last == value {
				return true;
			}
			if *since == now {
				*last = value;
				return true;
			}
		}
		self.steps.try_push((now, value)).is_ok()
	}

	/// Does the same, and where there is no room the change counts instead of the last one. Draws
	/// from heights between these two see what was before both.
	pub fn force(&mut self, now: BlockNumber, value: V, memory: BlockNumber) {
		if !self.push(now, value, memory) {
			if let Some(last) = self.steps.last_mut() {
				*last = (now, value);
			}
		}
	}

	/// Changes the value at all heights.
	pub fn rewrite(&mut self, rule: impl Fn(V) -> V) {
		for (_, value) in self.steps.iter_mut() {
			*value = rule(*value);
		}
	}

	/// Forgets all values but those of `height` and later.
	fn forget(&mut self, height: BlockNumber) {
		let old = self.steps.iter().filter(|(since, _)| *since <= height).count();
		let mut at = 0usize;
		self.steps.retain(|_| {
			at = at.saturating_add(1);
			at >= old
		});
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	const MEMORY: BlockNumber = 30;

	#[test]
	fn nothing_is_there_before_it_began() {
		let history = History::new(50, 7u32);
		assert_eq!((history.at(49), history.at(50), history.at(900)), (None, Some(7), Some(7)));
	}

	#[test]
	fn each_height_has_the_value_that_it_had() {
		let mut history = History::new(50, 1u32);
		assert!(history.push(100, 2, MEMORY) && history.push(110, 3, MEMORY));
		let seen = [49, 50, 99, 100, 109, 110, 500].map(|height| history.at(height));
		assert_eq!(seen, [None, Some(1), Some(1), Some(2), Some(2), Some(3), Some(3)]);
		// Two changes in one block are one, and no change is none.
		assert!(history.push(110, 4, MEMORY) && history.push(115, 4, MEMORY));
		assert_eq!((history.at(110), history.changed()), (Some(4), Some(110)));
	}

	/// Otherwise many small changes would make a late one count for a draw that is known.
	#[test]
	fn many_changes_in_a_short_time_are_refused() {
		let mut history = History::new(0, 0u32);
		for step in 1..STEPS {
			assert!(history.push(100 + step, step, MEMORY));
		}
		assert!(!history.push(120, 9, MEMORY));
		assert_eq!(history.latest(), Some(STEPS - 1));
		history.force(120, 9, MEMORY);
		assert_eq!(
			(history.at(103), history.at(119), history.at(120)),
			(Some(2), Some(2), Some(9))
		);
		assert!(history.push(120 + MEMORY, 10, MEMORY), "what is old is forgotten");
		assert_eq!(history.at(120 + MEMORY - 1), Some(9));
	}

	#[test]
	fn what_is_rewritten_counts_at_all_heights() {
		let mut history = History::new(0, 100u32);
		assert!(history.push(40, 80, MEMORY));
		history.rewrite(|value| value.min(90));
		assert_eq!((history.at(0), history.at(40)), (Some(90), Some(80)));
	}
}
