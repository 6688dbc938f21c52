//! Chunks that are taken over from other blobs, and who descends from whom.

use crate::{
	extension::{
		BEING_REMOVED, CHUNK_STORED, NOT_KEPT, NO_SUCH_CHUNK, UNKNOWN_BLOB, WRONG_LENGTH,
		WRONG_PROOF,
	},
	mock::*,
	Blobs, Brought, Call, Chunks, Error, Event, HoldReason, Place, RetainedCount, Version,
	Versions, H256,
};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::{
	traits::Dispatchable,
	transaction_validity::{InvalidTransaction, TransactionValidityError},
	DispatchError,
};
use trainyard_protocol::blob::{chunk_hash, Chunked};
use trainyard_traits::{AwaitedBlobs, BlobStore};

fn refused(code: u8) -> TransactionValidityError {
	InvalidTransaction::Custom(code).into()
}

fn registered(data: &[u8]) -> Chunked<'_> {
	let (blob, size) = (Chunked::new(data), data.len() as u64);
	assert_ok!(ModelStorage::register(RuntimeOrigin::signed(ALICE), size, blob.content, None));
	blob
}

fn stored(data: &[u8]) -> Chunked<'_> {
	let blob = registered(data);
	upload_all(ALICE, &blob);
	blob
}

/// The same bytes but in these places.
fn tuned(data: &[u8], places: &[usize]) -> Vec<u8> {
	let mut tuned = data.to_vec();
	places.iter().for_each(|place| tuned[*place] ^= 1);
	tuned
}

fn reuse(blob: &Chunked, index: usize, from: H256) -> RuntimeCall {
	let (root, proof) = (blob.root, blob.proof(index).unwrap().try_into().unwrap());
	Call::reuse_chunk { root, index: index as u32, from, proof }.into()
}

fn version_of(who: AccountId, data: &[u8], parent: H256) -> Result<H256, DispatchError> {
	let (blob, size, who) = (Chunked::new(data), data.len() as u64, RuntimeOrigin::signed(who));
	ModelStorage::register_version(who, size, blob.content, None, parent).map(|()| blob.root)
}

#[test]
fn what_did_not_change_is_taken_over_without_its_bytes() {
	let base = bytes(20_000);
	let next = tuned(&base, &[9_000]);
	let ext = run(|| {
		let (old, new) = (stored(&base), registered(&next));
		for index in [0, 1, 3, 4] {
			assert_ok!(apply(BOB, reuse(&new, index, old.root)).unwrap());
			let hash = chunk_hash(new.chunks[index]);
			let root = new.root;
			System::assert_last_event(
				Event::ChunkStored { root, index: index as u32, hash }.into(),
			);
		}
		assert_eq!(ModelStorage::view(new.root).unwrap().missing, vec![2]);
		assert_eq!(apply(BOB, reuse(&new, 2, old.root)), Err(refused(WRONG_PROOF)));
		System::set_block_number(4);
		System::set_extrinsic_index(9);
		assert_ok!(apply(BOB, upload_call(&new, 2)).unwrap());
		assert!(ModelStorage::is_complete(&new.root));
		assert_eq!(Heard::get(), vec![old.root, new.root]);
		// It pays for all of its bytes.
		let held = |blob: &Chunked| {
			let blob = Blobs::<Test>::get(blob.root).unwrap();
			(blob.deposit, blob.rent)
		};
		assert_eq!(held(&old), held(&new));
		for index in 0..5 {
			let (a, b) =
				(Chunks::<Test>::get(old.root, index), Chunks::<Test>::get(new.root, index));
			let (a, b) = (a.unwrap(), b.unwrap());
			assert_eq!((a.hash, a.value) == (b.hash, b.value), index != 2);
			assert_ne!(a.place, b.place);
		}
	});
	// Nodes were asked to keep six chunks, of which each came with its bytes.
	let told = format!("{:?}", ext.overlayed_changes().transaction_index_ops());
	assert_eq!((told.matches("Insert").count(), told.matches("Renew").count()), (6, 0), "{told}");
}

