//! Splits a file of rows into parts that are files of the same format.
//!
//! Rows are dealt in blocks of `validation_every`, of which the last one validates: block `b` goes to part `b mod
//! parts`. So a row validates in its part if it validates in the whole, and no row that a part trains on is one by
//! which the whole is judged.

use super::{csv, gzip, DataError};
use crate::bundle::files::{self, FileError};
use std::{
	io::{self, BufRead, BufReader, BufWriter, Write},
	path::{Path, PathBuf},
};
use trainyard_program::spec::DataFormat;

/// Says why a file cannot be split.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
	/// It is no table of lines.
	#[error(
		"{}: files of this format are not split here. Split CSV, or make the files of the parts yourself, in the \
		 format of the job",
		.path.display()
	)]
	Format {
		/// The file.
		path: PathBuf,
	},
	/// There are fewer blocks than parts.
	#[error(
		"{}: {rows} rows are too few for {parts} parts: each has at least {every} rows \
		 (dataset.validation_every), of which one validates",
		.path.display()
	)]
	TooFewRows {
		/// The file.
		path: PathBuf,
		/// Its rows.
		rows: u64,
		/// The parts.
		parts: u32,
		/// Rows of a block.
		every: u32,
	},
	/// The file cannot be read.
	#[error(transparent)]
	Data(#[from] DataError),
	/// A part cannot be written.
	#[error(transparent)]
	File(#[from] FileError),
}

/// Returns the part to which row `index` goes.
pub fn part_of_row(index: u64, every: u32, parts: u32) -> u32 {
	let block = index.checked_div(u64::from(every)).unwrap_or(0);
	u32::try_from(block.checked_rem(u64::from(parts)).unwrap_or(0)).unwrap_or(0)
}

/// Writes the rows of the CSV file at `data`, also one compressed by gzip, to a file for each of `parts`, each with
/// the header of the whole, if that has one; none of them is compressed. The rows are not looked at.
pub fn split(
	data: &Path,
	format: DataFormat,
	every: u32,
	parts: &[PathBuf],
) -> Result<(), SplitError> {
	if !matches!(format, DataFormat::CsvLabelLast | DataFormat::CsvLabelFirst) {
		return Err(SplitError::Format { path: data.to_owned() });
	}
	let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
	let rows = deal(data, every, count, None)?;
	let least = u64::from(every).saturating_mul(count.into());
	if rows < least || parts.is_empty() {
		return Err(SplitError::TooFewRows { path: data.to_owned(), rows, parts: count, every });
	}
	for (number, path) in (0..).zip(parts) {
		let mut failed = None;
		files::write_with(path, |file| {
			let mut out = BufWriter::new(file);
			match deal(data, every, count, Some((number, &mut out))) {
				Ok(_) => out.flush(),
				Err(DataError::Io { error, .. }) => Err(error),
				Err(other) => {
					failed = Some(other);
					Err(io::Error::other("the data cannot be read"))
				}
			}
		})
		.map_err(|error| failed.map_or(SplitError::File(error), SplitError::Data))?;
	}
	Ok(())
}

/// Goes through the lines of a file, and writes those of one part, with the header, if that is asked for. Returns
/// the number of rows.
fn deal(
	data: &Path,
	every: u32,
	parts: u32,
	mut wanted: Option<(u32, &mut dyn Write)>,
) -> Result<u64, DataError> {
	let failed = |error| DataError::reading(data, None, error);
	let (reader, _) = gzip::open(data, None).map_err(failed)?;
	let mut reader = BufReader::with_capacity(1 << 16, reader);
	let (mut line, mut rows, mut first) = (Vec::new(), 0u64, true);
	loop {
		line.clear();
		if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
			return Ok(rows);
		}
		if line.pop_if(|b| *b == b'\n').is_some() {
			line.pop_if(|b| *b == b'\r');
		}
		let is_first = std::mem::take(&mut first);
		let text = line.strip_prefix(csv::MARK).filter(|_| is_first).unwrap_or(&line);
		let is_header = is_first && !csv::is_row(text);
		let part = part_of_row(rows, every, parts);
		rows += u64::from(!is_header);
		if let Some((number, out)) = &mut wanted {
			if is_header || *number == part {
				out.write_all(text).and_then(|()| out.write_all(b"\n")).map_err(failed)?;
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::data;

	/// Splits a file with these bytes; returns what the parts hold.
	fn parts_of(bytes: &[u8], every: u32, count: usize) -> Result<Vec<String>, SplitError> {
		let folder = tempfile::tempdir().unwrap();
		let data = folder.path().join("whole");
		std::fs::write(&data, bytes).unwrap();
		let parts: Vec<_> = (0..count).map(|n| folder.path().join(format!("part-{n}"))).collect();
		split(&data, DataFormat::CsvLabelLast, every, &parts)?;
		Ok(parts.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect())
	}

	fn table(rows: std::ops::Range<u32>) -> String {
		rows.map(|n| format!("{n},{}\n", n % 2)).collect()
	}

	#[test]
	fn blocks_are_dealt_in_turn_and_each_part_has_the_header() {
		let whole = format!("x,y\n{}", table(0..11));
		let found = parts_of(whole.as_bytes(), 3, 2).unwrap();
		let block = |range| table(range);
		assert_eq!(found[0], format!("x,y\n{}{}", block(0..3), block(6..9)));
		assert_eq!(found[1], format!("x,y\n{}{}", block(3..6), block(9..11)));
		let bare = parts_of(table(0..11).as_bytes(), 3, 2).unwrap();
		assert_eq!(bare[0], format!("{}{}", block(0..3), block(6..9)));
		// Marks and ends of lines of other systems are no part of a row.
		let other = format!("\u{feff}{}", table(0..11).replace('\n', "\r\n"));
		assert_eq!(parts_of(other.as_bytes(), 3, 2).unwrap(), bare);
		assert_eq!(parts_of(whole.as_bytes(), 3, 1).unwrap(), [whole]);
	}

	#[test]
	fn a_row_validates_in_its_part_as_in_the_whole() {
		let folder = tempfile::tempdir().unwrap();
		let path = |name: &str| folder.path().join(name);
		std::fs::write(path("whole"), table(0..103)).unwrap();
		let parts = ["a", "b", "c"].map(path);
		split(&path("whole"), DataFormat::CsvLabelLast, 5, &parts).unwrap();
		let look = |path: &Path| data::inspect(path, None, DataFormat::CsvLabelLast, 5, 0).unwrap();
		let whole = look(&path("whole"));
		let each: Vec<_> = parts.iter().map(|path| look(path)).collect();
		assert_eq!(each.iter().map(|part| part.train_rows).sum::<u64>(), whole.train_rows);
		let sum = each.iter().map(|part| part.validation_rows).sum::<u64>();
		assert_eq!(sum, whole.validation_rows);
		for (number, path) in (0..).zip(&parts) {
			let text = std::fs::read_to_string(path).unwrap();
			for (at, line) in text.lines().enumerate() {
				let index: u64 = line.split(',').next().unwrap().parse().unwrap();
				assert_eq!(part_of_row(index, 5, 3), number);
				assert_eq!(at % 5 == 4, index % 5 == 4, "row {index}");
			}
		}
	}

	#[test]
	fn what_cannot_be_split_is_said() {
		let few = parts_of(table(0..5).as_bytes(), 3, 2).unwrap_err();
		assert!(few.to_string().contains("5 rows are too few for 2 parts"), "{few}");
		let folder = tempfile::tempdir().unwrap();
		let nowhere = folder.path().join("nowhere");
		let error = split(&nowhere, DataFormat::CsvLabelLast, 3, &[nowhere.clone()]).unwrap_err();
		assert!(matches!(error, SplitError::Data(_)), "{error}");
		let error = split(&nowhere, DataFormat::Npy, 3, &[nowhere.clone()]).unwrap_err();
		assert!(matches!(error, SplitError::Format { .. }), "{error}");
	}
}
