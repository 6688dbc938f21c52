//! A board in memory, data that are made up, and peers on loopback.

use super::{
	board::{Board, BoardError},
	contact::Patience,
	learner,
	models::{file_of, root_of},
	peer::{Options, Peer, Turn},
	position::Folder,
};
use crate::roles::{fetch::Locations, report::Reporter};
use rand::{rngs::StdRng, Rng, SeedableRng};
use std::{
	collections::{BTreeMap, BTreeSet},
	fmt::Write,
	net::SocketAddr,
	path::{Path, PathBuf},
	sync::{Arc, Mutex, MutexGuard},
	time::Duration,
};
use trainyard_client::{
	swarm::{Contribution, Payment, PeerView, Said, Signature, SwarmView},
	AccountId32,
};
use trainyard_engine::Engine;
use trainyard_program::spec::{Activation, DataFormat, JobSpec, Model, Optimizer};
use trainyard_protocol::{
	job::{Balance, BlockNumber},
	swarm::{
		self, role, Averaging, Brought, Curve, Moment, OuterRule, Pace, Payer, Plan, Reward, Stage,
		Stages, SwarmId, MAX_ANNOUNCED,
	},
	Text, H256,
};
use trainyard_transport::{EndpointId, Location, Node, SecretKey};

/// Features of a row.
const FEATURES: usize = 8;
/// Genesis of the chain in memory.
pub const GENESIS: H256 = H256::repeat_byte(0x42);

/// Outer steps of ten blocks for training and ten for vouching.
pub const RULE: OuterRule = OuterRule {
	picks: 512,
	bits: 4,
	keep: 950,
	rate: 1_000,
	momentum: 500,
	clip: Some(2_000),
	trim: 0,
	inner: 20,
	train: 10,
	vouch: 10,
};

/// An account that only tests have.
pub fn account(n: u8) -> AccountId32 {
	AccountId32([n; 32])
}

/// A peer that has just joined with this key.
pub fn peer_view(account: AccountId32, key: &SecretKey) -> PeerView {
	PeerView {
		account,
		key: H256(*key.public().as_bytes()),
		since: 1,
		roles: role::ALL,
		location: Text::default(),
		models: vec![],
		purse: 0,
		paid: 0,
		earned: 0,
		shares: 0,
		owed: 0,
		kept: H256::zero(),
		leaving: None,
	}
}

/// Rows of two classes whose means differ, as CSV.
pub fn rows(seed: u64, count: u32) -> String {
	let mut draw = StdRng::seed_from_u64(seed);
	let mut text = String::new();
	for _ in 0..count {
		let label = draw.random_range(0..2u32);
		for feature in 0..FEATURES {
			let noise: f32 = (0..4).map(|_| draw.random_range(-1.0..1.0f32)).sum();
			let apart = if feature % 2 == 0 { 0.8 } else { -0.6 };
			write!(text, "{:.4},", noise + label as f32 * apart).unwrap();
		}
		writeln!(text, "{label}").unwrap();
	}
	text
}

/// What is trained: 8-6-2.
pub fn template() -> JobSpec {
	let mut spec = JobSpec::example();
	let data = &mut spec.dataset;
	data.format = DataFormat::CsvLabelLast;
	data.features = FEATURES as u32;
	data.feature_divisor = 1;
	data.classes = 2;
	data.train_rows = 160;
	data.validation_rows = 40;
	data.validation_every = 5;
	spec.model = Model::Mlp { hidden: vec![6].try_into().unwrap(), activation: Activation::Relu };
	let training = &mut spec.training;
	training.steps = 1;
	training.checkpoint_interval = 1;
	training.batch_size = 16;
	training.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false };
	training.learning_rate_nano = 20_000_000;
	spec
}

/// Everything on chain.
pub struct World {
	pub height: BlockNumber,
	pub view: SwarmView,
	pub peers: Vec<PeerView>,
	pub blobs: BTreeMap<H256, Vec<u8>>,
	pub payments: Vec<(AccountId32, Payment)>,
	pub commitments: Vec<(AccountId32, H256)>,
	pub said: Vec<(AccountId32, u32, Said, [u8; 32])>,
	pub steps: BTreeMap<u32, Vec<Contribution>>,
	/// The last block that is final.
	pub last_final: BlockNumber,
	/// Outer steps whose contributions were asked for.
	pub asked: Vec<u32>,
	/// Whether no block comes with a call.
	pub stands: bool,
}

