//! The hook: bounded work, oldest first, nothing forgotten.

use crate::{mock::*, Due, Stage, Task, WeightInfo};
use frame_support::{assert_ok, weights::Weight};
use trainyard_protocol::drill::Mismatch;

/// What is due, in order.
fn due_tasks() -> Vec<Task> {
	let mut tasks: Vec<_> = Due::<Test>::iter_keys().collect();
	tasks.sort();
	tasks
}

/// The least weight that lets the hook work.
fn least() -> Weight {
	Drilling::worst_step()
}

#[test]
fn an_idle_block_does_nothing() {
	run(|| {
		blocks(3);
		let used = next_block();
		let idle = <() as WeightInfo>::serve(0)
			.saturating_mul(4)
			.saturating_add(<() as WeightInfo>::look_at_batch());
		assert!(used.all_lte(idle), "{used} above {idle}");
	});
}

#[test]
fn no_block_uses_more_than_it_may() {
	run(|| {
		ServiceWeight::set(least());
		for _ in 0..4 {
			propose(2, 5);
		}
		for id in 0..4 {
			for who in VOTERS {
				assert_ok!(Drilling::vote(signed(who), id, true));
			}
		}
		enlisted(8);
		for _ in 0..60 {
			let used = next_block();
			assert!(used.all_lte(least()), "{used}");
		}
		// One task a block or so: all were served in the end.
		for id in 0..4 {
			assert_eq!(project(id).stage, Stage::Active);
		}
		assert!(crate::NextAssignment::<Test>::get() > 0);
	});
}

#[test]
fn without_room_nothing_happens_and_nothing_is_lost() {
	run(|| {
		let id = propose(2, 5);
		ServiceWeight::set(Weight::zero());
		blocks(REVIEW + 5);
		assert_eq!(project(id).stage, Stage::Review);
		ServiceWeight::set(Weight::MAX);
		next_block();
		assert!(matches!(project(id).stage, Stage::Rejected { .. }));
	});
}

/// Deadlines are served before new work is handed out.
#[test]
fn batches_wait_for_room() {
	run(|| {
		active(Mismatch::Majority, 2, 5);
		ServiceWeight::set(Drilling::worst_batch());
		enlisted(2);
		blocks(5);
		assert!(!crate::Batch::<Test>::exists());
		ServiceWeight::set(least());
		next_block();
		assert!(crate::Batch::<Test>::exists());
	});
}

#[test]
fn deadlines_are_served_in_their_block() {
	run(|| {
		active(Mismatch::Majority, 2, 5);
		enlisted(2);
		until(0, committing);
		let at = due(0).unwrap();
		assert_eq!(at, System::block_number() + COMMIT + 1);
		let members = who(&unit(0).members);
		assert_ok!(commit(members[0], 0, result(1)));
		assert_eq!(due(0), Some(at));
		assert_ok!(commit(members[1], 0, result(1)));
		assert_eq!(due(0), Some(System::block_number() + 1));
		assert_eq!(due_tasks(), [Task::Review(0), Task::Unit(0)]);
	});
}

#[test]
fn the_configuration_is_checked() {
	use frame_support::traits::IntegrityTest;
	run(|| {
		AllPalletsWithSystem::integrity_test();
		ServiceWeight::set(Weight::zero());
		assert!(std::panic::catch_unwind(<Drilling as IntegrityTest>::integrity_test).is_err());
	});
}

/// However many projects end: their removal takes what is left of a block.
#[test]
fn work_under_way_is_served_before_what_ended_is_removed() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 50);
		for _ in 0..20 {
			let ended = propose(2, 1);
			assert_ok!(Drilling::withdraw_project(signed(PROPOSER), ended));
		}
		ServiceWeight::set(least().saturating_mul(2));
		// From here on all of them are to be removed, one in a block where a block has room.
		blocks(KEEP - 1);
		enlisted(2);
		next_block();
		let before = crate::CleanDue::<Test>::iter().count();
		assert!(before > 2, "{before}");
		for number in 0..3 {
			play(number, &[Act::Say(1), Act::Say(1)]);
			let until = due(number).unwrap_or_else(|| System::block_number());
			until_over(number);
			assert!(
				System::block_number() <= until + SEED_BLOCKS + 2,
				"a unit waited for removals"
			);
		}
		assert!(crate::CleanDue::<Test>::iter().count() < before, "removals go on beside units");
		assert_eq!(project(id).agreed, 3);
		ServiceWeight::set(Weight::MAX);
		blocks(2);
		assert_eq!(crate::CleanDue::<Test>::iter().count(), 0);
	});
}
