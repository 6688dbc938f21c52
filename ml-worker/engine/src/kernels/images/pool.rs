//! Pooling: the largest or the mean of each window.
//!
//! Several windows of a row are computed side by side, tap by tap. The gradients add to an element
//! in ascending order of the windows, by row and column. Rows of windows are taken in ascending
//! order. Of a row of windows, the one further right reads an element by a tap further left:
//! where the windows of a row are taken tap by tap, the taps are taken in descending order.

use super::super::{Arithmetic, Isa, SimdTask, PARALLEL_FROM};
use super::{channels::threads_for, spread};
use trainyard_program::ops::Window;

/// Elements that one thread takes at a time.
const TASK: usize = PARALLEL_FROM / 8;

/// Windows over planes without padding.
#[derive(Clone, Copy, Debug)]
struct Pool {
	planes: usize,
	height: usize,
	width: usize,
	kernel: usize,
	stride: usize,
	out_height: usize,
	out_width: usize,
}

impl Pool {
	fn new(w: &Window) -> Self {
		assert_eq!(w.padding, 0, "pooling has no padding");
		Self {
			planes: w.images as usize * w.channels as usize,
			height: w.height as usize,
			width: w.width as usize,
			kernel: w.kernel as usize,
			stride: w.stride as usize,
			out_height: w.out_height() as usize,
			out_width: w.out_width() as usize,
		}
	}

	fn area(&self) -> usize {
		self.height * self.width
	}

	fn out_area(&self) -> usize {
		self.out_height * self.out_width
	}

	/// Elements of a window.
	fn count(&self) -> usize {
		self.kernel * self.kernel
	}

	/// Whether the windows are of 2 at a distance of 2.
	fn is_halving(&self) -> bool {
		self.kernel == 2 && self.stride == 2
	}

	/// Checks the numbers of elements of planes and results.
	fn check(&self, x: usize, out: usize) {
		assert_eq!(x, self.planes * self.area(), "elements of the planes");
		assert_eq!(out, self.planes * self.out_area(), "elements of the result");
	}

	/// Planes that one thread takes at a time.
	fn together(&self) -> usize {
		(TASK / self.area().max(1)).max(1)
	}

	/// Returns where the windows begin that are computed `N` at a time, of the given number in a
	/// row. The last ones may be computed twice.
	#[inline(always)]
	fn starts<const N: usize>(&self) -> impl Iterator<Item = usize> {
		let last = self.out_width - N;
		(0..self.out_width).step_by(N).map(move |start| start.min(last))
	}

	/// What tap `s` of the `N` windows from `start` on reads of a row of the plane: every `S`-th
	/// element. `S` is the stride; 0 stands for any where `N` is 1.
	#[inline(always)]
	fn read<'a, const N: usize, const S: usize>(
		&self,
		row: &'a [f32],
		start: usize,
		s: usize,
	) -> &'a [f32] {
		&row[start * self.stride + s..][..(N - 1) * S + 1]
	}

	/// Adds a value for each window of a row to what its tap `s` reads of `row`.
	#[inline(always)]
	fn add(&self, row: &mut [f32], s: usize, values: impl Iterator<Item = f32>) {
		match self.stride {
			1 => row[s..].iter_mut().zip(values).for_each(|(to, x)| *to += x),
			step => {
				row[s..].iter_mut().step_by(step).zip(values).for_each(|(to, x)| *to += x);
			}
		}
	}
}

/// Runs `windows::<N, S>` of a task: `N` windows of a row at a time, which the compiler makes
/// vectors of, at a distance of `S`.
macro_rules! side_by_side {
	($task:expr) => {
		match ($task.pool.stride, $task.pool.out_width) {
			(1, 8..) => $task.windows::<8, 1>(),
			(2, 8..) => $task.windows::<8, 2>(),
			(1, 4..) => $task.windows::<4, 1>(),
			(2, 4..) => $task.windows::<4, 2>(),
			_ => $task.windows::<1, 0>(),
		}
	};
}

/// How the elements of a window become a result.
pub(super) trait Reduce: Copy + Sync {
	const START: f32;
	fn take(so_far: f32, x: f32) -> f32;
	fn end(result: f32, count: f32) -> f32;
}

#[derive(Clone, Copy)]
pub(super) struct Largest;

impl Reduce for Largest {
	const START: f32 = f32::NEG_INFINITY;

