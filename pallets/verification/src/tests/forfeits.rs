//! What seats lose by accusations before they are convicted themselves.

use crate::{mock::*, Event, Fault, Forfeited, MAX_FORFEITS};
use frame_support::assert_ok;
use trainyard_protocol::{accusation::Target, audit::Decision, H256};
use trainyard_traits::{Accusation, AuditRequest, Defendant, Stakes};

/// Three seats of 400 with the least bond, all of which vouch for the only result.
fn poor_seats() -> Vec<AccountId> {
	for who in &VERIFIERS[..3] {
		assert_ok!(register(*who, MIN_BOND));
	}
	open_with(AuditRequest { challenge: 400, ..request(1, 3) });
	let seats = unanimous(Say::Yes);
	assert_eq!(entry(seats[0]).locked, 400);
	seats
}

/// `who` accuses a friend, and gives up. Returns what the friend has of it.
fn loses_to(who: AccountId, accusation: Accusation<AccountId>) -> u128 {
	assert_ok!(Verification::accuse(RuntimeOrigin::signed(who), accusation));
	acquit(*disputes().last().unwrap())
}

fn free(who: AccountId) -> u128 {
	Balances::free_balance(who)
}

/// A seat that is about to be convicted loses its whole bond to a friend. The court brings back what its
/// stake lacks, and the finder has its quarter.
#[test]
fn a_stake_does_not_move_to_a_friend_before_the_conviction() {
	run(|| {
		let seats = poor_seats();
		let (who, friend, finder) = (seats[0], seats[1], VERIFIERS[4]);
		let own = sue(finder, of_seat(who, TRAINERS[0], 0));
		let (had, began) = (free(friend), free(finder));
		let of_friend = |segment| of_seat(friend, TRAINERS[0], segment);
		assert_eq!(loses_to(who, of_friend(0)) + loses_to(who, of_friend(1)), 800);
		assert_eq!((bond_of(who), entry(who).locked), (MIN_BOND - 800, 0));
		let sum = Forfeited::<Test>::get(JOB, who);
		assert_eq!(sum.to_vec(), [(of_friend(0).defendant, 800)]);
		let jackpot = free(JACKPOT);
		convict(own, true);
		assert_eq!(free(friend), had + 600, "200 come back");
		assert_eq!((bond_of(who), burned()), (0, 200));
		assert_eq!((free(finder), free(JACKPOT)), (began + 100, jackpot + 100));
		assert!(!Forfeited::<Test>::contains_key(JOB, who));
		assert_eq!(finish().0, [Decision::Accepted]);
	});
}

/// It makes no difference whom a seat accused first: all to whom it lost give back in proportion. What one of
/// them has no more since it was convicted the others give.
#[test]
fn all_who_have_of_a_stake_give_back_in_proportion() {
	for convicted in [false, true] {
		run(|| {
			let seats = poor_seats();
			let (who, friend) = (seats[0], seats[1]);
			let own = sue(VERIFIERS[4], of_seat(who, TRAINERS[0], 0));
			let had = free(friend);
			// The honest one is accused first, so that it would have nothing left for its defence.
			assert_eq!(loses_to(who, of_trainer(TRAINERS[0])), 400);
			assert_eq!(loses_to(who, of_seat(friend, TRAINERS[0], 0)), 400);
			assert_eq!((bond_of(who), entry(who).locked), (200, 0));
			if convicted {
				convict(sue(VERIFIERS[4], of_seat(friend, TRAINERS[0], 1)), true);
				assert_eq!(free(friend), had, "what it won is the jackpot's");
			}
			let before = (free(TRAINERS[0]), free(friend));
			convict(own, true);
			let back = (before.0 - free(TRAINERS[0]), before.1 - free(friend));
			assert_eq!(back, if convicted { (200, 0) } else { (100, 100) });
			assert_eq!(bond_of(who), 0);
		});
	}
}

/// Where the bond covers the stake as well, who was accused falsely keeps what it won. When the seat can be
/// convicted no more, it keeps all.
#[test]
fn who_was_accused_falsely_keeps_what_it_won() {
	run(|| {
		let seats = poor_seats();
		let own = sue(VERIFIERS[4], of_seat(seats[0], TRAINERS[0], 0));
		assert_eq!(loses_to(seats[0], of_trainer(TRAINERS[0])), 400);
		convict(own, true);
		assert_eq!((free(TRAINERS[0]), bond_of(seats[0])), (ENDOWMENT + 400, MIN_BOND - 800));
		// The others answer for what they revealed until results do not stand any more.
		assert_eq!(loses_to(seats[1], of_trainer(TRAINERS[0])), 400);
		assert!(Forfeited::<Test>::contains_key(JOB, seats[1]));
		finish();
		assert_eq!(Forfeited::<Test>::iter().count(), 0);
		assert_eq!(free(TRAINERS[0]), ENDOWMENT + 800);
	});
}

