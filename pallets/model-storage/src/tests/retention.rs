//! Expiry, extension and removal.

use crate::{extension::BEING_REMOVED, mock::*, Blobs, Chunks, Error, Event, HoldReason, H256};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::transaction_validity::InvalidTransaction;
use trainyard_protocol::blob::Chunked;
use trainyard_traits::{AwaitedBlobs, BlobStore};

fn held(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::Blob.into(), &who)
}

fn register(who: AccountId, blob: &Chunked, size: usize) {
	assert_ok!(ModelStorage::register(RuntimeOrigin::signed(who), size as u64, blob.content, None));
}

fn remove(who: AccountId, root: H256) -> Result<(), sp_runtime::DispatchError> {
	ModelStorage::remove(RuntimeOrigin::signed(who), root).map(|_| ()).map_err(|e| e.error)
}

/// What `KIB` for that many blocks costs.
fn rent(kib: u32, blocks: u32) -> u128 {
	RENT * u128::from(kib) * u128::from(blocks)
}

#[test]
fn a_blob_that_expired_is_removed_for_its_owner_and_its_time_is_burned() {
	run(|| {
		let data = bytes(10_000);
		let blob = Chunked::new(&data);
		let issuance = Balances::total_issuance();
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		System::set_block_number(u64::from(1 + RETENTION));
		assert_noop!(remove(BOB, blob.root), Error::<Test>::NotExpired);
		System::set_block_number(u64::from(2 + RETENTION));
		assert_noop!(remove(BOB, blob.root), Error::<Test>::NotOwner);
		assert!(ModelStorage::is_complete(&blob.root));
		let burned = rent(10, RETENTION);
		let deposit = held(ALICE) - burned;
		assert_eq!(deposit, BASE + 10_000 * PER_BYTE);
		assert_eq!(ModelStorage::keeping(blob.root).unwrap().due, burned);
		assert_ok!(remove(ALICE, blob.root));
		System::assert_last_event(Event::Removed { root: blob.root, owner: ALICE, deposit }.into());
		assert_eq!(held(ALICE), 0);
		assert_eq!(Balances::free_balance(ALICE), ENDOWMENT - burned);
		assert_eq!(Balances::total_issuance(), issuance - burned);
		assert!(!ModelStorage::is_complete(&blob.root));
		assert_eq!((ModelStorage::view(blob.root), ModelStorage::keeping(blob.root)), (None, None));
		assert_eq!(Chunks::<Test>::iter().count(), 0);
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
		// The grace is not paid for.
		assert_eq!(Balances::free_balance(ALICE), ENDOWMENT - rent(5, RETENTION));
		assert_eq!(Balances::free_balance(BOB), ENDOWMENT);
	});
}

#[test]
fn an_owner_ends_early_and_gets_back_what_is_unused() {
	run(|| {
		let data = bytes(10_000);
		let blob = Chunked::new(&data);
		register(ALICE, &blob, data.len());
		// Not while it is uploaded.
		assert_noop!(remove(ALICE, blob.root), Error::<Test>::NotExpired);
		upload_all(ALICE, &blob);
		System::set_block_number(31);
		assert_noop!(remove(BOB, blob.root), Error::<Test>::NotExpired);
		assert_ok!(remove(ALICE, blob.root));
		let burned = rent(10, 30);
		System::assert_has_event(
			Event::RentBurned { root: blob.root, owner: ALICE, amount: burned }.into(),
		);
		assert_eq!(Balances::free_balance(ALICE), ENDOWMENT - burned);

		// At least some time is paid for, so nobody stores for a moment at no cost.
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		assert_ok!(remove(ALICE, blob.root));
		assert_eq!(Balances::free_balance(ALICE), ENDOWMENT - burned - rent(10, MIN_PERIOD));
		// Nothing is due where nothing is stored.
		let before = Balances::free_balance(BOB);
		register(BOB, &blob, data.len());
		System::set_block_number(u64::from(32 + UPLOAD_PERIOD));
		assert_ok!(remove(BOB, blob.root));
		assert_eq!(Balances::free_balance(BOB), before);
	});
}

#[test]
fn a_period_has_bounds() {
	run(|| {
		let register = |period| {
			ModelStorage::register(RuntimeOrigin::signed(ALICE), 5_000, H256([1; 32]), Some(period))
		};
		assert_noop!(register(MIN_PERIOD - 1), Error::<Test>::PeriodTooShort);
		assert_noop!(register(MAX_PERIOD + 1), Error::<Test>::PeriodTooLong);
		assert_ok!(register(MAX_PERIOD));
		let root = trainyard_protocol::blob::root_of(5_000, &H256([1; 32]));
		assert_eq!(ModelStorage::keeping(root).unwrap().rent, rent(5, MAX_PERIOD));
	});
}

