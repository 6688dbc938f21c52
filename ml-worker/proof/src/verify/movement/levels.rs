//! Picks a segment of a run of which not all states are kept: first a stretch between two kept ones, and then a segment
//! in it.

use super::{Measure, Movement, Pick, Walk};
use primitive_types::H256;
use trainyard_program::{spec::CheckedSpec, thinning};

/// Returns a segment of a stretch of a run of so many segments, by this random number: whoever cannot read the states of
/// the stretch picks any.
pub fn any_of(every: u32, segments: u32, stretch: u32, random: u32) -> u32 {
	let every = every.max(1);
	let from = stretch.saturating_mul(every);
	let count = segments.saturating_sub(from).min(every).max(1);
	from.saturating_add(random.checked_rem(count).unwrap_or(0))
}

/// A run of which a segment is picked as a seat with a VRF output does.
#[derive(Clone, Debug)]
pub struct Levels<'a> {
	/// The job.
	pub spec: &'a CheckedSpec,
	/// Steps and state hashes of all checkpoints, as the trainer revealed them.
	pub checkpoints: Vec<(u32, H256)>,
	/// Whether training diverged after them.
	pub diverged: bool,
	/// By which tensors it is picked.
	pub measure: Measure,
	/// What the places follow from that are read.
	pub output: H256,
	/// One state in so many is [kept](thinning); 1 keeps all, and there is one level.
	pub every: u32,
}

impl<'a> Levels<'a> {
	/// Returns the index of the last checkpoint.
	fn last(&self) -> u32 {
		u32::try_from(self.checkpoints.len().saturating_sub(1)).unwrap_or(u32::MAX)
	}

	fn walk(&self) -> Walk<'a> {
		let checkpoints = self.checkpoints.iter().copied();
		Walk::new(self.spec, checkpoints, self.diverged, self.measure, &self.output)
	}

	/// Begins to read the states that are kept.
	pub fn kept(&self) -> Walk<'a> {
		let (every, last) = (self.every, self.last());
		self.walk().among(|at| thinning::keeps(every, at, last))
	}

	/// Begins to read all states of a stretch, both ends included.
	pub fn stretch(&self, stretch: u32) -> Walk<'a> {
		let every = self.every.max(1);
		let from = stretch.saturating_mul(every);
		self.walk().among(|at| (from..=from.saturating_add(every)).contains(&at))
	}

	/// Returns the stretches in which a segment is picked: the first one, which moves farthest in every run and so is
	/// compared with nothing, and the one that moved farthest of the others by what the kept states show. None where
	/// all states are kept.
	pub fn stretches(&self, kept: &Movement) -> Vec<u32> {
		if self.every <= 1 {
			return Vec::new();
		}
		let picked = kept.pick().and_then(|pick| self.stretch_of(pick.segment));
		let mut all = vec![0];
		all.extend(picked.filter(|stretch| *stretch > 0));
		all
	}

	/// Returns the stretch in which a segment lies.
	pub fn stretch_of(&self, segment: u32) -> Option<u32> {
		segment.checked_div(self.every.max(1))
	}

	/// Returns the pick of the whole run: of these picks of stretches the one with the largest ratio, of equal ones the
	/// first.
	pub fn best(picks: impl IntoIterator<Item = Pick>) -> Option<Pick> {
		picks.into_iter().fold(None, |best: Option<Pick>, pick| match best {
			Some(best) if best.ratio >= pick.ratio => Some(best),
			_ => Some(pick),
		})
	}
}
