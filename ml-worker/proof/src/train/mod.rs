//! Trains a job into a bundle. A kill at any moment loses at most the work since the last
//! checkpoint and changes no bit of the result.

mod cheat;
mod diverged;
mod rehearse;
mod resume;

pub use cheat::Cheat;
pub use rehearse::{rehearse, Budget, RehearsalError};
pub use resume::keep_until;

use crate::{
	bundle::{
		self, files,
		lock::{Lock, LockError},
		manifest::{checkpoint_file, Manifest},
		metrics::{self, Line},
		tensors,
		thinning::Thinning,
		Bundle, BundleError, Checkpoint, FileError,
	},
	hash::HashingReader,
	inputs::{self, InputError, InputPaths, Inputs},
	restore,
	trace::Trace,
};
use primitive_types::H256;
use std::{
	path::{Path, PathBuf},
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc,
	},
	time::{Duration, Instant},
};
use trainyard_engine::{
	state_hash, Compute, Engine, EngineError, NanRule, State, StepTrace, TensorMap,
};
use trainyard_program::{schedule::LearningRate, spec::CheckedSpec, work::Parts};
use trainyard_protocol::{blob::Chunked, bundle::Evaluation};

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
	/// Steps done.
	pub step: u32,
	/// Steps in all.
	pub steps: u32,
	/// Step from which this process began; above 0 for a resumed run.
	pub begun_at: u32,
	/// Loss of the last step's batch; none right after (re)starting.
	pub loss: Option<f32>,
	/// Evaluation, if a checkpoint was just written.
	pub validation: Option<Evaluation>,
	/// Whether training is over here, before all steps are done: the job stops early.
	pub stops_early: bool,
	/// FLOP that this process has added to the run, by the programs: steps and validations,
	/// including that of checkpoint 0. Of a whole run it is the work that is paid for.
	pub flop: u128,
}

/// How to run.
pub struct TrainOptions<'a> {
	/// Folder of the bundle.
	pub out: &'a Path,
	/// Continue with what the folder holds. Otherwise the folder must not hold a bundle.
	pub resume: bool,
	/// Which states stay on disk. What is left out is computed again by [`restore`].
	pub keep: Thinning,
	/// Cheat; for tests only.
	pub cheat: Option<Cheat>,
	/// Called after every step.
	pub progress: &'a mut dyn FnMut(&Progress),
	/// Once it is set, the run ends after the present step; everything up to the last checkpoint is
	/// kept.
	pub stop: &'a AtomicBool,
}

/// Says why a run ended without a whole bundle.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
	/// The data, the labels or the initial model are not those of the job.
	#[error(transparent)]
	Input(#[from] InputError),
	/// The folder holds a bundle already.
	#[error("{0} already holds a bundle. Go on with it by --resume, or choose another folder")]
	Exists(PathBuf),
	/// The folder holds the bundle of a different job.
	#[error(
		"{folder} holds the bundle of another {what}: {difference}. Choose another folder, or the \
		 JOB.toml and seed that it was begun with"
	)]
	Other {
		/// The folder.
		folder: PathBuf,
		/// "job" or "seed".
		what: &'static str,
		/// The first thing that differs.
		difference: String,
	},
	/// The folder holds other things.
	#[error("{folder} is neither empty nor a bundle: it holds {name:?}. Choose another folder")]
	Foreign {
		/// The folder.
		folder: PathBuf,
		/// One of the things.
		name: String,
	},
	/// The disk has too little room for the bundle.
	#[error(
		"{folder} has {free} MiB of free space, and the bundle needs about {needed} MiB more. \
		 Free some space, choose another folder, or a larger training.checkpoint_interval"
	)]
	NoSpace {
		/// The folder.
		folder: PathBuf,
		/// Free, in MiB.
		free: u64,
		/// Needed, in MiB.
		needed: u64,
	},
	/// Another process writes the folder.
	#[error(transparent)]
	Lock(#[from] LockError),
	/// A part of the bundle cannot be read or written.
	#[error(transparent)]
	Bundle(#[from] BundleError),
	/// A file cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
	/// A value became infinite or NaN.
	#[error(
		"training diverged at step {step}: {what}. {advice}. The checkpoints up to step {kept} \
		 are kept"
	)]
	Diverged {
		/// The step, from 1, in which it was noticed; 0 for the initial state.
		step: u32,
		/// What was noticed, and which operator of which layer made the first such value.
		what: String,
		/// What to do.
		advice: String,
		/// Step of the last checkpoint.
		kept: u32,
		/// The whole bundle, which ends at that checkpoint and says that training diverged after it:
		/// a result like others.
		bundle: Option<Box<Bundle>>,
	},
	/// The engine failed.
	#[error(transparent)]
	Engine(EngineError),
	/// Stopped on request.
	#[error(
		"stopped after step {step}; the checkpoints up to step {kept} are kept, --resume goes on"
	)]
	Stopped {
		/// Steps done.
		step: u32,
		/// Step of the last checkpoint.
		kept: u32,
	},
}