#[test]
fn a_renewal_is_paid_for_and_bounded() {
	run(|| {
		let data = bytes(5_000);
		let blob = Chunked::new(&data);
		let renew =
			|who, blocks| ModelStorage::renew(RuntimeOrigin::signed(who), blob.root, blocks);
		assert_noop!(renew(ALICE, 9), Error::<Test>::UnknownBlob);
		register(ALICE, &blob, data.len());
		assert_noop!(renew(ALICE, 9), Error::<Test>::Incomplete);
		upload_all(ALICE, &blob);
		assert_noop!(renew(BOB, 9), Error::<Test>::NotOwner);
		assert_noop!(renew(ALICE, 0), Error::<Test>::PeriodTooShort);
		let room = MAX_PERIOD - RETENTION;
		assert_noop!(renew(ALICE, room + 1), Error::<Test>::PeriodTooLong);
		let before = held(ALICE);
		assert_ok!(renew(ALICE, room));
		let expires = 1 + MAX_PERIOD;
		let renewed = Event::Renewed { root: blob.root, expires, rent: rent(5, room) };
		System::assert_last_event(renewed.into());
		assert_eq!(held(ALICE), before + rent(5, room));
		// After it expired, until it is removed: the blocks between are paid for as well.
		System::set_block_number(u64::from(expires + 4));
		assert_ok!(renew(ALICE, 10));
		assert_eq!(ModelStorage::view(blob.root).unwrap().expires, expires + 14);
		System::set_block_number(u64::from(expires + 15));
		assert_ok!(remove(ALICE, blob.root));
		assert_eq!(Balances::free_balance(ALICE), ENDOWMENT - rent(5, MAX_PERIOD + 14));
		// Who cannot pay keeps nothing.
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		let all = Balances::free_balance(ALICE);
		assert_ok!(Balances::transfer_keep_alive(RuntimeOrigin::signed(ALICE), BOB, all - 10));
		assert!(renew(ALICE, 10).is_err());
	});
}

#[test]
fn a_blob_whose_time_is_over_can_be_adopted() {
	run(|| {
		let data = bytes(5_000);
		let blob = Chunked::new(&data);
		let issuance = Balances::total_issuance();
		let adopt =
			|who, period| ModelStorage::adopt(RuntimeOrigin::signed(who), blob.root, period);
		assert_noop!(adopt(BOB, None), Error::<Test>::UnknownBlob);
		register(ALICE, &blob, data.len());
		assert_noop!(adopt(BOB, None), Error::<Test>::Incomplete);
		upload_all(ALICE, &blob);
		System::set_block_number(u64::from(1 + RETENTION));
		assert_noop!(adopt(BOB, None), Error::<Test>::NotExpired);
		System::set_block_number(u64::from(2 + RETENTION));
		assert_noop!(adopt(BOB, Some(1)), Error::<Test>::PeriodTooShort);
		assert_noop!(adopt(PAUPER, None), sp_runtime::TokenError::FundsUnavailable);
		assert_ok!(adopt(BOB, Some(50)));
		let (deposit, expires) = (BASE + 5_000 * PER_BYTE, 2 + RETENTION + 50);
		let (root, from, owner, rent_of) = (blob.root, ALICE, BOB, rent(5, 50));
		let adopted = Event::Adopted { root, from, owner, expires, deposit, rent: rent_of };
		System::assert_last_event(adopted.into());
		assert_eq!((held(ALICE), held(BOB)), (0, deposit + rent_of));
		assert_eq!(Balances::free_balance(ALICE), ENDOWMENT - rent(5, RETENTION));
		assert!(ModelStorage::is_complete(&root));
		// The old owner has no say in it any more, and the new one pays for its own time only.
		assert_noop!(
			ModelStorage::renew(RuntimeOrigin::signed(ALICE), root, 9),
			Error::<Test>::NotOwner
		);
		System::set_block_number(u64::from(2 + RETENTION + 20));
		assert_ok!(remove(BOB, root));
		assert_eq!(Balances::free_balance(BOB), ENDOWMENT - rent(5, 20));
		assert_eq!(Balances::total_issuance(), issuance - rent(5, RETENTION + 20));
	});
}

