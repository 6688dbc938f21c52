//! The tensors of a job's states.

use alloc::{string::String, vec::Vec};
use trainyard_program::{
	lower::{self, StateTensor, OPTIMIZER_PREFIX},
	spec::CheckedSpec,
};
use trainyard_protocol::{
	state::{state_hash, ExpectedTensor, TensorDigest, TensorProof},
	H256,
};

/// The tensors of a job's states, or its parameters alone, in the order of [`lower::state`]. What a
/// state hash binds of them in another order, that of their names, is named by this one everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateTensors {
	tensors: Vec<StateTensor>,
	/// The indices of the tensors, in ascending bytewise order of name.
	by_name: Vec<u32>,
}

impl StateTensors {
	/// Returns the tensors of a state of this job.
	pub fn of(spec: &CheckedSpec) -> Self {
		Self::new(lower::state(spec))
	}

	/// Returns the parameters of this job: what its model has, and what a fine-tuning begins with.
	/// They come first in a state, so their indices are the same.
	pub fn parameters(spec: &CheckedSpec) -> Self {
		let mut tensors = lower::state(spec);
		tensors.retain(|tensor| !tensor.name.starts_with(OPTIMIZER_PREFIX));
		Self::new(tensors)
	}

	fn new(tensors: Vec<StateTensor>) -> Self {
		let mut named: Vec<(u32, &StateTensor)> = (0..).zip(&tensors).collect();
		named.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
		let by_name = named.into_iter().map(|(index, _)| index).collect();
		Self { tensors, by_name }
	}

	/// Returns the tensors.
	pub fn tensors(&self) -> &[StateTensor] {
		&self.tensors
	}

	/// Returns tensor `index`, if there is one.
	pub fn get(&self, index: u32) -> Option<&StateTensor> {
		self.tensors.get(usize::try_from(index).ok()?)
	}

	/// Returns the number of elements of tensor `index`, if there is one.
	pub fn elements(&self, index: u32) -> Option<u64> {
		let shape = &self.get(index)?.shape;
		shape.iter().try_fold(1u64, |product, extent| product.checked_mul((*extent).into()))
	}

	/// Returns the index of the tensor of this name, if there is one.
	pub fn find(&self, name: &str) -> Option<u32> {
		self.place(name).ok().and_then(|place| self.by_name.get(place)).copied()
	}

	/// Returns the state hash of these contents, one for each tensor; `None` where they are more or
	/// fewer.
	pub fn hash(&self, contents: &[H256]) -> Option<H256> {
		self.digests(contents).map(state_hash)
	}

	/// Returns the path by which [`Self::proves`] accepts the content of tensor `index`; `None` where
	/// the contents are not one for each tensor, or there is no such tensor.
	pub fn path(&self, contents: &[H256], index: u32) -> Option<Vec<H256>> {
		let name = &self.get(index)?.name;
		TensorProof::new(self.digests(contents)?, name).map(|proof| proof.path)
	}

	/// Returns whether `path` shows that tensor `index` has this content in the state with this hash.
	pub fn proves(&self, state: &H256, index: u32, content: &H256, path: &[H256]) -> bool {
		let Some(expected) = self.expected(index) else { return false };
		let ExpectedTensor { name, shape, index, count } = expected.clone();
		let tensor = TensorDigest::of_f32(name, shape, *content);
		TensorProof { tensor, index, count, path: path.to_vec() }.verify(state, &expected)
	}

	fn expected(&self, index: u32) -> Option<ExpectedTensor> {
		let StateTensor { name, shape, .. } = self.get(index)?.clone();
		let place = u32::try_from(self.place(&name).ok()?).ok()?;
		let count = u32::try_from(self.tensors.len()).ok()?;
		Some(ExpectedTensor { name, shape, index: place, count })
	}

	/// Returns the place of a name in the order of names.
	fn place(&self, name: &str) -> Result<usize, usize> {
		let name_of = |index: &u32| self.get(*index).map(|tensor| tensor.name.as_str());
		self.by_name.binary_search_by(|index| name_of(index).cmp(&Some(name)))
	}

	fn digests(&self, contents: &[H256]) -> Option<Vec<TensorDigest>> {
		if contents.len() != self.tensors.len() {
			return None;
		}
		let digest = |(tensor, content): (&StateTensor, &H256)| {
			let (name, shape): (String, Vec<u32>) = (tensor.name.clone(), tensor.shape.clone());
			TensorDigest::of_f32(name, shape, *content)
		};
		Some(self.tensors.iter().zip(contents).map(digest).collect())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::JobSpec;

	#[test]
	fn tensors_are_named_by_one_order_and_proved_in_another() {
		let spec = JobSpec::example().check().unwrap();
		let (all, parameters) = (StateTensors::of(&spec), StateTensors::parameters(&spec));
		assert_eq!(all.tensors()[..parameters.tensors().len()], *parameters.tensors());
		for tensors in [all, parameters] {
			let count = tensors.tensors().len() as u32;
			let contents: Vec<_> = (0..count).map(|i| H256::repeat_byte(i as u8)).collect();
			let state = tensors.hash(&contents).unwrap();
			for (index, content) in (0..count).zip(&contents) {
				let name = &tensors.get(index).unwrap().name;
				assert_eq!(tensors.find(name), Some(index));
				let path = tensors.path(&contents, index).unwrap();
				for other in 0..count {
					let proved = tensors.proves(&state, other, content, &path);
					assert_eq!(proved, other == index, "{name} as tensor {other}");
				}
				assert!(!tensors.proves(&state, index, &H256::repeat_byte(99), &path));
				assert!(!tensors.proves(&H256::zero(), index, content, &path));
				assert!(!tensors.proves(&state, index, content, &[&path[..], &[state]].concat()));
			}
			assert_eq!(tensors.find("layers.9.weight"), None);
			assert_eq!((tensors.get(count), tensors.elements(count)), (None, None));
			assert_eq!(tensors.hash(&contents[1..]), None);
			assert_eq!(tensors.path(&contents, count), None);
			assert!(!tensors.proves(&state, count, &contents[0], &[]));
		}
	}
}
