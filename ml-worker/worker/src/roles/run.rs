//! The loop of every role.
//!
//! `run` gets the key, connects to the node, opens and locks the folder, shows the metrics and
//! handles the signal to stop. Then it waits for blocks, lets the role look at each, and hears how
//! tasks end. It goes on through lost connections, refusals and full disks, and reports failures.
//!
//! A `Role` adds what is its own: what it does at a block, and what follows when a task of it has
//! ended. It keeps no queue and listens to no events, so a block or a task may be missed at any
//! time.

use super::{
	blocks::{next_block, Complaints, LookError},
	fetch::SetupError,
	machine::{turns::Turns, Machine},
	metrics::{MetricsArgs, MetricsError},
	report::Reporter,
	store::{default_folder, Home, OtherChain, StoreError},
	tasks::{Failures, Outcome, TaskName, Tasks},
};
use crate::args::{KeyArgs, NodeArgs};
use serde_json::{json, Map, Value};
use std::{
	fmt::Debug,
	future::Future,
	hash::Hash,
	path::PathBuf,
	pin::Pin,
	sync::Arc,
	time::{Duration, Instant},
};
use trainyard_client::{keys::KeyError, Chain, ChainError, Head, Transactor};

/// How long a daemon waits for its node at the start: that may have gigabytes to read first.
pub(in crate::roles) const PATIENCE: Duration = Duration::from_secs(3_600);
/// How long a role that ends waits for its last tasks.
const LAST_TASKS: Duration = Duration::from_secs(10);

/// Options of every role.
#[derive(Clone, Debug, clap::Args)]
pub struct RoleArgs {
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Folder for data, results and what must survive a restart; one daemon per folder
	/// [default: $XDG_DATA_HOME/trainyard/ROLE-ACCOUNT or ~/.local/share/trainyard/...]
	#[arg(long, value_name = "DIR")]
	dir: Option<PathBuf>,
	/// Remove what the folder keeps of other chains, the salts of their running jobs included
	#[arg(long)]
	forget_other_chains: bool,
	/// Compute only while no other program does that names the same file: for several accounts on a machine
	/// that has memory for one computation. Deadlines do not count, so leave it out where time is short
	#[arg(long, value_name = "FILE")]
	turns: Option<PathBuf>,
	#[command(flatten)]
	metrics: MetricsArgs,
	/// One JSON object per event
	#[arg(long)]
	json: bool,
}

/// Says why a role cannot work at all: for one of the reasons that all roles have, or for its own.
#[derive(Debug, thiserror::Error)]
pub enum RoleError<Own: std::error::Error + 'static> {
	/// The chain cannot be asked, or is not ours.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// There is no key.
	#[error(transparent)]
	Key(#[from] KeyError),
	/// The folder cannot be used.
	#[error(transparent)]
	Store(#[from] StoreError),
	/// The metrics cannot be shown.
	#[error(transparent)]
	Metrics(#[from] MetricsError),
	/// Nothing can be fetched.
	#[error(transparent)]
	Fetch(#[from] SetupError),
	/// The file of the turns cannot be used.
	#[error(
		"--turns {path}: {source}. Name a file in a folder that is there and can be written to"
	)]
	Turns {
		/// The file.
		path: PathBuf,
		/// What the system said.
		source: std::io::Error,
	},
	/// A reason of this role alone.
	#[error(transparent)]
	Own(Own),
}

/// What every role works with.
#[derive(Clone)]
pub struct Base {
	/// The chain.
	pub chain: Arc<Chain>,
	/// Sends the role's transactions.
	pub sender: Arc<Transactor>,
	/// The role's folder.
	pub home: Arc<Home>,
	/// Reports what is done.
	pub report: Reporter,
	/// What it computes on.
	pub machine: Machine,
}

/// A role at work, until it is asked to stop or is done.
pub(crate) type Play = Pin<Box<dyn Future<Output = Result<(), ChainError>>>>;

/// When a role looks at the chain next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
	/// At once: a step that has become possible should not wait for a block.
	AtOnce,
	/// At the next block.
	Block,
	/// Never: the role is done.
	Never,
}

/// Why a role ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
	/// Somebody asked it to stop.
	Asked,
	/// It is done.
	Done,
}

/// What is a role's own.
pub(crate) trait Role: Sized {
	/// Its name in folders, reports and metrics.
	const NAME: &'static str;
	/// Its options beyond [`RoleArgs`].
	type Args;
	/// Says why it cannot work, for reasons that other roles do not have.
	type Error: std::error::Error + 'static;
	/// What identifies a task of it.
	type Key: Clone + Eq + Hash + Send + 'static;

	/// Gets ready to work.
	async fn open(args: Self::Args, base: &Base) -> Result<Self, RoleError<Self::Error>>;

	/// Returns what is added to the report that it started: text, and an object for programs.
	fn details(&self) -> (String, Map<String, Value>) {
		(String::new(), Map::new())
	}

	/// Looks at the chain once: starts what is missing in `tasks`, and stops what is not wanted any
	/// more. It is asked again at the next block if it fails.
	async fn look(&mut self, head: Head, tasks: &mut Tasks<Self::Key>) -> Result<Next, LookError>;

	/// Returns the name of a task where its failures are reported.
	fn name_of(key: &Self::Key) -> TaskName;

	/// Takes note of how a task ended. Failures are reported already.
	fn ended(&mut self, key: Self::Key, outcome: &Outcome) -> Next;

	/// Returns whether the role that ends waits a moment for a task like this, after it was asked to
	/// stop.
	fn is_awaited(_key: &Self::Key) -> bool {
		false
	}

