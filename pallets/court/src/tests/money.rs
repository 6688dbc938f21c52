//! Deposits: whom they return to, who gets what was lost, and what cannot be delivered.

use super::made_up::{judge, MadeUp};
use crate::{mock::*, Convicted, Due, Ending, Error, Event, Why, Won, WonOfSeats, ACQUIT_STEP};
use frame_support::{
	assert_noop, assert_ok,
	traits::{fungible::Mutate, tokens::Preservation},
};
use trainyard_protocol::{
	reputation::{Deed, Role},
	H256,
};
use trainyard_traits::{Court as _, Defendant, DisputeId};

fn happened(event: Event<Test>) -> bool {
	System::events().iter().any(|record| record.event == RuntimeEvent::Court(event.clone()))
}

fn split(id: impl Into<Option<DisputeId>>, to: AccountId, amount: u128, why: Why) -> bool {
	happened(Event::Split { id: id.into(), to: Some(to), amount, why })
}

fn accused(number: u8, joins: bool) -> (MadeUp, Defendant<AccountId>) {
	let training = MadeUp::new(number, joins);
	let defendant = training.claimed_by(TRAINERS[0]);
	(training, defendant)
}

/// A friend sues first and loses on purpose: what it lost goes to whoever convicts, and the friend
/// bound nobody but itself.
#[test]
fn what_a_friend_lost_is_the_finders() {
	run(|| {
		let (training, defendant) = accused(1, false);
		let friend = challenge(CHALLENGERS[0], &training.accused(defendant));
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[0]), friend));
		assert!(split(friend, TRAINERS[0], DEPOSIT, Why::Lost));
		assert!(happened(Event::Ended { id: friend, ending: Ending::Withdrawn }));
		let honest = challenge(CHALLENGERS[1], &training.accused(defendant));
		training.to_the_join(honest);
		assert_ok!(judge(CHALLENGERS[1], honest, &training.join()));
		assert!(split(honest, CHALLENGERS[1], DEPOSIT, Why::Returned));
		assert!(split(honest, CHALLENGERS[1], DEPOSIT, Why::Finder));
		let left = STAKE - AUDIT;
		assert_eq!(wealth(CHALLENGERS[1]), ENDOWMENT + left / 4 + DEPOSIT);
		assert_eq!(wealth(CHALLENGERS[0]), ENDOWMENT - DEPOSIT);
		assert_eq!(Won::<Test>::iter().count(), 0);
		// Nobody is wronged by a friend that gives up.
		let (friend, finder) = (CHALLENGERS[0], CHALLENGERS[1]);
		let expected =
			[(Role::Challenger, friend, Deed::Failed), (Role::Challenger, finder, Deed::Done)];
		assert_eq!(Noted::get(), expected);
	});
}

/// Who is accused and wins is paid when it is settled, and not before.
#[test]
fn what_was_lost_is_the_trainers() {
	run(|| {
		let (training, defendant) = accused(1, true);
		for who in [CHALLENGERS[0], CHALLENGERS[1]] {
			let id = challenge(who, &training.accused(defendant));
			assert_ok!(Court::withdraw(RuntimeOrigin::signed(who), id));
		}
		assert_eq!(Balances::reserved_balance(TRAINERS[0]), 2 * DEPOSIT);
		assert_eq!(Court::settle(&defendant, true), 2 * DEPOSIT);
		assert_eq!(Balances::reserved_balance(TRAINERS[0]), 0);
		assert_eq!(wealth(TRAINERS[0]), ENDOWMENT + 2 * DEPOSIT);
		assert!(split(None, TRAINERS[0], 2 * DEPOSIT, Why::Acquitted));
		assert_eq!(Court::settle(&defendant, true), 0);
		// Late proof: what is lost after that waits for the next settlement.
		let id = challenge(CHALLENGERS[2], &training.accused(defendant));
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[2]), id));
		assert_eq!(Court::settle(&defendant, true), DEPOSIT);
	});
}

