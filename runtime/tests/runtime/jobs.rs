//! Whole jobs over the real pallets, through calls and the runtime API only.

use frame_support::{assert_ok, traits::fungible::Inspect};
use sp_keyring::Sr25519Keyring::{self, Alice, Bob, Charlie, Dave, Eve};
use trainyard_program::{
	spec::{EarlyStop, JobSpec},
	work::Parts,
};
use trainyard_protocol::{
	accusation::Target,
	audit::{AuditPhase, Decision},
	blob::Chunked,
	commitment, fees,
	job::{Ending, Fate, JobState, Reveal, Settlement, Terms, WorkResult},
	seats::Resources,
	views::{JobView, Standing},
	JobId, Text, H256, PROTOCOL_VERSION,
};
use trainyard_runtime::{api::runtime_decl_for_trainyard_api::TrainyardApi, presets::ENDOWMENT, *};
use trainyard_sandbox::{
	bundles::{applies, Bundle},
	seats::{Seat, Verdict},
	Chain, Key,
};

/// Bond of each verifier. All of them count at once.
pub(crate) const BOND: Balance = 500 * TRY;
pub(crate) const VERIFIERS: [Sr25519Keyring; 3] = [Charlie, Dave, Eve];
pub(crate) const SALT: [u8; 32] = [9; 32];

fn terms() -> Terms {
	Terms {
		price_per_ut: 100 * TRY,
		replicas: 1,
		verifiers: 3,
		audit_segments: 2,
		audit_fee: TRY / 10,
		apply_blocks: 3,
		training_blocks: 30,
		machine: Default::default(),
		undecided_percent: 20,
		keep_every: 1,
		lottery: None,
	}
}

/// A chain with three verifiers.
pub(crate) fn chain() -> Chain {
	let mut chain = Chain::development();
	chain.run(1);
	for verifier in VERIFIERS {
		let capacity = Resources { work: 10_000_000, memory_mib: 8_192, disk_mib: 10_240 };
		let register = pallet_verification::Call::register { bond: BOND, capacity };
		assert_ok!(chain.call(verifier, register));
		let key = verifier.public();
		assert_ok!(chain.call(verifier, pallet_verification::Call::set_vrf_key { key }));
	}
	chain
}

pub(crate) fn view(chain: &mut Chain, job: JobId) -> JobView<AccountId> {
	chain.state(|| Runtime::job(job)).expect("the job exists")
}

/// Makes blocks until `reached` holds.
pub(crate) fn run_until(
	chain: &mut Chain,
	job: JobId,
	what: &str,
	reached: impl Fn(&JobView<AccountId>) -> bool,
) -> JobView<AccountId> {
	for _ in 0..300 {
		let view = view(chain, job);
		if reached(&view) {
			return view;
		}
		chain.run(1);
	}
	panic!("no {what} in 300 blocks: {:?}", view(chain, job));
}

pub(crate) fn in_state(state: JobState) -> impl Fn(&JobView<AccountId>) -> bool {
	move |job| job.state == state
}

/// What is true of the example job.
const TRUE: u8 = 1;

/// Posts the example job as //Bob and takes it as //Alice up to the audit: //Alice reveals an honest
/// result and stores `model`.
fn deliver(chain: &mut Chain, model: &[u8]) -> (JobId, Bundle) {
	let spec = JobSpec::noisy_example();
	let segments = spec.segments();
	deliver_after(chain, spec, segments, model)
}

/// The same with this specification, of which that many segments were trained.
fn deliver_after(chain: &mut Chain, spec: JobSpec, segments: u32, model: &[u8]) -> (JobId, Bundle) {
	deliver_as(chain, spec, TRUE, (segments, false), model)
}

