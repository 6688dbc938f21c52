//! CSV: a header line, and a line of decimal numbers between commas for each row.

use super::{gzip, number, DataError, Rows};
use std::{
	io::{BufRead, BufReader, Read},
	path::{Path, PathBuf},
};
use trainyard_program::spec::MAX_WIDTH;

/// Longest line that is read, in bytes: [`MAX_WIDTH`] numbers of 32 characters.
const MAX_LINE: u64 = MAX_WIDTH as u64 * 32;

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
	line: u64,
	text: Vec<u8>,
}

impl Csv {
	/// Opens the file at `path` and reads its header.
	pub(super) fn open(path: &Path, label: Label) -> Result<Self, DataError> {
		let (reader, _) =
			gzip::open(path).map_err(|error| DataError::reading(path, None, error))?;
		let reader = BufReader::with_capacity(1 << 16, reader);
		let path = path.to_owned();
		let mut rows = Self { path, reader, label, features: 0, line: 0, text: Vec::new() };
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

	/// Reads the next line into `self.text`, without its end; returns false at the end of the file.
	fn next_line(&mut self) -> Result<bool, DataError> {
		self.text.clear();
		self.line += 1;
		let read = (&mut self.reader)
			.take(MAX_LINE)
			.read_until(b'\n', &mut self.text)
			.map_err(|error| DataError::reading(&self.path, None, error))?;
		if self.text.pop_if(|b| *b == b'\n').is_some() {
			self.text.pop_if(|b| *b == b'\r');
		} else if read as u64 == MAX_LINE {
			return Err(self.wrong(format!("the line is longer than {MAX_LINE} bytes")));
		}
		Ok(read > 0)
	}
}

impl Rows for Csv {
	fn features(&self) -> usize {
		self.features
	}

	fn next(&mut self, inputs: &mut Vec<f32>, labels: &mut Vec<u32>) -> Result<bool, DataError> {
		if !self.next_line()? {
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
		match columns == self.features + 1 {
			true => Ok(true),
			false => Err(self
				.wrong(format!("{columns} columns, but the header names {}", self.features + 1))),
		}
	}

	fn wrong(&self, what: String) -> DataError {
		DataError::Line { path: self.path.clone(), line: self.line, what }
	}
}

/// Reads a label: a decimal number whose nearest binary64 is whole and not negative.
fn label(field: &str) -> Option<u32> {
	field.parse::<u32>().ok().or_else(|| number::whole(field.parse().ok()?))
}
