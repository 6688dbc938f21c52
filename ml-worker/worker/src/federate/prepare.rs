//! What is opened: parts of the data, and the model with which all begins.

use super::made::{Made, MadeError};
use crate::job_toml::JobFile;
use std::{
	collections::HashMap,
	path::{Path, PathBuf},
	sync::atomic::AtomicBool,
};
use trainyard_client::{
	blobs::{self, BlobError},
	Transactor,
};
use trainyard_engine::{Engine, EngineError};
use trainyard_program::spec::{CheckedSpec, FileRef, InitialModel, JobSpec, SpecError};
use trainyard_proof::{
	bundle::{
		self,
		files::{self, FileError},
		tensors::{self, TensorError},
	},
	data::{self, DataError, SplitError},
	inputs,
};
use trainyard_protocol::{
	federation::{self, PartData, Proposed},
	model_file::Layout,
	Text, H256,
};

/// Says why nothing can be opened.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
	/// The job names no file here.
	#[error(
		"the job names no local data: its parts are made of the file at dataset.path. Or name the files of the parts \
		 by --part"
	)]
	NoData,
	/// The file of the data cannot be split.
	#[error(transparent)]
	Split(#[from] SplitError),
	/// The file of a part cannot be read.
	#[error(transparent)]
	Data(#[from] DataError),
	/// A part has other rows than the job says.
	#[error("{}: {what}", .path.display())]
	Part {
		/// Its file.
		path: PathBuf,
		/// What is wrong.
		what: String,
	},
	/// A URL is too long for the chain.
	#[error("the location {url} has more than 256 bytes: serve the parts at a shorter URL")]
	LongLocation {
		/// The URL.
		url: String,
	},
	/// A file of the folder cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
	/// The initial model is none of this job.
	#[error("{} cannot be the initial model: {what}", .path.display())]
	Initial {
		/// Its file.
		path: PathBuf,
		/// What is wrong.
		what: String,
	},
	/// The initial model cannot be drawn.
	#[error(transparent)]
	Engine(#[from] EngineError),
	/// What is made is no valid specification.
	#[error("a part is no valid job: {0}")]
	Spec(#[from] SpecError),
	/// It cannot be stored.
	#[error(transparent)]
	Blob(#[from] BlobError),
	/// It cannot be hashed.
	#[error(transparent)]
	Made(#[from] MadeError),
}

impl From<TensorError> for PrepareError {
	fn from(error: TensorError) -> Self {
		Self::Initial { path: PathBuf::from("the initial model"), what: error.to_string() }
	}
}

/// Where trainers find the file of a part.
pub enum Places {
	/// At this URL, by the name of the file.
	Base(String),
	/// At a server of this program, by the content hash.
	Served(String),
}

impl Places {
	fn of(&self, path: &Path, hash: &H256) -> Result<Text, PrepareError> {
		let name = path.file_name().unwrap_or_default().to_string_lossy();
		let url = match self {
			Self::Base(base) => format!("{}/{name}", base.trim_end_matches('/')),
			Self::Served(base) => {
				format!("{}/blob/{}", base.trim_end_matches('/'), hex::encode(hash))
			}
		};
		Text::new(&url).ok_or(PrepareError::LongLocation { url })
	}
}

/// The parts of a federation, and their files by content hash.
pub struct Prepared {
	/// The parts, in order.
	pub parts: Vec<PartData>,
	/// Where each file is.
	pub files: HashMap<H256, PathBuf>,
}

/// Splits the data of a job into `count` parts in `folder`. The same file is always split in the same way.
pub fn split(job: &JobFile, folder: &Path, count: u32) -> Result<Vec<PathBuf>, PrepareError> {
	let data = job.dataset_path.as_deref().ok_or(PrepareError::NoData)?;
	files::create_folder(folder)?;
	let paths: Vec<_> =
		(0..count).map(|number| folder.join(format!("part-{number}.csv"))).collect();
	let dataset = &job.spec.dataset;
	data::split(data, dataset.format, dataset.validation_every, &paths)?;
	Ok(paths)
}

/// Returns the parts whose files are these, in the format and of the shape of the job.
pub fn parts(job: &JobFile, paths: &[PathBuf], places: &Places) -> Result<Prepared, PrepareError> {
	let template = &job.spec.dataset;
	let (mut parts, mut all) = (Vec::new(), HashMap::new());
	for path in paths {
		let wrong = |what: String| PrepareError::Part { path: path.clone(), what };
		if template.labels.is_some() {
			return Err(wrong(
				"parts whose labels are files of their own are not made here".into(),
			));
		}
		let (every, context) = (template.validation_every, template.features);
		let found = data::inspect(path, None, template.format, every, context)?;
		if found.features != template.features || found.classes > template.classes {
			return Err(wrong(format!(
				"it has {} inputs and {} classes, and the job {} and {}",
				found.features, found.classes, template.features, template.classes
			)));
		}
		let small =
			|rows: u64| u32::try_from(rows).map_err(|_| wrong(format!("{rows} rows are too many")));
		let location = places.of(path, &found.content_hash)?;
		let file = FileRef { content_hash: found.content_hash, bytes: found.bytes, location };
		let mut part = PartData {
			file,
			labels: None,
			train_rows: small(found.train_rows)?,
			validation_rows: small(found.validation_rows)?,
			rows: H256::zero(),
		};
		let any = InitialModel { file: part.file.clone(), parameters: H256::repeat_byte(1) };
		let dataset = federation::spec_of_part(&job.spec, &part, &any).dataset;
		part.rows = data::read_rows(path, None, &dataset, &AtomicBool::new(false))?.root();
		all.insert(part.file.content_hash, path.clone());
		parts.push(part);
	}
	Ok(Prepared { parts, files: all })
}

/// Returns the bytes of the model with which a federation of this job begins, in the one form that its file has:
/// that of the file that the job names, or what was drawn once and is kept at `kept`.
pub fn initial_bytes(job: &JobFile, kept: &Path) -> Result<Vec<u8>, PrepareError> {
	let spec = plain(&job.spec)?;
	if spec.is_mapped() {
		return Err(SpecError::MappedFineTuning.into());
	}
	let most = bundle::max_checkpoint_bytes(&spec);
	let named = job.initial_model_path.as_deref();
	let path = named.unwrap_or(kept);
	if named.is_none() && !kept.is_file() {
		let seed = H256(rand::random());
		let state = Engine::initial_state(&spec, &seed, None)?.to_host()?;
		files::write(kept, &bundle::model_bytes(&state))?;
	}
	let model = tensors::decode(&files::read(path, most)?)?;
	let infinite = || {
		let mut values = model.values().flat_map(|tensor| &tensor.data);
		values.any(|value| !value.is_finite()).then(|| "a number is not finite".to_owned())
	};
	match inputs::misfit(&spec, &model).or_else(infinite) {
		Some(what) => Err(PrepareError::Initial { path: path.to_owned(), what }),
		None => Ok(bundle::model_bytes(&model)),
	}
}

/// Returns the specification of a job that begins with a drawn model.
fn plain(spec: &CheckedSpec) -> Result<CheckedSpec, SpecError> {
	JobSpec { initial_model: None, ..spec.clone().into_spec() }.check()
}

/// Stores the model with which all begins, and returns what names it.
pub async fn store_initial(
	sender: &Transactor,
	spec: &CheckedSpec,
	bytes: Vec<u8>,
) -> Result<InitialModel, PrepareError> {
	let layout = Layout::of(&plain(spec)?);
	let size = bytes.len() as u64;
	let made = Made::of(&layout, bytes)?;
	blobs::store(sender, &made.file).await?;
	let proposed = Proposed { content: made.content, parameters: made.parameters };
	Ok(federation::initial_on_chain(size, &proposed))
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::job_toml;
	use trainyard_program::spec::{Input, Layer, Model};

	fn job() -> JobFile {
		let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits.toml");
		job_toml::load(Path::new(path)).unwrap()
	}

	#[test]
	fn the_digits_are_split_into_jobs() {
		let (folder, job) = (tempfile::tempdir().unwrap(), job());
		let paths = split(&job, folder.path(), 3).unwrap();
		let base = Places::Base("http://127.0.0.1:1/parts/".into());
		let found = parts(&job, &paths, &base).unwrap();
		let sum = |rows: fn(&PartData) -> u32| found.parts.iter().map(rows).sum::<u32>();
		assert_eq!(sum(|part| part.train_rows), job.spec.dataset.train_rows);
		assert_eq!(sum(|part| part.validation_rows), job.spec.dataset.validation_rows);
		let part = &found.parts[1];
		assert_eq!(part.file.location.to_string_lossy(), "http://127.0.0.1:1/parts/part-1.csv");
		assert_eq!(found.files[&part.file.content_hash], paths[1]);
		// Each is a job whose files are what it says.
		let kept = folder.path().join("initial");
		let bytes = initial_bytes(&job, &kept).unwrap();
		assert_eq!(initial_bytes(&job, &kept).unwrap(), bytes, "it is drawn once");
		let layout = Layout::of(&plain(&job.spec).unwrap());
		assert_eq!(bytes.len() as u64, layout.size);
		assert_eq!(bytes[..layout.header.len()], layout.header[..]);
		let made = Made::of(&layout, bytes).unwrap();
		let proposed = Proposed { content: made.content, parameters: made.parameters };
		let initial = federation::initial_on_chain(layout.size, &proposed);
		let spec = federation::spec_of_part(&job.spec, part, &initial).check().unwrap();
		let model = folder.path().join("model");
		std::fs::write(&model, &made.file).unwrap();
		let file = spec.initial_model.as_ref().unwrap();
		inputs::initial_model(&spec, file, &model).unwrap();
		std::fs::write(&model, &made.file[1..]).unwrap();
		assert!(inputs::initial_model(&spec, file, &model).is_err());
		let again = parts(&job, &paths, &Places::Served("http://h".into())).unwrap();
		let hash = hex::encode(again.parts[0].file.content_hash);
		assert_eq!(again.parts[0].file.location.to_string_lossy(), format!("http://h/blob/{hash}"));
	}

	#[test]
	fn what_does_not_fit_is_said() {
		let (folder, mut job) = (tempfile::tempdir().unwrap(), job());
		let path = folder.path().join("part");
		std::fs::write(&path, "1,2,0\n3,4,1\n").unwrap();
		let served = Places::Served("http://h".into());
		let error = parts(&job, &[path.clone()], &served).err().unwrap();
		assert!(error.to_string().contains("it has 2 inputs"), "{error}");
		let long = Places::Base(format!("http://{}", "h".repeat(300)));
		let whole = job.dataset_path.clone().unwrap();
		let error = parts(&job, &[whole], &long).err().unwrap();
		assert!(error.to_string().contains("more than 256 bytes"), "{error}");
		std::fs::write(&path, b"no model").unwrap();
		job.initial_model_path = Some(path);
		assert!(initial_bytes(&job, &folder.path().join("x")).is_err());
		let mapping = Layer::Mapping { reflections: 1, patch: 0 };
		let layers = vec![mapping, Layer::Linear { outputs: job.spec.dataset.classes }];
		let mut mapped = job.spec.clone().into_spec();
		mapped.model = Model::Layers { input: Input::Numbers, layers: layers.try_into().unwrap() };
		job.spec = mapped.check().unwrap();
		job.initial_model_path = None;
		let error = initial_bytes(&job, &folder.path().join("y")).err().unwrap();
		assert!(error.to_string().contains("has no mapping"), "{error}");
		job.dataset_path = None;
		let error = split(&job, folder.path(), 2).err().unwrap();
		assert!(error.to_string().contains("--part"), "{error}");
	}
}
