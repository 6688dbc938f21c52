//! Random blobs, uploaded in random order, and random sequences of calls.

use crate::{mock::*, Chunks, Event, HoldReason, H256};
use frame_support::{traits::fungible::InspectHold, weights::Weight};
use proptest::prelude::*;
use trainyard_protocol::blob::{chunk_hash, Chunked};
use trainyard_traits::{AwaitedBlobs, BlobStore};

/// What somebody does.
#[derive(Clone, Debug)]
enum Act {
	Register {
		who: AccountId,
		blob: usize,
	},
	Upload {
		who: AccountId,
		blob: usize,
		chunk: usize,
		spoil: bool,
	},
	/// A version of another one, or of itself.
	Version {
		who: AccountId,
		blob: usize,
		parent: usize,
	},
	/// A chunk that another one may have.
	Reuse {
		who: AccountId,
		blob: usize,
		chunk: usize,
		from: usize,
	},
	Renew {
		who: AccountId,
		blob: usize,
		blocks: u32,
	},
	Adopt {
		who: AccountId,
		blob: usize,
		period: u32,
	},
	Remove {
		who: AccountId,
		blob: usize,
	},
	Name {
		blob: usize,
	},
	Release {
		blob: usize,
		keeper: AccountId,
	},
	/// A block whose author has some of the blobs.
	Block {
		has: [bool; 3],
	},
	Wait(u32),
}

fn act() -> impl Strategy<Value = Act> {
	let who = prop_oneof![Just(ALICE), Just(BOB)];
	prop_oneof![
		2 => (who.clone(), 0..3usize).prop_map(|(who, blob)| Act::Register { who, blob }),
		8 => (who.clone(), 0..3usize, 0..8usize, prop::bool::weighted(0.1))
			.prop_map(|(who, blob, chunk, spoil)| Act::Upload { who, blob, chunk, spoil }),
		2 => (who.clone(), 0..3usize, 0..3usize)
			.prop_map(|(who, blob, parent)| Act::Version { who, blob, parent }),
		5 => (who.clone(), 1..3usize, 0..8usize, 0..3usize)
			.prop_map(|(who, blob, chunk, from)| Act::Reuse { who, blob, chunk, from }),
		1 => (who.clone(), 0..3usize, 0..500u32)
			.prop_map(|(who, blob, blocks)| Act::Renew { who, blob, blocks }),
		1 => (who.clone(), 0..3usize, 5..420u32)
			.prop_map(|(who, blob, period)| Act::Adopt { who, blob, period }),
		1 => (0..3usize).prop_map(|blob| Act::Name { blob }),
		1 => (0..3usize, who.clone()).prop_map(|(blob, keeper)| Act::Release { blob, keeper }),
		6 => any::<[bool; 3]>().prop_map(|has| Act::Block { has }),
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
				blob.content, None
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
			let mut names: Vec<usize> = Vec::new();
			for act in acts {
				// Refusals are fine; a broken state is not.
				match act {
					Act::Register { who, blob } => {
						let _ = ModelStorage::register(
							RuntimeOrigin::signed(who),
							files[blob].len() as u64,
							blobs[blob].content, None
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
					Act::Version { who, blob, parent } => {
						let _ = ModelStorage::register_version(
							RuntimeOrigin::signed(who),
							files[blob].len() as u64,
							blobs[blob].content,
							None,
							blobs[parent].root,
						);
					},
					Act::Reuse { who, blob, chunk, from } => {
						let chunk = chunk % blobs[blob].chunks.len();
						let proof = blobs[blob].proof(chunk).unwrap().try_into().unwrap();
						let (root, from) = (blobs[blob].root, blobs[from].root);
						let call = crate::Call::reuse_chunk { root, index: chunk as u32, from, proof };
						// The second and the third begin with the same four chunks.
						let taken = apply(who, call.into()) == Ok(Ok(()));
						assert!(!taken || chunk < 4 && from != blobs[0].root);
						let hash = chunk_hash(blobs[blob].chunks[chunk]);
						assert!(!taken || ModelStorage::chunk_hash(root, chunk as u32) == Some(hash));
					},
					Act::Renew { who, blob, blocks } => {
						let root = blobs[blob].root;
						let _ = ModelStorage::renew(RuntimeOrigin::signed(who), root, blocks);
					},
					Act::Adopt { who, blob, period } => {
						let (who, root) = (RuntimeOrigin::signed(who), blobs[blob].root);
						let _ = frame_support::storage::with_storage_layer(|| {
							ModelStorage::adopt(who, root, Some(period))
						});
					},
					Act::Name { blob } => {
						names.push(blob);
						<ModelStorage as AwaitedBlobs<_>>::expect(&blobs[blob].root);
					},
					Act::Release { blob, keeper } => {
						if let Some(at) = names.iter().position(|named| *named == blob) {
							names.remove(at);
							<ModelStorage as AwaitedBlobs<_>>::release(&blobs[blob].root, &[keeper]);
						}
					},
					Act::Block { has } => {
						let height = System::block_number() as u32 + 1;
						Entropy::set(Some(H256::from_low_u64_be(height.into())));
						let kept: Vec<&Chunked> =
							blobs.iter().zip(has).filter(|(_, has)| *has).map(|(b, _)| b).collect();
						let answers = answers(&kept);
						begin(height);
						let _ = ModelStorage::prove(RuntimeOrigin::none(), answers);
						end(Weight::MAX);
					},
					Act::Remove { who, blob } => {
						let _ = ModelStorage::remove(RuntimeOrigin::signed(who), blobs[blob].root);
					},
					Act::Wait(n) => System::set_block_number(System::block_number() + u64::from(n)),
				}
				ModelStorage::do_try_state().unwrap();
			}
			// Whatever happened, everything goes, and what is not back was burned.
			for blob in names {
				<ModelStorage as AwaitedBlobs<_>>::release(&blobs[blob].root, &[]);
			}
			let last = System::block_number() as u32;
			for height in last + 1_000..last + 2_300 {
				silent_block(height);
			}
			for blob in &blobs {
				assert_eq!(ModelStorage::view(blob.root), None);
			}
			let mut left = 0;
			for who in [ALICE, BOB] {
				assert_eq!(Balances::balance_on_hold(&HoldReason::Blob.into(), &who), 0);
				left += ENDOWMENT - Balances::free_balance(who);
			}
			assert_eq!(Balances::total_issuance(), issuance - left);
			let burned = System::events().into_iter().filter_map(|record| match record.event {
				RuntimeEvent::ModelStorage(Event::RentBurned { amount, .. }) => Some(amount),
				_ => None,
			});
			assert_eq!(burned.sum::<u128>(), left);
			assert_eq!(Chunks::<Test>::iter().count(), 0);
			assert_eq!(crate::Versions::<Test>::iter().count(), 0);
			ModelStorage::do_try_state().unwrap();
		});
	}
}
