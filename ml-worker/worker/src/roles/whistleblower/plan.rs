//! Decides at which result a whistleblower looks next.

use crate::roles::{
	checked,
	disputes::{driver::is_open, parting::accusable},
};
use trainyard_client::{amount, AccountId32, GroupView, JobView};
use trainyard_program::{
	needs::Needs,
	spec::{CheckedSpec, SpecError},
};
use trainyard_protocol::{
	audit::AuditPhase,
	job::{BlockNumber, WorkResult},
	MicroUt, H256,
};

const MIB: u64 = 1024 * 1024;

/// A result that stands.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
	/// Its job.
	pub job: &'a JobView,
	/// The result.
	pub result: WorkResult,
}

/// The limits of what is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
	/// Most segments of each result.
	pub segments: u32,
	/// Most work of these.
	pub work: MicroUt,
	/// Most bytes of the files that a job reads.
	pub data: u64,
	/// Most memory of a replay, in bytes.
	pub memory: u64,
}

/// Says why a result is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
	/// This program cannot read the job.
	#[error("its specification is invalid: {0}")]
	Spec(SpecError),
	/// One of its segments is too long.
	#[error("a segment has {} ut, more than the {} that are allowed (--max-ut)", amount::format_scaled(u128::from(*.work), 6), amount::format_scaled(u128::from(*.limit), 6))]
	Work {
		/// Of the segment.
		work: MicroUt,
		/// The limit.
		limit: MicroUt,
	},
	/// Its files are too large.
	#[error(
		"its files have {bytes} bytes, more than the {limit} that are allowed (--max-data-mib)"
	)]
	Data {
		/// The job's.
		bytes: u64,
		/// The limit.
		limit: u64,
	},
	/// It does not fit in memory.
	#[error("a replay may need {} MiB of memory, more than the {} that are allowed (--max-memory-mib)", .needed.div_ceil(MIB), .limit / MIB)]
	Memory {
		/// The job's, in bytes.
		needed: u64,
		/// The limit, in bytes.
		limit: u64,
	},
}

impl Limits {
	/// Returns the specification of a job, if one of its results is looked at.
	pub fn check(&self, job: &JobView) -> Result<CheckedSpec, Refusal> {
		let spec = checked(job).map_err(Refusal::Spec)?;
		let work = segment_work(job, &spec);
		if work > self.work {
			return Err(Refusal::Work { work, limit: self.work });
		}
		let bytes = spec.file_bytes();
		if bytes > self.data {
			return Err(Refusal::Data { bytes, limit: self.data });
		}
		let needed = memory(&spec);
		if needed > self.memory {
			return Err(Refusal::Memory { needed, limit: self.memory });
		}
		Ok(spec)
	}

	/// Returns how many segments of each result of a job are replayed: as many as are allowed, and no more
	/// work than is.
	pub fn count(&self, job: &JobView, spec: &CheckedSpec) -> u32 {
		let affordable = self.work.checked_div(segment_work(job, spec)).unwrap_or(MicroUt::MAX);
		self.segments.min(u32::try_from(affordable).unwrap_or(u32::MAX))
	}
}

/// Returns the memory that a replay of a job may need, in bytes.
pub fn memory(spec: &CheckedSpec) -> u64 {
	let counted = Needs::of(spec);
	counted.memory().saturating_add(counted.rows.saturating_mul(2))
}

/// Returns the work of a segment of a job.
fn segment_work(job: &JobView, spec: &CheckedSpec) -> MicroUt {
	job.work / MicroUt::from(spec.segments().max(1))
}

/// Returns the last block in which results of a job can be challenged, if nothing is disputed.
pub fn until(job: &JobView) -> BlockNumber {
	match job.audit.as_ref().map(|audit| audit.phase) {
		Some(AuditPhase::Standing { until }) => until,
		_ => job.late.as_ref().map_or(BlockNumber::MAX, |late| late.until),
	}
}

