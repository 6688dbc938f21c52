//! Layer norm, RMS norm, embedding, softmax, and moving axes.

use super::{
	compute::{rows_of, zip_map},
	ExecError,
};
use alloc::vec::Vec;
use trainyard_strict::{exp, fma, max, sqrt, sum};

/// See `OpKind::SwapAxes`.
pub fn swap_axes(x: &[f32], a: u32, b: u32, inner: u32) -> Vec<f32> {
	let (a, b, inner) = (a as usize, b as usize, inner as usize);
	let block = a.saturating_mul(b).saturating_mul(inner);
	x.chunks(block.max(1))
		.flat_map(|block| {
			(0..b).flat_map(move |j| {
				block.chunks(inner.max(1)).skip(j).step_by(b.max(1)).flatten().copied()
			})
		})
		.collect()
}

/// Returns the sum of some values divided by their number.
fn mean(x: &[f32]) -> f32 {
	sum(x.iter().copied()) / x.len() as f32
}

/// Returns a row normalised, and its standard deviation.
fn normalise(row: &[f32], epsilon: f32) -> (Vec<f32>, f32) {
	let m = mean(row);
	let differences: Vec<f32> = row.iter().map(|x| x - m).collect();
	let squares: Vec<f32> = differences.iter().map(|d| d * d).collect();
	let s = sqrt(mean(&squares) + epsilon);
	(differences.into_iter().map(|d| d / s).collect(), s)
}

/// See `OpKind::LayerNorm`.
pub fn layer_norm(x: &[f32], weight: &[f32], bias: &[f32], epsilon: f32, cols: u32) -> Vec<f32> {
	rows_of(x, cols)
		.flat_map(|row| {
			let (h, _) = normalise(row, epsilon);
			let scaled = h.into_iter().zip(weight).zip(bias);
			scaled.map(|((h, w), b)| fma(h, *w, *b)).collect::<Vec<_>>()
		})
		.collect()
}

/// See `OpKind::LayerNormGrad`.
pub fn layer_norm_grad(
	gradient: &[f32],
	x: &[f32],
	weight: &[f32],
	epsilon: f32,
	cols: u32,
) -> Vec<f32> {
	rows_of(x, cols)
		.zip(rows_of(gradient, cols))
		.flat_map(|(row, gradient)| {
			let (h, s) = normalise(row, epsilon);
			let q = zip_map(gradient, weight, |g, w| g * w);
			let (a, b) = (mean(&q), mean(&zip_map(&q, &h, |q, h| q * h)));
			zip_map(&q, &h, |q, h| ((q - a) - h * b) / s)
		})
		.collect()
}

/// See `OpKind::LayerNormWeightGrad`.
pub fn layer_norm_weight_grad(gradient: &[f32], x: &[f32], epsilon: f32, cols: u32) -> Vec<f32> {
	weight_grad(gradient, x, cols, |row| normalise(row, epsilon).0)
}

/// Returns the sum over the rows of the gradient times what `normal` makes of a row.
fn weight_grad(
	gradient: &[f32],
	x: &[f32],
	cols: u32,
	normal: impl Fn(&[f32]) -> Vec<f32>,
) -> Vec<f32> {
	let products: Vec<Vec<f32>> = rows_of(x, cols)
		.zip(rows_of(gradient, cols))
		.map(|(row, gradient)| zip_map(gradient, &normal(row), |g, h| g * h))
		.collect();
	(0..cols as usize)
		.map(|j| sum(products.iter().map(|row| row.get(j).copied().unwrap_or_default())))
		.collect()
}

/// Returns a row divided by the root of its mean square, and this root.
fn by_root_mean_square(row: &[f32], epsilon: f32) -> (Vec<f32>, f32) {
	let squares: Vec<f32> = row.iter().map(|x| x * x).collect();
	let s = sqrt(mean(&squares) + epsilon);
	(row.iter().map(|x| x / s).collect(), s)
}

/// See `OpKind::RmsNorm`.
pub fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32, cols: u32) -> Vec<f32> {
	rows_of(x, cols)
		.flat_map(|row| zip_map(&by_root_mean_square(row, epsilon).0, weight, |h, w| h * w))
		.collect()
}

