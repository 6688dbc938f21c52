//! What two forks make of one transaction.

use crate::{
	jobs::{terms, truth, TRUE},
	report::{Attack, Outcome},
	scene::{answer, Scene, Side, BOND},
};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	commitment,
	job::{Fate, JobState},
};
use trainyard_sandbox::bundles::applies;

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "another-job-of-this-number",
		source: "soundness S4 (a)",
		tries: "gives a job's number to another job on the fork that stays, after trainers applied",
		rule: "an application names the digest of specification and terms",
		left: None,
		run: another_job,
	},
	Attack {
		name: "commitment-of-another-fork",
		source: "soundness S4 (b)",
		tries: "has a commitment made under the seed of a fork that goes",
		rule: "a commitment may be replaced for as long as commitments are taken",
		left: None,
		run: another_commitment,
	},
];

fn another_job() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let (seen, mut other) = (JobSpec::noisy_example(), JobSpec::noisy_example());
	// Of the fork that stays: data that nobody serves.
	other.dataset.content_hash = [9; 32].into();
	let job = scene.post(&submitter, &other, &terms()).expect("it is valid");
	let digest = commitment::job(&seen, &terms());
	let applied = scene.call(&trainer, applies(&trainer.account, job, digest));
	let facts = vec![("applying", answer(applied))];
	assert_eq!(scene.job(job).applicants, []);
	scene.settle(&[job], &truth);
	Outcome { scene, facts }
}

fn another_commitment() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms()).expect("it is valid");
	let digest = commitment::job(&JobSpec::noisy_example(), &terms());
	let apply = applies(&trainer.account, job, digest);
	scene.call(&trainer, apply).expect("it may apply");
	scene.until(job, &truth, |view| view.state == JobState::Training);
	scene.works(&trainer, job, TRUE);
	let commit = |commitment| pallet_submissions::Call::commit { job, commitment };
	let true_work = scene.commitment_to(job, &trainer, TRUE);
	// What it trained under the seed of the other fork.
	let stale = scene.commitment_to(job, &trainer, 9);
	// Both in one block: the job goes on after the last of its commitments.
	let answers = loop {
		scene.begin();
		let first = scene.send(&trainer, commit(stale));
		let second = scene.send(&trainer, commit(true_work));
		scene.end();
		if let (Some(first), Some(second)) = (first, second) {
			break [first, second].map(answer);
		}
	};
	scene.settle(&[job], &truth);
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Accepted);
	let facts = vec![
		("committing under the other seed", answers[0].clone()),
		("committing again", answers[1].clone()),
	];
	Outcome { scene, facts }
}
