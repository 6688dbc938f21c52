//! Room in blocks for awaited chunks, and what keeps awaited blobs.

use crate::{
	extension::AWAITED_PRIORITY, mock::*, Awaited, Blob, Blobs, Error, FullBlocks, Moves,
	MovesFull, Ordinary, WeightInfo, CALLS_ROOM, LONGEST_MOVE, MOVES_ROOM,
};
use frame_support::{
	assert_noop, assert_ok,
	dispatch::{DispatchClass, GetDispatchInfo},
	pallet_prelude::{InvalidTransaction, TransactionSource, ValidTransaction},
	traits::{Get, Hooks},
	weights::Weight,
};
use sp_runtime::traits::DispatchTransaction;
use trainyard_protocol::{
	blob::{Chunked, MAX_CHUNK},
	H256,
};
use trainyard_traits::AwaitedBlobs;

fn registered(data: &[u8]) -> Chunked<'_> {
	let blob = Chunked::new(data);
	let size = data.len() as u64;
	assert_ok!(ModelStorage::register(RuntimeOrigin::signed(ALICE), size, blob.content, None));
	blob
}

fn remark() -> RuntimeCall {
	RuntimeCall::System(frame_system::Call::remark { remark: vec![1] })
}

/// Fills the ordinary part of the block with remarks of that many bytes.
fn flood(len: usize) {
	while let Ok(result) = apply_of(BOB, remark(), len) {
		assert_ok!(result);
	}
}

fn full() -> sp_runtime::transaction_validity::TransactionValidityError {
	InvalidTransaction::ExhaustsResources.into()
}

/// For 0.4 TRY a block anybody could keep all models from the chain, and their trainers lost their
/// deposits.
#[test]
fn an_awaited_chunk_enters_a_block_that_is_full_of_remarks() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		flood(350_000);
		flood(1);
		assert_eq!(Ordinary::<Test>::get(), ORDINARY);
		let chunk = || upload_call(&blob, 0);
		// Another one is awaited, so this one may not have the room.
		let other = H256::repeat_byte(7);
		<ModelStorage as AwaitedBlobs<_>>::expect(&other);
		assert_eq!(apply_of(ALICE, chunk(), MAX_CHUNK as usize), Err(full()), "nobody awaits it");
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		assert_ok!(apply_of(ALICE, chunk(), MAX_CHUNK as usize).unwrap());
		assert_eq!(apply_of(BOB, remark(), 1), Err(full()), "the chunk made no room");
		ModelStorage::on_finalize(1);
		assert_eq!(Ordinary::<Test>::get(), 0);
		assert_ok!(apply_of(BOB, remark(), 350_000).unwrap());
		<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[]);
		ModelStorage::on_finalize(2);
	});
}

/// Files were stored at a third of the rate that blocks allow, whether anybody waited for a chunk or not.
#[test]
fn a_chunk_takes_the_room_that_nobody_waits_for() {
	run(|| {
		let (data, lacking, whole) = (bytes(10_000), bytes(5_000), bytes(3_000));
		let blob = registered(&data);
		let (lacking, whole) = (registered(&lacking).root, registered(&whole));
		upload_all(ALICE, &whole);
		flood(350_000);
		flood(1);
		let fill = |bytes: u32| frame_system::BlockSize::<Test>::put(bytes);
		let most = ModelStorage::room() - MOVES_ROOM - CALLS_ROOM;
		let send = |index| apply_of(ALICE, upload_call(&blob, index), 4_096);
		let name = |root: &H256| <ModelStorage as AwaitedBlobs<_>>::expect(root);
		let forget = |root: &H256| <ModelStorage as AwaitedBlobs<_>>::release(root, &[]);
		fill(1);
		for root in [H256::repeat_byte(7), lacking] {
			name(&root);
			assert_eq!(send(0), Err(full()), "a job waits for {root:?}");
			forget(&root);
		}
		// What is there is not waited for.
		name(&whole.root);
		fill(most + 1);
		assert_eq!(send(0), Err(full()), "moves and calls have their room");
		fill(most);
		assert_eq!(apply_of(BOB, remark(), 1), Err(full()), "only chunks take it");
		let before = Ordinary::<Test>::get();
		assert_ok!(send(0).unwrap());
		assert_eq!(Ordinary::<Test>::get(), before, "it keeps nothing else out");
		// Where more are named than are looked at, the room is kept.
		let stored = Blobs::<Test>::get(whole.root).unwrap();
		let many: Vec<H256> = (1..=32).map(H256::repeat_byte).collect();
		for root in &many {
			Blobs::<Test>::insert(root, Blob { deposit: 0, ..stored.clone() });
			name(root);
		}
		assert_eq!(send(1), Err(full()));
		forget(&many[0]);
		assert_ok!(send(1).unwrap());
		for root in &many {
			Blobs::<Test>::remove(root);
			Awaited::<Test>::remove(root);
		}
		forget(&whole.root);
		ModelStorage::on_finalize(1);
	});
}

