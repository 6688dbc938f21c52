//! What becomes of the results of a group.

use crate::{
	mock::{Act::*, *},
	Event, Failure, Fault, Outcome, Pool, Results, Stage,
};
use frame_support::assert_ok;
use trainyard_protocol::drill::{Mismatch, UnitResult};

/// One unit of a project with this rule and group, in which the members do `acts`. Returns
/// the members, at the judgement.
fn judged(rule: Mismatch, acts: &[Act]) -> Vec<AccountId> {
	active(rule, acts.len() as u8, 1);
	enlisted(acts.len());
	play(0, acts)
}

#[test]
fn who_agrees_shares_the_work() {
	run(|| {
		let members = judged(Mismatch::Majority, &[Say(1), Say(1)]);
		System::assert_has_event(
			Event::Agreed { assignment: 0, result: result(1), agreeing: 2 }.into(),
		);
		// The drillers are free at once; credit waits for the draw of recomputations.
		assert_eq!(idle(), members.iter().copied().collect());
		assert!(Credited::get().is_empty() && settling(&unit(0).phase));
		until_over(0);
		assert_eq!(Credited::get(), [(members[0], work() / 2), (members[1], work() / 2)]);
		assert!(Debited::get().is_empty());
		assert_eq!(Results::<Test>::get(0, 0), Some(Outcome { result: result(1), agreeing: 2 }));
		let event =
			Event::Credited { assignment: 0, project: 0, index: 0, work: work() / 2, agreeing: 2 };
		System::assert_last_event(event.into());
		System::assert_has_event(Event::ProjectDone { project: 0, agreed: 1, abandoned: 0 }.into());
		assert!(matches!(project(0).stage, Stage::Done { .. }));
	});
}

#[test]
fn a_majority_holds_and_the_minority_loses() {
	run(|| {
		let members = judged(Mismatch::Majority, &[Say(1), Say(2), Say(1)]);
		assert_eq!(Debited::get(), [(members[1], work() / 3)]);
		System::assert_has_event(
			Event::PowerLost {
				assignment: 0,
				driller: members[1],
				work: work() / 3,
				fault: Fault::Contrary,
			}
			.into(),
		);
		// It stays in the pool.
		assert_eq!(idle().len(), 3);
		until_over(0);
		assert_eq!(Credited::get(), [(members[0], work() / 3), (members[2], work() / 3)]);
		assert_eq!(Results::<Test>::get(0, 0), Some(Outcome { result: result(1), agreeing: 2 }));
	});
}

#[test]
fn without_a_majority_nobody_gains_or_loses() {
	run(|| {
		judged(Mismatch::Majority, &[Say(1), Say(2), Say(3)]);
		assert!(Debited::get().is_empty() && Credited::get().is_empty());
		System::assert_has_event(
			Event::Reissued { assignment: 0, project: 0, index: 0, failure: Failure::Disagreed }
				.into(),
		);
		assert_eq!(attempts(0, 0), Some(1));
		assert_eq!(idle().len(), 3);
	});
}

#[test]
fn where_all_lose_one_who_differs_costs_all() {
	run(|| {
		let members = judged(Mismatch::AllLose, &[Say(1), Say(1), Say(2)]);
		assert_eq!(Debited::get(), members.iter().map(|m| (*m, work() / 3)).collect::<Vec<_>>());
		assert_eq!(attempts(0, 0), Some(1));
		blocks(4);
		assert!(Credited::get().is_empty());
	});
}

#[test]
fn who_does_not_commit_loses_and_is_dismissed() {
	run(|| {
		let members = judged(Mismatch::Majority, &[Say(1), Vanish, Say(1)]);
		assert_eq!(Debited::get(), [(members[1], work() / 3)]);
		System::assert_has_event(Event::Dismissed { driller: members[1] }.into());
		assert!(!Pool::<Test>::contains_key(members[1]));
		until_over(0);
		assert_eq!(Credited::get().len(), 2);
		// It may come back.
		assert_ok!(enlist(members[1]));
	});
}

