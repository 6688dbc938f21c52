//! Who makes blocks: the choice of each session's authorities and their weights.
//!
//! At a change of session `s` to `s + 1` the session pallet asks for the authorities of `s + 2`.
//! The answer is the candidates with session keys and a Total ECP of at least [`MinShare`]; if
//! there are too many, the strongest of them. They come in the order of accounts, so that an
//! authority's index does not change without need. Their [shares](crate::shares) of the weight at
//! this moment are announced at the start of `s + 1`, used from the start of `s + 2`, and never
//! recomputed in between.
//!
//! The randomness of `s + 2` is mixed from the blocks of `s`, and the author of the last of these
//! knows it while it makes that block. So only who stood when `s` began, with the keys that it had
//! then, qualifies: there was nothing to choose them by. Who sets other keys, or stands, during `s`
//! is not an authority of `s + 2`.
//!
//! When nobody qualifies, the present authorities go on, with weights from their shares
//! now, at least 1 each, whether or not they still are trainers: a chain without
//! authorities would stop.

use crate::{
	shares::{Claim, Totals},
	Candidates, Config, CurrentWeights, Founders, KnownKeys, MinShare, NextWeights, Pallet, Power,
	SessionAccess, TrainingVolumes, VolumeFloors, LOG_TARGET,
};
use alloc::vec::Vec;
use codec::{Decode, Encode, MaxEncodedLen};
use core::cmp::Reverse;
use frame_support::{traits::Get, BoundedVec};
use scale_info::TypeInfo;
use sp_staking::SessionIndex;
use trainyard_protocol::{MicroUt, H256};
use trainyard_traits::SessionWeights;

/// Returns the weight of `who` in `weights`; 1 for one who is not there (genesis authorities that
/// were given to the session pallet alone).
pub(crate) fn weight_of<A: PartialEq>(weights: &[(A, u64)], who: &A) -> u64 {
	weights.iter().find(|(a, _)| a == who).map_or(1, |(_, weight)| *weight)
}

/// Among how much training power, micro-ut a day, six tenths of the blocks of a session are shared out
/// ([`Totals::training_volume`]), noted with its weights. What power is worth follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo)]
pub struct Volumes {
	/// In the running session.
	pub current: Option<MicroUt>,
	/// In the one that is announced.
	pub next: Option<MicroUt>,
}

impl Volumes {
	/// Returns the least of them; `None` before a chain has chosen anybody.
	pub fn least(&self) -> Option<MicroUt> {
		self.current.into_iter().chain(self.next).min()
	}
}

/// Accounts, each with what it has to show.
pub(crate) type Claims<T> = Vec<(<T as frame_system::Config>::AccountId, Claim)>;

impl<T: Config> Pallet<T> {
	/// Returns what each of `list` has to show now.
	pub(crate) fn claims(list: impl IntoIterator<Item = T::AccountId>) -> Claims<T> {
		let (clock, founders) = (Self::clock(), Founders::<T>::get());
		let claim = |who: T::AccountId| {
			let (drilling, training) = Power::<T>::get(&who).rates_at(&clock);
			let at = founders.binary_search_by(|(founder, _)| founder.cmp(&who));
			let founder = at.ok().and_then(|at| founders.get(at)).map_or(0, |(_, part)| *part);
			(who, Claim { drilling, training, founder })
		};
		list.into_iter().map(claim).collect()
	}

	/// Returns the sums of these claims.
	pub(crate) fn totals(claims: &[(T::AccountId, Claim)]) -> Totals {
		Totals::of(VolumeFloors::<T>::get(), claims.iter().map(|(_, claim)| claim))
	}

