//! Sees units of drilling through: computes each once, commits to it, and reveals it. A driller
//! does so with the units that it is assigned, a verifier with those that it must recompute.

use super::{
	common::{
		lost,
		stored::{self, StoredError},
	},
	machine::{Class, Machine, Need},
	replay::{unexpected, Queue, Replayers, Reply, Scale, Work},
	report::Reporter,
	run::Base,
	store::{Claimed, Home, Salt, Space, UnitRecord},
	tasks::{stopped, Outcome, StopOnDrop, TaskError},
};
use crate::table::grouped;
use codec::Encode;
use serde_json::json;
use std::{
	collections::{BTreeMap, HashMap, HashSet},
	sync::{atomic::AtomicBool, Arc, MutexGuard},
	time::{Duration, Instant},
};
use tokio::sync::Mutex;
use tracing::info;
use trainyard_client::{calls, AssignmentView, Call, Chain, Head, ProjectView, Transactor};
use trainyard_program::{
	spec::{CheckedSpec, FileRef},
	units::MICRO_UT_PER_UT,
};
use trainyard_proof::{
	drill::{self, Options, Unit},
	hash,
	inputs::Inputs,
};
use trainyard_protocol::{
	drill::{commitment, AssignmentId, Template, TrialData, UnitPhase, UnitResult},
	job::BlockNumber,
	MicroUt, H256,
};

/// Time between two lines about the progress of a long unit.
const EVERY: Duration = Duration::from_secs(15);

/// The step that a unit asks for at a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
	/// Compute it.
	Compute,
	/// Commit to the result.
	Commit,
	/// Reveal the result.
	Reveal,
	/// Say that its data are not to be had.
	Decline,
}

/// A step of an assignment under one seed: a chain that was started from scratch has different
/// ones.
pub type Key = (AssignmentId, H256, Step);

/// Blocks before the deadline of a unit from which on its account says that the data are not to be had,
/// where they are not: until then it tries to have them.
const DECLINE_BEFORE: BlockNumber = 8;

/// Returns what `view` asks of its account at height `best`. `found` says whether a result is on
/// disk, `lacking` whether its data were not to be had when it was to be computed.
///
/// If there is a result, it is what is committed, whatever process computed it. So a restart never
/// sends a second commitment that differs from the first.
pub fn step(view: &AssignmentView, best: BlockNumber, found: bool, lacking: bool) -> Option<Step> {
	let late = best.saturating_add(DECLINE_BEFORE) >= view.deadline;
	// A transaction sent now is in the next block.
	match view.phase {
		_ if best >= view.deadline => None,
		UnitPhase::Commit if view.committed || view.declined => None,
		UnitPhase::Commit if found => Some(Step::Commit),
		UnitPhase::Commit if lacking && late => Some(Step::Decline),
		UnitPhase::Commit => Some(Step::Compute),
		UnitPhase::Reveal if view.committed && !view.revealed && found => Some(Step::Reveal),
		UnitPhase::Reveal | UnitPhase::Judgement => None,
	}
}

/// Returns whether `view` waits for a reveal that cannot be made, because the record is gone.
pub fn is_lost(view: &AssignmentView, found: bool) -> bool {
	view.committed && !view.revealed && !found
}

/// Reports that a reveal cannot be made.
pub fn report_lost(report: &Reporter, view: &AssignmentView) {
	let unit = (view.id, view.project, view.index);
	let text = "committed, but its result and salt are not in this folder: it cannot be revealed \
	            here. Another daemon with this key?";
	report_unit(report, unit, lost::EVENT, text, json!({}));
}

/// The role for which units are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
	/// A driller.
	Driller,
	/// A verifier that recomputes.
	Verifier,
}

impl Part {
	fn commit(self, assignment: AssignmentId, commitment: &H256) -> Call {
		match self {
			Part::Driller => calls::drill_commit(assignment, commitment),
			Part::Verifier => calls::drill_check(assignment, commitment),
		}
	}

	fn reveal(self, record: &UnitRecord) -> Call {
		let UnitRecord { assignment, result, salt, .. } = record;
		match self {
			Part::Driller => calls::drill_reveal(*assignment, result, &salt.0),
			Part::Verifier => calls::drill_check_reveal(*assignment, result, &salt.0),
		}
	}
}

