//! Tables: chain state and own files in, steps out.

use super::*;
use crate::roles::store::{Committed, Salt};
use std::time::Duration;
use trainyard_client::{fake, AuditView, GroupView, LateView, LockedView};
use trainyard_program::spec::{JobSpec, Model};
use trainyard_protocol::{
	audit::Decision,
	blob,
	job::{Ending, Reveal, Settlement, Terms},
	pieces::Piece,
	views::RescuedView,
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
		min_undecided: 20,
		max_deviation: 10,
		max_work: 1_000_000,
		max_parallel: 2,
		max_data: 1 << 30,
		max_memory: 1 << 30,
		max_rescue: 1 << 30,
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
		prices: Prices { blob_base: TRY, blob_byte: 1, fee_byte: 2, fee_call: 1_000 },
		busy: 0,
		training: 0,
		memory_taken: 0,
		disk: 1 << 30,
		disputed: false,
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
			machine: Default::default(),
			undecided_percent: 20,
			keep_every: 1,
			lottery: None,
		},
		work: 6_000,
		training: 6_000,
		deposit: 10 * TRY,
		state,
		deadline: 110,
		seed: None,
		applicants: vec![],
		replicas: vec![],
		audit: None,
		settlement: Settlement::default(),
		late: None,
		record: 0,
		fee_per_ut: 0,
		compute_per_ut: 0,
	}
}

fn result() -> WorkResult {
	WorkResult {
		bundle_root: H256::repeat_byte(1),
		true_root: H256::repeat_byte(1),
		model_root: H256::repeat_byte(2),
		segments: 30,
		diverged: false,
	}
}

fn reveal() -> Reveal {
	Reveal {
		bundle_root: result().bundle_root,
		true_root: result().bundle_root,
		model_root: result().model_root,
		segments: result().segments,
		diverged: false,
		location: Text::new("http://here").unwrap(),
	}
}

/// The commitment that [`committed`] can reveal.
fn commitment() -> H256 {
	H256::repeat_byte(6)
}

fn mine(committed: bool, revealed: bool) -> ReplicaView {
	let commitment = committed.then(commitment);
	ReplicaView { trainer: me(), commitment, reveal: revealed.then(reveal), fate: Fate::Working }
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

/// Knowledge of a job whose data is here and which was tried.
fn knowing(record: Option<&JobRecord>) -> Known<'_> {
	let commitment = record.and_then(|record| record.committed.as_ref()).map(|_| commitment());
	Known {
		record,
		data: true,
		rehearsed: true,
		commitment,
		replaced: false,
		stored: false,
		bad: None,
		compared: None,
		disputed: false,
		bet_due: false,
	}
}

/// Does what [`super::plan`] does, about a job that is checked first.
fn plan(
	job: &JobView,
	me: &AccountId32,
	known: &Known<'_>,
	limits: &Limits,
	standing: &Standing,
) -> Plan {
	super::plan(&Job::new(job.clone()), me, known, limits, standing)
}

/// Does what [`super::worth`] does, about a job that is checked first.
fn worth(
	job: &JobView,
	me: &AccountId32,
	limits: &Limits,
	standing: &Standing,
) -> Result<(), Refusal> {
	super::worth(&Job::new(job.clone()), me, limits, standing)
}

fn planned(job: &JobView, record: Option<&JobRecord>, data: bool) -> Plan {
	let known = Known { data, ..knowing(record) };
	plan(job, &me(), &known, &limits(), &standing())
}

/// An audit in which two of three verifiers could not have any result.
fn auditing(phase: AuditPhase, groups: Vec<GroupView>) -> JobView {
	let committee = [11, 12, 13].map(|n| fake::member(AccountId32([n; 32]))).to_vec();
	JobView {
		audit: Some(AuditView { committee, ..fake::audit(phase, groups) }),
		..with(JobState::Auditing, mine(true, true))
	}
}

fn group(result: WorkResult) -> GroupView {
	GroupView { asked: vec![Piece::Leaves], ..fake::group(result) }
}

#[test]
fn an_open_job_is_fetched_before_it_is_applied_for() {
	let open = job(JobState::Open);
	assert_eq!(planned(&open, None, false).actions, [Action::Fetch]);
	assert_eq!(planned(&open, None, true).actions, [Action::Apply]);
	assert!(!planned(&open, None, true).involved);
	let untried = Known { rehearsed: false, ..knowing(None) };
	let plan = plan(&open, &me(), &untried, &limits(), &standing());
	assert_eq!(plan.actions, [Action::Rehearse]);
}

