//! What power costs: the fee moves with what is posted and bought, is fixed in the quote, and nobody moves it
//! for nothing.

use crate::{mock::*, Error, HoldReason, Market, Prices, Quote, TotalBurned};
use frame_support::{assert_noop, assert_ok};
use trainyard_program::{
	needs::MachineClass,
	spec::{InitialModel, JobSpec},
	units, work,
};
use trainyard_protocol::{
	audit::Decision,
	fees,
	job::{Balance, Fate, Terms},
	price::{place_fee, ClassPrice, Volumes, DAY, LEAST_BOUGHT, WINDOW},
	JobId, MicroUt, H256,
};

/// The fee for a `ut` in an empty market here.
const FIRST: Balance = 1_000_000;

/// The training of the example.
fn training_of_one() -> MicroUt {
	job(post(1)).quote.training
}

/// Makes a market in which as much as this was posted, and bought, in the present block.
fn market(bought: MicroUt, posted: MicroUt) {
	Market::<Test>::put(Volumes { bought, posted, at: TaskMarket::now() });
}

/// The fee for a `ut` of the example if it were posted now.
fn fee_now() -> Balance {
	quote_now().fee_per_ut
}

/// The quote of the example with the least fee of a seat, if it were posted now.
fn quote_now() -> Quote {
	let terms = with_least_fee(&JobSpec::noisy_example(), terms(1));
	TaskMarket::checked_quote(&noisy(), &terms).unwrap()
}

/// Brings a job to its end with this decision.
fn finish(id: JobId, decision: Decision) {
	apply(id, &[11]);
	run_to_state(id, trainyard_protocol::job::JobState::Training);
	commit(id, 11);
	run_to_state(id, trainyard_protocol::job::JobState::Revealing);
	reveal(id, 11, 1);
	run_to_state(id, trainyard_protocol::job::JobState::Auditing);
	decide(id, &[decision], &VERIFIERS);
	run_to_end(id);
}

#[test]
fn the_fee_rises_within_the_block_and_is_fixed_in_the_quote() {
	run(|| {
		let free = LEAST_BOUGHT / 5;
		let work = training_of_one();
		market(0, free - work);
		assert_eq!(fee_now(), FIRST, "what is free costs the base");
		let first = post(1);
		assert_eq!(job(first).quote.fee_per_ut, FIRST);
		market(0, 3 * free);
		let (dear, expected) = (post(1), 9 * FIRST);
		let fee = job(dear).quote.fee_per_ut;
		assert!((expected..expected + 10).contains(&fee), "{fee}");
		market(0, 0);
		assert_eq!(job(first).quote.fee_per_ut, FIRST, "it stays what it was");
		assert_eq!(job(dear).quote.fee_per_ut, fee);
		assert_eq!(
			job(dear).quote.escrow - job(first).quote.escrow,
			job(dear).quote.fee - job(first).quote.fee
		);
		finish(dear, Decision::Accepted);
		assert_eq!(job(dear).settlement.burned, job(dear).quote.fee);
		market(0, 0);
	});
}

#[test]
fn who_names_a_most_is_not_surprised() {
	run(|| {
		let (origin, spec) = (|| RuntimeOrigin::signed(SUBMITTER), JobSpec::noisy_example);
		market(0, LEAST_BOUGHT);
		let fee = fee_now();
		assert!(fee > 20 * FIRST);
		let rose = || Error::<Test>::FeeRose;
		assert_noop!(TaskMarket::submit_job(origin(), spec(), terms(1), fee - 1), rose());
		let note = Default::default();
		assert_ok!(TaskMarket::post_listing(RuntimeOrigin::signed(11), 1, u64::MAX, note));
		assert_noop!(TaskMarket::order(origin(), 11, spec(), terms(1), fee - 1), rose());
		assert_eq!(held(HoldReason::Escrow, SUBMITTER), 0);
		assert_ok!(TaskMarket::order(origin(), 11, spec(), terms(1), fee));
		assert_ok!(TaskMarket::submit_job(origin(), spec(), terms(1), Balance::MAX));
		// It fades: ten days later a job costs the base.
		System::set_block_number(10 * DAY);
		assert_eq!(fee_now(), FIRST);
	});
}

