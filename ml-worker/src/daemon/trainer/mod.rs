//! The trainer: finds jobs that are worth it, trains them, and sees them through to the end.

mod act;

use super::{
	fetch::Fetcher,
	http::{ServeError, Server, Shelf},
	next_block,
	plan::{self, plan, replica_of, Action, Limits, Plan, Standing},
	report::Reporter,
	stop_signal,
	store::{Home, JobRecord, StoreError},
	survive,
	tasks::{Outcome, Tasks},
	words,
};
use crate::{
	amount,
	bundle::manifest::MadeBy,
	chain::{
		calls,
		keys::{KeyArgs, KeyError},
		AccountId32, Chain, ChainError, Head, JobView, NodeArgs, Transactor, TxError,
	},
	train::Cheat,
};
use serde_json::json;
use std::{
	collections::{BTreeMap, HashMap, HashSet},
	net::SocketAddr,
	path::PathBuf,
	sync::{
		atomic::{AtomicBool, Ordering},
		Arc, Mutex, MutexGuard,
	},
	time::{Duration, Instant},
};
use tracing::{debug, warn};
use trainyard_primitives::{
	job::{Balance, Fate, JobState},
	views::Hardware,
	JobId, MicroUt, Text, H256,
};

/// How long a node is waited for at the start.
const PATIENCE: Duration = Duration::from_secs(120);

/// Options of `trainyard trainer`.
#[derive(Clone, Debug, clap::Args)]
pub struct TrainerArgs {
	#[command(flatten)]
	node: NodeArgs,
	#[command(flatten)]
	key: KeyArgs,
	/// Folder for data, bundles and what must survive a restart; one daemon per folder
	#[arg(long, value_name = "DIR", default_value = "trainer")]
	dir: PathBuf,
	/// Address to serve bundles and data on; port 0 takes a free one, and the same again
	/// after a restart
	#[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
	listen: SocketAddr,
	/// URL under which verifiers reach that address; needed where it is not this machine's own
	#[arg(long, value_name = "URL")]
	public_url: Option<String>,
	/// Register as a trainer with this bond (in TRY) if the account is none yet
	#[arg(long, value_name = "TRY", value_parser = amount::parse)]
	bond: Option<Balance>,
	/// Take no job that pays less for one ut (in TRY)
	#[arg(long, value_name = "TRY", default_value = "0", value_parser = amount::parse)]
	min_price: Balance,
	/// Take no job of more work (in ut)
	#[arg(long, value_name = "UT", default_value = "1000", value_parser = parse_ut)]
	max_ut: MicroUt,
	/// Take no job with more data (in MiB)
	#[arg(long, value_name = "MIB", default_value_t = 1024)]
	max_data_mib: u64,
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
	/// Blocks for which bundle and data of an ended job are still served
	#[arg(long, value_name = "BLOCKS", default_value_t = 600)]
	grace: u32,
	/// FOR TESTS: skip the work of the last N segments and fabricate their checkpoints. The
	/// audit rejects such a result and the deposit is lost
	#[arg(long, value_name = "N")]
	test_only_cheat: Option<u32>,
	/// One JSON object per event
	#[arg(long)]
	json: bool,
}

/// Reads an amount of work in ut.
pub fn parse_ut(text: &str) -> Result<MicroUt, amount::DecimalError> {
	let micro = amount::parse_scaled(text, 6)?;
	MicroUt::try_from(micro).map_err(|_| amount::DecimalError::TooLarge)
}

