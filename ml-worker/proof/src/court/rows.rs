//! The rows of a job as they are hashed, in memory or in a file.

use super::{nodes::Content, RecordError};
use std::{borrow::Cow, ops::Range};
use trainyard_court::referee::Chunks;
use trainyard_engine::{raw_bytes, Table};

/// Bytes of a number, and of a label.
const WORD: u64 = 4;

/// The inputs of a table, or its labels: one of the contents under the rows root.
pub(super) struct Column<'a> {
	table: &'a Table,
	/// Labels of a row.
	labels: usize,
	/// Whether it is the labels.
	is_labels: bool,
}

impl<'a> Column<'a> {
	/// Returns the inputs of a table whose rows have so many labels.
	pub fn inputs(table: &'a Table, labels: usize) -> Self {
		Self { table, labels, is_labels: false }
	}

	/// Returns its labels.
	pub fn labels(table: &'a Table, labels: usize) -> Self {
		Self { table, labels, is_labels: true }
	}

	/// Returns the number of words.
	fn len(&self) -> u64 {
		match self.is_labels {
			true => self.table.labels() as u64,
			false => self.table.inputs() as u64,
		}
	}

	/// Returns one word; `None` where there is none.
	pub fn word(&self, index: u64) -> Result<Option<u32>, RecordError> {
		let at = usize::try_from(index).unwrap_or(usize::MAX);
		if self.table.stored.is_none() {
			return Ok(match self.is_labels {
				true => self.table.y.get(at).copied(),
				false => self.table.x.get(at).map(|x| x.to_bits()),
			});
		}
		if index >= self.len() {
			return Ok(None);
		}
		let bytes = self.words(at..at.saturating_add(1))?;
		let (words, _) = bytes.as_chunks::<4>();
		Ok(words.first().map(|word| u32::from_le_bytes(*word)))
	}

	/// Returns the bytes of all words.
	pub fn all(&self) -> Result<Cow<'a, [u8]>, RecordError> {
		self.words(0..self.len() as usize)
	}

	/// Opens chunks, whose numbers ascend.
	pub fn open(&self, numbers: &[u64]) -> Result<Chunks, RecordError> {
		let read = |begin: u64, size: u64| {
			self.words((begin / WORD) as usize..((begin + size) / WORD) as usize)
		};
		Content { bytes: self.len().saturating_mul(WORD), read }.open(numbers)
	}

	/// Returns the bytes of these words, which there must be.
	fn words(&self, range: Range<usize>) -> Result<Cow<'a, [u8]>, RecordError> {
		if self.table.stored.is_none() {
			return Ok(match self.is_labels {
				true => Cow::Owned(bytes_of(self.table.y.get(range).unwrap_or_default())),
				// No input is a NaN, or training would not begin.
				false => Cow::Borrowed(raw_bytes(self.table.x.get(range).unwrap_or_default())),
			});
		}
		let each = if self.is_labels { self.labels } else { self.table.features }.max(1);
		let rows = range.start / each..range.end.div_ceil(each);
		let begin = rows.start * each;
		let (x, y) = self.table.gather(rows, self.labels)?;
		let within = range.start - begin..range.end - begin;
		Ok(Cow::Owned(match self.is_labels {
			true => bytes_of(y.get(within).unwrap_or_default()),
			false => raw_bytes(x.get(within).unwrap_or_default()).to_vec(),
		}))
	}
}

fn bytes_of(labels: &[u32]) -> Vec<u8> {
	labels.iter().flat_map(|label| label.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_engine::TableWriter;
	use trainyard_protocol::content;

	#[test]
	fn rows_in_a_file_open_as_those_in_memory() {
		for (rows, features, labels) in [(3, 5, 1), (700, 129, 129), (9_000, 40, 1)] {
			let file = tempfile::tempfile().unwrap();
			let tables = [
				TableWriter::in_memory(features, labels, rows),
				TableWriter::in_file(features, labels, file),
			]
			.map(|mut writer| {
				for row in 0..rows {
					let x: Vec<f32> =
						(0..features).map(|i| (row * features + i) as f32 / 7.0).collect();
					let y: Vec<u32> = (0..labels).map(|i| (row * labels + i) as u32).collect();
					writer.push(&x, &y).unwrap();
				}
				writer.finish().unwrap()
			});
			assert!(tables[1].stored.is_some());
			for of in [Column::inputs, Column::labels] {
				let [memory, file] = tables.each_ref().map(|table| of(table, labels));
				let whole = memory.all().unwrap();
				assert_eq!(whole, file.all().unwrap());
				let last = content::chunks(whole.len() as u64) - 1;
				let mut numbers = vec![0, last / 3, last];
				numbers.dedup();
				let expected = Chunks::open(&whole, numbers.iter().copied()).unwrap();
				for column in [&memory, &file] {
					assert_eq!(column.open(&numbers).unwrap(), expected);
					for (index, word) in (0..).zip(whole.as_chunks::<4>().0).step_by(997) {
						let word = Some(u32::from_le_bytes(*word));
						assert_eq!(column.word(index).unwrap(), word, "{index}");
					}
					assert_eq!(column.word(whole.len() as u64 / 4).unwrap(), None);
				}
			}
		}
	}
}
