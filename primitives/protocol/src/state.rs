//! The hash of a training state, and proofs that a tensor belongs to it.
//!
//! A state hash binds names, shapes and [content hashes](crate::content) of all tensors in a Merkle
//! tree, and a content hash is a tree itself: with a [`TensorProof`] and an
//! [opening](crate::content::open), any 1 KiB of a state is shown without the rest.

use crate::{merkle, H256};
use alloc::{string::String, vec::Vec};
use codec::{Decode, DecodeWithMemTracking, Encode};
use scale_info::TypeInfo;
use sp_crypto_hashing::blake2_256;

/// Element type of a tensor in a state.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	TypeInfo,
)]
pub enum Dtype {
	/// IEEE 754 binary32, little endian.
	F32,
}

/// What a state hash covers of one tensor.
#[derive(
	Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode, DecodeWithMemTracking, TypeInfo,
)]
pub struct TensorDigest {
	/// Name of the tensor; states are ordered by it, bytewise.
	pub name: String,
	/// Element type.
	pub dtype: Dtype,
	/// Shape, outermost dimension first.
	pub shape: Vec<u32>,
	/// [Content hash](crate::content::hash) of the elements, row major.
	pub content: H256,
}

impl TensorDigest {
	/// Returns the digest of a tensor of binary32 with this content hash.
	pub fn of_f32(name: String, shape: Vec<u32>, content: H256) -> Self {
		Self { name, dtype: Dtype::F32, shape, content }
	}

	/// Returns the length of the content in bytes; `None` where it is above 2^64.
	pub fn content_bytes(&self) -> Option<u64> {
		let Dtype::F32 = self.dtype;
		self.shape.iter().try_fold(4u64, |bytes, extent| bytes.checked_mul((*extent).into()))
	}

	/// Returns its leaf in the tree of a state: Merkle leaf over SCALE(name, dtype, shape, content
	/// hash).
	pub fn leaf(&self) -> H256 {
		self.using_encoded(merkle::leaf)
	}
}

/// Returns the hash of a training state (parameters *and* optimizer state):
/// `blake2_256(SCALE("trainyard/state/v2", count: u32, root))` with the number of tensors and the
/// Merkle root over their [leaves](TensorDigest::leaf) in ascending bytewise order of name.
pub fn state_hash(mut tensors: Vec<TensorDigest>) -> H256 {
	tensors.sort();
	// Tensors are fewer by far: a specification has at most some thousands.
	let count = u32::try_from(tensors.len()).unwrap_or(u32::MAX);
	hash_of(count, &merkle::root(&leaves(&tensors)))
}

/// A tensor of a state, and the proof that it belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct TensorProof {
	/// The tensor.
	pub tensor: TensorDigest,
	/// Its place among the tensors in ascending bytewise order of name, from 0.
	pub index: u32,
	/// Tensors of the state.
	pub count: u32,
	/// Merkle proof of its leaf, from the leaf upwards.
	pub path: Vec<H256>,
}

impl TensorProof {
	/// Makes the proof of the tensor `name` of a state of these tensors; `None` where it has no such
	/// tensor.
	pub fn new(mut tensors: Vec<TensorDigest>, name: &str) -> Option<Self> {
		tensors.sort();
		let at = tensors.iter().position(|tensor| tensor.name == name)?;
		let path = merkle::proof(&leaves(&tensors), at)?;
		let (index, count) = (u32::try_from(at).ok()?, u32::try_from(tensors.len()).ok()?);
		Some(Self { tensor: tensors.into_iter().nth(at)?, index, count, path })
	}

	/// Returns whether the tensor belongs to the state with this hash, at this index of as many
	/// tensors. A path with entries missing or left over is refused.
	pub fn verify(&self, state: &H256) -> bool {
		merkle::root_by(&self.tensor.leaf(), self.index, self.count, &self.path)
			.is_some_and(|root| hash_of(self.count, &root) == *state)
	}
}

fn leaves(tensors: &[TensorDigest]) -> Vec<H256> {
	tensors.iter().map(TensorDigest::leaf).collect()
}

