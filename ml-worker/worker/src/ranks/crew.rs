//! The process that has the state of a training, and shares its steps out.

use super::wire::{self, Channel, Kind, Secret, Task, WireError};
use codec::Encode;
use std::{
	collections::VecDeque,
	io,
	net::{Ipv4Addr, SocketAddr, TcpListener},
	num::NonZeroUsize,
	path::PathBuf,
	process::{Child, Command, Stdio},
	sync::{
		atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
		Arc, Condvar, Mutex, MutexGuard, PoisonError,
	},
	time::{Duration, Instant},
};
use tracing::{info, warn};
use trainyard_engine::{
	ranks::{self, Node},
	Engine, EngineError, RankedStep, Ranks, State,
};
use trainyard_program::{spec::CheckedSpec, H256};

/// The variable in which a worker finds the secret of its crew.
pub const SECRET_VARIABLE: &str = "TRAINYARD_RANKS_SECRET";
/// How long processes that were started here may take to connect.
const START: Duration = Duration::from_secs(60);
/// How long they may take to end before they are killed.
const END: Duration = Duration::from_secs(2);
/// Connections that may be at their beginning at once.
const GREETINGS: usize = 16;

/// Says why there is no crew.
#[derive(Debug, thiserror::Error)]
pub enum CrewError {
	/// It cannot listen.
	#[error("cannot listen at {0} for workers: {1}")]
	Listen(SocketAddr, io::Error),
	/// A worker cannot be started.
	#[error("cannot start {0} as a worker: {1}")]
	Start(PathBuf, io::Error),
	/// A worker ended at once.
	#[error("a worker that was started here did not connect{0}")]
	Absent(String),
}

/// How long a crew waits for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
	/// Before it is known how long a node takes.
	pub first: Duration,
	/// At least; besides that, ten times as long as the slowest node took so far.
	pub least: Duration,
}

impl Default for Patience {
	fn default() -> Self {
		Self { first: Duration::from_secs(600), least: Duration::from_secs(20) }
	}
}

/// How a crew begins.
#[derive(Clone, Debug)]
pub struct Options {
	/// Processes that compute on this machine. This process is one of them, the others are started.
	pub workers: u32,
	/// Threads of each process that is started.
	pub threads: NonZeroUsize,
	/// Where workers of other machines can connect, if they can.
	pub listen: Option<SocketAddr>,
	/// What they must know.
	pub secret: Secret,
	/// How long it waits for a worker.
	pub patience: Patience,
	/// The program `trainyard`.
	pub program: PathBuf,
}

/// A training that is shared out.
pub struct Ranked {
	number: u32,
	ranks: Ranks,
	seed: H256,
	/// What workers are told of it.
	job: Vec<u8>,
}

impl Ranked {
	/// Cuts the steps of a specification into so many virtual ranks.
	pub fn new(spec: &CheckedSpec, seed: H256, ranks: u32) -> Result<Self, EngineError> {
		static NUMBERS: AtomicU32 = AtomicU32::new(0);
		let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
		let job = wire::Job { number, seed, ranks, spec: spec.spec().clone() }.encode();
		Ok(Self { number, ranks: Ranks::new(spec, ranks)?, seed, job })
	}

	/// Returns how its steps are cut.
	pub fn ranks(&self) -> &Ranks {
		&self.ranks
	}
}

/// A worker at the other end of a connection.
struct Remote {
	name: String,
	channel: Channel,
	/// The training that it knows.
	job: Option<u32>,
}

/// This process, and those that compute for it.
pub struct Crew {
	shared: Arc<Shared>,
	children: Mutex<Vec<Child>>,
	address: Option<SocketAddr>,
	patience: Patience,
	/// The longest that a node took.
	longest: Mutex<Duration>,
	lost: AtomicUsize,
}

/// What the thread that listens has in common with the crew.
#[derive(Default)]
struct Shared {
	remotes: Mutex<Vec<Remote>>,
	ended: AtomicBool,
	greetings: AtomicUsize,
}

impl Shared {
	fn remotes(&self) -> MutexGuard<'_, Vec<Remote>> {
		self.remotes.lock().unwrap_or_else(PoisonError::into_inner)
	}
}

