//! Proof-of-Training bundles. A bundle is a folder with everything that shows how a model was made.
//!
//! | file | content |
//! |---|---|
//! | `manifest.json` | specification, seed; for each checkpoint step, state hash, evaluation, sealed trace; where training diverged after them |
//! | `shown.json` | the manifest as it is shown to others, where some traces are [forced] |
//! | `checkpoints/step-########.safetensors` | the full training state: parameters and optimizer |
//! | `metrics.jsonl` | losses and accuracies for plots |
//! | `metrics.csv` | the same as a table, see [`records`] |
//! | `events.out.tfevents.0.trainyard` | the same for TensorBoard |
//! | `model.safetensors`, `config.json` | the final model alone, loadable by anyone |
//! | `dataset.csv` | the data, so that the bundle can be checked by itself |
//! | `labels.idx` | the labels, if the job keeps them in their own file |
//! | `initial-model.safetensors` | the initial model of a fine-tuning |
//! | `curves.svg` | a picture of the metrics |
//!
//! Every file is written atomically, and a checkpoint is written before the manifest that lists it,
//! so the manifest never lists a file that is not whole. A bundle may also be partial (a verifier
//! fetches only what it replays); the manifest shows what is missing.

pub mod files;
pub mod lock;
pub mod manifest;
pub mod metrics;
pub mod openings;
pub mod parts;
mod points;
pub mod records;
pub mod samples;
mod tensorboard;
pub mod tensors;
pub mod thinning;

pub use files::FileError;
pub use manifest::{Checkpoint, Manifest};

use crate::hash;
use primitive_types::H256;
use serde::Serialize;
use std::path::{Path, PathBuf};
use trainyard_engine::{state_hash, Data, NanRule, TensorMap};
use trainyard_program::{
	lower, needs,
	spec::{CheckedSpec, DataFormat, InputFile, Layer, Model, Normalization},
};
use trainyard_protocol::{
	accusation::LeafContent,
	bundle::bundle_leaves,
	forced::{self, Secret},
	job::WorkResult,
};

/// Name of the manifest in which leaves are forced.
pub const SHOWN_FILE: &str = "shown.json";
/// Name of the final model.
pub const MODEL_FILE: &str = "model.safetensors";
/// Name of its description.
pub const CONFIG_FILE: &str = "config.json";
/// Name of the copy of the data.
pub const DATASET_FILE: &str = "dataset.csv";
/// Name of the copy of the labels, of a job that keeps them in a file of their own.
pub const LABELS_FILE: &str = "labels.idx";
/// Name of the copy of the initial model, of a fine-tuning.
pub const INITIAL_MODEL_FILE: &str = "initial-model.safetensors";
/// Name of the picture.
pub const CURVES_FILE: &str = "curves.svg";
/// Name of the folder of checkpoints.
pub const CHECKPOINTS: &str = "checkpoints";

/// Says why a bundle, or a part of it, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
	/// The folder holds no manifest.
	#[error(
		"{0} is no bundle: it has no manifest.json. `trainyard train JOB.toml --out DIR` makes one"
	)]
	NoManifest(PathBuf),
	/// The manifest cannot be understood.
	#[error(
		"{path} cannot be read: {why}. Get it again from where it is whole, or train again in \
		 another folder"
	)]
	Manifest {
		/// The manifest.
		path: PathBuf,
		/// What is wrong, in one line.
		why: String,
	},
	/// The manifest lists no checkpoint of this step.
	#[error("the manifest lists no checkpoint of step {0}")]
	NoCheckpoint(u32),
	/// A checkpoint file is not the state that the manifest lists.
	#[error("{path} does not hash to the state that the manifest lists for step {step}: {why}")]
	Checkpoint {
		/// The file.
		path: PathBuf,
		/// Its step.
		step: u32,
		/// What was found.
		why: String,
	},
	/// A file could not be read or written.
	#[error(transparent)]
	File(#[from] FileError),
}

/// A bundle in a folder.
#[derive(Clone, Debug)]
pub struct Bundle {
	folder: PathBuf,
	manifest: Manifest,
}

