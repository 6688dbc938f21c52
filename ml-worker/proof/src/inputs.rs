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
use trainyard_engine::{Data, TensorMap};
use trainyard_program::{
	lower,
	spec::{CheckedSpec, Dataset, FileRef, InputFile, JobSpec},
};

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
	/// the right content, or at the last place if none has. Reads the files, except those at the
	/// last place.
	pub fn first_right(spec: &JobSpec, places: &[Self]) -> Self {
		let found = Self::of(spec, |which, file| {
			let mut paths = places.iter().filter_map(|place| place.get(which));
			let last = paths.next_back();
			let right = paths.find(|path| check_content(path, which, file).is_ok());
			right.or(last).map(Path::to_owned).unwrap_or_default()
		});
		Self { rows: places.iter().find_map(|place| place.rows.clone()), ..found }
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
}

impl InputError {
	/// Returns whether nothing is wrong: the reading was stopped on request.
	pub fn is_stopped(&self) -> bool {
		matches!(self, Self::Data(DataError::Stopped))
	}

	/// Returns whether the fault lies with this machine and not with the file.
	pub fn is_local(&self) -> bool {
		match self {
			Self::Data(error) => error.is_local(),
			Self::Io { .. } | Self::Missing { .. } | Self::Changed { .. } => true,
			Self::Content { .. } | Self::InitialModel { .. } => false,
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
			(Some(file), Some(path)) => Some(Arc::new(initial_model(spec, file, path)?)),
			_ => None,
		};
		let data = match &paths.rows {
			Some(path) => kept_rows(spec, paths, path, stop)?,
			None => rows(spec, paths, stop, load)?,
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
		Ok(decoded) => Ok(decoded.keep(stop)?),
		Err(InputError::Data(e @ (DataError::Scratch(_) | DataError::NoRoom { .. }))) => {
			tracing::debug!("decoded rows are not kept: {e}");
			rows(spec, paths, stop, load)
		}
		Err(e) => Err(e),
	}
}

/// Reads data and labels for good.
fn load(
	data: &Path,
	labels: Option<&Path>,
	dataset: &Dataset,
	stop: &AtomicBool,
) -> Result<Data, DataError> {
	data::load_until(data, labels, dataset, stop)
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
	let (found, bytes) = hash::file(path).map_err(io)?;
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

/// Reads the initial model of a job from the file at `path`: safetensors, binary32, exactly
/// the parameters of the job's model by name and shape, all of them finite.
pub fn initial_model(
	spec: &CheckedSpec,
	file: &FileRef,
	path: &Path,
) -> Result<TensorMap, InputError> {
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
	let found = hash::blake2_256(&bytes);
	same_content(path, InputFile::InitialModel, file, found, bytes.len() as u64)?;
	let model = tensors::decode(&bytes).map_err(|e| wrong(e.to_string()))?;
	drop(bytes);
	if let Some(what) = misfit(spec, &model).or_else(|| not_finite(&model)) {
		return Err(wrong(what));
	}
	Ok(model)
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
mod tests {
	use super::*;
	use crate::testing::{changed, job, table};
	use trainyard_engine::Tensor32;
	use trainyard_program::spec::DataFormat;

	/// Returns parameters of the job's model; the numbers of a tensor all differ.
	fn model(spec: &CheckedSpec) -> TensorMap {
		let parameters =
			lower::state(spec).into_iter().filter(|t| !t.name.starts_with(lower::OPTIMIZER_PREFIX));
		parameters
			.map(|t| {
				let n = t.shape.iter().product::<u32>();
				let data = (0..n).map(|i| i as f32 * 0.25 - 1.0).collect();
				(t.name, Tensor32 { shape: t.shape, data })
			})
			.collect()
	}

	/// Loads these bytes as the initial model of the job on the small table.
	fn load(bytes: &[u8]) -> Result<Inputs, String> {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let path = folder.path().join("published.safetensors");
		std::fs::write(&path, bytes).unwrap();
		let content_hash = hash::blake2_256(bytes);
		let spec = job(&data);
		let file = FileRef { content_hash, bytes: bytes.len() as u64, ..spec.dataset.file() };
		let spec = changed(&spec, |spec| spec.initial_model = Some(file));
		let paths = InputPaths { initial_model: Some(path), ..InputPaths::data(data) };
		Inputs::load(&spec, &paths).map_err(|e| e.to_string())
	}

	fn spec() -> CheckedSpec {
		let folder = tempfile::tempdir().unwrap();
		job(&table(folder.path()))
	}

	#[test]
	fn a_published_model_is_read() {
		let model = model(&spec());
		let read = |bytes: &[u8]| load(bytes).unwrap().initial_model().unwrap().clone();
		assert_eq!(read(&tensors::encode(&model)), model);
		// As another program writes it: with notes, in any order.
		let data = |t: &Tensor32| t.data.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
		let views: Vec<_> = model
			.iter()
			.rev()
			.map(|(name, t)| (name.clone(), t.shape.iter().map(|d| *d as usize).collect(), data(t)))
			.collect();
		let views = views.iter().map(|(name, shape, data): &(String, Vec<usize>, Vec<u8>)| {
			let dtype = safetensors::Dtype::F32;
			let view = safetensors::tensor::TensorView::new(dtype, shape.clone(), data).unwrap();
			(name.as_str(), view)
		});
		let notes = [("format".to_owned(), "pt".to_owned())].into();
		assert_eq!(read(&safetensors::serialize(views, Some(notes)).unwrap()), model);
	}

	/// Fetching, rehearsing and training read the same data: the file is decoded for the first of
	/// them.
	#[test]
	fn data_are_decoded_once_and_only_from_the_right_file() {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let spec = job(&data);
		let paths = InputPaths::data(&data).with_rows_in(folder.path(), &spec);
		let kept = paths.rows.clone().unwrap();
		// Bytes that are not the job's leave nothing that would be believed later.
		let bytes = std::fs::read(&data).unwrap();
		let mut other = bytes.clone();
		let digit = other.iter_mut().rev().find(|byte| byte.is_ascii_digit()).unwrap();
		*digit = if *digit == b'0' { b'1' } else { b'0' };
		std::fs::write(&data, &other).unwrap();
		let error = Inputs::load(&spec, &paths).unwrap_err();
		assert!(matches!(error, InputError::Content { .. }), "{error}");
		assert!(!kept.exists());
		std::fs::write(&data, &bytes).unwrap();
		let first = Inputs::load(&spec, &paths).unwrap();
		assert!(kept.exists());
		// The data are not read again, so that it makes no difference that they are gone.
		std::fs::remove_file(&data).unwrap();
		let again = Inputs::load(&spec, &paths).unwrap();
		assert_eq!(
			(&again.data.train.x, &again.data.train.y),
			(&first.data.train.x, &first.data.train.y)
		);
		std::fs::write(&kept, b"torn").unwrap();
		assert!(Inputs::load(&spec, &paths).is_err(), "they are decoded again, and not there");
		// A folder that cannot be written keeps nothing, and hinders nothing.
		std::fs::write(&data, &bytes).unwrap();
		let nowhere = InputPaths::data(&data).with_rows_in(&folder.path().join("none"), &spec);
		Inputs::load(&spec, &nowhere).unwrap();
	}

	#[test]
	fn files_that_are_no_such_model_are_named() {
		let spec = spec();
		let refused = |change: &dyn Fn(&mut TensorMap)| {
			let mut model = model(&spec);
			change(&mut model);
			let error = load(&tensors::encode(&model)).unwrap_err();
			let name = "published.safetensors cannot be the initial model of this job: ";
			error.split_once(name).unwrap_or_else(|| panic!("{error}")).1.to_owned()
		};
		type Change = fn(&mut TensorMap);
		let changes: [(&str, Change); 7] = [
			("it has no tensor layers.0.bias", |m| drop(m.remove("layers.0.bias"))),
			("it has a tensor \"more\"", |m| {
				m.insert("more".into(), m["layers.0.bias"].clone());
			}),
			("it has a tensor \"optimizer.m.layers.0.bias\"", |m| {
				m.insert("optimizer.m.layers.0.bias".into(), m["layers.0.bias"].clone());
			}),
			("layers.0.weight has shape [4, 8], the job's has [8, 4]", |m| {
				m.get_mut("layers.0.weight").unwrap().shape.reverse();
			}),
			("layers.1.bias holds NaN", |m| {
				m.get_mut("layers.1.bias").unwrap().data[1] = f32::NAN;
			}),
			("layers.1.weight holds inf", |m| {
				m.get_mut("layers.1.weight").unwrap().data[23] = f32::INFINITY;
			}),
			("layers.0.weight holds -inf", |m| {
				m.get_mut("layers.0.weight").unwrap().data[0] = f32::NEG_INFINITY;
			}),
		];
		for (what, change) in changes {
			let found = refused(&change);
			assert!(found.contains(what), "{what}: {found}");
		}

		// Half precision, as many published models are.
		let model = model(&spec);
		let whole = tensors::encode(&model);
		let halves: Vec<(String, Vec<usize>, Vec<u8>)> = model
			.iter()
			.map(|(name, t)| {
				let shape = t.shape.iter().map(|d| *d as usize).collect();
				(name.clone(), shape, vec![0; t.data.len() * 2])
			})
			.collect();
		let views = halves.iter().map(|(name, shape, data)| {
			let dtype = safetensors::Dtype::F16;
			let view = safetensors::tensor::TensorView::new(dtype, shape.clone(), data).unwrap();
			(name.as_str(), view)
		});
		let error = load(&safetensors::serialize(views, None).unwrap()).unwrap_err();
		assert!(error.contains("is of type F16"), "{error}");
		for cut in [1, 7, 8, 40, whole.len() - 1] {
			let error = load(&whole[..cut]).unwrap_err();
			assert!(error.contains("not a whole safetensors file"), "{cut}: {error}");
		}
		let mut long = whole;
		long.resize(long.len() + 2 * HEADER_BYTES as usize, 0);
		let error = load(&long).unwrap_err();
		assert!(error.contains("initial_model.bytes is"), "{error}");
	}

	#[test]
	fn other_files_than_declared_are_named() {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let spec = job(&data);
		let bytes = tensors::encode(&model(&spec));
		let path = folder.path().join("model");
		let (content_hash, length) = (hash::blake2_256(&bytes), bytes.len() as u64);
		let file = FileRef { content_hash, bytes: length, ..spec.dataset.file() };
		let spec = changed(&spec, |spec| spec.initial_model = Some(file));
		let paths = InputPaths { initial_model: Some(path.clone()), ..InputPaths::data(&data) };
		let error = |paths: &InputPaths| Inputs::load(&spec, paths).unwrap_err();
		let missing = error(&InputPaths::data(&data));
		assert!(missing.is_local() && missing.to_string().contains("(initial_model)"), "{missing}");
		assert!(matches!(error(&paths), InputError::Io { .. }));
		let mut flipped = bytes.clone();
		*flipped.last_mut().unwrap() ^= 1;
		let longer: Vec<u8> = bytes.iter().chain(b"x").copied().collect();
		for other in [&flipped, &longer, &bytes[..9].to_vec()] {
			std::fs::write(&path, other).unwrap();
			let error = error(&paths);
			assert!(matches!(error, InputError::Content { .. }) && !error.is_local(), "{error}");
			assert!(error.to_string().contains("initial_model.content_hash is"), "{error}");
		}

		// The first place with the right content counts, for each file by itself.
		let elsewhere = InputPaths {
			data: folder.path().join("nowhere"),
			initial_model: Some(folder.path().join("right")),
			labels: None,
			rows: None,
		};
		std::fs::write(folder.path().join("right"), &bytes).unwrap();
		let found = InputPaths::first_right(&spec, &[paths.clone(), elsewhere.clone()]);
		assert_eq!(found, InputPaths { data: data.clone(), ..elsewhere.clone() });
		assert!(Inputs::load(&spec, &found).is_ok());
		std::fs::remove_file(folder.path().join("right")).unwrap();
		assert_eq!(InputPaths::first_right(&spec, &[paths, elsewhere]), found, "the last place");
	}
	#[test]
	fn data_and_labels_are_checked_by_content() {
		let folder = tempfile::tempdir().unwrap();
		let file = |name: &str, bytes: &[u8]| {
			let path = folder.path().join(name);
			std::fs::write(&path, bytes).unwrap();
			let (content_hash, bytes) = hash::file(&path).unwrap();
			let location = JobSpec::example().dataset.location;
			(path, FileRef { content_hash, bytes, location })
		};
		let images = [&[0, 0, 8, 2, 0, 0, 0, 4, 0, 0, 0, 2][..], &[1, 2, 3, 4, 5, 6, 7, 8]];
		let labels = |labels: [u8; 4]| [&[0, 0, 8, 1, 0, 0, 0, 4][..], &labels].concat();
		let (data, found) = file("x.idx", &images.concat());
		let (right, of_labels) = file("y.idx", &labels([0, 1, 2, 1]));
		let (other, _) = file("z.idx", &labels([1, 1, 2, 1]));
		let mut spec = JobSpec::example();
		spec.dataset = Dataset {
			format: DataFormat::Idx,
			content_hash: found.content_hash,
			bytes: found.bytes,
			labels: Some(of_labels),
			train_rows: 2,
			validation_rows: 2,
			validation_every: 2,
			features: 2,
			classes: 3,
			..spec.dataset
		};
		spec.training.batch_size = 1;
		let spec = spec.check().unwrap();
		let error = |spec: &CheckedSpec, data: &Path, labels: &Path| {
			let paths = InputPaths { labels: Some(labels.to_owned()), ..InputPaths::data(data) };
			Inputs::load(spec, &paths).err()
		};
		assert!(error(&spec, &data, &right).is_none());
		// Read as labels, the images would be wrong; the error says instead that the file is a
		// different one.
		for (data, labels, which) in [
			(&data, &other, InputFile::Labels),
			(&data, &data, InputFile::Labels),
			(&right, &right, InputFile::Data),
		] {
			let found = error(&spec, data, labels).unwrap();
			assert!(
				matches!(&found, InputError::Content { which: said, .. } if *said == which),
				"{found}"
			);
			assert!(!found.is_local());
		}
		let wrong = |change: fn(&mut Dataset)| {
			let spec = changed(&spec, |spec| change(&mut spec.dataset));
			error(&spec, &data, &right).unwrap().to_string()
		};
		let length = wrong(|d| d.bytes += 1);
		for part in ["x.idx is not the dataset of the job", "dataset.bytes 21"] {
			assert!(length.contains(part), "{length}");
		}
		let hash = wrong(|d| d.labels.as_mut().unwrap().content_hash = H256::repeat_byte(1));
		for part in ["y.idx is not the file of labels", "dataset.labels.content_hash is 0x01"] {
			assert!(hash.contains(part), "{hash}");
		}
		// Errors about the right files.
		assert!(wrong(|d| d.classes = 2).contains("label 2, but dataset.classes is 2"));
		let missing = error(&spec, Path::new("/nowhere"), &right).unwrap();
		assert!(matches!(missing, InputError::Data(_)) && missing.is_local(), "{missing}");
	}
}
