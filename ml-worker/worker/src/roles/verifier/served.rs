//! Counts what the rounds in which this verifier revealed findings have earned, after their jobs
//! ended.
//!
//! Findings that are revealed while the daemon runs are remembered in memory; those whose job
//! ends while it is away are not counted.

use super::Verifier;
use crate::roles::{
	display,
	metrics::{Income, Metrics},
};
use std::{
	collections::BTreeMap,
	sync::{Mutex, MutexGuard},
};
use tracing::debug;
use trainyard_client::{AuditView, JobView};
use trainyard_protocol::{
	audit::{Decision, Findings, GroupVerdict},
	job::{Balance, JobState},
	JobId,
};

/// The findings of one round, of the results that were not decided before it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Round {
	number: u32,
	open: Vec<(usize, GroupVerdict)>,
	/// Whether they agreed with what the round decided, once the next one has begun.
	agreed: Option<bool>,
}

/// Rounds by job.
#[derive(Default)]
pub(super) struct Served {
	rounds: Mutex<BTreeMap<JobId, Vec<Round>>>,
}

/// Returns whether a verdict does not contradict what was decided and says something about it. The
/// chain pays a fee for that, except that it also compares evidence.
fn agrees(verdict: &GroupVerdict, decision: Option<Decision>, stored: bool) -> bool {
	match (decision, verdict) {
		// Before anything is stored, who lacks something asks for it.
		(None | Some(Decision::Undecided), GroupVerdict::Unavailable) => stored,
		(None | Some(Decision::Undecided | Decision::Unavailable), _) => true,
		(Some(Decision::Accepted | Decision::Idle), GroupVerdict::Accept(_)) => true,
		(Some(Decision::Rejected), GroupVerdict::Reject(_)) => true,
		(Some(Decision::Accepted | Decision::Idle | Decision::Rejected), _) => false,
	}
}

impl Round {
	fn agrees(&self, audit: &AuditView) -> bool {
		self.agreed.unwrap_or_else(|| {
			self.open.iter().all(|(index, verdict)| {
				let group = audit.groups.get(*index);
				let stored = group.is_some_and(|group| !group.rescued.is_empty());
				agrees(verdict, group.and_then(|group| group.decision), stored)
			})
		})
	}
}

impl Served {
	fn rounds(&self) -> MutexGuard<'_, BTreeMap<JobId, Vec<Round>>> {
		self.rounds.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
	}

	/// Notes that findings were revealed.
	pub(super) fn note(
		&self,
		job: JobId,
		audit: &AuditView,
		findings: &Findings,
		metrics: &Metrics,
	) {
		let open = findings.iter().cloned().enumerate().filter(|(index, _)| {
			audit.groups.get(*index).is_some_and(|group| group.decision.is_none())
		});
		let round = Round { number: audit.round, open: open.collect(), agreed: None };
		let mut rounds = self.rounds();
		let of_job = rounds.entry(job).or_default();
		// A reorganisation may ask for the same again.
		if of_job.iter().any(|before| before.number == round.number) {
			return;
		}
		for (_, verdict) in &round.open {
			metrics.ended(display::verdict(verdict));
		}
		of_job.push(round);
	}

	/// Notes what a round decided, which is known when the next one begins.
	fn watch(&self, job: JobId, audit: &AuditView) {
		for round in self.rounds().entry(job).or_default() {
			if round.number < audit.round && round.agreed.is_none() {
				round.agreed = Some(round.agrees(audit));
			}
		}
	}

	/// Returns the fees and the bounty of a job that ended, and forgets it.
	fn settle(&self, job: &JobView) -> (Balance, Balance) {
		let rounds = self.rounds().remove(&job.id).unwrap_or_default();
		let paid = rounds.iter().filter(|round| match &job.audit {
			Some(audit) => round.agrees(audit),
			// Settled by agreement: whoever had committed is paid.
			None => true,
		});
		let (settlement, fee) = (job.settlement, job.terms.audit_fee);
		let mine = paid.count() as Balance;
		let all = settlement.paid_to_verifiers.checked_div(fee).unwrap_or(0);
		let bounty = settlement.slashed_to_verifiers.checked_div(all).unwrap_or(0);
		let mine = mine.min(all);
		(mine.saturating_mul(fee), mine.saturating_mul(bounty))
	}
}

