//! Authorities and their weights follow power.

use super::*;
use crate::{CurrentWeights, MinShare, NextWeights};
use frame_support::assert_ok;
use sp_io::hashing::blake2_256;
use trainyard_protocol::views::WHOLE_WEIGHT;

#[test]
fn weights_follow_power_after_two_sessions() {
	Genesis::default().run(|| {
		run_to(3, 1);
		set_power(1, 77);
		run_to_session(1, 1);
		assert_eq!(System::block_number(), 6);
		// Announced with the new session, used from the one after it.
		assert_eq!(babe_weights(), vec![10, 20, 30]);
		assert_eq!(next_babe_weights(), vec![77, 20, 30]);
		assert_eq!(grandpa_weights(), vec![10, 20, 30]);
		assert_eq!(Grandpa::current_set_id(), 0);
		assert_eq!(CurrentWeights::<Test>::get().to_vec(), vec![(1, 10), (2, 20), (3, 30)]);
		assert_eq!(NextWeights::<Test>::get().to_vec(), vec![(1, 77), (2, 20), (3, 30)]);

		// What was announced is used as it was, whatever happens to power meanwhile.
		set_power(1, 5_000);
		set_power(2, 1);
		run_to_session(2, 1);
		assert_eq!(System::block_number(), 11);
		assert_eq!(babe_weights(), vec![77, 20, 30]);
		assert_eq!(next_babe_weights(), vec![5_000, 1, 30]);
		assert_eq!(grandpa_weights(), vec![77, 20, 30]);
		assert_eq!(Grandpa::current_set_id(), 1);

		run_to_session(3, 1);
		assert_eq!(babe_weights(), vec![5_000, 1, 30]);
		assert_eq!(grandpa_weights(), vec![5_000, 1, 30]);
		assert_eq!(Grandpa::current_set_id(), 2);
	});
}

#[test]
fn weights_stay_within_a_session() {
	Genesis::default().run(|| {
		run_to_session(1, 1);
		for block in 7..=10u64 {
			set_power(1, block);
			run_block(1);
			assert_eq!(babe_weights(), vec![10, 20, 30]);
			assert_eq!(next_babe_weights(), vec![10, 20, 30]);
			assert_eq!(grandpa_weights(), vec![10, 20, 30]);
		}
	});
}

#[test]
fn power_credited_by_a_job_becomes_weight() {
	use trainyard_traits::TrainerRegistry;
	Genesis { trainers: vec![(1, 0)], min_share: 0 }.run(|| {
		assert_eq!(babe_weights(), vec![1]);
		crate::Power::<Test>::remove(1);
		Hashrate::credit_training(&1, 6_000);
		// 0.6 x 6,000 x ln 2 / 7 = 356.48.
		run_to_session(1, 1);
		assert_eq!(next_babe_weights(), vec![356]);
		run_to_session(2, 1);
		assert_eq!(babe_weights(), vec![356]);
		assert_eq!(grandpa_weights(), vec![356]);
	});
}

#[test]
fn authorities_come_in_the_order_of_accounts() {
	Genesis { trainers: vec![(2, 20), (9, 30)], min_share: 0 }.run(|| {
		stand(5, 90);
		stand(1, 1);
		run_to_session(2, 2);
		assert_eq!(Session::validators(), vec![2, 9]);
		run_to_session(3, 2);
		assert_eq!(Session::validators(), vec![1, 2, 5, 9]);
		assert_eq!(babe_weights(), vec![1, 20, 90, 30]);
		assert_eq!(grandpa_weights(), vec![1, 20, 90, 30]);
		let order: Vec<_> = Babe::authorities().into_iter().map(|(key, _)| key).collect();
		assert_eq!(order, [1, 2, 5, 9].map(|who| keys(who).babe));
		let order: Vec<_> = Grandpa::grandpa_authorities().into_iter().map(|(k, _)| k).collect();
		assert_eq!(order, [1, 2, 5, 9].map(|who| keys(who).grandpa));
	});
}

