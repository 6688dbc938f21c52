//! Divides the time for commitments between fetching and replaying.

use super::lots::most_segments;
use std::time::Duration;
use trainyard_client::{AuditView, JobView};
use trainyard_protocol::{job::BlockNumber, MicroUt};

/// Blocks of the time for a verdict, in which a verifier replays as much as it declares by
/// `--capacity-ut`.
const VERDICT_BLOCKS: BlockNumber = 120;

/// Returns how long the segments take that a seat replays of all results that are not decided, on a
/// machine that replays `capacity` in the time for a verdict.
pub(super) fn replaying(
	job: &JobView,
	audit: &AuditView,
	capacity: MicroUt,
	block_time: Duration,
) -> Duration {
	let segments = u128::from(job.spec.segments().max(1));
	let open = audit.groups.iter().filter(|group| group.decision.is_none());
	let most = most_segments(audit);
	let drawn: u128 = open.map(|group| u128::from(most.min(group.result.trained()))).sum();
	let work = u128::from(job.training).saturating_mul(drawn) / segments;
	let verdict = block_time.saturating_mul(VERDICT_BLOCKS).as_nanos();
	let nanoseconds = work.saturating_mul(verdict) / u128::from(capacity.max(1));
	Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}

/// Returns for how long results are fetched in `window`, before what is missing is asked for: what is
/// left is half as much again as the `replay` takes, but a quarter of the window at least and three
/// quarters at most.
pub(super) fn fetching(window: Duration, replay: Duration) -> Duration {
	let left = replay.saturating_mul(3) / 2;
	window.saturating_sub(left).clamp(window / 4, window / 4 * 3)
}

/// Returns for how long states are fetched in `window` that only a replay shows to be needed, or a
/// comparison of results: for half of what the fetching of results leaves, or longer where that
/// began early.
pub(super) fn searching(window: Duration, fetching: Duration) -> Duration {
	(window.saturating_add(fetching) / 2).max(window / 4 * 3)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, GroupView};
	use trainyard_protocol::{
		audit::{AuditPhase, Decision},
		job::{JobState, WorkResult},
		H256,
	};

	const BLOCK: Duration = Duration::from_secs(6);

	fn seconds(n: u64) -> Duration {
		Duration::from_secs(n)
	}

	#[test]
	fn a_replay_takes_what_was_declared() {
		let result = WorkResult {
			bundle_root: H256::zero(),
			true_root: H256::zero(),
			model_root: H256::zero(),
			segments: 30,
			diverged: false,
		};
		let group = |decision| GroupView { decision, ..fake::group(result) };
		// Each seat draws one, and has two by its duties at most.
		let audit =
			|groups| AuditView { audit_segments: 1, ..fake::audit(AuditPhase::Done, groups) };
		// Three segments of thirty are a tenth of the training.
		let job = JobView { training: 60_000_000, ..fake::job(JobState::Auditing) };
		assert_eq!(job.spec.segments(), 30);
		let time = |groups, capacity| replaying(&job, &audit(groups), capacity, BLOCK);
		assert_eq!(time(vec![group(None)], 6_000_000), seconds(720));
		assert_eq!(time(vec![group(None)], 12_000_000), seconds(360));
		let two = vec![group(None), group(None)];
		assert_eq!(time(two, 12_000_000), seconds(720));
		let decided = vec![group(None), group(Some(Decision::Unavailable))];
		assert_eq!(time(decided, 12_000_000), seconds(360));
		assert_eq!(time(vec![], 12_000_000), Duration::ZERO);
		assert!(time(vec![group(None)], 0) > seconds(1_000_000));
	}

	/// Half of the window was too little for those who fetch much and replay little, and too much for
	/// those who have declared all that they can.
	#[test]
	fn what_is_left_after_fetching_is_half_as_much_again_as_the_replay_takes() {
		let window = seconds(720);
		for (replay, expected) in [(0, 540), (60, 540), (120, 540), (200, 420), (360, 180)] {
			assert_eq!(fetching(window, seconds(replay)), seconds(expected), "{replay}");
		}
		assert_eq!(fetching(window, Duration::MAX), seconds(180));
		assert_eq!(fetching(Duration::ZERO, seconds(60)), Duration::ZERO);
		assert_eq!(searching(window, seconds(540)), seconds(630));
		assert_eq!(searching(window, seconds(180)), seconds(540));
	}
}
