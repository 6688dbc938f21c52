//! Attacks on the court, and by it: jobs that are really trained, so that it can compute them.

use crate::{
	jobs::{
		accepts, bends, honestly, powered, terms, trained, trained_terms, truth, Ask, Say, SALT,
		TRUE,
	},
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side, BOND},
	states::request,
};
use pallet_court::Ending;
use std::rc::Rc;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::{AuditPhase, Findings, GroupVerdict},
	commitment,
	job::{BlockNumber, Fate, Settlement, Terms},
	JobId, H256,
};
use trainyard_runtime::{AccountId, Balance, Runtime, Verification};
use trainyard_sandbox::bundles::Bundle;
use trainyard_traits::Audited;

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "bought-majority",
		source: "chain-market C1",
		tries: "owns half of the pool and rejects an honest result wherever it has two of three seats",
		rule: "a rejection is a dispute: the court computes, and whoever accused falsely loses its stake",
		left: None,
		run: bought_majority,
	},
	Attack {
		name: "fourteen-of-fifteen",
		source: "decision 0029",
		tries: "has 14 of 15 seats vouch for a false result, and withholds its states from the last one",
		rule: "what one seat asks for is stored or the result is lost; with it one seat convicts all",
		left: None,
		run: fourteen_of_fifteen,
	},
	Attack {
		name: "friendly-accuser",
		source: "decision 0029",
		tries: "has a friend sue its false result first, and lose on purpose",
		rule: "who loses a dispute binds itself alone, and what it loses is its finder's",
		left: None,
		run: friendly_accuser,
	},
	Attack {
		name: "accuses-itself",
		source: "decision 0029",
		tries: "has a friend convict it, to have the finder's part of its own deposit",
		rule: "a finder has a quarter, and half is burned",
		left: None,
		run: accuses_itself,
	},
	Attack {
		name: "the-last-block",
		source: "decision 0029",
		tries: "brings a false result that nobody challenges before the last block of its window",
		rule: "a commitment in the last block counts, and keeps the job from being decided",
		left: None,
		run: the_last_block,
	},
	Attack {
		name: "found-too-late",
		source: "decision 0029",
		tries: "orders a false result from itself, with a committee of its own, and is found out after the end",
		rule: "a fifth of the deposit stays locked for a week, and a late conviction takes the power too",
		left: None,
		run: found_too_late,
	},
	Attack {
		name: "locks-a-fifth",
		source: "decision 0029",
		tries: "challenges an honest result in each block of the week after the settlement, to lock the deposit",
		rule: "each challenge that is lost pays the trainer, and the week ends whatever is disputed",
		left: None,
		run: locks_a_fifth,
	},
	Attack {
		name: "a-thousand-cheap-challenges",
		source: "decision 0029",
		tries: "challenges an honest result a thousand times, and plays none of them",
		rule: "one move answers all; two are heard at a time, and each that is lost pays its trainer",
		left: None,
		run: a_thousand_challenges,
	},
	Attack {
		name: "a-crowd-of-friends",
		source: "decision 0029",
		tries: "has friends fill the docket of its false result before anybody honest comes",
		rule: "the largest deposit is heard first, and what was said once serves all disputes",
		left: None,
		run: a_crowd_of_friends,
	},
	Attack {
		name: "copied-evidence",
		source: "chain-market H4",
		tries: "replays nothing, and reveals evidence of others, of other segments, or that it guessed",
		rule: "each seat draws for itself, and of a sealed trace nobody has the root who did not replay",
		left: None,
		run: copied_evidence,
	},
];

/// Posts a job that can be trained.
fn posts(scene: &mut Scene, submitter: &Party, terms: &Terms) -> JobId {
	let spec = trained().spec().spec().clone();
	scene.post(submitter, &spec, terms).expect("it is valid")
}

/// What a submitter pays where its job is done.
fn paid(money: &Settlement) -> Balance {
	money.escrowed - money.refunded - money.slashed_to_submitter
}

