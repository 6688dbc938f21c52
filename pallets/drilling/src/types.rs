//! Projects, drillers, batches and assignments.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{
	traits::{ConstU32, PalletError},
	BoundedVec,
};
use scale_info::TypeInfo;
use trainyard_protocol::{
	drill::{
		AssignmentId, DrillError, Mismatch, ProjectId, Recall, TrialData, UnitResult,
		MAX_UNIT_REPLICAS,
	},
	job::{Balance, BlockNumber},
	seats::Resources,
	MicroUt, Text, H256,
};

/// Verifiers that recompute a unit. Odd, so that a majority is clear.
pub const CHECKERS: u32 = 3;

/// Blocks after which verifiers who were busy are drawn again.
pub const CHECK_PAUSE: BlockNumber = 30;

/// Blocks in which a unit's verifiers are drawn again and again where they are busy. Then it is
/// issued again. With all periods of a unit they are fewer than trainers take to unbond.
pub const MAX_CHECK_WAIT: BlockNumber = 7_200;

/// Findings in a row that the data of a project are not to be had, which suspend it, where no verifiers
/// ever had them.
pub const MISSING_AT_FIRST: u8 = 3;

/// The same where some had them before.
pub const MISSING_FINDINGS: u8 = 5;

/// Blocks for which a driller that has a unit counts among those who may be drawn for other projects that it
/// chose. Whoever takes longer keeps nobody waiting.
pub const BUSY_BLOCKS: BlockNumber = 100;

/// Reviews that pass from a vote that kept a project until the next one may be asked for.
pub const RECALL_PAUSE: BlockNumber = 10;

/// Most entries of the state that one step of a removal takes away.
pub const CLEAR_STEP: u32 = 64;

/// Seats of a group.
pub type Seats<AccountId> = BoundedVec<Seat<AccountId>, ConstU32<{ MAX_UNIT_REPLICAS as u32 }>>;

/// A project.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Project<AccountId> {
	/// Who proposed it.
	pub proposer: AccountId,
	/// What it is about.
	pub title: Text,
	/// Blobs with the files that units read. Nobody removes them while the project is open.
	pub data: TrialData,
	/// What happens where results differ.
	pub rule: Mismatch,
	/// Trainers that compute each unit.
	pub replicas: u8,
	/// How many units there are.
	pub units: u32,
	/// Blocks for computing a unit and committing to its result.
	pub commit_blocks: BlockNumber,
	/// Work of every unit.
	pub difficulty: MicroUt,
	/// Last block of its review; once it is active, of its time.
	pub until: BlockNumber,
	/// Where it stands.
	pub stage: Stage,
	/// What is held of the proposer's money for it.
	pub deposit: Balance,
	/// Bonds that voted for it in its review.
	pub ayes: Balance,
	/// Bonds that voted against it.
	pub nays: Balance,
	/// The vote that may end it, while there is one.
	pub recall: Option<Recall>,
	/// Votes so far: the review, and recalls.
	pub rounds: u32,
	/// No recall is asked for before this height.
	pub recall_from: BlockNumber,
	/// No unit of it is handed out any more, though it is open: it ends with the vote on it.
	pub stopped: bool,
	/// Whether verifiers have had its data.
	pub proven: bool,
	/// Whether a unit of it waits for verifiers because its drillers had no data.
	pub doubted: bool,
	/// Findings in a row that its data are not to be had.
	pub missing: u8,
	/// Units that were handed out at least once: those of lower index.
	pub begun: u32,
	/// Units that wait to be handed out again.
	pub failed: u32,
	/// Units that are planned, computed, judged or recomputed just now.
	pub running: u32,
	/// Units whose result was credited.
	pub agreed: u32,
	/// Units that were given up.
	pub abandoned: u32,
	/// What recomputing a unit takes of a verifier.
	pub needs: Resources,
}

impl<AccountId> Project<AccountId> {
	/// Returns whether it has units to hand out.
	pub fn has_units(&self) -> bool {
		self.is_given_out() && (self.failed > 0 || self.begun < self.units)
	}

	/// Returns whether its units are handed out.
	pub fn is_given_out(&self) -> bool {
		self.stage == Stage::Active && !self.stopped
	}

	/// Returns whether it is not certain that its data are to be had. Then one unit at a time is handed out,
	/// and recomputed whatever is drawn: nobody is credited on a guess, and few verifiers look in vain.
	pub fn is_doubtful(&self) -> bool {
		!self.data.is_empty() && (!self.proven || self.doubted || self.missing > 0)
	}

	/// Returns whether it is in review or active.
	pub fn is_open(&self) -> bool {
		matches!(self.stage, Stage::Review | Stage::Active)
	}

	/// Returns whether each of its units has come to an end.
	pub fn is_exhausted(&self) -> bool {
		self.begun >= self.units && self.failed == 0 && self.running == 0
	}
}

/// Where a project stands.
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
pub enum Stage {
	/// Trainers look at it and vote.
	Review,
	/// Its units are computed.
	Active,
	/// The vote went against it.
	Rejected {
		/// When.
		at: BlockNumber,
	},
	/// Its proposer took it back, or ended it.
	Withdrawn {
		/// When.
		at: BlockNumber,
	},
	/// All its units are computed or given up, or its time was over.
	Done {
		/// When.
		at: BlockNumber,
	},
	/// A vote ended it.
	Recalled {
		/// When.
		at: BlockNumber,
	},
	/// Verifiers found again and again that its data are not to be had.
	Suspended {
		/// When.
		at: BlockNumber,
	},
}

/// A vote on a project.
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
pub struct Ballot {
	/// In which of its votes: 0 is the review, others are recalls.
	pub round: u32,
	/// Whether for the project.
	pub aye: bool,
}

