//! Computes laps all the time, on several threads and on a GPU where one was chosen, and writes their
//! results in order.

use crate::roles::{
	machine::Machine,
	store::{LapFile, StoreError},
};
use std::{
	collections::BTreeMap,
	ops::Range,
	path::Path,
	sync::{
		atomic::{AtomicBool, AtomicU32, Ordering},
		Arc, Mutex, PoisonError,
	},
	thread::JoinHandle,
	time::{Duration, Instant},
};
use trainyard_engine::{Compute, EngineError};
use trainyard_proof::drill::{LapBatches, Laps, UnitError};
use trainyard_protocol::{stint::MAX_LAPS, H256};

/// How long a thread rests before it looks again whether it may go on.
const REST: Duration = Duration::from_millis(50);
/// Time between two laps of a GPU that the processor computes as well: a lap that is wrong costs more
/// than all that this takes.
const CONFIRMED: Duration = Duration::from_secs(2);

/// How laps are computed.
#[derive(Clone, Debug)]
pub struct How {
	/// On how many threads of the processor.
	pub threads: usize,
	/// The most laps in a second, of all together.
	pub pace: Option<f64>,
	/// Whether nothing is computed: for tests.
	pub made_up: bool,
	/// The machine on which laps rest while others compute.
	pub machine: Machine,
}

