//! Trainers' standing offers, and jobs ordered through them.

use crate::{Config, Error, Event, Listing, Listings, Pallet, SweptListing, WeightInfo};
use frame_support::{ensure, pallet_prelude::DispatchResult, traits::Get, weights::Weight};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	job::{Balance, BlockNumber, Terms},
	price::LEAST_STAY,
};
use trainyard_traits::TrainerRegistry;

/// Most blocks for the trainer of an ordered job to apply: as many as the least place costs. Longer than that
/// a submitter and its own trainer would hold the fee of the day, and take it where it rises.
pub const ORDER_BLOCKS: BlockNumber = LEAST_STAY;

impl<T: Config> Pallet<T> {
	pub(crate) fn do_post_listing(trainer: T::AccountId, listing: Listing) -> DispatchResult {
		ensure!(T::Trainers::is_trainer(&trainer), Error::<T>::NotATrainer);
		ensure!(listing.price_per_ut > 0, Error::<T>::ZeroPrice);
		ensure!(listing.max_work > 0, Error::<T>::ZeroWork);
		let (price_per_ut, max_work) = (listing.price_per_ut, listing.max_work);
		Listings::<T>::insert(&trainer, listing);
		Self::deposit_event(Event::ListingPosted { trainer, price_per_ut, max_work });
		Ok(())
	}

	pub(crate) fn do_remove_listing(trainer: T::AccountId) -> DispatchResult {
		ensure!(Listings::<T>::take(&trainer).is_some(), Error::<T>::NotListed);
		Self::deposit_event(Event::ListingRemoved { trainer });
		Ok(())
	}

	/// Returns the largest weight of one [`Self::sweep_listings`].
	fn sweep_weight() -> Weight {
		T::WeightInfo::remove_listing().saturating_add(T::DbWeight::get().reads_writes(2, 1))
	}

	/// Looks at the next listing, if there is `room` for that, and removes it where its trainer has
	/// left: it must not come back when the trainer registers again. Returns the weight used.
	pub(crate) fn sweep_listings(room: Weight) -> Weight {
		let weight = Self::sweep_weight();
		if !weight.all_lte(room) {
			return Weight::zero();
		}
		let next = match SweptListing::<T>::get() {
			Some(last) => {
				Listings::<T>::iter_keys_from(Listings::<T>::hashed_key_for(&last)).next()
			}
			None => Listings::<T>::iter_keys().next(),
		};
		if let Some(trainer) = next.as_ref().filter(|trainer| !T::Trainers::is_trainer(trainer)) {
			Listings::<T>::remove(trainer);
			Self::deposit_event(Event::ListingRemoved { trainer: trainer.clone() });
		}
		SweptListing::<T>::set(next);
		weight
	}

	pub(crate) fn do_order(
		submitter: T::AccountId,
		trainer: T::AccountId,
		spec: JobSpec,
		terms: Terms,
		max_fee_per_ut: Balance,
	) -> DispatchResult {
		let listing = Listings::<T>::get(&trainer).ok_or(Error::<T>::NotListed)?;
		ensure!(T::Trainers::is_trainer(&trainer), Error::<T>::NotATrainer);
		ensure!(submitter != trainer, Error::<T>::SubmitterCannotTrain);
		ensure!(terms.replicas == 1, Error::<T>::BadReplicas);
		ensure!(terms.apply_blocks <= ORDER_BLOCKS, Error::<T>::BadPeriods);
		ensure!(terms.price_per_ut >= listing.price_per_ut, Error::<T>::PriceBelowListing);
		let spec = Self::checked(spec)?;
		let quote = Self::checked_quote(&spec, &terms)?;
		ensure!(quote.fee_per_ut <= max_fee_per_ut, Error::<T>::FeeRose);
		ensure!(quote.work <= listing.max_work, Error::<T>::WorkAboveListing);
		Self::post(submitter, Some(trainer), spec, terms, quote)
	}
}
