//! The hash of a training state, and proofs that a tensor belongs to it.
//!
//! A state hash binds names, shapes and [content hashes](crate::content) of all tensors in a Merkle
//! tree, and a content hash is a tree itself: with a [`TensorProof`] and an
//! [opening](crate::content::open_many), any 1 KiB of a state is shown without the rest.

use crate::{merkle, H256};
use alloc::{string::String, vec::Vec};
use codec::{Decode, DecodeWithMemTracking, Encode};
use scale_info::TypeInfo;
use sp_crypto_hashing::blake2_256;
use trainyard_program::{lower, spec::CheckedSpec};

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

	/// Returns the length of the content in bytes; `None` where it is 2^64 or more.
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
///
/// The names must differ, as those of a map do. This is not checked: tensors of one name are ordered
/// by the rest of their digests, and what they hash to is the state of no job. Of each tensor that a
/// job has, [`TensorProof::verify`] accepts at most one content under any hash.
pub fn state_hash(mut tensors: Vec<TensorDigest>) -> H256 {
	tensors.sort();
	// Tensors are fewer by far: a specification has at most some thousands.
	let count = u32::try_from(tensors.len()).unwrap_or(u32::MAX);
	hash_of(count, &merkle::root(&leaves(&tensors)))
}

/// What the states of a job must have at one place: a tensor of the job's specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedTensor {
	/// Name of the tensor.
	pub name: String,
	/// Shape, outermost dimension first.
	pub shape: Vec<u32>,
	/// Its place among the tensors in ascending bytewise order of name, from 0.
	pub index: u32,
	/// Tensors of a state.
	pub count: u32,
}

impl ExpectedTensor {
	/// Returns the tensor `name` of the states of this job; `None` where they have no such tensor.
	pub fn of(spec: &CheckedSpec, name: &str) -> Option<Self> {
		let tensors = lower::state(spec);
		let before = tensors.iter().filter(|tensor| tensor.name.as_str() < name).count();
		let (index, count) = (u32::try_from(before).ok()?, u32::try_from(tensors.len()).ok()?);
		let tensor = tensors.into_iter().find(|tensor| tensor.name == name)?;
		Some(Self { name: tensor.name, shape: tensor.shape, index, count })
	}

	/// Returns all tensors of the states of this job, in the order of `lower::state`.
	pub fn all(spec: &CheckedSpec) -> Vec<Self> {
		let tensors = lower::state(spec);
		let mut names: Vec<String> = tensors.iter().map(|tensor| tensor.name.clone()).collect();
		names.sort();
		// Tensors are fewer by far.
		let count = u32::try_from(tensors.len()).unwrap_or(u32::MAX);
		let place =
			|name: &String| names.binary_search(name).ok().and_then(|at| at.try_into().ok());
		let expected = |tensor: lower::StateTensor| {
			let index = place(&tensor.name).unwrap_or(u32::MAX);
			Self { name: tensor.name, shape: tensor.shape, index, count }
		};
		tensors.into_iter().map(expected).collect()
	}

	/// Returns the bytes of its content; `None` past `u64`.
	pub fn content_bytes(&self) -> Option<u64> {
		let bytes = |bytes: u64, extent: &u32| bytes.checked_mul(u64::from(*extent));
		self.shape.iter().try_fold(4, bytes)
	}
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