#[test]
fn what_is_bought_makes_power_cheaper_and_what_is_posted_does_not() {
	run(|| {
		market(LEAST_BOUGHT, 0);
		let id = post(1);
		let before = TaskMarket::volumes();
		assert_eq!((before.bought, before.posted), (LEAST_BOUGHT, job(id).quote.training));
		finish(id, Decision::Accepted);
		let after = TaskMarket::volumes();
		let passed = TaskMarket::now() - before.at;
		assert!(passed > 0);
		let expected = before.aged(TaskMarket::now()).buy(job(id).quote.training);
		assert_eq!(after.bought, expected.bought);
		assert_eq!(Credited::get(), vec![(11, job(id).quote.training)]);
	});
}

#[test]
fn a_larger_market_has_a_lower_fee() {
	run(|| {
		market(1_000 * LEAST_BOUGHT, 0);
		assert_eq!(fee_now(), 10_000, "it would be 1,000, and that is the least there is");
		BlockReward::set(2_314_814_000);
		assert_eq!(fee_now(), FIRST);
		let id = post(1);
		finish(id, Decision::Accepted);
		assert_eq!(Credited::get().len(), 1);
		BlockReward::set(0);
		market(0, 0);
		assert_eq!(fee_now(), 10_000, "what a block mints may be nothing");
	});
}

/// Power that was posted while it was cheap counts by what the fee buys when it comes.
#[test]
fn late_power_counts_by_what_it_paid() {
	run(|| {
		market(4 * LEAST_BOUGHT, 0);
		let id = post(1);
		let quote = job(id).quote;
		assert_eq!(quote.fee_per_ut, FIRST / 4);
		// The others cease to train.
		market(0, 0);
		finish(id, Decision::Accepted);
		assert_eq!(Credited::get(), vec![(11, quote.training / 4)]);
		assert_eq!(job(id).settlement.burned, quote.fee, "it burns what was quoted");
		market(0, 0);
	});
}

/// A job whose fee was fixed while power was cheap does not make power cheap for the next one like it: however
/// they are split, they bring what their fees buy.
#[test]
fn late_jobs_do_not_make_power_cheap_for_each_other() {
	run(|| {
		let mut training = 0;
		for _ in 0..3 {
			// Each was posted while there was much training, and comes when there is little.
			let now = TaskMarket::volumes();
			market(40 * LEAST_BOUGHT, 0);
			let id = post(1);
			training = job(id).quote.training;
			Market::<Test>::put(now);
			finish(id, Decision::Accepted);
		}
		let power: MicroUt = Credited::get().into_iter().map(|(_, work)| work).sum();
		let most = 3 * training / 40;
		assert!(power.abs_diff(most) <= 3, "{power} of {most}");
		let bought = TaskMarket::volumes().bought;
		assert!(bought.abs_diff(most) <= 10, "{bought} counts as bought");
	});
}

#[test]
fn posting_and_taking_back_costs_by_the_time() {
	for blocks in [0, 1, 3] {
		run(|| {
			market(0, LEAST_BOUGHT / 5);
			let (before, base) = (TaskMarket::volumes(), free(SUBMITTER));
			let id = post(1);
			let (now, fee) = (TaskMarket::now() + blocks, job(id).quote.fee);
			run_to(now);
			assert_ok!(TaskMarket::cancel(RuntimeOrigin::signed(SUBMITTER), id));
			let place = place_fee(fee, blocks);
			assert_eq!(place, fee / 100, "a hundredth at least");
			assert_eq!((place_of(id), free(SUBMITTER)), (place, base - place));
			assert_eq!(TotalBurned::<Test>::get(), place);
			let left = TaskMarket::volumes().posted - before.aged(now).posted;
			let kept = Balance::from(job(id).quote.training) / 100;
			assert!(u128::from(left) <= kept + 2, "{left} of {kept}");
			assert_eq!(TaskMarket::volumes().bought, 0);
		});
	}
}

