//! What verifiers say about results.

use crate::{
	blob::searched_states,
	bundle::Checkpoint,
	job::{BlockNumber, WorkResult, MAX_AUDIT_SEGMENTS, MAX_REPLAYED_SEGMENTS, MAX_REPLICAS},
	merkle::{self, MAX_PROOF},
	H256,
};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// Proof that a segment was replayed: a bundle has of `trace_root` no more than the
/// [sealed](crate::trace::seal) trace, so a verifier who did not replay has nothing to commit.
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
	/// Root of the segment's [trace](crate::trace), not sealed.
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
	/// The replayed segment ends in a state that is not the committed one, or its trace is not.
	WrongSegment(SegmentEvidence),
	/// A state holds a NaN, or tensors other than the model's.
	WrongState {
		/// Checkpoint that holds it.
		checkpoint: u32,
	},
	/// The model is not the last checkpoint's parameters.
	WrongModel,
	/// The evaluation of a checkpoint's state differs from the committed one; of checkpoint 0, also its
	/// trace, which has nothing but that evaluation.
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
				write!(f, "segment {segment} has another end or trace than the committed one")
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
	/// The result could not be had or replayed here. It counts as a word about the result only where
	/// its trainers had to store it on chain; before that, a seat asks for what it lacks.
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
	/// Its trainers did not store what a seat asked for, or most could not use what they stored.
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
	/// Seats still lack what they asked for; the trainers store it on chain, or lose.
	Rescue {
		/// Last block for uploads.
		until: BlockNumber,
	},
	/// Decided.
	Done,
}

/// Most pieces that can be asked for of one result: both ends of each drawn segment, the last
/// state, those at which it parts from others, and the three others.
pub const MAX_PIECES: u32 = 2 * MAX_AUDIT_SEGMENTS + 4 + MAX_PARTINGS;
/// Most states at which a result parts from others, over all that seats ask for.
pub const MAX_PARTINGS: u32 = 32;
/// Most leaves that one rescue brings: of the states that are asked for.
pub const MAX_LEAVES: u32 = 2 * MAX_AUDIT_SEGMENTS + 1 + MAX_PARTINGS;

/// What a seat can lack of a result, and ask for on chain.
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
pub enum Piece {
	/// The list of the result's checkpoints.
	Manifest,
	/// The files that the job reads.
	Files,
	/// The state of this checkpoint: an end of a drawn segment, the last one, or the one at which the
	/// result parts from another.
	State(u32),
	/// The states that show where a standstill began, if a drawn segment stands still.
	Searched,
}

/// Some pieces of a result, ascending.
pub type Pieces = BoundedVec<Piece, ConstU32<MAX_PIECES>>;

/// Most bytes of each piece of a job's results, by its specification.
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
pub struct PieceSizes {
	/// A state.
	pub state: u64,
	/// A manifest, and the index of an archive.
	pub manifest: u64,
	/// All files that the job reads.
	pub files: u64,
}

impl PieceSizes {
	/// Returns the most bytes of a piece of a result with that many segments.
	pub fn of(&self, piece: Piece, segments: u32) -> u64 {
		match piece {
			Piece::Manifest => self.manifest,
			Piece::Files => self.files,
			Piece::State(_) => self.state,
			Piece::Searched => self.state.saturating_mul(searched_states(segments).into()),
		}
	}

	/// Returns the most bytes of these pieces together.
	pub fn sum(&self, pieces: impl IntoIterator<Item = Piece>, segments: u32) -> u64 {
		pieces.into_iter().fold(0, |sum, piece| sum.saturating_add(self.of(piece, segments)))
	}
}

/// Returns whether an audit of the `drawn` segments of this result always reads this piece, or may
/// read it where one of them stands still. Where training diverged nobody searches: what has no end
/// stands still nowhere.
pub fn is_read(piece: &Piece, drawn: &[u32], result: &WorkResult) -> bool {
	match piece {
		Piece::Manifest | Piece::Files => true,
		Piece::Searched => !result.diverged,
		Piece::State(at) => {
			*at == result.segments || drawn.iter().any(|s| s == at || s.checked_add(1) == Some(*at))
		}
	}
}

