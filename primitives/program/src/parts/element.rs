//! One element of a part.

use super::{each, images, kind::Part, rows, Accumulator};
use crate::{
	ops::{OpKind, TensorId},
	reference::StepContext,
};
use core::{fmt, ops::Range};
use trainyard_strict::philox::{Stream, StreamName};

/// What elements are computed from: numbers and labels by their index, row major.
pub trait Inputs {
	/// Why one cannot be had.
	type Error: From<PartError>;

	/// Returns element `index` of a tensor of numbers.
	fn number(&self, tensor: TensorId, index: u64) -> Result<f32, Self::Error>;

	/// Returns label `index`.
	fn label(&self, index: u64) -> Result<u32, Self::Error>;
}

/// Why an element cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartError {
	/// There are no numbers left for the tensors between parts.
	TooManyTensors,
	/// The part is an operator that has to be taken apart.
	NotAPart,
	/// The chain of the part holds something else than it was given.
	WrongAccumulator,
	/// The chain has no such stretch: its end is before its begin, or after the last term.
	NoSuchTerms,
	/// A token is not a whole number below the vocabulary.
	BadToken {
		/// Where it stands among the tokens.
		index: u64,
		/// Number of tokens there are.
		vocabulary: u32,
	},
	/// A label is not below the number of classes.
	BadLabel {
		/// The label.
		label: u32,
		/// The classes.
		classes: u32,
	},
}

impl fmt::Display for PartError {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			PartError::TooManyTensors => {
				write!(f, "there are no numbers left for the tensors between parts")
			}
			PartError::NotAPart => write!(f, "the operator has to be taken apart first"),
			PartError::WrongAccumulator => {
				write!(f, "the chain of this part holds something else than it was given")
			}
			PartError::NoSuchTerms => write!(f, "the chain has no such stretch of terms"),
			PartError::BadToken { index, vocabulary } => {
				write!(f, "token {index} is not a whole number below the vocabulary {vocabulary}")
			}
			PartError::BadLabel { label, classes } => {
				write!(f, "label {label} is not below the {classes} classes")
			}
		}
	}
}

#[cfg(feature = "std")]
impl std::error::Error for PartError {}

/// When a part is computed, and the random streams of that moment.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
	/// The step, from 0.
	pub step: u32,
	pub(super) dropout: Stream,
	pub(super) noise: Stream,
}

impl From<StepContext> for Moment {
	fn from(at: StepContext) -> Self {
		Self {
			step: at.step,
			dropout: Stream::new(&at.seed.0, StreamName::Dropout),
			noise: Stream::new(&at.seed.0, StreamName::Noise),
		}
	}
}

/// Returns the number of terms of the chain of element `index`; 0 where it has no chain.
pub fn terms(part: &Part, index: u64) -> u64 {
	match part {
		Part::Whole(kind) => match *kind {
			OpKind::MatMul { k, .. } | OpKind::BatchMatMul { k, .. } => k.into(),
			OpKind::Conv2d { window, .. } => window.patch(),
			OpKind::Conv2dWeightGrad { window, .. } => {
				u64::from(window.images).saturating_mul(window.out_area())
			}
			OpKind::Conv2dInputGrad { window, filters, .. } => {
				window.taps().saturating_mul(filters.into())
			}
			OpKind::Mean { len, .. } | OpKind::SumSquares { len, .. } => len,
			OpKind::SumRows { rows, .. } | OpKind::EmbeddingGrad { rows, .. } => rows.into(),
			OpKind::SumChannels { images, area, .. } => u64::from(images).saturating_mul(area),
			OpKind::SquaredLoss { cols, .. } | OpKind::Correct { cols, .. } => cols.into(),
			OpKind::MaxPool2d { window, .. } | OpKind::AvgPool2d { window, .. } => window.taps(),
			OpKind::AvgPool2dGrad { window, .. } => images::covering(&window, index).count(),
			OpKind::Whetstone { cycles, .. } => cycles.into(),
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
			| OpKind::LearningRate { .. } => 0,
		},
		Part::RowMax { cols, .. }
		| Part::RowLogSum { cols, .. }
		| Part::RowMean { cols, .. }
		| Part::RowDeviation { cols, .. }
		| Part::NormGradMean { cols, .. } => (*cols).into(),
		Part::NormGradDot { rows, .. } => rows.cols.into(),
		Part::CausalMax { size, .. }
		| Part::CausalSum { size, .. }
		| Part::CausalDot { size, .. } => rows::split(index, *size).1.saturating_add(1),
		Part::NormWeightGrad { count, .. } => (*count).into(),
		Part::PoolChoice { window, .. } => window.taps(),
		Part::PoolGrad { window, .. } => images::covering(window, index).count(),
		Part::RowLogShare { .. }
		| Part::CausalShare { .. }
		| Part::CausalGrad { .. }
		| Part::NormOut { .. }
		| Part::NormGrad { .. } => 0,
	}
}

