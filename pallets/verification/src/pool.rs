//! The pool that committees are drawn from: who has a place, and how fast that changes.
//!
//! Whoever owns the pool decides every audit, so it cannot be bought in a day. What is new, a
//! newcomer's bond or a raise, counts in draws only as far as the *inflow* of the turn (a day) has
//! room for it, [`Config::TurnoverShare`] of what counts in the pool; the rest waits for later
//! turns, oldest first. A full pool takes a newcomer at the end of a turn, and only where it has 1.25
//! times the bond of the weakest, which then waits in its turn with a bond that is free at once. The
//! newcomer counts for what the other did, and that is part of the same share.
//!
//! Who has set no VRF key waits, and is admitted by no turn: a bond that can be drawn by nobody would
//! hold a place for which it never works, and gather allowances of many days.
//!
//! What left, paused or was displaced keeps what counted of it for a turn, and a paused verifier its
//! place: it returns at once. After that it comes in like what is new, or allowances of many days
//! could be hoarded and enter in one block.

use crate::{Config, Entry, Error, Event, HoldReason, Inflow, Locations, Pallet, Pool, SETTLING};
use alloc::vec::Vec;
use core::{cmp::Reverse, marker::PhantomData};
use frame_support::{
	traits::{fungible::MutateHold, tokens::Precision, Get},
	BoundedBTreeMap,
};
use trainyard_pallet_support::turnover::{displaces, Allowance};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	views::Standing,
};

/// Room of the pool: for the verifiers that have a place, and for as many that wait or left.
pub struct Room<MaxPool>(PhantomData<MaxPool>);

impl<MaxPool: Get<u32>> Get<u32> for Room<MaxPool> {
	fn get() -> u32 {
		MaxPool::get().saturating_mul(2)
	}
}

/// The pool as it is stored.
pub type PoolOf<T> =
	BoundedBTreeMap<<T as frame_system::Config>::AccountId, Entry, Room<<T as Config>::MaxPool>>;

impl<T: Config> Pallet<T> {
	/// Returns the verifiers that can be drawn and their bonds, by account.
	pub(crate) fn active() -> Vec<(T::AccountId, Balance)> {
		let pool = Pool::<T>::get().into_inner().into_iter();
		pool.filter(|(_, entry)| entry.is_active()).map(|(who, e)| (who, e.bond)).collect()
	}

	/// Returns how many verifiers have a place.
	pub(crate) fn places(pool: &PoolOf<T>) -> usize {
		pool.values().filter(|entry| entry.has_place()).count()
	}

	/// Returns what counts in draws, of all together.
	fn weight_of(pool: &PoolOf<T>) -> Balance {
		pool.values()
			.filter(|entry| entry.is_active())
			.fold(0, |sum, entry| sum.saturating_add(entry.counted))
	}

	/// Returns the allowance of a whole turn.
	fn turn_allowance(pool: &PoolOf<T>) -> Allowance {
		Allowance::of(Self::weight_of(pool), T::TurnoverShare::get(), T::FreeInflow::get())
	}

	/// Does `change` with what may still come in during this turn.
	pub(crate) fn with_inflow<R>(
		pool: &mut PoolOf<T>,
		change: impl FnOnce(&mut PoolOf<T>, &mut Allowance) -> R,
	) -> R {
		let mut inflow = match Inflow::<T>::get() {
			Some(left) => Allowance::left_over(left),
			None => Self::turn_allowance(pool),
		};
		let result = change(pool, &mut inflow);
		Inflow::<T>::put(inflow.left());
		result
	}

	/// Gives a verifier that has none a place, or lets it wait for one, or for its VRF key.
	pub(crate) fn settle_in(
		pool: &mut PoolOf<T>,
		who: &T::AccountId,
		now: BlockNumber,
	) -> Result<Standing, Error<T>> {
		let full = Self::places(pool) >= T::MaxPool::get() as usize;
		Self::with_inflow(pool, |pool, inflow| {
			let entry = pool.get_mut(who).ok_or(Error::<T>::NotVerifier)?;
			if entry.is_long_away(now, T::TurnoverBlocks::get()) {
				entry.counted = 0;
			}
			let standing = match !entry.has_key() || (full && !entry.has_place()) {
				true => Standing::Waiting { since: now },
				false => Standing::Active,
			};
			if standing == Standing::Active {
				// What does not fit into this turn comes in later ones.
				let _ = entry.grow(inflow, now);
			}
			if entry.stand(standing, now) {
				Ok(standing)
			} else {
				Err(Error::<T>::TooManyChanges)
			}
		})
	}

	/// Makes room in the record for a newcomer with `bond`, if it has none: a verifier that left and
	/// can no longer be drawn goes, or else the weakest of those who wait, where it is weaker. Their
	/// bonds return.
	pub(crate) fn make_room(
		pool: &mut PoolOf<T>,
		bond: Balance,
		now: BlockNumber,
	) -> Result<(), Error<T>> {
		if pool.len() < Room::<T::MaxPool>::get() as usize {
			return Ok(());
		}
		let gone = pool
			.iter()
			.filter_map(|(who, entry)| match entry.standing {
				Standing::Left { since } if entry.locked == 0 && Self::is_settled(since, now) => {
					Some((since, who))
				}
				_ => None,
			})
			.min()
			.map(|(_, who)| who.clone());
		let weakest = || {
			pool.iter()
				.filter(|(_, entry)| matches!(entry.standing, Standing::Waiting { .. }))
				.filter(|(_, entry)| entry.locked == 0 && entry.bond < bond)
				.min_by_key(|(_, entry)| entry.bond)
				.map(|(who, _)| who.clone())
		};
		let who = gone.or_else(weakest).ok_or(Error::<T>::PoolFull)?;
		if let Some(entry) = pool.remove(&who) {
			Locations::<T>::remove(&who);
			Self::give_back(&who, entry.bond);
		}
		Ok(())
	}

