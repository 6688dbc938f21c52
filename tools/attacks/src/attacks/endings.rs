//! Attacks on how a job ends: by divergence, without a committee, by agreement.

use crate::{
	jobs::{replicated, terms, truth, TRUE},
	report::{amount, Attack, Outcome},
	scene::{answer, Party, Scene, Side, BOND},
	states::{request, silence},
};
use trainyard_program::{spec::JobSpec, units};
use trainyard_protocol::{
	commitment,
	job::{BlockNumber, Fate, JobState, Terms},
	pieces::{Piece, Pieces},
	JobId,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, Balance, Runtime};
use trainyard_sandbox::bundles::applies;

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "built-to-diverge",
		source: "chain-market C2 (b), soundness D5 (b)",
		tries: "posts jobs that are built to diverge, and has a seat ask for the states of one",
		rule: "divergence is a result: it is paid for what was trained, and earns no power",
		left: None,
		run: built_to_diverge,
	},
	Attack {
		name: "false-divergence",
		source: "chain-market C2 (b)",
		tries: "trains nothing, and claims that training diverged in its first segments",
		rule: "the segment that is said to diverge is replayed, whatever is drawn",
		left: None,
		run: false_divergence,
	},
	Attack {
		name: "sold-word",
		source: "chain-market C2 (b)",
		tries: "posts a job that diverges, and wants money for its word that ends it before the deadline",
		rule: "divergence is a result: its trainer needs nobody's word",
		left: None,
		run: sold_word,
	},
	Attack {
		name: "kept-word",
		source: "chain-market C2 (b)",
		tries: "trains nothing, and keeps all others from an agreement until it is paid for its word",
		rule: "a job goes on without an agreement, and who commits nothing loses its deposit",
		left: None,
		run: kept_word,
	},
	Attack {
		name: "no-committee",
		source: "chain-market M8, C2 (a)",
		tries: "has the third of three verifiers leave, to have the model and pay nothing",
		rule: "an audit ends after two weeks without a committee, and pays the part that the terms name, and for its place",
		left: None,
		run: no_committee,
	},
];

/// What the whole work of a job costs.
fn price(scene: &mut Scene, job: JobId) -> Balance {
	let view = scene.job(job);
	units::price(view.work, view.terms.price_per_ut).expect("it is in range")
}

/// All power that a trainer was ever credited, in micro-ut.
fn power(scene: &mut Scene, trainer: &Party) -> u128 {
	let view = scene.chain.state(|| Runtime::trainer(trainer.account.clone()));
	view.expect("it is a trainer").training_total
}

/// Takes a job to its training, for which these applied, who do nothing of themselves.
fn in_training(scene: &mut Scene, submitter: &Party, terms: &Terms, trainers: &[Party]) -> JobId {
	let spec = JobSpec::noisy_example();
	let job = scene.post(submitter, &spec, terms).expect("it is valid");
	let digest = commitment::job(&spec, terms);
	scene.all(trainers, |trainer| applies(&trainer.account, job, digest));
	scene.until(job, &silence, |view| view.state == JobState::Training);
	job
}

fn built_to_diverge() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 2, BOND);
	let own = scene.verifiers(Side::Attacker, 1, BOND).remove(0);
	scene.start();
	let (mut paid, mut full) = (Vec::new(), 0);
	for segments in [0, 11, 29] {
		let spec = JobSpec::noisy_example();
		let job = scene.post(&submitter, &spec, &terms()).expect("it is valid");
		scene.diverges(&trainer, job, TRUE, segments);
		if segments == 29 {
			asks_for_states(&mut scene, job, &trainer, &own);
		}
		let money = scene.settle(&[job], &truth)[0];
		assert_eq!(scene.job(job).replicas[0].fate, Fate::Diverged);
		assert_eq!(money.slashed, 0);
		assert!(money.burned > 0, "the place of what bought no power");
		paid.push(format!(
			"{} for {} of 30 segments",
			amount(money.paid_to_trainers),
			segments + 1
		));
		full = price(&mut scene, job);
	}
	let facts = vec![
		("paid to the trainer, at last with its part of what it stored", paid.join(", ")),
		("price of the whole work", amount(full)),
		("power that was credited", format!("{} micro-ut", power(&mut scene, &trainer))),
	];
	Outcome { scene, facts }
}

/// A seat could have had the states of a result that diverged, and says that nobody gave them to it.
fn asks_for_states(scene: &mut Scene, job: JobId, trainer: &Party, seat: &Party) {
	let audit = scene.seated(job);
	let read = scene.read_by(job, &audit, seat).into_iter();
	let states: Vec<Piece> = read.filter(|piece| matches!(piece, Piece::State(_))).collect();
	let states: Pieces = states.try_into().expect("there are few");
	scene.call(seat, request(job, &states)).expect("an audit reads them");
	let audit = scene.window(job);
	let bytes = scene.state_bytes(job);
	let files = scene.files(job, &audit, bytes, job);
	scene.store(trainer, job, &files).expect("it has what is asked for");
}

