//! Counts what a role has done since it was started, for Prometheus, and says whether it works.
//!
//! Every role has one [`Metrics`], which its [`Reporter`](super::report::Reporter) made:
//! `report.metrics()`. The reporter itself counts events and errors; what was computed, earned and
//! lost is counted where it is known. [`MetricsArgs::serve`] shows the metrics, if the owner gave a
//! port.
//!
//! Counters begin at 0 with every start, as Prometheus expects.

mod serve;

pub use serve::{Exporter, MetricsArgs, MetricsError};

use prometheus::{
	CounterVec, Encoder, Gauge, GaugeVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
	TextEncoder,
};
use std::{
	collections::HashMap,
	fmt::Display,
	sync::{Arc, Mutex, PoisonError},
	time::Duration,
};
use trainyard_client::court::Side;
use trainyard_program::units::{FLOP_PER_MICRO_UT, MICRO_UT_PER_UT};
use trainyard_protocol::{job::Balance, MicroUt};

/// Units of the currency in one TRY.
const UNITS_PER_TRY: f64 = 1e12;

fn in_try(amount: Balance) -> f64 {
	amount as f64 / UNITS_PER_TRY
}

/// The source of income.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Income {
	/// The price of training.
	Pay,
	/// The fee for a verdict or a recomputation.
	Fee,
	/// A part of what a cheat lost.
	Bounty,
}

impl Income {
	/// All values.
	pub const ALL: [Self; 3] = [Self::Pay, Self::Fee, Self::Bounty];

	fn label(self) -> &'static str {
		match self {
			Self::Pay => "pay",
			Self::Fee => "fee",
			Self::Bounty => "bounty",
		}
	}
}

/// What was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
	/// The deposit of a job.
	Deposit,
	/// A part of the bond.
	Bond,
	/// The deposit of a challenge.
	Challenge,
}

impl Loss {
	/// All values.
	pub const ALL: [Self; 3] = [Self::Deposit, Self::Bond, Self::Challenge];

	fn label(self) -> &'static str {
		match self {
			Self::Deposit => "deposit",
			Self::Bond => "bond",
			Self::Challenge => "challenge",
		}
	}
}

/// The metrics of a role. Clones count in the same place.
#[derive(Clone)]
pub struct Metrics {
	registry: Registry,
	/// Those of other roles that are shown with these.
	joined: Arc<Mutex<Vec<Registry>>>,
	info: IntGaugeVec,
	connected: IntGauge,
	best: IntGauge,
	balance: GaugeVec,
	jobs: IntCounterVec,
	ut: CounterVec,
	power: CounterVec,
	seconds: CounterVec,
	flops: Gauge,
	deadline: IntGauge,
	clock: IntGauge,
	disputes: IntGaugeVec,
	earned: CounterVec,
	lost: CounterVec,
	events: IntCounterVec,
	errors: IntCounterVec,
}

impl std::fmt::Debug for Metrics {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		f.write_str("Metrics")
	}
}

