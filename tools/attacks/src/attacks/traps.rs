//! Jobs that ask more of small machines than they have, and that are refused when they are posted.

use crate::{
	jobs::{heavy, nano, terms},
	report::{Attack, Outcome},
	scene::{answer, Scene, Side, BOND},
};
use trainyard_program::spec::{Activation, JobSpec, Model};
use trainyard_protocol::job::{Terms, MIN_AUDIT_FEE};
use trainyard_runtime::TRY;

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "memory-bomb",
		source: "chain-market C2 (a), soundness D2",
		tries: "posts a job whose tensors a large machine holds and a verifier's does not",
		rule: "a step and an evaluation take no more memory than the job's class of machines has",
		left: None,
		run: memory_bomb,
	},
	Attack {
		name: "rows-bomb",
		source: "chain-market C2 (c), soundness D2, D5 (a)",
		tries: "posts a job whose small file decodes to more rows than a machine holds",
		rule: "decoded rows are bounded by the class of machines",
		left: None,
		run: rows_bomb,
	},
	Attack {
		name: "rescue-bomb",
		source: "chain-market C2 (d)",
		tries: "posts a job whose files cannot be stored in the time for a rescue",
		rule: "files are at most half of what the blocks of that time take: no committee relays them",
		left: None,
		run: rescue_bomb,
	},
	Attack {
		name: "growing-parameters",
		source: "chain-market C2 (b), soundness D5 (b)",
		tries: "posts a job whose weight decay makes every parameter grow until nothing is finite",
		rule: "learning rate x weight decay is at most 1",
		left: None,
		run: growing_parameters,
	},
	Attack {
		name: "eight-results",
		source: "chain-market M5, soundness D6",
		tries: "posts a job of the largest audit with eight replicas, to bring eight results",
		rule: "what a verifier replays of all results together is bounded when a job is posted",
		left: None,
		run: eight_results,
	},
	Attack {
		name: "audits-for-nothing",
		source: "chain-market M6",
		tries: "names a price of one unit for a ut, to pay verifiers the least fee for the largest audit",
		rule: "the audit fee has a floor by work that no price lowers",
		left: None,
		run: audits_for_nothing,
	},
];

/// Posts a job as an attacker beside a trainer and verifiers who wait for work.
fn posts(spec: &JobSpec, terms: &Terms) -> Outcome {
	let mut scene = Scene::new();
	let attacker = scene.hostile("submitter");
	scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let posted = scene.post(&attacker, spec, terms).map(|_| ());
	let held = scene.held(&attacker.account);
	assert_eq!(held, 0, "a job that is refused holds nothing");
	scene.run(3);
	Outcome { scene, facts: vec![("posting", answer(posted))] }
}

/// A network with these hidden layers.
fn network(hidden: &[u32]) -> Model {
	let hidden = hidden.to_vec().try_into().expect("there are few layers");
	Model::Mlp { hidden, activation: Activation::Relu }
}

fn memory_bomb() -> Outcome {
	let mut spec = JobSpec::noisy_example();
	spec.dataset.features = 1;
	spec.dataset.classes = 2;
	spec.dataset.train_rows = 80_000;
	spec.dataset.validation_rows = 20_000;
	spec.model = network(&[65_536]);
	spec.training.batch_size = 65_536;
	spec.training.steps = 20;
	spec.training.checkpoint_interval = 1;
	posts(&spec, &Terms { audit_segments: 1, ..terms() })
}

fn rows_bomb() -> Outcome {
	let mut spec = JobSpec::noisy_example();
	spec.dataset.bytes = 16_000_000;
	spec.dataset.train_rows = 80_000_000;
	spec.dataset.validation_rows = 20_000_000;
	posts(&spec, &terms())
}

fn rescue_bomb() -> Outcome {
	let mut spec = JobSpec::noisy_example();
	spec.dataset.bytes = 460 << 20;
	posts(&spec, &terms())
}

fn growing_parameters() -> Outcome {
	let mut spec = JobSpec::noisy_example();
	spec.training.learning_rate_nano = nano(2.05);
	spec.training.weight_decay_nano = nano(1.0);
	posts(&spec, &terms())
}

fn eight_results() -> Outcome {
	let (spec, terms) = heavy(None);
	posts(&spec, &Terms { replicas: 8, ..terms })
}

fn audits_for_nothing() -> Outcome {
	let (spec, terms) = heavy(None);
	let asked = terms.audit_fee;
	let mut outcome = posts(&spec, &Terms { audit_fee: MIN_AUDIT_FEE, ..terms });
	let in_try = |fee: u128| format!("{:.4} TRY", fee as f64 / TRY as f64);
	outcome.facts.push(("fee offered", in_try(MIN_AUDIT_FEE)));
	outcome.facts.push(("least fee of a seat", in_try(asked)));
	outcome
}
