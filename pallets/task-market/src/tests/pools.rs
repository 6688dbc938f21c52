//! Claims that pools hold: what may be enrolled, and what pools are told.

use crate::{mock::*, Claims, Error};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::{DispatchError, DispatchResult};
use trainyard_protocol::{
	audit::Decision,
	claims::Asked,
	job::{Balance, BlockNumber, JobState, Terms},
	lottery::{Strata, Tickets},
	JobId,
};
use trainyard_traits::PooledClaims;

/// The account of a pool.
const POOL: AccountId = 77;
const SEGMENTS: u32 = 30;

fn enrol(id: JobId, trainer: AccountId) -> Result<Balance, DispatchError> {
	<TaskMarket as PooledClaims<AccountId>>::enrol(id, &trainer, &POOL, BlockNumber::MAX)
}

/// Terms by lottery whose tickets are worth little beside the fee.
fn by_lottery(one_in: u32, replicas: u32) -> Terms {
	let terms = terms(replicas);
	let tickets = SEGMENTS.div_ceil(one_in).div_ceil(terms.verifiers);
	let audit_segments = terms.audit_segments.max(tickets);
	Terms { lottery: Some(one_in), price_per_ut: 500_000, audit_segments, ..terms }
}

fn trained(terms: Terms, trainers: &[AccountId]) -> JobId {
	let id = post_with(SUBMITTER, terms);
	apply(id, trainers);
	run_to_state(id, JobState::Training);
	id
}

/// Brings a job in training to its end, by one trainer whose tickets bring this.
fn ended(id: JobId, paid: u32, decision: Decision) {
	audited(id, &[(11, 1)]);
	AuditBook::mutate(|book| {
		let tickets = Tickets { paid, proven: paid };
		book.get_mut(&id).unwrap().outcome.tickets = vec![(11, tickets)];
	});
	decide(id, &[decision], &VERIFIERS);
	run_to_end(id);
}

#[test]
fn a_pool_is_told_what_it_got_and_what_is_paid_on_the_average() {
	for (decision, verdict) in [
		(Decision::Accepted, true),
		(Decision::Idle, true),
		(Decision::Undecided, false),
		(Decision::Rejected, false),
	] {
		for paid in [20, 40] {
			run(|| {
				let id = trained(by_lottery(20, 1), &[11]);
				assert_ok!(enrol(id, 11));
				assert_eq!(Claims::<Test>::get(id)[0].holder, POOL);
				ended(id, paid, decision);
				let settlement = job(id).settlement;
				let mean = verdict.then_some(job(id).quote.price);
				assert_eq!(Told::get(), [(id, 11, settlement.paid_to_trainers, mean)]);
				// What is paid and reaches nobody is not paid to a pool without an account: here it has enough.
				let kept = if decision == Decision::Rejected { job(id).quote.deposit } else { 0 };
				assert_eq!(free(11), ENDOWMENT - kept);
				assert!(Claims::<Test>::get(id).is_empty());
			});
		}
	}
}

/// The reserve covers the mean of whatever number of segments is trained, whatever the tickets bring.
#[test]
fn the_reserve_covers_every_draw() {
	for one_in in [2, 7, 8, 20] {
		for replicas in [1, 2] {
			run(|| {
				let trainers = [11, 12];
				let id = trained(by_lottery(one_in, replicas), &trainers[..replicas as usize]);
				let reserve = enrol(id, 11).unwrap();
				let quote = job(id).quote;
				let drawn = job(id).replicas.len() as u32;
				let of = |segments| quote.of_tickets(segments, SEGMENTS).of_each(drawn).price;
				for segments in 0..=SEGMENTS {
					let least = Strata::new(segments, one_in).whole() * one_in;
					assert!(of(segments) - of(least) <= reserve, "{segments} of {one_in}");
				}
			});
		}
	}
}

