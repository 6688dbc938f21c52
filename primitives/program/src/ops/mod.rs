//! Operator lists: what a step of a job computes, tensor by tensor.
//!
//! One list is the source of everything that is claimed about a computation: the work is counted
//! from it ([`Program::flop`]), the worker executes it, [`crate::reference`] executes it as the
//! reference, and a dispute descends into it. Every tensor is written once, by one operator (or is
//! given); an operator only reads tensors declared before its result. `docs/strict-arithmetic.md`
//! defines each operator to the last bit.

mod flop;
mod inputs;
mod kind;
mod window;

pub use flop::{dot_flop, sum_flop};
pub use kind::OpKind;
pub use window::Window;

use crate::spec::ONE_NANO;
use alloc::{string::String, vec::Vec};
use trainyard_strict as strict;

/// Number of a tensor in [`Program::tensors`].
pub type TensorId = u32;

/// A hyper-parameter: a count of 10^-9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nano(pub u64);

impl Nano {
	/// Returns one minus this, as an integer count; 0 where this is above one.
	pub fn one_minus(self) -> Nano {
		Nano(ONE_NANO.saturating_sub(self.0))
	}

	/// Returns the value as binary32, by [`strict::from_nano`].
	pub fn to_f32(self) -> f32 {
		strict::from_nano(self.0)
	}
}

/// A factor: a hyper-parameter, or the only element of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
	/// A hyper-parameter.
	Nano(Nano),
	/// The element of this tensor of shape `[1]`.
	Tensor(TensorId),
}

impl Factor {
	/// Returns the tensor it reads, if it does.
	pub fn tensor(self) -> Option<TensorId> {
		match self {
			Factor::Nano(_) => None,
			Factor::Tensor(id) => Some(id),
		}
	}
}

impl From<Nano> for Factor {
	fn from(nano: Nano) -> Self {
		Factor::Nano(nano)
	}
}

/// What a tensor is to the outside of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
	/// Given: the inputs of the rows, `[rows, features]`; tokens are whole numbers in
	/// binary32.
	Features,
	/// Given: the labels, `[rows times labels of a row]`, as unsigned integers below the
	/// classes.
	Labels,
	/// Given: a tensor of the training state.
	State,
	/// A result: the next value of this [`Role::State`] tensor.
	Next(TensorId),
	/// A result: the loss of every label, as many as labels.
	RowLosses,
	/// A result: 1 for every label that is predicted, otherwise 0.
	Correct,
	/// A result: the mean loss, `[1]`.
	Loss,
	/// A result: the output of the last layer, `[labels, classes]`.
	Logits,
	/// Nothing to the outside.
	Local,
}

/// A tensor of a program: binary32, row major ([`Role::Labels`]: u32).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorDecl {
	/// Name; for a state tensor, the name in a bundle (`layers.0.weight`).
	pub name: String,
	/// Shape, outermost dimension first. Never empty.
	pub shape: Vec<u32>,
	/// What it is to the outside.
	pub role: Role,
}

impl TensorDecl {
	/// Returns the number of elements.
	pub fn len(&self) -> u128 {
		self.shape.iter().fold(1u128, |n, d| n.saturating_mul(u128::from(*d)))
	}

	/// Returns whether it has no elements.
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
	/// The layer that it belongs to; none for the loss and the optimizer's scalars.
	pub layer: Option<u32>,
	/// The tensor it writes.
	pub out: TensorId,
	/// What it computes.
	pub kind: OpKind,
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
	/// Returns the FLOP of the whole list.
	pub fn flop(&self) -> u128 {
		self.ops.iter().fold(0, |sum, op| sum.saturating_add(op.kind.flop()))
	}

	/// Returns the declaration of tensor `id`.
	pub fn tensor(&self, id: TensorId) -> Option<&TensorDecl> {
		self.tensors.get(id as usize)
	}

	/// Returns the first tensor with this role.
	pub fn find(&self, role: Role) -> Option<TensorId> {
		self.tensors.iter().position(|t| t.role == role).map(|id| id as TensorId)
	}

	/// Returns the given state: number and declaration of each tensor.
	pub fn state(&self) -> impl Iterator<Item = (TensorId, &TensorDecl)> {
		(0..).zip(&self.tensors).filter(|(_, t)| t.role == Role::State)
	}

	/// Returns the next state: number of each new tensor, and number of the one it replaces.
	pub fn next_state(&self) -> impl Iterator<Item = (TensorId, TensorId)> + '_ {
		(0..).zip(&self.tensors).filter_map(|(new, t)| match t.role {
			Role::Next(old) => Some((new, old)),
			_ => None,
		})
	}
}
