//! What accounts did in jobs, in fees that were burned.
//!
//! A [`Record`] has, for one account in one [`Role`], five sums: what it did, what it did too late, what failed, what
//! it was convicted of, and where others accused it wrongly. Each deed counts as what its job burned for it, since
//! that is what a made-up job costs whoever pays itself ([`trainyard_protocol::reputation`] has the rules). All
//! sums decay by half in four weeks.
//!
//! Other pallets say what happened, through [`Reputation`](trainyard_traits::Reputation): the market what became of
//! replicas, seats and jobs, verification and the court who was late, contrary or convicted. The only thing that
//! follows on chain is how often a trainer is drawn among those that apply; nothing is paid and nothing is proved by
//! a record.
//!
//! Besides, the pallet counts who watches, and what that brings ([`trainyard_protocol::watch`]; the file `watching.rs`
//! has it).
//!
//! A record has no deposit: a job paid for it when it burned its fee, or somebody lost a deposit. When all of it has
//! decayed anybody can [forget](Pallet::forget) it.

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
#[cfg(test)]
mod mock;
#[cfg(test)]
mod tests;
#[cfg(any(feature = "std", feature = "try-runtime"))]
mod try_state;
mod watching;
pub mod weights;

use alloc::vec::Vec;
use frame_support::weights::Weight;
use sp_runtime::traits::SaturatedConversion;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	reputation::{Deed, Record, Role},
	watch::Prizes,
};

pub use pallet::*;
pub use weights::WeightInfo;

#[frame_support::pallet]
// The macros' own code calls `expect`; the work of this pallet is below.
#[allow(clippy::expect_used)]
pub mod pallet {
	use super::*;
	use frame_support::pallet_prelude::*;
	use frame_system::pallet_prelude::*;

	/// Version of the layout of this pallet's storage.
	const STORAGE_VERSION: StorageVersion = StorageVersion::new(1);

	#[pallet::pallet]
	#[pallet::storage_version(STORAGE_VERSION)]
	pub struct Pallet<T>(_);

	/// What the pallet needs from the runtime.
	#[pallet::config]
	pub trait Config: frame_system::Config<RuntimeEvent: From<Event<Self>>> {
		/// Weights of the call and of what other pallets ask.
		type WeightInfo: WeightInfo;
	}

	/// What is known of an account in a role, as it was at its last deed.
	#[pallet::storage]
	pub type Records<T: Config> = StorageDoubleMap<
		_,
		Blake2_128Concat,
		T::AccountId,
		Twox64Concat,
		Role,
		Record,
		OptionQuery,
	>;

	/// Who said in which watch that it looks, in this one and the last; others are being removed.
	#[pallet::storage]
	pub type Watching<T: Config> =
		StorageDoubleMap<_, Twox64Concat, u32, Blake2_128Concat, T::AccountId, (), OptionQuery>;

	/// How many that are, by watch.
	#[pallet::storage]
	pub type Alive<T: Config> = StorageMap<_, Twox64Concat, u32, u32, ValueQuery>;

	/// The first watch of which something may be left.
	#[pallet::storage]
	pub type Oldest<T: Config> = StorageValue<_, u32, ValueQuery>;

	/// What finders were paid.
	#[pallet::storage]
	pub type Found<T: Config> = StorageValue<_, Prizes, ValueQuery>;

	#[pallet::event]
	#[pallet::generate_deposit(pub(crate) fn deposit_event)]
	pub enum Event<T: Config> {
		/// An account did something that is remembered.
		Noted {
			/// The account.
			who: T::AccountId,
			/// As what it did it.
			role: Role,
			/// What it did.
			deed: Deed,
			/// What that counts as.
			weight: Balance,
		},
		/// A record that had decayed was forgotten.
		Forgotten {
			/// The account.
			who: T::AccountId,
			/// The role.
			role: Role,
		},
		/// An account looks at results of others in this watch.
		Watches {
			/// The account.
			who: T::AccountId,
			/// The watch.
			watch: u32,
		},
	}

	#[pallet::error]
	pub enum Error<T> {
		/// There is no record of this account in this role.
		NoRecord,
		/// The record has not decayed below 0.001 TRY: it goes on.
		StillCounts,
		/// The account has said in this watch that it looks. A watch is 2,400 blocks.
		HasSaidSo,
	}

	#[pallet::call]
	impl<T: Config> Pallet<T> {
		/// Removes a record that has decayed to less than 0.001 TRY. Anybody may do it.
		#[pallet::call_index(0)]
		#[pallet::weight(T::WeightInfo::forget())]
		pub fn forget(origin: OriginFor<T>, role: Role, who: T::AccountId) -> DispatchResult {
			ensure_signed(origin)?;
			let record = Records::<T>::get(&who, role).ok_or(Error::<T>::NoRecord)?;
			ensure!(record.aged(Self::now()).is_spent(), Error::<T>::StillCounts);
			Records::<T>::remove(&who, role);
			Self::deposit_event(Event::Forgotten { who, role });
			Ok(())
		}

		/// Says that the caller looks at results of others in the watch that runs. It says so again in the next one, as
		/// long as it does.
		#[pallet::call_index(1)]
		#[pallet::weight(T::WeightInfo::watch())]
		pub fn watch(origin: OriginFor<T>) -> DispatchResult {
			let who = ensure_signed(origin)?;
			Self::do_watch(who)
		}
	}

	#[pallet::hooks]
	impl<T: Config> Hooks<BlockNumberFor<T>> for Pallet<T> {
		fn on_initialize(_: BlockNumberFor<T>) -> Weight {
			Self::clear_old()
		}

		#[cfg(feature = "try-runtime")]
		fn try_state(_: BlockNumberFor<T>) -> Result<(), sp_runtime::TryRuntimeError> {
			Self::do_try_state()
		}
	}
}

impl<T: Config> Pallet<T> {
	/// The present height.
	pub(crate) fn now() -> BlockNumber {
		frame_system::Pallet::<T>::block_number().saturated_into()
	}

	/// Returns what is known of `who` now, by role; roles without a record are left out.
	pub fn records_of(who: &T::AccountId) -> Vec<(Role, Record)> {
		let now = Self::now();
		let record = |role| Some((role, Records::<T>::get(who, role)?.aged(now)));
		Role::ALL.into_iter().filter_map(record).collect()
	}
}

impl<T: Config> trainyard_traits::Reputation<T::AccountId> for Pallet<T> {
	fn note(role: Role, who: &T::AccountId, deed: Deed, weight: Balance) {
		if weight == 0 {
			return;
		}
		Records::<T>::mutate(who, role, |record| {
			*record = Some(record.unwrap_or_default().with(deed, weight, Self::now()));
		});
		Self::deposit_event(Event::Noted { who: who.clone(), role, deed, weight });
	}

	fn record(role: Role, who: &T::AccountId) -> Record {
		Records::<T>::get(who, role).unwrap_or_default().aged(Self::now())
	}

	fn found(prize: Balance) {
		if prize > 0 {
			Found::<T>::mutate(|found| *found = found.with(prize, Self::now()));
		}
	}

	fn note_weight() -> Weight {
		T::WeightInfo::note()
	}
}
