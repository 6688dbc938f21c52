//! What jobs leave in the records of those who took part, and what records change.

use crate::{mock::*, Applicant, Applicants};
use frame_support::assert_ok;
use std::collections::BTreeMap;
use trainyard_protocol::{
	audit::Decision,
	job::{Balance, Fate},
	reputation::{Deed, Record, Role, LEAST_BLAME},
};

/// What was noted of this role, in order.
fn noted(role: Role) -> Vec<(AccountId, Deed, Balance)> {
	let all = Noted::get().into_iter().filter(|(other, ..)| *other == role);
	all.map(|(_, who, deed, weight)| (who, deed, weight)).collect()
}

#[test]
fn what_was_burned_is_to_the_credit_of_each_role() {
	run(|| {
		let id = auditing(&[(11, 1), (12, 1)]);
		// One seat served in two rounds.
		decide(id, &[Decision::Accepted], &[21, 22, 22]);
		run_to_end(id);
		let burned = job(id).settlement.burned;
		assert!(burned > 0);
		let mut trainers = noted(Role::Trainer);
		trainers.sort_by_key(|(who, ..)| *who);
		assert_eq!(trainers, [(11, Deed::Done, burned / 2), (12, Deed::Done, burned / 2)]);
		let seats = [(21, Deed::Done, burned / 3), (22, Deed::Done, burned * 2 / 3)];
		assert_eq!(noted(Role::Verifier), seats);
		assert_eq!(noted(Role::Submitter), [(SUBMITTER, Deed::Done, burned)]);
	});
}

/// A made-up job of somebody who pays itself returns all but what it burns: nothing more is to its credit.
#[test]
fn nobody_has_more_credit_in_a_role_than_was_burned() {
	run(|| {
		for byte in 1..=3 {
			let id = auditing(&[(11, byte), (12, byte)]);
			decide(id, &[Decision::Accepted], &VERIFIERS);
			run_to_end(id);
		}
		let burned = crate::TotalBurned::<Test>::get();
		for role in Role::ALL {
			let credit = noted(role).iter().map(|(.., weight)| weight).sum::<Balance>();
			assert!(credit <= burned, "{role:?}: {credit} of {burned}");
		}
	});
}

#[test]
fn each_fate_is_a_deed() {
	let fates = [
		(Decision::Rejected, Fate::Rejected, Some(Deed::Failed)),
		(Decision::Unavailable, Fate::Unavailable, Some(Deed::Failed)),
		(Decision::Undecided, Fate::Undecided, None),
		(Decision::Idle, Fate::Idle, Some(Deed::Done)),
	];
	for (decision, fate, deed) in fates {
		run(|| {
			let id = auditing(&[(11, 1)]);
			decide(id, &[decision], &VERIFIERS);
			run_to_end(id);
			let job = job(id);
			assert_eq!(job.replicas[0].fate, fate);
			let weight = match deed {
				Some(Deed::Done) => job.settlement.burned,
				_ => job.quote.fee.max(LEAST_BLAME),
			};
			let expected: Vec<_> = deed.map(|deed| (11, deed, weight)).into_iter().collect();
			assert_eq!(noted(Role::Trainer), expected);
			let is_done = deed == Some(Deed::Done);
			assert_eq!(noted(Role::Submitter).len(), usize::from(is_done), "it was not its fault");
		});
	}
}

#[test]
fn whoever_vanishes_was_late() {
	run(|| {
		let id = training(&[11, 12]);
		commit(id, 12);
		run_to_end(id);
		let fates: BTreeMap<_, _> =
			job(id).replicas.iter().map(|replica| (replica.trainer, replica.fate)).collect();
		assert_eq!((fates[&11], fates[&12]), (Fate::NotCommitted, Fate::NotRevealed));
		let blame = (job(id).quote.fee / 2).max(LEAST_BLAME);
		let mut trainers = noted(Role::Trainer);
		trainers.sort_by_key(|(who, ..)| *who);
		assert_eq!(trainers, [(11, Deed::Late, blame), (12, Deed::Late, blame)]);
		assert_eq!(noted(Role::Submitter), []);
	});
}

#[test]
fn a_job_that_nobody_takes_is_the_submitters() {
	run(|| {
		let id = post(1);
		run_to_end(id);
		assert_eq!(Noted::get(), [(Role::Submitter, SUBMITTER, Deed::Failed, LEAST_BLAME)]);
	});
}

/// Whoever makes the last block of a seed knows the draw, and could let a job of its own end in it.
#[test]
fn what_is_done_after_applying_is_not_to_the_credit_of_an_applicant() {
	run(|| {
		let id = post(1);
		apply(id, &[11]);
		let applicant: Applicant<AccountId> = Applicants::<Test>::get(id)[0].clone();
		assert_eq!(applicant.standing, 500_000);
		let good = Record::default().with(Deed::Done, 1_000_000_000_000_000, 0).standing();
		let bad = Record::default().with(Deed::Failed, 1_000_000_000_000_000, 0).standing();
		assert_eq!(applicant.weight(1_000, good), applicant.weight(1_000, 500_000));
		assert!(applicant.weight(1_000, bad) < applicant.weight(1_000, 500_000));
		assert!(applicant.weight(10, good) < applicant.weight(1_000, good), "nor is a raise");
	});
}

#[test]
fn a_full_list_has_those_of_most_weight() {
	run(|| {
		let good = Record::default().with(Deed::Done, 1_000_000_000_000_000, 0);
		let bad = Record::default().with(Deed::Late, 1_000_000_000_000_000, 0);
		Known::set([(11, good), (33, bad)].into());
		let id = post(1);
		let deposit = job(id).quote.deposit;
		for who in 30..38 {
			Bonds::mutate(|bonds| bonds.insert(who, 1_000));
			let origin = RuntimeOrigin::signed(OTHER);
			assert_ok!(Balances::transfer_keep_alive(origin, who, deposit + ED));
			apply(id, &[who]);
		}
		apply(id, &[11]);
		let all: Vec<AccountId> =
			Applicants::<Test>::get(id).iter().map(|applicant| applicant.trainer).collect();
		assert!(all.contains(&11) && !all.contains(&33), "{all:?}");
	});
}

/// What a trainer did moves how often it is drawn, between an eighth and all of its bond; nobody is shut out.
#[test]
fn those_who_did_well_are_drawn_more_often() {
	let draws = |known: BTreeMap<AccountId, Record>| {
		let mut first = 0;
		for round in 0..400u32 {
			run(|| {
				Known::set(known.clone());
				// Another seed for each.
				System::set_block_number(1 + 10 * round);
				let id = post(1);
				apply(id, &[11, 12]);
				run_to_state(id, trainyard_protocol::job::JobState::Training);
				first += u32::from(job(id).replicas[0].trainer == 11);
			});
		}
		first
	};
	let done = Record::default().with(Deed::Done, 1_000_000_000_000_000, 0);
	let failed = Record::default().with(Deed::Convicted, 1_000_000_000_000_000, 0);
	// 400 draws, of which six standard deviations are 60 where both are drawn as often.
	let strangers = draws(BTreeMap::new());
	assert!((140..=260).contains(&strangers), "{strangers}");
	// Two in three.
	let known = draws([(11, done)].into());
	assert!((210..=324).contains(&known), "{known}");
	// One in five, 48 of which are six deviations; it is drawn all the same.
	let bad = draws([(11, failed)].into());
	assert!((32..=128).contains(&bad), "{bad}");
}