/// The same with a result of states of this byte, that says whether training diverged after its
/// segments.
fn deliver_as(
	chain: &mut Chain,
	spec: JobSpec,
	byte: u8,
	(segments, diverged): (u32, bool),
	model: &[u8],
) -> (JobId, Bundle) {
	let checked = spec.clone().check().unwrap();
	let quote = chain.state(|| Runtime::quote(spec.clone(), terms())).expect("valid");
	let digest = commitment::job(&spec, &terms());
	let call = pallet_task_market::Call::submit_job { spec, terms: terms(), max_fee_per_ut: TRY };
	assert_ok!(chain.call(Bob, call));
	let job = chain.state(Runtime::active_jobs).last().expect("it was posted").id;
	// What a block mints falls with every block, and the protocol fee with it.
	let escrow = view(chain, job).settlement.escrowed;
	assert!((quote.escrow - 1_000..=quote.escrow).contains(&escrow));
	let alice = Alice.to_account_id();
	assert_ok!(chain.call(Alice, applies(&alice, job, digest)));
	let assigned = run_until(chain, job, "assignment", in_state(JobState::Training));
	let bundle = Bundle::made_up(&checked, byte, segments, diverged);
	let bundle = bundle.forced(&assigned.seed.unwrap(), &alice);
	assert_eq!(assigned.replicas[0].trainer, Alice.to_account_id());

	let blob = Chunked::new(model);
	let reveal = Reveal {
		bundle_root: bundle.root(),
		true_root: bundle.true_root(),
		model_root: blob.root,
		segments,
		diverged,
		location: Text::new("http://127.0.0.1:8600").unwrap(),
	};
	let genesis = chain.state(|| System::block_hash(0));
	let commitment = commitment::result(&genesis, job, &alice, &reveal.result(), &SALT);
	assert_ok!(chain.call(Alice, pallet_submissions::Call::commit { job, commitment }));
	run_until(chain, job, "revealing", in_state(JobState::Revealing));
	assert_ok!(chain.call(Alice, pallet_submissions::Call::reveal { job, reveal, salt: SALT }));
	assert!(chain.state(|| pallet_model_storage::Awaited::<Runtime>::contains_key(blob.root)));
	let (size, content) = (model.len() as u64, blob.content);
	assert_ok!(
		chain.call(Alice, pallet_model_storage::Call::register { size, content, period: None })
	);
	for index in 0..blob.chunks.len() {
		assert_eq!(view(chain, job).state, JobState::Revealing, "the model is not complete");
		let upload = pallet_model_storage::Call::upload_chunk {
			root: blob.root,
			index: index as u32,
			proof: blob.proof(index).unwrap().try_into().unwrap(),
			bytes: blob.chunks[index].to_vec().try_into().unwrap(),
		};
		assert_ok!(chain.call(Alice, upload));
		let hash = chain.state(|| Runtime::chunk_hash(blob.root, index as u32));
		assert_eq!(hash, Some(trainyard_protocol::blob::chunk_hash(blob.chunks[index])));
	}
	assert!(chain.state(|| Runtime::blob(blob.root)).unwrap().missing.is_empty());
	run_until(chain, job, "audit", in_state(JobState::Auditing));
	(job, bundle)
}

fn phase(view: &JobView<AccountId>) -> Option<AuditPhase> {
	view.audit.as_ref().map(|audit| audit.phase)
}

