//! How disputes end, what becomes moot by that, and how what was said in them is forgotten.

use crate::{
	Aside, Closing, Commitments, Config, Convicted, DefendantOf, DisputeOf, Disputes, Dockets,
	Ending, Error, Event, Opened, Pallet, Posts, Standings, Suits, Task, Why, Won, ACQUIT_STEP,
	CLOSE_STEP, FORGET_STEP,
};
use alloc::vec::Vec;
use frame_support::{ensure, traits::Get};
use sp_runtime::{DispatchError, DispatchResult};
use trainyard_court::game::Level;
use trainyard_pallet_support::agenda::Clock;
use trainyard_protocol::{
	job::Balance,
	reputation::{Deed, Role},
	JobId,
};
use trainyard_traits::{Accused, Conviction, Defendant, DisputeId, JobDeeds};

impl<T: Config> Pallet<T> {
	/// Returns a dispute that has not ended, and in which it matters what happens.
	pub(crate) fn running(id: DisputeId) -> Result<DisputeOf<T>, DispatchError> {
		let dispute = Self::read(id).ok_or(Error::<T>::NoDispute)?;
		let defendant = &dispute.defendant;
		let is_convicted = Convicted::<T>::contains_key(defendant.job(), defendant);
		ensure!(!is_convicted, Error::<T>::AlreadyConvicted);
		Ok(dispute)
	}

	/// Ends a dispute of the caller: it gives up. What was set aside costs nothing, and neither does
	/// what is moot, or about a claim that is gone.
	pub(crate) fn do_withdraw(who: T::AccountId, id: DisputeId) -> DispatchResult {
		let dispute = Self::read(id).ok_or(Error::<T>::NoDispute)?;
		ensure!(dispute.challenger == who, Error::<T>::NotChallenger);
		let defendant = &dispute.defendant;
		let ending = if Convicted::<T>::contains_key(defendant.job(), defendant)
			|| T::Accused::case(defendant).is_none()
		{
			Ending::Moot
		} else {
			ensure!(!Self::is_over(&dispute), Error::<T>::TooLate);
			match dispute.aside {
				true => Ending::TakenBack,
				false => Ending::Withdrawn,
			}
		};
		Self::end(id, dispute, ending);
		Ok(())
	}

	/// Ends a dispute.
	pub(crate) fn end(id: DisputeId, dispute: DisputeOf<T>, ending: Ending) {
		let defendant = &dispute.defendant;
		let job = defendant.job();
		let (finder, second) = Self::finders(id, &dispute, &ending);
		Self::unschedule(Task::Dispute(id));
		Disputes::<T>::remove(id);
		let target = dispute.stage.subject.target;
		Suits::<T>::remove((defendant, &dispute.challenger, target));
		Self::uncount(&dispute);
		if let Ending::Convicted { .. } = ending {
			Convicted::<T>::insert(job, defendant, Some(id));
		}
		Self::leave(id, &dispute);
		Standings::<T>::mutate(job, |standing| {
			standing.disputes = standing.disputes.saturating_sub(1);
			if ending != Ending::Moot {
				standing.ended = Some(Self::now());
			}
		});
		Self::note_deeds(&dispute, &ending, finder.clone(), second.clone());
		match ending {
			Ending::Convicted { by_clock } => {
				Self::return_deposit(id, &dispute);
				let conviction = Conviction { dispute: id, finder, second, proven: !by_clock };
				Self::pay_finders(id, defendant, &conviction);
				T::Accused::convict(defendant, &conviction);
				Self::close_later(id, defendant);
			}
			Ending::Acquitted { .. } | Ending::Withdrawn => Self::lose_deposit(id, &dispute),
			Ending::TakenBack | Ending::Moot | Ending::Forced => Self::return_deposit(id, &dispute),
		}
		Self::deposit_event(Event::Ended { id, ending });
		T::Accused::moved(job);
	}

	/// Notes what a dispute that ends leaves in the records of both sides. What became of who is convicted is
	/// noted where it pays for it.
	fn note_deeds(
		dispute: &DisputeOf<T>,
		ending: &Ending,
		finder: T::AccountId,
		second: Option<T::AccountId>,
	) {
		let defendant = &dispute.defendant;
		let job = defendant.job();
		match ending {
			Ending::Convicted { .. } => {
				for who in core::iter::once(finder).chain(second) {
					T::Deeds::note(job, Role::Challenger, &who, Deed::Done);
				}
			}
			Ending::Acquitted { .. } | Ending::Withdrawn => {
				T::Deeds::note(job, Role::Challenger, &dispute.challenger, Deed::Failed);
				if let Ending::Acquitted { .. } = ending {
					let role = match defendant {
						Defendant::Trainer { .. } => Role::Trainer,
						Defendant::Seat { .. } => Role::Verifier,
					};
					T::Deeds::note(job, role, defendant.who(), Deed::Wronged);
				}
			}
			Ending::TakenBack | Ending::Moot | Ending::Forced => {}
		}
	}

