//! Results that could not be fetched, stored on chain by their trainers.

use crate::{Announced, AuditRecords, Config, Error, Event, Pallet, Rescue, Uploading, H256};
use frame_support::{ensure, traits::Get, weights::Weight};
use sp_runtime::DispatchResult;
use trainyard_protocol::{
	audit::AuditPhase,
	job::{BlockNumber, MAX_REPLICAS},
	JobId,
};
use trainyard_traits::{stood_still, AwaitedBlobs, BlobStore, JobObserver};

impl<T: Config> Pallet<T> {
	pub(crate) fn do_rescue(
		who: T::AccountId,
		job: JobId,
		group: u32,
		blob: H256,
	) -> DispatchResult {
		if T::Blobs::is_complete(&blob) {
			Self::note_rescue(who, job, group, blob)
		} else {
			Self::announce_rescue(who, job, group, blob)
		}
	}

	/// Notes that `who` is going to store `blob` as the rescue of `group`, so that blocks have room
	/// for its chunks. The last word of each trainer counts.
	fn announce_rescue(who: T::AccountId, job: JobId, group: u32, blob: H256) -> DispatchResult {
		let audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let AuditPhase::Rescue { until } = audit.phase else {
			return Err(Error::<T>::NotRescuing.into());
		};
		ensure!(Self::now() <= until, Error::<T>::TooLate);
		let found = usize::try_from(group).ok().and_then(|at| audit.groups.get(at));
		let found = found.ok_or(Error::<T>::NoSuchGroup)?;
		ensure!(found.trainers.contains(&who), Error::<T>::NotTrainer);
		match found.rescue {
			Rescue::NotNeeded => return Err(Error::<T>::NotAsked.into()),
			Rescue::Stored(_) => return Err(Error::<T>::AlreadyRescued.into()),
			Rescue::Asked => {}
		}
		T::Blobs::expect(&blob);
		if let Some(other) = Announced::<T>::take(job, &who) {
			T::Blobs::release(&other, &[]);
		}
		Announced::<T>::insert(job, &who, blob);
		Self::deposit_event(Event::RescueAnnounced { job, group, blob, trainer: who });
		Ok(())
	}

	/// Begins a time for rescues. Returns its last block.
	pub(crate) fn begin_rescue(job: JobId, now: BlockNumber) -> BlockNumber {
		let until = now.saturating_add(T::RescueBlocks::get());
		Uploading::<T>::insert(job, (T::Blobs::full_blocks(), now, until));
		until
	}

	/// Returns the last block of a time for rescues, which stands still in blocks that had no room
	/// for another chunk, where one was announced.
	pub(crate) fn rescue_until(job: JobId, until: BlockNumber) -> BlockNumber {
		if Announced::<T>::iter_key_prefix(job).next().is_none() {
			return until;
		}
		let Some((before, since, first)) = Uploading::<T>::get(job) else { return until };
		let full = T::Blobs::full_blocks().saturating_sub(before);
		stood_still(since, first, full).max(until)
	}

	/// Returns the weight of letting all announced blobs go. Benchmarks cannot store them.
	pub(crate) fn rescues_weight() -> Weight {
		let blobs = u64::from(MAX_REPLICAS).saturating_mul(3).saturating_add(2);
		T::DbWeight::get().reads_writes(blobs, blobs)
	}

	/// Lets the blobs go that were announced; those of the trainers are kept for a while.
	pub(crate) fn end_rescues(job: JobId) {
		Uploading::<T>::remove(job);
		for (who, blob) in Announced::<T>::drain_prefix(job) {
			T::Blobs::release(&blob, &[who]);
		}
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
