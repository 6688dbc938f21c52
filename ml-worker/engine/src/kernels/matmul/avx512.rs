//! Tiles of 14 rows and two vectors of 16: 28 of the 32 registers hold sums.

use super::tile::{self, Tiles, Vector};
use core::arch::x86_64::*;

/// Most rows of a tile.
pub(super) const ROWS: usize = 14;
/// Elements of a vector.
pub(super) const LANES: usize = 16;
/// Most columns of a tile.
pub(super) const COLUMNS: usize = 2 * LANES;

#[derive(Clone, Copy)]
struct Zmm(__m512);

/// The first `count` lanes.
#[inline(always)]
fn first(count: usize) -> __mmask16 {
	((1u32 << count) - 1) as __mmask16
}

// SAFETY of all methods: the trait's, plain wrappers of instructions. Masked loads and
// stores touch no lane outside of the mask.
impl Vector for Zmm {
	const LANES: usize = LANES;

	#[inline(always)]
	unsafe fn zero() -> Self {
		unsafe { Self(_mm512_setzero_ps()) }
	}

	#[inline(always)]
	unsafe fn splat(x: f32) -> Self {
		unsafe { Self(_mm512_set1_ps(x)) }
	}

	#[inline(always)]
	unsafe fn load(from: *const f32) -> Self {
		unsafe { Self(_mm512_loadu_ps(from)) }
	}

	#[inline(always)]
	unsafe fn store(self, to: *mut f32) {
		unsafe { _mm512_storeu_ps(to, self.0) }
	}

	#[inline(always)]
	unsafe fn load_first(from: *const f32, count: usize) -> Self {
		unsafe { Self(_mm512_maskz_loadu_ps(first(count), from)) }
	}

	#[inline(always)]
	unsafe fn store_first(self, to: *mut f32, count: usize) {
		unsafe { _mm512_mask_storeu_ps(to, first(count), self.0) }
	}

	#[inline(always)]
	unsafe fn fma(self, a: Self, b: Self) -> Self {
		unsafe { Self(_mm512_fmadd_ps(a.0, b.0, self.0)) }
	}

	#[inline(always)]
	unsafe fn add(self, other: Self) -> Self {
		unsafe { Self(_mm512_add_ps(self.0, other.0)) }
	}

	#[inline(always)]
	fn prefetch(from: *const f32) {
		// SAFETY: a prefetch of any address is harmless, and SSE is in every x86-64.
		unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
	}

	#[inline(always)]
	fn prefetch_near(from: *const f32) {
		// SAFETY: a prefetch of any address is harmless, and SSE is in every x86-64.
		unsafe { _mm_prefetch::<_MM_HINT_T1>(from.cast()) }
	}
}

/// See [`tile::Micro::tiles`].
#[target_feature(enable = "avx512f")]
pub(super) fn tiles(tiles: Tiles<'_>) {
	macro_rules! by_rows {
		($($rows:literal)*) => {
			match tiles.rows {
				$($rows => of_rows::<$rows>(tiles),)*
				rows => panic!("a tile has from 1 to {ROWS} rows, not {rows}"),
			}
		};
	}
	by_rows!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}

#[target_feature(enable = "avx512f")]
fn of_rows<const R: usize>(tiles: Tiles<'_>) {
	// SAFETY: this function has the instruction set.
	unsafe {
		match (tiles.columns > LANES, tiles.a_row == 1) {
			(true, true) => tile::tiles::<Zmm, R, 2, false>(tiles),
			(true, false) => tile::tiles::<Zmm, R, 2, true>(tiles),
			(false, true) => tile::tiles::<Zmm, R, 1, false>(tiles),
			(false, false) => tile::tiles::<Zmm, R, 1, true>(tiles),
		}
	}
}

/// See [`tile::Micro::copy`].
#[target_feature(enable = "avx512f")]
pub(super) fn copy(from: &[f32], stride: usize, [k, panels]: [usize; 2], to: &mut [f32]) {
	// SAFETY: this function has the instruction set.
	unsafe { tile::copy::<Zmm, 2>(from, stride, [k, panels], to) }
}

/// See [`tile::Micro::chains`].
#[target_feature(enable = "avx512f")]
pub(super) fn chains(turns: u64) -> u64 {
	// SAFETY: this function has the instruction set.
	unsafe { tile::chains::<Zmm>(turns) }
}
