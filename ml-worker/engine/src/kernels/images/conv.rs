//! Convolutions and their gradients as products.
//!
//! What the windows of an image read is a matrix of `[channels kernel^2, windows]`, the columns, of
//! which each element of the image is `kernel^2` elements (im2col). It is never whole in memory:
//! its parts are written straight into the panels and strips in which the tiles of a product read
//! their operands, and only as much of them as fits the second level cache. Beside these, each
//! thread holds one image, with its padding, or a band of it.
//!
//! - Forward, an image's result is the product of the weight and its columns.
//! - The gradient of the weight is, transposed, the product of the columns of all images, side
//!   by side, and the gradient: its terms are the windows. Threads share out the blocks of 512
//!   terms; the results of blocks are then added in their order.
//! - The gradient of the image is the product of the transposed weight and the gradient, whose
//!   rows, one for each tap, are then added to what the tap reads (col2im).

use super::{
	super::{
		matmul::{
			pack,
			parallel::{with_buffer, Buffer},
			threads_for,
			tile::{Micro, Tiles},
			Heights, View,
		},
		Isa,
	},
	parts,
	planes::{Gather, PlaneLayout, Planes, Scatter, CHUNK},
	spread,
};
use std::ops::Range;
use trainyard_program::ops::Window;
use trainyard_strict::DOT_BLOCK;

/// Elements of columns that are copied at a time: an eighth of a mebibyte.
const COLUMNS: usize = 1 << 15;

/// Elements of the results of blocks that wait to be added: four mebibytes.
const PARTIAL_RESULTS: usize = 1 << 20;

/// Elements of the products that several channels may have before they are added up: half a
/// mebibyte.
const PRODUCTS: usize = 1 << 17;

/// Elements of a result whose blocks are added at a time.
const ADDED: usize = 1 << 12;

/// Rows of a strip of columns begin that many elements apart: in different sets of the first level
/// cache, with room for a chunk between them.
const STRIP_ROW: usize = DOT_BLOCK + CHUNK;

/// A convolution.
#[derive(Clone, Copy, Debug)]
struct Conv {
	isa: Isa,
	micro: Micro,
	planes: Planes,
	images: usize,
	filters: usize,
	/// Windows of a plane.
	windows: usize,
	/// Elements that a window reads.
	patch: usize,
	/// Elements of an image.
	image: usize,
}

impl Conv {
	/// Prepares a convolution for bands of at most that many rows of windows.
	fn new(isa: Isa, w: &Window, filters: u32, band: impl Fn(Planes) -> usize) -> Self {
		let planes = Planes::new(w, 0);
		let planes = Planes::new(w, band(planes));
		Self {
			isa,
			micro: Micro::new(isa),
			planes,
			images: w.images as usize,
			filters: filters as usize,
			windows: planes.windows(),
			patch: planes.channels * planes.taps(),
			image: planes.channels * planes.area(),
		}
	}

	/// Checks the numbers of elements of images, weight and result.
	fn check(&self, x: usize, weight: usize, result: usize) {
		assert_eq!(x, self.images * self.image, "elements of the images");
		assert_eq!(weight, self.filters * self.patch, "elements of the weight");
		assert_eq!(result, self.images * self.filters * self.windows, "elements of the result");
	}

	/// Elements of the panels of `columns` columns of `terms` terms, and a chunk.
	fn panels_len(&self, columns: usize, terms: usize) -> usize {
		columns.next_multiple_of(self.micro.columns()) * terms + CHUNK
	}
}

/// Multiply-adds of a convolution.
fn work(w: &Window, filters: u32) -> usize {
	w.images as usize * filters as usize * w.out_area() as usize * w.patch() as usize
}

/// The left operand of a product with a strip of rows: element `(r, p)` is at
/// `r row + p column`, one of which is 1.
struct Left<'a> {
	data: &'a [f32],
	row: usize,
	column: usize,
}

