//! Pay and power for work that need not be done.

use crate::{
	jobs::{replicated, terms, truth, TRUE},
	report::{amount, Attack, Outcome},
	scene::{Party, Scene, Side, BOND},
};
use trainyard_program::{spec::JobSpec, units};
use trainyard_protocol::job::Terms;
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, Runtime};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "equal-rows",
		source: "chain-market M4, chain-consensus H-3",
		tries: "has evaluations of equal rows counted as its power, and computes one of them",
		rule: "evaluations are paid and earn no power",
		left: None,
		run: equal_rows,
	},
	Attack {
		name: "replicas-of-one-owner",
		source: "chain-market M7",
		tries: "takes all three replicas of a job and computes once",
		rule: "all replicas together are paid the price and 15 % of it for each after the first",
		left: None,
		run: replicas_of_one_owner,
	},
];

fn equal_rows() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let mut spec = JobSpec::noisy_example();
	spec.dataset.train_rows = 400_000;
	spec.dataset.validation_rows = 100_000;
	spec.training.batch_size = 1;
	spec.training.steps = 10;
	spec.training.checkpoint_interval = 1;
	assert!(spec.mints_power());
	let least = Terms { price_per_ut: 1, audit_segments: 1, ..terms() };
	let fee = scene.chain.state(|| Runtime::audit_fee(spec.clone(), least.clone()));
	let terms = Terms { audit_fee: fee.expect("it is valid"), ..least };
	let job = scene.post(&submitter, &spec, &terms).expect("it is valid");
	scene.works(&trainer, job, TRUE);
	let money = scene.settle(&[job], &truth)[0];
	let power = scene.chain.state(|| Runtime::trainer(trainer.account.clone()));
	let power = power.expect("it is a trainer").training_total;
	let view = scene.job(job);
	let facts = vec![
		("work that was counted", format!("{:.6} ut", view.work as f64 / 1e6)),
		("power that was credited", format!("{:.6} ut", power as f64 / 1e6)),
		("paid to verifiers", amount(money.paid_to_verifiers)),
	];
	Outcome { scene, facts }
}

fn replicas_of_one_owner() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let own: Vec<Party> = (0..3).map(|_| scene.trainer(Side::Attacker)).collect();
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let terms = replicated(3);
	let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms).expect("it is valid");
	for trainer in &own {
		scene.works(trainer, job, TRUE);
	}
	let money = scene.settle(&[job], &truth)[0];
	scene.buys(&submitter, money.escrowed - money.refunded);
	let view = scene.job(job);
	let price = units::price(view.work, terms.price_per_ut).expect("it is in range");
	let times = money.paid_to_trainers as f64 / price as f64;
	let facts = vec![
		("price of the work, done once", amount(price)),
		("paid for three replicas", format!("{times:.2} times as much")),
	];
	Outcome { scene, facts }
}