#[test]
fn the_strongest_fit() {
	Genesis::default().run(|| {
		stand(4, 15);
		stand(5, 10);
		stand(6, 99);
		run_to_session(3, 2);
		// Four fit; of the equals 1 and 5 neither does.
		assert_eq!(Session::validators(), vec![2, 3, 4, 6]);
		set_power(4, 9);
		run_to_session(5, 2);
		// Now one of the equals does: the first by account.
		assert_eq!(Session::validators(), vec![1, 2, 3, 6]);
	});
}

#[test]
fn power_below_the_least_does_not_qualify() {
	Genesis { trainers: vec![(2, 20), (3, 30), (1, 10)], min_share: 20 }.run(|| {
		assert_eq!(Session::validators(), vec![2, 3]);
		set_power(2, 19);
		run_to_session(1, 3);
		run_to_session(2, 3);
		assert_eq!(Session::validators(), vec![3]);
	});
}

#[test]
fn candidates_without_keys_do_not_qualify() {
	Genesis::default().run(|| {
		assert_ok!(Session::purge_keys(RuntimeOrigin::signed(2)));
		run_to_session(2, 1);
		assert_eq!(Session::validators(), vec![1, 3]);
		assert_eq!(babe_weights(), vec![10, 30]);
	});
}

#[test]
fn when_nobody_qualifies_the_present_authorities_go_on() {
	Genesis::default().run(|| {
		set_power(3, 40);
		for who in 1..=3 {
			assert_ok!(Hashrate::set_candidate(RuntimeOrigin::signed(who), false));
		}
		for session in 1..=4 {
			run_to_session(session, 1);
			assert_eq!(Session::validators(), vec![1, 2, 3]);
		}
		// With their power of today.
		assert_eq!(babe_weights(), vec![10, 20, 40]);
		assert_eq!(grandpa_weights(), vec![10, 20, 40]);

		// The same when power is missing rather than candidates.
		for who in 1..=3 {
			assert_ok!(Hashrate::set_candidate(RuntimeOrigin::signed(who), true));
		}
		MinShare::<Test>::put(1_000);
		run_to_session(7, 1);
		assert_eq!(Session::validators(), vec![1, 2, 3]);
	});
}

#[test]
fn no_weight_is_zero() {
	Genesis { trainers: vec![(1, 0), (2, 7)], min_share: 0 }.run(|| {
		assert_eq!(babe_weights(), vec![1, 7]);
		assert_eq!(grandpa_weights(), vec![1, 7]);
	});
}

/// Above the floors, which are the whole weight here, powers count by their sum.
#[test]
fn weights_never_exceed_the_whole() {
	Genesis { trainers: vec![(1, u64::MAX), (2, u64::MAX), (3, 160)], min_share: 0 }.run(|| {
		let half = WHOLE_WEIGHT / 2;
		assert_eq!(babe_weights(), vec![half - 1, half - 1, 1]);
		assert_eq!(grandpa_weights(), babe_weights());
		run_to_session(2, 1);
		assert_eq!(babe_weights(), vec![half - 1, half - 1, 1]);
	});
}

/// Who stands, or sets other keys, while a session runs could choose the keys by the randomness
/// that this session makes for the session after the next. It has to wait.
#[test]
fn keys_of_the_running_session_do_not_count() {
	Genesis::default().run(|| {
		run_to_session(1, 1);
		// The last block of session 1 is the one before the change, and its author knows.
		run_to(10, 1);
		stand(5, 90);
		let mut fresh = keys(2);
		fresh.babe = keys(12).babe;
		pallet_session::NextKeys::<Test>::insert(2, fresh.clone());
		run_to_session(2, 1);
		assert_eq!(next_babe_weights(), vec![10, 30], "neither 5 nor 2 in session 3");
		run_to_session(3, 1);
		assert_eq!(Session::validators(), vec![1, 3]);
		assert_eq!(next_babe_weights(), vec![10, 20, 30, 90], "both in session 4");
		run_to_session(4, 1);
		assert_eq!(Session::validators(), vec![1, 2, 3, 5]);
		assert_eq!(Babe::authorities()[1].0, fresh.babe);

		// The first block of a session is early enough for it: its randomness is not known before
		// the last.
		stand(6, 91);
		run_to_session(5, 1);
		assert!(!next_babe_weights().contains(&91), "it stood after session 4 began");
		run_to_session(6, 1);
		assert!(next_babe_weights().contains(&91));
	});
}

