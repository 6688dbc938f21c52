//! The part of ZIP archives (APPNOTE 6.3.10) that NumPy writes: entries that are stored or
//! deflated, found by the directory at the end.
//!
//! Each entry is read as its own stream, because two of them are read side by side, and only a
//! directory of at most [`MAX_DIRECTORY`] bytes is held in memory. The file is a stranger's, and
//! programs that read it must agree on what it says. So there is one place where the directory can
//! be, at the very end, and no name may be in it twice. A general library for ZIP accepts as much
//! as it can, so none is used (decision 0016).

use flate2::{bufread::DeflateDecoder, Crc};
use std::{
	collections::BTreeMap,
	fs::File,
	io::{self, BufReader, Read, Seek, SeekFrom},
	path::Path,
};

/// Longest directory that is read, in bytes.
const MAX_DIRECTORY: u64 = 1 << 20;
/// Bytes of the record at the end, of an entry of the directory, and before an entry's data, all
/// without what has a variable length.
const END: usize = 22;
const LISTED: usize = 46;
const LOCAL: usize = 30;

/// An archive whose directory has been read.
pub(super) struct Archive {
	entries: BTreeMap<Vec<u8>, Entry>,
	/// Where the directory begins, and so the data end.
	end: u64,
}

struct Entry {
	flags: u16,
	method: u16,
	crc: u32,
	compressed: u64,
	length: u64,
	header: u64,
}

/// Says why an archive cannot be read.
pub(super) enum ZipError {
	Io(io::Error),
	Wrong(String),
}

impl From<io::Error> for ZipError {
	fn from(error: io::Error) -> Self {
		ZipError::Io(error)
	}
}

fn wrong<T>(what: impl Into<String>) -> Result<T, ZipError> {
	Err(ZipError::Wrong(what.into()))
}

/// Little-endian fields of a record, one after the other; zero after its end.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
	fn bytes(&mut self, count: usize) -> &'a [u8] {
		let (bytes, rest) = self.0.split_at(count.min(self.0.len()));
		self.0 = rest;
		bytes
	}

	fn number(&mut self, count: usize) -> u64 {
		self.bytes(count).iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
	}

	fn u16(&mut self) -> u16 {
		self.number(2) as u16
	}

	fn u32(&mut self) -> u32 {
		self.number(4) as u32
	}
}

impl Archive {
	/// Reads the directory of the archive at `path`.
	pub(super) fn open(path: &Path) -> Result<Self, ZipError> {
		let mut file = File::open(path)?;
		let all = file.metadata()?.len();
		let Some(end) = all.checked_sub(END as u64) else {
			return wrong("it is no archive: it is too short");
		};
		let mut record = [0; END];
		file.seek(SeekFrom::Start(end))?;
		file.read_exact(&mut record)?;
		let mut fields = Fields(&record);
		if fields.bytes(4) != b"PK\x05\x06" {
			return wrong(
				"it is no archive (npz), was cut, or has a comment at its end; numpy.savez writes \
				 one that can be read",
			);
		}
		let disks = fields.u32();
		let (entries, of_all_disks) = (fields.u16(), fields.u16());
		let (size, begin) = (u64::from(fields.u32()), u64::from(fields.u32()));
		if (disks, entries) != (0, of_all_disks) || begin + size != end || size > MAX_DIRECTORY {
			return wrong(format!(
				"its directory is damaged, or has more than {MAX_DIRECTORY} bytes; numpy.savez \
				 writes one that can be read"
			));
		}
		let mut directory = vec![0; size as usize];
		file.seek(SeekFrom::Start(begin))?;
		file.read_exact(&mut directory)?;
		let mut archive = Self { entries: BTreeMap::new(), end: begin };
		let mut rest = Fields(&directory);
		for _ in 0..entries {
			archive.list(&mut rest)?;
		}
		match rest.0 {
			[] => Ok(archive),
			_ => wrong("its directory is damaged: it is longer than its entries"),
		}
	}