/// The nodes of a step.
struct Board {
	state: Mutex<Nodes>,
	changed: Condvar,
}

struct Nodes {
	waiting: VecDeque<u32>,
	sums: Vec<Option<Vec<f32>>>,
	failed: Option<EngineError>,
}

impl Board {
	fn new(count: u32) -> Self {
		let sums = (0..count).map(|_| None).collect();
		let state = Mutex::new(Nodes { waiting: (0..count).collect(), sums, failed: None });
		Self { state, changed: Condvar::new() }
	}

	fn nodes(&self) -> MutexGuard<'_, Nodes> {
		self.state.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Returns a node that nobody computes; waits while others may still give theirs back. `None` once all are
	/// computed, or one cannot be.
	fn next(&self) -> Option<u32> {
		let mut nodes = self.nodes();
		loop {
			if nodes.failed.is_some() || nodes.sums.iter().all(Option::is_some) {
				return None;
			}
			if let Some(index) = nodes.waiting.pop_front() {
				return Some(index);
			}
			nodes = self.changed.wait(nodes).unwrap_or_else(PoisonError::into_inner);
		}
	}

	/// Takes what came of a node.
	fn put(&self, index: u32, sum: Result<Vec<f32>, EngineError>) {
		let mut nodes = self.nodes();
		match sum {
			Ok(sum) => {
				if let Some(place) = nodes.sums.get_mut(index as usize) {
					*place = Some(sum);
				}
			}
			Err(e) => nodes.failed = Some(e),
		}
		self.changed.notify_all();
	}

	/// Gives a node back that its worker did not compute.
	fn give_back(&self, index: u32) {
		self.nodes().waiting.push_back(index);
		self.changed.notify_all();
	}

	fn finish(self) -> Result<Vec<Vec<f32>>, EngineError> {
		let nodes = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
		match nodes.failed {
			Some(e) => Err(e),
			None => Ok(nodes.sums.into_iter().flatten().collect()),
		}
	}
}

impl Crew {
	/// Begins: starts the other processes of this machine and waits for them, and listens where that was asked for.
	pub fn start(options: Options) -> Result<Self, CrewError> {
		let others = options.workers.saturating_sub(1) as usize;
		let mut crew = Self {
			shared: Arc::default(),
			children: Mutex::default(),
			address: None,
			patience: options.patience,
			longest: Mutex::default(),
			lost: AtomicUsize::new(0),
		};
		if others == 0 && options.listen.is_none() {
			return Ok(crew);
		}
		let at = options.listen.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
		let listener = TcpListener::bind(at).map_err(|e| CrewError::Listen(at, e))?;
		let mut address = listener.local_addr().map_err(|e| CrewError::Listen(at, e))?;
		crew.address = Some(address);
		let (shared, secret) = (crew.shared.clone(), options.secret.clone());
		std::thread::spawn(move || listen(&listener, &shared, &secret));
		if address.ip().is_unspecified() {
			address.set_ip(Ipv4Addr::LOCALHOST.into());
		}
		for _ in 0..others {
			let child = Command::new(&options.program)
				.args(["ranks", "work", "--connect", &address.to_string()])
				.args(["--threads", &options.threads.to_string()])
				.env(SECRET_VARIABLE, options.secret.to_hex())
				.stdin(Stdio::null())
				.stdout(Stdio::null())
				.spawn()
				.map_err(|e| CrewError::Start(options.program.clone(), e))?;
			info!("started worker {}", child.id());
			crew.children.lock().unwrap_or_else(PoisonError::into_inner).push(child);
		}
		crew.wait_for(others)?;
		Ok(crew)
	}

	/// Waits until so many workers are connected.
	fn wait_for(&self, count: usize) -> Result<(), CrewError> {
		let begun = Instant::now();
		while self.shared.remotes().len() < count {
			let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
			for child in children.iter_mut() {
				if let Ok(Some(status)) = child.try_wait() {
					return Err(CrewError::Absent(format!(": it ended ({status})")));
				}
			}
			if begun.elapsed() > START {
				return Err(CrewError::Absent(format!(" in {} s", START.as_secs())));
			}
			drop(children);
			std::thread::sleep(Duration::from_millis(5));
		}
		Ok(())
	}

