//! Runs the strict engine on an NVIDIA GPU. The cargo feature `cuda` enables it.
//!
//! A state stays on the GPU from step to step, as a [`DeviceState`](super::device::DeviceState).
//! Batches are copied there, and only the loss and the logits of a step come back. candle's own CUDA
//! back end is not used: its kernels are not strict, and it links against libraries of the driver
//! and the toolkit, without which a program does not even start. So the kernels are our own. They
//! are written in CUDA C++, compiled by the build script, and launched through the driver, which is
//! loaded when the first engine asks for it.
//!
//! | part | what it does |
//! |---|---|
//! | `kernels/*.cu` | every operator, in the order that `docs/strict-arithmetic.md` defines |
//! | `backend` | what a device can do: buffers, copies, launches |
//! | `operators`, `launches` | operators of the program as launches |
//! | `executor` | a whole program on a device |
//! | `chains` | chains of drilling, many at a time |
//! | `check` | whether a device computes as IEEE 754 says |
//! | `jobs` | whether steps and evaluations of three small jobs have the bits of the reference |
//! | `driver` | the GPU (feature `cuda`) |
//! | `stepping` | [`Engine`](super::Engine) with its state on a device |
//! | `kernels/host/` | the kernels compiled for the processor, with which tests run all of this |

#[cfg(any(test, feature = "cuda"))]
mod backend;
#[cfg(any(test, feature = "cuda"))]
mod chains;
#[cfg(any(test, feature = "cuda"))]
mod check;
#[cfg(feature = "cuda")]
mod driver;
#[cfg(any(test, feature = "cuda"))]
mod executor;
#[cfg(any(test, feature = "cuda"))]
mod jobs;
#[cfg(any(test, feature = "cuda"))]
mod launches;
#[cfg(any(test, feature = "cuda"))]
mod operators;
mod stepping;
#[cfg(test)]
mod tests;

use super::{
	device::{Buffer, DeviceError, DeviceMemory},
	execute::CompiledProgram,
};
use std::{collections::BTreeMap, sync::Arc};
use trainyard_program::{ops::TensorId, reference::StepContext, H256};

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

/// Chains of drilling of one size, each under a seed of its own.
#[derive(Clone, Copy, Debug)]
pub struct Chains<'a> {
	/// Rows and columns of the matrices.
	pub size: u32,
	/// Products of a chain.
	pub links: u32,
	/// Their seeds.
	pub seeds: &'a [H256],
}

/// Executes programs on a device that is not the processor.
pub trait Accelerator: DeviceMemory {
	/// Executes a program, and returns the tensors `wanted`.
	fn run(
		&self,
		plan: &CompiledProgram,
		inputs: Inputs<'_>,
		wanted: &[TensorId],
	) -> Result<Outputs, DeviceError>;

	/// Returns how many chains of this size to compute at a time, so that all of the device works.
	fn chains_at_a_time(&self, size: u32) -> u32;

	/// Computes chains. Returns the content hash of the last `X` of each, or `None` where `go_on`
	/// returned false. It is called after every link that was launched, with how many were; the
	/// device may be some hundreds of launches behind.
	fn chains(
		&self,
		chains: Chains<'_>,
		go_on: &mut dyn FnMut(u32) -> bool,
	) -> Result<Option<Vec<H256>>, DeviceError>;
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
	jobs::check(&accelerator)?;
	chains::check(&*accelerator)?;
	open.insert(ordinal, accelerator.clone());
	Ok(accelerator)
}

/// Fails: there is no GPU, because the feature is off.
#[cfg(not(feature = "cuda"))]
pub fn open(_ordinal: usize) -> Result<Arc<dyn Accelerator>, DeviceError> {
	Err(DeviceError::NotBuilt)
}