	/// Returns what the candidates that qualify now have to show, in the order of accounts.
	fn qualified() -> Claims<T> {
		let known = KnownKeys::<T>::get();
		let knows = |who: &T::AccountId, keys: H256| {
			// The first choice is in genesis.
			known.as_ref().is_none_or(|known| {
				let at = known.binary_search_by(|(other, _)| other.cmp(who)).ok();
				at.and_then(|at| known.get(at)).is_some_and(|(_, then)| *then == keys)
			})
		};
		let all = Candidates::<T>::get().into_iter();
		let mut claims =
			Self::claims(all.filter(|who| T::Session::keys(who).is_some_and(|k| knows(who, k))));
		let (least, totals) = (MinShare::<T>::get(), Self::totals(&claims));
		claims.retain(|(_, claim)| totals.share(claim) >= least);
		claims.sort_by(|(a, p), (b, q)| {
			(Reverse(totals.share(p)), a).cmp(&(Reverse(totals.share(q)), b))
		});
		claims.truncate(T::MaxAuthorities::get() as usize);
		claims.sort_by(|(a, _), (b, _)| a.cmp(b));
		claims
	}

	/// Returns the weights of those who will be authorities together: their shares, at least 1 each,
	/// since a weight of 0 stops every node. Beside them, among how much training power six tenths of
	/// their blocks are shared out.
	fn weigh(claims: Claims<T>) -> (Vec<(T::AccountId, u64)>, MicroUt) {
		let totals = Self::totals(&claims);
		let weight = |claim: &Claim| totals.share(claim).max(1);
		let weights: Vec<_> =
			claims.into_iter().map(|(who, claim)| (who, weight(&claim))).collect();
		let sum = weights.iter().fold(0u64, |sum, (_, weight)| sum.saturating_add(*weight));
		(weights, totals.training_volume(sum))
	}

	/// Chooses the authorities of a coming session and notes their weights for the
	/// announcement. `None`: nobody qualifies, the present ones go on.
	pub(crate) fn choose() -> Option<Vec<T::AccountId>> {
		let mut claims = Self::qualified();
		let found = !claims.is_empty();
		if !found {
			log::warn!(
				target: LOG_TARGET,
				"no candidate with session keys has enough power; the present authorities go on"
			);
			claims = Self::claims(T::Session::authorities());
		}
		let (chosen, volume) = Self::weigh(claims);
		TrainingVolumes::<T>::mutate(|volumes| volumes.next = Some(volume));
		let accounts = found.then(|| chosen.iter().map(|(who, _)| who.clone()).collect());
		NextWeights::<T>::put(BoundedVec::truncate_from(chosen));
		Self::note_keys();
		accounts
	}

	/// Notes who stands, with which keys, as a session begins.
	pub(crate) fn note_keys() {
		let keys = |who: T::AccountId| T::Session::keys(&who).map(|keys| (who, keys));
		let known = Candidates::<T>::get().into_iter().filter_map(keys).collect();
		KnownKeys::<T>::put(BoundedVec::<_, T::MaxCandidates>::truncate_from(known));
	}
}

impl<T: Config> SessionWeights<T::AccountId> for Pallet<T> {
	fn weights() -> Vec<(T::AccountId, u64)> {
		let weights = CurrentWeights::<T>::get();
		let weighed = |who: T::AccountId| {
			let weight = weight_of(&weights, &who);
			(who, weight)
		};
		T::Session::authorities().into_iter().map(weighed).collect()
	}

	#[cfg(feature = "runtime-benchmarks")]
	fn make_authorities(count: u32) -> Vec<T::AccountId> {
		let all: Vec<T::AccountId> =
			(0..count).map(|i| frame_benchmarking::v2::account("authority", i, 0)).collect();
		let weights = all.iter().cloned().map(|who| (who, 1_000)).collect();
		CurrentWeights::<T>::put(BoundedVec::truncate_from(weights));
		T::Session::make_authorities(all.clone());
		all
	}
}

impl<T: Config> pallet_session::SessionManager<T::AccountId> for Pallet<T> {
	fn new_session(_: SessionIndex) -> Option<Vec<T::AccountId>> {
		Self::choose()
	}

	fn start_session(session: SessionIndex) {
		CurrentWeights::<T>::put(NextWeights::<T>::get());
		TrainingVolumes::<T>::mutate(|volumes| volumes.current = volumes.next);
		Self::record_session(session);
	}

	fn end_session(_: SessionIndex) {
		Self::judge_absences();
	}
}
