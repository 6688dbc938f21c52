//! Verifiers for other pallets: who recomputes something, and what it costs not to.
//!
//! The draw is that of a committee, see [`seats`](crate::seats). The pallet that draws decides who
//! commits what and when; the stake of the seat answers for it until that pallet releases it.

use crate::{pool::PoolOf, seats::Seating, Config, Entry, Event, Fault, Pallet, Pool, H256};
use frame_support::traits::Get;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	seats::Resources,
};
use trainyard_traits::{Drawn, VerifierPool};

impl<T: Config> VerifierPool<T::AccountId> for Pallet<T> {
	fn draw(
		domain: &[u8],
		seed: &H256,
		after: BlockNumber,
		excluded: &[T::AccountId],
		count: u32,
		needs: &Resources,
	) -> Drawn<T::AccountId> {
		let wanted = count as usize;
		let seating = Seating { after, excluded, needs, stake: T::SeatStake::get() };
		let count = |eligible: usize| if eligible < wanted { 0 } else { wanted };
		let drawn = Self::seat_drawn(domain, seed, &seating, count, true);
		if !drawn.is_empty() {
			return Drawn::Seated(drawn.into_iter().map(|(who, _)| who).collect());
		}
		match Self::able(&Pool::<T>::get(), &seating) < wanted {
			true => Drawn::TooFew,
			false => Drawn::Busy,
		}
	}

	fn slash_absent(who: &T::AccountId, fee: Balance) -> Balance {
		Self::penalise(who, Fault::NoVerdict, fee)
	}

	fn slash_contrary(who: &T::AccountId, fee: Balance) -> Balance {
		Self::penalise(who, Fault::Contrary, fee)
	}

	fn release(who: &T::AccountId, needs: &Resources, present: bool) {
		Pool::<T>::mutate(|pool| {
			if let Some(entry) = pool.get_mut(who) {
				entry.checks = entry.checks.saturating_sub(1);
			}
			Self::unseat(pool, who, T::SeatStake::get(), needs, !present);
		});
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_pool() -> alloc::vec::Vec<T::AccountId> {
		crate::benchmarking::full_pool::<T>()
	}
}

impl<T: Config> Pallet<T> {
	/// Returns how many could be drawn if nobody had a seat.
	pub(crate) fn able(pool: &PoolOf<T>, seating: &Seating<T::AccountId>) -> usize {
		let Seating { after, excluded, needs, stake } = *seating;
		let able = |(who, entry): &(&T::AccountId, &Entry)| {
			!excluded.contains(who)
				&& entry.is_able(after, needs)
				&& entry.all_seats(after, stake) > 0
		};
		pool.iter().filter(able).count()
	}

	/// Slashes `who` for what it did in a recomputation.
	fn penalise(who: &T::AccountId, fault: Fault, fee: Balance) -> Balance {
		let amount = Pool::<T>::mutate(|pool| {
			let stake = T::SeatStake::get();
			pool.get_mut(who).map_or(0, |entry| Self::take(entry, who, fault, fee, stake))
		});
		Self::deposit_event(Event::SlashedInRecompute { verifier: who.clone(), amount, fault });
		amount
	}
}
