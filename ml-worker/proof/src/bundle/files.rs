//! Files that are either there in full or not at all.

use std::{
	fs::{self, File, OpenOptions},
	io::{self, ErrorKind, Read, Write},
	path::{Path, PathBuf},
};

/// A file operation that failed, and what can be done about it.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {error}{}", .path.display(), advice(.error))]
pub struct FileError {
	/// What was tried: "write", "read", ….
	pub action: &'static str,
	/// The file or folder.
	pub path: PathBuf,
	/// Why it failed.
	pub error: io::Error,
}

fn advice(error: &io::Error) -> &'static str {
	match error.kind() {
		ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
			". The disk is full: free some space, then start again with --resume; everything up \
			 to the last checkpoint is kept"
		}
		ErrorKind::FileTooLarge => {
			". A limit on file sizes forbids it (ulimit -f): raise it, then start again with \
			 --resume; everything up to the last checkpoint is kept"
		}
		ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
			". Choose a folder that this user may write to, or change its permissions"
		}
		ErrorKind::NotADirectory => ". A part of this path is a file, not a folder",
		_ => "",
	}
}

/// Adds action and path to an I/O error.
pub fn at<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> FileError + 'a {
	move |error| FileError { action, path: path.to_owned(), error }
}

/// Mark of a file that is still being written; readers ignore such files and a resumed
/// run removes them.
pub const TEMPORARY: &str = ".tmp-";

/// Writes a file by `fill`: into a temporary file beside it, which is synced and renamed over
/// `path`; then the folder is synced. A crash at any moment leaves the old file or the new one.
pub fn write_with(
	path: &Path,
	fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), FileError> {
	write_as(path, false, fill)
}

/// Does what [`write_with`] does; only its owner can read a `private` file (on Unix).
fn write_as(
	path: &Path,
	private: bool,
	fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), FileError> {
	let name = path.file_name().unwrap_or_default().to_string_lossy();
	let temporary = path.with_file_name(format!("{TEMPORARY}{}-{name}", std::process::id()));
	let written = (|| {
		let mut options = OpenOptions::new();
		options.write(true).create(true).truncate(true);
		#[cfg(unix)]
		if private {
			use std::os::unix::fs::OpenOptionsExt;
			options.mode(0o600);
			// An old file would keep its mode.
			let _ = fs::remove_file(&temporary);
		}
		#[cfg(not(unix))]
		let _ = private;
		let mut file = options.open(&temporary)?;
		fill(&mut file)?;
		file.sync_all()?;
		fs::rename(&temporary, path)?;
		sync_folder(path)
	})();
	written.map_err(|error| {
		// Best effort: a resumed run removes what stays.
		let _ = fs::remove_file(&temporary);
		FileError { action: "write", path: path.to_owned(), error }
	})
}

/// Writes `bytes` as [`write_with`] does.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
	write_with(path, |file| file.write_all(bytes))
}

/// Writes a secret as [`write()`] does; on Unix only the file's owner can read it.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
	write_as(path, true, |file| file.write_all(bytes))
}

fn sync_folder(path: &Path) -> io::Result<()> {
	match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
		Some(parent) => File::open(parent)?.sync_all(),
		None => File::open(".")?.sync_all(),
	}
}

/// Creates `folder` and its parents.
pub fn create_folder(folder: &Path) -> Result<(), FileError> {
	fs::create_dir_all(folder).map_err(at("create the folder", folder))
}

/// Creates a folder for secrets as [`create_folder`] does; on Unix only the owner can look into
/// `folder`, and into those of its parents that are created with it.
pub fn create_private_folder(folder: &Path) -> Result<(), FileError> {
	#[cfg(unix)]
	{
		use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
		let create = || {
			fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
			// It may have been there already, open to all.
			fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
		};
		create().map_err(at("create the private folder", folder))
	}
	#[cfg(not(unix))]
	create_folder(folder)
}

