//! Counts the work of an operator.

use super::OpKind;
use trainyard_strict as strict;
use trainyard_strict::{EXP_FLOP, INVERSE_NORMAL_FLOP, LOG_FLOP};

/// Returns the FLOP of a dot product of length `k`: a fused multiply-add (2) each, and one addition
/// for each block after the first.
pub fn dot_flop(k: u64) -> u128 {
	let blocks = u128::from(k.div_ceil(strict::DOT_BLOCK as u64));
	u128::from(k).saturating_mul(2).saturating_add(blocks.saturating_sub(1))
}

/// Returns the FLOP of a strict sum of `n` values: an addition each, 15 to combine the lanes of
/// each block, and the sum of the blocks' results where there are several.
pub fn sum_flop(n: u64) -> u128 {
	let (mut left, mut total) = (n, 0u128);
	loop {
		let blocks = left.div_ceil(strict::SUM_BLOCK as u64);
		total = total
			.saturating_add(u128::from(left))
			.saturating_add(u128::from(blocks).saturating_mul(strict::LANES as u128 - 1));
		if blocks <= 1 {
			return total;
		}
		left = blocks;
	}
}

impl OpKind {
	/// Returns the FLOP of this operator, exact: additions, subtractions, multiplications,
	/// divisions, square roots, comparisons and changes of sign count 1, a fused multiply-add 2,
	/// exp [`EXP_FLOP`], log [`LOG_FLOP`]; reading, writing and what is computed once per operator
	/// count nothing.
	pub fn flop(&self) -> u128 {
		let grid = |rows: &u32, cols: &u32| u128::from(*rows).saturating_mul(u128::from(*cols));
		let each = |len: &u64, flop: u128| u128::from(*len).saturating_mul(flop);
		match self {
			OpKind::MatMul { m, n, k, .. } => grid(m, n).saturating_mul(dot_flop(u64::from(*k))),
			OpKind::AddRow { rows, cols, .. } => grid(rows, cols),
			OpKind::Relu { len, .. } | OpKind::ReluGrad { len, .. } => each(len, 1),
			// Per element a comparison, two subtractions and exp; per row the addition that
			// ends the maximum, the sum, and log.
			OpKind::LogSoftmax { rows, cols, .. } => u128::from(*cols)
				.saturating_mul(EXP_FLOP.saturating_add(3))
				.saturating_add(1)
				.saturating_add(sum_flop(u64::from(*cols)))
				.saturating_add(LOG_FLOP)
				.saturating_mul(u128::from(*rows)),
			OpKind::RowLoss { rows, .. } => u128::from(*rows),
			OpKind::RowLossGrad { rows, cols, .. } => {
				grid(rows, cols).saturating_mul(EXP_FLOP.saturating_add(2))
			}
			OpKind::Correct { rows, cols, .. } => grid(rows, cols),
			OpKind::Mean { len, .. } => sum_flop(*len).saturating_add(1),
			OpKind::SumRows { rows, cols, .. } => {
				u128::from(*cols).saturating_mul(sum_flop(u64::from(*rows)))
			}
			OpKind::Scale { len, .. } | OpKind::Decay { len, .. } => each(len, 1),
			OpKind::MulAdd { len, .. } => each(len, 2),
			OpKind::Ema { len, .. } => each(len, 3),
			OpKind::EmaSquare { len, .. } => each(len, 4),
			// Three divisions, a root, an addition, a fused multiply-add.
			OpKind::AdamStep { len, .. } => each(len, 7),
			OpKind::Add { len, .. } => each(len, 1),
			OpKind::Activation { function, len, .. } => each(len, function.flop()),
			OpKind::ActivationGrad { function, len, .. } => each(len, function.gradient_flop()),
			OpKind::BatchMatMul { batch, m, n, k, .. } => grid(m, n)
				.saturating_mul(dot_flop(u64::from(*k)))
				.saturating_mul(u128::from(*batch)),
			OpKind::SwapAxes { .. } | OpKind::LearningRate { .. } => 0,
			OpKind::Conv2d { window, filters, .. } => grid(&window.images, filters)
				.saturating_mul(u128::from(window.out_area()))
				.saturating_mul(dot_flop(window.patch())),
			OpKind::Conv2dWeightGrad { window, filters, .. } => {
				let windows = window.out_area().saturating_mul(u64::from(window.images));
				dot_flop(windows)
					.saturating_mul(u128::from(*filters))
					.saturating_mul(u128::from(window.patch()))
			}
			// There are as many products as in the convolution; taps in the padding are counted
			// too.
			OpKind::Conv2dInputGrad { window, filters, .. } => u128::from(window.out_area())
				.saturating_mul(u128::from(window.images))
				.saturating_mul(u128::from(window.patch()))
				.saturating_mul(dot_flop(u64::from(*filters)).saturating_add(1)),
			OpKind::AddChannel { images, channels, area, .. } => {
				grid(images, channels).saturating_mul(u128::from(*area))
			}
			OpKind::SumChannels { images, channels, area, .. } => {
				sum_flop(area.saturating_mul(u64::from(*images))).saturating_mul((*channels).into())
			}
			// A comparison for every place, and the addition that ends the maximum, or adds
			// the gradient; an addition for every place, and a division.
			OpKind::MaxPool2d { window, .. }
			| OpKind::MaxPool2dGrad { window, .. }
			| OpKind::AvgPool2d { window, .. }
			| OpKind::AvgPool2dGrad { window, .. } => grid(&window.images, &window.channels)
				.saturating_mul(u128::from(window.out_area()))
				.saturating_mul(u128::from(window.taps()).saturating_add(1)),
			// Of every row m, the differences, s (their squares, a mean, an addition, a root)
			// and h: two sums, 3 for each element and 4; then what each operator does with them.
			OpKind::LayerNorm { rows, cols, .. } => {
				norm_flop(*cols, 2, 3 + 2, 4).saturating_mul(u128::from(*rows))
			}
			OpKind::LayerNormGrad { rows, cols, .. } => {
				norm_flop(*cols, 2 + 2, 3 + 6, 4 + 2).saturating_mul(u128::from(*rows))
			}
			OpKind::LayerNormWeightGrad { rows, cols, .. } => norm_flop(*cols, 2, 3 + 1, 4)
				.saturating_mul(u128::from(*rows))
				.saturating_add(u128::from(*cols).saturating_mul(sum_flop(u64::from(*rows)))),
			// Of every row s (the squares, a mean, an addition, a root) and h: a sum, 2 for each
			// element and 3; then what each operator does with them.
			OpKind::RmsNorm { rows, cols, .. } => {
				norm_flop(*cols, 1, 2 + 1, 3).saturating_mul(u128::from(*rows))
			}
			OpKind::RmsNormGrad { rows, cols, .. } => {
				norm_flop(*cols, 1 + 1, 2 + 5, 3 + 1).saturating_mul(u128::from(*rows))
			}
			OpKind::RmsNormWeightGrad { rows, cols, .. } => norm_flop(*cols, 1, 2 + 1, 3)
				.saturating_mul(u128::from(*rows))
				.saturating_add(u128::from(*cols).saturating_mul(sum_flop(u64::from(*rows)))),
			OpKind::Embedding { .. } => 0,
			OpKind::EmbeddingGrad { rows, width, .. } => grid(rows, width),
			OpKind::CausalSoftmax { batch, size, .. } => {
				// A product, a comparison, a subtraction, exp and a division for each
				// element; the end of the maximum and the sum for each row.
				causal_flop(*size, EXP_FLOP.saturating_add(4), 1).saturating_mul((*batch).into())
			}
			OpKind::CausalSoftmaxGrad { batch, size, .. } => {
				causal_flop(*size, 4, 0).saturating_mul((*batch).into())
			}
			OpKind::Dropout { len, .. } => each(len, 1),
			OpKind::Noise { len, .. } => each(len, INVERSE_NORMAL_FLOP.saturating_add(2)),
			OpKind::SquaredLoss { rows, cols, .. } => sum_flop(u64::from(*cols))
				.saturating_add(u128::from(*cols).saturating_mul(2))
				.saturating_add(1)
				.saturating_mul(u128::from(*rows)),
			OpKind::SquaredLossGrad { rows, cols, .. } => grid(rows, cols).saturating_mul(3),
			OpKind::SumSquares { len, .. } => sum_flop(*len).saturating_add(u128::from(*len)),
			OpKind::Whetstone { lanes, cycles, .. } => {
				grid(lanes, cycles).saturating_mul(strict::whetstone::CYCLE_FLOP)
			}
			// A root, a comparison, a division.
			OpKind::ClipFactor { .. } => 3,
		}
	}
}

