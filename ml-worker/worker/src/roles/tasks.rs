//! Runs work that takes longer than a block. Each piece runs at most once at a time, and is tried
//! again after a pause that grows with every failure, unless that is hopeless.

mod error;
mod failures;

pub use error::{with_causes, TaskError};
pub use failures::{word, Failures, TaskName};

use super::recent::Recent;
use std::{
	collections::HashMap,
	future::Future,
	hash::Hash,
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc,
	},
	time::{Duration, Instant},
};
use tokio::sync::mpsc;

/// The pause after the first failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Time between two looks at the flag by which a task is asked to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The outcome of a task.
pub type Outcome = Result<(), TaskError>;

/// Resolves once `stop` is set. Work that waits for others, a server above all, is dropped then.
pub async fn stopped(stop: &AtomicBool) {
	while !stop.load(Ordering::Relaxed) {
		tokio::time::sleep(LOOK).await;
	}
}

/// A task that runs.
struct Running {
	/// The flag by which it is asked to stop.
	stop: Arc<AtomicBool>,
	begun: Instant,
}

/// Running tasks by key.
pub struct Tasks<K> {
	running: HashMap<K, Running>,
	failures: Recent<K, (u32, Instant)>,
	/// What is not started again.
	hopeless: Recent<K, ()>,
	/// Returns the time by which pauses are counted.
	now: Box<dyn Fn() -> Instant + Send>,
	sender: mpsc::UnboundedSender<(K, Outcome)>,
	receiver: mpsc::UnboundedReceiver<(K, Outcome)>,
}

impl<K: Clone + Eq + Hash + Send + 'static> Default for Tasks<K> {
	fn default() -> Self {
		Self::with_clock(Instant::now)
	}
}

impl<K: Clone + Eq + Hash + Send + 'static> Tasks<K> {
	/// Makes an empty set whose pauses are counted by the time that `now` returns.
	pub fn with_clock(now: impl Fn() -> Instant + Send + 'static) -> Self {
		let (sender, receiver) = mpsc::unbounded_channel();
		Self {
			running: HashMap::new(),
			failures: Recent::default(),
			hopeless: Recent::default(),
			now: Box::new(now),
			sender,
			receiver,
		}
	}

	/// Starts `work` under `key`, unless it runs already, rests after a failure, or is hopeless.
	/// Returns whether it was started.
	pub fn start<F>(&mut self, key: K, work: F) -> bool
	where
		F: Future<Output = Outcome> + Send + 'static,
	{
		self.start_with(key, |_| work)
	}

	/// Does what [`Self::start`] does, for work that heeds a flag: once it is set, the result is
	/// not wanted any more, see [`Self::stop_unless`].
	pub fn start_with<F>(&mut self, key: K, work: impl FnOnce(Arc<AtomicBool>) -> F) -> bool
	where
		F: Future<Output = Outcome> + Send + 'static,
	{
		if !self.is_ready(&key) {
			return false;
		}
		let stop = Arc::new(AtomicBool::new(false));
		let (sender, name, work) = (self.sender.clone(), key.clone(), work(stop.clone()));
		tokio::spawn(async move {
			// A panic in the work must not leave the key running for ever.
			let outcome = match tokio::spawn(work).await {
				Ok(outcome) => outcome,
				Err(e) => Err(TaskError::failed(format!("it stopped unexpectedly: {e}"))),
			};
			let _ = sender.send((name, outcome));
		});
		self.running.insert(key, Running { stop, begun: (self.now)() });
		true
	}

	/// Asks everything that runs to stop, except what is `wanted`. Work that heeds it ends soon
	/// after, and can then be started again.
	pub fn stop_unless(&self, wanted: impl Fn(&K) -> bool) {
		for (_, task) in self.running.iter().filter(|(key, _)| !wanted(key)) {
			task.stop.store(true, Ordering::Relaxed);
		}
	}

	/// Returns the time by which pauses are counted.
	pub fn now(&self) -> Instant {
		(self.now)()
	}

	/// Returns for how long the task under `key` has run; `None` if it does not run.
	pub fn age(&self, key: &K) -> Option<Duration> {
		Some((self.now)().saturating_duration_since(self.running.get(key)?.begun))
	}

	/// Returns whether a task under `key` would be started now.
	pub fn is_ready(&self, key: &K) -> bool {
		let resting = self.failures.get(key).is_some_and(|(_, until)| (self.now)() < *until);
		!resting && !self.hopeless.contains(key) && !self.running.contains_key(key)
	}

	/// Forgets that the task under `key` failed: what it lacked has come. What is hopeless stays so.
	pub fn forgive(&mut self, key: &K) {
		self.failures.remove(key);
	}

	/// Returns whether something runs under `key`.
	pub fn is_running(&self, key: &K) -> bool {
		self.running.contains_key(key)
	}

	/// Returns the keys of everything that runs.
	pub fn running(&self) -> impl Iterator<Item = &K> {
		self.running.keys()
	}

	/// Returns the next task that ends. It waits for ever while none runs, and is cancel safe.
	pub async fn ended(&mut self) -> (K, Outcome) {
		loop {
			// `self` holds a sender, so the channel never closes.
			if let Some((key, outcome)) = self.receiver.recv().await {
				self.note(&key, &outcome);
				return (key, outcome);
			}
		}
	}

	fn note(&mut self, key: &K, outcome: &Outcome) {
		self.running.remove(key);
		match outcome {
			Ok(()) => {
				self.failures.remove(key);
			}
			Err(TaskError::Hopeless(_)) => {
				self.failures.remove(key);
				self.hopeless.insert(key.clone(), ());
			}
			Err(TaskError::Transient(_) | TaskError::Stopped | TaskError::Failed(_)) => {
				let count = self.failures.get(key).map_or(0, |(n, _)| *n).saturating_add(1);
				let until = (self.now)() + pause(count);
				self.failures.insert(key.clone(), (count, until));
			}
		}
	}
}

