//! A program taken apart.

use super::{expand, Expanded, Part, PartError};
use crate::ops::{Program, TensorId};
use alloc::vec::Vec;

/// One part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartOp {
	/// The tensor that it writes: one of the program, or one between parts, whose numbers follow
	/// those of the program.
	pub out: TensorId,
	/// Number of elements of this tensor.
	pub len: u64,
	/// Index in [`Program::ops`] of the operator to which it belongs.
	pub op: u32,
	/// What it computes.
	pub part: Part,
}

/// The parts of a program, in the order in which they are computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartList {
	/// The parts.
	pub parts: Vec<PartOp>,
}

impl PartList {
	/// Takes a program apart. Fails where tensors have no numbers left.
	pub fn of(program: &Program) -> Result<Self, PartError> {
		let mut next =
			TensorId::try_from(program.tensors.len()).map_err(|_| PartError::TooManyTensors)?;
		let mut parts = Vec::with_capacity(program.ops.len());
		for (op, at) in (0u32..).zip(&program.ops) {
			let Expanded { between, last } = expand(&at.kind, next)?;
			for (part, len) in between {
				parts.push(PartOp { out: next, len, op, part });
				next = next.checked_add(1).ok_or(PartError::TooManyTensors)?;
			}
			let len = at.kind.elements();
			parts.push(PartOp { out: at.out, len, op, part: last });
		}
		Ok(Self { parts })
	}
}