impl Stage {
	/// Returns the height at which the project ended, if it has.
	pub fn ended(&self) -> Option<BlockNumber> {
		match self {
			Stage::Review | Stage::Active => None,
			Stage::Rejected { at }
			| Stage::Withdrawn { at }
			| Stage::Done { at }
			| Stage::Recalled { at }
			| Stage::Suspended { at } => Some(*at),
		}
	}
}

/// Someone in the pool of drillers.
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
)]
pub struct Driller {
	/// The assignment that it works on. Without one it is in `Ready` or in the batch.
	pub assignment: Option<AssignmentId>,
	/// It leaves the pool as soon as it is neither in a batch nor has an assignment.
	pub retiring: bool,
	/// A larger bond displaced it: it is retiring and cannot change its mind, and it has no claim
	/// to return.
	pub displaced: bool,
	/// When it came into the pool, or returned.
	pub since: BlockNumber,
	/// When it was given a unit last, or came in.
	pub worked: BlockNumber,
}

/// A unit that a batch is to compute.
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
pub struct Slot {
	/// Of which project.
	pub project: ProjectId,
	/// Which unit.
	pub index: u32,
	/// How many times it was issued before.
	pub attempt: u8,
	/// How many drillers it takes.
	pub replicas: u8,
	/// How many of the pool chose its project. More than half of them must be there to be drawn.
	pub choosers: u32,
}

/// A unit in the hands of a group of drillers.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Assignment<AccountId> {
	/// Of which project.
	pub project: ProjectId,
	/// Which unit.
	pub index: u32,
	/// How many times it was issued before.
	pub attempt: u8,
	/// Seed of the unit.
	pub seed: H256,
	/// Where it stands.
	pub phase: Phase,
	/// Who computes it.
	pub members: Seats<AccountId>,
	/// Its result, once the members agreed. Without one it is recomputed where most of them said that
	/// its data are not to be had.
	pub agreed: Option<UnitResult>,
	/// Who recomputes it, if it was drawn.
	pub verifiers: BoundedVec<Seat<AccountId>, ConstU32<CHECKERS>>,
}

/// Someone's part in an assignment.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Seat<AccountId> {
	/// Who.
	pub who: AccountId,
	/// Its commitment.
	pub commitment: Option<H256>,
	/// What it revealed.
	pub result: Option<UnitResult>,
	/// Whether it said that the unit's data are not to be had. Then it commits to nothing.
	pub declined: bool,
}

impl<AccountId> Seat<AccountId> {
	/// Returns the seat of `who`, who has done nothing yet.
	pub fn of(who: AccountId) -> Self {
		Self { who, commitment: None, result: None, declined: false }
	}
}

/// Where an assignment stands.
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
	/// The members compute and commit.
	Committing {
		/// Last block for commitments.
		until: BlockNumber,
	},
	/// The members reveal.
	Revealing {
		/// Last block for reveals.
		until: BlockNumber,
	},
	/// The members agreed; whether the unit is recomputed is drawn from a seed.
	Settling {
		/// Height whose successors make the seed.
		after: BlockNumber,
		/// Since when the unit waits for verifiers: it is to be recomputed, and they were busy
		/// when they were drawn.
		busy: Option<BlockNumber>,
	},
	/// Verifiers recompute and commit.
	CheckCommitting {
		/// Last block for commitments.
		until: BlockNumber,
	},
	/// The verifiers reveal.
	CheckRevealing {
		/// Last block for reveals.
		until: BlockNumber,
	},
}

impl Phase {
	/// Returns whether the members of the group are still to act.
	pub fn is_computing(&self) -> bool {
		matches!(self, Phase::Committing { .. } | Phase::Revealing { .. })
	}
}

/// Returns whether each of these seats has committed, or said that there are no data.
pub fn all_committed<AccountId>(seats: &[Seat<AccountId>]) -> bool {
	seats.iter().all(|seat| seat.commitment.is_some() || seat.declined)
}

/// Returns whether each of these seats that committed has revealed.
pub fn all_revealed<AccountId>(seats: &[Seat<AccountId>]) -> bool {
	seats.iter().all(|seat| seat.commitment.is_none() || seat.result.is_some())
}

/// A result that a project keeps.
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
pub struct Outcome {
	/// The unit's result.
	pub result: UnitResult,
	/// How many drillers agreed on it.
	pub agreeing: u8,
}

/// What can be on the agenda.
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
pub enum Task {
	/// The end of a project's review, of a vote that may end it, or of its time.
	Review(ProjectId),
	/// The next deadline of an assignment.
	Unit(AssignmentId),
}

/// Why a driller lost power.
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
pub enum Fault {
	/// It did not commit in time.
	NotCommitted,
	/// It did not reveal in time.
	NotRevealed,
	/// Its result differs from that of others.
	Contrary,
	/// It said that the data are not to be had, and verifiers had them.
	Declined,
}

/// Why a unit ended without a result.
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
pub enum Failure {
	/// Too few drillers brought a result.
	TooFew,
	/// The results differ.
	Disagreed,
	/// The recomputation came to a different result.
	Refuted,
	/// The recomputation came to no result.
	Unchecked,
	/// Most verifiers said that its data are not to be had.
	Missing,
	/// Most drillers said that its data are not to be had, and the verifiers had them.
	Declined,
}

/// Which rule a template breaks, inside this pallet's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct TemplateFault(pub DrillError);

impl PalletError for TemplateFault {
	// Its variant, and that of the `SpecError` in it.
	const MAX_ENCODED_SIZE: usize = 2;
}