/// At the end of a job each seat has what was lost against it, a few of them in each block. What was lost
/// against a trainer waits for its own settlement, and another job's for that job.
#[test]
fn seats_have_what_was_lost_against_them() {
	run(|| {
		let seat = |job, at: usize| Defendant::Seat {
			job,
			who: CHALLENGERS[0],
			bundle_root: H256::repeat_byte(at as u8),
		};
		let trainer = Defendant::Trainer { job: JOB, who: TRAINERS[0] };
		let mut won: Vec<_> = (0..2 * ACQUIT_STEP + 3).map(|at| seat(JOB, at)).collect();
		won.extend([trainer, seat(JOB + 1, 0)]);
		for defendant in &won {
			Court::hold_more(defendant.who(), 5).unwrap();
			Won::<Test>::insert(defendant.job(), defendant, 5);
		}
		Court::do_try_state().unwrap();
		Court::acquit_seats(JOB);
		for left in [ACQUIT_STEP + 5, 5, 2, 2] {
			run_fast(1);
			assert_eq!(Won::<Test>::iter().count(), left);
			Court::do_try_state().unwrap();
		}
		assert_eq!(Balances::reserved_balance(CHALLENGERS[0]), 5);
		assert_eq!(Balances::reserved_balance(TRAINERS[0]), 5);
		assert_eq!((wealth(CHALLENGERS[0]), wealth(TRAINERS[0])), (ENDOWMENT, ENDOWMENT));
		assert_eq!(Due::<Test>::iter().count(), 0, "nothing is left to do");
	});
}

/// A defendant that lost otherwise keeps nothing of it, and nobody here is the finder.
#[test]
fn what_was_lost_to_nobodys_finding_is_the_jackpots() {
	run(|| {
		let (training, defendant) = accused(1, true);
		let lost = challenge(CHALLENGERS[0], &training.accused(defendant));
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[0]), lost));
		let open = challenge(CHALLENGERS[1], &training.accused(defendant));
		assert_eq!(Court::settle(&defendant, false), DEPOSIT);
		assert!(split(None, JACKPOT, DEPOSIT, Why::NoFinder));
		assert_eq!(wealth(JACKPOT), 1 + DEPOSIT);
		// What is open is moot.
		assert_noop!(training.answer(open), Error::<Test>::AlreadyConvicted);
		assert_noop!(
			Court::raise(RuntimeOrigin::signed(CHALLENGERS[1]), open, 5),
			Error::<Test>::AlreadyConvicted
		);
		next_block();
		assert!(happened(Event::Ended { id: open, ending: Ending::Moot }));
		assert!(split(open, CHALLENGERS[1], DEPOSIT, Why::Returned));
		assert_eq!(wealth(CHALLENGERS[1]), ENDOWMENT);
		assert_eq!(Convicted::<Test>::get(JOB, defendant), Some(None));
		assert_eq!(Convictions::get(), []);
	});
}

/// Nobody earns by convicting without proof: silence pays what it cost (a deposit where that is small, as
/// here), whatever was added to it.
#[test]
fn silence_pays_no_finder_a_quarter() {
	run(|| {
		let (training, defendant) = accused(1, true);
		let id = challenge(CHALLENGERS[0], &training.accused(defendant));
		assert_ok!(Court::raise(RuntimeOrigin::signed(CHALLENGERS[0]), id, 9 * DEPOSIT));
		run_for(CLOCK);
		let (_, conviction) = &Convictions::get()[0];
		assert!(!conviction.proven);
		assert_eq!(wealth(CHALLENGERS[0]), ENDOWMENT + DEPOSIT);
		let left = STAKE - AUDIT;
		assert_eq!(wealth(JACKPOT), 1 + left / 2 - DEPOSIT);
		// Once proved it is a quarter, and that is more.
		let (training, defendant) = {
			let training = MadeUp::new(2, false);
			let defendant = training.claimed_by(TRAINERS[1]);
			(training, defendant)
		};
		let id = challenge(CHALLENGERS[1], &training.accused(defendant));
		training.to_the_join(id);
		assert_ok!(judge(CHALLENGERS[1], id, &training.join()));
		assert_eq!(wealth(CHALLENGERS[1]), ENDOWMENT + left / 4);
		assert!(left / 4 > DEPOSIT);
	});
}

