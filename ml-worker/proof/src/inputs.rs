//! Reads the files of a job: the data, the labels if they have their own file, and the initial
//! model of a fine-tuning. The specification names each by its content ([`JobSpec::files`]);
//! [`InputPaths`] says where they are on this machine, and [`Inputs`] holds their contents.

use crate::{
	bundle::{self, files, tensors},
	data::{self, kept, DataError},
	hash,
};
use primitive_types::H256;
use std::{
	path::{Path, PathBuf},
	sync::{atomic::AtomicBool, Arc},
};
use trainyard_engine::{state_hash, Data, NanRule, TensorMap};
use trainyard_program::{
	lower,
	spec::{CheckedSpec, Dataset, FileRef, InitialModel, InputFile, JobSpec},
};
use trainyard_protocol::rows::Rows;

/// Bytes of an initial model's file besides its numbers, at most: the header of a safetensors file
/// may hold notes of its writer.
const HEADER_BYTES: u64 = 1 << 20;

/// The paths of a job's files on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPaths {
	/// The data.
	pub data: PathBuf,
	/// The labels, if they have their own file.
	pub labels: Option<PathBuf>,
	/// The initial model, of a fine-tuning.
	pub initial_model: Option<PathBuf>,
	/// Where the decoded rows are kept, if they are: whoever decodes them first writes the file, and
	/// everyone else reads it in place of the data, see [`data::kept`].
	pub rows: Option<PathBuf>,
}

impl InputPaths {
	/// Returns the paths of a job that reads only its data, from `path`.
	pub fn data(path: impl Into<PathBuf>) -> Self {
		Self { data: path.into(), labels: None, initial_model: None, rows: None }
	}

	/// Returns the paths of the files of `spec`, each as `place` returns it.
	pub fn of(spec: &JobSpec, place: impl Fn(InputFile, &FileRef) -> PathBuf) -> Self {
		let mut paths = Self::data("");
		for (which, file) in spec.files() {
			paths.put(which, place(which, &file));
		}
		paths
	}

	/// Keeps the decoded rows of `spec` in `folder`.
	pub fn with_rows_in(self, folder: &Path, spec: &JobSpec) -> Self {
		Self { rows: Some(folder.join(kept::name(&spec.dataset))), ..self }
	}

	/// Returns where a bundle of `spec` in `folder` keeps its copies of the files.
	pub fn in_bundle(folder: &Path, spec: &JobSpec) -> Self {
		Self::of(spec, |which, _| folder.join(bundle::input_file(which)))
	}

	/// Returns, for each file of `spec`, its path at the first of these `places` that has it with
	/// the right content, or at the last place if none has; and the file of the decoded rows that is
	/// there, or the first. Reads the files, except those at the last place.
	pub fn first_right(spec: &JobSpec, places: &[Self]) -> Self {
		let found = Self::of(spec, |which, file| {
			let mut paths = places.iter().filter_map(|place| place.get(which));
			let last = paths.next_back();
			let right = paths.find(|path| check_content(path, which, file).is_ok());
			right.or(last).map(Path::to_owned).unwrap_or_default()
		});
		let rows = || places.iter().filter_map(|place| place.rows.clone());
		Self { rows: rows().find(|path| path.is_file()).or(rows().next()), ..found }
	}

	/// Changes the path of a file that the job has.
	pub fn put(&mut self, which: InputFile, path: PathBuf) {
		match which {
			InputFile::Data => self.data = path,
			InputFile::Labels => self.labels = Some(path),
			InputFile::InitialModel => self.initial_model = Some(path),
		}
	}

	/// Returns the path of a file; none if the job has no such file.
	pub fn get(&self, which: InputFile) -> Option<&Path> {
		match which {
			InputFile::Data => Some(&self.data),
			InputFile::Labels => self.labels.as_deref(),
			InputFile::InitialModel => self.initial_model.as_deref(),
		}
	}
}

