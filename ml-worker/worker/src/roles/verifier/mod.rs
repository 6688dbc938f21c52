//! The verifier: replays what it is drawn for, and says what it found. Units of drilling that
//! it is drawn for it computes again ([`drilling`]).

mod drilling;
mod examine;
mod pool;
mod round;
mod served;
mod sources;

use super::{
	display,
	fetch::{Fetcher, LocationArgs, SetupError},
	metrics::{MetricsArgs, MetricsError},
	next_block,
	report::Reporter,
	stop_signal,
	store::{default_folder, FindingsRecord, Home, StoreError},
	survive,
	tasks::{Outcome, TaskError, Tasks},
	units::{Part, Units},
};
use crate::args::{KeyArgs, NodeArgs};
use drilling::Checks;
use pool::Membership;
use serde_json::json;
use served::Served;
use std::{
	collections::{HashMap, HashSet},
	path::PathBuf,
	sync::{atomic::AtomicBool, Arc},
	time::Duration,
};
use tracing::debug;
use trainyard_client::{
	amount, calls, keys::KeyError, AccountId32, AuditView, Chain, ChainError, Head, JobView,
	Transactor, TxError,
};
use trainyard_proof::verify::VerifyError;
use trainyard_protocol::{
	audit::AuditPhase,
	commitment,
	job::{Balance, BlockNumber, JobState, WorkResult},
	JobId, H256,
};

/// How long the verifier waits for a node at the start.
const PATIENCE: Duration = Duration::from_secs(120);
/// Blocks before the end of a phase that are kept for the transaction.
const MARGIN: BlockNumber = 4;

/// Options of `trainyard verifier`.
#[derive(Clone, Debug, clap::Args)]
pub struct VerifierArgs {
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Folder for what is fetched and what must survive a restart; one daemon per folder
	/// [default: $XDG_DATA_HOME/trainyard/verifier-ACCOUNT or ~/.local/share/trainyard/...]
	#[arg(long, value_name = "DIR")]
	dir: Option<PathBuf>,
	#[command(flatten)]
	locations: LocationArgs,
	/// Register as a verifier with this bond (in TRY) if the account is none yet
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	bond: Option<Balance>,
	/// Take no more data for one audit (in MiB); larger ones count as unavailable
	#[arg(long, value_name = "MIB", default_value_t = 2048)]
	max_data_mib: u64,
	/// Fetch all checkpoints, to compute the six full-pass rules, where they have no more
	/// than this (in MiB); 0 for never. The rules are a report, they decide nothing
	#[arg(long, value_name = "MIB", default_value_t = 64)]
	rules_mib: u64,
	/// Stop after the first verdict that was revealed
	#[arg(long)]
	once: bool,
	#[command(flatten)]
	metrics: MetricsArgs,
	/// One JSON object per event
	#[arg(long)]
	json: bool,
}

