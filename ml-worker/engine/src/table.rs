//! Labelled rows: in memory, or in a file if they are larger than the memory for them.

use crate::host::canonical_bytes;
use blake3::Hasher;
use std::{
	fs::File,
	io::{self, BufWriter, Seek, SeekFrom, Write},
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc,
	},
};
use trainyard_protocol::H256;

/// Bytes that are read at a time where all rows of a file are read.
const BLOCK: usize = 1 << 20;
/// Bytes of rows in memory that are hashed between two looks at whether to stop.
const HASHED: usize = 64 << 20;

/// Labelled rows, in memory or in a file ([`Self::stored`]). What is computed from them is the
/// same either way.
#[derive(Clone, Debug, Default)]
pub struct Table {
	/// Inputs of a row.
	pub features: usize,
	/// Inputs, row major, divided and normalised as the specification says; empty if the rows are
	/// in a file.
	pub x: Vec<f32>,
	/// Labels, one for each row (of text, one for each input); empty if the rows are in a file.
	pub y: Vec<u32>,
	/// The rows, if they are in a file.
	pub stored: Option<Arc<StoredRows>>,
	/// The normalizer that was applied to the inputs.
	pub normalizer: Option<Arc<Normalizer>>,
}

/// The data on which a job trains and validates.
#[derive(Clone, Debug, Default)]
pub struct Data {
	/// Rows that train, in the order of the file.
	pub train: Table,
	/// Rows that validate, in the order of the file.
	pub validation: Table,
}

/// Mean and deviation by which inputs are normalised: `(x - mean) / deviation`, see section 1 of
/// `docs/strict-arithmetic.md`.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalizer {
	/// Mean of each feature over the training rows.
	pub mean: Vec<f32>,
	/// Standard deviation of each feature over the training rows, 1 where it does not vary.
	pub deviation: Vec<f32>,
}

impl Normalizer {
	/// Normalises the inputs of a row.
	pub fn apply(&self, row: &mut [f32]) {
		for ((x, mean), deviation) in row.iter_mut().zip(&self.mean).zip(&self.deviation) {
			*x = (*x - mean) / deviation;
		}
	}
}

/// Rows in a file: records of a fixed width, the inputs and then the labels, each of 4 bytes,
/// little endian.
#[derive(Debug)]
pub struct StoredRows {
	file: File,
	/// Where the first record begins.
	base: u64,
	rows: usize,
	features: usize,
	labels: usize,
	/// Where a read cannot name its position, it moves the position of the file; so reads wait for
	/// each other.
	#[cfg(not(unix))]
	turn: std::sync::Mutex<()>,
}

impl StoredRows {
	/// Returns the bytes of a row.
	fn record(&self) -> usize {
		(self.features + self.labels) * 4
	}

	fn position(&self, row: usize) -> u64 {
		self.base + row as u64 * self.record() as u64
	}

	#[cfg(unix)]
	fn read_at(&self, bytes: &mut [u8], row: usize) -> io::Result<()> {
		std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, self.position(row))
	}

	#[cfg(unix)]
	fn write_at(&self, bytes: &[u8], row: usize) -> io::Result<()> {
		std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, self.position(row))
	}

	#[cfg(not(unix))]
	fn read_at(&self, bytes: &mut [u8], row: usize) -> io::Result<()> {
		use std::io::Read;
		let _turn = self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
		(&self.file).seek(SeekFrom::Start(self.position(row)))?;
		(&self.file).read_exact(bytes)
	}

	#[cfg(not(unix))]
	fn write_at(&self, bytes: &[u8], row: usize) -> io::Result<()> {
		use std::io::{Seek, SeekFrom};
		let _turn = self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
		(&self.file).seek(SeekFrom::Start(self.position(row)))?;
		(&self.file).write_all(bytes)
	}

	/// Adds inputs and labels of the rows in `records` to `x` and `y`.
	fn decode(&self, records: &[u8], x: &mut Vec<f32>, y: &mut Vec<u32>) {
		for record in records.chunks_exact(self.record()) {
			let (inputs, labels) = record.split_at(self.features * 4);
			x.extend(words(inputs).map(f32::from_bits));
			y.extend(words(labels));
		}
	}

	/// Returns first row and number of rows of each block.
	fn blocks(&self) -> impl Iterator<Item = (usize, usize)> {
		let (rows, block) = (self.rows, (BLOCK / self.record().max(1)).max(1));
		(0..rows).step_by(block).map(move |first| (first, block.min(rows - first)))
	}
}

