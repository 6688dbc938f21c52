//! Portable tiles, with fused multiply-add in software.

use super::{tile::Tiles, Arithmetic, Soft};

/// Most rows of a tile.
pub(super) const ROWS: usize = 4;
/// Most columns of a tile.
pub(super) const COLUMNS: usize = 16;

/// See [`super::tile::Micro::tiles`].
pub(super) fn tiles(tiles: Tiles<'_>) {
	let Tiles { a, a_row, a_column, b, b_row, b_tile, k, count, rows, columns, c, c_row, add } =
		tiles;
	assert!(rows <= ROWS && columns <= COLUMNS);
	for t in 0..count {
		let mut sums = [[0.0f32; COLUMNS]; ROWS];
		for p in 0..k {
			let b = &b[t * b_tile + p * b_row..][..columns];
			for (r, sums) in sums[..rows].iter_mut().enumerate() {
				let x = a[r * a_row + p * a_column];
				for (sum, b) in sums.iter_mut().zip(b) {
					*sum = Soft::fma(x, *b, *sum);
				}
			}
		}
		for (r, sums) in sums[..rows].iter().enumerate() {
			let row = &mut c[r * c_row + t * columns..][..columns];
			for (total, sum) in row.iter_mut().zip(sums) {
				*total = if add { *total + sum } else { *sum };
			}
		}
	}
}

/// See [`super::tile::Micro::copy`], of panels of `width` columns.
pub(super) fn copy(
	from: &[f32],
	stride: usize,
	[k, panels]: [usize; 2],
	to: &mut [f32],
	width: usize,
) {
	for (panel, to) in to.chunks_exact_mut(k * width).take(panels).enumerate() {
		for (p, to) in to.chunks_exact_mut(width).enumerate() {
			to.copy_from_slice(&from[p * stride + panel * width..][..width]);
		}
	}
}

/// See [`super::tile::Micro::interleave`].
pub(super) fn interleave(rows: [&[f32]; 8], out: &mut [f32], stride: usize) {
	let len = rows[0].len();
	assert!(rows.iter().all(|row| row.len() == len));
	for p in 0..len {
		for (to, row) in out[p * stride..p * stride + 8].iter_mut().zip(rows) {
			*to = row[p];
		}
	}
}

/// See [`super::tile::Micro::chains`].
pub(super) fn chains(turns: u64) -> u64 {
	let (x, y) = (std::hint::black_box(0.999f32), std::hint::black_box(1e-3f32));
	let mut sums = [y; COLUMNS];
	for _ in 0..turns {
		for sum in &mut sums {
			*sum = Soft::fma(*sum, x, y);
		}
	}
	std::hint::black_box(sums);
	2 * turns * COLUMNS as u64
}
