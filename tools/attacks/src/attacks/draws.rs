//! Attacks on draws: by when something happens, and by what is there when it is drawn.

use crate::{
	jobs::{terms, truth, TRUE},
	report::{Attack, Outcome},
	scene::{Party, Scene, Side, BOND, ROOM},
	states::silence,
};
use frame_support::traits::Get;
use std::collections::BTreeSet;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	job::{JobState, Terms},
	views::{Hardware, JobView},
};
use trainyard_runtime::{configs::periods::RevealBlocks, presets, AccountId, TRY};
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
	Attack {
		name: "late-draw",
		source: "chain-market M2",
		tries: "has a draw served late, and registers verifiers when its seed is known",
		rule: "what counts is what was there at the draw height, and a seed is given for 32 blocks",
		left: None,
		run: late_draw,
	},
];

/// Blocks of a seed of a public network, and between two draw heights.
const SEED: u32 = 16;

/// A chain with such seeds.
fn public() -> Scene {
	let mut genesis = genesis_json(presets::DEVELOPMENT);
	genesis["hashrate"]["seedBlocks"] = SEED.into();
	genesis["hashrate"]["seedStep"] = SEED.into();
	Scene::on(Chain::founded(&genesis))
}

/// The draw of an audit where the trainer waits for that long before it reveals: the committee and
/// the seed, from which the segments follow.
fn draw_after(delay: u32) -> (Scene, String) {
	let mut scene = public();
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
	let draw = format!("{committee:?} {:?}", audit.seed);
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
		scene.buys(&submitter, money.escrowed - money.refunded);
	}
	let facts = vec![
		("jobs that it was drawn for", format!("{won} of {JOBS}")),
		("its bond beside the other's", "1/20 at its application, 50 times as much after".into()),
	];
	assert!(won <= JOBS / 2, "a raise after the application counts");
	Outcome { scene, facts }
}

/// Has the draw of an audit of its own served after that many jobs of others, and comes with verifiers
/// when the seed is known. Returns by how many blocks the draw was late, and how many of the seats are
/// the newcomers'.
fn late(jobs: usize) -> (Scene, u32, usize) {
	let mut scene = public();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Honest, 9, BOND);
	let bond = 5 * BOND;
	let own: Vec<Party> =
		(0..4).map(|_| scene.party("verifier", Side::Attacker, bond + 100 * TRY)).collect();
	scene.start();
	let spec = JobSpec::noisy_example();
	let terms = Terms { price_per_ut: 1, ..terms() };
	let job = scene.post(&submitter, &spec, &terms).expect("it is valid");
	scene.works(&trainer, job, TRUE);
	scene.works[0].delay = 1_000;
	let view = scene.until(job, &truth, |view| view.state == JobState::Revealing);
	// Nobody applies for any of these, and applying ends in the block before the seed is there.
	let draw = (scene.height() + 100).next_multiple_of(SEED);
	let known = draw + SEED + 1;
	let mut left = jobs;
	while left > 0 {
		scene.begin();
		let terms = Terms { apply_blocks: known - 1 - scene.height(), ..terms.clone() };
		let submit = pallet_task_market::Call::submit_job {
			spec: spec.clone(),
			terms,
			max_fee_per_ut: u128::MAX,
		};
		while left > 0 {
			match scene.send(&submitter, submit.clone()) {
				Some(posted) => posted.expect("it is valid"),
				None => break,
			}
			left -= 1;
		}
		scene.end();
	}
	// The trainer chooses when its audit begins.
	let since = view.deadline - scene.chain.state(RevealBlocks::get);
	scene.works[0].delay = draw - SEED / 2 - since;
	assert!(scene.height() < draw - SEED / 2, "there was no time for all of them");
	scene.until(job, &truth, |view| view.state == JobState::Auditing);
	let left = known - 1 - scene.height();
	scene.run(left);
	scene.all(&own, |party| party.verifies(bond, ROOM));
	let seated = |view: &JobView<AccountId>| {
		view.audit.as_ref().is_some_and(|audit| !audit.committee.is_empty())
	};
	let view = scene.until(job, &silence, seated);
	let late = scene.height() - known;
	let audit = view.audit.expect("it runs");
	let mine = scene.seats(&audit).iter().filter(|seat| seat.side == Side::Attacker).count();
	scene.settle(&[job], &truth);
	(scene, late, mine)
}

fn late_draw() -> Outcome {
	let (_, first, mine) = late(430);
	assert!(first > 0, "the draw was not late");
	assert!(mine == 0, "{mine} newcomers were drawn by a seed that they knew, {first} blocks late");
	let (scene, second, _) = late(1_700);
	assert!(second > SEED, "the seed that everybody knew was used");
	let facts = vec![
		(
			"430 other jobs are due first",
			format!("late by {first} blocks, {mine} seats are newcomers'"),
		),
		("1,700 other jobs are due first", format!("late by {second} blocks, and by another seed")),
	];
	Outcome { scene, facts }
}
