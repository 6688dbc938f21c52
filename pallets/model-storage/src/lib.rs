//! Blobs on chain: models, and states that trainers rescue during an audit.
//!
//! A blob is a file cut into chunks by the rule of [`trainyard_protocol::blob`] and
//! known by one root. Whoever registers it holds a deposit for as long as the chain
//! keeps it. The bytes of a chunk travel as the tail of an indexed transaction: nodes
//! keep them by their `blake2_256` beside their blocks, and the state keeps only these
//! hashes.
//!
//! - [`Pallet::register`] declares a blob, anyone [`Pallet::upload_chunk`]s its chunks,
//!   in any order, each with its path under the declared content hash.
//! - With the last chunk the blob is complete, [`Config::OnComplete`] is called and its retention
//!   starts, which the owner may [`Pallet::extend`].
//! - An expired blob is [`Pallet::remove`]d by its owner, and past a grace period by
//!   anyone; the deposit returns to the owner.
//! - [`DirectUpload`] refuses chunk uploads that are not an extrinsic's own call: the node stores
//!   the *tail of the extrinsic* under the hash that it gets, unchecked, so a nested call could
//!   store other bytes under a chunk's hash.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(any(test, feature = "runtime-benchmarks")),
	deny(
		clippy::unwrap_used,
		clippy::expect_used,
		clippy::indexing_slicing,
		clippy::panic,
		clippy::arithmetic_side_effects
	)
)]

extern crate alloc;

#[cfg(feature = "runtime-benchmarks")]
mod benchmarking;
mod blobs;
pub mod extension;
#[cfg(test)]
mod mock;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
mod types;
pub mod weights;

pub use blobs::{AROUND_CHUNK, CALLS_ROOM, LONGEST_MOVE, MOVES_ROOM};
pub use extension::DirectUpload;
pub use pallet::*;
pub use types::*;
pub use weights::WeightInfo;

