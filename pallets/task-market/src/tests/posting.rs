//! Posting a job and taking it back.

use crate::{
	mock::*, types::SpecFault, Applicants, Error, Event, HoldReason, Jobs, NextJob, Specs,
};
use codec::Encode;
use frame_support::{assert_noop, assert_ok};
use sp_runtime::{DispatchError, TokenError};
use trainyard_program::{
	spec::{JobSpec, SpecError},
	units, work,
};
use trainyard_protocol::{
	blob,
	job::{Ending, JobState, Settlement, Terms},
	H256,
};

fn submit(spec: JobSpec, terms: Terms) -> sp_runtime::DispatchResult {
	TaskMarket::submit_job(RuntimeOrigin::signed(SUBMITTER), spec, terms)
}

#[test]
fn posting_holds_the_escrow_and_puts_the_job_on_the_agenda() {
	run(|| {
		assert_ok!(submit(JobSpec::noisy_example(), terms(2)));
		let work = work::micro_ut(&noisy()).unwrap();
		let price = units::price(work, 5_000_000).unwrap();
		let fee = units::price(work, 1_000_000).unwrap();
		let escrow = 2 * (price + fee) + AUDIT;

		let job = job(0);
		assert_eq!((job.quote.work, job.quote.price, job.quote.fee), (work, price, fee));
		// 4 of 30 segments are drawn.
		let stake = ((price + fee) * 30).div_ceil(4);
		assert_eq!((job.quote.escrow, job.quote.deposit), (escrow, stake + AUDIT));
		assert_eq!((job.state, job.since, job.deadline), (JobState::Open, 1, 6));
		assert_eq!((job.submitter, job.invited, job.seed), (SUBMITTER, None, None));
		assert_eq!(job.settlement, Settlement { escrowed: escrow, ..Default::default() });
		assert_eq!(Specs::<Test>::get(0), Some(JobSpec::noisy_example()));
		assert_eq!(due(0), 6);
		assert_eq!(held(HoldReason::Escrow, SUBMITTER), escrow);
		assert_eq!(free(SUBMITTER), ENDOWMENT - escrow);
		System::assert_last_event(
			Event::JobPosted { job: 0, submitter: SUBMITTER, invited: None, work, escrow }.into(),
		);

		assert_eq!(post_with(OTHER, terms(1)), 1, "numbers ascend");
	});
}

#[test]
fn a_small_price_still_asks_the_least_deposit() {
	run(|| {
		let id = post_with(SUBMITTER, Terms { price_per_ut: 1, ..terms(1) });
		assert_eq!(job(id).quote.price, 1, "rounded up");
		assert_eq!(job(id).quote.deposit, 50_000 + AUDIT);
	});
}

#[test]
fn terms_are_checked() {
	run(|| {
		let refuse = |terms: Terms, error: Error<Test>| {
			assert_noop!(submit(JobSpec::noisy_example(), terms), error);
		};
		refuse(terms(0), Error::BadReplicas);
		refuse(terms(9), Error::BadReplicas);
		refuse(Terms { verifiers: 0, ..terms(1) }, Error::BadVerifiers);
		refuse(Terms { verifiers: 17, ..terms(1) }, Error::BadVerifiers);
		refuse(Terms { verifiers: 1, ..terms(1) }, Error::BadVerifiers);
		refuse(Terms { verifiers: 4, ..terms(1) }, Error::BadVerifiers);
		refuse(Terms { verifiers: 16, ..terms(1) }, Error::BadVerifiers);
		refuse(Terms { audit_segments: 0, ..terms(1) }, Error::BadAuditSegments);
		refuse(Terms { audit_segments: 17, ..terms(1) }, Error::BadAuditSegments);
		refuse(Terms { price_per_ut: 0, ..terms(1) }, Error::ZeroPrice);
		refuse(Terms { audit_fee: 99, price_per_ut: 1, ..terms(1) }, Error::AuditFeeTooLow);
		refuse(Terms { apply_blocks: 1, ..terms(1) }, Error::BadPeriods);
		refuse(Terms { apply_blocks: 21, ..terms(1) }, Error::BadPeriods);
		refuse(Terms { training_blocks: 1, ..terms(1) }, Error::BadPeriods);
		refuse(Terms { training_blocks: 51, ..terms(1) }, Error::BadPeriods);
		refuse(Terms { price_per_ut: u128::MAX, ..terms(1) }, Error::AmountOverflow);
		refuse(Terms { audit_fee: u128::MAX / 2, ..terms(1) }, Error::AmountOverflow);
	});
}