impl Bundle {
	/// Reads the manifest of the bundle in `folder`; nothing else needs to be there.
	pub fn open(folder: &Path) -> Result<Self, BundleError> {
		let path = folder.join(manifest::FILE);
		if !path.exists() {
			return Err(BundleError::NoManifest(folder.to_owned()));
		}
		let bytes = files::read(&path, manifest::MAX_BYTES)?;
		let manifest =
			Manifest::parse(&bytes).map_err(|why| BundleError::Manifest { path, why })?;
		Ok(Self { folder: folder.to_owned(), manifest })
	}

	/// Begins a bundle in `folder`. Nothing is written yet.
	pub(crate) fn create(folder: &Path, manifest: Manifest) -> Self {
		Self { folder: folder.to_owned(), manifest }
	}

	/// Returns its folder.
	pub fn folder(&self) -> &Path {
		&self.folder
	}

	/// Returns its manifest.
	pub fn manifest(&self) -> &Manifest {
		&self.manifest
	}

	pub(crate) fn manifest_mut(&mut self) -> &mut Manifest {
		&mut self.manifest
	}

	/// Writes the manifest, with the root over what it lists.
	pub(crate) fn write_manifest(&mut self) -> Result<(), FileError> {
		self.manifest.bundle_root = self.root();
		files::write(&self.folder.join(manifest::FILE), &self.manifest.to_bytes())
	}

	/// Returns the path of a file of the bundle.
	pub fn path(&self, file: &str) -> PathBuf {
		self.folder.join(file)
	}

	/// Returns the path of the final model.
	pub fn model(&self) -> PathBuf {
		self.path(MODEL_FILE)
	}

	/// Returns the Merkle root over the checkpoints that the manifest lists.
	pub fn root(&self) -> H256 {
		self.manifest.computed_root()
	}

	/// Returns the root, as a blob on chain, of the bytes of `model.safetensors`.
	pub fn model_root(&self) -> Result<H256, FileError> {
		let path = self.model();
		hash::blob_root(&path).map_err(files::at("read", &path))
	}

	/// Returns the result that the trainer commits to and reveals: with the root of the manifest that it
	/// [shows](Self::shown).
	pub fn result(&self) -> Result<WorkResult, BundleError> {
		let (segments, diverged) = (self.manifest.segments(), self.manifest.diverged.is_some());
		let (true_root, model_root) = (self.root(), self.model_root()?);
		let bundle_root = self.shown()?.map_or(true_root, |shown| shown.computed_root());
		Ok(WorkResult { bundle_root, true_root, model_root, segments, diverged })
	}

	/// Returns the manifest that others are shown, in which leaves are forced; `None` where none is, and
	/// others are shown this bundle's own.
	pub fn shown(&self) -> Result<Option<Manifest>, BundleError> {
		let path = self.path(SHOWN_FILE);
		if !path.exists() {
			return Ok(None);
		}
		let bytes = files::read(&path, manifest::MAX_BYTES)?;
		let shown = Manifest::parse(&bytes).map_err(|why| BundleError::Manifest { path, why })?;
		Ok(Some(shown))
	}

	/// Returns what the leaves say that others are shown, under the root that is committed to.
	pub fn shown_leaves(&self) -> Result<Vec<LeafContent>, BundleError> {
		Ok(self.shown()?.as_ref().unwrap_or(&self.manifest).leaves())
	}

	/// Forces leaves of a run that is over: writes the manifest that others are shown, in which those have a
	/// false trace that its seed and this secret draw. This bundle's own manifest keeps the true ones. It
	/// writes the same whenever it is called, so it can be called again.
	pub fn force(&self, secret: &Secret) -> Result<(), FileError> {
		let computed: Vec<_> = self.manifest.checkpoints.iter().map(Checkpoint::bound).collect();
		let marked = forced::mark(&self.manifest.seed, secret, &computed);
		let mut shown = self.manifest.clone();
		for (listed, marked) in shown.checkpoints.iter_mut().zip(marked) {
			listed.trace = marked.trace;
		}
		shown.bundle_root = shown.computed_root();
		files::write(&self.path(SHOWN_FILE), &shown.to_bytes())
	}

	/// Returns what opens the leaves that [`Self::force`] forced; `None` where the run is not over.
	pub fn opening(&self, secret: &Secret) -> Option<forced::Opening> {
		let computed: Vec<_> = self.manifest.checkpoints.iter().map(Checkpoint::bound).collect();
		let leaves = bundle_leaves(computed.iter().copied(), self.manifest.diverged);
		forced::Opening::of(&self.manifest.seed, secret, &computed, &leaves)
	}

