//! The parts.

use crate::ops::{Nano, OpKind, TensorId, Window};
use alloc::vec::Vec;

/// A part of an operator. Every element of its result is one chain and a bounded rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
	/// An operator whose elements are so already. (Not one that [`super::expand`] takes apart.)
	Whole(OpKind),
	/// `out[i] = max of x[i, ..]`, `[rows]` (`strict::max`).
	RowMax {
		/// `[rows, cols]`.
		x: TensorId,
		/// Columns.
		cols: u32,
	},
	/// `out[i] = log(sum over j of exp(x[i, j] - max[i]))`, `[rows]`.
	RowLogSum {
		/// `[rows, cols]`.
		x: TensorId,
		/// `[rows]`: what [`Part::RowMax`] returned.
		max: TensorId,
		/// Columns.
		cols: u32,
	},
	/// `out[i, j] = (x[i, j] - max[i]) - log_sum[i]`.
	RowLogShare {
		/// `[rows, cols]`.
		x: TensorId,
		/// `[rows]`: what [`Part::RowMax`] returned.
		max: TensorId,
		/// `[rows]`: what [`Part::RowLogSum`] returned.
		log_sum: TensorId,
		/// Columns.
		cols: u32,
	},
	/// `out[b, i] = max over j <= i of factor * x[b, i, j]`, `[batch, size]`, with
	/// `factor = 1 / sqrt(depth)`.
	CausalMax {
		/// `[batch, size, size]`.
		x: TensorId,
		/// Rows and columns of each matrix.
		size: u32,
		/// Length of the dot products that made the scores.
		depth: u32,
	},
	/// `out[b, i] = sum over j <= i of exp(factor * x[b, i, j] - max[b, i])`, `[batch, size]`.
	CausalSum {
		/// `[batch, size, size]`.
		x: TensorId,
		/// `[batch, size]`: what [`Part::CausalMax`] returned.
		max: TensorId,
		/// Rows and columns of each matrix.
		size: u32,
		/// As in [`Part::CausalMax`].
		depth: u32,
	},
	/// `out[b, i, j] = exp(factor * x[b, i, j] - max[b, i]) / sum[b, i]` where `j <= i`, otherwise
	/// `+0`.
	CausalShare {
		/// `[batch, size, size]`.
		x: TensorId,
		/// `[batch, size]`: what [`Part::CausalMax`] returned.
		max: TensorId,
		/// `[batch, size]`: what [`Part::CausalSum`] returned.
		sum: TensorId,
		/// Rows and columns of each matrix.
		size: u32,
		/// As in [`Part::CausalMax`].
		depth: u32,
	},
	/// `out[b, i] = sum over j <= i of gradient[b, i, j] * p[b, i, j]`, `[batch, size]`.
	CausalDot {
		/// `[batch, size, size]`.
		gradient: TensorId,
		/// `[batch, size, size]`: what [`OpKind::CausalSoftmax`] returned.
		p: TensorId,
		/// Rows and columns of each matrix.
		size: u32,
	},
	/// `out[b, i, j] = factor * (p * (gradient - dot[b, i]))` where `j <= i`, otherwise `+0`.
	CausalGrad {
		/// `[batch, size, size]`.
		gradient: TensorId,
		/// `[batch, size, size]`: what [`OpKind::CausalSoftmax`] returned.
		p: TensorId,
		/// `[batch, size]`: what [`Part::CausalDot`] returned.
		dot: TensorId,
		/// Rows and columns of each matrix.
		size: u32,
		/// As in [`Part::CausalMax`].
		depth: u32,
	},
	/// `out[i] = sum of x[i, ..] / cols`, `[rows]`.
	RowMean {
		/// `[rows, cols]`.
		x: TensorId,
		/// Columns.
		cols: u32,
	},
	/// `out[i] = sqrt(sum over j of d * d / cols + epsilon)`, `[rows]`, with `d = x[i, j] - mean[i]`,
	/// or `x[i, j]` where there is no mean.
	RowDeviation {
		/// `[rows, cols]`.
		x: TensorId,
		/// `[rows]`: what [`Part::RowMean`] returned.
		mean: Option<TensorId>,
		/// Epsilon.
		epsilon: Nano,
		/// Columns.
		cols: u32,
	},
	/// `out[i, j] = fma((x[i, j] - mean[i]) / deviation[i], weight[j], bias[j])`; without mean and
	/// bias, `x[i, j] / deviation[i] * weight[j]`.
	NormOut {
		/// The rows and their norms.
		rows: Norm,
		/// `[cols]`.
		weight: TensorId,
		/// `[cols]`; there is one where there is a mean.
		bias: Option<TensorId>,
	},
	/// `out[i] = sum over j of q / cols`, `[rows]`, with `q = gradient[i, j] * weight[j]`.
	NormGradMean {
		/// `[rows, cols]`.
		gradient: TensorId,
		/// `[cols]`.
		weight: TensorId,
		/// Columns.
		cols: u32,
	},
	/// `out[i] = sum over j of (q * h) / cols`, `[rows]`, with `q = gradient[i, j] * weight[j]` and
	/// `h` the normalised element.
	NormGradDot {
		/// `[rows, cols]`.
		gradient: TensorId,
		/// `[cols]`.
		weight: TensorId,
		/// The rows and their norms.
		rows: Norm,
	},
	/// `out[i, j] = ((q - a[i]) - h * b[i]) / deviation[i]`, with `q` and `h` as in
	/// [`Part::NormGradDot`]; without `a`, `(q - h * b[i]) / deviation[i]`.
	NormGrad {
		/// `[rows, cols]`.
		gradient: TensorId,
		/// `[cols]`.
		weight: TensorId,
		/// The rows and their norms.
		rows: Norm,
		/// `[rows]`: what [`Part::NormGradMean`] returned.
		a: Option<TensorId>,
		/// `[rows]`: what [`Part::NormGradDot`] returned.
		b: TensorId,
	},
	/// `out[j] = sum over i of gradient[i, j] * h[i, j]`, `[cols]`, with `h` the normalised element.
	NormWeightGrad {
		/// `[rows, cols]`.
		gradient: TensorId,
		/// The rows and their norms.
		rows: Norm,
		/// Number of rows.
		count: u32,
	},
	/// The number, from 1 and row by row, of the first place of each window whose element equals its
	/// maximum (`0` equals `-0`); `+0` where none does. `[images, channels, out height, out width]`.
	PoolChoice {
		/// What the pooling read.
		x: TensorId,
		/// What the pooling returned.
		maximum: TensorId,
		/// The windows.
		window: Window,
	},
	/// Gradient of [`OpKind::MaxPool2d`]: from `+0`, the gradients of the windows that chose this
	/// place are added, in the order (row, column).
	PoolGrad {
		/// `[images, channels, out height, out width]`.
		gradient: TensorId,
		/// What [`Part::PoolChoice`] returned.
		choice: TensorId,
		/// The windows.
		window: Window,
	},
}

