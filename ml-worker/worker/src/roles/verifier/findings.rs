//! Says which findings of this verifier count at a block: what is stored on chain after they were
//! made may make them void.

use super::Verifier;
use crate::roles::store::FindingsRecord;
use trainyard_client::{AuditView, GroupVerdict, GroupView, JobView};
use trainyard_protocol::{audit::AuditPhase, job::BlockNumber, pieces::Piece, H256};

/// Blocks that must be left to look at the bundle of another trainer.
const LEAST_TIME: BlockNumber = 30;

/// The roots of the rescues of each result; a root of zeros stands for its leaves.
pub(super) type Rescues = Vec<Vec<H256>>;

/// What is known of a verifier's findings of a round.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
	/// The findings that count; none where there are none, or they are void.
	pub found: Option<FindingsRecord>,
	/// The commitment to them.
	pub ours: Option<H256>,
	/// Whether this folder can reveal what is committed on chain.
	pub is_own: bool,
}

/// Returns whether a result that was not to be had has been rescued since these findings were made.
pub(super) fn is_void(found: &FindingsRecord, audit: &AuditView) -> bool {
	found.findings.verdicts.iter().zip(&audit.groups).enumerate().any(
		|(index, (verdict, group))| {
			let known = found.rescues.get(index).copied().unwrap_or(0);
			*verdict == GroupVerdict::Unavailable
				&& group.decision.is_none()
				&& stored_of(group) > known
		},
	)
}

/// Returns whether these findings reject a result by naming a trainer that is out: from a while after that
/// on, that says nothing.
pub(super) fn names_convict(found: &FindingsRecord, audit: &AuditView) -> bool {
	found.findings.verdicts.iter().zip(&audit.groups).any(|(verdict, group)| match verdict {
		GroupVerdict::Rejected(rejection) => {
			group.decision.is_none() && group.convicted.contains(&rejection.account)
		}
		_ => false,
	})
}

/// Returns how many rescues there are of each result.
pub(super) fn rescues(audit: &AuditView) -> Vec<u32> {
	audit.groups.iter().map(stored_of).collect()
}

/// Returns how many rescues there are of a result: blobs, and the leaves.
fn stored_of(group: &GroupView) -> u32 {
	(group.rescued.len() + usize::from(group.stored.contains(&Piece::Leaves))) as u32
}

/// Returns the rescues of each result that is not decided: where there are others, a round is looked
/// at again.
pub(super) fn open_rescues(audit: &AuditView) -> Rescues {
	let of = |group: &GroupView| match group.decision {
		None => {
			let leaves = group.stored.contains(&Piece::Leaves).then(H256::zero);
			group.rescued.iter().map(|stored| stored.blob).chain(leaves).collect()
		}
		Some(_) => Vec::new(),
	};
	audit.groups.iter().map(of).collect()
}

impl Verifier {
	/// Returns what counts of the findings in the folder of a round, at height `best`. Those that were not
	/// committed to and name a trainer that is out are made again, of the bundle of another one, if there is
	/// time.
	pub(super) fn known(
		&self,
		job: &JobView,
		audit: &AuditView,
		record: Option<FindingsRecord>,
		best: BlockNumber,
	) -> Known {
		let Some(record) = record else { return Known::default() };
		let there = self.committed(audit);
		let is_there = |found: &FindingsRecord| there == Some(self.commitment(job, audit, found));
		let before = record.before.as_deref().filter(|before| is_there(before)).cloned();
		let is_own = before.is_some() || is_there(&record);
		let found = match audit.phase {
			AuditPhase::Committing { until } => {
				let has_time = best.saturating_add(LEAST_TIME) < until;
				let is_late =
					|found: &FindingsRecord| has_time && !is_own && names_convict(found, audit);
				Some(record).filter(|found| !is_void(found, audit) && !is_late(found))
			}
			// The later ones came too late.
			_ => Some(before.unwrap_or(record)),
		};
		let ours = found.as_ref().map(|found| self.commitment(job, audit, found));
		Known { found, ours, is_own }
	}

	/// Returns whether what is committed on chain are findings that `found` replaces.
	pub(super) fn replaces_own(
		&self,
		job: &JobView,
		audit: &AuditView,
		found: &FindingsRecord,
	) -> bool {
		let before = found.before.as_deref().map(|before| self.commitment(job, audit, before));
		before.is_some() && before == self.committed(audit)
	}

	/// Makes the record of findings after those that are in the folder: the same ones keep their
	/// salt, and so their commitment; of others the one that is on chain can still be revealed.
	pub(super) fn following(
		&self,
		job: &JobView,
		audit: &AuditView,
		found: FindingsRecord,
		earlier: Option<FindingsRecord>,
	) -> FindingsRecord {
		let Some(mut earlier) = earlier else { return found };
		// By another proof of the same draw the commitment would be another one.
		if earlier.findings.verdicts == found.findings.verdicts {
			return FindingsRecord { rescues: found.rescues, ..earlier };
		}
		let before = match (earlier.before.take(), self.committed(audit)) {
			(Some(first), Some(there)) if self.commitment(job, audit, &first) == there => first,
			_ => Box::new(earlier),
		};
		FindingsRecord { before: Some(before), ..found }
	}
}
