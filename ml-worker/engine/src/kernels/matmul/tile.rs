//! Tiles of a product: as many rows and columns of the result as fit the vector registers, over
//! one block of `k`, and the next tiles to their right.
//!
//! [`tiles`] is the one loop of multiply-adds, written over [`Vector`]; the modules of the
//! instruction sets say what a vector is and how many rows a tile has. [`Micro`] is what
//! the rest of the product sees: safe calls, every bound checked on entry.

#[cfg(target_arch = "aarch64")]
use super::neon;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use super::{scalar, Isa};

/// Rows of `B` that are asked for ahead of their use: the packed panels come from the second
/// level cache.
const PREFETCH_ROWS: usize = 8;

/// Rows that are asked for ahead of their copy.
const PREFETCH_COPY: usize = 2;

/// Terms from which on the result is asked for before a tile begins.
const FAR: usize = 64;

/// `body` for each row `r` below `R`, written out: sums stay in registers only where every
/// index is a constant, and the compiler unrolls loops of this size only sometimes.
macro_rules! unrolled {
	($r:ident < $rows:ident => $body:block) => {
		unrolled!($r $rows $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13)
	};
	($r:ident $rows:ident $body:block $($row:literal)*) => {
		$(if $row < $rows {
			let $r: usize = $row;
			$body
		})*
	};
}

/// Operands and place of tiles side by side.
#[derive(Debug)]
pub(in super::super) struct Tiles<'a> {
	/// Left operand: row `r` has its element `p` at `r a_row + p a_column`. One of the two
	/// strides is 1.
	pub a: &'a [f32],
	/// See `a`.
	pub a_row: usize,
	/// See `a`.
	pub a_column: usize,
	/// Right operand: column `j` of tile `t` has its element `p` at `t b_tile + p b_row + j`.
	/// Every row can be read up to the next whole vector.
	pub b: &'a [f32],
	/// See `b`.
	pub b_row: usize,
	/// See `b`.
	pub b_tile: usize,
	/// Terms, at least one.
	pub k: usize,
	/// Tiles, at least one.
	pub count: usize,
	/// Rows of the result, from 1 to [`Micro::rows`].
	pub rows: usize,
	/// Columns of a tile, from 1 to [`Micro::columns`]; exactly that many where there are several
	/// tiles.
	pub columns: usize,
	/// The result: element `(r, j)` of tile `t` is at `r c_row + t columns + j`.
	pub c: &'a mut [f32],
	/// See `c`.
	pub c_row: usize,
	/// Whether the sums are added to what is in `c`, or replace it.
	pub add: bool,
}

/// A register of binary32 lanes.
///
/// # Safety
/// The methods need the instruction set of the implementation, and pointers to as many
/// elements as they read or write.
pub(super) trait Vector: Copy {
	/// Elements.
	const LANES: usize;
	/// +0 in all lanes.
	unsafe fn zero() -> Self;
	/// `x` in all lanes.
	unsafe fn splat(x: f32) -> Self;
	/// The elements from `from` on.
	unsafe fn load(from: *const f32) -> Self;
	/// Writes the elements from `to` on.
	unsafe fn store(self, to: *mut f32);
	/// The first `count` elements, fewer than all; other lanes are not defined.
	unsafe fn load_first(from: *const f32, count: usize) -> Self;
	/// Writes the first `count` elements, fewer than all.
	unsafe fn store_first(self, to: *mut f32, count: usize);
	/// `a b + self`, rounded once.
	unsafe fn fma(self, a: Self, b: Self) -> Self;
	/// `self + other`.
	unsafe fn add(self, other: Self) -> Self;
	/// Asks for the line at `from`, which need not be a valid address.
	#[inline(always)]
	fn prefetch(_from: *const f32) {}
	/// Asks for it to come into the second level cache.
	#[inline(always)]
	fn prefetch_near(_from: *const f32) {}
}

