//! What a recorder keeps on disk: states on the way through a segment, and what is known of it.
//!
//! | file | content |
//! |---|---|
//! | `KEY/marks` | `trainyard/marks/v1\n`, [`Marks`] in SCALE, `blake2_256` of everything before |
//! | `KEY/state-########.safetensors` | the state after so many steps |
//!
//! `KEY` is made of specification, seed, segment and the state with which it begins. Everything is
//! written beside its place and renamed, and checked by hash before it is used; what is damaged is
//! removed and computed again. All files together take at most as many bytes as were allowed: whatever
//! helps the least makes room, and where that does not suffice, nothing is written.

use super::RecordError;
use crate::{
	bundle::{
		files::{self, at},
		tensors,
	},
	hash::blake2_256,
};
use codec::{Decode, DecodeAll, Encode};
use primitive_types::H256;
use std::{
	collections::BTreeMap,
	fs,
	io::ErrorKind,
	path::{Path, PathBuf},
};
use trainyard_court::game::Witness;
use trainyard_engine::TensorMap;
use trainyard_program::spec::CheckedSpec;
use trainyard_protocol::merkle::Frontier;

const MARK: &[u8] = b"trainyard/marks/v1\n";
const MARKS: &str = "marks";
/// Longest file of marks that is read: 64 marks of a kilobyte for each level of 64, and room.
const MAX_MARKS: u64 = 8 << 20;
/// Bytes of a hash.
const HASH: usize = 32;

/// A segment after so many steps.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct Mark {
	/// Hash of the state.
	pub state: H256,
	/// The leaves of the steps so far.
	pub steps: Frontier,
}

/// What is known of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct Marks {
	/// By the steps done.
	pub after: BTreeMap<u32, Mark>,
	/// The step in which a loss was infinite or NaN, or a state held a NaN.
	pub ends_in: Option<u32>,
	/// Whether training diverged in the segment and where, once it is known.
	pub divergence: Option<Option<(u32, Witness)>>,
}

/// Returns the name of the folder of a segment.
pub(super) fn key(spec: &CheckedSpec, seed: &H256, segment: u32, begin: &H256) -> String {
	let all = (b"trainyard/marks/v1", spec.spec(), seed, segment, begin).encode();
	hex::encode(&blake2_256(&all).as_bytes()[..16])
}

/// A folder with a limit.
pub(super) struct Disk {
	folder: PathBuf,
	limit: u64,
}

/// A state that is on disk.
struct Kept {
	path: PathBuf,
	bytes: u64,
}

impl Disk {
	/// Opens the folder, which is made if there is none, and removes what was half written.
	pub fn open(folder: &Path, limit: u64) -> Result<Self, RecordError> {
		files::create_folder(folder)?;
		let disk = Self { folder: folder.to_owned(), limit };
		for entry in entries(folder)? {
			if entry.is_dir() {
				files::remove_temporaries(&entry)?;
			}
		}
		Ok(disk)
	}

	/// Returns how many states of `bytes` bytes each there is room for, beside `marks` bytes.
	pub fn room(&self, bytes: u64, marks: u64) -> u64 {
		self.limit.saturating_sub(marks) / bytes.max(1)
	}

	/// Reads the marks of a segment. `None` where there are none, and true beside it where there were
	/// some that are damaged: these are removed.
	pub fn marks(&self, key: &str) -> Result<(Option<Marks>, bool), RecordError> {
		let path = self.folder.join(key).join(MARKS);
		let bytes = match files::read(&path, MAX_MARKS) {
			Ok(bytes) => bytes,
			Err(e) if e.error.kind() == ErrorKind::NotFound => return Ok((None, false)),
			Err(e) if e.error.kind() == ErrorKind::InvalidData => vec![],
			Err(e) => return Err(e.into()),
		};
		match decode(&bytes) {
			Some(marks) => Ok((Some(marks), false)),
			None => {
				remove(&path)?;
				Ok((None, true))
			}
		}
	}

	/// Writes the marks of a segment, if there is room.
	pub fn keep_marks(&self, key: &str, marks: &Marks) -> Result<(), RecordError> {
		let mut bytes = MARK.to_vec();
		marks.encode_to(&mut bytes);
		let hash = blake2_256(&bytes);
		bytes.extend_from_slice(hash.as_bytes());
		self.write(&self.folder.join(key).join(MARKS), &bytes, key, &|_| true)
	}

	/// Returns after how many steps there are states of a segment, ascending.
	pub fn states(&self, key: &str) -> Result<Vec<u32>, RecordError> {
		let mut all: Vec<u32> =
			entries(&self.folder.join(key))?.iter().filter_map(|path| step_of(path)).collect();
		all.sort_unstable();
		Ok(all)
	}

