//! The loop with a role that does what a test says. Time passes only where a test says so.

use super::*;
use crate::roles::tasks::TaskError;
use std::{
	collections::{HashMap, VecDeque},
	sync::{
		atomic::{AtomicBool, Ordering},
		Mutex,
	},
};
use trainyard_client::{
	fake::{FakeNode, URL},
	keys,
};
use trainyard_protocol::{H256, PROTOCOL_VERSION};

/// How a task ends.
#[derive(Clone, Debug)]
enum Way {
	With(Outcome),
	Panic,
	/// When it is asked to stop; the flag is set then.
	AskedToStop(Arc<AtomicBool>),
	Never,
}

/// What a look does beyond starting tasks.
type Hook = dyn FnMut(u32, &[String]) -> Result<Next, LookError>;

/// Asks for its tasks at every block, as a role does that finds them missing.
struct Fake {
	/// How each task ends, try after try; a task without an entry is not asked for.
	ways: HashMap<&'static str, VecDeque<Way>>,
	/// What happened, in order.
	log: Vec<String>,
	looks: u32,
	/// Called at the end of each look with its number and with what happened so far.
	hook: Box<Hook>,
	/// What it answers when a task ended.
	after: Next,
}

#[derive(Debug, thiserror::Error)]
#[error("never")]
struct Never;

impl Fake {
	fn new(
		ways: impl IntoIterator<Item = (&'static str, Vec<Way>)>,
		hook: impl FnMut(u32, &[String]) -> Result<Next, LookError> + 'static,
	) -> Self {
		Self {
			ways: ways.into_iter().map(|(key, ways)| (key, ways.into())).collect(),
			log: Vec::new(),
			looks: 0,
			hook: Box::new(hook),
			after: Next::Block,
		}
	}

	fn count(&self, what: &str) -> usize {
		self.log.iter().filter(|line| *line == what).count()
	}
}

impl Role for Fake {
	const NAME: &'static str = "fake";
	type Args = ();
	type Error = Never;
	type Key = &'static str;

	async fn open(_: (), _: &Base) -> Result<Self, RoleError<Never>> {
		Err(RoleError::Own(Never))
	}

	async fn look(&mut self, _: Head, tasks: &mut Tasks<&'static str>) -> Result<Next, LookError> {
		// The node answers at once; tasks need their turn.
		tokio::task::yield_now().await;
		self.looks += 1;
		for (key, ways) in &mut self.ways {
			let Some(way) = ways.front().cloned() else { continue };
			if tasks.is_running(key) {
				continue;
			}
			let started = tasks.start_with(key, |stop| async move {
				match way {
					Way::With(outcome) => return outcome,
					Way::Panic => panic!("oh"),
					Way::Never => std::future::pending::<()>().await,
					Way::AskedToStop(done) => {
						while !stop.load(Ordering::Relaxed) {
							tokio::task::yield_now().await;
						}
						done.store(true, Ordering::Relaxed);
					}
				}
				Err(TaskError::Stopped)
			});
			if started {
				ways.pop_front();
			}
			self.log.push(format!("{key} {}", if started { "started" } else { "refused" }));
		}
		(self.hook)(self.looks, &self.log)
	}

	fn name_of(key: &&'static str) -> TaskName {
		TaskName::new(*key)
	}

	fn ended(&mut self, key: &'static str, outcome: &Outcome) -> Next {
		let how = match outcome {
			Ok(()) => "done",
			Err(TaskError::Transient(_)) => "transient",
			Err(TaskError::Hopeless(_)) => "hopeless",
			Err(TaskError::Stopped) => "stopped",
			Err(TaskError::Failed(_)) => "failed",
		};
		self.log.push(format!("{key} {how}"));
		self.after
	}

	fn is_awaited(key: &&'static str) -> bool {
		*key == "awaited"
	}

	async fn leave(&mut self, ended: Ended) -> Option<String> {
		self.log.push(format!("left: {ended:?}"));
		Some("leaving".into())
	}
}

/// A folder, and what a role works with there, on a chain with a new block at every look.
struct Scene {
	base: Base,
	now: Arc<Mutex<Instant>>,
	_folder: tempfile::TempDir,
}

impl Scene {
	async fn new() -> Self {
		Self::with(|method, _, _| match method {
			"TrainyardApi_protocol_version" => Ok(codec::Encode::encode(&PROTOCOL_VERSION)),
			_ => Err("no such method"),
		})
		.await
	}

