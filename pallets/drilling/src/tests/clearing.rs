//! The removal of projects that ended.

use crate::{
	mock::*, Error, Event, HoldReason, Outcome, Projects, Results, Stage, Templates, Votes,
};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use trainyard_protocol::drill::Mismatch;

fn held(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::Project.into(), &who)
}

/// A project of one unit that is done.
fn done() -> u32 {
	let id = active(Mismatch::Majority, 2, 1);
	enlisted(2);
	play(0, &[Act::Say(1), Act::Say(1)]);
	until_over(0);
	id
}

fn is_gone(id: u32) -> bool {
	!Projects::<Test>::contains_key(id)
		&& !Templates::<Test>::contains_key(id)
		&& Votes::<Test>::iter_key_prefix(id).count() == 0
		&& Results::<Test>::iter_key_prefix(id).count() == 0
}

#[test]
fn a_project_that_is_done_is_kept_and_then_removed_by_the_clock() {
	run(|| {
		let id = done();
		let deposit = PROJECT_DEPOSIT + UNIT_DEPOSIT;
		let Stage::Done { at } = project(id).stage else { panic!() };
		while System::block_number() < at + KEEP - 1 {
			next_block();
		}
		assert_eq!(held(PROPOSER), deposit);
		assert!(Results::<Test>::contains_key(id, 0));
		next_block();
		System::assert_has_event(Event::ProjectCleared { project: id, deposit }.into());
		assert!(is_gone(id));
		assert_eq!((held(PROPOSER), Balances::free_balance(PROPOSER)), (0, ENDOWMENT));
	});
}

#[test]
fn rejected_and_withdrawn_projects_go_too() {
	run(|| {
		let rejected = propose(2, 1);
		let withdrawn = propose(2, 1);
		assert_ok!(Drilling::vote(signed(5), rejected, true));
		assert_ok!(Drilling::vote(signed(5), withdrawn, true));
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), withdrawn));
		blocks(REVIEW + 1 + KEEP);
		assert!(is_gone(rejected) && is_gone(withdrawn));
		assert!(crate::Due::<Test>::iter().next().is_none());
		assert!(crate::CleanDue::<Test>::iter().next().is_none());
	});
}

/// Large projects go in steps, a block each.
#[test]
fn a_removal_is_made_in_steps() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 100);
		Projects::<Test>::mutate(id, |project| {
			let project = project.as_mut().unwrap();
			(project.begun, project.agreed) = (100, 100);
		});
		for index in 0..100 {
			Results::<Test>::insert(id, index, Outcome { result: result(1), agreeing: 2 });
		}
		crate::Turns::<Test>::kill();
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), id));
		blocks(KEEP);
		// 64 entries of 103: all votes are gone and 61 results.
		assert_eq!(Votes::<Test>::iter_key_prefix(id).count(), 0);
		assert_eq!(Results::<Test>::iter_key_prefix(id).count(), 39);
		assert!(held(PROPOSER) > 0);
		next_block();
		assert!(is_gone(id));
		assert_eq!(held(PROPOSER), 0);
	});
}

#[test]
fn anyone_may_clear_what_the_clock_has_no_room_for() {
	run(|| {
		let id = done();
		let at = project(id).stage.ended().unwrap();
		assert_noop!(Drilling::clear(signed(OTHER), id), Error::<Test>::StillKept);
		assert_noop!(Drilling::clear(signed(OTHER), id + 1), Error::<Test>::NoSuchProject);
		System::set_block_number(at + KEEP);
		assert_ok!(Drilling::clear(signed(OTHER), id));
		assert!(is_gone(id));
		assert_eq!(held(PROPOSER), 0);
		assert_noop!(Drilling::clear(signed(OTHER), id), Error::<Test>::NoSuchProject);
		let open = propose(2, 1);
		assert_noop!(Drilling::clear(signed(OTHER), open), Error::<Test>::StillKept);
	});
}

/// Not before every unit of it has come to an end.
#[test]
fn a_project_with_a_unit_under_way_stays() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 10);
		enlisted(2);
		until(0, committing);
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), id));
		Projects::<Test>::mutate(id, |project| {
			project.as_mut().unwrap().stage = Stage::Withdrawn { at: 0 };
		});
		System::set_block_number(KEEP);
		assert_noop!(Drilling::clear(signed(OTHER), id), Error::<Test>::StillKept);
	});
}