/// How many disputes the court decided by computing, and how many by a clock.
fn how(endings: &[Ending]) -> String {
	let count = |what: &dyn Fn(&Ending) -> bool| endings.iter().filter(|e| what(e)).count();
	let judged = |e: &Ending| {
		matches!(e, Ending::Convicted { by_clock: false } | Ending::Acquitted { by_clock: false })
	};
	let late = |e: &Ending| {
		matches!(e, Ending::Convicted { by_clock: true } | Ending::Acquitted { by_clock: true })
	};
	format!("{} computed, {} by a clock", count(&judged), count(&late))
}

fn bought_majority() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 5, 2 * BOND);
	let own = scene.verifiers(Side::Attacker, 5, 2 * BOND);
	scene.start();
	let accounts: Vec<AccountId> = own.iter().map(|party| party.account.clone()).collect();
	let is_bought = |committee: &mut dyn Iterator<Item = &AccountId>| {
		let (mut mine, mut all) = (0, 0);
		for who in committee {
			mine += usize::from(accounts.contains(who));
			all += 1;
		}
		2 * mine > all
	};
	// It behaves wherever it has no majority.
	let voice = |ask: &Ask| {
		let mut seats = ask.audit.committee.iter().map(|seat| &seat.verifier);
		match (is_bought(&mut seats) && accounts.contains(ask.who), ask.lie) {
			(true, Some(lie)) => Some(Say::Rejects(0, lie.clone())),
			_ => truth(ask),
		}
	};
	for tried in 1..40 {
		let job = posts(&mut scene, &submitter, &trained_terms());
		scene.trains(&trainer, job, honestly);
		let audit = scene.seated(job);
		let mut seats = audit.committee.iter().map(|seat| &seat.verifier);
		let bought = is_bought(&mut seats);
		let money = scene.settle(&[job], &voice)[0];
		scene.buys(&submitter, paid(&money));
		let view = scene.job(job);
		assert_eq!(view.replicas[0].fate, Fate::Accepted, "an honest result");
		if bought {
			let rounds = view.audit.map_or(0, |audit| audit.round + 1);
			let facts = vec![
				("audits until it had two of three seats", tried.to_string()),
				("committees until enough seats gave evidence", rounds.to_string()),
				("what its seats lost, to the trainer", amount(money.won)),
				("bonds of the attacker, free after 15 days", amount(5 * 2 * BOND)),
			];
			return Outcome { scene, facts };
		}
	}
	panic!("two of three seats are had in half of the draws");
}

fn fourteen_of_fifteen() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let own = scene.verifiers(Side::Attacker, 14, 10 * BOND);
	let honest = scene.verifiers(Side::Honest, 1, 10 * BOND).remove(0);
	scene.start();
	let terms = Terms { verifiers: 15, ..trained_terms() };
	let voice = |ask: &Ask| match *ask.who == honest.account {
		true => truth(ask),
		false => accepts(ask),
	};
	let mut facts = Vec::new();
	for (what, stores) in [
		("its deposit, where it stores nothing", false),
		("its deposit, where it stores the state", true),
	] {
		let job = posts(&mut scene, &submitter, &terms);
		scene.trains(&trainer, job, bends);
		let audit = scene.seated(job);
		assert_eq!(audit.committee.len(), 15);
		let pieces = scene.read_by(job, &audit, &honest);
		scene.call(&honest, request(job, &pieces)).expect("it lacks them");
		let audit = scene.window(job);
		if stores {
			let bytes = scene.state_bytes(job);
			let files = scene.files(job, &audit, bytes, job);
			scene.store(&trainer, job, &files).expect("it is what was asked for");
			scene.stands(job, &voice);
			// Whoever vouched for it is accused as well, while the trainer is before the court.
			let delivered = scene.delivered(job, &audit.groups[0].result.bundle_root);
			let truth = scene.truths[&job].clone();
			for seat in &own {
				let both = (&*delivered, &truth);
				let accuse = scene.accuses_seat(job, &honest, &seat.account, 0, both);
				if let Some((who, call)) = accuse {
					scene.call(&who, call).expect("they all vouched for it");
				}
			}
			let endings: Vec<Ending> =
				scene.argue(job, &voice).into_iter().map(|(_, ending)| ending).collect();
			let convicted = |ending: &&Ending| matches!(ending, Ending::Convicted { .. });
			facts.push((
				"accounts convicted by one seat",
				format!("{}, {}", endings.iter().filter(convicted).count(), how(&endings)),
			));
		}
		let money = scene.settle(&[job], &voice)[0];
		let fate = scene.job(job).replicas[0].fate;
		assert_eq!(fate, if stores { Fate::Rejected } else { Fate::Unavailable });
		assert_eq!(money.refunded + money.slashed_to_submitter, money.escrowed);
		facts.push((what, amount(money.slashed)));
		if stores {
			facts.push(("of it to the seat that found it", amount(money.slashed_to_finders)));
		}
	}
	Outcome { scene, facts }
}

