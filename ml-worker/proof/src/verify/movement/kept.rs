//! Keeps what was measured of a run, so that a reading that was interrupted goes on.

use super::Plan;
use crate::{
	bundle::{files::at, FileError},
	hash::Hasher,
};
use codec::Encode;
use primitive_types::H256;
use std::{
	fs::{File, OpenOptions},
	io::{self, Read, Seek, SeekFrom, Write},
	path::{Path, PathBuf},
};

/// Bytes of the key with which a file begins.
const KEY: u64 = 32;

/// A file with how far each part moved, segment by segment: 8 bytes for each part, the bits of a
/// binary64, little endian. It begins with the hash of what the numbers depend on.
#[derive(Debug)]
pub(super) struct Kept {
	path: PathBuf,
	file: File,
}

impl Kept {
	/// Opens the file at `path`, or makes it, and returns what it has of this run and plan. What it has
	/// of another one is removed, and so is a segment of which a part is missing.
	pub fn open(
		path: &Path,
		plan: &Plan,
		checkpoints: &[(u32, H256)],
	) -> Result<(Self, Vec<Vec<f64>>), FileError> {
		let open = || {
			let mut options = OpenOptions::new();
			let mut file =
				options.read(true).write(true).create(true).truncate(false).open(path)?;
			let moved = read(&mut file, key(plan, checkpoints), plan.parts.len())?;
			let most = checkpoints.len().saturating_sub(1);
			let moved: Vec<_> = moved.into_iter().take(most).collect();
			let row = (plan.parts.len() as u64).saturating_mul(8);
			let end = (moved.len() as u64).saturating_mul(row).saturating_add(KEY);
			file.set_len(end)?;
			file.seek(SeekFrom::Start(end))?;
			Ok((file, moved))
		};
		let (file, moved) = open().map_err(at("open", path))?;
		Ok((Self { path: path.to_owned(), file }, moved))
	}

	/// Adds a segment. It is not synced: what a crash of the machine takes is read again.
	pub fn push(&mut self, moved: &[f64]) -> Result<(), FileError> {
		let bytes: Vec<u8> = moved.iter().flat_map(|x| x.to_bits().to_le_bytes()).collect();
		self.file.write_all(&bytes).map_err(at("write", &self.path))
	}
}

/// Returns the hash of what the numbers depend on.
fn key(plan: &Plan, checkpoints: &[(u32, H256)]) -> H256 {
	let parts: Vec<_> = plan.parts.iter().map(|part| (part.tensor, &part.chunks)).collect();
	let mut hasher = Hasher::default();
	(b"trainyard/movement/v1", &plan.names, parts, checkpoints)
		.using_encoded(|bytes| hasher.update(bytes));
	hasher.finish()
}

/// Reads what a file has under this key of a plan of so many parts; of a file with another key it is
/// nothing, and the file gets this one.
fn read(file: &mut File, key: H256, parts: usize) -> io::Result<Vec<Vec<f64>>> {
	let mut bytes = Vec::new();
	file.read_to_end(&mut bytes)?;
	let Some(numbers) = bytes.strip_prefix(key.as_bytes()) else {
		file.set_len(0)?;
		file.seek(SeekFrom::Start(0))?;
		file.write_all(key.as_bytes())?;
		return Ok(Vec::new());
	};
	let (words, _) = numbers.as_chunks::<8>();
	let numbers: Vec<f64> =
		words.iter().map(|word| f64::from_bits(u64::from_le_bytes(*word))).collect();
	// Nothing but a fault of the disk makes such a number, or one below zero.
	let sound = |row: &&[f64]| row.iter().all(|x| x.is_finite() && *x >= 0.0);
	Ok(numbers.chunks_exact(parts.max(1)).take_while(sound).map(<[f64]>::to_vec).collect())
}
