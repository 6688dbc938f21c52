//! What a decision costs: the numbers that its weight depends on.

use super::{Lowered, Stretch, To};
use crate::case::Refused;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_program::{
	ops::OpKind,
	parts::{self, Part, MAX_REST_READS},
};

/// What is computed once for a term of a chain, or before its first and after its last.
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
pub enum Work {
	/// Nothing.
	None,
	/// A few operations that processors have.
	Plain,
	/// A fused multiply-add, which is emulated where a processor has none.
	Fused,
	/// A block of Philox.
	Random,
	/// A transcendental function.
	Function,
	/// A cycle of [`OpKind::Whetstone`].
	Cycle,
}

/// The numbers that the weight of a decision about a stretch depends on.
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
pub struct Cost {
	/// Parts of the computation: it is lowered and taken apart.
	pub parts: u32,
	/// The most bytes of its openings. They are decoded, and hashed once.
	pub bytes: u64,
	/// The most blake2 hashes on the paths of its tensors.
	pub hashes: u32,
	/// Terms of the chain.
	pub terms: u64,
	/// What is computed for each term.
	pub term: Work,
	/// What is computed beside the terms.
	pub rest: Work,
	/// The most rows whose places the order gives, each some passes of
	/// [`Order::at`](trainyard_program::order::Order::at).
	pub rows: u64,
}

impl Cost {
	/// Returns what it costs to decide about a stretch. Fails with [`Refused::NoSuchPiece`].
	pub fn of(lowered: &Lowered<'_>, piece: &Stretch) -> Result<Self, Refused> {
		let range = piece.range(lowered)?;
		let part = lowered.part_with(piece.result, piece.element)?;
		let terms = range.end.saturating_sub(range.start);
		let labels = match part {
			Part::Whole(kind) => kind.labels(),
			_ => None,
		};
		let inputs: alloc::vec::Vec<_> = part.inputs().into_iter().chain(labels).collect();
		let hashes: u32 = inputs.iter().map(|tensor| lowered.depth(*tensor)).sum();
		let ordered = inputs.iter().filter(|tensor| lowered.is_ordered(**tensor)).count() as u64;
		// Neighbours share a row, but of a column each number is of a row of its own.
		let rows = terms.saturating_add(MAX_REST_READS).saturating_mul(ordered);
		let (term, rest) = work(part);
		let rest = match piece.to {
			To::Element { .. } => rest,
			To::Chain { .. } => Work::None,
		};
		Ok(Self {
			parts: lowered.results(),
			bytes: bytes(lowered, part, terms, inputs.len() as u64),
			hashes,
			terms,
			term,
			rest,
			rows,
		})
	}
}

/// Returns the most bytes of the openings of a stretch of so many terms.
fn bytes(lowered: &Lowered<'_>, part: &Part, terms: u64, tensors: u64) -> u64 {
	let chunks = parts::stretch_bytes(part, terms, |tensor| lowered.storage(tensor));
	let inputs = part.inputs();
	let largest = inputs.iter().map(|tensor| lowered.storage(*tensor).elements).max();
	let rest = parts::opening_bytes(1, largest.unwrap_or_default().max(1 << 32));
	let paths: u64 = inputs.iter().map(|tensor| u64::from(lowered.depth(*tensor)) * 32).sum();
	// A number of a chunk takes 9 bytes at most, and its 1,024 are counted with it.
	let numbers = chunks.div_euclid(1_024).saturating_add(MAX_REST_READS).saturating_mul(9);
	chunks
		.saturating_add(rest.saturating_mul(MAX_REST_READS))
		.saturating_add(paths)
		.saturating_add(numbers)
		.saturating_add(tensors.saturating_mul(TENSOR_BYTES))
		.saturating_add(FRAME_BYTES)
}

/// Bytes of a tensor's opening beside chunks, their numbers, siblings and path: its source with its
/// content, and the lengths of four lists.
const TENSOR_BYTES: u64 = 1 + 4 + 32 + 4 * 4;
/// Bytes of an opening beside its tensors: the variant, an accumulator, four contents, a length.
const FRAME_BYTES: u64 = 1 + 1 + 257 + 129 + 4;

/// Returns what is computed for each term of a part's chain, and beside the terms.
fn work(part: &Part) -> (Work, Work) {
	let (none, plain, fused) = (Work::None, Work::Plain, Work::Fused);
	match part {
		Part::Whole(kind) => match kind {
			OpKind::MatMul { .. }
			| OpKind::BatchMatMul { .. }
			| OpKind::Conv2d { .. }
			| OpKind::Conv2dWeightGrad { .. }
			| OpKind::Conv2dInputGrad { .. } => (fused, plain),
			OpKind::Mean { .. }
			| OpKind::SumSquares { .. }
			| OpKind::SumRows { .. }
			| OpKind::SumChannels { .. }
			| OpKind::SquaredLoss { .. }
			| OpKind::Correct { .. }
			| OpKind::MaxPool2d { .. }
			| OpKind::AvgPool2d { .. }
			| OpKind::AvgPool2dGrad { .. }
			| OpKind::EmbeddingGrad { .. } => (plain, plain),
			OpKind::Whetstone { .. } => (Work::Cycle, plain),
			OpKind::Decay { .. }
			| OpKind::MulAdd { .. }
			| OpKind::Ema { .. }
			| OpKind::EmaSquare { .. }
			| OpKind::AdamStep { .. } => (none, fused),
			OpKind::Activation { .. }
			| OpKind::ActivationGrad { .. }
			| OpKind::RowLossGrad { .. }
			| OpKind::LearningRate { .. }
			| OpKind::Noise { .. } => (none, Work::Function),
			OpKind::Dropout { .. } => (none, Work::Random),
			OpKind::AddRow { .. }
			| OpKind::Relu { .. }
			| OpKind::ReluGrad { .. }
			| OpKind::RowLoss { .. }
			| OpKind::Scale { .. }
			| OpKind::Add { .. }
			| OpKind::SwapAxes { .. }
			| OpKind::AddChannel { .. }
			| OpKind::Embedding { .. }
			| OpKind::SquaredLossGrad { .. }
			| OpKind::ClipFactor { .. } => (none, plain),
			// Taken apart: none of them is a part.
			OpKind::LogSoftmax { .. }
			| OpKind::MaxPool2dGrad { .. }
			| OpKind::LayerNorm { .. }
			| OpKind::LayerNormGrad { .. }
			| OpKind::LayerNormWeightGrad { .. }
			| OpKind::RmsNorm { .. }
			| OpKind::RmsNormGrad { .. }
			| OpKind::RmsNormWeightGrad { .. }
			| OpKind::CausalSoftmax { .. }
			| OpKind::CausalSoftmaxGrad { .. } => (none, none),
		},
		Part::RowLogSum { .. } => (Work::Function, Work::Function),
		Part::CausalSum { .. } => (Work::Function, plain),
		Part::RowMax { .. }
		| Part::CausalMax { .. }
		| Part::CausalDot { .. }
		| Part::RowMean { .. }
		| Part::RowDeviation { .. }
		| Part::NormGradMean { .. }
		| Part::NormGradDot { .. }
		| Part::NormWeightGrad { .. }
		| Part::PoolChoice { .. }
		| Part::PoolGrad { .. } => (plain, plain),
		Part::CausalShare { .. } => (none, Work::Function),
		Part::NormOut { .. } => (none, fused),
		Part::RowLogShare { .. } | Part::CausalGrad { .. } | Part::NormGrad { .. } => (none, plain),
	}
}
