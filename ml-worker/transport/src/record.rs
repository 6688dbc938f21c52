//! Which units of an unfinished file are whole, on disk beside it.
//!
//! The record begins with the name of the index, 32 bytes; then each unit that was written adds its number,
//! 4 bytes. A unit is noted after its bytes were written, so a killed process has lost at most what was on
//! its way. After a power cut the record may name what the disk does not have: whoever asked for the file
//! checks the whole, and begins again without the record.

use crate::index::Index;
use std::{
	collections::BTreeSet,
	fs::{File, OpenOptions},
	io::{self, Read, Seek, SeekFrom, Write},
	os::unix::fs::FileExt,
	path::{Path, PathBuf},
};

/// Returns where the record of an unfinished file is: whoever removes the one removes the other.
pub fn path_of(part: &Path) -> PathBuf {
	let mut path = part.as_os_str().to_owned();
	path.push(".have");
	path.into()
}

/// An unfinished file and its record.
pub(crate) struct Unfinished {
	data: File,
	record: File,
}

impl Unfinished {
	/// Opens the unfinished file at `part`, makes it as long as it will be, and returns which of `count`
	/// units it has. Another file's beginning is dropped.
	pub(crate) fn open(
		part: &Path,
		index: &Index,
		count: u32,
	) -> io::Result<(Self, BTreeSet<u32>)> {
		let open = |path: &Path| {
			OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
		};
		let (data, mut record) = (open(part)?, open(&path_of(part))?);
		let bytes = index.bytes().ok_or(io::ErrorKind::FileTooLarge)?;
		let name = index.name();
		let mut known = Vec::new();
		record.read_to_end(&mut known)?;
		let mut whole = BTreeSet::new();
		match known.strip_prefix(&name[..]) {
			Some(units) if data.metadata()?.len() == bytes => {
				let (units, rest) = units.as_chunks::<4>();
				whole.extend(units.iter().map(|n| u32::from_le_bytes(*n)).filter(|n| *n < count));
				// A number that was not written whole is overwritten.
				record.seek(SeekFrom::End(-(rest.len() as i64)))?;
			}
			_ => {
				record.set_len(0)?;
				record.rewind()?;
				data.set_len(0)?;
				data.set_len(bytes)?;
				data.write_all_at(&index.head, 0)?;
				record.write_all(&name)?;
			}
		}
		Ok((Self { data, record }, whole))
	}

	/// Writes the bytes of a unit, and notes that it is whole.
	pub(crate) fn write(&mut self, unit: u32, pieces: &[(u64, Vec<u8>)]) -> io::Result<()> {
		for (at, bytes) in pieces {
			self.data.write_all_at(bytes, *at)?;
		}
		self.record.write_all(&unit.to_le_bytes())
	}

	/// Makes the disk have all of it.
	pub(crate) fn sync(&self) -> io::Result<()> {
		self.data.sync_all()
	}
}
