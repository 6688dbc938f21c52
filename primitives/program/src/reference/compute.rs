//! Computes the operators, one by one.

use super::{images, rows, ExecError, StepContext};
use crate::{
	ops::{Factor, Nano, OpKind, TensorId},
	spec::ONE_NANO,
};
use alloc::vec::Vec;
use trainyard_strict::{
	decay, dot, exp, fma, inverse_normal, log, max,
	philox::{symmetric, Stream, StreamName},
	relu, sqrt, sum, whetstone, Soft,
};

/// Returns every `stride`-th element from `start` on.
pub(super) fn strided(data: &[f32], start: usize, stride: usize) -> impl Iterator<Item = f32> + '_ {
	data.iter().copied().skip(start).step_by(stride.max(1))
}

/// Returns the rows of `cols` elements; none where rows have no elements.
pub(super) fn rows_of(data: &[f32], cols: u32) -> impl Iterator<Item = &[f32]> {
	data.chunks(cols.max(1) as usize)
}

pub(super) fn zip_map(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
	a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

/// Returns the result of one operator at `moment`, its elements row major. `read` gives the
/// elements of the tensors that it names ([`OpKind::inputs`]), with as many elements as the
/// operator says; missing ones read as `+0`.
pub fn operator<'a, E: From<ExecError>>(
	kind: &OpKind,
	labels: &[u32],
	moment: StepContext,
	read: impl Fn(TensorId) -> Result<&'a [f32], E>,
) -> Result<Vec<f32>, E> {
	// The factor, from the list or from a tensor.
	let number = |factor: Factor| match factor {
		Factor::Nano(nano) => Ok(nano.to_f32()),
		Factor::Tensor(id) => read(id).map(|x| x.first().copied().unwrap_or_default()),
	};
	// Labels of the rows; every label must name one of `cols` classes.
	let labels_below = |cols: u32| match labels.iter().find(|label| **label >= cols) {
		Some(label) => Err(E::from(ExecError::BadLabel { label: *label, classes: cols })),
		None => Ok(labels),
	};
	Ok(match *kind {
		OpKind::MatMul { a, b, transpose_a, transpose_b, m, n, k } => {
			matmul(read(a)?, read(b)?, (transpose_a, transpose_b), [m, n, k])
		}
		OpKind::AddRow { a, row, cols, .. } => {
			let row = read(row)?;
			rows_of(read(a)?, cols).flat_map(|a| zip_map(a, row, |a, b| a + b)).collect()
		}
		OpKind::Relu { a, .. } => read(a)?.iter().map(|a| relu(*a)).collect(),
		OpKind::ReluGrad { gradient, activation, .. } => {
			zip_map(read(gradient)?, read(activation)?, |g, a| if a > 0.0 { g } else { 0.0 })
		}
		OpKind::LogSoftmax { logits, cols, .. } => {
			rows_of(read(logits)?, cols).flat_map(log_softmax).collect()
		}
		OpKind::RowLoss { log_p, cols, .. } => rows_of(read(log_p)?, cols)
			.zip(labels_below(cols)?)
			.filter_map(|(row, label)| row.get(*label as usize).map(|x| -x))
			.collect(),
		OpKind::RowLossGrad { log_p, rows, cols, .. } => rows_of(read(log_p)?, cols)
			.zip(labels_below(cols)?)
			.flat_map(|(row, label)| {
				let label = *label as usize;
				row.iter().enumerate().map(move |(j, x)| {
					let hot = if j == label { 1.0 } else { 0.0 };
					(exp(*x) - hot) / rows as f32
				})
			})
			.collect(),
		OpKind::Correct { logits, cols, .. } => rows_of(read(logits)?, cols)
			.zip(labels_below(cols)?)
			.map(|(row, label)| if first_largest(row) == *label as usize { 1.0 } else { 0.0 })
			.collect(),
		OpKind::Mean { a, len } => {
			alloc::vec![sum(read(a)?.iter().copied()) / len as f32]
		}
		OpKind::SumRows { a, cols, .. } => {
			let a = read(a)?;
			(0..cols as usize)
				.map(|j| sum(strided(a, j, cols as usize).collect::<Vec<_>>().into_iter()))
				.collect()
		}
		OpKind::Scale { x, factor, .. } => {
			let factor = number(factor)?;
			read(x)?.iter().map(|x| factor * x).collect()
		}
		OpKind::Decay { x, learning_rate, weight_decay, .. } => {
			let factor = decay(number(learning_rate)?, weight_decay.to_f32());
			read(x)?.iter().map(|x| factor * x).collect()
		}
		OpKind::MulAdd { x, y, factor, negate, .. } => {
			let factor = number(factor)?;
			let factor = if negate { -factor } else { factor };
			zip_map(read(x)?, read(y)?, |x, y| fma(factor, x, y))
		}
		OpKind::Ema { average, x, keep, take, .. } => {
			let (keep, take) = (keep.to_f32(), take.to_f32());
			zip_map(read(average)?, read(x)?, |a, x| fma(keep, a, take * x))
		}
		OpKind::EmaSquare { average, x, keep, take, .. } => {
			let (keep, take) = (keep.to_f32(), take.to_f32());
			zip_map(read(average)?, read(x)?, |a, x| fma(keep, a, take * (x * x)))
		}
		OpKind::AdamStep { x, m, v, power1, power2, learning_rate, epsilon, .. } => {
			let rest = |power| number(Factor::Tensor(power)).map(|power| 1.0 - power);
			let (rest1, rest2) = (rest(power1)?, rest(power2)?);
			let (minus_rate, epsilon) = (-number(learning_rate)?, epsilon.to_f32());
			let moments = read(m)?.iter().zip(read(v)?);
			read(x)?
				.iter()
				.zip(moments)
				.map(|(x, (m, v))| {
					let step = (m / rest1) / (sqrt(v / rest2) + epsilon);
					fma(minus_rate, step, *x)
				})
				.collect()
		}
		OpKind::Add { x, y, .. } => zip_map(read(x)?, read(y)?, |x, y| x + y),
		OpKind::Activation { function, x, .. } => {
			read(x)?.iter().map(|x| function.apply::<Soft>(*x)).collect()
		}
		OpKind::ActivationGrad { function, gradient, at, .. } => {
			zip_map(read(gradient)?, read(at)?, |g, at| function.gradient::<Soft>(g, at))
		}
		OpKind::BatchMatMul { a, b, transpose_a, transpose_b, batch, m, n, k } => {
			let area = |rows: u32, cols: u32| (rows as usize).saturating_mul(cols as usize);
			let (a, b, transposed) = (read(a)?, read(b)?, (transpose_a, transpose_b));
			(0..batch as usize)
				.map(|index| (part(a, index, area(m, k)), part(b, index, area(k, n))))
				.flat_map(|(a, b)| matmul(a, b, transposed, [m, n, k]))
				.collect()
		}
		OpKind::SwapAxes { x, a, b, inner, .. } => rows::swap_axes(read(x)?, a, b, inner),
		OpKind::Conv2d { x, weight, window, filters } => {
			images::conv(&window, filters, read(x)?, read(weight)?)
		}
		OpKind::Conv2dWeightGrad { gradient, x, window, filters } => {
			images::conv_weight_grad(&window, filters, read(gradient)?, read(x)?)
		}
		OpKind::Conv2dInputGrad { gradient, weight, window, filters } => {
			images::conv_input_grad(&window, filters, read(gradient)?, read(weight)?)
		}
		OpKind::AddChannel { x, channel, channels, area, .. } => {
			images::add_channel(read(x)?, read(channel)?, channels, area)
		}
		OpKind::SumChannels { x, channels, area, .. } => {
			images::sum_channels(read(x)?, channels, area)
		}
		OpKind::MaxPool2d { x, window } => images::max_pool(&window, read(x)?),
		OpKind::MaxPool2dGrad { gradient, x, maximum, window } => {
			images::max_pool_grad(&window, read(gradient)?, read(x)?, read(maximum)?)
		}
		OpKind::AvgPool2d { x, window } => images::avg_pool(&window, read(x)?),
		OpKind::AvgPool2dGrad { gradient, window } => {
			images::avg_pool_grad(&window, read(gradient)?)
		}
		OpKind::LayerNorm { x, weight, bias, epsilon, cols, .. } => {
			let epsilon = epsilon.to_f32();
			rows::layer_norm(read(x)?, read(weight)?, read(bias)?, epsilon, cols)
		}
		OpKind::LayerNormGrad { gradient, x, weight, epsilon, cols, .. } => {
			let epsilon = epsilon.to_f32();
			rows::layer_norm_grad(read(gradient)?, read(x)?, read(weight)?, epsilon, cols)
		}
		OpKind::LayerNormWeightGrad { gradient, x, epsilon, cols, .. } => {
			rows::layer_norm_weight_grad(read(gradient)?, read(x)?, epsilon.to_f32(), cols)
		}
		OpKind::RmsNorm { x, weight, epsilon, cols, .. } => {
			rows::rms_norm(read(x)?, read(weight)?, epsilon.to_f32(), cols)
		}
		OpKind::RmsNormGrad { gradient, x, weight, epsilon, cols, .. } => {
			let epsilon = epsilon.to_f32();
			rows::rms_norm_grad(read(gradient)?, read(x)?, read(weight)?, epsilon, cols)
		}
		OpKind::RmsNormWeightGrad { gradient, x, epsilon, cols, .. } => {
			rows::rms_norm_weight_grad(read(gradient)?, read(x)?, epsilon.to_f32(), cols)
		}
		OpKind::Embedding { table, tokens, vocabulary, width, .. } => {
			rows::embedding(read(table)?, read(tokens)?, vocabulary, width)?
		}
		OpKind::EmbeddingGrad { gradient, tokens, vocabulary, width, .. } => {
			rows::embedding_grad(read(gradient)?, read(tokens)?, vocabulary, width)?
		}
		OpKind::CausalSoftmax { x, size, depth, .. } => rows::causal_softmax(read(x)?, size, depth),
		OpKind::CausalSoftmaxGrad { gradient, p, size, depth, .. } => {
			rows::causal_softmax_grad(read(gradient)?, read(p)?, size, depth)
		}
		OpKind::Dropout { x, rate, site, .. } => dropout(read(x)?, moment, rate, site),
		OpKind::Noise { x, deviation, .. } => noise(read(x)?, moment, deviation),
		OpKind::SquaredLoss { outputs, cols, .. } => rows_of(read(outputs)?, cols)
			.zip(labels_below(cols)?)
			.map(|(row, label)| {
				let squares = differences(row, *label).map(|d| d * d);
				sum(squares.collect::<Vec<_>>().into_iter()) / cols as f32
			})
			.collect(),
		OpKind::SquaredLossGrad { outputs, rows, cols, .. } => {
			let count = u64::from(rows).saturating_mul(u64::from(cols)) as f32;
			rows_of(read(outputs)?, cols)
				.zip(labels_below(cols)?)
				.flat_map(|(row, label)| differences(row, *label))
				.map(|d| (d + d) / count)
				.collect()
		}
		OpKind::SumSquares { x, .. } => alloc::vec![sum(read(x)?.iter().map(|x| x * x))],
		OpKind::ClipFactor { squares, largest } => {
			let (norm, largest) = (sqrt(number(Factor::Tensor(squares))?), largest.to_f32());
			alloc::vec![if norm > largest { largest / norm } else { 1.0 }]
		}
		OpKind::Whetstone { x, cycles, .. } => whetstone::cycles(read(x)?, cycles),
		OpKind::LearningRate { schedule } => alloc::vec![schedule.at(moment.step)],
	})
}