/// Takes a job to where its results stand: each seat commits and reveals its `verdict` on the only result,
/// and //Alice opens what is forced in its `bundle`.
pub(crate) fn committee(
	chain: &mut Chain,
	job: JobId,
	bundle: &Bundle,
	verdict: impl Fn(&Seat, &WorkResult) -> Verdict,
) -> JobView<AccountId> {
	let drawn = run_until(chain, job, "committee", |view| {
		matches!(phase(view), Some(AuditPhase::Committing { .. }))
	});
	let audit = drawn.audit.expect("it runs");
	assert_eq!(audit.committee.len(), 3);
	let genesis = chain.state(|| System::block_hash(0));
	let result = audit.groups[0].result;
	let said = VERIFIERS.map(|verifier| {
		let seat = Seat::of(&genesis, job, &audit, &Key::from(verifier)).expect("it has a seat");
		seat.finds(vec![verdict(&seat, &result)])
	});
	for (verifier, (findings, _)) in VERIFIERS.iter().zip(&said) {
		let who = verifier.to_account_id();
		let commitment = commitment::verdict(&genesis, job, audit.round, &who, findings, &SALT);
		assert_ok!(chain.call(*verifier, pallet_verification::Call::commit { job, commitment }));
	}
	run_until(chain, job, "reveals", |view| {
		matches!(phase(view), Some(AuditPhase::Revealing { .. }))
	});
	for (verifier, (findings, paths)) in VERIFIERS.iter().zip(said) {
		let reveal = pallet_verification::Call::reveal { job, findings, paths, salt: SALT };
		assert_ok!(chain.call(*verifier, reveal));
	}
	let next = run_until(chain, job, "opening or window", |view| {
		matches!(phase(view), Some(AuditPhase::Opening { .. } | AuditPhase::Standing { .. }))
	});
	// A result of one segment may have nothing that is forced.
	if matches!(phase(&next), Some(AuditPhase::Opening { .. })) {
		assert_ok!(chain.call(Alice, bundle.opens(job).expect("it is forced")));
	}
	run_until(chain, job, "window", |view| matches!(phase(view), Some(AuditPhase::Standing { .. })))
}

/// Takes a job to its end.
pub(crate) fn end(chain: &mut Chain, job: JobId) -> JobView<AccountId> {
	run_until(chain, job, "end", |view| matches!(view.state, JobState::Ended(_)))
}

/// Lets the committee find the result true, and takes the job to its end.
fn accept(chain: &mut Chain, job: JobId, bundle: &Bundle) -> JobView<AccountId> {
	committee(chain, job, bundle, |seat, result| seat.vouches(0, result, bundle, &[]));
	end(chain, job)
}

/// What an audit cost: what seats earned, and prizes that nobody did.
pub(crate) fn audit_fees(money: &Settlement) -> Balance {
	money.paid_to_verifiers + money.prizes_to_jackpot
}

/// What `who` holds for jobs; bonds and deposits for blobs are not among it.
fn held_for_jobs(chain: &mut Chain, who: Sr25519Keyring) -> Balance {
	use frame_support::traits::fungible::InspectHold;
	use pallet_task_market::HoldReason::{Deposit, Escrow};
	let who = who.to_account_id();
	chain.state(|| {
		Balances::balance_on_hold(&Escrow.into(), &who)
			+ Balances::balance_on_hold(&Deposit.into(), &who)
	})
}

#[test]
fn an_honest_job_is_paid_refunded_and_credited() {
	let mut chain = chain();
	let model: Vec<u8> = (0..26_680u32).map(|i| i as u8).collect();
	let (job, bundle) = deliver(&mut chain, &model);
	let ended = accept(&mut chain, job, &bundle);
	assert_eq!(ended.state, JobState::Ended(Ending::Settled));
	assert_eq!(ended.replicas[0].fate, Fate::Accepted);
	assert_eq!(ended.audit.unwrap().groups[0].decision, Some(Decision::Accepted));

	let money = ended.settlement;
	let price = trainyard_program::units::price(ended.work, terms().price_per_ut).unwrap();
	assert_eq!(money.paid_to_trainers, price);
	assert_eq!(audit_fees(&money), 3 * terms().audit_fee);
	assert!(money.burned > 0 && money.refunded > 0 && money.slashed == 0);
	assert_eq!(
		money.escrowed,
		money.paid_to_trainers + audit_fees(&money) + money.burned + money.refunded
	);
	let fifth = ended.deposit / 5;
	assert_eq!((held_for_jobs(&mut chain, Bob), held_for_jobs(&mut chain, Alice)), (0, fifth));
	assert_eq!(chain.state(|| pallet_model_storage::Awaited::<Runtime>::iter().count()), 0);

	let trainer = chain.state(|| Runtime::trainer(Alice.to_account_id())).unwrap();
	assert_eq!(trainer.training_total, u128::from(ended.training), "evaluations earn no power");
	assert!(trainer.training_effective > 0);
	assert!(chain.state(Runtime::active_jobs).is_empty());
	assert_eq!(chain.state(|| Runtime::recent_jobs(10)).len(), 1);
}

