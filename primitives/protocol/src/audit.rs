//! What verifiers say about results.

use crate::{
	accusation::{Claimed, End, LeafContent, Leaves as AccusationLeaves, Peaks, Target},
	blob::searched_states,
	bundle::{Checkpoint, Diverged, Evaluation},
	job::{BlockNumber, WorkResult, MAX_AUDIT_SEGMENTS, MAX_REPLICAS},
	merkle::{self, MAX_PROOF},
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
	/// Where the training stands still in this segment: from which segment on, as far as the verifier
	/// looked. None where it does not.
	pub idle_since: Option<u32>,
}

impl SegmentEvidence {
	/// Returns the leaf of every result that this evidence agrees with.
	pub fn leaf(&self) -> LeafContent {
		let trace = seal(&self.trace_root);
		match self.ended {
			Ended::Checkpoint { step, state, evaluation } => {
				LeafContent::Checkpoint(Checkpoint { step, state, evaluation, trace })
			}
			Ended::Diverged { step } => LeafContent::Diverged(Diverged { step, trace }),
		}
	}

	/// Returns the end of the segment, as a court hears it.
	pub fn end(&self) -> End {
		self.leaf().end()
	}

	/// Returns whether `path` leads from the leaf that it computed to the root of `result`: whether the
	/// result says the same of this segment.
	pub fn agrees(&self, result: &WorkResult, path: &[H256]) -> bool {
		let leaf = self.leaf();
		let of_its_kind = (result.diverged_in() == Some(self.segment))
			== matches!(leaf, LeafContent::Diverged(_));
		let index = self.segment.checked_add(1);
		of_its_kind
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

/// Most pieces that can be asked for of one result: as many as one seat reads.
pub const MAX_PIECES: u32 = 2 * MAX_AUDIT_SEGMENTS + 4 + MAX_PARTINGS;
/// Most states beside those of a seat's own draws.
pub const MAX_PARTINGS: u32 = 32;
/// Most leaves that one rescue brings: of the states that are asked for.
pub const MAX_LEAVES: u32 = 2 * MAX_AUDIT_SEGMENTS + 1 + MAX_PARTINGS;

/// What somebody can lack of a result, and ask for on chain.
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
	/// The state of this checkpoint.
	State(u32),
	/// The states that show where a standstill began, if a replayed segment stands still.
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

/// Returns whether a replay of these `segments` of this result always reads this piece, or may read it
/// where one of them stands still. Where training diverged nobody searches: what has no end stands still
/// nowhere.
pub fn is_read(piece: &Piece, segments: &[u32], result: &WorkResult) -> bool {
	match piece {
		Piece::Manifest | Piece::Files => true,
		Piece::Searched => !result.diverged,
		Piece::State(at) => {
			let is_end = |s: &u32| s == at || s.checked_add(1) == Some(*at);
			*at == result.segments || segments.iter().any(is_end)
		}
	}
}

/// Returns whether `pieces` are some that this result has, each once and ascending. What a seat draws
/// only the seat knows, so any can be asked for.
pub fn exist(pieces: &[Piece], result: &WorkResult) -> bool {
	let ascending = pieces.iter().zip(pieces.iter().skip(1)).all(|(a, b)| a < b);
	let exists = |piece: &Piece| match piece {
		Piece::State(at) => *at <= result.segments,
		Piece::Searched => !result.diverged,
		Piece::Manifest | Piece::Files => true,
	};
	!pieces.is_empty() && ascending && pieces.iter().all(exists)
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

	fn result(segments: u32, diverged: bool) -> WorkResult {
		let root = H256::zero();
		WorkResult { bundle_root: root, model_root: root, segments, diverged }
	}

	#[test]
	fn what_a_result_has_can_be_asked_for() {
		let nine = result(9, false);
		assert!(exist(&[Manifest, Files, State(0), State(4), State(9), Searched], &nine));
		assert!(exist(&[Searched], &nine) && exist(&[Files], &nine));
		assert!(!exist(&[], &nine) && !exist(&[State(10)], &nine));
		assert!(!exist(&[State(2), State(2)], &nine) && !exist(&[State(3), State(2)], &nine));
		assert!(!exist(&[Files, Manifest], &nine));
		// The segment in which it diverged has no end, and nothing is searched.
		let diverged = result(9, true);
		assert!(exist(&[State(9)], &diverged));
		assert!(!exist(&[State(10)], &diverged) && !exist(&[Searched], &diverged));
	}

	#[test]
	fn a_replay_reads_the_ends_of_its_segments_and_the_last_state() {
		let nine = result(9, false);
		let read = |piece| is_read(&piece, &[2, 6], &nine);
		assert!([Manifest, Files, Searched].into_iter().all(read));
		let states: Vec<u32> = (0..=9).filter(|at| read(State(*at))).collect();
		assert_eq!(states, [2, 3, 6, 7, 9]);
		assert!(!is_read(&Searched, &[2], &result(9, true)));
	}

	/// What a seat reveals is the leaf of the result that it agrees with, so it vouches for nothing else.
	#[test]
	fn evidence_agrees_with_the_result_that_has_its_leaf() {
		let evaluation = Evaluation::new(1.5, 3, 20);
		let evidence = |segment: u32| SegmentEvidence {
			segment,
			trace_root: H256([segment as u8; 32]),
			ended: Ended::Checkpoint { step: segment + 1, state: H256([9; 32]), evaluation },
			idle_since: None,
		};
		let gone = SegmentEvidence {
			segment: 4,
			trace_root: H256([4; 32]),
			ended: Ended::Diverged { step: 5 },
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
		let beyond = SegmentEvidence { segment: u32::MAX, ..evidence(1) };
		assert!(!beyond.agrees(&of, &path(2)));
		// A leaf of the other kind is none, even where a root has it.
		assert!(!gone.agrees(&WorkResult { diverged: false, segments: 5, ..of }, &path(5)));
		let End::Checkpoint { trace, .. } = evidence(1).end() else { panic!("a checkpoint") };
		assert_eq!(trace, seal(&H256([1; 32])));
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
	fn layout_of_findings() {
		let hash = |byte| H256([byte; 32]);
		let evaluation = Evaluation::new(1.5, 7, 9);
		let ended = Ended::Checkpoint { step: 258, state: hash(2), evaluation };
		let evidence =
			SegmentEvidence { segment: 7, trace_root: hash(1), ended, idle_since: Some(3) };
		let mut bytes = vec![7, 0, 0, 0];
		bytes.extend([1; 32]);
		bytes.extend([0, 2, 1, 0, 0]);
		bytes.extend([2; 32]);
		bytes.extend(evaluation.encode());
		bytes.extend([1, 3, 0, 0, 0]);
		assert_eq!(evidence.encode(), bytes);
		let diverged =
			SegmentEvidence { ended: Ended::Diverged { step: 258 }, idle_since: None, ..evidence };
		let mut short = bytes[..36].to_vec();
		short.extend([1, 2, 1, 0, 0, 0]);
		assert_eq!(diverged.encode(), short);
		let replayed = Replayed {
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
		all.extend([3 << 2, 0, 1 << 2]);
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
