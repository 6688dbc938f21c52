//! Attacks of seats that reject at no risk, and that lose their stakes to friends before they are convicted.

use crate::{
	jobs::{accepts, bends, honestly, trained, trained_terms, truth, with_fee, Ask, Say, SALT},
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side, BOND},
};
use pallet_verification::{AuditRecords, Event, Fault, Pool};
use std::rc::Rc;
use trainyard_protocol::{
	audit::AuditPhase,
	job::{Fate, JobState, Settlement, Terms},
	JobId,
};
use trainyard_runtime::{AccountId, Balance, Runtime, RuntimeEvent, System};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "rejects-the-convicted",
		source: "a fourth reading",
		tries: "rejects a result by naming the one of its trainers that is out already, and replays nothing",
		rule: "who names a trainer that was out before counts as having said that it is unavailable",
		left: None,
		run: rejects_the_convicted,
	},
	Attack {
		name: "rejects-a-forced-leaf",
		source: "a fourth reading",
		tries: "rejects an honest result at the first leaf with another trace, to stop its replay there",
		rule: "who denies a trace alone is not heard, and the fee of a rejection waits for the conviction",
		left: None,
		run: rejects_a_forced_leaf,
	},
	Attack {
		name: "moves-its-stake",
		source: "a fourth reading",
		tries: "vouches for a false result, and loses its bond to a friend before it is convicted for that",
		rule: "while a seat can be convicted, what it lost by accusations comes back to its stake",
		left: None,
		run: moves_its_stake,
	},
];

/// What a submitter pays where its job is done.
fn paid(money: &Settlement) -> Balance {
	money.escrowed - money.refunded - money.slashed_to_submitter
}

/// What the bonds of verifiers lost in the latest block: who, how much, and what for.
fn slashes(scene: &mut Scene) -> Vec<(AccountId, Balance, Fault)> {
	let events = scene.chain.state(System::events).into_iter();
	let slashed = events.filter_map(|record| match record.event {
		RuntimeEvent::Verification(Event::Slashed { verifier, amount, fault, .. }) => {
			Some((verifier, amount, fault))
		}
		_ => None,
	});
	slashed.collect()
}

/// Takes a job to its end, and looks at each block.
fn watched(
	scene: &mut Scene,
	job: JobId,
	voice: &dyn Fn(&Ask) -> Option<Say>,
	mut look: impl FnMut(&mut Scene),
) -> Settlement {
	for _ in 0..2_000 {
		let view = scene.job(job);
		if matches!(view.state, JobState::Ended(_)) {
			return view.settlement;
		}
		scene.begin();
		scene.act(voice);
		scene.end();
		look(scene);
	}
	panic!("nothing comes of the job in 2,000 blocks")
}

/// Two trainers of a job that can be trained, and its terms.
fn two_trainers(scene: &mut Scene) -> (Party, Party, Terms) {
	let honest = scene.trainer(Side::Honest);
	let other = scene.trainer(Side::Attacker);
	let terms = with_fee(trained().spec(), Terms { replicas: 2, ..trained_terms() });
	(honest, other, terms)
}

