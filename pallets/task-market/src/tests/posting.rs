//! Posting a job and taking it back.

use crate::{
	mock::*, types::SpecFault, Applicants, Error, Event, HoldReason, Jobs, NextJob, Specs,
};
use codec::Encode;
use frame_support::{assert_noop, assert_ok};
use sp_runtime::{DispatchError, TokenError};
use trainyard_program::{
	needs::{MachineClass, Needs},
	spec::{Activation, JobSpec, Model, SpecError},
	units::{self, FLOP_PER_MICRO_UT},
	work::{self, Parts},
};
use trainyard_protocol::{
	duties,
	job::{Ending, JobState, Settlement, Terms},
	pieces::LEAF_BYTES,
	relay::PRICE_PART,
	seats::Resources,
	Text, H256,
};
use trainyard_traits::CommitteeRequest;

fn submit(spec: JobSpec, terms: Terms) -> sp_runtime::DispatchResult {
	TaskMarket::submit_job(RuntimeOrigin::signed(SUBMITTER), spec, terms, u128::MAX)
}

/// A job for whose audit nobody could be drawn would end undecided.
#[test]
fn what_nobody_could_audit_is_not_posted() {
	run(|| {
		CanSeat::set(false);
		let spec = JobSpec::noisy_example;
		assert_noop!(submit(spec(), terms(2)), Error::<Test>::NoCommittee);
		assert_ok!(TaskMarket::post_listing(
			RuntimeOrigin::signed(11),
			1,
			u64::MAX,
			Text::default()
		));
		let origin = || RuntimeOrigin::signed(SUBMITTER);
		let refused = || Error::<Test>::NoCommittee;
		assert_noop!(TaskMarket::order(origin(), 11, spec(), terms(1), u128::MAX), refused());
		assert_eq!((NextJob::<Test>::get(), held(HoldReason::Escrow, SUBMITTER)), (0, 0));
		assert!(TaskMarket::checked_quote(&noisy(), &terms(2)).is_ok(), "the terms are good");

		CanSeat::set(true);
		assert_ok!(TaskMarket::order(origin(), 11, spec(), terms(1), u128::MAX));
		let asked = Asked::get().unwrap();
		assert_eq!(asked.excluded, vec![11, SUBMITTER], "parties are never drawn");
		assert_ok!(submit(spec(), terms(2)));
		let quote = job(1).quote;
		let work = 2 * quote.needs.work;
		let challenge =
			trainyard_protocol::fees::challenge_deposit(&noisy(), &quote.parts, 1_000_000);
		let expected = CommitteeRequest {
			excluded: vec![SUBMITTER],
			verifiers: 3,
			drawing: terms(1).drawing(),
			segments: 30,
			fee: 10_000,
			needs: Resources { work, ..quote.needs },
			rate: 2_000_000_000,
			fetch: quote.moved.fetch,
			challenge: challenge.unwrap(),
		};
		assert_eq!(Asked::get(), Some(expected));
	});
}

#[test]
fn posting_holds_the_escrow_and_puts_the_job_on_the_agenda() {
	run(|| {
		assert_ok!(submit(JobSpec::noisy_example(), terms(2)));
		let work = work::micro_ut(&noisy()).unwrap();
		let price = units::price(work, 5_000_000).unwrap();
		let training =
			work::Parts::of(&noisy()).training_micro_ut_of(&JobSpec::noisy_example(), 30).unwrap();
		let fee = units::price(training, 1_000_000).unwrap();
		// Two replicas are paid the price and 15 % of it, and burn the fee once. For samples of each it has what a
		// relay may cost.
		let escrow = price * 115 / 100 + fee + AUDIT + 2 * 123 * (price / PRICE_PART);

		let job = job(0);
		assert_eq!((job.quote.work, job.quote.price, job.quote.fee), (work, price, fee));
		assert_eq!(
			(job.quote.escrow, job.quote.deposit),
			(escrow, (3 * price).max(50_000) + AUDIT)
		);
		assert_eq!((job.state, job.since, job.deadline), (JobState::Open, 1, 6));
		assert_eq!((job.submitter, job.invited, job.seed), (SUBMITTER, None, None));
		assert_eq!(job.settlement, Settlement { escrowed: escrow, ..Default::default() });
		assert_eq!(Specs::<Test>::get(0), Some(JobSpec::noisy_example()));
		assert_eq!(due(0), 6);
		assert_eq!(held(HoldReason::Escrow, SUBMITTER), escrow);
		assert_eq!(free(SUBMITTER), ENDOWMENT - escrow);
		System::assert_last_event(
			Event::JobPosted {
				job: 0,
				submitter: SUBMITTER,
				invited: None,
				work,
				escrow,
				fee_per_ut: 1_000_000,
			}
			.into(),
		);

		assert_eq!(post_with(OTHER, terms(1)), 1, "numbers ascend");
	});
}

