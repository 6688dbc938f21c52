//! Datasets: files of labelled rows, and text.
//!
//! | format | read by |
//! |---|---|
//! | CSV, also compressed by gzip | `csv` |
//! | text | `text` |
//! | IDX, also compressed by gzip | `idx` |
//! | NumPy arrays and archives | `numpy` |
//! | safetensors | `safetensors` |
//! | Parquet | `parquet` |
//!
//! Row `i` (from 0) validates when `i mod validation_every = validation_every - 1` and trains
//! otherwise. A number becomes the nearest binary32 and is divided, in binary32, by the
//! specification's `feature_divisor`; then `normalize` does what the specification says.
//! Section 1 of `docs/strict-arithmetic.md` defines all of it.
//!
//! Files come from strangers: they are read row by row, into buffers of one row, and never further
//! than the specification declares rows, nor than rows of that shape can be long
//! ([`Extent`]). Decoded rows are kept in memory, or, where they are larger
//! than `memory::for_data` says, in a temporary file. A role decodes them once into a file that
//! stays ([`kept`]).

mod array;
mod contents;
mod csv;
mod gzip;
mod idx;
pub mod kept;
mod memory;
mod normalize;
mod number;
mod numpy;
#[cfg(feature = "parquet")]
mod parquet;
mod safetensors;
mod split;
#[cfg(test)]
mod tests;
mod text;
mod zip;

pub use contents::{contents_of, read_rows, rows_of};
pub use memory::{available as available_memory, MEMORY_VARIABLE};
pub use split::{part_of_row, split, SplitError};

use primitive_types::H256;
use std::{
	fs::File,
	io::{self, ErrorKind},
	path::{Path, PathBuf},
	sync::atomic::{AtomicBool, Ordering},
};
use trainyard_engine::{Data, TableWriter};
use trainyard_program::spec::{DataFormat, Dataset, Extent, Normalization, MAX_WIDTH};

/// Says what is wrong with data. Unless [`Self::is_local`], none of it is a trainer's fault: data
/// that do not match their specification are found before anyone takes the job.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
	/// The file cannot be read.
	#[error("cannot read the data {}: {error}", .path.display())]
	Io {
		/// The file.
		path: PathBuf,
		/// Why.
		error: io::Error,
	},
	/// A line is wrong.
	#[error("{}:{line}: {what}", .path.display())]
	Line {
		/// The file.
		path: PathBuf,
		/// Line, from 1.
		line: u64,
		/// What is wrong with it.
		what: String,
	},
	/// A file does not have its format, or holds what no data may hold.
	#[error("{}: {what}", .path.display())]
	File {
		/// The file.
		path: PathBuf,
		/// What is wrong with it, and where.
		what: String,
	},
	/// The table does not have the shape that the specification says.
	#[error("{}: {field} is {declared}, but the file has {found}", .path.display())]
	Shape {
		/// The file.
		path: PathBuf,
		/// Field of the specification.
		field: &'static str,
		/// Its value.
		declared: u64,
		/// What the file has.
		found: u64,
	},
	/// The table has more rows than the specification says. How many more is not checked.
	#[error(
		"{}: dataset.train_rows and dataset.validation_rows are {declared} together, but the file \
		 has more",
		.path.display()
	)]
	MoreRows {
		/// The file.
		path: PathBuf,
		/// Rows of the specification.
		declared: u64,
	},
	/// The format keeps labels in their own file, which was not given.
	#[error(
		"{}: labels of this format are a file of their own, which is missing: name it in \
		 [dataset.labels]",
		.path.display()
	)]
	NoLabels {
		/// The file of the inputs.
		path: PathBuf,
	},
	/// This build cannot read the format.
	#[error(
		"{}: this build of trainyard was made without its feature `{feature}`, so it does not read files of \
		 this format: build it with that feature",
		.path.display()
	)]
	NoFeature {
		/// The file.
		path: PathBuf,
		/// The feature.
		feature: &'static str,
	},
	/// The environment variable [`MEMORY_VARIABLE`] is wrong.
	#[error(
		"{MEMORY_VARIABLE} is {value:?}; allowed: memory for the decoded rows of the data in MiB, \
		 a whole number. Unset it for a quarter of what is available"
	)]
	Memory {
		/// Its value.
		value: String,
	},
	/// The decoded rows fit neither in memory nor on the disk.
	#[error(
		"{}: its rows take {needed} bytes, more than the memory for them ({memory} bytes), and \
		 {} has only {free} bytes free for a temporary file. Free some space, put the data on a \
		 larger disk, or raise {MEMORY_VARIABLE} (MiB)",
		.path.display(), .folder.display()
	)]
	NoRoom {
		/// The file.
		path: PathBuf,
		/// Bytes of the decoded rows.
		needed: u64,
		/// Memory for them.
		memory: u64,
		/// Where the temporary file would be.
		folder: PathBuf,
		/// Bytes free there.
		free: u64,
	},
	/// The temporary file of the decoded rows cannot be written or read.
	#[error(
		"cannot keep the rows of the data in a temporary file: {0}. It lies beside the data, or, \
		 where nothing can be written there, where TMPDIR says"
	)]
	Scratch(io::Error),
	/// Stopped on request.
	#[error("the reading of the data was stopped")]
	Stopped,
}

