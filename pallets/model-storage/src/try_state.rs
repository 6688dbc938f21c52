//! What must hold in any state.

use crate::{
	Agenda, Asked, Awaited, Blobs, Brought, Chunks, Config, Doubted, Due, HoldReason, LostChunks,
	Pallet, Place, Retained, RetainedCount, TopLevelUpload, Versions,
};
use alloc::collections::BTreeMap;
use frame_support::{ensure, traits::fungible::InspectHold};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{blob, job::Balance, H256};

impl<T: Config> Pallet<T> {
	/// - No upload marker outlives its extrinsic.
	/// - A blob is stored under its root, with the chunks of its size.
	/// - The chunk records are those counted.
	/// - No chunk record is without its blob.
	/// - What is counted of somebody belongs to an awaited blob, and all together is no more than it.
	/// - What is held of an account is the sum of its deposits and rents.
	/// - Each chunk is on the list, doubted or lost, once, and the list has no gaps.
	/// - Each blob is on the agenda once.
	/// - What descends from another blob is one, and has a number above 0.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		ensure!(!TopLevelUpload::<T>::exists(), "an upload marker outlived its extrinsic");
		ensure!(Awaited::<T>::iter().all(|(_, names)| names > 0), "a blob is awaited by nobody");
		let mut held = BTreeMap::<T::AccountId, Balance>::new();
		let mut records = 0u64;
		for (root, blob) in Blobs::<T>::iter() {
			ensure!(root == blob::root_of(blob.size, &blob.content), "blob under a wrong root");
			ensure!(blob::chunk_count(blob.size) == Some(blob.chunks), "wrong number of chunks");
			let stored = (0..blob.chunks).filter(|i| Chunks::<T>::contains_key(root, i));
			let stored = stored.count() as u64;
			ensure!(stored == u64::from(blob.stored), "wrong count of stored chunks");
			records = records.saturating_add(stored);
			let lost = (0..blob.chunks).filter_map(|i| Chunks::<T>::get(root, i));
			let lost = lost.filter(|chunk| chunk.place == Place::Lost).count();
			ensure!(lost as u64 == u64::from(blob.lost), "wrong count of lost chunks of a blob");
			ensure!(Due::<T>::contains_key(root), "a blob that the agenda does not know");
			let sum = held.entry(blob.owner).or_default();
			*sum = sum.saturating_add(blob.deposit).saturating_add(blob.rent);
		}
		ensure!(
			Blobs::<T>::iter_keys().count() == Due::<T>::iter_keys().count(),
			"dates of no blob"
		);
		for (at, root, ()) in Agenda::<T>::iter() {
			ensure!(Due::<T>::get(root) == Some(at), "a date that its blob does not know");
		}
		for (root, version) in Versions::<T>::iter() {
			ensure!(Blobs::<T>::contains_key(root), "a version that is no blob");
			ensure!(version.number > 0 && version.parent != root, "a version of itself");
		}
		Self::try_places()?;
		ensure!(Chunks::<T>::iter_keys().count() as u64 == records, "chunks of no blob");
		let mut brought = BTreeMap::<H256, u64>::new();
		for (root, _, bytes) in Brought::<T>::iter() {
			let sum = brought.entry(root).or_default();
			*sum = sum.saturating_add(bytes);
		}
		for (root, bytes) in brought {
			let size = Blobs::<T>::get(root).map_or(0, |blob| blob.size);
			ensure!(Awaited::<T>::contains_key(root), "bytes are counted of what nobody awaits");
			ensure!(bytes <= size, "more was brought of a blob than there is");
		}
		for (owner, sum) in held {
			ensure!(
				T::Currency::balance_on_hold(&HoldReason::Blob.into(), &owner) == sum,
				"an owner's hold differs from the sum of its deposits"
			);
		}
		Ok(())
	}

	/// Checks where the chunks stand.
	fn try_places() -> Result<(), TryRuntimeError> {
		ensure!(!Asked::<T>::exists(), "what a block asked for outlived it");
		let (mut listed, mut lost) = (0u32, 0u32);
		let doubts = Doubted::<T>::get();
		let mut doubted = 0usize;
		for (root, index, chunk) in Chunks::<T>::iter() {
			match chunk.place {
				Place::Listed(place) => {
					listed = listed.saturating_add(1);
					let slot = Retained::<T>::get(place).ok_or("a place without its entry")?;
					ensure!((slot.root, slot.index) == (root, index), "a place of another chunk");
					let size = Blobs::<T>::get(root).map_or(0, |blob| blob.size);
					let length = blob::chunk_size_at(size, index);
					ensure!(length == Some(slot.length), "an entry with a wrong length");
				}
				Place::Doubted => {
					doubted = doubted.saturating_add(1);
					let entries = doubts.iter().filter(|d| (d.root, d.index) == (root, index));
					ensure!(entries.count() == 1, "a doubted chunk is not on its list once");
				}
				Place::Lost => lost = lost.saturating_add(1),
			}
		}
		ensure!(doubted == doubts.len(), "a doubt about no chunk");
		ensure!(listed == RetainedCount::<T>::get(), "wrong count of listed chunks");
		ensure!(Retained::<T>::iter_keys().count() as u32 == listed, "entries of no chunk");
		ensure!(lost == LostChunks::<T>::get(), "wrong count of lost chunks");
		Ok(())
	}
}
