//! What a peer serves: models for tickets, and slices where the swarm is not private.

use super::{
	board::{Board, BoardError},
	contact::Contact,
	journal::Journal,
	models::Models,
	outer::{files::OuterFiles, Told},
	ticket::{Refusal, Signed, Situation},
	wire::{self, Answer, Path as Asked, Question},
};
use crate::roles::store::StoreError;
use std::{
	collections::{BTreeMap, VecDeque},
	fs::File,
	io,
	path::PathBuf,
	sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock},
	time::{Duration, Instant},
};
use tokio::{sync::Semaphore, task::JoinHandle};
use tracing::{debug, warn};
use trainyard_client::swarm::{PeerView, SwarmView};
use trainyard_protocol::{federation::PartData, job::BlockNumber, swarm::Averaging, H256};
use trainyard_transport::{Layout, Limits, Location, Shelf, Stream};

/// Questions that are answered at once.
const MOST_AT_ONCE: usize = 64;
/// Longest time for a question and its answer.
const QUESTION: Duration = Duration::from_secs(30);
/// Tickets for models of others that are remembered.
const MOST_SHOWN: usize = 1_024;
/// Slices that are named in one answer, and models.
const MOST_NAMED: usize = 64;

/// What was last seen on chain.
#[derive(Clone, Debug)]
pub struct Seen {
	/// Height of the best block.
	pub height: BlockNumber,
	/// The swarm.
	pub swarm: SwarmView,
	/// Its peers.
	pub peers: Vec<PeerView>,
}

/// What a peer has for others. All of it is behind locks that nobody holds while waiting.
pub struct Service<B> {
	board: B,
	models: Models,
	contact: Contact,
	journal: Mutex<Journal>,
	seen: RwLock<Arc<Seen>>,
	/// When the chain was last looked at because of a stranger's ticket, and how often that may be.
	looked: tokio::sync::Mutex<Option<Instant>>,
	look_again: Duration,
	slices: RwLock<BTreeMap<H256, (PartData, PathBuf)>>,
	/// Tickets for models of others that are here, the last ones first.
	shown: Mutex<VecDeque<(H256, Signed)>>,
	/// What is told of outer steps, and the files that are served of them.
	told: RwLock<Told>,
	outer: OnceLock<OuterFiles>,
	/// Tickets that this peer signed, with the model that each names as own: their makers may need it to claim.
	own: Mutex<BTreeMap<H256, H256>>,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
	of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B: Board> Service<B> {
	/// Makes one that has looked at the chain.
	pub async fn new(
		board: B,
		models: Models,
		contact: Contact,
		journal: Journal,
		look_again: Duration,
	) -> Result<Self, BoardError> {
		let seen = look(&board).await?;
		Ok(Self {
			board,
			models,
			contact,
			journal: Mutex::new(journal),
			seen: RwLock::new(Arc::new(seen)),
			looked: tokio::sync::Mutex::new(None),
			look_again,
			slices: RwLock::default(),
			shown: Mutex::default(),
			told: RwLock::default(),
			outer: OnceLock::new(),
			own: Mutex::default(),
		})
	}

	/// Returns the board.
	pub fn board(&self) -> &B {
		&self.board
	}

	/// Returns the models.
	pub fn models(&self) -> &Models {
		&self.models
	}

	/// Returns who asks others.
	pub fn contact(&self) -> &Contact {
		&self.contact
	}

	/// Returns the tickets that were given. Nobody may wait while holding them.
	pub fn journal(&self) -> MutexGuard<'_, Journal> {
		locked(&self.journal)
	}

	/// Returns what was last seen on chain.
	pub fn seen(&self) -> Arc<Seen> {
		self.seen.read().unwrap_or_else(PoisonError::into_inner).clone()
	}

	/// Looks at the chain.
	pub async fn refresh(&self) -> Result<Arc<Seen>, BoardError> {
		let seen = Arc::new(look(&self.board).await?);
		*self.seen.write().unwrap_or_else(PoisonError::into_inner) = seen.clone();
		Ok(seen)
	}

	/// Serves a slice from now on, unless the swarm is private.
	pub fn serve_slice(&self, data: PartData, path: PathBuf) {
		let mut slices = self.slices.write().unwrap_or_else(PoisonError::into_inner);
		slices.insert(data.file.content_hash, (data, path));
	}

	/// Lets whoever has one of these tickets take the model that it names as own.
	pub fn signed(&self, tickets: &[Signed]) {
		let genesis = self.board.genesis();
		let by_digest = tickets.iter().map(|signed| (signed.digest(&genesis), signed.ticket.own));
		*locked(&self.own) = by_digest.collect();
	}

