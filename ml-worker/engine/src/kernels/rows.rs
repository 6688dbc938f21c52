//! Rows shared out to threads.

use super::PARALLEL_FROM;
use rayon::prelude::*;

/// Chunks of the fewest rows that are worth threads.
const CHUNKS: usize = 8;

/// How many times as long as an addition an element takes where there is an exponential, or a
/// division, in it; see [`by_rows`].
pub(super) const LONG: usize = 8;

/// Runs `run` on ranges of whole rows of `out`, each with the number of its first row: all at once,
/// or on threads where that is worth it. An element takes about as long as `work` additions.
pub(super) fn by_rows(
	out: &mut [f32],
	cols: usize,
	work: usize,
	run: impl Fn(usize, &mut [f32]) + Sync,
) {
	if out.is_empty() || cols == 0 {
		return;
	}
	let from = PARALLEL_FROM / work;
	if out.len() < from {
		return run(0, out);
	}
	let rows = (from / CHUNKS / cols).max(1);
	out.par_chunks_mut(rows * cols).enumerate().for_each(|(index, out)| run(index * rows, out));
}

/// Returns the rows of `x` at the places of the rows `out`, the first of which is row `first`.
pub(super) fn part<'a>(x: &'a [f32], first: usize, cols: usize, out: &[f32]) -> &'a [f32] {
	&x[first * cols..][..out.len()]
}