/// Returns all results that can be challenged, each with its job.
pub fn results<'a>(
	jobs: &'a [&'a JobView],
) -> impl Iterator<Item = (&'a JobView, WorkResult)> + 'a {
	jobs.iter().filter(|job| is_open(job)).flat_map(|job| {
		let groups = job.audit.iter().flat_map(|audit| &audit.groups);
		let is_open = |group: &&GroupView| match job.late {
			None => group.decision.is_none(),
			Some(_) => accusable(job, &group.result).next().is_some(),
		};
		groups.filter(is_open).map(|group| (*job, group.result))
	})
}

/// Returns the results that `me` should look at, the next one first: the one whose window is over first.
/// Not those of which it delivered one, or on whose committee it sits, since it replays them there; and not
/// those that were looked at, as `is_done` returns by the true root: its trainers have it in common.
pub fn next<'a>(
	jobs: &'a [&'a JobView],
	me: &AccountId32,
	is_done: impl Fn(&JobView, H256) -> bool,
) -> Vec<Subject<'a>> {
	let mut found: Vec<Subject<'a>> = results(jobs)
		.filter(|(job, _)| job.replicas.iter().all(|replica| replica.trainer != *me))
		.filter(|(job, _)| {
			let mut seats = job.audit.iter().flat_map(|audit| &audit.committee);
			seats.all(|member| member.verifier != *me)
		})
		.filter(|(job, result)| !is_done(job, result.true_root))
		.map(|(job, result)| Subject { job, result })
		.collect();
	found.sort_by_key(|subject| (until(subject.job), subject.job.id));
	found
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, AuditView, LateView, LockedView, ReplicaView};
	use trainyard_protocol::{
		audit::Decision,
		job::{Ending, Fate, JobState, Reveal},
		JobId, Text,
	};

	fn result(of: u8) -> WorkResult {
		let (bundle_root, model_root) = (H256::repeat_byte(of), H256::repeat_byte(of));
		WorkResult {
			bundle_root,
			true_root: bundle_root,
			model_root,
			segments: 30,
			diverged: false,
		}
	}

	fn job(id: JobId, phase: AuditPhase, results: &[u8]) -> JobView {
		let group = |of: &u8| GroupView {
			result: result(*of),
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
			phase,
			audit_segments: 1,
			lottery: None,
			challenge: 1,
			seed: None,
			groups: results.iter().map(group).collect(),
			committee: vec![],
			rechecks: vec![],
		};
		JobView { id, audit: Some(audit), ..fake::job(JobState::Auditing) }
	}

	#[test]
	fn what_is_over_first_is_looked_at_first() {
		let standing = |until| AuditPhase::Standing { until };
		let me = AccountId32([1; 32]);
		let mut decided = job(5, standing(10), &[6]);
		if let Some(audit) = &mut decided.audit {
			audit.groups[0].decision = Some(Decision::Rejected);
		}
		let commitment = None;
		let mine = ReplicaView { trainer: me, commitment, reveal: None, fate: Fate::Working };
		let own = JobView { replicas: vec![mine], ..job(6, standing(5), &[7]) };
		let mut audits = job(7, standing(4), &[8]);
		if let Some(audit) = &mut audits.audit {
			audit.committee = vec![fake::member(me)];
		}
		let jobs = [
			job(1, standing(90), &[1]),
			job(2, standing(80), &[2, 3]),
			job(3, AuditPhase::Committing { until: 20 }, &[4]),
			job(4, standing(70), &[5]),
			decided,
			own,
			audits,
		];
		let views: Vec<&JobView> = jobs.iter().collect();
		let is_done = |_: &JobView, root| root == result(5).bundle_root;
		let found: Vec<_> = next(&views, &me, is_done)
			.iter()
			.map(|subject| (subject.job.id, subject.result.bundle_root.0[0]))
			.collect();
		assert_eq!(found, [(2, 2), (2, 3), (1, 1)]);
	}

	/// A settled job of two trainers with one result, of whom these can still be accused.
	fn settled(id: JobId, until: u32, open: bool, accusable: &[u8]) -> JobView {
		let replica = |who: u8| {
			let WorkResult { bundle_root, true_root, model_root, segments, diverged } = result(1);
			let location = Text::new("http://127.0.0.1:8600").unwrap();
			let reveal =
				Reveal { bundle_root, true_root, model_root, segments, diverged, location };
			let (trainer, commitment) = (AccountId32([who; 32]), None);
			ReplicaView { trainer, commitment, reveal: Some(reveal), fate: Fate::Accepted }
		};
		let locked = |who: &u8| LockedView { trainer: AccountId32([*who; 32]), locked: 5 };
		let trainers = accusable.iter().map(locked).collect();
		let mut job = job(id, AuditPhase::Done, &[1]);
		if let Some(audit) = &mut job.audit {
			audit.groups[0].decision = Some(Decision::Accepted);
		}
		let late = (!accusable.is_empty()).then_some(LateView { until, open, trainers });
		let state = JobState::Ended(Ending::Settled);
		JobView { state, late, replicas: vec![replica(2), replica(3)], ..job }
	}

	#[test]
	fn what_was_accepted_is_looked_at_while_somebody_can_be_accused() {
		let me = AccountId32([1; 32]);
		let jobs = [
			settled(1, 900, true, &[2, 3]),
			settled(2, 800, true, &[3]),
			settled(3, 700, true, &[]),
			settled(4, 600, false, &[2]),
			settled(5, 500, true, &[9]),
			job(6, AuditPhase::Standing { until: 850 }, &[4]),
		];
		let views: Vec<&JobView> = jobs.iter().collect();
		let found = next(&views, &me, |_, _| false);
		let found: Vec<JobId> = found.iter().map(|subject| subject.job.id).collect();
		assert_eq!(found, [2, 6, 1]);
		let accused: Vec<_> = accusable(&jobs[1], &result(1)).collect();
		assert_eq!(accused, [AccountId32([3; 32])], "the other one is free");
	}

	#[test]
	fn what_is_too_much_is_refused() {
		let job = job(1, AuditPhase::Standing { until: 9 }, &[1]);
		let whole = Limits { segments: 2, work: u64::MAX, data: u64::MAX, memory: u64::MAX };
		let spec = whole.check(&job).unwrap();
		assert_eq!(whole.count(&job, &spec), 2);
		let work = job.work / 30;
		for (limit, count) in [(work, 1), (2 * work - 1, 1), (2 * work, 2), (9 * work, 2)] {
			let limits = Limits { work: limit, ..whole };
			assert!(limits.check(&job).is_ok());
			assert_eq!(limits.count(&job, &spec), count);
		}
		let found = Limits { work: work - 1, ..whole }.check(&job);
		assert_eq!(found, Err(Refusal::Work { work, limit: work - 1 }));
		let found = Limits { data: 1, ..whole }.check(&job);
		assert!(matches!(found, Err(Refusal::Data { limit: 1, .. })));
		let found = Limits { memory: 1, ..whole }.check(&job);
		assert!(matches!(found, Err(Refusal::Memory { limit: 1, .. })));
	}
}
