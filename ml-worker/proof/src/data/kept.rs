//! Keeps decoded rows in a file, so that the data of a job are decoded once, whoever reads them: a
//! trainer reads the same data three times, and a verifier once for each result.
//!
//! The file is named by what it holds ([`name`]): the content of the job's files, everything by
//! which rows are made of them, and the rows root. It holds, little endian:
//!
//! | part | bytes |
//! |---|---|
//! | the mark `trainyard/rows/v1\n` | 18 |
//! | the key of its name | 32 |
//! | whether the rows are normalised, 0 or 1 | 1 |
//! | padding, 0 | 13 |
//! | the rows that train, each its inputs and its labels | 4 a number |
//! | the rows that validate | 4 a number |
//! | mean and deviation of each feature, where they are normalised | 8 a feature |
//! | `blake2_256` of everything before | 32 |
//!
//! It is written beside its place and renamed, once its rows were found to have that root, and it is
//! hashed whenever it is opened. One that was
//! cut, damaged or made for something else is removed and decoded again.

use super::{decode, memory, rows_of, DataError};
use crate::hash::HashingReader;
use codec::Encode;
use primitive_types::H256;
use std::{
	fs::File,
	io::{self, ErrorKind, Read, Seek, SeekFrom, Write},
	path::{Path, PathBuf},
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc,
	},
};
use tempfile::NamedTempFile;
use trainyard_engine::{Data, Normalizer, Table, TableWriter};
use trainyard_program::{
	spec::{Dataset, Normalization},
	Text,
};
use trainyard_protocol::{content, rows::Rows};

const MARK: &[u8] = b"trainyard/rows/v1\n";
/// Bytes before the first row.
const HEAD: u64 = 64;
/// Bytes of a hash.
const HASH: u64 = 32;
/// The way in which files become rows. Whoever changes it so that the same file gives other rows
/// raises it: else rows that were kept before would be believed.
const DECODING: u32 = 1;
/// Bytes that are hashed between two looks at whether to stop.
const BLOCK: u64 = 16 << 20;

/// The ending of the name of such a file.
pub const ENDING: &str = ".rows";
/// The ending of one that is being written.
pub const PART: &str = ".part";

/// Returns what names the rows of a dataset, wherever its files are.
fn key(dataset: &Dataset) -> H256 {
	let mut dataset = dataset.clone();
	dataset.location = Text::default();
	if let Some(labels) = &mut dataset.labels {
		labels.location = Text::default();
	}
	crate::hash::blake2_256(&(DECODING, dataset).encode())
}

/// Returns the name of the file of a dataset's rows: the content hash of the data, a part of its key,
/// and [`ENDING`].
pub fn name(dataset: &Dataset) -> String {
	let key = hex::encode(&key(dataset).as_bytes()[..8]);
	format!("{}.{key}{ENDING}", hex::encode(dataset.content_hash))
}

/// Returns the length of the file of a dataset's rows.
pub fn length(dataset: &Dataset) -> u64 {
	let [train, validation] = sizes(dataset);
	let normalizer = match dataset.normalization {
		Normalization::None => 0,
		Normalization::Standard => u64::from(dataset.features).saturating_mul(8),
	};
	[HEAD, train, validation, normalizer, HASH].into_iter().fold(0, u64::saturating_add)
}

/// Returns the bytes of the rows that train and that validate.
fn sizes(dataset: &Dataset) -> [u64; 2] {
	let numbers = u64::from(dataset.features).saturating_add(dataset.labels_per_row().into());
	[dataset.train_rows, dataset.validation_rows]
		.map(|rows| numbers.saturating_mul(4).saturating_mul(rows.into()))
}

/// Rows that were decoded into a file which has no name yet. Whoever has checked that they came of
/// the right files, and that they are those that the specification names ([`Self::rows`]), keeps them
/// ([`Self::keep`]); else the file goes.
pub struct Decoded {
	file: NamedTempFile,
	path: PathBuf,
	dataset: Dataset,
	rows: Rows,
}

