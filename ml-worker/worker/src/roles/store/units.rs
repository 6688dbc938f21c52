//! Keeps records of units of drilling: one file each,
//! `DIR/<genesis>/units/<assignment>-<seed>.json`.

use super::{load, save, short, Home, Salt, StoreError};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use trainyard_proof::bundle::files;
use trainyard_protocol::{
	drill::{AssignmentId, ProjectId, UnitResult},
	job::BlockNumber,
	MicroUt, H256,
};

/// The ending of the name of a record.
const ENDING: &str = ".json";

/// A unit that was computed: what is committed, and the salt that reveals it. It is written before
/// anything is sent, and never again with a different result or salt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitRecord {
	/// Number of the assignment.
	pub assignment: AssignmentId,
	/// Its project.
	pub project: ProjectId,
	/// Number of the unit in the project.
	pub index: u32,
	/// Seed of the unit.
	pub seed: H256,
	/// Its result.
	pub result: UnitResult,
	/// The salt of the commitment.
	pub salt: Salt,
	/// What the result is worth if it is agreed on.
	pub work: MicroUt,
	/// Seconds of computing it.
	pub seconds: f64,
	/// Height at which it was begun.
	pub height: BlockNumber,
	/// Its outcome, once that is known.
	pub settled: Option<Settled>,
}

/// The outcome of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
	/// Whether this result is the unit's.
	pub agreed: bool,
	/// Height at which that was seen.
	pub at: BlockNumber,
}

impl Home {
	fn unit_file(&self, assignment: AssignmentId, seed: &H256) -> PathBuf {
		self.chain.join("units").join(format!("{assignment}-{}{ENDING}", short(seed)))
	}

	/// Returns the name under which room is claimed for what a unit fetches. Nothing is there: its data
	/// go into the cache.
	pub fn unit_room(&self, name: &str) -> PathBuf {
		self.chain.join("units").join("room").join(name)
	}

	/// Returns what is known of a unit; `None` if it was not computed.
	pub fn load_unit(
		&self,
		assignment: AssignmentId,
		seed: &H256,
	) -> Result<Option<UnitRecord>, StoreError> {
		load(&self.unit_file(assignment, seed))
	}

	/// Writes a unit's record; it is on disk when this returns.
	pub fn save_unit(&self, record: &UnitRecord) -> Result<(), StoreError> {
		save(&self.unit_file(record.assignment, &record.seed), record)
	}

	/// Forgets a unit.
	pub fn remove_unit(&self, assignment: AssignmentId, seed: &H256) -> Result<(), StoreError> {
		let path = self.unit_file(assignment, seed);
		match std::fs::remove_file(&path) {
			Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
				Err(files::at("remove", &path)(e).into())
			}
			_ => Ok(()),
		}
	}

	/// Returns all units that have a record, by number of the assignment, and what is wrong with
	/// the records that cannot be read.
	pub fn units(&self) -> Result<(Vec<UnitRecord>, Vec<StoreError>), StoreError> {
		let folder = self.chain.join("units");
		let (mut records, mut problems) = (Vec::new(), Vec::new());
		let entries = std::fs::read_dir(&folder).map_err(files::at("read the folder", &folder))?;
		for entry in entries {
			let entry = entry.map_err(files::at("read the folder", &folder))?;
			if !entry.file_name().to_string_lossy().ends_with(ENDING) {
				continue;
			}
			match load::<UnitRecord>(&entry.path()) {
				Ok(record) => records.extend(record),
				Err(e) => problems.push(e),
			}
		}
		records.sort_by_key(|record| record.assignment);
		Ok((records, problems))
	}
}

#[cfg(test)]
pub(crate) mod tests {
	use super::*;

	/// Makes a unit as it is on disk.
	pub(crate) fn record(assignment: AssignmentId) -> UnitRecord {
		UnitRecord {
			assignment,
			project: 2,
			index: 5,
			seed: H256::repeat_byte(8),
			result: UnitResult { state: H256::repeat_byte(1), score: None },
			salt: Salt([9; 32]),
			work: 1_234,
			seconds: 0.5,
			height: 40,
			settled: None,
		}
	}

	#[test]
	fn records_outlive_the_process_and_damaged_ones_are_reported() {
		let dir = tempfile::tempdir().unwrap();
		let genesis = H256::repeat_byte(7);
		let (one, two) = (record(3), UnitRecord { seed: H256::repeat_byte(9), ..record(3) });
		{
			let home = Home::open(dir.path(), &genesis).unwrap();
			assert_eq!(home.load_unit(3, &one.seed).unwrap(), None);
			home.save_unit(&one).unwrap();
			home.save_unit(&two).unwrap();
		}
		let home = Home::open(dir.path(), &genesis).unwrap();
		// The same assignment of a chain that was started from scratch has a different seed.
		assert_eq!(home.load_unit(3, &one.seed).unwrap().unwrap(), one);
		assert_eq!(home.load_unit(3, &two.seed).unwrap().unwrap(), two);
		assert_eq!(home.units().unwrap().0.len(), 2);
		std::fs::write(home.unit_file(3, &two.seed), b"{").unwrap();
		let error = home.load_unit(3, &two.seed).unwrap_err().to_string();
		assert!(error.contains("cannot be understood"), "{error}");
		let (records, problems) = home.units().unwrap();
		assert_eq!((records, problems.len()), (vec![one.clone()], 1));
		home.remove_unit(3, &one.seed).unwrap();
		home.remove_unit(3, &one.seed).unwrap();
		assert!(home.units().unwrap().0.is_empty());
	}

	#[cfg(unix)]
	#[test]
	fn salts_are_for_their_owner_only() {
		use std::os::unix::fs::PermissionsExt;
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		home.save_unit(&record(1)).unwrap();
		let file = home.unit_file(1, &record(1).seed);
		let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
		assert_eq!(mode(&file) & 0o777, 0o600);
		assert_eq!(mode(file.parent().unwrap()) & 0o777, 0o700);
	}
}
