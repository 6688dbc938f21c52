//! CSV: a line of decimal numbers between commas for each row, after a header line where there is one. The
//! first line is one unless all its cells are finite numbers.

use super::{gzip, number, DataError, Rows};
use std::{
	io::{BufRead, BufReader, Read},
	path::{Path, PathBuf},
};
use trainyard_program::spec::{Extent, LINE_BYTES, MAX_WIDTH};

/// The column of the label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
	First,
	Last,
}

/// Rows of a file, one by one.
pub(super) struct Csv {
	path: PathBuf,
	reader: BufReader<Box<dyn Read>>,
	label: Label,
	features: usize,
	/// Bounds the lines.
	extent: Extent,
	line: u64,
	/// Read up to here.
	bytes: u64,
	text: Vec<u8>,
	/// The first line is a row, which waits in `text`.
	first_is_row: bool,
}

/// A byte order mark, which may stand before the first line.
pub(super) const MARK: &[u8] = "\u{feff}".as_bytes();

impl Csv {
	/// Opens the file at `path` and reads its first line. No more is read than rows of the `declared`
	/// shape may take; without a declaration the first line says the inputs.
	pub(super) fn open(
		path: &Path,
		label: Label,
		declared: Option<Extent>,
	) -> Result<Self, DataError> {
		let (reader, _) =
			gzip::open(path, declared).map_err(|error| DataError::reading(path, None, error))?;
		let reader = BufReader::with_capacity(1 << 16, reader);
		let path = path.to_owned();
		let extent = declared.unwrap_or(Extent { rows: u64::MAX, features: MAX_WIDTH });
		let (features, line, bytes, text) = (0, 0, 0, Vec::new());
		let first_is_row = false;
		let mut rows =
			Self { path, reader, label, features, extent, line, bytes, text, first_is_row };
		if !rows.next_line()? {
			return Err(rows.wrong("the file is empty; rows were expected".into()));
		}
		if rows.text.starts_with(MARK) {
			rows.text.drain(..MARK.len());
		}
		rows.first_is_row = is_row(&rows.text);
		let columns = rows.text.split(|b| *b == b',').count();
		if !(2..=MAX_WIDTH as usize + 1).contains(&columns) {
			return Err(rows.wrong(format!(
				"the first line has {columns} columns; 2 to {} are allowed: the inputs and the label",
				u64::from(MAX_WIDTH) + 1
			)));
		}
		rows.features = columns - 1;
		if declared.is_none() {
			rows.extent.features = rows.features as u32;
			rows.check_length()?;
		}
		Ok(rows)
	}

	/// Fails if the line read last is longer than its numbers may be.
	fn check_length(&self) -> Result<(), DataError> {
		let most = self.extent.line_bytes();
		match self.text.len() as u64 > most {
			true => Err(self.wrong(format!(
				"the line is longer than {most} bytes, the most for {} inputs and a label \
				 (dataset.features): {LINE_BYTES} for each. Write it without padding and with fewer \
				 digits",
				self.extent.features
			))),
			false => Ok(()),
		}
	}

	/// Reads the next line into `self.text`, without its end; returns false at the end of the file.
	fn next_line(&mut self) -> Result<bool, DataError> {
		self.text.clear();
		self.line += 1;
		// Its end has at most two bytes more.
		let read = (&mut self.reader)
			.take(self.extent.line_bytes().saturating_add(2))
			.read_until(b'\n', &mut self.text)
			.map_err(|error| DataError::reading(&self.path, None, error))?;
		self.bytes = self.bytes.saturating_add(read as u64);
		if self.text.pop_if(|b| *b == b'\n').is_some() {
			self.text.pop_if(|b| *b == b'\r');
		}
		self.check_length()?;
		Ok(read > 0)
	}
}

impl Rows for Csv {
	fn features(&self) -> usize {
		self.features
	}

	fn bytes(&self) -> u64 {
		self.bytes
	}

	fn next(&mut self, inputs: &mut Vec<f32>, labels: &mut Vec<u32>) -> Result<bool, DataError> {
		if !std::mem::take(&mut self.first_is_row) && !self.next_line()? {
			return Ok(false);
		}
		let text = std::str::from_utf8(&self.text)
			.map_err(|_| self.wrong("the line is not UTF-8 text".into()))?;
		if text.trim().is_empty() {
			return Err(self.wrong("the line is empty".into()));
		}
		let label_at = match self.label {
			Label::First => 0,
			Label::Last => self.features,
		};
		let mut columns = 0usize;
		for (column, field) in text.split(',').enumerate() {
			let field = field.trim();
			columns += 1;
			if column == label_at {
				labels.push(label(field).ok_or_else(|| {
					self.wrong(format!(
						"column {}: the label {field:?} is not a whole number from 0",
						column + 1
					))
				})?);
			} else if column <= self.features {
				let wrong = || format!("column {}: {field:?} is not a finite number", column + 1);
				inputs.push(input(field).ok_or_else(|| self.wrong(wrong()))?);
			}
		}
		match columns == self.features + 1 {
			true => Ok(true),
			false => Err(self
				.wrong(format!("{columns} columns, but the first line has {}", self.features + 1))),
		}
	}

	fn wrong(&self, what: String) -> DataError {
		DataError::Line { path: self.path.clone(), line: self.line, what }
	}
}

/// Returns whether the first line of a file is a row, and no header.
pub(super) fn is_row(line: &[u8]) -> bool {
	let text = std::str::from_utf8(line);
	text.is_ok_and(|text| text.split(',').all(|x| input(x).is_some()))
}

/// Reads an input: the binary32 nearest to a decimal number, which is finite.
fn input(field: &str) -> Option<f32> {
	field.trim().parse::<f32>().ok().filter(|x| x.is_finite())
}

/// Reads a label: a decimal number whose nearest binary64 is whole and not negative.
fn label(field: &str) -> Option<u32> {
	field.parse::<u32>().ok().or_else(|| number::whole(field.parse().ok()?))
}
