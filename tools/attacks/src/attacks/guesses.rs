//! Attacks of seats that guess, and of trainers that play with forced errors.

use crate::{
	jobs::{honestly, trained, trained_terms, truth, Ask, Say},
	report::{amount, Attack, Outcome},
	scene::{Party, Scene, Side, BOND},
};
use frame_support::traits::Get;
use pallet_verification::{Event, Fault};
use trainyard_program::units;
use trainyard_protocol::{
	audit::AuditPhase,
	job::{BlockNumber, Fate, JobState, Settlement},
	views::JobView,
	JobId,
};
use trainyard_runtime::{configs, AccountId, Balance, Runtime, RuntimeEvent, System};

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "copies-the-traces",
		source: "soundness S5",
		tries: "is given all traces by the trainer, and says that they are right without a replay",
		rule: "who says that a forced leaf is right loses its stake, and who finds one has a prize",
		left: None,
		run: copies_the_traces,
	},
	Attack {
		name: "differs-everywhere",
		source: "soundness S5",
		tries: "says of every leaf that its trace differs, for the prize",
		rule: "a difference counts with the true trace alone; any other one costs the stake, unless the \
		       trainer is convicted",
		left: None,
		run: differs_everywhere,
	},
	Attack {
		name: "never-opens",
		source: "soundness S5",
		tries: "forces leaves to be false and opens none, so that seats that found them have no prize",
		rule: "who does not open loses its deposit, and nobody loses a stake for what was not opened",
		left: None,
		run: never_opens,
	},
	Attack {
		name: "away-while-opening",
		source: "a hostile reading",
		tries: "is submitter and a seat, and shuts an honest trainer's line for three hours when all have \
		        revealed, to have the model for nothing",
		rule: "trainers have as long to open what they forced as machines may be away, four hours",
		left: None,
		run: away_while_opening,
	},
	Attack {
		name: "plays-forced-errors",
		source: "soundness S5",
		tries: "is submitter, trainer and all seats of a job, and finds its own forced errors",
		rule: "the prize is a tenth of the fees that the submitter paid",
		left: None,
		run: plays_forced_errors,
	},
];

/// A job of one segment, which is forced, up to its end. Of its seats those of the attacker speak by `voice`.
fn one_job(
	scene: &mut Scene,
	submitter: &Party,
	trainer: &Party,
	opens: bool,
	voice: fn(&Ask) -> Option<Say>,
) -> (JobId, Settlement, Vec<(AccountId, Balance)>) {
	let spec = trained().spec().spec().clone();
	let job = scene.post(submitter, &spec, &trained_terms()).expect("it is valid");
	scene.trains(trainer, job, honestly);
	for work in scene.works.iter_mut().filter(|work| work.job == job) {
		work.opens = opens;
	}
	let hostile: Vec<AccountId> = scene
		.parties
		.iter()
		.filter(|party| party.side == Side::Attacker)
		.map(|party| party.account.clone())
		.collect();
	let speaks = |ask: &Ask| match hostile.contains(ask.who) {
		true => voice(ask),
		false => truth(ask),
	};
	let mut guessed = Vec::new();
	for _ in 0..2_000 {
		let view = scene.job(job);
		if matches!(view.state, JobState::Ended(_)) {
			return (job, view.settlement, guessed);
		}
		scene.begin();
		scene.act(&speaks);
		scene.end();
		let events = scene.chain.state(System::events).into_iter();
		guessed.extend(events.filter_map(|record| match record.event {
			RuntimeEvent::Verification(Event::Slashed {
				verifier,
				amount,
				fault: Fault::Guessed,
				..
			}) => Some((verifier, amount)),
			_ => None,
		}));
		assert!(view.audit.is_none_or(|audit| audit.phase != AuditPhase::Done));
	}
	panic!("nothing comes of the job in 2,000 blocks")
}

/// A seat of the attacker among honest ones, of a job whose trainer is honest.
fn one_guesser(voice: fn(&Ask) -> Option<Say>) -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	let honest = scene.verifiers(Side::Honest, 2, 20 * BOND);
	let guesser = scene.verifiers(Side::Attacker, 1, 20 * BOND).remove(0);
	scene.start();
	let (job, money, guessed) = one_job(&mut scene, &submitter, &trainer, true, voice);
	scene.buys(&submitter, money.escrowed - money.refunded);
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Accepted);
	let [(who, stake)] = &guessed[..] else { panic!("one seat guesses: {guessed:?}") };
	assert_eq!(*who, guesser.account);
	let lost = scene.began(who) - scene.worth(who) - scene.fees_of(who);
	assert_eq!(lost, *stake, "it has no fee");
	// Two seats replayed: all fees are theirs, and the prize with them.
	assert_eq!((money.prizes_to_jackpot, honest.len()), (0, 2));
	let facts = vec![
		("the stake that it lost", amount(*stake)),
		("of it burned", amount(stake / 2)),
		("what the two others share", amount(money.paid_to_verifiers)),
		("of it the prize for the forced error", amount(money.paid_to_verifiers / 10)),
	];
	Outcome { scene, facts }
}

