//! Drilling power by seats, and not by computing.

use super::projects::{approve, drilled, enlist, in_pool, live, propose, stage, Says, Stage};
use crate::{
	report::{amount, Attack, Outcome},
	scene::{Party, Scene, Side, BOND},
};
use sp_runtime::traits::{BlakeTwo256, Hash};
use trainyard_protocol::{
	drill::{least_blocks, Mismatch, Template},
	job::BlockNumber,
	merkle,
	stint::{self, ReportPhase, ReportView, Samples, Siblings},
	MicroUt, H256,
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi, AccountId, Balance, Runtime, RuntimeCall,
};

/// The attacks of this file.
pub const ALL: &[Attack] = &[Attack {
	name: "seats",
	source: "chain-consensus C-2",
	tries: "holds the pool with 32 bonds, computes each unit once for three seats, and has 16 more claim laps \
	        that nobody computed",
	rule: "replicas share the work of a unit; laps are each driller's own, and who has no power is checked",
	left: None,
	run: seats,
}];

/// Seats in the pool of drillers: as many as come in in a day.
const SEATS: usize = 32;
/// Accounts that claim laps.
const CLAIMS: usize = 16;
/// Laps that each claims, and that an honest driller computes.
const LAPS: u32 = 1_000;
/// Blocks in which the pool works.
const BLOCKS: BlockNumber = 400;
/// What everybody salts with.
const SALT: [u8; 32] = [5; 32];

/// Results of laps of an account: those that it computed, or what it made up.
fn results(of: &AccountId, true_ones: bool) -> Vec<H256> {
	let seed = BlakeTwo256::hash_of(&(of, true_ones));
	(0..LAPS).map(|index| stint::lap_seed(&seed, index)).collect()
}

/// The results of a report's samples.
fn sampled(view: &ReportView<AccountId>, results: &[H256]) -> Vec<H256> {
	view.samples.iter().map(|at| results[*at as usize]).collect()
}

/// What a driller does next: it reports as soon as it can, once, and opens what is drawn.
fn drills(scene: &mut Scene, who: &Party) -> Option<RuntimeCall> {
	let (account, honest) = (who.account.clone(), who.side == Side::Honest);
	let claimed = results(&account, honest);
	let leaves: Vec<H256> = claimed.iter().map(stint::leaf).collect();
	let height = scene.height();
	let running = scene.chain.state(|| Runtime::stint(account.clone()))?;
	if running.number == 0 {
		let root = merkle::root(&leaves);
		let report = pallet_stints::Call::report { number: 0, root, laps: LAPS };
		// It is said in the block after this one.
		return (height + 1 >= running.from).then(|| report.into());
	}
	let view = scene.chain.state(|| Runtime::stint_report(account.clone()))?;
	let opens = view.phase == ReportPhase::Opening && !view.opened;
	opens.then(|| {
		let siblings = merkle::proof_many(&leaves, &view.samples).expect("they are laps of it");
		pallet_stints::Call::open {
			report: view.id,
			results: Samples::truncate_from(sampled(&view, &claimed)),
			siblings: Siblings::truncate_from(siblings),
		}
		.into()
	})
}

/// What an honest verifier does next in all checks in which it sits: it has computed the samples.
fn checks(scene: &mut Scene, who: &Party) -> Vec<RuntimeCall> {
	let (account, genesis) = (&who.account, scene.genesis);
	let owed = scene.chain.state(|| Runtime::stint_checks(account.clone()));
	let call = |view: ReportView<AccountId>| -> RuntimeCall {
		let digest = stint::digest(&sampled(&view, &results(&view.driller, true)));
		let report = view.id;
		if view.phase == ReportPhase::Opening {
			return pallet_stints::Call::check_reveal { report, digest, salt: SALT }.into();
		}
		let commitment = stint::commitment(&genesis, report, account, &digest, &SALT);
		pallet_stints::Call::check { report, commitment }.into()
	};
	owed.into_iter().map(call).collect()
}

/// Drilling power of these, in micro-ut a day.
fn power(scene: &mut Scene, who: &[Party]) -> u128 {
	let of =
		|one: &Party| Runtime::trainer(one.account.clone()).map_or(0, |t| t.drilling_effective);
	scene.chain.state(|| who.iter().map(of).sum())
}

