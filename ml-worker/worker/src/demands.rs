//! What a job asks of machines and of the chain, each number beside what the chain allows.
//!
//! The counting is the chain's own ([`trainyard_program::needs`]), so that a job that it would refuse
//! is refused here before anything is sent. Limits that root or a later runtime may have changed are
//! those of this release; the chain has the last word.

use serde::Serialize;
use trainyard_client::amount;
use trainyard_program::{
	needs::{Needs, Resource, Shortage},
	spec::{CheckedSpec, MAX_SHRINK},
	units::MICRO_UT_PER_UT,
	work::Parts,
};
use trainyard_protocol::{blob, duties, job::Terms};

const MIB: u64 = 1 << 20;

/// What a job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
	/// Bytes of memory of training and replaying.
	Memory,
	/// Bytes of the decoded rows.
	Rows,
	/// Bytes of the data, decompressed.
	Text,
	/// Bytes that a verifier fetches in a round.
	Download,
	/// Bytes of what a trainer may have to store on chain besides states.
	Rescue,
	/// Bytes of the largest content of the rows, which it may have to store as one blob.
	Content,
	/// Micro-ut that a verifier replays of one result.
	AuditWork,
	/// Micro-ut that a verifier replays of all results.
	RoundWork,
	/// Learning rate at its peak times weight decay, in billionths.
	Decay,
}

/// What a job asks for, and what it may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Demand {
	/// Of what.
	pub what: Asked,
	/// What the job needs.
	pub needed: u128,
	/// What it may need.
	pub limit: u128,
	/// What to do, where that is too much.
	pub refused: Option<String>,
}

impl Demand {
	/// Returns the number, or the limit, as it is shown.
	pub fn shown(&self, number: u128) -> String {
		match self.what {
			Asked::Memory
			| Asked::Rows
			| Asked::Text
			| Asked::Download
			| Asked::Rescue
			| Asked::Content => {
				let scaled = number.saturating_mul(10).div_ceil(u128::from(MIB));
				format!("{}.{} MiB", scaled / 10, scaled % 10)
			}
			Asked::AuditWork | Asked::RoundWork => {
				format!("{} ut", amount::format_scaled(number, MICRO_UT_PER_UT.ilog10()))
			}
			Asked::Decay => amount::format_scaled(number, 9),
		}
	}

	/// Returns what it is, in words.
	pub fn name(&self) -> &'static str {
		match self.what {
			Asked::Memory => "memory of a step or an evaluation",
			Asked::Rows => "rows of the data, decoded",
			Asked::Text => "text of the data, decompressed",
			Asked::Download => "download of a verifier, in a round",
			Asked::Rescue => "files and manifest, in a rescue on chain",
			Asked::Content => "inputs or labels of the rows, as one blob on chain",
			Asked::AuditWork => "replay of one result",
			Asked::RoundWork => "replay of all results that may differ",
			Asked::Decay => "learning rate x weight decay",
		}
	}
}

impl From<Shortage> for Demand {
	fn from(beside: Shortage) -> Self {
		let what = match beside.resource {
			Resource::Memory => Asked::Memory,
			Resource::Rows => Asked::Rows,
			Resource::Text => Asked::Text,
			Resource::Download => Asked::Download,
			Resource::Rescue => Asked::Rescue,
			Resource::Content => Asked::Content,
		};
		Self {
			what,
			needed: u128::from(beside.needed),
			limit: u128::from(beside.limit),
			refused: beside.is_exceeded().then(|| beside.to_string()),
		}
	}
}