/// Returns whether `pieces` are some that an audit of the `drawn` segments of this result can read,
/// each once and ascending. Where it `parts` from another result, one state more can be among them:
/// the one in which the two begin to differ.
pub fn are_read(pieces: &[Piece], drawn: &[u32], result: &WorkResult, parts: bool) -> bool {
	let ascending = pieces.iter().zip(pieces.iter().skip(1)).all(|(a, b)| a < b);
	let exists = |piece: &Piece| match piece {
		Piece::State(at) => *at <= result.segments,
		Piece::Searched => !result.diverged,
		Piece::Manifest | Piece::Files => true,
	};
	let others = pieces.iter().filter(|piece| !is_read(piece, drawn, result)).count();
	!pieces.is_empty() && ascending && pieces.iter().all(exists) && others <= usize::from(parts)
}

/// Shows which state a result committed to at one of its checkpoints.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Leaf {
	/// Which checkpoint, from 0.
	pub index: u32,
	/// What the bundle commits to of it.
	pub checkpoint: Checkpoint,
	/// Leads from the checkpoint's leaf up to the root of the bundle.
	pub path: BoundedVec<H256, ConstU32<{ MAX_PROOF as u32 }>>,
}

/// Leaves of one result, of the states that a rescue holds, ascending.
pub type Leaves = BoundedVec<Leaf, ConstU32<MAX_LEAVES>>;

