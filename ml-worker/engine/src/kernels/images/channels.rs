//! One number for each channel: added to its planes, or their sum.

use super::super::{
	reduce::{self, sum_block},
	Arithmetic, Isa, SimdTask, PARALLEL_FROM,
};
use super::spread;
use trainyard_strict::SUM_BLOCK;

/// Elements that one thread takes at a time.
const TASK: usize = PARALLEL_FROM / 8;

/// Returns how many threads are worth it for that many elements.
pub(super) fn threads_for(elements: usize) -> usize {
	match elements < PARALLEL_FROM {
		true => 1,
		false => rayon::current_num_threads(),
	}
}

/// Computes `OpKind::AddChannel`: `x[i, c, p] + channel[c]` for planes of `area` places.
///
/// # Panics
/// Panics if `x` is not a whole number of images.
pub fn add_channel(isa: Isa, x: &[f32], channel: &[f32], area: usize) -> Vec<f32> {
	add_channel_on(threads_for(x.len()), isa, x, channel, area)
}

pub(super) fn add_channel_on(
	threads: usize,
	isa: Isa,
	x: &[f32],
	channel: &[f32],
	area: usize,
) -> Vec<f32> {
	let mut out = vec![0.0; x.len()];
	if x.is_empty() {
		return out;
	}
	assert_eq!(x.len() % (channel.len() * area), 0, "elements of whole images");
	let planes = (TASK / area).max(1);
	let parts = out.chunks_mut(planes * area).zip(x.chunks(planes * area));
	let parts = parts.zip((0..).step_by(planes));
	spread(threads, parts, |((out, x), plane)| {
		isa.run(AddChannel { x, channel, first: plane % channel.len(), area, out })
	});
	out
}

struct AddChannel<'a> {
	x: &'a [f32],
	channel: &'a [f32],
	/// Channel of the first plane.
	first: usize,
	area: usize,
	out: &'a mut [f32],
}

impl SimdTask for AddChannel<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let channels = self.channel.iter().cycle().skip(self.first);
		let planes = self.out.chunks_exact_mut(self.area).zip(self.x.chunks_exact(self.area));
		for ((out, x), channel) in planes.zip(channels) {
			for (out, x) in out.iter_mut().zip(x) {
				*out = x + channel;
			}
		}
	}
}

/// Computes `OpKind::SumChannels`: for each of `channels`, the strict sum of its planes, of `area`
/// places, image after image.
///
/// # Panics
/// Panics if `x` is not a whole number of images.
pub fn sum_channels(isa: Isa, x: &[f32], channels: usize, area: usize) -> Vec<f32> {
	sum_channels_on(threads_for(x.len()), isa, x, channels, area)
}

pub(super) fn sum_channels_on(
	threads: usize,
	isa: Isa,
	x: &[f32],
	channels: usize,
	area: usize,
) -> Vec<f32> {
	let mut out = vec![0.0; channels];
	if x.is_empty() {
		return out;
	}
	assert_eq!(x.len() % (channels * area), 0, "elements of whole images");
	spread(threads, out.iter_mut().enumerate(), |(channel, out)| {
		let terms = x.len() / channels;
		let mut blocks = vec![0.0; terms.div_ceil(SUM_BLOCK)];
		let (x, image) = (&x[channel * area..], channels * area);
		isa.run(SumPlanes { x, image, area, terms, blocks: &mut blocks });
		*out = match blocks.as_slice() {
			[only] => *only,
			several => reduce::sum(isa, several),
		};
	});
	out
}

/// The sums of the blocks of one channel.
struct SumPlanes<'a> {
	/// From its first plane on.
	x: &'a [f32],
	/// Elements from one of its planes to the next.
	image: usize,
	area: usize,
	/// Elements of all its planes.
	terms: usize,
	blocks: &'a mut [f32],
}

impl SimdTask for SumPlanes<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let mut copy = [0.0f32; SUM_BLOCK];
		for (block, start) in self.blocks.iter_mut().zip((0..self.terms).step_by(SUM_BLOCK)) {
			let len = SUM_BLOCK.min(self.terms - start);
			let (mut image, mut at) = (start / self.area, start % self.area);
			if at + len <= self.area {
				*block = sum_block(&self.x[image * self.image + at..][..len]);
				continue;
			}
			let mut rest = &mut copy[..len];
			while !rest.is_empty() {
				let count = rest.len().min(self.area - at);
				let (to, after) = rest.split_at_mut(count);
				to.copy_from_slice(&self.x[image * self.image + at..][..count]);
				(rest, image, at) = (after, image + 1, 0);
			}
			*block = sum_block(&copy[..len]);
		}
	}
}
