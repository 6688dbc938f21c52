//! The deposit for the record of a set. All other money of a set is that of its jobs, and the market's.

use crate::{Config, HoldReason, Pallet};
use frame_support::{
	defensive,
	pallet_prelude::DispatchResult,
	storage::with_storage_layer,
	traits::{fungible::MutateHold, tokens::Precision},
};
use trainyard_protocol::job::Balance;

impl<T: Config> Pallet<T> {
	/// Holds that much of `who` for a record.
	pub(crate) fn hold(who: &T::AccountId, amount: Balance) -> DispatchResult {
		T::Currency::hold(&HoldReason::Record.into(), who, amount)
	}

	/// Releases what was held of `who` for a record.
	pub(crate) fn give_back(who: &T::AccountId, amount: Balance) {
		let reason = HoldReason::Record.into();
		let release = || T::Currency::release(&reason, who, amount, Precision::Exact);
		if with_storage_layer(release).is_err() {
			defensive!("what is held can be released");
		}
	}
}
