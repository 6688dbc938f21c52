//! The block reward: every block mints [`Config::BlockReward`], for ever the same, of
//! which [`Config::JackpotShare`] (rounded down) goes to the jackpot and the rest to the
//! block's author. A block without a known author mints nothing.
//!
//! A part that the receiving account cannot take (below the existential deposit of an
//! account that does not exist) is not minted.

use crate::{Config, Event, Pallet, LOG_TARGET};
use frame_support::traits::{fungible::Mutate, Get};
use frame_system::pallet_prelude::BlockNumberFor;
use trainyard_primitives::job::Balance;

impl<T: Config> Pallet<T> {
	/// Mints `amount` for `who`; what was minted.
	fn mint(who: &T::AccountId, amount: Balance) -> Balance {
		if amount == 0 {
			return 0;
		}
		T::Currency::mint_into(who, amount).unwrap_or_else(|error| {
			log::warn!(target: LOG_TARGET, "{who:?} cannot take {amount}: {error:?}");
			0
		})
	}

	/// Pays for the present block.
	fn reward(author: &T::AccountId) {
		let whole = T::BlockReward::get();
		let share = T::JackpotShare::get().mul_floor(whole);
		let reward = Self::mint(author, whole.saturating_sub(share));
		let jackpot = Self::mint(&T::Jackpot::get(), share);
		Self::deposit_event(Event::BlockRewarded { author: author.clone(), reward, jackpot });
	}
}

impl<T: Config> pallet_authorship::EventHandler<T::AccountId, BlockNumberFor<T>> for Pallet<T> {
	fn note_author(author: T::AccountId) {
		Self::reward(&author);
		Self::note_presence(&author);
	}
}
