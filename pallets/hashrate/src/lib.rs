//! Proof of Hashrate: trainers, their bonds and their compute power, and the authorities
//! that this power makes.
//!
//! - [`power`]: the ledger. Verified work is credited through
//!   [`TrainerRegistry`](trainyard_traits::TrainerRegistry) and
//!   [`Drillers`](trainyard_traits::Drillers), and decays by half every
//!   half-life, a week where the genesis names no other.
//! - [`shares`]: how both kinds of power, and what founders declared, make a share of the weight.
//! - [`session`]: at each change of session the candidates with session keys and a share that is
//!   large enough are chosen, and their shares at that moment become their announced weights.
//! - [`authorities`]: the wrappers, listed in `impl_opaque_keys!`, that give these weights
//!   to BABE and GRANDPA, and the author of a block across a change of session.
//! - [`records`], [`offences`]: who was an authority when, by which keys; equivocations
//!   and what they cost.
//! - [`in_force`]: how long authorities answer for that, where finality is late.
//! - [`liveness`]: an authority that makes no block is suspended.
//! - [`beacon`]: randomness from the VRF outputs of the authors of recent blocks.
//! - [`rewards`]: the block reward and its schedule.
//! - [`slashing`]: how a part of a bond is taken.
//! - [`timing`]: slot and epoch length and the half-life of power, fixed in genesis.
//!
//! # Genesis
//!
//! The index of this pallet in the runtime is above Balances' (bonds are held from genesis
//! balances) and below Babe's and Session's (Session asks for the first authorities while
//! it builds its genesis). The genesis authorities of Babe and Grandpa stay empty: the
//! wrappers write them, with weights. A genesis trainer that is a candidate has its keys
//! in Session's genesis. Founders have the part of the weight that nobody's work has; see
//! [`shares`].

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

pub mod authorities;
pub mod beacon;
#[cfg(feature = "runtime-benchmarks")]
mod benchmarking;
mod events;
pub mod in_force;
pub mod liveness;
#[cfg(test)]
mod mock;
pub mod offences;
pub mod power;
pub mod records;
pub mod rewards;
pub mod session;
pub mod shares;
pub mod slashing;
#[cfg(test)]
mod tests;
pub mod timing;
mod trainers;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
mod views;
pub mod weights;

use frame_support::pallet_macros::import_section;
use trainyard_protocol::H256;

pub use pallet::*;
pub use timing::{EpochLength, HalfLife, MinimumPeriod, SeedTiming, SlotDuration};
pub use trainers::Trainer;
pub use weights::WeightInfo;

/// Where a genesis names no other: the volume of drilling from which on it has its whole part of the
/// weight, in micro-ut a day. Ten million ut a day are 50 TFLOP/s.
pub const DRILLING_FLOOR: u64 = 10_000_000_000_000;

/// Likewise of training. A day of it burns 5,000 TRY at 1 TRY for a ut.
pub const TRAINING_FLOOR: u64 = 5_000_000_000;

/// Target of this pallet's log lines.
const LOG_TARGET: &str = "runtime::hashrate";

/// What this pallet needs of the session pallet; implemented for `pallet_session::Pallet`.
pub trait SessionAccess<AccountId> {
	/// Returns a hash of the session keys that `who` has set.
	fn keys(who: &AccountId) -> Option<H256>;
	/// Returns whether `who` has set session keys.
	fn has_keys(who: &AccountId) -> bool {
		Self::keys(who).is_some()
	}
	/// Returns the authorities of the running session, in order.
	fn authorities() -> alloc::vec::Vec<AccountId>;
	/// Returns the running session's index.
	fn current_index() -> sp_staking::SessionIndex;
	/// Returns the accounts, BABE keys and GRANDPA keys that are queued. When a session starts,
	/// these are the ones that it will use.
	fn queued_keys() -> alloc::vec::Vec<(AccountId, [u8; 32], [u8; 32])>;
	/// Removes the session keys of `who`.
	fn purge_keys(who: &AccountId) -> sp_runtime::DispatchResult;
	/// Benchmarks: gives `who` session keys of its own.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_keys(who: &AccountId);
	/// Benchmarks: makes these the authorities of the running session.
	#[cfg(feature = "runtime-benchmarks")]
	fn make_authorities(all: alloc::vec::Vec<AccountId>);
}