/// What units are computed with; shared by tasks.
pub struct Units {
	/// The chain.
	pub chain: Arc<Chain>,
	/// Sends commitments and reveals.
	pub sender: Arc<Transactor>,
	/// Keeps results, salts and data.
	pub home: Arc<Home>,
	/// Reports what is done.
	pub report: Reporter,
	/// The role for which units are computed.
	pub part: Part,
	/// Makes results up; for tests only.
	pub cheat: bool,
	/// What units are computed on, where they are computed here.
	pub machine: Machine,
	/// Turns to compute: one unit at a time has all processors.
	pub queue: Queue,
	/// The processes that compute units, where this one does not.
	pub replayers: Option<Replayers>,
	/// Room for the data of trials.
	pub space: Space,
	/// Held while files are brought into the cache.
	pub bringing: Mutex<()>,
	/// Data that were not to be had at the last attempt, by the blobs that hold them, and whether they never
	/// will: a blob never becomes another file.
	pub missing: std::sync::Mutex<HashMap<Vec<H256>, Option<Arc<str>>>>,
	/// Assignments whose data were not to be had at the last attempt.
	pub lacking: std::sync::Mutex<HashSet<AssignmentId>>,
	/// How many units fetch or read each of these data now, by content hash.
	pub reading: std::sync::Mutex<BTreeMap<H256, usize>>,
	/// Data of the trial that was computed last, by what names them.
	pub inputs: Mutex<Option<(H256, Inputs)>>,
}

impl Units {
	/// Makes the units of a role.
	pub fn new(base: &Base, part: Part, space: Space, cheat: bool) -> Self {
		let Base { chain, sender, home, report, machine } = base.clone();
		let (reading, inputs, bringing, lacking, missing) = Default::default();
		let (queue, replayers) = (Queue::new(1), None);
		Self {
			chain,
			sender,
			home,
			report,
			part,
			cheat,
			machine,
			queue,
			replayers,
			space,
			bringing,
			lacking,
			missing,
			reading,
			inputs,
		}
	}

	/// Lets processes compute the units, which wait for their turn with other replays.
	pub fn in_processes(self, replayers: Replayers) -> Self {
		Self { replayers: Some(replayers), ..self }
	}

	/// Returns the content hashes of the data that are being fetched or read: they must stay.
	pub fn reading(&self) -> HashSet<H256> {
		locked(&self.reading).keys().copied().collect()
	}

	/// Brings the files of a trial, for which there must be room: data that nothing reads are removed
	/// for them. What is returned holds the room until they were read.
	async fn bring(
		&self,
		view: &str,
		spec: &CheckedSpec,
		data: &TrialData,
	) -> Result<Claimed, TaskError> {
		let files: Vec<FileRef> = spec.files().map(|(_, file)| file).collect();
		let rows = self.home.coming_rows(spec);
		let folder = self.home.unit_room(view);
		let claimed = self.space.claim(&self.home, &folder, rows, &files, self.reading())?;
		let claimed = claimed.map_err(|missing| {
			TaskError::failed(format!(
				"{} MiB are missing for the data of this unit within --max-disk-mib and on the disk",
				missing.div_ceil(1024 * 1024)
			))
		})?;
		self.bring_in(spec, data).await?;
		Ok(claimed)
	}

	/// Brings the files of a trial into the cache, for which there is room.
	async fn bring_in(&self, spec: &CheckedSpec, data: &TrialData) -> Result<(), StoredError> {
		let _alone = self.bringing.lock().await;
		if let Some(Some(why)) = locked(&self.missing).get(data.as_slice()) {
			return Err(StoredError::Known(why.clone()));
		}
		let brought = stored::bring(&self.chain, &self.home, spec, data).await;
		let mut missing = locked(&self.missing);
		match &brought {
			Err(e) if e.is_missing() => {
				let lasts = matches!(e, StoredError::Other { .. });
				missing.insert(data.to_vec(), lasts.then(|| Arc::from(e.to_string())));
			}
			_ => drop(missing.remove(data.as_slice())),
		}
		brought
	}

