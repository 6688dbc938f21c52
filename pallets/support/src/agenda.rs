//! The clock of a pallet: when each task is looked at next, and the bounded service of due tasks.
//!
//! A pallet implements [`Clock`] by naming three storage items, the weights of serving, and what is
//! to be done for a due task. [`Clock::Due`] and [`Clock::Agenda`] hold the same in both
//! directions; a task that only the agenda holds is served once and cannot be moved. Entries lie in
//! the future when they are made, so the heights below [`Clock::Cursor`] are empty and a block
//! looks at its own height only, unless an earlier one was too full to be served in its own block.

use codec::FullCodec;
use frame_support::{
	storage::{IterableStorageDoubleMap, StorageDoubleMap, StorageMap, StorageValue},
	weights::{Weight, WeightMeter},
};
use sp_runtime::SaturatedConversion;
use trainyard_protocol::job::BlockNumber;

/// A pallet in which things have deadlines.
pub trait Clock {
	/// The runtime whose blocks the clock counts.
	type Runtime: frame_system::Config;
	/// What can be due.
	type Task: FullCodec + Copy;
	/// The tasks by the height at which they are looked at.
	type Agenda: IterableStorageDoubleMap<BlockNumber, Self::Task, ()>;
	/// The height at which each task is looked at.
	type Due: StorageMap<Self::Task, BlockNumber, Query = Option<BlockNumber>>;
	/// Least height whose agenda may not be empty.
	type Cursor: StorageValue<BlockNumber, Query = Option<BlockNumber>>;

	/// Returns the weight of looking at a height of the agenda.
	fn look_weight() -> Weight;
	/// Returns the weight of taking one task off the agenda.
	fn key_weight() -> Weight;
	/// Returns the largest weight of [`Clock::perform`].
	fn worst_task() -> Weight;
	/// Returns the largest weight of [`Clock::perform`] for `task`, at most [`Clock::worst_task`]. What
	/// finding that out takes is in [`Clock::key_weight`].
	fn worst_of(_task: Self::Task) -> Weight {
		Self::worst_task()
	}
	/// Does what is due of `task`, which was just taken off the agenda and is still in
	/// [`Clock::Due`] if it was there. Returns the weight used. Adds tasks after the present height
	/// only.
	fn perform(task: Self::Task) -> Weight;

	/// The present height.
	fn height() -> BlockNumber {
		frame_system::Pallet::<Self::Runtime>::block_number().saturated_into()
	}

	/// Puts `task` on the agenda at `at`, or at the next block if that is later, and removes it
	/// from where it was.
	fn schedule(task: Self::Task, at: BlockNumber) {
		Self::unschedule(task);
		let at = at.max(Self::height().saturating_add(1));
		Self::Due::insert(task, at);
		Self::Agenda::insert(at, task, ());
	}

	/// Takes `task` off the agenda.
	fn unschedule(task: Self::Task) {
		if let Some(at) = Self::Due::take(task) {
			Self::Agenda::remove(at, task);
		}
	}

	/// Looks at `task` in the next block, if it would wait longer.
	fn hasten(task: Self::Task) {
		let next = Self::height().saturating_add(1);
		if Self::Due::get(task).is_some_and(|at| at > next) {
			Self::schedule(task, next);
		}
	}

	/// Returns whether `task` should have been served by now.
	fn is_overdue(task: Self::Task) -> bool {
		Self::Due::get(task).is_some_and(|at| at <= Self::height())
	}

	/// Serves the tasks that are due at height `now`, oldest first, as far as `limit` allows.
	/// Returns the weight used, which is at most `limit`. Where that does not allow for a look,
	/// nothing happens.
	fn serve(now: BlockNumber, limit: Weight) -> Weight {
		let mut meter = WeightMeter::with_limit(limit);
		let (look, key) = (Self::look_weight(), Self::key_weight());
		let mut at = Self::Cursor::get().unwrap_or(now);
		if meter.try_consume(look).is_err() {
			Self::Cursor::put(at);
			return Weight::zero();
		}
		'heights: while at <= now {
			// One iterator for a height: it continues after the last key that it returned, which
			// may be removed, and does not go through removed keys again. Tasks add keys after
			// `now` only.
			for task in Self::Agenda::iter_key_prefix(at) {
				// A task that may take much does not keep others waiting that take little: where it
				// does not fit it is first in the next block.
				if !meter.can_consume(Self::worst_of(task).saturating_add(key)) {
					break 'heights;
				}
				meter.consume(key);
				Self::Agenda::remove(at, task);
				meter.consume(Self::perform(task));
			}
			if meter.try_consume(look).is_err() {
				break;
			}
			at = at.saturating_add(1);
		}
		Self::Cursor::put(at);
		meter.consumed()
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use frame_support::{derive_impl, storage_alias, Twox64Concat};
	use proptest::prelude::*;
	use std::{cell::RefCell, collections::BTreeMap};

	#[frame_support::runtime]
	mod runtime {
		#[runtime::runtime]
		#[runtime::derive(RuntimeCall, RuntimeEvent, RuntimeError, RuntimeOrigin, RuntimeTask)]
		pub struct Test;

		#[runtime::pallet_index(0)]
		pub type System = frame_system::Pallet<Test>;
	}

	#[derive_impl(frame_system::config_preludes::TestDefaultConfig)]
	impl frame_system::Config for Test {
		type Block = frame_system::mocking::MockBlock<Test>;
	}

