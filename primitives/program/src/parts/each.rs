//! The last step of operators that are parts already: from what the chain holds, or, where there is
//! no chain, from a few numbers.

use super::{
	element::{Inputs, Moment, PartError},
	rows::{join, label, split, target, token},
	Accumulator,
};
use crate::{
	ops::{Factor, Nano, OpKind, TensorId},
	spec::ONE_NANO,
};
use trainyard_strict::{
	decay, exp, fma, inverse_normal,
	philox::{symmetric, word},
	relu, sqrt,
	whetstone::VARIABLES,
	Soft,
};

/// Returns the variables of a lane of `x`, `[VARIABLES, lanes]`.
pub(super) fn lane<I: Inputs>(
	inputs: &I,
	x: TensorId,
	lanes: u32,
	lane: u64,
) -> Result<[f32; VARIABLES], I::Error> {
	let mut values = [0.0; VARIABLES];
	for (variable, value) in (0u64..).zip(&mut values) {
		*value = inputs.number(x, join(variable, lanes, lane))?;
	}
	Ok(values)
}

/// Returns the factor, from the list or from a tensor.
fn factor_of<I: Inputs>(inputs: &I, factor: Factor) -> Result<f32, I::Error> {
	match factor {
		Factor::Nano(nano) => Ok(nano.to_f32()),
		Factor::Tensor(id) => inputs.number(id, 0),
	}
}

/// Returns the least random word whose element a dropout at this rate keeps: `floor(rate * 2^32)`.
pub fn dropout_threshold(rate: Nano) -> u32 {
	let scaled = (u128::from(rate.0) << 32).checked_div(u128::from(ONE_NANO)).unwrap_or_default();
	u32::try_from(scaled).unwrap_or(u32::MAX)
}

