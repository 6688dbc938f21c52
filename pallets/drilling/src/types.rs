//! Projects, drillers, batches and assignments.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{
	traits::{ConstU32, PalletError},
	BoundedVec,
};
use scale_info::TypeInfo;
use trainyard_protocol::{
	drill::{AssignmentId, DrillError, Mismatch, ProjectId, UnitResult, MAX_UNIT_REPLICAS},
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
	/// Last block for votes.
	pub until: BlockNumber,
	/// Where it stands.
	pub stage: Stage,
	/// What is held of the proposer's money for it.
	pub deposit: Balance,
	/// Bonds that voted for it.
	pub ayes: Balance,
	/// Bonds that voted against it.
	pub nays: Balance,
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
		self.stage == Stage::Active && (self.failed > 0 || self.begun < self.units)
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
	/// All its units are computed or given up.
	Done {
		/// When.
		at: BlockNumber,
	},
}

impl Stage {
	/// Returns the height at which the project ended, if it has.
	pub fn ended(&self) -> Option<BlockNumber> {
		match self {
			Stage::Review | Stage::Active => None,
			Stage::Rejected { at } | Stage::Withdrawn { at } | Stage::Done { at } => Some(*at),
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
	/// Its result, once the members agreed.
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
}

impl<AccountId> Seat<AccountId> {
	/// Returns the seat of `who`, who has done nothing yet.
	pub fn of(who: AccountId) -> Self {
		Self { who, commitment: None, result: None }
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

/// Returns whether each of these seats has committed.
pub fn all_committed<AccountId>(seats: &[Seat<AccountId>]) -> bool {
	seats.iter().all(|seat| seat.commitment.is_some())
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
	/// The end of a project's review.
	Review(ProjectId),
	/// The next deadline of an assignment.
	Unit(AssignmentId),
	/// The removal of a project that ended.
	Clear(ProjectId),
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
}

/// Which rule a template breaks, inside this pallet's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct TemplateFault(pub DrillError);

impl PalletError for TemplateFault {
	// Its variant, and that of the `SpecError` in it.
	const MAX_ENCODED_SIZE: usize = 2;
}
