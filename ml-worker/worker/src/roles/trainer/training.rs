//! Trains a job, and checks the run before anything is committed: segments drawn here are replayed on
//! the processor. A run that is false is not committed to, since its deposit would be lost; it goes on
//! from the last checkpoint that was computed twice, on the processor.

use super::{thinned, Trainer};
use crate::plot;
use crate::roles::{machine::Lease, report::Reporter, tasks::TaskError};
use serde_json::json;
use std::{
	collections::BTreeSet,
	path::PathBuf,
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc,
	},
	time::{Duration, Instant},
};
use tracing::{error, info};
use trainyard_client::{Head, JobView};
use trainyard_engine::Compute;
use trainyard_program::{spec::CheckedSpec, work::Parts};
use trainyard_proof::{
	bundle::{thinning::Thinning, Bundle},
	inputs::{InputPaths, Inputs},
	train::{self, Cheat, TrainError, TrainOptions},
	verify::{
		self_check::{self, Finding},
		VerifyError,
	},
};
use trainyard_protocol::{
	commitment,
	forced::Secret,
	job::{BlockNumber, JobState, WorkResult},
	JobId, H256,
};

/// Runs of one task: after that the machine is given up until the task is tried again.
const RUNS: u32 = 3;
/// Blocks before the end of training that are kept for the commitment.
const MARGIN: BlockNumber = 6;
/// Time between two looks at whether a check should end.
const TICK: Duration = Duration::from_millis(20);

/// Returns the FLOP of a run from the checkpoint at step `begun_at`, 0 for none, to the end of
/// `segments` segments.
fn flop_since(spec: &CheckedSpec, begun_at: u32, segments: u32) -> u128 {
	let parts = Parts::of(spec);
	let of = |segments| parts.flop_of(spec, segments).unwrap_or(0);
	let done = (1..=segments).rev().find(|at| spec.checkpoint_step(*at) <= Some(begun_at));
	of(segments).saturating_sub(done.map_or(0, of))
}

/// What a training came to.
pub(super) struct Trained {
	pub result: WorkResult,
	pub accuracy: Option<f64>,
	pub stops_early: bool,
	/// The step from which its first run went on.
	pub begun_at: u32,
	pub flop: u128,
	/// For how long it rested, while others went first.
	pub rested: Duration,
}

/// A training and its check, on a thread of its own.
pub(super) struct Training {
	pub job: JobId,
	pub spec: CheckedSpec,
	pub seed: H256,
	pub out: PathBuf,
	pub paths: InputPaths,
	pub cheat: Option<Cheat>,
	/// From which the leaves are drawn that are forced to be false.
	pub secret: Secret,
	/// Which states stay on disk.
	pub keep: Thinning,
	/// Segments that are replayed before the result counts.
	pub checks: u32,
	pub stop: Arc<AtomicBool>,
	pub report: Reporter,
	/// The cores that it has: it rests between two steps while others go first.
	pub lease: Lease,
}

/// Says what a check found in the time that it had; `None` if that was too little.
type Checked = Result<Option<Finding>, VerifyError>;

impl Training {
	/// Trains, and checks the run in the time that `time_left` returns when it has ended.
	pub fn run(self, time_left: impl Fn() -> Duration) -> Result<Trained, TaskError> {
		self.run_with(|bundle| self.check(bundle, time_left()))
	}

	fn run_with(&self, mut check: impl FnMut(&Bundle) -> Checked) -> Result<Trained, TaskError> {
		let (mut device, mut flop, mut first) = (Compute::chosen(), 0u128, None);
		for _ in 0..RUNS {
			let (bundle, begun_at) = self.train(device)?;
			let first = *first.get_or_insert(begun_at);
			let segments = bundle.manifest().segments();
			flop = flop.saturating_add(flop_since(&self.spec, begun_at, segments));
			if let Some(Finding::False { segment, whole, what }) =
				self.checked(&bundle, &mut check)?
			{
				self.report_false(segment, whole, &what, device);
				train::keep_until(&self.out, whole)?;
				// It gives the same bits, and whatever was wrong is not there.
				device = Compute::Cpu;
				continue;
			}
			bundle.force(&self.secret)?;
			let result = bundle.result()?;
			plot::illustrate(&bundle);
			let manifest = bundle.manifest();
			let accuracy = manifest.checkpoints.last().map(|c| c.validation.accuracy());
			let stops_early = manifest.stops_early();
			let rested = self.lease.rested();
			return Ok(Trained { result, accuracy, stops_early, begun_at: first, flop, rested });
		}
		Err(TaskError::failed(format!(
			"{RUNS} runs in turn were false by the check on the processor. This machine makes errors \
			 (memory, processor, GPU, overclocking?), so that nothing is committed. The training goes \
			 on from the last checkpoint that was computed twice"
		)))
	}

