//! The whistleblower: looks at results while they stand, replays the segments in which they moved farthest
//! and others that it draws for itself, and accuses whoever delivered a false one.
//!
//! It is nobody's seat: it is drawn for nothing, is paid for nothing but frauds that it proves, and has
//! a deposit at stake for each accusation. What nobody gives it asks for on chain, with a pledge. It looks at one result at a time. What it found is on disk,
//! so it goes on after a kill: with the segments that it drew, and with its disputes.

mod bets;
mod choice;
mod elastic;
mod lacking;
mod late;
mod look;
mod looked;
mod moved;
mod plan;

use super::{
	blocks::LookError,
	common::{
		bundles::relayed,
		claims::{ClaimArgs, Claims},
		large::{Large, RelayArgs},
		rescues::garbage,
		webhook::{Webhook, WebhookError},
	},
	disputes::{
		accusing::{Accusations, Stakes},
		driver::{DisputeArgs, Driver, Work},
		files::Files,
		locked,
		party::Subject as Matter,
	},
	fetch::{Fetcher, LocationArgs},
	machine::Machine,
	recent::Recent,
	replay,
	report::Reporter,
	run::{self, Base, Next, Play, Role, RoleArgs, RoleError},
	store::{Home, Quota},
	tasks::{Outcome, TaskName, Tasks},
};
use crate::args::parse_ut;
use bets::Bets;
use elastic::Elastic;
use lacking::news;
use late::LateJobs;
use plan::{next, Limits, Subject};
use serde_json::json;
use std::{
	collections::{HashMap, HashSet},
	future::Future,
	sync::{Arc, Mutex},
	time::Duration,
};
use trainyard_client::{
	amount,
	court::{Dispute, Side},
	AccountId32, Chain, Head, JobView, Transactor,
};
use trainyard_court::game::Target;
use trainyard_protocol::{
	job::{Balance, WorkResult},
	JobId, MicroUt, H256,
};

/// Options of `trainyard whistleblower`.
#[derive(Clone, Debug, clap::Args)]
pub struct WhistleblowerArgs {
	#[command(flatten)]
	role: RoleArgs,
	#[command(flatten)]
	locations: LocationArgs,
	#[command(flatten)]
	relays: RelayArgs,
	#[command(flatten)]
	claims: ClaimArgs,
	#[command(flatten)]
	disputes: DisputeArgs,
	/// Segments of each result that are replayed: those that moved farthest, the first, the last, and
	/// random ones, of which there is one at least
	#[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
	segments_per_job: u32,
	/// Work that is replayed of one result (in ut): fewer segments are where they are longer, and a result
	/// whose segments are more each is not looked at
	#[arg(long, value_name = "UT", default_value = "10", value_parser = parse_ut)]
	max_ut: MicroUt,
	/// Look at no job that reads larger files (in MiB)
	#[arg(long, value_name = "MIB", default_value_t = 2048)]
	max_data_mib: u64,
	/// Memory for a replay (in MiB): a job that may need more is not looked at [default: three quarters
	/// of what is available at the start]
	#[arg(long, value_name = "MIB")]
	max_memory_mib: Option<u64>,
	/// Disk for everything in the folder (in MiB): data that no job needs is removed first, and a result
	/// beyond it is not looked at [default: half of what is free at the start]
	#[arg(long, value_name = "MIB")]
	max_disk_mib: Option<u64>,
	/// Stake at most this on each result that it finds false, against offers of those who bet on it, while it accuses
	/// (in TRY); 0 to bet on nothing
	#[arg(long, value_name = "TRY", default_value = "0", value_parser = amount::parse)]
	max_bet: Balance,
	/// Largest deposit of one challenge (in TRY). It returns where the result is false
	#[arg(long, value_name = "TRY", default_value = "100", value_parser = amount::parse)]
	max_deposit: Balance,
	/// Accusations at once. While there are so many, nothing new is looked at
	#[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
	max_open: u16,
	/// Balance that stays free for fees (in TRY)
	#[arg(long, value_name = "TRY", default_value = "5", value_parser = amount::parse)]
	reserve: Balance,
	/// Send warnings to this URL, as JSON by POST: a clock of a dispute runs out
	#[arg(long, value_name = "URL")]
	warn_webhook: Option<String>,
	/// Look at settled jobs too, for the week in which what was accepted can still be challenged. Results
	/// whose time is over first come first
	#[arg(long)]
	late: bool,
	/// Look at results only while one whistleblower more may expect at least this much in a day (in TRY), by what the
	/// chain says of what is found and of how many look, and say so on chain, for a fee each 2,400 blocks; 0 to look
	/// always and be counted. Disputes go on [default: look always, and say nothing]
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	min_expected: Option<Balance>,
	/// Stop after the first result that was looked at, when its disputes are over
	#[arg(long)]
	once: bool,
}