	/// Tells others this of outer steps from now on.
	pub fn tell(&self, told: Told) {
		*self.told.write().unwrap_or_else(PoisonError::into_inner) = told;
	}

	/// Serves the files of outer steps in this folder.
	pub fn serve_outer(&self, files: OuterFiles) {
		// A peer has one folder.
		let _ = self.outer.set(files);
	}

	/// Returns what is told of an outer step: nothing as long as that trains, or others could contribute what they
	/// hear of.
	async fn updates(&self, step: u32) -> Answer {
		let is_over = |seen: &Seen| match seen.swarm.plan.averaging {
			Averaging::Pairs => false,
			Averaging::Outer(rule) => {
				let now = rule.moment(seen.swarm.began, seen.height);
				now.step > step || (now.step == step && !now.trains)
			}
		};
		if !is_over(&self.seen()) {
			self.look_again().await;
			if !is_over(&self.seen()) {
				return Answer::Refused(format!("step {step} trains"));
			}
		}
		let told = self.told.read().unwrap_or_else(PoisonError::into_inner);
		let roots = told.roots.iter().filter(|(of, ..)| *of == step);
		Answer::Updates {
			roots: roots.map(|(_, seal, root)| (*seal, *root)).collect(),
			false_ones: told.false_ones.clone(),
		}
	}

	fn check(&self, signed: &Signed) -> Result<(), Refusal> {
		let seen = self.seen();
		let situation = Situation {
			genesis: self.board.genesis(),
			swarm: self.board.swarm_id(),
			best: seen.swarm.best.root,
			ticket_blocks: seen.swarm.plan.ticket_blocks,
			height: seen.height,
			peers: &seen.peers,
		};
		situation.check(signed)
	}

	/// Looks at the chain once more because of a ticket. Strangers must not have this peer ask its node all the
	/// time: whoever comes while that was just done waits a moment, and all that wait have one look together.
	async fn look_again(&self) {
		let came = Instant::now();
		let mut looked = self.looked.lock().await;
		if looked.is_some_and(|at| at > came) {
			return;
		}
		if let Some(left) = looked.and_then(|at| self.look_again.checked_sub(at.elapsed())) {
			tokio::time::sleep(left).await;
		}
		*looked = Some(Instant::now());
		if let Err(e) = self.refresh().await {
			debug!("a ticket is checked by an older view: {e}");
		}
	}

	/// Takes a ticket, or says why not. It is on disk before this returns.
	async fn take(self: &Arc<Self>, signed: Signed) -> Result<Result<(), Refusal>, StoreError> {
		let mut checked = self.check(&signed);
		// The payer may have joined or announced its model in a block that was not looked at yet.
		if checked.is_err() {
			self.look_again().await;
			checked = self.check(&signed);
		}
		if let Err(refusal) = checked {
			return Ok(Err(refusal));
		}
		let (maker, remote) = (&signed.ticket.maker, &signed.ticket.remote);
		let is_here = self.models.has(remote);
		if maker == self.board.me() {
			if !is_here {
				return Ok(Err(Refusal::NotAnnounced(*remote)));
			}
			let height = self.seen().height;
			return self.journal().take(&signed, height);
		}
		if !is_here {
			return Ok(Err(Refusal::OtherMaker(*maker)));
		}
		let digest = signed.digest(&self.board.genesis());
		let mut shown = locked(&self.shown);
		if shown.iter().all(|(known, _)| *known != digest) {
			shown.push_front((digest, signed.clone()));
			shown.truncate(MOST_SHOWN);
			drop(shown);
			self.pass_on(signed);
		}
		Ok(Ok(()))
	}

	/// Gives a ticket to its maker, whose model is served here: a payer that showed it here alone would not owe
	/// anything that the maker knows of.
	fn pass_on(self: &Arc<Self>, signed: Signed) {
		let seen = self.seen();
		let maker = seen.peers.iter().find(|peer| peer.account == signed.ticket.maker);
		let Some(to) = maker.and_then(location_of) else { return };
		let contact = self.contact.clone();
		tokio::spawn(async move {
			if let Err(e) = contact.ask(&to, &Question::Promise(signed), 0).await {
				debug!("a ticket was not passed on: {e}");
			}
		});
	}