/// The names and help texts of all metrics are here, and nowhere else.
fn build(role: &str) -> prometheus::Result<Metrics> {
	let labels = HashMap::from([("role".to_owned(), role.to_owned())]);
	let registry = Registry::new_custom(None, Some(labels))?;
	let opts = |name: &str, help: &str| Opts::new(format!("trainyard_worker_{name}"), help);
	let metrics = Metrics {
		info: IntGaugeVec::new(
			opts("info", "Always 1; the account and the version of the worker"),
			&["account", "version"],
		)?,
		connected: IntGauge::with_opts(opts("connected", "1 while the node answers"))?,
		best: IntGauge::with_opts(opts("best_block", "Height of the best block last seen"))?,
		balance: GaugeVec::new(
			opts("balance_try", "Balance of the account, free and held, in TRY"),
			&["kind"],
		)?,
		jobs: IntCounterVec::new(
			opts(
				"jobs_total",
				"Jobs, audits or units that ended for this role, by what became of them",
			),
			&["outcome"],
		)?,
		ut: CounterVec::new(opts("computed_ut_total", "Work of the runs that ended, in ut"), &[])?,
		power: CounterVec::new(
			opts("power_ut_total", "Work credited as power, and power lost, in ut"),
			&["kind"],
		)?,
		seconds: CounterVec::new(
			opts("computing_seconds_total", "Time of the runs that ended"),
			&[],
		)?,
		flops: Gauge::with_opts(opts("flops", "FLOP a second of the last run that ended"))?,
		deadline: IntGauge::with_opts(opts(
			"deadline_blocks",
			"Blocks until the nearest deadline of something that is not on chain yet; -1 without one",
		))?,
		clock: IntGauge::with_opts(opts(
			"dispute_clock_blocks",
			"Blocks left of the clock of this account that has the fewest; -1 where none runs",
		))?,
		disputes: IntGaugeVec::new(
			opts("disputes", "Disputes that run, by the side of this account"),
			&["side"],
		)?,
		earned: CounterVec::new(opts("earned_try_total", "Income by its kind, in TRY"), &["kind"])?,
		lost: CounterVec::new(
			opts("lost_try_total", "Deposits and parts of the bond lost, in TRY"),
			&["kind"],
		)?,
		events: IntCounterVec::new(
			opts("events_total", "Events reported, as in events.jsonl"),
			&["event"],
		)?,
		errors: IntCounterVec::new(
			opts("errors_total", "Attempts that failed, by what was attempted"),
			&["action"],
		)?,
		registry,
		joined: Arc::default(),
	};
	let registry = &metrics.registry;
	registry.register(Box::new(metrics.info.clone()))?;
	registry.register(Box::new(metrics.connected.clone()))?;
	registry.register(Box::new(metrics.best.clone()))?;
	registry.register(Box::new(metrics.balance.clone()))?;
	registry.register(Box::new(metrics.jobs.clone()))?;
	registry.register(Box::new(metrics.ut.clone()))?;
	registry.register(Box::new(metrics.power.clone()))?;
	registry.register(Box::new(metrics.seconds.clone()))?;
	registry.register(Box::new(metrics.flops.clone()))?;
	registry.register(Box::new(metrics.deadline.clone()))?;
	registry.register(Box::new(metrics.clock.clone()))?;
	registry.register(Box::new(metrics.disputes.clone()))?;
	registry.register(Box::new(metrics.earned.clone()))?;
	registry.register(Box::new(metrics.lost.clone()))?;
	registry.register(Box::new(metrics.events.clone()))?;
	registry.register(Box::new(metrics.errors.clone()))?;
	// A series that is there from the start shows its first step.
	for income in Income::ALL {
		metrics.earned.with_label_values(&[income.label()]).inc_by(0.0);
	}
	for loss in Loss::ALL {
		metrics.lost.with_label_values(&[loss.label()]).inc_by(0.0);
	}
	for kind in ["credited", "lost"] {
		metrics.power.with_label_values(&[kind]).inc_by(0.0);
	}
	metrics.deadline.set(-1);
	metrics.clock(None);
	metrics.disputes([]);
	metrics.ut.with_label_values(&[]).inc_by(0.0);
	metrics.seconds.with_label_values(&[]).inc_by(0.0);
	Ok(metrics)
}

impl Metrics {
	/// Makes the metrics of `role`, which is a label of all of them.
	///
	/// # Panics
	///
	/// Never panics: it could only do so if two names in this file were the same.
	pub fn new(role: &str) -> Self {
		build(role).expect("the names are valid and different")
	}

	/// Shows those of another role with these.
	pub fn join(&self, other: &Self) {
		let mut joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
		joined.push(other.registry.clone());
	}

	/// Says whose metrics these are.
	pub fn identify(&self, account: &impl Display) {
		let labels = [&*account.to_string(), env!("CARGO_PKG_VERSION")];
		self.info.with_label_values(&labels).set(1);
	}

