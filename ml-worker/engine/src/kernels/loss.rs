//! Softmax cross-entropy and squared error by rows.

use super::{
	elementwise::{map1, Map1},
	reduce::{maximum, sum_of},
	rows::{by_rows, part, LONG},
	Arithmetic, Isa, SimdTask, PARALLEL_FROM,
};
use trainyard_strict::{exp_with, log_with};

/// Returns per row `(x - m) - l` with `m` the maximum and `l` the logarithm of the sum of
/// `exp(x - m)`.
pub fn log_softmax(isa: Isa, logits: &[f32], cols: usize) -> Vec<f32> {
	let mut out = vec![0.0; logits.len()];
	by_rows(&mut out, cols, LONG, |first, out| {
		isa.run(LogSoftmax { x: part(logits, first, cols, out), cols, out });
	});
	out
}

struct LogSoftmax<'a> {
	x: &'a [f32],
	cols: usize,
	out: &'a mut [f32],
}

impl SimdTask for LogSoftmax<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let Self { x, cols, out } = self;
		for (x, out) in x.chunks_exact(cols).zip(out.chunks_exact_mut(cols)) {
			let m = maximum(x);
			for (out, x) in out.iter_mut().zip(x) {
				*out = x - m;
			}
		}
		// Of all rows at once: rows may be short.
		let mut exps = vec![0.0; out.len()];
		for (e, x) in exps.iter_mut().zip(out.iter()) {
			*e = exp_with::<A>(*x);
		}
		for (e, out) in exps.chunks_exact(cols).zip(out.chunks_exact_mut(cols)) {
			let l = log_with::<A>(sum_of(e, e, |e, _| e));
			for out in out {
				*out -= l;
			}
		}
	}
}

/// Returns `-log_p[i, labels[i]]`.
///
/// # Panics
/// Panics if a label is not below `cols`.
pub fn row_loss(log_p: &[f32], labels: &[u32], cols: usize) -> Vec<f32> {
	labels.iter().zip(log_p.chunks(cols)).map(|(label, row)| -row[*label as usize]).collect()
}

/// Returns `(exp(log_p[i, j]) - (1 where j = labels[i], otherwise 0)) / rows`.
///
/// # Panics
/// Panics if a label is not below `cols`.
pub fn row_loss_grad(isa: Isa, log_p: &[f32], labels: &[u32], cols: usize) -> Vec<f32> {
	let mut out = vec![0.0; log_p.len()];
	let rows = labels.len() as f32;
	by_rows(&mut out, cols, LONG, |first, out| {
		let x = part(log_p, first, cols, out);
		isa.run(RowLossGrad { x, labels: &labels[first..], rows, cols, out });
	});
	out
}

struct RowLossGrad<'a> {
	x: &'a [f32],
	labels: &'a [u32],
	rows: f32,
	cols: usize,
	out: &'a mut [f32],
}

impl SimdTask for RowLossGrad<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let Self { x, labels, rows, cols, out } = self;
		for (out, x) in out.iter_mut().zip(x) {
			// Subtracting +0 from exp, which is never -0, changes nothing.
			*out = exp_with::<A>(*x) / rows;
		}
		let pairs = x.chunks_exact(cols).zip(out.chunks_exact_mut(cols));
		for ((x, out), label) in pairs.zip(labels) {
			let label = *label as usize;
			out[label] = (exp_with::<A>(x[label]) - 1.0) / rows;
		}
	}
}

/// Returns 1 where the first of the largest elements of a row is at its label, otherwise +0.
pub fn correct(logits: &[f32], labels: &[u32], cols: usize) -> Vec<f32> {
	let hit = |(row, label): (&[f32], &u32)| {
		let mut best = (0, row[0]);
		for (j, x) in row.iter().enumerate() {
			if *x > best.1 {
				best = (j, *x);
			}
		}
		if best.0 == *label as usize {
			1.0
		} else {
			0.0
		}
	};
	logits.chunks(cols.max(1)).zip(labels).map(hit).collect()
}

/// Outputs less their targets: 1 at the label of each row, otherwise +0, which changes nothing.
fn differences(outputs: &[f32], labels: &[u32], cols: usize) -> Vec<f32> {
	let mut out = outputs.to_vec();
	for (row, label) in out.chunks_exact_mut(cols.max(1)).zip(labels) {
		row[*label as usize] -= 1.0;
	}
	out
}

/// Returns per row `sum((x - t) * (x - t)) / cols` with `t` 1 at its label, otherwise +0.
///
/// # Panics
/// Panics if a label is not below `cols`.
pub fn squared_loss(isa: Isa, outputs: &[f32], labels: &[u32], cols: usize) -> Vec<f32> {
	let differences = differences(outputs, labels, cols);
	let mut out = vec![0.0; differences.len() / cols.max(1)];
	by_rows(&mut out, 1, cols.clamp(1, PARALLEL_FROM), |first, out| {
		let d = &differences[first * cols..][..out.len() * cols];
		isa.run(MeanSquares { d, cols, out });
	});
	out
}

struct MeanSquares<'a> {
	d: &'a [f32],
	cols: usize,
	out: &'a mut [f32],
}

impl SimdTask for MeanSquares<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for (out, d) in self.out.iter_mut().zip(self.d.chunks_exact(self.cols)) {
			*out = sum_of(d, d, |d, _| d * d) / self.cols as f32;
		}
	}
}

/// Returns the gradient of the mean of [`squared_loss`]: `(d + d) / count` with `d = x - t` and
/// `count` the number of elements.
///
/// # Panics
/// Panics if a label is not below `cols`.
pub fn squared_loss_grad(isa: Isa, outputs: &[f32], labels: &[u32], cols: usize) -> Vec<f32> {
	let count = outputs.len() as f32;
	map1(isa, Share { count }, &differences(outputs, labels, cols))
}

/// `(d + d) / count`.
#[derive(Clone, Copy)]
struct Share {
	count: f32,
}

impl Map1 for Share {
	#[inline(always)]
	fn at<A: Arithmetic>(self, d: f32) -> f32 {
		(d + d) / self.count
	}
}
