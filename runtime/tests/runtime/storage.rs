//! Stored chunks on real blocks: what they cost, and what authors without them lose.

use frame_support::{assert_ok, traits::fungible::InspectHold};
use pallet_model_storage::{Call, Event, Place};
use sp_keyring::Sr25519Keyring::{Alice, Bob, Charlie};
use sp_runtime::AccountId32;
use trainyard_protocol::{
	blob::{chunk_hash, Chunked},
	retention,
};
use trainyard_runtime::{
	configs::market::{BlobRent, ChunkLostAfter, DAYS},
	*,
};
use trainyard_sandbox::{books::Issuance, Chain};

/// Registers a blob of Bob's, and uploads all of it.
fn store(chain: &mut Chain, blob: &Chunked, size: usize, period: Option<u32>) {
	assert_ok!(chain.call(Bob, Call::register { size: size as u64, content: blob.content, period }));
	for (index, chunk) in blob.chunks.iter().enumerate() {
		let upload = Call::upload_chunk {
			root: blob.root,
			index: index as u32,
			proof: blob.proof(index).unwrap().try_into().unwrap(),
			bytes: chunk.to_vec().try_into().unwrap(),
		};
		assert_ok!(chain.call(Bob, upload));
	}
}

fn bytes(size: u32) -> Vec<u8> {
	(0..size).map(|i| (i ^ (i >> 8)) as u8).collect()
}

/// What the author of the latest block got.
fn reward(chain: &mut Chain) -> Balance {
	let rewards = chain.state(|| {
		System::events().into_iter().find_map(|record| match record.event {
			RuntimeEvent::Hashrate(pallet_hashrate::Event::BlockRewarded { reward, .. }) => {
				Some(reward)
			}
			_ => None,
		})
	});
	rewards.expect("each block has an author")
}

fn place(chain: &mut Chain, blob: &Chunked, index: u32) -> Place {
	let root = blob.root;
	chain.state(|| pallet_model_storage::Chunks::<Runtime>::get(root, index).unwrap().place)
}

fn money(chain: &mut Chain, who: impl Into<AccountId32>) -> (Balance, Balance) {
	let who = who.into();
	let reason = pallet_model_storage::HoldReason::Blob.into();
	chain.state(|| (Balances::free_balance(&who), Balances::balance_on_hold(&reason, &who)))
}

/// The chain goes on where all authors have lost a chunk: one block has no reward, and a day later the
/// chunk is lost. Money adds up in every block.
#[test]
fn a_chunk_that_all_authors_lost_stops_nothing() {
	let data = bytes(20_000);
	let blob = Chunked::new(&data);
	let mut chain = Chain::development();
	chain.run(1);
	store(&mut chain, &blob, data.len(), None);
	let mut books = Issuance::of(&mut chain);
	for _ in 0..20 {
		chain.run(1);
		assert!(reward(&mut chain) > 0, "authors that have everything are paid");
		books.follow(&mut chain).unwrap();
	}
	chain.lose_chunk(&chunk_hash(blob.chunks[2]));
	let mut unpaid = 0;
	for _ in 0..60 {
		chain.run(1);
		unpaid += u32::from(reward(&mut chain) == 0);
		books.follow(&mut chain).unwrap();
	}
	assert_eq!(unpaid, 1);
	assert_eq!(place(&mut chain, &blob, 2), Place::Doubted);
	chain.leap(ChunkLostAfter::get());
	chain.run(1);
	let lost = Event::ChunkLost { root: blob.root, index: 2 };
	assert!(chain.has_event(RuntimeEvent::ModelStorage(lost)));
	let view = chain.state(|| ModelStorage::view(blob.root)).unwrap();
	assert_eq!((view.missing, view.removing), (vec![2], false));
	for _ in 0..10 {
		chain.run(1);
		assert!(reward(&mut chain) > 0);
	}
	// Whoever has it, whoever that is, brings it again.
	let upload = Call::upload_chunk {
		root: blob.root,
		index: 2,
		proof: blob.proof(2).unwrap().try_into().unwrap(),
		bytes: blob.chunks[2].to_vec().try_into().unwrap(),
	};
	assert_ok!(chain.call(Charlie, upload));
	assert!(matches!(place(&mut chain, &blob, 2), Place::Listed(_)));
	chain.state(|| ModelStorage::do_try_state().unwrap());
}

/// An author that has nothing is shown up by one that has everything: the doubt is cleared, and it goes
/// without its rewards. Alice has the chunks; where Bob makes the block nobody answers.
#[test]
fn the_next_author_clears_a_doubt() {
	let data = bytes(20_000);
	let blob = Chunked::new(&data);
	let mut chain = Chain::development();
	chain.run(1);
	store(&mut chain, &blob, data.len(), None);
	let hash = chunk_hash(blob.chunks[1]);
	chain.lose_chunk(&hash);
	while place(&mut chain, &blob, 1) != Place::Doubted {
		chain.run(1);
	}
	assert_eq!(reward(&mut chain), 0);
	chain.find_chunk(blob.chunks[1]);
	chain.run(1);
	let found = Event::ChunkFound { root: blob.root, index: 1 };
	assert!(chain.has_event(RuntimeEvent::ModelStorage(found)));
	assert!(reward(&mut chain) > 0);
}