#[test]
fn a_verifier_is_paid_at_least_the_price_of_what_it_replays() {
	run(|| {
		let spec = JobSpec::noisy_example();
		let work = work::audit_micro_ut(&noisy(), 4).unwrap();
		let least = units::price(work, terms(1).price_per_ut).unwrap();
		assert!(least > 100, "more than the least fee of all");
		assert_eq!(TaskMarket::audit_fee(spec.clone(), &terms(1)), Some(least));
		let low = Terms { audit_fee: least - 1, ..terms(1) };
		assert_noop!(submit(spec.clone(), low), Error::<Test>::AuditFeeTooLow);
		assert_ok!(submit(spec.clone(), Terms { audit_fee: least, ..terms(1) }));
		let cheap = Terms { price_per_ut: 1, ..terms(1) };
		assert_eq!(TaskMarket::audit_fee(spec.clone(), &cheap), Some(100));
	});
}

#[test]
fn no_more_is_replayed_than_a_verifier_can_do() {
	run(|| {
		let spec = JobSpec::noisy_example();
		let work = work::audit_micro_ut(&noisy(), 4).unwrap();
		MaxAuditWork::set(work - 1);
		assert_noop!(submit(spec.clone(), terms(1)), Error::<Test>::AuditTooLarge);
		// Fewer segments, or shorter ones.
		assert_ok!(submit(spec.clone(), Terms { audit_segments: 3, ..terms(1) }));
		let mut short = spec.clone();
		short.training.checkpoint_interval = 40;
		assert_ok!(submit(short, terms(1)));
		MaxAuditWork::set(work);
		assert_ok!(submit(spec, terms(1)));
	});
}

#[test]
fn what_could_not_be_rescued_is_not_posted() {
	run(|| {
		let spec = JobSpec::noisy_example();
		let bytes = blob::rescue_bytes(&noisy(), 4);
		MaxBlob::set(bytes - 1);
		assert_noop!(submit(spec.clone(), terms(1)), Error::<Test>::RescueTooLarge);
		assert_ok!(submit(spec.clone(), Terms { audit_segments: 3, ..terms(1) }));
		MaxBlob::set(bytes);
		assert_ok!(submit(spec, terms(1)));
	});
}

#[test]
fn terms_at_their_bounds_are_taken() {
	run(|| {
		for terms in [
			Terms { replicas: 8, verifiers: 15, audit_segments: 16, audit_fee: 20_000, ..terms(1) },
			Terms {
				audit_fee: 100,
				price_per_ut: 1,
				apply_blocks: 2,
				training_blocks: 2,
				..terms(1)
			},
			Terms { apply_blocks: 20, training_blocks: 50, ..terms(1) },
		] {
			assert_ok!(submit(JobSpec::noisy_example(), terms));
		}
	});
}

#[test]
fn no_more_segments_can_be_audited_than_there_are() {
	run(|| {
		let mut spec = JobSpec::noisy_example();
		spec.training.checkpoint_interval = spec.training.steps / 3;
		let asking = |n| Terms { audit_segments: n, audit_fee: 30_000, ..terms(1) };
		assert_noop!(submit(spec.clone(), asking(4)), Error::<Test>::BadAuditSegments);
		assert_ok!(submit(spec, asking(3)));
	});
}

#[test]
fn a_broken_specification_is_named() {
	run(|| {
		let mut spec = JobSpec::noisy_example();
		spec.training.batch_size = 0;
		let fault = Error::<Test>::InvalidSpec(SpecFault(SpecError::BadBatchSize));
		let encoded = SpecError::BadBatchSize.encode();
		let DispatchError::Module(module) = DispatchError::from(fault) else { panic!() };
		assert_eq!(module.error[1..2], encoded, "the reason is part of what clients see");
		assert_noop!(submit(spec, terms(1)), DispatchError::Module(module));

		let mut spec = JobSpec::noisy_example();
		spec.training.learning_rate_nano = 0;
		assert_noop!(
			submit(spec, terms(1)),
			Error::<Test>::InvalidSpec(SpecFault(SpecError::BadLearningRate))
		);
	});
}

#[test]
fn who_cannot_pay_cannot_post() {
	run(|| {
		// All but less than one job's worth goes elsewhere.
		let escrow = TaskMarket::checked_quote(&noisy(), &terms(1)).unwrap().escrow;
		let origin = RuntimeOrigin::signed(SUBMITTER);
		let rest = ED + escrow - 1;
		assert_ok!(Balances::transfer_keep_alive(origin.clone(), OTHER, ENDOWMENT - rest));
		assert_noop!(submit(JobSpec::noisy_example(), terms(1)), TokenError::FundsUnavailable);
		// One more unit is enough: the existential deposit stays.
		assert_ok!(Balances::transfer_keep_alive(RuntimeOrigin::signed(OTHER), SUBMITTER, 1));
		assert_ok!(submit(JobSpec::noisy_example(), terms(1)));
		assert_eq!(free(SUBMITTER), ED);
	});
}

