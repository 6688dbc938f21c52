//! Shares the downloads for jobs that are not taken yet. Strangers post jobs for a fee and name the
//! servers, so these must not keep other jobs away: a submitter has one download at a time, a
//! download that others wait for makes room after its turn, and one that failed or made room waits
//! for those that did so less often. What came of it is kept, and its next turn goes on from there.

use super::{reconcile::key, Key};
use crate::roles::{
	job::Job,
	plan::{Action, Plan},
	tasks::Tasks,
};
use std::{collections::HashSet, sync::Arc, time::Duration};
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

/// Decides whose turn it is. A download whose job is gone holds no place any more: the job is not
/// among the `steps`.
pub(super) fn turns(steps: &[(Arc<Job>, Plan)], tasks: &Tasks<Key>) -> Turns {
	let (mut holders, mut waiting) = (Vec::<AccountId32>::new(), Vec::new());
	let mut oldest: Option<(Duration, Key)> = None;
	for (job, plan) in steps {
		if plan.involved || !plan.actions.contains(&Action::Fetch) {
			continue;
		}
		let key = key(job, Action::Fetch);
		if let Some(age) = tasks.age(&key) {
			holders.push(job.submitter);
			oldest = oldest.filter(|(older, _)| *older >= age).or(Some((age, key)));
		} else if tasks.is_ready(&key) {
			waiting.push((tasks.failures(&key), job));
		}
	}
	// Among equals the older job is first.
	waiting.sort_by_key(|(failures, job)| (*failures, job.id));
	let mut turns = Turns::default();
	for (_, job) in waiting {
		if holders.contains(&job.submitter) {
			continue;
		}
		if holders.len() < MAX_FETCHES {
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