#[test]
fn a_small_price_still_asks_the_least_deposit() {
	run(|| {
		// Power is cheap.
		BlockReward::set(0);
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
		refuse(Terms { undecided_percent: 101, ..terms(1) }, Error::BadUndecidedPercent);
		refuse(Terms { audit_fee: 2_499, ..terms(1) }, Error::AuditFeeTooLow);
		refuse(Terms { audit_fee: 10_001, ..terms(1) }, Error::AuditFeeTooHigh);
		refuse(Terms { apply_blocks: 1, ..terms(1) }, Error::BadPeriods);
		refuse(Terms { apply_blocks: 201, ..terms(1) }, Error::BadPeriods);
		refuse(Terms { training_blocks: 1, ..terms(1) }, Error::BadPeriods);
		refuse(Terms { training_blocks: 51, ..terms(1) }, Error::BadPeriods);
		refuse(Terms { price_per_ut: u128::MAX, ..terms(1) }, Error::AmountOverflow);
		refuse(Terms { audit_fee: u128::MAX, ..terms(1) }, Error::AuditFeeTooHigh);
	});
}

#[test]
fn a_verifier_is_paid_at_least_the_price_of_what_it_replays() {
	run(|| {
		MinAuditFee::set(100);
		let spec = JobSpec::noisy_example();
		// Four draws and one by duty, or three and two.
		let work = work::audit_micro_ut(&noisy(), 5).unwrap();
		let least = units::price(work, 1_000_000).unwrap();
		assert!(least > 100, "more than the least fee of all");
		assert_eq!(TaskMarket::audit_fee(spec.clone(), &terms(1)), Some(least));
		let low = Terms { audit_fee: least - 1, ..terms(1) };
		assert_noop!(submit(spec.clone(), low), Error::<Test>::AuditFeeTooLow);
		assert_ok!(submit(spec.clone(), Terms { audit_fee: least, ..terms(1) }));
	});
}

/// Whoever pays only itself could name a price of one unit, and make verifiers replay the most work
/// that there may be for next to nothing; or one so high that the stake of a seat, which follows from
/// its fee, is more than any verifier has but its own. So the protocol's price of work is what counts.
#[test]
fn no_price_moves_what_a_seat_is_paid() {
	run(|| {
		MinAuditFee::set(100);
		let spec = JobSpec::noisy_example();
		let work = work::audit_micro_ut(&noisy(), 5).unwrap();
		let least = units::price(work, 1_000_000).unwrap();
		for price_per_ut in [1, 5_000_000, 1 << 70] {
			let any = Terms { price_per_ut, ..terms(1) };
			assert_eq!(TaskMarket::audit_fee(spec.clone(), &any), Some(least));
			let with = |audit_fee| {
				let terms = Terms { audit_fee, ..any.clone() };
				TaskMarket::checked_quote(&noisy(), &terms).err()
			};
			assert!(matches!(with(least - 1), Some(Error::AuditFeeTooLow)));
			assert!(with(least).is_none() && with(4 * least).is_none());
			assert!(matches!(with(4 * least + 1), Some(Error::AuditFeeTooHigh)));
		}
	});
}

/// A specification of which a segment takes a seventh of what a machine replays in a day.
fn long() -> JobSpec {
	let mut spec = JobSpec::noisy_example();
	spec.training.batch_size = spec.dataset.train_rows;
	let most = duties::most_work(MachineClass::Gib8.rate());
	let step = Parts::of(&spec.clone().check().unwrap()).step;
	let steps = u128::from(most) * FLOP_PER_MICRO_UT / step;
	spec.training.checkpoint_interval = u32::try_from(steps / 7).unwrap();
	spec.training.steps = 20 * spec.training.checkpoint_interval;
	spec
}

fn long_terms(replicas: u32, audit_segments: u32) -> Terms {
	with_least_fee(&long(), Terms { audit_segments, ..terms(replicas) })
}

/// Replicas that differ in their last segment only would each have to be checked in the same time.
#[test]
fn all_results_together_are_no_more_than_a_verifier_can_do() {
	run(|| {
		let quote = |replicas| {
			let spec = long().check().unwrap();
			TaskMarket::checked_quote(&spec, &long_terms(replicas, 1)).err()
		};
		// A draw, two by duty, where they part, and the one that is added at a standstill.
		assert!(quote(1).is_none());
		assert!(matches!(quote(2), Some(Error::ResultsTooLarge)));
	});
}

