use super::{
	super::{reconcile::Gathered, Records, Reported, Trainer},
	*,
};
use crate::roles::{
	common::files::READING,
	disputes::accusing::{Accusations, Stakes},
	fetch::{Fetcher, Locations, Pace},
	http::{Server, Shelf},
	plan::{Limits, Prices},
	report::Reporter,
	store::{Home, Quota},
	tasks::{stopped, TaskError},
};
use std::{
	collections::HashMap,
	path::Path,
	sync::{Arc, Mutex},
	time::Duration,
};
use tokio::{
	io::{AsyncReadExt, AsyncWriteExt},
	net::TcpListener,
};
use trainyard_client::{
	fake::{self, FakeNode},
	keys, Head, JobView, Transactor,
};
use trainyard_proof::testing;
use trainyard_protocol::{job::JobState, Text, H256};

/// No server is given up within a test.
const PATIENT: Pace =
	Pace { grace: Duration::from_secs(3_600), window: Duration::from_secs(3_600), rate: 1 };
/// Servers that drip are given up soon.
const IMPATIENT: Pace =
	Pace { grace: Duration::from_millis(500), window: Duration::from_millis(500), rate: 1 << 20 };
/// Bytes that servers announce.
const LONG: u64 = 1 << 20;

/// A trainer with this folder on a chain that says nothing.
async fn trainer(folder: &Path, pace: Pace) -> Arc<Trainer> {
	let chain = Arc::new(FakeNode::new(|_, _, _| Err("no such method")).chain().await);
	let home = Arc::new(Home::open(folder, &H256::zero()).unwrap());
	let fetcher = Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap();
	let sender = Arc::new(Transactor::new(chain.clone(), keys::from_uri("//Bob").unwrap()));
	let report = Reporter::new("trainer", true, Some(&home.events()));
	let stakes = Stakes { most: 0, reserve: 0, open: 1 };
	let (me, disputes) = (*sender.account(), home.disputes());
	let (accusations, _) = Accusations::open(me, &disputes, stakes, report.clone()).unwrap();
	Arc::new(Trainer {
		sender,
		accusations: Arc::new(accusations),
		machine: Default::default(),
		accuses: true,
		shelf: Shelf::default(),
		fetcher: fetcher.at(pace),
		location: Text::default(),
		limits: Limits {
			min_price: 0,
			min_undecided: 0,
			max_deviation: 0,
			max_work: u64::MAX,
			max_parallel: 9,
			max_data: u64::MAX,
			max_memory: u64::MAX,
			max_rescue: u64::MAX,
			reserve: 0,
			speed: 1e9,
			grace: 20,
		},
		block_time: Duration::from_secs(60),
		prices: Prices::default(),
		quota: Quota::of(u64::MAX),
		cheat: None,
		checks: 1,
		report,
		records: Mutex::new(Records::new()),
		data: Mutex::default(),
		rehearsed: Mutex::default(),
		replaced: Default::default(),
		bad: Mutex::default(),
		old_seeds: Mutex::default(),
		queue: Mutex::default(),
		rescued: Mutex::default(),
		relay_seats: Mutex::default(),
		bets: Mutex::default(),
		blobs: Mutex::default(),
		home,
		chain,
	})
}

/// A server that announces [`LONG`] bytes and sends a byte of them now and then.
async fn dripping() -> String {
	let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
	let url = format!("http://{}/data", listener.local_addr().unwrap());
	tokio::spawn(async move {
		while let Ok((mut stream, _)) = listener.accept().await {
			tokio::spawn(async move {
				let _ = stream.read(&mut [0; 4096]).await;
				let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {LONG}\r\n\r\n");
				let mut sent = stream.write_all(head.as_bytes()).await;
				while sent.is_ok() {
					tokio::time::sleep(Duration::from_millis(5)).await;
					sent = stream.write_all(b"x").await;
				}
			});
		}
	});
	url
}

/// Job `id` of this submitter, with the table of [`testing`] at `location`. Its data have `bytes`
/// bytes and are those of no other job, unless it is the honest one.
fn job(id: JobId, submitter: u8, location: &str, honest: Option<&Path>) -> Arc<Job> {
	let mut view = fake::job(JobState::Open);
	(view.id, view.submitter) = (id, AccountId32([submitter; 32]));
	match honest {
		Some(table) => view.spec = testing::job(table).spec().clone(),
		None => {
			view.spec.dataset.content_hash = H256::from_low_u64_be(id.into());
			view.spec.dataset.bytes = LONG;
		}
	}
	view.spec.dataset.location = Text::new(location).unwrap();
	Arc::new(Job::new(view))
}

