//! Measures this machine, for `trainyard bench`.
//!
//! Both sides of a comparison are measured in turns in one process, so that they meet the same
//! state of the machine. A figure is the median over the turns, and a ratio is the median of the
//! turns' ratios.

pub mod gpu;
pub mod hashing;
pub mod matmul;
pub mod memory;
pub mod train;

use serde::{Deserialize, Serialize};
use trainyard_engine::Isa;
use trainyard_proof::bundle::manifest::MadeBy;

/// The machine and the program that measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
	/// Processor.
	pub cpu: String,
	/// Cores.
	pub cores: u32,
	/// Operating system and architecture.
	pub system: String,
	/// Version of this program.
	pub worker: String,
	/// Instruction sets that can run here, the fastest first.
	pub kernels: Vec<String>,
	/// Vector extensions of the processor, of those that matter to arithmetic.
	pub flags: Vec<String>,
}

impl Machine {
	/// Returns this machine and program.
	pub fn here() -> Self {
		let MadeBy { worker, cpu, cores, system } = MadeBy::here();
		let kernels = Isa::supported().iter().map(Isa::to_string).collect();
		Self { cpu, cores, system, worker, kernels, flags: flags() }
	}
}

#[cfg(target_arch = "x86_64")]
fn flags() -> Vec<String> {
	let known = [
		("avx2", is_x86_feature_detected!("avx2")),
		("fma", is_x86_feature_detected!("fma")),
		("avx512f", is_x86_feature_detected!("avx512f")),
		("avx512vl", is_x86_feature_detected!("avx512vl")),
		("avx512bw", is_x86_feature_detected!("avx512bw")),
		("avx512dq", is_x86_feature_detected!("avx512dq")),
	];
	known.into_iter().filter(|(_, there)| *there).map(|(name, _)| name.to_owned()).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn flags() -> Vec<String> {
	Vec::new()
}

/// Returns the median of the values: of an even number the mean of the two in the middle, of none
/// NaN.
pub fn median(values: &[f64]) -> f64 {
	let mut sorted = values.to_vec();
	sorted.sort_by(f64::total_cmp);
	match sorted.len() {
		0 => f64::NAN,
		len if len % 2 == 1 => sorted[len / 2],
		len => (sorted[len / 2 - 1] + sorted[len / 2]) / 2.0,
	}
}

/// Returns numbers in (-1, 1), the same on each call.
fn numbers(len: usize, seed: u32) -> Vec<f32> {
	let mut state = seed;
	let mut next = || {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		(state >> 8) as f32 / 8_388_608.0 - 1.0
	};
	(0..len).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn median_is_the_middle() {
		assert!(median(&[]).is_nan());
		assert_eq!(median(&[3.0]), 3.0);
		assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
		assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), 3.0);
	}

	#[test]
	fn this_machine_has_a_kernel() {
		let machine = Machine::here();
		assert!(machine.cores > 0);
		assert!(machine.kernels.iter().any(|kernel| kernel == "scalar"));
	}
}