/// Trains `spec` under `seed` on the files at `paths` into a bundle. With [`TrainOptions::resume`]
/// it goes on after the last checkpoint up to which all files are whole, and ends with the same
/// bytes as a run that was never interrupted.
///
/// A run that diverges fails with [`TrainError::Diverged`], and its bundle is whole as well: it ends
/// at the last checkpoint, whose parameters are the model.
///
/// If the specification stops early, the run ends at the checkpoint at which its rule holds, and
/// that checkpoint's parameters are the model.
///
/// It computes on the device that was chosen for this process.
pub fn run<'a>(
	spec: &'a CheckedSpec,
	seed: H256,
	paths: &InputPaths,
	options: TrainOptions<'a>,
) -> Result<Bundle, TrainError> {
	run_on(Compute::chosen(), spec, seed, paths, options)
}

/// Does what [`run`] does, on this device.
pub fn run_on<'a>(
	device: Compute,
	spec: &'a CheckedSpec,
	seed: H256,
	paths: &InputPaths,
	options: TrainOptions<'a>,
) -> Result<Bundle, TrainError> {
	let inputs = Inputs::load_until(spec, paths, options.stop)?;
	let out = options.out;
	resume::check_folder(out, options.resume)?;
	let _lock = Lock::take(out)?;
	files::create_folder(&out.join(bundle::CHECKPOINTS))?;
	files::remove_temporaries(out)?;
	files::remove_temporaries(&out.join(bundle::CHECKPOINTS))?;
	let (mut bundle, mut last) = resume::begin(spec, seed, out, options.keep)?;
	resume::check_space(&bundle, options.keep)?;
	keep_inputs(paths, &bundle)?;
	if resume::is_whole(&bundle) {
		return Ok(bundle);
	}
	let target = device.target().map_err(TrainError::Engine)?;
	let other = options.cheat.and_then(|cheat| cheat.trained(spec));
	let trained = other.as_ref().unwrap_or(spec);
	let engine = Engine::on(trained, seed, inputs.data, target).map_err(TrainError::Engine)?;
	if let Some(kept) = last.take() {
		last = resume::evaluations(&engine, &mut bundle, kept)?;
	}
	let begun_at = last.as_ref().map(|(step, _)| *step);
	Run::new(spec, engine, bundle, options, begun_at)?.go(last, inputs.initial_model)
}

/// Copies the files that the job reads into the bundle, so that it can be checked by itself.
fn keep_inputs(from: &InputPaths, bundle: &Bundle) -> Result<(), TrainError> {
	for (which, file) in bundle.manifest().spec.files() {
		let to = bundle.path(bundle::input_file(which));
		let Some(from) = from.get(which) else { continue };
		if inputs::check_content(&to, which, &file).is_ok() {
			continue;
		}
		let mut copied = Default::default();
		files::write_with(&to, |copy| {
			let mut source = HashingReader::new(std::fs::File::open(from)?);
			std::io::copy(&mut source, copy)?;
			copied = source.finish();
			Ok(())
		})?;
		// The source could have changed since its rows were read.
		let (found, bytes) = copied;
		if file.is_on_chain() {
			inputs::check_content(&to, which, &file)?;
			continue;
		}
		inputs::same_content(from, which, &file, found, bytes)?;
	}
	Ok(())
}

