//! How the pool of drillers changes.

use crate::{mock::*, Error, Event, Former, Heirs, Inflow, Pool, Ready, Waiting};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::{drill::Mismatch, job::Balance};

/// Makes `count` trainers of this bond from account `first` on, and lets them enlist.
fn enlist_all(first: AccountId, count: u64, bond: Balance) {
	for who in first..first + count {
		Bonds::mutate(|bonds| bonds.insert(who, bond));
		assert_ok!(enlist(who));
	}
}

fn of(accounts: std::ops::Range<AccountId>) -> usize {
	accounts.filter(|who| Pool::<Test>::contains_key(who)).count()
}

fn waiting() -> Vec<AccountId> {
	Waiting::<Test>::get().into_iter().map(|(who, _)| who).collect()
}

/// Goes to the end of the running turn.
fn next_turn() {
	let end = (System::block_number() / TURN + 1) * TURN;
	System::set_block_number(end - 1);
	next_block();
	Drilling::do_try_state().unwrap();
}

#[test]
fn who_finds_the_pool_full_waits_and_displaces_a_smaller_bond() {
	run(|| {
		FreeDrillers::set(2);
		Inflow::<Test>::put(16);
		enlist_all(100, 15, BOND);
		enlist_all(115, 1, BOND - 4);
		enlist_all(200, 1, BOND * 5 / 4 - 5);
		System::assert_last_event(Event::Waits { driller: 200 }.into());
		enlist_all(201, 1, BOND * 5 / 4 - 6);
		assert_noop!(enlist(200), Error::<Test>::AlreadyEnlisted);
		assert_eq!((of(100..116), of(200..202)), (16, 0));
		next_turn();
		System::assert_has_event(Event::Displaced { driller: 115 }.into());
		assert_eq!((of(100..116), of(200..201)), (15, 1));
		assert_eq!(waiting(), [201], "a quarter more than the weakest");
		// It may change its mind, and whoever was displaced may come back.
		assert_ok!(Drilling::retire(signed(201)));
		assert!(Waiting::<Test>::get().is_empty());
		assert_ok!(enlist(115));
		assert_eq!(waiting(), [115]);
	});
}

#[test]
fn only_a_share_is_displaced_in_a_turn() {
	run(|| {
		FreeDrillers::set(2);
		Inflow::<Test>::put(16);
		Inflow::<Test>::put(16);
		enlist_all(100, 16, BOND);
		enlist_all(200, 16, 10 * BOND);
		for turn in 1..=8 {
			next_turn();
			assert_eq!(of(200..216), 2 * turn);
		}
		assert_eq!(of(100..116), 0);
	});
}

/// A pool with free places is not bought in a block either.
#[test]
fn only_a_share_comes_in_during_a_turn() {
	run(|| {
		FreeDrillers::set(3);
		enlist_all(100, 3, BOND);
		enlist_all(200, 10, BOND);
		assert_eq!((of(100..103), of(200..210)), (3, 0));
		next_turn();
		assert_eq!(of(200..210), 3);
		next_turn();
		assert_eq!(of(200..210), 6);
	});
}

/// Whoever works on a unit finishes it.
#[test]
fn a_displaced_driller_finishes_its_unit() {
	run(|| {
		active(Mismatch::Majority, 2, 100);
		enlist_all(100, 16, BOND);
		until(0, committing);
		let members = who(&unit(0).members);
		Bonds::mutate(|bonds| {
			for (who, bond) in bonds.iter_mut().filter(|(who, _)| **who >= 100) {
				*bond = if members.contains(who) { BOND } else { 10 * BOND };
			}
		});
		FreeDrillers::set(2);
		enlist_all(200, 2, 2 * BOND);
		Drilling::turn();
		assert!(members.iter().all(|who| Pool::<Test>::get(who).is_some_and(|d| d.retiring)));
		assert_eq!(of(200..202), 0, "there is no place yet");
		assert_eq!(Heirs::<Test>::get().len(), 2);
		// The next turn gives nobody else these places, nor does it displace for them again.
		Bonds::mutate(|bonds| bonds.insert(300, 3 * BOND));
		assert_ok!(enlist(300));
		FreeDrillers::set(0);
		Drilling::turn();
		play(0, &[Act::Say(1), Act::Say(1)]);
		assert!(members.iter().all(|who| !Pool::<Test>::contains_key(who)));
		assert_eq!((of(200..202), of(300..301)), (2, 0), "their places are theirs at once");
		assert!(Heirs::<Test>::get().is_empty());
	});
}

/// A full pool of 16, in which the two members of unit 0 have the least bonds. Returns them. No other
/// units are handed out.
fn at_work() -> Vec<AccountId> {
	let project = active(Mismatch::Majority, 2, 100);
	enlist_all(100, 16, BOND);
	until(0, committing);
	assert_ok!(Drilling::withdraw_project(signed(PROPOSER), project));
	let members = who(&unit(0).members);
	Bonds::mutate(|bonds| {
		for (who, bond) in bonds.iter_mut().filter(|(who, _)| **who >= 100) {
			*bond = if members.contains(who) { BOND } else { 10 * BOND };
		}
	});
	FreeDrillers::set(2);
	members
}

