//! Shares the downloads for jobs that are not taken yet. Strangers post jobs for a fee and name the
//! servers, so these must not keep other jobs away: a submitter has one download at a time, a
//! download that others wait for makes room after its turn, and whoever waits longest is next,
//! submitters first: one that posts many jobs, or new ones again and again, gains nothing. What came
//! of a download is kept, and its next turn goes on from there.

use super::{reconcile::key, Key};
use crate::roles::{
	job::Job,
	plan::{Action, Plan},
	tasks::Tasks,
};
use std::{
	collections::{BTreeMap, BTreeSet, HashMap, HashSet},
	sync::Arc,
	time::{Duration, Instant},
};
use trainyard_client::AccountId32;
use trainyard_protocol::JobId;

/// Downloads at once for jobs that are not taken yet.
const MAX_FETCHES: usize = 2;
/// Time after which a download makes room for one that waits.
const TURN: Duration = Duration::from_secs(300);

/// What happens to the downloads for jobs that are not taken yet.
#[derive(Debug, Default)]
pub(super) struct Turns {
	/// Jobs whose download begins now.
	pub granted: HashSet<JobId>,
	/// The download that makes room. The place is given away when it has ended.
	pub over: Option<Key>,
}

/// Since when jobs wait for a download, as looks at the chain have shown it.
#[derive(Debug, Default)]
pub(super) struct Queue {
	/// When a job was first seen, or seen again after its download failed or made room.
	since: HashMap<Key, Instant>,
	/// When a submitter had a download last.
	served: BTreeMap<AccountId32, Instant>,
}

impl Queue {
	/// Notes that the download of a job runs at `now`.
	fn serve(&mut self, key: &Key, submitter: AccountId32, now: Instant) {
		self.since.remove(key);
		self.served.insert(submitter, now);
	}

	/// Returns since when a job waits that waits at `now`.
	fn wait(&mut self, key: Key, submitter: &AccountId32, now: Instant) -> Instant {
		let since = *self.since.entry(key).or_insert(now);
		self.served.get(submitter).map_or(since, |served| since.max(*served))
	}

	/// Forgets all jobs but these.
	fn retain(&mut self, steps: &[(Arc<Job>, Plan)]) {
		let keys: HashSet<Key> = steps.iter().map(|(job, _)| key(job, Action::Fetch)).collect();
		let submitters: BTreeSet<AccountId32> =
			steps.iter().map(|(job, _)| job.submitter).collect();
		self.since.retain(|key, _| keys.contains(key));
		self.served.retain(|submitter, _| submitters.contains(submitter));
	}
}

/// Decides whose turn it is. A download whose job is gone holds no place any more: the job is not
/// among the `steps`. One whose files have all arrived, as `is_here` returns, only reads them: it
/// ends by itself, and would have to begin again if it made room.
pub(super) fn turns(
	steps: &[(Arc<Job>, Plan)],
	tasks: &Tasks<Key>,
	queue: &mut Queue,
	is_here: impl Fn(&Job) -> bool,
) -> Turns {
	let now = tasks.now();
	let (mut holders, mut waiting) = (Vec::<AccountId32>::new(), Vec::new());
	let mut oldest: Option<(Duration, Key)> = None;
	queue.retain(steps);
	for (job, plan) in steps {
		if plan.involved || !plan.actions.contains(&Action::Fetch) {
			continue;
		}
		let key = key(job, Action::Fetch);
		if let Some(age) = tasks.age(&key) {
			queue.serve(&key, job.submitter, now);
			holders.push(job.submitter);
			if !is_here(job) {
				oldest = oldest.filter(|(older, _)| *older >= age).or(Some((age, key)));
			}
		} else {
			waiting.push((key, job));
		}
	}
	// What was served above counts for all jobs of its submitter.
	let mut waiting: Vec<(Instant, Key, &Arc<Job>)> = waiting
		.into_iter()
		.map(|(key, job)| (queue.wait(key, &job.submitter, now), key, job))
		.collect();
	// Among equals the older job is first.
	waiting.sort_by_key(|(since, _, job)| (*since, job.id));
	let mut turns = Turns::default();
	for (_, key, job) in waiting {
		// One that rests after a failure keeps its place among those that wait.
		if !tasks.is_ready(&key) || holders.contains(&job.submitter) {
			continue;
		}
		if holders.len() < MAX_FETCHES {
			queue.serve(&key, job.submitter, now);
			holders.push(job.submitter);
			turns.granted.insert(job.id);
		} else {
			turns.over = oldest.filter(|(age, _)| *age >= TURN).map(|(_, key)| key);
			break;
		}
	}
	turns
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
