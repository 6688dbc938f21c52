//! One peer, in a process of its own.
//!
//! A round is: what stands for training; the peer's update; sending it to all others, and waiting for theirs as
//! long as updates usually take; hearing which of them count, and taking those that are not here from somebody who
//! has them; the outer step. A peer that was killed begins with what it has on disk and takes the rounds that it
//! missed from the others: updates, not models, since whoever has the same updates computes the same bits.

use super::{
	inbox::Inbox,
	movement::Movement,
	standing::{self, Standing},
	talk::{self, Head, Kind, Sending},
	word::{self, Order, Times},
};
use crate::{compression::Size, outer::Form};
use anyhow::{anyhow, bail, Context, Result};
use std::{
	fs::File,
	io::{self, Write},
	net::SocketAddr,
	path::PathBuf,
	str::FromStr,
	sync::Arc,
	time::{Duration, Instant},
};
use tokio::{
	io::{AsyncBufReadExt, BufReader, Lines, Stdin},
	task::{spawn_blocking, JoinSet},
	time::{sleep, timeout},
};
use trainyard_mixing::{Layout, Residual};
use trainyard_strict::Soft;
use trainyard_transport::{
	Deadlines, EndpointId, Incoming, Limits, Location, Node, Options, SecretKey, Shelf,
};

/// Updates are waited for as long at least.
const LEAST: Duration = Duration::from_millis(250);
/// And as long at most.
const MOST: Duration = Duration::from_secs(3_600);
/// How often an update that counts is looked for with all others.
const TRIES: usize = 3;
/// Longest time in which others take note that a peer began again.
const HELLO: Duration = Duration::from_secs(2);

/// What a peer is told on its command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Terms {
	/// The model and its movement, by --links-alone.
	#[arg(long, hide = true, default_value = "movement")]
	movement: PathBuf,
	/// Where the peer keeps what it has.
	#[arg(long, hide = true, default_value = ".")]
	folder: PathBuf,
	/// Its address.
	#[arg(long, hide = true, default_value = "127.0.0.1:0")]
	listen: SocketAddr,
	/// Seconds that stand for training.
	#[arg(long, hide = true, default_value_t = 0.0)]
	seconds: f64,
	/// Seconds for which updates are waited for as long as it is not known how long they take.
	#[arg(long, hide = true, default_value_t = 10.0)]
	waits: f64,
	/// In this round the process is killed after this part of what it sends: ROUND:PART.
	#[arg(long, hide = true, value_delimiter = ',')]
	dies: Vec<Death>,
}

/// When a peer is killed.
#[derive(Clone, Copy, Debug)]
pub struct Death {
	round: u32,
	part: f64,
}

impl FromStr for Death {
	type Err = anyhow::Error;

	fn from_str(text: &str) -> Result<Self> {
		let (round, part) = text.split_once(':').context("not ROUND:PART")?;
		let death = Self { round: round.parse()?, part: part.parse()? };
		match (0.0..=1.0).contains(&death.part) {
			true => Ok(death),
			false => bail!("a part is from 0 to 1"),
		}
	}
}

/// Runs one peer until the script says nothing more.
pub fn run(size: &Size, terms: &Terms, number: u32) -> Result<()> {
	let [form] = size.updates[..] else { bail!("a peer brings updates in one way") };
	let runtime =
		tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
	runtime.block_on(async {
		let (mut peer, mut said) = Peer::begin(size, terms, number, form).await?;
		let (inbox, mut ended) = (peer.inbox.clone(), JoinSet::new());
		ended.spawn(async move {
			while let Some(line) = said.next_line().await? {
				match Order::parse(&line)? {
					Order::Counted { round, peers } => inbox.count(round, peers),
					Order::Begin { .. } => bail!("it was told to begin twice"),
				}
			}
			Ok(())
		});
		tokio::select! {
			done = peer.rounds() => done?,
			// Without the script nobody says which updates count.
			Some(ended) = ended.join_next() => return ended?,
		}
		// Others may want what is here.
		ended.join_next().await.context("nobody listens to the script")??
	})
}

/// Says something to the script.
fn say(value: &serde_json::Value) -> Result<()> {
	let mut out = io::stdout().lock();
	writeln!(out, "{value}")?;
	Ok(out.flush()?)
}

/// The key of a peer: the same after a restart, and known to all. It protects nothing here.
fn key(number: u32) -> SecretKey {
	SecretKey::from_bytes(blake3::hash(&number.to_le_bytes()).as_bytes())
}

/// Nothing to serve but updates.
struct Nothing;

