//! What of a task is on disk while it runs: a folder with the last state, and the leaves or records so far.

use super::TaskError;
use codec::{Decode, Encode};
use primitive_types::H256;
use std::{
	fs::{File, OpenOptions},
	io::{Read, Seek, SeekFrom, Write},
	path::{Path, PathBuf},
};
use trainyard_proof::bundle::files::{self, at};
use trainyard_task::Fault;

/// Where a task is.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct At {
	/// Hash of the task's specification.
	pub task: H256,
	/// Steps or indices that are done.
	pub done: u32,
	/// Fuel that they took.
	pub fuel: u128,
	/// The most that one of them took.
	pub most: u64,
	/// How many ended with a fault.
	pub faults: u32,
	/// The state after the last step; of a map nothing.
	pub state: Result<Vec<u8>, Fault>,
}

/// Marks the format of the file with the state.
const FORMAT: &[u8; 24] = b"trainyard/task/run/v1\0\0\0";
/// More than any such file has.
const LONGEST: u64 = 1 << 20;

/// Folder of the states that are kept.
const STATES: &str = "states";

/// The folder of a task that runs.
#[derive(Debug)]
pub struct Folder {
	path: PathBuf,
	/// Leaves or records, of `width` bytes each.
	entries: File,
	width: u64,
}

impl Folder {
	/// Opens a folder, or makes it. Returns where the task is if it was begun.
	///
	/// # Errors
	///
	/// [`TaskError::Saved`] where another task is in the folder, or what is in it is damaged; [`TaskError::File`].
	pub fn open(path: &Path, task: H256, width: u64) -> Result<(Self, Option<At>), TaskError> {
		files::create_folder(path)?;
		files::remove_temporaries(path)?;
		let saved = path.join("state");
		let found = match saved.exists() {
			true => Some(files::read(&saved, LONGEST)?),
			false => None,
		};
		let damaged = |what: &str| {
			TaskError::Saved(format!(
				"{what} in {}: remove the folder to begin again",
				path.display()
			))
		};
		let found = found.map(|bytes| {
			let read =
				bytes.strip_prefix(FORMAT).and_then(|bytes| At::decode(&mut &bytes[..]).ok());
			read.ok_or_else(|| damaged("the saved state is damaged or of another version"))
		});
		let found = found.transpose()?;
		if found.as_ref().is_some_and(|found| found.task != task) {
			return Err(damaged("another task, or other limits, were begun"));
		}
		let name = path.join("entries");
		let mut options = OpenOptions::new();
		options.read(true).write(true).create(true).truncate(false);
		let entries = options.open(&name).map_err(at("open", &name))?;
		let length = entries.metadata().map_err(at("read", &name))?.len();
		let whole = found.as_ref().map_or(0, |found| u64::from(found.done) * width);
		if length < whole {
			return Err(damaged("leaves or records are missing"));
		}
		// What was written after the last state was saved is computed again.
		entries.set_len(whole).map_err(at("shorten", &name))?;
		Ok((Self { path: path.to_owned(), entries, width }, found))
	}

	/// Adds leaves or records, and saves where the task is after them.
	pub fn save(&mut self, entries: &[u8], now: &At) -> Result<(), TaskError> {
		let name = self.path.join("entries");
		let add = |file: &mut File| {
			file.seek(SeekFrom::End(0))?;
			file.write_all(entries)?;
			file.sync_data()
		};
		add(&mut self.entries).map_err(at("write", &name))?;
		files::write(&self.path.join("state"), &[FORMAT.as_slice(), &now.encode()].concat())?;
		Ok(())
	}

	/// Keeps the state after `done` steps beside what is saved.
	pub fn keep_state(&self, done: u32, state: &[u8]) -> Result<(), TaskError> {
		files::create_folder(&self.path.join(STATES))?;
		files::write(&state_path(&self.path, done), state)?;
		Ok(())
	}

	/// Reads all leaves or records of `done`.
	pub fn entries(&mut self, done: u32) -> Result<Vec<u8>, TaskError> {
		let name = self.path.join("entries");
		let mut bytes = Vec::new();
		let mut read = || {
			self.entries.seek(SeekFrom::Start(0))?;
			(&mut self.entries).take(u64::from(done) * self.width).read_to_end(&mut bytes)
		};
		read().map_err(at("read", &name))?;
		Ok(bytes)
	}
}

fn state_path(folder: &Path, done: u32) -> PathBuf {
	folder.join(STATES).join(done.to_string())
}

/// Returns the state after `done` steps that was kept in a folder; `None` where it was not.
pub fn kept_state(folder: &Path, done: u32) -> Result<Option<Vec<u8>>, TaskError> {
	let path = state_path(folder, done);
	Ok(match path.exists() {
		true => Some(files::read(&path, LONGEST)?),
		false => None,
	})
}

/// Removes a folder once the result is where it belongs.
pub fn remove(path: &Path) -> Result<(), TaskError> {
	std::fs::remove_dir_all(path).map_err(at("remove", path))?;
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;

	fn now(done: u32) -> At {
		At { task: H256([1; 32]), done, fuel: 5, most: 3, faults: 0, state: Ok(vec![7]) }
	}

	#[test]
	fn what_is_saved_is_there_again_and_what_is_not_is_dropped() {
		let folder = tempfile::tempdir().unwrap();
		let path = folder.path().join("run");
		let (mut saved, found) = Folder::open(&path, H256([1; 32]), 4).unwrap();
		assert_eq!(found, None);
		saved.save(&[1; 8], &now(2)).unwrap();
		saved.save(&[2; 4], &now(3)).unwrap();
		// Written, and then killed before the state was.
		std::fs::write(path.join("entries"), [&[1u8; 8][..], &[2; 4], &[9; 5]].concat()).unwrap();
		let (mut saved, found) = Folder::open(&path, H256([1; 32]), 4).unwrap();
		assert_eq!(found, Some(now(3)));
		assert_eq!(saved.entries(3).unwrap(), [&[1u8; 8][..], &[2; 4]].concat());
		saved.save(&[3; 4], &now(4)).unwrap();
		assert_eq!(saved.entries(4).unwrap()[12..], [3; 4]);
		remove(&path).unwrap();
		assert!(!path.exists());
	}

	#[test]
	fn what_is_of_another_task_or_damaged_is_not_used() {
		let folder = tempfile::tempdir().unwrap();
		let path = folder.path().join("run");
		let (mut saved, _) = Folder::open(&path, H256([1; 32]), 4).unwrap();
		saved.save(&[1; 8], &now(2)).unwrap();
		let open = |task| Folder::open(&path, H256([task; 32]), 4).map(|_| ());
		let error = open(2).unwrap_err().to_string();
		assert!(error.contains("another task") && error.contains("remove the folder"), "{error}");
		assert!(open(1).is_ok());
		std::fs::write(path.join("entries"), [1; 7]).unwrap();
		assert!(open(1).unwrap_err().to_string().contains("missing"));
		std::fs::write(path.join("state"), b"trainyard/task/run/v0").unwrap();
		assert!(open(1).unwrap_err().to_string().contains("damaged"));
	}
}
