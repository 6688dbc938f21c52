//! What blocks ask of their authors, and what becomes of chunks that nobody has.

use crate::{
	mock::*, Asked, Call, Chunks, Doubted, Error, Event, LostChunks, Place, RetainedCount,
};
use frame_support::{
	assert_noop, assert_ok,
	inherent::{InherentData, ProvideInherent},
	traits::Hooks,
	weights::Weight,
};
use sp_runtime::{transaction_validity::InvalidTransaction, DispatchError};
use std::collections::BTreeMap;
use trainyard_protocol::{
	blob::Chunked,
	retention::{Answers, Questions, MAX_DOUBTED},
	H256,
};
use trainyard_traits::{AuthorKeeps, BlobStore};

fn store(blob: &Chunked, size: usize) {
	assert_ok!(ModelStorage::register(
		RuntimeOrigin::signed(ALICE),
		size as u64,
		blob.content,
		Some(MAX_PERIOD)
	));
	upload_all(ALICE, blob);
}

fn prove(answers: Answers) -> sp_runtime::DispatchResult {
	ModelStorage::prove(RuntimeOrigin::none(), answers)
}

/// A block of this height whose author has these blobs, all of them. Returns whether it has its reward.
fn block(height: u32, blobs: &[&Chunked]) -> bool {
	skip_to(height - 1);
	Entropy::set(Some(H256::from_low_u64_be(height.into())));
	let answers = answers(blobs);
	begin(height);
	let mut data = InherentData::new();
	data.put_data(crate::INHERENT_IDENTIFIER, &answers).unwrap();
	if let Some(call) = ModelStorage::create_inherent(&data) {
		let Call::prove { answers } = call else { panic!("another call") };
		assert_ok!(prove(answers));
	}
	let keeps = ModelStorage::author_keeps();
	end(Weight::MAX);
	keeps
}

fn place(blob: &Chunked, index: u32) -> Place {
	Chunks::<Test>::get(blob.root, index).unwrap().place
}

#[test]
fn a_chain_that_stores_nothing_asks_for_nothing() {
	run(|| {
		assert_eq!(ModelStorage::questions(), Questions::default());
		begin(2);
		assert!(ModelStorage::author_keeps());
		assert_noop!(prove(Answers::default()), Error::<Test>::NothingAsked);
		end(Weight::MAX);
	});
}

#[test]
fn an_author_that_has_everything_always_has_its_reward() {
	run(|| {
		let files = [bytes(3), bytes(30_000), bytes(200_000)];
		let blobs: Vec<Chunked> = files.iter().map(|file| Chunked::new(file)).collect();
		blobs.iter().zip(&files).for_each(|(blob, file)| store(blob, file.len()));
		let count = RetainedCount::<Test>::get();
		assert_eq!(count, 1 + 8 + 49);
		let mut asked = BTreeMap::new();
		for height in 2..300 {
			let all: Vec<&Chunked> = blobs.iter().collect();
			assert!(block(height, &all), "{height}");
			let question = ModelStorage::questions().drawn.unwrap();
			*asked.entry((question.root, question.index)).or_insert(0) += 1;
		}
		assert!(asked.len() > 50, "{} of {count} are asked for", asked.len());
		assert_eq!(Doubted::<Test>::get().len(), 0);
	});
}

#[test]
fn nobody_but_the_author_answers_and_only_once() {
	run(|| {
		let data = bytes(30_000);
		let blob = Chunked::new(&data);
		store(&blob, data.len());
		let right = {
			Entropy::set(Some(H256::from_low_u64_be(2)));
			answers(&[&blob])
		};
		begin(2);
		assert_noop!(
			ModelStorage::prove(RuntimeOrigin::signed(ALICE), right.clone()),
			DispatchError::BadOrigin
		);
		assert!(!ModelStorage::author_keeps());
		assert_ok!(prove(right.clone()));
		assert!(ModelStorage::author_keeps());
		assert_noop!(prove(right.clone()), Error::<Test>::AlreadyProved);
		end(Weight::MAX);
		// What answered the last block answers no other one, and the block is valid without its reward.
		begin(3);
		let mut data = InherentData::new();
		data.put_data(crate::INHERENT_IDENTIFIER, &right).unwrap();
		assert!(ModelStorage::create_inherent(&data).is_none());
		assert_ok!(prove(right));
		assert!(!ModelStorage::author_keeps());
		end(Weight::MAX);
		assert_eq!(Doubted::<Test>::get().len(), 1);
	});
}