/// A market that trains as much every hour burns 0.15 of what blocks mint, however much that is.
#[test]
fn the_fee_follows_what_is_minted_over_many_blocks() {
	use frame_support::traits::Get;
	type Reward = <Runtime as pallet_task_market::Config>::BlockReward;
	let hour = 600;
	for daily in [6_000_000_000u64, 4_000_000_000_000] {
		let mut chain = Chain::development();
		chain.run(1);
		chain.state(|| {
			let (lot, mut burned, mut minted) = (daily / 24, 0, 0);
			for hours in 1..24 * 100 {
				System::set_block_number(1 + hours * hour);
				assert_eq!(Reward::get(), Hashrate::block_reward(System::block_number()));
				let fee = TaskMarket::market().fee_per_ut;
				let volumes = TaskMarket::volumes().post(lot).buy(lot);
				pallet_task_market::Market::<Runtime>::put(volumes);
				if hours >= 24 * 90 {
					burned += fee * Balance::from(lot) / 1_000_000;
					minted += Reward::get() * Balance::from(hour);
				}
			}
			let part = burned * 1_000 / minted;
			assert!((148..=152).contains(&part), "{part} of a thousand, at {daily} micro-ut a day");
		});
	}
}

/// A job that no committee could audit is not posted: nobody would have looked at its result.
#[test]
fn without_three_verifiers_nothing_is_posted() {
	let none: sp_runtime::DispatchError = pallet_task_market::Error::<Runtime>::NoCommittee.into();
	let mut chain = Chain::development();
	chain.run(1);
	let spec = JobSpec::noisy_example;
	let posts =
		|terms| pallet_task_market::Call::submit_job { spec: spec(), terms, max_fee_per_ut: TRY };
	assert_eq!(chain.call(Bob, posts(terms())), Err(none));
	assert!(chain.state(|| Runtime::quote(spec(), terms())).is_some(), "the terms are good");
	let mut chain = self::chain();
	// One of three verifiers is the submitter.
	assert_eq!(chain.call(Eve, posts(terms())), Err(none));
	// Fifteen seats that draw two of many segments each; three would see too little.
	let mut long = spec();
	(long.training.steps, long.training.checkpoint_interval) = (2_000, 2);
	let many = Terms { verifiers: 15, audit_segments: 3, ..terms() };
	let audit_fee = chain.state(|| Runtime::audit_fee(long.clone(), many.clone())).expect("valid");
	let many = Terms { audit_fee, ..many };
	let call = pallet_task_market::Call::submit_job {
		spec: long.clone(),
		terms: many.clone(),
		max_fee_per_ut: TRY,
	};
	assert!(chain.state(|| Runtime::quote(long, many)).is_some());
	assert_eq!(chain.call(Bob, call), Err(none));
	assert_ok!(chain.call(Bob, posts(terms())));
}

/// The deposit follows the training power of those who make blocks, two sessions after it changed. It covers what a
/// false result gains, whatever part of all training they have.
#[test]
fn a_deposit_covers_what_power_brings_to_those_who_make_blocks() {
	use pallet_hashrate::power::{Ledger, Track};
	use trainyard_protocol::price::{Volumes, DAY};
	let mut chain = chain();
	let mut spec = JobSpec::noisy_example();
	spec.training.steps *= 10_000;
	spec.training.checkpoint_interval *= 10_000;
	let cheap = Terms { price_per_ut: 1, ..terms() };
	// The market buys 400,000 ut a day.
	let daily = 400_000_000_000u64;
	let mut last = 0;
	for tenths in [10, 3, 1] {
		let training =
			Track { total: 0, effective: u128::from(daily / 10 * tenths) << 64, updated: u64::MAX };
		chain.state(|| {
			let ledger = Ledger { training, ..Default::default() };
			pallet_hashrate::Power::<Runtime>::insert(Alice.to_account_id(), ledger);
		});
		// Two sessions, and what is left of the running one.
		chain.run(60);
		let (quote, audit) = chain.state(|| {
			let (bought, at) = (10 * daily, System::block_number());
			pallet_task_market::Market::<Runtime>::put(Volumes { bought, posted: 0, at });
			let audit_fee = Runtime::audit_fee(spec.clone(), cheap.clone()).expect("valid");
			let terms = Terms { audit_fee, ..cheap.clone() };
			(Runtime::quote(spec.clone(), terms).expect("valid"), 9 * audit_fee)
		});
		// //Alice alone makes blocks, and nobody drills: training has all of them, and not six tenths.
		let reward = chain.state(|| Hashrate::block_reward(System::block_number()));
		let minted = reward * Balance::from(DAY);
		let gain = minted * Balance::from(quote.training) / Balance::from(daily / 10 * tenths);
		let deposit = quote.deposit - audit;
		assert!(deposit > TRY && deposit.abs_diff(3 * gain) < gain / 1_000, "{deposit} {gain}");
		assert!(deposit > last && deposit > 12 * quote.fee);
		last = deposit;
	}
}