/// Others that were about to prove the same lose nothing.
#[test]
fn disputes_with_a_convict_are_moot() {
	run(|| {
		let (training, defendant) = accused(1, false);
		let [one, two, three] =
			[0, 1, 2].map(|at| challenge(CHALLENGERS[at], &training.accused(defendant)));
		training.to_the_join(one);
		assert_ok!(judge(CHALLENGERS[0], one, &training.join()));
		// At once if they ask for it, and soon in any case.
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[1]), two));
		assert!(happened(Event::Ended { id: two, ending: Ending::Moot }));
		assert_ok!(Court::poke(RuntimeOrigin::signed(SUBMITTER), three));
		assert!(happened(Event::Ended { id: three, ending: Ending::Moot }));
		for who in [CHALLENGERS[1], CHALLENGERS[2]] {
			assert_eq!(wealth(who), ENDOWMENT);
		}
		next_block();
		assert_eq!(crate::Closing::<Test>::iter().count(), 0);
		assert_eq!(Court::standing(JOB).disputes, 0);
	});
}

/// A seat accuses with its stake, which stays where it is until it is lost.
#[test]
fn a_seat_accuses_with_its_stake() {
	run(|| {
		let (training, defendant) = accused(1, true);
		let accuse = || {
			Locked::mutate(|locked| locked.push((JOB, SEAT)));
			Court::accuse(&SEAT, training.accused(defendant), 1, 2 * DEPOSIT).unwrap()
		};
		let lost = accuse();
		assert_eq!(Balances::reserved_balance(SEAT), 0);
		assert_eq!((dispute(lost).deposit, dispute(lost).held()), (2 * DEPOSIT, 0));
		assert_ok!(Court::raise(RuntimeOrigin::signed(SEAT), lost, 7));
		assert_eq!((dispute(lost).deposit, Balances::reserved_balance(SEAT)), (2 * DEPOSIT + 7, 7));
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(SEAT), lost));
		assert_eq!(Won::<Test>::get(JOB, defendant), 2 * DEPOSIT + 7);
		assert_eq!(Balances::reserved_balance(TRAINERS[0]), 2 * DEPOSIT + 7);
		assert_eq!(wealth(SEAT), ENDOWMENT - 2 * DEPOSIT - 7);
		assert_eq!(Locked::get(), []);
		let won = accuse();
		run_for(CLOCK);
		assert_eq!(Convictions::get()[0].1.dispute, won);
		assert_eq!(Locked::get(), [], "its stake is free");
		// Nothing was proven, so what others added is the jackpot's, as what seats lost is in any case.
		assert!(split(won, JACKPOT, 7, Why::NoFinder));
		assert!(split(won, JACKPOT, 2 * DEPOSIT, Why::Stake));
		assert_eq!(wealth(SEAT), ENDOWMENT - 2 * DEPOSIT - 7 + DEPOSIT);
		let again = Court::accuse(&SEAT, training.accused(defendant), 1, DEPOSIT);
		assert_eq!(again, Err(Error::<Test>::AlreadyConvicted.into()));
	});
}

