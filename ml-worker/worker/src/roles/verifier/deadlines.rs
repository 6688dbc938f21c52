//! Deadlines of a verifier's own, by what the chain says: they pass whether this program works or
//! not, so its owner is warned before one does.

use super::Verifier;
use crate::roles::recent::Recent;
use serde_json::json;
use trainyard_client::{AccountId32, AssignmentView, AuditView, JobView};
use trainyard_protocol::{
	audit::AuditPhase,
	drill::{AssignmentId, UnitPhase},
	job::BlockNumber,
	JobId,
};

/// Blocks before a deadline from which its owner is warned: two minutes at 6 s.
pub const NEAR: BlockNumber = 20;
/// The same for a period that is not much longer than that.
const NEAR_REVEAL: BlockNumber = 10;

/// What a verifier must do, by its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
	/// A round of the audit of a job.
	Audit(JobId, u32),
	/// The recomputation of a unit.
	Unit(AssignmentId),
}

/// Something that is not on chain yet, and must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owed {
	/// Of what.
	pub subject: Subject,
	/// Whether it is the reveal, and not the commitment.
	pub reveal: bool,
	/// The last block for it.
	pub until: BlockNumber,
}

impl Owed {
	/// Returns whether the deadline is so near at height `best` that somebody should look.
	pub fn is_near(&self, best: BlockNumber) -> bool {
		let near = if self.reveal { NEAR_REVEAL } else { NEAR };
		best.saturating_add(near) >= self.until
	}

	/// Says what is owed in words.
	pub fn text(&self, best: BlockNumber) -> String {
		let what = if self.reveal { "reveal" } else { "commitment" };
		let subject = match self.subject {
			Subject::Audit(job, round) => format!("job {job}, round {round}"),
			Subject::Unit(id) => format!("recomputation of assignment {id}"),
		};
		let left = self.until.saturating_sub(best);
		format!("{subject}: the {what} is not on chain, {left} blocks are left")
	}
}

/// Returns what `me` owes to the audit of a job.
fn of_audit(job: JobId, audit: &AuditView, me: &AccountId32) -> Option<Owed> {
	let member = audit.committee.iter().find(|member| member.verifier == *me)?;
	let subject = Subject::Audit(job, audit.round);
	match audit.phase {
		AuditPhase::Committing { until } if member.commitment.is_none() => {
			Some(Owed { subject, reveal: false, until })
		}
		AuditPhase::Revealing { until }
			if member.commitment.is_some() && member.findings.is_none() =>
		{
			Some(Owed { subject, reveal: true, until })
		}
		_ => None,
	}
}

/// Returns what a verifier owes to the recomputation of a unit.
fn of_unit(view: &AssignmentView) -> Option<Owed> {
	let owed = |reveal| Owed { subject: Subject::Unit(view.id), reveal, until: view.deadline };
	match view.phase {
		UnitPhase::Commit if !view.committed => Some(owed(false)),
		UnitPhase::Reveal if view.committed && !view.revealed => Some(owed(true)),
		_ => None,
	}
}

/// Returns everything that `me` owes, what is due first coming first.
pub fn owed(jobs: &[JobView], units: &[AssignmentView], me: &AccountId32) -> Vec<Owed> {
	let of_job = |job: &JobView| of_audit(job.id, job.audit.as_ref()?, me);
	let mut owed: Vec<Owed> =
		jobs.iter().filter_map(of_job).chain(units.iter().filter_map(of_unit)).collect();
	owed.sort_by_key(|owed| owed.until);
	owed
}

/// The deadlines of which the owner was warned.
#[derive(Default)]
pub(super) struct Deadlines {
	warned: Recent<Owed, ()>,
	units: Vec<Owed>,
}

impl Deadlines {
	/// Notes what is owed to recomputations.
	pub(super) fn note_units(&mut self, units: &[AssignmentView]) {
		self.units = units.iter().filter_map(of_unit).collect();
	}
}

impl Verifier {
	/// Warns of deadlines that are near, of each once, and shows the nearest in the metrics.
	pub(super) fn watch_deadlines(
		&self,
		deadlines: &mut Deadlines,
		jobs: &[JobView],
		best: BlockNumber,
	) {
		let mut owed = owed(jobs, &[], self.sender.account());
		owed.extend(&deadlines.units);
		let nearest = owed.iter().map(|owed| owed.until.saturating_sub(best)).min();
		self.report.metrics().deadline(nearest);
		for owed in owed.iter().filter(|owed| owed.is_near(best)) {
			if deadlines.warned.insert(*owed, ()).is_none() {
				let mut fields = json!({
					"account": self.sender.account(),
					"reveal": owed.reveal,
					"until": owed.until,
					"height": best,
				});
				match owed.subject {
					Subject::Audit(job, round) => {
						fields["job"] = json!(job);
						fields["round"] = json!(round);
					}
					Subject::Unit(id) => fields["assignment"] = json!(id),
				}
				self.webhook.warn("deadline_near", &owed.text(best), fields);
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, GroupVerdict, MemberView};
	use trainyard_protocol::H256;

	fn me() -> AccountId32 {
		AccountId32([1; 32])
	}

	fn audit(phase: AuditPhase, committed: bool, revealed: bool) -> AuditView {
		let commitment = committed.then_some(H256([7; 32]));
		let findings = revealed.then(|| fake::findings(vec![GroupVerdict::Unavailable]));
		let member = MemberView { commitment, findings, ..fake::member(me()) };
		AuditView { round: 1, committee: vec![member], ..fake::audit(phase, vec![]) }
	}

	#[test]
	fn what_is_not_on_chain_is_owed() {
		let (committing, revealing) =
			(AuditPhase::Committing { until: 120 }, AuditPhase::Revealing { until: 150 });
		let subject = Subject::Audit(7, 1);
		let commit = Some(Owed { subject, reveal: false, until: 120 });
		let reveal = Some(Owed { subject, reveal: true, until: 150 });
		for (audit, expected) in [
			(audit(committing, false, false), commit),
			(audit(committing, true, false), None),
			(audit(revealing, true, false), reveal),
			(audit(revealing, true, true), None),
			(audit(revealing, false, false), None),
			(audit(AuditPhase::Done, true, false), None),
		] {
			assert_eq!(of_audit(7, &audit, &me()), expected);
		}
		assert_eq!(of_audit(7, &audit(committing, false, false), &AccountId32([2; 32])), None);
	}

	#[test]
	fn a_deadline_is_near_before_it_is_there() {
		let subject = Subject::Audit(7, 1);
		let commit = Owed { subject, reveal: false, until: 120 };
		assert!(!commit.is_near(99) && commit.is_near(100) && commit.is_near(130));
		let reveal = Owed { subject, reveal: true, until: 150 };
		assert!(!reveal.is_near(139) && reveal.is_near(140));
		assert_eq!(
			commit.text(100),
			"job 7, round 1: the commitment is not on chain, 20 blocks are left"
		);
	}
}
