//! Attacks on those who sit on committees, and by them.

use crate::{
	jobs::{heavy, terms, truth, TRUE},
	report::{amount, Attack, Outcome},
	scene::{Party, Scene, Side, BOND, ROOM},
	states::request,
};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	job::{Fate, JobState, Terms},
	seats::Resources,
	views::Standing,
	JobId,
};
use trainyard_runtime::{AccountId, Runtime};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "selective-serving",
		source: "soundness S0, chain-market H1 (a)",
		tries: "lets a bare majority of each committee fetch a true result and refuses the others",
		rule: "who cannot have what the majority has asks on chain, loses nothing, and stays in the pool",
		left: None,
		run: selective_serving,
	},
	Attack {
		name: "overload",
		source: "chain-market H1 (b), soundness D6",
		tries: "reveals more of the largest audits at once than all verifiers can replay in time",
		rule: "a verifier is drawn for no more than its bond and its declared room hold",
		left: None,
		run: overload,
	},
	Attack {
		name: "forged-result",
		source: "chain-market M3, soundness S1",
		tries: "brings a false result and has verifiers find it",
		rule: "whoever is convicted loses three times the price or the fee, and the audit fees",
		left: None,
		run: forged_result,
	},
];

/// What came of the verifiers of a scene: how many are drawn, and how many absences they have.
fn verifiers_now(scene: &mut Scene, of: &[Party]) -> (usize, u32) {
	use trainyard_runtime::api::runtime_decl_for_trainyard_api::TrainyardApi;
	let accounts: Vec<AccountId> = of.iter().map(|party| party.account.clone()).collect();
	scene.chain.state(|| {
		let views: Vec<_> = accounts.into_iter().filter_map(Runtime::verifier).collect();
		let active = views.iter().filter(|view| view.standing == Standing::Active).count();
		(active, views.iter().map(|view| view.absences).sum())
	})
}

fn selective_serving() -> Outcome {
	const JOBS: usize = 4;
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let honest = scene.verifiers(Side::Honest, 15, BOND);
	scene.start();
	let terms = Terms { verifiers: 15, price_per_ut: 1, ..terms() };
	for _ in 0..JOBS {
		let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms).expect("it is valid");
		scene.works(&trainer, job, TRUE);
		let audit = scene.seated(job);
		// The first eight of fifteen are served. The others ask on chain, and have it from the eight then.
		let refused: Vec<Party> = scene.seats(&audit).into_iter().skip(8).collect();
		for who in &refused {
			let pieces = scene.read_by(job, &audit, who);
			scene.call(who, request(job, &pieces)).expect("it may ask");
		}
		scene.settle(&[job], &truth);
		let view = scene.job(job);
		assert_eq!(view.replicas[0].fate, Fate::Accepted);
	}
	let (active, absences) = verifiers_now(&mut scene, &honest);
	let facts = vec![
		("refused a bundle", format!("{} seats in {JOBS} audits", 7 * JOBS)),
		("still drawn", format!("{active} of 15 verifiers, {absences} absences")),
	];
	Outcome { scene, facts }
}

fn overload() -> Outcome {
	const JOBS: usize = 12;
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let audit = 2_000_000;
	let (spec, terms) = heavy(Some(audit));
	// Each has room for three of these audits in the time of a round.
	let capacity = Resources { work: 3 * audit, ..ROOM };
	let honest = scene.verifiers_with(Side::Honest, 7, 2 * BOND, capacity);
	scene.start();
	let terms = Terms { apply_blocks: 60, ..terms };
	let jobs: Vec<JobId> =
		(0..JOBS).map(|_| scene.post(&submitter, &spec, &terms).expect("it is valid")).collect();
	for job in &jobs {
		scene.works(&trainer, *job, TRUE);
	}
	let (mut most, mut most_at_once, began) = (0, 0, scene.height());
	loop {
		let states: Vec<JobState> = jobs.iter().map(|job| scene.job(*job).state).collect();
		if states.iter().all(|state| matches!(state, JobState::Ended(_))) {
			break;
		}
		assert!(scene.height() < began + 3_000, "an audit never comes: {states:?}");
		let loads: Vec<u64> = scene.chain.state(|| {
			let pool = pallet_verification::Pool::<Runtime>::get();
			pool.values().map(|entry| entry.load.work).collect()
		});
		most = most.max(loads.iter().copied().max().unwrap_or(0));
		most_at_once =
			most_at_once.max(states.iter().filter(|state| **state == JobState::Auditing).count());
		scene.begin();
		scene.act(&truth);
		scene.end();
	}
	let (active, absences) = verifiers_now(&mut scene, &honest);
	let facts = vec![
		("audits at once", format!("{most_at_once} of {JOBS}, of 2 ut each")),
		("declared room", "6 ut a round".into()),
		("most that one had", format!("{:.2} ut", most as f64 / 1e6)),
		("still drawn", format!("{active} of 7 verifiers, {absences} absences")),
		("blocks until all were audited", format!("{}", scene.height() - began)),
	];
	Outcome { scene, facts }
}

fn forged_result() -> Outcome {
	const FALSE: u8 = 2;
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms()).expect("it is valid");
	scene.works(&trainer, job, FALSE);
	let money = scene.settle(&[job], &truth)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Rejected);
	let facts = vec![
		("the escrow", amount(money.escrowed)),
		("the deposit that was lost", amount(money.slashed)),
		("of it to the submitter", amount(money.slashed_to_submitter)),
		("of it burned", amount(money.slashed_burned)),
		(
			"of it to the seat that accused it, to whom it had nothing to say",
			amount(money.slashed_to_finders),
		),
	];
	Outcome { scene, facts }
}
