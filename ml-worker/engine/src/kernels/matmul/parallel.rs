//! Threads and their buffers.

use std::cell::Cell;

thread_local! {
	/// Buffers that the thread keeps for its next product, by [`Buffer`].
	static KEPT: [Cell<Vec<f32>>; 6] = const { [const { Cell::new(Vec::new()) }; 6] };
}

/// Bytes of a cache line, to which buffers are aligned.
const LINE: usize = 64;

/// Elements of the largest buffer that is kept: one mebibyte.
const KEEP: usize = 1 << 18;

/// What a buffer is for: a thread keeps one of each.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum Buffer {
	/// A block of the right operand.
	Panels,
	/// A strip of the left operand.
	Strip,
	/// Many strips of the left operand.
	Strips,
	/// The transpose of a result.
	Turned,
	/// Planes with their padding.
	Planes,
	/// Products that are added to planes, and these.
	Products,
}

/// Runs `f` with a buffer of `len` elements that begins at a cache line. The values of the elements
/// are not defined.
pub(in super::super) fn with_buffer<R>(
	buffer: Buffer,
	len: usize,
	f: impl FnOnce(&mut [f32]) -> R,
) -> R {
	// Taken, so that a product that this thread meets while it waits finds none and makes
	// its own.
	let mut kept = KEPT.with(|kept| kept[buffer as usize].take());
	let most = len + LINE / size_of::<f32>();
	if kept.len() < most {
		kept.resize(most, 0.0);
	}
	let start = kept.as_ptr().align_offset(LINE).min(most - len);
	let result = f(&mut kept[start..start + len]);
	if kept.len() <= KEEP {
		KEPT.with(|place| place[buffer as usize].set(kept));
	}
	result
}

/// Runs `f` on one of rayon's threads, or on this one if it is one of them. Only these need not
/// wait for a helper that has not begun.
pub(in super::super) fn in_pool(f: impl FnOnce() + Send) {
	match rayon::current_thread_index() {
		Some(_) => f(),
		None => rayon::scope(|_| f()),
	}
}

/// Runs `work` on this thread and on `threads - 1` of rayon's beside it, and waits for all that
/// have begun. Each call must take tasks from a common source until none is left, so that a thread
/// that wakes late finds nothing to do.
pub(in super::super) fn on_threads(threads: usize, work: impl Fn() + Sync) {
	if threads <= 1 {
		return work();
	}
	rayon::in_place_scope(|scope| {
		for _ in 1..threads {
			scope.spawn(|_| work());
		}
		work();
	});
}