	async fn with(
		runtime: impl Fn(&str, &[u8], u32) -> Result<Vec<u8>, &'static str> + Send + Sync + 'static,
	) -> Self {
		let folder = tempfile::tempdir().unwrap();
		let chain = Arc::new(FakeNode::new(runtime).growing().chain().await);
		let home = Arc::new(Home::open(folder.path(), &H256::zero()).unwrap());
		let sender = Transactor::new(chain.clone(), keys::from_uri("//Bob").unwrap());
		let report = Reporter::new(Fake::NAME, true, Some(&home.events()));
		let machine = Default::default();
		let base = Base { chain, sender: Arc::new(sender), home, report, machine };
		Self { base, now: Arc::new(Mutex::new(Instant::now())), _folder: folder }
	}

	/// Lets time pass for the pauses of tasks.
	fn pass(&self) -> impl Fn(Duration) {
		let now = self.now.clone();
		move |time| *now.lock().unwrap() += time
	}

	/// Runs the loop until `stop` resolves or the role is done.
	async fn run(&self, role: &mut Fake, stop: impl Future<Output = ()>) -> Result<(), ChainError> {
		let now = self.now.clone();
		let tasks = Tasks::with_clock(move || *now.lock().unwrap());
		work(role, &self.base, tasks, stop).await
	}

	/// Runs the loop until the role is done.
	async fn run_on(&self, role: &mut Fake) -> Result<(), ChainError> {
		self.run(role, std::future::pending()).await
	}