impl Shelf for Nothing {
	fn find(&self, _: &str) -> Option<PathBuf> {
		None
	}

	fn layout(&self, _: &str, _: &File, _: u64) -> io::Result<trainyard_transport::Layout> {
		Err(io::ErrorKind::NotFound.into())
	}
}

/// Answers other peers.
#[derive(Clone)]
struct Answers {
	node: Node,
	inbox: Inbox,
	keys: Arc<Vec<EndpointId>>,
	bytes: u64,
}

impl Answers {
	async fn attend(&self, mut came: Incoming) -> Result<()> {
		let stream = &mut came.stream;
		let head = talk::head(stream).await?;
		let is_its_own = self.keys.get(head.peer as usize) == Some(&came.from);
		match head.kind {
			Kind::Update if is_its_own && head.bytes == self.bytes => {
				let update = talk::bytes(stream, head.bytes, self.bytes).await?;
				self.inbox.put(head.round, head.peer, update);
				talk::take(stream).await
			}
			Kind::Want => {
				let update = self.inbox.get(head.round, head.peer);
				talk::give(stream, update.as_deref().map(|update| &update[..])).await
			}
			Kind::Hello if is_its_own => {
				self.node.forget(came.from).await;
				talk::take(stream).await
			}
			_ => bail!("a stream of peer {} is not as it should be", head.peer),
		}
	}
}

struct Peer {
	number: u32,
	rounds: u32,
	form: Form,
	layout: Arc<Layout>,
	movement: Arc<Movement>,
	node: Node,
	others: Vec<(u32, Location)>,
	inbox: Inbox,
	deadlines: Deadlines,
	/// How often in a row each peer's update did not come in time.
	missed: Vec<u32>,
	standing: Arc<Standing>,
	joins: u32,
	terms: Terms,
	/// Answering others, and telling them that it is back.
	beside: JoinSet<()>,
}

/// What a peer made of a round of training.
struct Made {
	update: Vec<u8>,
	moved: Vec<f32>,
	left: Residual,
}

/// Computes something without keeping others waiting.
async fn computed<T: Send + 'static>(of: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
	spawn_blocking(of).await?
}

impl Peer {
	/// Says where it is, and waits until all are there.
	async fn begin(
		size: &Size,
		terms: &Terms,
		number: u32,
		form: Form,
	) -> Result<(Self, Lines<BufReader<Stdin>>)> {
		if number >= size.trainers {
			bail!("peer {number} of {}", size.trainers);
		}
		let movement = Arc::new(Movement::read(&terms.movement)?);
		let layout = Arc::new(form.layout(movement.tensors.iter().copied())?);
		let standing = Standing::read(&terms.folder)?
			.unwrap_or_else(|| Standing::new(form, &layout, movement.model.clone()));
		let mut options = Options::new(key(number));
		options.listen = Some(terms.listen);
		let node = Node::bind(options).await?;
		let inbox = Inbox::default();
		let answers = Answers {
			node: node.clone(),
			inbox: inbox.clone(),
			keys: Arc::new((0..size.trainers).map(|peer| key(peer).public()).collect()),
			bytes: form.bytes(&layout),
		};
		let mut serving = node.serve(Arc::new(Nothing), Limits::default());
		let mut beside = JoinSet::new();
		beside.spawn(async move {
			let mut attended = JoinSet::new();
			while let Some(came) = serving.incoming.recv().await {
				while attended.try_join_next().is_some() {}
				let answers = answers.clone();
				attended.spawn(async move {
					if let Err(e) = answers.attend(came).await {
						eprintln!("peer {number}: a stream ended early: {e:#}");
					}
				});
			}
		});
		say(&word::here(&node.location(node.sockets()).to_string(), standing.round))?;
		let mut said = BufReader::new(tokio::io::stdin()).lines();
		let first = said.next_line().await?.context("the script says nothing")?;
		let Order::Begin { peers, joins } = Order::parse(&first)? else {
			bail!("it was not told to begin");
		};
		let others = (0..size.trainers)
			.zip(&peers)
			.filter(|(other, _)| *other != number)
			.map(|(other, location)| Ok((other, location.parse()?)))
			.collect::<Result<Vec<_>>>()?;
		let first = Duration::try_from_secs_f64(terms.waits)?;
		let mut deadlines = Deadlines::new(first, LEAST, MOST);
		standing::read_times(&terms.folder, &mut deadlines);
		let mut peer = Self {
			number,
			rounds: size.rounds,
			form,
			layout,
			movement,
			node,
			others,
			inbox,
			deadlines,
			missed: vec![0; size.trainers as usize],
			standing: Arc::new(standing),
			joins,
			terms: terms.clone(),
			beside,
		};
		if joins > 0 {
			peer.hello();
		}
		Ok((peer, said))
	}

