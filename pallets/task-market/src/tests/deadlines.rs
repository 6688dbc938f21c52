//! What each state waits for, until when, and what then.

use crate::{mock::*, Error, Event, HoldReason, Jobs};
use frame_support::{assert_noop, assert_ok, weights::Weight};
use trainyard_pallet_support::agenda::Clock;
use trainyard_program::{needs::Needs, spec::JobSpec};
use trainyard_protocol::{
	audit::Decision,
	job::{Ending, Fate, JobState},
	price,
};

fn fates(id: u32) -> Vec<Fate> {
	job(id).replicas.iter().map(|r| r.fate).collect()
}

fn fate_of(id: u32, trainer: AccountId) -> Fate {
	job(id).replicas.iter().find(|r| r.trainer == trainer).unwrap().fate
}

#[test]
fn nobody_applied() {
	run(|| {
		let id = post(1);
		run_to(5);
		assert_eq!(job(id).state, JobState::Open);
		run_to(6);
		assert_eq!(job(id).state, JobState::Ended(Ending::NoApplicants));
		let place = place_of(id);
		assert_eq!(place, price::place_fee(job(id).quote.fee, 5), "the least there is");
		assert_eq!(free(SUBMITTER), ENDOWMENT - place);
		assert_eq!(job(id).settlement.refunded, job(id).quote.escrow - place);
	});
}

#[test]
fn the_seed_forms_from_blocks_after_applying_closed() {
	run(|| {
		let id = post(1);
		apply(id, &[11]);
		run_to(6);
		assert_eq!((job(id).state, job(id).since, due(id)), (JobState::Seeding, 6, 7));
		run_to(7);
		assert_eq!((job(id).state, job(id).deadline, due(id)), (JobState::Seeding, 8, 8));
		run_to(8);
		assert_eq!((job(id).state, job(id).since), (JobState::Training, 8));
		assert_eq!((job(id).deadline, due(id)), (28, 28));
	});
}

/// Whoever posts or applies must not choose the height: it knows the outputs of its own blocks to
/// come.
#[test]
fn the_height_of_the_seed_is_not_that_of_a_call() {
	run(|| {
		SeedStep::set(16);
		let list = TaskMarket::post_listing(RuntimeOrigin::signed(12), 1, u64::MAX, <_>::default());
		assert_ok!(list);
		for at in [2, 7, 15] {
			run_to(at);
			let id = crate::NextJob::<Test>::get();
			let origin = RuntimeOrigin::signed(SUBMITTER);
			assert_ok!(TaskMarket::order(
				origin,
				12,
				JobSpec::noisy_example(),
				terms(1),
				u128::MAX
			));
			apply(id, &[12]);
			next_block();
			assert_eq!((job(id).state, job(id).since), (JobState::Seeding, 16), "applied at {at}");
		}
		run_to(17);
		assert!((0..3).all(|id| job(id).state == JobState::Seeding));
		run_to(18);
		assert!((0..3).all(|id| job(id).state == JobState::Training));
	});
}

/// Full blocks look at a job late. Whoever fills them must not choose the height either.
#[test]
fn a_job_that_is_closed_late_keeps_the_height_of_its_deadline() {
	run(|| {
		let id = post(1);
		apply(id, &[11]);
		ServiceWeight::set(TaskMarket::worst_of_state(&JobState::Open));
		run_to(40);
		assert_eq!(job(id).state, JobState::Open);
		ServiceWeight::set(Weight::MAX);
		next_block();
		assert_eq!((job(id).state, job(id).since), (JobState::Seeding, 6));
	});
}

/// A job whose only trainer has revealed, and whose model is not stored. Returns it with its
/// deadline.
fn waiting_for_a_model() -> (u32, u32) {
	let id = post(1);
	apply(id, &[11]);
	run_to_state(id, JobState::Training);
	commit(id, 11);
	run_to_state(id, JobState::Revealing);
	MissingModels::mutate(|missing| missing.insert(model_of(1)));
	reveal(id, 11, 1);
	(id, job(id).deadline)
}

/// For the price of full blocks a rival could let a trainer lose its deposit.
#[test]
fn the_deadline_for_a_model_stands_still_while_blocks_are_full() {
	run(|| {
		let (id, deadline) = waiting_for_a_model();
		FullBlocks::set(4);
		run_to(deadline + 3);
		assert_eq!((job(id).state, job(id).deadline), (JobState::Revealing, deadline + 4));
		MissingModels::set(Default::default());
		run_to_state(id, JobState::Auditing);
		run_to_end(id);
	});
}

