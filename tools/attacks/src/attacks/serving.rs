//! Attacks by who serves states, and by who asks for them.

use crate::{
	jobs::{accepts, replicated, terms, truth, Ask, Say, TRUE},
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side, BOND},
	states::{read_by, request, silence, withdraw, Files},
};
use std::{cell::Cell, collections::BTreeMap};
use trainyard_program::{spec::JobSpec, units};
use trainyard_protocol::{
	job::{Fate, Terms},
	pieces::Piece,
	views::AuditView,
	JobId,
};
use trainyard_runtime::{AccountId, Balance};
use trainyard_sandbox::bundles::Bundle;

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
		name: "garbage-archive",
		source: "chain-market M3",
		tries: "stores garbage where the seats ask for the states of a false result",
		rule: "what an answer brings leads to the revealed root; of a state the court opens the file",
		left: None,
		run: garbage_archive,
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
	Attack {
		name: "asks-for-everything",
		source: "decision 0029",
		tries: "has no seat, and asks for all states of a true result while it stands",
		rule: "who asks prepays all bytes and loses half of their price; each piece is stored once",
		left: None,
		run: asks_for_everything,
	},
];

/// Posts a job and takes it to its committee. Returns it with that.
fn audited(
	scene: &mut Scene,
	submitter: &Party,
	trainers: &[Party],
	byte: u8,
	terms: &Terms,
) -> (JobId, AuditView<AccountId>) {
	let job = scene.post(submitter, &JobSpec::noisy_example(), terms).expect("it is valid");
	for trainer in trainers {
		scene.works(trainer, job, byte);
	}
	(job, scene.seated(job))
}

const FALSE: u8 = 2;

/// A false result that a trainer gives to its own seats alone, five of twenty verifiers: the others ask for
/// what they lack.
struct Withheld {
	job: JobId,
	trainer: Party,
	/// The committee when trainers have to store what is asked for.
	audit: AuditView<AccountId>,
	/// How many seats are the trainer's.
	own: usize,
	/// Bytes of a state.
	bytes: usize,
}

fn withhold(scene: &mut Scene, submitter: &Party, trainer: &Party) -> Withheld {
	let terms = Terms { verifiers: 15, ..terms() };
	let (job, audit) = audited(scene, submitter, std::slice::from_ref(trainer), FALSE, &terms);
	let (own, others): (Vec<Party>, Vec<Party>) =
		scene.seats(&audit).into_iter().partition(|party| party.side == Side::Attacker);
	let asks = others.iter().map(|who| request(job, &scene.read_by(job, &audit, who)));
	let asks: Vec<_> = asks.collect();
	scene.all(&others, |who| {
		let at = others.iter().position(|other| other.account == who.account);
		asks[at.expect("it is one of them")].clone()
	});
	let audit = scene.window(job);
	let bytes = scene.state_bytes(job);
	Withheld { job, trainer: trainer.clone(), audit, own: own.len(), bytes }
}

/// The submitter, the trainer, and the verifiers of such an attack.
fn withholder(scene: &mut Scene) -> (Party, Party) {
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Honest, 15, BOND);
	scene.verifiers(Side::Attacker, 5, BOND);
	scene.start();
	(submitter, trainer)
}

/// Seats of the trainer vouch for its result; what others do who lacked it, where it was stored or not.
fn after(scene: &Scene, stored: bool) -> impl Fn(&Ask) -> Option<Say> {
	let own = scene.parties.iter().filter(|party| party.side == Side::Attacker);
	let own: Vec<AccountId> = own.map(|party| party.account.clone()).collect();
	move |ask| match own.contains(ask.who) {
		true => accepts(ask),
		false if stored => truth(ask),
		false => Some(Say::Unavailable),
	}
}

