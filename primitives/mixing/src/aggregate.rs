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
	/// By what its values are multiplied: [`contribution_scale`].
	pub scale: f32,
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

/// Returns by what updates of these lengths are multiplied so that none is longer than `clip` times the lower
/// median of all: the quotient of that bound and the length where the length is larger, and 1 elsewhere.
pub fn clip_scales(clip: f32, norms: &[f32]) -> Vec<f32> {
	let mut sorted = norms.to_vec();
	sorted.sort_unstable_by(f32::total_cmp);
	let middle = sorted.len().saturating_sub(1) / 2;
	let bound = clip * sorted.get(middle).copied().unwrap_or(0.0);
	norms.iter().map(|norm| if *norm > bound { bound / norm } else { 1.0 }).collect()
}

/// Returns the weight of an update that begins with the model of `late` rounds ago: one half to the power of
/// `late`, and 0 from 24 rounds on.
fn late_weight(late: u32) -> f32 {
	if late < 24 {
		1.0 / (1u32 << late) as f32
	} else {
		0.0
	}
}

/// Returns by what the values of an update are multiplied: what clipping says, times one half for each round that
/// it is late.
pub fn contribution_scale(clipped: f32, late: u32) -> f32 {
	clipped * late_weight(late)
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

	/// Returns by what the values of each update are multiplied, of updates that have these lengths and are late by
	/// so many rounds.
	pub fn scales(self, norms: &[f32], late: &[u32]) -> Vec<f32> {
		let clipped = match self.clip {
			Some(clip) => clip_scales(clip, norms),
			None => norms.iter().map(|_| 1.0).collect(),
		};
		clipped
			.into_iter()
			.zip(late)
			.map(|(clipped, late)| contribution_scale(clipped, *late))
			.collect()
	}

	/// Returns the sum of the weights of updates that are late by so many rounds, in their order: by it an
	/// aggregate is divided.
	pub fn weight(late: &[u32]) -> f32 {
		late.iter().map(|late| late_weight(*late)).fold(0.0, |sum, weight| sum + weight)
	}

	/// Returns the aggregate of one block of `length` values: at each place the sum of what peers have there, in their
	/// order, divided by `weight`. A place where a peer has nothing counts as 0 of it. Where the weight is 0, the
	/// aggregate is.
	///
	/// With trimming, those values at a place are left out that are the smallest and the largest; the sum of
	/// the others is multiplied by the quotient of the number of all and of theirs; and where no others are, the
	/// place is 0. Of equal values that of the peer before is the smaller one.
	pub fn block<A: Arithmetic>(
		self,
		length: u32,
		peers: &[Contribution<'_>],
		weight: f32,
	) -> Vec<f32> {
		let mut aggregate = alloc::vec![0.0f32; length as usize];
		// Nobody came, or all far too late.
		if weight <= 0.0 {
			return aggregate;
		}
		let named = peers.iter().flat_map(|peer| {
			let value = |entry| peer.block.value::<A>(entry) * peer.scale;
			peer.block.entries.iter().map(move |entry| (entry.place, value(entry)))
		});
		if self.trim == 0 {
			for (place, value) in named {
				if let Some(sum) = aggregate.get_mut(place as usize) {
					*sum += value;
				}
			}
		} else {
			let mut all: Vec<(u32, f32)> = named.collect();
			// Stable: of one place, in the order of the peers.
			all.sort_by_key(|(place, _)| *place);
			for here in all.chunk_by(|(a, _), (b, _)| a == b) {
				let place = here.first().map_or(0, |(place, _)| *place);
				if let Some(sum) = aggregate.get_mut(place as usize) {
					*sum = self.trimmed(here);
				}
			}
		}
		for sum in &mut aggregate {
			*sum /= weight;
		}
		aggregate
	}

	/// Returns the sum of the values of one place without the smallest and the largest, made up for those.
	fn trimmed(self, here: &[(u32, f32)]) -> f32 {
		let trim = self.trim as usize;
		let kept = here.len().saturating_sub(trim.saturating_mul(2));
		if kept == 0 {
			return 0.0;
		}
		let mut order: Vec<(usize, f32)> =
			here.iter().map(|(_, value)| *value).enumerate().collect();
		order.sort_by(|(_, a), (_, b)| a.total_cmp(b));
		let mut middle: Vec<_> = order.into_iter().skip(trim).take(kept).collect();
		middle.sort_unstable_by_key(|(peer, _)| *peer);
		let sum = middle.iter().fold(0.0f32, |sum, (_, value)| sum + value);
		sum * (here.len() as f32 / kept as f32)
	}
}