	/// Returns whether training has ended: all checkpoints that there will be and the model are
	/// listed.
	pub fn is_finished(&self) -> bool {
		self.manifest.model_root.is_some()
	}

	/// Returns whether the file of the checkpoint after `step` steps is there.
	pub fn has_checkpoint(&self, step: u32) -> bool {
		self.path(&manifest::checkpoint_file(step)).is_file()
	}

	/// Returns the state after `step` steps, checked against the manifest's hash.
	pub fn checkpoint(&self, step: u32) -> Result<TensorMap, BundleError> {
		self.checkpoint_within(step, max_checkpoint_bytes(&self.manifest.spec))
	}

	/// Does what [`Self::checkpoint`] does, for a file of at most `limit` bytes. The limit is an
	/// argument because the specification in the manifest is only the trainer's word.
	pub fn checkpoint_within(&self, step: u32, limit: u64) -> Result<TensorMap, BundleError> {
		let listed = self
			.manifest
			.checkpoints
			.iter()
			.find(|c| c.step == step)
			.ok_or(BundleError::NoCheckpoint(step))?;
		let path = self.path(&manifest::checkpoint_file(step));
		let bytes = files::read(&path, limit)?;
		let wrong = |why: String| BundleError::Checkpoint { path: path.clone(), step, why };
		let state = tensors::decode_any_nan(&bytes).map_err(|e| wrong(e.to_string()))?;
		match state_hash(&state, NanRule::Allow).map_err(|e| wrong(e.to_string()))? {
			hash if hash == listed.state_hash => Ok(state),
			hash => Err(wrong(format!("it hashes to {hash:?}, not {:?}", listed.state_hash))),
		}
	}
}

/// Returns the name of the copy of a file that a job reads.
pub fn input_file(which: InputFile) -> &'static str {
	match which {
		InputFile::Data => DATASET_FILE,
		InputFile::Labels => LABELS_FILE,
		InputFile::InitialModel => INITIAL_MODEL_FILE,
	}
}

/// Returns the hash of the state in these bytes of a checkpoint file; none if they hold no state.
pub fn hash_of_state(bytes: &[u8]) -> Option<H256> {
	state_hash(&tensors::decode_any_nan(bytes).ok()?, NanRule::Allow).ok()
}

/// Returns whether the folder of a bundle may hold a file of this name because a result is audited:
/// manifest, states, and the files that the job reads.
pub fn audited(name: &str) -> bool {
	let named = [manifest::FILE, DATASET_FILE, LABELS_FILE, INITIAL_MODEL_FILE];
	named.contains(&name) || manifest::step_of(name).is_some()
}

/// Returns the most bytes that a checkpoint file of this job can have.
pub fn max_checkpoint_bytes(spec: &CheckedSpec) -> u64 {
	needs::checkpoint_bytes(spec)
}

/// Returns the path of a file of the bundle in `folder` as others are shown it: in the place of the manifest
/// that with forced leaves, if there is one.
pub fn shown_file(folder: &Path, file: &str) -> PathBuf {
	let shown = folder.join(SHOWN_FILE);
	match file == manifest::FILE && shown.exists() {
		true => shown,
		false => folder.join(file),
	}
}

/// Returns whether a path, as a client asks for it, names a file of a bundle. A trainer serves only
/// these, so no path leads out of the folder.
pub fn servable(path: &str) -> bool {
	[
		manifest::FILE,
		metrics::FILE,
		records::CSV_FILE,
		records::EVENTS_FILE,
		MODEL_FILE,
		CONFIG_FILE,
		DATASET_FILE,
		LABELS_FILE,
		INITIAL_MODEL_FILE,
		CURVES_FILE,
	]
	.contains(&path)
		|| manifest::step_of(path).is_some()
}

/// Returns the parameters of a state, which make up the model.
pub fn parameters(mut state: TensorMap) -> TensorMap {
	state.retain(|name, _| is_parameter(name));
	state
}

/// Returns a copy of the parameters of a state.
pub fn copy_parameters(state: &TensorMap) -> TensorMap {
	let kept = state.iter().filter(|(name, _)| is_parameter(name));
	kept.map(|(name, tensor)| (name.clone(), tensor.clone())).collect()
}

/// Returns whether the tensor of a state with this name is a parameter of the model.
fn is_parameter(name: &str) -> bool {
	!name.starts_with(lower::OPTIMIZER_PREFIX)
}

