//! Declaring blobs, and their deposits.

use crate::{mock::*, Blobs, Error, Event, HoldReason, H256};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::{DispatchError, TokenError};
use trainyard_protocol::blob::{self, Chunked};

#[test]
fn a_registration_holds_a_deposit_by_size() {
	run(|| {
		let data = bytes(10_000);
		let blob = Chunked::new(&data);
		assert_ok!(ModelStorage::register(
			RuntimeOrigin::signed(ALICE),
			10_000,
			blob.content,
			None
		));
		let (deposit, rent) = (BASE + 10_000 * PER_BYTE, 10 * RENT * u128::from(RETENTION));
		assert_eq!(Balances::balance_on_hold(&HoldReason::Blob.into(), &ALICE), deposit + rent);
		let (root, owner, period) = (blob.root, ALICE, RETENTION);
		let registered =
			Event::Registered { root, owner, size: 10_000, chunks: 3, deposit, rent, period };
		System::assert_last_event(registered.into());
		let view = ModelStorage::view(blob.root).unwrap();
		assert_eq!(
			(view.owner, view.size, view.chunks, view.missing, view.expires),
			(ALICE, 10_000, 3, vec![0, 1, 2], 1 + UPLOAD_PERIOD)
		);
		assert!(!view.removing);
		assert_eq!(ModelStorage::chunk_hash(blob.root, 0), None);
	});
}

#[test]
fn sizes_are_bounded() {
	run(|| {
		let register =
			|size| ModelStorage::register(RuntimeOrigin::signed(ALICE), size, H256([1; 32]), None);
		assert_noop!(register(0), Error::<Test>::Empty);
		assert_noop!(register(MAX_BLOB + 1), Error::<Test>::TooLarge);
		assert_noop!(register(u64::MAX), Error::<Test>::TooLarge);
		assert_ok!(register(1));
		assert_ok!(register(MAX_BLOB));
		let largest = Blobs::<Test>::get(blob::root_of(MAX_BLOB, &H256([1; 32]))).unwrap();
		assert_eq!(largest.chunks, 64);
	});
}

#[test]
fn a_root_is_registered_once() {
	run(|| {
		let data = bytes(5_000);
		let blob = Chunked::new(&data);
		let register =
			|who| ModelStorage::register(RuntimeOrigin::signed(who), 5_000, blob.content, None);
		assert_ok!(register(ALICE));
		assert_noop!(register(ALICE), Error::<Test>::AlreadyRegistered);
		assert_noop!(register(BOB), Error::<Test>::AlreadyRegistered);
		upload_all(BOB, &blob);
		assert_noop!(register(BOB), Error::<Test>::AlreadyComplete);
	});
}

#[test]
fn a_registration_must_be_signed_and_paid() {
	run(|| {
		assert_noop!(
			ModelStorage::register(RuntimeOrigin::root(), 1, H256([1; 32]), None),
			DispatchError::BadOrigin
		);
		assert_noop!(
			ModelStorage::register(RuntimeOrigin::signed(PAUPER), 1, H256([1; 32]), None),
			TokenError::FundsUnavailable
		);
	});
}
