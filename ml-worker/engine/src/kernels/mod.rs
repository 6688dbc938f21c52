//! The kernels: strict operators on slices, compiled for several instruction sets.
//!
//! Each operator but the product is a [`SimdTask`]: one generic loop, vectorised over *outputs* by
//! the compiler, so no width changes the order in which any one output is computed. An [`Isa`]
//! chooses for which instruction set the loop is compiled. Products ([`matmul`]) are written out
//! for each, and convolutions ([`images`]) are made of their tiles. All give the bits of the
//! reference in `trainyard_strict`; that is what their tests check.
//!
//! The dispatch is our own and not that of the crate `pulp`, because the loops are written over
//! [`Arithmetic`], which the reference executes too and which fixes the rounding of a multiply-add
//! on every machine.

pub mod activations;
pub mod attention;
pub mod axes;
pub mod chain;
pub mod elementwise;
pub mod embedding;
pub mod images;
pub mod loss;
pub mod matmul;
pub mod norm;
pub mod optimizer;
pub mod random;
pub mod reduce;
mod rows;
#[cfg(test)]
pub(super) mod tests;
pub mod whetstone;

use std::{fmt, str::FromStr};
pub use trainyard_strict::{Arithmetic, Soft};

/// The environment variable that names the instruction set to use in place of the fastest one:
/// `scalar`, `avx2`, `avx512` or `neon`.
pub const ISA_VARIABLE: &str = "TRAINYARD_ISA";

/// Elements (or multiply-adds) below which threads cost more than they bring: to wake another
/// thread takes some 20 microseconds, and this many additions take 45.
pub const PARALLEL_FROM: usize = 1 << 18;

/// Computes fused multiply-add and root in hardware. Use it only where the instruction exists:
/// elsewhere `mul_add` becomes a slow call, which still gives the same bits.
#[derive(Clone, Copy, Debug)]
pub struct Hardware;

impl Arithmetic for Hardware {
	#[inline(always)]
	fn fma(a: f32, b: f32, c: f32) -> f32 {
		a.mul_add(b, c)
	}

	#[inline(always)]
	fn sqrt(x: f32) -> f32 {
		x.sqrt()
	}
}

/// Work that is compiled once for each instruction set.
pub trait SimdTask {
	/// Does the work. Implementations are `#[inline(always)]`, so that they are compiled
	/// with the features of the function they are called from.
	fn run<A: Arithmetic>(self);
}

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
	/// Portable scalar code; fused multiply-add in software.
	Scalar,
	/// x86-64 with AVX2 and FMA.
	#[cfg(target_arch = "x86_64")]
	Avx2,
	/// x86-64 with AVX-512F, AVX2 and FMA.
	#[cfg(target_arch = "x86_64")]
	Avx512,
	/// 64-bit Arm, whose baseline has NEON and fused multiply-add.
	#[cfg(target_arch = "aarch64")]
	Neon,
}

/// The instruction set that was asked for does not exist, or this machine cannot run it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
	"{ISA_VARIABLE} is \"{asked}\", which this machine does not support; unset it or use one \
	 of: {}",
	available()
)]
pub struct UnsupportedIsa {
	asked: String,
}

fn available() -> String {
	Isa::supported().iter().map(Isa::to_string).collect::<Vec<_>>().join(", ")
}

impl Isa {
	/// Every instruction set of this processor family, the fastest first.
	const ALL: &[Self] = &[
		#[cfg(target_arch = "x86_64")]
		Isa::Avx512,
		#[cfg(target_arch = "x86_64")]
		Isa::Avx2,
		#[cfg(target_arch = "aarch64")]
		Isa::Neon,
		Isa::Scalar,
	];

	/// Returns the instruction sets that this machine can run, the fastest first.
	pub fn supported() -> Vec<Self> {
		Self::ALL.iter().copied().filter(|isa| isa.is_supported()).collect()
	}

	/// Returns whether this machine can run it.
	pub fn is_supported(self) -> bool {
		match self {
			Isa::Scalar => true,
			#[cfg(target_arch = "x86_64")]
			Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
			#[cfg(target_arch = "x86_64")]
			Isa::Avx512 => Isa::Avx2.is_supported() && is_x86_feature_detected!("avx512f"),
			#[cfg(target_arch = "aarch64")]
			Isa::Neon => true,
		}
	}

	/// Returns the instruction set that [`ISA_VARIABLE`] names, otherwise the fastest.
	pub fn from_environment() -> Result<Self, UnsupportedIsa> {
		match std::env::var_os(ISA_VARIABLE) {
			Some(name) if !name.is_empty() => name.to_string_lossy().parse(),
			_ => Ok(Self::supported().first().copied().unwrap_or(Isa::Scalar)),
		}
	}

	/// Runs `task`, compiled for this instruction set.
	///
	/// # Panics
	/// Panics if this machine does not support it.
	pub fn run(self, task: impl SimdTask) {
		assert!(self.is_supported(), "this machine cannot run the {self} kernel");
		match self {
			Isa::Scalar => task.run::<Soft>(),
			// SAFETY: the assertion has found the instruction set.
			#[cfg(target_arch = "x86_64")]
			Isa::Avx2 => unsafe { run_avx2(task) },
			// SAFETY: the assertion has found the instruction set.
			#[cfg(target_arch = "x86_64")]
			Isa::Avx512 => unsafe { run_avx512(task) },
			#[cfg(target_arch = "aarch64")]
			Isa::Neon => task.run::<Hardware>(),
		}
	}
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2(task: impl SimdTask) {
	task.run::<Hardware>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn run_avx512(task: impl SimdTask) {
	task.run::<Hardware>()
}

impl fmt::Display for Isa {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			Isa::Scalar => "scalar",
			#[cfg(target_arch = "x86_64")]
			Isa::Avx2 => "avx2",
			#[cfg(target_arch = "x86_64")]
			Isa::Avx512 => "avx512",
			#[cfg(target_arch = "aarch64")]
			Isa::Neon => "neon",
		})
	}
}

impl FromStr for Isa {
	type Err = UnsupportedIsa;

	fn from_str(name: &str) -> Result<Self, UnsupportedIsa> {
		Self::supported()
			.into_iter()
			.find(|isa| isa.to_string() == name)
			.ok_or_else(|| UnsupportedIsa { asked: name.into() })
	}
}
