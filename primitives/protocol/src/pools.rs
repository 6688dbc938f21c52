//! Pools of claims: members put capital together, trainers of jobs that pay by [lottery](crate::lottery) enrol the claims
//! on their pay, and are paid the mean, less a fee, whatever their tickets bring. The pool carries the variance.

use crate::job::{Balance, BlockNumber};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::text::decimal;

/// Number of a pool: 0, 1, 2, … in order.
pub type PoolId = u32;

/// Most that a pool takes of the mean, in percent.
pub const MOST_FEE: u8 = 50;

/// What whoever makes a pool says, for as long as it is there.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct Rules {
	/// What the pool keeps of the mean, in percent.
	pub fee: u8,
	/// Least standing of a trainer that enrols, in millionths
	/// ([`Record::standing`](crate::reputation::Record::standing)).
	pub standing: u32,
	/// Blocks for which claims are enrolled, before the pool waits until all of them are settled and members may join
	/// and leave.
	pub period: BlockNumber,
}

impl Rules {
	/// Returns what a trainer is paid of a mean, rounded down.
	pub fn paid_of(&self, mean: Balance) -> Balance {
		let part = Balance::from(100u8.saturating_sub(self.fee));
		// Whole hundreds and the rest are multiplied apart, so that nothing overflows.
		let whole = (mean / 100).saturating_mul(part);
		whole.saturating_add((mean % 100).saturating_mul(part) / 100)
	}
}

/// A pool.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct Pool<AccountId> {
	/// Who made it, and has the existential deposit of its account back when its last member leaves.
	pub maker: AccountId,
	/// What it said.
	pub rules: Rules,
	/// What belongs to the members.
	#[serde(with = "decimal")]
	pub capital: Balance,
	/// The parts in which it does.
	#[serde(with = "decimal")]
	pub shares: Balance,
	/// What of the capital the enrolled claims may cost.
	#[serde(with = "decimal")]
	pub reserved: Balance,
	/// How many claims are enrolled.
	pub enrolled: u32,
	/// The height at which it began to enrol.
	pub since: BlockNumber,
	/// The height at which the last claim was settled, or the pool made.
	pub quiet: BlockNumber,
}

impl<AccountId> Pool<AccountId> {
	/// Returns the height at which enrolling begins or began where a claim can be enrolled `now`: in a period, and where no
	/// claim is left for `rest` blocks since its end in the next one. `None` where the pool rests.
	pub fn enrols(&self, now: BlockNumber, rest: BlockNumber) -> Option<BlockNumber> {
		let end = self.since.saturating_add(self.rules.period);
		if now < end {
			return Some(self.since);
		}
		let again = self.quiet.max(end).saturating_add(rest);
		(self.enrolled == 0 && now >= again).then_some(now)
	}

	/// Returns what no enrolled claim can cost.
	pub fn free(&self) -> Balance {
		self.capital.saturating_sub(self.reserved)
	}
}

/// A claim that is enrolled.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Enrolled {
	/// The pool.
	pub pool: PoolId,
	/// What it may cost the pool.
	pub reserve: Balance,
}

#[cfg(test)]
mod tests {
	use super::*;

	fn pool() -> Pool<u64> {
		let rules = Rules { fee: 5, standing: 0, period: 100 };
		Pool {
			maker: 1,
			rules,
			capital: 50,
			shares: 50,
			reserved: 20,
			enrolled: 0,
			since: 10,
			quiet: 10,
		}
	}

	#[test]
	fn a_pool_enrols_for_a_period_and_rests_after_it() {
		let rest = 30;
		let of = |enrolled, quiet, now| Pool { enrolled, quiet, ..pool() }.enrols(now, rest);
		assert_eq!([of(0, 10, 10), of(3, 10, 109)], [Some(10); 2]);
		// All settled before the end: it rests from the end on.
		assert_eq!([of(0, 50, 110), of(0, 50, 139)], [None; 2]);
		assert_eq!(of(0, 50, 140), Some(140));
		// The last one was settled later: it rests from there on.
		assert_eq!([of(1, 50, 900), of(0, 900, 929)], [None; 2]);
		assert_eq!(of(0, 900, 930), Some(930));
	}

	#[test]
	fn a_trainer_has_the_mean_less_the_fee() {
		let of = |fee, mean| Rules { fee, ..pool().rules }.paid_of(mean);
		assert_eq!((of(0, 1_234), of(5, 100), of(5, 19), of(50, 3)), (1_234, 95, 18, 1));
		assert_eq!(of(100, 1_000), 0);
		assert_eq!(of(0, Balance::MAX), Balance::MAX);
		assert!(of(5, Balance::MAX) > Balance::MAX / 20 * 18);
		assert_eq!(pool().free(), 30);
	}
}