	async fn answer(self: &Arc<Self>, question: Question) -> Answer {
		match question {
			Question::Hello(id) if id == self.board.swarm_id() => {
				let models = self.models.roots().into_iter().take(MOST_NAMED).collect();
				let slices = match self.seen().swarm.plan.private {
					true => Vec::new(),
					false => {
						let slices = self.slices.read().unwrap_or_else(PoisonError::into_inner);
						slices.values().take(MOST_NAMED).map(|(data, _)| data.clone()).collect()
					}
				};
				Answer::Here { models, slices }
			}
			Question::Updates(id, step) if id == self.board.swarm_id() => self.updates(step).await,
			Question::Hello(id) | Question::Updates(id, _) => {
				Answer::Refused(Refusal::OtherSwarm(id).to_string())
			}
			Question::Promise(signed) => match self.take(signed).await {
				Ok(Ok(())) => Answer::Taken,
				Ok(Err(refusal)) => Answer::Refused(refusal.to_string()),
				Err(e) => {
					warn!("a ticket cannot be written down: {e}");
					Answer::Refused("it cannot write the ticket down".into())
				}
			},
		}
	}

	async fn attend(self: Arc<Self>, mut stream: Stream) -> io::Result<()> {
		let question = wire::question(&mut stream).await?;
		let said = self.answer(question).await;
		wire::answer(&mut stream, &said).await
	}

	/// Serves at the endpoint until the returned value is dropped.
	pub fn serve(self: &Arc<Self>) -> Server {
		let mut serving = self.contact.node().serve(self.clone(), Limits::default());
		let service = self.clone();
		let task = tokio::spawn(async move {
			let places = Arc::new(Semaphore::new(MOST_AT_ONCE));
			let mut attending = tokio::task::JoinSet::new();
			while let Some(came) = serving.incoming.recv().await {
				while attending.try_join_next().is_some() {}
				// Where all places are taken the stream is dropped, and whoever asked tries another peer.
				let Ok(place) = places.clone().try_acquire_owned() else { continue };
				let service = service.clone();
				attending.spawn(async move {
					let _place = place;
					let attended = service.attend(came.stream);
					if let Ok(Err(e)) = tokio::time::timeout(QUESTION, attended).await {
						debug!("a question was not answered: {e}");
					}
				});
			}
		});
		Server { task }
	}
}

/// Serves until it is dropped.
pub struct Server {
	task: JoinHandle<()>,
}

impl Drop for Server {
	fn drop(&mut self) {
		self.task.abort();
	}
}

/// Looks at the chain.
async fn look<B: Board>(board: &B) -> Result<Seen, BoardError> {
	Ok(Seen {
		height: board.height().await?,
		swarm: board.swarm().await?,
		peers: board.peers().await?,
	})
}

/// Returns where a peer is, if it says so and that is where its key is.
pub fn location_of(peer: &PeerView) -> Option<Location> {
	let text = peer.location.to_string_lossy();
	let location: Location = text.parse().ok()?;
	(location.id.as_bytes() == &peer.key.0 && location.leads_there()).then_some(location)
}

impl<B: Board> Shelf for Service<B> {
	fn find(&self, path: &str) -> Option<PathBuf> {
		match wire::parse(self.board.swarm_id(), path)? {
			Asked::Model(root, digest) => {
				let given = || {
					let journal = self.journal();
					journal.get(&digest).is_some_and(|given| given.signed.ticket.remote == root)
				};
				let shown = || {
					let shown = locked(&self.shown);
					shown.iter().any(|(d, signed)| *d == digest && signed.ticket.remote == root)
				};
				let own = || locked(&self.own).get(&digest) == Some(&root);
				(given() || shown() || own()).then(|| self.models.path(&root))
			}
			Asked::Outer(root) => {
				// What a peer keeps says how it moved, to the bit: it leaves where rows do.
				let private = self.seen().swarm.plan.private;
				let told = self.told.read().unwrap_or_else(PoisonError::into_inner);
				let updates = told.roots.iter().map(|(.., root)| root);
				let open =
					!private || told.models.iter().chain(updates).any(|known| *known == root);
				self.outer.get().filter(|_| open).map(|files| files.path(&root))
			}
			Asked::Slice(hash) => {
				if self.seen().swarm.plan.private {
					return None;
				}
				let slices = self.slices.read().unwrap_or_else(PoisonError::into_inner);
				slices.get(&hash).map(|(_, path)| path.clone())
			}
		}
	}

	/// One part: see [`super::models`].
	fn layout(&self, _: &str, _: &File, bytes: u64) -> io::Result<Layout> {
		Ok(Layout { head: 0, parts: vec![bytes] })
	}
}
