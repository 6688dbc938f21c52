//! What is taken from trainers.
//!
//! A bond that was slashed below [`Config::MinBond`] ends its trainer's candidacy, and the
//! trainer takes no new work, until it bonds more.

use crate::{Config, HoldReason, Pallet, Trainers, LOG_TARGET};
use frame_support::traits::{
	fungible::MutateHold,
	tokens::{Fortitude, Precision, Restriction},
	Get,
};
use trainyard_protocol::job::Balance;

impl<T: Config> Pallet<T> {
	/// Moves up to `amount` of the bond of `who` to `to`, and returns what was moved. It is 0 only
	/// for strangers, and where `to` does not exist and `amount` cannot create it: then the bond
	/// keeps that dust.
	pub(crate) fn take_bond(who: &T::AccountId, amount: Balance, to: &T::AccountId) -> Balance {
		let Some(mut trainer) = Trainers::<T>::get(who) else { return 0 };
		let taken = T::Currency::transfer_on_hold(
			&HoldReason::Bond.into(),
			who,
			to,
			amount.min(trainer.bond),
			Precision::BestEffort,
			Restriction::Free,
			Fortitude::Force,
		)
		.unwrap_or_else(|error| {
			log::warn!(
				target: LOG_TARGET,
				"a slash of {amount} from {who:?} could not be moved: {error:?}",
			);
			0
		});
		trainer.bond = trainer.bond.saturating_sub(taken);
		let too_small = trainer.bond < T::MinBond::get();
		Trainers::<T>::insert(who, trainer);
		if too_small {
			Self::retire(who);
		}
		taken
	}
}