	/// Lets all others know that their connections to it have ended.
	fn hello(&mut self) {
		for (_, location) in self.others.clone() {
			let (node, number) = (self.node.clone(), self.number);
			self.beside.spawn(async move {
				let telling = async {
					let mut stream = node.open(&location).await?;
					talk::hello(&mut stream, number).await
				};
				match timeout(HELLO, telling).await {
					Ok(Ok(())) => {}
					// It may have been killed as well, and says hello itself then.
					Ok(Err(e)) => eprintln!("peer {number}: nobody heard that it is back: {e:#}"),
					Err(_) => eprintln!("peer {number}: nobody heard in time that it is back"),
				}
			});
		}
	}

	async fn rounds(&mut self) -> Result<()> {
		while self.standing.round < self.rounds {
			let (round, begun) = (self.standing.round, Instant::now());
			self.inbox.drop_before(round);
			let mut times = Times::default();
			let made = match round < self.joins {
				true => None,
				false => self.train(round, &mut times).await?,
			};
			let took_part = made.is_some();
			if let Some(made) = made {
				self.exchange(round, made, &mut times).await?;
			} else {
				self.catch_up(round, &mut times).await?;
			}
			times.all = begun.elapsed().as_secs_f64();
			let hash = {
				let (standing, begun) = (self.standing.clone(), Instant::now());
				let hash = computed(move || Ok(standing.hash())).await?;
				times.stepping += begun.elapsed().as_secs_f64();
				times.all += begun.elapsed().as_secs_f64();
				hash
			};
			say(&word::done(round, &hash, took_part, &times))?;
		}
		Ok(())
	}

	/// Waits as long as training takes, and makes the update. `None` where the others went on meanwhile.
	async fn train(&self, round: u32, times: &mut Times) -> Result<Option<Made>> {
		let begun = Instant::now();
		let (standing, folder) = (self.standing.clone(), self.terms.folder.clone());
		let times_seen = self.deadlines.text();
		let saved = computed(move || {
			standing.write(&folder)?;
			standing::write_times(&folder, &times_seen)
		});
		let (standing, movement, number) =
			(self.standing.clone(), self.movement.clone(), self.number);
		let moved = computed(move || Ok(movement.of(&standing.model, number, round)));
		let ((), moved) = tokio::try_join!(saved, moved)?;
		let seconds = Duration::try_from_secs_f64(self.terms.seconds)?;
		let is_late = tokio::select! {
			() = sleep(seconds.saturating_sub(begun.elapsed())) => false,
			_ = self.inbox.counted(round) => true,
		};
		if is_late {
			return Ok(None);
		}
		times.training = begun.elapsed().as_secs_f64();
		let begun = Instant::now();
		let (standing, layout, form) = (self.standing.clone(), self.layout.clone(), self.form);
		let made = computed(move || {
			let mut left = standing.residual.clone();
			let update = form.update::<Soft>(&layout, &mut left, &standing.model, &moved)?;
			Ok(Made { update, moved, left })
		});
		let made = made.await?;
		times.making = begun.elapsed().as_secs_f64();
		Ok(Some(made))
	}

	/// Sends its update to all others.
	fn send(&self, round: u32, update: &Arc<Vec<u8>>) -> (Arc<Sending>, JoinSet<()>) {
		let all = update.len() as f64 * self.others.len() as f64;
		let death = self.terms.dies.iter().find(|death| death.round == round);
		let sending = Arc::new(Sending::new(death.map(|death| (death.part * all) as u64)));
		let mut tasks = JoinSet::new();
		for (other, location) in self.others.clone() {
			let (node, update, sending) = (self.node.clone(), update.clone(), sending.clone());
			let number = self.number;
			tasks.spawn(async move {
				let head =
					Head { kind: Kind::Update, peer: number, round, bytes: update.len() as u64 };
				let sent = async {
					let mut stream = node.open(&location).await?;
					talk::send(&mut stream, head, &update, &sending).await
				};
				if let Err(e) = sent.await {
					eprintln!("peer {number}: its update did not come to {other}: {e:#}");
				}
			});
		}
		(sending, tasks)
	}