impl World {
	/// What may be done about outer steps.
	pub fn moment(&self) -> Moment {
		match self.view.plan.averaging {
			Averaging::Outer(rule) => rule.moment(self.view.began, self.height),
			Averaging::Pairs => panic!("no outer steps"),
		}
	}
}

/// A chain with one swarm.
#[derive(Clone)]
pub struct Memory(Arc<Mutex<World>>);

impl Memory {
	pub fn new(payer: Payer, private: bool) -> Self {
		let template = template();
		let spec = learner::plain(&template).unwrap();
		let initial = Engine::initial_state(&spec, &H256::repeat_byte(5), None).unwrap();
		let bytes = file_of(&initial.to_host().unwrap());
		let root = root_of(&bytes);
		let reward = Reward {
			curve: Curve::Linear { factor: 1_000_000 },
			pace: Pace { first: 1_000, last: 1_000 },
			floor: 0,
			stake: 1_000_000,
		};
		let plan = Plan {
			reward,
			payer,
			averaging: Averaging::Pairs,
			most_per_peer: 1_000_000_000,
			claim_fee: 1,
			slice_deposit: 1,
			open_slices: false,
			private,
			max_peers: 32,
			stages: Stages { collect: 5, show: 5, count: 5, challenge: 5 },
			ticket_blocks: 100_000,
			end: 10_000_000,
			appeal: trainyard_client::fake::job(trainyard_protocol::job::JobState::Open).terms,
			max_fee_per_ut: 0,
		};
		let view = SwarmView {
			id: 0,
			opener: account(0xee),
			template,
			plan,
			began: 1,
			seed: None,
			stage: Stage::Idle,
			round: 0,
			round_began: 0,
			previous_began: 0,
			best: swarm::Model { root, parameters: H256::zero() },
			progress: 0,
			budget: 0,
			peers: 0,
			shares: 0,
			steps: vec![],
			slices: vec![],
			claims: vec![],
			doubts: vec![],
		};
		Self(Arc::new(Mutex::new(World {
			height: 1,
			view,
			peers: vec![],
			blobs: [(root, bytes)].into(),
			payments: vec![],
			commitments: vec![],
			said: vec![],
			steps: BTreeMap::new(),
			last_final: 0,
			asked: vec![],
			stands: false,
		})))
	}

	pub fn world(&self) -> MutexGuard<'_, World> {
		self.0.lock().unwrap()
	}

	/// How one account sees it.
	pub fn seen_by(&self, n: u8) -> Seat {
		Seat { world: self.clone(), me: account(n), hidden: Arc::default() }
	}
}

/// How one account sees the chain.
#[derive(Clone)]
pub struct Seat {
	world: Memory,
	me: AccountId32,
	/// Peers that it does not see.
	pub hidden: Arc<Mutex<Vec<AccountId32>>>,
}

impl Seat {
	fn with<T>(
		&self,
		change: impl FnOnce(&mut World) -> Result<T, &'static str>,
	) -> Result<T, BoardError> {
		let mut world = self.world.world();
		if !world.stands {
			world.height += 1;
		}
		change(&mut world).map_err(|why| BoardError::Refused(why.into()))
	}

	fn mine<T>(
		&self,
		change: impl FnOnce(&mut PeerView, BlockNumber) -> T,
	) -> Result<T, BoardError> {
		self.with(|world| {
			let peer = world.peers.iter_mut().find(|peer| peer.account == self.me);
			Ok(change(peer.ok_or("no peer")?, world.height))
		})
	}
}

impl Board for Seat {
	fn me(&self) -> &AccountId32 {
		&self.me
	}

	fn swarm_id(&self) -> SwarmId {
		0
	}

	fn genesis(&self) -> H256 {
		GENESIS
	}

	async fn height(&self) -> Result<BlockNumber, BoardError> {
		Ok(self.world.world().height)
	}

	async fn last_final(&self) -> Result<BlockNumber, BoardError> {
		Ok(self.world.world().last_final)
	}

	async fn swarm(&self) -> Result<SwarmView, BoardError> {
		Ok(self.world.world().view.clone())
	}

	async fn peers(&self) -> Result<Vec<PeerView>, BoardError> {
		let hidden = self.hidden.lock().unwrap().clone();
		let peers = self.world.world().peers.clone();
		Ok(peers.into_iter().filter(|peer| !hidden.contains(&peer.account)).collect())
	}

