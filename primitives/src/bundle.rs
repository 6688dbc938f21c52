//! Hashes of a Proof-of-Training bundle: states, checkpoints, replay traces.

use crate::{merkle, H256};
use alloc::{string::String, vec::Vec};
use codec::{Decode, Encode};
use sp_crypto_hashing::blake2_256;

/// Element type of a tensor in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub enum Dtype {
	/// IEEE 754 binary32, little endian.
	F32,
}

/// What a state hash covers of one tensor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub struct TensorDigest {
	/// Name of the tensor; states are ordered by it, bytewise.
	pub name: String,
	/// Element type.
	pub dtype: Dtype,
	/// Shape, outermost dimension first.
	pub shape: Vec<u32>,
	/// `blake2_256` of the raw little-endian bytes, row major.
	pub content: H256,
}

/// Hash of a training state (parameters *and* optimizer state):
/// `blake2_256(SCALE("trainyard/state/v1", [(name, dtype, shape, blake2_256(bytes))]))`
/// with the tensors in ascending order of name. Two levels, so that a dispute can
/// name the tensor in which two states differ without sending the states.
pub fn state_hash(mut tensors: Vec<TensorDigest>) -> H256 {
	tensors.sort();
	(b"trainyard/state/v1", tensors).using_encoded(blake2_256).into()
}

/// Leaf of the bundle tree: Merkle leaf over SCALE(step: u32, state hash).
pub fn checkpoint_leaf(step: u32, state: &H256) -> H256 {
	(step, state).using_encoded(merkle::leaf)
}

/// Bundle root: Merkle root of the checkpoint leaves in ascending step, checkpoint 0
/// included.
pub fn bundle_root<'a>(checkpoints: impl IntoIterator<Item = (u32, &'a H256)>) -> H256 {
	let leaves: Vec<H256> = checkpoints.into_iter().map(|(s, h)| checkpoint_leaf(s, h)).collect();
	merkle::root(&leaves)
}

/// Leaf of a replay trace: Merkle leaf over SCALE(step: u32, bits of the loss: u32,
/// blake2_256 of the logits' little-endian bytes). No bundle contains it: who did
/// not replay the step cannot know it.
pub fn trace_leaf(step: u32, loss: f32, logits: &[u8]) -> H256 {
	(step, loss.to_bits(), blake2_256(logits)).using_encoded(merkle::leaf)
}
