//! Parquet: tables whose columns lie one after the other, in groups of rows.
//!
//! The reader is our own, like those of the other formats, and reads what tables of numbers are made of: columns of
//! integers and floats without missing ones, in the encodings that writers choose for them. What a file
//! claims costs nothing: rows and columns are compared with the declaration before a page is read, pages are decompressed
//! to the length that they say and no further, all of them together to what rows of the shape may take
//! ([`Extent::file_bytes`]), and at most [`MAX_NUMBERS`] decoded numbers are in memory at a time.

mod encodings;
mod footer;
mod pages;
mod thrift;

use super::{array::wrong, csv::Label, gzip::TooMuch, number::Element, DataError, Rows};
use footer::{Column, Footer};
use pages::{Buffers, PageError};
use std::{
	fs::File,
	io::{Read, Seek, SeekFrom},
	path::{Path, PathBuf},
};
use trainyard_program::spec::{Extent, MAX_WIDTH};

/// First and last bytes of a file.
const MAGIC: &[u8; 4] = b"PAR1";
/// Longest footer that is read.
const MAX_FOOTER: u64 = 16 << 20;
/// Most numbers of a group of rows: 256 MiB of them are in memory then.
const MAX_NUMBERS: u64 = 1 << 26;

impl Column {
	/// Bytes of a number.
	fn width(&self) -> usize {
		self.element().bytes()
	}

	fn element(&self) -> Element {
		Element { kind: self.kind, big_endian: false }
	}
}

/// Rows of a file, one by one.
pub(super) struct Parquet {
	path: PathBuf,
	file: File,
	footer: Footer,
	label: Label,
	/// The next group.
	group: usize,
	/// Decoded rows of the present group: inputs, and labels. The next one is `row`.
	inputs: Vec<f32>,
	labels: Vec<u32>,
	row: usize,
	/// Rows that were given.
	given: u64,
	/// Bytes that may still be decompressed, and the shape that says how many.
	left: u64,
	extent: Extent,
	buffers: Buffers,
}

impl Parquet {
	/// Opens the file at `path` and reads its footer. No more is read than rows of the `declared` shape may take;
	/// without a declaration the footer says it.
	pub(super) fn open(
		path: &Path,
		label: Label,
		declared: Option<Extent>,
	) -> Result<Self, DataError> {
		let failed = |error| DataError::reading(path, None, error);
		let refused = |what: String| Err(wrong(path, None, what));
		let mut file = File::open(path).map_err(failed)?;
		let length = file.metadata().map_err(failed)?.len();
		let mut begin = [0; 4];
		let mut end = [0; 8];
		if length < 12 {
			return refused("it is no Parquet file: those have 12 bytes at least".into());
		}
		file.read_exact(&mut begin).map_err(failed)?;
		file.seek(SeekFrom::Start(length - 8)).map_err(failed)?;
		file.read_exact(&mut end).map_err(failed)?;
		let [a, b, c, d, magic @ ..] = end;
		if begin != *MAGIC || magic != *MAGIC {
			return refused(
				"it is no Parquet file, or an encrypted one, or it was cut: it begins and ends with PAR1"
					.into(),
			);
		}
		let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
		let pages = (length - 8).checked_sub(footer).filter(|pages| *pages >= 4);
		let Some(pages) = pages.filter(|_| footer <= MAX_FOOTER) else {
			return refused(format!(
				"it says that its footer has {footer} bytes; a Parquet file of data has at most \
				 {MAX_FOOTER}, and no more than the file. Write it with larger groups of rows \
				 (row_group_size), or with fewer columns"
			));
		};
		file.seek(SeekFrom::Start(pages)).map_err(failed)?;
		let mut bytes = vec![0; footer as usize];
		file.read_exact(&mut bytes).map_err(failed)?;
		let most = MAX_WIDTH as usize + 1;
		let footer = Footer::read(&bytes, pages, most).map_err(|what| wrong(path, None, what))?;
		let columns = footer.columns.len();
		if !(2..=most).contains(&columns) {
			return refused(format!(
				"it has {columns} columns; 2 to {most} are allowed: the inputs and the label"
			));
		}
		if let Some(Extent { rows, .. }) = declared.filter(|declared| footer.rows > declared.rows) {
			return Err(DataError::MoreRows { path: path.to_owned(), declared: rows });
		}
		for group in &footer.groups {
			if group.rows.checked_mul(columns as u64).is_none_or(|numbers| numbers > MAX_NUMBERS) {
				return refused(format!(
					"it has a group of {} rows with {columns} columns; at most {MAX_NUMBERS} numbers are read at \
					 a time. Write it with groups of at most {} rows (row_group_size)",
					group.rows,
					MAX_NUMBERS / columns as u64
				));
			}
		}
		let extent = declared.unwrap_or(Extent { rows: footer.rows, features: columns as u32 - 1 });
		Ok(Self {
			path: path.to_owned(),
			file,
			footer,
			label,
			group: 0,
			inputs: Vec::new(),
			labels: Vec::new(),
			row: 0,
			given: 0,
			left: extent.file_bytes(),
			extent,
			buffers: Buffers::default(),
		})
	}

