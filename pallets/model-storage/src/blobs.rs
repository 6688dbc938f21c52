//! What the calls do.

use crate::{
	types::{deposit_for, Marker, Place},
	Awaited, Blob, BlobOf, Blobs, Brought, Chunks, Config, Error, Event, FullBlocks, HoldReason,
	Moves, MovesFull, OnBlobComplete, Ordinary, Pallet, TopLevelUpload, WeightInfo, H256,
};
use core::ops::Range;
use frame_support::{
	dispatch::DispatchClass,
	ensure,
	pallet_prelude::DispatchResult,
	traits::{fungible::MutateHold, Get},
	weights::Weight,
};
use sp_runtime::{ArithmeticError, DispatchError};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	blob::{self, MAX_CHUNK},
	job::BlockNumber,
};
use trainyard_traits::{AwaitedBlobs, BlobStore};

/// Bytes of a transaction beside the chunk that it brings, at most: signature, proof, extension.
pub const AROUND_CHUNK: u32 = 4_096;
/// Bytes that a block must have for the calls around chunks (announce, register, name) not to count
/// as full. They may take as many where it is full of ordinary transactions. The longest of them, a
/// rescue with the leaves of 65 states of a job with 65,536 segments, takes 43 KB, and one with a part of
/// the leaves 42 KB.
pub const CALLS_ROOM: u32 = 48 * 1024;
/// Bytes that blocks keep for moves in disputes, whatever ordinary transactions take: the longest of
/// them, and some of the others.
pub const MOVES_ROOM: u32 = 256 * 1024;
/// Most roots that jobs name which are looked at to know whether a chunk is waited for.
const MAX_LOOKED: u32 = 32;
/// Bytes of the longest move in a dispute: 240 KiB of openings, and what is around them.
pub const LONGEST_MOVE: u32 = 240 * 1024 + AROUND_CHUNK;

impl<T: Config> Pallet<T> {
	/// The present height.
	pub(crate) fn now() -> BlockNumber {
		Self::height()
	}

	pub(crate) fn do_register(
		who: T::AccountId,
		size: u64,
		content: H256,
		period: Option<BlockNumber>,
	) -> DispatchResult {
		let period = Self::checked_period(period)?;
		ensure!(size > 0, Error::<T>::Empty);
		ensure!(size <= T::MaxBlob::get(), Error::<T>::TooLarge);
		let chunks = blob::chunk_count(size).ok_or(Error::<T>::TooLarge)?;
		let root = blob::root_of(size, &content);
		if let Some(known) = Blobs::<T>::get(root) {
			return Err(match known {
				_ if known.removing.is_some() => Error::<T>::BeingRemoved,
				_ if known.is_complete() => Error::<T>::AlreadyComplete,
				_ => Error::<T>::AlreadyRegistered,
			}
			.into());
		}
		let deposit = deposit_for::<T>(size).ok_or(ArithmeticError::Overflow)?;
		let rent = Self::rent_for(size, period);
		let held = deposit.checked_add(rent).ok_or(ArithmeticError::Overflow)?;
		T::Currency::hold(&HoldReason::Blob.into(), &who, held)?;
		let since = Self::now();
		let expires = since.saturating_add(T::UploadPeriod::get());
		Blobs::<T>::insert(
			root,
			Blob {
				owner: who.clone(),
				size,
				content,
				chunks,
				stored: 0,
				lost: 0,
				deposit,
				rent,
				since,
				period,
				expires,
				kept: 0,
				removing: None,
			},
		);
		Self::schedule(root, Self::due_after(expires));
		Self::deposit_event(Event::Registered {
			root,
			owner: who,
			size,
			chunks,
			deposit,
			rent,
			period,
		});
		Ok(())
	}

	/// Fails with what is wrong with a chunk, as far as that can be known without hashing it;
	/// returns the blob otherwise. The same checks keep hopeless uploads out of the transaction
	/// pool.
	pub(crate) fn check_chunk(root: &H256, index: u32, len: usize) -> Result<BlobOf<T>, Error<T>> {
		let blob = Blobs::<T>::get(root).ok_or(Error::<T>::UnknownBlob)?;
		ensure!(blob.removing.is_none(), Error::<T>::BeingRemoved);
		let place = Chunks::<T>::get(root, index).map(|chunk| chunk.place);
		let is_gone = matches!(place, Some(Place::Doubted | Place::Lost));
		ensure!(is_gone || !blob.is_complete(), Error::<T>::AlreadyComplete);
		let wanted = blob::chunk_size_at(blob.size, index).ok_or(Error::<T>::NoSuchChunk)?;
		ensure!(u32::try_from(len) == Ok(wanted), Error::<T>::WrongLength);
		ensure!(is_gone || place.is_none(), Error::<T>::ChunkStored);
		Ok(blob)
	}

