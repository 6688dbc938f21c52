//! Tables: chain state and own files in, steps out.

use super::*;
use crate::{
	chain::AuditView,
	daemon::store::{Committed, Salt},
};
use trainyard_primitives::{
	audit::{Decision, Findings},
	job::{Ending, Reveal, Settlement, Terms},
	spec::JobSpec,
	views::{GroupView, MemberView},
	Text, H256,
};

const TRY: Balance = 1_000_000_000_000;

fn me() -> AccountId32 {
	AccountId32([1; 32])
}

fn other() -> AccountId32 {
	AccountId32([2; 32])
}

fn submitter() -> AccountId32 {
	AccountId32([3; 32])
}

fn limits() -> Limits {
	Limits {
		min_price: TRY,
		max_work: 1_000_000,
		max_parallel: 2,
		max_data: 1 << 30,
		reserve: TRY,
		speed: 1e8,
		grace: 20,
	}
}

fn standing() -> Standing {
	Standing {
		best: 100,
		block_time: Duration::from_secs(1),
		free: 1_000 * TRY,
		blob_deposit: (TRY, 1),
		busy: 0,
	}
}

fn job(state: JobState) -> JobView {
	JobView {
		id: 3,
		submitter: submitter(),
		invited: None,
		spec: JobSpec::example(),
		terms: Terms {
			price_per_ut: 10 * TRY,
			replicas: 1,
			verifiers: 3,
			audit_segments: 3,
			audit_fee: TRY,
			apply_blocks: 10,
			training_blocks: 60,
		},
		work: 6_000,
		deposit: 10 * TRY,
		state,
		deadline: 110,
		seed: None,
		applicants: vec![],
		replicas: vec![],
		audit: None,
		settlement: Settlement::default(),
	}
}

fn result() -> WorkResult {
	WorkResult { bundle_root: H256::repeat_byte(1), model_root: H256::repeat_byte(2) }
}

fn reveal() -> Reveal {
	Reveal {
		bundle_root: result().bundle_root,
		model_root: result().model_root,
		location: Text::new("http://here").unwrap(),
	}
}

fn mine(committed: bool, revealed: bool) -> ReplicaView {
	ReplicaView { trainer: me(), committed, reveal: revealed.then(reveal), fate: Fate::Working }
}

fn with(state: JobState, replica: ReplicaView) -> JobView {
	JobView { replicas: vec![replica], seed: Some(H256::repeat_byte(9)), ..job(state) }
}

fn fresh() -> JobRecord {
	JobRecord::new(3, H256::repeat_byte(9), H256::repeat_byte(1))
}

fn trained() -> JobRecord {
	JobRecord { result: Some(result()), ..fresh() }
}

fn committed() -> JobRecord {
	JobRecord { committed: Some(Committed { result: result(), salt: Salt([7; 32]) }), ..trained() }
}

fn stored() -> JobRecord {
	JobRecord { stored: true, ..committed() }
}

fn planned(job: &JobView, record: Option<&JobRecord>, data: bool) -> Plan {
	plan(job, &me(), record, data, &limits(), &standing())
}

/// An audit in which two of three verifiers could not have any result.
fn auditing(phase: AuditPhase, groups: Vec<GroupView>) -> JobView {
	let missed = Findings::try_from(vec![GroupVerdict::Unavailable; groups.len()]).unwrap();
	let member =
		|n, findings| MemberView { verifier: AccountId32([n; 32]), committed: true, findings };
	let committee =
		vec![member(11, Some(missed.clone())), member(12, None), member(13, Some(missed))];
	JobView {
		audit: Some(AuditView { round: 0, phase, groups, committee, drawn: vec![1] }),
		..with(JobState::Auditing, mine(true, true))
	}
}

fn group(result: WorkResult) -> GroupView {
	GroupView { result, decision: None, rescued: None }
}

#[test]
fn an_open_job_is_fetched_before_it_is_applied_for() {
	let open = job(JobState::Open);
	assert_eq!(planned(&open, None, false).actions, [Action::Fetch]);
	assert_eq!(planned(&open, None, true).actions, [Action::Apply]);
	assert!(!planned(&open, None, true).involved);
}

#[test]
fn an_applicant_waits_and_serves_the_data() {
	for state in [JobState::Open, JobState::Seeding] {
		let applied = JobView { applicants: vec![other(), me()], ..job(state) };
		let plan = planned(&applied, None, true);
		assert!(plan.actions.is_empty() && plan.serve_data && plan.involved, "{state:?}");
		assert!(!plan.serve_bundle);
		assert_eq!(planned(&applied, None, false).actions, [Action::Fetch], "lost by a restart");
	}
	let seeding = job(JobState::Seeding);
	assert_eq!(planned(&seeding, None, true), Plan::default(), "too late to apply");
}

