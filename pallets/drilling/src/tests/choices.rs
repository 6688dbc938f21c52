//! Drillers compute units of the projects that they chose.

use crate::{mock::*, Batch, Choices, Error, Event, Pool, Waiting};
use frame_support::{assert_noop, assert_ok};
use std::collections::BTreeSet;
use trainyard_protocol::drill::{Chosen, Mismatch, ProjectId, MAX_CHOSEN};

fn of(projects: &[ProjectId]) -> Chosen {
	projects.to_vec().try_into().unwrap()
}

fn enlist_for(who: AccountId, projects: &[ProjectId]) {
	assert_ok!(Drilling::enlist(signed(who), of(projects)));
}

#[test]
fn a_driller_chooses_projects_that_are_open() {
	run(|| {
		let review = propose(2, 1);
		let ended = propose(2, 1);
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), ended));
		let enlist = |projects: &[ProjectId]| Drilling::enlist(signed(11), of(projects));
		assert_noop!(enlist(&[]), Error::<Test>::NothingChosen);
		assert_noop!(enlist(&[ended]), Error::<Test>::ChosenEnded);
		assert_noop!(enlist(&[review, 9]), Error::<Test>::ChosenEnded);
		assert_ok!(enlist(&[review]));
		assert_eq!(Drilling::chosen(&11), [review]);
		assert_eq!(Drilling::chosen(&12), [0u32; 0]);
		assert!(Chosen::try_from(vec![0; MAX_CHOSEN as usize + 1]).is_err());
		// Each once: who counted twice would have others wait for it.
		let other = propose(2, 1);
		let choose = |projects: &[ProjectId]| Drilling::choose(signed(11), of(projects));
		assert_noop!(choose(&[review, review]), Error::<Test>::ChosenTwice);
		assert_noop!(choose(&[other, review]), Error::<Test>::ChosenTwice);
		assert_ok!(choose(&[review, other]));
	});
}

#[test]
fn a_driller_changes_its_mind() {
	run(|| {
		let (one, other) = (propose(2, 1), propose(2, 1));
		let choose = |projects: &[ProjectId]| Drilling::choose(signed(11), of(projects));
		assert_noop!(choose(&[one]), Error::<Test>::NotEnlisted);
		enlist_for(11, &[one]);
		assert_noop!(choose(&[]), Error::<Test>::NothingChosen);
		assert_noop!(choose(&[7]), Error::<Test>::ChosenEnded);
		assert_ok!(choose(&[other]));
		System::assert_last_event(Event::Chose { driller: 11, projects: of(&[other]) }.into());
		assert_eq!(Drilling::chosen(&11), [other]);
		// What it chose goes with its place.
		assert_ok!(Drilling::retire(signed(11)));
		assert!(!Choices::<Test>::contains_key(11));
		assert_noop!(choose(&[one]), Error::<Test>::NotEnlisted);
	});
}

#[test]
fn who_waits_has_chosen_too() {
	run(|| {
		let id = propose(2, 1);
		FreeDrillers::set(1);
		crate::Inflow::<Test>::put(0);
		enlist_for(11, &[id]);
		assert_eq!(Waiting::<Test>::get().len(), 1);
		assert_ok!(Drilling::choose(signed(11), of(&[id])));
		assert_ok!(Drilling::retire(signed(11)));
		assert!(!Choices::<Test>::contains_key(11));
	});
}

/// Nobody can be made to compute what it did not choose, however small a deadline or a rule.
#[test]
fn nobody_is_given_a_unit_that_it_did_not_choose() {
	run(|| {
		let mine = active(Mismatch::Majority, 2, 50);
		let theirs = active(Mismatch::AllLose, 2, 50);
		for who in [11, 12, 13] {
			enlist_for(who, &[mine]);
		}
		for who in [14, 15] {
			enlist_for(who, &[theirs]);
		}
		enlist_for(16, &[mine, theirs]);
		let mut drawn = [BTreeSet::new(), BTreeSet::new()];
		for id in 0..24 {
			until(id, committing);
			let of_mine = unit(id).project == mine;
			drawn[usize::from(!of_mine)].extend(play(id, &[Act::Say(1), Act::Say(1)]));
		}
		assert_eq!(drawn[0], [11, 12, 13, 16].into());
		assert!(drawn[1].is_superset(&[14, 15].into()) && drawn[1].is_subset(&[14, 15, 16].into()));
	});
}

/// Where everybody would have to be willing there is no batch at all.
#[test]
fn a_project_that_too_few_chose_waits() {
	run(|| {
		let lonely = active(Mismatch::Majority, 3, 5);
		enlist_for(11, &[lonely]);
		enlist_for(12, &[lonely]);
		blocks(10);
		assert!(!Batch::<Test>::exists());
		assert_eq!(crate::Turns::<Test>::get().to_vec(), [lonely]);
		enlist_for(13, &[lonely]);
		until(0, committing);
		assert_eq!(unit(0).project, lonely);
	});
}

