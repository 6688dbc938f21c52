//! Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw,
//! "Parallel random numbers: as easy as 1, 2, 3" (SC'11).
//!
//! Any word of any stream can be computed alone, so orders of rows and initial weights are the
//! same on one thread, on many, and on an accelerator. A [`Stream`] is keyed by a seed and a name;
//! its counter is (index low, index high, step, 0). The functions that compute a block are always
//! inlined, so that a loop over blocks can be vectorised where it is compiled.

use alloc::vec::Vec;
use sp_crypto_hashing::blake2_256;

/// Multiplier of word 0 in each round.
const MULTIPLIER_0: u32 = 0xD251_1F53;
/// Multiplier of word 2 in each round.
const MULTIPLIER_1: u32 = 0xCD9E_8D57;
/// Added to key word 0 between rounds: the golden ratio.
const WEYL_0: u32 = 0x9E37_79B9;
/// Added to key word 1 between rounds: the square root of 3, less 1.
const WEYL_1: u32 = 0xBB67_AE85;
/// Rounds.
const ROUNDS: u32 = 10;

/// Domain of the key derivation.
const DOMAIN: &[u8] = b"trainyard/philox/v1";

/// Returns the high and low half of the 64-bit product.
#[inline(always)]
fn multiply(a: u32, b: u32) -> (u32, u32) {
	let product = u64::from(a).wrapping_mul(u64::from(b));
	((product >> 32) as u32, product as u32)
}

/// Returns the four words at `counter` under `key`.
#[inline(always)]
pub fn philox4x32_10(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
	let ([mut c0, mut c1, mut c2, mut c3], [mut k0, mut k1]) = (counter, key);
	for _ in 0..ROUNDS {
		let (high0, low0) = multiply(MULTIPLIER_0, c0);
		let (high1, low1) = multiply(MULTIPLIER_1, c2);
		(c0, c1, c2, c3) = (high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0);
		k0 = k0.wrapping_add(WEYL_0);
		k1 = k1.wrapping_add(WEYL_1);
	}
	[c0, c1, c2, c3]
}

/// What a stream is for. Streams of one seed are independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamName {
	/// Initial weights; step is the number of the layer.
	Init,
	/// Order of the training rows; step is the epoch.
	Shuffle,
	/// Which elements a dropout keeps; step is the training step.
	Dropout,
	/// Noise on the inputs; step is the training step.
	Noise,
	/// Reflections of a mapping; step is the number of the reflection.
	Mapping,
}

impl StreamName {
	/// Returns the name as it enters the key.
	pub fn as_str(self) -> &'static str {
		match self {
			StreamName::Init => "init",
			StreamName::Shuffle => "shuffle",
			StreamName::Dropout => "dropout",
			StreamName::Noise => "noise",
			StreamName::Mapping => "mapping",
		}
	}
}

/// A keyed stream of 32-bit words, four to a block, 2^64 blocks to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
	key: [u32; 2],
}

impl Stream {
	/// Returns the stream `name` of `seed`. Its key is the first 8 bytes of
	/// `blake2_256("trainyard/philox/v1" ++ seed ++ name)`, read as two little-endian words.
	pub fn new(seed: &[u8; 32], name: StreamName) -> Self {
		let mut bytes = Vec::from(DOMAIN);
		bytes.extend_from_slice(seed);
		bytes.extend_from_slice(name.as_str().as_bytes());
		let [a, b, c, d, e, f, g, h, ..] = blake2_256(&bytes);
		Self { key: [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])] }
	}

	/// Returns the key.
	pub fn key(&self) -> [u32; 2] {
		self.key
	}

	/// Returns the four words of block `index` at `step`: counter (index low, index high, step, 0).
	#[inline(always)]
	pub fn block(&self, step: u32, index: u64) -> [u32; 4] {
		philox4x32_10([index as u32, (index >> 32) as u32, step, 0], self.key)
	}

	/// Returns draw `index` at `step`, uniform in `0..bound` (0 for `bound` 0). Of block
	/// `index / 2` it takes words 0 and 1 where `index` is even, words 2 and 3 where it is odd, as
	/// the low and the high half of a 64-bit word `w`; the draw is `floor(w * bound / 2^64)`. The
	/// bias of any value is below `bound / 2^64`.
	pub fn below(&self, step: u32, index: u64, bound: u32) -> u32 {
		let [w0, w1, w2, w3] = self.block(step, index / 2);
		let (low, high) = if index.is_multiple_of(2) { (w0, w1) } else { (w2, w3) };
		let word = (u64::from(high) << 32) | u64::from(low);
		(u128::from(word).wrapping_mul(u128::from(bound)) >> 64) as u32
	}
}