/// Who holds the fee up for a day by jobs that nobody is to take pays as if it had bought power.
#[test]
fn a_place_for_a_day_costs_the_whole_fee() {
	run(|| {
		let terms = Terms { apply_blocks: 20, ..terms(1) };
		let id = post_with(SUBMITTER, terms);
		System::set_block_number(1 + DAY);
		TaskMarket::advance(id);
		assert_eq!(job(id).settlement.burned, job(id).quote.fee);
		assert_eq!(Credited::get(), vec![]);
	});
}

/// A job whose trainer lost its deposit pays for no place: the deposit is more than the fee.
#[test]
fn the_deposit_of_a_cheat_pays_for_the_place() {
	for decision in [Decision::Rejected, Decision::Unavailable] {
		run(|| {
			let id = post(1);
			finish(id, decision);
			assert_eq!((place_of(id), job(id).settlement.burned), (0, 0));
			assert!(job(id).settlement.slashed >= 12 * job(id).quote.fee);
			assert!(TaskMarket::volumes().posted < 100, "what it posted is taken out");
		});
	}
	run(|| {
		let id = post(1);
		finish(id, Decision::Undecided);
		assert_eq!((place_of(id), job(id).settlement.burned), (0, 0), "nobody's fault");
	});
}

/// A job for which no committee ever sat pays for its place: its submitter could name terms for which nobody can be
/// drawn, and have the place for nothing.
#[test]
fn what_nobody_looked_at_pays_for_its_place() {
	for (replicas, blocks) in [(1, 0), (1, DAY), (3, DAY)] {
		run(|| {
			NoVerifiers::set(true);
			let id = post(replicas);
			let trainers = &TRAINERS[..replicas as usize];
			apply(id, trainers);
			run_to_state(id, trainyard_protocol::job::JobState::Training);
			trainers.iter().for_each(|who| commit(id, *who));
			run_to_state(id, trainyard_protocol::job::JobState::Revealing);
			trainers.iter().zip(1..).for_each(|(who, what)| reveal(id, *who, what));
			run_to_state(id, trainyard_protocol::job::JobState::Auditing);
			System::set_block_number(TaskMarket::now().max(AUDIT_DEADLINE + 30).max(blocks));
			TaskMarket::advance(id);
			assert!(job(id).replicas.iter().all(|r| r.fate == Fate::Undecided));
			let (fee, age) = (job(id).quote.fee, job(id).since - job(id).posted);
			let each = fee / Balance::from(replicas) * Balance::from(replicas);
			assert_eq!(place_of(id), place_fee(each, age));
			assert_eq!(job(id).settlement.burned, place_of(id));
			assert!(blocks == 0 || place_of(id) >= fee - 3, "all of it after a day");
			assert_eq!(TaskMarket::volumes().bought, 0);
		});
	}
	// One of whose results was convicted before owes the others' part alone.
	run(|| {
		NoVerifiers::set(true);
		let id = auditing(&[(11, 1), (12, 2)]);
		let conviction =
			trainyard_traits::Conviction { dispute: 0, finder: 13, second: None, proven: true };
		TaskMarket::convict(id, &12, &conviction);
		run_to_end(id);
		let fate = |who| job(id).replicas.iter().find(|r| r.trainer == who).unwrap().fate;
		assert_eq!((fate(11), fate(12)), (Fate::Undecided, Fate::Rejected));
		let age = job(id).since - job(id).posted;
		assert_eq!(place_of(id), place_fee(job(id).quote.fee / 2, age));
	});
}

