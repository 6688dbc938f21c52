//! Matrix products.
//!
//! The result is cut into tiles that fit the vector registers. A tile accumulates one block
//! of 512 terms in registers, in ascending order, and is then stored (first block) or added
//! to the result (later ones): what `strict::dot` defines. Everything else here decides only
//! *which* tile is computed when, where, and from which copy of the operands, so it can
//! change no bit:
//!
//! - the result is cut into strips of rows, as high as a tile, and these are shared out to
//!   threads;
//! - a block of the right operand is packed into panels, as wide as a tile, of a size that stays in
//!   the second level cache; a strip of the left operand is packed where many panels meet it. What
//!   only few tiles read is read where it lies;
//! - where packing the left operand in place of the right one is cheaper, the transpose of
//!   the result is computed, from the transposed operands, and turned.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
pub(super) mod pack;
pub(super) mod parallel;
mod scalar;
#[cfg(test)]
mod tests;
pub(super) mod tile;

use super::{Arithmetic, Isa, Soft};
use pack::Strip;
use parallel::{in_pool, on_threads, with_buffer, Buffer};
use std::{
	ops::Range,
	sync::{Mutex, PoisonError},
};
use tile::{Micro, Tiles};
use trainyard_strict::DOT_BLOCK;

/// Multiply-adds below which a second thread costs more than it brings.
const PARALLEL_FROM: usize = 1 << 20;

/// Elements below which a second thread does not help to pack.
const PARALLEL_PACKING_FROM: usize = 1 << 16;

/// Rows for each thread from which on it makes its own copies. Each element that it copies is then
/// used that many times.
const OWN_ROWS: usize = 64;

/// Elements of a block of the right operand: half a mebibyte, half of the second level
/// cache of most processors.
const BLOCK: usize = 1 << 17;

/// Rows of the left operand that are copied at a time.
const COPIED_ROWS: usize = 2_048;

/// Up to this many panels read a left operand that is stored transposed where it lies.
const DIRECT_PANELS: usize = 8;

/// Up to this many strips read the right operand where it lies; twice as many where it has few
/// terms.
const DIRECT_STRIPS: usize = 11;

/// An operand as stored without gaps.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
	/// Elements, row major.
	pub data: &'a [f32],
	/// Whether it is stored transposed.
	pub transposed: bool,
}

impl<'a> Operand<'a> {
	/// The same as a view of `rows x columns`.
	fn view(self, rows: usize, columns: usize) -> View<'a> {
		let (row_stride, column_stride) = if self.transposed { (1, rows) } else { (columns, 1) };
		View { data: self.data, row_stride, column_stride }
	}
}

/// A matrix in memory: element `(i, j)` is `data[i row_stride + j column_stride]`. Strides
/// of any size will do, 0 (one row or column that stands for all) included.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
	/// Elements, from the first of the matrix on.
	pub data: &'a [f32],
	/// Elements from one row to the next.
	pub row_stride: usize,
	/// Elements from one column to the next.
	pub column_stride: usize,
}

impl<'a> View<'a> {
	fn transposed(self) -> Self {
		Self { row_stride: self.column_stride, column_stride: self.row_stride, ..self }
	}

	/// Without the rows and columns before `(i, j)`.
	fn from(self, i: usize, j: usize) -> Self {
		let start = i * self.row_stride + j * self.column_stride;
		Self { data: &self.data[start.min(self.data.len())..], ..self }
	}

	/// Whether `data` holds all of `rows x columns`.
	fn holds(&self, rows: usize, columns: usize) -> bool {
		rows == 0
			|| columns == 0
			|| (rows - 1)
				.checked_mul(self.row_stride)
				.zip((columns - 1).checked_mul(self.column_stride))
				.and_then(|(i, j)| i.checked_add(j))
				.is_some_and(|last| last < self.data.len())
	}
}

/// Matrices that follow each other in memory.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
	/// The first matrix; its `data` holds the others too.
	pub first: View<'a>,
	/// Elements from the start of one matrix to the next; 0 where one stands for all.
	pub stride: usize,
}

impl<'a> Batch<'a> {
	/// Matrix `index`, of `rows x columns`.
	fn matrix(self, index: usize, [rows, columns]: [usize; 2]) -> View<'a> {
		let data = self.first.data.get(index * self.stride..).unwrap_or_default();
		let view = View { data, ..self.first };
		assert!(view.holds(rows, columns), "matrix {index} of a batch is outside of its data");
		view
	}
}

