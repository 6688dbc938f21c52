//! Who was an authority when, by which keys.

use super::*;
use crate::{
	offences::session_of_slot,
	records::{KeyOwnerProof, Member, Offender},
	OldestRecord, Overtaken, Records, Starts,
};
use frame_support::traits::KeyOwnerProofSystem;
use sp_core::{crypto::KeyTypeId, Pair};

const BABE: KeyTypeId = sp_consensus_babe::KEY_TYPE;
const GRANDPA: KeyTypeId = sp_consensus_grandpa::KEY_TYPE;

fn member(who: u64, weight: u64) -> Member<u64> {
	let (babe, grandpa) = (babe_pair(who).public().0, grandpa_pair(who).public().0);
	Member { who, weight, babe, grandpa }
}

#[test]
fn every_session_is_on_record() {
	Genesis::default().run(|| {
		let all = vec![member(1, 10), member(2, 20), member(3, 30)];
		assert_eq!(Records::<Test>::get(0).unwrap().to_vec(), all);
		set_power(2, 200);
		run_to_session(1, 1);
		// A session has the weights and keys that were announced for it.
		assert_eq!(Records::<Test>::get(1).unwrap().to_vec(), all);
		run_to_session(2, 1);
		let all = vec![member(1, 10), member(2, 200), member(3, 30)];
		assert_eq!(Records::<Test>::get(2).unwrap().to_vec(), all);
		assert_eq!(Starts::<Test>::get(1), Some(6));
		assert_eq!(Hashrate::recorded(), Some(0..=2));
	});
}

#[test]
fn keys_set_later_do_not_hide_those_in_use() {
	Genesis::default().run(|| {
		pallet_session::NextKeys::<Test>::insert(2, keys(12));
		let raw = babe_pair(2).public();
		let proof = Hashrate::prove((BABE, raw)).unwrap();
		assert_eq!(proof, KeyOwnerProof { session: 0, authorities: 3 });
		let offender = Some(Offender { who: 2, session: 0 });
		assert_eq!(Hashrate::check_proof((BABE, raw), proof), offender);
		run_to_session(1, 1);
		assert_eq!(Hashrate::check_proof((BABE, raw), proof), offender);
		assert!(Hashrate::prove((BABE, raw)).is_some(), "announced for this session");
		run_to_session(2, 1);
		assert_eq!(Hashrate::prove((BABE, raw)), None);
		run_to_session(3, 1);
		assert!(Hashrate::prove((BABE, babe_pair(12).public())).is_some());
	});
}

#[test]
fn proofs_are_of_one_key_one_kind_and_one_session() {
	Genesis::default().run(|| {
		let (babe, grandpa) = (babe_pair(2).public(), grandpa_pair(2).public());
		let proof = Hashrate::prove((GRANDPA, grandpa)).unwrap();
		assert!(Hashrate::check_proof((GRANDPA, grandpa), proof).is_some());
		assert_eq!(Hashrate::check_proof((BABE, grandpa), proof), None);
		assert_eq!(Hashrate::check_proof((GRANDPA, babe.0), proof), None);
		assert_eq!(Hashrate::check_proof((KeyTypeId(*b"none"), babe.0), proof), None);
		let other = KeyOwnerProof { session: 1, ..proof };
		assert_eq!(Hashrate::check_proof((GRANDPA, grandpa), other), None, "not begun");
		let other = KeyOwnerProof { authorities: 4, ..proof };
		assert_eq!(Hashrate::check_proof((GRANDPA, grandpa), other), None);
	});
}

#[test]
fn records_go_with_the_unbonding_period() {
	Genesis::default().run(|| {
		// Session 0 ends with block 5, and with block 8 the chain knows that block 6 is final; 20 blocks
		// later is block 28, and block 31 begins session 6.
		run_to(30, 1);
		assert_eq!(Hashrate::recorded(), Some(0..=5));
		assert_eq!(Overtaken::<Test>::get(0), Some(8));
		run_to(31, 1);
		assert_eq!(Session::current_index(), 6);
		assert_eq!(OldestRecord::<Test>::get(), Some(1));
		assert!(!Records::<Test>::contains_key(0) && !Starts::<Test>::contains_key(0));
		assert!(!Overtaken::<Test>::contains_key(0));
		assert_eq!(Hashrate::recorded(), Some(1..=6));
		Hashrate::do_try_state().unwrap();
		// Sessions of one block, by skipped slots: several end at once.
		for _ in 0..30 {
			run_slot(*Babe::current_slot() + EPOCH, 1);
			Hashrate::do_try_state().unwrap();
		}
		assert_eq!(Hashrate::recorded(), Some(14..=36));
	});
}

#[test]
fn heights_and_slots_have_their_session() {
	Genesis::default().run(|| {
		let mut at = vec![0, Session::current_index()];
		let mut slots = vec![(*Babe::current_slot(), 0)];
		for block in 2..=90u64 {
			// Some epochs are left out.
			let step = if block % 17 == 0 { 3 * EPOCH + 2 } else { 1 + block % 2 };
			run_slot(*Babe::current_slot() + step, 1);
			at.push(Session::current_index());
			slots.push((*Babe::current_slot(), Session::current_index()));
		}
		assert!(Babe::epoch_index() > u64::from(Session::current_index()));
		let recorded = Hashrate::recorded().unwrap();
		for (height, session) in at.iter().enumerate() {
			let expected = recorded.contains(session).then_some(*session);
			assert_eq!(Hashrate::session_at(height as u32), expected, "{height}");
		}
		assert_eq!(Hashrate::session_at(91), None);
		assert_eq!(Hashrate::session_at(u32::MAX), None);
		for (slot, session) in slots {
			assert_eq!(session_of_slot::<Test>(slot.into()), session, "{slot}");
		}
	});
}
