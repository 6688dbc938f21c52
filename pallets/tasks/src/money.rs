//! What is held, paid and lost.
//!
//! | held of | for | and goes |
//! |---|---|---|
//! | the submitter | the *escrow* | a reward to each replica whose claim stands, the fee to an auditor whose claim stands; the rest back |
//! | the submitter | the *record* | back when the task is forgotten |
//! | an applicant | the deposit of a *replica* | back where it was not drawn |
//! | a replica | its deposit | back where its claim stands; a quarter is burned where it did not commit; all where it committed and did not deliver; half to who convicts it, half burned |
//! | who challenges | the *challenge* | back where it was right or another was first; half to those whom it challenged, half burned where it was not |
//!
//! Nothing is minted, and of what a conviction takes half is burned: convicting oneself under another name
//! costs as much. Who committed and does not show loses all, so that seeing an auditor drawn saves nobody.
//!
//! Whatever nobody can be paid, an account without the existential deposit for example, is burned, and no step
//! fails for it.

use crate::{Config, Event, HoldReason, Pallet};
use alloc::vec::Vec;
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
use trainyard_task::TaskId;

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

	/// Moves held money of `from` to the free balance of `to`, or burns it where that cannot be. Returns whether
	/// it was moved.
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
		if amount == 0 {
			return true;
		}
		let moved = with_storage_layer(|| {
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
		.is_ok();
		if !moved {
			Self::burn(reason, from, amount);
		}
		moved
	}

	/// Takes held money of `who`: half in equal parts to those `winners`, the rest burned.
	pub(crate) fn forfeit(
		id: TaskId,
		reason: HoldReason,
		who: &T::AccountId,
		amount: Balance,
		winners: &[T::AccountId],
	) {
		if amount == 0 {
			return;
		}
		let count = Balance::try_from(winners.len()).unwrap_or(Balance::MAX);
		let share = (amount / 2).checked_div(count).unwrap_or(0);
		let mut left = amount;
		for winner in winners.iter().filter(|_| share > 0) {
			left = left.saturating_sub(share);
			if Self::hand_over(reason, who, winner, share) {
				let (who, amount) = (winner.clone(), share);
				Self::deposit_event(Event::Compensated { task: id, who, amount });
			}
		}
		Self::burn(reason, who, left);
		Self::deposit_event(Event::Slashed { task: id, who: who.clone(), amount });
	}

	/// Pays `who` from the escrow. Returns what is left of that.
	pub(crate) fn pay(
		id: TaskId,
		submitter: &T::AccountId,
		escrow: Balance,
		who: &T::AccountId,
		amount: Balance,
	) -> Balance {
		let amount = amount.min(escrow);
		if Self::hand_over(HoldReason::Escrow, submitter, who, amount) {
			Self::deposit_event(Event::Paid { task: id, who: who.clone(), amount });
		}
		escrow.saturating_sub(amount)
	}

	/// Returns the winners once each.
	pub(crate) fn distinct(mut winners: Vec<T::AccountId>) -> Vec<T::AccountId> {
		winners.sort();
		winners.dedup();
		winners
	}
}
