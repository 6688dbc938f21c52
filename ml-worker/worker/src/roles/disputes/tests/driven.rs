//! Whole disputes that a role plays from its files: the driver over recorders on one side, a party in
//! memory that changed one thing on the other.

use super::*;
use crate::roles::{
	disputes::{
		accusing::{Record, Stakes},
		driver::{self, DisputeArgs, Driver, Work},
		files::Files,
		parting::{self, Shown},
	},
	tasks::Tasks,
};
use std::{
	sync::atomic::{AtomicU64, Ordering},
	time::{Duration, Instant},
};
use trainyard_client::{fake, AuditView, JobView, ReplicaView};
use trainyard_court::{testing::World, Case};
use trainyard_engine::raw_bytes;
use trainyard_proof::{
	bundle::{
		manifest::{self, Manifest},
		Bundle,
	},
	court::{Claims, Options},
	inputs::{InputPaths, Inputs},
	testing,
};
use trainyard_protocol::{
	audit::AuditPhase,
	job::{Fate, JobState, Reveal, WorkResult},
	views::GroupView,
	JobId, Text,
};

type Key = (JobId, Work);

/// A job that was trained into a bundle, and the same in memory.
struct Scene {
	folder: tempfile::TempDir,
	inputs: InputPaths,
	job: Job,
	honest: WorkResult,
}

impl Scene {
	fn new() -> Self {
		let folder = tempfile::tempdir().unwrap();
		let table = testing::table(folder.path());
		let spec = testing::changed(&testing::job(&table), |spec| spec.training.steps = 30);
		let inputs = InputPaths::data(&table);
		let bundle =
			testing::train(&spec, &table, &folder.path().join("bundle"), false, None).unwrap();
		let data = Inputs::load(&spec, &inputs).unwrap().data;
		let rows = [&data.train, &data.validation].map(|table| {
			let labels = table.y.iter().flat_map(|label| label.to_le_bytes()).collect();
			[raw_bytes(&table.x).to_vec(), labels]
		});
		let [[x, y], [x_validation, y_validation]] = rows;
		let case = Case { spec, seed: testing::SEED };
		let world = World { case, rows: [x, y, x_validation, y_validation] };
		let job = Job { world, parameters: vec![] };
		let honest = bundle.result().unwrap();
		assert_eq!(Run::new(&job, Change::Nothing).result(), honest);
		Self { folder, inputs, job, honest }
	}

	fn bundle(&self) -> PathBuf {
		self.folder.path().join("bundle")
	}

	/// Writes the manifest of a run, as its trainer serves it, into `folder`.
	fn serve(&self, run: &Run, folder: &Path) {
		let Case { spec, seed } = &self.job.world.case;
		let mut manifest = Manifest::new(spec.clone(), *seed);
		manifest.checkpoints = run
			.checkpoints
			.iter()
			.map(|it| manifest::Checkpoint {
				step: it.step,
				state_hash: it.state,
				validation: it.evaluation,
				trace: it.trace,
			})
			.collect();
		manifest.bundle_root = manifest.computed_root();
		std::fs::create_dir_all(folder).unwrap();
		std::fs::write(folder.join(manifest::FILE), manifest.to_bytes()).unwrap();
	}

	/// Returns the job as the chain shows it, with a result of each of these trainers.
	fn view(&self, results: &[(AccountId32, WorkResult)]) -> JobView {
		let replica = |(trainer, result): &(AccountId32, WorkResult)| {
			let WorkResult { bundle_root, true_root, model_root, segments, diverged } = *result;
			let location = Text::default();
			let reveal =
				Reveal { bundle_root, true_root, model_root, segments, diverged, location };
			let commitment = Some(H256::zero());
			ReplicaView { trainer: *trainer, commitment, reveal: Some(reveal), fate: Fate::Working }
		};
		let group = |(_, result): &(AccountId32, WorkResult)| GroupView {
			result: *result,
			bundles: vec![],
			convicted: vec![],
			decision: None,
			asked: vec![],
			stored: vec![],
			rescued: vec![],
			relayed: false,
		};
		let audit = AuditView {
			round: 0,
			phase: AuditPhase::Standing { until: 10_000 },
			audit_segments: 1,
			lottery: None,
			challenge: 1,
			seed: None,
			groups: results.iter().map(group).collect(),
			committee: vec![],
			rechecks: vec![],
		};
		JobView {
			id: 9,
			spec: self.job.spec().spec().clone(),
			seed: Some(testing::SEED),
			replicas: results.iter().map(replica).collect(),
			audit: Some(audit),
			..fake::job(JobState::Auditing)
		}
	}
}

/// A role that computes from files.
struct Player {
	seat: Seat,
	folder: tempfile::TempDir,
	driver: Driver<Seat>,
	tasks: Tasks<Key>,
	/// Seconds of the time by which tasks rest.
	seconds: Arc<AtomicU64>,
	job: JobView,
	files: Files,
	errors: Vec<String>,
}

