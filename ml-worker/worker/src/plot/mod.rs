//! Draws curves of runs as SVG: losses, validation accuracy, learning rate.

mod picture;
pub mod trials;

use std::path::{Path, PathBuf};
use trainyard_program::{
	schedule::LearningRate,
	spec::{JobSpec, Loss, Model, Optimizer},
};
use trainyard_proof::bundle::{
	files::{self, FileError},
	metrics, Bundle, Manifest, CURVES_FILE,
};

/// Says why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
	/// Nothing was recorded.
	#[error(
		"{0} has no metrics yet: metrics.jsonl is missing or empty. `trainyard train JOB.toml \
		 --out DIR` writes it"
	)]
	NoMetrics(PathBuf),
	/// Drawing failed.
	#[error("drawing failed: {0}")]
	Drawing(String),
	/// A file cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
}

/// Draws `metrics.jsonl` of the bundle in `folder` into `curves.svg` beside it, and returns
/// its path. The picture is a function of the metrics and of the specification.
pub fn write_curves(folder: &Path) -> Result<PathBuf, PlotError> {
	let path = folder.join(CURVES_FILE);
	write(&[Run::read(folder, String::new())?], &path)?;
	Ok(path)
}

/// Draws the picture of a run that has ended. The run is complete without it, so a failure is only
/// reported.
pub fn illustrate(bundle: &Bundle) {
	if let Err(error) = write_curves(bundle.folder()) {
		tracing::warn!("no picture of the run was made: {error}");
	}
}

/// Draws the runs in `folders` into one picture at `path`.
pub fn write_runs(folders: &[PathBuf], path: &Path) -> Result<(), PlotError> {
	let names = names(folders);
	let read = |(folder, name): (&PathBuf, String)| Run::read(folder, name);
	let runs: Vec<Run> = folders.iter().zip(names).map(read).collect::<Result<_, _>>()?;
	write(&runs, path)
}

fn write(runs: &[Run], path: &Path) -> Result<(), PlotError> {
	let picture = picture::draw(runs).map_err(|e| PlotError::Drawing(e.to_string()))?;
	Ok(files::write(path, picture.as_bytes())?)
}

/// Returns names that distinguish the folders: their last names, or whole paths if those are not
/// enough.
fn names(folders: &[PathBuf]) -> Vec<String> {
	let last = |folder: &PathBuf| {
		let whole = folder.canonicalize().unwrap_or_else(|_| folder.clone());
		whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
	};
	let short: Vec<String> = folders.iter().map(last).collect();
	let mut sorted = short.clone();
	sorted.sort();
	sorted.dedup();
	match sorted.len() == short.len() {
		true => short,
		false => folders.iter().map(|folder| folder.display().to_string()).collect(),
	}
}

/// Step and value.
type Points = Vec<(f64, f64)>;

/// What is drawn of a run.
#[derive(Debug, Default)]
struct Run {
	/// Its name among others; empty if it is alone.
	name: String,
	/// What it is, in a line.
	heading: String,
	/// What the losses are.
	loss: &'static str,
	/// Loss of batches.
	training: Points,
	/// Loss over the validation rows.
	validation: Points,
	/// Share of validation labels that are predicted, in percent.
	accuracy: Points,
	/// Learning rate of the steps whose loss is known.
	learning_rate: Points,
	/// Steps of the job, or the last one known.
	steps: u32,
}

impl Run {
	fn read(folder: &Path, name: String) -> Result<Self, PlotError> {
		let lines = metrics::read(folder)?;
		if lines.is_empty() {
			return Err(PlotError::NoMetrics(folder.to_owned()));
		}
		let mut run = Self { name, loss: "loss", ..Self::default() };
		for line in &lines {
			let step = f64::from(line.step);
			run.training.extend(line.loss.map(|loss| (step, f64::from(loss))));
			run.validation.extend(line.validation_loss.map(|loss| (step, f64::from(loss))));
			run.accuracy.extend(line.validation_accuracy.map(|share| (step, 100.0 * share)));
		}
		run.steps = lines.iter().map(|line| line.step).max().unwrap_or(0).max(1);
		if let Ok(bundle) = Bundle::open(folder) {
			run.describe(bundle.manifest());
		}
		Ok(run)
	}

