//! Tables: what the chain and the roles say in, sentences out.

use super::*;
use crate::roles::{
	machine::Class,
	work::testing::{facts, job, trained, verifier, ME},
};
use serde_json::json;
use trainyard_client::{books::Health, fake, AccountId32, MemberView, ReportView};
use trainyard_protocol::{audit::AuditPhase, stint::StintView, views::VerifierView, H256};

fn told(events: &[Value]) -> Told {
	let mut told = Told::default();
	for event in events {
		told.note(event.as_object().unwrap());
	}
	told
}

fn says(role: Part, facts: &Facts, told: &Told, words: &[&str]) {
	let text = reason(role, facts, told, &[]);
	for word in words {
		assert!(text.contains(word), "{role:?}: {word:?} is not in {text:?}");
	}
}

#[test]
fn nothing_is_seen_by_a_node_that_syncs() {
	let health = Some(Health { peers: 2, is_syncing: true });
	for role in Part::ROLES {
		says(role, &Facts { health, ..facts() }, &Told::default(), &["syncing", "2 peer"]);
	}
}

#[test]
fn a_trainer_says_why_no_job_came() {
	let none = Told::default();
	says(Part::Trainer, &facts(), &none, &["no job is open"]);
	says(Part::Trainer, &Facts { trainer: None, ..facts() }, &none, &["no trainer", "--bond"]);
	let leaves = Facts { trainer: None, free_at: Some(1_500), ..facts() };
	says(Part::Trainer, &leaves, &none, &["leaves", "1500"]);
	let open = |id| job(id, JobState::Open);
	let jobs = vec![open(4), open(5), open(6), open(7), open(8), trained(3, JobState::Training)];
	let refusal = |job, reason: &str| json!({ "event": "not_taken", "role": "trainer", "job": job, "reason": reason });
	let events = [
		refusal(4, "it pays too little"),
		refusal(5, "too large"),
		refusal(6, "no"),
		refusal(7, "no"),
	];
	let words = [
		"job 3 is training, until block 110",
		"1 open job(s) are being fetched",
		"4 job(s) open and not taken: job 4: it pays too little; job 5: too large; job 6: no; and 1 more",
	];
	let facts = Facts { jobs, ..facts() };
	says(Part::Trainer, &facts, &told(&events), &words);
	// What was refused once and is taken now.
	let mut changed = told(&events);
	changed.note(json!({ "event": "applied", "role": "trainer", "job": 4 }).as_object().unwrap());
	says(Part::Trainer, &facts, &changed, &["3 job(s) open and not taken: job 5"]);
	changed.retain(&[]);
	says(Part::Trainer, &facts, &changed, &["5 open job(s) are being fetched"]);
	let applied = JobView { applicants: vec![ME], ..open(9) };
	let facts = Facts { jobs: vec![applied], ..facts };
	says(Part::Trainer, &facts, &none, &["applied for job 9"]);
}

#[test]
fn a_driller_says_when_its_stint_ends_and_for_whom_laps_rest() {
	let none = Told::default();
	says(Part::Driller, &facts(), &none, &["no stint yet"]);
	says(Part::Driller, &Facts { trainer: None, ..facts() }, &none, &["no trainer"]);
	let stint = StintView {
		number: 7,
		begun: 990,
		seed: H256::zero(),
		from: 1_050,
		until: 9_000,
		report: None,
		stock: 0,
		check_price: 0,
	};
	let report = |phase| ReportView {
		id: 12,
		driller: ME,
		number: 6,
		seed: H256::zero(),
		laps: 9,
		phase,
		until: 1_200,
		samples: vec![],
		opened: false,
		committed: false,
		revealed: false,
	};
	let facts =
		Facts { stint: Some(stint), report: Some(report(ReportPhase::Checking)), ..facts() };
	let words =
		["stint 7 can be reported from block 1050 on, in 50 block(s)", "report 12 is checked"];
	says(Part::Driller, &facts, &none, &words);
	let waits = Facts { report: Some(report(ReportPhase::Drawing)), best: 1_060, ..facts };
	says(Part::Driller, &waits, &none, &["stint 7 is to be reported", "or for verifiers"]);
	let seat = Present {
		role: "verifier",
		what: "a replay".into(),
		class: Class::Duty,
		deadline: 1_100,
		computes: true,
	};
	let text = reason(Part::Driller, &waits, &none, &[seat]);
	assert!(text.contains("laps rest while a replay is computed (verifier)"), "{text}");
	let trouble =
		told(&[json!({ "event": "problem", "role": "driller", "reason": "the disk is full" })]);
	says(Part::Driller, &waits, &trouble, &["The last trouble: the disk is full"]);
}

