//! The verifier: replays what it is drawn for, and says what it found. Units of drilling that
//! it is drawn for it computes again (`drilling`).

mod asking;
mod bundles;
pub mod deadlines;
mod defending;
mod drilling;
mod examine;
mod findings;
mod lacking;
mod large;
mod lots;
mod moved;
mod parting;
mod pool;
mod relay;
mod relayed_rows;
mod relayed_samples;
mod relays;
mod rescued;
mod room;
mod round;
mod served;
mod sources;
mod standing;
mod stints;
mod timing;
mod unseen;

use super::{
	blocks::LookError,
	common::{
		claims::Claims,
		large::{Large, RelayArgs},
		lost::{self, Replaced},
		pledges::PledgeArgs,
		serving::{IrohArgs, ServingError},
		webhook::{Webhook, WebhookError},
	},
	display,
	disputes::{
		accusing::Stakes,
		driver::{DisputeArgs, Driver, Work},
	},
	fetch::{Fetcher, LocationArgs},
	replay::{self, Replayers},
	report::Reporter,
	run::{self, Base, Next, Play, Role, RoleArgs, RoleError},
	store::{FindingsRecord, Home, Quota, Space},
	tasks::{word, Outcome, TaskError, TaskName, Tasks},
	units::{Part, Step, Units},
};
use crate::{
	args::parse_ut,
	task::market::work::{Duty as TaskDuty, Keeper, Settings},
};
use asking::Asker;
use deadlines::Deadlines;
use findings::{open_rescues, Known, Rescues};
use pool::Membership;
use relay::{Fetched, Relay};
use relays::RelayDuty;
use room::Over;
use serde_json::{json, Map, Value};
use served::Served;
use std::{
	collections::{BTreeSet, HashMap, HashSet},
	future::Future,
	net::SocketAddr,
	path::PathBuf,
	sync::{atomic::AtomicBool, Arc, Mutex},
	time::Duration,
};
use trainyard_client::{
	amount, calls, AccountId32, AuditView, Chain, Head, JobView, Transactor, TxError,
};
use trainyard_proof::verify::VerifyError;
use trainyard_protocol::{
	audit::AuditPhase,
	commitment,
	drill::AssignmentId,
	job::{Balance, BlockNumber, JobState, WorkResult},
	relay::RelayId,
	seats::{Resources, LEAST_ROOM},
	stint::ReportId,
	JobId, MicroUt, H256,
};

/// Blocks before the end of a phase that are kept for the transaction.
const MARGIN: BlockNumber = 4;