impl DataError {
	/// Returns whether the fault lies with this machine and not with the data.
	pub fn is_local(&self) -> bool {
		use DataError::*;
		matches!(
			self,
			Io { .. } | NoFeature { .. } | Memory { .. } | NoRoom { .. } | Scratch(_) | Stopped
		)
	}

	/// Returns whether this build cannot read the format, so that trying again does not help.
	pub fn lacks_feature(&self) -> bool {
		matches!(self, Self::NoFeature { .. })
	}

	/// Returns the error of a failure to read `part` of the file at `path`. What a decoder reports
	/// is about the file, the rest is about this machine.
	fn reading(path: &Path, part: Option<&str>, error: io::Error) -> Self {
		if let Some(what) = gzip::TooMuch::of(&error) {
			return array::wrong(path, part, what.to_string());
		}
		let what = match error.kind() {
			ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
			ErrorKind::InvalidData | ErrorKind::InvalidInput => error.to_string(),
			_ => return Self::Io { path: path.to_owned(), error },
		};
		let what = format!("{what}: the file was cut or damaged; fetch or write it again");
		array::wrong(path, part, what)
	}
}

/// Rows of a file, one by one.
trait Rows {
	/// Returns the number of inputs of a row, at least one and at most [`MAX_WIDTH`].
	fn features(&self) -> usize;

	/// Labels of a row.
	fn labels(&self) -> usize {
		1
	}

	/// Returns how many classes there are at least, whatever the labels.
	fn least_classes(&self) -> u32 {
		2
	}

	/// Returns the bytes that were read. Only formats count them whose rows differ in length: in the
	/// others a file of a shape cannot be too long.
	fn bytes(&self) -> u64 {
		0
	}

	/// Adds the next row to `inputs`, which are finite, and to `labels`; returns false after the
	/// last.
	fn next(&mut self, inputs: &mut Vec<f32>, labels: &mut Vec<u32>) -> Result<bool, DataError>;

	/// What is wrong with the row read last.
	fn wrong(&self, what: String) -> DataError;
}

/// Opens the data at `data`, with the labels at `labels` if they have their own file; `context` is
/// the number of tokens of a row of text. No more is read than rows of the `declared` shape may
/// take.
fn open(
	data: &Path,
	labels: Option<&Path>,
	format: DataFormat,
	context: u32,
	declared: Option<Extent>,
) -> Result<Box<dyn Rows>, DataError> {
	Ok(match format {
		DataFormat::CsvLabelFirst => Box::new(csv::Csv::open(data, csv::Label::First, declared)?),
		DataFormat::CsvLabelLast => Box::new(csv::Csv::open(data, csv::Label::Last, declared)?),
		DataFormat::Text => Box::new(text::Text::open(data, context, declared)?),
		DataFormat::Idx => match labels {
			Some(labels) => Box::new(idx::open(data, labels, declared)?),
			None => return Err(DataError::NoLabels { path: data.to_owned() }),
		},
		DataFormat::Npy => Box::new(numpy::open_array(data, declared)?),
		DataFormat::Npz => Box::new(numpy::open_archive(data, declared)?),
		DataFormat::Safetensors => Box::new(safetensors::open(data, declared)?),
		#[cfg(feature = "parquet")]
		DataFormat::Parquet => Box::new(parquet::Parquet::open(data, csv::Label::Last, declared)?),
		#[cfg(feature = "parquet")]
		DataFormat::ParquetLabelFirst => {
			Box::new(parquet::Parquet::open(data, csv::Label::First, declared)?)
		}
		#[cfg(not(feature = "parquet"))]
		DataFormat::Parquet | DataFormat::ParquetLabelFirst => {
			return Err(DataError::NoFeature { path: data.to_owned(), feature: "parquet" });
		}
	})
}