#[test]
fn full_blocks_from_before_do_not_count() {
	run(|| {
		FullBlocks::set(4);
		let (id, deadline) = waiting_for_a_model();
		run_to(deadline);
		assert_eq!(fates(id), vec![Fate::ModelMissing]);
		MissingModels::set(Default::default());
	});
}

#[test]
fn nobody_holds_a_job_for_ever_by_full_blocks() {
	run(|| {
		let (id, deadline) = waiting_for_a_model();
		let period = deadline - job(id).since;
		FullBlocks::set(1_000_000);
		run_to(deadline + 3 * period - 1);
		assert_eq!(job(id).state, JobState::Revealing);
		run_to(deadline + 3 * period);
		assert_eq!(fates(id), vec![Fate::ModelMissing]);
		MissingModels::set(Default::default());
	});
}

#[test]
fn whoever_did_not_reveal_gets_no_time_from_full_blocks() {
	run(|| {
		let id = post(1);
		apply(id, &[11]);
		run_to_state(id, JobState::Training);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		FullBlocks::set(10);
		run_to(job(id).deadline);
		assert_eq!(fates(id), vec![Fate::NotRevealed]);
	});
}

/// Else a model could be removed before its job has ended, or never.
#[test]
fn a_model_is_awaited_from_its_reveal_to_the_end_of_the_job() {
	run(|| {
		let id = post(2);
		apply(id, &[11, 12]);
		run_to_state(id, JobState::Training);
		[11, 12].into_iter().for_each(|t| commit(id, t));
		run_to_state(id, JobState::Revealing);
		assert!(Expected::get().is_empty());
		reveal(id, 11, 1);
		reveal(id, 12, 1);
		assert_eq!(Expected::get(), [(model_of(1), 2)].into());
		run_to_state(id, JobState::Auditing);
		assert_eq!(Expected::get().len(), 1);
		run_to_end(id);
		assert!(Expected::get().is_empty());
		assert_eq!(Kept::get().len(), 2);
		assert!(Kept::get().iter().all(|(_, keepers)| keepers.len() == 2));
	});
}

#[test]
fn a_lost_seed_forms_anew() {
	run(|| {
		let id = post(1);
		apply(id, &[11]);
		run_to(6);
		LostSeeds::set(2);
		run_to(8);
		assert_eq!((job(id).state, job(id).since), (JobState::Seeding, 8));
		let lost = events().into_iter().filter(|e| *e == Event::SeedLost { job: id }).count();
		assert_eq!(lost, 2);
		run_to(10);
		assert_eq!(job(id).state, JobState::Training);
	});
}

#[test]
fn training_ends_when_all_have_committed() {
	run(|| {
		let id = training(&[11, 12]);
		commit(id, 11);
		next_block();
		assert_eq!(job(id).state, JobState::Training, "one is missing");
		commit(id, 12);
		assert_eq!(job(id).state, JobState::Training, "looked at in the next block");
		next_block();
		assert_eq!(job(id).state, JobState::Revealing);
		// A model of less than 1.5 MiB takes one more block than the period.
		assert_eq!(job(id).quote.moved.store, 1);
		assert_eq!(job(id).deadline, TaskMarket::now() + 15 + 1);
		assert!(events().contains(&Event::RevealsOpened { job: id, committed: 2 }));
	});
}

#[test]
fn who_does_not_commit_is_out() {
	run(|| {
		let id = training(&[11, 12]);
		let deadline = job(id).deadline;
		commit(id, 12);
		run_to(deadline - 1);
		assert_eq!(job(id).state, JobState::Training);
		run_to(deadline);
		assert_eq!(job(id).state, JobState::Revealing);
		assert_eq!((fate_of(id, 11), fate_of(id, 12)), (Fate::NotCommitted, Fate::Working));
		let out = Event::ReplicaEnded { job: id, trainer: 11, fate: Fate::NotCommitted };
		assert!(events().contains(&out));
		// The other one goes on and is paid; the deposit is shared out at the end.
		reveal(id, 12, 1);
		run_to_state(id, JobState::Auditing);
		decide(id, &[Decision::Accepted], &VERIFIERS);
		run_to_end(id);
		let (quote, settlement) = (job(id).quote, job(id).settlement);
		assert_eq!(job(id).state, JobState::Ended(Ending::Settled));
		assert_eq!(settlement.paid_to_trainers, quote.price * 115 / 100 / 2);
		assert_eq!(settlement.slashed, quote.deposit);
		assert_eq!(settlement.slashed_to_submitter, 0, "it got what it paid for");
		assert_eq!(
			Credited::get(),
			vec![(12, quote.training / 2)],
			"the share of one of two drawn"
		);
	});
}