/// Decodes the data of a job for the file at `path`, and ends soon after `stop` is set, with
/// [`DataError::Stopped`].
pub fn begin(
	data: &Path,
	labels: Option<&Path>,
	dataset: &Dataset,
	path: &Path,
	stop: &AtomicBool,
) -> Result<Decoded, DataError> {
	let folder = path.parent().unwrap_or(Path::new("."));
	let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
	let file = tempfile::Builder::new()
		.prefix(&format!("{stem}."))
		.suffix(PART)
		.tempfile_in(folder)
		.map_err(DataError::Scratch)?;
	let needed = length(dataset);
	let free = fs4::available_space(folder).unwrap_or(u64::MAX);
	if free < needed {
		let (path, folder) = (data.to_owned(), folder.to_owned());
		return Err(DataError::NoRoom { path, needed, memory: 0, folder, free });
	}
	let [train, _] = sizes(dataset);
	let (normalizer, rows) = {
		let decoded = decode(data, labels, dataset, stop, |rows| {
			let (features, labels) = (rows.features(), rows.labels());
			let table = |base| {
				let open = File::options().read(true).write(true).open(file.path())?;
				TableWriter::in_file_at(features, labels, open, base)
			};
			let tables = || Ok::<_, io::Error>([table(HEAD)?, table(HEAD + train)?]);
			tables().map_err(DataError::Scratch)
		})?;
		let rows = rows_of(&decoded, dataset, stop)?;
		(decoded.train.normalizer, rows)
	};
	let decoded = Decoded { file, path: path.to_owned(), dataset: dataset.clone(), rows };
	decoded.seal(normalizer.as_deref(), stop)?;
	Ok(decoded)
}

impl Decoded {
	/// Writes what stands around the rows.
	fn seal(&self, normalizer: Option<&Normalizer>, stop: &AtomicBool) -> Result<(), DataError> {
		let mut file = self.file.as_file();
		let io = DataError::Scratch;
		let mut head = MARK.to_vec();
		head.extend_from_slice(key(&self.dataset).as_bytes());
		head.push(u8::from(normalizer.is_some()));
		head.resize(HEAD as usize, 0);
		file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&head)).map_err(io)?;
		let [train, validation] = sizes(&self.dataset);
		file.seek(SeekFrom::Start(HEAD + train + validation)).map_err(io)?;
		if let Some(normalizer) = normalizer {
			let numbers = normalizer.mean.iter().chain(&normalizer.deviation);
			let bytes: Vec<u8> = numbers.flat_map(|x| x.to_le_bytes()).collect();
			file.write_all(&bytes).map_err(io)?;
		}
		let hash = hash_of(file, length(&self.dataset).saturating_sub(HASH), stop)?;
		file.write_all(hash.as_bytes()).map_err(io)
	}

	/// Returns what was decoded, by its contents.
	pub fn rows(&self) -> &Rows {
		&self.rows
	}

	/// Gives the rows their place and returns them.
	pub fn keep(self, stop: &AtomicBool) -> Result<Data, DataError> {
		let Self { file, path, dataset, .. } = self;
		file.persist(&path).map_err(|e| DataError::Scratch(e.error))?;
		let lost = || DataError::Scratch(io::Error::other("what was written is not what is there"));
		open(&path, &dataset, stop)?.ok_or_else(lost)
	}
}

