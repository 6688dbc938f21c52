//! The life of a round.

use crate::{Config, Entry, Error, Event, Pallet, Phase, Round, Rounds};
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use frame_support::{ensure, pallet_prelude::*, BoundedVec};
use sp_runtime::traits::Zero;
use trainyard_protocol::{commitment, job::Reveal, JobId, H256};
use trainyard_traits::{JobObserver, Submissions};

impl<T: Config> Pallet<T> {
	pub(crate) fn do_commit(job: JobId, trainer: T::AccountId, commitment: H256) -> DispatchResult {
		let complete = Rounds::<T>::try_mutate(job, |slot| -> Result<bool, DispatchError> {
			let round = slot.as_mut().ok_or(Error::<T>::NoRound)?;
			let phase = round.phase;
			let entry = round.entry_mut(&trainer).ok_or(Error::<T>::NotATrainer)?;
			ensure!(phase == Phase::Committing, Error::<T>::NotCommitting);
			entry.commitment = Some(commitment);
			Ok(round.is_complete())
		})?;
		Self::deposit_event(Event::Committed { job, trainer, commitment });
		if complete {
			T::Observer::progressed(job);
		}
		Ok(())
	}

	pub(crate) fn do_reveal(
		job: JobId,
		trainer: T::AccountId,
		reveal: Reveal,
		salt: [u8; 32],
	) -> DispatchResult {
		let result = reveal.result();
		let complete = Rounds::<T>::try_mutate(job, |slot| -> Result<bool, DispatchError> {
			let round = slot.as_mut().ok_or(Error::<T>::NoRound)?;
			let phase = round.phase;
			let possible = round.takes(&result);
			let entry = round.entry_mut(&trainer).ok_or(Error::<T>::NotATrainer)?;
			ensure!(phase == Phase::Revealing, Error::<T>::NotRevealing);
			let committed = entry.commitment.ok_or(Error::<T>::NothingCommitted)?;
			ensure!(entry.reveal.is_none(), Error::<T>::AlreadyRevealed);
			ensure!(reveal.location.is_server(), Error::<T>::BadLocation);
			let genesis = Self::genesis_hash();
			let shown = commitment::result(&genesis, job, &trainer, &result, &salt);
			ensure!(shown == committed, Error::<T>::RevealMismatch);
			ensure!(possible, Error::<T>::WrongSegments);
			entry.reveal = Some(reveal);
			Ok(round.is_complete())
		})?;
		Self::deposit_event(Event::Revealed { job, trainer, result });
		T::Observer::revealed(job, &result.model_root);
		if complete {
			T::Observer::progressed(job);
		}
		Ok(())
	}

	/// Returns the hash of block 0, which names the chain. The system pallet never prunes it.
	pub fn genesis_hash() -> H256 {
		frame_system::Pallet::<T>::block_hash(
			frame_system::pallet_prelude::BlockNumberFor::<T>::zero(),
		)
	}

	/// Checks the invariants of this pallet's storage.
	#[cfg(any(feature = "std", feature = "try-runtime"))]
	pub fn do_try_state() -> Result<(), sp_runtime::TryRuntimeError> {
		for (_, round) in Rounds::<T>::iter() {
			ensure!(!round.entries.is_empty(), "a round without trainers");
			let mut reveals = round.entries.iter().filter_map(|entry| entry.reveal.as_ref());
			ensure!(
				reveals.all(|reveal| round.takes(&reveal.result())),
				"a result claims segments that no result of its job can have"
			);
			for (i, entry) in round.entries.iter().enumerate() {
				ensure!(
					!round
						.entries
						.iter()
						.skip(i.saturating_add(1))
						.any(|e| e.trainer == entry.trainer),
					"a trainer stands twice in a round"
				);
				ensure!(
					entry.reveal.is_none() || entry.commitment.is_some(),
					"something was revealed that was not committed"
				);
				ensure!(
					entry.reveal.is_none() || round.phase != Phase::Committing,
					"something was revealed while commitments were taken"
				);
			}
		}
		Ok(())
	}
}

impl<T: Config> Submissions<T::AccountId> for Pallet<T> {
	fn open(
		job: JobId,
		trainers: &[T::AccountId],
		segments: RangeInclusive<u32>,
	) -> DispatchResult {
		ensure!(!Rounds::<T>::contains_key(job), Error::<T>::RoundExists);
		let distinct =
			trainers.iter().enumerate().all(|(i, t)| !trainers.iter().take(i).any(|u| u == t));
		ensure!(distinct && !trainers.is_empty(), Error::<T>::BadTrainers);
		let entries: Vec<_> = trainers
			.iter()
			.map(|trainer| Entry { trainer: trainer.clone(), commitment: None, reveal: None })
			.collect();
		let entries = BoundedVec::try_from(entries).map_err(|_| Error::<T>::BadTrainers)?;
		let (least_segments, most_segments) = segments.into_inner();
		let phase = Phase::Committing;
		Rounds::<T>::insert(job, Round { phase, entries, least_segments, most_segments });
		Self::deposit_event(Event::RoundOpened { job });
		Ok(())
	}

	fn open_reveals(job: JobId) -> Vec<T::AccountId> {
		let opened = Rounds::<T>::mutate_extant(job, |round| {
			let opens = round.phase == Phase::Committing;
			if opens {
				round.phase = Phase::Revealing;
			}
			opens
		});
		let committed: Vec<_> = Self::commitments(job).into_iter().map(|(who, _)| who).collect();
		if opened {
			Self::deposit_event(Event::RevealsOpened { job, committed: committed.len() as u32 });
		}
		committed
	}

	fn is_complete(job: JobId) -> bool {
		Rounds::<T>::get(job).is_some_and(|round| round.is_complete())
	}

	fn close(job: JobId) -> Vec<(T::AccountId, Reveal)> {
		let closed = Rounds::<T>::mutate_extant(job, |round| {
			let closes = round.phase != Phase::Closed;
			round.phase = Phase::Closed;
			closes
		});
		let reveals = Self::reveals(job);
		if closed {
			Self::deposit_event(Event::RoundClosed { job, revealed: reveals.len() as u32 });
		}
		reveals
	}

	fn reveals(job: JobId) -> Vec<(T::AccountId, Reveal)> {
		Rounds::<T>::get(job)
			.map(|round| {
				round
					.entries
					.into_iter()
					.filter_map(|e| e.reveal.map(|reveal| (e.trainer, reveal)))
					.collect()
			})
			.unwrap_or_default()
	}

	fn commitments(job: JobId) -> Vec<(T::AccountId, H256)> {
		let entries = Rounds::<T>::get(job).map(|round| round.entries).unwrap_or_default();
		entries.into_iter().filter_map(|e| Some((e.trainer, e.commitment?))).collect()
	}

	fn remove(job: JobId) {
		Rounds::<T>::remove(job);
	}
}
