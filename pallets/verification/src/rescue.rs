//! Windows in which trainers store on chain what others lack, and lose if they do not.

use crate::{
	Announced, AuditOf, AuditRecords, Config, Error, Event, Group, Kept, KeptBlob, Pallet, Storer,
	Uploading, ALL_WINDOWS, H256, MAX_STRANGERS, MAX_WINDOWS,
};
use alloc::vec::Vec;
use frame_support::{ensure, traits::Get, weights::Weight};
use sp_runtime::DispatchResult;
use trainyard_protocol::{
	audit::{leaves_fit, AuditPhase, Decision, Leaves, Piece, PieceSizes},
	blob,
	fees::half_of_storing,
	job::{Balance, BlockNumber, MAX_REPLICAS},
	JobId,
};
use trainyard_traits::{stood_still, AwaitedBlobs, BlobStore, JobObserver};

impl<AccountId> Group<AccountId> {
	/// Returns what is asked for and is not on chain.
	pub(crate) fn open_pieces(&self) -> impl Iterator<Item = Piece> + '_ {
		self.asked.iter().filter(|asked| !asked.stored).map(|asked| asked.piece)
	}

	/// Returns what was asked for and is on chain.
	pub(crate) fn stored_pieces(&self) -> impl Iterator<Item = Piece> + '_ {
		self.asked.iter().filter(|asked| asked.stored).map(|asked| asked.piece)
	}

	/// Returns the most bytes that what is asked for has, in an archive.
	pub(crate) fn open_bytes(&self, sizes: &PieceSizes) -> u64 {
		// The index of the archive is there also where no manifest is asked for.
		let index =
			if self.open_pieces().any(|p| p == Piece::Manifest) { 0 } else { sizes.manifest };
		sizes.sum(self.open_pieces(), self.result.segments).saturating_add(index)
	}
}

impl<T: Config> Pallet<T> {
	pub(crate) fn do_rescue(
		who: T::AccountId,
		job: JobId,
		group: u32,
		blob: H256,
		leaves: Leaves,
	) -> DispatchResult {
		let complete = T::Blobs::is_complete(&blob);
		let size = T::Blobs::size(&blob);
		Self::note_rescue(who, job, group, blob, leaves, size.filter(|_| complete))
	}

	/// Notes that what is asked for of `group` is in `blob`, or, where `size` is none, that `who` is
	/// going to store it there, so that blocks have room for its chunks. The leaves must be under the
	/// revealed root; whether the states in the blob are those, the seats find out.
	pub(crate) fn note_rescue(
		who: T::AccountId,
		job: JobId,
		group: u32,
		blob: H256,
		leaves: Leaves,
		size: Option<u64>,
	) -> DispatchResult {
		let mut audit = AuditRecords::<T>::get(job).ok_or(Error::<T>::NoAudit)?;
		let AuditPhase::Rescue { until } = audit.phase else {
			return Err(Error::<T>::NotRescuing.into());
		};
		ensure!(Self::now() <= until, Error::<T>::TooLate);
		let sizes = audit.sizes;
		let found = usize::try_from(group)
			.ok()
			.and_then(|at| audit.groups.get_mut(at))
			.ok_or(Error::<T>::NoSuchGroup)?;
		ensure!(found.trainers.contains(&who), Error::<T>::NotTrainer);
		ensure!(found.decision.is_none() && found.is_asked(), Error::<T>::NotAsked);
		let stored = found.storers.iter().any(|other| other.trainer == who && other.size > 0);
		ensure!(!stored, Error::<T>::AlreadyRescued);
		let pieces: Vec<Piece> = found.open_pieces().collect();
		ensure!(leaves_fit(&leaves, &pieces, &found.result), Error::<T>::WrongLeaves);
		let most = found.open_bytes(&sizes);
		let Some(size) = size else {
			let known = T::Blobs::size(&blob);
			ensure!(known.is_none_or(|size| size <= most), Error::<T>::RescueTooLarge);
			if Announced::<T>::get(job, &who) != Some(blob) {
				if let Some(other) = Announced::<T>::take(job, &who) {
					Self::unwatch(&who, &other, &[]);
				}
				T::Blobs::expect(&blob);
				T::Blobs::watch(&blob, &who);
				Announced::<T>::insert(job, &who, blob);
			}
			Self::deposit_event(Event::RescueAnnounced { job, group, blob, trainer: who });
			return Ok(());
		};
		ensure!(size <= most, Error::<T>::RescueTooLarge);
		// It is awaited until the audit ends, once.
		T::Blobs::expect(&blob);
		let paid = match Announced::<T>::take(job, &who) {
			Some(announced) => {
				let brought = Self::unwatch(&who, &announced, core::slice::from_ref(&who));
				if announced == blob {
					brought
				} else {
					0
				}
			}
			None => 0,
		};
		match found.storers.iter_mut().find(|other| other.trainer == who) {
			Some(storer) => (storer.size, storer.paid) = (size, paid),
			None => {
				let storer = Storer { trainer: who.clone(), size, paid };
				found.storers.try_push(storer).map_err(|_| Error::<T>::NotTrainer)?;
			}
		}
		// Of an archive no court says what is in it.
		let state = match pieces.as_slice() {
			[Piece::State(at)] => Some(*at),
			_ => None,
		};
		Kept::<T>::mutate(job, &who, |kept| {
			// One in each window, and there are no more windows.
			let _ = kept.try_push(KeptBlob { root: blob, state });
		});
		AuditRecords::<T>::insert(job, &audit);
		Self::deposit_event(Event::Rescued { job, group, blob, trainer: who });
		if !audit.awaits_rescue() {
			T::Observer::progressed(job);
		}
		Ok(())
	}

