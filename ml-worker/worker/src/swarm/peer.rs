//! One peer: it joins, announces what it has, pays what it owes, and takes turns.

mod error;
mod opening;
mod options;
mod presence;
mod turn;

pub use error::PeerError;
pub use options::{roles_in, Options};
pub use turn::Turn;

use super::{
	board::{Board, BoardError},
	learner::Learner,
	models,
	outer::Outer,
	position::{Folder, Own, Position},
	service::{Server, Service},
	standing::Standing,
};
use crate::roles::report::Reporter;
use rand::rngs::StdRng;
use std::{
	collections::{BTreeMap, BTreeSet},
	sync::{Arc, Mutex, MutexGuard, PoisonError},
	time::Duration,
};
use tracing::warn;
use trainyard_client::AccountId32;
use trainyard_engine::TensorMap;
use trainyard_proof::bundle::{files, tensors};
use trainyard_protocol::{
	job::Balance,
	swarm::{role, Averaging, Count, Stage},
	Text, H256,
};
use trainyard_transport::SecretKey;

/// Models of others that are kept, and served to whoever has a ticket for them.
pub(super) const KEPT: usize = 8;
/// Pause after a turn in which there was nothing to do.
const PAUSE: Duration = Duration::from_secs(3);

/// One peer. It serves for as long as it is not dropped.
pub struct Peer<B: Board> {
	pub(super) service: Arc<Service<B>>,
	pub(super) folder: Folder,
	pub(super) key: SecretKey,
	pub(super) position: Position,
	/// The model of the position, with what the optimizer keeps.
	pub(super) state: Option<Arc<TensorMap>>,
	pub(super) learner: Learner,
	/// What it knows of outer steps, in a swarm that takes them.
	pub(super) outer: Option<Outer>,
	pub(super) standing: Arc<Mutex<Standing>>,
	pub(super) options: Options,
	pub(super) report: Reporter,
	pub(super) draw: StdRng,
	location: Text,
	/// What each payer had paid in all when its tickets were looked at last.
	pub(super) totals: BTreeMap<AccountId32, Balance>,
	/// Models of others that are kept, the last ones first.
	pub(super) remotes: Vec<H256>,
	/// Why its last model was not announced.
	refusal: Option<String>,
	_server: Server,
}

impl<B: Board> Peer<B> {
	/// Returns its account.
	pub fn me(&self) -> &AccountId32 {
		self.service.board().me()
	}

	/// Returns where it stands.
	pub fn position(&self) -> &Position {
		&self.position
	}

	/// Returns what it serves.
	pub fn service(&self) -> &Arc<Service<B>> {
		&self.service
	}

	pub(super) fn standing(&self) -> MutexGuard<'_, Standing> {
		self.standing.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Returns why it does not ask this peer any more, if it does not.
	pub fn fault_of(&self, who: &AccountId32) -> Option<String> {
		self.standing().fault(who).map(str::to_owned)
	}

	pub(super) fn does(&self, wanted: u8) -> bool {
		self.options.roles & wanted != 0
	}

	pub(super) fn save(&self) -> Result<(), PeerError> {
		Ok(self.folder.save(&self.position)?)
	}

	/// Makes a state the present one; it is on disk when this returns.
	pub(super) fn adopt(
		&mut self,
		state: TensorMap,
		count: Option<Count>,
	) -> Result<H256, PeerError> {
		let models = self.service.models();
		let root = models.put(&models::file_of(&state))?;
		files::write(&self.folder.state(&root), &tensors::encode(&state))?;
		let before = self.position.own.replace(Own { root, count }).map(|own| own.root);
		self.position.open = None;
		if before != Some(root) {
			self.position.tried.clear();
		}
		self.save()?;
		self.state = Some(Arc::new(state));
		if let Some(before) = before.filter(|before| *before != root) {
			models::remove(&self.folder.state(&before))?;
		}
		self.tidy()?;
		Ok(root)
	}

	/// Removes models that nobody can ask for any more.
	fn tidy(&self) -> Result<(), PeerError> {
		let seen = self.service.seen();
		let mine = seen.peers.iter().filter(|peer| peer.account == *self.me());
		let mut kept: BTreeSet<H256> =
			mine.flat_map(|peer| peer.models.iter().map(|(root, _)| *root)).collect();
		kept.extend(self.position.own.iter().map(|own| own.root));
		kept.extend(self.position.signed.iter().map(|signed| signed.ticket.own));
		kept.extend(self.position.open.iter().map(|signed| signed.ticket.remote));
		kept.extend(self.remotes.iter().take(KEPT));
		let announced =
			seen.peers.iter().flat_map(|peer| peer.models.iter().map(|(root, _)| *root));
		Ok(self.service.models().keep(&kept, &announced.collect())?)
	}

	/// Takes one turn: does what the chain waits for, and then trains or mixes once.
	pub async fn turn(&mut self) -> Result<Turn, PeerError> {
		let seen = self.service.refresh().await?;
		self.service.contact().write_times()?;
		if seen.swarm.stage == Stage::Ended || seen.height > seen.swarm.plan.end {
			self.settle(&seen, true).await?;
			return Ok(Turn::Ended);
		}
		self.be_there(&seen).await?;
		self.look_around();
		if let Averaging::Outer(rule) = seen.swarm.plan.averaging {
			return self.outer_turn(rule, seen).await;
		}
		self.note_payments(&seen).await?;
		self.settle(&seen, false).await?;
		if !self.does(role::TRAIN | role::MIX) {
			return Ok(Turn::Nothing);
		}
		if self.state.is_none() {
			return self.begin().await;
		}
		self.announce().await?;
		if let Some(turn) = self.take_slice().await? {
			return Ok(turn);
		}
		if self.learner.slices().is_empty() {
			return Ok(Turn::Nothing);
		}
		self.recount().await?;
		let mixes = self.may_mix() && (self.position.mixes_next || !self.may_train());
		if mixes {
			self.position.mixes_next = false;
			if let Some(turn) = self.mix().await? {
				return Ok(turn);
			}
		}
		if self.may_train() {
			self.position.mixes_next = true;
			let turn = self.train().await?;
			self.announce().await?;
			return Ok(turn);
		}
		// With nothing else to do, what is owed is paid.
		let seen = self.service.seen();
		self.settle(&seen, true).await?;
		Ok(Turn::Nothing)
	}

	/// Takes turns until the swarm has ended. What fails on the way is said, and tried again.
	pub async fn run(mut self) -> Result<(), PeerError> {
		let mut last = String::new();
		loop {
			let turn = match self.turn().await {
				Ok(turn) => turn,
				Err(PeerError::Board(e))
					if !e.is_final() && !matches!(e, BoardError::Unknown(_)) =>
				{
					let text = e.to_string();
					if text != last {
						warn!("{text}; trying again");
						last = text;
					}
					Turn::Nothing
				}
				Err(e) => return Err(e),
			};
			self.tell(&turn);
			match turn {
				Turn::Ended => return Ok(()),
				Turn::Nothing | Turn::Diverged { .. } => tokio::time::sleep(PAUSE).await,
				// The others of a swarm of pairs are asked at once; here the same one is needed again.
				Turn::Failed { .. } if self.outer.is_some() => tokio::time::sleep(PAUSE).await,
				_ => {}
			}
		}
	}
}
