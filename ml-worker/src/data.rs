//! Datasets: labelled tables in CSV files, and text ([`text`]).
//!
//! A file has one header line and one line per row: decimal numbers between commas, the
//! label in the last or first column by [`DataFormat`], labels from 0. Row `i` (from 0,
//! the header not counted) validates when `i mod validation_every = validation_every - 1`
//! and trains otherwise. A number becomes the nearest binary32 and is divided, in
//! binary32, by the specification's `feature_divisor`.

pub mod text;

use crate::{
	engine::{Data, Table},
	hash::HashingReader,
};
use primitive_types::H256;
use std::{
	fs::File,
	io::{BufRead, BufReader, Read},
	path::{Path, PathBuf},
};
use trainyard_primitives::spec::{DataFormat, Dataset, MAX_WIDTH};

/// Longest line that is read, in bytes: [`MAX_WIDTH`] numbers of 32 characters.
const MAX_LINE: u64 = MAX_WIDTH as u64 * 32;

/// What is wrong with a data file. None of it is a trainer's fault: data that do not match
/// their specification are found before anyone takes the job.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
	/// The file cannot be read.
	#[error("cannot read the data {}: {error}", .path.display())]
	Io {
		/// The file.
		path: PathBuf,
		/// Why.
		error: std::io::Error,
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
	/// The file is another one than the specification's.
	#[error(
		"{} is not the dataset of the job: it has content hash {found:?} and {bytes} bytes, but \
		 dataset.content_hash is {expected:?} and dataset.bytes {expected_bytes}. Use the file \
		 that the job was made with, or make the job anew for this one",
		.path.display()
	)]
	Content {
		/// The file.
		path: PathBuf,
		/// Its content hash.
		found: H256,
		/// Its length.
		bytes: u64,
		/// The specification's content hash.
		expected: H256,
		/// The specification's length.
		expected_bytes: u64,
	},
	/// The table has another shape than the specification says.
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
}

/// What a file says about itself, to fill in a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
	/// `blake2_256` of the file.
	pub content_hash: H256,
	/// Its length.
	pub bytes: u64,
	/// Rows that train.
	pub train_rows: u64,
	/// Rows that validate.
	pub validation_rows: u64,
	/// Inputs of a row.
	pub features: u32,
	/// One more than the largest label, at least 2.
	pub classes: u32,
}

/// Rows of a file, one by one.
struct Rows<R: Read> {
	path: PathBuf,
	reader: BufReader<HashingReader<R>>,
	format: DataFormat,
	features: usize,
	line: u64,
	text: Vec<u8>,
}

/// A row as it stands in the file.
struct Row<'a> {
	inputs: &'a [f32],
	label: u32,
}

impl Rows<File> {
	/// Opens the file at `path` and reads its header.
	fn open(path: &Path, format: DataFormat) -> Result<Self, DataError> {
		let io = |error| DataError::Io { path: path.to_owned(), error };
		let file = File::open(path).map_err(io)?;
		let reader = BufReader::with_capacity(1 << 16, HashingReader::new(file));
		let path = path.to_owned();
		let mut rows = Self { path, reader, format, features: 0, line: 0, text: Vec::new() };
		if !rows.next_line()? {
			return Err(rows.wrong("the file is empty; a header line was expected".into()));
		}
		let columns = rows.text.split(|b| *b == b',').count();
		if !(2..=MAX_WIDTH as usize + 1).contains(&columns) {
			return Err(rows.wrong(format!(
				"the header names {columns} columns; 2 to {} are allowed: the inputs and the label",
				u64::from(MAX_WIDTH) + 1
			)));
		}
		rows.features = columns - 1;
		Ok(rows)
	}
}

impl<R: Read> Rows<R> {
	fn wrong(&self, what: String) -> DataError {
		DataError::Line { path: self.path.clone(), line: self.line, what }
	}

	/// Reads the next line into `self.text`, without its end; false at the file's end.
	fn next_line(&mut self) -> Result<bool, DataError> {
		self.text.clear();
		self.line += 1;
		let read = (&mut self.reader)
			.take(MAX_LINE)
			.read_until(b'\n', &mut self.text)
			.map_err(|error| DataError::Io { path: self.path.clone(), error })?;
		if self.text.pop_if(|b| *b == b'\n').is_some() {
			self.text.pop_if(|b| *b == b'\r');
		} else if read as u64 == MAX_LINE {
			return Err(self.wrong(format!("the line is longer than {MAX_LINE} bytes")));
		}
		Ok(read > 0)
	}

