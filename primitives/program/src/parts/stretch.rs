//! How long a stretch of a chain can be if what it reads has to be opened.
//!
//! What an opening costs depends on where the terms lie. A row is read chunk by chunk, but of a
//! column every number is in a chunk of its own. So the length of a stretch is chosen by bytes.

use super::{kind::Norm, terms, Part};
use crate::ops::{OpKind, TensorId};
use alloc::vec::Vec;

/// Elements of a chunk: 1 KiB of numbers, or of labels, of 4 bytes each.
pub const CHUNK_ELEMENTS: u64 = 256;

/// How the terms of a chain lie in a tensor that they read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
	/// All read the same element.
	Same,
	/// Each reads this many elements after the one before it.
	Along(u64),
	/// Each may read anywhere.
	Anywhere,
}

/// A tensor that the terms of a chain read, and how they lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
	/// The tensor.
	pub tensor: TensorId,
	/// How the terms lie in it.
	pub reach: Reach,
}

/// How a tensor lies in the content that is opened to show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
	/// Elements of the content, at least as many as the tensor has.
	pub elements: u64,
	/// Elements of the tensor that follow each other there: of runs of so many, row major, each may
	/// lie anywhere. A batch is made of rows of all training rows.
	pub run: u64,
}

/// A tensor of so many elements that is a content by itself.
impl From<u64> for Storage {
	fn from(elements: u64) -> Self {
		Self { elements, run: elements }
	}
}

impl Reach {
	/// Returns the most chunks of a tensor that so many terms read. Of one that is made of runs, one
	/// chunk is counted for each run that is read, also where several lie in the same: each run has to be
	/// looked for.
	pub fn chunks(&self, terms: u64, stored: Storage) -> u64 {
		let most = match self {
			Reach::Same => terms.min(1),
			Reach::Along(stride) => {
				let (runs, each) = stored.runs(terms, *stride);
				runs.saturating_mul(each).min(terms)
			}
			Reach::Anywhere => terms,
		};
		match stored.run >= stored.elements {
			true => most.min(stored.elements.div_ceil(CHUNK_ELEMENTS)),
			false => most,
		}
	}

	/// Returns the most bytes that it takes to open what so many terms read of a tensor: chunks, and
	/// the hashes beside them.
	fn bytes(&self, terms: u64, stored: Storage) -> u64 {
		let apart = opening_bytes(self.chunks(terms, stored), stored.elements);
		match self {
			Reach::Along(stride) if *stride <= CHUNK_ELEMENTS => {
				let (runs, each) = stored.runs(terms, *stride);
				runs.saturating_mul(run_bytes(each, stored.elements)).min(apart)
			}
			_ => apart,
		}
	}
}

impl Storage {
	/// Returns the most runs that so many terms read, each `stride` elements after the one before it,
	/// and the most chunks of a run.
	fn runs(&self, terms: u64, stride: u64) -> (u64, u64) {
		let apart = |terms: u64| terms.saturating_sub(1).saturating_mul(stride);
		// From the first term's chunk to the last one's, wherever the first one stands in its.
		let chunks = |terms: u64| {
			let chunks = apart(terms).div_ceil(CHUNK_ELEMENTS).saturating_add(1);
			chunks.min(terms).min(self.elements.div_ceil(CHUNK_ELEMENTS))
		};
		if self.run >= self.elements {
			return (terms.min(1), chunks(terms));
		}
		let run = self.run.max(1);
		let runs = apart(terms).div_ceil(run).saturating_add(1).min(terms);
		(runs, chunks(run.div_ceil(stride.max(1)).min(terms)))
	}
}

/// Most numbers that an element reads before its first term, or after its last one: as many as a lane
/// of [`OpKind::Whetstone`] has variables. An operator of a training reads 8 at most.
pub const MAX_REST_READS: u64 = 10;

/// Bytes of a chunk.
const CHUNK_BYTES: u64 = CHUNK_ELEMENTS * 4;
/// Bytes of a hash.
const HASH_BYTES: u64 = 32;

