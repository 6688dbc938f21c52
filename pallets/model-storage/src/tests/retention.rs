//! Expiry, extension and removal.

use crate::{
	extension::BEING_REMOVED, mock::*, Blobs, ChunkHashes, Error, Event, HoldReason, H256,
};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::transaction_validity::InvalidTransaction;
use trainyard_protocol::blob::Chunked;
use trainyard_traits::{AwaitedBlobs, BlobStore};

fn held(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::Blob.into(), &who)
}

fn register(who: AccountId, blob: &Chunked, size: usize) {
	assert_ok!(ModelStorage::register(RuntimeOrigin::signed(who), size as u64, blob.content));
}

fn remove(who: AccountId, root: H256) -> Result<(), sp_runtime::DispatchError> {
	ModelStorage::remove(RuntimeOrigin::signed(who), root).map(|_| ()).map_err(|e| e.error)
}

#[test]
fn a_complete_blob_is_kept_until_it_expires() {
	run(|| {
		let data = bytes(10_000);
		let blob = Chunked::new(&data);
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		System::set_block_number(u64::from(1 + RETENTION));
		assert_noop!(remove(ALICE, blob.root), Error::<Test>::NotExpired);
		System::set_block_number(u64::from(2 + RETENTION));
		assert_noop!(remove(BOB, blob.root), Error::<Test>::NotOwner);
		assert!(ModelStorage::is_complete(&blob.root));
		let deposit = held(ALICE);
		assert!(deposit > 0);
		assert_ok!(remove(ALICE, blob.root));
		System::assert_last_event(Event::Removed { root: blob.root, owner: ALICE, deposit }.into());
		assert_eq!(held(ALICE), 0);
		assert_eq!(Balances::free_balance(ALICE), ENDOWMENT);
		assert!(!ModelStorage::is_complete(&blob.root));
		assert_eq!(ModelStorage::view(blob.root), None);
		assert_eq!(ChunkHashes::<Test>::iter().count(), 0);
		assert_noop!(remove(ALICE, blob.root), Error::<Test>::UnknownBlob);
	});
}

#[test]
fn anyone_removes_behind_the_grace_period_and_the_owner_is_repaid() {
	run(|| {
		let data = bytes(5_000);
		let blob = Chunked::new(&data);
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		System::set_block_number(u64::from(1 + RETENTION + GRACE));
		assert_noop!(remove(BOB, blob.root), Error::<Test>::NotOwner);
		System::set_block_number(u64::from(2 + RETENTION + GRACE));
		assert_ok!(remove(BOB, blob.root));
		assert_eq!(Balances::free_balance(ALICE), ENDOWMENT);
		assert_eq!(Balances::free_balance(BOB), ENDOWMENT);
	});
}

#[test]
fn an_extension_restarts_the_retention() {
	run(|| {
		let data = bytes(5_000);
		let blob = Chunked::new(&data);
		let extend = |who| ModelStorage::extend(RuntimeOrigin::signed(who), blob.root);
		assert_noop!(extend(ALICE), Error::<Test>::UnknownBlob);
		register(ALICE, &blob, data.len());
		assert_noop!(extend(ALICE), Error::<Test>::Incomplete);
		upload_all(ALICE, &blob);
		assert_noop!(extend(BOB), Error::<Test>::NotOwner);
		System::set_block_number(91);
		assert_ok!(extend(ALICE));
		System::assert_last_event(
			Event::Extended { root: blob.root, expires: 91 + RETENTION }.into(),
		);
		System::set_block_number(u64::from(91 + RETENTION));
		assert_noop!(remove(ALICE, blob.root), Error::<Test>::NotExpired);
	});
}

/// Otherwise a stranger who registers a trainer's root first could remove the blob while the
/// trainer uploads.
#[test]
fn an_incomplete_blob_stays_while_chunks_come_in() {
	run(|| {
		let data = bytes(10_000);
		let blob = Chunked::new(&data);
		register(BOB, &blob, data.len());
		System::set_block_number(u64::from(UPLOAD_PERIOD));
		assert_ok!(apply(ALICE, upload_call(&blob, 0)).unwrap());
		System::set_block_number(u64::from(2 * UPLOAD_PERIOD));
		assert_noop!(remove(BOB, blob.root), Error::<Test>::NotExpired);
		System::set_block_number(u64::from(2 * UPLOAD_PERIOD + 1));
		assert_ok!(remove(BOB, blob.root));
		assert_eq!(held(BOB), 0);
		// And the trainer may begin again, in its own name.
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		assert!(ModelStorage::is_complete(&blob.root));
	});
}