/// What it still has at stake with accusations is taken first, and what it lost comes back for the rest
/// alone.
#[test]
fn what_is_at_stake_is_taken_before_what_was_lost() {
	run(|| {
		let seats = poor_seats();
		let (who, friend) = (seats[0], seats[1]);
		let own = sue(VERIFIERS[4], of_seat(who, TRAINERS[0], 0));
		let had = free(friend);
		assert_eq!(loses_to(who, of_seat(friend, TRAINERS[0], 0)), 400);
		let open = |target| {
			let accusation = Accusation { target, ..of_trainer(TRAINERS[0]) };
			assert_ok!(Verification::accuse(RuntimeOrigin::signed(who), accusation));
			*disputes().last().unwrap()
		};
		let shield = open(Target::Model);
		assert_eq!((bond_of(who), entry(who).locked), (600, 400));
		convict(own, true);
		// 200 were free, and 200 it owes.
		assert_eq!((bond_of(who), entry(who).locked, free(friend)), (400, 400, had + 400));
		assert_eq!(acquit(shield), 200);
		assert_eq!((bond_of(who), free(TRAINERS[0])), (0, ENDOWMENT + 200));
		assert_eq!(free(friend), had + 400);
	});
}

/// So it is where a seat loses its stake for a guess: neither what it lost nor what it has at stake is safe.
#[test]
fn who_guessed_loses_what_it_moved() {
	run(|| {
		let seats = poor_seats();
		let (who, friend) = (seats[0], seats[1]);
		let had = free(friend);
		for segment in [0, 1] {
			assert_eq!(loses_to(who, of_seat(friend, TRAINERS[0], segment)), 400);
		}
		let mut audit = crate::AuditRecords::<Test>::get(JOB).unwrap();
		Verification::take_stake(JOB, &mut audit, &who);
		crate::AuditRecords::<Test>::insert(JOB, audit);
		let (verifier, fault) = (who, Fault::Guessed);
		let event = Event::Slashed { verifier, amount: 400, job: JOB, fault };
		System::assert_has_event(event.into());
		assert_eq!((bond_of(who), free(friend)), (0, had + 600));
		// With what is at stake.
		let who = seats[2];
		assert_ok!(Verification::accuse(RuntimeOrigin::signed(who), of_trainer(TRAINERS[0])));
		let other = Accusation { target: Target::Stop, ..of_trainer(TRAINERS[0]) };
		assert_ok!(Verification::accuse(RuntimeOrigin::signed(who), other));
		let mut audit = crate::AuditRecords::<Test>::get(JOB).unwrap();
		Verification::take_stake(JOB, &mut audit, &who);
		crate::AuditRecords::<Test>::insert(JOB, audit);
		assert_eq!(bond_of(who), 800);
		let lost: u128 = disputes().into_iter().map(acquit).sum();
		assert_eq!((bond_of(who), lost), (0, 600));
	});
}

/// It is known of so many defendants what a seat lost to them. What it loses to others is the jackpot's.
#[test]
fn what_is_lost_to_more_defendants_is_the_jackpots() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = unanimous(Say::Yes);
		let who = seats[0];
		let jackpot = free(JACKPOT);
		let seat = |at: u8| Defendant::Seat {
			job: JOB,
			who: seats[1],
			bundle_root: H256::repeat_byte(at),
		};
		for at in 0..=MAX_FORFEITS as u8 {
			assert_ok!(Verification::put_at_stake(JOB, &who));
			let moved = <Verification as Stakes<_>>::forfeit(JOB, &who, &seat(at), CHALLENGE);
			let expected = if u32::from(at) < MAX_FORFEITS { CHALLENGE } else { 0 };
			assert_eq!(moved, expected);
		}
		assert_eq!(free(JACKPOT), jackpot + CHALLENGE);
		assert_eq!(Forfeited::<Test>::get(JOB, who).len(), MAX_FORFEITS as usize);
		// To the same ones it goes on.
		assert_ok!(Verification::put_at_stake(JOB, &who));
		assert_eq!(<Verification as Stakes<_>>::forfeit(JOB, &who, &seat(0), 7), 7);
		finish();
	});
}
