//! Reputation: what accounts did in jobs, counted in fees that were burned.
//!
//! Jobs are cheap to make up, and what somebody pays to itself returns. What was burned does not: so a deed counts
//! as much as the job burned, and nobody has a reputation of more than it, or somebody for it, lost. All of it
//! decays by half every [`HALF_LIFE`], as power does.
//!
//! A reputation never stands in the place of proof. It moves how often an account is drawn where several would
//! do ([`Record::standing`]), and it is a forecast that others may use ([`Record::right`]).

use crate::{
	decay::decayed,
	job::{Balance, BlockNumber},
};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// In so many blocks a record decays by half: four weeks at 6 s each.
pub const HALF_LIFE: BlockNumber = 403_200;
/// What a deed counts as at least that is not to somebody's credit, where its job would have burned less:
/// 0.01 TRY. Jobs that earn no power burn nothing.
pub const LEAST_BLAME: Balance = 10_000_000_000;
/// What is known of everybody without a record: as if this much had been burned, 10 TRY. Who burned as much has
/// half of what there is to have.
pub const UNKNOWN: Balance = 10_000_000_000_000;
/// A conviction counts as so many failures: it is shown, and no accident.
pub const CONVICTION_COUNTS: Balance = 4;
/// A record with less than this in all is as good as none: 0.001 TRY.
pub const SPENT: Balance = 1_000_000_000;
/// All of a share, in parts of a million.
pub const WHOLE: u32 = 1_000_000;
/// The standing of whoever has the worst record, in millionths: an eighth.
pub const LEAST_STANDING: u32 = WHOLE / 8;
/// The most that a sum of a record can be: no product with a millionth leaves the range of amounts.
const MOST: Balance = Balance::MAX >> 32;

/// As what somebody did something.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
	/// It trained.
	Trainer,
	/// It had a seat of an audit.
	Verifier,
	/// It posted the job.
	Submitter,
	/// It accused somebody before the court.
	Challenger,
}

impl Role {
	/// All roles, in the order of their codes.
	pub const ALL: [Role; 4] = [Role::Trainer, Role::Verifier, Role::Submitter, Role::Challenger];
}

/// What somebody did.
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
#[serde(rename_all = "snake_case")]
pub enum Deed {
	/// A trainer's result was accepted, a seat earned its fee, a submitter's job was settled, a challenger's
	/// accusation led to a conviction.
	Done,
	/// A trainer committed, revealed or stored nothing in time, a seat gave no verdict.
	Late,
	/// A trainer's result was rejected or could not be had, a seat contradicted what was decided or guessed, nobody
	/// took a submitter's job, a challenger lost or withdrew.
	Failed,
	/// The court convicted a trainer or a seat, or a seat lost its accusation.
	Convicted,
	/// The court acquitted a trainer or a seat that somebody accused.
	Wronged,
}

/// What an account did in a role: sums of burned fees, as they are at height [`Record::at`].
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
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
pub struct Record {
	/// Of [`Deed::Done`].
	#[serde(with = "trainyard_program::text::decimal")]
	pub done: Balance,
	/// Of [`Deed::Late`].
	#[serde(with = "trainyard_program::text::decimal")]
	pub late: Balance,
	/// Of [`Deed::Failed`].
	#[serde(with = "trainyard_program::text::decimal")]
	pub failed: Balance,
	/// Of [`Deed::Convicted`].
	#[serde(with = "trainyard_program::text::decimal")]
	pub convicted: Balance,
	/// Of [`Deed::Wronged`]: it counts for nobody and against nobody, since a friend can accuse and lose.
	#[serde(with = "trainyard_program::text::decimal")]
	pub wronged: Balance,
	/// The height to which they have decayed.
	pub at: BlockNumber,
}

impl Record {
	/// Returns the record as it is at height `now`.
	pub fn aged(self, now: BlockNumber) -> Self {
		let blocks = now.saturating_sub(self.at);
		let of = |sum| decayed(sum, blocks.into(), HALF_LIFE.into());
		Self {
			done: of(self.done),
			late: of(self.late),
			failed: of(self.failed),
			convicted: of(self.convicted),
			wronged: of(self.wronged),
			at: self.at.max(now),
		}
	}

	/// Returns the record with another deed, which counts as `weight`, at height `now`.
	pub fn with(self, deed: Deed, weight: Balance, now: BlockNumber) -> Self {
		let mut record = self.aged(now);
		let sum = match deed {
			Deed::Done => &mut record.done,
			Deed::Late => &mut record.late,
			Deed::Failed => &mut record.failed,
			Deed::Convicted => &mut record.convicted,
			Deed::Wronged => &mut record.wronged,
		};
		*sum = sum.saturating_add(weight).min(MOST);
		record
	}

	/// Returns the sum of all, be they to its credit or not.
	pub fn total(&self) -> Balance {
		let sums = [self.done, self.late, self.failed, self.convicted, self.wronged];
		sums.into_iter().fold(0, Balance::saturating_add)
	}

	/// Returns whether it is as good as none.
	pub fn is_spent(&self) -> bool {
		self.total() < SPENT
	}

	/// Returns by how much of its bond somebody with this record is drawn, in millionths: half of a stranger, up
	/// to all of who has done much, down to an eighth of who failed much. So nobody is drawn more than twice as
	/// often as a stranger for what it burned, and a bad record is worth leaving behind only where a new bond is
	/// cheaper than what it costs.
	pub fn standing(&self) -> u32 {
		let convicted = self.convicted.saturating_mul(CONVICTION_COUNTS);
		let against = self.late.saturating_add(self.failed).saturating_add(convicted);
		let all = UNKNOWN.saturating_add(self.done).saturating_add(against);
		let credit = UNKNOWN.saturating_add(self.done.saturating_mul(2));
		share(credit, all.saturating_mul(2)).max(LEAST_STANDING)
	}

