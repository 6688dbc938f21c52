//! Softmax cross-entropy by rows.

use super::{
	reduce::{sum, sum_block},
	Arithmetic, Kernel, Task, PARALLEL_FROM,
};
use rayon::prelude::*;
use trainyard_primitives::strict::{exp_with, log_with, SUM_BLOCK};

/// Runs `run` on each row of `out`, with the row of `x` at its place, on threads where the
/// rows together are large.
fn by_row(x: &[f32], out: &mut [f32], cols: usize, run: impl Fn(usize, &[f32], &mut [f32]) + Sync) {
	if cols == 0 {
		return;
	}
	if x.len() < PARALLEL_FROM / 8 {
		let rows = x.chunks(cols).zip(out.chunks_mut(cols)).enumerate();
		rows.for_each(|(i, (x, out))| run(i, x, out));
	} else {
		let rows = x.par_chunks(cols).zip(out.par_chunks_mut(cols)).enumerate();
		rows.for_each(|(i, (x, out))| run(i, x, out));
	}
}

/// Per row `(x - m) - l` with `m` the maximum and `l` the logarithm of the sum of
/// `exp(x - m)`.
pub fn log_softmax(kernel: Kernel, logits: &[f32], cols: usize) -> Vec<f32> {
	let mut out = vec![0.0; logits.len()];
	by_row(logits, &mut out, cols, |_, x, out| {
		if cols <= SUM_BLOCK {
			return kernel.run(LogSoftmaxRow { x, out });
		}
		// Rows longer than a block of the sum need its recursion.
		let mut m = 0.0;
		kernel.run(Maximum { x, out: &mut m });
		let mut exps = vec![0.0; cols];
		kernel.run(ShiftedExp { x, m, exps: &mut exps });
		let total = sum(kernel, &exps);
		kernel.run(SubtractLog { x, m, total, out });
	});
	out
}

/// The largest, a zero always +0, minus infinity of none; see `strict::max`.
#[inline(always)]
fn maximum(x: &[f32]) -> f32 {
	x.iter().fold(f32::NEG_INFINITY, |m, x| if *x > m { *x } else { m }) + 0.0
}

struct LogSoftmaxRow<'a> {
	x: &'a [f32],
	out: &'a mut [f32],
}

impl Task for LogSoftmaxRow<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let m = maximum(self.x);
		ShiftedExp { x: self.x, m, exps: self.out }.run::<A>();
		let total = sum_block(self.out);
		SubtractLog { x: self.x, m, total, out: self.out }.run::<A>();
	}
}

struct Maximum<'a> {
	x: &'a [f32],
	out: &'a mut f32,
}

impl Task for Maximum<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		*self.out = maximum(self.x);
	}
}

struct ShiftedExp<'a> {
	x: &'a [f32],
	m: f32,
	exps: &'a mut [f32],
}

impl Task for ShiftedExp<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for (out, x) in self.exps.iter_mut().zip(self.x) {
			*out = exp_with::<A>(x - self.m);
		}
	}
}

struct SubtractLog<'a> {
	x: &'a [f32],
	m: f32,
	total: f32,
	out: &'a mut [f32],
}

impl Task for SubtractLog<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let l = log_with::<A>(self.total);
		for (out, x) in self.out.iter_mut().zip(self.x) {
			*out = (x - self.m) - l;
		}
	}
}

/// `-log_p[i, labels[i]]`.
///
/// # Panics
/// Where a label is not below `cols`.
pub fn row_loss(log_p: &[f32], labels: &[u32], cols: usize) -> Vec<f32> {
	labels.iter().zip(log_p.chunks(cols)).map(|(label, row)| -row[*label as usize]).collect()
}

/// `(exp(log_p[i, j]) - (1 where j = labels[i], otherwise 0)) / rows`.
///
/// # Panics
/// Where a label is not below `cols`.
pub fn row_loss_grad(kernel: Kernel, log_p: &[f32], labels: &[u32], cols: usize) -> Vec<f32> {
	let mut out = vec![0.0; log_p.len()];
	let rows = labels.len() as f32;
	by_row(log_p, &mut out, cols, |i, x, out| {
		kernel.run(GradRow { x, label: labels[i] as usize, rows, out });
	});
	out
}

struct GradRow<'a> {
	x: &'a [f32],
	label: usize,
	rows: f32,
	out: &'a mut [f32],
}

impl Task for GradRow<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for (out, x) in self.out.iter_mut().zip(self.x) {
			// Subtracting +0 from exp, which is never -0, changes nothing.
			*out = exp_with::<A>(*x) / self.rows;
		}
		self.out[self.label] = (exp_with::<A>(self.x[self.label]) - 1.0) / self.rows;
	}
}

/// 1 where the first of the largest of a row stands at its label, otherwise +0.
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
