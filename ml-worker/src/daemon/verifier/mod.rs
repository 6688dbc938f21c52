//! The verifier: replays what it is drawn for, and says what it found.

mod examine;

use super::{
	fetch::Fetcher,
	next_block,
	report::Reporter,
	stop_signal,
	store::{FindingsRecord, Home, Salt, StoreError},
	survive,
	tasks::{Outcome, Tasks},
	words,
};
use crate::{
	amount,
	chain::{
		calls,
		keys::{KeyArgs, KeyError},
		AccountId32, AuditView, Chain, ChainError, Head, JobView, NodeArgs, Transactor, TxError,
	},
	verify::AuditReport,
};
use anyhow::Context;
use serde_json::json;
use std::{
	collections::HashMap,
	path::{Path, PathBuf},
	sync::Arc,
	time::{Duration, Instant},
};
use tracing::debug;
use trainyard_primitives::{
	audit::{AuditPhase, Findings, GroupVerdict},
	commitment,
	job::{Balance, BlockNumber, JobState, WorkResult},
	JobId,
};

/// How long a node is waited for at the start.
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
	#[arg(long, value_name = "DIR", default_value = "verifier")]
	dir: PathBuf,
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
	/// One JSON object per event
	#[arg(long)]
	json: bool,
}

/// Why the verifier cannot work at all.
#[derive(Debug, thiserror::Error)]
pub enum VerifierError {
	/// The account is no verifier.
	#[error("{account} is not registered as a verifier: give --bond AMOUNT to register it")]
	NotRegistered {
		/// The account.
		account: AccountId32,
	},
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// No key.
	#[error(transparent)]
	Key(#[from] KeyError),
	/// The folder cannot be used.
	#[error(transparent)]
	Store(#[from] StoreError),
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
}

/// What `me` owes to the audit of a job at height `best`. `found` says whether it has
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

type Key = (JobId, u32, Duty);

struct Verifier {
	chain: Arc<Chain>,
	sender: Transactor,
	home: Home,
	fetcher: Fetcher,
	block_time: Duration,
	max_data: u64,
	max_rules: u64,
	report: Reporter,
}

/// Runs a verifier until it is asked to stop.
pub async fn run(args: VerifierArgs) -> Result<(), VerifierError> {
	let key = args.key.keypair()?;
	let chain = Arc::new(Chain::connect(&args.node.node, PATIENCE).await?);
	let home = Home::open(&args.dir, &chain.genesis())?;
	let sender = Transactor::new(chain.clone(), key);
	let report = Reporter::new("verifier", args.json, Some(&home.events()));
	let account = *sender.account();
	if !chain.verifiers().await?.iter().any(|(who, _)| *who == account) {
		let bond = args.bond.ok_or(VerifierError::NotRegistered { account })?;
		sender.run(&calls::register_verifier(bond)).await?;
		let text = format!("registered as a verifier with a bond of {}", amount::format(bond));
		report.general("registered", &text, json!({ "bond": bond.to_string() }));
	}
	let mib = |n: u64| n.saturating_mul(1024 * 1024);
	let verifier = Arc::new(Verifier {
		block_time: chain.block_time().await?,
		fetcher: Fetcher::new(2, Duration::from_millis(300)),
		max_data: mib(args.max_data_mib),
		max_rules: mib(args.rules_mib),
		report,
		home,
		sender,
		chain,
	});
	let text = format!("verifier {account} on {}", verifier.chain.url());
	verifier.report.general("started", &text, json!({ "account": account }));
	verifier.work(args.once).await
}

impl Verifier {
	async fn work(self: Arc<Self>, once: bool) -> Result<(), VerifierError> {
		let mut tasks: Tasks<Key> = Tasks::default();
		let mut failures: HashMap<Key, String> = HashMap::new();
		let mut complaint = String::new();
		let mut seen = None;
		let mut stopping = std::pin::pin!(stop_signal());
		loop {
			tokio::select! {
				biased;
				_ = &mut stopping => break,
				(key, outcome) = tasks.ended() => match outcome {
					Ok(()) if once && key.2 == Duty::Reveal => return Ok(()),
					Ok(()) => seen = None,
					Err(e) => {
						let text = format!("{e:#}");
						let uncertain =
							e.downcast_ref::<TxError>().is_some_and(TxError::is_uncertain);
						if uncertain {
							debug!("job {}: {text}", key.0);
						} else if failures.insert(key, text.clone()).as_ref() != Some(&text) {
							let name = format!("{:?}", key.2).to_lowercase();
							let fields = json!({ "action": name, "reason": text });
							let line = format!("{name}: {text}; it will be tried again");
							self.report.job(key.0, "failed_attempt", &line, fields);
						}
					},
				},
				head = next_block(&self.chain, seen) => {
					let head = head?;
					seen = Some(head.hash);
					if let Err(e) = self.clone().look(&mut tasks, head).await {
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

	/// One look at all audits: starts what is owed.
	async fn look(
		self: Arc<Self>,
		tasks: &mut Tasks<Key>,
		head: Head,
	) -> Result<(), VerifierError> {
		for job in self.chain.active_jobs(head.hash).await? {
			let (JobState::Auditing, Some(audit)) = (job.state, job.audit.as_ref()) else {
				continue;
			};
			let folder = self.folder(&job, audit);
			let found = self.home.load_findings(&folder)?;
			let Some(duty) = duty(audit, self.sender.account(), head.number, found.is_some())
			else {
				continue;
			};
			let key = (job.id, audit.round, duty);
			if !tasks.is_running(&key) {
				let work = self.clone().act(job, duty, found, folder, head.number);
				tasks.start(key, work);
			}
		}
		Ok(())
	}

	/// The folder of this round of an audit.
	fn folder(&self, job: &JobView, audit: &AuditView) -> PathBuf {
		let results: Vec<WorkResult> = audit.groups.iter().map(|g| g.result).collect();
		self.home.audit_folder(job.id, audit.round, &(job.seed, results, &audit.drawn))
	}

	async fn act(
		self: Arc<Self>,
		job: JobView,
		duty: Duty,
		found: Option<FindingsRecord>,
		folder: PathBuf,
		best: BlockNumber,
	) -> Outcome {
		let audit = job.audit.as_ref().context("the job is not audited")?;
		match (duty, found) {
			(Duty::Audit, _) => self.audit(&job, audit, &folder, best).await,
			(Duty::Commit, Some(found)) => self.commit(&job, audit, &found).await,
			(Duty::Reveal, Some(found)) => self.reveal(&job, &found).await,
			(_, None) => anyhow::bail!("there are no findings"),
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

	async fn reveal(&self, job: &JobView, found: &FindingsRecord) -> Outcome {
		self.sender.run(&calls::reveal_findings(job.id, &found.findings, &found.salt.0)).await?;
		let verdicts: Vec<&str> = found.findings.iter().map(words::verdict).collect();
		let text = format!("findings revealed: {}", verdicts.join(", "));
		let fields = json!({ "round": found.round, "verdicts": verdicts });
		self.report.job(job.id, "revealed", &text, fields);
		Ok(())
	}

	/// Fetches and replays every result; the findings are on disk when this ends.
	async fn audit(
		&self,
		job: &JobView,
		audit: &AuditView,
		folder: &Path,
		best: BlockNumber,
	) -> Outcome {
		let AuditPhase::Committing { until } = audit.phase else {
			anyhow::bail!("commitments are not taken")
		};
		let blocks = until.saturating_sub(best).saturating_sub(MARGIN);
		// Half of the time is for fetching: what is fetched last must still be replayed.
		let give_up = Instant::now() + self.block_time.saturating_mul(blocks) / 2;
		let text = format!(
			"audit, round {}: {} result(s), segments {:?}",
			audit.round,
			audit.groups.len(),
			audit.drawn
		);
		let fields = json!({ "round": audit.round, "drawn": audit.drawn });
		self.report.job(job.id, "audit", &text, fields);
		let mut verdicts = Vec::new();
		for (index, group) in audit.groups.iter().enumerate() {
			if group.decision.is_some() {
				// Decided in an earlier round: nobody asks, but its place is counted.
				verdicts.push(GroupVerdict::Unavailable);
				continue;
			}
			let dir = folder.join(format!("result-{index}"));
			let begun = Instant::now();
			let (verdict, report) = self.examine(job, audit, index, &dir, give_up).await?;
			self.tell(job, audit, index, &verdict, report, begun.elapsed());
			verdicts.push(verdict);
		}
		let findings = Findings::try_from(verdicts)
			.map_err(|v| anyhow::anyhow!("{} results are more than a job has", v.len()))?;
		// The salt is on disk before anything is sent.
		let salt = Salt::random();
		let record = FindingsRecord { job: job.id, round: audit.round, findings, salt };
		self.home.save_findings(folder, &record)?;
		Ok(())
	}

	fn tell(
		&self,
		job: &JobView,
		audit: &AuditView,
		index: usize,
		verdict: &GroupVerdict,
		report: Option<AuditReport>,
		took: Duration,
	) {
		let replayed = report.as_ref().map_or(0, |r| r.segments.len());
		let share = report.as_ref().map_or(0.0, |r| r.share);
		let replay_seconds = report.as_ref().map_or(0.0, |r| r.replay_seconds);
		let text = format!(
			"result {index}: {} ({replayed} segments replayed in {replay_seconds:.2} s, {:.1} % of \
			 the training's work)",
			words::verdict_in_full(verdict),
			share * 100.0,
		);
		let rules = report.as_ref().and_then(|r| r.rules.as_ref());
		let fields = json!({
			"round": audit.round,
			"result": index,
			"bundle_root": audit.groups.get(index).map(|g| g.result.bundle_root),
			"verdict": words::verdict(verdict),
			"reason": words::verdict_in_full(verdict),
			"segments": replayed,
			"drawn": audit.drawn,
			"share": share,
			"replay_seconds": replay_seconds,
			"seconds": took.as_secs_f64(),
			"rules": rules.and_then(|r| serde_json::to_value(r).ok()),
		});
		self.report.job(job.id, "verdict", &text, fields);
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_primitives::views::MemberView;

	fn me() -> AccountId32 {
		AccountId32([1; 32])
	}

	fn audit(phase: AuditPhase, committed: bool, revealed: bool) -> AuditView {
		let findings = revealed.then(|| vec![GroupVerdict::Unavailable].try_into().unwrap());
		let other = MemberView { verifier: AccountId32([2; 32]), committed: false, findings: None };
		let mine = MemberView { verifier: me(), committed, findings };
		AuditView { round: 1, phase, groups: vec![], committee: vec![other, mine], drawn: vec![] }
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
