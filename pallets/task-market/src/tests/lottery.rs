//! Jobs that pay by lottery: what posting asks for, and where the money goes.

use crate::{mock::*, Error, HoldReason, Job, Lates, TotalBurned};
use frame_support::{assert_noop, assert_ok};
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	audit::Decision,
	job::{Balance, Ending, Fate, JobState, Terms},
	lottery::{share, Prospect, Strata, Tickets},
	JobId, MicroUt,
};

/// Segments of the example.
const SEGMENTS: u32 = 30;
/// Fees of three seats.
const SERVED: Balance = 30_000;

/// One of so many segments wins.
fn by_lottery(one_in: u32, replicas: u32) -> Terms {
	Terms { lottery: Some(one_in), ..terms(replicas) }
}

/// Takes a job to the end of its audit with this decision, of which the audit says that this is paid to each trainer.
fn settled(id: JobId, paid: &[(AccountId, u32, u32)], decision: Decision) -> Job<AccountId> {
	let trainers: Vec<AccountId> = paid.iter().map(|(who, ..)| *who).collect();
	apply(id, &trainers);
	run_to_state(id, JobState::Training);
	let results: Vec<(AccountId, u8)> = trainers.iter().map(|who| (*who, 1)).collect();
	audited(id, &results);
	AuditBook::mutate(|book| {
		let ticket = |(who, paid, proven): &(AccountId, u32, u32)| {
			(*who, Tickets { paid: *paid, proven: *proven })
		};
		book.get_mut(&id).unwrap().outcome.tickets = paid.iter().map(ticket).collect();
	});
	decide(id, &[decision], &VERIFIERS);
	run_to_end(id);
	job(id)
}

/// The same of one trainer, whose result was accepted.
fn accepted(one_in: u32, paid: u32, proven: u32) -> Job<AccountId> {
	let id = post_with(SUBMITTER, by_lottery(one_in, 1));
	settled(id, &[(11, paid, proven)], Decision::Accepted)
}

#[test]
fn terms_of_a_lottery_are_checked() {
	run(|| {
		let submit = |terms: Terms| {
			let spec = JobSpec::noisy_example();
			TaskMarket::submit_job(RuntimeOrigin::signed(SUBMITTER), spec, terms, Balance::MAX)
		};
		for one_in in [0, 1, 129, u32::MAX] {
			assert_noop!(submit(by_lottery(one_in, 1)), Error::<Test>::BadLottery);
		}
		let draws = |audit_segments, one_in, verifiers| Terms {
			audit_segments,
			verifiers,
			..by_lottery(one_in, 1)
		};
		// 15 tickets for three seats.
		assert_noop!(submit(draws(4, 2, 3)), Error::<Test>::BadLotteryDraws);
		assert_noop!(submit(draws(17, 2, 3)), Error::<Test>::BadLotteryDraws);
		assert_noop!(submit(draws(0, 10, 3)), Error::<Test>::BadLotteryDraws);
		// Two tickets for five seats.
		assert_noop!(submit(draws(1, 15, 5)), Error::<Test>::BadLotteryDraws);
		let fits = |draws: Terms| with_least_fee(&JobSpec::noisy_example(), draws);
		for terms in [draws(5, 2, 3), draws(1, 128, 3), draws(1, 6, 5), draws(1, 2, 15)] {
			let request = terms.drawing();
			assert_ok!(submit(fits(terms)));
			assert_eq!(Asked::get().unwrap().drawing, request);
		}
	});
}

/// The escrow covers the most that can win, and the deposit three times that.
#[test]
fn escrow_and_deposit_cover_what_wins() {
	run(|| {
		let plain = TaskMarket::checked_quote(&noisy(), &terms(3)).unwrap();
		let worth = trainyard_program::units::price(plain.training, plain.worth_per_ut).unwrap();
		for (one_in, most) in [(10, 30), (15, 30), (20, 40), (100, 100)] {
			let terms = by_lottery(one_in, 3);
			let quote = TaskMarket::checked_quote(&noisy(), &terms).unwrap();
			assert_eq!(
				(quote.price, quote.fee, quote.training),
				(plain.price, plain.fee, plain.training)
			);
			let up = |amount: Balance| (amount * most).div_ceil(30);
			let pay = trainyard_protocol::fees::pay_of_all(up(plain.price), 3).unwrap();
			assert_eq!(quote.escrow, pay + up(plain.fee) + AUDIT + quote.storage);
			assert_eq!(quote.deposit, 3 * up(plain.price.max(worth)) + AUDIT);
			// Whatever wins, the escrow pays it.
			let all = quote.of_tickets(most as u32, 30).of_each(3);
			assert!(3 * (all.price + all.fee) <= pay + up(plain.fee));
		}
	});
}