fn rejects_the_convicted() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let (trainer, twin, terms) = two_trainers(&mut scene);
	scene.verifiers(Side::Honest, 2, 20 * BOND);
	let own = scene.verifiers(Side::Attacker, 1, 20 * BOND).remove(0);
	scene.start();
	let spec = trained().spec().spec().clone();
	let (seat, named) = (own.account.clone(), twin.account.clone());
	// Where its own trainer's bundle is the second one, seats look at the honest one's first.
	let voice = |ask: &Ask| match (*ask.who == seat, ask.lie) {
		(true, Some(lie)) if ask.group.convicted.contains(&named) => {
			Some(Say::Names(named.clone(), 0, lie.clone()))
		}
		_ => truth(ask),
	};
	for _ in 0..20 {
		let job = scene.post(&submitter, &spec, &terms).expect("it is valid");
		for who in [&trainer, &twin] {
			scene.trains(who, job, honestly);
		}
		for work in scene.works.iter_mut() {
			work.opens = work.trainer.account != twin.account;
		}
		let (mut void, mut lost) = (0, 0);
		let money = watched(&mut scene, job, &voice, |scene| {
			let events = scene.chain.state(System::events).into_iter();
			let is_void = |event: &RuntimeEvent| {
				matches!(event, RuntimeEvent::Verification(Event::RejectionVoid { .. }))
			};
			void += events.filter(|record| is_void(&record.event)).count();
			for (who, amount, fault) in slashes(scene) {
				assert_eq!((&who, fault), (&seat, Fault::NoVerdict), "nobody honest loses");
				lost += amount;
			}
		});
		scene.buys(&submitter, paid(&money));
		let view = scene.job(job);
		let fate = |who: &Party| {
			let mut replicas = view.replicas.iter();
			replicas.find(|replica| replica.trainer == who.account).expect("it has one").fate
		};
		assert_eq!((fate(&trainer), fate(&twin)), (Fate::Accepted, Fate::NotRevealed));
		let rounds = view.audit.as_ref().map_or(0, |audit| audit.round + 1);
		assert_eq!(void > 0, rounds > 1);
		if void == 0 {
			continue;
		}
		assert_eq!(lost, 5 * view.terms.audit_fee * void as Balance);
		let facts = vec![
			("rounds until the honest trainer's result is accepted", rounds.to_string()),
			("rejections that name who is out", void.to_string()),
			("what they cost", amount(lost)),
			("what the honest trainer is paid", amount(money.paid_to_trainers)),
			("deposit of the other one, lost", amount(money.slashed)),
		];
		return Outcome { scene, facts };
	}
	panic!("its bundle is the first in half of the jobs");
}

fn rejects_a_forced_leaf() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 2, 20 * BOND);
	let own = scene.verifiers(Side::Attacker, 1, 20 * BOND).remove(0);
	scene.start();
	let spec = trained().spec().spec().clone();
	let job = scene.post(&submitter, &spec, &trained_terms()).expect("it is valid");
	scene.trains(&trainer, job, honestly);
	// Its only segment is forced, and what the seat says instead is the true leaf.
	let seat = own.account.clone();
	let voice = |ask: &Ask| match *ask.who == seat {
		true => Some(Say::Rejects(0, ask.truth.clone())),
		false => truth(ask),
	};
	let view = scene.until(job, &voice, |view| {
		let seats = view.audit.iter().flat_map(|audit| &audit.committee);
		let mut seats = seats.filter(|member| member.verifier == seat);
		seats.any(|member| member.commitment.is_some())
	});
	let round = view.audit.expect("it is audited").round;
	let (findings, paths) =
		scene.findings.remove(&(job, round, seat.clone())).expect("it committed");
	scene.reaches(job, &voice, |phase| matches!(phase, AuditPhase::Revealing { .. }));
	let reveal = pallet_verification::Call::reveal { job, findings, paths, salt: SALT };
	let refused = scene.call(&own, reveal);
	let mut lost = 0;
	let money = watched(&mut scene, job, &voice, |scene| {
		for (who, amount, fault) in slashes(scene) {
			assert_eq!((&who, fault), (&seat, Fault::NoVerdict), "nobody honest loses");
			lost += amount;
		}
	});
	scene.buys(&submitter, paid(&money));
	let view = scene.job(job);
	assert_eq!(view.replicas[0].fate, Fate::Accepted);
	assert_eq!(view.audit.map(|audit| audit.round), Some(0), "it keeps nobody from accepting it");
	let refused = answer(refused);
	assert_eq!(refused, "TraceAlone");
	let facts = vec![
		("rejecting the forced leaf is", refused),
		("what that cost", amount(lost)),
		("what the two others share", amount(money.paid_to_verifiers)),
	];
	Outcome { scene, facts }
}