	async fn step(&self, step: u32) -> Result<Vec<Contribution>, BoardError> {
		let mut world = self.world.world();
		world.asked.push(step);
		Ok(world.steps.get(&step).cloned().unwrap_or_default())
	}

	async fn contribute(&self, step: u32, brought: &Brought) -> Result<(), BoardError> {
		let (me, brought) = (self.me, *brought);
		self.with(|world| {
			let now = world.moment();
			if now.step != step || !now.trains {
				return Err("this is not the time of that outer step");
			}
			let all = world.steps.entry(step).or_default();
			if all.iter().any(|one| one.peer == me) {
				return Err("contributed before");
			}
			let peer = world.peers.iter_mut().find(|peer| peer.account == me).ok_or("no peer")?;
			let before = std::mem::replace(&mut peer.kept, brought.kept);
			all.push(Contribution { peer: me, before, brought, vouches: None });
			world.view.steps = world.steps.keys().copied().collect();
			Ok(())
		})
	}

	async fn vouch(&self, step: u32, list: &H256, vouches: u64) -> Result<(), BoardError> {
		let (me, list) = (self.me, *list);
		self.with(|world| {
			let now = world.moment();
			if now.step != step || now.trains {
				return Err("this is not the time to vouch for that outer step");
			}
			let all = world.steps.entry(step).or_default();
			if swarm::list_of(all) != list {
				return Err("the contributions are others");
			}
			let own = all.iter_mut().find(|one| one.peer == me).ok_or("no contributor")?;
			own.vouches = Some(vouches);
			Ok(())
		})
	}

	async fn paid(
		&self,
		payer: &AccountId32,
		maker: &AccountId32,
	) -> Result<Vec<H256>, BoardError> {
		let world = self.world.world();
		let all = world.payments.iter();
		let between = all.filter(|(from, payment)| from == payer && payment.to == *maker);
		Ok(between.map(|(_, payment)| payment.ticket).collect())
	}

	async fn blob(&self, root: H256, _: u64) -> Result<Vec<u8>, BoardError> {
		self.with(|world| world.blobs.get(&root).cloned().ok_or("no such blob"))
	}

	async fn store(&self, bytes: &[u8]) -> Result<(), BoardError> {
		self.with(|world| {
			world.blobs.insert(root_of(bytes), bytes.to_vec());
			Ok(())
		})
	}

	async fn join(
		&self,
		key: &H256,
		signature: &Signature,
		roles: u8,
		location: &str,
	) -> Result<(), BoardError> {
		self.with(|world| {
			let public = EndpointId::from_bytes(&key.0).map_err(|_| "no key")?;
			let digest = swarm::joining(&GENESIS, 0, &self.me);
			let signature = trainyard_transport::Signature::from_bytes(signature);
			public.verify(digest.as_bytes(), &signature).map_err(|_| "not signed")?;
			let is_new = world.peers.iter().all(|peer| peer.account != self.me && peer.key != *key);
			let location = Text::new(location).filter(|_| is_new).ok_or("joined")?;
			world.peers.push(PeerView {
				account: self.me,
				key: *key,
				since: world.height,
				roles,
				location,
				models: vec![],
				purse: 0,
				paid: 0,
				earned: 0,
				shares: 0,
				owed: 0,
				kept: H256::zero(),
				leaving: None,
			});
			Ok(())
		})
	}

	async fn update(&self, roles: u8, location: &str) -> Result<(), BoardError> {
		self.mine(|peer, _| (peer.roles, peer.location) = (roles, Text::new(location).unwrap()))
	}

	async fn announce(&self, root: &H256) -> Result<(), BoardError> {
		self.with(|world| {
			let mut roots = world.peers.iter().flat_map(|peer| &peer.models);
			match roots.any(|(known, _)| known == root) {
				true => Err("a peer announced this model before"),
				false => Ok(()),
			}
		})?;
		self.mine(|peer, height| {
			peer.models.push((*root, height));
			let over = peer.models.len().saturating_sub(MAX_ANNOUNCED as usize);
			peer.models.drain(..over);
		})
	}

	async fn fund(&self, amount: Balance) -> Result<(), BoardError> {
		self.mine(|peer, _| peer.purse += amount)
	}

