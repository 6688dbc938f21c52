//! What verifiers say about results.

use crate::{
	accusation::{Claimed, End, LeafContent, Leaves as AccusationLeaves, Peaks, Target},
	bundle::{Checkpoint, Diverged, Evaluation},
	job::{BlockNumber, WorkResult, MAX_AUDIT_SEGMENTS, MAX_REPLICAS},
	merkle,
	trace::seal,
	vrf::VrfSignature,
	H256,
};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// Most segments at which a result parts from others: one for each of them.
pub const MAX_PARTS: u32 = MAX_REPLICAS - 1;
/// Most segments of a result of which one seat reveals evidence: its own draws, the first and the last
/// or the one with the largest movement, and those where it parts from others.
pub const MAX_EVIDENCE: u32 = MAX_AUDIT_SEGMENTS + 2 + MAX_PARTS;

/// What a replay of a segment ended in.
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
pub enum Ended {
	/// A checkpoint.
	Checkpoint {
		/// Steps done.
		step: u32,
		/// Hash of the state.
		state: H256,
		/// Evaluation of the state.
		evaluation: Evaluation,
	},
	/// The training left the finite numbers.
	Diverged {
		/// As in [`Diverged`].
		step: u32,
	},
}

/// Proof that a segment was replayed. A bundle has of `trace_root` no more than the
/// [sealed](crate::trace::seal) trace, so a verifier who did not replay has nothing to commit.
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
pub struct SegmentEvidence {
	/// The segment: from checkpoint `segment` to checkpoint `segment + 1`.
	pub segment: u32,
	/// Root of the segment's [trace](crate::trace), not sealed.
	pub trace_root: H256,
	/// What the replay ended in.
	pub ended: Ended,
	/// The sealed trace that the result has there, where it is another one: the leaf may be
	/// [forced](crate::forced). State and evaluation are those of the replay.
	pub differs: Option<H256>,
	/// Where the training stands still in this segment: from which segment on, as far as the verifier
	/// looked. None where it does not.
	pub idle_since: Option<u32>,
}

impl SegmentEvidence {
	/// Returns the leaf that the result has there, if its evidence is right: with the trace by which it
	/// [differs](Self::differs), where it does.
	pub fn leaf(&self) -> LeafContent {
		self.leaf_with(self.differs.unwrap_or_else(|| self.trace()))
	}

	/// Returns the sealed trace of the replay.
	pub fn trace(&self) -> H256 {
		seal(&self.trace_root)
	}

	fn leaf_with(&self, trace: H256) -> LeafContent {
		match self.ended {
			Ended::Checkpoint { step, state, evaluation } => {
				LeafContent::Checkpoint(Checkpoint { step, state, evaluation, trace })
			}
			Ended::Diverged { step } => LeafContent::Diverged(Diverged { step, trace }),
		}
	}

	/// Returns the end of the segment that it computed, as a court hears it.
	pub fn end(&self) -> End {
		self.leaf_with(self.trace()).end()
	}

	/// Returns whether `path` leads from its [leaf](Self::leaf) to the root of `result`: whether the
	/// result says the same of this segment, but for a trace that is said to differ. That of a run that
	/// diverged is never forced.
	pub fn agrees(&self, result: &WorkResult, path: &[H256]) -> bool {
		let leaf = self.leaf();
		let of_its_kind = (result.diverged_in() == Some(self.segment))
			== matches!(leaf, LeafContent::Diverged(_));
		let index = self.segment.checked_add(1);
		let differs = self.differs.is_none_or(|trace| {
			trace != self.trace() && matches!(leaf, LeafContent::Checkpoint(_))
		});
		of_its_kind
			&& differs
			&& index.is_some_and(|index| {
				let (root, count) = (&result.bundle_root, result.leaves());
				merkle::verify(root, &leaf.leaf(), index, count, path)
			})
	}
}

/// What a verifier says of a result of which it found nothing false.
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
pub struct Replayed {
	/// In whose bundle it looked: the number of the trainer among those who delivered this result.
	/// Each has leaves of its own that are forced.
	pub bundle: u32,
	/// Evidence of each segment that it must replay, see [`required`](crate::duties::required),
	/// ascending.
	pub evidence: BoundedVec<SegmentEvidence, ConstU32<MAX_EVIDENCE>>,
	/// The segment with the largest movement, which seats 1 and 2 pick.
	pub moved: Option<u32>,
	/// The segments where this result parts from others, ascending.
	pub parts: BoundedVec<u32, ConstU32<MAX_PARTS>>,
}

