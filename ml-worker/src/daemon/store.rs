//! What a daemon must not forget, on disk. Every file is written atomically and synced
//! before anything that depends on it is sent: a salt that is lost after its commitment
//! was sent is a deposit lost.
//!
//! ```text
//! DIR/data/<content hash>             data files, checked
//! DIR/events.jsonl                    what was done, one JSON object per line
//! DIR/<genesis>/jobs/<job>-<seed>/    state.json and the bundle of a job that is trained
//! DIR/<genesis>/audits/<job>-<round>-<key>/   findings.json and what was fetched
//! ```
//!
//! Folders carry the seed (or a hash of what is audited), so that a development chain that
//! was started anew with the same genesis never meets the files of its predecessor.

use crate::{
	bundle::{
		files::{self, FileError},
		lock::{Lock, LockError},
	},
	hash,
};
use codec::Encode;
use serde::{de::DeserializeOwned, Deserialize, Serialize};
use std::path::{Path, PathBuf};
use trainyard_primitives::{
	audit::Findings,
	job::{BlockNumber, WorkResult},
	JobId, H256,
};

const JOB_FILE: &str = "state.json";
const FINDINGS_FILE: &str = "findings.json";
const PORT_FILE: &str = "port";
/// Longest state file that is read.
const MAX_STATE: u64 = 4 * 1024 * 1024;

/// Why the daemon's folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
	/// Another daemon works there.
	#[error(transparent)]
	Lock(#[from] LockError),
	/// A file cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
	/// A file cannot be understood.
	#[error("{path} cannot be understood ({reason}). It holds secrets that a running job may need: repair it or move it away", path = .path.display())]
	Damaged {
		/// The file.
		path: PathBuf,
		/// Why.
		reason: String,
	},
	/// The job has no record.
	#[error("nothing is known of job {0}")]
	NoRecord(JobId),
}

/// A secret that blinds a commitment; 64 hex digits in files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(pub [u8; 32]);

impl Salt {
	/// A fresh one from the system's randomness.
	pub fn random() -> Self {
		Self(rand::random())
	}
}

impl std::fmt::Debug for Salt {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		f.write_str("Salt(..)")
	}
}

impl Serialize for Salt {
	fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
		s.serialize_str(&hex::encode(self.0))
	}
}

impl<'de> Deserialize<'de> for Salt {
	fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
		let text = String::deserialize(d)?;
		let mut salt = [0; 32];
		hex::decode_to_slice(&text, &mut salt).map_err(serde::de::Error::custom)?;
		Ok(Self(salt))
	}
}

/// A trainer's commitment: what was committed, and the salt that reveals it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Committed {
	/// The roots.
	pub result: WorkResult,
	/// The salt.
	pub salt: Salt,
}

/// What a trainer knows of a job it trains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
	/// Number of the job.
	pub job: JobId,
	/// Its assignment seed.
	pub seed: H256,
	/// Content hash of its data.
	pub data: H256,
	/// What training ended with.
	pub result: Option<WorkResult>,
	/// Seconds of training, over all runs that were not killed.
	pub seconds: f64,
	/// The commitment, from before it is sent.
	pub committed: Option<Committed>,
	/// Whether the model is on chain.
	pub stored: bool,
	/// Height at which the job was first seen ended.
	pub ended: Option<BlockNumber>,
}

impl JobRecord {
	/// A job that was just given to this trainer.
	pub fn new(job: JobId, seed: H256, data: H256) -> Self {
		Self {
			job,
			seed,
			data,
			result: None,
			seconds: 0.0,
			committed: None,
			stored: false,
			ended: None,
		}
	}
}

/// A verifier's findings: what was committed, and the salt that reveals it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingsRecord {
	/// Number of the job.
	pub job: JobId,
	/// Round of the audit.
	pub round: u32,
	/// The verdicts.
	pub findings: Findings,
	/// The salt.
	pub salt: Salt,
}