/// Otherwise it would wait in the pool, and authors would try it in every block.
#[test]
fn what_fits_no_block_does_not_enter_the_pool() {
	run(|| {
		let valid = |len: usize| {
			let info = remark().get_dispatch_info();
			let (extension, source) =
				(crate::DirectUpload::<Test>::new(), TransactionSource::External);
			extension.validate_only(RuntimeOrigin::signed(BOB), &remark(), &info, len, source, 0)
		};
		assert!(valid(ORDINARY as usize).is_ok());
		assert_eq!(valid(ORDINARY as usize + 1).err(), Some(full()));
	});
}

#[test]
fn awaited_chunks_are_preferred() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		let priority = || {
			let call = upload_call(&blob, 0);
			let info = call.get_dispatch_info();
			let extension = crate::DirectUpload::<Test>::new();
			let origin = RuntimeOrigin::signed(ALICE);
			let source = TransactionSource::External;
			extension.validate_only(origin, &call, &info, 0, source, 0).unwrap().0.priority
		};
		assert_eq!(priority(), 0);
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		assert_eq!(priority(), AWAITED_PRIORITY);
	});
}

/// Otherwise garbage would fill the room at the price of chunks.
#[test]
fn bytes_that_are_not_the_awaited_chunk_take_no_room() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		let crate::Call::upload_chunk { root, index, proof, mut bytes } =
			(match upload_call(&blob, 0) {
				RuntimeCall::ModelStorage(call) => call,
				_ => panic!("not an upload"),
			})
		else {
			panic!("not an upload")
		};
		bytes[7] ^= 1;
		let garbage = crate::Call::upload_chunk { root, index, proof, bytes };
		let wrong = InvalidTransaction::Custom(crate::extension::WRONG_PROOF).into();
		assert_eq!(apply(BOB, garbage.into()), Err(wrong));
		// A chunk that is there is no second time awaited.
		assert_ok!(apply(BOB, upload_call(&blob, 0)).unwrap());
		let stored = InvalidTransaction::Custom(crate::extension::CHUNK_STORED).into();
		assert_eq!(apply(BOB, upload_call(&blob, 0)), Err(stored));
	});
}

#[test]
fn blocks_without_room_for_a_chunk_are_counted() {
	run(|| {
		let end = |filled: u32| {
			frame_system::BlockSize::<Test>::put(filled);
			ModelStorage::on_finalize(1);
			FullBlocks::<Test>::get()
		};
		let room = ModelStorage::room();
		let chunk = MAX_CHUNK + crate::blobs::AROUND_CHUNK;
		assert_eq!(end(0), 0);
		assert_eq!(end(ORDINARY), 0, "there is room for a chunk beside them");
		assert_eq!(end(room - chunk), 0);
		assert_eq!(end(room - chunk + 1), 1);
		assert_eq!(end(room), 2);
		assert_eq!(<ModelStorage as AwaitedBlobs<AccountId>>::full_blocks(), 2);
		frame_system::BlockSize::<Test>::kill();
	});
}

