//! Authorities that make no blocks are suspended: they lose their candidacy, and stand
//! again by [`set_candidate`](crate::Pallet::set_candidate) when their node runs.
//!
//! At the end of a session each authority's share of the session's blocks, by weight, is
//! expected of it. Expectations add up over sessions until it makes a block. By chance
//! alone, an honest authority of which [`TOLERATED_BLOCKS`] are expected makes none with
//! probability `e^-20`. (Where secondary slots fill the gaps, weak authorities make more
//! than their share; the count is then lenient.)

use crate::{Absence, Authored, Candidates, Config, CurrentWeights, Event, Pallet, SessionBlocks};

/// Blocks that may be expected of an authority before it is suspended for making none.
pub const TOLERATED_BLOCKS: u64 = 20;

/// [`Absence`] counts in parts of a block.
const PARTS: u64 = 1_000;

impl<T: Config> Pallet<T> {
	/// Notes that `author` made the present block.
	pub(crate) fn note_presence(author: &T::AccountId) {
		SessionBlocks::<T>::mutate(|n| *n = n.saturating_add(1));
		let mut authored = Authored::<T>::get();
		if let Err(at) = authored.binary_search(author) {
			// There are more authors than authorities only where two sessions overlap; authors that
			// do not fit are noted in the session that begins.
			if authored.try_insert(at, author.clone()).is_ok() {
				Authored::<T>::put(authored);
				Absence::<T>::remove(author);
			}
		}
	}

	/// Counts, at the end of a session, the blocks that absent authorities owe, and suspends those
	/// that owe too many.
	pub(crate) fn judge_absences() {
		let blocks = SessionBlocks::<T>::take();
		let authored = Authored::<T>::take();
		let candidates = Candidates::<T>::get();
		let weights = CurrentWeights::<T>::get();
		let total = weights.iter().fold(0u128, |sum, (_, w)| sum.saturating_add(u128::from(*w)));
		let all = u128::from(blocks).saturating_mul(u128::from(PARTS));
		for (who, weight) in weights {
			if authored.binary_search(&who).is_ok() || candidates.binary_search(&who).is_err() {
				continue;
			}
			let share = all.saturating_mul(u128::from(weight)).checked_div(total).unwrap_or(0);
			let owed =
				Absence::<T>::get(&who).saturating_add(u64::try_from(share).unwrap_or(u64::MAX));
			if owed < TOLERATED_BLOCKS.saturating_mul(PARTS) {
				Absence::<T>::insert(&who, owed);
				continue;
			}
			Absence::<T>::remove(&who);
			if Self::delist(&who) {
				Self::deposit_event(Event::AuthoritySuspended { trainer: who });
			}
		}
	}
}