	/// Returns whether no draw can still look at a height before `since`.
	fn is_settled(since: BlockNumber, now: BlockNumber) -> bool {
		now > since.saturating_add(SETTLING)
	}

	/// Releases `amount` of the bond of `who`. Returns how much it was.
	pub(crate) fn give_back(who: &T::AccountId, amount: Balance) -> Balance {
		let reason = HoldReason::VerifierBond.into();
		let released = T::Currency::release(&reason, who, amount, Precision::BestEffort);
		let amount = released.unwrap_or(0);
		Self::deposit_event(Event::Withdrawn { verifier: who.clone(), amount });
		amount
	}

	/// Ends a turn: what does not count yet comes in, whoever waits displaces the weakest, and so
	/// much of the newcomers' bonds as there is still room for comes in as well.
	pub(crate) fn turn(now: BlockNumber) {
		Pool::<T>::mutate(|pool| {
			let mut inflow = Self::turn_allowance(pool);
			let outflow = inflow;
			Self::grow_all(pool, &mut inflow, now);
			Self::admit(pool, &mut inflow, outflow, now);
			Self::grow_all(pool, &mut inflow, now);
			Inflow::<T>::put(inflow.left());
		});
	}

	/// Lets what does not count yet come in, oldest first.
	fn grow_all(pool: &mut PoolOf<T>, inflow: &mut Allowance, now: BlockNumber) {
		let mut young: Vec<(BlockNumber, T::AccountId)> = pool
			.iter()
			.filter(|(_, entry)| entry.is_active() && entry.counted < entry.bond)
			.map(|(who, entry)| (entry.entered, who.clone()))
			.collect();
		young.sort();
		for (_, who) in young {
			if let Some(entry) = pool.get_mut(&who) {
				let _ = entry.grow(inflow, now);
				entry.put(Standing::Active, now);
			}
		}
	}

	/// Gives places to those who wait, the largest bond first. A full pool gives the place of a
	/// verifier that has been paused for a turn, or else of the smallest bond to one that is materially
	/// larger. The newcomer counts for as much as the one that it displaced, or for what it kept of an
	/// earlier place, so nobody is displaced where neither `outflow` nor `inflow` has room for that; one
	/// verifier in a turn always can be.
	fn admit(
		pool: &mut PoolOf<T>,
		inflow: &mut Allowance,
		mut outflow: Allowance,
		now: BlockNumber,
	) {
		let turn = T::TurnoverBlocks::get();
		for (_, entry) in pool.iter_mut().filter(|(_, entry)| entry.is_long_away(now, turn)) {
			entry.counted = 0;
		}
		let mut waiting: Vec<_> = pool
			.iter()
			.filter_map(|(who, entry)| match entry.standing {
				// Whoever comes late cannot know a draw and be admitted for it.
				Standing::Waiting { since } if entry.has_key() && Self::is_settled(since, now) => {
					Some((Reverse(entry.bond), since, who.clone()))
				}
				_ => None,
			})
			.collect();
		waiting.sort();
		// Those with a place, the first to go last.
		let mut seated: Vec<_> = pool
			.iter()
			.filter(|(_, entry)| entry.has_place())
			.map(|(who, entry)| {
				(!entry.is_long_away(now, turn), entry.bond, Reverse(entry.entered), who.clone())
			})
			.collect();
		seated.sort();
		seated.reverse();
		let mut first = true;
		let mut places = (T::MaxPool::get() as usize).saturating_sub(seated.len());
		for (Reverse(bond), _, who) in waiting {
			let mut inherited = 0;
			if let Some(left) = places.checked_sub(1) {
				places = left;
			} else {
				let Some((kept, weakest, _, displaced)) = seated.pop() else { return };
				let counted = |who| pool.get(who).map_or(0, |entry: &Entry| entry.counted);
				inherited = counted(&displaced);
				// What a newcomer kept of an earlier place comes in with it.
				let changes = inherited.max(counted(&who).min(bond));
				let room = first || changes <= inflow.left();
				let weaker = !kept || displaces(bond, weakest);
				if !weaker || !room || !outflow.take_whole(changes) {
					return;
				}
				first &= changes == 0;
				inflow.take(changes);
				if let Some(entry) = pool.get_mut(&displaced) {
					entry.put(Standing::Waiting { since: now }, now);
				}
				let by = who.clone();
				Self::deposit_event(Event::Displaced { verifier: displaced, by });
			}
			if let Some(entry) = pool.get_mut(&who) {
				entry.counted = entry.counted.max(inherited).min(entry.bond);
				entry.put(Standing::Active, now);
				Self::deposit_event(Event::Admitted { verifier: who, bond });
			}
		}
	}
}