/// Rows, and by what a norm normalises them: `h[i, j] = (x[i, j] - mean[i]) / deviation[i]`, or
/// `x[i, j] / deviation[i]` where there is no mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Norm {
	/// `[rows, cols]`.
	pub x: TensorId,
	/// `[rows]`: what [`Part::RowMean`] returned.
	pub mean: Option<TensorId>,
	/// `[rows]`: what [`Part::RowDeviation`] returned.
	pub deviation: TensorId,
	/// Columns.
	pub cols: u32,
}

impl Norm {
	fn inputs(&self) -> impl Iterator<Item = TensorId> {
		[Some(self.x), self.mean, Some(self.deviation)].into_iter().flatten()
	}
}

impl Part {
	/// Returns the tensors of numbers that it reads. Labels are not among them.
	pub fn inputs(&self) -> Vec<TensorId> {
		match self {
			Part::Whole(kind) => {
				let labels = kind.labels();
				kind.inputs().into_iter().filter(|id| Some(*id) != labels).collect()
			}
			Part::RowMax { x, .. } | Part::CausalMax { x, .. } | Part::RowMean { x, .. } => {
				alloc::vec![*x]
			}
			Part::RowLogSum { x, max, .. } | Part::CausalSum { x, max, .. } => {
				alloc::vec![*x, *max]
			}
			Part::RowLogShare { x, max, log_sum, .. } => alloc::vec![*x, *max, *log_sum],
			Part::CausalShare { x, max, sum, .. } => alloc::vec![*x, *max, *sum],
			Part::CausalDot { gradient, p, .. } => alloc::vec![*gradient, *p],
			Part::CausalGrad { gradient, p, dot, .. } => alloc::vec![*gradient, *p, *dot],
			Part::RowDeviation { x, mean, .. } => core::iter::once(*x).chain(*mean).collect(),
			Part::NormOut { rows, weight, bias } => {
				rows.inputs().chain([*weight]).chain(*bias).collect()
			}
			Part::NormGradMean { gradient, weight, .. } => alloc::vec![*gradient, *weight],
			Part::NormGradDot { gradient, weight, rows } => {
				[*gradient, *weight].into_iter().chain(rows.inputs()).collect()
			}
			Part::NormGrad { gradient, weight, rows, a, b } => [*gradient, *weight]
				.into_iter()
				.chain(rows.inputs())
				.chain(*a)
				.chain([*b])
				.collect(),
			Part::NormWeightGrad { gradient, rows, .. } => {
				core::iter::once(*gradient).chain(rows.inputs()).collect()
			}
			Part::PoolChoice { x, maximum, .. } => alloc::vec![*x, *maximum],
			Part::PoolGrad { gradient, choice, .. } => alloc::vec![*gradient, *choice],
		}
	}
}
