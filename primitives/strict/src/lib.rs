//! Strict arithmetic: IEEE 754 binary32 with one defined order of operations, in scalar
//! code that gives the same bits on every target, without hardware fused multiply-add.
//!
//! This is the reference. The worker's vector kernels are tested against it, and
//! `docs/strict-arithmetic.md` says the same in words. Operations are written out: where a
//! definition has a multiplication and an addition, there are two roundings, and where it has
//! [`fma`] there is one. Subnormals are kept. A computed NaN has no defined bits: every NaN is hashed
//! and compared as [`CANONICAL_NAN`], see [`canonical_bits`].
//!
//! # Example
//!
#![doc = "```rust"]
#![doc = include_str!("../examples/dot.rs")]
#![doc = "```"]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

extern crate alloc;

#[cfg(test)]
mod accuracy;
mod activations;
mod chain;
mod cosine;
mod erf;
mod fma;
mod functions;
pub mod philox;
mod reduce;
mod sigmoid;
pub mod whetstone;

pub use activations::Function;
pub use chain::{DotChain, SumChain, MAX_SUM_TERMS, SUM_LEVELS};
pub use cosine::{cos_pi, cos_pi_with, COS_PI_FLOP};
pub use erf::{erf, erf_with, ERF_FLOP};
pub use fma::fma;
pub use functions::{
	exp, exp_with, inverse_normal, inverse_normal_with, log, log_with, relu, sqrt, Arithmetic,
	Soft, EXP_FLOP, INVERSE_NORMAL_FLOP, LOG_FLOP,
};
pub use reduce::{dot, max, sum, DOT_BLOCK, LANES, SUM_BLOCK};
pub use sigmoid::{sigmoid, sigmoid_with, tanh, tanh_with, SIGMOID_FLOP, TANH_FLOP};

/// Returns the binary32 of a count of 10^-9: the binary64 quotient `nano / 10^9`, rounded to
/// binary32. The operands are exact up to 2^53.
pub fn from_nano(nano: u64) -> f32 {
	(nano as f64 / 1e9) as f32
}

/// The bits that stand for every NaN where numbers are hashed or compared by bits.
pub const CANONICAL_NAN: u32 = 0x7FC0_0000;

/// Returns the bits of `x` as they are hashed and compared: [`CANONICAL_NAN`] of every NaN, and
/// otherwise `x.to_bits()`. Sign and payload of a computed NaN differ between processors.
pub fn canonical_bits(x: f32) -> u32 {
	match x.is_nan() {
		true => CANONICAL_NAN,
		false => x.to_bits(),
	}
}

/// Returns the factor of decoupled weight decay, `fma(-learning_rate, weight_decay, 1)`.
pub fn decay(learning_rate: f32, weight_decay: f32) -> f32 {
	fma(-learning_rate, weight_decay, 1.0)
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn every_nan_has_the_same_bits_and_nothing_else_has() {
		for payload in [1, 0x3F_FFFF, 0x40_0000, 0x40_0001, 0x7F_FFFF] {
			for sign in [0, 0x8000_0000] {
				let x = f32::from_bits(sign | 0x7F80_0000 | payload);
				assert_eq!(canonical_bits(x), 0x7FC0_0000, "{:08X}", x.to_bits());
			}
		}
		let others = [0, 1, 0x7F_FFFF, 0x80_0000, 0x3F80_0000, 0x7F7F_FFFF, 0x7F80_0000];
		for bits in others.into_iter().flat_map(|bits| [bits, 0x8000_0000 | bits]) {
			assert_eq!(canonical_bits(f32::from_bits(bits)), bits, "{bits:08X}");
		}
	}

	#[test]
	fn nano_is_the_nearest() {
		for (nano, text) in [
			(0u64, "0"),
			(1, "1e-9"),
			(10, "1e-8"),
			(2_000_000, "0.002"),
			(900_000_000, "0.9"),
			(999_000_000, "0.999"),
			(1_000_000_000, "1"),
			(1_000_000_000_000, "1000"),
		] {
			assert_eq!(from_nano(nano), text.parse::<f32>().unwrap(), "{nano}");
		}
	}
}
