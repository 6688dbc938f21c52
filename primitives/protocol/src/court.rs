//! Digests by which a dispute narrows: what a defendant posts of a computation at some place of it.
//!
//! All of them are functions of the computation alone, so one post serves every dispute, and whoever
//! computes honestly posts the same. What is counted on the way (results, leaves of a trace, slices)
//! stands in [prefix roots](crate::merkle::Frontier), which can be carried on from any place.

use crate::{job::BlockNumber, merkle, H256};
use codec::Encode;
use sp_crypto_hashing::blake2_256;
use trainyard_program::{parts::Accumulator, spec::StopRule};
use trainyard_strict::{canonical_bits, SumChain};

/// Ticks within which a challenge is shown after somebody bound itself to it: 5 minutes at 6 s a block.
pub const REVEAL_TICKS: BlockNumber = 50;

/// Returns the leaf of a result: Merkle leaf over SCALE("trainyard/result/v1", index: u32, content),
/// with the content hash of the tensor that part `index` of a program writes.
pub fn result_leaf(index: u32, content: &H256) -> H256 {
	(b"trainyard/result/v1", index, content).using_encoded(merkle::leaf)
}

/// Returns the milestone after `step` steps of a job: `blake2_256(SCALE("trainyard/milestone/v1",
/// step: u32, state, trace))`, with the hash of the state and the prefix root over the leaves of the
/// steps of this segment so far.
pub fn milestone(step: u32, state: &H256, trace: &H256) -> H256 {
	(b"trainyard/milestone/v1", step, state, trace).using_encoded(blake2_256).into()
}

/// Returns the digest of a chain after `taken` terms: `blake2_256(SCALE("trainyard/chain/v1", taken:
/// u64, accumulator))`.
pub fn chain(taken: u64, accumulator: &Accumulator) -> H256 {
	(b"trainyard/chain/v1", taken, accumulator).using_encoded(blake2_256).into()
}

/// Returns the digest of the mean of an evaluation after so many of its slices:
/// `blake2_256(SCALE("trainyard/mean/v1", slices: u32, taken: u64, accumulator, correct: u64))`, with
/// the sum over the `taken` losses so far in the form of [`Accumulator::Sum`].
pub fn mean(slices: u32, taken: u64, sum: &SumChain, correct: u64) -> H256 {
	let sum = Accumulator::Sum(*sum);
	(b"trainyard/mean/v1", slices, taken, sum, correct).using_encoded(blake2_256).into()
}

/// Returns the digest of the rule for an early stop after so many checkpoints:
/// `blake2_256(SCALE("trainyard/stop/v1", checkpoints: u32, bits of the least loss: u32, waited:
/// u32))`.
pub fn stop(checkpoints: u32, rule: &StopRule) -> H256 {
	let least = canonical_bits(rule.least);
	(b"trainyard/stop/v1", checkpoints, least, rule.waited).using_encoded(blake2_256).into()
}

#[cfg(test)]
mod tests {
	use super::*;

	fn hash_of(parts: &[&[u8]]) -> H256 {
		H256(blake2_256(&parts.concat()))
	}

	/// The layout is frozen: verifiers in other languages build it by hand.
	#[test]
	fn layout() {
		let (one, other) = (H256([1; 32]), H256([2; 32]));
		let leaf = hash_of(&[&[0], b"trainyard/result/v1", &[2, 1, 0, 0], &[1; 32]]);
		assert_eq!(result_leaf(258, &one), leaf);

		let bytes: [&[u8]; 4] = [b"trainyard/milestone/v1", &[2, 1, 0, 0], &[1; 32], &[2; 32]];
		assert_eq!(milestone(258, &one, &other), hash_of(&bytes));

		let sum = Accumulator::Add(f32::from_bits(0xFF80_0001));
		let bytes: [&[u8]; 4] =
			[b"trainyard/chain/v1", &[2, 1, 0, 0, 0, 0, 0, 0], &[4], &[0, 0, 0xC0, 0x7F]];
		assert_eq!(chain(258, &sum), hash_of(&bytes));

		let mut sum = SumChain::default();
		sum.add(0, 1.5);
		let mut lanes = vec![0; 4 * 16 * 4];
		lanes[..4].copy_from_slice(&1.5f32.to_le_bytes());
		let (taken, correct) = (1u64.to_le_bytes(), 7u64.to_le_bytes());
		let bytes: [&[u8]; 6] =
			[b"trainyard/mean/v1", &[2, 1, 0, 0], &taken, &[2], &lanes, &correct];
		assert_eq!(mean(258, 1, &sum, 7), hash_of(&bytes));

		let rule = StopRule { least: 1.5, waited: 3 };
		let bytes: [&[u8]; 4] =
			[b"trainyard/stop/v1", &[2, 1, 0, 0], &1.5f32.to_le_bytes(), &[3, 0, 0, 0]];
		assert_eq!(stop(258, &rule), hash_of(&bytes));
	}
}