/// Files that are named by hand, in place of those that the job or the bundle names.
#[derive(Clone, Debug, Default)]
pub struct GivenFiles {
	/// The data.
	pub data: Option<PathBuf>,
	/// The labels, if they have their own file.
	pub labels: Option<PathBuf>,
	/// The initial model of a fine-tuning.
	pub initial_model: Option<PathBuf>,
}

impl GivenFiles {
	/// Returns where the files of `spec` are, whose bundle is in `folder`: those that were given, and of the others the
	/// bundle's copies.
	pub fn or_of_bundle(&self, folder: &Path, spec: &JobSpec) -> InputPaths {
		InputPaths::of(spec, |which, _| match self.get(which) {
			Some(given) => given.to_owned(),
			None => folder.join(bundle::input_file(which)),
		})
	}

	/// Returns the file that was given, if one was.
	pub fn get(&self, which: InputFile) -> Option<&Path> {
		match which {
			InputFile::Data => self.data.as_deref(),
			InputFile::Labels => self.labels.as_deref(),
			InputFile::InitialModel => self.initial_model.as_deref(),
		}
	}
}

/// Returns the option by which a file is named on the command line.
pub fn option_of(which: InputFile) -> &'static str {
	match which {
		InputFile::Data => "--data",
		InputFile::Labels => "--labels",
		InputFile::InitialModel => "--initial-model",
	}
}

/// Returns what a file is, in words.
pub fn name_of(which: InputFile) -> &'static str {
	match which {
		InputFile::Data => "dataset",
		InputFile::Labels => "file of labels",
		InputFile::InitialModel => "initial model",
	}
}

/// Says what is wrong with a file that a job reads. None of it is a trainer's fault: files that do
/// not match their specification are found before anyone takes the job.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
	/// Data or labels.
	#[error(transparent)]
	Data(#[from] DataError),
	/// The job reads a file that is not here.
	#[error(
		"the job reads a file ({}) that was not given; its content hash is {content_hash:?}",
		.which.field()
	)]
	Missing {
		/// Which file.
		which: InputFile,
		/// Its content hash.
		content_hash: H256,
	},
	/// A file cannot be read.
	#[error("cannot read {}: {error}", .path.display())]
	Io {
		/// The file.
		path: PathBuf,
		/// Why.
		error: std::io::Error,
	},
	/// The file is not the one that the specification names.
	#[error(
		"{path} is not the {name} of the job: it has content hash {found:?} and {bytes} bytes, but \
		 {field}.content_hash is {expected:?} and {field}.bytes {expected_bytes}. Use the file that \
		 the job was made with, or make the job again for this one",
		path = .path.display(),
		name = name_of(*.which),
		field = .which.field()
	)]
	Content {
		/// The file.
		path: PathBuf,
		/// What it should be.
		which: InputFile,
		/// Its content hash.
		found: H256,
		/// Its length.
		bytes: u64,
		/// The specification's content hash.
		expected: H256,
		/// The specification's length.
		expected_bytes: u64,
	},
	/// A file changed while it was read.
	#[error("{} changed while it was read. Run this again when nothing writes to it", .path.display())]
	Changed {
		/// The file.
		path: PathBuf,
	},
	/// The initial model does not fit the job's model.
	#[error("{} cannot be the initial model of this job: {what}", .path.display())]
	InitialModel {
		/// The file.
		path: PathBuf,
		/// What is wrong with it.
		what: String,
	},
	/// The rows of the data are not those that the specification names.
	#[error(
		"{}: the file is the one that the job names, but its rows are not: their root is {found:?}, \
		 and dataset.rows is {expected:?}. The job was made wrong; post it again with trainyard \
		 submit, which computes the root from the file",
		.path.display()
	)]
	Rows {
		/// The file.
		path: PathBuf,
		/// The rows root of what it holds.
		found: H256,
		/// The specification's rows root.
		expected: H256,
	},
	/// The parameters of the initial model are not those that the specification names.
	#[error(
		"{}: the file is the one that the job names, but its parameters are not: their hash is \
		 {found:?}, and initial_model.parameters is {expected:?}. The job was made wrong; post it \
		 again with trainyard submit, which computes the hash from the file",
		.path.display()
	)]
	Parameters {
		/// The file.
		path: PathBuf,
		/// The state hash of its parameters.
		found: H256,
		/// The hash that the specification names.
		expected: H256,
	},
}