/// A job whose step no machine of its class can hold: a large machine would train it, every verifier
/// would die of it, and its submitter would have the model for nothing.
#[test]
fn a_step_that_fits_no_machine_of_the_class_is_refused() {
	run(|| {
		let mut spec = JobSpec::noisy_example();
		spec.dataset.features = 1;
		spec.dataset.validation_every = 5;
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (80_000, 20_000);
		spec.model =
			Model::Mlp { hidden: vec![65_536].try_into().unwrap(), activation: Activation::Relu };
		(spec.training.steps, spec.training.checkpoint_interval) = (4, 1);
		spec.training.batch_size = 65_536;
		let with = Terms { audit_segments: 1, ..terms(1) };
		let terms = |spec: &JobSpec| with_least_fee(spec, with.clone());
		let most = duties::most_work(MachineClass::Gib8.rate());
		assert!(work::audit_micro_ut(&spec.clone().check().unwrap(), 2).unwrap() <= most);
		let large = terms(&spec);
		assert_noop!(submit(spec.clone(), large.clone()), Error::<Test>::MemoryTooLarge);
		assert_eq!(TaskMarket::quote(spec.clone(), &large), None);
		spec.training.batch_size = 1_024;
		let small = terms(&spec);
		assert_ok!(submit(spec, small));
	});
}

/// A transformer of GPT-2 small's size is too much for small machines and fits large ones. Its model and what its
/// seats fetch give it time, which is fixed when it is posted.
#[test]
fn a_large_model_names_a_class_of_large_machines() {
	run(|| {
		let spec = JobSpec::large_example();
		let with = |machine| {
			let draws = Terms { audit_segments: 1, machine, ..terms(1) };
			with_least_fee(&spec, draws)
		};
		let small = with(MachineClass::Gib8);
		assert_noop!(submit(spec.clone(), small), Error::<Test>::MemoryTooLarge);
		let large = with(MachineClass::Gib32);
		let id = NextJob::<Test>::get();
		assert_ok!(submit(spec.clone(), large.clone()));
		let checked = spec.check().unwrap();
		let (moved, parameters) = (job(id).quote.moved, checked.parameters());
		assert_eq!(parameters, 124_528_392);
		// Nine states of 1.4 GiB at 25 MB/s, and 476 MiB at 1.5 MiB a block.
		let needs = Needs::of(&checked);
		let bytes = needs.download(large.replays(checked.segments()), 1);
		assert_eq!(moved.fetch, u32::try_from(bytes.div_ceil(6 * 25_000_000)).unwrap());
		assert_eq!((moved.fetch, moved.store), (90, 318));
	});
}

/// A few megabytes of gzip may unpack to any number of equal rows, of which no FLOP is counted but
/// those of a batch.
#[test]
fn rows_that_fit_no_machine_of_the_class_are_refused() {
	run(|| {
		let mut spec = JobSpec::noisy_example();
		spec.dataset.bytes = 1 << 22;
		spec.dataset.validation_every = 80_000;
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (79_950_000, 999);
		assert_noop!(submit(spec.clone(), terms(1)), Error::<Test>::RowsTooLarge);
		spec.dataset.validation_every = 10_000;
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (9_999_000, 999);
		// They fit, and their text may be 19 GiB.
		assert_noop!(submit(spec.clone(), terms(1)), Error::<Test>::TextTooLarge);
		spec.dataset.validation_every = 5_000;
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (4_999_000, 999);
		assert_ok!(submit(spec, terms(1)));
	});
}

#[test]
fn what_no_verifier_can_fetch_in_time_is_refused() {
	run(|| {
		let mut spec = JobSpec::noisy_example();
		// 4 million parameters: a state of 49 MiB, of which a seat that draws two segments of a result, with
		// those by duty and where results part, reads 21.
		spec.model = Model::Mlp {
			hidden: vec![4_096, 940].try_into().unwrap(),
			activation: Activation::Relu,
		};
		(spec.training.steps, spec.training.checkpoint_interval) = (30, 1);
		let with = |replicas| Terms { audit_segments: 2, ..terms(replicas) };
		let [two, three] = [2, 3].map(|replicas| with_least_fee(&spec, with(replicas)));
		assert_ok!(submit(spec.clone(), two));
		assert_noop!(submit(spec, three), Error::<Test>::DownloadTooLarge);
	});
}