	/// Trains on `device`, from where the folder's bundle is. Returns the step from which it went on.
	fn train(&self, device: Compute) -> Result<(Bundle, u32), TaskError> {
		let Self { job, report, lease, .. } = self;
		let (mut begun_at, mut last) = (None, Instant::now());
		let mut progress = |p: &train::Progress| {
			if begun_at.is_none() {
				begun_at = Some(p.begun_at);
				let fields = json!({ "from_step": p.begun_at, "steps": p.steps });
				let text = match p.begun_at {
					0 => format!("training, {} steps", p.steps),
					from => format!("training goes on from step {from} of {}", p.steps),
				};
				report.job(*job, "training", &text, fields);
			}
			if last.elapsed() > Duration::from_secs(10) {
				last = Instant::now();
				info!("job {job}: step {} of {}", p.step, p.steps);
			}
			lease.rest(&self.stop);
		};
		let options = TrainOptions {
			out: &self.out,
			resume: true,
			keep: self.keep,
			cheat: self.cheat,
			progress: &mut progress,
			stop: &self.stop,
		};
		let bundle = match train::run_on(device, &self.spec, self.seed, &self.paths, options) {
			// It is a result, which is paid like others, without power.
			Err(TrainError::Diverged { step, what, bundle: Some(bundle), .. }) => {
				let text = format!("training diverged at step {step}: {what}");
				report.job(*job, "diverged", &text, json!({ "step": step, "reason": what }));
				*bundle
			}
			trained => trained?,
		};
		Ok((bundle, begun_at.unwrap_or(0)))
	}

	/// Checks a run, and reports what was found unless it is false.
	fn checked(
		&self,
		bundle: &Bundle,
		check: &mut impl FnMut(&Bundle) -> Checked,
	) -> Result<Option<Finding>, TaskError> {
		if self.checks == 0 {
			return Ok(None);
		}
		let begun = Instant::now();
		let found = check(bundle)?;
		let seconds = begun.elapsed().as_secs_f64();
		match &found {
			Some(Finding::Agrees) => {
				let text = format!(
					"{} segment(s) replayed on the processor, equal in every bit ({seconds:.1} s)",
					self.checks
						.min(bundle.manifest().segments())
						.saturating_add(u32::from(bundle.manifest().diverged.is_some()))
				);
				self.report.job(self.job, "self_check", &text, json!({ "seconds": seconds }));
			}
			Some(Finding::Unsteady { segment, what }) => {
				let text = format!(
					"{what}; replayed once more it ended as the run did, so the run counts. THIS \
					 MACHINE MAKES ERRORS: test its memory before it loses a deposit"
				);
				error!("job {}: {text}", self.job);
				let fields = json!({ "segment": segment, "reason": what });
				self.report.job(self.job, "self_check_unsteady", &text, fields);
			}
			Some(Finding::False { .. }) => {}
			None => {
				let text =
					"the check on the processor had too little time before the end of training: \
				            the result counts without it";
				self.report.job(self.job, "self_check_skipped", text, json!({}));
			}
		}
		Ok(found)
	}

	fn report_false(&self, segment: u32, whole: u32, what: &str, device: Compute) {
		let from = self.spec.checkpoint_step(whole.saturating_sub(1)).unwrap_or(0);
		let text = format!(
			"THE RUN IS FALSE, and nothing is committed: {what}. It was computed on {device}. This \
			 machine makes errors: test its memory, and its GPU if it has one. Training goes on from \
			 step {from} on the processor"
		);
		error!("job {}: {text}", self.job);
		let device = device.to_string();
		let fields =
			json!({ "segment": segment, "from_step": from, "reason": what, "device": device });
		self.report.job(self.job, "self_check_failed", &text, fields);
	}