impl Player {
	fn new(court: &Court, me: AccountId32, kill: Option<Kill>, job: JobView, files: Files) -> Self {
		let folder = tempfile::tempdir().unwrap();
		let seat = Seat::new(court, me, kill, folder.path());
		let driver = Self::started(&seat, &folder);
		let seconds = Arc::new(AtomicU64::new(0));
		let tasks = Self::tasks(&seconds);
		Self { seat, folder, driver, tasks, seconds, job, files, errors: vec![] }
	}

	fn started(seat: &Seat, folder: &tempfile::TempDir) -> Driver<Seat> {
		let report = Reporter::new("trainer", true, Some(&folder.path().join("events.jsonl")));
		let webhook = Webhook::new(report.clone(), None).unwrap();
		let stakes = Stakes { most: u128::MAX, reserve: 0, open: 4 };
		let args = DisputeArgs::of_mib(64, 64);
		let (seat, me) = (seat.clone(), seat.me);
		Driver::open(seat, me, folder.path(), &args, stakes, &report, webhook).unwrap()
	}

	fn tasks(seconds: &Arc<AtomicU64>) -> Tasks<Key> {
		let (begun, seconds) = (Instant::now(), seconds.clone());
		Tasks::with_clock(move || begun + Duration::from_secs(seconds.load(Ordering::Relaxed)))
	}

	/// Does what it does at a block; is started again where it was killed.
	async fn block(&mut self) {
		self.seconds.fetch_add(60, Ordering::Relaxed);
		let files = |_: &JobView, _: &Dispute| Some(self.files.clone());
		let key = |job, work| (job, work);
		self.driver.look(&[&self.job], files, &mut self.tasks, key).await.unwrap();
		while self.tasks.running().count() > 0 {
			let (_, outcome) = self.tasks.ended().await;
			self.errors.extend(outcome.err().map(|e| e.to_string()));
		}
		if std::mem::take(&mut *self.seat.dead.lock().unwrap()) {
			self.driver = Self::started(&self.seat, &self.folder);
			self.tasks = Self::tasks(&self.seconds);
		}
	}

	fn events(&self, event: &str) -> usize {
		let text = std::fs::read_to_string(self.folder.path().join("events.jsonl"));
		let is_it = |line: &&str| line.contains(&format!("\"event\":\"{event}\""));
		text.unwrap_or_default().lines().filter(is_it).count()
	}
}

/// Makes blocks until a dispute is over.
async fn play(court: &Court, id: DisputeId, player: &mut Player, other: &mut Daemon) -> Ending {
	for _ in 0..2 * CLOCK {
		player.block().await;
		other.block().await;
		court.next_block(false);
		if let Some(ending) = court.ending(id) {
			return ending;
		}
	}
	panic!("it goes on for ever: {:?}", player.errors);
}

const CHANGES: [(&str, Change); 3] = [
	("state", Change::Bent { step: 13 }),
	("initial weight", Change::Initial { tensor: 0, element: 7 }),
	("model", Change::Model { word: 20 }),
];

const KILLS: [Option<Kill>; 4] = [None, Some(Kill::Before), Some(Kill::Torn), Some(Kill::After)];

fn once(court: &Court, name: &str) {
	let inner = court.inner();
	assert!(inner.refused.is_empty(), "{name}: {:?}", inner.refused);
	let once: BTreeSet<_> = inner.made.iter().map(|made| (made.id, made.stage)).collect();
	assert_eq!(once.len(), inner.made.len(), "{name}: {:?}", inner.made);
}

/// An honest trainer is accused by somebody who changed one thing, and is killed at each of its moves.
#[tokio::test(flavor = "multi_thread")]
async fn an_honest_trainer_defends_itself_from_its_bundle() {
	let scene = Scene::new();
	let honest = Run::new(&scene.job, Change::Nothing);
	for (at, kill) in KILLS.into_iter().enumerate() {
		let (what, change) = CHANGES[at % CHANGES.len()];
		let name = format!("{what}, {kill:?}");
		let accuser = Run::new(&scene.job, change);
		let court = Court::new(CLOCK);
		court.claim(defendant(), &scene.job.world.case, &scene.honest);
		let accused = accusation(&honest, &accuser);
		let id = court.challenge(challenger(0), &accused, 10);
		let matter = matter(&scene.job, &honest, accuser);
		let mut other = Daemon::new(&court, challenger(0), matter, kill);
		let view = scene.view(&[(TRAINER, scene.honest)]);
		let files = Files::of_bundle(&scene.bundle(), scene.inputs.clone());
		let mut trainer = Player::new(&court, TRAINER, kill, view, files);
		let ending = play(&court, id, &mut trainer, &mut other).await;
		assert_eq!(ending, ACQUITTED, "{name}: {:?}", trainer.errors);
		once(&court, &name);
		// What it computed is there for the next dispute.
		let kept = std::fs::read_dir(trainer.folder.path()).unwrap();
		let names = kept.map(|entry| entry.unwrap().file_name().into_string().unwrap());
		assert!(names.into_iter().any(|name| name.starts_with("of-9-")), "{name}");
	}
}

