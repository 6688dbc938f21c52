//! The pool that committees are drawn from, and which bonds count in a draw.
//!
//! A committee is drawn in proportion to bonds from the outputs of the first blocks after a height
//! `after`. The author of the last of these knows the draw before it makes its block, and it
//! chooses what its block includes. So a draw looks at the pool *as it was at `after`*: a verifier
//! that entered later does not count, one that raised its bond later counts with the bond from
//! before, and one that left later can still be drawn, and its bond answers for the seat.

use crate::{Config, Error, Event, Leaving, LeavingVerifiers, Pallet, Pool};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::marker::PhantomData;
use frame_support::traits::Get;
use scale_info::TypeInfo;
use trainyard_protocol::job::{Balance, BlockNumber};

/// Blocks for which the pool remembers the state before a change: longer than
/// [`horizon`](trainyard_traits::Beacon::horizon), the time from a draw height to the last block in
/// which its seed is given. `integrity_test` compares them.
pub const SETTLING: BlockNumber = 60;

/// A verifier in the pool.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Entry {
	/// The bond, as it is held.
	pub bond: Balance,
	/// Height at which it was last raised, or at which the verifier entered.
	pub since: BlockNumber,
	/// The bond that counts for draws from heights before `since`; 0 for newcomers.
	pub before: Balance,
	/// Height at which the verifier left; the entry stays for draws from heights before it.
	pub left: Option<BlockNumber>,
}

impl Entry {
	/// Returns the entry of a verifier that enters at `now` with `bond`.
	pub fn new(bond: Balance, now: BlockNumber) -> Self {
		Self { bond, since: now, before: 0, left: None }
	}

	/// Returns whether the verifier has not left.
	pub fn is_active(&self) -> bool {
		self.left.is_none()
	}

	/// Returns the bond that counts in a draw from the blocks after `after`.
	pub fn counts(&self, after: BlockNumber) -> Balance {
		if self.left.is_some_and(|left| left <= after) {
			0
		} else if self.since <= after {
			self.bond
		} else {
			self.before
		}
	}

	/// Adds `amount` to the bond. Raises that follow each other closely count as one: for earlier
	/// draws the bond before the first of them counts.
	pub fn raise(&mut self, amount: Balance, now: BlockNumber) {
		if now > self.since.saturating_add(SETTLING) {
			self.before = self.bond;
		}
		self.bond = self.bond.saturating_add(amount);
		self.since = now;
	}

	/// Lowers the bond to `bond`, at once for all draws.
	pub fn lower(&mut self, bond: Balance) {
		self.bond = bond;
		self.before = self.before.min(bond);
	}

	/// Returns whether no draw can ask for the entry any more.
	fn is_gone(&self, now: BlockNumber) -> bool {
		self.left.is_some_and(|left| now > left.saturating_add(SETTLING))
	}
}

/// Room of the pool: for the verifiers in it, and for as many that just left.
pub struct Room<MaxPool>(PhantomData<MaxPool>);

impl<MaxPool: Get<u32>> Get<u32> for Room<MaxPool> {
	fn get() -> u32 {
		MaxPool::get().saturating_mul(2)
	}
}

impl<T: Config> Pallet<T> {
	/// Returns the verifiers in the pool and their bonds, by account.
	pub(crate) fn active() -> Vec<(T::AccountId, Balance)> {
		let pool = Pool::<T>::get().into_inner().into_iter();
		pool.filter(|(_, entry)| entry.is_active()).map(|(who, e)| (who, e.bond)).collect()
	}

	/// Puts a newcomer into the pool. A full pool makes room for it where its bond is larger than
	/// the smallest: otherwise those who came first could keep everybody out.
	pub(crate) fn enter(who: T::AccountId, bond: Balance) -> Result<(), Error<T>> {
		let now = Self::now();
		let displaced = Pool::<T>::try_mutate(|pool| {
			pool.retain(|_, entry| !entry.is_gone(now));
			let active = || pool.iter().filter(|(_, entry)| entry.is_active());
			let mut displaced = None;
			if active().count() >= T::MaxPool::get() as usize {
				let smallest = active().min_by_key(|(_, entry)| entry.bond);
				let weaker = smallest.filter(|(_, entry)| entry.bond < bond);
				displaced = Some(weaker.ok_or(Error::<T>::PoolFull)?.0.clone());
			}
			pool.try_insert(who, Entry::new(bond, now)).map_err(|_| Error::<T>::PoolFull)?;
			Ok::<_, Error<T>>(displaced)
		})?;
		if let Some(weaker) = displaced {
			Self::leave(&weaker);
		}
		Ok(())
	}

	/// Starts the unbonding of a verifier in the pool.
	pub(crate) fn leave(who: &T::AccountId) {
		let now = Self::now();
		let bond = Pool::<T>::mutate(|pool| {
			pool.retain(|_, entry| !entry.is_gone(now));
			let entry = pool.get_mut(who).filter(|entry| entry.is_active())?;
			entry.left = Some(now);
			Some(entry.bond)
		});
		let Some(bond) = bond else { return };
		let until = now.saturating_add(T::UnbondingBlocks::get());
		LeavingVerifiers::<T>::insert(who, Leaving { bond, until });
		Self::deposit_event(Event::Left { verifier: who.clone(), until });
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn newcomers_count_from_the_height_at_which_they_came() {
		let entry = Entry::new(100, 50);
		assert_eq!((entry.counts(49), entry.counts(50), entry.counts(51)), (0, 100, 100));
	}

	#[test]
	fn a_raise_counts_from_its_height_on() {
		let mut entry = Entry::new(100, 50);
		entry.raise(11, 50 + SETTLING + 1);
		assert_eq!((entry.counts(50 + SETTLING), entry.counts(51 + SETTLING)), (100, 111));
	}

	/// Otherwise a second raise would make the first one count for a draw that is known.
	#[test]
	fn raises_in_a_row_count_as_one() {
		let mut entry = Entry::new(100, 0);
		entry.raise(10, 1_000);
		entry.raise(10, 1_001);
		entry.raise(10, 1_001 + SETTLING);
		assert_eq!((entry.counts(999), entry.counts(1_001)), (100, 100));
		assert_eq!(entry.counts(1_001 + SETTLING), 130);
		let mut newcomer = Entry::new(100, 1_000);
		newcomer.raise(10, 1_000 + SETTLING);
		assert_eq!(newcomer.counts(1_010), 0);
	}

	#[test]
	fn who_leaves_counts_for_the_draws_that_began_before() {
		let entry = Entry { left: Some(60), ..Entry::new(100, 50) };
		assert_eq!((entry.counts(49), entry.counts(59), entry.counts(60)), (0, 100, 0));
		assert!(!entry.is_gone(60 + SETTLING) && entry.is_gone(61 + SETTLING));
	}

	#[test]
	fn a_slash_counts_at_once() {
		let mut entry = Entry::new(100, 0);
		entry.raise(10, 1_000);
		entry.lower(70);
		assert_eq!((entry.counts(999), entry.counts(1_000)), (70, 70));
	}
}
