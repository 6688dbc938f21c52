//! Chunks are only taken from an extrinsic's own call.

use crate::{
	extension::WRONG_PROOF, mock::*, types::Marker, DirectUpload, Error, TopLevelUpload,
	WeightInfo, H256,
};
use codec::{Decode, Encode};
use frame_support::{
	assert_noop, assert_ok,
	dispatch::GetDispatchInfo,
	pallet_prelude::{InvalidTransaction, TransactionSource},
};
use sp_runtime::traits::{DispatchTransaction, Dispatchable, TransactionExtension};
use trainyard_protocol::blob::Chunked;

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

fn nested(call: RuntimeCall) -> RuntimeCall {
	RuntimeCall::Nest(nest::Call::nest { inner: Box::new(call) })
}

#[test]
fn a_nested_upload_is_refused_at_any_depth() {
	let data = bytes(10_000);
	let ext = run(|| {
		let blob = registered(&data);
		let once = nested(upload_call(&blob, 0));
		for call in [once.clone(), nested(once)] {
			assert_eq!(apply(ALICE, call).unwrap(), Err(Error::<Test>::NotTopLevel.into()));
		}
		assert_eq!(ModelStorage::view(blob.root).unwrap().missing, vec![0, 1, 2]);
	});
	assert!(ext.overlayed_changes().transaction_index_ops().is_empty());
}

#[test]
fn an_upload_without_the_extension_is_refused() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		let call = upload_call(&blob, 0);
		assert_noop!(
			call.dispatch(RuntimeOrigin::signed(ALICE)).map_err(|e| e.error),
			Error::<Test>::NotTopLevel
		);
	});
}

#[test]
fn a_marker_of_another_extrinsic_is_worthless() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		TopLevelUpload::<Test>::put(Marker {
			extrinsic: 3,
			hash: H256::zero(),
			value: H256::zero(),
		});
		System::set_extrinsic_index(4);
		let call = upload_call(&blob, 0);
		assert_noop!(
			call.dispatch(RuntimeOrigin::signed(ALICE)).map_err(|e| e.error),
			Error::<Test>::NotTopLevel
		);
		TopLevelUpload::<Test>::kill();
	});
}

#[test]
fn the_marker_does_not_survive_the_extrinsic() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		assert_ok!(apply(ALICE, upload_call(&blob, 0)).unwrap());
		assert!(!TopLevelUpload::<Test>::exists());

		// One that is refused sets no marker.
		let other = Chunked::new(&data[..9_999]);
		let mut wrong = upload_call(&blob, 1);
		if let RuntimeCall::ModelStorage(crate::Call::upload_chunk { proof, .. }) = &mut wrong {
			*proof = other.proof(1).unwrap().try_into().unwrap();
			proof.as_mut()[0].0[0] ^= 1;
		}
		assert_eq!(apply(ALICE, wrong), Err(InvalidTransaction::Custom(WRONG_PROOF).into()));
		assert!(!TopLevelUpload::<Test>::exists());
	});
}

#[test]
fn unsigned_uploads_are_refused() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		let call = upload_call(&blob, 0);
		let info = call.get_dispatch_info();
		let extension = DirectUpload::<Test>::new();
		assert_eq!(
			extension
				.validate_only(
					RuntimeOrigin::none(),
					&call,
					&info,
					0,
					TransactionSource::External,
					0
				)
				.err(),
			Some(InvalidTransaction::UnknownOrigin.into())
		);
		TopLevelUpload::<Test>::put(Marker {
			extrinsic: 0,
			hash: H256::zero(),
			value: H256::zero(),
		});
		assert_eq!(
			call.dispatch(RuntimeOrigin::none()).unwrap_err().error,
			sp_runtime::DispatchError::BadOrigin
		);
		TopLevelUpload::<Test>::kill();
	});
}

#[test]
fn other_calls_pass_and_cost_little() {
	run(|| {
		let data = bytes(10_000);
		let blob = registered(&data);
		let extension = DirectUpload::<Test>::new();
		let remark = RuntimeCall::System(frame_system::Call::remark { remark: vec![1] });
		assert_eq!(extension.weight(&remark), <() as WeightInfo>::ordinary());
		let bytes = blob.chunks[0].len() as u32;
		assert_eq!(
			extension.weight(&upload_call(&blob, 0)),
			<() as WeightInfo>::direct_upload(bytes)
		);
		assert_ok!(apply(PAUPER, remark).unwrap());
	});
}

/// The extension adds nothing to an extrinsic's bytes.
#[test]
fn the_extension_is_empty_on_the_wire() {
	assert!(DirectUpload::<Test>::new().encode().is_empty());
	assert!(DirectUpload::<Test>::decode(&mut &[][..]).is_ok());
}

/// The bytes of a chunk are the tail of the encoded call: what the node stores.
#[test]
fn the_chunk_is_the_tail_of_the_call() {
	let data = bytes(10_000);
	let blob = Chunked::new(&data);
	for index in 0..3 {
		let call = upload_call(&blob, index).encode();
		assert!(call.ends_with(blob.chunks[index]));
	}
}
