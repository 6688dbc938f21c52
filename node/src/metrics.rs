//! What the chain's own pallets know, for Prometheus: trainers, power, weights, jobs,
//! verifiers, money. Read through the runtime API at the best block and registered beside
//! the metrics of the SDK, under names that begin with `trainyard_`.
//!
//! The more trainers and jobs there are, the longer a reading takes, so its rate is bounded by its
//! cost: one in [`LEAST_PAUSE`] at most, and never more than one part in [`SHARE`] of the time.
//! While the node catches up with the chain nothing is read.

use crate::client::{FullBackend, FullClient};
use codec::Decode;
use futures::StreamExt;
use log::{debug, warn};
use sc_client_api::{BlockchainEvents, StorageKey, StorageProvider};
use sp_api::ProvideRuntimeApi;
use sp_blockchain::HeaderBackend;
use sp_consensus::SyncOracle;
use sp_consensus_babe::{AuthorityId, BabeApi};
use sp_core::crypto::{key_types, ByteArray};
use sp_io::hashing::twox_128;
use sp_keystore::KeystorePtr;
use std::{
	sync::Arc,
	time::{Duration, Instant},
};
use substrate_prometheus_endpoint::{
	prometheus::core::Atomic, register, Counter, Gauge, GaugeVec, Opts, PrometheusError, Registry,
	F64, U64,
};
use trainyard_protocol::{
	job::JobState,
	views::{JobView, TrainerView},
};
use trainyard_runtime::{api::TrainyardApi, opaque::Block, AccountId, Balance, Hash, TRY};

/// Least time between two readings.
pub const LEAST_PAUSE: Duration = Duration::from_secs(5);
/// A reading is followed by a pause of this many times its duration.
pub const SHARE: u32 = 100;
/// Most jobs that are counted: the runtime API returns no more in one call.
const MAX_JOBS: u32 = 1_000;
/// Trainers of one call of the runtime API.
const PAGE: u32 = 1_000;
/// Trainers after which no further page is asked for.
const MAX_TRAINERS: usize = 20_000;
/// Micro-ut of one ut.
const MICRO: f64 = 1e6;

/// The states of jobs that are not over, as labels.
const STATES: [&str; 5] = ["open", "seeding", "training", "revealing", "auditing"];

fn label(state: &JobState) -> Option<&'static str> {
	match state {
		JobState::Open => Some("open"),
		JobState::Seeding => Some("seeding"),
		JobState::Training => Some("training"),
		JobState::Revealing => Some("revealing"),
		JobState::Auditing => Some("auditing"),
		JobState::Ended(_) => None,
	}
}

/// An authority of an epoch, as far as metrics go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
	/// Its weight in authorship and finality.
	pub weight: u64,
	/// Whether this node has its key.
	pub own: bool,
}

/// What one reading found.
#[derive(Clone, Debug, Default)]
pub struct Reading {
	/// All trainers.
	pub trainers: Vec<TrainerView<AccountId>>,
	/// The first 1,000 jobs that are not over.
	pub jobs: Vec<JobView<AccountId>>,
	/// Bonds of the verifiers.
	pub verifiers: Vec<(AccountId, Balance)>,
	/// Authorities of the running epoch.
	pub authorities: Vec<Weight>,
	/// Authorities announced for the next one.
	pub next_authorities: Vec<Weight>,
	/// All TRY there is, in units of 10^-12; `None` where the state does not have it.
	pub issuance: Option<Balance>,
	/// Height of the block.
	pub height: u32,
}

/// The metrics.
#[derive(Clone)]
pub struct Metrics {
	trainers: Gauge<U64>,
	candidates: Gauge<U64>,
	trainer_bonds: Gauge<F64>,
	power: GaugeVec<F64>,
	credited: Gauge<F64>,
	drilled: Gauge<F64>,
	authorities: GaugeVec<U64>,
	weight: GaugeVec<F64>,
	own_authorities: GaugeVec<U64>,
	own_weight: GaugeVec<F64>,
	jobs: GaugeVec<U64>,
	job_work: Gauge<F64>,
	escrow: Gauge<F64>,
	verifiers: Gauge<U64>,
	verifier_bonds: Gauge<F64>,
	issuance: Gauge<F64>,
	height: Gauge<U64>,
	seconds: Gauge<F64>,
	readings: Counter<U64>,
	failures: Counter<U64>,
}

/// A gauge of whole numbers.
pub(crate) type Gauge64 = Gauge<U64>;

pub(crate) fn gauge<P: Atomic + 'static>(
	registry: &Registry,
	name: &str,
	help: &str,
) -> Result<Gauge<P>, PrometheusError> {
	register(Gauge::<P>::new(name, help)?, registry)
}

