//! Pooling: the largest or the mean of each window, row by row of windows.
//!
//! A row of results takes in the elements that one tap reads after those of the tap before it;
//! the windows that a row of results reads through one tap are computed side by side. Windows
//! of 2 at a distance of 2, the usual ones, take in their four taps at once.
//!
//! The gradients add to an element in ascending order of the windows, by row and column. Rows of
//! windows are taken in ascending order. Of a row of windows, the one further right reads an
//! element by a tap further left: where its windows are taken side by side, its taps are taken
//! in descending order.

use super::super::{Arithmetic, Kernel, Task, PARALLEL_FROM};
use super::{channels::threads_for, spread};
use trainyard_primitives::ops::Window;

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

	/// Whether the windows are the usual ones.
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

	/// What tap `s` of a row of windows reads of a row of the plane: every `stride`-th element
	/// from the first to the last.
	#[inline(always)]
	fn read<'a>(&self, row: &'a [f32], s: usize) -> &'a [f32] {
		&row[s..][..(self.out_width - 1) * self.stride + 1]
	}

	/// Calls `f` for each place of a row of results, with its index and what `from`, which
	/// [`Self::read`] returned, has for it.
	#[inline(always)]
	fn join<T>(&self, out: &mut [T], from: &[f32], mut f: impl FnMut(usize, &mut T, f32)) {
		let out = out.iter_mut().enumerate();
		// The compiler makes vectors of steps that it knows.
		match self.stride {
			1 => out.zip(from).for_each(|((i, out), x)| f(i, out, *x)),
			2 => {
				assert!(2 * out.len() <= from.len() + 1);
				out.for_each(|(i, out)| {
					// SAFETY: `i` is below the length of `out`, so `2 i` below that of `from`.
					f(i, out, unsafe { *from.get_unchecked(2 * i) });
				});
			}
			step => {
				out.zip(from.iter().step_by(step)).for_each(|((i, out), x)| f(i, out, *x));
			}
		}
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

/// `OpKind::MaxPool2d`.
///
/// # Panics
/// Where the windows have padding, or `x` is not as long as they say.
pub fn max_pool(kernel: Kernel, w: &Window, x: &[f32]) -> Vec<f32> {
	pool_on(threads_for(x.len()), kernel, w, Largest, x)
}

/// `OpKind::AvgPool2d`.
///
/// # Panics
/// As [`max_pool`].
pub fn avg_pool(kernel: Kernel, w: &Window, x: &[f32]) -> Vec<f32> {
	pool_on(threads_for(x.len()), kernel, w, Mean, x)
}

pub(super) fn pool_on(
	threads: usize,
	kernel: Kernel,
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
		spread(threads, parts, |(x, out)| kernel.run(Forward { pool, _how: how, x, out }));
	}
	out
}

struct Forward<'a, R> {
	pool: Pool,
	_how: R,
	x: &'a [f32],
	out: &'a mut [f32],
}

impl<R: Reduce> Task for Forward<'_, R> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let Self { pool, x, out, .. } = self;
		let count = pool.count() as f32;
		let planes = x.chunks_exact(pool.area()).zip(out.chunks_exact_mut(pool.out_area()));
		for (plane, out) in planes {
			for (y, out) in out.chunks_exact_mut(pool.out_width).enumerate() {
				let rows = &plane[y * pool.stride * pool.width..][..pool.kernel * pool.width];
				if pool.is_halving() {
					let (above, below) = rows.split_at(pool.width);
					let (above, below) = (above.chunks_exact(2), below.chunks_exact(2));
					for ((out, a), b) in out.iter_mut().zip(above).zip(below) {
						let four = [a[0], a[1], b[0], b[1]];
						*out = R::end(four.into_iter().fold(R::START, R::take), count);
					}
					continue;
				}
				out.fill(R::START);
				for row in rows.chunks_exact(pool.width) {
					for s in 0..pool.kernel {
						pool.join(out, pool.read(row, s), |_, out, x| *out = R::take(*out, x));
					}
				}
				for out in out {
					*out = R::end(*out, count);
				}
			}
		}
	}
}

/// `OpKind::MaxPool2dGrad`.
///
/// # Panics
/// Where the windows have padding, or an operand is not as long as they say.
pub fn max_pool_grad(
	kernel: Kernel,
	w: &Window,
	gradient: &[f32],
	x: &[f32],
	maximum: &[f32],
) -> Vec<f32> {
	max_pool_grad_on(threads_for(x.len()), kernel, w, gradient, x, maximum)
}