impl InputError {
	/// Returns whether nothing is wrong: the reading was stopped on request.
	pub fn is_stopped(&self) -> bool {
		matches!(self, Self::Data(DataError::Stopped))
	}

	/// Returns whether this build cannot read the format of the data, so that trying again does not help.
	pub fn lacks_feature(&self) -> bool {
		matches!(self, Self::Data(error) if error.lacks_feature())
	}

	/// Returns whether the fault lies with this machine and not with the file.
	pub fn is_local(&self) -> bool {
		match self {
			Self::Data(error) => error.is_local(),
			Self::Io { .. } | Self::Missing { .. } | Self::Changed { .. } => true,
			Self::Content { .. }
			| Self::InitialModel { .. }
			| Self::Rows { .. }
			| Self::Parameters { .. } => false,
		}
	}
}

/// What a job reads, in memory. Clones share it.
#[derive(Clone, Debug)]
pub struct Inputs {
	/// Rows and labels.
	pub data: Arc<Data>,
	/// The parameters with which a fine-tuning begins.
	pub initial_model: Option<Arc<TensorMap>>,
}

impl From<Arc<Data>> for Inputs {
	/// Makes the inputs of a job that draws its initial model.
	fn from(data: Arc<Data>) -> Self {
		Self { data, initial_model: None }
	}
}

impl Inputs {
	/// Reads the files of a job, and checks that they are what its specification says.
	pub fn load(spec: &CheckedSpec, paths: &InputPaths) -> Result<Self, InputError> {
		Self::load_until(spec, paths, &AtomicBool::new(false))
	}

	/// Does what [`Self::load`] does, and ends soon after `stop` is set, with an error that
	/// [is no fault](InputError::is_stopped).
	pub fn load_until(
		spec: &CheckedSpec,
		paths: &InputPaths,
		stop: &AtomicBool,
	) -> Result<Self, InputError> {
		for (which, FileRef { content_hash, .. }) in spec.files() {
			paths.get(which).ok_or(InputError::Missing { which, content_hash })?;
		}
		// The smaller file first: what is wrong with it is found sooner.
		let initial_model = match (&spec.initial_model, &paths.initial_model) {
			(Some(model), Some(path)) => Some(Arc::new(initial_model(spec, model, path)?)),
			_ => None,
		};
		let data = match &paths.rows {
			Some(path) => kept_rows(spec, paths, path, stop)?,
			None => loaded_rows(spec, paths, stop)?,
		};
		Ok(Self { data: Arc::new(data), initial_model })
	}

	/// Returns the parameters with which a fine-tuning begins, as the engine takes them.
	pub fn initial_model(&self) -> Option<&TensorMap> {
		self.initial_model.as_deref()
	}
}

/// Returns the rows of a job from the file at `path` that keeps them. If it is not there, they are
/// decoded into it; if it cannot be written, they are decoded for this once.
fn kept_rows(
	spec: &JobSpec,
	paths: &InputPaths,
	path: &Path,
	stop: &AtomicBool,
) -> Result<Data, InputError> {
	if let Some(data) = kept::open(path, &spec.dataset, stop)? {
		return Ok(data);
	}
	let decoded = rows(spec, paths, stop, |data, labels, dataset, stop| {
		kept::begin(data, labels, dataset, path, stop)
	});
	match decoded {
		Ok(decoded) => {
			check_rows(spec, paths, decoded.rows())?;
			Ok(decoded.keep(stop)?)
		}
		Err(InputError::Data(e @ (DataError::Scratch(_) | DataError::NoRoom { .. }))) => {
			tracing::debug!("decoded rows are not kept: {e}");
			loaded_rows(spec, paths, stop)
		}
		Err(e) => Err(e),
	}
}

