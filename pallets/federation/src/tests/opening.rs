//! Opening and stopping.

use super::*;
use crate::{Parts, SpecFault};
use trainyard_program::spec::{JobSpec, SpecError};

fn open_as(template: JobSpec, parts: Parts, plan: Plan) -> sp_runtime::DispatchResult {
	Fed::open(signed(SUBMITTER), Box::new(template), parts, terms(), plan)
}

#[test]
fn fees_and_record_are_held_and_all_of_it_returns() {
	run(|| {
		let id = open();
		let opened = Event::Opened {
			federation: id,
			submitter: SUBMITTER,
			parts: 2,
			rounds: 2,
			fees: 2 * FEE,
		};
		assert_eq!(events(), [opened]);
		let record = get(id).record;
		assert!(record > 50);
		assert_eq!(held(SUBMITTER), 2 * FEE + record);
		assert_ok!(Fed::cancel(signed(SUBMITTER), id));
		assert_eq!(held(SUBMITTER), record);
		pass(RETENTION - 1);
		assert_eq!(held(SUBMITTER), record);
		pass(2);
		assert_eq!(held(SUBMITTER), 0);
		assert_eq!(free(SUBMITTER), ENDOWMENT);
		assert!(Fed::view(id).is_none());
	});
}

#[test]
fn every_rule_of_a_plan_is_enforced() {
	run(|| {
		type Break = fn(&mut Plan);
		let cases: [(Error<Test>, Break); 7] = [
			(Error::BadMinParts, |plan| plan.min_parts = 0),
			(Error::BadMinParts, |plan| plan.min_parts = 3),
			(Error::BadRounds, |plan| plan.rounds = 0),
			(Error::BadRounds, |plan| plan.rounds = 1_001),
			(Error::BadRoundBlocks, |plan| plan.round_blocks = MIN_ROUND - 1),
			(Error::FeeTooLow, |plan| plan.aggregate_fee = FEE - 1),
			(Error::AmountOverflow, |plan| plan.aggregate_fee = u128::MAX),
		];
		for (error, spoil) in cases {
			let mut plan = plan();
			spoil(&mut plan);
			assert_noop!(open_as(template(), parts(2), plan), error);
		}
		assert_noop!(open_as(template(), parts(0), plan()), Error::<Test>::BadParts);
		let alone = crate::mock::terms();
		let alone = trainyard_protocol::job::Terms { replicas: 1, ..alone };
		let open = |plan| {
			Fed::open(signed(SUBMITTER), Box::new(template()), parts(2), alone.clone(), plan)
		};
		assert_noop!(open(plan()), Error::<Test>::NobodyToAgree);
		assert_ok!(open(Plan { rule: Rule::Settled, ..plan() }));
	});
}

#[test]
fn the_specification_of_every_part_is_checked() {
	run(|| {
		let mut parts = parts(2);
		parts[1].validation_rows += 90;
		let fault = Error::<Test>::InvalidSpec(SpecFault(SpecError::RowsDisagree));
		assert_noop!(open_as(template(), parts, plan()), fault);
		let drawn = JobSpec::example();
		let none = Error::<Test>::NoInitialModel;
		assert_noop!(open_as(drawn, crate::mock::parts(2), plan()), none);
	});
}

#[test]
fn an_initial_model_on_chain_is_there_and_is_kept() {
	run(|| {
		let file = model(1);
		let root = store(&file);
		let spec = JobSpec { initial_model: Some(initial_on_chain(root)), ..template() };
		Stored::mutate(|all| all.get_mut(&root).unwrap().is_complete = false);
		let missing = || Error::<Test>::ModelMissing;
		assert_noop!(open_as(spec.clone(), parts(2), plan()), missing());
		Stored::mutate(|all| all.get_mut(&root).unwrap().is_complete = true);
		let mut other = spec.clone();
		other.initial_model.as_mut().unwrap().file.bytes += 1;
		assert_noop!(open_as(other, parts(2), plan()), missing());
		assert_ok!(open_as(spec, parts(2), plan()));
		assert_eq!(Names::get().get(&root), Some(&1));
		finish_round(0, &[2, 3]);
		assert_eq!(Names::get().get(&root), None, "the next round begins with another");
	});
}

#[test]
fn what_the_market_refuses_is_not_opened() {
	run(|| {
		Refusals::set(vec!["too dear"]);
		let error = sp_runtime::DispatchError::Other("too dear");
		assert_noop!(open_as(template(), parts(2), plan()), error);
	});
}

#[test]
fn who_cannot_pay_opens_nothing() {
	run(|| {
		let poor = 99;
		let open = Fed::open(signed(poor), Box::new(template()), parts(2), terms(), plan());
		assert!(open.is_err());
		assert!(Fed::view(0).is_none());
		assert_eq!(crate::NextFederation::<Test>::get(), 0);
	});
}

#[test]
fn only_the_submitter_stops_it_and_once() {
	run(|| {
		let id = open();
		assert_noop!(Fed::cancel(signed(11), id), Error::<Test>::NotSubmitter);
		assert_noop!(Fed::cancel(signed(11), id + 1), Error::<Test>::NoSuchFederation);
		answer(id, &[1, 2]);
		let file = aggregate(id);
		propose(12, id, &file);
		let before = free(12);
		assert_ok!(Fed::cancel(signed(SUBMITTER), id));
		assert_eq!(get(id).stage, Stage::Ended(FederationEnding::Cancelled));
		assert_eq!((free(12), held(12)), (before + DEPOSIT + 32 * 6, 0), "of six tensors");
		assert_noop!(Fed::cancel(signed(SUBMITTER), id), Error::<Test>::HasEnded);
	});
}
