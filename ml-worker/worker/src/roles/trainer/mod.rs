//! The trainer: finds jobs that are worth it, trains them, and sees them through to the end.

mod accuse;
mod actions;
mod bets;
mod blobs;
mod outcome;
mod reconcile;
mod relays;
mod resources;
mod slots;
mod thinned;
mod training;

use super::{
	blocks::LookError,
	common::{
		lost::Replaced,
		registration::{register, RegistrationError},
		serving::{serve_by, IrohArgs, Served, ServingError},
		webhook::{Webhook, WebhookError},
	},
	disputes::{
		accusing::{Accusations, Stakes},
		driver::{DisputeArgs, Driver, Work},
	},
	fetch::{Fetcher, LocationArgs},
	http::Shelf,
	job::Job,
	machine::Machine,
	plan::{Action, Limits, Prices, Refusal},
	recent::Recent,
	report::Reporter,
	run::{self, Base, Next, Play, Role, RoleArgs, RoleError},
	store::{Home, JobRecord, Quota, StoreError, Unused},
	tasks::{word, Outcome, TaskError, TaskName, Tasks},
};
use crate::args::parse_ut;
use serde_json::{json, Map, Value};
use std::{
	collections::{BTreeMap, BTreeSet, HashMap, HashSet},
	future::Future,
	mem::Discriminant,
	net::SocketAddr,
	sync::{Arc, Mutex, MutexGuard},
	time::Duration,
};
use tracing::warn;
use trainyard_client::{amount, AccountId32, Chain, Head, Transactor};
use trainyard_proof::train::Cheat;
use trainyard_protocol::{
	job::{Balance, UNDECIDED_PERCENT},
	pieces::Piece,
	relay::RelayId,
	JobId, MicroUt, Text, H256,
};

/// Options of `trainyard trainer`.
#[derive(Clone, Debug, clap::Args)]
pub struct TrainerArgs {
	#[command(flatten)]
	role: RoleArgs,
	/// Address to serve bundles and data on; port 0 takes a free one, and the same again
	/// after a restart
	#[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
	listen: SocketAddr,
	/// URL under which verifiers reach that address; needed where it is not this machine's own
	#[arg(long, value_name = "URL")]
	public_url: Option<String>,
	#[command(flatten)]
	iroh: IrohArgs,
	#[command(flatten)]
	locations: LocationArgs,
	/// Register as a trainer with this bond (in TRY) if the account is none yet
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	bond: Option<Balance>,
	/// Take no job that pays less for one ut (in TRY)
	#[arg(long, value_name = "TRY", default_value = "0", value_parser = amount::parse)]
	min_price: Balance,
	/// Take no job that pays a smaller part of the price (in percent) where the audit decides nothing.
	/// No part is a gift to whoever keeps verifiers away: the model is on chain before the audit
	#[arg(long, value_name = "PERCENT", default_value_t = UNDECIDED_PERCENT, value_parser = clap::value_parser!(u8).range(..=100))]
	min_undecided: u8,
	/// Take no job that pays by lottery with a larger standard deviation of the pay than this (in percent of the
	/// mean, which is what it would pay without a lottery)
	#[arg(long, value_name = "PERCENT", default_value_t = LOTTERY_DEVIATION)]
	max_lottery_deviation: u32,
	/// Take no job of more work (in ut)
	#[arg(long, value_name = "UT", default_value = "1000", value_parser = parse_ut)]
	max_ut: MicroUt,
	/// Take no job that reads larger files (in MiB): data, labels, initial model
	#[arg(long, value_name = "MIB", default_value_t = 1024)]
	max_data_mib: u64,
	/// Memory for all jobs together (in MiB) [default: three quarters of what is available at
	/// the start]
	#[arg(long, value_name = "MIB")]
	max_memory_mib: Option<u64>,
	/// Disk for everything in the folder (in MiB): data that no job needs is removed first,
	/// and jobs beyond it are not taken [default: half of what is free at the start]
	#[arg(long, value_name = "MIB")]
	max_disk_mib: Option<u64>,
	/// Jobs at once
	#[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
	max_parallel: u16,
	/// Balance that stays free for fees (in TRY)
	#[arg(long, value_name = "TRY", default_value = "0.1", value_parser = amount::parse)]
	reserve: Balance,
	/// Expected speed of training in MFLOPS: a job that would not be done in 80 % of its time
	/// at this speed is not taken. One ut is 432 s at 1,000 MFLOPS
	#[arg(long, value_name = "MFLOPS", default_value_t = 1_000.0)]
	speed_mflops: f64,
	/// Blocks for which bundle and data of an ended job are still served; its folder is removed
	/// then
	#[arg(long, value_name = "BLOCKS", default_value_t = 600)]
	grace: u32,
	/// Segments of each run, drawn at random, that are replayed on the processor before the result
	/// is committed to; 0 for none. It finds errors of GPUs, of memory and of processors, which
	/// would cost the deposit
	#[arg(long, value_name = "N", default_value_t = 1)]
	check_segments: u32,
	#[command(flatten)]
	disputes: DisputeArgs,
	#[command(flatten)]
	bets: bets::BetArgs,
	/// Accuse nobody who delivered another result of the same job. At most one is true, and while two
	/// stand none is accepted
	#[arg(long)]
	no_accuse: bool,
	/// Largest deposit of one challenge (in TRY). It returns where the other result is false
	#[arg(long, value_name = "TRY", default_value = "100", value_parser = amount::parse)]
	max_challenge_deposit: Balance,
	/// Send warnings to this URL, as JSON by POST: a clock of a dispute runs out
	#[arg(long, value_name = "URL")]
	warn_webhook: Option<String>,
	/// FOR TESTS: skip the work of the last N segments and fabricate their checkpoints. The
	/// audit rejects such a result and the deposit is lost
	#[arg(long, value_name = "N")]
	test_only_cheat: Option<u32>,
	/// FOR TESTS: train with half of the learning rate that the job says, and defend that before the
	/// court. The result is rejected and the deposit is lost
	#[arg(long, conflicts_with = "test_only_cheat")]
	test_only_half_rate: bool,
}

