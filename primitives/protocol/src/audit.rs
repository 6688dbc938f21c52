//! What verifiers say about results.

use crate::{
	job::{BlockNumber, MAX_REPLAYED_SEGMENTS, MAX_REPLICAS},
	H256,
};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// Proof that a segment was replayed: no bundle contains `trace_root`, so a verifier who
/// did not replay has nothing to commit.
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
pub struct SegmentEvidence {
	/// The segment: from checkpoint `segment` to checkpoint `segment + 1`.
	pub segment: u32,
	/// Merkle root over the steps' losses and logits and the evaluation of the end state, see
	/// `bundle::trace_leaf`.
	pub trace_root: H256,
	/// Hash of the state that the replay ended in; where it left the finite numbers,
	/// [`bundle::diverged_state`](crate::bundle::diverged_state).
	pub end_state: H256,
	/// Where the training stands still in this segment: from which segment on, as far as the
	/// verifier looked. None where it does not, and in a replay that shows a false segment.
	pub idle_since: Option<u32>,
}

/// Why a result is false. Each is bound by the revealed roots: bytes that do not hash to
/// them prove nothing against the trainer and count as [`GroupVerdict::Unavailable`].
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
pub enum RejectReason {
	/// The checkpoints are not those that the specification asks for, or their committed losses
	/// make training stop elsewhere.
	WrongCheckpoints,
	/// Checkpoint 0 is not the initial state of (specification, seed).
	WrongInitialState,
	/// The replayed segment ends in a state that is not the committed one.
	WrongSegment(SegmentEvidence),
	/// A state holds a NaN, or tensors other than the model's.
	WrongState {
		/// Checkpoint that holds it.
		checkpoint: u32,
	},
	/// The model is not the last checkpoint's parameters.
	WrongModel,
	/// The evaluation of a checkpoint's state differs from the committed one.
	WrongEvaluation {
		/// The checkpoint.
		checkpoint: u32,
	},
	/// No honest run has the state: a number in it is infinite or out of its bounds, or it is
	/// farther from the state before it than the steps between them go.
	UnreachableState {
		/// Checkpoint that holds it.
		checkpoint: u32,
	},
	/// Training is said to have diverged in this segment, and its replay stays finite.
	NotDiverged(SegmentEvidence),
}

/// Writes the reason in words. They are the same wherever a person reads them: in a verifier's
/// report, in the log, in the list of an audit's verdicts.
impl fmt::Display for RejectReason {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			Self::WrongCheckpoints => {
				f.write_str("the checkpoints are not those that the specification asks for")
			}
			Self::WrongInitialState => {
				f.write_str("checkpoint 0 is not the initial state of the job")
			}
			Self::WrongSegment(SegmentEvidence { segment, .. }) => {
				write!(f, "segment {segment} ends in another state than the committed one")
			}
			Self::WrongState { checkpoint } => {
				write!(f, "checkpoint {checkpoint} holds a NaN or other tensors than the job's")
			}
			Self::WrongModel => f.write_str("the model is not the last checkpoint's"),
			Self::WrongEvaluation { checkpoint } => {
				write!(f, "the evaluation of checkpoint {checkpoint} is not the committed one")
			}
			Self::UnreachableState { checkpoint } => {
				write!(f, "checkpoint {checkpoint} is a state that no honest run can have")
			}
			Self::NotDiverged(SegmentEvidence { segment, .. }) => {
				write!(f, "segment {segment} does not diverge, as is claimed")
			}
		}
	}
}

/// A verifier's verdict on one distinct result of a job.
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
#[serde(rename_all = "snake_case")]
pub enum GroupVerdict {
	/// Everything drawn was replayed and equal; evidence per drawn segment, ascending.
	Accept(BoundedVec<SegmentEvidence, ConstU32<MAX_REPLAYED_SEGMENTS>>),
	/// The result is false.
	Reject(RejectReason),
	/// Nobody served a bundle or data that hash to the revealed roots.
	Unavailable,
}