/// A version takes over in one batch what did not change, for the fee of a small transaction; both files are
/// shown by authors, and the new one stays when the old one goes.
#[test]
fn a_version_takes_over_what_did_not_change() {
	let old = bytes(8_000_000);
	let mut new = old.clone();
	new[0] ^= 1;
	let (base, next) = (Chunked::new(&old), Chunked::new(&new));
	let mut chain = Chain::development();
	chain.run(1);
	store(&mut chain, &base, old.len(), None);
	let register = Call::register_version {
		size: new.len() as u64,
		content: next.content,
		period: None,
		parent: base.root,
	};
	assert_ok!(chain.call(Charlie, register));
	let proof = |index: usize| -> pallet_model_storage::ChunkProof {
		next.proof(index).unwrap().try_into().unwrap()
	};
	let reuse = |index: usize| Call::<Runtime>::reuse_chunk {
		root: next.root,
		index: index as u32,
		from: base.root,
		proof: proof(index),
	};
	let calls: Vec<RuntimeCall> = (1..next.chunks.len()).map(|index| reuse(index).into()).collect();
	let free = |chain: &mut Chain| money(chain, Charlie.to_account_id()).0;
	let before = free(&mut chain);
	assert_ok!(chain.call(Charlie, pallet_utility::Call::batch_all { calls }));
	let batch = before - free(&mut chain);
	let bytes = next.chunks[0].to_vec().try_into().unwrap();
	let upload = Call::upload_chunk { root: next.root, index: 0, proof: proof(0), bytes };
	assert_ok!(chain.call(Charlie, upload));
	let one = before - batch - free(&mut chain);
	assert!(batch < one * (next.chunks.len() as u128 - 1) / 2, "{batch} for all, {one} for one");
	let view = chain.state(|| ModelStorage::view(next.root)).unwrap();
	assert_eq!(view.missing, Vec::<u32>::new());
	let versions = chain.state(|| ModelStorage::versions(next.root, 10));
	let seen: Vec<_> = versions.iter().map(|one| (one.root, one.parent, one.number)).collect();
	assert_eq!(seen, [(next.root, Some(base.root), 1), (base.root, None, 0)]);

	assert_ok!(chain.call(Bob, Call::remove { root: base.root }));
	for _ in 0..20 {
		chain.run(1);
		assert!(reward(&mut chain) > 0, "authors have what is listed once");
	}
	chain.state(|| ModelStorage::do_try_state().unwrap());
}

#[test]
fn time_is_paid_for_by_the_block_and_the_rest_returns() {
	let data = bytes(20_000);
	let blob = Chunked::new(&data);
	let mut chain = Chain::development();
	chain.run(1);
	store(&mut chain, &blob, data.len(), Some(60 * DAYS));
	let (_, held) = money(&mut chain, Bob.to_account_id());
	assert_eq!(held, TRY / 1_000 * 80 + 20_000_000_000 + BlobRent::get() * 20 * (60 * 14_400));
	let view = chain.state(|| ModelStorage::keeping(blob.root)).unwrap();
	assert_eq!((view.rent, view.awaited), (retention::rent(BlobRent::get(), 20_000, 60 * DAYS), 0));
	chain.leap(10 * DAYS);
	let (issued, before) = chain.state(|| (Balances::total_issuance(), System::block_number()));
	assert_ok!(chain.call(Bob, Call::remove { root: blob.root }));
	let now = chain.state(System::block_number);
	let minted = TRY * Balance::from(now - before);
	let burned = retention::rent(BlobRent::get(), 20_000, now - view.since);
	let event = Event::RentBurned { root: blob.root, owner: Bob.to_account_id(), amount: burned };
	assert!(chain.has_event(RuntimeEvent::ModelStorage(event)));
	let event =
		Event::Removed { root: blob.root, owner: Bob.to_account_id(), deposit: held - burned };
	assert!(chain.has_event(RuntimeEvent::ModelStorage(event)));
	assert_eq!(money(&mut chain, Bob.to_account_id()).1, 0);
	assert!(chain.state(Balances::total_issuance) < issued + minted - burned);
}

#[test]
fn the_agenda_removes_what_expired() {
	let data = bytes(20_000);
	let blob = Chunked::new(&data);
	let mut chain = Chain::development();
	chain.run(1);
	store(&mut chain, &blob, data.len(), Some(DAYS));
	chain.leap(2 * DAYS);
	// The clock goes through the heights that were left out, as far as a block has weight for it.
	for _ in 0..20 {
		chain.run(1);
	}
	assert_eq!(chain.state(|| ModelStorage::view(blob.root)), None);
	assert_eq!(money(&mut chain, Bob.to_account_id()).1, 0);
	chain.state(|| ModelStorage::do_try_state().unwrap());
}

/// A stranger that takes a model over pays as its owner did.
#[test]
fn a_model_that_its_owner_lets_go_is_adopted() {
	let data = bytes(20_000);
	let blob = Chunked::new(&data);
	let mut chain = Chain::development();
	chain.run(1);
	store(&mut chain, &blob, data.len(), Some(DAYS));
	chain.leap(DAYS + 10);
	assert_ok!(chain.call(Alice, Call::adopt { root: blob.root, period: Some(3 * DAYS) }));
	assert_eq!(money(&mut chain, Bob.to_account_id()).1, 0);
	assert!(money(&mut chain, Alice.to_account_id()).1 > 0);
	assert_ok!(chain.call(Alice, Call::renew { root: blob.root, blocks: DAYS }));
	let view = chain.state(|| ModelStorage::keeping(blob.root)).unwrap();
	assert_eq!(view.expires - view.since, 4 * DAYS);
}
