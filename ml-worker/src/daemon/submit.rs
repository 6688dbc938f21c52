//! Posting a job, and following it to its end.

use super::{next_block, report::Reporter, words};
use crate::{
	amount,
	chain::{calls, AccountId32, Chain, ChainError, JobView, Transactor, TxError},
	cli::table::{table, Align},
};
use serde_json::{json, Value};
use trainyard_primitives::{
	job::{Balance, BlockNumber, JobState, Terms},
	spec::JobSpec,
	JobId, MicroUt,
};

/// Balance that stays for fees when a job is posted: a hundredth of a coin.
const FEE_MARGIN: Balance = 10_000_000_000;

/// Why a job could not be posted or followed.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
	/// The chain would refuse it.
	#[error("the chain would refuse this job: {0}")]
	Refused(String),
	/// Not enough balance.
	#[error(
		"the escrow of this job is {}, but {account} has {} free. Bring balance to the account, \
		 or lower terms.price_per_ut, replicas, verifiers or audit_fee",
		amount::format(*.escrow), amount::format(*.free)
	)]
	Balance {
		/// What would be held.
		escrow: Balance,
		/// What is free.
		free: Balance,
		/// Whose.
		account: AccountId32,
	},
	/// Posted, but its number is not to be found.
	#[error("the job was posted, but its number was not found; `trainyard status` lists it")]
	Lost,
	/// The chain knows no such job.
	#[error("the chain knows no job {0}; ended jobs are forgotten after a while")]
	NoSuchJob(JobId),
	/// The chain could not be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// The transaction failed.
	#[error(transparent)]
	Tx(#[from] TxError),
}

/// A posted job.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
	/// Its number.
	pub job: JobId,
	/// Work of one replica.
	pub work: MicroUt,
	/// What is held.
	pub escrow: Balance,
}

/// Posts a job; with `trainer`, orders it from that trainer through its listing.
pub async fn post(
	sender: &Transactor,
	spec: &JobSpec,
	terms: &Terms,
	trainer: Option<&AccountId32>,
) -> Result<Posted, SubmitError> {
	let chain = sender.chain();
	let Some((work, escrow, _)) = chain.quote(spec, terms).await? else {
		return Err(SubmitError::Refused(why_refused(chain, spec, terms).await?));
	};
	let account = *sender.account();
	let free = chain.account(&account).await?.free;
	if free < escrow.saturating_add(FEE_MARGIN) {
		return Err(SubmitError::Balance { escrow, free, account });
	}
	let call = match trainer {
		Some(trainer) => calls::order(trainer, spec, terms),
		None => calls::submit_job(spec, terms),
	};
	let included = sender.run(&call).await?;
	let job = match included.job {
		Some(job) => job,
		None => newest(chain, &account, spec).await?,
	};
	Ok(Posted { job, work, escrow })
}

/// The newest job of this submitter with this specification.
async fn newest(
	chain: &Chain,
	account: &AccountId32,
	spec: &JobSpec,
) -> Result<JobId, SubmitError> {
	let jobs = chain.recent_jobs(50).await?;
	let own = jobs.iter().find(|job| job.submitter == *account && job.spec == *spec);
	own.map(|job| job.id).ok_or(SubmitError::Lost)
}

/// What the chain has against a job for which it makes no quote.
async fn why_refused(chain: &Chain, spec: &JobSpec, terms: &Terms) -> Result<String, ChainError> {
	if let Err(error) = spec.validate() {
		return Ok(format!("{}: {error}", error.field()));
	}
	let constant = |name| chain.constant("TaskMarket", name);
	let least_fee = constant("MinAuditFee").await?.unwrap_or(0);
	if terms.audit_fee < least_fee {
		return Ok(format!("terms.audit_fee must be at least {}", amount::format(least_fee)));
	}
	let least = constant("MinPeriod").await?.unwrap_or(0);
	let applying = constant("MaxApplyBlocks").await?.unwrap_or(u128::from(u32::MAX));
	let training = constant("MaxTrainingBlocks").await?.unwrap_or(u128::from(u32::MAX));
	Ok(period_problem(terms, least, applying, training).unwrap_or_else(|| {
		format!(
			"terms: replicas, verifiers or audit_segments are out of range (the job has {} \
				 segments), the price is zero, or an amount is too large",
			spec.segments()
		)
	}))
}

fn period_problem(terms: &Terms, least: u128, applying: u128, training: u128) -> Option<String> {
	let wrong = |field: &str, value: BlockNumber, most: u128| {
		(!(least..=most).contains(&u128::from(value)))
			.then(|| format!("terms.{field} is {value}; the chain takes {least} to {most} blocks"))
	};
	wrong("apply_blocks", terms.apply_blocks, applying)
		.or_else(|| wrong("training_blocks", terms.training_blocks, training))
}

