//! Tiles of 6 rows and four vectors of 4: 24 of the 32 registers hold sums.

use super::tile::{self, Tiles, Vector};
use core::arch::aarch64::*;

/// Most rows of a tile.
pub(super) const ROWS: usize = 6;
/// Elements of a vector.
pub(super) const LANES: usize = 4;
/// Most columns of a tile.
pub(super) const COLUMNS: usize = 4 * LANES;

#[derive(Clone, Copy)]
struct Quad(float32x4_t);

// SAFETY of all methods: the trait's, plain wrappers of instructions; NEON is in the baseline
// of aarch64. Part vectors go through an array of a whole one.
impl Vector for Quad {
	const LANES: usize = LANES;

	#[inline(always)]
	unsafe fn zero() -> Self {
		unsafe { Self(vdupq_n_f32(0.0)) }
	}

	#[inline(always)]
	unsafe fn splat(x: f32) -> Self {
		unsafe { Self(vdupq_n_f32(x)) }
	}

	#[inline(always)]
	unsafe fn load(from: *const f32) -> Self {
		unsafe { Self(vld1q_f32(from)) }
	}

	#[inline(always)]
	unsafe fn store(self, to: *mut f32) {
		unsafe { vst1q_f32(to, self.0) }
	}

	#[inline(always)]
	unsafe fn load_first(from: *const f32, count: usize) -> Self {
		let mut whole = [0.0f32; LANES];
		unsafe {
			core::ptr::copy_nonoverlapping(from, whole.as_mut_ptr(), count);
			Self::load(whole.as_ptr())
		}
	}

	#[inline(always)]
	unsafe fn store_first(self, to: *mut f32, count: usize) {
		let mut whole = [0.0f32; LANES];
		unsafe {
			self.store(whole.as_mut_ptr());
			core::ptr::copy_nonoverlapping(whole.as_ptr(), to, count);
		}
	}

	#[inline(always)]
	unsafe fn fma(self, a: Self, b: Self) -> Self {
		unsafe { Self(vfmaq_f32(self.0, a.0, b.0)) }
	}

	#[inline(always)]
	unsafe fn add(self, other: Self) -> Self {
		unsafe { Self(vaddq_f32(self.0, other.0)) }
	}
}

/// See [`tile::Micro::tiles`].
pub(super) fn tiles(tiles: Tiles<'_>) {
	match tiles.rows {
		1 => of_rows::<1>(tiles),
		2 => of_rows::<2>(tiles),
		3 => of_rows::<3>(tiles),
		4 => of_rows::<4>(tiles),
		5 => of_rows::<5>(tiles),
		6 => of_rows::<6>(tiles),
		rows => panic!("a tile has from 1 to {ROWS} rows, not {rows}"),
	}
}

fn of_rows<const R: usize>(tiles: Tiles<'_>) {
	// SAFETY: NEON is in the baseline of aarch64.
	unsafe {
		match (tiles.columns.div_ceil(LANES), tiles.a_row == 1) {
			(1, true) => tile::tiles::<Quad, R, 1, false>(tiles),
			(1, false) => tile::tiles::<Quad, R, 1, true>(tiles),
			(2, true) => tile::tiles::<Quad, R, 2, false>(tiles),
			(2, false) => tile::tiles::<Quad, R, 2, true>(tiles),
			(3, true) => tile::tiles::<Quad, R, 3, false>(tiles),
			(3, false) => tile::tiles::<Quad, R, 3, true>(tiles),
			(_, true) => tile::tiles::<Quad, R, 4, false>(tiles),
			(_, false) => tile::tiles::<Quad, R, 4, true>(tiles),
		}
	}
}

/// See [`tile::Micro::chains`].
pub(super) fn chains(turns: u64) -> u64 {
	// SAFETY: NEON is in the baseline of aarch64.
	unsafe { tile::chains::<Quad>(turns) }
}
