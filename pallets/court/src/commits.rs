//! Commit, then challenge.
//!
//! A challenge seen in the pool could be copied, and its copy be first. So whoever accuses binds itself
//! before: the commitment names its account, and what it binds is shown a block later at the earliest
//! and [`Config::RevealBlocks`] ticks later at the latest. A commitment that nobody shows costs its
//! deposit, since it held the job for that long. It opens no window again, so commitments one after the
//! other hold nothing longer than the window does.

use crate::{
	clocks::Since, Commitment, CommitmentOf, Commitments, CommittedBy, Config, Convicted,
	DefendantOf, Ending, Error, Event, NextDispute, Opening, Pallet, Standings, Task, WeightInfo,
	Why,
};
use frame_support::{ensure, traits::Get, weights::Weight};
use frame_system::pallet_prelude::BlockNumberFor;
use sp_runtime::{traits::Zero, DispatchError, DispatchResult};
use trainyard_court::game::{Claimed, Target};
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	commitment,
	job::{Balance, BlockNumber},
	JobId, H256,
};
use trainyard_traits::{Accusation, Accused, DisputeId};

impl<T: Config> Pallet<T> {
	pub(crate) fn do_commit(who: T::AccountId, job: JobId, hash: H256) -> DispatchResult {
		ensure!(!CommittedBy::<T>::contains_key(job, &who), Error::<T>::HasCommitted);
		let window = T::Accused::window(job).ok_or(Error::<T>::NotOpen)?;
		let since = Self::moment();
		let is_open = window.is_open(since.height, &Standings::<T>::get(job));
		ensure!(is_open, Error::<T>::NotOpen);
		let deposit = Self::hold_deposit(job, &who)?;
		let id = Self::next_id()?;
		Commitments::<T>::insert(id, Commitment { job, who: who.clone(), hash, since, deposit });
		CommittedBy::<T>::insert(job, &who, id);
		Standings::<T>::mutate(job, |standing| {
			standing.commitments = standing.commitments.saturating_add(1);
		});
		let lapses = since.height.saturating_add(T::RevealBlocks::get()).saturating_add(1);
		Self::schedule(Task::Commitment(id), lapses);
		Self::deposit_event(Event::Committed { id, job, challenger: who, deposit });
		Ok(())
	}

	/// Returns the weight of what that took.
	pub(crate) fn do_challenge(
		who: T::AccountId,
		accusation: Accusation<T::AccountId>,
		salt: [u8; 32],
	) -> Result<Weight, DispatchError> {
		let job = accusation.defendant.job();
		let id = CommittedBy::<T>::get(job, &who).ok_or(Error::<T>::NotCommitted)?;
		let commitment = Commitments::<T>::get(id).ok_or(Error::<T>::NotCommitted)?;
		let Since { height, .. } = commitment.since;
		ensure!(Self::now() > height, Error::<T>::TooEarly);
		ensure!(!Self::has_lapsed(&commitment), Error::<T>::TooLate);
		let Accusation { defendant, target, claimed, .. } = &accusation;
		let shown = Self::digest(&who, defendant, target, claimed, &salt);
		ensure!(shown == commitment.hash, Error::<T>::WrongReveal);
		if Convicted::<T>::contains_key(job, defendant) {
			// Somebody else was first.
			Self::drop_commitment(id, &commitment);
			Self::give_back(Some(id), &who, commitment.deposit, Why::Returned);
			Self::deposit_event(Event::Ended { id, ending: Ending::Moot });
			T::Accused::moved(job);
			// No case was read, and nothing lowered.
			return Ok(T::WeightInfo::challenge());
		}
		let opening = Opening {
			challenger: who,
			committed_at: height,
			deposit: commitment.deposit,
			stake: 0,
		};
		let used = Self::begin(id, opening, accusation)?;
		Self::drop_commitment(id, &commitment);
		Ok(used)
	}

	/// Opens a dispute for a seat, whose stake is its deposit.
	pub(crate) fn do_accuse(
		by: &T::AccountId,
		accusation: Accusation<T::AccountId>,
		committed_at: BlockNumber,
		stake: Balance,
	) -> Result<DisputeId, DispatchError> {
		let defendant = &accusation.defendant;
		let is_convicted = Convicted::<T>::contains_key(defendant.job(), defendant);
		ensure!(!is_convicted, Error::<T>::AlreadyConvicted);
		let id = Self::next_id()?;
		let opening = Opening { challenger: by.clone(), committed_at, deposit: stake, stake };
		Self::begin(id, opening, accusation)?;
		Ok(id)
	}

	/// Takes the deposit of a commitment that nobody showed in time.
	pub(crate) fn lapse(id: DisputeId, commitment: CommitmentOf<T>) {
		let Commitment { job, who, deposit, .. } = &commitment;
		Self::drop_commitment(id, &commitment);
		Self::pay(Some(id), who, &T::Jackpot::get(), *deposit, Why::NotShown);
		Self::deposit_event(Event::Lapsed { id });
		T::Accused::moved(*job);
	}

	/// Forgets a commitment.
	fn drop_commitment(id: DisputeId, commitment: &CommitmentOf<T>) {
		let Commitment { job, who, .. } = commitment;
		Commitments::<T>::remove(id);
		CommittedBy::<T>::remove(job, who);
		Self::unschedule(Task::Commitment(id));
		Standings::<T>::mutate(job, |standing| {
			standing.commitments = standing.commitments.saturating_sub(1);
		});
	}

	/// Gives out a number.
	pub(crate) fn next_id() -> Result<DisputeId, DispatchError> {
		NextDispute::<T>::try_mutate(|next| {
			let id = *next;
			*next = id.checked_add(1).ok_or(Error::<T>::NoNumberLeft)?;
			Ok(id)
		})
	}

	/// Returns what a challenge is committed to by.
	pub fn digest(
		who: &T::AccountId,
		defendant: &DefendantOf<T>,
		target: &Target,
		claimed: &Claimed,
		salt: &[u8; 32],
	) -> H256 {
		let hash = frame_system::Pallet::<T>::block_hash(BlockNumberFor::<T>::zero());
		let mut genesis = [0; 32];
		genesis.iter_mut().zip(hash.as_ref()).for_each(|(to, from)| *to = *from);
		commitment::challenge(&genesis.into(), who, defendant, target, claimed, salt)
	}
}