/// Follows a job, a line per change, until it has ended; returns what it ended as.
pub async fn follow(chain: &Chain, job: JobId, report: &Reporter) -> Result<JobView, SubmitError> {
	let mut before: Option<JobView> = None;
	let mut seen = None;
	loop {
		let head = next_block(chain, seen).await?;
		seen = Some(head.hash);
		let now = match chain.job(job).await {
			Ok(view) => view.ok_or(SubmitError::NoSuchJob(job))?,
			Err(e) if e.is_connection() => continue,
			Err(e) => return Err(e.into()),
		};
		for change in changes(before.as_ref(), &now) {
			report.job(job, change.event, &change.text, change.fields);
		}
		if matches!(now.state, JobState::Ended(_)) {
			return Ok(now);
		}
		before = Some(now);
	}
}

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
	/// A word for programs.
	pub event: &'static str,
	/// A line for people.
	pub text: String,
	/// Details for programs.
	pub fields: Value,
}

fn change(event: &'static str, text: String, fields: Value) -> Change {
	Change { event, text, fields }
}

/// What happened to a job between two looks.
pub fn changes(before: Option<&JobView>, now: &JobView) -> Vec<Change> {
	let mut out = Vec::new();
	let applicants = before.map_or(&[][..], |b| &b.applicants);
	for who in now.applicants.iter().filter(|who| !applicants.contains(who)) {
		out.push(change("applied", format!("{who} applied"), json!({ "trainer": who })));
	}
	let state = words::state(&now.state);
	match before.map(|b| words::state(&b.state)) {
		Some(then) if then == state => {}
		then => {
			let text = match then {
				Some(then) => format!("{then} -> {state}"),
				None => state.to_owned(),
			};
			out.push(change("state", text, json!({ "from": then, "state": state })));
		}
	}
	for replica in &now.replicas {
		let who = &replica.trainer;
		let then = before.and_then(|b| b.replicas.iter().find(|r| r.trainer == *who));
		if then.is_none() {
			out.push(change("drawn", format!("{who} trains"), json!({ "trainer": who })));
		}
		if replica.committed && !then.is_some_and(|r| r.committed) {
			let text = format!("{who} committed to a result");
			out.push(change("committed", text, json!({ "trainer": who })));
		}
		if let Some(reveal) = replica.reveal.as_ref() {
			if then.is_none_or(|r| r.reveal.is_none()) {
				let text = format!("{who} revealed bundle {:?}", reveal.bundle_root);
				out.push(change("revealed", text, json!({ "trainer": who, "reveal": reveal })));
			}
		}
	}
	out.extend(audit_changes(before, now));
	for replica in &now.replicas {
		let who = &replica.trainer;
		let then = before.and_then(|b| b.replicas.iter().find(|r| r.trainer == *who));
		let decided = replica.fate != trainyard_primitives::job::Fate::Working;
		if decided && then.is_none_or(|r| r.fate != replica.fate) {
			let text = format!("{who}: {}", words::fate(&replica.fate));
			out.push(change("fate", text, json!({ "trainer": who, "fate": replica.fate })));
		}
	}
	out
}

fn audit_changes(before: Option<&JobView>, now: &JobView) -> Vec<Change> {
	let mut out = Vec::new();
	let Some(audit) = now.audit.as_ref() else { return out };
	let earlier = before.and_then(|b| b.audit.as_ref());
	// A new round begins from nothing but what was decided and rescued.
	let then = earlier.filter(|a| a.round == audit.round);
	let phase = words::phase(&audit.phase);
	if then.map(|a| words::phase(&a.phase)) != Some(phase) {
		let text = format!("audit, round {}: {phase}", audit.round);
		out.push(change("audit", text, json!({ "round": audit.round, "phase": audit.phase })));
	}
	if !audit.committee.is_empty() && then.is_none_or(|a| a.committee.is_empty()) {
		let text = format!(
			"segments {:?} drawn, to be replayed by {} verifiers",
			audit.drawn,
			audit.committee.len()
		);
		let committee: Vec<_> = audit.committee.iter().map(|m| m.verifier).collect();
		out.push(change(
			"drawn_segments",
			text,
			json!({ "drawn": audit.drawn, "committee": committee }),
		));
	}
	for member in &audit.committee {
		let old = then.and_then(|a| a.committee.iter().find(|m| m.verifier == member.verifier));
		if let Some(findings) = member.findings.as_ref() {
			if old.is_none_or(|m| m.findings.is_none()) {
				let verdicts: Vec<String> = findings.iter().map(words::verdict_in_full).collect();
				let text = format!("verifier {}: {}", member.verifier, verdicts.join("; "));
				let fields = json!({ "verifier": member.verifier, "findings": findings });
				out.push(change("verdict", text, fields));
			}
		}
	}
	for (index, group) in audit.groups.iter().enumerate() {
		let old = earlier.and_then(|a| a.groups.get(index));
		if let Some(decision) = group.decision.as_ref() {
			if old.is_none_or(|g| g.decision.is_none()) {
				let text = format!("result {index} is {}", words::decision(decision));
				out.push(change(
					"decision",
					text,
					json!({ "result": index, "decision": decision }),
				));
			}
		}
		if group.rescued.is_some() && old.is_none_or(|g| g.rescued.is_none()) {
			let text = format!("result {index}: its states were rescued on chain");
			out.push(change("rescued", text, json!({ "result": index, "root": group.rescued })));
		}
	}
	out
}

