//! What clients read.

use crate::mock::*;
use frame_support::assert_ok;
use sp_runtime::Permill;
use trainyard_protocol::drill::{Mismatch, ProjectState, UnitPhase};

#[test]
fn a_project_is_told_as_it_stands() {
	run(|| {
		assert!(Drilling::projects(None, 9).is_empty() && Drilling::project(0).is_none());
		let id = propose(3, 7);
		assert_ok!(Drilling::vote(signed(5), id, true));
		let view = Drilling::project(id).unwrap();
		assert_eq!(
			(view.owner, view.template, view.rule),
			(PROPOSER, template(), Mismatch::Majority)
		);
		assert_eq!((view.replicas, view.units, view.commit_blocks), (3, 7, COMMIT));
		assert_eq!((view.state, view.deadline), (ProjectState::Review, 1 + REVIEW));
		assert_eq!((view.ayes, view.nays, view.difficulty), (BOND, 0, work()));
		assert_eq!(view.deposit, PROJECT_DEPOSIT + 7 * UNIT_DEPOSIT);
		blocks(REVIEW + 1);
		let view = Drilling::project(id).unwrap();
		assert_eq!((view.state, view.deadline), (ProjectState::Rejected, 2 + REVIEW + KEEP));
		assert_eq!(view.deposit, PROJECT_DEPOSIT + 7 * UNIT_DEPOSIT, "until it is removed");
		assert_eq!(Drilling::projects(None, 9), [view]);
		assert!(Drilling::open_projects().is_empty());
	});
}

#[test]
fn a_driller_is_told_what_it_must_do() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 5);
		enlisted(2);
		assert_eq!(Drilling::assignment(&11), None);
		until(0, committing);
		let view = Drilling::assignment(&11).unwrap();
		assert_eq!((view.id, view.project, view.index, view.seed), (0, id, 0, unit(0).seed));
		assert_eq!(view.phase, UnitPhase::Commit);
		assert_eq!(view.deadline, System::block_number() + COMMIT);
		assert_eq!((view.members.len(), view.committed, view.revealed), (2, false, false));
		assert_ok!(commit(11, 0, result(1)));
		assert!(Drilling::assignment(&11).unwrap().committed);
		assert!(!Drilling::assignment(&12).unwrap().committed);
		assert_ok!(commit(12, 0, result(1)));
		next_block();
		let view = Drilling::assignment(&11).unwrap();
		assert_eq!(
			(view.phase, view.deadline),
			(UnitPhase::Reveal, System::block_number() + REVEAL)
		);
		assert_ok!(reveal(11, 0, result(1)));
		assert!(Drilling::assignment(&11).unwrap().revealed);
		// Nothing that is sent after the last block for reveals is taken.
		blocks(REVEAL);
		assert_eq!(Drilling::assignment(&12).unwrap().phase, UnitPhase::Judgement);
		next_block();
		assert_eq!(Drilling::assignment(&11), None);
		assert_eq!(Drilling::drillers(), [11]);
	});
}

#[test]
fn a_verifier_is_told_what_it_must_recompute() {
	run(|| {
		CheckShare::set(Permill::one());
		active(Mismatch::Majority, 2, 5);
		enlisted(2);
		play(0, &[Act::Say(1), Act::Say(1)]);
		until(0, checking);
		let verifiers = who(&unit(0).verifiers);
		for verifier in VERIFIERS {
			let checks = Drilling::checks(&verifier);
			assert_eq!(checks.len(), usize::from(verifiers.contains(&verifier)));
		}
		let view = Drilling::checks(&verifiers[0]).remove(0);
		assert_eq!((view.id, view.phase, view.committed), (0, UnitPhase::Commit, false));
		assert_eq!(view.members, verifiers);
		for who in &verifiers {
			assert_ok!(check(*who, 0, result(1)));
		}
		next_block();
		let view = Drilling::checks(&verifiers[0]).remove(0);
		assert_eq!((view.phase, view.committed, view.revealed), (UnitPhase::Reveal, true, false));
	});
}

#[test]
fn results_are_told_in_pages() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 5);
		enlisted(2);
		for assignment in 0..4 {
			play(assignment, &[Act::Say(assignment as u8), Act::Say(assignment as u8)]);
			until_over(assignment);
		}
		let indices = |after, count| -> Vec<u32> {
			Drilling::results(id, after, count).into_iter().map(|r| r.index).collect()
		};
		assert_eq!(indices(None, 100), [0, 1, 2, 3]);
		assert_eq!(indices(None, 2), [0, 1]);
		assert_eq!(indices(Some(1), 2), [2, 3]);
		assert_eq!(indices(Some(u32::MAX), 2), [0u32; 0]);
		assert_eq!(Drilling::results(id + 1, None, 9), []);
		let outcome = Drilling::results(id, Some(2), 1).remove(0);
		assert_eq!((outcome.result, outcome.replicas), (result(3), 2));
	});
}
