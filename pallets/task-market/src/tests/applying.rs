//! Applying for a job, and the draw of replicas.

use crate::{
	life_cycle::{REPLICAS_DOMAIN, SEED_DOMAIN},
	mock::*,
	Applicant, Applicants, Error, Event, HoldReason,
};
use codec::Encode;
use frame_support::{assert_noop, assert_ok, BoundedVec};
use sp_runtime::TokenError;
use trainyard_program::spec::JobSpec;
use trainyard_protocol::{
	commitment, draw,
	job::{Fate, JobState, Terms},
	H256,
};

fn try_apply(who: AccountId, id: u32) -> sp_runtime::DispatchResult {
	TaskMarket::apply(RuntimeOrigin::signed(who), id, digest(id), forced(who))
}

fn applicants(id: u32) -> Vec<AccountId> {
	Applicants::<Test>::get(id).into_iter().map(|applicant| applicant.trainer).collect()
}

#[test]
fn applying_holds_a_deposit() {
	run(|| {
		let id = post(1);
		let deposit = job(id).quote.deposit;
		assert_ok!(try_apply(11, id));
		System::assert_last_event(Event::Applied { job: id, trainer: 11, deposit }.into());
		assert_eq!(held(HoldReason::Deposit, 11), deposit);
		assert_eq!(
			Applicants::<Test>::get(id).into_inner(),
			vec![Applicant { trainer: 11, bond: 1_000, standing: 500_000, forced: forced(11) }]
		);
		// A second job holds a second deposit.
		let other = post_with(OTHER, terms(1));
		assert_ok!(try_apply(11, other));
		assert_eq!(held(HoldReason::Deposit, 11), deposit + job(other).quote.deposit);
	});
}

#[test]
fn applicants_are_checked() {
	run(|| {
		assert_noop!(try_apply(11, 0), Error::<Test>::NoSuchJob);
		let id = post(1);
		assert_noop!(try_apply(SUBMITTER, id), Error::<Test>::SubmitterCannotTrain);
		assert_noop!(try_apply(OTHER, id), Error::<Test>::NotATrainer);
		assert_ok!(try_apply(11, id));
		assert_noop!(try_apply(11, id), Error::<Test>::AlreadyApplied);
	});
}

/// Two forks may give one number to two jobs. Who fetched and tried the one must not hold a deposit
/// for the other.
#[test]
fn whoever_applies_names_the_job() {
	run(|| {
		let (id, other) = (post(1), post_with(SUBMITTER, Terms { audit_fee: 9_999, ..terms(1) }));
		let longer = post_spec(SUBMITTER, stopping(), terms(1));
		for wrong in [digest(other), digest(longer), H256::zero()] {
			let call = || TaskMarket::apply(RuntimeOrigin::signed(11), id, wrong, forced(11));
			assert_noop!(call(), Error::<Test>::OtherJob);
		}
		assert_ok!(TaskMarket::apply(RuntimeOrigin::signed(11), other, digest(other), forced(11)));
		assert_eq!(digest(id), commitment::job(&JobSpec::noisy_example(), &terms(1)));
		// The same job again is the same to a trainer.
		assert_eq!(digest(post(1)), digest(id));
	});
}

#[test]
fn a_job_takes_a_limited_number_of_applicants() {
	run(|| {
		let id = post(1);
		for who in 30..38 {
			Bonds::mutate(|bonds| bonds.insert(who, 1));
			assert_ok!(Balances::transfer_keep_alive(
				RuntimeOrigin::signed(OTHER),
				who,
				job(id).quote.deposit + ED
			));
			assert_ok!(try_apply(who, id));
		}
		Bonds::mutate(|bonds| bonds.insert(11, 1));
		assert_noop!(try_apply(11, id), Error::<Test>::TooManyApplicants);
	});
}

/// Otherwise anyone could fill the list with small bonds and keep others out.
#[test]
fn in_a_full_list_a_larger_bond_displaces_the_smallest() {
	run(|| {
		let id = post(1);
		let deposit = job(id).quote.deposit;
		for (who, bond) in (30..38).zip([5, 3, 9, 3, 4, 4, 8, 7]) {
			Bonds::mutate(|bonds| bonds.insert(who, bond));
			let origin = RuntimeOrigin::signed(OTHER);
			assert_ok!(Balances::transfer_keep_alive(origin, who, deposit + ED));
			assert_ok!(try_apply(who, id));
		}
		Bonds::mutate(|bonds| bonds.insert(11, 4));
		Bonds::mutate(|bonds| bonds.insert(12, 3));
		assert_noop!(try_apply(12, id), Error::<Test>::TooManyApplicants);
		assert_ok!(try_apply(11, id));
		assert!(events().contains(&Event::Displaced { job: id, trainer: 33 }), "the last of two");
		assert_eq!((held(HoldReason::Deposit, 33), free(33)), (0, deposit + ED));
		assert_eq!(held(HoldReason::Deposit, 11), deposit);
		let list = vec![30, 31, 32, 34, 35, 36, 37, 11];
		assert_eq!(applicants(id), list);
		// A trainer that was displaced may come back with a larger bond.
		Bonds::mutate(|bonds| bonds.insert(33, 10));
		assert_ok!(try_apply(33, id));
		assert!(!applicants(id).contains(&31));
		// A trainer that cannot pay displaces nobody.
		Bonds::mutate(|bonds| bonds.insert(39, 100));
		assert_noop!(try_apply(39, id), TokenError::FundsUnavailable);
	});
}

#[test]
fn who_cannot_pay_the_deposit_cannot_apply() {
	run(|| {
		let id = post(1);
		let short = job(id).quote.deposit + ED - 1;
		let origin = RuntimeOrigin::signed(11);
		assert_ok!(Balances::transfer_keep_alive(origin, OTHER, ENDOWMENT - short));
		assert_noop!(try_apply(11, id), TokenError::FundsUnavailable);
	});
}

