//! Sums in blocks of 1,024 and 16 lanes, and maxima.

use super::{Arithmetic, Isa, SimdTask, PARALLEL_FROM};
use rayon::prelude::*;
use std::ops::Range;
use trainyard_strict::{LANES, SUM_BLOCK};

/// Returns the strict sum of one slice.
pub fn sum(isa: Isa, x: &[f32]) -> f32 {
	sum_blocks(x, |block, out| isa.run(Block { block, out }))
}

/// Returns the strict sum of the squares of one slice.
pub fn sum_squares(isa: Isa, x: &[f32]) -> f32 {
	let blocks = |block: &[f32], out: &mut f32| isa.run(SquaresBlock { block, out });
	sum_blocks(x, blocks)
}

/// Sums the blocks of `x` by `run`, on threads where they are many, and then their sums.
fn sum_blocks(x: &[f32], run: impl Fn(&[f32], &mut f32) + Sync) -> f32 {
	let mut blocks = vec![0.0; x.len().div_ceil(SUM_BLOCK)];
	if x.len() < PARALLEL_FROM {
		blocks.iter_mut().zip(x.chunks(SUM_BLOCK)).for_each(|(out, x)| run(x, out));
	} else {
		blocks.par_iter_mut().zip(x.par_chunks(SUM_BLOCK)).for_each(|(out, x)| run(x, out));
	}
	sum_slice(&blocks)
}

/// Returns the strict sum of a slice on this thread. Do not use it in hot loops: it is compiled for
/// the baseline of the processor family.
fn sum_slice(x: &[f32]) -> f32 {
	if x.len() <= SUM_BLOCK {
		return sum_block(x);
	}
	let blocks: Vec<f32> = x.chunks(SUM_BLOCK).map(sum_block).collect();
	sum_slice(&blocks)
}

/// The strict sum of one block.
#[inline(always)]
pub fn sum_block(block: &[f32]) -> f32 {
	block_of(block, block, |x, _| x)
}

/// The strict sum of `f` at every place of two slices of one block.
#[inline(always)]
fn block_of(x: &[f32], y: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
	let mut lanes = [0.0f32; LANES];
	let (whole_x, rest_x) = x.as_chunks::<LANES>();
	let (whole_y, rest_y) = y.as_chunks::<LANES>();
	for (x, y) in whole_x.iter().zip(whole_y) {
		for j in 0..LANES {
			lanes[j] += f(x[j], y[j]);
		}
	}
	if !rest_x.is_empty() {
		// No lane is ever -0, so adding +0 to those that have ended changes nothing.
		let mut last = [0.0f32; LANES];
		for ((last, x), y) in last.iter_mut().zip(rest_x).zip(rest_y) {
			*last = f(*x, *y);
		}
		for j in 0..LANES {
			lanes[j] += last[j];
		}
	}
	for width in [8, 4, 2, 1] {
		for j in 0..width {
			lanes[j] += lanes[j + width];
		}
	}
	lanes[0]
}

/// The strict sum of `f` at every place of two slices of any length.
#[inline(always)]
pub(super) fn sum_of(x: &[f32], y: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
	if x.len() <= SUM_BLOCK {
		return block_of(x, y, f);
	}
	let mut blocks = Vec::with_capacity(x.len().div_ceil(SUM_BLOCK));
	for (x, y) in x.chunks(SUM_BLOCK).zip(y.chunks(SUM_BLOCK)) {
		blocks.push(block_of(x, y, &f));
	}
	sum_slice(&blocks)
}

/// Returns the largest element: a zero is always +0, and of none it is minus infinity. The order
/// does not matter, see `strict::max`.
#[inline(always)]
pub(super) fn maximum(x: &[f32]) -> f32 {
	let larger = |x: f32, m: f32| if x > m { x } else { m };
	let mut lanes = [f32::NEG_INFINITY; LANES];
	let (whole, rest) = x.as_chunks::<LANES>();
	for x in whole {
		for j in 0..LANES {
			lanes[j] = larger(x[j], lanes[j]);
		}
	}
	let m = lanes.into_iter().fold(f32::NEG_INFINITY, |m, x| larger(x, m));
	rest.iter().fold(m, |m, x| larger(*x, m)) + 0.0
}

