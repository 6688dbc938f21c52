//! Sees units of drilling through: computes each once, commits to it, and reveals it. A driller
//! does so with the units that it is assigned, a verifier with those that it must recompute.

use super::{
	common::{files, lost},
	fetch::Fetcher,
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
	collections::{BTreeMap, HashSet},
	sync::{atomic::AtomicBool, Arc},
	time::{Duration, Instant},
};
use tokio::sync::Mutex;
use tracing::info;
use trainyard_client::{calls, AssignmentView, Call, Chain, Head, Transactor};
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
	drill::{commitment, AssignmentId, Template, UnitPhase, UnitResult},
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
}

/// A step of an assignment under one seed: a chain that was started from scratch has different
/// ones.
pub type Key = (AssignmentId, H256, Step);

/// Returns what `view` asks of its account at height `best`. `found` says whether a result is on
/// disk.
///
/// If there is a result, it is what is committed, whatever process computed it. So a restart never
/// sends a second commitment that differs from the first.
pub fn step(view: &AssignmentView, best: BlockNumber, found: bool) -> Option<Step> {
	// A transaction sent now is in the next block.
	match view.phase {
		_ if best >= view.deadline => None,
		UnitPhase::Commit if view.committed => None,
		UnitPhase::Commit if found => Some(Step::Commit),
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
	/// Fetches the data of trials.
	pub fetcher: Fetcher,
	/// Reports what is done.
	pub report: Reporter,
	/// The role for which units are computed.
	pub part: Part,
	/// Makes results up; for tests only.
	pub cheat: bool,
	/// Turns to compute: one unit at a time has all processors.
	pub queue: Queue,
	/// The processes that compute units, where this one does not.
	pub replayers: Option<Replayers>,
	/// Room for the data of trials.
	pub space: Space,
	/// How many units fetch or read each of these data now, by content hash.
	pub reading: std::sync::Mutex<BTreeMap<H256, usize>>,
	/// Data of the trial that was computed last, by what names them.
	pub inputs: Mutex<Option<(H256, Inputs)>>,
}

impl Units {
	/// Makes the units of a role, with the data that `fetcher` brings.
	pub fn new(base: &Base, fetcher: Fetcher, part: Part, space: Space, cheat: bool) -> Self {
		let Base { chain, sender, home, report } = base.clone();
		let (reading, inputs) = Default::default();
		let (queue, replayers) = (Queue::new(1), None);
		Self {
			chain,
			sender,
			home,
			fetcher,
			report,
			part,
			cheat,
			queue,
			replayers,
			space,
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
		let reading = self.reading.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
		reading.keys().copied().collect()
	}

	/// Brings the files of a trial, for which there must be room: data that nothing reads are removed
	/// for them. What is returned holds the room until they were read.
	async fn bring(&self, view: &str, spec: &CheckedSpec) -> Result<Claimed, TaskError> {
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
		files::bring(&self.fetcher, &self.home, spec, &[], None).await?;
		Ok(claimed)
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
				self.compute_in_process(replayers, &project.template, view, &stop).await?
			}
			None => self.compute_here(&project.template, view, &stop, begins).await?,
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
				work: project.template.credit(project.difficulty, &result),
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
		template: &Template,
		view: &AssignmentView,
		stop: &Arc<AtomicBool>,
		begins: impl Fn(),
	) -> Result<(UnitResult, f64), TaskError> {
		let whose = name(view);
		let data = match template.trial(view.index) {
			Some(spec) => tokio::select! {
				inputs = self.data(&whose, &spec) => Some(inputs?.data),
				() = stopped(stop) => return Err(TaskError::Stopped),
			},
			None => None,
		};
		let _turn = self.queue.turn(view.deadline).await;
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
		template: &Template,
		view: &AssignmentView,
		stop: &AtomicBool,
	) -> Result<(UnitResult, f64), TaskError> {
		let spec = template.trial(view.index);
		let _noted = spec.as_ref().map(|spec| Reading::of(self, spec));
		let paths = match &spec {
			Some(spec) => {
				let whose = name(view);
				let _claimed = tokio::select! {
					brought = self.bring(&whose, spec) => brought?,
					() = stopped(stop) => return Err(TaskError::Stopped),
				};
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

	/// Returns what a trial trains on. It is fetched by hash if it is not here.
	/// `whose` names what it is for.
	pub async fn data(&self, whose: &str, spec: &CheckedSpec) -> Result<Inputs, TaskError> {
		// One at a time: what is being read is noted for the one that holds this.
		let mut kept = self.inputs.lock().await;
		let key = spec.dataset.using_encoded(hash::blake2_256);
		if let Some((_, inputs)) = kept.as_ref().filter(|(of, _)| *of == key) {
			return Ok(inputs.clone());
		}
		let inputs = {
			let _noted = Reading::of(self, spec);
			self.read(whose, spec).await?
		};
		*kept = Some((key, inputs.clone()));
		Ok(inputs)
	}

	async fn read(&self, whose: &str, spec: &CheckedSpec) -> Result<Inputs, TaskError> {
		let _claimed = self.bring(whose, spec).await?;
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

/// Notes data as being read for as long as it lives, so that a reading that is dropped halfway leaves
/// no note behind.
struct Reading<'a> {
	units: &'a Units,
	data: Vec<H256>,
}

impl<'a> Reading<'a> {
	fn of(units: &'a Units, spec: &CheckedSpec) -> Self {
		let data: Vec<H256> = spec.files().map(|(_, file)| file.content_hash).collect();
		let mut reading = units.reading.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
		for hash in &data {
			*reading.entry(*hash).or_default() += 1;
		}
		drop(reading);
		Self { units, data }
	}
}

impl Drop for Reading<'_> {
	fn drop(&mut self) {
		let mut reading =
			self.units.reading.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
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
pub(crate) mod tests {
	use super::*;
	use crate::roles::{fetch::Locations, store::Quota};
	use trainyard_client::{
		fake::{self, FakeNode},
		keys, AccountId32,
	};
	use trainyard_program::spec::{Activation, JobSpec, Model};
	use trainyard_protocol::{drill::reference, Text};

	/// An assignment in this phase until height 50.
	pub(crate) fn view(phase: UnitPhase, committed: bool, revealed: bool) -> AssignmentView {
		AssignmentView {
			id: 3,
			project: 2,
			index: 5,
			seed: H256::repeat_byte(8),
			phase,
			deadline: 50,
			members: vec![AccountId32([1; 32])],
			committed,
			revealed,
		}
	}

	#[test]
	fn steps_follow_phase_and_what_is_done() {
		use UnitPhase::{Commit, Judgement, Reveal};
		let cases = [
			("fresh", Commit, false, false, false, 40, Some(Step::Compute)),
			("computed", Commit, false, false, true, 40, Some(Step::Commit)),
			("last chance", Commit, false, false, true, 49, Some(Step::Commit)),
			("too late", Commit, false, false, true, 50, None),
			("too late to compute", Commit, false, false, false, 50, None),
			("committed", Commit, true, false, true, 40, None),
			("committed, record lost", Commit, true, false, false, 40, None),
			("reveal", Reveal, true, false, true, 40, Some(Step::Reveal)),
			("revealed", Reveal, true, true, true, 40, None),
			("never committed", Reveal, false, false, true, 40, None),
			("record lost", Reveal, true, false, false, 40, None),
			("too late to reveal", Reveal, true, false, true, 50, None),
			("judged", Judgement, true, true, true, 40, None),
		];
		for (name, phase, committed, revealed, found, best, expected) in cases {
			assert_eq!(step(&view(phase, committed, revealed), best, found), expected, "{name}");
		}
		assert!(is_lost(&view(Reveal, true, false), false));
		assert!(!is_lost(&view(Reveal, true, true), false));
		assert!(!is_lost(&view(Commit, false, false), false));
	}

	/// Units on a chain whose project 2 has this template.
	async fn units(folder: &std::path::Path, template: Template, cheat: bool) -> Arc<Units> {
		Arc::new(units_of(folder, template, cheat).await)
	}

	async fn units_of(folder: &std::path::Path, template: Template, cheat: bool) -> Units {
		let project = fake::project(template);
		let node = FakeNode::new(move |method, arguments, _| match method {
			"TrainyardApi_drilling_project" if *arguments == 2u32.to_le_bytes() => {
				Ok(Some(project.clone()).encode())
			}
			"TrainyardApi_drilling_project" => Ok(vec![0]),
			_ => Err("no such method"),
		});
		let chain = Arc::new(node.chain().await);
		let home = Arc::new(Home::open(folder, &H256::zero()).unwrap());
		let base = Base {
			sender: Arc::new(Transactor::new(chain.clone(), keys::from_uri("//Bob").unwrap())),
			report: Reporter::new("driller", true, Some(&home.events())),
			chain,
			home,
		};
		let fetcher = Fetcher::new(1, Duration::from_millis(10), Locations::Any).unwrap();
		let space = Space::new(Quota::of(u64::MAX));
		Units::new(&base, fetcher, Part::Driller, space, cheat)
	}

	/// Does the step with nothing found; fails if the step fails.
	async fn act(units: &Arc<Units>, view: &AssignmentView, stop: bool) -> Outcome {
		let stop = Arc::new(AtomicBool::new(stop));
		let head = Head { number: 40, hash: H256::repeat_byte(40) };
		units.clone().act(view.clone(), Step::Compute, None, head, stop).await
	}

	#[tokio::test(flavor = "multi_thread")]
	async fn a_unit_is_computed_and_its_record_never_changes() {
		let template = Template::Calibration { passes: 12 };
		let view = view(UnitPhase::Commit, false, false);
		let expected =
			reference::unit(&template, view.index, &view.seed, Default::default()).unwrap();
		let folder = tempfile::tempdir().unwrap();
		let record = {
			let units = units(folder.path(), template.clone(), false).await;
			act(&units, &view, false).await.unwrap();
			let record = units.home.load_unit(view.id, &view.seed).unwrap().unwrap();
			assert_eq!((record.result, record.work, record.settled), (expected, 4_400, None));
			record
		};
		// Whatever computes it again, after a restart, it is the first result and salt that count.
		let units = units(folder.path(), template, true).await;
		act(&units, &view, false).await.unwrap();
		assert_eq!(units.home.load_unit(view.id, &view.seed).unwrap().unwrap(), record);
		// The same assignment under another seed is another unit.
		let other = AssignmentView { seed: H256::repeat_byte(9), ..view };
		act(&units, &other, false).await.unwrap();
		let made_up = units.home.load_unit(other.id, &other.seed).unwrap().unwrap();
		assert_ne!(made_up.result, expected);
		assert_ne!(made_up.salt, record.salt);
	}

	#[tokio::test(flavor = "multi_thread")]
	async fn what_cannot_be_computed_leaves_no_record() {
		let folder = tempfile::tempdir().unwrap();
		let units = units(folder.path(), Template::Chain { size: 64, links: 2_000 }, false).await;
		let view = view(UnitPhase::Commit, false, false);
		let stopped = act(&units, &view, true).await.unwrap_err();
		assert!(matches!(stopped, TaskError::Stopped), "{stopped}");
		let unknown = AssignmentView { project: 7, ..view.clone() };
		let error = act(&units, &unknown, false).await.unwrap_err();
		assert_eq!(error.to_string(), "project 7 is not on chain");
		assert!(units.home.units().unwrap().0.is_empty());
	}

	/// A verifier recomputes what a stranger's project says in a process, and comes to the same.
	#[tokio::test(flavor = "multi_thread")]
	async fn a_unit_that_a_process_computes_is_the_same() {
		let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
		let table = trainyard_proof::testing::table(data.path());
		let mut spec = trainyard_proof::testing::job(&table).spec().clone();
		spec.training.input_noise_nano = 10_000_000;
		// As much work as a unit must be.
		spec.training.batch_size = 32;
		let hidden = vec![256, 256].try_into().unwrap();
		spec.model = Model::Mlp { hidden, activation: Activation::Relu };
		let learning_rates_nano = vec![1_000_000, 2_000_000].try_into().unwrap();
		let trial =
			trainyard_protocol::drill::TrialTemplate { spec: spec.clone(), learning_rates_nano };
		let view = AssignmentView { index: 1, ..view(UnitPhase::Commit, false, false) };
		let template = Template::Trial(trial);
		let mut found = Vec::new();
		for part in [Part::Driller, Part::Verifier] {
			let folder = folder.path().join(format!("{part:?}"));
			let mut units = units_of(&folder, template.clone(), false).await;
			units.part = part;
			if part == Part::Verifier {
				units = units.in_processes(Replayers::for_tests(1 << 30));
			}
			let here = units.home.data(&spec.dataset.content_hash);
			std::fs::copy(&table, here).unwrap();
			let units = Arc::new(units);
			act(&units, &view, false).await.unwrap();
			assert!(units.reading().is_empty(), "nothing is read any more");
			found.push(units.home.load_unit(view.id, &view.seed).unwrap().unwrap().result);
			units.home.remove_unit(view.id, &view.seed).unwrap();
		}
		assert_eq!(found[0], found[1]);
	}

	#[tokio::test(flavor = "multi_thread")]
	async fn data_for_which_there_is_no_room_are_not_fetched() {
		let mut spec = JobSpec::example();
		spec.training.input_noise_nano = 1;
		let learning_rates_nano = vec![1_000_000].try_into().unwrap();
		let trial =
			trainyard_protocol::drill::TrialTemplate { spec: spec.clone(), learning_rates_nano };
		let folder = tempfile::tempdir().unwrap();
		let mut units = units_of(folder.path(), Template::Trial(trial), false).await;
		// Data of a trial that is over make room, and are not enough.
		let idle = units.home.data(&H256::repeat_byte(9));
		std::fs::write(&idle, [9; 1000]).unwrap();
		units.space = Space::new(Quota::of(spec.dataset.bytes));
		let units = Arc::new(units);
		let error = act(&units, &view(UnitPhase::Commit, false, false), false).await.unwrap_err();
		let text = error.to_string();
		assert!(text.contains("MiB are missing") && text.contains("--max-disk-mib"), "{text}");
		assert!(!idle.exists() && units.reading().is_empty());
	}

	/// A trial's data are fetched by their hash before it is computed, and a place that does not
	/// have them is named.
	#[tokio::test(flavor = "multi_thread")]
	async fn data_that_cannot_be_had_are_named() {
		let mut spec = JobSpec::example();
		spec.training.input_noise_nano = 1;
		spec.dataset.location = Text::new("http://127.0.0.1:1/gone").unwrap();
		let learning_rates_nano = vec![1_000_000].try_into().unwrap();
		let trial = trainyard_protocol::drill::TrialTemplate { spec, learning_rates_nano };
		let folder = tempfile::tempdir().unwrap();
		let units = units(folder.path(), Template::Trial(trial), false).await;
		let error = act(&units, &view(UnitPhase::Commit, false, false), false).await.unwrap_err();
		let text = error.to_string();
		assert!(text.contains("http://127.0.0.1:1/gone does not answer"), "{text}");
		assert!(units.home.units().unwrap().0.is_empty());
	}

	#[test]
	fn drillers_and_verifiers_have_calls_of_their_own() {
		let record = crate::roles::store::unit_tests::record(3);
		let titles = [Part::Driller, Part::Verifier]
			.map(|part| (part.commit(3, &H256::zero()).title(), part.reveal(&record).title()));
		assert_eq!(titles[0], ("Drilling.commit".into(), "Drilling.reveal".into()));
		assert_eq!(titles[1], ("Drilling.check".into(), "Drilling.check_reveal".into()));
	}

	#[test]
	fn units_are_described() {
		let chain = Template::Chain { size: 256, links: 1_200 };
		assert_eq!(describe(&chain, 0), "a chain of 1,200 products of 256 x 256");
		let calibration = Template::Calibration { passes: 40 };
		assert_eq!(describe(&calibration, 0), "a calibration of 40 passes");
		assert_eq!((ut(1_234), rate(2_500_000)), ("0.001234".into(), "0.0025".into()));
	}
}