	/// Reads the next row into `inputs`; `None` at the file's end.
	fn next<'a>(&mut self, inputs: &'a mut Vec<f32>) -> Result<Option<Row<'a>>, DataError> {
		if !self.next_line()? {
			return Ok(None);
		}
		inputs.clear();
		let text = std::str::from_utf8(&self.text)
			.map_err(|_| self.wrong("the line is not UTF-8 text".into()))?;
		if text.trim().is_empty() {
			return Err(self.wrong("the line is empty".into()));
		}
		let label_at = match self.format {
			DataFormat::CsvLabelLast => self.features,
			// Other formats than CSV are read by their own modules.
			_ => 0,
		};
		let (mut label, mut columns) = (None, 0usize);
		for (column, field) in text.split(',').enumerate() {
			let field = field.trim();
			columns += 1;
			if column == label_at {
				label = Some(field.parse::<u32>().map_err(|_| {
					self.wrong(format!(
						"column {}: the label {field:?} is not a whole number from 0",
						column + 1
					))
				})?);
			} else if column <= self.features {
				let number =
					field.parse::<f32>().ok().filter(|x| x.is_finite()).ok_or_else(|| {
						self.wrong(format!(
							"column {}: {field:?} is not a finite number",
							column + 1
						))
					})?;
				inputs.push(number);
			}
		}
		match label {
			Some(label) if columns == self.features + 1 => Ok(Some(Row { inputs, label })),
			_ => Err(self
				.wrong(format!("{columns} columns, but the header names {}", self.features + 1))),
		}
	}

	/// Content hash and length; call it at the file's end.
	fn finish(&self) -> (H256, u64) {
		self.reader.get_ref().finish()
	}
}

/// Whether row `index` validates.
fn validates(index: u64, every: u32) -> bool {
	let every = u64::from(every);
	every > 0 && index % every == every - 1
}

/// Reads the table at `path` once and says what a specification must say of it. Text has
/// [`text::inspect`].
pub fn inspect(path: &Path, format: DataFormat, every: u32) -> Result<Inspection, DataError> {
	let mut rows = Rows::open(path, format)?;
	let (mut inputs, mut count, mut validation, mut classes) = (Vec::new(), 0u64, 0u64, 2u32);
	while let Some(row) = rows.next(&mut inputs)? {
		if row.label >= MAX_WIDTH {
			let what = format!("label {}: at most {MAX_WIDTH} classes are allowed", row.label);
			return Err(rows.wrong(what));
		}
		classes = classes.max(row.label + 1);
		validation += u64::from(validates(count, every));
		count += 1;
	}
	let (content_hash, bytes) = rows.finish();
	Ok(Inspection {
		content_hash,
		bytes,
		train_rows: count - validation,
		validation_rows: validation,
		features: rows.features as u32,
		classes,
	})
}

/// Checks that the file at `path` is the specification's, by hash and length, without
/// reading its rows.
pub fn check_content(path: &Path, dataset: &Dataset) -> Result<(), DataError> {
	let (found, bytes) =
		crate::hash::file(path).map_err(|error| DataError::Io { path: path.to_owned(), error })?;
	content(path, dataset, found, bytes)
}

fn content(path: &Path, dataset: &Dataset, found: H256, bytes: u64) -> Result<(), DataError> {
	if (found, bytes) == (dataset.content_hash, dataset.bytes) {
		return Ok(());
	}
	Err(DataError::Content {
		path: path.to_owned(),
		found,
		bytes,
		expected: dataset.content_hash,
		expected_bytes: dataset.bytes,
	})
}