	#[inline(always)]
	fn take(so_far: f32, x: f32) -> f32 {
		if x > so_far {
			x
		} else {
			so_far
		}
	}

	#[inline(always)]
	fn end(result: f32, _count: f32) -> f32 {
		result + 0.0
	}
}

#[derive(Clone, Copy)]
pub(super) struct Mean;

impl Reduce for Mean {
	const START: f32 = 0.0;

	#[inline(always)]
	fn take(so_far: f32, x: f32) -> f32 {
		so_far + x
	}

	#[inline(always)]
	fn end(result: f32, count: f32) -> f32 {
		result / count
	}
}

/// Computes `OpKind::MaxPool2d`.
///
/// # Panics
/// Panics if the windows have padding, or `x` is not as long as they say.
pub fn max_pool(isa: Isa, w: &Window, x: &[f32]) -> Vec<f32> {
	pool_on(threads_for(x.len()), isa, w, Largest, x)
}

/// Computes `OpKind::AvgPool2d`.
///
/// # Panics
/// Panics as [`max_pool`] does.
pub fn avg_pool(isa: Isa, w: &Window, x: &[f32]) -> Vec<f32> {
	pool_on(threads_for(x.len()), isa, w, Mean, x)
}

pub(super) fn pool_on(
	threads: usize,
	isa: Isa,
	w: &Window,
	how: impl Reduce,
	x: &[f32],
) -> Vec<f32> {
	let pool = Pool::new(w);
	let mut out = vec![0.0; pool.planes * pool.out_area()];
	pool.check(x.len(), out.len());
	if !out.is_empty() {
		let planes = pool.together();
		let parts = x.chunks(planes * pool.area());
		let parts = parts.zip(out.chunks_mut(planes * pool.out_area()));
		spread(threads, parts, |(x, out)| isa.run(Forward { pool, _how: how, x, out }));
	}
	out
}

struct Forward<'a, R> {
	pool: Pool,
	_how: R,
	x: &'a [f32],
	out: &'a mut [f32],
}

impl<R: Reduce> SimdTask for Forward<'_, R> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		side_by_side!(self);
	}
}

impl<R: Reduce> Forward<'_, R> {
	#[inline(always)]
	fn windows<const N: usize, const S: usize>(self) {
		let Self { pool, x, out, .. } = self;
		let count = pool.count() as f32;
		let planes = x.chunks_exact(pool.area()).zip(out.chunks_exact_mut(pool.out_area()));
		for (plane, out) in planes {
			for (y, out) in out.chunks_exact_mut(pool.out_width).enumerate() {
				let rows = &plane[y * pool.stride * pool.width..][..pool.kernel * pool.width];
				for start in pool.starts::<N>() {
					let mut results = [R::START; N];
					for row in rows.chunks_exact(pool.width) {
						for s in 0..pool.kernel {
							let read = pool.read::<N, S>(row, start, s);
							for (i, result) in results.iter_mut().enumerate() {
								*result = R::take(*result, read[i * S]);
							}
						}
					}
					out[start..start + N].copy_from_slice(&results.map(|x| R::end(x, count)));
				}
			}
		}
	}
}

/// Computes `OpKind::MaxPool2dGrad`.
///
/// # Panics
/// Panics if the windows have padding, or an operand is not as long as they say.
pub fn max_pool_grad(
	isa: Isa,
	w: &Window,
	gradient: &[f32],
	x: &[f32],
	maximum: &[f32],
) -> Vec<f32> {
	max_pool_grad_on(threads_for(x.len()), isa, w, gradient, x, maximum)
}

pub(super) fn max_pool_grad_on(
	threads: usize,
	isa: Isa,
	w: &Window,
	gradient: &[f32],
	x: &[f32],
	maximum: &[f32],
) -> Vec<f32> {
	let pool = Pool::new(w);
	let mut out = vec![0.0; x.len()];
	pool.check(x.len(), gradient.len());
	pool.check(x.len(), maximum.len());
	if !gradient.is_empty() {
		let (planes, area) = (pool.together(), pool.area());
		let results = planes * pool.out_area();
		let parts = out.chunks_mut(planes * area).zip(x.chunks(planes * area));
		let parts = parts.zip(gradient.chunks(results).zip(maximum.chunks(results)));
		spread(threads, parts, |((out, x), (gradient, maximum))| {
			isa.run(MaxGrad { pool, gradient, x, maximum, out })
		});
	}
	out
}