/// How a job ended and where its money went, for people.
pub fn summary(job: &JobView) -> String {
	let s = &job.settlement;
	let mut out = format!("job {}: {}\n", job.id, words::state(&job.state));
	if !job.replicas.is_empty() {
		let rows: Vec<Vec<String>> = job
			.replicas
			.iter()
			.map(|r| vec![r.trainer.to_string(), words::fate(&r.fate).to_owned()])
			.collect();
		out.push_str(&table(&[("trainer", Align::Left), ("fate", Align::Left)], &rows));
		out.push('\n');
	}
	let mut rows = vec![
		("work of one replica", format!("{} ut", amount::format_scaled(u128::from(job.work), 6))),
		("escrowed", amount::format(s.escrowed)),
		("  paid to trainers", amount::format(s.paid_to_trainers)),
		("  paid to verifiers", amount::format(s.paid_to_verifiers)),
		("  burned (protocol fee)", amount::format(s.burned)),
		("  refunded", amount::format(s.refunded)),
	];
	if s.slashed > 0 {
		rows.extend([
			("slashed from deposits", amount::format(s.slashed)),
			("  to the submitter", amount::format(s.slashed_to_submitter)),
			("  to verifiers", amount::format(s.slashed_to_verifiers)),
			("  to the jackpot", amount::format(s.slashed_to_jackpot)),
		]);
	}
	let rows: Vec<Vec<String>> =
		rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
	out.push_str(&table(&[("money", Align::Left), ("", Align::Right)], &rows));
	out
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::chain::{AuditView, ReplicaView};
	use trainyard_primitives::{
		audit::{AuditPhase, Decision, GroupVerdict, RejectReason, SegmentEvidence},
		job::{Ending, Fate, Reveal, Settlement, WorkResult},
		views::{GroupView, MemberView},
		Text, H256,
	};

	fn job(state: JobState) -> JobView {
		JobView {
			id: 3,
			submitter: AccountId32([3; 32]),
			invited: None,
			spec: JobSpec::example(),
			terms: Terms {
				price_per_ut: 1_000_000_000_000,
				replicas: 1,
				verifiers: 1,
				audit_segments: 1,
				audit_fee: 1,
				apply_blocks: 10,
				training_blocks: 60,
			},
			work: 6_012,
			deposit: 0,
			state,
			deadline: 110,
			seed: None,
			applicants: vec![],
			replicas: vec![],
			audit: None,
			settlement: Settlement::default(),
		}
	}

	fn texts(before: Option<&JobView>, now: &JobView) -> Vec<String> {
		changes(before, now).into_iter().map(|c| c.text).collect()
	}

	#[test]
	fn a_change_of_state_is_one_line() {
		let (training, revealing) = (job(JobState::Training), job(JobState::Revealing));
		assert_eq!(texts(None, &training), ["training"]);
		assert_eq!(texts(Some(&training), &revealing), ["training -> revealing"]);
		assert!(texts(Some(&revealing), &revealing).is_empty());
	}

	#[test]
	fn a_whole_life_is_told_once_each() {
		let who = AccountId32([1; 32]);
		let verifier = AccountId32([2; 32]);
		let open = job(JobState::Open);
		let applied = JobView { applicants: vec![who], ..open.clone() };
		assert_eq!(texts(Some(&open), &applied), [format!("{who} applied")]);

		let replica =
			ReplicaView { trainer: who, committed: false, reveal: None, fate: Fate::Working };
		let training = JobView { replicas: vec![replica.clone()], ..job(JobState::Training) };
		assert_eq!(
			texts(Some(&applied), &training),
			["open -> training".to_owned(), format!("{who} trains")]
		);
		let reveal = Reveal {
			bundle_root: H256::repeat_byte(1),
			model_root: H256::repeat_byte(2),
			location: Text::new("http://x").unwrap(),
		};
		let result = WorkResult { bundle_root: reveal.bundle_root, model_root: reveal.model_root };
		let shown = ReplicaView { committed: true, reveal: Some(reveal), ..replica };
		let evidence =
			SegmentEvidence { segment: 7, trace_root: H256::zero(), end_state: H256::zero() };
		let member = |findings: bool| MemberView {
			verifier,
			committed: true,
			findings: findings.then(|| {
				vec![GroupVerdict::Reject(RejectReason::WrongSegment(evidence))].try_into().unwrap()
			}),
		};
		let audit = |phase, findings, decision| AuditView {
			round: 0,
			phase,
			groups: vec![GroupView { result, decision, rescued: None }],
			committee: vec![member(findings)],
			drawn: vec![7],
		};
		let auditing = JobView {
			replicas: vec![shown.clone()],
			audit: Some(audit(AuditPhase::Committing { until: 5 }, false, None)),
			..job(JobState::Auditing)
		};
		let lines = texts(Some(&training), &auditing);
		assert_eq!(lines.len(), 5, "{lines:?}");
		assert!(lines[4].contains("[7]"), "{lines:?}");

		let ended = JobView {
			replicas: vec![ReplicaView { fate: Fate::Rejected, ..shown }],
			audit: Some(audit(AuditPhase::Done, true, Some(Decision::Rejected))),
			..job(JobState::Ended(Ending::Failed))
		};
		let lines = texts(Some(&auditing), &ended);
		assert_eq!(lines[0], "auditing -> failed");
		assert!(lines.iter().any(|l| l.contains("segment 7 ends in another state")), "{lines:?}");
		assert!(lines.iter().any(|l| l == "result 0 is rejected"), "{lines:?}");
		assert!(lines.last().unwrap().ends_with("deposit lost"), "{lines:?}");
		assert!(texts(Some(&ended), &ended).is_empty());
	}

	#[test]
	fn a_rescue_is_told_once_over_rounds() {
		let result =
			WorkResult { bundle_root: H256::repeat_byte(1), model_root: H256::repeat_byte(2) };
		let verifier = AccountId32([2; 32]);
		let at = |round, phase, rescued, seated: bool| JobView {
			audit: Some(AuditView {
				round,
				phase,
				groups: vec![GroupView { result, decision: None, rescued }],
				committee: seated
					.then_some(MemberView { verifier, committed: false, findings: None })
					.into_iter()
					.collect(),
				drawn: vec![7],
			}),
			..job(JobState::Auditing)
		};
		let root = Some(H256::repeat_byte(9));
		let asked = at(0, AuditPhase::Rescue { until: 9 }, None, true);
		let stored = at(0, AuditPhase::Rescue { until: 9 }, root, true);
		let drawing = at(1, AuditPhase::Drawing { after: 9 }, root, false);
		let seated = at(1, AuditPhase::Committing { until: 20 }, root, true);
		assert_eq!(texts(Some(&asked), &stored), ["result 0: its states were rescued on chain"]);
		assert_eq!(texts(Some(&stored), &drawing), ["audit, round 1: drawing a committee"]);
		let lines = texts(Some(&drawing), &seated);
		assert_eq!(lines.len(), 2, "{lines:?}");
		assert!(lines[1].contains("by 1 verifiers"), "{lines:?}");
	}

	#[test]
	fn the_summary_names_every_sum() {
		let settlement = Settlement {
			escrowed: 10_000_000_000_000,
			paid_to_trainers: 1_000_000_000_000,
			paid_to_verifiers: 2_000_000_000_000,
			burned: 3_000_000_000_000,
			refunded: 4_000_000_000_000,
			..Settlement::default()
		};
		let mut job = JobView { settlement, ..job(JobState::Ended(Ending::Settled)) };
		let text = summary(&job);
		for part in ["0.006012 ut", "10 TRY", "1 TRY", "2 TRY", "3 TRY", "4 TRY", "settled"] {
			assert!(text.contains(part), "{part} in {text}");
		}
		assert!(!text.contains("slashed"));
		job.settlement.slashed = 5_500_000_000_000;
		assert!(summary(&job).contains("5.5 TRY"));
	}

	#[test]
	fn periods_out_of_range_are_named() {
		let mut terms = job(JobState::Open).terms;
		assert_eq!(period_problem(&terms, 5, 100, 100), None);
		assert!(period_problem(&terms, 11, 100, 100).unwrap().contains("apply_blocks is 10"));
		terms.training_blocks = 101;
		assert!(period_problem(&terms, 5, 100, 100).unwrap().contains("5 to 100 blocks"));
	}
}