#[test]
fn nobody_applies_at_the_last_moment() {
	for (best, actions) in [(108, vec![Action::Apply]), (109, vec![]), (110, vec![]), (200, vec![])]
	{
		let standing = Standing { best, ..standing() };
		let plan = plan(&job(JobState::Open), &me(), None, true, &limits(), &standing);
		assert_eq!(plan.actions, actions, "at {best}");
	}
}

#[test]
fn jobs_that_are_not_worth_it_are_refused() {
	type Change = fn(&mut JobView, &mut Limits, &mut Standing);
	let cases: &[(&str, Change, fn(&Refusal) -> bool)] = &[
		("invited", |j, _, _| j.invited = Some(other()), |r| *r == Refusal::NotInvited),
		("own", |j, _, _| j.submitter = me(), |r| *r == Refusal::Own),
		(
			"price",
			|j, l, _| l.min_price = j.terms.price_per_ut + 1,
			|r| *r == Refusal::Price { offered: 10 * TRY, asked: 10 * TRY + 1 },
		),
		(
			"work",
			|j, l, _| l.max_work = j.work - 1,
			|r| *r == Refusal::Work { work: 6_000, limit: 5_999 },
		),
		("data", |_, l, _| l.max_data = 10, |r| matches!(r, Refusal::Data { limit: 10, .. })),
		(
			// 2.592 x 10^9 FLOP at 50 MFLOPS: 51.8 s of 60.
			"time",
			|_, l, _| l.speed = 5e7,
			|r| matches!(r, Refusal::Time { needed, given } if *needed > 51.0 && *given == 60.0),
		),
		(
			"balance",
			|_, _, s| s.free = 12 * TRY,
			|r| matches!(r, Refusal::Balance { free, .. } if *free == 12 * TRY),
		),
		("busy", |_, _, s| s.busy = 2, |r| *r == Refusal::Busy(2)),
	];
	for (name, change, expected) in cases {
		let (mut job, mut limits, mut standing) = (job(JobState::Open), limits(), standing());
		assert_eq!(worth(&job, &me(), &limits, &standing), Ok(()));
		change(&mut job, &mut limits, &mut standing);
		let refusal = worth(&job, &me(), &limits, &standing).unwrap_err();
		assert!(expected(&refusal), "{name}: {refusal}");
		let plan = plan(&job, &me(), None, true, &limits, &standing);
		assert_eq!(plan, Plan { refusal: Some(refusal.clone()), ..Plan::default() });
		assert_eq!(refusal.may_pass(), ["balance", "busy"].contains(name), "{name}");
		assert!(!refusal.to_string().is_empty());
	}
	let invited = JobView { invited: Some(me()), ..job(JobState::Open) };
	assert_eq!(worth(&invited, &me(), &limits(), &standing()), Ok(()));
}

#[test]
fn the_balance_covers_deposit_model_and_fees_exactly() {
	let job = job(JobState::Open);
	let blob = TRY + 4 * u128::from(job.spec.parameters().unwrap());
	let needed = 10 * TRY + blob + TRY;
	let at = |free| worth(&job, &me(), &limits(), &Standing { free, ..standing() });
	assert_eq!(at(needed), Ok(()));
	assert_eq!(at(needed - 1), Err(Refusal::Balance { needed, free: needed - 1 }));
}

#[test]
fn a_drawn_trainer_trains_commits_and_waits() {
	let training = |committed| with(JobState::Training, mine(committed, false));
	let cases = [
		("no seed yet", training(false), None, vec![]),
		("seed", training(false), Some(fresh()), vec![Action::Train]),
		("trained", training(false), Some(trained()), vec![Action::Commit]),
		("commitment lost on the way", training(false), Some(committed()), vec![Action::Commit]),
		("committed", training(true), Some(committed()), vec![]),
		("committed, result lost", training(true), Some(fresh()), vec![Action::Train]),
	];
	for (name, job, record, actions) in cases {
		let plan = planned(&job, record.as_ref(), true);
		assert_eq!(plan.actions, actions, "{name}");
		assert!(plan.involved && plan.serve_data && !plan.serve_bundle, "{name}");
	}
	let no_data = planned(&training(false), Some(&fresh()), false);
	assert_eq!(no_data.actions, [Action::Fetch], "data before training");
	let not_drawn = planned(&JobView { replicas: vec![], ..training(false) }, None, true);
	assert_eq!(not_drawn, Plan { finished: true, ..Plan::default() });
}

