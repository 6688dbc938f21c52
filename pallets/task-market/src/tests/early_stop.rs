//! Jobs that stop early: which results are taken, and what they are paid.

use crate::{mock::*, TotalBurned, Worth};
use proptest::prelude::*;
use trainyard_program::{units, work};
use trainyard_protocol::{
	audit::Decision,
	duties,
	job::{Balance, Fate, JobState, Settlement, Terms},
	MicroUt,
};

const FEE: Balance = 10_000;

/// A job that may stop early, at the audit: each trainer revealed a result that goes by the byte
/// and has that many segments.
fn stopped(results: &[(AccountId, u8, u32)]) -> u32 {
	let id = post_spec(SUBMITTER, stopping(), terms(results.len() as u32));
	let trainers: Vec<AccountId> = results.iter().map(|(trainer, ..)| *trainer).collect();
	apply(id, &trainers);
	run_to_state(id, JobState::Training);
	trainers.iter().for_each(|trainer| commit(id, *trainer));
	run_to_state(id, JobState::Revealing);
	for (trainer, byte, segments) in results {
		reveal_after(id, *trainer, *byte, *segments);
	}
	run_to_state(id, JobState::Auditing);
	id
}

/// Work of the job's first segments, counted from scratch.
fn work_of(segments: u32) -> MicroUt {
	let spec = stopping();
	let steps = u128::from(spec.checkpoint_step(segments).unwrap());
	let evaluations = u128::from(segments) + 1;
	let parts = work::Parts::of(&spec.check().unwrap());
	units::micro_ut(steps * parts.step + evaluations * parts.evaluation).unwrap()
}

/// The steps of the job's first segments, counted from scratch.
fn training_of(segments: u32) -> MicroUt {
	let spec = stopping();
	let steps = u128::from(spec.checkpoint_step(segments).unwrap());
	let parts = work::Parts::of(&spec.check().unwrap());
	units::micro_ut(steps * parts.step).unwrap()
}

fn pay_of(segments: u32) -> Balance {
	units::price(work_of(segments), terms(1).price_per_ut).unwrap()
}

/// The protocol fee is a unit for each micro-ut of training in these tests.
fn fee_of(segments: u32) -> Balance {
	Balance::from(training_of(segments))
}

#[test]
fn a_round_takes_what_the_specification_allows() {
	run(|| {
		let id = training(&[11]);
		assert_eq!(Rounds::get()[&id].segments, Some(30..=30), "it cannot stop early");
		let id = post_spec(OTHER, stopping(), terms(1));
		apply(id, &[12]);
		run_to_state(id, JobState::Training);
		assert_eq!(Rounds::get()[&id].segments, Some(3..=30));
	});
}

#[test]
fn a_trainer_is_paid_for_the_segments_that_it_trained() {
	run(|| {
		let id = stopped(&[(11, 1, 12)]);
		assert_eq!(AuditBook::get()[&id].request.groups[0].0.segments, 12);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		let job = job(id);
		assert_eq!(job.replicas[0].segments, Some(12));
		let (pay, fee) = (pay_of(12), fee_of(12));
		assert!(pay < job.quote.price && fee < job.quote.fee);
		let place = place_of(id);
		assert_eq!(place, (job.quote.fee - fee) / 100, "the least there is");
		let expected = Settlement {
			escrowed: job.quote.escrow,
			paid_to_trainers: pay,
			paid_to_verifiers: 3 * FEE,
			burned: fee + place,
			refunded: job.quote.escrow - pay - fee - place - 3 * FEE,
			..Default::default()
		};
		assert_eq!(job.settlement, expected);
		assert_eq!(free(11), ENDOWMENT + pay);
		assert_eq!(free(SUBMITTER), ENDOWMENT - pay - fee - place - 3 * FEE);
		assert_eq!(TotalBurned::<Test>::get(), fee + place);
		assert_eq!(Credited::get(), vec![(11, training_of(12))]);
	});
}

#[test]
fn quote_escrow_and_deposit_are_those_of_the_whole_job() {
	run(|| {
		let plain = job(post(2)).quote;
		let quote = job(post_spec(OTHER, stopping(), terms(2))).quote;
		assert_eq!(quote, plain);
		assert_eq!((quote.work, quote.price), (work_of(30), pay_of(30)));
	});
}

#[test]
fn who_trained_to_the_end_is_paid_in_full() {
	run(|| {
		let id = stopped(&[(11, 1, 30)]);
		decide(id, &[Decision::Accepted], &[]);
		run_to_end(id);
		let job = job(id);
		assert_eq!(job.settlement.paid_to_trainers, job.quote.price);
		assert_eq!(job.settlement.burned, job.quote.fee);
		assert_eq!(Credited::get(), vec![(11, job.quote.training)]);
	});
}

