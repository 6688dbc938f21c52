//! Runs one round of an audit: reaches the verdicts on all its results, and reports them.

use super::{
	examine::DEATHS,
	findings::rescues,
	lots::{Draw, Lot},
	parting::state_in,
	sources::places,
	timing, Verifier, MARGIN,
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
	collections::{BTreeMap, BTreeSet},
	path::{Path, PathBuf},
	sync::{
		atomic::{AtomicBool, AtomicU32, Ordering},
		Arc,
	},
	time::{Duration, Instant},
};
use tokio::sync::Mutex;
use tracing::debug;
use trainyard_client::{AccountId32, AuditView, Findings, GroupVerdict, GroupView, JobView};
use trainyard_program::spec::CheckedSpec;
use trainyard_proof::{
	inputs::InputPaths,
	verify::{self, Contest, Verdict, VerifyError},
};
use trainyard_protocol::{
	accusation::Peaks,
	audit::{AuditPhase, Paths, Replayed, SegmentEvidence},
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
	/// The draw of this seat.
	pub draw: Draw,
	/// What this seat replays of each result.
	pub lots: Vec<Lot>,
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

/// Least blocks that are left for a replay while results stand, whatever the phase says: the window is open as
/// long as something is disputed.
const LEAST_WINDOW: BlockNumber = 60;

/// An audit whose results stand.
#[derive(Clone, Copy)]
pub(super) struct Standing<'a> {
	/// The job.
	pub job: &'a JobView,
	/// Its audit.
	pub audit: &'a AuditView,
	/// Folder of the round.
	pub folder: &'a Path,
	/// Height up to which results stand.
	pub until: BlockNumber,
	/// The best block.
	pub best: BlockNumber,
}

impl Verifier {
	/// Returns the round of an audit whose results stand, of which this seat replays these lots.
	pub(super) fn round_of<'a>(
		&self,
		Standing { job, audit, folder, until, best }: Standing<'a>,
		(draw, lots): (Draw, Vec<Lot>),
		stop: Arc<AtomicBool>,
	) -> Result<Round<'a>, TaskError> {
		let until = until.max(best.saturating_add(LEAST_WINDOW));
		let blocks = until.saturating_sub(best).saturating_sub(MARGIN);
		let window = self.block_time.saturating_mul(blocks);
		let now = Instant::now();
		Ok(Round {
			job,
			spec: checked(job)?,
			audit,
			seed: seed_of(job)?,
			folder,
			draw,
			lots,
			give_up: now + window / 2,
			give_up_searched: now + window / 4 * 3,
			stop,
			until,
			inputs: Default::default(),
			deaths: Default::default(),
			claims: Default::default(),
		})
	}
}

