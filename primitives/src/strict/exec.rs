//! The reference executor: a [`Program`] over plain vectors, one scalar at a time.
//!
//! It is slow and short: what the worker's kernels are tested against.

use super::{
	decay, dot, exp, fma,
	functions::{log, relu, sqrt},
	max, sum,
};
use crate::ops::{OpKind, Program, Role, TensorId};
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::fmt;

/// A state by name.
pub type State = BTreeMap<String, Vec<f32>>;

/// Why a program cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecError {
	/// A given tensor is missing, or an operator reads one that nothing wrote.
	Missing {
		/// Its name, or its number where it is not declared.
		tensor: String,
	},
	/// A tensor does not have the number of elements that the program declares.
	WrongLength {
		/// Its name.
		tensor: String,
		/// Declared.
		expected: u128,
		/// Found.
		found: usize,
	},
	/// A label is not below the number of classes.
	BadLabel {
		/// The label.
		label: u32,
		/// The classes.
		classes: u32,
	},
}

impl fmt::Display for ExecError {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			ExecError::Missing { tensor } => write!(f, "tensor {tensor} has no value"),
			ExecError::WrongLength { tensor, expected, found } => {
				write!(f, "tensor {tensor} has {found} elements; {expected} are declared")
			}
			ExecError::BadLabel { label, classes } => {
				write!(f, "label {label} is not below the {classes} classes")
			}
		}
	}
}

#[cfg(feature = "std")]
impl std::error::Error for ExecError {}

/// The values of a program's tensors after its execution.
#[derive(Clone, Debug)]
pub struct Values {
	values: Vec<Vec<f32>>,
}

impl Values {
	/// The value of tensor `id`; empty for labels and for numbers never declared.
	pub fn get(&self, id: TensorId) -> &[f32] {
		self.values.get(id as usize).map_or(&[], Vec::as_slice)
	}

	/// The value of the first tensor of `program` with this role.
	pub fn role(&self, program: &Program, role: Role) -> &[f32] {
		program.find(role).map_or(&[], |id| self.get(id))
	}

	/// Puts the next state in the place of `state`.
	pub fn advance(mut self, program: &Program, state: &mut State) {
		for (new, old) in program.next_state() {
			let value = self.values.get_mut(new as usize).map(core::mem::take);
			let kept = program.tensor(old).and_then(|t| state.get_mut(&t.name));
			if let (Some(value), Some(kept)) = (value, kept) {
				*kept = value;
			}
		}
	}
}

/// Executes `program`.
pub fn run(
	program: &Program,
	features: &[f32],
	labels: &[u32],
	state: &State,
) -> Result<Values, ExecError> {
	let mut values: Vec<Option<Vec<f32>>> = Vec::with_capacity(program.tensors.len());
	for tensor in &program.tensors {
		let check = |found: usize| {
			if tensor.len() == found as u128 {
				return Ok(());
			}
			let (tensor, expected) = (tensor.name.clone(), tensor.len());
			Err(ExecError::WrongLength { tensor, expected, found })
		};
		values.push(match tensor.role {
			Role::Features => {
				check(features.len())?;
				Some(features.to_vec())
			}
			Role::Labels => {
				check(labels.len())?;
				None
			}
			Role::State => {
				let missing = || ExecError::Missing { tensor: tensor.name.clone() };
				let value = state.get(&tensor.name).ok_or_else(missing)?;
				check(value.len())?;
				Some(value.clone())
			}
			_ => None,
		});
	}
	for op in &program.ops {
		let value = {
			let read = |id: TensorId| {
				let name = || match program.tensor(id) {
					Some(tensor) => tensor.name.clone(),
					None => alloc::format!("number {id}"),
				};
				values
					.get(id as usize)
					.and_then(|v| v.as_deref())
					.ok_or_else(|| ExecError::Missing { tensor: name() })
			};
			compute(&op.kind, labels, read)?
		};
		let Some(tensor) = program.tensor(op.out) else {
			return Err(ExecError::Missing { tensor: alloc::format!("number {}", op.out) });
		};
		if tensor.len() != value.len() as u128 {
			return Err(ExecError::WrongLength {
				tensor: tensor.name.clone(),
				expected: tensor.len(),
				found: value.len(),
			});
		}
		if let Some(slot) = values.get_mut(op.out as usize) {
			*slot = Some(value);
		}
	}
	Ok(Values { values: values.into_iter().map(Option::unwrap_or_default).collect() })
}

