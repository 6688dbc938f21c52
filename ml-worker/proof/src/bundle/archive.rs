//! Rescue archives: the files of a bundle that a verifier of given segments needs, and the files
//! that the job reads, in one file. A trainer whose server could not be reached stores one on
//! chain.
//!
//! The bytes are a function of the files: `trainyard/archive/v1\n`, the number of entries
//! as u32, for each entry in ascending bytewise order of name its name (u16 length, then
//! bytes) and its length as u64, and then the contents in the same order. All integers
//! are little endian. Only names of bundle files occur, so nothing can be unpacked
//! outside the folder given. It is no `tar`, because that has owners, times, modes and dialects,
//! which would all have to be fixed by rule and refused on reading (decision 0015).

use super::{
	files::{self, FileError},
	manifest, DATASET_FILE, INITIAL_MODEL_FILE, LABELS_FILE,
};
use std::{collections::BTreeMap, path::Path};

const MAGIC: &[u8] = b"trainyard/archive/v1\n";
/// Most entries: the checkpoints of the most segments that are ever drawn, and room.
const MAX_ENTRIES: u32 = 256;

/// Says what is wrong with an archive, or why it could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
	/// Not an archive, or cut short.
	#[error("not a whole rescue archive: {0}")]
	Malformed(&'static str),
	/// An entry that is no file of a bundle.
	#[error("the archive has an entry {0:?}, which is no file of a bundle")]
	BadName(String),
	/// Larger than allowed.
	#[error("the archive holds more than the {0} bytes that are allowed")]
	TooLarge(u64),
	/// A file could not be read or written.
	#[error(transparent)]
	File(#[from] FileError),
}

/// Returns whether an archive may hold an entry of this name.
pub fn allowed(name: &str) -> bool {
	let named = [manifest::FILE, DATASET_FILE, LABELS_FILE, INITIAL_MODEL_FILE];
	named.contains(&name) || manifest::step_of(name).is_some()
}

/// Returns the archive of `files` of the bundle in `folder`.
pub fn pack(folder: &Path, files: &[String]) -> Result<Vec<u8>, ArchiveError> {
	let mut entries = BTreeMap::new();
	for name in files {
		if !allowed(name) {
			return Err(ArchiveError::BadName(name.clone()));
		}
		entries.insert(name, files::read(&folder.join(name), u64::MAX - 1)?);
	}
	let mut bytes = MAGIC.to_vec();
	bytes.extend((entries.len() as u32).to_le_bytes());
	for (name, content) in &entries {
		bytes.extend((name.len() as u16).to_le_bytes());
		bytes.extend(name.as_bytes());
		bytes.extend((content.len() as u64).to_le_bytes());
	}
	for content in entries.values() {
		bytes.extend(content);
	}
	Ok(bytes)
}

fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Result<&'a [u8], ArchiveError> {
	let (head, rest) = bytes.split_at_checked(n).ok_or(ArchiveError::Malformed("it ends early"))?;
	*bytes = rest;
	Ok(head)
}

fn integer(bytes: &mut &[u8], width: usize) -> Result<u64, ArchiveError> {
	Ok(take(bytes, width)?.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte)))
}

/// Returns the entries of an archive of at most `limit` bytes; nothing is written.
pub fn entries(archive: &[u8], limit: u64) -> Result<Vec<(String, &[u8])>, ArchiveError> {
	use ArchiveError::*;
	if archive.len() as u64 > limit {
		return Err(TooLarge(limit));
	}
	let mut rest =
		archive.strip_prefix(MAGIC).ok_or(Malformed("it does not begin like an archive"))?;
	let count = integer(&mut rest, 4)?;
	if count > u64::from(MAX_ENTRIES) {
		return Err(Malformed("too many entries"));
	}
	let mut index: Vec<(String, usize)> = Vec::new();
	for _ in 0..count {
		let length = integer(&mut rest, 2)? as usize;
		let name = String::from_utf8_lossy(take(&mut rest, length)?).into_owned();
		let size = usize::try_from(integer(&mut rest, 8)?).map_err(|_| TooLarge(limit))?;
		if !allowed(&name) {
			return Err(BadName(name));
		}
		if index.last().is_some_and(|(last, _)| *last >= name) {
			return Err(Malformed("its entries are not in order"));
		}
		index.push((name, size));
	}
	let mut files = Vec::new();
	for (name, size) in index {
		files.push((name, take(&mut rest, size)?));
	}
	match rest.is_empty() {
		true => Ok(files),
		false => Err(Malformed("bytes are left over behind its last entry")),
	}
}

