//! Where a peer stands, on disk: whatever kills it, it goes on from there.
//!
//! ```text
//! DIR/.lock                        one process for a folder
//! DIR/iroh.key                     the key by which others know this peer, and that signs its tickets
//! DIR/peer.json                    the position: which model, what was trained, what is owed
//! DIR/states/<root>.safetensors    that model with what the optimizer keeps
//! DIR/models/<root>.safetensors    models that are served, its own and those of others
//! DIR/slices/<hash>                slices that came from others
//! DIR/outer.json                   where it stands among outer steps
//! DIR/outer/<root>                 models, updates and what is kept of outer steps
//! DIR/tickets/<digest>.json        tickets that it was given
//! DIR/claims/<commitment>.json     claims, from before they are sent
//! DIR/answers.times, files.times   how long the last answers and files took, in nanoseconds: without them a peer
//!                                  waits as long as at first
//! DIR/events.jsonl                 what was done
//! ```
//!
//! Each file is written whole or not at all, and `peer.json` last: it names no model that is not there.

use super::ticket::Signed;
use crate::roles::store::{endpoint_key, load, save, StoreError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use trainyard_client::AccountId32;
use trainyard_proof::bundle::{files, lock::Lock};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	swarm::{Count, SwarmId},
	H256,
};
use trainyard_transport::SecretKey;

/// Name of the file of the position.
const PEER_FILE: &str = "peer.json";

/// What is owed to a maker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Debt {
	/// To whom.
	pub to: AccountId32,
	/// How much.
	#[serde(with = "trainyard_program::text::decimal")]
	pub amount: Balance,
	/// Digest of the ticket.
	pub ticket: H256,
	/// The last block in which that can be claimed.
	pub expires: BlockNumber,
}

/// The model with which a peer works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Own {
	/// Its root.
	pub root: H256,
	/// How many labels of the own rows it gets right; none before they were counted.
	pub count: Option<Count>,
}

/// Where a peer stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
	/// Genesis hash of the chain.
	pub genesis: H256,
	/// The swarm.
	pub swarm: SwarmId,
	/// Its model; none before it has one.
	pub own: Option<Own>,
	/// Turns of training so far.
	pub trained: u32,
	/// What they gave away, by orders of divergence, where it hides its rows: the bits of binary64, of which JSON would
	/// round some.
	#[serde(default)]
	pub given_away: Option<Vec<u64>>,
	/// Whether the next turn mixes, where both can be done.
	pub mixes_next: bool,
	/// The nonce of the next ticket.
	pub nonce: u32,
	/// Models of others with which the present one was mixed in vain.
	pub tried: Vec<H256>,
	/// What is owed and not known to be paid.
	pub debts: Vec<Debt>,
	/// The ticket that was signed last, while nothing came of it.
	pub open: Option<Signed>,
	/// Tickets that were signed and have not expired: who has one may take the model that it names as own.
	pub signed: Vec<Signed>,
	/// What it earned by tickets, at the last look.
	#[serde(with = "trainyard_program::text::decimal")]
	pub earned: Balance,
}

impl Position {
	/// Returns the position of a peer that begins.
	pub fn new(genesis: H256, swarm: SwarmId) -> Self {
		Self {
			genesis,
			swarm,
			own: None,
			trained: 0,
			given_away: None,
			mixes_next: false,
			nonce: 0,
			tried: Vec::new(),
			debts: Vec::new(),
			open: None,
			signed: Vec::new(),
			earned: 0,
		}
	}
}

impl Position {
	/// Fails where a folder is that of a peer of another swarm, or of none. The peer may run meanwhile.
	pub fn check(root: &Path, genesis: H256, swarm: SwarmId) -> Result<(), StoreError> {
		let path = root.join(PEER_FILE);
		let wrong = |reason| Err(StoreError::Damaged { path: path.clone(), reason });
		match load::<Self>(&path)? {
			Some(kept) if (kept.genesis, kept.swarm) == (genesis, swarm) => Ok(()),
			Some(kept) => wrong(format!(
				"it is of swarm {} of the chain {:?}, and this is swarm {swarm} of {genesis:?}: give another \
				 folder with --dir",
				kept.swarm, kept.genesis
			)),
			None => wrong("it is missing: is there a peer in this folder?".into()),
		}
	}
}

/// The folder of one peer, locked for this process.
pub struct Folder {
	root: PathBuf,
	_lock: Lock,
}

impl Folder {
	/// Opens the folder of a peer of this swarm. Fails where another process works there, or where it is that of
	/// another swarm.
	pub fn open(
		root: &Path,
		genesis: H256,
		swarm: SwarmId,
	) -> Result<(Self, Position), StoreError> {
		if !root.exists() {
			files::create_private_folder(root)?;
		}
		let lock = Lock::take(root)?;
		for name in ["states", "models", "slices", "tickets", "claims"] {
			files::create_folder(&root.join(name))?;
		}
		files::remove_temporaries(root)?;
		let folder = Self { root: root.to_owned(), _lock: lock };
		let position = match load(&folder.peer())? {
			Some(kept) => {
				Position::check(root, genesis, swarm)?;
				kept
			}
			None => {
				let position = Position::new(genesis, swarm);
				folder.save(&position)?;
				position
			}
		};
		Ok((folder, position))
	}

	fn peer(&self) -> PathBuf {
		self.root.join(PEER_FILE)
	}

	/// Returns the path of something in the folder.
	pub fn path(&self, name: &str) -> PathBuf {
		self.root.join(name)
	}

	/// Returns where the state is whose model has this root.
	pub fn state(&self, root: &H256) -> PathBuf {
		self.root.join("states").join(format!("{}.safetensors", hex::encode(root)))
	}

	/// Returns where a slice of others is, or will be.
	pub fn slice(&self, hash: &H256) -> PathBuf {
		self.root.join("slices").join(hex::encode(hash))
	}

	/// Writes the position down; it is on disk when this returns.
	pub fn save(&self, position: &Position) -> Result<(), StoreError> {
		save(&self.peer(), position)
	}

	/// Returns the key of this peer, made when it is first asked for.
	pub fn key(&self) -> Result<SecretKey, StoreError> {
		endpoint_key(&self.root)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn a_position_survives_and_a_folder_is_of_one_swarm_and_one_process() {
		let dir = tempfile::tempdir().unwrap();
		let genesis = H256::repeat_byte(1);
		let (folder, mut position) = Folder::open(dir.path(), genesis, 3).unwrap();
		let key = folder.key().unwrap().to_bytes();
		position.own = Some(Own { root: genesis, count: Some(Count { correct: 3, labels: 4 }) });
		position.debts.push(Debt {
			to: AccountId32([2; 32]),
			amount: u128::MAX,
			ticket: genesis,
			expires: 9,
		});
		folder.save(&position).unwrap();
		assert!(Folder::open(dir.path(), genesis, 3).is_err(), "it is locked");
		drop(folder);
		let (folder, again) = Folder::open(dir.path(), genesis, 3).unwrap();
		assert_eq!((again, folder.key().unwrap().to_bytes()), (position, key));
		drop(folder);
		let error = Folder::open(dir.path(), genesis, 4).err().unwrap().to_string();
		assert!(error.contains("it is of swarm 3"), "{error}");
		assert!(Folder::open(dir.path(), H256::zero(), 3).is_err());
	}
}