/// Equal results share the power of what was computed; a false one of another length changes
/// nothing about it.
#[test]
fn each_replica_is_paid_by_its_own_result() {
	run(|| {
		let id = stopped(&[(11, 1, 7), (12, 1, 7), (13, 2, 30)]);
		let request = &AuditBook::get()[&id].request;
		let segments: Vec<u32> = request.groups.iter().map(|(result, _)| result.segments).collect();
		assert_eq!(segments, [7, 30]);
		decide(id, &[Decision::Accepted, Decision::Rejected], &VERIFIERS);
		run_to_end(id);
		let job = job(id);
		let fates: Vec<_> = job.replicas.iter().map(|r| (r.trainer, r.fate, r.segments)).collect();
		for (trainer, fate, segments) in fates {
			let expected = match trainer {
				13 => (Fate::Rejected, Some(30)),
				_ => (Fate::Accepted, Some(7)),
			};
			assert_eq!((fate, segments), expected);
		}
		// Of three, each gets a third of the price and 30 % of it, and burns a third of the fee.
		let pay = pay_of(7) * 130 / 100 / 3;
		assert_eq!(job.settlement.paid_to_trainers, 2 * pay);
		assert_eq!(job.settlement.burned, 2 * (fee_of(7) / 3) + place_of(id));
		assert_eq!(job.settlement.slashed, job.quote.deposit, "of the whole job");
		for trainer in [11, 12] {
			assert_eq!(free(trainer), ENDOWMENT + pay);
			assert!(Credited::get().contains(&(trainer, training_of(7) / 3)));
		}
	});
}

#[test]
fn what_differs_only_in_its_segments_is_another_result() {
	run(|| {
		let id = stopped(&[(11, 1, 7), (12, 1, 8)]);
		assert_eq!(AuditBook::get()[&id].request.groups.len(), 2);
		decide(id, &[Decision::Rejected, Decision::Accepted], &[]);
		run_to_end(id);
		assert_eq!(job(id).settlement.paid_to_trainers, pay_of(8) * 115 / 100 / 2);
	});
}

#[test]
fn an_agreement_pays_what_was_agreed() {
	run(|| {
		let id = post_spec(SUBMITTER, stopping(), terms(1));
		apply(id, &[11]);
		run_to_state(id, JobState::Training);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		reveal_after(id, 11, 1, 5);
		for who in [SUBMITTER, 11] {
			let agreed = TaskMarket::agree(RuntimeOrigin::signed(who), id, Some(777));
			agreed.unwrap();
		}
		assert_eq!(job(id).settlement.paid_to_trainers, 777);
		assert_eq!(Credited::get(), vec![]);
	});
}

proptest! {
	/// More segments are never worth less, all of them what was quoted, and the parts are the
	/// price of their work.
	#[test]
	fn a_part_is_worth_its_work(
		interval in 1u32..=1_500, price in 1u128..1_000_000_000_000, cuts in prop::collection::vec(0.0f64..=1.0, 2),
	) {
		let mut spec = stopping();
		spec.training.checkpoint_interval = interval;
		let audit_segments = duties::least_draws(spec.segments(), 3);
		let terms = Terms { price_per_ut: price, audit_segments, ..terms(1) };
		let (terms, spec, quote) = new_test_ext().execute_with(|| {
			let (terms, spec) = (with_least_fee(&spec, terms), spec.check().unwrap());
			let quote = TaskMarket::checked_quote(&spec, &terms).unwrap();
			(terms, spec, quote)
		});
		let all = spec.segments();
		let of = |segments| quote.of_segments(&spec, &terms, segments);
		let whole = Worth { training: quote.training, price: quote.price, fee: quote.fee };
		prop_assert_eq!(of(all), whole);
		prop_assert_eq!(of(u32::MAX), whole);
		let mut at: Vec<u32> = cuts.iter().map(|cut| (cut * f64::from(all)) as u32).collect();
		at.sort();
		let (less, more) = (of(at[0]), of(at[1]));
		for (small, large) in [(less, more), (more, whole)] {
			prop_assert!(small.training <= large.training);
			prop_assert!(small.price <= large.price && small.fee <= large.fee);
		}
		for (segments, worth) in at.into_iter().zip([less, more]) {
			let parts = work::Parts::of(&spec);
			let work = parts.micro_ut_of(&spec, segments).unwrap();
			prop_assert_eq!(worth.training, parts.training_micro_ut_of(&spec, segments).unwrap());
			prop_assert_eq!(worth.price, units::price(work, price).unwrap());
			let exact = quote.fee * Balance::from(worth.training);
			let whole = Balance::from(quote.training);
			prop_assert!(worth.fee * whole >= exact && worth.fee * whole < exact + whole);
		}
	}
}