/// See `OpKind::RmsNormGrad`.
pub fn rms_norm_grad(
	gradient: &[f32],
	x: &[f32],
	weight: &[f32],
	epsilon: f32,
	cols: u32,
) -> Vec<f32> {
	rows_of(x, cols)
		.zip(rows_of(gradient, cols))
		.flat_map(|(row, gradient)| {
			let (h, s) = by_root_mean_square(row, epsilon);
			let q = zip_map(gradient, weight, |g, w| g * w);
			let b = mean(&zip_map(&q, &h, |q, h| q * h));
			zip_map(&q, &h, |q, h| (q - h * b) / s)
		})
		.collect()
}

/// See `OpKind::RmsNormWeightGrad`.
pub fn rms_norm_weight_grad(gradient: &[f32], x: &[f32], epsilon: f32, cols: u32) -> Vec<f32> {
	weight_grad(gradient, x, cols, |row| by_root_mean_square(row, epsilon).0)
}

/// Returns the token that a number stands for.
fn token(index: usize, x: f32, vocabulary: u32) -> Result<usize, ExecError> {
	// The cast saturates, and gives 0 for NaN, which does not equal it.
	let token = x as u32;
	if token as f32 == x && token < vocabulary {
		Ok(token as usize)
	} else {
		Err(ExecError::BadToken { index, vocabulary })
	}
}

/// See `OpKind::Embedding`.
pub fn embedding(
	table: &[f32],
	tokens: &[f32],
	vocabulary: u32,
	width: u32,
) -> Result<Vec<f32>, ExecError> {
	let width = width as usize;
	let mut out = Vec::with_capacity(tokens.len().saturating_mul(width));
	for (index, x) in tokens.iter().enumerate() {
		let start = token(index, *x, vocabulary)?.saturating_mul(width);
		let row = table.get(start..start.saturating_add(width)).unwrap_or_default();
		out.extend_from_slice(row);
	}
	Ok(out)
}

/// See `OpKind::EmbeddingGrad`.
pub fn embedding_grad(
	gradient: &[f32],
	tokens: &[f32],
	vocabulary: u32,
	width: u32,
) -> Result<Vec<f32>, ExecError> {
	let size = (vocabulary as usize).saturating_mul(width as usize);
	let mut out = alloc::vec![0.0f32; size];
	for ((index, x), gradient) in tokens.iter().enumerate().zip(rows_of(gradient, width)) {
		let start = token(index, *x, vocabulary)?.saturating_mul(width as usize);
		for (slot, g) in out.iter_mut().skip(start).zip(gradient) {
			*slot += g;
		}
	}
	Ok(out)
}

/// Returns `1 / sqrt(depth)`: what scores are multiplied by.
fn score_factor(depth: u32) -> f32 {
	1.0 / sqrt(depth as f32)
}

/// Returns the rows of each matrix, each with the number of its columns that are seen.
fn lower_rows(x: &[f32], size: u32) -> impl Iterator<Item = (usize, &[f32])> {
	(1..=size as usize).cycle().zip(rows_of(x, size))
}

/// See `OpKind::CausalSoftmax`.
pub fn causal_softmax(x: &[f32], size: u32, depth: u32) -> Vec<f32> {
	let factor = score_factor(depth);
	let mut out = Vec::with_capacity(x.len());
	for (seen, row) in lower_rows(x, size) {
		let scores: Vec<f32> = row.iter().take(seen).map(|x| factor * x).collect();
		let m = max(scores.iter().copied());
		let e: Vec<f32> = scores.iter().map(|s| exp(s - m)).collect();
		let total = sum(e.iter().copied());
		out.extend(e.iter().map(|e| e / total));
		out.extend(core::iter::repeat_n(0.0, row.len().saturating_sub(seen)));
	}
	out
}

/// See `OpKind::CausalSoftmaxGrad`.
pub fn causal_softmax_grad(gradient: &[f32], p: &[f32], size: u32, depth: u32) -> Vec<f32> {
	let factor = score_factor(depth);
	let mut out = Vec::with_capacity(p.len());
	for ((seen, p), g) in lower_rows(p, size).zip(rows_of(gradient, size)) {
		let (seen_p, seen_g) = (p.get(..seen).unwrap_or(p), g.get(..seen).unwrap_or(g));
		let d = sum(zip_map(seen_g, seen_p, |g, p| g * p).into_iter());
		out.extend(zip_map(seen_p, seen_g, |p, g| factor * (p * (g - d))));
		out.extend(core::iter::repeat_n(0.0, p.len().saturating_sub(seen)));
	}
	out
}