#[test]
fn a_job_that_stops_early_is_paid_for_what_was_trained() {
	let mut chain = chain();
	let mut spec = JobSpec::noisy_example();
	spec.training.early_stop = Some(EarlyStop { patience: 2, min_delta_nano: 0 });
	let (job, bundle) = deliver_after(&mut chain, spec.clone(), 5, &[3; 5_000]);
	committee(&mut chain, job, &bundle, |seat, result| {
		assert!(seat.wanted(0, result, &[]).iter().all(|segment| *segment < 5));
		seat.vouches(0, result, &bundle, &[])
	});
	let ended = end(&mut chain, job);
	assert_eq!(ended.state, JobState::Ended(Ending::Settled));
	assert_eq!(ended.replicas[0].reveal.as_ref().map(|reveal| reveal.segments), Some(5));

	let spec = spec.check().unwrap();
	let parts = Parts::of(&spec);
	let work = parts.micro_ut_of(&spec, 5).unwrap();
	assert!(work < ended.work / 5);
	let money = ended.settlement;
	let price = trainyard_program::units::price(work, terms().price_per_ut).unwrap();
	assert_eq!(money.paid_to_trainers, price);
	assert_eq!(
		money.escrowed,
		money.paid_to_trainers + audit_fees(&money) + money.burned + money.refunded
	);
	let trainer = chain.state(|| Runtime::trainer(Alice.to_account_id())).unwrap();
	let training = parts.training_micro_ut_of(&spec, 5).unwrap();
	assert_eq!(trainer.training_total, u128::from(training));
	let fifth = ended.deposit / 5;
	assert_eq!((held_for_jobs(&mut chain, Bob), held_for_jobs(&mut chain, Alice)), (0, fifth));
}

/// A submitter's specification that diverges at its end, whatever the seed: a trap no more.
#[test]
fn a_job_that_diverges_is_paid_for_what_was_trained_and_earns_no_power() {
	let mut chain = chain();
	let spec = JobSpec::noisy_example();
	let (job, bundle) = deliver_as(&mut chain, spec, TRUE, (29, true), &[3; 5_000]);
	committee(&mut chain, job, &bundle, |seat, result| {
		let replays = seat.wanted(0, result, &[]).contains(&29);
		assert_eq!(replays, seat.number == 0, "the segment that diverged is always replayed");
		seat.vouches(0, result, &bundle, &[])
	});
	let ended = end(&mut chain, job);
	assert_eq!(ended.state, JobState::Ended(Ending::Settled));
	assert_eq!(ended.replicas[0].fate, Fate::Diverged);
	let money = ended.settlement;
	let price = trainyard_program::units::price(ended.work, terms().price_per_ut).unwrap();
	assert_eq!((money.paid_to_trainers, money.slashed), (price, 0));
	// For its place on the market, by the time; a hundredth of the fee at least.
	let fee = chain.state(|| pallet_task_market::Jobs::<Runtime>::get(job)).unwrap().quote.fee;
	assert!((fee / 100..fee / 10).contains(&money.burned), "{} of {fee}", money.burned);
	assert_eq!(
		money.escrowed,
		money.paid_to_trainers + audit_fees(&money) + money.burned + money.refunded
	);
	let trainer = chain.state(|| Runtime::trainer(Alice.to_account_id())).unwrap();
	assert_eq!(trainer.training_total, 0);
	let fifth = ended.deposit / 5;
	assert_eq!((held_for_jobs(&mut chain, Bob), held_for_jobs(&mut chain, Alice)), (0, fifth));
}