	/// Returns where it listens, if it does.
	pub fn address(&self) -> Option<SocketAddr> {
		self.address
	}

	/// Returns how many processes compute, with this one.
	pub fn size(&self) -> usize {
		self.shared.remotes().len().saturating_add(1)
	}

	/// Returns how many workers were lost so far.
	pub fn lost(&self) -> usize {
		self.lost.load(Ordering::Relaxed)
	}

	/// Returns the numbers of the processes that were started here.
	pub fn children(&self) -> Vec<u32> {
		let children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
		children.iter().map(Child::id).collect()
	}

	/// Takes a state one step further: what [`Ranks::step`] does, shared out among all that are there. Who fails on the
	/// way is not asked again, and others compute what it had: the result is the same.
	pub fn step(
		&self,
		ranked: &Ranked,
		engine: &Engine,
		state: &mut State,
		step: u32,
	) -> Result<RankedStep, EngineError> {
		// Who connects meanwhile takes part from the next step on.
		let mut remotes = std::mem::take(&mut *self.shared.remotes());
		let ranks = &ranked.ranks;
		if remotes.is_empty() {
			return ranks.step(engine, state, step);
		}
		let numbers = ranks.parameters_of(state)?;
		let parameters = ranks.parameters_from(&numbers)?;
		// The largest nodes of which there is one for each.
		let workers = u32::try_from(remotes.len()).unwrap_or(u32::MAX).saturating_add(1);
		let levels = (0..=Node::root_level(ranks.count())).rev();
		let enough = |level: &u32| Node::count(*level, ranks.count()) >= workers;
		let level = levels.into_iter().find(enough).unwrap_or(0);
		let board = Board::new(Node::count(level, ranks.count()));
		let at = At { ranked, engine, numbers: &numbers, step, level, board: &board };
		let kept: Vec<Remote> = std::thread::scope(|scope| {
			let asked: Vec<_> =
				remotes.drain(..).map(|remote| scope.spawn(|| self.ask(remote, &at))).collect();
			while let Some(index) = board.next() {
				let begun = Instant::now();
				let node = Node { level, index };
				let rows = ranks.rows_of(engine, step, node);
				let sum =
					rows.and_then(|rows| ranks.sum(&parameters, &ranked.seed, step, node, &rows));
				board.put(index, sum);
				self.took(begun.elapsed());
			}
			asked.into_iter().filter_map(|one| one.join().ok().flatten()).collect()
		});
		self.shared.remotes().extend(kept);
		let root = ranks::root(board.finish()?).unwrap_or_default();
		ranks.update(state, step, root)
	}

	/// Has one worker compute nodes for as long as there are any. Returns it, unless it is lost.
	fn ask(&self, mut remote: Remote, at: &At<'_>) -> Option<Remote> {
		let mut has = None;
		let done = self.ask_all(&mut remote, at, &mut has);
		let Err(e) = done else { return Some(remote) };
		if let Some(index) = has {
			at.board.give_back(index);
		}
		self.lost.fetch_add(1, Ordering::Relaxed);
		warn!("worker {} is lost, and others compute what it had: {e}", remote.name);
		remote.channel.close();
		None
	}

