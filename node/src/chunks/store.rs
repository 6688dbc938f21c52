//! Where this node has chunks: the database, and files beside it.

use crate::client::FullClient;
use log::warn;
use sc_client_api::BlockBackend;
use sp_core::H256;
use std::{
	collections::BTreeSet,
	fs, io,
	io::Write,
	path::{Path, PathBuf},
	sync::{Arc, Mutex, PoisonError},
};
use trainyard_protocol::blob;
use trainyard_runtime::opaque::Block;

/// The end of the names of files that are being written.
const PART: &str = "part";

/// What a database knows of indexed bytes.
pub trait Indexed: Send + Sync {
	/// Returns the bytes that it has under this hash.
	fn bytes(&self, hash: H256) -> Option<Vec<u8>>;
	/// Returns whether it has any.
	fn has(&self, hash: H256) -> bool;
}

impl Indexed for FullClient {
	fn bytes(&self, hash: H256) -> Option<Vec<u8>> {
		BlockBackend::<Block>::indexed_transaction(self, hash).ok().flatten()
	}

	fn has(&self, hash: H256) -> bool {
		BlockBackend::<Block>::has_indexed_transaction(self, hash).unwrap_or(false)
	}
}

/// The chunks that this node has.
pub struct ChunkStore<D> {
	database: Arc<D>,
	folder: PathBuf,
	/// Hashes under which the database has other bytes: its disk is damaged.
	damaged: Mutex<BTreeSet<H256>>,
}

impl<D: Indexed> ChunkStore<D> {
	/// Opens the folder, and makes it where it is not there. What a kill left of a file goes.
	pub fn open(database: Arc<D>, folder: PathBuf) -> io::Result<Self> {
		fs::create_dir_all(&folder)?;
		for entry in fs::read_dir(&folder)? {
			let path = entry?.path();
			if path.extension().is_some_and(|end| end == PART) {
				fs::remove_file(path)?;
			}
		}
		Ok(Self { database, folder, damaged: Mutex::default() })
	}

	/// The folder of the files.
	pub fn folder(&self) -> &Path {
		&self.folder
	}

	fn path(&self, hash: &H256) -> PathBuf {
		self.folder.join(format!("{hash:x}"))
	}

	fn is_damaged(&self, hash: &H256) -> bool {
		self.damaged.lock().unwrap_or_else(PoisonError::into_inner).contains(hash)
	}

	/// Returns the chunk with this `blake2_256`, checked. Bytes that do not match are none.
	pub fn get(&self, hash: &H256) -> Option<Vec<u8>> {
		if let Some(bytes) = self.database.bytes(*hash) {
			if blob::chunk_hash(&bytes) == *hash {
				return Some(bytes);
			}
			let mut damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
			if damaged.insert(*hash) {
				warn!("the database has other bytes under the hash of chunk {hash:?}: its disk may be damaged");
			}
		}
		let bytes = fs::read(self.path(hash)).ok()?;
		if blob::chunk_hash(&bytes) == *hash {
			return Some(bytes);
		}
		warn!("the file of chunk {hash:?} is damaged: it is removed");
		let _ = fs::remove_file(self.path(hash));
		None
	}

	/// Returns whether this node has the chunk, as far as can be said without reading it.
	pub fn has(&self, hash: &H256) -> bool {
		self.has_file(hash) || self.database.has(*hash) && !self.is_damaged(hash)
	}

	/// Returns whether the chunk is a file of its own.
	pub fn has_file(&self, hash: &H256) -> bool {
		self.path(hash).exists()
	}

	/// Keeps a chunk as a file, whole or not at all. Fails where the bytes are not those of the hash.
	pub fn keep(&self, hash: &H256, bytes: &[u8]) -> io::Result<()> {
		if blob::chunk_hash(bytes) != *hash {
			return Err(io::Error::new(
				io::ErrorKind::InvalidData,
				"these bytes have another hash",
			));
		}
		let (path, part) = (self.path(hash), self.path(hash).with_extension(PART));
		let mut file = fs::File::create(&part)?;
		file.write_all(bytes)?;
		file.sync_all()?;
		fs::rename(part, path)?;
		fs::File::open(&self.folder)?.sync_all()
	}

	/// Returns the chunks that are files.
	pub fn files(&self) -> io::Result<Vec<H256>> {
		let mut found = Vec::new();
		for entry in fs::read_dir(&self.folder)? {
			let name = entry?.file_name();
			if let Some(Ok(hash)) = name.to_str().map(str::parse::<H256>) {
				found.push(hash);
			}
		}
		Ok(found)
	}

	/// Removes the file of a chunk.
	pub fn drop_file(&self, hash: &H256) -> io::Result<()> {
		fs::remove_file(self.path(hash))
	}
}
