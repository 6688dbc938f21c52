//! Uploading chunks: what is stored, what is refused, what the node is asked to keep.

use crate::{
	extension::{CHUNK_STORED, NO_SUCH_CHUNK, UNKNOWN_BLOB, WRONG_LENGTH, WRONG_PROOF},
	mock::*,
	types::Marker,
	Blobs, Call, Chunks, Error, Event, H256,
};
use frame_support::assert_ok;
use sp_runtime::{
	traits::Dispatchable,
	transaction_validity::{InvalidTransaction, TransactionValidityError},
};
use trainyard_protocol::{
	blob::{chunk_hash, root_of, Chunked},
	content,
};
use trainyard_traits::BlobStore;

fn refused(code: u8) -> TransactionValidityError {
	InvalidTransaction::Custom(code).into()
}

/// `call` with other arguments.
fn with(
	call: RuntimeCall,
	change: impl FnOnce(&mut H256, &mut u32, &mut Vec<H256>, &mut Vec<u8>),
) -> RuntimeCall {
	let RuntimeCall::ModelStorage(Call::upload_chunk { mut root, mut index, proof, bytes }) = call
	else {
		panic!("not an upload")
	};
	let (mut proof, mut bytes) = (proof.into_inner(), bytes.into_inner());
	change(&mut root, &mut index, &mut proof, &mut bytes);
	Call::upload_chunk {
		root,
		index,
		proof: proof.try_into().unwrap(),
		bytes: bytes.try_into().unwrap(),
	}
	.into()
}

/// The mark of a checked upload.
const MARKER: Marker = Marker { extrinsic: 0, hash: H256([0; 32]), value: H256([0; 32]) };

fn registered(data: &[u8]) -> Chunked<'_> {
	let blob = Chunked::new(data);
	assert_ok!(ModelStorage::register(
		RuntimeOrigin::signed(ALICE),
		data.len() as u64,
		blob.content,
		None
	));
	blob
}

#[test]
fn anyone_completes_a_blob_in_any_order() {
	let data = bytes(10_000);
	let ext = run(|| {
		let blob = registered(&data);
		for (who, index) in [(BOB, 2), (ALICE, 0)] {
			System::set_extrinsic_index(index);
			assert_ok!(apply(who, upload_call(&blob, index as usize)).unwrap());
			assert!(!ModelStorage::is_complete(&blob.root));
		}
		assert_eq!(ModelStorage::view(blob.root).unwrap().missing, vec![1]);
		assert!(Heard::get().is_empty());

		System::set_block_number(5);
		System::set_extrinsic_index(7);
		assert_ok!(apply(BOB, upload_call(&blob, 1)).unwrap());
		let hash = chunk_hash(blob.chunks[1]);
		System::assert_has_event(Event::ChunkStored { root: blob.root, index: 1, hash }.into());
		System::assert_last_event(
			Event::Completed { root: blob.root, expires: 5 + RETENTION }.into(),
		);
		assert!(ModelStorage::is_complete(&blob.root));
		assert_eq!(Heard::get(), vec![blob.root]);
		let view = ModelStorage::view(blob.root).unwrap();
		assert_eq!((view.missing, view.expires), (vec![], 5 + RETENTION));
		for (index, chunk) in blob.chunks.iter().enumerate() {
			assert_eq!(ModelStorage::chunk_hash(blob.root, index as u32), Some(chunk_hash(chunk)));
		}
	});
	// The node was asked to keep exactly the chunks, from the extrinsics that carried them.
	let blob = Chunked::new(&data);
	let told = format!("{:?}", ext.overlayed_changes().transaction_index_ops());
	let wanted: Vec<String> = [(2u32, 2usize), (0, 0), (7, 1)]
		.iter()
		.map(|(extrinsic, chunk)| {
			let (hash, size) = (chunk_hash(blob.chunks[*chunk]), blob.chunks[*chunk].len());
			format!("Insert {{ extrinsic: {extrinsic}, hash: {:?}, size: {size} }}", hash.0)
		})
		.collect();
	assert_eq!(told, format!("[{}]", wanted.join(", ")));
}

#[test]
fn a_refused_chunk_tells_the_node_nothing() {
	let data = bytes(10_000);
	let ext = run(|| {
		let blob = registered(&data);
		let wrong = with(upload_call(&blob, 1), |_, _, _, bytes| bytes[0] ^= 1);
		assert_eq!(apply(ALICE, wrong), Err(refused(WRONG_PROOF)));
		assert_eq!(Blobs::<Test>::get(blob.root).unwrap().stored, 0);
		assert_eq!(Chunks::<Test>::iter().count(), 0);
	});
	assert!(ext.overlayed_changes().transaction_index_ops().is_empty());
}