/// Returns the hash of the state of `count` tensors whose leaves have this Merkle root.
fn hash_of(count: u32, root: &H256) -> H256 {
	(b"trainyard/state/v2", count, root).using_encoded(blake2_256).into()
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::content;
	use proptest::prelude::*;

	fn tensor(name: &str, shape: &[u32]) -> TensorDigest {
		let content = content::hash(name.as_bytes());
		TensorDigest::of_f32(name.into(), shape.to_vec(), content)
	}

	fn numbered(count: usize) -> Vec<TensorDigest> {
		(0..count).map(|i| tensor(&format!("layers.{i}.weight"), &[3, 10 + i as u32])).collect()
	}

	/// The layout is frozen: verifiers in other languages build it by hand.
	#[test]
	fn layout() {
		let leaf = |name: &str, shape: &[u32]| {
			let mut bytes = vec![0, 4 * name.len() as u8];
			bytes.extend(name.bytes());
			bytes.extend([0, 4 * shape.len() as u8]);
			bytes.extend(shape.iter().flat_map(|extent| extent.to_le_bytes()));
			bytes.extend(content::hash(name.as_bytes()).0);
			blake2_256(&bytes)
		};
		let first = leaf("layers.10.bias", &[7]);
		let second = leaf("layers.2.weight", &[258, 3]);
		let third = leaf("s", &[]);
		let node =
			|left: [u8; 32], right: [u8; 32]| blake2_256(&[&[1], &left[..], &right].concat());
		let root = node(node(first, second), third);
		let bytes = [&b"trainyard/state/v2"[..], &[3, 0, 0, 0], &root].concat();
		let tensors = vec![
			tensor("s", &[]),
			tensor("layers.2.weight", &[258, 3]),
			tensor("layers.10.bias", &[7]),
		];
		assert_eq!(state_hash(tensors), H256(blake2_256(&bytes)));

		let bytes = [&b"trainyard/state/v2"[..], &[1, 0, 0, 0], &third].concat();
		assert_eq!(state_hash(vec![tensor("s", &[])]), H256(blake2_256(&bytes)));
	}

	#[test]
	fn the_hash_binds_every_part_of_every_tensor() {
		let all = numbered(5);
		let hash = state_hash(all.clone());
		let mut other = all.clone();
		other.reverse();
		assert_eq!(state_hash(other), hash, "the order is that of the names");
		let changes: [fn(&mut TensorDigest); 4] = [
			|t| t.name.push('x'),
			|t| t.shape.swap(0, 1),
			|t| t.shape.push(1),
			|t| t.content = H256::zero(),
		];
		for at in 0..all.len() {
			for change in changes {
				let mut other = all.clone();
				change(&mut other[at]);
				assert_ne!(state_hash(other), hash, "tensor {at}");
			}
			let mut other = all.clone();
			other.remove(at);
			assert_ne!(state_hash(other), hash, "without tensor {at}");
		}
	}

	#[test]
	fn the_length_of_a_content_follows_from_the_shape() {
		for (shape, bytes) in [
			(&[][..], Some(4)),
			(&[7], Some(28)),
			(&[7, 0, 3], Some(0)),
			(&[1 << 31, 1 << 30], Some(1 << 63)),
			(&[1 << 31, 1 << 31], None),
		] {
			assert_eq!(tensor("x", shape).content_bytes(), bytes, "{shape:?}");
		}
	}

	/// From the hash of a state to a kibibyte of one of its tensors.
	#[test]
	fn a_kibibyte_of_a_state_is_proved() {
		let values: Vec<f32> = (0..3_000).map(|i| i as f32).collect();
		let bytes = content::le_bytes(&values);
		let mut tensors = numbered(9);
		tensors.push(TensorDigest::of_f32("m".into(), vec![30, 100], content::hash(&bytes)));
		let state = state_hash(tensors.clone());
		let proof = TensorProof::new(tensors, "m").unwrap();
		assert!(proof.verify(&state));
		let path = content::open(&bytes, 11).unwrap();
		let (root, length) = (proof.tensor.content, proof.tensor.content_bytes().unwrap());
		assert_eq!(length, 12_000);
		assert_eq!(content::verify(&root, length, 11, &bytes[11 * 1_024..], &path), Ok(()));
	}

	#[test]
	fn a_name_that_a_state_lacks_has_no_proof() {
		assert_eq!(TensorProof::new(numbered(5), "layers.5.weight"), None);
		assert_eq!(TensorProof::new(Vec::new(), ""), None);
	}

	proptest! {
		#[test]
		fn whatever_is_changed_is_refused(
			count in 1usize..70,
			pick in any::<usize>(),
			place in 0usize..32,
			bit in 0u32..32,
		) {
			let tensors = numbered(count);
			let state = state_hash(tensors.clone());
			let name = tensors[pick % count].name.clone();
			let proof = TensorProof::new(tensors, &name).unwrap();
			prop_assert_eq!((&proof.tensor.name, proof.count as usize), (&name, count));
			prop_assert!(proof.verify(&state));
			let decoded = TensorProof::decode(&mut &proof.encode()[..]).unwrap();
			prop_assert_eq!(&decoded, &proof);

			let changed = |change: &dyn Fn(&mut TensorProof)| {
				let mut other = proof.clone();
				change(&mut other);
				other.verify(&state)
			};
			prop_assert!(!changed(&|p| p.tensor.name.push('x')));
			prop_assert!(!changed(&|p| p.tensor.shape[0] ^= 1 << bit));
			prop_assert!(!changed(&|p| p.tensor.shape.push(1)));
			prop_assert!(!changed(&|p| p.tensor.content.0[place] ^= 1 << (bit % 8)));
			prop_assert!(!changed(&|p| p.index ^= 1 << bit));
			prop_assert!(!changed(&|p| p.count ^= 1 << bit));
			prop_assert!(!changed(&|p| p.path.push(state)));
			if count > 1 {
				prop_assert!(!changed(&|p| p.path.truncate(p.path.len() - 1)));
				prop_assert!(!changed(&|p| p.path[0].0[place] ^= 1 << (bit % 8)));
			}
			let mut other = state;
			other.0[place] ^= 1 << (bit % 8);
			prop_assert!(!proof.verify(&other));
		}
	}
}