/// A daemon's folder, locked for this process.
pub struct Home {
	root: PathBuf,
	chain: PathBuf,
	_lock: Lock,
}

impl Home {
	/// Opens `root` for the chain named by `genesis`; creates what is missing.
	pub fn open(root: &Path, genesis: &H256) -> Result<Self, StoreError> {
		let lock = Lock::take(root)?;
		let chain = root.join(short(genesis));
		for folder in [root.join("data"), chain.join("jobs"), chain.join("audits")] {
			files::create_folder(&folder)?;
		}
		files::remove_temporaries(root)?;
		Ok(Self { root: root.to_owned(), chain, _lock: lock })
	}

	/// Where the data file with this content hash lies, or will.
	pub fn data(&self, content_hash: &H256) -> PathBuf {
		self.root.join("data").join(hex::encode(content_hash))
	}

	/// The log of events.
	pub fn events(&self) -> PathBuf {
		self.root.join("events.jsonl")
	}

	/// Folder of a job that is trained.
	pub fn job_folder(&self, job: JobId, seed: &H256) -> PathBuf {
		self.chain.join("jobs").join(format!("{job}-{}", short(seed)))
	}

	/// Folder of its bundle.
	pub fn bundle_folder(&self, job: JobId, seed: &H256) -> PathBuf {
		self.job_folder(job, seed).join("bundle")
	}

	/// Folder of an audit: `subject` is all that is audited in this round.
	pub fn audit_folder(&self, job: JobId, round: u32, subject: &impl Encode) -> PathBuf {
		let key = subject.using_encoded(hash::blake2_256);
		self.chain.join("audits").join(format!("{job}-{round}-{}", short(&key)))
	}

	/// What is known of a job; `None` where it was never seen.
	pub fn load_job(&self, job: JobId, seed: &H256) -> Result<Option<JobRecord>, StoreError> {
		load(&self.job_folder(job, seed).join(JOB_FILE))
	}

	/// Writes a job's record; it is on disk when this returns.
	pub fn save_job(&self, record: &JobRecord) -> Result<(), StoreError> {
		let folder = self.job_folder(record.job, &record.seed);
		files::create_folder(&folder)?;
		save(&folder.join(JOB_FILE), record)
	}

	/// All jobs that have a record.
	pub fn jobs(&self) -> Result<Vec<JobRecord>, StoreError> {
		let folder = self.chain.join("jobs");
		let mut records = Vec::new();
		let entries = std::fs::read_dir(&folder).map_err(files::at("read the folder", &folder))?;
		for entry in entries {
			let entry = entry.map_err(files::at("read the folder", &folder))?;
			records.extend(load::<JobRecord>(&entry.path().join(JOB_FILE))?);
		}
		records.sort_by_key(|r| r.job);
		Ok(records)
	}

	/// The findings in an audit's folder.
	pub fn load_findings(&self, folder: &Path) -> Result<Option<FindingsRecord>, StoreError> {
		load(&folder.join(FINDINGS_FILE))
	}

	/// Writes findings; they are on disk when this returns.
	pub fn save_findings(&self, folder: &Path, record: &FindingsRecord) -> Result<(), StoreError> {
		files::create_folder(folder)?;
		save(&folder.join(FINDINGS_FILE), record)
	}

	/// The port that was served on last time: locations on chain name it.
	pub fn last_port(&self) -> Option<u16> {
		std::fs::read_to_string(self.root.join(PORT_FILE)).ok()?.trim().parse().ok()
	}

	/// Remembers the port that is served on.
	pub fn save_port(&self, port: u16) -> Result<(), StoreError> {
		Ok(files::write(&self.root.join(PORT_FILE), format!("{port}\n").as_bytes())?)
	}
}

/// The first 16 hex digits of a hash: enough for a folder's name.
fn short(hash: &H256) -> String {
	hex::encode(&hash.as_bytes()[..8])
}

