//! Lists and removes the folders of audits: `DIR/<genesis>/audits/<job>-<round>-<key>/`.

use super::{load, save, Home, StoreError};
use crate::roles::{
	disputes::{accusing::Brought, locked},
	replay::Scale,
};
use serde::{Deserialize, Serialize};
use std::{
	collections::{BTreeMap, BTreeSet, HashSet},
	path::{Path, PathBuf},
	sync::Mutex,
	time::SystemTime,
};
use trainyard_client::court::{Accusation, DisputeId};
use trainyard_proof::bundle::files;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	pieces::Piece,
	JobId,
};

/// The beginning of the name of the folder with what was fetched of a result.
const RESULT: &str = "result-";
const STANDING_FILE: &str = "standing.json";
/// Blocks between two looks at the chain in which no dispute comes and goes.
const MISSED: BlockNumber = 10;
/// Held while such a file is changed: a task that sends and the look at the chain both do that.
static CHANGING: Mutex<()> = Mutex::new(());

/// What a verifier asked for of a result in a round, from before it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedRecord {
	/// All that it asked for.
	pub pieces: Vec<Piece>,
	/// Those of them that only a replay showed to be needed, or a comparison of results.
	pub more: Vec<Piece>,
	/// Whether it is known to have come on chain.
	pub sent: bool,
}

/// An accusation of a seat while results stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accused {
	/// What is sent.
	pub accusation: Scale<Accusation>,
	/// What is known of whether it came to the court.
	#[serde(default)]
	pub brought: Brought,
	/// The height at which its dispute was last seen not to run.
	#[serde(default)]
	pub looked: BlockNumber,
	/// What challengers had lost against the defendant by then, in units of the currency.
	#[serde(default, with = "trainyard_program::text::decimal")]
	pub won: Balance,
	/// Whether the bond did not cover it when it was sent last.
	#[serde(default)]
	pub poor: bool,
	/// Whether it is not sent any more: its dispute was seen or lost, or the chain refused it.
	#[serde(default)]
	pub over: bool,
}

impl Accused {
	/// Makes one that was not sent yet.
	pub fn new(accusation: Accusation) -> Self {
		let (brought, looked, won, poor, over) = Default::default();
		Self { accusation: Scale(accusation), brought, looked, won, poor, over }
	}

	/// Notes what the chain shows at height `best`: the dispute of it that runs, and what challengers have
	/// lost against the defendant so far.
	pub fn note(&mut self, best: BlockNumber, runs: Option<DisputeId>, won: Balance) {
		if let Some(id) = runs {
			self.brought.see(id, best);
			self.over |= self.brought.is_settled(best);
			return;
		}
		// Whoever looks at every block sees each dispute of its own, so what is lost then is another's.
		let has_missed = best > self.looked.saturating_add(MISSED);
		let may_be_its = self.brought.dispute.is_some() || has_missed;
		self.over |= self.brought.is_over(best, Some(won > self.won && may_be_its));
		if !self.over && self.brought.sent.is_some() {
			// What was seen was on another fork.
			self.brought.dispute = None;
			(self.looked, self.won) = (best, won);
		}
	}
}

/// What a seat has done while results stand, from before it is sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StandingRecord {
	/// Whether it has replayed the evidence of another seat that it was drawn for.
	pub rechecked: bool,
	/// Whom it accuses.
	pub accused: Vec<Accused>,
	/// The results that it could not have when it revealed, and has looked at again.
	pub looked: BTreeSet<usize>,
	/// The results of which nobody showed it how far they move, and at which it has not looked again; each with the
	/// segment in which it moved farthest, once that is known: who shows it may be gone before it was replayed.
	#[serde(default)]
	pub unseen: BTreeMap<usize, Option<u32>>,
}

impl StandingRecord {
	/// Takes an accusation up. Returns whether that is new: nobody is accused twice.
	pub fn add(&mut self, accusation: Accusation) -> bool {
		let known = |it: &Accused| it.accusation.0.defendant == accusation.defendant;
		let is_new = !self.accused.iter().any(known);
		if is_new {
			self.accused.push(Accused::new(accusation));
		}
		is_new
	}
}