/// Reads numbers of 4 bytes, little endian.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
	let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
	bytes.chunks_exact(4).map(word)
}

/// Calls `see` with the number, the inputs and the labels of each row.
fn each_of<E>(
	first: usize,
	(x, features): (&[f32], usize),
	(y, labels): (&[u32], usize),
	see: &mut impl FnMut(usize, &[f32], &[u32]) -> Result<(), E>,
) -> Result<(), E> {
	let all = x.chunks_exact(features).zip(y.chunks_exact(labels));
	(first..).zip(all).try_for_each(|(row, (x, y))| see(row, x, y))
}

impl Table {
	/// Returns the table of `rows` rows that begin at byte `base` of a file that
	/// [`TableWriter::in_file_at`] wrote. Nothing is read yet.
	pub fn stored_at(
		file: File,
		base: u64,
		rows: usize,
		features: usize,
		labels: usize,
		normalizer: Option<Arc<Normalizer>>,
	) -> Self {
		let stored = StoredRows {
			file,
			base,
			rows,
			features,
			labels,
			#[cfg(not(unix))]
			turn: Default::default(),
		};
		Self { features, stored: Some(Arc::new(stored)), normalizer, ..Self::default() }
	}

	/// Returns the number of inputs of all rows.
	pub fn inputs(&self) -> usize {
		self.stored.as_ref().map_or(self.x.len(), |stored| stored.rows * stored.features)
	}

	/// Returns the number of labels of all rows.
	pub fn labels(&self) -> usize {
		self.stored.as_ref().map_or(self.y.len(), |stored| stored.rows * stored.labels)
	}

	/// Returns inputs and labels, row major, of these rows, each with `labels` labels.
	///
	/// # Panics
	/// Panics if the table has no such row.
	pub fn gather(
		&self,
		rows: impl ExactSizeIterator<Item = usize>,
		labels: usize,
	) -> io::Result<(Vec<f32>, Vec<u32>)> {
		let mut x = Vec::with_capacity(rows.len() * self.features);
		let mut y = Vec::with_capacity(rows.len() * labels);
		match &self.stored {
			None => {
				for row in rows {
					x.extend_from_slice(&self.x[row * self.features..][..self.features]);
					y.extend_from_slice(&self.y[row * labels..][..labels]);
				}
			}
			Some(stored) => {
				let mut record = vec![0; stored.record()];
				for row in rows {
					assert!(row < stored.rows, "row {row} of {}", stored.rows);
					stored.read_at(&mut record, row)?;
					stored.decode(&record, &mut x, &mut y);
				}
			}
		}
		Ok((x, y))
	}

	/// Calls `see` with the number, the inputs and the `labels` labels of each row, in order, until
	/// it fails.
	pub fn each<E: From<io::Error>>(
		&self,
		labels: usize,
		mut see: impl FnMut(usize, &[f32], &[u32]) -> Result<(), E>,
	) -> Result<(), E> {
		let (features, labels) = (self.features.max(1), labels.max(1));
		let Some(stored) = &self.stored else {
			return each_of(0, (&self.x, features), (&self.y, labels), &mut see);
		};
		let (mut bytes, mut x, mut y) = (Vec::new(), Vec::new(), Vec::new());
		for (first, count) in stored.blocks() {
			bytes.resize(count * stored.record(), 0);
			stored.read_at(&mut bytes, first)?;
			x.clear();
			y.clear();
			stored.decode(&bytes, &mut x, &mut y);
			each_of(first, (&x, features), (&y, labels), &mut see)?;
		}
		Ok(())
	}