/// Writes the entries of an archive of at most `limit` bytes below `folder`, and returns their
/// names. Writes nothing if anything is wrong with the archive.
pub fn unpack(archive: &[u8], folder: &Path, limit: u64) -> Result<Vec<String>, ArchiveError> {
	let entries = entries(archive, limit)?;
	files::create_folder(&folder.join(super::CHECKPOINTS))?;
	for (name, content) in &entries {
		files::write(&folder.join(name), content)?;
	}
	Ok(entries.into_iter().map(|(name, _)| name).collect())
}

#[cfg(test)]
mod tests {
	use super::*;

	fn packed() -> (tempfile::TempDir, Vec<u8>) {
		let dir = tempfile::tempdir().unwrap();
		files::create_folder(&dir.path().join("checkpoints")).unwrap();
		let names = ["manifest.json", "dataset.csv", "checkpoints/step-00000050.safetensors"];
		for name in names {
			files::write(&dir.path().join(name), name.repeat(3).as_bytes()).unwrap();
		}
		let archive = pack(dir.path(), &names.map(String::from)).unwrap();
		let mut reversed = names.map(String::from);
		reversed.reverse();
		assert_eq!(pack(dir.path(), &reversed).unwrap(), archive, "the order given is nothing");
		(dir, archive)
	}

	#[test]
	fn files_survive() {
		let (from, archive) = packed();
		let to = tempfile::tempdir().unwrap();
		let names = unpack(&archive, to.path(), archive.len() as u64).unwrap();
		assert_eq!(names.len(), 3);
		for name in names {
			assert_eq!(
				std::fs::read(from.path().join(&name)).unwrap(),
				std::fs::read(to.path().join(&name)).unwrap()
			);
		}
		assert!(matches!(
			unpack(&archive, to.path(), archive.len() as u64 - 1),
			Err(ArchiveError::TooLarge(_))
		));
	}

	#[test]
	fn no_damaged_archive_is_unpacked() {
		let (_from, archive) = packed();
		let to = tempfile::tempdir().unwrap();
		for cut in 0..archive.len() {
			assert!(unpack(&archive[..cut], to.path(), 1 << 20).is_err(), "{cut}");
		}
		let mut longer = archive.clone();
		longer.push(0);
		assert!(unpack(&longer, to.path(), 1 << 20).is_err());
		assert_eq!(std::fs::read_dir(to.path()).unwrap().count(), 0, "nothing was written");
	}

	#[test]
	fn names_lead_nowhere_else() {
		let to = tempfile::tempdir().unwrap();
		for name in ["../x", "/etc/x", "checkpoints/../../x", "model.safetensors", ""] {
			let mut archive = MAGIC.to_vec();
			archive.extend(1u32.to_le_bytes());
			archive.extend((name.len() as u16).to_le_bytes());
			archive.extend(name.as_bytes());
			archive.extend(0u64.to_le_bytes());
			assert!(matches!(unpack(&archive, to.path(), 1 << 20), Err(ArchiveError::BadName(_))));
			assert!(pack(to.path(), &[name.to_owned()]).is_err());
		}
		// An entry twice, or sizes beyond the archive.
		let mut archive = MAGIC.to_vec();
		archive.extend(2u32.to_le_bytes());
		for _ in 0..2 {
			archive.extend(11u16.to_le_bytes());
			archive.extend(b"dataset.csv");
			archive.extend(0u64.to_le_bytes());
		}
		assert!(unpack(&archive, to.path(), 1 << 20).is_err());
	}
}
