//! Operators once more, tensor by tensor: what they are taken apart from.

use super::Case;
use crate::ops::{OpKind, Window};
use trainyard_strict::{dot, exp, fma, log, max, sqrt, sum};

/// Returns the result of a case whose operator is not a formula of single elements.
pub fn operator(case: &Case) -> Option<Vec<f32>> {
	let x = |at: usize| case.operands[at].as_slice();
	Some(match case.kind {
		OpKind::MatMul { transpose_a, transpose_b, m, n, k, .. } => {
			matmul(x(0), x(1), (transpose_a, transpose_b), [m, n, k])
		}
		OpKind::BatchMatMul { transpose_a, transpose_b, m, n, k, .. } => x(0)
			.chunks((m * k) as usize)
			.zip(x(1).chunks((k * n) as usize))
			.flat_map(|(a, b)| matmul(a, b, (transpose_a, transpose_b), [m, n, k]))
			.collect(),
		OpKind::LogSoftmax { cols, .. } => rows_of(x(0), cols).flat_map(log_softmax).collect(),
		OpKind::SumRows { cols, .. } => (0..cols as usize)
			.map(|j| sum(strided(x(0), j, cols as usize).collect::<Vec<_>>().into_iter()))
			.collect(),
		OpKind::Conv2d { window, filters, .. } => conv(&window, filters, x(0), x(1)),
		OpKind::Conv2dWeightGrad { window, filters, .. } => {
			conv_weight_grad(&window, filters, x(0), x(1))
		}
		OpKind::Conv2dInputGrad { window, filters, .. } => {
			conv_input_grad(&window, filters, x(0), x(1))
		}
		OpKind::AddChannel { channels, area, .. } => add_channel(x(0), x(1), channels, area),
		OpKind::SumChannels { channels, area, .. } => sum_channels(x(0), channels, area),
		OpKind::MaxPool2d { .. } => max_pool(&case.kind, x(0)),
		OpKind::MaxPool2dGrad { window, .. } => max_pool_grad(&window, x(0), x(1), x(2)),
		OpKind::AvgPool2d { window, .. } => avg_pool(&window, x(0)),
		OpKind::AvgPool2dGrad { window, .. } => avg_pool_grad(&window, x(0)),
		OpKind::SwapAxes { a, b, inner, .. } => swap_axes(x(0), a, b, inner),
		OpKind::LayerNorm { epsilon, cols, .. } => {
			layer_norm(x(0), x(1), x(2), epsilon.to_f32(), cols)
		}
		OpKind::LayerNormGrad { epsilon, cols, .. } => {
			layer_norm_grad(x(0), x(1), x(2), epsilon.to_f32(), cols)
		}
		OpKind::LayerNormWeightGrad { epsilon, cols, .. } => {
			weight_grad(x(0), x(1), cols, |row| normalise(row, epsilon.to_f32()).0)
		}
		OpKind::RmsNorm { epsilon, cols, .. } => rms_norm(x(0), x(1), epsilon.to_f32(), cols),
		OpKind::RmsNormGrad { epsilon, cols, .. } => {
			rms_norm_grad(x(0), x(1), x(2), epsilon.to_f32(), cols)
		}
		OpKind::RmsNormWeightGrad { epsilon, cols, .. } => {
			weight_grad(x(0), x(1), cols, |row| by_root_mean_square(row, epsilon.to_f32()).0)
		}
		OpKind::EmbeddingGrad { vocabulary, width, .. } => {
			embedding_grad(x(0), x(1), vocabulary, width)
		}
		OpKind::CausalSoftmax { size, depth, .. } => causal_softmax(x(0), size, depth),
		OpKind::CausalSoftmaxGrad { size, depth, .. } => {
			causal_softmax_grad(x(0), x(1), size, depth)
		}
		_ => return None,
	})
}

/// Returns every `stride`-th element from `start` on.
fn strided(data: &[f32], start: usize, stride: usize) -> impl Iterator<Item = f32> + '_ {
	data.iter().copied().skip(start).step_by(stride.max(1))
}

/// Returns the rows of `cols` elements; none where rows have no elements.
fn rows_of(data: &[f32], cols: u32) -> impl Iterator<Item = &[f32]> {
	data.chunks(cols.max(1) as usize)
}

