//! Who is paid for a conviction, and who accuses of the same twice.

use super::made_up::{deny, judge, MadeUp, STEP};
use crate::{mock::*, Error, Event, Suits, Why};
use frame_support::{assert_noop, assert_ok};
use trainyard_court::game::{Target, Turn};
use trainyard_traits::{Court as _, Defendant, DisputeId};

const FRIEND: AccountId = CHALLENGERS[0];
const HONEST: AccountId = CHALLENGERS[1];
const OTHER: AccountId = CHALLENGERS[2];

/// What a finder has of a deposit that is lost.
const QUARTER: u128 = (STAKE - AUDIT) / 4;

fn accused() -> (MadeUp, Defendant<AccountId>) {
	let training = MadeUp::new(1, false);
	let defendant = training.claimed_by(TRAINERS[0]);
	(training, defendant)
}

/// The defendant answers `first`, both go on to the join by what it says, and `first` proves it.
fn both_come_to_the_join(training: &MadeUp, first: DisputeId, second: DisputeId) {
	let pass = |id: DisputeId| {
		if dispute(id).stage.turn == Turn::Defender {
			assert_ok!(Court::poke(RuntimeOrigin::signed(SUBMITTER), id));
		}
	};
	for at in [STEP, training.count()] {
		if dispute(first).stage.turn == Turn::Defender {
			training.answer(first).unwrap();
		}
		pass(second);
		deny(first, at).unwrap();
		deny(second, at).unwrap();
	}
	assert_ok!(judge(dispute(first).challenger, first, &training.join()));
}

/// Who was paid of the one conviction, besides the deposits that return.
fn paid() -> (AccountId, Option<AccountId>, [u128; 2]) {
	let (_, conviction) = &Convictions::get()[0];
	let part = |who| wealth(who).saturating_sub(ENDOWMENT);
	(conviction.finder, conviction.second, [FRIEND, HONEST].map(part))
}

/// A friend sues first and waits for others. What it waits for is a move of the cheat, or its own. Who comes
/// and goes on all the time has a half of what a finder has, and of the deposits that others lost.
#[test]
fn a_friend_that_was_there_first_has_no_more_than_a_half() {
	for answered in [false, true] {
		run(|| {
			let (training, defendant) = accused();
			let lost = challenge(OTHER, &training.accused(defendant));
			assert_ok!(Court::withdraw(RuntimeOrigin::signed(OTHER), lost));
			let friend = challenge(FRIEND, &training.accused(defendant));
			if answered {
				training.answer(friend).unwrap();
			}
			run_for(REVEAL + 1);
			let honest = challenge(HONEST, &training.accused(defendant));
			both_come_to_the_join(&training, friend, honest);
			let half = (QUARTER + DEPOSIT) / 2;
			assert_eq!(paid(), (FRIEND, Some(HONEST), [half; 2]));
			for to in [FRIEND, HONEST] {
				let (to, why) = (Some(to), Why::Finder);
				let split = Event::Split { id: Some(friend), to, amount: DEPOSIT / 2, why };
				System::assert_has_event(split.into());
			}
			// There is nothing for further identities.
			assert_eq!(wealth(OTHER), ENDOWMENT - DEPOSIT);
			assert_eq!(Suits::<Test>::iter().count(), 1);
			next_block();
			assert_eq!(Suits::<Test>::iter().count(), 0);
		});
	}
}

/// A cheat is silent in the dispute of an honest challenger, and answers when a friend has come: that has
/// no more than a half either.
#[test]
fn a_friend_that_comes_while_the_cheat_is_silent_has_no_more_than_a_half() {
	run(|| {
		let (training, defendant) = accused();
		let honest = challenge(HONEST, &training.accused(defendant));
		run_for(REVEAL + 1);
		let friend = challenge(FRIEND, &training.accused(defendant));
		both_come_to_the_join(&training, friend, honest);
		assert_eq!(paid(), (HONEST, Some(FRIEND), [QUARTER / 2; 2]));
	});
}

/// Where both disputes went on all the time the older one has it all, by whomever it was proved.
#[test]
fn who_was_first_and_went_on_has_it_all() {
	for pause in [0, REVEAL - 2] {
		run(|| {
			let (training, defendant) = accused();
			let honest = challenge(HONEST, &training.accused(defendant));
			run_for(pause);
			let friend = challenge(FRIEND, &training.accused(defendant));
			both_come_to_the_join(&training, friend, honest);
			assert_eq!(paid(), (HONEST, None, [0, QUARTER]));
		});
	}
}

/// Silence is no proof: whose clock ran out is convicted by who brought that dispute, whoever else waits.
#[test]
fn silence_has_one_finder() {
	run(|| {
		let (training, defendant) = accused();
		challenge(FRIEND, &training.accused(defendant));
		run_for(REVEAL + 1);
		challenge(HONEST, &training.accused(defendant));
		run_for(CLOCK);
		assert_eq!(paid(), (FRIEND, None, [DEPOSIT, 0]));
	});
}

/// Somebody accuses a defendant of a target once at a time, whether by a deposit or by the stake of a seat.
#[test]
fn nobody_accuses_twice_of_the_same_at_a_time() {
	run(|| {
		let (training, defendant) = accused();
		let accusation = training.accused(defendant);
		let target = Target::Segment(0);
		assert!(!Court::is_accusing(&HONEST, &defendant, &target));
		let id = challenge(HONEST, &accusation);
		assert!(Court::is_accusing(&HONEST, &defendant, &target));
		assert!(!Court::is_accusing(&HONEST, &defendant, &Target::Segment(1)));
		assert!(!Court::is_accusing(&OTHER, &defendant, &target));
		let salt = [9; 32];
		let hash = Court::digest(&HONEST, &defendant, &target, &accusation.claimed, &salt);
		let who = || RuntimeOrigin::signed(HONEST);
		assert_ok!(Court::commit(who(), JOB, hash));
		next_block();
		let again = Court::challenge(who(), accusation.clone(), salt);
		assert_noop!(again, Error::<Test>::AlreadyAccused);
		let by_stake = Court::accuse(&HONEST, accusation.clone(), 1, DEPOSIT);
		assert_eq!(by_stake, Err(Error::<Test>::AlreadyAccused.into()));
		// Somebody else can, and so can who gave up.
		challenge(OTHER, &accusation);
		assert_ok!(Court::withdraw(who(), id));
		assert!(!Court::is_accusing(&HONEST, &defendant, &target));
		assert_ok!(Court::challenge(who(), accusation, salt));
	});
}
