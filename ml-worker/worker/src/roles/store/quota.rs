//! Keeps a role's folder within the bytes that its owner allows, and notes which folders are of no
//! use any more. Trainer and verifier share it.

use super::{Home, StoreError};
use std::collections::{BTreeMap, HashSet};
use trainyard_protocol::{job::BlockNumber, H256};

const MIB: u64 = 1024 * 1024;

/// The bytes that a role's folder may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota(u64);

/// What making room came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
	/// Content hashes of the data that were removed.
	pub removed: Vec<H256>,
	/// Bytes that are missing all the same.
	pub missing: u64,
}

impl Quota {
	/// Returns what was asked for in MiB, or else half of what is free now besides what is in `home`
	/// already.
	pub fn new(mib: Option<u64>, home: &Home) -> Self {
		Self(match mib {
			Some(mib) => mib.saturating_mul(MIB),
			None => home.used().unwrap_or_default().saturating_add(home.free() / 2),
		})
	}

	/// Returns a quota of that many bytes.
	pub fn of(bytes: u64) -> Self {
		Self(bytes)
	}

	/// Returns the whole quota in MiB, rounded down.
	pub fn mib(&self) -> u32 {
		u32::try_from(self.0 / MIB).unwrap_or(u32::MAX)
	}

	/// Returns the bytes that may still be written to `home`.
	pub fn left(&self, home: &Home) -> Result<u64, StoreError> {
		Ok(self.0.saturating_sub(home.used()?).min(home.free()))
	}

	/// Removes idle data, oldest first, but none in `keep`, until `coming` bytes may be written.
	pub fn make_room(
		&self,
		home: &Home,
		keep: &HashSet<H256>,
		coming: u64,
	) -> Result<Room, StoreError> {
		let missing = coming.saturating_sub(self.left(home)?);
		if missing == 0 {
			return Ok(Room::default());
		}
		let removed = home.evict(keep, missing)?;
		Ok(Room { removed, missing: coming.saturating_sub(self.left(home)?) })
	}
}

/// Since when folders are of no use. They stay for a while, because a reorganisation may bring back
/// what they are for.
#[derive(Debug)]
pub struct Unused<K> {
	since: BTreeMap<K, BlockNumber>,
}

impl<K> Default for Unused<K> {
	fn default() -> Self {
		Self { since: BTreeMap::new() }
	}
}

impl<K: Ord + Clone> Unused<K> {
	/// Notes that at height `best` nothing but these is of no use. Returns those that have been so
	/// for more than `grace` blocks.
	pub fn note(
		&mut self,
		unused: impl IntoIterator<Item = K>,
		best: BlockNumber,
		grace: BlockNumber,
	) -> Vec<K> {
		let before = std::mem::take(&mut self.since);
		let since = |key: &K| before.get(key).map_or(best, |since| best.min(*since));
		self.since = unused.into_iter().map(|key| (key.clone(), since(&key))).collect();
		let over = |since: &BlockNumber| best.saturating_sub(*since) > grace;
		self.since.iter().filter(|(_, since)| over(since)).map(|(key, _)| key.clone()).collect()
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn room_is_made_of_idle_data_and_what_is_missing_is_said() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		let hash = |n: u8| H256::repeat_byte(n);
		for n in 1..=3 {
			std::fs::write(home.data(&hash(n)), [n; 1_000]).unwrap();
		}
		let quota = Quota::of(home.used().unwrap() + 500);
		assert_eq!(quota.left(&home).unwrap(), 500);
		let keep = HashSet::from([hash(1), hash(2)]);
		assert_eq!(quota.make_room(&home, &keep, 500).unwrap(), Room::default());
		let made = quota.make_room(&home, &keep, 1_600).unwrap();
		assert_eq!(made, Room { removed: vec![hash(3)], missing: 100 });
		assert!(home.data(&hash(1)).exists(), "what is needed stays, whatever is missing");
		assert_eq!(Quota::new(Some(3), &home), Quota::of(3 * MIB));
		assert!(Quota::new(None, &home).left(&home).unwrap() > 0);
	}

	#[test]
	fn roles_that_share_a_quota_count_what_the_others_have() {
		let dir = tempfile::tempdir().unwrap();
		let other = dir.path().join("other");
		let home = Home::open(&dir.path().join("this"), &H256::zero()).unwrap();
		let alone = home.used().unwrap();
		let home = home.beside(vec![other.clone()]);
		assert_eq!(home.used().unwrap(), alone, "the other folder is not there yet");
		std::fs::create_dir(&other).unwrap();
		std::fs::write(other.join("states"), [1; 700]).unwrap();
		assert_eq!(home.used().unwrap(), alone + 700);
		let quota = Quota::of(alone + 1_000);
		assert_eq!(quota.left(&home).unwrap(), 300);
		assert_eq!(quota.make_room(&home, &HashSet::new(), 400).unwrap().missing, 100);
	}

	#[test]
	fn what_is_unused_for_long_goes_and_what_came_back_stays() {
		let mut unused = Unused::default();
		assert!(unused.note(["a", "b"], 100, 10).is_empty());
		assert!(unused.note(["a"], 105, 10).is_empty(), "b came back");
		assert!(unused.note(["a", "b"], 110, 10).is_empty());
		assert_eq!(unused.note(["a", "b"], 111, 10), ["a"]);
		assert_eq!(unused.note(["a", "b"], 121, 10), ["a", "b"]);
		// A chain that was started from scratch has smaller heights.
		assert!(unused.note(["a"], 5, 10).is_empty());
		assert_eq!(unused.note(["a"], 16, 10), ["a"]);
	}
}
