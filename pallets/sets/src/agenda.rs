//! The clock: when each set is looked at next. How due tasks are served is in
//! [`trainyard_pallet_support::agenda`].

use crate::{Agenda, Config, Cursor, Due, Error, Pallet, Sets, WeightInfo};
use frame_support::{ensure, weights::Weight};
use sp_runtime::DispatchError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{job::BlockNumber, sets::SetId};

impl<T: Config> Clock for Pallet<T> {
	type Runtime = T;
	type Task = SetId;
	type Agenda = Agenda<T>;
	type Due = Due<T>;
	type Cursor = Cursor<T>;

	fn look_weight() -> Weight {
		T::WeightInfo::serve(0)
	}

	fn key_weight() -> Weight {
		T::WeightInfo::serve(1).saturating_sub(T::WeightInfo::serve(0))
	}

	fn worst_task() -> Weight {
		Self::worst_advance()
	}

	fn perform(set: SetId) -> Weight {
		Self::advance(set)
	}
}

impl<T: Config> Pallet<T> {
	/// The present height.
	pub fn now() -> BlockNumber {
		Self::height()
	}

	/// Returns the weight that the hook must be allowed, so that every step can be made.
	pub fn worst_step() -> Weight {
		// One look for this height, and one for whether there is another height.
		Self::worst_task()
			.saturating_add(T::WeightInfo::serve(1))
			.saturating_add(T::WeightInfo::serve(0))
	}

	/// Serves an overdue set now. Returns the weight used.
	pub(crate) fn do_poke(set: SetId) -> Result<Weight, DispatchError> {
		ensure!(Sets::<T>::contains_key(set), Error::<T>::NoSuchSet);
		ensure!(Self::is_overdue(set), Error::<T>::NotOverdue);
		Ok(Self::advance(set))
	}
}
