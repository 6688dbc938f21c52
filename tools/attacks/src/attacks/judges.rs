//! Attacks by who may look at a result, and who is paid for it.

use crate::{
	jobs::{accepts, bends, honestly, trained, trained_terms, truth, Ask, Say},
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side, BOND},
};
use trainyard_program::units;
use trainyard_protocol::{
	audit::AuditPhase,
	job::{Fate, Terms},
	pieces::Piece,
};
use trainyard_runtime::{AccountId, Runtime, RuntimeCall, TRY};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "dear-judges",
		source: "a third reading",
		tries: "names an audit fee whose stake only its own verifiers have, to have a model for a part",
		rule: "a part of the pay is due where nothing is decided",
		left: Some(
			"the stake of a seat grows with the audit fee and with the price, which the submitter names, \
			 and whose bond is smaller is not drawn. A fee that is at most a few times the least, and a \
			 deposit of a challenge by the protocol's price of a ut, would leave the draw to all",
		),
		run: dear_judges,
	},
	Attack {
		name: "crowded-out",
		source: "a third reading",
		tries: "asks for one piece by sixteen accounts of one key, so that no stranger can ask for states",
		rule: "anybody can ask for what it lacks while results stand",
		left: Some(
			"claims that are withdrawn cost nothing, sixteen accounts have all places of strangers, and \
			 sixteen windows are all there are. A place that goes to who prepays more, and a window that \
			 counts only where something was stored, would let one honest stranger in",
		),
		run: crowded_out,
	},
	Attack {
		name: "friend-first",
		source: "a third reading",
		tries: "has a friend sue its false result before anybody can, and go on only when others do",
		rule: "a friend that convicts has a quarter, and half is burned: the cheat loses all the same",
		left: None,
		run: friend_first,
	},
];

fn dear_judges() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 12, BOND);
	let own = scene.verifiers(Side::Attacker, 3, 3 * BOND);
	scene.start();
	let spec = trained().spec().spec().clone();
	// A stake of 125 TRY, of which the honest have 100.
	let dear = Terms { audit_fee: 100 * TRY, ..trained_terms() };
	let job = scene.post(&submitter, &spec, &dear).expect("it is valid");
	scene.trains(&trainer, job, honestly);
	let audit = scene.seated(job);
	let accounts: Vec<AccountId> = own.iter().map(|party| party.account.clone()).collect();
	assert!(audit.committee.iter().all(|seat| accounts.contains(&seat.verifier)));
	let money = scene.settle(&[job], &|_: &Ask| Some(Say::Unavailable))[0];
	let view = scene.job(job);
	assert_eq!(view.replicas[0].fate, Fate::Undecided);
	let price = units::price(view.work, view.terms.price_per_ut).expect("it was posted");
	scene.earns(&trainer, price);
	let facts = vec![
		("audit fee, and the least", format!("100 TRY, {}", amount(trained_terms().audit_fee))),
		("seats of its own", format!("{} of {}", audit.committee.len(), audit.committee.len())),
		("price of the work", amount(price)),
		("what the trainer has of it", amount(money.paid_to_trainers)),
		("audit fees that were paid", amount(money.paid_to_verifiers)),
		("bonds that are free again after 15 days", amount(3 * 3 * BOND)),
	];
	Outcome { scene, facts }
}

fn crowded_out() -> Outcome {
	const CROWD: u16 = 16;
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let crowd = scene.hostile("crowd");
	let watcher = scene.honest("watcher");
	scene.verifiers(Side::Attacker, 3, 2 * BOND);
	let place = |at| pallet_utility::derivative_account_id(crowd.account.clone(), at);
	let places: Vec<AccountId> = (0..CROWD).map(place).collect();
	let fund = places.iter().map(|place| {
		let (dest, value) = (place.clone().into(), TRY);
		pallet_balances::Call::transfer_allow_death { dest, value }.into()
	});
	let calls: Vec<RuntimeCall> = fund.collect();
	scene.call(&crowd, pallet_utility::Call::batch_all { calls }).expect("it has money");
	scene.start();
	let spec = trained().spec().spec().clone();
	let job = scene.post(&submitter, &spec, &trained_terms()).expect("it is valid");
	scene.trains(&trainer, job, bends);
	scene.stands(job, &accepts);
	let ask = |piece: Piece| -> RuntimeCall {
		let pieces = vec![piece].try_into().expect("it is one");
		pallet_verification::Call::request { job, group: 0, pieces }.into()
	};
	let by = |index: u16, call: RuntimeCall| -> RuntimeCall {
		pallet_utility::Call::as_derivative { index, call: Box::new(call) }.into()
	};
	let withdraw: RuntimeCall =
		pallet_verification::Call::withdraw_request { job, group: 0 }.into();
	let (mut tried, mut answers, mut sent) = (0u32, std::collections::BTreeSet::new(), 0u32);
	loop {
		let view = scene.job(job);
		let Some(audit) = view.audit.filter(|audit| audit.phase != AuditPhase::Done) else { break };
		let AuditPhase::Standing { .. } = audit.phase else { panic!("{:?}", audit.phase) };
		let record = scene
			.chain
			.state(|| pallet_verification::AuditRecords::<Runtime>::get(job))
			.expect("it runs");
		let now = scene.height() + 1;
		scene.begin();
		// In the last block of a window, all at once.
		let is_due = record.relay.is_none_or(|relay| now >= relay);
		if is_due && (record.late_windows < 16 || record.relay.is_some()) {
			let mut calls = Vec::new();
			if record.relay.is_some() {
				calls.extend((0..CROWD).map(|at| by(at, withdraw.clone())));
			}
			if record.late_windows < 16 {
				calls.extend((0..CROWD).map(|at| by(at, ask(Piece::Leaves))));
			}
			let batch = pallet_utility::Call::batch_all { calls };
			scene.send(&crowd, batch).expect("it fits").expect("it may ask");
			sent += 1;
		}
		// Who watches asks in every block.
		if let Some(result) = scene.send(&watcher, ask(Piece::State(1))) {
			assert!(result.is_err(), "the watcher has a place in block {now}");
			answers.insert(answer(result));
			tried += 1;
		}
		scene.end();
	}
	let money = scene.settle(&[job], &accepts)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Accepted, "a false result");
	let fees = scene.fees_of(&crowd.account);
	let facts = vec![
		("times that a stranger asked for a state", tried.to_string()),
		("the answers", answers.into_iter().collect::<Vec<_>>().join(", ")),
		("transactions of the crowd, and their fees", format!("{sent}, {}", amount(fees))),
		("paid for the false result", amount(money.paid_to_trainers)),
	];
	Outcome { scene, facts }
}

fn friend_first() -> Outcome {
	let mut scene = Scene::new();
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
	scene.sues(&finder, &trainer, (job, 0), &right);
	// What the friend comes to first is the finder's dispute, too, and is the friend's by its age.
	scene.silent.insert(finder.account.clone());
	scene.argue(job, &accepts);
	let money = scene.settle(&[job], &truth)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Rejected);
	let (earned, back) =
		(worth(&mut scene, &finder) - had, worth(&mut scene, &friend) - had_friend);
	assert_eq!((earned, back), (0, money.slashed_to_finders));
	let facts = vec![
		("what the cheat lost", amount(money.slashed)),
		("of it to the friend", amount(back)),
		("of it to who found the fraud", amount(earned)),
		("what that paid for transactions", amount(scene.fees_of(&finder.account))),
	];
	Outcome { scene, facts }
}
