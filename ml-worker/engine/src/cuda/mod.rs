//! Runs the strict engine on an NVIDIA GPU. The cargo feature `cuda` enables it.
//!
//! A state stays on the GPU from step to step ([`Resident`]). Batches are copied there, and only
//! the loss and the logits of a step come back. candle's own CUDA back end is not used: its kernels
//! are not strict, and it links against libraries of the driver and the toolkit, without which a
//! program does not even start. So the kernels are our own. They are written in CUDA C++, compiled
//! by the build script, and launched through the driver, which is loaded when the first engine asks
//! for it.
//!
//! | part | what it does |
//! |---|---|
//! | `kernels/*.cu` | every operator, in the order that `docs/strict-arithmetic.md` defines |
//! | `backend` | what a device can do: buffers, copies, launches |
//! | `operators`, `launches` | operators of the program as launches |
//! | `executor` | a whole program on a device |
//! | `check` | whether a device computes as IEEE 754 says |
//! | `driver` | the GPU (feature `cuda`) |
//! | `stepping` | [`Engine`](super::Engine) with its state on a device |
//! | `kernels/host/` | the kernels compiled for the processor, with which tests run all of this |

#[cfg(any(test, feature = "cuda"))]
mod backend;
#[cfg(any(test, feature = "cuda"))]
mod check;
#[cfg(feature = "cuda")]
mod driver;
#[cfg(any(test, feature = "cuda"))]
mod executor;
#[cfg(any(test, feature = "cuda"))]
mod launches;
#[cfg(any(test, feature = "cuda"))]
mod operators;
mod stepping;
#[cfg(test)]
mod tests;

use super::{
	execute::CompiledProgram,
	host::{Tensor32, TensorMap},
	EngineError,
};
use std::{any::Any, collections::BTreeMap, fmt, sync::Arc};
use trainyard_program::{ops::TensorId, reference::StepContext, spec::CheckedSpec};

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

/// The inputs of a program on a device.
pub struct Inputs<'a> {
	/// The rows' features, row major.
	pub features: &'a [f32],
	/// Labels, every one below the classes.
	pub labels: &'a [u32],
	/// The state by name.
	pub state: &'a BTreeMap<String, Buffer>,
	/// Seed and step.
	pub moment: StepContext,
}

/// The results of a program on a device.
pub struct Outputs {
	/// The next state: of each tensor its name, its buffer, and whether it holds a NaN.
	pub next: Vec<(String, Buffer, bool)>,
	/// The values that were asked for, in their order.
	pub values: Vec<Vec<f32>>,
}

/// Executes programs on a device that is not the processor.
pub trait Accelerator: fmt::Debug + Send + Sync {
	/// Copies a tensor to the device.
	fn upload(&self, values: &[f32]) -> Result<Buffer, DeviceError>;

	/// Returns the `len` elements of a tensor.
	fn download(&self, buffer: &Buffer, len: usize) -> Result<Vec<f32>, DeviceError>;

	/// Executes a program, and returns the tensors `wanted`.
	fn run(
		&self,
		plan: &CompiledProgram,
		inputs: Inputs<'_>,
		wanted: &[TensorId],
	) -> Result<Outputs, DeviceError>;
}

/// A state on a device.
#[derive(Clone)]
pub struct Resident {
	accelerator: Arc<dyn Accelerator>,
	tensors: BTreeMap<String, Buffer>,
	/// The shape of every tensor.
	shapes: BTreeMap<String, Vec<usize>>,
}

impl Resident {
	/// Returns whether `accelerator` holds this state and its tensors are those of `spec`.
	fn fits(&self, accelerator: &Arc<dyn Accelerator>, spec: &CheckedSpec) -> bool {
		let tensors = trainyard_program::lower::state(spec);
		let same = |name: &String, shape: &[u32]| {
			let shape = shape.iter().map(|extent| *extent as usize);
			self.shapes.get(name).is_some_and(|found| shape.eq(found.iter().copied()))
		};
		Arc::ptr_eq(&self.accelerator, accelerator)
			&& tensors.len() == self.shapes.len()
			&& tensors.iter().all(|tensor| same(&tensor.name, &tensor.shape))
	}

	/// Copies the numbers to the processor.
	pub fn to_host(&self) -> Result<TensorMap, EngineError> {
		let mut tensors = TensorMap::new();
		for (name, buffer) in &self.tensors {
			let shape = self.shapes.get(name).cloned().unwrap_or_default();
			let data = self.accelerator.download(buffer, shape.iter().product())?;
			// They were the extents of a specification.
			let shape = shape.into_iter().map(|extent| extent as u32).collect();
			tensors.insert(name.clone(), Tensor32 { shape, data });
		}
		Ok(tensors)
	}
}

impl fmt::Debug for Resident {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		write!(f, "{} tensors on {:?}", self.tensors.len(), self.accelerator)
	}
}

/// Returns the GPU with this number. It is opened and checked once in a process.
#[cfg(feature = "cuda")]
pub fn open(ordinal: usize) -> Result<Arc<dyn Accelerator>, DeviceError> {
	use std::sync::{Mutex, PoisonError};
	static OPEN: Mutex<BTreeMap<usize, Arc<dyn Accelerator>>> = Mutex::new(BTreeMap::new());
	let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
	if let Some(accelerator) = open.get(&ordinal) {
		return Ok(accelerator.clone());
	}
	let backend = driver::Cuda::open(ordinal)?;
	check::check(&backend)?;
	let accelerator: Arc<dyn Accelerator> = Arc::new(executor::Executor::new(backend));
	open.insert(ordinal, accelerator.clone());
	Ok(accelerator)
}

/// Fails: there is no GPU, because the feature is off.
#[cfg(not(feature = "cuda"))]
pub fn open(_ordinal: usize) -> Result<Arc<dyn Accelerator>, DeviceError> {
	Err(DeviceError::NotBuilt)
}
