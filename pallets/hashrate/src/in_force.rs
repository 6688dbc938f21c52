//! Sets that are still in force, and how long their members answer for what they do.
//!
//! A set of GRANDPA votes until the block that begins the session of the next one is final. Where
//! finality stalls that can take days, and blocks, sessions and unbonding go on meanwhile: without
//! these rules the members of the last set that nodes follow would have their bonds back, and could
//! vote for two chains for nothing. So a session is *overtaken* when the chain knows that the first
//! block of the next one is final ([`Finality`]), and
//! [`Config::UnbondingBlocks`] later it is *settled*: then its [record](crate::records) may go, and
//! those who were last authorities in it may withdraw.
//!
//! (After a stall that root noted, the set before the forced change may vote for the delay of that
//! change longer; this must be far shorter than `UnbondingBlocks`.)
//!
//! Where finality is a few blocks behind, an authority that leaves has its bond back one or two
//! sessions later than somebody who was none: when it leaves it is announced for the next session
//! already.
//!
//! Who holds finality back holds back all who were authorities since, itself among them; who only says
//! nothing of it does so until root takes the word of the others. Sessions are
//! overtaken in their order and a few in each block, so that after a stall of any length no block has
//! much to do.

use crate::{Config, LastServed, OldestRecord, Overtaken, Pallet, Starts, Unfinal};
use frame_support::traits::Get;
use sp_staking::SessionIndex;
use trainyard_traits::Finality;

/// Sessions that one block notes as overtaken at most.
pub(crate) const OVERTAKEN_AT_ONCE: u32 = 4;

impl<T: Config> Pallet<T> {
	/// Notes which sessions finality has overtaken, and returns how many.
	pub(crate) fn note_overtaken() -> u32 {
		let Some(first) = Unfinal::<T>::get().or_else(OldestRecord::<T>::get) else { return 0 };
		let last = T::Finality::final_height();
		let mut session = first;
		for _ in 0..OVERTAKEN_AT_ONCE {
			let next = session.saturating_add(1);
			if Starts::<T>::get(next).is_none_or(|start| start > last) {
				break;
			}
			Overtaken::<T>::insert(session, Self::now());
			session = next;
		}
		if session != first {
			Unfinal::<T>::put(session);
		}
		session.saturating_sub(first)
	}

	/// Notes who is an authority of the session that begins. Who has no bond has nothing to keep.
	pub(crate) fn note_serving<'a>(
		session: SessionIndex,
		members: impl IntoIterator<Item = &'a T::AccountId>,
	) where
		T::AccountId: 'a,
	{
		for who in members {
			if Self::is_registered(who) {
				LastServed::<T>::insert(who, session);
			}
		}
	}

	/// Returns whether a session on record is settled.
	pub(crate) fn is_settled(session: SessionIndex) -> bool {
		let unbonding = T::UnbondingBlocks::get();
		Overtaken::<T>::get(session).is_some_and(|at| at.saturating_add(unbonding) <= Self::now())
	}

	/// Returns whether `who` was an authority of a session that is not settled.
	pub(crate) fn is_in_force(who: &T::AccountId) -> bool {
		let Some(session) = LastServed::<T>::get(who) else { return false };
		// What is off record is settled.
		let on_record = OldestRecord::<T>::get().is_some_and(|oldest| oldest <= session);
		on_record && !Self::is_settled(session)
	}
}