/// Computes `out[i, j] = dot over p of a[i, p] b[p, j]`, with `out` of `m x n`, row major, and dot
/// products of length `k`, each in its defined order (`docs/strict-arithmetic.md`, section 2). It
/// runs on rayon's current threads where that is worth it; their number changes no bit.
///
/// # Panics
/// Panics if a slice is not as long as its shape says, or if this machine cannot run `isa`.
pub fn matmul(isa: Isa, a: Operand<'_>, b: Operand<'_>, [m, n, k]: [usize; 3], out: &mut [f32]) {
	assert!(a.data.len() == m * k && b.data.len() == k * n);
	matmul_views(isa, a.view(m, k), b.view(k, n), [m, n, k], out);
}

/// Computes [`matmul`] of operands of any layout.
///
/// # Panics
/// Panics if a slice is shorter than its shape and strides say, if `out` is not `m n` long, or if
/// this machine cannot run `isa`.
pub fn matmul_views(isa: Isa, a: View<'_>, b: View<'_>, [m, n, k]: [usize; 3], out: &mut [f32]) {
	let micro = Micro::new(isa);
	assert!(a.holds(m, k), "the left operand is shorter than {m} x {k} with its strides");
	assert!(b.holds(k, n), "the right operand is shorter than {k} x {n} with its strides");
	assert_eq!(out.len(), m * n, "the result has {m} x {n} elements");
	match threads_for(m * n * k) {
		1 => product(micro, a, b, [m, n, k], out, 1),
		threads => in_pool(|| product(micro, a, b, [m, n, k], out, threads)),
	}
}

/// Computes [`matmul`] of each of `batch` pairs of matrices, into results that follow each other.
///
/// # Panics
/// Panics as [`matmul_views`] does, for any of the matrices.
pub fn matmul_batched(
	isa: Isa,
	a: Batch<'_>,
	b: Batch<'_>,
	batch: usize,
	[m, n, k]: [usize; 3],
	out: &mut [f32],
) {
	assert_eq!(out.len(), batch * m * n, "the result has {batch} x {m} x {n} elements");
	if b.stride == 0 && a.stride == m * a.first.row_stride {
		// One right operand: the left ones are the rows of a single matrix.
		return matmul_views(isa, a.first, b.first, [batch * m, n, k], out);
	}
	if out.is_empty() {
		return;
	}
	let micro = Micro::new(isa);
	let one = |(index, out): (usize, &mut [f32]), threads| {
		let (a, b) = (a.matrix(index, [m, k]), b.matrix(index, [k, n]));
		product(micro, a, b, [m, n, k], out, threads);
	};
	let all = out.chunks_exact_mut(m * n).enumerate();
	match threads_for(batch * m * n * k) {
		1 => all.for_each(|task| one(task, 1)),
		threads if batch < threads => in_pool(|| all.for_each(|task| one(task, threads))),
		threads => in_pool(|| {
			let tasks = Mutex::new(all);
			on_threads(threads, || {
				while let Some(task) = next(&tasks) {
					one(task, 1);
				}
			});
		}),
	}
}

/// Runs `turns` times a fixed number of multiply-adds between registers, and returns the number of
/// floating-point operations. It is the most that this thread can do with `isa`, and serves
/// measurements.
///
/// # Panics
/// Panics if this machine cannot run `isa`.
pub fn multiply_adds(isa: Isa, turns: u64) -> u64 {
	Micro::new(isa).chains(turns)
}

/// Returns how many threads are worth it for that many multiply-adds.
pub(super) fn threads_for(work: usize) -> usize {
	if work < PARALLEL_FROM {
		1
	} else {
		rayon::current_num_threads()
	}
}

