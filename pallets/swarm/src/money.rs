//! What is held, paid and lost.
//!
//! | held of | for | and goes |
//! |---|---|---|
//! | the opener | the *budget* | to claimants, by shares to whoever contributed to outer steps, or back in the end |
//! | the opener | the *record* | back when the swarm is forgotten |
//! | an owner of slices | each *slice* | back when it was shown; half to claimants and half burned where it was withheld |
//! | a peer | its record | back when it leaves |
//! | a peer | its *purse* | to makers whose claims stand; the rest back when it leaves |
//! | a claimant | stake and fee of each *claim* | as [`crate::settling`] says |
//! | a challenger | the *challenge* | back where it was right, or the market did not measure; else burned |
//!
//! Whatever nobody can be paid, an account without the existential deposit for example, is burned or stays
//! with its owner, and no step fails for it.

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

	/// Moves held money of `from` to the free balance of `to`. Returns whether it could be: an account without
	/// the existential deposit takes nothing that is less.
	pub(crate) fn hand_over(
		reason: HoldReason,
		from: &T::AccountId,
		to: &T::AccountId,
		amount: Balance,
	) -> bool {
		if from == to {
			Self::give_back(reason, from, amount);
			return true;
		}
		with_storage_layer(|| {
			T::Currency::transfer_on_hold(
				&reason.into(),
				from,
				to,
				amount,
				Precision::Exact,
				Restriction::Free,
				Fortitude::Force,
			)
		})
		.is_ok()
	}

	/// Burns held money of `who`.
	pub(crate) fn burn(reason: HoldReason, who: &T::AccountId, amount: Balance) {
		if amount == 0 {
			return;
		}
		let (precision, force) = (Precision::Exact, Fortitude::Force);
		let burn = || T::Currency::burn_held(&reason.into(), who, amount, precision, force);
		match with_storage_layer(burn) {
			Ok(_) => Self::deposit_event(Event::Burned { who: who.clone(), amount }),
			Err(_) => {
				defensive!("what is held can be burned");
			}
		}
	}
}