#[test]
fn replicas_pay_for_the_places_of_those_alone_who_kept_their_deposits() {
	run(|| {
		let id = post(3);
		let fee = job(id).quote.fee;
		apply(id, &[11, 12, 13]);
		run_to_state(id, trainyard_protocol::job::JobState::Training);
		[11, 12, 13].iter().for_each(|who| commit(id, *who));
		run_to_state(id, trainyard_protocol::job::JobState::Revealing);
		reveal(id, 11, 1);
		reveal_diverged(id, 12, 2, 10);
		reveal(id, 13, 3);
		run_to_state(id, trainyard_protocol::job::JobState::Auditing);
		let groups = AuditBook::get()[&id].request.groups.clone();
		let decisions: Vec<Decision> = groups
			.iter()
			.map(|group| match trainers_of(group)[..] {
				[13] => Decision::Rejected,
				_ => Decision::Accepted,
			})
			.collect();
		decide(id, &decisions, &VERIFIERS);
		run_to_end(id);
		let fates: Vec<Fate> = job(id).replicas.iter().map(|r| r.fate).collect();
		assert!(fates.contains(&Fate::Diverged) && fates.contains(&Fate::Rejected));
		let age = job(id).since - job(id).posted;
		let each = fee / 3;
		assert_eq!(place_of(id), place_fee(2 * each - each, age));
		assert_eq!(job(id).settlement.burned, each + place_of(id));
	});
}

/// A job without power pays no fee, whatever the market is, and moves nothing.
#[test]
fn what_earns_no_power_pays_no_fee() {
	run(|| {
		market(0, 20 * LEAST_BOUGHT);
		let before = Market::<Test>::get();
		let mut spec = JobSpec::noisy_example();
		let parameters = H256::repeat_byte(3);
		spec.initial_model = Some(InitialModel { file: spec.dataset.file(), parameters });
		let origin = RuntimeOrigin::signed(SUBMITTER);
		assert_ok!(TaskMarket::submit_job(origin, spec, terms(1), 0));
		let quote = job(0).quote;
		assert_eq!((quote.fee, quote.fee_per_ut), (0, 0));
		finish(0, Decision::Accepted);
		assert_eq!(Market::<Test>::get(), before);
		assert_eq!(Prices::<Test>::iter().count(), 0);
	});
}

/// The deposit covers what a false result gains where nobody finds it: its price and its power.
#[test]
fn a_deposit_is_more_than_price_and_power_at_every_fee() {
	run(|| {
		for (bought, posted) in [(0, 0), (0, 3 * LEAST_BOUGHT), (100 * LEAST_BOUGHT, 0)] {
			for price_per_ut in [1, 1_000_000, 100_000_000] {
				market(bought, posted);
				let terms = Terms { price_per_ut, ..terms(1) };
				let quote = TaskMarket::checked_quote(&noisy(), &terms).unwrap();
				// Of what is minted in all, by the share of the power: six tenths at most.
				let reward = BlockReward::get() * 6 / 10 * Balance::from(WINDOW);
				let volumes = TaskMarket::volumes();
				let all = Balance::from(volumes.bought.max(LEAST_BOUGHT));
				let power = reward * Balance::from(quote.training) / all;
				let gain = quote.price + power;
				let lost = (quote.deposit - AUDIT) * 3 / 4;
				assert!(lost > gain, "{bought} {posted} {price_per_ut}: {lost} {gain}");
			}
		}
	});
}

