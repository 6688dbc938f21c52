#[path = "asking_tests.rs"]
mod asking;
#[path = "bundles_tests.rs"]
mod bundles_tests;
#[path = "findings_tests.rs"]
mod findings;
#[path = "large_tests.rs"]
mod large_states;
#[path = "relayed_tests.rs"]
mod relayed;
#[path = "relays_tests.rs"]
mod relays;
#[path = "rescued_tests.rs"]
mod rescued;
#[path = "room_tests.rs"]
mod room_kept;
#[path = "samples_tests.rs"]
mod samples;
#[path = "standing_tests.rs"]
mod standing;

use super::{
	super::{
		asking::{Asker, Said},
		findings::is_void,
		pool::Membership,
		relay::{Fetched, Relay},
		room, Duty, Key, Memory, Served, VerifierRole,
	},
	*,
};
use crate::roles::{
	common::{
		claims::Claims,
		large::{Large, Teller},
		webhook::Webhook,
	},
	disputes::{
		accusing::Stakes,
		driver::{DisputeArgs, Driver},
	},
	fetch::{Fetcher, Locations, Over},
	http::{Server, Shelf},
	machine::Machine,
	replay::Replayers,
	report::Reporter,
	run::{Base, Next, Role},
	store::{Home, Quota, Space},
	tasks::Tasks,
	units::{Part, Step, Units},
};
use crate::task::market::work::{Keeper, Settings};
use codec::{Decode, Encode};
use serde_json::Value;
use std::{collections::HashSet, net::SocketAddr};
use tokio::{net::TcpListener, sync::watch};
use trainyard_client::{
	fake::{self, FakeNode},
	keys, AccountId32, AssignmentView, BlobView, Head, MemberView, RelayView, ReplicaView,
	ReportView, Transactor, VrfKey,
};
use trainyard_program::spec::{CheckedSpec, InputFile};
use trainyard_proof::{
	bundle,
	data::kept,
	testing::{self, SEED},
	train::Cheat,
	verify,
};
use trainyard_protocol::{
	accusation::{Claimed, Target},
	audit::Rejection,
	blob::Chunked,
	job::{Ending, Fate, JobState, Reveal, Settlement, Terms, WorkResult},
	seats::Resources,
	views::{Standing, VerifierView},
	vrf::{self, Subject},
	Text, PROTOCOL_VERSION,
};

/// What the chain says of an account that is drawn.
fn place() -> VerifierView {
	VerifierView {
		standing: Standing::Active,
		bond: 100,
		locked: 0,
		counted: 100,
		capacity: Resources::default(),
		load: Resources::default(),
		absences: 0,
		location: None,
		vrf_key: Some(VrfKey::of(&keys::from_uri("//Charlie").unwrap()).public()),
	}
}

/// Makes a verifier on a chain that says nothing, with its folder. It can ask for nothing there.
async fn verifier(folder: &Path) -> Verifier {
	verifier_on(folder, node_with(vec![]).without_head()).await
}

/// A verifier on a chain with these jobs and an empty pool.
async fn verifier_with(folder: &Path, jobs: Vec<JobView>) -> Verifier {
	verifier_on(folder, node_with(jobs)).await
}

fn node_with(jobs: Vec<JobView>) -> FakeNode {
	FakeNode::new(move |method, _, _| match method {
		"TrainyardApi_protocol_version" => Ok(PROTOCOL_VERSION.encode()),
		"TrainyardApi_active_jobs_after" => Ok(jobs.encode()),
		"TrainyardApi_verifier" => Ok(None::<VerifierView>.encode()),
		"TrainyardApi_relays_of" => Ok(Vec::<RelayView>::new().encode()),
		"TrainyardApi_drilling_check" => Ok(Vec::<AssignmentView>::new().encode()),
		"TrainyardApi_stint_checks" => Ok(Vec::<ReportView>::new().encode()),
		_ => Err("no such method"),
	})
}

