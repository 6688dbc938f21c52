//! Training a job into a bundle, so that a kill at any moment loses at most the work
//! since the last checkpoint and changes no bit of the result.

mod cheat;
mod rehearse;
mod resume;

pub use cheat::Cheat;
pub use rehearse::{rehearse, Budget, RehearsalError};

use crate::{
	bundle::{
		self, files,
		lock::{Lock, LockError},
		manifest::{checkpoint_file, Manifest},
		metrics::{self, Line},
		tensors, Bundle, BundleError, Checkpoint, FileError, Tensors, Validation,
	},
	data::{self, DataError},
	engine::{Engine, EngineError, Evaluation, State},
	plot,
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
use trainyard_primitives::{
	blob::Chunked,
	schedule::LearningRate,
	spec::{JobSpec, SpecError},
};

/// Where a run stands.
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
	/// Validation, where a checkpoint was just written.
	pub validation: Option<Validation>,
}

/// How to run.
pub struct TrainOptions<'a> {
	/// Folder of the bundle.
	pub out: &'a Path,
	/// Go on with what the folder holds. Otherwise the folder must not hold a bundle.
	pub resume: bool,
	/// Cheat; for tests only.
	pub cheat: Option<Cheat>,
	/// Called after every step.
	pub progress: &'a mut dyn FnMut(&Progress),
	/// Set it, and the run ends after the present step; everything up to the last
	/// checkpoint is kept.
	pub stop: &'a AtomicBool,
}

/// Why a run ended without a whole bundle.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
	/// The specification is invalid.
	#[error("{field}: {0}", field = .0.field())]
	Spec(#[from] SpecError),
	/// The data are not those of the job.
	#[error(transparent)]
	Data(#[from] DataError),
	/// The folder holds a bundle already.
	#[error("{0} already holds a bundle. Go on with it by --resume, or choose another folder")]
	Exists(PathBuf),
	/// The folder holds the bundle of another job.
	#[error(
		"{folder} holds the bundle of another {what}. Choose another folder, or the JOB.toml and \
		 seed that it was begun with"
	)]
	Other {
		/// The folder.
		folder: PathBuf,
		/// "job" or "seed".
		what: &'static str,
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
	/// The numbers left the finite range.
	#[error(
		"training diverged at step {step}: {what}. The learning rate {learning_rate} is probably \
		 too high: try a tenth of it. The checkpoints up to step {kept} are kept"
	)]
	Diverged {
		/// The step, from 1, in which it was noticed.
		step: u32,
		/// Where.
		what: String,
		/// The learning rate, as a decimal.
		learning_rate: String,
		/// Step of the last checkpoint.
		kept: u32,
	},
	/// The engine failed.
	#[error(transparent)]
	Engine(EngineError),
	/// Tensors cannot be copied.
	#[error(transparent)]
	Tensor(#[from] tensors::TensorError),
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

/// Trains `spec` under `seed` on the file at `data_path` into a bundle. With
/// [`TrainOptions::resume`] it goes on behind the last checkpoint up to which all files are
/// whole, and ends with the same bytes as a run that was never interrupted.
pub fn run(
	spec: &JobSpec,
	seed: H256,
	data_path: &Path,
	options: TrainOptions<'_>,
) -> Result<Bundle, TrainError> {
	spec.validate()?;
	let data = Arc::new(data::load(data_path, &spec.dataset)?);
	let out = options.out;
	resume::check_folder(out, options.resume)?;
	let _lock = Lock::take(out)?;
	files::create_folder(&out.join(bundle::CHECKPOINTS))?;
	files::remove_temporaries(out)?;
	files::remove_temporaries(&out.join(bundle::CHECKPOINTS))?;
	let (bundle, last) = resume::begin(spec, seed, out)?;
	resume::check_space(&bundle)?;
	keep_data(data_path, &bundle)?;
	if resume::is_whole(&bundle) {
		return Ok(bundle);
	}
	let engine = Engine::new(spec, seed, data).map_err(TrainError::Engine)?;
	Run { engine, bundle, options, written: None }.go(last)
}

/// Copies the data into the bundle, so that it can be checked by itself.
fn keep_data(from: &Path, bundle: &Bundle) -> Result<(), TrainError> {
	let to = bundle.dataset();
	let dataset = &bundle.manifest().spec.dataset;
	if data::check_content(&to, dataset).is_ok() {
		return Ok(());
	}
	files::write_with(&to, |file| {
		std::io::copy(&mut std::fs::File::open(from)?, file)?;
		Ok(())
	})?;
	// The source could have changed while it was copied.
	Ok(data::check_content(&to, dataset)?)
}

/// A manifest of many checkpoints is written at most this often.
const MANIFEST_PAUSE: Duration = Duration::from_secs(5);
/// Manifests of fewer checkpoints are written with every one.
const FEW_CHECKPOINTS: usize = 256;

struct Run<'a> {
	engine: Engine,
	bundle: Bundle,
	options: TrainOptions<'a>,
	/// When the manifest was written last.
	written: Option<Instant>,
}