#[test]
fn a_job_found_bad_is_neither_fetched_nor_applied_for() {
	for data in [false, true] {
		let known = Known { data, bad: Some("it diverges"), ..knowing(None) };
		let plan = plan(&job(JobState::Open), &me(), &known, &limits(), &standing());
		let refusal = Some(Refusal::Bad("it diverges".into()));
		assert_eq!(plan, Plan { refusal, ..Plan::default() });
	}
	// A job that was taken is seen through nevertheless.
	let known = Known { bad: Some("it diverges"), ..knowing(None) };
	let applied = JobView { applicants: vec![me()], ..job(JobState::Open) };
	assert!(plan(&applied, &me(), &known, &limits(), &standing()).serve_data);
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
		let plan = plan(&job(JobState::Open), &me(), &knowing(None), &limits(), &standing);
		assert_eq!(plan.actions, actions, "at {best}");
	}
}

#[test]
fn jobs_that_are_not_worth_it_are_refused() {
	type Change = fn(&mut JobView, &mut Limits, &mut Standing);
	type Expected = fn(&Refusal) -> bool;
	let cases: &[(&str, Change, Expected)] = &[
		("invited", |j, _, _| j.invited = Some(other()), |r| *r == Refusal::NotInvited),
		("own", |j, _, _| j.submitter = me(), |r| *r == Refusal::Own),
		(
			"price",
			|j, l, _| l.min_price = j.terms.price_per_ut + 1,
			|r| *r == Refusal::Price { offered: 10 * TRY, asked: 10 * TRY + 1 },
		),
		(
			"undecided",
			|j, _, _| j.terms.undecided_percent = 19,
			|r| *r == Refusal::Undecided { offered: 19, asked: 20 },
		),
		(
			"lottery",
			|j, _, _| j.terms.lottery = Some(2 * j.spec.segments()),
			|r| *r == Refusal::Lottery { one_in: 60, percent: 100, most: 10 },
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
			|r| {
				matches!(r, Refusal::Time { needed, given, beside: 0 }
					if *needed > 51.0 && *given == 60.0)
			},
		),
		(
			// Half the machine is another job's: 2 x 43.2 s of 60, though alone it would do.
			"time beside others",
			|_, l, s| (l.speed, s.training) = (6e7, 1),
			|r| matches!(r, Refusal::Time { beside: 1, .. }),
		),
		(
			"checkpoints",
			|j, _, _| j.spec.training.checkpoint_interval = 1,
			|r| matches!(r, Refusal::Time { beside: 0, .. }),
		),
		(
			"memory",
			|j, _, _| {
				j.spec.dataset.features = 1;
				(j.spec.dataset.train_rows, j.spec.dataset.validation_rows) = (80_000, 20_000);
				j.spec.training.batch_size = 65_536;
				let Model::Mlp { hidden, .. } = &mut j.spec.model else { unreachable!() };
				*hidden = vec![65_536].try_into().unwrap();
			},
			|r| matches!(r, Refusal::Memory { needed, .. } if *needed > 17 << 30),
		),
		(
			"memory of others",
			|_, l, s| s.memory_taken = l.max_memory,
			|r| matches!(r, Refusal::Memory { left: 0, .. }),
		),
		("disk", |_, _, s| s.disk = 1_000, |r| matches!(r, Refusal::Disk { left: 1_000, .. })),
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
		let plan = plan(&job, &me(), &knowing(None), &limits, &standing);
		assert_eq!(plan, Plan { refusal: Some(refusal.clone()), ..Plan::default() });
		assert!(!refusal.to_string().is_empty());
	}
	let invited = JobView { invited: Some(me()), ..job(JobState::Open) };
	assert_eq!(worth(&invited, &me(), &limits(), &standing()), Ok(()));
}

/// A trainer that could not pay for a rescue lost its deposit to the first seat that asked for one.
#[test]
fn the_balance_covers_deposit_model_rescue_and_fees_exactly() {
	let job = job(JobState::Open);
	let spec = job.spec.clone().check().unwrap();
	let needs = Needs::of(&spec, &job.terms);
	assert!(needs.model >= 4 * spec.parameters());
	let stored = |bytes: u64| {
		let chunks = u128::from(blob::chunk_count(bytes).unwrap());
		// Deposit and fees for the bytes, registration and chunks.
		TRY + 3 * u128::from(bytes) + (chunks + 1) * 1_000
	};
	// Four small transactions, and those before and after a rescue.
	let least = 10 * TRY + stored(needs.model) + 4 * 1_000 + TRY;
	// The last is a doubt that samples are lacking.
	let needed = least + stored(needs.rescue) + 2 * 1_000 + 61 * TRY / 20;
	let at = |free| worth(&job, &me(), &limits(), &Standing { free, ..standing() });
	assert_eq!(at(needed), Ok(()));
	let rescue = needs.rescue;
	for free in [needed - 1, least] {
		assert_eq!(at(free), Err(Refusal::Capital { rescue, needed, free }));
	}
	assert_eq!(at(least - 1), Err(Refusal::Balance { needed: least, free: least - 1 }));
	let text = at(least).unwrap_err().to_string();
	assert!(text.contains("would have to be stored on chain") && text.contains("must be free"));
}

