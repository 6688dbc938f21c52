//! Which states of a run stay on disk. What is between them follows from them: a run is a function of its
//! specification, seed and data, so any state is computed again, to the bit, from the one before it that was kept
//! ([`crate::restore`]).

use super::max_checkpoint_bytes;
use std::num::NonZeroU32;
use trainyard_program::{spec::CheckedSpec, thinning};

/// One checkpoint in so many is kept, with the first one and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thinning(NonZeroU32);

impl Thinning {
	/// All are kept.
	pub const NONE: Self = Self(NonZeroU32::MIN);

	/// One in `every` is kept.
	pub fn every(every: NonZeroU32) -> Self {
		Self(every)
	}

	/// Returns the least thinning with which the states of a whole run of this job take no more than `bytes`; `None`
	/// where the first one and the last take more.
	pub fn within(spec: &CheckedSpec, bytes: u64) -> Option<Self> {
		let (segments, each) = (spec.segments(), max_checkpoint_bytes(spec).max(1));
		let room = u32::try_from(bytes / each).unwrap_or(u32::MAX);
		// Of so many gaps both ends are kept.
		let gaps = room.checked_sub(1).filter(|gaps| *gaps > 0)?;
		NonZeroU32::new(segments.div_ceil(gaps)).map_or(Some(Self::NONE), |every| Some(Self(every)))
	}

	/// Returns one in how many is kept.
	pub fn step(self) -> u32 {
		self.0.get()
	}

	/// Returns whether the checkpoint of this index is kept of a run whose last one is `last`.
	pub fn keeps(self, index: u32, last: u32) -> bool {
		thinning::keeps(self.step(), index, last)
	}

	/// Returns how many states are kept of a run of so many segments.
	pub fn kept(self, segments: u32) -> u32 {
		thinning::kept(self.step(), segments)
	}

	/// Returns the most bytes that they take.
	pub fn bytes(self, spec: &CheckedSpec) -> u64 {
		max_checkpoint_bytes(spec).saturating_mul(self.kept(spec.segments()).into())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::JobSpec;

	fn every(n: u32) -> Thinning {
		Thinning::every(NonZeroU32::new(n).unwrap())
	}

	#[test]
	fn the_first_and_the_last_are_kept() {
		let kept = |thinning: Thinning, segments: u32| -> Vec<u32> {
			(0..=segments).filter(|index| thinning.keeps(*index, segments)).collect()
		};
		assert_eq!(kept(Thinning::NONE, 3), [0, 1, 2, 3]);
		assert_eq!(kept(every(4), 10), [0, 4, 8, 10]);
		assert_eq!(kept(every(5), 10), [0, 5, 10]);
		assert_eq!(kept(every(99), 10), [0, 10]);
		for (n, segments) in [(1, 3), (4, 10), (5, 10), (99, 10), (7, 1), (u32::MAX, u32::MAX)] {
			if segments < 1_000 {
				assert_eq!(every(n).kept(segments) as usize, kept(every(n), segments).len());
			}
			assert!(every(n).kept(segments) >= 2);
		}
	}

	#[test]
	fn a_budget_gives_the_least_thinning() {
		let spec = JobSpec::example().check().unwrap();
		let (each, segments) = (max_checkpoint_bytes(&spec), spec.segments());
		assert_eq!(segments, 30);
		let of = |states: u64| Thinning::within(&spec, states * each).map(Thinning::step);
		assert_eq!(
			[0, 1, 2, 3, 4, 16, 30, 31, 1_000].map(of),
			[None, None, Some(30), Some(15), Some(10), Some(2), Some(2), Some(1), Some(1)]
		);
		for states in 2..=40 {
			let found = Thinning::within(&spec, states * each).unwrap();
			assert!(found.bytes(&spec) <= states * each, "{states}");
			let less = found.step() - 1;
			assert!(less == 0 || every(less).bytes(&spec) > states * each, "{states}");
		}
	}
}