/// Keeps rows that came by their four contents, in the file at `path`. Returns false, and keeps nothing,
/// where they are not those that the dataset names. What the inputs were normalised by they do not say:
/// the file has mean 0 and deviation 1, so nothing but training and replays may read it.
pub fn put(path: &Path, dataset: &Dataset, contents: [&[u8]; 4]) -> Result<bool, DataError> {
	if Rows::of(dataset, contents.map(content::hash)).root() != dataset.rows {
		return Ok(false);
	}
	let folder = path.parent().unwrap_or(Path::new("."));
	let file =
		tempfile::Builder::new().suffix(PART).tempfile_in(folder).map_err(DataError::Scratch)?;
	let features = dataset.features as usize;
	let normalizer = (dataset.normalization != Normalization::None)
		.then(|| Normalizer { mean: vec![0.0; features], deviation: vec![1.0; features] });
	{
		let mut writer = io::BufWriter::new(file.as_file());
		writer.seek(SeekFrom::Start(HEAD)).map_err(DataError::Scratch)?;
		let widths = [features, dataset.labels_per_row() as usize].map(|width| width * 4);
		for [inputs, labels] in [[contents[0], contents[1]], [contents[2], contents[3]]] {
			for (x, y) in inputs.chunks(widths[0]).zip(labels.chunks(widths[1])) {
				writer
					.write_all(x)
					.and_then(|()| writer.write_all(y))
					.map_err(DataError::Scratch)?;
			}
		}
		writer.flush().map_err(DataError::Scratch)?;
	}
	let rows = Rows::of(dataset, contents.map(content::hash));
	let decoded = Decoded { file, path: path.to_owned(), dataset: dataset.clone(), rows };
	let never = AtomicBool::new(false);
	decoded.seal(normalizer.as_ref(), &never)?;
	decoded.keep(&never).map(|_| true)
}

/// Returns the hash of the first `length` bytes of a file, after which it stands then. Fails if it is
/// shorter.
fn hash_of(mut file: &File, length: u64, stop: &AtomicBool) -> Result<H256, DataError> {
	file.seek(SeekFrom::Start(0)).map_err(DataError::Scratch)?;
	let mut reader = HashingReader::new(file);
	let mut left = length;
	while left > 0 {
		if stop.load(Ordering::Relaxed) {
			return Err(DataError::Stopped);
		}
		let most = left.min(BLOCK);
		let read = io::copy(&mut reader.by_ref().take(most), &mut io::sink());
		match read.map_err(DataError::Scratch)? {
			0 => return Err(DataError::Scratch(ErrorKind::UnexpectedEof.into())),
			read => left -= read,
		}
	}
	Ok(reader.finish().0)
}

/// Returns the rows that are kept in the file at `path`; `None` if there is none, or it is not whole
/// and right. Such a one is removed. Rows that are larger than the memory for them stay in the file.
pub fn open(path: &Path, dataset: &Dataset, stop: &AtomicBool) -> Result<Option<Data>, DataError> {
	open_within(path, dataset, memory::for_data()?, stop)
}

/// Does what [`open()`] does, and leaves the rows in their file, however much memory there is.
pub fn open_in_file(
	path: &Path,
	dataset: &Dataset,
	stop: &AtomicBool,
) -> Result<Option<Data>, DataError> {
	open_within(path, dataset, 0, stop)
}

fn open_within(
	path: &Path,
	dataset: &Dataset,
	memory: u64,
	stop: &AtomicBool,
) -> Result<Option<Data>, DataError> {
	let file = match File::open(path) {
		Ok(file) => file,
		Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
		Err(error) => return Err(DataError::Io { path: path.to_owned(), error }),
	};
	if let Some(normalizer) = whole(&file, dataset, stop)? {
		let again = || match cfg!(unix) {
			true => file.try_clone(),
			// Reads move the position of a file there, and a copy would share it.
			false => File::open(path),
		};
		return tables(again, dataset, normalizer, memory).map(Some).map_err(DataError::Scratch);
	}
	tracing::warn!("{} is damaged; the data are decoded again", path.display());
	match std::fs::remove_file(path) {
		Err(e) if e.kind() != ErrorKind::NotFound => Err(DataError::Scratch(e)),
		_ => Ok(None),
	}
}