async fn verifier_on(folder: &Path, node: FakeNode) -> Verifier {
	let chain = Arc::new(node.chain().await);
	let home = Arc::new(Home::open(folder, &H256::zero()).unwrap());
	let sender = Arc::new(Transactor::new(chain.clone(), keys::from_uri("//Charlie").unwrap()));
	let fetcher = Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap();
	let report = Reporter::new("verifier", true, Some(&home.events()));
	let iroh = (&Default::default(), Over::default());
	let at = ("127.0.0.1:0".parse().unwrap(), None);
	let relay = Relay::start(at, iroh, Locations::Any, &home);
	let relay = relay.await.ok().unwrap();
	let base = Base { chain, sender, home, report, machine: Default::default() };
	let space = Space::new(Quota::of(u64::MAX));
	let units = Units::new(&base, Part::Verifier, space.clone(), false);
	let replayers = Replayers::for_tests(1 << 30);
	let units = Arc::new(units.in_processes(replayers.clone()));
	let Base { chain, sender, home, report, .. } = base;
	Verifier {
		asker: Asker::Chain(sender.clone()),
		claims: Claims {
			me: *sender.account(),
			chain: chain.clone(),
			teller: Teller::Chain(sender.clone()),
			most: None,
			prepaid: u128::MAX,
			byte: 1,
			room: u64::MAX,
			report: report.clone(),
		},
		large: Large {
			chain: chain.clone(),
			teller: Teller::Chain(sender.clone()),
			most: Some(0),
			room: u64::MAX,
			webhook: Webhook::new(report.clone(), None).unwrap(),
		},
		sender,
		units,
		chain,
		fetcher,
		block_time: Duration::from_secs(1),
		// So slow that what nobody gives is asked for early.
		capacity: 1,
		max_data: 1 << 20,
		max_memory: u64::MAX,
		max_rules: 1 << 20,
		space,
		over: Default::default(),
		replayers,
		served: Served::default(),
		relay,
		replaced: Default::default(),
		webhook: Webhook::new(report.clone(), None).unwrap(),
		report,
		home,
	}
}

/// Passes connections on to `target`. Says so on the first one; waits for `gate` before.
async fn door(
	target: SocketAddr,
	asked: watch::Sender<bool>,
	gate: watch::Receiver<bool>,
) -> String {
	let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
	let url = format!("http://{}", listener.local_addr().unwrap());
	tokio::spawn(async move {
		while let Ok((mut client, _)) = listener.accept().await {
			asked.send_replace(true);
			let mut gate = gate.clone();
			tokio::spawn(async move {
				gate.wait_for(|open| *open).await.unwrap();
				let mut server = tokio::net::TcpStream::connect(target).await.unwrap();
				let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
			});
		}
	});
	url
}

/// A job with two results, the first of which has a fabricated last segment, and the server
/// of both.
struct Scene {
	folder: tempfile::TempDir,
	job: JobView,
	audit: AuditView,
	_server: Server,
}

/// What this account draws of both results.
const DRAWN: [u32; 2] = [0, 2];

fn me() -> AccountId32 {
	keys::account(&keys::from_uri("//Charlie").unwrap())
}

fn vrf_key() -> H256 {
	VrfKey::of(&keys::from_uri("//Charlie").unwrap()).public()
}

/// Returns a seed of the first round of job 3 by which this account draws [`DRAWN`] of both results.
fn seed_of_draws() -> H256 {
	static SEED: std::sync::LazyLock<H256> = std::sync::LazyLock::new(|| {
		let (key, genesis) = (VrfKey::of(&keys::from_uri("//Charlie").unwrap()), fake::hash(0));
		let draws = |seed: &H256| {
			let subject = Subject { genesis: &genesis, job: 3, round: 0, seed, account: &me() };
			let output = vrf::output(&key.public().0, &subject, &key.sign(&subject)).unwrap();
			[0, 1].map(|group| vrf::own_segments(&output, group, 6, 2))
		};
		let mut seeds = (0..100_000u64).map(H256::from_low_u64_le);
		seeds.find(|seed| draws(seed).iter().all(|own| own[..] == DRAWN)).unwrap()
	});
	*SEED
}

