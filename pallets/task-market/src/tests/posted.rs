//! Jobs that another pallet posts, and what became of them.

use crate::{mock::*, Error, Guilty, HoldReason};
use frame_support::{assert_noop, assert_ok, traits::fungible::Inspect};
use trainyard_program::spec::{CheckedSpec, JobSpec};
use trainyard_protocol::{
	audit::Decision,
	job::{Balance, Fate, JobState, Terms},
};
use trainyard_traits::{Conviction, JobEnd, JobStanding, PostedJobs};

fn spec() -> CheckedSpec {
	JobSpec::noisy_example().check().unwrap()
}

fn standing(id: u32) -> JobStanding {
	<TaskMarket as PostedJobs<AccountId>>::standing(id)
}

fn post_for(who: AccountId, terms: Terms, most: Balance) -> Result<u32, sp_runtime::DispatchError> {
	<TaskMarket as PostedJobs<AccountId>>::post(&who, spec(), terms, most)
}

fn ended(id: u32) -> Option<JobEnd> {
	<TaskMarket as PostedJobs<AccountId>>::ended(id)
}

fn check_for(terms: Terms, most: Balance) -> Result<Balance, sp_runtime::DispatchError> {
	<TaskMarket as PostedJobs<AccountId>>::check(&SUBMITTER, &spec(), &terms, most)
}

#[test]
fn a_job_is_posted_by_the_rules_for_everybody() {
	run(|| {
		let escrow = check_for(terms(2), Balance::MAX).unwrap();
		let id = post_for(SUBMITTER, terms(2), Balance::MAX).unwrap();
		assert_eq!(escrow, job(id).quote.escrow);
		let own = post(2);
		assert_eq!(
			job(id).quote.escrow,
			held(HoldReason::Escrow, SUBMITTER) - job(own).quote.escrow
		);
		assert_eq!((job(id).submitter, job(id).invited), (SUBMITTER, None));
		assert_eq!(job(id).digest, job(own).digest);
		let fee = job(id).quote.fee_per_ut;
		assert_noop!(post_for(SUBMITTER, terms(2), 0), Error::<Test>::FeeRose);
		assert_noop!(check_for(terms(2), 0), Error::<Test>::FeeRose);
		assert!(fee > 0);
		assert_noop!(check_for(terms(9), Balance::MAX), Error::<Test>::BadReplicas);
		assert_noop!(post_for(SUBMITTER, terms(9), Balance::MAX), Error::<Test>::BadReplicas);
		CanSeat::set(false);
		assert_noop!(check_for(terms(2), Balance::MAX), Error::<Test>::NoCommittee);
		CanSeat::set(true);
		let poor = 999;
		assert_eq!(Balances::balance(&poor), 0);
		assert!(post_for(poor, terms(2), Balance::MAX).is_err());
	});
}

#[test]
fn a_job_agrees_when_it_is_audited_and_all_that_revealed_did_the_same() {
	run(|| {
		let id = auditing(&[(11, 1), (12, 1)]);
		assert_eq!(standing(id), JobStanding::Agreed(model_of(1)));
		assert_eq!(ended(id), None);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		let Some(JobEnd::Accepted(result)) = ended(id) else { panic!("it was accepted") };
		assert_eq!(result.model_root, model_of(1));
		assert_eq!(ended(99), Some(JobEnd::Failed));
		assert_eq!(standing(id), JobStanding::Accepted(model_of(1)));
		assert_eq!(standing(99), JobStanding::Failed);
	});
}

#[test]
fn before_its_audit_a_job_says_nothing() {
	run(|| {
		let id = training(&[11, 12]);
		assert_eq!(standing(id), JobStanding::Running);
		commit(id, 11);
		commit(id, 12);
		run_to_state(id, JobState::Revealing);
		reveal(id, 11, 1);
		assert_eq!(standing(id), JobStanding::Running);
	});
}