#[test]
fn grandpa_waits_for_a_tenth() {
	Genesis { trainers: vec![(1, 100), (2, 1_000)], min_share: 0 }.run(|| {
		// Exactly a tenth is not more than a tenth.
		set_power(1, 110);
		set_power(2, 900);
		run_to_session(2, 2);
		assert_eq!(babe_weights(), vec![110, 900]);
		assert_eq!(grandpa_weights(), vec![100, 1_000]);
		assert_eq!(Grandpa::current_set_id(), 0);
		// The set that stays is noted as that of the present session.
		assert_eq!(Grandpa::session_for_set(0), Some(2));

		// Measured from the set as issued, not from session to session.
		set_power(1, 111);
		run_to_session(4, 2);
		assert_eq!(grandpa_weights(), vec![111, 900]);
		assert_eq!(Grandpa::current_set_id(), 1);
		assert_eq!(Grandpa::session_for_set(0), Some(3));
		assert_eq!(Grandpa::session_for_set(1), Some(4));

		set_power(2, 809);
		run_to_session(6, 2);
		assert_eq!(grandpa_weights(), vec![111, 809]);
		assert_eq!(Grandpa::current_set_id(), 2);
	});
}

#[test]
fn grandpa_changes_with_keys() {
	Genesis::default().run(|| {
		let mut fresh = keys(2);
		fresh.grandpa = keys(12).grandpa;
		pallet_session::NextKeys::<Test>::insert(2, fresh);
		run_to_session(1, 1);
		assert_eq!(Grandpa::current_set_id(), 0);
		// For a session without it, since its keys are new; then with them.
		run_to_session(2, 1);
		assert_eq!((Grandpa::current_set_id(), Session::validators()), (1, vec![1, 3]));
		run_to_session(3, 1);
		assert_eq!(Grandpa::current_set_id(), 2);
		assert_eq!(Grandpa::grandpa_authorities()[1], (keys(12).grandpa, 20));
	});
}

#[test]
fn old_set_ids_are_forgotten() {
	Genesis::default().run(|| {
		for session in 1..=12 {
			set_power(1, 10u64.pow(2 + session % 2));
			run_to_session(session, 1);
		}
		// The first change is in session 2, and sessions from 7 on are on record. Where the set of session
		// 7 began is known by the one before it.
		assert_eq!((Grandpa::current_set_id(), Hashrate::recorded()), (11, Some(7..=12)));
		let noted: Vec<_> = (0..=12).map(Grandpa::session_for_set).collect();
		let kept = (6..=12).map(Some);
		assert_eq!(noted, [vec![None; 5], kept.collect(), vec![None]].concat());
	});
}

#[test]
fn a_stall_forces_a_set_and_waits_for_it() {
	Genesis::default().run(|| {
		assert_ok!(Grandpa::note_stalled(RuntimeOrigin::root(), 7, 1));
		run_to_session(1, 1);
		assert_eq!(Grandpa::current_set_id(), 1);
		assert!(Grandpa::stalled().is_none());
		let pending = Grandpa::pending_change().unwrap();
		assert_eq!((pending.delay, pending.forced), (7, Some(1)));
		assert_eq!(pending.next_authorities.len(), 3);

		// A change that comes while one is pending waits for the session after it.
		set_power(1, 500);
		pallet_babe::NextAuthorities::<Test>::mutate(|list| list[0].1 = 500);
		NextWeights::<Test>::mutate(|list| list[0].1 = 500);
		run_to_session(2, 1);
		assert_eq!(babe_weights(), vec![500, 20, 30]);
		assert_eq!(Grandpa::current_set_id(), 1);
		assert_eq!(grandpa_weights(), vec![10, 20, 30]);
		run_to_session(3, 1);
		assert_eq!(Grandpa::current_set_id(), 2);
		assert_eq!(grandpa_weights(), vec![500, 20, 30]);
	});
}

