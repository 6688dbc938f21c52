//! States that a trainer does not keep: who may have them computed again, and in which order that is done.
//!
//! What lies between two kept states is a *stretch* ([`trainyard_program::thinning`]), and all of its states are
//! computed at once. One stretch is computed at a time, in the order of the checkpoints, so that one pass serves all who
//! ask. Two stretches of a result lie on disk at most; before a third one is computed the one goes that was served
//! longest ago. One that a reader fetches stays, but where others wait not for longer than a minute or the time that it
//! took to compute, whichever is longer: while it lies there the other one is computed, so that nobody who fetches
//! holds up what others ask for. What a stranger fetches by HTTP counts for nothing.
//!
//! Computing costs the trainer, so nobody but a [reader](Thinned::readers) may ask for it, who signs what it asks for
//! ([`seat`](trainyard_client::seat)), and each for as many stretches as its duties read, each of which is computed
//! twice for it on average. A stranger is refused, and asks on chain.

use std::{
	collections::{BTreeMap, BTreeSet, HashMap},
	path::PathBuf,
	sync::{Arc, Mutex, MutexGuard, PoisonError},
	time::{Duration, Instant},
};
use tokio::sync::Notify;
use trainyard_client::{seat::StateRequest, AccountId32};
use trainyard_program::thinning;
use trainyard_proof::{bundle::manifest::checkpoint_file, inputs::InputPaths};
use trainyard_protocol::{JobId, H256};

/// Stretches of a result that lie on disk at once.
const MOST_MADE: usize = 2;
/// For how long a stretch stays after something of it was served: others who wait for it ask again within this time.
const SERVED_STAY: Duration = Duration::from_secs(15);
/// For how long a stretch stays of which nothing is fetched, and the least time for which one stays that is fetched.
const STAY: Duration = Duration::from_secs(60);
/// How often a stretch is computed for one reader, on average over those that its duties read: whoever asks when it is
/// there has it once, and once more after it had to go for others.
const MOST_TIMES: u32 = 2;
/// Seconds after which a client is told to come again.
pub const AGAIN: u32 = 5;

/// A result of which not all states are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thinned {
	/// The job.
	pub job: JobId,
	/// The chain.
	pub genesis: H256,
	/// The round of its audit: who asked for how much counts for one round.
	pub round: u32,
	/// Its folder.
	pub folder: PathBuf,
	/// The files that the job reads.
	pub inputs: InputPaths,
	/// One state in so many is kept.
	pub every: u32,
	/// Steps done at each checkpoint.
	pub steps: Vec<u32>,
	/// The seats of its audit and of its relays, and how many stretches each of them may have computed.
	pub readers: BTreeMap<AccountId32, u32>,
}

impl Thinned {
	fn last(&self) -> u32 {
		u32::try_from(self.steps.len().saturating_sub(1)).unwrap_or(u32::MAX)
	}

	/// Returns the stretch in which the state after so many steps lies; `None` for one that is kept, or that there is
	/// none of.
	fn stretch(&self, step: u32) -> Option<u32> {
		let index = u32::try_from(self.steps.iter().position(|of| *of == step)?).ok()?;
		thinning::stretch_of(self.every, index, self.last())
	}

	/// Returns the steps of the states of a stretch that are not kept.
	fn steps_of(&self, stretch: u32) -> Vec<u32> {
		let within = |step: &u32| self.stretch(*step) == Some(stretch);
		self.steps.iter().copied().filter(within).collect()
	}

	fn files_of(&self, stretch: u32) -> Vec<PathBuf> {
		let file = |step| self.folder.join(checkpoint_file(step));
		self.steps_of(stretch).into_iter().map(file).collect()
	}
}

/// What is said to whoever asks for a state that is not there. Each is a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
	/// It is computed again: ask later.
	Wait(String),
	/// It is not computed for whoever asks.
	Refused(String),
	/// It could not be computed.
	Failed(String),
}

/// A stretch that is to be computed.
#[derive(Clone, Debug)]
pub struct Work {
	/// Of which result.
	pub of: Arc<Thinned>,
	/// Which.
	pub stretch: u32,
	/// The steps of its states.
	pub steps: Vec<u32>,
	/// When it began, once it [has](Dropped::begin).
	begun: Option<Instant>,
}