	/// Returns whether the data of this assignment were not to be had when it was to be computed.
	pub fn is_lacking(&self, id: AssignmentId) -> bool {
		locked(&self.lacking).contains(&id)
	}

	/// Notes of an assignment whether its data are to be had: they are here, or by the last attempt to bring
	/// them.
	fn note_lacking(&self, id: AssignmentId, data: &TrialData, here: bool) {
		let missing = !here && locked(&self.missing).contains_key(data.as_slice());
		let mut lacking = locked(&self.lacking);
		match missing {
			true => drop(lacking.insert(id)),
			false => drop(lacking.remove(&id)),
		}
	}

	/// Says that the data of a unit are not to be had.
	async fn decline(&self, view: &AssignmentView, head: Head) -> Outcome {
		let call = calls::decline(view.id).on(head);
		self.send(&call, "Drilling::AlreadyCommitted").await?;
		locked(&self.lacking).remove(&view.id);
		let text =
			"its data are not to be had: said so, which costs nothing where others cannot have \
		            them either";
		self.report(view, "declined", text, json!({}));
		Ok(())
	}

	/// Does what a unit asks for.
	pub async fn act(
		self: Arc<Self>,
		view: AssignmentView,
		step: Step,
		record: Option<UnitRecord>,
		head: Head,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		match (step, record) {
			(Step::Compute, _) => self.compute(&view, head.number, stop).await,
			(Step::Commit, Some(record)) => self.commit(&record, head).await,
			(Step::Reveal, Some(record)) => self.reveal(&record, head).await,
			(Step::Decline, None) => self.decline(&view, head).await,
			(Step::Decline, Some(_)) => Err(TaskError::failed("there is a result to commit to")),
			(_, None) => Err(TaskError::failed("the result is not on disk")),
		}
	}

	async fn compute(
		&self,
		view: &AssignmentView,
		best: BlockNumber,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let project = self.chain.drilling_project(view.project).await?;
		let unknown = || TaskError::failed(format!("project {} is not on chain", view.project));
		let project = project.ok_or_else(unknown)?;
		let what = describe(&project.template, view.index);
		let doing = match self.part {
			Part::Driller => "computing",
			Part::Verifier => "recomputing",
		};
		let begins = || {
			let fields = json!({ "deadline": view.deadline });
			self.report(view, "computing", &format!("{doing} {what}"), fields);
		};
		let (result, seconds) = match &self.replayers {
			Some(replayers) => {
				begins();
				self.compute_in_process(replayers, &project, view, &stop).await?
			}
			None => self.compute_here(&project, view, &stop, begins).await?,
		};
		// A result that is there already may have been committed.
		if self.home.load_unit(view.id, &view.seed)?.is_none() {
			self.home.save_unit(&UnitRecord {
				assignment: view.id,
				project: view.project,
				index: view.index,
				seed: view.seed,
				result,
				salt: Salt::random(),
				work: project.template.credit(project.difficulty, &result)
					/ u64::from(project.replicas).max(1),
				seconds,
				height: best,
				settled: None,
			})?;
		}
		let flop = project.template.flop().unwrap_or_default();
		let speed = flop as f64 / seconds.max(1e-9);
		self.report.metrics().ran(flop, Duration::from_secs_f64(seconds));
		let score = result.score.map_or(String::new(), |score| {
			let share = 100.0 * score.accuracy();
			format!(", validation loss {:.4}, accuracy {share:.2} %", score.loss())
		});
		let text = format!(
			"computed in {seconds:.2} s: {} ut, {:.2} GFLOP/s{score}",
			ut(project.difficulty),
			speed / 1e9
		);
		let fields = json!({
			"seconds": seconds,
			"work": project.difficulty,
			"flop_per_second": speed,
			"state": result.state,
			"score": result.score,
		});
		self.report(view, "computed", &text, fields);
		Ok(())
	}

