//! Sums in blocks of 1,024 and 16 lanes.

use super::{Arithmetic, Kernel, Task, PARALLEL_FROM};
use rayon::prelude::*;
use trainyard_primitives::strict::{LANES, SUM_BLOCK};

/// Columns that are summed together.
const COLUMNS: usize = 16;

/// The strict sum of one slice.
pub fn sum(kernel: Kernel, x: &[f32]) -> f32 {
	if x.is_empty() {
		return 0.0;
	}
	let mut blocks = vec![0.0; x.len().div_ceil(SUM_BLOCK)];
	let run = |(out, block): (&mut f32, &[f32])| kernel.run(Block { block, out });
	if x.len() < PARALLEL_FROM {
		blocks.iter_mut().zip(x.chunks(SUM_BLOCK)).for_each(run);
	} else {
		blocks.par_iter_mut().zip(x.par_chunks(SUM_BLOCK)).for_each(run);
	}
	match blocks.as_slice() {
		[only] => *only,
		several => sum(kernel, several),
	}
}

/// The strict sum of one block.
#[inline(always)]
pub fn sum_block(block: &[f32]) -> f32 {
	let mut lanes = [0.0f32; LANES];
	let whole = block.chunks_exact(LANES);
	let rest = whole.remainder();
	for x in whole {
		for (lane, x) in lanes.iter_mut().zip(x) {
			*lane += x;
		}
	}
	for (lane, x) in lanes.iter_mut().zip(rest) {
		*lane += x;
	}
	for width in [8, 4, 2, 1] {
		for j in 0..width {
			lanes[j] += lanes[j + width];
		}
	}
	lanes[0]
}

struct Block<'a> {
	block: &'a [f32],
	out: &'a mut f32,
}

impl Task for Block<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		*self.out = sum_block(self.block);
	}
}

/// The strict sum of every column of a matrix with `cols` columns.
///
/// # Panics
/// Where the elements are not whole rows.
pub fn sum_rows(kernel: Kernel, a: &[f32], cols: usize) -> Vec<f32> {
	if cols == 0 {
		return Vec::new();
	}
	assert_eq!(a.len() % cols, 0);
	if a.is_empty() {
		return vec![0.0; cols];
	}
	let mut blocks = vec![0.0; a.len().div_ceil(SUM_BLOCK * cols) * cols];
	let run = |(out, rows): (&mut [f32], &[f32])| kernel.run(ColumnBlock { rows, cols, out });
	let tall = SUM_BLOCK * cols;
	if a.len() < PARALLEL_FROM {
		blocks.chunks_mut(cols).zip(a.chunks(tall)).for_each(run);
	} else {
		blocks.par_chunks_mut(cols).zip(a.par_chunks(tall)).for_each(run);
	}
	if blocks.len() == cols {
		blocks
	} else {
		sum_rows(kernel, &blocks, cols)
	}
}

/// The column sums of one block of rows.
struct ColumnBlock<'a> {
	rows: &'a [f32],
	cols: usize,
	out: &'a mut [f32],
}

impl Task for ColumnBlock<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		for (index, out) in self.out.chunks_mut(COLUMNS).enumerate() {
			let first = index * COLUMNS;
			let mut lanes = [[0.0f32; COLUMNS]; LANES];
			for (i, row) in self.rows.chunks_exact(self.cols).enumerate() {
				let row = &row[first..first + out.len()];
				for (lane, x) in lanes[i % LANES].iter_mut().zip(row) {
					*lane += x;
				}
			}
			for width in [8, 4, 2, 1] {
				let (low, high) = lanes.split_at_mut(width);
				for (low, high) in low.iter_mut().zip(high.iter()) {
					for (l, h) in low.iter_mut().zip(high) {
						*l += h;
					}
				}
			}
			out.copy_from_slice(&lanes[0][..out.len()]);
		}
	}
}