/// Returns what the chain of element `index` holds before its first term.
pub fn start<I: Inputs>(part: &Part, index: u64, inputs: &I) -> Result<Accumulator, I::Error> {
	Ok(match part {
		Part::Whole(kind) => match *kind {
			OpKind::MatMul { .. }
			| OpKind::BatchMatMul { .. }
			| OpKind::Conv2d { .. }
			| OpKind::Conv2dWeightGrad { .. } => Accumulator::Dot(Default::default()),
			OpKind::Conv2dInputGrad { .. } => {
				Accumulator::Dots { sum: 0.0, dot: Default::default() }
			}
			OpKind::Mean { .. }
			| OpKind::SumSquares { .. }
			| OpKind::SumRows { .. }
			| OpKind::SumChannels { .. }
			| OpKind::SquaredLoss { .. } => Accumulator::Sum(Default::default()),
			OpKind::EmbeddingGrad { .. }
			| OpKind::AvgPool2d { .. }
			| OpKind::AvgPool2dGrad { .. } => Accumulator::Add(0.0),
			OpKind::MaxPool2d { .. } => Accumulator::Max(f32::NEG_INFINITY),
			OpKind::Correct { .. } => Accumulator::Largest { value: 0.0, at: 0 },
			OpKind::Whetstone { x, lanes, .. } => {
				let (_, lane) = rows::split(index, lanes);
				Accumulator::Lane(each::lane(inputs, x, lanes, lane)?)
			}
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
			| OpKind::LearningRate { .. } => Accumulator::None,
		},
		Part::RowMax { .. } | Part::CausalMax { .. } => Accumulator::Max(f32::NEG_INFINITY),
		Part::RowLogSum { .. }
		| Part::CausalSum { .. }
		| Part::CausalDot { .. }
		| Part::RowMean { .. }
		| Part::RowDeviation { .. }
		| Part::NormGradMean { .. }
		| Part::NormGradDot { .. }
		| Part::NormWeightGrad { .. } => Accumulator::Sum(Default::default()),
		Part::PoolChoice { .. } => Accumulator::First(0),
		Part::PoolGrad { .. } => Accumulator::Add(0.0),
		Part::RowLogShare { .. }
		| Part::CausalShare { .. }
		| Part::CausalGrad { .. }
		| Part::NormOut { .. }
		| Part::NormGrad { .. } => Accumulator::None,
	})
}

/// Takes the terms `range` of the chain of element `index`: those before it have been taken. Fails
/// with [`PartError::NoSuchTerms`] where the chain has not as many. As everywhere here, `index` must be
/// below the number of elements, which the part alone does not know: see [`super::PartOp::len`].
pub fn advance<I: Inputs>(
	part: &Part,
	index: u64,
	accumulator: &mut Accumulator,
	range: Range<u64>,
	inputs: &I,
) -> Result<(), I::Error> {
	if range.start > range.end || range.end > terms(part, index) {
		return Err(PartError::NoSuchTerms.into());
	}
	if range.is_empty() {
		return Ok(());
	}
	match part {
		Part::Whole(
			kind @ (OpKind::Conv2d { .. }
			| OpKind::Conv2dWeightGrad { .. }
			| OpKind::Conv2dInputGrad { .. }
			| OpKind::SumChannels { .. }
			| OpKind::MaxPool2d { .. }
			| OpKind::AvgPool2d { .. }
			| OpKind::AvgPool2dGrad { .. }),
		) => images::advance(kind, index, accumulator, range, inputs),
		Part::PoolChoice { x, maximum, window } => {
			images::choose(window, [*x, *maximum], index, accumulator, range, inputs)
		}
		Part::PoolGrad { gradient, choice, window } => {
			images::chosen(window, [*gradient, *choice], index, accumulator, range, inputs)
		}
		Part::Whole(kind) => rows::advance_whole(kind, index, accumulator, range, inputs),
		_ => rows::advance(part, index, accumulator, range, inputs),
	}
}

/// Returns element `index` from what its chain holds after all its [`terms`].
pub fn finish<I: Inputs>(
	part: &Part,
	index: u64,
	accumulator: &Accumulator,
	moment: &Moment,
	inputs: &I,
) -> Result<f32, I::Error> {
	match part {
		Part::Whole(kind) => each::finish(kind, index, accumulator, moment, inputs),
		_ => rows::finish(part, index, accumulator, inputs),
	}
}

/// Returns element `index` of a part.
pub fn element<I: Inputs>(
	part: &Part,
	index: u64,
	moment: &Moment,
	inputs: &I,
) -> Result<f32, I::Error> {
	let mut accumulator = start(part, index, inputs)?;
	advance(part, index, &mut accumulator, 0..terms(part, index), inputs)?;
	finish(part, index, &accumulator, moment, inputs)
}