/// Where those who make blocks have a part of the training power alone, power of one of them is worth more than four
/// times its fee, and the deposit covers that.
#[test]
fn a_deposit_is_more_than_power_is_worth_to_those_who_make_blocks() {
	run(|| {
		// A market that buys 400,000 ut a day.
		let daily = 8 * LEAST_BOUGHT;
		let terms = Terms { price_per_ut: 1, ..terms(1) };
		for tenths in [1, 3, 10] {
			market(10 * daily, 0);
			TrainingVolume::set(daily / 10 * tenths);
			let quote = TaskMarket::checked_quote(&noisy(), &terms).unwrap();
			let times = quote.worth_per_ut * 10 / quote.fee_per_ut;
			let expected = 400 / u128::from(tenths);
			assert!(times.abs_diff(expected) <= 1, "{times} tenths of the fee, at {tenths}");
			// Of six tenths of ten days of blocks, by the share of the power.
			let shared = BlockReward::get() * 6 / 10 * Balance::from(WINDOW);
			let all = Balance::from(TrainingVolume::get()) * 10;
			let gain = quote.price + shared * Balance::from(quote.training) / all;
			let lost = (quote.deposit - AUDIT) * 3 / 4;
			assert!(lost > 2 * gain, "{tenths}: {lost} {gain}");
		}
	});
}

/// However little training those who make blocks have, and however much, a deposit has its bounds.
#[test]
fn what_power_is_worth_has_bounds() {
	run(|| {
		let worth = || TaskMarket::checked_quote(&noisy(), &terms(1)).unwrap().worth_per_ut;
		market(0, 0);
		assert_eq!(worth(), 4 * FIRST, "an empty market, of the floor");
		TrainingVolume::set(0);
		assert_eq!(worth(), 1_000_000_000_000_000, "on a chain without a floor: the most of a fee");
		TrainingVolume::set(MicroUt::MAX);
		assert_eq!(worth(), 4 * FIRST, "four times the fee at least");
		// And so it is where much was posted.
		market(0, LEAST_BOUGHT);
		assert_eq!(worth(), 4 * fee_now());
		let mut spec = JobSpec::noisy_example();
		let parameters = H256::repeat_byte(3);
		spec.initial_model = Some(InitialModel { file: spec.dataset.file(), parameters });
		TrainingVolume::set(1);
		let quote = TaskMarket::checked_quote(&spec.check().unwrap(), &terms(1)).unwrap();
		assert_eq!((quote.fee, quote.worth_per_ut), (0, 0), "it earns no power");
		assert_eq!(quote.deposit, (3 * quote.price).max(50_000) + AUDIT);
	});
}

/// What power is worth is fixed with the fee. Where it is worth more when it comes, the deposit does not cover all of
/// it, and as much is credited as it covers; the fee is burned, and counts as bought.
#[test]
fn power_is_credited_for_no_more_than_the_deposit_was_fixed_for() {
	for (volume, part) in [(1, 1), (2, 1), (1, 2), (1, 10)] {
		run(|| {
			let most = LEAST_BOUGHT / 10;
			TrainingVolume::set(most);
			let id = post(1);
			let before = job(id).quote;
			TrainingVolume::set(most * volume / part);
			assert_eq!(job(id).quote, before);
			finish(id, Decision::Accepted);
			let credited = Credited::get()[0].1;
			let expected = before.training / part;
			assert!(credited.abs_diff(expected) <= 1, "{credited}, {expected}");
			assert_eq!(job(id).settlement.burned, before.fee);
			let bought = TaskMarket::volumes().bought;
			assert!(before.training - bought < 10, "{bought}");
			assert_eq!(job(id).settlement.slashed, 0);
		});
	}
}

#[test]
fn prices_of_accepted_jobs_are_on_record() {
	run(|| {
		assert_eq!(TaskMarket::market().prices, vec![]);
		let id = post(1);
		finish(id, Decision::Rejected);
		assert_eq!(Prices::<Test>::iter().count(), 0, "nothing was paid");
		let id = post(1);
		finish(id, Decision::Accepted);
		let first = Prices::<Test>::get(MachineClass::Gib8).unwrap();
		assert_eq!((first.price_per_ut, first.weight), (5_000_000, job(id).quote.training));
		// A price to oneself that is a thousand times as high moves it no further than twice would.
		let id = post_with(SUBMITTER, Terms { price_per_ut: 5_000_000_000, ..terms(1) });
		finish(id, Decision::Accepted);
		let view = TaskMarket::market();
		assert_eq!(view.prices.len(), 1);
		let price = view.prices[0].price;
		assert!((7_498_000..=7_502_000).contains(&price.price_per_ut), "{price:?}");
		assert_eq!((view.fee_per_ut, view.base_fee_per_ut), (FIRST, FIRST));
		assert_eq!(view.free, LEAST_BOUGHT / 5);
		assert!(view.bought > 0 && view.posted > 0);
	});
}