/// A seat is convicted itself: what it lost comes back for that, while it waits for the end of whom it
/// accused, and no more than seats lost.
#[test]
fn what_a_seat_lost_can_be_asked_for_again() {
	run(|| {
		let (training, defendant) = accused(1, true);
		Locked::mutate(|locked| locked.push((JOB, SEAT)));
		let lost = Court::accuse(&SEAT, training.accused(defendant), 1, 2 * DEPOSIT).unwrap();
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(SEAT), lost));
		let other = challenge(CHALLENGERS[0], &training.accused(defendant));
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[0]), other));
		assert_eq!(Court::reclaim(&defendant, &SEAT, DEPOSIT), DEPOSIT);
		assert!(split(None, SEAT, DEPOSIT, Why::Reclaimed));
		assert_eq!(
			(wealth(SEAT), wealth(TRAINERS[0])),
			(ENDOWMENT - DEPOSIT, ENDOWMENT + 2 * DEPOSIT)
		);
		assert_eq!(WonOfSeats::<Test>::get(JOB, defendant), DEPOSIT);
		assert_eq!(
			Court::reclaim(&defendant, &SEAT, 9 * DEPOSIT),
			DEPOSIT,
			"no more than seats lost"
		);
		assert_eq!(Court::reclaim(&defendant, &SEAT, DEPOSIT), 0);
		assert_eq!(Won::<Test>::get(JOB, defendant), DEPOSIT);
		assert_eq!(WonOfSeats::<Test>::iter().count(), 0);
		assert_eq!((wealth(SEAT), Court::settle(&defendant, true)), (ENDOWMENT, DEPOSIT));
		// When it is settled nothing waits any more.
		Locked::mutate(|locked| locked.push((JOB, SEAT)));
		let lost = Court::accuse(&SEAT, training.accused(defendant), 1, DEPOSIT).unwrap();
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(SEAT), lost));
		assert_eq!(Court::settle(&defendant, true), DEPOSIT);
		assert_eq!(Court::reclaim(&defendant, &SEAT, DEPOSIT), 0);
	});
}

/// An older commitment ranks before, also that of a seat that reveals later.
#[test]
fn a_seats_accusation_is_as_old_as_its_commitment() {
	run(|| {
		let (training, defendant) = accused(1, true);
		run_for(20);
		let other = challenge(CHALLENGERS[0], &training.accused(defendant));
		Locked::mutate(|locked| locked.push((JOB, SEAT)));
		let seat = Court::accuse(&SEAT, training.accused(defendant), 5, DEPOSIT).unwrap();
		assert_eq!(docket(&defendant).heard(), [Some(seat), Some(other)]);
	});
}

/// What cannot be delivered goes to the jackpot, and where that cannot be either it is burned.
#[test]
fn what_cannot_be_delivered_is_diverted() {
	run(|| {
		let (training, defendant) = accused(1, true);
		let id = challenge(CHALLENGERS[0], &training.accused(defendant));
		// The defendant's account is gone.
		let all = wealth(TRAINERS[0]);
		Balances::transfer(&TRAINERS[0], &MARKET, all, Preservation::Expendable).unwrap();
		assert_ok!(Court::withdraw(RuntimeOrigin::signed(CHALLENGERS[0]), id));
		assert!(split(id, JACKPOT, DEPOSIT, Why::Lost));
		assert_eq!(Won::<Test>::get(JOB, defendant), 0);
	});
}

#[test]
fn what_even_the_jackpot_cannot_take_is_burned() {
	new_test_ext().execute_with(|| {
		let issuance = Balances::total_issuance();
		// An account that would have too little to exist.
		JackpotAccount::set(5_555);
		LeastBalance::set(DEPOSIT + 1);
		let who = RuntimeOrigin::signed(CHALLENGERS[0]);
		assert_ok!(Court::commit(who, JOB, H256::zero()));
		run_for(REVEAL + 1);
		assert_eq!((wealth(5_555), wealth(CHALLENGERS[0])), (0, ENDOWMENT - DEPOSIT));
		let (to, why) = (None, Why::NotShown);
		assert!(happened(Event::Split { id: Some(0), to, amount: DEPOSIT, why }));
		check(issuance - DEPOSIT);
	});
}
