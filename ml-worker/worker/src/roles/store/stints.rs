//! Keeps results of laps, and what a verifier found of others'.
//!
//! The results of a stint are 32 bytes each, one after the other, in a file that is named by the
//! stint's seed. A file that ends within a result was cut off by a kill: the part is forgotten.

use super::{load, save, short, Home, Salt, StoreError};
use codec::Encode;
use serde::{Deserialize, Serialize};
use std::{
	collections::{btree_map::Entry, BTreeMap},
	fs::File,
	io::{BufReader, Read, Seek, SeekFrom, Write},
	path::{Path, PathBuf},
	time::Duration,
};
use trainyard_proof::{bundle::files, hash};
use trainyard_protocol::{
	merkle,
	stint::{self, ReportId},
	H256,
};

/// Bytes of a result.
const RESULT: u64 = 32;
/// The ending of the name of a file of results.
const LAPS: &str = ".laps";
/// The ending of the name of the record of a check.
const CHECK: &str = ".json";
/// How long such a record is kept.
const CHECK_LIFE: Duration = Duration::from_secs(86_400);

/// How long the results of a stint are kept that nobody asks for: longer than any stint and its check.
const LAPS_LIFE: Duration = Duration::from_secs(7 * 86_400);

/// Returns how long ago a file was written.
fn age(entry: &std::fs::DirEntry) -> Duration {
	let written = entry.metadata().and_then(|data| data.modified());
	written.ok().and_then(|at| at.elapsed().ok()).unwrap_or_default()
}

/// What a verifier found of a report: what it commits to, and the salt that reveals it. It is written
/// before anything is sent, and never again with another digest or salt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRecord {
	/// Number of the report.
	pub report: ReportId,
	/// Seed of the stint.
	pub seed: H256,
	/// The laps that were computed again.
	pub samples: Vec<u32>,
	/// Digest of their results.
	pub digest: H256,
	/// The salt of the commitment.
	pub salt: Salt,
}

/// The file with the results of a stint.
pub struct LapFile {
	path: PathBuf,
	file: File,
	count: u32,
}

impl LapFile {
	/// Opens the file, or makes it.
	pub fn open(path: &Path) -> Result<Self, StoreError> {
		let mut options = File::options();
		options.read(true).write(true).create(true).truncate(false);
		let mut file = options.open(path).map_err(files::at("open", path))?;
		let bytes = file.metadata().map_err(files::at("read", path))?.len();
		let count = u32::try_from(bytes / RESULT).unwrap_or(u32::MAX);
		let whole = u64::from(count) * RESULT;
		file.set_len(whole).map_err(files::at("write", path))?;
		file.seek(SeekFrom::Start(whole)).map_err(files::at("write", path))?;
		Ok(Self { path: path.to_owned(), file, count })
	}

	/// Returns how many results there are.
	pub fn count(&self) -> u32 {
		self.count
	}

	/// Adds the next results.
	pub fn push(&mut self, results: &[H256]) -> Result<(), StoreError> {
		let bytes: Vec<u8> = results.iter().flat_map(|result| result.0).collect();
		self.file.write_all(&bytes).map_err(files::at("write", &self.path))?;
		self.count += results.len() as u32;
		Ok(())
	}

	/// Forgets all but the first `count` results.
	pub fn truncate(&mut self, count: u32) -> Result<(), StoreError> {
		let whole = u64::from(count) * RESULT;
		self.file.set_len(whole).map_err(files::at("write", &self.path))?;
		self.file.seek(SeekFrom::Start(whole)).map_err(files::at("write", &self.path))?;
		self.count = self.count.min(count);
		Ok(())
	}

	/// Returns the result with this number; fails where there is none.
	pub fn get(path: &Path, index: u32) -> Result<H256, StoreError> {
		Ok(Self::part(path, index, 1)?[0])
	}

	/// Returns `count` results from `first` on; fails where there are fewer.
	fn part(path: &Path, first: u32, count: u32) -> Result<Vec<H256>, StoreError> {
		let mut file = File::open(path).map_err(files::at("open", path))?;
		file.seek(SeekFrom::Start(u64::from(first) * RESULT)).map_err(files::at("read", path))?;
		let mut reader = BufReader::new(file);
		let mut results = Vec::with_capacity(count as usize);
		for _ in 0..count {
			let mut result = [0; RESULT as usize];
			reader.read_exact(&mut result).map_err(files::at("read", path))?;
			results.push(H256(result));
		}
		Ok(results)
	}
}

/// The Merkle tree over the first results of a file. Only nodes well above the leaves are in memory, so
/// that a stint of days fits; what lies below them is read again where it is opened.
pub struct LapTree {
	path: PathBuf,
	count: u32,
	/// Leaves below a node that is kept, as a power of two.
	shift: u32,
	nodes: Vec<H256>,
}