/// A false result whose committee is the cheat's, and somebody honest who looks at it. Returns the job,
/// whose results stand, the trainer, and what is true.
fn bought_audit(scene: &mut Scene) -> (JobId, Party, Party, Rc<Bundle>) {
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let finder = scene.honest("finder");
	scene.verifiers(Side::Attacker, 3, 2 * BOND);
	scene.start();
	let job = posts(scene, &submitter, &trained_terms());
	scene.trains(&trainer, job, bends);
	scene.stands(job, &accepts);
	let truth = scene.truths[&job].clone();
	(job, trainer, finder, truth)
}

/// Takes such a job to its end, in which its trainer is rejected.
fn convicts(scene: &mut Scene, job: JobId) -> Settlement {
	let money = scene.settle(&[job], &accepts)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Rejected);
	assert_eq!(money.refunded + money.slashed_to_submitter, money.escrowed);
	money
}

fn friendly_accuser() -> Outcome {
	let mut scene = Scene::new();
	let friend = scene.hostile("friend");
	let (job, trainer, finder, truth) = bought_audit(&mut scene);
	let deposit = scene.challenge_deposit(job);
	let id = scene.sues(&friend, &trainer, (job, 0), &truth);
	scene.call(&friend, pallet_court::Call::withdraw { id }).expect("it may give up");
	let had = worth(&mut scene, &finder);
	scene.sues(&finder, &trainer, (job, 0), &truth);
	let endings = scene.argue(job, &accepts);
	assert!(endings.iter().any(|(_, e)| *e == Ending::Convicted { by_clock: false }));
	let money = convicts(&mut scene, job);
	let earned = worth(&mut scene, &finder) - had;
	assert_eq!(earned, money.slashed_to_finders + deposit);
	let facts = vec![
		("what the friend lost", amount(deposit)),
		("what the cheat lost", amount(money.slashed)),
		("what the honest finder has of both", amount(earned)),
	];
	Outcome { scene, facts }
}

fn accuses_itself() -> Outcome {
	let mut scene = Scene::new();
	let friend = scene.hostile("friend");
	let (job, trainer, _, truth) = bought_audit(&mut scene);
	let had = worth(&mut scene, &friend);
	scene.sues(&friend, &trainer, (job, 0), &truth);
	scene.argue(job, &accepts);
	let money = convicts(&mut scene, job);
	let back = worth(&mut scene, &friend) - had;
	// What is left of the deposit when the submitter is whole.
	let rest = money.slashed - money.slashed_to_submitter;
	assert_eq!(back, rest / 4);
	assert!(money.slashed - back >= rest * 3 / 4);
	let facts = vec![
		("the deposit", amount(money.slashed)),
		("of it to the submitter, for the audit", amount(money.slashed_to_submitter)),
		("of it to the friend", amount(back)),
		("of it burned", amount(money.slashed_burned)),
	];
	Outcome { scene, facts }
}

