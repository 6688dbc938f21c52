//! Dot products and sums under way.
//!
//! A chain takes its terms one by one, and can stop and go on after any of them: what it holds and
//! the number of terms that it has taken are all there is. So a stretch of a long chain can be
//! computed again without the terms before it.

use super::fma;
use super::reduce::{DOT_BLOCK, LANES, SUM_BLOCK};

/// Levels of a [`SumChain`].
pub const SUM_LEVELS: usize = 4;

/// Most terms of a [`SumChain`]: one fewer than [`SUM_BLOCK`] to the number of its levels. With one
/// more the block of the last level would be full, and there is no level for its sum.
pub const MAX_SUM_TERMS: u64 = (SUM_BLOCK as u64).pow(SUM_LEVELS as u32) - 1;

/// A dot product under way, as [`super::dot`] defines it.
///
/// A block joins the total when the first term after it is taken, so that the last block of a product
/// never does. Until then the total is +0, or that of the blocks before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DotChain {
	/// The sum of the blocks before the present one; +0 in the first.
	pub total: f32,
	/// The chain of the present block.
	pub block: f32,
}

impl DotChain {
	/// Takes the product of `x` and `y`, after `taken` others.
	#[inline]
	pub fn add(&mut self, taken: u64, x: f32, y: f32) {
		const BLOCK: u64 = DOT_BLOCK as u64;
		if taken > 0 && taken.is_multiple_of(BLOCK) {
			// The first block's result is the total; a sum with +0 would lose a -0.
			self.total = if taken == BLOCK { self.block } else { self.total + self.block };
			self.block = 0.0;
		}
		self.block = fma(x, y, self.block);
	}

	/// Returns the dot product of the `taken` terms that it has taken.
	pub fn finish(&self, taken: u64) -> f32 {
		if taken <= DOT_BLOCK as u64 {
			self.block
		} else {
			self.total + self.block
		}
	}
}

/// A sum under way, as [`super::sum`] defines it, of at most [`MAX_SUM_TERMS`] terms.
///
/// Level 0 has the lanes of the present block of terms, level 1 those of the present block of
/// blocks, and so on. A block joins the level above as soon as it is full, and its lanes are +0 again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SumChain {
	/// The lanes of each level.
	pub lanes: [[f32; LANES]; SUM_LEVELS],
}

impl SumChain {
	/// Takes `x`, after `taken` other terms.
	#[inline]
	pub fn add(&mut self, taken: u64, x: f32) {
		let (mut x, mut index) = (x, taken);
		for lanes in &mut self.lanes {
			add_to(lanes, index, x);
			let number = index.saturating_add(1);
			if !number.is_multiple_of(SUM_BLOCK as u64) {
				return;
			}
			// The block is full: its sum is a term of the next level.
			x = fold(core::mem::take(lanes));
			index = (number / SUM_BLOCK as u64).saturating_sub(1);
		}
	}

	/// Returns the sum of the `taken` terms that it has taken.
	pub fn finish(&self, taken: u64) -> f32 {
		// Terms of the level: those of full blocks below, and the sum of a block that is not full.
		let (mut full, mut rest) = (taken, None::<f32>);
		for (level, lanes) in self.lanes.iter().enumerate() {
			let terms = full.saturating_add(u64::from(rest.is_some()));
			if terms <= 1 && level > 0 {
				let [first, ..] = *lanes;
				return rest.unwrap_or(first);
			}
			let mut lanes = *lanes;
			if let Some(x) = rest {
				add_to(&mut lanes, full, x);
			}
			// Full blocks have left their lanes already, unless the rest has filled this one.
			let filled = rest.is_some() || !full.is_multiple_of(SUM_BLOCK as u64);
			rest = filled.then(|| fold(lanes));
			full /= SUM_BLOCK as u64;
		}
		rest.unwrap_or_default()
	}
}

/// Adds term `index` of a level to its lane.
#[inline]
fn add_to(lanes: &mut [f32; LANES], index: u64, x: f32) {
	if let Some(lane) = lanes.get_mut((index % LANES as u64) as usize) {
		*lane += x;
	}
}

/// Returns the sum of the lanes of a block: lane `j` adds lane `j + 8` for `j < 8`, lane `j + 4` for
/// `j < 4`, `j + 2` for `j < 2`, and lane 0 adds lane 1.
fn fold(mut lanes: [f32; LANES]) -> f32 {
	let mut width = LANES / 2;
	while width > 0 {
		let (low, high) = lanes.split_at_mut(width);
		for (l, h) in low.iter_mut().zip(high.iter()) {
			*l += *h;
		}
		width /= 2;
	}
	let [first, ..] = lanes;
	first
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{dot, sum};
	use proptest::prelude::*;

	fn value(i: u64) -> f32 {
		((i * 37 + 11) % 101) as f32 / 64.0 - 0.75
	}

	proptest! {
		#![proptest_config(ProptestConfig::with_cases(64))]
		/// What a chain holds is all that it needs: it may be stopped after any term.
		#[test]
		fn chains_stop_and_go_on(len in 0u64..5_000, stops in prop::collection::vec(0u64..5_000, 0..4)) {
			let (mut products, mut terms) = (DotChain::default(), SumChain::default());
			for at in 0..len {
				if stops.contains(&at) {
					let DotChain { total, block } = products;
					products = DotChain { total, block };
					let SumChain { lanes } = terms;
					terms = SumChain { lanes };
				}
				products.add(at, value(at), value(at + 7));
				terms.add(at, value(at));
			}
			let of = |from: u64| (from..from + len).map(value).collect::<Vec<_>>();
			let expected = dot(of(0).into_iter(), of(7).into_iter());
			prop_assert_eq!(products.finish(len).to_bits(), expected.to_bits());
			prop_assert_eq!(terms.finish(len).to_bits(), sum(of(0).into_iter()).to_bits());
		}
	}

	#[test]
	fn a_negative_zero_survives_a_first_block() {
		// fma(-0, 0, +0) is +0: a chain never is -0, and its total is that of its definition.
		let mut chain = DotChain::default();
		for at in 0..DOT_BLOCK as u64 {
			chain.add(at, -0.0, 1.0);
		}
		assert_eq!(chain.finish(DOT_BLOCK as u64).to_bits(), 0);
		assert_eq!(SumChain::default().finish(0).to_bits(), 0);
	}

	/// A block of blocks that just fills, and the terms around it.
	#[test]
	fn levels_fill_and_empty() {
		let edge = (SUM_BLOCK * SUM_BLOCK) as u64;
		let mut chain = SumChain::default();
		for at in 0..edge + 3 {
			if [edge - 1, edge, edge + 1, edge + 2].contains(&at) {
				let x: Vec<f32> = (0..at).map(value).collect();
				// The definition, level by level.
				let mut level = x;
				while level.len() > 1 {
					level = level.chunks(SUM_BLOCK).map(by_definition).collect();
				}
				assert_eq!(chain.finish(at).to_bits(), level[0].to_bits(), "{at}");
			}
			chain.add(at, value(at));
		}
	}

	fn by_definition(terms: &[f32]) -> f32 {
		let mut lanes = [0.0f32; LANES];
		for (at, x) in terms.iter().enumerate() {
			lanes[at % LANES] += x;
		}
		for width in [8, 4, 2, 1] {
			for lane in 0..width {
				lanes[lane] += lanes[lane + width];
			}
		}
		lanes[0]
	}
}