struct MaxGrad<'a> {
	pool: Pool,
	gradient: &'a [f32],
	x: &'a [f32],
	maximum: &'a [f32],
	out: &'a mut [f32],
}

impl SimdTask for MaxGrad<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		side_by_side!(self);
	}
}

impl MaxGrad<'_> {
	#[inline(always)]
	fn windows<const N: usize, const S: usize>(self) {
		const NONE: u32 = u32::MAX;
		let Self { pool, gradient, x, maximum, out } = self;
		let (width, kernel, each) = (pool.width, pool.kernel, pool.out_area());
		let planes = out.chunks_exact_mut(pool.area()).zip(x.chunks_exact(pool.area()));
		let results = gradient.chunks_exact(each).zip(maximum.chunks_exact(each));
		// Of each window of a row, how many elements its maximum is after its first element.
		let mut found = vec![NONE; pool.out_width];
		for ((out, x), (gradient, maximum)) in planes.zip(results) {
			let results = gradient.chunks_exact(pool.out_width);
			let results = results.zip(maximum.chunks_exact(pool.out_width));
			for (y, (gradient, maximum)) in results.enumerate() {
				let start = y * pool.stride * width;
				let rows = &x[start..][..kernel * width];
				for start in pool.starts::<N>() {
					let (mut places, maximum) = ([NONE; N], &maximum[start..start + N]);
					// Backwards, so that the first of equals stays.
					for (r, row) in rows.chunks_exact(width).enumerate().rev() {
						for s in (0..kernel).rev() {
							let read = pool.read::<N, S>(row, start, s);
							let place = (r * width + s) as u32;
							for (i, found) in places.iter_mut().enumerate() {
								*found = if read[i * S] == maximum[i] { place } else { *found };
							}
						}
					}
					found[start..start + N].copy_from_slice(&places);
				}
				let out = &mut out[start..][..kernel * width];
				for (i, (place, g)) in found.iter().zip(gradient).enumerate() {
					if *place != NONE {
						out[i * pool.stride + *place as usize] += g;
					}
				}
			}
		}
	}
}

/// Computes `OpKind::AvgPool2dGrad`.
///
/// # Panics
/// Panics if the windows have padding, or `gradient` is not as long as they say.
pub fn avg_pool_grad(isa: Isa, w: &Window, gradient: &[f32]) -> Vec<f32> {
	let pool = Pool::new(w);
	avg_pool_grad_on(threads_for(pool.planes * pool.area()), isa, w, gradient)
}

pub(super) fn avg_pool_grad_on(threads: usize, isa: Isa, w: &Window, gradient: &[f32]) -> Vec<f32> {
	let pool = Pool::new(w);
	let mut out = vec![0.0; pool.planes * pool.area()];
	pool.check(out.len(), gradient.len());
	if !gradient.is_empty() {
		let planes = pool.together();
		let parts = out.chunks_mut(planes * pool.area());
		let parts = parts.zip(gradient.chunks(planes * pool.out_area()));
		spread(threads, parts, |(out, gradient)| isa.run(MeanGrad { pool, gradient, out }));
	}
	out
}

struct MeanGrad<'a> {
	pool: Pool,
	gradient: &'a [f32],
	out: &'a mut [f32],
}

impl SimdTask for MeanGrad<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let Self { pool, gradient, out } = self;
		let (width, count) = (pool.width, pool.count() as f32);
		let mut shares = vec![0.0f32; pool.out_width];
		let gradients = gradient.chunks_exact(pool.out_area());
		for (out, gradient) in out.chunks_exact_mut(pool.area()).zip(gradients) {
			for (y, gradient) in gradient.chunks_exact(pool.out_width).enumerate() {
				let out = &mut out[y * pool.stride * width..][..pool.kernel * width];
				for (share, g) in shares.iter_mut().zip(gradient) {
					*share = g / count;
				}
				if pool.is_halving() {
					for row in out.chunks_exact_mut(width) {
						for (to, share) in row.chunks_exact_mut(2).zip(&shares) {
							to.fill(share + 0.0);
						}
					}
					continue;
				}
				for row in out.chunks_exact_mut(width) {
					for s in (0..pool.kernel).rev() {
						pool.add(row, s, shares.iter().copied());
					}
				}
			}
		}
	}
}