#[import_section(events::events)]
#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use crate::{
		beacon::{MAX_SEED_BLOCKS, MAX_SEED_STEP},
		offences::Convict,
		power::{Ledger, HALF_LIVES_MS, WEEK_MS},
		records::Member,
		shares::Floors,
	};
	use alloc::vec::Vec;
	use frame_support::{
		pallet_prelude::*,
		traits::{
			fungible::{self, hold},
			Time,
		},
	};
	use frame_system::pallet_prelude::*;
	use sp_runtime::{Perbill, Permill};
	use sp_staking::SessionIndex;
	use trainyard_protocol::{
		job::{Balance, BlockNumber},
		views::Hardware,
		MicroUt,
	};
	use trainyard_traits::{AuthorKeeps, Finality};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(3);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// Why this pallet holds funds.
	#[pallet::composite_enum]
	pub enum HoldReason {
		/// The bond of a trainer.
		Bond,
	}

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// The runtime's reasons for holding funds.
		type RuntimeHoldReason: From<HoldReason>;

		/// Money: bonds are held in it, block rewards are minted in it.
		type Currency: fungible::Inspect<Self::AccountId, Balance = Balance>
			+ fungible::Mutate<Self::AccountId>
			+ hold::Mutate<Self::AccountId, Reason = Self::RuntimeHoldReason>;

		/// Time in milliseconds since 1970, by which power decays.
		type Time: Time<Moment = u64>;

		/// The session pallet.
		type Session: SessionAccess<Self::AccountId>;

		/// The VRF output of the author of the latest *finished* block, if it had one: in
		/// `on_initialize` of block `n + 1` that of block `n`. An output that was already
		/// given for an earlier block counts as none. See [`authorities::AuthorVrf`].
		type VrfOutput: Get<Option<H256>>;

		/// What the chain knows to be final.
		type Finality: Finality;

		/// Whether the author of the present block keeps the data that the chain retains, asked at the
		/// end of the block.
		type Data: AuthorKeeps;

		/// Smallest bond of a trainer.
		#[pallet::constant]
		type MinBond: Get<Balance>;

		/// Blocks from leaving to the return of the bond, and from the time at which finality overtook
		/// a session until its equivocations cannot be reported any more and the bonds of those who
		/// were last authorities in it can return. At least three sessions.
		#[pallet::constant]
		type UnbondingBlocks: Get<BlockNumber>;

		/// Most trainers that stand for block authorship.
		#[pallet::constant]
		type MaxCandidates: Get<u32>;

		/// Most authorities of a session. At most Babe's and Grandpa's own bounds.
		#[pallet::constant]
		type MaxAuthorities: Get<u32>;

		/// What the first block mints: the author's part and the jackpot's.
		#[pallet::constant]
		type BlockReward: Get<Balance>;

		/// Blocks in which the block reward halves.
		#[pallet::constant]
		type RewardHalfLife: Get<BlockNumber>;

		/// What a block mints at least.
		#[pallet::constant]
		type RewardTail: Get<Balance>;

		/// The jackpot's part of the block reward.
		#[pallet::constant]
		type JackpotShare: Get<Permill>;

		/// The account that collects the money from which checking is paid later. It exists from
		/// genesis with at least the existential deposit.
		type Jackpot: Get<Self::AccountId>;

		/// The part of bond and power that an equivocation costs at least.
		#[pallet::constant]
		type MinSlash: Get<Perbill>;

		/// The reporter's part of what an equivocation costs of the bond.
		#[pallet::constant]
		type ReporterShare: Get<Permill>;

		/// Weights of calls and hooks.
		type WeightInfo: WeightInfo;
	}

	/// Everyone who registered and has not withdrawn.
	#[pallet::storage]
	pub type Trainers<T: Config> = StorageMap<_, Blake2_128Concat, T::AccountId, Trainer>;

	/// Who made the present block, until its end, when the reward is minted.
	#[pallet::storage]
	#[pallet::whitelist_storage]
	pub type Unpaid<T: Config> = StorageValue<_, T::AccountId>;

	/// Compute power of trainers; absent means none. Only registered trainers have any.
	#[pallet::storage]
	pub type Power<T: Config> = StorageMap<_, Blake2_128Concat, T::AccountId, Ledger, ValueQuery>;

	/// Trainers that stand for block authorship, ascending.
	#[pallet::storage]
	pub type Candidates<T: Config> =
		StorageValue<_, BoundedVec<T::AccountId, T::MaxCandidates>, ValueQuery>;

	/// Session keys of the candidates, as hashes, when the running session began: who stands since
	/// then only, or has set other keys since, does not qualify at its end. Ascending; `None` before
	/// the first choice.
	#[pallet::storage]
	pub type KnownKeys<T: Config> =
		StorageValue<_, BoundedVec<(T::AccountId, H256), T::MaxCandidates>>;

	/// Who has the part of the weight that nobody's work has, with its part of it. Ascending. Fixed
	/// in genesis, less what equivocations cost.
	#[pallet::storage]
	pub type Founders<T: Config> =
		StorageValue<_, BoundedVec<(T::AccountId, u64), T::MaxAuthorities>, ValueQuery>;

	/// Volumes from which on a kind of work has its whole part of the weight. Fixed in genesis.
	#[pallet::storage]
	pub type VolumeFloors<T> = StorageValue<_, Floors, ValueQuery>;

	/// Least Total ECP of an authority, in parts of the whole weight (10^12). Fixed in genesis.
	#[pallet::storage]
	pub type MinShare<T> = StorageValue<_, u64, ValueQuery>;

	/// Authorities of the running session and their weights, exactly as announced.
	#[pallet::storage]
	pub type CurrentWeights<T: Config> =
		StorageValue<_, BoundedVec<(T::AccountId, u64), T::MaxAuthorities>, ValueQuery>;

	/// Authorities announced for the next session and their weights.
	#[pallet::storage]
	pub type NextWeights<T: Config> =
		StorageValue<_, BoundedVec<(T::AccountId, u64), T::MaxAuthorities>, ValueQuery>;

	/// Among how much training power the part of the blocks on which training decides is shared out, in the
	/// running session and in the one that is announced.
	#[pallet::storage]
	pub type TrainingVolumes<T> = StorageValue<_, session::Volumes, ValueQuery>;

	/// Blocks of the running session so far.
	#[pallet::storage]
	pub type SessionBlocks<T> = StorageValue<_, u32, ValueQuery>;

	/// Who has made a block in the running session, ascending.
	#[pallet::storage]
	pub type Authored<T: Config> =
		StorageValue<_, BoundedVec<T::AccountId, T::MaxAuthorities>, ValueQuery>;

	/// Thousandths of blocks that an authority should have made since its last one,
	/// counted at ends of sessions.
	#[pallet::storage]
	pub type Absence<T: Config> = StorageMap<_, Blake2_128Concat, T::AccountId, u64, ValueQuery>;

	/// Authorities of the running session and of those before it whose equivocations can
	/// still be reported.
	#[pallet::storage]
	pub type Records<T: Config> = StorageMap<
		_,
		Twox64Concat,
		SessionIndex,
		BoundedVec<Member<T::AccountId>, T::MaxAuthorities>,
	>;

	/// The first block of each session on record.
	#[pallet::storage]
	pub type Starts<T> = StorageMap<_, Twox64Concat, SessionIndex, BlockNumber>;

	/// When a session on record was overtaken by finality: the height at which the chain knew that the
	/// first block of the session after it is final.
	#[pallet::storage]
	pub type Overtaken<T> = StorageMap<_, Twox64Concat, SessionIndex, BlockNumber>;

	/// The oldest session that was not overtaken.
	#[pallet::storage]
	pub type Unfinal<T> = StorageValue<_, SessionIndex>;

	/// The last session in which a trainer was an authority.
	#[pallet::storage]
	pub type LastServed<T: Config> = StorageMap<_, Blake2_128Concat, T::AccountId, SessionIndex>;

	/// The oldest set of GRANDPA whose last session is noted.
	#[pallet::storage]
	pub type OldestSet<T> = StorageValue<_, u64>;

	/// The oldest session on record.
	#[pallet::storage]
	pub type OldestRecord<T> = StorageValue<_, SessionIndex>;

	/// Who equivocated in a session on record, in ascending order.
	#[pallet::storage]
	pub type Offenders<T: Config> = StorageMap<
		_,
		Twox64Concat,
		SessionIndex,
		BoundedVec<T::AccountId, T::MaxAuthorities>,
		ValueQuery,
	>;

	/// Everyone who equivocated in any session on record, and what it has lost. Of more than there
	/// is room for those with the largest shares.
	#[pallet::storage]
	pub type Convicts<T: Config> =
		StorageValue<_, BoundedVec<Convict<T::AccountId>, T::MaxAuthorities>, ValueQuery>;

	/// The session from which a trainer that equivocated may stand again.
	#[pallet::storage]
	pub type Suspended<T: Config> = StorageMap<_, Blake2_128Concat, T::AccountId, SessionIndex>;

	/// The ring of outputs: entry `n mod 256` holds the latest such block `n` and its
	/// output.
	#[pallet::storage]
	pub type Outputs<T: Config> = StorageMap<_, Twox64Concat, u8, (BlockNumber, H256)>;

	/// The latest VRF output that entered the ring; if it appears again, it is stale.
	#[pallet::storage]
	pub type LatestVrf<T: Config> = StorageValue<_, H256>;

	/// Length of a slot in milliseconds. Fixed in genesis.
	#[pallet::storage]
	pub type SlotMs<T> = StorageValue<_, u64, ValueQuery>;

	/// Length of an epoch in slots. Fixed in genesis.
	#[pallet::storage]
	pub type EpochSlots<T> = StorageValue<_, u64, ValueQuery>;

	/// Milliseconds in which effective power halves. Fixed in genesis; a chain without it
	/// halves in a week.
	#[pallet::storage]
	pub type HalfLifeMs<T> = StorageValue<_, u64>;

	/// Of how many blocks a seed is made, and how far apart draw heights lie. Fixed in genesis.
	#[pallet::storage]
	pub type Seeding<T> = StorageValue<_, SeedTiming, ValueQuery>;

	/// What this pallet starts with.
	#[pallet::genesis_config]
	pub struct GenesisConfig<T: Config> {
		/// Trainers from the start: account, bond (held from its balance), and whether it
		/// stands for block authorship.
		pub trainers: Vec<(T::AccountId, Balance, bool)>,
		/// Trainers named above that have the part of the weight that nobody's work has, and the
		/// parts of it that they have, in any unit.
		pub founders: Vec<(T::AccountId, u64)>,
		/// Effective drilling power of all who stand, in micro-ut per day, from which on drilling
		/// decides on 0.4 of the weight. With less it decides on less.
		pub drilling_floor: u64,
		/// The same of training, which decides on 0.6.
		pub training_floor: u64,
		/// Least Total ECP of an authority, in parts of the whole weight (10^12). 0 lets candidates
		/// without any power in, with weight 1.
		pub min_share: u64,
		/// Length of a slot in milliseconds, even. Never changes.
		pub slot_duration: u64,
		/// Length of an epoch (a session) in slots, at most a third of `UnbondingBlocks`.
		/// Never changes.
		pub epoch_length: u64,
		/// Milliseconds in which effective power halves: 1,000 (a second) to
		/// 3,155,760,000,000 (a hundred years). Never changes.
		pub half_life: u64,
		/// Blocks whose VRF outputs make one seed, 1 to 24. Never changes.
		pub seed_blocks: u32,
		/// Seeds form after heights that are multiples of this, 1 to 256. Never changes.
		pub seed_step: u32,
	}

	impl<T: Config> Default for GenesisConfig<T> {
		/// Returns a genesis without trainers, with slots of 6 s, epochs of an hour, power that
		/// halves in a week, and the seeds of a public network.
		fn default() -> Self {
			Self {
				trainers: Vec::new(),
				founders: Vec::new(),
				drilling_floor: DRILLING_FLOOR,
				training_floor: TRAINING_FLOOR,
				min_share: 0,
				slot_duration: 6_000,
				epoch_length: 600,
				half_life: WEEK_MS,
				seed_blocks: SeedTiming::default().blocks,
				seed_step: SeedTiming::default().step,
			}
		}
	}

	#[pallet::genesis_build]
	impl<T: Config> BuildGenesisConfig for GenesisConfig<T> {
		fn build(&self) {
			assert!(
				self.slot_duration >= 2 && self.slot_duration & 1 == 0,
				"hashrate.slotDuration: even milliseconds of at least 2 are needed"
			);
			assert!(self.epoch_length > 0, "hashrate.epochLength: at least one slot is needed");
			// The default, without trainers, is no chain yet.
			assert!(
				self.trainers.is_empty()
					|| self.epoch_length <= u64::from(T::UnbondingBlocks::get() / 3),
				"hashrate.epochLength: at most a third of UnbondingBlocks, so that bonds are held \
				 longer than their owners can be authorities"
			);
			assert!(
				HALF_LIVES_MS.contains(&self.half_life),
				"hashrate.halfLife: milliseconds from a second to a hundred years are needed"
			);
			assert!(
				(1..=MAX_SEED_BLOCKS).contains(&self.seed_blocks),
				"hashrate.seedBlocks: 1 to {MAX_SEED_BLOCKS}"
			);
			assert!(
				(1..=MAX_SEED_STEP).contains(&self.seed_step),
				"hashrate.seedStep: 1 to {MAX_SEED_STEP}"
			);
			Seeding::<T>::put(SeedTiming { blocks: self.seed_blocks, step: self.seed_step });
			MinShare::<T>::put(self.min_share);
			VolumeFloors::<T>::put(Floors {
				drilling: self.drilling_floor,
				training: self.training_floor,
			});
			SlotMs::<T>::put(self.slot_duration);
			EpochSlots::<T>::put(self.epoch_length);
			HalfLifeMs::<T>::put(self.half_life);
			for (who, bond, candidate) in &self.trainers {
				let registered = Pallet::<T>::do_register(who, *bond, Hardware::default());
				assert!(
					registered.is_ok(),
					"hashrate.trainers: {who:?} cannot bond {bond}: {registered:?}"
				);
				if *candidate {
					let listed = Pallet::<T>::enlist(who);
					assert!(listed.is_ok(), "hashrate.trainers: {who:?}: {listed:?}");
				}
			}
			let mut founders = self.founders.clone();
			founders.sort();
			for (who, _) in &founders {
				assert!(
					Trainers::<T>::contains_key(who),
					"hashrate.founders: {who:?} is not among hashrate.trainers"
				);
				let named = founders.iter().filter(|(other, _)| other == who).count();
				assert!(named == 1, "hashrate.founders: {who:?} stands twice");
			}
			let founders = BoundedVec::try_from(founders);
			assert!(founders.is_ok(), "hashrate.founders: more than MaxAuthorities");
			Founders::<T>::put(founders.unwrap_or_default());
		}
	}

	#[pallet::error]
	pub enum Error<T> {
		/// The account is a trainer already, or its earlier bond is not withdrawn yet.
		AlreadyRegistered,
		/// The account is no trainer.
		NotRegistered,
		/// The bond is below the minimum.
		BondTooSmall,
		/// The trainer is leaving; it can only withdraw.
		Leaving,
		/// The trainer is not leaving; deregister first.
		NotLeaving,
		/// The unbonding period is not over.
		StillBonded,
		/// Set session keys before standing for block authorship.
		NoSessionKeys,
		/// The list of candidates is full of trainers with at least as much power.
		CandidatesFull,
		/// Session keys stay while their owner is a candidate, or an authority of this session or
		/// the next.
		KeysInUse,
		/// The trainer equivocated and may not stand for block authorship yet.
		Suspended,
		/// The caller was an authority of a session whose set may still be in force, or was until
		/// lately: wait until finality has passed the end of that session, and `UnbondingBlocks` more.
		StillInForce,
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		/// Records the previous block's output, and what finality overtook. The weight includes what this pallet does later in
		/// the same initialisation, when it learns the block's author.
		fn on_initialize(_: BlockNumberFor<T>) -> Weight {
			Self::record_output();
			let overtaken = T::WeightInfo::note_overtaken(Self::note_overtaken());
			T::WeightInfo::on_initialize()
				.saturating_add(overtaken)
				.saturating_add(T::WeightInfo::note_author())
		}

		fn on_finalize(_: BlockNumberFor<T>) {
			Self::reward();
		}

		fn integrity_test() {
			const {
				assert!(
					beacon::MAX_SEED_BLOCKS.saturating_add(1).saturating_add(beacon::SEED_LIFE)
						< beacon::RING,
					"the ring has every output for as long as its seed is given"
				)
			};
			assert!(T::RewardHalfLife::get() > 0, "RewardHalfLife: at least one block");
			assert!(
				T::RewardTail::get() <= T::BlockReward::get(),
				"RewardTail: at most BlockReward"
			);
			assert!(T::MaxAuthorities::get() > 0, "MaxAuthorities: at least one");
			assert!(
				T::MaxCandidates::get() >= T::MaxAuthorities::get(),
				"MaxCandidates: at least MaxAuthorities"
			);
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Registers the caller as a trainer with a bond, held from its balance. What it
		/// says of its hardware is for people to read; nothing checks it.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::register())]
		pub fn register(origin: OriginFor<T>, bond: Balance, hardware: Hardware) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_register(&who, bond, hardware)
		}

		/// Adds to the caller's bond.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::bond_extra())]
		pub fn bond_extra(origin: OriginFor<T>, amount: Balance) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_bond_extra(&who, amount)
		}

		/// Reports the caller's hardware again.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::update_hardware())]
		pub fn update_hardware(origin: OriginFor<T>, hardware: Hardware) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_update_hardware(&who, hardware)
		}

		/// Begins or ceases to stand for block authorship. To begin, set session keys first. A full
		/// list takes a trainer with more power than its weakest, which it replaces. Who stands before
		/// a session begins, with the keys that it has then, can be an authority two sessions after it.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::set_candidate())]
		pub fn set_candidate(origin: OriginFor<T>, candidate: bool) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_set_candidate(&who, candidate)
		}

		/// Begins to leave: no new jobs, no candidacy, and the bond is free after
		/// `UnbondingBlocks`; that of an authority see `withdraw`.
		#[pallet::call_index(4)]
		#[pallet::weight(T::WeightInfo::deregister())]
		pub fn deregister(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_deregister(&who)
		}

		/// Takes the bond back after leaving. The caller's power is forgotten. Who was an authority waits
		/// until no set with it is in force any more, and `UnbondingBlocks` after that.
		#[pallet::call_index(5)]
		#[pallet::weight(T::WeightInfo::withdraw())]
		pub fn withdraw(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_withdraw(&who)
		}

		/// Removes the caller's session keys, once it is neither a candidate nor an authority of
		/// this session or the next. This replaces `Session.purge_keys`, which does not check that;
		/// see [`authorities::KeepCandidateKeys`].
		#[pallet::call_index(6)]
		#[pallet::weight(T::WeightInfo::purge_keys())]
		pub fn purge_keys(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_purge_keys(&who)
		}
	}
}