fn zip_map(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
	a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
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

/// Returns `(x - m) - l` for every `x` of a row, with `m` its maximum and `l` the logarithm of the
/// sum of `exp(x - m)`.
fn log_softmax(row: &[f32]) -> Vec<f32> {
	let m = max(row.iter().copied());
	let shifted: Vec<f32> = row.iter().map(|x| x - m).collect();
	let l = log(sum(shifted.iter().map(|x| exp(*x))));
	shifted.iter().map(|x| x - l).collect()
}

/// Returns the element at `index`, +0 where there is none.
fn at(data: &[f32], index: usize) -> f32 {
	data.get(index).copied().unwrap_or_default()
}

/// Sizes of a window as indices.
#[derive(Clone, Copy)]
struct Sizes {
	area: usize,
	out_area: usize,
	patch: usize,
}

fn sizes(w: &Window) -> Sizes {
	Sizes { area: w.area() as usize, out_area: w.out_area() as usize, patch: w.patch() as usize }
}

/// Returns the windows of a plane, row by row.
fn windows(w: &Window) -> impl Iterator<Item = (u32, u32)> {
	let (height, width) = (w.out_height(), w.out_width());
	(0..height).flat_map(move |y| (0..width).map(move |x| (y, x)))
}

/// Returns the taps of a window on one plane, row by row.
fn taps(w: &Window) -> impl Iterator<Item = (u32, u32)> {
	let kernel = w.kernel;
	(0..kernel).flat_map(move |r| (0..kernel).map(move |s| (r, s)))
}

/// Returns the index in its plane of the element that a tap of window `(y, x)` reads; none in the
/// padding.
fn place(w: &Window, (y, x): (u32, u32), (r, s): (u32, u32)) -> Option<usize> {
	let (row, column) = (w.reads(y, r, w.height)?, w.reads(x, s, w.width)?);
	(row as usize).checked_mul(w.width as usize)?.checked_add(column as usize)
}

/// Returns what window `(y, x)` reads of an image, in the order (channel, row, column).
fn patch<'a>(
	w: &'a Window,
	image: &'a [f32],
	window: (u32, u32),
) -> impl Iterator<Item = f32> + 'a {
	image
		.chunks(sizes(w).area.max(1))
		.flat_map(move |plane| taps(w).map(move |tap| (plane, tap)))
		.map(move |(plane, tap)| place(w, window, tap).map_or(0.0, |i| at(plane, i)))
}

/// Returns the images.
fn images<'a>(w: &Window, x: &'a [f32]) -> impl Iterator<Item = &'a [f32]> {
	x.chunks(sizes(w).area.saturating_mul(w.channels as usize).max(1))
}

fn conv(w: &Window, filters: u32, x: &[f32], weight: &[f32]) -> Vec<f32> {
	let size = sizes(w);
	let mut out = Vec::new();
	for image in images(w, x) {
		let patches: Vec<Vec<f32>> =
			windows(w).map(|window| patch(w, image, window).collect()).collect();
		for filter in weight.chunks(size.patch.max(1)).take(filters as usize) {
			out.extend(
				patches.iter().map(|patch| dot(patch.iter().copied(), filter.iter().copied())),
			);
		}
	}
	out
}

fn conv_weight_grad(w: &Window, filters: u32, gradient: &[f32], x: &[f32]) -> Vec<f32> {
	let size = sizes(w);
	let mut out = Vec::new();
	for filter in 0..filters as usize {
		// The gradients of this filter, image by image.
		let of_filter = || {
			gradient
				.chunks(size.out_area.max(1))
				.skip(filter)
				.step_by(filters as usize)
				.flat_map(|plane| plane.iter().copied())
		};
		for channel in 0..w.channels as usize {
			for tap in taps(w) {
				let read = images(w, x).flat_map(|image| {
					let plane = image.chunks(size.area.max(1)).nth(channel).unwrap_or_default();
					windows(w)
						.map(move |window| place(w, window, tap).map_or(0.0, |i| at(plane, i)))
				});
				out.push(dot(of_filter(), read));
			}
		}
	}
	out
}

fn conv_input_grad(w: &Window, filters: u32, gradient: &[f32], weight: &[f32]) -> Vec<f32> {
	let size = sizes(w);
	let image_area = size.area.saturating_mul(w.channels as usize);
	let mut out = vec![0.0f32; image_area.saturating_mul(w.images as usize)];
	let gradients = gradient.chunks(size.out_area.saturating_mul(filters as usize).max(1));
	for (image, gradient) in out.chunks_mut(image_area.max(1)).zip(gradients) {
		for (channel, plane) in image.chunks_mut(size.area.max(1)).enumerate() {
			for (tap_number, tap) in taps(w).enumerate() {
				let first = channel.saturating_mul(w.taps() as usize).saturating_add(tap_number);
				let weights: Vec<f32> = strided(weight, first, size.patch).collect();
				for (number, window) in windows(w).enumerate() {
					let Some(slot) = place(w, window, tap).and_then(|i| plane.get_mut(i)) else {
						continue;
					};
					let of_window = strided(gradient, number, size.out_area);
					*slot += dot(of_window, weights.iter().copied());
				}
			}
		}
	}
	out
}

fn add_channel(x: &[f32], channel: &[f32], channels: u32, area: u64) -> Vec<f32> {
	let planes = x.chunks((area as usize).max(1));
	let channel = channel.iter().take(channels as usize).cycle();
	planes.zip(channel).flat_map(|(plane, c)| plane.iter().map(move |x| x + c)).collect()
}

fn sum_channels(x: &[f32], channels: u32, area: u64) -> Vec<f32> {
	let channels = channels as usize;
	(0..channels)
		.map(|channel| {
			let planes = x.chunks((area as usize).max(1)).skip(channel).step_by(channels.max(1));
			let terms: Vec<f32> = planes.flatten().copied().collect();
			sum(terms.into_iter())
		})
		.collect()
}

