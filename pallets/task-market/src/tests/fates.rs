//! Each decision of the audit, to the last unit.

use crate::{mock::*, Quote, TotalBurned};
use trainyard_program::{
	spec::{InitialModel, JobSpec},
	H256,
};
use trainyard_protocol::{
	audit::Decision,
	duties,
	job::{Balance, Ending, Fate, JobState, Settlement, Terms},
};

const FEE: Balance = 10_000;

/// A job of one replica whose audit takes this decision; all three verifiers served.
fn one(decision: Decision) -> (Quote, Settlement, Fate, JobState) {
	let id = auditing(&[(11, 1)]);
	decide(id, &[decision], &VERIFIERS);
	run_to_end(id);
	let job = job(id);
	(job.quote, job.settlement, job.replicas[0].fate, job.state)
}

#[test]
fn accepted() {
	run(|| {
		let (quote, s, fate, state) = one(Decision::Accepted);
		assert_eq!((fate, state), (Fate::Accepted, JobState::Ended(Ending::Settled)));
		let refunded = AUDIT - 3 * FEE + quote.storage;
		let expected = Settlement {
			escrowed: quote.escrow,
			paid_to_trainers: quote.price,
			paid_to_verifiers: 3 * FEE,
			burned: quote.fee,
			refunded,
			..Default::default()
		};
		assert_eq!(s, expected);
		assert_eq!(free(11), ENDOWMENT + quote.price);
		VERIFIERS.iter().for_each(|v| assert_eq!(free(*v), ENDOWMENT + FEE));
		assert_eq!(free(SUBMITTER), ENDOWMENT - quote.price - quote.fee - 3 * FEE);
		assert_eq!(TotalBurned::<Test>::get(), quote.fee);
		assert_eq!(Credited::get(), vec![(11, quote.training)]);
	});
}

#[test]
fn rejected() {
	run(|| {
		let (quote, s, fate, state) = one(Decision::Rejected);
		assert_eq!((fate, state), (Fate::Rejected, JobState::Ended(Ending::Failed)));
		let rest = quote.deposit - 3 * FEE;
		let expected = Settlement {
			escrowed: quote.escrow,
			paid_to_verifiers: 3 * FEE,
			refunded: quote.escrow - 3 * FEE,
			slashed: quote.deposit,
			slashed_to_submitter: 3 * FEE,
			slashed_to_jackpot: rest,
			..Default::default()
		};
		assert_eq!(s, expected);
		assert_eq!(free(SUBMITTER), ENDOWMENT, "made whole to the last unit");
		assert_eq!(free(11), ENDOWMENT - quote.deposit);
		VERIFIERS.iter().for_each(|v| assert_eq!(free(*v), ENDOWMENT + FEE));
		assert_eq!(free(JACKPOT), rest, "nobody found anything before the court");
		assert_eq!((Credited::get(), TotalBurned::<Test>::get()), (vec![], 0));
	});
}

/// Otherwise a cheat that sees a faked segment drawn would stop serving and lose less.
#[test]
fn unavailable_costs_as_much_as_fraud() {
	run(|| {
		let (quote, s, fate, state) = one(Decision::Unavailable);
		assert_eq!((fate, state), (Fate::Unavailable, JobState::Ended(Ending::Failed)));
		assert_eq!(s.slashed, quote.deposit);
		assert_eq!(s.slashed_to_submitter, 3 * FEE);
		// Nobody earns by asking for what a trainer cannot store in time.
		let rest = quote.deposit - 3 * FEE;
		assert_eq!((s.slashed_to_finders, s.slashed_burned), (0, rest / 2));
		assert_eq!(s.slashed_to_jackpot, rest - rest / 2);
		assert_eq!(TotalBurned::<Test>::get(), rest / 2);
		assert_eq!(free(11), ENDOWMENT - quote.deposit);
		assert_eq!(s.refunded, quote.escrow - 3 * FEE);
		assert_eq!(free(SUBMITTER), ENDOWMENT, "made whole to the last unit");
		assert_eq!(Credited::get(), vec![]);
	});
}