/// What a verifier accuses a trainer of, whose result it found false.
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
pub struct Rejection<AccountId> {
	/// The trainer. Others who delivered the same result are accused by others.
	pub account: AccountId,
	/// Of what.
	pub target: Target,
	/// What is true instead.
	pub claimed: Claimed,
	/// What the result says there, under its roots.
	pub leaves: AccusationLeaves,
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
pub enum GroupVerdict<AccountId> {
	/// All that had to be was replayed, and equal.
	Replayed(Replayed),
	/// The result is false: the court decides.
	Rejected(Rejection<AccountId>),
	/// The result could not be had or replayed here. That is no word about the result.
	Unavailable,
}

/// A verifier's verdicts on all distinct results of a job.
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
pub struct Findings<AccountId> {
	/// By which the verifier drew its segments.
	pub draw: VrfSignature,
	/// The verdicts, in the audit's order.
	pub verdicts: BoundedVec<GroupVerdict<AccountId>, ConstU32<MAX_REPLICAS>>,
}

/// The paths from the evidence of findings to the roots of the results: of each verdict in order, of
/// each segment ascending.
pub type Paths = BoundedVec<Peaks, ConstU32<{ MAX_EVIDENCE * MAX_REPLICAS }>>;

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
	/// Nobody challenged the result successfully, and more than half of the seats revealed evidence of
	/// it.
	Accepted,
	/// All its trainers were convicted.
	Rejected,
	/// Its trainers did not store what somebody asked for.
	Unavailable,
	/// Too little evidence in [`crate::job::MAX_AUDIT_ROUNDS`] rounds, no verifiers, or another result
	/// stands as well.
	Undecided,
	/// As accepted, but in a replayed segment the training stood still: it is paid, and earns no power.
	Idle,
}

impl Decision {
	/// Returns whether the result is true.
	pub fn is_true(&self) -> bool {
		matches!(self, Decision::Accepted | Decision::Idle)
	}