/// What is to be done next.
#[derive(Debug)]
pub enum Next {
	/// Nothing.
	Idle,
	/// Nothing yet: what lies on disk may still be fetched.
	Later(Duration),
	/// This.
	Work(Work),
}

/// A stretch on disk.
struct Made {
	/// Which computation of the result it was.
	number: u64,
	at: Instant,
	/// For how long it stays at most where others wait.
	most: Duration,
	served: Option<Instant>,
	/// When parts were asked for by somebody who did not sign.
	parts: Option<Instant>,
	/// Files of it that readers are fetching.
	fetches: u32,
}

impl Made {
	/// Returns for how long it stays.
	fn stays(&self) -> Duration {
		let left = |from: Instant, stay: Duration| stay.saturating_sub(from.elapsed());
		let most = left(self.at, self.most);
		let own = match self.served {
			Some(_) if self.fetches > 0 => most,
			Some(served) => left(served, SERVED_STAY).min(most),
			None => left(self.at, STAY),
		};
		let parts = self.parts.map(|parts| left(parts, SERVED_STAY).min(most));
		own.max(parts.unwrap_or_default())
	}
}

/// What a reader asked for.
#[derive(Default)]
struct Asked {
	stretches: BTreeSet<u32>,
	/// Computations that began because it asked.
	times: u32,
}

/// What is asked of the result of a job.
#[derive(Default)]
struct Desk {
	round: u32,
	wanted: BTreeSet<u32>,
	asked: BTreeMap<AccountId32, Asked>,
	made: BTreeMap<u32, Made>,
	/// Stretches that came to lie on disk.
	computed: u64,
	failed: BTreeMap<u32, String>,
	/// Who asked first for a stretch that is not computed yet.
	first: BTreeMap<u32, AccountId32>,
	/// The stretch that was computed last: the next one is behind it.
	cursor: u32,
}

impl Desk {
	/// Returns the stretch that goes before another one is computed, and for how long it stays; `None` where there is
	/// room.
	fn going(&self) -> Option<(u32, Duration)> {
		let full = self.made.len() >= MOST_MADE;
		let made = self.made.iter().filter(|_| full);
		let oldest = made.min_by_key(|(_, made)| (made.stays(), made.at));
		oldest.map(|(stretch, made)| (*stretch, made.stays()))
	}

	/// Notes that a stretch lies on disk from now on, which took so long to compute.
	fn lies_there(&mut self, stretch: u32, took: Duration) {
		self.computed = self.computed.saturating_add(1);
		let (number, at, most) = (self.computed, Instant::now(), took.max(STAY));
		self.made.insert(stretch, Made { number, at, most, served: None, parts: None, fetches: 0 });
	}
}

#[derive(Default)]
struct Inner {
	/// By each root under which it is served.
	thinned: HashMap<H256, Arc<Thinned>>,
	desks: BTreeMap<JobId, Desk>,
	running: Option<(JobId, u32)>,
	/// Tasks of the trainer itself that compute states again, or read them.
	own: u32,
}

/// The results of a trainer of which not all states are kept. Clones share it.
#[derive(Clone, Default)]
pub struct Dropped {
	inner: Arc<Mutex<Inner>>,
	asked: Arc<Notify>,
}

impl Dropped {
	fn locked(&self) -> MutexGuard<'_, Inner> {
		self.inner.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Serves exactly these from now on, by the roots under which they are served. What lies on disk of one that is new
	/// here, after a restart, counts as computed.
	pub fn set(&self, thinned: HashMap<H256, Arc<Thinned>>) {
		let mut inner = self.locked();
		let jobs: BTreeMap<JobId, &Arc<Thinned>> =
			thinned.values().map(|of| (of.job, of)).collect();
		inner.desks.retain(|job, _| jobs.contains_key(job));
		for (job, of) in jobs {
			let desk = inner.desks.entry(job).or_insert_with(|| {
				let mut desk = Desk::default();
				let on_disk =
					|stretch: &u32| of.files_of(*stretch).iter().any(|file| file.is_file());
				for stretch in (0..thinning::stretches(of.every, of.last())).filter(on_disk) {
					desk.lies_there(stretch, STAY);
				}
				desk
			});
			if desk.round != of.round {
				(desk.round, desk.asked) = (of.round, BTreeMap::new());
			}
			desk.asked.retain(|who, _| of.readers.contains_key(who));
		}
		inner.thinned = thinned;
	}

