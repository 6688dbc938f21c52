//! Images in the order in which the taps of windows read them, and copies from and to it.
//!
//! With the padding written out, and with rows and columns that are a multiple of the stride
//! apart lying together, what one tap reads for windows beside each other is contiguous, and
//! so is what it adds to. [`Planes`] says where.

use super::super::{Arithmetic, SimdTask};
use std::ops::Range;
use trainyard_program::ops::Window;

/// Elements that are copied or added together.
pub(super) const CHUNK: usize = 16;

/// Where the taps of windows find a band of an image: the windows of some rows.
///
/// A plane is laid out as `phases^2` planes, one for each pair of remainders that row and
/// column leave when they are divided by the stride: element `(h, w)` of the padded plane is
/// in row `h / stride` and column `w / stride` of phase `(h mod stride, w mod stride)`. Phases
/// that no tap reads are left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planes {
	/// Planes of an image.
	pub channels: usize,
	/// Windows beside each other.
	pub out_width: usize,
	/// Windows above each other.
	pub out_height: usize,
	height: usize,
	width: usize,
	kernel: usize,
	stride: usize,
	padding: usize,
	phases: usize,
	/// Rows that the windows of a row read of a phase, less one.
	more: usize,
	/// Elements from a row to the next.
	pitch: usize,
	/// Elements of a phase.
	phase: usize,
}

impl Planes {
	/// For bands of at most `band` rows of windows.
	pub fn new(w: &Window, band: usize) -> Self {
		let (kernel, stride) = (w.kernel as usize, w.stride as usize);
		let more = kernel.saturating_sub(1) / stride.max(1);
		let pitch = w.out_width() as usize + more;
		Self {
			channels: w.channels as usize,
			out_width: w.out_width() as usize,
			out_height: w.out_height() as usize,
			height: w.height as usize,
			width: w.width as usize,
			kernel,
			stride,
			padding: w.padding as usize,
			phases: stride.min(kernel),
			more,
			pitch,
			phase: (band + more) * pitch,
		}
	}

	/// Windows of a plane.
	pub fn windows(&self) -> usize {
		self.out_height * self.out_width
	}

	/// Elements of a plane of an image.
	pub fn area(&self) -> usize {
		self.height * self.width
	}

	/// Taps of a window on one plane.
	pub fn taps(&self) -> usize {
		self.kernel * self.kernel
	}

	/// Elements of the layout of that many planes, including those after it that copies of whole
	/// chunks touch.
	pub fn len(&self, channels: usize) -> usize {
		channels * self.phases * self.phases * self.phase + CHUNK
	}

	/// Returns where each tap finds what the first window of a band reads, in the order (channel,
	/// row, column).
	pub fn offsets(&self, channels: usize) -> Vec<usize> {
		let Self { kernel, stride, phases, pitch, phase, .. } = *self;
		let tap = |c: usize, r: usize, s: usize| {
			let of_phase = (c * phases + r % stride) * phases + s % stride;
			of_phase * phase + r / stride * pitch + s / stride
		};
		let of_channel = |c| (0..kernel).flat_map(move |r| (0..kernel).map(move |s| tap(c, r, s)));
		(0..channels).flat_map(of_channel).collect()
	}

	/// Calls `f` for every row of a phase (or several at once) that a band of windows reads and
	/// that holds elements of the image, with their places in the layout and the index of the
	/// first in the image. In the image they are `stride` apart.
	fn each_row(
		&self,
		channels: usize,
		band: &Range<usize>,
		mut f: impl FnMut(Range<usize>, usize),
	) {
		let Self { height, width, stride, padding, phases, pitch, .. } = *self;
		let rows = band.len() + self.more;
		if stride == 1 && padding == 0 {
			// Rows follow each other without gaps on both sides.
			for channel in 0..channels {
				let start = channel * self.phase;
				f(start..start + rows * pitch, (channel * height + band.start) * width);
			}
			return;
		}
		let mut start = 0;
		for channel in 0..channels {
			for (r, s) in (0..phases).flat_map(|r| (0..phases).map(move |s| (r, s))) {
				// Columns with `padding <= column stride + s < padding + width`.
				let first = padding.saturating_sub(s).div_ceil(stride);
				let end = (padding + width).saturating_sub(s).div_ceil(stride).min(pitch);
				for row in 0..rows {
					let padded = (band.start + row) * stride + r;
					if first >= end || padded < padding || padded >= padding + height {
						continue;
					}
					let begin = (channel * height + padded - padding) * width;
					let places = start + row * pitch;
					f(places + first..places + end, begin + first * stride + s - padding);
				}
				start += self.phase;
			}
		}
	}