fn false_divergence() -> Outcome {
	const FALSE: u8 = 2;
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let (mut lost, mut gains) = (Vec::new(), Vec::new());
	for segments in [0, 11] {
		let spec = JobSpec::noisy_example();
		let job = scene.post(&submitter, &spec, &terms()).expect("it is valid");
		scene.diverges(&trainer, job, FALSE, segments);
		let money = scene.settle(&[job], &truth)[0];
		assert_eq!(scene.job(job).replicas[0].fate, Fate::Rejected);
		lost.push(amount(money.slashed));
		gains.push(amount(price(&mut scene, job) * u128::from(segments + 1) / 30));
	}
	let facts = vec![
		("about what it claimed, for 1 and for 12 of 30 segments", gains.join(", ")),
		("the deposits that were lost", lost.join(", ")),
	];
	Outcome { scene, facts }
}

fn sold_word() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let job = in_training(&mut scene, &submitter, &terms(), std::slice::from_ref(&trainer));
	let deposit = scene.job(job).deposit;
	// For money on the side the trainer could take this, and keep its deposit.
	let nothing = pallet_task_market::Call::agree { job, pay: Some(0) };
	let offered = answer(scene.call(&submitter, nothing));
	scene.diverges(&trainer, job, TRUE, 29);
	let money = scene.settle(&[job], &truth)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Diverged);
	let facts = vec![
		("offering 0 TRY to the trainer is", offered),
		("the deposit that its word was to free", amount(deposit)),
		("paid to the trainer without it", amount(money.paid_to_trainers)),
	];
	Outcome { scene, facts }
}

fn kept_word() -> Outcome {
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Honest);
	let other = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Honest, 3, BOND);
	scene.start();
	let terms = replicated(2);
	let both = [trainer.clone(), other.clone()];
	let job = in_training(&mut scene, &submitter, &terms, &both);
	// The submitter does not need it any more, and the trainer has done a tenth.
	let tenth = price(&mut scene, job) / 10;
	let agree = |pay| pallet_task_market::Call::agree { job, pay: Some(pay) };
	for who in [&submitter, &trainer] {
		scene.call(who, agree(tenth)).expect("it is no more than the price");
	}
	scene.call(&other, agree(5 * tenth)).expect("it is no more than the price");
	assert_eq!(scene.job(job).state, JobState::Training, "not all have agreed");
	scene.works(&trainer, job, TRUE);
	let money = scene.settle(&[job], &truth)[0];
	let fates: Vec<Fate> = scene.job(job).replicas.iter().map(|replica| replica.fate).collect();
	assert!(fates.contains(&Fate::Accepted) && fates.contains(&Fate::NotCommitted));
	scene.buys(&submitter, money.escrowed - money.refunded);
	let facts = vec![
		("all others agreed on", amount(tenth)),
		("it wanted", amount(5 * tenth)),
		("it lost its deposit", amount(money.slashed)),
		("paid to the trainer who went on", amount(money.paid_to_trainers)),
	];
	Outcome { scene, facts }
}

fn no_committee() -> Outcome {
	const TWO_WEEKS: BlockNumber = 14 * trainyard_runtime::configs::market::DAYS;
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 2, BOND);
	let own = scene.verifiers(Side::Attacker, 1, BOND).remove(0);
	scene.start();
	let job = scene.post(&submitter, &JobSpec::noisy_example(), &terms()).expect("it is valid");
	scene.works(&trainer, job, TRUE);
	scene.until(job, &silence, |view| view.state == JobState::Revealing);
	scene.call(&own, pallet_verification::Call::deregister {}).expect("it may leave");
	scene.until(job, &silence, |view| view.state == JobState::Auditing);
	scene.chain.leap(TWO_WEEKS);
	let money = scene.settle(&[job], &silence)[0];
	assert_eq!(scene.job(job).replicas[0].fate, Fate::Undecided);
	let whole = price(&mut scene, job);
	let blobs = scene.held(&trainer.account) - BOND;
	let percent = 100.0 * money.paid_to_trainers as f64 / whole as f64;
	let facts = vec![
		(
			"paid to the trainer",
			format!("{}, {percent:.0} % of the price", amount(money.paid_to_trainers)),
		),
		("on hold of it, beside its bond and for its model", amount(blobs)),
		("on hold of the submitter, for the record", amount(scene.held(&submitter.account))),
		("power that was credited", format!("{} micro-ut", power(&mut scene, &trainer))),
	];
	Outcome { scene, facts }
}