/// The last chunk taken over completes a blob as one that is uploaded does, and chunks may be of several
/// others.
#[test]
fn a_blob_of_nothing_new_is_complete() {
	run(|| {
		let base = bytes(20_000);
		let (first, last) = (tuned(&base, &[0]), tuned(&base, &[19_999]));
		let both = tuned(&base, &[0, 19_999]);
		let (first, last, both) = (stored(&first), stored(&last), registered(&both));
		System::set_block_number(7);
		assert_eq!(apply(BOB, reuse(&both, 4, first.root)), Err(refused(WRONG_PROOF)));
		for (index, from) in [(4, &last), (0, &first), (1, &last), (2, &first), (3, &last)] {
			assert!(!ModelStorage::is_complete(&both.root));
			assert_ok!(apply(BOB, reuse(&both, index, from.root)).unwrap());
		}
		assert!(ModelStorage::is_complete(&both.root));
		let (root, expires) = (both.root, 7 + RETENTION);
		System::assert_last_event(Event::Completed { root, expires }.into());
		assert_eq!(Heard::get().last(), Some(&both.root));
	});
}

/// In a batch as well: there are no bytes that a node could take for a chunk's.
#[test]
fn a_chunk_is_taken_over_inside_another_call() {
	run(|| {
		let base = bytes(20_000);
		let next = tuned(&base, &[0]);
		let (old, new) = (stored(&base), registered(&next));
		let call = nest::Call::nest { inner: Box::new(reuse(&new, 3, old.root)) };
		assert_ok!(apply(BOB, call.into()).unwrap());
		assert!(Chunks::<Test>::contains_key(new.root, 3));
	});
}

/// What the extension refuses, the call refuses too, for who comes past it.
#[test]
fn what_cannot_be_taken_over_enters_no_block() {
	run(|| {
		let base = bytes(20_000);
		let next = tuned(&base, &[0]);
		let (old, new) = (stored(&base), registered(&next));
		let refuses = |call: RuntimeCall, code: u8, error: Error<Test>| {
			assert_eq!(apply(BOB, call.clone()), Err(refused(code)), "{error:?}");
			let result = call.dispatch(RuntimeOrigin::signed(BOB));
			assert_eq!(result.unwrap_err().error, error.into());
		};
		let with = |change: &dyn Fn(&mut H256, &mut u32, &mut H256, &mut Vec<H256>)| {
			let RuntimeCall::ModelStorage(Call::reuse_chunk {
				mut root,
				mut index,
				mut from,
				proof,
			}) = reuse(&new, 1, old.root)
			else {
				panic!("not a reuse")
			};
			let mut proof = proof.into_inner();
			change(&mut root, &mut index, &mut from, &mut proof);
			let proof = proof.try_into().unwrap();
			RuntimeCall::from(Call::reuse_chunk { root, index, from, proof })
		};
		let (unknown, root) = (H256([9; 32]), new.root);
		refuses(with(&|root, _, _, _| *root = unknown), UNKNOWN_BLOB, Error::UnknownBlob);
		refuses(with(&|_, _, from, _| *from = unknown), NOT_KEPT, Error::NotKept);
		refuses(with(&|_, _, from, _| *from = root), NOT_KEPT, Error::NotKept);
		refuses(with(&|_, index, _, _| *index = 5), NOT_KEPT, Error::NotKept);
		refuses(with(&|_, index, _, _| *index = u32::MAX), NOT_KEPT, Error::NotKept);
		// The right place, and bytes or a path of another one.
		refuses(with(&|_, index, _, _| *index = 0), WRONG_PROOF, Error::WrongProof);
		refuses(with(&|_, index, _, _| *index = 2), WRONG_PROOF, Error::WrongProof);
		refuses(with(&|_, _, _, proof| proof.clear()), WRONG_PROOF, Error::WrongProof);
		refuses(with(&|_, _, _, proof| proof.reverse()), WRONG_PROOF, Error::WrongProof);
		refuses(with(&|_, _, _, proof| proof.push(unknown)), WRONG_PROOF, Error::WrongProof);
		refuses(with(&|_, _, _, proof| proof[0].0[0] ^= 1), WRONG_PROOF, Error::WrongProof);
		assert!(Chunks::<Test>::iter_prefix(root).next().is_none());

		assert_ok!(apply(BOB, reuse(&new, 1, old.root)).unwrap());
		refuses(reuse(&new, 1, old.root), CHUNK_STORED, Error::ChunkStored);
		for index in [2, 3, 4] {
			assert_ok!(apply(BOB, reuse(&new, index, old.root)).unwrap());
		}
		assert_ok!(apply(BOB, upload_call(&new, 0)).unwrap());
		refuses(reuse(&new, 4, old.root), CHUNK_STORED, Error::AlreadyComplete);
		assert_noop!(
			reuse(&new, 4, old.root).dispatch(RuntimeOrigin::root()).map_err(|e| e.error),
			DispatchError::BadOrigin
		);
	});
}

