//! Trainers' standing offers, and jobs ordered through them.

use crate::{Config, Error, Event, Listing, Listings, Pallet};
use frame_support::{ensure, pallet_prelude::DispatchResult};
use trainyard_primitives::{job::Terms, spec::JobSpec, traits::TrainerRegistry};

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

	pub(crate) fn do_order(
		submitter: T::AccountId,
		trainer: T::AccountId,
		spec: JobSpec,
		terms: Terms,
	) -> DispatchResult {
		let listing = Listings::<T>::get(&trainer).ok_or(Error::<T>::NotListed)?;
		ensure!(T::Trainers::is_trainer(&trainer), Error::<T>::NotATrainer);
		ensure!(submitter != trainer, Error::<T>::SubmitterCannotTrain);
		ensure!(terms.replicas == 1, Error::<T>::BadReplicas);
		ensure!(terms.price_per_ut >= listing.price_per_ut, Error::<T>::PriceBelowListing);
		let quote = Self::checked_quote(&spec, &terms)?;
		ensure!(quote.work <= listing.max_work, Error::<T>::WorkAboveListing);
		Self::post(submitter, Some(trainer), spec, terms, quote)
	}
}