fn the_last_block() -> Outcome {
	let mut scene = Scene::new();
	let late = scene.hostile("late");
	let (job, trainer, finder, truth) = bought_audit(&mut scene);
	let window = scene.chain.state(|| <Verification as Audited<AccountId>>::window(job));
	let until = window.expect("results stand").until;
	while scene.height() + 1 < until {
		scene.run(1);
	}
	let bound = scene.binds(&finder, &trainer, (job, 0), &truth);
	let height = scene.height();
	bound.expect("it is the last block");
	assert_eq!(height, until);
	// Nobody else is bound any more, and the job waits.
	scene.run(5);
	let hash = H256::zero();
	let refused = scene.call(&late, pallet_court::Call::commit { job, hash });
	scene.shows(&finder, &trainer, (job, 0)).expect("it is what it is bound to");
	scene.argue(job, &accepts);
	let money = convicts(&mut scene, job);
	let facts = vec![
		("blocks of the window", (until - window.map_or(0, |w| w.from) + 1).to_string()),
		("committing five blocks later", answer(refused)),
		("what the finder has", amount(money.slashed_to_finders)),
	];
	Outcome { scene, facts }
}

/// All power that a trainer was ever credited and keeps, in micro-ut.
fn power(scene: &mut Scene, trainer: &Party) -> u128 {
	let who = trainer.account.clone();
	scene.chain.state(|| pallet_hashrate::Power::<Runtime>::get(who)).training.total
}

/// The last block in which a settled job can be challenged.
fn week_of(scene: &mut Scene, job: JobId) -> BlockNumber {
	scene.job(job).late.expect("it can be challenged").until
}

fn found_too_late() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Attacker);
	let finder = scene.honest("finder");
	scene.verifiers(Side::Attacker, 3, 2 * BOND);
	scene.start();
	let spec = powered().spec().spec().clone();
	let job = scene.post(&submitter, &spec, &trained_terms()).expect("it is valid");
	scene.trains(&trainer, job, bends);
	let money = scene.settle(&[job], &accepts)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Accepted, "nobody looked");
	let (minted, locked) = (power(&mut scene, &trainer), scene.job(job).deposit / 5);
	let half = (week_of(&mut scene, job) - scene.height()) / 2;
	scene.run(half);

	let truth = scene.truths[&job].clone();
	let (cheat, had) = (worth(&mut scene, &trainer), worth(&mut scene, &finder));
	scene.sues(&finder, &trainer, (job, 0), &truth);
	let endings = scene.argue(job, &accepts);
	assert!(endings.iter().any(|(_, e)| *e == Ending::Convicted { by_clock: false }));
	let after = scene.job(job);
	assert_eq!(after.replicas[0].fate, Fate::Revoked);
	let (lost, earned) = (cheat - worth(&mut scene, &trainer), worth(&mut scene, &finder) - had);
	assert_eq!((lost, earned), (locked, locked / 4));
	assert_eq!(after.settlement.paid_to_trainers, money.paid_to_trainers);
	assert_eq!(power(&mut scene, &trainer), 0);
	// What it could do about it: nothing is locked any more, and nobody can accuse it again.
	let again = scene.call(&finder, pallet_court::Call::commit { job, hash: H256::zero() });
	let facts = vec![
		("what the cheat was paid, by itself, and keeps", amount(money.paid_to_trainers)),
		("fees burned and paid to its seats", amount(money.burned + money.paid_to_verifiers)),
		("power that it was credited, micro-ut", minted.to_string()),
		("power that is left of it, micro-ut", power(&mut scene, &trainer).to_string()),
		("the fifth of its deposit, lost", amount(lost)),
		("of it to the finder", amount(earned)),
		("of it burned", amount(after.settlement.slashed_burned)),
		("of it to the jackpot", amount(after.settlement.slashed_to_jackpot)),
		("accusing it again is", answer(again)),
	];
	Outcome { scene, facts }
}

