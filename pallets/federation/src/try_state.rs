//! What must always hold in this pallet's storage.

use crate::{
	Config, Due, Federations, HoldReason, NextFederation, Pallet, ProposedPieces, Rounds, Templates,
};
use alloc::collections::BTreeMap;
use frame_support::{ensure, traits::fungible::InspectHold};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::{federation::Stage, job::Balance};

impl<T: Config> Pallet<T> {
	/// Checks that
	/// - every federation has a template with as many parts, is on the agenda, and nothing else is;
	/// - what is held of each account is at least what federations and proposals say;
	/// - a part that answered has a job, and an ended federation has neither fees nor proposals;
	/// - the pieces of each proposal are there, and those of no other;
	/// - a round has a model where it is over, and no other.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		let mut held = BTreeMap::<(T::AccountId, u8), Balance>::new();
		let mut add = |who: &T::AccountId, reason: u8, amount: Balance| {
			let sum = held.entry((who.clone(), reason)).or_default();
			*sum = sum.saturating_add(amount);
		};
		let (mut federations, mut proposals, mut rounds) = (0usize, 0usize, 0usize);
		for (id, federation) in Federations::<T>::iter() {
			federations = federations.saturating_add(1);
			ensure!(id < NextFederation::<T>::get(), "a federation of a number to come");
			ensure!(Due::<T>::contains_key(id), "a federation is not on the agenda");
			let template = Templates::<T>::get(id).ok_or("a federation without a template")?;
			ensure!(template.parts.len() == federation.parts.len(), "other parts");
			add(&federation.submitter, 0, federation.fees);
			add(&federation.submitter, 1, federation.record);
			for part in &federation.parts {
				ensure!(part.answer.is_none() || part.job.is_some(), "an answer without a job");
				ensure!(part.answer.is_none() || !part.given_up, "an answer that was given up");
			}
			let ended = matches!(federation.stage, Stage::Ended(_));
			let aggregating = federation.stage == Stage::Aggregating;
			ensure!(!ended || federation.fees == 0, "fees of what is over");
			ensure!(aggregating || federation.proposals.is_empty(), "proposals out of time");
			for proposal in &federation.proposals {
				proposals = proposals.saturating_add(1);
				add(&proposal.proposer, 2, proposal.deposit);
				let pieces = ProposedPieces::<T>::contains_key(id, proposal.number);
				ensure!(pieces, "a proposal without pieces");
			}
			if !ended {
				let there = Rounds::<T>::iter_key_prefix(id).count();
				ensure!(there == federation.round as usize, "rounds without a model");
			}
			for round in Rounds::<T>::iter_key_prefix(id) {
				rounds = rounds.saturating_add(1);
				ensure!(round < federation.round, "a model of a round to come");
			}
		}
		ensure!(Due::<T>::iter_keys().count() == federations, "something else is on the agenda");
		ensure!(ProposedPieces::<T>::iter_keys().count() == proposals, "pieces of no proposal");
		ensure!(Rounds::<T>::iter_keys().count() == rounds, "rounds of no federation");
		for ((who, reason), amount) in held {
			let reason = match reason {
				0 => HoldReason::Fees,
				1 => HoldReason::Record,
				_ => HoldReason::Proposal,
			};
			let there = T::Currency::balance_on_hold(&reason.into(), &who);
			ensure!(there == amount, "what is held is not what is owed");
		}
		Ok(())
	}
}