	/// Takes the next entry of the directory in.
	fn list(&mut self, rest: &mut Fields<'_>) -> Result<(), ZipError> {
		let damaged = "its directory is damaged: an entry does not end";
		let record = rest.bytes(LISTED);
		let mut fields = Fields(record);
		if record.len() < LISTED || fields.bytes(4) != b"PK\x01\x02" {
			return wrong(damaged);
		}
		let _versions = fields.u32();
		let (flags, method) = (fields.u16(), fields.u16());
		let _time = fields.u32();
		let crc = fields.u32();
		let (compressed, length) = (fields.u32(), fields.u32());
		let [name, extra, comment] = [(); 3].map(|()| usize::from(fields.u16()));
		let (_disk, _attributes) = (fields.u16(), fields.bytes(6));
		let header = fields.u32();
		if rest.0.len() < name + extra + comment {
			return wrong(damaged);
		}
		let name = rest.bytes(name);
		let large = large(rest.bytes(extra));
		rest.bytes(comment);
		// Numbers that do not fit in 32 bits are in a field of their own, in this order.
		let mut large = Fields(large);
		let mut value = |small: u32| match small {
			u32::MAX => large.number(8),
			small => u64::from(small),
		};
		let (length, compressed) = (value(length), value(compressed));
		let entry = Entry { flags, method, crc, compressed, length, header: value(header) };
		match self.entries.insert(name.to_vec(), entry) {
			None => Ok(()),
			Some(_) => wrong(format!("two entries are called {}", String::from_utf8_lossy(name))),
		}
	}

	/// Returns whether there is an entry of this name.
	pub(super) fn has(&self, name: &str) -> bool {
		self.entries.contains_key(name.as_bytes())
	}

	/// Names of the first entries, for messages.
	pub(super) fn names(&self) -> String {
		let names = self.entries.keys().take(8).map(|name| String::from_utf8_lossy(name));
		names.collect::<Vec<_>>().join(", ")
	}

	/// Returns the bytes of the entry `name` of the archive at `path`, and how many they are.
	/// Reading fails at their end if they are not those that were packed.
	pub(super) fn entry(&self, path: &Path, name: &str) -> Result<(Box<dyn Read>, u64), ZipError> {
		let Some(entry) = self.entries.get(name.as_bytes()) else {
			return wrong(format!("it has no entry {name}"));
		};
		if entry.flags & 1 != 0 {
			return wrong("it is encrypted; write it without a password");
		}
		let mut file = File::open(path)?;
		let mut record = [0; LOCAL];
		file.seek(SeekFrom::Start(entry.header))?;
		file.read_exact(&mut record)?;
		let mut fields = Fields(&record);
		let magic = fields.bytes(4);
		let _otherwise_known = fields.bytes(22);
		let (name_length, extra) = (fields.u16(), fields.u16());
		let mut found = vec![0; usize::from(name_length)];
		file.read_exact(&mut found)?;
		let before = LOCAL as u64 + u64::from(name_length) + u64::from(extra);
		let begin = entry.header.checked_add(before);
		let end = begin.and_then(|begin| begin.checked_add(entry.compressed));
		let inside = end.is_some_and(|end| end <= self.end);
		if magic != b"PK\x03\x04" || found != name.as_bytes() || !inside {
			return wrong("it does not lie where the directory says: the archive is damaged");
		}
		file.seek(SeekFrom::Start(begin.unwrap_or_default()))?;
		let packed = BufReader::with_capacity(1 << 16, file.take(entry.compressed));
		let inner: Box<dyn Read> = match entry.method {
			0 => Box::new(packed),
			8 => Box::new(DeflateDecoder::new(packed)),
			other => {
				return wrong(format!(
					"it is compressed by method {other}; only stored and deflated entries can be \
					 read, which numpy.savez and numpy.savez_compressed write"
				))
			}
		};
		let (crc, left) = (Crc::new(), entry.length);
		let checked = Checked { inner, crc, expected: entry.crc, left };
		Ok((Box::new(BufReader::with_capacity(1 << 16, checked)), entry.length))
	}
}

/// The field for large numbers (0x0001) of an entry's extra fields; empty where there is none.
fn large(extra: &[u8]) -> &[u8] {
	let mut rest = Fields(extra);
	while rest.0.len() >= 4 {
		let (kind, length) = (rest.u16(), rest.u16());
		let field = rest.bytes(usize::from(length));
		if kind == 1 {
			return field;
		}
	}
	&[]
}

/// Reads from `inner` and fails if its length or checksum is not what the directory says.
struct Checked {
	inner: Box<dyn Read>,
	crc: Crc,
	expected: u32,
	left: u64,
}

impl Read for Checked {
	fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
		let damaged = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
		let read = self.inner.read(buffer)?;
		self.crc.update(&buffer[..read]);
		match self.left.checked_sub(read as u64) {
			None => return damaged("the entry is longer than the archive's directory says"),
			Some(left) => self.left = left,
		}
		if read == 0 && !buffer.is_empty() {
			if self.left > 0 {
				return damaged("the entry is shorter than the archive's directory says");
			}
			if self.crc.sum() != self.expected {
				return damaged("the entry's checksum is wrong");
			}
		}
		Ok(read)
	}
}
