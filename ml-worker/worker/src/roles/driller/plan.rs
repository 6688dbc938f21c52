//! Decides what a driller does at a block. It is a pure function of what the driller sees.

use crate::roles::units::{step, Step};
use trainyard_client::AssignmentView;
use trainyard_protocol::{drill::ProjectId, job::BlockNumber};

/// What a driller sees at a block.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
	/// Height of the best block.
	pub best: BlockNumber,
	/// The unit that it has, while there is something to do about it.
	pub assignment: Option<&'a AssignmentView>,
	/// Whether a result of that unit is on disk.
	pub found: bool,
	/// Whether it is in the pool of drillers.
	pub enlisted: bool,
	/// Whether it has said that it leaves the pool.
	pub retiring: bool,
	/// The projects that it would compute units of: active ones whose data are here.
	pub wanted: &'a [ProjectId],
	/// Those of which it is given units.
	pub chosen: &'a [ProjectId],
	/// Whether the data of its unit are not to be had.
	pub lacking: bool,
	/// Whether it wants no more units.
	pub leaving: bool,
}

/// What to do about the pool of drillers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pool {
	/// Enter it.
	Enlist,
	/// Stay, and be given units of other projects.
	Choose,
	/// Leave it.
	Retire,
}

/// What a driller does at a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
	/// About its unit.
	pub unit: Option<Step>,
	/// About the pool.
	pub pool: Option<Pool>,
}

/// Returns what to do in `situation`.
pub fn plan(situation: &Situation<'_>) -> Plan {
	let Situation { best, assignment, found, enlisted, retiring, leaving, .. } = *situation;
	let Situation { wanted, chosen, lacking, .. } = *situation;
	let unit = assignment.and_then(|view| step(view, best, found, lacking));
	// Projects that ended may stay chosen: nothing of them is handed out.
	let others = wanted.iter().any(|id| !chosen.contains(id));
	let pool = match (leaving, enlisted) {
		(true, true) if !retiring => Some(Pool::Retire),
		// A driller out of the pool with a unit in hand finishes that first.
		(false, false) if !wanted.is_empty() && assignment.is_none() => Some(Pool::Enlist),
		(false, true) if others && !retiring => Some(Pool::Choose),
		_ => None,
	};
	Plan { unit, pool }
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::units::tests::view;
	use trainyard_protocol::drill::UnitPhase;

	const IDLE: Situation<'static> = Situation {
		best: 40,
		assignment: None,
		found: false,
		enlisted: false,
		retiring: false,
		wanted: &[4],
		chosen: &[],
		lacking: false,
		leaving: false,
	};

	#[test]
	fn a_driller_enlists_when_there_is_a_project_for_it_and_it_is_free() {
		let pool = |situation| plan(&situation).pool;
		assert_eq!(pool(IDLE), Some(Pool::Enlist));
		assert_eq!(pool(Situation { wanted: &[], ..IDLE }), None, "data are fetched");
		let enlisted = Situation { enlisted: true, chosen: &[4], ..IDLE };
		assert_eq!(pool(enlisted), None);
		// A project more, or after another: what has ended meanwhile needs no transaction.
		assert_eq!(pool(Situation { wanted: &[4, 5], ..enlisted }), Some(Pool::Choose));
		assert_eq!(pool(Situation { wanted: &[5], ..enlisted }), Some(Pool::Choose));
		assert_eq!(pool(Situation { wanted: &[], ..enlisted }), None);
		assert_eq!(pool(Situation { wanted: &[5], retiring: true, ..enlisted }), None);
		assert_eq!(pool(Situation { leaving: true, ..IDLE }), None);
		let unit = view(UnitPhase::Commit, false, false);
		assert_eq!(pool(Situation { assignment: Some(&unit), ..IDLE }), None);
	}

	#[test]
	fn a_driller_that_leaves_says_so_once_and_finishes_its_unit() {
		let unit = view(UnitPhase::Commit, false, false);
		let leaving = Situation { enlisted: true, leaving: true, ..IDLE };
		assert_eq!(plan(&leaving), Plan { unit: None, pool: Some(Pool::Retire) });
		let working = Situation { assignment: Some(&unit), ..leaving };
		assert_eq!(plan(&working), Plan { unit: Some(Step::Compute), pool: Some(Pool::Retire) });
		let announced = Situation { retiring: true, found: true, ..working };
		assert_eq!(plan(&announced), Plan { unit: Some(Step::Commit), pool: None });
	}

	/// Killed at any moment and started again, a driller goes on: what it does depends only on the
	/// chain and on its disk, and what was computed is never computed again.
	#[test]
	fn every_state_on_the_way_leads_on() {
		let at = |phase, committed, revealed, found| {
			let unit = view(phase, committed, revealed);
			let at = Situation { assignment: Some(&unit), found, enlisted: true, ..IDLE };
			plan(&at).unit
		};
		let way = [
			at(UnitPhase::Commit, false, false, false),
			at(UnitPhase::Commit, false, false, true),
			at(UnitPhase::Commit, true, false, true),
			at(UnitPhase::Reveal, true, false, true),
			at(UnitPhase::Reveal, true, true, true),
		];
		let expected = [Some(Step::Compute), Some(Step::Commit), None, Some(Step::Reveal), None];
		assert_eq!(way, expected);
	}
}
