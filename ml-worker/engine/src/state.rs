//! Training states.

use super::{cuda::Resident, EngineError};
use candle_core::{CpuStorage, DType, Storage, StorageRef, Tensor};
use rayon::prelude::*;
use std::{
	borrow::Cow,
	collections::{BTreeMap, BTreeSet},
	ops::Range,
};
use trainyard_program::{
	lower::{self, StateTensor},
	spec::JobSpec,
	H256,
};
use trainyard_protocol::bundle::{state_hash, Dtype, TensorDigest};

/// The parameters of a model by name, binary32 on the CPU.
pub type Parameters = BTreeMap<String, Tensor>;

/// Everything a step needs of the steps before it: parameters (`layers.{i}.weight`
/// `[outputs, inputs]`, `layers.{i}.bias` `[outputs]`) and what the optimizer keeps, under
/// names that begin with `optimizer.`.
#[derive(Clone, Debug, Default)]
pub struct State {
	/// The tensors by name, binary32 on the CPU. Empty while a GPU holds the state: read it
	/// by [`Self::host`].
	pub tensors: BTreeMap<String, Tensor>,
	/// The state on a GPU, where it is newer than `tensors`.
	resident: Option<Resident>,
}

impl State {
	/// A state of these tensors.
	pub fn new(tensors: BTreeMap<String, Tensor>) -> Self {
		Self { tensors, resident: None }
	}

	/// The tensors, brought to the processor where a GPU holds them.
	pub fn host(&mut self) -> Result<&BTreeMap<String, Tensor>, EngineError> {
		if let Some(resident) = &self.resident {
			self.tensors = resident.to_host()?;
			self.resident = None;
		}
		Ok(&self.tensors)
	}

	/// The state with its tensors on the processor.
	pub(super) fn on_host(&self) -> Result<Cow<'_, Self>, EngineError> {
		match &self.resident {
			Some(resident) => Ok(Cow::Owned(Self::new(resident.to_host()?))),
			None => Ok(Cow::Borrowed(self)),
		}
	}

	/// The state where a GPU holds it.
	pub(super) fn resident(&self) -> Option<&Resident> {
		self.resident.as_ref()
	}

	/// From here on the state is this one.
	pub(super) fn hold(&mut self, resident: Resident) {
		self.tensors.clear();
		self.resident = Some(resident);
	}

	/// The elements of a tensor, row major, little endian. Fails where the state has no such
	/// tensor on the processor.
	pub fn bytes(&self, name: &str) -> Result<Vec<u8>, EngineError> {
		let tensor = self.tensors.get(name).ok_or_else(|| wrong(name, "it is missing"))?;
		bytes(tensor)
	}

	/// The parameters: what makes up the model.
	pub fn parameters(&self) -> impl Iterator<Item = (&String, &Tensor)> {
		self.tensors.iter().filter(|(name, _)| !name.starts_with(lower::OPTIMIZER_PREFIX))
	}

	/// Hash of the state, see `trainyard_protocol::bundle::state_hash`. Fails on a tensor
	/// that is not binary32 or holds a NaN, for the bits of a NaN are not defined.
	pub fn hash(&self) -> Result<H256, EngineError> {
		if let Some(resident) = &self.resident {
			return Self::new(resident.to_host()?).hash();
		}
		let digests = self.tensors.par_iter().map(|(name, tensor)| {
			check_dtype(name, tensor)?;
			if has_nan(tensor)? {
				return Err(wrong(name, "it holds a value that is not a number"));
			}
			let shape = tensor.dims().iter().map(|d| u32::try_from(*d));
			Ok(TensorDigest {
				name: name.clone(),
				dtype: Dtype::F32,
				shape: shape
					.collect::<Result<_, _>>()
					.map_err(|_| wrong(name, "a dimension is above 2^32"))?,
				content: blake2_256(&bytes(tensor)?),
			})
		});
		Ok(state_hash(digests.collect::<Result<_, EngineError>>()?))
	}

	/// Whether the tensors are exactly those that `spec` asks for, in name, type and shape.
	pub fn check_shapes(&self, spec: &JobSpec) -> Result<(), EngineError> {
		self.check(&lower::state(spec))
	}

	/// [`Self::check_shapes`] for a specification that asks for these tensors.
	pub(super) fn check(&self, expected: &[StateTensor]) -> Result<(), EngineError> {
		for expected in expected {
			let Some(tensor) = self.tensors.get(&expected.name) else {
				return Err(wrong(&expected.name, "it is missing"));
			};
			check_dtype(&expected.name, tensor)?;
			let shape = expected.shape.iter().map(|extent| *extent as usize);
			if !shape.clone().eq(tensor.dims().iter().copied()) {
				let shape: Vec<usize> = shape.collect();
				let what = format!("its shape is {:?}, not {shape:?}", tensor.dims());
				return Err(wrong(&expected.name, &what));
			}
		}
		// Names differ, so as many as expected are those expected.
		if self.tensors.len() == expected.len() {
			return Ok(());
		}
		let known: BTreeSet<&String> = expected.iter().map(|tensor| &tensor.name).collect();
		match self.tensors.keys().find(|name| !known.contains(name)) {
			Some(name) => Err(wrong(name, "the model has no such tensor")),
			None => Ok(()),
		}
	}

	/// Name of a tensor that holds a NaN, if there is one.
	pub fn first_nan(&self) -> Result<Option<&str>, EngineError> {
		for (name, tensor) in &self.tensors {
			if has_nan(tensor)? {
				return Ok(Some(name));
			}
		}
		Ok(None)
	}
}