#[test]
fn revealing_shows_the_result_and_stores_the_model() {
	let revealing = |committed, revealed| with(JobState::Revealing, mine(committed, revealed));
	let cases = [
		("both", revealing(true, false), committed(), vec![Action::Reveal, Action::Store]),
		("stored first", revealing(true, false), stored(), vec![Action::Reveal]),
		("revealed", revealing(true, true), committed(), vec![Action::Store]),
		("done", revealing(true, true), stored(), vec![]),
		("never committed", revealing(false, false), trained(), vec![]),
		("result lost", revealing(true, false), fresh(), vec![Action::Train]),
		("salt lost", revealing(true, false), trained(), vec![Action::Store]),
	];
	for (name, job, record, actions) in cases {
		assert_eq!(planned(&job, Some(&record), true).actions, actions, "{name}");
	}
	assert!(!planned(&revealing(true, false), Some(&committed()), true).serve_bundle);
	assert!(planned(&revealing(true, true), Some(&committed()), true).serve_bundle);
}

#[test]
fn bundles_are_never_served_before_they_are_revealed() {
	for record in [fresh(), trained(), committed(), stored()] {
		for state in [JobState::Training, JobState::Revealing, JobState::Auditing] {
			let plan = planned(&with(state, mine(true, false)), Some(&record), true);
			assert!(!plan.serve_bundle, "{state:?} {record:?}");
		}
	}
}

#[test]
fn a_rescue_is_made_once_for_the_own_group_in_its_window() {
	let open = AuditPhase::Rescue { until: 105 };
	let foreign = WorkResult { bundle_root: H256::repeat_byte(5), ..result() };
	let decided = GroupView { decision: Some(Decision::Accepted), ..group(result()) };
	let rescued = GroupView { rescued: Some(H256::zero()), ..group(result()) };
	let cases = [
		("own", open, vec![group(foreign), group(result())], vec![Action::Rescue(1)]),
		("decided", open, vec![decided], vec![]),
		("rescued", open, vec![rescued], vec![]),
		("foreign", open, vec![group(foreign)], vec![]),
		("other phase", AuditPhase::Committing { until: 105 }, vec![group(result())], vec![]),
		("drawing", AuditPhase::Drawing { after: 99 }, vec![group(result())], vec![]),
	];
	for (name, phase, groups, actions) in cases {
		let plan = planned(&auditing(phase, groups), Some(&stored()), true);
		assert_eq!(plan.actions, actions, "{name}");
		assert!(plan.serve_bundle && plan.serve_data, "{name}");
	}
	let mut not_asked = auditing(open, vec![group(result())]);
	not_asked.audit.as_mut().unwrap().committee[0].findings = None;
	let plan = planned(&not_asked, Some(&stored()), true);
	assert!(plan.actions.is_empty(), "one of three is no majority");

	let lost = planned(&auditing(open, vec![group(result())]), Some(&fresh()), true);
	assert_eq!(lost.actions, [Action::Train], "a lost bundle is made again, then rescued");
}

#[test]
fn a_lost_replica_does_nothing_but_serve() {
	for fate in [Fate::NotCommitted, Fate::NotRevealed, Fate::ModelMissing, Fate::Rejected] {
		let lost = ReplicaView { fate, ..mine(true, false) };
		let plan = planned(&with(JobState::Revealing, lost), Some(&committed()), true);
		assert!(plan.actions.is_empty(), "{fate:?}");
	}
}

#[test]
fn ended_jobs_are_served_for_a_while() {
	let ended = with(JobState::Ended(Ending::Settled), mine(true, true));
	for (since, served) in [(None, true), (Some(100), true), (Some(80), true), (Some(79), false)] {
		let record = JobRecord { ended: since, ..stored() };
		let plan = planned(&ended, Some(&record), true);
		assert_eq!((plan.serve_bundle, plan.finished), (served, !served), "{since:?}");
		assert!(plan.actions.is_empty());
	}
	let never_mine = job(JobState::Ended(Ending::NoApplicants));
	assert!(planned(&never_mine, None, true).finished);
}

#[test]
fn overdue_jobs_are_poked_by_their_trainers_only() {
	let late = Standing { best: 121, ..standing() };
	let training = with(JobState::Training, mine(true, false));
	let own = plan(&training, &me(), Some(&committed()), true, &limits(), &late);
	assert_eq!(own.actions, [Action::Poke]);
	let strange = plan(&training, &other(), None, true, &limits(), &late);
	assert!(strange.actions.is_empty());
	let on_time = Standing { best: 120, ..standing() };
	let plan = plan(&training, &me(), Some(&committed()), true, &limits(), &on_time);
	assert!(plan.actions.is_empty());
}
