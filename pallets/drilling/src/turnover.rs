//! How the pool of drillers changes: slowly, so that nobody buys it.
//!
//! An owner of most of the pool has most of the groups to itself. So a newcomer enters at once only as
//! far as the *inflow* of the turn (a day) has room for it; the others wait. At the end of a turn those
//! with the largest bonds enter, into free places, or into those of drillers of whose bonds theirs are
//! 1.25 times, and no more than [`Config::TurnoverShare`] of the pool is displaced.
//!
//! Whoever left or was dismissed returns at once within [`Config::ReturnBlocks`] if there is a place: a
//! restart is no change. Only who was in the pool for as long before may, so nobody collects claims to
//! return outside of the pool and uses them in one block; an owner of identities that come and go has
//! at most twice as many in the pool at once as it has on average.
//!
//! A driller that was given no unit for a whole turn, in which others were, weighs nothing then, whatever its bond: places are
//! for those who work.
//!
//! A driller that is displaced finishes what it works on, and leaves then whatever it wishes. Its place
//! goes to the *heirs*, those who displaced a driller at work, in the order in which they did. It comes
//! back as a newcomer. Its bond is the trainer's, and nothing here holds it.

use crate::{
	Choices, Coming, Config, Driller, Error, Event, Former, Heirs, Inflow, Pallet, Pool, Ready,
	Waiting,
};
use alloc::vec::Vec;
use core::cmp::Reverse;
use frame_support::{defensive, ensure, pallet_prelude::DispatchResult, traits::Get, BoundedVec};
use trainyard_pallet_support::turnover::{displaces, Allowance};
use trainyard_protocol::{
	drill::Chosen,
	job::{Balance, BlockNumber},
};
use trainyard_traits::Drillers;

impl<T: Config> Pallet<T> {
	/// Returns how many drillers may enter, and how many may be displaced, in a whole turn.
	fn turn_allowance() -> Allowance {
		let least = Balance::from(T::FreeInflow::get());
		Allowance::of(Pool::<T>::count().into(), T::TurnoverShare::get(), least)
	}

	pub(crate) fn do_enlist(who: T::AccountId, projects: Chosen) -> DispatchResult {
		ensure!(T::Drillers::is_trainer(&who), Error::<T>::NotATrainer);
		Self::check_choice(&projects)?;
		if let Some(mut driller) = Pool::<T>::get(&who) {
			ensure!(driller.retiring && !driller.displaced, Error::<T>::AlreadyEnlisted);
			driller.retiring = false;
			Pool::<T>::insert(&who, driller);
			Self::choose_from_now(&who, &projects);
			Self::deposit_event(Event::Enlisted { driller: who });
			return Ok(());
		}
		let mut waiting = Waiting::<T>::get();
		let waits = waiting.iter().any(|(other, _)| *other == who);
		ensure!(!waits && !Heirs::<T>::get().contains(&who), Error::<T>::AlreadyEnlisted);
		let mut inflow = Inflow::<T>::get().map_or_else(Self::turn_allowance, Allowance::left_over);
		let room = Pool::<T>::count() < T::MaxDrillers::get();
		let returns = Former::<T>::get(&who).is_some_and(Self::is_lately);
		if room && (returns || (waiting.is_empty() && inflow.take(1) == 1)) {
			Inflow::<T>::put(inflow.left());
			Choices::<T>::insert(&who, projects);
			Self::take_in(who);
			return Ok(());
		}
		let bond = T::Drillers::bond(&who);
		if waiting.is_full() {
			Self::drop_weakest(&mut waiting, bond)?;
		}
		waiting.try_push((who.clone(), bond)).map_err(|_| Error::<T>::PoolFull)?;
		Waiting::<T>::put(waiting);
		Choices::<T>::insert(&who, projects);
		Self::deposit_event(Event::Waits { driller: who });
		Ok(())
	}

	/// Drops the smallest bond of those who wait, if it is smaller than `bond`.
	fn drop_weakest(
		waiting: &mut BoundedVec<(T::AccountId, Balance), T::MaxDrillers>,
		bond: Balance,
	) -> Result<(), Error<T>> {
		let bonds = waiting.iter().map(|(_, bond)| *bond).enumerate();
		let weakest = bonds.min_by_key(|(_, bond)| *bond).filter(|(_, weakest)| *weakest < bond);
		let (at, _) = weakest.ok_or(Error::<T>::PoolFull)?;
		let (driller, _) = waiting.remove(at);
		Choices::<T>::remove(&driller);
		Self::deposit_event(Event::Retired { driller });
		Ok(())
	}

	/// Takes `who` out of those who wait. Returns whether it did.
	pub(crate) fn stop_waiting(who: &T::AccountId) -> bool {
		Waiting::<T>::mutate(|waiting| {
			let at = waiting.iter().position(|(other, _)| other == who);
			at.map(|at| waiting.remove(at)).is_some()
		})
	}

	/// Takes `who` out of those who get the place of a displaced driller. Returns whether it did.
	pub(crate) fn give_up_claim(who: &T::AccountId) -> bool {
		Heirs::<T>::mutate(|heirs| {
			let at = heirs.iter().position(|other| other == who);
			at.map(|at| heirs.remove(at)).is_some()
		})
	}