fn locks_a_fifth() -> Outcome {
	// Nobody has two disputes about the same.
	const ACCOUNTS: usize = 8;
	const TIMES: usize = 100;
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 3, 2 * BOND);
	let own: Vec<Party> = (0..ACCOUNTS * TIMES).map(|_| scene.hostile("challenger")).collect();
	scene.silent.extend(own.iter().map(|party| party.account.clone()));
	scene.start();
	let job = posts(&mut scene, &submitter, &trained_terms());
	scene.trains(&trainer, job, honestly);
	let money = scene.settle(&[job], &truth)[0];
	scene.buys(&submitter, paid(&money));
	let (began, until) = (scene.height(), week_of(&mut scene, job));
	let (deposit, lie) = (scene.challenge_deposit(job), scene.lies[&job].clone());
	let mut count = 0;
	// Again and again, to the end.
	let mut others = own.chunks(ACCOUNTS);
	while scene.height() + 8 < until {
		let others = others.next().expect("they last for a week");
		scene.all_sue(others, &trainer, (job, 0), &lie);
		count += ACCOUNTS;
		scene.begin();
		scene.disputing(job);
		scene.end();
	}
	let locked = scene.job(job).deposit / 5;
	assert_eq!(scene.job(job).late.expect("it is disputed").trainers[0].locked, locked);
	scene.argue(job, &truth);
	while scene.height() <= until {
		scene.run(1);
	}
	scene.run(2);
	let view = scene.job(job);
	assert_eq!((view.replicas[0].fate, view.late), (Fate::Accepted, None));
	assert_eq!(view.settlement.won, deposit * count as u128);
	let facts = vec![
		("challenges", count.to_string()),
		("what is locked", amount(locked)),
		("what the honest trainer won", amount(view.settlement.won)),
		("blocks of the week", (until - began).to_string()),
		("blocks for which it was locked longer", (scene.height() - until).to_string()),
	];
	Outcome { scene, facts }
}

fn a_thousand_challenges() -> Outcome {
	const ACCOUNTS: usize = 50;
	const TIMES: usize = 20;
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 3, 2 * BOND);
	let own: Vec<Party> = (0..ACCOUNTS * TIMES).map(|_| scene.hostile("challenger")).collect();
	scene.silent.extend(own.iter().map(|party| party.account.clone()));
	scene.start();
	let job = posts(&mut scene, &submitter, &trained_terms());
	scene.trains(&trainer, job, honestly);
	scene.stands(job, &truth);
	let (began, deposit) = (scene.height(), scene.challenge_deposit(job));
	let lie = scene.lies[&job].clone();
	let fees = scene.fees_of(&trainer.account);
	for others in own.chunks(ACCOUNTS) {
		scene.all_sue(others, &trainer, (job, 0), &lie);
		scene.begin();
		scene.act(&truth);
		scene.end();
	}
	let endings: Vec<Ending> =
		scene.argue(job, &truth).into_iter().map(|(_, ending)| ending).collect();
	let blocks = scene.height() - began;
	let money = scene.settle(&[job], &truth)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Accepted);
	assert_eq!(money.won, deposit * (ACCOUNTS * TIMES) as u128);
	scene.buys(&submitter, paid(&money));
	let facts = vec![
		("challenges", (ACCOUNTS * TIMES).to_string()),
		("how the last of them ended", how(&endings)),
		("what the honest trainer won", amount(money.won)),
		("fees of its moves", amount(scene.fees_of(&trainer.account) - fees)),
		("blocks for which results stood", blocks.to_string()),
	];
	Outcome { scene, facts }
}

/// A cheat whose `friends` sue before somebody honest does, and play nothing. Returns the scene, the blocks
/// from the honest challenge to the conviction, and what the finder has of it.
fn among_friends(friends: usize) -> (Scene, u32, Balance) {
	let mut scene = Scene::new();
	let crowd: Vec<Party> = (0..friends).map(|_| scene.hostile("friend")).collect();
	scene.silent.extend(crowd.iter().map(|party| party.account.clone()));
	let (job, trainer, finder, truth) = bought_audit(&mut scene);
	if !crowd.is_empty() {
		scene.all_sue(&crowd, &trainer, (job, 0), &truth);
	}
	let (had, began) = (worth(&mut scene, &finder), scene.height());
	let id = scene.sues(&finder, &trainer, (job, 0), &truth);
	scene.call(&finder, pallet_court::Call::raise { id, more: 1 }).expect("it has that");
	let convicted = loop {
		scene.begin();
		scene.act(&accepts);
		scene.end();
		let endings = scene.endings();
		if endings.iter().any(|(_, ending)| matches!(ending, Ending::Convicted { .. })) {
			break endings;
		}
		assert!(scene.height() < began + 500, "nobody is convicted");
	};
	assert!(convicted.contains(&(id, Ending::Convicted { by_clock: false })), "{convicted:?}");
	let blocks = scene.height() - began;
	scene.argue(job, &accepts);
	convicts(&mut scene, job);
	let earned = worth(&mut scene, &finder) - had;
	(scene, blocks, earned)
}