/// The next task of a source that threads share.
pub(super) fn next<T>(tasks: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
	tasks.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// The product of operands that have been checked.
fn product(
	micro: Micro,
	a: View<'_>,
	b: View<'_>,
	[m, n, k]: [usize; 3],
	out: &mut [f32],
	threads: usize,
) {
	if m == 0 || n == 0 {
		return;
	}
	if k == 0 {
		return out.fill(0.0);
	}
	let turned = cost(micro, b.transposed(), a.transposed(), [n, m, k]) + m * n / 2;
	if turned < cost(micro, a, b, [m, n, k]) {
		by_turning(micro, a, b, [m, n, k], out, threads);
	} else {
		shared(micro, a, b, [m, n, k], out, threads);
	}
}

/// The product by way of its transpose, on `threads` threads: each computes and turns ranges
/// of rows by itself, where these fill vectors.
fn by_turning(
	micro: Micro,
	a: View<'_>,
	b: View<'_>,
	[m, n, k]: [usize; 3],
	out: &mut [f32],
	threads: usize,
) {
	if threads > 1 && m < micro.lanes() * threads {
		return with_buffer(Buffer::Turned, m * n, |turned| {
			shared(micro, b.transposed(), a.transposed(), [n, m, k], turned, threads);
			turn(micro, turned, [m, n], out, threads);
		});
	}
	let height = micro.padded(m.div_ceil(threads));
	let tasks = Mutex::new(out.chunks_mut(height * n).zip((0..m).step_by(height)));
	on_threads(threads, || {
		while let Some((out, first)) = next(&tasks) {
			let (rows, a) = (out.len() / n, a.from(first, 0).transposed());
			with_buffer(Buffer::Turned, out.len(), |turned| {
				strips(micro, b.transposed(), a, [n, rows, k], turned, 1);
				turn(micro, turned, [rows, n], out, 1);
			});
		}
	});
}

/// Writes the transpose of `from`, of `n x m`, into `out`.
fn turn(micro: Micro, from: &[f32], [m, n]: [usize; 2], out: &mut [f32], threads: usize) {
	let threads = if m * n < PARALLEL_PACKING_FROM { 1 } else { threads };
	let rows = m.div_ceil(threads);
	let from = View { data: from, row_stride: m, column_stride: 1 };
	let tasks = Mutex::new(out.chunks_mut(rows * n).zip((0..m).step_by(rows)));
	on_threads(threads, || {
		while let Some((out, first)) = next(&tasks) {
			pack::transpose(micro, from, n, first..first + out.len() / n, out);
		}
	});
}

/// Roughly the cycles of a product: 16 multiply-adds in one, those of wasted lanes included,
/// and the copies of both operands.
fn cost(micro: Micro, a: View<'_>, b: View<'_>, [m, n, k]: [usize; 3]) -> usize {
	let left = match (a.row_stride, a.column_stride) {
		_ if is_direct(micro, a, n) => 0,
		(1, stride) if pack::is_spaced(stride) => m * k / 3,
		(_, 1) => m * k / 8,
		_ => 2 * m * k,
	};
	let right = match (b.column_stride, b.row_stride) {
		(1, _) => k * n / 8,
		(_, 1) => k * n / 3,
		_ => 2 * k * n,
	};
	m * micro.padded(n) * k / 16 + left + right
}

/// Whether tiles read the left operand where it lies, for a block of `n` columns.
fn is_direct(micro: Micro, a: View<'_>, n: usize) -> bool {
	match (a.row_stride, a.column_stride) {
		(1, stride) => pack::is_spaced(stride) && n <= DIRECT_PANELS * micro.columns(),
		(stride, 1) => pack::is_spaced(stride),
		_ => false,
	}
}

/// The product on `threads` threads.
///
/// Where there are rows enough, each thread computes ranges of rows by itself: what it copies
/// is then in its own cache, and it waits for no other thread. Where the rows are few, these
/// are ranges of columns. In between, threads share the copies.
fn shared(
	micro: Micro,
	a: View<'_>,
	b: View<'_>,
	[m, n, k]: [usize; 3],
	out: &mut [f32],
	threads: usize,
) {
	if threads == 1 {
		return strips(micro, a, b, [m, n, k], out, 1);
	}
	if m < 4 * threads && n >= 2 * threads * micro.columns() {
		return by_columns(micro, a, b, [m, n, k], out, threads);
	}
	let small = n * k.min(DOT_BLOCK) <= PARALLEL_PACKING_FROM;
	if m < OWN_ROWS * threads && !small {
		return strips(micro, a, b, [m, n, k], out, threads);
	}
	// More ranges than threads where they stay high, in case a thread is held up.
	let ranges = threads * (m / (4 * OWN_ROWS * threads)).clamp(1, 4);
	let height = m.div_ceil(ranges).max(1);
	let tasks = Mutex::new(out.chunks_mut(height * n).zip((0..m).step_by(height)));
	on_threads(threads, || {
		while let Some((out, first)) = next(&tasks) {
			strips(micro, a.from(first, 0), b, [out.len() / n, n, k], out, 1);
		}
	});
}

/// The product by ranges of columns, one for each thread.
fn by_columns(
	micro: Micro,
	a: View<'_>,
	b: View<'_>,
	[m, n, k]: [usize; 3],
	out: &mut [f32],
	threads: usize,
) {
	let width = n.div_ceil(threads).next_multiple_of(micro.columns());
	let mut parts = vec![0.0; m * n];
	let tasks = Mutex::new(parts.chunks_mut(m * width).zip((0..n).step_by(width)));
	on_threads(threads, || {
		while let Some((part, first)) = next(&tasks) {
			let columns = part.len() / m;
			strips(micro, a, b.from(0, first), [m, columns, k], part, 1);
		}
	});
	for (part, first) in parts.chunks(m * width).zip((0..n).step_by(width)) {
		let columns = part.len() / m;
		for (row, from) in out.chunks_exact_mut(n).zip(part.chunks_exact(columns)) {
			row[first..first + columns].copy_from_slice(from);
		}
	}
}

/// The heights of the strips of `m` rows: as equal as can be, none higher than a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heights {
	count: usize,
	height: usize,
	/// This many strips, the first ones, have one row more.
	higher: usize,
}