/// What is at stake: dripping jobs 1 and 2, and job 3, which is honest.
struct Scene {
	_folder: tempfile::TempDir,
	_server: Server,
	trainer: Arc<Trainer>,
	tasks: Tasks<Key>,
	jobs: Vec<Arc<Job>>,
}

impl Scene {
	/// Jobs 1 and 2 are of the first two `submitters`, job 3 of the third one.
	async fn new(submitters: [u8; 3], pace: Pace) -> Self {
		let folder = tempfile::tempdir().unwrap();
		let table = testing::table(folder.path());
		let hash = trainyard_proof::hash::file(&table).unwrap().0;
		let shelf = Shelf::default();
		shelf.set(HashMap::new(), [(hash, table.clone())].into());
		let server = Server::start("127.0.0.1:0".parse().unwrap(), shelf).await.unwrap();
		let served = format!("http://{}/blob/{}", server.address(), hex::encode(hash));
		let [first, second, third] = submitters;
		let jobs = vec![
			job(1, first, &dripping().await, None),
			job(2, second, &dripping().await, None),
			job(3, third, &served, Some(&table)),
		];
		let trainer = trainer(&folder.path().join("trainer"), pace).await;
		Self { _folder: folder, _server: server, trainer, tasks: Tasks::default(), jobs }
	}

	/// Looks at a chain with these jobs, and returns those whose files are fetched now.
	fn look(&mut self, ids: &[JobId]) -> Vec<JobId> {
		let mut gathered = Gathered::default();
		for job in self.jobs.iter().filter(|job| ids.contains(&job.id)) {
			let plan = Plan { actions: vec![Action::Fetch], ..Plan::default() };
			gathered.keep.insert(job.spec.dataset.content_hash);
			gathered.wanted.insert(key(job, Action::Fetch));
			gathered.steps.push((job.clone(), plan));
		}
		let wanted = gathered.wanted.clone();
		let mut reported = Reported::default();
		let head = Head { number: 9, hash: fake::hash(9) };
		self.trainer.carry_out(&mut self.tasks, &mut reported, gathered, 0, head);
		let mut running: Vec<JobId> =
			self.tasks.running().filter(|key| wanted.contains(key)).map(|(id, ..)| *id).collect();
		running.sort_unstable();
		running
	}

	/// Looks at these jobs after each task that fails, until the honest one has its files.
	async fn until_honest_has_its_files(&mut self, ids: &[JobId]) {
		while self.tasks.ended().await.1.is_err() {
			self.look(ids);
		}
	}

	fn has_files_of_honest(&self) -> bool {
		self.trainer.data().contains(&self.jobs[2].spec.dataset.content_hash)
	}
}

#[tokio::test]
async fn two_dripping_servers_keep_no_honest_job_away() {
	let mut scene = Scene::new([1, 2, 3], IMPATIENT).await;
	assert_eq!(scene.look(&[1, 2, 3]), [1, 2], "both places are taken");
	scene.until_honest_has_its_files(&[1, 2, 3]).await;
	assert!(scene.has_files_of_honest());
}

/// Tasks whose clock stands still until it is set.
fn by_hand() -> (Tasks<Key>, impl Fn(Duration)) {
	let start = std::time::Instant::now();
	let clock = Arc::new(Mutex::new(start));
	let read = clock.clone();
	let set = move |since| *clock.lock().unwrap() = start + since;
	(Tasks::with_clock(move || *read.lock().unwrap()), set)
}

#[tokio::test]
async fn a_failed_download_waits_for_those_that_wait_longer() {
	let mut scene = Scene::new([1, 2, 3], PATIENT).await;
	let (tasks, set) = by_hand();
	scene.tasks = tasks;
	for job in &scene.jobs[..2] {
		scene.tasks.start(key(job, Action::Fetch), async { Err(TaskError::failed("too slow")) });
	}
	assert_eq!(scene.look(&[1, 2, 3]), [1, 2]);
	for _ in 0..2 {
		scene.tasks.ended().await.1.unwrap_err();
	}
	// They have rested.
	set(TURN);
	assert_eq!(scene.look(&[1, 2, 3]), [1, 3]);
}

/// Servers that are just fast enough would hold both places for as long as their files are.
#[tokio::test]
async fn a_download_makes_room_after_its_turn_for_one_that_waits() {
	let mut scene = Scene::new([1, 2, 3], PATIENT).await;
	let (tasks, set) = by_hand();
	scene.tasks = tasks;
	assert_eq!(scene.look(&[1]), [1]);
	set(TURN);
	assert_eq!(scene.look(&[1, 2]), [1, 2], "nobody waits for it");
	set(TURN * 3 / 2);
	scene.look(&[1, 2, 3]);
	let ((id, ..), outcome) = scene.tasks.ended().await;
	assert_eq!((id, outcome), (1, Err(TaskError::Stopped)));
	assert_eq!(scene.look(&[1, 2, 3]), [2, 3]);
	let ((id, ..), outcome) = scene.tasks.ended().await;
	assert_eq!((id, outcome), (3, Ok(())));
	assert!(scene.has_files_of_honest());
}

