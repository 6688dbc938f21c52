//! Data that are not to be had.

use crate::{
	mock::{Act::*, *},
	Error, Event, Failure, Pool, Stage, MISSING_AT_FIRST, MISSING_FINDINGS,
};
use frame_support::{assert_noop, assert_ok, traits::Hooks};
use sp_runtime::Permill;
use trainyard_protocol::drill::{Mismatch, ProjectId};

/// An active project of trials, with the first `count` drillers in the pool.
fn trials(replicas: u8, units: u32, count: usize) -> ProjectId {
	assert_ok!(propose_by(PROPOSER, trial(), Mismatch::Majority, replicas, units));
	let id = crate::NextProject::<Test>::get() - 1;
	approve(id);
	enlisted(count);
	id
}

/// The same, where verifiers have had the data.
fn proven(replicas: u8, units: u32, count: usize) -> ProjectId {
	let id = trials(replicas, units, count);
	prove(id);
	id
}

fn failed(id: u64) -> Failure {
	let ends = events().into_iter().find_map(|event| match event {
		Event::Reissued { assignment, failure, .. } if assignment == id => Some(failure),
		Event::Abandoned { assignment, failure, .. } if assignment == id => Some(failure),
		_ => None,
	});
	ends.expect("it has failed")
}

#[test]
fn data_are_blobs_of_the_proposer() {
	run(|| {
		let propose = |who, data: &[_]| {
			let (title, data) = (Default::default(), data.to_vec().try_into().unwrap());
			Drilling::propose(signed(who), title, trial(), data, Mismatch::Majority, 2, 1, COMMIT)
		};
		assert_noop!(propose(PROPOSER, &[]), Error::<Test>::WrongData);
		assert_noop!(propose(PROPOSER, &[data(), data()]), Error::<Test>::WrongData);
		let other = trainyard_protocol::H256::repeat_byte(1);
		assert_noop!(propose(PROPOSER, &[other]), Error::<Test>::DataNotStored);
		assert_noop!(propose(OTHER, &[data()]), Error::<Test>::NotYourData);
		let size = trial().file_bytes()[0];
		Stored::mutate(|blobs| blobs.insert(other, (PROPOSER, size + 1, 0)));
		assert_noop!(propose(PROPOSER, &[other]), Error::<Test>::DataNotStored);
		assert_ok!(propose(PROPOSER, &[data()]));
		assert_ok!(propose(PROPOSER, &[data()]));
		assert_eq!(Stored::get()[&data()].2, 2, "it stays for both");
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), 0));
		assert_eq!(Stored::get()[&data()].2, 1);
		// Chains read nothing.
		let title = Default::default();
		let given = vec![data()].try_into().unwrap();
		assert_noop!(
			Drilling::propose(
				signed(PROPOSER),
				title,
				template(),
				given,
				Mismatch::Majority,
				2,
				1,
				COMMIT
			),
			Error::<Test>::WrongData
		);
	});
}

#[test]
fn an_answer_that_there_are_no_data_has_conditions() {
	run(|| {
		let chains = active(Mismatch::Majority, 2, 5);
		let decline = |who, id| Drilling::decline(signed(who), id);
		assert_noop!(decline(11, 0), Error::<Test>::NoSuchAssignment);
		enlisted(2);
		until(0, committing);
		assert_noop!(decline(11, 0), Error::<Test>::NoData);
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), chains));
		play(0, &[Say(1), Say(1)]);
		for who in [11, 12] {
			assert_ok!(Drilling::retire(signed(who)));
		}
		let id = trials(3, 5, 3);
		until(1, committing);
		assert_noop!(decline(VOTERS[0], 1), Error::<Test>::NotAssigned);
		assert_ok!(decline(11, 1));
		System::assert_last_event(Event::Declined { assignment: 1, who: 11 }.into());
		assert_noop!(decline(11, 1), Error::<Test>::AlreadyCommitted);
		assert_noop!(commit(11, 1, result(1)), Error::<Test>::AlreadyCommitted);
		assert_ok!(commit(12, 1, result(1)));
		assert_noop!(decline(12, 1), Error::<Test>::AlreadyCommitted);
		assert!(Drilling::assignment(&11).unwrap().declined);
		assert!(!Drilling::assignment(&12).unwrap().declined);
		// It gets no more units of it, until it chooses it again.
		assert!(!Drilling::chosen(&11).contains(&id) && Drilling::chosen(&12).contains(&id));
		while crate::Assignments::<Test>::contains_key(1) {
			next_block();
		}
		assert_noop!(decline(13, 1), Error::<Test>::NoSuchAssignment);
	});
}

#[test]
fn a_minority_without_data_loses_and_gains_nothing() {
	run(|| {
		let id = proven(3, 5, 3);
		let members = play(0, &[Say(1), Decline, Say(1)]);
		until_over(0);
		let credited: Vec<_> = Credited::get().into_iter().map(|(who, _)| who).collect();
		assert_eq!(credited, [members[0], members[2]]);
		assert!(Debited::get().is_empty());
		assert!(Pool::<Test>::contains_key(members[1]), "it keeps its place");
		assert_eq!(project(id).missing, 0);
	});
}

