//! What is held, paid and lost.
//!
//! The submitter's *fees* for all aggregates and its deposit for the *record* are held when a federation is
//! opened; the escrow of each job is the market's, and is held when that is posted. Whoever proposes an
//! aggregate has a deposit held until the round has a model: it returns, or, where the proposal was refuted,
//! half of it is the refuter's and half is burned. So who refutes its own proposals loses half of each
//! deposit.

use crate::{Config, HoldReason, Pallet};
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
	pub(crate) fn pay(
		reason: HoldReason,
		from: &T::AccountId,
		to: &T::AccountId,
		amount: Balance,
	) -> bool {
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
		if with_storage_layer(burn).is_err() {
			defensive!("what is held can be burned");
		}
	}
}