/// Work, in ut.
fn ut(work: impl Into<u128>) -> String {
	format!("{:.3} ut", work.into() as f64 / 1e6)
}

fn seats() -> Outcome {
	let Stage { mut scene, voters, honest, verifiers } = stage(1);
	let trainers = |scene: &mut Scene, count| -> Vec<Party> {
		(0..count).map(|_| scene.trainer(Side::Attacker)).collect()
	};
	let own = trainers(&mut scene, SEATS);
	let liars = trainers(&mut scene, CLAIMS);
	let driller = scene.trainer(Side::Honest);
	let proposer = scene.hostile("proposer");
	scene.next_day();
	scene.start();

	// Nobody else drills units: the pool is its own.
	let unit = Template::Chain { size: 256, links: 10_700 };
	let needs = unit.measure().expect("it is valid").needs;
	let blocks = least_blocks(&needs);
	let project =
		propose(&mut scene, &proposer, unit, &[], Mismatch::Majority, blocks).expect("it is valid");
	approve(&mut scene, &voters, project);
	enlist(&mut scene, &own, &[project]);
	let pool = in_pool(&mut scene, &own);
	assert_eq!(in_pool(&mut scene, &honest), 0);
	let parties: Vec<Party> = own.iter().chain(&verifiers).cloned().collect();
	// Each unit is computed once, and the result is true.
	live(&mut scene, &parties, BLOCKS, |_| Says::Result(1));
	let view = scene.chain.state(|| Runtime::drilling_project(project)).expect("it is on record");
	let computed = MicroUt::from(view.agreed) * needs.work;
	let credited = drilled(&mut scene, &own);
	assert!(computed > 0 && credited <= computed, "{credited} of {computed}");

	// One machine computes a thousand laps; sixteen accounts claim as many each.
	let drillers: Vec<Party> = liars.iter().chain([&driller]).cloned().collect();
	scene.all(&drillers, |_| pallet_stints::Call::begin {}.into());
	let price = scene.chain.state(|| Runtime::stint(driller.account.clone()));
	let price = price.expect("it has begun").check_price;
	let begun = scene.height();
	loop {
		let mut calls = Vec::new();
		for who in &drillers {
			calls.extend(drills(&mut scene, who).map(|call| (who.clone(), call)));
		}
		for who in &verifiers {
			calls.extend(checks(&mut scene, who).into_iter().map(|call| (who.clone(), call)));
		}
		scene.begin();
		for (who, call) in calls {
			// A phase may have ended in this block.
			let _ = scene.send(&who, call);
		}
		scene.end();
		let settled = |who: &Party| {
			Runtime::stint(who.account.clone()).is_none_or(|s| s.number > 0 && s.report.is_none())
		};
		if scene.chain.state(|| drillers.iter().all(settled)) {
			break;
		}
		assert!(scene.height() < begun + 4_000, "all reports are settled in the end");
	}
	scene.buys(&driller, price);
	let made_up = power(&mut scene, &liars);
	let true_one = power(&mut scene, std::slice::from_ref(&driller));
	assert!(made_up == 0 && true_one > 0, "{made_up} and {true_one}");
	let lost: Balance = scene.chain.state(|| {
		let bond = |who: &Party| Runtime::trainer(who.account.clone()).map_or(0, |t| t.bond);
		liars.iter().map(|who| BOND - bond(who)).sum()
	});
	let day = |power: u128| format!("{} a day", ut(power));
	let facts = vec![
		("seats in the pool, where nobody else has one", pool.to_string()),
		("units with a result, each computed once", view.agreed.to_string()),
		("work of these", ut(computed)),
		("credited to its seats together", ut(credited)),
		("by the rule before, the whole to each of three replicas", ut(3 * computed)),
		("laps that 16 accounts claimed and nobody computed", (16 * LAPS).to_string()),
		("power that these brought", day(made_up)),
		("bonds that they lost", amount(lost)),
		("power of one honest driller, by 1,000 laps that it computed", day(true_one)),
	];
	Outcome { scene, facts }
}
