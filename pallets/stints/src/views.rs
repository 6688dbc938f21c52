//! What clients ask, through the runtime API.

use crate::{stints::ReportOf, Config, Pallet, Phase, Reports, Seats, Stints};
use alloc::vec::Vec;
use trainyard_protocol::stint::{ReportId, ReportPhase, ReportView, StintView, CERTAIN};
use trainyard_traits::Drillers;

/// Most checks that are shown at a time.
const MAX_CHECKS: usize = 64;

impl<T: Config> Pallet<T> {
	/// Returns the stint of `who`.
	pub fn stint(who: &T::AccountId) -> Option<StintView> {
		let stint = Stints::<T>::get(who)?;
		Some(StintView {
			number: stint.number,
			begun: stint.begun,
			seed: stint.seed,
			from: stint.from,
			until: stint.until,
			report: stint.report,
			stock: T::Drillers::drilled(who),
			check_price: Self::check_price(CERTAIN),
		})
	}

	/// Returns the report of `who` that is not settled.
	pub fn pending(who: &T::AccountId) -> Option<ReportView<T::AccountId>> {
		let id = Stints::<T>::get(who)?.report?;
		Some(Self::view(id, Reports::<T>::get(id)?, who))
	}

	/// Returns the reports about which `who`, a verifier, has something to do now; the most urgent
	/// first.
	pub fn checks(who: &T::AccountId) -> Vec<ReportView<T::AccountId>> {
		let mut checks: Vec<_> = Seats::<T>::iter_key_prefix(who)
			.filter_map(|id| {
				let report = Reports::<T>::get(id)?;
				if !report.sitting().iter().any(|seat| seat.who == *who) {
					return None;
				}
				let view = Self::view(id, report, who);
				let owes = match view.phase {
					ReportPhase::Drawing => false,
					ReportPhase::Checking => !view.committed,
					ReportPhase::Opening => view.committed && !view.revealed,
				};
				owes.then_some(view)
			})
			.collect();
		checks.sort_by_key(|check| (check.until, check.id));
		checks.truncate(MAX_CHECKS);
		checks
	}

	fn view(id: ReportId, report: ReportOf<T>, who: &T::AccountId) -> ReportView<T::AccountId> {
		let (phase, until) = match report.phase {
			Phase::Drawing { .. } => (ReportPhase::Drawing, 0),
			Phase::Checking { until } => (ReportPhase::Checking, until),
			Phase::Opening { until, .. } => (ReportPhase::Opening, until),
		};
		let seat = report.sitting().iter().find(|seat| seat.who == *who);
		let committed = seat.is_some_and(|seat| seat.commitment.is_some());
		let revealed = seat.is_some_and(|seat| seat.digest.is_some());
		ReportView {
			id,
			number: report.number,
			seed: report.seed,
			laps: report.laps,
			phase,
			until,
			opened: report.opened.is_some(),
			committed,
			revealed,
			samples: report.samples.into_inner(),
			driller: report.driller,
		}
	}
}
