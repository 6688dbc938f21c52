//! Tiles of 6 rows and two vectors of 8: 12 of the 16 registers hold sums. The transposition of
//! eight rows is here too; the AVX-512 tiles use it as well.

use super::tile::{self, Tiles, Vector};
use core::arch::x86_64::*;

/// Most rows of a tile.
pub(super) const ROWS: usize = 6;
/// Elements of a vector.
pub(super) const LANES: usize = 8;
/// Most columns of a tile.
pub(super) const COLUMNS: usize = 2 * LANES;

#[derive(Clone, Copy)]
struct Ymm(__m256);

// SAFETY of all methods: the trait's, plain wrappers of instructions. Part vectors go
// through an array of a whole one.
impl Vector for Ymm {
	const LANES: usize = LANES;

	#[inline(always)]
	unsafe fn zero() -> Self {
		unsafe { Self(_mm256_setzero_ps()) }
	}

	#[inline(always)]
	unsafe fn splat(x: f32) -> Self {
		unsafe { Self(_mm256_set1_ps(x)) }
	}

	#[inline(always)]
	unsafe fn load(from: *const f32) -> Self {
		unsafe { Self(_mm256_loadu_ps(from)) }
	}

	#[inline(always)]
	unsafe fn store(self, to: *mut f32) {
		unsafe { _mm256_storeu_ps(to, self.0) }
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
		unsafe { Self(_mm256_fmadd_ps(a.0, b.0, self.0)) }
	}

	#[inline(always)]
	unsafe fn add(self, other: Self) -> Self {
		unsafe { Self(_mm256_add_ps(self.0, other.0)) }
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
#[target_feature(enable = "avx2,fma")]
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

#[target_feature(enable = "avx2,fma")]
fn of_rows<const R: usize>(tiles: Tiles<'_>) {
	// SAFETY: this function has the instruction set.
	unsafe {
		match (tiles.columns > LANES, tiles.a_row == 1) {
			(true, true) => tile::tiles::<Ymm, R, 2, false>(tiles),
			(true, false) => tile::tiles::<Ymm, R, 2, true>(tiles),
			(false, true) => tile::tiles::<Ymm, R, 1, false>(tiles),
			(false, false) => tile::tiles::<Ymm, R, 1, true>(tiles),
		}
	}
}

/// See [`tile::Micro::copy`].
#[target_feature(enable = "avx2")]
pub(super) fn copy(from: &[f32], stride: usize, [k, panels]: [usize; 2], to: &mut [f32]) {
	// SAFETY: this function has the instruction set.
	unsafe { tile::copy::<Ymm, 2>(from, stride, [k, panels], to) }
}

/// See [`tile::Micro::chains`].
#[target_feature(enable = "avx2,fma")]
pub(super) fn chains(turns: u64) -> u64 {
	// SAFETY: this function has the instruction set.
	unsafe { tile::chains::<Ymm>(turns) }
}

/// Four elements from `low` on, then four from `high` on.
///
/// # Safety
/// Four elements must be readable from each of the two pointers on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn pair(low: *const f32, high: *const f32) -> __m256 {
	// SAFETY: the caller's.
	let (low, high) = unsafe { (_mm_loadu_ps(low), _mm_loadu_ps(high)) };
	_mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
}

/// See [`tile::Micro::interleave`].
#[target_feature(enable = "avx2")]
pub(super) fn interleave(rows: [&[f32]; 8], out: &mut [f32], stride: usize) {
	let len = rows[0].len();
	assert!(rows.iter().all(|row| row.len() == len));
	assert!(len == 0 || (len - 1) * stride + 8 <= out.len());
	let whole = len / 4 * 4;
	let from = rows.map(<[f32]>::as_ptr);
	let mut to = out.as_mut_ptr();
	for p in (0..whole).step_by(4) {
		// SAFETY: four elements from `p` on are in every row, and the eight elements from
		// `(p + 3) stride` on are in `out`, by the assertions above. The pointer after the last
		// step is made by wrapping arithmetic and not read.
		unsafe {
			let t0 = pair(from[0].add(p), from[4].add(p));
			let t1 = pair(from[1].add(p), from[5].add(p));
			let t2 = pair(from[2].add(p), from[6].add(p));
			let t3 = pair(from[3].add(p), from[7].add(p));
			let (u0, u1) = (_mm256_unpacklo_ps(t0, t1), _mm256_unpackhi_ps(t0, t1));
			let (u2, u3) = (_mm256_unpacklo_ps(t2, t3), _mm256_unpackhi_ps(t2, t3));
			_mm256_storeu_ps(to, _mm256_shuffle_ps::<0x44>(u0, u2));
			_mm256_storeu_ps(to.add(stride), _mm256_shuffle_ps::<0xEE>(u0, u2));
			_mm256_storeu_ps(to.add(2 * stride), _mm256_shuffle_ps::<0x44>(u1, u3));
			_mm256_storeu_ps(to.add(3 * stride), _mm256_shuffle_ps::<0xEE>(u1, u3));
			to = to.wrapping_add(4 * stride);
		}
	}
	for p in whole..len {
		for (to, row) in out[p * stride..].iter_mut().zip(rows) {
			*to = row[p];
		}
	}
}
