//! What the pallet stores.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{traits::ConstU32, BoundedVec};
use scale_info::TypeInfo;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, Piece, PieceSizes, Pieces, MAX_PIECES},
	job::{
		Balance, BlockNumber, WorkResult, MAX_AUDIT_ROUNDS, MAX_REPLAYED_SEGMENTS, MAX_REPLICAS,
		MAX_VERIFIERS,
	},
	seats::Resources,
};

pub use trainyard_protocol::H256;

/// Most parties of a job: the submitter and its trainers.
pub const MAX_PARTIES: u32 = MAX_REPLICAS + 1;
/// Most fees that one audit can cost.
pub const MAX_FEES: u32 = MAX_VERIFIERS * MAX_AUDIT_ROUNDS;

/// Times in one audit that trainers can be asked to store something. The bound is for the records: no
/// minority of a committee can use it up in a round, see [`MAX_BEGUN`].
pub const MAX_WINDOWS: u32 = MAX_VERIFIERS + 1;
/// Times in a round that one seat can ask when nobody else does: what it lacks, and what it finds to
/// lack when it has that. Whenever others ask it can join them.
pub const MAX_BEGUN: u32 = 2;
/// Claims of a seat on one result in a round.
pub const MAX_CLAIMS: u32 = 3;
/// Claims of a seat.
pub const ALL_CLAIMS: u32 = MAX_CLAIMS * MAX_REPLICAS;

/// An [`Audit`] of a runtime's accounts.
pub type AuditOf<T> = Audit<<T as frame_system::Config>::AccountId>;

/// The audit of one job.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Audit<AccountId> {
	/// Round, from 0.
	pub round: u32,
	/// Where it stands.
	pub phase: AuditPhase,
	/// Segments of each result that a verifier replays; all segments where a result has fewer.
	pub audit_segments: u32,
	/// Size of the committee that is wanted.
	pub verifiers: u32,
	/// Accounts that may not be on the committee.
	pub parties: BoundedVec<AccountId, ConstU32<MAX_PARTIES>>,
	/// The distinct results.
	pub groups: BoundedVec<Group<AccountId>, ConstU32<MAX_REPLICAS>>,
	/// The committee of this round, in the order drawn.
	pub committee: BoundedVec<Member<AccountId>, ConstU32<MAX_VERIFIERS>>,
	/// What a seat earns.
	pub fee: Balance,
	/// What a seat locks of its verifier's bond.
	pub stake: Balance,
	/// What a seat needs of its verifier.
	pub needs: Resources,
	/// How often no committee could be drawn for this round.
	pub waits: u32,
	/// Most bytes of each piece of a result.
	pub sizes: PieceSizes,
	/// Price of storing a byte on chain.
	pub storage_byte: Balance,
	/// While seats lack what they asked for: the last block in which others can give it to them.
	pub relay: Option<BlockNumber>,
	/// The height beyond which no claim moves the end of the time for commitments.
	pub latest: BlockNumber,
	/// How often trainers were asked to store something.
	pub windows: u32,
	/// A fee was earned for each entry.
	pub served: BoundedVec<AccountId, ConstU32<MAX_FEES>>,
}

/// One distinct result under audit.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Group<AccountId> {
	/// The roots, and how many segments were trained.
	pub result: WorkResult,
	/// Who delivered it.
	pub trainers: BoundedVec<AccountId, ConstU32<MAX_REPLICAS>>,
	/// Which of its segments are replayed, ascending, with the one in which it diverged; empty before
	/// the draw.
	pub drawn: BoundedVec<u32, ConstU32<MAX_REPLAYED_SEGMENTS>>,
	/// What was decided.
	pub decision: Option<Decision>,
	/// What seats asked for.
	pub asked: BoundedVec<Asked, ConstU32<MAX_PIECES>>,
	/// Who of its trainers stored something.
	pub storers: BoundedVec<Storer<AccountId>, ConstU32<MAX_REPLICAS>>,
}

/// A piece of a result that seats asked for.
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
pub struct Asked {
	/// Which.
	pub piece: Piece,
	/// Whether a trainer stored it.
	pub stored: bool,
}

/// A trainer that stored what seats asked for.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Storer<AccountId> {
	/// Who.
	pub trainer: AccountId,
	/// Bytes that it stored in the last window; 0 where it stored nothing.
	pub size: u64,
	/// Those of them that it is paid for: of the chunks that it brought after it had announced them.
	pub paid: u64,
	/// What the owner of the audit owes it for all windows.
	pub owed: Balance,
}

/// What a seat asked for of one result.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Claim {
	/// Of which result.
	pub group: u32,
	/// What.
	pub pieces: Pieces,
	/// What the seat has on hold for it; 0 where nothing was stored for it before, and the audit's
	/// escrow pays.
	pub prepaid: Balance,
	/// Whether it still lacks them.
	pub open: bool,
	/// Whether trainers stored them. Only who asked for what was stored can say that it is of no use.
	pub answered: bool,
}

/// One member of a committee.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Member<AccountId> {
	/// Who.
	pub verifier: AccountId,
	/// Its commitment.
	pub commitment: Option<H256>,
	/// Whether its findings are in `Verdicts`.
	pub revealed: bool,
	/// How often it asked in this round when nobody else did, see [`MAX_BEGUN`].
	pub began: u32,
}

/// What a verifier lost a part of its bond for.
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
	/// It revealed nothing.
	NoVerdict,
	/// It contradicted what the committee decided.
	Contrary,
}

impl<AccountId: PartialEq> Audit<AccountId> {
	/// Returns the seat of `who`.
	pub fn member_mut(&mut self, who: &AccountId) -> Option<&mut Member<AccountId>> {
		self.committee.iter_mut().find(|member| member.verifier == *who)
	}

	/// Returns whether there is a committee and all of it has committed.
	pub fn all_committed(&self) -> bool {
		!self.committee.is_empty() && self.committee.iter().all(|m| m.commitment.is_some())
	}

	/// Returns whether everyone who committed has revealed.
	pub fn all_revealed(&self) -> bool {
		self.committee.iter().all(|m| m.revealed || m.commitment.is_none())
	}

	/// Returns whether a trainer of some undecided result can still store what is asked for.
	pub fn awaits_rescue(&self) -> bool {
		self.groups.iter().filter(|group| group.is_asked()).any(|group| {
			let stored = group.storers.iter().filter(|storer| storer.size > 0).count();
			stored < group.trainers.len()
		})
	}

	/// Returns whether the seats of its committee are taken.
	pub fn works(&self) -> bool {
		match self.phase {
			AuditPhase::Committing { .. }
			| AuditPhase::Revealing { .. }
			| AuditPhase::Rescue { .. } => true,
			AuditPhase::Drawing { .. } | AuditPhase::Done => false,
		}
	}

	/// Returns whether every result has its decision.
	pub fn is_decided(&self) -> bool {
		self.groups.iter().all(|g| g.decision.is_some())
	}
}

impl<AccountId> Group<AccountId> {
	/// Returns whether seats lack something of it that is not on chain.
	pub fn is_asked(&self) -> bool {
		self.decision.is_none() && self.asked.iter().any(|asked| !asked.stored)
	}
}
