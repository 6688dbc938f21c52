//! Attacks by who may look at a result, and who is paid for it.

use crate::{
	jobs::{accepts, bends, honestly, trained, trained_terms, truth, Ask, Say},
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side, BOND},
};
use trainyard_program::units;
use trainyard_protocol::{
	fees,
	job::{BlockNumber, Fate, Terms},
	JobId,
};
use trainyard_runtime::{AccountId, Balance, Runtime, TRY};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "dear-judges",
		source: "a third reading",
		tries: "names an audit fee whose stake only its own verifiers have, to have a model for a part",
		rule: "a fee is at most four times the least, and no stake is more than nearly all verifiers have",
		left: None,
		run: dear_judges,
	},
	Attack {
		name: "dear-court",
		source: "a third reading",
		tries: "names a price at which nobody can challenge its own trainer's false result",
		rule: "the deposit of a challenge follows the protocol's price of a ut",
		left: None,
		run: dear_court,
	},
	Attack {
		name: "friend-first",
		source: "a third reading",
		tries: "has a friend sue its false result before anybody can, and go on only when others do",
		rule: "where the oldest dispute stood still, who went on all the time has half of a finder's part",
		left: None,
		run: friend_first,
	},
];

/// What the seats of a round lock each.
fn stake_of(scene: &mut Scene, job: JobId) -> Balance {
	let audit = scene.chain.state(|| pallet_verification::AuditRecords::<Runtime>::get(job));
	audit.expect("it is audited").stake
}

fn dear_judges() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 12, BOND);
	let own = scene.verifiers(Side::Attacker, 3, 3 * BOND);
	scene.start();
	let spec = trained().spec().spec().clone();
	// A stake of 125 TRY would be more than the honest have.
	let dear = Terms { audit_fee: 100 * TRY, ..trained_terms() };
	let refused = scene.post(&submitter, &spec, &dear);
	// All that it may name: the highest fee, and a price of 1,000 TRY for the whole.
	let most = fees::most_audit_fee(trained_terms().audit_fee);
	let price_per_ut = 50 * trained_terms().price_per_ut;
	let dear = Terms { audit_fee: most, price_per_ut, ..trained_terms() };
	let job = scene.post(&submitter, &spec, &dear).expect("it is valid");
	scene.trains(&trainer, job, honestly);
	let audit = scene.seated(job);
	let accounts: Vec<AccountId> = own.iter().map(|party| party.account.clone()).collect();
	let seats = audit.committee.iter().filter(|seat| accounts.contains(&seat.verifier)).count();
	let stake = stake_of(&mut scene, job);
	assert!(stake <= BOND, "whoever has the least bond can be drawn");
	let voice = |ask: &Ask| match accounts.contains(ask.who) {
		true => Some(Say::Unavailable),
		false => truth(ask),
	};
	let money = scene.settle(&[job], &voice)[0];
	let view = scene.job(job);
	assert_eq!(view.replicas[0].fate, Fate::Accepted);
	let price = units::price(view.work, view.terms.price_per_ut).expect("it was posted");
	scene.earns(&trainer, price);
	let facts = vec![
		("a fee of 100 TRY", answer(refused.map(|_| ()))),
		("the highest fee", amount(most)),
		("stake of a seat", amount(stake)),
		(
			"seats of its own, with 43 % of the bonds",
			format!("{seats} of {}", audit.committee.len()),
		),
		("price of the work", amount(price)),
		("what the trainer has of it", amount(money.paid_to_trainers)),
	];
	Outcome { scene, facts }
}

fn dear_court() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Attacker, 3, 3 * BOND);
	// All the money that it has.
	let watcher = scene.party("watcher", Side::Honest, 10 * TRY);
	scene.start();
	let spec = trained().spec().spec().clone();
	// A defence would be priced at 2,000 TRY and more.
	let price_per_ut = 50 * trained_terms().price_per_ut;
	let dear = Terms { price_per_ut, ..trained_terms() };
	let job = scene.post(&submitter, &spec, &dear).expect("it is valid");
	scene.trains(&trainer, job, bends);
	scene.stands(job, &accepts);
	let (deposit, stake) = (scene.challenge_deposit(job), stake_of(&mut scene, job));
	let right = scene.truths[&job].clone();
	scene.sues(&watcher, &trainer, (job, 0), &right);
	scene.argue(job, &accepts);
	let money = scene.settle(&[job], &accepts)[0];
	let view = scene.job(job);
	assert_eq!(view.replicas[0].fate, Fate::Rejected);
	let price = units::price(view.work, view.terms.price_per_ut).expect("it was posted");
	let facts = vec![
		("price of the work", amount(price)),
		("deposit of a challenge", amount(deposit)),
		("stake of a seat", amount(stake)),
		("money of who watches", amount(10 * TRY)),
		("what the cheat lost", amount(money.slashed)),
		("of it to who watched", amount(money.slashed_to_finders)),
	];
	Outcome { scene, facts }
}

fn friend_first() -> Outcome {
	// For how long machines may be away: longer than a dispute may stand still.
	const PATIENCE: BlockNumber = 400;
	let mut scene = Scene::new();
	scene.chain.state(|| pallet_task_market::FirstPatience::<Runtime>::put(PATIENCE));
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let friend = scene.hostile("friend");
	let finder = scene.honest("finder");
	scene.verifiers(Side::Attacker, 3, 2 * BOND);
	scene.start();
	let spec = trained().spec().spec().clone();
	let job = scene.post(&submitter, &spec, &trained_terms()).expect("it is valid");
	scene.trains(&trainer, job, bends);
	scene.stands(job, &accepts);
	let right = scene.truths[&job].clone();
	let worth =
		|scene: &mut Scene, who: &Party| scene.worth(&who.account) + scene.fees_of(&who.account);
	let (had, had_friend) = (worth(&mut scene, &finder), worth(&mut scene, &friend));
	scene.sues(&friend, &trainer, (job, 0), &right);
	// If nobody else came it would give up, and the trainer would have its deposit back for it.
	scene.run(60);
	scene.sues(&finder, &trainer, (job, 0), &right);
	scene.argue(job, &accepts);
	let money = scene.settle(&[job], &truth)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Rejected);
	let (earned, back) =
		(worth(&mut scene, &finder) - had, worth(&mut scene, &friend) - had_friend);
	assert_eq!((earned, back), (money.slashed_to_finders / 2, money.slashed_to_finders / 2));
	let facts = vec![
		("what the cheat lost", amount(money.slashed)),
		("of it to the friend", amount(back)),
		("of it to who found the fraud", amount(earned)),
		("what that paid for transactions", amount(scene.fees_of(&finder.account))),
	];
	Outcome { scene, facts }
}
