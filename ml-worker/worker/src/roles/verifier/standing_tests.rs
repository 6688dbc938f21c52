//! What a seat does while results stand.

use super::{
	super::super::standing::{due, of_all, recheck_of, unaccused, unforced},
	*,
};
use crate::roles::store::{result_folder, StandingRecord};
use std::sync::Mutex;
use trainyard_client::{
	court::{Accusation, Burden, Clocks, Defendant, Dispute, DisputeId},
	Call, GroupVerdict, JobView, RecheckView, Rejection, TxError,
};
use trainyard_court::game::{Level, Stage, Subject as Stood, Turn};
use trainyard_proof::verify::Charge;
use trainyard_protocol::{
	accusation::End,
	audit::{Ended, Replayed, SegmentEvidence},
	forced::Forced,
	job::Balance,
	views::BundleView,
};

/// Another seat of the scene, whose evidence is replayed again.
const OTHER: AccountId32 = AccountId32([101; 32]);

impl Scene {
	/// The results stand; this account revealed `mine`, and the other seat evidence of `segment` of the
	/// result number `group`, as its bundle says.
	fn stands(&mut self, mine: &FindingsRecord, group: usize, segment: u32) -> AuditView {
		let name = ["cheat", "honest"][group];
		let bundle = bundle::Bundle::open(&self.folder.path().join(name)).unwrap();
		let listed = bundle.manifest().checkpoints[segment as usize + 1];
		let evidence = SegmentEvidence {
			segment,
			trace_root: H256::repeat_byte(7),
			ended: Ended::Checkpoint {
				step: listed.step,
				state: listed.state_hash,
				evaluation: listed.validation,
			},
			differs: None,
			idle_since: None,
		};
		let replayed = Replayed {
			bundle: 0,
			evidence: vec![evidence].try_into().unwrap(),
			moved: None,
			parts: Default::default(),
		};
		let mut verdicts = vec![GroupVerdict::Unavailable; 2];
		verdicts[group] = GroupVerdict::Replayed(replayed);
		let mut audit = self.audit.clone();
		audit.phase = AuditPhase::Standing { until: 2_000 };
		audit.committee[0].findings = Some(fake::findings(verdicts));
		audit.committee[3].findings = Some(mine.findings.clone());
		let (by, of) = (me(), OTHER);
		audit.rechecks = vec![RecheckView { by, of, group: group as u32, segment }];
		self.job.audit = Some(audit.clone());
		audit
	}

	/// What this account accuses of after it replayed that again, whose findings accuse the trainer of the
	/// false result if they are `known`.
	async fn rechecked(&mut self, known: bool, group: usize, segment: u32) -> Vec<Accusation> {
		let name = if known { "known" } else { "unknown" };
		let (verifier, folder, found) = self.found(name, false).await;
		let audit = self.stands(&found.unwrap(), group, segment);
		if !known {
			std::fs::remove_file(folder.join("findings.json")).unwrap();
		}
		let record = StandingRecord::default();
		assert_eq!(due(&audit, &me(), &record, 1), [Duty::Recheck]);
		let never = Arc::new(AtomicBool::new(false));
		verifier.recheck(&self.job, &audit, &folder, 1, never).await.unwrap();
		let record = verifier.home.load_standing(&folder).unwrap();
		assert!(record.rechecked);
		let reported = events(&verifier);
		assert!(reported.iter().any(|e| e["event"] == "rechecked" && e["segment"] == segment));
		let owes = due(&audit, &me(), &record, 1);
		let accuses = if record.accused.is_empty() { vec![] } else { vec![Duty::Accuse] };
		assert_eq!(owes, accuses);
		record.accused.into_iter().map(|accused| accused.accusation.0).collect()
	}
}