	fn ask_all(
		&self,
		remote: &mut Remote,
		at: &At<'_>,
		has: &mut Option<u32>,
	) -> Result<(), WireError> {
		let (channel, ranks) = (&mut remote.channel, &at.ranked.ranks);
		channel.patient(Some(self.patience_now()))?;
		let mut told = false;
		while let Some(index) = at.board.next() {
			*has = Some(index);
			let begun = Instant::now();
			if remote.job != Some(at.ranked.number) {
				channel.send(Kind::Job, &[&at.ranked.job])?;
				remote.job = Some(at.ranked.number);
			}
			if !told {
				channel.send(Kind::Parameters, &[wire::number_bytes(at.numbers)])?;
				told = true;
			}
			let node = Node { level: at.level, index };
			let rows = match ranks.rows_of(at.engine, at.step, node) {
				Ok(rows) => rows,
				// It is not the worker's fault.
				Err(e) => {
					at.board.put(index, Err(e));
					break;
				}
			};
			let task = Task { step: at.step, level: at.level, index }.encode();
			let labels = wire::label_bytes(&rows.labels);
			channel.send(Kind::Node, &[&task, wire::number_bytes(&rows.features), &labels])?;
			let length = ranks.sum_len() as u64 * 4;
			let sum = match channel.receive(length.saturating_add(wire::SHORT))? {
				Some((Kind::Sum, bytes)) if bytes.len() as u64 == length => wire::numbers(&bytes),
				Some((Kind::Sum, _)) => {
					return Err(WireError::Unknown("a sum is of another length"));
				}
				Some((Kind::No, why)) => {
					return Err(WireError::Refused(String::from_utf8_lossy(&why).into_owned()));
				}
				Some(_) => return Err(WireError::Unknown("a worker says nothing like that")),
				None => return Err(WireError::Closed),
			};
			*has = None;
			at.board.put(index, Ok(sum));
			self.took(begun.elapsed());
		}
		Ok(())
	}

	/// Notes how long a node took.
	fn took(&self, time: Duration) {
		let mut longest = self.longest.lock().unwrap_or_else(PoisonError::into_inner);
		*longest = time.max(*longest);
	}

	fn patience_now(&self) -> Duration {
		let longest = *self.longest.lock().unwrap_or_else(PoisonError::into_inner);
		match longest.is_zero() {
			true => self.patience.first,
			false => self.patience.least.max(longest.saturating_mul(10)),
		}
	}
}

/// What the workers of a step have in common.
struct At<'a> {
	ranked: &'a Ranked,
	engine: &'a Engine,
	numbers: &'a [f32],
	step: u32,
	level: u32,
	board: &'a Board,
}

impl Drop for Crew {
	fn drop(&mut self) {
		self.shared.ended.store(true, Ordering::Relaxed);
		// A worker ends where its connection does.
		self.shared.remotes().drain(..).for_each(|remote| remote.channel.close());
		if let Some(mut address) = self.address {
			if address.ip().is_unspecified() {
				address.set_ip(Ipv4Addr::LOCALHOST.into());
			}
			// This wakes the thread that listens.
			let _ = std::net::TcpStream::connect_timeout(&address, END);
		}
		let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
		let begun = Instant::now();
		for child in children.iter_mut() {
			while matches!(child.try_wait(), Ok(None)) {
				if begun.elapsed() > END {
					// What cannot be killed has ended.
					let _ = child.kill();
					let _ = child.wait();
				}
				std::thread::sleep(Duration::from_millis(5));
			}
		}
	}
}

/// Takes workers, each by a thread of its own, so that one that says nothing keeps nobody waiting.
fn listen(listener: &TcpListener, shared: &Arc<Shared>, secret: &Secret) {
	for stream in listener.incoming() {
		if shared.ended.load(Ordering::Relaxed) {
			return;
		}
		let Ok(stream) = stream else {
			// Too many files are open, for example.
			std::thread::sleep(Duration::from_millis(100));
			continue;
		};
		if shared.greetings.fetch_add(1, Ordering::Relaxed) >= GREETINGS {
			shared.greetings.fetch_sub(1, Ordering::Relaxed);
			continue;
		}
		let (shared, secret) = (shared.clone(), secret.clone());
		std::thread::spawn(move || {
			let name = stream.peer_addr().map_or_else(|_| "?".into(), |a| a.to_string());
			match Channel::accept(stream, &secret) {
				Ok(channel) => {
					info!("worker {name} is there");
					let mut remotes = shared.remotes();
					match shared.ended.load(Ordering::Relaxed) {
						true => channel.close(),
						false => remotes.push(Remote { name, channel, job: None }),
					}
				}
				Err(e) => warn!("{name} is no worker of this crew: {e}"),
			}
			shared.greetings.fetch_sub(1, Ordering::Relaxed);
		});
	}
}
