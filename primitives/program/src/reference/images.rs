//! Convolutions and pooling over `[images, channels, height, width]`.

use super::compute::strided;
use crate::ops::Window;
use alloc::vec::Vec;
use trainyard_strict::{dot, max, sum};

/// Returns the element at `index`, +0 where there is none.
fn at(data: &[f32], index: usize) -> f32 {
	data.get(index).copied().unwrap_or_default()
}

/// Sizes of a window as indices.
#[derive(Clone, Copy)]
struct Sizes {
	area: usize,
	out_area: usize,
	patch: usize,
}

fn sizes(w: &Window) -> Sizes {
	Sizes { area: w.area() as usize, out_area: w.out_area() as usize, patch: w.patch() as usize }
}

/// Returns the windows of a plane, row by row.
fn windows(w: &Window) -> impl Iterator<Item = (u32, u32)> {
	let (height, width) = (w.out_height(), w.out_width());
	(0..height).flat_map(move |y| (0..width).map(move |x| (y, x)))
}

/// Returns the taps of a window on one plane, row by row.
fn taps(w: &Window) -> impl Iterator<Item = (u32, u32)> {
	let kernel = w.kernel;
	(0..kernel).flat_map(move |r| (0..kernel).map(move |s| (r, s)))
}

/// Returns the index in its plane of the element that a tap of window `(y, x)` reads; none in the
/// padding.
fn place(w: &Window, (y, x): (u32, u32), (r, s): (u32, u32)) -> Option<usize> {
	let (row, column) = (w.reads(y, r, w.height)?, w.reads(x, s, w.width)?);
	(row as usize).checked_mul(w.width as usize)?.checked_add(column as usize)
}

/// Returns what window `(y, x)` reads of an image, in the order (channel, row, column).
fn patch<'a>(
	w: &'a Window,
	image: &'a [f32],
	window: (u32, u32),
) -> impl Iterator<Item = f32> + 'a {
	image
		.chunks(sizes(w).area.max(1))
		.flat_map(move |plane| taps(w).map(move |tap| (plane, tap)))
		.map(move |(plane, tap)| place(w, window, tap).map_or(0.0, |i| at(plane, i)))
}

/// Returns the images.
fn images<'a>(w: &Window, x: &'a [f32]) -> impl Iterator<Item = &'a [f32]> {
	x.chunks(sizes(w).area.saturating_mul(w.channels as usize).max(1))
}

/// See `OpKind::Conv2d`.
pub fn conv(w: &Window, filters: u32, x: &[f32], weight: &[f32]) -> Vec<f32> {
	let size = sizes(w);
	let mut out = Vec::new();
	for image in images(w, x) {
		let patches: Vec<Vec<f32>> =
			windows(w).map(|window| patch(w, image, window).collect()).collect();
		for filter in weight.chunks(size.patch.max(1)).take(filters as usize) {
			out.extend(
				patches.iter().map(|patch| dot(patch.iter().copied(), filter.iter().copied())),
			);
		}
	}
	out
}

/// See `OpKind::Conv2dWeightGrad`.
pub fn conv_weight_grad(w: &Window, filters: u32, gradient: &[f32], x: &[f32]) -> Vec<f32> {
	let size = sizes(w);
	let mut out = Vec::new();
	for filter in 0..filters as usize {
		// The gradients of this filter, image by image.
		let of_filter = || {
			gradient
				.chunks(size.out_area.max(1))
				.skip(filter)
				.step_by(filters as usize)
				.flat_map(|plane| plane.iter().copied())
		};
		for channel in 0..w.channels as usize {
			for tap in taps(w) {
				let read = images(w, x).flat_map(|image| {
					let plane = image.chunks(size.area.max(1)).nth(channel).unwrap_or_default();
					windows(w)
						.map(move |window| place(w, window, tap).map_or(0.0, |i| at(plane, i)))
				});
				out.push(dot(of_filter(), read));
			}
		}
	}
	out
}

