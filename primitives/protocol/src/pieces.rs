//! Pieces of a result that somebody can lack and ask for on chain, their bytes, and what a trainer
//! answers.
//!
//! An answer leads from the revealed root to what it brings, so the chain checks it when it is given. The
//! content hash of a tensor or of rows is that of a blob, so a blob with its root holds them and nothing
//! else. Leaves are brought by the answer itself. Only the file of a whole state is not known by the
//! roots of its tensors: of that the court decides ([`Target::Rescue`](crate::accusation::Target::Rescue)).

use crate::{
	accusation::{LeafContent, Peaks},
	blob,
	bundle::Checkpoint,
	job::{WorkResult, MAX_AUDIT_SEGMENTS},
	merkle,
	rows::Rows,
	state::{ExpectedTensor, TensorDigest, TensorProof},
	H256,
};
use alloc::vec::Vec;
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::ops::Range;
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::{samples, spec::MAX_SEGMENTS};

/// Most pieces of one claim: as many as one seat reads.
pub const MAX_PIECES: u32 = 2 * MAX_AUDIT_SEGMENTS + 4 + MAX_PARTINGS;
/// Most states beside those of a seat's own draws.
pub const MAX_PARTINGS: u32 = 32;
/// Pieces of a result that everybody reads: the leaves, all rows, and the last state. They have room of their
/// own, see [`PieceSizes::is_common`].
pub const COMMON_PIECES: u32 = 3;
/// Other pieces of a result that a committee can ask for in a round; each of its seats has a
/// [share](seat_share) of them.
pub const SEAT_PIECES: u32 = 128;
/// Other pieces of a result that can be asked for at a time while results stand; as many are kept of those
/// that were asked for so before and are on chain.
pub const LATE_PIECES: u32 = 32;
/// Pieces of a result that can be asked for while results stand without a pledge.
pub const FREE_PIECES: u32 = 16;
/// Most pieces in the list of what was asked for of one result.
pub const MAX_ASKED: u32 = COMMON_PIECES + SEAT_PIECES + 2 * LATE_PIECES;
/// Most ranges of rows, beside all rows, that a committee can ask for of one result, and that others can at a
/// time.
pub const MAX_RANGES: u32 = 4;
/// Most answers of one call.
pub const MAX_ANSWERS: u32 = MAX_PIECES;
/// Leaves of one part of the leaves of a bundle; the last part has the rest. A power of two, so that a
/// part is a node of the tree.
pub const LEAVES_OF_PART: u32 = 512;
/// Most leaves of a bundle: of all checkpoints, and of a divergence.
pub const MAX_LEAVES: u32 = MAX_SEGMENTS + 2;
/// Most bytes of a leaf in an answer.
pub use trainyard_program::needs::LEAF_BYTES;

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
	/// The leaves of the bundle: what it commits to of each checkpoint.
	Leaves,
	/// Rows of the data as the engine reads them, by the rows root of the specification: inputs and
	/// labels. The rows that train are numbered from 0, and those that validate go on behind them.
	Rows {
		/// The first.
		from: u32,
		/// The first row after them.
		to: u32,
	},
	/// The state of this checkpoint, in one file.
	State(u32),
	/// A tensor of the state of a checkpoint.
	Tensor {
		/// The checkpoint.
		checkpoint: u32,
		/// The tensor, numbered in the order of `lower::state`.
		index: u32,
	},
	/// The [samples] of all states that trainers keep, by which it is seen how far a run moves. They have no root of their own, so
	/// no answer brings them: a [relay](crate::relay) committee says whether they are to be had.
	Samples,
}

/// Some pieces of a result, ascending.
pub type Pieces = BoundedVec<Piece, ConstU32<MAX_PIECES>>;

/// Returns how many pieces of a result each of `seats` seats can ask for in a round, beside those that
/// everybody reads. Where each draws no more than it must, these are both ends of all that it replays of a
/// result that has 1,000 segments.
pub fn seat_share(seats: u32) -> u32 {
	SEAT_PIECES.checked_div(seats.max(1)).unwrap_or_default()
}

