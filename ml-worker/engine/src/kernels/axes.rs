//! Moving axes.

use super::rows::by_rows;

/// Rows and columns that are transposed together, so that both sides stay in the first level cache.
const TILE: usize = 16;

/// Returns `[outer, a, b, inner]` as `[outer, b, a, inner]`. `outer` follows from the number of
/// elements.
pub fn swap_axes(x: &[f32], a: usize, b: usize, inner: usize) -> Vec<f32> {
	let mut out = vec![0.0; x.len()];
	if a * inner == 0 {
		return out;
	}
	// A row of the result: the elements at one place of the outer axis and of `b`.
	by_rows(&mut out, a * inner, 1, |first, out| match inner {
		1 => swap(x, a, b, first, out),
		8 => swap(arrays::<8>(x), a, b, first, arrays_mut::<8>(out)),
		16 => swap(arrays::<16>(x), a, b, first, arrays_mut::<16>(out)),
		32 => swap(arrays::<32>(x), a, b, first, arrays_mut::<32>(out)),
		64 => swap(arrays::<64>(x), a, b, first, arrays_mut::<64>(out)),
		_ => {
			for (row, out) in (first..).zip(out.chunks_exact_mut(a * inner)) {
				let (block, j) = (row / b, row % b);
				for (i, out) in out.chunks_exact_mut(inner).enumerate() {
					out.copy_from_slice(&x[((block * a + i) * b + j) * inner..][..inner]);
				}
			}
		}
	});
	out
}

fn arrays<const N: usize>(x: &[f32]) -> &[[f32; N]] {
	x.as_chunks().0
}

fn arrays_mut<const N: usize>(x: &mut [f32]) -> &mut [[f32; N]] {
	x.as_chunks_mut().0
}

/// Writes the rows of `a` items of the result from row `first` on.
fn swap<T: Copy>(x: &[T], a: usize, b: usize, first: usize, out: &mut [T]) {
	let mut rows = first;
	let mut out = out;
	while !out.is_empty() {
		// Rows of one block, as many as are transposed together.
		let (block, j) = (rows / b, rows % b);
		let count = TILE.min(b - j).min(out.len() / a);
		let (now, rest) = std::mem::take(&mut out).split_at_mut(count * a);
		let from = &x[block * a * b..][..a * b];
		for start in (0..a).step_by(TILE) {
			for (j, row) in (j..).zip(now.chunks_exact_mut(a)) {
				let row = &mut row[start..a.min(start + TILE)];
				for (out, from) in row.iter_mut().zip(from[start * b + j..].iter().step_by(b)) {
					*out = *from;
				}
			}
		}
		(out, rows) = (rest, rows + count);
	}
}