impl Heights {
	pub(super) fn new(micro: Micro, m: usize, threads: usize) -> Self {
		// The same number for each thread.
		let count = m.div_ceil(micro.rows()).next_multiple_of(threads).min(m);
		Self { count, height: m / count, higher: m % count }
	}

	/// The rows of each strip.
	pub(super) fn rows(self) -> impl Iterator<Item = Range<usize>> {
		(0..self.count).map(move |index| {
			let start = index * self.height + index.min(self.higher);
			start..start + self.height + usize::from(index < self.higher)
		})
	}

	/// The strips of a result with rows of `n`: each one's rows and its elements.
	fn split(
		self,
		n: usize,
		mut out: &mut [f32],
	) -> impl Iterator<Item = (Range<usize>, &mut [f32])> {
		self.rows().map(move |rows| {
			let (strip, rest) = std::mem::take(&mut out).split_at_mut(rows.len() * n);
			out = rest;
			(rows, strip)
		})
	}
}

/// The product by strips of rows, on `threads` threads, one block of the right operand after
/// the other.
fn strips(
	micro: Micro,
	a: View<'_>,
	b: View<'_>,
	[m, n, k]: [usize; 3],
	out: &mut [f32],
	threads: usize,
) {
	let panel = micro.columns();
	let longest = k.min(DOT_BLOCK);
	let block = (BLOCK / longest).next_multiple_of(panel).min(n.next_multiple_of(panel));
	// A strip that several blocks meet is copied once, not before each.
	let ahead = block < n && !is_direct(micro, a, block);
	if ahead && m > COPIED_ROWS {
		for (out, first) in out.chunks_mut(COPIED_ROWS * n).zip((0..m).step_by(COPIED_ROWS)) {
			let m = out.len() / n;
			strips(micro, a.from(first, 0), b, [m, n, k], out, threads);
		}
		return;
	}
	let heights = Heights::new(micro, m, threads);
	let most = match pack::is_spaced(b.row_stride) {
		true if k <= DOT_BLOCK / 4 && pack::is_spaced(8 * b.row_stride) => 2 * DIRECT_STRIPS,
		true => DIRECT_STRIPS,
		false => 2,
	};
	let direct = b.column_stride == 1 && heights.count <= most;
	let each = pack::strip_len(micro.rows(), longest);
	let kept = if ahead { heights.count * each } else { 0 };
	let own = if ahead { 0 } else { each };
	with_buffer(Buffer::Strips, kept, |kept| {
		with_buffer(Buffer::Panels, block * longest, |panels| {
			for start in (0..k).step_by(DOT_BLOCK) {
				let terms = start..k.min(start + DOT_BLOCK);
				let mut left = Left { micro, a, terms: terms.clone(), kept: None };
				if ahead {
					left.copy(heights, kept, each, threads);
					left.kept = Some((kept, each));
				}
				for first in (0..n).step_by(block) {
					let columns = first..n.min(first + block);
					let right = Right { micro, b, terms: terms.clone(), columns, direct };
					let tasks = Mutex::new(heights.split(n, out).enumerate());
					right.pack(panels, threads);
					on_threads(threads, || {
						with_buffer(Buffer::Strip, own, |own| {
							while let Some((index, (rows, out))) = next(&tasks) {
								let height = rows.len();
								let strip = left.strip(index, rows, right.columns.len(), own);
								right.meet(panels, strip, height, out, n);
							}
						});
					});
				}
			}
		});
	});
}