#[test]
fn a_false_proof_counts_as_none() {
	run(|| {
		let data = bytes(30_000);
		let blob = Chunked::new(&data);
		store(&blob, data.len());
		for (height, spoil) in (2..).zip(0..3) {
			Entropy::set(Some(H256::from_low_u64_be(height.into())));
			skip_to(height - 1);
			let mut answers = answers(&[&blob]);
			answers.doubted = None;
			let shown = answers.drawn.as_mut().unwrap();
			match spoil {
				0 => shown.bytes[0] ^= 1,
				1 => drop(shown.path.pop()),
				_ => answers.drawn = None,
			}
			begin(height);
			assert_ok!(prove(answers));
			assert!(!ModelStorage::author_keeps());
			end(Weight::MAX);
			assert_eq!(Doubted::<Test>::get().len() as u32, height - 1);
		}
	});
}

/// The bar: all authors lose one chunk, and the chain goes on. One of them pays for it, once.
#[test]
fn a_chunk_that_nobody_has_costs_one_reward_and_is_lost_after_a_day() {
	run(|| {
		let (gone, rest) = (bytes(4_000), bytes(30_000));
		let (gone, other) = (Chunked::new(&gone), Chunked::new(&rest));
		store(&gone, 4_000);
		store(&other, 30_000);
		let mut missed = Vec::new();
		for height in 2..LOST_AFTER + 100 {
			if !block(height, &[&other]) {
				missed.push(height);
				System::assert_has_event(Event::ChunkDoubted { root: gone.root, index: 0 }.into());
			}
			if let [first] = missed[..] {
				let lost = height >= first + LOST_AFTER;
				assert_eq!(place(&gone, 0), if lost { Place::Lost } else { Place::Doubted });
				assert_eq!(LostChunks::<Test>::get(), u32::from(lost));
			}
		}
		assert_eq!(missed.len(), 1, "{missed:?}");
		let retention = ModelStorage::retention();
		assert_eq!((retention.chunks, retention.lost, retention.doubted.len()), (8, 1, 0));
		assert_eq!(ModelStorage::keeping(gone.root).unwrap().lost, [0]);
		// It is shown as missing, and is complete for whoever asks whether it was stored.
		assert_eq!(ModelStorage::view(gone.root).unwrap().missing, [0]);
		assert!(ModelStorage::is_complete(&gone.root));
		// Whoever has it brings it again, once.
		assert_ok!(apply(BOB, upload_call(&gone, 0)).unwrap());
		assert_eq!((LostChunks::<Test>::get(), place(&gone, 0)), (0, Place::Listed(8)));
		assert_eq!(ModelStorage::view(gone.root).unwrap().missing, Vec::<u32>::new());
		assert_eq!(
			apply(BOB, upload_call(&gone, 0)),
			Err(InvalidTransaction::Custom(crate::extension::CHUNK_STORED).into())
		);
	});
}

/// An author that lost something pays whenever that is drawn, and the others clear it.
#[test]
fn a_single_author_without_a_blob_loses_its_own_rewards_alone() {
	run(|| {
		let (lost, rest) = (bytes(30_000), bytes(31_000));
		let (lost, other) = (Chunked::new(&lost), Chunked::new(&rest));
		store(&lost, 30_000);
		store(&other, 31_000);
		let mut missed = 0;
		for height in 2..400 {
			let bad = height % 4 == 0;
			let has: &[&Chunked] = if bad { &[&other] } else { &[&lost, &other] };
			let rewarded = block(height, has);
			assert!(rewarded || bad, "an author that has everything has its reward");
			missed += u32::from(!rewarded);
		}
		assert!((30..70).contains(&missed), "a half of 100 blocks: {missed}");
		assert!(Doubted::<Test>::get().len() <= 1);
		assert_eq!(LostChunks::<Test>::get(), 0);
	});
}

/// Authors with all but one part in fifty of the blocks say of a chunk that they do not have it.
#[test]
fn a_cartel_does_not_make_others_lose_a_chunk() {
	run(|| {
		let data = bytes(4_000);
		let blob = Chunked::new(&data);
		store(&blob, 4_000);
		for height in 2..MAX_PERIOD {
			let has: &[&Chunked] = if height % 50 == 0 { &[&blob] } else { &[] };
			block(height, has);
			assert_ne!(place(&blob, 0), Place::Lost);
		}
		assert_eq!(LostChunks::<Test>::get(), 0);
	});
}

/// Nine authors of ten store nothing. Their doubts fill the list, which the tenth cannot clear as fast;
/// they lose their rewards all the same.
#[test]
fn a_majority_that_stores_nothing_is_not_paid() {
	run(|| {
		let files: Vec<Vec<u8>> = (0..5).map(|i| bytes(250_000 + i)).collect();
		let blobs: Vec<Chunked> = files.iter().map(|file| Chunked::new(file)).collect();
		blobs.iter().zip(&files).for_each(|(blob, file)| store(blob, file.len()));
		let all: Vec<&Chunked> = blobs.iter().collect();
		let mut paid = 0;
		for height in 2..400 {
			let honest = height % 10 == 0;
			let rewarded = block(height, if honest { &all } else { &[] });
			assert!(rewarded || !honest);
			paid += u32::from(rewarded && !honest);
		}
		assert_eq!(paid, 0);
	});
}

