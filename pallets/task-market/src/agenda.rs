//! The clock: when each job is looked at next, and the bounded service of due jobs.
//!
//! [`Due`] and [`Agenda`] say the same in both directions for jobs that have not ended. A job
//! that ended stands on the agenda alone, at the height at which it is forgotten. Entries lie in the future when
//! they are made, so the heights below [`Cursor`] are empty and a block looks at its own
//! height only, unless an earlier one was too full to be served in its own block.

use crate::{Agenda, Config, Cursor, Due, Error, Jobs, Pallet, WeightInfo};
use frame_support::{
	ensure,
	traits::Get,
	weights::{Weight, WeightMeter},
};
use sp_runtime::{DispatchError, SaturatedConversion};
use trainyard_primitives::{job::BlockNumber, traits::JobObserver, JobId};

impl<T: Config> Pallet<T> {
	/// The present height.
	pub fn now() -> BlockNumber {
		frame_system::Pallet::<T>::block_number().saturated_into()
	}

	/// Puts `job` on the agenda at `at`, at the next block at the earliest, in place of where
	/// it stood.
	pub(crate) fn schedule(job: JobId, at: BlockNumber) {
		Self::unschedule(job);
		let at = at.max(Self::now().saturating_add(1));
		Due::<T>::insert(job, at);
		Agenda::<T>::insert(at, job, ());
	}

	/// Takes `job` off the agenda.
	pub(crate) fn unschedule(job: JobId) {
		if let Some(at) = Due::<T>::take(job) {
			Agenda::<T>::remove(at, job);
		}
	}

	/// Weight of looking at one key of the agenda and removing it.
	pub(crate) fn key_weight() -> Weight {
		T::WeightInfo::serve(1).saturating_sub(T::WeightInfo::serve(0))
	}

	/// Serves the jobs that are due, oldest first, as far as `ServiceWeight` allows. Returns
	/// the weight used.
	pub(crate) fn serve(now: BlockNumber) -> Weight {
		let mut meter = WeightMeter::with_limit(T::ServiceWeight::get());
		let (look, key) = (T::WeightInfo::serve(0), Self::key_weight());
		let worst = Self::worst_advance().saturating_add(key);
		meter.consume(look);
		let mut at = Cursor::<T>::get().unwrap_or(now);
		'heights: while at <= now {
			// One iterator for a height: it goes on behind the key that it gave last, which
			// may be removed, and does not wade through removed keys again. `advance` adds
			// keys behind `now` only.
			for job in Agenda::<T>::iter_key_prefix(at) {
				if !meter.can_consume(worst) {
					break 'heights;
				}
				meter.consume(key);
				Agenda::<T>::remove(at, job);
				meter.consume(Self::advance(job));
			}
			if meter.try_consume(look).is_err() {
				break;
			}
			at = at.saturating_add(1);
		}
		Cursor::<T>::put(at);
		meter.consumed()
	}

	/// Serves an overdue job now. Returns the weight used.
	pub(crate) fn do_poke(job: JobId) -> Result<Weight, DispatchError> {
		ensure!(Jobs::<T>::contains_key(job), Error::<T>::NoSuchJob);
		let overdue = Due::<T>::get(job).is_some_and(|at| at <= Self::now());
		ensure!(overdue, Error::<T>::NotOverdue);
		Ok(T::WeightInfo::look().saturating_add(Self::advance(job)))
	}
}

impl<T: Config> JobObserver for Pallet<T> {
	fn progressed(job: JobId) {
		let next = Self::now().saturating_add(1);
		if Due::<T>::get(job).is_some_and(|at| at > next) {
			Self::schedule(job, next);
		}
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_waiting(job: JobId) {
		Self::schedule(job, BlockNumber::MAX);
	}
}