/// Returns the word of a block that belongs to `index`: number `index mod 4`.
#[inline(always)]
pub fn word([w0, w1, w2, w3]: [u32; 4], index: u64) -> u32 {
	match index % 4 {
		0 => w0,
		1 => w1,
		2 => w2,
		_ => w3,
	}
}

/// Returns the odd multiple of 2^-24 in (-1, 1) that the upper 24 bits of `word` choose, uniform
/// and symmetric about 0: with `n = word >> 8`, `(2 n + 1 - 2^24) / 2^24`. Exact in binary32.
#[inline(always)]
pub fn symmetric(word: u32) -> f32 {
	const HALF_RANGE: i32 = 1 << 24;
	let odd = ((word >> 8) as i32).wrapping_mul(2).wrapping_add(1).wrapping_sub(HALF_RANGE);
	// Both operands are exact and the divisor is a power of two: nothing is rounded.
	odd as f32 / HALF_RANGE as f32
}

#[cfg(test)]
mod tests {
	use super::*;

	/// Known answers published with the authors' Random123 library (kat_vectors,
	/// philox4x32 10).
	#[test]
	fn published_vectors() {
		let cases: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
			([0; 4], [0; 2], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]),
			([0xffffffff; 4], [0xffffffff; 2], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]),
			(
				[0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
				[0xa4093822, 0x299f31d0],
				[0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
			),
		];
		for (counter, key, expected) in cases {
			assert_eq!(philox4x32_10(counter, key), expected);
		}
	}

	#[test]
	fn streams_differ_by_seed_and_name() {
		let key = |byte, name| Stream::new(&[byte; 32], name).key();
		assert_ne!(key(1, StreamName::Init), key(1, StreamName::Shuffle));
		assert_ne!(key(1, StreamName::Init), key(2, StreamName::Init));
	}

	#[test]
	fn bounded_draws_keep_their_bound_and_fill_it() {
		let stream = Stream::new(&[7; 32], StreamName::Shuffle);
		let mut hits = [0u32; 10];
		for i in 0..4_000 {
			hits[stream.below(3, i, 10) as usize] += 1;
		}
		// 400 expected, standard deviation 19: six of them.
		assert!(hits.iter().all(|h| (286..=514).contains(h)), "{hits:?}");
		assert_eq!(stream.below(0, 0, 0), 0);
		assert_eq!(stream.below(0, 0, 1), 0);
		// Neighbouring draws of one block are different halves of it.
		assert_ne!(stream.below(0, 0, u32::MAX), stream.below(0, 1, u32::MAX));
	}

	#[test]
	fn symmetric_is_exact_at_its_ends() {
		let step = 1.0 / f32::from_bits(0x4b80_0000);
		assert_eq!(symmetric(0), -1.0 + step);
		assert_eq!(symmetric(u32::MAX), 1.0 - step);
		assert_eq!(symmetric(0x7fff_ff00), -step);
		assert_eq!(symmetric(0x8000_0000), step);
		// The lower 8 bits are not used: they are left for other draws.
		assert_eq!(symmetric(0x1234_5600), symmetric(0x1234_56ff));
	}
}