/// Of each project by itself: others who are ready, and did not choose it, do not count.
#[test]
fn a_batch_waits_for_more_than_half_of_those_who_chose_a_project() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 50);
		let other = active(Mismatch::Majority, 7, 50);
		for who in [11, 12, 13, 14] {
			enlist_for(who, &[id]);
		}
		until(1, committing);
		// All four are at work. Two come who are ready together, beside a crowd for something else.
		for who in [15, 16] {
			enlist_for(who, &[id]);
		}
		for who in [17, 18] {
			enlist_for(who, &[other]);
		}
		blocks(3);
		assert!(!Batch::<Test>::exists(), "two of six are no more than half");
		play(0, &[Act::Say(1), Act::Say(1)]);
		assert!(Batch::<Test>::exists(), "four of six are");
	});
}

/// Who is at work, or may be, chooses for later: nobody is made to wait for somebody who is not there.
#[test]
fn a_driller_at_work_chooses_for_when_it_is_ready() {
	run(|| {
		let (id, other) = (active(Mismatch::Majority, 2, 5), active(Mismatch::Majority, 7, 5));
		for who in [11, 12] {
			enlist_for(who, &[id]);
		}
		next_block();
		assert!(Batch::<Test>::exists());
		assert_ok!(Drilling::choose(signed(11), of(&[other])));
		assert_eq!(Choices::<Test>::get(11), of(&[id]), "the batch goes by it");
		assert_eq!(Drilling::chosen(&11), [other], "it has said what it wants");
		until(0, committing);
		assert_ok!(Drilling::choose(signed(12), of(&[id, other])));
		play(0, &[Act::Say(1), Act::Say(1)]);
		assert_eq!(Choices::<Test>::get(11), of(&[other]));
		assert_eq!(Choices::<Test>::get(12), of(&[id, other]));
		blocks(10);
		assert_eq!(crate::NextAssignment::<Test>::get(), 1, "it is given no other");
	});
}

/// Where other units took most of those who chose a project, the rest of them is not drawn for it: that may
/// be one owner.
#[test]
fn who_is_left_over_does_not_meet_itself() {
	run(|| {
		let large = active(Mismatch::Majority, 4, 50);
		let small = active(Mismatch::Majority, 2, 50);
		// Four honest drillers compute for both, two others only for the small one.
		for who in [11, 12, 13, 14] {
			enlist_for(who, &[large, small]);
		}
		for who in [15, 16] {
			enlist_for(who, &[small]);
		}
		next_block();
		let plan: Vec<_> = crate::BatchPlan::<Test>::get().into_iter().collect();
		assert_eq!(plan.iter().map(|slot| slot.project).collect::<Vec<_>>(), [large]);
		let choosers = crate::Slot { choosers: 4, ..plan[0] };
		assert_eq!(plan, [choosers]);
		assert_eq!(crate::Turns::<Test>::get().to_vec(), [small, large], "it has the next turn");
	});
}

/// Whoever has had a unit for long counts nowhere else.
#[test]
fn a_long_unit_keeps_nobody_waiting() {
	run(|| {
		let (title, rule, data) = (Default::default(), Mismatch::Majority, Default::default());
		assert_ok!(Drilling::propose(signed(OTHER), title, template(), data, rule, 4, 1, 150));
		let long = crate::NextProject::<Test>::get() - 1;
		approve(long);
		let id = active(Mismatch::Majority, 2, 50);
		for who in [11, 12, 13, 14] {
			enlist_for(who, &[long]);
		}
		until(0, committing);
		for who in [11, 12, 13, 14] {
			Choices::<Test>::insert(who, of(&[long, id]));
		}
		for who in [15, 16] {
			enlist_for(who, &[id]);
		}
		blocks(crate::BUSY_BLOCKS - 20);
		assert!(!Batch::<Test>::exists(), "two of six are ready");
		until(1, committing);
		assert_eq!(who(&unit(1).members).into_iter().collect::<BTreeSet<_>>(), [15, 16].into());
	});
}

/// Places are for those who work: a larger bond that never does is displaced before a small one.
#[test]
fn who_was_given_nothing_while_others_worked_is_displaced_first() {
	run(|| {
		let id = active(Mismatch::Majority, 2, 50);
		let idle = active(Mismatch::Majority, 7, 50);
		for who in 100..114 {
			Bonds::mutate(|bonds| bonds.insert(who, 9 * BOND));
			enlist_for(who, &[idle]);
		}
		for who in [11, 12] {
			enlist_for(who, &[id]);
		}
		assert_eq!(Pool::<Test>::count(), 16);
		Bonds::mutate(|bonds| bonds.insert(13, BOND));
		enlist_for(13, &[id]);
		crate::Inflow::<Test>::put(1);
		// The first turn ends before they were idle for a whole one.
		System::set_block_number(2 * TURN - 1);
		for who in [11, 12] {
			Pool::<Test>::mutate(who, |driller| driller.as_mut().unwrap().worked = 2 * TURN - 9);
		}
		next_block();
		assert!(Pool::<Test>::contains_key(13));
		assert!(Pool::<Test>::contains_key(11) && Pool::<Test>::contains_key(12));
		assert_eq!((100..114).filter(|who| Pool::<Test>::contains_key(who)).count(), 13);
	});
}
