//! How fast the members of a bounded pool may change.
//!
//! Whoever fills a pool of which committees or groups are drawn decides alone. So a member makes
//! room only for a materially larger bond, and in a set time (a *turn*) only a small share of the
//! pool changes: an attack takes days, and everybody sees it.

use sp_runtime::Permill;
use trainyard_protocol::job::Balance;

/// Returns whether a member with `bond` makes room for a newcomer with `larger`: at least 1.25 times
/// as much.
pub fn displaces(larger: Balance, bond: Balance) -> bool {
	larger > bond && larger >= bond.saturating_add(bond.div_ceil(4))
}

/// What may still change in this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
	left: Balance,
	used: bool,
}

impl Allowance {
	/// Returns the allowance of a whole turn in a pool of weight `total`: this share, and at least
	/// `least`.
	pub fn of(total: Balance, share: Permill, least: Balance) -> Self {
		Self { left: share.mul_floor(total).max(least), used: false }
	}

	/// Returns an allowance of which this is left.
	pub fn left_over(left: Balance) -> Self {
		Self { left, used: true }
	}

	/// Returns what is left.
	pub fn left(&self) -> Balance {
		self.left
	}

	/// Takes as much of `wanted` as there is.
	pub fn take(&mut self, wanted: Balance) -> Balance {
		let taken = wanted.min(self.left);
		self.left = self.left.saturating_sub(taken);
		self.used |= taken > 0;
		taken
	}

	/// Takes all of `wanted` and returns true, or takes nothing. What comes first in a turn is
	/// always taken, or a share that is smaller than one member would keep the pool as it is.
	#[must_use]
	pub fn take_whole(&mut self, wanted: Balance) -> bool {
		let fits = wanted <= self.left || !self.used;
		if fits {
			self.left = self.left.saturating_sub(wanted);
			self.used = true;
		}
		fits
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn a_newcomer_brings_a_quarter_more() {
		assert!(!displaces(100, 100) && !displaces(124, 100) && displaces(125, 100));
		assert!(!displaces(126, 101) && displaces(127, 101), "rounded up");
		assert!(displaces(1, 0) && !displaces(0, 0));
		assert!(!displaces(Balance::MAX, Balance::MAX));
	}

	#[test]
	fn a_turn_has_its_share_and_no_more() {
		let mut turn = Allowance::of(1_600, Permill::from_rational(1u32, 16), 10);
		assert_eq!(turn.left(), 100);
		assert_eq!((turn.take(60), turn.take(60), turn.take(1)), (60, 40, 0));
		assert_eq!(Allowance::of(0, Permill::one(), 10).left(), 10);
	}

	#[test]
	fn the_first_member_is_always_taken() {
		let mut turn = Allowance::of(0, Permill::one(), 0);
		assert!(turn.take_whole(5) && !turn.take_whole(1) && turn.take_whole(0));
		let mut turn = Allowance::of(0, Permill::one(), 10);
		assert!(turn.take_whole(6) && !turn.take_whole(6) && turn.take_whole(4));
	}
}
