//! Bets on results: stakes of two sides on a statement, at odds that the maker of an offer names.
//!
//! Offers stand in a book and are taken one by one; there is no market maker whose losses somebody must fund, and no
//! price that a trade with oneself moves ([decision 0040](../../../docs/decisions/0040-bets.md)). What a statement is
//! about decides it: the end of a job, or a panel that both sides chose.

use crate::{
	job::{Balance, BlockNumber, Fate},
	JobId, H256,
};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::text::decimal;

/// Number of an offer: 0, 1, 2, … in order.
pub type OfferId = u64;
/// Number of a bet: 0, 1, 2, … in order.
pub type BetId = u64;
/// Number of a task: 0, 1, 2, … in order of posting.
pub type TaskId = u32;

/// Most parts of one side's stake in odds: a million to one.
pub const MAX_ODDS: u32 = 1_000_000;
/// Most members of a panel.
pub const MAX_PANEL: u32 = 9;
/// All of a probability, in millionths.
pub const WHOLE: u32 = 1_000_000;
/// What of a lost deposit is burned, as a divisor: nobody who has a result of its own convicted has more than the rest
/// back, whoever finds it and whoever the submitter is ([`LostShares`](crate::fees::LostShares)).
pub const BURNED: Balance = 2;

/// A side of a bet.
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
pub enum Side {
	/// The statement is right.
	Right,
	/// The statement is wrong.
	Wrong,
}

impl Side {
	/// Returns the other side.
	pub fn other(self) -> Self {
		match self {
			Side::Right => Side::Wrong,
			Side::Wrong => Side::Right,
		}
	}
}

/// What is bet on.
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
pub enum Statement {
	/// The result with this bundle root is right for a job.
	Result {
		/// The job.
		job: JobId,
		/// The bundle root.
		root: H256,
		/// Whether the week of late proof belongs to it: then it is decided when that is over.
		late: bool,
	},
	/// What no arithmetic decides: words with this hash, which a panel judges.
	Words {
		/// blake2b-256 of them.
		hash: H256,
	},
	/// The claim with this root is right for a task.
	Task {
		/// The task.
		task: TaskId,
		/// The root of its trace, or of its records.
		root: H256,
	},
}

impl Statement {
	/// Returns the job that it is about.
	pub fn job(&self) -> Option<JobId> {
		match self {
			Statement::Result { job, .. } => Some(*job),
			Statement::Words { .. } | Statement::Task { .. } => None,
		}
	}

	/// Returns whether arithmetic decides it.
	pub fn is_of_a_result(&self) -> bool {
		!matches!(self, Statement::Words { .. })
	}
}

/// Odds: so many parts of the maker's stake to so many of the taker's.
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
#[serde(deny_unknown_fields)]
pub struct Odds {
	/// Parts of the maker, 1 to [`MAX_ODDS`].
	pub maker: u32,
	/// Parts of the taker, 1 to [`MAX_ODDS`].
	pub taker: u32,
}

impl Odds {
	/// Returns whether both parts are in range.
	pub fn is_valid(&self) -> bool {
		let range = 1..=MAX_ODDS;
		range.contains(&self.maker) && range.contains(&self.taker)
	}

	/// Returns the maker's stake against `taker` of the taker's, rounded down; `None` out of the range of amounts.
	pub fn makers(&self, taker: Balance) -> Option<Balance> {
		taker.checked_mul(self.maker.into())?.checked_div(self.taker.into())
	}

	/// Returns the most of the taker's against which the maker stakes no more than `maker`, rounded down; `None` out
	/// of the range of amounts.
	pub fn takers(&self, maker: Balance) -> Option<Balance> {
		maker.checked_mul(self.taker.into())?.checked_div(self.maker.into())
	}

	/// Returns the least probability in millionths, rounded down, of the maker's side at which the maker loses
	/// nothing on average.
	pub fn probability(&self) -> u32 {
		let whole = u64::from(self.maker).saturating_add(self.taker.into());
		let part = u64::from(self.maker).saturating_mul(WHOLE.into());
		part.checked_div(whole).and_then(|part| u32::try_from(part).ok()).unwrap_or(0)
	}
}