	/// Replays segments on the processor, within `time`.
	fn check(&self, bundle: &Bundle, time: Duration) -> Checked {
		// Of a run whose states thin out, those are replayed that begin with one that is kept.
		let drawn = self_check::draw(self.checks, bundle.manifest().segments());
		let every = self.keep.step();
		let mut segments: BTreeSet<u32> = drawn.into_iter().map(|at| at - at % every).collect();
		// A fault of a GPU or of memory looks like a divergence.
		segments.extend(bundle.manifest().diverged_in());
		// Without any time it ends at once, however late the thread below begins.
		let (until, end, done) =
			(Instant::now() + time, AtomicBool::new(time.is_zero()), AtomicBool::new(false));
		let set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
		let found = std::thread::scope(|scope| {
			scope.spawn(|| {
				while !set(&done) && !set(&self.stop) && Instant::now() < until {
					std::thread::sleep(TICK);
				}
				end.store(true, Ordering::Relaxed);
			});
			let found = Inputs::load_until(&self.spec, &self.paths, &end);
			let found = found.map_err(|error| match error.is_stopped() {
				true => VerifyError::Stopped,
				false => error.into(),
			});
			let job = (&self.spec, self.seed);
			let found = found
				.and_then(|inputs| self_check::on_processor(bundle, job, &inputs, &segments, &end));
			done.store(true, Ordering::Relaxed);
			found
		});
		match found {
			Err(VerifyError::Stopped) if !set(&self.stop) => Ok(None),
			found => found.map(Some),
		}
	}
}

impl Trainer {
	/// Returns the training of a job under its seed.
	pub(super) fn training(
		&self,
		job: &JobView,
		spec: CheckedSpec,
		seed: H256,
		stop: Arc<AtomicBool>,
	) -> Training {
		// What was committed before, or is false on purpose, is not checked.
		let checks = match self.cheat.is_none() && job.state == JobState::Training {
			true => self.checks,
			false => 0,
		};
		Training {
			job: job.id,
			out: self.home.bundle_folder(job.id, &seed),
			paths: self.home.inputs(&spec),
			spec,
			seed,
			cheat: self.cheat,
			secret: self.secret(job),
			keep: thinned::kept(&job.terms),
			checks,
			stop,
			report: self.report.clone(),
			lease: Lease::default(),
		}
	}

	/// Returns the secret from which this trainer's forced leaves in a job are drawn.
	pub(super) fn secret(&self, job: &JobView) -> Secret {
		self.sender.forced_secret(job.id, &commitment::job(&job.spec, &job.terms))
	}

	/// Returns the time that a check may take: half of what is left for the commitment, because a
	/// result that is not committed loses the deposit for certain.
	pub(super) fn time_to_check(&self, job: &JobView, head: Head) -> Duration {
		let best = self.chain.link().best.max(head.number);
		let left = job.deadline.saturating_sub(best).saturating_sub(MARGIN);
		self.block_time.saturating_mul(left) / 2
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use serde_json::Value;
	use trainyard_program::spec::{JobSpec, Loss, Optimizer};
	use trainyard_proof::testing::{self, SEED};

	#[test]
	fn work_is_counted_from_where_a_run_went_on() {
		// 1,500 steps, a checkpoint every 50.
		let spec = JobSpec::example().check().unwrap();
		let parts = Parts::of(&spec);
		let evaluations = |n: u128| n * parts.evaluation;
		assert_eq!(flop_since(&spec, 0, 30), parts.flop_of(&spec, 30).unwrap());
		assert_eq!(flop_since(&spec, 0, 2), 100 * parts.step + evaluations(3));
		assert_eq!(flop_since(&spec, 50, 2), 50 * parts.step + evaluations(1));
		assert_eq!(flop_since(&spec, 1_450, 30), 50 * parts.step + evaluations(1));
		assert_eq!(flop_since(&spec, 1_500, 30), 0, "the bundle was whole");
	}

	fn training(folder: &std::path::Path, checks: u32) -> Training {
		let table = testing::table(folder);
		Training {
			job: 3,
			spec: testing::job(&table),
			seed: SEED,
			out: folder.join("out"),
			paths: InputPaths::data(table),
			cheat: None,
			secret: [3; 32],
			keep: Thinning::NONE,
			checks,
			stop: Arc::default(),
			report: Reporter::new("trainer", true, Some(&folder.join("events"))),
			lease: Lease::default(),
		}
	}

	fn events(folder: &std::path::Path) -> Vec<String> {
		let text = std::fs::read_to_string(folder.join("events")).unwrap_or_default();
		let event = |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].clone();
		text.lines().map(|line| event(line).as_str().unwrap().to_owned()).collect()
	}

