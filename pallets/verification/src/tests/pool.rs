//! Who has a place, and how fast that changes.

use crate::{mock::*, Error, Event, HoldReason, Inflow, Pool, Room, SETTLING};
use frame_support::{
	assert_noop, assert_ok,
	traits::{fungible::InspectHold, Get},
};
use trainyard_protocol::views::Standing;

fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

fn standing(who: AccountId) -> Standing {
	entry(who).standing
}

/// Drops the strangers with whom a test filled the pool.
fn clear() {
	Pool::<Test>::mutate(|pool| {
		for who in pool.keys().copied().collect::<Vec<_>>() {
			if let Some(entry) = pool.remove(&who) {
				Verification::give_back(&who, entry.bond);
			}
		}
	});
}

/// Runs `test`, in which strangers get money.
fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		test();
		Verification::do_try_state().unwrap();
		clear();
	});
}

/// Otherwise the pool could be bought in a block.
#[test]
fn who_finds_the_pool_full_waits() {
	run(|| {
		filled(100..132, BOND);
		assert_ok!(register_keyless(10, 3 * BOND));
		let waits = Standing::Waiting { since: 1 };
		System::assert_last_event(
			Event::Registered { verifier: 10, bond: 3 * BOND, standing: waits }.into(),
		);
		assert_ok!(set_key(10, key()));
		System::assert_last_event(Event::VrfKeySet { verifier: 10, key: key() }.into());
		assert_eq!(standing(10), waits, "a key makes no room");
		assert_eq!(Verification::verifiers().len(), 32);
		assert_noop!(register(10, 4 * BOND), Error::<Test>::AlreadyVerifier);
		// It can take its bond back at once.
		assert_ok!(Verification::deregister(signed(10)));
		assert_eq!(Balances::free_balance(10), ENDOWMENT);
		assert_eq!(Verification::verifier(10), None);
	});
}

#[test]
fn a_quarter_more_displaces_the_smallest_bond_at_the_end_of_a_turn() {
	run(|| {
		FreeInflow::set(0);
		filled(100..131, BOND);
		filled(131..132, BOND - 8);
		assert_ok!(register(10, BOND * 5 / 4 - 10));
		assert_ok!(register(11, BOND * 5 / 4 - 11));
		next_turn();
		// A 31st part of what counts is less than a place, and one place may always change.
		System::assert_has_event(Event::Displaced { verifier: 131, by: 10 }.into());
		assert_eq!(standing(10), Standing::Active);
		assert_eq!(standing(131), Standing::Waiting { since: TURN });
		next_turn();
		assert_eq!(standing(11), Standing::Waiting { since: 1 }, "a quarter more than 10,000");
		// The displaced bond is free.
		assert_ok!(Verification::deregister(signed(131)));
		let reason = HoldReason::VerifierBond.into();
		assert_eq!(Balances::balance_on_hold(&reason, &131), 0);
	});
}

#[test]
fn who_was_displaced_returns_by_a_larger_bond() {
	run(|| {
		filled(100..131, 2 * BOND);
		assert_ok!(register(10, BOND));
		assert_ok!(register(11, 2 * BOND));
		next_turn();
		assert_eq!(
			(standing(10), standing(11)),
			(Standing::Waiting { since: TURN }, Standing::Active)
		);
		assert_ok!(Verification::bond_extra(signed(10), 2 * BOND));
		next_turn();
		assert_eq!(standing(10), Standing::Active);
		assert_eq!(entry(10).counted, 3 * BOND);
	});
}

#[test]
fn a_larger_bond_without_a_key_displaces_nobody() {
	run(|| {
		filled(100..132, MIN_BOND);
		assert_ok!(register_keyless(10, 4 * MIN_BOND));
		next_turn();
		assert_eq!(standing(10), Standing::Waiting { since: 1 });
		assert_ok!(set_key(10, key()));
		assert_eq!(standing(10), Standing::Waiting { since: TURN });
		next_turn();
		assert_eq!(standing(10), Standing::Active);
	});
}