/// Returns the bytes of all files below `path`, or of the file `path`; 0 if there is nothing. Files
/// that vanish meanwhile do not count.
pub fn size(path: &Path) -> Result<u64, FileError> {
	let gone = |e: &io::Error| e.kind() == ErrorKind::NotFound;
	let (mut sum, mut left) = (0u64, vec![path.to_owned()]);
	while let Some(path) = left.pop() {
		let about = match fs::symlink_metadata(&path) {
			Ok(about) => about,
			Err(e) if gone(&e) => continue,
			Err(e) => return Err(at("look at", &path)(e)),
		};
		if !about.is_dir() {
			sum = sum.saturating_add(about.len());
			continue;
		}
		match fs::read_dir(&path) {
			Ok(entries) => {
				for entry in entries {
					left.push(entry.map_err(at("read the folder", &path))?.path());
				}
			}
			Err(e) if gone(&e) => {}
			Err(e) => return Err(at("read the folder", &path)(e)),
		}
	}
	Ok(sum)
}

/// Reads a file of at most `limit` bytes; a longer one is an error and takes no memory.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
	let open = || {
		let file = File::open(path)?;
		let mut bytes = Vec::new();
		file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
		if bytes.len() as u64 > limit {
			return Err(io::Error::new(
				ErrorKind::InvalidData,
				format!("longer than the {limit} bytes that it may have"),
			));
		}
		Ok(bytes)
	};
	open().map_err(at("read", path))
}

/// Removes the temporary files that a killed process left in `folder`.
pub fn remove_temporaries(folder: &Path) -> Result<(), FileError> {
	let entries = match fs::read_dir(folder) {
		Ok(entries) => entries,
		Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
		Err(e) => return Err(at("read the folder", folder)(e)),
	};
	for entry in entries {
		let path = entry.map_err(at("read the folder", folder))?.path();
		let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
		if name.starts_with(TEMPORARY) {
			fs::remove_file(&path).map_err(at("remove", &path))?;
		}
	}
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn a_failed_write_leaves_the_old_file_and_nothing_else() {
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("file");
		write(&path, b"old").unwrap();
		let error = write_with(&path, |file| {
			file.write_all(b"ne")?;
			Err(io::Error::from(ErrorKind::StorageFull))
		})
		.unwrap_err();
		assert!(error.to_string().contains("free some space"), "{error}");
		assert_eq!(fs::read(&path).unwrap(), b"old");
		assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
		write(&path, b"new").unwrap();
		assert_eq!(fs::read(&path).unwrap(), b"new");
	}

	#[test]
	fn temporaries_are_removed_and_long_files_refused() {
		let dir = tempfile::tempdir().unwrap();
		fs::write(dir.path().join(".tmp-7-manifest.json"), b"{").unwrap();
		fs::write(dir.path().join("manifest.json"), b"{}").unwrap();
		remove_temporaries(dir.path()).unwrap();
		assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
		assert!(read(&dir.path().join("manifest.json"), 1).is_err());
		assert_eq!(read(&dir.path().join("manifest.json"), 2).unwrap(), b"{}");
		remove_temporaries(&dir.path().join("nowhere")).unwrap();
	}

	#[cfg(unix)]
	#[test]
	fn secrets_are_for_their_owner_only() {
		use std::os::unix::fs::PermissionsExt;
		let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
		let dir = tempfile::tempdir().unwrap();
		let folder = dir.path().join("a/b");
		create_private_folder(&folder).unwrap();
		assert_eq!((mode(&folder), mode(&dir.path().join("a"))), (0o700, 0o700));
		let path = folder.join("salt");
		write(&path, b"old").unwrap();
		assert_ne!(mode(&path), 0o600);
		write_private(&path, b"new").unwrap();
		assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o600, b"new".to_vec()));
		fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
		create_private_folder(&folder).unwrap();
		assert_eq!(mode(&folder), 0o700, "one that was there");
	}

	#[test]
	fn sizes_are_of_all_files_below() {
		let dir = tempfile::tempdir().unwrap();
		create_folder(&dir.path().join("a/b")).unwrap();
		write(&dir.path().join("a/b/file"), &[1; 70]).unwrap();
		write(&dir.path().join("a/file"), &[1; 7]).unwrap();
		assert_eq!(size(dir.path()).unwrap(), 77);
		assert_eq!(size(&dir.path().join("a/file")).unwrap(), 7);
		assert_eq!(size(&dir.path().join("nothing")).unwrap(), 0);
	}
}