	/// Lays out what the windows of the rows `band` read of the first `channels` planes of
	/// `image`.
	pub fn fill(&self, image: &[f32], channels: usize, band: Range<usize>, to: &mut [f32]) {
		if self.padding > 0 || self.stride > 1 {
			to.fill(0.0);
		}
		self.each_row(channels, &band, |places, from| {
			let to = &mut to[places];
			match self.stride {
				1 => to.copy_from_slice(&image[from..from + to.len()]),
				2 => {
					// Pairs, which the compiler takes apart in vectors.
					let from = &image[from..image.len().min(from + 2 * to.len())];
					let (pairs, single) = from.as_chunks::<2>();
					let (paired, last) = to.split_at_mut(pairs.len());
					paired.iter_mut().zip(pairs).for_each(|(to, pair)| *to = pair[0]);
					last.iter_mut().zip(single).for_each(|(to, from)| *to = *from);
				}
				stride => {
					let from = image[from..].iter().step_by(stride);
					to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
				}
			}
		});
	}

	/// The inverse of [`Self::fill`], of all rows of windows: the elements of `image` that any
	/// window reads, from their places in the layout.
	pub fn take(&self, from: &[f32], channels: usize, image: &mut [f32]) {
		self.each_row(channels, &(0..self.out_height), |places, to| {
			let from = &from[places];
			if self.stride == 1 {
				image[to..to + from.len()].copy_from_slice(from);
			} else {
				for (to, from) in image[to..].iter_mut().step_by(self.stride).zip(from) {
					*to = *from;
				}
			}
		});
	}

	/// Windows `windows` as runs that are contiguous in the layout of a band that begins with
	/// row `first`: the place of each run's first window, its first window and their number.
	fn runs(
		self,
		windows: Range<usize>,
		first: usize,
	) -> impl Iterator<Item = (usize, usize, usize)> {
		let mut at = windows.start;
		std::iter::from_fn(move || {
			if at >= windows.end {
				return None;
			}
			let (y, x) = (at / self.out_width, at % self.out_width);
			let rest = windows.end - at;
			let len = if self.more == 0 { rest } else { rest.min(self.out_width - x) };
			let run = ((y - first) * self.pitch + x, at, len);
			at += len;
			Some(run)
		})
	}
}

/// What is copied for each row by [`Gather`]: windows, as chunks in ascending order of where they
/// go. A chunk may bring too many elements; the ones that follow are written over them later.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaneLayout {
	chunks: Vec<(usize, usize)>,
	/// Elements that are reached of what is read, and of what is written.
	reach: (usize, usize),
}

impl PlaneLayout {
	/// Also brings `windows` of the layout that begins at `base` and holds the band from row
	/// `first` on, to the places from `to` on.
	pub fn add(
		&mut self,
		planes: &Planes,
		windows: Range<usize>,
		first: usize,
		base: usize,
		to: usize,
	) {
		let start = windows.start;
		for (place, window, len) in planes.runs(windows, first) {
			for i in (0..len).step_by(CHUNK) {
				let (from, to) = (base + place + i, to + window - start + i);
				debug_assert!(self.chunks.last().is_none_or(|last| last.1 < to));
				self.chunks.push((from, to));
				self.reach = (self.reach.0.max(from + CHUNK), self.reach.1.max(to + CHUNK));
			}
		}
	}
}

