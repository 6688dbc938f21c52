//! Verifiers for other pallets: who recomputes something, and what it costs not to.
//!
//! The draw is that of a committee: in proportion to the bonds at the height after which the seed
//! formed, see [`pool`](crate::pool). The pallet that draws decides who commits what and when; the
//! bond answers for it.

use crate::{Config, Event, Fault, Pallet, H256};
use alloc::vec::Vec;
use trainyard_protocol::{
	draw,
	job::{Balance, BlockNumber},
};
use trainyard_traits::VerifierPool;

impl<T: Config> VerifierPool<T::AccountId> for Pallet<T> {
	fn draw(
		domain: &[u8],
		seed: &H256,
		after: BlockNumber,
		excluded: &[T::AccountId],
		count: u32,
	) -> Vec<T::AccountId> {
		let eligible = Self::eligible(after, excluded);
		if eligible.len() < count as usize {
			return Vec::new();
		}
		draw::weighted(domain, seed, &eligible, count as usize)
	}

	fn slash_absent(who: &T::AccountId) -> Balance {
		Self::penalise(who, Fault::NoVerdict)
	}

	fn slash_contrary(who: &T::AccountId) -> Balance {
		Self::penalise(who, Fault::Contrary)
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_pool() -> Vec<T::AccountId> {
		crate::benchmarking::full_pool::<T>()
	}
}

impl<T: Config> Pallet<T> {
	/// Slashes `who` for what it did in a recomputation.
	fn penalise(who: &T::AccountId, fault: Fault) -> Balance {
		let amount = Self::take(who, fault);
		Self::deposit_event(Event::SlashedInRecompute { verifier: who.clone(), amount, fault });
		amount
	}
}