/// Full of remarks, a block took chunks, but neither the registration of their blob nor the
/// announcement of a rescue.
#[test]
fn blocks_without_room_for_calls_are_counted() {
	run(|| {
		let end = |ordinary: u32| {
			Ordinary::<Test>::put(ordinary);
			ModelStorage::on_finalize(1);
			FullBlocks::<Test>::get()
		};
		assert_eq!(end(0), 0);
		assert_eq!(end(ORDINARY - CALLS_ROOM), 0);
		assert_eq!(end(ORDINARY - CALLS_ROOM + 1), 1);
		assert_eq!(end(ORDINARY), 2);
		// With urgent calls.
		assert_eq!(end(ORDINARY + CALLS_ROOM), 3);
		// A block that lacks both is one block.
		frame_system::BlockSize::<Test>::put(ModelStorage::room());
		assert_eq!(end(ORDINARY), 4);
		frame_system::BlockSize::<Test>::kill();
		assert_eq!(end(0), 4);
	});
}

#[test]
fn blocks_without_weight_for_a_chunk_are_counted() {
	run(|| {
		let end = |left: Weight, class| {
			let limits: frame_system::limits::BlockWeights =
				<Test as frame_system::Config>::BlockWeights::get();
			let most = limits.get(DispatchClass::Normal).max_total.unwrap();
			frame_system::Pallet::<Test>::set_block_consumed_resources(Weight::zero(), 0);
			let used = most.saturating_sub(left);
			frame_system::Pallet::<Test>::register_extra_weight_unchecked(used, class);
			ModelStorage::on_finalize(1);
			FullBlocks::<Test>::get()
		};
		let chunk = <() as WeightInfo>::direct_upload(MAX_CHUNK)
			+ <() as WeightInfo>::upload_chunk(MAX_CHUNK);
		assert_eq!(end(chunk, DispatchClass::Normal), 0);
		assert_eq!(end(chunk - Weight::from_parts(1, 0), DispatchClass::Normal), 1);
		assert_eq!(
			end(Weight::zero(), DispatchClass::Mandatory),
			1,
			"other classes have their own"
		);
	});
}

/// Asks the extension about `call` of `who`.
fn valid(who: AccountId, call: RuntimeCall) -> ValidTransaction {
	let info = call.get_dispatch_info();
	let (extension, source) = (crate::DirectUpload::<Test>::new(), TransactionSource::External);
	extension.validate_only(RuntimeOrigin::signed(who), &call, &info, 0, source, 0).unwrap().0
}

/// Nobody keeps a trainer from storing a chunk by keeping out the call that must come before it.
#[test]
fn what_makes_way_for_awaited_chunks_is_preferred_and_has_room() {
	run(|| {
		let data = bytes(12 * 4096);
		let blob = Chunked::new(&data);
		let register = |size: u64| -> RuntimeCall {
			crate::Call::register { size, content: blob.content, period: None }.into()
		};
		let remove = || -> RuntimeCall { crate::Call::remove { root: blob.root }.into() };
		let size = data.len() as u64;
		let is_urgent = |call| valid(BOB, call).priority == AWAITED_PRIORITY;
		assert!(!is_urgent(register(size)), "nobody awaits it");
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		assert!(is_urgent(register(size)));
		assert!(!is_urgent(register(size - 1)), "that is a different blob");
		assert!(!is_urgent(remove()), "there is nothing to remove");

		flood(350_000);
		flood(1);
		assert_eq!(Ordinary::<Test>::get(), ORDINARY);
		assert_ok!(apply_of(ALICE, register(size), 200).unwrap());
		assert_eq!(Ordinary::<Test>::get(), ORDINARY + 200);
		// A second time it would fail.
		assert!(!is_urgent(register(size)));
		assert_eq!(apply_of(ALICE, register(size), 200), Err(full()));
		assert!(!is_urgent(remove()), "it is not being removed");
		assert_ok!(apply(BOB, upload_call(&blob, 11)).unwrap());
		<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[]);
		System::set_block_number(100);
		assert_ok!(ModelStorage::remove(RuntimeOrigin::signed(BOB), blob.root));
		assert!(!is_urgent(remove()), "nobody awaits it");
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		assert!(is_urgent(remove()));
		assert_ok!(apply_of(BOB, remove(), 200).unwrap());
		<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[]);
		ModelStorage::on_finalize(100);
	});
}