/// At the prices of the chain: 0.04 TRY for a blob, 1 TRY for 10^6 bytes; 100,000 units a byte and
/// 85,000 for hashing it; 0.01 TRY for a call, of which less is taken.
#[test]
fn a_rescue_of_450_mib_takes_567_try_and_that_of_a_small_job_eight() {
	let prices = Prices {
		blob_base: TRY / 25,
		blob_byte: TRY / 1_000_000,
		fee_byte: 185_000,
		fee_call: TRY / 100,
	};
	let job = job(JobState::Open);
	let small = Needs::of(&job.spec.clone().check().unwrap(), &job.terms);
	let cents = |needs: &Needs| prices.rescue(needs) / (TRY / 100);
	assert_eq!(cents(&Needs { rescue: 450 << 20, ..small }), 56_372 + 305);
	assert_eq!(cents(&small), 801, "{small:?}");
	// Of that to doubt an answer about its samples: 61 seats at 0.05 TRY, or a 1,250th of the price.
	assert_eq!(cents(&Needs { samples: 0, ..small }), 496);
	let dear = |price| cents(&Needs { price, ..small });
	assert_eq!([dear(50 * TRY), dear(1_000 * TRY)], [801, 496 + 4_880]);
	let small = Needs { samples: 0, ..small };
	// A doubt of each piece that no block carries: 61 seats at 0.5 TRY for 4 GiB.
	assert_eq!(cents(&Needs { relayed: 1, ..small }), 496 + 3_050);
	assert_eq!(cents(&Needs { relayed: 1, relayed_rows: (4 << 30) + 1, ..small }), 496 + 9_150);
}

#[test]
fn a_drawn_trainer_trains_commits_and_waits() {
	let training = |committed| with(JobState::Training, mine(committed, false));
	let other = ReplicaView { commitment: Some(H256::repeat_byte(5)), ..mine(true, false) };
	let elsewhere = with(JobState::Training, other);
	let cases = [
		("no seed yet", training(false), None, vec![]),
		("seed", training(false), Some(fresh()), vec![Action::Train]),
		("trained", training(false), Some(trained()), vec![Action::Commit]),
		("commitment lost on the way", training(false), Some(committed()), vec![Action::Commit]),
		("committed", training(true), Some(committed()), vec![]),
		("committed, result lost", training(true), Some(fresh()), vec![Action::Train]),
		("committed, salt lost", training(true), Some(trained()), vec![Action::Commit]),
		("committed on another fork", elsewhere.clone(), Some(committed()), vec![Action::Commit]),
	];
	for (name, job, record, actions) in cases {
		let plan = planned(&job, record.as_ref(), true);
		assert_eq!(plan.actions, actions, "{name}");
		assert!(plan.involved && plan.serve_data && !plan.serve_bundle, "{name}");
	}
	// Two programs with one key must not replace each other's commitments for ever.
	let record = committed();
	let known = Known { replaced: true, ..knowing(Some(&record)) };
	assert!(plan(&elsewhere, &me(), &known, &limits(), &standing()).actions.is_empty());
	let no_data = planned(&training(false), Some(&fresh()), false);
	assert_eq!(no_data.actions, [Action::Fetch], "data before training");
	let not_drawn = planned(&JobView { replicas: vec![], ..training(false) }, None, true);
	assert_eq!(not_drawn, Plan { finished: true, ..Plan::default() });
}

#[test]
fn revealing_shows_the_result_and_stores_the_model() {
	let revealing = |committed, revealed| with(JobState::Revealing, mine(committed, revealed));
	let other = ReplicaView { commitment: Some(H256::repeat_byte(5)), ..mine(true, false) };
	let elsewhere = with(JobState::Revealing, other);
	let cases = [
		("both", revealing(true, false), committed(), false, vec![Action::Reveal, Action::Store]),
		("stored first", revealing(true, false), committed(), true, vec![Action::Reveal]),
		("revealed", revealing(true, true), committed(), false, vec![Action::Store]),
		("done", revealing(true, true), committed(), true, vec![]),
		("never committed", revealing(false, false), trained(), false, vec![]),
		("result lost", revealing(true, false), fresh(), false, vec![Action::Train]),
		("salt lost", revealing(true, false), trained(), false, vec![Action::Store]),
		("committed elsewhere", elsewhere, committed(), true, vec![]),
	];
	for (name, job, record, stored, actions) in cases {
		let known = Known { stored, ..knowing(Some(&record)) };
		let plan = plan(&job, &me(), &known, &limits(), &standing());
		assert_eq!(plan.actions, actions, "{name}");
	}
	assert!(!planned(&revealing(true, false), Some(&committed()), true).serve_bundle);
	assert!(planned(&revealing(true, true), Some(&committed()), true).serve_bundle);
}

