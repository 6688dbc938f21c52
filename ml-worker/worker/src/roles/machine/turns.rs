//! Turns of programs that compute one after the other on one machine, by the lock of a file: of several
//! accounts of one owner, or of a test. Who has the memory for one computation runs them so.
//!
//! A turn knows no deadlines: who waits longest is not first. So it is for programs whose computations are few
//! beside the time that they have. The system takes the lock from a program that dies.

use std::{
	fs::{File, OpenOptions, TryLockError},
	path::{Path, PathBuf},
	time::Duration,
};
use tracing::{info, warn};

/// Pause before it is looked again whether a turn is free.
const PAUSE: Duration = Duration::from_millis(100);

/// The turns that belong to a file.
#[derive(Clone, Debug)]
pub struct Turns {
	path: PathBuf,
}

/// A turn; it ends when this is dropped.
#[derive(Debug)]
pub struct Turn(#[allow(dead_code, reason = "the lock goes with the file")] File);

impl Turns {
	/// Returns the turns of the file at `path`, which is made where it is not there.
	///
	/// # Errors
	/// Fails where the file can be neither opened nor made.
	pub fn open(path: &Path) -> std::io::Result<Self> {
		let turns = Self { path: path.to_owned() };
		turns.file().map(|_| turns)
	}

	fn file(&self) -> std::io::Result<File> {
		OpenOptions::new().create(true).append(true).open(&self.path)
	}

	/// Waits for the turn to compute `what`. None where the file cannot be locked any more: whatever is due goes
	/// on without.
	pub async fn take(&self, what: &str) -> Option<Turn> {
		let mut waited = false;
		loop {
			let locked = self.file().map_err(TryLockError::Error).and_then(|file| {
				file.try_lock()?;
				Ok(file)
			});
			match locked {
				Ok(file) => return Some(Turn(file)),
				Err(TryLockError::WouldBlock) => {
					if !waited {
						info!("{what} waits for its turn ({})", self.path.display());
						waited = true;
					}
					tokio::time::sleep(PAUSE).await;
				}
				Err(TryLockError::Error(e)) => {
					warn!("{}: {e}; {what} is computed without a turn", self.path.display());
					return None;
				}
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::machine::{Class, Machine, Need};

	#[tokio::test]
	async fn one_computes_after_the_other() {
		let folder = tempfile::tempdir().unwrap();
		let path = folder.path().join("turns");
		// As two programs do.
		let machine = || Machine::default().in_turns(Some(Turns::open(&path).unwrap()));
		let (one, two) = (machine(), machine());
		let need = Need::by(Class::Duty, 9);
		let first = one.lease("verifier", "a", need, false).await;
		let second = two.lease("verifier", "b", need, false);
		assert!(tokio::time::timeout(3 * PAUSE, second).await.is_err());
		drop(first);
		let _second = two.lease("verifier", "b", need, false).await;
		let third = one.lease("verifier", "c", need, false);
		assert!(tokio::time::timeout(3 * PAUSE, third).await.is_err());
	}

	#[tokio::test]
	async fn a_file_that_cannot_be_had_is_said_at_the_start_and_stops_nobody_later() {
		let folder = tempfile::tempdir().unwrap();
		assert!(Turns::open(&folder.path().join("none/turns")).is_err());
		let path = folder.path().join("there/turns");
		std::fs::create_dir(folder.path().join("there")).unwrap();
		let turns = Turns::open(&path).unwrap();
		std::fs::remove_dir_all(folder.path().join("there")).unwrap();
		assert!(turns.take("a").await.is_none());
	}
}