	/// Returns a forecast, in millionths, of the chance that a result of this account is right: what it burned for
	/// results that were right, of all that were decided, with [`UNKNOWN`] at nine in ten beside it. It says what
	/// happened, and nothing of who has waited for one large fraud: that is what deposits are for.
	pub fn right(&self) -> u32 {
		let convicted = self.convicted.saturating_mul(CONVICTION_COUNTS);
		let wrong = self.failed.saturating_add(convicted);
		let prior = UNKNOWN.saturating_sub(UNKNOWN / 10);
		let all = UNKNOWN.saturating_add(self.done).saturating_add(wrong);
		share(prior.saturating_add(self.done), all)
	}
}

/// Returns `part / all` in millionths, rounded down; at most all of it.
fn share(part: Balance, all: Balance) -> u32 {
	let millionths = part.saturating_mul(WHOLE.into()).checked_div(all).unwrap_or(0);
	u32::try_from(millionths).unwrap_or(WHOLE).min(WHOLE)
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	const TRY: Balance = 1_000_000_000_000;

	fn record(deeds: &[(Deed, Balance)]) -> Record {
		let with =
			|record: Record, (deed, weight): &(Deed, Balance)| record.with(*deed, *weight, 0);
		deeds.iter().fold(Record::default(), with)
	}

	#[test]
	fn a_stranger_is_between_those_who_did_well_and_those_who_did_not() {
		let standing = |deeds: &[_]| record(deeds).standing();
		assert_eq!(standing(&[]), 500_000);
		assert_eq!(standing(&[(Deed::Done, 10 * TRY)]), 750_000);
		assert_eq!(standing(&[(Deed::Done, 90 * TRY)]), 950_000);
		assert_eq!(standing(&[(Deed::Late, 10 * TRY)]), 250_000);
		assert_eq!(standing(&[(Deed::Convicted, 10 * TRY)]), LEAST_STANDING);
		assert_eq!(standing(&[(Deed::Wronged, 10 * TRY)]), 500_000);
	}

	#[test]
	fn a_conviction_weighs_more_than_a_failure_and_lateness_says_nothing_of_what_is_right() {
		let right = |deeds: &[_]| record(deeds).right();
		assert_eq!(right(&[]), 900_000);
		assert_eq!(right(&[(Deed::Late, 10 * TRY)]), 900_000);
		assert_eq!(right(&[(Deed::Done, 90 * TRY)]), 990_000);
		assert_eq!(right(&[(Deed::Failed, 10 * TRY)]), 450_000);
		assert_eq!(right(&[(Deed::Convicted, 10 * TRY)]), 180_000);
	}

	#[test]
	fn all_of_it_halves_in_a_half_life() {
		let record = record(&[
			(Deed::Done, 8 * TRY),
			(Deed::Late, 4 * TRY),
			(Deed::Failed, 2 * TRY),
			(Deed::Convicted, TRY),
			(Deed::Wronged, 16 * TRY),
		]);
		let aged = record.aged(HALF_LIFE);
		assert_eq!((aged.done, aged.late, aged.failed), (4 * TRY, 2 * TRY, TRY));
		assert_eq!((aged.convicted, aged.wronged, aged.at), (TRY / 2, 8 * TRY, HALF_LIFE));
		assert!(!aged.is_spent() && record.aged(15 * HALF_LIFE).is_spent());
		assert_eq!(aged.aged(0), aged, "nothing becomes younger");
	}

	proptest! {
		/// Whoever looks often gains nothing by that.
		#[test]
		fn it_does_not_matter_how_often_a_record_is_touched(
			weight in TRY..1_000_000 * TRY,
			steps in proptest::collection::vec(1u32..50_000, 1..40),
		) {
			let first = Record::default().with(Deed::Done, weight, 0);
			let mut touched = first;
			let mut now = 0;
			for step in &steps {
				now += step;
				touched = touched.with(Deed::Done, 0, now);
			}
			let once = first.aged(now).done;
			prop_assert!(touched.done.abs_diff(once) <= steps.len() as Balance);
		}

		#[test]
		fn shares_stay_in_their_range(
			done in any::<Balance>(), late in any::<Balance>(), failed in any::<Balance>(),
			convicted in any::<Balance>(),
		) {
			let record = record(&[
				(Deed::Done, done), (Deed::Late, late), (Deed::Failed, failed), (Deed::Convicted, convicted),
			]);
			prop_assert!((LEAST_STANDING..=WHOLE).contains(&record.standing()));
			prop_assert!(record.right() <= WHOLE);
		}

		#[test]
		fn nobody_gains_by_what_counts_against_it(
			done in 0..1_000_000 * TRY, more in TRY / 1_000..1_000_000 * TRY,
		) {
			let before = record(&[(Deed::Done, done)]);
			for deed in [Deed::Late, Deed::Failed, Deed::Convicted] {
				let after = before.with(deed, more, 0);
				prop_assert!(after.standing() <= before.standing() && after.right() <= before.right());
			}
			let after = before.with(Deed::Done, more, 0);
			prop_assert!(after.standing() >= before.standing() && after.right() >= before.right());
		}
	}
}
