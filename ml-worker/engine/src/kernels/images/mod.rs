//! Convolutions, pooling and channels over `[images, channels, height, width]`.
//!
//! Convolutions are products ([`super::matmul`]) of matrices that are never whole in memory
//! ([`conv`]); the rest are loops over rows ([`pool`], [`channels`]). What each operator
//! computes, in which order, is said at `trainyard_program::ops::OpKind`.

pub mod channels;
pub mod conv;
mod planes;
pub mod pool;
#[cfg(test)]
mod tests;

use super::matmul::{
	next,
	parallel::{in_pool, on_threads},
};
use std::sync::Mutex;

/// Runs `work` on each of `tasks`, on `threads` of rayon's threads.
fn spread<T: Send>(threads: usize, tasks: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
	if threads <= 1 {
		return tasks.for_each(work);
	}
	let tasks = Mutex::new(tasks);
	let all = || {
		while let Some(task) = next(&tasks) {
			work(task);
		}
	};
	in_pool(|| on_threads(threads, all));
}

/// Into how many parts each of `wholes` is cut, so that `threads` threads have tasks enough.
fn parts(wholes: usize, threads: usize) -> usize {
	match threads {
		0 | 1 => 1,
		_ => (2 * threads).div_ceil(wholes.max(1)),
	}
}
