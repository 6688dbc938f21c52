//! Chains and rests over rows: products of matrices, sums, softmaxes, norms.

use super::{
	element::{Inputs, PartError},
	kind::{Norm, Part},
	Accumulator,
};
use crate::ops::{OpKind, TensorId};
use core::ops::Range;
use trainyard_strict::{exp, fma, log, sqrt, whetstone, Soft};

/// Returns row and column of element `index` of `[rows, cols]`.
pub(super) fn split(index: u64, cols: u32) -> (u64, u64) {
	let cols = u64::from(cols).max(1);
	(index / cols, index % cols)
}

/// Returns the index of element `(row, col)` of `[rows, cols]`.
pub(super) fn join(row: u64, cols: u32, col: u64) -> u64 {
	row.saturating_mul(cols.into()).saturating_add(col)
}

/// Returns `1 / sqrt(depth)`: what scores are multiplied by.
fn score_factor(depth: u32) -> f32 {
	1.0 / sqrt(depth as f32)
}

/// Returns 1 where `col` is the label, otherwise +0.
pub(super) fn target(col: u64, label: u32) -> f32 {
	if col == u64::from(label) {
		1.0
	} else {
		0.0
	}
}

/// Returns label `row`, which must name one of `classes`.
pub(super) fn label<I: Inputs>(inputs: &I, row: u64, classes: u32) -> Result<u32, I::Error> {
	let label = inputs.label(row)?;
	if label < classes {
		Ok(label)
	} else {
		Err(PartError::BadLabel { label, classes }.into())
	}
}

/// Returns token `index`, which must be a whole number below the vocabulary.
pub(super) fn token<I: Inputs>(
	inputs: &I,
	tokens: TensorId,
	index: u64,
	vocabulary: u32,
) -> Result<u32, I::Error> {
	let x = inputs.number(tokens, index)?;
	// The cast saturates, and gives 0 for NaN, which does not equal it.
	let token = x as u32;
	if token as f32 == x && token < vocabulary {
		Ok(token)
	} else {
		Err(PartError::BadToken { index, vocabulary }.into())
	}
}

/// Takes terms of an operator that is one chain.
pub(super) fn advance_whole<I: Inputs>(
	kind: &OpKind,
	index: u64,
	accumulator: &mut Accumulator,
	range: Range<u64>,
	inputs: &I,
) -> Result<(), I::Error> {
	match *kind {
		OpKind::MatMul { a, b, transpose_a, transpose_b, m, n, k } => {
			let at = Product { a, b, transpose_a, transpose_b, m, n, k };
			at.advance(0, index, accumulator, range, inputs)
		}
		OpKind::BatchMatMul { a, b, transpose_a, transpose_b, m, n, k, .. } => {
			let area = u64::from(m).saturating_mul(n.into()).max(1);
			let at = Product { a, b, transpose_a, transpose_b, m, n, k };
			at.advance(index / area, index % area, accumulator, range, inputs)
		}
		OpKind::Mean { a, .. } => accumulator.sum(range, |t| inputs.number(a, t)),
		OpKind::SumSquares { x, .. } => {
			accumulator.sum(range, |t| inputs.number(x, t).map(|x| x * x))
		}
		OpKind::SumRows { a, cols, .. } => {
			accumulator.sum(range, |t| inputs.number(a, join(t, cols, index)))
		}
		OpKind::SquaredLoss { outputs, cols, .. } => {
			let label = label(inputs, index, cols)?;
			accumulator.sum(range, |t| {
				let d = inputs.number(outputs, join(index, cols, t))? - target(t, label);
				Ok(d * d)
			})
		}
		OpKind::Correct { logits, cols, .. } => {
			accumulator.largest(range, |t| inputs.number(logits, join(index, cols, t)))
		}
		OpKind::EmbeddingGrad { gradient, tokens, vocabulary, width, .. } => {
			let (entry, col) = split(index, width);
			accumulator.add(range, |t| {
				let token = token(inputs, tokens, t, vocabulary)?;
				let chosen = u64::from(token) == entry;
				chosen.then(|| inputs.number(gradient, join(t, width, col))).transpose()
			})
		}
		OpKind::Whetstone { .. } => {
			let Accumulator::Lane(lane) = accumulator else {
				return Err(PartError::WrongAccumulator.into());
			};
			for _ in range {
				*lane = whetstone::cycle::<Soft>(*lane);
			}
			Ok(())
		}
		_ => Err(PartError::NotAPart.into()),
	}
}