/// Returns whether a file is whole and of this dataset, with the normalizer that it holds.
#[allow(clippy::type_complexity)]
fn whole(
	mut file: &File,
	dataset: &Dataset,
	stop: &AtomicBool,
) -> Result<Option<Option<Normalizer>>, DataError> {
	let io = DataError::Scratch;
	let expected = length(dataset);
	if file.metadata().map_err(io)?.len() != expected {
		return Ok(None);
	}
	let found = hash_of(file, expected.saturating_sub(HASH), stop)?;
	let mut hash = H256::zero();
	file.read_exact(&mut hash.0).map_err(io)?;
	let mut head = vec![0; HEAD as usize];
	file.seek(SeekFrom::Start(0)).and_then(|_| file.read_exact(&mut head)).map_err(io)?;
	let (mark, rest) = head.split_at(MARK.len());
	let normalised = dataset.normalization != Normalization::None;
	let right = found == hash
		&& mark == MARK
		&& rest.starts_with(key(dataset).as_bytes())
		&& rest.get(32) == Some(&u8::from(normalised));
	if !right || !normalised {
		return Ok(right.then_some(None));
	}
	let features = dataset.features as usize;
	let mut bytes = vec![0; features * 8];
	let [train, validation] = sizes(dataset);
	file.seek(SeekFrom::Start(HEAD + train + validation))
		.and_then(|_| file.read_exact(&mut bytes))
		.map_err(io)?;
	let word = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
	let mut mean: Vec<f32> = bytes.chunks_exact(4).map(word).collect();
	let deviation = mean.split_off(features);
	Ok(Some(Some(Normalizer { mean, deviation })))
}