	/// Computes a unit, and returns the seconds that it took. Calls `begins` when it is its turn.
	async fn compute_here(
		&self,
		project: &ProjectView,
		view: &AssignmentView,
		stop: &Arc<AtomicBool>,
		begins: impl Fn(),
	) -> Result<(UnitResult, f64), TaskError> {
		let template = &project.template;
		let data = match template.trial(view.index) {
			Some(spec) => {
				let whose = name(view);
				let inputs = tokio::select! {
					inputs = self.data(&whose, &spec, &project.data) => inputs,
					() = stopped(stop) => return Err(TaskError::Stopped),
				};
				self.note_lacking(view.id, &project.data, inputs.is_ok());
				Some(inputs?.data)
			}
			None => None,
		};
		let _turn = self.queue.turn(view.deadline).await;
		let need = Need::by(Class::Duty, view.deadline);
		let _lease = self.machine.lease_until("driller", &name(view), need, false, stop).await?;
		begins();
		let begun = Instant::now();
		let result = match self.cheat {
			true => drill::fabricate(template, &view.seed),
			false => {
				let (template, index, seed) = (template.clone(), view.index, view.seed);
				let (name, stop) = (name(view), stop.clone());
				tokio::task::spawn_blocking(move || {
					let mut reported = Instant::now();
					let mut progress = |done: u32, all: u32| {
						if reported.elapsed() >= EVERY {
							reported = Instant::now();
							info!("{name}: {:.0} %", 100.0 * f64::from(done) / f64::from(all));
						}
					};
					let options = Options::chosen(data, &mut progress, &stop)?;
					drill::compute(Unit { template: &template, index, seed }, options)
				})
				.await??
			}
		};
		Ok((result, begun.elapsed().as_secs_f64()))
	}

	/// Does what [`Self::compute_here`] does, in a process of its own.
	async fn compute_in_process(
		&self,
		replayers: &Replayers,
		project: &ProjectView,
		view: &AssignmentView,
		stop: &AtomicBool,
	) -> Result<(UnitResult, f64), TaskError> {
		let template = &project.template;
		let spec = template.trial(view.index);
		let _noted = spec.as_ref().map(|spec| Reading::of(self, spec));
		let paths = match &spec {
			Some(spec) => {
				let whose = name(view);
				let brought = tokio::select! {
					brought = self.bring(&whose, spec, &project.data) => brought,
					() = stopped(stop) => return Err(TaskError::Stopped),
				};
				self.note_lacking(view.id, &project.data, brought.is_ok());
				let _claimed = brought?;
				let (of, places) = (Scale(spec.spec().clone()), [self.home.inputs(spec)]);
				let decoded = replayers.decode(of, &places, view.deadline, stop).await?;
				Some(decoded.map_err(TaskError::Failed)?.into())
			}
			None => None,
		};
		let template = Scale(template.clone());
		let work = Work::Unit { template, index: view.index, seed: view.seed, paths };
		match replayers.run(work, view.deadline, stop).await? {
			Reply::Computed(result, seconds) => Ok((result, seconds)),
			other => Err(unexpected(&other).into()),
		}
	}

	/// Returns what a trial trains on. It is read from these blobs if it is not here.
	/// `whose` names what it is for.
	pub async fn data(
		&self,
		whose: &str,
		spec: &CheckedSpec,
		data: &TrialData,
	) -> Result<Inputs, TaskError> {
		// One at a time: what is being read is noted for the one that holds this.
		let mut kept = self.inputs.lock().await;
		let key = spec.dataset.using_encoded(hash::blake2_256);
		if let Some((_, inputs)) = kept.as_ref().filter(|(of, _)| *of == key) {
			return Ok(inputs.clone());
		}
		let inputs = {
			let _noted = Reading::of(self, spec);
			self.read(whose, spec, data).await?
		};
		*kept = Some((key, inputs.clone()));
		Ok(inputs)
	}

	async fn read(
		&self,
		whose: &str,
		spec: &CheckedSpec,
		data: &TrialData,
	) -> Result<Inputs, TaskError> {
		let _claimed = self.bring(whose, spec, data).await?;
		let (of, paths) = (spec.clone(), self.home.inputs(spec));
		let reading = StopOnDrop::default();
		let stop = reading.flag();
		let read = move || Inputs::load_until(&of, &paths, &stop);
		Ok(tokio::task::spawn_blocking(read).await??)
	}

