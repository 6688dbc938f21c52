//! Clocks of an account that is accused of several things at once.

use super::made_up::{deny, judge, MadeUp};
use crate::{mock::*, Ending, Event, Loads, Won};
use frame_support::assert_ok;
use trainyard_protocol::JobId;
use trainyard_traits::{Defendant, DisputeId, Window};

const TRAINER: AccountId = TRAINERS[0];

/// Makes `who` a trainer of `job` whose window is open.
fn claimed(training: &MadeUp, job: JobId, who: AccountId) -> Defendant<AccountId> {
	let defendant = Defendant::Trainer { job, who };
	Claims::mutate(|claims| claims.insert(defendant, (training.charged(), STAKE)));
	let window = Window { until: 1_000, ..WINDOW };
	Windows::mutate(|windows| windows.insert(job, window));
	defendant
}

fn accuse(training: &MadeUp, by: usize, job: JobId, who: AccountId) -> DisputeId {
	challenge(CHALLENGERS[by], &training.accused(claimed(training, job, who)))
}

/// What the defender has left.
fn left(id: DisputeId) -> u32 {
	Court::dispute(id).unwrap().left[1]
}

/// The longest defences that there are: 5,544 blocks, of clocks of 2 x 5,544 + 2,400.
fn longest() {
	SideClock::set(13_488);
	DefenceWork::set(5_544);
	ClockRoom::set(100_800);
}

/// One machine defends a true result in three jobs at once, in whatever order: it computes one defence
/// after the other, and moves when it has.
#[test]
fn three_of_the_longest_defences_are_met_by_one_machine() {
	for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
		run(|| {
			longest();
			let training = MadeUp::new(1, true);
			let jobs = [JOB, JOB + 1, JOB + 2];
			let ids = [0, 1, 2].map(|at| accuse(&training, at, jobs[at], TRAINER));
			for at in order {
				run_unchecked(5_544);
				training.to_the_join(ids[at]);
				assert_ok!(judge(TRAINER, ids[at], &training.join()));
				let ending = Ending::Acquitted { by_clock: false };
				let event = RuntimeEvent::Court(Event::Ended { id: ids[at], ending });
				assert!(System::events().iter().any(|e| e.event == event));
			}
			assert_eq!(Convictions::get(), []);
			for job in jobs {
				assert_eq!(
					Won::<Test>::get(job, Defendant::Trainer { job, who: TRAINER }),
					DEPOSIT
				);
			}
			assert_eq!(Loads::<Test>::iter().count(), 0);
		});
	}
}

/// Who does nothing is convicted of all when the time for all of them is over.
#[test]
fn silence_about_several_results_convicts_of_all() {
	run(|| {
		longest();
		let training = MadeUp::new(1, true);
		for at in 0..3 {
			accuse(&training, at, JOB + at as JobId, TRAINER);
		}
		run_fast(13_488 + 2 * 5_544 - 5);
		assert_eq!(Convictions::get(), []);
		run_fast(10);
		assert_eq!(Convictions::get().len(), 3);
		assert_eq!(Loads::<Test>::iter().count(), 0);
	});
}

#[test]
fn a_clock_grows_by_what_is_heard_beside_it() {
	run(|| {
		DefenceWork::set(30);
		let training = MadeUp::new(1, true);
		let first = accuse(&training, 0, JOB, TRAINER);
		assert_eq!(left(first), CLOCK);
		// Each challenge takes a block.
		let second = accuse(&training, 1, JOB + 1, TRAINER);
		assert_eq!((left(first), left(second)), (CLOCK - 1 + 30, CLOCK + 30));
		// Somebody else's is no work of this machine.
		let other = accuse(&training, 2, JOB + 1, TRAINERS[1]);
		assert_eq!((left(first), left(second), left(other)), (CLOCK + 28, CLOCK + 29, CLOCK));
		assert_eq!(Court::dispute(first).unwrap().left[0], CLOCK, "the challenger's does not grow");
		// What ended is counted no more, and what it gave stays.
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[1]), second));
		assert_eq!(left(first), CLOCK + 28);
		let third = accuse(&training, 3, JOB + 2, TRAINER);
		assert_eq!((left(first), left(third)), (CLOCK + 27 + 30, CLOCK + 30));
		// It keeps what it has over moves.
		training.answer(first).unwrap();
		next_block();
		deny(first, 7).unwrap();
		assert_eq!(left(first), CLOCK + 57);
	});
}

#[test]
fn what_is_not_heard_is_not_counted() {
	run(|| {
		DefenceWork::set(30);
		let training = MadeUp::new(1, true);
		let ids: Vec<_> = (0..3).map(|at| accuse(&training, at, JOB, TRAINER)).collect();
		assert_eq!(left(ids[0]), CLOCK - 2 + 30, "two are heard at a time");
		assert_eq!(left(ids[2]), CLOCK);
		// The third is heard when the first waits for its challenger, and again: it counts once.
		training.answer(ids[0]).unwrap();
		assert_eq!((left(ids[1]), left(ids[2])), (CLOCK - 1 + 60, CLOCK + 60));
		deny(ids[0], 7).unwrap();
		assert_eq!((left(ids[0]), left(ids[1])), (CLOCK - 2 + 60, CLOCK - 1 + 60));
		let load = Loads::<Test>::get(TRAINER);
		assert_eq!((load.disputes, load.open, load.ever), (3, 90, 90));
	});
}

/// Friends of a cheat accuse it elsewhere to gain time, and that ends.
#[test]
fn a_clock_does_not_grow_for_ever() {
	run(|| {
		DefenceWork::set(30);
		ClockRoom::set(100);
		let training = MadeUp::new(1, true);
		let first = accuse(&training, 0, JOB, TRAINER);
		for at in 1..8 {
			accuse(&training, at % 4, JOB + at as JobId, TRAINER);
		}
		assert_eq!(left(first), CLOCK - 7 + 100);
		assert_eq!(left(7), CLOCK + 100);
		run_fast(CLOCK + 92);
		assert_eq!(left(first), 1);
		next_block();
		assert_eq!(Convictions::get()[0].0, Defendant::Trainer { job: JOB, who: TRAINER });
	});
}

/// What ran out did, however much is heard after that.
#[test]
fn a_clock_that_ran_out_does_not_run_again() {
	run(|| {
		DefenceWork::set(30);
		let training = MadeUp::new(1, true);
		let first = accuse(&training, 0, JOB, TRAINER);
		run_fast(CLOCK - 1);
		assert_eq!(left(first), 1);
		accuse(&training, 1, JOB + 1, TRAINER);
		assert_eq!(Convictions::get().len(), 1);
	});
}
