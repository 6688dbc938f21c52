//! Findings that a rescue makes void, and what becomes of the commitment to them.

use super::*;
use crate::roles::common::lost;
use std::sync::Mutex;
use trainyard_protocol::audit::Decision;

const UNAVAILABLE: GroupVerdict = GroupVerdict::Unavailable;

/// A blob that somebody stored.
fn blob(byte: u8) -> trainyard_client::RescuedView {
	let piece = trainyard_protocol::pieces::Piece::State(byte.into());
	trainyard_client::RescuedView { piece, blob: H256::repeat_byte(byte) }
}

fn record(verdicts: [GroupVerdict; 2], rescues: &[u32]) -> FindingsRecord {
	let findings = fake::findings(verdicts.to_vec());
	let made = FindingsRecord::new(3, 0, findings, Default::default());
	FindingsRecord { rescues: rescues.to_vec(), ..made }
}

fn rejected() -> GroupVerdict {
	fake::rejected(AccountId32([1; 32]), 1)
}

/// The audit of a scene in which this account sits and has committed to `commitment`.
fn seated(scene: &Scene, commitment: Option<H256>) -> AuditView {
	let seat = MemberView { commitment, vrf_key: vrf_key(), ..fake::member(me()) };
	AuditView { committee: vec![seat], ..scene.audit.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rescue_makes_void_that_its_result_was_not_to_be_had() {
	let mut audit = scene().await.audit;
	let found = record([UNAVAILABLE, rejected()], &[]);
	assert!(!is_void(&found, &audit));
	audit.groups[1].rescued = vec![blob(1)];
	assert!(!is_void(&found, &audit), "its verdict stands");
	audit.groups[0].rescued = vec![blob(1)];
	assert!(is_void(&found, &audit));
	assert!(is_void(&record([UNAVAILABLE, rejected()], &[0, 1]), &audit));
	assert!(!is_void(&record([UNAVAILABLE, rejected()], &[1, 0]), &audit), "it was there");
	audit.groups[0].decision = Some(Decision::Unavailable);
	assert!(!is_void(&found, &audit), "nobody is asked any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn void_findings_are_made_again_and_revealed_where_that_came_too_late() {
	let scene = scene().await;
	let verifier = verifier(&scene.folder.path().join("seat")).await;
	let old = record([UNAVAILABLE, rejected()], &[]);
	let mut audit = seated(&scene, None);
	let of =
		|audit: &AuditView, found: &FindingsRecord| verifier.commitment(&scene.job, audit, found);
	let there = of(&audit, &old);
	audit.committee[0].commitment = Some(there);
	let known = verifier.known(&scene.job, &audit, Some(old.clone()), 1);
	assert_eq!((known.found, known.ours, known.is_own), (Some(old.clone()), Some(there), true));
	audit.groups[0].rescued = vec![blob(1)];
	let known = verifier.known(&scene.job, &audit, Some(old.clone()), 1);
	assert_eq!((known.found, known.ours, known.is_own), (None, None, true));

	// Other findings replace them, and are no commitment of a stranger's.
	let following = |found, earlier| verifier.following(&scene.job, &audit, found, earlier);
	let new = following(record([rejected(), rejected()], &[1, 0]), Some(old.clone()));
	assert_eq!(new.before.as_deref(), Some(&old));
	assert!(verifier.replaces_own(&scene.job, &audit, &new));
	let known = verifier.known(&scene.job, &audit, Some(new.clone()), 1);
	let ours = of(&audit, &new);
	assert_eq!((&known.found, known.ours, known.is_own), (&Some(new.clone()), Some(ours), true));
	// Third ones: what is on chain can be revealed still.
	let third = following(record([UNAVAILABLE, rejected()], &[2, 0]), Some(new.clone()));
	assert_eq!(third.before.as_deref(), Some(&old));
	// They came too late.
	let late = AuditView { phase: AuditPhase::Revealing { until: 60 }, ..audit.clone() };
	let known = verifier.known(&scene.job, &late, Some(new.clone()), 1);
	assert_eq!((known.found, known.ours), (Some(old.clone()), Some(there)));
	let known = verifier.known(&scene.job, &late, Some(old.clone()), 1);
	assert_eq!(known.found, Some(old.clone()), "it is revealed, void or not");
	// The same ones keep their salt: nothing is committed again.
	let same = following(record([UNAVAILABLE, rejected()], &[1, 0]), Some(old.clone()));
	assert_eq!((same.salt, &same.rescues[..]), (old.salt, &[1, 0][..]));
	assert!(!verifier.replaces_own(&scene.job, &audit, &same));
	// A stranger's commitment is none of these.
	audit.committee[0].commitment = Some(H256::repeat_byte(9));
	let known = verifier.known(&scene.job, &audit, Some(new.clone()), 1);
	assert!(!known.is_own && !verifier.replaces_own(&scene.job, &audit, &new));
}

/// A verifier on a chain whose jobs a test changes.
async fn looking(scene: &Scene, jobs: &Arc<Mutex<Vec<JobView>>>) -> Arc<Verifier> {
	let jobs = jobs.clone();
	let node = FakeNode::new(move |method, _, _| match method {
		"TrainyardApi_protocol_version" => Ok(PROTOCOL_VERSION.encode()),
		"TrainyardApi_active_jobs_after" => Ok(jobs.lock().unwrap().encode()),
		"TrainyardApi_verifier" => Ok(Some(place()).encode()),
		"TrainyardApi_relays_of" => Ok(Vec::<RelayView>::new().encode()),
		_ => Err("no such method"),
	});
	Arc::new(verifier_on(&scene.folder.path().join("looks"), node).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_knows_nothing_of_a_rescue_begins_again() {
	let scene = scene().await;
	let job = |rescued: &[u8], decided| {
		let mut audit = seated(&scene, None);
		audit.groups[0].rescued = rescued.iter().map(|n| blob(*n)).collect();
		audit.groups[0].decision = decided;
		vec![JobView { audit: Some(audit), ..scene.job.clone() }]
	};
	let jobs = Arc::new(Mutex::new(job(&[], None)));
	let verifier = looking(&scene, &jobs).await;
	let mut memory = Memory::new(Membership::new(Some(place())));
	let mut tasks = Tasks::default();
	let mut flag = None;
	tasks.start_with(Key::Audit(scene.job.id, 0, Duty::Audit), |stop| {
		flag = Some(stop);
		std::future::pending()
	});
	let flag = flag.unwrap();
	let decided = Some(Decision::Unavailable);
	for (number, rescued, decided, stopped) in [
		(1, vec![], None, false),
		(2, vec![], None, false),
		(3, vec![7], None, true),
		(4, vec![7], None, false),
		(5, vec![7, 8], None, true),
		(6, vec![7, 8], decided, true),
		(7, vec![7, 8, 9], decided, false),
	] {
		*jobs.lock().unwrap() = job(&rescued, decided);
		flag.store(false, Ordering::Relaxed);
		let head = Head { hash: fake::hash(number), number };
		verifier.look_at_audits(&mut memory, &mut tasks, head).await.unwrap();
		assert_eq!(flag.load(Ordering::Relaxed), stopped, "at {number}");
	}
}

/// A seat that said that a result is not to be had looks again when it is, and does not take its own
/// commitment for one of another folder.
#[tokio::test(flavor = "multi_thread")]
async fn a_seat_looks_again_at_what_was_rescued_after_it_had_committed() {
	let scene = scene().await;
	let jobs = Arc::new(Mutex::new(Vec::new()));
	let verifier = looking(&scene, &jobs).await;
	let mut audit = seated(&scene, None);
	let folder = verifier.folder(&scene.job, &audit);
	let found = record([UNAVAILABLE, rejected()], &[]);
	verifier.home.save_findings(&folder, &found).unwrap();
	audit.committee[0].commitment = Some(verifier.commitment(&scene.job, &audit, &found));
	let (mut memory, mut tasks) = (Memory::new(Membership::new(Some(place()))), Tasks::default());
	let key = Key::Audit(scene.job.id, 0, Duty::Audit);
	for (number, rescued) in [(1, vec![]), (2, vec![blob(1)])] {
		let is_rescued = !rescued.is_empty();
		audit.groups[0].rescued = rescued;
		*jobs.lock().unwrap() = vec![JobView { audit: Some(audit.clone()), ..scene.job.clone() }];
		let head = Head { hash: fake::hash(number), number };
		verifier.look_at_audits(&mut memory, &mut tasks, head).await.unwrap();
		assert_eq!(tasks.is_running(&key), is_rescued, "at {number}");
	}
	tasks.stop_unless(|_| false);
	let reported = std::fs::read_to_string(verifier.home.events()).unwrap_or_default();
	assert!(!reported.contains(lost::EVENT), "{reported}");
}

/// Who is about to commit to the rejection of a result, of which the trainer that it names was convicted,
/// looks at the bundle of another one. What it committed to counts, and is kept; so is what cannot be done
/// again in time.
#[tokio::test(flavor = "multi_thread")]
async fn who_names_a_convict_looks_at_another_bundle() {
	let scene = scene().await;
	let verifier = verifier(&scene.folder.path().join("seat")).await;
	let found = record([rejected(), UNAVAILABLE], &[]);
	let mut audit = seated(&scene, None);
	audit.phase = AuditPhase::Committing { until: 100 };
	let known = |audit: &AuditView, best| {
		verifier.known(&scene.job, audit, Some(found.clone()), best).found.is_some()
	};
	assert!(known(&audit, 1));
	audit.groups[0].convicted = vec![AccountId32([1; 32])];
	assert!(!known(&audit, 1) && !known(&audit, 69));
	assert!(known(&audit, 70), "it is too late for that");
	let other = vec![AccountId32([2; 32])];
	let convicted = std::mem::replace(&mut audit.groups[0].convicted, other);
	assert!(known(&audit, 1), "somebody else is out");
	audit.groups[0].convicted = convicted;
	audit.committee[0].commitment = Some(verifier.commitment(&scene.job, &audit, &found));
	assert!(known(&audit, 1), "it was committed to");
	audit.committee[0].commitment = None;
	audit.groups[0].decision = Some(Decision::Rejected);
	assert!(known(&audit, 1), "nobody looks at it any more");
}