/// Says why the whistleblower cannot work at all.
#[derive(Debug, thiserror::Error)]
pub enum WhistleblowerError {
	/// Warnings cannot be sent.
	#[error(transparent)]
	Webhook(#[from] WebhookError),
}

impl From<WhistleblowerError> for RoleError<WhistleblowerError> {
	fn from(error: WhistleblowerError) -> Self {
		Self::Own(error)
	}
}

/// The name of the role.
const NAME: &str = "whistleblower";

/// A task that runs beside the look at the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
	/// Looks at a result of a job, by the root of its bundle and that of its model.
	Look(JobId, H256, H256),
	/// Goes on with a dispute, or with an accusation.
	Dispute(JobId, Work),
	/// Says on chain that it looks, in a watch.
	Watch(u32),
}

/// A whistleblower at work; shared by its tasks.
struct Whistleblower {
	home: Arc<Home>,
	/// What it computes on.
	machine: Machine,
	fetcher: Fetcher,
	large: Large,
	claims: Claims,
	bets: Bets,
	limits: Limits,
	quota: Quota,
	accusations: Arc<Accusations>,
	report: Reporter,
	/// Content hashes of the files of jobs that are disputed.
	needed: Mutex<HashSet<H256>>,
	/// What was reported of results that are not looked at.
	refused: Mutex<Recent<(JobId, H256), ()>>,
}

/// The whistleblower as a role.
struct WhistleblowerRole {
	whistleblower: Arc<Whistleblower>,
	chain: Arc<Chain>,
	driver: Driver<Arc<Transactor>>,
	late: LateJobs,
	me: AccountId32,
	/// Time between two blocks.
	block_time: Duration,
	/// Accusations at once.
	most: usize,
	once: bool,
	/// Whether a result was looked at in this process.
	has_looked: bool,
	/// How much had come of each result when it was last looked at.
	known: HashMap<Key, usize>,
	/// Whether it looks now.
	elastic: Elastic,
	sender: Arc<Transactor>,
}

/// Runs a whistleblower until it is asked to stop.
pub async fn run(args: WhistleblowerArgs) -> Result<(), RoleError<WhistleblowerError>> {
	run::run::<WhistleblowerRole>(args.role.clone(), args).await
}

/// Gets a whistleblower ready in a process that plays other roles, too.
pub(in crate::roles) async fn prepare(
	args: WhistleblowerArgs,
	base: Base,
	stop: impl Future<Output = ()> + 'static,
) -> Result<Play, RoleError<WhistleblowerError>> {
	run::prepare::<WhistleblowerRole>(args, base, stop).await
}

impl Role for WhistleblowerRole {
	const NAME: &'static str = NAME;
	type Args = WhistleblowerArgs;
	type Error = WhistleblowerError;
	type Key = Key;