/// The right operand: panels of `columns` columns in all.
struct Right<'a> {
	data: &'a [f32],
	terms: usize,
	columns: usize,
	/// Elements from a term to the next in a last panel that is not whole.
	last_row: usize,
}

/// `rows` rows of a product, into `out`, whose rows are `row` elements apart; or added to it.
fn multiply(
	micro: Micro,
	left: &Left<'_>,
	right: &Right<'_>,
	rows: usize,
	out: &mut [f32],
	row: usize,
	add: bool,
) {
	let width = micro.columns();
	let mut run = |first: usize, count: usize, columns: usize, b_row: usize| {
		micro.tiles(Tiles {
			a: left.data,
			a_row: left.row,
			a_column: left.column,
			b: &right.data[first * right.terms..],
			b_row,
			b_tile: width * right.terms,
			k: right.terms,
			count,
			rows,
			columns,
			c: &mut out[first..],
			c_row: row,
			add,
		});
	};
	let (count, rest) = (right.columns / width, right.columns % width);
	if count > 0 {
		run(0, count, width, width);
	}
	if rest > 0 {
		run(count * width, 1, rest, right.last_row);
	}
}

/// The blocks of a dot product of `terms` terms.
fn blocks(terms: usize) -> impl Iterator<Item = Range<usize>> {
	(0..terms).step_by(DOT_BLOCK).map(move |start| start..terms.min(start + DOT_BLOCK))
}

/// Computes `OpKind::Conv2d`: images `[images, channels, height, width]` and a weight
/// `[filters, channels, kernel, kernel]` to `[images, filters, out height, out width]`.
///
/// # Panics
/// Panics if an operand is not as long as its shape says, or if this machine cannot run `isa`.
pub fn conv(isa: Isa, w: &Window, filters: u32, x: &[f32], weight: &[f32]) -> Vec<f32> {
	conv_with(threads_for(work(w, filters)), isa, w, filters, x, weight)
}

pub(super) fn conv_with(
	threads: usize,
	isa: Isa,
	w: &Window,
	filters: u32,
	x: &[f32],
	weight: &[f32],
) -> Vec<f32> {
	let conv = Conv::new(isa, w, filters, |planes| planes.out_height);
	let Conv { isa, micro, planes, filters, windows, patch, .. } = conv;
	let mut out = vec![0.0; conv.images * filters * windows];
	conv.check(x.len(), weight.len(), out.len());
	if out.is_empty() || patch == 0 {
		return out;
	}
	let width = micro.columns();
	let offsets = planes.offsets(planes.channels);
	let panel = |first: usize| {
		let mut plan = PlaneLayout::default();
		plan.add(&planes, first..windows.min(first + width), 0, 0, 0);
		plan
	};
	let plans: Vec<PlaneLayout> = (0..windows).step_by(width).map(panel).collect();
	let longest = patch.min(DOT_BLOCK);
	let block = (COLUMNS / (longest * width)).clamp(1, plans.len());

	let run = |(image, first, out): (usize, usize, &mut [f32])| {
		let rows = out.len() / windows;
		with_buffer(Buffer::Planes, planes.len(planes.channels), |padded| {
			let image = &x[image * conv.image..][..conv.image];
			planes.fill(image, planes.channels, 0..planes.out_height, padded);
			with_buffer(Buffer::Panels, conv.panels_len(block * width, longest), |panels| {
				for (plans, column) in plans.chunks(block).zip((0..).step_by(block * width)) {
					let columns = (windows - column).min(block * width);
					for terms in blocks(patch) {
						isa.run(Gather {
							from: padded,
							offsets: &offsets[terms.clone()],
							plans,
							to: panels,
							row: width,
							each: width * terms.len(),
						});
						let right =
							Right { data: panels, terms: terms.len(), columns, last_row: width };
						for strip in Heights::new(micro, rows, 1).rows() {
							let from = (first + strip.start) * patch + terms.start;
							let left = Left { data: &weight[from..], row: patch, column: 1 };
							let out = &mut out[strip.start * windows + column..];
							let add = terms.start > 0;
							multiply(micro, &left, &right, strip.len(), out, windows, add);
						}
					}
				}
			});
		});
	};
	let rows = filters.div_ceil(parts(conv.images, threads));
	let tasks = out.chunks_mut(filters * windows).enumerate().flat_map(|(image, out)| {
		let ranges = out.chunks_mut(rows * windows).zip((0..).step_by(rows));
		ranges.map(move |(out, first)| (image, first, out))
	});
	spread(threads, tasks, run);
	out
}

