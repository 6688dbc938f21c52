//! What is left after a job.

use super::made_up::{deny, MadeUp, STEP};
use crate::{mock::*, Convicted, Opened, Posts, Standings, FORGET_STEP};
use trainyard_court::game::{Place, Roots};
use trainyard_traits::Court as _;

#[test]
fn all_that_was_said_is_forgotten() {
	run(|| {
		let training = MadeUp::new(1, true);
		let defendant = training.claimed_by(TRAINERS[0]);
		let id = challenge(CHALLENGERS[0], &training.accused(defendant));
		training.answer(id).unwrap();
		deny(id, STEP).unwrap();
		training.answer(id).unwrap();
		run_for(CLOCK);
		let other = training.claimed_by(TRAINERS[1]);
		Court::settle(&other, false);
		assert_eq!(Posts::<Test>::iter().count(), 2);
		assert_eq!(Opened::<Test>::iter().count(), 2);
		// Posts of a longer dispute, and of another job.
		for from in 0..FORGET_STEP * 2 {
			let place = Place::Stops { from, to: 1_000 };
			Posts::<Test>::insert((JOB, defendant, place), Roots::new());
		}
		Posts::<Test>::insert((JOB + 1, defendant, Place::Stops { from: 0, to: 9 }), Roots::new());
		Court::forget(JOB);
		// Keys that are in the overlay are not counted, so the first blocks may take more.
		run_for(5);
		assert_eq!(Posts::<Test>::iter().count(), 1);
		assert_eq!(Opened::<Test>::iter().count(), 0);
		assert_eq!(Convicted::<Test>::iter().count(), 0);
		assert_eq!(Standings::<Test>::iter().count(), 0);
		assert_eq!(crate::Due::<Test>::iter().count(), 0);
	});
}

/// No block removes more than its step.
#[test]
fn a_part_is_forgotten_in_each_block() {
	let mut ext = new_test_ext();
	ext.execute_with(|| {
		let defendant = trainyard_traits::Defendant::Trainer { job: JOB, who: TRAINERS[0] };
		for from in 0..FORGET_STEP * 2 + 10 {
			let place = Place::Stops { from, to: 1_000 };
			Posts::<Test>::insert((JOB, defendant, place), Roots::new());
		}
	});
	// What is in the state, and not only in the overlay, is what is counted.
	for (at, left) in [FORGET_STEP + 10, 10, 0].into_iter().enumerate() {
		ext.commit_all().unwrap();
		ext.execute_with(|| {
			match at {
				0 => Court::forget(JOB),
				_ => next_block(),
			}
			assert_eq!(Posts::<Test>::iter().count() as u32, left);
			assert_eq!(crate::Due::<Test>::iter().count(), usize::from(left > 0));
		});
	}
}
