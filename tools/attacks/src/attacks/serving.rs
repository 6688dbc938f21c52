//! Attacks by who serves states, and by who asks for them.

use crate::{
	jobs::{accepts, terms, truth, Ask, Model, TRUE},
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side, BOND},
	states::{everything, leaves, name, request, silence, withdraw},
};
use std::cell::Cell;
use trainyard_program::{spec::JobSpec, units};
use trainyard_protocol::{
	audit::{GroupVerdict, Pieces},
	job::{Fate, Terms},
	JobId,
};
use trainyard_runtime::{AccountId, Balance};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "withheld-states",
		source: "chain-market M3, C1",
		tries: "gives a false result to its own seats alone, to have another committee drawn",
		rule:
			"what a seat asks for is stored or the result is lost, and the same committee goes on",
		left: None,
		run: withheld_states,
	},
	Attack {
		name: "sybil-rescue",
		source: "chain-market L2, M3",
		tries:
			"brings a trainer's result as well, and stores garbage where a seat asks for its states",
		rule: "each trainer of a result names a blob of its own",
		left: None,
		run: sybil_rescue,
	},
	Attack {
		name: "bytes-of-others",
		source: "a fresh reading",
		tries:
			"registers and names the blob that another replica stores, and one of its own in two audits",
		rule: "a chunk is paid for once, to the trainer that brought it",
		left: None,
		run: bytes_of_others,
	},
	Attack {
		name: "asks-for-nothing",
		source: "a fresh reading",
		tries: "sits on committees, and asks on chain for everything that it could have had",
		rule: "what is stored for a seat again is at its own cost; each piece is stored once",
		left: Some(
			"a seat that nobody served and one that asks for nothing look alike. So trainer and \
			 submitter each pay half of the price of the bytes that are stored, for each piece once, \
			 and the trainer the fees of the chunks beside that",
		),
		run: asks_for_nothing,
	},
];

/// Posts a job and takes it to its committee. Returns it with what the seats read.
fn audited(
	scene: &mut Scene,
	submitter: &Party,
	trainers: &[Party],
	byte: u8,
	terms: &Terms,
) -> (JobId, Pieces) {
	let job = scene.post(submitter, &JobSpec::noisy_example(), terms).expect("it is valid");
	for trainer in trainers {
		scene.works(trainer, job, byte);
	}
	let audit = scene.seated(job);
	(job, everything(&audit.groups[0]))
}

/// A file of that many bytes, another one for each number.
fn file(bytes: usize, number: u32) -> std::rc::Rc<Model> {
	let mut file = vec![9; bytes];
	file[..4].copy_from_slice(&number.to_le_bytes());
	Model::new(&file)
}

/// What a trainer stores in the end that has withheld a false result.
#[derive(Clone, Copy, PartialEq)]
enum Stores {
	Nothing,
	Garbage,
	States,
}

fn withheld_states() -> Outcome {
	const FALSE: u8 = 2;
	/// More bytes than all that an audit reads.
	const MORE: usize = 4_000_000;
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Honest, 15, BOND);
	let own = scene.verifiers(Side::Attacker, 5, BOND);
	let own: Vec<AccountId> = own.into_iter().map(|party| party.account).collect();
	scene.start();
	let terms = Terms { verifiers: 15, ..terms() };
	let (mut refused, mut seated, mut lost) = (Vec::new(), Vec::new(), Vec::new());
	for stores in [Stores::Nothing, Stores::Garbage, Stores::States] {
		let (job, pieces) =
			audited(&mut scene, &submitter, std::slice::from_ref(&trainer), FALSE, &terms);
		let audit = scene.job(job).audit.expect("it runs");
		let (mine, others): (Vec<Party>, Vec<Party>) =
			scene.seats(&audit).into_iter().partition(|party| party.side == Side::Attacker);
		scene.all(&others, |_| request(job, &pieces));
		let audit = scene.window(job);
		let group = &audit.groups[0];
		let (bytes, _) = scene.archive(job, &pieces);
		if stores == Stores::Garbage {
			// Of states that it did not reveal; more than was asked for; and something else.
			let others = scene.store(&trainer, job, &file(9, job), &leaves(TRUE, group));
			let large = scene.store(&trainer, job, &file(MORE, job), &leaves(FALSE, group));
			refused = vec![answer(others), answer(large)];
			let garbage = scene.store(&trainer, job, &file(10, job), &leaves(FALSE, group));
			garbage.expect("the chain does not see what it holds");
		} else if stores == Stores::States {
			let stored = scene.store(&trainer, job, &file(bytes, job), &leaves(FALSE, group));
			stored.expect("it is what was asked for");
		}
		let voice = |ask: &Ask| match own.contains(ask.who) {
			true => accepts(ask),
			false if stores == Stores::States => truth(ask),
			false => Some(GroupVerdict::Unavailable),
		};
		let money = scene.settle(&[job], &voice)[0];
		let view = scene.job(job);
		let after = view.audit.expect("it is on record");
		let same =
			after.committee.iter().zip(&audit.committee).all(|(a, b)| a.verifier == b.verifier);
		assert!(same && after.round == 0, "another committee");
		assert!([Fate::Unavailable, Fate::Rejected].contains(&view.replicas[0].fate));
		seated.push(format!("{} of {}", mine.len(), after.committee.len()));
		lost.push(amount(money.slashed));
	}
	let facts = vec![
		("its seats, in one round of each audit", seated.join(", ")),
		("leaves of other states, and more bytes than asked for", refused.join(", ")),
		("deposits that were lost: storing nothing, garbage, the false states", lost.join(", ")),
	];
	Outcome { scene, facts }
}