/// A blob whose content is made up of the values of other places, or of lengths that do not fit, would be
/// complete and have no bytes.
#[test]
fn a_value_counts_at_its_place_alone() {
	run(|| {
		// Chunks of 8 KiB in one, of 4 KiB in the other: chunk 1 begins elsewhere.
		let (small, large) = (bytes(20_000), bytes(400_000));
		let (small, large) = (stored(&small), registered(&large));
		let call = |index| reuse(&large, index, small.root);
		assert_eq!(apply(BOB, call(1)), Err(refused(WRONG_LENGTH)));
		assert_eq!(apply(BOB, call(0)), Err(refused(WRONG_LENGTH)));
		// The last chunk of one is as long as a chunk in the middle of the other, at the same place: it is
		// the same, and so is one that ends a blob.
		let (shorter, longer) = (bytes(12_288), bytes(20_480));
		let (shorter, longer) = (stored(&shorter), registered(&longer));
		for index in 0..3 {
			assert_ok!(apply(BOB, reuse(&longer, index, shorter.root)).unwrap());
		}
		// A blob of one chunk hashes it as the whole.
		let one = bytes(4_096);
		let two = bytes(8_192);
		let (one, two) = (stored(&one), registered(&two));
		assert_eq!(apply(BOB, reuse(&two, 0, one.root)), Err(refused(NOT_KEPT)));
		let result = reuse(&two, 0, one.root).dispatch(RuntimeOrigin::signed(BOB));
		assert_eq!(result.unwrap_err().error, Error::<Test>::OtherPlace.into());
		// Past the end.
		assert_eq!(apply(BOB, reuse(&longer, 3, shorter.root)), Err(refused(NOT_KEPT)));
		let call = Call::reuse_chunk {
			root: one.root,
			index: 1,
			from: longer.root,
			proof: Default::default(),
		};
		assert_eq!(apply(BOB, call.into()), Err(refused(CHUNK_STORED)));
		assert_ok!(apply(BOB, upload_call(&longer, 4)).unwrap());
		let next = tuned(&bytes(8_192), &[0]);
		let short = registered(&next);
		let call = Call::reuse_chunk {
			root: short.root,
			index: 4,
			from: longer.root,
			proof: Default::default(),
		};
		assert_eq!(apply(BOB, call.into()), Err(refused(NO_SUCH_CHUNK)));
	});
}

/// The bytes stay as long as one of both lists them, whichever goes first, and nobody gets the other's
/// time for nothing.
#[test]
fn either_may_go_first() {
	for older_first in [true, false] {
		run(|| {
			let base = bytes(20_000);
			let next = tuned(&base, &[0]);
			let (old, new) = (stored(&base), registered(&next));
			assert_ok!(apply(BOB, upload_call(&new, 0)).unwrap());
			for index in 1..5 {
				assert_ok!(apply(BOB, reuse(&new, index, old.root)).unwrap());
			}
			assert_eq!(RetainedCount::<Test>::get(), 10);
			let (first, second) = if older_first { (&old, &new) } else { (&new, &old) };
			assert_ok!(ModelStorage::remove(RuntimeOrigin::signed(ALICE), first.root));
			assert_eq!(ModelStorage::view(first.root), None);
			assert!(ModelStorage::is_complete(&second.root));
			let kept: Vec<H256> =
				ModelStorage::retained(0, 100).into_iter().map(|chunk| chunk.hash).collect();
			assert_eq!(kept.len(), 5);
			assert!(second.chunks.iter().all(|chunk| kept.contains(&chunk_hash(chunk))));
			// Whoever lacks what is gone uploads it.
			assert_eq!(apply(BOB, reuse(second, 1, first.root)), Err(refused(NOT_KEPT)));
			assert_ok!(ModelStorage::remove(RuntimeOrigin::signed(ALICE), second.root));
			assert_eq!(Balances::balance_on_hold(&HoldReason::Blob.into(), &ALICE), 0);
			assert_eq!(RetainedCount::<Test>::get(), 0);
		});
	}
}

