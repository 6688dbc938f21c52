//! Chains over images: convolutions and pooling of `[images, channels, height, width]`.

use super::{
	element::{Inputs, PartError},
	rows::{join, split},
	Accumulator,
};
use crate::{
	ops::{OpKind, TensorId, Window},
	spec::MAX_ROW_ELEMENTS,
};
use core::ops::Range;

/// Returns plane, row and column of element `index` of planes of that width and area.
fn place(index: u64, width: u32, area: u64) -> (u64, u64, u64) {
	let area = area.max(1);
	let (row, col) = split(index % area, width);
	(index / area, row, col)
}

/// Returns the index in its plane of the element that tap `(r, s)` of window `(y, x)` reads; none in
/// the padding.
fn reads(w: &Window, (y, x): (u64, u64), (r, s): (u64, u64)) -> Option<u64> {
	let at = |n: u64| u32::try_from(n).ok();
	let row = w.reads(at(y)?, at(r)?, w.height)?;
	let col = w.reads(at(x)?, at(s)?, w.width)?;
	Some(join(row.into(), w.width, col.into()))
}

/// Returns the window along one axis whose tap `tap` reads `at`; none where there is none of the
/// `windows`.
fn window_of(w: &Window, windows: u32, at: u64, tap: u64) -> Option<u64> {
	let padded = at.checked_add(w.padding.into())?;
	let begin = padded.checked_sub(tap)?;
	let stride = u64::from(w.stride);
	let window = begin.checked_div(stride).filter(|_| begin.is_multiple_of(stride))?;
	(window < u64::from(windows)).then_some(window)
}

/// The windows that cover a place, in the order (row, column).
pub(super) struct Covering {
	ys: Range<u64>,
	xs: Range<u64>,
	/// The plane of the place.
	pub plane: u64,
	/// Its row.
	row: u64,
	/// Its column.
	col: u64,
}

/// Returns the windows that cover element `index` of the images.
pub(super) fn covering(w: &Window, index: u64) -> Covering {
	let (plane, row, col) = place(index, w.width, w.area());
	let along = |at: u64, windows: u32| {
		let (stride, padded) = (u64::from(w.stride).max(1), at.saturating_add(w.padding.into()));
		// The first window that ends at or after the place, and the last that begins at or before it.
		let first = padded.saturating_add(1).saturating_sub(w.kernel.into()).div_ceil(stride);
		let end = (padded / stride).saturating_add(1).min(windows.into());
		first..end.max(first)
	};
	Covering { ys: along(row, w.out_height()), xs: along(col, w.out_width()), plane, row, col }
}

impl Covering {
	/// Returns the number of windows.
	pub fn count(&self) -> u64 {
		let len = |range: &Range<u64>| range.end.saturating_sub(range.start);
		len(&self.ys).saturating_mul(len(&self.xs))
	}

	/// Returns row and column of window number `number` among them.
	fn window(&self, number: u64) -> (u64, u64) {
		let width = self.xs.end.saturating_sub(self.xs.start).max(1);
		(self.ys.start.saturating_add(number / width), self.xs.start.saturating_add(number % width))
	}

	/// Returns the number, from 0 and row by row, of the tap of this window that reads the place.
	fn tap(&self, w: &Window, (y, x): (u64, u64)) -> u64 {
		let along = |at: u64, window: u64| {
			let begin = window.saturating_mul(w.stride.into());
			at.saturating_add(w.padding.into()).saturating_sub(begin)
		};
		join(along(self.row, y), w.kernel, along(self.col, x))
	}
}

/// Returns the index of element `(plane, window)` among the results of the windows.
fn result(w: &Window, plane: u64, (y, x): (u64, u64)) -> u64 {
	plane.saturating_mul(w.out_area()).saturating_add(join(y, w.out_width(), x))
}

