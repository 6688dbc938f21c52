//! Late proof: for a while after a job is settled, what was accepted can still be challenged.
//!
//! A fifth of the deposit of each trainer whose result was accepted stays locked for
//! [`Config::LateBlocks`], and the [hearing](crate::Hearings) of the job with it. Whoever shows in that
//! time that the result is false has the trainer convicted: the fifth is shared out as any lost deposit,
//! but for the part of the submitter, who has its pay for checking back or had something accepted; the
//! power that the job brought is taken; and what was paid stays paid.
//!
//! The time ends whatever is disputed, so nobody holds it open; what was taken up before that goes on to
//! its end, and until then nothing is released and the record of the job stays. Seats are not accused
//! any more: their stakes are free.

use crate::{
	Agenda, Config, Event, Hearings, HoldReason, Job, Jobs, Late, Lates, Locked, Pallet, WeightInfo,
};
use frame_support::{defensive, traits::Get, weights::Weight, BoundedVec};
use trainyard_protocol::{
	fees::{self, LostShares},
	job::{Balance, BlockNumber, Fate, MAX_REPLICAS},
	reputation::{Deed, Role},
	views::{LateView, LockedView},
	JobId,
};
use trainyard_traits::{Conviction, Court, Defendant, Reputation, TrainerRegistry, Window};

impl<T: Config> Pallet<T> {
	/// Returns what stays locked of a deposit that a trainer would have back, by the fate of its result.
	pub(crate) fn locked(fate: Fate, kept: Balance) -> Balance {
		match fate.is_true() && T::LateBlocks::get() > 0 {
			true => fees::locked_for_late_proof(kept),
			false => 0,
		}
	}

	/// Begins the time for late proof against these trainers of a job that is being settled. Their
	/// deposits stay on hold.
	pub(crate) fn begin_late(id: JobId, trainers: impl Iterator<Item = Locked<T::AccountId>>) {
		let trainers = BoundedVec::truncate_from(trainers.collect());
		if trainers.is_empty() {
			Hearings::<T>::remove(id);
			return;
		}
		let now = Self::now();
		let until = now.saturating_add(T::LateBlocks::get());
		Lates::<T>::insert(id, Late { from: now, until, trainers });
		Self::deposit_event(Event::LateProofOpened { job: id, until });
	}

	/// Returns the window for late proof of a settled job; `None` where nobody can be accused.
	pub fn late_window(job: JobId) -> Option<Window> {
		let late = Lates::<T>::get(job).filter(|late| !late.trainers.is_empty())?;
		Some(Window::once(late.from, late.until))
	}

	/// Returns the job, where the result of `who` was accepted and can still be challenged, or is.
	pub(crate) fn late_accusable(id: JobId, who: &T::AccountId) -> Option<Job<T::AccountId>> {
		let late = Lates::<T>::get(id)?;
		late.trainers.iter().any(|locked| locked.who == *who).then(|| Jobs::<T>::get(id))?
	}

