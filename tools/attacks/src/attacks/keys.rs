//! Keys that somebody else has.

use crate::{
	jobs::terms,
	report::{amount, Attack, Outcome},
	scene::{Scene, Side, BOND},
};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	commitment,
	job::{Fate, JobState, Terms},
};
use trainyard_runtime::{configs::tools::ProxyType, TRY};
use trainyard_sandbox::bundles::applies;

/// The attacks of this file.
pub const ALL: &[Attack] = &[Attack {
	name: "stolen-worker-key",
	source: "chain-market L7, chain-consensus L-2",
	tries:
		"posts a job with a large deposit, applies by a stolen worker's key, and commits nothing",
	rule: "a worker's proxy sends no money and touches no bond",
	left: Some(
		"applying puts a deposit at stake, up to all free money of the account. An account that \
		 works by a proxy should have working money only",
	),
	run: stolen_worker_key,
}];

fn stolen_worker_key() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let thief = scene.hostile("thief");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 3, BOND);
	let delegate = thief.account.clone().into();
	let proxy_type = ProxyType::Worker;
	scene
		.call(&trainer, pallet_proxy::Call::add_proxy { delegate, proxy_type, delay: 0 })
		.expect("it may have one");
	scene.start();
	let terms = Terms { price_per_ut: 20_000 * TRY, training_blocks: 3, ..terms() };
	let spec = JobSpec::noisy_example();
	let fee = {
		use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, Runtime};
		scene.chain.state(|| Runtime::audit_fee(spec.clone(), terms.clone()))
	};
	let terms = Terms { audit_fee: fee.expect("it is valid"), ..terms };
	let job = scene.post(&submitter, &spec, &terms).expect("it is valid");
	let digest = commitment::job(&spec, &terms);
	let apply = applies(&trainer.account, job, digest);
	let real = trainer.account.clone().into();
	let by_proxy =
		pallet_proxy::Call::proxy { real, force_proxy_type: None, call: Box::new(apply) };
	scene.call(&thief, by_proxy).expect("a worker may apply");
	let silence = |_: &crate::jobs::Ask| None;
	let view = scene.until(job, &silence, |view| matches!(view.state, JobState::Ended(_)));
	assert_eq!(view.replicas[0].fate, Fate::NotCommitted);
	let facts = vec![
		("lost deposit", amount(view.settlement.slashed)),
		("escrow of the attacker, returned", amount(view.settlement.refunded)),
	];
	Outcome { scene, facts }
}