impl Round<'_> {
	/// Returns the folder of one result.
	pub fn folder_of(&self, index: usize) -> PathBuf {
		result_folder(self.folder, index)
	}

	/// Returns the checkpoint files that this seat reads of one result, as far as that is known.
	pub fn needed(&self, index: usize) -> Vec<String> {
		let (group, lot) = (self.audit.groups.get(index), self.lots.get(index));
		group.zip(lot).map_or_else(Vec::new, |(group, lot)| {
			verify::required_files_of(&self.spec, group.result.segments, &lot.segments())
		})
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

pub(super) fn seed_of(job: &JobView) -> Result<H256, TaskError> {
	job.seed.ok_or_else(|| TaskError::failed("the job has no seed"))
}

/// What was found of a result.
struct Found {
	verdict: Verdict,
	/// The segments where it parts from others.
	parts: BTreeSet<u32>,
	report: Option<Figures>,
	took: Duration,
}

impl Found {
	/// Adds what was replayed where the result parts from others.
	fn add_part(&mut self, evidence: SegmentEvidence) {
		let Verdict::Replayed(all) = &mut self.verdict else { return };
		self.parts.insert(evidence.segment);
		if let Err(at) = all.binary_search_by_key(&evidence.segment, |e| e.segment) {
			all.insert(at, evidence);
		}
	}
}

/// Returns whom the seat number `seat` accuses of a result: those whose bundle it is are shared out among the
/// seats, without those who were convicted already. Others who delivered the same result are accused when
/// their bundles were opened.
pub(super) fn accused(job: &JobView, group: &GroupView, seat: usize) -> Option<AccountId32> {
	let delivered = job.replicas.iter().filter(|replica| {
		let revealed = replica.reveal.as_ref().map(|reveal| reveal.result());
		revealed == Some(group.result) && !group.convicted.contains(&replica.trainer)
	});
	let trainers: Vec<AccountId32> = delivered.map(|replica| replica.trainer).collect();
	trainers.get(seat.checked_rem(trainers.len())?).copied()
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
		let (spec, seed) = (checked(job)?, seed_of(job)?);
		let audit = &self.choose((job, &spec, seed), audit, folder).await;
		let blocks = until.saturating_sub(best).saturating_sub(MARGIN);
		let window = self.block_time.saturating_mul(blocks);
		let replaying = timing::replaying(job, audit, self.capacity, self.block_time);
		let fetching = timing::fetching(window, replaying);
		let now = Instant::now();
		let give_up_searched = now + timing::searching(window, fetching);
		let draw = self.draw(job, audit)?;
		let round = Round {
			job,
			spec,
			audit,
			seed,
			folder,
			draw,
			lots: self.lots(draw, audit),
			// What is fetched last must still be replayed.
			give_up: now + fetching,
			give_up_searched,
			stop,
			until,
			inputs: Mutex::default(),
			deaths: AtomicU32::default(),
			claims: Default::default(),
		};
		let drawn: Vec<Vec<u32>> = round.lots.iter().map(Lot::segments).collect();
		let text = format!(
			"audit, round {}: {} result(s), seat {} replays {drawn:?}",
			audit.round,
			audit.groups.len(),
			draw.seat
		);
		let fields = json!({ "round": audit.round, "seat": draw.seat, "drawn": drawn });
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
			let parts = BTreeSet::new();
			found.insert(index, Found { verdict, parts, report, took });
		}
		self.settle_partings(&round, give_up_searched, &mut found).await?;
		let (findings, paths) = self.findings(&round, &found).await?;
		for (index, found) in &found {
			if let (Some(verdict), Some(lot)) =
				(findings.verdicts.get(*index), round.lots.get(*index))
			{
				self.report_verdict(&round, (*index, lot), verdict, found);
			}
		}
		let made = FindingsRecord {
			rescues: rescues(audit),
			..FindingsRecord::new(job.id, audit.round, findings, paths)
		};
		let record = self.following(job, audit, made, self.home.load_findings(folder)?);
		// The salt is on disk before anything is sent.
		self.home.save_findings(folder, &record)?;
		Ok(())
	}

	/// Makes the findings of a round, and the paths of their evidence.
	async fn findings(
		&self,
		round: &Round<'_>,
		found: &BTreeMap<usize, Found>,
	) -> Result<(Findings, Paths), TaskError> {
		let (mut verdicts, mut paths) = (Vec::new(), Vec::new());
		for (index, group) in round.audit.groups.iter().enumerate() {
			let said = found.get(&index).zip(round.lots.get(index));
			verdicts.push(match said.map(|(found, lot)| (&found.verdict, found, lot)) {
				Some((Verdict::Replayed(evidence), found, lot)) => {
					let (replayed, mine) = replayed(round, index, evidence, &found.parts, lot)?;
					paths.extend(mine);
					GroupVerdict::Replayed(replayed)
				}
				Some((Verdict::False(charge), ..)) => {
					let (dir, seat) = (round.folder_of(index), round.draw.seat);
					match self.charged(round.job, group, (&dir, seat), charge).await {
						Some((account, charge)) => GroupVerdict::Rejected(charge.against(account)),
						None => GroupVerdict::Unavailable,
					}
				}
				// One that was decided in an earlier round has its place all the same.
				Some((Verdict::Unavailable, ..)) | None => GroupVerdict::Unavailable,
			});
		}
		let many = || TaskError::failed("there are more results than a job has");
		let verdicts = verdicts.try_into().map_err(|_| many())?;
		let paths = paths.try_into().map_err(|_| many())?;
		Ok((Findings { draw: round.draw.signature, verdicts }, paths))
	}

	/// Compares the results that pass by themselves with each other: at most one is true. Where that
	/// cannot be found out, what was replayed of each stays true: as long as two results stand, none is
	/// accepted.
	async fn settle_partings(
		&self,
		round: &Round<'_>,
		give_up: Instant,
		found: &mut BTreeMap<usize, Found>,
	) -> Outcome {
		let passed: Vec<(usize, PathBuf)> = found
			.iter()
			.filter(|(_, found)| matches!(found.verdict, Verdict::Replayed(_)))
			.map(|(index, _)| (*index, round.folder_of(*index)))
			.collect();
		let inputs = round.inputs.lock().await.clone();
		let (Some(inputs), true) = (inputs, passed.len() > 1) else { return Ok(()) };
		let job = round.job;
		let mut contest = Contest::judged_elsewhere(&round.spec, round.seed, &passed)?;
		let mut tried = BTreeSet::new();
		while let Some(segment) = contest.parting() {
			if let Some(file) = contest.wanted().filter(|file| tried.insert(file.clone())) {
				self.fetch_common(round, &contest, &file, give_up).await;
				self.withdraw_common(round, &contest, &file).await;
			}
			let rivals = contest.rivals().map(|(index, dir)| (index, dir.to_owned())).collect();
			let of = JobOf::new(&round.spec, round.seed, inputs.clone());
			let work = Work::Judge { job: of, rivals };
			// Who is false by this is accused, so it is not left to a GPU.
			let processor = self.replayers.on_processor();
			let replayers = processor.as_ref().unwrap_or(&self.replayers);
			let (evidence, charged) = match replayers.run(work, round.until, &round.stop).await {
				Ok(Reply::Judged(Some(judged))) => judged,
				Ok(Reply::Judged(None)) => break,
				Ok(Reply::Wants(files)) => {
					let Some(file) = files.first() else { break };
					if tried.insert(file.clone()) {
						self.fetch_common(round, &contest, file, give_up).await;
						continue;
					}
					self.parting_open(round, &contest, segment, file).await?;
					break;
				}
				Ok(other) => return Err(unexpected(&other).into()),
				Err(ReplayError::Died(how)) => {
					self.cannot_judge(round, &contest, segment, &how);
					break;
				}
				Err(error) => return Err(error.into()),
			};
			contest.take_out(&charged);
			let false_ones: Vec<usize> = charged.iter().map(|(index, _)| *index).collect();
			let segment = evidence.segment;
			let text = format!("results part in segment {segment}: false are {false_ones:?}");
			let fields =
				json!({ "round": round.audit.round, "segment": segment, "rejected": false_ones });
			self.report.job(job.id, "parting", &text, fields);
			for (index, charge) in charged {
				if let Some(found) = found.get_mut(&index) {
					found.verdict = Verdict::False(Box::new(charge));
				}
			}
			for (index, _) in contest.rivals() {
				if let Some(found) = found.get_mut(&index) {
					found.add_part(evidence);
				}
			}
		}
		Ok(())
	}

	/// Notes that results part in `segment`, and that nobody has a state before it. Asks for that on
	/// chain; fails if it is worth to wait.
	async fn parting_open(
		&self,
		round: &Round<'_>,
		contest: &Contest,
		segment: u32,
		file: &str,
	) -> Outcome {
		let left: Vec<usize> = contest.rivals().map(|(index, _)| index).collect();
		let mut waits = false;
		for index in &left {
			let group = round.audit.groups.get(*index);
			if let (Some(group), Some(piece)) = (group, state_in(&round.spec, file)) {
				waits |= self.ask(round, group, *index, &[piece]).await?;
			}
		}
		if waits {
			let text = "a state is not here yet in which results begin to differ";
			return Err(TaskError::Transient(text.to_owned()));
		}
		let text = format!(
			"results {left:?} differ from segment {segment} on, but nobody has {file}: at most one of \
			 them is true"
		);
		let fields = json!({ "round": round.audit.round, "segment": segment, "results": left });
		self.report.job(round.job.id, "parting_open", &text, fields);
		Ok(())
	}

	/// Notes that results part in `segment`, which cannot be replayed here: at most one is true.
	fn cannot_judge(&self, round: &Round<'_>, contest: &Contest, segment: u32, how: &str) {
		let left: Vec<usize> = contest.rivals().map(|(index, _)| index).collect();
		let text = format!(
			"results {left:?} part in segment {segment}, which cannot be replayed here: {how}"
		);
		let fields = json!({ "action": "replay", "reason": how, "results": left });
		self.report.job(round.job.id, "failed_attempt", &text, fields);
	}

	fn report_verdict(
		&self,
		round: &Round<'_>,
		(index, lot): (usize, &Lot),
		verdict: &GroupVerdict,
		found: &Found,
	) {
		let Found { report, took, parts, .. } = found;
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
			"round": round.audit.round,
			"result": index,
			"bundle_root": round.audit.groups.get(index).map(|g| g.result.bundle_root),
			"verdict": display::verdict(verdict),
			"reason": display::verdict_in_full(verdict),
			"segments": replayed,
			"drawn": lot.segments(),
			"moved": lot.moved(),
			"parts": parts,
			"share": share,
			"replay_seconds": replay_seconds,
			"seconds": took.as_secs_f64(),
		});
		self.report.job(round.job.id, "verdict", &text, fields);
	}

	/// Computes the six full-pass rules on the results in which nothing was found false, if all their checkpoints
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
		for (index, (verdict, group)) in
			found.findings.verdicts.iter().zip(&audit.groups).enumerate()
		{
			if !matches!(verdict, GroupVerdict::Replayed(_)) {
				continue;
			}
			let dir = result_folder(folder, index);
			let Ok(_claimed) = self.claim(audit, &checked, group, &dir)? else {
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

/// Makes the evidence of one result what the chain takes, with its paths: it is of exactly the segments
/// that this seat must replay, and leads to the revealed root.
fn replayed(
	round: &Round<'_>,
	index: usize,
	evidence: &[SegmentEvidence],
	parts: &BTreeSet<u32>,
	lot: &Lot,
) -> Result<(Replayed, Vec<Peaks>), TaskError> {
	let wrong = || TaskError::failed(format!("result {index}: the evidence is not what is due"));
	let segments: Vec<u32> = evidence.iter().map(|e| e.segment).collect();
	let revealed = verify::revealed(&round.folder_of(index), evidence)?.ok_or_else(wrong)?;
	let (evidence, paths): (Vec<SegmentEvidence>, Vec<Peaks>) = revealed.into_iter().unzip();
	let group = round.audit.groups.get(index).ok_or_else(wrong)?;
	let result = group.result;
	// In which of the bundles of this result it looked.
	let bundle = group.bundles.iter().position(|bundle| bundle.root == result.bundle_root);
	let agrees = evidence.iter().zip(&paths).all(|(e, path)| e.agrees(&result, path));
	if !agrees || lot.waits_for_pick() || segments != lot.with_parts(parts) {
		return Err(wrong());
	}
	let parts: Vec<u32> = parts.iter().copied().collect();
	let replayed = Replayed {
		bundle: bundle.unwrap_or_default() as u32,
		evidence: evidence.try_into().map_err(|_| wrong())?,
		moved: lot.moved(),
		parts: parts.try_into().map_err(|_| wrong())?,
	};
	Ok((replayed, paths))
}

#[cfg(test)]
#[path = "round_tests.rs"]
mod tests;