/// A manifest of many checkpoints is written at most this often.
const MANIFEST_PAUSE: Duration = Duration::from_secs(5);
/// Manifests of fewer checkpoints are written with every one.
const FEW_CHECKPOINTS: usize = 256;

/// A run, with what it writes and reports.
struct Run<'a> {
	spec: &'a CheckedSpec,
	engine: Engine,
	bundle: Bundle,
	options: TrainOptions<'a>,
	/// FLOP of a step and of an evaluation.
	parts: Parts,
	metrics: metrics::Writer,
	/// What was reported last.
	report: Progress,
	/// When the manifest was written last.
	written: Option<Instant>,
	/// States below this index are thinned out.
	swept: u32,
}

/// How far a run is.
struct Position {
	/// Steps done up to the last checkpoint.
	begin: u32,
	/// The state in the last checkpoint.
	raw: TensorMap,
	/// The state in the checkpoint before that, if this process wrote both.
	before: Option<TensorMap>,
	/// The present state.
	state: State,
	/// The trace of the segment under way, up to the present state.
	trace: Trace,
}

impl<'a> Run<'a> {
	/// Prepares a run that goes on after the checkpoint of step `begun_at` (none: from the
	/// beginning).
	fn new(
		spec: &'a CheckedSpec,
		engine: Engine,
		bundle: Bundle,
		options: TrainOptions<'a>,
		begun_at: Option<u32>,
	) -> Result<Self, TrainError> {
		let rate = LearningRate::of(&spec.training);
		let rate = move |steps: u32| rate.at(steps.saturating_sub(1));
		let metrics = metrics::Writer::open(bundle.folder(), begun_at, rate)?;
		let begun_at = begun_at.unwrap_or(0);
		let report = Progress {
			step: begun_at,
			steps: spec.training.steps,
			begun_at,
			loss: None,
			validation: bundle.manifest().checkpoints.last().map(|c| c.validation),
			stops_early: bundle.manifest().stops_early(),
			flop: 0,
		};
		let parts = Parts::of(spec);
		let (written, swept) = (None, 0);
		Ok(Self { spec, engine, bundle, options, parts, metrics, report, written, swept })
	}

	/// Runs from the checkpoint `last` (none: from the beginning) to the end.
	fn go(
		mut self,
		last: Option<(u32, TensorMap)>,
		initial_model: Option<Arc<TensorMap>>,
	) -> Result<Bundle, TrainError> {
		let (mut at, diverged) = match last {
			Some((begin, raw)) => (self.go_on(begin, raw)?, None),
			None => self.begin(initial_model)?,
		};
		let trained = match diverged {
			Some(error) => Err(error),
			None => self.train_all(&mut at),
		};
		let error = match trained {
			Ok(()) => return self.finish(&at.raw),
			Err(error) => error,
		};
		let TrainError::Diverged { step, what, advice, kept, bundle: _ } = error else {
			return Err(error);
		};
		self.bundle.manifest_mut().diverged = Some(at.trace.diverged());
		let bundle = Some(Box::new(self.finish(&at.raw)?));
		Err(TrainError::Diverged { step, what, advice, kept, bundle })
	}

	/// Trains all segments that are left, up to where the job stops.
	fn train_all(&mut self, at: &mut Position) -> Result<(), TrainError> {
		let (spec, segments) = (self.spec, self.spec.segments());
		let fabricated_from = self.options.cheat.and_then(|cheat| cheat.first_fabricated(segments));
		for segment in 0..segments {
			let end = spec.checkpoint_step(segment + 1);
			let Some(end) = end.filter(|end| *end > at.begin) else {
				continue;
			};
			if self.report.stops_early {
				break;
			}
			if fabricated_from.is_some_and(|from| segment >= from) {
				let next = cheat::fabricate(spec, end, at.before.as_ref(), &at.raw);
				at.state = State::from_host(next).map_err(TrainError::Engine)?;
			} else {
				self.train_until(end, at)?;
			}
			self.end_segment(end, at)?;
		}
		Ok(())
	}

