//! Generation after generation.

use super::*;
use frame_support::BoundedVec;
use trainyard_program::spec::ON_CHAIN;
use trainyard_protocol::sets::Trained;

#[test]
fn a_sweep_ends_with_the_best() {
	run(|| {
		let id = open(3, 1);
		generation(id, &[Some(10), Some(80), Some(80)]);
		let view = JobSets::view(id).unwrap();
		assert_eq!(view.stage, Stage::Ended(SetEnding::Done));
		let best = view.best.unwrap();
		assert_eq!((best.member, best.generation, best.job), (1, 0, 1), "ties by index");
		assert_eq!(best.score.correct, 80);
		let jobs: Vec<_> = view.generations[0].iter().map(|trained| trained.job).collect();
		assert_eq!(jobs, [Some(0), Some(1), Some(2)]);
	});
}

#[test]
fn by_loss_the_least_is_the_best() {
	run(|| {
		let id = open_with(2, Plan { measure: Measure::Loss, ..plan(1) });
		generation(id, &[Some(10), Some(80)]);
		assert_eq!(get(id).best.unwrap().member, 1, "the mock's loss falls with what is right");
	});
}

#[test]
fn the_worst_goes_on_from_the_best_and_the_others_from_their_own() {
	run(|| {
		let id = open(3, 2);
		generation(id, &[Some(10), Some(80), Some(50)]);
		let jobs = Posted::get();
		assert_eq!(jobs.len(), 6);
		let begins = |at: usize| {
			let initial = jobs[at].spec.initial_model.clone().unwrap();
			assert_eq!(
				(initial.file.bytes, initial.file.location.to_string_lossy().as_ref()),
				(BYTES, ON_CHAIN)
			);
			(initial.file.content_hash, initial.parameters)
		};
		assert_eq!(begins(3), (model_of(1), parameters_of(1)), "replaced");
		assert_eq!(begins(4), (model_of(1), parameters_of(1)));
		assert_eq!(begins(5), (model_of(2), parameters_of(2)));
		let rate = |at: usize| jobs[at].spec.training.learning_rate_nano;
		assert!([1_600_000, 2_500_000].contains(&rate(3)), "{}", rate(3));
		assert_eq!((rate(4), rate(5)), (2_000_000, 3_000_000));
		let view = JobSets::view(id).unwrap();
		let parents: Vec<_> = view.members.iter().map(|member| member.parent).collect();
		assert_eq!(parents, [Some(1), Some(1), Some(2)]);
		assert_eq!(view.members[0].spec, jobs[3].spec);

		generation(id, &[Some(60), Some(70), Some(20)]);
		let view = JobSets::view(id).unwrap();
		assert_eq!(view.stage, Stage::Ended(SetEnding::Done));
		let best = view.best.unwrap();
		assert_eq!((best.generation, best.member, best.score.correct), (0, 1, 80));
		let first = Trained {
			parent: Some(1),
			learning_rate_nano: rate(3),
			job: Some(3),
			score: view.members[0].run.score(),
			model: Some(model_of(3)),
		};
		assert_eq!(view.generations[1][0], first);
		assert!(Names::get().is_empty());
	});
}

#[test]
fn where_none_is_replaced_nothing_is_drawn() {
	run(|| {
		let plan = Plan { replaced: 0, factors: BoundedVec::new(), ..plan(2) };
		let id = open_with(2, plan);
		accept(0, 1);
		accept(1, 2);
		assert_ok!(show(id, 0, 1));
		assert_ok!(show(id, 1, 2));
		pass(POLL);
		assert_eq!((get(id).generation, get(id).stage), (1, Stage::Training));
		until_posted(id);
		let began: Vec<_> =
			get(id).members.iter().map(|member| member.base.unwrap().root).collect();
		assert_eq!(began, [model_of(0), model_of(1)]);
	});
}

