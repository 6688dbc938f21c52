//! Runs one round of an audit: reaches the verdicts on all its results, and reports them.

use super::{
	examine::DEATHS, findings::rescues, parting::state_in, sources::places, timing, Verifier,
	MARGIN,
};
use crate::roles::{
	checked, display,
	replay::{unexpected, Figures, JobOf, ReplayError, Reply, Work},
	store::{result_folder, Claimed, FindingsRecord},
	tasks::{Outcome, TaskError},
};
use futures::future::join_all;
use serde_json::json;
use std::{
	collections::BTreeMap,
	path::{Path, PathBuf},
	sync::{
		atomic::{AtomicBool, AtomicU32, Ordering},
		Arc,
	},
	time::{Duration, Instant},
};
use tokio::sync::Mutex;
use tracing::debug;
use trainyard_client::{AuditView, JobView};
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::{
	inputs::InputPaths,
	verify::{Contest, VerifyError},
};
use trainyard_protocol::{
	audit::{AuditPhase, Findings, GroupVerdict},
	job::BlockNumber,
	H256,
};

/// Time for the checkpoints of one result that only the rules look at.
const RULES_PATIENCE: Duration = Duration::from_secs(60);

/// What the work of a round has in common.
pub(super) struct Round<'a> {
	/// The job.
	pub job: &'a JobView,
	/// Its specification.
	pub spec: CheckedSpec,
	/// Its audit.
	pub audit: &'a AuditView,
	/// The job's seed.
	pub seed: H256,
	/// Folder of the round.
	pub folder: &'a Path,
	/// When the fetching of results ends.
	pub give_up: Instant,
	/// When the fetching of checkpoints ends that show where a standstill began.
	pub give_up_searched: Instant,
	/// Set once nobody waits for the verdicts any more.
	pub stop: Arc<AtomicBool>,
	/// Height up to which commitments are taken.
	pub until: BlockNumber,
	/// Where the files of the job are, once its data were decoded for one of the results.
	pub inputs: Mutex<Option<InputPaths>>,
	/// How often the process died that decodes the data.
	pub deaths: AtomicU32,
	/// Room for what the results are fetched into.
	pub claims: std::sync::Mutex<Vec<Claimed>>,
}

impl Round<'_> {
	/// Returns the folder of one result.
	pub fn folder_of(&self, index: usize) -> PathBuf {
		result_folder(self.folder, index)
	}

	/// Returns whether it is of no use to decode the data of the job again.
	pub fn cannot_decode(&self) -> bool {
		self.deaths.load(Ordering::Relaxed) >= DEATHS
	}

	/// Fails with [`VerifyError::Stopped`] once nobody waits for the verdicts any more.
	pub fn check(&self) -> Result<(), VerifyError> {
		match self.stop.load(Ordering::Relaxed) {
			true => Err(VerifyError::Stopped),
			false => Ok(()),
		}
	}
}

fn seed_of(job: &JobView) -> Result<H256, TaskError> {
	job.seed.ok_or_else(|| TaskError::failed("the job has no seed"))
}

/// What was found of a result.
struct Found {
	verdict: GroupVerdict,
	report: Option<Figures>,
	took: Duration,
}

