//! The operators of the program as candle custom operators ([`custom`]), without gradients: the
//! program has its own.
//!
//! Operands may lie in memory in any way: products read them where they lie if strides can describe
//! their [`layout`], and all others copy what has gaps or a different order.

mod custom;
mod layout;
#[cfg(test)]
mod tests;

use super::{
	kernels::{
		activations, attention, axes,
		elementwise::{add_row, map1, map2, map3, Add, Relu, ReluGrad, Scale},
		embedding,
		images::{channels, conv, pool},
		loss, norm,
		optimizer::{AdamStep, Ema, EmaSquare, MulAdd},
		random, reduce, whetstone, Isa,
	},
	EngineError,
};
use candle_core::{Device, Tensor};
use custom::{binary, labelled, ternary, unary, Product};
use trainyard_program::{
	ops::{Factor, OpKind, TensorId},
	reference::StepContext,
};
use trainyard_strict as strict;

/// Computes the result of the operator `kind` at `moment`, of the `shape` that the program
/// declares.
pub fn apply<'a>(
	isa: Isa,
	kind: &OpKind,
	moment: StepContext,
	shape: &[usize],
	read: impl Fn(TensorId) -> Result<&'a Tensor, EngineError>,
) -> Result<Tensor, EngineError> {
	let number = |factor: Factor| -> Result<f32, EngineError> {
		match factor {
			Factor::Nano(nano) => Ok(nano.to_f32()),
			Factor::Tensor(id) => {
				let values = read(id)?.flatten_all()?.to_vec1::<f32>()?;
				Ok(values.first().copied().unwrap_or_default())
			}
		}
	};
	let two = |x, y| -> Result<[&'a Tensor; 2], EngineError> { Ok([read(x)?, read(y)?]) };
	let three =
		|x, y, z| -> Result<[&'a Tensor; 3], EngineError> { Ok([read(x)?, read(y)?, read(z)?]) };
	let out = match *kind {
		OpKind::MatMul { a, b, transpose_a, transpose_b, m, n, k } => {
			let (name, transposed) = ("strict-matmul", [transpose_a, transpose_b]);
			let extents = [m, n, k].map(|extent| extent as usize);
			let op = Product { name, isa, transposed, batch: 1, extents, shape };
			read(a)?.apply_op2_no_bwd(read(b)?, &op)
		}
		OpKind::BatchMatMul { a, b, transpose_a, transpose_b, batch, m, n, k } => {
			let (name, transposed) = ("strict-batch-matmul", [transpose_a, transpose_b]);
			let (batch, extents) = (batch as usize, [m, n, k].map(|extent| extent as usize));
			let op = Product { name, isa, transposed, batch, extents, shape };
			read(a)?.apply_op2_no_bwd(read(b)?, &op)
		}
		OpKind::Add { x, y, .. } => {
			binary("strict-add", shape, two(x, y)?, |x, y| map2(isa, Add, x, y))
		}
		OpKind::AddRow { a, row, .. } => {
			binary("strict-add-row", shape, two(a, row)?, |a, row| add_row(isa, a, row))
		}
		OpKind::AddChannel { x, channel, area, .. } => {
			binary("strict-add-channel", shape, two(x, channel)?, |x, channel| {
				channels::add_channel(isa, x, channel, area as usize)
			})
		}
		OpKind::SwapAxes { x, a, b, inner, .. } => {
			let [a, b, inner] = [a, b, inner].map(|extent| extent as usize);
			unary("strict-swap-axes", shape, read(x)?, |x| axes::swap_axes(x, a, b, inner))
		}

		OpKind::Relu { a, .. } => unary("strict-relu", shape, read(a)?, |x| map1(isa, Relu, x)),
		OpKind::ReluGrad { gradient, activation, .. } => {
			binary("strict-relu-grad", shape, two(gradient, activation)?, |g, a| {
				map2(isa, ReluGrad, g, a)
			})
		}
		OpKind::Activation { function, x, .. } => {
			unary("strict-activation", shape, read(x)?, |x| {
				activations::activation(isa, function, x)
			})
		}
		OpKind::ActivationGrad { function, gradient, at, .. } => {
			binary("strict-activation-grad", shape, two(gradient, at)?, |g, at| {
				activations::activation_grad(isa, function, g, at)
			})
		}

		OpKind::Conv2d { x, weight, window: w, filters } => {
			binary("strict-conv2d", shape, two(x, weight)?, |x, weight| {
				conv::conv(isa, &w, filters, x, weight)
			})
		}
		OpKind::Conv2dWeightGrad { gradient, x, window: w, filters } => {
			binary("strict-conv2d-weight-grad", shape, two(gradient, x)?, |g, x| {
				conv::conv_weight_grad(isa, &w, filters, g, x)
			})
		}
		OpKind::Conv2dInputGrad { gradient, weight, window: w, filters } => {
			binary("strict-conv2d-input-grad", shape, two(gradient, weight)?, |g, weight| {
				conv::conv_input_grad(isa, &w, filters, g, weight)
			})
		}
		OpKind::MaxPool2d { x, window: w } => {
			unary("strict-max-pool2d", shape, read(x)?, |x| pool::max_pool(isa, &w, x))
		}
		OpKind::MaxPool2dGrad { gradient, x, maximum, window: w } => {
			ternary("strict-max-pool2d-grad", shape, three(gradient, x, maximum)?, |g, x, max| {
				pool::max_pool_grad(isa, &w, g, x, max)
			})
		}
		OpKind::AvgPool2d { x, window: w } => {
			unary("strict-avg-pool2d", shape, read(x)?, |x| pool::avg_pool(isa, &w, x))
		}
		OpKind::AvgPool2dGrad { gradient, window: w } => {
			unary("strict-avg-pool2d-grad", shape, read(gradient)?, |g| {
				pool::avg_pool_grad(isa, &w, g)
			})
		}

		OpKind::LayerNorm { x, weight, bias, epsilon, .. } => {
			ternary("strict-layer-norm", shape, three(x, weight, bias)?, |x, weight, bias| {
				norm::layer_norm(isa, x, weight, bias, epsilon.to_f32())
			})
		}
		OpKind::LayerNormGrad { gradient, x, weight, epsilon, .. } => {
			let operands = three(gradient, x, weight)?;
			ternary("strict-layer-norm-grad", shape, operands, |g, x, weight| {
				norm::layer_norm_grad(isa, g, x, weight, epsilon.to_f32())
			})
		}
		OpKind::LayerNormWeightGrad { gradient, x, epsilon, cols, .. } => {
			binary("strict-layer-norm-weight-grad", shape, two(gradient, x)?, |g, x| {
				norm::layer_norm_weight_grad(isa, g, x, epsilon.to_f32(), cols as usize)
			})
		}
		OpKind::RmsNorm { x, weight, epsilon, .. } => {
			binary("strict-rms-norm", shape, two(x, weight)?, |x, weight| {
				norm::rms_norm(isa, x, weight, epsilon.to_f32())
			})
		}
		OpKind::RmsNormGrad { gradient, x, weight, epsilon, .. } => {
			let operands = three(gradient, x, weight)?;
			ternary("strict-rms-norm-grad", shape, operands, |g, x, weight| {
				norm::rms_norm_grad(isa, g, x, weight, epsilon.to_f32())
			})
		}
		OpKind::RmsNormWeightGrad { gradient, x, epsilon, cols, .. } => {
			binary("strict-rms-norm-weight-grad", shape, two(gradient, x)?, |g, x| {
				norm::rms_norm_weight_grad(isa, g, x, epsilon.to_f32(), cols as usize)
			})
		}
		OpKind::Embedding { table, tokens, vocabulary, width, .. } => {
			let tokens = tokens_of(read(tokens)?, vocabulary)?;
			unary("strict-embedding", shape, read(table)?, |table| {
				embedding::embedding(table, &tokens, width as usize)
			})
		}
		OpKind::EmbeddingGrad { gradient, tokens, vocabulary, width, .. } => {
			let tokens = tokens_of(read(tokens)?, vocabulary)?;
			let (rows, width) = (vocabulary as usize, width as usize);
			unary("strict-embedding-grad", shape, read(gradient)?, |g| {
				embedding::embedding_grad(isa, g, &tokens, rows, width)
			})
		}
		OpKind::CausalSoftmax { x, size, depth, .. } => {
			unary("strict-causal-softmax", shape, read(x)?, |x| {
				attention::causal_softmax(isa, x, size as usize, depth)
			})
		}
		OpKind::CausalSoftmaxGrad { gradient, p, size, depth, .. } => {
			binary("strict-causal-softmax-grad", shape, two(gradient, p)?, |g, p| {
				attention::causal_softmax_grad(isa, g, p, size as usize, depth)
			})
		}
		OpKind::Dropout { x, rate, site, .. } => unary("strict-dropout", shape, read(x)?, |x| {
			random::dropout(isa, x, moment, rate, site)
		}),
		OpKind::Noise { x, deviation, .. } => {
			unary("strict-noise", shape, read(x)?, |x| random::noise(isa, x, moment, deviation))
		}

		OpKind::Whetstone { x, cycles, .. } => {
			unary("strict-whetstone", shape, read(x)?, |x| whetstone::cycles(isa, x, cycles))
		}

		OpKind::LogSoftmax { logits, cols, .. } => {
			unary("strict-log-softmax", shape, read(logits)?, |x| {
				loss::log_softmax(isa, x, cols as usize)
			})
		}
		OpKind::RowLoss { log_p, labels, cols, .. } => {
			labelled("strict-row-loss", shape, two(log_p, labels)?, |x, y| {
				loss::row_loss(x, y, cols as usize)
			})
		}
		OpKind::RowLossGrad { log_p, labels, cols, .. } => {
			labelled("strict-row-loss-grad", shape, two(log_p, labels)?, |x, y| {
				loss::row_loss_grad(isa, x, y, cols as usize)
			})
		}
		OpKind::SquaredLoss { outputs, labels, cols, .. } => {
			labelled("strict-squared-loss", shape, two(outputs, labels)?, |x, y| {
				loss::squared_loss(isa, x, y, cols as usize)
			})
		}
		OpKind::SquaredLossGrad { outputs, labels, cols, .. } => {
			labelled("strict-squared-loss-grad", shape, two(outputs, labels)?, |x, y| {
				loss::squared_loss_grad(isa, x, y, cols as usize)
			})
		}
		OpKind::Correct { logits, labels, cols, .. } => {
			labelled("strict-correct", shape, two(logits, labels)?, |x, y| {
				loss::correct(x, y, cols as usize)
			})
		}

		OpKind::Mean { a, len } => {
			unary("strict-mean", shape, read(a)?, |x| vec![reduce::sum(isa, x) / len as f32])
		}
		OpKind::SumRows { a, cols, .. } => {
			unary("strict-sum-rows", shape, read(a)?, |x| reduce::sum_rows(isa, x, cols as usize))
		}
		OpKind::SumChannels { x, channels: count, area, .. } => {
			unary("strict-sum-channels", shape, read(x)?, |x| {
				channels::sum_channels(isa, x, count as usize, area as usize)
			})
		}
		OpKind::SumSquares { x, .. } => {
			unary("strict-sum-squares", shape, read(x)?, |x| vec![reduce::sum_squares(isa, x)])
		}

		OpKind::ClipFactor { squares, largest } => {
			let (norm, largest) = (number(Factor::Tensor(squares))?.sqrt(), largest.to_f32());
			let factor = if norm > largest { largest / norm } else { 1.0 };
			Tensor::from_slice(&[factor], shape, &Device::Cpu)
		}
		OpKind::LearningRate { schedule } => {
			Tensor::from_slice(&[schedule.at(moment.step)], shape, &Device::Cpu)
		}
		OpKind::Scale { x, factor, .. } => {
			let factor = number(factor)?;
			unary("strict-scale", shape, read(x)?, |x| map1(isa, Scale(factor), x))
		}
		OpKind::Decay { x, learning_rate, weight_decay, .. } => {
			let factor = strict::decay(number(learning_rate)?, weight_decay.to_f32());
			unary("strict-decay", shape, read(x)?, |x| map1(isa, Scale(factor), x))
		}
		OpKind::MulAdd { x, y, factor, negate, .. } => {
			let factor = number(factor)?;
			let f = MulAdd(if negate { -factor } else { factor });
			binary("strict-mul-add", shape, two(x, y)?, |x, y| map2(isa, f, x, y))
		}
		OpKind::Ema { average, x, keep, take, .. } => {
			let f = Ema { keep: keep.to_f32(), take: take.to_f32() };
			binary("strict-ema", shape, two(average, x)?, |a, x| map2(isa, f, a, x))
		}
		OpKind::EmaSquare { average, x, keep, take, .. } => {
			let f = EmaSquare { keep: keep.to_f32(), take: take.to_f32() };
			binary("strict-ema-square", shape, two(average, x)?, |a, x| map2(isa, f, a, x))
		}
		OpKind::AdamStep { x, m, v, power1, power2, learning_rate, epsilon, .. } => {
			let rest = |power| number(Factor::Tensor(power)).map(|power| 1.0 - power);
			let step = AdamStep {
				minus_learning_rate: -number(learning_rate)?,
				rest1: rest(power1)?,
				rest2: rest(power2)?,
				epsilon: epsilon.to_f32(),
			};
			ternary("strict-adam-step", shape, three(x, m, v)?, |x, m, v| map3(isa, step, x, m, v))
		}
	};
	Ok(out?)
}

/// Returns the tokens that a tensor holds as numbers.
fn tokens_of(tensor: &Tensor, vocabulary: u32) -> Result<Vec<usize>, EngineError> {
	let numbers = tensor.flatten_all()?.to_vec1::<f32>()?;
	embedding::tokens(&numbers, vocabulary).map_err(EngineError::Operator)
}