#[test]
fn bundles_are_never_served_before_they_are_revealed() {
	for record in [fresh(), trained(), committed()] {
		for state in [JobState::Training, JobState::Revealing, JobState::Auditing] {
			let plan = planned(&with(state, mine(true, false)), Some(&record), true);
			assert!(!plan.serve_bundle, "{state:?} {record:?}");
		}
	}
}

#[test]
fn a_bet_is_offered_on_an_own_result_that_is_audited() {
	let record = committed();
	let done = knowing(Some(&record));
	let known = Known { bet_due: true, ..done };
	let actions = |job: &JobView, known| plan(job, &me(), known, &limits(), &standing()).actions;
	let phase = AuditPhase::Drawing { after: 99 };
	let audited = auditing(phase, vec![fake::group(result())]);
	assert_eq!(actions(&audited, &known), [Action::Bet]);
	assert_eq!(actions(&audited, &done), [], "it stands");
	// Not on what could still be agreed away, nor on what was not delivered, nor after a conviction.
	assert_eq!(actions(&with(JobState::Revealing, mine(true, true)), &known), [Action::Store]);
	assert_eq!(actions(&with(JobState::Auditing, mine(true, false)), &known), []);
	let lost = ReplicaView { fate: Fate::Rejected, ..mine(true, true) };
	assert_eq!(actions(&with(JobState::Auditing, lost), &known), []);
	let ended = with(JobState::Ended(Ending::Settled), mine(true, true));
	assert_eq!(actions(&ended, &known), [Action::Bet], "it is taken back");
	assert_eq!(actions(&ended, &done), []);
}

#[test]
fn a_rescue_is_made_once_for_the_own_group_in_its_window() {
	let open = AuditPhase::Rescue { until: 105 };
	let foreign = WorkResult { true_root: H256::repeat_byte(5), ..result() };
	let decided = GroupView { decision: Some(Decision::Accepted), ..group(result()) };
	let stored = vec![RescuedView { piece: Piece::State(1), blob: H256::zero() }];
	let rescued =
		GroupView { asked: vec![], stored: vec![], rescued: stored.clone(), ..group(result()) };
	let again = GroupView { rescued: stored, ..group(result()) };
	let cases = [
		("own", open, vec![group(foreign), group(result())], vec![Action::Rescue(1)]),
		("decided", open, vec![decided], vec![]),
		("rescued", open, vec![rescued], vec![]),
		("more is asked for", open, vec![again], vec![Action::Rescue(0)]),
		("foreign", open, vec![group(foreign)], vec![]),
		("other phase", AuditPhase::Committing { until: 105 }, vec![group(result())], vec![]),
		("drawing", AuditPhase::Drawing { after: 99 }, vec![group(result())], vec![]),
	];
	for (name, phase, groups, actions) in cases {
		let plan = planned(&auditing(phase, groups), Some(&committed()), true);
		assert_eq!(plan.actions, actions, "{name}");
		assert!(plan.serve_bundle && plan.serve_data, "{name}");
	}
	let lost = planned(&auditing(open, vec![group(result())]), Some(&fresh()), true);
	assert_eq!(lost.actions, [Action::Train], "a lost bundle is made again, then rescued");
}

#[test]
fn other_results_are_compared_once_while_they_stand() {
	let standing_until = AuditPhase::Standing { until: 200 };
	let quiet = |result| GroupView { asked: vec![], ..group(result) };
	let other = |n| WorkResult { true_root: H256::repeat_byte(n), ..result() };
	let rejected = GroupView { decision: Some(Decision::Rejected), ..quiet(other(6)) };
	let groups = vec![quiet(other(5)), quiet(result()), rejected, quiet(other(7))];
	let job = auditing(standing_until, groups.clone());
	let record = committed();
	let actions = |job: &JobView, compared: Option<&BTreeSet<WorkResult>>| {
		let known = Known { compared, ..knowing(Some(&record)) };
		plan(job, &me(), &known, &limits(), &standing()).actions
	};
	let none = BTreeSet::new();
	assert_eq!(actions(&job, Some(&none)), [Action::Compare(0), Action::Compare(3)]);
	assert_eq!(actions(&job, Some(&[other(5)].into())), [Action::Compare(3)]);
	assert!(actions(&job, None).is_empty(), "it accuses nobody");
	let committing = auditing(AuditPhase::Committing { until: 105 }, groups);
	assert!(actions(&committing, Some(&none)).is_empty(), "nothing can be challenged yet");
	let foreign = auditing(standing_until, vec![quiet(other(5)), quiet(other(7))]);
	assert!(actions(&foreign, Some(&none)).is_empty(), "its own is not among them");
}