	/// Brings its update, waits for those of others, and takes the outer step by those that count.
	async fn exchange(&mut self, round: u32, made: Made, times: &mut Times) -> Result<()> {
		let began = Instant::now();
		let Made { update, moved, left } = made;
		self.inbox.put(round, self.number, update);
		let update = self.inbox.get(round, self.number).context("its own update is gone")?;
		let (sending, mut tasks) = self.send(round, &update);
		let missed = self.others.iter().map(|(other, _)| self.missed[*other as usize]);
		let limit = self.deadlines.limit(missed.max().unwrap_or(0));
		tokio::select! {
			() = async {
				self.inbox.all(round, self.others.len() + 1).await;
				while tasks.join_next().await.is_some() {}
			} => {}
			() = sleep(limit) => {}
			_ = self.inbox.counted(round) => {}
		}
		// Whoever did not take all by now asks for it.
		tasks.shutdown().await;
		times.waiting = began.elapsed().as_secs_f64();
		times.sent = sending.sent();
		let have = self.inbox.has(round);
		for arrival in self.inbox.arrivals(round, self.number, began) {
			self.deadlines.seen(arrival);
		}
		for (other, missed) in (0u32..).zip(&mut self.missed) {
			*missed = if have.contains(&other) { 0 } else { missed.saturating_add(1) };
		}
		say(&word::has(round, &have))?;
		let agreeing = Instant::now();
		let counted = self.counted(round).await?;
		times.agreeing = agreeing.elapsed().as_secs_f64();
		let is_counted = counted.iter().any(|(peer, _)| *peer == self.number);
		let form = self.form;
		self.change(
			times,
			move |standing| {
				if is_counted {
					standing.residual = left;
					return Ok(());
				}
				// What was not said is said later.
				form.join::<Soft>(&mut standing.residual, &standing.model, &moved)
			},
			counted,
		)
		.await
	}

	/// Takes the outer step of a round that it had no part in.
	async fn catch_up(&mut self, round: u32, times: &mut Times) -> Result<()> {
		let begun = Instant::now();
		let counted = self.counted(round).await?;
		times.agreeing = begun.elapsed().as_secs_f64();
		self.change(times, |_| Ok(()), counted).await
	}

	/// Changes what it has, and takes the outer step by some updates.
	async fn change(
		&mut self,
		times: &mut Times,
		before: impl FnOnce(&mut Standing) -> Result<()> + Send + 'static,
		counted: Vec<(u32, Arc<Vec<u8>>)>,
	) -> Result<()> {
		let begun = Instant::now();
		let (mut standing, layout, form) = (self.standing.clone(), self.layout.clone(), self.form);
		// It alone has it then, and nothing is copied.
		self.standing = Arc::new(Standing::new(form, &form.layout([])?, Vec::new()));
		self.standing = computed(move || {
			let changed = Arc::make_mut(&mut standing);
			before(changed)?;
			let updates: Vec<&[u8]> = counted.iter().map(|(_, update)| &update[..]).collect();
			if !updates.is_empty() {
				form.step::<Soft>(&layout, &mut changed.model, &mut changed.velocity, &updates)?;
			}
			changed.round += 1;
			Ok(standing)
		})
		.await?;
		times.stepping = begun.elapsed().as_secs_f64();
		Ok(())
	}

	/// Waits until it is said which updates count, and returns them.
	async fn counted(&self, round: u32) -> Result<Vec<(u32, Arc<Vec<u8>>)>> {
		let mut all = Vec::new();
		for peer in self.inbox.counted(round).await {
			let update = match self.inbox.get(round, peer) {
				Some(update) => update,
				None => self.fetch(round, peer).await?,
			};
			all.push((peer, update));
		}
		Ok(all)
	}

	/// Takes an update from somebody who has it.
	async fn fetch(&self, round: u32, peer: u32) -> Result<Arc<Vec<u8>>> {
		let most = self.form.bytes(&self.layout);
		let mut why = anyhow!("there is nobody else");
		let mut others: Vec<_> = self.others.iter().collect();
		// Whoever did not bring its own may have been killed.
		others.sort_by_key(|(other, _)| self.missed[*other as usize]);
		for (other, location) in others.iter().cycle().take(TRIES * others.len()) {
			let asked = async {
				let mut stream = self.node.open(location).await?;
				talk::want(&mut stream, peer, round, most).await
			};
			match timeout(self.deadlines.limit(1), asked).await {
				Ok(Ok(Some(update))) => {
					self.inbox.put(round, peer, update);
					return self.inbox.get(round, peer).context("an update is gone");
				}
				Ok(Ok(None)) => why = anyhow!("peer {other} does not have it"),
				Ok(Err(e)) => why = e,
				Err(_) => why = anyhow!("peer {other} does not answer in time"),
			}
		}
		Err(why.context(format!("the update of peer {peer} in round {round} cannot be had")))
	}
}
