//! Attacks on verifiers and on their pool, with what each side spends.

use crate::{mock::*, Pool};
use frame_support::{
	assert_ok,
	traits::fungible::{Inspect, Mutate},
};
use proptest::prelude::*;
use std::ops::Range;
use trainyard_protocol::{audit::Decision, seats::Resources, views::Standing};
use trainyard_traits::{AuditRequest, Audits};

/// Accounts of honest verifiers, and of an attacker.
const HONEST: Range<AccountId> = 1_000..2_000;
const HOSTILE: Range<AccountId> = 5_000..9_000;

fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

/// Runs an attack. What must hold in any state holds after it.
fn run(test: impl FnOnce()) {
	new_test_ext().execute_with(|| {
		test();
		Verification::do_try_state().unwrap();
	});
}

/// An attacker's account with a bond.
fn hostile(at: u64, bond: u128) -> AccountId {
	let who = HOSTILE.start + at;
	Balances::mint_into(&who, bond + 1).unwrap();
	assert_ok!(register(who, bond));
	who
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(32))]

	/// Whatever a committee says and does, nobody loses more in a seat than its stake, and who took
	/// part in good faith loses nothing, whatever the majority says.
	#[test]
	fn nobody_loses_more_than_a_seat(salt in any::<u64>(), acts in proptest::collection::vec(0..5u8, 5)) {
		run(|| {
			SeedSalt::set(salt);
			bonded(5);
			open(1, 5);
			let acts: Vec<Act> = acts
				.into_iter()
				.map(|act| match act {
					0 => Act::Vanish,
					1 => Act::Seal,
					2 => Act::Speak(vec![Say::Gone]),
					3 => Act::Speak(vec![Say::No]),
					_ => Act::Speak(vec![Say::Yes]),
				})
				.collect();
			let seats = round(&acts);
			// The result is true.
			while let Some(id) = disputes().first() {
				acquit(*id);
			}
			for (who, act) in seats.iter().zip(&acts) {
				let lost = BOND - bond_of(*who);
				match act {
					Act::Vanish | Act::Seal => assert_eq!(lost, ABSENCE),
					// It could have asked for what it lacked.
					Act::Speak(says) if says == &[Say::Gone] => assert_eq!(lost, ABSENCE),
					Act::Speak(says) if says == &[Say::No] => assert_eq!(lost, CHALLENGE),
					Act::Speak(_) => assert_eq!(lost, 0),
				}
			}
		});
	}
}

/// The 14 of 15 seats are the cheat's, and vouch for what it made up. One that is not accuses it, and all
/// that vouched can be convicted with it.
#[test]
fn one_honest_seat_of_fifteen_is_enough() {
	run(|| {
		filled(HONEST.start..HONEST.start + 15, MIN_BOND);
		open(1, 15);
		tick_until(is_committing);
		let mut acts = vec![speak(Say::Yes); 15];
		acts[7] = speak(Say::No);
		let seats = round(&acts);
		convict(disputes()[0], true);
		let friends = seats.iter().filter(|who| **who != seats[7]);
		for friend in friends {
			convict(sue(seats[7], of_seat(*friend, TRAINERS[0], 0)), true);
		}
		let (decisions, served) = finish();
		assert_eq!((decisions, served), (vec![Decision::Rejected], vec![seats[7]]));
		let lost: u128 = seats.iter().map(|who| MIN_BOND - bond_of(*who)).sum();
		assert_eq!(lost, 14 * STAKE);
		assert_eq!(Balances::free_balance(seats[7]), 1 + 14 * STAKE / 4);
	});
}