/// A seat that is a cheat's friend vouches for a made-up segment.
#[tokio::test(flavor = "multi_thread")]
async fn evidence_of_a_false_segment_is_accused_with_its_trainer() {
	let mut scene = scene().await;
	let found = scene.rechecked(false, 0, 5).await;
	let [seat, trainer] = &found[..] else { panic!("{found:?}") };
	// Nobody is accused a second time.
	let known = scene.rechecked(true, 0, 5).await;
	assert_eq!(known, std::slice::from_ref(seat));
	let bundle_root = scene.audit.groups[0].result.bundle_root;
	let who = AccountId32([1; 32]);
	assert_eq!(seat.defendant, Defendant::Seat { job: 3, who: OTHER, bundle_root });
	assert_eq!(trainer.defendant, Defendant::Trainer { job: 3, who });
	assert_eq!((seat.target, trainer.target), (Target::Evidence(5), Target::Segment(5)));
	assert_eq!((seat.leaves.len(), trainer.leaves.len()), (1, 2));
	assert_eq!(seat.leaves[0], trainer.leaves[0], "where the segment begins");
	// Both are accused of another end than the true one.
	let honest = bundle::Bundle::open(&scene.folder.path().join("honest")).unwrap();
	let end = End::of(&honest.manifest().checkpoints[6].bound());
	for accusation in [seat, trainer] {
		assert_eq!(accusation.claimed, Claimed::End(end));
	}
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_that_is_right_accuses_nobody() {
	let mut scene = scene().await;
	assert_eq!(scene.rechecked(true, 1, 4).await, []);
	let audit = scene.job.audit.clone().unwrap();
	assert!(recheck_of(&audit, &OTHER).is_none(), "it is for another seat");
	// A seat that was convicted meanwhile vouches for nothing.
	let mut over = audit.clone();
	over.committee[0].convicted = true;
	assert!(recheck_of(&over, &me()).is_none());
	let record = StandingRecord::default();
	let mut silent = audit.clone();
	silent.committee[3].findings = None;
	assert_eq!(due(&silent, &me(), &record, 1), [], "who revealed nothing does nothing");
	let mut later = audit;
	later.phase = AuditPhase::Done;
	assert_eq!(due(&later, &me(), &record, 1), []);
}

fn dispute(defendant: Defendant) -> Dispute {
	let clocks = Clocks {
		challenger: 100,
		defender: 100,
		since: None,
		challenger_rest: 0,
		defender_rest: 0,
	};
	Dispute {
		challenger: AccountId32([50; 32]),
		defendant,
		claimed: Claimed::Other,
		stage: Stage {
			subject: Stood { target: Target::Segment(5), begin: H256::zero(), end: None },
			level: Level::Ends,
			turn: Turn::Defender,
		},
		deposit: 7,
		stake: 7,
		committed_at: 9,
		clocks,
		burden: Burden::default(),
		moved_at: 10,
		awake: 9,
		aside: false,
		moves: 0,
	}
}

/// Returns whom a seat with these findings in this folder accuses beside them.
fn accused_of(
	job: &JobView,
	audit: &AuditView,
	(found, folder): (&FindingsRecord, &Path),
	postponed: &[u32],
	disputes: &[&Dispute],
) -> Vec<Accusation> {
	let job = JobView { audit: Some(audit.clone()), ..job.clone() };
	let of = |index: usize, rejection: &Rejection| {
		of_all(&job, &audit.groups[index], rejection, &result_folder(folder, index))
	};
	unaccused(audit, found, postponed, disputes, of)
}

/// Convictions are of an account: a false result of three replicas is three defendants.
#[tokio::test(flavor = "multi_thread")]
async fn all_trainers_of_a_false_result_are_accused_once() {
	let mut scene = scene().await;
	for n in [7, 8] {
		let twin = ReplicaView { trainer: AccountId32([n; 32]), ..scene.job.replicas[0].clone() };
		scene.job.replicas.push(twin);
	}
	let (_, folder, found) = scene.found("one", false).await;
	let found = found.unwrap();
	let GroupVerdict::Rejected(mine) = &found.findings.verdicts[0] else { panic!() };
	// The fourth seat accuses the first of three by its findings.
	assert_eq!(mine.account, AccountId32([1; 32]));
	let accused = |audit: &AuditView, disputes: &[&Dispute]| -> Vec<AccountId32> {
		let all = accused_of(&scene.job, audit, (&found, &folder), &[], disputes);
		assert!(all.iter().all(|it| (it.target, it.claimed) == (mine.target, mine.claimed)));
		all.iter().map(|it| *it.defendant.who()).collect()
	};
	let [seven, eight] = [7, 8].map(|n| AccountId32([n; 32]));
	assert_eq!(accused(&scene.audit, &[]), [seven, eight]);
	let runs = dispute(Defendant::Trainer { job: 3, who: seven });
	assert_eq!(accused(&scene.audit, &[&runs]), [eight]);
	let mut audit = scene.audit.clone();
	audit.groups[0].convicted = vec![eight];
	assert_eq!(accused(&audit, &[&runs]), []);
	audit.groups[0].decision = Some(trainyard_protocol::audit::Decision::Rejected);
	assert_eq!(accused(&audit, &[]), []);
	// What the bond did not cover is accused of as well, once it does.
	let postponed = |numbers: &[u32]| -> Vec<AccountId32> {
		let all = accused_of(&scene.job, &scene.audit, (&found, &folder), numbers, &[&runs]);
		all.iter().map(|it| *it.defendant.who()).collect()
	};
	assert_eq!((postponed(&[0]), postponed(&[1])), (vec![mine.account, eight], vec![eight]));
	let mut of_blob = found.clone();
	let GroupVerdict::Rejected(rejection) = &mut of_blob.findings.verdicts[0] else { panic!() };
	rejection.target = Target::Rescue { blob: H256::zero(), state: 1 };
	let of_blob =
		|numbers: &[u32]| accused_of(&scene.job, &scene.audit, (&of_blob, &folder), numbers, &[]);
	assert_eq!(of_blob(&[]), [], "it is one trainer's");
	let all = of_blob(&[0]);
	assert_eq!(all.iter().map(|it| *it.defendant.who()).collect::<Vec<_>>(), [mine.account]);
}

/// An accusation that the bond does not cover waits until enough of it is free.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_bond_does_not_cover_waits() {
	let scene = scene().await;
	let (_, folder, found) = scene.found("one", false).await;
	let found = found.unwrap();
	let mut audit = scene.audit.clone();
	audit.phase = AuditPhase::Standing { until: 2_000 };
	audit.committee[3].findings = Some(found.findings.clone());
	let mut record = StandingRecord::default();
	accused_of(&scene.job, &audit, (&found, &folder), &[0], &[]).into_iter().for_each(|it| {
		record.add(it);
	});
	assert_eq!(record.accused.len(), 1);
	// Another seat's block, in which no dispute is looked for.
	let head = Head { hash: H256::zero(), number: 0 };
	let (deposit, accuses) = (audit.challenge, vec![Duty::Accuse]);
	for (free, postponed, duties) in [
		(deposit - 1, vec![0], vec![]),
		(deposit, vec![0], accuses.clone()),
		// The stake of its seat is that of the first.
		(0, vec![], accuses),
	] {
		audit.committee[3].postponed = postponed;
		let home = tempfile::tempdir().unwrap();
		let verifier = with_free_bond(home.path(), free).await;
		verifier.home.save_standing(&folder, &record).unwrap();
		let owes = verifier.look_at_standing((&scene.job, &audit), Some(&found), &folder, head);
		assert_eq!(owes.await.unwrap(), duties, "{free}");
	}
}

