//! Challenges, jobs that measure what is doubted, and refutations.

use super::*;
use crate::MeanOpenings;
use trainyard_protocol::{
	accusation::{Leaf, LeafContent, Peaks},
	bundle::{self, Checkpoint, Evaluation},
	federation::ModelOpening,
	job::WorkResult,
	merkle, JobId,
};
use trainyard_traits::JobEnd;

/// Lets the job of a challenge be settled: its model gets so many labels right.
pub fn measure(job: JobId, correct: u32) -> Leaf {
	let evaluation = Evaluation::new(1.0, correct, LABELS);
	measure_with(job, evaluation)
}

/// Says how the job of a challenge ended.
pub fn end_job(job: JobId, end: JobEnd) {
	Posted::mutate(|all| all[job as usize].end = Some(end));
}

/// The last job that was posted.
pub fn last_job() -> JobId {
	Posted::get().len() as JobId - 1
}

pub fn challenge(id: SwarmId, who: AccountId, of: u32) -> JobId {
	assert_ok!(Swarming::challenge(signed(who), id, model(&model_file(of)), 10_000));
	last_job()
}

pub fn testify(id: SwarmId, who: AccountId, of: u32, leaf: Leaf) {
	assert_ok!(Swarming::testify(signed(who), id, model(&model_file(of)), leaf));
}

pub fn measure_with(job: JobId, evaluation: Evaluation) -> Leaf {
	let at = |step: u32| Checkpoint {
		step,
		state: H256::repeat_byte(step as u8),
		evaluation,
		trace: H256::repeat_byte(9),
	};
	let leaves = bundle::bundle_leaves([at(0), at(1)], None);
	let root = merkle::root(&leaves);
	let result = WorkResult {
		bundle_root: root,
		true_root: root,
		model_root: H256::repeat_byte(8),
		segments: 1,
		diverged: false,
	};
	Posted::mutate(|all| {
		all[job as usize].end = Some(JobEnd::Accepted(result));
	});
	let path = Peaks::truncate_from(merkle::proof(&leaves, 0).unwrap());
	Leaf { content: LeafContent::Checkpoint(at(0)), path }
}

/// A chunk of three files.
pub fn openings(chunk: u64, files: [&[u8]; 3]) -> Box<MeanOpenings> {
	Box::new(files.map(|file| ModelOpening::new(file, chunk).unwrap()))
}