/// Returns everything that a job with these terms asks for, with the work of its parts.
pub fn of(spec: &CheckedSpec, terms: &Terms) -> (Vec<Demand>, Parts) {
	let (needs, parts) = Needs::and_parts(spec);
	let replays = terms.replays(spec.segments());
	let beside = needs.beside(terms.machine, replays, terms.replicas, blob::room());
	let mut demands: Vec<Demand> = beside.into_iter().map(Demand::from).collect();
	let audit = parts.audit_micro_ut(spec, replays).unwrap_or(u64::MAX);
	let round = u128::from(audit) * u128::from(terms.replicas);
	let most = u128::from(duties::most_work(terms.machine.rate()));
	let mut add = |what, needed: u128, limit: u128, remedy: &str| {
		let mut demand = Demand { what, needed, limit, refused: None };
		if needed > limit {
			let (needed, limit) = (demand.shown(needed), demand.shown(limit));
			demand.refused = Some(format!("{remedy} ({needed}, at most {limit})"));
		}
		demands.push(demand);
	};
	add(
		Asked::AuditWork,
		u128::from(audit),
		most,
		"a verifier would have to replay more of a result than it can in a day: lower \
		 training.checkpoint_interval, or terms.audit_segments with more verifiers",
	);
	add(
		Asked::RoundWork,
		round,
		most,
		"a verifier would have to replay too much where all replicas bring different results: lower \
		 terms.replicas, terms.audit_segments or training.checkpoint_interval",
	);
	let training = &spec.training;
	let shrink = u128::from(training.learning_rate_nano) * u128::from(training.weight_decay_nano);
	// A checked specification keeps this rule.
	add(Asked::Decay, shrink.div_ceil(1_000_000_000), MAX_SHRINK / 1_000_000_000, "");
	(demands, parts)
}

/// Returns the first reason for which the chain refuses a job, if it asks too much.
pub fn refusal(spec: &CheckedSpec, terms: &Terms) -> Option<String> {
	of(spec, terms).0.into_iter().find_map(|demand| demand.refused)
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::JobSpec;

	fn terms() -> Terms {
		trainyard_client::fake::job(trainyard_protocol::job::JobState::Open).terms
	}

	#[test]
	fn an_ordinary_job_is_refused_nothing() {
		let spec = JobSpec::example().check().unwrap();
		let (demands, parts) = of(&spec, &terms());
		assert_eq!(parts, Parts::of(&spec));
		assert_eq!(demands.len(), 9);
		assert!(demands.iter().all(|demand| demand.needed <= demand.limit), "{demands:?}");
		assert_eq!(refusal(&spec, &terms()), None);
	}

	#[test]
	fn a_job_that_asks_too_much_is_refused_with_number_limit_and_remedy() {
		let mut spec = JobSpec::example();
		spec.dataset.validation_every = 5;
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (80_000_000, 20_000_000);
		let refused = refusal(&spec.check().unwrap(), &terms()).unwrap();
		for part in ["4096 MiB", "24796 MiB", "fewer rows"] {
			assert!(refused.contains(part), "{part}: {refused}");
		}
		// Eight results of 60 ut each.
		let mut spec = JobSpec::example();
		spec.training.batch_size = 1_438;
		(spec.training.steps, spec.training.checkpoint_interval) = (2_000_000, 400_000);
		let spec = spec.check().unwrap();
		let one = Terms { audit_segments: 1, replicas: 1, ..terms() };
		let work = Parts::of(&spec).audit_micro_ut(&spec, 3).unwrap();
		assert!((50_000_000..200_000_000).contains(&work), "{work}");
		assert_eq!(refusal(&spec, &one), None);
		let refused = refusal(&spec, &Terms { replicas: 8, ..one }).unwrap();
		assert!(
			refused.contains("at most 233.333333 ut") && refused.contains("terms.replicas"),
			"{refused}"
		);
	}

	#[test]
	fn numbers_are_shown_with_their_units() {
		let of = |what| Demand { what, needed: 0, limit: 0, refused: None };
		assert_eq!(of(Asked::Memory).shown(3 << 19), "1.5 MiB");
		assert_eq!(of(Asked::Rows).shown(1), "0.1 MiB");
		assert_eq!(of(Asked::AuditWork).shown(2_000_000), "2 ut");
		assert_eq!(of(Asked::Decay).shown(50_000), "0.00005");
	}
}