/// Parameters would grow by a twentieth in every step, whatever the data: every trainer would fail
/// at the end, and lose its deposit.
#[test]
fn a_decay_that_overshoots_is_refused() {
	run(|| {
		let mut spec = JobSpec::noisy_example();
		spec.training.learning_rate_nano = 2_050_000_000;
		spec.training.weight_decay_nano = 1_000_000_000;
		let fault = Error::<Test>::InvalidSpec(SpecFault(SpecError::DecayOvershoots));
		assert_noop!(submit(spec.clone(), terms(1)), fault);
		spec.training.learning_rate_nano = 1_000_000_000;
		assert_ok!(submit(spec, terms(1)));
	});
}

#[test]
fn no_more_is_replayed_than_a_verifier_can_do() {
	run(|| {
		let fails = |spec: JobSpec, draws| {
			let terms = with_least_fee(&spec, long_terms(1, draws));
			TaskMarket::checked_quote(&spec.check().unwrap(), &terms).err()
		};
		// With those by duty and the one that is added these would be more than seven segments.
		assert!(matches!(fails(long(), 5), Some(Error::AuditTooLarge)));
		// Fewer segments, or shorter ones.
		assert!(fails(long(), 3).is_none());
		let mut short = long();
		short.training.checkpoint_interval /= 2;
		assert!(fails(short, 5).is_none());
	});
}

/// Of few draws much is missed, and of many the whole committee's work is more than it says.
#[test]
fn seats_draw_as_many_segments_as_find_a_fake() {
	run(|| {
		let mut spec = JobSpec::noisy_example();
		spec.training.checkpoint_interval = 1;
		assert_eq!(spec.segments(), 1_500);
		let with = |verifiers, audit_segments| Terms { verifiers, audit_segments, ..terms(1) };
		for (verifiers, least) in [(3, 15), (5, 9), (15, 3)] {
			let low = with(verifiers, least - 1);
			assert_noop!(submit(spec.clone(), low), Error::<Test>::BadAuditSegments);
			assert_ok!(submit(spec.clone(), with(verifiers, least)));
		}
		assert_ok!(submit(spec.clone(), with(3, 16)));
		assert_noop!(submit(spec, with(3, 17)), Error::<Test>::BadAuditSegments);
	});
}

#[test]
fn what_could_neither_be_rescued_nor_relayed_is_not_posted() {
	run(|| {
		let spec = JobSpec::noisy_example();
		let (bytes, contents) = (spec.file_bytes(), Needs::of(&noisy()).content);
		let leaves = u64::from(noisy().segments() + 2) * LEAF_BYTES;
		MaxRescue::set(bytes + leaves - 1);
		assert_noop!(submit(spec.clone(), terms(1)), Error::<Test>::RescueTooLarge);
		MaxRescue::set(bytes + leaves);
		MaxBlob::set(contents - 1);
		assert_noop!(submit(spec.clone(), terms(1)), Error::<Test>::ContentTooLarge);
		MaxBlob::set(contents);
		assert_ok!(submit(spec, terms(1)));
	});
}

/// What no rescue carries a committee relays. The escrow has its fees, and nothing for storing states.
#[test]
fn states_that_no_rescue_carries_are_posted() {
	run(|| {
		StorageByte::set(7);
		RelayFee::set(1_000);
		let mut spec = JobSpec::noisy_example();
		spec.dataset.bytes = 10_000;
		let checked = spec.clone().check().unwrap();
		let needs = Needs::of(&checked);
		let leaves = 81 * (u64::from(checked.segments()) + 2);
		let besides = needs.rows + leaves;
		let half = |bytes: u64| u128::from(bytes) * 7 / 2;
		// Three seats, of four draws and two by duty each.
		let states = needs.lacking(18, u64::MAX, 1).stored - besides;
		for (room, states, relays) in [
			(besides + states, states, 0),
			// Together they are more, each of them is not.
			(besides.max(needs.checkpoint), states, 0),
			// So are rows that are more than a rescue when they are decoded.
			(needs.checkpoint - 1, 0, 123_000 * (1 + u128::from(needs.rows >= needs.checkpoint))),
		] {
			MaxRescue::set(room);
			for replicas in [1, 2] {
				let quote = TaskMarket::checked_quote(&checked, &terms(replicas)).unwrap();
				// Ranges of rows can be asked for as far as a rescue carries them; samples are always relayed.
				let samples = 123 * 100;
				let one = half(needs.rows.min(room) + leaves + states) + relays + samples;
				assert_eq!(quote.storage, one * u128::from(replicas), "{room}");
				let fees = 3 * 3 * terms(1).audit_fee;
				let pay = trainyard_protocol::fees::pay_of_all(quote.price, replicas).unwrap();
				assert_eq!(quote.escrow, pay + quote.fee + fees + quote.storage);
			}
			assert_ok!(submit(spec.clone(), terms(1)));
		}
	});
}

