//! The clock: when each federation is looked at next. How due tasks are served is in
//! [`trainyard_pallet_support::agenda`].

use crate::{Agenda, Config, Cursor, Due, Error, Federations, Pallet, WeightInfo};
use frame_support::{ensure, weights::Weight};
use sp_runtime::DispatchError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{federation::FederationId, job::BlockNumber};

impl<T: Config> Clock for Pallet<T> {
	type Runtime = T;
	type Task = FederationId;
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

	fn perform(federation: FederationId) -> Weight {
		Self::advance(federation)
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

	/// Serves an overdue federation now. Returns the weight used.
	pub(crate) fn do_poke(federation: FederationId) -> Result<Weight, DispatchError> {
		ensure!(Federations::<T>::contains_key(federation), Error::<T>::NoSuchFederation);
		ensure!(Self::is_overdue(federation), Error::<T>::NotOverdue);
		Ok(Self::advance(federation))
	}
}
