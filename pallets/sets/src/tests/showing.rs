//! What members score.

use super::*;

#[test]
fn anyone_shows_a_score_and_the_submitter_says_the_parameters() {
	run(|| {
		let id = open(2, 2);
		accept(0, 70);
		let shown = |parameters| Event::Shown {
			set: id,
			generation: 0,
			member: 0,
			job: 0,
			score: trainyard_protocol::bundle::Evaluation::new(0.65, 70, 100),
			parameters,
		};
		assert_ok!(JobSets::show(signed(STRANGER), id, 0, leaf(0, 70), None));
		assert_eq!(events().last(), Some(&shown(None)));
		let again = JobSets::show(signed(STRANGER), id, 0, leaf(0, 70), None);
		assert_noop!(again, Error::<Test>::AlreadyShown);
		let again = JobSets::show(signed(SUBMITTER), id, 0, leaf(0, 70), None);
		assert_noop!(again, Error::<Test>::AlreadyShown);
		let said = Some(parameters_of(0));
		let stranger = JobSets::show(signed(STRANGER), id, 0, leaf(0, 70), said);
		assert_noop!(stranger, Error::<Test>::NotSubmitter);
		assert_ok!(show(id, 0, 70));
		assert_eq!(events().last(), Some(&shown(said)));
		assert_noop!(show(id, 0, 70), Error::<Test>::AlreadyShown);
	});
}

#[test]
fn what_has_no_result_has_no_score() {
	run(|| {
		let id = open(3, 1);
		let leaf_of = |member| leaf(member, 50);
		let show = |member, leaf| JobSets::show(signed(STRANGER), id, member, leaf, None);
		assert_noop!(show(0, leaf_of(0)), Error::<Test>::NoResult);
		assert_noop!(show(3, leaf_of(0)), Error::<Test>::NoSuchMember);
		let nowhere = JobSets::show(signed(STRANGER), 7, 0, leaf_of(0), None);
		assert_noop!(nowhere, Error::<Test>::NoSuchSet);
		set_end(0, JobEnd::Failed);
		assert_noop!(show(0, leaf_of(0)), Error::<Test>::NoResult);
		// Settled without an audit.
		set_end(1, JobEnd::Stopped);
		assert_noop!(show(1, leaf_of(1)), Error::<Test>::NoResult);
		for leaf in diverge(2) {
			assert_noop!(show(2, leaf), Error::<Test>::NoResult);
		}
		pass(POLL);
		let failed = |member: u32| Event::Failed { set: id, generation: 0, member, job: member };
		assert_eq!(events()[..3], [failed(0), failed(1), failed(2)]);
		assert_eq!(get(id).stage, Stage::Ended(SetEnding::NoScore));
		assert_noop!(show(2, leaf_of(2)), Error::<Test>::NotShowing);
	});
}

/// A job whose model is not on chain has nothing to go on from.
#[test]
fn a_model_that_is_not_there_does_not_count() {
	run(|| {
		let id = open(2, 1);
		set_end(0, JobEnd::Accepted(result_of(0, 50)));
		let shown = JobSets::show(signed(STRANGER), id, 0, leaf(0, 50), None);
		assert_noop!(shown, Error::<Test>::NoResult);
	});
}

#[test]
fn scores_are_shown_until_the_last_block_for_it() {
	run(|| {
		let id = open(2, 1);
		accept(0, 10);
		accept(1, 20);
		pass(POLL);
		let Stage::Showing { until } = get(id).stage else { panic!("{:?}", get(id).stage) };
		assert_eq!(until, System::block_number() + 10);
		assert_eq!(events(), [Event::Showing { set: id, generation: 0, until }]);
		to(until);
		assert_ok!(show(id, 0, 10));
		pass(1);
		assert_eq!(get(id).stage, Stage::Ended(SetEnding::Done));
		let best = get(id).best.unwrap();
		assert_eq!((best.member, best.model), (0, model_of(0)));
		assert_noop!(show(id, 1, 20), Error::<Test>::NotShowing);
	});
}

#[test]
fn the_set_does_not_wait_when_all_is_shown() {
	run(|| {
		let id = open(2, 1);
		accept(0, 10);
		accept(1, 20);
		assert_ok!(show(id, 0, 10));
		pass(POLL);
		assert!(matches!(get(id).stage, Stage::Showing { .. }));
		assert_ok!(show(id, 1, 20));
		pass(1);
		assert_eq!(get(id).stage, Stage::Ended(SetEnding::Done));
		assert_eq!(get(id).best.unwrap().member, 1);
	});
}

/// A score is noted with its result: that the market forgets the job changes nothing.
#[test]
fn a_result_is_remembered() {
	run(|| {
		let id = open(2, 1);
		accept(0, 10);
		pass(POLL);
		set_end(0, JobEnd::Failed);
		assert_ok!(show(id, 0, 10));
	});
}