	/// Returns what is said to somebody who asks for the state after `step` steps of the result that is served by
	/// `root`, whose file is not there, and who signed that by `header`. `None` where there is no such state, or it is
	/// kept.
	pub fn ask(&self, root: &H256, step: u32, header: Option<&str>) -> Option<Said> {
		let mut inner = self.locked();
		let of = inner.thinned.get(root)?.clone();
		let stretch = of.stretch(step)?;
		let request = StateRequest { genesis: of.genesis, root: *root, step };
		let Some(who) = header.and_then(|header| request.signer(header)) else {
			return Some(Said::Refused(
				"this state is not kept. It is computed again for seats of the job's audit and of its relays, who \
				 sign for it (header trainyard-seat); whoever else lacks it asks on chain, by Verification.request"
					.into(),
			));
		};
		let Some(most) = of.readers.get(&who).copied() else {
			return Some(Said::Refused(format!(
				"this state is not kept, and it is computed again for seats of the job's audit and of its relays \
				 alone: {who} is none. Whoever else lacks it asks on chain, by Verification.request"
			)));
		};
		let running = inner.running;
		let desk = inner.desks.entry(of.job).or_default();
		let own = desk.asked.entry(who).or_default();
		if !own.stretches.contains(&stretch) && own.stretches.len() >= most as usize {
			return Some(Said::Refused(format!(
				"states of {most} stretches were computed for you in this round, and no seat reads more of a result"
			)));
		}
		let comes = running == Some((of.job, stretch)) || desk.wanted.contains(&stretch);
		if !comes && own.times >= most.saturating_mul(MOST_TIMES) {
			return Some(Said::Refused(format!(
				"stretches of states were computed {} times for you in this round, {MOST_TIMES} times as often as a \
				 seat reads any: fetch what is there before you ask for more",
				own.times
			)));
		}
		own.stretches.insert(stretch);
		// What is not there was removed.
		desk.made.remove(&stretch);
		if !comes {
			own.times = own.times.saturating_add(1);
			desk.wanted.insert(stretch);
			desk.first.insert(stretch, who);
		}
		if let Some(why) = desk.failed.remove(&stretch) {
			return Some(Said::Failed(why));
		}
		let before = desk.wanted.iter().filter(|at| **at != stretch).count();
		self.asked.notify_one();
		Some(Said::Wait(format!(
			"this state is not kept: it is computed again, with the others of its stretch, and {before} others are \
			 asked for. Ask again in {AGAIN} seconds"
		)))
	}

	/// Notes that the state after `step` steps is fetched by whoever signed that by `header`, from now until what is
	/// returned is dropped. `None` where that is no reader, or the state is kept: nothing is noted then.
	pub fn fetches(&self, root: &H256, step: u32, header: Option<&str>) -> Option<Fetch> {
		let mut inner = self.locked();
		let of = inner.thinned.get(root)?.clone();
		let stretch = of.stretch(step)?;
		let request = StateRequest { genesis: of.genesis, root: *root, step };
		let who = request.signer(header?)?;
		if !of.readers.contains_key(&who) {
			return None;
		}
		let made = inner.desks.get_mut(&of.job)?.made.get_mut(&stretch)?;
		made.served = Some(Instant::now());
		made.fetches = made.fetches.saturating_add(1);
		Some(Fetch { dropped: self.clone(), job: of.job, stretch, number: made.number })
	}

	/// Notes that parts of the state after `step` steps are asked for over iroh, where nobody signs. It keeps the stretch
	/// for a moment, until the next parts are asked for, and no longer than a reader that fetches it keeps it.
	pub fn parts_asked(&self, root: &H256, step: u32) {
		let mut inner = self.locked();
		let Some(of) = inner.thinned.get(root).cloned() else { return };
		let made = of.stretch(step).zip(inner.desks.get_mut(&of.job));
		if let Some(made) = made.and_then(|(stretch, desk)| desk.made.get_mut(&stretch)) {
			made.parts = Some(Instant::now());
		}
	}

	/// Waits until somebody asks for something.
	pub async fn wait(&self) {
		self.asked.notified().await;
	}

	/// Lets the trainer itself compute and read states first, until what is returned is dropped: what it must store has a
	/// window on chain, and nothing is computed or removed for others meanwhile.
	pub fn own_first(&self) -> OwnFirst {
		let mut inner = self.locked();
		inner.own = inner.own.saturating_add(1);
		OwnFirst(self.clone())
	}

