//! What must always hold in this pallet's storage.

use crate::{Config, Due, Generations, HoldReason, MemberSpecs, NextSet, Pallet, Sets};
use alloc::collections::BTreeMap;
use frame_support::{ensure, traits::fungible::InspectHold};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{
	job::Balance,
	sets::{Stage, MAX_MEMBERS, MIN_MEMBERS},
};

impl<T: Config> Pallet<T> {
	/// Checks that
	/// - every set has members, each with a specification, is on the agenda, and nothing else is;
	/// - what is held of each account is what its sets say;
	/// - the generations that are over are on record, and no other;
	/// - jobs are posted and run in their stage alone, and a model from which a member goes on has a parent.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		let mut held = BTreeMap::<T::AccountId, Balance>::new();
		let (mut sets, mut specs, mut generations) = (0usize, 0usize, 0usize);
		for (id, set) in Sets::<T>::iter() {
			sets = sets.saturating_add(1);
			ensure!(id < NextSet::<T>::get(), "a set of a number to come");
			ensure!(Due::<T>::contains_key(id), "a set is not on the agenda");
			let count = u32::try_from(set.members.len()).unwrap_or(u32::MAX);
			ensure!((MIN_MEMBERS..=MAX_MEMBERS).contains(&count), "too many members, or too few");
			for number in 0..count {
				ensure!(MemberSpecs::<T>::contains_key(id, number), "a member without a job");
				specs = specs.saturating_add(1);
			}
			let sum = held.entry(set.submitter.clone()).or_default();
			*sum = sum.saturating_add(set.record);
			for member in &set.members {
				ensure!(member.base.is_none() || member.parent.is_some(), "a model of nobody");
				ensure!(set.generation > 0 || member.base.is_none(), "a model of no generation");
			}
			let ended = matches!(set.stage, Stage::Ended(_));
			ensure!(set.stage == Stage::Training || set.has_trained(), "jobs out of time");
			ensure!(set.generation < set.plan.generations, "a generation too many");
			for generation in Generations::<T>::iter_key_prefix(id) {
				generations = generations.saturating_add(1);
				ensure!(generation <= set.generation, "a generation to come is on record");
			}
			if !ended {
				let there = Generations::<T>::iter_key_prefix(id).count();
				let running = usize::from(!matches!(set.stage, Stage::Drawing { .. }));
				let over = (set.generation as usize).saturating_add(1).saturating_sub(running);
				ensure!(there == over, "a generation is not on record");
			}
		}
		ensure!(Due::<T>::iter_keys().count() == sets, "something else is on the agenda");
		ensure!(MemberSpecs::<T>::iter_keys().count() == specs, "what nobody trains");
		ensure!(Generations::<T>::iter_keys().count() == generations, "generations of no set");
		for (who, amount) in held {
			let there = T::Currency::balance_on_hold(&HoldReason::Record.into(), &who);
			ensure!(there == amount, "what is held is not what is owed");
		}
		Ok(())
	}
}
