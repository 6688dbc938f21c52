//! Votes on the end of active projects, and the end of their time.

use crate::{mock::*, Ballot, Error, Event, Stage, Votes};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::drill::{Mismatch, ProjectState};

fn vote(who: AccountId, id: u32, aye: bool) -> sp_runtime::DispatchResult {
	Drilling::vote(signed(who), id, aye)
}

fn recall(who: AccountId, id: u32) -> sp_runtime::DispatchResult {
	Drilling::recall(signed(who), id)
}

fn bond(who: AccountId, bond: u128) {
	Bonds::mutate(|bonds| bonds.insert(who, bond));
}

const DEPOSIT: u128 = PROJECT_DEPOSIT + 50 * UNIT_DEPOSIT;

#[test]
fn a_recall_has_conditions() {
	run(|| {
		assert_noop!(recall(5, 0), Error::<Test>::NoSuchProject);
		let id = propose(2, 1);
		assert_noop!(recall(5, id), Error::<Test>::NotActive);
		approve(id);
		assert_noop!(vote(5, id, false), Error::<Test>::NotInReview);
		assert_noop!(recall(OTHER, id), Error::<Test>::NotATrainer);
		bond(PROPOSER, BOND);
		assert_noop!(recall(PROPOSER, id), Error::<Test>::OwnProject);
		assert_ok!(recall(5, id));
		let until = System::block_number() + REVIEW;
		System::assert_last_event(Event::RecallOpened { project: id, who: 5, until }.into());
		assert_noop!(recall(6, id), Error::<Test>::AlreadyRecalled);
		// Who voted in the review votes again, and who asked has voted.
		assert_noop!(vote(5, id, true), Error::<Test>::AlreadyVoted);
		assert_ok!(vote(6, id, true));
		assert_eq!(Votes::<Test>::get(id, 6), Some(Ballot { round: 1, aye: true }));
		let view = Drilling::project(id).unwrap().recall.unwrap();
		assert_eq!((view.until, view.ayes, view.nays), (until, BOND, BOND));
		System::set_block_number(until + 1);
		assert_noop!(vote(7, id, true), Error::<Test>::NotInReview);
		System::set_block_number(until);
	});
}

/// Its units go on meanwhile: whoever asks stops nothing.
#[test]
fn a_project_that_most_want_goes_on() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 50);
		enlisted(2);
		assert_ok!(recall(5, id));
		assert_ok!(vote(6, id, true));
		until(0, committing);
		blocks(REVIEW + 1);
		System::assert_has_event(Event::ProjectKept { project: id, ayes: BOND, nays: BOND }.into());
		assert_eq!((project(id).stage, project(id).recall), (Stage::Active, None));
		// After a pause anyone may ask again, and everyone votes again.
		assert_noop!(recall(5, id), Error::<Test>::RecalledLately);
		let from = project(id).recall_from;
		let now = System::block_number();
		assert!(now + 9 * REVIEW < from && from <= now + 10 * REVIEW);
		System::set_block_number(from);
		assert_ok!(recall(5, id));
		assert_ok!(vote(6, id, false));
		assert_eq!(project(id).rounds, 2);
	});
}

#[test]
fn too_few_bonds_end_nothing() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 50);
		assert_ok!(recall(5, id));
		blocks(REVIEW + 1);
		assert_eq!(project(id).stage, Stage::Active);
	});
}

#[test]
fn a_project_that_most_do_not_want_ends() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 50);
		enlisted(2);
		until(0, committing);
		for who in [5, 6] {
			bond(who, 2 * BOND);
		}
		assert_ok!(recall(5, id));
		assert_ok!(vote(6, id, false));
		assert_ok!(vote(7, id, true));
		blocks(REVIEW + 1);
		// More than had approved it, and fewer than twice as many.
		let (ayes, nays) = (BOND, 4 * BOND);
		System::assert_has_event(
			Event::ProjectRecalled { project: id, ayes, nays, lost: 0 }.into(),
		);
		assert!(matches!(project(id).stage, Stage::Recalled { .. }));
		assert_eq!(Drilling::project(id).unwrap().state, ProjectState::Recalled);
		assert_eq!(project(id).deposit, DEPOSIT, "it was approved by more than half of these");
		// What is under way is finished, and nothing more is handed out.
		play(0, &[Act::Say(1), Act::Say(1)]);
		until_over(0);
		assert_eq!(Credited::get().len(), 2);
		blocks(10);
		assert_eq!(crate::NextAssignment::<Test>::get(), 1);
	});
}