/// Computes tiles of exactly `R` rows and `W` vectors. With `STREAMS`, `a_column` is 1, and the
/// rows of `a` are read as `R` streams; without it, `a_row` is 1.
///
/// # Panics
/// Panics if the tiles are not of this size, or if a slice is too short for them.
///
/// # Safety
/// The instruction set of `V` must be there.
#[inline(always)]
pub(super) unsafe fn tiles<V: Vector, const R: usize, const W: usize, const STREAMS: bool>(
	tiles: Tiles<'_>,
) {
	let Tiles { a, a_row, a_column, b, b_row, b_tile, k, count, rows, columns, c, c_row, add } =
		tiles;
	assert!(rows == R && columns.div_ceil(V::LANES) == W && k > 0 && count > 0);
	assert!(count == 1 || columns == W * V::LANES);
	assert!(if STREAMS { a_column == 1 } else { a_row == 1 });
	assert!((R - 1) * a_row + (k - 1) * a_column < a.len());
	assert!((count - 1) * b_tile + (k - 1) * b_row + W * V::LANES <= b.len());
	assert!((R - 1) * c_row + count * columns <= c.len());
	let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
	// Streams are addressed in threes from one pointer, to need few registers.
	let (next, second) = (a_row, 2 * a_row);
	let ahead = PREFETCH_ROWS * b_row;
	let last = columns - (W - 1) * V::LANES;
	let whole = if last == V::LANES { W } else { W - 1 };
	for t in 0..count {
		// SAFETY: by the assertions above, every element that is read of `a` and `b` and written of
		// `c` is in its slice. Pointers that pass the end after the last step are made by wrapping
		// arithmetic and not read; what is prefetched need not exist.
		unsafe {
			let (mut pa, mut pb, pc) = (a, b.add(t * b_tile), c.add(t * columns));
			let mut streams = [a; 5];
			for (i, stream) in streams.iter_mut().enumerate() {
				*stream = a.wrapping_add(3 * i * a_row);
			}
			if k >= FAR {
				// The result is not touched before the end of the loop.
				unrolled!(r < R => {
					V::prefetch_near(pc.wrapping_add(r * c_row));
					V::prefetch_near(pc.wrapping_add(r * c_row + columns - 1));
				});
			}
			let mut sums = [[V::zero(); W]; R];
			for _ in 0..k {
				let mut columns = [V::zero(); W];
				for (w, column) in columns.iter_mut().enumerate() {
					*column = V::load(pb.add(w * V::LANES));
					// Once for each cache line.
					if w * V::LANES % 16 == 0 {
						V::prefetch(pb.wrapping_add(ahead).wrapping_add(w * V::LANES));
					}
				}
				unrolled!(r < R => {
					let x = match (STREAMS, r % 3) {
						(false, _) => *pa.add(r),
						(true, 0) => *streams[r / 3],
						(true, 1) => *streams[r / 3].add(next),
						(true, _) => *streams[r / 3].add(second),
					};
					let x = V::splat(x);
					for w in 0..W {
						sums[r][w] = sums[r][w].fma(x, columns[w]);
					}
				});
				if STREAMS {
					for stream in &mut streams {
						*stream = stream.wrapping_add(1);
					}
				} else {
					pa = pa.wrapping_add(a_column);
				}
				pb = pb.wrapping_add(b_row);
			}
			unrolled!(r < R => {
				let row = pc.add(r * c_row);
				for (w, sum) in sums[r].into_iter().enumerate() {
					let to = row.add(w * V::LANES);
					match (w < whole, add) {
						(true, false) => sum.store(to),
						(true, true) => V::load(to).add(sum).store(to),
						(false, false) => sum.store_first(to, last),
						(false, true) => V::load_first(to, last).add(sum).store_first(to, last),
					}
				}
			});
		}
	}
}

/// Copies `k` rows of `panels` times `W` vectors, `stride` elements apart, panel by panel.
///
/// # Panics
/// Panics if a slice is too short.
///
/// # Safety
/// The instruction set of `V` must be there.
#[inline(always)]
pub(super) unsafe fn copy<V: Vector, const W: usize>(
	from: &[f32],
	stride: usize,
	[k, panels]: [usize; 2],
	to: &mut [f32],
) {
	let width = W * V::LANES;
	let panel = k * width;
	assert!(k > 0 && panels > 0);
	assert!((k - 1) * stride + panels * width <= from.len() && panels * panel <= to.len());
	let (from, to) = (from.as_ptr(), to.as_mut_ptr());
	let ahead = PREFETCH_COPY * stride;
	for p in 0..k {
		let (mut row, mut place) = (from.wrapping_add(p * stride), to.wrapping_add(p * width));
		for _ in 0..panels {
			// SAFETY: every vector is in its slice by the assertions above; what is prefetched need
			// not be, and the pointers after the last panel are not used.
			unsafe {
				for w in 0..W {
					if w * V::LANES % 16 == 0 {
						V::prefetch(row.wrapping_add(ahead).wrapping_add(w * V::LANES));
					}
					V::load(row.add(w * V::LANES)).store(place.add(w * V::LANES));
				}
			}
			(row, place) = (row.wrapping_add(width), place.wrapping_add(panel));
		}
	}
}

/// Fused multiply-adds of [`chains`] in one turn, in vectors: enough chains that none waits
/// for the one before it.
const CHAINS: usize = 14;

/// `turns` turns of multiply-adds between registers only: what the processor can do at most.
/// Returns the number of floating-point operations.
///
/// # Safety
/// The instruction set of `V` must be there.
#[inline(always)]
pub(super) unsafe fn chains<V: Vector>(turns: u64) -> u64 {
	// SAFETY: the caller's.
	unsafe {
		let (x, y) = (std::hint::black_box(0.999f32), std::hint::black_box(1e-3f32));
		let (x, y) = (V::splat(x), V::splat(y));
		let mut sums = [y; CHAINS];
		for _ in 0..turns {
			for sum in &mut sums {
				// y + sum * x, with `sum` as a factor: each waits for the one before it.
				*sum = y.fma(*sum, x);
			}
		}
		let mut total = V::zero();
		for sum in sums {
			total = total.add(sum);
		}
		let mut out = [0.0f32; 16];
		total.store(out.as_mut_ptr());
		std::hint::black_box(out);
		2 * turns * (CHAINS * V::LANES) as u64
	}
}