/// Returns what window `(y, x)` reads of a plane, row by row.
fn window_of<'a>(
	w: &'a Window,
	plane: &'a [f32],
	window: (u32, u32),
) -> impl Iterator<Item = (usize, f32)> + 'a {
	taps(w).filter_map(move |tap| place(w, window, tap)).map(|i| (i, at(plane, i)))
}

/// Returns the result of a pooling, [`OpKind::MaxPool2d`].
pub fn max_pool(kind: &OpKind, x: &[f32]) -> Vec<f32> {
	let OpKind::MaxPool2d { window: w, .. } = kind else { panic!("{kind:?} is no pooling") };
	x.chunks(sizes(w).area.max(1))
		.flat_map(|plane| {
			windows(w).map(move |window| max(window_of(w, plane, window).map(|(_, x)| x)))
		})
		.collect()
}

fn max_pool_grad(w: &Window, gradient: &[f32], x: &[f32], maximum: &[f32]) -> Vec<f32> {
	let size = sizes(w);
	let mut out = vec![0.0f32; x.len()];
	let planes = out.chunks_mut(size.area.max(1)).zip(x.chunks(size.area.max(1)));
	let results = gradient.chunks(size.out_area.max(1)).zip(maximum.chunks(size.out_area.max(1)));
	for ((out, plane), (gradient, maximum)) in planes.zip(results) {
		for ((window, g), m) in windows(w).zip(gradient).zip(maximum) {
			let first = window_of(w, plane, window).find(|(_, x)| x == m);
			if let Some(slot) = first.and_then(|(i, _)| out.get_mut(i)) {
				*slot += g;
			}
		}
	}
	out
}

fn avg_pool(w: &Window, x: &[f32]) -> Vec<f32> {
	let count = w.taps() as f32;
	x.chunks(sizes(w).area.max(1))
		.flat_map(|plane| {
			windows(w).map(move |window| {
				window_of(w, plane, window).fold(0.0f32, |sum, (_, x)| sum + x) / count
			})
		})
		.collect()
}

fn avg_pool_grad(w: &Window, gradient: &[f32]) -> Vec<f32> {
	let (size, count) = (sizes(w), w.taps() as f32);
	let planes = (w.images as usize).saturating_mul(w.channels as usize);
	let mut out = vec![0.0f32; planes.saturating_mul(size.area)];
	for (out, gradient) in
		out.chunks_mut(size.area.max(1)).zip(gradient.chunks(size.out_area.max(1)))
	{
		for (window, g) in windows(w).zip(gradient) {
			let share = g / count;
			for place in taps(w).filter_map(|tap| place(w, window, tap)) {
				if let Some(slot) = out.get_mut(place) {
					*slot += share;
				}
			}
		}
	}
	out
}

fn swap_axes(x: &[f32], a: u32, b: u32, inner: u32) -> Vec<f32> {
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

fn layer_norm(x: &[f32], weight: &[f32], bias: &[f32], epsilon: f32, cols: u32) -> Vec<f32> {
	rows_of(x, cols)
		.flat_map(|row| {
			let (h, _) = normalise(row, epsilon);
			let scaled = h.into_iter().zip(weight).zip(bias);
			scaled.map(|((h, w), b)| fma(h, *w, *b)).collect::<Vec<_>>()
		})
		.collect()
}

fn layer_norm_grad(
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

fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32, cols: u32) -> Vec<f32> {
	rows_of(x, cols)
		.flat_map(|row| zip_map(&by_root_mean_square(row, epsilon).0, weight, |h, w| h * w))
		.collect()
}

fn rms_norm_grad(gradient: &[f32], x: &[f32], weight: &[f32], epsilon: f32, cols: u32) -> Vec<f32> {
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

/// Returns `1 / sqrt(depth)`: what scores are multiplied by.
fn score_factor(depth: u32) -> f32 {
	1.0 / sqrt(depth as f32)
}

/// Returns the rows of each matrix, each with the number of its columns that are seen.
fn lower_rows(x: &[f32], size: u32) -> impl Iterator<Item = (usize, &[f32])> {
	(1..=size as usize).cycle().zip(rows_of(x, size))
}

fn causal_softmax(x: &[f32], size: u32, depth: u32) -> Vec<f32> {
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

fn causal_softmax_grad(gradient: &[f32], p: &[f32], size: u32, depth: u32) -> Vec<f32> {
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

/// Every gradient in order, to the row of its token.
fn embedding_grad(gradient: &[f32], tokens: &[f32], vocabulary: u32, width: u32) -> Vec<f32> {
	let mut out = vec![0.0f32; (vocabulary * width) as usize];
	for (token, gradient) in tokens.iter().zip(rows_of(gradient, width)) {
		let start = *token as usize * width as usize;
		for (slot, g) in out[start..].iter_mut().zip(gradient) {
			*slot += g;
		}
	}
	out
}
