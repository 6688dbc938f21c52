//! The clock: when each report is looked at next. How due tasks are served is in
//! [`trainyard_pallet_support::agenda`].

use crate::{Agenda, Config, Cursor, Due, Pallet, Task, WeightInfo};
use frame_support::weights::Weight;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::job::BlockNumber;

impl<T: Config> Clock for Pallet<T> {
	type Runtime = T;
	type Task = Task;
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
		Self::worst_report()
	}

	fn perform(task: Task) -> Weight {
		Due::<T>::remove(task);
		Self::advance(task.0)
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
}
