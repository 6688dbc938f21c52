//! Recorders against the reference in memory, on jobs of every kind.

mod bundles;
mod costs;
mod games;
mod kept;
mod places;

use super::*;
use std::collections::BTreeMap;
use tempfile::TempDir;
use trainyard_court::{
	game::player::{Record, StateAt},
	testing::{
		jobs,
		run::{Change, Job, Run},
		specs, World,
	},
};
use trainyard_engine::{Table, Tensor32};

/// Returns the words of what is hashed.
fn words(bytes: &[u8]) -> Vec<u32> {
	let (words, rest) = bytes.as_chunks::<4>();
	assert!(rest.is_empty());
	words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
	words(bytes).into_iter().map(f32::from_bits).collect()
}

/// Returns what a job of the reference reads, as the engine takes it.
fn inputs_of(job: &Job) -> Inputs {
	let features = job.spec().dataset.features as usize;
	let [x, y, x_validation, y_validation] = &job.world.rows;
	let table =
		|x: &[u8], y: &[u8]| Table { features, x: numbers(x), y: words(y), ..Table::default() };
	let data = Data { train: table(x, y), validation: table(x_validation, y_validation) };
	let named = StateTensors::parameters(job.spec());
	let parameters = named.tensors().iter().zip(&job.parameters).map(|(tensor, bytes)| {
		let tensor32 = Tensor32 { shape: tensor.shape.clone(), data: numbers(bytes) };
		(tensor.name.clone(), tensor32)
	});
	let model: TensorMap = parameters.collect();
	Inputs { data: Arc::new(data), initial_model: (!model.is_empty()).then(|| Arc::new(model)) }
}

/// A result of a job on disk, as a trainer keeps it: what a run of the reference comes to.
struct OnDisk {
	folder: TempDir,
	case: Case,
	claims: Claims,
	inputs: Inputs,
}

impl OnDisk {
	fn new(job: &Job, run: &Run) -> Self {
		let folder = tempfile::tempdir().unwrap();
		let named = StateTensors::of(job.spec());
		std::fs::create_dir(folder.path().join(bundle::CHECKPOINTS)).unwrap();
		for (index, checkpoint) in (0..).zip(&run.checkpoints) {
			let tensors = (0..).zip(named.tensors()).map(|(at, tensor)| {
				let bytes = run.tensor(StateAt::Checkpoint(index), at, <[u8]>::to_vec).unwrap();
				let held = Tensor32 { shape: tensor.shape.clone(), data: numbers(&bytes) };
				(tensor.name.clone(), held)
			});
			let bytes = tensors::encode(&tensors.collect::<TensorMap>());
			let path = folder.path().join(checkpoint_file(checkpoint.step));
			std::fs::write(path, bytes).unwrap();
		}
		let claims = Claims { checkpoints: run.checkpoints.clone(), diverged: run.diverged };
		Self { folder, case: job.world.case.clone(), claims, inputs: inputs_of(job) }
	}

	fn recorder(&self, options: Options) -> Recorder {
		let (case, claims) = (self.case.clone(), self.claims.clone());
		Recorder::new(case, claims, self.folder.path(), self.inputs.clone(), options).unwrap()
	}
}

/// Options that keep up to `disk` bytes in a folder.
fn kept_in(folder: &Path, disk: u64) -> Options {
	Options { folder: Some(folder.join("court")), disk, ..Options::default() }
}

/// Small jobs with all operators, in one segment of three steps.
fn all_operators() -> Vec<(String, Job)> {
	let short = |(index, mut spec): (usize, trainyard_program::spec::JobSpec)| {
		(spec.training.steps, spec.training.checkpoint_interval) = (3, 3);
		(format!("operators {index}"), Job::new(spec))
	};
	specs().into_iter().enumerate().map(short).collect()
}

/// Jobs of every kind: an MLP, a CNN, a transformer and other layers, several slices, a fine-tuning,
/// one that stops early, and those that diverge wherever a job can.
fn every_kind() -> Vec<(String, Job)> {
	let mut all = all_operators();
	let more = [
		("small", jobs::small()),
		("cnn", jobs::cnn()),
		("slices", jobs::slices()),
		("tuned", jobs::tuned()),
		("stops", jobs::stops_soon()),
		("diverges in a loss", jobs::diverges_in_a_loss()),
		("diverges in a state", jobs::diverges_in_a_state()),
		("diverges at an end", jobs::diverges_at_an_end()),
		("diverges in an evaluation", jobs::diverges_in_an_evaluation()),
		("diverges before it begins", jobs::diverges_before_it_begins()),
	];
	all.extend(more.map(|(name, job)| (name.to_owned(), job)));
	all
}

/// Returns the files below a folder, with their bytes.
fn files_in(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
	let (mut found, mut left) = (BTreeMap::new(), vec![folder.to_owned()]);
	while let Some(path) = left.pop() {
		match path.is_dir() {
			true => left.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path())),
			false => {
				let bytes = std::fs::read(&path).unwrap();
				found.insert(path, bytes);
			}
		}
	}
	found
}