	/// Returns whether the tensor is the expected one, of binary32, and belongs to the state with this
	/// hash, at the expected index of as many tensors as expected. A path with entries missing or left
	/// over is refused.
	///
	/// Whoever commits to a hash may have made its tree by different rules: with a name twice, in a
	/// different order, with more tensors or fewer. So nothing is taken from the proof but content
	/// and path: of a tensor that is not at its place under such a hash, there is no proof.
	pub fn verify(&self, state: &H256, expected: &ExpectedTensor) -> bool {
		let Self { tensor: TensorDigest { name, dtype: Dtype::F32, shape, .. }, .. } = self;
		let ExpectedTensor { name: expected_name, shape: expected_shape, index, count } = expected;
		(name, shape) == (expected_name, expected_shape)
			&& (self.index, self.count) == (*index, *count)
			&& merkle::root_by(&self.tensor.leaf(), *index, *count, &self.path)
				.is_some_and(|root| hash_of(*count, &root) == *state)
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
	use trainyard_program::spec::JobSpec;

	fn tensor(name: &str, shape: &[u32]) -> TensorDigest {
		let content = content::hash(name.as_bytes());
		TensorDigest::of_f32(name.into(), shape.to_vec(), content)
	}

	fn numbered(count: usize) -> Vec<TensorDigest> {
		(0..count).map(|i| tensor(&format!("layers.{i}.weight"), &[3, 10 + i as u32])).collect()
	}

	/// What a job is expected to have whose states are these tensors.
	fn expected(tensors: &[TensorDigest], name: &str) -> ExpectedTensor {
		let mut tensors = tensors.to_vec();
		tensors.sort();
		let index = tensors.iter().position(|tensor| tensor.name == name).unwrap();
		let TensorDigest { name, shape, .. } = tensors[index].clone();
		ExpectedTensor { name, shape, index: index as u32, count: tensors.len() as u32 }
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
		let expected = expected(&tensors, "m");
		let proof = TensorProof::new(tensors, "m").unwrap();
		assert!(proof.verify(&state, &expected));
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

	fn of_job(spec: &CheckedSpec) -> Vec<TensorDigest> {
		let mut tensors: Vec<_> =
			lower::state(spec).iter().map(|t| tensor(&t.name, &t.shape)).collect();
		tensors.sort();
		tensors
	}

	#[test]
	fn a_specification_gives_the_place_of_each_tensor() {
		let spec = JobSpec::example().check().unwrap();
		let tensors = of_job(&spec);
		let state = state_hash(tensors.clone());
		assert_ne!(lower::state(&spec)[0].name, tensors[0].name, "the order matters");
		for (index, TensorDigest { name, shape, .. }) in tensors.iter().enumerate() {
			let found = ExpectedTensor::of(&spec, name).unwrap();
			assert_eq!((&found.name, &found.shape), (name, shape));
			assert_eq!((found.index as usize, found.count as usize), (index, tensors.len()));
			assert!(TensorProof::new(tensors.clone(), name).unwrap().verify(&state, &found));
			assert!(ExpectedTensor::all(&spec).contains(&found));
			assert_eq!(found.content_bytes(), tensors[index].content_bytes());
		}
		let names = ExpectedTensor::all(&spec).into_iter().map(|expected| expected.name);
		assert!(names.eq(lower::state(&spec).into_iter().map(|tensor| tensor.name)));
		assert_eq!(ExpectedTensor::of(&spec, "layers.0"), None);
	}

	/// Proves what lies at a place of a tree that its owner made as it liked.
	fn at_place(tree: &[TensorDigest], index: usize) -> TensorProof {
		let path = merkle::proof(&leaves(tree), index).unwrap();
		let (tensor, count) = (tree[index].clone(), tree.len() as u32);
		TensorProof { tensor, index: index as u32, count, path }
	}

	/// Returns the contents that are proved for the tensor `name` of a job under the hash of a tree.
	fn proved(spec: &CheckedSpec, tree: &[TensorDigest], name: &str) -> Vec<H256> {
		let expected = ExpectedTensor::of(spec, name).unwrap();
		let state = hash_of(tree.len() as u32, &merkle::root(&leaves(tree)));
		let proofs = (0..tree.len()).map(|index| at_place(tree, index));
		proofs.filter(|p| p.verify(&state, &expected)).map(|p| p.tensor.content).collect()
	}

	#[test]
	fn in_a_tree_with_a_name_twice_one_content_is_proved_at_most() {
		let spec = JobSpec::example().check().unwrap();
		let honest = of_job(&spec);
		let last = honest.len() - 1;
		let double = TensorDigest { content: H256::zero(), ..honest[2].clone() };
		// In place of another tensor, which then has no proof.
		let mut tree = honest.clone();
		tree[3] = double.clone();
		assert_eq!(proved(&spec, &tree, &honest[2].name), [honest[2].content]);
		assert_eq!(proved(&spec, &tree, &honest[3].name), []);
		assert_eq!(proved(&spec, &tree, &honest[last].name), [honest[last].content]);
		// Beside all of them: there are too many, and nothing has a proof.
		tree = honest.clone();
		tree.insert(2, double.clone());
		for tensor in &honest {
			assert_eq!(proved(&spec, &tree, &tensor.name), []);
		}
		// The function that hashes states does not look at names.
		let mut shuffled = tree.clone();
		shuffled.reverse();
		assert_eq!(state_hash(shuffled), state_hash(tree));
	}

	#[test]
	fn in_a_tree_that_is_not_sorted_what_changed_places_has_no_proof() {
		let spec = JobSpec::example().check().unwrap();
		let honest = of_job(&spec);
		let mut tree = honest.clone();
		tree.swap(1, 4);
		for (index, tensor) in honest.iter().enumerate() {
			let contents = if [1, 4].contains(&index) { vec![] } else { vec![tensor.content] };
			assert_eq!(proved(&spec, &tree, &tensor.name), contents, "{}", tensor.name);
		}
		// Nor has a tensor of another shape at its place.
		tree = honest.clone();
		tree[1].shape.push(1);
		assert_eq!(proved(&spec, &tree, &honest[1].name), []);
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
			let expected = expected(&tensors, &name);
			let proof = TensorProof::new(tensors, &name).unwrap();
			prop_assert_eq!((&proof.tensor.name, proof.count as usize), (&name, count));
			prop_assert!(proof.verify(&state, &expected));
			let decoded = TensorProof::decode(&mut &proof.encode()[..]).unwrap();
			prop_assert_eq!(&decoded, &proof);

			let changed = |change: &dyn Fn(&mut TensorProof)| {
				let mut other = proof.clone();
				change(&mut other);
				other.verify(&state, &expected)
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
			prop_assert!(!proof.verify(&other, &expected));

			let unexpected = |change: &dyn Fn(&mut ExpectedTensor)| {
				let mut other = expected.clone();
				change(&mut other);
				proof.verify(&state, &other)
			};
			prop_assert!(!unexpected(&|e| e.name.push('x')));
			prop_assert!(!unexpected(&|e| e.shape.push(1)));
			prop_assert!(!unexpected(&|e| e.index ^= 1 << bit));
			prop_assert!(!unexpected(&|e| e.count ^= 1 << bit));
		}
	}
}
