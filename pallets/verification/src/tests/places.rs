//! Who has a place among those who ask while results stand, and what a crowd pays that keeps others out.

use super::rescues::{prepaid, withdraw, BLOB};
use crate::{mock::*, Claims, Error, Event, FREE_PIECES, MAX_STRANGERS, PLEDGE_PART};
use core::ops::Range;
use frame_support::{assert_noop, assert_ok};
use sp_runtime::TokenError;
use trainyard_protocol::{audit::Decision, pieces::Piece};
use trainyard_traits::{Audits, MAX_WINDOWS};

/// Accounts of a crowd.
const CROWD: Range<AccountId> = 2_000..2_000 + MAX_STRANGERS as u64;
/// Somebody without a seat.
const WATCHER: AccountId = VERIFIERS[5];
const STATE: Piece = Piece::State(3);

/// Results of one trainer stand, and a crowd has as much money as others.
fn standing() -> Vec<AccountId> {
	bonded(3);
	open(1, 3);
	let seats = unanimous(Say::Yes);
	for who in CROWD {
		use frame_support::traits::fungible::Mutate;
		Balances::mint_into(&who, 10 * BOND).unwrap();
	}
	seats
}

/// The price of these pieces.
fn price(pieces: &[Piece]) -> u128 {
	u128::from(SIZES.sum(pieces.iter().copied(), &result_of(TRAINERS[0]), &TENSORS)) * BYTE
}

fn money(who: AccountId) -> u128 {
	Balances::free_balance(who)
}

fn is_asking(who: AccountId) -> bool {
	Claims::<Test>::get(JOB, who).iter().any(|claim| claim.open)
}

fn now() -> u32 {
	System::block_number() as u32
}

/// A friend of the cheat holds nothing up for ever: it asks and withdraws for nothing, and no claim begins
/// later than so many windows after results stood.
#[test]
fn claims_hold_a_window_open_for_so_many_lengths_and_no_longer() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = unanimous(Say::Yes);
		let from = now();
		let mut times = 0;
		loop {
			match ask(WATCHER, 0, &[Piece::Leaves]) {
				Ok(()) => withdraw(WATCHER, 0).unwrap(),
				Err(error) => break assert_eq!(error, Error::<Test>::TooManyWindows.into()),
			}
			times += 1;
			tick();
		}
		assert_eq!((times, now()), (MAX_WINDOWS * (LENGTH + 1) + 1, from + times));
		assert_eq!(Claims::<Test>::iter().count(), 0);
		assert!(is_standing(&view().phase));
		assert_eq!(finish(), (vec![Decision::Accepted], seats));
		assert_eq!(now(), from + times - 1 + AGAIN + 1);
	});
}

/// Where all places are taken who pledges more comes in the place of who pledged least, which loses
/// nothing.
#[test]
fn who_pledges_more_displaces_who_pledged_least() {
	new_test_ext().execute_with(|| {
		let seats = standing();
		for (who, more) in CROWD.zip(1..) {
			assert_ok!(pledge(who, 0, &[Piece::Leaves], 10 * more));
			assert_eq!(prepaid(who), price(&[Piece::Leaves]) + 10 * more);
		}
		let until = now() + RELAY;
		tick();
		for little in [0, 10] {
			assert_noop!(pledge(WATCHER, 0, &[STATE], little), Error::<Test>::TooManyClaims);
		}
		// A seat takes no place of a stranger.
		assert_ok!(ask(seats[0], 0, &[ROWS]));
		assert_ok!(withdraw(seats[0], 0));
		let before = money(CROWD.start);
		assert_ok!(pledge(WATCHER, 0, &[STATE], 11));
		let (who, by) = (CROWD.start, WATCHER);
		System::assert_has_event(Event::AskerDisplaced { job: JOB, group: 0, who, by }.into());
		assert_eq!((prepaid(who), is_asking(who), is_asking(WATCHER)), (0, false, true));
		assert_eq!(money(who), before + price(&[Piece::Leaves]) + 10);
		// It comes back by pledging more than the least, which is that of the watcher now.
		let equal = pledge(who, 0, &[Piece::Leaves], 11);
		assert_eq!(equal, Err(Error::<Test>::TooManyClaims.into()));
		let watcher = money(WATCHER);
		assert_ok!(pledge(who, 0, &[Piece::Leaves], 12));
		assert_eq!(money(WATCHER), watcher + price(&[STATE]) + 11);
		assert_eq!(view().groups[0].asked, [Piece::Leaves]);
		// To keep it out, all of them must pledge more than it does: each who comes back displaces the next.
		assert_ok!(pledge(WATCHER, 0, &[STATE], 1_000));
		for who in CROWD {
			assert!(is_asking(WATCHER) && !is_asking(who));
			assert_ok!(pledge(who, 0, &[Piece::Leaves], 1_001));
		}
		assert!(!is_asking(WATCHER));
		Verification::do_try_state().unwrap();
		// Nobody got more time by any of this.
		assert_eq!(crate::AuditRecords::<Test>::get(JOB).unwrap().relay, Some(until));
		let locked: u128 = CROWD.map(|who| prepaid(who) - price(&[Piece::Leaves])).sum();
		assert_eq!(locked, 16 * 1_001);
		Verification::remove(JOB);
		assert!(CROWD.chain([WATCHER]).all(|who| prepaid(who) == 0));
	});
}

