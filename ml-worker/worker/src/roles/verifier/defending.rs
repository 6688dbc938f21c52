//! Plays the disputes of this verifier: it defends its evidence, and goes on with what it accuses of.

use super::{rescued::garbage, sources::places, Key, Memory, Verifier};
use crate::roles::{
	blocks::LookError,
	disputes::{bundles::manifest_of, driver::Driver, files::Files, party::Subject},
	store::{result_folder, Home},
	tasks::Tasks,
};
use std::{path::PathBuf, sync::Arc};
use trainyard_client::{court::Dispute, Head, JobView, Transactor};
use trainyard_court::game::Target;
use trainyard_proof::{bundle::Bundle, inputs::InputPaths};
use trainyard_protocol::job::MAX_REPLICAS;

/// Returns the checkpoint from which a target is computed.
fn begins(target: &Target, segments: u32) -> u32 {
	match *target {
		Target::Segment(segment) | Target::Evidence(segment) => segment,
		Target::Rescue { state, .. } => state,
		Target::Model => segments,
		// The initial state is computed, and the early stop is one of the leaves.
		Target::Start | Target::Stop => 0,
	}
}

/// Returns where the files are from which this verifier computes its side of a dispute, in whichever
/// round it fetched them.
pub(super) fn files_of(home: &Home, job: &JobView, dispute: &Dispute) -> Option<Files> {
	let Subject { case, result } = Subject::of(job, &dispute.defendant)?;
	let step = case.spec.checkpoint_step(begins(&dispute.stage.subject.target, result.segments))?;
	let rounds = home.audits().ok()?.into_iter().rev().filter(|folder| folder.job == job.id);
	let results = rounds.flat_map(|folder| {
		let of = move |index: u32| result_folder(&folder.path, index as usize);
		(0..MAX_REPLICAS).map(of)
	});
	let has = |dir: &PathBuf| {
		let Ok(bundle) = Bundle::open(dir) else { return false };
		match dispute.stage.subject.target {
			// It is compared with the leaf of whoever stored it.
			Target::Rescue { blob, .. } => garbage(dir, &blob).is_file(),
			_ => {
				manifest_of(dir, &result.bundle_root).is_some()
					&& (step == 0 || bundle.has_checkpoint(step))
			}
		}
	};
	let dir = results.into_iter().find(has)?;
	let inputs = InputPaths::first_right(&case.spec, &places(home, &case.spec, &dir));
	let blob = match dispute.stage.subject.target {
		Target::Rescue { blob, .. } => Some(garbage(&dir, &blob)).filter(|path| path.is_file()),
		_ => None,
	};
	Some(Files { blob, ..Files::of_bundle(&dir, inputs).for_bundle(&result.bundle_root) })
}

impl Verifier {
	/// Looks at all disputes once, and starts what is due in those of this account.
	pub(super) async fn look_at_disputes(
		&self,
		memory: &mut Memory,
		driver: &mut Driver<Arc<Transactor>>,
		tasks: &mut Tasks<Key>,
		head: Head,
	) -> Result<(), LookError> {
		let jobs = self.chain.active_jobs(head.hash).await?;
		let jobs: Vec<&JobView> = jobs.iter().collect();
		let files = |job: &JobView, dispute: &Dispute| files_of(&self.home, job, dispute);
		let due = driver.look(&jobs, files, tasks, Key::Dispute).await?;
		memory.disputed = due.jobs;
		Ok(())
	}
}
