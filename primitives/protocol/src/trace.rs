//! Traces: what a training says that it computed on its way through a segment.
//!
//! A segment's trace is a Merkle tree over one leaf for each of its steps and, last, one for the
//! evaluation of the state that it ends in. Checkpoint 0 has a trace of its evaluation alone, and a
//! segment in which training diverged one of the steps before that was noticed.
//!
//! A bundle lists its leaves, so a root that stood there in the clear could be copied by a seat that
//! replayed nothing. What stands there is [sealed](seal): of a sealed trace nobody has the root who did
//! not replay the segment, or was not given it.

use crate::{bundle::Evaluation, merkle, H256};
use alloc::vec::Vec;
use codec::Encode;
use sp_crypto_hashing::blake2_256;
use trainyard_strict::canonical_bits;

/// Returns the leaf of a step: Merkle leaf over SCALE("trainyard/step/v2", step: u32, [canonical
/// bits](canonical_bits) of the loss: u32, [content hash](crate::content::hash) of the logits). `step`
/// counts from 0 in the job.
pub fn step_leaf(step: u32, loss: f32, logits: &H256) -> H256 {
	(b"trainyard/step/v2", step, canonical_bits(loss), logits).using_encoded(merkle::leaf)
}

/// Returns the leaf of a slice of an evaluation: Merkle leaf over SCALE("trainyard/slice/v1", slice:
/// u32, losses, correct), with the content hashes of what the slice's program returns as `RowLosses`
/// and as `Correct`. Slices count from 0, and have
/// [`JobSpec::slice_rows`](trainyard_program::spec::JobSpec::slice_rows) rows each.
pub fn slice_leaf(slice: u32, losses: &H256, correct: &H256) -> H256 {
	(b"trainyard/slice/v1", slice, losses, correct).using_encoded(merkle::leaf)
}

/// Returns the leaf of an evaluation: Merkle leaf over SCALE("trainyard/evaluation/v2", step: u32,
/// bits of the loss: u32, correct: u32, labels: u32, slices). `step` are the steps done, and `slices`
/// is the Merkle root over the [leaves of the slices](slice_leaf), ascending.
pub fn evaluation_leaf(step: u32, evaluation: &Evaluation, slices: &H256) -> H256 {
	(b"trainyard/evaluation/v2", step, evaluation, slices).using_encoded(merkle::leaf)
}

/// Returns the root over the leaves of all slices of an evaluation: of each, the content hashes of
/// losses and of correct labels, in order.
pub fn slices_root<'a>(slices: impl IntoIterator<Item = &'a (H256, H256)>) -> H256 {
	let leaves =
		(0..).zip(slices).map(|(slice, (losses, correct))| slice_leaf(slice, losses, correct));
	merkle::root(&leaves.collect::<Vec<_>>())
}

/// Returns the sealed trace, what a bundle says of a trace with this root:
/// `blake2_256(SCALE("trainyard/trace/v2", root))`.
pub fn seal(root: &H256) -> H256 {
	(b"trainyard/trace/v2", root).using_encoded(blake2_256).into()
}

#[cfg(test)]
mod tests {
	use super::*;

	fn leaf_of(parts: &[&[u8]]) -> H256 {
		let bytes: Vec<u8> = [&[0u8][..]].iter().chain(parts).copied().flatten().copied().collect();
		H256(blake2_256(&bytes))
	}

	/// The layout is frozen: verifiers in other languages build it by hand.
	#[test]
	fn layout() {
		let (one, other) = (H256([1; 32]), H256([2; 32]));
		let step = leaf_of(&[b"trainyard/step/v2", &[2, 1, 0, 0], &1.5f32.to_le_bytes(), &[1; 32]]);
		assert_eq!(step_leaf(258, 1.5, &one), step);

		let slice = |n: u8| leaf_of(&[b"trainyard/slice/v1", &[n, 0, 0, 0], &[1; 32], &[2; 32]]);
		assert_eq!(slice_leaf(3, &one, &other), slice(3));
		let node =
			|left: H256, right: H256| H256(blake2_256(&[&[1], &left.0[..], &right.0].concat()));
		let root = node(node(slice(0), slice(1)), slice(2));
		assert_eq!(slices_root(&[(one, other); 3]), root);

		let found = Evaluation::new(1.5, 7, 9);
		let evaluation = leaf_of(&[
			b"trainyard/evaluation/v2",
			&[2, 1, 0, 0],
			&1.5f32.to_le_bytes(),
			&[7, 0, 0, 0],
			&[9, 0, 0, 0],
			&[1; 32],
		]);
		assert_eq!(evaluation_leaf(258, &found, &one), evaluation);

		let sealed = [&b"trainyard/trace/v2"[..], &[1; 32]].concat();
		assert_eq!(seal(&one), H256(blake2_256(&sealed)));
	}

	#[test]
	fn every_nan_of_a_loss_is_the_same() {
		let (one, other) = (f32::from_bits(0x7FC0_0001), f32::from_bits(0xFF80_0001));
		assert_eq!(step_leaf(5, one, &H256::zero()), step_leaf(5, other, &H256::zero()));
		assert_ne!(step_leaf(5, one, &H256::zero()), step_leaf(5, f32::INFINITY, &H256::zero()));
	}
}