	/// Returns whether the trainers of the result lose their deposits.
	pub fn is_lost(&self) -> bool {
		matches!(self, Decision::Rejected | Decision::Unavailable)
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
	/// Trainers open what they forced to be false. It takes no block while there are no forced errors.
	Opening {
		/// Last block for that.
		until: BlockNumber,
	},
	/// Anybody can challenge results and evidence.
	Standing {
		/// Last block for that, if nothing is disputed.
		until: BlockNumber,
	},
	/// Somebody still lacks what it asked for; the trainers store it on chain, or lose.
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
	use crate::bundle::Evaluation;

	fn result(segments: u32, diverged: bool) -> WorkResult {
		let root = H256::zero();
		WorkResult { bundle_root: root, true_root: root, model_root: root, segments, diverged }
	}

	/// What a seat reveals is the leaf of the result that it agrees with, so it vouches for nothing else.
	#[test]
	fn evidence_agrees_with_the_result_that_has_its_leaf() {
		let evaluation = Evaluation::new(1.5, 3, 20);
		let evidence = |segment: u32| SegmentEvidence {
			segment,
			trace_root: H256([segment as u8; 32]),
			ended: Ended::Checkpoint { step: segment + 1, state: H256([9; 32]), evaluation },
			differs: None,
			idle_since: None,
		};
		let gone = SegmentEvidence {
			segment: 4,
			trace_root: H256([4; 32]),
			ended: Ended::Diverged { step: 5 },
			differs: None,
			idle_since: None,
		};
		let start = Checkpoint { step: 0, state: H256([9; 32]), evaluation, trace: H256([1; 32]) };
		let mut leaves = vec![start.leaf()];
		leaves.extend((0..4).map(|segment| evidence(segment).leaf().leaf()));
		leaves.push(gone.leaf().leaf());
		let of = WorkResult { bundle_root: merkle::root(&leaves), ..result(4, true) };
		let path = |index| merkle::proof(&leaves, index).unwrap();
		assert!((0..4).all(|segment| evidence(segment).agrees(&of, &path(segment as usize + 1))));
		assert!(gone.agrees(&of, &path(5)));
		assert!(!evidence(1).agrees(&of, &path(3)) && !evidence(1).agrees(&of, &[]));
		let other = SegmentEvidence { trace_root: H256([7; 32]), ..evidence(1) };
		assert!(!other.agrees(&of, &path(2)), "another trace");
		let ended = Ended::Checkpoint { step: 2, state: H256([8; 32]), evaluation };
		assert!(!SegmentEvidence { ended, ..evidence(1) }.agrees(&of, &path(2)), "another state");
		// Of a leaf that is forced it names the trace, and what it computed all the same.
		let forced = SegmentEvidence { differs: Some(seal(&H256([1; 32]))), ..other };
		assert!(forced.agrees(&of, &path(2)) && forced.end() == other.end());
		let same = SegmentEvidence { differs: Some(evidence(1).trace()), ..evidence(1) };
		assert!(!same.agrees(&of, &path(2)), "it does not differ");
		let last =
			SegmentEvidence { differs: Some(gone.trace()), trace_root: H256([7; 32]), ..gone };
		assert!(!last.agrees(&of, &path(5)), "the end of a run that diverged is not forced");
		let beyond = SegmentEvidence { segment: u32::MAX, ..evidence(1) };
		assert!(!beyond.agrees(&of, &path(2)));
		// A leaf of the other kind is none, even where a root has it.
		assert!(!gone.agrees(&WorkResult { diverged: false, segments: 5, ..of }, &path(5)));
		let End::Checkpoint { trace, .. } = evidence(1).end() else { panic!("a checkpoint") };
		assert_eq!(trace, seal(&H256([1; 32])));
	}

	/// Frozen: commitments cover these bytes, and clients in other languages read them.
	#[test]
	fn layout_of_findings() {
		let hash = |byte| H256([byte; 32]);
		let evaluation = Evaluation::new(1.5, 7, 9);
		let ended = Ended::Checkpoint { step: 258, state: hash(2), evaluation };
		let evidence = SegmentEvidence {
			segment: 7,
			trace_root: hash(1),
			ended,
			differs: Some(hash(6)),
			idle_since: Some(3),
		};
		let mut bytes = vec![7, 0, 0, 0];
		bytes.extend([1; 32]);
		bytes.extend([0, 2, 1, 0, 0]);
		bytes.extend([2; 32]);
		bytes.extend(evaluation.encode());
		bytes.push(1);
		bytes.extend([6; 32]);
		bytes.extend([1, 3, 0, 0, 0]);
		assert_eq!(evidence.encode(), bytes);
		let ended = Ended::Diverged { step: 258 };
		let diverged = SegmentEvidence { ended, differs: None, idle_since: None, ..evidence };
		let mut short = bytes[..36].to_vec();
		short.extend([1, 2, 1, 0, 0, 0, 0]);
		assert_eq!(diverged.encode(), short);
		let replayed = Replayed {
			bundle: 2,
			evidence: vec![evidence].try_into().unwrap(),
			moved: Some(5),
			parts: vec![7].try_into().unwrap(),
		};
		let rejected = Rejection {
			account: 9u64,
			target: Target::Segment(258),
			claimed: Claimed::Other,
			leaves: Default::default(),
		};
		let draw = VrfSignature { pre_output: [3; 32], proof: [4; 64] };
		let verdicts = vec![
			GroupVerdict::Replayed(replayed),
			GroupVerdict::Rejected(rejected),
			GroupVerdict::Unavailable,
		];
		let findings = Findings { draw, verdicts: verdicts.try_into().unwrap() };
		let mut all = [[3; 32], [4; 32], [4; 32]].concat();
		all.extend([3 << 2, 0, 2, 0, 0, 0, 1 << 2]);
		all.extend(&bytes);
		all.extend([1, 5, 0, 0, 0, 1 << 2, 7, 0, 0, 0]);
		all.extend([1, 9, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1, 0, 0, 1, 0]);
		all.push(2);
		assert_eq!(findings.encode(), all);
		assert_eq!(Findings::<u64>::decode(&mut &all[..]).unwrap(), findings);
		let text = serde_json::to_string(&findings).unwrap();
		assert_eq!(serde_json::from_str::<Findings<u64>>(&text).unwrap(), findings);
	}
}