	/// Counts that a job, an audit or a unit ended; `outcome` is a word.
	pub fn ended(&self, outcome: &str) {
		self.jobs.with_label_values(&[outcome]).inc();
	}

	/// Counts a run of `flop` FLOP that ended and took `took`.
	pub fn ran(&self, flop: u128, took: Duration) {
		let seconds = took.as_secs_f64();
		let ut = flop as f64 / (FLOP_PER_MICRO_UT * MICRO_UT_PER_UT) as f64;
		self.ut.with_label_values(&[]).inc_by(ut);
		self.seconds.with_label_values(&[]).inc_by(seconds);
		if seconds > 0.0 {
			self.flops.set(flop as f64 / seconds);
		}
	}

	/// Says how many blocks are left until the nearest deadline.
	pub fn deadline(&self, blocks: Option<u32>) {
		self.deadline.set(blocks.map_or(-1, i64::from));
	}

	/// Says how many blocks are left of the clock of this account that has the fewest.
	pub fn clock(&self, blocks: Option<u32>) {
		self.clock.set(blocks.map_or(-1, i64::from));
	}

	/// Says on which sides this account is in its disputes.
	pub fn disputes(&self, sides: impl IntoIterator<Item = Side>) {
		let (mut defender, mut challenger) = (0, 0);
		for side in sides {
			match side {
				Side::Defender => defender += 1,
				Side::Challenger => challenger += 1,
			}
		}
		self.disputes.with_label_values(&["defender"]).set(defender);
		self.disputes.with_label_values(&["challenger"]).set(challenger);
	}

	/// Counts that the chain credited `work` as power.
	pub fn credited(&self, work: MicroUt) {
		self.power.with_label_values(&["credited"]).inc_by(in_ut(work));
	}

	/// Counts that the chain took `work` of power away.
	pub fn power_lost(&self, work: MicroUt) {
		self.power.with_label_values(&["lost"]).inc_by(in_ut(work));
	}

	/// Counts that `amount` came in.
	pub fn earned(&self, income: Income, amount: Balance) {
		self.earned.with_label_values(&[income.label()]).inc_by(in_try(amount));
	}

	/// Counts that `amount` is lost.
	pub fn lost(&self, loss: Loss, amount: Balance) {
		self.lost.with_label_values(&[loss.label()]).inc_by(in_try(amount));
	}

	/// Counts that an event was reported.
	pub(super) fn event(&self, event: &str) {
		self.events.with_label_values(&[event]).inc();
	}

	/// Counts that an attempt failed.
	pub(super) fn error(&self, action: &str) {
		self.errors.with_label_values(&[action]).inc();
	}

	/// Returns all metrics in Prometheus' text format.
	pub fn text(&self) -> prometheus::Result<String> {
		let mut families = self.registry.gather();
		let joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
		for mut family in joined.iter().flat_map(Registry::gather) {
			// Each name stands once, whatever roles have it.
			match families.iter_mut().find(|known| known.get_name() == family.get_name()) {
				Some(known) => known.mut_metric().extend(family.take_metric()),
				None => families.push(family),
			}
		}
		let mut text = String::new();
		TextEncoder::new().encode_utf8(&families, &mut text)?;
		Ok(text)
	}

	/// Returns the content type of [`Self::text`].
	pub fn content_type() -> String {
		TextEncoder::new().format_type().to_owned()
	}
}

fn in_ut(work: MicroUt) -> f64 {
	work as f64 / MICRO_UT_PER_UT as f64
}

#[cfg(test)]
mod tests {
	use super::*;

	/// Returns the value of a sample, named with its labels as the text has them.
	pub(super) fn value(text: &str, sample: &str) -> Option<f64> {
		let line = text.lines().find(|line| line.rsplit_once(' ').is_some_and(|l| l.0 == sample));
		line.and_then(|line| line.rsplit_once(' ')?.1.parse().ok())
	}

	fn labelled(name: &str, label: &str, of: &str) -> String {
		format!("trainyard_worker_{name}{{{label}=\"{of}\",role=\"driller\"}}")
	}

