//! Operators whose every output depends on the elements at its own place.

use super::{
	rows::{by_rows, part},
	Arithmetic, Isa, SimdTask, PARALLEL_FROM,
};
use rayon::prelude::*;

/// Chunks of the fewest elements that are worth threads.
const CHUNKS: usize = 8;

/// A function of the elements at one place of one, two or three operands.
pub trait Map1: Copy + Sync {
	/// Roughly how many times as long as an addition it takes. A slower function is worth threads
	/// from fewer elements on.
	const WORK: usize = 1;

	/// The output.
	fn at<A: Arithmetic>(self, x: f32) -> f32;
}

/// See [`Map1`].
pub trait Map2: Copy + Sync {
	/// See [`Map1::WORK`].
	const WORK: usize = 1;

	/// The output.
	fn at<A: Arithmetic>(self, x: f32, y: f32) -> f32;
}

/// See [`Map1`].
pub trait Map3: Copy + Sync {
	/// The output.
	fn at<A: Arithmetic>(self, x: f32, y: f32, z: f32) -> f32;
}

/// Applies `f` to every place of one operand.
pub fn map1<F: Map1>(isa: Isa, f: F, x: &[f32]) -> Vec<f32> {
	let mut out = vec![0.0; x.len()];
	let run = |(out, x): (&mut [f32], &[f32])| isa.run(One { f, x, out });
	match chunk(x.len(), F::WORK) {
		None => run((&mut out, x)),
		Some(chunk) => out.par_chunks_mut(chunk).zip(x.par_chunks(chunk)).for_each(run),
	}
	out
}

/// Applies `f` to every place of two operands.
///
/// # Panics
/// Panics if the operands differ in length.
pub fn map2<F: Map2>(isa: Isa, f: F, x: &[f32], y: &[f32]) -> Vec<f32> {
	assert_eq!(x.len(), y.len());
	let mut out = vec![0.0; x.len()];
	let run = |(out, (x, y)): (&mut [f32], (&[f32], &[f32]))| isa.run(Two { f, x, y, out });
	match chunk(x.len(), F::WORK) {
		None => run((&mut out, (x, y))),
		Some(chunk) => {
			let operands = x.par_chunks(chunk).zip(y.par_chunks(chunk));
			out.par_chunks_mut(chunk).zip(operands).for_each(run);
		}
	}
	out
}

/// Applies `f` to every place of three operands.
///
/// # Panics
/// Panics if the operands differ in length.
pub fn map3(isa: Isa, f: impl Map3, x: &[f32], y: &[f32], z: &[f32]) -> Vec<f32> {
	assert!(x.len() == y.len() && y.len() == z.len());
	let mut out = vec![0.0; x.len()];
	type Place<'a> = (&'a mut [f32], ((&'a [f32], &'a [f32]), &'a [f32]));
	let run = |(out, ((x, y), z)): Place<'_>| isa.run(Three { f, x, y, z, out });
	match chunk(x.len(), 1) {
		None => run((&mut out, ((x, y), z))),
		Some(chunk) => {
			let operands = x.par_chunks(chunk).zip(y.par_chunks(chunk)).zip(z.par_chunks(chunk));
			out.par_chunks_mut(chunk).zip(operands).for_each(run);
		}
	}
	out
}

/// Elements that one thread takes at a time; none where a second thread is not worth it.
fn chunk(len: usize, work: usize) -> Option<usize> {
	let from = PARALLEL_FROM / work;
	(len >= from).then_some(from / CHUNKS)
}

struct One<'a, F> {
	f: F,
	x: &'a [f32],
	out: &'a mut [f32],
}

impl<F: Map1> SimdTask for One<'_, F> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for (out, x) in self.out.iter_mut().zip(self.x) {
			*out = self.f.at::<A>(*x);
		}
	}
}

struct Two<'a, F> {
	f: F,
	x: &'a [f32],
	y: &'a [f32],
	out: &'a mut [f32],
}

impl<F: Map2> SimdTask for Two<'_, F> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for ((out, x), y) in self.out.iter_mut().zip(self.x).zip(self.y) {
			*out = self.f.at::<A>(*x, *y);
		}
	}
}

struct Three<'a, F> {
	f: F,
	x: &'a [f32],
	y: &'a [f32],
	z: &'a [f32],
	out: &'a mut [f32],
}

impl<F: Map3> SimdTask for Three<'_, F> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for (((out, x), y), z) in self.out.iter_mut().zip(self.x).zip(self.y).zip(self.z) {
			*out = self.f.at::<A>(*x, *y, *z);
		}
	}
}

/// `x` where `x > 0`, otherwise +0.
#[derive(Clone, Copy, Debug)]
pub struct Relu;

impl Map1 for Relu {
	#[inline(always)]
	fn at<A: Arithmetic>(self, x: f32) -> f32 {
		trainyard_strict::relu(x)
	}
}

/// The gradient where the activation is above 0, otherwise +0.
#[derive(Clone, Copy, Debug)]
pub struct ReluGrad;

impl Map2 for ReluGrad {
	#[inline(always)]
	fn at<A: Arithmetic>(self, gradient: f32, activation: f32) -> f32 {
		if activation > 0.0 {
			gradient
		} else {
			0.0
		}
	}
}

/// `factor x`.
#[derive(Clone, Copy, Debug)]
pub struct Scale(pub f32);

impl Map1 for Scale {
	#[inline(always)]
	fn at<A: Arithmetic>(self, x: f32) -> f32 {
		self.0 * x
	}
}

/// `x + y`.
#[derive(Clone, Copy, Debug)]
pub struct Add;

impl Map2 for Add {
	#[inline(always)]
	fn at<A: Arithmetic>(self, x: f32, y: f32) -> f32 {
		x + y
	}
}

/// `a[i, j] + row[j]` for rows of `row`'s length.
pub fn add_row(isa: Isa, a: &[f32], row: &[f32]) -> Vec<f32> {
	let mut out = vec![0.0; a.len()];
	by_rows(&mut out, row.len(), 1, |first, out| {
		isa.run(AddRow { a: part(a, first, row.len(), out), row, out });
	});
	out
}

struct AddRow<'a> {
	a: &'a [f32],
	row: &'a [f32],
	out: &'a mut [f32],
}

impl SimdTask for AddRow<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let cols = self.row.len();
		for (out, a) in self.out.chunks_exact_mut(cols).zip(self.a.chunks_exact(cols)) {
			for ((out, a), x) in out.iter_mut().zip(a).zip(self.row) {
				*out = a + x;
			}
		}
	}
}