fn load<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StoreError> {
	if !path.exists() {
		return Ok(None);
	}
	let bytes = files::read(path, MAX_STATE)?;
	serde_json::from_slice(&bytes)
		.map(Some)
		.map_err(|e| StoreError::Damaged { path: path.to_owned(), reason: e.to_string() })
}

fn save<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
	let mut bytes = serde_json::to_vec_pretty(value)
		.map_err(|e| StoreError::Damaged { path: path.to_owned(), reason: e.to_string() })?;
	bytes.push(b'\n');
	Ok(files::write(path, &bytes)?)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_primitives::audit::{GroupVerdict, RejectReason, SegmentEvidence};

	fn record() -> JobRecord {
		let result =
			WorkResult { bundle_root: H256::repeat_byte(1), model_root: H256::repeat_byte(2) };
		JobRecord {
			result: Some(result),
			seconds: 2.5,
			committed: Some(Committed { result, salt: Salt::random() }),
			ended: Some(9),
			..JobRecord::new(3, H256::repeat_byte(8), H256::repeat_byte(9))
		}
	}

	#[test]
	fn a_salt_is_still_there_after_a_restart() {
		let dir = tempfile::tempdir().unwrap();
		let genesis = H256::repeat_byte(7);
		let record = record();
		{
			let home = Home::open(dir.path(), &genesis).unwrap();
			assert_eq!(home.load_job(3, &record.seed).unwrap(), None);
			home.save_job(&record).unwrap();
		}
		let home = Home::open(dir.path(), &genesis).unwrap();
		assert_eq!(home.load_job(3, &record.seed).unwrap(), Some(record.clone()));
		assert_eq!(home.jobs().unwrap(), vec![record.clone()]);
		assert_eq!(home.load_job(3, &H256::repeat_byte(5)).unwrap(), None, "another seed");
		drop(home);
		let other_chain = Home::open(dir.path(), &H256::repeat_byte(6)).unwrap();
		assert!(other_chain.jobs().unwrap().is_empty());
	}

	#[test]
	fn salts_are_random_and_stay_out_of_logs() {
		let salt = Salt::random();
		assert_ne!(salt, Salt::random());
		assert!(!format!("{salt:?}").contains(&hex::encode(&salt.0[..2])));
	}

	#[test]
	fn findings_survive_with_their_evidence() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		let evidence = SegmentEvidence {
			segment: 4,
			trace_root: H256::repeat_byte(1),
			end_state: H256::repeat_byte(2),
		};
		let findings = Findings::try_from(vec![
			GroupVerdict::Accept(vec![evidence].try_into().unwrap()),
			GroupVerdict::Reject(RejectReason::WrongSegment(evidence)),
			GroupVerdict::Reject(RejectReason::WrongState { checkpoint: 3 }),
			GroupVerdict::Unavailable,
		])
		.unwrap();
		let record = FindingsRecord { job: 1, round: 2, findings, salt: Salt::random() };
		let folder = home.audit_folder(1, 2, &"what is audited");
		assert_eq!(home.load_findings(&folder).unwrap(), None);
		home.save_findings(&folder, &record).unwrap();
		assert_eq!(home.load_findings(&folder).unwrap(), Some(record));
		assert_ne!(folder, home.audit_folder(1, 2, &"something else"));
	}

	#[test]
	fn one_daemon_per_folder_and_damage_is_named() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		assert!(matches!(Home::open(dir.path(), &H256::zero()), Err(StoreError::Lock(_))));
		let record = record();
		home.save_job(&record).unwrap();
		let path = home.job_folder(3, &record.seed).join(JOB_FILE);
		std::fs::write(&path, "{").unwrap();
		let error = home.jobs().unwrap_err().to_string();
		assert!(error.contains("state.json") && error.contains("repair"), "{error}");
	}

	#[test]
	fn the_port_is_remembered() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		assert_eq!(home.last_port(), None);
		home.save_port(8601).unwrap();
		assert_eq!(home.last_port(), Some(8601));
	}
}
