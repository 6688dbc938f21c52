//! The operators of the list as candle custom operators, without gradients: the list has
//! its own. Operators that have no kernel yet run on the reference executor, slowly.

use super::{
	images,
	kernels::{
		elementwise::{add_row, map1, map2, map3, Relu, ReluGrad, Scale},
		loss, matmul,
		optimizer::{AdamStep, Ema, EmaSquare, MulAdd},
		reduce, Kernel,
	},
	EngineError,
};
use candle_core::{
	CpuStorage, CustomOp1, CustomOp2, CustomOp3, DType, Device, Error, Layout, Result, Shape,
	Tensor, WithDType,
};
use std::collections::BTreeMap;
use trainyard_primitives::{
	ops::{Factor, OpKind, TensorId},
	strict::{
		self,
		exec::{self, Moment},
	},
};

/// The result of the operator `kind` at `moment`, of the `shape` that the list declares.
pub fn apply<'a>(
	kernel: Kernel,
	kind: &OpKind,
	moment: Moment,
	shape: &[usize],
	read: impl Fn(TensorId) -> std::result::Result<&'a Tensor, EngineError>,
) -> std::result::Result<Tensor, EngineError> {
	let number = |factor: Factor| -> std::result::Result<f32, EngineError> {
		match factor {
			Factor::Nano(nano) => Ok(nano.to_f32()),
			Factor::Tensor(id) => {
				let values = read(id)?.flatten_all()?.to_vec1::<f32>()?;
				Ok(values.first().copied().unwrap_or_default())
			}
		}
	};
	let out = match *kind {
		OpKind::MatMul { a, b, transpose_a, transpose_b, m, n, k } => {
			let shape = [m as usize, n as usize, k as usize];
			let [m, n, _] = shape;
			let f = |a: &[f32], b: &[f32]| {
				let a = matmul::Operand { data: a, transposed: transpose_a };
				let b = matmul::Operand { data: b, transposed: transpose_b };
				let mut out = vec![0.0; m * n];
				matmul::matmul(kernel, a, b, shape, &mut out);
				out
			};
			let op = Binary { name: "strict-matmul", shape: (m, n).into(), f };
			read(a)?.apply_op2_no_bwd(read(b)?, &op)
		}
		OpKind::AddRow { a, row, .. } => {
			let (a, row) = (read(a)?, read(row)?);
			let f = |a: &[f32], row: &[f32]| add_row(kernel, a, row);
			a.apply_op2_no_bwd(row, &Binary { name: "strict-add-row", shape: a.shape().clone(), f })
		}
		OpKind::Relu { a, .. } => unary("strict-relu", read(a)?, |x| map1(kernel, Relu, x)),
		OpKind::ReluGrad { gradient, activation, .. } => {
			binary("strict-relu-grad", read(gradient)?, read(activation)?, |g, a| {
				map2(kernel, ReluGrad, g, a)
			})
		}
		OpKind::LogSoftmax { logits, cols, .. } => {
			unary("strict-log-softmax", read(logits)?, |x| {
				loss::log_softmax(kernel, x, cols as usize)
			})
		}
		OpKind::RowLoss { log_p, labels, rows, cols } => {
			let f = |x: &[f32], y: &[u32]| loss::row_loss(x, y, cols as usize);
			let op = Labelled { name: "strict-row-loss", shape: (rows as usize).into(), f };
			read(log_p)?.apply_op2_no_bwd(read(labels)?, &op)
		}
		OpKind::RowLossGrad { log_p, labels, rows, cols } => {
			let (rows, cols) = (rows as usize, cols as usize);
			let f = |x: &[f32], y: &[u32]| loss::row_loss_grad(kernel, x, y, cols);
			let op = Labelled { name: "strict-row-loss-grad", shape: (rows, cols).into(), f };
			read(log_p)?.apply_op2_no_bwd(read(labels)?, &op)
		}
		OpKind::Correct { logits, labels, rows, cols } => {
			let f = |x: &[f32], y: &[u32]| loss::correct(x, y, cols as usize);
			let op = Labelled { name: "strict-correct", shape: (rows as usize).into(), f };
			read(logits)?.apply_op2_no_bwd(read(labels)?, &op)
		}
		OpKind::Mean { a, len } => {
			let f = |x: &[f32]| vec![reduce::sum(kernel, x) / len as f32];
			read(a)?.apply_op1_no_bwd(&Unary { name: "strict-mean", shape: 1.into(), f })
		}
		OpKind::SumRows { a, cols, .. } => {
			let cols = cols as usize;
			let f = |x: &[f32]| reduce::sum_rows(kernel, x, cols);
			read(a)?.apply_op1_no_bwd(&Unary { name: "strict-sum-rows", shape: cols.into(), f })
		}
		OpKind::Scale { x, factor, .. } => {
			let factor = number(factor)?;
			unary("strict-scale", read(x)?, |x| map1(kernel, Scale(factor), x))
		}
		OpKind::Decay { x, learning_rate, weight_decay, .. } => {
			let factor = strict::decay(number(learning_rate)?, weight_decay.to_f32());
			unary("strict-decay", read(x)?, |x| map1(kernel, Scale(factor), x))
		}
		OpKind::MulAdd { x, y, factor, negate, .. } => {
			let factor = number(factor)?;
			let factor = if negate { -factor } else { factor };
			binary("strict-mul-add", read(x)?, read(y)?, |x, y| map2(kernel, MulAdd(factor), x, y))
		}
		OpKind::Ema { average, x, keep, take, .. } => {
			let f = Ema { keep: keep.to_f32(), take: take.to_f32() };
			binary("strict-ema", read(average)?, read(x)?, |a, x| map2(kernel, f, a, x))
		}
		OpKind::EmaSquare { average, x, keep, take, .. } => {
			let f = EmaSquare { keep: keep.to_f32(), take: take.to_f32() };
			binary("strict-ema-square", read(average)?, read(x)?, |a, x| map2(kernel, f, a, x))
		}
		OpKind::AdamStep { x, m, v, power1, power2, learning_rate, epsilon, .. } => {
			let rest = |power| number(Factor::Tensor(power)).map(|power| 1.0 - power);
			let step = AdamStep {
				minus_learning_rate: -number(learning_rate)?,
				rest1: rest(power1)?,
				rest2: rest(power2)?,
				epsilon: epsilon.to_f32(),
			};
			let x = read(x)?;
			let f = |x: &[f32], m: &[f32], v: &[f32]| map3(kernel, step, x, m, v);
			let op = Ternary { name: "strict-adam-step", shape: x.shape().clone(), f };
			x.apply_op3_no_bwd(read(m)?, read(v)?, &op)
		}
		ref other => {
			return images::apply(kernel, other, shape, &read)
				.unwrap_or_else(|| reference(other, moment, shape, &read))
		}
	};
	let out = out?;
	// The same elements; operators on vectors see images and sequences as rows.
	Ok(if out.dims() == shape { out } else { out.reshape(shape)? })
}

