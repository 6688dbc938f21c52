//! The clock: when each task and each dispute is looked at next. How what is due is served is in
//! [`trainyard_pallet_support::agenda`].

use crate::{Agenda, Config, Cursor, Disputes, Due, Error, Pallet, Subject, Tasks, WeightInfo};
use frame_support::{ensure, weights::Weight};
use sp_runtime::DispatchError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::job::BlockNumber;

impl<T: Config> Clock for Pallet<T> {
	type Runtime = T;
	type Task = Subject;
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
		Self::worst_advance().max(T::WeightInfo::end_dispute())
	}

	fn perform(subject: Subject) -> Weight {
		Due::<T>::remove(subject);
		match subject {
			Subject::Task(id) => Self::advance(id),
			Subject::Dispute(id, number) => Self::look_at_dispute(id, number),
		}
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

	/// Serves what is overdue now. Returns the weight used.
	pub(crate) fn do_poke(subject: Subject) -> Result<Weight, DispatchError> {
		match subject {
			Subject::Task(id) => {
				ensure!(Tasks::<T>::contains_key(id), Error::<T>::NoSuchTask);
			}
			Subject::Dispute(id, number) => {
				ensure!(Disputes::<T>::contains_key(id, number), Error::<T>::NoSuchDispute);
			}
		}
		ensure!(Self::is_overdue(subject), Error::<T>::NotOverdue);
		Self::unschedule(subject);
		Ok(Self::perform(subject))
	}
}