/// A verifier's verdicts on all distinct results of a job, in the audit's order.
pub type Findings = BoundedVec<GroupVerdict, ConstU32<MAX_REPLICAS>>;

/// What an audit decided about one distinct result.
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
pub enum Decision {
	/// The result is true, and trained.
	Accepted,
	/// The result is false.
	Rejected,
	/// The result could not be fetched: it was not rescued in the window given, or the rescue did
	/// not help.
	Unavailable,
	/// No quorum in [`crate::job::MAX_AUDIT_ROUNDS`] rounds, or no verifiers.
	Undecided,
	/// The result is true, but in a drawn segment the training stood still: it is paid, and earns
	/// no power.
	Idle,
}

impl Decision {
	/// Returns whether the result is true.
	pub fn is_true(&self) -> bool {
		matches!(self, Decision::Accepted | Decision::Idle)
	}
}

/// Where an audit stands.
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
pub enum AuditPhase {
	/// The seed of this round forms from blocks after this one.
	Drawing {
		/// Height whose successors make the seed.
		after: BlockNumber,
	},
	/// The committee replays and commits.
	Committing {
		/// Last block for commitments.
		until: BlockNumber,
	},
	/// The committee reveals.
	Revealing {
		/// Last block for reveals.
		until: BlockNumber,
	},
	/// A result could not be fetched; its trainers may upload the drawn states.
	Rescue {
		/// Last block for uploads.
		until: BlockNumber,
	},
	/// Decided.
	Done,
}

#[cfg(test)]
mod tests {
	use super::*;

	/// Frozen: commitments cover these bytes, and clients in other languages read them.
	#[test]
	fn layout_of_reasons() {
		let hash = |byte| H256([byte; 32]);
		let evidence = SegmentEvidence {
			segment: 7,
			trace_root: hash(1),
			end_state: hash(2),
			idle_since: None,
		};
		let mut segment = vec![2, 7, 0, 0, 0];
		segment.extend([1; 32]);
		segment.extend([2; 32]);
		segment.push(0);
		let mut finite = segment.clone();
		finite[0] = 7;
		let idle = SegmentEvidence { idle_since: Some(258), ..evidence };
		assert_eq!(idle.encode(), [&segment[1..69], &[1, 2, 1, 0, 0]].concat());
		for (reason, bytes) in [
			(RejectReason::WrongCheckpoints, vec![0]),
			(RejectReason::WrongInitialState, vec![1]),
			(RejectReason::WrongSegment(evidence), segment),
			(RejectReason::WrongState { checkpoint: 258 }, vec![3, 2, 1, 0, 0]),
			(RejectReason::WrongModel, vec![4]),
			(RejectReason::WrongEvaluation { checkpoint: 258 }, vec![5, 2, 1, 0, 0]),
			(RejectReason::UnreachableState { checkpoint: 258 }, vec![6, 2, 1, 0, 0]),
			(RejectReason::NotDiverged(evidence), finite),
		] {
			assert_eq!(reason.encode(), bytes, "{reason:?}");
		}
	}

	#[test]
	fn a_reason_names_what_is_wrong() {
		let hash = H256([0; 32]);
		let (segment, idle_since) = (7, None);
		let evidence = SegmentEvidence { segment, trace_root: hash, end_state: hash, idle_since };
		for (reason, words) in [
			(RejectReason::WrongCheckpoints, "the checkpoints are not"),
			(RejectReason::WrongInitialState, "checkpoint 0 is not the initial state"),
			(RejectReason::WrongSegment(evidence), "segment 7 ends in another state"),
			(RejectReason::WrongState { checkpoint: 3 }, "checkpoint 3 holds a NaN"),
			(RejectReason::WrongModel, "the model is not"),
			(RejectReason::WrongEvaluation { checkpoint: 3 }, "the evaluation of checkpoint 3"),
			(RejectReason::UnreachableState { checkpoint: 3 }, "checkpoint 3 is a state that no"),
			(RejectReason::NotDiverged(evidence), "segment 7 does not diverge"),
		] {
			assert!(alloc::format!("{reason}").starts_with(words), "{reason}");
		}
	}
}