/// Everybody loses everything: the list of doubts fills, then nobody is asked for more, and each of the
/// doubted is asked for in its turn until it is lost.
#[test]
fn where_everything_is_lost_rewards_go_on() {
	run(|| {
		let files: Vec<Vec<u8>> = (0..5).map(|i| bytes(250_000 + i)).collect();
		let blobs: Vec<Chunked> = files.iter().map(|file| Chunked::new(file)).collect();
		blobs.iter().zip(&files).for_each(|(blob, file)| store(blob, file.len()));
		let all = RetainedCount::<Test>::get();
		assert!(all > 2 * MAX_DOUBTED, "{all}");
		let missed: Vec<u32> = (2..2 + LOST_AFTER).filter(|height| !block(*height, &[])).collect();
		assert_eq!(missed.len() as u32, MAX_DOUBTED);
		assert_eq!(missed.last(), Some(&(MAX_DOUBTED + 1)));
		assert_eq!(LostChunks::<Test>::get(), 0);
		// A chunk is given up in the block that asks for it.
		for height in 2 + LOST_AFTER..2 + 2 * LOST_AFTER {
			block(height, &[]);
		}
		assert!(LostChunks::<Test>::get() > 0);
		assert!(Doubted::<Test>::get().len() as u32 <= MAX_DOUBTED);
	});
}

#[test]
fn a_doubted_chunk_is_brought_again_or_removed_with_its_blob() {
	run(|| {
		let (first, second) = (bytes(4_000), bytes(4_001));
		let (first, second) = (Chunked::new(&first), Chunked::new(&second));
		store(&first, 4_000);
		store(&second, 4_001);
		assert!(!block(2, &[]) && !block(3, &[]));
		assert_eq!(Doubted::<Test>::get().len(), 2);
		assert_eq!(ModelStorage::keeping(first.root).unwrap().doubted, [0]);
		assert_ok!(apply(BOB, upload_call(&first, 0)).unwrap());
		assert_eq!((place(&first, 0), RetainedCount::<Test>::get()), (Place::Listed(0), 1));
		ModelStorage::remove(RuntimeOrigin::signed(ALICE), second.root).unwrap();
		assert_eq!(Doubted::<Test>::get().len(), 0);
		ModelStorage::do_try_state().unwrap();
		// One that is lost goes with its blob as well.
		for height in 4..8 + 2 * LOST_AFTER {
			block(height, &[]);
		}
		assert_eq!(LostChunks::<Test>::get(), 1);
		ModelStorage::remove(RuntimeOrigin::signed(ALICE), first.root).unwrap();
		assert_eq!((LostChunks::<Test>::get(), RetainedCount::<Test>::get()), (0, 0));
	});
}

/// A chunk that is drawn and removed in the same block is nobody's fault twice.
#[test]
fn what_is_removed_in_its_block_is_not_doubted() {
	run(|| {
		let data = bytes(4_000);
		let blob = Chunked::new(&data);
		store(&blob, 4_000);
		begin(2);
		assert!(Asked::<Test>::get().unwrap().drawn.is_some());
		ModelStorage::remove(RuntimeOrigin::signed(ALICE), blob.root).unwrap();
		end(Weight::MAX);
		assert_eq!((Doubted::<Test>::get().len(), RetainedCount::<Test>::get()), (0, 0));
	});
}

#[test]
fn the_list_is_read_page_by_page() {
	run(|| {
		let data = bytes(30_000);
		let blob = Chunked::new(&data);
		store(&blob, 30_000);
		let pages: Vec<_> = (0..3).flat_map(|page| ModelStorage::retained(page * 3, 3)).collect();
		assert_eq!(pages.len(), 8);
		for (index, entry) in (0..).zip(&pages) {
			assert_eq!((entry.root, entry.index), (blob.root, index));
			assert_eq!(entry.length as usize, blob.chunks[index as usize].len());
			assert_eq!(Some(entry.hash), ModelStorage::chunk_hash(blob.root, index));
		}
		assert_eq!(ModelStorage::retained(8, 100), []);
		assert_eq!(ModelStorage::retained(u32::MAX, u32::MAX), []);
	});
}

#[test]
fn drawing_weighs_something() {
	run(|| {
		let idle = <ModelStorage as Hooks<u64>>::on_initialize(5);
		assert!(idle.all_gte(<() as crate::WeightInfo>::draw()));
	});
}
