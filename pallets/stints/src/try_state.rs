//! What must always hold in this pallet's storage.

use crate::{
	Config, Due, HoldReason, NextReport, Pallet, Phase, Reports, Seats, Stints, Task, CHECKERS,
};
use frame_support::{ensure, traits::fungible::InspectHold};
use sp_runtime::TryRuntimeError;
use trainyard_protocol::stint::{CERTAIN, LEAST_CHANCE, SAMPLES};

impl<T: Config> Pallet<T> {
	/// Checks that
	/// - the deposit of every driller is held;
	/// - a stint's report exists and is its driller's, and a report that has a driller in a stint is
	///   named by it;
	/// - every report is on the agenda, has a chance in the range, samples where it is checked, and a
	///   committee of three or more where verifiers sit;
	/// - seats are of reports, and those of reports are noted.
	pub fn do_try_state() -> Result<(), TryRuntimeError> {
		for (who, stint) in Stints::<T>::iter() {
			let held = T::Currency::balance_on_hold(&HoldReason::Driller.into(), &who);
			ensure!(held >= stint.deposit, "a deposit is not held");
			if let Some(id) = stint.report {
				let report = Reports::<T>::get(id).ok_or("a stint's report is not there")?;
				ensure!(report.driller == who, "a stint's report is another driller's");
				ensure!(report.number < stint.number, "a report of a stint to come");
			}
		}
		for (id, report) in Reports::<T>::iter() {
			ensure!(id < NextReport::<T>::get(), "a report of a number to come");
			ensure!(Due::<T>::contains_key(Task(id)), "a report is not on the agenda");
			ensure!((LEAST_CHANCE..=CERTAIN).contains(&report.chance), "no chance of a check");
			let stint = Stints::<T>::get(&report.driller).ok_or("a report without a stint")?;
			ensure!(stint.report == Some(id), "a report that its stint does not name");
			let sits = !matches!(report.phase, Phase::Drawing { .. });
			ensure!(!sits || report.committee.len() >= CHECKERS as usize, "nobody checks");
			let drawn = report.samples.len();
			ensure!(
				report.committee.is_empty() || drawn == report.laps.min(SAMPLES) as usize,
				"a check without samples"
			);
			for seat in &report.committee {
				ensure!(Seats::<T>::contains_key(&seat.who, id), "a seat is not noted");
			}
		}
		for (who, id) in Seats::<T>::iter_keys() {
			let report = Reports::<T>::get(id).ok_or("a seat of no report")?;
			ensure!(report.committee.iter().any(|seat| seat.who == who), "a seat that is none");
		}
		Ok(())
	}
}