/// Leaves below a node that is kept: 4,096.
const SHIFT: u32 = 12;

/// Returns the level of a tree above this one. An odd last node goes up as it is.
fn above(level: &[H256]) -> Vec<H256> {
	level
		.chunks(2)
		.map(|pair| match pair {
			[left, right] => merkle::node(left, right),
			_ => pair[0],
		})
		.collect()
}

impl LapTree {
	/// Reads the first `count` results of the file, all of which are on disk when this returns.
	pub fn read(path: &Path, count: u32) -> Result<Self, StoreError> {
		Self::of(path, count, SHIFT)
	}

	fn of(path: &Path, count: u32, shift: u32) -> Result<Self, StoreError> {
		let file = File::open(path).map_err(files::at("open", path))?;
		file.sync_all().map_err(files::at("write", path))?;
		let mut tree = Self { path: path.to_owned(), count, shift, nodes: Vec::new() };
		for block in 0..count.div_ceil(1 << shift) {
			tree.nodes.push(merkle::root(&tree.leaves(block)?));
		}
		Ok(tree)
	}

	/// Returns the leaves below node `block`.
	fn leaves(&self, block: u32) -> Result<Vec<H256>, StoreError> {
		let first = block << self.shift;
		let count = (self.count - first).min(1 << self.shift);
		Ok(LapFile::part(&self.path, first, count)?.iter().map(stint::leaf).collect())
	}

	/// Returns the root.
	pub fn root(&self) -> H256 {
		merkle::root(&self.nodes)
	}

	/// Returns the results of these laps, ascending, and the hashes beside them that lead to the root.
	pub fn open(&self, samples: &[u32]) -> Result<(Vec<H256>, Vec<H256>), StoreError> {
		let results: Result<_, _> =
			samples.iter().map(|index| LapFile::get(&self.path, *index)).collect();
		let mut blocks = BTreeMap::new();
		for index in samples {
			let block = index >> self.shift;
			if let Entry::Vacant(place) = blocks.entry(block) {
				place.insert(self.leaves(block)?);
			}
		}
		let (mut known, mut siblings) = (samples.to_vec(), Vec::new());
		for level in 0..self.shift {
			for at in &known {
				let beside = at ^ 1;
				let block = at >> (self.shift - level);
				let within = (beside - (block << (self.shift - level))) as usize;
				let hash = blocks.get(&block).and_then(|level| level.get(within));
				if known.binary_search(&beside).is_err() {
					siblings.extend(hash);
				}
			}
			known.iter_mut().for_each(|at| *at /= 2);
			known.dedup();
			for level in blocks.values_mut() {
				*level = above(level);
			}
		}
		siblings.extend(merkle::proof_many(&self.nodes, &known).unwrap_or_default());
		Ok((results?, siblings))
	}
}

impl Home {
	/// Returns where the results of the stint with this seed are, or will be.
	pub fn laps(&self, seed: &H256) -> PathBuf {
		self.chain.join("stints").join(format!("{}{LAPS}", hex::encode(seed)))
	}

	/// Removes the results of the stints with the seeds `gone`, and those that are more than a week old
	/// and not `kept`: another process left them.
	pub fn remove_laps(&self, gone: &[H256], kept: &[H256]) -> Result<(), StoreError> {
		let folder = self.chain.join("stints");
		let paths = |seeds: &[H256]| seeds.iter().map(|s| self.laps(s)).collect::<Vec<PathBuf>>();
		let (gone, kept) = (paths(gone), paths(kept));
		let entries = std::fs::read_dir(&folder).map_err(files::at("read the folder", &folder))?;
		for entry in entries {
			let entry = entry.map_err(files::at("read the folder", &folder))?;
			let path = entry.path();
			let laps = path.to_string_lossy().ends_with(LAPS);
			let left = laps && !kept.contains(&path) && age(&entry) > LAPS_LIFE;
			if gone.contains(&path) || left {
				std::fs::remove_file(&path).map_err(files::at("remove", &path))?;
			}
		}
		Ok(())
	}

	/// Other samples, as another branch of the chain draws them, have a file of their own: so a salt that
	/// was committed with is never lost.
	fn check_file(&self, report: ReportId, seed: &H256, samples: &[u32]) -> PathBuf {
		let drawn = (seed, samples).using_encoded(hash::blake2_256);
		self.chain.join("stints").join(format!("{report}-{}{CHECK}", short(&drawn)))
	}

	/// Returns what was found of these samples of a report; `None` if nothing was computed.
	pub fn load_check(
		&self,
		report: ReportId,
		seed: &H256,
		samples: &[u32],
	) -> Result<Option<CheckRecord>, StoreError> {
		load(&self.check_file(report, seed, samples))
	}