/// A product of matrices, or one of many.
struct Product {
	a: TensorId,
	b: TensorId,
	transpose_a: bool,
	transpose_b: bool,
	m: u32,
	n: u32,
	k: u32,
}

impl Product {
	/// Takes terms of element `index` of product number `batch`.
	fn advance<I: Inputs>(
		&self,
		batch: u64,
		index: u64,
		accumulator: &mut Accumulator,
		range: Range<u64>,
		inputs: &I,
	) -> Result<(), I::Error> {
		let (row, col) = split(index, self.n);
		let first = |rows: u32, cols: u32| {
			batch.saturating_mul(u64::from(rows).saturating_mul(cols.into()))
		};
		let (first_a, first_b) = (first(self.m, self.k), first(self.k, self.n));
		accumulator.dot(range, |t| {
			let a = if self.transpose_a { join(t, self.m, row) } else { join(row, self.k, t) };
			let b = if self.transpose_b { join(col, self.k, t) } else { join(t, self.n, col) };
			Ok((
				inputs.number(self.a, first_a.saturating_add(a))?,
				inputs.number(self.b, first_b.saturating_add(b))?,
			))
		})
	}
}

impl Norm {
	/// Returns the normalised element `(row, col)`.
	fn normal<I: Inputs>(&self, inputs: &I, row: u64, col: u64) -> Result<f32, I::Error> {
		let x = inputs.number(self.x, join(row, self.cols, col))?;
		let s = inputs.number(self.deviation, row)?;
		Ok(less_mean(inputs, x, self.mean, row)? / s)
	}
}

/// Returns `x` less the mean of its row, where there is one.
fn less_mean<I: Inputs>(
	inputs: &I,
	x: f32,
	mean: Option<TensorId>,
	row: u64,
) -> Result<f32, I::Error> {
	match mean {
		Some(mean) => Ok(x - inputs.number(mean, row)?),
		None => Ok(x),
	}
}

/// Takes terms of a part that is not a whole operator.
pub(super) fn advance<I: Inputs>(
	part: &Part,
	index: u64,
	accumulator: &mut Accumulator,
	range: Range<u64>,
	inputs: &I,
) -> Result<(), I::Error> {
	match *part {
		Part::RowMax { x, cols } => {
			accumulator.max(range, |t| inputs.number(x, join(index, cols, t)))
		}
		Part::RowLogSum { x, max, cols } => {
			let m = inputs.number(max, index)?;
			accumulator.sum(range, |t| Ok(exp(inputs.number(x, join(index, cols, t))? - m)))
		}
		Part::CausalMax { x, size, depth } => {
			let factor = score_factor(depth);
			accumulator.max(range, |t| Ok(factor * inputs.number(x, join(index, size, t))?))
		}
		Part::CausalSum { x, max, size, depth } => {
			let (factor, m) = (score_factor(depth), inputs.number(max, index)?);
			accumulator
				.sum(range, |t| Ok(exp(factor * inputs.number(x, join(index, size, t))? - m)))
		}
		Part::CausalDot { gradient, p, size } => accumulator.sum(range, |t| {
			let at = join(index, size, t);
			Ok(inputs.number(gradient, at)? * inputs.number(p, at)?)
		}),
		Part::RowMean { x, cols } => {
			accumulator.sum(range, |t| inputs.number(x, join(index, cols, t)))
		}
		Part::RowDeviation { x, mean, cols, .. } => accumulator.sum(range, |t| {
			let x = inputs.number(x, join(index, cols, t))?;
			let d = less_mean(inputs, x, mean, index)?;
			Ok(d * d)
		}),
		Part::NormGradMean { gradient, weight, cols } => accumulator.sum(range, |t| {
			Ok(inputs.number(gradient, join(index, cols, t))? * inputs.number(weight, t)?)
		}),
		Part::NormGradDot { gradient, weight, rows } => accumulator.sum(range, |t| {
			let g = inputs.number(gradient, join(index, rows.cols, t))?;
			let q = g * inputs.number(weight, t)?;
			Ok(q * rows.normal(inputs, index, t)?)
		}),
		Part::NormWeightGrad { gradient, rows, .. } => accumulator.sum(range, |t| {
			let g = inputs.number(gradient, join(t, rows.cols, index))?;
			Ok(g * rows.normal(inputs, t, index)?)
		}),
		_ => Err(PartError::NotAPart.into()),
	}
}

