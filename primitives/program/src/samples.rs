//! Samples of states: what is read of every state that a trainer keeps of a run to see how far it moves.
//!
//! A tensor of fewer than 64 KiB is read whole, and two chunks of 1 KiB of each other one. Which two is drawn,
//! and they are the same of all states of a run.

use crate::{lower, spec::CheckedSpec, thinning};

/// Bytes of a chunk.
pub const CHUNK_BYTES: u64 = 1 << 10;
/// A tensor is sampled whole if it has fewer bytes than this.
pub const WHOLE_BYTES: u64 = 64 << 10;
/// Chunks that are read of each other tensor.
pub const SLICES: u32 = 2;
/// Least segments of a run of which one can be picked by how far it moves: neither the first, which moves
/// farthest in every run, nor the last. One seat replays these two in any case.
pub const LEAST_SEGMENTS: u32 = 3;

/// Returns how many chunks are read of a tensor of so many bytes.
pub fn chunks_of_tensor(bytes: u64) -> u64 {
	match bytes < WHOLE_BYTES {
		true => bytes.div_ceil(CHUNK_BYTES),
		false => SLICES.into(),
	}
}

/// Returns how many chunks are read of each state of a job.
pub fn chunks_of_state(spec: &CheckedSpec) -> u64 {
	let bytes = |shape: &[u32]| shape.iter().fold(4u64, |n, e| n.saturating_mul((*e).into()));
	let tensors = lower::state(spec);
	let chunks = tensors.iter().map(|tensor| chunks_of_tensor(bytes(&tensor.shape)));
	chunks.fold(0, u64::saturating_add)
}

/// Returns how many chunks are read of all states that are [kept](thinning), one in `every`, of a run with so many
/// segments, of which each state has `of_state`; 0 of a run in which no segment can be picked.
pub fn chunks_of_run(of_state: u64, every: u32, segments: u32) -> u64 {
	match segments < LEAST_SEGMENTS {
		true => 0,
		false => of_state.saturating_mul(u64::from(thinning::kept(every, segments))),
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::spec::JobSpec;

	#[test]
	fn small_tensors_are_read_whole_and_of_large_ones_two_chunks() {
		assert_eq!([1, 1_024, 1_025, 65_535].map(chunks_of_tensor), [1, 1, 2, 64]);
		assert_eq!([65_536, u64::MAX].map(chunks_of_tensor), [2, 2]);
	}

	#[test]
	fn a_run_has_the_samples_of_all_states_that_are_kept() {
		let spec = JobSpec::example().check().unwrap();
		let own: u64 = lower::state(&spec)
			.iter()
			.map(|tensor| {
				let bytes = 4 * tensor.shape.iter().map(|e| u64::from(*e)).product::<u64>();
				if bytes < 65_536 {
					bytes.div_ceil(1_024)
				} else {
					2
				}
			})
			.sum();
		assert_eq!(chunks_of_state(&spec), own);
		let of = |every| [0, 2, 3, 1_000].map(|n| chunks_of_run(own, every, n));
		assert_eq!(of(1), [0, 0, 4 * own, 1_001 * own]);
		assert_eq!(of(30), [0, 0, 2 * own, 35 * own]);
		assert_eq!(chunks_of_run(u64::MAX, 1, u32::MAX), u64::MAX);
	}
}