async fn scene() -> Scene {
	let folder = tempfile::tempdir().unwrap();
	let table = testing::table(folder.path());
	scene_of(folder, testing::job(&table), InputPaths::data(table)).await
}

/// [`scene`] with a fine-tuning.
async fn scene_of_fine_tuning() -> Scene {
	let folder = tempfile::tempdir().unwrap();
	let table = testing::table(folder.path());
	let (spec, out) = (testing::job(&table), folder.path().join("published"));
	let published = testing::train(&spec, &table, &out, false, None).unwrap();
	let (spec, paths) = testing::tuned(&spec, &table, &published);
	scene_of(folder, spec, paths).await
}

async fn scene_of(folder: tempfile::TempDir, spec: CheckedSpec, paths: InputPaths) -> Scene {
	let train = |name: &str, cheat| {
		let out = folder.path().join(name);
		let bundle = testing::train_on(&spec, &paths, &out, false, cheat).unwrap();
		(out, bundle.result().unwrap())
	};
	let bundles = [train("cheat", Some(Cheat::Fabricate { segments: 1 })), train("honest", None)];
	let shelf = Shelf::default();
	let served = bundles.iter().map(|(out, result)| (result.bundle_root, out.clone())).collect();
	let files = spec.files();
	let files =
		files.map(|(which, file)| (file.content_hash, paths.get(which).unwrap().to_owned()));
	shelf.set(served, files.collect());
	let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();

	// The first server answers only when the second one was asked.
	let (asked, gate) = watch::channel(false);
	let (nobody, open) = (watch::Sender::new(false), watch::Sender::new(true).subscribe());
	let urls =
		[door(server.address(), nobody, gate).await, door(server.address(), asked, open).await];
	let replica = |n: u8, result: &WorkResult, url: &str| ReplicaView {
		trainer: AccountId32([n; 32]),
		commitment: Some(H256([n; 32])),
		reveal: Some(Reveal {
			bundle_root: result.bundle_root,
			true_root: result.true_root,
			model_root: result.model_root,
			segments: result.segments,
			diverged: result.diverged,
			location: Text::new(url).unwrap(),
		}),
		fate: Fate::Working,
	};
	let replicas = vec![replica(1, &bundles[0].1, &urls[0]), replica(2, &bundles[1].1, &urls[1])];
	let groups = bundles.iter().map(|(_, result)| fake::group(*result)).collect();
	// The fourth seat has no duty but its own draws.
	let mine = MemberView { vrf_key: vrf_key(), ..fake::member(me()) };
	let others = [101, 102, 103].map(|n| fake::member(AccountId32([n; 32])));
	let audit = AuditView {
		seed: Some(seed_of_draws()),
		committee: others.into_iter().chain([mine]).collect(),
		..fake::audit(AuditPhase::Committing { until: 45 }, groups)
	};
	let job = JobView {
		id: 3,
		submitter: AccountId32([9; 32]),
		invited: None,
		spec: spec.into_spec(),
		terms: Terms {
			price_per_ut: 1,
			replicas: 2,
			verifiers: 1,
			audit_segments: 2,
			audit_fee: 1,
			apply_blocks: 10,
			training_blocks: 60,
			machine: Default::default(),
			undecided_percent: 20,
			keep_every: 1,
			lottery: None,
		},
		work: 6_000,
		training: 6_000,
		deposit: 1,
		state: JobState::Auditing,
		deadline: 110,
		seed: Some(SEED),
		applicants: vec![],
		replicas,
		audit: Some(audit.clone()),
		settlement: Settlement::default(),
		late: None,
		record: 0,
		fee_per_ut: 0,
		compute_per_ut: 0,
	};
	Scene { folder, job, audit, _server: server }
}