/// Returns the FLOP of a row of `cols` elements: `sums` sums, `each` for an element and `row` more.
fn norm_flop(cols: u32, sums: u128, each: u128, row: u128) -> u128 {
	u128::from(cols)
		.saturating_mul(each)
		.saturating_add(sums.saturating_mul(sum_flop(u64::from(cols))))
		.saturating_add(row)
}

/// Returns the FLOP over the lower triangle of a square matrix: `each` for an element, the sum of
/// each row, and `row` for a row.
fn causal_flop(size: u32, each: u128, row: u128) -> u128 {
	let triangle = |n: u128| n.saturating_mul(n.saturating_add(1)) / 2;
	let (n, block) = (u64::from(size), strict::SUM_BLOCK as u64);
	// Sums of equally many blocks cost the same, apart from their terms.
	let blocks = (0..n.div_ceil(block)).fold(0u128, |total, before| {
		let begin = before.saturating_mul(block);
		let end = begin.saturating_add(block).min(n);
		let besides = sum_flop(end).saturating_sub(u128::from(end));
		total.saturating_add(besides.saturating_mul(u128::from(end.saturating_sub(begin))))
	});
	triangle(u128::from(n))
		.saturating_mul(each.saturating_add(1))
		.saturating_add(blocks)
		.saturating_add(u128::from(n).saturating_mul(row))
}

