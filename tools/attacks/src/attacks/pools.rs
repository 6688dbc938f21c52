//! Attacks on the pools of which committees and groups are drawn.

use crate::{
	jobs::{terms, truth, TRUE},
	report::{amount, Attack, Outcome},
	scene::{Party, Scene, Side, BOND, ROOM},
};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	job::Terms,
	views::{Hardware, Standing},
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi, AccountId, Balance, Runtime, TRY,
};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "pool-buy-out",
		source: "chain-market H2, chain-consensus M-6",
		tries: "displaces a full pool of least bonds with 256 accounts that bond a quarter more",
		rule: "at most a sixteenth of the pool comes in, and is displaced, in a day",
		left: None,
		run: pool_buy_out,
	},
	Attack {
		name: "young-pool",
		source: "chain-market H2, chain-consensus M-6",
		tries: "comes with 256 bonds into a pool of only twelve",
		rule: "what comes in in a day is a sixteenth of the pool, or sixteen least bonds where that is more",
		left: None,
		run: young_pool,
	},
	Attack {
		name: "drillers-pool",
		source: "chain-consensus C-2",
		tries: "enlists 64 identities at once to have most of every batch",
		rule: "a sixteenth of the pool, or 32 where that is more, come in in a day",
		left: None,
		run: drillers_pool,
	},
];

/// What counts in draws, of a side.
fn weight(scene: &mut Scene, of: &[Party]) -> Balance {
	scene.chain.state(|| {
		let pool = pallet_verification::Pool::<Runtime>::get();
		let own = of.iter().filter_map(|party| pool.get(&party.account));
		own.filter(|entry| entry.is_active()).map(|entry| entry.counted).sum()
	})
}

/// The attacker's part of what counts, in hundredths.
fn share(scene: &mut Scene, own: &[Party], others: &[Party]) -> f64 {
	let (own, others) = (weight(scene, own), weight(scene, others));
	100.0 * own as f64 / (own + others).max(1) as f64
}

/// How many seats of a committee of fifteen are the attacker's, in an audit of an honest job.
fn seats(scene: &mut Scene, submitter: &Party, trainer: &Party, own: &[Party]) -> usize {
	let terms = Terms { verifiers: 15, ..terms() };
	let job = scene.post(submitter, &JobSpec::noisy_example(), &terms).expect("it is valid");
	scene.works(trainer, job, TRUE);
	let view = scene.until(job, &truth, |view| {
		view.audit.as_ref().is_some_and(|audit| !audit.committee.is_empty())
	});
	let committee: Vec<AccountId> = view
		.audit
		.map(|audit| audit.committee.into_iter().map(|seat| seat.verifier).collect())
		.unwrap_or_default();
	let money = scene.settle(&[job], &truth)[0];
	scene.buys(submitter, money.escrowed - money.refunded);
	own.iter().filter(|party| committee.contains(&party.account)).count()
}

/// An attacker with that many accounts comes into a pool of `honest`.
fn buys(honest: usize, accounts: usize, days: &[u32]) -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	let others = scene.verifiers(Side::Honest, honest, BOND);
	let bond = BOND * 5 / 4;
	let own: Vec<Party> =
		(0..accounts).map(|_| scene.party("verifier", Side::Attacker, bond + 100 * TRY)).collect();
	// The day of the attack is young.
	scene.next_day();
	scene.start();
	scene.all(&own, |party| party.verifies(bond, ROOM));
	let mut facts = Vec::new();
	let first = share(&mut scene, &own, &others);
	let seated = seats(&mut scene, &submitter, &trainer, &own);
	let held: Balance = own.iter().map(|party| scene.held(&party.account)).sum();
	facts.push(("bonds on hold", amount(held)));
	let mut shares = vec![format!("at once {first:.1} %")];
	let (mut day, mut half) = (0, (first > 50.0).then_some(0));
	for until in days {
		while day < *until {
			scene.next_day();
			day += 1;
			let now = share(&mut scene, &own, &others);
			half = half.or((now > 50.0).then_some(day));
		}
		let now = share(&mut scene, &own, &others);
		shares.push(format!("after {day} days {now:.1} %"));
	}
	facts.push(("share of the pool", shares.join(", ")));
	facts.push(("seats of fifteen on the first day", seated.to_string()));
	let half = half.map_or("not reached".into(), |day| format!("{} minutes", day * 24 * 60));
	facts.push(("until it has half of the pool", half));
	let locked = scene.chain.state(|| {
		let waits = |who: &AccountId| {
			let view = Runtime::verifier(who.clone());
			view.filter(|view| matches!(view.standing, Standing::Waiting { .. }))
		};
		let displaced: Vec<_> = others.iter().filter_map(|party| waits(&party.account)).collect();
		assert!(displaced.iter().all(|view| view.locked == 0), "a displaced bond is free");
		displaced.len()
	});
	facts.push(("displaced, each with a bond that is free", locked.to_string()));
	Outcome { scene, facts }
}

fn pool_buy_out() -> Outcome {
	buys(256, 256, &[1, 5, 10])
}

fn young_pool() -> Outcome {
	buys(12, 256, &[1, 2])
}

fn drillers_pool() -> Outcome {
	let mut scene = Scene::new();
	let honest: Vec<Party> = (0..8).map(|_| scene.trainer(Side::Honest)).collect();
	let late = scene.trainer(Side::Honest);
	let own: Vec<Party> =
		(0..64).map(|_| scene.party("driller", Side::Attacker, BOND + 10 * TRY)).collect();
	let hardware = Hardware::default();
	scene.all(&own, |_| {
		pallet_hashrate::Call::register { bond: BOND, hardware: hardware.clone() }.into()
	});
	scene.next_day();
	scene.start();
	let propose = pallet_drilling::Call::propose {
		title: Default::default(),
		template: trainyard_protocol::drill::Template::Chain { size: 256, links: 100 },
		data: Default::default(),
		rule: Default::default(),
		replicas: 3,
		units: 10,
		commit_blocks: 20,
	};
	scene.call(&late, propose).expect("it is valid");
	let enlist = |_: &Party| {
		let projects = vec![0].try_into().expect("it is one");
		pallet_drilling::Call::enlist { projects }.into()
	};
	scene.all(&honest, enlist);
	scene.all(&own, enlist);
	scene.all(std::slice::from_ref(&late), enlist);
	let mut facts = Vec::new();
	let mut count = |scene: &mut Scene, when: &'static str| {
		let of = |some: &[Party]| {
			let drills =
				|one: &&Party| pallet_drilling::Pool::<Runtime>::contains_key(&one.account);
			some.iter().filter(drills).count()
		};
		let (mine, others, late) =
			scene.chain.state(|| (of(&own), of(&honest), of(std::slice::from_ref(&late))));
		let all = mine + others + late;
		facts.push((when, format!("{mine} of {all} drillers are the attacker's")));
	};
	count(&mut scene, "at once");
	scene.next_day();
	count(&mut scene, "after a day");
	Outcome { scene, facts }
}