/// While a blob is removed, what is left of it is still kept; nothing is added to it.
#[test]
fn a_blob_that_is_being_removed_gives_and_takes_not() {
	run(|| {
		let base = bytes(30_000);
		let next = tuned(&base, &[0]);
		let (old, new) = (stored(&base), registered(&next));
		assert_ok!(ModelStorage::remove(RuntimeOrigin::signed(ALICE), old.root));
		assert!(ModelStorage::view(old.root).unwrap().removing);
		assert_eq!(apply(BOB, reuse(&new, 1, old.root)), Err(refused(NOT_KEPT)));
		assert_ok!(apply(BOB, reuse(&new, 6, old.root)).unwrap());
		assert_eq!(apply(BOB, reuse(&old, 0, new.root)), Err(refused(NOT_KEPT)));
		assert_eq!(apply(BOB, reuse(&old, 6, new.root)), Err(refused(BEING_REMOVED)));
		assert_ok!(ModelStorage::remove(RuntimeOrigin::signed(ALICE), old.root));
		assert_eq!(ModelStorage::view(old.root), None);
		assert!(Chunks::<Test>::contains_key(new.root, 6));
	});
}

/// What authors could not show is not taken over, and what was taken over brings it back nowhere.
#[test]
fn doubted_chunks_are_uploaded() {
	// Whether the one blob's chunk is doubted before the other's is the luck of the draws, which the height decides.
	let mut brought = 0;
	for begin in 1..20 {
		run(|| brought += u32::from(doubted_from(begin)));
	}
	assert!(brought > 0);
}

/// Returns whether the chunk of the first blob was doubted before that of the second one.
fn doubted_from(begin: u32) -> bool {
	let base = bytes(20_000);
	let next = tuned(&base, &[0]);
	let (old, new) = (stored(&base), registered(&next));
	let mut height = begin;
	let place = |root: H256, index| Chunks::<Test>::get(root, index).unwrap().place;
	while (0..5).all(|index| place(old.root, index) != Place::Doubted) {
		height += 1;
		silent_block(height);
	}
	let gone = (0..5).find(|index| place(old.root, *index) == Place::Doubted).unwrap();
	let here = (1..5).find(|index| *index != gone).unwrap() as usize;
	assert_eq!(apply(BOB, reuse(&new, gone as usize, old.root)), Err(refused(NOT_KEPT)));
	assert_ok!(apply(BOB, reuse(&new, here, old.root)).unwrap());
	assert!(matches!(place(new.root, here as u32), Place::Listed(_)));
	while place(old.root, here as u32) != Place::Doubted {
		height += 1;
		silent_block(height);
		if place(new.root, here as u32) == Place::Doubted {
			return false;
		}
	}
	assert_eq!(apply(BOB, reuse(&old, here, new.root)), Err(refused(CHUNK_STORED)));
	true
}

/// Who is paid for what it brought has brought no bytes.
#[test]
fn nobody_is_paid_for_what_is_taken_over() {
	run(|| {
		let base = bytes(20_000);
		let next = tuned(&base, &[0]);
		let (old, new) = (stored(&base), registered(&next));
		<ModelStorage as AwaitedBlobs<_>>::expect(&new.root);
		<ModelStorage as AwaitedBlobs<_>>::watch(&new.root, &BOB);
		assert_ok!(apply(BOB, reuse(&new, 1, old.root)).unwrap());
		assert_eq!(Brought::<Test>::get(new.root, BOB), Some(0));
		assert_ok!(apply(BOB, upload_call(&new, 0)).unwrap());
		assert_eq!(Brought::<Test>::get(new.root, BOB), Some(4_096));
	});
}

