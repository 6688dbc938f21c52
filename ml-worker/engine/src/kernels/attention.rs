//! Softmax of scaled, causally masked scores.

use super::{
	reduce::{maximum, sum_of},
	rows::{by_rows, part, LONG},
	Arithmetic, Isa, SimdTask,
};
use trainyard_strict::{exp_with, sqrt, LANES};

/// Returns the columns that row `row` of matrices of `size` rows sees.
#[inline(always)]
fn seen(row: usize, size: usize) -> usize {
	row % size + 1
}

/// Returns the columns that are computed where `seen` are visible: whole vectors, as far as the row
/// goes.
#[inline(always)]
fn computed(seen: usize, size: usize) -> usize {
	seen.next_multiple_of(LANES).min(size)
}

/// Returns `1 / sqrt(depth)`, by which scores are multiplied.
fn score_factor(depth: u32) -> f32 {
	1.0 / sqrt(depth as f32)
}

/// Returns, per row `i` of each matrix of `size` rows and columns, over its columns `j <= i`:
/// `s = factor * x`, `m` their maximum, `e = exp(s - m)`, `e / sum(e)`; +0 in the others.
pub fn causal_softmax(isa: Isa, x: &[f32], size: usize, depth: u32) -> Vec<f32> {
	let (factor, mut out) = (score_factor(depth), vec![0.0; x.len()]);
	by_rows(&mut out, size, LONG, |first, out| {
		let x = part(x, first, size, out);
		isa.run(CausalSoftmax { x, first, size, factor, out });
	});
	out
}

struct CausalSoftmax<'a> {
	x: &'a [f32],
	/// The number of the first row.
	first: usize,
	size: usize,
	factor: f32,
	out: &'a mut [f32],
}

impl SimdTask for CausalSoftmax<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let Self { x, first, size, factor, out } = self;
		let rows = x.chunks_exact(size).zip(out.chunks_exact_mut(size));
		for (row, (x, out)) in (first..).zip(rows) {
			let seen = seen(row, size);
			let whole = &mut out[..computed(seen, size)];
			for (out, x) in whole.iter_mut().zip(x) {
				*out = factor * x;
			}
			let m = maximum(&whole[..seen]);
			for out in whole.iter_mut() {
				*out = exp_with::<A>(*out - m);
			}
			let total = sum_of(&whole[..seen], &whole[..seen], |e, _| e);
			for out in whole.iter_mut() {
				*out /= total;
			}
			// These are not visible, and were computed only to fill vectors.
			out[seen..].fill(0.0);
		}
	}
}

/// Returns the gradient of [`causal_softmax`], whose result is `p`: over the columns `j <= i` of
/// row `i`, with `d` the sum of `gradient * p`, `factor * (p * (gradient - d))`; +0 in the others.
///
/// # Panics
/// Panics if `gradient` and `p` differ in length.
pub fn causal_softmax_grad(
	isa: Isa,
	gradient: &[f32],
	p: &[f32],
	size: usize,
	depth: u32,
) -> Vec<f32> {
	assert_eq!(gradient.len(), p.len());
	let (factor, mut out) = (score_factor(depth), vec![0.0; p.len()]);
	by_rows(&mut out, size, LONG, |first, out| {
		let (gradient, p) = (part(gradient, first, size, out), part(p, first, size, out));
		isa.run(CausalSoftmaxGrad { gradient, p, first, size, factor, out });
	});
	out
}

struct CausalSoftmaxGrad<'a> {
	gradient: &'a [f32],
	p: &'a [f32],
	/// The number of the first row.
	first: usize,
	size: usize,
	factor: f32,
	out: &'a mut [f32],
}

impl SimdTask for CausalSoftmaxGrad<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let Self { gradient, p, first, size, factor, out } = self;
		let rows = gradient.chunks_exact(size).zip(p.chunks_exact(size));
		for (row, ((g, p), out)) in (first..).zip(rows.zip(out.chunks_exact_mut(size))) {
			let seen = seen(row, size);
			let d = sum_of(&g[..seen], &p[..seen], |g, p| g * p);
			let whole = &mut out[..computed(seen, size)];
			for ((out, p), g) in whole.iter_mut().zip(p).zip(g) {
				*out = factor * (p * (g - d));
			}
			out[seen..].fill(0.0);
		}
	}
}