pub(super) fn wrong(tensor: &str, what: &str) -> EngineError {
	EngineError::State { tensor: tensor.into(), what: what.into() }
}

fn check_dtype(name: &str, tensor: &Tensor) -> Result<(), EngineError> {
	match tensor.dtype() {
		DType::F32 => Ok(()),
		other => Err(wrong(name, &format!("its type is {}, not f32", other.as_str()))),
	}
}

/// Whether a binary32 tensor holds neither NaN nor infinity.
pub(super) fn is_finite(tensor: &Tensor) -> Result<bool, EngineError> {
	Ok(elements(tensor)?.slice().iter().all(|x| x.is_finite()))
}

/// The elements of a binary32 tensor, row major.
pub enum Elements<'a> {
	/// Where they lie.
	Lent(StorageRef<'a>, Range<usize>),
	/// A copy, of a tensor that has gaps, another order, or lies on another device.
	Copied(Vec<f32>),
}

impl Elements<'_> {
	/// The elements.
	pub fn slice(&self) -> &[f32] {
		match self {
			Elements::Lent(storage, range) => match &**storage {
				Storage::Cpu(CpuStorage::F32(values)) => &values[range.clone()],
				// Not lent.
				_ => &[],
			},
			Elements::Copied(values) => values,
		}
	}
}

/// The elements of a binary32 tensor, without a copy where they lie in order.
pub fn elements(tensor: &Tensor) -> Result<Elements<'_>, EngineError> {
	let (storage, layout) = tensor.storage_and_layout();
	if let (Storage::Cpu(CpuStorage::F32(_)), Some((start, end))) =
		(&*storage, layout.contiguous_offsets())
	{
		return Ok(Elements::Lent(storage, start..end));
	}
	drop(storage);
	Ok(Elements::Copied(tensor.flatten_all()?.to_vec1()?))
}

/// Whether a binary32 tensor holds a NaN.
pub fn has_nan(tensor: &Tensor) -> Result<bool, EngineError> {
	/// Elements between two looks at the result: without any in between, vectors are compared.
	const STRETCH: usize = 1 << 10;
	let elements = elements(tensor)?;
	let mut stretches = elements.slice().chunks(STRETCH);
	Ok(stretches.any(|x| x.iter().fold(false, |any, x| any | x.is_nan())))
}

/// The elements of a binary32 tensor, row major, little endian.
pub fn bytes(tensor: &Tensor) -> Result<Vec<u8>, EngineError> {
	let elements = elements(tensor)?;
	let mut bytes = vec![0; size_of_val(elements.slice())];
	for (to, x) in bytes.chunks_exact_mut(size_of::<f32>()).zip(elements.slice()) {
		to.copy_from_slice(&x.to_le_bytes());
	}
	Ok(bytes)
}

fn blake2_256(bytes: &[u8]) -> H256 {
	trainyard_protocol::blob::chunk_hash(bytes)
}