/// What files say about themselves, to fill in a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
	/// `blake2_256` of the file.
	pub content_hash: H256,
	/// Its length.
	pub bytes: u64,
	/// The same of the labels, if they have their own file.
	pub labels: Option<(H256, u64)>,
	/// Rows that train.
	pub train_rows: u64,
	/// Rows that validate.
	pub validation_rows: u64,
	/// Inputs of a row.
	pub features: u32,
	/// One more than the largest label, at least 2; of text, the vocabulary.
	pub classes: u32,
}

/// Returns whether row `index` validates.
fn validates(index: u64, every: u32) -> bool {
	let every = u64::from(every);
	every > 0 && index % every == every - 1
}

/// Reads data and returns what a specification must say of them. `labels` is their path if they have
/// their own file ([`DataFormat::Idx`]), and `context` the number of tokens of a row of text. Fails
/// for data that [`load`] would refuse under that specification.
pub fn inspect(
	data: &Path,
	labels: Option<&Path>,
	format: DataFormat,
	every: u32,
	context: u32,
) -> Result<Inspection, DataError> {
	let hash = |path: &Path| {
		crate::hash::file(path).map_err(|error| DataError::Io { path: path.to_owned(), error })
	};
	let mut rows = open(data, labels, format, context, None)?;
	let (mut count, mut validation, mut classes) = (0u64, 0u64, rows.least_classes().max(2));
	let (mut x, mut y) = (Vec::new(), Vec::new());
	while rows.next(&mut x, &mut y)? {
		for label in &y {
			if *label >= MAX_WIDTH {
				let what = format!("label {label}: at most {MAX_WIDTH} classes are allowed");
				return Err(rows.wrong(what));
			}
			classes = classes.max(label + 1);
		}
		validation += u64::from(validates(count, every));
		count += 1;
		x.clear();
		y.clear();
	}
	let found = Extent { rows: count, features: rows.features() as u32 };
	gzip::TooMuch::check(rows.bytes(), Some(found))
		.map_err(|error| DataError::reading(data, None, error))?;
	let (content_hash, bytes) = hash(data)?;
	let labels = labels.filter(|_| format == DataFormat::Idx);
	Ok(Inspection {
		content_hash,
		bytes,
		labels: labels.map(hash).transpose()?,
		train_rows: count - validation,
		validation_rows: validation,
		features: rows.features() as u32,
		classes,
	})
}

/// Reads the data of a job at `data`, and its labels at `labels` if they have their own file. The
/// files must hold rows of the shape that the specification declares; whether they are the files
/// and the rows that it names is checked by [`crate::inputs`]. If the decoded rows are larger than a quarter of
/// the available memory, or than [`MEMORY_VARIABLE`] says, they are kept in a temporary file.
pub fn load(data: &Path, labels: Option<&Path>, dataset: &Dataset) -> Result<Data, DataError> {
	load_until(data, labels, dataset, &AtomicBool::new(false))
}

/// Does what [`load`] does, and ends soon after `stop` is set, with [`DataError::Stopped`].
pub fn load_until(
	data: &Path,
	labels: Option<&Path>,
	dataset: &Dataset,
	stop: &AtomicBool,
) -> Result<Data, DataError> {
	load_within(data, labels, dataset, memory::for_data()?, stop)
}

/// Does what [`load_until`] does, with that many bytes of memory for the decoded rows.
fn load_within(
	data: &Path,
	labels: Option<&Path>,
	dataset: &Dataset,
	memory: u64,
	stop: &AtomicBool,
) -> Result<Data, DataError> {
	decode(data, labels, dataset, stop, |rows| writers(data, dataset, rows, memory))
}