#[cfg(test)]
mod tests {
	use super::{
		super::{Nano, Window},
		*,
	};

	#[test]
	fn dots_and_sums_are_counted_as_defined() {
		assert_eq!(dot_flop(0), 0);
		assert_eq!(dot_flop(1), 2);
		assert_eq!(dot_flop(512), 1_024);
		assert_eq!(dot_flop(513), 1_027);
		assert_eq!(sum_flop(0), 0);
		assert_eq!(sum_flop(1), 16);
		assert_eq!(sum_flop(1_024), 1_039);
		// Two blocks, then their two results.
		assert_eq!(sum_flop(1_025), 1_025 + 30 + 2 + 15);
		// 2^20 values: 1,024 blocks, whose results make one block.
		assert_eq!(sum_flop(1 << 20), (1 << 20) + 1_024 * 15 + 1_024 + 15);
	}

	#[test]
	fn counts_cannot_overflow() {
		let huge = OpKind::MatMul {
			a: 0,
			b: 0,
			transpose_a: false,
			transpose_b: false,
			m: u32::MAX,
			n: u32::MAX,
			k: u32::MAX,
		};
		let n = u128::from(u32::MAX);
		assert_eq!(huge.flop(), n * n * (2 * n + n.div_ceil(512) - 1));
	}

	#[test]
	fn triangles_are_sums_of_rows() {
		for size in [0u32, 1, 5, 1_024, 1_025, 3_000] {
			let rows = (1..=u64::from(size)).map(|n| sum_flop(n) + u128::from(n) * 7 + 3);
			assert_eq!(causal_flop(size, 7, 3), rows.sum::<u128>(), "{size}");
		}
	}

	/// Operators counted by hand, from the table in docs/strict-arithmetic.md.
	#[test]
	fn operators_counted_by_hand() {
		// 2 images of 3 planes of 6 x 5, windows 3 x 3, stride 2, padding 1: 3 x 3 windows.
		let window = Window {
			images: 2,
			channels: 3,
			height: 6,
			width: 5,
			kernel: 3,
			stride: 2,
			padding: 1,
		};
		assert_eq!((window.out_height(), window.out_width()), (3, 3));
		let conv = OpKind::Conv2d { x: 0, weight: 0, window, filters: 4 };
		assert_eq!(conv.flop(), 2 * 4 * 9 * (2 * 27));
		let weight = OpKind::Conv2dWeightGrad { gradient: 0, x: 0, window, filters: 4 };
		assert_eq!(weight.flop(), 4 * 27 * (2 * 18));
		let input = OpKind::Conv2dInputGrad { gradient: 0, weight: 0, window, filters: 4 };
		assert_eq!(input.flop(), 2 * 9 * 27 * (2 * 4 + 1));
		let pool = OpKind::MaxPool2d { x: 0, window };
		assert_eq!(pool.flop(), 2 * 3 * 9 * 10);
		let sums = OpKind::SumChannels { x: 0, images: 2, channels: 3, area: 30 };
		assert_eq!(sums.flop(), 3 * (60 + 15));
		let norm = |grad: bool| {
			let (x, weight, bias, epsilon, rows, cols) = (0, 0, 0, Nano(1), 7, 10);
			match grad {
				false => OpKind::LayerNorm { x, weight, bias, epsilon, rows, cols },
				true => OpKind::LayerNormGrad { gradient: 0, x, weight, epsilon, rows, cols },
			}
		};
		assert_eq!(norm(false).flop(), 7 * (2 * 25 + 50 + 4));
		assert_eq!(norm(true).flop(), 7 * (4 * 25 + 90 + 6));
		let (x, weight, epsilon, rows, cols) = (0, 0, Nano(1), 7, 10);
		let rms = OpKind::RmsNorm { x, weight, epsilon, rows, cols };
		assert_eq!(rms.flop(), 7 * (25 + 30 + 3));
		let rms = OpKind::RmsNormGrad { gradient: 0, x, weight, epsilon, rows, cols };
		assert_eq!(rms.flop(), 7 * (2 * 25 + 70 + 4));
		let rms = OpKind::RmsNormWeightGrad { gradient: 0, x, epsilon, rows, cols };
		assert_eq!(rms.flop(), 7 * (25 + 30 + 3) + 10 * 22);
		let softmax = OpKind::CausalSoftmax { x: 0, batch: 5, size: 3, depth: 8 };
		assert_eq!(softmax.flop(), 5 * (6 * (23 + 4) + (16 + 17 + 18) + 3));
		let loss = OpKind::SquaredLoss { outputs: 0, labels: 0, rows: 4, cols: 10 };
		assert_eq!(loss.flop(), 4 * (25 + 20 + 1));
	}
}
