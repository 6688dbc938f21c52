//! Who is in the pool, and how groups form.

use crate::{mock::*, Batch, BatchDrillers, Error, Event, Pool, Projects, Ready};
use frame_support::{assert_noop, assert_ok};
use std::collections::{BTreeMap, BTreeSet};
use trainyard_protocol::drill::{unit_seed, Mismatch};

#[test]
fn trainers_enlist_and_retire() {
	run(|| {
		assert_noop!(enlist(OTHER), Error::<Test>::NotATrainer);
		assert_noop!(Drilling::retire(signed(11)), Error::<Test>::NotEnlisted);
		Bonds::mutate(|bonds| bonds.insert(12, MIN_BOND - 1));
		assert_noop!(enlist(12), Error::<Test>::NotATrainer);
		assert_ok!(enlist(11));
		System::assert_last_event(Event::Enlisted { driller: 11 }.into());
		assert_eq!(idle(), [11].into());
		assert_noop!(enlist(11), Error::<Test>::AlreadyEnlisted);
		assert_ok!(Drilling::retire(signed(11)));
		System::assert_last_event(Event::Retired { driller: 11 }.into());
		assert_eq!((idle().len(), Pool::<Test>::count()), (0, 0));
		assert_noop!(Drilling::retire(signed(11)), Error::<Test>::NotEnlisted);
	});
}

#[test]
fn the_pool_is_bounded() {
	run(|| {
		for who in 100..116 {
			Bonds::mutate(|bonds| bonds.insert(who, BOND));
			assert_ok!(enlist(who));
		}
		assert_ok!(enlist(11));
		assert_eq!(Pool::<Test>::count(), 16);
		assert_ok!(Drilling::retire(signed(100)));
		System::set_block_number(TURN - 1);
		next_block();
		assert!(Pool::<Test>::contains_key(11));
	});
}

#[test]
fn nobody_is_drawn_without_a_project() {
	run(|| {
		enlisted(8);
		blocks(20);
		assert!(!Batch::<Test>::exists());
		assert_eq!(idle().len(), 8);
	});
}

#[test]
fn a_batch_is_noted_and_dealt_behind_its_seed() {
	run(|| {
		let id = active(Mismatch::Majority, 3, 10);
		enlisted(7);
		next_block();
		let closed = System::block_number();
		assert_eq!(Batch::<Test>::get(), Some(closed));
		System::assert_last_event(Event::BatchClosed { drillers: 7, units: 2 }.into());
		assert_eq!((Ready::<Test>::get().len(), BatchDrillers::<Test>::get().len()), (0, 7));
		// A driller that comes now is not in it.
		assert_ok!(enlist(18));
		blocks(SEED_BLOCKS);
		assert!(Batch::<Test>::exists());
		next_block();
		assert!(!Batch::<Test>::exists());
		let (one, other) = (unit(0), unit(1));
		assert_eq!((one.index, other.index, one.project), (0, 1, id));
		assert_ne!(one.seed, other.seed);
		let members: BTreeSet<_> =
			who(&one.members).into_iter().chain(who(&other.members)).collect();
		assert_eq!(members.len(), 6);
		// The driller that was left over has no unit, and neither has the newcomer.
		assert_eq!(idle().len(), 2);
		assert!(idle().contains(&18) && idle().is_disjoint(&members));
		let until = closed + SEED_BLOCKS + 1 + COMMIT;
		System::assert_has_event(
			Event::Assigned {
				assignment: 0,
				project: id,
				index: 0,
				seed: one.seed,
				drillers: who(&one.members).try_into().unwrap(),
				until,
			}
			.into(),
		);
	});
}

/// The seed of a unit is that of the documented rule, from the batch's seed.
#[test]
fn units_of_a_batch_have_seeds_of_their_own() {
	run(|| {
		use trainyard_traits::{Beacon, Seed};
		let id = active(Mismatch::Majority, 2, 10);
		enlisted(4);
		next_block();
		let closed = Batch::<Test>::get().unwrap();
		blocks(SEED_BLOCKS + 1);
		let seed =
			FakeBeacon::seed(b"trainyard/drill/batch/v1", &codec::Encode::encode(&closed), closed);
		let Seed::Ready(seed) = seed else { panic!("{seed:?}") };
		assert_eq!(unit(0).seed, unit_seed(&seed, id, 0));
		assert_eq!(unit(1).seed, unit_seed(&seed, id, 1));
	});
}

/// A driller decides when it becomes ready, and may be the one with whom a batch closes.
#[test]
fn the_height_of_a_batch_is_not_that_at_which_the_last_driller_came() {
	run(|| {
		SeedStep::set(16);
		active(Mismatch::Majority, 3, 10);
		enlisted(7);
		next_block();
		let noted = System::block_number();
		let after = noted.next_multiple_of(16);
		assert!(noted < after, "{noted}");
		assert_eq!(Batch::<Test>::get(), Some(after));
		blocks(after - noted + SEED_BLOCKS);
		assert!(Batch::<Test>::exists());
		next_block();
		assert!(!Batch::<Test>::exists());
	});
}

