//! Settled jobs that a whistleblower looks at: in the week after the settlement what was accepted can
//! still be challenged.

use std::collections::{BTreeSet, HashSet};
use trainyard_client::{Chain, ChainError, Head, JobView};
use trainyard_protocol::{job::BlockNumber, JobId};

/// Blocks between two looks at which settled jobs there are.
const EVERY: BlockNumber = 20;
/// Most settled jobs that are considered at a time.
const AT_ONCE: usize = 8;

/// The settled jobs that wait to be looked at.
pub struct LateJobs {
	/// Whether any are.
	looks: bool,
	/// At which block it was asked which there are.
	listed: Option<BlockNumber>,
	/// Those that there were, and that were not looked at, the most urgent first.
	waiting: Vec<JobId>,
	/// Those of which nothing is left to look at.
	over: HashSet<JobId>,
}

impl LateJobs {
	/// Makes the list, which stays empty unless somebody `looks`.
	pub fn new(looks: bool) -> Self {
		Self { looks, listed: None, waiting: Vec::new(), over: HashSet::new() }
	}

	fn is_due(&self, now: BlockNumber) -> bool {
		let is_fresh = |at: BlockNumber| at <= now && now < at.saturating_add(EVERY);
		self.looks && !self.listed.is_some_and(is_fresh)
	}

	/// Takes over which jobs there are now.
	fn list(&mut self, jobs: Vec<JobId>, now: BlockNumber) {
		self.over.retain(|job| jobs.contains(job));
		self.waiting = jobs.into_iter().filter(|job| !self.over.contains(job)).collect();
		self.listed = Some(now);
	}

	/// Notes that a job is not looked at any more.
	fn drop(&mut self, job: JobId) {
		self.over.insert(job);
		self.waiting.retain(|other| *other != job);
	}

	/// Returns the settled jobs that matter at block `head`: those in `carried`, about which there are
	/// accusations, and some that wait and of which not everything `is_over`.
	pub async fn look(
		&mut self,
		chain: &Chain,
		head: &Head,
		carried: &BTreeSet<JobId>,
		is_over: impl Fn(&JobView) -> bool,
	) -> Result<Vec<JobView>, ChainError> {
		let mut views = Vec::new();
		for job in carried {
			views.extend(chain.job(*job).await?.filter(|view| view.late.is_some()));
		}
		if self.is_due(head.number) {
			let jobs = chain.late_jobs(head).await?;
			self.list(jobs, head.number);
		}
		let most = views.len().saturating_add(AT_ONCE);
		for job in self.waiting.clone() {
			if views.len() >= most {
				break;
			}
			if carried.contains(&job) {
				continue;
			}
			match chain.job(job).await? {
				Some(view)
					if view.late.as_ref().is_some_and(|late| late.open) && !is_over(&view) =>
				{
					views.push(view);
				}
				_ => self.drop(job),
			}
		}
		Ok(views)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn nothing_is_listed_twice_that_is_over() {
		let mut late = LateJobs::new(true);
		assert!(late.is_due(100));
		late.list(vec![7, 3, 9], 100);
		assert!(!late.is_due(100) && !late.is_due(119) && late.is_due(120));
		assert!(late.is_due(99), "a reorganisation");
		late.drop(3);
		assert_eq!(late.waiting, [7, 9]);
		late.list(vec![3, 9, 12], 120);
		assert_eq!(late.waiting, [9, 12]);
		// It is forgotten with the job.
		late.list(vec![12], 140);
		assert!(late.over.is_empty());
	}

	#[test]
	fn who_does_not_look_lists_nothing() {
		assert!(!LateJobs::new(false).is_due(100));
	}
}
