//! One peer: it joins, announces what it has, pays what it owes, and takes turns.

use super::{
	board::{Board, BoardError},
	contact::{Contact, Patience},
	journal::Journal,
	learner::{LearnError, Learner, Sharing, Slice},
	models::{self, Models, NoModel},
	outer::{steps::StepError, Outer},
	position::{Folder, Own, Position},
	privacy::{Privacy, PrivacyError},
	service::{location_of, Seen, Server, Service},
	standing::Standing,
	wire::{Answer, Question},
};
use crate::roles::{fetch::Locations, report::Reporter, store::StoreError};
use rand::{rngs::StdRng, SeedableRng};
use serde_json::json;
use std::{
	collections::{BTreeMap, BTreeSet},
	path::PathBuf,
	sync::{Arc, Mutex, MutexGuard, PoisonError},
	time::{Duration, Instant},
};
use tracing::warn;
use trainyard_client::{swarm::PeerView, AccountId32};
use trainyard_engine::TensorMap;
use trainyard_proof::bundle::{
	files::{self, FileError},
	tensors::{self, TensorError},
};
use trainyard_protocol::{
	job::Balance,
	model_file::Layout,
	swarm::{self, role, Averaging, Count, Stage, MAX_ANNOUNCED},
	Text, H256,
};
use trainyard_transport::{Location, Node, SecretKey};

/// Models of others that are kept, and served to whoever has a ticket for them.
pub(super) const KEPT: usize = 8;
/// Pause after a turn in which there was nothing to do.
const PAUSE: Duration = Duration::from_secs(3);

/// Says why a peer cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
	/// The chain cannot be asked, or did not do something.
	#[error(transparent)]
	Board(#[from] BoardError),
	/// A file of the folder cannot be read or written.
	#[error(transparent)]
	Store(#[from] StoreError),
	/// The same of a model or a slice.
	#[error(transparent)]
	File(#[from] FileError),
	/// The state in the folder cannot be understood.
	#[error("the state in the folder cannot be read: {0}. Move the folder away; the model is on chain or with others")]
	State(#[from] TensorError),
	/// A model in the folder is none.
	#[error("a model in the folder is none any more: {0}. Move the folder away; the model is on chain or with others")]
	Model(NoModel),
	/// Nothing can be trained or measured.
	#[error(transparent)]
	Learn(#[from] LearnError),
	/// Rows cannot be hidden.
	#[error(transparent)]
	Privacy(#[from] PrivacyError),
	/// There are no data, and nobody may serve any.
	#[error("swarm {0} is private: nobody serves data there, so give a file of yours with --data")]
	NoData(u32),
	/// Another account has the key of the folder.
	#[error(
		"another account joined with the key of this folder, and who was first keeps it. Use a folder of your own"
	)]
	KeyTaken,
	/// Others must be able to compute what it contributes.
	#[error(
		"virtual ranks and hidden rows are for swarms whose peers mix by pairs: in a swarm of outer steps others \
		 compute a contribution again"
	)]
	OuterAlone,
	/// An outer step cannot be computed.
	#[error(transparent)]
	Step(StepError),
	/// The swarm takes no outer steps.
	#[error("the peers of this swarm mix by pairs, and take no outer steps")]
	NoOuterSteps,
	/// The chain says that this peer kept something that is not in the folder.
	#[error(
		"the chain says that this peer kept {0:?} from its last contribution, and that is not in this folder. 		 Give the folder with which it contributed, or leave the swarm and join it again"
	)]
	KeptElsewhere(H256),
	/// The location does not fit on chain.
	#[error("the location {0} has more than 256 bytes: name fewer addresses with --iroh-address")]
	LongLocation(String),
	/// Something that somebody else has is needed and did not come. The turn ends, and a later one tries again.
	#[error("{who}: {why}")]
	DidNotCome {
		/// Whose it is.
		who: AccountId32,
		/// What is missing.
		why: &'static str,
	},
	/// A thread of this process ended early.
	#[error("a computation ended early: {0}")]
	Thread(#[from] tokio::task::JoinError),
}