#[test]
fn short_epochs_enter_babes_randomness() {
	Genesis::default().build().execute_with(|| {
		let mut outputs = vec![];
		for _ in 1..=EPOCH {
			run_block(1);
			outputs.extend(Babe::author_vrf_randomness().unwrap());
		}
		let before = pallet_babe::NextRandomness::<Test>::get();
		run_block(1);
		assert_eq!(Session::current_index(), 1);
		let mixed = [&before[..], &2u64.to_le_bytes(), &outputs].concat();
		assert_eq!(pallet_babe::NextRandomness::<Test>::get(), blake2_256(&mixed));
		// Only the new epoch's first output is left.
		assert_eq!(pallet_babe::SegmentIndex::<Test>::get(), 0);
		assert_eq!(pallet_babe::UnderConstruction::<Test>::iter().count(), 1);
		assert_eq!(pallet_babe::UnderConstruction::<Test>::get(0).len(), 1);
	});
}

#[test]
fn an_epoch_without_outputs_closes_no_segment() {
	Genesis::default().build().execute_with(|| {
		for _ in 0..=EPOCH {
			run_plain_block(1);
		}
		assert_eq!(Session::current_index(), 1);
		let mixed = [&[0; 32][..], &2u64.to_le_bytes()].concat();
		assert_eq!(pallet_babe::NextRandomness::<Test>::get(), blake2_256(&mixed));
	});
}

#[test]
fn disabling_reaches_both_engines() {
	use sp_runtime::DigestItem;
	Genesis::default().run(|| {
		let logs = System::digest().logs.len();
		assert!(Session::disable_index(2));
		let said: Vec<_> = System::digest().logs.split_off(logs);
		assert!(matches!(
			said.as_slice(),
			[DigestItem::Consensus(babe, _), DigestItem::Consensus(grandpa, _)]
				if *babe == sp_consensus_babe::BABE_ENGINE_ID &&
					*grandpa == sp_consensus_grandpa::GRANDPA_ENGINE_ID
		));
	});
}

/// Among how much training power the blocks are shared out follows those who make them, and is the less of what holds
/// now and of what is announced: nobody sees it fall before it counts.
#[test]
fn training_is_that_of_those_who_make_blocks() {
	use trainyard_traits::TrainerRegistry;
	let volume = || <Hashrate as TrainerRegistry<u64>>::training_volume();
	let whole = WHOLE_WEIGHT;
	let least = whole * 6 / 10;
	sp_io::TestExternalities::default()
		.execute_with(|| assert_eq!(volume(), 0, "a chain without floors"));
	let trainers = vec![(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)];
	Genesis { trainers, min_share: 0 }.run(|| {
		assert_eq!(volume(), least, "nobody has trained: six tenths of the floor");
		for who in 1..=5 {
			set_power(who, whole * who);
		}
		assert_eq!(volume(), least);
		// What is announced does not raise it before it holds.
		run_to_session(1, 2);
		assert_eq!(volume(), least);
		run_to_session(2, 2);
		let sum = whole * (2 + 3 + 4 + 5);
		let close = |found: u64, expected: u64| {
			assert!(found.abs_diff(expected) <= expected / 1_000, "{found} {expected}")
		};
		assert_eq!(Session::validators(), vec![2, 3, 4, 5]);
		close(volume(), sum);
		// Within a session nothing moves it.
		for who in 1..=5 {
			set_power(who, whole * 2);
		}
		run_block(2);
		close(volume(), sum);
		// Where it falls it falls at once.
		run_to_session(3, 2);
		close(volume(), 8 * whole);
		assert!(crate::TrainingVolumes::<Test>::get().current > Some(8 * whole));
	});
}

/// As long as nobody qualifies, those who go on count.
#[test]
fn training_is_that_of_those_who_go_on() {
	use trainyard_traits::TrainerRegistry;
	Genesis { min_share: WHOLE_WEIGHT, ..Default::default() }.run(|| {
		set_power(1, 3 * WHOLE_WEIGHT);
		set_power(2, WHOLE_WEIGHT);
		run_to_session(2, 1);
		assert_eq!(Session::validators(), vec![1, 2, 3]);
		let volume = <Hashrate as TrainerRegistry<u64>>::training_volume();
		let expected = 4 * WHOLE_WEIGHT;
		assert!(expected.abs_diff(volume) < expected / 1_000, "{volume}");
	});
}