/// A verifier of whose bond so much is free.
async fn with_free_bond(folder: &Path, free: Balance) -> Verifier {
	let bond = 100 + free;
	let view = VerifierView { bond, locked: 100, counted: bond, ..place() };
	let node = FakeNode::new(move |method, _, _| match method {
		"TrainyardApi_protocol_version" => Ok(PROTOCOL_VERSION.encode()),
		"TrainyardApi_verifier" => Ok(Some(view.clone()).encode()),
		_ => Err("no such method"),
	});
	verifier_on(folder, node).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accusation_survives_and_is_of_one_account() {
	let folder = tempfile::tempdir().unwrap();
	let verifier = verifier(folder.path()).await;
	let round = folder.path().join("round");
	let mut record = StandingRecord::default();
	assert!(record.add(accusation(1)) && record.add(accusation(2)) && !record.add(accusation(1)));
	verifier.home.save_standing(&round, &record).unwrap();
	assert_eq!(verifier.home.load_standing(&round).unwrap(), record);
	record.accused[0].brought.sent = Some(50);
	record.accused[1].over = true;
	let mut audit = revealed();
	assert_eq!(due(&audit, &me(), &record, 69), [], "it may be on its way");
	assert_eq!(due(&audit, &me(), &record, 70), [Duty::Accuse]);
	// Others had it convicted meanwhile.
	let root = H256::zero();
	let result = WorkResult {
		bundle_root: root,
		true_root: root,
		model_root: root,
		segments: 3,
		diverged: false,
	};
	audit.groups = vec![fake::group(result)];
	audit.groups[0].convicted = vec![AccountId32([1; 32])];
	assert_eq!(due(&audit, &me(), &record, 70), []);
}

/// A file of a version that said only whether it was sent.
#[test]
fn a_record_without_a_height_is_read() {
	let accusation = hex::encode(accusation(1).encode());
	let accused = serde_json::json!({ "accusation": accusation, "sent": true, "tries": 1 });
	let text = serde_json::json!({ "rechecked": true, "accused": [accused], "looked": [] });
	let record: StandingRecord = serde_json::from_value(text).unwrap();
	let mut expected = StandingRecord { rechecked: true, ..StandingRecord::default() };
	expected.add(self::accusation(1));
	assert_eq!(record, expected);
}

fn accusation(of: u8) -> Accusation {
	let defendant = Defendant::Trainer { job: 3, who: AccountId32([of; 32]) };
	let (target, claimed) = (Target::Segment(5), Claimed::Other);
	Accusation { defendant, target, claimed, leaves: vec![] }
}

/// Returns an audit in which this account has revealed.
fn revealed() -> AuditView {
	let mut audit = fake::audit(AuditPhase::Standing { until: 9_000 }, vec![]);
	let findings = Some(fake::findings(vec![]));
	audit.committee = vec![MemberView { findings, ..fake::member(me()) }];
	audit
}

/// A block, as a seat sees it that accuses trainer 1.
#[derive(Clone, Copy, Default)]
struct Block {
	height: u32,
	/// Its dispute, if it runs.
	runs: Option<DisputeId>,
	/// What challengers have lost against that trainer.
	won: Balance,
	/// What is free of its bond.
	free: Balance,
}

impl Block {
	/// Begins in this block with what is in the folder of the round, and does what is due: so it was killed
	/// before, and forgot all else. Returns whether it sends its accusation, to which the chain answers
	/// this.
	async fn sends(self, round: &Path, answer: Result<(), TxError>) -> bool {
		let folder = tempfile::tempdir().unwrap();
		let verifier = verifier_on(folder.path(), self.node()).await;
		let (job, audit) = (fake::job(JobState::Auditing), revealed());
		let head = Head { number: self.height, hash: fake::hash(self.height) };
		let look = || verifier.look_at_standing((&job, &audit), None, round, head);
		if !look().await.unwrap().contains(&Duty::Accuse) {
			return false;
		}
		let sent = Arc::new(Mutex::new(Vec::<Call>::new()));
		let (log, is_ok) = (sent.clone(), answer.is_ok());
		let answer = Mutex::new(Some(answer));
		let teller = Teller::Test(Arc::new(move |call| {
			log.lock().unwrap().push(call.clone());
			answer.lock().unwrap().take().expect("it sends once")
		}));
		let done = verifier.accuse_by(&teller, (&job, &audit), round, head).await;
		let sent = sent.lock().unwrap();
		let [call] = &sent[..] else { panic!("{} were sent", sent.len()) };
		assert_eq!(call.title(), "Verification.accuse");
		assert_eq!(call.arguments(), accusation(1).encode());
		assert!(!is_ok || done.is_ok(), "{done:?}");
		true
	}

	fn node(&self) -> FakeNode {
		let bond = 100 + self.free;
		let view = VerifierView { bond, locked: 100, counted: bond, ..place() };
		let node = FakeNode::new(move |method, _, _| match method {
			"TrainyardApi_protocol_version" => Ok(PROTOCOL_VERSION.encode()),
			"TrainyardApi_verifier" => Ok(Some(view.clone()).encode()),
			_ => Err("no such method"),
		});
		// The names are hashed by `twox_128`, the job by `twox_64`, the defendant by `blake2_128`.
		let court = "95b0e9beaa4112cedbcdf5896d86ff14";
		let key =
			|hex: &str, key: Vec<u8>| [hex::decode(format!("{court}{hex}")).unwrap(), key].concat();
		let dispute = Dispute { challenger: me(), ..dispute(accusation(1).defendant) };
		let runs = self.runs.map(|id| {
			let key = key("6ad0691af7b285f7855961737137ac7c0000000000000000", id.encode());
			(key, dispute.encode())
		});
		let won = key(
			"89f0e9d279d55dbf3b7939c0b6493ecdbfb27f1eaef06bb903000000\
			 9edcf174adbe242c0c0b8b7b98612c91",
			accusation(1).defendant.encode(),
		);
		node.storing(runs).storing([(won, self.won.encode())])
	}
}

/// Returns a block in which nothing is seen of the accusation.
fn at(height: u32) -> Block {
	Block { height, ..Block::default() }
}

fn unknown() -> Result<(), TxError> {
	let (call, reason) = ("Verification.accuse".into(), "the node is away".into());
	Err(TxError::Unknown { call, reason })
}

fn failed(name: &str) -> Result<(), TxError> {
	let (call, docs) = ("Verification.accuse".into(), String::new());
	Err(TxError::Failed { call, name: name.into(), docs })
}

/// Returns the folder of a round in which trainer 1 is to be accused, which was sent at this height or was
/// about to be.
fn round(sent: Option<u32>) -> tempfile::TempDir {
	let folder = tempfile::tempdir().unwrap();
	let mut record = StandingRecord::default();
	record.add(accusation(1));
	record.accused[0].brought.sent = sent;
	record.accused[0].looked = sent.unwrap_or_default();
	std::fs::write(folder.path().join("standing.json"), serde_json::to_vec(&record).unwrap())
		.unwrap();
	folder
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_killed_before_it_sends_sends_after_that() {
	for (height, is_sent) in [(101, false), (119, false), (120, true), (5_000, true), (90, true)] {
		let round = round(Some(100));
		assert_eq!(at(height).sends(round.path(), Ok(())).await, is_sent, "{height}");
	}
	// It is killed again and again, and the node says nothing.
	let round = round(None);
	for height in [100, 120, 140, 160, 900] {
		assert!(at(height).sends(round.path(), unknown()).await, "{height}");
		assert!(!at(height + 19).sends(round.path(), unknown()).await, "{height}");
	}
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_on_chain_is_not_sent_again() {
	let runs = |height| Block { runs: Some(7), ..at(height) };
	let lost = |height| Block { won: 40, ..at(height) };
	let cases = [
		("it runs for long", vec![runs(105), runs(130), runs(2_000)]),
		("it was lost", vec![runs(105), runs(130), lost(2_000), lost(2_400)]),
		("it was lost at once", vec![runs(105), lost(108), lost(140), at(200)]),
		("it ended, and nobody lost", vec![runs(105), at(400)]),
		("it was lost while nobody looked", vec![lost(2_600), lost(2_640), at(2_700)]),
	];
	for (name, blocks) in cases {
		for answer in [Ok(()), unknown()] {
			let round = round(None);
			assert!(at(100).sends(round.path(), answer).await);
			for block in &blocks {
				let is_sent = block.sends(round.path(), Ok(())).await;
				assert!(!is_sent, "{name}: at {}", block.height);
			}
		}
	}
	// What is not in its own file, but on chain.
	let round = round(None);
	assert!(!runs(100).sends(round.path(), Ok(())).await);
	assert!(!at(400).sends(round.path(), Ok(())).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_lost_or_another_fork_had_does_not_count() {
	// Another challenger loses while this one looks at every block.
	let folder = round(None);
	assert!(at(100).sends(folder.path(), unknown()).await);
	for block in [at(105), Block { won: 40, ..at(110) }] {
		assert!(!block.sends(folder.path(), Ok(())).await, "{}", block.height);
	}
	assert!(Block { won: 40, ..at(120) }.sends(folder.path(), Ok(())).await);

	// The block in which it was is not on the chain any more.
	let folder = round(None);
	assert!(at(100).sends(folder.path(), Ok(())).await);
	for block in [Block { runs: Some(7), ..at(101) }, at(102), at(119)] {
		assert!(!block.sends(folder.path(), Ok(())).await, "{}", block.height);
	}
	assert!(at(120).sends(folder.path(), Ok(())).await);
	assert!(!Block { runs: Some(9), ..at(121) }.sends(folder.path(), Ok(())).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_for_good_is_not_sent_again() {
	let refused = || failed("Court::NothingDenied");
	let folder = round(None);
	for height in [100, 120, 140] {
		assert!(at(height).sends(folder.path(), refused()).await, "{height}");
		assert!(!at(height + 19).sends(folder.path(), refused()).await, "{height}");
	}
	for height in [160, 1_000] {
		assert!(!at(height).sends(folder.path(), Ok(())).await, "{height}");
	}
	// What the pool does not take is no word of the chain, and can be sent at once.
	let folder = round(None);
	let (call, reason) = ("Verification.accuse", "Inability to pay some fees");
	for height in 100..105 {
		let invalid = Err(TxError::Invalid { call: call.into(), reason: reason.into() });
		assert!(at(height).sends(folder.path(), invalid).await, "{height}");
	}
	// The dispute that is there already is seen at the next look.
	let folder = round(None);
	for height in [100, 120, 140, 160] {
		assert!(at(height).sends(folder.path(), failed("Court::AlreadyAccused")).await, "{height}");
	}
	assert!(!Block { runs: Some(7), ..at(161) }.sends(folder.path(), Ok(())).await);
	// One that the bond does not cover waits until it does.
	let folder = round(None);
	let poor = || failed("Verification::StakeTooSmall");
	assert!(at(100).sends(folder.path(), poor()).await, "the stake of the seat may cover it");
	for block in [at(120), Block { free: 39, ..at(400) }] {
		assert!(!block.sends(folder.path(), Ok(())).await, "{}", block.height);
	}
	assert!(Block { free: 40, ..at(401) }.sends(folder.path(), Ok(())).await);
}

/// What differs in a bundle that was opened since is an accusation, but for what is forced and has the trace
/// that was replayed.
#[tokio::test(flavor = "multi_thread")]
async fn what_differs_and_is_not_forced_is_accused_of() {
	let scene = scene().await;
	let (_, folder, found) = scene.found("one", false).await;
	let mut found = found.unwrap();
	let GroupVerdict::Replayed(replayed) = &mut found.findings.verdicts[1] else { panic!() };
	let evidence = &mut replayed.evidence.as_mut()[0];
	let (index, shown) = (evidence.segment + 1, H256::repeat_byte(9));
	evidence.differs = Some(shown);
	let evidence = *evidence;
	let trainer = scene.job.replicas[1].trainer;
	let audit = |forced: Option<Vec<Forced>>, convicted: bool| {
		let mut audit = scene.audit.clone();
		let root = audit.groups[1].result.bundle_root;
		audit.groups[1].bundles = vec![BundleView { trainer, root, forced }];
		audit.groups[1].convicted.extend(convicted.then_some(trainer));
		audit
	};
	let charge = |group: usize, evidence: &SegmentEvidence| {
		let bundle = bundle::Bundle::open(&result_folder(&folder, group)).ok()?;
		let target = Target::Segment(evidence.segment);
		Charge::new(bundle.manifest(), target, Claimed::End(evidence.end()))
	};
	let accused = |audit: &AuditView| unforced(&scene.job, audit, &found, charge);
	assert_eq!(accused(&audit(None, false)), [], "it was not opened yet");
	let forced = Forced { index, shown, trace: evidence.trace() };
	assert_eq!(accused(&audit(Some(vec![forced]), false)), []);
	for forced in
		[vec![], vec![Forced { trace: shown, ..forced }], vec![Forced { index: 0, ..forced }]]
	{
		let all = accused(&audit(Some(forced.clone()), false));
		let [accusation] = &all[..] else { panic!("{all:?}") };
		assert_eq!(accusation.defendant, Defendant::Trainer { job: scene.job.id, who: trainer });
		assert_eq!(accusation.target, Target::Segment(evidence.segment));
		assert_eq!(accusation.claimed, Claimed::End(evidence.end()));
		assert_eq!(accusation.leaves.len(), 2);
		assert_eq!(accused(&audit(Some(forced), true)), [], "the court was first");
	}
}
