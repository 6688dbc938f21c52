//! The moves of a party, on disk before they are sent.
//!
//! `moves.jsonl` has a line for each move: where the dispute stood, what was sent, and its hash. A line
//! that was not written to its end was not followed by a move, and is dropped. The moves themselves are
//! computed again wherever they are needed.

use super::plan::Sent;
use crate::roles::store::StoreError;
use serde::{Deserialize, Serialize};
use std::{
	fs::{File, OpenOptions},
	io::{Read, Seek, SeekFrom, Write},
	path::{Path, PathBuf},
};
use trainyard_client::court::DisputeId;
use trainyard_proof::bundle::files;
use trainyard_protocol::{job::BlockNumber, JobId, H256};

/// Name of the file.
const MOVES_FILE: &str = "moves.jsonl";
/// Longest file that is read: a dispute has 37 transactions at most, each sent a few times.
const MOST: u64 = 4 * 1024 * 1024;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum Line {
	/// The first: what is known from when the dispute was first seen.
	Begun {
		/// The job that it is about.
		job: JobId,
		/// Ticks that each side had.
		clock: u32,
		/// The height at which it was seen.
		height: BlockNumber,
	},
	/// A move that is about to be sent.
	Move(Written),
}

/// A move that is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
	/// [`stage_hash`](super::plan::stage_hash) of where the dispute stands.
	pub stage: H256,
	/// The height at which it is sent.
	pub height: BlockNumber,
	/// Moves made in the dispute before.
	pub moves: u32,
	/// The call: `post`, `open`, `deny`, `show`, `judge` or `poke`.
	pub call: String,
	/// The place that it names, in words.
	pub place: String,
	/// Bytes of its arguments.
	pub bytes: u64,
	/// Their hash.
	pub hash: H256,
}

/// What this account has sent in one dispute.
#[derive(Debug)]
pub struct Journal {
	path: PathBuf,
	file: File,
	clock: u32,
	moves: Vec<Written>,
}

impl Journal {
	/// Opens the journal of a dispute about `job` below `folder`, in `ID/`. A new one notes that each
	/// side had `clock` ticks when it was seen at `height`. Fails where a whole line cannot be
	/// understood.
	pub fn open(
		folder: &Path,
		id: DisputeId,
		job: JobId,
		clock: u32,
		height: BlockNumber,
	) -> Result<Self, StoreError> {
		let folder = folder.join(id.to_string());
		files::create_private_folder(&folder)?;
		let path = folder.join(MOVES_FILE);
		let open = || {
			let mut options = OpenOptions::new();
			let mut file =
				options.read(true).write(true).create(true).truncate(false).open(&path)?;
			let mut bytes = Vec::new();
			Read::by_ref(&mut file).take(MOST).read_to_end(&mut bytes)?;
			Ok((file, bytes))
		};
		let (mut file, bytes) = open().map_err(files::at("read", &path))?;
		// What stands after the last end of a line was cut off with the process that wrote it.
		let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
		let damaged = |reason: String| StoreError::Damaged { path: path.clone(), reason };
		let text = std::str::from_utf8(&bytes[..whole]).map_err(|e| damaged(e.to_string()))?;
		let mut moves = Vec::new();
		let mut begun = None;
		for line in text.lines() {
			match serde_json::from_str(line).map_err(|e| damaged(e.to_string()))? {
				Line::Begun { clock, .. } => begun = Some(clock),
				Line::Move(written) => moves.push(written),
			}
		}
		let cut = |file: &mut File| {
			file.set_len(whole as u64)?;
			file.seek(SeekFrom::Start(whole as u64))
		};
		cut(&mut file).map_err(files::at("write", &path))?;
		let mut journal = Self { path, file, clock: begun.unwrap_or(clock), moves };
		if begun.is_none() {
			journal.append(&Line::Begun { job, clock, height })?;
		}
		Ok(journal)
	}

	/// Returns the job of the dispute whose folder this is; `None` where it has no journal.
	pub fn job_of(folder: &Path) -> Option<JobId> {
		let bytes = files::read(&folder.join(MOVES_FILE), MOST).ok()?;
		let first = bytes.split(|byte| *byte == b'\n').next()?;
		match serde_json::from_slice(first).ok()? {
			Line::Begun { job, .. } => Some(job),
			Line::Move(_) => None,
		}
	}