/// How a peer works.
#[derive(Clone, Debug)]
pub struct Options {
	/// A sum of [roles](role).
	pub roles: u8,
	/// Its files of data: a slice each.
	pub data: Vec<PathBuf>,
	/// How often it trains on each slice before it only mixes; 0 for no end.
	pub passes: u32,
	/// How many debts are paid at once.
	pub batch: usize,
	/// Most slices that it takes from others where it has no data.
	pub slices: usize,
	/// Where others may be asked.
	pub locations: Locations,
	/// How long answers are waited for.
	pub patience: Patience,
	/// Pause after which somebody is asked again that did not answer; it doubles.
	pub pause: Duration,
	/// After so long it is looked whether somebody is still there.
	pub fresh: Duration,
	/// How likely it computes a contribution of somebody else again in an outer step.
	pub replay: f64,
	/// Whom it draws, if that is to be the same each time.
	pub seed: Option<u64>,
	/// Virtual ranks of its steps and who computes them, where there are several.
	pub sharing: Option<Sharing>,
	/// How it hides the rows on which it trains, if it does.
	pub privacy: Option<Privacy>,
}

impl Default for Options {
	fn default() -> Self {
		Self {
			roles: role::ALL,
			data: Vec::new(),
			passes: 3,
			batch: 8,
			slices: 8,
			locations: Locations::Public,
			patience: Patience::default(),
			pause: Duration::from_secs(30),
			fresh: Duration::from_secs(60),
			replay: 0.25,
			seed: None,
			sharing: None,
			privacy: None,
		}
	}
}

/// What a turn came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
	/// It has a model to begin with: of this maker, or from the chain.
	Began(Option<AccountId32>),
	/// It took a slice that somebody serves.
	TookSlice(AccountId32),
	/// It trained, and gets so many right now.
	Trained(Count),
	/// The mean was better.
	Better {
		/// Whose model the other half is.
		maker: AccountId32,
		/// What its own model got right.
		before: Count,
		/// What the mean gets right.
		after: Count,
		/// What is owed for that.
		owed: Balance,
	},
	/// The mean was no better.
	InVain(AccountId32),
	/// Somebody did not answer, or said no.
	Failed {
		/// Who.
		who: AccountId32,
		/// Why.
		why: String,
	},
	/// Somebody was found out, and is not asked any more.
	Dropped {
		/// Who.
		who: AccountId32,
		/// What it did.
		why: String,
	},
	/// It goes on to an outer step, with what of the contributions to the one before counts.
	Stepped {
		/// The step.
		step: u32,
		/// How many count.
		counted: usize,
		/// How many there were.
		of: usize,
	},
	/// What counts of this outer step is not what it was, since other blocks took the place of the last ones: it
	/// computes it again.
	WentBack(u32),
	/// It trained from the model of this outer step.
	Worked(u32),
	/// Its training from the model of an outer step came to nothing.
	Diverged {
		/// The step.
		step: u32,
		/// Why.
		why: String,
	},
	/// It contributed to an outer step.
	Contributed {
		/// The step.
		step: u32,
		/// How many outer steps ago the model is with which the contribution begins.
		late: u32,
	},
	/// It was too late for this outer step, and contributes to the next one.
	Missed(u32),
	/// It vouched.
	Vouched {
		/// The step.
		step: u32,
		/// For how many contributions.
		count: usize,
		/// How many there are.
		of: usize,
	},
	/// It computed a contribution of somebody else again.
	Replayed {
		/// The step.
		step: u32,
		/// Whose.
		who: AccountId32,
		/// Whether it came to the same.
		right: bool,
	},
	/// There was nothing to do.
	Nothing,
	/// The swarm has ended.
	Ended,
}