#[test]
fn a_large_blob_is_removed_in_steps() {
	run(|| {
		// 12 chunks, 5 a step.
		let data = bytes(12 * 4096);
		let blob = Chunked::new(&data);
		register(ALICE, &blob, data.len());
		for index in 0..11 {
			assert_ok!(apply(ALICE, upload_call(&blob, index)).unwrap());
		}
		System::set_block_number(u64::from(2 + UPLOAD_PERIOD));
		let deposit = held(ALICE);
		let first = ModelStorage::remove(RuntimeOrigin::signed(ALICE), blob.root).unwrap();
		System::assert_last_event(Event::Shrunk { root: blob.root, left: 6 }.into());
		assert_eq!(held(ALICE), deposit);

		// What is begun is finished: nothing is taken, extended or registered meanwhile.
		assert_eq!(
			apply(ALICE, upload_call(&blob, 11)),
			Err(InvalidTransaction::Custom(BEING_REMOVED).into())
		);
		assert_noop!(
			ModelStorage::register(RuntimeOrigin::signed(ALICE), data.len() as u64, blob.content),
			Error::<Test>::BeingRemoved
		);
		assert_noop!(
			ModelStorage::extend(RuntimeOrigin::signed(ALICE), blob.root),
			Error::<Test>::BeingRemoved
		);
		assert!(!ModelStorage::is_complete(&blob.root));

		// Anyone may go on.
		assert_ok!(remove(BOB, blob.root));
		System::assert_last_event(Event::Shrunk { root: blob.root, left: 1 }.into());
		let last = ModelStorage::remove(RuntimeOrigin::signed(BOB), blob.root).unwrap();
		System::assert_last_event(Event::Removed { root: blob.root, owner: ALICE, deposit }.into());
		assert_eq!(held(ALICE), 0);
		assert_eq!(Blobs::<Test>::iter().count(), 0);
		assert_eq!(ChunkHashes::<Test>::iter().count(), 0);
		// The last step had 1 record to look at, and is charged for 1.
		assert!(last.actual_weight.unwrap().all_lt(first.actual_weight.unwrap()));
	});
}

/// A stranger registers a root that everybody can foresee, stores nothing, and begins to remove it:
/// its trainer could not store what is asked for, and lost the deposit.
#[test]
fn a_blob_of_which_nothing_is_stored_goes_at_once() {
	run(|| {
		// 12 chunks, 5 a step.
		let data = bytes(12 * 4096);
		let blob = Chunked::new(&data);
		register(BOB, &blob, data.len());
		System::set_block_number(u64::from(2 + UPLOAD_PERIOD));
		let deposit = held(BOB);
		let removed = ModelStorage::remove(RuntimeOrigin::signed(BOB), blob.root).unwrap();
		System::assert_last_event(Event::Removed { root: blob.root, owner: BOB, deposit }.into());
		assert_eq!((held(BOB), Blobs::<Test>::iter().count()), (0, 0));
		register(ALICE, &blob, data.len());
		// One chunk, the first one: the rest is not looked at.
		assert_ok!(apply(ALICE, upload_call(&blob, 0)).unwrap());
		System::set_block_number(u64::from(4 + 2 * UPLOAD_PERIOD));
		let one = ModelStorage::remove(RuntimeOrigin::signed(ALICE), blob.root).unwrap();
		assert!(removed.actual_weight.unwrap().all_lt(one.actual_weight.unwrap()));
		assert_eq!(Blobs::<Test>::iter().count(), 0);
		assert_eq!(ChunkHashes::<Test>::iter().count(), 0);
	});
}

/// An awaited blob cannot be removed; one whose removal had begun before must not stay half removed.
#[test]
fn a_removal_that_had_begun_before_a_job_named_the_blob_is_finished_by_anyone() {
	run(|| {
		let data = bytes(12 * 4096);
		let blob = Chunked::new(&data);
		register(BOB, &blob, data.len());
		// Only the last chunk, so that the first call does not end the removal.
		assert_ok!(apply(BOB, upload_call(&blob, 11)).unwrap());
		System::set_block_number(u64::from(2 + UPLOAD_PERIOD));
		let deposit = held(BOB);
		assert_ok!(remove(BOB, blob.root));
		let view = ModelStorage::view(blob.root).unwrap();
		assert_eq!((view.removing, view.missing.len()), (true, 11));
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		assert_noop!(
			ModelStorage::register(RuntimeOrigin::signed(ALICE), 12 * 4096, blob.content),
			Error::<Test>::BeingRemoved
		);
		assert_ok!(remove(ALICE, blob.root));
		assert_ok!(remove(ALICE, blob.root));
		System::assert_last_event(Event::Removed { root: blob.root, owner: BOB, deposit }.into());
		assert_eq!((held(BOB), Balances::free_balance(BOB)), (0, ENDOWMENT));
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		assert!(ModelStorage::is_complete(&blob.root));
		// It is awaited still: nobody begins another removal.
		System::set_block_number(1_000);
		assert_noop!(remove(ALICE, blob.root), Error::<Test>::Awaited);
		<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[]);
	});
}

#[test]
fn a_complete_large_blob_is_no_longer_complete_once_removal_began() {
	run(|| {
		let data = bytes(12 * 4096);
		let blob = Chunked::new(&data);
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		assert!(ModelStorage::is_complete(&blob.root));
		System::set_block_number(u64::from(2 + RETENTION));
		assert_ok!(remove(ALICE, blob.root));
		assert!(!ModelStorage::is_complete(&blob.root));
	});
}