#[test]
fn nobody_committed() {
	run(|| {
		let id = training(&[11, 12]);
		run_to(job(id).deadline);
		assert_eq!(job(id).state, JobState::Ended(Ending::Failed));
		assert_eq!(fates(id), vec![Fate::NotCommitted; 2]);
		let (quote, s) = (job(id).quote, job(id).settlement);
		assert_eq!((s.refunded, s.slashed), (quote.escrow, 2 * quote.deposit));
		assert_eq!(s.slashed_to_jackpot, 2 * quote.deposit, "no loss, nobody served");
		assert_eq!((free(SUBMITTER), free(JACKPOT)), (ENDOWMENT, 2 * quote.deposit));
		assert!(Rounds::get()[&id].closed);
	});
}

#[test]
fn revealing_ends_when_all_revealed_and_stored() {
	run(|| {
		let id = training(&[11, 12]);
		commit(id, 11);
		commit(id, 12);
		run_to_state(id, JobState::Revealing);
		let deadline = job(id).deadline;
		MissingModels::set([model_of(1)].into());
		reveal(id, 11, 1);
		next_block();
		assert_eq!(due(id), deadline, "one has not revealed");
		reveal(id, 12, 1);
		next_block();
		let now = TaskMarket::now();
		assert_eq!((job(id).state, due(id)), (JobState::Revealing, now + 3), "looks again");
		MissingModels::set(Default::default());
		run_to(now + 2);
		assert_eq!(job(id).state, JobState::Revealing);
		run_to(now + 3);
		assert_eq!(job(id).state, JobState::Auditing);
		assert!(Rounds::get()[&id].closed, "no more reveals");
	});
}

#[test]
fn looking_for_models_ends_at_the_deadline() {
	run(|| {
		let id = training(&[11]);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		let deadline = job(id).deadline;
		run_to(deadline - 2);
		MissingModels::set([model_of(1)].into());
		reveal(id, 11, 1);
		next_block();
		assert_eq!(due(id), deadline);
		next_block();
		assert_eq!(job(id).state, JobState::Ended(Ending::Failed));
		assert_eq!(fates(id), vec![Fate::ModelMissing]);
		assert_eq!(job(id).settlement.slashed, job(id).quote.deposit);
	});
}

#[test]
fn who_does_not_reveal_or_store_is_out() {
	run(|| {
		let id = training(&[11, 12, 13]);
		[11, 12, 13].into_iter().for_each(|t| commit(id, t));
		run_to_state(id, JobState::Revealing);
		reveal(id, 12, 2);
		reveal(id, 13, 3);
		MissingModels::set([model_of(3)].into());
		run_to(job(id).deadline);
		assert_eq!(job(id).state, JobState::Auditing);
		assert_eq!(fate_of(id, 11), Fate::NotRevealed);
		assert_eq!(fate_of(id, 12), Fate::Working);
		assert_eq!(fate_of(id, 13), Fate::ModelMissing);
		let request = &AuditBook::get()[&id].request;
		let groups: Vec<_> = request.groups.iter().map(|g| (g.0, trainers_of(g))).collect();
		assert_eq!(groups, vec![(reveal_of(2).result(), vec![12])]);
		let (bundle_root, own) = (trainyard_protocol::H256::from_low_u64_be(12), forced(12));
		let delivery = trainyard_traits::Delivery { trainer: 12, bundle_root, forced: own };
		assert_eq!(request.groups[0].1, vec![delivery]);
		assert_eq!(Some(request.assignment), job(id).seed);
		let mut parties = request.parties.clone();
		parties.sort();
		assert_eq!(parties, vec![SUBMITTER, 11, 12, 13], "those who are out are parties still");
	});
}

