//! Keeps on disk what a daemon must not forget. Every file is written atomically and synced before
//! anything that depends on it is sent: a salt that is lost after its commitment was sent is a
//! deposit lost.
//!
//! ```text
//! DIR/data/<content hash>             files that jobs read, checked; `.<location>.part` while fetched
//! DIR/data/<content hash>.<key>.rows  the rows of such a file, decoded once
//! DIR/<genesis>/blobs.json            blobs whose deposit this account may hold
//! DIR/events.jsonl                    what was done, one JSON object per line; `.1` what was before
//! DIR/<genesis>/jobs/<job>-<seed>/    state.json and the bundle of a job that is trained
//! DIR/<genesis>/audits/<job>-<round>-<key>/   findings.json, what was asked for, fetched and replayed
//! DIR/<genesis>/units/<assignment>-<seed>.json   a unit of drilling: result and salt
//! DIR/<genesis>/stints/<seed>.laps               results of the laps of a stint, one after the other
//! DIR/<genesis>/stints/<report>-<seed>.json      a check of a report: digest and salt
//! DIR/<genesis>/disputes/<dispute>/moves.jsonl   moves in a dispute, from before they are sent
//! DIR/<genesis>/disputes/of-<job>-<key>/         what was computed for disputes with a defendant
//! DIR/<genesis>/disputes/accused/     accusations with their salts, and manifests of others
//! ```
//!
//! On Unix only the owner can look into the chain's folder: a salt that is read before it is
//! revealed shows what was committed.
//!
//! Folders carry the seed (or a hash of what is audited), so that a development chain that was
//! started from scratch with the same genesis never meets the files of its predecessor.

mod audits;
mod chains;
mod quota;
mod replays;
mod space;
mod stints;
mod units;

pub use audits::{result_folder, Accused, AskedRecord, AuditFolder, StandingRecord};
pub use chains::OtherChain;
pub use quota::{Quota, Unused};
pub use replays::SavedReplays;
pub use space::{is_here, Claimed, Space};
pub use stints::{CheckRecord, LapFile, LapTree};
pub use units::{Settled, UnitRecord};

#[cfg(test)]
pub(crate) use units::tests as unit_tests;

use codec::Encode;
use serde::{de::DeserializeOwned, Deserialize, Serialize};
use std::{
	collections::{BTreeMap, HashSet},
	ffi::OsString,
	path::{Path, PathBuf},
};
use trainyard_client::Findings;
use trainyard_program::spec::JobSpec;
use trainyard_proof::{
	bundle::{
		files::{self, FileError},
		lock::{Lock, LockError},
	},
	data::kept,
	hash,
	inputs::InputPaths,
};
use trainyard_protocol::{
	audit::Paths,
	job::{BlockNumber, WorkResult},
	JobId, H256,
};
use trainyard_transport::SecretKey;

const JOB_FILE: &str = "state.json";
const FINDINGS_FILE: &str = "findings.json";
const PORT_FILE: &str = "port";
const UDP_PORT_FILE: &str = "iroh-port";
const ENDPOINT_KEY_FILE: &str = "iroh.key";
const BLOBS_FILE: &str = "blobs.json";
/// The ending of the name of an unfinished download.
const PART: &str = ".part";
/// Longest state file that is read.
const MAX_STATE: u64 = 4 * 1024 * 1024;

/// Says why the daemon's folder cannot be used.
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
	/// The job has no record under this seed.
	#[error("nothing is known of job {job} under the assignment seed {seed:?}")]
	NoRecord {
		/// The job.
		job: JobId,
		/// The seed.
		seed: H256,
	},
	/// There is no place for the folder.
	#[error("there is no home folder ($XDG_DATA_HOME, $HOME) to work in: give a folder by --dir")]
	NoFolder,
}

/// A secret that blinds a commitment; 64 hex digits in files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(pub [u8; 32]);

impl Salt {
	/// Returns a fresh one from the system's randomness.
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
	/// The roots, and how many segments were trained.
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
	/// The result of the training.
	pub result: Option<WorkResult>,
	/// Seconds of training, over all runs that were not killed.
	pub seconds: f64,
	/// The commitment, from before it is sent.
	pub committed: Option<Committed>,
	/// Height at which the job was first seen ended.
	pub ended: Option<BlockNumber>,
	/// Whether its result was seen convicted after that.
	#[serde(default)]
	pub revoked: bool,
}

