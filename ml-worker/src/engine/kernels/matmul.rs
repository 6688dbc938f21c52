//! Matrix products in register tiles.
//!
//! The right operand is packed into panels of [`PANEL`] columns, the left operand, one
//! block of `k` at a time, into strips of [`STRIP`] rows. A tile of strip x panel
//! accumulates one block of 512 in registers, in ascending `k`, and is then stored (first
//! block) or added (later ones): the order that `strict::dot` defines. Threads share out
//! strips.

use super::{Arithmetic, Kernel, Task, PARALLEL_FROM};
use rayon::prelude::*;
use trainyard_primitives::strict::DOT_BLOCK;

/// Columns of a tile.
const PANEL: usize = 16;
/// Rows of a tile.
const STRIP: usize = 4;

/// An operand as stored.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
	/// Elements, row major.
	pub data: &'a [f32],
	/// Whether it is stored transposed.
	pub transposed: bool,
}

/// `out[i, j] = dot over p of a[i, p] b[p, j]`, with `out` of `m x n` and dot products of
/// length `k`.
///
/// # Panics
/// Where a slice is shorter than its shape says.
pub fn matmul(
	kernel: Kernel,
	a: Operand<'_>,
	b: Operand<'_>,
	[m, n, k]: [usize; 3],
	out: &mut [f32],
) {
	assert!(a.data.len() == m * k && b.data.len() == k * n && out.len() == m * n);
	if m == 0 || n == 0 {
		return;
	}
	if k == 0 {
		out.fill(0.0);
		return;
	}
	let panels = pack_panels(b, n, k);
	let strip = |(index, rows): (usize, &mut [f32])| {
		kernel.run(Strip { a, panels: &panels, first: index * STRIP, m, n, k, out: rows });
	};
	if m * n * k < PARALLEL_FROM {
		out.chunks_mut(STRIP * n).enumerate().for_each(strip);
	} else {
		out.par_chunks_mut(STRIP * n).enumerate().for_each(strip);
	}
}

/// Panel by panel, `k` rows of [`PANEL`] columns each; columns past `n` are zero.
fn pack_panels(b: Operand<'_>, n: usize, k: usize) -> Vec<f32> {
	let mut panels = vec![0.0; n.div_ceil(PANEL) * k * PANEL];
	for (index, panel) in panels.chunks_exact_mut(k * PANEL).enumerate() {
		let first = index * PANEL;
		let width = PANEL.min(n - first);
		if b.transposed {
			for j in 0..width {
				let column = &b.data[(first + j) * k..(first + j + 1) * k];
				for (row, x) in panel.chunks_exact_mut(PANEL).zip(column) {
					row[j] = *x;
				}
			}
		} else {
			for (row, source) in panel.chunks_exact_mut(PANEL).zip(b.data.chunks_exact(n)) {
				row[..width].copy_from_slice(&source[first..first + width]);
			}
		}
	}
	panels
}

/// The rows of one strip.
struct Strip<'a> {
	a: Operand<'a>,
	panels: &'a [f32],
	/// First row.
	first: usize,
	m: usize,
	n: usize,
	k: usize,
	/// The strip's rows of the result.
	out: &'a mut [f32],
}

impl Task for Strip<'_> {
	#[inline(always)]
	fn run<A: Arithmetic>(self) {
		let Self { a, panels, first, m, n, k, out } = self;
		let height = STRIP.min(m - first);
		let mut packed = vec![[0.0f32; STRIP]; k.min(DOT_BLOCK)];
		for start in (0..k).step_by(DOT_BLOCK) {
			let len = DOT_BLOCK.min(k - start);
			let packed = &mut packed[..len];
			for (p, column) in packed.iter_mut().enumerate() {
				for (r, x) in column.iter_mut().enumerate().take(height) {
					let (row, p) = (first + r, start + p);
					*x = if a.transposed { a.data[p * m + row] } else { a.data[row * k + p] };
				}
			}
			for (index, panel) in panels.chunks_exact(k * PANEL).enumerate() {
				let block = &panel[start * PANEL..(start + len) * PANEL];
				let tile = tile::<A>(packed, block);
				let column = index * PANEL;
				let width = PANEL.min(n - column);
				for (row, sums) in out.chunks_exact_mut(n).zip(&tile) {
					let row = &mut row[column..column + width];
					if start == 0 {
						row.copy_from_slice(&sums[..width]);
					} else {
						row.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
					}
				}
			}
		}
	}
}

/// One block of `k` of one tile.
#[inline(always)]
fn tile<A: Arithmetic>(strip: &[[f32; STRIP]], panel: &[f32]) -> [[f32; PANEL]; STRIP] {
	let mut sums = [[0.0f32; PANEL]; STRIP];
	for (a, b) in strip.iter().zip(panel.chunks_exact(PANEL)) {
		for (row, a) in sums.iter_mut().zip(a) {
			for (sum, b) in row.iter_mut().zip(b) {
				*sum = A::fma(*a, *b, *sum);
			}
		}
	}
	sums
}