struct Block<'a> {
	block: &'a [f32],
	out: &'a mut f32,
}

impl SimdTask for Block<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		*self.out = sum_block(self.block);
	}
}

struct SquaresBlock<'a> {
	block: &'a [f32],
	out: &'a mut f32,
}

impl SimdTask for SquaresBlock<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		*self.out = block_of(self.block, self.block, |x, _| x * x);
	}
}

/// Returns the strict sum of every column of a matrix with `cols` columns.
///
/// # Panics
/// Panics if the elements are not whole rows.
pub fn sum_rows(isa: Isa, a: &[f32], cols: usize) -> Vec<f32> {
	if cols == 0 {
		return Vec::new();
	}
	assert_eq!(a.len() % cols, 0);
	sum_columns(isa, Rows { a, cols }, a.len() / cols, cols)
}

/// Rows whose columns are summed.
pub(super) trait Addend: Copy + Sync {
	/// How many times as long as an addition an element takes, roughly.
	const WORK: usize = 1;

	/// Adds row `i` to `lane`.
	fn add<A: Arithmetic>(self, i: usize, lane: &mut [f32]);
}

/// The rows of a matrix.
#[derive(Clone, Copy)]
struct Rows<'a> {
	a: &'a [f32],
	cols: usize,
}

impl Addend for Rows<'_> {
	#[inline(always)]
	fn add<A: Arithmetic>(self, i: usize, lane: &mut [f32]) {
		let row = &self.a[i * self.cols..][..self.cols];
		for (lane, x) in lane.iter_mut().zip(row) {
			*lane += x;
		}
	}
}

/// Returns the strict sum of every column of `rows` rows of `cols` elements.
///
/// A lane of a block is a row of sums here, and the unit that threads share out. Lanes that no
/// row meets are left out: they would add +0, and no lane is ever -0.
pub(super) fn sum_columns<R: Addend>(isa: Isa, addend: R, rows: usize, cols: usize) -> Vec<f32> {
	if rows == 0 || cols == 0 {
		return vec![0.0; cols];
	}
	let parallel = rows * cols >= PARALLEL_FROM / R::WORK;
	let block = |first: usize| {
		let rows = first..rows.min(first + SUM_BLOCK);
		let mut lanes = vec![0.0; rows.len().min(LANES) * cols];
		if parallel {
			let add = |(lane, lanes)| {
				isa.run(ColumnLanes { addend, rows: rows.clone(), lane, cols, lanes })
			};
			lanes.par_chunks_mut(cols).enumerate().for_each(add);
		} else {
			isa.run(ColumnLanes { addend, rows, lane: 0, cols, lanes: &mut lanes });
		}
		isa.run(Tree { lanes: &mut lanes, cols });
		lanes.truncate(cols);
		lanes
	};
	let starts = (0..rows.div_ceil(SUM_BLOCK)).map(|index| index * SUM_BLOCK);
	if rows <= SUM_BLOCK {
		return block(0);
	}
	let blocks: Vec<f32> = if parallel {
		let starts: Vec<usize> = starts.collect();
		starts.into_par_iter().flat_map_iter(block).collect()
	} else {
		starts.flat_map(block).collect()
	};
	sum_rows(isa, &blocks, cols)
}

/// Some lanes of one block of rows, from lane `lane` on.
struct ColumnLanes<'a, R> {
	addend: R,
	/// The rows of the block.
	rows: Range<usize>,
	lane: usize,
	cols: usize,
	lanes: &'a mut [f32],
}

impl<R: Addend> SimdTask for ColumnLanes<'_, R> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for first in (self.rows.start + self.lane..self.rows.end).step_by(LANES) {
			let lanes = self.lanes.chunks_exact_mut(self.cols);
			for (i, lane) in (first..self.rows.end).zip(lanes) {
				self.addend.add::<A>(i, lane);
			}
		}
	}
}

/// Adds the lanes of a block to the first one.
struct Tree<'a> {
	lanes: &'a mut [f32],
	cols: usize,
}

impl SimdTask for Tree<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for width in [8, 4, 2, 1] {
			let (low, high) = self.lanes.split_at_mut(self.lanes.len().min(width * self.cols));
			for (low, high) in low.iter_mut().zip(high) {
				*low += *high;
			}
		}
	}
}
