//! States in memory, as they are hashed.

use super::RecordError;
use rayon::prelude::*;
use trainyard_court::referee::StateTensors;
use trainyard_engine::{content_hash, raw_bytes, State, Tensor32, TensorMap};
use trainyard_protocol::{model_file::Layout, H256};
use trainyard_strict::canonical_bits;

/// Gives every NaN its canonical bits.
pub(super) fn canonical(mut data: Vec<f32>) -> Vec<f32> {
	for x in data.iter_mut().filter(|x| x.is_nan()) {
		*x = f32::from_bits(canonical_bits(*x));
	}
	data
}

/// A state, hashed once. Its tensors are in the order of [`StateTensors`].
pub(super) struct HeldState {
	/// The numbers of each tensor, every NaN canonical.
	tensors: Vec<Vec<f32>>,
	/// The content of each.
	pub contents: Vec<H256>,
	/// The hash of the state.
	pub hash: H256,
}

impl HeldState {
	/// Takes a state. Fails, with what is wrong, where its tensors are not those of the job.
	pub fn new(names: &StateTensors, mut state: TensorMap) -> Result<Self, String> {
		let mut tensors = Vec::with_capacity(names.tensors().len());
		for expected in names.tensors() {
			match state.remove(&expected.name) {
				Some(tensor) if tensor.shape == expected.shape => {
					tensors.push(canonical(tensor.data));
				}
				_ => return Err(format!("it has no tensor {} as the job's", expected.name)),
			}
		}
		if let Some(name) = state.keys().next() {
			return Err(format!("it has a tensor {name}, which the job's states have not"));
		}
		let contents: Vec<_> =
			tensors.par_iter().map(|data| content_hash(raw_bytes(data))).collect();
		let hash = names.hash(&contents).ok_or("its tensors are not those of the job")?;
		Ok(Self { tensors, contents, hash })
	}

	/// Returns the numbers of a tensor, if there is one.
	pub fn numbers(&self, tensor: u32) -> Option<&[f32]> {
		self.tensors.get(tensor as usize).map(Vec::as_slice)
	}

	/// Returns the bytes of a tensor, if there is one.
	pub fn bytes(&self, tensor: u32) -> Option<&[u8]> {
		self.numbers(tensor).map(raw_bytes)
	}

	/// Returns the state as the engine takes it.
	pub fn state(&self, names: &StateTensors) -> Result<State, RecordError> {
		let tensors = names.tensors().iter().zip(&self.tensors).map(|(named, data)| {
			let tensor = Tensor32 { shape: named.shape.clone(), data: data.clone() };
			(named.name.clone(), tensor)
		});
		Ok(State::from_host(tensors.collect())?)
	}

	/// Returns the first number that is infinite or NaN, by tensor and element.
	pub fn not_finite(&self) -> Option<(u32, u64)> {
		(0..).zip(&self.tensors).find_map(|(tensor, data)| {
			let element = data.iter().position(|x| !x.is_finite())?;
			Some((tensor, element as u64))
		})
	}

	/// Returns the bytes of a file of tensors of this state, whose layout is this.
	pub fn file(&self, names: &StateTensors, layout: &Layout) -> Vec<u8> {
		let mut bytes = layout.header.clone();
		for place in &layout.tensors {
			let tensor = names.find(&place.name).and_then(|index| self.bytes(index));
			bytes.extend_from_slice(tensor.unwrap_or_default());
		}
		bytes
	}
}