/// A job that names no possible blob must not give strangers calls that are preferred and fail.
#[test]
fn a_blob_that_cannot_be_is_not_urgent() {
	run(|| {
		for size in [0, MAX_BLOB + 1] {
			let content = crate::H256([7; 32]);
			let root = trainyard_protocol::blob::root_of(size, &content);
			<ModelStorage as AwaitedBlobs<_>>::expect(&root);
			assert_eq!(
				valid(BOB, crate::Call::register { size, content, period: None }.into()).priority,
				0
			);
		}
	});
}

#[test]
fn urgent_calls_of_other_pallets_have_a_little_room() {
	run(|| {
		let call =
			|| -> RuntimeCall { frame_system::Call::remark_with_event { remark: vec![1] }.into() };
		assert_eq!(valid(BOB, call()).priority, AWAITED_PRIORITY);
		assert_eq!(valid(ALICE, call()).priority, 0);
		flood(350_000);
		flood(1);
		assert_eq!(apply_of(ALICE, call(), 1), Err(full()));
		assert_ok!(apply_of(BOB, call(), 41_000).unwrap());
		// They are no way around the limit.
		assert_eq!(apply_of(BOB, call(), 41_000), Err(full()));
		assert_ok!(apply_of(BOB, call(), CALLS_ROOM as usize - 41_000).unwrap());
		assert_eq!(apply_of(BOB, call(), 1), Err(full()));
		ModelStorage::on_finalize(1);
		assert_eq!(FullBlocks::<Test>::get(), 1);
	});
}

/// A model could be removed directly after the audit of the job had begun that named it.
#[test]
fn a_blob_that_a_job_names_stays_until_it_is_let_go() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		upload_all(ALICE, &blob);
		let remove = |who| ModelStorage::remove(RuntimeOrigin::signed(who), blob.root);
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		System::set_block_number(500);
		assert_noop!(remove(ALICE), Error::<Test>::Awaited);
		<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[BOB]);
		assert_noop!(remove(ALICE), Error::<Test>::Awaited);
		<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[BOB, ALICE]);
		assert_eq!(Awaited::<Test>::iter().count(), 0);
		assert_eq!(Blobs::<Test>::get(blob.root).unwrap().expires, 500 + RETENTION);
		assert_noop!(remove(ALICE), Error::<Test>::NotExpired);
		System::set_block_number(u64::from(501 + RETENTION));
		assert_ok!(remove(ALICE));
	});
}

/// Otherwise anybody could keep a stranger's deposit on hold, month after month.
#[test]
fn naming_the_blob_of_a_stranger_does_not_prolong_it() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		upload_all(ALICE, &blob);
		let expires = Blobs::<Test>::get(blob.root).unwrap().expires;
		System::set_block_number(500);
		<ModelStorage as AwaitedBlobs<_>>::expect(&blob.root);
		<ModelStorage as AwaitedBlobs<_>>::release(&blob.root, &[BOB]);
		assert_eq!(Blobs::<Test>::get(blob.root).unwrap().expires, expires);
		assert_ok!(ModelStorage::remove(RuntimeOrigin::signed(ALICE), blob.root));
	});
}

