//! Votes on projects.

use crate::{mock::*, Ballot, Error, Event, HoldReason, Projects, Stage, Votes};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use trainyard_protocol::drill::Mismatch;

fn held(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::Project.into(), &who)
}

fn vote(who: AccountId, id: u32, aye: bool) -> sp_runtime::DispatchResult {
	Drilling::vote(signed(who), id, aye)
}

#[test]
fn trainers_vote_with_their_bonds() {
	run(|| {
		let id = propose(2, 1);
		Bonds::mutate(|bonds| bonds.insert(VOTERS[1], 61));
		assert_ok!(vote(VOTERS[0], id, true));
		assert_ok!(vote(VOTERS[1], id, false));
		System::assert_last_event(
			Event::Voted { project: id, voter: VOTERS[1], aye: false, weight: 61 }.into(),
		);
		assert_eq!((project(id).ayes, project(id).nays), (BOND, 61));
		assert_eq!(Votes::<Test>::get(id, VOTERS[0]), Some(Ballot { round: 0, aye: true }));
	});
}

#[test]
fn a_vote_has_conditions() {
	run(|| {
		let id = propose(2, 1);
		assert_noop!(vote(VOTERS[0], id + 1, true), Error::<Test>::NoSuchProject);
		assert_noop!(vote(OTHER, id, true), Error::<Test>::NotATrainer);
		Bonds::mutate(|bonds| bonds.insert(PROPOSER, BOND));
		assert_noop!(vote(PROPOSER, id, true), Error::<Test>::OwnProject);
		assert_ok!(vote(VOTERS[0], id, true));
		assert_noop!(vote(VOTERS[0], id, false), Error::<Test>::AlreadyVoted);
		// The last block for votes, and then the first block after it.
		System::set_block_number(1 + REVIEW);
		assert_ok!(vote(VOTERS[1], id, true));
		System::set_block_number(2 + REVIEW);
		assert_noop!(vote(VOTERS[2], id, true), Error::<Test>::NotInReview);
		System::set_block_number(1 + REVIEW);
		next_block();
		assert_eq!(project(id).stage, Stage::Active);
		assert_noop!(vote(VOTERS[2], id, true), Error::<Test>::NotInReview);
	});
}

/// Ends a review with that many voters for and against. Returns the project and what its proposer
/// lost.
fn ended(ayes: usize, nays: usize) -> (crate::Project<AccountId>, u128) {
	let id = propose(2, 1);
	for (at, who) in VOTERS.into_iter().enumerate().take(ayes + nays) {
		assert_ok!(vote(who, id, at < ayes));
	}
	blocks(REVIEW + 1);
	let lost = events().into_iter().find_map(|event| match event {
		Event::ProjectRejected { lost, .. } => Some(lost),
		_ => None,
	});
	(project(id), lost.unwrap_or(0))
}

#[test]
fn enough_bonds_approve() {
	run(|| {
		let (project, lost) = ended(2, 1);
		assert_eq!((project.stage, lost), (Stage::Active, 0));
		assert_eq!(held(PROPOSER), PROJECT_DEPOSIT + UNIT_DEPOSIT);
		System::assert_has_event(
			Event::ProjectApproved { project: 0, ayes: 2 * BOND, nays: BOND }.into(),
		);
		assert_eq!(crate::Turns::<Test>::get().to_vec(), [0]);
	});
}

#[test]
fn too_few_bonds_reject_and_cost_nothing() {
	run(|| {
		let (project, lost) = ended(1, 0);
		assert_eq!((project.stage, lost), (Stage::Rejected { at: 2 + REVIEW }, 0));
		// The deposit is for the record as long as that is there.
		assert_eq!(held(PROPOSER), PROJECT_DEPOSIT + UNIT_DEPOSIT);
		blocks(KEEP);
		assert_eq!((held(PROPOSER), Balances::free_balance(PROPOSER)), (0, ENDOWMENT));
	});
}

#[test]
fn nays_reject_and_cost_nothing_below_two_thirds() {
	run(|| {
		let id = propose(2, 1);
		Bonds::mutate(|bonds| bonds.insert(VOTERS[0], 3 * BOND));
		assert_ok!(vote(VOTERS[0], id, false));
		assert_ok!(vote(VOTERS[1], id, true));
		assert_ok!(vote(VOTERS[2], id, true));
		blocks(REVIEW + 1);
		assert!(matches!(project(id).stage, Stage::Rejected { .. }));
		assert_ok!(Drilling::clear(signed(PROPOSER), id));
		assert_eq!(Balances::free_balance(PROPOSER), ENDOWMENT);
	});
}

#[test]
fn two_thirds_against_it_take_the_deposit() {
	run(|| {
		let (project, lost) = ended(1, 2);
		let deposit = PROJECT_DEPOSIT + UNIT_DEPOSIT;
		assert!(matches!(project.stage, Stage::Rejected { .. }));
		assert_eq!(lost, deposit);
		assert_eq!((held(PROPOSER), project.deposit), (0, 0));
		assert_eq!(Balances::free_balance(PROPOSER), ENDOWMENT - deposit);
		assert_eq!(Balances::free_balance(JACKPOT), ED + 1_000 + deposit);
	});
}

/// One who alone is against it takes no deposit.
#[test]
fn few_nays_condemn_nothing() {
	run(|| {
		let (project, lost) = ended(0, 1);
		assert!(matches!(project.stage, Stage::Rejected { .. }));
		assert_eq!(lost, 0);
	});
}

#[test]
fn a_rejected_project_is_computed_by_nobody() {
	run(|| {
		enlisted(4);
		let (project, _) = ended(0, 0);
		assert!(!project.has_units());
		blocks(10);
		assert!(!crate::Batch::<Test>::exists());
		assert_eq!(idle().len(), 4);
	});
}

/// Approved or not, a project has one turn at most, whatever its rule.
#[test]
fn projects_take_turns() {
	run(|| {
		let first = propose(2, 5);
		assert_ok!(propose_by(OTHER, template(), Mismatch::AllLose, 3, 5));
		let second = first + 1;
		for id in [first, second] {
			for who in VOTERS {
				assert_ok!(vote(who, id, true));
			}
		}
		blocks(REVIEW + 1);
		enlisted(5);
		until(1, committing);
		let projects: Vec<_> = (0..2).map(|id| unit(id).project).collect();
		assert_eq!(projects, [first, second]);
		assert_eq!((unit(0).members.len(), unit(1).members.len()), (2, 3));
		assert!(Projects::<Test>::iter_values().all(|project| project.running == 1));
	});
}
