//! The block reward.
//!
//! Block `n` mints `max(R x 2^(-(n - 1) / H), tail)`, rounded to the nearest unit, with
//! [`Config::BlockReward`] as `R`, [`Config::RewardHalfLife`] as `H` and [`Config::RewardTail`] as
//! the tail: it falls a little with every block, by half in `H` blocks, so that there is no day on
//! which the pay of authors drops, and it never ends, so that there is always a reason to make
//! blocks. It goes by height and not by time: what is minted follows from the number of blocks
//! alone. Until the tail is reached, `R H / ln 2` times `1 - tail / R` is minted in all.
//!
//! [`Config::JackpotShare`] of it (rounded down) goes to the jackpot and the rest to the
//! block's author, at the end of the block: an author that did not show the data that its block asked
//! for ([`Config::Data`]) has no part, which is not minted then. A block without a known author mints
//! nothing, nor does a part that the receiving account cannot take (below the existential deposit of
//! an account that does not exist).

use crate::{Config, Event, Pallet, Unpaid, LOG_TARGET};
use frame_support::traits::{fungible::Mutate, Get};
use frame_system::pallet_prelude::BlockNumberFor;
use trainyard_protocol::{
	decay::decayed,
	job::{Balance, BlockNumber},
};
use trainyard_traits::AuthorKeeps;

/// Returns what block `n` mints: `first` halved every `half_life` blocks, at least `tail`.
pub fn scheduled(n: BlockNumber, first: Balance, half_life: BlockNumber, tail: Balance) -> Balance {
	decayed(first, n.saturating_sub(1).into(), half_life.into()).max(tail)
}

impl<T: Config> Pallet<T> {
	/// Returns what block `n` mints.
	pub fn block_reward(n: BlockNumber) -> Balance {
		scheduled(n, T::BlockReward::get(), T::RewardHalfLife::get(), T::RewardTail::get())
	}

	/// Mints `amount` for `who`, and returns what was minted.
	fn mint(who: &T::AccountId, amount: Balance) -> Balance {
		if amount == 0 {
			return 0;
		}
		T::Currency::mint_into(who, amount).unwrap_or_else(|error| {
			log::warn!(target: LOG_TARGET, "{who:?} cannot take {amount}: {error:?}");
			0
		})
	}

	/// Pays for the present block, at its end.
	pub(crate) fn reward() {
		let Some(author) = Unpaid::<T>::take() else { return };
		let whole = Self::block_reward(Self::now());
		let share = T::JackpotShare::get().mul_floor(whole);
		let part = if T::Data::author_keeps() { whole.saturating_sub(share) } else { 0 };
		let reward = Self::mint(&author, part);
		let jackpot = Self::mint(&T::Jackpot::get(), share);
		Self::deposit_event(Event::BlockRewarded { author, reward, jackpot });
	}
}

impl<T: Config> pallet_authorship::EventHandler<T::AccountId, BlockNumberFor<T>> for Pallet<T> {
	fn note_author(author: T::AccountId) {
		Self::note_presence(&author);
		Unpaid::<T>::put(author);
	}
}