impl Piece {
	/// Returns whether the chain knows of every answer whether it is right.
	pub fn is_checked(&self) -> bool {
		!matches!(self, Piece::State(_))
	}

	/// Returns the checkpoint of whose state it is, or a part of it.
	pub fn checkpoint(&self) -> Option<u32> {
		match *self {
			Piece::State(checkpoint) | Piece::Tensor { checkpoint, .. } => Some(checkpoint),
			Piece::Leaves | Piece::Rows { .. } | Piece::Samples => None,
		}
	}

	/// Returns whether trainers can store it on chain.
	pub fn is_answered(&self) -> bool {
		!matches!(self, Piece::Samples)
	}
}

/// What the bytes of the pieces of a job's results follow from, by its specification.
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
	/// Most bytes of the file of a state.
	pub state: u64,
	/// Rows that train.
	pub train_rows: u32,
	/// Rows that validate.
	pub validation_rows: u32,
	/// Inputs of a row.
	pub features: u32,
	/// Labels of a row.
	pub labels_per_row: u32,
	/// The samples of a state.
	pub samples: u64,
	/// Of how many states the trainer [keeps](trainyard_program::thinning) one: there are samples of these.
	pub keep_every: u32,
}

/// The chunks of the blob of one content that hold some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
	/// Which of the four contents of [`Rows`].
	pub content: usize,
	/// Bytes of all of the content.
	pub size: u64,
	/// The chunks of its blob.
	pub chunks: Range<u32>,
	/// Bytes of these chunks.
	pub bytes: u64,
}

impl PieceSizes {
	/// Returns the most bytes of a piece of `result`; `tensors` are the bytes of the tensors of a state,
	/// which are looked at for a [`Piece::Tensor`] alone.
	pub fn of(&self, piece: &Piece, result: &WorkResult, tensors: &[u64]) -> u64 {
		match *piece {
			Piece::Leaves => u64::from(result.leaves()).saturating_mul(LEAF_BYTES),
			Piece::Rows { from, to } => {
				self.spans(from, to).iter().fold(0, |sum, span| sum.saturating_add(span.bytes))
			}
			Piece::State(_) => self.state,
			Piece::Tensor { index, .. } => {
				let bytes = usize::try_from(index).ok().and_then(|at| tensors.get(at));
				bytes.copied().unwrap_or_default()
			}
			Piece::Samples => {
				samples::chunks_of_run(self.samples, self.keep_every, result.segments)
			}
		}
	}

	/// Returns the most bytes of these pieces together.
	pub fn sum(
		&self,
		pieces: impl IntoIterator<Item = Piece>,
		result: &WorkResult,
		tensors: &[u64],
	) -> u64 {
		let add = |sum: u64, piece| sum.saturating_add(self.of(&piece, result, tensors));
		pieces.into_iter().fold(0, add)
	}

	/// Returns all rows as a piece.
	pub fn all_rows(&self) -> Piece {
		Piece::Rows { from: 0, to: self.train_rows.saturating_add(self.validation_rows) }
	}

	/// Returns whether everybody reads this piece of `result`: the leaves, all rows, and the last state.
	pub fn is_common(&self, piece: &Piece, result: &WorkResult) -> bool {
		match piece {
			Piece::Leaves => true,
			Piece::Rows { .. } => *piece == self.all_rows(),
			Piece::State(at) => *at == result.segments,
			Piece::Tensor { .. } | Piece::Samples => false,
		}
	}

	/// Returns the bytes of the four contents of [`Rows`].
	pub fn contents(&self) -> [u64; 4] {
		self.rows(Default::default()).content_bytes()
	}