/// Who decides what arithmetic cannot: accounts that the maker names, and the taker accepts by taking.
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
#[serde(deny_unknown_fields)]
pub struct Panel<AccountId> {
	/// Its members, each once.
	pub members: BoundedVec<AccountId, ConstU32<MAX_PANEL>>,
	/// How many must say the same: more than half.
	pub threshold: u32,
	/// Blocks for it: after it is known that the job decides nothing; of words after the last block of the offer.
	pub blocks: BlockNumber,
}

impl<AccountId: PartialEq> Panel<AccountId> {
	/// Returns whether there are members, each once, and more than half of them decide.
	pub fn is_valid(&self) -> bool {
		let count = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
		let twice = self
			.members
			.iter()
			.enumerate()
			.any(|(at, who)| self.members.iter().take(at).any(|other| other == who));
		let decides = self.threshold <= count && self.threshold.saturating_mul(2) > count;
		!twice && decides && self.blocks > 0
	}
}

/// What somebody offers.
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
#[serde(deny_unknown_fields)]
pub struct Offered<AccountId> {
	/// The maker's side. `None` solicits: the taker names its own, and the maker is on the other.
	pub side: Option<Side>,
	/// At these odds.
	pub odds: Odds,
	/// The most that the maker stakes in all bets of the offer.
	#[serde(with = "decimal")]
	pub stake: Balance,
	/// The last block in which it can be taken.
	pub until: BlockNumber,
	/// Blocks for which it can still be taken after the maker withdrew it.
	pub notice: BlockNumber,
	/// Who alone may take it.
	pub only: Option<AccountId>,
	/// Who decides what the job does not.
	pub panel: Option<Panel<AccountId>>,
}

/// What a panel says: a side, or that it cannot be decided.
pub type Judgement = Option<Side>;

/// An offer on record.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo, Serialize, Deserialize,
)]
pub struct Offer<AccountId> {
	/// Whose it is.
	pub maker: AccountId,
	/// On what.
	pub statement: Statement,
	/// What is offered.
	pub offered: Offered<AccountId>,
	/// What nobody took of the stake.
	#[serde(with = "decimal")]
	pub left: Balance,
	/// Deposit for the record.
	#[serde(with = "decimal")]
	pub record: Balance,
	/// Height at which it was made.
	pub since: BlockNumber,
	/// The height from which on it cannot be taken, where the maker withdrew it.
	pub closing: Option<BlockNumber>,
	/// Whether the rest of the stake went back.
	pub closed: bool,
	/// Bets of it that run.
	pub bets: u32,
	/// The last block for the panel, once that is known.
	pub panel_until: Option<BlockNumber>,
	/// Height of the panel's first vote.
	pub voted: Option<BlockNumber>,
	/// What the members of the panel say, in their order.
	pub votes: BoundedVec<Option<Judgement>, ConstU32<MAX_PANEL>>,
	/// What the panel decided.
	pub verdict: Option<Judgement>,
}

impl<AccountId> Offer<AccountId> {
	/// Returns the height from which on it cannot be taken.
	pub fn closes_at(&self) -> BlockNumber {
		let expiry = self.offered.until.saturating_add(1);
		self.closing.map_or(expiry, |closing| closing.min(expiry))
	}

	/// Returns whether it can be taken at height `now`, for all that it says itself.
	pub fn is_open(&self, now: BlockNumber) -> bool {
		!self.closed && self.voted.is_none() && now < self.closes_at()
	}
}

/// A bet that runs.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo, Serialize, Deserialize,
)]
pub struct Bet<AccountId> {
	/// Of which offer.
	pub offer: OfferId,
	/// Who offered it.
	pub maker: AccountId,
	/// Who took it.
	pub taker: AccountId,
	/// The taker's side.
	pub side: Side,
	/// The maker's stake.
	#[serde(with = "decimal")]
	pub makers: Balance,
	/// The taker's stake.
	#[serde(with = "decimal")]
	pub takers: Balance,
	/// Deposit of the taker for the record.
	#[serde(with = "decimal")]
	pub record: Balance,
	/// Height at which it was taken.
	pub since: BlockNumber,
	/// Whether whoever bets on *right* delivered the result itself.
	pub own: bool,
	/// What the maker would take of both stakes to end it now.
	pub maker_says: Option<Balance>,
	/// What the taker would leave to the maker to end it now.
	pub taker_says: Option<Balance>,
}