/// A verifier that stays paused does no work: anybody takes its place.
#[test]
fn the_place_of_one_that_was_paused_for_a_turn_goes_first() {
	run(|| {
		filled(100..131, BOND);
		filled(131..132, 4 * BOND);
		System::set_block_number(10);
		Pool::<Test>::mutate(|pool| pool.get_mut(&131).unwrap().put(Standing::Paused, 10));
		assert_ok!(register(10, MIN_BOND));
		next_turn();
		assert_eq!(standing(131), Standing::Paused, "it may come back");
		assert!(matches!(standing(10), Standing::Waiting { .. }));
		next_turn();
		assert_eq!(standing(10), Standing::Active);
		assert_eq!(standing(131), Standing::Waiting { since: 2 * TURN });
	});
}

/// Whoever pauses all honest verifiers in the block before a turn would have their places in it.
#[test]
fn pauses_at_the_end_of_a_turn_open_no_places() {
	run(|| {
		FreeInflow::set(0);
		filled(100..132, BOND);
		for who in 10..13 {
			assert_ok!(register(who, BOND));
		}
		for who in 13..16 {
			assert_ok!(register(who, 2 * BOND));
		}
		System::set_block_number(u64::from(TURN) - 1);
		Pool::<Test>::mutate(|pool| {
			for who in 100..132 {
				pool.get_mut(&who).unwrap().put(Standing::Paused, TURN - 1);
			}
		});
		next_turn();
		let paused = (100..132).filter(|who| standing(*who) == Standing::Paused).count();
		assert_eq!(paused, 31, "one verifier in a turn can always be displaced, by a larger bond");
		for who in 100..132 {
			if standing(who) == Standing::Paused {
				assert_ok!(Verification::resume(signed(who)));
				assert_eq!(entry(who).counted, BOND, "it returns with all that counted");
			}
		}
	});
}

/// Allowances of many days would otherwise enter in one block.
#[test]
fn what_was_away_for_a_turn_comes_in_like_what_is_new() {
	run(|| {
		FreeInflow::set(BOND);
		assert_ok!(register(10, BOND));
		next_turn();
		assert_eq!(entry(10).counted, BOND);
		assert_ok!(Verification::deregister(signed(10)));
		next_turn();
		assert_ok!(register(11, BOND));
		assert_eq!(entry(11).counted, BOND);
		assert_ok!(Verification::resume(signed(10)));
		assert_eq!(entry(10).counted, 0, "this turn's inflow is used");
		next_turn();
		assert_eq!(entry(10).counted, BOND);
	});
}

/// Nobody who knows a draw can be admitted for it.
#[test]
fn who_comes_just_before_the_end_of_a_turn_waits_for_the_next() {
	run(|| {
		filled(100..132, BOND);
		System::set_block_number(u64::from(TURN) - 10);
		assert_ok!(register(10, 2 * BOND));
		next_turn();
		assert!(matches!(standing(10), Standing::Waiting { .. }));
		next_turn();
		assert_eq!(standing(10), Standing::Active);
		assert_eq!(entry(10).seats(2 * TURN - 1, STAKE), 0, "not for a draw from before");
	});
}

#[test]
fn only_a_share_of_what_counts_is_displaced_in_a_turn() {
	run(|| {
		MaxPool::set(64);
		FreeInflow::set(0);
		filled(100..164, MIN_BOND);
		filled(200..264, 2 * MIN_BOND);
		Pool::<Test>::mutate(|pool| {
			for who in 200..264 {
				let entry = pool.get_mut(&who).unwrap();
				entry.counted = 0;
				entry.put(Standing::Waiting { since: 0 }, 1);
			}
		});
		let strong = || (200..264).filter(|who| standing(*who) == Standing::Active).count();
		next_turn();
		// 64 of 1,000 count: a sixteenth are four.
		assert_eq!(strong(), 4);
		let counts: u128 = (200..264).map(|who| entry(who).counted).sum();
		assert_eq!(counts, 4 * MIN_BOND, "and no more comes in than that");
		// What has a place already comes first, and one more is displaced in any case.
		next_turn();
		assert_eq!(strong(), 5);
		let counts: u128 = (200..264).map(|who| entry(who).counted).sum();
		assert_eq!(counts, 9 * MIN_BOND);
	});
}

