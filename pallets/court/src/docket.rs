//! Dockets: which of a defendant's disputes it has to answer now.
//!
//! A defendant cannot answer a thousand challenges at a time, so its clock runs in two of them: the one
//! with the largest deposit, and the oldest of the others. Who is in the right and has little money
//! becomes the oldest; who has more need not wait for that.
//!
//! A docket holds [`DOCKET`] disputes in the order of their age. One that is full takes a newcomer in the
//! place of the least deposit among its younger half, if the newcomer's is larger; otherwise it is the
//! newcomer that is set aside. The older half is safe, or whoever keeps coming with a larger deposit
//! could keep a true challenge out for ever. What was set aside comes back when there is room, the
//! oldest first.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::cmp::Reverse;
use frame_support::{traits::ConstU32, BoundedVec};
use scale_info::TypeInfo;
use trainyard_protocol::job::{Balance, BlockNumber};
use trainyard_traits::DisputeId;

/// Most disputes of a docket.
pub const DOCKET: u32 = 64;
/// How many of them, the oldest, no newcomer displaces.
pub const SAFE: usize = 32;

/// How old a dispute is: the height of its commitment, and its number. The smaller, the older.
pub type Age = (BlockNumber, DisputeId);

/// The key of an [`Age`] in a map whose keys are in order.
pub type AgeKey = [u8; 12];

/// Returns the key of an age: big endian, so that keys are in the order of the ages.
pub fn age_key((height, id): Age) -> AgeKey {
	let mut key = [0; 12];
	let (first, last) = key.split_at_mut(4);
	first.copy_from_slice(&height.to_be_bytes());
	last.copy_from_slice(&id.to_be_bytes());
	key
}

/// One dispute in a docket.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Entry {
	/// How old it is, and its number.
	pub age: Age,
	/// Its deposit.
	pub deposit: Balance,
	/// Whether the defender is to move in it.
	pub waits: bool,
}

impl Entry {
	/// Returns the number of the dispute.
	pub fn id(&self) -> DisputeId {
		self.age.1
	}
}

/// The disputes of one defendant that take part, the oldest first.
#[derive(
	Clone,
	Debug,
	Default,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Docket(BoundedVec<Entry, ConstU32<DOCKET>>);

/// The disputes in which the defender's clock runs: the one with the largest deposit, and the oldest of
/// the others.
pub type Heard = [Option<DisputeId>; 2];

impl Docket {
	/// Returns the disputes in it, the oldest first.
	pub fn entries(&self) -> &[Entry] {
		&self.0
	}

	/// Returns whether there is no dispute in it.
	pub fn is_empty(&self) -> bool {
		self.0.is_empty()
	}

	/// Returns whether another dispute displaces one.
	pub fn is_full(&self) -> bool {
		self.0.is_full()
	}

	/// Returns the dispute with this number.
	pub fn get(&self, id: DisputeId) -> Option<&Entry> {
		self.0.iter().find(|entry| entry.id() == id)
	}

	/// Returns which disputes are heard. Of equal deposits the older counts as larger.
	pub fn heard(&self) -> Heard {
		let waits = || self.0.iter().filter(|entry| entry.waits);
		let first = waits().max_by_key(|entry| (entry.deposit, Reverse(entry.age)));
		let first = first.map(Entry::id);
		let second = waits().map(Entry::id).find(|id| Some(*id) != first);
		[first, second]
	}

	/// Returns how many disputes in it come before this one by their deposits, and by their ages where
	/// these are equal.
	pub fn rank(&self, of: &Entry) -> u32 {
		let key = |entry: &Entry| (Reverse(entry.deposit), entry.age);
		let before = self.0.iter().filter(|entry| key(entry) < key(of)).count();
		u32::try_from(before).unwrap_or(DOCKET)
	}

