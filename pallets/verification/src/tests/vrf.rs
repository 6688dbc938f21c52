//! Keys of verifiers: who needs one, when it counts, and what is signed by it.

use crate::{mock::*, Error, Event, SETTLING};
use codec::{Decode, Encode};
use frame_support::{assert_noop, assert_ok};
use sp_core::{
	crypto::{VrfPublic, VrfSecret},
	sr25519::{vrf::VrfTranscript, Public},
	Pair,
};
use sp_runtime::DispatchError;
use trainyard_protocol::{views::Standing, vrf, H256};
use trainyard_traits::Audits;

fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

fn standing(who: AccountId) -> Standing {
	entry(who).standing
}

#[test]
fn a_key_can_be_set_and_changed() {
	run(|| {
		bonded(1);
		assert_eq!(Verification::verifier(10).unwrap().vrf_key, Some(H256(key().0)));
		System::set_block_number(100);
		let other = pair(2).public();
		assert_ok!(set_key(10, other));
		System::assert_last_event(Event::VrfKeySet { verifier: 10, key: other }.into());
		assert_eq!(Verification::verifier(10).unwrap().vrf_key, Some(H256(other.0)));
		assert_eq!([99, 100].map(|after| entry(10).vrf.at(after)), [Some(key()), Some(other)]);
	});
}

#[test]
fn setting_a_key_has_conditions() {
	run(|| {
		assert_noop!(set_key(10, key()), Error::<Test>::NotVerifier);
		assert_noop!(
			Verification::set_vrf_key(RuntimeOrigin::root(), key()),
			DispatchError::BadOrigin
		);
		assert_ok!(register_keyless(10, BOND));
		for bad in [[0; 32], [0xff; 32], [1; 32]] {
			assert_noop!(set_key(10, Public::from_raw(bad)), Error::<Test>::NotVrfKey);
		}
		for number in 1..=4 {
			System::set_block_number(100 + u64::from(number));
			assert_ok!(set_key(10, pair(number).public()));
		}
		System::set_block_number(110);
		assert_noop!(set_key(10, pair(9).public()), Error::<Test>::TooManyChanges);
		// The same again is no change.
		assert_ok!(set_key(10, pair(4).public()));
		System::set_block_number(102 + u64::from(SETTLING));
		assert_ok!(set_key(10, pair(9).public()));
	});
}

/// A draw whose seed somebody may know is made by what was there before it formed.
#[test]
fn a_key_counts_from_its_height() {
	run(|| {
		bonded(3);
		assert_ok!(register_keyless(13, 5 * BOND));
		System::set_block_number(100);
		open(1, 5);
		System::set_block_number(101);
		assert_ok!(set_key(13, key()));
		assert_eq!(standing(13), Standing::Active);
		System::set_block_number(103);
		Verification::advance(JOB);
		let mut drawn = committee();
		drawn.sort();
		assert_eq!(drawn, [10, 11, 12], "the height of this draw is 100");
		Verification::remove(JOB);
		let mut sat = 0;
		for salt in 0..20 {
			SeedSalt::set(salt);
			open(1, 3);
			System::set_block_number(System::block_number() + 3);
			Verification::advance(JOB);
			sat += u32::from(committee().contains(&13));
			Verification::remove(JOB);
		}
		assert!(sat > 10, "of eight parts it has five, and it was drawn {sat} times of 20");
	});
}

/// It would hold a place for which it never works.
#[test]
fn who_has_no_key_has_no_place() {
	run(|| {
		assert_ok!(register_keyless(10, BOND));
		let waits = Standing::Waiting { since: 1 };
		assert_eq!((standing(10), entry(10).counted), (waits, 0));
		assert!(Verification::verifiers().is_empty());
		assert_eq!(Verification::verifier(10).unwrap().vrf_key, None);
		// Not after many turns either, and whatever it has.
		assert_ok!(Verification::bond_extra(signed(10), BOND));
		next_turn();
		next_turn();
		assert_eq!((standing(10), entry(10).counted), (waits, 0));
		open(1, 1);
		System::set_block_number(System::block_number() + 3);
		Verification::advance(JOB);
		assert!(committee().is_empty());
		Verification::remove(JOB);
		// Its bond is free.
		assert_ok!(Verification::deregister(signed(10)));
		assert_eq!(Balances::free_balance(10), ENDOWMENT);
		assert_eq!(Verification::verifier(10), None);
	});
}

/// What it keeps of a place it keeps with its key.
#[test]
fn who_left_returns_with_its_key() {
	run(|| {
		bonded(1);
		System::set_block_number(2);
		assert_ok!(Verification::deregister(signed(10)));
		System::set_block_number(3);
		let other = pair(2).public();
		assert_ok!(set_key(10, other));
		assert_eq!(standing(10), Standing::Left { since: 2 }, "a key brings nobody back");
		System::set_block_number(4);
		assert_ok!(Verification::resume(signed(10)));
		assert_eq!((standing(10), entry(10).vrf.latest()), (Standing::Active, Some(other)));
		// With the last of the bond it is forgotten, and a newcomer needs another one.
		System::set_block_number(5);
		assert_ok!(Verification::deregister(signed(10)));
		System::set_block_number(6 + u64::from(UNBONDING));
		assert_ok!(Verification::withdraw(signed(10)));
		assert_ok!(register_keyless(10, BOND));
		assert!(matches!(standing(10), Standing::Waiting { .. }) && !entry(10).has_key());
	});
}

/// Clients sign by the library of the SDK as well: the transcript, the signature and the output are
/// the same.
#[test]
fn draws_are_those_of_the_sdk() {
	let (genesis, seed, who) = (H256([1; 32]), H256([2; 32]), [3u8; 32]);
	let subject =
		vrf::Subject { genesis: &genesis, job: 258, round: 1, seed: &seed, account: &who };
	let transcript = VrfTranscript::new(
		b"trainyard/draw/v1",
		&[
			(b"genesis", &[1; 32]),
			(b"job", &[2, 1, 0, 0]),
			(b"round", &[1, 0, 0, 0]),
			(b"seed", &[2; 32]),
			(b"account", &[3; 32]),
		],
	);
	let pair = pair(7);
	let theirs = pair.vrf_sign(&transcript.clone().into_sign_data());
	let signature = vrf::VrfSignature::decode(&mut &theirs.encode()[..]).unwrap();
	let output = vrf::output(&pair.public().0, &subject, &signature).unwrap();
	assert_eq!(output.0, pair.make_bytes(b"trainyard/segments/v1", &transcript));
	assert_eq!(signature.encode(), theirs.encode());
	// And the other way round.
	let ours = vrf::sign(pair.as_ref(), &subject);
	let theirs = Decode::decode(&mut &ours.encode()[..]).unwrap();
	assert!(pair.public().vrf_verify(&transcript.into_sign_data(), &theirs));
}
