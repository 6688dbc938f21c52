//! What clients ask a chain about tasks.

use crate::{claim::Claim, descent::Descent, spec::TaskSpec, TaskId, TaskTerms, H256};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_protocol::job::{Balance, BlockNumber};

/// Where a task stands.
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
	/// Whoever wants to compute it applies.
	Open {
		/// The last block for that.
		until: BlockNumber,
	},
	/// The replicas are drawn from the applicants.
	Drawing {
		/// The seed is of the blocks after this one.
		after: BlockNumber,
	},
	/// The replicas compute, and commit to their claims.
	Computing {
		/// The last block for that.
		until: BlockNumber,
	},
	/// It is drawn whether the task is audited, and by whom.
	Sampling {
		/// The seed is of the blocks after this one.
		after: BlockNumber,
		/// How often nobody could be drawn, or who was drawn did not commit.
		tries: u8,
	},
	/// A verifier computes the task again, and commits to its claim.
	Auditing {
		/// The last block for that.
		until: BlockNumber,
		/// As in [`Phase::Sampling`].
		tries: u8,
	},
	/// Claims are shown, and outputs stored.
	Revealing {
		/// When that began.
		since: BlockNumber,
		/// How many blocks had no room for a chunk then.
		full: BlockNumber,
		/// The last block for that, unless blocks are full.
		until: BlockNumber,
	},
	/// Anybody challenges, and claims that differ are in dispute.
	Challenging {
		/// The last block in which a challenge can begin, unless a dispute runs.
		until: BlockNumber,
	},
	/// It is over.
	Ended(TaskEnd),
}

/// How a task ended.
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
pub enum TaskEnd {
	/// The claim of this number stands.
	Accepted(u8),
	/// Its submitter took it back.
	Cancelled,
	/// Fewer applied than were asked for.
	Untaken,
	/// It was to be audited, and no verifier did it: everything went back.
	Unaudited,
	/// No replica delivered.
	Undelivered,
	/// No claim of a replica stood.
	Refuted,
	/// Claims that differ were left, and nobody showed which is false.
	Unresolved,
}

/// One that computes a task.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo)]
pub struct ReplicaView<AccountId> {
	/// Who.
	pub who: AccountId,
	/// To what it committed.
	pub commitment: Option<H256>,
	/// Number of the claim that it showed.
	pub claim: Option<u8>,
}

/// A side of a dispute.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub enum Side<AccountId> {
	/// The claim of this number.
	Claim(u8),
	/// Somebody who challenges.
	Challenger {
		/// Who.
		who: AccountId,
		/// What it says that the task results in.
		claim: Claim,
		/// What it put at stake.
		deposit: Balance,
	},
}

/// How far a dispute has come.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub enum Stage {
	/// Both sides show nodes.
	Descending(Descent),
	/// The step that ends with this leaf waits to be executed.
	Executing {
		/// Its index.
		index: u32,
		/// The leaf of either side.
		leaves: [H256; 2],
	},
}

/// A dispute between two claims.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo)]
pub struct DisputeView<AccountId> {
	/// Its number among those of the task.
	pub number: u32,
	/// Both sides.
	pub sides: [Side<AccountId>; 2],
	/// How far it has come.
	pub stage: Stage,
	/// Who has moved.
	pub moved: [bool; 2],
	/// The last block for the move that is due.
	pub until: BlockNumber,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo)]
pub struct TaskView<AccountId> {
	/// Its number.
	pub id: TaskId,
	/// Who posted it.
	pub submitter: AccountId,
	/// What is computed.
	pub spec: TaskSpec,
	/// What is offered.
	pub terms: TaskTerms,
	/// Where it stands.
	pub phase: Phase,
	/// Who applied, until replicas are drawn.
	pub applicants: Vec<AccountId>,
	/// Who computes it.
	pub replicas: Vec<ReplicaView<AccountId>>,
	/// Who audits it.
	pub auditor: Option<ReplicaView<AccountId>>,
	/// What was claimed, each with whether it was convicted.
	pub claims: Vec<(Claim, bool)>,
	/// Disputes that run.
	pub disputes: Vec<DisputeView<AccountId>>,
	/// The output of the claim that stands, where it is short enough to be kept by the chain itself.
	pub output: Option<Vec<u8>>,
}