/// Bounded work in each block, whoever does nothing.
#[test]
fn the_agenda_removes_what_nobody_removes() {
	run(|| {
		let files = [bytes(12 * 4096), bytes(5_000), bytes(4_000)];
		let blobs: Vec<Chunked> = files.iter().map(|file| Chunked::new(file)).collect();
		for (blob, file) in blobs.iter().zip(&files) {
			register(ALICE, blob, file.len());
		}
		upload_all(ALICE, &blobs[0]);
		upload_all(ALICE, &blobs[1]);
		// Of the third nothing is stored; a job names the second.
		<ModelStorage as AwaitedBlobs<_>>::expect(&blobs[1].root);
		let there = |blob: &Chunked| ModelStorage::view(blob.root).is_some();
		for height in 2..=RETENTION + GRACE + 1 {
			silent_block(height);
			assert_eq!(there(&blobs[2]), height < 2 + UPLOAD_PERIOD + GRACE, "{height}");
		}
		assert!(there(&blobs[0]) && there(&blobs[1]));
		// Twelve chunks, five a step.
		let mut left = Vec::new();
		for height in 2 + RETENTION + GRACE..7 + RETENTION + GRACE {
			silent_block(height);
			left.push(ModelStorage::view(blobs[0].root).map(|view| 12 - view.missing.len()));
		}
		assert_eq!(left, [Some(7), Some(2), None, None, None]);
		assert!(there(&blobs[1]));
		<ModelStorage as AwaitedBlobs<_>>::release(&blobs[1].root, &[]);
		for height in 7 + RETENTION + GRACE..1_000 {
			silent_block(height);
		}
		assert!(!there(&blobs[1]));
		assert_eq!((held(ALICE), crate::Agenda::<Test>::iter().count()), (0, 0));
	});
}

#[test]
fn without_weight_nothing_is_removed_and_nothing_is_forgotten() {
	run(|| {
		let data = bytes(5_000);
		let blob = Chunked::new(&data);
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		let after = 2 + RETENTION + GRACE;
		for height in after..after + 3 {
			begin(height);
			end(frame_support::weights::Weight::from_parts(1_000_000, 0));
		}
		assert!(ModelStorage::view(blob.root).is_some());
		silent_block(after + 3);
		assert!(ModelStorage::view(blob.root).is_none());
	});
}

/// A trainer could take its money back with the job's end, and the submitter would have no model.
#[test]
fn an_owner_cannot_end_early_what_a_job_named() {
	run(|| {
		let data = bytes(5_000);
		let blob = Chunked::new(&data);
		register(ALICE, &blob, data.len());
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		upload_all(ALICE, &blob);
		System::set_block_number(50);
		assert_noop!(remove(ALICE, blob.root), Error::<Test>::Awaited);
		let before = held(ALICE);
		<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[ALICE]);
		assert_eq!(held(ALICE), before + rent(5, 49), "it is kept for as long as from now on");
		assert_noop!(remove(ALICE, blob.root), Error::<Test>::NotExpired);
		System::set_block_number(u64::from(50 + RETENTION));
		assert_noop!(remove(ALICE, blob.root), Error::<Test>::NotExpired);
		System::set_block_number(u64::from(51 + RETENTION));
		assert_ok!(remove(ALICE, blob.root));
		assert_eq!(Balances::free_balance(ALICE), ENDOWMENT - rent(5, 49 + RETENTION));
	});
}

/// Somebody names its own blob in a job of its own every month, and pays nothing for its time.
#[test]
fn jobs_are_no_way_to_keep_bytes_for_nothing() {
	run(|| {
		let data = bytes(5_000);
		let blob = Chunked::new(&data);
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		let all = Balances::free_balance(ALICE);
		assert_ok!(Balances::transfer_keep_alive(RuntimeOrigin::signed(ALICE), BOB, all - 1));
		let paid = held(ALICE);
		for _ in 0..20 {
			let expires = ModelStorage::view(blob.root).unwrap().expires;
			System::set_block_number(expires.into());
			<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
			<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[ALICE]);
		}
		let view = ModelStorage::keeping(blob.root).unwrap();
		assert!(rent(5, view.expires - view.since) <= paid, "{view:?} of {paid}");
		assert!(rent(5, view.expires - view.since + 1) > paid, "all that is held is of use");
		System::set_block_number(u64::from(view.expires + 1));
		assert_ok!(remove(ALICE, blob.root));
		assert!(Balances::free_balance(ALICE) < rent(5, 1) + 2);
	});
}