/// The submitter has the model, so it pays the part that it offered; for no power, without a fee.
#[test]
fn undecided_is_paid_in_part() {
	run(|| {
		let (quote, s, fate, state) = one(Decision::Undecided);
		assert_eq!((fate, state), (Fate::Undecided, JobState::Ended(Ending::Failed)));
		let part = quote.price / 5;
		assert!(part > 0);
		assert_eq!((s.slashed, s.paid_to_trainers, s.burned), (0, part, 0));
		assert_eq!(s.refunded, quote.escrow - part - 3 * FEE);
		assert_eq!(free(11), ENDOWMENT + part);
		assert_eq!(free(SUBMITTER), ENDOWMENT - part - 3 * FEE, "whoever served is paid");
		assert_eq!(Credited::get(), vec![]);
	});
}

#[test]
fn the_terms_name_the_part_for_undecided_results() {
	for (percent, part) in [(0, 0), (1, 1), (50, 50), (100, 100)] {
		run(|| {
			let id = post_with(SUBMITTER, Terms { undecided_percent: percent, ..terms(1) });
			apply(id, &[11]);
			run_to_state(id, JobState::Training);
			commit(id, 11);
			run_to_state(id, JobState::Revealing);
			reveal(id, 11, 1);
			run_to_state(id, JobState::Auditing);
			decide(id, &[Decision::Undecided], &[]);
			run_to_end(id);
			let quote = job(id).quote;
			assert_eq!(free(11), ENDOWMENT + quote.price * part / 100);
			assert_eq!(free(SUBMITTER), ENDOWMENT - quote.price * part / 100);
		});
	}
}

/// At most one of several results is true: whoever brings more of them brings no more pay.
#[test]
fn undecided_results_share_one_part() {
	run(|| {
		let id = auditing(&[(11, 1), (12, 2), (13, 2), (14, 3)]);
		decide(id, &[Decision::Undecided; 3], &[]);
		run_to_end(id);
		let quote = job(id).quote;
		let each = quote.price * 145 / 100 / 4;
		let share = each * 20 / 100 / 3;
		for trainer in [11, 12, 13, 14] {
			assert_eq!(free(trainer), ENDOWMENT + share);
		}
		assert_eq!(job(id).settlement.paid_to_trainers, 4 * share);
		assert_eq!(free(SUBMITTER), ENDOWMENT - 4 * share);

		// Those that were rejected take no share, and are no reason to pay less.
		let id = auditing(&[(11, 1), (12, 2)]);
		decide(id, &[Decision::Undecided, Decision::Rejected], &[]);
		run_to_end(id);
		let each = job(id).quote.price * 115 / 100 / 2;
		assert_eq!(job(id).settlement.paid_to_trainers, each / 5);
	});
}

/// A result that is only undecided beside a true one is false.
#[test]
fn beside_a_true_result_an_undecided_one_is_not_paid() {
	for truth in [Decision::Accepted, Decision::Idle] {
		run(|| {
			let id = auditing(&[(11, 1), (12, 2)]);
			decide(id, &[truth, Decision::Undecided], &[]);
			run_to_end(id);
			assert_eq!(
				job(id).replicas.iter().find(|r| r.trainer == 12).unwrap().fate,
				Fate::Undecided
			);
			assert_eq!(free(12), ENDOWMENT);
			assert_eq!(free(11), ENDOWMENT + job(id).quote.price * 115 / 100 / 2);
		});
	}
}

/// Only what was trained counts, as far as the result claims.
#[test]
fn an_undecided_result_that_stopped_early_is_paid_for_its_segments() {
	run(|| {
		let id = post_spec(SUBMITTER, stopping(), terms(1));
		apply(id, &[11]);
		run_to_state(id, JobState::Training);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		reveal_after(id, 11, 1, 12);
		run_to_state(id, JobState::Auditing);
		decide(id, &[Decision::Undecided], &[]);
		run_to_end(id);
		let (quote, terms) = (job(id).quote, terms(1));
		let worth = quote.of_segments(&stopping(), &terms, 12);
		assert!(worth.price < quote.price);
		assert_eq!(free(11), ENDOWMENT + worth.price / 5);
	});
}

#[test]
fn a_verifier_is_paid_for_every_round() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		decide(id, &[Decision::Accepted], &[21, 22, 21, 23, 21]);
		run_to_end(id);
		assert_eq!(free(21), ENDOWMENT + 3 * FEE);
		assert_eq!(free(22), ENDOWMENT + FEE);
		assert_eq!(job(id).settlement.paid_to_verifiers, 5 * FEE);
	});
}