	/// Returns where the rows `from..to` lie in the blobs of the four contents: inputs and labels of the
	/// rows among them that train, and the same of those that validate.
	pub fn spans(&self, from: u32, to: u32) -> Vec<Span> {
		let of = |content: usize, size: u64, rows: Range<u32>, all: u32| -> Option<Span> {
			if rows.is_empty() || size == 0 {
				return None;
			}
			let width = size.checked_div(all.into())?;
			let chunk = u64::from(blob::chunk_len(size));
			let begin = u64::from(rows.start).saturating_mul(width).checked_div(chunk)?;
			let end = u64::from(rows.end).saturating_mul(width).div_ceil(chunk);
			let chunks = u32::try_from(begin).ok()?..u32::try_from(end).ok()?;
			let most = end.saturating_mul(chunk).min(size);
			let bytes = most.saturating_sub(begin.saturating_mul(chunk));
			Some(Span { content, size, chunks, bytes })
		};
		let train = self.train_rows;
		let training = from.min(train)..to.min(train);
		let behind = |row: u32| row.saturating_sub(train).min(self.validation_rows);
		let validating = behind(from)..behind(to);
		let [a, b, c, d] = self.contents();
		let all = [
			of(0, a, training.clone(), train),
			of(1, b, training, train),
			of(2, c, validating.clone(), self.validation_rows),
			of(3, d, validating, self.validation_rows),
		];
		all.into_iter().flatten().collect()
	}

	/// Returns the rows of the data with these contents.
	pub fn rows(&self, contents: [H256; 4]) -> Rows {
		let Self { train_rows, validation_rows, features, labels_per_row, .. } = *self;
		Rows { train_rows, validation_rows, features, labels_per_row, contents }
	}

	/// Returns whether `pieces` are some that `result` has, each once and ascending; `tensors` is how
	/// many a state has. What a seat draws only the seat knows, so any can be asked for.
	pub fn exist(&self, pieces: &[Piece], result: &WorkResult, tensors: usize) -> bool {
		let ascending = pieces.iter().zip(pieces.iter().skip(1)).all(|(a, b)| a < b);
		let rows = self.train_rows.saturating_add(self.validation_rows);
		let exists = |piece: &Piece| match *piece {
			Piece::Leaves => true,
			Piece::Rows { from, to } => from < to && to <= rows,
			Piece::State(at) => at <= result.segments,
			Piece::Tensor { checkpoint, index } => {
				checkpoint <= result.segments
					&& usize::try_from(index).is_ok_and(|index| index < tensors)
			}
			Piece::Samples => self.of(piece, result, &[]) > 0,
		};
		!pieces.is_empty() && ascending && pieces.iter().all(exists)
	}
}

/// Returns whether a replay of these `segments` of this result always reads this piece, or may read it
/// where it is of a state of them.
pub fn is_read(piece: &Piece, segments: &[u32], result: &WorkResult) -> bool {
	match piece {
		Piece::Leaves | Piece::Rows { .. } => true,
		Piece::State(at) | Piece::Tensor { checkpoint: at, .. } => {
			let is_end = |s: &u32| s == at || s.checked_add(1) == Some(*at);
			*at == result.segments || segments.iter().any(is_end)
		}
		Piece::Samples => false,
	}
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
	pub path: Peaks,
}

impl Leaf {
	/// Returns whether it is under the root of `result`.
	pub fn fits(&self, result: &WorkResult) -> bool {
		let hash = self.checkpoint.leaf();
		merkle::verify(&result.bundle_root, &hash, self.index, result.leaves(), &self.path)
	}
}

/// Leaves of a [part](LEAVES_OF_PART).
pub type PartLeaves = BoundedVec<LeafContent, ConstU32<LEAVES_OF_PART>>;

/// All leaves of a bundle.
pub type BundleLeaves = BoundedVec<LeafContent, ConstU32<MAX_LEAVES>>;

/// A part of the leaves of a bundle, with what leads from it to the root.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct LeavesPart {
	/// Which, from 0.
	pub part: u32,
	/// Its leaves, [`LEAVES_OF_PART`] or, in the last one, the rest.
	pub leaves: PartLeaves,
	/// Leads from the node over them up to the root of the bundle.
	pub path: Peaks,
}

/// Returns how many parts the leaves of `result` have.
pub fn parts(result: &WorkResult) -> u32 {
	result.leaves().div_ceil(LEAVES_OF_PART)
}

