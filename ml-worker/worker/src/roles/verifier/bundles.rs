//! In which of the bundles of a result this seat looks.
//!
//! Each trainer of a result has a bundle of its own, in which other leaves are forced to be false. A seat
//! may look at any of them, and says at which. It takes the one that the chain names, unless the manifest of
//! that is not to be had: who withholds it keeps nobody from a result that others delivered as well. Once a
//! manifest is here, the seat looks at that bundle to the end of the round, unless its trainer is convicted
//! before the seat has committed.

use super::{
	sources::{fetch_bundle, servers},
	Verifier,
};
use crate::roles::{common::rescues::OnChain, store::result_folder};
use std::{path::Path, time::Duration};
use tracing::{debug, info};
use trainyard_client::{AccountId32, AuditView, GroupView, JobView};
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::bundle::{self, Bundle};
use trainyard_protocol::{audit::AuditPhase, job::WorkResult, pieces::Piece, H256};

/// Time for the manifest of one bundle, if there are others.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns the root of the bundle of which the manifest is in `dir`, if it is one of these. While a committee
/// replays, not that of a trainer that is out: what is said of that says nothing of the result.
fn here(group: &GroupView, dir: &Path, is_replayed: bool) -> Option<H256> {
	let root = Bundle::open(dir).ok()?.root();
	let mut same = group.bundles.iter().filter(|bundle| bundle.root == root);
	same.any(|of| !is_replayed || !group.convicted.contains(&of.trainer)).then_some(root)
}

/// Returns whether the committee of an audit replays, and `me` has not said yet what it found.
fn is_replayed(audit: &AuditView, me: &AccountId32) -> bool {
	let mut seats = audit.committee.iter();
	let waits = seats.any(|member| member.verifier == *me && member.commitment.is_none());
	matches!(audit.phase, AuditPhase::Committing { .. }) && waits
}

/// Returns an audit in which each result is in the bundle that is looked at in the round of this `folder`:
/// that of the manifest there, or the one that the chain names.
pub(super) fn looked_at(audit: &AuditView, me: &AccountId32, folder: &Path) -> AuditView {
	let is_replayed = is_replayed(audit, me);
	let mut audit = audit.clone();
	for (index, group) in audit.groups.iter_mut().enumerate() {
		// Where there is one bundle there is nothing to choose.
		if group.bundles.len() > 1 {
			let root = here(group, &result_folder(folder, index), is_replayed);
			group.result.bundle_root = root.unwrap_or(group.result.bundle_root);
		}
	}
	audit
}

impl Verifier {
	/// Chooses for each result in which bundle this seat looks, and brings the manifests of those that it
	/// has a choice of. Returns the audit with these.
	pub(super) async fn choose(
		&self,
		(job, spec, seed): (&JobView, &CheckedSpec, H256),
		audit: &AuditView,
		folder: &Path,
	) -> AuditView {
		let me = self.sender.account();
		let is_replayed = is_replayed(audit, me);
		let mut audit = looked_at(audit, me, folder);
		for (index, group) in audit.groups.iter_mut().enumerate() {
			let dir = result_folder(folder, index);
			let is_open = group.decision.is_none() && group.bundles.len() > 1;
			if !is_open || here(group, &dir, is_replayed).is_some() {
				continue;
			}
			let first = group.result.bundle_root;
			let named = group.bundles.iter().filter(|bundle| bundle.root == first);
			let others = group.bundles.iter().filter(|bundle| bundle.root != first);
			let all = named.chain(others.filter(|other| !group.convicted.contains(&other.trainer)));
			for bundle in all {
				let result = WorkResult { bundle_root: bundle.root, ..group.result };
				let on_chain = group.stored.contains(&Piece::Leaves)
					&& OnChain { chain: &self.chain, job, spec, seed, group }
						.leaves(&result, &dir)
						.await;
				if on_chain || self.fetch_manifest(job, spec, &result, &dir).await {
					if result.bundle_root != first {
						info!("job {}: result {index} is looked at in another bundle", job.id);
					}
					group.result = result;
					break;
				}
			}
		}
		audit
	}

	/// Brings the manifest of a bundle from a server. Returns whether it is here then.
	async fn fetch_manifest(
		&self,
		job: &JobView,
		spec: &CheckedSpec,
		result: &WorkResult,
		dir: &Path,
	) -> bool {
		let limit = bundle::max_checkpoint_bytes(spec);
		for server in servers(job, result) {
			let fetching = fetch_bundle(&self.fetcher, &server, result, &[], dir, limit);
			match tokio::time::timeout(PATIENCE, fetching).await {
				Ok(Ok(())) => return true,
				Ok(Err(e)) => debug!("{e}"),
				Err(_) => debug!("{server} is too slow"),
			}
		}
		false
	}
}