/// Every seat accuses the trainer, who has nothing to say: its states are made up.
#[test]
fn a_rejected_job_costs_the_trainer_and_nothing_the_submitter() {
	const FALSE: u8 = 2;
	let mut chain = chain();
	let spec = JobSpec::noisy_example();
	let whole = (spec.segments(), false);
	let truth = Bundle::made_up(&spec.clone().check().unwrap(), TRUE, whole.0, false);
	let (job, bundle) = deliver_as(&mut chain, spec, FALSE, whole, &[1; 5_000]);
	let deposit = view(&mut chain, job).deposit;
	let challenge = chain.state(|| TaskMarket::challenge_deposit(job)).expect("it is audited");
	let alice = Alice.to_account_id();
	committee(&mut chain, job, &bundle, |seat, result| {
		let target = Target::Segment(seat.own(0, result)[0]);
		Verdict::rejects(alice.clone(), target, &bundle, &truth)
	});
	let disputes = chain.state(|| pallet_court::Standings::<Runtime>::get(job).disputes);
	assert_eq!(disputes, 3);
	let verifier = |chain: &mut Chain| {
		chain.state(|| Runtime::verifier(Charlie.to_account_id())).expect("it is one")
	};
	assert_eq!(verifier(&mut chain).locked, challenge.max(10 * TRY), "its stake in the dispute");
	let ended = end(&mut chain, job);
	assert_eq!(ended.state, JobState::Ended(Ending::Failed));
	assert_eq!(ended.replicas[0].fate, Fate::Rejected);
	let audit = ended.audit.unwrap();
	assert_eq!(audit.groups[0].decision, Some(Decision::Rejected));
	assert_eq!(audit.groups[0].convicted, [alice.clone()]);

	let money = ended.settlement;
	assert_eq!(money.slashed, deposit);
	assert_eq!((money.paid_to_trainers, audit_fees(&money)), (0, 3 * terms().audit_fee));
	assert_eq!(money.refunded + money.slashed_to_submitter, money.escrowed, "refunded in full");
	let shares = fees::LostShares::of(deposit, 3 * terms().audit_fee, false, challenge);
	assert_eq!(
		(money.slashed_to_submitter, money.slashed_burned, money.slashed_to_finders),
		(shares.submitter, shares.burned, shares.finder)
	);
	assert_eq!(money.slashed_to_jackpot, shares.jackpot);
	assert_eq!((held_for_jobs(&mut chain, Bob), held_for_jobs(&mut chain, Alice)), (0, 0));
	let trainer = chain.state(|| Runtime::trainer(alice)).unwrap();
	assert_eq!((trainer.training_total, trainer.training_effective), (0, 0));
	// All that //Bob lost is the fee of one transaction.
	let bob = chain.state(|| <Balances as Inspect<AccountId>>::total_balance(&Bob.to_account_id()));
	assert!(ENDOWMENT - bob < TRY * 3 / 10, "{}", ENDOWMENT - bob);
	// No seat lost anything, and one of them earned more than the fee.
	let verifier = verifier(&mut chain);
	assert_eq!((verifier.bond, verifier.locked), (BOND, 0));
	assert_eq!(verifier.standing, Standing::Active);
	trainyard_sandbox::books::check(&mut chain).unwrap();
}

#[test]
fn two_jobs_go_on_at_once() {
	let mut chain = chain();
	let (first, one) = deliver(&mut chain, &[1; 5_000]);
	let (second, two) = deliver(&mut chain, &[2; 5_000]);
	assert_eq!(chain.state(Runtime::active_jobs).len(), 2);
	let newest: Vec<_> = chain.state(|| Runtime::recent_jobs(5)).iter().map(|j| j.id).collect();
	assert_eq!(newest, [second, first]);
	for (job, bundle) in [(second, two), (first, one)] {
		let ended = accept(&mut chain, job, &bundle);
		assert_eq!(ended.state, JobState::Ended(Ending::Settled));
	}
}