/// Returns what of these roles a peer does in a swarm: in a private one nobody serves data.
pub fn roles_in(roles: u8, private: bool) -> u8 {
	match private {
		true => roles & !role::DATA,
		false => roles,
	}
}

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
	/// Opens the folder and the data of a peer that is reached at these addresses of its endpoint, and serves.
	pub async fn open(
		board: B,
		(folder, position, key): (Folder, Position, SecretKey),
		(node, location): (Node, &Location),
		mut options: Options,
		report: Reporter,
	) -> Result<Self, PeerError> {
		let view = board.swarm().await?;
		let (template, private) = (view.template, view.plan.private);
		options.roles = roles_in(options.roles, private);
		let works = options.roles & (role::TRAIN | role::MIX) != 0;
		if private && works && options.data.is_empty() {
			return Err(PeerError::NoData(board.swarm_id()));
		}
		let text = location.to_string();
		let location = Text::new(&text).ok_or(PeerError::LongLocation(text))?;
		let learner = Learner::new(&template)?;
		let spec = super::learner::plain(&template).map_err(LearnError::from)?;
		let layout = Layout::of(&spec);
		let outer = match view.plan.averaging {
			Averaging::Pairs => None,
			Averaging::Outer(_) if options.sharing.is_some() || options.privacy.is_some() => {
				return Err(PeerError::OuterAlone);
			}
			Averaging::Outer(rule) => Some(Outer::open(&folder.path(""), &spec, rule)?),
		};
		let models = Models::open(&folder.path("models"), layout)?;
		let journal = Journal::open(&folder.path("tickets"), board.genesis())?;
		let contact = Contact::new(node, options.patience, Some(&folder.path("")));
		let look_again = options.pause.min(Duration::from_millis(500));
		let service = Service::new(board, models, contact, journal, look_again).await?;
		let service = Arc::new(service);
		let state = match &position.own {
			Some(own) => {
				let bytes = files::read(&folder.state(&own.root), u64::MAX)?;
				Some(Arc::new(tensors::decode(&bytes)?))
			}
			None => None,
		};
		let standing = Standing::new(options.pause, options.fresh);
		let seed = options.seed.unwrap_or_else(rand::random);
		let _server = service.serve();
		let remotes = service.models().roots();
		let mut peer = Self {
			service,
			folder,
			key,
			position,
			state,
			learner,
			outer,
			standing: Arc::new(Mutex::new(standing)),
			options,
			report,
			draw: StdRng::seed_from_u64(seed),
			location,
			totals: BTreeMap::new(),
			remotes,
			refusal: None,
			_server,
		};
		peer.hide(peer.does(role::TRAIN))?;
		peer.service.signed(&peer.position.signed);
		if let Some(outer) = &peer.outer {
			for (step, who) in &outer.position().false_ones {
				let why = format!("its contribution to step {step} is false");
				peer.standing().drop_for(who, &why);
			}
			peer.service.serve_outer(outer.files().clone());
			peer.save_outer()?;
		}
		peer.open_data(private).await?;
		Ok(peer)
	}

	/// Reads its slices, and those that it took from others before.
	async fn open_data(&mut self, private: bool) -> Result<(), PeerError> {
		let serves = self.options.roles & role::DATA != 0 && !private;
		for path in self.options.data.clone() {
			let slice = self.slice_at(path).await?;
			if let Some(privacy) = &self.options.privacy {
				privacy.check(&slice)?;
			}
			if serves {
				self.service.serve_slice(slice.data.clone(), slice.path.clone());
			}
			self.learner.add(slice);
		}
		if self.options.data.is_empty() {
			self.reopen_slices().await?;
		}
		Ok(())
	}

	async fn slice_at(&self, path: PathBuf) -> Result<Slice, PeerError> {
		let (template, me) = (self.learner.template().clone(), *self.me());
		let sharing = self.options.sharing.clone();
		let opening = move || Slice::open(&template, &path, &me)?.shared(sharing.as_ref());
		Ok(tokio::task::spawn_blocking(opening).await??)
	}

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

	/// Returns its peer as the chain has it.
	fn on_chain<'a>(&self, seen: &'a Seen) -> Option<&'a PeerView> {
		seen.peers.iter().find(|peer| peer.account == *self.me())
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

	/// Joins, and says where it is by now.
	async fn be_there(&mut self, seen: &Seen) -> Result<(), PeerError> {
		let board = self.service.board();
		let (roles, place) = (self.options.roles, self.location.to_string_lossy());
		match self.on_chain(seen) {
			Some(peer) if peer.roles == roles && peer.location == self.location => return Ok(()),
			Some(_) => board.update(roles, &place).await?,
			None => {
				let digest = swarm::joining(&board.genesis(), board.swarm_id(), board.me());
				let signature = self.key.sign(digest.as_bytes()).to_bytes();
				let key = H256(*self.key.public().as_bytes());
				board.join(&key, &signature, roles, &place).await?;
				let peers = board.peers().await?;
				if peers.iter().all(|peer| peer.account != *board.me()) {
					return Err(PeerError::KeyTaken);
				}
				self.report.general("joined", &format!("joined at {place}"), json!({ "key": key }));
			}
		}
		self.service.refresh().await?;
		Ok(())
	}

	/// Announces the present model, unless that was done, or the chain remembers as many as it does for as long as
	/// tickets for them may be claimed by: then others take an earlier one meanwhile.
	pub(super) async fn announce(&mut self) -> Result<(), PeerError> {
		let Some(own) = self.position.own else { return Ok(()) };
		let seen = self.service.seen();
		// A model with which several begin is that of whoever said so first.
		let known = |peer: &PeerView| peer.models.iter().any(|(root, _)| *root == own.root);
		if seen.peers.iter().any(known) {
			return Ok(());
		}
		let place = self.on_chain(&seen).map(|peer| &peer.models);
		let full = place.filter(|models| models.len() >= MAX_ANNOUNCED as usize);
		let oldest = full.and_then(|models| models.first()).map(|(_, at)| *at);
		let view = &seen.swarm;
		let (began, previous) = (view.round_began, view.previous_began);
		let before = swarm::forgets_before(&view.stage, seen.height, began, previous);
		let held = |at: u32| at.saturating_add(view.plan.ticket_blocks) >= before;
		if oldest.is_some_and(held) {
			return Ok(());
		}
		let announced = self.service.board().announce(&own.root).await;
		let seen = self.service.refresh().await?;
		match announced {
			// Somebody was first meanwhile.
			Err(_) if seen.peers.iter().any(known) => Ok(()),
			Err(e) if e.is_final() => Err(e.into()),
			// It trains on, and tries again at its next turn.
			Err(e) => {
				let text = e.to_string();
				if self.refusal.as_ref() != Some(&text) {
					warn!("{text}; trying again");
					self.refusal = Some(text);
				}
				Ok(())
			}
			Ok(()) => {
				self.refusal = None;
				Ok(())
			}
		}
	}

	/// Asks others in the background whether they are there, and what they have.
	fn look_around(&mut self) {
		let (seen, now) = (self.service.seen(), Instant::now());
		let only = self.options.locations.only();
		let usable = |peer: &PeerView| {
			let location = location_of(peer)?;
			let among = match only {
				Some(only) => location.among(only),
				None => location,
			};
			among.leads_there().then_some(among)
		};
		let (moved, due) = {
			let mut standing = self.standing();
			let moved = standing.are(&seen.peers, self.me(), usable);
			(moved, standing.due(now))
		};
		for (who, location, missed) in due {
			let (contact, standing) = (self.service.contact().clone(), self.standing.clone());
			let hello = Question::Hello(self.service.board().swarm_id());
			// Where it is now no old connection leads.
			let is_elsewhere = moved.iter().any(|before| before.id == location.id);
			tokio::spawn(async move {
				if is_elsewhere {
					contact.node().moved(location.id).await;
				}
				let answer = contact.ask(&location, &hello, missed).await;
				let mut standing = standing.lock().unwrap_or_else(PoisonError::into_inner);
				// It moved meanwhile, and is asked there.
				if !standing.is_at(&who, &location) {
					return;
				}
				match answer {
					Ok(Answer::Here { models, slices }) => {
						standing.answered(&who, Instant::now(), models, slices);
					}
					Ok(_) => standing.missed(&who, Instant::now()),
					Err(e) => {
						tracing::debug!("{who}: {e}");
						standing.missed(&who, Instant::now());
					}
				}
			});
		}
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
