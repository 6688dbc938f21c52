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
//! - With the last chunk the blob is complete, [`Config::OnComplete`] is called and the period starts that
//!   its owner has paid for, which it may [`Pallet::renew`]. [`keeping`] says what time costs.
//! - The owner may [`Pallet::remove`] it before, unless a job named it, and gets back what is unused. Once
//!   its time is over somebody else may [`Pallet::adopt`] it, and past a grace period the agenda removes it.
//! - Every block asks its author for a drawn chunk, which it shows by an inherent ([`proofs`]).
//! - A chunk that another blob has at the same place is taken over from it without its bytes, and a blob may be
//!   registered as a version of another one ([`versions`]).
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
pub mod keeping;
mod listing;
#[cfg(test)]
mod mock;
pub mod proofs;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
mod types;
pub mod versions;
pub mod weights;

pub use blobs::{AROUND_CHUNK, CALLS_ROOM, LONGEST_MOVE, MOVES_ROOM};
pub use extension::DirectUpload;
pub use pallet::*;
pub use types::*;
pub use weights::WeightInfo;

/// Under this name a node gives what it shows of the chunks that its block asks for:
/// [`Answers`](trainyard_protocol::retention::Answers).
pub const INHERENT_IDENTIFIER: sp_inherents::InherentIdentifier = *b"trn_kept";

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
	use sp_inherents::{InherentData, MakeFatalError};
	use trainyard_pallet_support::agenda::Clock;
	use trainyard_protocol::{
		job::{Balance, BlockNumber},
		retention::{Answers, KeepingView, MAX_DOUBTED},
		views::BlobView,
	};

	/// Version of the layout of this pallet's storage.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(3);

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

		/// What keeping a KiB for a block costs.
		#[pallet::constant]
		type RentPerKib: Get<Balance>;

		/// The period for which a complete blob is kept where its owner named no other; and for how long
		/// one is kept after the end of a job that named it.
		#[pallet::constant]
		type Retention: Get<BlockNumber>;

		/// Least period that can be paid for, and least time that is paid for a blob of which anything is
		/// stored.
		#[pallet::constant]
		type MinPeriod: Get<BlockNumber>;

		/// Most blocks ahead that can be paid for.
		#[pallet::constant]
		type MaxPeriod: Get<BlockNumber>;

		/// A blob is removed this many blocks after its expiry. Until then its owner may renew it, and
		/// anybody adopt it.
		#[pallet::constant]
		type Grace: Get<BlockNumber>;

		/// A chunk is lost that nobody could show for so many blocks.
		#[pallet::constant]
		type LostAfter: Get<BlockNumber>;

		/// The output of the author of the latest *finished* block, which it could not choose: in
		/// `on_initialize` of block `n + 1`, and in calls of the runtime's API at block `n`, that of block
		/// `n`.
		type Entropy: Get<Option<H256>>;

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
		/// Deposit and rent for a blob on chain.
		Blob,
	}

	/// The blobs, by root.
	#[pallet::storage]
	pub type Blobs<T: Config> = StorageMap<_, Identity, H256, BlobOf<T>, OptionQuery>;

	/// Every stored chunk, by root of the blob and index.
	#[pallet::storage]
	pub type Chunks<T: Config> =
		StorageDoubleMap<_, Identity, H256, Twox64Concat, u32, Chunk, OptionQuery>;

	/// The stored chunks that authors are asked for, at places from 0 on without gaps.
	#[pallet::storage]
	pub type Retained<T: Config> = StorageMap<_, Twox64Concat, u32, Slot, OptionQuery>;

	/// How many there are.
	#[pallet::storage]
	pub type RetainedCount<T: Config> = StorageValue<_, u32, ValueQuery>;

	/// Chunks that an author could not show, and nobody since, oldest first.
	#[pallet::storage]
	pub type Doubted<T: Config> =
		StorageValue<_, BoundedVec<Doubt, ConstU32<MAX_DOUBTED>>, ValueQuery>;

	/// The latest block whose author showed a doubted chunk.
	#[pallet::storage]
	pub type LastFound<T: Config> = StorageValue<_, BlockNumber, ValueQuery>;

	/// How many chunks are lost.
	#[pallet::storage]
	pub type LostChunks<T: Config> = StorageValue<_, u32, ValueQuery>;

	/// What the present block asks its author for. Empty between blocks.
	#[pallet::storage]
	pub type Asked<T: Config> = StorageValue<_, Draw, OptionQuery>;

	/// The blobs by the height at which it is looked whether their time is over.
	#[pallet::storage]
	pub type Agenda<T: Config> =
		StorageDoubleMap<_, Twox64Concat, BlockNumber, Identity, H256, (), OptionQuery>;

	/// The height at which each blob is on the agenda.
	#[pallet::storage]
	pub type Due<T: Config> = StorageMap<_, Identity, H256, BlockNumber, OptionQuery>;

	/// Least height whose agenda may not be empty.
	#[pallet::storage]
	pub type Cursor<T: Config> = StorageValue<_, BlockNumber, OptionQuery>;

	/// The running extrinsic, while its own call is an unspent `upload_chunk`. It is set by
	/// [`DirectUpload`], taken by the call, and never outlives an extrinsic.
	#[pallet::storage]
	pub type TopLevelUpload<T: Config> = StorageValue<_, Marker, OptionQuery>;

	/// From which other one a blob descends, where its owner said so, by its root.
	#[pallet::storage]
	pub type Versions<T: Config> = StorageMap<_, Identity, H256, Version, OptionQuery>;

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
			/// What is held for its bytes.
			deposit: Balance,
			/// What is held for its time.
			rent: Balance,
			/// For how many blocks it is kept from its completion on.
			period: BlockNumber,
		},
		/// A chunk was stored, or taken over from another blob.
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
		/// A job that named the blob ended, so it is kept for longer.
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
		/// The owner prolonged the retention.
		Renewed {
			/// Root of the blob.
			root: H256,
			/// Last block of its retention.
			expires: BlockNumber,
			/// What is held for that, beside what was held before.
			rent: Balance,
		},
		/// A blob whose time was over has a new owner.
		Adopted {
			/// Root of the blob.
			root: H256,
			/// Who had it.
			from: T::AccountId,
			/// Who has it now.
			owner: T::AccountId,
			/// Last block of its retention.
			expires: BlockNumber,
			/// What is held of the new owner for its bytes.
			deposit: Balance,
			/// What is held of the new owner for its time.
			rent: Balance,
		},
		/// The time for which a blob was kept was paid for.
		RentBurned {
			/// Root of the blob.
			root: H256,
			/// Of whom.
			owner: T::AccountId,
			/// What was burned of what was held.
			amount: Balance,
		},
		/// The author of this block did not show the chunk that was drawn, and has no reward.
		ChunkDoubted {
			/// Root of the blob.
			root: H256,
			/// Index of the chunk.
			index: u32,
		},
		/// An author showed a chunk that was doubted.
		ChunkFound {
			/// Root of the blob.
			root: H256,
			/// Index of the chunk.
			index: u32,
		},
		/// Nobody showed a chunk for as long as it takes to give it up. It can be uploaded again.
		ChunkLost {
			/// Root of the blob.
			root: H256,
			/// Index of the chunk.
			index: u32,
		},
		/// A blob was declared to descend from another one.
		VersionRegistered {
			/// Root of the blob.
			root: H256,
			/// Root of the one that it descends from.
			parent: H256,
			/// Its number: one more than that of its parent.
			number: u32,
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
		/// A blob is paid for at least `MinPeriod` blocks, and renewed by one at least.
		PeriodTooShort,
		/// Nobody can pay for more than `MaxPeriod` blocks ahead.
		PeriodTooLong,
		/// This block asks its author for no chunk.
		NothingAsked,
		/// The author of this block has shown already what it has.
		AlreadyProved,
		/// The other blob has no such chunk, or one that authors could not show: upload the chunk.
		NotKept,
		/// The chunk is at another place in the other blob, or all of it: upload the chunk.
		OtherPlace,
		/// The parent is not on chain as a whole: store it first, or register the blob without one.
		UnknownParent,
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		/// Draws what the block asks for. Answers for the work at the block's end as well.
		fn on_initialize(_: BlockNumberFor<T>) -> Weight {
			Self::begin_draw();
			T::WeightInfo::close_block().saturating_add(T::WeightInfo::draw())
		}

		/// Removes blobs whose time is over, with half of what is left of the block at most.
		fn on_idle(_: BlockNumberFor<T>, left: Weight) -> Weight {
			Self::serve(Self::now(), left.div(2))
		}

		fn on_finalize(_: BlockNumberFor<T>) {
			Self::close_block();
			Self::close_draw();
		}

		#[cfg(feature = "std")]
		fn integrity_test() {
			assert!(T::RemoveStep::get() > 0, "RemoveStep of 0: no blob could ever be removed");
			assert!(T::MaxBlob::get() > 0, "MaxBlob of 0: no blob could ever be registered");
			let (least, most) = (T::MinPeriod::get(), T::MaxPeriod::get());
			assert!(
				(least..=most).contains(&T::Retention::get()),
				"Retention: from MinPeriod to MaxPeriod"
			);
			assert!(
				T::LostAfter::get() >= MAX_DOUBTED,
				"LostAfter: each doubted chunk is asked for once at least"
			);
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
		/// Declares the blob of `size` bytes whose BLAKE3 hash is `content`, and holds of the caller a
		/// deposit for its bytes and the rent of `period` blocks (`None`: `Retention`), for which it is
		/// kept once it is complete. Its root is `blob::root_of(size, content)`.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::register())]
		pub fn register(
			origin: OriginFor<T>,
			size: u64,
			content: H256,
			period: Option<BlockNumber>,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_register(who, size, content, period)
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

		/// Keeps the complete blob `root` for `blocks` more, and holds their rent of the caller. Only the
		/// owner may do this, also after it expired, until it is removed.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::renew())]
		pub fn renew(origin: OriginFor<T>, root: H256, blocks: BlockNumber) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_renew(who, root, blocks)
		}

		/// Removes the blob `root`, burns the rent of the time for which it was kept and returns the rest of
		/// what is held to the owner; in several calls when it has more than `RemoveStep` chunks and some
		/// are stored. The owner may do this once it expired, and with a complete blob that no job named at
		/// any time; others `Grace` blocks after it expired. Once it has begun, anyone may go on.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::remove(T::RemoveStep::get()))]
		pub fn remove(origin: OriginFor<T>, root: H256) -> DispatchResultWithPostInfo {
			let who = ensure_signed(origin)?;
			let dropped = Self::do_remove(who, root)?;
			Ok(Some(T::WeightInfo::remove(dropped)).into())
		}

		/// Takes over the complete blob `root`, which expired, for `period` blocks from now on (`None`:
		/// `Retention`). The caller pays for it as if it had registered it, and what was held of the old
		/// owner returns to it, less the rent.
		#[pallet::call_index(4)]
		#[pallet::weight(T::WeightInfo::adopt())]
		pub fn adopt(
			origin: OriginFor<T>,
			root: H256,
			period: Option<BlockNumber>,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_adopt(who, root, period)
		}

		/// Shows what the author of the present block has of what the block asks for. At most once in a
		/// block; nobody but the author can do this. What shows nothing counts as no answer.
		#[pallet::call_index(5)]
		#[pallet::weight((T::WeightInfo::prove(), DispatchClass::Mandatory))]
		pub fn prove(origin: OriginFor<T>, answers: Answers) -> DispatchResult {
			ensure_none(origin)?;
			Self::do_prove(&answers)
		}

		/// Takes over chunk `index` of the blob `from`, which has the same bytes at the same place, for the
		/// registered blob `root`, without its bytes. `proof` is the path from the chunk up to the content
		/// hash of `root`. Anyone may do this, also from inside another call.
		#[pallet::call_index(6)]
		#[pallet::weight(T::WeightInfo::reuse_chunk())]
		pub fn reuse_chunk(
			origin: OriginFor<T>,
			root: H256,
			index: u32,
			from: H256,
			proof: ChunkProof,
		) -> DispatchResult {
			ensure_signed(origin)?;
			Self::do_reuse_chunk(root, index, from, &proof)
		}

		/// Does what [`register`](Self::register) does, and says that the blob descends from `parent`, which
		/// is on chain as a whole. The caller says so, and nothing checks that; it stays said when the
		/// parent goes.
		#[pallet::call_index(7)]
		#[pallet::weight(T::WeightInfo::register_version())]
		pub fn register_version(
			origin: OriginFor<T>,
			size: u64,
			content: H256,
			period: Option<BlockNumber>,
			parent: H256,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_register_version(who, size, content, period, parent)
		}
	}

	#[pallet::inherent]
	impl<T: Config> ProvideInherent for Pallet<T> {
		type Call = Call<T>;
		type Error = MakeFatalError<()>;

		const INHERENT_IDENTIFIER: sp_inherents::InherentIdentifier = super::INHERENT_IDENTIFIER;

		/// Shows what the node has, where that answers what the block asks for.
		fn create_inherent(data: &InherentData) -> Option<Self::Call> {
			let answers = data.get_data::<Answers>(&super::INHERENT_IDENTIFIER).ok()??;
			Self::answers_something(&answers).then_some(Call::prove { answers })
		}

		fn is_inherent(call: &Self::Call) -> bool {
			matches!(call, Call::prove { .. })
		}
	}

	#[pallet::view_functions]
	impl<T: Config> Pallet<T> {
		/// Returns the blob with this root.
		pub fn view(root: H256) -> Option<BlobView<T::AccountId>> {
			let blob = Blobs::<T>::get(root)?;
			let missing: Vec<u32> = (0..blob.chunks)
				.filter(|index| {
					let place = Chunks::<T>::get(root, index).map(|chunk| chunk.place);
					place.is_none_or(|place| place == Place::Lost)
				})
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
			Chunks::<T>::get(root, index).map(|chunk| chunk.hash)
		}

		/// Returns what keeping the blob with this root costs and when it ends.
		pub fn keeping(root: H256) -> Option<KeepingView> {
			Self::keeping_view(root)
		}
	}
}