	/// Notes that `who`, which was `driller`, is not in the pool any more: it may return, or whoever
	/// displaced it has its place.
	pub(crate) fn vacated(who: T::AccountId, driller: Option<Driller>) {
		Choices::<T>::remove(&who);
		Coming::<T>::remove(&who);
		let Some(Driller { displaced, since, .. }) = driller else { return };
		let now = Self::now();
		if displaced {
			Self::admit_heir();
		} else if now >= since.saturating_add(T::ReturnBlocks::get()) {
			// Whoever was there for a moment only has used up what it had earned before.
			Former::<T>::insert(who, now);
		}
	}

	/// Gives the place of a displaced driller, which is free now, to the first of the heirs that is
	/// still a trainer.
	fn admit_heir() {
		let mut heirs = Heirs::<T>::get();
		let first = heirs.iter().position(T::Drillers::is_trainer);
		// Those before it are no trainers any more.
		let gone = first.map_or(heirs.len(), |at| at.saturating_add(1));
		let mut gone: Vec<T::AccountId> = heirs.drain(..gone).collect();
		let heir = first.and_then(|_| gone.pop());
		gone.iter().for_each(Choices::<T>::remove);
		Heirs::<T>::put(heirs);
		if let Some(who) = heir {
			Self::take_in(who);
		}
	}

	/// Puts a newcomer into the pool.
	fn take_in(who: T::AccountId) {
		Former::<T>::remove(&who);
		let now = Self::now();
		Pool::<T>::insert(&who, Driller { since: now, worked: now, ..Driller::default() });
		Self::make_ready(who.clone());
		Self::deposit_event(Event::Enlisted { driller: who });
	}

	/// Returns whether no more than `ReturnBlocks` have passed since this height.
	fn is_lately(height: BlockNumber) -> bool {
		Self::now() <= height.saturating_add(T::ReturnBlocks::get())
	}

	/// Forgets those who left too long ago to return. Who leaves came in before, and few newcomers do
	/// in a turn, so all together are not many more than the pool has places; no more are looked at.
	fn forget_former() {
		let some = Former::<T>::iter().take(T::MaxDrillers::get() as usize);
		let gone: Vec<_> = some.filter(|(_, left)| !Self::is_lately(*left)).collect();
		gone.iter().for_each(|(who, _)| Former::<T>::remove(who));
	}

	/// Ends a turn.
	pub(crate) fn turn() {
		Self::forget_former();
		let mut inflow = Self::turn_allowance();
		let mut outflow = inflow;
		let (waiting, gone): (Vec<_>, Vec<_>) = Waiting::<T>::take()
			.into_iter()
			.map(|(who, _)| (Reverse(T::Drillers::bond(&who)), who))
			.partition(|(_, who)| T::Drillers::is_trainer(who));
		gone.iter().for_each(|(_, who)| Choices::<T>::remove(who));
		let mut waiting: Vec<(Reverse<Balance>, T::AccountId)> = waiting;
		// The order of those with equal bonds is that in which they came.
		waiting.sort_by_key(|(bond, _)| *bond);
		let mut members: Vec<(Balance, T::AccountId)> = Vec::new();
		if !waiting.is_empty() {
			// Also who retires: it may still change its mind.
			let staying = Pool::<T>::iter().filter(|(_, driller)| !driller.displaced);
			let idle_since = Self::now().saturating_sub(T::TurnoverBlocks::get());
			let staying: Vec<(bool, T::AccountId)> = staying
				.map(|(who, driller)| {
					(driller.worked > idle_since || driller.assignment.is_some(), who)
				})
				.collect();
			// A place is kept by work: who was given no unit for a turn, in which others were, weighs
			// nothing.
			let some_worked = staying.iter().any(|(worked, _)| *worked);
			members.extend(staying.into_iter().map(|(worked, who)| {
				let counts = worked || !some_worked;
				(if counts { T::Drillers::bond(&who) } else { 0 }, who)
			}));
			// The weakest last.
			members.sort();
			members.reverse();
		}
		let mut still = Vec::new();
		for (Reverse(bond), who) in waiting {
			let full = Pool::<T>::count() >= T::MaxDrillers::get();
			let weaker = members.last().is_some_and(|(weakest, _)| displaces(bond, *weakest));
			let enters = !full || (weaker && outflow.left() > 0);
			if !enters || inflow.take(1) == 0 {
				still.push((who, bond));
			} else if !full {
				Self::take_in(who);
			} else if let Some((_, driller)) = members.pop() {
				outflow.take(1);
				Self::displace(driller, who);
			}
		}
		Waiting::<T>::put(BoundedVec::truncate_from(still));
		Inflow::<T>::put(inflow.left());
	}

	/// Has a driller make room for its `heir`: at once, or when it has done what it works on.
	fn displace(who: T::AccountId, heir: T::AccountId) {
		Self::deposit_event(Event::Displaced { driller: who.clone() });
		Pool::<T>::mutate(&who, |driller| {
			if let Some(driller) = driller {
				driller.retiring = true;
				driller.displaced = true;
			}
		});
		Heirs::<T>::mutate(|heirs| {
			if heirs.try_push(heir).is_err() {
				// There is room for one for each driller of the pool.
				defensive!("more heirs than drillers");
			}
		});
		let was_ready = Ready::<T>::mutate(|ready| {
			let at = ready.iter().position(|other| *other == who)?;
			Some(ready.remove(at))
		});
		if was_ready.is_some() {
			Self::leave(who);
		}
	}
}