/// 400 jobs of the largest audit are revealed in the same block (the review's overload). Each verifier
/// gets what it declared and no more; what does not fit waits, and is audited later. Nobody is absent.
#[test]
fn four_hundred_audits_at_once_overload_nobody() {
	run(|| {
		const AUDIT: u64 = 2_000_000;
		let capacity = Resources { work: 3 * AUDIT, ..ROOM };
		let verifiers = HONEST.start..HONEST.start + 30;
		filled(verifiers.clone(), 10 * STAKE);
		Pool::<Test>::mutate(|pool| {
			for (_, entry) in pool.iter_mut() {
				entry.capacity.rewrite(|_| capacity);
			}
		});
		MinSeats::set(3);
		let needs = Resources { work: AUDIT, memory_mib: 1_024, disk_mib: 10 };
		let jobs = 1..401u32;
		for job in jobs.clone() {
			assert_ok!(Verification::open(job, AuditRequest { needs, ..request(1, 15) }));
		}
		let (mut waiting, mut blocks, mut most) = (jobs.collect::<Vec<_>>(), 0u64, 0);
		while !waiting.is_empty() {
			blocks += 3;
			System::set_block_number(System::block_number() + 3);
			waiting.retain(|job| {
				Verification::advance(*job);
				let view = Verification::audit_view(*job).unwrap();
				assert_eq!(view.round, 0, "no round is lost");
				view.committee.is_empty()
			});
			let pool = Pool::<Test>::get();
			most = most.max(pool.values().map(|entry| entry.load.work).max().unwrap());
			// Those that were drawn say what they found, and their seats are free again.
			for job in 1..401 {
				let view = Verification::audit_view(job);
				if view.is_some_and(|view| !view.committee.is_empty()) {
					Verification::remove(job);
				}
			}
			assert!(blocks < 10_000, "{} audits are never drawn", waiting.len());
		}
		assert!(most <= capacity.work, "{most}");
		let all = verifiers.map(|who| (bond_of(who), entry(who).absences));
		assert!(all.into_iter().all(|left| left == (10 * STAKE, 0)));
	});
}

/// Whoever keeps all others busy is not drawn alone.
#[test]
fn who_has_room_when_all_others_are_busy_is_no_committee() {
	run(|| {
		MinSeats::set(3);
		for at in 0..9 {
			filled(HONEST.start + at..HONEST.start + at + 1, MIN_BOND);
		}
		for at in 0..3 {
			hostile(at, MIN_BOND);
		}
		// The honest have room for one audit each, and the attacker for any number.
		Pool::<Test>::mutate(|pool| {
			for (_, entry) in pool.iter_mut().filter(|(who, _)| HONEST.contains(who)) {
				entry.capacity.rewrite(|_| Resources { work: NEEDS.work, ..ROOM });
			}
		});
		let mut alone = 0;
		for job in 1..60 {
			assert_ok!(Verification::open(job, request(1, 3)));
			System::set_block_number(System::block_number() + 3);
			Verification::advance(job);
			let committee = Verification::audit_view(job).unwrap().committee;
			let all = committee.iter().all(|member| HOSTILE.contains(&member.verifier));
			alone += u32::from(!committee.is_empty() && all);
		}
		assert_eq!(alone, 0);
	});
}

/// Days until an attacker has this part of what counts in a pool of 256 places of which `honest` are
/// taken, each by the least bond, with bonds of `times` that; it keeps 256 accounts at the door. With
/// what it has on hold then, in least bonds.
fn days_until_bought(honest: u64, times: u128, part: f64) -> (u32, u128) {
	let mut result = (0, 0);
	run(|| {
		MaxPool::set(256);
		FreeInflow::set(16 * MIN_BOND);
		filled(HONEST.start..HONEST.start + honest, MIN_BOND);
		System::set_block_number(1);
		for at in 0..256 {
			hostile(at, times * MIN_BOND * 5 / 4);
		}
		let share = || {
			let pool = Pool::<Test>::get();
			let of = |range: Range<AccountId>| -> u128 {
				pool.iter()
					.filter(|(who, entry)| range.contains(who) && entry.is_active())
					.map(|(_, entry)| entry.counted)
					.sum()
			};
			let (mine, others) = (of(HOSTILE), of(HONEST));
			mine as f64 / (mine + others).max(1) as f64
		};
		let mut day = 0;
		while share() < part {
			day += 1;
			assert!(day < 1_000, "it is never bought");
			next_turn();
			// All who are displaced wait and could come back with more: nothing of theirs is locked.
			let pool = Pool::<Test>::get();
			assert!(pool.values().all(|entry| entry.locked == 0));
		}
		let held: u128 = Pool::<Test>::get()
			.iter()
			.filter(|(who, _)| HOSTILE.contains(who))
			.map(|(_, entry)| entry.bond)
			.sum();
		result = (day, held / MIN_BOND);
	});
	result
}