impl Scene {
	/// What a verifier with the folder `name` finds; none where it was stopped.
	async fn found(
		&self,
		name: &str,
		stopped: bool,
	) -> (Verifier, PathBuf, Option<FindingsRecord>) {
		let verifier = verifier(&self.folder.path().join(name)).await;
		let folder = verifier.folder(&self.job, &self.audit);
		let stop = Arc::new(AtomicBool::new(stopped));
		let ended = verifier.audit(&self.job, &self.audit, &folder, 1, stop).await;
		match ended {
			Ok(()) => assert!(!stopped),
			Err(e) => assert!(stopped && e == TaskError::Stopped, "{e}"),
		}
		let found = verifier.home.load_findings(&folder).unwrap();
		(verifier, folder, found)
	}
}

fn events(verifier: &Verifier) -> Vec<Value> {
	let text = std::fs::read_to_string(verifier.home.events()).unwrap();
	text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_false_result_falls_beside_an_honest_one_though_its_segment_was_not_drawn() {
	let scene = scene().await;
	let (verifier, folder, found) = scene.found("one", false).await;
	let found = found.unwrap();
	let [GroupVerdict::Rejected(rejection), GroupVerdict::Replayed(replayed)] =
		&found.findings.verdicts[..]
	else {
		panic!("{found:?}")
	};
	let Rejection { account, target, claimed, .. } = rejection;
	assert_eq!((*account, *target), (AccountId32([1; 32]), Target::Segment(5)));
	let segments: Vec<u32> = replayed.evidence.iter().map(|e| e.segment).collect();
	assert_eq!((segments, &replayed.parts[..]), (vec![0, 2, 5], &[5][..]));
	assert_eq!(*claimed, Claimed::End(replayed.evidence[2].end()), "what is true instead");
	check(&scene.audit, &me(), &found);
	// A second verifier finds the same by itself.
	let (_, _, other) = scene.found("two", false).await;
	assert_eq!(other.unwrap().findings.verdicts, found.findings.verdicts);

	// No verdict waits for the rules; they come when asked for.
	let reported = events(&verifier);
	assert!(reported.iter().any(|e| e["event"] == "parting" && e["segment"] == 5), "{reported:?}");
	let verdicts: Vec<_> = reported.iter().filter(|e| e["event"] == "verdict").collect();
	assert!(verdicts.len() == 2 && verdicts.iter().all(|e| e.get("rules").is_none()));
	assert!(reported.iter().all(|e| e["event"] != "rules"));
	let never = Arc::new(AtomicBool::new(false));
	verifier.assess(&scene.job, &scene.audit, &found, &folder, never).await.unwrap();
	let reported = events(&verifier);
	let rules: Vec<_> = reported.iter().filter(|e| e["event"] == "rules").collect();
	assert_eq!(rules.len(), 1, "of what was accepted");
	assert_eq!(
		(&rules[0]["result"], rules[0]["rules"]["rules"].as_array().unwrap().len()),
		(&1.into(), 6)
	);
}

#[tokio::test(flavor = "multi_thread")]
async fn segments_that_were_replayed_are_not_replayed_again() {
	let scene = scene().await;
	let (verifier, folder, found) = scene.found("one", false).await;
	// Both results begin alike: segment 0 and segment 2 of either begin in the same states.
	let count = |folder: &Path| std::fs::read_dir(folder.join("replays")).unwrap().count();
	// Where they part is replayed by the comparison.
	assert_eq!(count(&folder), DRAWN.len());
	// Killed before it had written its findings, a verifier goes on with what it replayed.
	std::fs::remove_file(folder.join("findings.json")).unwrap();
	let written = |name: &str| std::fs::metadata(folder.join(name)).unwrap().modified().unwrap();
	let before = written("replays");
	let stop = Arc::new(AtomicBool::new(false));
	verifier.audit(&scene.job, &scene.audit, &folder, 1, stop).await.unwrap();
	assert_eq!(written("replays"), before);
	let again = verifier.home.load_findings(&folder).unwrap().unwrap();
	assert_eq!(again.findings.verdicts, found.unwrap().findings.verdicts);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fine_tuning_is_judged_with_the_model_that_its_trainers_serve() {
	let scene = scene_of_fine_tuning().await;
	let (verifier, folder, found) = scene.found("one", false).await;
	let findings = found.clone().unwrap().findings.verdicts;
	let [GroupVerdict::Rejected(_), GroupVerdict::Replayed(_)] = &findings[..] else {
		panic!("{findings:?}")
	};
	// Both files went into the cache, where the rules find them.
	for (which, file) in scene.job.spec.files() {
		let path = verifier.home.data(&file.content_hash);
		trainyard_proof::inputs::check_content(&path, which, &file).unwrap();
	}
	let never = Arc::new(AtomicBool::new(false));
	verifier.assess(&scene.job, &scene.audit, &found.unwrap(), &folder, never).await.unwrap();
	let reported = events(&verifier);
	let rules = reported.iter().find(|e| e["event"] == "rules").unwrap();
	assert_eq!(rules["rules"]["rules"][2]["detail"], "not applicable: fine-tuned");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parting_whose_beginning_nobody_has_is_left_open() {
	let scene = scene().await;
	let step = scene.job.spec.checkpoint_step(5).unwrap();
	for name in ["cheat", "honest"] {
		let bundle = scene.folder.path().join(name);
		std::fs::remove_file(bundle.join(bundle::manifest::checkpoint_file(step))).unwrap();
	}
	// What was replayed of both is true, and while both stand none is accepted.
	let (verifier, _, found) = scene.found("one", false).await;
	let found = found.unwrap();
	check(&scene.audit, &me(), &found);
	for verdict in &found.findings.verdicts {
		let GroupVerdict::Replayed(replayed) = verdict else { panic!("{found:?}") };
		assert!(replayed.evidence.len() == 2 && replayed.parts.is_empty());
	}
	assert!(events(&verifier).iter().any(|e| e["event"] == "parting_open" && e["segment"] == 5));
}

/// Checks findings as the chain does when they are revealed (`verdicts.rs` of the pallet).
fn check(audit: &AuditView, me: &AccountId32, found: &FindingsRecord) {
	let seat = audit.committee.iter().position(|member| member.verifier == *me).unwrap();
	let (genesis, seed) = (fake::hash(0), audit.seed.unwrap());
	let round = audit.round;
	let subject = Subject { genesis: &genesis, job: found.job, round, seed: &seed, account: me };
	let key = audit.committee[seat].vrf_key;
	let output = vrf::output(&key.0, &subject, &found.findings.draw).expect("of its own key");
	let verdicts = &found.findings.verdicts;
	assert_eq!(verdicts.len(), audit.groups.len());
	let mut paths = found.paths.iter();
	for ((at, group), verdict) in (0u32..).zip(&audit.groups).zip(verdicts) {
		let GroupVerdict::Replayed(replayed) = verdict else { continue };
		let result = &group.result;
		let draws = trainyard_protocol::duties::own_draws(audit.audit_segments, seat);
		let own = vrf::own_segments(&output, at, result.segments, draws);
		let (moved, parts) = (replayed.moved, &replayed.parts);
		let wanted = trainyard_protocol::duties::required(&own, seat, result, moved, parts);
		assert!(parts.len() < audit.groups.len());
		assert!(replayed.evidence.iter().map(|e| e.segment).eq(wanted.unwrap()));
		for evidence in &replayed.evidence {
			assert!(evidence.agrees(result, paths.next().unwrap()));
			assert!(evidence.idle_since.is_none_or(|since| since <= evidence.segment));
		}
	}
	assert_eq!(paths.next(), None);
}

/// Each seat replays exactly what the chain wants of it.
#[tokio::test(flavor = "multi_thread")]
async fn every_seat_does_its_duties() {
	for seat in 0..4 {
		let mut scene = scene().await;
		let mine = scene.audit.committee.remove(3);
		scene.audit.committee.insert(seat, mine);
		let (verifier, _, found) = scene.found("one", false).await;
		let found = found.unwrap();
		check(&scene.audit, &me(), &found);
		let GroupVerdict::Replayed(honest) = &found.findings.verdicts[1] else { panic!("{seat}") };
		let segments: Vec<u32> = honest.evidence.iter().map(|e| e.segment).collect();
		assert!([0, 2, 5].iter().all(|segment| segments.contains(segment)), "{segments:?}");
		assert_eq!(honest.moved.is_some(), matches!(seat, 1 | 2));
		if let Some(moved) = honest.moved {
			assert!(segments.contains(&moved), "{segments:?}");
		}
		// The last segment is that of the first seat, so no comparison is needed to find it.
		let part = events(&verifier).iter().any(|e| e["event"] == "parting");
		assert_eq!(part, seat != 0 && honest.parts.contains(&5));
	}
}

/// The chain takes the draw of the key alone that it had when the committee was drawn.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_was_another_one_at_the_draw_finds_nothing() {
	let mut scene = scene().await;
	let other = VrfKey::of(&keys::from_uri("//Dave").unwrap()).public();
	scene.audit.committee[3].vrf_key = other;
	let verifier = verifier(&scene.folder.path().join("seat")).await;
	let folder = verifier.folder(&scene.job, &scene.audit);
	let stop = Arc::new(AtomicBool::new(false));
	let ended = verifier.audit(&scene.job, &scene.audit, &folder, 1, stop).await.unwrap_err();
	assert!(ended.to_string().contains("another VRF key"), "{ended}");
	assert_eq!(verifier.home.load_findings(&folder).unwrap(), None);
}

/// Whoever revealed what it found after a restart reveals the same: the proof of a draw is another one
/// each time, and the commitment binds it.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_between_commitment_and_reveal_changes_nothing() {
	let scene = scene().await;
	let (verifier, folder, found) = scene.found("one", false).await;
	let found = found.unwrap();
	let there = verifier.commitment(&scene.job, &scene.audit, &found);
	drop(verifier);
	let mut audit = scene.audit.clone();
	audit.committee[3].commitment = Some(there);
	let again = self::verifier(&scene.folder.path().join("one")).await;
	assert_eq!(again.folder(&scene.job, &audit), folder);
	let record = again.home.load_findings(&folder).unwrap();
	audit.phase = AuditPhase::Revealing { until: 60 };
	let known = again.known(&scene.job, &audit, record, 1);
	assert_eq!((known.ours, known.is_own), (Some(there), true));
	assert_eq!(known.found.as_ref(), Some(&found));
	check(&audit, &me(), &known.found.unwrap());
	assert_eq!(super::super::duty(&audit, &me(), 50, Some(there)), Some(Duty::Reveal));
	// It was asked to look again meanwhile, and found the same: the commitment stays.
	let stop = Arc::new(AtomicBool::new(false));
	again.audit(&scene.job, &scene.audit, &folder, 1, stop).await.unwrap();
	let later = again.home.load_findings(&folder).unwrap().unwrap();
	assert_eq!(again.commitment(&scene.job, &scene.audit, &later), there);
}

/// Trainers of one result are shared out among the seats, without those who lost already.
#[tokio::test(flavor = "multi_thread")]
async fn each_seat_accuses_another_trainer_of_a_result() {
	let mut scene = scene().await;
	let twin = ReplicaView { trainer: AccountId32([7; 32]), ..scene.job.replicas[0].clone() };
	scene.job.replicas.push(twin);
	let of = |scene: &Scene, seat| accused(&scene.job, &scene.audit.groups[0], seat);
	let [one, seven] = [1, 7].map(|n| Some(AccountId32([n; 32])));
	assert_eq!([0, 1, 2, 3].map(|seat| of(&scene, seat)), [one, seven, one, seven]);
	scene.audit.groups[0].convicted = vec![AccountId32([1; 32])];
	assert_eq!([0, 1].map(|seat| of(&scene, seat)), [seven, seven]);
	scene.audit.groups[0].convicted.push(AccountId32([7; 32]));
	assert_eq!(of(&scene, 0), None);
}

/// The attack: a specification that takes more memory than any verifier has. It took the daemon with
/// all its audits.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_whose_replay_dies_is_unavailable_and_the_daemon_goes_on() {
	let scene = scene().await;
	let mut verifier = verifier(&scene.folder.path().join("small")).await;
	let sound = verifier.replayers.clone();
	let folder = verifier.folder(&scene.job, &scene.audit);
	for (replayers, action) in
		[(Replayers::dying(), "replay"), (Replayers::for_tests(1 << 20), "decode")]
	{
		verifier.replayers = replayers;
		let stop = Arc::new(AtomicBool::new(false));
		verifier.audit(&scene.job, &scene.audit, &folder, 1, stop).await.unwrap();
		let found = verifier.home.load_findings(&folder).unwrap().unwrap();
		assert!(
			found.findings.verdicts.iter().all(|v| *v == GroupVerdict::Unavailable),
			"{found:?}"
		);
		let reported = events(&verifier);
		let says = |e: &&Value| e["event"] == "failed_attempt" && e["action"] == action;
		let reported: Vec<_> = reported.iter().filter(says).collect();
		let reason = reported[0]["reason"].as_str().unwrap();
		assert!(reason.contains("died") && reason.contains("--max-memory-mib"), "{reason}");
		// What was decoded by the first ones is here.
		std::fs::remove_dir_all(verifier.home.inputs(&scene.job.spec).data.parent().unwrap())
			.unwrap();
		std::fs::create_dir_all(verifier.home.inputs(&scene.job.spec).data.parent().unwrap())
			.unwrap();
		std::fs::remove_file(folder.join("findings.json")).unwrap();
	}
	verifier.replayers = sound;
	let stop = Arc::new(AtomicBool::new(false));
	verifier.audit(&scene.job, &scene.audit, &folder, 1, stop).await.unwrap();
	let found = verifier.home.load_findings(&folder).unwrap().unwrap();
	assert!(matches!(found.findings.verdicts[1], GroupVerdict::Replayed(_)), "{found:?}");
}

