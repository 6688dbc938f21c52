//! What is held and moved.
//!
//! | held of | for | and goes |
//! |---|---|---|
//! | the maker | what nobody took of the *stake* of an offer | back when it ends |
//! | the maker, the taker | the *stakes* of a bet | as it is decided: to the winner, back, or of whoever betted on a result that was not stood by to the jackpot |
//! | the maker | the *record* of an offer | back when it is removed, with its last bet |
//! | the taker | the *record* of a bet | back when it ends |
//!
//! What cannot reach whom it belongs to is burned, and no step fails for it.

use crate::{Config, Event, HoldReason, Pallet};
use frame_support::{
	defensive,
	pallet_prelude::DispatchResult,
	storage::with_storage_layer,
	traits::{
		fungible::MutateHold,
		tokens::{Fortitude, Precision, Restriction},
	},
};
use trainyard_protocol::job::Balance;

impl<T: Config> Pallet<T> {
	/// Holds that much of `who`.
	pub(crate) fn hold(reason: HoldReason, who: &T::AccountId, amount: Balance) -> DispatchResult {
		T::Currency::hold(&reason.into(), who, amount)
	}

	/// Releases held money of `who`.
	pub(crate) fn give_back(reason: HoldReason, who: &T::AccountId, amount: Balance) {
		if amount == 0 {
			return;
		}
		let release = || T::Currency::release(&reason.into(), who, amount, Precision::Exact);
		if with_storage_layer(release).is_err() {
			defensive!("what is held can be released");
		}
	}

	/// Moves a stake of `from` to the free balance of `to`, or burns it where that cannot be: an account without the
	/// existential deposit takes nothing that is less.
	pub(crate) fn hand_over(from: &T::AccountId, to: &T::AccountId, amount: Balance) {
		if amount == 0 {
			return;
		}
		if from == to {
			Self::give_back(HoldReason::Stake, from, amount);
			return;
		}
		let moved = with_storage_layer(|| {
			T::Currency::transfer_on_hold(
				&HoldReason::Stake.into(),
				from,
				to,
				amount,
				Precision::Exact,
				Restriction::Free,
				Fortitude::Force,
			)
		});
		if moved.is_err() {
			Self::burn(from, amount);
		}
	}

	/// Burns a stake of `who`.
	fn burn(who: &T::AccountId, amount: Balance) {
		let (reason, precision) = (HoldReason::Stake.into(), Precision::Exact);
		let burn = || T::Currency::burn_held(&reason, who, amount, precision, Fortitude::Force);
		match with_storage_layer(burn) {
			Ok(_) => Self::deposit_event(Event::Burned { who: who.clone(), amount }),
			Err(_) => {
				defensive!("what is held can be burned");
			}
		}
	}
}