/// A newcomer's bond counts only as far as the turn has room, and the rest later, in the order in
/// which they came.
#[test]
fn what_is_new_counts_little_by_little() {
	run(|| {
		FreeInflow::set(1_500);
		filled(100..108, MIN_BOND);
		assert_ok!(register(10, MIN_BOND));
		assert_ok!(register(11, 2 * MIN_BOND));
		assert_eq!((entry(10).counted, entry(11).counted), (1_000, 500));
		System::set_block_number(5);
		assert_ok!(register(12, MIN_BOND));
		assert_eq!((entry(12).counted, entry(12).standing), (0, Standing::Active));
		assert_ok!(Verification::bond_extra(signed(10), 400));
		assert_eq!((entry(10).counted, entry(10).bond), (1_000, 1_400));
		assert_eq!(Inflow::<Test>::get(), Some(0));
		next_turn();
		assert_eq!((entry(10).counted, entry(11).counted, entry(12).counted), (1_400, 1_600, 0));
		next_turn();
		assert_eq!((entry(11).counted, entry(12).counted), (2_000, 1_000));
		assert_eq!(Inflow::<Test>::get(), Some(100));
	});
}

/// A large pool takes a sixteenth of what counts in it.
#[test]
fn a_large_pool_takes_a_sixteenth_in_a_turn() {
	run(|| {
		FreeInflow::set(10);
		filled(100..116, BOND);
		assert_ok!(register(10, 9 * BOND));
		assert_eq!(entry(10).counted, BOND);
		next_turn();
		assert_eq!(entry(10).counted, BOND + 17 * BOND / 16);
	});
}

/// What was taken in stays so for as long as the bond is there: who pauses returns at once.
#[test]
fn who_returns_counts_at_once() {
	run(|| {
		FreeInflow::set(MIN_BOND);
		assert_ok!(register(10, MIN_BOND));
		System::set_block_number(10);
		assert_ok!(Verification::deregister(signed(10)));
		System::set_block_number(11);
		assert_ok!(Verification::resume(signed(10)));
		assert_eq!((entry(10).counted, Inflow::<Test>::get()), (MIN_BOND, Some(0)));
		// A new bond has to wait.
		assert_ok!(register(11, MIN_BOND));
		assert_eq!(entry(11).counted, 0);
	});
}

#[test]
fn who_left_finds_the_place_taken() {
	run(|| {
		filled(100..131, BOND);
		assert_ok!(register(10, BOND));
		System::set_block_number(10);
		assert_ok!(Verification::deregister(signed(10)));
		assert_ok!(register(11, BOND));
		assert_eq!(standing(11), Standing::Active);
		System::set_block_number(12);
		assert_ok!(Verification::resume(signed(10)));
		assert_eq!(standing(10), Standing::Waiting { since: 12 });
		assert_eq!(entry(10).counted, BOND);
		// A place that is free is taken at the end of the turn.
		assert_ok!(Verification::deregister(signed(11)));
		next_turn();
		assert_eq!(standing(10), Standing::Active);
		System::assert_has_event(Event::Admitted { verifier: 10, bond: BOND }.into());
	});
}

/// Those who left and those who wait cannot keep everybody else out.
#[test]
fn the_record_makes_room() {
	run(|| {
		filled(100..132, BOND);
		let room = u64::from(<Room<MaxPool> as Get<u32>>::get());
		filled(200..200 + room - 32, BOND);
		Pool::<Test>::mutate(|pool| {
			for (who, entry) in pool.iter_mut().filter(|(who, _)| **who >= 200) {
				entry.put(Standing::Waiting { since: 0 }, 1);
				if *who == 205 {
					entry.put(Standing::Left { since: 1 }, 1);
				}
			}
		});
		// Whoever left may still be drawn.
		assert_noop!(register(10, BOND), Error::<Test>::PoolFull);
		System::set_block_number(10 + u64::from(SETTLING));
		assert_ok!(register(10, BOND));
		assert_eq!(Verification::verifier(205), None);
		System::assert_has_event(Event::Withdrawn { verifier: 205, amount: BOND }.into());
		// Nobody left is there now: a larger bond takes the turn of a smaller one.
		assert_noop!(register(11, BOND), Error::<Test>::PoolFull);
		assert_ok!(register(11, BOND + 1));
		assert_eq!(Pool::<Test>::get().len() as u64, room);
	});
}