/// Returns the most bytes that it takes to open `chunks` chunks of a tensor of `elements` elements
/// together, wherever they are.
///
/// Above the level with as many nodes as there are chunks, every node may be known already; below,
/// each chunk needs at most one hash for each level. Of `2^d` chunks, `m` take at most
/// `m (d - floor(log2 m))` hashes.
pub fn opening_bytes(chunks: u64, elements: u64) -> u64 {
	let known = chunks.checked_ilog2().unwrap_or_default();
	let hashes = chunks.saturating_mul(depth(elements).saturating_sub(known.into()));
	chunks.saturating_mul(CHUNK_BYTES).saturating_add(hashes.saturating_mul(HASH_BYTES))
}

/// Returns the levels between the chunks of a tensor and its root.
fn depth(elements: u64) -> u64 {
	let all = elements.div_ceil(CHUNK_ELEMENTS).max(1);
	// A tensor with more chunks than the largest power of two below 2^64 cannot be.
	all.checked_next_power_of_two().map_or(64, |all| all.ilog2().into())
}

/// Returns the most bytes that it takes to open `chunks` chunks that follow each other. Beside them
/// are at most one hash on the left and one on the right of each level.
fn run_bytes(chunks: u64, elements: u64) -> u64 {
	let edges = depth(elements).saturating_mul(2).saturating_mul(HASH_BYTES);
	let run = chunks.saturating_mul(CHUNK_BYTES).saturating_add(edges);
	run.min(opening_bytes(chunks, elements))
}

/// Returns the tensors that the terms of a part's chain read, and how. Labels are not among them: a
/// chain reads one at most.
pub fn reads(part: &Part) -> Vec<Read> {
	let read = |tensor: TensorId, reach: Reach| Read { tensor, reach };
	let along = |tensor: TensorId, stride: u32| read(tensor, Reach::Along(stride.into()));
	let row = |tensor: TensorId| along(tensor, 1);
	let anywhere = |tensor: TensorId| read(tensor, Reach::Anywhere);
	let same = |tensor: TensorId| read(tensor, Reach::Same);
	match part {
		Part::Whole(kind) => match *kind {
			OpKind::MatMul { a, b, transpose_a, transpose_b, m, n, .. }
			| OpKind::BatchMatMul { a, b, transpose_a, transpose_b, m, n, .. } => {
				let (of_a, of_b) =
					(if transpose_a { m } else { 1 }, if transpose_b { 1 } else { n });
				alloc::vec![along(a, of_a), along(b, of_b)]
			}
			OpKind::Conv2d { x, weight, .. } => alloc::vec![anywhere(x), row(weight)],
			OpKind::Conv2dWeightGrad { gradient, x, .. } => {
				alloc::vec![anywhere(gradient), anywhere(x)]
			}
			OpKind::Conv2dInputGrad { gradient, weight, .. } => {
				alloc::vec![anywhere(gradient), anywhere(weight)]
			}
			OpKind::Mean { a, .. } => alloc::vec![row(a)],
			OpKind::SumSquares { x, .. } => alloc::vec![row(x)],
			OpKind::SumRows { a, cols, .. } => alloc::vec![along(a, cols)],
			OpKind::SumChannels { x, .. }
			| OpKind::MaxPool2d { x, .. }
			| OpKind::AvgPool2d { x, .. } => alloc::vec![anywhere(x)],
			OpKind::AvgPool2dGrad { gradient, .. } => alloc::vec![anywhere(gradient)],
			OpKind::SquaredLoss { outputs: x, .. } | OpKind::Correct { logits: x, .. } => {
				alloc::vec![row(x)]
			}
			OpKind::EmbeddingGrad { gradient, tokens, width, .. } => {
				alloc::vec![row(tokens), along(gradient, width)]
			}
			// It reads before its first term only.
			OpKind::Whetstone { .. } => Vec::new(),
			// Without a chain, or taken apart.
			OpKind::AddRow { .. }
			| OpKind::Relu { .. }
			| OpKind::ReluGrad { .. }
			| OpKind::LogSoftmax { .. }
			| OpKind::RowLoss { .. }
			| OpKind::RowLossGrad { .. }
			| OpKind::Scale { .. }
			| OpKind::Decay { .. }
			| OpKind::MulAdd { .. }
			| OpKind::Ema { .. }
			| OpKind::EmaSquare { .. }
			| OpKind::AdamStep { .. }
			| OpKind::Add { .. }
			| OpKind::Activation { .. }
			| OpKind::ActivationGrad { .. }
			| OpKind::SwapAxes { .. }
			| OpKind::AddChannel { .. }
			| OpKind::MaxPool2dGrad { .. }
			| OpKind::LayerNorm { .. }
			| OpKind::LayerNormGrad { .. }
			| OpKind::LayerNormWeightGrad { .. }
			| OpKind::RmsNorm { .. }
			| OpKind::RmsNormGrad { .. }
			| OpKind::RmsNormWeightGrad { .. }
			| OpKind::Embedding { .. }
			| OpKind::CausalSoftmax { .. }
			| OpKind::CausalSoftmaxGrad { .. }
			| OpKind::Dropout { .. }
			| OpKind::Noise { .. }
			| OpKind::SquaredLossGrad { .. }
			| OpKind::ClipFactor { .. }
			| OpKind::LearningRate { .. } => Vec::new(),
		},
		Part::RowMax { x, .. } | Part::CausalMax { x, .. } | Part::RowMean { x, .. } => {
			alloc::vec![row(*x)]
		}
		Part::RowLogSum { x, max, .. } | Part::CausalSum { x, max, .. } => {
			alloc::vec![row(*x), same(*max)]
		}
		Part::CausalDot { gradient, p, .. } => alloc::vec![row(*gradient), row(*p)],
		Part::RowDeviation { x, mean, .. } => {
			core::iter::once(row(*x)).chain(mean.map(same)).collect()
		}
		Part::NormGradMean { gradient, weight, .. } => alloc::vec![row(*gradient), row(*weight)],
		Part::NormGradDot { gradient, weight, rows } => {
			let Norm { x, mean, deviation, .. } = *rows;
			let rows = [row(*gradient), row(*weight), row(x), same(deviation)];
			rows.into_iter().chain(mean.map(same)).collect()
		}
		Part::NormWeightGrad { gradient, rows, .. } => {
			let Norm { x, mean, deviation, cols } = *rows;
			let columns = [along(*gradient, cols), along(x, cols), row(deviation)];
			columns.into_iter().chain(mean.map(row)).collect()
		}
		Part::PoolChoice { x, maximum, .. } => alloc::vec![anywhere(*x), same(*maximum)],
		Part::PoolGrad { gradient, choice, .. } => {
			alloc::vec![anywhere(*gradient), anywhere(*choice)]
		}
		Part::RowLogShare { .. }
		| Part::CausalShare { .. }
		| Part::CausalGrad { .. }
		| Part::NormOut { .. }
		| Part::NormGrad { .. } => Vec::new(),
	}
}

