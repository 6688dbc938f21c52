//! The clock: when each task is looked at next. Removals have another, [`Cleaning`](crate::cleaning). How due tasks are served is in
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
		Self::worst_unit().max(T::WeightInfo::end_review())
	}

	fn perform(task: Task) -> Weight {
		Due::<T>::remove(task);
		match task {
			Task::Review(project) => {
				Self::end_review(project);
				T::WeightInfo::end_review()
			}
			Task::Unit(assignment) => Self::advance(assignment),
		}
	}
}

impl<T: Config> Pallet<T> {
	/// The present height.
	pub fn now() -> BlockNumber {
		Self::height()
	}

	/// Returns the weight that the hook must be allowed, so that every step can be made: the look
	/// at the agenda with the largest task, or the largest batch.
	pub fn worst_step() -> Weight {
		// One look for this height, and one for whether there is another height.
		let look = T::WeightInfo::serve(0);
		let task = Self::worst_task().saturating_add(T::WeightInfo::serve(1));
		let batch = look.saturating_add(look).saturating_add(Self::worst_batch());
		task.max(batch)
	}
}