	/// Commits only on the chain of `head`: on a different fork the unit may have a different seed,
	/// and so a different result.
	async fn commit(&self, record: &UnitRecord, head: Head) -> Outcome {
		let commitment = commitment(
			&self.chain.genesis(),
			record.assignment,
			self.sender.account(),
			&record.result,
			&record.salt.0,
		);
		let call = self.part.commit(record.assignment, &commitment).on(head);
		self.send(&call, "Drilling::AlreadyCommitted").await?;
		self.report_of(record, "committed", "result committed");
		Ok(())
	}

	async fn reveal(&self, record: &UnitRecord, head: Head) -> Outcome {
		let call = self.part.reveal(record).on(head);
		self.send(&call, "Drilling::AlreadyRevealed").await?;
		self.report_of(record, "revealed", "result revealed");
		Ok(())
	}

	/// Sends `call`. The error `done` says that the same was sent before: this process was killed
	/// before it heard of it.
	async fn send(&self, call: &Call, done: &str) -> Outcome {
		match self.sender.run(call).await {
			Err(e) if e.failed_with(done) => Ok(()),
			result => Ok(result.map(drop)?),
		}
	}

	fn report(&self, view: &AssignmentView, event: &str, text: &str, fields: serde_json::Value) {
		report_unit(&self.report, (view.id, view.project, view.index), event, text, fields);
	}

	fn report_of(&self, record: &UnitRecord, event: &str, text: &str) {
		let unit = (record.assignment, record.project, record.index);
		report_unit(&self.report, unit, event, text, json!({}));
	}
}

fn locked<T>(shared: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
	shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Notes data as being read for as long as it lives, so that a reading that is dropped halfway leaves
/// no note behind.
struct Reading<'a> {
	units: &'a Units,
	data: Vec<H256>,
}

impl<'a> Reading<'a> {
	fn of(units: &'a Units, spec: &CheckedSpec) -> Self {
		let data: Vec<H256> = spec.files().map(|(_, file)| file.content_hash).collect();
		let mut reading = locked(&units.reading);
		for hash in &data {
			*reading.entry(*hash).or_default() += 1;
		}
		drop(reading);
		Self { units, data }
	}
}

impl Drop for Reading<'_> {
	fn drop(&mut self) {
		let mut reading = locked(&self.units.reading);
		for hash in &self.data {
			let left = reading.get(hash).copied().unwrap_or(0).saturating_sub(1);
			match left {
				0 => drop(reading.remove(hash)),
				left => drop(reading.insert(*hash, left)),
			}
		}
	}
}

/// Reports an event of a unit: assignment, project, index.
pub fn report_unit(
	report: &Reporter,
	(assignment, project, index): (AssignmentId, u32, u32),
	event: &str,
	text: &str,
	mut fields: serde_json::Value,
) {
	if let Some(object) = fields.as_object_mut() {
		object.insert("assignment".into(), json!(assignment));
		object.insert("project".into(), json!(project));
		object.insert("index".into(), json!(index));
	}
	let line = format!("unit {index} of project {project} (assignment {assignment}): {text}");
	report.general(event, &line, fields);
}

fn name(view: &AssignmentView) -> String {
	format!("unit {} of project {} (assignment {})", view.index, view.project, view.id)
}

/// Describes a unit of a template in a few words.
pub fn describe(template: &Template, index: u32) -> String {
	match template {
		Template::Chain { size, links } => {
			format!("a chain of {} products of {size} x {size}", grouped(*links))
		}
		Template::Calibration { passes } => format!("a calibration of {} passes", grouped(*passes)),
		Template::Trial(trial) => format!(
			"a trial of {} steps at learning rate {}",
			grouped(trial.spec.training.steps),
			rate(trial.learning_rate_nano(index).unwrap_or_default())
		),
	}
}

/// Writes a learning rate, from a count of 10^-9.
pub fn rate(nano: u64) -> String {
	trainyard_client::amount::format_scaled(u128::from(nano), 9)
}

/// Writes an amount of work in ut.
pub fn ut(work: MicroUt) -> String {
	let digits = MICRO_UT_PER_UT.ilog10();
	trainyard_client::amount::format_scaled(u128::from(work), digits)
}

/// Views of units for tests of what they ask for.
#[cfg(test)]
#[path = "units_tests.rs"]
pub(crate) mod tests;