	fn is_false(whole: u32) -> Checked {
		let (segment, what) = (whole.saturating_sub(1), "it ended otherwise".to_owned());
		Ok(Some(Finding::False { segment, whole, what }))
	}

	#[test]
	fn a_right_run_is_checked_once_and_counts() {
		let folder = tempfile::tempdir().unwrap();
		let trained = training(folder.path(), 6).run(|| Duration::from_secs(600)).unwrap();
		assert_eq!((trained.result.segments, trained.begun_at), (6, 0));
		assert_eq!(events(folder.path()), ["training", "self_check"]);
		// Without a check nothing is replayed.
		let folder = tempfile::tempdir().unwrap();
		let training = training(folder.path(), 0);
		training.run_with(|_| panic!("nobody asked for it")).unwrap();
	}

	/// A specification that diverges is no trap: what was trained is a result, which is checked.
	#[test]
	fn a_run_that_diverges_counts() {
		let folder = tempfile::tempdir().unwrap();
		let mut training = training(folder.path(), 1);
		training.spec = testing::changed(&training.spec, |spec| {
			spec.training.learning_rate_nano = 1_000_000_000_000;
			spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
			spec.training.loss = Loss::MeanSquaredError;
		});
		let trained = training.run(|| Duration::from_secs(600)).unwrap();
		assert!(trained.result.diverged && trained.result.segments < 6);
		assert_eq!(events(folder.path()), ["training", "diverged", "self_check"]);
	}

	/// What is false is trained again from the last checkpoint that agrees, and never counts.
	#[test]
	fn a_false_run_is_repeated_from_where_it_agrees() {
		let folder = tempfile::tempdir().unwrap();
		let training = training(folder.path(), 1);
		let mut roots = Vec::new();
		let trained = training.run_with(|bundle| {
			roots.push(bundle.root());
			assert_eq!(bundle.manifest().checkpoints.len(), 7, "it was trained to its end again");
			match roots.len() {
				1 => is_false(4),
				_ => Ok(Some(Finding::Agrees)),
			}
		});
		let trained = trained.unwrap();
		assert_eq!((roots.len(), trained.result.true_root), (2, roots[1]));
		assert_ne!(trained.result.bundle_root, roots[1], "others are shown forced leaves");
		let reported = ["training", "self_check_failed", "training", "self_check"];
		assert_eq!(events(folder.path()), reported);
		let text = std::fs::read_to_string(folder.path().join("events")).unwrap();
		assert!(text.contains(r#""from_step":30"#), "{text}");
		let all = Parts::of(&training.spec);
		let again = u128::from(30u32) * all.step + 3 * all.evaluation;
		assert_eq!(trained.flop, all.flop_of(&training.spec, 6).unwrap() + again);
	}

	#[test]
	fn a_machine_that_is_always_wrong_commits_to_nothing() {
		let folder = tempfile::tempdir().unwrap();
		let training = training(folder.path(), 1);
		let error = training.run_with(|_| is_false(1)).err().unwrap();
		assert!(matches!(&error, TaskError::Failed(why) if why.contains("nothing is committed")));
		assert_eq!(Bundle::open(&training.out).unwrap().manifest().checkpoints.len(), 1);
		assert!(!Bundle::open(&training.out).unwrap().is_finished());
	}

	#[test]
	fn a_check_does_not_cost_the_deadline_and_an_unsteady_one_not_the_run() {
		let folder = tempfile::tempdir().unwrap();
		training(folder.path(), 1).run(|| Duration::ZERO).unwrap();
		assert_eq!(events(folder.path()), ["training", "self_check_skipped"]);
		let training = training(folder.path(), 1);
		let shaky = || Finding::Unsteady { segment: 2, what: "once it ended otherwise".to_owned() };
		training.run_with(|_| Ok(Some(shaky()))).unwrap();
		assert_eq!(events(folder.path()).last().unwrap(), "self_check_unsteady");
		// A trainer that is asked to stop does not commit to what it did not check.
		training.stop.store(true, Ordering::Relaxed);
		let bundle = Bundle::open(&training.out).unwrap();
		let stopped = training.check(&bundle, Duration::from_secs(600));
		assert!(matches!(stopped, Err(VerifyError::Stopped)));
	}
}