/// An honest trainer finds where another result parts from its own, binds itself, shows it, and wins;
/// it is killed at each transaction.
#[tokio::test(flavor = "multi_thread")]
async fn an_honest_trainer_accuses_another_result_and_wins() {
	let scene = Scene::new();
	let me = challenger(0);
	for (at, kill) in KILLS.into_iter().enumerate() {
		let (what, change) = CHANGES[at % CHANGES.len()];
		let name = format!("{what}, {kill:?}");
		let cheat = Run::new(&scene.job, change);
		let theirs = cheat.result();
		let served = scene.folder.path().join(format!("served-{at}"));
		scene.serve(&cheat, &served);
		let files =
			Files { result: served, ..Files::of_bundle(&scene.bundle(), scene.inputs.clone()) };
		let court = Court::new(CLOCK);
		court.claim(defendant(), &scene.job.world.case, &theirs);
		let view = scene.view(&[(TRAINER, theirs), (me, scene.honest)]);
		assert!(driver::is_open(&view));

		// What the trainer's comparison does.
		let subject = Subject::of(&view, &defendant()).unwrap();
		let recorder = files.recorder(&subject, Options::default()).unwrap();
		let own = Bundle::open(&scene.bundle()).unwrap();
		let (own, claims) = (Claims::of(own.manifest()), recorder.claims().clone());
		let mine = Shown { result: &scene.honest, claims: &own, forced: &[] };
		let shown = Shown { result: &theirs, claims: &claims, forced: &[] };
		assert!(mine.is_whole() && shown.is_whole(), "{name}");
		let target = parting::parting(mine, shown).unwrap();
		let claimed = parting::claimed(&recorder, shown, target).unwrap();
		let found = parting::accusation(defendant(), shown, target, claimed).unwrap();
		assert_eq!(found, accusation(&cheat, &Run::new(&scene.job, Change::Nothing)), "{name}");
		// Whoever looks for something false in a true result finds nothing.
		let error = parting::claimed(&recorder, Shown { claims: &own, ..mine }, target);
		assert!(matches!(error, Err(parting::PartingError::Agrees(_))), "{name}");

		let mut accuser = Player::new(&court, me, kill, view, files);
		let record = Record::new(testing::SEED, theirs.bundle_root, found);
		accuser.driver.accusations().add(record).unwrap();
		let matter = matter(&scene.job, &cheat, Run::new(&scene.job, change));
		let mut other = Daemon::new(&court, TRAINER, matter, kill);
		let ending = play(&court, 0, &mut accuser, &mut other).await;
		assert_eq!(ending, CONVICTED, "{name}: {:?}", accuser.errors);
		once(&court, &name);
		// It is over, and nobody is accused again.
		for _ in 0..2 * plan::AGAIN {
			accuser.block().await;
			court.next_block(false);
		}
		assert_eq!(accuser.events("accusation_won"), 1, "{name}");
		assert!(court.inner().disputes.is_empty() && court.inner().bound.is_empty(), "{name}");
		assert_eq!(court.inner().ended.len(), 1, "{name}");
	}
}

/// Whoever was killed before it showed what it was bound to, and came back when that had lapsed, accuses
/// again. Whoever lost does not.
#[tokio::test(flavor = "multi_thread")]
async fn what_lapsed_before_it_was_shown_is_brought_again() {
	let scene = Scene::new();
	let me = challenger(0);
	let (_, change) = CHANGES[0];
	let cheat = Run::new(&scene.job, change);
	let theirs = cheat.result();
	let served = scene.folder.path().join("served");
	scene.serve(&cheat, &served);
	let files = Files { result: served, ..Files::of_bundle(&scene.bundle(), scene.inputs.clone()) };
	let court = Court::new(CLOCK);
	court.claim(defendant(), &scene.job.world.case, &theirs);
	let view = scene.view(&[(TRAINER, theirs), (me, scene.honest)]);
	let mut accuser = Player::new(&court, me, Some(Kill::Before), view, files);
	let accused = accusation(&cheat, &Run::new(&scene.job, Change::Nothing));
	let record = Record::new(testing::SEED, theirs.bundle_root, accused);
	accuser.driver.accusations().add(record).unwrap();
	let kills = |accuser: &Player| accuser.seat.killed.lock().unwrap().len();
	while kills(&accuser) < 2 {
		accuser.block().await;
		court.next_block(false);
	}
	assert!(court.inner().disputes.is_empty() && court.inner().bound.len() == 1);
	for _ in 0..60 {
		court.next_block(false);
	}
	court.inner().bound.clear();
	while court.inner().disputes.is_empty() {
		accuser.block().await;
		court.next_block(false);
		assert!(court.inner().now.height < 400, "{:?}", accuser.errors);
	}
	// It is silent, and loses.
	for _ in 0..2 {
		accuser.block().await;
	}
	court.inner().end(0, Ending::Acquitted { by_clock: true });
	for _ in 0..3 * plan::AGAIN {
		accuser.block().await;
		court.next_block(false);
	}
	assert_eq!(accuser.events("accusation_lost"), 1);
	assert!(court.inner().disputes.is_empty() && court.inner().bound.is_empty());
}