	async fn pay(&self, payments: &[Payment]) -> Result<(), BoardError> {
		self.with(|world| {
			let tickets: BTreeSet<H256> = payments.iter().map(|payment| payment.ticket).collect();
			let twice = world.payments.iter().any(|(_, known)| tickets.contains(&known.ticket));
			if twice || tickets.len() != payments.len() {
				return Err("paid before");
			}
			if payments.iter().any(|payment| payment.expires < world.height) {
				return Err("expired");
			}
			for payment in payments {
				let to = world.peers.iter_mut().find(|peer| peer.account == payment.to);
				to.ok_or("no peer")?.earned += payment.amount;
				let from = world.peers.iter_mut().find(|peer| peer.account == self.me);
				from.ok_or("no peer")?.paid += payment.amount;
				world.payments.push((self.me, payment.clone()));
			}
			Ok(())
		})
	}

	async fn leave(&self) -> Result<(), BoardError> {
		self.mine(|peer, height| peer.leaving = Some(height))
	}

	async fn claim(&self, commitment: &H256) -> Result<(), BoardError> {
		self.with(|world| {
			world.commitments.push((self.me, *commitment));
			Ok(())
		})
	}

	async fn say(&self, number: u32, said: &Said, salt: &[u8; 32]) -> Result<(), BoardError> {
		self.with(|world| {
			world.said.push((self.me, number, said.clone(), *salt));
			Ok(())
		})
	}
}

/// An endpoint on loopback with this key.
pub async fn node(key: SecretKey) -> (Node, Location) {
	let listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
	let options = trainyard_transport::Options { listen, ..trainyard_transport::Options::new(key) };
	let node = Node::bind(options).await.unwrap();
	let location = node.location(node.sockets());
	(node, location)
}

/// Options of a peer on loopback that does not wait for long.
pub fn options(n: u8, data: Vec<PathBuf>) -> Options {
	let ms = |n| Duration::from_millis(n);
	Options {
		data,
		passes: 2,
		batch: 3,
		locations: Locations::Any,
		patience: Patience {
			answer: [ms(20_000), ms(20_000), ms(20_000)],
			bring: [ms(60_000), ms(60_000), ms(60_000)],
		},
		pause: ms(20),
		fresh: ms(200),
		seed: Some(n.into()),
		..Options::default()
	}
}

/// Writes `count` slices of data for a peer.
pub fn slices(folder: &Path, n: u8, count: u8) -> Vec<PathBuf> {
	let write = |at: u8| {
		let path = folder.join(format!("data-{n}-{at}.csv"));
		// Of the last one there are enough that what a model gets right is no matter of luck.
		let count = if n == u8::MAX { 2_000 } else { 200 };
		std::fs::write(&path, rows(u64::from(n) * 100 + u64::from(at), count)).unwrap();
		path
	};
	(0..count).map(write).collect()
}

/// Opens a peer whose folder is in `dir`.
pub async fn open(seat: Seat, dir: &Path, options: Options) -> Peer<Seat> {
	let name = hex::encode(&seat.me.0[..1]);
	let (folder, position) = Folder::open(&dir.join(name), GENESIS, 0).unwrap();
	let key = folder.key().unwrap();
	let (node, location) = node(key.clone()).await;
	let report = Reporter::new("swarm", true, None);
	Peer::open(seat, (folder, position, key), (node, &location), options, report).await.unwrap()
}

/// Lets all take turns until `done`, and returns what came of these. Fails after very many.
pub async fn drive(
	peers: &mut [Peer<Seat>],
	mut done: impl FnMut(&[Peer<Seat>], &[(usize, Turn)]) -> bool,
) -> Vec<(usize, Turn)> {
	let mut turns = Vec::new();
	for _ in 0..20_000 {
		let mut idle = true;
		for (number, peer) in peers.iter_mut().enumerate() {
			let turn = peer.turn().await.unwrap();
			idle &= turn == Turn::Nothing;
			turns.push((number, turn));
		}
		if done(peers, &turns) {
			return turns;
		}
		if idle {
			tokio::time::sleep(Duration::from_millis(5)).await;
		}
	}
	panic!("they do not come to an end: {:?}", turns.iter().rev().take(20).collect::<Vec<_>>());
}

/// Returns whether all of the last rounds were without anything to do.
pub fn rests(peers: &[Peer<Seat>], turns: &[(usize, Turn)], rounds: usize) -> bool {
	let last = peers.len() * rounds;
	turns.len() >= last && turns.iter().rev().take(last).all(|(_, turn)| *turn == Turn::Nothing)
}
