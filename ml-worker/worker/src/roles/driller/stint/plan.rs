//! Decides what a driller does about its stint at a block. It is a pure function of what it sees.

use trainyard_client::ReportView;
use trainyard_protocol::{
	job::BlockNumber,
	stint::{ReportId, ReportPhase, StintView},
};

/// What to do about a stint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
	/// Begin one.
	Begin,
	/// Report this one, by its number.
	Report(u32),
	/// Open the samples of a report.
	Open(ReportId),
	/// Give it up.
	Retire,
}

/// What a driller sees at a block.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
	/// Height of the best block.
	pub best: BlockNumber,
	/// The stint that it is in.
	pub stint: Option<&'a StintView>,
	/// The report that is not settled.
	pub pending: Option<&'a ReportView>,
	/// Laps of this stint that are on disk.
	pub laps: u32,
	/// Whether it wants no more stints.
	pub leaving: bool,
}

/// Returns what to do in `situation`.
pub fn plan(situation: &Situation<'_>) -> Option<Step> {
	let Situation { best, stint, pending, laps, leaving } = *situation;
	if let Some(report) = pending {
		// A transaction sent now is in the next block.
		let opens = report.phase == ReportPhase::Opening && best < report.until;
		if opens && !report.opened {
			return Some(Step::Open(report.id));
		}
	}
	let Some(stint) = stint else { return (!leaving).then_some(Step::Begin) };
	let next = best.saturating_add(1);
	match (leaving, pending) {
		(true, None) => Some(Step::Retire),
		(true, Some(_)) => None,
		(false, _) if next > stint.until => Some(Step::Begin),
		(false, None) if laps > 0 && next >= stint.from => Some(Step::Report(stint.number)),
		(false, _) => None,
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::AccountId32;
	use trainyard_protocol::H256;

	fn stint() -> StintView {
		StintView {
			number: 3,
			begun: 100,
			seed: H256::zero(),
			from: 150,
			until: 900,
			report: None,
			stock: 0,
			check_price: 0,
		}
	}

	fn report(phase: ReportPhase, opened: bool) -> ReportView {
		ReportView {
			id: 7,
			driller: AccountId32([1; 32]),
			number: 2,
			seed: H256::zero(),
			laps: 5,
			phase,
			until: 200,
			samples: vec![],
			opened,
			committed: false,
			revealed: false,
		}
	}

	fn at(best: u32, pending: Option<&ReportView>, laps: u32, leaving: bool) -> Option<Step> {
		plan(&Situation { best, stint: Some(&stint()), pending, laps, leaving })
	}

	#[test]
	fn a_stint_is_begun_reported_and_begun_again() {
		let none = Situation { best: 1, stint: None, pending: None, laps: 0, leaving: false };
		assert_eq!(plan(&none), Some(Step::Begin));
		assert_eq!(plan(&Situation { leaving: true, ..none }), None);
		assert_eq!(at(148, None, 9, false), None);
		assert_eq!(at(149, None, 9, false), Some(Step::Report(3)));
		assert_eq!(at(149, None, 0, false), None, "there is nothing to report yet");
		assert_eq!(at(899, None, 9, false), Some(Step::Report(3)));
		assert_eq!(at(900, None, 9, false), Some(Step::Begin), "too late to report");
		assert_eq!(at(149, None, 9, true), Some(Step::Retire));
	}

	#[test]
	fn what_is_drawn_is_opened_before_anything_else() {
		let drawing = report(ReportPhase::Drawing, false);
		let checking = report(ReportPhase::Checking, false);
		for waiting in [&drawing, &checking] {
			assert_eq!(at(160, Some(waiting), 9, false), None, "it goes on computing");
			assert_eq!(at(160, Some(waiting), 9, true), None, "it stays for the check");
		}
		let opening = report(ReportPhase::Opening, false);
		assert_eq!(at(199, Some(&opening), 9, false), Some(Step::Open(7)));
		assert_eq!(at(199, Some(&opening), 9, true), Some(Step::Open(7)));
		assert_eq!(at(200, Some(&opening), 9, false), None, "too late");
		assert_eq!(at(199, Some(&report(ReportPhase::Opening, true)), 9, false), None);
		assert_eq!(at(901, Some(&drawing), 9, false), Some(Step::Begin));
	}
}
