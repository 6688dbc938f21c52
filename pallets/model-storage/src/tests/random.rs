//! Random blobs, uploaded in random order, and random sequences of calls.

use crate::{mock::*, HoldReason};
use frame_support::traits::fungible::InspectHold;
use proptest::prelude::*;
use trainyard_protocol::blob::{chunk_hash, Chunked};
use trainyard_traits::BlobStore;

/// What somebody does.
#[derive(Clone, Debug)]
enum Act {
	Register { who: AccountId, blob: usize },
	Upload { who: AccountId, blob: usize, chunk: usize, spoil: bool },
	Extend { who: AccountId, blob: usize },
	Remove { who: AccountId, blob: usize },
	Wait(u32),
}

fn act() -> impl Strategy<Value = Act> {
	let who = prop_oneof![Just(ALICE), Just(BOB)];
	prop_oneof![
		2 => (who.clone(), 0..3usize).prop_map(|(who, blob)| Act::Register { who, blob }),
		8 => (who.clone(), 0..3usize, 0..8usize, prop::bool::weighted(0.1))
			.prop_map(|(who, blob, chunk, spoil)| Act::Upload { who, blob, chunk, spoil }),
		1 => (who.clone(), 0..3usize).prop_map(|(who, blob)| Act::Extend { who, blob }),
		2 => (who, 0..3usize).prop_map(|(who, blob)| Act::Remove { who, blob }),
		1 => (1..60u32).prop_map(Act::Wait),
	]
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(64))]

	#[test]
	fn any_blob_in_any_order(data in proptest::collection::vec(any::<u8>(), 1..80_000), keys in any::<[u64; 32]>()) {
		run(|| {
			let blob = Chunked::new(&data);
			ModelStorage::register(
				RuntimeOrigin::signed(ALICE),
				data.len() as u64,
				blob.content,
			)
			.unwrap();
			let mut order: Vec<usize> = (0..blob.chunks.len()).collect();
			order.sort_by_key(|i| keys[*i % 32].wrapping_mul(2 * *i as u64 + 1));
			for (done, index) in order.iter().enumerate() {
				assert!(!ModelStorage::is_complete(&blob.root));
				assert_eq!(
					ModelStorage::view(blob.root).unwrap().missing.len(),
					blob.chunks.len() - done
				);
				apply(BOB, upload_call(&blob, *index)).unwrap().unwrap();
			}
			assert!(ModelStorage::is_complete(&blob.root));
			for (index, chunk) in blob.chunks.iter().enumerate() {
				assert_eq!(
					ModelStorage::chunk_hash(blob.root, index as u32),
					Some(chunk_hash(chunk))
				);
			}
		});
	}

	#[test]
	fn no_sequence_of_calls_breaks_the_state(acts in proptest::collection::vec(act(), 1..80)) {
		let files = [bytes(3), bytes(30_000), bytes(20_000)];
		let blobs: Vec<Chunked> = files.iter().map(|f| Chunked::new(f)).collect();
		new_test_ext().execute_with(|| {
			let issuance = Balances::total_issuance();
			for act in acts {
				// Refusals are fine; a broken state is not.
				match act {
					Act::Register { who, blob } => {
						let _ = ModelStorage::register(
							RuntimeOrigin::signed(who),
							files[blob].len() as u64,
							blobs[blob].content,
						);
					},
					Act::Upload { who, blob, chunk, spoil } => {
						let chunk = chunk % blobs[blob].chunks.len();
						let mut call = upload_call(&blobs[blob], chunk);
						if let (true, RuntimeCall::ModelStorage(crate::Call::upload_chunk { bytes, .. })) =
							(spoil, &mut call)
						{
							bytes.as_mut()[0] ^= 1;
						}
						let result = apply(who, call);
						assert!(!(spoil && matches!(result, Ok(Ok(())))), "spoilt bytes were taken");
					},
					Act::Extend { who, blob } => {
						let _ = ModelStorage::extend(RuntimeOrigin::signed(who), blobs[blob].root);
					},
					Act::Remove { who, blob } => {
						let _ = ModelStorage::remove(RuntimeOrigin::signed(who), blobs[blob].root);
					},
					Act::Wait(n) => System::set_block_number(System::block_number() + u64::from(n)),
				}
				ModelStorage::do_try_state().unwrap();
			}
			// Whatever happened, everything can be removed and everyone gets its money back.
			System::set_block_number(System::block_number() + 1_000);
			for blob in &blobs {
				while ModelStorage::view(blob.root).is_some() {
					ModelStorage::remove(RuntimeOrigin::signed(PAUPER), blob.root).unwrap();
				}
			}
			for who in [ALICE, BOB] {
				assert_eq!(Balances::balance_on_hold(&HoldReason::Blob.into(), &who), 0);
				assert_eq!(Balances::free_balance(who), ENDOWMENT);
			}
			assert_eq!(Balances::total_issuance(), issuance);
			ModelStorage::do_try_state().unwrap();
		});
	}
}
