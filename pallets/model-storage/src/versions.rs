//! Versions of a file: what did not change is not sent again, and each names the one that it descends from.
//!
//! A chunk that another blob has at the same place may be taken over from it ([`Pallet::reuse_chunk`]):
//! the value of a chunk in BLAKE3's tree is a function of its bytes, its place and its length, so the
//! record of the other blob and a path under this blob's content prove it without its bytes. Nodes keep a
//! chunk for as long as any blob lists its hash ([`Pallet::retained`]), so both blobs have it until the
//! last of them goes, and each pays deposit and rent for all of its bytes. Nothing is indexed again: the
//! bytes stay in the block that brought them, or in files of nodes that prune it. To *renew* them in
//! another block would make that block's body unreadable for nodes that do not have them.
//!
//! Chunks that are doubted or lost cannot be taken over, nor does a chunk that was lost come back so: who
//! wants that shows bytes.
//!
//! A blob may be registered as a version of one that is on chain ([`Pallet::register_version`]). Each
//! version has a number above its parent's, which makes circles impossible even where a root is removed
//! and registered again as a version of its own descendant: a walk goes on to lower numbers alone.

use crate::{
	types::{Place, Version},
	BlobOf, Blobs, Chunk, Chunks, Config, Error, Event, Pallet, Versions, H256,
};
use alloc::vec::Vec;
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight};
use trainyard_protocol::{
	blob,
	job::BlockNumber,
	views::{VersionView, MAX_VERSIONS},
};

impl<T: Config> Pallet<T> {
	/// Fails with what is wrong with taking over chunk `index` of the blob `from`; returns the blob and the
	/// chunk's record and length otherwise.
	pub(crate) fn check_reuse(
		root: &H256,
		index: u32,
		from: &H256,
		proof: &[H256],
	) -> Result<(BlobOf<T>, Chunk, u32), Error<T>> {
		let other = Blobs::<T>::get(from).ok_or(Error::<T>::NotKept)?.size;
		let chunk = Chunks::<T>::get(from, index).ok_or(Error::<T>::NotKept)?;
		ensure!(matches!(chunk.place, Place::Listed(_)), Error::<T>::NotKept);
		let length = blob::chunk_size_at(other, index).ok_or(Error::<T>::NotKept)?;
		let blob = Self::check_chunk(root, index, length as usize)?;
		ensure!(!Chunks::<T>::contains_key(root, index), Error::<T>::ChunkStored);
		// The record is of these bytes at another place, and proves nothing about this one.
		ensure!(blob::is_same_place(blob.size, other, index), Error::<T>::OtherPlace);
		let node = blob::chunk_node(blob.size, index).ok_or(Error::<T>::NoSuchChunk)?;
		node.verify(&blob.content, blob.size, &chunk.value, proof)
			.map_err(|_| Error::<T>::WrongProof)?;
		Ok((blob, chunk, length))
	}

	/// Returns what that costs: the records of both blobs and both chunks, and a compression for each entry
	/// of the path. It is an estimate.
	pub(crate) fn check_reuse_weight() -> Weight {
		Weight::from_parts(40_000_000, 0).saturating_add(T::DbWeight::get().reads(4))
	}

	pub(crate) fn do_reuse_chunk(
		root: H256,
		index: u32,
		from: H256,
		proof: &[H256],
	) -> DispatchResult {
		let (blob, Chunk { hash, value, .. }, length) =
			Self::check_reuse(&root, index, &from, proof)?;
		// Whoever is paid for what it brings has brought nothing.
		Self::add_chunk(blob, root, index, length, hash, value);
		Ok(())
	}

	pub(crate) fn do_register_version(
		who: T::AccountId,
		size: u64,
		content: H256,
		period: Option<BlockNumber>,
		parent: H256,
	) -> DispatchResult {
		let is_whole = Blobs::<T>::get(parent).is_some_and(|blob| blob.is_complete());
		ensure!(is_whole, Error::<T>::UnknownParent);
		let number = Self::number(&parent).saturating_add(1);
		Self::do_register(who, size, content, period)?;
		let root = blob::root_of(size, &content);
		Versions::<T>::insert(root, Version { parent, number });
		Self::deposit_event(Event::VersionRegistered { root, parent, number });
		Ok(())
	}

	/// Returns the number of a blob among its versions: 0 for one that names no parent.
	fn number(root: &H256) -> u32 {
		Versions::<T>::get(root).map_or(0, |version| version.number)
	}

	/// Returns the blob `root` and those that it descends from, the newest first, `count` of them and
	/// [`MAX_VERSIONS`] at most. Ends at one that is not on chain, or was registered again since.
	pub fn versions(root: H256, count: u32) -> Vec<VersionView<T::AccountId>> {
		let mut all = Vec::new();
		let mut next = Some(root);
		let mut above: Option<u32> = None;
		for _ in 0..count.min(MAX_VERSIONS) {
			let Some((root, blob)) = next.and_then(|root| Some((root, Blobs::<T>::get(root)?)))
			else {
				break;
			};
			let number = Self::number(&root);
			if above.is_some_and(|above| number >= above) {
				break;
			}
			above = Some(number);
			next = Versions::<T>::get(root).map(|version| version.parent);
			all.push(VersionView {
				root,
				parent: next,
				number,
				size: blob.size,
				whole: blob.is_complete(),
				since: blob.since,
				expires: blob.expires,
				owner: blob.owner,
			});
		}
		all
	}
}
