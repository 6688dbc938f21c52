//! Deposits of projects, and what verifiers are paid.
//!
//! A deposit is a hold on its proposer's account. It ends in one of two ways: it goes back to the
//! proposer or, where a vote condemned the project or its data were not to be had, to the jackpot.

use crate::{Config, Event, HoldReason, Pallet, Project};
use frame_support::{
	defensive,
	pallet_prelude::DispatchResult,
	traits::{
		fungible::{Inspect, Mutate, MutateHold},
		tokens::{Fortitude, Precision, Preservation, Restriction},
		Get,
	},
};
use trainyard_protocol::{drill::AssignmentId, job::Balance};

impl<T: Config> Pallet<T> {
	/// Returns the deposit of a project of `units` units, where `open` projects are open and `own` of
	/// them are the proposer's; `None` on overflow.
	///
	/// Each eighth of all places that is taken doubles what is held for a project, and so does each
	/// open project of the same proposer: whoever wants all places pays far more than who wants one.
	pub fn deposit(units: u32, open: u32, own: u32) -> Option<Balance> {
		let eighths = open.saturating_mul(8).checked_div(T::MaxProjects::get())?;
		let factor: Balance = 1u128.checked_shl(eighths.checked_add(own)?)?;
		let units = T::UnitDeposit::get().checked_mul(Balance::from(units))?;
		T::ProjectDeposit::get().checked_mul(factor)?.checked_add(units)
	}

	/// Holds the deposit of a project.
	pub(crate) fn hold(proposer: &T::AccountId, deposit: Balance) -> DispatchResult {
		T::Currency::hold(&HoldReason::Project.into(), proposer, deposit)
	}

	/// Gives back the deposit of a project, and returns the amount.
	pub(crate) fn give_back(project: &mut Project<T::AccountId>) -> Balance {
		let amount = core::mem::take(&mut project.deposit);
		if amount > 0 {
			let reason = HoldReason::Project.into();
			let released =
				T::Currency::release(&reason, &project.proposer, amount, Precision::BestEffort);
			if released != Ok(amount) {
				defensive!("what is held can be released");
			}
		}
		amount
	}

	/// Moves what is held for a project to the jackpot, and returns the amount. Where the jackpot
	/// cannot take it (its account does not exist, and the deposit does not create it) nothing is
	/// lost.
	pub(crate) fn forfeit(project: &mut Project<T::AccountId>) -> Balance {
		let moved = T::Currency::transfer_on_hold(
			&HoldReason::Project.into(),
			&project.proposer,
			&T::Jackpot::get(),
			project.deposit,
			Precision::BestEffort,
			Restriction::Free,
			Fortitude::Force,
		);
		let moved = moved.unwrap_or(0);
		project.deposit = project.deposit.saturating_sub(moved);
		moved
	}

	/// Pays a verifier from the jackpot, as far as it has anything above the existential deposit.
	pub(crate) fn pay_check(assignment: AssignmentId, verifier: &T::AccountId) {
		let jackpot = T::Jackpot::get();
		let has =
			T::Currency::reducible_balance(&jackpot, Preservation::Preserve, Fortitude::Polite);
		let fee = T::CheckFee::get().min(has);
		let paid = T::Currency::transfer(&jackpot, verifier, fee, Preservation::Preserve);
		Self::deposit_event(Event::CheckPaid {
			assignment,
			verifier: verifier.clone(),
			fee: paid.unwrap_or(0),
		});
	}
}