/// Reads the data of a job. The file must have the content that the specification names
/// and be a table of the shape that it declares; `labels` are where they are a file of their
/// own.
pub fn load(path: &Path, _labels: Option<&Path>, dataset: &Dataset) -> Result<Data, DataError> {
	// First the hash: of a wrong file nothing else is worth saying.
	check_content(path, dataset)?;
	if dataset.format == DataFormat::Text {
		return text::load(path, dataset);
	}
	let mut rows = Rows::open(path, dataset.format)?;
	let shape = |field, declared: u32, found: u64| match u64::from(declared) {
		declared if declared == found => Ok(()),
		declared => Err(DataError::Shape { path: path.to_owned(), field, declared, found }),
	};
	shape("dataset.features", dataset.features, rows.features as u64)?;
	let divisor = dataset.feature_divisor as f32;
	let table = || Table { features: rows.features, x: Vec::new(), y: Vec::new() };
	let (mut train, mut validation) = (table(), table());
	let (mut inputs, mut count) = (Vec::new(), 0u64);
	while let Some(row) = rows.next(&mut inputs)? {
		if row.label >= dataset.classes {
			return Err(rows.wrong(format!(
				"label {}, but dataset.classes is {}: labels go from 0 to {}",
				row.label,
				dataset.classes,
				dataset.classes.saturating_sub(1)
			)));
		}
		let table = match validates(count, dataset.validation_every) {
			true => &mut validation,
			false => &mut train,
		};
		table.x.extend(row.inputs.iter().map(|x| x / divisor));
		table.y.push(row.label);
		count += 1;
	}
	// The file could have changed between the two looks.
	let (found, bytes) = rows.finish();
	content(path, dataset, found, bytes)?;
	shape("dataset.train_rows", dataset.train_rows, train.y.len() as u64)?;
	shape("dataset.validation_rows", dataset.validation_rows, validation.y.len() as u64)?;
	Ok(Data { train, validation })
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_primitives::spec::JobSpec;

	fn file(text: &str) -> tempfile::NamedTempFile {
		let file = tempfile::NamedTempFile::new().unwrap();
		std::fs::write(file.path(), text).unwrap();
		file
	}

	fn dataset_of(path: &Path, format: DataFormat, every: u32) -> Dataset {
		let i = inspect(path, format, every).unwrap();
		Dataset {
			content_hash: i.content_hash,
			bytes: i.bytes,
			format,
			train_rows: i.train_rows as u32,
			validation_rows: i.validation_rows as u32,
			validation_every: every,
			features: i.features,
			classes: i.classes,
			feature_divisor: 4,
			..JobSpec::example().dataset
		}
	}

	#[test]
	fn the_digits_are_those_of_the_example() {
		let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/data/digits.csv");
		let found = inspect(&path, DataFormat::CsvLabelLast, 5).unwrap();
		let example = JobSpec::example().dataset;
		assert_eq!(found.bytes, example.bytes);
		assert_eq!(found.train_rows, u64::from(example.train_rows));
		assert_eq!(found.validation_rows, u64::from(example.validation_rows));
		assert_eq!((found.features, found.classes), (example.features, example.classes));
		let data = load(&path, None, &dataset_of(&path, DataFormat::CsvLabelLast, 5)).unwrap();
		assert_eq!(data.train.x.len(), 1_438 * 64);
		assert_eq!(data.validation.y.len(), 359);
	}

	#[test]
	fn rows_are_split_and_divided() {
		let f = file("a,b,label\n1,2,0\n3,4,1\r\n5,6,2\n7.5,8,0\n9,1e1,1");
		let dataset = dataset_of(f.path(), DataFormat::CsvLabelLast, 3);
		assert_eq!((dataset.train_rows, dataset.validation_rows, dataset.classes), (4, 1, 3));
		let data = load(f.path(), None, &dataset).unwrap();
		assert_eq!(data.validation.x, [1.25, 1.5]);
		assert_eq!(data.validation.y, [2]);
		assert_eq!(data.train.x, [0.25, 0.5, 0.75, 1.0, 1.875, 2.0, 2.25, 2.5]);
		assert_eq!(data.train.y, [0, 1, 0, 1]);
		let f = file("label,a,b\n1,2,3\n0,5,6\n");
		let data =
			load(f.path(), None, &dataset_of(f.path(), DataFormat::CsvLabelFirst, 2)).unwrap();
		assert_eq!((data.train.x, data.train.y), (vec![0.5, 0.75], vec![1]));
	}

	#[test]
	fn wrong_lines_are_named() {
		for (text, line, what) in [
			("", 1, "empty"),
			("label\n", 1, "1 columns"),
			("a,label\n1,0\n2\n", 3, "1 columns"),
			("a,label\n1,0\n\n2,1\n", 3, "line is empty"),
			("a,label\n1,2,0\n", 2, "3 columns"),
			("a,label\nx,0\n", 2, "\"x\""),
			("a,label\nnan,0\n", 2, "finite"),
			("a,label\n1e39,0\n", 2, "finite"),
			("a,label\n1,-1\n", 2, "label"),
			("a,label\n1,0.5\n", 2, "label"),
			("a,label\n1,65536\n", 2, "label 65536"),
		] {
			let f = file(text);
			let error = inspect(f.path(), DataFormat::CsvLabelLast, 5).unwrap_err().to_string();
			let at = format!("{}:{line}: ", f.path().display());
			assert!(error.starts_with(&at) && error.contains(what), "{text:?}: {error}");
		}
	}

	#[test]
	fn a_specification_that_does_not_match_is_refused() {
		let f = file("a,b,label\n1,2,0\n3,4,1\n5,6,2\n7,8,0\n");
		let good = dataset_of(f.path(), DataFormat::CsvLabelLast, 2);
		assert!(load(f.path(), None, &good).is_ok());
		type Break = fn(&mut Dataset);
		let cases: &[(&str, Break)] = &[
			("dataset.content_hash", |d| d.content_hash = H256::repeat_byte(1)),
			("dataset.bytes", |d| d.bytes += 1),
			("dataset.features", |d| d.features = 3),
			("dataset.classes", |d| d.classes = 2),
			("dataset.train_rows", |d| d.train_rows = 3),
			("dataset.validation_rows", |d| d.validation_rows = 1),
		];
		for (field, break_it) in cases {
			let mut dataset = good.clone();
			break_it(&mut dataset);
			let error = load(f.path(), None, &dataset).unwrap_err().to_string();
			assert!(error.contains(field), "{field}: {error}");
		}
		assert!(matches!(load(Path::new("/nowhere"), None, &good), Err(DataError::Io { .. })));
	}
}