	#[storage_alias]
	type Agenda = StorageDoubleMap<Clocks, Twox64Concat, BlockNumber, Twox64Concat, u8, ()>;
	#[storage_alias]
	type Due = StorageMap<Clocks, Twox64Concat, u8, BlockNumber>;
	#[storage_alias]
	type Cursor = StorageValue<Clocks, BlockNumber>;

	thread_local! {
		/// The tasks served, with the height.
		static SERVED: RefCell<Vec<(BlockNumber, u8)>> = const { RefCell::new(Vec::new()) };
	}

	/// Tasks of weight 10, of which every third comes back after 2 blocks.
	struct Tasks;

	impl Clock for Tasks {
		type Runtime = Test;
		type Task = u8;
		type Agenda = Agenda;
		type Due = Due;
		type Cursor = Cursor;

		fn look_weight() -> Weight {
			Weight::from_parts(1, 0)
		}

		fn key_weight() -> Weight {
			Weight::from_parts(2, 0)
		}

		fn worst_task() -> Weight {
			Weight::from_parts(10, 0)
		}

		fn perform(task: u8) -> Weight {
			Due::remove(task);
			SERVED.with_borrow_mut(|served| served.push((Self::height(), task)));
			if task.is_multiple_of(3) {
				Self::schedule(task, Self::height() + 2);
			}
			Weight::from_parts(10, 0)
		}
	}

	fn run(test: impl FnOnce()) {
		SERVED.with_borrow_mut(Vec::clear);
		sp_io::TestExternalities::default().execute_with(|| {
			// A clock serves every block from the first on.
			System::set_block_number(1);
			Tasks::serve(1, Weight::MAX);
			test();
		});
	}

	/// Serves block `number`; returns the tasks served and the weight used.
	fn block(number: u64, limit: u64) -> (Vec<u8>, u64) {
		System::set_block_number(number);
		SERVED.with_borrow_mut(Vec::clear);
		let used = Tasks::serve(Tasks::height(), Weight::from_parts(limit, u64::MAX)).ref_time();
		(SERVED.with_borrow(|served| served.iter().map(|(_, task)| *task).collect()), used)
	}

	#[test]
	fn a_task_is_served_once_and_at_its_height() {
		run(|| {
			Tasks::schedule(1, 3);
			Tasks::schedule(2, 0);
			assert_eq!(Due::get(2), Some(2), "the next block at the earliest");
			assert_eq!(block(2, 100).0, [2]);
			assert_eq!(block(3, 100).0, [1]);
			assert_eq!(block(4, 100), (vec![], 2));
			assert_eq!(Agenda::iter().count() + Due::iter().count(), 0);
		});
	}

	#[test]
	fn what_does_not_fit_waits_and_the_oldest_go_first() {
		run(|| {
			for (task, at) in [(1, 2), (2, 2), (4, 3)] {
				Tasks::schedule(task, at);
			}
			let (first, used) = block(3, 14);
			assert_eq!((first.len(), used), (1, 13));
			assert!(Tasks::is_overdue(4) && first != [4]);
			let (second, _) = block(4, 14);
			assert!(second.len() == 1 && second != [4]);
			assert_eq!(block(5, 16).0, [4]);
			assert!(!Tasks::is_overdue(4));
		});
	}

	#[test]
	fn without_room_nothing_is_served_and_nothing_is_lost() {
		run(|| {
			Tasks::schedule(1, 2);
			assert_eq!(block(2, 12), (vec![], 1));
			assert_eq!((Cursor::get(), Due::get(1)), (Some(2), Some(2)));
			assert_eq!(block(9, 100).0, [1]);
		});
	}

	#[test]
	fn hastening_moves_what_would_wait_and_nothing_else() {
		run(|| {
			Tasks::hasten(1);
			assert_eq!(Due::get(1), None, "what is not on the agenda stays off it");
			Tasks::schedule(1, 9);
			Tasks::hasten(1);
			assert_eq!(Due::get(1), Some(2));
			System::set_block_number(5);
			Tasks::hasten(1);
			assert_eq!(Due::get(1), Some(2), "what is overdue keeps its place");
			Tasks::unschedule(1);
			assert_eq!(Agenda::iter().count() + Due::iter().count(), 0);
		});
	}

	proptest! {
		/// Whatever is scheduled, moved and served with however little room: both directions
		/// agree, nothing that waits is passed over, and no limit is exceeded.
		#[test]
		fn the_two_directions_agree(
			acts in proptest::collection::vec((0u8..4, any::<u8>(), 0u32..12, 1u64..60), 1..60)
		) {
			run(|| {
				let mut height = 1;
				for (act, task, at, limit) in acts {
					match act {
						0 => Tasks::schedule(task, at),
						1 => Tasks::hasten(task),
						2 => Tasks::unschedule(task),
						_ => {
							height += 1;
							let (_, used) = block(height, limit);
							assert!(used <= limit, "{used} of {limit}");
						}
					}
					let by_height: BTreeMap<u8, u32> =
						Agenda::iter().map(|(at, task, ())| (task, at)).collect();
					let by_task: BTreeMap<u8, u32> = Due::iter().collect();
					assert_eq!(Agenda::iter().count(), by_height.len(), "a task is there twice");
					assert_eq!(by_height, by_task);
					let cursor = Cursor::get().unwrap_or(0);
					assert!(by_task.values().all(|at| *at >= cursor), "a task was passed over");
				}
			});
		}
	}
}
