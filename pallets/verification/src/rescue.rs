//! Windows in which trainers store on chain what others lack, and lose if they do not.

use crate::{
	pieces::About, Asked, AuditOf, AuditRecords, Config, Error, Event, Group, Kept, KeptBlob,
	NamedState, NamedStates, Pallet, ShownLeaves, Uploading, H256, MAX_KEPT, MAX_STRANGERS,
	MAX_WINDOWS,
};
use alloc::vec::Vec;
use frame_support::{ensure, traits::Get, weights::Weight};
use sp_runtime::DispatchResult;
use trainyard_protocol::{
	audit::{AuditPhase, Decision},
	blob,
	job::{BlockNumber, MAX_REPLICAS},
	pieces::Answer,
	JobId,
};
use trainyard_traits::{stood_still, AwaitedBlobs, JobObserver};

impl<T: Config> Pallet<T> {
	pub(crate) fn do_rescue(
		who: T::AccountId,
		job: JobId,
		group: u32,
		answers: &[Answer],
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
		let trainer = found.trainers.iter().position(|trainer| *trainer == who);
		let trainer = trainer.ok_or(Error::<T>::NotTrainer)?;
		let result = found.result_of(trainer).ok_or(Error::<T>::NotTrainer)?;
		ensure!(found.is_asked() && !answers.is_empty(), Error::<T>::NotAsked);
		let tensors = Self::tensors_of(job, answers.iter().map(Answer::piece));
		let about = About { job, group, result, sizes: &sizes, tensors: &tensors };
		let (mut is_new, mut named) = (false, Vec::new());
		for answer in answers {
			let piece = answer.piece();
			let asked = found.asked.iter_mut().find(|asked| asked.piece == piece && !asked.stored);
			let asked = asked.ok_or(Error::<T>::NotAsked)?;
			if asked.is_answered_by(trainer) {
				continue;
			}
			is_new = true;
			let stored = Self::take_answer(&about, &who, answer)?;
			if let Answer::State { leaf, blob } = answer {
				named.push(NamedState { leaf: leaf.clone(), blob: *blob, stored });
			}
			if stored {
				asked.answer(trainer);
				let trainer = who.clone();
				Self::deposit_event(Event::Rescued { job, group, piece, trainer });
			}
		}
		ensure!(is_new, Error::<T>::AlreadyRescued);
		Self::keep_named(job, &who, named);
		AuditRecords::<T>::insert(job, &audit);
		if !audit.awaits_rescue() {
			T::Observer::progressed(job);
		}
		Ok(())
	}

	/// Returns whether `who` delivered this result and has not answered with everything that is asked for
	/// of it.
	pub fn awaits_answer(job: JobId, group: u32, who: &T::AccountId) -> bool {
		let Some(audit) = AuditRecords::<T>::get(job) else { return false };
		let found = usize::try_from(group).ok().and_then(|at| audit.groups.get(at));
		let in_time = matches!(audit.phase, AuditPhase::Rescue { .. });
		found.filter(|group| in_time && group.is_asked()).is_some_and(|group| {
			let trainer = group.trainers.iter().position(|trainer| trainer == who);
			let waits = |at| group.asked.iter().any(|a| !a.stored && !a.is_answered_by(at));
			trainer.is_some_and(waits)
		})
	}

	/// Takes back the announcement of a blob. Returns the bytes of it that `who` itself stored since
	/// then: bytes of others, or from before, have cost it nothing, and nothing is counted twice.
	pub(crate) fn unwatch(who: &T::AccountId, blob: &H256, keepers: &[T::AccountId]) -> u64 {
		let brought = T::Blobs::brought(blob, who);
		T::Blobs::release(blob, keepers);
		brought
	}

	/// Opens the window in which the trainers store what is still lacking.
	pub(crate) fn open_rescue(job: JobId, audit: &mut AuditOf<T>, now: BlockNumber) {
		Self::make_room_to_store(job, audit);
		let asked = audit.groups.iter().filter(|group| group.is_asked());
		let bytes = asked.fold(0u64, |sum, group| sum.saturating_add(group.open_bytes()));
		if audit.window.is_none() {
			audit.windows = audit.windows.saturating_add(1).min(MAX_WINDOWS);
		}
		let blocks = blob::rescue_blocks(bytes, T::RescueBlocks::get());
		// Each trainer computes what it lacks of its own result, all at the same time.
		let asked = audit.groups.iter().filter(|group| group.is_asked());
		let again = |group: &Group<_>| {
			audit.recompute.blocks_of(group.open_states(), group.result.segments)
		};
		let again = asked.map(again).max().unwrap_or_default();
		let until = now.saturating_add(blocks).saturating_add(again);
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
		let (byte, sizes) = (audit.storage_byte, audit.sizes);
		for at in 0..audit.groups.len() as u32 {
			let Some(group) = audit.groups.get(at as usize).filter(|group| group.is_asked()) else {
				continue;
			};
			let is_lost = |asked: &Asked| !asked.stored && asked.answered == 0;
			let lost = group.asked.iter().any(is_lost);
			// Whose result is lost is paid for nothing that it stored.
			let shares = if lost { Vec::new() } else { Self::shares(job, group, byte) };
			Self::close_claims(job, audit, at, lost, &shares);
			let Some(group) = audit.groups.get_mut(at as usize) else { continue };
			if lost {
				group.asked.retain(|asked| asked.stored);
			} else {
				group.note_stored(&sizes);
			}
			Self::decide(job, audit, |index, _| {
				(index == at && lost).then_some(Decision::Unavailable)
			});
		}
		// Of what was decided meanwhile nobody stores anything: what was prepaid returns.
		Self::drop_open_claims(job, audit);
		Self::drop_announced(job);
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

	/// Returns the weight of letting all blobs and leaves go that an audit named, and of settling what was
	/// asked for. Benchmarks cannot store them.
	pub(crate) fn rescues_weight() -> Weight {
		let trainers = u64::from(MAX_REPLICAS);
		let blobs = trainers.saturating_mul(MAX_KEPT.into());
		let claims =
			u64::from(trainyard_protocol::job::MAX_VERIFIERS.saturating_add(MAX_STRANGERS));
		// Of each blob its name, its record and the count of what was brought; of each trainer the leaves
		// that it showed and named, and what it stored, where room is made, where a window closes and at the end; of each claimant its claims, its hold
		// and two accounts.
		let accesses = blobs
			.saturating_mul(3)
			.saturating_add(trainers.saturating_mul(5))
			.saturating_add(claims.saturating_mul(5));
		T::DbWeight::get().reads_writes(accesses, accesses)
	}

	/// Forgets which states trainers named: nobody is accused of one any more.
	pub(crate) fn forget_named(job: JobId) {
		let _ = NamedStates::<T>::clear_prefix(job, MAX_REPLICAS, None);
	}

	/// Lets the blobs go that trainers named; their own are kept for a while.
	pub(crate) fn end_rescues(job: JobId) {
		Uploading::<T>::remove(job);
		let _ = ShownLeaves::<T>::clear_prefix(job, MAX_REPLICAS, None);
		for (who, blobs) in Kept::<T>::drain_prefix(job) {
			for KeptBlob { root, .. } in blobs {
				let Some(root) = root else { continue };
				Self::unwatch(&who, &root, core::slice::from_ref(&who));
			}
		}
	}
}