#[test]
fn a_lost_seed_is_made_up_for() {
	run(|| {
		active(Mismatch::Majority, 2, 10);
		LostSeeds::set(2);
		enlisted(2);
		blocks(1 + SEED_BLOCKS + 1);
		System::assert_last_event(Event::<Test>::SeedLost.into());
		blocks(2 * (SEED_BLOCKS + 1));
		assert!(committing(&unit(0).phase));
	});
}

/// Otherwise an owner of many identities could let them become ready while all others compute.
#[test]
fn a_batch_waits_for_more_than_half_of_the_pool() {
	run(|| {
		active(Mismatch::Majority, 2, 100);
		enlisted(8);
		until(1, committing);
		// Four of eight are at work: the other four are no more than half of the pool.
		assert_eq!(idle().len(), 4);
		blocks(3);
		assert!(!Batch::<Test>::exists());
		play(0, &[Act::Say(1), Act::Say(1)]);
		// Six are.
		assert!(Batch::<Test>::exists());
		assert_eq!(idle().len(), 6);
	});
}

/// Groups form by chance, and any two drillers meet.
#[test]
fn groups_are_shuffled() {
	run(|| {
		active(Mismatch::Majority, 2, 100);
		enlisted(4);
		let mut pairs = BTreeMap::<(AccountId, AccountId), u32>::new();
		for id in 0..60 {
			let mut pair = play(id, &[Act::Say(1), Act::Say(1)]);
			pair.sort();
			*pairs.entry((pair[0], pair[1])).or_default() += 1;
		}
		assert_eq!(pairs.len(), 6, "{pairs:?}");
	});
}

#[test]
fn who_works_retires_behind_the_judgement() {
	run(|| {
		active(Mismatch::Majority, 2, 10);
		enlisted(2);
		until(0, committing);
		assert_ok!(Drilling::retire(signed(11)));
		assert_noop!(Drilling::retire(signed(11)), Error::<Test>::AlreadyRetiring);
		assert!(Pool::<Test>::contains_key(11));
		play(0, &[Act::Say(1), Act::Say(1)]);
		assert!(!Pool::<Test>::contains_key(11));
		assert_eq!(idle(), [12].into());
		until_over(0);
		assert_eq!(Credited::get().len(), 2);
	});
}

#[test]
fn who_retires_can_change_its_mind() {
	run(|| {
		active(Mismatch::Majority, 2, 10);
		enlisted(2);
		until(0, committing);
		assert_ok!(Drilling::retire(signed(11)));
		assert_ok!(enlist(11));
		assert_noop!(enlist(11), Error::<Test>::AlreadyEnlisted);
		play(0, &[Act::Say(1), Act::Say(1)]);
		assert_eq!(idle(), [11, 12].into());
	});
}

#[test]
fn who_retires_from_a_batch_leaves_unless_it_is_drawn() {
	run(|| {
		active(Mismatch::Majority, 2, 1);
		enlisted(3);
		next_block();
		for who in [11, 12, 13] {
			assert_ok!(Drilling::retire(signed(who)));
		}
		blocks(SEED_BLOCKS + 1);
		let members = who(&unit(0).members);
		assert_eq!(Pool::<Test>::count(), 2);
		assert!(members.iter().all(Pool::<Test>::contains_key));
		play(0, &[Act::Say(1), Act::Say(1)]);
		assert_eq!(Pool::<Test>::count(), 0);
	});
}

/// Its bond may soon answer for nothing.
#[test]
fn who_is_no_trainer_any_more_is_given_nothing() {
	run(|| {
		let id = active(Mismatch::Majority, 3, 10);
		enlisted(3);
		next_block();
		Bonds::mutate(|bonds| bonds.remove(&12));
		blocks(SEED_BLOCKS + 1);
		assert!(!crate::Assignments::<Test>::contains_key(0));
		System::assert_has_event(Event::Retired { driller: 12 }.into());
		assert_eq!(idle(), [11, 13].into());
		// The unit waits for another group, and that was no attempt.
		assert_eq!(attempts(id, 0), Some(0));
		assert_ok!(enlist(14));
		until(0, committing);
		assert_eq!((unit(0).index, unit(0).attempt), (0, 0));
		// Nor is it ready again after a unit.
		Bonds::mutate(|bonds| bonds.remove(&13));
		play(0, &[Act::Say(1), Act::Say(1), Act::Say(1)]);
		assert_eq!(idle(), [11, 14].into());
	});
}

/// Large groups do not keep small ones from work, and have the first turn when they can.
#[test]
fn a_project_that_needs_more_drillers_waits() {
	run(|| {
		let large = active(Mismatch::Majority, 5, 10);
		let small = active(Mismatch::Majority, 2, 10);
		enlisted(3);
		until(0, committing);
		assert_eq!(unit(0).project, small);
		assert_eq!(crate::Turns::<Test>::get().to_vec(), [large, small]);
		for who in [14, 15, 16] {
			assert_ok!(enlist(who));
		}
		play(0, &[Act::Say(1), Act::Say(1)]);
		until(1, committing);
		let projects: BTreeSet<_> = (1..crate::NextAssignment::<Test>::get())
			.filter_map(crate::Assignments::<Test>::get)
			.map(|unit| unit.project)
			.collect();
		assert!(projects.contains(&small) || projects.contains(&large));
		assert!(Projects::<Test>::get(large).is_some());
	});
}
