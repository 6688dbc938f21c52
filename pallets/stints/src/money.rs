//! Deposits of drillers, and what checks cost and bring.
//!
//! A report pays the fees of three verifiers times the chance of its check, into the jackpot that pays
//! them: who has shown much pays little, and who has shown nothing pays for its own check. The second
//! committee, which sits where the first does not confirm a report, is the jackpot's.

use crate::{Config, Event, HoldReason, Pallet, CHECKERS};
use frame_support::{
	defensive,
	traits::{
		fungible::{Inspect, Mutate, MutateHold},
		tokens::{Fortitude, Precision, Preservation},
		Get,
	},
};
use sp_runtime::DispatchError;
use trainyard_protocol::{
	job::Balance,
	stint::{ReportId, CERTAIN},
};

impl<T: Config> Pallet<T> {
	/// Holds the deposit of a driller, and returns it.
	pub(crate) fn hold(who: &T::AccountId) -> Result<Balance, DispatchError> {
		let deposit = T::DrillerDeposit::get();
		T::Currency::hold(&HoldReason::Driller.into(), who, deposit)?;
		Ok(deposit)
	}

	/// Gives the deposit of a driller back.
	pub(crate) fn give_back(who: &T::AccountId, deposit: Balance) {
		let reason = HoldReason::Driller.into();
		let released = T::Currency::release(&reason, who, deposit, Precision::BestEffort);
		if released != Ok(deposit) {
			defensive!("what is held can be released");
		}
	}

	/// Returns what a report with this chance of a check pays, rounded up.
	pub fn check_price(chance: u64) -> Balance {
		let all = T::CheckFee::get().saturating_mul(CHECKERS.into());
		all.saturating_mul(chance.into()).div_ceil(CERTAIN.into())
	}

	/// Moves what a report pays for checks to the jackpot.
	pub(crate) fn pay_for_checks(who: &T::AccountId, fee: Balance) -> Result<(), DispatchError> {
		let jackpot = T::Jackpot::get();
		T::Currency::transfer(who, &jackpot, fee, Preservation::Preserve).map(drop)
	}

	/// Pays a verifier from the jackpot, as far as it has anything above the existential deposit.
	pub(crate) fn pay_check(report: ReportId, verifier: &T::AccountId) {
		let jackpot = T::Jackpot::get();
		let has =
			T::Currency::reducible_balance(&jackpot, Preservation::Preserve, Fortitude::Polite);
		let fee = T::CheckFee::get().min(has);
		let paid = T::Currency::transfer(&jackpot, verifier, fee, Preservation::Preserve);
		let verifier = verifier.clone();
		Self::deposit_event(Event::CheckPaid { report, verifier, fee: paid.unwrap_or(0) });
	}
}
