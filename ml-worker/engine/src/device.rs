//! A device other than the processor, as a [`State`](super::State) knows it: memory that holds
//! tensors. What kind of device it is, and how it executes programs, its own module knows.

use super::{
	host::{Tensor32, TensorMap},
	EngineError,
};
use std::{any::Any, collections::BTreeMap, fmt, sync::Arc};
use trainyard_program::lower::StateTensor;

/// Says why a device cannot be used, or why it stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
	/// The feature is off.
	#[error(
		"this build has no CUDA: build with --features cuda (needs a CUDA toolkit). --device cpu \
		 trains to the same bits"
	)]
	NotBuilt,
	/// There is no driver, or no such GPU.
	#[error("cannot use the GPU: {0}. --device cpu trains to the same bits")]
	Unavailable(String),
	/// The GPU gave results that differ from what IEEE 754 defines.
	#[error("the GPU does not compute as IEEE 754 says: {0}; use --device cpu")]
	Arithmetic(String),
	/// The GPU trains or evaluates a job to other bits than the reference.
	#[error("the GPU does not agree with the reference: {0}; use --device cpu")]
	Differs(String),
	/// The GPU cannot hold or index what was asked for.
	#[error("not possible on a GPU in this version: {0}; use --device cpu")]
	Unsupported(String),
	/// The driver reported an error.
	#[error("the GPU failed at {at}: {why}")]
	Failed {
		/// The call that failed.
		at: &'static str,
		/// The driver's error.
		why: String,
	},
	/// An operator reads what nothing wrote.
	#[error("tensor {0} has no value on the GPU")]
	Missing(String),
}

/// A tensor on a device: a buffer of the type that the device uses.
pub type Buffer = Arc<dyn Any + Send + Sync>;

/// The memory of a device.
pub trait DeviceMemory: fmt::Debug + Send + Sync {
	/// Copies a tensor to the device.
	fn upload(&self, values: &[f32]) -> Result<Buffer, DeviceError>;

	/// Returns the `len` elements of a tensor.
	fn download(&self, buffer: &Buffer, len: usize) -> Result<Vec<f32>, DeviceError>;
}

/// A state on a device.
#[derive(Clone)]
pub struct DeviceState {
	/// Where its tensors are.
	pub memory: Arc<dyn DeviceMemory>,
	/// The tensors by name.
	pub tensors: BTreeMap<String, Buffer>,
	/// The shape of every tensor.
	pub shapes: BTreeMap<String, Vec<usize>>,
}

impl DeviceState {
	/// Returns whether this state is in `memory` and its tensors are these, in name and shape.
	pub fn fits(&self, memory: &Arc<dyn DeviceMemory>, tensors: &[StateTensor]) -> bool {
		let same = |name: &String, shape: &[u32]| {
			let shape = shape.iter().map(|extent| *extent as usize);
			self.shapes.get(name).is_some_and(|found| shape.eq(found.iter().copied()))
		};
		Arc::ptr_eq(&self.memory, memory)
			&& tensors.len() == self.shapes.len()
			&& tensors.iter().all(|tensor| same(&tensor.name, &tensor.shape))
	}

	/// Copies the numbers to the processor.
	pub fn to_host(&self) -> Result<TensorMap, EngineError> {
		let mut tensors = TensorMap::new();
		for (name, buffer) in &self.tensors {
			let shape = self.shapes.get(name).cloned().unwrap_or_default();
			let data = self.memory.download(buffer, shape.iter().product())?;
			// They were the extents of a specification.
			let shape = shape.into_iter().map(|extent| extent as u32).collect();
			tensors.insert(name.clone(), Tensor32 { shape, data });
		}
		Ok(tensors)
	}
}

impl fmt::Debug for DeviceState {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		write!(f, "{} tensors on {:?}", self.tensors.len(), self.memory)
	}
}
