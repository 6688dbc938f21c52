//! An NVIDIA GPU, through its driver.

use super::{
	backend::{Arg, Backend, Geometry, KERNELS},
	DeviceError,
};
use cudarc::{
	driver::{
		sys::{is_culib_present, CUdevice_attribute},
		CudaContext, CudaFunction, CudaSlice, CudaStream, DeviceRepr, DriverError, LaunchConfig,
		PushKernelArg,
	},
	nvrtc::Ptx,
};
use std::{collections::BTreeMap, sync::Arc};

/// The kernels, compiled by the build script.
const BINARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernels.fatbin"));

// Safety: nine integers of 32 bits, in C's layout; kernels take them as `Window`.
unsafe impl DeviceRepr for Geometry {}

/// A GPU, and one stream on it: everything happens in the order in which it is asked for.
pub struct Cuda {
	stream: Arc<CudaStream>,
	functions: BTreeMap<&'static str, CudaFunction>,
	name: String,
	multiprocessors: u32,
}

fn failed(at: &'static str) -> impl Fn(DriverError) -> DeviceError {
	move |error| DeviceError::Failed { at, why: error.to_string() }
}

impl Cuda {
	/// Opens the GPU with this number.
	pub fn open(ordinal: usize) -> Result<Self, DeviceError> {
		// Safety: looks for the driver's library.
		if !unsafe { is_culib_present() } {
			return Err(DeviceError::Unavailable(
				"there is no NVIDIA driver here (libcuda.so was not found)".into(),
			));
		}
		let unavailable = |error: DriverError| {
			DeviceError::Unavailable(format!("GPU number {ordinal} does not open ({error})"))
		};
		let context = CudaContext::new(ordinal).map_err(unavailable)?;
		// There is one stream only, whose order is all that is needed.
		// Safety: no buffer is used on another stream.
		unsafe { context.disable_event_tracking() };
		let model = context.name().map_err(unavailable)?;
		let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
		let multiprocessors = context.attribute(attribute).map_err(unavailable)?;
		let module = context.load_module(Ptx::from_binary(BINARY.to_vec())).map_err(|error| {
			DeviceError::Unavailable(format!(
				"the kernels of this build do not run on {model} ({error}): it needs compute \
				 capability 8.0 or newer, and a driver as new as the toolkit of the build"
			))
		})?;
		let mut functions = BTreeMap::new();
		for name in KERNELS {
			functions.insert(*name, module.load_function(name).map_err(failed("load_function"))?);
		}
		Ok(Self {
			stream: context.new_stream().map_err(unavailable)?,
			functions,
			name: format!("{model} (GPU {ordinal})"),
			multiprocessors: u32::try_from(multiprocessors).unwrap_or(1),
		})
	}
}

impl Backend for Cuda {
	type Buffer = CudaSlice<u32>;

	fn name(&self) -> String {
		self.name.clone()
	}

	fn multiprocessors(&self) -> u32 {
		self.multiprocessors
	}

	fn allocate(&self, len: usize) -> Result<Self::Buffer, DeviceError> {
		// Safety: kernels write every element before any is read.
		unsafe { self.stream.alloc(len.max(1)) }.map_err(failed("alloc"))
	}

	fn upload(&self, values: &[f32]) -> Result<Self::Buffer, DeviceError> {
		let bits: Vec<u32> = values.iter().map(|x| x.to_bits()).collect();
		self.upload_integers(&bits)
	}

	fn upload_integers(&self, values: &[u32]) -> Result<Self::Buffer, DeviceError> {
		let mut buffer = self.allocate(values.len())?;
		if !values.is_empty() {
			self.stream.memcpy_htod(values, &mut buffer).map_err(failed("memcpy_htod"))?;
		}
		Ok(buffer)
	}

	fn download(&self, buffer: &Self::Buffer, len: usize) -> Result<Vec<f32>, DeviceError> {
		let mut bits = vec![0u32; len];
		if len > 0 {
			let view = buffer.try_slice(..len).ok_or_else(|| DeviceError::Failed {
				at: "memcpy_dtoh",
				why: format!("a buffer has fewer than {len} elements"),
			})?;
			self.stream.memcpy_dtoh(&view, &mut bits).map_err(failed("memcpy_dtoh"))?;
			self.stream.synchronize().map_err(failed("synchronize"))?;
		}
		Ok(bits.into_iter().map(f32::from_bits).collect())
	}

	fn launch(
		&self,
		kernel: &'static str,
		blocks: u32,
		threads: u32,
		arguments: &[Arg<'_, Self::Buffer>],
	) -> Result<(), DeviceError> {
		let unknown = || DeviceError::Failed { at: kernel, why: "there is no such kernel".into() };
		let function = self.functions.get(kernel).ok_or_else(unknown)?;
		let mut launch = self.stream.launch_builder(function);
		for argument in arguments {
			match argument {
				Arg::Buffer(buffer) => launch.arg(*buffer),
				Arg::U32(x) => launch.arg(x),
				Arg::U64(x) => launch.arg(x),
				Arg::F32(x) => launch.arg(x),
				Arg::Window(geometry) => launch.arg(geometry),
			};
		}
		let config = LaunchConfig {
			grid_dim: (blocks, 1, 1),
			block_dim: (threads, 1, 1),
			shared_mem_bytes: 0,
		};
		// Safety: `operators` and `launches` give every kernel its parameters, and buffers of the
		// sizes that it reads and writes; tests run the same launches on the host and check the
		// memory before and after every buffer.
		unsafe { launch.launch(config) }.map_err(failed(kernel))?;
		Ok(())
	}
}