/// Returns whether these are the leaves of exactly the states among `pieces`, in order, and each is
/// under the root that was revealed.
pub fn leaves_fit(leaves: &[Leaf], pieces: &[Piece], result: &WorkResult) -> bool {
	let wanted = pieces.iter().filter_map(|piece| match piece {
		Piece::State(at) => Some(*at),
		Piece::Manifest | Piece::Files | Piece::Searched => None,
	});
	let count = result.leaves();
	leaves.iter().map(|leaf| leaf.index).eq(wanted)
		&& leaves.iter().all(|leaf| {
			let hash = leaf.checkpoint.leaf();
			merkle::verify(&result.bundle_root, &hash, leaf.index, count, &leaf.path)
		})
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::bundle::Evaluation;
	use Piece::*;

	#[test]
	fn only_what_an_audit_reads_can_be_asked_for() {
		let result = |segments, diverged| {
			let root = H256::zero();
			WorkResult { bundle_root: root, model_root: root, segments, diverged }
		};
		let nine = result(9, false);
		let read = |pieces: &[Piece]| are_read(pieces, &[2, 6], &nine, false);
		assert!(read(&[Manifest, Files, State(2), State(3), State(6), State(7), State(9)]));
		assert!(read(&[Searched]) && read(&[State(9), Searched]) && read(&[Files]));
		assert!(!read(&[]));
		assert!(!read(&[State(2), State(2)]) && !read(&[State(3), State(2)]));
		assert!(!read(&[Files, Manifest]));
		let parts = |pieces: &[Piece]| are_read(pieces, &[2, 6], &nine, true);
		for at in [0, 1, 4, 5, 8] {
			assert!(!read(&[State(at)]), "{at}");
			assert!(parts(&[State(at), State(9)]), "{at}");
		}
		assert!(!parts(&[State(0), State(1)]), "one parting at a time");
		for at in [10, u32::MAX] {
			assert!(!read(&[State(at)]) && !parts(&[State(at)]), "{at}");
		}
		let every: Vec<u32> = (0..MAX_AUDIT_SEGMENTS).map(|at| at * 2).collect();
		let mut most = vec![Manifest, Files];
		most.extend((0..2 * MAX_AUDIT_SEGMENTS).map(State));
		most.extend([State(99), Searched]);
		assert!(are_read(&most, &every, &result(99, false), false));
		assert_eq!(most.len(), (MAX_PIECES - MAX_PARTINGS) as usize);
		// The segment in which it diverged has no end, and nothing is searched.
		let diverged = |pieces: &[Piece]| are_read(pieces, &[2, 9], &result(9, true), false);
		assert!(diverged(&[Manifest, Files, State(2), State(3), State(9)]));
		assert!(!diverged(&[State(10)]) && !diverged(&[Searched]));
	}

	#[test]
	fn pieces_have_their_bytes() {
		let sizes = PieceSizes { state: 1_000, manifest: 7, files: 30 };
		assert_eq!(sizes.sum([Manifest, Files, State(2), State(5)], 9), 2_037);
		// Four binary digits, two ends each.
		assert_eq!(sizes.of(Searched, 9), 8_000);
		let large = PieceSizes { state: u64::MAX, ..sizes };
		assert_eq!((large.of(Searched, 9), large.sum([State(1), Files], 9)), (u64::MAX, u64::MAX));
	}

	#[test]
	fn leaves_are_those_of_the_states_under_the_revealed_root() {
		let all: Vec<Checkpoint> = (0..10u32)
			.map(|step| {
				let evaluation = Evaluation::new(1.5, step, 20);
				Checkpoint { step, state: H256([step as u8; 32]), evaluation, trace: H256::zero() }
			})
			.collect();
		let hashes: Vec<H256> = all.iter().map(Checkpoint::leaf).collect();
		let root = merkle::root(&hashes);
		let result =
			WorkResult { bundle_root: root, model_root: root, segments: 9, diverged: false };
		let leaf = |index: u32| Leaf {
			index,
			checkpoint: all[index as usize],
			path: merkle::proof(&hashes, index as usize).unwrap().try_into().unwrap(),
		};
		let pieces = [Manifest, State(2), State(9), Searched];
		let good = [leaf(2), leaf(9)];
		assert!(leaves_fit(&good, &pieces, &result));
		assert!(leaves_fit(&[], &[Manifest, Files, Searched], &result));
		assert!(!leaves_fit(&good[..1], &pieces, &result), "one is missing");
		assert!(!leaves_fit(&[leaf(9), leaf(2)], &pieces, &result), "out of order");
		assert!(!leaves_fit(&[leaf(2), leaf(3), leaf(9)], &pieces, &result), "one too many");
		let mut other = good.clone();
		other[0].checkpoint.state = H256::zero();
		assert!(!leaves_fit(&other, &pieces, &result), "not what was committed");
		let moved = [Leaf { index: 2, ..leaf(3) }, leaf(9)];
		assert!(!leaves_fit(&moved, &pieces, &result), "of another checkpoint");
		let shorter = WorkResult { segments: 8, ..result };
		assert!(!leaves_fit(&good, &pieces, &shorter));
		// A result that diverged has a leaf more.
		assert!(!leaves_fit(&good, &pieces, &WorkResult { diverged: true, ..result }));
		let end = Some(crate::bundle::Diverged { step: 10, trace: H256::zero() });
		let hashes = crate::bundle::bundle_leaves(all.iter().copied(), end);
		let result = WorkResult {
			bundle_root: crate::bundle::bundle_root(all.iter().copied(), end),
			diverged: true,
			..result
		};
		let leaf = |index: u32| Leaf {
			path: merkle::proof(&hashes, index as usize).unwrap().try_into().unwrap(),
			..leaf(index)
		};
		assert!(leaves_fit(&[leaf(2), leaf(9)], &pieces, &result));
	}

	/// Frozen: calls carry these bytes.
	#[test]
	fn layout_of_pieces() {
		let pieces: Vec<u8> =
			[Manifest, Files, State(258), Searched].iter().flat_map(Encode::encode).collect();
		assert_eq!(pieces, [0, 1, 2, 2, 1, 0, 0, 3]);
	}

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
			(RejectReason::WrongSegment(evidence), "segment 7 has another end or trace"),
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