/// Computes `OpKind::Conv2dWeightGrad`: gradient `[images, filters, out height, out width]` and
/// images `[images, channels, height, width]` to `[filters, channels, kernel, kernel]`.
///
/// # Panics
/// Panics as [`conv`] does.
pub fn conv_weight_grad(
	isa: Isa,
	w: &Window,
	filters: u32,
	gradient: &[f32],
	x: &[f32],
) -> Vec<f32> {
	let threads = threads_for(work(w, filters));
	weight_grad_with(threads, PARTIAL_RESULTS, isa, w, filters, gradient, x)
}

/// On `threads` threads, which keep at most `kept` elements of results of blocks.
pub(super) fn weight_grad_with(
	threads: usize,
	kept: usize,
	isa: Isa,
	w: &Window,
	filters: u32,
	gradient: &[f32],
	x: &[f32],
) -> Vec<f32> {
	WeightGrad::new(isa, w, filters, gradient, x).on(threads, kept)
}

/// The gradient of a weight.
struct WeightGrad<'a> {
	conv: Conv,
	gradient: &'a [f32],
	x: &'a [f32],
	/// Where the taps of all channels read.
	offsets: Vec<usize>,
}

/// The windows of one image that are terms of a block.
struct Piece {
	image: usize,
	windows: Range<usize>,
	/// The term of the block that is the first of them.
	term: usize,
}

impl<'a> WeightGrad<'a> {
	fn new(isa: Isa, w: &Window, filters: u32, gradient: &'a [f32], x: &'a [f32]) -> Self {
		// Bands that hold a block of terms.
		let band =
			|planes: Planes| planes.out_height.min((DOT_BLOCK - 1) / planes.out_width.max(1) + 2);
		let conv = Conv::new(isa, w, filters, band);
		Self { conv, gradient, x, offsets: conv.planes.offsets(conv.planes.channels) }
	}

	/// The gradient, on `threads` threads, which keep at most `kept` elements of results of
	/// blocks (but one result).
	fn on(&self, threads: usize, kept: usize) -> Vec<f32> {
		let Conv { micro, planes, filters, patch, .. } = self.conv;
		let outputs = filters * patch;
		self.conv.check(self.x.len(), outputs, self.gradient.len());
		let terms = self.conv.images * self.conv.windows;
		if terms == 0 || outputs == 0 {
			return vec![0.0; outputs];
		}
		let all = terms.div_ceil(DOT_BLOCK);
		let together = if threads == 1 { 1 } else { (kept / outputs).clamp(1, all) };
		// `[patch, filters]`: whole rows of it are a task.
		let mut total = vec![0.0; outputs];
		let mut results = vec![0.0; if together == 1 { 0 } else { together * outputs }];
		for first in (0..all).step_by(together) {
			let count = together.min(all - first);
			let channels = planes.channels.div_ceil(parts(count, threads));
			let part = channels * planes.taps() * filters;
			let to = if together == 1 { &mut total } else { &mut results };
			let tasks = to.chunks_mut(outputs).take(count).enumerate().flat_map(|(i, out)| {
				let ranges = out.chunks_mut(part).zip((0..).step_by(channels));
				ranges.map(move |(out, channel)| (first + i, channel, out))
			});
			spread(threads, tasks, |(block, channel, out)| {
				self.block(block, channel, out, together == 1 && block > 0);
			});
			if together > 1 {
				let ranges = total.chunks_mut(ADDED).zip((0..).step_by(ADDED));
				spread(threads, ranges, |(total, start)| {
					for (i, result) in results.chunks(outputs).take(count).enumerate() {
						let result = &result[start..start + total.len()];
						if first + i == 0 {
							total.copy_from_slice(result);
						} else {
							total.iter_mut().zip(result).for_each(|(total, x)| *total += x);
						}
					}
				});
			}
		}
		drop(results);
		let mut out = vec![0.0; outputs];
		let total = View { data: &total, row_stride: filters, column_stride: 1 };
		pack::transpose(micro, total, patch, 0..filters, &mut out);
		out
	}

