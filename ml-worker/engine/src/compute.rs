//! Chooses where an engine computes.

use super::{
	cuda::{self, Accelerator},
	EngineError, Isa,
};
use std::{
	fmt,
	str::FromStr,
	sync::{Arc, Mutex, PoisonError},
};

/// The device to compute on. The results are the same in every bit on all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compute {
	/// The processor.
	#[default]
	Cpu,
	/// The NVIDIA GPU with this number, from 0.
	Cuda(usize),
}

impl fmt::Display for Compute {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			Compute::Cpu => f.write_str("cpu"),
			Compute::Cuda(0) => f.write_str("cuda"),
			Compute::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
		}
	}
}

impl FromStr for Compute {
	type Err = String;

	fn from_str(text: &str) -> Result<Self, String> {
		let ordinal = match text {
			"cpu" => return Ok(Compute::Cpu),
			"cuda" => Some(0),
			other => other.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok()),
		};
		let unknown = || format!("{text} is no device; there are cpu, cuda and cuda:NUMBER");
		ordinal.map(Compute::Cuda).ok_or_else(unknown)
	}
}

/// The device that this process's engines compute on.
static CHOSEN: Mutex<Compute> = Mutex::new(Compute::Cpu);

impl Compute {
	/// Makes this the device of engines for which no other is named. Fails if it cannot be used.
	pub fn choose(self) -> Result<(), EngineError> {
		self.target()?;
		*CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) = self;
		Ok(())
	}

	/// Returns the device that was last chosen, or the processor if none was.
	pub fn chosen() -> Compute {
		*CHOSEN.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Opens the device. On the processor it uses the fastest instruction set, or the one that
	/// [`ISA_VARIABLE`](super::ISA_VARIABLE) names.
	pub fn target(self) -> Result<Target, EngineError> {
		Ok(match self {
			Compute::Cpu => Target::Cpu(Isa::from_environment()?),
			Compute::Cuda(ordinal) => Target::Cuda(cuda::open(ordinal)?),
		})
	}
}

/// A device that is open.
#[derive(Clone, Debug)]
pub enum Target {
	/// The processor, with this instruction set.
	Cpu(Isa),
	/// A GPU.
	Cuda(Arc<dyn Accelerator>),
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn devices_have_names() {
		for (text, device) in
			[("cpu", Compute::Cpu), ("cuda", Compute::Cuda(0)), ("cuda:3", Compute::Cuda(3))]
		{
			assert_eq!(text.parse(), Ok(device));
			assert_eq!(device.to_string(), text);
		}
		assert_eq!("cuda:0".parse(), Ok(Compute::Cuda(0)));
		for wrong in ["gpu", "cuda:", "cuda:x", "cuda-1", ""] {
			assert!(wrong.parse::<Compute>().unwrap_err().contains("cuda:NUMBER"), "{wrong}");
		}
	}

	#[cfg(not(feature = "cuda"))]
	#[test]
	fn without_the_feature_it_is_said() {
		let message = Compute::Cuda(0).choose().unwrap_err().to_string();
		assert!(
			message.contains("this build has no CUDA: build with --features cuda"),
			"{message}"
		);
		assert_eq!(Compute::chosen(), Compute::Cpu);
	}
}
