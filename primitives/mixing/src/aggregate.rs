//! The aggregate of updates of several peers.

use crate::{block::Block, rule::RuleError, update::Update};
use alloc::vec::Vec;
use trainyard_strict::{Arithmetic, DotChain};

/// How updates are aggregated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregation {
	clip: Option<f32>,
	trim: u32,
}

/// What a peer brings to a round.
#[derive(Clone, Copy, Debug)]
pub struct Contribution<'a> {
	/// One block of its update.
	pub block: &'a Block,
	/// By what its values are multiplied: [`Aggregation::scales`].
	pub scale: f32,
	/// How much it counts: [`late_weight`]. One of weight 0 is as if it were not there.
	pub weight: f32,
}

/// Returns the length of an update: the square root of the strict dot product of its values with themselves, in
/// the order of their places, those alone that it has.
pub fn norm<A: Arithmetic>(update: &Update) -> f32 {
	let values = update
		.blocks
		.iter()
		.flat_map(|block| block.entries.iter().map(move |entry| block.value::<A>(entry)));
	let (mut chain, mut taken) = (DotChain::default(), 0u64);
	for value in values {
		chain.add(taken, value, value);
		taken = taken.saturating_add(1);
	}
	A::sqrt(chain.finish(taken))
}

/// Returns the weight of an update that begins with the model of `late` rounds ago: one half to the power of
/// `late`, and 0 from 24 rounds on.
pub fn late_weight(late: u32) -> f32 {
	if late < 24 {
		1.0 / (1u32 << late) as f32
	} else {
		0.0
	}
}

/// Returns the sum of numbers, added in their order to +0.
fn in_order(numbers: impl Iterator<Item = f32>) -> f32 {
	numbers.fold(0.0, |sum, number| sum + number)
}

impl Aggregation {
	/// Clips updates at `clip` times the median of their lengths where that is named, and of the values that
	/// peers have at a place leaves the `trim` smallest and the `trim` largest out. Fails where `clip` is not positive
	/// and finite.
	pub fn new(clip: Option<f32>, trim: u32) -> Result<Self, RuleError> {
		if clip.is_some_and(|clip| !clip.is_finite() || clip <= 0.0) {
			return Err(RuleError::Clip);
		}
		Ok(Self { clip, trim })
	}

	/// Returns by what the values of each update are multiplied, of updates that have these norms and weights: 1
	/// without clipping. With it no update is longer than `clip` times the lower median of those of a weight
	/// above 0: the factor is the quotient of that bound and the norm where the norm is larger, 0 of an infinite
	/// norm, and 1 elsewhere.
	pub fn scales(self, norms: &[f32], weights: &[f32]) -> Vec<f32> {
		let Some(clip) = self.clip else { return norms.iter().map(|_| 1.0).collect() };
		let counts = norms.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
		let mut sorted: Vec<f32> = counts.map(|(norm, _)| *norm).collect();
		sorted.sort_unstable_by(f32::total_cmp);
		let middle = sorted.len().saturating_sub(1) / 2;
		let bound = clip * sorted.get(middle).copied().unwrap_or(0.0);
		let scale = |norm: &f32| {
			if norm.is_infinite() {
				0.0
			} else if *norm > bound {
				bound / norm
			} else {
				1.0
			}
		};
		norms.iter().map(scale).collect()
	}

	/// Returns the aggregate of one block of `length` values: at each place the sum of what peers have there, in their
	/// order, each times its weight, divided by the sum of all weights. A place where a peer has nothing counts as 0
	/// of it. Where no peer has a weight above 0 there is no aggregate, and no step.
	///
	/// With trimming, those values at a place are left out that are the smallest and the largest before they are
	/// multiplied by weights. The sum of the others is multiplied by the quotient of the weights of all at that place
	/// and of theirs; and where no others are, the place is 0. Of equal values that of the peer before is the
	/// smaller one.
	pub fn block<A: Arithmetic>(self, length: u32, peers: &[Contribution<'_>]) -> Option<Vec<f32>> {
		let counts = || peers.iter().filter(|peer| peer.weight > 0.0);
		let weight = in_order(counts().map(|peer| peer.weight));
		if weight <= 0.0 {
			return None;
		}
		let mut aggregate = alloc::vec![0.0f32; length as usize];
		let named = counts().flat_map(|peer| {
			let value = |entry| peer.block.value::<A>(entry) * peer.scale;
			peer.block.entries.iter().map(move |entry| (entry.place, value(entry), peer.weight))
		});
		if self.trim == 0 {
			for (place, value, weight) in named {
				if let Some(sum) = aggregate.get_mut(place as usize) {
					*sum += value * weight;
				}
			}
		} else {
			let mut all: Vec<(u32, f32, f32)> = named.collect();
			// Stable: of one place, in the order of the peers.
			all.sort_by_key(|(place, ..)| *place);
			for here in all.chunk_by(|(a, ..), (b, ..)| a == b) {
				let place = here.first().map_or(0, |(place, ..)| *place);
				if let Some(sum) = aggregate.get_mut(place as usize) {
					*sum = self.trimmed(here);
				}
			}
		}
		for sum in &mut aggregate {
			*sum /= weight;
		}
		Some(aggregate)
	}

	/// Returns the weighted sum of the values of one place without the smallest and the largest, made up for those.
	fn trimmed(self, here: &[(u32, f32, f32)]) -> f32 {
		let trim = self.trim as usize;
		let kept = here.len().saturating_sub(trim.saturating_mul(2));
		if kept == 0 {
			return 0.0;
		}
		let mut order: Vec<(usize, f32, f32)> = here
			.iter()
			.enumerate()
			.map(|(peer, (_, value, weight))| (peer, *value, *weight))
			.collect();
		order.sort_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
		let mut middle: Vec<_> = order.into_iter().skip(trim).take(kept).collect();
		middle.sort_unstable_by_key(|(peer, ..)| *peer);
		let sum = in_order(middle.iter().map(|(_, value, weight)| value * weight));
		let all = in_order(here.iter().map(|(.., weight)| *weight));
		let theirs = in_order(middle.iter().map(|(.., weight)| *weight));
		sum * (all / theirs)
	}
}