	/// Writes a move down; it is on disk when this returns. Returns whether another one was sent before
	/// for the same stage: then this machine computed wrong, now or before.
	pub fn write(&mut self, written: Written) -> Result<bool, StoreError> {
		let parts = self.moves.iter().any(|before| {
			before.stage == written.stage
				&& before.call == written.call
				&& before.hash != written.hash
		});
		self.append(&Line::Move(written.clone()))?;
		self.moves.push(written);
		Ok(parts)
	}

	/// Returns the ticks that each side had at the beginning.
	pub fn clock(&self) -> u32 {
		self.clock
	}

	/// Returns what was sent, the latest last.
	pub fn moves(&self) -> &[Written] {
		&self.moves
	}

	/// Returns the last move that was sent.
	pub fn sent(&self) -> Option<Sent> {
		self.moves.last().map(|last| Sent { stage: last.stage, height: last.height })
	}

	fn append(&mut self, line: &Line) -> Result<(), StoreError> {
		let mut bytes = serde_json::to_vec(line)
			.map_err(|e| StoreError::Damaged { path: self.path.clone(), reason: e.to_string() })?;
		bytes.push(b'\n');
		let file = &mut self.file;
		let written = file.write_all(&bytes).and_then(|()| file.sync_all());
		Ok(written.map_err(files::at("write", &self.path))?)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn written(stage: u8, hash: u8, height: u32) -> Written {
		Written {
			stage: H256::repeat_byte(stage),
			height,
			moves: 4,
			call: "post".into(),
			place: "Steps".into(),
			bytes: 2_000,
			hash: H256::repeat_byte(hash),
		}
	}

	#[test]
	fn moves_are_there_after_a_kill() {
		let dir = tempfile::tempdir().unwrap();
		let mut journal = Journal::open(dir.path(), 7, 9, 2_400, 90).unwrap();
		assert_eq!((journal.sent(), journal.clock()), (None, 2_400));
		assert_eq!(Journal::job_of(&dir.path().join("7")), Some(9));
		assert_eq!(Journal::job_of(dir.path()), None);
		assert!(!journal.write(written(1, 1, 100)).unwrap());
		assert!(!journal.write(written(2, 2, 110)).unwrap());
		assert!(!journal.write(written(2, 2, 120)).unwrap(), "the same again");
		assert!(journal.write(written(2, 3, 130)).unwrap(), "another one for the same stage");
		drop(journal);
		// What was seen first counts.
		let journal = Journal::open(dir.path(), 7, 9, 1, 140).unwrap();
		assert_eq!((journal.clock(), journal.moves().len()), (2_400, 4));
		assert_eq!(journal.sent(), Some(Sent { stage: H256::repeat_byte(2), height: 130 }));
		assert!(Journal::open(dir.path(), 8, 9, 1, 140).unwrap().moves().is_empty());
	}

	#[test]
	fn a_line_that_was_cut_off_was_not_sent() {
		let dir = tempfile::tempdir().unwrap();
		let path = dir.path().join("7").join(MOVES_FILE);
		let mut journal = Journal::open(dir.path(), 7, 9, 2_400, 90).unwrap();
		journal.write(written(1, 1, 100)).unwrap();
		journal.write(written(2, 2, 110)).unwrap();
		let whole = std::fs::read(&path).unwrap();
		drop(journal);
		let first = whole.len() - whole.split(|b| *b == b'\n').nth(2).unwrap().len() - 1;
		for cut in [first, first + 1, whole.len() - 1] {
			std::fs::write(&path, &whole[..cut]).unwrap();
			let mut journal = Journal::open(dir.path(), 7, 9, 1, 1).unwrap();
			assert_eq!(journal.moves(), [written(1, 1, 100)], "{cut}");
			journal.write(written(2, 2, 110)).unwrap();
			assert_eq!(std::fs::read(&path).unwrap(), whole);
		}
		// A whole line that is none is damage.
		std::fs::write(&path, "{}\n").unwrap();
		let error = Journal::open(dir.path(), 7, 9, 1, 1).unwrap_err();
		assert!(error.to_string().contains("moves.jsonl"), "{error}");
	}
}
