//! Files of outer steps in a folder, each under its root: models and velocities, updates, and what a peer keeps.
//! They are served to whoever names the root.

use crate::{
	roles::store::StoreError,
	swarm::models::{remove, root_of},
};
use std::{
	collections::BTreeSet,
	path::{Path, PathBuf},
};
use trainyard_proof::bundle::files::{self, FileError};
use trainyard_protocol::H256;
use trainyard_transport::record_of;

/// Ending of a file that is not whole.
const PART: &str = "part";

/// The folder. Clones are the same one.
#[derive(Clone, Debug)]
pub struct OuterFiles {
	folder: PathBuf,
}

impl OuterFiles {
	/// Opens a folder, which is made where it is missing.
	pub fn open(folder: &Path) -> Result<Self, FileError> {
		files::create_folder(folder)?;
		files::remove_temporaries(folder)?;
		Ok(Self { folder: folder.to_owned() })
	}

	/// Returns where a file is, or will be.
	pub fn path(&self, root: &H256) -> PathBuf {
		self.folder.join(hex::encode(root))
	}

	/// Returns where what came of a file is until all of it is there.
	pub fn part(&self, root: &H256) -> PathBuf {
		self.path(root).with_extension(PART)
	}

	/// Returns whether a file is here.
	pub fn has(&self, root: &H256) -> bool {
		self.path(root).is_file()
	}

	/// Writes a file down, and returns its root. It is on disk when this returns.
	pub fn put(&self, bytes: &[u8]) -> Result<H256, FileError> {
		let root = root_of(bytes);
		if !self.has(&root) {
			files::write(&self.path(&root), bytes)?;
		}
		Ok(root)
	}

	/// Makes a file of what came of it.
	pub fn whole(&self, root: &H256) -> Result<(), FileError> {
		let part = self.part(root);
		std::fs::rename(&part, self.path(root)).map_err(files::at("rename", &part))
	}

	/// Returns a file of so many bytes; nothing where it is not here, or is not the one of this root any more,
	/// which is removed then.
	pub fn read(&self, root: &H256, bytes: u64) -> Result<Option<Vec<u8>>, StoreError> {
		if !self.has(root) {
			return Ok(None);
		}
		let found = files::read(&self.path(root), bytes)?;
		if root_of(&found) == *root {
			return Ok(Some(found));
		}
		remove(&self.path(root))?;
		Ok(None)
	}

	/// Removes all files but these, and what came of others.
	pub fn keep(&self, kept: &BTreeSet<H256>) -> Result<(), StoreError> {
		for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
			let path = entry.path();
			let mut root = H256::zero();
			let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
			let is_file = hex::decode_to_slice(name, &mut root.0).is_ok();
			if is_file && !kept.contains(&root) {
				if path.extension().is_some_and(|ending| ending == PART) {
					remove(&record_of(&path))?;
				}
				remove(&path)?;
			}
		}
		Ok(())
	}
}
