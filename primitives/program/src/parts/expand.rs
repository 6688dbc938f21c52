//! Takes operators apart.

use super::{
	kind::{Norm, Part},
	PartError,
};
use crate::ops::{Nano, OpKind, TensorId};
use alloc::vec::Vec;

/// An operator taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expanded {
	/// What lies between: each tensor's part and number of elements, in the order of their numbers.
	pub between: Vec<(Part, u64)>,
	/// The part that computes the operator's result.
	pub last: Part,
}

impl Expanded {
	fn whole(kind: &OpKind) -> Self {
		Self { between: Vec::new(), last: Part::Whole(kind.clone()) }
	}
}

/// The tensors between the parts of one operator.
struct Between {
	parts: Vec<(Part, u64)>,
	first: TensorId,
}

impl Between {
	/// Adds a part with `len` elements, and returns the number of the tensor that it writes.
	fn push(&mut self, part: Part, len: impl Into<u64>) -> Result<TensorId, PartError> {
		let index = TensorId::try_from(self.parts.len()).map_err(|_| PartError::TooManyTensors)?;
		let id = self.first.checked_add(index).ok_or(PartError::TooManyTensors)?;
		self.parts.push((part, len.into()));
		Ok(id)
	}

	/// Adds mean and deviation of the rows of a layer norm.
	fn layer_norm(&mut self, x: TensorId, norm: NormOf) -> Result<Norm, PartError> {
		let NormOf { epsilon, rows, cols } = norm;
		let mean = Some(self.push(Part::RowMean { x, cols }, rows)?);
		let deviation = self.push(Part::RowDeviation { x, mean, epsilon, cols }, rows)?;
		Ok(Norm { x, mean, deviation, cols })
	}

	/// Adds the root of the mean squares of the rows of an RMS norm.
	fn rms_norm(&mut self, x: TensorId, norm: NormOf) -> Result<Norm, PartError> {
		let NormOf { epsilon, rows, cols } = norm;
		let deviation = self.push(Part::RowDeviation { x, mean: None, epsilon, cols }, rows)?;
		Ok(Norm { x, mean: None, deviation, cols })
	}
}

/// What norms have in common.
#[derive(Clone, Copy)]
struct NormOf {
	epsilon: Nano,
	rows: u32,
	cols: u32,
}

/// Takes an operator apart. The tensors between its parts are numbered from `first` on. Fails
/// where there are not as many numbers.
///
/// The match names every operator: a new one does not compile until somebody has decided whether
/// its elements are one chain and a bounded rest each, or which tensors have to lie between.
pub fn expand(kind: &OpKind, first: TensorId) -> Result<Expanded, PartError> {
	let mut between = Between { parts: Vec::new(), first };
	let last = match *kind {
		OpKind::LogSoftmax { logits: x, rows, cols } => {
			let max = between.push(Part::RowMax { x, cols }, rows)?;
			let log_sum = between.push(Part::RowLogSum { x, max, cols }, rows)?;
			Part::RowLogShare { x, max, log_sum, cols }
		}
		OpKind::CausalSoftmax { x, batch, size, depth } => {
			let rows = u64::from(batch).saturating_mul(u64::from(size));
			let max = between.push(Part::CausalMax { x, size, depth }, rows)?;
			let sum = between.push(Part::CausalSum { x, max, size, depth }, rows)?;
			Part::CausalShare { x, max, sum, size, depth }
		}
		OpKind::CausalSoftmaxGrad { gradient, p, batch, size, depth } => {
			let rows = u64::from(batch).saturating_mul(u64::from(size));
			let dot = between.push(Part::CausalDot { gradient, p, size }, rows)?;
			Part::CausalGrad { gradient, p, dot, size, depth }
		}
		OpKind::LayerNorm { x, weight, bias, epsilon, rows, cols } => {
			let rows = between.layer_norm(x, NormOf { epsilon, rows, cols })?;
			Part::NormOut { rows, weight, bias: Some(bias) }
		}
		OpKind::LayerNormGrad { gradient, x, weight, epsilon, rows: count, cols } => {
			let rows = between.layer_norm(x, NormOf { epsilon, rows: count, cols })?;
			let a = between.push(Part::NormGradMean { gradient, weight, cols }, count)?;
			let b = between.push(Part::NormGradDot { gradient, weight, rows }, count)?;
			Part::NormGrad { gradient, weight, rows, a: Some(a), b }
		}
		OpKind::LayerNormWeightGrad { gradient, x, epsilon, rows: count, cols } => {
			let rows = between.layer_norm(x, NormOf { epsilon, rows: count, cols })?;
			Part::NormWeightGrad { gradient, rows, count }
		}
		OpKind::RmsNorm { x, weight, epsilon, rows, cols } => {
			let rows = between.rms_norm(x, NormOf { epsilon, rows, cols })?;
			Part::NormOut { rows, weight, bias: None }
		}
		OpKind::RmsNormGrad { gradient, x, weight, epsilon, rows: count, cols } => {
			let rows = between.rms_norm(x, NormOf { epsilon, rows: count, cols })?;
			let b = between.push(Part::NormGradDot { gradient, weight, rows }, count)?;
			Part::NormGrad { gradient, weight, rows, a: None, b }
		}
		OpKind::RmsNormWeightGrad { gradient, x, epsilon, rows: count, cols } => {
			let rows = between.rms_norm(x, NormOf { epsilon, rows: count, cols })?;
			Part::NormWeightGrad { gradient, rows, count }
		}
		OpKind::MaxPool2dGrad { gradient, x, maximum, window } => {
			let planes = u64::from(window.images).saturating_mul(u64::from(window.channels));
			let len = planes.saturating_mul(window.out_area());
			let choice = between.push(Part::PoolChoice { x, maximum, window }, len)?;
			Part::PoolGrad { gradient, choice, window }
		}
		OpKind::MatMul { .. }
		| OpKind::AddRow { .. }
		| OpKind::Relu { .. }
		| OpKind::ReluGrad { .. }
		| OpKind::RowLoss { .. }
		| OpKind::RowLossGrad { .. }
		| OpKind::Correct { .. }
		| OpKind::Mean { .. }
		| OpKind::SumRows { .. }
		| OpKind::Scale { .. }
		| OpKind::Decay { .. }
		| OpKind::MulAdd { .. }
		| OpKind::Ema { .. }
		| OpKind::EmaSquare { .. }
		| OpKind::AdamStep { .. }
		| OpKind::Add { .. }
		| OpKind::Activation { .. }
		| OpKind::ActivationGrad { .. }
		| OpKind::BatchMatMul { .. }
		| OpKind::SwapAxes { .. }
		| OpKind::Conv2d { .. }
		| OpKind::Conv2dWeightGrad { .. }
		| OpKind::Conv2dInputGrad { .. }
		| OpKind::AddChannel { .. }
		| OpKind::SumChannels { .. }
		| OpKind::MaxPool2d { .. }
		| OpKind::AvgPool2d { .. }
		| OpKind::AvgPool2dGrad { .. }
		| OpKind::Embedding { .. }
		| OpKind::EmbeddingGrad { .. }
		| OpKind::Dropout { .. }
		| OpKind::Noise { .. }
		| OpKind::SquaredLoss { .. }
		| OpKind::SquaredLossGrad { .. }
		| OpKind::SumSquares { .. }
		| OpKind::ClipFactor { .. }
		| OpKind::Whetstone { .. }
		| OpKind::LearningRate { .. } => return Ok(Expanded::whole(kind)),
	};
	Ok(Expanded { between: between.parts, last })
}