/// The folder of a round of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFolder {
	/// Where it is.
	pub path: PathBuf,
	/// The job that was audited.
	pub job: JobId,
	/// When its list of files changed last.
	pub changed: SystemTime,
}

/// Returns the folder in which the files of the result of this index are, in that of a round.
pub fn result_folder(folder: &Path, index: usize) -> PathBuf {
	folder.join(format!("{RESULT}{index}"))
}

fn asked_file(folder: &Path, index: usize) -> PathBuf {
	folder.join(format!("asked-{index}.json"))
}

fn named_file(folder: &Path, index: usize) -> PathBuf {
	folder.join(format!("named-{index}.json"))
}

impl Home {
	/// Returns the folders of all audits, those that changed last at the end.
	pub fn audits(&self) -> Result<Vec<AuditFolder>, StoreError> {
		let folder = self.chain.join("audits");
		let mut found = Vec::new();
		let entries = std::fs::read_dir(&folder).map_err(files::at("read the folder", &folder))?;
		for entry in entries {
			let entry = entry.map_err(files::at("read the folder", &folder))?;
			let name = entry.file_name().to_string_lossy().into_owned();
			// Files of others are left alone.
			let Some(Ok(job)) = name.split('-').next().map(str::parse) else { continue };
			let Ok(about) = entry.metadata() else { continue };
			let changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
			if about.is_dir() {
				found.push(AuditFolder { path: entry.path(), job, changed });
			}
		}
		found.sort_by_key(|folder| folder.changed);
		Ok(found)
	}

	/// Removes the folder of a round, with findings and salt.
	pub fn remove_audit(&self, folder: &Path) -> Result<(), StoreError> {
		remove(folder)
	}

	/// Returns what was asked for of the result of this index, in the folder of a round, and is not
	/// known to be here.
	pub fn load_asked(
		&self,
		folder: &Path,
		index: usize,
	) -> Result<Option<AskedRecord>, StoreError> {
		load(&asked_file(folder, index))
	}

	/// Writes what [`Self::load_asked`] reads; it is on disk when this returns.
	pub fn save_asked(
		&self,
		folder: &Path,
		index: usize,
		record: &AskedRecord,
	) -> Result<(), StoreError> {
		files::create_private_folder(folder)?;
		save(&asked_file(folder, index), record)
	}

	/// Forgets what was asked for of a result.
	pub fn forget_asked(&self, folder: &Path, index: usize) -> Result<(), StoreError> {
		let path = asked_file(folder, index);
		match std::fs::remove_file(&path) {
			Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
				Err(files::at("remove", &path)(e).into())
			}
			_ => Ok(()),
		}
	}

	/// Returns what this seat named of the result of this index in its round, and did not withdraw: that is in
	/// its share of the list of that result.
	pub fn load_named(&self, folder: &Path, index: usize) -> Result<BTreeSet<Piece>, StoreError> {
		Ok(load(&named_file(folder, index))?.unwrap_or_default())
	}

	/// Writes what [`Self::load_named`] reads; it is on disk when this returns.
	pub fn save_named(
		&self,
		folder: &Path,
		index: usize,
		named: &BTreeSet<Piece>,
	) -> Result<(), StoreError> {
		files::create_private_folder(folder)?;
		save(&named_file(folder, index), named)
	}

	/// Returns what was done in a round while results stood.
	pub fn load_standing(&self, folder: &Path) -> Result<StandingRecord, StoreError> {
		Ok(load(&folder.join(STANDING_FILE))?.unwrap_or_default())
	}

	/// Changes what [`Self::load_standing`] reads, and returns it; it is on disk then. Nobody else changes
	/// it so meanwhile.
	pub fn change_standing(
		&self,
		folder: &Path,
		change: impl FnOnce(&mut StandingRecord),
	) -> Result<StandingRecord, StoreError> {
		let _turn = locked(&CHANGING);
		let before = self.load_standing(folder)?;
		let mut record = before.clone();
		change(&mut record);
		if record != before {
			self.save_standing(folder, &record)?;
		}
		Ok(record)
	}

	/// Writes what [`Self::load_standing`] reads; it is on disk when this returns.
	pub fn save_standing(&self, folder: &Path, record: &StandingRecord) -> Result<(), StoreError> {
		files::create_private_folder(folder)?;
		save(&folder.join(STANDING_FILE), record)
	}

	/// Removes what was fetched for rounds that are not `in_use`, oldest first, until `bytes` bytes
	/// are gained. Findings and salts stay. Folders that are removed meanwhile are gone already.
	pub fn clear_audits(&self, in_use: &HashSet<PathBuf>, bytes: u64) -> Result<(), StoreError> {
		let mut gained = 0u64;
		for AuditFolder { path, .. } in self.audits()? {
			if in_use.contains(&path) {
				continue;
			}
			for result in results(&path)? {
				if gained >= bytes {
					return Ok(());
				}
				gained = gained.saturating_add(files::size(&result)?);
				remove(&result)?;
			}
		}
		Ok(())
	}
}