	/// Does what should be done before the role ends. Returns the line that reports it, if any.
	async fn leave(&mut self, ended: Ended) -> Option<String> {
		(ended == Ended::Asked).then(|| "stopping; start again to go on".to_owned())
	}
}

/// Runs a role until it is asked to stop, or is done.
pub(crate) async fn run<R: Role + 'static>(
	options: RoleArgs,
	args: R::Args,
) -> Result<(), RoleError<R::Error>> {
	let RoleArgs { node, key, dir, forget_other_chains, turns, metrics, json } = options;
	let turns =
		turns.map(|path| Turns::open(&path).map_err(|source| RoleError::Turns { path, source }));
	let machine = Machine::default().in_turns(turns.transpose()?);
	let key = key.keypair()?;
	let chain = Arc::new(Chain::connect(&node.node, PATIENCE).await?);
	let sender = Arc::new(Transactor::new(chain.clone(), key));
	let account = *sender.account();
	let dir = match dir {
		Some(dir) => dir,
		None => default_folder(R::NAME, &account)?,
	};
	let home = Arc::new(Home::open(&dir, &chain.genesis())?);
	let report = Reporter::new(R::NAME, json, Some(&home.events()));
	report_other_chains(&home, &report, forget_other_chains)?;
	let _page = metrics.serve(report.metrics(), &chain, &account).await?;
	let base = Base { chain, sender, home, report, machine };
	Ok(prepare::<R>(args, base, stop_signal()).await?.await?)
}

/// Gets a role ready to work on what it is given, until `stop` resolves. It works while what is returned is
/// polled.
pub(crate) async fn prepare<R: Role + 'static>(
	args: R::Args,
	base: Base,
	stop: impl Future<Output = ()> + 'static,
) -> Result<Play, RoleError<R::Error>> {
	let mut role = R::open(args, &base).await?;
	let (more, mut fields) = role.details();
	let account = *base.sender.account();
	fields.insert("account".into(), json!(account));
	let text = format!("{} {account} on {}{more}", R::NAME, base.chain.url());
	base.report.general("started", &text, Value::Object(fields));
	Ok(Box::pin(async move { work(&mut role, &base, Tasks::default(), stop).await }))
}

/// Reports what the folder keeps of other chains, or removes it.
pub(crate) fn report_other_chains(
	home: &Home,
	report: &Reporter,
	forget: bool,
) -> Result<(), StoreError> {
	for chain in home.other_chains()? {
		let OtherChain { path, bytes } = &chain;
		let of =
			format!("{} ({} MiB) is of another chain", path.display(), bytes.div_ceil(1 << 20));
		let text = match forget {
			true => {
				home.forget(&chain)?;
				format!("{of}: removed")
			}
			false => {
				format!("{of} and counts towards --max-disk-mib; --forget-other-chains removes it")
			}
		};
		let fields = json!({ "folder": path, "bytes": bytes, "removed": forget });
		report.general("other_chain", &text, fields);
	}
	Ok(())
}

/// Lets `role` work until `stop` resolves or it is done, and ends it.
async fn work<R: Role>(
	role: &mut R,
	base: &Base,
	mut tasks: Tasks<R::Key>,
	stop: impl Future<Output = ()>,
) -> Result<(), ChainError> {
	let ended = follow(role, base, &mut tasks, stop).await;
	// What computes ends after its present step.
	tasks.stop_unless(|_| false);
	if let Some(text) = role.leave(ended?).await {
		base.report.general("stopped", &text, Value::Null);
	}
	let deadline = Instant::now() + LAST_TASKS;
	while tasks.running().any(R::is_awaited) {
		let left = deadline.saturating_duration_since(Instant::now());
		if tokio::time::timeout(left, tasks.ended()).await.is_err() {
			break;
		}
	}
	Ok(())
}

/// Follows the chain block by block. Fails only if the chain is not ours any more.
async fn follow<R: Role>(
	role: &mut R,
	base: &Base,
	tasks: &mut Tasks<R::Key>,
	stop: impl Future<Output = ()>,
) -> Result<Ended, ChainError> {
	let (mut failures, mut complaints) = (Failures::default(), Complaints::default());
	let mut seen = None;
	let mut stop = std::pin::pin!(stop);
	loop {
		let next = tokio::select! {
			biased;
			() = &mut stop => return Ok(Ended::Asked),
			(key, outcome) = tasks.ended() => {
				failures.note(&base.report, &key, &R::name_of(&key), &outcome);
				role.ended(key, &outcome)
			}
			head = next_block(&base.chain, seen) => {
				let head = head?;
				seen = Some(head.hash);
				match role.look(head, tasks).await {
					Ok(next) => next,
					Err(error) => {
						complaints.tolerate(&base.chain, error).await?;
						Next::Block
					}
				}
			}
		};
		match next {
			Next::AtOnce => seen = None,
			Next::Block => {}
			Next::Never => return Ok(Ended::Done),
		}
	}
}

/// Resolves when this process is asked to stop (SIGINT or SIGTERM).
pub(crate) async fn stop_signal() {
	let interrupt = tokio::signal::ctrl_c();
	#[cfg(unix)]
	{
		use tokio::signal::unix::{signal, SignalKind};
		match signal(SignalKind::terminate()) {
			Ok(mut terminate) => {
				tokio::select! {
					_ = interrupt => {},
					_ = terminate.recv() => {},
				}
			}
			Err(_) => {
				let _ = interrupt.await;
			}
		}
	}
	#[cfg(not(unix))]
	{
		let _ = interrupt.await;
	}
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