impl<AccountId> Bet<AccountId> {
	/// Returns the stake on a side.
	pub fn stake(&self, side: Side) -> Balance {
		if side == self.side {
			self.takers
		} else {
			self.makers
		}
	}

	/// Returns who is on a side.
	pub fn who(&self, side: Side) -> &AccountId {
		if side == self.side {
			&self.taker
		} else {
			&self.maker
		}
	}

	/// Returns both stakes together.
	pub fn both(&self) -> Balance {
		self.makers.saturating_add(self.takers)
	}
}

/// What became of a statement.
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
pub enum Outcome {
	/// It is right.
	Right,
	/// It is wrong.
	Wrong,
	/// Whoever delivered the result did not stand by it: it was silent before the court, or withheld what it owed.
	/// That proves nothing, and nobody may save a stake by it or earn by bringing it about.
	Forfeited,
	/// Nobody knows.
	Unknown,
}

impl From<Judgement> for Outcome {
	fn from(judgement: Judgement) -> Self {
		match judgement {
			Some(Side::Right) => Outcome::Right,
			Some(Side::Wrong) => Outcome::Wrong,
			None => Outcome::Unknown,
		}
	}
}

/// How a bet ended.
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
pub enum BetEnding {
	/// By what was decided.
	Decided(Outcome),
	/// It was taken when others may have seen already what decided it against its maker: both stakes returned.
	Late,
	/// Both sides agreed.
	Agreed,
}

/// A replica of a job that ended, as far as it decides a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
	/// Whether the statement names the root of its bundle.
	pub own: bool,
	/// Which of the job's distinct results it delivered.
	pub group: Option<u32>,
	/// What became of it.
	pub fate: Fate,
	/// Whether the court convicted it by computing something else.
	pub proven: bool,
}

/// Returns what the `replicas` of a job that is over say of a statement about it. What was accepted and convicted
/// [late](Statement::Result) counts as accepted where that time does not belong to the statement.
///
/// At most one result of a job is right. So another one that was accepted shows that this is wrong, and an equal one
/// that it is right: an account can convict itself by what it says before the court of a result that is right. Where
/// none was accepted it is wrong if a trainer of it was convicted by proof.
pub fn outcome(replicas: &[Delivered], late: bool) -> Outcome {
	let is_true = |fate: Fate| fate.is_true() || (fate == Fate::Revoked && !late);
	let opened = |replica: &Delivered| {
		matches!(
			replica.fate,
			Fate::Accepted | Fate::Idle | Fate::Diverged | Fate::Rejected | Fate::Revoked
		)
	};
	let own = || replicas.iter().filter(|replica| replica.own);
	let accepted = || replicas.iter().filter(|replica| is_true(replica.fate));
	let is_mate = |replica: &Delivered| {
		replica.group.is_some() && own().any(|own| own.group == replica.group)
	};
	if own().next().is_none() {
		return Outcome::Unknown;
	}
	if own().any(|replica| is_true(replica.fate)) {
		return Outcome::Right;
	}
	if accepted().any(|replica| !is_mate(replica)) {
		return Outcome::Wrong;
	}
	if accepted().next().is_some() && own().any(opened) {
		return Outcome::Right;
	}
	let decides_nothing =
		|fate| matches!(fate, Fate::Working | Fate::Undecided | Fate::Agreed | Fate::NotCommitted);
	if own().any(|replica| decides_nothing(replica.fate)) {
		return Outcome::Unknown;
	}
	if own().any(|replica| replica.proven && opened(replica)) {
		return Outcome::Wrong;
	}
	Outcome::Forfeited
}

/// The best standing offer on a side.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct Quoted {
	/// The offer.
	pub offer: OfferId,
	/// Probability that the statement is right, in millionths, at which its maker loses nothing on average.
	pub right: u32,
	/// The maker's stake that can be taken.
	#[serde(with = "decimal")]
	pub left: Balance,
	/// Height since which it stands.
	pub since: BlockNumber,
	/// Blocks for which it can be taken after it is withdrawn.
	pub notice: BlockNumber,
	/// Whether its maker delivered the result itself.
	pub own: bool,
}