	/// Reads the state of a segment after so many steps; `None` where it cannot be one. Whether it is
	/// the right one is for the caller to check.
	pub fn state(
		&self,
		key: &str,
		steps: u32,
		most: u64,
	) -> Result<Option<TensorMap>, RecordError> {
		match files::read(&self.path(key, steps), most) {
			Ok(bytes) => Ok(tensors::decode(&bytes).ok()),
			Err(e) if matches!(e.error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {
				Ok(None)
			}
			Err(e) => Err(e.into()),
		}
	}

	/// Removes the state of a segment after so many steps.
	pub fn forget(&self, key: &str, steps: u32) -> Result<(), RecordError> {
		remove(&self.path(key, steps))
	}

	/// Writes the file of the state of a segment after so many steps, if there is room. States of other segments
	/// make way for it, and then those of this one that are not `wanted`.
	pub fn keep_state(
		&self,
		key: &str,
		steps: u32,
		file: &[u8],
		wanted: &dyn Fn(u32) -> bool,
	) -> Result<(), RecordError> {
		self.write(&self.path(key, steps), file, key, wanted)
	}

	fn path(&self, key: &str, steps: u32) -> PathBuf {
		self.folder.join(key).join(format!("state-{steps:08}.safetensors"))
	}

	fn write(
		&self,
		path: &Path,
		bytes: &[u8],
		key: &str,
		wanted: &dyn Fn(u32) -> bool,
	) -> Result<(), RecordError> {
		if !self.make_room(path, bytes.len() as u64, key, wanted)? {
			tracing::debug!("{} is not kept: there is no room for it", path.display());
			return Ok(());
		}
		if let Some(folder) = path.parent() {
			files::create_folder(folder)?;
		}
		Ok(files::write(path, bytes)?)
	}

	/// Makes room for so many bytes in the place of `path`. Returns whether there is as much.
	fn make_room(
		&self,
		path: &Path,
		bytes: u64,
		key: &str,
		wanted: &dyn Fn(u32) -> bool,
	) -> Result<bool, RecordError> {
		let (mut used, mut others, mut own) = (bytes, Vec::new(), Vec::new());
		for folder in entries(&self.folder)? {
			let is_own = folder.file_name().is_some_and(|name| name == key);
			for file in entries(&folder)? {
				let Ok(about) = fs::metadata(&file) else { continue };
				if file == path {
					// A new file stands beside the old one until it is whole.
					used = used.saturating_add(about.len());
					continue;
				}
				used = used.saturating_add(about.len());
				let kept = Kept { path: file, bytes: about.len() };
				match step_of(&kept.path) {
					_ if !is_own => others.push((about.modified().ok(), kept)),
					Some(steps) if !wanted(steps) => own.push(kept),
					_ => {}
				}
			}
		}
		if bytes > self.limit {
			return Ok(false);
		}
		others.sort_by_key(|(modified, _)| *modified);
		for Kept { path, bytes } in others.into_iter().map(|(_, kept)| kept).chain(own) {
			if used <= self.limit {
				break;
			}
			remove(&path)?;
			used = used.saturating_sub(bytes);
		}
		Ok(used <= self.limit)
	}
}

/// Reads marks; `None` where the bytes are not whole.
fn decode(bytes: &[u8]) -> Option<Marks> {
	let (body, hash) = bytes.split_at_checked(bytes.len().checked_sub(HASH)?)?;
	if blake2_256(body).as_bytes() != hash {
		return None;
	}
	let marks = Marks::decode_all(&mut body.strip_prefix(MARK)?).ok()?;
	marks.after.values().all(|mark| mark.steps.is_whole()).then_some(marks)
}

/// Returns after how many steps the state in a file of this name is.
fn step_of(path: &Path) -> Option<u32> {
	let name = path.file_name()?.to_str()?;
	name.strip_prefix("state-")?.strip_suffix(".safetensors")?.parse().ok()
}

/// Returns what is in a folder; nothing where there is no such folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, RecordError> {
	let found = match fs::read_dir(folder) {
		Ok(found) => found,
		Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
			return Ok(vec![]);
		}
		Err(e) => return Err(at("read the folder", folder)(e).into()),
	};
	let path = |entry: std::io::Result<fs::DirEntry>| entry.map(|entry| entry.path());
	Ok(found.map(path).collect::<Result<_, _>>().map_err(at("read the folder", folder))?)
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), RecordError> {
	match fs::remove_file(path) {
		Err(e) if e.kind() != ErrorKind::NotFound => Err(at("remove", path)(e).into()),
		_ => Ok(()),
	}
}