/// Every `stride`-th element from `start` on.
fn strided(data: &[f32], start: usize, stride: usize) -> impl Iterator<Item = f32> + '_ {
	data.iter().copied().skip(start).step_by(stride.max(1))
}

/// Rows of `cols` elements; none where rows have no elements.
fn rows_of(data: &[f32], cols: u32) -> impl Iterator<Item = &[f32]> {
	data.chunks(cols.max(1) as usize)
}

fn zip_map(a: &[f32], b: &[f32], f: impl Fn(f32, f32) -> f32) -> Vec<f32> {
	a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

/// The result of one operator.
fn compute<'a>(
	kind: &OpKind,
	labels: &[u32],
	read: impl Fn(TensorId) -> Result<&'a [f32], ExecError>,
) -> Result<Vec<f32>, ExecError> {
	// Labels of the rows; every label must name one of `cols` classes.
	let labels_below = |cols: u32| match labels.iter().find(|label| **label >= cols) {
		Some(label) => Err(ExecError::BadLabel { label: *label, classes: cols }),
		None => Ok(labels),
	};
	Ok(match *kind {
		OpKind::MatMul { a, b, transpose_a, transpose_b, m, n, k } => {
			let (a, b) = (read(a)?, read(b)?);
			let (m, n, k) = (m as usize, n as usize, k as usize);
			let mut out = Vec::with_capacity(m.saturating_mul(n));
			for i in 0..m {
				for j in 0..n {
					let (a_start, a_stride) =
						if transpose_a { (i, m) } else { (i.saturating_mul(k), 1) };
					let (b_start, b_stride) =
						if transpose_b { (j.saturating_mul(k), 1) } else { (j, n) };
					let row = strided(a, a_start, a_stride).take(k);
					out.push(dot(row, strided(b, b_start, b_stride).take(k)));
				}
			}
			out
		}
		OpKind::AddRow { a, row, cols, .. } => {
			let row = read(row)?;
			rows_of(read(a)?, cols).flat_map(|a| zip_map(a, row, |a, b| a + b)).collect()
		}
		OpKind::Relu { a, .. } => read(a)?.iter().map(|a| relu(*a)).collect(),
		OpKind::ReluGrad { gradient, activation, .. } => {
			zip_map(read(gradient)?, read(activation)?, |g, a| if a > 0.0 { g } else { 0.0 })
		}
		OpKind::LogSoftmax { logits, cols, .. } => {
			rows_of(read(logits)?, cols).flat_map(log_softmax).collect()
		}
		OpKind::RowLoss { log_p, cols, .. } => rows_of(read(log_p)?, cols)
			.zip(labels_below(cols)?)
			.filter_map(|(row, label)| row.get(*label as usize).map(|x| -x))
			.collect(),
		OpKind::RowLossGrad { log_p, rows, cols, .. } => rows_of(read(log_p)?, cols)
			.zip(labels_below(cols)?)
			.flat_map(|(row, label)| {
				let label = *label as usize;
				row.iter().enumerate().map(move |(j, x)| {
					let hot = if j == label { 1.0 } else { 0.0 };
					(exp(*x) - hot) / rows as f32
				})
			})
			.collect(),
		OpKind::Correct { logits, cols, .. } => rows_of(read(logits)?, cols)
			.zip(labels_below(cols)?)
			.map(|(row, label)| if first_largest(row) == *label as usize { 1.0 } else { 0.0 })
			.collect(),
		OpKind::Mean { a, len } => {
			alloc::vec![sum(read(a)?.iter().copied()) / len as f32]
		}
		OpKind::SumRows { a, cols, .. } => {
			let a = read(a)?;
			(0..cols as usize)
				.map(|j| sum(strided(a, j, cols as usize).collect::<Vec<_>>().into_iter()))
				.collect()
		}
		OpKind::Scale { x, factor, .. } => {
			let factor = factor.to_f32();
			read(x)?.iter().map(|x| factor * x).collect()
		}
		OpKind::Decay { x, learning_rate, weight_decay, .. } => {
			let factor = decay(learning_rate.to_f32(), weight_decay.to_f32());
			read(x)?.iter().map(|x| factor * x).collect()
		}
		OpKind::MulAdd { x, y, factor, negate, .. } => {
			let factor = if negate { -factor.to_f32() } else { factor.to_f32() };
			zip_map(read(x)?, read(y)?, |x, y| fma(factor, x, y))
		}
		OpKind::Ema { average, x, keep, take, .. } => {
			let (keep, take) = (keep.to_f32(), take.to_f32());
			zip_map(read(average)?, read(x)?, |a, x| fma(keep, a, take * x))
		}
		OpKind::EmaSquare { average, x, keep, take, .. } => {
			let (keep, take) = (keep.to_f32(), take.to_f32());
			zip_map(read(average)?, read(x)?, |a, x| fma(keep, a, take * (x * x)))
		}
		OpKind::AdamStep { x, m, v, power1, power2, learning_rate, epsilon, .. } => {
			let first = |id| Ok(read(id)?.first().copied().unwrap_or_default());
			let (rest1, rest2) = (1.0 - first(power1)?, 1.0 - first(power2)?);
			let (minus_rate, epsilon) = (-learning_rate.to_f32(), epsilon.to_f32());
			let moments = read(m)?.iter().zip(read(v)?);
			read(x)?
				.iter()
				.zip(moments)
				.map(|(x, (m, v))| {
					let step = (m / rest1) / (sqrt(v / rest2) + epsilon);
					fma(minus_rate, step, *x)
				})
				.collect()
		}
	})
}

