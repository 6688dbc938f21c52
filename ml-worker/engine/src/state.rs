//! Training states.

use super::{
	device::DeviceState,
	host::{self, NanRule, TensorMap},
	EngineError,
};
use candle_core::{CpuStorage, DType, Storage, StorageRef, Tensor};
use rayon::prelude::*;
use std::{
	borrow::Cow,
	collections::{BTreeMap, BTreeSet},
	ops::Range,
};
use trainyard_program::{
	lower::{self, StateTensor},
	spec::CheckedSpec,
	H256,
};
use trainyard_protocol::state;

/// Everything a step needs of the steps before it: parameters (`layers.{i}.weight`
/// `[outputs, inputs]`, `layers.{i}.bias` `[outputs]`) and what the optimizer keeps, under
/// names that begin with `optimizer.`.
#[derive(Clone, Debug, Default)]
pub struct State {
	/// The tensors by name, binary32 on the CPU. Empty while a device holds the state: read them by
	/// [`Self::host`].
	pub tensors: BTreeMap<String, Tensor>,
	/// The state on a device, if it is newer than `tensors`.
	resident: Option<DeviceState>,
}

impl State {
	/// Creates a state of these tensors.
	pub fn new(tensors: BTreeMap<String, Tensor>) -> Self {
		Self { tensors, resident: None }
	}

	/// Returns the tensors. If a device holds them, they are moved to the processor first.
	pub fn host(&mut self) -> Result<&BTreeMap<String, Tensor>, EngineError> {
		if let Some(resident) = &self.resident {
			self.tensors = host::to_candle(resident.to_host()?)?;
			self.resident = None;
		}
		Ok(&self.tensors)
	}

	/// Returns a copy of its numbers. A device that holds the state keeps it.
	pub fn to_host(&self) -> Result<TensorMap, EngineError> {
		match &self.resident {
			Some(resident) => resident.to_host(),
			None => host::from_candle(&self.tensors),
		}
	}

	/// Creates a state of these numbers. Fails if a tensor has more or fewer than its shape says.
	pub fn from_host(tensors: TensorMap) -> Result<Self, EngineError> {
		Ok(Self::new(host::to_candle(tensors)?))
	}

	/// Returns the state with its tensors on the processor.
	pub(super) fn on_host(&self) -> Result<Cow<'_, Self>, EngineError> {
		match &self.resident {
			Some(resident) => Ok(Cow::Owned(Self::from_host(resident.to_host()?)?)),
			None => Ok(Cow::Borrowed(self)),
		}
	}

	/// Returns the state on the device, if a device holds it.
	pub(super) fn resident(&self) -> Option<&DeviceState> {
		self.resident.as_ref()
	}

	/// Replaces the state by the one that a device holds.
	pub(super) fn hold(&mut self, resident: DeviceState) {
		self.tensors.clear();
		self.resident = Some(resident);
	}

	/// Returns the [content hash](trainyard_protocol::content::hash) of a tensor; a NaN counts by its
	/// canonical bits. Fails if the state has no such tensor on the processor.
	pub fn content(&self, name: &str) -> Result<H256, EngineError> {
		let tensor = self.tensors.get(name).ok_or_else(|| wrong(name, "it is missing"))?;
		Ok(host::content_hash(&host::canonical_bytes(elements(tensor)?.slice())))
	}

	/// Returns the parameters, which make up the model.
	pub fn parameters(&self) -> impl Iterator<Item = (&String, &Tensor)> {
		self.tensors.iter().filter(|(name, _)| !name.starts_with(lower::OPTIMIZER_PREFIX))
	}

	/// Returns the hash of the state: [`host::state_hash`] under [`NanRule::Refuse`], without a
	/// copy of its numbers. Also fails on a tensor that is not binary32.
	pub fn hash(&self) -> Result<H256, EngineError> {
		if let Some(resident) = &self.resident {
			return host::state_hash(&resident.to_host()?, NanRule::Refuse);
		}
		let digests = self.tensors.par_iter().map(|(name, tensor)| {
			check_dtype(name, tensor)?;
			let (shape, elements) = (host::shape_of(name, tensor)?, elements(tensor)?);
			host::digest(name, shape, elements.slice(), NanRule::Refuse)
		});
		Ok(state::state_hash(digests.collect::<Result<_, EngineError>>()?))
	}

	/// Checks that the tensors are exactly those that `spec` asks for, in name, type and shape.
	pub fn check_shapes(&self, spec: &CheckedSpec) -> Result<(), EngineError> {
		self.check(&lower::state(spec))
	}

	/// Does what [`Self::check_shapes`] does, for a specification that asks for these tensors.
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

/// The elements of a binary32 tensor, row major.
pub enum Elements<'a> {
	/// In the tensor's own memory, at this range.
	Lent(StorageRef<'a>, Range<usize>),
	/// A copy, where the tensor has gaps or a different order, or lies on a different device.
	Copied(Vec<f32>),
}

impl Elements<'_> {
	/// Returns the elements.
	pub fn slice(&self) -> &[f32] {
		match self {
			Elements::Lent(storage, range) => match &**storage {
				Storage::Cpu(CpuStorage::F32(values)) => &values[range.clone()],
				// The other kinds of storage are not lent.
				_ => &[],
			},
			Elements::Copied(values) => values,
		}
	}
}

/// Returns the elements of a binary32 tensor, without a copy where they lie in order.
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