/// Returns part `index`, where all parts have `len` elements.
fn part(data: &[f32], index: usize, len: usize) -> &[f32] {
	let start = index.saturating_mul(len);
	data.get(start..start.saturating_add(len)).unwrap_or_default()
}

/// `m` rows of `n` dot products of length `k`.
fn matmul(
	a: &[f32],
	b: &[f32],
	(transpose_a, transpose_b): (bool, bool),
	[m, n, k]: [u32; 3],
) -> Vec<f32> {
	let (m, n, k) = (m as usize, n as usize, k as usize);
	let mut out = Vec::with_capacity(m.saturating_mul(n));
	for i in 0..m {
		for j in 0..n {
			let (a_start, a_stride) = if transpose_a { (i, m) } else { (i.saturating_mul(k), 1) };
			let (b_start, b_stride) = if transpose_b { (j.saturating_mul(k), 1) } else { (j, n) };
			let row = strided(a, a_start, a_stride).take(k);
			out.push(dot(row, strided(b, b_start, b_stride).take(k)));
		}
	}
	out
}

/// Pairs each element with the random word of its index: word `i mod 4` of block `i / 4 + first`.
fn with_words(
	x: &[f32],
	moment: StepContext,
	name: StreamName,
	first: u64,
) -> impl Iterator<Item = (f32, u32)> + '_ {
	let stream = Stream::new(&moment.seed.0, name);
	(first..).flat_map(move |block| stream.block(moment.step, block)).zip(x).map(|(w, x)| (*x, w))
}

