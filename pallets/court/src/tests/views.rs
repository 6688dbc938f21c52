//! What clients ask.

use super::made_up::{deny, place, MadeUp, STEP};
use crate::{mock::*, NextDispute};
use frame_support::assert_ok;
use trainyard_court::game::{Opened, Place};
use trainyard_traits::Defendant;

#[test]
fn a_dispute_is_shown_with_its_clocks_and_what_comes_next() {
	run(|| {
		let training = MadeUp::new(1, true);
		let defendant = training.claimed_by(TRAINERS[0]);
		let accusation = training.accused(defendant);
		assert_eq!(Court::dispute(0), None);
		let id = challenge(CHALLENGERS[0], &accusation);
		run_for(7);
		let shown = Court::dispute(id).unwrap();
		assert_eq!((shown.id, &shown.dispute), (id, &dispute(id)));
		assert_eq!(shown.left, [CLOCK, CLOCK - 7]);
		assert_eq!(shown.place, Some(Place::Ends { target: accusation.target }));
		assert!(shown.runs && !shown.is_moot);
		let other = challenge(CHALLENGERS[1], &accusation);
		let third = challenge(CHALLENGERS[2], &accusation);
		let numbers = |shown: Vec<crate::DisputeView<_>>| {
			shown.into_iter().map(|shown| (shown.id, shown.runs)).collect::<Vec<_>>()
		};
		let all = vec![(id, true), (other, true), (third, false)];
		assert_eq!(numbers(Court::docket(defendant)), all);
		assert_eq!(numbers(Court::disputes_of(JOB)), all);
		assert_eq!(numbers(Court::disputes_of(JOB + 1)), []);
		let twin = Defendant::Trainer { job: JOB, who: TRAINERS[1] };
		assert_eq!(numbers(Court::docket(twin)), []);
	});
}

#[test]
fn what_was_said_is_shown_by_place() {
	run(|| {
		let training = MadeUp::new(1, true);
		let defendant = training.claimed_by(TRAINERS[0]);
		let accusation = training.accused(defendant);
		let id = challenge(CHALLENGERS[0], &accusation);
		training.answer(id).unwrap();
		let steps = place(id);
		assert_eq!(Court::posted(defendant, steps).map(|roots| roots.len()), Some(49));
		let twin = Defendant::Trainer { job: JOB, who: TRAINERS[1] };
		assert_eq!(Court::posted(twin, steps), None, "what binds one account binds no other");
		deny(id, STEP).unwrap();
		let step = place(id);
		assert_eq!(Court::opened(defendant, step), None);
		training.answer(id).unwrap();
		assert!(matches!(Court::opened(defendant, step), Some(Opened::Step { .. })));
		assert_eq!(Court::opened(twin, step), None);
	});
}

#[test]
fn a_commitment_is_found() {
	run(|| {
		let who = CHALLENGERS[0];
		assert_eq!(Court::commitment_of(JOB, who), None);
		let id = NextDispute::<Test>::get();
		assert_ok!(Court::commit(RuntimeOrigin::signed(who), JOB, Default::default()));
		assert_eq!(Court::commitment_of(JOB, who), Some(id));
		assert_eq!(Court::commitment_of(JOB + 1, who), None);
	});
}
