//! A job whose training diverges: what was trained is paid, nothing is power, and whoever built it so
//! gains nothing.

use crate::{mock::*, TotalBurned};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::Decision,
	job::{Ending, Fate, JobState, Settlement},
};

const FEE: u128 = 10_000;

/// Brings a new job to its audit: one result for each trainer, which diverged after that many
/// segments, or did not.
fn audited(results: &[(AccountId, u8, Option<u32>)]) -> u32 {
	let trainers: Vec<AccountId> = results.iter().map(|(trainer, ..)| *trainer).collect();
	let id = training(&trainers);
	trainers.iter().for_each(|trainer| commit(id, *trainer));
	run_to_state(id, JobState::Revealing);
	for (trainer, byte, diverged) in results {
		match diverged {
			Some(segments) => reveal_diverged(id, *trainer, *byte, *segments),
			None => reveal(id, *trainer, *byte),
		}
	}
	run_to_state(id, JobState::Auditing);
	id
}

/// A submitter that builds a specification to diverge at its end pays for all that was trained; no
/// trainer loses anything.
#[test]
fn a_specification_that_always_diverges_costs_its_trainer_nothing() {
	for segments in [0, 11, 29] {
		run(|| {
			let id = audited(&[(11, 1, Some(segments))]);
			let request = &AuditBook::get()[&id].request.groups[0].0;
			assert_eq!((request.segments, request.diverged), (segments, true));
			decide(id, &[Decision::Accepted], &VERIFIERS);
			run_to_end(id);
			let job = job(id);
			assert_eq!(job.state, JobState::Ended(Ending::Settled));
			assert_eq!(job.replicas[0].fate, Fate::Diverged);
			// The segment that has no end was trained as well.
			let spec = JobSpec::noisy_example();
			let pay = job.quote.of_segments(&spec, &terms(1), segments + 1).price;
			assert!(pay > 0 && (segments < 29) == (pay < job.quote.price));
			let expected = Settlement {
				escrowed: job.quote.escrow,
				paid_to_trainers: pay,
				paid_to_verifiers: 3 * FEE,
				burned: place_of(id),
				refunded: job.quote.escrow - pay - 3 * FEE - place_of(id),
				..Default::default()
			};
			assert_eq!(job.settlement, expected);
			assert_eq!(free(11), ENDOWMENT + pay);
			assert_eq!(free(SUBMITTER), ENDOWMENT - pay - 3 * FEE - place_of(id));
			// The time for which it kept its place is all that it pays for beside the work.
			assert_eq!(place_of(id), job.quote.fee / 100);
			assert_eq!((Credited::get(), TotalBurned::<Test>::get()), (vec![], place_of(id)));
		});
	}
}

/// Whoever claims it of a training that stays finite loses as for any false result.
#[test]
fn a_false_claim_costs_the_deposit() {
	run(|| {
		let id = audited(&[(11, 1, Some(11)), (12, 2, None)]);
		// The claims come in order of their roots.
		decide(id, &[Decision::Rejected, Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		let job = job(id);
		let fate = |who| job.replicas.iter().find(|r| r.trainer == who).unwrap().fate;
		assert_eq!((fate(11), fate(12)), (Fate::Rejected, Fate::Accepted));
		assert_eq!(free(11), ENDOWMENT - job.quote.deposit);
		assert_eq!(free(12), ENDOWMENT + job.quote.price * 115 / 100 / 2);
		assert_eq!(Credited::get(), vec![(12, job.quote.training / 2)]);
	});
}

#[test]
fn replicas_that_diverged_share_the_pay_of_what_they_trained() {
	run(|| {
		let id = audited(&[(11, 1, Some(11)), (12, 1, Some(11)), (13, 2, None)]);
		decide(id, &[Decision::Accepted, Decision::Undecided], &[]);
		run_to_end(id);
		let job = job(id);
		let spec = JobSpec::noisy_example();
		let pay = job.quote.of_segments(&spec, &terms(3), 12).price * 130 / 100 / 3;
		assert_eq!((free(11), free(12)), (ENDOWMENT + pay, ENDOWMENT + pay));
		// It goes on, so it is false, though nobody decided that.
		assert_eq!(free(13), ENDOWMENT);
		assert_eq!(job.settlement.paid_to_trainers, 2 * pay);
	});
}

#[test]
fn an_undecided_result_that_diverged_is_paid_its_part() {
	run(|| {
		let id = audited(&[(11, 1, Some(11))]);
		decide(id, &[Decision::Undecided], &[]);
		run_to_end(id);
		let job = job(id);
		assert_eq!(job.replicas[0].fate, Fate::Undecided);
		let worth = job.quote.of_segments(&JobSpec::noisy_example(), &terms(1), 12);
		assert_eq!(free(11), ENDOWMENT + worth.price / 5);
	});
}
