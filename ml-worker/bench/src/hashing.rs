//! Measures the content hashes of a checkpoint: BLAKE3, which a state hash is made of, beside the
//! BLAKE2b of files and blocks.

use super::{median, numbers};
use anyhow::ensure;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{
	hint::black_box,
	time::{Duration, Instant},
};
use trainyard_engine::{content_hash, raw_bytes};
use trainyard_program::H256;
use trainyard_proof::hash::blake2_256;

/// Numbers of equal tensors that a state is split into.
pub const SPLITS: [usize; 2] = [1, 24];

/// Fewest turns.
const TURNS: usize = 7;

/// The measurements of a state. Rates are 10^9 bytes per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
	/// Tensors of the state, all of one size.
	pub tensors: usize,
	/// Bytes of all of them.
	pub bytes: usize,
	/// Threads.
	pub threads: usize,
	/// Turns.
	pub turns: usize,
	/// Median rate of BLAKE2b, tensors side by side.
	pub blake2b: f64,
	/// Median rate of BLAKE3, tensors side by side and the parts of each as well.
	pub blake3: f64,
	/// Median of the rate of BLAKE3 over that of BLAKE2b in the same turn.
	pub ratio: f64,
}

/// Hashes a state of `tensors` equal tensors with about `bytes` bytes in all, for about `time` and in
/// at least seven turns, on the threads that rayon has in this process.
///
/// # Errors
/// Fails if there would be less than one number in each tensor.
pub fn measure(tensors: usize, bytes: usize, time: Duration) -> anyhow::Result<Row> {
	let elements = bytes.checked_div(4 * tensors).unwrap_or_default();
	ensure!(elements > 0, "{bytes} bytes are too few for {tensors} tensors");
	let state: Vec<Vec<f32>> = (1..).take(tensors).map(|seed| numbers(elements, seed)).collect();
	let bytes = 4 * elements * tensors;
	let rate = |hash: fn(&[u8]) -> H256| {
		let started = Instant::now();
		let hashes: Vec<H256> = state.par_iter().map(|tensor| hash(raw_bytes(tensor))).collect();
		black_box(hashes);
		bytes as f64 / started.elapsed().as_secs_f64() / 1e9
	};
	let (mut before, mut after, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
	let started = Instant::now();
	while ratios.len() < TURNS || started.elapsed() < time {
		let (blake2b, blake3) = (rate(blake2_256), rate(content_hash));
		before.push(blake2b);
		after.push(blake3);
		ratios.push(blake3 / blake2b);
	}
	Ok(Row {
		tensors,
		bytes,
		threads: rayon::current_num_threads(),
		turns: ratios.len(),
		blake2b: median(&before),
		blake3: median(&after),
		ratio: median(&ratios),
	})
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn a_state_is_measured_whole() {
		let row = measure(3, 1_000, Duration::ZERO).unwrap();
		assert_eq!((row.tensors, row.bytes, row.turns), (3, 996, TURNS));
		assert!(row.blake2b > 0.0 && row.blake3 > 0.0 && row.ratio > 0.0);
		for (tensors, bytes) in [(0, 1_000), (3, 11)] {
			assert!(measure(tensors, bytes, Duration::ZERO).is_err(), "{tensors}, {bytes}");
		}
	}
}
