//! Results that could not be fetched, stored on chain by their trainers.

use crate::{AuditRecords, Config, Error, Event, Pallet, Rescue, H256};
use frame_support::ensure;
use sp_runtime::DispatchResult;
use trainyard_protocol::{audit::AuditPhase, JobId};
use trainyard_traits::{BlobStore, JobObserver};

impl<T: Config> Pallet<T> {
	pub(crate) fn do_rescue(
		who: T::AccountId,
		job: JobId,
		group: u32,
		blob: H256,
	) -> DispatchResult {
		ensure!(T::Blobs::is_complete(&blob), Error::<T>::BlobIncomplete);
		Self::note_rescue(who, job, group, blob)
	}

	/// Notes that the drawn states of `group` are in `blob`. The next committee decides whether
	/// they are the right ones.
	pub(crate) fn note_rescue(
		who: T::AccountId,
		job: JobId,
		group: u32,
		blob: H256,
	) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let AuditPhase::Rescue { until } = audit.phase else {
			return Err(Error::<T>::NotRescuing.into());
		};
		ensure!(Self::now() <= until, Error::<T>::TooLate);
		let found = usize::try_from(group)
			.ok()
			.and_then(|at| audit.groups.get_mut(at))
			.ok_or(Error::<T>::NoSuchGroup)?;
		ensure!(found.trainers.contains(&who), Error::<T>::NotTrainer);
		match found.rescue {
			Rescue::NotNeeded => return Err(Error::<T>::NotAsked.into()),
			Rescue::Stored(_) => return Err(Error::<T>::AlreadyRescued.into()),
			Rescue::Asked => found.rescue = Rescue::Stored(blob),
		}
		AuditRecords::<T>::insert(job, &audit);
		Self::deposit_event(Event::Rescued { job, group, blob, trainer: who });
		if !audit.awaits_rescue() {
			T::Observer::progressed(job);
		}
		Ok(())
	}
}
