//! What the pallet keeps; the types are in `types`.

use frame_support::pallet_macros::pallet_section;

/// Becomes a part of the pallet's module, whose names it uses.
#[pallet_section]
mod storage {
	/// Everyone with a bond; see [`crate::pool`]. One value, because a draw reads all of them.
	#[pallet::storage]
	pub type Pool<T: Config> = StorageValue<_, PoolOf<T>, ValueQuery>;

	/// What can still come in during this turn; `None` before the first change.
	#[pallet::storage]
	pub type Inflow<T: Config> = StorageValue<_, Balance, OptionQuery>;

	/// The audits, by job. A decided one stays until its owner forgets it.
	#[pallet::storage]
	pub type AuditRecords<T: Config> = StorageMap<_, Twox64Concat, JobId, AuditOf<T>, OptionQuery>;

	/// The blobs in which trainers store what was asked for, announced or complete, by job and trainer,
	/// while the audit runs.
	#[pallet::storage]
	pub type Kept<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		BoundedVec<KeptBlob, ConstU32<MAX_KEPT>>,
		ValueQuery,
	>;

	/// Leaves of its bundle that a trainer brought because they were asked for, from the first on, by job
	/// and trainer, while the audit runs. Trainers of one result have bundles of their own, in which other
	/// leaves are forced to be false.
	#[pallet::storage]
	pub type ShownLeaves<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		BundleLeaves,
		ValueQuery,
	>;

	/// The files of states that a trainer named, the oldest first, by job and trainer, while the audit runs.
	/// Who finds garbage in one that is stored accuses it by its leaf, whether or not anybody has the rest of
	/// the bundle, and whether or not the blob was let go since.
	#[pallet::storage]
	pub type NamedStates<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		BoundedVec<NamedState, ConstU32<MAX_KEPT>>,
		ValueQuery,
	>;

	/// The leaves that trainers forced to be false and opened, by job and trainer.
	#[pallet::storage]
	pub type Forced<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		AllForced,
		OptionQuery,
	>;

	/// Where verifiers serve what they fetched for an audit: the base URL of an HTTP server.
	#[pallet::storage]
	pub type Locations<T: Config> =
		StorageMap<_, Blake2_128Concat, T::AccountId, Text, OptionQuery>;

	/// What was asked for in the running round, by job and who asked.
	#[pallet::storage]
	pub type Claims<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		BoundedVec<Claim, ConstU32<ALL_CLAIMS>>,
		ValueQuery,
	>;

	/// For each audit that asks for rescues, or whose trainers open what they forced: the blocks without room
	/// for a chunk when it began to, the height of that, and the last block that was named then.
	#[pallet::storage]
	pub type Uploading<T> =
		StorageMap<_, Twox64Concat, JobId, (BlockNumber, BlockNumber, BlockNumber), OptionQuery>;

	/// What verifiers have at stake with accusations that are not decided, by job and verifier.
	#[pallet::storage]
	pub type Accusations<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		Accusing,
		ValueQuery,
	>;

	/// What seats of the round lost by accusations, and to whom, by job and verifier, while they can be
	/// convicted themselves.
	#[pallet::storage]
	pub type Forfeited<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		Forfeits<T::AccountId>,
		ValueQuery,
	>;

	/// Revealed findings of the round, by job and member of its committee.
	#[pallet::storage]
	pub type Verdicts<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		JobId,
		Blake2_128Concat,
		T::AccountId,
		Findings<T::AccountId>,
		OptionQuery,
	>;

	/// The number of the next relay.
	#[pallet::storage]
	pub type NextRelay<T> = StorageValue<_, RelayId, ValueQuery>;

	/// The relays that run.
	#[pallet::storage]
	pub type Relays<T: Config> =
		StorageMap<_, Twox64Concat, RelayId, Relay<T::AccountId>, OptionQuery>;

	/// The relays of each job that run.
	#[pallet::storage]
	pub type OpenRelays<T> =
		StorageMap<_, Twox64Concat, JobId, BoundedVec<RelayId, ConstU32<MAX_RELAYS>>, ValueQuery>;

	/// The fees of the first committees of all relays of a result that ended with the answer that the piece is
	/// held, by job and result: by so much the next relay of it is dearer.
	#[pallet::storage]
	pub type HeldRelays<T> =
		StorageDoubleMap<_, Twox64Concat, JobId, Twox64Concat, u32, Balance, ValueQuery>;

	/// The relays by the height at which they are looked at.
	#[pallet::storage]
	pub type RelayAgenda<T> =
		StorageDoubleMap<_, Twox64Concat, BlockNumber, Twox64Concat, RelayId, (), OptionQuery>;

	/// The height at which each relay is looked at.
	#[pallet::storage]
	pub type RelayDue<T> = StorageMap<_, Twox64Concat, RelayId, BlockNumber, OptionQuery>;

	/// Least height whose agenda of relays may not be empty.
	#[pallet::storage]
	pub type RelayCursor<T> = StorageValue<_, BlockNumber, OptionQuery>;
}