/// Returns element `index` of an operator from what its chain holds.
pub(super) fn finish<I: Inputs>(
	kind: &OpKind,
	index: u64,
	accumulator: &Accumulator,
	moment: &Moment,
	inputs: &I,
) -> Result<f32, I::Error> {
	let number = |tensor: TensorId| inputs.number(tensor, index);
	let factor = |factor: Factor| factor_of(inputs, factor);
	Ok(match *kind {
		OpKind::MatMul { k, .. } | OpKind::BatchMatMul { k, .. } => accumulator.dotted(k.into())?,
		OpKind::Conv2d { window, .. } => accumulator.dotted(window.patch())?,
		OpKind::Conv2dWeightGrad { window, .. } => {
			accumulator.dotted(u64::from(window.images).saturating_mul(window.out_area()))?
		}
		OpKind::Conv2dInputGrad { .. } => match accumulator {
			Accumulator::Dots { sum, .. } => *sum,
			_ => return Err(PartError::WrongAccumulator.into()),
		},
		OpKind::Mean { len, .. } => accumulator.summed(len)? / len as f32,
		OpKind::SumSquares { len, .. } => accumulator.summed(len)?,
		OpKind::SumRows { rows, .. } => accumulator.summed(rows.into())?,
		OpKind::SumChannels { images, area, .. } => {
			accumulator.summed(u64::from(images).saturating_mul(area))?
		}
		OpKind::SquaredLoss { cols, .. } => accumulator.summed(cols.into())? / cols as f32,
		OpKind::Correct { cols, .. } => match *accumulator {
			Accumulator::Largest { at, .. } => target(at.into(), label(inputs, index, cols)?),
			_ => return Err(PartError::WrongAccumulator.into()),
		},
		OpKind::MaxPool2d { .. } => accumulator.maximum()?,
		OpKind::AvgPool2d { window, .. } => accumulator.added()? / window.taps() as f32,
		OpKind::AvgPool2dGrad { .. } | OpKind::EmbeddingGrad { .. } => accumulator.added()?,
		OpKind::Whetstone { lanes, .. } => match accumulator {
			Accumulator::Lane(lane) => {
				let (variable, _) = split(index, lanes);
				let found = usize::try_from(variable).ok().and_then(|at| lane.get(at));
				found.copied().unwrap_or_default()
			}
			_ => return Err(PartError::WrongAccumulator.into()),
		},
		OpKind::AddRow { a, row, cols, .. } => {
			number(a)? + inputs.number(row, split(index, cols).1)?
		}
		OpKind::AddChannel { x, channel, channels, area, .. } => {
			let plane = index / area.max(1);
			number(x)? + inputs.number(channel, split(plane, channels).1)?
		}
		OpKind::Relu { a, .. } => relu(number(a)?),
		OpKind::ReluGrad { gradient, activation, .. } => {
			let g = number(gradient)?;
			if number(activation)? > 0.0 {
				g
			} else {
				0.0
			}
		}
		OpKind::RowLoss { log_p, cols, .. } => {
			let label = label(inputs, index, cols)?;
			-inputs.number(log_p, join(index, cols, label.into()))?
		}
		OpKind::RowLossGrad { log_p, rows, cols, .. } => {
			let (row, col) = split(index, cols);
			let hot = target(col, label(inputs, row, cols)?);
			(exp(number(log_p)?) - hot) / rows as f32
		}
		OpKind::SquaredLossGrad { outputs, rows, cols, .. } => {
			let (row, col) = split(index, cols);
			let d = number(outputs)? - target(col, label(inputs, row, cols)?);
			(d + d) / u64::from(rows).saturating_mul(cols.into()) as f32
		}
		OpKind::Scale { x, factor: by, .. } => factor(by)? * number(x)?,
		OpKind::Decay { x, learning_rate, weight_decay, .. } => {
			decay(factor(learning_rate)?, weight_decay.to_f32()) * number(x)?
		}
		OpKind::MulAdd { x, y, factor: by, negate, .. } => {
			let by = factor(by)?;
			fma(if negate { -by } else { by }, number(x)?, number(y)?)
		}
		OpKind::Ema { average, x, keep, take, .. } => {
			fma(keep.to_f32(), number(average)?, take.to_f32() * number(x)?)
		}
		OpKind::EmaSquare { average, x, keep, take, .. } => {
			let x = number(x)?;
			fma(keep.to_f32(), number(average)?, take.to_f32() * (x * x))
		}
		OpKind::AdamStep { x, m, v, power1, power2, learning_rate, epsilon, .. } => {
			let rest1 = 1.0 - inputs.number(power1, 0)?;
			let rest2 = 1.0 - inputs.number(power2, 0)?;
			let step = (number(m)? / rest1) / (sqrt(number(v)? / rest2) + epsilon.to_f32());
			fma(-factor(learning_rate)?, step, number(x)?)
		}
		OpKind::Add { x, y, .. } => number(x)? + number(y)?,
		OpKind::Activation { function, x, .. } => function.apply::<Soft>(number(x)?),
		OpKind::ActivationGrad { function, gradient, at, .. } => {
			function.gradient::<Soft>(number(gradient)?, number(at)?)
		}
		OpKind::SwapAxes { x, a, b, inner, .. } => {
			// Of [outer, b, a, inner]; it stood at [outer, a, b, inner].
			let (rest, column) = split(index, inner);
			let (rest, i) = split(rest, a);
			let (outer, j) = split(rest, b);
			inputs.number(x, join(join(join(outer, a, i), b, j), inner, column))?
		}
		OpKind::Embedding { table, tokens, vocabulary, width, .. } => {
			let (row, col) = split(index, width);
			let token = token(inputs, tokens, row, vocabulary)?;
			inputs.number(table, join(token.into(), width, col))?
		}
		OpKind::Dropout { x, rate, site, .. } => {
			let block = (u64::from(site) << 32).saturating_add(index / 4);
			let x = number(x)?;
			if word(moment.dropout.block(moment.step, block), index) >= dropout_threshold(rate) {
				(1.0 / rate.one_minus().to_f32()) * x
			} else {
				0.0
			}
		}
		OpKind::Noise { x, deviation, .. } => {
			let word = word(moment.noise.block(moment.step, index / 4), index);
			fma(deviation.to_f32(), inverse_normal(symmetric(word)), number(x)?)
		}
		OpKind::ClipFactor { squares, largest } => {
			let (norm, largest) = (sqrt(inputs.number(squares, 0)?), largest.to_f32());
			if norm > largest {
				largest / norm
			} else {
				1.0
			}
		}
		OpKind::LearningRate { schedule } => schedule.at(moment.step),
		// What `expand` takes apart.
		OpKind::LogSoftmax { .. }
		| OpKind::CausalSoftmax { .. }
		| OpKind::CausalSoftmaxGrad { .. }
		| OpKind::LayerNorm { .. }
		| OpKind::LayerNormGrad { .. }
		| OpKind::LayerNormWeightGrad { .. }
		| OpKind::RmsNorm { .. }
		| OpKind::RmsNormGrad { .. }
		| OpKind::RmsNormWeightGrad { .. }
		| OpKind::MaxPool2dGrad { .. } => return Err(PartError::NotAPart.into()),
	})
}
