//! The operators of the list as candle custom operators, without gradients: the list has
//! its own. Operators that have no kernel yet run on the reference executor, slowly.
//!
//! Operands may lie in memory in any way: products read them where they lie, wherever their
//! [`layout`] can be told by strides, and all others copy what has gaps or another order.

mod layout;
#[cfg(test)]
mod tests;

use super::{
	images,
	kernels::{
		activations, attention, axes,
		elementwise::{add_row, map1, map2, map3, Add, Relu, ReluGrad, Scale},
		embedding, loss,
		matmul::{self, Batch, View},
		norm,
		optimizer::{AdamStep, Ema, EmaSquare, MulAdd},
		random, reduce, whetstone, Kernel,
	},
	EngineError,
};
use candle_core::{
	CpuStorage, CustomOp1, CustomOp2, CustomOp3, DType, Device, Layout, Result, Shape, Tensor,
};
use layout::{elements, matrices};
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
			let transposed = [transpose_a, transpose_b];
			let op = Product { name: "strict-matmul", kernel, transposed, batch: 1, shape };
			read(a)?.apply_op2_no_bwd(read(b)?, &op)
		}
		OpKind::BatchMatMul { a, b, transpose_a, transpose_b, batch, m, n, k } => {
			let (batch, shape) = (batch as usize, [m as usize, n as usize, k as usize]);
			let transposed = [transpose_a, transpose_b];
			let op = Product { name: "strict-batch-matmul", kernel, transposed, batch, shape };
			read(a)?.apply_op2_no_bwd(read(b)?, &op)
		}
		OpKind::Add { x, y, .. } => {
			binary("strict-add", read(x)?, read(y)?, |x, y| map2(kernel, Add, x, y))
		}
		OpKind::Activation { function, x, .. } => {
			unary("strict-activation", read(x)?, |x| activations::activation(kernel, function, x))
		}
		OpKind::ActivationGrad { function, gradient, at, .. } => {
			let f = |g: &[f32], at: &[f32]| activations::activation_grad(kernel, function, g, at);
			binary("strict-activation-grad", read(gradient)?, read(at)?, f)
		}
		OpKind::SwapAxes { x, a, b, inner, .. } => {
			let [a, b, inner] = [a, b, inner].map(|extent| extent as usize);
			unary("strict-swap-axes", read(x)?, |x| axes::swap_axes(x, a, b, inner))
		}
		OpKind::LayerNorm { x, weight, bias, epsilon, .. } => {
			let (x, epsilon) = (read(x)?, epsilon.to_f32());
			let f = |x: &[f32], w: &[f32], b: &[f32]| norm::layer_norm(kernel, x, w, b, epsilon);
			let op = Ternary { name: "strict-layer-norm", shape: x.shape().clone(), f };
			x.apply_op3_no_bwd(read(weight)?, read(bias)?, &op)
		}
		OpKind::LayerNormGrad { gradient, x, weight, epsilon, .. } => {
			let (x, epsilon) = (read(x)?, epsilon.to_f32());
			let f =
				|g: &[f32], x: &[f32], w: &[f32]| norm::layer_norm_grad(kernel, g, x, w, epsilon);
			let op = Ternary { name: "strict-layer-norm-grad", shape: x.shape().clone(), f };
			read(gradient)?.apply_op3_no_bwd(x, read(weight)?, &op)
		}
		OpKind::LayerNormWeightGrad { gradient, x, epsilon, cols, .. } => {
			let (cols, epsilon) = (cols as usize, epsilon.to_f32());
			let f =
				|g: &[f32], x: &[f32]| norm::layer_norm_weight_grad(kernel, g, x, epsilon, cols);
			let op = Binary { name: "strict-layer-norm-weight-grad", shape: cols.into(), f };
			read(gradient)?.apply_op2_no_bwd(read(x)?, &op)
		}
		OpKind::Embedding { table, tokens, rows, vocabulary, width } => {
			let (rows, width) = (rows as usize, width as usize);
			let tokens = tokens_of(read(tokens)?, vocabulary)?;
			let f = |table: &[f32]| embedding::embedding(table, &tokens, width);
			let op = Unary { name: "strict-embedding", shape: (rows, width).into(), f };
			read(table)?.apply_op1_no_bwd(&op)
		}
		OpKind::EmbeddingGrad { gradient, tokens, vocabulary, width, .. } => {
			let tokens = tokens_of(read(tokens)?, vocabulary)?;
			let (rows, width) = (vocabulary as usize, width as usize);
			let f = |g: &[f32]| embedding::embedding_grad(kernel, g, &tokens, rows, width);
			let op = Unary { name: "strict-embedding-grad", shape: (rows, width).into(), f };
			read(gradient)?.apply_op1_no_bwd(&op)
		}
		OpKind::CausalSoftmax { x, size, depth, .. } => {
			let f = |x: &[f32]| attention::causal_softmax(kernel, x, size as usize, depth);
			unary("strict-causal-softmax", read(x)?, f)
		}
		OpKind::CausalSoftmaxGrad { gradient, p, size, depth, .. } => {
			let f = |g: &[f32], p: &[f32]| {
				attention::causal_softmax_grad(kernel, g, p, size as usize, depth)
			};
			binary("strict-causal-softmax-grad", read(gradient)?, read(p)?, f)
		}
		OpKind::Dropout { x, rate, site, .. } => {
			unary("strict-dropout", read(x)?, |x| random::dropout(kernel, x, moment, rate, site))
		}
		OpKind::Noise { x, deviation, .. } => {
			unary("strict-noise", read(x)?, |x| random::noise(kernel, x, moment, deviation))
		}
		OpKind::SquaredLoss { outputs, labels, rows, cols } => {
			let f = |x: &[f32], y: &[u32]| loss::squared_loss(kernel, x, y, cols as usize);
			let op = Labelled { name: "strict-squared-loss", shape: (rows as usize).into(), f };
			read(outputs)?.apply_op2_no_bwd(read(labels)?, &op)
		}
		OpKind::SquaredLossGrad { outputs, labels, rows, cols } => {
			let (rows, cols) = (rows as usize, cols as usize);
			let f = |x: &[f32], y: &[u32]| loss::squared_loss_grad(kernel, x, y, cols);
			let op = Labelled { name: "strict-squared-loss-grad", shape: (rows, cols).into(), f };
			read(outputs)?.apply_op2_no_bwd(read(labels)?, &op)
		}
		OpKind::SumSquares { x, .. } => {
			let f = |x: &[f32]| vec![reduce::sum_squares(kernel, x)];
			read(x)?.apply_op1_no_bwd(&Unary { name: "strict-sum-squares", shape: 1.into(), f })
		}
		OpKind::ClipFactor { squares, largest } => {
			let (norm, largest) = (number(Factor::Tensor(squares))?.sqrt(), largest.to_f32());
			let factor = if norm > largest { largest / norm } else { 1.0 };
			Tensor::from_slice(&[factor], 1, &Device::Cpu)
		}
		OpKind::Whetstone { x, cycles, .. } => {
			unary("strict-whetstone", read(x)?, |x| whetstone::cycles(kernel, x, cycles))
		}
		OpKind::LearningRate { schedule } => {
			Tensor::from_slice(&[schedule.at(moment.step)], 1, &Device::Cpu)
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

/// The tokens that a tensor holds as numbers.
fn tokens_of(tensor: &Tensor, vocabulary: u32) -> std::result::Result<Vec<usize>, EngineError> {
	let numbers = tensor.flatten_all()?.to_vec1::<f32>()?;
	embedding::tokens(&numbers, vocabulary).map_err(EngineError::Operator)
}

/// Products of matrices, read where they lie if strides can say how.
struct Product {
	name: &'static str,
	kernel: Kernel,
	/// Whether the matrices of the left and of the right operand are stored transposed.
	transposed: [bool; 2],
	/// Pairs of matrices.
	batch: usize,
	/// Rows and columns of a result, and the length of the dot products.
	shape: [usize; 3],
}

impl CustomOp2 for Product {
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
		let (batch, [m, n, k]) = (self.batch, self.shape);
		let [transpose_a, transpose_b] = self.transposed;
		let (a, b) = (
			matrices(s1, l1, batch, [m, k], transpose_a)?,
			matrices(s2, l2, batch, [k, n], transpose_b)?,
		);
		let mut out = vec![0.0; batch * m * n];
		matmul::matmul_batched(self.kernel, a.batch(), b.batch(), batch, self.shape, &mut out);
		Ok((CpuStorage::F32(out), (batch, m, n).into()))
	}
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
		let out = (self.f)(&elements(s, l)?);
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
		let out = (self.f)(&elements(s1, l1)?, &elements(s2, l2)?);
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
		let out = (self.f)(&elements(s1, l1)?, &elements(s2, l2)?);
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
		let (x, y) = (elements(s1, l1)?, elements(s2, l2)?);
		let out = (self.f)(&x, &y, &elements(s3, l3)?);
		Ok((CpuStorage::F32(out), self.shape.clone()))
	}
}
