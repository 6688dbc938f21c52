//! What clients read about trainers.

use crate::{
	shares::Totals, Candidates, Config, CurrentWeights, NextWeights, Pallet, Power, Trainer,
	Trainers,
};
use alloc::vec::Vec;
use trainyard_protocol::views::TrainerView;

/// Returns the weight of `who`, if it is among `weights`.
fn find<A: PartialEq>(weights: &[(A, u64)], who: &A) -> Option<u64> {
	weights.iter().find(|(a, _)| a == who).map(|(_, weight)| *weight)
}

impl<T: Config> Pallet<T> {
	/// Returns one trainer, or `None` for strangers. A trainer that is leaving is still shown.
	pub fn trainer(who: &T::AccountId) -> Option<TrainerView<T::AccountId>> {
		let trainer = Trainers::<T>::get(who)?;
		let candidates = Candidates::<T>::get();
		let totals = Self::totals(&Self::claims(candidates.clone()));
		Some(Self::view(who.clone(), trainer, &candidates, &totals))
	}

	/// Returns `count` trainers, in the order of the storage, after the account `after`, which need not
	/// be one any more. If there are fewer, there are no more.
	pub fn trainers(after: Option<T::AccountId>, count: u32) -> Vec<TrainerView<T::AccountId>> {
		let candidates = Candidates::<T>::get();
		let totals = Self::totals(&Self::claims(candidates.clone()));
		let all = match after {
			Some(who) => Trainers::<T>::iter_from(Trainers::<T>::hashed_key_for(who)),
			None => Trainers::<T>::iter(),
		};
		all.take(count as usize)
			.map(|(who, trainer)| Self::view(who, trainer, &candidates, &totals))
			.collect()
	}

	/// Returns what clients see of a trainer beside these candidates and their sums.
	fn view(
		account: T::AccountId,
		trainer: Trainer,
		candidates: &[T::AccountId],
		totals: &Totals,
	) -> TrainerView<T::AccountId> {
		let clock = Self::clock();
		let ledger = Power::<T>::get(&account);
		let candidate = candidates.binary_search(&account).is_ok();
		let own = Self::claims([account.clone()]);
		let claim = own.first().map_or_else(Default::default, |(_, claim)| *claim);
		let totals = if candidate { *totals } else { totals.with(&claim) };
		TrainerView {
			bond: trainer.bond,
			hardware: trainer.hardware,
			candidate,
			training_total: ledger.training.total,
			training_effective: ledger.training.effective_at(&clock) >> 64,
			drilling_total: ledger.drilling.total,
			drilling_effective: ledger.drilling.effective_at(&clock) >> 64,
			ecp: totals.share(&claim).into(),
			weight: find(&CurrentWeights::<T>::get(), &account),
			next_weight: find(&NextWeights::<T>::get(), &account),
			account,
		}
	}
}