/// Returns the folders of results in that of a round; none if it is gone.
fn results(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
	let entries = match std::fs::read_dir(folder) {
		Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
		entries => entries.map_err(files::at("read the folder", folder))?,
	};
	let mut found = Vec::new();
	for entry in entries {
		let entry = entry.map_err(files::at("read the folder", folder))?;
		if entry.file_name().to_string_lossy().starts_with(RESULT) {
			found.push(entry.path());
		}
	}
	Ok(found)
}

fn remove(folder: &Path) -> Result<(), StoreError> {
	match std::fs::remove_dir_all(folder) {
		Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
			Err(files::at("remove", folder)(e).into())
		}
		_ => Ok(()),
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::store::FindingsRecord;
	use trainyard_client::{fake, GroupVerdict};
	use trainyard_protocol::H256;

	#[test]
	fn what_was_fetched_goes_and_salts_stay_until_the_folder_goes() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		let folder = |job: u32| {
			let folder = home.audit_folder(job, 0, &job);
			let findings = fake::findings(vec![GroupVerdict::Unavailable]);
			let record = FindingsRecord::new(job, 0, findings, Default::default());
			home.save_findings(&folder, &record).unwrap();
			files::create_folder(&result_folder(&folder, 0)).unwrap();
			files::write(&result_folder(&folder, 0).join("state"), &[1; 1_000]).unwrap();
			folder
		};
		let [old, running, new] = [7, 8, 9].map(folder);
		std::fs::write(dir.path().join("0000000000000000/audits/notes.txt"), "mine").unwrap();
		let jobs = |home: &Home| {
			let mut jobs: Vec<_> = home.audits().unwrap().iter().map(|a| a.job).collect();
			jobs.sort();
			jobs
		};
		assert_eq!(jobs(&home), [7, 8, 9]);
		home.clear_audits(&HashSet::from([running.clone()]), u64::MAX).unwrap();
		for (folder, there) in [(&old, false), (&running, true), (&new, false)] {
			assert_eq!(result_folder(folder, 0).exists(), there);
			assert!(home.load_findings(folder).unwrap().is_some(), "the salt is still there");
		}
		home.clear_audits(&HashSet::new(), 0).unwrap();
		assert!(result_folder(&running, 0).exists(), "no more than is asked for");
		home.remove_audit(&old).unwrap();
		home.remove_audit(&old).unwrap();
		assert_eq!(jobs(&home), [8, 9]);
		// Another task may remove a folder after it was listed.
		assert_eq!(results(&old).unwrap(), Vec::<PathBuf>::new());
		assert_eq!(results(&running).unwrap(), [result_folder(&running, 0)]);
		assert!(dir.path().join("0000000000000000/audits/notes.txt").exists());
	}
}
