//! What the account earned by hour and by role, to the last unit, as it is on disk.
//!
//! The ledger follows final blocks, one after the other: what it says is never taken back. Whatever a
//! balance moved and no event explains is booked as *other*, so the opening balance and all entries are
//! the balance at every block.

use super::{
	booking::{Block, Entry, Kind},
	part::Part,
};
use crate::roles::store::{self, StoreError};
use serde::{Deserialize, Serialize};
use std::{
	collections::BTreeMap,
	path::{Path, PathBuf},
};
use trainyard_client::AccountId32;
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	H256,
};

/// Milliseconds of an hour.
pub const HOUR: u64 = 3_600_000;
/// Hours that are kept one by one: a month. Older ones are one sum.
const KEPT: usize = 31 * 24;

/// An amount of money that came or went, in units of the currency; in files a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount(pub i128);

impl Serialize for Amount {
	fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
		s.serialize_str(&self.0.to_string())
	}
}

impl<'de> Deserialize<'de> for Amount {
	fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
		let text = String::deserialize(d)?;
		text.parse().map(Self).map_err(serde::de::Error::custom)
	}
}

/// What came and went by role, and what was credited as power.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
	/// Money by role and by what it was for.
	pub money: BTreeMap<Part, BTreeMap<Kind, Amount>>,
	/// Work credited as power by role, in micro-ut.
	pub power: BTreeMap<Part, i64>,
}

impl Sums {
	fn add(&mut self, part: Part, kind: Kind, amount: i128) {
		let sum = self.money.entry(part).or_default().entry(kind).or_default();
		sum.0 = sum.0.saturating_add(amount);
	}

	fn add_power(&mut self, part: Part, work: i64) {
		let sum = self.power.entry(part).or_default();
		*sum = sum.saturating_add(work);
	}

	/// Adds all of another.
	pub fn add_all(&mut self, other: &Self) {
		for (part, kinds) in &other.money {
			for (kind, amount) in kinds {
				self.add(*part, *kind, amount.0);
			}
		}
		for (part, work) in &other.power {
			self.add_power(*part, *work);
		}
	}

	/// Returns all money of a role.
	pub fn of(&self, part: Part) -> i128 {
		let kinds = self.money.get(&part);
		kinds.map_or(0, |kinds| kinds.values().map(|amount| amount.0).sum())
	}

	/// Returns all money.
	pub fn all(&self) -> i128 {
		self.money.keys().map(|part| self.of(*part)).sum()
	}
}

/// A balance, free and held together, at a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
	/// Height.
	pub block: BlockNumber,
	/// Hash.
	pub hash: H256,
	/// Its time, in milliseconds since 1970.
	pub time: u64,
	/// The balance.
	#[serde(with = "trainyard_program::text::decimal")]
	pub balance: Balance,
}

/// The ledger of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
	/// Whose.
	pub account: AccountId32,
	/// Where it began.
	pub opened: Point,
	/// The last block that it has.
	pub at: Point,
	/// By the hour in which it came, in milliseconds since 1970.
	pub hours: BTreeMap<u64, Sums>,
	/// What is older than the hours.
	pub before: Sums,
}

impl Ledger {
	/// Opens a ledger.
	pub fn open(account: AccountId32, opened: Point) -> Self {
		let (hours, before) = Default::default();
		Self { account, opened, at: opened, hours, before }
	}

	/// Reads the ledger in `folder`; `None` where there is none.
	pub fn load(folder: &Path) -> Result<Option<Self>, StoreError> {
		store::load(&path(folder))
	}

	/// Writes it; it is on disk when this returns.
	pub fn save(&self, folder: &Path) -> Result<(), StoreError> {
		store::save(&path(folder), self)
	}

	/// Puts the ledger in `folder` aside, which is of another chain or of another account.
	pub fn put_aside(folder: &Path) -> std::io::Result<()> {
		let path = path(folder);
		std::fs::rename(&path, path.with_extension("old.json"))
	}

	/// Takes over what a block did. Returns the entries that it made of it.
	pub fn note(&mut self, at: Point, block: &Block) -> Vec<Entry> {
		let mut entries = block.entries.clone();
		let told: i128 = entries.iter().map(|entry| entry.amount).sum();
		let whole = |balance: Balance| i128::try_from(balance).unwrap_or(i128::MAX);
		let rest = whole(at.balance) - whole(self.at.balance) - told;
		if rest != 0 {
			let (part, kind, job) = (Part::Account, Kind::Other, None);
			entries.push(Entry { part, kind, amount: rest, job });
		}
		if !entries.is_empty() || !block.power.is_empty() {
			let hour = self.hours.entry(at.time / HOUR * HOUR).or_default();
			entries.iter().for_each(|entry| hour.add(entry.part, entry.kind, entry.amount));
			block.power.iter().for_each(|power| hour.add_power(power.part, power.work));
		}
		while self.hours.len() > KEPT {
			if let Some((_, oldest)) = self.hours.pop_first() {
				self.before.add_all(&oldest);
			}
		}
		self.at = at;
		entries
	}