/// Returns the tables of a whole file, which `file` opens.
fn tables(
	file: impl Fn() -> io::Result<File>,
	dataset: &Dataset,
	normalizer: Option<Normalizer>,
	memory: u64,
) -> io::Result<Data> {
	let (features, labels) = (dataset.features as usize, dataset.labels_per_row() as usize);
	let [train, validation] = sizes(dataset);
	let normalizer = normalizer.map(Arc::new);
	let rows = [dataset.train_rows, dataset.validation_rows].map(|rows| rows as usize);
	let in_memory = train.saturating_add(validation) <= memory;
	let table = |base, rows| {
		let stored = Table::stored_at(file()?, base, rows, features, labels, normalizer.clone());
		if !in_memory {
			return Ok(stored);
		}
		let mut writer = TableWriter::in_memory(features, labels, rows);
		stored.each(labels, |_, x, y| writer.push(x, y))?;
		Ok::<_, io::Error>(Table { normalizer: normalizer.clone(), ..writer.finish()? })
	};
	Ok(Data { train: table(HEAD, rows[0])?, validation: table(HEAD + train, rows[1])? })
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{
		data,
		testing::{job, table},
	};

	fn rows(table: &Table, labels: usize) -> Vec<(Vec<u32>, Vec<u32>)> {
		let mut rows = Vec::new();
		let see = |_, x: &[f32], y: &[u32]| {
			rows.push((x.iter().map(|x| x.to_bits()).collect(), y.to_vec()));
			Ok::<_, io::Error>(())
		};
		table.each(labels, see).unwrap();
		rows
	}

	fn same(a: &Data, b: &Data) {
		for (a, b) in [(&a.train, &b.train), (&a.validation, &b.validation)] {
			assert_eq!(rows(a, 1), rows(b, 1));
			assert_eq!(a.normalizer, b.normalizer);
		}
	}

	const NEVER: AtomicBool = AtomicBool::new(false);

	#[test]
	fn rows_that_were_kept_are_those_that_were_decoded() {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let mut dataset = job(&data).dataset.clone();
		for normalization in [Normalization::None, Normalization::Standard] {
			dataset.normalization = normalization;
			let path = folder.path().join(name(&dataset));
			assert!(open(&path, &dataset, &NEVER).unwrap().is_none());
			let decoded = begin(&data, None, &dataset, &path, &NEVER).unwrap();
			assert!(!path.exists(), "nobody has checked yet what it was made of");
			let kept = decoded.keep(&NEVER).unwrap();
			assert_eq!(std::fs::metadata(&path).unwrap().len(), length(&dataset));
			let plain = data::load(&data, None, &dataset).unwrap();
			same(&kept, &plain);
			for memory in [0, u64::MAX] {
				let opened = open_within(&path, &dataset, memory, &NEVER).unwrap().unwrap();
				assert_eq!(opened.train.stored.is_some(), memory == 0);
				same(&opened, &plain);
			}
			let in_file = open_in_file(&path, &dataset, &NEVER).unwrap().unwrap();
			assert!(in_file.train.stored.is_some());
			same(&in_file, &plain);
		}
		// Two files: the name says how the rows were made.
		let kept = std::fs::read_dir(folder.path()).unwrap();
		let kept =
			kept.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().ends_with(ENDING));
		assert_eq!(kept.count(), 2);
		dataset.location = Text::new("http://elsewhere/table").unwrap();
		assert!(folder.path().join(name(&dataset)).exists(), "wherever the file comes from");
	}

	/// Rows that a trainer stored on chain are those of the data.
	#[test]
	fn rows_that_came_by_their_contents_are_those_that_were_decoded() {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let mut dataset = job(&data).dataset.clone();
		for normalization in [Normalization::None, Normalization::Standard] {
			dataset.normalization = normalization;
			let plain = data::load(&data, None, &dataset).unwrap();
			dataset.rows = data::rows_of(&plain, &dataset, &NEVER).unwrap().root();
			let contents = data::contents_of(&plain, &dataset).unwrap();
			let path = folder.path().join(name(&dataset));
			for at in 0..4 {
				let mut other = contents.clone();
				other[at][0] ^= 1;
				assert!(!put(&path, &dataset, other.each_ref().map(Vec::as_slice)).unwrap());
				assert!(!path.exists());
			}
			assert!(put(&path, &dataset, contents.each_ref().map(Vec::as_slice)).unwrap());
			let opened = open(&path, &dataset, &NEVER).unwrap().unwrap();
			for (a, b) in [(&opened.train, &plain.train), (&opened.validation, &plain.validation)] {
				assert_eq!(rows(a, 1), rows(b, 1));
			}
		}
	}

	#[test]
	fn a_torn_file_is_never_believed() {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let dataset = job(&data).dataset.clone();
		let path = folder.path().join(name(&dataset));
		begin(&data, None, &dataset, &path, &NEVER).unwrap().keep(&NEVER).unwrap();
		let whole = std::fs::read(&path).unwrap();
		let opened = || open(&path, &dataset, &NEVER).unwrap();
		for at in [0, 20, HEAD as usize + 5, whole.len() / 2, whole.len() - 1] {
			let mut torn = whole.clone();
			torn[at] ^= 1;
			std::fs::write(&path, torn).unwrap();
			assert!(opened().is_none() && !path.exists(), "byte {at}");
			std::fs::write(&path, &whole[..at]).unwrap();
			assert!(opened().is_none() && !path.exists(), "cut at {at}");
		}
		std::fs::write(&path, &whole).unwrap();
		assert!(opened().is_some());
		// What was written for something else, under this name.
		let other = Dataset { feature_divisor: 3, ..dataset.clone() };
		assert!(open(&path, &other, &NEVER).unwrap().is_none());
	}

	#[test]
	fn what_is_stopped_or_wrong_leaves_no_file() {
		let folder = tempfile::tempdir().unwrap();
		let data = table(folder.path());
		let dataset = job(&data).dataset.clone();
		let path = folder.path().join(name(&dataset));
		let stopped = begin(&data, None, &dataset, &path, &AtomicBool::new(true));
		assert!(matches!(stopped.err(), Some(DataError::Stopped)));
		let fewer = Dataset { train_rows: dataset.train_rows - 1, ..dataset.clone() };
		assert!(begin(&data, None, &fewer, &path, &NEVER).is_err());
		drop(begin(&data, None, &dataset, &path, &NEVER).unwrap());
		assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the table alone");
	}
}