/// Options of `trainyard verifier`.
#[derive(Clone, Debug, clap::Args)]
pub struct VerifierArgs {
	#[command(flatten)]
	role: RoleArgs,
	#[command(flatten)]
	locations: LocationArgs,
	/// Serve to other verifiers of its audits what it fetched for them, on this address; port 0 takes
	/// a free one, and the same again after a restart
	#[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
	listen: SocketAddr,
	/// URL under which other verifiers reach that address; needed where it is not this machine's own
	#[arg(long, value_name = "URL")]
	public_url: Option<String>,
	#[command(flatten)]
	iroh: IrohArgs,
	/// Register as a verifier with this bond (in TRY) if the account is none yet, come back if it
	/// left, and raise the bond to this if it waits for a place
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	bond: Option<Balance>,
	/// Work of all audits at once that this machine can replay in the time for a verdict, 12 minutes
	/// at 6 s a block (in ut): the chain draws it for no more, and takes no verifier with less than 2.
	/// The default are six of the largest audits, which 7.2 GFLOPS replay in time
	#[arg(long, value_name = "UT", default_value = "12", value_parser = parse_ut)]
	capacity_ut: MicroUt,
	/// Memory that a job may need to be replayed (in MiB): the chain draws it for no larger one
	/// [default: what a replay may take by --max-memory-mib]
	#[arg(long, value_name = "MIB")]
	capacity_memory_mib: Option<u32>,
	/// Send warnings to this URL, as JSON by POST: a deadline is near, the verifier is paused,
	/// displaced or gone from the pool, or its VRF key is not on chain
	#[arg(long, value_name = "URL")]
	warn_webhook: Option<String>,
	/// Take no more data for one audit (in MiB); larger ones count as unavailable
	#[arg(long, value_name = "MIB", default_value_t = 2048)]
	max_data_mib: u64,
	/// Disk for everything in the folder (in MiB): what audits left behind and data that no audit
	/// needs are removed first, and results beyond it count as unavailable [default: half of what
	/// is free at the start]
	#[arg(long, value_name = "MIB")]
	max_disk_mib: Option<u64>,
	/// Memory for all replays together (in MiB): each is a process of its own with a part of it. One
	/// that may need more is not begun, and one that takes more dies: then its result counts as
	/// unavailable. 4 GiB suffice for every job of the class gib8 [default: three quarters of what is
	/// available at the start]
	#[arg(long, value_name = "MIB")]
	max_memory_mib: Option<u64>,
	/// Replays at once. Each uses all processors, and the one with the nearest deadline is next
	#[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
	max_replays: u16,
	/// Fetch all checkpoints, to compute the six full-pass rules, where they have no more
	/// than this (in MiB); 0 for never. The rules are a report, they decide nothing
	#[arg(long, value_name = "MIB", default_value_t = 64)]
	rules_mib: u64,
	#[command(flatten)]
	relays: RelayArgs,
	#[command(flatten)]
	pledges: PledgeArgs,
	#[command(flatten)]
	disputes: DisputeArgs,
	/// Stop after the first verdict that was revealed. Nobody defends its evidence then
	#[arg(long)]
	once: bool,
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
	/// The registration failed.
	#[error(transparent)]
	Tx(#[from] TxError),
	/// Replays are processes of the same program.
	#[error("cannot find this program's own file, which replays: {0}")]
	Program(#[from] std::io::Error),
	/// Other verifiers cannot be served.
	#[error(transparent)]
	Serving(#[from] ServingError),
	/// Warnings cannot be sent.
	#[error(transparent)]
	Webhook(#[from] WebhookError),
}

impl From<VerifierError> for RoleError<VerifierError> {
	fn from(error: VerifierError) -> Self {
		Self::Own(error)
	}
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
	/// Replay evidence of another seat again.
	Recheck,
	/// Accuse somebody while results stand.
	Accuse,
	/// Look again, while results stand, at what could not be had before.
	LookAgain,
	/// Look again, while results stand, at how far a result moves that nobody showed before.
	SeeMoved,
	/// Compute the full-pass rules, for the report. Nothing waits for it, so it comes after the
	/// commitment.
	Assess,
}

/// Returns what `me` owes to the audit of a job at height `best`. `ours` is the commitment to its
/// findings for this round, if it has findings.
pub fn duty(
	audit: &AuditView,
	me: &AccountId32,
	best: BlockNumber,
	ours: Option<H256>,
) -> Option<Duty> {
	let member = audit.committee.iter().find(|member| member.verifier == *me)?;
	let stands = ours.is_some() && member.commitment == ours;
	match audit.phase {
		// A transaction sent now is in the next block. What stands there may be of another fork, or
		// of a folder that was lost: it is replaced.
		AuditPhase::Committing { until } if !stands && best < until => {
			Some(if ours.is_some() { Duty::Commit } else { Duty::Audit })
		}
		AuditPhase::Revealing { until } if stands && member.findings.is_none() && best < until => {
			Some(Duty::Reveal)
		}
		_ => None,
	}
}

/// Returns everything that is audited in a round, with the seed by which seats draw: the findings about
/// it hold for nothing else. In which of its bundles a seat looks at a result makes no difference.
fn subject(job: &JobView, audit: &AuditView) -> (Option<H256>, Option<H256>, Vec<WorkResult>) {
	(job.seed, audit.seed, audit.groups.iter().map(|group| group.result.common()).collect())
}

/// A task that runs beside the look at the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
	/// A duty in a round of a job's audit.
	Audit(JobId, u32, Duty),
	/// What is due in a dispute about a job.
	Dispute(JobId, Work),
	/// A step of the recomputation of a unit.
	Unit(AssignmentId, H256, Step),
	/// A step of the check of a report.
	Stint(ReportId, H256, stints::Step),
	/// Coming back from a pause.
	Resume,
	/// Setting the key of this account's own draws.
	Draws,
	/// What is due as a seat of a relay.
	Relay(RelayId, RelayDuty),
	/// What is due as the auditor of a deterministic task.
	Task(TaskDuty),
}

/// What a daemon remembers between two blocks.
struct Memory {
	/// Rounds that were committed to, and whose rules were not computed yet.
	unassessed: HashSet<(JobId, u32)>,
	membership: Membership,
	/// The folder of each round that is looked at, which names what is drawn, and the rescues of its
	/// results.
	subjects: HashMap<(JobId, u32), (PathBuf, Rescues)>,
	/// Rounds whose findings cannot be revealed, and units; each is reported once.
	lost: HashSet<(JobId, u32)>,
	lost_units: HashSet<AssignmentId>,
	lost_checks: HashSet<ReportId>,
	deadlines: Deadlines,
	/// Jobs about which this account has disputes.
	disputed: BTreeSet<JobId>,
	/// Relays whose piece was found here since the start.
	relayed: HashSet<RelayId>,
}

impl Memory {
	fn new(membership: Membership) -> Self {
		let (unassessed, subjects, lost, lost_units) = Default::default();
		let (lost_checks, deadlines, disputed, relayed) = Default::default();
		Self {
			unassessed,
			membership,
			subjects,
			lost,
			lost_units,
			lost_checks,
			deadlines,
			disputed,
			relayed,
		}
	}
}

struct Verifier {
	chain: Arc<Chain>,
	sender: Arc<Transactor>,
	asker: Asker,
	claims: Claims,
	large: Large,
	home: Arc<Home>,
	units: Arc<Units>,
	fetcher: Fetcher,
	block_time: Duration,
	/// Work that this machine replays in the time for a verdict.
	capacity: MicroUt,
	max_data: u64,
	/// Memory that a replay may take.
	max_memory: u64,
	max_rules: u64,
	space: Space,
	/// Folders of audits that are over.
	over: Mutex<Over>,
	replayers: Replayers,
	served: Served,
	relay: Relay,
	/// Commitments on chain that were not this folder's, and were replaced.
	replaced: Replaced,
	webhook: Webhook,
	report: Reporter,
}

/// The verifier as a role: what its tasks share, and what it remembers between two blocks.
struct VerifierRole {
	verifier: Arc<Verifier>,
	memory: Memory,
	driver: Driver<Arc<Transactor>>,
	keeper: Arc<Keeper>,
	once: bool,
}

/// Runs a verifier until it is asked to stop.
pub async fn run(args: VerifierArgs) -> Result<(), RoleError<VerifierError>> {
	run::run::<VerifierRole>(args.role.clone(), args).await
}

/// Gets a verifier ready in a process that plays other roles, too.
pub(in crate::roles) async fn prepare(
	args: VerifierArgs,
	base: Base,
	stop: impl Future<Output = ()> + 'static,
) -> Result<Play, RoleError<VerifierError>> {
	run::prepare::<VerifierRole>(args, base, stop).await
}

impl Role for VerifierRole {
	const NAME: &'static str = "verifier";
	type Args = VerifierArgs;
	type Error = VerifierError;
	type Key = Key;

	async fn open(args: VerifierArgs, base: &Base) -> Result<Self, RoleError<VerifierError>> {
		let Base { chain, sender, home, report, machine } = base.clone();
		let webhook = Webhook::new(report.clone(), args.warn_webhook.as_deref())
			.map_err(VerifierError::from)?;
		let quota = Quota::new(args.max_disk_mib, &home);
		let memory = replay::memory(args.max_memory_mib);
		let max_memory = memory / u64::from(args.max_replays);
		let capacity = Resources {
			work: args.capacity_ut,
			// What is available now may be little for a moment only.
			memory_mib: args.capacity_memory_mib.unwrap_or_else(|| match args.max_memory_mib {
				Some(_) => pool::mib(max_memory),
				None => pool::mib(max_memory).max(LEAST_ROOM.memory_mib),
			}),
			disk_mib: match args.max_disk_mib {
				Some(_) => quota.mib(),
				None => quota.mib().max(LEAST_ROOM.disk_mib),
			},
		};
		let mib = |n: u64| n.saturating_mul(1024 * 1024);
		let locations = args.locations.locations(&chain).await?;
		let url = args.public_url.as_deref();
		let iroh = (&args.iroh, args.locations.over());
		let relay = Relay::start((args.listen, url), iroh, locations, &home).await?;
		let vrf_key = sender.vrf_key().public();
		let offer = pool::Offer { capacity, location: relay.location().cloned(), vrf_key };
		let membership = pool::enter(&sender, args.bond, &offer, &report).await?;
		let fetcher = Fetcher::new(2, Duration::from_millis(300), locations)?
			.over(args.locations.over())
			.with_stores(args.locations.stores())
			.with_chain(chain.clone())
			.as_seat(sender.state_requests());
		let replayers = Replayers::new(memory, usize::from(args.max_replays));
		let replayers = replayers.map_err(VerifierError::from)?.on(machine.clone(), Self::NAME);
		let space = Space::new(quota);
		let units = Units::new(base, Part::Verifier, space.clone(), false);
		// A seat accuses with its stake; what it opens by itself needs no deposit.
		let stakes = Stakes { most: 0, reserve: 0, open: 0 };
		let (disputes, me) = (home.disputes(), *sender.account());
		let driver = Driver::open(
			sender.clone(),
			me,
			&disputes,
			&args.disputes,
			stakes,
			&report,
			webhook.clone(),
		)?
		.on(machine, Self::NAME);
		let verifier = Verifier {
			block_time: chain.block_time().await?,
			capacity: capacity.work,
			asker: Asker::Chain(sender.clone()),
			// What a seat lacks it prepays, whatever that costs.
			claims: Claims::new(&sender, report.clone(), args.pledges, Balance::MAX).await?,
			large: args.relays.large(&sender, webhook.clone()).await?,
			units: Arc::new(units.in_processes(replayers.clone())),
			replayers,
			fetcher,
			max_data: mib(args.max_data_mib),
			max_memory,
			max_rules: mib(args.rules_mib),
			space,
			over: Mutex::default(),
			served: Served::default(),
			relay,
			replaced: Replaced::default(),
			webhook,
			report,
			home,
			sender,
			chain,
		};
		let (verifier, memory) = (Arc::new(verifier), Memory::new(membership));
		let keeper = Arc::new(Keeper::new(base, Settings::of_auditor(Self::NAME)));
		Ok(Self { verifier, memory, driver, keeper, once: args.once })
	}

	fn details(&self) -> (String, Map<String, Value>) {
		let Some(location) = self.verifier.relay.location() else { return Default::default() };
		let fields = Map::from_iter([("location".to_owned(), json!(location))]);
		(format!(", serving other verifiers at {location}"), fields)
	}

	async fn look(&mut self, head: Head, tasks: &mut Tasks<Key>) -> Result<Next, LookError> {
		self.verifier.look_at_checks(&mut self.memory, tasks, head).await?;
		self.verifier.look_at_stints(&mut self.memory, tasks, head).await?;
		self.verifier.look_at_disputes(&mut self.memory, &mut self.driver, tasks, head).await?;
		self.verifier.look_at_audits(&mut self.memory, tasks, head).await?;
		self.look_at_tasks(tasks, head).await?;
		Ok(Next::Block)
	}

	fn name_of(key: &Key) -> TaskName {
		match key {
			Key::Audit(job, _, duty) => TaskName::new(word(duty)).of_job(*job),
			Key::Unit(id, _, step) => TaskName::new(word(step))
				.of(format!("recomputation of assignment {id}"))
				.with("assignment", *id),
			Key::Dispute(job, Work::Move(step)) => TaskName::new("dispute")
				.of_job(*job)
				.of(format!("dispute {}", step.id))
				.with("dispute", step.id),
			Key::Dispute(job, Work::Accuse(..)) => {
				TaskName::new("dispute").of_job(*job).of("an accusation")
			}
			Key::Stint(id, _, step) => {
				TaskName::new(word(step)).of(format!("check of report {id}")).with("report", *id)
			}
			Key::Resume => TaskName::new("resume"),
			Key::Draws => TaskName::new("set_vrf_key"),
			Key::Relay(id, _) => {
				TaskName::new("relay").of(format!("relay {id}")).with("relay", *id)
			}
			Key::Task(duty) => duty.name(),
		}
	}

	fn ended(&mut self, key: Key, outcome: &Outcome) -> Next {
		match (outcome, key) {
			(Ok(()), Key::Audit(_, _, Duty::Reveal)) if self.once => return Next::Never,
			(Ok(()), Key::Audit(job, round, Duty::Commit)) => {
				self.memory.unassessed.insert((job, round));
			}
			(Ok(()), Key::Relay(id, RelayDuty::Fetch)) => {
				self.memory.relayed.insert(id);
			}
			(Ok(()), _) => {}
			(Err(TaskError::Stopped), Key::Audit(job, round, _)) => {
				let (text, fields) = (VerifyError::Stopped.to_string(), json!({ "round": round }));
				self.verifier.report.job(job, "replay_stopped", &text, fields);
				return Next::Block;
			}
			(Err(_), Key::Relay(id, RelayDuty::Show(_))) => {
				// What was here may be damaged since.
				self.memory.relayed.remove(&id);
				return Next::Block;
			}
			(Err(_), _) => return Next::Block,
		}
		// The next step may be due.
		Next::AtOnce
	}
}

impl VerifierRole {
	/// Looks at all deterministic tasks once: does what is due of those that this account audits.
	async fn look_at_tasks(&self, tasks: &mut Tasks<Key>, head: Head) -> Result<(), LookError> {
		let due = self.keeper.look(head).await?;
		tasks.stop_unless(|key| match key {
			Key::Task(running) => due.iter().any(|(duty, _)| duty == running),
			_ => true,
		});
		for (duty, view) in due {
			let keeper = self.keeper.clone();
			tasks.start_with(Key::Task(duty), |stop| keeper.act(duty, view, head, stop));
		}
		Ok(())
	}
}

impl Verifier {
	/// Looks at all audits once: starts what is owed, and stops what is not owed any more.
	async fn look_at_audits(
		self: &Arc<Self>,
		memory: &mut Memory,
		tasks: &mut Tasks<Key>,
		head: Head,
	) -> Result<(), LookError> {
		let Memory { unassessed, lost, subjects, .. } = memory;
		let (mut wanted, mut folders) = (HashSet::new(), HashSet::new());
		let (mut redrawn, mut fetched) = (HashSet::new(), Fetched::default());
		let mut defended = HashSet::new();
		let jobs = self.chain.active_jobs(head.hash).await?;
		self.count_served(&jobs).await;
		for rounds in [&mut *unassessed, &mut *lost] {
			rounds.retain(|(id, _)| jobs.iter().any(|job| job.id == *id));
		}
		subjects.retain(|(id, _), _| jobs.iter().any(|job| job.id == *id));
		for job in &jobs {
			let (JobState::Auditing, Some(audit)) = (job.state, job.audit.as_ref()) else {
				continue;
			};
			let folder = self.folder(job, audit);
			let audit = &bundles::looked_at(audit, self.sender.account(), &folder);
			folders.insert(folder.clone());
			if audit.committee.iter().any(|member| member.verifier == *self.sender.account()) {
				fetched.add(&self.home, job, audit, &folder);
				defended.insert(folder.clone());
			}
			let subject = (folder.clone(), open_rescues(audit));
			let before = subjects.insert((job.id, audit.round), subject.clone());
			let replay = Key::Audit(job.id, audit.round, Duty::Audit);
			if before.is_some_and(|before| before != subject) && tasks.is_running(&replay) {
				redrawn.insert(replay);
			}
			let record = match self.home.load_findings(&folder) {
				Ok(found) => found,
				// It is reported as a failed attempt; the other audits go on.
				Err(e) => {
					let key = Key::Audit(job.id, audit.round, Duty::Audit);
					tasks.start(key, async move { Err(e.into()) });
					continue;
				}
			};
			let me = self.sender.account();
			let there = self.committed(audit);
			let Known { found, ours, is_own } = self.known(job, audit, record, head.number);
			let known = if is_own { there } else { ours };
			if let Some(until) = lost::findings_are_lost(audit, me, known) {
				if lost.insert((job.id, audit.round)) {
					lost::report_findings(&self.report, job.id, audit.round, until);
				}
			}
			let owed = duty(audit, me, head.number, ours)
				.filter(|duty| *duty != Duty::Commit || is_own || !self.replaced.is_enough(there));
			let assess = found.is_some() && unassessed.remove(&(job.id, audit.round));
			let standing = match audit.phase {
				AuditPhase::Standing { .. } => {
					let found = found.as_ref();
					self.look_at_standing((job, audit), found, &folder, head).await?
				}
				_ => Vec::new(),
			};
			let owed = owed.into_iter().chain(standing);
			for duty in owed.chain(assess.then_some(Duty::Assess)) {
				let key = Key::Audit(job.id, audit.round, duty);
				wanted.insert(key);
				if !tasks.is_running(&key) {
					let (job, found, folder) = (job.clone(), found.clone(), folder.clone());
					let me = self.clone();
					tasks.start_with(key, |stop| me.act(job, duty, found, folder, head, stop));
				}
			}
		}
		let kept = (&mut fetched, &mut defended);
		self.look_at_relays(memory, tasks, &jobs, kept, head).await?;
		folders.extend(defended.iter().cloned());
		let Memory { membership, deadlines, disputed, .. } = memory;
		self.relay.serve(fetched);
		for folder in self.home.audits()?.into_iter().filter(|it| disputed.contains(&it.job)) {
			defended.insert(folder.path.clone());
			folders.insert(folder.path);
		}
		self.space.keep(defended);
		// A replay whose time is over, or whose draw was that of another fork, only takes processors
		// from others. One that does not know what was rescued since begins again, and keeps what it
		// replayed.
		tasks.stop_unless(|key| match key {
			Key::Audit(_, _, Duty::Audit | Duty::Recheck | Duty::LookAgain | Duty::SeeMoved) => {
				wanted.contains(key) && !redrawn.contains(key)
			}
			_ => true,
		});
		self.watch_deadlines(deadlines, &jobs, head.number);
		self.watch_pool(membership, tasks, head.number).await?;
		self.tidy(&jobs, &folders, head).await
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
		head: Head,
		stop: Arc<AtomicBool>,
	) -> Outcome {
		let audit =
			job.audit.as_ref().ok_or_else(|| TaskError::failed("the job is not audited"))?;
		let audit = &bundles::looked_at(audit, self.sender.account(), &folder);
		match (duty, found) {
			(Duty::Audit, _) => self.audit(&job, audit, &folder, head.number, stop).await,
			(Duty::Commit, Some(found)) => self.commit(&job, audit, &found, head).await,
			(Duty::Reveal, Some(found)) => self.reveal(&job, audit, &found, head).await,
			(Duty::Assess, Some(found)) => self.assess(&job, audit, &found, &folder, stop).await,
			(Duty::Recheck, _) => self.recheck(&job, audit, &folder, head.number, stop).await,
			(Duty::Accuse, _) => self.accuse(&job, audit, &folder, head).await,
			(Duty::LookAgain, _) => self.look_again(&job, audit, &folder, head.number, stop).await,
			(Duty::SeeMoved, _) => self.see_moved(&job, audit, &folder, head.number, stop).await,
			(_, None) => Err(TaskError::failed("there are no findings")),
		}
	}

	/// Returns the commitment to findings.
	fn commitment(&self, job: &JobView, audit: &AuditView, found: &FindingsRecord) -> H256 {
		commitment::verdict(
			&self.chain.genesis(),
			job.id,
			audit.round,
			self.sender.account(),
			&found.findings,
			&found.salt.0,
		)
	}

	/// Returns the commitment of this verifier that is on chain.
	fn committed(&self, audit: &AuditView) -> Option<H256> {
		let me = self.sender.account();
		audit.committee.iter().find(|member| member.verifier == *me)?.commitment
	}

	/// Commits on the chain of `head` only: on a different fork the draw may be a different one, and
	/// so are the findings.
	async fn commit(
		&self,
		job: &JobView,
		audit: &AuditView,
		found: &FindingsRecord,
		head: Head,
	) -> Outcome {
		let commitment = self.commitment(job, audit, found);
		self.sender.run(&calls::commit_findings(job.id, &commitment).on(head)).await?;
		if !self.replaces_own(job, audit, found) {
			self.replaced.note(&self.report, job.id, self.committed(audit));
		}
		let fields = json!({ "round": audit.round });
		self.report.job(job.id, "committed", "findings committed", fields);
		Ok(())
	}

	async fn reveal(
		&self,
		job: &JobView,
		audit: &AuditView,
		found: &FindingsRecord,
		head: Head,
	) -> Outcome {
		let call = calls::reveal_findings(job.id, &found.findings, &found.paths, &found.salt.0);
		self.sender.run(&call.on(head)).await?;
		self.served.note(job.id, audit, &found.findings, self.report.metrics());
		let verdicts: Vec<&str> = found.findings.verdicts.iter().map(display::verdict).collect();
		let text = format!("findings revealed: {}", verdicts.join(", "));
		let fields = json!({ "round": found.round, "verdicts": verdicts });
		self.report.job(job.id, "revealed", &text, fields);
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_client::{fake, GroupVerdict, MemberView};

	fn me() -> AccountId32 {
		AccountId32([1; 32])
	}

	const OURS: H256 = H256([7; 32]);
	const OTHER: H256 = H256([8; 32]);

	fn audit(phase: AuditPhase, commitment: Option<H256>, revealed: bool) -> AuditView {
		let findings = revealed.then(|| fake::findings(vec![GroupVerdict::Unavailable]));
		let mine = MemberView { commitment, findings, ..fake::member(me()) };
		let committee = vec![fake::member(AccountId32([2; 32])), mine];
		AuditView { round: 1, committee, ..fake::audit(phase, vec![]) }
	}

	#[test]
	fn duties_follow_phase_and_what_is_done() {
		let committing = AuditPhase::Committing { until: 50 };
		let revealing = AuditPhase::Revealing { until: 60 };
		let (ours, other, none) = (Some(OURS), Some(OTHER), None);
		let (drawing, rescue) =
			(AuditPhase::Drawing { after: 1 }, AuditPhase::Rescue { until: 90 });
		let cases = [
			("nothing found yet", committing, none, false, none, 40, Some(Duty::Audit)),
			("found", committing, none, false, ours, 40, Some(Duty::Commit)),
			("last chance", committing, none, false, ours, 49, Some(Duty::Commit)),
			("too late", committing, none, false, ours, 50, None),
			("committed", committing, ours, false, ours, 40, None),
			("committed on another fork", committing, other, false, ours, 40, Some(Duty::Commit)),
			("findings lost in time", committing, other, false, none, 40, Some(Duty::Audit)),
			("reveal", revealing, ours, false, ours, 55, Some(Duty::Reveal)),
			("revealed", revealing, ours, true, ours, 55, None),
			("never committed", revealing, none, false, ours, 55, None),
			("other findings", revealing, other, false, ours, 55, None),
			("findings lost", revealing, ours, false, none, 55, None),
			("too late to reveal", revealing, ours, false, ours, 60, None),
			("drawing", drawing, none, false, none, 40, None),
			("rescue", rescue, none, false, none, 40, None),
			("done", AuditPhase::Done, none, false, none, 40, None),
		];
		for (name, phase, stands, revealed, found, best, expected) in cases {
			let audit = audit(phase, stands, revealed);
			assert_eq!(duty(&audit, &me(), best, found), expected, "{name}");
		}
		let stranger = AccountId32([9; 32]);
		assert_eq!(duty(&audit(committing, none, false), &stranger, 40, none), None);
	}
}