/// An instruction set that this machine was found to support.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Micro(Isa);

impl Micro {
	/// # Panics
	/// Panics if this machine cannot run `isa`.
	pub fn new(isa: Isa) -> Self {
		assert!(isa.is_supported(), "this machine cannot run the {isa} kernel");
		Self(isa)
	}

	/// Returns the most rows of a tile.
	pub fn rows(self) -> usize {
		match self.0 {
			Isa::Scalar => scalar::ROWS,
			#[cfg(target_arch = "x86_64")]
			Isa::Avx2 => avx2::ROWS,
			#[cfg(target_arch = "x86_64")]
			Isa::Avx512 => avx512::ROWS,
			#[cfg(target_arch = "aarch64")]
			Isa::Neon => neon::ROWS,
		}
	}

	/// Returns the most columns of a tile, which are the columns of a packed panel.
	pub fn columns(self) -> usize {
		match self.0 {
			Isa::Scalar => scalar::COLUMNS,
			#[cfg(target_arch = "x86_64")]
			Isa::Avx2 => avx2::COLUMNS,
			#[cfg(target_arch = "x86_64")]
			Isa::Avx512 => avx512::COLUMNS,
			#[cfg(target_arch = "aarch64")]
			Isa::Neon => neon::COLUMNS,
		}
	}

	/// Returns the number of columns that are computed together: tiles read `b` in multiples of it.
	pub fn lanes(self) -> usize {
		match self.0 {
			Isa::Scalar => 1,
			#[cfg(target_arch = "x86_64")]
			Isa::Avx2 => avx2::LANES,
			#[cfg(target_arch = "x86_64")]
			Isa::Avx512 => avx512::LANES,
			#[cfg(target_arch = "aarch64")]
			Isa::Neon => neon::LANES,
		}
	}

	/// Returns `columns`, rounded up to whole vectors.
	pub fn padded(self, columns: usize) -> usize {
		let lanes = self.lanes();
		columns.div_ceil(lanes) * lanes
	}

	/// Copies `k` rows of `panels` times [`Micro::columns`], `stride` elements apart, into
	/// panels that follow each other.
	///
	/// # Panics
	/// Panics if a slice is too short.
	pub fn copy(self, from: &[f32], stride: usize, [k, panels]: [usize; 2], to: &mut [f32]) {
		match self.0 {
			// SAFETY: `new` has found the instruction set.
			#[cfg(target_arch = "x86_64")]
			Isa::Avx2 => unsafe { avx2::copy(from, stride, [k, panels], to) },
			// SAFETY: `new` has found the instruction set.
			#[cfg(target_arch = "x86_64")]
			Isa::Avx512 => unsafe { avx512::copy(from, stride, [k, panels], to) },
			_ => scalar::copy(from, stride, [k, panels], to, self.columns()),
		}
	}

	/// Computes tiles.
	///
	/// # Panics
	/// Panics if they are larger than a tile can be, or if a slice is too short for them.
	#[inline]
	pub fn tiles(self, tiles: Tiles<'_>) {
		match self.0 {
			Isa::Scalar => scalar::tiles(tiles),
			// SAFETY: `new` has found the instruction set.
			#[cfg(target_arch = "x86_64")]
			Isa::Avx2 => unsafe { avx2::tiles(tiles) },
			// SAFETY: `new` has found the instruction set.
			#[cfg(target_arch = "x86_64")]
			Isa::Avx512 => unsafe { avx512::tiles(tiles) },
			#[cfg(target_arch = "aarch64")]
			Isa::Neon => neon::tiles(tiles),
		}
	}

	/// `out[p stride + r] = rows[r][p]` for the eight rows and all `p`, in ascending `p`.
	///
	/// # Panics
	/// Panics if rows differ in length, or `out` is too short.
	#[inline]
	pub fn interleave(self, rows: [&[f32]; 8], out: &mut [f32], stride: usize) {
		match self.0 {
			// SAFETY: `new` has found the instruction set; the AVX-512 tiles need AVX2 too.
			#[cfg(target_arch = "x86_64")]
			Isa::Avx2 | Isa::Avx512 => unsafe { avx2::interleave(rows, out, stride) },
			_ => scalar::interleave(rows, out, stride),
		}
	}

	/// Multiply-adds between registers, `turns` times a fixed number; returns the number of
	/// floating-point operations.
	pub fn chains(self, turns: u64) -> u64 {
		match self.0 {
			Isa::Scalar => scalar::chains(turns),
			// SAFETY: `new` has found the instruction set.
			#[cfg(target_arch = "x86_64")]
			Isa::Avx2 => unsafe { avx2::chains(turns) },
			// SAFETY: `new` has found the instruction set.
			#[cfg(target_arch = "x86_64")]
			Isa::Avx512 => unsafe { avx512::chains(turns) },
			#[cfg(target_arch = "aarch64")]
			Isa::Neon => neon::chains(turns),
		}
	}
}