/// Accounts that post a new job whenever one of theirs has had its turn, or many at once.
#[tokio::test]
async fn newcomers_do_not_pass_a_download_that_made_room() {
	let mut scene = Scene::new([1, 2, 3], PATIENT).await;
	let (tasks, set) = by_hand();
	scene.tasks = tasks;
	for (id, submitter) in [(4, 4), (5, 5), (6, 2)] {
		scene.jobs.push(job(id, submitter, &dripping().await, None));
	}
	assert_eq!(scene.look(&[1, 2, 6]), [1, 2]);
	set(TURN);
	scene.look(&[1, 2, 4, 6]);
	assert_eq!(scene.tasks.ended().await.0 .0, 1);
	assert_eq!(scene.look(&[1, 2, 4, 6]), [2, 4], "it rests");
	set(TURN * 2);
	scene.look(&[1, 2, 4, 5, 6]);
	assert_eq!(scene.tasks.ended().await.0 .0, 2);
	// Job 5 is new, and the submitter of job 6 has just had its turn.
	assert_eq!(scene.look(&[1, 2, 4, 5, 6]), [1, 4]);
}

/// Reading begins again from the start where it is broken off.
#[tokio::test]
async fn a_download_that_only_reads_makes_no_room() {
	let mut scene = Scene::new([1, 2, 3], PATIENT).await;
	let (tasks, set) = by_hand();
	scene.tasks = tasks;
	let reading = scene.jobs[2].clone();
	std::fs::write(scene.trainer.home.data(&reading.spec.dataset.content_hash), b"here").unwrap();
	scene.tasks.start_with(key(&reading, Action::Fetch), |stop| async move {
		stopped(&stop).await;
		Err(TaskError::Stopped)
	});
	set(TURN / 2);
	assert_eq!(scene.look(&[1, 3]), [1, 3]);
	set(TURN * 3 / 2);
	scene.look(&[1, 2, 3]);
	assert_eq!(scene.tasks.ended().await.0 .0, 1, "the other one is younger, and loads");
}

#[tokio::test]
async fn a_submitter_has_one_download_at_a_time() {
	let mut scene = Scene::new([1, 1, 3], PATIENT).await;
	assert_eq!(scene.look(&[1, 2]), [1], "the second place is free for others");
	assert_eq!(scene.look(&[1, 2, 3]), [1, 3]);
	scene.until_honest_has_its_files(&[1, 2]).await;
	assert!(scene.has_files_of_honest());
	assert_eq!(scene.look(&[1, 2]), [1]);
}

#[tokio::test]
async fn a_cancelled_job_frees_its_place() {
	let mut scene = Scene::new([1, 2, 3], PATIENT).await;
	assert_eq!(scene.look(&[1, 2, 3]), [1, 2]);
	// Its server would drip for hours.
	assert_eq!(scene.look(&[2, 3]), [2, 3]);
	for _ in 0..2 {
		let ((id, ..), outcome) = scene.tasks.ended().await;
		match id {
			1 => assert_eq!(outcome, Err(TaskError::Stopped)),
			3 => assert_eq!(outcome, Ok(())),
			_ => panic!("job {id}: {outcome:?}"),
		}
	}
	assert!(scene.has_files_of_honest());
	assert_eq!(scene.look(&[2]), [2], "the other one is still served");
}

/// Two jobs of strangers can be read for long. Who restarts must read what it applied for or trains
/// again, and the time for that runs.
#[tokio::test]
async fn what_was_applied_for_does_not_wait_until_strangers_jobs_are_read() {
	let mut scene = Scene::new([1, 2, 3], PATIENT).await;
	let strangers = READING.acquire_many(2).await.unwrap();
	let head = Head { number: 9, hash: fake::hash(9) };
	let view = || JobView::clone(&scene.jobs[2]);
	let me = *scene.trainer.me();
	let applied = JobView { applicants: vec![me], ..view() };
	let seeded = JobView { state: JobState::Training, ..view() };
	for view in [applied, seeded] {
		scene.trainer.data().clear();
		let (trainer, job) = (scene.trainer.clone(), Arc::new(Job::new(view)));
		trainer.act(job, Action::Fetch, head, Arc::default()).await.unwrap();
		assert!(scene.has_files_of_honest());
	}
	// The job of a stranger waits.
	assert_eq!(scene.look(&[3]), [3]);
	drop(strangers);
	assert_eq!(scene.tasks.ended().await.1, Ok(()));
}
