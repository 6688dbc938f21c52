//! Dot products, sums and maxima in their defined order.

use super::chain::{DotChain, SumChain};

/// Terms of a dot product that form one chain of fused multiply-adds.
pub const DOT_BLOCK: usize = 512;
/// Terms of a sum that form one block.
pub const SUM_BLOCK: usize = 1024;
/// Partial sums of a block.
pub const LANES: usize = 16;

/// Returns the sum of the products of two sequences of equal length (the shorter counts).
///
/// In blocks of [`DOT_BLOCK`] terms: `acc = +0`, then for ascending `k`
/// `acc = fma(a[k], b[k], acc)`. The first block's result starts the total; those of later blocks
/// are added to it in ascending order. The sum of no terms is +0.
pub fn dot(a: impl Iterator<Item = f32>, b: impl Iterator<Item = f32>) -> f32 {
	let (mut chain, mut taken) = (DotChain::default(), 0u64);
	for (x, y) in a.zip(b) {
		chain.add(taken, x, y);
		taken = taken.saturating_add(1);
	}
	chain.finish(taken)
}

/// Returns the sum of a sequence: the sums of its blocks of [`SUM_BLOCK`] terms, summed the same
/// way until one is left. The sum of no terms is +0.
///
/// In a block lane `j` of [`LANES`] starts at +0 and adds the terms whose index is `j` modulo 16,
/// ascending; then lane `j` adds lane `j + 8` for `j < 8`, lane `j + 4` for `j < 4`, `j + 2` for
/// `j < 2`, and lane 0 adds lane 1. There are at most [`MAX_SUM_TERMS`](crate::MAX_SUM_TERMS) terms.
pub fn sum(terms: impl Iterator<Item = f32>) -> f32 {
	let (mut chain, mut taken) = (SumChain::default(), 0u64);
	for x in terms {
		chain.add(taken, x);
		taken = taken.saturating_add(1);
	}
	chain.finish(taken)
}

/// Returns the largest of a sequence, a zero always +0; of none, minus infinity.
///
/// From minus infinity, each `x` for which `x > m` replaces `m`; at the end +0 is added, which
/// turns -0 into +0 and changes nothing else. So the result is the same in any order. A NaN is
/// never larger.
pub fn max(terms: impl Iterator<Item = f32>) -> f32 {
	terms.fold(f32::NEG_INFINITY, |m, x| if x > m { x } else { m }) + 0.0
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	#[test]
	fn small_cases() {
		assert_eq!(dot([].into_iter(), [].into_iter()).to_bits(), 0);
		assert_eq!(sum([].into_iter()).to_bits(), 0);
		assert_eq!(sum([-0.0].into_iter()).to_bits(), 0, "+0 + -0 is +0");
		assert_eq!(max([].into_iter()), f32::NEG_INFINITY);
		assert_eq!(max([-0.0, -1.0].into_iter()).to_bits(), 0);
		assert_eq!(max([-3.0, -2.0, -2.5].into_iter()), -2.0);
	}

	/// The definition once more, written with indices.
	fn sum_by_index(x: &[f32]) -> f32 {
		if x.is_empty() {
			return 0.0;
		}
		let blocks: Vec<f32> = x
			.chunks(1024)
			.map(|b| {
				let mut lane = [0f32; 16];
				for i in 0..b.len() {
					lane[i % 16] += b[i];
				}
				for w in [8, 4, 2, 1] {
					for j in 0..w {
						lane[j] += lane[j + w];
					}
				}
				lane[0]
			})
			.collect();
		if blocks.len() == 1 {
			blocks[0]
		} else {
			sum_by_index(&blocks)
		}
	}

	fn dot_by_index(a: &[f32], b: &[f32]) -> f32 {
		let mut total = None;
		for block in 0..a.len().div_ceil(512) {
			let mut acc = 0f32;
			for k in block * 512..a.len().min((block + 1) * 512) {
				acc = libm::fmaf(a[k], b[k], acc);
			}
			total = Some(match total {
				None => acc,
				Some(t) => t + acc,
			});
		}
		total.unwrap_or(0.0)
	}

	fn values(len: usize, seed: u32) -> Vec<f32> {
		let mut x = seed | 1;
		(0..len)
			.map(|_| {
				x ^= x << 13;
				x ^= x >> 17;
				x ^= x << 5;
				(x >> 8) as f32 / 16_777_216.0 - 0.5
			})
			.collect()
	}

	proptest! {
		#![proptest_config(ProptestConfig::with_cases(64))]
		#[test]
		fn equal_their_second_definition(len in 0usize..5_000, seed in any::<u32>()) {
			let (a, b) = (values(len, seed), values(len, seed ^ 0x5555));
			prop_assert_eq!(sum(a.iter().copied()).to_bits(), sum_by_index(&a).to_bits());
			prop_assert_eq!(
				dot(a.iter().copied(), b.iter().copied()).to_bits(),
				dot_by_index(&a, &b).to_bits()
			);
		}
	}

	#[test]
	fn sums_of_over_a_million_recurse() {
		let a = values((1 << 20) + 17, 3);
		assert_eq!(sum(a.iter().copied()).to_bits(), sum_by_index(&a).to_bits());
		let exact: f64 = a.iter().map(|x| f64::from(*x)).sum();
		assert!((f64::from(sum(a.iter().copied())) - exact).abs() < 1e-2);
	}
}
