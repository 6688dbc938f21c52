//! Arrays in binary files, read row by row. No library for one of the formats is used, because this
//! is one reader for NumPy, IDX and safetensors, which allocates one row and nothing else on a
//! header's word.

use super::{number::Element, DataError, Rows};
use std::{
	io::{self, Read},
	path::{Path, PathBuf},
};
use trainyard_program::spec::MAX_WIDTH;

/// What the header of an array says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
	/// Its numbers.
	pub element: Element,
	/// Its extents, slowest first (C order).
	pub shape: Vec<u64>,
}

/// An array of at least one dimension, of which rows are read one by one.
pub(super) struct Array {
	path: PathBuf,
	/// Which of the file's arrays, for messages.
	part: Option<String>,
	reader: Box<dyn Read>,
	header: Header,
	rows: u64,
	/// Numbers of a row.
	width: usize,
	/// Rows read.
	read: u64,
	/// A row.
	bytes: Vec<u8>,
}

impl Array {
	/// Opens the array after a header. `length` is the number of bytes that are left for it, if
	/// that is known before they are read; `reader` ends after it. On the header's word only one
	/// row is allocated, of at most `MAX_WIDTH` inputs and a label.
	pub(super) fn new(
		path: &Path,
		part: Option<&str>,
		header: Header,
		length: Option<u64>,
		reader: Box<dyn Read>,
	) -> Result<Self, DataError> {
		let wrong = |what: String| Err(wrong(path, part, what));
		let shape = &header.shape;
		let Some((rows, extents)) = shape.split_first() else {
			return wrong("it holds a single number, not an array of rows".into());
		};
		let width = extents.iter().try_fold(1u64, |n, extent| n.checked_mul(*extent));
		let most = u64::from(MAX_WIDTH) + 1;
		let Some(width) = width.filter(|width| (1..=most).contains(width)) else {
			return wrong(format!(
				"its shape is {shape:?}; a row, which is all dimensions but the first, has 1 to \
				 {MAX_WIDTH} inputs"
			));
		};
		let row = width * header.element.bytes() as u64;
		let bytes = rows.checked_mul(row);
		if length.is_some_and(|length| bytes != Some(length)) {
			return wrong(format!(
				"an array of {shape:?} numbers of {} bytes was expected behind its header, but {} \
				 bytes follow: the file was cut or damaged; fetch or write it again",
				header.element.bytes(),
				length.unwrap_or_default()
			));
		}
		Ok(Self {
			path: path.to_owned(),
			part: part.map(str::to_owned),
			reader,
			rows: *rows,
			width: width as usize,
			read: 0,
			bytes: vec![0; row as usize],
			header,
		})
	}

	fn wrong(&self, what: String) -> DataError {
		wrong(&self.path, self.part.as_deref(), what)
	}

	/// Returns an error about the row that was read last.
	fn wrong_row(&self, what: String) -> DataError {
		self.wrong(format!("row {} (from 0): {what}", self.read.saturating_sub(1)))
	}

	/// Reads the next row into `self.bytes`; returns false after the last.
	fn next(&mut self) -> Result<bool, DataError> {
		if self.read == self.rows {
			return match self.reader.read(&mut [0]) {
				Ok(0) => Ok(false),
				Ok(_) => Err(self.wrong(format!(
					"its header says shape {:?}, but more numbers follow",
					self.header.shape
				))),
				Err(error) => Err(self.failed(error)),
			};
		}
		if let Err(error) = self.reader.read_exact(&mut self.bytes) {
			return Err(match error.kind() {
				io::ErrorKind::UnexpectedEof => self.wrong(format!(
					"it ends in row {} (from 0) of the {} that its header says: it was cut; fetch \
					 or write it again",
					self.read, self.rows
				)),
				_ => self.failed(error),
			});
		}
		self.read += 1;
		Ok(true)
	}

	fn failed(&self, error: io::Error) -> DataError {
		let part = self.part.as_deref();
		DataError::reading(&self.path, part, error)
	}