#[test]
fn nobody_revealed() {
	run(|| {
		let id = training(&[11]);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		let deadline = job(id).deadline;
		run_to(deadline - 1);
		assert_eq!(job(id).state, JobState::Revealing);
		run_to(deadline);
		assert_eq!(job(id).state, JobState::Ended(Ending::Failed));
		assert_eq!(fates(id), vec![Fate::NotRevealed]);
		assert_eq!(free(SUBMITTER), ENDOWMENT);
	});
}

#[test]
fn equal_results_are_audited_once() {
	run(|| {
		let id = auditing(&[(11, 7), (12, 4), (13, 7)]);
		let request = &AuditBook::get()[&id].request;
		assert_eq!(request.groups.len(), 2);
		let groups: Vec<_> = request.groups.iter().map(|g| (g.0, trainers_of(g))).collect();
		let (four, seven) = (reveal_of(4).result(), reveal_of(7).result());
		assert_eq!(groups, [(four, vec![12]), (seven, vec![11, 13])], "in order of result");
		assert_eq!((request.drawing.draws, request.verifiers), (4, 3));
		// Work is for each result. Disk is for what is fetched of all that there may be, and for the
		// rows, once.
		let (needs, replicas) = (Needs::of(&noisy()), job(id).terms.replicas);
		// Four draws, one by duty or two in the place of one of them, and where results part.
		let disk = needs.disk(6, replicas);
		assert_eq!(u64::from(request.needs.disk_mib), disk.div_ceil(1 << 20));
		assert!(disk > needs.download(6, replicas) + needs.rows);
		assert_eq!(request.needs.work, 2 * job(id).quote.needs.work);
		assert!(events().contains(&Event::AuditOpened { job: id, results: 2 }));

		decide(id, &[Decision::Rejected, Decision::Accepted], &[]);
		run_to_end(id);
		assert_eq!(fate_of(id, 11), Fate::Accepted);
		assert_eq!(fate_of(id, 12), Fate::Rejected);
		assert_eq!(fate_of(id, 13), Fate::Accepted);
	});
}

#[test]
fn the_audit_is_asked_when_it_says() {
	run(|| {
		let id = auditing(&[(11, 1)]);
		let opened = TaskMarket::now();
		next_block();
		assert_eq!((due(id), job(id).deadline), (opened + 40, opened + 40));
		run_to(opened + 39);
		assert_eq!(job(id).state, JobState::Auditing);
		run_to(opened + 40);
		assert_eq!(job(id).state, JobState::Ended(Ending::Failed), "it gave up");
		assert_eq!(fates(id), vec![Fate::Undecided]);
		let part = job(id).quote.price / 5;
		assert_eq!((free(11), free(SUBMITTER)), (ENDOWMENT + part, ENDOWMENT - part));
	});
}

/// Whoever keeps all verifiers away locks nobody's money for ever and has no model for nothing.
#[test]
fn an_audit_without_verifiers_ends_at_the_last_deadline() {
	run(|| {
		NoVerifiers::set(true);
		let id = auditing(&[(11, 1)]);
		let opened = TaskMarket::now();
		run_to(opened + AUDIT_DEADLINE - 1);
		assert_eq!((job(id).state, due(id)), (JobState::Auditing, opened + AUDIT_DEADLINE));
		assert_eq!(held(HoldReason::Deposit, 11), job(id).quote.deposit);
		next_block();
		assert_eq!(job(id).state, JobState::Ended(Ending::Failed));
		assert_eq!(fates(id), vec![Fate::Undecided]);
		let part = job(id).quote.price / 5;
		// Nobody looked at it, so it pays for its place.
		let place = place_of(id);
		assert!(place > 0);
		assert_eq!((free(11), free(SUBMITTER)), (ENDOWMENT + part, ENDOWMENT - part - place));
		assert_eq!(job(id).settlement.burned, place);
		assert_eq!(Credited::get(), vec![]);
	});
}

