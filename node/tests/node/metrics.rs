//! The metrics of the chain: what a reading shows, and that a running node serves them.

use crate::{
	dev_node::{free_port, Node, TempDir, PATIENCE},
	has_chain,
};
use std::{
	collections::HashMap,
	io::{Read, Write},
	net::TcpStream,
	time::{Duration, Instant},
};
use substrate_prometheus_endpoint::{
	prometheus::{Encoder, TextEncoder},
	Registry,
};
use trainyard_node::metrics::{pause, Metrics, Reading, Weight, LEAST_PAUSE, SHARE};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	job::{Ending, JobState, Settlement, Terms},
	views::{Hardware, JobView, TrainerView},
};
use trainyard_runtime::{AccountId, TRY};

fn account(n: u8) -> AccountId {
	AccountId::from([n; 32])
}

fn trainer(n: u8, candidate: bool) -> TrainerView<AccountId> {
	TrainerView {
		account: account(n),
		bond: 100 * TRY + TRY / 2,
		hardware: Hardware::default(),
		candidate,
		training_total: 5_000_000,
		training_effective: 2_000_000,
		drilling_total: 3_000_000,
		drilling_effective: 1_000_000,
		ecp: 1_600_000,
		weight: None,
		next_weight: None,
	}
}

fn job(id: u32, state: JobState) -> JobView<AccountId> {
	JobView {
		id: id.into(),
		submitter: account(9),
		invited: None,
		spec: JobSpec::example(),
		terms: Terms {
			price_per_ut: TRY,
			replicas: 1,
			verifiers: 3,
			audit_segments: 1,
			audit_fee: TRY,
			apply_blocks: 10,
			training_blocks: 60,
			machine: Default::default(),
			undecided_percent: 20,
			keep_every: 1,
			lottery: None,
		},
		work: 250_000,
		training: 250_000,
		deposit: TRY,
		state,
		deadline: 100,
		seed: None,
		applicants: vec![],
		replicas: vec![],
		audit: None,
		settlement: Settlement { escrowed: 3 * TRY, ..Settlement::default() },
		record: 0,
		fee_per_ut: 0,
		compute_per_ut: 0,
		late: None,
	}
}

/// Every sample of a text in Prometheus' format whose name begins with ours; the label
/// `chain` that a node puts on all is left out.
fn samples(text: &str) -> HashMap<String, f64> {
	text.lines()
		.filter(|line| line.starts_with("trainyard_"))
		.map(|line| {
			let (name, value) = line.rsplit_once(' ').unwrap();
			let name = match name.split_once('{') {
				None => name.to_owned(),
				Some((name, labels)) => {
					let kept: Vec<&str> = labels
						.trim_end_matches('}')
						.split(',')
						.filter(|label| !label.starts_with("chain="))
						.collect();
					match kept.is_empty() {
						true => name.to_owned(),
						false => format!("{name}{{{}}}", kept.join(",")),
					}
				}
			};
			(name, value.parse().unwrap())
		})
		.collect()
}

fn gathered(registry: &Registry) -> HashMap<String, f64> {
	let mut text = Vec::new();
	TextEncoder::new().encode(&registry.gather(), &mut text).unwrap();
	samples(&String::from_utf8(text).unwrap())
}