/// Rows of windows: row `i` of plan `p` begins at `p each + i row` of `to` and has what the
/// plan brings from `offsets[i]` on.
pub(super) struct Gather<'a> {
	/// A layout, or several.
	pub from: &'a [f32],
	/// Where each row's tap reads, see [`Planes::offsets`].
	pub offsets: &'a [usize],
	/// What is copied.
	pub plans: &'a [PlaneLayout],
	/// Where to; up to a chunk after the rows may be overwritten.
	pub to: &'a mut [f32],
	/// Elements from a row to the next.
	pub row: usize,
	/// Elements from a plan's rows to the next plan's.
	pub each: usize,
}

impl SimdTask for Gather<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for (p, plan) in self.plans.iter().enumerate() {
			for (i, offset) in self.offsets.iter().enumerate() {
				let start = p * self.each + i * self.row;
				assert!(offset + plan.reach.0 <= self.from.len());
				assert!(start + plan.reach.1 <= self.to.len());
				for (from, to) in &plan.chunks {
					// SAFETY: no chunk reaches further than its plan's `reach`, which is
					// private to `PlaneLayout::add`; the assertions keep that in the slices.
					unsafe {
						let chunk = self.from.as_ptr().add(offset + from).cast::<[f32; CHUNK]>();
						let place = self.to.as_mut_ptr().add(start + to).cast::<[f32; CHUNK]>();
						place.write_unaligned(chunk.read_unaligned());
					}
				}
			}
		}
	}
}

/// Adds, in ascending order of the taps, `products[c, t, y, x]` to what tap `t` of window `(y, x)`
/// reads of plane `c`, in a layout of all rows of windows none of whose elements is -0.
pub(super) struct Scatter<'a> {
	/// The layout.
	pub planes: Planes,
	/// Planes.
	pub channels: usize,
	/// `[channels, taps, windows]`, with a chunk after it.
	pub products: &'a [f32],
	/// Where each tap of each plane adds, see [`Planes::offsets`].
	pub offsets: &'a [usize],
	/// The layout's elements.
	pub sums: &'a mut [f32],
}

impl SimdTask for Scatter<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		// Chunks of neighbouring rows do not overlap; otherwise one would wait for what the other
		// writes.
		match self.planes.pitch {
			16.. => self.in_chunks::<16>(),
			8.. => self.in_chunks::<8>(),
			_ => self.in_chunks::<4>(),
		}
	}
}

impl Scatter<'_> {
	#[inline(always)]
	fn in_chunks<const N: usize>(self) {
		let (windows, pitch, taps) = (self.planes.windows(), self.planes.pitch, self.planes.taps());
		let (rows, width) = match self.planes.more {
			0 => (1, windows),
			_ => (self.planes.out_height, self.planes.out_width),
		};
		// What comes after a row becomes +0: adding that changes nothing except -0.
		let last = (width - 1) / N * N;
		let mask: [u32; N] = std::array::from_fn(|i| if last + i < width { u32::MAX } else { 0 });
		for tap in 0..taps {
			for channel in 0..self.channels {
				let from = &self.products[(channel * taps + tap) * windows..];
				let to = &mut self.sums[self.offsets[channel * taps + tap]..];
				assert!((rows - 1) * width + last + N <= from.len());
				assert!((rows - 1) * pitch + last + N <= to.len());
				// Down the rows, chunk beside chunk.
				for i in (0..=last).step_by(N) {
					let mask = if i == last { mask } else { [u32::MAX; N] };
					for y in 0..rows {
						// SAFETY: with `i <= last` and `y < rows`, the chunks are in the slices
						// by the assertions.
						unsafe {
							let from = from.as_ptr().add(y * width + i).cast::<[f32; N]>();
							let to = to.as_mut_ptr().add(y * pitch + i).cast::<[f32; N]>();
							let (terms, mut sums) = (from.read_unaligned(), to.read_unaligned());
							for ((sum, term), mask) in sums.iter_mut().zip(terms).zip(mask) {
								*sum += f32::from_bits(term.to_bits() & mask);
							}
							to.write_unaligned(sums);
						}
					}
				}
			}
		}
	}
}