/// A seat accuses a trainer of what is not false, and gives up, in one block, until its bond covers no further
/// accusation. Returns how often.
fn drains(scene: &mut Scene, seat: &Party, friend: &Party, job: JobId) -> usize {
	let lie: Rc<_> = scene.lies[&job].clone();
	let accusation = scene.accusation(friend, (job, 0), &lie);
	let mut count = 0;
	loop {
		scene.begin();
		let mut taken = 0;
		for _ in 0..8 {
			let id = scene.chain.state(pallet_court::NextDispute::<Runtime>::get);
			let accusation = accusation.clone();
			let accuse = pallet_verification::Call::accuse { accusation };
			// A block that changes the session has no room.
			let Some(Ok(())) = scene.send(seat, accuse) else { break };
			let given_up = scene.send(seat, pallet_court::Call::withdraw { id });
			given_up.expect("there is room").expect("it is its own");
			taken += 1;
		}
		scene.end();
		count += taken;
		if taken == 0 {
			return count;
		}
	}
}

fn moves_its_stake() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	// A friend that delivers what is true, and one that does not.
	let friend = scene.trainer(Side::Attacker);
	let cheat = scene.trainer(Side::Attacker);
	let honest = scene.verifiers(Side::Honest, 2, 2 * BOND);
	let own = scene.verifiers(Side::Attacker, 1, BOND).remove(0);
	scene.start();
	let spec = trained().spec().spec().clone();
	let terms = with_fee(trained().spec(), Terms { replicas: 2, ..trained_terms() });
	let job = scene.post(&submitter, &spec, &terms).expect("it is valid");
	scene.trains(&friend, job, honestly);
	scene.trains(&cheat, job, bends);
	let seat = own.account.clone();
	let voice = |ask: &Ask| match *ask.who == seat {
		true => accepts(ask),
		false => truth(ask),
	};
	let audit = scene.stands(job, &voice);
	let stake =
		scene.chain.state(|| AuditRecords::<Runtime>::get(job).expect("it is audited").stake);
	// What it vouched for is accused of.
	let truth = scene.truths[&job].clone();
	let mut groups = audit.groups.iter().map(|group| &group.result.bundle_root);
	let root = groups.find(|root| scene.delivered(job, root).is_false(0, &truth));
	let delivered = scene.delivered(job, root.expect("one of them is false"));
	let accuse = scene.accuses_seat(job, &honest[0], &seat, 0, (&delivered, &truth));
	let (who, call) = accuse.expect("nobody has accused it");
	scene.call(&who, call).expect("it vouched for it");
	let bond = |scene: &mut Scene| {
		scene.chain.state(|| Pool::<Runtime>::get().get(&seat).map_or(0, |entry| entry.bond))
	};
	let before = bond(&mut scene);
	let times = drains(&mut scene, &own, &friend, job);
	let moved = before - bond(&mut scene);
	assert!(moved > before - stake, "its bond does not cover its stake any more");
	let mut convicted = None;
	let money = watched(&mut scene, job, &voice, |scene| {
		for record in scene.chain.state(System::events) {
			if let RuntimeEvent::Verification(Event::EvidenceConvicted {
				verifier,
				burned,
				found,
				jackpot,
				..
			}) = record.event
			{
				assert_eq!(verifier, seat);
				convicted = Some((burned, found, jackpot));
			}
		}
	});
	scene.buys(&submitter, paid(&money));
	let (burned, found, jackpot) = convicted.expect("it is convicted");
	assert_eq!((burned, found, jackpot), (stake / 2, stake / 4, stake / 4));
	assert_eq!(money.won, before - stake, "what its friend has is what it need not lose");
	let facts = vec![
		("its bond", amount(before)),
		("its stake", amount(stake)),
		("accusations that it gave up", times.to_string()),
		("what it lost by them to its friend", amount(moved)),
		("what of its stake is burned", amount(burned)),
		("to its finder", amount(found)),
		("what its friend has in the end", amount(money.won)),
	];
	Outcome { scene, facts }
}
