//! The tickets that a maker was given, on disk: what it is owed, and by whom.
//!
//! A ticket is a file of its own, written before the maker serves anything for it. It stays until it was paid
//! and has expired, or has expired unpaid for a while: then nobody can be made to pay it any more.

use super::ticket::{Refusal, Signed};
use crate::roles::store::{load, save, StoreError};
use serde::{Deserialize, Serialize};
use std::{
	collections::{BTreeMap, BTreeSet},
	path::{Path, PathBuf},
};
use trainyard_client::AccountId32;
use trainyard_proof::bundle::files;
use trainyard_protocol::{job::BlockNumber, swarm::MAX_TICKETS, H256};

/// Blocks for which an expired ticket is remembered: about a week, for whoever asks who did not pay.
const KEPT: BlockNumber = 100_000;

/// A ticket that was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
	/// The ticket.
	pub signed: Signed,
	/// Block in which it came.
	pub came: BlockNumber,
	/// Whether it was seen paid.
	pub paid: bool,
}

/// The tickets that one maker was given.
#[derive(Debug)]
pub struct Journal {
	folder: PathBuf,
	genesis: H256,
	all: BTreeMap<H256, Given>,
}

impl Journal {
	/// Reads the tickets in `folder`, which is made where it is missing.
	pub fn open(folder: &Path, genesis: H256) -> Result<Self, StoreError> {
		files::create_private_folder(folder)?;
		files::remove_temporaries(folder)?;
		Self::read(folder, genesis)
	}

	/// Reads the tickets in a folder in which somebody else may be writing.
	pub fn read(folder: &Path, genesis: H256) -> Result<Self, StoreError> {
		let mut journal = Self { folder: folder.to_owned(), genesis, all: BTreeMap::new() };
		let entries = std::fs::read_dir(folder).map_err(files::at("read the folder", folder))?;
		for entry in entries {
			let path = entry.map_err(files::at("read the folder", folder))?.path();
			let is_hidden =
				path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
			if !is_hidden && path.extension().is_some_and(|ending| ending == "json") {
				if let Some(given) = load::<Given>(&path)? {
					journal.all.insert(given.signed.digest(&genesis), given);
				}
			}
		}
		Ok(journal)
	}

	fn path(&self, digest: &H256) -> PathBuf {
		self.folder.join(format!("{}.json", hex::encode(digest)))
	}

	/// Writes down a ticket that was checked; it is on disk when this returns. The same one again is no other
	/// one. It is refused where its payer has too many that are neither paid nor expired, of which the chain
	/// remembers as many, or begins again before an earlier ticket for that has expired.
	pub fn take(
		&mut self,
		signed: &Signed,
		height: BlockNumber,
	) -> Result<Result<(), Refusal>, StoreError> {
		let digest = signed.digest(&self.genesis);
		if self.all.contains_key(&digest) {
			return Ok(Ok(()));
		}
		let payer = &signed.ticket.payer;
		let of_payer = self.all.values().filter(|given| given.signed.ticket.payer == *payer);
		let open = of_payer.filter(|given| !given.paid && given.signed.ticket.expires >= height);
		let (begun, promised): (Vec<_>, Vec<_>) = open.partition(|given| given.signed.begins());
		if signed.begins() && !begun.is_empty() {
			return Ok(Err(Refusal::BeganBefore));
		}
		let waiting = promised.len();
		if waiting >= MAX_TICKETS as usize {
			return Ok(Err(Refusal::TooMany(waiting)));
		}
		let given = Given { signed: signed.clone(), came: height, paid: false };
		save(&self.path(&digest), &given)?;
		self.all.insert(digest, given);
		Ok(Ok(()))
	}

	/// Returns a ticket.
	pub fn get(&self, digest: &H256) -> Option<&Given> {
		self.all.get(digest)
	}

	/// Returns all of them by their digests.
	pub fn all(&self) -> impl Iterator<Item = (&H256, &Given)> {
		self.all.iter()
	}

	/// Returns those that promise something and were not seen paid, by their digests. Whether something is owed
	/// for one, its payer knows: only where the mean was better.
	pub fn unpaid(&self) -> impl Iterator<Item = (&H256, &Given)> {
		self.all.iter().filter(|(_, given)| !given.paid && !given.signed.begins())
	}

	/// Returns whose tickets are open.
	pub fn debtors(&self) -> BTreeSet<AccountId32> {
		self.unpaid().map(|(_, given)| given.signed.ticket.payer).collect()
	}

	/// Takes note that these were paid.
	pub fn paid(&mut self, digests: &[H256]) -> Result<usize, StoreError> {
		let mut noted = 0;
		for digest in digests {
			let path = self.path(digest);
			if let Some(given) = self.all.get_mut(digest).filter(|given| !given.paid) {
				let now = Given { paid: true, ..given.clone() };
				save(&path, &now)?;
				*given = now;
				noted += 1;
			}
		}
		Ok(noted)
	}