fn sybil_rescue() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	let sybil = scene.trainer(Side::Attacker);
	let seats = scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let terms = Terms { replicas: 2, ..terms() };
	let both = [trainer.clone(), sybil.clone()];
	let (job, pieces) = audited(&mut scene, &submitter, &both, TRUE, &terms);
	// It cannot reach the honest trainer, and the other one gives it nothing.
	scene.call(&seats[0], request(job, &pieces)).expect("an audit reads them");
	let audit = scene.window(job);
	let shown = leaves(TRUE, &audit.groups[0]);
	let (bytes, price) = scene.archive(job, &pieces);
	let (garbage, real) = (file(9, 1), file(bytes, 2));
	scene.store(&sybil, job, &garbage, &shown).expect("it is a trainer of the result");
	scene.store(&trainer, job, &real, &shown).expect("it is a trainer of the result");
	let rescued = Cell::new(0);
	let voice = |ask: &Ask| {
		rescued.set(ask.group.rescued.len());
		match ask.group.rescued.contains(&real.root) {
			true => truth(ask),
			false => Some(GroupVerdict::Unavailable),
		}
	};
	let money = scene.settle(&[job], &voice)[0];
	let view = scene.job(job);
	assert!(view.replicas.iter().all(|replica| replica.fate == Fate::Accepted));
	// What was stored is a part of the audit that it gets.
	scene.buys(&submitter, money.paid_to_trainers + money.paid_to_verifiers + money.burned);
	let work = units::price(view.work, view.terms.price_per_ut).expect("it is in range");
	let back = money.paid_to_trainers - work * 115 / 100;
	let facts = vec![
		("blobs that the seats could look at", rescued.get().to_string()),
		("price of the bytes that the honest trainer stored", amount(price)),
		("paid back to both trainers", amount(back)),
	];
	Outcome { scene, facts }
}

/// Takes jobs to their ends, with all results accepted. Returns what their escrows paid to trainers
/// beside the price of the work: half of the price of what was stored.
fn paid_for_storing(scene: &mut Scene, submitter: &Party, jobs: &[JobId]) -> Vec<Balance> {
	let mut paid = Vec::new();
	for (job, money) in jobs.iter().zip(scene.settle(jobs, &truth)) {
		let view = scene.job(*job);
		assert!(view.replicas.iter().all(|replica| replica.fate == Fate::Accepted));
		scene.buys(submitter, money.paid_to_trainers + money.paid_to_verifiers + money.burned);
		let work = units::price(view.work, view.terms.price_per_ut).expect("it is in range");
		let insured = 100 + 15 * (u128::from(view.terms.replicas) - 1);
		paid.push(money.paid_to_trainers - work * insured / 100);
	}
	paid
}