	async fn open(
		args: WhistleblowerArgs,
		base: &Base,
	) -> Result<Self, RoleError<WhistleblowerError>> {
		let Base { chain, sender, home, report, machine } = base.clone();
		let webhook = Webhook::new(report.clone(), args.warn_webhook.as_deref())
			.map_err(WhistleblowerError::from)?;
		let locations = args.locations.locations(&chain).await?;
		let fetcher = Fetcher::new(2, Duration::from_millis(300), locations)?
			.over(args.locations.over())
			.with_stores(args.locations.stores())
			.with_chain(chain.clone());
		let most = usize::from(args.max_open);
		let stakes = Stakes { most: args.max_deposit, reserve: args.reserve, open: most };
		let me = *sender.account();
		let large = args.relays.large(&sender, webhook.clone()).await?;
		let claims = args.claims.claims(&sender, report.clone()).await?;
		let bets = Bets {
			sender: Some(sender.clone()),
			most: args.max_bet,
			reserve: args.reserve.saturating_add(args.max_deposit),
			report: report.clone(),
		};
		let driver =
			Driver::open(sender, me, &home.disputes(), &args.disputes, stakes, &report, webhook)?
				.on(machine.clone(), Self::NAME);
		let mib = |n: u64| n.saturating_mul(1024 * 1024);
		let whistleblower = Whistleblower {
			machine,
			fetcher,
			large,
			claims,
			bets,
			limits: Limits {
				segments: args.segments_per_job,
				work: args.max_ut,
				data: mib(args.max_data_mib),
				memory: replay::memory(args.max_memory_mib),
			},
			quota: Quota::new(args.max_disk_mib, &home),
			accusations: driver.accusations().clone(),
			needed: Mutex::default(),
			refused: Mutex::default(),
			report,
			home,
		};
		let whistleblower = Arc::new(whistleblower);
		let (once, has_looked, late) = (args.once, false, LateJobs::new(args.late));
		let block_time = chain.block_time().await?;
		let known = HashMap::new();
		let role = Self {
			whistleblower,
			chain,
			driver,
			late,
			me,
			block_time,
			most,
			once,
			has_looked,
			known,
			elastic: Elastic::new(args.min_expected),
			sender: base.sender.clone(),
		};
		Ok(role)
	}

	async fn look(&mut self, head: Head, tasks: &mut Tasks<Key>) -> Result<Next, LookError> {
		let mut jobs = self.chain.active_jobs(head.hash).await?;
		let this = self.whistleblower.clone();
		let active: HashSet<JobId> = jobs.iter().map(|job| job.id).collect();
		let mut carried = this.accusations.open_jobs();
		carried.retain(|job| !active.contains(job));
		let me = self.me;
		let is_over = |job: &JobView| this.is_over(job, &me);
		jobs.extend(self.late.look(&self.chain, &head, &carried, is_over).await?);
		let views: Vec<&JobView> = jobs.iter().collect();
		let files = |job: &JobView, dispute: &Dispute| this.files(&self.me, job, dispute);
		let due = self.driver.look(&views, files, tasks, Key::Dispute).await?;
		let open = this.accusations.open_count();
		let accused = this.accusations.open_jobs();
		let is_needed = |job: &&&JobView| due.jobs.contains(&job.id) || accused.contains(&job.id);
		let files = views.iter().filter(is_needed).flat_map(|job| job.spec.files());
		*locked(&this.needed) = files.map(|(_, file)| file.content_hash).collect();
		if self.once && self.has_looked && open == 0 && due.jobs.is_empty() {
			return Ok(Next::Never);
		}
		// What nobody can challenge any more need not be looked at to its end.
		let results: HashSet<Key> =
			plan::results(&views).map(|(job, result)| key(job.id, &result)).collect();
		tasks.stop_unless(|key| !matches!(key, Key::Look(..)) || results.contains(key));
		self.known.retain(|key, _| results.contains(key));
		let wants = self.decide(tasks).await?;
		let looks = tasks.running().any(|key| matches!(key, Key::Look(..)));
		let may = wants && !looks && open < self.most && !(self.once && self.has_looked);
		if !may {
			return Ok(Next::Block);
		}
		let waiting = next(&views, &self.me, |job, result| this.is_done(job, result));
		for Subject { job, result } in waiting {
			let key = key(job.id, &result);
			let known = self.known.get(&key).copied();
			if known.is_none() && !tasks.is_ready(&key) {
				continue;
			}
			if let Err(refusal) = this.limits.check(job) {
				let reason = refusal.to_string();
				let subject = (job.id, result.bundle_root);
				if locked(&this.refused).insert(subject, ()).is_none() {
					let text = format!("not looked at: {reason}");
					this.report.job(job.id, "not_looked_at", &text, json!({ "reason": reason }));
				}
				continue;
			}
			let relays = self.chain.relays_of(job.id, head.hash).await?;
			let relayed = relayed(job, &result, &relays);
			let news = news(job, &result, &relayed);
			if known.is_some_and(|known| known < news) {
				// What it waits for may have come.
				tasks.forgive(&key);
			}
			if !tasks.is_ready(&key) {
				continue;
			}
			self.known.insert(key, news);
			let (this, job) = (this.clone(), (*job).clone());
			// Most of the time that is left is for replays, and for others to look at.
			let left = plan::until(&job).saturating_sub(head.number);
			let share = (self.block_time.saturating_mul(left) / 4).min(moved::LONGEST);
			tasks.start_with(key, |stop| this.look_at(job, result, relayed, share, stop));
			break;
		}
		Ok(Next::Block)
	}

