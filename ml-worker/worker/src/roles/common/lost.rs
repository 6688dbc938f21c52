//! Notices commitments of this account whose salt is not in this role's folder: they came from
//! another fork, the folder was moved or is another one, or a second daemon works with the key.
//! Nothing on chain prevents that, and only whoever has the salt can reveal. As long as commitments
//! are taken such a one is replaced, but not for ever ([`Replaced`]).

use crate::roles::{plan::replica_of, recent::Recent, report::Reporter};
use serde_json::json;
use std::sync::{Mutex, PoisonError};
use trainyard_client::{amount, AccountId32, AuditView, JobView};
use trainyard_protocol::{
	audit::AuditPhase,
	job::{BlockNumber, Fate, JobState},
	JobId, H256,
};

/// How often one commitment is replaced. Reorganisations may bring it back; two daemons with one key
/// would go on in turns, for a fee each.
const REPLACEMENTS: u8 = 3;

/// Commitments on chain that were not this folder's, and how often each was replaced.
#[derive(Default)]
pub struct Replaced(Mutex<Recent<H256, u8>>);

impl Replaced {
	/// Returns whether `there`, the commitment on chain, was replaced often enough.
	pub fn is_enough(&self, there: Option<H256>) -> bool {
		let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
		there.and_then(|there| times.get(&there).copied()).is_some_and(|n| n >= REPLACEMENTS)
	}

	/// Notes and reports that `there` was replaced, if anything was there.
	pub fn note(&self, report: &Reporter, job: JobId, there: Option<H256>) {
		let Some(there) = there else { return };
		let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
		let before = times.get(&there).copied().unwrap_or(0);
		times.insert(there, before.saturating_add(1));
		let text = "a commitment that this folder cannot reveal was replaced: was it sent from \
		            another folder?";
		report.job(job, "replaced", text, json!({ "commitment": there }));
	}
}

/// The event, for all roles.
pub const EVENT: &str = "record_lost";

/// What to do about it.
const ADVICE: &str =
	"Was this role started with another --dir before? Stop it, and start it again \
                      with the folder that has the record. Does another daemon work with this key? \
                      It reveals what it committed; end one of the two";

/// Returns whether `me` has committed to a result of `job` that it must still reveal, and that is not
/// `ours`, what the record here can reveal.
pub fn result_is_lost(job: &JobView, me: &AccountId32, ours: Option<H256>) -> bool {
	let waits = matches!(job.state, JobState::Training | JobState::Revealing);
	let mine = replica_of(job, me)
		.filter(|mine| mine.reveal.is_none() && mine.fate == Fate::Working)
		.and_then(|mine| mine.commitment);
	waits && mine.is_some() && mine != ours
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
/// and that are not `ours`, what the record here can reveal; nothing if there is no such commitment.
pub fn findings_are_lost(
	audit: &AuditView,
	me: &AccountId32,
	ours: Option<H256>,
) -> Option<BlockNumber> {
	let (AuditPhase::Committing { until } | AuditPhase::Revealing { until }) = audit.phase else {
		return None;
	};
	let mine = audit.committee.iter().find(|member| member.verifier == *me)?;
	let lost = mine.commitment.is_some() && mine.commitment != ours && mine.findings.is_none();
	lost.then_some(until)
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
	use trainyard_client::{fake, GroupVerdict, MemberView, ReplicaView};
	use trainyard_protocol::{
		job::{Ending, Reveal},
		Text,
	};

	/// What is on chain, and something else.
	const THERE: H256 = H256([5; 32]);
	const OTHER: Option<H256> = Some(H256([6; 32]));

	fn me() -> AccountId32 {
		AccountId32([1; 32])
	}

	/// A reorganisation may bring it back; a second daemon brings it back for ever.
	#[test]
	fn a_commitment_is_replaced_a_few_times() {
		let (replaced, report) = (Replaced::default(), Reporter::new("test", true, None));
		assert!(!replaced.is_enough(None) && !replaced.is_enough(Some(THERE)));
		replaced.note(&report, 3, None);
		for _ in 0..REPLACEMENTS {
			assert!(!replaced.is_enough(Some(THERE)));
			replaced.note(&report, 3, Some(THERE));
		}
		assert!(replaced.is_enough(Some(THERE)) && !replaced.is_enough(OTHER));
	}

	#[test]
	fn a_result_is_lost_where_it_is_not_the_one_on_chain() {
		let (bundle_root, model_root) = (H256::repeat_byte(1), H256::repeat_byte(2));
		let reveal = Reveal {
			bundle_root,
			true_root: bundle_root,
			model_root,
			segments: 7,
			diverged: false,
			location: Text::default(),
		};
		let job = |state, trainer, committed: bool, reveal: Option<&Reveal>, fate| {
			let (commitment, reveal) = (committed.then_some(THERE), reveal.cloned());
			let replicas = vec![ReplicaView { trainer, commitment, reveal, fate }];
			JobView { replicas, ..fake::job(state) }
		};
		let other = AccountId32([2; 32]);
		use JobState::{Auditing, Ended, Revealing, Training};
		for (job, ours, lost) in [
			(job(Training, me(), true, None, Fate::Working), None, true),
			(job(Training, me(), true, None, Fate::Working), OTHER, true),
			(job(Revealing, me(), true, None, Fate::Working), OTHER, true),
			(job(Revealing, me(), true, None, Fate::Working), Some(THERE), false),
			(job(Training, me(), false, None, Fate::Working), None, false),
			(job(Training, me(), false, None, Fate::Working), OTHER, false),
			(job(Training, other, true, None, Fate::Working), None, false),
			(job(Revealing, me(), true, Some(&reveal), Fate::Working), None, false),
			(job(Revealing, me(), true, None, Fate::NotRevealed), None, false),
			(job(Auditing, me(), true, None, Fate::Working), None, false),
			(job(Ended(Ending::Settled), me(), true, None, Fate::Working), None, false),
		] {
			assert_eq!(result_is_lost(&job, &me(), ours), lost, "{job:?} {ours:?}");
		}
	}

	#[test]
	fn findings_are_lost_where_they_are_not_those_on_chain() {
		let findings = fake::findings(vec![GroupVerdict::Unavailable]);
		let audit = |phase, verifier, committed: bool, revealed: bool| AuditView {
			round: 2,
			committee: vec![MemberView {
				commitment: committed.then_some(THERE),
				findings: revealed.then(|| findings.clone()),
				..fake::member(verifier)
			}],
			..fake::audit(phase, vec![])
		};
		let (committing, revealing) =
			(AuditPhase::Committing { until: 50 }, AuditPhase::Revealing { until: 60 });
		for (audit, ours, lost) in [
			(audit(committing, me(), true, false), None, Some(50)),
			(audit(revealing, me(), true, false), None, Some(60)),
			(audit(revealing, me(), true, false), OTHER, Some(60)),
			(audit(revealing, me(), true, false), Some(THERE), None),
			(audit(revealing, me(), true, true), None, None),
			(audit(revealing, me(), false, false), None, None),
			(audit(revealing, AccountId32([2; 32]), true, false), None, None),
			(audit(AuditPhase::Done, me(), true, false), None, None),
		] {
			assert_eq!(findings_are_lost(&audit, &me(), ours), lost, "{audit:?} {ours:?}");
		}
	}
}