	/// Decodes the next group; returns false after the last.
	fn next_group(&mut self) -> Result<bool, DataError> {
		let Some(group) = self.footer.groups.get(self.group) else { return Ok(false) };
		let columns = &self.footer.columns;
		let label_at = match self.label {
			Label::First => 0,
			Label::Last => columns.len().saturating_sub(1),
		};
		let features = columns.len().saturating_sub(1);
		let rows = group.rows as usize;
		self.inputs.clear();
		self.inputs.resize(rows.saturating_mul(features), 0.0);
		self.labels.clear();
		self.labels.resize(rows, 0);
		let mut numbers = Vec::new();
		let mut feature = 0;
		for (at, (column, chunk)) in columns.iter().zip(&group.chunks).enumerate() {
			let (element, width) = (column.element(), column.width());
			let (inputs, labels) = (&mut self.inputs, &mut self.labels);
			let is_label = at == label_at;
			let of_row = |row: u64, what: String| {
				let row = self.given.saturating_add(row);
				wrong(
					&self.path,
					None,
					format!("row {row} (from 0), column {}: {what}", column.name),
				)
			};
			let mut problem = None;
			let mut see = |row: u64, bytes: &[u8]| {
				let begin = row as usize;
				if is_label {
					for ((row, bytes), to) in
						(row..).zip(bytes.chunks_exact(width)).zip(labels.iter_mut().skip(begin))
					{
						match element.label(bytes) {
							Ok(label) => *to = label,
							Err(found) => {
								let what =
									format!("the label {found} is not a whole number from 0");
								problem = Some(of_row(row, what));
								return Err(PageError::TooMuch);
							}
						}
					}
					return Ok(());
				}
				numbers.clear();
				if let Err(place) = element.inputs(bytes, &mut numbers) {
					let row = row.saturating_add(place as u64);
					problem = Some(of_row(row, "it is not a finite number in binary32".into()));
					return Err(PageError::TooMuch);
				}
				let places =
					inputs.iter_mut().skip(begin.saturating_mul(features).saturating_add(feature));
				for (to, number) in places.step_by(features.max(1)).zip(&numbers) {
					*to = *number;
				}
				Ok(())
			};
			let read = pages::read(
				&mut self.file,
				(column, chunk),
				&mut self.buffers,
				&mut self.left,
				&mut see,
			);
			if let Some(problem) = problem {
				return Err(problem);
			}
			read.map_err(|error| {
				match error {
				PageError::Wrong(what) => {
					wrong(&self.path, None, format!("column {}: {what}", column.name))
				}
				PageError::Null { row } => of_row(
					row,
					"it is empty (null); every row has a number in every column. Fill such places, or leave \
					 such rows out"
						.into(),
				),
				PageError::TooMuch => {
					DataError::reading(&self.path, None, TooMuch::of_shape(self.extent).into())
				}
				PageError::Io(error) => DataError::reading(&self.path, None, error),
			}
			})?;
			feature += usize::from(!is_label);
		}
		self.group += 1;
		self.row = 0;
		Ok(true)
	}
}

impl Rows for Parquet {
	fn features(&self) -> usize {
		self.footer.columns.len().saturating_sub(1)
	}

	fn next(&mut self, inputs: &mut Vec<f32>, labels: &mut Vec<u32>) -> Result<bool, DataError> {
		while self.row == self.labels.len() {
			if !self.next_group()? {
				return Ok(false);
			}
		}
		let features = self.features();
		let begin = self.row.saturating_mul(features);
		let (Some(x), Some(y)) =
			(self.inputs.get(begin..begin.saturating_add(features)), self.labels.get(self.row))
		else {
			return Ok(false);
		};
		inputs.extend_from_slice(x);
		labels.push(*y);
		self.row += 1;
		self.given += 1;
		Ok(true)
	}

	fn wrong(&self, what: String) -> DataError {
		wrong(&self.path, None, format!("row {} (from 0): {what}", self.given.saturating_sub(1)))
	}
}