/// The buy-out of the review: it took one block and 257 least bonds. With `--nocapture` it prints the
/// table of docs/proof-of-hashrate.md.
#[test]
fn buying_the_pool_takes_days() {
	println!("places taken, times the bond: days to a third, to a half, to two thirds; bonds held");
	for (honest, times, least) in
		[(256, 1, [5, 8, 10]), (256, 10, [5, 8, 10]), (128, 1, [3, 7, 8]), (128, 10, [3, 7, 10])]
	{
		let found = [0.334, 0.501, 0.667].map(|part| days_until_bought(honest, times, part));
		let days = found.map(|(days, _)| days);
		println!("{honest} {times}: {days:?} {}", found[1].1);
		assert!(days.iter().zip(least).all(|(days, least)| *days >= least), "{honest} {days:?}");
	}
}

/// The honest come back as soon as they were displaced, with a bond that was never locked.
#[test]
fn the_displaced_return_with_the_next_turn() {
	run(|| {
		filled(HONEST.start..HONEST.start + 32, MIN_BOND);
		for at in 0..32 {
			hostile(at, 2 * MIN_BOND);
		}
		next_turn();
		let displaced: Vec<_> =
			HONEST.take(32).filter(|who| entry(*who).standing != Standing::Active).collect();
		assert!(!displaced.is_empty());
		for who in &displaced {
			// Its bond is there to be taken.
			assert_eq!(entry(*who).free(), MIN_BOND);
			Balances::mint_into(who, 2 * MIN_BOND).unwrap();
			assert_ok!(Verification::bond_extra(signed(*who), 2 * MIN_BOND));
		}
		next_turn();
		assert!(displaced.iter().all(|who| entry(*who).standing == Standing::Active));
	});
}

/// A draw that is late is not won by a bond that was raised after its height (M2 of the review).
#[test]
fn a_late_draw_is_not_won_by_a_bond_raised_later() {
	run(|| {
		filled(HONEST.start..HONEST.start + 5, MIN_BOND);
		open(1, 3);
		let after = System::block_number();
		// The seed is known two blocks later; the newcomers come then, and raise again and again.
		System::set_block_number(after + 3);
		let newcomers: Vec<_> = (0..5).map(|at| hostile(at, 20 * MIN_BOND)).collect();
		for wait in [34, 68, 102] {
			System::set_block_number(after + wait);
			for who in &newcomers {
				Balances::mint_into(who, 10).unwrap();
				assert_ok!(Verification::bond_extra(signed(*who), 1));
			}
		}
		Verification::advance(JOB);
		assert_eq!(committee().len(), 3);
		assert!(committee().iter().all(|who| HONEST.contains(who)));
	});
}

/// A whale risks in a seat what everybody risks.
#[test]
fn a_large_bond_loses_no_more_than_a_small_one() {
	run(|| {
		assert_ok!(register(10, ENDOWMENT / 2));
		for who in [11, 12] {
			assert_ok!(register(who, MIN_BOND));
		}
		open(1, 3);
		unanimous(Say::Yes);
		for who in [10, 11] {
			convict(sue(VERIFIERS[5], of_seat(who, TRAINERS[0], 0)), true);
		}
		assert_eq!(ENDOWMENT / 2 - bond_of(10), STAKE);
		assert_eq!(MIN_BOND - bond_of(11), STAKE);
		assert_eq!(Balances::total_balance(&10), ENDOWMENT - STAKE);
	});
}