impl Verifier {
	/// Fetches and replays every result; the findings are on disk when this ends. Once `stop` is
	/// set, it ends early, with [`VerifyError::Stopped`] and without findings.
	pub(super) async fn audit(
		&self,
		job: &JobView,
		audit: &AuditView,
		folder: &Path,
		best: BlockNumber,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let AuditPhase::Committing { until } = audit.phase else {
			return Err(TaskError::failed("commitments are not taken"));
		};
		let blocks = until.saturating_sub(best).saturating_sub(MARGIN);
		let window = self.block_time.saturating_mul(blocks);
		let replaying = timing::replaying(job, audit, self.capacity, self.block_time);
		let fetching = timing::fetching(window, replaying);
		let now = Instant::now();
		let give_up_searched = now + timing::searching(window, fetching);
		let round = Round {
			job,
			spec: checked(job)?,
			audit,
			seed: seed_of(job)?,
			folder,
			// What is fetched last must still be replayed.
			give_up: now + fetching,
			give_up_searched,
			stop,
			until,
			inputs: Mutex::default(),
			deaths: AtomicU32::default(),
			claims: Default::default(),
		};
		let text = format!(
			"audit, round {}: {} result(s), {}",
			audit.round,
			audit.groups.len(),
			display::drawn(&audit.groups)
		);
		let drawn: Vec<&[u32]> = audit.groups.iter().map(|group| &group.drawn[..]).collect();
		let fields = json!({ "round": audit.round, "drawn": drawn });
		self.report.job(job.id, "audit", &text, fields);

		let open = audit.groups.iter().enumerate().filter(|(_, group)| group.decision.is_none());
		let open: Vec<usize> = open.map(|(index, _)| index).collect();
		let shared = &round;
		// All are examined at once: a server that stalls takes the time of no other result.
		let examining = open.into_iter().map(|index| async move {
			let begun = Instant::now();
			let examined = self.examine(shared, index).await;
			(index, examined, begun.elapsed())
		});
		let mut found = BTreeMap::new();
		for (index, examined, took) in join_all(examining).await {
			let (verdict, report) = examined?;
			found.insert(index, Found { verdict, report, took });
		}
		self.settle_partings(&round, give_up_searched, &mut found).await?;
		for (index, found) in &found {
			self.report_verdict(job, audit, *index, found);
		}
		// It was decided in an earlier round: no verdict is asked for, but its place counts.
		let verdict = |index: usize| {
			found.get(&index).map_or(GroupVerdict::Unavailable, |f| f.verdict.clone())
		};
		let verdicts: Vec<_> = (0..audit.groups.len()).map(verdict).collect();
		let findings = Findings::try_from(verdicts).map_err(|v| {
			TaskError::failed(format!("{} results are more than a job has", v.len()))
		})?;
		let made = FindingsRecord {
			rescues: rescues(audit),
			..FindingsRecord::new(job.id, audit.round, findings)
		};
		let record = self.following(job, audit, made, self.home.load_findings(folder)?);
		// The salt is on disk before anything is sent.
		self.home.save_findings(folder, &record)?;
		Ok(())
	}

	/// Compares the results that pass by themselves with each other: at most one is true.
	async fn settle_partings(
		&self,
		round: &Round<'_>,
		give_up: Instant,
		found: &mut BTreeMap<usize, Found>,
	) -> Outcome {
		let passed: Vec<(usize, PathBuf)> = found
			.iter()
			.filter(|(_, found)| matches!(found.verdict, GroupVerdict::Accept(_)))
			.map(|(index, _)| (*index, round.folder_of(*index)))
			.collect();
		let inputs = round.inputs.lock().await.clone();
		let (Some(inputs), true) = (inputs, passed.len() > 1) else { return Ok(()) };
		let job = round.job;
		let mut contest = Contest::judged_elsewhere(&round.spec, round.seed, &passed)?;
		while let Some(segment) = contest.parting() {
			if let Some(file) = contest.wanted() {
				self.fetch_common(round, &contest, &file, give_up).await;
				self.withdraw_common(round, &contest, &file).await;
			}
			let rivals = contest.rivals().map(|(index, dir)| (index, dir.to_owned())).collect();
			let of = JobOf::new(&round.spec, round.seed, inputs.clone());
			let work = Work::Judge { job: of, rivals };
			let judged = match self.replayers.run(work, round.until, &round.stop).await {
				Ok(Reply::Judged(judged)) => judged,
				Ok(other) => return Err(unexpected(&other).into()),
				Err(ReplayError::Died(how)) => {
					self.cannot_judge(round, &contest, segment, &how, found);
					break;
				}
				Err(error) => return Err(error.into()),
			};
			let Some((segment, rejected)) = judged else {
				// A rescued result has shown everything that the chain asks of it; a trainer with a
				// server serves every checkpoint.
				let left: Vec<usize> = contest.rivals().map(|(index, _)| index).collect();
				let text = format!(
					"results {left:?} differ from segment {segment} on, but nobody has the state \
					 before it: those that are not rescued are unavailable"
				);
				let fields =
					json!({ "round": round.audit.round, "segment": segment, "results": left });
				let parting = contest.wanted().and_then(|file| state_in(&round.spec, &file));
				let mut waits = false;
				for index in &left {
					if let (Some(group), Some(piece)) = (round.audit.groups.get(*index), parting) {
						waits |= self.ask(round, group, *index, &[piece]).await?;
					}
				}
				if waits {
					let text = "a state is not here yet in which results begin to differ";
					return Err(TaskError::Transient(text.to_owned()));
				}
				for index in left {
					let rescued =
						round.audit.groups.get(index).is_some_and(|g| !g.rescued.is_empty());
					if let (Some(found), false) = (found.get_mut(&index), rescued) {
						found.verdict = GroupVerdict::Unavailable;
					}
				}
				self.report.job(job.id, "parting_open", &text, fields);
				break;
			};
			contest.take_out(&rejected);
			let false_ones: Vec<usize> = rejected.iter().map(|(index, _)| *index).collect();
			let text = format!("results part in segment {segment}: false are {false_ones:?}");
			let fields =
				json!({ "round": round.audit.round, "segment": segment, "rejected": false_ones });
			self.report.job(job.id, "parting", &text, fields);
			for (index, reason) in rejected {
				if let Some(found) = found.get_mut(&index) {
					found.verdict = GroupVerdict::Reject(reason);
				}
			}
		}
		Ok(())
	}