#[test]
fn unsigned_callers_are_refused() {
	run(|| {
		let (spec, bad) = (JobSpec::noisy_example(), DispatchError::BadOrigin);
		let none = RuntimeOrigin::none;
		assert_noop!(TaskMarket::submit_job(none(), spec.clone(), terms(1)), bad);
		assert_noop!(TaskMarket::order(none(), 11, spec, terms(1)), bad);
		assert_noop!(TaskMarket::apply(none(), 0, digest(0)), bad);
		assert_noop!(TaskMarket::cancel(none(), 0), bad);
		assert_noop!(TaskMarket::poke(none(), 0), bad);
		assert_noop!(TaskMarket::agree(none(), 0, None), bad);
		assert_noop!(TaskMarket::post_listing(none(), 1, 1, Default::default()), bad);
		assert_noop!(TaskMarket::remove_listing(none()), bad);
		assert_noop!(TaskMarket::forget(none(), 0), bad);
	});
}

#[test]
fn the_numbers_of_jobs_end() {
	run(|| {
		NextJob::<Test>::put(u32::MAX);
		assert_noop!(submit(JobSpec::noisy_example(), terms(1)), Error::<Test>::TooManyJobs);
	});
}

#[test]
fn a_job_nobody_applied_for_can_be_taken_back() {
	run(|| {
		let id = post(1);
		assert_ok!(TaskMarket::cancel(RuntimeOrigin::signed(SUBMITTER), id));
		let job = job(id);
		assert_eq!(job.state, JobState::Ended(Ending::Cancelled));
		assert_eq!(job.settlement.refunded, job.quote.escrow);
		assert_eq!(free(SUBMITTER), ENDOWMENT);
		assert_eq!(held(HoldReason::Escrow, SUBMITTER), 0);
		System::assert_last_event(
			Event::JobEnded { job: id, ending: Ending::Cancelled, settlement: job.settlement }
				.into(),
		);
		run_to(20);
		assert_eq!(Jobs::<Test>::get(id).unwrap(), job, "nothing happens to it any more");
	});
}

#[test]
fn only_an_untouched_job_can_be_taken_back_by_its_submitter() {
	run(|| {
		let cancel = |who, id| TaskMarket::cancel(RuntimeOrigin::signed(who), id);
		assert_noop!(cancel(SUBMITTER, 0), Error::<Test>::NoSuchJob);
		let id = post(1);
		assert_noop!(cancel(OTHER, id), Error::<Test>::NotSubmitter);
		apply(id, &[11]);
		assert_noop!(cancel(SUBMITTER, id), Error::<Test>::HasApplicants);
		run_to_state(id, JobState::Training);
		assert!(Applicants::<Test>::get(id).is_empty());
		assert_noop!(cancel(SUBMITTER, id), Error::<Test>::NotOpen);
	});
}

/// Frozen: the worker and scripts build these bytes from metadata and primitives types.
#[test]
fn layout_of_the_calls() {
	use crate::Call;
	let encoded = |call: Call<Test>| RuntimeCall::TaskMarket(call).encode();
	let (spec, terms) = (JobSpec::noisy_example(), terms(1));
	let mut bytes = vec![20, 0];
	(&spec, &terms).encode_to(&mut bytes);
	assert_eq!(encoded(Call::submit_job { spec: spec.clone(), terms: terms.clone() }), bytes);
	let mut bytes = vec![20, 1];
	(11u64, &spec, &terms).encode_to(&mut bytes);
	assert_eq!(encoded(Call::order { trainer: 11, spec, terms }), bytes);
	let applying = Call::apply { job: 3, digest: H256::repeat_byte(7) };
	assert_eq!(encoded(applying), [vec![20, 2, 3, 0, 0, 0], vec![7; 32]].concat());
	assert_eq!(encoded(Call::cancel { job: 3 }), [20, 3, 3, 0, 0, 0]);
	assert_eq!(encoded(Call::poke { job: 3 }), [20, 4, 3, 0, 0, 0]);
	let mut bytes = vec![20, 5, 3, 0, 0, 0, 1];
	bytes.extend(9u128.to_le_bytes());
	assert_eq!(encoded(Call::agree { job: 3, pay: Some(9) }), bytes);
	let mut bytes = vec![20, 6];
	bytes.extend(9u128.to_le_bytes());
	bytes.extend(8u64.to_le_bytes());
	bytes.push(0);
	let call = Call::post_listing { price_per_ut: 9, max_work: 8, note: Default::default() };
	assert_eq!(encoded(call), bytes);
	assert_eq!(encoded(Call::remove_listing {}), [20, 7]);
	assert_eq!(encoded(Call::forget { job: 3 }), [20, 8, 3, 0, 0, 0]);
}