/// `(x - m) - l` for every `x` of a row, with `m` its maximum and `l` the logarithm of the
/// sum of `exp(x - m)`.
fn log_softmax(row: &[f32]) -> Vec<f32> {
	let m = max(row.iter().copied());
	let shifted: Vec<f32> = row.iter().map(|x| x - m).collect();
	let l = log(sum(shifted.iter().map(|x| exp(*x))));
	shifted.iter().map(|x| x - l).collect()
}

/// Index of the first of the largest: an element replaces the choice where it is greater.
fn first_largest(row: &[f32]) -> usize {
	let mut best = (0, row.first().copied().unwrap_or_default());
	for (j, x) in row.iter().enumerate() {
		if *x > best.1 {
			best = (j, *x);
		}
	}
	best.0
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{init, lower, spec::JobSpec, H256};

	#[test]
	fn what_is_missing_or_wrong_is_named() {
		let spec = JobSpec::example();
		let program = lower::evaluation_of(&spec, 2);
		let state: State = lower::state(&spec)
			.iter()
			.map(|t| (t.name.clone(), init::initial(&H256::zero(), t)))
			.collect();
		let (x, y) = (vec![0.5; 128], vec![3, 9]);
		assert!(run(&program, &x, &y, &state).is_ok());
		let error = |x: &[f32], y: &[u32], state: &State| {
			run(&program, x, y, state).unwrap_err().to_string()
		};
		assert!(error(&x[1..], &y, &state).contains("features has 127 elements; 128"));
		assert!(error(&x, &y[1..], &state).contains("labels has 1"));
		assert!(error(&x, &[3, 10], &state).contains("label 10 is not below the 10"));
		let mut other = state.clone();
		other.remove("layers.1.bias");
		assert!(error(&x, &y, &other).contains("layers.1.bias"));
		let mut other = state.clone();
		other.insert("layers.1.bias".into(), vec![0.0; 31]);
		assert!(error(&x, &y, &other).contains("31 elements; 32"));
		// A list out of order.
		let mut reversed = program.clone();
		reversed.ops.reverse();
		let result = run(&reversed, &x, &y, &state);
		assert!(matches!(result, Err(ExecError::Missing { .. })));
	}

	/// Two rows whose logits are the biases: zero weights.
	#[test]
	fn loss_and_hits_of_a_known_model() {
		let mut spec = JobSpec::example();
		spec.model = crate::spec::Model::Mlp {
			hidden: Default::default(),
			activation: crate::spec::Activation::Relu,
		};
		let program = lower::evaluation_of(&spec, 2);
		let mut bias = vec![0.0; 10];
		bias[4] = 2.0;
		let state = State::from([
			("layers.0.weight".into(), vec![0.0; 640]),
			("layers.0.bias".into(), bias),
		]);
		let values = run(&program, &[1.0; 128], &[4, 0], &state).unwrap();
		assert_eq!(values.role(&program, Role::Correct), [1.0, 0.0]);
		let total = 2.0f64.exp() + 9.0;
		let expected = [total.ln() - 2.0, total.ln()];
		for (found, expected) in values.role(&program, Role::RowLosses).iter().zip(expected) {
			assert!((f64::from(*found) - expected).abs() < 3e-7);
		}
		let mean = f64::from(values.role(&program, Role::Loss)[0]);
		assert!((mean - (expected[0] + expected[1]) / 2.0).abs() < 3e-7);
	}
}