impl Run<'_> {
	/// From the checkpoint `last` (none: from the beginning) to the end.
	fn go(mut self, last: Option<(u32, Tensors)>) -> Result<Bundle, TrainError> {
		let spec = self.bundle.manifest().spec.clone();
		let segments = spec.segments();
		let begun_at = last.as_ref().map(|(step, _)| *step);
		let rate = LearningRate::of(&spec.training);
		let rate = move |steps: u32| rate.at(steps.saturating_sub(1));
		let mut metrics = metrics::Writer::open(self.bundle.folder(), begun_at, rate)?;
		let mut raw = match last {
			Some((_, state)) => state,
			None => {
				let state = Engine::initial_state(&spec, &self.bundle.manifest().seed)
					.map_err(TrainError::Engine)?;
				let raw = tensors::from_candle(&state.tensors)?;
				self.checkpoint(0, &state, &raw, &mut metrics)?;
				raw
			}
		};
		let begun_at = begun_at.unwrap_or(0);
		let mut report = Progress {
			step: begun_at,
			steps: spec.training.steps,
			begun_at,
			loss: None,
			validation: self.bundle.manifest().checkpoints.last().map(|c| c.validation),
		};
		(self.options.progress)(&report);
		let mut state = State::new(tensors::to_candle(&raw)?);
		let mut before: Option<Tensors> = None;
		let loss_interval = metrics::interval(spec.training.steps);
		let fabricated_from = self.options.cheat.map(|cheat| cheat.first_fabricated(segments));
		for segment in 0..segments {
			let (Some(begin), Some(end)) =
				(spec.checkpoint_step(segment), spec.checkpoint_step(segment + 1))
			else {
				continue;
			};
			if end <= begun_at {
				continue;
			}
			if fabricated_from.is_some_and(|from| segment >= from) {
				let next = cheat::fabricate(before.as_ref(), &raw);
				state = State::new(tensors::to_candle(&next)?);
			} else {
				for step in begin..end {
					if self.options.stop.load(Ordering::Relaxed) {
						return Err(TrainError::Stopped { step, kept: self.kept() });
					}
					let done = step + 1;
					let trace = match self.engine.step(&mut state, step) {
						Ok(trace) => trace,
						Err(e) => return Err(self.failed(done, e, &state)),
					};
					if !trace.loss.is_finite() {
						let what = format!("the loss is {}", trace.loss);
						return Err(self.diverged(done, what, &state));
					}
					if done % loss_interval == 0 {
						metrics.push(&Line::training(done, trace.loss))?;
					}
					report =
						Progress { step: done, loss: Some(trace.loss), validation: None, ..report };
					if done < end {
						(self.options.progress)(&report);
					}
				}
			}
			let next = tensors::from_candle(state.host().map_err(TrainError::Engine)?)?;
			let validation = self.checkpoint(end, &state, &next, &mut metrics)?;
			before = Some(std::mem::replace(&mut raw, next));
			report = Progress { step: end, validation: Some(validation), ..report };
			(self.options.progress)(&report);
		}
		metrics.finish()?;
		self.finish(&raw)
	}

	/// Step of the last checkpoint that is kept.
	fn kept(&self) -> u32 {
		self.bundle.manifest().checkpoints.last().map_or(0, |c| c.step)
	}

	fn diverged(&self, step: u32, what: String, state: &State) -> TrainError {
		let nano = self.bundle.manifest().spec.training.learning_rate_nano;
		let what = match largest(state) {
			Some((layer, value)) => {
				format!("{what}; the largest value is {value:e}, in {layer}")
			}
			None => what,
		};
		TrainError::Diverged {
			step,
			what,
			learning_rate: crate::amount::format_scaled(u128::from(nano), 9),
			kept: self.kept(),
		}
	}

	/// What an engine's error in step `step` (from 1) means for the run.
	fn failed(&self, step: u32, error: EngineError, state: &State) -> TrainError {
		match error {
			EngineError::NotANumber { tensor, .. } => {
				self.diverged(step, format!("{tensor} is not a number any more"), state)
			}
			EngineError::LossNotANumber => {
				let what = "the validation loss is not a number any more".to_owned();
				self.diverged(step, what, state)
			}
			error => TrainError::Engine(error),
		}
	}

	/// Puts the state after `step` steps on disk: file, metrics, manifest, in this order.
	fn checkpoint(
		&mut self,
		step: u32,
		state: &State,
		raw: &Tensors,
		metrics: &mut metrics::Writer,
	) -> Result<Validation, TrainError> {
		if let Some(name) = tensors::first_nan(raw) {
			return Err(self.diverged(step, format!("{name} holds a NaN"), state));
		}
		let evaluation = self.engine.evaluate(state).map_err(|e| self.failed(step, e, state))?;
		let validation = validation(&evaluation);
		if !validation.loss.is_finite() {
			let what = format!("the validation loss is {}", validation.loss);
			return Err(self.diverged(step, what, state));
		}
		files::write(&self.bundle.path(&checkpoint_file(step)), &tensors::encode(raw))?;
		metrics.push(&Line::validation(step, &validation))?;
		metrics.sync()?;
		let state_hash = tensors::hash(raw);
		let manifest = self.bundle.manifest_mut();
		manifest.checkpoints.push(Checkpoint { step, state_hash, validation });
		let few = manifest.checkpoints.len() <= FEW_CHECKPOINTS;
		if few || self.written.is_none_or(|at| at.elapsed() >= MANIFEST_PAUSE) {
			self.bundle.write_manifest()?;
			self.written = Some(Instant::now());
		}
		Ok(validation)
	}

	/// Writes the model, and then the manifest that says that all is done.
	fn finish(mut self, last: &Tensors) -> Result<Bundle, TrainError> {
		let model = bundle::model_bytes(last);
		files::write(&self.bundle.model(), &model)?;
		let config = bundle::config_bytes(self.bundle.manifest());
		files::write(&self.bundle.path(bundle::CONFIG_FILE), &config)?;
		if let Err(e) = plot::write_curves(self.bundle.folder()) {
			tracing::warn!("no picture of the run was made: {e}");
		}
		let manifest: &mut Manifest = self.bundle.manifest_mut();
		manifest.bundle_root = Some(manifest.computed_root());
		manifest.model_root = Some(Chunked::new(&model).root);
		self.bundle.write_manifest()?;
		Ok(self.bundle)
	}
}

/// The parameter of largest magnitude, and the tensor that holds it.
fn largest(state: &State) -> Option<(String, f32)> {
	let mut state = state.clone();
	let raw = bundle::parameters(&tensors::from_candle(state.host().ok()?).ok()?);
	raw.into_iter()
		.filter_map(|(name, tensor)| {
			let value = tensor.data.into_iter().map(f32::abs).max_by(f32::total_cmp)?;
			Some((name, value))
		})
		.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// An evaluation as it stands in a manifest.
pub(crate) fn validation(evaluation: &Evaluation) -> Validation {
	Validation { loss: evaluation.loss, correct: evaluation.correct, rows: evaluation.rows }
}

#[cfg(test)]
mod tests;