#[test]
fn the_api_speaks_the_protocol_and_knows_strangers() {
	let mut chain = chain();
	chain.state(|| {
		assert_eq!(Runtime::protocol_version(), PROTOCOL_VERSION);
		assert_eq!(Runtime::job(0), None);
		assert_eq!(Runtime::trainer(Bob.to_account_id()), None);
		assert_eq!(Runtime::trainers(None, 9).len(), 1);
		assert_eq!(Runtime::verifiers().len(), 3);
		assert!(Runtime::listings(None, 9).is_empty());
		assert_eq!(Runtime::blob(H256::zero()), None);
		let mut invalid = JobSpec::noisy_example();
		invalid.training.learning_rate_nano = 0;
		assert_eq!(Runtime::quote(invalid, terms()), None);
	});
	let listing = pallet_task_market::Call::post_listing {
		price_per_ut: 5,
		max_work: 10_000,
		note: Text::new("cheap").unwrap(),
	};
	assert_ok!(chain.call(Alice, listing));
	assert_eq!(chain.state(|| Runtime::listings(None, 9))[0].trainer, Alice.to_account_id());
}

/// What seats and challenges cost follows the market, and stays as it was quoted for as long as the job runs.
#[test]
fn audits_follow_the_market_and_stay_as_quoted() {
	use trainyard_protocol::price::{compute, Volumes};
	let market = |chain: &mut Chain, bought| {
		chain.state(|| {
			let at = System::block_number();
			pallet_task_market::Market::<Runtime>::put(Volumes { bought, posted: 0, at });
		});
	};
	let mut chain = chain();
	let mut spec = JobSpec::noisy_example();
	spec.training.steps *= 5_000;
	spec.training.checkpoint_interval *= 5_000;
	let any = Terms { price_per_ut: 1, ..terms() };
	let least =
		|chain: &mut Chain| chain.state(|| Runtime::audit_fee(spec.clone(), any.clone())).unwrap();
	let post = |chain: &mut Chain, audit_fee| {
		let (spec, terms) = (spec.clone(), Terms { audit_fee, ..any.clone() });
		chain.call(Bob, pallet_task_market::Call::submit_job { spec, terms, max_fee_per_ut: TRY })
	};
	let young = least(&mut chain);
	let checked = spec.clone().check().unwrap();
	assert_eq!(Ok(young), fees::audit_fee(&checked, &any), "1 TRY a ut, as clients know");
	assert!(young > TRY);
	// 400,000 ut a day.
	market(&mut chain, 4_000_000_000_000);
	let low = least(&mut chain);
	let base = chain.state(Runtime::market).base_fee_per_ut;
	let counts = compute(base, 0, fees::COMPUTE_PRICE);
	assert!((56 * TRY / 1_000..57 * TRY / 1_000).contains(&counts), "{counts}");
	let expected = young * counts / TRY;
	assert!(low.abs_diff(expected) <= expected / 1_000, "{low} {expected}");
	let refused = |error: pallet_task_market::Error<Runtime>| Err(error.into());
	let too_low = pallet_task_market::Error::AuditFeeTooLow;
	assert_eq!(post(&mut chain, low * 99 / 100), refused(too_low));
	let too_high = pallet_task_market::Error::AuditFeeTooHigh;
	assert_eq!(post(&mut chain, young), refused(too_high), "what it was on a young chain");
	let offered = fees::offered_audit_fee(low, young);
	assert_ok!(post(&mut chain, offered));
	let quoted = view(&mut chain, 0).compute_per_ut;
	assert!(quoted.abs_diff(counts) <= counts / 1_000, "{quoted} {counts}");
	// All others cease to train.
	market(&mut chain, 0);
	assert_eq!((least(&mut chain), view(&mut chain, 0).compute_per_ut), (young, quoted));
}