	/// The result of block `block` for the channels from `channel` on, into `out`, or added
	/// to it.
	fn block(&self, block: usize, channel: usize, out: &mut [f32], add: bool) {
		let Conv { isa, micro, planes, filters, windows, image, .. } = self.conv;
		let terms = block * DOT_BLOCK;
		let terms = terms..(terms + DOT_BLOCK).min(self.conv.images * windows);
		let patch = out.len() / filters;
		let channels = patch / planes.taps();
		let met = terms.start / windows..terms.end.div_ceil(windows);
		let piece = |image: usize| {
			let start = image * windows;
			let some = terms.start.max(start)..terms.end.min(start + windows);
			let term = some.start - terms.start;
			Piece { image, windows: some.start - start..some.end - start, term }
		};
		let pieces: Vec<Piece> = met.map(piece).collect();
		let each = planes.len(channels);
		let mut plan = PlaneLayout::default();
		let terms = terms.len();
		with_buffer(Buffer::Planes, pieces.len() * each, |padded| {
			let places = padded.chunks_mut(each).enumerate();
			for (piece, (index, padded)) in pieces.iter().zip(places) {
				let width = planes.out_width;
				let band = piece.windows.start / width..piece.windows.end.div_ceil(width);
				plan.add(&planes, piece.windows.clone(), band.start, index * each, piece.term);
				let from = piece.image * image + channel * planes.area();
				planes.fill(&self.x[from..], channels, band, padded);
			}
			with_buffer(Buffer::Panels, self.conv.panels_len(filters, terms), |panels| {
				self.gradient_panels(&pieces, terms, panels);
				let last_row = micro.padded(filters % micro.columns());
				let right = Right { data: panels, terms, columns: filters, last_row };
				with_buffer(Buffer::Strip, micro.rows() * STRIP_ROW, |strip| {
					for rows in Heights::new(micro, patch, 1).rows() {
						isa.run(Gather {
							from: padded,
							offsets: &self.offsets[rows.clone()],
							plans: std::slice::from_ref(&plan),
							to: strip,
							row: STRIP_ROW,
							each: 0,
						});
						let left = Left { data: strip, row: STRIP_ROW, column: 1 };
						let out = &mut out[rows.start * filters..];
						multiply(micro, &left, &right, rows.len(), out, filters, add);
					}
				});
			});
		});
	}

	/// Copies the gradient of the windows in `pieces` into panels, whose columns are the
	/// filters.
	fn gradient_panels(&self, pieces: &[Piece], terms: usize, panels: &mut [f32]) {
		let Conv { micro, filters, windows, .. } = self.conv;
		let widest = micro.columns();
		for first in (0..filters).step_by(widest) {
			let columns = first..filters.min(first + widest);
			let width = micro.padded(columns.len());
			for Piece { image, windows: some, term } in pieces {
				let data = &self.gradient[image * filters * windows..][..filters * windows];
				let of_image = View { data, row_stride: 1, column_stride: windows };
				let to = &mut panels[first * terms + term * width..];
				pack::panels(micro, of_image, some.clone(), columns.clone(), to);
			}
		}
	}
}