	/// Returns the `blake2_256` of a chunk that would be taken: what nodes, which compute this hash of
	/// indexed bytes that they fetch from others, have it by; and its value in the tree over the blob.
	/// Fails with what is wrong with the chunk.
	pub(crate) fn hash_chunk(
		root: &H256,
		index: u32,
		proof: &[H256],
		bytes: &[u8],
	) -> Result<(H256, H256), Error<T>> {
		let blob = Self::check_chunk(root, index, bytes.len())?;
		let value = blob::checked_value(blob.size, &blob.content, index, bytes, proof)
			.map_err(|_| Error::<T>::WrongProof)?;
		// The same as `blob::chunk_hash`, by the node's own code.
		Ok((sp_io::hashing::blake2_256(bytes).into(), value))
	}

	/// Stores a chunk whose bytes and proof the extension has checked in the same extrinsic.
	pub(crate) fn do_upload_chunk(
		who: T::AccountId,
		root: H256,
		index: u32,
		bytes: &[u8],
	) -> DispatchResult {
		let marker = TopLevelUpload::<T>::take().ok_or(Error::<T>::NotTopLevel)?;
		let Marker { extrinsic, hash, value } = marker;
		ensure!(
			frame_system::Pallet::<T>::extrinsic_index() == Some(extrinsic),
			Error::<T>::NotTopLevel
		);
		let mut blob = Self::check_chunk(&root, index, bytes.len())?;
		let size = u32::try_from(bytes.len()).map_err(|_| Error::<T>::WrongLength)?;

		if Self::bring_again(&mut blob, &root, index) {
			Blobs::<T>::insert(root, blob);
			Self::list(root, index, size, hash, value);
			Self::deposit_event(Event::ChunkStored { root, index, hash });
		} else {
			if let Some(brought) = Brought::<T>::get(root, &who) {
				Brought::<T>::insert(root, &who, brought.saturating_add(size.into()));
			}
			Self::add_chunk(blob, root, index, size, hash, value);
		}
		// Last, because an index operation is not undone when a call fails.
		sp_io::transaction_index::index(extrinsic, size, hash.to_fixed_bytes());
		Ok(())
	}

	/// Notes a chunk of a blob that had none at its place. With the last one the blob is complete.
	pub(crate) fn add_chunk(
		mut blob: BlobOf<T>,
		root: H256,
		index: u32,
		size: u32,
		hash: H256,
		value: H256,
	) {
		blob.stored = blob.stored.saturating_add(1);
		let complete = blob.is_complete();
		let period = if complete { blob.period } else { T::UploadPeriod::get() };
		let expires = Self::now().saturating_add(period);
		blob.expires = expires;
		Blobs::<T>::insert(root, blob);
		Self::list(root, index, size, hash, value);
		Self::deposit_event(Event::ChunkStored { root, index, hash });
		if complete {
			Self::deposit_event(Event::Completed { root, expires });
			T::OnComplete::blob_complete(root);
		}
	}

	/// Drops up to `RemoveStep` chunk records of a blob that may be removed by this account, and with the
	/// last one the blob: where none is stored, at once. Returns how many it looked at.
	pub(crate) fn do_remove(who: T::AccountId, root: H256) -> Result<u32, DispatchError> {
		let blob = Blobs::<T>::get(root).ok_or(Error::<T>::UnknownBlob)?;
		// Once the removal has begun, anyone may continue it: what is left of the blob is of no
		// use, and keeps a job that names the root from storing it.
		if blob.removing.is_none() {
			let now = Self::now();
			let is_owner = blob.owner == who;
			// An incomplete one stays, or a stranger who registered a trainer's root could remove it
			// during the upload.
			let early = is_owner && blob.is_complete() && now > blob.kept;
			ensure!(early || now > blob.expires, Error::<T>::NotExpired);
			ensure!(!Awaited::<T>::contains_key(root), Error::<T>::Awaited);
			let open = blob.expires.saturating_add(T::Grace::get());
			ensure!(is_owner || now > open, Error::<T>::NotOwner);
		}
		let looked = Self::shrink(root, blob)?;
		// The agenda goes on where nobody does.
		Self::hasten(root);
		Ok(looked)
	}