/// Stops work on another thread when it is dropped: whoever waited for that work waits no more.
#[derive(Default)]
pub struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
	/// Returns the flag that the work heeds.
	pub fn flag(&self) -> Arc<AtomicBool> {
		self.0.clone()
	}
}

impl Drop for StopOnDrop {
	fn drop(&mut self) {
		self.0.store(true, Ordering::Relaxed);
	}
}

/// Returns the delay before retry number `count`.
fn pause(count: u32) -> Duration {
	let factor = 2u32.saturating_pow(count.saturating_sub(1).min(16));
	FIRST_PAUSE.saturating_mul(factor).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
	use super::*;

	#[tokio::test]
	async fn a_key_runs_once_at_a_time() {
		let mut tasks = Tasks::default();
		let (go, wait) = tokio::sync::oneshot::channel::<()>();
		assert!(tasks.start("a", async move { wait.await.map_err(|e| TaskError::of(&e)) }));
		assert!(!tasks.start("a", async { Ok(()) }), "it runs");
		assert!(tasks.start("b", async { Ok(()) }));
		let (key, outcome) = tasks.ended().await;
		assert!(key == "b" && outcome.is_ok());
		go.send(()).unwrap();
		assert_eq!(tasks.ended().await.0, "a");
		assert!(tasks.start("a", async { Ok(()) }), "it may run again");
	}

	#[tokio::test]
	async fn failures_and_panics_rest_before_the_next_try() {
		let mut tasks = Tasks::default();
		tasks.start(1, async { Err(TaskError::failed("no")) });
		assert_eq!(tasks.ended().await.1, Err(TaskError::failed("no")));
		assert!(!tasks.start(1, async { Ok(()) }), "it rests");
		assert!(!tasks.is_ready(&1) && tasks.is_ready(&2));
		tasks.forgive(&1);
		assert!(tasks.is_ready(&1));
		tasks.start(2, async { panic!("oh") });
		let (key, outcome) = tasks.ended().await;
		assert!(key == 2 && outcome.is_err());
		assert!(!tasks.is_running(&2));
	}

	#[tokio::test]
	async fn what_nobody_wants_any_more_is_asked_to_stop() {
		let mut tasks = Tasks::default();
		for key in ["wanted", "unwanted"] {
			assert!(tasks.start_with(key, |stop| async move {
				while !stop.load(Ordering::Relaxed) {
					tokio::task::yield_now().await;
				}
				Ok(())
			}));
		}
		tasks.stop_unless(|key| *key == "wanted");
		assert_eq!(tasks.ended().await.0, "unwanted");
		assert!(tasks.is_running(&"wanted"));
		tasks.stop_unless(|_| false);
		assert_eq!(tasks.ended().await.0, "wanted");
	}

	#[tokio::test]
	async fn work_that_nobody_waits_for_is_stopped() {
		let (sender, ended) = std::sync::mpsc::channel();
		let waiting = async {
			let guard = StopOnDrop::default();
			let stop = guard.flag();
			let work = tokio::task::spawn_blocking(move || {
				while !stop.load(Ordering::Relaxed) {
					std::thread::yield_now();
				}
				sender.send(()).unwrap();
			});
			work.await.unwrap();
		};
		assert!(tokio::time::timeout(Duration::from_millis(1), waiting).await.is_err());
		ended.recv().unwrap();
	}

	#[tokio::test]
	async fn what_waits_for_others_hears_that_it_should_stop() {
		let mut tasks = Tasks::default();
		tasks.start_with("waiting", |stop| async move {
			tokio::select! {
				() = std::future::pending() => Ok(()),
				() = stopped(&stop) => Err(TaskError::Stopped),
			}
		});
		tasks.stop_unless(|_| false);
		assert_eq!(tasks.ended().await, ("waiting", Err(TaskError::Stopped)));
	}

	#[test]
	fn pauses_grow_to_a_limit() {
		assert_eq!(pause(1), Duration::from_secs(1));
		assert_eq!(pause(2), Duration::from_secs(2));
		assert_eq!(pause(5), Duration::from_secs(16));
		assert_eq!(pause(6), LONGEST_PAUSE);
		assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
	}
}