/// What a market buys in a day in which computing counts as less than the most: 400,000 ut.
const DAILY: MicroUt = 8 * LEAST_BOUGHT;

/// What computing a `ut` counts as in the quote of the example if it were posted now.
fn compute_now() -> Balance {
	quote_now().compute_per_ut
}

/// Makes a market that buys [`DAILY`], in which jobs of the smallest class paid this for a `ut`.
fn paying(mean: Balance) {
	MinAuditFee::set(1);
	market(10 * DAILY, 0);
	let price = ClassPrice { price_per_ut: mean, weight: 10 * DAILY, at: TaskMarket::now() };
	Prices::<Test>::insert(MachineClass::Gib8, price);
}

/// The base of [`paying`].
const BASE: Balance = FIRST / 80;

/// Posts the example with the least fee of a seat, at this price.
fn post_cheaply(price_per_ut: Balance) -> JobId {
	let terms = Terms { price_per_ut, ..terms(1) };
	post_with(SUBMITTER, with_least_fee(&JobSpec::noisy_example(), terms))
}

#[test]
fn what_computing_counts_as_follows_the_market() {
	run(|| {
		assert_eq!(compute_now(), FIRST, "the most, in an empty market");
		market(10 * LEAST_BOUGHT, 0);
		assert_eq!(fee_now(), FIRST / 10);
		assert_eq!(compute_now(), FIRST, "10.4 bases are more");
		MinAuditFee::set(1);
		market(10 * DAILY, 0);
		assert_eq!((fee_now(), compute_now()), (BASE, 52 * BASE / 5));
		paying(3_000);
		assert_eq!(compute_now(), 52 * BASE / 5 + 12_000);
		paying(FIRST);
		assert_eq!(compute_now(), FIRST, "and no more than that");
	});
}

/// What the quote says holds for the job, and the next one has what the market says then.
#[test]
fn what_computing_counts_as_is_fixed_in_the_quote() {
	run(|| {
		paying(3_000);
		let spec = JobSpec::noisy_example();
		let low = compute_now();
		let least = TaskMarket::audit_fee(spec.clone(), &terms(1)).unwrap();
		let audit = work::audit_micro_ut(&noisy(), 5).unwrap();
		assert_eq!(least, units::price(audit, low).unwrap());
		let view = TaskMarket::quote(spec.clone(), &Terms { audit_fee: least, ..terms(1) });
		assert_eq!(view.unwrap().compute_per_ut, low);
		let id = post_cheaply(5_000_000);
		assert_eq!(job(id).terms.audit_fee, least);
		// All others cease to train.
		market(0, 0);
		assert_eq!(compute_now(), FIRST);
		assert_eq!(job(id).quote.compute_per_ut, low);
		assert_eq!(TaskMarket::job_view(id).unwrap().compute_per_ut, low);
		let quote = job(id).quote;
		let deposit = fees::challenge_deposit(&noisy(), &quote.parts, low).unwrap();
		assert_eq!(Asked::get().unwrap().challenge, deposit);
		apply(id, &[11]);
		run_to_state(id, trainyard_protocol::job::JobState::Training);
		commit(id, 11);
		run_to_state(id, trainyard_protocol::job::JobState::Revealing);
		reveal(id, 11, 1);
		run_to_state(id, trainyard_protocol::job::JobState::Auditing);
		assert_eq!(TaskMarket::challenge_deposit(id), Some(deposit));
		assert_eq!(AuditBook::get()[&id].request.challenge, deposit);
		assert_eq!(AuditBook::get()[&id].request.fee, least);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		assert_eq!(job(id).settlement.paid_to_verifiers, 3 * least);
	});
}