impl Verifier {
	/// Counts what the audits of jobs that ended have earned. `active` are those that have not.
	/// Jobs about which it cannot ask now are checked at the next block.
	pub(super) async fn count_served(&self, active: &[JobView]) {
		let known: Vec<JobId> = self.served.rounds().keys().copied().collect();
		for id in known {
			if let Some(job) = active.iter().find(|job| job.id == id) {
				if let Some(audit) = &job.audit {
					self.served.watch(id, audit);
				}
				continue;
			}
			match self.chain.job(id).await {
				Ok(Some(job)) if matches!(job.state, JobState::Ended(_)) => {
					let (fees, bounty) = self.served.settle(&job);
					self.report.metrics().earned(Income::Fee, fees);
					self.report.metrics().earned(Income::Bounty, bounty);
				}
				// Back to life between the two questions.
				Ok(Some(_)) => {}
				Ok(None) => {
					self.served.rounds().remove(&id);
				}
				Err(e) => debug!("job {id}: not known yet what its audit earned: {e}"),
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::fake;
	use trainyard_protocol::{
		audit::{AuditPhase, RejectReason},
		job::{Ending, Settlement, WorkResult},
		views::GroupView,
		H256,
	};

	fn accept() -> GroupVerdict {
		GroupVerdict::Accept(Default::default())
	}

	fn reject() -> GroupVerdict {
		GroupVerdict::Reject(RejectReason::WrongModel)
	}

	#[test]
	fn who_said_what_was_decided_is_paid() {
		use Decision::*;
		let absent = GroupVerdict::Unavailable;
		for (verdict, decision, expected) in [
			(accept(), Some(Accepted), true),
			(accept(), Some(Rejected), false),
			(reject(), Some(Rejected), true),
			(reject(), Some(Accepted), false),
			(absent.clone(), Some(Accepted), false),
			(absent.clone(), Some(Unavailable), true),
			(reject(), Some(Unavailable), true),
			(accept(), Some(Undecided), true),
			(accept(), None, true),
		] {
			assert_eq!(agrees(&verdict, decision, true), expected, "{verdict:?} {decision:?}");
		}
		for decision in [None, Some(Undecided)] {
			assert!(agrees(&absent, decision, true) && !agrees(&absent, decision, false));
		}
	}

	fn audit(round: u32, decisions: &[Option<Decision>]) -> AuditView {
		let result = WorkResult {
			bundle_root: H256::zero(),
			model_root: H256::zero(),
			segments: 30,
			diverged: false,
		};
		let group = |decision: &Option<Decision>| GroupView {
			result,
			drawn: vec![],
			decision: *decision,
			asked: vec![],
			stored: vec![],
			rescued: vec![],
		};
		AuditView {
			round,
			phase: AuditPhase::Done,
			groups: decisions.iter().map(group).collect(),
			committee: vec![],
		}
	}

	/// A job of which `services` were paid, at a fee of 10, and 60 were shared out.
	fn ended(audit: AuditView, services: Balance) -> JobView {
		let mut job = fake::job(JobState::Ended(Ending::Settled));
		job.terms.audit_fee = 10;
		job.settlement = Settlement {
			paid_to_verifiers: 10 * services,
			slashed_to_verifiers: 60,
			..Settlement::default()
		};
		JobView { audit: Some(audit), ..job }
	}

	fn findings(verdicts: Vec<GroupVerdict>) -> Findings {
		verdicts.try_into().unwrap()
	}

	#[test]
	fn fees_and_bounties_are_those_of_the_rounds_that_agreed() {
		let (served, metrics) = (Served::default(), Metrics::new("verifier"));
		// Round 0: of two results the first is decided in it as I say, the second stays open.
		let open = audit(0, &[None, None]);
		served.note(3, &open, &findings(vec![accept(), reject()]), &metrics);
		served.note(3, &open, &findings(vec![accept(), reject()]), &metrics);
		served.watch(3, &audit(0, &[None, None]));
		served.watch(3, &audit(1, &[Some(Decision::Accepted), None]));
		// Round 1: what was decided before is not asked, and I am wrong about the other.
		let second = audit(1, &[Some(Decision::Accepted), None]);
		served.note(3, &second, &findings(vec![GroupVerdict::Unavailable, accept()]), &metrics);
		let job = ended(audit(1, &[Some(Decision::Accepted), Some(Decision::Rejected)]), 5);
		assert_eq!(served.settle(&job), (10, 12));
		assert_eq!(served.settle(&job), (0, 0), "once");

		let text = metrics.text().unwrap();
		for line in [
			"trainyard_worker_jobs_total{outcome=\"accept\",role=\"verifier\"} 2",
			"trainyard_worker_jobs_total{outcome=\"reject\",role=\"verifier\"} 1",
		] {
			assert!(text.lines().any(|l| l == line), "{line}\n{text}");
		}
	}

	#[test]
	fn an_audit_that_was_agreed_away_is_paid() {
		let served = Served::default();
		served.note(3, &audit(0, &[None]), &findings(vec![accept()]), &Metrics::new("verifier"));
		let job = JobView { audit: None, ..ended(audit(0, &[]), 3) };
		assert_eq!(served.settle(&job), (10, 20));
	}
}
