//! Opening and stopping.

use super::*;
use crate::{Member, NextSet, SpecFault, Specs};
use codec::{Encode, MaxEncodedLen};
use frame_support::BoundedVec;
use sp_runtime::DispatchResult;
use trainyard_program::spec::{Activation, InitialModel, Input, Layer, Loss, Model, SpecError};
use trainyard_protocol::sets::{Trained, MEMBER_BYTES, TRAINED_BYTES};

fn open_as(specs: Specs, plan: Plan) -> DispatchResult {
	JobSets::open(signed(SUBMITTER), specs, terms(), plan)
}

#[test]
fn all_jobs_are_posted_at_once_and_the_record_is_paid_for() {
	run(|| {
		let id = open(3, 1);
		let record = get(id).record;
		assert!(record > 50);
		assert_eq!(held(SUBMITTER), record);
		let opened =
			Event::Opened { set: id, submitter: SUBMITTER, members: 3, generations: 1, record };
		let posted = |member: u32| Event::Posted { set: id, generation: 0, member, job: member };
		assert_eq!(events(), [opened, posted(0), posted(1), posted(2)]);
		let trained: Vec<_> = Posted::get().into_iter().map(|job| job.spec).collect();
		assert_eq!(trained, specs(3).into_inner());
		assert!(Posted::get().iter().all(|job| job.terms == terms()));
		generation(id, &[Some(1), Some(2), Some(3)]);
		assert_eq!(held(SUBMITTER), record);
		pass(RETENTION + 1);
		assert!(JobSets::view(id).is_none());
		assert_eq!((held(SUBMITTER), free(SUBMITTER)), (0, ENDOWMENT));
	});
}

/// A sweep over seeds: each job draws its own.
#[test]
fn one_specification_several_times_is_a_set() {
	run(|| {
		let spec = specs(1)[0].clone();
		assert_ok!(open_as(BoundedVec::truncate_from(vec![spec; 32]), plan(1)));
		assert_eq!(Posted::get().len(), 32);
	});
}

#[test]
fn every_rule_of_a_plan_is_enforced() {
	run(|| {
		type Break = fn(&mut Plan);
		let cases: [(Error<Test>, Break); 8] = [
			(Error::BadGenerations, |plan| plan.generations = 0),
			(Error::BadGenerations, |plan| plan.generations = 65),
			(Error::BadReplaced, |plan| plan.replaced = 2),
			(Error::BadFactors, |plan| plan.factors = BoundedVec::new()),
			(Error::BadFactors, |plan| plan.factors = BoundedVec::truncate_from(vec![0])),
			(Error::BadFactors, |plan| plan.factors = BoundedVec::truncate_from(vec![10_001])),
			(Error::BadShowBlocks, |plan| plan.show_blocks = MIN_SHOW - 1),
			(Error::BadShowBlocks, |plan| plan.show_blocks = MAX_SHOW + 1),
		];
		for (error, spoil) in cases {
			let mut plan = plan(2);
			spoil(&mut plan);
			assert_noop!(open_as(specs(3), plan), error);
		}
		assert_noop!(open_as(specs(1), plan(1)), Error::<Test>::BadMembers);
		assert_noop!(open_as(specs(0), plan(1)), Error::<Test>::BadMembers);
		let all_go_on = Plan { replaced: 0, factors: BoundedVec::new(), ..plan(2) };
		assert_ok!(open_as(specs(2), all_go_on));
	});
}

#[test]
fn what_cannot_be_compared_is_refused() {
	run(|| {
		let mut other = specs(3);
		other[2].dataset.validation_rows = 358;
		assert_noop!(open_as(other, plan(1)), Error::<Test>::OtherData);
		let mut other = specs(3);
		other[1].training.loss = Loss::MeanSquaredError;
		let by_loss = Plan { measure: Measure::Loss, ..plan(1) };
		assert_noop!(open_as(other.clone(), by_loss), Error::<Test>::OtherLoss);
		assert_ok!(open_as(other, plan(1)));
		let mut other = specs(3);
		let narrow = BoundedVec::truncate_from(vec![16]);
		other[1].model = Model::Mlp { hidden: narrow, activation: Activation::Relu };
		assert_noop!(open_as(other.clone(), plan(2)), Error::<Test>::OtherModels);
		assert_ok!(open_as(other, plan(1)));
		// Nobody goes on from a model with a mapping.
		let mut mapped = specs(3);
		let layers = [Layer::Mapping { reflections: 1, patch: 0 }, Layer::Linear { outputs: 10 }];
		let layers = BoundedVec::truncate_from(layers.to_vec());
		for spec in mapped.iter_mut() {
			spec.model = Model::Layers { input: Input::Numbers, layers: layers.clone() };
		}
		let fault = SpecFault(SpecError::MappedFineTuning);
		assert_noop!(open_as(mapped.clone(), plan(2)), Error::<Test>::InvalidSpec(fault));
		assert_ok!(open_as(mapped, plan(1)));
	});
}