impl TrainerArgs {
	/// Returns how this trainer cheats, if it does.
	fn cheat(&self) -> Option<Cheat> {
		let fabricate = |segments| Cheat::Fabricate { segments };
		let half = self.test_only_half_rate.then_some(Cheat::HalfRate);
		self.test_only_cheat.map(fabricate).or(half)
	}
}

/// Says why the trainer cannot work at all.
#[derive(Debug, thiserror::Error)]
pub enum TrainerError {
	/// The account is not a trainer.
	#[error(transparent)]
	Registration(#[from] RegistrationError),
	/// It cannot serve.
	#[error(transparent)]
	Serving(#[from] ServingError),
	/// Warnings cannot be sent.
	#[error(transparent)]
	Webhook(#[from] WebhookError),
}

impl From<TrainerError> for RoleError<TrainerError> {
	fn from(error: TrainerError) -> Self {
		Self::Own(error)
	}
}

/// The name of the role.
const NAME: &str = "trainer";
/// Deviation of the pay of a lottery, in percent of its mean, that is taken where nothing is named.
const LOTTERY_DEVIATION: u32 = 10;
/// Accusations at once.
const MAX_ACCUSED: usize = 4;

/// A step of a job under one assignment seed: after a reorganisation the same job may have a
/// different seed, and work for the first does not serve the second. A job without a seed has the
/// digest of its specification in its place, because its number may become that of a different job.
type Key = (JobId, H256, Action);

/// Records by job and assignment seed.
type Records = BTreeMap<(JobId, H256), JobRecord>;

/// A trainer at work; shared by its tasks.
struct Trainer {
	chain: Arc<Chain>,
	/// What it computes on.
	machine: Machine,
	sender: Arc<Transactor>,
	home: Arc<Home>,
	shelf: Shelf,
	fetcher: Fetcher,
	location: Text,
	limits: Limits,
	block_time: Duration,
	prices: Prices,
	/// What the folder may have.
	quota: Quota,
	cheat: Option<Cheat>,
	/// Segments of each run that are replayed before the result counts.
	checks: u32,
	report: Reporter,
	/// Jobs whose seed is known and which have not finished.
	records: Mutex<Records>,
	/// Content hashes of files of jobs that are here, checked in this process.
	data: Mutex<HashSet<H256>>,
	/// Digests of specifications whose training was tried, without a fault.
	rehearsed: Mutex<Recent<H256, ()>>,
	/// Commitments on chain that were not this folder's, and were replaced.
	replaced: Replaced,
	/// What is wrong with specifications, by their digests.
	bad: Mutex<Recent<H256, String>>,
	/// Jobs under seeds that they have no longer.
	old_seeds: Mutex<Unused<(JobId, H256)>>,
	/// Since when jobs wait for their files.
	queue: Mutex<slots::Queue>,
	/// What was stored because verifiers lacked these pieces of a job's result.
	rescued: Mutex<BTreeMap<Window, Vec<H256>>>,
	/// What it bets on its own results.
	bets: Mutex<bets::Standing>,
	/// Blobs that this account stored, as on disk.
	blobs: Mutex<BTreeMap<H256, JobId>>,
	/// Whom it accuses of false results.
	accusations: Arc<Accusations>,
	/// Whether it accuses anybody.
	accuses: bool,
	/// Who sits in relays about results of this trainer, or sat in one, and in which.
	relay_seats: Mutex<BTreeMap<JobId, BTreeMap<AccountId32, BTreeSet<RelayId>>>>,
}

/// A job, the round of its audit, and the pieces of this trainer's result that are asked for.
type Window = (JobId, u32, Vec<Piece>);

/// What was last reported about a job, so that it is reported once.
#[derive(Default)]
struct Reported {
	states: HashMap<JobId, &'static str>,
	refusals: HashMap<JobId, Discriminant<Refusal>>,
	/// Results that cannot be revealed.
	lost: HashSet<JobId>,
	/// Problems with the files of a job, or with the folder.
	problems: HashMap<Option<JobId>, String>,
	/// Relays about own results.
	relays: HashSet<(JobId, RelayId)>,
}

impl Reported {
	/// Forgets all jobs but these.
	fn retain(&mut self, jobs: &[Job]) {
		let known: HashSet<JobId> = jobs.iter().map(|job| job.id).collect();
		self.states.retain(|job, _| known.contains(job));
		self.refusals.retain(|job, _| known.contains(job));
		self.lost.retain(|job| known.contains(job));
		self.problems.retain(|job, _| job.is_none_or(|job| known.contains(&job)));
		self.relays.retain(|(job, _)| known.contains(job));
	}
}

/// The trainer as a role: what its tasks share, and what it remembers between two blocks.
struct TrainerRole {
	trainer: Arc<Trainer>,
	driver: Driver<Arc<Transactor>>,
	reported: Reported,
	_served: Served,
	_restorer: thinned::Restorer,
}

/// Runs a trainer until it is asked to stop.
pub async fn run(args: TrainerArgs) -> Result<(), RoleError<TrainerError>> {
	run::run::<TrainerRole>(args.role.clone(), args).await
}

/// Gets a trainer ready in a process that plays other roles, too.
pub(in crate::roles) async fn prepare(
	args: TrainerArgs,
	base: Base,
	stop: impl Future<Output = ()> + 'static,
) -> Result<Play, RoleError<TrainerError>> {
	run::prepare::<TrainerRole>(args, base, stop).await
}

impl Role for TrainerRole {
	const NAME: &'static str = NAME;
	type Args = TrainerArgs;
	type Error = TrainerError;
	type Key = Key;

	async fn open(args: TrainerArgs, base: &Base) -> Result<Self, RoleError<TrainerError>> {
		let Base { chain, sender, home, report, machine } = base.clone();
		register(&chain, &sender, args.bond, &report).await.map_err(TrainerError::from)?;
		let shelf = Shelf::default();
		let at = (args.listen, args.public_url.as_deref());
		let served =
			serve_by(at, (&args.iroh, args.locations.over()), &home, shelf.clone()).await?;
		let location = served.location.clone();
		let locations = args.locations.locations(&chain).await?;
		if let Err(e) = locations.check(&location.to_string_lossy()) {
			warn!("verifiers will not fetch what this trainer serves, see --public-url: {e}");
		}
		let room = resources::Room::new(args.max_memory_mib, args.max_disk_mib, &home);
		let (records, damaged) = home.jobs()?;
		for problem in damaged {
			let text = format!("{problem}. Other jobs go on");
			report.general("problem", &text, json!({ "reason": problem.to_string() }));
		}
		let cheat = args.cheat();
		if cheat.is_some() {
			warn!("this trainer CHEATS (--test-only-…): its results will be rejected");
		}
		let webhook = Webhook::new(report.clone(), args.warn_webhook.as_deref())
			.map_err(TrainerError::from)?;
		let stakes =
			Stakes { most: args.max_challenge_deposit, reserve: args.reserve, open: MAX_ACCUSED };
		let driver = Driver::open(
			sender.clone(),
			*sender.account(),
			&home.disputes(),
			&args.disputes,
			stakes,
			&report,
			webhook,
		)?
		.on(machine.clone(), Self::NAME);
		let trainer = Trainer {
			machine,
			accusations: driver.accusations().clone(),
			accuses: !args.no_accuse,
			limits: Limits {
				min_price: args.min_price,
				min_undecided: args.min_undecided,
				max_deviation: args.max_lottery_deviation,
				max_work: args.max_ut,
				max_parallel: usize::from(args.max_parallel),
				max_data: args.max_data_mib.saturating_mul(1024 * 1024),
				max_memory: room.memory,
				max_rescue: resources::max_rescue(&chain).await?,
				reserve: args.reserve,
				speed: args.speed_mflops * 1e6,
				grace: args.grace,
			},
			block_time: chain.block_time().await?,
			prices: resources::prices(&chain).await?,
			quota: room.disk,
			cheat,
			checks: args.check_segments,
			records: Mutex::new(records.into_iter().map(|r| ((r.job, r.seed), r)).collect()),
			data: Mutex::default(),
			rehearsed: Mutex::default(),
			replaced: Replaced::default(),
			bad: Mutex::default(),
			old_seeds: Mutex::default(),
			queue: Mutex::default(),
			rescued: Mutex::default(),
			relay_seats: Mutex::default(),
			bets: Mutex::new(bets::Standing::new(args.bets)),
			blobs: Mutex::new(home.blobs()?),
			fetcher: Fetcher::new(3, Duration::from_millis(500), locations)?
				.over(args.locations.over())
				.with_stores(args.locations.stores())
				.with_chain(chain.clone()),
			location,
			report,
			shelf,
			home,
			sender,
			chain,
		};
		let (trainer, reported) = (Arc::new(trainer), Reported::default());
		let Trainer { shelf, machine, report, .. } = &*trainer;
		let of_seats = shelf.dropped().clone();
		let _restorer = thinned::Restorer::start(of_seats, machine.clone(), report.clone());
		Ok(Self { trainer, driver, reported, _served: served, _restorer })
	}

	fn details(&self) -> (String, Map<String, Value>) {
		let location = &self.trainer.location;
		let fields = Map::from_iter([("location".to_owned(), json!(location))]);
		(format!(", serving at {location}"), fields)
	}

	async fn look(&mut self, head: Head, tasks: &mut Tasks<Key>) -> Result<Next, LookError> {
		let Self { trainer, driver, reported, .. } = self;
		let looked = trainer.look(tasks, driver, reported, head).await;
		self.trainer.reclaim_expired(tasks, head).await;
		looked.map(|()| Next::Block)
	}

	fn name_of((job, _, action): &Key) -> TaskName {
		if let Action::Dispute(work) = action {
			let name = TaskName::new("dispute").of_job(*job);
			return match work {
				Work::Move(step) => {
					name.of(format!("dispute {}", step.id)).with("dispute", step.id)
				}
				Work::Accuse(..) => name.of("an accusation"),
			};
		}
		TaskName::new(word(action)).of_job(*job).or_never("the job is not taken")
	}

	fn ended(&mut self, (job, _, action): Key, outcome: &Outcome) -> Next {
		match outcome {
			// The next step may be due.
			Ok(()) => Next::AtOnce,
			Err(TaskError::Stopped) if action == Action::Train => {
				let text = "training stopped: the chain does not ask for this result any more";
				self.trainer.report.job(job, "stopped_training", text, json!({}));
				Next::Block
			}
			Err(_) => Next::Block,
		}
	}

	fn is_awaited((.., action): &Key) -> bool {
		// It writes what it has, so that the next process goes on from there.
		*action == Action::Train
	}
}

impl Trainer {
	fn me(&self) -> &AccountId32 {
		self.sender.account()
	}

	fn records(&self) -> MutexGuard<'_, Records> {
		locked(&self.records)
	}

	fn data(&self) -> MutexGuard<'_, HashSet<H256>> {
		locked(&self.data)
	}

	fn rehearsed(&self) -> MutexGuard<'_, Recent<H256, ()>> {
		locked(&self.rehearsed)
	}