/// The result of an operator from the reference executor: one scalar at a time.
fn reference<'a>(
	kind: &OpKind,
	moment: Moment,
	shape: &[usize],
	read: impl Fn(TensorId) -> std::result::Result<&'a Tensor, EngineError>,
) -> std::result::Result<Tensor, EngineError> {
	let (mut values, mut labels) = (BTreeMap::new(), Vec::new());
	for id in kind.inputs() {
		let tensor = read(id)?.flatten_all()?;
		match tensor.dtype() {
			DType::U32 => labels = tensor.to_vec1::<u32>()?,
			_ => drop(values.insert(id, tensor.to_vec1::<f32>()?)),
		}
	}
	let missing = |id| exec::ExecError::Missing { tensor: format!("number {id}") };
	let operand = |id| values.get(&id).map(Vec::as_slice).ok_or_else(|| missing(id));
	let out = exec::operator(kind, &labels, moment, operand).map_err(EngineError::Operator)?;
	Ok(Tensor::from_vec(out, shape, &Device::Cpu)?)
}

/// An operator whose result has the operand's shape.
fn unary(name: &'static str, x: &Tensor, f: impl Fn(&[f32]) -> Vec<f32>) -> Result<Tensor> {
	x.apply_op1_no_bwd(&Unary { name, shape: x.shape().clone(), f })
}

/// An operator whose result has both operands' shape.
fn binary(
	name: &'static str,
	x: &Tensor,
	y: &Tensor,
	f: impl Fn(&[f32], &[f32]) -> Vec<f32>,
) -> Result<Tensor> {
	x.apply_op2_no_bwd(y, &Binary { name, shape: x.shape().clone(), f })
}

/// The elements of an operand, which must be contiguous.
fn elements<'a, T: WithDType>(
	op: &'static str,
	storage: &'a CpuStorage,
	layout: &Layout,
) -> Result<&'a [T]> {
	let (start, end) =
		layout.contiguous_offsets().ok_or_else(|| Error::RequiresContiguous { op }.bt())?;
	Ok(&storage.as_slice::<T>()?[start..end])
}

pub(super) struct Unary<F> {
	pub name: &'static str,
	pub shape: Shape,
	pub f: F,
}

impl<F: Fn(&[f32]) -> Vec<f32>> CustomOp1 for Unary<F> {
	fn name(&self) -> &'static str {
		self.name
	}

	fn cpu_fwd(&self, s: &CpuStorage, l: &Layout) -> Result<(CpuStorage, Shape)> {
		let out = (self.f)(elements(self.name, s, l)?);
		Ok((CpuStorage::F32(out), self.shape.clone()))
	}
}

pub(super) struct Binary<F> {
	pub name: &'static str,
	pub shape: Shape,
	pub f: F,
}

impl<F: Fn(&[f32], &[f32]) -> Vec<f32>> CustomOp2 for Binary<F> {
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
		let out = (self.f)(elements(self.name, s1, l1)?, elements(self.name, s2, l2)?);
		Ok((CpuStorage::F32(out), self.shape.clone()))
	}
}

/// An operator on rows and their labels.
struct Labelled<F> {
	name: &'static str,
	shape: Shape,
	f: F,
}

impl<F: Fn(&[f32], &[u32]) -> Vec<f32>> CustomOp2 for Labelled<F> {
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
		let out = (self.f)(elements(self.name, s1, l1)?, elements(self.name, s2, l2)?);
		Ok((CpuStorage::F32(out), self.shape.clone()))
	}
}

pub(super) struct Ternary<F> {
	pub name: &'static str,
	pub shape: Shape,
	pub f: F,
}

impl<F: Fn(&[f32], &[f32], &[f32]) -> Vec<f32>> CustomOp3 for Ternary<F> {
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
		let (x, y) = (elements(self.name, s1, l1)?, elements(self.name, s2, l2)?);
		let out = (self.f)(x, y, elements(self.name, s3, l3)?);
		Ok((CpuStorage::F32(out), self.shape.clone()))
	}
}
