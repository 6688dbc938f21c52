//! Computes content hashes of files while reading them: no file is held in memory.

use primitive_types::H256;
use std::{
	fs::File,
	io::{self, Read},
	path::Path,
	time::SystemTime,
};
use trainyard_program::spec::FileRef;
use trainyard_protocol::{blob, content};

/// A running `blake2_256`.
#[derive(Clone)]
pub struct Hasher(blake2b_simd::State);

impl Default for Hasher {
	fn default() -> Self {
		Self(blake2b_simd::Params::new().hash_length(32).to_state())
	}
}

impl Hasher {
	/// Adds `bytes` to what is hashed.
	pub fn update(&mut self, bytes: &[u8]) {
		self.0.update(bytes);
	}

	/// Returns the hash of all bytes added.
	pub fn finish(&self) -> H256 {
		H256::from_slice(self.0.finalize().as_bytes())
	}
}

/// Returns `blake2_256` of `bytes`.
pub fn blake2_256(bytes: &[u8]) -> H256 {
	let mut hasher = Hasher::default();
	hasher.update(bytes);
	hasher.finish()
}

/// Reads from `R` and hashes what is read.
pub struct HashingReader<R> {
	inner: R,
	hasher: Hasher,
	bytes: u64,
}

impl<R: Read> HashingReader<R> {
	/// Begins to hash what will be read from `inner`.
	pub fn new(inner: R) -> Self {
		Self { inner, hasher: Hasher::default(), bytes: 0 }
	}

	/// Returns hash and number of the bytes read so far.
	pub fn finish(&self) -> (H256, u64) {
		(self.hasher.finish(), self.bytes)
	}
}

impl<R: Read> Read for HashingReader<R> {
	fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
		let n = self.inner.read(buffer)?;
		self.hasher.update(&buffer[..n]);
		self.bytes = self.bytes.saturating_add(n as u64);
		Ok(n)
	}
}

/// Returns content hash and length of the file at `path`.
pub fn file(path: &Path) -> io::Result<(H256, u64)> {
	let mut reader = HashingReader::new(File::open(path)?);
	io::copy(&mut reader, &mut io::sink())?;
	Ok(reader.finish())
}

/// Returns the hash by which a specification names the file at `path`, and its length: the content hash, or, of
/// a file on chain, the root of its blob.
pub fn named(path: &Path, named: &FileRef) -> io::Result<(H256, u64)> {
	match named.is_on_chain() {
		true => Ok((blob_root(path)?, std::fs::metadata(path)?.len())),
		false => file(path),
	}
}

/// Returns the same of a file with these bytes.
pub fn named_bytes(bytes: &[u8], named: &FileRef) -> H256 {
	match named.is_on_chain() {
		true => blob::root_of(bytes.len() as u64, &content::hash(bytes)),
		false => blake2_256(bytes),
	}
}

/// Length, time of the last write and, on Unix, number of a file.
pub type Mark = (u64, Option<SystemTime>, u64);

/// Returns a mark that changes when the file at `path` is written to or replaced; none if there is
/// no such file.
pub fn mark(path: &Path) -> Option<Mark> {
	let found = std::fs::metadata(path).ok()?;
	#[cfg(unix)]
	let number = std::os::unix::fs::MetadataExt::ino(&found);
	#[cfg(not(unix))]
	let number = 0;
	Some((found.len(), found.modified().ok(), number))
}

/// Returns the root of the file at `path` as a blob on chain, see [`blob::root_of`].
pub fn blob_root(path: &Path) -> io::Result<H256> {
	blob::root_of_reader(File::open(path)?)
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn streamed_hashes_are_those_of_the_whole() {
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("file");
		for size in [0usize, 1, 4_096, 4_097, 300_000] {
			let bytes: Vec<u8> = (0..size).map(|i| (i * 7) as u8).collect();
			std::fs::write(&path, &bytes).unwrap();
			assert_eq!(file(&path).unwrap(), (blob::chunk_hash(&bytes), size as u64));
			assert_eq!(blob_root(&path).unwrap(), blob::Chunked::new(&bytes).root);
		}
	}

	#[test]
	fn a_file_on_chain_is_named_by_the_root_of_its_blob() {
		use trainyard_program::{spec::ON_CHAIN, Text};
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("model");
		std::fs::write(&path, [7; 5_000]).unwrap();
		let (content_hash, location) = (H256::zero(), Text::new("http://x").unwrap());
		let mut name = FileRef { content_hash, bytes: 0, location };
		assert_eq!(named(&path, &name).unwrap(), (blake2_256(&[7; 5_000]), 5_000));
		assert_eq!(named_bytes(&[7; 5_000], &name), blake2_256(&[7; 5_000]));
		name.location = Text::new(ON_CHAIN).unwrap();
		let root = blob::Chunked::new(&[7; 5_000]).root;
		assert_eq!(named(&path, &name).unwrap(), (root, 5_000));
		assert_eq!(named_bytes(&[7; 5_000], &name), root);
	}

	#[test]
	fn a_file_that_is_written_to_or_replaced_is_marked() {
		let dir = tempfile::tempdir().unwrap();
		let (path, other) = (dir.path().join("file"), dir.path().join("other"));
		assert_eq!(mark(&path), None);
		std::fs::write(&path, "abc").unwrap();
		let (first, at) = (mark(&path), SystemTime::UNIX_EPOCH);
		assert!(first.is_some());
		std::fs::read(&path).unwrap();
		assert_eq!(mark(&path), first);
		let touch = |path: &Path| File::options().write(true).open(path)?.set_modified(at);
		touch(&path).unwrap();
		let second = mark(&path);
		assert_ne!(second, first);
		std::fs::write(&other, "abd").unwrap();
		touch(&other).unwrap();
		std::fs::rename(&other, &path).unwrap();
		#[cfg(unix)]
		assert_ne!(mark(&path), second);
		std::fs::write(&path, "abcd").unwrap();
		touch(&path).unwrap();
		assert_ne!(mark(&path), second);
	}

	#[test]
	fn the_hash_is_blake2b_with_32_bytes() {
		// RFC 7693 with nn = 32, of the empty string.
		assert_eq!(
			hex::encode(blake2_256(b"")),
			"0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"
		);
	}
}