	/// Returns what is to be done next. Whoever has work [begins](Self::begin) it and ends it by [`Self::done`].
	pub fn next(&self) -> Next {
		let mut inner = self.locked();
		let inner = &mut *inner;
		if inner.own > 0 {
			return Next::Idle;
		}
		let (mut later, mut work) = (None, None);
		for (job, desk) in &inner.desks {
			let Some(of) = inner.thinned.values().find(|of| of.job == *job) else { continue };
			let behind = desk.wanted.range(desk.cursor..).next();
			let Some(stretch) = behind.or(desk.wanted.first()).copied() else { continue };
			let stays = desk.going().map_or(Duration::ZERO, |(_, stays)| stays);
			if !stays.is_zero() {
				later = Some(later.map_or(stays, |later: Duration| later.min(stays)));
				continue;
			}
			let steps = of.steps_of(stretch);
			work = Some(Work { of: of.clone(), stretch, steps, begun: None });
			break;
		}
		match (work, later) {
			(Some(work), _) => {
				inner.running = Some((work.of.job, work.stretch));
				Next::Work(work)
			}
			(None, Some(later)) => Next::Later(later),
			(None, None) => Next::Idle,
		}
	}

	/// Begins to compute a stretch: makes room for it, where others lie on disk. Returns false where something came
	/// between, since this work waited for its turn on the machine: the trainer itself computes, or what was to go is
	/// fetched. It is to be done still, and [`Self::next`] returns it again.
	pub fn begin(&self, work: &mut Work) -> bool {
		let mut inner = self.locked();
		let inner = &mut *inner;
		let desk = inner.desks.get_mut(&work.of.job).filter(|_| inner.own == 0);
		let going = desk.as_ref().and_then(|desk| desk.going());
		let Some(desk) = desk.filter(|_| going.is_none_or(|(_, stays)| stays.is_zero())) else {
			inner.running = None;
			return false;
		};
		if let Some((going, _)) = going {
			desk.made.remove(&going);
			for file in work.of.files_of(going) {
				// It is removed with the folder of the job.
				if let Err(e) = std::fs::remove_file(&file) {
					tracing::debug!("{}: {e}", file.display());
				}
			}
		}
		desk.wanted.remove(&work.stretch);
		desk.cursor = work.stretch;
		work.begun = Some(Instant::now());
		true
	}

	/// Notes that a stretch was computed, or why it could not be. That counts for nobody then.
	pub fn done(&self, work: &Work, made: Result<(), String>) {
		let mut inner = self.locked();
		inner.running = None;
		let Some(desk) = inner.desks.get_mut(&work.of.job) else { return };
		let first = desk.first.remove(&work.stretch);
		match made {
			Ok(()) => {
				let took = work.begun.map(|begun| begun.elapsed());
				desk.lies_there(work.stretch, took.unwrap_or_default());
				desk.failed.remove(&work.stretch);
			}
			Err(why) => {
				desk.failed.insert(work.stretch, why);
				if let Some(asked) = first.and_then(|who| desk.asked.get_mut(&who)) {
					asked.times = asked.times.saturating_sub(1);
				}
			}
		}
	}
}

/// A state that a reader fetches, until this is dropped.
#[must_use = "the state may be removed as soon as this is dropped"]
pub struct Fetch {
	dropped: Dropped,
	job: JobId,
	stretch: u32,
	/// Which computation of the stretch it is.
	number: u64,
}

impl Drop for Fetch {
	fn drop(&mut self) {
		let mut inner = self.dropped.locked();
		let desk = inner.desks.get_mut(&self.job);
		// It may have been removed, and computed again, under whoever fetched it.
		let made = desk.and_then(|desk| desk.made.get_mut(&self.stretch));
		if let Some(made) = made.filter(|made| made.number == self.number) {
			made.served = Some(Instant::now());
			made.fetches = made.fetches.saturating_sub(1);
		}
	}
}

/// The trainer itself computes or reads states, until this is dropped.
#[must_use = "others have their turn as soon as this is dropped"]
pub struct OwnFirst(Dropped);

impl Drop for OwnFirst {
	fn drop(&mut self) {
		let mut inner = self.0.locked();
		inner.own = inner.own.saturating_sub(1);
		self.0.asked.notify_one();
	}
}

#[cfg(test)]
#[path = "dropped_tests.rs"]
mod tests;
