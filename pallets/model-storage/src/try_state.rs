//! What must hold in any state.

use crate::{Awaited, Blobs, Brought, ChunkHashes, Config, HoldReason, Pallet, TopLevelUpload};
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
	/// - What is held of an account is the sum of its deposits.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		ensure!(!TopLevelUpload::<T>::exists(), "an upload marker outlived its extrinsic");
		ensure!(Awaited::<T>::iter().all(|(_, names)| names > 0), "a blob is awaited by nobody");
		let mut held = BTreeMap::<T::AccountId, Balance>::new();
		let mut records = 0u64;
		for (root, blob) in Blobs::<T>::iter() {
			ensure!(root == blob::root_of(blob.size, &blob.content), "blob under a wrong root");
			ensure!(blob::chunk_count(blob.size) == Some(blob.chunks), "wrong number of chunks");
			let stored = (0..blob.chunks).filter(|i| ChunkHashes::<T>::contains_key(root, i));
			let stored = stored.count() as u64;
			ensure!(stored == u64::from(blob.stored), "wrong count of stored chunks");
			records = records.saturating_add(stored);
			let sum = held.entry(blob.owner).or_default();
			*sum = sum.saturating_add(blob.deposit);
		}
		ensure!(ChunkHashes::<T>::iter_keys().count() as u64 == records, "chunks of no blob");
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
}