/// Returns the bytes of `model.safetensors` for a final state.
pub fn model_bytes(state: &TensorMap) -> Vec<u8> {
	tensors::encode(state.iter().filter(|(name, _)| is_parameter(name)))
}

/// `config.json`: how to use `model.safetensors` without this program.
#[derive(Serialize)]
struct Config<'a> {
	format: &'static str,
	model: &'a Model,
	/// The model's layers written out, from the input on.
	layers: Vec<Layer>,
	/// Names of the parameters in `model.safetensors`, by layer with parameters: of a linear
	/// layer, `y = x W^T + b`.
	parameters: Vec<Vec<String>>,
	/// Names of the vectors of the mapping there, in their order, where there is one: `x - 2 (x . v) v` by
	/// each in turn.
	#[serde(skip_serializing_if = "Vec::is_empty")]
	mapping: Vec<String>,
	/// Raw inputs are divided by this.
	feature_divisor: u32,
	/// The normalisation after that.
	normalization: Normalization,
	/// With `standard`: this is subtracted from each feature, …
	#[serde(skip_serializing_if = "Option::is_none")]
	feature_mean: Option<&'a [f32]>,
	/// … and the difference is divided by this.
	#[serde(skip_serializing_if = "Option::is_none")]
	feature_deviation: Option<&'a [f32]>,
	dataset_format: DataFormat,
	dataset_content_hash: H256,
	seed: H256,
	bundle_root: H256,
}

/// Returns the bytes of `config.json`, of a run on `data`.
pub(crate) fn config_bytes(manifest: &Manifest, data: &Data) -> Vec<u8> {
	let spec = &manifest.spec;
	let normalizer = data.train.normalizer.as_deref();
	let config = Config {
		format: "trainyard/model/v3",
		model: &spec.model,
		layers: spec.model.layers(&spec.dataset),
		parameters: parameter_names(spec),
		mapping: mapping_names(spec),
		feature_divisor: spec.dataset.feature_divisor,
		normalization: spec.dataset.normalization,
		feature_mean: normalizer.map(|n| &n.mean[..]),
		feature_deviation: normalizer.map(|n| &n.deviation[..]),
		dataset_format: spec.dataset.format,
		dataset_content_hash: spec.dataset.content_hash,
		seed: manifest.seed,
		bundle_root: manifest.computed_root(),
	};
	let mut bytes = serde_json::to_vec_pretty(&config).unwrap_or_default();
	bytes.push(b'\n');
	bytes
}

/// Returns the names of the parameters, by layer.
fn parameter_names(spec: &CheckedSpec) -> Vec<Vec<String>> {
	let all: Vec<String> = lower::state(spec)
		.into_iter()
		.map(|tensor| tensor.name)
		.filter(|name| !name.starts_with(lower::OPTIMIZER_PREFIX))
		.collect();
	(0..)
		.map(|layer| {
			let prefix = lower::layer_prefix(layer);
			all.iter().filter(|name| name.starts_with(&prefix)).cloned().collect::<Vec<_>>()
		})
		.take_while(|names| !names.is_empty())
		.collect()
}

