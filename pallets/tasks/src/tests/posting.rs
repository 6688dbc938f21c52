//! Posting, applying, and taking back.

use crate::{mock::*, Error, Event, Subject, Tasks};
use frame_support::{assert_noop, assert_ok};
use trainyard_task::{
	claim,
	spec::TaskFault,
	views::{Phase, TaskEnd},
	File, TaskSpec, TaskTerms, H256,
};

#[test]
fn a_task_holds_what_it_can_cost() {
	run(|| {
		let id = post(STEPS, terms());
		assert_eq!(free(SUBMITTER), ENDOWMENT - 230 - RECORD);
		assert_eq!(get(id).phase, Phase::Open { until: 5 });
		assert_eq!(Names::get()[&File::of(MODULE).root], 1);
		assert_eq!(Names::get()[&File::of(INPUT).root], 1);
		let view = Tasking::view(id).unwrap();
		assert_eq!((view.submitter, view.spec, view.terms), (SUBMITTER, spec(STEPS), terms()));
		let other = post(MAP, terms());
		assert_eq!(Tasking::open_numbers(None, 9), [id, other]);
		assert_eq!(Tasking::open_numbers(Some(id), 9), [other]);
		assert_eq!(Tasking::numbers(None, 1), [id]);
		assert_eq!(Tasking::view(9), None);
	});
}

#[test]
fn what_breaks_a_rule_is_not_posted() {
	run(|| {
		let fails = |spec: TaskSpec, terms: TaskTerms, error: sp_runtime::DispatchError| {
			assert_noop!(Tasking::post(signed(SUBMITTER), Box::new(spec), Box::new(terms)), error);
		};
		let mut wide = spec(STEPS);
		wide.limits.fuel = BOUNDS.fuel + 1;
		fails(wide, terms(), Tasking::invalid(TaskFault::Fuel));
		let poor = TaskTerms { deposit: BOUNDS.deposit - 1, ..terms() };
		fails(spec(STEPS), poor, Tasking::invalid(TaskFault::Deposit));
		let missing = TaskSpec { module: File::of(b"missing"), ..spec(STEPS) };
		fails(missing, terms(), Error::<Test>::NotOnChain.into());
		let other = File { bytes: 4, ..File::of(INPUT) };
		fails(TaskSpec { input: other, ..spec(STEPS) }, terms(), Error::<Test>::NotOnChain.into());
		Stored::mutate(|all| all.get_mut(&File::of(INPUT).root).unwrap().1 = false);
		fails(spec(STEPS), terms(), Error::<Test>::NotOnChain.into());
		store(INPUT);
		crate::NextTask::<Test>::put(u32::MAX);
		fails(spec(STEPS), terms(), Error::<Test>::TooMany.into());
		crate::NextTask::<Test>::put(0);
		let dear = TaskTerms { reward: ENDOWMENT, deposit: 80, ..terms() };
		let posted = Tasking::post(signed(SUBMITTER), Box::new(spec(STEPS)), Box::new(dear));
		assert!(posted.is_err());
		assert_noop!(
			Tasking::post(RuntimeOrigin::none(), Box::new(spec(STEPS)), Box::new(terms())),
			sp_runtime::DispatchError::BadOrigin
		);
	});
}

#[test]
fn who_applies_puts_a_deposit_at_stake() {
	run(|| {
		let id = post(STEPS, terms());
		assert_ok!(apply(id, 11));
		assert_eq!(free(11), ENDOWMENT - 80);
		assert_noop!(apply(id, 11), Error::<Test>::HasApplied);
		assert_noop!(apply(id, SUBMITTER), Error::<Test>::OwnTask);
		let zero = H256::zero();
		assert_noop!(Tasking::apply(signed(12), id, zero), Error::<Test>::OtherTask);
		assert_noop!(Tasking::apply(signed(12), 9, zero), Error::<Test>::NoSuchTask);
		let digest = claim::digest(&spec(STEPS), &terms());
		to(6);
		assert_noop!(Tasking::apply(signed(12), id, digest), Error::<Test>::NotOpen);
	});
}