impl LeavesPart {
	/// Returns part `part` of all leaves of a bundle; `None` where there is none.
	pub fn of(all: &[LeafContent], part: u32) -> Option<Self> {
		let begin = usize::try_from(part.checked_mul(LEAVES_OF_PART)?).ok()?;
		let length = usize::try_from(LEAVES_OF_PART).ok()?;
		let leaves: Vec<_> = all.get(begin..)?.iter().take(length).copied().collect();
		let hashes: Vec<H256> = all.iter().map(LeafContent::leaf).collect();
		let nodes: Vec<H256> = hashes.chunks(length).map(merkle::root).collect();
		let path = merkle::proof(&nodes, usize::try_from(part).ok()?)?.try_into().ok()?;
		Some(Self { part, leaves: leaves.try_into().ok()?, path })
	}

	/// Returns whether these are all leaves of that part, under the root of `result`.
	pub fn fits(&self, result: &WorkResult) -> bool {
		let (count, begin) = (result.leaves(), self.part.saturating_mul(LEAVES_OF_PART));
		let wanted = count.saturating_sub(begin).min(LEAVES_OF_PART);
		let of_its_kind = (begin..).zip(&self.leaves).all(|(index, leaf)| {
			let diverged = result.diverged && index.checked_add(1) == Some(count);
			diverged == matches!(leaf, LeafContent::Diverged(_))
		});
		let hashes: Vec<H256> = self.leaves.iter().map(LeafContent::leaf).collect();
		let node = merkle::root(&hashes);
		u32::try_from(self.leaves.len()) == Ok(wanted)
			&& of_its_kind
			&& merkle::verify(&result.bundle_root, &node, self.part, parts(result), &self.path)
	}
}

/// What a trainer answers to who lacks a piece.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub enum Answer {
	/// A part of the leaves, which the chain keeps.
	Leaves(LeavesPart),
	/// The content hashes under the rows root. The blobs of these contents hold the rows.
	Rows {
		/// The first row.
		from: u32,
		/// The first row after them.
		to: u32,
		/// What [`Rows`] has of the data.
		contents: [H256; 4],
	},
	/// A blob that is the file of the state of a checkpoint.
	State {
		/// The checkpoint's leaf.
		leaf: Leaf,
		/// Root of the blob.
		blob: H256,
	},
	/// The content hash of a tensor of a state. The blob of this content is the tensor.
	Tensor {
		/// The checkpoint's leaf.
		leaf: Leaf,
		/// The tensor, as in [`Piece::Tensor`].
		index: u32,
		/// Its content hash.
		content: H256,
		/// Leads from the tensor up to the hash of the state.
		path: Peaks,
	},
}

/// Answers of one call.
pub type Answers = BoundedVec<Answer, ConstU32<MAX_ANSWERS>>;

impl Answer {
	/// Returns the piece that it answers.
	pub fn piece(&self) -> Piece {
		match self {
			Answer::Leaves(_) => Piece::Leaves,
			Answer::Rows { from, to, .. } => Piece::Rows { from: *from, to: *to },
			Answer::State { leaf, .. } => Piece::State(leaf.index),
			Answer::Tensor { leaf, index, .. } => {
				Piece::Tensor { checkpoint: leaf.index, index: *index }
			}
		}
	}
}

/// Returns the root of the blob that is a tensor of a state: the tensor at its `expected` place has this
/// `content` under the hash `state`. `None` where the path does not lead there.
pub fn tensor_blob(
	state: &H256,
	expected: &ExpectedTensor,
	content: &H256,
	path: &[H256],
) -> Option<H256> {
	let ExpectedTensor { name, shape, index, count } = expected.clone();
	let tensor = TensorDigest::of_f32(name, shape, *content);
	let bytes = tensor.content_bytes()?;
	let proof = TensorProof { tensor, index, count, path: path.to_vec() };
	proof.verify(state, expected).then(|| blob::root_of(bytes, content))
}

#[cfg(test)]
mod tests;
