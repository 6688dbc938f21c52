//! One process per bundle.

use super::files::{at, create_folder, FileError};
use fs4::fs_std::FileExt;
use std::{
	fs::{File, OpenOptions},
	path::Path,
};

/// Name of the lock file. It stays when its process ends; only the lock on it counts,
/// and the system releases that even for a killed process.
pub const FILE: &str = ".lock";

/// Why a folder could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
	/// Another process works there.
	#[error("another process is writing to {0}. Wait for it, stop it, or choose another folder")]
	Held(std::path::PathBuf),
	/// The lock file could not be made.
	#[error(transparent)]
	File(#[from] FileError),
}

/// Holds a folder for this process until it is dropped.
pub struct Lock(#[allow(dead_code)] File);

impl Lock {
	/// Creates `folder` if it is missing, and locks it.
	pub fn take(folder: &Path) -> Result<Self, LockError> {
		create_folder(folder)?;
		let path = folder.join(FILE);
		let file = OpenOptions::new()
			.create(true)
			.truncate(false)
			.write(true)
			.open(&path)
			.map_err(at("create", &path))?;
		match FileExt::try_lock_exclusive(&file).map_err(at("lock", &path))? {
			true => Ok(Self(file)),
			false => Err(LockError::Held(folder.to_owned())),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn a_folder_is_locked_once() {
		let dir = tempfile::tempdir().unwrap();
		let lock = Lock::take(dir.path()).unwrap();
		assert!(matches!(Lock::take(dir.path()), Err(LockError::Held(_))));
		drop(lock);
		assert!(Lock::take(dir.path()).is_ok());
	}
}