/// Otherwise whoever fills the pool once keeps it: there is nearly always a unit to work on.
#[test]
fn a_displaced_driller_cannot_stay_or_come_back_first() {
	run(|| {
		let members = at_work();
		enlist_all(200, 2, 2 * BOND);
		Drilling::turn();
		for who in &members {
			assert_noop!(enlist(*who), Error::<Test>::AlreadyEnlisted);
			assert_noop!(Drilling::retire(signed(*who)), Error::<Test>::AlreadyRetiring);
		}
		play(0, &[Act::Say(1), Act::Vanish]);
		assert_eq!(of(200..202), 2);
		// Not even where somebody else leaves: they are newcomers.
		Inflow::<Test>::put(0);
		let ready = Ready::<Test>::get()[0];
		assert_ok!(Drilling::retire(signed(ready)));
		for who in &members {
			assert_ok!(enlist(*who));
		}
		assert_eq!(waiting(), members);
	});
}

/// Nor does it help to retire before the turn and to enlist after it.
#[test]
fn who_is_retiring_can_be_displaced() {
	run(|| {
		let members = at_work();
		for who in &members {
			assert_ok!(Drilling::retire(signed(*who)));
		}
		enlist_all(200, 2, 2 * BOND);
		Drilling::turn();
		for who in &members {
			assert_noop!(enlist(*who), Error::<Test>::AlreadyEnlisted);
		}
		play(0, &[Act::Say(1), Act::Say(1)]);
		assert_eq!(of(200..202), 2);
	});
}

/// Whoever displaced a driller at work may change its mind, or lose its bond, before it enters.
#[test]
fn an_heir_may_be_gone() {
	run(|| {
		let members = at_work();
		enlist_all(200, 2, 2 * BOND);
		Drilling::turn();
		assert_eq!(Drilling::drillers().len(), 18);
		assert_noop!(enlist(200), Error::<Test>::AlreadyEnlisted);
		assert_ok!(Drilling::retire(signed(200)));
		assert_noop!(Drilling::retire(signed(200)), Error::<Test>::NotEnlisted);
		Bonds::mutate(|bonds| bonds.remove(&201));
		play(0, &[Act::Say(1), Act::Say(1)]);
		assert!(members.iter().all(|who| !Pool::<Test>::contains_key(who)));
		assert_eq!((Pool::<Test>::count(), Heirs::<Test>::get().len()), (14, 0));
	});
}

#[test]
fn the_list_of_those_who_wait_is_bounded() {
	run(|| {
		enlist_all(100, 16, BOND);
		enlist_all(200, 16, BOND);
		Bonds::mutate(|bonds| bonds.extend([(300, BOND), (301, BOND + 1)]));
		assert_noop!(enlist(300), Error::<Test>::PoolFull);
		assert_ok!(enlist(301));
		assert_eq!(Waiting::<Test>::get().len(), 16);
	});
}

/// Who is no trainer any more does not wait for ever.
#[test]
fn who_waits_must_stay_a_trainer() {
	run(|| {
		enlist_all(100, 16, BOND);
		enlist_all(200, 1, 9 * BOND);
		Bonds::mutate(|bonds| bonds.remove(&200));
		next_turn();
		assert!(Waiting::<Test>::get().is_empty());
		assert_eq!(of(100..116), 16);
	});
}

/// A driller that restarts, or was dismissed, is no newcomer, for a while.
#[test]
fn who_was_there_returns_at_once() {
	run(|| {
		FreeDrillers::set(2);
		enlist_all(100, 2, BOND);
		enlist_all(200, 1, BOND);
		assert_eq!(waiting(), [200]);
		blocks(RETURN);
		assert_ok!(Drilling::retire(signed(100)));
		assert_ok!(Drilling::retire(signed(101)));
		blocks(RETURN);
		assert_ok!(enlist(100));
		assert_eq!((of(100..102), of(200..201)), (1, 0));
		next_block();
		assert_ok!(enlist(101));
		assert_eq!(waiting(), [200, 101], "that was too long ago");
		blocks(RETURN);
		assert_ok!(Drilling::retire(signed(100)));
		assert!(Former::<Test>::contains_key(100));
		next_turn();
		assert_eq!(Former::<Test>::iter().count(), 0, "who is gone for good is forgotten");
	});
}

/// Coming and going does not renew what a stay has earned.
#[test]
fn who_was_there_for_a_moment_is_a_newcomer() {
	run(|| {
		FreeDrillers::set(1);
		enlist_all(100, 1, BOND);
		blocks(RETURN);
		for returns in [true, false] {
			assert_ok!(Drilling::retire(signed(100)));
			assert_ok!(enlist(100));
			assert_eq!(Pool::<Test>::contains_key(100), returns);
		}
	});
}

/// Otherwise identities that come in day by day, and stay outside, return together in one block.
#[test]
fn claims_to_return_cannot_be_hoarded() {
	run(|| {
		FreeDrillers::set(2);
		for turn in 1..=8u64 {
			next_turn();
			let last = 100 + 2 * turn;
			enlist_all(last - 2, 2, BOND);
			for who in 100..last {
				let _ = Drilling::retire(signed(who));
				assert_ok!(enlist(who));
				assert_ok!(Drilling::retire(signed(who)));
			}
		}
		next_turn();
		for who in 100..116 {
			assert_ok!(enlist(who));
		}
		assert_eq!(of(100..116), 2);
	});
}