/// See `OpKind::Conv2dInputGrad`.
pub fn conv_input_grad(w: &Window, filters: u32, gradient: &[f32], weight: &[f32]) -> Vec<f32> {
	let size = sizes(w);
	let image_area = size.area.saturating_mul(w.channels as usize);
	let mut out = alloc::vec![0.0f32; image_area.saturating_mul(w.images as usize)];
	let gradients = gradient.chunks(size.out_area.saturating_mul(filters as usize).max(1));
	for (image, gradient) in out.chunks_mut(image_area.max(1)).zip(gradients) {
		for (channel, plane) in image.chunks_mut(size.area.max(1)).enumerate() {
			for (tap_number, tap) in taps(w).enumerate() {
				let first = channel.saturating_mul(w.taps() as usize).saturating_add(tap_number);
				let weights: Vec<f32> = strided(weight, first, size.patch).collect();
				for (number, window) in windows(w).enumerate() {
					let Some(slot) = place(w, window, tap).and_then(|i| plane.get_mut(i)) else {
						continue;
					};
					let of_window = strided(gradient, number, size.out_area);
					*slot += dot(of_window, weights.iter().copied());
				}
			}
		}
	}
	out
}

/// See `OpKind::AddChannel`.
pub fn add_channel(x: &[f32], channel: &[f32], channels: u32, area: u64) -> Vec<f32> {
	let planes = x.chunks((area as usize).max(1));
	let channel = channel.iter().take(channels as usize).cycle();
	planes.zip(channel).flat_map(|(plane, c)| plane.iter().map(move |x| x + c)).collect()
}

/// See `OpKind::SumChannels`.
pub fn sum_channels(x: &[f32], channels: u32, area: u64) -> Vec<f32> {
	let channels = channels as usize;
	(0..channels)
		.map(|channel| {
			let planes = x.chunks((area as usize).max(1)).skip(channel).step_by(channels.max(1));
			let terms: Vec<f32> = planes.flatten().copied().collect();
			sum(terms.into_iter())
		})
		.collect()
}

/// Returns what window `(y, x)` reads of a plane, row by row.
fn window_of<'a>(
	w: &'a Window,
	plane: &'a [f32],
	window: (u32, u32),
) -> impl Iterator<Item = (usize, f32)> + 'a {
	taps(w).filter_map(move |tap| place(w, window, tap)).map(|i| (i, at(plane, i)))
}

/// See `OpKind::MaxPool2d`.
pub fn max_pool(w: &Window, x: &[f32]) -> Vec<f32> {
	x.chunks(sizes(w).area.max(1))
		.flat_map(|plane| {
			windows(w).map(move |window| max(window_of(w, plane, window).map(|(_, x)| x)))
		})
		.collect()
}

/// See `OpKind::MaxPool2dGrad`.
pub fn max_pool_grad(w: &Window, gradient: &[f32], x: &[f32], maximum: &[f32]) -> Vec<f32> {
	let size = sizes(w);
	let mut out = alloc::vec![0.0f32; x.len()];
	let planes = out.chunks_mut(size.area.max(1)).zip(x.chunks(size.area.max(1)));
	let results = gradient.chunks(size.out_area.max(1)).zip(maximum.chunks(size.out_area.max(1)));
	for ((out, plane), (gradient, maximum)) in planes.zip(results) {
		for ((window, g), m) in windows(w).zip(gradient).zip(maximum) {
			let first = window_of(w, plane, window).find(|(_, x)| x == m);
			if let Some(slot) = first.and_then(|(i, _)| out.get_mut(i)) {
				*slot += g;
			}
		}
	}
	out
}

/// See `OpKind::AvgPool2d`.
pub fn avg_pool(w: &Window, x: &[f32]) -> Vec<f32> {
	let count = w.taps() as f32;
	x.chunks(sizes(w).area.max(1))
		.flat_map(|plane| {
			windows(w).map(move |window| {
				window_of(w, plane, window).fold(0.0f32, |sum, (_, x)| sum + x) / count
			})
		})
		.collect()
}

/// See `OpKind::AvgPool2dGrad`.
pub fn avg_pool_grad(w: &Window, gradient: &[f32]) -> Vec<f32> {
	let (size, count) = (sizes(w), w.taps() as f32);
	let planes = (w.images as usize).saturating_mul(w.channels as usize);
	let mut out = alloc::vec![0.0f32; planes.saturating_mul(size.area)];
	for (out, gradient) in
		out.chunks_mut(size.area.max(1)).zip(gradient.chunks(size.out_area.max(1)))
	{
		for (window, g) in windows(w).zip(gradient) {
			let share = g / count;
			for place in taps(w).filter_map(|tap| place(w, window, tap)) {
				if let Some(slot) = out.get_mut(place) {
					*slot += share;
				}
			}
		}
	}
	out
}