	#[test]
	fn what_happened_is_counted() {
		let metrics = Metrics::new("driller");
		metrics.identify(&"5Account");
		metrics.ended("agreed");
		metrics.clone().ended("agreed");
		metrics.ended("lost");
		// 2 ut in 100 s, then half a ut in 10 s.
		metrics.ran(2 * 432_000_000_000, Duration::from_secs(100));
		metrics.ran(216_000_000_000, Duration::from_secs(10));
		metrics.credited(1_500_000);
		metrics.power_lost(250_000);
		metrics.earned(Income::Pay, 2_500_000_000_000);
		metrics.earned(Income::Pay, 500_000_000_000);
		metrics.earned(Income::Bounty, 1);
		metrics.lost(Loss::Bond, 10_000_000_000_000);
		metrics.event("committed");
		metrics.clock(Some(70));
		metrics.disputes([Side::Defender, Side::Challenger, Side::Defender]);
		metrics.error("apply");
		metrics.error("apply");
		let text = metrics.text().unwrap();
		let plain = |name: &str| format!("trainyard_worker_{name}{{role=\"driller\"}}");
		let version = env!("CARGO_PKG_VERSION");
		for (sample, expected) in [
			(labelled("jobs_total", "outcome", "agreed"), 2.0),
			(labelled("jobs_total", "outcome", "lost"), 1.0),
			(plain("computed_ut_total"), 2.5),
			(plain("computing_seconds_total"), 110.0),
			(plain("flops"), 21_600_000_000.0),
			(labelled("power_ut_total", "kind", "credited"), 1.5),
			(labelled("power_ut_total", "kind", "lost"), 0.25),
			(labelled("earned_try_total", "kind", "pay"), 3.0),
			(labelled("earned_try_total", "kind", "fee"), 0.0),
			(labelled("earned_try_total", "kind", "bounty"), 1e-12),
			(labelled("lost_try_total", "kind", "deposit"), 0.0),
			(labelled("lost_try_total", "kind", "bond"), 10.0),
			(labelled("events_total", "event", "committed"), 1.0),
			(labelled("errors_total", "action", "apply"), 2.0),
			(plain("connected"), 0.0),
			(plain("deadline_blocks"), -1.0),
			(plain("dispute_clock_blocks"), 70.0),
			(labelled("disputes", "side", "defender"), 2.0),
			(labelled("disputes", "side", "challenger"), 1.0),
			(labelled("lost_try_total", "kind", "challenge"), 0.0),
			(
				format!(
					"trainyard_worker_info{{account=\"5Account\",version=\"{version}\",role=\"driller\"}}"
				),
				1.0,
			),
		] {
			assert_eq!(value(&text, &sample), Some(expected), "{sample}\n{text}");
		}
	}

	#[test]
	fn metrics_of_several_roles_are_shown_together() {
		let (work, trainer) = (Metrics::new("work"), Metrics::new("trainer"));
		work.join(&trainer);
		trainer.ended("accepted");
		work.clone().event("status");
		let text = work.text().unwrap();
		for sample in [
			"trainyard_worker_jobs_total{outcome=\"accepted\",role=\"trainer\"}",
			"trainyard_worker_events_total{event=\"status\",role=\"work\"}",
		] {
			assert_eq!(value(&text, sample), Some(1.0), "{sample}\n{text}");
		}
		let types = text.lines().filter(|line| line.starts_with("# TYPE"));
		let mut names: Vec<&str> = types.map(|line| line.split(' ').nth(2).unwrap()).collect();
		let all = names.len();
		names.sort_unstable();
		names.dedup();
		assert_eq!(names.len(), all, "each name stands once");
	}

	#[test]
	fn a_run_of_no_time_has_no_speed() {
		let metrics = Metrics::new("trainer");
		metrics.ran(1_000, Duration::ZERO);
		let text = metrics.text().unwrap();
		assert_eq!(value(&text, "trainyard_worker_flops{role=\"trainer\"}"), Some(0.0));
	}
}