/// Nobody keeps a stranger's deposit on hold by naming its blob in a job.
#[test]
fn a_strangers_job_prolongs_nothing() {
	run(|| {
		let data = bytes(5_000);
		let blob = Chunked::new(&data);
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		let before = (held(ALICE), ModelStorage::view(blob.root).unwrap().expires);
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		System::set_block_number(u64::from(60 + RETENTION));
		<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[BOB]);
		assert_eq!((held(ALICE), ModelStorage::view(blob.root).unwrap().expires), before);
		assert_ok!(remove(ALICE, blob.root));
		assert_eq!(Balances::free_balance(ALICE), ENDOWMENT - rent(5, RETENTION));
	});
}

/// Whoever names a file that nobody was to bring keeps it while it does, and no longer: the owner, who paid for a year,
/// has it back at once. It had not until protocol 23: opening a federation for 0.23 TRY kept a year's rent of a stranger.
#[test]
fn a_file_that_was_named_and_not_brought_is_its_owners_again() {
	run(|| {
		let data = bytes(5_000);
		let blob = Chunked::new(&data);
		register(ALICE, &blob, data.len());
		upload_all(ALICE, &blob);
		let renew = |blocks| ModelStorage::renew(RuntimeOrigin::signed(ALICE), blob.root, blocks);
		assert_ok!(renew(3 * RETENTION));
		let expires = ModelStorage::view(blob.root).unwrap().expires;
		for _ in 0..3 {
			<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
			assert_noop!(remove(ALICE, blob.root), Error::<Test>::Awaited);
			<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[]);
		}
		assert_eq!(Blobs::<Test>::get(blob.root).unwrap().kept, 0);
		// A stranger's result it is kept for as long as any result, and not for all the time that was paid.
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[BOB]);
		let until = System::block_number() as u32 + RETENTION;
		assert!(until < expires);
		assert_eq!(Blobs::<Test>::get(blob.root).unwrap().kept, until);
		System::set_block_number(u64::from(until));
		assert_noop!(remove(ALICE, blob.root), Error::<Test>::NotExpired);
		System::set_block_number(u64::from(until + 1));
		assert_ok!(remove(ALICE, blob.root));
		assert_eq!(held(ALICE), 0);
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
		// What is due is burned at the beginning, and the rest returns at the end.
		let deposit = held(ALICE) - rent(48, UPLOAD_PERIOD);
		let first = ModelStorage::remove(RuntimeOrigin::signed(ALICE), blob.root).unwrap();
		System::assert_last_event(Event::Shrunk { root: blob.root, left: 6 }.into());
		assert_eq!(held(ALICE), deposit);
		assert_eq!(ModelStorage::keeping(blob.root).unwrap().due, 0);

		// What is begun is finished: nothing is taken, extended or registered meanwhile.
		assert_eq!(
			apply(ALICE, upload_call(&blob, 11)),
			Err(InvalidTransaction::Custom(BEING_REMOVED).into())
		);
		assert_noop!(
			ModelStorage::register(
				RuntimeOrigin::signed(ALICE),
				data.len() as u64,
				blob.content,
				None
			),
			Error::<Test>::BeingRemoved
		);
		assert_noop!(
			ModelStorage::renew(RuntimeOrigin::signed(ALICE), blob.root, 9),
			Error::<Test>::BeingRemoved
		);
		assert_noop!(
			ModelStorage::adopt(RuntimeOrigin::signed(BOB), blob.root, None),
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
		assert_eq!(Chunks::<Test>::iter().count(), 0);
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
		assert_eq!(Chunks::<Test>::iter().count(), 0);
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
		let burned = rent(48, UPLOAD_PERIOD);
		let deposit = held(BOB) - burned;
		assert_ok!(remove(BOB, blob.root));
		let view = ModelStorage::view(blob.root).unwrap();
		assert_eq!((view.removing, view.missing.len()), (true, 11));
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		assert_noop!(
			ModelStorage::register(RuntimeOrigin::signed(ALICE), 12 * 4096, blob.content, None),
			Error::<Test>::BeingRemoved
		);
		assert_ok!(remove(ALICE, blob.root));
		assert_ok!(remove(ALICE, blob.root));
		System::assert_last_event(Event::Removed { root: blob.root, owner: BOB, deposit }.into());
		assert_eq!((held(BOB), Balances::free_balance(BOB)), (0, ENDOWMENT - burned));
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