#[test]
fn no_more_is_paid_than_the_escrow_covers() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		decide(id, &[Decision::Accepted], &[21; 10]);
		run_to_end(id);
		assert_eq!(job(id).settlement.paid_to_verifiers, AUDIT);
		let storage = job(id).quote.storage;
		assert_eq!(job(id).settlement.refunded, storage, "that is for others");
	});
}

#[test]
fn replicas_of_one_computation_share_its_power() {
	run(|| {
		let id = auditing(&[(11, 1), (12, 1), (13, 1)]);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		let quote = job(id).quote;
		let mut credited = Credited::get();
		credited.sort();
		let share = quote.training / 3;
		assert_eq!(credited, vec![(11, share), (12, share), (13, share)]);
		// One owner of all three computes once: together they are paid once, and 30 % for insurance.
		let s = job(id).settlement;
		let pay = quote.price * 130 / 100 / 3;
		assert_eq!((s.paid_to_trainers, s.burned), (3 * pay, 3 * (quote.fee / 3)));
		let left = quote.price * 130 / 100 - 3 * pay + quote.fee % 3;
		assert!(left < 5, "what dividing left");
		assert_eq!(s.refunded, left + AUDIT - 3 * FEE + quote.storage);
	});
}

#[test]
fn a_fine_tuning_is_paid_and_mints_no_power() {
	run(|| {
		let mut spec = JobSpec::noisy_example();
		let parameters = H256::repeat_byte(3);
		spec.initial_model = Some(InitialModel { file: spec.dataset.file(), parameters });
		let ids = [JobSpec::noisy_example(), spec].map(|spec| {
			let id = post_spec(SUBMITTER, spec, terms(1));
			apply(id, &[11]);
			run_to_state(id, JobState::Training);
			commit(id, 11);
			run_to_state(id, JobState::Revealing);
			reveal(id, 11, 1);
			run_to_state(id, JobState::Auditing);
			decide(id, &[Decision::Accepted], &VERIFIERS);
			run_to_end(id);
			id
		});
		let [plain, tuned] = ids.map(job);
		let Quote { needs, fee, fee_per_ut, worth_per_ut, .. } = plain.quote;
		let escrow = tuned.quote.escrow + fee;
		let powered = Quote { needs, fee, fee_per_ut, worth_per_ut, escrow, ..tuned.quote };
		assert_eq!(powered, plain.quote);
		assert_eq!((tuned.quote.fee, tuned.settlement.burned), (0, 0), "it buys no power");
		let Settlement { escrowed, burned, .. } = plain.settlement;
		assert_eq!(Settlement { escrowed, burned, ..tuned.settlement }, plain.settlement);
		assert_eq!(tuned.replicas[0].fate, Fate::Accepted);
		assert_eq!(free(11), ENDOWMENT + 2 * plain.quote.price);
		assert_eq!(Credited::get(), vec![(11, plain.quote.training)], "of the other one");
	});
}

/// Equal validation rows are evaluated once, however many there are: evaluations earn no power.
#[test]
fn evaluations_are_paid_and_mint_no_power() {
	run(|| {
		let plain = JobSpec::noisy_example();
		let mut evaluated = plain.clone();
		evaluated.dataset.validation_every = 2;
		(evaluated.dataset.train_rows, evaluated.dataset.validation_rows) = (40_000, 40_000);
		evaluated.training.checkpoint_interval = 10;
		let ids = [plain, evaluated].map(|spec| {
			let segments = spec.segments();
			let audit_segments = duties::least_draws(segments, 3).max(4);
			let terms = with_least_fee(&spec, Terms { audit_segments, ..terms(1) });
			let id = post_spec(SUBMITTER, spec, terms);
			apply(id, &[11]);
			run_to_state(id, JobState::Training);
			commit(id, 11);
			run_to_state(id, JobState::Revealing);
			reveal_after(id, 11, 1, segments);
			run_to_state(id, JobState::Auditing);
			decide(id, &[Decision::Accepted], &VERIFIERS);
			run_to_end(id);
			id
		});
		let [plain, evaluated] = ids.map(job);
		assert!(evaluated.quote.work > 20 * plain.quote.work);
		assert!(evaluated.settlement.paid_to_trainers > 20 * plain.settlement.paid_to_trainers);
		assert_eq!(evaluated.settlement.burned, plain.settlement.burned, "the fee follows power");
		let training = plain.quote.training;
		assert_eq!(Credited::get(), vec![(11, training), (11, training)]);
	});
}

