//! Operators whose every output depends on the elements at its own place.

use super::{Arithmetic, Kernel, Task, PARALLEL_FROM};
use rayon::prelude::*;

/// Elements that one thread takes at a time.
const CHUNK: usize = PARALLEL_FROM / 8;

/// `f` at one place of one, two or three operands.
pub trait Map1: Copy + Sync {
	/// The output.
	fn at<A: Arithmetic>(self, x: f32) -> f32;
}

/// See [`Map1`].
pub trait Map2: Copy + Sync {
	/// The output.
	fn at<A: Arithmetic>(self, x: f32, y: f32) -> f32;
}

/// See [`Map1`].
pub trait Map3: Copy + Sync {
	/// The output.
	fn at<A: Arithmetic>(self, x: f32, y: f32, z: f32) -> f32;
}

/// One operand.
pub fn map1(kernel: Kernel, f: impl Map1, x: &[f32]) -> Vec<f32> {
	let mut out = vec![0.0; x.len()];
	let run = |(out, x): (&mut [f32], &[f32])| kernel.run(One { f, x, out });
	if x.len() < PARALLEL_FROM {
		run((&mut out, x));
	} else {
		out.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(run);
	}
	out
}

/// Two operands.
///
/// # Panics
/// Where the operands differ in length.
pub fn map2(kernel: Kernel, f: impl Map2, x: &[f32], y: &[f32]) -> Vec<f32> {
	assert_eq!(x.len(), y.len());
	let mut out = vec![0.0; x.len()];
	let run = |(out, (x, y)): (&mut [f32], (&[f32], &[f32]))| kernel.run(Two { f, x, y, out });
	if x.len() < PARALLEL_FROM {
		run((&mut out, (x, y)));
	} else {
		let operands = x.par_chunks(CHUNK).zip(y.par_chunks(CHUNK));
		out.par_chunks_mut(CHUNK).zip(operands).for_each(run);
	}
	out
}

/// Three operands.
///
/// # Panics
/// Where the operands differ in length.
pub fn map3(kernel: Kernel, f: impl Map3, x: &[f32], y: &[f32], z: &[f32]) -> Vec<f32> {
	assert!(x.len() == y.len() && y.len() == z.len());
	let mut out = vec![0.0; x.len()];
	let run = |(out, ((x, y), z)): (&mut [f32], ((&[f32], &[f32]), &[f32]))| {
		kernel.run(Three { f, x, y, z, out })
	};
	if x.len() < PARALLEL_FROM {
		run((&mut out, ((x, y), z)));
	} else {
		let operands = x.par_chunks(CHUNK).zip(y.par_chunks(CHUNK)).zip(z.par_chunks(CHUNK));
		out.par_chunks_mut(CHUNK).zip(operands).for_each(run);
	}
	out
}

struct One<'a, F> {
	f: F,
	x: &'a [f32],
	out: &'a mut [f32],
}

impl<F: Map1> Task for One<'_, F> {
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

impl<F: Map2> Task for Two<'_, F> {
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

impl<F: Map3> Task for Three<'_, F> {
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
		trainyard_primitives::strict::relu(x)
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

/// `a[i, j] + row[j]` for rows of `row`'s length.
pub fn add_row(kernel: Kernel, a: &[f32], row: &[f32]) -> Vec<f32> {
	let mut out = a.to_vec();
	if row.is_empty() {
		return out;
	}
	let run = |out: &mut [f32]| kernel.run(AddRow { row, out });
	if out.len() < PARALLEL_FROM {
		run(&mut out);
	} else {
		out.par_chunks_mut(row.len() * (CHUNK / row.len()).max(1)).for_each(run);
	}
	out
}

struct AddRow<'a> {
	row: &'a [f32],
	out: &'a mut [f32],
}

impl Task for AddRow<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for out in self.out.chunks_exact_mut(self.row.len()) {
			for (out, x) in out.iter_mut().zip(self.row) {
				*out += x;
			}
		}
	}
}
