//! What an operator reads, and how much it writes.

use super::{Factor, OpKind, TensorId, Window};
use alloc::vec::Vec;
use trainyard_strict::whetstone::VARIABLES;

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

	/// Returns the number of elements of its result.
	pub fn elements(&self) -> u64 {
		let area = |rows: u32, cols: u32| u64::from(rows).saturating_mul(cols.into());
		let planes = |w: &Window, planes: u32| area(w.images, planes);
		match *self {
			OpKind::MatMul { m, n, .. } => area(m, n),
			OpKind::BatchMatMul { batch, m, n, .. } => area(m, n).saturating_mul(batch.into()),
			OpKind::AddRow { rows, cols, .. }
			| OpKind::LogSoftmax { rows, cols, .. }
			| OpKind::RowLossGrad { rows, cols, .. }
			| OpKind::SquaredLossGrad { rows, cols, .. }
			| OpKind::LayerNorm { rows, cols, .. }
			| OpKind::LayerNormGrad { rows, cols, .. }
			| OpKind::RmsNorm { rows, cols, .. }
			| OpKind::RmsNormGrad { rows, cols, .. } => area(rows, cols),
			OpKind::RowLoss { rows, .. }
			| OpKind::SquaredLoss { rows, .. }
			| OpKind::Correct { rows, .. } => rows.into(),
			OpKind::SumRows { cols, .. }
			| OpKind::LayerNormWeightGrad { cols, .. }
			| OpKind::RmsNormWeightGrad { cols, .. } => cols.into(),
			OpKind::Mean { .. }
			| OpKind::SumSquares { .. }
			| OpKind::ClipFactor { .. }
			| OpKind::LearningRate { .. } => 1,
			OpKind::Relu { len, .. }
			| OpKind::ReluGrad { len, .. }
			| OpKind::Scale { len, .. }
			| OpKind::Decay { len, .. }
			| OpKind::MulAdd { len, .. }
			| OpKind::Ema { len, .. }
			| OpKind::EmaSquare { len, .. }
			| OpKind::AdamStep { len, .. }
			| OpKind::Add { len, .. }
			| OpKind::Activation { len, .. }
			| OpKind::ActivationGrad { len, .. }
			| OpKind::Dropout { len, .. }
			| OpKind::Noise { len, .. } => len,
			OpKind::SwapAxes { outer, a, b, inner, .. } => {
				area(outer, a).saturating_mul(area(b, inner))
			}
			OpKind::Conv2d { window, filters, .. } => {
				planes(&window, filters).saturating_mul(window.out_area())
			}
			OpKind::Conv2dWeightGrad { window, filters, .. } => {
				window.patch().saturating_mul(filters.into())
			}
			OpKind::Conv2dInputGrad { window, .. }
			| OpKind::MaxPool2dGrad { window, .. }
			| OpKind::AvgPool2dGrad { window, .. } => {
				planes(&window, window.channels).saturating_mul(window.area())
			}
			OpKind::MaxPool2d { window, .. } | OpKind::AvgPool2d { window, .. } => {
				planes(&window, window.channels).saturating_mul(window.out_area())
			}
			OpKind::AddChannel { images, channels, area: places, .. } => {
				area(images, channels).saturating_mul(places)
			}
			OpKind::SumChannels { channels, .. } => channels.into(),
			OpKind::Embedding { rows, width, .. } => area(rows, width),
			OpKind::EmbeddingGrad { vocabulary, width, .. } => area(vocabulary, width),
			OpKind::CausalSoftmax { batch, size, .. }
			| OpKind::CausalSoftmaxGrad { batch, size, .. } => area(size, size).saturating_mul(batch.into()),
			OpKind::Whetstone { lanes, .. } => area(VARIABLES as u32, lanes),
		}
	}

	/// Returns the labels that it reads, where it reads them.
	pub fn labels(&self) -> Option<TensorId> {
		match *self {
			OpKind::RowLoss { labels, .. }
			| OpKind::RowLossGrad { labels, .. }
			| OpKind::Correct { labels, .. }
			| OpKind::SquaredLoss { labels, .. }
			| OpKind::SquaredLossGrad { labels, .. } => Some(labels),
			_ => None,
		}
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