#[test]
fn who_differs_or_is_alone_does_not_agree() {
	run(|| {
		let id = auditing(&[(11, 1), (12, 2)]);
		assert_eq!(standing(id), JobStanding::Running);
		decide(id, &[Decision::Accepted, Decision::Rejected], &VERIFIERS);
		run_to_end(id);
		let good = job(id).replicas.iter().find(|r| r.fate == Fate::Accepted).unwrap().trainer;
		let byte = if good == 11 { 1 } else { 2 };
		assert_eq!(standing(id), JobStanding::Accepted(model_of(byte)));

		let alone = auditing(&[(13, 1)]);
		assert_eq!(standing(alone), JobStanding::Running);
	});
}

/// Two of four are no more than half.
#[test]
fn more_than_half_of_those_asked_for_must_agree() {
	run(|| {
		let revealed = |bytes: &[(AccountId, Option<u8>)]| {
			let trainers: Vec<AccountId> = bytes.iter().map(|(who, _)| *who).collect();
			let id = training(&trainers);
			trainers.iter().for_each(|who| commit(id, *who));
			run_to_state(id, JobState::Revealing);
			for (who, byte) in bytes {
				if let Some(byte) = byte {
					reveal(id, *who, *byte);
				}
			}
			run_to_state(id, JobState::Auditing);
			id
		};
		let two = revealed(&[(11, Some(1)), (12, Some(1)), (13, None), (14, None)]);
		assert_eq!(standing(two), JobStanding::Running);
		let three = revealed(&[(11, Some(1)), (12, Some(1)), (13, Some(1)), (14, None)]);
		assert_eq!(standing(three), JobStanding::Agreed(model_of(1)));
	});
}

#[test]
fn a_conviction_ends_an_agreement() {
	run(|| {
		let id = auditing(&[(11, 1), (12, 1)]);
		let conviction = Conviction { dispute: 0, finder: 13, second: None, proven: true };
		Guilty::<Test>::insert(id, 11, conviction);
		assert_eq!(standing(id), JobStanding::Running);
		Guilty::<Test>::remove(id, 11);
		decide(id, &[Decision::Rejected], &VERIFIERS);
		run_to_end(id);
		assert_eq!(standing(id), JobStanding::Failed);
	});
}

#[test]
fn what_diverged_is_no_model() {
	run(|| {
		let id = training(&[11, 12]);
		commit(id, 11);
		commit(id, 12);
		run_to_state(id, JobState::Revealing);
		reveal_diverged(id, 11, 1, 3);
		reveal_diverged(id, 12, 1, 3);
		run_to_state(id, JobState::Auditing);
		assert_eq!(standing(id), JobStanding::Running);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		assert_eq!(standing(id), JobStanding::Failed);
		assert!(matches!(ended(id), Some(JobEnd::Accepted(result)) if result.diverged));
	});
}

#[test]
fn a_job_that_nobody_took_has_failed() {
	run(|| {
		let id = post(2);
		run_to_end(id);
		assert_eq!(standing(id), JobStanding::Failed);
		assert_eq!(ended(id), Some(JobEnd::Failed));
	});
}

/// Whoever posts a job to hold others up must not look like a market that failed.
#[test]
fn a_job_that_its_parties_stopped_did_not_fail() {
	run(|| {
		let id = post(2);
		assert_eq!(ended(id), None);
		assert_ok!(TaskMarket::cancel(RuntimeOrigin::signed(SUBMITTER), id));
		assert_eq!(ended(id), Some(JobEnd::Stopped));
		let id = training(&[11]);
		assert_ok!(TaskMarket::agree(RuntimeOrigin::signed(SUBMITTER), id, Some(7_000)));
		assert_ok!(TaskMarket::agree(RuntimeOrigin::signed(11), id, Some(7_000)));
		assert_eq!(job(id).state, JobState::Ended(trainyard_protocol::job::Ending::Agreed));
		assert_eq!(ended(id), Some(JobEnd::Stopped));
	});
}