	/// Convicts the trainer `who` of a settled job: takes what is locked of its deposit, and its power.
	/// Nothing happens where it cannot be accused any more.
	pub(crate) fn convict_late(
		id: JobId,
		who: &T::AccountId,
		conviction: &Conviction<T::AccountId>,
	) {
		let (Some(mut late), Some(mut job)) = (Lates::<T>::get(id), Jobs::<T>::get(id)) else {
			return;
		};
		let Some(at) = late.trainers.iter().position(|locked| locked.who == *who) else { return };
		let Locked { deposit: lost, credited, .. } = late.trainers.remove(at);
		Lates::<T>::insert(id, late);
		let challenge = Hearings::<T>::get(id).map_or(0, |hearing| hearing.deposit);
		let shares = LostShares::of(lost, 0, conviction.proven, challenge);
		Self::share_out(id, &job, who, Some(conviction), &shares);
		let settlement = &mut job.settlement;
		for (sum, amount) in [
			(&mut settlement.slashed, lost),
			(&mut settlement.slashed_burned, shares.burned),
			(&mut settlement.slashed_to_finders, shares.finder),
			(&mut settlement.slashed_to_jackpot, shares.jackpot),
		] {
			*sum = sum.saturating_add(amount);
		}
		if let Some((work, at)) = credited {
			T::Trainers::revoke_training(who, work, at);
		}
		if let Some(replica) = job.replicas.iter_mut().find(|replica| replica.trainer == *who) {
			replica.fate = Fate::Revoked;
		}
		Jobs::<T>::insert(id, job);
		let blame = Self::blame_of(id, Role::Trainer);
		T::Reputation::note(Role::Trainer, who, Deed::Convicted, blame);
		let (trainer, finder) = (who.clone(), conviction.finder.clone());
		let second = conviction.second.clone();
		let (proven, found) = (conviction.proven, shares.finder);
		Self::deposit_event(Event::LateConviction {
			job: id,
			trainer,
			finder,
			second,
			proven,
			lost,
			found,
		});
	}

	/// Looks at a settled job with late proof: ends that when its time is over, or nobody is left who
	/// can be accused, and nothing runs. Returns the height of the next look.
	pub(crate) fn look_at_late(
		id: JobId,
		job: &mut Job<T::AccountId>,
		now: BlockNumber,
	) -> (Option<BlockNumber>, Weight) {
		let weight = Self::late_weight();
		let Some(late) = Lates::<T>::get(id) else {
			defensive!("only jobs with late proof are looked at");
			return (None, weight);
		};
		let is_quiet = T::Court::standing(id).is_quiet();
		if now <= late.until && !(late.trainers.is_empty() && is_quiet) {
			return (Some(late.until.saturating_add(1)), weight);
		}
		if !is_quiet {
			// The court says when something ended. If that is never heard, this look comes again.
			let again = Hearings::<T>::get(id).map_or(1, |hearing| hearing.again.max(1));
			return (Some(now.saturating_add(again)), weight);
		}
		Self::end_late(id, job, &late, now);
		(None, weight)
	}

	/// Ends the time for late proof: gives back what is locked, with what challengers lost, and lets what
	/// was said be forgotten.
	fn end_late(
		id: JobId,
		job: &mut Job<T::AccountId>,
		late: &Late<T::AccountId>,
		now: BlockNumber,
	) {
		for locked in &late.trainers {
			let who = locked.who.clone();
			Self::give_back(id, HoldReason::Deposit, &who, locked.deposit);
			let won = T::Court::settle(&Defendant::Trainer { job: id, who }, true);
			job.settlement.won = job.settlement.won.saturating_add(won);
		}
		Lates::<T>::remove(id);
		Hearings::<T>::remove(id);
		T::Court::forget(id);
		job.deadline = job.deadline.max(now.saturating_add(1));
		Agenda::<T>::insert(job.deadline, id, ());
		Self::deposit_event(Event::LateProofOver { job: id });
	}

	/// Returns the weight of one [`Self::look_at_late`] at worst.
	pub(crate) fn late_weight() -> Weight {
		let trainers = u64::from(MAX_REPLICAS);
		T::WeightInfo::end_late()
			.saturating_add(T::Court::standing_weight())
			.saturating_add(T::Court::settle_weight().saturating_mul(trainers))
			.saturating_add(T::Court::forget_weight())
	}

	/// Returns what clients see of late proof of a job.
	pub(crate) fn late_view(id: JobId) -> Option<LateView<T::AccountId>> {
		let Late { until, trainers, .. } = Lates::<T>::get(id)?;
		let open = Self::now() <= until && !trainers.is_empty();
		let view = |locked: Locked<_>| LockedView { trainer: locked.who, locked: locked.deposit };
		Some(LateView { until, open, trainers: trainers.into_iter().map(view).collect() })
	}
}