impl JobRecord {
	/// Makes the record of a job that was just given to this trainer.
	pub fn new(job: JobId, seed: H256, data: H256) -> Self {
		let (result, committed, ended, revoked) = Default::default();
		Self { job, seed, data, result, seconds: 0.0, committed, ended, revoked }
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
	/// The paths from the evidence in them to the roots of the results.
	pub paths: Paths,
	/// The salt.
	pub salt: Salt,
	/// How many rescues of each result there were when they were made.
	#[serde(default)]
	pub rescues: Vec<u32>,
	/// The findings that these replace: if they were committed to, they must be revealed where these
	/// came too late.
	#[serde(default, skip_serializing_if = "Option::is_none")]
	pub before: Option<Box<FindingsRecord>>,
}

impl FindingsRecord {
	/// Makes the record of the first findings of a round, of results that nobody rescued, with a
	/// fresh salt.
	pub fn new(job: JobId, round: u32, findings: Findings, paths: Paths) -> Self {
		let (rescues, before) = Default::default();
		Self { job, round, findings, paths, salt: Salt::random(), rescues, before }
	}
}

/// Returns the folder of a daemon that is given none: `trainyard/<role>-<account>` in
/// `$XDG_DATA_HOME`, or in `~/.local/share`.
pub fn default_folder(role: &str, account: &impl std::fmt::Display) -> Result<PathBuf, StoreError> {
	folder_in(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"), role, account)
		.ok_or(StoreError::NoFolder)
}

fn folder_in(
	data: Option<OsString>,
	home: Option<OsString>,
	role: &str,
	account: &impl std::fmt::Display,
) -> Option<PathBuf> {
	// A relative XDG_DATA_HOME is to be ignored (XDG Base Directory Specification).
	let data = data.map(PathBuf::from).filter(|path| path.is_absolute());
	let home = home.map(PathBuf::from).filter(|path| path.is_absolute());
	let share = data.or_else(|| home.map(|home| home.join(".local/share")))?;
	Some(share.join("trainyard").join(format!("{role}-{account}")))
}

/// A data file that no job needs, with its parts.
#[derive(Debug, Default)]
struct Idle {
	bytes: u64,
	/// Time of the last write.
	written: Option<std::time::SystemTime>,
	files: Vec<PathBuf>,
}

/// A daemon's folder, locked for this process.
pub struct Home {
	root: PathBuf,
	chain: PathBuf,
	/// Folders of other roles, whose bytes count as used here.
	beside: Vec<PathBuf>,
	_lock: Lock,
}

impl Home {
	/// Opens `root` for the chain named by `genesis`; creates what is missing.
	pub fn open(root: &Path, genesis: &H256) -> Result<Self, StoreError> {
		if !root.exists() {
			files::create_private_folder(root)?;
		}
		let lock = Lock::take(root)?;
		let chain = root.join(short(genesis));
		files::create_folder(&root.join("data"))?;
		for name in ["", "jobs", "audits", "units", "stints", "disputes"] {
			let folder = chain.join(name);
			files::create_private_folder(&folder)?;
		}
		files::remove_temporaries(root)?;
		Ok(Self { root: root.to_owned(), chain, beside: Vec::new(), _lock: lock })
	}

	/// Lets the bytes of these folders count as used here: their roles share a quota with this one.
	pub fn beside(self, folders: Vec<PathBuf>) -> Self {
		Self { beside: folders, ..self }
	}

	/// Returns where the file with this content hash is, or will be.
	pub fn data(&self, content_hash: &H256) -> PathBuf {
		self.root.join("data").join(hex::encode(content_hash))
	}

	/// Returns where the files that a job reads are, or will be, and its rows once they are decoded.
	pub fn inputs(&self, spec: &JobSpec) -> InputPaths {
		let paths = InputPaths::of(spec, |_, file| self.data(&file.content_hash));
		paths.with_rows_in(&self.root.join("data"), spec)
	}

	/// Returns the bytes that the decoded rows of a job will take; 0 once they are there.
	pub fn coming_rows(&self, spec: &JobSpec) -> u64 {
		let length = kept::length(&spec.dataset);
		let here = self.inputs(spec).rows.and_then(|path| std::fs::metadata(path).ok());
		match here.is_some_and(|about| about.len() == length) {
			true => 0,
			false => length,
		}
	}

	/// Returns the path of the log of events.
	pub fn events(&self) -> PathBuf {
		self.root.join("events.jsonl")
	}

	/// Returns the folder of a job that is trained.
	pub fn job_folder(&self, job: JobId, seed: &H256) -> PathBuf {
		self.chain.join("jobs").join(format!("{job}-{}", short(seed)))
	}

	/// Returns the folder of its bundle.
	pub fn bundle_folder(&self, job: JobId, seed: &H256) -> PathBuf {
		self.job_folder(job, seed).join("bundle")
	}

	/// Returns the folder of all deterministic tasks.
	pub fn tasks(&self) -> PathBuf {
		self.chain.join("tasks")
	}

	/// Returns the folder of all disputes.
	pub fn disputes(&self) -> PathBuf {
		self.chain.join("disputes")
	}

	/// Returns the folder of an audit: `subject` is everything that is audited in this round.
	pub fn audit_folder(&self, job: JobId, round: u32, subject: &impl Encode) -> PathBuf {
		let key = subject.using_encoded(hash::blake2_256);
		self.chain.join("audits").join(format!("{job}-{round}-{}", short(&key)))
	}

	/// Returns what is known of a job; `None` if it was never seen.
	pub fn load_job(&self, job: JobId, seed: &H256) -> Result<Option<JobRecord>, StoreError> {
		load(&self.job_folder(job, seed).join(JOB_FILE))
	}

	/// Writes a job's record; it is on disk when this returns.
	pub fn save_job(&self, record: &JobRecord) -> Result<(), StoreError> {
		let folder = self.job_folder(record.job, &record.seed);
		files::create_private_folder(&folder)?;
		save(&folder.join(JOB_FILE), record)
	}

	/// Removes everything that is kept of a job, including its bundle.
	pub fn remove_job(&self, job: JobId, seed: &H256) -> Result<(), StoreError> {
		let folder = self.job_folder(job, seed);
		match std::fs::remove_dir_all(&folder) {
			Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
				Err(files::at("remove", &folder)(e).into())
			}
			_ => Ok(()),
		}
	}

	/// Returns all jobs that have a record, and what is wrong with the records that cannot be read:
	/// a damaged one is no reason to give up the others.
	pub fn jobs(&self) -> Result<(Vec<JobRecord>, Vec<StoreError>), StoreError> {
		let folder = self.chain.join("jobs");
		let (mut records, mut problems) = (Vec::new(), Vec::new());
		let entries = std::fs::read_dir(&folder).map_err(files::at("read the folder", &folder))?;
		for entry in entries {
			let entry = entry.map_err(files::at("read the folder", &folder))?;
			match load::<JobRecord>(&entry.path().join(JOB_FILE)) {
				Ok(record) => records.extend(record),
				Err(e) => problems.push(e),
			}
		}
		records.sort_by_key(|r| r.job);
		Ok((records, problems))
	}

	/// Returns the bytes of everything in the folder, and in those with which it shares its quota.
	pub fn used(&self) -> Result<u64, StoreError> {
		let folders = std::iter::once(&self.root).chain(&self.beside);
		folders.map(|folder| Ok(files::size(folder)?)).sum()
	}

	/// Returns the bytes of everything that is kept of a job.
	pub fn written(&self, job: JobId, seed: &H256) -> Result<u64, StoreError> {
		Ok(files::size(&self.job_folder(job, seed))?)
	}

	/// Returns the bytes that the disk has left for this user; the largest number if the system
	/// does not report it.
	pub fn free(&self) -> u64 {
		fs4::available_space(&self.root).unwrap_or(u64::MAX)
	}

	/// Returns the bytes of data files, whole or not, except those in `keep`.
	pub fn idle_data(&self, keep: &HashSet<H256>) -> Result<u64, StoreError> {
		Ok(self.idle(keep)?.iter().fold(0, |sum, (_, idle)| sum.saturating_add(idle.bytes)))
	}

	/// Removes data files, oldest first, but none in `keep`, until `bytes` bytes are gained.
	/// Returns the content hashes of what was removed.
	pub fn evict(&self, keep: &HashSet<H256>, bytes: u64) -> Result<Vec<H256>, StoreError> {
		let mut idle = self.idle(keep)?;
		idle.sort_by_key(|(_, idle)| idle.written);
		let (mut gained, mut removed) = (0u64, Vec::new());
		for (hash, Idle { bytes: size, files, .. }) in idle {
			if gained >= bytes {
				break;
			}
			for file in files {
				match std::fs::remove_file(&file) {
					Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
						return Err(files::at("remove", &file)(e).into());
					}
					_ => {}
				}
			}
			gained = gained.saturating_add(size);
			removed.push(hash);
		}
		Ok(removed)
	}