/// Computes `OpKind::Conv2dInputGrad`: gradient `[images, filters, out height, out width]` and
/// weight `[filters, channels, kernel, kernel]` to `[images, channels, height, width]`.
///
/// # Panics
/// Panics as [`conv`] does.
pub fn conv_input_grad(
	isa: Isa,
	w: &Window,
	filters: u32,
	gradient: &[f32],
	weight: &[f32],
) -> Vec<f32> {
	input_grad_with(threads_for(work(w, filters)), isa, w, filters, gradient, weight)
}

pub(super) fn input_grad_with(
	threads: usize,
	isa: Isa,
	w: &Window,
	filters: u32,
	gradient: &[f32],
	weight: &[f32],
) -> Vec<f32> {
	let conv = Conv::new(isa, w, filters, |planes| planes.out_height);
	let Conv { isa, micro, planes, filters, windows, patch, .. } = conv;
	let mut out = vec![0.0; conv.images * conv.image];
	conv.check(out.len(), weight.len(), gradient.len());
	if out.is_empty() || gradient.is_empty() || patch == 0 {
		return out;
	}
	let (channels, taps, area) = (planes.channels, planes.taps(), planes.area());
	// Channels whose taps are rows of the product together: strips are then high.
	let high = (3 * micro.rows() / taps).min(PRODUCTS / (taps * windows));
	let group = high.clamp(1, channels);
	let strips = |channel: usize| {
		let rows = (channels - channel).min(group) * taps;
		Heights::new(micro, rows, 1).rows()
	};
	// Strips of the transposed weight, block by block of terms each.
	let mut left = vec![0.0; patch * filters];
	let transposed = View { data: weight, row_stride: 1, column_stride: patch };
	for channel in (0..channels).step_by(group) {
		for rows in strips(channel) {
			let rows = channel * taps + rows.start..channel * taps + rows.end;
			for terms in blocks(filters) {
				let to = rows.start * filters + terms.start * rows.len();
				pack::strip(transposed, rows.clone(), terms, &mut left[to..]);
			}
		}
	}
	let offsets = planes.offsets(group);

	let run = |(image, first, out): (usize, usize, &mut [f32])| {
		let gradient = &gradient[image * filters * windows..][..filters * windows];
		let view = View { data: gradient, row_stride: windows, column_stride: 1 };
		let width = micro.columns();
		let last_row = micro.padded(windows % width);
		let padded = windows.next_multiple_of(width);
		with_buffer(Buffer::Panels, conv.panels_len(windows, filters), |panels| {
			for terms in blocks(filters) {
				let to = &mut panels[terms.start * padded..];
				pack::panels(micro, view, terms, 0..windows, to);
			}
			let products = group * taps * windows + CHUNK;
			let sums = planes.len(group);
			with_buffer(Buffer::Products, products + sums, |both| {
				let (products, sums) = both.split_at_mut(products);
				for (out, channel) in out.chunks_mut(group * area).zip((first..).step_by(group)) {
					for rows in strips(channel) {
						for terms in blocks(filters) {
							let from = (channel * taps + rows.start) * filters;
							let from = from + terms.start * rows.len();
							let left = Left { data: &left[from..], row: 1, column: rows.len() };
							let right = Right {
								data: &panels[terms.start * padded..],
								terms: terms.len(),
								columns: windows,
								last_row,
							};
							let to = &mut products[rows.start * windows..];
							let add = terms.start > 0;
							multiply(micro, &left, &right, rows.len(), to, windows, add);
						}
					}
					let count = out.len() / area;
					sums.fill(0.0);
					let offsets = &offsets[..count * taps];
					isa.run(Scatter { planes, channels: count, products, offsets, sums });
					planes.take(sums, count, out);
				}
			});
		});
	};
	let part = channels.div_ceil(parts(conv.images, threads)).next_multiple_of(group);
	let tasks = out.chunks_mut(conv.image).enumerate().flat_map(|(image, out)| {
		let ranges = out.chunks_mut(part * area).zip((0..).step_by(part));
		ranges.map(move |(out, first)| (image, first, out))
	});
	spread(threads, tasks, run);
	out
}