/// A training that died is true and paid, but power is for work that somebody had to do.
#[test]
fn who_stood_still_is_paid_and_earns_no_power() {
	run(|| {
		let (quote, idle, fate, state) = one(Decision::Idle);
		assert_eq!((fate, state), (Fate::Idle, JobState::Ended(Ending::Settled)));
		assert_eq!(Credited::get(), vec![]);
		assert_eq!(free(11), ENDOWMENT + quote.price);
		assert_eq!(TotalBurned::<Test>::get(), quote.fee);
		let accepted = one(Decision::Accepted).1;
		assert_eq!(idle, accepted, "all money moves as for any other");
		assert_eq!(Credited::get(), vec![(11, quote.training)], "of the other one");
	});
}

/// Work that could be skipped or repeated is paid, its fee is burned, and it mints no power.
#[test]
fn work_that_can_be_memoised_mints_no_power() {
	run(|| {
		let noisy = JobSpec::noisy_example();
		let mut repeats = noisy.clone();
		repeats.training.batch_size = repeats.dataset.train_rows;
		repeats.training.input_noise_nano = 0;
		(repeats.training.steps, repeats.training.checkpoint_interval) = (30, 1);
		let mut stands = noisy.clone();
		stands.training.learning_rate_nano = 1;
		for (done, spec) in (0u64..).zip([repeats, stands]) {
			let id = post_spec(SUBMITTER, spec, terms(1));
			apply(id, &[11]);
			run_to_state(id, JobState::Training);
			commit(id, 11);
			run_to_state(id, JobState::Revealing);
			reveal(id, 11, 1);
			run_to_state(id, JobState::Auditing);
			decide(id, &[Decision::Accepted], &VERIFIERS);
			run_to_end(id);
			assert_eq!(job(id).replicas[0].fate, Fate::Accepted, "job {done}");
			assert_eq!((job(id).settlement.burned, job(id).quote.fee), (0, 0), "it buys no power");
			assert_eq!(Credited::get(), vec![]);
		}
		let mut still = noisy;
		still.training.learning_rate_nano = 0;
		let posted =
			TaskMarket::submit_job(RuntimeOrigin::signed(SUBMITTER), still, terms(1), u128::MAX);
		assert!(posted.is_err(), "a learning rate of zero is no job");
	});
}

#[test]
fn a_job_with_every_kind_of_result() {
	run(|| {
		let id = auditing(&[(11, 1), (12, 2), (13, 3), (14, 4)]);
		let decisions =
			[Decision::Accepted, Decision::Rejected, Decision::Unavailable, Decision::Undecided];
		decide(id, &decisions, &VERIFIERS);
		run_to_end(id);
		let (quote, s) = (job(id).quote, job(id).settlement);
		assert_eq!(job(id).state, JobState::Ended(Ending::Settled));
		// Replicas that failed leave their parts to the submitter.
		let pay = quote.price * 145 / 100 / 4;
		assert_eq!((s.paid_to_trainers, s.burned), (pay, quote.fee / 4));
		assert_eq!(s.refunded, quote.escrow - pay - quote.fee / 4 - 3 * FEE);
		assert_eq!(s.slashed, 2 * quote.deposit);
		assert_eq!(s.slashed_to_submitter, 0, "one good result is what it paid the audit for");
		// Half of what was withheld is burned.
		let half = quote.deposit / 2;
		assert_eq!((s.slashed_burned, s.slashed_to_jackpot), (half, 2 * quote.deposit - half));
		assert_eq!(free(11), ENDOWMENT + pay);
		assert_eq!(free(12), ENDOWMENT - quote.deposit);
		assert_eq!(free(13), ENDOWMENT - quote.deposit);
		assert_eq!(free(14), ENDOWMENT);
		assert_eq!(Credited::get(), vec![(11, quote.training / 4)]);
	});
}

#[test]
fn unused_replicas_are_refunded() {
	run(|| {
		let id = post(3);
		apply(id, &[11]);
		run_to_state(id, JobState::Training);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		reveal(id, 11, 1);
		run_to_state(id, JobState::Auditing);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		let quote = job(id).quote;
		// It is paid like a job of one replica.
		assert_eq!(job(id).settlement.paid_to_trainers, quote.price);
		let unused = quote.price * 130 / 100 - quote.price + AUDIT - 3 * FEE;
		assert_eq!(job(id).settlement.refunded, unused + quote.storage);
		assert_eq!(Credited::get(), vec![(11, quote.training)], "it computed alone");
	});
}
