//! Attacks on draws: by when something happens, and by what is there when it is drawn.

use crate::{
	jobs::{terms, truth, TRUE},
	report::{Attack, Outcome},
	scene::{Party, Scene, Side, BOND},
};
use std::collections::BTreeSet;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	job::{JobState, Terms},
	views::Hardware,
};
use trainyard_runtime::{presets, TRY};
use trainyard_sandbox::{genesis_json, Chain};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "chosen-moment",
		source: "soundness S2, chain-market M1",
		tries: "reveals in each of 20 blocks in turn, to have the draw that it likes best",
		rule: "seeds are of 16 blocks after heights that are multiples of 16",
		left: None,
		run: chosen_moment,
	},
	Attack {
		name: "late-raise",
		source: "chain-market L1",
		tries: "raises its bond a thousandfold when the seed that draws trainers is known",
		rule: "an applicant counts with the bond of its application",
		left: None,
		run: late_raise,
	},
];

/// The draw of an audit where the trainer waits for that long before it reveals: the committee and
/// the segments.
fn draw_after(delay: u32) -> (Scene, String) {
	let mut genesis = genesis_json(presets::DEVELOPMENT);
	// The seeds of a public network.
	genesis["hashrate"]["seedBlocks"] = 16.into();
	genesis["hashrate"]["seedStep"] = 16.into();
	let mut scene = Scene::on(Chain::founded(&genesis));
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Honest, 9, BOND);
	scene.start();
	let terms = Terms { price_per_ut: 1, ..terms() };
	let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms).expect("it is valid");
	scene.works(&trainer, job, TRUE);
	if let Some(work) = scene.works.last_mut() {
		work.delay = delay;
	}
	let view = scene.until(job, &truth, |view| {
		view.audit.as_ref().is_some_and(|audit| !audit.committee.is_empty())
	});
	let audit = view.audit.expect("it runs");
	let committee: Vec<_> = audit.committee.iter().map(|seat| &seat.verifier).collect();
	let draw = format!("{committee:?} {:?}", audit.groups[0].drawn);
	(scene, draw)
}

fn chosen_moment() -> Outcome {
	const MOMENTS: u32 = 20;
	let mut draws = BTreeSet::new();
	let mut last = None;
	for delay in 0..MOMENTS {
		let (scene, draw) = draw_after(delay);
		draws.insert(draw);
		last = Some(scene);
	}
	assert!(draws.len() <= 3, "{} draws to choose from", draws.len());
	let facts = vec![("draws to choose from in 20 blocks", draws.len().to_string())];
	let mut scene = last.expect("it was tried");
	let jobs: Vec<_> = scene.works.iter().map(|work| work.job).collect();
	scene.settle(&jobs, &truth);
	Outcome { scene, facts }
}

fn late_raise() -> Outcome {
	const JOBS: usize = 6;
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let bonded = |scene: &mut Scene, side: Side, bond: u128| {
		let who = scene.party("trainer", side, bond + 200_000 * TRY);
		let hardware = Hardware::default();
		let register = pallet_hashrate::Call::register { bond, hardware };
		scene.call(&who, register).expect("it may register");
		who
	};
	let honest = bonded(&mut scene, Side::Honest, 20 * BOND);
	// An account of its own for each job: the bond of one stays raised.
	let own: Vec<Party> = (0..JOBS).map(|_| bonded(&mut scene, Side::Attacker, BOND)).collect();
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let mut won = 0;
	for attacker in &own {
		let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms()).expect("it is valid");
		scene.works(&honest, job, TRUE);
		scene.works(attacker, job, TRUE);
		scene.until(job, &truth, |view| view.state == JobState::Seeding);
		let raise = pallet_hashrate::Call::bond_extra { amount: 1_000 * BOND };
		scene.call(attacker, raise).expect("it may raise");
		let view = scene.until(job, &truth, |view| view.state == JobState::Training);
		won += usize::from(view.replicas[0].trainer == attacker.account);
		let money = scene.settle(&[job], &truth)[0];
		scene.buys(&submitter, money.paid_to_trainers + money.paid_to_verifiers + money.burned);
	}
	let facts = vec![
		("jobs that it was drawn for", format!("{won} of {JOBS}")),
		("its bond beside the other's", "1/20 at its application, 50 times as much after".into()),
	];
	assert!(won <= JOBS / 2, "a raise after the application counts");
	Outcome { scene, facts }
}