fn gauges<P: Atomic + 'static>(
	registry: &Registry,
	name: &str,
	help: &str,
	label: &str,
) -> Result<GaugeVec<P>, PrometheusError> {
	register(GaugeVec::<P>::new(Opts::new(name, help), &[label])?, registry)
}

fn counter(registry: &Registry, name: &str, help: &str) -> Result<Counter<U64>, PrometheusError> {
	register(Counter::<U64>::new(name, help)?, registry)
}

fn in_try(amount: Balance) -> f64 {
	amount as f64 / TRY as f64
}

/// The running epoch and the one after it, as labels.
const EPOCHS: [&str; 2] = ["current", "next"];

impl Metrics {
	/// Registers all metrics; they are 0 until the first [`Self::set`].
	pub fn register(registry: &Registry) -> Result<Self, PrometheusError> {
		let r = registry;
		Ok(Self {
			trainers: gauge(r, "trainyard_trainers", "Registered trainers")?,
			candidates: gauge(r, "trainyard_candidates", "Trainers that stand for authorship")?,
			trainer_bonds: gauge(
				r,
				"trainyard_trainer_bonds_try",
				"Bonds of all trainers, in TRY",
			)?,
			power: gauges(
				r,
				"trainyard_power_ut_per_day",
				"Effective power of all trainers, in ut a day: training, and drilling",
				"kind",
			)?,
			credited: gauge(
				r,
				"trainyard_training_credited_ut",
				"Training work ever credited to the present trainers, in ut",
			)?,
			drilled: gauge(
				r,
				"trainyard_drilling_credited_ut",
				"Drilling work ever credited to the present trainers, in ut",
			)?,
			authorities: gauges(
				r,
				"trainyard_authorities",
				"Authorities of the running epoch and of the next",
				"epoch",
			)?,
			weight: gauges(
				r,
				"trainyard_authority_weight",
				"Weight of all authorities together, in micro-ut a day",
				"epoch",
			)?,
			own_authorities: gauges(
				r,
				"trainyard_own_authorities",
				"Authorities whose BABE key is in this node's keystore",
				"epoch",
			)?,
			own_weight: gauges(
				r,
				"trainyard_own_authority_weight",
				"Weight of the authorities whose BABE key is in this node's keystore",
				"epoch",
			)?,
			jobs: gauges(
				r,
				"trainyard_jobs",
				"Jobs that are not over, by state, of the first 1,000",
				"state",
			)?,
			job_work: gauge(
				r,
				"trainyard_jobs_work_ut",
				"Work of the jobs that are not over, of one replica each, in ut",
			)?,
			escrow: gauge(
				r,
				"trainyard_jobs_escrow_try",
				"Held from the submitters of jobs that are not over, in TRY",
			)?,
			verifiers: gauge(r, "trainyard_verifiers", "Verifiers in the pool")?,
			verifier_bonds: gauge(
				r,
				"trainyard_verifier_bonds_try",
				"Bonds of all verifiers, in TRY",
			)?,
			issuance: gauge(r, "trainyard_issuance_try", "All TRY that there is")?,
			height: gauge(
				r,
				"trainyard_metrics_height",
				"Height of the block that these metrics are of",
			)?,
			seconds: gauge(
				r,
				"trainyard_metrics_reading_seconds",
				"Seconds that the last reading of these metrics took",
			)?,
			readings: counter(r, "trainyard_metrics_readings_total", "Readings of these metrics")?,
			failures: counter(
				r,
				"trainyard_metrics_failures_total",
				"Readings of these metrics that failed",
			)?,
		})
	}

	/// Shows what was found.
	pub fn set(&self, reading: &Reading) {
		let trainers = &reading.trainers;
		let sum = |of: fn(&TrainerView<AccountId>) -> u128| -> u128 {
			trainers.iter().fold(0, |sum, trainer| of(trainer).saturating_add(sum))
		};
		self.trainers.set(trainers.len() as u64);
		self.candidates.set(trainers.iter().filter(|trainer| trainer.candidate).count() as u64);
		self.trainer_bonds.set(in_try(sum(|trainer| trainer.bond)));
		let power = |kind: &str, sum: u128| {
			self.power.with_label_values(&[kind]).set(sum as f64 / MICRO);
		};
		power("training", sum(|trainer| trainer.training_effective));
		power("drilling", sum(|trainer| trainer.drilling_effective));
		self.credited.set(sum(|trainer| trainer.training_total) as f64 / MICRO);
		self.drilled.set(sum(|trainer| trainer.drilling_total) as f64 / MICRO);

		for (epoch, authorities) in
			EPOCHS.into_iter().zip([&reading.authorities, &reading.next_authorities])
		{
			let weigh = |own: bool| -> (u64, f64) {
				let chosen = authorities.iter().filter(|authority| authority.own || !own);
				chosen.fold((0, 0.0), |(n, sum), one| (n + 1, sum + one.weight as f64))
			};
			let ((all, weight), (own, own_weight)) = (weigh(false), weigh(true));
			self.authorities.with_label_values(&[epoch]).set(all);
			self.weight.with_label_values(&[epoch]).set(weight);
			self.own_authorities.with_label_values(&[epoch]).set(own);
			self.own_weight.with_label_values(&[epoch]).set(own_weight);
		}

		for state in STATES {
			let there = reading.jobs.iter().filter(|job| label(&job.state) == Some(state));
			self.jobs.with_label_values(&[state]).set(there.count() as u64);
		}
		let work = reading.jobs.iter().fold(0.0, |sum, job| sum + job.work as f64);
		self.job_work.set(work / MICRO);
		let escrow = reading.jobs.iter().map(|job| job.settlement.escrowed);
		self.escrow.set(in_try(escrow.fold(0, Balance::saturating_add)));

		self.verifiers.set(reading.verifiers.len() as u64);
		let bonds = reading.verifiers.iter().map(|(_, bond)| *bond);
		self.verifier_bonds.set(in_try(bonds.fold(0, Balance::saturating_add)));
		if let Some(issuance) = reading.issuance {
			self.issuance.set(in_try(issuance));
		}
		self.height.set(u64::from(reading.height));
	}
}

