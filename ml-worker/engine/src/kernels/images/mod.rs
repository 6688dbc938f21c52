//! Convolutions, pooling and channels over `[images, channels, height, width]`.
//!
//! Convolutions are products ([`super::matmul`]) of matrices that are never whole in memory
//! ([`conv`]); the rest are loops over rows ([`pool`], [`channels`]).
//! `trainyard_program::ops::OpKind` says what each operator computes, and in which order.

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

/// Returns into how many parts each of `wholes` is cut, so that `threads` threads have enough
/// tasks.
fn parts(wholes: usize, threads: usize) -> usize {
	match threads {
		0 | 1 => 1,
		_ => (2 * threads).div_ceil(wholes.max(1)),
	}
}