/// Why the trainer cannot work at all.
#[derive(Debug, thiserror::Error)]
pub enum TrainerError {
	/// The account is no trainer.
	#[error("{account} is not registered as a trainer: give --bond AMOUNT to register it, or run `trainyard register`")]
	NotRegistered {
		/// The account.
		account: AccountId32,
	},
	/// Nobody could reach it.
	#[error("--listen {0} is reached under an address that only you know: give it with --public-url http://...")]
	NoPublicUrl(SocketAddr),
	/// Not a URL that fits on chain.
	#[error("--public-url `{0}` must be an http:// or https:// URL of at most 256 bytes")]
	BadPublicUrl(String),
	/// The chain cannot be asked.
	#[error(transparent)]
	Chain(#[from] ChainError),
	/// No key.
	#[error(transparent)]
	Key(#[from] KeyError),
	/// The folder cannot be used.
	#[error(transparent)]
	Store(#[from] StoreError),
	/// The server does not run.
	#[error(transparent)]
	Serve(#[from] ServeError),
	/// A transaction failed.
	#[error(transparent)]
	Tx(#[from] TxError),
}

type Key = (JobId, Action);

/// A trainer at work; shared by its tasks.
struct Trainer {
	chain: Arc<Chain>,
	sender: Transactor,
	home: Home,
	shelf: Shelf,
	fetcher: Fetcher,
	location: Text,
	limits: Limits,
	block_time: Duration,
	blob_deposit: (Balance, Balance),
	cheat: Option<Cheat>,
	report: Reporter,
	stop: AtomicBool,
	/// Jobs whose seed is known and which have not finished.
	records: Mutex<BTreeMap<JobId, JobRecord>>,
	/// Content hashes of data that lie here, checked in this process.
	data: Mutex<HashSet<H256>>,
}

/// What was last told about a job, so that it is told once.
#[derive(Default)]
struct Told {
	states: HashMap<JobId, &'static str>,
	refusals: HashMap<JobId, String>,
	failures: HashMap<Key, String>,
}

/// Runs a trainer until it is asked to stop.
pub async fn run(args: TrainerArgs) -> Result<(), TrainerError> {
	let key = args.key.keypair()?;
	let chain = Arc::new(Chain::connect(&args.node.node, PATIENCE).await?);
	let home = Home::open(&args.dir, &chain.genesis())?;
	let sender = Transactor::new(chain.clone(), key);
	let report = Reporter::new("trainer", args.json, Some(&home.events()));
	register(&chain, &sender, args.bond, &report).await?;

	let shelf = Shelf::default();
	let server = serve(args.listen, &home, shelf.clone()).await?;
	let location = public_location(args.public_url.as_deref(), server.address())?;
	let constant = |name| {
		let chain = chain.clone();
		async move { chain.constant("ModelStorage", name).await.map(Option::unwrap_or_default) }
	};
	let trainer = Arc::new(Trainer {
		limits: Limits {
			min_price: args.min_price,
			max_work: args.max_ut,
			max_parallel: usize::from(args.max_parallel),
			max_data: args.max_data_mib.saturating_mul(1024 * 1024),
			reserve: args.reserve,
			speed: args.speed_mflops * 1e6,
			grace: args.grace,
		},
		block_time: chain.block_time().await?,
		blob_deposit: (constant("DepositBase").await?, constant("DepositPerByte").await?),
		cheat: args.test_only_cheat.map(|segments| Cheat { segments }),
		records: Mutex::new(home.jobs()?.into_iter().map(|r| (r.job, r)).collect()),
		data: Mutex::default(),
		stop: AtomicBool::new(false),
		fetcher: Fetcher::default(),
		location,
		report,
		shelf,
		home,
		sender,
		chain,
	});
	trainer.report.general(
		"started",
		&format!(
			"trainer {} on {}, serving at {}",
			trainer.sender.account(),
			trainer.chain.url(),
			trainer.location
		),
		json!({ "account": trainer.sender.account(), "location": trainer.location }),
	);
	if trainer.cheat.is_some() {
		warn!("this trainer CHEATS (--test-only-cheat): its results will be rejected");
	}
	let result = trainer.clone().work().await;
	drop(server);
	result
}

/// Registers the account unless it is a trainer.
async fn register(
	chain: &Chain,
	sender: &Transactor,
	bond: Option<Balance>,
	report: &Reporter,
) -> Result<(), TrainerError> {
	let account = *sender.account();
	if chain.trainer(&account).await?.is_some() {
		return Ok(());
	}
	let bond = bond.ok_or(TrainerError::NotRegistered { account })?;
	sender.run(&calls::register_trainer(bond, &hardware())).await?;
	let text = format!("registered as a trainer with a bond of {}", amount::format(bond));
	report.general("registered", &text, json!({ "bond": bond.to_string() }));
	Ok(())
}

/// This machine, as it is told to the chain.
pub fn hardware() -> Hardware {
	let here = MadeBy::here();
	let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
	let kib = memory
		.lines()
		.find_map(|line| line.strip_prefix("MemTotal:"))
		.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
	let cpu: String = here.cpu.chars().take(64).collect();
	Hardware {
		cpu: Text::new(&cpu).unwrap_or_default(),
		cores: here.cores,
		memory_mib: kib.map_or(0, |k| u32::try_from(k / 1024).unwrap_or(u32::MAX)),
		gpu: Text::default(),
	}
}

/// Starts the server. With port 0 it takes the port of last time, if it is free: locations
/// that are on chain already name it.
async fn serve(listen: SocketAddr, home: &Home, shelf: Shelf) -> Result<Server, TrainerError> {
	let before = home.last_port().filter(|_| listen.port() == 0);
	if let Some(port) = before {
		match Server::start(SocketAddr::new(listen.ip(), port), shelf.clone()).await {
			Ok(server) => return Ok(server),
			Err(e) => {
				warn!("{e}. Another port is taken; results revealed before are not found there")
			}
		}
	}
	let server = Server::start(listen, shelf).await?;
	home.save_port(server.address().port())?;
	Ok(server)
}

fn public_location(url: Option<&str>, address: SocketAddr) -> Result<Text, TrainerError> {
	let url = match url {
		Some(url) => url.trim_end_matches('/').to_owned(),
		None if address.ip().is_unspecified() => return Err(TrainerError::NoPublicUrl(address)),
		None => format!("http://{address}"),
	};
	let rest = url.strip_prefix("http://").or(url.strip_prefix("https://"));
	match Text::new(&url) {
		Some(text) if rest.is_some_and(|rest| !rest.is_empty()) => Ok(text),
		_ => Err(TrainerError::BadPublicUrl(url)),
	}
}

impl Trainer {
	fn me(&self) -> &AccountId32 {
		self.sender.account()
	}

	fn records(&self) -> MutexGuard<'_, BTreeMap<JobId, JobRecord>> {
		self.records.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
	}

	fn data(&self) -> MutexGuard<'_, HashSet<H256>> {
		self.data.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
	}

	/// Changes the record of a job, on disk first.
	fn update(
		&self,
		job: JobId,
		change: impl FnOnce(&mut JobRecord),
	) -> Result<JobRecord, StoreError> {
		let mut records = self.records();
		let record = records.get_mut(&job).ok_or(StoreError::NoRecord(job))?;
		let mut changed = record.clone();
		change(&mut changed);
		self.home.save_job(&changed)?;
		*record = changed.clone();
		Ok(changed)
	}

	async fn work(self: Arc<Self>) -> Result<(), TrainerError> {
		let mut tasks: Tasks<Key> = Tasks::default();
		let mut told = Told::default();
		let mut complaint = String::new();
		let mut seen = None;
		let mut stopping = std::pin::pin!(stop_signal());
		loop {
			tokio::select! {
				biased;
				_ = &mut stopping => break,
				(key, outcome) = tasks.ended() => {
					if outcome.is_ok() {
						// What it did may call for the next step at once.
						seen = None;
						told.failures.remove(&key);
					}
					self.tell_failure(&mut told, key, outcome);
				},
				head = next_block(&self.chain, seen) => {
					let head = head?;
					seen = Some(head.hash);
					if let Err(e) = self.clone().look(&mut tasks, &mut told, head).await {
						let of_chain = match &e {
							TrainerError::Chain(e) => Some(e),
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
		self.stop.store(true, Ordering::Relaxed);
		self.report.general("stopped", "stopping; start again to go on", json!(null));
		// A run ends behind its present step.
		let deadline = Instant::now() + Duration::from_secs(10);
		while tasks.running().any(|(_, action)| *action == Action::Train) {
			let left = deadline.saturating_duration_since(Instant::now());
			if tokio::time::timeout(left, tasks.ended()).await.is_err() {
				break;
			}
		}
		Ok(())
	}

	fn tell_failure(&self, told: &mut Told, key: Key, outcome: Outcome) {
		let (job, action) = key;
		let Err(e) = outcome else { return };
		if self.stop.load(Ordering::Relaxed) {
			return;
		}
		let text = format!("{e:#}");
		if e.downcast_ref::<TxError>().is_some_and(TxError::is_uncertain) {
			// The next look at the chain tells.
			debug!("job {job}: {text}");
			return;
		}
		if told.failures.insert(key, text.clone()).as_ref() != Some(&text) {
			let name = format!("{action:?}").to_lowercase();
			self.report.job(
				job,
				"failed_attempt",
				&format!("{name}: {text}; it will be tried again"),
				json!({ "action": name, "reason": text }),
			);
		}
	}

	/// One look at all jobs: starts what is missing.
	async fn look(
		self: Arc<Self>,
		tasks: &mut Tasks<Key>,
		told: &mut Told,
		head: Head,
	) -> Result<(), TrainerError> {
		let jobs = self.jobs(head).await?;
		let me = *self.me();
		let mine = |job: &JobView| match job.state {
			JobState::Open | JobState::Seeding => job.applicants.contains(&me),
			JobState::Ended(_) => false,
			_ => replica_of(job, &me).is_some_and(|r| r.fate == Fate::Working),
		};
		// Between sending an application and seeing it on chain.
		let applying: HashSet<JobId> = tasks
			.running()
			.filter(|(_, action)| *action == Action::Apply)
			.map(|(id, _)| *id)
			.collect();
		let open = |job: &JobView| job.state == JobState::Open && !job.applicants.contains(&me);
		let mut standing = Standing {
			best: head.number,
			block_time: self.block_time,
			free: 0,
			blob_deposit: self.blob_deposit,
			busy: jobs.iter().filter(|j| mine(j) || (open(j) && applying.contains(&j.id))).count(),
		};
		if jobs.iter().any(open) {
			standing.free = self.chain.account(&me).await?.free;
		}
		let (mut bundles, mut blobs) = (HashMap::new(), HashMap::new());
		for job in jobs {
			let hash = job.spec.dataset.content_hash;
			let record = self.record_of(&job)?;
			let has_data = self.data().contains(&hash);
			let plan = plan(&job, &me, record.as_ref(), has_data, &self.limits, &standing);
			self.tell(told, &job, &plan);
			if plan.finished {
				self.records().remove(&job.id);
				continue;
			}
			if record.is_some_and(|r| r.ended.is_none()) && matches!(job.state, JobState::Ended(_))
			{
				self.update(job.id, |r| r.ended = Some(head.number))?;
			}
			if plan.serve_data && has_data {
				blobs.insert(hash, self.home.data(&hash));
			}
			if let Some(reveal) = replica_of(&job, &me).and_then(|r| r.reveal.as_ref()) {
				if let (true, Some(seed)) = (plan.serve_bundle, job.seed) {
					bundles.insert(reveal.bundle_root, self.home.bundle_folder(job.id, &seed));
				}
			}
			let id = job.id;
			let job = Arc::new(job);
			for action in plan.actions {
				let started = tasks.start((id, action), self.clone().act(job.clone(), action));
				if started && action == Action::Apply {
					standing.busy += 1;
					standing.free = standing.free.saturating_sub(job.deposit);
				}
			}
		}
		self.shelf.set(bundles, blobs);
		Ok(())
	}

	/// The jobs on chain that have not ended, and the ended ones that this trainer worked on.
	async fn jobs(&self, head: Head) -> Result<Vec<JobView>, ChainError> {
		let mut jobs = self.chain.active_jobs(head.hash).await?;
		let known: Vec<JobId> = self.records().keys().copied().collect();
		for id in known {
			if jobs.iter().any(|job| job.id == id) {
				continue;
			}
			match self.chain.job(id).await? {
				Some(job) => jobs.push(job),
				// Forgotten on chain.
				None => {
					self.records().remove(&id);
				}
			}
		}
		Ok(jobs)
	}

	/// What is known of a job that this trainer was drawn for; a fresh record where the seed
	/// is new.
	fn record_of(&self, job: &JobView) -> Result<Option<JobRecord>, StoreError> {
		let (Some(seed), Some(_)) = (job.seed, replica_of(job, self.me())) else {
			return Ok(None);
		};
		let mut records = self.records();
		if let Some(record) = records.get(&job.id).filter(|r| r.seed == seed) {
			return Ok(Some(record.clone()));
		}
		let record = match self.home.load_job(job.id, &seed)? {
			Some(record) => record,
			None if matches!(job.state, JobState::Ended(_)) => return Ok(None),
			None => {
				let record = JobRecord::new(job.id, seed, job.spec.dataset.content_hash);
				self.home.save_job(&record)?;
				record
			}
		};
		records.insert(job.id, record.clone());
		Ok(Some(record))
	}

	/// Tells changes of state of jobs that this trainer is involved in, and why it takes
	/// others not.
	fn tell(&self, told: &mut Told, job: &JobView, plan: &Plan) {
		let state = words::state(&job.state);
		let fields = json!({ "state": state });
		if plan.involved || told.states.contains_key(&job.id) {
			match told.states.insert(job.id, state) {
				Some(before) if before == state => {}
				Some(before) => {
					let text = format!("{before} -> {state}{}", self.ending(job));
					self.report.job(job.id, "state", &text, fields);
				}
				None => self.report.job(job.id, "state", state, fields),
			}
		}
		if let Some(refusal) = &plan.refusal {
			let text = refusal.to_string();
			if told.refusals.insert(job.id, text.clone()).as_ref() != Some(&text) {
				let reason = json!({ "reason": text });
				self.report.job(job.id, "not_taken", &format!("not taken: {text}"), reason);
			}
		}
		if plan.finished {
			told.states.remove(&job.id);
			told.refusals.remove(&job.id);
		}
	}

	fn ending(&self, job: &JobView) -> String {
		match (job.state, replica_of(job, self.me())) {
			(JobState::Ended(_), Some(mine)) if mine.fate == Fate::Accepted => {
				format!(": accepted, paid {}", amount::format(plan::price(job)))
			}
			(JobState::Ended(_), Some(mine)) => format!(": {}", words::fate(&mine.fate)),
			(JobState::Ended(_) | JobState::Training, None) => {
				": not drawn, deposit returned".into()
			}
			_ => String::new(),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn work_is_read_in_ut() {
		assert_eq!(parse_ut("1"), Ok(1_000_000));
		assert_eq!(parse_ut("0.006"), Ok(6_000));
		assert_eq!(parse_ut("0.0000001"), Err(amount::DecimalError::TooPrecise(6)));
		assert_eq!(parse_ut("99999999999999999999"), Err(amount::DecimalError::TooLarge));
	}

	#[test]
	fn a_location_must_be_one_that_others_reach() {
		let local: SocketAddr = "127.0.0.1:8600".parse().unwrap();
		let any: SocketAddr = "0.0.0.0:8600".parse().unwrap();
		let text = |url| public_location(url, local).map(|t| t.to_string_lossy());
		assert_eq!(text(None).unwrap(), "http://127.0.0.1:8600");
		assert_eq!(text(Some("https://me.example/x/")).unwrap(), "https://me.example/x");
		assert!(matches!(text(Some("me.example")), Err(TrainerError::BadPublicUrl(_))));
		assert!(matches!(text(Some("http://")), Err(TrainerError::BadPublicUrl(_))));
		let long = format!("http://{}", "x".repeat(300));
		assert!(matches!(text(Some(&long)), Err(TrainerError::BadPublicUrl(_))));
		assert!(matches!(public_location(None, any), Err(TrainerError::NoPublicUrl(_))));
		assert!(public_location(Some("http://me"), any).is_ok());
	}

	#[tokio::test]
	async fn a_restart_takes_the_same_port() {
		let dir = tempfile::tempdir().unwrap();
		let home = Home::open(dir.path(), &H256::zero()).unwrap();
		let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
		let first = serve(any, &home, Shelf::default()).await.unwrap();
		let address = first.address();
		// Still taken: another one, which is remembered from now on.
		let second = serve(any, &home, Shelf::default()).await.unwrap();
		assert_ne!(second.address(), address);
		assert_eq!(home.last_port(), Some(second.address().port()));
		let fixed = serve(address, &home, Shelf::default()).await;
		assert!(matches!(fixed, Err(TrainerError::Serve(ServeError::InUse(_)))));
	}

	#[test]
	fn this_machine_has_cores() {
		let hardware = hardware();
		assert!(hardware.cores > 0);
		#[cfg(target_os = "linux")]
		assert!(hardware.memory_mib > 0);
	}
}
