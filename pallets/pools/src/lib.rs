//! Pools of claims on pay: a trainer of a job that pays by lottery is paid the mean, less a fee, and the pool carries the
//! variance.
//!
//! ```text
//! create -> enrols for a period -> waits until all claims are settled -> rests -> enrols for a period -> ...
//!   |                                                                      |
//!   join, leave: whenever no claim is enrolled                             last member leaves: removed
//! ```
//!
//! - [`members`]: who has a part of the capital. Nobody joins or leaves while a claim is enrolled: so nobody buys into a
//!   gain that is known, or flees from a loss. Since a period ends, and a rest follows it, everybody can leave.
//! - [`claims`]: what is enrolled, and what follows when its job is settled. What an enrolled claim may cost is reserved,
//!   so a pool always pays.
//!
//! Money of a pool is on an account of its own, which nobody signs for. What others send there belongs to nobody until the
//! pool is removed.

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
pub mod claims;
pub mod members;
#[cfg(test)]
mod mock;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
pub mod views;
pub mod weights;

pub use pallet::*;
pub use weights::WeightInfo;

#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is in the other files.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use frame_support::{pallet_prelude::*, traits::fungible, PalletId};
	use frame_system::pallet_prelude::*;
	use trainyard_protocol::{
		job::{Balance, BlockNumber},
		pools::{Enrolled, Pool, PoolId, Rules},
		JobId,
	};
	use trainyard_traits::{PooledClaims, Reputation};

	/// The storage of this pallet's first release.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(1);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs of its runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// The currency of capital and pay.
		type Currency: fungible::Mutate<Self::AccountId, Balance = Balance>;

		/// The market whose claims are enrolled.
		type Claims: PooledClaims<Self::AccountId>;

		/// What trainers did.
		type Reputation: Reputation<Self::AccountId>;

		/// From which the accounts of pools follow.
		#[pallet::constant]
		type PalletId: Get<PalletId>;

		/// Least that a member puts in. It stands for the deposit of its record.
		#[pallet::constant]
		type MinStake: Get<Balance>;

		/// Least and most blocks for which a pool enrols claims at a time.
		#[pallet::constant]
		type MinPeriod: Get<BlockNumber>;
		/// See `MinPeriod`.
		#[pallet::constant]
		type MaxPeriod: Get<BlockNumber>;

		/// Blocks for members to join and leave, between two periods.
		#[pallet::constant]
		type Rest: Get<BlockNumber>;

		/// Weights of the calls and steps.
		type WeightInfo: WeightInfo;
	}

	/// Number of the next pool.
	#[pallet::storage]
	pub type NextPool<T> = StorageValue<_, PoolId, ValueQuery>;

	/// Every pool with a member.
	#[pallet::storage]
	pub type Pools<T: Config> = StorageMap<_, Twox64Concat, PoolId, Pool<T::AccountId>>;

	/// The shares of each member.
	#[pallet::storage]
	pub type Members<T: Config> = StorageDoubleMap<
		_,
		Twox64Concat,
		PoolId,
		Blake2_128Concat,
		T::AccountId,
		Balance,
		ValueQuery,
	>;

	/// The claims that are enrolled, by job and trainer.
	#[pallet::storage]
	pub type Claims<T: Config> =
		StorageDoubleMap<_, Twox64Concat, JobId, Blake2_128Concat, T::AccountId, Enrolled>;

	/// What happened.
	#[pallet::event]
	#[pallet::generate_deposit(pub(super) fn deposit_event)]
	pub enum Event<T: Config> {
		/// A pool was made.
		Created {
			/// Its number.
			pool: PoolId,
			/// Who made it, its first member.
			maker: T::AccountId,
			/// What it says.
			rules: Rules,
		},
		/// Somebody put capital in.
		Joined {
			/// The pool.
			pool: PoolId,
			/// Who.
			who: T::AccountId,
			/// What it put in.
			stake: Balance,
			/// What it has for that.
			shares: Balance,
		},
		/// A member left.
		Left {
			/// The pool.
			pool: PoolId,
			/// Who.
			who: T::AccountId,
			/// What it had back.
			paid: Balance,
		},
		/// The last member has left, and the pool is removed.
		Dissolved {
			/// The pool.
			pool: PoolId,
		},
		/// A trainer enrolled the claim on what it is paid.
		Enrolled {
			/// The pool.
			pool: PoolId,
			/// The job.
			job: JobId,
			/// Who.
			trainer: T::AccountId,
			/// What the pool reserves for it.
			reserve: Balance,
		},
		/// The job of an enrolled claim was settled.
		Settled {
			/// The pool.
			pool: PoolId,
			/// The job.
			job: JobId,
			/// Who trained.
			trainer: T::AccountId,
			/// What the pool was paid.
			got: Balance,
			/// What it paid the trainer.
			paid: Balance,
		},
		/// A trainer could not receive what a pool owed it, since it would stay below the existential deposit: the pool
		/// keeps it.
		Undelivered {
			/// The pool.
			pool: PoolId,
			/// Who.
			trainer: T::AccountId,
			/// How much.
			amount: Balance,
		},
	}

	/// Why calls fail.
	#[pallet::error]
	pub enum Error<T> {
		/// There is no pool with this number, or its last member has left.
		NoSuchPool,
		/// A fee is 0 to 50 percent, a standing at most a million, and a period from `MinPeriod` to `MaxPeriod`.
		BadRules,
		/// A member puts in `MinStake` at least.
		StakeTooSmall,
		/// The stake has fewer shares than the call names: look at the pool again.
		FewerShares,
		/// While claims are enrolled nobody joins or leaves: some may know what they bring. Wait until they are settled;
		/// none is enrolled any more when the period is over.
		ClaimsEnrolled,
		/// The caller is no member.
		NotAMember,
		/// The pool has lost all of its capital: make another one.
		Exhausted,
		/// The pool enrols no claims now: its period is over. Members may join and leave when all claims are settled,
		/// and the next period begins after that.
		Resting,
		/// The record of the trainer counts for less than the pool asks for.
		BadRecord,
		/// The capital that is free does not cover what the claim may cost.
		NotEnoughCapital,
		/// There are no numbers left, or an amount is out of range.
		TooMany,
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Makes a pool with these rules, which stay, and puts `stake` into it. Its account has the existential deposit
		/// from the caller besides.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::create())]
		pub fn create(origin: OriginFor<T>, rules: Rules, stake: Balance) -> DispatchResult {
			let maker = ensure_signed(origin)?;
			Self::do_create(maker, rules, stake)
		}

		/// Puts `stake` into a pool in which no claim is enrolled, for `least` shares at least.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::join())]
		pub fn join(
			origin: OriginFor<T>,
			pool: PoolId,
			stake: Balance,
			least: Balance,
		) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_join(who, pool, stake, least)
		}

		/// Takes the caller's part out of a pool in which no claim is enrolled. The pool is removed with its last member.
		#[pallet::call_index(2)]
		#[pallet::weight(T::WeightInfo::leave())]
		pub fn leave(origin: OriginFor<T>, pool: PoolId) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_leave(who, pool)
		}

		/// Enrols the caller's claim on what it is paid for `job`, which pays by lottery, while that is trained or
		/// revealed. Where its result is found true, the pool pays it the mean less its fee; else the pool passes on what
		/// it is paid, if anything. It cannot be taken back.
		#[pallet::call_index(3)]
		#[pallet::weight(T::WeightInfo::enrol().saturating_add(T::Claims::enrol_weight()))]
		pub fn enrol(origin: OriginFor<T>, pool: PoolId, job: JobId) -> DispatchResult {
			let trainer = ensure_signed(origin)?;
			Self::do_enrol(trainer, pool, job)
		}
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		fn integrity_test() {
			assert!(T::MinPeriod::get() > 0, "MinPeriod must be at least one block");
			assert!(T::MinPeriod::get() <= T::MaxPeriod::get(), "MinPeriod above MaxPeriod");
			assert!(T::MinStake::get() > 0, "MinStake must be more than nothing");
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}
}
