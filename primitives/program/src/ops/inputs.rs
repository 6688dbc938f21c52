//! What an operator reads.

use super::{Factor, OpKind, TensorId};
use alloc::vec::Vec;

impl OpKind {
	/// Returns the tensors it reads; scalars last.
	pub fn inputs(&self) -> Vec<TensorId> {
		let mut inputs = match *self {
			OpKind::MatMul { a, b, .. } | OpKind::BatchMatMul { a, b, .. } => alloc::vec![a, b],
			OpKind::AddRow { a, row, .. } => alloc::vec![a, row],
			OpKind::ReluGrad { gradient, activation, .. } => alloc::vec![gradient, activation],
			OpKind::Relu { a, .. } | OpKind::Mean { a, .. } | OpKind::SumRows { a, .. } => {
				alloc::vec![a]
			}
			OpKind::LogSoftmax { logits, .. } => alloc::vec![logits],
			OpKind::RowLoss { log_p, labels, .. } | OpKind::RowLossGrad { log_p, labels, .. } => {
				alloc::vec![log_p, labels]
			}
			OpKind::Correct { logits, labels, .. } => alloc::vec![logits, labels],
			OpKind::Scale { x, .. }
			| OpKind::Decay { x, .. }
			| OpKind::Activation { x, .. }
			| OpKind::SwapAxes { x, .. }
			| OpKind::SumChannels { x, .. }
			| OpKind::MaxPool2d { x, .. }
			| OpKind::AvgPool2d { x, .. }
			| OpKind::CausalSoftmax { x, .. }
			| OpKind::Dropout { x, .. }
			| OpKind::Noise { x, .. }
			| OpKind::Whetstone { x, .. }
			| OpKind::SumSquares { x, .. } => alloc::vec![x],
			OpKind::MulAdd { x, y, .. } | OpKind::Add { x, y, .. } => alloc::vec![x, y],
			OpKind::Ema { average, x, .. } | OpKind::EmaSquare { average, x, .. } => {
				alloc::vec![average, x]
			}
			OpKind::AdamStep { x, m, v, power1, power2, .. } => {
				alloc::vec![x, m, v, power1, power2]
			}
			OpKind::ActivationGrad { gradient, at, .. } => alloc::vec![gradient, at],
			OpKind::Conv2d { x, weight, .. } => alloc::vec![x, weight],
			OpKind::Conv2dWeightGrad { gradient, x, .. } => alloc::vec![gradient, x],
			OpKind::Conv2dInputGrad { gradient, weight, .. } => alloc::vec![gradient, weight],
			OpKind::AddChannel { x, channel, .. } => alloc::vec![x, channel],
			OpKind::MaxPool2dGrad { gradient, x, maximum, .. } => {
				alloc::vec![gradient, x, maximum]
			}
			OpKind::AvgPool2dGrad { gradient, .. } => alloc::vec![gradient],
			OpKind::LayerNorm { x, weight, bias, .. } => alloc::vec![x, weight, bias],
			OpKind::LayerNormGrad { gradient, x, weight, .. } => alloc::vec![gradient, x, weight],
			OpKind::LayerNormWeightGrad { gradient, x, .. } => alloc::vec![gradient, x],
			OpKind::RmsNorm { x, weight, .. } => alloc::vec![x, weight],
			OpKind::RmsNormGrad { gradient, x, weight, .. } => alloc::vec![gradient, x, weight],
			OpKind::RmsNormWeightGrad { gradient, x, .. } => alloc::vec![gradient, x],
			OpKind::Embedding { table, tokens, .. } => alloc::vec![table, tokens],
			OpKind::EmbeddingGrad { gradient, tokens, .. } => alloc::vec![gradient, tokens],
			OpKind::CausalSoftmaxGrad { gradient, p, .. } => alloc::vec![gradient, p],
			OpKind::SquaredLoss { outputs, labels, .. }
			| OpKind::SquaredLossGrad { outputs, labels, .. } => alloc::vec![outputs, labels],
			OpKind::ClipFactor { squares, .. } => alloc::vec![squares],
			OpKind::LearningRate { .. } => alloc::vec![],
		};
		inputs.extend(self.factor().and_then(Factor::tensor));
		inputs
	}

	/// Returns the factor that may be a tensor, where it has one.
	pub fn factor(&self) -> Option<Factor> {
		match *self {
			OpKind::Scale { factor, .. } | OpKind::MulAdd { factor, .. } => Some(factor),
			OpKind::Decay { learning_rate, .. } | OpKind::AdamStep { learning_rate, .. } => {
				Some(learning_rate)
			}
			_ => None,
		}
	}
}
