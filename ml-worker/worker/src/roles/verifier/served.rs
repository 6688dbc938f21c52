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
use trainyard_client::{AccountId32, AuditView, Findings, GroupVerdict, JobView};
use trainyard_protocol::{
	fees::PRIZE_PART,
	job::{Balance, Fate, JobState},
	JobId,
};

/// A round in which findings were revealed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Round {
	number: u32,
	/// Whether something was said of every result that was not decided, and the evidence was not
	/// convicted since: that earns the fee.
	earned: bool,
	/// Whom they accuse: who accuses falsely earns nothing.
	accused: Vec<AccountId32>,
}

/// Rounds by job.
#[derive(Default)]
pub(super) struct Served {
	rounds: Mutex<BTreeMap<JobId, Vec<Round>>>,
}

/// Returns whether a trainer lost its deposit: an accusation of it was not false. Of one that was accused,
/// what was not revealed is what it forced to be false.
fn fate_is_lost(fate: &Fate) -> bool {
	matches!(fate, Fate::Rejected | Fate::Unavailable | Fate::NotRevealed)
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
		let verdicts = findings.verdicts.iter().zip(&audit.groups);
		let open: Vec<&GroupVerdict> = verdicts
			.filter(|(_, group)| group.decision.is_none())
			.map(|(verdict, _)| verdict)
			.collect();
		let accused = open.iter().filter_map(|verdict| match verdict {
			GroupVerdict::Rejected(rejection) => Some(rejection.account),
			_ => None,
		});
		let round = Round {
			number: audit.round,
			earned: open.iter().all(|verdict| **verdict != GroupVerdict::Unavailable),
			accused: accused.collect(),
		};
		let mut rounds = self.rounds();
		let of_job = rounds.entry(job).or_default();
		// A reorganisation may ask for the same again.
		if of_job.iter().any(|before| before.number == round.number) {
			return;
		}
		for verdict in open {
			metrics.ended(display::verdict(verdict));
		}
		of_job.push(round);
	}

	/// Notes where the evidence of `me` was convicted.
	fn watch(&self, job: JobId, audit: &AuditView, me: &AccountId32) {
		let mut seats = audit.committee.iter();
		if seats.any(|member| member.verifier == *me && member.convicted) {
			for round in self.rounds().entry(job).or_default() {
				// Nothing that was earned in this audit is left.
				round.earned = false;
			}
		}
	}

	/// Returns the fees of a job that ended, and forgets it.
	fn settle(&self, job: &JobView, me: &AccountId32) -> Balance {
		if let Some(audit) = &job.audit {
			self.watch(job.id, audit, me);
		}
		let rounds = self.rounds().remove(&job.id).unwrap_or_default();
		let is_lost = |accused: &AccountId32| {
			let mut replicas = job.replicas.iter();
			replicas.any(|replica| replica.trainer == *accused && !fate_is_lost(&replica.fate))
		};
		let lost = rounds.iter().any(|round| round.accused.iter().any(is_lost));
		// Settled by agreement: whoever had committed is paid.
		let paid = rounds.iter().filter(|round| match job.audit.is_some() {
			true => round.earned && !lost,
			false => true,
		});
		let (settlement, fee) = (job.settlement, job.terms.audit_fee);
		let mine = paid.count() as Balance;
		let unearned = settlement.prizes_to_jackpot;
		let services = settlement.paid_to_verifiers.saturating_add(unearned);
		let all = services.checked_div(fee).unwrap_or(0);
		// A part of each fee is for who finds forced errors. Where somebody did it counts as everybody's.
		let part = if unearned > 0 { fee / PRIZE_PART } else { 0 };
		mine.min(all).saturating_mul(fee.saturating_sub(part))
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
					self.served.watch(id, audit, self.sender.account());
				}
				continue;
			}
			match self.chain.job(id).await {
				Ok(Some(job)) if matches!(job.state, JobState::Ended(_)) => {
					let fees = self.served.settle(&job, self.sender.account());
					self.report.metrics().earned(Income::Fee, fees);
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
	use trainyard_client::{fake, MemberView, ReplicaView};
	use trainyard_protocol::{
		audit::{AuditPhase, Decision, Replayed},
		job::{Ending, Settlement, WorkResult},
		H256,
	};

	fn me() -> AccountId32 {
		AccountId32([1; 32])
	}

	/// The trainer who is accused.
	fn trainer() -> AccountId32 {
		AccountId32([9; 32])
	}

	fn replayed() -> GroupVerdict {
		let (evidence, parts) = Default::default();
		GroupVerdict::Replayed(Replayed { bundle: 0, evidence, moved: None, parts })
	}

	fn audit(round: u32, decisions: &[Option<Decision>], convicted: bool) -> AuditView {
		let result = WorkResult {
			bundle_root: H256::zero(),
			true_root: H256::zero(),
			model_root: H256::zero(),
			segments: 30,
			diverged: false,
		};
		let group = |decision: &Option<Decision>| trainyard_client::GroupView {
			decision: *decision,
			..fake::group(result)
		};
		let groups = decisions.iter().map(group).collect();
		let committee = vec![MemberView { convicted, ..fake::member(me()) }];
		AuditView { round, committee, ..fake::audit(AuditPhase::Done, groups) }
	}

	/// A job of which `services` were paid, at a fee of 10.
	fn ended(audit: AuditView, fate: Fate, services: Balance) -> JobView {
		let mut job = fake::job(JobState::Ended(Ending::Settled));
		job.terms.audit_fee = 10;
		job.settlement = Settlement { paid_to_verifiers: 10 * services, ..Settlement::default() };
		let replica = ReplicaView { trainer: trainer(), commitment: None, reveal: None, fate };
		JobView { audit: Some(audit), replicas: vec![replica], ..job }
	}

	/// A part of all fees is a prize, which is the jackpot's where nobody found a forced error.
	#[test]
	fn a_prize_that_nobody_earned_is_no_fee() {
		let served = Served::default();
		let findings = fake::findings(vec![replayed()]);
		served.note(3, &audit(0, &[None], false), &findings, &Metrics::new("verifier"));
		let mut job = ended(audit(0, &[None], false), Fate::Accepted, 3);
		(job.settlement.paid_to_verifiers, job.settlement.prizes_to_jackpot) = (27, 3);
		assert_eq!(served.settle(&job, &me()), 9);
	}

	/// Who says something of every result, and nothing false, is paid.
	#[test]
	fn who_said_something_of_all_and_lost_nothing_is_paid() {
		let absent = GroupVerdict::Unavailable;
		let rejected = fake::rejected(trainer(), 3);
		for (verdicts, fate, convicted, paid) in [
			([replayed(), replayed()], Fate::Accepted, false, true),
			([replayed(), absent.clone()], Fate::Accepted, false, false),
			([absent, rejected.clone()], Fate::Rejected, false, false),
			([replayed(), rejected.clone()], Fate::Rejected, false, true),
			([replayed(), rejected.clone()], Fate::Unavailable, false, true),
			([replayed(), rejected.clone()], Fate::NotRevealed, false, true),
			([replayed(), rejected], Fate::Accepted, false, false),
			([replayed(), replayed()], Fate::Accepted, true, false),
		] {
			let served = Served::default();
			let open = audit(0, &[None, None], false);
			let findings = fake::findings(verdicts.to_vec());
			served.note(3, &open, &findings, &Metrics::new("verifier"));
			let job = ended(audit(0, &[None, None], convicted), fate, 5);
			let earned = if paid { 10 } else { 0 };
			assert_eq!(served.settle(&job, &me()), earned, "{verdicts:?} {fate:?}");
		}
	}

	#[test]
	fn every_round_counts_and_none_twice() {
		let (served, metrics) = (Served::default(), Metrics::new("verifier"));
		let open = audit(0, &[None, None], false);
		let verdicts = vec![replayed(), fake::rejected(trainer(), 3)];
		served.note(3, &open, &fake::findings(verdicts.clone()), &metrics);
		served.note(3, &open, &fake::findings(verdicts), &metrics);
		// What was decided before is not asked.
		let second = audit(1, &[Some(Decision::Rejected), None], false);
		let verdicts = vec![GroupVerdict::Unavailable, replayed()];
		served.note(3, &second, &fake::findings(verdicts), &metrics);
		let job = ended(second, Fate::Rejected, 5);
		assert_eq!(served.settle(&job, &me()), 20);
		assert_eq!(served.settle(&job, &me()), 0, "once");

		let text = metrics.text().unwrap();
		for line in [
			"trainyard_worker_jobs_total{outcome=\"replayed\",role=\"verifier\"} 2",
			"trainyard_worker_jobs_total{outcome=\"rejected\",role=\"verifier\"} 1",
		] {
			assert!(text.lines().any(|l| l == line), "{line}\n{text}");
		}
	}

	#[test]
	fn an_audit_that_was_agreed_away_is_paid() {
		let served = Served::default();
		let findings = fake::findings(vec![replayed()]);
		served.note(3, &audit(0, &[None], false), &findings, &Metrics::new("verifier"));
		let job = JobView { audit: None, ..ended(audit(0, &[], false), Fate::Agreed, 3) };
		assert_eq!(served.settle(&job, &me()), 10);
	}
}