	/// Takes back the announcement of a blob. Returns the bytes of it that `who` itself stored since
	/// then: bytes of others, or from before, have cost it nothing, and nothing is counted twice.
	fn unwatch(who: &T::AccountId, blob: &H256, keepers: &[T::AccountId]) -> u64 {
		let brought = T::Blobs::brought(blob, who);
		T::Blobs::release(blob, keepers);
		brought
	}

	/// Opens the window in which the trainers store what is still lacking.
	pub(crate) fn open_rescue(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		let sizes = audit.sizes;
		let mut bytes = 0u64;
		for group in audit.groups.iter_mut().filter(|group| group.is_asked()) {
			group.storers.iter_mut().for_each(|storer| (storer.size, storer.paid) = (0, 0));
			bytes = bytes.saturating_add(group.open_bytes(&sizes));
		}
		if audit.window.is_none() {
			audit.windows = audit.windows.saturating_add(1).min(MAX_WINDOWS);
		}
		let blocks = blob::rescue_blocks(bytes, T::RescueBlocks::get());
		let until = now.saturating_add(blocks);
		Uploading::<T>::insert(job, (T::Blobs::full_blocks(), now, until));
		audit.relay = None;
		audit.phase = AuditPhase::Rescue { until };
		Self::deposit_event(Event::RescueOpened { job, until });
	}

	/// Returns the last block of a time for rescues, which stands still in blocks that had no room for
	/// another chunk, or for the transactions that announce one.
	pub(crate) fn rescue_until(job: JobId, until: BlockNumber) -> BlockNumber {
		let Some((before, since, first)) = Uploading::<T>::get(job) else { return until };
		let full = T::Blobs::full_blocks().saturating_sub(before);
		stood_still(since, first, full).max(until)
	}

	/// Ends the window: a result of which nobody stored what was asked for is lost. The committee keeps
	/// its seats and goes on, or results stand on; nothing is drawn.
	pub(crate) fn close_rescue(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		Uploading::<T>::remove(job);
		let byte = audit.storage_byte;
		for at in 0..audit.groups.len() as u32 {
			let Some(group) = audit.groups.get(at as usize).filter(|group| group.is_asked()) else {
				continue;
			};
			let stored = group.storers.iter().any(|storer| storer.size > 0);
			// Each has the half for its own bytes, as far as they are no more than was asked for, whatever
			// another one stored beside them.
			let most = audit.sizes.sum(group.open_pieces(), group.result.segments);
			let shares: Vec<(T::AccountId, Balance)> = group
				.storers
				.iter()
				.map(|storer| (storer, half_of_storing(storer.paid.min(most), byte).unwrap_or(0)))
				.filter(|(_, half)| *half > 0)
				.map(|(storer, half)| (storer.trainer.clone(), half))
				.collect();
			Self::close_claims(job, audit, at, &shares);
			let Some(group) = audit.groups.get_mut(at as usize) else { continue };
			if stored {
				group.asked.iter_mut().for_each(|asked| asked.stored = true);
			} else {
				group.asked.retain(|asked| asked.stored);
			}
			Self::decide(job, audit, |index, _| {
				(index == at && !stored).then_some(Decision::Unavailable)
			});
		}
		// Of what was decided meanwhile nobody stores anything: what was prepaid returns.
		Self::drop_open_claims(job, audit);
		for (who, blob) in Announced::<T>::drain_prefix(job) {
			Self::unwatch(&who, &blob, &[]);
		}
		if let Some(window) = audit.window {
			audit.phase = AuditPhase::Standing { until: window.until };
			Self::open_again(audit, now);
			return;
		}
		let until = Self::open_commit(audit, now);
		if !audit.is_decided() {
			Self::deposit_event(Event::CommitReopened { job, until });
		}
	}

	/// Opens the time for commitments; returns its last block. Claims can put it off to the time for
	/// them and for another replay, and no further.
	pub(crate) fn open_commit(audit: &mut AuditOf<T>, now: BlockNumber) -> BlockNumber {
		let until = now.saturating_add(audit.time);
		let more = T::RelayBlocks::get().saturating_add(audit.time);
		audit.latest = until.saturating_add(more);
		audit.phase = AuditPhase::Committing { until };
		until
	}

	/// Returns the weight of letting all blobs go that an audit named, and of settling what was asked
	/// for. Benchmarks cannot store them.
	pub(crate) fn rescues_weight() -> Weight {
		let blobs =
			u64::from(MAX_REPLICAS).saturating_mul(u64::from(ALL_WINDOWS).saturating_add(1));
		let claims =
			u64::from(trainyard_protocol::job::MAX_VERIFIERS.saturating_add(MAX_STRANGERS));
		// Of each blob its name and its record; of each claimant its claims, its hold and two accounts.
		let accesses = blobs.saturating_mul(3).saturating_add(claims.saturating_mul(5));
		T::DbWeight::get().reads_writes(accesses, accesses)
	}

	/// Lets the blobs go that trainers named; their own are kept for a while.
	pub(crate) fn end_rescues(job: JobId) {
		Uploading::<T>::remove(job);
		for (who, blob) in Announced::<T>::drain_prefix(job) {
			Self::unwatch(&who, &blob, core::slice::from_ref(&who));
		}
		for (who, blobs) in Kept::<T>::drain_prefix(job) {
			for blob in blobs {
				T::Blobs::release(&blob.root, core::slice::from_ref(&who));
			}
		}
	}
}