	/// Drops up to `RemoveStep` chunk records of a blob, and with the last one the blob. Returns how many
	/// it looked at. Its time ends when this begins.
	pub(crate) fn shrink(root: H256, mut blob: BlobOf<T>) -> Result<u32, DispatchError> {
		if blob.removing.is_none() {
			blob.expires = blob.expires.min(Self::now());
			// Before records are gone: a blob of which nothing was stored owes nothing.
			Self::charge(&root, &mut blob)?;
		}
		let from = blob.removing.unwrap_or(0);
		let last = from.saturating_add(T::RemoveStep::get()).min(blob.chunks);
		let (mut to, mut doubted) = (from, false);
		while to < last && blob.stored > 0 {
			if let Some(chunk) = Chunks::<T>::take(root, to) {
				blob.stored = blob.stored.saturating_sub(1);
				match chunk.place {
					Place::Listed(place) => Self::unlist(place),
					Place::Doubted => doubted = true,
					Place::Lost => Self::forget_lost(&mut blob),
				}
			}
			to = to.saturating_add(1);
		}
		if doubted {
			Self::forget_doubts(&root, from..to);
		}
		if to < blob.chunks && blob.stored > 0 {
			blob.removing = Some(to);
			Blobs::<T>::insert(root, &blob);
			Self::deposit_event(Event::Shrunk { root, left: blob.stored });
		} else {
			Self::end(root, blob)?;
		}
		Ok(to.saturating_sub(from))
	}
}

impl<T: Config> BlobStore for Pallet<T> {
	fn is_complete(root: &H256) -> bool {
		Blobs::<T>::get(root).is_some_and(|blob| blob.is_complete())
	}

	fn size(root: &H256) -> Option<u64> {
		Blobs::<T>::get(root).map(|blob| blob.size)
	}

	fn has_chunks(root: &H256, chunks: Range<u32>) -> bool {
		let blob = Blobs::<T>::get(root).filter(|blob| blob.removing.is_none());
		let here = |index: u32| Chunks::<T>::contains_key(root, index);
		blob.is_some_and(|blob| chunks.end <= blob.chunks && chunks.clone().all(here))
	}
}

impl<T: Config> AwaitedBlobs<T::AccountId> for Pallet<T> {
	fn owner(root: &H256) -> Option<T::AccountId> {
		Blobs::<T>::get(root).map(|blob| blob.owner)
	}

	fn expect(root: &H256) {
		Awaited::<T>::mutate(root, |names| {
			*names = Some(names.unwrap_or(0).saturating_add(1));
		});
	}

	fn release(root: &H256, keepers: &[T::AccountId]) {
		Awaited::<T>::mutate(root, |names| {
			*names = names.and_then(|names| names.checked_sub(1)).filter(|names| *names > 0);
		});
		Blobs::<T>::mutate_extant(root, |blob| {
			// What somebody named that nobody was to bring is its owner's, as before.
			if blob.is_complete() && !keepers.is_empty() {
				Self::keep_after(root, blob, keepers);
			}
		});
	}

	fn watch(root: &H256, who: &T::AccountId) {
		if !Brought::<T>::contains_key(root, who) {
			Brought::<T>::insert(root, who, 0);
		}
	}

	fn brought(root: &H256, who: &T::AccountId) -> u64 {
		Brought::<T>::take(root, who).unwrap_or(0)
	}

	fn full_blocks() -> BlockNumber {
		FullBlocks::<T>::get()
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_complete(who: &T::AccountId, size: u64) -> H256 {
		let content = H256::repeat_byte(0xb1);
		let (root, chunks) = (blob::root_of(size, &content), blob::chunk_count(size).unwrap_or(1));
		let blob = Blob {
			owner: who.clone(),
			size,
			content,
			chunks,
			stored: chunks,
			lost: 0,
			deposit: 0,
			rent: 0,
			since: 0,
			period: 0,
			expires: BlockNumber::MAX,
			kept: 0,
			removing: None,
		};
		Blobs::<T>::insert(root, blob);
		root
	}
}

impl<T: Config> Pallet<T> {
	/// Returns whether an extrinsic with this call brings a chunk for which a running job waits, if
	/// its bytes are the right ones.
	pub fn brings_awaited(call: &crate::Call<T>) -> bool {
		let crate::Call::upload_chunk { root, .. } = call else { return false };
		Awaited::<T>::contains_key(root)
	}