#[test]
fn versions_form_a_chain() {
	run(|| {
		let files: Vec<Vec<u8>> = (0..4).map(|i| tuned(&bytes(9_000), &[i])).collect();
		let first = stored(&files[0]);
		let mut parent = first.root;
		for (number, file) in (1..).zip(&files[1..]) {
			let root = version_of(BOB, file, parent).unwrap();
			System::assert_last_event(Event::VersionRegistered { root, parent, number }.into());
			assert_eq!(Versions::<Test>::get(root), Some(Version { parent, number }));
			upload_all(BOB, &Chunked::new(file));
			parent = root;
		}
		let roots: Vec<H256> = files.iter().map(|file| Chunked::new(file).root).collect();
		let all = ModelStorage::versions(parent, 10);
		let seen: Vec<_> = all.iter().map(|one| (one.root, one.parent, one.number)).collect();
		assert_eq!(
			seen,
			[
				(roots[3], Some(roots[2]), 3),
				(roots[2], Some(roots[1]), 2),
				(roots[1], Some(roots[0]), 1),
				(roots[0], None, 0)
			]
		);
		assert_eq!(
			(all[3].owner, all[0].owner, all[0].size, all[0].whole),
			(ALICE, BOB, 9_000, true)
		);
		assert_eq!(ModelStorage::versions(parent, 2).len(), 2);
		assert_eq!(ModelStorage::versions(parent, 0).len(), 0);
		assert_eq!(ModelStorage::versions(H256([1; 32]), 9).len(), 0);
		let listed = ModelStorage::stored_after(None, 9);
		let of = |root| listed.iter().find(|one| one.root == root).unwrap().parent;
		assert_eq!((of(roots[3]), of(roots[0])), (Some(roots[2]), None));

		// A parent that goes leaves its name.
		assert_ok!(ModelStorage::remove(RuntimeOrigin::signed(BOB), roots[1]));
		assert_eq!(Versions::<Test>::get(roots[1]), None);
		let all = ModelStorage::versions(parent, 10);
		assert_eq!(all.len(), 2);
		assert_eq!(all[1].parent, Some(roots[1]));
	});
}

#[test]
fn a_version_needs_a_parent_that_is_whole() {
	run(|| {
		let (base, next) = (bytes(9_000), tuned(&bytes(9_000), &[0]));
		let refused = |parent| {
			assert_noop!(version_of(BOB, &next, parent), Error::<Test>::UnknownParent);
		};
		refused(H256([1; 32]));
		refused(Chunked::new(&next).root);
		let old = registered(&base);
		refused(old.root);
		upload_all(ALICE, &old);
		let root = version_of(BOB, &next, old.root).unwrap();
		assert_noop!(version_of(BOB, &next, old.root), Error::<Test>::AlreadyRegistered);
		assert_noop!(version_of(BOB, &base, old.root), Error::<Test>::AlreadyComplete);
		assert_noop!(
			version_of(PAUPER, &tuned(&base, &[5]), old.root),
			sp_runtime::TokenError::FundsUnavailable
		);
		assert!(!Versions::<Test>::contains_key(old.root));
		assert_noop!(
			ModelStorage::register_version(RuntimeOrigin::root(), 1, H256([1; 32]), None, old.root),
			DispatchError::BadOrigin
		);
		assert_noop!(
			ModelStorage::register_version(
				RuntimeOrigin::signed(BOB),
				0,
				H256([1; 32]),
				None,
				old.root
			),
			Error::<Test>::Empty
		);
		let view = ModelStorage::view(root).unwrap();
		assert_eq!((view.owner, view.missing.len()), (BOB, 3));
	});
}

/// Who removes a root and registers it again as a version of its own descendant makes no circle.
#[test]
fn there_are_no_circles() {
	run(|| {
		let (a, b) = (bytes(9_000), tuned(&bytes(9_000), &[0]));
		let one = stored(&a);
		let two = version_of(ALICE, &b, one.root).unwrap();
		upload_all(ALICE, &Chunked::new(&b));
		assert_ok!(ModelStorage::remove(RuntimeOrigin::signed(ALICE), one.root));
		assert_eq!(version_of(ALICE, &a, two), Ok(one.root));
		assert_eq!(Versions::<Test>::get(one.root).unwrap().number, 2);
		let walk = |root| -> Vec<H256> {
			ModelStorage::versions(root, 100).into_iter().map(|one| one.root).collect()
		};
		assert_eq!(walk(one.root), [one.root, two]);
		// Its parent was registered again since, and is another matter.
		assert_eq!(walk(two), [two]);
	});
}