	/// Returns data files that are not in `keep`, by content hash.
	fn idle(&self, keep: &HashSet<H256>) -> Result<Vec<(H256, Idle)>, StoreError> {
		let folder = self.root.join("data");
		let mut found: BTreeMap<H256, Idle> = BTreeMap::new();
		let entries = std::fs::read_dir(&folder).map_err(files::at("read the folder", &folder))?;
		for entry in entries {
			let entry = entry.map_err(files::at("read the folder", &folder))?;
			let name = entry.file_name().to_string_lossy().into_owned();
			let mut hash = H256::zero();
			// Rows that were decoded go with the file that they were made of.
			let text = match name.strip_suffix(PART).or(name.strip_suffix(kept::ENDING)) {
				Some(part) => part.split('.').next().unwrap_or_default(),
				None => name.as_str(),
			};
			// Files of others are left alone.
			if hex::decode_to_slice(text, &mut hash.0).is_err() || keep.contains(&hash) {
				continue;
			}
			let Ok(about) = entry.metadata() else { continue };
			let idle = found.entry(hash).or_default();
			idle.bytes = idle.bytes.saturating_add(about.len());
			idle.written = idle.written.max(about.modified().ok());
			idle.files.push(entry.path());
		}
		Ok(found.into_iter().collect())
	}

