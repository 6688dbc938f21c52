//! Attacks on jobs that pay by lottery.

use crate::{
	jobs::{segmented, terms, trained_terms, truth, with_fee, Ask, Say, TRUE},
	report::{amount, Attack, Outcome},
	scene::{Party, Scene, Side, BOND},
};
use trainyard_court::testing::run::{Job, Run};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	job::{Fate, JobState, Settlement, Terms},
	lottery::{share, Prospect, Strata},
	JobId,
};
use trainyard_runtime::{
	api::runtime_decl_for_trainyard_api::TrainyardApi, AccountId, Balance, Runtime,
};
use trainyard_sandbox::bundles::bent;

/// The attacks of this file.
pub const ALL: &[Attack] = &[
	Attack {
		name: "washes-by-lottery",
		source: "the design of lotteries",
		tries: "is submitter and trainer of 50 jobs that pay by lottery, for more power than it burns fees for",
		rule: "power is credited for tickets that won and were proven alone, and the fee is burned for as much",
		left: None,
		run: washes_by_lottery,
	},
	Attack {
		name: "fakes-beside-tickets",
		source: "the design of lotteries",
		tries: "makes one of three segments false in each of six jobs by lottery, and hopes that no ticket falls on it",
		rule: "a false ticket loses three times all that tickets can bring, and one that is true pays the expected pay",
		left: None,
		run: fakes_beside_tickets,
	},
	Attack {
		name: "silences-a-ticket",
		source: "the design of lotteries",
		tries: "is submitter and one of three seats of ten jobs by lottery, which says nothing whatever it drew, to save \
		        tickets",
		rule: "what is paid follows from the number of segments and the luck of the trainer, not from who speaks",
		left: None,
		run: silences_a_ticket,
	},
];

/// Jobs that are played at a time.
const TOGETHER: usize = 10;

/// These terms, of which one of so many segments wins.
fn by_lottery(terms: Terms, spec: &JobSpec, one_in: u32) -> Terms {
	let checked = spec.clone().check().expect("it is valid");
	with_fee(&checked, Terms { lottery: Some(one_in), ..terms })
}

/// So many jobs of the example, one of 20 of whose 30 segments wins: 20 of them are paid or 40, with the same chance.
fn thirties(
	scene: &mut Scene,
	submitter: &Party,
	trainer: &Party,
	count: usize,
	voice: &dyn Fn(&Ask) -> Option<Say>,
) -> Vec<(JobId, Settlement)> {
	let spec = JobSpec::noisy_example();
	// Each is posted in a block of its own before anybody applies.
	let terms = by_lottery(Terms { apply_blocks: 30, ..terms() }, &spec, 20);
	let mut all = Vec::new();
	while all.len() < count {
		let post = |_| {
			let job = scene.post(submitter, &spec, &terms).expect("it is valid");
			scene.works(trainer, job, TRUE);
			job
		};
		let jobs: Vec<JobId> = (0..TOGETHER.min(count - all.len())).map(post).collect();
		let money = scene.settle(&jobs, voice);
		all.extend(jobs.into_iter().zip(money));
	}
	all
}

/// The price of one of these jobs, done once.
fn price_of(scene: &mut Scene, job: JobId) -> Balance {
	let job = scene.chain.state(|| pallet_task_market::Jobs::<Runtime>::get(job));
	job.expect("it is on record").quote.price
}

/// The power that an account was ever credited.
fn power(scene: &mut Scene, who: &AccountId) -> u128 {
	let view = scene.chain.state(|| Runtime::trainer(who.clone()));
	view.expect("it is registered").training_total
}

fn washes_by_lottery() -> Outcome {
	const JOBS: usize = 50;
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Honest, 3, 100 * BOND);
	scene.start();
	let all = thirties(&mut scene, &submitter, &trainer, JOBS, &truth);
	let price = price_of(&mut scene, all[0].0);
	let shown = Prospect::of(price, 30, 20);
	let (mut paid, mut burned, mut wins) = (0, 0, 0u32);
	for (job, money) in &all {
		assert_eq!(scene.job(*job).replicas[0].fate, Fate::Accepted);
		assert!([shown.least, shown.most].contains(&money.paid_to_trainers), "{money:?}");
		wins += u32::from(money.paid_to_trainers == shown.most);
		paid += money.paid_to_trainers;
		burned += money.burned;
	}
	// Half of 50, with a deviation of 3.5: five of them.
	assert!((8..=42).contains(&wins), "{wins}");
	let quotes = |of: fn(&pallet_task_market::Quote) -> u128| {
		let quote = |job: &JobId| {
			let job = pallet_task_market::Jobs::<Runtime>::get(job).expect("it is on record");
			of(&job.quote)
		};
		all.iter().map(|(job, _)| quote(job)).sum::<u128>()
	};
	let (escrow, fees, training) = scene.chain.state(|| {
		(
			quotes(|quote| quote.price),
			quotes(|quote| quote.fee),
			quotes(|quote| quote.training.into()),
		)
	});
	let credited = power(&mut scene, &trainer.account);
	// Power and fee are the same parts of what was quoted, but for what is rounded in each job.
	let segments = u128::from(20 * (JOBS as u32 + wins));
	let of = |whole: u128| share(whole, segments as u32, 30 * JOBS as u32);
	assert!(credited <= of(training) + JOBS as u128, "{training} {credited}");
	assert!(credited >= of(training) / 10 * 9, "{training} {credited}");
	assert!(of(fees).abs_diff(burned) <= fees / 20, "{fees} {burned}");
	let percent = |part: u128, of: u128| format!("{:.1} %", part as f64 / of as f64 * 100.0);
	let facts = vec![
		("jobs of which the last ticket won", format!("{wins} of {JOBS}")),
		("paid, of what the escrow mode pays", percent(paid, escrow)),
		("burned, of the fees that were quoted", percent(burned, fees)),
		("power credited, of the training", percent(credited, training)),
	];
	Outcome { scene, facts }
}