	/// Returns the content hashes of all inputs and of all labels, row major, each row with `labels`
	/// labels: what the rows root is over, see [`trainyard_protocol::rows`]. Hashes on all threads,
	/// and no more than a block of what is in a file is in memory. Soon after `stop` is set, it
	/// returns `None`.
	pub fn contents(&self, labels: usize, stop: &AtomicBool) -> io::Result<Option<[H256; 2]>> {
		let (mut inputs, mut of_labels) = (Hasher::new(), Hasher::new());
		let mut add = |x: &[f32], y: &[u32]| {
			inputs.update_rayon(&canonical_bytes(x));
			of_labels.update_rayon(bytemuck::cast_slice(y));
		};
		let stopped = || stop.load(Ordering::Relaxed);
		match &self.stored {
			None => {
				let (features, labels) = (self.features.max(1), labels.max(1));
				let rows = (HASHED / 4 / (features + labels)).max(1);
				for (x, y) in self.x.chunks(rows * features).zip(self.y.chunks(rows * labels)) {
					if stopped() {
						return Ok(None);
					}
					add(x, y);
				}
			}
			Some(stored) => {
				let (mut bytes, mut x, mut y) = (Vec::new(), Vec::new(), Vec::new());
				for (first, count) in stored.blocks() {
					if stopped() {
						return Ok(None);
					}
					bytes.resize(count * stored.record(), 0);
					stored.read_at(&mut bytes, first)?;
					x.clear();
					y.clear();
					stored.decode(&bytes, &mut x, &mut y);
					add(&x, &y);
				}
			}
		}
		Ok(Some([inputs, of_labels].map(|hasher| H256(*hasher.finalize().as_bytes()))))
	}

	/// Calls `change` to change the inputs of each row, in order, until it fails. Nothing else may
	/// read the table meanwhile.
	pub fn update<E: From<io::Error>>(
		&mut self,
		mut change: impl FnMut(usize, &mut [f32]) -> Result<(), E>,
	) -> Result<(), E> {
		let Some(stored) = &self.stored else {
			let mut rows = self.x.chunks_exact_mut(self.features.max(1)).enumerate();
			return rows.try_for_each(|(row, x)| change(row, x));
		};
		let (mut bytes, mut x) = (Vec::new(), Vec::new());
		for (first, count) in stored.blocks() {
			bytes.resize(count * stored.record(), 0);
			stored.read_at(&mut bytes, first)?;
			for (row, record) in (first..).zip(bytes.chunks_exact_mut(stored.record())) {
				let (inputs, _) = record.split_at_mut(stored.features * 4);
				x.clear();
				x.extend(words(inputs).map(f32::from_bits));
				change(row, &mut x)?;
				for (bytes, x) in inputs.chunks_exact_mut(4).zip(&x) {
					bytes.copy_from_slice(&x.to_le_bytes());
				}
			}
			stored.write_at(&bytes, first)?;
		}
		Ok(())
	}
}

/// Collects the rows of a table as they come.
pub struct TableWriter {
	features: usize,
	labels: usize,
	rows: usize,
	place: Place,
}

enum Place {
	Memory {
		x: Vec<f32>,
		y: Vec<u32>,
	},
	/// A file, and where the first record begins in it.
	File(BufWriter<File>, u64),
}

impl TableWriter {
	/// Begins a table in memory, with room for that many rows at once; more may come.
	pub fn in_memory(features: usize, labels: usize, rows: usize) -> Self {
		let x = Vec::with_capacity(rows.saturating_mul(features));
		let y = Vec::with_capacity(rows.saturating_mul(labels));
		Self { features, labels, rows: 0, place: Place::Memory { x, y } }
	}

	/// Begins a table in `file`, which must be empty.
	pub fn in_file(features: usize, labels: usize, file: File) -> Self {
		let place = Place::File(BufWriter::with_capacity(BLOCK, file), 0);
		Self { features, labels, rows: 0, place }
	}

	/// Begins a table in `file` whose first record is at byte `base`.
	pub fn in_file_at(
		features: usize,
		labels: usize,
		mut file: File,
		base: u64,
	) -> io::Result<Self> {
		file.seek(SeekFrom::Start(base))?;
		let place = Place::File(BufWriter::with_capacity(BLOCK, file), base);
		Ok(Self { features, labels, rows: 0, place })
	}

	/// Returns the number of rows so far.
	pub fn rows(&self) -> usize {
		self.rows
	}

	/// Adds a row.
	///
	/// # Panics
	/// Panics if the row has a different number of inputs or labels.
	pub fn push(&mut self, inputs: &[f32], labels: &[u32]) -> io::Result<()> {
		assert_eq!((inputs.len(), labels.len()), (self.features, self.labels));
		match &mut self.place {
			Place::Memory { x, y } => {
				x.extend_from_slice(inputs);
				y.extend_from_slice(labels);
			}
			Place::File(file, _) => {
				for x in inputs {
					file.write_all(&x.to_le_bytes())?;
				}
				for y in labels {
					file.write_all(&y.to_le_bytes())?;
				}
			}
		}
		self.rows += 1;
		Ok(())
	}