#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use alloc::vec::Vec;
	use frame_support::{
		pallet_prelude::*,
		traits::fungible::{Inspect, Mutate, MutateHold},
	};
	use frame_system::pallet_prelude::*;
	use trainyard_protocol::{
		job::{Balance, BlockNumber},
		views::BlobView,
	};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(2);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// Weights of this pallet's calls.
		type WeightInfo: WeightInfo;

		/// The currency of deposits.
		type Currency: Inspect<Self::AccountId, Balance = Balance>
			+ Mutate<Self::AccountId>
			+ MutateHold<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// The runtime's overarching hold reason.
		type RuntimeHoldReason: From<HoldReason>;

		/// Called for every blob that is completed.
		type OnComplete: OnBlobComplete;

		/// Deposit for a blob of any size.
		#[pallet::constant]
		type DepositBase: Get<Balance>;

		/// Deposit for each byte of a blob.
		#[pallet::constant]
		type DepositPerByte: Get<Balance>;

		/// Largest blob, in bytes.
		#[pallet::constant]
		type MaxBlob: Get<u64>;

		/// An incomplete blob expires this many blocks after its registration or its last chunk.
		/// While chunks come in, nobody can remove it during the upload.
		#[pallet::constant]
		type UploadPeriod: Get<BlockNumber>;

		/// A complete blob expires this many blocks after its completion or last extension.
		#[pallet::constant]
		type Retention: Get<BlockNumber>;

		/// Anyone may remove a blob this many blocks after its expiry.
		#[pallet::constant]
		type Grace: Get<BlockNumber>;

		/// Most chunk records dropped by one call of `remove`.
		#[pallet::constant]
		type RemoveStep: Get<u32>;

		/// Most bytes of a block that ordinary transactions may take which bring no awaited chunk.
		/// What is left of the length that normal transactions have takes one chunk at least.
		#[pallet::constant]
		type OrdinaryLength: Get<u32>;

		/// Calls of other pallets that make way for awaited chunks, or are moves in disputes.
		type Urgent: UrgentCalls<Self::AccountId, Self::RuntimeCall>;
	}

	/// What this pallet holds of somebody's balance.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// Deposit for a blob on chain.
		Blob,
	}

	/// The blobs, by root.
	#[pallet::storage]
	pub type Blobs<T: Config> = StorageMap<_, Identity, H256, BlobOf<T>, OptionQuery>;

	/// `blake2_256` of every stored chunk, by root of the blob and index.
	#[pallet::storage]
	pub type ChunkHashes<T: Config> =
		StorageDoubleMap<_, Identity, H256, Twox64Concat, u32, H256, OptionQuery>;

	/// The running extrinsic, while its own call is an unspent `upload_chunk`. It is set by
	/// [`DirectUpload`], taken by the call, and never outlives an extrinsic.
	#[pallet::storage]
	pub type TopLevelUpload<T: Config> = StorageValue<_, Marker, OptionQuery>;

	/// How many running jobs name a blob, by its root. One that nobody names is not here.
	#[pallet::storage]
	pub type Awaited<T: Config> = StorageMap<_, Identity, H256, u32, OptionQuery>;

	/// Bytes of the chunks of an awaited blob that somebody itself brought who said that it would, by
	/// the blob's root. Whoever did not say so is not here.
	#[pallet::storage]
	pub type Brought<T: Config> =
		StorageDoubleMap<_, Identity, H256, Blake2_128Concat, T::AccountId, u64, OptionQuery>;

	/// Bytes of this block's transactions but awaited chunks, and moves that had room of their own.
	/// Empty between blocks.
	#[pallet::storage]
	#[pallet::whitelist_storage]
	pub type Ordinary<T: Config> = StorageValue<_, u32, ValueQuery>;

	/// Bytes of this block's moves in disputes that had room of their own. Empty between blocks.
	#[pallet::storage]
	#[pallet::whitelist_storage]
	pub type Moves<T: Config> = StorageValue<_, u32, ValueQuery>;

	/// Whether the latest block that ended had no room for the longest move in a dispute.
	#[pallet::storage]
	pub type MovesFull<T: Config> = StorageValue<_, bool, ValueQuery>;

	/// Blocks so far that had no room for another chunk, or for the calls around one.
	#[pallet::storage]
	pub type FullBlocks<T: Config> = StorageValue<_, BlockNumber, ValueQuery>;

	#[pallet::event]
	#[pallet::generate_deposit(pub(super) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A blob was declared; its chunks may be uploaded.
		Registered {
			/// Root of the blob.
			root: H256,
			/// Who holds the deposit for it.
			owner: T::AccountId,
			/// Length in bytes.
			size: u64,
			/// Number of its chunks.
			chunks: u32,
			/// What is held.
			deposit: Balance,
		},
		/// A chunk was stored.
		ChunkStored {
			/// Root of the blob.
			root: H256,
			/// Index of the chunk.
			index: u32,
			/// Its `blake2_256`, under which nodes have it.
			hash: H256,
		},
		/// The last missing chunk was stored.
		Completed {
			/// Root of the blob.
			root: H256,
			/// Last block of its retention.
			expires: BlockNumber,
		},
		/// The owner prolonged the retention.
		Extended {
			/// Root of the blob.
			root: H256,
			/// Last block of its retention.
			expires: BlockNumber,
		},
		/// A part of an expired blob's chunk records was dropped; call `remove` again.
		Shrunk {
			/// Root of the blob.
			root: H256,
			/// Chunk records still to be dropped.
			left: u32,
		},
		/// A blob was removed.
		Removed {
			/// Root of the blob.
			root: H256,
			/// Who held the deposit.
			owner: T::AccountId,
			/// What returned to the owner.
			deposit: Balance,
		},
	}

	#[pallet::error]
	pub enum Error<T> {
		/// A blob has at least one byte.
		Empty,
		/// The blob is larger than the chain takes.
		TooLarge,
		/// The blob is registered already and waits for chunks: upload what is missing.
		AlreadyRegistered,
		/// The blob is on chain already, complete: nothing needs to be done.
		AlreadyComplete,
		/// No blob with this root is registered.
		UnknownBlob,
		/// The blob has no chunk with this index.
		NoSuchChunk,
		/// Every chunk of a blob has a fixed length; this one is longer or shorter.
		WrongLength,
		/// This chunk is stored already.
		ChunkStored,
		/// The path does not lead from these bytes at this index to the blob's content hash.
		WrongProof,
		/// A chunk can only be uploaded by an extrinsic of its own, not from inside another
		/// call (batch, proxy, multisig, sudo).
		NotTopLevel,
		/// Only the blob's owner may do this now.
		NotOwner,
		/// The blob is not complete yet.
		Incomplete,
		/// The blob has not expired yet.
		NotExpired,
		/// The blob is being removed; call `remove` until it is gone, then register it again.
		BeingRemoved,
		/// A running job names the blob; it can be removed when no job does.
		Awaited,
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		/// Answers for the work at the block's end.
		fn on_initialize(_: BlockNumberFor<T>) -> Weight {
			T::WeightInfo::close_block()
		}

		fn on_finalize(_: BlockNumberFor<T>) {
			Self::close_block();
		}

		#[cfg(feature = "std")]
		fn integrity_test() {
			assert!(T::RemoveStep::get() > 0, "RemoveStep of 0: no blob could ever be removed");
			assert!(T::MaxBlob::get() > 0, "MaxBlob of 0: no blob could ever be registered");
			let chunk = trainyard_protocol::blob::MAX_CHUNK.saturating_add(blobs::AROUND_CHUNK);
			let urgent = CALLS_ROOM.saturating_add(MOVES_ROOM);
			let others = T::OrdinaryLength::get().saturating_add(urgent);
			assert!(
				others.saturating_add(chunk) <= Self::room(),
				"OrdinaryLength leaves no room for a chunk"
			);
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Declares the blob of `size` bytes whose BLAKE3 hash is `content`, and holds a deposit of
		/// the caller for it. Its root is `blob::root_of(size, content)`.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::register())]
		pub fn register(origin: OriginFor<T>, size: u64, content: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_register(who, size, content)
		}

		/// Stores chunk `index` of the registered blob `root`; anyone may do this. `proof` is the path
		/// from the chunk, a node of BLAKE3's tree, up to the blob's content hash. Only as an extrinsic's own call, see
		/// [`DirectUpload`], and with `bytes` as its last argument: nodes keep the tail of the
		/// extrinsic.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::upload_chunk(bytes.len() as u32))]
		pub fn upload_chunk(
			origin: OriginFor<T>,
			root: H256,
			index: u32,
			proof: ChunkProof,
			bytes: ChunkBytes,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			// The extension has checked it.
			let _ = proof;
			Self::do_upload_chunk(who, root, index, &bytes)
		}

		/// Restarts the retention of the complete blob `root` at the present block. Only the owner
		/// may do this.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::extend())]
		pub fn extend(origin: OriginFor<T>, root: H256) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_extend(who, root)
		}

		/// Removes the expired blob `root` and returns its deposit to the owner; in several
		/// calls when it has more than `RemoveStep` chunks and some are stored. The owner may do this
		/// from the expiry on, others `Grace` blocks later. Once it has begun, anyone may go on.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::remove(T::RemoveStep::get()))]
		pub fn remove(origin: OriginFor<T>, root: H256) -> DispatchResultWithPostInfo {
			let who = ensure_signed(origin)?;
			let dropped = Self::do_remove(who, root)?;
			Ok(Some(T::WeightInfo::remove(dropped)).into())
		}
	}

	#[pallet::view_functions]
	impl<T: Config> Pallet<T> {
		/// Returns the blob with this root.
		pub fn view(root: H256) -> Option<BlobView<T::AccountId>> {
			let blob = Blobs::<T>::get(root)?;
			let missing: Vec<u32> = (0..blob.chunks)
				.filter(|index| !ChunkHashes::<T>::contains_key(root, index))
				.collect();
			Some(BlobView {
				owner: blob.owner,
				size: blob.size,
				chunks: blob.chunks,
				missing,
				expires: blob.expires,
				removing: blob.removing.is_some(),
			})
		}

		/// Returns the `blake2_256` under which nodes have chunk `index` of the blob `root`.
		pub fn chunk_hash(root: H256, index: u32) -> Option<H256> {
			ChunkHashes::<T>::get(root, index)
		}
	}
}