/// A block of the left operand.
struct Left<'a> {
	micro: Micro,
	a: View<'a>,
	terms: Range<usize>,
	/// Copies of all strips, and the distance of one to the next.
	kept: Option<(&'a [f32], usize)>,
}

impl Left<'_> {
	/// Copies all strips, `each` elements apart.
	fn copy(&self, heights: Heights, to: &mut [f32], each: usize, threads: usize) {
		let tasks = Mutex::new(heights.rows().zip(to.chunks_exact_mut(each)));
		on_threads(threads, || {
			while let Some((rows, to)) = next(&tasks) {
				pack::strip(self.a, rows, self.terms.clone(), to);
			}
		});
	}

	/// Strip `index`, the rows `rows`, for a block of that many columns: from the copies, where it
	/// lies, or copied into `own`.
	fn strip<'s>(
		&'s self,
		index: usize,
		rows: Range<usize>,
		columns: usize,
		own: &'s mut [f32],
	) -> Strip<'s> {
		let (height, len) = (rows.len(), self.terms.len());
		if let Some((kept, each)) = self.kept {
			return pack::copied(self.a, height, len, &kept[index * each..]);
		}
		if is_direct(self.micro, self.a, columns) {
			let View { data, row_stride, column_stride } =
				self.a.from(rows.start, self.terms.start);
			return Strip { data, row: row_stride, column: column_stride };
		}
		pack::strip(self.a, rows, self.terms.clone(), own);
		pack::copied(self.a, height, len, own)
	}
}

/// A block of the right operand.
struct Right<'a> {
	micro: Micro,
	b: View<'a>,
	terms: Range<usize>,
	columns: Range<usize>,
	/// Whether it is read where it lies, except for a last panel that whole vectors would read
	/// past.
	direct: bool,
}

impl Right<'_> {
	/// Copies the panels that are not read where they lie, on threads where they are many.
	fn pack(&self, panels: &mut [f32], threads: usize) {
		let Self { micro, b, ref terms, ref columns, direct } = *self;
		let widest = micro.columns();
		if direct {
			let rest = columns.len() % widest;
			if !self.in_place(rest) {
				let last = columns.end - rest..columns.end;
				let out = &mut panels[(columns.len() - rest) * terms.len()..];
				pack::panels(micro, b, terms.clone(), last, out);
			}
			return;
		}
		let large = terms.len() * columns.len() >= PARALLEL_PACKING_FROM;
		let threads = if large { threads } else { 1 };
		let share = columns.len().div_ceil(widest).div_ceil(threads) * widest;
		let parts = columns.clone().step_by(share).zip(panels.chunks_mut(terms.len() * share));
		let tasks = Mutex::new(parts);
		on_threads(threads, || {
			while let Some((first, out)) = next(&tasks) {
				let some = first..columns.end.min(first + share);
				pack::panels(micro, b, terms.clone(), some, out);
			}
		});
	}

	/// A strip of the left operand, of `rows` rows, against all panels. `out` has as many rows,
	/// of `n` elements.
	fn meet(&self, panels: &[f32], left: Strip<'_>, rows: usize, out: &mut [f32], n: usize) {
		let (k, width) = (self.terms.len(), self.micro.columns());
		let mut run = |first: usize, count: usize, columns: usize, in_place: bool| {
			let (b, b_row, b_tile) = if in_place {
				let b = self.b.from(self.terms.start, self.columns.start + first);
				(b.data, b.row_stride, columns)
			} else {
				let row = self.micro.padded(columns);
				(&panels[first * k..], row, row * k)
			};
			self.micro.tiles(Tiles {
				a: left.data,
				a_row: left.row,
				a_column: left.column,
				b,
				b_row,
				b_tile,
				k,
				count,
				rows,
				columns,
				c: &mut out[self.columns.start + first..],
				c_row: n,
				add: self.terms.start > 0,
			});
		};
		let (count, rest) = (self.columns.len() / width, self.columns.len() % width);
		if count > 0 {
			run(0, count, width, self.direct);
		}
		if rest > 0 {
			run(count * width, 1, rest, self.in_place(rest));
		}
	}

	/// Returns whether a panel of that many columns is read where it lies.
	fn in_place(&self, columns: usize) -> bool {
		self.direct && columns == self.micro.padded(columns)
	}
}