	/// Returns the table.
	pub fn finish(self) -> io::Result<Table> {
		let (features, labels, rows) = (self.features, self.labels, self.rows);
		Ok(match self.place {
			Place::Memory { x, y } => Table { features, x, y, ..Table::default() },
			Place::File(file, base) => {
				Table::stored_at(file.into_inner()?, base, rows, features, labels, None)
			}
		})
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::content;

	/// The same rows in memory and in a file.
	fn both(rows: usize, features: usize, labels: usize) -> [Table; 2] {
		let file = tempfile::tempfile().unwrap();
		[TableWriter::in_memory(features, labels, 3), TableWriter::in_file(features, labels, file)]
			.map(|mut writer| {
				for row in 0..rows {
					let x: Vec<f32> =
						(0..features).map(|i| (row * features + i) as f32 / 7.0).collect();
					let y: Vec<u32> = (0..labels).map(|i| (row * labels + i) as u32).collect();
					writer.push(&x, &y).unwrap();
				}
				assert_eq!(writer.rows(), rows);
				writer.finish().unwrap()
			})
	}

	fn all(table: &Table, labels: usize) -> Vec<(usize, Vec<f32>, Vec<u32>)> {
		let mut rows = Vec::new();
		let see = |row, x: &[f32], y: &[u32]| {
			rows.push((row, x.to_vec(), y.to_vec()));
			Ok::<_, io::Error>(())
		};
		table.each(labels, see).unwrap();
		rows
	}

	#[test]
	fn rows_in_a_file_are_those_in_memory() {
		// The widest has one row in a block, the others many; the last block is not whole.
		for (rows, features, labels) in
			[(0, 3, 1), (1, 1, 1), (5_000, 100, 1), (700, 129, 129), (4, 200_000, 100_000)]
		{
			let [mut memory, mut file] = both(rows, features, labels);
			assert!(memory.stored.is_none() && file.stored.is_some() && file.x.is_empty());
			assert_eq!((memory.inputs(), memory.labels()), (rows * features, rows * labels));
			assert_eq!((file.inputs(), file.labels()), (rows * features, rows * labels));
			assert_eq!(all(&memory, labels), all(&file, labels));
			let some = || (0..rows).rev().step_by(3).collect::<Vec<_>>().into_iter();
			let gathered = memory.gather(some(), labels).unwrap();
			assert_eq!(gathered, file.gather(some(), labels).unwrap());
			assert_eq!(gathered.0.len(), some().len() * features);
			for table in [&mut memory, &mut file] {
				let change = |row, x: &mut [f32]| {
					x.iter_mut().for_each(|x| *x += row as f32);
					Ok::<_, io::Error>(())
				};
				table.update(change).unwrap();
			}
			let changed = all(&memory, labels);
			assert_eq!(changed, all(&file, labels));
			if rows > 1 {
				assert_eq!(changed[1].1[0], features as f32 / 7.0 + 1.0);
			}
		}
	}

	#[test]
	fn contents_are_hashed_row_major_wherever_they_are() {
		let never = AtomicBool::new(false);
		for (rows, features, labels) in [(0, 3, 1), (5_000, 100, 1), (700, 129, 129), (9, 1, 1)] {
			let [mut memory, file] = both(rows, features, labels);
			let of_labels: Vec<u8> =
				(0..rows * labels).flat_map(|label| (label as u32).to_le_bytes()).collect();
			let expected =
				|x: &[f32]| Some([content::hash(&content::le_bytes(x)), content::hash(&of_labels)]);
			for table in [&memory, &file] {
				assert_eq!(table.contents(labels, &never).unwrap(), expected(&memory.x));
			}
			if let Some(x) = memory.x.last_mut() {
				*x = f32::from_bits(0xFFC0_0001);
				let found = memory.contents(labels, &never).unwrap();
				assert_eq!(found, expected(&memory.x), "every NaN by the same bits");
				for table in [&memory, &file] {
					assert_eq!(table.contents(labels, &AtomicBool::new(true)).unwrap(), None);
				}
			}
		}
	}

	#[test]
	fn the_first_failure_ends_it() {
		for table in both(10, 2, 1) {
			let mut seen = 0;
			let fail = |row, _: &[f32], _: &[u32]| {
				seen += 1;
				if row == 3 {
					Err(io::Error::other("three"))
				} else {
					Ok(())
				}
			};
			assert_eq!(table.each(1, fail).unwrap_err().to_string(), "three");
			assert_eq!(seen, 4);
		}
	}
}