fn copies_the_traces() -> Outcome {
	one_guesser(|_| Some(Say::Copies))
}

fn differs_everywhere() -> Outcome {
	one_guesser(|_| Some(Say::Differs))
}

fn never_opens() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let honest = scene.verifiers(Side::Honest, 3, 20 * BOND);
	scene.start();
	let (job, money, guessed) = one_job(&mut scene, &submitter, &trainer, false, truth);
	let view = scene.job(job);
	assert_eq!((view.replicas[0].fate, guessed.len()), (Fate::NotRevealed, 0));
	assert_eq!(money.slashed, view.deposit);
	assert_eq!(money.refunded + money.slashed_to_submitter, money.escrowed, "it is made whole");
	for seat in &honest {
		let has = scene.worth(&seat.account) + scene.fees_of(&seat.account);
		assert!(has > scene.began(&seat.account), "it has a fee");
	}
	let most = scene.chain.state(configs::periods::OpeningBlocks::get);
	let facts = vec![
		("blocks for which all waited for it", most.to_string()),
		("the deposit that was lost", amount(money.slashed)),
		("what the seats earned all the same", amount(money.paid_to_verifiers)),
		("the prize that nobody has", amount(money.prizes_to_jackpot)),
	];
	Outcome { scene, facts }
}

fn away_while_opening() -> Outcome {
	// Four hours, as on a public network, of which the trainer is away for three.
	const PATIENCE: BlockNumber = 2_400;
	const AWAY: BlockNumber = 1_800;
	let mut scene = Scene::new();
	scene.chain.state(|| pallet_task_market::FirstPatience::<Runtime>::put(PATIENCE));
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 2, 20 * BOND);
	scene.verifiers(Side::Attacker, 1, 20 * BOND);
	scene.start();
	let spec = trained().spec().spec().clone();
	let job = scene.post(&submitter, &spec, &trained_terms()).expect("it is valid");
	scene.trains(&trainer, job, honestly);
	let phase = |view: &JobView<AccountId>| view.audit.as_ref().map(|audit| audit.phase);
	let opens = |scene: &mut Scene, opens: bool| {
		scene.works.iter_mut().for_each(|work| work.opens = opens);
	};
	opens(&mut scene, false);
	let view =
		scene.until(job, &truth, |view| matches!(phase(view), Some(AuditPhase::Opening { .. })));
	let Some(AuditPhase::Opening { until }) = phase(&view) else { panic!("it was just reached") };
	let left = until - scene.height();
	scene.chain.leap(AWAY - 20);
	scene.run(20);
	opens(&mut scene, true);
	let standing =
		|view: &JobView<AccountId>| matches!(phase(view), Some(AuditPhase::Standing { .. }));
	let since = scene.height();
	scene.until(job, &truth, standing);
	let waited = scene.height() - since;
	// Nobody challenges it.
	scene.chain.leap(PATIENCE - 100);
	let money = scene.settle(&[job], &truth)[0];
	let view = scene.job(job);
	assert_eq!((view.replicas[0].fate, money.slashed), (Fate::Accepted, 0));
	let price = units::price(view.work, view.terms.price_per_ut).expect("it was posted");
	scene.earns(&trainer, price);
	assert_eq!(money.paid_to_trainers, price);
	let facts = vec![
		("blocks in which it could have opened", left.to_string()),
		("blocks for which it was away", AWAY.to_string()),
		("blocks until results stood when it was back", waited.to_string()),
		("what it was paid", amount(price)),
		("the deposit that it did not lose", amount(view.deposit)),
	];
	Outcome { scene, facts }
}

fn plays_forced_errors() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Attacker, 3, 20 * BOND);
	scene.start();
	let (_, money, guessed) = one_job(&mut scene, &submitter, &trainer, true, truth);
	assert!(guessed.is_empty());
	let parties = scene.parties.clone();
	let lost: Balance = parties.iter().fold(0, |sum, party| {
		let who = &party.account;
		sum + scene.began(who) - scene.worth(who) - scene.fees_of(who)
	});
	assert_eq!(lost, money.burned, "all else is among its own accounts");
	let facts = vec![
		("what it paid to its own seats", amount(money.paid_to_verifiers)),
		("of it the prize", amount(money.paid_to_verifiers / 10)),
		("burned", amount(lost)),
	];
	Outcome { scene, facts }
}