fn a_crowd_of_friends() -> Outcome {
	const DOCKET: usize = 64;
	let (_, alone, alone_earned) = among_friends(0);
	let (scene, blocks, earned) = among_friends(DOCKET);
	// A block that changes the session has no room.
	assert!(alone.abs_diff(blocks) <= 1, "nobody is in its way: {blocks} and {alone} blocks");
	assert!(earned >= alone_earned);
	let facts = vec![
		("friends that came first", DOCKET.to_string()),
		("blocks to the conviction, by who adds one unit to the deposit", blocks.to_string()),
		("blocks where nobody came first", alone.to_string()),
		("what the honest finder has", amount(earned)),
	];
	Outcome { scene, facts }
}

/// What a seat reveals that replayed nothing.
#[derive(Clone, Copy, PartialEq)]
enum Copies {
	/// All that another seat says, its draw included.
	All,
	/// Evidence of the segments of another one, by its own draw.
	Segments,
	/// A trace that it made up.
	Guess,
}

fn copied_evidence() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	let honest = scene.verifiers(Side::Honest, 2, BOND);
	let own = scene.verifiers(Side::Attacker, 1, BOND).remove(0);
	scene.start();
	let mut facts = Vec::new();
	for (what, copies) in [
		("revealing what another seat says", Copies::All),
		("evidence of its segments, by an own draw", Copies::Segments),
		("a trace that is made up", Copies::Guess),
	] {
		let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms()).expect("it is valid");
		scene.works(&trainer, job, TRUE);
		let audit = scene.seated(job);
		let view = scene.job(job);
		let finds = |scene: &mut Scene, who: &Party| {
			scene.finds(&view, &audit, who, &accepts).expect("it has something to say")
		};
		let (theirs, shown) = finds(&mut scene, &honest[0]);
		let (mut findings, mut paths) = finds(&mut scene, &own);
		match copies {
			Copies::All => (findings, paths) = (theirs, shown),
			Copies::Segments => (findings.verdicts, paths) = (theirs.verdicts, shown),
			Copies::Guess => guess(&mut findings),
		}
		let (round, who) = (audit.round, &own.account);
		let hash = commitment::verdict(&scene.genesis, job, round, who, &findings, &SALT);
		let commit = pallet_verification::Call::commit { job, commitment: hash };
		scene.call(&own, commit).expect("nobody sees what it is");
		scene.reaches(job, &truth, |phase| matches!(phase, AuditPhase::Revealing { .. }));
		let reveal = pallet_verification::Call::reveal { job, findings, paths, salt: SALT };
		let revealed = scene.call(&own, reveal);
		assert!(revealed.is_err(), "it replayed nothing");
		let had = worth(&mut scene, &own);
		let money = scene.settle(&[job], &truth)[0];
		assert_eq!(scene.job(job).replicas[0].fate, Fate::Accepted);
		scene.buys(&submitter, paid(&money));
		let lost = had - worth(&mut scene, &own);
		facts.push((what, format!("{}, and {} are lost", answer(revealed), amount(lost))));
	}
	Outcome { scene, facts }
}

/// Makes up the traces of all evidence.
fn guess(findings: &mut Findings<AccountId>) {
	for verdict in &mut findings.verdicts {
		if let GroupVerdict::Replayed(replayed) = verdict {
			for evidence in &mut replayed.evidence {
				evidence.trace_root = H256::repeat_byte(7);
			}
		}
	}
}

/// What somebody has and has paid as fees.
fn worth(scene: &mut Scene, who: &Party) -> Balance {
	scene.worth(&who.account) + scene.fees_of(&who.account)
}