fn dropout(x: &[f32], moment: StepContext, rate: Nano, site: u32) -> Vec<f32> {
	let threshold = dropout_threshold(rate);
	let factor = 1.0 / rate.one_minus().to_f32();
	with_words(x, moment, StreamName::Dropout, u64::from(site) << 32)
		.map(|(x, word)| if word >= threshold { factor * x } else { 0.0 })
		.collect()
}

/// Returns the least random word whose element a dropout at this rate keeps: `floor(rate * 2^32)`.
pub fn dropout_threshold(rate: Nano) -> u32 {
	let scaled = (u128::from(rate.0) << 32).checked_div(u128::from(ONE_NANO)).unwrap_or_default();
	u32::try_from(scaled).unwrap_or(u32::MAX)
}

fn noise(x: &[f32], moment: StepContext, deviation: Nano) -> Vec<f32> {
	let deviation = deviation.to_f32();
	with_words(x, moment, StreamName::Noise, 0)
		.map(|(x, word)| fma(deviation, inverse_normal(symmetric(word)), x))
		.collect()
}

/// Returns the row minus its target: 1 at the label, +0 elsewhere.
fn differences(row: &[f32], label: u32) -> impl Iterator<Item = f32> + '_ {
	(0u64..).zip(row).map(move |(j, x)| x - if j == u64::from(label) { 1.0 } else { 0.0 })
}

/// Returns `(x - m) - l` for every `x` of a row, with `m` its maximum and `l` the logarithm of the
/// sum of `exp(x - m)`.
fn log_softmax(row: &[f32]) -> Vec<f32> {
	let m = max(row.iter().copied());
	let shifted: Vec<f32> = row.iter().map(|x| x - m).collect();
	let l = log(sum(shifted.iter().map(|x| exp(*x))));
	shifted.iter().map(|x| x - l).collect()
}

/// Returns the index of the first largest element: a later one replaces it only where it is
/// greater.
fn first_largest(row: &[f32]) -> usize {
	let mut best = (0, row.first().copied().unwrap_or_default());
	for (j, x) in row.iter().enumerate() {
		if *x > best.1 {
			best = (j, *x);
		}
	}
	best.0
}
