//! Counts the outcomes of units.

use crate::roles::{
	store::{Settled, UnitRecord},
	units::ut,
};
use trainyard_client::{Chain, ChainError};
use trainyard_protocol::{drill::UnitOutcome, job::BlockNumber};

/// Blocks after its computation for which the driller waits for the result of a unit. A unit that
/// is issued again, or checked, takes several times its own time.
pub const PATIENCE: BlockNumber = 1_200;
/// Blocks for which the record of a settled unit is kept: no fork is that long.
pub const KEPT: BlockNumber = 256;

/// What this process has done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
	/// Units computed.
	pub computed: u32,
	/// Units whose result is this driller's.
	pub agreed: u32,
	/// Units that have a different result, or none.
	pub lost: u32,
	/// Work of the agreed units, in micro-ut.
	pub work: u64,
	/// Seconds of computing.
	pub seconds: f64,
}

impl Tally {
	/// Adds the outcome of a unit.
	pub fn settle(&mut self, record: &UnitRecord, settled: Settled) {
		match settled.agreed {
			true => {
				self.agreed += 1;
				self.work = self.work.saturating_add(record.work);
			}
			false => self.lost += 1,
		}
	}

	/// Describes the tally; `open` units still wait for their outcome.
	pub fn summary(&self, open: usize) -> String {
		format!(
			"This run: {} computed in {:.1} s, {} agreed ({} ut), {} not agreed, {open} open",
			self.computed,
			self.seconds,
			self.agreed,
			ut(self.work),
			self.lost
		)
	}
}

/// Returns the outcome of a unit, by the project's result for it at height `best`, if there is one;
/// `None` while that is open. `exists` says whether the project is on record.
pub fn settled(
	record: &UnitRecord,
	outcome: Option<&UnitOutcome>,
	exists: bool,
	best: BlockNumber,
) -> Option<Settled> {
	let agreed = match outcome {
		Some(outcome) => outcome.result == record.result,
		None if !exists || best.saturating_sub(record.height) > PATIENCE => false,
		None => return None,
	};
	Some(Settled { agreed, at: best })
}

/// Asks the chain, and returns what [`settled`] makes of its answer.
pub async fn look(
	chain: &Chain,
	record: &UnitRecord,
	best: BlockNumber,
) -> Result<Option<Settled>, ChainError> {
	let outcome = chain.drilling_result(record.project, record.index).await?;
	// The chain is asked only if there is no result, and only now and then.
	let exists = outcome.is_some()
		|| !best.is_multiple_of(16)
		|| chain.drilling_project(record.project).await?.is_some();
	Ok(settled(record, outcome.as_ref(), exists, best))
}

/// Returns whether the record of a unit is of no use any more.
pub fn is_old(record: &UnitRecord, best: BlockNumber) -> bool {
	record.settled.is_some_and(|settled| best.saturating_sub(settled.at) > KEPT)
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::store::unit_tests::record;
	use codec::{Decode, Encode};
	use trainyard_client::fake::FakeNode;
	use trainyard_protocol::{drill::UnitResult, H256};

	fn outcome(result: UnitResult) -> UnitOutcome {
		UnitOutcome { index: 5, result, replicas: 3 }
	}

	#[test]
	fn a_unit_is_settled_by_its_result() {
		let record = record(3);
		let mine = outcome(record.result);
		let other = outcome(UnitResult { state: H256::zero(), score: None });
		let agreed = |outcome, exists, best| {
			settled(&record, outcome, exists, best).map(|settled| settled.agreed)
		};
		assert_eq!(agreed(Some(&mine), true, 60), Some(true));
		assert_eq!(agreed(Some(&other), true, 60), Some(false));
		assert_eq!(agreed(None, true, 60), None, "it is judged, checked or issued again");
		assert_eq!(agreed(None, false, 60), Some(false), "the project was cleared");
		assert_eq!(agreed(None, true, 40 + PATIENCE), None);
		assert_eq!(agreed(None, true, 41 + PATIENCE), Some(false));
		// A chain that was started from scratch.
		assert_eq!(agreed(None, true, 1), None);
	}

	#[test]
	fn records_are_kept_while_a_fork_could_ask_for_them() {
		let mut record = record(3);
		assert!(!is_old(&record, u32::MAX), "open");
		record.settled = Some(Settled { agreed: true, at: 100 });
		assert!(!is_old(&record, 100 + KEPT) && is_old(&record, 101 + KEPT));
	}

	#[test]
	fn a_tally_adds_up() {
		let mut tally = Tally { computed: 3, seconds: 1.5, ..Tally::default() };
		tally.settle(&record(1), Settled { agreed: true, at: 1 });
		tally.settle(&record(2), Settled { agreed: false, at: 1 });
		assert_eq!((tally.agreed, tally.lost, tally.work), (1, 1, 1_234));
		let text = "This run: 3 computed in 1.5 s, 1 agreed (0.001234 ut), 1 not agreed, 1 open";
		assert_eq!(tally.summary(1), text);
	}

	/// The chain is asked for exactly this unit's result.
	#[tokio::test]
	async fn the_result_of_the_unit_is_asked_for() {
		for index in [0u32, 5] {
			let record = UnitRecord { index, ..record(3) };
			let result = record.result;
			let node = FakeNode::new(move |method, arguments, _| match method {
				"TrainyardApi_drilling_results" => {
					let asked = <(u32, Option<u32>, u32)>::decode(&mut &*arguments).unwrap();
					assert_eq!(asked, (2, index.checked_sub(1), 1));
					// The next one, where this one has no result yet.
					let other = UnitOutcome { index: index + 1, result, replicas: 2 };
					Ok(vec![other].encode())
				}
				other => panic!("{other}"),
			});
			assert_eq!(look(&node.chain().await, &record, 41).await.unwrap(), None);
			let node = FakeNode::new(move |_, _, _| {
				Ok(vec![UnitOutcome { index, result, replicas: 2 }].encode())
			});
			let found = look(&node.chain().await, &record, 41).await.unwrap();
			assert_eq!(found, Some(Settled { agreed: true, at: 41 }));
		}
	}
}