	/// Makes the initial state and its checkpoint. Where that has no finite validation loss, it returns
	/// the divergence with them, and the checkpoint has no evaluation.
	fn begin(
		&mut self,
		initial_model: Option<Arc<TensorMap>>,
	) -> Result<(Position, Option<TrainError>), TrainError> {
		let seed = self.bundle.manifest().seed;
		let state = Engine::initial_state(self.spec, &seed, initial_model.as_deref())
			.map_err(TrainError::Engine)?;
		let raw = state.to_host().map_err(TrainError::Engine)?;
		let at = Position { begin: 0, raw, before: None, state, trace: Trace::new(0) };
		let error = match self.checkpoint(0, &at, &at.raw) {
			Ok(validation) => {
				self.report_checkpoint(0, validation);
				return Ok((at, None));
			}
			Err(error) => self.explained(error, &at, false),
		};
		if !matches!(error, TrainError::Diverged { .. }) {
			return Err(error);
		}
		self.write_checkpoint(0, &at.raw, None, &at.trace)?;
		Ok((at, Some(error)))
	}

	/// Goes on with the state `raw`, in the checkpoint of step `begin`.
	fn go_on(&mut self, begin: u32, raw: TensorMap) -> Result<Position, TrainError> {
		(self.options.progress)(&self.report);
		let state = State::from_host(raw.clone()).map_err(TrainError::Engine)?;
		Ok(Position { begin, raw, before: None, state, trace: Trace::new(begin) })
	}

	/// Trains the steps from the last checkpoint up to the next, at step `end`.
	fn train_until(&mut self, end: u32, at: &mut Position) -> Result<(), TrainError> {
		let loss_interval = metrics::interval(self.spec.training.steps);
		for step in at.begin..end {
			if self.options.stop.load(Ordering::Relaxed) {
				return Err(TrainError::Stopped { step, kept: self.kept() });
			}
			let done = step + 1;
			let trace = self.step(step, at)?;
			at.trace.step(&trace);
			if done % loss_interval == 0 {
				self.metrics.push(&Line::training(done, trace.loss, trace.gradient_norm))?;
			}
			let (loss, flop) = (Some(trace.loss), self.report.flop.saturating_add(self.parts.step));
			self.report = Progress { step: done, loss, validation: None, flop, ..self.report };
			// The last step is reported with its checkpoint.
			if done < end {
				(self.options.progress)(&self.report);
			}
		}
		Ok(())
	}

	/// Trains one step, whose loss must be finite.
	fn step(&self, step: u32, at: &mut Position) -> Result<StepTrace, TrainError> {
		match self.engine.step(&mut at.state, step) {
			Ok(trace) if trace.loss.is_finite() => Ok(trace),
			Ok(trace) => {
				let error = self.diverged(step + 1, format!("the loss is {}", trace.loss));
				Err(self.explained(error, at, false))
			}
			Err(e) => Err(self.explained(self.failed(step + 1, e), at, true)),
		}
	}

	/// Writes and reports the checkpoint at the end of a segment.
	fn end_segment(&mut self, end: u32, at: &mut Position) -> Result<(), TrainError> {
		let next = at.state.to_host().map_err(TrainError::Engine)?;
		let validation =
			self.checkpoint(end, at, &next).map_err(|e| self.explained(e, at, false))?;
		(at.begin, at.trace) = (end, Trace::new(end));
		at.before = Some(std::mem::replace(&mut at.raw, next));
		self.report_checkpoint(end, validation);
		Ok(())
	}

