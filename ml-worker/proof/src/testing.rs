//! A job that trains in milliseconds, for unit tests.

use crate::{
	bundle::{
		manifest::{self, checkpoint_file},
		tensors,
		thinning::Thinning,
		Bundle,
	},
	data, hash,
	inputs::{self, InputPaths, Inputs},
	trace::Trace,
	train::{self, Cheat, TrainError, TrainOptions},
};
use primitive_types::H256;
use std::{
	path::{Path, PathBuf},
	sync::atomic::AtomicBool,
};
use trainyard_engine::{state_hash, Engine, NanRule, State, TensorMap};
use trainyard_program::spec::{
	Activation, CheckedSpec, DataFormat, Dataset, EarlyStop, FileRef, InitialModel, JobSpec, Model,
	MAX_NANO,
};
use trainyard_protocol::bundle::Evaluation;

/// Seed of the runs.
pub const SEED: H256 = H256([7; 32]);

/// Writes a small table into `folder`: three classes around three points, in a repeatable random
/// order.
pub fn table(folder: &Path) -> PathBuf {
	let mut text = String::from("a,b,c,d,label\n");
	let mut noise = 12_345u32;
	for i in 0..60 {
		let label = i % 3;
		let mut cells = Vec::new();
		for feature in 0..4 {
			noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
			let centre = if feature == label { 8 } else { 0 };
			cells.push((centre + (noise >> 29)).to_string());
		}
		text.push_str(&format!("{},{label}\n", cells.join(",")));
	}
	let path = folder.join("table.csv");
	std::fs::write(&path, text).unwrap();
	path
}

/// A job on the table at `path`: 60 steps in six segments.
pub fn job(path: &Path) -> CheckedSpec {
	let found = data::inspect(path, None, DataFormat::CsvLabelLast, 4, 1).unwrap();
	let mut spec = JobSpec::example();
	spec.dataset = Dataset {
		content_hash: found.content_hash,
		bytes: found.bytes,
		train_rows: found.train_rows as u32,
		validation_rows: found.validation_rows as u32,
		validation_every: 4,
		features: found.features,
		classes: found.classes,
		..spec.dataset
	};
	let hidden = vec![8].try_into().unwrap();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	spec.training.steps = 60;
	spec.training.batch_size = 8;
	spec.training.checkpoint_interval = 10;
	spec.training.learning_rate_nano = 10_000_000;
	on_rows_of(spec, path)
}

/// Returns the specification, which names the rows of the data at `path` now. It must be valid.
pub fn on_rows_of(mut spec: JobSpec, path: &Path) -> CheckedSpec {
	let rows = data::read_rows(path, None, &spec.dataset, &AtomicBool::new(false)).unwrap();
	spec.dataset.rows = rows.root();
	spec.check().unwrap()
}

/// Returns the same job on the inputs of the data at `path` as they are, not divided.
pub fn undivided(spec: &CheckedSpec, path: &Path) -> CheckedSpec {
	let mut spec = spec.spec().clone();
	spec.dataset.feature_divisor = 1;
	on_rows_of(spec, path)
}

/// Returns the same job, but it stops early: no fall of the loss is large enough, so it ends with
/// its third segment.
pub fn stopping(path: &Path) -> CheckedSpec {
	changed(&job(path), |spec| {
		spec.training.early_stop = Some(EarlyStop { patience: 3, min_delta_nano: MAX_NANO });
	})
}

/// A specification with something changed, which must stay valid.
pub fn changed(spec: &CheckedSpec, change: impl FnOnce(&mut JobSpec)) -> CheckedSpec {
	let mut spec = spec.spec().clone();
	change(&mut spec);
	spec.check().unwrap()
}

/// Returns the evaluation with a different loss.
pub fn with_loss(of: Evaluation, loss: f32) -> Evaluation {
	Evaluation::new(loss, of.correct, of.labels)
}

/// Trains a job on the table at `data` into `out`.
pub fn train(
	spec: &CheckedSpec,
	data: &Path,
	out: &Path,
	resume: bool,
	cheat: Option<Cheat>,
) -> Result<Bundle, TrainError> {
	train_on(spec, &InputPaths::data(data), out, resume, cheat)
}

/// Trains a job on these files into `out`.
pub fn train_on(
	spec: &CheckedSpec,
	paths: &InputPaths,
	out: &Path,
	resume: bool,
	cheat: Option<Cheat>,
) -> Result<Bundle, TrainError> {
	let stop = AtomicBool::new(false);
	let progress = &mut |_: &train::Progress| {};
	train::run(
		spec,
		SEED,
		paths,
		TrainOptions { out, resume, keep: Thinning::NONE, cheat, progress, stop: &stop },
	)
}

/// Replaces checkpoint `jump` of the bundle in `out`, of a run on these inputs, by what `change` makes of
/// its state, and trains truly on from there: the segment before it alone is false. Returns the bundle and
/// its last state.
pub fn jump(
	spec: &CheckedSpec,
	inputs: &Inputs,
	out: &Path,
	jump: usize,
	change: impl FnOnce(&mut TensorMap),
) -> (Bundle, TensorMap) {
	let engine = Engine::new(spec, SEED, inputs.data.clone()).unwrap();
	let bundle = Bundle::open(out).unwrap();
	let mut manifest = bundle.manifest().clone();
	let mut state = bundle.checkpoint(manifest.checkpoints[jump].step).unwrap();
	change(&mut state);
	for index in jump..manifest.checkpoints.len() {
		let step = manifest.checkpoints[index].step;
		let mut now = State::from_host(state).unwrap();
		let from = manifest.checkpoints[index - 1].step;
		let mut trace = Trace::new(from);
		if index > jump {
			for step in from..step {
				trace.step(&engine.step(&mut now, step).unwrap());
			}
		}
		state = now.to_host().unwrap();
		std::fs::write(out.join(checkpoint_file(step)), tensors::encode(&state)).unwrap();
		manifest.checkpoints[index].state_hash = state_hash(&state, NanRule::Refuse).unwrap();
		let found = engine.evaluate_slices(&now).unwrap();
		trace.evaluation(&found);
		let listed = &mut manifest.checkpoints[index];
		(listed.validation, listed.trace) = (found.evaluation, trace.sealed());
	}
	manifest.bundle_root = manifest.computed_root();
	std::fs::write(out.join(manifest::FILE), manifest.to_bytes()).unwrap();
	(Bundle::open(out).unwrap(), state)
}

/// Returns the same job, which begins with the model in this file at `path`.
pub fn beginning_with(spec: &CheckedSpec, file: FileRef, path: &Path) -> CheckedSpec {
	let (_, parameters) = inputs::read_initial_model(spec, &file, path).unwrap();
	changed(spec, |spec| spec.initial_model = Some(InitialModel { file, parameters }))
}

/// Returns the same job, which begins with the model in the bundle at `published`, and the files
/// that it reads.
pub fn tuned(spec: &CheckedSpec, data: &Path, published: &Bundle) -> (CheckedSpec, InputPaths) {
	let model = published.model();
	let (content_hash, bytes) = hash::file(&model).unwrap();
	let file = FileRef { content_hash, bytes, ..spec.dataset.file() };
	let paths = InputPaths { initial_model: Some(model.clone()), ..InputPaths::data(data) };
	(beginning_with(spec, file, &model), paths)
}
