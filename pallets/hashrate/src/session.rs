//! Who makes blocks: the choice of each session's authorities and their weights.
//!
//! At a change of session `s` to `s + 1` the session pallet asks for the authorities of `s + 2`.
//! The answer is the candidates with session keys and a Total ECP of at least [`MinPower`]; if
//! there are too many, the strongest of them. They come in the order of accounts, so that an
//! authority's index does not change without need. Their power at this moment becomes their weight:
//! it is announced at the start of `s + 1`, used from the start of `s + 2`, and never recomputed in
//! between.
//!
//! When nobody qualifies, the present authorities go on, with weights from their power
//! now, at least 1 each, whether or not they still are trainers: a chain without
//! authorities would stop.

use crate::{
	Candidates, Config, CurrentWeights, MinPower, NextWeights, Pallet, SessionAccess, LOG_TARGET,
};
use alloc::vec::Vec;
use core::cmp::Reverse;
use frame_support::{traits::Get, BoundedVec};
use sp_staking::SessionIndex;

/// Largest sum of the weights of one session. BABE's client and GRANDPA's voter sum weights in 64
/// bits.
pub const MAX_TOTAL_WEIGHT: u64 = 1 << 62;

/// Turns powers into weights, in place: at least 1 each (a weight of 0 stops every node), and all
/// shifted down together, as little as needed, when their sum would pass [`MAX_TOTAL_WEIGHT`].
pub fn weigh<A>(powers: &mut [(A, u64)]) {
	let shifted = |power: u64, by: u32| power.checked_shr(by).unwrap_or(0).max(1);
	let fits = |by: &u32| {
		let sum = powers
			.iter()
			.fold(0u128, |sum, (_, power)| sum.saturating_add(u128::from(shifted(*power, *by))));
		sum <= u128::from(MAX_TOTAL_WEIGHT)
	};
	let by = (0..64).find(fits).unwrap_or(64);
	for (_, power) in powers.iter_mut() {
		*power = shifted(*power, by);
	}
}

/// Returns the weight of `who` in `weights`; 1 for one who is not there (genesis authorities that
/// were given to the session pallet alone).
pub(crate) fn weight_of<A: PartialEq>(weights: &[(A, u64)], who: &A) -> u64 {
	weights.iter().find(|(a, _)| a == who).map_or(1, |(_, weight)| *weight)
}

impl<T: Config> Pallet<T> {
	/// Returns the candidates that qualify now and their powers, in the order of accounts.
	fn qualified() -> Vec<(T::AccountId, u64)> {
		let least = MinPower::<T>::get();
		let mut chosen: Vec<_> = Candidates::<T>::get()
			.into_iter()
			.filter(T::Session::has_keys)
			.map(|who| {
				let power = Self::ecp(&who);
				(who, power)
			})
			.filter(|(_, power)| *power >= least)
			.collect();
		chosen.sort_by(|(a, p), (b, q)| (Reverse(p), a).cmp(&(Reverse(q), b)));
		chosen.truncate(T::MaxAuthorities::get() as usize);
		chosen.sort();
		chosen
	}

	/// Chooses the authorities of a coming session and notes their weights for the
	/// announcement. `None`: nobody qualifies, the present ones go on.
	pub(crate) fn choose() -> Option<Vec<T::AccountId>> {
		let mut chosen = Self::qualified();
		let found = !chosen.is_empty();
		if !found {
			log::warn!(
				target: LOG_TARGET,
				"no candidate with session keys has enough power; the present authorities go on"
			);
			chosen = T::Session::authorities()
				.into_iter()
				.map(|who| {
					let power = Self::ecp(&who);
					(who, power)
				})
				.collect();
		}
		weigh(&mut chosen);
		let accounts = found.then(|| chosen.iter().map(|(who, _)| who.clone()).collect());
		NextWeights::<T>::put(BoundedVec::truncate_from(chosen));
		accounts
	}
}

impl<T: Config> pallet_session::SessionManager<T::AccountId> for Pallet<T> {
	fn new_session(_: SessionIndex) -> Option<Vec<T::AccountId>> {
		Self::choose()
	}

	fn start_session(session: SessionIndex) {
		CurrentWeights::<T>::put(NextWeights::<T>::get());
		Self::record_session(session);
	}

	fn end_session(_: SessionIndex) {
		Self::judge_absences();
	}
}