	/// Returns the blobs that this account stored, each with the job that it was stored for.
	pub fn blobs(&self) -> Result<BTreeMap<H256, JobId>, StoreError> {
		Ok(load(&self.chain.join(BLOBS_FILE))?.unwrap_or_default())
	}

	/// Returns the roots of the blobs that a daemon in this folder stored on a chain. It may be running.
	pub fn blobs_in(root: &Path, genesis: &H256) -> Result<Vec<H256>, StoreError> {
		let path = root.join(short(genesis)).join(BLOBS_FILE);
		let found: Option<BTreeMap<H256, JobId>> = load(&path)?;
		Ok(found.unwrap_or_default().into_keys().collect())
	}

	/// Writes what [`Self::blobs`] reads.
	pub fn save_blobs(&self, blobs: &BTreeMap<H256, JobId>) -> Result<(), StoreError> {
		save(&self.chain.join(BLOBS_FILE), blobs)
	}

	/// Returns the findings in an audit's folder.
	pub fn load_findings(&self, folder: &Path) -> Result<Option<FindingsRecord>, StoreError> {
		load(&folder.join(FINDINGS_FILE))
	}

	/// Writes findings; they are on disk when this returns.
	pub fn save_findings(&self, folder: &Path, record: &FindingsRecord) -> Result<(), StoreError> {
		files::create_private_folder(folder)?;
		save(&folder.join(FINDINGS_FILE), record)
	}

	/// Returns the port that was served on last time: locations on chain name it.
	pub fn last_port(&self) -> Option<u16> {
		std::fs::read_to_string(self.root.join(PORT_FILE)).ok()?.trim().parse().ok()
	}

	/// Remembers the port that is served on.
	pub fn save_port(&self, port: u16) -> Result<(), StoreError> {
		Ok(files::write(&self.root.join(PORT_FILE), format!("{port}\n").as_bytes())?)
	}

	/// Does what [`Self::last_port`] does for the UDP port of the endpoint.
	pub fn last_udp_port(&self) -> Option<u16> {
		std::fs::read_to_string(self.root.join(UDP_PORT_FILE)).ok()?.trim().parse().ok()
	}

	/// Remembers the UDP port of the endpoint.
	pub fn save_udp_port(&self, port: u16) -> Result<(), StoreError> {
		Ok(files::write(&self.root.join(UDP_PORT_FILE), format!("{port}\n").as_bytes())?)
	}

	/// Returns the key by which others know this machine's endpoint, made when it is first asked for:
	/// locations on chain name it.
	pub fn endpoint_key(&self) -> Result<SecretKey, StoreError> {
		endpoint_key(&self.root)
	}
}

/// Returns the key of the endpoint that works in this folder, made when it is first asked for.
pub(crate) fn endpoint_key(folder: &Path) -> Result<SecretKey, StoreError> {
	let path = folder.join(ENDPOINT_KEY_FILE);
	let wrong = |reason: &str| StoreError::Damaged { path: path.clone(), reason: reason.into() };
	match std::fs::read_to_string(&path) {
		Ok(text) => {
			let bytes = hex::decode(text.trim()).ok().and_then(|bytes| bytes.try_into().ok());
			let bytes: [u8; 32] = bytes.ok_or_else(|| wrong("not 64 hex digits"))?;
			Ok(SecretKey::from_bytes(&bytes))
		}
		Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
			let key = SecretKey::generate();
			let text = format!("{}\n", hex::encode(key.to_bytes()));
			files::write_private(&path, text.as_bytes())?;
			Ok(key)
		}
		Err(e) => Err(wrong(&e.to_string())),
	}
}

/// Returns the first 16 hex digits of a hash: enough for a folder's name.
fn short(hash: &H256) -> String {
	hex::encode(&hash.as_bytes()[..8])
}

/// Reads a value from a JSON file; `None` where there is none.
pub(crate) fn load<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StoreError> {
	if !path.exists() {
		return Ok(None);
	}
	let bytes = files::read(path, MAX_STATE)?;
	serde_json::from_slice(&bytes)
		.map(Some)
		.map_err(|e| StoreError::Damaged { path: path.to_owned(), reason: e.to_string() })
}

/// Writes what [`load`] reads; it is on disk when this returns.
pub(crate) fn save<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
	let mut bytes = serde_json::to_vec_pretty(value)
		.map_err(|e| StoreError::Damaged { path: path.to_owned(), reason: e.to_string() })?;
	bytes.push(b'\n');
	Ok(files::write_private(path, &bytes)?)
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