/// A place costs a quarter of what was pledged for it, whether what was asked for was there or stored, and
/// nothing where the result is lost.
#[test]
fn a_place_costs_a_part_of_its_pledge() {
	#[derive(Clone, Copy, PartialEq)]
	enum Then {
		Withdraws,
		Stores,
		Withholds,
	}
	for then in [Then::Withdraws, Then::Stores, Then::Withholds] {
		run(|| {
			bonded(3);
			open(1, 3);
			unanimous(Say::Yes);
			let (had, jackpot) = (money(WATCHER), money(JACKPOT));
			assert_noop!(pledge(WATCHER, 0, &[STATE], had), TokenError::FundsUnavailable);
			assert_ok!(pledge(WATCHER, 0, &[STATE], 403));
			assert_eq!(prepaid(WATCHER), price(&[STATE]) + 403);
			let mut paid = 403 / PLEDGE_PART;
			if then == Then::Withdraws {
				assert_ok!(withdraw(WATCHER, 0));
			} else {
				tick_until(is_rescue);
				if then == Then::Stores {
					assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
				}
				tick_until(|phase| !is_rescue(phase));
			}
			let lost = finish().0 == [Decision::Unavailable];
			assert_eq!(lost, then == Then::Withholds);
			if lost {
				paid = 0;
			}
			let bytes = if then == Then::Stores { price(&[STATE]) / 2 } else { 0 };
			assert_eq!(money(WATCHER), had - paid - bytes);
			assert_eq!((money(JACKPOT), prepaid(WATCHER)), (jackpot + paid, 0));
			let (job, group, who) = (JOB, 0, WATCHER);
			let event = Event::PledgeTaken { job, group, who, amount: 403 / PLEDGE_PART }.into();
			assert_eq!(System::events().iter().any(|e| e.event == event), !lost);
		});
	}
}

/// Whoever asks for all that can be stored at a time takes all the room, so it must pledge 16 times as much
/// as who needs one part of it.
#[test]
fn room_is_pledged_for_by_its_parts() {
	new_test_ext().execute_with(|| {
		let seats = standing();
		let states: Vec<Piece> = (0..8).map(Piece::State).collect();
		let all = SIZES.state * 8;
		// Of 40 bytes: one part.
		const SMALL: Piece = Piece::Tensor { checkpoint: 9, index: 0 };
		MaxRescue::set(all);
		// It has a seat, so it takes no place.
		assert_ok!(pledge(seats[0], 0, &states, 16 * 10 + 15));
		assert_noop!(ask(WATCHER, 0, &[SMALL]), Error::<Test>::TooManyBytes);
		assert_noop!(pledge(WATCHER, 0, &[SMALL], 10), Error::<Test>::TooManyBytes);
		assert_ok!(pledge(WATCHER, 0, &[SMALL], 11));
		assert!(!is_asking(seats[0]) && is_asking(WATCHER));
		// A state is two parts.
		assert_noop!(pledge(seats[0], 0, &states, 16 * 11 + 15), Error::<Test>::TooManyBytes);
		assert_ok!(pledge(seats[0], 0, &states, 16 * 12));
		assert_noop!(
			pledge(WATCHER, 0, &[STATE, Piece::State(9)], 51),
			Error::<Test>::TooManyBytes
		);
		assert_ok!(pledge(WATCHER, 0, &[STATE, Piece::State(9)], 52));
		assert!(!is_asking(seats[0]));
		// What would not fit alone displaces nobody.
		let more: Vec<Piece> = (0..9).map(Piece::State).collect();
		assert_noop!(pledge(seats[0], 0, &more, 5_000), Error::<Test>::TooManyBytes);
		assert!(is_asking(WATCHER));
		Verification::do_try_state().unwrap();
	});
}

/// What is stored stays in the list of a result, so the more there is the more others pledge for more.
#[test]
fn whoever_fills_the_list_pledges_more_and_more() {
	run(|| {
		bonded(3);
		open(1, 3);
		unanimous(Say::Yes);
		let tensor = |at: u32| Piece::Tensor { checkpoint: at / 2, index: at % 2 };
		let first: Vec<Piece> = (0..FREE_PIECES).map(tensor).collect();
		assert_ok!(ask(WATCHER, 0, &first));
		tick_until(is_rescue);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_standing);
		let more: Vec<Piece> = (FREE_PIECES..FREE_PIECES + 3).map(tensor).collect();
		// A sixteenth of 40, two of them, and three.
		assert_noop!(ask(WATCHER, 0, &more), Error::<Test>::PledgeTooSmall);
		assert_noop!(pledge(WATCHER, 0, &more, 11), Error::<Test>::PledgeTooSmall);
		assert_ok!(pledge(WATCHER, 0, &more, CHALLENGE / 16 * 6));
		// What others ask for as well is in the list already.
		assert_ok!(pledge(VERIFIERS[4], 0, &more[..1], 0));
	});
}

/// A committee that works has no crowd, and takes no pledge.
#[test]
fn a_committee_takes_no_pledge() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let who = committee()[0];
		assert_ok!(pledge(who, 0, &[STATE], 1_000));
		assert_eq!(prepaid(who), price(&[STATE]));
		let other = committee()[1];
		MaxRescue::set(SIZES.state);
		assert_noop!(pledge(other, 0, &[Piece::State(4)], 1_000), Error::<Test>::TooManyBytes);
		assert_ok!(ask(other, 0, &[STATE]));
	});
}