/// Who announced a blob is paid for the chunks that it brings, once, and for no others.
#[test]
fn what_somebody_brings_of_a_blob_that_it_announced_is_counted_once() {
	run(|| {
		type Blobs = ModelStorage;
		let watch = |blob: &Chunked<'_>, who| <Blobs as AwaitedBlobs<_>>::watch(&blob.root, &who);
		let brought =
			|blob: &Chunked<'_>, who| <Blobs as AwaitedBlobs<AccountId>>::brought(&blob.root, &who);
		// Three chunks of 4,096 bytes and one of 712.
		let data = bytes(13_000);
		let blob = registered(&data);
		assert_eq!(blob.chunks.len(), 4);
		assert_ok!(apply_of(BOB, upload_call(&blob, 0), 0).unwrap());
		<Blobs as AwaitedBlobs<_>>::expect(&blob.root);
		watch(&blob, BOB);
		assert_ok!(apply_of(BOB, upload_call(&blob, 1), 0).unwrap());
		// Said again, it does not begin again; and what others bring is theirs.
		watch(&blob, BOB);
		assert_ok!(apply_of(ALICE, upload_call(&blob, 2), 0).unwrap());
		assert_ok!(apply_of(BOB, upload_call(&blob, 3), 0).unwrap());
		assert_ok!(ModelStorage::do_try_state());
		assert_eq!(brought(&blob, ALICE), 0);
		assert_eq!(brought(&blob, BOB), 4_096 + 712);
		assert_eq!(brought(&blob, BOB), 0, "once");
		<Blobs as AwaitedBlobs<_>>::release(&blob.root, &[]);
	});
}

/// A clock runs until a move is made, so nobody fills blocks against it.
#[test]
fn moves_have_room_of_their_own_and_then_what_is_left() {
	run(|| {
		let call = || -> RuntimeCall {
			pallet_balances::Call::transfer_keep_alive { dest: ALICE, value: 1 }.into()
		};
		assert_eq!(valid(BOB, call()).priority, AWAITED_PRIORITY);
		flood(350_000);
		flood(1);
		assert_eq!(apply_of(ALICE, call(), 1), Err(full()), "nobody waits for it");
		let enter = |len: u32| apply_of(BOB, call(), len as usize).is_ok();
		assert!(enter(LONGEST_MOVE));
		assert_eq!((Ordinary::<Test>::get(), Moves::<Test>::get()), (ORDINARY, LONGEST_MOVE));
		assert!(!enter(LONGEST_MOVE) && enter(MOVES_ROOM - LONGEST_MOVE) && !enter(1));
		// They are no way around the room of the calls around chunks.
		let around =
			|| -> RuntimeCall { frame_system::Call::remark_with_event { remark: vec![1] }.into() };
		assert_ok!(apply_of(BOB, around(), CALLS_ROOM as usize).unwrap());
		assert!(!enter(1));
		ModelStorage::on_finalize(1);
		assert_eq!((Ordinary::<Test>::get(), Moves::<Test>::get()), (0, 0));
		// Where blocks are not full a second one finds room.
		assert!(enter(LONGEST_MOVE) && enter(LONGEST_MOVE));
		assert_eq!((Ordinary::<Test>::get(), Moves::<Test>::get()), (LONGEST_MOVE, LONGEST_MOVE));
		ModelStorage::on_finalize(2);
	});
}

#[test]
fn a_block_is_full_for_moves_where_the_longest_has_no_room() {
	run(|| {
		let end = |moves: u32, ordinary: u32| {
			Moves::<Test>::put(moves);
			Ordinary::<Test>::put(ordinary);
			ModelStorage::on_finalize(1);
			MovesFull::<Test>::get()
		};
		assert!(!end(0, 0) && !end(0, ORDINARY) && !end(MOVES_ROOM - LONGEST_MOVE, ORDINARY));
		assert!(end(MOVES_ROOM - LONGEST_MOVE + 1, ORDINARY));
		assert!(!end(MOVES_ROOM, 0), "there is ordinary room");
		assert!(!end(MOVES_ROOM, ORDINARY - LONGEST_MOVE));
		assert!(end(MOVES_ROOM, ORDINARY - LONGEST_MOVE + 1));
		assert!(!end(0, ORDINARY));
		frame_system::BlockSize::<Test>::put(ModelStorage::room() - LONGEST_MOVE + 1);
		assert!(end(0, 0), "of three chunks and more");
		frame_system::BlockSize::<Test>::kill();
	});
}