/// Takes terms of an operator over images.
pub(super) fn advance<I: Inputs>(
	kind: &OpKind,
	index: u64,
	accumulator: &mut Accumulator,
	range: Range<u64>,
	inputs: &I,
) -> Result<(), I::Error> {
	match *kind {
		OpKind::Conv2d { x, weight, window: w, filters } => {
			let (plane, row, col) = place(index, w.out_width(), w.out_area());
			let (image, filter) = split(plane, filters);
			accumulator.dot(range, |t| {
				let (channel, tap) = (t / w.taps().max(1), t % w.taps().max(1));
				let plane = join(image, w.channels, channel);
				let read = read_tap(inputs, &w, x, plane, (row, col), tap)?;
				let at = filter.saturating_mul(w.patch()).saturating_add(t);
				Ok((read.unwrap_or(0.0), inputs.number(weight, at)?))
			})
		}
		OpKind::Conv2dWeightGrad { gradient, x, window: w, filters } => {
			let (filter, rest) = (index / w.patch().max(1), index % w.patch().max(1));
			let (channel, tap) = (rest / w.taps().max(1), rest % w.taps().max(1));
			accumulator.dot(range, |t| {
				let (image, row, col) = place(t, w.out_width(), w.out_area());
				let of_filter = join(image, filters, filter);
				let g = inputs.number(gradient, result(&w, of_filter, (row, col)))?;
				let plane = join(image, w.channels, channel);
				let read = read_tap(inputs, &w, x, plane, (row, col), tap)?;
				Ok((g, read.unwrap_or(0.0)))
			})
		}
		OpKind::Conv2dInputGrad { gradient, weight, window: w, filters } => {
			input_grad(&w, [gradient, weight], filters, index, accumulator, range, inputs)
		}
		OpKind::SumChannels { x, channels, area, .. } => {
			let area = area.max(1);
			accumulator.sum(range, |t| {
				let plane = join(t / area, channels, index);
				inputs.number(x, plane.saturating_mul(area).saturating_add(t % area))
			})
		}
		OpKind::MaxPool2d { x, window: w } => {
			let (plane, row, col) = place(index, w.out_width(), w.out_area());
			accumulator.max(range, |tap| {
				// A place that is not there is smaller than any.
				let read = read_tap(inputs, &w, x, plane, (row, col), tap)?;
				Ok(read.unwrap_or(f32::NEG_INFINITY))
			})
		}
		OpKind::AvgPool2d { x, window: w } => {
			let (plane, row, col) = place(index, w.out_width(), w.out_area());
			accumulator.add(range, |tap| read_tap(inputs, &w, x, plane, (row, col), tap))
		}
		OpKind::AvgPool2dGrad { gradient, window: w } => {
			let (covering, count) = (covering(&w, index), w.taps() as f32);
			accumulator.add(range, |t| {
				let window = covering.window(t);
				let g = inputs.number(gradient, result(&w, covering.plane, window))?;
				Ok(Some(g / count))
			})
		}
		_ => Err(PartError::NotAPart.into()),
	}
}

/// Returns what tap number `tap` of window `window` reads on a plane; none in the padding.
fn read_tap<I: Inputs>(
	inputs: &I,
	w: &Window,
	x: TensorId,
	plane: u64,
	window: (u64, u64),
	tap: u64,
) -> Result<Option<f32>, I::Error> {
	let at = reads(w, window, split(tap, w.kernel));
	at.map(|at| inputs.number(x, plane.saturating_mul(w.area()).saturating_add(at))).transpose()
}

/// Takes terms of [`OpKind::Conv2dInputGrad`]: tap by tap, filter by filter.
fn input_grad<I: Inputs>(
	w: &Window,
	[gradient, weight]: [TensorId; 2],
	filters: u32,
	index: u64,
	accumulator: &mut Accumulator,
	range: Range<u64>,
	inputs: &I,
) -> Result<(), I::Error> {
	let Accumulator::Dots { sum, dot } = accumulator else {
		return Err(PartError::WrongAccumulator.into());
	};
	let (plane, row, col) = place(index, w.width, w.area());
	let (image, channel) = split(plane, w.channels);
	for t in range {
		let (tap, filter) = split(t, filters);
		let (r, s) = split(tap, w.kernel);
		let window = window_of(w, w.out_height(), row, r).zip(window_of(w, w.out_width(), col, s));
		let Some(window) = window else { continue };
		if filter == 0 {
			*dot = Default::default();
		}
		let g = inputs.number(gradient, result(w, join(image, filters, filter), window))?;
		let at = filter.saturating_mul(w.patch());
		let at = at.saturating_add(channel.saturating_mul(w.taps())).saturating_add(tap);
		dot.add(filter, g, inputs.number(weight, at)?);
		if filter.saturating_add(1) == u64::from(filters) {
			*sum += dot.finish(filters.into());
			*dot = Default::default();
		}
	}
	Ok(())
}

// The number of a place is a binary32: all of a window have numbers that are exact.
const _: () = assert!(MAX_ROW_ELEMENTS <= 1 << 24);

/// Takes terms of [`super::Part::PoolChoice`], of `x` and the windows' maxima.
pub(super) fn choose<I: Inputs>(
	w: &Window,
	[x, maximum]: [TensorId; 2],
	index: u64,
	accumulator: &mut Accumulator,
	range: Range<u64>,
	inputs: &I,
) -> Result<(), I::Error> {
	let (plane, row, col) = place(index, w.out_width(), w.out_area());
	let largest = inputs.number(maximum, index)?;
	accumulator
		.first(range, |tap| Ok(read_tap(inputs, w, x, plane, (row, col), tap)? == Some(largest)))
}

/// Takes terms of [`super::Part::PoolGrad`], of the gradient and the windows' choices.
pub(super) fn chosen<I: Inputs>(
	w: &Window,
	[gradient, choice]: [TensorId; 2],
	index: u64,
	accumulator: &mut Accumulator,
	range: Range<u64>,
	inputs: &I,
) -> Result<(), I::Error> {
	let covering = covering(w, index);
	accumulator.add(range, |t| {
		let window = covering.window(t);
		let at = result(w, covering.plane, window);
		let number = covering.tap(w, window).saturating_add(1) as f32;
		let chosen = inputs.number(choice, at)? == number;
		chosen.then(|| inputs.number(gradient, at)).transpose()
	})
}