	/// Writes what was found of a report; it is on disk when this returns.
	pub fn save_check(&self, record: &CheckRecord) -> Result<(), StoreError> {
		save(&self.check_file(record.report, &record.seed, &record.samples), record)
	}

	/// Forgets what was found more than a day ago: no check takes so long.
	pub fn forget_checks(&self) -> Result<(), StoreError> {
		let folder = self.chain.join("stints");
		let entries = std::fs::read_dir(&folder).map_err(files::at("read the folder", &folder))?;
		for entry in entries {
			let entry = entry.map_err(files::at("read the folder", &folder))?;
			let path = entry.path();
			if path.to_string_lossy().ends_with(CHECK) && age(&entry) > CHECK_LIFE {
				std::fs::remove_file(&path).map_err(files::at("remove", &path))?;
			}
		}
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn results_are_kept_in_order_and_a_cut_one_is_forgotten() {
		let folder = tempfile::tempdir().unwrap();
		let home = Home::open(folder.path(), &H256::zero()).unwrap();
		let path = home.laps(&H256([1; 32]));
		let all: Vec<H256> = (0..5).map(|i| H256([i; 32])).collect();
		let mut file = LapFile::open(&path).unwrap();
		file.push(&all[..3]).unwrap();
		assert_eq!(file.count(), 3);
		drop(file);
		// Killed within the fourth.
		File::options().append(true).open(&path).unwrap().write_all(&[9; 20]).unwrap();
		let mut file = LapFile::open(&path).unwrap();
		assert_eq!(file.count(), 3);
		file.truncate(2).unwrap();
		assert_eq!(file.count(), 2);
		file.push(&all[2..]).unwrap();
		assert_eq!(LapFile::part(&path, 0, 5).unwrap(), all);
		assert_eq!(LapFile::part(&path, 1, 2).unwrap(), all[1..3]);
		assert_eq!(LapFile::get(&path, 4).unwrap(), all[4]);
		assert!(LapFile::get(&path, 5).is_err());

		let other = home.laps(&H256([2; 32]));
		drop(LapFile::open(&other).unwrap());
		home.remove_laps(&[], &[]).unwrap();
		assert!(other.exists() && path.exists(), "neither is old");
		home.remove_laps(&[H256([1; 32])], &[H256([2; 32])]).unwrap();
		assert!(other.exists() && !path.exists());
	}

	/// Whatever is in memory, it is the tree of the protocol.
	#[test]
	fn a_tree_opens_as_the_protocol_does() {
		let folder = tempfile::tempdir().unwrap();
		let path = folder.path().join("laps");
		let all: Vec<H256> = (0..70).map(|i| stint::lap_seed(&H256::zero(), i)).collect();
		let mut file = LapFile::open(&path).unwrap();
		file.push(&all).unwrap();
		let leaves: Vec<H256> = all.iter().map(stint::leaf).collect();
		for count in 1..=70u32 {
			let root = merkle::root(&leaves[..count as usize]);
			for shift in [0, 1, 2, 3, 12] {
				let tree = LapTree::of(&path, count, shift).unwrap();
				assert_eq!(tree.root(), root, "{count} {shift}");
				for draw in 0..20 {
					let samples = stint::samples(&H256([draw; 32]), count);
					let (results, siblings) = tree.open(&samples).unwrap();
					let found = merkle::proof_many(&leaves[..count as usize], &samples);
					assert_eq!(Some(&siblings), found.as_ref(), "{count} {shift} {samples:?}");
					assert!(stint::opens(&root, count, &samples, &results, &siblings));
				}
			}
		}
		assert!(LapTree::read(&path, 71).is_err());
	}

	#[test]
	fn a_check_is_found_again() {
		let folder = tempfile::tempdir().unwrap();
		let home = Home::open(folder.path(), &H256::zero()).unwrap();
		let record = CheckRecord {
			report: 7,
			seed: H256([3; 32]),
			samples: vec![1, 5],
			digest: H256([4; 32]),
			salt: Salt::random(),
		};
		let load = |seed, samples: &[u32]| home.load_check(7, &seed, samples).unwrap();
		assert_eq!(load(record.seed, &[1, 5]), None);
		home.save_check(&record).unwrap();
		assert_eq!(load(record.seed, &[1, 5]), Some(record.clone()));
		assert_eq!((load(H256::zero(), &[1, 5]), load(record.seed, &[1, 6])), (None, None));
		// Nor is it taken for results, and it is kept for a day.
		home.remove_laps(&[], &[]).unwrap();
		home.forget_checks().unwrap();
		assert!(load(record.seed, &[1, 5]).is_some());
	}
}