/// Returns the most bytes of chunks and hashes that it takes to open what a stretch of so many terms of
/// a part's chain reads; `stored` says how each tensor lies where it is opened. What an element reads
/// before its first term and after its last one comes on top, [`MAX_REST_READS`] numbers at most, and
/// so do the few bytes by which lists are framed.
pub fn stretch_bytes(part: &Part, terms: u64, stored: impl Fn(TensorId) -> Storage) -> u64 {
	reads(part).into_iter().fold(label_bytes(part), |bytes, Read { tensor, reach }| {
		bytes.saturating_add(reach.bytes(terms, stored(tensor)))
	})
}

/// Returns the bytes of the chunk with the label that a chain reads, where it reads one: with at most
/// 2^32 labels.
fn label_bytes(part: &Part) -> u64 {
	match part {
		Part::Whole(kind) if kind.labels().is_some() => opening_bytes(1, 1 << 32),
		_ => 0,
	}
}

/// Most terms of a stretch, whatever they read: what one call computes is bounded too, also of a
/// chain that reads nothing on its way ([`OpKind::Whetstone`]).
pub const MAX_STRETCH: u64 = 1 << 15;

/// Returns the terms of a stretch: the largest power of two, up to [`MAX_STRETCH`], whose openings
/// take at most `bytes` bytes; 1 where a single term takes more. The stretches of a chain begin at its
/// multiples.
pub fn stretch(part: &Part, bytes: u64, stored: impl Fn(TensorId) -> Storage) -> u64 {
	let mut terms = 1u64;
	while terms < MAX_STRETCH && stretch_bytes(part, terms.saturating_mul(2), &stored) <= bytes {
		terms = terms.saturating_mul(2);
	}
	terms
}

/// Returns the number of stretches of the chain of element `index`; 0 where it has no chain.
pub fn stretches(part: &Part, index: u64, bytes: u64, stored: impl Fn(TensorId) -> Storage) -> u64 {
	terms(part, index).div_ceil(stretch(part, bytes, stored))
}