/// A fee that was named for another market is refused, in either direction.
#[test]
fn an_audit_fee_is_held_against_the_market_of_its_block() {
	run(|| {
		let spec = JobSpec::noisy_example;
		paying(3_000);
		let least = TaskMarket::audit_fee(spec(), &terms(1)).unwrap();
		let post = |audit_fee| {
			let terms = Terms { audit_fee, ..terms(1) };
			TaskMarket::submit_job(RuntimeOrigin::signed(SUBMITTER), spec(), terms, Balance::MAX)
		};
		assert_noop!(post(least - 1), Error::<Test>::AuditFeeTooLow);
		assert_noop!(post(4 * least + 1), Error::<Test>::AuditFeeTooHigh);
		// A hundredth more is enough for two hours in which nothing is trained.
		let offered = fees::offered_audit_fee(least, Balance::MAX);
		System::set_block_number(TaskMarket::now() + 1_200);
		assert_noop!(post(least), Error::<Test>::AuditFeeTooLow);
		assert_ok!(post(offered));
		// And where all training has ceased it is not.
		market(0, 0);
		assert_noop!(post(offered), Error::<Test>::AuditFeeTooLow);
		let most = TaskMarket::audit_fee(spec(), &terms(1)).unwrap();
		assert_ok!(post(most));
		// What was the least on a young chain is too much for a large market.
		paying(1);
		assert_noop!(post(most), Error::<Test>::AuditFeeTooHigh);
	});
}

/// Who posts for itself names a price of nothing, and where its class trains next to nothing else it brings the mean to
/// nothing, too. Its audits cost 10.4 bases for each ut that is replayed all the same, which is four times what any
/// machine costs that trains for itself: it has no say in the base but by what it burns.
#[test]
fn who_trains_for_itself_cannot_underpay_its_audits() {
	run(|| {
		paying(3_000);
		let weight = quote_now().training;
		Prices::<Test>::mutate(MachineClass::Gib8, |price| price.as_mut().unwrap().weight = weight);
		let before = TaskMarket::volumes();
		let power = || 52 * TaskMarket::volumes().base(BlockReward::get()) / 5;
		for _ in 0..20 {
			let id = post_cheaply(1);
			let quote = job(id).quote;
			assert!(quote.compute_per_ut >= power());
			finish(id, Decision::Accepted);
			assert_eq!(job(id).settlement.burned, quote.fee);
		}
		let mean = Prices::<Test>::get(MachineClass::Gib8).unwrap().price_per_ut;
		assert!(
			mean < 1_000,
			"{mean}: each moves it by no more than its part of what the class trained"
		);
		let (least, now) = (power(), TaskMarket::now());
		let without = 52 * before.aged(now).base(BlockReward::get()) / 5;
		assert!(without - least < 20, "{least} of {without}: the base is what it would have been");
		assert!((least..least + 2).contains(&(compute_now() - 4 * mean)));
		// Nor does it name a lower fee.
		let audit = work::audit_micro_ut(&noisy(), 5).unwrap();
		let due = units::price(audit, least).unwrap();
		let low = Terms { price_per_ut: 1, audit_fee: due - 1, ..terms(1) };
		let origin = RuntimeOrigin::signed(SUBMITTER);
		let call = TaskMarket::submit_job(origin, JobSpec::noisy_example(), low, Balance::MAX);
		assert_noop!(call, Error::<Test>::AuditFeeTooLow);
	});
}

/// A flood raises the fee for power, and neither makes audits dear for others nor cheap for who floods.
#[test]
fn what_is_posted_moves_no_audit() {
	run(|| {
		paying(3_000);
		let (fee, before) = (fee_now(), compute_now());
		Market::<Test>::mutate(|market| *market = market.post(100 * DAILY));
		assert!(fee_now() > 100 * fee);
		assert_eq!(compute_now(), before);
	});
}

