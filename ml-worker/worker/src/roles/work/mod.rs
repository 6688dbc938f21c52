//! One daemon for a machine's owner: plays trainer, driller, verifier and whistleblower, and computes tasks, with
//! one key, one connection, one folder, and one budget of memory, disk and cores.
//!
//! Each role is the one that runs alone, with a folder of its own below that of the daemon. What they share:
//!
//! - one [`Transactor`], which sends one transaction after the other, so two roles never take the same nonce;
//! - a [`Machine`], on which what costs money when it is missed is computed first, and laps rest while
//!   anything else is;
//! - the disk, of which the verifier has a part of its own, and the others share the rest (`budget`).
//!
//! Beside them it keeps the books: `accounts` follows final blocks, `booking` reads what they did to the
//! account, `ledger` keeps it, and `status` shows it with what is `locked` and with the `reasons` why
//! nothing came.

mod accounts;
mod booking;
mod budget;
mod facts;
mod ledger;
mod locked;
mod options;
mod part;
mod reasons;
mod status;
#[cfg(test)]
mod testing;
mod watch;

pub use accounts::BooksError;
pub use options::{OptionError, WorkArgs};
pub use part::Part;

use super::{
	driller::{self, DrillerArgs, DrillerError},
	machine::Machine,
	metrics::MetricsError,
	replay,
	report::Reporter,
	run::{report_other_chains, stop_signal, Base, Play, RoleError, PATIENCE},
	store::{self, default_folder, Home, StoreError},
	trainer::{self, TrainerArgs, TrainerError},
	verifier::{self, VerifierArgs, VerifierError},
	whistleblower::{self, WhistleblowerArgs, WhistleblowerError},
};
use crate::task::market::role::{self as tasks, TaskWorkArgs};
use accounts::Accounts;
use facts::Asker;
use futures::{future::LocalBoxFuture, stream::FuturesUnordered, FutureExt, StreamExt};
use ledger::Ledger;
use options::Budget;
use reasons::Told;
use serde::{Deserialize, Serialize};
use serde_json::{json, Map, Value};
use status::Status;
use std::{
	collections::BTreeSet,
	convert::Infallible,
	num::NonZeroUsize,
	path::{Path, PathBuf},
	sync::Arc,
	time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::sync::watch as channel;
use tracing::warn;
use trainyard_client::{keys::KeyError, AccountId32, Chain, ChainError, Transactor};
use trainyard_proof::bundle::lock::{Lock, LockError};
use watch::{blobs, Watcher};

/// The name in reports and metrics.
const NAME: &str = "work";
const MIB: u64 = 1024 * 1024;

/// Says why the daemon cannot work at all.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
	/// Its options.
	#[error(transparent)]
	Options(#[from] OptionError),
	/// There is no key.
	#[error(transparent)]
	Key(#[from] KeyError),
	/// The chain cannot be asked, or is not ours.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// The folder cannot be used.
	#[error(transparent)]
	Store(#[from] StoreError),
	/// Another daemon works there.
	#[error("{0}: is another `trainyard work` running there?")]
	Lock(#[from] LockError),
	/// It is another account's folder.
	#[error("{folder} is the folder of {owner}, and this is the key of {account}: give another folder by --dir", folder = .folder.display())]
	OtherAccount {
		/// The folder.
		folder: PathBuf,
		/// Whose it is.
		owner: AccountId32,
		/// Whose key was given.
		account: AccountId32,
	},
	/// The books cannot be kept.
	#[error(transparent)]
	Books(#[from] BooksError),
	/// Nothing to show.
	#[error("there is no status in {0}: `trainyard work` has not run there")]
	NoStatus(PathBuf),
	/// The metrics cannot be shown.
	#[error(transparent)]
	Metrics(#[from] MetricsError),
	/// The trainer cannot work.
	#[error("the trainer: {0}")]
	Trainer(RoleError<TrainerError>),
	/// The driller cannot work.
	#[error("the driller: {0}")]
	Driller(RoleError<DrillerError>),
	/// The verifier cannot work.
	#[error("the verifier: {0}")]
	Verifier(RoleError<VerifierError>),
	/// The whistleblower cannot work.
	#[error("the whistleblower: {0}")]
	Whistleblower(RoleError<WhistleblowerError>),
	/// Tasks cannot be computed.
	#[error("tasks: {0}")]
	Tasks(RoleError<Infallible>),
}

/// Whose folder it is.
#[derive(Debug, Serialize, Deserialize)]
struct Owner {
	account: AccountId32,
}

/// Locks a folder for `account`. Fails if it is another one's, or if a daemon works there.
fn own(folder: &Path, account: &AccountId32) -> Result<Lock, WorkError> {
	let lock = Lock::take(folder)?;
	let path = folder.join("owner.json");
	match store::load::<Owner>(&path)? {
		Some(Owner { account: owner }) if owner != *account => {
			let (folder, account) = (folder.to_owned(), *account);
			Err(WorkError::OtherAccount { folder, owner, account })
		}
		Some(_) => Ok(lock),
		None => {
			store::save(&path, &Owner { account: *account })?;
			Ok(lock)
		}
	}
}

/// Returns the time in milliseconds since 1970.
fn now() -> u64 {
	let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
	u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What all roles are made of.
struct Shared {
	chain: Arc<Chain>,
	sender: Arc<Transactor>,
	machine: Machine,
	folder: PathBuf,
	roles: BTreeSet<Part>,
	report: Reporter,
	budget: Budget,
}

impl Shared {
	/// Returns the folder of a role.
	fn folder(&self, role: Part) -> PathBuf {
		self.folder.join(role.name())
	}

	/// Opens the folder of a role.
	fn home(&self, role: Part, forget: bool) -> Result<Home, StoreError> {
		let home = Home::open(&self.folder(role), &self.chain.genesis())?;
		report_other_chains(&home, &self.report, forget)?;
		// The verifier has a part of the disk for itself.
		let shares = |other: &&Part| **other != role && **other != Part::Verifier;
		let beside = match role {
			Part::Verifier => Vec::new(),
			_ => self.roles.iter().filter(shares).map(|other| self.folder(*other)).collect(),
		};
		Ok(home.beside(beside))
	}

	/// Gets the roles ready, one after the other: each may have to register the account.
	async fn prepare(
		&self,
		args: &WorkArgs,
		heard: tokio::sync::mpsc::UnboundedSender<Map<String, Value>>,
		stop: &channel::Receiver<bool>,
	) -> Result<Vec<(Part, Play)>, WorkError> {
		let mut plays = Vec::new();
		for role in &self.roles {
			let report = Reporter::new(role.name(), args.json, Some(&events(&self.folder)))
				.heard_by(heard.clone());
			self.report.metrics().join(report.metrics());
			let base = Base {
				chain: self.chain.clone(),
				sender: self.sender.clone(),
				home: Arc::new(self.home(*role, args.forget_other_chains)?),
				report,
				machine: self.machine.clone(),
			};
			let mut stop = stop.clone();
			let stop = async move {
				// It is dropped only with the daemon.
				let _ = stop.wait_for(|stop| *stop).await;
			};
			let budget = &self.budget;
			let play = match role {
				Part::Trainer => trainer::prepare(args.of(*role, budget)?, base, stop)
					.await
					.map_err(WorkError::Trainer)?,
				Part::Driller => driller::prepare(args.of(*role, budget)?, base, stop)
					.await
					.map_err(WorkError::Driller)?,
				Part::Verifier => verifier::prepare(args.of(*role, budget)?, base, stop)
					.await
					.map_err(WorkError::Verifier)?,
				Part::Whistleblower => whistleblower::prepare(args.of(*role, budget)?, base, stop)
					.await
					.map_err(WorkError::Whistleblower)?,
				Part::Tasks => tasks::prepare(args.of(*role, budget)?, base, stop)
					.await
					.map_err(WorkError::Tasks)?,
				Part::Node | Part::Disputes | Part::Account => continue,
			};
			plays.push((*role, play));
		}
		Ok(plays)
	}
}

fn events(folder: &Path) -> PathBuf {
	folder.join("events.jsonl")
}

/// Checks that each role takes its options.
fn check_options(
	args: &WorkArgs,
	roles: &BTreeSet<Part>,
	budget: &Budget,
) -> Result<(), OptionError> {
	for role in roles {
		match role {
			Part::Trainer => drop(args.of::<TrainerArgs>(*role, budget)?),
			Part::Driller => drop(args.of::<DrillerArgs>(*role, budget)?),
			Part::Verifier => drop(args.of::<VerifierArgs>(*role, budget)?),
			Part::Whistleblower => drop(args.of::<WhistleblowerArgs>(*role, budget)?),
			Part::Tasks => drop(args.of::<TaskWorkArgs>(*role, budget)?),
			Part::Node | Part::Disputes | Part::Account => {}
		}
	}
	Ok(())
}

/// Runs the daemon until it is asked to stop.
pub async fn run(args: WorkArgs) -> Result<(), WorkError> {
	let roles = args.roles()?;
	let key = args.key.keypair()?;
	let account = trainyard_client::keys::account(&key);
	let folder = match &args.dir {
		Some(dir) => dir.clone(),
		None => default_folder(NAME, &account)?,
	};
	// What is wrong with the options is said before the node is waited for.
	let free = free_mib(&folder);
	let budget = args.budget(replay::memory(None) / MIB, free)?;
	check_options(&args, &roles, &budget)?;
	let _lock = own(&folder, &account)?;
	let threads = NonZeroUsize::new(rayon::current_num_threads()).unwrap_or(NonZeroUsize::MIN);
	let machine = Machine::shared(args.at_once, threads);
	let chain = Arc::new(Chain::connect(&args.node.node, PATIENCE).await?);
	let sender = Arc::new(Transactor::new(chain.clone(), key));
	let report = Reporter::new(NAME, args.json, Some(&events(&folder)));
	let _page = args.metrics.serve(report.metrics(), &chain, &account).await?;
	let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
	let text = format!(
		"{account} works as {} on {}, with {threads} thread(s), {} MiB of memory and {} MiB of disk",
		names.join(", "),
		chain.url(),
		budget.memory.verifier + budget.memory.others,
		budget.disk.verifier + budget.disk.others
	);
	let fields = json!({ "account": account, "roles": names, "threads": threads });
	report.general("started", &text, fields);
	// Before any role pays for its registration.
	let books = open_books(&chain, account, &folder, &report).await?;
	let shared = Shared { chain, sender, machine, folder, roles, report, budget };
	let (asked, stop) = channel::channel(false);
	let (heard, ears) = tokio::sync::mpsc::unbounded_channel();
	let plays = shared.prepare(&args, heard, &stop).await?;
	let mut watcher = Watcher {
		block_time: shared.chain.block_time().await?,
		asker: Asker::default(),
		told: Told::default(),
		since: now(),
		every: Duration::from_secs(u64::from(args.status_minutes) * 60),
		json: args.json,
		books,
		ears,
		shared: &shared,
	};
	play(plays, &mut watcher, asked, stop_signal()).await
}

/// Opens the books. A node that is away is waited for.
async fn open_books(
	chain: &Arc<Chain>,
	account: AccountId32,
	folder: &Path,
	report: &Reporter,
) -> Result<Accounts, WorkError> {
	let begun = Instant::now();
	loop {
		match Accounts::open(chain.clone(), account, folder.to_owned(), report).await {
			Err(BooksError::Chain(e)) if !e.is_final() && begun.elapsed() < PATIENCE => {
				warn!("{e}; asking again");
				tokio::time::sleep(Duration::from_secs(1)).await;
			}
			opened => return Ok(opened?),
		}
	}
}

/// Returns half of what is free of the disk of a folder, and what is in it, in MiB.
fn free_mib(folder: &Path) -> u64 {
	let mut there = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
	while !there.exists() && there.pop() {}
	let used = trainyard_proof::bundle::files::size(folder).unwrap_or_default();
	let free = fs4::available_space(&there).unwrap_or(u64::MAX);
	used.saturating_add(free / 2) / MIB
}

/// Plays the roles until `signal` resolves and all have ended, or one of them cannot go on.
async fn play(
	plays: Vec<(Part, Play)>,
	watcher: &mut Watcher<'_>,
	asked: channel::Sender<bool>,
	signal: impl std::future::Future<Output = ()>,
) -> Result<(), WorkError> {
	let mut playing: FuturesUnordered<LocalBoxFuture<'_, (Part, Result<(), ChainError>)>> = plays
		.into_iter()
		.map(|(role, play)| async move { (role, play.await) }.boxed_local())
		.collect();
	let mut signal = std::pin::pin!(signal);
	let mut failed = None;
	let mut stopping = false;
	loop {
		tokio::select! {
			biased;
			() = &mut signal, if !stopping => {
				stopping = true;
				let _ = asked.send(true);
			}
			ended = playing.next() => match ended {
				Some((role, Ok(()))) => {
					let text = format!("the {} has ended", role.name());
					watcher.shared.report.general("role_ended", &text, json!({ "of": role }));
				}
				Some((_, Err(error))) => {
					// The node runs another chain, or another protocol: nobody can go on.
					failed.get_or_insert(error);
					stopping = true;
					let _ = asked.send(true);
				}
				None => break,
			},
			watched = watcher.watch(), if !stopping => {
				if let Err(error) = watched {
					failed.get_or_insert(error);
					stopping = true;
					let _ = asked.send(true);
				}
			}
		}
	}
	watcher.end().await;
	failed.map_or(Ok(()), |error| Err(error.into()))
}

/// Whether a daemon works in a folder.
fn is_running(folder: &Path) -> bool {
	matches!(Lock::take(folder), Err(LockError::Held(_)))
}

/// What is shown of a folder, with or without its daemon.
pub struct Shown {
	/// For people.
	pub text: String,
	/// For programs.
	pub json: Value,
}

/// Shows what the folder says, and what the chain says now where a node is given.
pub async fn status(folder: &Path, node: Option<&str>) -> Result<Shown, WorkError> {
	let missing = || WorkError::NoStatus(folder.to_owned());
	if !folder.is_dir() {
		return Err(missing());
	}
	let mut status = Status::load(folder)?.ok_or_else(missing)?;
	let ledger = Ledger::load(folder)?.ok_or_else(missing)?;
	let running = is_running(folder);
	if let Some(url) = node {
		let chain = Chain::connect(url, Duration::from_secs(5)).await?;
		let head = chain.head().await?;
		let blobs = blobs(&folder.join(Part::Trainer.name()), &chain.genesis());
		let facts = Asker::default().facts(&chain, status.account, head, blobs).await?;
		status.best = facts.best;
		(status.free, status.held) = (facts.account.free, facts.account.reserved);
		status.locked = locked::locked(&facts);
		if !running {
			status.computing.clear();
		}
	}
	let age = now().saturating_sub(status.time) / 1_000;
	let state = match running {
		true => format!("the daemon works; this was written {age} s ago\n"),
		false => format!("no daemon works here; this was written {age} s ago\n"),
	};
	let text = state + &status::text(&status, &ledger);
	let json =
		json!({ "running": running, "status": status, "ledger": ledger, "all": ledger.all() });
	Ok(Shown { text, json })
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn options_of_every_role_are_checked_before_anything_begins() {
		use clap::Parser;
		#[derive(Parser)]
		struct Line {
			#[command(flatten)]
			args: WorkArgs,
		}
		let shares = budget::Shares { verifier: 5_000, others: 1_000 };
		let budget = Budget { memory: shares, disk: shares };
		for role in Part::ROLES {
			let check = |text: &str| {
				let option = format!("--{}-options={text}", role.name());
				let all = Part::ROLES.map(Part::name).join(",");
				let line = ["work".to_owned(), "--roles".to_owned(), all, option];
				let args = Line::try_parse_from(line).unwrap().args;
				check_options(&args, &args.roles().unwrap(), &budget)
			};
			assert_eq!(check(""), Ok(()));
			let error = check("--not-there").unwrap_err().to_string();
			assert!(error.starts_with(&format!("--{}-options: ", role.name())), "{error}");
			assert!(matches!(check("--json"), Err(OptionError::Shared { .. })));
		}
	}

	#[test]
	fn a_folder_has_one_owner_and_one_daemon() {
		let dir = tempfile::tempdir().unwrap();
		let folder = dir.path().join("work");
		let (bob, eve) = (AccountId32([1; 32]), AccountId32([2; 32]));
		assert!(!is_running(dir.path()));
		let lock = own(&folder, &bob).unwrap();
		let error = own(&folder, &bob).err().unwrap();
		assert!(matches!(error, WorkError::Lock(LockError::Held(_))), "{error}");
		assert!(error.to_string().contains("another `trainyard work`"), "{error}");
		assert!(is_running(&folder));
		drop(lock);
		let error = own(&folder, &eve).err().unwrap();
		let is_bobs = matches!(&error, WorkError::OtherAccount { owner, .. } if *owner == bob);
		assert!(is_bobs && error.to_string().contains("--dir"), "{error}");
		assert!(own(&folder, &bob).is_ok());
	}

	/// One role that waits for its end, and one that cannot go on: the daemon ends both, and says why.
	#[tokio::test]
	async fn what_ends_one_role_ends_all() {
		let dir = tempfile::tempdir().unwrap();
		for fails in [true, false] {
			let me = AccountId32([7; 32]);
			let node = trainyard_client::fake::FakeNode::new(|_, _, _| Err("no runtime"));
			let chain = Arc::new(node.finalized_at(3).at(5).chain().await);
			let key = trainyard_client::keys::from_uri("//Bob").unwrap();
			let report = Reporter::new(NAME, true, None);
			let folder = dir.path().to_owned();
			let books = Accounts::open(chain.clone(), me, folder.clone(), &report).await.unwrap();
			let shares = budget::Shares { verifier: 1, others: 1 };
			let shared = Shared {
				sender: Arc::new(Transactor::new(chain.clone(), key)),
				machine: Machine::shared(NonZeroUsize::MIN, NonZeroUsize::MIN),
				roles: Part::ROLES.into(),
				budget: Budget { memory: shares, disk: shares },
				chain,
				folder,
				report,
			};
			let (asked, stop) = channel::channel(false);
			let (_heard, ears) = tokio::sync::mpsc::unbounded_channel();
			let mut watcher = Watcher {
				shared: &shared,
				books,
				asker: Asker::default(),
				told: Told::default(),
				ears,
				block_time: Duration::from_secs(6),
				since: 0,
				every: Duration::ZERO,
				json: true,
			};
			let (ended, mut heard) = tokio::sync::mpsc::unbounded_channel();
			let mut until = stop.clone();
			let waits: Play = Box::pin(async move {
				let _ = until.wait_for(|stop| *stop).await;
				ended.send(()).unwrap();
				Ok(())
			});
			let error = ChainError::NotTrainyard { url: "ws://x".into(), reason: "no".into() };
			let other: Play = match fails {
				true => Box::pin(async move { Err(error) }),
				// It is done, and the others go on.
				false => Box::pin(async { Ok(()) }),
			};
			let plays = vec![(Part::Trainer, waits), (Part::Driller, other)];
			let signal = async move {
				match fails {
					true => std::future::pending().await,
					false => tokio::time::sleep(Duration::from_millis(300)).await,
				}
			};
			let begun = Instant::now();
			let result = play(plays, &mut watcher, asked, signal).await;
			assert_eq!(result.is_err(), fails, "{result:?}");
			assert!(heard.try_recv().is_ok(), "the other one was asked to stop");
			assert!(fails || begun.elapsed() >= Duration::from_millis(300));
		}
	}

	#[test]
	fn the_disk_of_a_folder_that_is_not_there_yet_is_measured() {
		let dir = tempfile::tempdir().unwrap();
		for folder in [dir.path().join("a/b"), PathBuf::from("not-there-yet")] {
			let free = free_mib(&folder);
			assert!(free > 0 && free < u64::from(u32::MAX), "{} MiB", free);
			assert!(!folder.exists());
		}
	}

	#[tokio::test]
	async fn a_folder_without_a_status_says_so() {
		let dir = tempfile::tempdir().unwrap();
		for folder in [dir.path().to_owned(), dir.path().join("nowhere")] {
			let error = status(&folder, None).await.err().unwrap();
			assert!(matches!(&error, WorkError::NoStatus(at) if *at == folder), "{error}");
			assert!(!dir.path().join("nowhere").exists(), "looking makes nothing");
		}
	}
}