/// Twice as many as are for it, and as approved it.
#[test]
fn a_project_that_is_condemned_loses_its_deposit() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 50);
		for who in [5, 6] {
			bond(who, 3 * BOND);
		}
		let jackpot = Balances::free_balance(JACKPOT);
		assert_ok!(recall(5, id));
		assert_ok!(vote(6, id, false));
		blocks(REVIEW + 1);
		let nays = 6 * BOND;
		System::assert_has_event(
			Event::ProjectRecalled { project: id, ayes: 0, nays, lost: DEPOSIT }.into(),
		);
		assert_eq!(Balances::free_balance(JACKPOT), jackpot + DEPOSIT);
	});
}

/// Who sees that coming does not save it, and nobody takes it before others could answer.
#[test]
fn withdrawing_saves_no_deposit_that_a_vote_condemns() {
	for saved in [false, true] {
		run(|| {
			let id = active(Mismatch::Majority, 2, 50);
			for who in [5, 6] {
				bond(who, 3 * BOND);
			}
			assert_ok!(recall(5, id));
			assert_ok!(vote(6, id, false));
			assert_ok!(Drilling::withdraw_project(signed(PROPOSER), id));
			let again = Drilling::withdraw_project(signed(PROPOSER), id);
			assert_eq!(again, Err(Error::<Test>::AlreadyEnded.into()));
			assert_eq!((project(id).stage, project(id).deposit), (Stage::Active, DEPOSIT));
			enlisted(2);
			blocks(3);
			assert!(!crate::Batch::<Test>::exists(), "nothing of it is handed out");
			if saved {
				bond(7, 6 * BOND);
				assert_ok!(vote(7, id, true));
			}
			blocks(REVIEW);
			if saved {
				assert!(matches!(project(id).stage, Stage::Withdrawn { .. }));
				assert_eq!(project(id).deposit, DEPOSIT);
			} else {
				assert!(matches!(project(id).stage, Stage::Recalled { .. }));
				assert_eq!(project(id).deposit, 0);
			}
		});
	}
}

/// Nor does it help to have all its units computed meanwhile.
#[test]
fn a_project_whose_units_are_done_ends_with_the_vote() {
	for condemned in [false, true] {
		run(|| {
			let id = active(Mismatch::Majority, 2, 1);
			enlisted(2);
			until(0, committing);
			for who in [5, 6] {
				bond(who, 3 * BOND);
			}
			assert_ok!(recall(5, id));
			if condemned {
				assert_ok!(vote(6, id, false));
			}
			for who in who(&unit(0).members) {
				assert_ok!(commit(who, 0, result(1)));
			}
			next_block();
			for who in who(&unit(0).members) {
				assert_ok!(reveal(who, 0, result(1)));
			}
			crate::Projects::<Test>::mutate(id, |project| {
				let recall = project.as_mut().unwrap().recall.as_mut().unwrap();
				recall.until += 20;
			});
			crate::Due::<Test>::remove(crate::Task::Review(id));
			let at = crate::Agenda::<Test>::iter()
				.find(|(_, task, ())| *task == crate::Task::Review(id));
			crate::Agenda::<Test>::remove(at.unwrap().0, crate::Task::Review(id));
			Drilling::look_again(id, &project(id));
			until_over(0);
			assert_eq!(project(id).stage, Stage::Active, "the vote is not over");
			blocks(30);
			let expected = if condemned { 0 } else { PROJECT_DEPOSIT + UNIT_DEPOSIT };
			let project = Drilling::project(id).expect("it is kept for a while");
			assert_eq!(project.deposit, expected);
			let state = if condemned { ProjectState::Recalled } else { ProjectState::Done };
			assert_eq!(project.state, state);
		});
	}
}

/// A project for which nobody drills does not keep its place for ever.
#[test]
fn the_time_of_a_project_is_bounded() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 50);
		let ends = project(id).until;
		assert_eq!(ends, System::block_number() + LIFE);
		System::set_block_number(ends - 2);
		next_block();
		// A vote that is open goes to its end.
		for who in [5, 6] {
			bond(who, 2 * BOND);
		}
		assert_ok!(recall(5, id));
		assert_ok!(vote(6, id, false));
		assert_ok!(vote(7, id, true));
		blocks(2);
		assert_eq!(project(id).stage, Stage::Active);
		blocks(REVIEW);
		assert!(matches!(project(id).stage, Stage::Recalled { .. }));
		let other = active(Mismatch::Majority, 2, 50);
		let ends = project(other).until;
		System::set_block_number(ends);
		next_block();
		assert_eq!(project(other).stage, Stage::Done { at: ends + 1 });
		assert!(crate::OpenProjects::<Test>::get().is_empty());
	});
}
