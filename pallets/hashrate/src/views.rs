//! What clients read about trainers.

use crate::{Candidates, Config, CurrentWeights, NextWeights, Pallet, Power, Trainer, Trainers};
use alloc::vec::Vec;
use trainyard_protocol::views::TrainerView;

/// Returns the weight of `who`, if it is among `weights`.
fn find<A: PartialEq>(weights: &[(A, u64)], who: &A) -> Option<u64> {
	weights.iter().find(|(a, _)| a == who).map(|(_, weight)| *weight)
}

impl<T: Config> Pallet<T> {
	/// Returns one trainer, or `None` for strangers. A trainer that is leaving is still shown.
	pub fn trainer(who: &T::AccountId) -> Option<TrainerView<T::AccountId>> {
		Trainers::<T>::get(who).map(|trainer| Self::view(who.clone(), trainer))
	}

	/// Returns all trainers, the strongest first; equally strong ones are in the order of accounts.
	pub fn trainers() -> Vec<TrainerView<T::AccountId>> {
		let mut all: Vec<_> =
			Trainers::<T>::iter().map(|(who, trainer)| Self::view(who, trainer)).collect();
		all.sort_by(|a, b| b.ecp.cmp(&a.ecp).then_with(|| a.account.cmp(&b.account)));
		all
	}

	fn view(account: T::AccountId, trainer: Trainer) -> TrainerView<T::AccountId> {
		let clock = Self::clock();
		let ledger = Power::<T>::get(&account);
		TrainerView {
			bond: trainer.bond,
			hardware: trainer.hardware,
			candidate: Candidates::<T>::get().binary_search(&account).is_ok(),
			training_total: ledger.training.total,
			training_effective: ledger.training.effective_at(&clock) >> 64,
			drilling_total: ledger.drilling.total,
			drilling_effective: ledger.drilling.effective_at(&clock) >> 64,
			ecp: u128::from(ledger.ecp_at(&clock)),
			weight: find(&CurrentWeights::<T>::get(), &account),
			next_weight: find(&NextWeights::<T>::get(), &account),
			account,
		}
	}
}