fn bytes_of_others() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	let thief = scene.trainer(Side::Attacker);
	let seats = scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	// Both replicas have the same states, so the thief can foresee the root.
	let both = [trainer.clone(), thief.clone()];
	let two = Terms { replicas: 2, ..terms() };
	let (job, pieces) = audited(&mut scene, &submitter, &both, TRUE, &two);
	scene.call(&seats[0], request(job, &pieces)).expect("an audit reads them");
	let shown = leaves(TRUE, &scene.window(job).groups[0]);
	let (bytes, price) = scene.archive(job, &pieces);
	let blob = file(bytes, job);
	let named = |scene: &mut Scene| {
		for who in [&thief, &trainer] {
			scene.call(who, name(job, &blob, &shown)).expect("it is a trainer of the result");
		}
	};
	named(&mut scene);
	scene.bring(&thief, std::iter::once(&blob.register));
	let had = balance(&mut scene, &trainer);
	scene.bring(&trainer, blob.uploads.iter());
	named(&mut scene);
	let first = paid_for_storing(&mut scene, &submitter, &[job]);
	// By halves the two trainers have the price of the work.
	let view = scene.job(job);
	let work = units::price(view.work, view.terms.price_per_ut).expect("it is in range");
	let alone = balance(&mut scene, &trainer) - had - work * 115 / 200;
	assert_eq!(alone, first[0], "somebody else is paid for what the honest trainer stored");
	// It withholds the states of two jobs, and stores one blob for both.
	let mut jobs = Vec::new();
	for _ in 0..2 {
		let (job, pieces) =
			audited(&mut scene, &submitter, std::slice::from_ref(&thief), TRUE, &terms());
		scene.call(&seats[0], request(job, &pieces)).expect("an audit reads them");
		jobs.push(job);
	}
	let blob = file(bytes, 1_000);
	let mut names = Vec::new();
	for job in &jobs {
		names.push(name(*job, &blob, &leaves(TRUE, &scene.window(*job).groups[0])));
	}
	let before = scene.fees_of(&thief.account);
	let named = |scene: &mut Scene| {
		for call in &names {
			scene.call(&thief, call.clone()).expect("it is the trainer");
		}
	};
	named(&mut scene);
	scene.bring(&thief, std::iter::once(&blob.register).chain(&blob.uploads));
	named(&mut scene);
	let fees = scene.fees_of(&thief.account) - before;
	let twice: Vec<String> =
		paid_for_storing(&mut scene, &submitter, &jobs).into_iter().map(amount).collect();
	let facts = vec![
		("price of the bytes that were stored, each time", amount(price)),
		("paid to the honest trainer for what it stored, half of that", amount(alone)),
		("paid for one blob in two audits", twice.join(", ")),
		("fees for storing that one", amount(fees)),
	];
	Outcome { scene, facts }
}

/// What a seat does that lacks nothing.
#[derive(Clone, Copy, PartialEq)]
enum Seat {
	/// It asks that many times, and withdraws each claim.
	Withdraws(u32),
	/// It asks, waits until everything is stored, and commits.
	Waits,
	/// It asks, and does nothing more.
	Vanishes,
}

fn asks_for_nothing() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 2, BOND);
	let own = scene.verifiers(Side::Attacker, 1, BOND).remove(0);
	scene.start();
	let (mut facts, mut paid) = (Vec::new(), None);
	for (what, seat) in [
		("asking once, and withdrawing", Seat::Withdraws(1)),
		("asking twice, and withdrawing", Seat::Withdraws(2)),
		("asking, and waiting until it is stored", Seat::Waits),
		("asking, and vanishing", Seat::Vanishes),
	] {
		let (job, pieces) =
			audited(&mut scene, &submitter, std::slice::from_ref(&trainer), TRUE, &terms());
		let (bytes, price) = scene.archive(job, &pieces);
		let ask = request(job, &pieces);
		let had = balance(&mut scene, &own);
		let mut stored = 0;
		if let Seat::Withdraws(times) = seat {
			for call in [&ask, &withdraw(job)].repeat(times as usize) {
				scene.call(&own, call.clone()).expect("it may");
			}
		} else {
			scene.call(&own, ask).expect("it may");
			let audit = scene.window(job);
			let before = scene.fees_of(&trainer.account);
			let blob = file(bytes, job);
			let all = scene.store(&trainer, job, &blob, &leaves(TRUE, &audit.groups[0]));
			all.expect("it has what is asked for");
			stored = scene.fees_of(&trainer.account) - before;
			paid = Some((price, stored, blob.uploads.len()));
		}
		let voice = |ask: &Ask| match seat == Seat::Vanishes && *ask.who == own.account {
			true => silence(ask),
			false => truth(ask),
		};
		let money = scene.settle(&[job], &voice)[0];
		let view = scene.job(job);
		assert_eq!(view.replicas[0].fate, Fate::Accepted);
		let work = units::price(view.work, view.terms.price_per_ut).expect("it is in range");
		let back = money.paid_to_trainers - work;
		scene.buys(&submitter, work + money.paid_to_verifiers + money.burned);
		let has = balance(&mut scene, &own);
		let seat = match has >= had {
			true => format!("the seat earns {}", amount(has - had)),
			false => format!("the seat loses {}", amount(had - has)),
		};
		let [trainer, submitter] = [stored.saturating_sub(back), back].map(amount);
		facts.push((
			what,
			format!("the trainer loses {trainer}, the submitter {submitter}; {seat}"),
		));
	}
	let (price, fees, chunks) = paid.expect("something was stored");
	facts.push(("price of the bytes that the trainer stored", amount(price)));
	facts
		.push(("fees that it paid for storing them", format!("{}, {chunks} chunks", amount(fees))));
	Outcome { scene, facts }
}

/// What somebody has and has paid as fees.
fn balance(scene: &mut Scene, who: &Party) -> Balance {
	scene.worth(&who.account) + scene.fees_of(&who.account)
}
