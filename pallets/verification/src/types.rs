//! What the pallet stores.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use frame_support::{traits::ConstU32, BoundedVec};
use scale_info::TypeInfo;
use trainyard_protocol::{
	audit::{AuditPhase, Decision},
	job::{
		Balance, WorkResult, MAX_AUDIT_ROUNDS, MAX_REPLAYED_SEGMENTS, MAX_REPLICAS, MAX_VERIFIERS,
	},
	seats::Resources,
};

pub use trainyard_protocol::H256;

/// Most parties of a job: the submitter and its trainers.
pub const MAX_PARTIES: u32 = MAX_REPLICAS + 1;
/// Most fees that one audit can cost.
pub const MAX_FEES: u32 = MAX_VERIFIERS * MAX_AUDIT_ROUNDS;

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
	/// Whether its states had to be, and were, stored on chain.
	pub rescue: Rescue,
}

/// A result's one chance to be fetched after all.
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
pub enum Rescue {
	/// Verifiers could fetch it so far.
	NotNeeded,
	/// Verifiers could not fetch it; its trainers were asked for the drawn states.
	Asked,
	/// The drawn states are in this blob.
	Stored(H256),
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

	/// Returns whether the trainers of some undecided result are asked for its states.
	pub fn awaits_rescue(&self) -> bool {
		self.groups.iter().any(|g| g.decision.is_none() && g.rescue == Rescue::Asked)
	}

	/// Returns whether every result has its decision.
	pub fn is_decided(&self) -> bool {
		self.groups.iter().all(|g| g.decision.is_some())
	}
}