/// Returns the names of the vectors of the mapping, in the order of its reflections.
fn mapping_names(spec: &CheckedSpec) -> Vec<String> {
	let names = lower::state(spec).into_iter().map(|tensor| tensor.name);
	names.filter(|name| name.starts_with(lower::MAPPING_PREFIX)).collect()
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_engine::{canonical_bytes, Tensor32};
	use trainyard_program::spec::{Activation, CnnLayer, Input, JobSpec, Layer};
	use trainyard_protocol::model_file::Layout;

	/// Returns a job of each kind of model, small.
	fn kinds() -> Vec<CheckedSpec> {
		let (relu, example) = (Activation::Relu, JobSpec::example());
		let with = |model| JobSpec { model, ..example.clone() };
		let layers = vec![
			Layer::Conv2d { filters: 2, kernel: 3, stride: 1, padding: 1 },
			Layer::Activation { function: relu },
			Layer::Skip { back: 1 },
			Layer::LayerNorm,
			Layer::Linear { outputs: 12 },
			Layer::RmsNorm,
			Layer::Linear { outputs: 10 },
		];
		let cnn = vec![
			CnnLayer::Conv { filters: 3, kernel: 3, stride: 1, padding: 1 },
			CnnLayer::MaxPool { kernel: 2, stride: 2 },
			CnnLayer::Linear { outputs: 5 },
		];
		let image = Input::Image { channels: 1, height: 8, width: 8 };
		// Two digits in these names, too.
		let mapped =
			vec![Layer::Mapping { reflections: 12, patch: 0 }, Layer::Linear { outputs: 10 }];
		let mut text = with(Model::Transformer {
			// Two digits, so that the order of names is not that of layers.
			layers: 3,
			heads: 2,
			width: 4,
			mlp_factor: 2,
			dropout_nano: 0,
		});
		text.dataset.format = DataFormat::Text;
		text.dataset.feature_divisor = 1;
		text.dataset.features = 5;
		let all = [
			example.clone(),
			with(Model::Mlp { hidden: Default::default(), activation: relu }),
			with(Model::Cnn {
				channels: 1,
				height: 8,
				width: 8,
				layers: cnn.try_into().unwrap(),
				activation: relu,
			}),
			with(Model::Layers { input: image, layers: layers.try_into().unwrap() }),
			with(Model::Layers { input: Input::Numbers, layers: mapped.try_into().unwrap() }),
			text,
		];
		all.map(|spec| spec.check().unwrap()).into()
	}

	/// The first bytes of a model file, its offsets and its length follow from the specification, and
	/// safetensors reads it.
	#[test]
	fn model_files_have_the_layout_of_their_specifications() {
		for spec in kinds() {
			let mut number = 0u32;
			let tensors = lower::state(&spec).into_iter().map(|t| {
				let n = t.shape.iter().product::<u32>();
				number += n;
				let data = (number - n..number).map(|i| i as f32 - 0.5).collect();
				(t.name, Tensor32 { shape: t.shape, data })
			});
			let state: TensorMap = tensors.collect();
			let bytes = model_bytes(&state);
			let layout = Layout::of(&spec);
			assert!(bytes.starts_with(&layout.header), "{:?}", spec.model);
			assert_eq!(bytes.len() as u64, layout.size);

			let read = safetensors::SafeTensors::deserialize(&bytes).unwrap();
			assert_eq!(read.names().len(), layout.tensors.len());
			let mut end = layout.header.len() as u64;
			for tensor in &layout.tensors {
				assert_eq!(tensor.begin, end);
				end += tensor.bytes;
				let held = canonical_bytes(&state[&tensor.name].data);
				assert_eq!(bytes[tensor.begin as usize..end as usize], held[..]);
				let view = read.tensor(&tensor.name).unwrap();
				assert_eq!(view.data(), &held[..]);
				let shape: Vec<usize> = tensor.shape.iter().map(|n| *n as usize).collect();
				assert_eq!(view.shape(), shape);
			}
			assert_eq!(end, layout.size);
		}
	}

	#[test]
	fn only_files_of_a_bundle_are_served() {
		for good in ["manifest.json", "model.safetensors", "checkpoints/step-00000050.safetensors"]
		{
			assert!(servable(good), "{good}");
		}
		for bad in ["", ".lock", "../manifest.json", "/etc/passwd", "checkpoints/", "a/b"] {
			assert!(!servable(bad), "{bad}");
		}
	}

	#[test]
	fn a_checkpoint_of_the_example_fits_its_bound() {
		let spec = JobSpec::example().check().unwrap();
		let state: TensorMap = lower::state(&spec)
			.into_iter()
			.map(|t| {
				let n = t.shape.iter().product::<u32>() as usize;
				(t.name, Tensor32 { shape: t.shape, data: vec![0.5; n] })
			})
			.collect();
		let bytes = tensors::encode(&state).len() as u64;
		assert!(bytes <= max_checkpoint_bytes(&spec));
		assert!(max_checkpoint_bytes(&spec) < 2 * bytes);
		assert_eq!(parameters(state.clone()).len(), 6);
		assert_eq!(tensors::decode(&model_bytes(&state)).unwrap(), parameters(state));
	}

	#[test]
	fn a_folder_without_a_manifest_is_no_bundle() {
		let dir = tempfile::tempdir().unwrap();
		assert!(matches!(Bundle::open(dir.path()), Err(BundleError::NoManifest(_))));
		std::fs::write(dir.path().join("manifest.json"), b"[]").unwrap();
		assert!(matches!(Bundle::open(dir.path()), Err(BundleError::Manifest { .. })));
	}
}