/// Says why laps are not computed.
#[derive(Debug, thiserror::Error)]
pub enum LapError {
	/// Their results cannot be written.
	#[error(transparent)]
	Store(#[from] StoreError),
	/// They cannot be computed.
	#[error(transparent)]
	Unit(#[from] UnitError),
	/// The device cannot be used.
	#[error(transparent)]
	Engine(#[from] EngineError),
	/// The system cannot start the threads.
	#[error("cannot start a thread: {0}")]
	Threads(String),
}

/// Results before one that is none that are forgotten with it.
const SUSPECT: u32 = 255;

/// What the threads share.
struct Shared {
	seed: H256,
	machine: Machine,
	/// The least time from laps to laps of a thread.
	interval: Option<Duration>,
	stop: AtomicBool,
	pause: AtomicBool,
	/// As many laps are enough.
	enough: AtomicU32,
	/// The next lap that nobody computes.
	next: AtomicU32,
	written: Mutex<Written>,
}

/// What is on disk, and what waits for a lap before it.
struct Written {
	file: LapFile,
	/// By the number of their first lap.
	waiting: BTreeMap<u32, Vec<H256>>,
	/// Why a thread ended.
	trouble: Option<String>,
}

/// What a thread computes laps with.
struct Worker {
	/// Laps that it computes at a time.
	at_a_time: u32,
	/// Returns the results of these laps.
	compute: Box<dyn FnMut(Range<u32>) -> Result<Vec<H256>, UnitError> + Send>,
}

impl Worker {
	/// Computes nothing, and makes results up.
	fn none() -> Self {
		let compute = |laps: Range<u32>| {
			std::thread::sleep(REST / 10);
			let result = |index: u32| trainyard_proof::hash::blake2_256(&index.to_le_bytes());
			Ok(laps.map(result).collect())
		};
		Self { at_a_time: 1, compute: Box::new(compute) }
	}

	/// Computes one lap at a time on its thread.
	fn processor(seed: H256) -> Result<Self, LapError> {
		let laps = Laps::chosen()?;
		// A pool of one: the kernels of a lap stay on its thread.
		let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build();
		let alone = alone.map_err(|e| LapError::Threads(e.to_string()))?;
		let compute = move |range: Range<u32>| {
			alone.install(|| range.map(|index| laps.compute(&seed, index)).collect())
		};
		Ok(Self { at_a_time: 1, compute: Box::new(compute) })
	}

	/// Computes as many as the GPU takes at a time, and one of them on the processor as well from time
	/// to time, the first time at once.
	fn gpu(batches: LapBatches, seed: H256) -> Self {
		let at_a_time = batches.at_a_time();
		let mut confirmed: Option<Instant> = None;
		let compute = move |range: Range<u32>| {
			let first = range.start;
			let results = batches.compute(&seed, range)?;
			if confirmed.is_none_or(|last| last.elapsed() >= CONFIRMED) {
				// Any of them, so that an error of one place of the memory is found.
				let at = first as usize % results.len().max(1);
				if let Some(result) = results.get(at) {
					batches.confirm(&seed, first + at as u32, result)?;
				}
				confirmed = Some(Instant::now());
			}
			Ok(results)
		};
		Self { at_a_time, compute: Box::new(compute) }
	}
}

/// Threads that compute the laps of one stint until this is dropped.
pub struct Lapping {
	shared: Arc<Shared>,
	threads: Vec<JoinHandle<()>>,
	begun: Instant,
	/// Results that were there at the beginning.
	found: u32,
}

impl Lapping {
	/// Goes on with the stint of this seed, whose results are in the file at `path`.
	pub fn start(seed: H256, path: &Path, how: How) -> Result<Self, LapError> {
		let How { threads, pace, made_up, machine } = how;
		let mut file = LapFile::open(path)?;
		if !made_up {
			check_end(&seed, path, &mut file)?;
		}
		let batches = match made_up {
			true => None,
			false => LapBatches::new(&Compute::chosen().target()?)?,
		};
		let mut workers: Vec<Worker> = Vec::new();
		for _ in 0..threads.max(1) {
			workers.push(match made_up {
				true => Worker::none(),
				false => Worker::processor(seed)?,
			});
		}
		workers.extend(batches.map(|batches| Worker::gpu(batches, seed)));
		let round: u64 = workers.iter().map(|worker| u64::from(worker.at_a_time)).sum();
		let interval = pace.map(|pace| Duration::try_from_secs_f64(round as f64 / pace));
		let interval = interval.and_then(Result::ok);

		let found = file.count();
		let written = Mutex::new(Written { file, waiting: BTreeMap::new(), trouble: None });
		let (stop, pause, next) = (false.into(), false.into(), found.into());
		let enough = MAX_LAPS.into();
		let shared =
			Arc::new(Shared { seed, machine, interval, stop, pause, enough, next, written });
		let mut lapping = Self { shared, threads: Vec::new(), begun: Instant::now(), found };
		for worker in workers {
			let shared = lapping.shared.clone();
			let run = move || shared.run(worker);
			let thread = std::thread::Builder::new().name("laps".into()).spawn(run);
			lapping.threads.push(thread.map_err(|e| LapError::Threads(e.to_string()))?);
		}
		Ok(lapping)
	}

	/// Returns the seed of the stint.
	pub fn seed(&self) -> H256 {
		self.shared.seed
	}

	/// Lets the threads rest, or go on.
	pub fn pause(&self, rest: bool) {
		self.shared.pause.store(rest, Ordering::Relaxed);
	}

	/// Lets the threads rest once there are `laps` laps. (Laps that were begun are finished.)
	pub fn enough(&self, laps: u32) {
		self.shared.enough.store(laps.min(MAX_LAPS), Ordering::Relaxed);
	}

	/// Returns how many laps are written, so that a kill loses none of them.
	pub fn count(&self) -> u32 {
		self.shared.written().file.count()
	}

	/// Returns the laps that were computed here, and in how many seconds.
	pub fn speed(&self) -> (u32, f64) {
		let count = self.shared.written().file.count();
		(count - self.found, self.begun.elapsed().as_secs_f64())
	}

	/// Returns why no more laps come, if that is so.
	pub fn trouble(&self) -> Option<String> {
		self.shared.written().trouble.clone()
	}
}

/// Forgets results at the end of the file that are none: a machine that lost its power may have kept the
/// file's length and not what was written last.
fn check_end(seed: &H256, path: &Path, file: &mut LapFile) -> Result<(), LapError> {
	let laps = Laps::chosen()?;
	while let Some(last) = file.count().checked_sub(1) {
		if LapFile::get(path, last)? == laps.compute(seed, last)? {
			break;
		}
		file.truncate(last.saturating_sub(SUSPECT))?;
	}
	Ok(())
}

impl Drop for Lapping {
	fn drop(&mut self) {
		self.shared.stop.store(true, Ordering::Relaxed);
		for thread in self.threads.drain(..) {
			// What it was computing is lost, some hundredths of a second.
			let _ = thread.join();
		}
	}
}

impl Shared {
	fn written(&self) -> std::sync::MutexGuard<'_, Written> {
		self.written.lock().unwrap_or_else(PoisonError::into_inner)
	}

	fn run(&self, mut worker: Worker) {
		while !self.stop.load(Ordering::Relaxed) {
			let rests = self.pause.load(Ordering::Relaxed) || self.machine.is_busy();
			let enough = self.enough.load(Ordering::Relaxed);
			if rests || self.next.load(Ordering::Relaxed) >= enough {
				std::thread::sleep(REST);
				continue;
			}
			let begun = Instant::now();
			let first = self.next.fetch_add(worker.at_a_time, Ordering::Relaxed);
			let end = first.saturating_add(worker.at_a_time).min(MAX_LAPS);
			let stored = match (worker.compute)(first..end) {
				Ok(results) => self.store(first, results).map_err(|e| e.to_string()),
				Err(e) => Err(e.to_string()),
			};
			if let Err(trouble) = stored {
				self.written().trouble.get_or_insert(trouble);
				return;
			}
			// In short rests, to end soon.
			while self.interval.is_some_and(|interval| begun.elapsed() < interval)
				&& !self.stop.load(Ordering::Relaxed)
			{
				let left = self.interval.unwrap_or_default().saturating_sub(begun.elapsed());
				std::thread::sleep(left.min(REST));
			}
		}
	}

	/// Writes results, from that of lap `first` on, once all before them are there.
	fn store(&self, first: u32, results: Vec<H256>) -> Result<(), StoreError> {
		let mut written = self.written();
		let written = &mut *written;
		written.waiting.insert(first, results);
		while let Some(next) = written.waiting.remove(&written.file.count()) {
			written.file.push(&next)?;
		}
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::{
		machine::{Class, Need},
		store::Home,
	};
	use std::num::NonZeroUsize;

	fn how(threads: usize, made_up: bool) -> How {
		How { threads, pace: None, made_up, machine: Machine::default() }
	}

	/// However many threads there are, and however often it is stopped, the file has the laps in order;
	/// and what a loss of power left at its end is computed again.
	#[test]
	fn laps_are_written_in_order_and_gone_on_with() {
		let folder = tempfile::tempdir().unwrap();
		let home = Home::open(folder.path(), &H256::zero()).unwrap();
		let seed = H256([5; 32]);
		let path = home.laps(&seed);
		let mut counts = vec![0];
		for threads in [1, 3] {
			let lapping = Lapping::start(seed, &path, how(threads, false)).unwrap();
			let before = lapping.count();
			assert!(before >= *counts.last().unwrap());
			while lapping.count() < before + 4 {
				assert_eq!(lapping.trouble(), None);
				std::thread::sleep(REST);
			}
			counts.push(lapping.count());
			assert!(lapping.speed().0 >= 4);
		}
		let laps = Laps::chosen().unwrap();
		let all = LapFile::open(&path).unwrap().count();
		for index in 0..all {
			let result = LapFile::get(&path, index).unwrap();
			assert_eq!(laps.compute(&seed, index).unwrap(), result, "{index} of {all}");
		}
		let mut file = LapFile::open(&path).unwrap();
		file.push(&[H256::zero(); 300]).unwrap();
		check_end(&seed, &path, &mut file).unwrap();
		assert!(file.count() <= all);
		for index in 0..file.count() {
			assert_ne!(LapFile::get(&path, index).unwrap(), H256::zero());
		}
	}

	#[test]
	fn a_pace_is_kept() {
		let folder = tempfile::tempdir().unwrap();
		let home = Home::open(folder.path(), &H256::zero()).unwrap();
		let seed = H256([5; 32]);
		let how = How { pace: Some(10.0), ..how(2, true) };
		let begun = Instant::now();
		let lapping = Lapping::start(seed, &home.laps(&seed), how).unwrap();
		while lapping.count() < 8 {
			std::thread::sleep(REST / 10);
		}
		// Four of each thread, with three rests between them.
		assert!(begun.elapsed() >= Duration::from_millis(600));
	}

	#[test]
	fn who_rests_computes_nothing() {
		let folder = tempfile::tempdir().unwrap();
		let home = Home::open(folder.path(), &H256::zero()).unwrap();
		let seed = H256([5; 32]);
		let lapping = Lapping::start(seed, &home.laps(&seed), how(2, true)).unwrap();
		while lapping.count() == 0 {
			std::thread::sleep(REST);
		}
		lapping.pause(true);
		// What was begun before is finished.
		std::thread::sleep(REST * 4);
		let count = lapping.count();
		std::thread::sleep(REST * 4);
		assert_eq!(lapping.count(), count);
		lapping.pause(false);
		while lapping.count() == count {
			std::thread::sleep(REST);
		}
	}

	#[test]
	fn who_has_enough_rests() {
		let folder = tempfile::tempdir().unwrap();
		let home = Home::open(folder.path(), &H256::zero()).unwrap();
		let seed = H256([5; 32]);
		let lapping = Lapping::start(seed, &home.laps(&seed), how(2, true)).unwrap();
		let until = |count| {
			while lapping.count() < count {
				std::thread::sleep(REST);
			}
			// What was begun before is finished.
			std::thread::sleep(REST * 4);
			lapping.count()
		};
		lapping.enough(0);
		let most = until(0) + 20;
		lapping.enough(most);
		assert!((most..most + 2).contains(&until(most)));
		lapping.enough(u32::MAX);
		until(most + 10);
	}

	#[tokio::test(flavor = "multi_thread")]
	async fn laps_rest_while_another_role_computes() {
		let folder = tempfile::tempdir().unwrap();
		let home = Home::open(folder.path(), &H256::zero()).unwrap();
		let one = NonZeroUsize::MIN;
		let machine = Machine::shared(one, one);
		let seed = H256([5; 32]);
		let how = How { machine: machine.clone(), ..how(2, true) };
		let lapping = Lapping::start(seed, &home.laps(&seed), how).unwrap();
		while lapping.count() == 0 {
			std::thread::sleep(REST);
		}
		let need = Need::by(Class::Watch, 9);
		let lease = machine.lease("whistleblower", "a look", need, false).await;
		std::thread::sleep(REST * 4);
		let count = lapping.count();
		std::thread::sleep(REST * 4);
		assert_eq!(lapping.count(), count);
		drop(lease);
		while lapping.count() == count {
			std::thread::sleep(REST);
		}
	}
}
