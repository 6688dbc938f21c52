//! candle custom operators around kernels: they find the operands' elements in memory, and give the
//! result the shape that the program declares. They have no gradients: the program has its own.

use super::layout::{elements, matrices};
use crate::kernels::{matmul, Isa};
use candle_core::{
	bail, CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Result, Shape, Tensor,
};

/// Applies `f` to the elements of `x`; the result has this shape.
pub fn unary(
	name: &'static str,
	shape: &[usize],
	x: &Tensor,
	f: impl Fn(&[f32]) -> Vec<f32>,
) -> Result<Tensor> {
	x.apply_op1_no_bwd(&Unary { name, shape, f })
}

/// Applies `f` to the elements of `x` and `y`.
pub fn binary(
	name: &'static str,
	shape: &[usize],
	[x, y]: [&Tensor; 2],
	f: impl Fn(&[f32], &[f32]) -> Vec<f32>,
) -> Result<Tensor> {
	x.apply_op2_no_bwd(y, &Binary { name, shape, f })
}

/// Applies `f` to the elements of `x` and the labels of its rows.
pub fn labelled(
	name: &'static str,
	shape: &[usize],
	[x, labels]: [&Tensor; 2],
	f: impl Fn(&[f32], &[u32]) -> Vec<f32>,
) -> Result<Tensor> {
	x.apply_op2_no_bwd(labels, &Labelled { name, shape, f })
}

/// Applies `f` to the elements of `x`, `y` and `z`.
pub fn ternary(
	name: &'static str,
	shape: &[usize],
	[x, y, z]: [&Tensor; 3],
	f: impl Fn(&[f32], &[f32], &[f32]) -> Vec<f32>,
) -> Result<Tensor> {
	x.apply_op3_no_bwd(y, z, &Ternary { name, shape, f })
}

/// Returns what a kernel made, in the shape that the program declares.
fn made(name: &str, out: Vec<f32>, shape: &[usize]) -> Result<(CpuStorage, Shape)> {
	let shape = Shape::from(shape);
	if out.len() != shape.elem_count() {
		bail!("{name} made {} numbers for {shape:?}", out.len());
	}
	Ok((CpuStorage::F32(out), shape))
}

/// Products of matrices, which are read where they lie if strides can say how.
pub struct Product<'a> {
	/// The operator.
	pub name: &'static str,
	/// The instruction set that computes it.
	pub isa: Isa,
	/// Whether the matrices of the left and of the right operand are stored transposed.
	pub transposed: [bool; 2],
	/// Pairs of matrices.
	pub batch: usize,
	/// Rows and columns of a result, and the length of the dot products.
	pub extents: [usize; 3],
	/// The shape that the program declares for the result.
	pub shape: &'a [usize],
}

impl CustomOp2 for Product<'_> {
	fn name(&self) -> &'static str {
		self.name
	}

	fn cpu_fwd(
		&self,
		s1: &CpuStorage,
		l1: &Layout,
		s2: &CpuStorage,
		l2: &Layout,
	) -> Result<(CpuStorage, Shape)> {
		let (batch, [m, n, k]) = (self.batch, self.extents);
		let [transpose_a, transpose_b] = self.transposed;
		let (a, b) = (
			matrices(s1, l1, batch, [m, k], transpose_a)?,
			matrices(s2, l2, batch, [k, n], transpose_b)?,
		);
		let mut out = vec![0.0; batch * m * n];
		matmul::matmul_batched(self.isa, a.batch(), b.batch(), batch, self.extents, &mut out);
		made(self.name, out, self.shape)
	}
}

struct Unary<'a, F> {
	name: &'static str,
	shape: &'a [usize],
	f: F,
}

impl<F: Fn(&[f32]) -> Vec<f32>> CustomOp1 for Unary<'_, F> {
	fn name(&self) -> &'static str {
		self.name
	}

	fn cpu_fwd(&self, s: &CpuStorage, l: &Layout) -> Result<(CpuStorage, Shape)> {
		made(self.name, (self.f)(&elements(s, l)?), self.shape)
	}
}

struct Binary<'a, F> {
	name: &'static str,
	shape: &'a [usize],
	f: F,
}

impl<F: Fn(&[f32], &[f32]) -> Vec<f32>> CustomOp2 for Binary<'_, F> {
	fn name(&self) -> &'static str {
		self.name
	}

	fn cpu_fwd(
		&self,
		s1: &CpuStorage,
		l1: &Layout,
		s2: &CpuStorage,
		l2: &Layout,
	) -> Result<(CpuStorage, Shape)> {
		made(self.name, (self.f)(&elements(s1, l1)?, &elements(s2, l2)?), self.shape)
	}
}

struct Labelled<'a, F> {
	name: &'static str,
	shape: &'a [usize],
	f: F,
}

impl<F: Fn(&[f32], &[u32]) -> Vec<f32>> CustomOp2 for Labelled<'_, F> {
	fn name(&self) -> &'static str {
		self.name
	}

	fn cpu_fwd(
		&self,
		s1: &CpuStorage,
		l1: &Layout,
		s2: &CpuStorage,
		l2: &Layout,
	) -> Result<(CpuStorage, Shape)> {
		made(self.name, (self.f)(&elements(s1, l1)?, &elements(s2, l2)?), self.shape)
	}
}

struct Ternary<'a, F> {
	name: &'static str,
	shape: &'a [usize],
	f: F,
}

impl<F: Fn(&[f32], &[f32], &[f32]) -> Vec<f32>> CustomOp3 for Ternary<'_, F> {
	fn name(&self) -> &'static str {
		self.name
	}

	fn cpu_fwd(
		&self,
		s1: &CpuStorage,
		l1: &Layout,
		s2: &CpuStorage,
		l2: &Layout,
		s3: &CpuStorage,
		l3: &Layout,
	) -> Result<(CpuStorage, Shape)> {
		let (x, y, z) = (elements(s1, l1)?, elements(s2, l2)?, elements(s3, l3)?);
		made(self.name, (self.f)(&x, &y, &z), self.shape)
	}
}
