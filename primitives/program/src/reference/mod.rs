//! The reference executor: a [`Program`] over plain vectors, one element at a time.
//!
//! It is slow and short: every element is computed by [`crate::parts::element`], from tensors in
//! memory. The worker's kernels are tested against it.

mod memory;

pub use crate::parts::dropout_threshold;
pub use memory::operator;

use crate::{
	ops::{Program, Role, TensorId},
	parts::PartError,
	H256,
};
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
		/// Number that is declared.
		expected: u128,
		/// Number that was found.
		found: usize,
	},
	/// A token is not a whole number below the vocabulary.
	BadToken {
		/// Where it stands among the tokens.
		index: u64,
		/// Number of tokens there are.
		vocabulary: u32,
	},
	/// A label is not below the number of classes.
	BadLabel {
		/// The label.
		label: u32,
		/// The classes.
		classes: u32,
	},
	/// A tensor has fewer elements than the operator that reads it says.
	MissingNumber {
		/// Number of the tensor.
		tensor: TensorId,
		/// The element that is read.
		index: u64,
	},
	/// There are fewer labels than the operator that reads them says.
	MissingLabel {
		/// The label that is read.
		index: u64,
	},
	/// An operator cannot be computed by its parts.
	Part(PartError),
}

impl From<PartError> for ExecError {
	fn from(error: PartError) -> Self {
		match error {
			PartError::BadToken { index, vocabulary } => ExecError::BadToken { index, vocabulary },
			PartError::BadLabel { label, classes } => ExecError::BadLabel { label, classes },
			other => ExecError::Part(other),
		}
	}
}

impl fmt::Display for ExecError {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			ExecError::Missing { tensor } => write!(f, "tensor {tensor} has no value"),
			ExecError::WrongLength { tensor, expected, found } => {
				write!(f, "tensor {tensor} has {found} elements; {expected} are declared")
			}
			ExecError::BadToken { index, vocabulary } => {
				write!(f, "token {index} is not a whole number below the vocabulary {vocabulary}")
			}
			ExecError::BadLabel { label, classes } => {
				write!(f, "label {label} is not below the {classes} classes")
			}
			ExecError::MissingNumber { tensor, index } => {
				write!(f, "tensor number {tensor} has no element {index}, which an operator reads")
			}
			ExecError::MissingLabel { index } => {
				write!(f, "there is no label {index}, which an operator reads")
			}
			ExecError::Part(error) => error.fmt(f),
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
	/// Returns the value of tensor `id`; empty for labels and for numbers that were never declared.
	pub fn get(&self, id: TensorId) -> &[f32] {
		self.values.get(id as usize).map_or(&[], Vec::as_slice)
	}

	/// Returns the value of the first tensor of `program` with this role.
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

/// When a program is executed: what dropout, noise and the learning rate depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepContext {
	/// The assignment seed.
	pub seed: H256,
	/// The step, from 0.
	pub step: u32,
}

/// Executes a `program` that does not depend on seed and step.
pub fn run(
	program: &Program,
	features: &[f32],
	labels: &[u32],
	state: &State,
) -> Result<Values, ExecError> {
	run_at(program, features, labels, state, StepContext::default())
}

/// Executes `program` at `moment`.
pub fn run_at(
	program: &Program,
	features: &[f32],
	labels: &[u32],
	state: &State,
	moment: StepContext,
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
			operator(&op.kind, labels, moment, read)?
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

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{init, lower, spec::JobSpec, H256};

	#[test]
	fn what_is_missing_or_wrong_is_named() {
		let spec = JobSpec::example().check().unwrap();
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

	/// Two rows whose logits are the biases, because all weights are zero.
	#[test]
	fn loss_and_hits_of_a_known_model() {
		let mut spec = JobSpec::example();
		spec.model = crate::spec::Model::Mlp {
			hidden: Default::default(),
			activation: crate::spec::Activation::Relu,
		};
		let program = lower::evaluation_of(&spec.check().unwrap(), 2);
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
