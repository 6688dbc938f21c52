//! Which training rows each step sees.
//!
//! Every epoch runs through the training rows in its own order and drops the last, short batch. The
//! order is a function of (seed, epoch, rows), so any step can be replayed alone.

use crate::{spec::JobSpec, H256};
use alloc::vec::Vec;
use core::ops::Range;
use trainyard_strict::philox::{Stream, StreamName};

/// Returns the number of whole batches of an epoch; at least 1 for valid specifications.
pub fn batches_per_epoch(spec: &JobSpec) -> u32 {
	spec.dataset.train_rows.checked_div(spec.training.batch_size).unwrap_or(0)
}

/// Where the batch of a step stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
	/// The epoch, from 0.
	pub epoch: u32,
	/// Positions in the epoch's order.
	pub positions: Range<u32>,
}

/// Returns where the batch of `step` (from 0) stands.
pub fn place(spec: &JobSpec, step: u32) -> Place {
	let batches = batches_per_epoch(spec).max(1);
	// Division by a number that is at least 1.
	let (epoch, batch) = (step / batches, step % batches);
	let start = batch.saturating_mul(spec.training.batch_size);
	Place { epoch, positions: start..start.saturating_add(spec.training.batch_size) }
}

/// Returns the order of the training rows `0..rows` in `epoch`: Fisher and Yates's shuffle of the
/// ascending order. For `i` from `rows - 1` down to 1, draw number `rows - 1 - i` of the stream
/// `shuffle` at step `epoch` chooses `j` in `0..=i`, and positions `i` and `j` swap.
pub fn epoch(seed: &H256, epoch: u32, rows: u32) -> Vec<u32> {
	let stream = Stream::new(&seed.0, StreamName::Shuffle);
	let mut order: Vec<u32> = (0..rows).collect();
	for (draw, i) in (0u64..).zip((1..rows).rev()) {
		let j = stream.below(epoch, draw, i.saturating_add(1));
		// j <= i < rows.
		order.swap(i as usize, j as usize);
	}
	order
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn every_row_once() {
		for rows in [0, 1, 2, 7, 1_438] {
			let mut order = epoch(&H256::repeat_byte(9), 4, rows);
			order.sort_unstable();
			assert_eq!(order, (0..rows).collect::<Vec<_>>());
		}
	}

	#[test]
	fn epochs_and_seeds_differ() {
		let order = |seed, e| epoch(&H256::repeat_byte(seed), e, 100);
		assert_ne!(order(1, 0), order(1, 1));
		assert_ne!(order(1, 0), order(2, 0));
		assert_eq!(order(1, 5), order(1, 5));
	}

	#[test]
	fn all_orders_are_equally_likely() {
		let mut hits = std::collections::BTreeMap::new();
		for e in 0..6_000 {
			*hits.entry(epoch(&H256::repeat_byte(1), e, 3)).or_insert(0u32) += 1;
		}
		// 1,000 expected of each of 6, standard deviation 28.9: six of them.
		assert_eq!(hits.len(), 6);
		assert!(hits.values().all(|h| (826..=1_174).contains(h)), "{hits:?}");
	}

	#[test]
	fn short_batches_are_dropped() {
		let spec = JobSpec::example();
		assert_eq!(batches_per_epoch(&spec), 44);
		assert_eq!(place(&spec, 0), Place { epoch: 0, positions: 0..32 });
		assert_eq!(place(&spec, 43), Place { epoch: 0, positions: 1_376..1_408 });
		assert_eq!(place(&spec, 44), Place { epoch: 1, positions: 0..32 });
		let all = JobSpec {
			training: crate::spec::Training { batch_size: 1_438, ..spec.training.clone() },
			..spec
		};
		assert_eq!(place(&all, 3), Place { epoch: 3, positions: 0..1_438 });
	}
}