#[test]
fn a_reading_is_shown_and_replaces_the_one_before() {
	let registry = Registry::new();
	let metrics = Metrics::register(&registry).unwrap();
	assert!(Metrics::register(&registry).is_err(), "once for a registry");
	let reading = Reading {
		trainers: vec![trainer(1, true), trainer(2, false), trainer(3, true)],
		jobs: vec![
			job(1, JobState::Open),
			job(2, JobState::Auditing),
			job(5, JobState::Auditing),
			job(6, JobState::Ended(Ending::Settled)),
		],
		verifiers: vec![(account(4), 100 * TRY), (account(5), 250 * TRY)],
		authorities: vec![Weight { weight: 7, own: false }, Weight { weight: 3, own: true }],
		next_authorities: vec![Weight { weight: 8, own: false }],
		issuance: Some(6_000_000 * TRY + TRY / 4),
		height: 77,
	};
	metrics.set(&reading);
	let shown = gathered(&registry);
	for (name, expected) in [
		("trainyard_trainers", 3.0),
		("trainyard_candidates", 2.0),
		("trainyard_trainer_bonds_try", 301.5),
		("trainyard_power_ut_per_day{kind=\"training\"}", 6.0),
		("trainyard_power_ut_per_day{kind=\"drilling\"}", 3.0),
		("trainyard_training_credited_ut", 15.0),
		("trainyard_drilling_credited_ut", 9.0),
		("trainyard_authorities{epoch=\"current\"}", 2.0),
		("trainyard_authorities{epoch=\"next\"}", 1.0),
		("trainyard_authority_weight{epoch=\"current\"}", 10.0),
		("trainyard_authority_weight{epoch=\"next\"}", 8.0),
		("trainyard_own_authorities{epoch=\"current\"}", 1.0),
		("trainyard_own_authorities{epoch=\"next\"}", 0.0),
		("trainyard_own_authority_weight{epoch=\"current\"}", 3.0),
		("trainyard_own_authority_weight{epoch=\"next\"}", 0.0),
		("trainyard_jobs{state=\"open\"}", 1.0),
		("trainyard_jobs{state=\"training\"}", 0.0),
		("trainyard_jobs{state=\"auditing\"}", 2.0),
		("trainyard_jobs_work_ut", 1.0),
		("trainyard_jobs_escrow_try", 12.0),
		("trainyard_verifiers", 2.0),
		("trainyard_verifier_bonds_try", 350.0),
		("trainyard_issuance_try", 6_000_000.25),
		("trainyard_metrics_height", 77.0),
	] {
		assert_eq!(shown.get(name), Some(&expected), "{name}");
	}

	// A series that is gone is not shown any more; a value that a state does not have stays as it
	// was.
	metrics.set(&Reading { issuance: None, ..Reading::default() });
	let shown = gathered(&registry);
	for (name, expected) in [
		("trainyard_trainers", 0.0),
		("trainyard_jobs{state=\"auditing\"}", 0.0),
		("trainyard_own_authorities{epoch=\"current\"}", 0.0),
		("trainyard_issuance_try", 6_000_000.25),
	] {
		assert_eq!(shown.get(name), Some(&expected), "{name}");
	}
}

#[test]
fn what_takes_long_is_read_seldom() {
	assert_eq!(pause(Duration::ZERO), LEAST_PAUSE);
	assert_eq!(pause(LEAST_PAUSE / SHARE), LEAST_PAUSE);
	assert_eq!(pause(Duration::from_secs(2)), Duration::from_secs(2 * u64::from(SHARE)));
	assert!(pause(Duration::MAX) >= LEAST_PAUSE);
}

/// What the node shows Prometheus; `None` while it does not answer.
fn scrape(port: u16) -> Option<HashMap<String, f64>> {
	let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
	stream.set_read_timeout(Some(PATIENCE)).ok()?;
	write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok()?;
	let mut answer = String::new();
	stream.read_to_string(&mut answer).ok()?;
	answer.starts_with("HTTP/1.1 200").then(|| samples(&answer))
}

#[test]
fn a_node_tells_prometheus_of_its_chain() {
	if !has_chain() {
		return;
	}
	let dir = TempDir::new("metrics");
	let port = free_port();
	let options = ["--prometheus-port", &port.to_string()];
	let mut node = Node::start_with(&dir.0, free_port(), "node.log", &options);
	node.wait_finalized(2);
	let begun = Instant::now();
	let shown = loop {
		match scrape(port) {
			// This is a reading of a block after genesis: readings are repeated as blocks come.
			Some(shown) if shown["trainyard_metrics_height"] >= 1.0 => break shown,
			_ if begun.elapsed() > PATIENCE => panic!("nothing was read\n{}", node.log()),
			_ => std::thread::sleep(Duration::from_millis(200)),
		}
	};
	// The preset: //Alice trains, is the only authority, and her key is here.
	for (name, expected) in [
		("trainyard_trainers", 1.0),
		("trainyard_candidates", 1.0),
		("trainyard_trainer_bonds_try", 1_000.0),
		("trainyard_authorities{epoch=\"current\"}", 1.0),
		("trainyard_own_authorities{epoch=\"current\"}", 1.0),
		("trainyard_jobs{state=\"open\"}", 0.0),
		("trainyard_verifiers", 0.0),
		("trainyard_metrics_failures_total", 0.0),
	] {
		assert_eq!(shown.get(name), Some(&expected), "{name}\n{}", node.log());
	}
	assert!(shown["trainyard_own_authority_weight{epoch=\"next\"}"] >= 1.0);
	// Six accounts of a million, and a reward for every block.
	assert!(shown["trainyard_issuance_try"] > 6_000_000.0, "{shown:?}");
	assert!(shown["trainyard_metrics_reading_seconds"] > 0.0);
}
