//! Copies of operands in the order in which tiles read them.

use super::{tile::Micro, View};
use std::ops::Range;

/// Terms that are transposed together, so that what is written stays in the cache.
const TERMS: usize = 64;

/// Elements of a cache line.
const LINE: usize = 16;

/// Elements that the sets of a first level cache hold once: 64 lines.
const SETS: usize = 64 * LINE;

/// Terms `terms` of the columns `columns` of `b`, panel by panel of [`Micro::columns`], each term
/// by term: element `(p, j)` of a panel goes to its place `p width + j`, where `width` is the
/// number of its columns rounded up to the instruction set's lanes. What comes after the last
/// column is not defined.
pub(in super::super) fn panels(
	micro: Micro,
	b: View<'_>,
	terms: Range<usize>,
	columns: Range<usize>,
	out: &mut [f32],
) {
	let (len, widest) = (terms.len(), micro.columns());
	if b.column_stride != 1 {
		// The columns of `b` are the rows of its transpose.
		for (first, out) in columns.clone().step_by(widest).zip(out.chunks_mut(len * widest)) {
			let some = first..columns.end.min(first + widest);
			let width = micro.padded(some.len());
			interleave(micro, b.transposed(), some, terms.clone(), out, width);
		}
		return;
	}
	let whole = columns.len() / widest;
	let (panels, rest) = out.split_at_mut(whole * len * widest);
	if whole > 0 {
		let from = b.from(terms.start, columns.start).data;
		micro.copy(from, b.row_stride, [len, whole], panels);
	}
	let last = columns.start + whole * widest..columns.end;
	if !last.is_empty() {
		for (p, out) in terms.zip(rest.chunks_exact_mut(micro.padded(last.len()))) {
			out[..last.len()].copy_from_slice(&b.data[p * b.row_stride..][last.clone()]);
		}
	}
}

/// A strip of the left operand: row `r` has its element `p` at `r row + p column`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip<'a> {
	/// Elements.
	pub data: &'a [f32],
	/// Elements from one row to the next; this or `column` is 1.
	pub row: usize,
	/// Elements from one term of a row to the next.
	pub column: usize,
}

/// Elements that [`strip`] needs at most for `rows` of `terms`.
pub(super) fn strip_len(rows: usize, terms: usize) -> usize {
	rows * spaced(terms)
}

/// The distance of rows of `terms` elements in a copy: those of a strip begin in different
/// sets of the first level cache.
fn spaced(terms: usize) -> usize {
	terms.next_multiple_of(LINE) + LINE
}

/// Whether rows that begin `stride` elements apart keep to different sets of the first level
/// cache: all rows of a strip would meet in a few of its sets where they are nearly a multiple
/// of 4 KiB apart.
pub(super) fn is_spaced(stride: usize) -> bool {
	let apart = stride % SETS;
	stride < SETS / 2 || apart.min(SETS - apart) >= LINE
}

/// Copies rows `rows` of the terms `terms` of `a` into `out`, as [`copied`] finds them there.
pub(in super::super) fn strip(
	a: View<'_>,
	rows: Range<usize>,
	terms: Range<usize>,
	out: &mut [f32],
) {
	if a.row_stride == 1 {
		let height = rows.len();
		for (index, p) in terms.enumerate() {
			let from = &a.data[p * a.column_stride + rows.start..];
			let to = &mut out[index * height..];
			// Eight at a time. Some are copied twice, and a strip of fewer rows copies more than
			// there are; the elements that follow are written over them later.
			match height {
				8..=16 => {
					to[..8].copy_from_slice(&from[..8]);
					to[height - 8..height].copy_from_slice(&from[height - 8..height]);
				}
				..8 if from.len() >= 8 && to.len() >= 8 => to[..8].copy_from_slice(&from[..8]),
				_ => to[..height].copy_from_slice(&from[..height]),
			}
		}
		return;
	}
	for (row, out) in rows.zip(out.chunks_exact_mut(spaced(terms.len()))) {
		let start = row * a.row_stride;
		if a.column_stride == 1 {
			out[..terms.len()].copy_from_slice(&a.data[start..][terms.clone()]);
		} else {
			for (p, to) in terms.clone().zip(out) {
				*to = a.data[start + p * a.column_stride];
			}
		}
	}
}

/// What [`strip`] has copied of `rows` rows of `terms` terms of `a`.
pub(super) fn copied<'o>(a: View<'_>, rows: usize, terms: usize, data: &'o [f32]) -> Strip<'o> {
	match a.row_stride {
		1 => Strip { data, row: 1, column: rows },
		_ => Strip { data, row: spaced(terms), column: 1 },
	}
}

/// The columns `columns` of `from`, of `rows` rows, as the rows of `out`.
pub(in super::super) fn transpose(
	micro: Micro,
	from: View<'_>,
	rows: usize,
	columns: Range<usize>,
	out: &mut [f32],
) {
	let whole = rows / 8 * 8;
	for first in (0..whole).step_by(8) {
		interleave(micro, from, first..first + 8, columns.clone(), &mut out[first..], rows);
	}
	for (j, out) in columns.zip(out.chunks_exact_mut(rows)) {
		for (i, to) in out.iter_mut().enumerate().skip(whole) {
			*to = from.data[i * from.row_stride + j * from.column_stride];
		}
	}
}

/// Element `(rows.start + r, terms.start + p)` of `a` to `p stride + r` of `out`, for all `r`
/// and `p`. Fewer than 8 rows may write 8 elements for each `p`, in ascending `p`, where `out`
/// has room for the last of them.
fn interleave(
	micro: Micro,
	a: View<'_>,
	rows: Range<usize>,
	terms: Range<usize>,
	out: &mut [f32],
	stride: usize,
) {
	let height = rows.len();
	let room = height >= 8 || height >= 3 && (terms.len() - 1) * stride + 8 <= out.len();
	if a.column_stride != 1 || !room {
		for (p, out) in terms.zip(out.chunks_mut(stride)) {
			for (r, to) in out[..height].iter_mut().enumerate() {
				*to = a.data[(rows.start + r) * a.row_stride + p * a.column_stride];
			}
		}
		return;
	}
	for start in terms.clone().step_by(TERMS) {
		let some = start..terms.end.min(start + TERMS);
		let offset = (start - terms.start) * stride;
		for eight in (0..height).step_by(8) {
			// The last eight rows overlap the eight before them; where there are none, the
			// last row stands for those that are missing.
			let eight = eight.min(height.saturating_sub(8));
			let row = |r: usize| {
				let row = rows.start + (eight + r).min(height - 1);
				&a.data[row * a.row_stride..][some.clone()]
			};
			let eight_rows = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
			micro.interleave(eight_rows, &mut out[offset + eight..], stride);
		}
	}
}