	/// Adds a dispute. Returns what has no place: where the docket is full that is the dispute with the
	/// least deposit behind the [`SAFE`] oldest, the youngest of such, or `entry` itself if its deposit is
	/// not larger.
	pub fn add(&mut self, entry: Entry) -> Option<Entry> {
		let displaced = if self.is_full() {
			let least = self
				.0
				.iter()
				.enumerate()
				.skip(SAFE)
				.min_by_key(|(_, other)| (other.deposit, Reverse(other.age)))
				.map(|(at, other)| (at, *other));
			match least.filter(|(_, least)| least.deposit < entry.deposit) {
				Some((at, least)) => {
					self.0.remove(at);
					Some(least)
				}
				None => return Some(entry),
			}
		} else {
			None
		};
		let at = self.0.iter().position(|other| other.age > entry.age).unwrap_or(self.0.len());
		// There is room.
		self.0.try_insert(at, entry).err().or(displaced)
	}

	/// Changes a dispute, which keeps its age. Returns whether it is there.
	pub fn change(&mut self, id: DisputeId, change: impl FnOnce(&mut Entry)) -> bool {
		let found = self.0.iter_mut().find(|entry| entry.id() == id);
		found.map(change).is_some()
	}

	/// Removes a dispute. Returns whether it was there.
	pub fn remove(&mut self, id: DisputeId) -> bool {
		let at = self.0.iter().position(|entry| entry.id() == id);
		at.map(|at| self.0.remove(at)).is_some()
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	fn entry(id: DisputeId, deposit: Balance) -> Entry {
		Entry { age: (1, id), deposit, waits: true }
	}

	fn of(deposits: &[Balance]) -> Docket {
		let mut docket = Docket::default();
		for (id, deposit) in (0..).zip(deposits) {
			assert_eq!(docket.add(entry(id, *deposit)), None);
		}
		docket
	}

	#[test]
	fn keys_are_in_the_order_of_ages() {
		let ages = [(0, 0), (0, 1), (0, 256), (1, 0), (1, u64::MAX), (256, 0), (u32::MAX, 7)];
		assert!(ages.map(age_key).is_sorted());
	}

	#[test]
	fn the_largest_and_the_oldest_of_the_others_are_heard() {
		assert_eq!(of(&[]).heard(), [None, None]);
		assert_eq!(of(&[5]).heard(), [Some(0), None]);
		assert_eq!(of(&[5, 5, 5]).heard(), [Some(0), Some(1)]);
		assert_eq!(of(&[5, 6, 7, 7]).heard(), [Some(2), Some(0)]);
		let mut docket = of(&[5, 6, 7, 7]);
		let ranks: Vec<u32> = docket.entries().iter().map(|entry| docket.rank(entry)).collect();
		assert_eq!(ranks, [3, 2, 0, 1]);
		assert_eq!(docket.rank(&entry(9, 6)), 3);
		// Those in which the challenger is to move take no place.
		assert!(docket.change(2, |entry| entry.waits = false));
		assert!(docket.change(0, |entry| entry.waits = false));
		assert_eq!(docket.heard(), [Some(3), Some(1)]);
		assert!(docket.remove(3) && !docket.remove(3) && !docket.change(3, |_| ()));
		assert_eq!(docket.heard(), [Some(1), None]);
	}

	#[test]
	fn age_is_the_height_of_the_commitment() {
		let mut docket = of(&[5, 5]);
		assert_eq!(docket.add(Entry { age: (0, 9), deposit: 5, waits: true }), None);
		assert_eq!(docket.entries()[0].id(), 9);
		assert_eq!(docket.heard(), [Some(9), Some(0)]);
	}

	#[test]
	fn a_full_docket_keeps_its_older_half_and_the_larger_deposits() {
		// The older half has the least deposits.
		let deposits: Vec<Balance> = (0..64).map(|id| if id < 32 { 1 } else { id }).collect();
		let mut docket = of(&deposits);
		assert!(docket.is_full());
		let small = entry(100, 32);
		assert_eq!(docket.add(small), Some(small), "not larger than the least");
		assert_eq!(docket.add(entry(101, 33)), Some(entry(32, 32)));
		assert_eq!(docket.add(entry(102, 99)), Some(entry(101, 33)), "the younger of equals");
		assert_eq!(docket.entries().len(), 64);
		assert!(docket.entries().is_sorted_by_key(|entry| entry.age));
		assert!((0..32).all(|id| docket.get(id).is_some()));
		assert_eq!(docket.heard(), [Some(102), Some(0)]);
	}
}
