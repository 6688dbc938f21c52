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

	/// Returns all trainers, the strongest first; equally strong ones are in the order of accounts.
	pub fn trainers() -> Vec<TrainerView<T::AccountId>> {
		let candidates = Candidates::<T>::get();
		let totals = Self::totals(&Self::claims(candidates.clone()));
		let mut all: Vec<_> = Trainers::<T>::iter()
			.map(|(who, trainer)| Self::view(who, trainer, &candidates, &totals))
			.collect();
		all.sort_by(|a, b| b.ecp.cmp(&a.ecp).then_with(|| a.account.cmp(&b.account)));
		all
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
