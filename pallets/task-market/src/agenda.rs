//! The clock: when each job is looked at next.
//!
//! How due jobs are served is in [`trainyard_pallet_support::agenda`]. A job that ended
//! and cannot be challenged any more is on the agenda alone, at the height at which it is forgotten;
//! [`Due`] does not have it any more.

use crate::{Agenda, Config, Cursor, Due, Error, Jobs, Pallet, WeightInfo};
use frame_support::{ensure, traits::Get, weights::Weight};
use sp_runtime::DispatchError;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{job::BlockNumber, JobId, H256};
use trainyard_traits::{AwaitedBlobs, JobObserver};

impl<T: Config> Clock for Pallet<T> {
	type Runtime = T;
	type Task = JobId;
	type Agenda = Agenda<T>;
	type Due = Due<T>;
	type Cursor = Cursor<T>;

	fn look_weight() -> Weight {
		T::WeightInfo::serve(0)
	}

	fn key_weight() -> Weight {
		// In which state the job is says how much it may take.
		T::WeightInfo::serve(1)
			.saturating_sub(T::WeightInfo::serve(0))
			.saturating_add(T::DbWeight::get().reads(1))
	}

	fn worst_task() -> Weight {
		Self::worst_advance()
	}

	fn worst_of(job: JobId) -> Weight {
		Jobs::<T>::get(job).map_or_else(Self::worst_advance, |job| Self::worst_of_state(&job.state))
	}

	fn perform(job: JobId) -> Weight {
		Self::advance(job)
	}
}

impl<T: Config> Pallet<T> {
	/// The present height.
	pub fn now() -> BlockNumber {
		Self::height()
	}

	/// Serves an overdue job now. Returns the weight used.
	pub(crate) fn do_poke(job: JobId) -> Result<Weight, DispatchError> {
		ensure!(Jobs::<T>::contains_key(job), Error::<T>::NoSuchJob);
		ensure!(Self::is_overdue(job), Error::<T>::NotOverdue);
		Ok(T::WeightInfo::look().saturating_add(Self::advance(job)))
	}
}

impl<T: Config> JobObserver for Pallet<T> {
	fn progressed(job: JobId) {
		Self::hasten(job);
	}

	fn revealed(_: JobId, model: &H256) {
		T::Blobs::expect(model);
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_waiting(job: JobId) {
		Self::schedule(job, BlockNumber::MAX);
	}
}