	/// Reports the checkpoint that was just written.
	fn report_checkpoint(&mut self, step: u32, validation: Evaluation) {
		let flop = self.report.flop.saturating_add(self.parts.evaluation);
		let (validation, stops_early) = (Some(validation), self.bundle.manifest().stops_early());
		self.report = Progress { step, validation, stops_early, flop, ..self.report };
		(self.options.progress)(&self.report);
	}

	/// Returns the step of the last checkpoint that is kept.
	fn kept(&self) -> u32 {
		self.bundle.manifest().checkpoints.last().map_or(0, |c| c.step)
	}

	/// Puts the present state, after `step` steps, on disk: file, metrics, manifest, in this order.
	fn checkpoint(
		&mut self,
		step: u32,
		at: &Position,
		raw: &TensorMap,
	) -> Result<Evaluation, TrainError> {
		let is_out_of_range = |x: &&f32| !x.is_finite();
		for (name, tensor) in raw {
			if let Some(value) = tensor.data.iter().find(is_out_of_range) {
				return Err(self.diverged(step, format!("{name} holds {value}")));
			}
		}
		let found = self.engine.evaluate_slices(&at.state).map_err(|e| self.failed(step, e))?;
		let validation = found.evaluation;
		if !validation.loss().is_finite() {
			let what = format!("the validation loss is {}", validation.loss());
			return Err(self.diverged(step, what));
		}
		let mut trace = at.trace.clone();
		trace.evaluation(&found);
		self.write_checkpoint(step, raw, Some(validation), &trace)?;
		Ok(validation)
	}

	/// Puts a finite state on disk, its evaluation, which only an initial state may lack, and the trace
	/// that ends with it.
	fn write_checkpoint(
		&mut self,
		step: u32,
		raw: &TensorMap,
		validation: Option<Evaluation>,
		trace: &Trace,
	) -> Result<(), TrainError> {
		files::write(&self.bundle.path(&checkpoint_file(step)), &tensors::encode(raw))?;
		if let Some(validation) = &validation {
			self.metrics.push(&Line::validation(step, validation))?;
		}
		self.metrics.sync()?;
		let validation = validation.unwrap_or(Evaluation::NONE);
		let state_hash = state_hash(raw, NanRule::Refuse).map_err(TrainError::Engine)?;
		let manifest = self.bundle.manifest_mut();
		manifest.checkpoints.push(Checkpoint {
			step,
			state_hash,
			validation,
			trace: trace.sealed(),
		});
		let few = manifest.checkpoints.len() <= FEW_CHECKPOINTS;
		if few || self.written.is_none_or(|at| at.elapsed() >= MANIFEST_PAUSE) {
			self.bundle.write_manifest()?;
			self.written = Some(Instant::now());
			self.swept = thin_out(&self.bundle, self.options.keep, self.swept)?;
		}
		Ok(())
	}

	/// Writes the rest of the metrics, the model, and then the manifest that says that all is done.
	fn finish(mut self, last: &TensorMap) -> Result<Bundle, TrainError> {
		if let Some(what) = self.engine.fell_back() {
			tracing::warn!("the GPU cannot compute {what}: the processor has trained this job");
		}
		self.metrics.finish()?;
		let model = bundle::model_bytes(last);
		files::write(&self.bundle.model(), &model)?;
		let config = bundle::config_bytes(self.bundle.manifest(), self.engine.data());
		files::write(&self.bundle.path(bundle::CONFIG_FILE), &config)?;
		let manifest: &mut Manifest = self.bundle.manifest_mut();
		manifest.model_root = Some(Chunked::new(&model).root);
		self.bundle.write_manifest()?;
		thin_out(&self.bundle, self.options.keep, self.swept)?;
		Ok(self.bundle)
	}
}

/// Removes the states from index `from` on before the last one that the manifest on disk lists, as far as they are not
/// kept: from that one a run goes on that is killed now. Returns up to which it is done.
fn thin_out(bundle: &Bundle, keep: Thinning, from: u32) -> Result<u32, TrainError> {
	let last = bundle.manifest().segments();
	restore::sweep(bundle, keep, from, last)?;
	Ok(last)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;