/// Who says nothing at all is to blame all the same.
#[test]
fn who_vanishes_loses_where_others_have_no_data() {
	run(|| {
		proven(3, 5, 3);
		let members = play(0, &[Decline, Vanish, Say(1)]);
		let debited: Vec<_> = Debited::get().into_iter().map(|(who, _)| who).collect();
		assert_eq!(debited, [members[1]]);
		assert!(!Pool::<Test>::contains_key(members[1]));
		play_check(0, &[Decline, Decline, Decline]);
		assert_eq!(failed(0), Failure::Missing);
		assert_eq!(Debited::get().len(), 1);
	});
}

/// Neither drillers nor verifiers lose anything, and the unit is issued again.
#[test]
fn data_that_nobody_has_cost_nobody() {
	run(|| {
		let id = trials(3, 5, 3);
		let members = play(0, &[Decline, Decline, Decline]);
		System::assert_has_event(Event::Doubted { assignment: 0 }.into());
		assert!(project(id).doubted);
		// They wait for what verifiers find.
		assert!(members.iter().all(|who| Drilling::assignment(who).is_none()));
		assert!(idle().is_empty());
		let fees = Balances::free_balance(JACKPOT);
		play_check(0, &[Decline, Decline, Say(1)]);
		assert_eq!(failed(0), Failure::Missing);
		assert!(Debited::get().is_empty() && Credited::get().is_empty());
		assert!(Absent::get().is_empty() && Contrary::get().is_empty());
		assert_eq!(Balances::free_balance(JACKPOT), fees, "nor is anybody paid");
		assert_eq!((project(id).missing, attempts(id, 0)), (1, Some(1)));
		assert!(!project(id).doubted);
		assert_eq!(idle(), members.into_iter().collect());
	});
}

/// One of two without data leaves no majority: that is for verifiers too.
#[test]
fn whoever_keeps_a_group_from_a_majority_answers_for_it() {
	run(|| {
		proven(2, 5, 2);
		let members = play(0, &[Decline, Say(1)]);
		System::assert_has_event(Event::Doubted { assignment: 0 }.into());
		assert!(Debited::get().is_empty());
		play_check(0, &[Say(1), Say(1), Vanish]);
		let debited: Vec<_> = Debited::get().into_iter().map(|(who, _)| who).collect();
		assert_eq!(debited, [members[0]]);
	});
}

/// Whoever says so of data that are there loses what silence costs, and comes back as a newcomer.
#[test]
fn data_that_verifiers_have_were_there() {
	run(|| {
		let id = proven(3, 5, 4);
		let members = play(0, &[Decline, Decline, Say(1)]);
		System::set_block_number(System::block_number() + RETURN);
		play_check(0, &[Say(1), Say(1), Decline]);
		assert_eq!(failed(0), Failure::Declined);
		assert_eq!((project(id).missing, project(id).doubted), (0, false));
		let debited: Vec<_> = Debited::get().into_iter().map(|(who, _)| who).collect();
		assert_eq!(debited, members[..2]);
		for who in &members[..2] {
			assert!(!Pool::<Test>::contains_key(who) && !crate::Former::<Test>::contains_key(who));
		}
		assert!(Pool::<Test>::get(members[2]).is_some_and(|driller| !driller.retiring));
		// The verifier without data loses nothing, and is paid nothing.
		assert!(Absent::get().is_empty());
		assert_eq!(Balances::free_balance(JACKPOT), ED + 1_000 - 2 * CHECK_FEE);
	});
}

/// Verifiers that are busy for too long decide nothing.
#[test]
fn a_doubt_that_nobody_looks_at_ends() {
	run(|| {
		let id = proven(3, 5, 3);
		VerifiersBusy::set(true);
		let members = play(0, &[Decline, Decline, Decline]);
		for _ in 0..crate::MAX_CHECK_WAIT + 100 {
			System::set_block_number(System::block_number() + 1);
			Drilling::on_initialize(System::block_number());
			if !crate::Assignments::<Test>::contains_key(0) {
				break;
			}
		}
		assert_eq!(failed(0), Failure::Unchecked);
		assert_eq!((project(id).missing, project(id).doubted), (0, false));
		assert_eq!(idle(), members.into_iter().collect());
		assert!(Debited::get().is_empty());
	});
}

/// Until verifiers have had the data, and while it is not certain that they are to be had, each unit is
/// recomputed, one at a time: a forger cannot claim results of data that nobody can look at.
#[test]
fn units_of_doubtful_data_are_all_recomputed_one_at_a_time() {
	run(|| {
		Drilled::set(u64::MAX);
		let id = trials(2, 9, 8);
		until(0, committing);
		blocks(3);
		assert_eq!(project(id).running, 1);
		play(0, &[Say(1), Say(1)]);
		play_check(0, &[Say(1), Say(1), Say(1)]);
		assert!(project(id).proven);
		until(2, committing);
		assert_eq!(project(id).running, 2, "from now on several are handed out");
		play(1, &[Say(1), Say(1)]);
		until_over(1);
		assert_eq!(project(id).agreed, 2, "and not all are recomputed");
	});
}

