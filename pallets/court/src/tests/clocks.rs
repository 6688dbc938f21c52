//! Clocks: who runs out, and when a clock stands.

use super::made_up::{deny, judge, MadeUp, STEP};
use crate::{mock::*, Disputes, Ending, Error, Event, Side, Ticks};
use frame_support::weights::Weight;
use frame_support::{assert_noop, assert_ok};
use trainyard_traits::{Defendant, DisputeId};

const CHALLENGER: AccountId = CHALLENGERS[0];

fn disputed() -> (MadeUp, Defendant<AccountId>, DisputeId) {
	let training = MadeUp::new(1, true);
	let defendant = training.claimed_by(TRAINERS[0]);
	let id = challenge(CHALLENGER, &training.accused(defendant));
	(training, defendant, id)
}

fn ended(id: DisputeId, ending: Ending) -> bool {
	let event = RuntimeEvent::Court(Event::Ended { id, ending });
	!Disputes::<Test>::contains_key(id) && System::events().iter().any(|e| e.event == event)
}

fn left(id: DisputeId, side: Side) -> u32 {
	dispute(id).clocks.left(side, &Court::moment())
}

/// After each number of moves both vanish, and who is to move loses: at a piece, the defender.
#[test]
fn silence_at_each_move() {
	for moves in 0..=8 {
		run(|| {
			let (training, defendant, id) = disputed();
			let large =
				training.results.iter().position(|bytes| bytes.len() > 4_096).unwrap() as u32;
			let denials = [STEP, large, 0, 0];
			for at in 0..moves {
				let moved = match at % 2 {
					0 => training.answer(id),
					_ => deny(id, denials[at / 2]),
				};
				assert_ok!(moved);
			}
			assert_eq!(dispute(id).moves, moves as u32);
			let is_piece = moves == 8;
			let loser = match moves % 2 {
				0 => Side::Defender,
				_ => Side::Challenger,
			};
			assert_eq!(dispute(id).side(), loser);
			assert_eq!(dispute(id).stage.place().is_none(), is_piece);
			run_for(CLOCK - 1);
			assert_eq!(left(id, loser), 1);
			next_block();
			match loser {
				Side::Defender => {
					assert!(ended(id, Ending::Convicted { by_clock: true }));
					assert_eq!(Convictions::get()[0].0, defendant);
					assert!(!Convictions::get()[0].1.proven);
				}
				Side::Challenger => {
					assert!(ended(id, Ending::Acquitted { by_clock: true }));
					assert_eq!(crate::Won::<Test>::get(JOB, defendant), DEPOSIT);
				}
			}
		});
	}
}

#[test]
fn each_side_has_one_clock_for_all_its_moves() {
	run(|| {
		let (training, _, id) = disputed();
		run_for(60);
		training.answer(id).unwrap();
		assert_eq!((left(id, Side::Challenger), dispute(id).clocks.defender), (CLOCK, 40));
		run_for(30);
		deny(id, STEP).unwrap();
		assert_eq!((dispute(id).clocks.challenger, left(id, Side::Defender)), (70, 40));
		run_for(39);
		training.answer(id).unwrap();
		deny(id, training.count()).unwrap();
		assert_eq!(left(id, Side::Defender), 1, "the piece is on the defender's clock");
		next_block();
		assert!(ended(id, Ending::Convicted { by_clock: true }));
	});
}

#[test]
fn a_full_block_stops_the_clocks() {
	run(|| {
		let (training, _, id) = disputed();
		run_for(10);
		let ticks = Ticks::<Test>::get();
		IsFull::set(true);
		run_for(100);
		assert_eq!(Ticks::<Test>::get(), ticks);
		// A quarter of the blocks counts, so nobody stops a clock for ever.
		assert_eq!(left(id, Side::Defender), CLOCK - 110 / 4);
		IsFull::set(false);
		run_for(50);
		assert_eq!(left(id, Side::Defender), CLOCK - 60);
		training.answer(id).unwrap();
		// All blocks are full from now on.
		IsFull::set(true);
		let begin = Court::now();
		run_for(4 * CLOCK - 1);
		assert_eq!(left(id, Side::Challenger), 1);
		next_block();
		assert!(ended(id, Ending::Acquitted { by_clock: true }));
		assert_eq!(Court::now() - begin, 4 * CLOCK);
	});
}

/// Whatever the agenda is late, what counts is the tick in which the clock ran out.
#[test]
fn a_late_service_costs_nobody() {
	run(|| {
		let (training, _, id) = disputed();
		ServiceWeight::set(Weight::zero());
		run_for(CLOCK - 1);
		assert_noop!(Court::poke(RuntimeOrigin::signed(SUBMITTER), id), Error::<Test>::NotDue);
		next_block();
		// Nobody served it, and it is over all the same.
		assert_noop!(training.answer(id), Error::<Test>::TooLate);
		assert_noop!(
			Court::withdraw(RuntimeOrigin::signed(CHALLENGER), id),
			Error::<Test>::TooLate
		);
		assert_ok!(Court::poke(RuntimeOrigin::signed(SUBMITTER), id));
		assert!(ended(id, Ending::Convicted { by_clock: true }));
		assert_noop!(Court::poke(RuntimeOrigin::signed(SUBMITTER), id), Error::<Test>::NoDispute);
	});
}

#[test]
fn a_late_service_saves_nobody_else_either() {
	run(|| {
		let (training, _, id) = disputed();
		training.to_the_join(id);
		ServiceWeight::set(Weight::zero());
		run_for(CLOCK);
		assert_noop!(judge(TRAINERS[0], id, &training.join()), Error::<Test>::TooLate);
		ServiceWeight::set(SERVICE);
		next_block();
		assert!(ended(id, Ending::Convicted { by_clock: true }));
	});
}

/// A clock that runs out in a dispute that is not heard any more ran out all the same.
#[test]
fn who_was_late_is_not_saved_by_a_larger_deposit() {
	run(|| {
		let (training, defendant, first) = disputed();
		let second = challenge(CHALLENGERS[1], &training.accused(defendant));
		let third = challenge(CHALLENGERS[2], &training.accused(defendant));
		assert_eq!(docket(&defendant).heard(), [Some(first), Some(second)]);
		ServiceWeight::set(Weight::zero());
		run_for(CLOCK);
		// Both ran out, and nobody looked. Others are made to be heard now.
		let fourth = challenge(CHALLENGERS[3], &training.accused(defendant));
		let raise = |who, id| Court::raise(RuntimeOrigin::signed(who), id, 1_000);
		assert_ok!(raise(CHALLENGERS[2], third));
		assert_ok!(raise(CHALLENGERS[3], fourth));
		let heard = docket(&defendant).heard();
		assert_eq!(heard, [Some(third), Some(first)]);
		assert_eq!(left(second, Side::Defender), 0);
		ServiceWeight::set(SERVICE);
		next_block();
		assert_eq!(Convictions::get().len(), 1);
	});
}

/// Who claims nothing any more cannot move, and is not convicted for that.
#[test]
fn who_is_gone_is_not_convicted() {
	run(|| {
		let (_, _, id) = disputed();
		Claims::set(Default::default());
		run_for(CLOCK);
		assert!(ended(id, Ending::Moot));
		assert_eq!(Convictions::get(), []);
		assert_eq!(wealth(CHALLENGER), ENDOWMENT);
	});
}