#[test]
fn terms_at_their_bounds_are_taken() {
	run(|| {
		for terms in [
			Terms { replicas: 8, verifiers: 15, audit_segments: 16, ..terms(1) },
			Terms {
				audit_fee: 2_500,
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
		let asking = |n| Terms { audit_segments: n, ..terms(1) };
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
		assert_noop!(TaskMarket::submit_job(none(), spec.clone(), terms(1), 0), bad);
		assert_noop!(TaskMarket::order(none(), 11, spec, terms(1), 0), bad);
		assert_noop!(TaskMarket::apply(none(), 0, digest(0), forced(11)), bad);
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
		let place = place_of(id);
		assert_eq!(place, job.quote.fee / 100, "for the shortest place");
		assert_eq!(job.settlement.refunded, job.quote.escrow - place);
		assert_eq!(free(SUBMITTER), ENDOWMENT - place);
		assert_eq!(held(HoldReason::Escrow, SUBMITTER), 0);
		System::assert_last_event(
			Event::JobEnded { job: id, ending: Ending::Cancelled, settlement: job.settlement }
				.into(),
		);
		run_to(20);
		assert_eq!(Jobs::<Test>::get(id).unwrap(), job, "nothing happens to it any more");
	});
}

/// What is kept of a job after its end costs a deposit until it is removed: else records would fill
/// the state for a fee.
#[test]
fn a_record_is_paid_for_until_it_is_removed() {
	run(|| {
		RecordBase::set(2_000);
		RecordByte::set(3);
		let record = 2_000 + 3 * JobSpec::noisy_example().encode().len() as u128;
		let id = training(&[11]);
		assert_eq!((job(id).quote.record, held(HoldReason::Record, SUBMITTER)), (record, record));
		let posted = post(1);
		assert_eq!(held(HoldReason::Record, SUBMITTER), 2 * record);
		assert_ok!(TaskMarket::cancel(RuntimeOrigin::signed(SUBMITTER), posted));
		// Its submitter may still look at it, or be rid of it at once; nobody else may remove it.
		assert_eq!(held(HoldReason::Record, SUBMITTER), 2 * record);
		let forget = |who, id| TaskMarket::forget(RuntimeOrigin::signed(who), id);
		assert_noop!(forget(OTHER, posted), Error::<Test>::StillRetained);
		assert_ok!(forget(SUBMITTER, posted));
		assert!(!Jobs::<Test>::contains_key(posted) && !Specs::<Test>::contains_key(posted));
		assert_eq!(held(HoldReason::Record, SUBMITTER), record);
		// One in which others had a part is kept for them, and then the clock removes it.
		run_to_end(id);
		assert_noop!(forget(SUBMITTER, id), Error::<Test>::StillRetained);
		assert_eq!(held(HoldReason::Escrow, SUBMITTER), 0);
		assert_eq!(held(HoldReason::Record, SUBMITTER), record);
		run_to(job(id).deadline);
		assert!(!Jobs::<Test>::contains_key(id));
		let left = ENDOWMENT - place_of(posted);
		assert_eq!((held(HoldReason::Record, SUBMITTER), free(SUBMITTER)), (0, left));
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
	let (spec, terms, max_fee_per_ut) = (JobSpec::noisy_example(), terms(1), 7);
	let mut bytes = vec![20, 0];
	(&spec, &terms, 7u128).encode_to(&mut bytes);
	let call = Call::submit_job { spec: spec.clone(), terms: terms.clone(), max_fee_per_ut };
	assert_eq!(encoded(call), bytes);
	let mut bytes = vec![20, 1];
	(11u64, &spec, &terms, 7u128).encode_to(&mut bytes);
	assert_eq!(encoded(Call::order { trainer: 11, spec, terms, max_fee_per_ut }), bytes);
	let applying =
		Call::apply { job: 3, digest: H256::repeat_byte(7), forced: H256::repeat_byte(8) };
	assert_eq!(encoded(applying), [vec![20, 2, 3, 0, 0, 0], vec![7; 32], vec![8; 32]].concat());
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