/// Reads the data of a job into the tables of training and validation rows that `begin` makes.
fn decode(
	data: &Path,
	labels: Option<&Path>,
	dataset: &Dataset,
	stop: &AtomicBool,
	begin: impl FnOnce(&dyn Rows) -> Result<[TableWriter; 2], DataError>,
) -> Result<Data, DataError> {
	let extent = dataset.extent();
	let mut rows = open(data, labels, dataset.format, dataset.features, Some(extent))?;
	let shape = |field, declared: u32, found: u64| match u64::from(declared) {
		declared if declared == found => Ok(()),
		declared => Err(DataError::Shape { path: data.to_owned(), field, declared, found }),
	};
	shape("dataset.features", dataset.features, rows.features() as u64)?;
	if rows.least_classes() > dataset.classes {
		shape("dataset.classes", dataset.classes, u64::from(rows.least_classes()))?;
	}
	let declared = extent.rows;
	let [mut train, mut validation] = begin(&*rows)?;
	let (divisor, mut count) = (dataset.feature_divisor as f32, 0u64);
	let (mut x, mut y) = (Vec::new(), Vec::new());
	while rows.next(&mut x, &mut y)? {
		// A row is short work, and a relaxed load costs nothing beside it.
		if stop.load(Ordering::Relaxed) {
			return Err(DataError::Stopped);
		}
		if count == declared {
			return Err(DataError::MoreRows { path: data.to_owned(), declared });
		}
		if let Some(label) = y.iter().find(|label| **label >= dataset.classes) {
			return Err(rows.wrong(format!(
				"label {label}, but dataset.classes is {}: labels go from 0 to {}",
				dataset.classes,
				dataset.classes.saturating_sub(1)
			)));
		}
		x.iter_mut().for_each(|x| *x /= divisor);
		let table = match validates(count, dataset.validation_every) {
			true => &mut validation,
			false => &mut train,
		};
		table.push(&x, &y).map_err(DataError::Scratch)?;
		count += 1;
		x.clear();
		y.clear();
	}
	shape("dataset.train_rows", dataset.train_rows, train.rows() as u64)?;
	shape("dataset.validation_rows", dataset.validation_rows, validation.rows() as u64)?;
	let mut train = train.finish().map_err(DataError::Scratch)?;
	let mut validation = validation.finish().map_err(DataError::Scratch)?;
	match dataset.normalization {
		Normalization::None => {}
		Normalization::Standard => {
			normalize::standard(data, &mut train, &mut validation, rows.labels())?
		}
	}
	Ok(Data { train, validation })
}

/// Begins tables of training and validation rows. They are in memory if the rows that the
/// specification declares fit in `memory` bytes, and otherwise in files without a name: the system
/// removes these when they are closed, also after a kill.
fn writers(
	data: &Path,
	dataset: &Dataset,
	rows: &dyn Rows,
	memory: u64,
) -> Result<[TableWriter; 2], DataError> {
	let (features, labels) = (rows.features(), rows.labels());
	let record = (features as u64 + labels as u64) * 4;
	let count = u64::from(dataset.train_rows) + u64::from(dataset.validation_rows);
	let needed = count.saturating_mul(record);
	if needed <= memory {
		// A row that is not compressed has at least one byte for each of its numbers, so no room is
		// made for more rows than can come.
		let can_come = dataset.bytes / (features as u64);
		let room = |rows: u32| u64::from(rows).min(can_come) as usize;
		return Ok([dataset.train_rows, dataset.validation_rows]
			.map(|rows| TableWriter::in_memory(features, labels, room(rows))));
	}
	let beside = match data.parent() {
		Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
		_ => PathBuf::from("."),
	};
	let (folder, first) = match tempfile::tempfile_in(&beside) {
		Ok(file) => (beside, file),
		Err(_) => (std::env::temp_dir(), tempfile::tempfile().map_err(DataError::Scratch)?),
	};
	let free = fs4::available_space(&folder).unwrap_or(u64::MAX);
	if free < needed {
		let path = data.to_owned();
		return Err(DataError::NoRoom { path, needed, memory, folder, free });
	}
	let second: File = tempfile::tempfile_in(&folder).map_err(DataError::Scratch)?;
	Ok([first, second].map(|file| TableWriter::in_file(features, labels, file)))
}