	/// Returns who is paid for a conviction, and who has a half of that. What was posted serves all
	/// disputes, so somebody could follow another one's denials and bring the openings first: where a piece
	/// was proved, the finder is the oldest challenger whose dispute came to the same piece.
	///
	/// A friend of the defendant can be the oldest, and do nothing before others come. So a half goes to the
	/// first of them in whose dispute something happened all the time: nobody stood still for longer than a
	/// challenge takes to be shown. It cannot be all of it: the defendant can be silent to let the dispute
	/// of an honest challenger stand still, and wake for a friend that came then.
	fn finders(
		id: DisputeId,
		dispute: &DisputeOf<T>,
		ending: &Ending,
	) -> (T::AccountId, Option<T::AccountId>) {
		let own = dispute.challenger.clone();
		let level = &dispute.stage.level;
		let is_proved = *ending == (Ending::Convicted { by_clock: false });
		if !is_proved || !matches!(level, Level::Judge { .. }) {
			return (own, None);
		}
		let (now, idle) = (Self::now(), T::RevealBlocks::get());
		let mut oldest = (dispute.age(id), own.clone());
		let mut wakeful = (dispute.wakeful(id, now, idle), own);
		let docket = Dockets::<T>::get(&dispute.defendant);
		for entry in docket.entries().iter().filter(|entry| entry.id() != id) {
			let Some(other) = Disputes::<T>::get(entry.id()) else { continue };
			if other.stage.level != *level {
				continue;
			}
			let since = other.wakeful(entry.id(), now, idle);
			if entry.age < oldest.0 {
				oldest = (entry.age, other.challenger.clone());
			}
			if since < wakeful.0 {
				wakeful = (since, other.challenger);
			}
		}
		let (finder, second) = (oldest.1, wakeful.1);
		let second = (second != finder).then_some(second);
		(finder, second)
	}

	/// Ends all disputes of a defendant that lost, in the next blocks.
	fn close_later(id: DisputeId, defendant: &DefendantOf<T>) {
		let is_alone = !Dockets::<T>::contains_key(defendant)
			&& Aside::<T>::iter_prefix(defendant).next().is_none();
		if !is_alone {
			Closing::<T>::insert(id, defendant);
			Self::schedule(Task::Close(id), 0);
		}
	}

	/// Ends some of the disputes of a defendant that lost. Comes back for the others.
	pub(crate) fn close_some(id: DisputeId, defendant: &DefendantOf<T>) {
		let docket = Dockets::<T>::get(defendant);
		let inside = docket.entries().iter().map(|entry| entry.id());
		let outside = Aside::<T>::iter_prefix(defendant).map(|(_, id)| id);
		let some: Vec<DisputeId> = inside.chain(outside).take(CLOSE_STEP).collect();
		for id in &some {
			if let Some(dispute) = Disputes::<T>::get(id) {
				Self::end(*id, dispute, Ending::Moot);
			}
		}
		match some.len() < CLOSE_STEP {
			true => Closing::<T>::remove(id),
			false => Self::schedule(Task::Close(id), 0),
		}
	}

	/// Says what became of a defendant that the court did not convict: the deposits that were lost
	/// against it go to it, or to the jackpot.
	pub(crate) fn do_settle(defendant: &DefendantOf<T>, acquitted: bool) -> Balance {
		let job = defendant.job();
		if acquitted {
			let (amount, _) = Self::take_won(defendant);
			Self::give_back(None, defendant.who(), amount, Why::Acquitted);
			return amount;
		}
		let amount = Self::pay_won(defendant, &T::Jackpot::get(), Why::NoFinder);
		if !Convicted::<T>::contains_key(job, defendant) {
			Convicted::<T>::insert(job, defendant, None::<DisputeId>);
			if let Ok(id) = Self::next_id() {
				Self::close_later(id, defendant);
			}
		}
		amount
	}

	/// Gives some of the seats of `job` what challengers lost against them. Comes back for the others.
	/// Whoever was convicted has nothing there any more, and what trainers won is settled with their
	/// deposits.
	pub(crate) fn acquit_some(job: JobId) {
		let won = Won::<T>::iter_key_prefix(job);
		let seats = won.filter(|defendant| matches!(defendant, Defendant::Seat { .. }));
		let some: Vec<DefendantOf<T>> = seats.take(ACQUIT_STEP).collect();
		for seat in &some {
			Self::do_settle(seat, true);
		}
		if some.len() == ACQUIT_STEP {
			Self::schedule(Task::Acquit(job), 0);
		}
	}

	/// Forgets what was said about `job`.
	pub(crate) fn do_forget(job: JobId) {
		Standings::<T>::remove(job);
		Self::forget_some(job);
	}

	/// Removes a part of what was said about `job`. Comes back for the rest.
	pub(crate) fn forget_some(job: JobId) {
		let posts = Posts::<T>::clear_prefix((job,), FORGET_STEP, None);
		let mut left = FORGET_STEP.saturating_sub(posts.loops);
		let mut is_done = posts.maybe_cursor.is_none();
		if is_done {
			let opened = Opened::<T>::clear_prefix((job,), left, None);
			left = left.saturating_sub(opened.loops);
			is_done = opened.maybe_cursor.is_none();
		}
		if is_done {
			is_done = Convicted::<T>::clear_prefix(job, left, None).maybe_cursor.is_none();
		}
		if !is_done {
			Self::schedule(Task::Forget(job), 0);
		}
	}

	/// Returns whether a commitment or a dispute has this number.
	pub fn is_open(id: DisputeId) -> bool {
		Commitments::<T>::contains_key(id) || Disputes::<T>::contains_key(id)
	}
}