/// A training whose second segment is false, and all after it follows from that.
fn bends_the_second(job: &Job, honest: &Run) -> Run {
	bent(job, honest, 1, 3)
}

fn fakes_beside_tickets() -> Outcome {
	const JOBS: usize = 6;
	let mut scene = Scene::new();
	let submitter = scene.honest("submitter");
	let trainer = scene.trainer(Side::Attacker);
	scene.verifiers(Side::Honest, 3, 100 * BOND);
	scene.start();
	let spec = segmented().spec().spec().clone();
	// Strata of two and one segments: the false one is in the first.
	let terms = by_lottery(trained_terms(), &spec, 2);
	let (mut escaped, mut lost, mut paid) = (0, 0, 0);
	for _ in 0..JOBS {
		let job = scene.post(&submitter, &spec, &terms).expect("it is valid");
		scene.trains(&trainer, job, bends_the_second);
		let money = scene.settle(&[job], &truth).remove(0);
		let view = scene.job(job);
		match view.replicas[0].fate {
			Fate::Accepted | Fate::Idle => {
				escaped += 1;
				paid += money.paid_to_trainers;
				assert_eq!(money.slashed, 0);
				// It has what it ordered, as far as anybody looked.
				scene.buys(&submitter, money.escrowed - money.refunded);
			}
			Fate::Rejected => {
				assert_eq!(money.slashed, view.deposit, "all of it, and not a ticket");
				assert_eq!(
					(money.paid_to_trainers, money.refunded + money.slashed_to_submitter),
					(0, money.escrowed)
				);
				lost += money.slashed;
			}
			fate => panic!("{fate:?}"),
		}
	}
	assert!(lost > paid, "{lost} {paid}");
	let facts = vec![
		("jobs of which the ticket was another one", format!("{escaped} of {JOBS}")),
		("the trainer was paid", amount(paid)),
		("it lost of its deposits", amount(lost)),
	];
	Outcome { scene, facts }
}

fn silences_a_ticket() -> Outcome {
	const JOBS: usize = 10;
	let mut scene = Scene::new();
	let submitter = scene.hostile("submitter");
	let trainer = scene.trainer(Side::Honest);
	scene.verifiers(Side::Honest, 2, 100 * BOND);
	let own = scene.verifiers(Side::Attacker, 1, 100 * BOND).remove(0);
	scene.start();
	let account = own.account.clone();
	let voice = move |ask: &Ask| (*ask.who != account).then(|| truth(ask)).flatten();
	let all = thirties(&mut scene, &submitter, &trainer, JOBS, &voice);
	let price = price_of(&mut scene, all[0].0);
	let strata = Strata::new(30, 20);
	let (mut wins, mut absent) = (0u32, 0);
	for (job, money) in &all {
		let view = scene.job(*job);
		assert_eq!(
			(view.state, view.replicas[0].fate),
			(JobState::Ended(trainyard_protocol::job::Ending::Settled), Fate::Accepted)
		);
		let audit = view.audit.expect("it is on record");
		absent += audit.committee.iter().filter(|seat| seat.findings.is_none()).count();
		let wanted = [20, 40].map(|segments| share(price, segments, 30));
		assert!(
			wanted.contains(&money.paid_to_trainers),
			"a whole stratum is paid, whoever was silent"
		);
		wins += u32::from(money.paid_to_trainers == wanted[1]);
		// The least is what is certain.
		scene.earns(&trainer, wanted[0]);
	}
	assert_eq!((absent, strata.count()), (JOBS, 2));
	let began = scene.began(&own.account);
	let lost = began - scene.worth(&own.account) - scene.fees_of(&own.account);
	let facts = vec![
		("jobs of which the last ticket won", format!("{wins} of {JOBS}")),
		("the silent seat lost", amount(lost)),
	];
	Outcome { scene, facts }
}