/// To make the mean half as high again somebody pays itself twice the mean for as much training as the market bought in
/// ten days, and burns the fee for all of it; a price that is higher moves no more.
#[test]
fn a_griefer_burns_for_the_mean() {
	run(|| {
		paying(3_000);
		let before = compute_now();
		// One job, however dear it is: it burns its fee, and moves less than its part of the market.
		let id = post_cheaply(1 << 50);
		finish(id, Decision::Accepted);
		let part = u128::from(job(id).quote.training) * 3_000 / u128::from(10 * DAILY);
		let (mean, now) = (Prices::<Test>::get(MachineClass::Gib8).unwrap(), TaskMarket::now());
		let moved = mean.price_per_ut - 3_000;
		assert!(job(id).settlement.burned > 0 && moved <= part + 1, "{moved} {part}");
		assert!(compute_now() - before < 20, "the base is a few blocks older");
		// As much as ten days bought.
		let dear = ClassPrice::with(Some(mean), 1 << 50, 10 * DAILY, now);
		Prices::<Test>::insert(MachineClass::Gib8, dear);
		market(20 * DAILY, 0);
		let after = compute_now();
		let base = TaskMarket::volumes().base(BlockReward::get());
		assert!(base < BASE, "and power is cheaper");
		let most = 52 * base / 5 + 4 * 3_000 * 3 / 2;
		assert!((most - 100..most + 100).contains(&after), "{after} {most}");
		// In a class whose market is nothing its price is taken as it is, and what counts is bounded all the same.
		Prices::<Test>::remove(MachineClass::Gib8);
		let id = post_cheaply(1 << 50);
		finish(id, Decision::Accepted);
		assert_eq!(compute_now(), FIRST, "no more than that");
	});
}

/// A class that nobody buys has no price, or one that its first buyer made: computing counts by all markets together,
/// so it is neither free there nor dear.
#[test]
fn a_class_of_few_buyers_moves_nothing() {
	run(|| {
		paying(3_000);
		let before = compute_now();
		let at = TaskMarket::now();
		for price_per_ut in [0, FIRST] {
			let weight = quote_now().training;
			let price = ClassPrice { price_per_ut, weight, at };
			Prices::<Test>::insert(MachineClass::Gib32, price);
			assert!(compute_now().abs_diff(before) <= 4, "{price_per_ut}");
		}
		// By as much training it counts as much.
		let price = ClassPrice { price_per_ut: 9_000, weight: 10 * DAILY, at };
		Prices::<Test>::insert(MachineClass::Gib32, price);
		assert_eq!(compute_now(), before + 4 * 3_000);
	});
}

/// The deposit of a challenge pays for a defence on any machine that trains, four times, whatever the market is, and
/// whatever it becomes while the job runs.
#[test]
fn a_challenge_covers_a_defence_at_every_market() {
	run(|| {
		for (bought, mean) in [(1, 0), (1, 3_000), (1, 100_000), (100, 0), (100, 7)] {
			paying(mean);
			market(bought * 10 * DAILY, 0);
			let quote = job(post_cheaply(1)).quote;
			let base = TaskMarket::volumes().base(BlockReward::get());
			// What the dearest machine costs that trains: what it earns and does not burn.
			let dearest = (mean + 26 * base / 10).min(FIRST / 4);
			let parts = quote.parts;
			let deposit = fees::challenge_deposit(&noisy(), &parts, quote.compute_per_ut).unwrap();
			let work = units::micro_ut(parts.defence_flop(&noisy()).unwrap());
			let defence = units::price(work.unwrap(), dearest).unwrap();
			assert!(deposit - fees::CHALLENGE_BASE >= 4 * defence - 4, "{bought} {mean}");
			assert!(deposit > fees::CHALLENGE_BASE, "{bought} {mean}");
		}
	});
}