/// Returns the rows of a job, decoded for this once.
fn loaded_rows(spec: &JobSpec, paths: &InputPaths, stop: &AtomicBool) -> Result<Data, InputError> {
	let (data, found) = rows(spec, paths, stop, |data, labels, dataset, stop| {
		let data = data::load_until(data, labels, dataset, stop)?;
		let found = data::rows_of(&data, dataset, stop)?;
		Ok((data, found))
	})?;
	check_rows(spec, paths, &found)?;
	Ok(data)
}

/// Checks that these rows, which were decoded from the right files, are those that the specification
/// names.
fn check_rows(spec: &JobSpec, paths: &InputPaths, rows: &Rows) -> Result<(), InputError> {
	let (found, expected) = (rows.root(), spec.dataset.rows);
	match found == expected {
		true => Ok(()),
		false => Err(InputError::Rows { path: paths.data.clone(), found, expected }),
	}
}

/// Returns the rows of a job as `read` reads them, from files that are checked by content. Each file
/// is hashed once, after its rows were read.
fn rows<T>(
	spec: &JobSpec,
	paths: &InputPaths,
	stop: &AtomicBool,
	read: impl FnOnce(&Path, Option<&Path>, &Dataset, &AtomicBool) -> Result<T, DataError>,
) -> Result<T, InputError> {
	let files: Vec<_> = spec
		.files()
		.filter(|(which, _)| *which != InputFile::InitialModel)
		.filter_map(|(which, file)| Some((which, file, paths.get(which)?)))
		.collect();
	let marks = || files.iter().map(|(_, _, path)| hash::mark(path)).collect::<Vec<_>>();
	let before = marks();
	let data = read(&paths.data, paths.labels.as_deref(), &spec.dataset, stop);
	if data.as_ref().is_err_and(DataError::is_local) {
		return Ok(data?);
	}
	// If the hash is wrong, report that and nothing else.
	for (which, file, path) in &files {
		check_content(path, *which, file)?;
	}
	let data = data?;
	// The bytes hashed are the bytes read only if nothing was written or renamed in between.
	let changed = before.iter().zip(marks()).position(|(before, after)| *before != after);
	match changed.and_then(|at| files.get(at)) {
		Some((_, _, path)) => Err(InputError::Changed { path: (*path).to_owned() }),
		None => Ok(data),
	}
}

/// Checks that the file at `path` is the specification's, by hash and length.
pub fn check_content(path: &Path, which: InputFile, file: &FileRef) -> Result<(), InputError> {
	let io = |error| InputError::Io { path: path.to_owned(), error };
	let (found, bytes) = hash::named(path, file).map_err(io)?;
	same_content(path, which, file, found, bytes)
}

/// Does what [`check_content`] does, for a file whose hash and length are known because it was
/// read.
pub fn same_content(
	path: &Path,
	which: InputFile,
	file: &FileRef,
	found: H256,
	bytes: u64,
) -> Result<(), InputError> {
	match (found, bytes) == (file.content_hash, file.bytes) {
		true => Ok(()),
		false => Err(InputError::Content {
			path: path.to_owned(),
			which,
			found,
			bytes,
			expected: file.content_hash,
			expected_bytes: file.bytes,
		}),
	}
}

/// Reads the initial model of a job from the file at `path`, and checks that it has the parameters
/// that the specification names; otherwise as [`read_initial_model`]. A state of the job with these
/// parameters is as good: checkpoint 0 of a true result, which can be asked for where the file cannot be
/// had.
pub fn initial_model(
	spec: &CheckedSpec,
	model: &InitialModel,
	path: &Path,
) -> Result<TensorMap, InputError> {
	let (parameters, found) = match read_initial_model(spec, &model.file, path) {
		Ok(read) => read,
		Err(error) => {
			return parameters_of_state(spec, path)
				.filter(|(_, found)| *found == model.parameters)
				.map(|(parameters, _)| parameters)
				.ok_or(error)
		}
	};
	match found == model.parameters {
		true => Ok(parameters),
		false => {
			let (path, expected) = (path.to_owned(), model.parameters);
			Err(InputError::Parameters { path, found, expected })
		}
	}
}

