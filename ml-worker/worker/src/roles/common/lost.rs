//! Notices commitments of this account whose salt is not in this role's folder: the folder was moved
//! or is another one, or a second daemon works with the key. Nothing on chain prevents that, and only
//! whoever has the salt can reveal.

use crate::roles::{
	plan::replica_of,
	report::Reporter,
	store::{FindingsRecord, JobRecord},
};
use serde_json::json;
use trainyard_client::{amount, AccountId32, AuditView, JobView};
use trainyard_protocol::{
	audit::AuditPhase,
	job::{BlockNumber, Fate, JobState},
	JobId,
};

/// The event, for all roles.
pub const EVENT: &str = "record_lost";

/// What to do about it.
const ADVICE: &str =
	"Was this role started with another --dir before? Stop it, and start it again \
                      with the folder that has the record. Does another daemon work with this key? \
                      It reveals what it committed; end one of the two";

/// Returns whether `me` has committed to a result of `job` that it must still reveal, and `record`
/// does not have the salt.
pub fn result_is_lost(job: &JobView, me: &AccountId32, record: Option<&JobRecord>) -> bool {
	let waits = matches!(job.state, JobState::Training | JobState::Revealing);
	let mine = replica_of(job, me).filter(|mine| {
		mine.commitment.is_some() && mine.reveal.is_none() && mine.fate == Fate::Working
	});
	waits && mine.is_some() && record.is_none_or(|record| record.committed.is_none())
}

/// Reports that a result cannot be revealed.
pub fn report_result(report: &Reporter, job: &JobView) {
	let deposit = amount::format(job.deposit);
	let text = format!(
		"this account has committed to a result whose salt is not in this folder: it cannot be \
		 revealed here. As long as commitments are taken, this trainer makes the result again and \
		 replaces it; after that, if nobody reveals it, the deposit of {deposit} is lost. {ADVICE}"
	);
	let fields = json!({ "deposit": job.deposit.to_string(), "deadline": job.deadline });
	report.job(job.id, EVENT, &text, fields);
}

/// Returns the height up to which `me` must reveal findings in `audit` that it has committed to,
/// and that are not `found`; nothing if there is no such commitment.
pub fn findings_are_lost(
	audit: &AuditView,
	me: &AccountId32,
	found: Option<&FindingsRecord>,
) -> Option<BlockNumber> {
	let (AuditPhase::Committing { until } | AuditPhase::Revealing { until }) = audit.phase else {
		return None;
	};
	let mine = audit.committee.iter().find(|member| member.verifier == *me)?;
	(mine.commitment.is_some() && mine.findings.is_none() && found.is_none()).then_some(until)
}

/// Reports that findings cannot be revealed.
pub fn report_findings(report: &Reporter, job: JobId, round: u32, until: BlockNumber) {
	let text = format!(
		"this account has committed to findings of round {round} whose salt is not in this folder: \
		 they cannot be revealed here. As long as commitments are taken (this phase ends at block \
		 {until}), this verifier replays again and replaces them; after that, if nobody reveals them, \
		 the seat counts as absent and a part of the bond is lost. {ADVICE}"
	);
	report.job(job, EVENT, &text, json!({ "round": round, "until": until }));
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::store::{Committed, Salt};
	use trainyard_client::{fake, ReplicaView};
	use trainyard_protocol::{
		audit::{Findings, GroupVerdict},
		job::{Ending, Reveal, WorkResult},
		views::MemberView,
		Text, H256,
	};

	fn me() -> AccountId32 {
		AccountId32([1; 32])
	}

	#[test]
	fn a_result_is_lost_where_only_the_chain_knows_of_it() {
		let (bundle_root, model_root) = (H256::repeat_byte(1), H256::repeat_byte(2));
		let result = WorkResult { bundle_root, model_root, segments: 7 };
		let trained =
			JobRecord { result: Some(result), ..JobRecord::new(3, H256::zero(), H256::zero()) };
		let committed = Some(Committed { result, salt: Salt::random() });
		let whole = JobRecord { committed, ..trained.clone() };
		let reveal = Reveal { bundle_root, model_root, segments: 7, location: Text::default() };
		let job = |state, trainer, committed: bool, reveal: Option<&Reveal>, fate| {
			let (commitment, reveal) = (committed.then(|| H256([5; 32])), reveal.cloned());
			let replicas = vec![ReplicaView { trainer, commitment, reveal, fate }];
			JobView { replicas, ..fake::job(state) }
		};
		let other = AccountId32([2; 32]);
		use JobState::{Auditing, Ended, Revealing, Training};
		for (job, record, lost) in [
			(job(Training, me(), true, None, Fate::Working), None, true),
			(job(Training, me(), true, None, Fate::Working), Some(&trained), true),
			(job(Revealing, me(), true, None, Fate::Working), Some(&trained), true),
			(job(Revealing, me(), true, None, Fate::Working), Some(&whole), false),
			(job(Training, me(), false, None, Fate::Working), None, false),
			(job(Training, other, true, None, Fate::Working), None, false),
			(job(Revealing, me(), true, Some(&reveal), Fate::Working), None, false),
			(job(Revealing, me(), true, None, Fate::NotRevealed), None, false),
			(job(Auditing, me(), true, None, Fate::Working), None, false),
			(job(Ended(Ending::Settled), me(), true, None, Fate::Working), None, false),
		] {
			assert_eq!(result_is_lost(&job, &me(), record), lost, "{job:?} {record:?}");
		}
	}

	#[test]
	fn findings_are_lost_where_only_the_chain_knows_of_them() {
		let findings = Findings::try_from(vec![GroupVerdict::Unavailable]).unwrap();
		let salt = Salt::random();
		let record = FindingsRecord { job: 1, round: 2, findings: findings.clone(), salt };
		let audit = |phase, verifier, committed: bool, revealed: bool| AuditView {
			round: 2,
			phase,
			groups: vec![],
			committee: vec![MemberView {
				verifier,
				commitment: committed.then(|| H256([5; 32])),
				findings: revealed.then(|| findings.clone()),
			}],
		};
		let (committing, revealing) =
			(AuditPhase::Committing { until: 50 }, AuditPhase::Revealing { until: 60 });
		for (audit, found, lost) in [
			(audit(committing, me(), true, false), None, Some(50)),
			(audit(revealing, me(), true, false), None, Some(60)),
			(audit(revealing, me(), true, false), Some(&record), None),
			(audit(revealing, me(), true, true), None, None),
			(audit(revealing, me(), false, false), None, None),
			(audit(revealing, AccountId32([2; 32]), true, false), None, None),
			(audit(AuditPhase::Done, me(), true, false), None, None),
		] {
			assert_eq!(findings_are_lost(&audit, &me(), found), lost, "{audit:?}");
		}
	}
}