	/// Returns everything since it was opened.
	pub fn all(&self) -> Sums {
		self.since(0, self.before.clone())
	}

	/// Returns everything of the hours that begin at `from` or later.
	pub fn since_hour(&self, from: u64) -> Sums {
		self.since(from, Sums::default())
	}

	fn since(&self, from: u64, mut sums: Sums) -> Sums {
		self.hours.range(from..).for_each(|(_, hour)| sums.add_all(hour));
		sums
	}
}

fn path(folder: &Path) -> PathBuf {
	folder.join("ledger.json")
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::roles::work::booking::Power;

	fn point(block: BlockNumber, hour: u64, balance: Balance) -> Point {
		Point { block, hash: H256::repeat_byte(block as u8), time: hour * HOUR + 7, balance }
	}

	fn entry(part: Part, kind: Kind, amount: i128) -> Entry {
		Entry { part, kind, amount, job: None }
	}

	fn block(entries: &[Entry]) -> Block {
		Block { entries: entries.to_vec(), power: Vec::new() }
	}

	fn is_whole(ledger: &Ledger) -> bool {
		ledger.opened.balance as i128 + ledger.all().all() == ledger.at.balance as i128
	}

	#[test]
	fn what_came_in_an_hour_is_of_that_hour_and_nothing_is_lost() {
		let account = AccountId32([1; 32]);
		let mut ledger = Ledger::open(account, point(10, 100, 1_000));
		let pay = entry(Part::Trainer, Kind::Pay, 50);
		let fee = entry(Part::Trainer, Kind::Transactions, -3);
		assert_eq!(ledger.note(point(11, 100, 1_047), &block(&[pay, fee])), [pay, fee]);
		let check = entry(Part::Verifier, Kind::Checks, 5);
		let power = Power { part: Part::Driller, work: 70 };
		ledger.note(point(12, 101, 1_052), &Block { entries: vec![check], power: vec![power] });
		assert!(is_whole(&ledger));
		assert_eq!(ledger.all().of(Part::Trainer), 47);
		let last = ledger.since_hour(101 * HOUR);
		assert_eq!((last.of(Part::Trainer), last.of(Part::Verifier)), (0, 5));
		assert_eq!(last.power[&Part::Driller], 70);
		// Blocks in which nothing happened make no hours.
		ledger.note(point(13, 102, 1_052), &Block::default());
		assert_eq!((ledger.hours.len(), ledger.at.block), (2, 13));
	}

	#[test]
	fn what_no_event_tells_is_booked_as_other() {
		let mut ledger = Ledger::open(AccountId32([1; 32]), point(10, 1, 1_000));
		let pay = entry(Part::Trainer, Kind::Pay, 50);
		let entries = ledger.note(point(11, 1, 1_030), &block(&[pay]));
		assert_eq!(entries, [pay, entry(Part::Account, Kind::Other, -20)]);
		assert!(is_whole(&ledger));
	}

	#[test]
	fn it_survives_a_restart_and_old_hours_become_one_sum() {
		let folder = tempfile::tempdir().unwrap();
		assert_eq!(Ledger::load(folder.path()).unwrap(), None);
		let mut ledger = Ledger::open(AccountId32([1; 32]), point(0, 0, u128::from(u64::MAX) * 9));
		let begun = ledger.opened.balance;
		for hour in 1..=KEPT as u64 + 5 {
			let pay = entry(Part::Trainer, Kind::Pay, 2);
			ledger.note(point(hour as u32, hour, begun + 2 * Balance::from(hour)), &block(&[pay]));
		}
		assert_eq!((ledger.hours.len(), ledger.before.of(Part::Trainer)), (KEPT, 10));
		assert!(is_whole(&ledger));
		ledger.save(folder.path()).unwrap();
		assert_eq!(Ledger::load(folder.path()).unwrap(), Some(ledger));
		Ledger::put_aside(folder.path()).unwrap();
		assert_eq!(Ledger::load(folder.path()).unwrap(), None);
	}
}
