//! Operators over tensors in memory.

use super::{ExecError, StepContext};
use crate::{
	ops::{OpKind, TensorId},
	parts::{element, expand, Expanded, Inputs, Moment, Part},
};
use alloc::vec::Vec;

/// What a part reads, in memory.
struct Memory<'a> {
	tensors: Vec<(TensorId, &'a [f32])>,
	labels: &'a [u32],
}

impl Inputs for Memory<'_> {
	type Error = ExecError;

	fn number(&self, tensor: TensorId, index: u64) -> Result<f32, ExecError> {
		let found = self.tensors.iter().find(|(id, _)| *id == tensor);
		let number = found.zip(usize::try_from(index).ok()).and_then(|((_, x), at)| x.get(at));
		number.copied().ok_or(ExecError::MissingNumber { tensor, index })
	}

	fn label(&self, index: u64) -> Result<u32, ExecError> {
		let label = usize::try_from(index).ok().and_then(|at| self.labels.get(at));
		label.copied().ok_or(ExecError::MissingLabel { index })
	}
}

/// The number of the first tensor between the parts of an operator: no program has as many.
const BETWEEN: TensorId = TensorId::MAX - 63;

/// Returns the result of one operator at `moment`, its elements row major. `read` gives the
/// elements of the tensors that it names ([`OpKind::inputs`]).
pub fn operator<'a, E: From<ExecError>>(
	kind: &OpKind,
	labels: &[u32],
	moment: StepContext,
	read: impl Fn(TensorId) -> Result<&'a [f32], E>,
) -> Result<Vec<f32>, E> {
	let moment = Moment::from(moment);
	let Expanded { between, last } = expand(kind, BETWEEN).map_err(ExecError::from)?;
	let mut made: Vec<(TensorId, Vec<f32>)> = Vec::with_capacity(between.len());
	let compute = |part: &Part, len: u64, made: &[(TensorId, Vec<f32>)]| -> Result<Vec<f32>, E> {
		let mut tensors: Vec<(TensorId, &[f32])> = Vec::new();
		for id in part.inputs() {
			let own = made.iter().find(|(made, _)| *made == id);
			tensors.push((
				id,
				match own {
					Some((_, x)) => x.as_slice(),
					None => read(id)?,
				},
			));
		}
		let memory = Memory { tensors, labels };
		let elements = (0..len).map(|index| element(part, index, &moment, &memory));
		Ok(elements.collect::<Result<_, _>>()?)
	};
	for (id, (part, len)) in (BETWEEN..).zip(between) {
		let x = compute(&part, len, &made)?;
		made.push((id, x));
	}
	compute(&last, kind.elements(), &made)
}