fn withheld_states() -> Outcome {
	let mut scene = Scene::new();
	let (submitter, trainer) = withholder(&mut scene);
	let (mut seated, mut lost) = (Vec::new(), Vec::new());
	for stores in [false, true] {
		let Withheld { job, trainer, audit, own, bytes } =
			withhold(&mut scene, &submitter, &trainer);
		if stores {
			let files = scene.files(job, &audit, bytes, job);
			scene.store(&trainer, job, &files).expect("it is what was asked for");
		}
		let voice = after(&scene, stores);
		let money = scene.settle(&[job], &voice)[0];
		let view = scene.job(job);
		let after = view.audit.expect("it is on record");
		let same =
			after.committee.iter().zip(&audit.committee).all(|(a, b)| a.verifier == b.verifier);
		assert!(same && after.round == 0, "another committee");
		let fate = if stores { Fate::Rejected } else { Fate::Unavailable };
		assert_eq!(view.replicas[0].fate, fate);
		seated.push(format!("{own} of {}", after.committee.len()));
		lost.push(amount(money.slashed));
	}
	let facts = vec![
		("its seats, in one round of each audit", seated.join(", ")),
		("deposits that were lost: storing nothing, the false states", lost.join(", ")),
	];
	Outcome { scene, facts }
}

fn garbage_archive() -> Outcome {
	let mut scene = Scene::new();
	let (submitter, trainer) = withholder(&mut scene);
	let Withheld { job, trainer, audit, bytes, .. } = withhold(&mut scene, &submitter, &trainer);
	let asked = &audit.groups[0].asked;
	// Of states and leaves that it did not reveal; files that are too large; and something else.
	let spec = JobSpec::noisy_example().check().expect("it is valid");
	let others = Bundle::made_up(&spec, TRUE, spec.segments(), false);
	let mut refused = Vec::new();
	for piece in [Piece::Leaves, asked[1]] {
		let files = scene.files_of(&others, &[piece], bytes, job);
		refused.push(answer(scene.store(&trainer, job, &files)));
	}
	let delivered = scene.delivered(job, &audit.groups[0].result.bundle_root);
	let large = scene.files_of(&delivered, &asked[1..2], bytes + 1, job);
	refused.push(answer(scene.store(&trainer, job, &large)));
	let garbage = scene.files(job, &audit, 10, job);
	scene.store(&trainer, job, &garbage).expect("the chain does not see what the files hold");
	let Piece::State(state) = asked[1] else { panic!("states follow leaves") };
	let own = after(&scene, false);
	let voice = |ask: &Ask| {
		own(ask).map(|say| match say {
			Say::Unavailable => Say::Garbage(state),
			other => other,
		})
	};
	let money = scene.settle(&[job], &voice)[0];
	let view = scene.job(job);
	assert_eq!(view.replicas[0].fate, Fate::Rejected);
	assert!(money.slashed > 0 && money.paid_to_trainers == 0);
	let rounds = view.audit.map_or(0, |audit| audit.round + 1);
	let facts = vec![
		("leaves and a state of something else, and a file that is too large", refused.join(", ")),
		("committees", rounds.to_string()),
		("paid to the trainer", amount(money.paid_to_trainers)),
		("deposit that was lost", amount(money.slashed)),
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
	let terms = replicated(2);
	let both = [trainer.clone(), sybil.clone()];
	let (job, audit) = audited(&mut scene, &submitter, &both, TRUE, &terms);
	let pieces = scene.read_by(job, &audit, &seats[0]);
	// It cannot reach the honest trainer, and the other one gives it nothing.
	scene.call(&seats[0], request(job, &pieces)).expect("an audit reads them");
	let audit = scene.window(job);
	let (bytes, price) = (scene.state_bytes(job), scene.price_of(job, &pieces));
	let garbage = scene.files_by(&sybil, job, &audit, (9, 1));
	let real = scene.files_by(&trainer, job, &audit, (bytes, 2));
	scene.store(&sybil, job, &garbage).expect("it is a trainer of the result");
	scene.store(&trainer, job, &real).expect("it is a trainer of the result");
	let rescued = Cell::new(0);
	let voice = |ask: &Ask| {
		rescued.set(ask.group.rescued.len());
		let is_there = |root| ask.group.rescued.iter().any(|of| of.blob == root);
		match real.blobs.iter().all(|blob| is_there(blob.root)) {
			true => truth(ask),
			false => Some(Say::Unavailable),
		}
	};
	let money = scene.settle(&[job], &voice)[0];
	let view = scene.job(job);
	assert!(view.replicas.iter().all(|replica| replica.fate == Fate::Accepted));
	// What was stored is a part of the audit that it gets.
	scene.buys(&submitter, money.escrowed - money.refunded);
	let facts = vec![
		("blobs that the seats could look at", rescued.get().to_string()),
		("price of the bytes that the honest trainer stored", amount(price)),
		("paid to both trainers for their work", amount(money.paid_to_trainers)),
	];
	Outcome { scene, facts }
}

/// Takes a job to its end, with all results accepted. Returns what each replica was paid for its work.
fn paid_for_work(scene: &mut Scene, submitter: &Party, job: JobId) -> Balance {
	let money = scene.settle(&[job], &truth)[0];
	let view = scene.job(job);
	assert!(view.replicas.iter().all(|replica| replica.fate == Fate::Accepted));
	scene.buys(submitter, money.escrowed - money.refunded);
	money.paid_to_trainers / u128::from(view.terms.replicas)
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
	let two = replicated(2);
	let (job, audit) = audited(&mut scene, &submitter, &both, TRUE, &two);
	let pieces = scene.read_by(job, &audit, &seats[0]);
	scene.call(&seats[0], request(job, &pieces)).expect("an audit reads them");
	let audit = scene.window(job);
	let (bytes, price) = (scene.state_bytes(job), scene.price_of(job, &pieces));
	let [theirs, files] =
		[&thief, &trainer].map(|who| scene.files_by(who, job, &audit, (bytes, job)));
	let named = |scene: &mut Scene| {
		for (who, files) in [(&thief, &theirs), (&trainer, &files)] {
			scene.call(who, files.name(job)).expect("it is a trainer of the result");
		}
	};
	let had = balance(&mut scene, &trainer);
	// The honest one is first with the leaves, which come with the first answer.
	scene.call(&trainer, files.name(job)).expect("it is a trainer of the result");
	named(&mut scene);
	scene.bring(&thief, files.blobs.iter().map(|blob| &blob.register));
	scene.bring(&trainer, files.blobs.iter().flat_map(|blob| blob.uploads.iter()));
	named(&mut scene);
	let work = paid_for_work(&mut scene, &submitter, job);
	// Half of the price of the bytes, by the seat that asked.
	let alone = balance(&mut scene, &trainer) - had - work;
	assert_eq!(alone, price / 2, "somebody else is paid for what the honest trainer stored");
	// It withholds the states of two jobs, and stores one blob for both.
	let mut jobs = Vec::new();
	for _ in 0..2 {
		let (job, audit) =
			audited(&mut scene, &submitter, std::slice::from_ref(&thief), TRUE, &terms());
		let pieces = scene.read_by(job, &audit, &seats[0]);
		scene.call(&seats[0], request(job, &pieces)).expect("an audit reads them");
		jobs.push(job);
	}
	let mut names = Vec::new();
	let mut blobs: Vec<Files> = Vec::new();
	for job in &jobs {
		let audit = scene.window(*job);
		let files = scene.files(*job, &audit, bytes, 1_000);
		names.push(files.name(*job));
		blobs.push(files);
	}
	let (before, had) = (scene.fees_of(&thief.account), balance(&mut scene, &thief));
	let named = |scene: &mut Scene| {
		for call in &names {
			scene.call(&thief, call.clone()).expect("it is the trainer");
		}
	};
	named(&mut scene);
	let all = blobs.iter().flat_map(|files| &files.blobs);
	let all: BTreeMap<_, _> = all.map(|blob| (blob.root, blob.clone())).collect();
	let calls = all.values().flat_map(|blob| std::iter::once(&blob.register).chain(&blob.uploads));
	scene.bring(&thief, calls);
	named(&mut scene);
	let fees = scene.fees_of(&thief.account) - before;
	let work: Balance = jobs.iter().map(|job| paid_for_work(&mut scene, &submitter, *job)).sum();
	let twice = balance(&mut scene, &thief) - had - work;
	let facts = vec![
		("price of the bytes that were stored, each time", amount(price)),
		("paid to the honest trainer for what it stored, half of that", amount(alone)),
		("paid for the same files in two audits", amount(twice)),
		("fees for storing them", amount(fees)),
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
		let (job, audit) =
			audited(&mut scene, &submitter, std::slice::from_ref(&trainer), TRUE, &terms());
		let pieces = scene.read_by(job, &audit, &own);
		let (bytes, price) = (scene.state_bytes(job), scene.price_of(job, &pieces));
		let ask = request(job, &pieces);
		let (had, owned) = (balance(&mut scene, &own), balance(&mut scene, &trainer));
		let mut stored = 0;
		if let Seat::Withdraws(times) = seat {
			for call in [&ask, &withdraw(job)].repeat(times as usize) {
				scene.call(&own, call.clone()).expect("it may");
			}
		} else {
			scene.call(&own, ask).expect("it may");
			let audit = scene.window(job);
			let before = scene.fees_of(&trainer.account);
			let files = scene.files(job, &audit, bytes, job);
			scene.store(&trainer, job, &files).expect("it has what is asked for");
			stored = scene.fees_of(&trainer.account) - before;
			paid = Some((price, stored, files.chunks()));
		}
		let voice = |ask: &Ask| match seat == Seat::Vanishes && *ask.who == own.account {
			true => silence(ask),
			false => truth(ask),
		};
		let money = scene.settle(&[job], &voice)[0];
		let view = scene.job(job);
		assert_eq!(view.replicas[0].fate, Fate::Accepted);
		let work = units::price(view.work, view.terms.price_per_ut).expect("it is in range");
		// Half of the price, by the seat, which has that back from the submitter if its draws read it.
		let half = balance(&mut scene, &trainer) - owned - work;
		let served = if seat == Seat::Vanishes { 2 } else { 3 };
		let fees = view.terms.audit_fee * served;
		let back = money.paid_to_verifiers + money.prizes_to_jackpot - fees;
		scene.buys(&submitter, work + fees + money.burned);
		let has = balance(&mut scene, &own);
		let seat = match has >= had {
			true => format!("the seat earns {}", amount(has - had)),
			false => format!("the seat loses {}", amount(had - has)),
		};
		let [trainer, submitter] = [stored.saturating_sub(half), back].map(amount);
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

fn asks_for_everything() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	let stranger = scene.hostile("stranger");
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms()).expect("it is valid");
	scene.works(&trainer, job, TRUE);
	let audit = scene.stands(job, &truth);
	let all: Vec<u32> = (0..audit.groups[0].result.segments).collect();
	let pieces = read_by(&all, &audit.groups[0].result);
	// For more than sixteen pieces it pledges a part of the deposit of a challenge for each.
	let beyond = pieces.len() as Balance - 16;
	let pledge = scene.challenge_deposit(job) * beyond * (beyond + 1) / 32;
	let call = pallet_verification::Call::request { job, group: 0, pieces: pieces.clone(), pledge };
	scene.call(&stranger, call).expect("anybody may");
	let audit = scene.window(job);
	let (bytes, price) = (scene.state_bytes(job), scene.price_of(job, &pieces));
	let (had, before) = (balance(&mut scene, &trainer), scene.fees_of(&trainer.account));
	let files = scene.files(job, &audit, bytes, job);
	scene.store(&trainer, job, &files).expect("it has what is asked for");
	let fees = scene.fees_of(&trainer.account) - before;
	let work = paid_for_work(&mut scene, &submitter, job);
	let half = balance(&mut scene, &trainer) - had - work;
	let facts = vec![
		("price of the bytes that the trainer stored", amount(price)),
		("of it by the stranger", amount(half)),
		(
			"fees of the trainer for storing them",
			format!("{}, {} chunks", amount(fees), files.chunks()),
		),
		("pay of the trainer", amount(work)),
	];
	Outcome { scene, facts }
}
