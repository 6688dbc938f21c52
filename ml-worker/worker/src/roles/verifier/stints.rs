//! Computes samples of stints again, for the reports in whose check the verifier sits.

use super::{Key, Memory, Verifier};
use crate::roles::{
	store::{CheckRecord, Salt},
	tasks::{Outcome, TaskError, Tasks},
};
use serde_json::json;
use std::sync::Arc;
use trainyard_client::{calls, ChainError, Head, ReportView};
use trainyard_proof::drill::Laps;
use trainyard_protocol::{
	job::BlockNumber,
	stint::{self, ReportPhase},
	H256,
};

/// Blocks between two looks for records of checks that are over.
const TIDY_EVERY: BlockNumber = 600;

/// What a check asks for at a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
	/// Compute the samples.
	Compute,
	/// Commit to them.
	Commit,
	/// Reveal them.
	Reveal,
}

/// Returns what `view` asks of a verifier at height `best`. `found` says whether what it found is on
/// disk: that is what it commits to, whatever process computed it.
pub fn step(view: &ReportView, best: BlockNumber, found: bool) -> Option<Step> {
	// A transaction sent now is in the next block.
	match view.phase {
		ReportPhase::Drawing => None,
		_ if best >= view.until => None,
		ReportPhase::Checking if view.committed => None,
		ReportPhase::Checking if found => Some(Step::Commit),
		ReportPhase::Checking => Some(Step::Compute),
		ReportPhase::Opening if view.committed && !view.revealed && found => Some(Step::Reveal),
		ReportPhase::Opening => None,
	}
}

impl Verifier {
	/// Starts what is owed in checks of stints at this block.
	pub(super) async fn look_at_stints(
		self: &Arc<Self>,
		memory: &mut Memory,
		tasks: &mut Tasks<Key>,
		head: Head,
	) -> Result<(), ChainError> {
		if head.number.is_multiple_of(TIDY_EVERY) {
			if let Err(e) = self.home.forget_checks() {
				tracing::warn!("{e}");
			}
		}
		for view in self.chain.stint_checks(self.sender.account(), head.hash).await? {
			let found = self.home.load_check(view.id, &view.seed, &view.samples);
			let found_one = matches!(&found, Ok(Some(_)));
			let lost = found.is_ok() && view.committed && !view.revealed && !found_one;
			if lost && memory.lost_checks.insert(view.id) {
				let text = format!(
					"check of report {}: committed, but what was found is not in this folder: it cannot \
					 be revealed here. Another daemon with this key?",
					view.id
				);
				self.report.general("lost", &text, json!({ "report": view.id }));
			}
			let Some(step) = step(&view, head.number, found_one) else { continue };
			let key = Key::Stint(view.id, view.seed, step);
			let me = self.clone();
			match found {
				Ok(record) => {
					tasks.start(key, async move { me.do_check(view, step, record, head).await })
				}
				// It is reported as a failed attempt; the others go on.
				Err(e) => tasks.start(key, async move { Err(e.into()) }),
			};
		}
		Ok(())
	}

	async fn do_check(
		&self,
		view: ReportView,
		step: Step,
		record: Option<CheckRecord>,
		head: Head,
	) -> Outcome {
		let id = view.id;
		match (step, record) {
			(Step::Compute, _) => self.compute_samples(view).await,
			(Step::Commit, Some(record)) => {
				let (genesis, me) = (self.chain.genesis(), self.sender.account());
				let made = stint::commitment(&genesis, id, me, &record.digest, &record.salt.0);
				let call = calls::stint_check(id, &made).on(head);
				self.say(&call, "Stints::AlreadyCommitted").await?;
				let text = format!("check of report {id}: committed");
				self.report.general("committed", &text, json!({ "report": id }));
				Ok(())
			}
			(Step::Reveal, Some(record)) => {
				let call = calls::stint_check_reveal(id, &record.digest, &record.salt.0).on(head);
				self.say(&call, "Stints::AlreadyRevealed").await?;
				let text = format!("check of report {id}: revealed");
				self.report.general("revealed", &text, json!({ "report": id }));
				Ok(())
			}
			(_, None) => Err(TaskError::failed("what was found is not on disk")),
		}
	}

	/// Sends `call`. The error `done` says that the same was sent before.
	async fn say(&self, call: &trainyard_client::Call, done: &str) -> Outcome {
		match self.sender.run(call).await {
			Err(e) if e.failed_with(done) => Ok(()),
			result => Ok(result.map(drop)?),
		}
	}

	async fn compute_samples(&self, view: ReportView) -> Outcome {
		let text = format!("check of report {}: computing laps {:?} again", view.id, view.samples);
		let fields = json!({ "report": view.id, "samples": view.samples });
		self.report.general("computing", &text, fields);
		let (seed, samples) = (view.seed, view.samples.clone());
		let what = format!("the check of report {}", view.id);
		let _lease = self.replayers.lease(&what, view.until).await;
		let results = tokio::task::spawn_blocking(move || {
			let laps = Laps::chosen()?;
			let found = samples.iter().map(|index| laps.compute(&seed, *index));
			found.collect::<Result<Vec<H256>, _>>().map_err(TaskError::from)
		})
		.await??;
		let digest = stint::digest(&results);
		self.home.save_check(&CheckRecord {
			report: view.id,
			seed: view.seed,
			samples: view.samples,
			digest,
			salt: Salt::random(),
		})?;
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::AccountId32;

	#[test]
	fn every_state_on_the_way_leads_on() {
		let at = |phase, committed, revealed, found, best| {
			let view = ReportView {
				id: 1,
				driller: AccountId32([1; 32]),
				number: 0,
				seed: H256::zero(),
				laps: 9,
				phase,
				until: 50,
				samples: vec![1, 2],
				opened: false,
				committed,
				revealed,
			};
			step(&view, best, found)
		};
		use ReportPhase::*;
		let way = [
			at(Drawing, false, false, false, 40),
			at(Checking, false, false, false, 40),
			at(Checking, false, false, true, 40),
			at(Checking, true, false, true, 40),
			at(Opening, true, false, true, 40),
			at(Opening, true, true, true, 40),
			at(Opening, false, false, true, 40),
			at(Opening, true, false, false, 40),
			at(Checking, false, false, false, 50),
		];
		let expected = [
			None,
			Some(Step::Compute),
			Some(Step::Commit),
			None,
			Some(Step::Reveal),
			None,
			None,
			None,
			None,
		];
		assert_eq!(way, expected);
	}
}