	/// Adds `bytes` of the row to `inputs`.
	fn inputs(&self, bytes: &[u8], inputs: &mut Vec<f32>) -> Result<(), DataError> {
		self.header.element.inputs(bytes, inputs).map_err(|column| {
			self.wrong_row(format!("input {column} (from 0) is not a finite number in binary32"))
		})
	}

	/// Returns the label in `bytes` of the row.
	fn label(&self, bytes: &[u8]) -> Result<u32, DataError> {
		self.header.element.label(bytes).map_err(|found| {
			self.wrong_row(format!("the label {found} is not a whole number from 0"))
		})
	}
}

pub(super) fn wrong(path: &Path, part: Option<&str>, what: String) -> DataError {
	let part = part.map(|part| format!("{part}: ")).unwrap_or_default();
	DataError::File { path: path.to_owned(), what: format!("{part}{what}") }
}

/// Rows of an array of inputs `[rows, ..]` and an array of labels `[rows]`.
pub(super) struct Pair {
	inputs: Array,
	labels: Array,
}

impl Pair {
	pub(super) fn new(inputs: Array, labels: Array) -> Result<Self, DataError> {
		if inputs.header.shape.len() < 2 {
			return Err(inputs.wrong(format!(
				"its shape is {:?}, which labels have; inputs are [rows, features], or [rows, \
				 height, width] and the like",
				inputs.header.shape
			)));
		}
		if inputs.width > MAX_WIDTH as usize {
			let width = inputs.width;
			return Err(inputs.wrong(format!("its rows have {width} inputs; at most {MAX_WIDTH}")));
		}
		if labels.header.shape.len() != 1 {
			let shape = &labels.header.shape;
			return Err(labels.wrong(format!(
				"its shape is {shape:?}; labels are [rows], one number for each row"
			)));
		}
		if labels.rows != inputs.rows {
			let part = inputs.part.as_ref().map(|part| format!(" ({part})")).unwrap_or_default();
			return Err(labels.wrong(format!(
				"it holds {} labels, but {}{part} has {} rows; use files that belong together",
				labels.rows,
				inputs.path.display(),
				inputs.rows
			)));
		}
		Ok(Self { inputs, labels })
	}
}

impl Rows for Pair {
	fn features(&self) -> usize {
		self.inputs.width
	}

	fn next(&mut self, inputs: &mut Vec<f32>, labels: &mut Vec<u32>) -> Result<bool, DataError> {
		let more = self.inputs.next()?;
		// This is also done after the last row, where it checks that nothing follows.
		self.labels.next()?;
		if more {
			self.inputs.inputs(&self.inputs.bytes, inputs)?;
			labels.push(self.labels.label(&self.labels.bytes)?);
		}
		Ok(more)
	}

	fn wrong(&self, what: String) -> DataError {
		self.labels.wrong_row(what)
	}
}

/// Rows of one array `[rows, features + 1]`, label last.
pub(super) struct Joined(Array);

impl Joined {
	pub(super) fn new(array: Array) -> Result<Self, DataError> {
		match array.header.shape.len() {
			2 if array.width > 1 => Ok(Self(array)),
			_ => Err(array.wrong(format!(
				"its shape is {:?}; it must be [rows, features + 1], the label last. An archive \
				 (npz) takes inputs and labels apart",
				array.header.shape
			))),
		}
	}
}

impl Rows for Joined {
	fn features(&self) -> usize {
		self.0.width - 1
	}

	fn next(&mut self, inputs: &mut Vec<f32>, labels: &mut Vec<u32>) -> Result<bool, DataError> {
		if !self.0.next()? {
			return Ok(false);
		}
		let label_at = (self.0.width - 1) * self.0.header.element.bytes();
		let (row, label) = self.0.bytes.split_at(label_at);
		self.0.inputs(row, inputs)?;
		labels.push(self.0.label(label)?);
		Ok(true)
	}

	fn wrong(&self, what: String) -> DataError {
		self.0.wrong_row(what)
	}
}