#[test]
fn a_dispute_comes_before_new_work_and_keeps_the_files() {
	let open = job(JobState::Open);
	let disputed = Standing { disputed: true, ..standing() };
	let found = plan(&open, &me(), &knowing(None), &limits(), &disputed);
	assert_eq!(found, Plan { refusal: Some(Refusal::Disputed), ..Plan::default() });
	let ended = with(JobState::Ended(Ending::Settled), mine(true, true));
	let record = JobRecord { ended: Some(10), ..committed() };
	for disputed in [false, true] {
		let known = Known { disputed, ..knowing(Some(&record)) };
		let found = plan(&ended, &me(), &known, &limits(), &standing());
		assert_eq!((found.discard, found.serve_bundle), (!disputed, disputed));
	}
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
		let record = JobRecord { ended: since, ..committed() };
		let plan = planned(&ended, Some(&record), true);
		assert_eq!((plan.serve_bundle, plan.finished), (served, !served), "{since:?}");
		assert_eq!(plan.discard, !served, "{since:?}");
		assert!(plan.actions.is_empty());
	}
	let never_mine = job(JobState::Ended(Ending::NoApplicants));
	let plan = planned(&never_mine, None, true);
	assert!(plan.finished && !plan.discard);
}

#[test]
fn what_a_defence_needs_stays_while_somebody_can_accuse() {
	let ended = with(JobState::Ended(Ending::Settled), mine(true, true));
	let record = JobRecord { ended: Some(1), ..committed() };
	let late = |trainer| {
		let trainers = vec![LockedView { trainer, locked: 5 }];
		Some(LateView { until: 9_999, open: false, trainers })
	};
	for (late, stays) in [(late(me()), true), (late(other()), false), (None, false)] {
		let job = JobView { late, ..ended.clone() };
		let plan = planned(&job, Some(&record), true);
		assert_eq!((plan.serve_bundle, plan.serve_data, plan.discard), (stays, stays, !stays));
	}
}

#[test]
fn overdue_jobs_are_poked_by_their_trainers_only() {
	let late = Standing { best: 121, ..standing() };
	let training = with(JobState::Training, mine(true, false));
	let own = plan(&training, &me(), &knowing(Some(&committed())), &limits(), &late);
	assert_eq!(own.actions, [Action::Poke]);
	let strange = plan(&training, &other(), &knowing(None), &limits(), &late);
	assert!(strange.actions.is_empty());
	let on_time = Standing { best: 120, ..standing() };
	let plan = plan(&training, &me(), &knowing(Some(&committed())), &limits(), &on_time);
	assert!(plan.actions.is_empty());
}

/// A trainer opens what it forced when it is time, or when it is accused before, but not while seats reveal,
/// and once.
#[test]
fn forced_leaves_are_opened_in_time() {
	let bundle = |forced| {
		let (trainer, root) = (me(), result().bundle_root);
		trainyard_protocol::views::BundleView { trainer, root, forced }
	};
	let until = 105;
	for (phase, disputed, due) in [
		(AuditPhase::Opening { until }, false, true),
		(AuditPhase::Revealing { until }, false, false),
		(AuditPhase::Revealing { until }, true, false),
		(AuditPhase::Committing { until }, true, true),
		(AuditPhase::Standing { until }, true, false),
	] {
		let known = Known { disputed, ..knowing(None) };
		let opens = |forced| {
			let group = GroupView { bundles: vec![bundle(forced)], ..group(result()) };
			opening(&auditing(phase, vec![group]), &me(), &known)
		};
		assert_eq!(opens(None), due.then_some(Action::Open), "{phase:?}");
		assert_eq!(opens(Some(vec![])), None, "it was opened");
	}
	let group = GroupView { bundles: vec![bundle(None)], ..group(result()) };
	let job = auditing(AuditPhase::Opening { until }, vec![group]);
	assert_eq!(opening(&job, &other(), &knowing(None)), None, "that is not its bundle");
}
