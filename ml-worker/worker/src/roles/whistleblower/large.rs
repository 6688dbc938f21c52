//! Asks committees for states of a result that are too large for the chain and that nobody gives.

use super::Whistleblower;
use crate::roles::{
	common::{bundles::has_state, large::patience},
	tasks::TaskError,
};
use std::path::Path;
use trainyard_client::JobView;
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::bundle::{manifest::checkpoint_file, max_checkpoint_bytes, Bundle};
use trainyard_protocol::{audit::AuditPhase, job::WorkResult};

/// The file in the folder of a result that says what was done for its states.
const RECORD: &str = "lacked.json";

impl Whistleblower {
	/// Returns what becomes of a look at a result of which something could not be fetched, for this
	/// `problem`: where it is a state that no block carries a committee is asked for it, and it is looked
	/// again.
	pub(super) async fn lacked(
		&self,
		(job, spec): (&JobView, &CheckedSpec),
		result: &WorkResult,
		segments: &[u32],
		folder: &Path,
		problem: TaskError,
	) -> TaskError {
		let audit = job.audit.as_ref();
		let Some((audit, AuditPhase::Standing { until })) = audit.map(|audit| (audit, audit.phase))
		else {
			return problem;
		};
		let group = audit.groups.iter().position(|group| group.result.common() == result.common());
		let Some(group) = group.and_then(|at| u32::try_from(at).ok()) else { return problem };
		let is_listed =
			Bundle::open(folder).is_ok_and(|bundle| bundle.root() == result.bundle_root);
		if !is_listed || !self.large.is_large(spec) {
			return problem;
		}
		let mut lacking = Vec::new();
		for segment in segments.iter().filter(|segment| **segment > 0) {
			let Some(step) = spec.checkpoint_step(*segment) else { continue };
			let (file, limit) = (checkpoint_file(step), max_checkpoint_bytes(spec));
			if !has_state(folder, &file, limit).await {
				lacking.push(*segment);
			}
		}
		let best = match self.large.chain.head().await {
			Ok(head) => head.number,
			Err(e) => return e.into(),
		};
		let (record, patience) = (folder.join(RECORD), patience(until, best));
		let asked = self.large.advance((job.id, group), &lacking, &record, patience).await;
		match asked {
			Ok(true) => TaskError::Transient(format!("{problem}; a committee is asked for it")),
			Ok(false) => problem,
			Err(e) => e,
		}
	}
}