/// One that was agreed on and whose data verifiers do not find is not credited.
#[test]
fn what_verifiers_cannot_have_is_not_credited() {
	run(|| {
		CheckShare::set(Permill::one());
		let id = trials(2, 5, 2);
		let members = play(0, &[Say(1), Say(1)]);
		play_check(0, &[Decline, Decline, Decline]);
		assert_eq!(failed(0), Failure::Missing);
		assert!(Credited::get().is_empty() && Forgers::get().is_empty());
		assert_eq!(project(id).missing, 1);
		assert!(members.iter().all(Pool::<Test>::contains_key));
	});
}

fn find_missing(number: u64) {
	play(number, &[Say(1), Say(1)]);
	play_check(number, &[Decline, Decline, Decline]);
}

#[test]
fn a_project_without_data_is_suspended_and_loses_its_deposit() {
	run(|| {
		let id = trials(2, 20, 2);
		let jackpot = Balances::free_balance(JACKPOT);
		for number in 0..u64::from(MISSING_AT_FIRST) {
			assert_eq!(project(id).stage, Stage::Active);
			find_missing(number);
		}
		let lost = PROJECT_DEPOSIT + 20 * UNIT_DEPOSIT;
		System::assert_has_event(Event::ProjectSuspended { project: id, lost }.into());
		assert!(matches!(project(id).stage, Stage::Suspended { .. }));
		assert_eq!(Balances::free_balance(JACKPOT), jackpot + lost);
		assert_eq!(Stored::get()[&data()].2, 0, "its data may go");
		assert!(Credited::get().is_empty());
		let next = crate::NextAssignment::<Test>::get();
		blocks(10);
		assert_eq!(crate::NextAssignment::<Test>::get(), next, "nobody is given units of it");
		blocks(KEEP);
		assert!(!crate::Projects::<Test>::contains_key(id));
	});
}

/// A proposer whose data verifiers had before is not to blame for nodes that forgot them, nor for verifiers
/// that lie.
#[test]
fn data_that_were_there_once_cost_no_deposit() {
	run(|| {
		CheckShare::set(Permill::one());
		let id = proven(2, 20, 2);
		for number in 0..u64::from(MISSING_FINDINGS) {
			assert_eq!(project(id).stage, Stage::Active);
			find_missing(number);
		}
		System::assert_has_event(Event::ProjectSuspended { project: id, lost: 0 }.into());
		assert!(matches!(project(id).stage, Stage::Suspended { .. }));
		assert_eq!(project(id).deposit, PROJECT_DEPOSIT + 20 * UNIT_DEPOSIT);
	});
}

/// A few verifiers that lie now and then end nothing: only findings in a row count.
#[test]
fn one_finding_that_there_are_data_makes_up_for_those_before() {
	run(|| {
		CheckShare::set(Permill::one());
		let id = proven(2, 20, 2);
		let almost = u64::from(MISSING_FINDINGS) - 1;
		for number in 0..almost {
			find_missing(number);
		}
		assert_eq!(u64::from(project(id).missing), almost);
		play(almost, &[Say(1), Say(1)]);
		play_check(almost, &[Say(1), Say(1), Decline]);
		assert_eq!((project(id).missing, project(id).agreed), (0, 1));
		assert_eq!(project(id).stage, Stage::Active);
	});
}

/// Whoever sees its deposit go does not save it by ending the project.
#[test]
fn withdrawing_saves_no_deposit_of_data_that_are_not_there() {
	run(|| {
		let id = trials(2, 20, 2);
		find_missing(0);
		let jackpot = Balances::free_balance(JACKPOT);
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), id));
		let lost = PROJECT_DEPOSIT + 20 * UNIT_DEPOSIT;
		System::assert_has_event(Event::ProjectSuspended { project: id, lost }.into());
		assert!(matches!(project(id).stage, Stage::Withdrawn { .. }));
		assert_eq!(Balances::free_balance(JACKPOT), jackpot + lost);
	});
}

/// Nor is it saved by findings about units that were under way when it ended.
#[test]
fn findings_count_where_a_project_ended_meanwhile() {
	run(|| {
		let id = trials(3, 5, 3);
		crate::Projects::<Test>::mutate(id, |project| {
			project.as_mut().unwrap().missing = MISSING_AT_FIRST - 1;
		});
		play(0, &[Decline, Decline, Decline]);
		crate::Projects::<Test>::mutate(id, |project| project.as_mut().unwrap().missing = 0);
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), id));
		crate::Projects::<Test>::mutate(id, |project| {
			project.as_mut().unwrap().missing = MISSING_AT_FIRST - 1;
		});
		assert_eq!(Stored::get()[&data()].2, 1, "data stay as long as a unit is under way");
		play_check(0, &[Decline, Decline, Decline]);
		assert!(matches!(project(id).stage, Stage::Withdrawn { .. }));
		assert_eq!(project(id).deposit, 0);
		assert_eq!(failed(0), Failure::Missing);
		assert_eq!(Stored::get()[&data()].2, 0);
	});
}