/// One job is posted in a block: posting is the most work.
#[test]
fn members_are_posted_one_a_block() {
	run(|| {
		let id = open(3, 2);
		for member in 0..3 {
			accept(member, member);
			assert_ok!(show(id, member, member));
		}
		while get(id).generation == 0 {
			pass(1);
		}
		for count in 3..7 {
			assert_eq!(Posted::get().len(), count);
			pass(1);
		}
		assert_eq!(Posted::get().len(), 6);
	});
}

#[test]
fn a_seed_that_is_lost_is_drawn_again() {
	run(|| {
		LostSeeds::set(2);
		let id = open(2, 2);
		generation(id, &[Some(1), Some(2)]);
		assert_eq!(LostSeeds::get(), 0);
		assert_eq!(get(id).generation, 1);
	});
}

/// A member whose job fails counts as worst; where it is not replaced it goes on from the model it had.
#[test]
fn who_fails_goes_on_from_what_it_had() {
	run(|| {
		let id = open_with(3, Plan { replaced: 0, ..plan(3) });
		generation(id, &[Some(10), None, Some(30)]);
		let bases = |id| -> Vec<Option<H256>> {
			get(id).members.iter().map(|member| member.base.map(|base| base.root)).collect()
		};
		assert_eq!(bases(id), [Some(model_of(0)), None, Some(model_of(2))]);
		let again = Posted::get()[4].spec.clone();
		assert_eq!(again, specs(3)[1], "it begins again");
		generation(id, &[Some(11), Some(12), None]);
		assert_eq!(bases(id), [Some(model_of(3)), Some(model_of(4)), Some(model_of(2))]);
	});
}

#[test]
fn without_a_score_there_is_no_further_generation() {
	run(|| {
		let id = open(2, 9);
		generation(id, &[Some(10), Some(20)]);
		generation(id, &[None, None]);
		let set = get(id);
		assert_eq!((set.stage, set.generation), (Stage::Ended(SetEnding::NoScore), 1));
		assert_eq!(set.best.unwrap().score.correct, 20, "the best of all stays");
		let ended = Event::Ended { set: id, ending: SetEnding::NoScore, best: set.best };
		assert!(events().contains(&ended));
		assert_eq!(Posted::get().len(), 4);
	});
}

#[test]
fn an_overdue_set_is_served_by_anyone_for_nothing() {
	run(|| {
		let id = open(2, 1);
		assert_noop!(JobSets::poke(signed(STRANGER), id), Error::<Test>::NotOverdue);
		assert_noop!(JobSets::poke(signed(STRANGER), id + 1), Error::<Test>::NoSuchSet);
		ServiceWeight::set(frame_support::weights::Weight::zero());
		set_end(0, JobEnd::Failed);
		set_end(1, JobEnd::Failed);
		pass(POLL + 1);
		assert_eq!(get(id).stage, Stage::Training);
		let done = JobSets::poke(signed(STRANGER), id).unwrap();
		assert_eq!(done.pays_fee, frame_support::dispatch::Pays::No);
		assert!(done.actual_weight.unwrap().all_lte(JobSets::worst_advance()));
		assert_eq!(get(id).stage, Stage::Ended(SetEnding::NoScore));
	});
}

#[test]
fn a_long_record_is_forgotten_part_by_part() {
	run(|| {
		let id = open(2, 64);
		for _ in 0..64 {
			generation(id, &[Some(10), Some(20)]);
		}
		assert_eq!(get(id).stage, Stage::Ended(SetEnding::Done));
		assert_eq!(JobSets::view(id).unwrap().generations.len(), 64);
		pass(RETENTION + 5);
		assert!(JobSets::view(id).is_none());
		assert_eq!(free(SUBMITTER), ENDOWMENT);
	});
}

#[test]
fn sets_are_listed_part_by_part() {
	run(|| {
		for _ in 0..3 {
			open(2, 1);
		}
		assert_eq!(JobSets::numbers(None, 2), [0, 1]);
		assert_eq!(JobSets::numbers(Some(1), 2), [2]);
	});
}