#[test]
fn a_verifier_says_where_it_stands() {
	let none = Told::default();
	let stands = |view: Option<VerifierView>| Facts { verifier: view, ..facts() };
	says(Part::Verifier, &stands(None), &none, &["no verifier", "--verifier-bond"]);
	for (standing, word) in [
		(Standing::Active, "no job is audited"),
		(Standing::Paused, "paused, with 4 seats"),
		(Standing::Waiting { since: 70 }, "since block 70"),
		(Standing::Left { since: 80 }, "left at block 80"),
	] {
		says(Part::Verifier, &stands(Some(verifier(standing))), &none, &[word]);
	}
	let keyless = VerifierView { vrf_key: None, ..verifier(Standing::Waiting { since: 7 }) };
	says(Part::Verifier, &stands(Some(keyless)), &none, &["VRF key"]);
	let audit = |member: AccountId32| {
		let committee: Vec<MemberView> = vec![fake::member(member)];
		let phase = AuditPhase::Committing { until: 1_100 };
		trainyard_client::AuditView { committee, ..fake::audit(phase, vec![]) }
	};
	let audited =
		|id, member| JobView { audit: Some(audit(member)), ..job(id, JobState::Auditing) };
	let other = AccountId32([5; 32]);
	let jobs = Facts { jobs: vec![audited(3, other)], ..facts() };
	says(Part::Verifier, &jobs, &none, &["1 job(s) are audited by others", "90 TRY"]);
	let jobs = Facts { jobs: vec![audited(3, other), audited(4, ME)], checks: 2, ..facts() };
	says(Part::Verifier, &jobs, &none, &["committee of job 4", "checks 2 report(s)"]);
}

#[test]
fn a_whistleblower_says_what_there_is_to_look_at() {
	let none = Told::default();
	says(Part::Whistleblower, &facts(), &none, &["no result stands"]);
	let stands = |job: JobView| {
		let phase = AuditPhase::Standing { until: 1_100 };
		JobView { audit: Some(fake::audit(phase, vec![])), ..job }
	};
	let own = stands(trained(3, JobState::Auditing));
	let facts = Facts { jobs: vec![own.clone()], ..facts() };
	says(
		Part::Whistleblower,
		&facts,
		&none,
		&["only results stand that this account trained or audits (1)"],
	);
	let of = |id| stands(job(id, JobState::Auditing));
	let facts = Facts { jobs: vec![own, of(4), of(5), of(6)], ..facts };
	let events = [
		json!({ "event": "not_looked_at", "role": "whistleblower", "job": 4, "reason": "too large" }),
		json!({ "event": "looked_at", "role": "whistleblower", "job": 5 }),
	];
	let words = [
		"1 job(s) have results that stand and wait",
		"1 job(s) have results that were looked at",
		"not looked at: job 4: too large",
	];
	says(Part::Whistleblower, &facts, &told(&events), &words);
}

#[test]
fn of_each_task_is_said_what_was_last_told() {
	let none = Told::default();
	says(Part::Tasks, &facts(), &none, &["no task is open"]);
	let mut told = Told::default();
	let mut note = |event: &str, task: u64| {
		let event = json!({ "role": "tasks", "event": event, "task": task });
		told.note(event.as_object().unwrap());
	};
	for (event, task) in [
		("task_applied", 3),
		("task_computed", 3),
		("task_applied", 4),
		("task_applied", 5),
		("task_ended", 5),
	] {
		note(event, task);
	}
	says(Part::Tasks, &facts(), &told, &["task 3: computed; task 4: applied"]);
	assert!(!reason(Part::Tasks, &facts(), &told, &[]).contains("task 5"));
}
