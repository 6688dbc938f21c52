//! The list of all blobs, for those who look at the chain.

use crate::{Awaited, BlobOf, Blobs, Config, Pallet, Versions, H256};
use alloc::vec::Vec;
use trainyard_protocol::views::StoredView;

impl<T: Config> Pallet<T> {
	/// Returns the first `count` blobs with a root above `after`, by root.
	pub fn stored_after(after: Option<H256>, count: u32) -> Vec<StoredView<T::AccountId>> {
		let all = match after {
			Some(root) => Blobs::<T>::iter_from_key(root),
			None => Blobs::<T>::iter(),
		};
		all.take(count as usize).map(|(root, blob)| Self::entry(root, blob)).collect()
	}

	fn entry(root: H256, blob: BlobOf<T>) -> StoredView<T::AccountId> {
		let awaited = Awaited::<T>::get(root).unwrap_or_default();
		StoredView {
			root,
			size: blob.size,
			chunks: blob.chunks,
			stored: blob.stored,
			deposit: blob.deposit.saturating_add(blob.rent),
			expires: blob.expires,
			removing: blob.removing.is_some(),
			awaited,
			owner: blob.owner,
			parent: Versions::<T>::get(root).map(|version| version.parent),
		}
	}
}
