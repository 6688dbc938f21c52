//! Initial states. They are a pure function of specification and assignment seed, so a verifier
//! computes checkpoint 0 instead of trusting it.
//!
//! Weights come from the mixture 1/2 N(+2s, s^2) + 1/2 N(-2s, s^2) with `s^2 = 2 / (5 fan_in)`,
//! whose variance is He's `2 / fan_in`; everything else begins at +0, and the powers of beta at 1.

use crate::{
	lower::{Initial, StateTensor},
	H256,
};
use alloc::vec::Vec;
use trainyard_strict::{
	fma, inverse_normal,
	philox::{self, symmetric, Stream, StreamName},
	sqrt,
};

/// Returns the scale `s` of the mixture for a layer with `fan_in` inputs: `sqrt(2 / (5 fan_in))`,
/// the product in integers.
pub fn scale(fan_in: u32) -> f32 {
	sqrt(2.0 / u64::from(fan_in).saturating_mul(5) as f32)
}

/// Returns the weight that the random word chooses: `fma(s, z, +-2 s)` with `z` the standard normal
/// of the upper 24 bits ([`symmetric`], [`inverse_normal`]) and the minus where the lowest bit is
/// set.
pub fn weight(word: u32, scale: f32) -> f32 {
	let centre = 2.0 * scale;
	let centre = if word & 1 == 1 { -centre } else { centre };
	fma(scale, inverse_normal(symmetric(word)), centre)
}

/// Returns the magnitude of the elements of a reflection's vector: `sqrt(1 / width)`, so that its length
/// is 1.
pub fn magnitude(width: u32) -> f32 {
	sqrt(1.0 / width as f32)
}

/// Returns the element of a reflection's vector that the random word chooses: the magnitude, negative
/// where the lowest bit is set.
fn sign(word: u32, magnitude: f32) -> f32 {
	if word & 1 == 1 {
		-magnitude
	} else {
		magnitude
	}
}

/// Returns the elements with which `tensor` begins. Element `i` of the weights of layer `l` uses
/// word `i mod 4` of block `i / 4` at step `l` of the stream `init`, and that of the vector of
/// reflection `l` the same of the stream `mapping`.
pub fn initial(seed: &H256, tensor: &StateTensor) -> Vec<f32> {
	let len = tensor.shape.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)));
	let len = usize::try_from(len).unwrap_or(usize::MAX);
	match tensor.initial {
		Initial::Zeros => alloc::vec![0.0; len],
		Initial::Ones => alloc::vec![1.0; len],
		Initial::Reflection { number, width } => {
			let magnitude = magnitude(width);
			words(seed, StreamName::Mapping, number, len)
				.map(|word| sign(word, magnitude))
				.collect()
		}
		Initial::Weights { layer, fan_in } => {
			let scale = scale(fan_in);
			words(seed, StreamName::Init, layer, len).map(|word| weight(word, scale)).collect()
		}
	}
}

/// Returns the first `len` words of a stream at a step.
fn words(seed: &H256, name: StreamName, step: u32, len: usize) -> impl Iterator<Item = u32> {
	let stream = Stream::new(&seed.0, name);
	(0u64..).flat_map(move |block| stream.block(step, block)).take(len)
}