pub(super) fn max_pool_grad_on(
	threads: usize,
	kernel: Kernel,
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
			kernel.run(MaxGrad { pool, gradient, x, maximum, out })
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

impl Task for MaxGrad<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let Self { pool, gradient, x, maximum, out } = self;
		let planes = out.chunks_exact_mut(pool.area()).zip(x.chunks_exact(pool.area()));
		let (width, kernel) = (pool.width, pool.kernel);
		let each = pool.out_area();
		let results = gradient.chunks_exact(each).zip(maximum.chunks_exact(each));
		// Of each window of a row, how far its maximum is behind its first element.
		const NONE: u32 = u32::MAX;
		let mut found = vec![NONE; pool.out_width];
		for ((out, x), (gradient, maximum)) in planes.zip(results) {
			let results = gradient.chunks_exact(pool.out_width);
			let results = results.zip(maximum.chunks_exact(pool.out_width));
			for (y, (gradient, maximum)) in results.enumerate() {
				let start = y * pool.stride * width;
				let out = &mut out[start..][..kernel * width];
				let x = &x[start..][..kernel * width];
				if pool.is_halving() {
					halving_max_grad(out, x, width, gradient, maximum);
					continue;
				}
				found.fill(NONE);
				for (r, row) in x.chunks_exact(width).enumerate() {
					for s in 0..kernel {
						let place = (r * width + s) as u32;
						pool.join(&mut found, pool.read(row, s), |i, found, x| {
							let hit = (x == maximum[i]) & (*found == NONE);
							*found = if hit { place } else { *found };
						});
					}
				}
				for (i, (place, g)) in found.iter().zip(gradient).enumerate() {
					if *place != NONE {
						out[i * pool.stride + *place as usize] += g;
					}
				}
			}
		}
	}
}

/// A row of windows of 2 at a distance of 2, on two rows of a plane: no two of them meet.
#[inline(always)]
fn halving_max_grad(out: &mut [f32], x: &[f32], width: usize, gradient: &[f32], maximum: &[f32]) {
	let (to_above, to_below) = out.split_at_mut(width);
	let (above, below) = x.split_at(width);
	let to = [to_above.as_chunks_mut().0, to_below.as_chunks_mut().0];
	let from = [above.as_chunks().0, below.as_chunks().0];
	match gradient.len() {
		8.. => halving_in_chunks::<8>(to, from, gradient, maximum),
		4.. => halving_in_chunks::<4>(to, from, gradient, maximum),
		_ => halving_in_chunks::<1>(to, from, gradient, maximum),
	}
}

/// The same by `N` windows, of which there are as many: the compiler makes vectors of them. The
/// last `N` may be computed twice.
#[inline(always)]
fn halving_in_chunks<const N: usize>(
	[to_above, to_below]: [&mut [[f32; 2]]; 2],
	[above, below]: [&[[f32; 2]]; 2],
	gradient: &[f32],
	maximum: &[f32],
) {
	// A mask: the compiler makes branches of conditions, which nobody can predict.
	let pick = |hit: bool, g: f32| f32::from_bits(g.to_bits() & u32::from(hit).wrapping_neg());
	let windows = gradient.len();
	for start in (0..windows).step_by(N) {
		let some = start.min(windows - N)..start.min(windows - N) + N;
		let (to_above, to_below) = (&mut to_above[some.clone()], &mut to_below[some.clone()]);
		let (above, below) = (&above[some.clone()], &below[some.clone()]);
		let (gradient, maximum) = (&gradient[some.clone()], &maximum[some]);
		for i in 0..N {
			// To begin at +0 and to add: a gradient of -0 becomes +0.
			let (g, m) = (gradient[i] + 0.0, maximum[i]);
			let [a, b] = above[i].map(|x| x == m);
			let [c, d] = below[i].map(|x| x == m);
			to_above[i] = [pick(a, g), pick(b & !a, g)];
			to_below[i] = [pick(c & !(a | b), g), pick(d & !(a | b | c), g)];
		}
	}
}

/// `OpKind::AvgPool2dGrad`.
///
/// # Panics
/// Where the windows have padding, or `gradient` is not as long as they say.
pub fn avg_pool_grad(kernel: Kernel, w: &Window, gradient: &[f32]) -> Vec<f32> {
	let pool = Pool::new(w);
	avg_pool_grad_on(threads_for(pool.planes * pool.area()), kernel, w, gradient)
}

pub(super) fn avg_pool_grad_on(
	threads: usize,
	kernel: Kernel,
	w: &Window,
	gradient: &[f32],
) -> Vec<f32> {
	let pool = Pool::new(w);
	let mut out = vec![0.0; pool.planes * pool.area()];
	pool.check(out.len(), gradient.len());
	if !gradient.is_empty() {
		let planes = pool.together();
		let parts = out.chunks_mut(planes * pool.area());
		let parts = parts.zip(gradient.chunks(planes * pool.out_area()));
		spread(threads, parts, |(out, gradient)| kernel.run(MeanGrad { pool, gradient, out }));
	}
	out
}

struct MeanGrad<'a> {
	pool: Pool,
	gradient: &'a [f32],
	out: &'a mut [f32],
}

impl Task for MeanGrad<'_> {
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
