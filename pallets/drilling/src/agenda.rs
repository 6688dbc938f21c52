//! The clock: when each task is looked at next, and the bounded service of due tasks.
//!
//! [`Due`] and [`Agenda`] say the same in both directions. Entries lie in the future when they
//! are made, so the heights below [`Cursor`] are empty and a block looks at its own height
//! only, unless an earlier one was too full to be served in its own block.

use crate::{Agenda, Config, Cursor, Due, Pallet, Task, WeightInfo};
use frame_support::weights::{Weight, WeightMeter};
use sp_runtime::SaturatedConversion;
use trainyard_primitives::job::BlockNumber;

impl<T: Config> Pallet<T> {
	/// The present height.
	pub fn now() -> BlockNumber {
		frame_system::Pallet::<T>::block_number().saturated_into()
	}

	/// Puts `task` on the agenda at `at`, at the next block at the earliest, in place of where it
	/// stood.
	pub(crate) fn schedule(task: Task, at: BlockNumber) {
		Self::unschedule(task);
		let at = at.max(Self::now().saturating_add(1));
		Due::<T>::insert(task, at);
		Agenda::<T>::insert(at, task, ());
	}

	/// Takes `task` off the agenda.
	pub(crate) fn unschedule(task: Task) {
		if let Some(at) = Due::<T>::take(task) {
			Agenda::<T>::remove(at, task);
		}
	}

	/// Looks at `task` in the next block, if it would wait longer.
	pub(crate) fn hasten(task: Task) {
		let next = Self::now().saturating_add(1);
		if Due::<T>::get(task).is_some_and(|at| at > next) {
			Self::schedule(task, next);
		}
	}

	/// Weight of looking at one key of the agenda and removing it.
	pub(crate) fn key_weight() -> Weight {
		T::WeightInfo::serve(1).saturating_sub(T::WeightInfo::serve(0))
	}

	/// Weight of the largest task.
	fn worst_task() -> Weight {
		Self::worst_unit().max(T::WeightInfo::end_review()).max(T::WeightInfo::clear())
	}

	/// Weight that the hook must be allowed, so that every step can be made: the look at the
	/// agenda with the largest task, or the largest batch.
	pub fn worst_step() -> Weight {
		// This height is looked at, and whether there is another one.
		let look = T::WeightInfo::serve(0);
		let task = Self::worst_task().saturating_add(T::WeightInfo::serve(1));
		let batch = look.saturating_add(look).saturating_add(Self::worst_batch());
		task.max(batch)
	}

	/// Serves the tasks that are due, oldest first, as far as `limit` allows. Returns the weight
	/// used.
	pub(crate) fn serve(now: BlockNumber, limit: Weight) -> Weight {
		let mut meter = WeightMeter::with_limit(limit);
		let (look, key) = (T::WeightInfo::serve(0), Self::key_weight());
		let worst = Self::worst_task().saturating_add(key);
		meter.consume(look);
		let mut at = Cursor::<T>::get().unwrap_or(now);
		'heights: while at <= now {
			// One iterator for a height: it goes on behind the key that it gave last, which may be
			// removed, and does not wade through removed keys again. Tasks add keys behind `now`
			// only.
			for task in Agenda::<T>::iter_key_prefix(at) {
				if !meter.can_consume(worst) {
					break 'heights;
				}
				meter.consume(key);
				Agenda::<T>::remove(at, task);
				Due::<T>::remove(task);
				meter.consume(Self::perform(task));
			}
			if meter.try_consume(look).is_err() {
				break;
			}
			at = at.saturating_add(1);
		}
		Cursor::<T>::put(at);
		meter.consumed()
	}

	/// Does what is due of `task`, which is not on the agenda any more. Returns the weight used.
	fn perform(task: Task) -> Weight {
		match task {
			Task::Review(project) => {
				Self::end_review(project);
				T::WeightInfo::end_review()
			}
			Task::Unit(assignment) => Self::advance(assignment),
			Task::Clear(project) => {
				Self::clear_by_clock(project);
				T::WeightInfo::clear()
			}
		}
	}
}