/// What is bet on a statement, and what stands in its book.
#[derive(
	Clone, Debug, Default, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize,
)]
pub struct OddsView {
	/// Stakes on *right* in bets that run.
	#[serde(with = "decimal")]
	pub right: Balance,
	/// Stakes on *wrong* in bets that run.
	#[serde(with = "decimal")]
	pub wrong: Balance,
	/// What can be taken of offers on *right*, and the one of them that says the highest probability.
	#[serde(with = "decimal")]
	pub offered_right: Balance,
	/// The same on *wrong*.
	#[serde(with = "decimal")]
	pub offered_wrong: Balance,
	/// The offer on *right* that says the highest probability of it.
	pub bid: Option<Quoted>,
	/// The offer on *wrong* that says the lowest probability of *right*.
	pub ask: Option<Quoted>,
	/// Whether more offers stand than were looked at.
	pub more: bool,
}

/// What a holder of a claim does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holding {
	/// It checks: what it would lose on average is more than checking costs.
	Check,
	/// It does not, and takes the claim for as much less.
	Discount(#[serde(with = "decimal")] Balance),
}

/// Returns what a holder does that loses `loss` where a claim is wrong, pays `cost` for checking it, and believes it
/// with the probability `right` in millionths: it checks if `(1 - p) x loss` exceeds the cost.
pub fn holding(loss: Balance, cost: Balance, right: u32) -> Holding {
	let wrong = Balance::from(WHOLE.saturating_sub(right));
	let whole = Balance::from(WHOLE);
	// In two parts, which do not leave the range of amounts; rounded up.
	let (millionths, rest) = (loss / whole, loss % whole);
	let part = millionths.saturating_mul(wrong);
	let expected = part.saturating_add(rest.saturating_mul(wrong).div_ceil(whole));
	if expected > cost {
		Holding::Check
	} else {
		Holding::Discount(expected)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	fn odds(maker: u32, taker: u32) -> Odds {
		Odds { maker, taker }
	}

	#[test]
	fn stakes_follow_from_odds() {
		assert_eq!(odds(100, 1).makers(3), Some(300));
		assert_eq!(odds(1, 3).makers(10), Some(3), "rounded down");
		assert_eq!(odds(1, 3).takers(3), Some(9));
		assert_eq!(odds(100, 1).takers(250), Some(2));
		assert_eq!(odds(2, 1).makers(Balance::MAX), None);
		assert_eq!(odds(100, 1).probability(), 990_099);
		assert_eq!(odds(1, 1).probability(), 500_000);
		for (maker, taker) in [(0, 1), (1, 0), (MAX_ODDS + 1, 1), (1, MAX_ODDS + 1)] {
			assert!(!odds(maker, taker).is_valid());
		}
		assert!(odds(MAX_ODDS, 1).is_valid() && odds(1, MAX_ODDS).is_valid());
	}

	#[test]
	fn a_panel_is_a_majority_of_distinct_members() {
		let panel = |members: &[u8], threshold, blocks| Panel {
			members: members.to_vec().try_into().unwrap(),
			threshold,
			blocks,
		};
		assert!(panel(&[1], 1, 1).is_valid() && panel(&[1, 2, 3], 2, 9).is_valid());
		for bad in [
			panel(&[], 0, 1),
			panel(&[1, 2], 1, 1),
			panel(&[1, 2, 3], 4, 1),
			panel(&[1, 2, 1], 2, 1),
			panel(&[1], 1, 0),
		] {
			assert!(!bad.is_valid());
		}
	}

	fn own(fate: Fate, proven: bool) -> Delivered {
		Delivered { own: true, group: Some(0), fate, proven }
	}

	fn other(group: u32, fate: Fate) -> Delivered {
		Delivered { own: false, group: Some(group), fate, proven: false }
	}

	#[test]
	fn one_result_of_a_job_is_right() {
		for fate in [Fate::Accepted, Fate::Idle, Fate::Diverged] {
			assert_eq!(outcome(&[own(fate, false)], true), Outcome::Right);
			assert_eq!(outcome(&[own(fate, false)], false), Outcome::Right);
			assert_eq!(
				outcome(&[own(Fate::Rejected, false), other(1, fate)], true),
				Outcome::Wrong
			);
			assert_eq!(
				outcome(&[own(Fate::Undecided, false), other(1, fate)], true),
				Outcome::Wrong
			);
		}
		assert_eq!(
			outcome(&[other(0, Fate::Accepted)], true),
			Outcome::Unknown,
			"nobody delivered it"
		);
		assert_eq!(outcome(&[], true), Outcome::Unknown);
	}

	/// What the court proved is wrong; who was silent, or withheld, proved nothing and saves nothing.
	#[test]
	fn silence_is_no_proof() {
		assert_eq!(outcome(&[own(Fate::Rejected, true)], true), Outcome::Wrong);
		assert_eq!(outcome(&[own(Fate::Revoked, true)], true), Outcome::Wrong);
		for fate in [Fate::Rejected, Fate::Revoked] {
			assert_eq!(outcome(&[own(fate, false)], true), Outcome::Forfeited);
		}
		assert_eq!(outcome(&[own(Fate::Revoked, true)], false), Outcome::Right, "it was settled");
		for fate in [Fate::NotRevealed, Fate::ModelMissing, Fate::Unavailable] {
			assert_eq!(outcome(&[own(fate, false)], true), Outcome::Forfeited);
		}
		for fate in [Fate::Undecided, Fate::Agreed, Fate::Working] {
			assert_eq!(outcome(&[own(fate, false)], true), Outcome::Unknown);
		}
	}

	/// Whoever bets against its own result and lets itself be convicted of it wins nothing where an equal result was
	/// accepted; and who never opened what it forced has delivered nothing that is equal.
	#[test]
	fn an_equal_result_that_was_accepted_shows_that_it_is_right() {
		let accepted = other(0, Fate::Accepted);
		assert_eq!(outcome(&[own(Fate::Rejected, true), accepted], true), Outcome::Right);
		assert_eq!(outcome(&[own(Fate::NotRevealed, false), accepted], true), Outcome::Forfeited);
		let all = [own(Fate::Rejected, true), accepted, other(1, Fate::Accepted)];
		assert_eq!(outcome(&all, true), Outcome::Wrong, "which cannot be");
	}

	#[test]
	fn a_holder_checks_what_is_worth_it() {
		assert_eq!(holding(1_000, 9, 990_000), Holding::Check);
		assert_eq!(holding(1_000, 10, 990_000), Holding::Discount(10));
		assert_eq!(holding(1_001, 11, 990_000), Holding::Discount(11), "rounded up");
		assert_eq!(holding(1_000, 0, WHOLE), Holding::Discount(0));
		assert_eq!(holding(1_000, 999, 0), Holding::Check);
		assert_eq!(holding(1_000, 1_000, 0), Holding::Discount(1_000));
	}

	proptest! {
		/// Nobody can be made to stake more than it offered, whatever is taken.
		#[test]
		fn what_is_taken_never_exceeds_the_odds(
			maker in 1u32..=MAX_ODDS, taker in 1u32..=MAX_ODDS, amount in 0u128..1 << 100
		) {
			let odds = odds(maker, taker);
			let makers = odds.makers(amount).unwrap();
			prop_assert!(makers * u128::from(taker) <= amount * u128::from(maker));
			prop_assert!((makers + 1) * u128::from(taker) > amount * u128::from(maker));
			let most = odds.takers(makers).unwrap();
			prop_assert!(odds.makers(most).unwrap() <= makers);
			prop_assert!(odds.probability() < WHOLE);
		}

		/// A holder never pays more for checking than it would lose on average, nor discounts more than its cost.
		#[test]
		fn a_holder_never_overpays(loss in any::<u128>(), cost in any::<u128>(), right in 0..=WHOLE) {
			match holding(loss, cost, right) {
				Holding::Check => prop_assert!(cost < loss),
				Holding::Discount(amount) => prop_assert!(amount <= cost && amount <= loss),
			}
		}
	}
}