/// Returns element `index` of a part that is not a whole operator.
pub(super) fn finish<I: Inputs>(
	part: &Part,
	index: u64,
	accumulator: &Accumulator,
	inputs: &I,
) -> Result<f32, I::Error> {
	let number = |tensor: TensorId, at: u64| inputs.number(tensor, at);
	Ok(match *part {
		Part::RowMax { .. } | Part::CausalMax { .. } => accumulator.maximum()?,
		Part::RowLogSum { cols, .. } => log(accumulator.summed(cols.into())?),
		Part::RowLogShare { x, max, log_sum, cols } => {
			let (row, _) = split(index, cols);
			(number(x, index)? - number(max, row)?) - number(log_sum, row)?
		}
		Part::CausalSum { size, .. } | Part::CausalDot { size, .. } => {
			accumulator.summed(split(index, size).1.saturating_add(1))?
		}
		Part::CausalShare { x, max, sum, size, depth } => match seen(index, size) {
			None => 0.0,
			Some(row) => {
				let s = score_factor(depth) * number(x, index)?;
				exp(s - number(max, row)?) / number(sum, row)?
			}
		},
		Part::CausalGrad { gradient, p, dot, size, depth } => match seen(index, size) {
			None => 0.0,
			Some(row) => {
				let less = number(gradient, index)? - number(dot, row)?;
				score_factor(depth) * (number(p, index)? * less)
			}
		},
		Part::RowMean { cols, .. } | Part::NormGradMean { cols, .. } => {
			accumulator.summed(cols.into())? / cols as f32
		}
		Part::NormGradDot { rows, .. } => accumulator.summed(rows.cols.into())? / rows.cols as f32,
		Part::RowDeviation { epsilon, cols, .. } => {
			sqrt(accumulator.summed(cols.into())? / cols as f32 + epsilon.to_f32())
		}
		Part::NormOut { rows, weight, bias } => {
			let (row, col) = split(index, rows.cols);
			let (h, w) = (rows.normal(inputs, row, col)?, number(weight, col)?);
			match bias {
				Some(bias) => fma(h, w, number(bias, col)?),
				None => h * w,
			}
		}
		Part::NormGrad { gradient, weight, rows, a, b } => {
			let (row, col) = split(index, rows.cols);
			let q = number(gradient, index)? * number(weight, col)?;
			let q = match a {
				Some(a) => q - number(a, row)?,
				None => q,
			};
			let h = rows.normal(inputs, row, col)?;
			(q - h * number(b, row)?) / number(rows.deviation, row)?
		}
		Part::NormWeightGrad { count, .. } => accumulator.summed(count.into())?,
		Part::PoolChoice { .. } => match accumulator {
			Accumulator::First(number) => *number as f32,
			_ => return Err(PartError::WrongAccumulator.into()),
		},
		Part::PoolGrad { .. } => accumulator.added()?,
		Part::Whole(_) => return Err(PartError::NotAPart.into()),
	})
}

/// Returns the row of element `index` of `[batch, size, size]`; none above the diagonal.
fn seen(index: u64, size: u32) -> Option<u64> {
	let (row, col) = split(index, size);
	(col <= split(row, size).1).then_some(row)
}
