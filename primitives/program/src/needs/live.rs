//! How many bytes of a program's tensors live at once.
//!
//! The count follows the worker's executor: a local tensor is freed after its last reader, and what
//! the update reads stays to its end, since all parameters are updated together. What a kernel
//! needs besides its result is counted with its operator. The engine measures itself beside this
//! count in its tests.

use crate::ops::{OpKind, Phase, Program, Role, TensorId, Window};
use alloc::{vec, vec::Vec};
use trainyard_strict::{LANES, SUM_BLOCK};

/// Columns to which a product's right operand is padded when it is copied, at most.
const PANEL: u64 = 64;
/// Threads that copy images for themselves, at most. A machine with more of them has more memory.
const THREADS: u64 = 16;

/// Returns the most bytes of a program's tensors that live at once, without the given state.
pub(super) fn live(program: &Program) -> u64 {
	let bytes = |id: TensorId| program.tensor(id).map_or(0, |tensor| bytes_of(tensor.len()));
	let of_role = |role: Role| program.find(role).map_or(0, bytes);
	let mut last: Vec<Option<usize>> = vec![None; program.tensors.len()];
	for (at, op) in program.ops.iter().enumerate() {
		for id in op.kind.inputs() {
			if let Some(last) = last.get_mut(id as usize) {
				*last = Some(at);
			}
		}
	}
	// The logits are copied once more for the trace.
	let mut now = of_role(Role::Features)
		.saturating_add(of_role(Role::Labels))
		.saturating_add(of_role(Role::Logits));
	let mut most = now;
	for (at, op) in program.ops.iter().enumerate() {
		let out = bytes(op.out);
		now = now.saturating_add(out);
		most = most.max(now.saturating_add(besides(&op.kind, out)));
		if op.phase == Phase::Update {
			continue;
		}
		for id in op.kind.inputs() {
			let local = program.tensor(id).is_some_and(|tensor| tensor.role == Role::Local);
			// An operator that reads it twice frees it once.
			let dies = last.get_mut(id as usize).filter(|last| local && **last == Some(at));
			if let Some(last) = dies {
				*last = None;
				now = now.saturating_sub(bytes(id));
			}
		}
	}
	most
}

/// Returns the bytes of that many numbers.
pub(super) fn bytes_of(numbers: u128) -> u64 {
	u64::try_from(numbers.saturating_mul(4)).unwrap_or(u64::MAX)
}

/// Returns the most bytes that a kernel needs besides its result of `out` bytes.
fn besides(kind: &OpKind, out: u64) -> u64 {
	let of = |factors: &[u64]| factors.iter().fold(4u64, |n, factor| n.saturating_mul(*factor));
	match *kind {
		// A copy of the right operand, and the result in parts.
		OpKind::MatMul { n, k, .. } => {
			of(&[u64::from(n).next_multiple_of(PANEL), u64::from(k)]).saturating_add(out)
		}
		OpKind::BatchMatMul { n, k, .. } => {
			let right = of(&[u64::from(n).next_multiple_of(PANEL), u64::from(k)]);
			right.saturating_mul(THREADS).saturating_add(out)
		}
		OpKind::Conv2d { window, filters, .. } => convolution(&window, filters, out),
		OpKind::Conv2dWeightGrad { window, filters, .. } => convolution(&window, filters, out),
		OpKind::Conv2dInputGrad { window, filters, .. } => convolution(&window, filters, out),
		// Sums of columns, for each thread and for each block of rows.
		OpKind::SumRows { rows, cols, .. } => columns(rows, cols),
		OpKind::LayerNormWeightGrad { rows, cols, .. }
		| OpKind::RmsNormWeightGrad { rows, cols, .. } => columns(rows, cols),
		// Tokens as indices, sorted.
		OpKind::Embedding { rows, .. } => of(&[2, u64::from(rows)]),
		OpKind::EmbeddingGrad { rows, vocabulary, .. } => {
			of(&[4, u64::from(rows)]).saturating_add(of(&[4, u64::from(vocabulary)]))
		}
		OpKind::SquaredLoss { .. } | OpKind::SquaredLossGrad { .. } => out,
		_ => 0,
	}
}

/// Returns the bytes of the images with their borders that threads copy, of a copy of the weight,
/// and of the result once more.
fn convolution(window: &Window, filters: u32, out: u64) -> u64 {
	let of = |factors: &[u64]| factors.iter().fold(4u64, |n, factor| n.saturating_mul(*factor));
	let border = |side: u32| u64::from(side).saturating_add(u64::from(window.padding) * 2);
	let channels = u64::from(window.channels);
	let image = of(&[channels, border(window.height), border(window.width), THREADS]);
	let kernel = u64::from(window.kernel);
	let weight = of(&[channels, kernel, kernel, u64::from(filters)]);
	image.saturating_add(weight.saturating_mul(2)).saturating_add(out)
}

/// Returns the bytes of partial sums over the rows of each column.
fn columns(rows: u32, cols: u32) -> u64 {
	let blocks = u64::from(rows).div_ceil(SUM_BLOCK as u64);
	let sums = THREADS.saturating_mul(LANES as u64).saturating_add(blocks);
	u64::from(cols).saturating_mul(4).saturating_mul(sums)
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{lower, spec::JobSpec};

	/// What the executor frees, the count frees: three tensors in a row never live at once.
	#[test]
	fn locals_die_after_their_last_reader() {
		let spec = JobSpec::example().check().unwrap();
		let program = lower::training_step(&spec);
		let all: u128 = program.tensors.iter().map(|t| t.len() * 4).sum();
		let given = program.tensor(program.find(Role::Features).unwrap()).unwrap().len() * 4;
		let most = u128::from(live(&program));
		assert!(most > given && most < all + (1 << 20), "{most} of {all}");
		let evaluation = lower::evaluation_of(&spec, 300);
		let all: u128 = evaluation.tensors.iter().map(|t| t.len() * 4).sum();
		assert!(u128::from(live(&evaluation)) < all + (1 << 20));
	}

	#[test]
	fn no_size_overflows() {
		assert_eq!(bytes_of(u128::MAX), u64::MAX);
		assert!(columns(u32::MAX, u32::MAX) > u64::from(u32::MAX));
		let kind = OpKind::MatMul {
			a: 0,
			b: 0,
			transpose_a: false,
			transpose_b: false,
			m: u32::MAX,
			n: u32::MAX,
			k: u32::MAX,
		};
		assert_eq!(besides(&kind, u64::MAX), u64::MAX);
	}
}