/// A cheat that sees a faked segment drawn is not saved by the clock: a round ends by itself.
#[test]
fn the_last_deadline_ends_no_round() {
	run(|| {
		CommitteeSits::set(true);
		let id = auditing(&[(11, 1)]);
		let opened = TaskMarket::now();
		run_to(opened + AUDIT_DEADLINE + 25);
		assert_eq!(job(id).state, JobState::Auditing);
		decide(id, &[Decision::Rejected], &VERIFIERS);
		run_to_end(id);
		assert_eq!(fates(id), vec![Fate::Rejected]);
		assert_eq!(free(11), ENDOWMENT - job(id).quote.deposit);

		// After a round that decided nothing there is no other.
		let id = auditing(&[(12, 1)]);
		run_to(TaskMarket::now() + AUDIT_DEADLINE + 5);
		assert_eq!(job(id).state, JobState::Auditing);
		CommitteeSits::set(false);
		NoVerifiers::set(true);
		run_to_end(id);
		assert_eq!(fates(id), vec![Fate::Undecided]);
	});
}

#[test]
fn where_no_round_can_be_opened_nobody_pays_and_where_no_audit_can_the_part() {
	run(|| {
		let id = post(1);
		apply(id, &[11]);
		RefuseRounds::set(true);
		run_to_end(id);
		assert_eq!(
			(job(id).state, fates(id)),
			(JobState::Ended(Ending::Failed), vec![Fate::Undecided])
		);
		assert_eq!((free(SUBMITTER), free(11)), (ENDOWMENT, ENDOWMENT), "nothing was trained");
		RefuseRounds::set(false);

		let id = training(&[11]);
		commit(id, 11);
		run_to_state(id, JobState::Revealing);
		reveal(id, 11, 1);
		RefuseAudits::set(true);
		run_to_end(id);
		assert_eq!(
			(job(id).state, fates(id)),
			(JobState::Ended(Ending::Failed), vec![Fate::Undecided])
		);
		let part = job(id).quote.price / 5;
		assert_eq!((free(SUBMITTER), free(11)), (ENDOWMENT - part, ENDOWMENT + part));
	});
}

#[test]
fn two_jobs_at_once_do_not_touch_each_other() {
	run(|| {
		// The same trainer trains both; one is accepted, the other is never delivered.
		let (good, bad) = (post(1), post_with(OTHER, terms(1)));
		apply(good, &[11]);
		apply(bad, &[11]);
		run_to_state(good, JobState::Training);
		assert_eq!(job(bad).state, JobState::Training);
		assert_ne!(job(good).seed, job(bad).seed);
		let deposit = job(good).quote.deposit;
		assert_eq!(held(HoldReason::Deposit, 11), 2 * deposit);
		commit(good, 11);
		run_to_state(good, JobState::Revealing);
		reveal(good, 11, 1);
		run_to_state(good, JobState::Auditing);
		decide(good, &[Decision::Accepted], &VERIFIERS);
		run_to_end(good);
		assert_eq!(job(bad).state, JobState::Training);
		assert_eq!(held(HoldReason::Deposit, 11), deposit);
		run_to_end(bad);
		assert_eq!(job(good).state, JobState::Ended(Ending::Settled));
		assert_eq!(job(bad).state, JobState::Ended(Ending::Failed));
		assert_eq!(free(11), ENDOWMENT + job(good).quote.price - deposit);
		assert_eq!(free(OTHER), ENDOWMENT);
	});
}

#[test]
fn an_ended_job_is_kept_for_a_while_and_then_anyone_may_remove_it_where_blocks_are_full() {
	run(|| {
		let forget = |id| TaskMarket::forget(RuntimeOrigin::signed(OTHER), id);
		assert_noop!(forget(0), Error::<Test>::NoSuchJob);
		let id = auditing(&[(11, 1)]);
		assert_noop!(forget(id), Error::<Test>::NotEnded);
		decide(id, &[Decision::Accepted], &[]);
		run_to_end(id);
		let ended = TaskMarket::now();
		assert_eq!(job(id).deadline, ended + 25);
		run_to(ended + 24);
		assert_noop!(forget(id), Error::<Test>::StillRetained);
		assert!(Rounds::get().contains_key(&id), "results stay readable until then");
		// Blocks that are full: there is room for a look at the agenda only.
		ServiceWeight::set(<TaskMarket as Clock>::look_weight());
		run_to(ended + 25);
		assert_ok!(forget(id));
		System::assert_last_event(Event::Forgotten { job: id }.into());
		assert!(Jobs::<Test>::get(id).is_none());
		assert!(!Rounds::get().contains_key(&id) && !AuditBook::get().contains_key(&id));
		assert_noop!(forget(id), Error::<Test>::NoSuchJob);
	});
}