	/// Returns whether this call makes way for the chunks of a blob that a running job names: it
	/// registers the blob, or goes on with the removal of one that stands in its place.
	pub(crate) fn makes_way(call: &crate::Call<T>) -> bool {
		match call {
			crate::Call::register { size, content, .. } => {
				let root = blob::root_of(*size, content);
				(1..=T::MaxBlob::get()).contains(size)
					&& Awaited::<T>::contains_key(root)
					&& !Blobs::<T>::contains_key(root)
			}
			crate::Call::remove { root } => {
				Awaited::<T>::contains_key(root)
					&& Blobs::<T>::get(root).is_some_and(|blob| blob.removing.is_some())
			}
			_ => false,
		}
	}

	/// Returns the most bytes that ordinary transactions and chunks may take of a block.
	pub(crate) fn room() -> u32 {
		*T::BlockLength::get().max.get(DispatchClass::Normal)
	}

	/// Returns whether a chunk that no job waits for may take of the room that blocks keep for those that
	/// jobs wait for: where none waits for any. Room for moves and for calls around chunks stays. The
	/// transaction's own length counts already.
	pub(crate) fn has_spare_room() -> bool {
		let filled = frame_system::Pallet::<T>::block_size();
		let kept = MOVES_ROOM.saturating_add(CALLS_ROOM);
		if filled.saturating_add(kept) > Self::room() {
			return false;
		}
		// Where more are named than are looked at, the room is kept.
		let mut named = Awaited::<T>::iter_keys();
		let is_here = |root: &H256| Blobs::<T>::get(root).is_some_and(|blob| blob.is_complete());
		let are_here = named.by_ref().take(MAX_LOOKED as usize).all(|root| is_here(&root));
		are_here && named.next().is_none()
	}

	/// Returns what that costs: reads of the names and of what is stored under them. It is an estimate.
	pub(crate) fn spare_room_weight() -> Weight {
		let reads = u64::from(MAX_LOOKED).saturating_mul(2).saturating_add(1);
		T::DbWeight::get().reads(reads)
	}

	/// Returns whether the block has no weight left for another chunk.
	fn is_out_of_weight() -> bool {
		let chunk = T::WeightInfo::direct_upload(MAX_CHUNK)
			.saturating_add(T::WeightInfo::upload_chunk(MAX_CHUNK));
		let used = *frame_system::Pallet::<T>::block_weight().get(DispatchClass::Normal);
		let most = T::BlockWeights::get().get(DispatchClass::Normal).max_total;
		most.is_some_and(|most| used.saturating_add(chunk).any_gt(most))
	}

	/// Takes `len` bytes of the room for moves, if there are so many. Returns whether there were.
	pub(crate) fn take_move_room(len: u32) -> bool {
		let taken = Moves::<T>::get().saturating_add(len);
		let fits = taken <= MOVES_ROOM;
		if fits {
			Moves::<T>::put(taken);
		}
		fits
	}

	/// Notes at the end of a block whether there was room for another chunk and for the calls around
	/// it, and for another move in a dispute, and begins to count bytes again. A move that finds its own
	/// room full takes of what ordinary transactions left.
	pub(crate) fn close_block() {
		let (ordinary, moves) = (Ordinary::<T>::take(), Moves::<T>::take());
		let filled = frame_system::Pallet::<T>::block_size();
		let takes_none = |taken: u32, most: u32| taken.saturating_add(LONGEST_MOVE) > most;
		let no_move = takes_none(filled, Self::room())
			|| takes_none(moves, MOVES_ROOM) && takes_none(ordinary, T::OrdinaryLength::get());
		if MovesFull::<T>::get() != no_move {
			MovesFull::<T>::put(no_move);
		}
		let no_chunk = filled.saturating_add(MAX_CHUNK).saturating_add(AROUND_CHUNK) > Self::room();
		let no_call = ordinary.saturating_add(CALLS_ROOM) > T::OrdinaryLength::get();
		if no_chunk || no_call || Self::is_out_of_weight() {
			FullBlocks::<T>::mutate(|count| *count = count.saturating_add(1));
		}
	}
}