#[test]
fn what_it_pays_is_shown_before_anybody_applies() {
	run(|| {
		let quote =
			|one_in| TaskMarket::quote(JobSpec::noisy_example(), &by_lottery(one_in, 3)).unwrap();
		for one_in in [10, 20, 100] {
			let quote = quote(one_in);
			assert_eq!(quote.lottery, Some(Prospect::of(quote.pay, SEGMENTS, one_in)));
			assert_eq!(quote.lottery.unwrap().expected, quote.pay);
		}
		assert_eq!(quote(10).lottery.unwrap().deviation, 0);
		assert_eq!(TaskMarket::quote(JobSpec::noisy_example(), &terms(3)).unwrap().lottery, None);
	});
}

#[test]
fn what_wins_is_paid_and_makes_power() {
	for (one_in, paid, proven) in [
		(10, 30, 30),
		(20, 40, 40),
		(20, 20, 20),
		(20, 40, 20),
		(100, 100, 100),
		(100, 100, 0),
		(100, 0, 0),
	] {
		run(|| {
			let job = accepted(one_in, paid, proven);
			let (quote, s) = (job.quote, job.settlement);
			assert_eq!(
				(job.replicas[0].fate, job.state),
				(Fate::Accepted, JobState::Ended(Ending::Settled))
			);
			let pay = share(quote.price, paid, SEGMENTS);
			let fee = share(quote.fee, proven, SEGMENTS);
			assert_eq!((s.paid_to_trainers, s.burned, s.slashed), (pay, fee, 0));
			assert_eq!(
				(s.paid_to_verifiers, s.refunded),
				(SERVED, quote.escrow - pay - fee - SERVED)
			);
			assert_eq!(free(11), ENDOWMENT + pay);
			assert_eq!(free(SUBMITTER), ENDOWMENT - pay - fee - SERVED);
			assert_eq!(TotalBurned::<Test>::get(), fee, "nothing for its place");
			let work = share(quote.training.into(), proven, SEGMENTS) as MicroUt;
			assert_eq!(Credited::get(), vec![(11, work)]);
		});
	}
}

/// Over both outcomes of the last ticket, as often as each comes, pay, power and what is burned are those of the same
/// job without a lottery: whoever posts jobs to itself gains no power by it.
#[test]
fn a_wash_job_gains_no_power_on_the_average() {
	for one_in in [20, 50, 100] {
		let strata = Strata::new(SEGMENTS, one_in);
		let run_with = |wins| {
			let mut all = [0; 4];
			run(|| {
				let tickets = strata.tickets(wins, 3, |_| true);
				let job = accepted(one_in, tickets.paid, tickets.proven);
				let power: MicroUt = Credited::get().iter().map(|(_, work)| *work).sum();
				let s = job.settlement;
				// Paid by itself, that is nothing; what is burned is what power costs.
				all = [s.paid_to_trainers, s.burned, power.into(), s.paid_to_verifiers];
			});
			all
		};
		let mut plain = [0; 4];
		run(|| {
			let id = post_with(SUBMITTER, terms(1));
			let job = settled(id, &[(11, 0, 0)], Decision::Accepted);
			let s = job.settlement;
			let power: MicroUt = Credited::get().iter().map(|(_, work)| *work).sum();
			plain = [s.paid_to_trainers, s.burned, power.into(), s.paid_to_verifiers];
		});
		let (won, lost) = (run_with(true), run_with(false));
		let (often, seldom) = (Balance::from(strata.rest()), Balance::from(one_in - strata.rest()));
		for at in 0..4 {
			let mean = won[at] * often + lost[at] * seldom;
			let all = plain[at] * Balance::from(one_in);
			assert!(
				mean <= all && all - mean <= 2 * Balance::from(one_in),
				"{at} of {one_in}: {mean} {all}"
			);
		}
	}
}