	/// Returns the reported events of this name.
	fn events(&self, name: &str) -> Vec<Value> {
		let text = std::fs::read_to_string(self.base.home.events()).unwrap_or_default();
		let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
		events.filter(|event| event["event"] == name).collect()
	}
}

fn has(log: &[String], what: &str) -> bool {
	log.iter().any(|line| line == what)
}

fn never_if(done: bool) -> Result<Next, LookError> {
	Ok(if done { Next::Never } else { Next::Block })
}

#[tokio::test]
async fn a_task_that_fails_rests_and_is_tried_again() {
	for (error, how) in [
		(TaskError::Transient("the node was away".into()), "transient"),
		(TaskError::failed("the disk is full"), "failed"),
	] {
		let scene = Scene::new().await;
		let pass = scene.pass();
		let ways = vec![Way::With(Err(error)), Way::With(Ok(()))];
		let mut role = Fake::new([("a", ways)], move |_, log| {
			if has(log, "a refused") {
				pass(Duration::from_secs(1));
			}
			never_if(has(log, "a done"))
		});
		scene.run_on(&mut role).await.unwrap();
		let ended = format!("a {how}");
		let expected = ["a started", &ended, "a refused", "a started", "a done", "left: Done"];
		assert_eq!(role.log, expected);
		// What may pass by itself is not reported.
		assert_eq!(scene.events("failed_attempt").len(), usize::from(how == "failed"));
	}
}

#[tokio::test]
async fn the_same_failure_is_reported_once() {
	let scene = Scene::new().await;
	let pass = scene.pass();
	let fail = |why: &str| Way::With(Err(TaskError::failed(why)));
	let ways = vec![fail("full"), fail("full"), fail("slow"), Way::With(Ok(()))];
	let mut role = Fake::new([("a", ways)], move |_, log| {
		pass(Duration::from_secs(60));
		never_if(has(log, "a done"))
	});
	scene.run_on(&mut role).await.unwrap();
	assert_eq!(role.count("a failed"), 3);
	let events = scene.events("failed_attempt");
	let reasons: Vec<_> = events.iter().map(|event| event["reason"].as_str().unwrap()).collect();
	assert_eq!(reasons, ["full", "slow"]);
	assert!(events.iter().all(|event| event["action"] == "a"));
}

#[tokio::test]
async fn a_hopeless_task_is_never_tried_again() {
	let scene = Scene::new().await;
	let pass = scene.pass();
	let hopeless = Way::With(Err(TaskError::Hopeless("no such file".into())));
	let ways = [("a", vec![hopeless, Way::With(Ok(()))]), ("b", vec![Way::With(Ok(()))])];
	let mut role = Fake::new(ways, move |_, log| {
		pass(Duration::from_secs(3_600));
		let refused = log.iter().filter(|line| *line == "a refused").count();
		never_if(refused == 20)
	});
	scene.run_on(&mut role).await.unwrap();
	assert_eq!((role.count("a started"), role.count("a hopeless")), (1, 1));
	assert_eq!(role.count("b done"), 1, "others go on");
	let events = scene.events("failed_attempt");
	assert_eq!((events.len(), &events[0]["reason"]), (1, &json!("no such file")));
}

#[tokio::test]
async fn a_panic_in_a_task_is_reported_and_ends_nothing_else() {
	let scene = Scene::new().await;
	let pass = scene.pass();
	let ways = [("a", vec![Way::Panic, Way::With(Ok(()))]), ("b", vec![Way::With(Ok(()))])];
	let mut role = Fake::new(ways, move |_, log| {
		pass(Duration::from_secs(60));
		never_if(has(log, "a done") && has(log, "b done"))
	});
	scene.run_on(&mut role).await.unwrap();
	assert_eq!((role.count("a failed"), role.count("a done")), (1, 1));
	let events = scene.events("failed_attempt");
	assert_eq!(events.len(), 1);
	let reason = events[0]["reason"].as_str().unwrap();
	assert!(reason.starts_with("it stopped unexpectedly: "), "{reason}");
}

#[tokio::test]
async fn a_signal_ends_the_loop_and_the_last_task_is_awaited() {
	let scene = Scene::new().await;
	let (send, signal) = tokio::sync::oneshot::channel();
	let mut send = Some(send);
	let done = Arc::new(AtomicBool::new(false));
	let awaited = vec![Way::AskedToStop(done.clone())];
	// Nobody waits for a task that does not heed the flag.
	let ways = [("awaited", awaited), ("other", vec![Way::Never])];
	let mut role = Fake::new(ways, move |looks, _| {
		if looks == 3 {
			send.take().unwrap().send(()).unwrap();
		}
		assert!(looks <= 3, "it was asked to stop");
		Ok(Next::Block)
	});
	let stop = async { signal.await.unwrap() };
	scene.run(&mut role, stop).await.unwrap();
	assert!(done.load(Ordering::Relaxed), "it ended before the role did");
	assert_eq!(role.log.last().unwrap(), "left: Asked");
	// A task that ends because the role does is no news.
	assert_eq!(role.count("awaited stopped"), 0);
	assert_eq!(scene.events("stopped").len(), 1);
	assert!(scene.events("failed_attempt").is_empty());
}

#[tokio::test]
async fn a_lost_connection_a_refusal_and_a_full_disk_are_survived() {
	let scene = Scene::new().await;
	let mut errors = VecDeque::from([
		LookError::Chain(ChainError::Lost {
			url: URL.into(),
			method: "state_call".into(),
			reason: "closed".into(),
		}),
		LookError::Chain(ChainError::Unreachable { url: URL.into(), reason: "refused".into() }),
		LookError::Chain(ChainError::Refused {
			url: URL.into(),
			method: "state_call".into(),
			reason: "State already discarded".into(),
			code: 4003,
		}),
		LookError::Store(StoreError::NoFolder),
	]);
	let mut role = Fake::new([("a", vec![Way::With(Ok(()))])], move |looks, _| {
		errors.pop_front().map_or_else(|| never_if(looks == 6), Err)
	});
	scene.run_on(&mut role).await.unwrap();
	assert_eq!((role.looks, role.count("a done")), (6, 1));
	assert_eq!(role.log.last().unwrap(), "left: Done");
}

#[tokio::test]
async fn another_protocol_ends_the_role_without_a_farewell() {
	let scene = Scene::with(|_, _, _| Ok(codec::Encode::encode(&99u32))).await;
	let mut role = Fake::new([], |_, _| {
		let (method, reason) = ("TrainyardApi_jobs".into(), "cannot decode".into());
		Err(ChainError::Unreadable { method, reason }.into())
	});
	let error = scene.run_on(&mut role).await.unwrap_err();
	assert!(matches!(error, ChainError::OtherProtocol { found: 99, .. }), "{error}");
	assert_eq!(role.looks, 1);
	assert!(role.log.is_empty() && scene.events("stopped").is_empty());
}

#[tokio::test]
async fn a_role_looks_again_at_the_same_block_only_if_it_asks_for_it() {
	// A chain that stands still: no block comes after the first.
	for (after, looks) in [(Next::AtOnce, 2), (Next::Never, 1)] {
		let mut scene = Scene::new().await;
		scene.base.chain = Arc::new(FakeNode::new(|_, _, _| Err("no")).chain().await);
		let hook = |looks, _: &[String]| never_if(looks == 2);
		let mut role = Fake::new([("a", vec![Way::With(Ok(()))])], hook);
		role.after = after;
		scene.run_on(&mut role).await.unwrap();
		assert_eq!((role.looks, role.count("a done")), (looks, 1));
	}
}