#[test]
fn no_more_apply_than_there_is_room_for() {
	run(|| {
		let id = post(STEPS, terms());
		let crowd = 1_000..1_000 + u64::from(crate::MAX_APPLICANTS);
		for who in crowd.clone() {
			let given = Balances::transfer_allow_death(signed(12), who, 200);
			assert_ok!(given);
			assert_ok!(apply(id, who));
		}
		assert_noop!(apply(id, 11), Error::<Test>::TooManyApplicants);
		until(id, |phase| matches!(phase, Phase::Computing { .. }));
		let drawn: Vec<_> = get(id).replicas.iter().map(|replica| replica.who).collect();
		assert_eq!(drawn.len(), 2);
		for who in crowd {
			assert_eq!(free(who), if drawn.contains(&who) { 120 } else { 200 });
		}
	});
}

#[test]
fn a_task_is_taken_back_as_long_as_it_is_open() {
	run(|| {
		let id = post(STEPS, terms());
		assert_ok!(apply(id, 11));
		assert_noop!(Tasking::cancel(signed(11), id), Error::<Test>::NotSubmitter);
		assert_noop!(Tasking::cancel(signed(SUBMITTER), 9), Error::<Test>::NoSuchTask);
		assert_ok!(Tasking::cancel(signed(SUBMITTER), id));
		assert_eq!((free(SUBMITTER), free(11)), (ENDOWMENT - RECORD, ENDOWMENT));
		assert_eq!(get(id).phase, Phase::Ended(TaskEnd::Cancelled));
		assert_noop!(Tasking::cancel(signed(SUBMITTER), id), Error::<Test>::NotOpen);
		assert!(Names::get().is_empty());
		pass(RETENTION);
		assert_eq!(Tasks::<Test>::get(id), None);
		assert_eq!(free(SUBMITTER), ENDOWMENT);
		let late = computing(STEPS, terms(), &[11, 12]);
		assert_noop!(Tasking::cancel(signed(SUBMITTER), late), Error::<Test>::NotOpen);
	});
}

#[test]
fn a_task_that_too_few_want_costs_nothing() {
	run(|| {
		let id = post(STEPS, terms());
		assert_ok!(apply(id, 11));
		to(6);
		assert_eq!(get(id).phase, Phase::Ended(TaskEnd::Untaken));
		let ended = Event::Ended { task: id, end: TaskEnd::Untaken, refund: 230 };
		assert!(events().contains(&ended));
		pass(RETENTION + 1);
		assert_eq!((free(SUBMITTER), free(11)), (ENDOWMENT, ENDOWMENT));
	});
}

#[test]
fn a_lost_seed_is_drawn_again() {
	run(|| {
		LostSeeds::set(2);
		let id = computing(STEPS, terms(), &[11, 12]);
		assert_eq!(LostSeeds::get(), 0);
		assert_eq!(get(id).replicas.len(), 2);
	});
}

#[test]
fn what_is_overdue_is_served_by_anybody() {
	run(|| {
		let id = post(STEPS, terms());
		assert_noop!(overdue(Subject::Task(id)), Error::<Test>::NotOverdue);
		assert_noop!(overdue(Subject::Task(9)), Error::<Test>::NoSuchTask);
		assert_noop!(overdue(Subject::Dispute(id, 0)), Error::<Test>::NoSuchDispute);
		ServiceWeight::set(frame_support::weights::Weight::zero());
		pass(20);
		assert_eq!(get(id).phase, Phase::Open { until: 5 });
		assert_ok!(overdue(Subject::Task(id)));
		assert_eq!(get(id).phase, Phase::Ended(TaskEnd::Untaken));
		assert_noop!(overdue(Subject::Task(id)), Error::<Test>::NotOverdue);
	});
}
