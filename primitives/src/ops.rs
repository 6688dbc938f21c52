//! The operator list: what a step of a job computes, tensor by tensor.
//!
//! One list is the source of everything that is said about a computation: its work is
//! counted on it ([`Program::flop`]), the worker executes it, [`crate::strict::exec`]
//! executes it as the reference, and a dispute descends into it. Every tensor is written
//! once, by one operator (or is given); an operator only reads tensors declared before its
//! result. `docs/strict-arithmetic.md` defines each operator to the last bit.

use crate::{
	spec::ONE_NANO,
	strict::{self, EXP_FLOP, LOG_FLOP},
};
use alloc::{string::String, vec::Vec};

/// Number of a tensor in [`Program::tensors`].
pub type TensorId = u32;

/// A hyper-parameter: a count of 10^-9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nano(pub u64);

impl Nano {
	/// One minus this, in the integers; 0 where this is above one.
	pub fn one_minus(self) -> Nano {
		Nano(ONE_NANO.saturating_sub(self.0))
	}

	/// As binary32, by [`strict::from_nano`].
	pub fn to_f32(self) -> f32 {
		strict::from_nano(self.0)
	}
}

/// What a tensor is to the outside of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
	/// Given: the inputs of the rows, `[rows, features]`.
	Features,
	/// Given: the labels of the rows, `[rows]`, as unsigned integers below the classes.
	Labels,
	/// Given: a tensor of the training state.
	State,
	/// A result: the next value of this [`Role::State`] tensor.
	Next(TensorId),
	/// A result: the loss of every row, `[rows]`.
	RowLosses,
	/// A result: 1 for every row whose class is predicted, otherwise 0; `[rows]`.
	Correct,
	/// A result: the mean loss, `[1]`.
	Loss,
	/// A result: the output of the last layer, `[rows, classes]`.
	Logits,
	/// Nothing to the outside.
	Local,
}

/// A tensor of a program: binary32, row major ([`Role::Labels`]: u32).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorDecl {
	/// Name; of state, the name in a bundle (`layers.0.weight`).
	pub name: String,
	/// Shape, outermost dimension first. Never empty.
	pub shape: Vec<u32>,
	/// What it is to the outside.
	pub role: Role,
}

impl TensorDecl {
	/// Number of elements.
	pub fn len(&self) -> u128 {
		self.shape.iter().fold(1u128, |n, d| n.saturating_mul(u128::from(*d)))
	}

	/// Whether it has no elements.
	pub fn is_empty(&self) -> bool {
		self.len() == 0
	}
}

/// The part of a step to which an operator belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
	/// From the inputs to the logits.
	Forward,
	/// From the logits to the loss, the accuracy and the logits' gradient.
	Loss,
	/// From the logits' gradient to the parameters' gradients.
	Backward,
	/// From the gradients to the next state.
	Update,
}

/// One operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
	/// The part of the step.
	pub phase: Phase,
	/// Layer for which it works; none for the loss and the optimizer's scalars.
	pub layer: Option<u32>,
	/// The tensor it writes.
	pub out: TensorId,
	/// What it computes.
	pub kind: OpKind,
}

