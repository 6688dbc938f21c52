//! What a decision costs: the numbers that its weight depends on.

use super::{
	mean, openings::WORD, Committed, Lowered, MeanStretch, StateTensors, StopStretch, Stretch, To,
};
use crate::case::{Case, Refused};
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

/// The numbers that the weight of a decision depends on.
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
	/// Parts of the computation: it is lowered and taken apart. 0 where none is.
	pub parts: u32,
	/// The most bytes of its openings. They are decoded, and hashed once.
	pub bytes: u64,
	/// The most blake2 hashes: leaves, and nodes on paths.
	pub hashes: u64,
	/// Terms of the chain, or labels of a mean.
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
		let hashes =
			inputs.iter().map(|tensor| u64::from(lowered.depth(*tensor)).saturating_add(1));
		let hashes = hashes.fold(0, u64::saturating_add);
		let ordered = inputs.iter().filter(|tensor| lowered.is_ordered(**tensor)).count() as u64;
		// As many rows as runs, of which each is counted with a chunk at least.
		let of_terms =
			parts::reads(part).into_iter().filter(|read| lowered.is_ordered(read.tensor));
		let of_terms = of_terms.map(|read| read.reach.chunks(terms, lowered.storage(read.tensor)));
		let rows = of_terms.fold(MAX_REST_READS.saturating_mul(ordered), u64::saturating_add);
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

	/// Returns what it costs to decide about the end of a computation: its results are hashed into their
	/// root, and the tensors of the state into theirs.
	pub fn of_join(lowered: &Lowered<'_>) -> Self {
		let results = u64::from(lowered.results());
		let state = lowered.state().tensors().len() as u64;
		let bytes = results.saturating_mul(HASH_BYTES).saturating_add(FRAME_BYTES);
		let hashes = results.saturating_add(state).saturating_mul(2);
		Self { parts: lowered.results(), bytes, hashes, ..Self::NOTHING }
	}

	/// Returns what it costs to decide about a stretch of a mean. Fails with
	/// [`Refused::NoSuchPiece`].
	pub fn of_mean(case: &Case, piece: &MeanStretch) -> Result<Self, Refused> {
		let range = piece.range(case)?;
		let depth = depth(case.spec.slices().into());
		let slices = u64::from(range.end.saturating_sub(range.start));
		let labels = mean::labels(case, range);
		let each = depth.saturating_mul(HASH_BYTES).saturating_add(LISTS_BYTES);
		let bytes = labels.saturating_mul(2).saturating_mul(WORD);
		let bytes = bytes.saturating_add(slices.saturating_mul(each)).saturating_add(FRAME_BYTES);
		let hashes = slices.saturating_mul(depth.saturating_add(1));
		Ok(Self { bytes, hashes, terms: labels, term: Work::Plain, ..Self::NOTHING })
	}

	/// Returns what it costs to decide about a stretch of the rule for an early stop. Fails with
	/// [`Refused::NoSuchPiece`].
	pub fn of_stop(result: &Committed, piece: &StopStretch) -> Result<Self, Refused> {
		let range = piece.range(result)?;
		// With the leaf of a training that diverged.
		let depth = depth(u64::from(result.segments).saturating_add(2));
		let checkpoints = u64::from(range.end.saturating_sub(range.start));
		let each = depth.saturating_mul(HASH_BYTES).saturating_add(CHECKPOINT_BYTES);
		let bytes = checkpoints.saturating_mul(each).saturating_add(FRAME_BYTES);
		let hashes = checkpoints.saturating_mul(depth.saturating_add(1));
		Ok(Self { bytes, hashes, terms: checkpoints, term: Work::Plain, ..Self::NOTHING })
	}

	/// Returns what it costs to decide by so many chunks, one by one, of tensors of a state, of a model
	/// or of results of a job with this specification: about an element of the initial state, a number
	/// that is not finite, or a chunk of a file. Where `lowered` is given, it is lowered for it.
	pub fn of_chunks(case: &Case, lowered: Option<&Lowered<'_>>, chunks: u32) -> Self {
		let results = lowered.map_or(0, Lowered::results);
		let tensors = StateTensors::of(&case.spec).tensors().len() as u64;
		let depth = depth(tensors.max(results.into()));
		let each = parts::opening_bytes(1, LARGEST)
			.saturating_add(TENSOR_BYTES)
			.saturating_add(NUMBER_BYTES)
			.saturating_add(depth.saturating_mul(HASH_BYTES));
		let bytes = u64::from(chunks).saturating_mul(each).saturating_add(FRAME_BYTES);
		let hashes = u64::from(chunks).saturating_mul(depth.saturating_add(2));
		Self { parts: results, bytes, hashes, rest: Work::Function, ..Self::NOTHING }
	}

	const NOTHING: Self = Self {
		parts: 0,
		bytes: 0,
		hashes: 0,
		terms: 0,
		term: Work::None,
		rest: Work::None,
		rows: 0,
	};
}

/// Returns the most hashes on the path of one of so many leaves.
fn depth(leaves: u64) -> u64 {
	leaves.checked_next_power_of_two().map_or(u64::BITS, u64::ilog2).into()
}

/// Returns the most bytes of the openings of a stretch of so many terms.
fn bytes(lowered: &Lowered<'_>, part: &Part, terms: u64, tensors: u64) -> u64 {
	let chunks = parts::stretch_bytes(part, terms, |tensor| lowered.storage(tensor));
	let inputs = part.inputs();
	let largest = inputs.iter().map(|tensor| lowered.storage(*tensor).elements).max();
	let rest = parts::opening_bytes(1, largest.unwrap_or_default().max(LARGEST));
	let paths = inputs.iter().map(|tensor| u64::from(lowered.depth(*tensor)));
	let paths = paths.fold(0, u64::saturating_add).saturating_mul(HASH_BYTES);
	// A chunk of the stretch is counted with its 1,024 bytes.
	let numbers = chunks.div_euclid(1_024).saturating_add(MAX_REST_READS);
	chunks
		.saturating_add(rest.saturating_mul(MAX_REST_READS))
		.saturating_add(paths)
		.saturating_add(numbers.saturating_mul(NUMBER_BYTES))
		.saturating_add(tensors.saturating_mul(TENSOR_BYTES))
		.saturating_add(FRAME_BYTES)
}

/// Bytes of a hash.
const HASH_BYTES: u64 = 32;
/// Elements of a content of 2^24 chunks, as large as any that we know.
const LARGEST: u64 = 1 << 32;
/// Most bytes of the number of a chunk.
const NUMBER_BYTES: u64 = 9;
/// Bytes of the lengths of three lists.
const LISTS_BYTES: u64 = 3 * 4;
/// Bytes of a checkpoint with the length of its path.
const CHECKPOINT_BYTES: u64 = 4 + 32 + 12 + 32 + 4;
/// Bytes of a tensor's opening beside chunks, their numbers, siblings and path: its source with its
/// content, and the lengths of four lists.
const TENSOR_BYTES: u64 = 1 + 4 + 32 + 4 * 4;
/// Bytes of an opening beside its tensors: the variant, an accumulator, four contents, a length.
const FRAME_BYTES: u64 = 1 + 1 + 257 + 8 + 129 + 4;

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