#[test]
fn claims_are_enrolled_before_any_ticket_is_drawn() {
	run(|| {
		let terms = || by_lottery(20, 2);
		assert_noop!(enrol(9, 11), Error::<Test>::NoSuchJob);
		let id = post_with(SUBMITTER, terms());
		assert_noop!(enrol(id, 11), Error::<Test>::NotRunning);
		apply(id, &[11, 12]);
		run_to_state(id, JobState::Training);
		assert_noop!(enrol(id, 13), Error::<Test>::NotAParty);
		assert_ok!(enrol(id, 11));
		assert_noop!(enrol(id, 11), Error::<Test>::NotHolder);
		commit(id, 11);
		commit(id, 12);
		run_to_state(id, JobState::Revealing);
		assert_ok!(enrol(id, 12));
		reveal(id, 11, 1);
		reveal(id, 12, 1);
		run_to_state(id, JobState::Auditing);
		assert_noop!(enrol(id, 12), Error::<Test>::NotRunning);
		// What a pool holds its trainer cannot sell.
		let asked = Some(Asked { price: 1, until: 1_000_000, only: None });
		let sell: DispatchResult =
			TaskMarket::offer_claim(RuntimeOrigin::signed(11), id, 11, asked);
		assert_eq!(sell, Err(Error::<Test>::NotHolder.into()));
	});
	run(|| {
		let id = training(&[11]);
		assert_noop!(enrol(id, 11), Error::<Test>::NoLottery);
	});
}

/// Attack: submitter, trainer and a seat are one. The seat says nothing where the last ticket won, so that it is drawn
/// again: the submitter saves a ticket, and the pool pays the mean all the same. Silence costs five fees, so a pool takes
/// no claim whose ticket, over all replicas, is worth more.
#[test]
fn a_ticket_is_worth_no_more_than_silence_costs() {
	run(|| {
		for (price_per_ut, replicas) in [(500_000, 1), (5_000_000, 1), (5_000_000, 2)] {
			for one_in in [2, 5, 8, 15, 20, 30, 64] {
				let terms = Terms { price_per_ut, ..by_lottery(one_in, replicas) };
				let id = trained(terms, &TRAINERS[..replicas as usize]);
				let quote = job(id).quote;
				let each = quote.of_tickets(one_in, SEGMENTS).of_each(replicas).price;
				// What a ticket that loses does not burn, the submitter saves as well.
				let fee = quote.of_tickets(one_in, SEGMENTS).fee;
				let worth = each * Balance::from(replicas) + fee;
				let silence = 5 * job(id).terms.audit_fee;
				match worth <= silence {
					true => assert_eq!(enrol(id, 11), Ok(each + 3)),
					false => {
						assert_noop!(enrol(id, 11), Error::<Test>::TicketTooDear);
					}
				}
			}
		}
	});
}

/// `agree` settles at any pay: the pool is told that no verdict did, and passes on what it got.
#[test]
fn what_is_agreed_is_no_verdict() {
	run(|| {
		let id = trained(by_lottery(20, 1), &[11]);
		assert_ok!(enrol(id, 11));
		for who in [SUBMITTER, 11] {
			assert_ok!(TaskMarket::agree(RuntimeOrigin::signed(who), id, Some(1_500)));
		}
		assert_eq!(Told::get(), [(id, 11, 1_500, None)]);
		assert_eq!((free(POOL), free(11)), (1_500, ENDOWMENT));
	});
}

/// A trainer that commits nothing has nothing to be paid, and the pool is told so.
#[test]
fn a_pool_is_told_that_nothing_is_paid() {
	run(|| {
		let id = trained(by_lottery(20, 1), &[11]);
		assert_ok!(enrol(id, 11));
		run_to_end(id);
		assert_eq!(Told::get(), [(id, 11, 0, None)]);
		assert!(Claims::<Test>::get(id).is_empty());
	});
}

/// Members of a pool wait for its claims, so no job is enrolled that is trained for longer than the pool enrols.
#[test]
fn a_job_that_takes_longer_than_the_pool_enrols_is_not_enrolled() {
	run(|| {
		let id = trained(by_lottery(20, 1), &[11]);
		let deadline = job(id).deadline;
		let enrol = |by| <TaskMarket as PooledClaims<AccountId>>::enrol(id, &11, &POOL, by);
		assert_noop!(enrol(deadline - 1), Error::<Test>::ClaimTooLong);
		assert_ok!(enrol(deadline));
	});
}