	/// Adds what the specification says.
	fn describe(&mut self, manifest: &Manifest) {
		let spec = &manifest.spec;
		let rate = LearningRate::of(&spec.training);
		let steps = self.training.iter().map(|(step, _)| *step);
		self.learning_rate =
			steps.map(|step| (step, f64::from(rate.at((step as u32).saturating_sub(1))))).collect();
		self.loss = match spec.training.loss {
			Loss::CrossEntropy => "cross-entropy",
			Loss::MeanSquaredError => "squared error",
		};
		self.heading = heading(spec);
		self.steps = spec.training.steps;
	}
}

/// Describes a job in a line: model, steps, optimizer.
fn heading(spec: &JobSpec) -> String {
	let model = match &spec.model {
		Model::Mlp { hidden, .. } => {
			let (first, last) = (spec.dataset.features, spec.dataset.classes);
			let widths = [first].into_iter().chain(hidden.iter().copied()).chain([last]);
			format!("MLP {}", widths.map(|w| w.to_string()).collect::<Vec<_>>().join("-"))
		}
		Model::Cnn { layers, .. } => format!("CNN of {} layers", layers.len() + 1),
		Model::Transformer { layers, width, .. } => {
			format!("transformer, {layers} blocks of width {width}")
		}
		Model::Layers { layers, .. } => format!("{} layers", layers.len()),
	};
	let training = &spec.training;
	let optimizer = match training.optimizer {
		Optimizer::Sgd { .. } => "SGD",
		Optimizer::AdamW { .. } => "AdamW",
		Optimizer::Adam { .. } => "Adam",
	};
	let rate = trainyard_client::amount::format_scaled(u128::from(training.learning_rate_nano), 9);
	format!(
		"{model}; {} steps of {} rows; {optimizer}, learning rate {rate}",
		training.steps, training.batch_size
	)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_proof::{
		bundle::metrics::Line,
		testing::{changed, job, table, train},
	};
	use trainyard_protocol::bundle::Evaluation;

	#[test]
	fn a_run_without_a_manifest_is_drawn() {
		let dir = tempfile::tempdir().unwrap();
		assert!(matches!(write_curves(dir.path()), Err(PlotError::NoMetrics(_))));
		let mut writer = metrics::Writer::open(dir.path(), None, |_| 0.1).unwrap();
		for step in 0..20u32 {
			writer.push(&Line::training(step + 1, 2.0 / (step + 1) as f32, None)).unwrap();
			if step % 5 == 0 {
				let validation = Evaluation::new(1.0, step, 20);
				writer.push(&Line::validation(step, &validation)).unwrap();
			}
		}
		writer.sync().unwrap();
		let picture = std::fs::read_to_string(write_curves(dir.path()).unwrap()).unwrap();
		for part in ["<svg", "training", "validation", "75.00 % at the end", "polyline"] {
			assert!(picture.contains(part), "{part} is not in the picture");
		}
	}

	#[test]
	fn a_bundle_is_described_and_several_are_named() {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let spec = job(&data);
		let (first, second) = (folder.path().join("first"), folder.path().join("a<b"));
		illustrate(&train(&spec, &data, &first, false, None).unwrap());
		let own = std::fs::read_to_string(first.join(CURVES_FILE)).unwrap();
		for part in ["MLP 4-8-3; 60 steps of 8 rows; AdamW, learning rate 0.01", "cross-entropy"] {
			assert!(own.contains(part), "{part} is not in the picture");
		}
		assert!(!own.contains("first"), "a bundle's files do not depend on its folder");
		assert!(!own.contains(">learning rate<"), "a constant rate needs no panel");

		let spec = changed(&spec, |spec| spec.training.warmup_steps = 20);
		train(&spec, &data, &second, false, None).unwrap();
		let path = folder.path().join("runs.svg");
		write_runs(&[first.clone(), second], &path).unwrap();
		let both = std::fs::read_to_string(&path).unwrap();
		for part in ["2 runs", "first", "a&lt;b", "learning rate"] {
			assert!(both.contains(part), "{part} is not in the picture");
		}
		let error = write_runs(&[first, folder.path().to_owned()], &path).unwrap_err();
		assert!(matches!(error, PlotError::NoMetrics(_)), "{error}");
	}

	#[test]
	fn folders_of_one_name_are_distinguished() {
		let paths = |names: [&str; 2]| names.map(PathBuf::from);
		assert_eq!(names(&paths(["/x/a", "/x/b/"])), ["a", "b"]);
		assert_eq!(names(&paths(["/x/a", "/y/a"])), ["/x/a", "/y/a"]);
	}
}