#[test]
fn who_does_not_reveal_loses_and_is_dismissed() {
	run(|| {
		let members = judged(Mismatch::Majority, &[Say(1), Say(1), Seal]);
		assert_eq!(Debited::get(), [(members[2], work() / 3)]);
		System::assert_has_event(
			Event::PowerLost {
				assignment: 0,
				driller: members[2],
				work: work() / 3,
				fault: Fault::NotRevealed,
			}
			.into(),
		);
		assert!(!Pool::<Test>::contains_key(members[2]));
		until_over(0);
		assert_eq!(Credited::get().len(), 2);
	});
}

/// It did its part, and is not even asked to reveal what cannot be agreed on any more.
#[test]
fn who_is_left_alone_loses_nothing() {
	run(|| {
		let members = judged(Mismatch::AllLose, &[Say(1), Vanish, Vanish]);
		assert_eq!(Debited::get(), [(members[1], work() / 3), (members[2], work() / 3)]);
		assert_eq!(idle(), [members[0]].into());
		System::assert_has_event(
			Event::Reissued { assignment: 0, project: 0, index: 0, failure: Failure::TooFew }
				.into(),
		);
	});
}

#[test]
fn a_group_of_which_nobody_commits_is_over_at_the_deadline() {
	run(|| {
		judged(Mismatch::Majority, &[Vanish, Vanish]);
		assert_eq!(Debited::get().len(), 2);
		assert_eq!(Pool::<Test>::count(), 0);
		assert_eq!(attempts(0, 0), Some(1));
	});
}

#[test]
fn a_unit_is_issued_again_with_another_seed_and_given_up_in_the_end() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 1);
		enlisted(2);
		let mut seeds = Vec::new();
		for assignment in 0..4 {
			until(assignment, committing);
			let unit = unit(assignment);
			assert_eq!((unit.index, u64::from(unit.attempt)), (0, assignment));
			seeds.push(unit.seed);
			play(assignment, &[Say(1), Say(2)]);
		}
		seeds.sort();
		seeds.dedup();
		assert_eq!(seeds.len(), 4);
		System::assert_has_event(
			Event::Abandoned { assignment: 3, project: id, index: 0, failure: Failure::Disagreed }
				.into(),
		);
		let project = project(id);
		assert!(matches!(project.stage, Stage::Done { .. }));
		assert_eq!((project.agreed, project.abandoned), (0, 1));
	});
}

/// Units that failed go first.
#[test]
fn a_failed_unit_comes_before_new_ones() {
	run(|| {
		active(Mismatch::Majority, 2, 10);
		enlisted(2);
		play(0, &[Say(1), Say(2)]);
		play(1, &[Say(1), Say(1)]);
		until(2, committing);
		assert_eq!((unit(2).index, unit(2).attempt), (1, 0));
		assert_eq!(Results::<Test>::iter_key_prefix(0).collect::<Vec<_>>(), [0]);
	});
}

/// It may have ended in its first step: nothing shows how much of it was computed.
#[test]
fn a_trial_that_diverged_is_kept_and_credited_nothing() {
	run(|| {
		assert_ok!(propose_by(PROPOSER, trial(), Mismatch::Majority, 2, 2));
		approve(0);
		prove(0);
		enlisted(2);
		until(0, committing);
		let scored = UnitResult { score: Some(score(0.25)), ..result(1) };
		for (id, shown) in [(0, result(1)), (1, scored)] {
			until(id, committing);
			let members = who(&unit(id).members);
			for who in &members {
				assert_ok!(commit(*who, id, shown));
			}
			until(id, revealing);
			for who in &members {
				assert_ok!(reveal(*who, id, shown));
			}
			until_over(id);
		}
		let credited: Vec<u64> = Credited::get().into_iter().map(|(_, work)| work).collect();
		let work = trial().difficulty().unwrap();
		assert_eq!(credited, [0, 0, work / 2, work / 2]);
		assert_eq!(Results::<Test>::get(0, 1).unwrap().result, scored);
	});
}