	/// Forgets what is of no use at this height.
	pub fn forget(&mut self, height: BlockNumber) -> Result<(), StoreError> {
		let is_over = |given: &Given| {
			let kept = if given.paid || given.signed.begins() { 0 } else { KEPT };
			given.signed.ticket.expires.saturating_add(kept) < height
		};
		let over: Vec<H256> = self
			.all
			.iter()
			.filter(|(_, given)| is_over(given))
			.map(|(digest, _)| *digest)
			.collect();
		for digest in over {
			let path = self.path(&digest);
			match std::fs::remove_file(&path) {
				Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
					return Err(files::at("remove", &path)(e).into());
				}
				_ => self.all.remove(&digest),
			};
		}
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::swarm::testing::account;
	use trainyard_client::swarm::Ticket;
	use trainyard_transport::SecretKey;

	const GENESIS: H256 = H256::repeat_byte(9);

	fn signed(payer: u8, nonce: u32) -> Signed {
		let ticket = Ticket {
			swarm: 0,
			payer: account(payer),
			maker: account(9),
			own: H256::repeat_byte(1),
			remote: H256::repeat_byte(2),
			expires: 100,
			nonce,
		};
		Signed::by(&SecretKey::from_bytes(&[payer; 32]), &GENESIS, ticket)
	}

	#[test]
	fn tickets_and_what_was_paid_survive_a_restart() {
		let dir = tempfile::tempdir().unwrap();
		let (one, two) = (signed(1, 1), signed(2, 1));
		let mut journal = Journal::open(dir.path(), GENESIS).unwrap();
		for ticket in [&one, &two, &one] {
			assert_eq!(journal.take(ticket, 50).unwrap(), Ok(()));
		}
		assert_eq!(journal.paid(&[one.digest(&GENESIS), H256::zero()]).unwrap(), 1);
		// What a killed process leaves is no ticket.
		std::fs::write(dir.path().join(".tmp-1-x.json"), "half").unwrap();
		let journal = Journal::open(dir.path(), GENESIS).unwrap();
		assert_eq!(journal.all().count(), 2);
		let unpaid: Vec<_> = journal.unpaid().collect();
		assert_eq!(unpaid[0].1, &Given { signed: two, came: 50, paid: false });
		assert_eq!(unpaid.len(), 1);
		assert_eq!(journal.debtors(), [account(2)].into());
	}

	#[test]
	fn a_payer_that_owes_too_much_gets_nothing_more() {
		let dir = tempfile::tempdir().unwrap();
		let mut journal = Journal::open(dir.path(), GENESIS).unwrap();
		for nonce in 0..MAX_TICKETS {
			assert_eq!(journal.take(&signed(1, nonce), 50).unwrap(), Ok(()));
		}
		assert_eq!(journal.take(&signed(1, 99), 50).unwrap(), Err(Refusal::TooMany(32)));
		assert_eq!(journal.take(&signed(2, 99), 50).unwrap(), Ok(()));
		journal.paid(&[signed(1, 0).digest(&GENESIS)]).unwrap();
		assert_eq!(journal.take(&signed(1, 99), 50).unwrap(), Ok(()));
	}

	#[test]
	fn a_peer_begins_once_at_a_time() {
		let dir = tempfile::tempdir().unwrap();
		let mut journal = Journal::open(dir.path(), GENESIS).unwrap();
		let begin = |nonce| {
			let ticket = Ticket { own: H256::repeat_byte(2), ..signed(1, nonce).ticket };
			Signed::by(&SecretKey::from_bytes(&[1; 32]), &GENESIS, ticket)
		};
		assert_eq!(journal.take(&begin(1), 50).unwrap(), Ok(()));
		assert_eq!(journal.take(&begin(1), 50).unwrap(), Ok(()), "it is the same one");
		assert_eq!(journal.take(&begin(2), 50).unwrap(), Err(Refusal::BeganBefore));
		assert_eq!(journal.unpaid().count(), 0, "it promises nothing");
		journal.forget(100).unwrap();
		assert_eq!(journal.take(&begin(3), 100).unwrap(), Err(Refusal::BeganBefore));
		assert_eq!(journal.take(&begin(3), 101).unwrap(), Ok(()), "the other one has expired");
	}

	#[test]
	fn what_is_over_is_forgotten() {
		let dir = tempfile::tempdir().unwrap();
		let mut journal = Journal::open(dir.path(), GENESIS).unwrap();
		for nonce in 0..2 {
			journal.take(&signed(1, nonce), 50).unwrap().unwrap();
		}
		journal.paid(&[signed(1, 0).digest(&GENESIS)]).unwrap();
		journal.forget(100).unwrap();
		assert_eq!(journal.all().count(), 2);
		journal.forget(101).unwrap();
		assert_eq!(journal.all().count(), 1);
		journal.forget(101 + KEPT).unwrap();
		assert_eq!(Journal::open(dir.path(), GENESIS).unwrap().all().count(), 0);
	}
}