#[test]
fn applying_ends_at_the_deadline_even_where_blocks_are_late() {
	run(|| {
		let id = post(1);
		System::set_block_number(job(id).deadline - 1);
		assert_ok!(try_apply(11, id));
		// No block has served the agenda.
		System::set_block_number(job(id).deadline);
		assert_noop!(try_apply(12, id), Error::<Test>::NotOpen);
		run_to_state(id, JobState::Training);
		assert_noop!(try_apply(12, id), Error::<Test>::NotOpen);
	});
}

#[test]
fn an_ordered_job_is_for_the_invited_and_begins_at_once() {
	run(|| {
		let list = TaskMarket::post_listing(RuntimeOrigin::signed(12), 1, u64::MAX, <_>::default());
		assert_ok!(list);
		let origin = RuntimeOrigin::signed(SUBMITTER);
		assert_ok!(TaskMarket::order(origin, 12, JobSpec::noisy_example(), terms(1), u128::MAX));
		assert_noop!(try_apply(11, 0), Error::<Test>::NotInvited);
		assert_ok!(try_apply(12, 0));
		assert_eq!(due(0), TaskMarket::now() + 1);
		next_block();
		assert_eq!(job(0).state, JobState::Seeding);
		run_to_state(0, JobState::Training);
		assert_eq!(job(0).replicas[0].trainer, 12);
	});
}

#[test]
fn replicas_are_drawn_from_the_seed_by_bond_and_the_others_are_let_go() {
	run(|| {
		Bonds::mutate(|bonds| bonds.insert(13, 1_000_000));
		let id = post(2);
		// The order of applying does not matter.
		apply(id, &[15, 11, 13, 12, 14]);
		run_to_state(id, JobState::Seeding);
		let closed = TaskMarket::now();
		assert_eq!(job(id).since, closed);
		assert!(events().contains(&Event::ApplicationsClosed { job: id, applicants: 5 }));
		assert_noop!(try_apply(11, id), Error::<Test>::NotOpen);

		run_to_state(id, JobState::Training);
		let seed = seed_of(SEED_DOMAIN, &id.encode(), closed);
		let candidates = [(11, 1_000), (12, 1_000), (13, 1_000_000), (14, 1_000), (15, 1_000)];
		let drawn: Vec<AccountId> = draw::weighted(REPLICAS_DOMAIN, &seed, &candidates, 2);
		assert_eq!(drawn.len(), 2);
		let trained: Vec<AccountId> = job(id).replicas.iter().map(|r| r.trainer).collect();
		assert_eq!((job(id).seed, trained), (Some(seed), drawn.clone()));
		assert!(job(id).replicas.iter().all(|r| r.fate == Fate::Working));
		assert_eq!(Rounds::get()[&id].trainers, drawn);
		for trainer in TRAINERS {
			let expected = if drawn.contains(&trainer) { job(id).quote.deposit } else { 0 };
			assert_eq!(held(HoldReason::Deposit, trainer), expected);
		}
		let trainers = BoundedVec::truncate_from(drawn);
		assert!(events().contains(&Event::Assigned { job: id, seed, trainers }));
	});
}

/// The author of the last block of a seed knows it, and could add to its bond just what wins.
#[test]
fn a_bond_that_is_raised_after_applying_does_not_count() {
	run(|| {
		let mut turned = 0;
		for _ in 0..20 {
			let id = post(1);
			apply(id, &[11, 12]);
			run_to_state(id, JobState::Seeding);
			Bonds::mutate(|bonds| bonds.insert(12, 1_000_000));
			let closed = job(id).since;
			run_to_state(id, JobState::Training);
			let seed = seed_of(SEED_DOMAIN, &id.encode(), closed);
			let before = draw::weighted(REPLICAS_DOMAIN, &seed, &[(11, 1_000), (12, 1_000)], 1);
			let raised = draw::weighted(REPLICAS_DOMAIN, &seed, &[(11, 1_000), (12, 1_000_000)], 1);
			assert_eq!(vec![job(id).replicas[0].trainer], before);
			turned += u32::from(before != raised);
			Bonds::mutate(|bonds| bonds.insert(12, 1_000));
			run_to_end(id);
		}
		assert!(turned > 3, "the raise would have won {turned} of 20 draws");
	});
}

#[test]
fn a_bond_that_was_lost_after_applying_does_not_count() {
	run(|| {
		let id = post(1);
		apply(id, &[11, 12]);
		Bonds::mutate(|bonds| bonds.insert(12, 0));
		run_to_state(id, JobState::Training);
		assert_eq!(job(id).replicas[0].trainer, 11);
	});
}

#[test]
fn bonds_weigh_in_the_draw() {
	run(|| {
		Bonds::set([(11, 1), (12, 999)].into());
		let mut heavy = 0;
		for _ in 0..40 {
			let id = post(1);
			apply(id, &[11, 12]);
			run_to_state(id, JobState::Training);
			heavy += u32::from(job(id).replicas[0].trainer == 12);
			run_to_end(id);
		}
		// 39.96 expected; fewer than 38 has a probability below 10^-5.
		assert!(heavy >= 38, "{heavy}");
	});
}

#[test]
fn fewer_applicants_than_replicas_train_alone() {
	run(|| {
		let id = post(3);
		apply(id, &[14, 12]);
		run_to_state(id, JobState::Training);
		let mut trainers: Vec<_> = job(id).replicas.iter().map(|r| r.trainer).collect();
		trainers.sort();
		assert_eq!(trainers, vec![12, 14]);
	});
}