/// Returns how long the next reading waits after one that took `took`.
pub fn pause(took: Duration) -> Duration {
	LEAST_PAUSE.max(took.saturating_mul(SHARE))
}

/// Returns the key of the total issuance in the state.
fn issuance_key() -> StorageKey {
	StorageKey([twox_128(b"Balances"), twox_128(b"TotalIssuance")].concat())
}

/// Reads everything at the best block.
fn read(client: &FullClient, keystore: &KeystorePtr) -> Result<Reading, String> {
	let failed = |e: sp_api::ApiError| e.to_string();
	let info = client.info();
	let (api, at) = (client.runtime_api(), info.best_hash);
	let weights = |authorities: Vec<(AuthorityId, u64)>| -> Vec<Weight> {
		let own = |key: &AuthorityId| keystore.has_keys(&[(key.to_raw_vec(), key_types::BABE)]);
		authorities.iter().map(|(key, weight)| Weight { weight: *weight, own: own(key) }).collect()
	};
	Ok(Reading {
		trainers: trainers(client, at).map_err(failed)?,
		jobs: api.active_jobs_after(at, None, MAX_JOBS).map_err(failed)?,
		verifiers: api.verifiers(at).map_err(failed)?,
		authorities: weights(api.current_epoch(at).map_err(failed)?.authorities),
		next_authorities: weights(api.next_epoch(at).map_err(failed)?.authorities),
		issuance: issuance(client, at)?,
		height: info.best_number,
	})
}

/// Returns the trainers, page by page, [`MAX_TRAINERS`] at most and those of one page more.
fn trainers(
	client: &FullClient,
	at: Hash,
) -> Result<Vec<TrainerView<AccountId>>, sp_api::ApiError> {
	let mut all = Vec::<TrainerView<AccountId>>::new();
	loop {
		let last = all.last().map(|trainer| trainer.account.clone());
		let page = client.runtime_api().trainers(at, last, PAGE)?;
		let full = page.len() >= PAGE as usize;
		all.extend(page);
		if !full || all.len() >= MAX_TRAINERS {
			return Ok(all);
		}
	}
}

fn issuance(client: &FullClient, at: Hash) -> Result<Option<Balance>, String> {
	let key = issuance_key();
	let found = StorageProvider::<Block, FullBackend>::storage(client, at, &key)
		.map_err(|e| e.to_string())?;
	Ok(found.and_then(|data| Balance::decode(&mut &data.0[..]).ok()))
}

/// Keeps the metrics up to date for as long as the node runs. Readings block the thread.
pub async fn run(
	client: Arc<FullClient>,
	keystore: KeystorePtr,
	sync: impl SyncOracle,
	metrics: Metrics,
) {
	let mut blocks = client.import_notification_stream();
	let mut next = Instant::now();
	let mut told = false;
	loop {
		if Instant::now() >= next && !sync.is_major_syncing() {
			let begun = Instant::now();
			match read(&client, &keystore) {
				Ok(reading) => {
					metrics.set(&reading);
					metrics.readings.inc();
					told = false;
				}
				Err(reason) => {
					metrics.failures.inc();
					if !told {
						warn!("cannot read the metrics of the chain: {reason}");
						told = true;
					}
				}
			}
			let took = begun.elapsed();
			debug!("metrics of the chain read in {took:?}");
			metrics.seconds.set(took.as_secs_f64());
			next = Instant::now() + pause(took);
		}
		// Only a new best block has anything new to tell.
		loop {
			match blocks.next().await {
				Some(block) if block.is_new_best => break,
				Some(_) => {}
				None => return,
			}
		}
	}
}