	fn name_of(key: &Key) -> TaskName {
		match key {
			Key::Look(job, ..) => TaskName::new("look").of_job(*job),
			Key::Dispute(job, Work::Move(step)) => TaskName::new("dispute")
				.of_job(*job)
				.of(format!("dispute {}", step.id))
				.with("dispute", step.id),
			Key::Dispute(job, Work::Accuse(..)) => {
				TaskName::new("dispute").of_job(*job).of("an accusation")
			}
			Key::Watch(_) => TaskName::new("watch"),
		}
	}

	fn ended(&mut self, key: Key, outcome: &Outcome) -> Next {
		if let (Ok(()), Key::Watch(watch)) = (outcome, &key) {
			self.elastic.has_said(*watch);
		}
		match outcome {
			Ok(()) => {
				self.has_looked |= matches!(key, Key::Look(..));
				Next::AtOnce
			}
			Err(_) => Next::Block,
		}
	}
}

impl WhistleblowerRole {
	/// Decides whether it looks at results now, and says so on chain once in each watch.
	async fn decide(&mut self, tasks: &mut Tasks<Key>) -> Result<bool, LookError> {
		if !self.elastic.is_counted() {
			return Ok(true);
		}
		let view = self.chain.watchers().await?;
		let decided = self.elastic.decide(&view, elastic::luck(&self.me, view.watch));
		if decided.changed {
			let (event, does) = match decided.looks {
				true => ("joins", "looks at results again"),
				false => ("rests", "looks at no results"),
			};
			let text = format!(
				"{does}: {} look, and one more may expect {} in a day",
				view.alive,
				amount::format(view.next)
			);
			let fields = json!({ "alive": view.alive, "next": view.next.to_string() });
			self.whistleblower.report.general(event, &text, fields);
		}
		if decided.says {
			let sender = self.sender.clone();
			tasks.start(Key::Watch(view.watch), async move {
				match sender.run(&elastic::watch()).await {
					// A process before this one said so.
					Err(error) if error.failed_with("Reputation::HasSaidSo") => Ok(()),
					other => Ok(other.map(drop)?),
				}
			});
		}
		Ok(decided.looks)
	}
}

/// Returns what identifies the look at a result.
fn key(job: JobId, result: &WorkResult) -> Key {
	Key::Look(job, result.bundle_root, result.model_root)
}

impl Whistleblower {
	/// Returns whether a result was looked at.
	fn is_done(&self, job: &JobView, result: H256) -> bool {
		let folder = self.accusations.result_folder(job.id, &result);
		looked::Looked::load(&folder).is_some_and(|looked| looked.done)
	}

	/// Returns whether there is nothing to look at in a job: all was looked at, or will not be.
	fn is_over(&self, job: &JobView, me: &AccountId32) -> bool {
		let is_done = |job: &JobView, result| self.is_done(job, result);
		let jobs = [job];
		let left = next(&jobs, me, is_done);
		left.is_empty() || self.limits.check(job).is_err()
	}

	/// Returns the files from which disputes about a result are computed: what was fetched of it.
	fn files(&self, me: &AccountId32, job: &JobView, dispute: &Dispute) -> Option<Files> {
		let side = dispute.side_of(me)?;
		let root = self.accusations.result_of(&job.seed?, &dispute.defendant)?;
		let folder = self.accusations.result_folder(job.id, &root);
		if side != Side::Challenger {
			return None;
		}
		let files = Files::of_bundle(&folder, self.inputs(&job.spec, &folder));
		let accused = Matter::of(job, &dispute.defendant)?.result.bundle_root;
		let blob = match dispute.stage.subject.target {
			Target::Rescue { blob, .. } => {
				Some(garbage(&folder, &blob)).filter(|path| path.is_file())
			}
			_ => None,
		};
		Some(Files { blob, ..files.for_bundle(&accused) })
	}
}