/// Replicas share what one of them would be paid, each by its own luck.
#[test]
fn each_replica_is_paid_by_its_own_ticket() {
	run(|| {
		let id = post_with(SUBMITTER, by_lottery(20, 2));
		let job = settled(id, &[(11, 40, 40), (12, 20, 20)], Decision::Accepted);
		let of = |segments| job.quote.of_tickets(segments, SEGMENTS).of_each(2);
		assert_eq!((free(11), free(12)), (ENDOWMENT + of(40).price, ENDOWMENT + of(20).price));
		assert_eq!(job.settlement.burned, of(40).fee + of(20).fee);
		let mut credited = Credited::get();
		credited.sort();
		assert_eq!(credited, vec![(11, of(40).training), (12, of(20).training)]);
	});
}

/// An accepted result without a winner is settled all the same: nothing is paid, and the deposit returns, but for the
/// fifth that can still be lost.
#[test]
fn no_winner_costs_nobody_anything() {
	run(|| {
		LateBlocks::set(20);
		let job = accepted(100, 0, 0);
		assert_eq!(job.state, JobState::Ended(Ending::Settled));
		let locked = (job.quote.deposit) / 5;
		assert_eq!(held(HoldReason::Deposit, 11), locked);
		assert!(Lates::<Test>::contains_key(0));
		let s = job.settlement;
		assert_eq!((s.paid_to_trainers, s.burned, s.slashed), (0, 0, 0));
		assert_eq!(s.refunded, job.quote.escrow - SERVED);
	});
}

/// A false ticket loses the whole deposit, whatever else won.
#[test]
fn one_false_ticket_loses_all_of_the_deposit() {
	run(|| {
		let id = post_with(SUBMITTER, by_lottery(100, 1));
		let job = settled(id, &[(11, 100, 100)], Decision::Rejected);
		let (quote, s) = (job.quote, job.settlement);
		assert_eq!((job.replicas[0].fate, s.paid_to_trainers), (Fate::Rejected, 0));
		assert_eq!(s.slashed, quote.deposit);
		assert!(quote.deposit >= 3 * share(quote.price, 100, SEGMENTS), "more than its ticket");
		assert_eq!(free(11), ENDOWMENT - quote.deposit);
		assert_eq!((free(SUBMITTER), Credited::get()), (ENDOWMENT, vec![]));
	});
}

/// What stood still or diverged is paid by tickets, too, and makes no power.
#[test]
fn idle_and_diverged_results_are_paid_by_tickets() {
	run(|| {
		let id = post_with(SUBMITTER, by_lottery(20, 1));
		let job = settled(id, &[(11, 40, 40)], Decision::Idle);
		let worth = job.quote.of_tickets(40, SEGMENTS);
		assert_eq!(job.replicas[0].fate, Fate::Idle);
		assert_eq!((job.settlement.paid_to_trainers, Credited::get()), (worth.price, vec![]));
	});
	run(|| {
		let id = post_with(SUBMITTER, by_lottery(20, 1));
		apply(id, &[11]);
		run_to_state(id, JobState::Training);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		reveal_diverged(id, 11, 1, 24);
		run_to_state(id, JobState::Auditing);
		let tickets = vec![(11, Tickets { paid: 20, proven: 20 })];
		AuditBook::mutate(|book| book.get_mut(&id).unwrap().outcome.tickets = tickets);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		let job = job(id);
		assert_eq!(job.replicas[0].fate, Fate::Diverged);
		assert_eq!(job.settlement.paid_to_trainers, job.quote.of_tickets(20, SEGMENTS).price);
		assert_eq!(Credited::get(), vec![]);
	});
}

/// A lottery changes nothing of what is undecided: its part is of the expected pay.
#[test]
fn what_is_undecided_is_paid_in_part() {
	run(|| {
		let id = post_with(SUBMITTER, by_lottery(100, 1));
		let job = settled(id, &[(11, 0, 0)], Decision::Undecided);
		assert_eq!(job.settlement.paid_to_trainers, job.quote.price / 5);
		assert_eq!(Credited::get(), vec![]);
	});
}
