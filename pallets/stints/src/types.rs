//! Stints, reports and seats.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{traits::ConstU32, BoundedVec};
use scale_info::TypeInfo;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	stint::{ReportId, SAMPLES},
	MicroUt, H256,
};

/// Verifiers that compute samples first.
pub const CHECKERS: u32 = 3;
/// Other verifiers that decide where the first do not confirm a report.
pub const DOUBTERS: u32 = 15;
/// Blocks after which verifiers who were busy are drawn again.
pub const CHECK_PAUSE: BlockNumber = 30;
/// Blocks in which verifiers of a committee are drawn again and again. Then the report is void. With
/// both committees that is less than trainers take to unbond.
pub const MAX_CHECK_WAIT: BlockNumber = 3_600;
/// Blocks to open what was drawn at most, eight hours, however long a period is: a check is over before
/// trainers have unbonded.
pub const MAX_OPEN: BlockNumber = 4_800;
/// Blocks after which a pool that had too few verifiers is taken to have enough again. Until then every
/// report is checked, so that nothing is credited where nobody can check.
pub const SCARCITY: BlockNumber = 600;

/// Seats of both committees.
pub type Committee<AccountId> = BoundedVec<Seat<AccountId>, ConstU32<{ CHECKERS + DOUBTERS }>>;

/// The stint of a driller.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Stint {
	/// How many stints it began before.
	pub number: u32,
	/// When it began.
	pub begun: BlockNumber,
	/// Its seed.
	pub seed: H256,
	/// First block in which it can be reported.
	pub from: BlockNumber,
	/// Last block in which it can be reported.
	pub until: BlockNumber,
	/// The report before, until that is settled.
	pub report: Option<ReportId>,
	/// What is held of the driller's money.
	pub deposit: Balance,
}

/// A report that is not settled.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Report<AccountId> {
	/// Who reported.
	pub driller: AccountId,
	/// Which of its stints.
	pub number: u32,
	/// The stint's seed.
	pub seed: H256,
	/// Root over the results of the laps.
	pub root: H256,
	/// How many laps.
	pub laps: u32,
	/// Their work.
	pub work: MicroUt,
	/// Chance of a check, in parts of 2^32.
	pub chance: u64,
	/// Where it stands.
	pub phase: Phase,
	/// The laps that are computed again, once they are drawn.
	pub samples: BoundedVec<u32, ConstU32<SAMPLES>>,
	/// Digest of what the driller opened.
	pub opened: Option<H256>,
	/// Whether the first committee did not confirm it: its seats are free, and others decide.
	pub doubted: bool,
	/// The verifiers, of the first committee and then of the second.
	pub committee: Committee<AccountId>,
}

/// Where a report stands.
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
)]
pub enum Phase {
	/// It waits for a seed.
	Drawing {
		/// Height whose successors make the seed.
		after: BlockNumber,
		/// Since when it waits for verifiers, where it is to be checked and they were busy or too
		/// few.
		waits: Option<BlockNumber>,
	},
	/// Verifiers compute the samples and commit.
	Checking {
		/// Last block for that.
		until: BlockNumber,
	},
	/// The driller opens the samples, and the verifiers reveal.
	Opening {
		/// Last block for that.
		until: BlockNumber,
		/// Last block in which verifiers are waited for, once the driller has opened.
		reveals: BlockNumber,
	},
}

/// A verifier's part in a check.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Seat<AccountId> {
	/// Who.
	pub who: AccountId,
	/// Its commitment.
	pub commitment: Option<H256>,
	/// The digest that it revealed.
	pub digest: Option<H256>,
}

/// What can be on the agenda: the next deadline of a report.
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
)]
pub struct Task(pub ReportId);