/// Says why the verifier cannot work at all.
#[derive(Debug, thiserror::Error)]
pub enum VerifierError {
	/// The account is not a verifier.
	#[error("{account} is not registered as a verifier: give --bond AMOUNT to register it")]
	NotRegistered {
		/// The account.
		account: AccountId32,
	},
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// There is no key.
	#[error(transparent)]
	Key(#[from] KeyError),
	/// The folder cannot be used.
	#[error(transparent)]
	Store(#[from] StoreError),
	/// Nothing can be fetched.
	#[error(transparent)]
	Fetch(#[from] SetupError),
	/// The metrics cannot be shown.
	#[error(transparent)]
	Metrics(#[from] MetricsError),
	/// A transaction failed.
	#[error(transparent)]
	Tx(#[from] TxError),
}

/// What a verifier owes to an audit at this block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duty {
	/// Fetch and replay.
	Audit,
	/// Commit to the findings.
	Commit,
	/// Reveal the findings.
	Reveal,
	/// Compute the full-pass rules, for the report. Nothing waits for it, so it comes after the
	/// commitment.
	Assess,
}

/// Returns what `me` owes to the audit of a job at height `best`. `found` says whether it has
/// findings for this round.
pub fn duty(audit: &AuditView, me: &AccountId32, best: BlockNumber, found: bool) -> Option<Duty> {
	let member = audit.committee.iter().find(|member| member.verifier == *me)?;
	match audit.phase {
		// A transaction sent now is in the next block.
		AuditPhase::Committing { until } if !member.committed && best < until => {
			Some(if found { Duty::Commit } else { Duty::Audit })
		}
		AuditPhase::Revealing { until }
			if member.committed && member.findings.is_none() && found && best < until =>
		{
			Some(Duty::Reveal)
		}
		_ => None,
	}
}

/// Returns everything that is audited in a round: the findings about it hold for nothing else.
fn subject(job: &JobView, audit: &AuditView) -> (Option<H256>, Vec<(WorkResult, Vec<u32>)>) {
	(job.seed, audit.groups.iter().map(|group| (group.result, group.drawn.clone())).collect())
}

type Key = (JobId, u32, Duty);

/// What a daemon remembers between two blocks.
struct Memory {
	tasks: Tasks<Key>,
	/// Rounds that were committed to, and whose rules were not computed yet.
	unassessed: HashSet<(JobId, u32)>,
	membership: Membership,
	/// Units that are recomputed.
	checks: Checks,
}

struct Verifier {
	chain: Arc<Chain>,
	sender: Arc<Transactor>,
	home: Arc<Home>,
	units: Arc<Units>,
	fetcher: Fetcher,
	block_time: Duration,
	max_data: u64,
	max_rules: u64,
	served: Served,
	report: Reporter,
}

/// Runs a verifier until it is asked to stop.
pub async fn run(args: VerifierArgs) -> Result<(), VerifierError> {
	let key = args.key.keypair()?;
	let chain = Arc::new(Chain::connect(&args.node.node, PATIENCE).await?);
	let sender = Arc::new(Transactor::new(chain.clone(), key));
	let dir = match args.dir {
		Some(dir) => dir,
		None => default_folder("verifier", sender.account())?,
	};
	let home = Arc::new(Home::open(&dir, &chain.genesis())?);
	let report = Reporter::new("verifier", args.json, Some(&home.events()));
	let account = *sender.account();
	let _page = args.metrics.serve(report.metrics(), &chain, &account).await?;
	let membership = pool::enter(&sender, args.bond, &report).await?;
	let mib = |n: u64| n.saturating_mul(1024 * 1024);
	let locations = args.locations.locations(&chain).await?;
	let fetcher = Fetcher::new(2, Duration::from_millis(300), locations)?;
	let units = Arc::new(Units {
		chain: chain.clone(),
		sender: sender.clone(),
		home: home.clone(),
		fetcher: fetcher.clone(),
		report: report.clone(),
		part: Part::Verifier,
		cheat: false,
		computing: Default::default(),
		inputs: Default::default(),
	});
	let verifier = Arc::new(Verifier {
		block_time: chain.block_time().await?,
		fetcher,
		units,
		max_data: mib(args.max_data_mib),
		max_rules: mib(args.rules_mib),
		served: Served::default(),
		report,
		home,
		sender,
		chain,
	});
	let text = format!("verifier {account} on {}", verifier.chain.url());
	verifier.report.general("started", &text, json!({ "account": account }));
	verifier.work(args.once, membership).await
}

impl Verifier {
	async fn work(
		self: Arc<Self>,
		once: bool,
		membership: Membership,
	) -> Result<(), VerifierError> {
		let (tasks, unassessed) = (Tasks::default(), HashSet::new());
		let mut memory = Memory { tasks, unassessed, membership, checks: Checks::default() };
		let ended = self.go_on(once, &mut memory).await;
		// A replay ends after its present step.
		memory.tasks.stop_unless(|_| false);
		memory.checks.stop();
		ended
	}

	/// Works block after block, until it is asked to stop.
	async fn go_on(self: Arc<Self>, once: bool, memory: &mut Memory) -> Result<(), VerifierError> {
		let mut failures: HashMap<Key, String> = HashMap::new();
		let mut complaint = String::new();
		let mut seen = None;
		let mut stopping = std::pin::pin!(stop_signal());
		loop {
			tokio::select! {
				biased;
				_ = &mut stopping => break,
				(key, outcome) = memory.tasks.ended() => match outcome {
					Ok(()) if once && key.2 == Duty::Reveal => return Ok(()),
					Ok(()) => {
						if key.2 == Duty::Commit {
							memory.unassessed.insert((key.0, key.1));
						}
						seen = None;
					},
					Err(TaskError::Stopped) => {
						let (text, fields) = (VerifyError::Stopped.to_string(), json!({ "round": key.1 }));
						self.report.job(key.0, "replay_stopped", &text, fields);
					},
					Err(TaskError::Transient(text)) => debug!("job {}: {text}", key.0),
					Err(TaskError::Hopeless(text) | TaskError::Failed(text)) => {
						if failures.insert(key, text.clone()).as_ref() != Some(&text) {
							let name = format!("{:?}", key.2).to_lowercase();
							let fields = json!({ "action": name, "reason": text });
							let line = format!("{name}: {text}; it will be tried again");
							self.report.job(key.0, "failed_attempt", &line, fields);
						}
					},
				},
				(key, outcome) = memory.checks.ended() => {
					if memory.checks.note(&self, key, outcome) {
						seen = None;
					}
				},
				head = next_block(&self.chain, seen) => {
					let head = head?;
					seen = Some(head.hash);
					if let Err(e) = self.clone().look(memory, head).await {
						let of_chain = match &e {
							VerifierError::Chain(e) => Some(e),
							_ => None,
						};
						if of_chain.is_some_and(ChainError::is_final) {
							return Err(e);
						}
						survive(&self.chain, &e, of_chain, &mut complaint).await?;
					}
				},
			}
		}
		self.report.general("stopped", "stopping; start again to go on", json!(null));
		Ok(())
	}

	/// Looks at all audits once: starts what is owed, and stops what is not owed any more.
	async fn look(self: Arc<Self>, memory: &mut Memory, head: Head) -> Result<(), VerifierError> {
		let Memory { tasks, unassessed, membership, checks } = memory;
		checks.look(&self, &self.units, head).await?;
		let mut wanted = HashSet::new();
		let jobs = self.chain.active_jobs(head.hash).await?;
		self.count_served(&jobs).await;
		for job in jobs {
			let (JobState::Auditing, Some(audit)) = (job.state, job.audit.as_ref()) else {
				continue;
			};
			let folder = self.folder(&job, audit);
			let found = match self.home.load_findings(&folder) {
				Ok(found) => found,
				// It is reported as a failed attempt; the other audits go on.
				Err(e) => {
					let key = (job.id, audit.round, Duty::Audit);
					tasks.start(key, async move { Err(e.into()) });
					continue;
				}
			};
			let owed = duty(audit, self.sender.account(), head.number, found.is_some());
			let assess = found.is_some() && unassessed.remove(&(job.id, audit.round));
			for duty in owed.into_iter().chain(assess.then_some(Duty::Assess)) {
				let key = (job.id, audit.round, duty);
				wanted.insert(key);
				if !tasks.is_running(&key) {
					let (job, found, folder) = (job.clone(), found.clone(), folder.clone());
					let me = self.clone();
					tasks.start_with(key, |stop| {
						me.act(job, duty, found, folder, head.number, stop)
					});
				}
			}
		}
		// A replay whose time is over only takes processors from others.
		tasks.stop_unless(|key| key.2 != Duty::Audit || wanted.contains(key));
		self.watch_pool(membership, head.number).await?;
		Ok(())
	}

	/// Returns the folder of this round of an audit.
	fn folder(&self, job: &JobView, audit: &AuditView) -> PathBuf {
		let subject = subject(job, audit);
		self.home.audit_folder(job.id, audit.round, &subject)
	}

	async fn act(
		self: Arc<Self>,
		job: JobView,
		duty: Duty,
		found: Option<FindingsRecord>,
		folder: PathBuf,
		best: BlockNumber,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let audit =
			job.audit.as_ref().ok_or_else(|| TaskError::failed("the job is not audited"))?;
		match (duty, found) {
			(Duty::Audit, _) => self.audit(&job, audit, &folder, best, stop).await,
			(Duty::Commit, Some(found)) => self.commit(&job, audit, &found).await,
			(Duty::Reveal, Some(found)) => self.reveal(&job, audit, &found).await,
			(Duty::Assess, Some(found)) => self.assess(&job, audit, &found, &folder, stop).await,
			(_, None) => Err(TaskError::failed("there are no findings")),
		}
	}

	async fn commit(&self, job: &JobView, audit: &AuditView, found: &FindingsRecord) -> Outcome {
		let commitment = commitment::verdict(
			&self.chain.genesis(),
			job.id,
			audit.round,
			self.sender.account(),
			&found.findings,
			&found.salt.0,
		);
		self.sender.run(&calls::commit_findings(job.id, &commitment)).await?;
		let fields = json!({ "round": audit.round });
		self.report.job(job.id, "committed", "findings committed", fields);
		Ok(())
	}

	async fn reveal(&self, job: &JobView, audit: &AuditView, found: &FindingsRecord) -> Outcome {
		self.sender.run(&calls::reveal_findings(job.id, &found.findings, &found.salt.0)).await?;
		self.served.note(job.id, audit, &found.findings, self.report.metrics());
		let verdicts: Vec<&str> = found.findings.iter().map(display::verdict).collect();
		let text = format!("findings revealed: {}", verdicts.join(", "));
		let fields = json!({ "round": found.round, "verdicts": verdicts });
		self.report.job(job.id, "revealed", &text, fields);
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::{audit::GroupVerdict, views::MemberView};

	fn me() -> AccountId32 {
		AccountId32([1; 32])
	}

	fn audit(phase: AuditPhase, committed: bool, revealed: bool) -> AuditView {
		let findings = revealed.then(|| vec![GroupVerdict::Unavailable].try_into().unwrap());
		let other = MemberView { verifier: AccountId32([2; 32]), committed: false, findings: None };
		let mine = MemberView { verifier: me(), committed, findings };
		AuditView { round: 1, phase, groups: vec![], committee: vec![other, mine] }
	}

	#[test]
	fn duties_follow_phase_and_what_is_done() {
		let committing = AuditPhase::Committing { until: 50 };
		let revealing = AuditPhase::Revealing { until: 60 };
		let cases = [
			("nothing found yet", committing, false, false, false, 40, Some(Duty::Audit)),
			("found", committing, false, false, true, 40, Some(Duty::Commit)),
			("last chance", committing, false, false, true, 49, Some(Duty::Commit)),
			("too late", committing, false, false, true, 50, None),
			("committed", committing, true, false, true, 40, None),
			("reveal", revealing, true, false, true, 55, Some(Duty::Reveal)),
			("revealed", revealing, true, true, true, 55, None),
			("never committed", revealing, false, false, true, 55, None),
			("findings lost", revealing, true, false, false, 55, None),
			("too late to reveal", revealing, true, false, true, 60, None),
			("drawing", AuditPhase::Drawing { after: 1 }, false, false, false, 40, None),
			("rescue", AuditPhase::Rescue { until: 90 }, false, false, false, 40, None),
			("done", AuditPhase::Done, false, false, false, 40, None),
		];
		for (name, phase, committed, revealed, found, best, expected) in cases {
			assert_eq!(
				duty(&audit(phase, committed, revealed), &me(), best, found),
				expected,
				"{name}"
			);
		}
		let stranger = AccountId32([9; 32]);
		assert_eq!(duty(&audit(committing, false, false), &stranger, 40, false), None);
	}
}
