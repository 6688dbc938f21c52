//! What somebody may try.

use super::*;

/// The example's bundle is better before its end: an earlier checkpoint is not the score.
#[test]
fn an_earlier_checkpoint_is_no_score() {
	run(|| {
		let id = open(2, 1);
		accept(0, 40);
		// The mock's models are outside of the storage, and what is refused is undone: the hook notes the result.
		pass(POLL);
		for index in 0..3 {
			let early = leaf_at(0, 40, index);
			let shown = JobSets::show(signed(SUBMITTER), id, 0, early, None);
			assert_noop!(shown, Error::<Test>::BadLeaf);
		}
		// Nor is it at the place of the last one.
		let mut moved = leaf(0, 40);
		moved.content = leaf_at(0, 40, 2).content;
		let shown = JobSets::show(signed(SUBMITTER), id, 0, moved, None);
		assert_noop!(shown, Error::<Test>::BadLeaf);
		let mut short = leaf(0, 40);
		short.path.pop();
		let shown = JobSets::show(signed(SUBMITTER), id, 0, short, None);
		assert_noop!(shown, Error::<Test>::BadLeaf);
	});
}

#[test]
fn what_another_job_scores_is_not_of_this_one() {
	run(|| {
		let id = open(2, 1);
		accept(0, 40);
		accept(1, 90);
		pass(POLL);
		let shown = JobSets::show(signed(SUBMITTER), id, 0, leaf(1, 90), None);
		assert_noop!(shown, Error::<Test>::BadLeaf);
		// A bundle of the same job that nobody revealed.
		let shown = JobSets::show(signed(SUBMITTER), id, 0, leaf(0, 90), None);
		assert_noop!(shown, Error::<Test>::BadLeaf);
	});
}

/// A stranger that shows all scores before the submitter does not take its time to say the parameters.
#[test]
fn showing_for_the_submitter_ends_no_generation() {
	run(|| {
		let id = open(2, 2);
		for member in 0..2 {
			accept(member, 10 + member);
			assert_ok!(JobSets::show(
				signed(STRANGER),
				id,
				member,
				leaf(member, 10 + member),
				None
			));
		}
		pass(POLL + 5);
		assert!(matches!(get(id).stage, Stage::Showing { .. }));
		assert_ok!(show(id, 0, 10));
		assert_ok!(show(id, 1, 11));
		pass(20);
		assert_eq!(get(id).generation, 1);
	});
}

/// A submitter that shows nothing holds nothing up, and gets nothing.
#[test]
fn who_never_shows_ends_its_set() {
	run(|| {
		let id = open(2, 64);
		accept(0, 10);
		accept(1, 20);
		pass(POLL + 10 + 1);
		let set = get(id);
		assert_eq!((set.stage, set.best), (Stage::Ended(SetEnding::NoScore), None));
		assert_eq!(Posted::get().len(), 2);
	});
}

/// Strangers show the scores, and the submitter never says the parameters: the best is known, and nothing goes on.
#[test]
fn without_parameters_nothing_goes_on() {
	run(|| {
		let id = open(2, 64);
		for member in 0..2 {
			accept(member, 10 + member);
			assert_ok!(JobSets::show(
				signed(STRANGER),
				id,
				member,
				leaf(member, 10 + member),
				None
			));
		}
		pass(POLL + 10 + 1);
		let set = get(id);
		assert_eq!(set.stage, Stage::Ended(SetEnding::NoModel));
		assert_eq!(set.best.unwrap().member, 1);
	});
}

/// A member whose parameters nobody said is worse than any whose were, so no other goes on from it.
#[test]
fn a_score_without_parameters_is_no_parent() {
	run(|| {
		let id = open(4, 2);
		for member in 0..4 {
			accept(member, 10 * (member + 1));
		}
		assert_ok!(JobSets::show(signed(STRANGER), id, 3, leaf(3, 40), None));
		for member in 0..3 {
			assert_ok!(show(id, member, 10 * (member + 1)));
		}
		while get(id).generation == 0 {
			pass(1);
		}
		assert_eq!(get(id).best.unwrap().member, 3, "it is the best all the same");
		let set = get(id);
		assert_eq!(set.members[3].base.unwrap().root, model_of(2));
		assert_eq!(set.members[3].parent, Some(2));
		assert_eq!(set.members[0].base.unwrap().root, model_of(0));
	});
}

/// Without money for the next generation its members are out one by one, nothing of it stays held, and the set ends.
#[test]
fn who_has_no_money_for_the_next_generation_ends_its_set() {
	run(|| {
		let id = open(2, 64);
		let record = held(SUBMITTER);
		accept(0, 10);
		accept(1, 20);
		assert_ok!(show(id, 0, 10));
		assert_ok!(show(id, 1, 20));
		let all = free(SUBMITTER) - ED;
		assert_ok!(Balances::transfer_allow_death(signed(SUBMITTER), STRANGER, all));
		while !matches!(get(id).stage, Stage::Ended(_)) {
			pass(1);
		}
		assert_eq!(get(id).stage, Stage::Ended(SetEnding::NoScore));
		assert_eq!((get(id).generation, Posted::get().len()), (1, 2));
		assert_eq!(get(id).best.unwrap().member, 1);
		assert_eq!(held(SUBMITTER), record);
	});
}

/// One that the market refuses is out of this generation alone, and what the market did before is undone.
#[test]
fn a_member_that_cannot_be_posted_counts_as_worst() {
	run(|| {
		let id = open(3, 3);
		let record = held(SUBMITTER);
		Refusals::set(vec!["full"]);
		generation(id, &[Some(10), Some(20), Some(30)]);
		assert_eq!(run_of(id, 0), Run::Out(None));
		assert_eq!(held(SUBMITTER), record);
		accept(job_of(id, 1), 5);
		accept(job_of(id, 2), 6);
		assert_ok!(show(id, 1, 5));
		assert_ok!(show(id, 2, 6));
		while get(id).generation == 1 {
			pass(1);
		}
		assert_eq!(get(id).members[0].parent, Some(2));
	});
}

/// Owners remove models as soon as nothing names them (as this mock does); nothing that is needed is ever unnamed.
#[test]
fn models_stay_while_they_are_needed() {
	run(|| {
		let id = open(4, 4);
		for round in 0..4 {
			check();
			let scores = [10 + round, 40 - round, 20, 30].map(Some);
			generation(id, &scores);
		}
		assert_eq!(get(id).best.unwrap().generation, 0);
		assert!(Names::get().is_empty());
	});
}

/// The longest that a set lives follows from its plan, whatever anyone does.
#[test]
fn a_set_posts_no_more_than_its_plan_says() {
	run(|| {
		let id = open(2, 3);
		for _ in 0..3 {
			generation(id, &[Some(1), Some(2)]);
		}
		pass(RETENTION * 3);
		assert_eq!(Posted::get().len(), 6);
		assert!(JobSets::view(id).is_none());
	});
}