#[test]
fn a_wrong_proof_is_refused() {
	run(|| {
		let data = bytes(20_000);
		let blob = registered(&data);
		let call = upload_call(&blob, 1);
		for broken in [
			with(call.clone(), |_, _, _, bytes| bytes[4_000] ^= 1),
			with(call.clone(), |_, _, proof, _| proof[0].0[0] ^= 1),
			with(call.clone(), |_, _, proof, _| proof.truncate(1)),
			with(call.clone(), |_, _, proof, _| proof.clear()),
			with(call.clone(), |_, _, proof, _| proof.push(H256([0; 32]))),
			with(call.clone(), |_, _, proof, _| proof.resize(32, H256([0; 32]))),
			with(call.clone(), |_, _, proof, _| proof.reverse()),
			// The value of the chunk itself, or of the blob, in the place of a sibling.
			with(call.clone(), |_, _, proof, bytes| proof[0] = content::hash(bytes)),
			with(call.clone(), |_, _, proof, _| proof[0] = blob.content),
			// The right bytes and proof at the wrong place.
			with(call.clone(), |_, index, _, _| *index = 2),
		] {
			assert_eq!(apply(ALICE, broken), Err(refused(WRONG_PROOF)));
		}
		assert_ok!(apply(ALICE, call).unwrap());
	});
}

/// The content hash of a blob of one chunk is that of the chunk; any path is too long.
#[test]
fn a_blob_of_one_chunk_has_an_empty_path() {
	for length in [1, 1_024, 1_025, 4_096] {
		run(|| {
			let data = bytes(length);
			let blob = registered(&data);
			let call = upload_call(&blob, 0);
			let longer = with(call.clone(), |_, _, proof, _| proof.push(blob.content));
			let other = with(call.clone(), |_, _, _, bytes| bytes[length / 2] ^= 1);
			for broken in [longer, other] {
				assert_eq!(apply(ALICE, broken), Err(refused(WRONG_PROOF)));
			}
			assert_ok!(apply(ALICE, call).unwrap());
			assert!(ModelStorage::is_complete(&blob.root));
		});
	}
}

/// The size is hashed with the content: under another one there is another blob, which nobody
/// completes.
#[test]
fn a_blob_of_another_size_is_never_complete() {
	run(|| {
		let data = bytes(10_000);
		let blob = Chunked::new(&data);
		for size in [9_999, 10_001] {
			assert_ok!(ModelStorage::register(
				RuntimeOrigin::signed(ALICE),
				size,
				blob.content,
				None
			));
			let root = root_of(size, &blob.content);
			assert_ne!(root, blob.root);
			let last = with(upload_call(&blob, 2), |at, _, _, _| *at = root);
			assert_eq!(apply(ALICE, last.clone()), Err(refused(WRONG_LENGTH)));
			let fitted = with(last, |_, _, _, bytes| bytes.resize(size as usize - 8_192, 0));
			assert_eq!(apply(ALICE, fitted), Err(refused(WRONG_PROOF)));
			assert!(!ModelStorage::is_complete(&root));
		}
	});
}

/// What the extension refuses, the call refuses too, should it get through.
#[test]
fn hopeless_chunks_enter_no_block() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		let call = upload_call(&blob, 2);
		let cases = [
			(
				with(call.clone(), |root, _, _, _| root.0[0] ^= 1),
				UNKNOWN_BLOB,
				Error::<Test>::UnknownBlob,
			),
			(
				with(call.clone(), |_, index, _, _| *index = 3),
				NO_SUCH_CHUNK,
				Error::<Test>::NoSuchChunk,
			),
			(
				with(call.clone(), |_, index, _, _| *index = u32::MAX),
				NO_SUCH_CHUNK,
				Error::<Test>::NoSuchChunk,
			),
			(
				with(call.clone(), |_, _, _, bytes| bytes.push(0)),
				WRONG_LENGTH,
				Error::<Test>::WrongLength,
			),
			(
				with(call.clone(), |_, _, _, bytes| bytes.truncate(100)),
				WRONG_LENGTH,
				Error::<Test>::WrongLength,
			),
			(
				with(call.clone(), |_, _, _, bytes| bytes.clear()),
				WRONG_LENGTH,
				Error::<Test>::WrongLength,
			),
		];
		for (call, code, error) in cases {
			assert_eq!(apply(ALICE, call.clone()), Err(refused(code)));
			crate::TopLevelUpload::<Test>::put(MARKER);
			let result = call.dispatch(RuntimeOrigin::signed(ALICE));
			assert_eq!(result.unwrap_err().error, error.into());
			crate::TopLevelUpload::<Test>::kill();
		}
	});
}

#[test]
fn a_chunk_is_stored_once() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		assert_ok!(apply(ALICE, upload_call(&blob, 0)).unwrap());
		assert_eq!(apply(BOB, upload_call(&blob, 0)), Err(refused(CHUNK_STORED)));
		crate::TopLevelUpload::<Test>::put(MARKER);
		let result = upload_call(&blob, 0).dispatch(RuntimeOrigin::signed(BOB));
		assert_eq!(result.unwrap_err().error, Error::<Test>::ChunkStored.into());
		crate::TopLevelUpload::<Test>::kill();
	});
}

#[test]
fn nothing_is_taken_behind_completion() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		upload_all(ALICE, &blob);
		for index in 0..3 {
			assert_eq!(apply(BOB, upload_call(&blob, index)), Err(refused(CHUNK_STORED)));
		}
		crate::TopLevelUpload::<Test>::put(MARKER);
		let result = upload_call(&blob, 0).dispatch(RuntimeOrigin::signed(BOB));
		assert_eq!(result.unwrap_err().error, Error::<Test>::AlreadyComplete.into());
		crate::TopLevelUpload::<Test>::kill();
		assert_eq!(Heard::get(), vec![blob.root]);
	});
}