	/// Notes that results part in `segment`, which cannot be replayed here: at most one is true, and
	/// nothing can be said of any.
	fn cannot_judge(
		&self,
		round: &Round<'_>,
		contest: &Contest,
		segment: u32,
		how: &str,
		found: &mut BTreeMap<usize, Found>,
	) {
		let left: Vec<usize> = contest.rivals().map(|(index, _)| index).collect();
		let text =
			format!("results {left:?} part in segment {segment}, and all are unavailable: {how}");
		let fields = json!({ "action": "replay", "reason": how, "results": left });
		self.report.job(round.job.id, "failed_attempt", &text, fields);
		for index in left {
			if let Some(found) = found.get_mut(&index) {
				found.verdict = GroupVerdict::Unavailable;
			}
		}
	}

	fn report_verdict(&self, job: &JobView, audit: &AuditView, index: usize, found: &Found) {
		let Found { verdict, report, took } = found;
		if let Some(report) = report {
			let took = Duration::from_secs_f64(report.seconds.max(0.0));
			self.report.metrics().ran(u128::from(report.flop), took);
		}
		let replayed = report.as_ref().map_or(0, |r| r.segments);
		let share = report.as_ref().map_or(0.0, |r| r.share);
		let replay_seconds = report.as_ref().map_or(0.0, |r| r.seconds);
		let text = format!(
			"result {index}: {} ({replayed} segments replayed in {replay_seconds:.2} s, {:.1} % of \
			 the training's work)",
			display::verdict_in_full(verdict),
			share * 100.0,
		);
		let fields = json!({
			"round": audit.round,
			"result": index,
			"bundle_root": audit.groups.get(index).map(|g| g.result.bundle_root),
			"verdict": display::verdict(verdict),
			"reason": display::verdict_in_full(verdict),
			"segments": replayed,
			"drawn": audit.groups.get(index).map(|g| &g.drawn),
			"share": share,
			"replay_seconds": replay_seconds,
			"seconds": took.as_secs_f64(),
		});
		self.report.job(job.id, "verdict", &text, fields);
	}

	/// Computes the six full-pass rules on the results that were accepted, if all their checkpoints
	/// can be had. They decide nothing, so nothing waits for them.
	pub(super) async fn assess(
		&self,
		job: &JobView,
		audit: &AuditView,
		found: &FindingsRecord,
		folder: &Path,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let (seed, checked) = (seed_of(job)?, checked(job)?);
		for (index, (verdict, group)) in found.findings.iter().zip(&audit.groups).enumerate() {
			if !matches!(verdict, GroupVerdict::Accept(_)) {
				continue;
			}
			let dir = result_folder(folder, index);
			let Ok(_claimed) = self.claim(&checked, group, &dir)? else {
				debug!("result {index}: there is no room for the checkpoints for the rules");
				continue;
			};
			let fetching = self.fetch_others(job, &checked, &group.result, &dir);
			if tokio::time::timeout(RULES_PATIENCE, fetching).await.is_err() {
				debug!("result {index}: the checkpoints for the rules come too slowly");
			}
			let places = places(&self.home, &checked, &dir);
			let spec = checked.clone();
			let paths = move || InputPaths::first_right(&spec, &places);
			let paths = tokio::task::spawn_blocking(paths).await?;
			let work = Work::Rules { job: JobOf::new(&checked, seed, paths), dir };
			// Nothing waits for it, so that whatever has a deadline is first.
			match self.replayers.run(work, BlockNumber::MAX, &stop).await {
				Ok(Reply::Rules(applied, kept, rules)) => {
					let text = format!(
						"result {index}: {kept} of {applied} full-pass rules kept; they decide nothing"
					);
					let fields = json!({
						"round": audit.round,
						"result": index,
						"rules": rules,
					});
					self.report.job(job.id, "rules", &text, fields);
				}
				Ok(other) => return Err(unexpected(&other).into()),
				Err(ReplayError::Stopped) => return Err(TaskError::Stopped),
				Err(e) => debug!("job {}: no rules for result {index}: {e}", job.id),
			}
		}
		Ok(())
	}
}

#[cfg(test)]
#[path = "round_tests.rs"]
mod tests;
