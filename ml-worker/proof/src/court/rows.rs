//! The rows of a job as they are hashed, in memory or in a file.

use super::{nodes::Content, RecordError};
use crate::data::{self, kept};
use std::{borrow::Cow, ops::Range, path::Path, sync::atomic::AtomicBool};
use trainyard_court::referee::Chunks;
use trainyard_engine::{raw_bytes, Table};
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::relay::{self, Chunk, ChunkOpening, RowsChunk};

/// Bytes of a number, and of a label.
const WORD: u64 = 4;
/// Numbers of rows in a file that are read at a time, at least those of one row: 1 MiB.
const BLOCK: usize = 1 << 18;

/// Opens the chunk `number` of all rows of a job, counted through the four contents, as a seat of a relay
/// does: of the file at `path` that [keeps](kept) them. `None` where the rows have no such chunk, or are not
/// there.
///
/// Hashes all rows, block by block: they stay in their file.
pub fn rows_chunk(
	spec: &CheckedSpec,
	path: &Path,
	number: u64,
	stop: &AtomicBool,
) -> Result<Option<ChunkOpening>, RecordError> {
	let dataset = &spec.dataset;
	let Some(RowsChunk { content, chunk }) = relay::rows_chunk(spec, number) else {
		return Ok(None);
	};
	let Some(data) = kept::open_in_file(path, dataset, stop)? else { return Ok(None) };
	let rows = data::rows_of(&data, dataset, stop)?;
	let (found, expected) = (rows.root(), dataset.rows);
	if found != expected {
		return Err(RecordError::Rows { found, expected });
	}
	let labels = dataset.labels_per_row() as usize;
	let column = match content {
		0 => Column::inputs(&data.train, labels),
		1 => Column::labels(&data.train, labels),
		2 => Column::inputs(&data.validation, labels),
		_ => Column::labels(&data.validation, labels),
	};
	let Chunks { bytes, siblings, .. } = column.open(&[chunk])?;
	let chunk = bytes.try_into().ok().zip(siblings.try_into().ok());
	Ok(chunk.map(|(bytes, siblings)| ChunkOpening::Rows {
		contents: rows.contents,
		chunk: Chunk { bytes, siblings },
	}))
}

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
		let (begin, end) = (rows.start * each, rows.end);
		// Beside a few labels a row may have many inputs, which are read with them.
		let most = (BLOCK / self.table.features.saturating_add(self.labels).max(1)).max(1);
		let mut bytes = Vec::with_capacity((rows.len() * each).saturating_mul(WORD as usize));
		for first in rows.step_by(most) {
			let (x, y) = self.table.gather(first..end.min(first + most), self.labels)?;
			match self.is_labels {
				true => bytes.extend(bytes_of(&y)),
				false => bytes.extend_from_slice(raw_bytes(&x)),
			}
		}
		bytes.truncate((range.end - begin) * WORD as usize);
		bytes.drain(..(range.start - begin) * WORD as usize);
		Ok(Cow::Owned(bytes))
	}
}

fn bytes_of(labels: &[u32]) -> Vec<u8> {
	labels.iter().flat_map(|label| label.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{
		inputs::{InputPaths, Inputs},
		testing,
	};
	use std::path::PathBuf;
	use trainyard_engine::TableWriter;
	use trainyard_protocol::{content, job::WorkResult, pieces::Piece, H256};

	const NEVER: AtomicBool = AtomicBool::new(false);

	/// A table of 600 rows at this path.
	fn long_table(folder: &Path) -> PathBuf {
		let path = testing::table(folder);
		let text = std::fs::read_to_string(&path).unwrap();
		let (head, rows) = text.split_once('\n').unwrap();
		std::fs::write(&path, format!("{head}\n{}", rows.repeat(10))).unwrap();
		path
	}

	/// Every chunk that a seed can draw opens as the chain checks it.
	#[test]
	fn every_chunk_of_rows_that_are_kept_opens() {
		let folder = tempfile::tempdir().unwrap();
		let table = long_table(folder.path());
		let spec = testing::job(&table);
		let path = folder.path().join(kept::name(&spec.dataset));
		assert_eq!(rows_chunk(&spec, &path, 0, &NEVER).unwrap(), None, "it is not there");
		let paths = InputPaths::data(&table).with_rows_in(folder.path(), &spec);
		Inputs::load(&spec, &paths).unwrap();
		let (bundle_root, model_root) = Default::default();
		let (true_root, segments, diverged) = (bundle_root, 3, false);
		let result = WorkResult { bundle_root, true_root, model_root, segments, diverged };
		let all = spec.dataset.train_rows + spec.dataset.validation_rows;
		let piece = Piece::Rows { from: 0, to: all };
		let chunks = relay::chunks(&spec, 1, &result, piece);
		let piece = (piece, &H256::zero());
		assert!(chunks > 10, "contents of several chunks: {chunks}");
		for number in 0..chunks {
			let opening = rows_chunk(&spec, &path, number, &NEVER).unwrap().unwrap();
			assert!(relay::opens(&spec, 1, &result, piece, number, &opening), "chunk {number}");
			assert!(!relay::opens(&spec, 1, &result, piece, number ^ 1, &opening));
		}
		assert_eq!(rows_chunk(&spec, &path, chunks, &NEVER).unwrap(), None);

		// Rows that the specification does not name, under the name of those that it does.
		let wrong = testing::changed(&spec, |spec| spec.dataset.rows = H256::repeat_byte(9));
		let made = kept::begin(&table, None, &wrong.dataset, &path, &NEVER).unwrap();
		made.keep(&NEVER).unwrap();
		let opened = rows_chunk(&wrong, &path, 0, &NEVER);
		assert!(matches!(opened, Err(RecordError::Rows { .. })), "{opened:?}");
		assert_eq!(rows_chunk(&spec, &path, 0, &NEVER).unwrap(), None, "it is of another job");
		assert!(!path.exists(), "and goes");
	}

	#[test]
	fn rows_in_a_file_open_as_those_in_memory() {
		for (rows, features, labels) in
			[(3, 5, 1), (700, 129, 129), (9_000, 40, 1), (2_000, 700, 2)]
		{
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
