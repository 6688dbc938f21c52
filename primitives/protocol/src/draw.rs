//! Draws from a seed: who trains, who verifies, and what a seat draws for itself.

use crate::H256;
use alloc::{collections::BTreeSet, vec::Vec};
use codec::Encode;
use sp_crypto_hashing::blake2_256;

/// A stream of numbers from a seed: number `i` of domain `d` comes from
/// `blake2_256(SCALE(d, seed, i: u32))`.
struct Stream<'a> {
	domain: &'a [u8],
	seed: &'a H256,
	next: u32,
}

impl Stream<'_> {
	/// Returns a number that is uniform in `0..bound`, by the high half of a 64 x 64 bit product.
	/// The bias is below `bound / 2^64`.
	fn below(&mut self, bound: u64) -> u64 {
		let hash = (self.domain, self.seed, self.next).using_encoded(blake2_256);
		self.next = self.next.wrapping_add(1);
		let (word, _) = hash.split_at(8);
		let word = word.iter().rev().fold(0u64, |acc, byte| (acc << 8) | u64::from(*byte));
		((u128::from(word) * u128::from(bound)) >> 64) as u64
	}
}

/// Draws `count` of `candidates` without replacement, each draw in proportion to the weight (0
/// counts as 1). If there are fewer candidates than `count`, all are drawn. The result is in the
/// order drawn and depends on the candidates' order, so callers sort first.
pub fn weighted<A: Clone>(
	domain: &[u8],
	seed: &H256,
	candidates: &[(A, u128)],
	count: usize,
) -> Vec<A> {
	let mut stream = Stream { domain, seed, next: 0 };
	// Weights are scaled down together until their sum fits 63 bits.
	let sum = candidates.iter().fold(0u128, |s, (_, w)| s.saturating_add((*w).max(1)));
	let shift = 128u32.saturating_sub(sum.leading_zeros()).saturating_sub(62);
	let mut left: Vec<(A, u64)> = candidates
		.iter()
		.map(|(a, w)| (a.clone(), u64::try_from(w >> shift).unwrap_or(u64::MAX >> 2).max(1)))
		.collect();
	let mut drawn = Vec::with_capacity(count.min(left.len()));
	while drawn.len() < count && !left.is_empty() {
		let total = left.iter().fold(0u64, |s, (_, w)| s.saturating_add(*w));
		let mut ticket = stream.below(total);
		let at = left
			.iter()
			.position(|(_, w)| match ticket.checked_sub(*w) {
				Some(rest) => {
					ticket = rest;
					false
				}
				None => true,
			})
			.unwrap_or(0);
		drawn.push(left.remove(at).0);
	}
	drawn
}

/// Draws `count` distinct numbers of `0..bound`, each set equally likely, in ascending order
/// (Floyd's algorithm). Where `count` is at or above `bound`, all are drawn.
pub fn distinct(domain: &[u8], seed: &H256, bound: u32, count: u32) -> Vec<u32> {
	let mut stream = Stream { domain, seed, next: 0 };
	let mut set = BTreeSet::new();
	for top in bound.saturating_sub(count)..bound {
		let pick = stream.below(u64::from(top).saturating_add(1)) as u32;
		if !set.insert(pick) {
			set.insert(top);
		}
	}
	set.into_iter().collect()
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	proptest! {
		#[test]
		fn distinct_is_a_set_in_range(seed in any::<[u8; 32]>(), bound in 0u32..200, count in 0u32..220) {
			let drawn = distinct(b"t", &H256(seed), bound, count);
			prop_assert_eq!(drawn.len() as u32, count.min(bound));
			prop_assert!(drawn.windows(2).all(|w| w[0] < w[1]));
			prop_assert!(drawn.iter().all(|d| *d < bound));
		}

		#[test]
		fn weighted_never_repeats(seed in any::<[u8; 32]>(), weights in proptest::collection::vec(any::<u128>(), 0..20), count in 0usize..25) {
			let all: Vec<(usize, u128)> = weights.iter().copied().enumerate().collect();
			let mut drawn = weighted(b"t", &H256(seed), &all, count);
			prop_assert_eq!(drawn.len(), count.min(all.len()));
			drawn.sort();
			drawn.dedup();
			prop_assert_eq!(drawn.len(), count.min(all.len()));
		}
	}

	#[test]
	fn draws_follow_weights() {
		let all = [("light", 1u128), ("heavy", 3u128)];
		let heavy = (0..4000u32)
			.filter(|i| {
				let seed = H256(blake2_256(&i.to_le_bytes()));
				weighted(b"t", &seed, &all, 1) == ["heavy"]
			})
			.count();
		// 3,000 expected, standard deviation 27.4: six of them.
		assert!((2836..=3164).contains(&heavy), "{heavy}");
	}

	#[test]
	fn each_number_is_drawn_equally_often() {
		let mut hits = [0u32; 10];
		for i in 0..4000u32 {
			for d in distinct(b"t", &H256(blake2_256(&i.to_le_bytes())), 10, 3) {
				hits[d as usize] += 1;
			}
		}
		// 1,200 expected, standard deviation 29: six of them.
		assert!(hits.iter().all(|h| (1026..=1374).contains(h)), "{hits:?}");
	}
}