/// The operators. `rows` and `cols` are those of the (row major) operand; elementwise
/// operators carry the number of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpKind {
	/// `out[i, j] = dot over p of A[i, p] B[p, j]` (`strict::dot`), for `out` of `[m, n]`.
	MatMul {
		/// Left operand: `[m, k]`, or `[k, m]` where `transpose_a`.
		a: TensorId,
		/// Right operand: `[k, n]`, or `[n, k]` where `transpose_b`.
		b: TensorId,
		/// Whether `a` is stored transposed.
		transpose_a: bool,
		/// Whether `b` is stored transposed.
		transpose_b: bool,
		/// Rows of the result.
		m: u32,
		/// Columns of the result.
		n: u32,
		/// Length of the dot products.
		k: u32,
	},
	/// `out[i, j] = a[i, j] + row[j]`.
	AddRow {
		/// `[rows, cols]`.
		a: TensorId,
		/// `[cols]`.
		row: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out = a where a > 0, otherwise +0`.
	Relu {
		/// Any shape.
		a: TensorId,
		/// Number of elements.
		len: u64,
	},
	/// `out = gradient where activation > 0, otherwise +0`.
	ReluGrad {
		/// Gradient of the activation.
		gradient: TensorId,
		/// What [`OpKind::Relu`] returned.
		activation: TensorId,
		/// Number of elements.
		len: u64,
	},
	/// Per row: `m = max, s = sum of exp(x - m), l = log(s); out = (x - m) - l`.
	LogSoftmax {
		/// `[rows, cols]`.
		logits: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out[i] = -log_p[i, labels[i]]`.
	RowLoss {
		/// `[rows, cols]`: what [`OpKind::LogSoftmax`] returned.
		log_p: TensorId,
		/// `[rows]`.
		labels: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// Gradient of the mean loss by the logits:
	/// `out[i, j] = (exp(log_p[i, j]) - (1 where j = labels[i], otherwise 0)) / rows`.
	RowLossGrad {
		/// `[rows, cols]`: what [`OpKind::LogSoftmax`] returned.
		log_p: TensorId,
		/// `[rows]`.
		labels: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out[i] = 1` where the first of the largest of `logits[i, ..]` stands at
	/// `labels[i]`, otherwise `+0`.
	Correct {
		/// `[rows, cols]`.
		logits: TensorId,
		/// `[rows]`.
		labels: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out[0] = sum(a) / len` (`strict::sum`).
	Mean {
		/// Any shape.
		a: TensorId,
		/// Number of elements.
		len: u64,
	},
	/// `out[j] = sum over i of a[i, j]` (`strict::sum`).
	SumRows {
		/// `[rows, cols]`.
		a: TensorId,
		/// Rows.
		rows: u32,
		/// Columns.
		cols: u32,
	},
	/// `out = factor x`.
	Scale {
		/// Any shape.
		x: TensorId,
		/// The factor.
		factor: Nano,
		/// Number of elements.
		len: u64,
	},
	/// Decoupled weight decay: `out = d x` with `d = fma(-learning_rate, weight_decay, 1)`.
	Decay {
		/// Any shape.
		x: TensorId,
		/// Learning rate.
		learning_rate: Nano,
		/// Weight decay.
		weight_decay: Nano,
		/// Number of elements.
		len: u64,
	},
	/// `out = fma(factor, x, y)`; with `negate`, `fma(-factor, x, y)`.
	MulAdd {
		/// Any shape.
		x: TensorId,
		/// The shape of `x`.
		y: TensorId,
		/// The factor.
		factor: Nano,
		/// Whether the factor is negated.
		negate: bool,
		/// Number of elements.
		len: u64,
	},
	/// Exponential moving average: `out = fma(keep, average, take * x)`.
	Ema {
		/// The average so far.
		average: TensorId,
		/// What joins it.
		x: TensorId,
		/// Weight of the average.
		keep: Nano,
		/// Weight of `x`.
		take: Nano,
		/// Number of elements.
		len: u64,
	},
	/// Exponential moving average of squares: `out = fma(keep, average, take * (x * x))`.
	EmaSquare {
		/// The average so far.
		average: TensorId,
		/// What joins it, squared.
		x: TensorId,
		/// Weight of the average.
		keep: Nano,
		/// Weight of the square.
		take: Nano,
		/// Number of elements.
		len: u64,
	},
	/// Adam's update: `out = fma(-learning_rate, (m / (1 - power1)) / (sqrt(v / (1 - power2))
	/// + epsilon), x)`.
	AdamStep {
		/// The parameter, decayed if it decays.
		x: TensorId,
		/// First moment, this step's gradient included.
		m: TensorId,
		/// Second moment, this step's gradient included.
		v: TensorId,
		/// `[1]`: beta1 to the power of the steps, this one included.
		power1: TensorId,
		/// `[1]`: beta2 to the power of the steps, this one included.
		power2: TensorId,
		/// Learning rate.
		learning_rate: Nano,
		/// Epsilon.
		epsilon: Nano,
		/// Number of elements.
		len: u64,
	},
}

/// FLOP of a dot product of length `k`: a fused multiply-add (2) each, and one addition for
/// each block behind the first.
pub fn dot_flop(k: u64) -> u128 {
	let blocks = u128::from(k.div_ceil(strict::DOT_BLOCK as u64));
	u128::from(k).saturating_mul(2).saturating_add(blocks.saturating_sub(1))
}

/// FLOP of a strict sum of `n` values: an addition each, 15 to combine the lanes of each
/// block, and the sum of the blocks' results where there are several.
pub fn sum_flop(n: u64) -> u128 {
	let (mut left, mut total) = (n, 0u128);
	loop {
		let blocks = left.div_ceil(strict::SUM_BLOCK as u64);
		total = total
			.saturating_add(u128::from(left))
			.saturating_add(u128::from(blocks).saturating_mul(strict::LANES as u128 - 1));
		if blocks <= 1 {
			return total;
		}
		left = blocks;
	}
}

impl OpKind {
	/// FLOP of this operator, exact: additions, subtractions, multiplications, divisions,
	/// square roots, comparisons and changes of sign count 1, a fused multiply-add 2, exp
	/// [`EXP_FLOP`], log [`LOG_FLOP`]; reading, writing and what is computed once per
	/// operator count nothing.
	pub fn flop(&self) -> u128 {
		let grid = |rows: &u32, cols: &u32| u128::from(*rows).saturating_mul(u128::from(*cols));
		let each = |len: &u64, flop: u128| u128::from(*len).saturating_mul(flop);
		match self {
			OpKind::MatMul { m, n, k, .. } => grid(m, n).saturating_mul(dot_flop(u64::from(*k))),
			OpKind::AddRow { rows, cols, .. } => grid(rows, cols),
			OpKind::Relu { len, .. } | OpKind::ReluGrad { len, .. } => each(len, 1),
			// Per element a comparison, two subtractions and exp; per row the addition that
			// ends the maximum, the sum, and log.
			OpKind::LogSoftmax { rows, cols, .. } => u128::from(*cols)
				.saturating_mul(EXP_FLOP.saturating_add(3))
				.saturating_add(1)
				.saturating_add(sum_flop(u64::from(*cols)))
				.saturating_add(LOG_FLOP)
				.saturating_mul(u128::from(*rows)),
			OpKind::RowLoss { rows, .. } => u128::from(*rows),
			OpKind::RowLossGrad { rows, cols, .. } => {
				grid(rows, cols).saturating_mul(EXP_FLOP.saturating_add(2))
			}
			OpKind::Correct { rows, cols, .. } => grid(rows, cols),
			OpKind::Mean { len, .. } => sum_flop(*len).saturating_add(1),
			OpKind::SumRows { rows, cols, .. } => {
				u128::from(*cols).saturating_mul(sum_flop(u64::from(*rows)))
			}
			OpKind::Scale { len, .. } | OpKind::Decay { len, .. } => each(len, 1),
			OpKind::MulAdd { len, .. } => each(len, 2),
			OpKind::Ema { len, .. } => each(len, 3),
			OpKind::EmaSquare { len, .. } => each(len, 4),
			// Three divisions, a root, an addition, a fused multiply-add.
			OpKind::AdamStep { len, .. } => each(len, 7),
		}
	}

	/// The tensors it reads.
	pub fn inputs(&self) -> Vec<TensorId> {
		match *self {
			OpKind::MatMul { a, b, .. } => alloc::vec![a, b],
			OpKind::AddRow { a, row, .. } => alloc::vec![a, row],
			OpKind::ReluGrad { gradient, activation, .. } => alloc::vec![gradient, activation],
			OpKind::Relu { a, .. } | OpKind::Mean { a, .. } | OpKind::SumRows { a, .. } => {
				alloc::vec![a]
			}
			OpKind::LogSoftmax { logits, .. } => alloc::vec![logits],
			OpKind::RowLoss { log_p, labels, .. } | OpKind::RowLossGrad { log_p, labels, .. } => {
				alloc::vec![log_p, labels]
			}
			OpKind::Correct { logits, labels, .. } => alloc::vec![logits, labels],
			OpKind::Scale { x, .. } | OpKind::Decay { x, .. } => alloc::vec![x],
			OpKind::MulAdd { x, y, .. } => alloc::vec![x, y],
			OpKind::Ema { average, x, .. } | OpKind::EmaSquare { average, x, .. } => {
				alloc::vec![average, x]
			}
			OpKind::AdamStep { x, m, v, power1, power2, .. } => {
				alloc::vec![x, m, v, power1, power2]
			}
		}
	}
}

/// A list of operators over declared tensors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
	/// The tensors, by [`TensorId`].
	pub tensors: Vec<TensorDecl>,
	/// The operators, in order.
	pub ops: Vec<Op>,
}

impl Program {
	/// FLOP of the whole list.
	pub fn flop(&self) -> u128 {
		self.ops.iter().fold(0, |sum, op| sum.saturating_add(op.kind.flop()))
	}

	/// The declaration of tensor `id`.
	pub fn tensor(&self, id: TensorId) -> Option<&TensorDecl> {
		self.tensors.get(id as usize)
	}

	/// The first tensor with this role.
	pub fn find(&self, role: Role) -> Option<TensorId> {
		self.tensors.iter().position(|t| t.role == role).map(|id| id as TensorId)
	}

	/// The given state: number and declaration of each tensor.
	pub fn state(&self) -> impl Iterator<Item = (TensorId, &TensorDecl)> {
		(0..).zip(&self.tensors).filter(|(_, t)| t.role == Role::State)
	}

	/// The next state: number of each new tensor, and number of the one it replaces.
	pub fn next_state(&self) -> impl Iterator<Item = (TensorId, TensorId)> + '_ {
		(0..).zip(&self.tensors).filter_map(|(new, t)| match t.role {
			Role::Next(old) => Some((new, old)),
			_ => None,
		})
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn dots_and_sums_are_counted_as_defined() {
		assert_eq!(dot_flop(0), 0);
		assert_eq!(dot_flop(1), 2);
		assert_eq!(dot_flop(512), 1_024);
		assert_eq!(dot_flop(513), 1_027);
		assert_eq!(sum_flop(0), 0);
		assert_eq!(sum_flop(1), 16);
		assert_eq!(sum_flop(1_024), 1_039);
		// Two blocks, then their two results.
		assert_eq!(sum_flop(1_025), 1_025 + 30 + 2 + 15);
		// 2^20 values: 1,024 blocks, whose results make one block.
		assert_eq!(sum_flop(1 << 20), (1 << 20) + 1_024 * 15 + 1_024 + 15);
	}

	#[test]
	fn counts_cannot_overflow() {
		let huge = OpKind::MatMul {
			a: 0,
			b: 0,
			transpose_a: false,
			transpose_b: false,
			m: u32::MAX,
			n: u32::MAX,
			k: u32::MAX,
		};
		let n = u128::from(u32::MAX);
		assert_eq!(huge.flop(), n * n * (2 * n + n.div_ceil(512) - 1));
	}
}