#[test]
fn every_specification_is_checked() {
	run(|| {
		let mut all = specs(3);
		all[2].training.steps = 0;
		let fault = SpecFault(all[2].clone().check().unwrap_err());
		assert_ne!(fault, SpecFault(SpecError::NoContentHash));
		assert_noop!(open_as(all, plan(1)), Error::<Test>::InvalidSpec(fault));
	});
}

/// What the market refuses for the last member is refused for all.
#[test]
fn all_is_posted_or_nothing() {
	run(|| {
		Refusals::set(vec!["", "", "too dear"]);
		let before = free(SUBMITTER);
		assert_noop!(open_as(specs(3), plan(1)), sp_runtime::DispatchError::Other("too dear"));
		assert_eq!((free(SUBMITTER), held(SUBMITTER)), (before, 0));
		// The market of this mock is outside of the storage.
		Posted::set(vec![]);
		assert!(JobSets::open(signed(99), specs(2), terms(), plan(1)).is_err());
		assert_eq!(NextSet::<Test>::get(), 0);
	});
}

#[test]
fn without_numbers_nothing_is_opened() {
	run(|| {
		NextSet::<Test>::put(u32::MAX);
		assert_noop!(open_as(specs(2), plan(1)), Error::<Test>::TooManySets);
		NextSet::<Test>::put(0);
	});
}

/// A deposit covers what a set comes to on record, and grows with members and generations.
#[test]
fn the_deposit_grows_with_the_record() {
	run(|| {
		let of = |members, generations| {
			crate::Pallet::<Test>::record_of(&plan(generations), &specs(members)).unwrap()
		};
		assert!(of(3, 1) > of(2, 1) && of(2, 2) > of(2, 1));
		let id = open(4, 3);
		for _ in 0..3 {
			generation(id, &[Some(4), Some(3), Some(2), Some(1)]);
		}
		let most = Member::max_encoded_len() + InitialModel::max_encoded_len();
		assert!(most < MEMBER_BYTES as usize, "{most}");
		assert_eq!(Trained::max_encoded_len(), TRAINED_BYTES as usize);
		let specs =
			crate::MemberSpecs::<Test>::iter_prefix_values(id).map(|spec| spec.encoded_size());
		let over = crate::Generations::<Test>::iter_prefix_values(id).map(|all| all.encoded_size());
		let bytes = specs.chain(over).sum::<usize>() + get(id).encoded_size();
		assert!(get(id).record >= bytes as u128, "{} for {bytes}", get(id).record);
	});
}

#[test]
fn only_the_submitter_stops_it_and_once() {
	run(|| {
		let id = open(2, 3);
		assert_noop!(JobSets::stop(signed(STRANGER), id), Error::<Test>::NotSubmitter);
		assert_noop!(JobSets::stop(signed(SUBMITTER), id + 1), Error::<Test>::NoSuchSet);
		assert_ok!(JobSets::stop(signed(SUBMITTER), id));
		assert_noop!(JobSets::stop(signed(SUBMITTER), id), Error::<Test>::IsStopping);
		generation(id, &[Some(7), None]);
		assert_eq!(get(id).stage, Stage::Ended(SetEnding::Stopped));
		assert_eq!(get(id).best.unwrap().job, 0);
		assert_noop!(JobSets::stop(signed(SUBMITTER), id), Error::<Test>::HasEnded);
		assert_eq!(Posted::get().len(), 2);
	});
}

#[test]
fn a_set_that_waits_for_its_draw_stops_at_once() {
	run(|| {
		let id = open(2, 3);
		accept(0, 5);
		accept(1, 6);
		assert_ok!(show(id, 0, 5));
		assert_ok!(show(id, 1, 6));
		pass(1);
		assert!(matches!(get(id).stage, Stage::Drawing { .. }));
		assert_ok!(JobSets::stop(signed(SUBMITTER), id));
		assert_eq!(get(id).stage, Stage::Ended(SetEnding::Stopped));
		assert_eq!(JobSets::view(id).unwrap().generations.len(), 1);
	});
}

/// What waits to be posted is not, and what runs goes on.
#[test]
fn stopping_posts_no_more() {
	run(|| {
		let id = open(3, 3);
		for (member, correct) in [(0, 5), (1, 6), (2, 7)] {
			accept(member, correct);
			assert_ok!(show(id, member, correct));
		}
		while get(id).generation == 0 {
			pass(1);
		}
		pass(1);
		assert_eq!(Posted::get().len(), 4);
		assert_ok!(JobSets::stop(signed(SUBMITTER), id));
		pass(10);
		assert_eq!(Posted::get().len(), 4);
		assert_eq!((run_of(id, 1), run_of(id, 2)), (Run::Out(None), Run::Out(None)));
		accept(3, 9);
		assert_ok!(show(id, 0, 9));
		pass(2);
		assert_eq!(get(id).stage, Stage::Ended(SetEnding::Stopped));
		assert_eq!(get(id).best.unwrap().generation, 1);
	});
}