/// A replay that the machine cannot hold would end the verifier, and with it its other audits.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_takes_too_much_memory_is_not_begun() {
	let scene = scene().await;
	let mut verifier = verifier(&scene.folder.path().join("small")).await;
	verifier.max_memory = 1 << 20;
	let folder = verifier.folder(&scene.job, &scene.audit);
	let stop = Arc::new(AtomicBool::new(false));
	verifier.audit(&scene.job, &scene.audit, &folder, 1, stop).await.unwrap();
	let found = verifier.home.load_findings(&folder).unwrap().unwrap();
	assert!(found.findings.verdicts.iter().all(|v| *v == GroupVerdict::Unavailable));
	let said = |e: &Value| e["reason"].as_str().is_some_and(|r| r.contains("--max-memory-mib"));
	assert!(events(&verifier).iter().any(said));
	assert!(!folder.join("replays").exists(), "nothing was replayed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stopped_leaves_no_findings() {
	let (_, _, found) = scene().await.found("stopped", true).await;
	assert_eq!(found, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_whose_time_is_over_is_stopped_and_a_lost_place_is_reported() {
	let scene = scene().await;
	let audit = AuditView { committee: vec![fake::member(me())], ..scene.audit.clone() };
	let jobs = vec![JobView { audit: Some(audit), ..scene.job.clone() }];
	let verifier = Arc::new(verifier_with(&scene.folder.path().join("late"), jobs).await);
	let membership = Membership::new(Some(place()));
	let mut memory = Memory::new(membership);
	let mut tasks = Tasks::default();
	let mut flag = None;
	tasks.start_with(Key::Audit(scene.job.id, 0, Duty::Audit), |stop| {
		flag = Some(stop);
		std::future::pending()
	});
	let flag = flag.unwrap();
	for (height, stopped) in [(44, false), (45, true)] {
		let head = Head { hash: fake::hash(1), number: height };
		verifier.look_at_audits(&mut memory, &mut tasks, head).await.unwrap();
		assert_eq!(flag.load(Ordering::Relaxed), stopped, "at {height}, until 45");
	}
	let reported = events(&verifier);
	for event in ["left_pool", "deadline_near"] {
		assert_eq!(reported.iter().filter(|e| e["event"] == event).count(), 1, "{reported:?}");
	}
}

#[tokio::test]
async fn what_follows_from_the_end_of_a_step() {
	let folder = tempfile::tempdir().unwrap();
	let verifier = Arc::new(verifier(folder.path()).await);
	let memory = Memory::new(Membership::new(Some(place())));
	let stakes = Stakes { most: 0, reserve: 0, open: 0 };
	let args = DisputeArgs::of_mib(1, 1);
	let (sender, folder) = (verifier.sender.clone(), verifier.home.disputes());
	let (report, webhook) = (&verifier.report, verifier.webhook.clone());
	let driver = Driver::open(sender, me(), &folder, &args, stakes, report, webhook).unwrap();
	let base = Base {
		chain: verifier.chain.clone(),
		sender: verifier.sender.clone(),
		home: verifier.home.clone(),
		report: verifier.report.clone(),
		machine: Machine::default(),
	};
	let keeper = Arc::new(Keeper::new(&base, Settings::of_auditor("verifier")));
	let mut role = VerifierRole { verifier, memory, driver, keeper, once: true };
	let key = |duty| Key::Audit(3, 1, duty);
	assert_eq!(role.ended(key(Duty::Audit), &Ok(())), Next::AtOnce);
	assert_eq!(role.ended(key(Duty::Commit), &Err(TaskError::failed("full"))), Next::Block);
	assert!(role.memory.unassessed.is_empty());
	assert_eq!(role.ended(key(Duty::Commit), &Ok(())), Next::AtOnce);
	assert_eq!(role.memory.unassessed, HashSet::from([(3, 1)]));
	let unit = Key::Unit(7, H256::zero(), Step::Compute);
	for stopped in [unit, key(Duty::Audit)] {
		assert_eq!(role.ended(stopped, &Err(TaskError::Stopped)), Next::Block);
	}
	let reported: Vec<_> = events(&role.verifier);
	assert_eq!((reported.len(), &reported[0]["event"]), (1, &"replay_stopped".into()));
	assert_eq!((&reported[0]["job"], &reported[0]["round"]), (&3.into(), &1.into()));
	// Only a reveal that came on chain ends a verifier with --once.
	let lost = Err(TaskError::Transient("the node was away".into()));
	assert_eq!(role.ended(key(Duty::Reveal), &lost), Next::Block);
	assert_eq!(role.ended(key(Duty::Reveal), &Ok(())), Next::Never);
	role.once = false;
	assert_eq!(role.ended(key(Duty::Reveal), &Ok(())), Next::AtOnce);

	let names = [key(Duty::Reveal), unit].map(|key| VerifierRole::name_of(&key).to_string());
	assert_eq!(names, ["reveal", "recomputation of assignment 7: compute"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_that_are_committed_elsewhere_are_reported_once() {
	let scene = scene().await;
	let seat = MemberView { commitment: Some(H256([5; 32])), ..fake::member(me()) };
	let phase = AuditPhase::Revealing { until: 60 };
	let audit = AuditView { committee: vec![seat], phase, ..scene.audit.clone() };
	let jobs = vec![JobView { audit: Some(audit), ..scene.job.clone() }];
	let verifier = Arc::new(verifier_with(&scene.folder.path().join("other"), jobs).await);
	let (mut memory, mut tasks) = (Memory::new(Membership::new(None)), Tasks::default());
	for number in [51, 52] {
		let head = Head { hash: fake::hash(1), number };
		verifier.look_at_audits(&mut memory, &mut tasks, head).await.unwrap();
	}
	assert!(tasks.running().next().is_none(), "nothing is audited again for it");
	let reported = events(&verifier);
	let lost: Vec<_> = reported.iter().filter(|e| e["event"] == "record_lost").collect();
	assert_eq!(lost.len(), 1, "{reported:?}");
	assert_eq!((&lost[0]["job"], &lost[0]["until"]), (&3.into(), &60.into()));
}