/// Returns the element at `index` with which `tensor` begins, without the others. It may be any
/// index: whether the tensor has such an element is for the caller to know.
pub fn element(seed: &H256, tensor: &StateTensor, index: u64) -> f32 {
	match tensor.initial {
		Initial::Zeros => 0.0,
		Initial::Ones => 1.0,
		Initial::Reflection { number, width } => {
			let block = Stream::new(&seed.0, StreamName::Mapping).block(number, index / 4);
			sign(philox::word(block, index), magnitude(width))
		}
		Initial::Weights { layer, fan_in } => {
			let block = Stream::new(&seed.0, StreamName::Init).block(layer, index / 4);
			weight(philox::word(block, index), scale(fan_in))
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{lower, spec::JobSpec};

	#[test]
	fn weights_follow_the_mixture() {
		let tensor = StateTensor {
			name: "w".into(),
			shape: vec![100, 1_000],
			initial: Initial::Weights { layer: 0, fan_in: 1_000 },
		};
		let w = initial(&H256::repeat_byte(3), &tensor);
		let n = w.len() as f64;
		assert_eq!(w.len(), 100_000);
		let s = (2.0f64 / 5_000.0).sqrt();
		let moment = |p: i32| w.iter().map(|x| (f64::from(*x) / s).powi(p)).sum::<f64>() / n;
		// In units of s: mean 0, variance 5, fourth moment 16 + 24 + 3 = 43; six standard
		// errors of each.
		assert!(moment(1).abs() < 6.0 * (5.0 / n).sqrt());
		assert!((moment(2) - 5.0).abs() < 6.0 * ((43.0 - 25.0) / n).sqrt());
		assert!((moment(4) - 43.0).abs() < 6.0 * (8_000.0 / n).sqrt(), "{}", moment(4));
		// The mixture has two humps: few values are near zero. With z ~ mixture, P(|z| < 0.1) is
		// 0.0108.
		let near = w.iter().filter(|x| f64::from(x.abs()) < 0.1 * s).count() as f64;
		assert!((near / n - 0.0108).abs() < 0.002, "{}", near / n);
	}

	#[test]
	fn any_element_opens() {
		for tensor in lower::state(&JobSpec::example().check().unwrap()) {
			let seed = H256::repeat_byte(6);
			for (index, expected) in initial(&seed, &tensor).into_iter().enumerate() {
				let found = element(&seed, &tensor, index as u64);
				assert_eq!(found.to_bits(), expected.to_bits(), "{} {index}", tensor.name);
			}
		}
	}

	/// The vectors of a mapping are of length 1, hold as many numbers of each sign, and are others of
	/// every seed and every reflection.
	#[test]
	fn reflections_are_drawn() {
		let vector = |seed, number, width| {
			let initial = Initial::Reflection { number, width };
			let tensor = StateTensor { name: "v".into(), shape: vec![1, width], initial };
			let all = super::initial(&H256::repeat_byte(seed), &tensor);
			for (index, x) in (0u64..).zip(&all) {
				assert_eq!(*x, element(&H256::repeat_byte(seed), &tensor, index));
			}
			all
		};
		for width in [2, 3, 64, 65_536] {
			let all = vector(1, 0, width);
			let length: f64 = all.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
			assert!((length - 1.0).abs() < 3e-7, "{width}: {length}");
			assert!(all.iter().all(|x| x.abs() == magnitude(width)));
		}
		let signs = |all: &[f32]| all.iter().filter(|x| **x > 0.0).count() as f64;
		let (one, other) = (vector(1, 0, 65_536), vector(1, 1, 65_536));
		// Six standard errors.
		assert!((signs(&one) - 32_768.0).abs() < 6.0 * 128.0);
		let same = one.iter().zip(&other).filter(|(a, b)| a == b).count() as f64;
		assert!((same - 32_768.0).abs() < 6.0 * 128.0);
		assert_ne!(vector(1, 0, 64), vector(2, 0, 64));
	}

	#[test]
	fn layers_and_seeds_differ() {
		let spec = JobSpec::example().check().unwrap();
		let state = lower::state(&spec);
		let weights: Vec<_> =
			state.iter().filter(|t| matches!(t.initial, Initial::Weights { .. })).collect();
		let (a, b) = (initial(&H256::zero(), weights[0]), initial(&H256::zero(), weights[1]));
		assert_eq!((a.len(), b.len()), (64 * 64, 64 * 32));
		assert_ne!(a[..16], b[..16]);
		assert_ne!(a[..16], initial(&H256::repeat_byte(1), weights[0])[..16]);
		assert_eq!(a, initial(&H256::zero(), weights[0]));
	}

	#[test]
	fn the_rest_begins_at_zero_or_one() {
		for tensor in lower::state(&JobSpec::example().check().unwrap()) {
			let values = initial(&H256::zero(), &tensor);
			match tensor.initial {
				Initial::Zeros => assert!(values.iter().all(|x| x.to_bits() == 0)),
				Initial::Ones => assert_eq!(values, [1.0]),
				Initial::Reflection { .. } => panic!("an MLP has no mapping"),
				Initial::Weights { .. } => assert!(values.iter().all(|x| x.is_finite())),
			}
		}
	}
}