	fn bad(&self) -> MutexGuard<'_, Recent<H256, String>> {
		locked(&self.bad)
	}

	/// Changes the record of a job under one seed, on disk first.
	fn update(
		&self,
		job: JobId,
		seed: &H256,
		change: impl FnOnce(&mut JobRecord),
	) -> Result<JobRecord, StoreError> {
		update(&self.home, &mut self.records(), job, seed, change)
	}
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
	shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Changes the record of `job` under `seed`, on disk first. A record under a different seed is not
/// touched: its result is a different one.
fn update(
	home: &Home,
	records: &mut Records,
	job: JobId,
	seed: &H256,
	change: impl FnOnce(&mut JobRecord),
) -> Result<JobRecord, StoreError> {
	let missing = || StoreError::NoRecord { job, seed: *seed };
	let record = records.get_mut(&(job, *seed)).ok_or_else(missing)?;
	let mut changed = record.clone();
	change(&mut changed);
	home.save_job(&changed)?;
	*record = changed.clone();
	Ok(changed)
}

#[cfg(test)]
mod tests {
	use super::*;

	/// Training for the seed of a branch that was given up ends while the job has another.
	#[test]
	fn a_result_is_recorded_under_its_own_seed_only() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		let (old, new) = (H256::repeat_byte(1), H256::repeat_byte(2));
		let fresh = |seed| JobRecord::new(7, seed, H256::zero());
		let mut records = Records::from([((7, new), fresh(new))]);
		let late = update(&home, &mut records, 7, &old, |r| r.seconds = 9.0).unwrap_err();
		assert!(matches!(late, StoreError::NoRecord { job: 7, seed } if seed == old));
		assert_eq!(records[&(7, new)], fresh(new));

		records.insert((7, old), fresh(old));
		update(&home, &mut records, 7, &old, |r| r.seconds = 9.0).unwrap();
		assert_eq!(records[&(7, new)], fresh(new));
		assert_eq!(home.load_job(7, &old).unwrap().unwrap().seconds, 9.0);
		assert_eq!(home.load_job(7, &new).unwrap(), None);
	}

	#[test]
	fn work_is_read_in_ut() {
		assert_eq!(parse_ut("1"), Ok(1_000_000));
		assert_eq!(parse_ut("0.006"), Ok(6_000));
		assert_eq!(parse_ut("0.0000001"), Err(amount::DecimalError::TooPrecise(6)));
		assert_eq!(parse_ut("99999999999999999999"), Err(amount::DecimalError::TooLarge));
	}
}