/// Returns the parameters in a checkpoint file of this job, and their state hash; `None` where the file
/// at `path` is none.
fn parameters_of_state(spec: &CheckedSpec, path: &Path) -> Option<(TensorMap, H256)> {
	let bytes = files::read(path, bundle::max_checkpoint_bytes(spec)).ok()?;
	let parameters = bundle::parameters(tensors::decode(&bytes).ok()?);
	let fits = misfit(spec, &parameters).is_none() && not_finite(&parameters).is_none();
	let found = state_hash(&parameters, NanRule::Refuse).ok().filter(|_| fits)?;
	Some((parameters, found))
}

/// Reads an initial model for the model of a job from the `file`, which is at `path`: safetensors,
/// binary32, exactly the parameters of the job's model by name and shape, all of them finite.
/// Returns them, and their state hash, which a specification must name as
/// [`InitialModel::parameters`]. What this one names is not looked at.
pub fn read_initial_model(
	spec: &CheckedSpec,
	file: &FileRef,
	path: &Path,
) -> Result<(TensorMap, H256), InputError> {
	let wrong = |what: String| InputError::InitialModel { path: path.to_owned(), what };
	let most = spec.parameters().saturating_mul(4).saturating_add(HEADER_BYTES);
	if file.bytes > most {
		return Err(wrong(format!(
			"initial_model.bytes is {}, but a file with the {} parameters of its model has at most \
			 {most}",
			file.bytes,
			spec.parameters()
		)));
	}
	let Ok(bytes) = files::read(path, file.bytes) else {
		// A longer file, or one that cannot be read.
		check_content(path, InputFile::InitialModel, file)?;
		return Err(InputError::Changed { path: path.to_owned() });
	};
	let found = hash::named_bytes(&bytes, file);
	same_content(path, InputFile::InitialModel, file, found, bytes.len() as u64)?;
	let model = tensors::decode(&bytes).map_err(|e| wrong(e.to_string()))?;
	drop(bytes);
	if let Some(what) = misfit(spec, &model).or_else(|| not_finite(&model)) {
		return Err(wrong(what));
	}
	let parameters = state_hash(&model, NanRule::Refuse).map_err(|e| wrong(e.to_string()))?;
	Ok((model, parameters))
}

/// Returns what keeps `model` from being the parameters of this job's model, by name and shape, if
/// anything.
pub fn misfit(spec: &CheckedSpec, model: &TensorMap) -> Option<String> {
	let expected: Vec<_> = lower::state(spec)
		.into_iter()
		.filter(|t| !t.name.starts_with(lower::OPTIMIZER_PREFIX))
		.collect();
	for tensor in &expected {
		match model.get(&tensor.name) {
			None => return Some(format!("it has no tensor {}", tensor.name)),
			Some(found) if found.shape != tensor.shape => {
				return Some(format!(
					"{} has shape {:?}, the job's has {:?}",
					tensor.name, found.shape, tensor.shape
				))
			}
			Some(_) => {}
		}
	}
	let other = model.keys().find(|name| expected.iter().all(|t| t.name != **name));
	other.map(|name| format!("it has a tensor {name:?}, which the job's model has not"))
}

/// Returns the first tensor that holds an infinity or a NaN, in words.
fn not_finite(model: &TensorMap) -> Option<String> {
	model.iter().find_map(|(name, tensor)| {
		let value = tensor.data.iter().find(|value| !value.is_finite())?;
		Some(format!("{name} holds {value}; all numbers must be finite"))
	})
}

#[cfg(test)]
#[path = "inputs_tests.rs"]
mod tests;
