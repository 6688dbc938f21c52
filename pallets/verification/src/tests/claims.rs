//! What is claimed, when, and what it costs.

use super::rescues::{claimed, prepaid, seated, until, window, withdraw, BLOB, OTHER};
use crate::{mock::*, Claims, Error, Event};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::{DispatchError, TokenError};
use trainyard_protocol::{
	audit::Decision,
	pieces::{Piece, Pieces},
};
use trainyard_traits::{AuditRequest, Audited, Audits};

/// The price of these pieces.
pub(super) fn price(pieces: &[Piece]) -> u128 {
	u128::from(SIZES.sum(pieces.iter().copied(), &result_of(TRAINERS[0]), &TENSORS)) * BYTE
}

/// A claim that is withdrawn costs nothing: what a trainer gives late, and then late again, is no
/// fault of the seat. How often a seat asks is bounded.
#[test]
fn asking_for_what_was_there_costs_nothing() {
	run(|| {
		let seats = seated(1);
		let who = seats[0];
		let pieces = [ROWS, Piece::State(SEGMENTS)];
		let money = Balances::free_balance(who);
		assert_ok!(ask(who, 0, &pieces));
		assert_eq!(prepaid(who), price(&pieces));
		assert_noop!(ask(who, 0, &[Piece::Leaves]), Error::<Test>::AlreadyAsked);
		assert_ok!(withdraw(who, 0));
		System::assert_last_event(Event::RequestWithdrawn { job: JOB, group: 0, who }.into());
		assert!(view().groups[0].asked.is_empty());
		assert_noop!(withdraw(who, 0), Error::<Test>::NotAsked);
		assert_ok!(ask(who, 0, &pieces));
		assert_ok!(withdraw(who, 0));
		assert_eq!((Balances::free_balance(who), prepaid(who)), (money, 0));
		assert_noop!(ask(who, 0, &pieces), Error::<Test>::TooManyWindows);
		// Nobody was asked to store anything.
		round(&vec![speak(Say::Yes); 3]);
		assert_eq!(finish(), (vec![Decision::Accepted], seats));
		assert_eq!(Owed::get(), []);
	});
}

/// Who claims pays half of what was stored, and a seat has that back from the escrow, of the pieces that
/// it reads.
#[test]
fn a_seat_gets_back_what_its_draws_read() {
	for (seat, reads) in [(Say::Yes, true), (Say::No, true), (Say::Gone, false)] {
		run(|| {
			let seats = seated(1);
			let who = seats[0];
			let mut ends: Vec<u32> = wanted(who, 0).iter().flat_map(|s| [*s, s + 1]).collect();
			ends.sort();
			ends.dedup();
			let other = (0..SEGMENTS).find(|at| !ends.contains(at)).unwrap();
			let mut states = [other, SEGMENTS];
			states.sort();
			let pieces = states.map(Piece::State);
			let money = Balances::free_balance(who);
			let trainer = Balances::free_balance(TRAINERS[0]);
			assert_ok!(ask(who, 0, &pieces));
			tick_until(is_rescue);
			assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
			tick_until(is_committing);
			let file = of_state(BLOB, SEGMENTS);
			assert!(Verification::stored(JOB, &TRAINERS[0], &file, SEGMENTS));
			assert!(!Verification::stored(JOB, &TRAINERS[0], &file, other));
			let half = price(&pieces) / 2;
			assert_eq!(Balances::free_balance(TRAINERS[0]), trainer + half);
			assert_eq!((Balances::free_balance(who), prepaid(who)), (money - half, 0));
			round(&[speak(seat), speak(Say::Yes), speak(Say::Yes)]);
			disputes().into_iter().for_each(|id| convict(id, true));
			finish();
			// One of two states: the last one everybody reads.
			let back = if reads { vec![(who, half / 2)] } else { vec![] };
			assert_eq!(Owed::get(), back);
		});
	}
}

/// The escrow has no more than it has.
#[test]
fn the_escrow_gives_back_no_more_than_it_has() {
	run(|| {
		bonded(3);
		open_with(AuditRequest { storage: 100, ..request(1, 3) });
		tick_until(is_committing);
		let seats = committee();
		for who in &seats[..2] {
			let piece = if *who == seats[0] { ROWS } else { Piece::Leaves };
			assert_ok!(ask(*who, 0, &[piece]));
		}
		tick_until(is_rescue);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		round(&vec![speak(Say::Yes); 3]);
		finish();
		let owed: u128 = Owed::get().iter().map(|(_, amount)| amount).sum();
		assert_eq!(owed, 100);
	});
}

/// Whose evidence is convicted, or who accuses falsely, gets nothing back.
#[test]
fn who_lied_gets_nothing_back() {
	run(|| {
		let seats = window(&[ROWS]);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		round(&vec![speak(Say::Yes); 3]);
		convict(sue(VERIFIERS[5], of_seat(seats[0], TRAINERS[0], 0)), true);
		finish();
		assert_eq!(Owed::get(), []);
	});
}

/// Anybody can claim while results stand, whatever it is, and prepays it. A trainer that stores nothing
/// loses, whatever the committee said.
#[test]
fn anybody_claims_what_it_lacks_while_results_stand() {
	for stores in [true, false] {
		run(|| {
			bonded(3);
			open(1, 3);
			let stranger = VERIFIERS[5];
			unanimous(Say::Yes);
			let (money, pieces) = (Balances::free_balance(stranger), [Piece::State(3)]);
			let trainer = Balances::free_balance(TRAINERS[0]);
			let opened = System::block_number() as u32;
			while (System::block_number() as u32) < opened + LENGTH {
				tick();
			}
			// In the last block.
			assert_ok!(ask(stranger, 0, &pieces));
			assert_eq!(prepaid(stranger), price(&pieces));
			let until = System::block_number() as u32 + RELAY;
			let asked: Pieces = pieces.to_vec().try_into().unwrap();
			System::assert_last_event(
				Event::Asked {
					job: JOB,
					group: 0,
					who: stranger,
					pieces: asked,
					prepaid: price(&pieces),
					pledge: 0,
					until,
				}
				.into(),
			);
			tick_until(is_rescue);
			if stores {
				assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
				tick_until(is_standing);
				let now = System::block_number() as u32;
				// The blob can be accused of, too.
				let file = of_state(BLOB, 3);
				let stored = |state| Verification::stored(JOB, &TRAINERS[0], &file, state);
				assert!(stored(3) && !stored(4));
				assert!(!Verification::stored(JOB, &TRAINERS[1], &file, 3));
				let half = price(&pieces) / 2;
				assert_eq!(Balances::free_balance(TRAINERS[0]), trainer + half);
				assert_eq!(Balances::free_balance(stranger), money - half);
				assert_eq!(finish().0, [Decision::Accepted]);
				assert_eq!(System::block_number() as u32, now + AGAIN + 1, "one replay more");
			} else {
				tick_until(|phase| !is_rescue(phase));
				assert_eq!(view().groups[0].decision, Some(Decision::Unavailable));
				assert_eq!(finish().0, [Decision::Unavailable]);
				assert_eq!(Balances::free_balance(stranger), money);
			}
			assert_eq!((prepaid(stranger), Claims::<Test>::iter().count()), (0, 0));
			assert_eq!(Owed::get(), []);
		});
	}
}

#[test]
fn several_who_lack_the_same_share_one_window() {
	run(|| {
		let seats = seated(1);
		assert_ok!(ask(seats[0], 0, &[Piece::Leaves, ROWS]));
		tick();
		assert_ok!(ask(seats[1], 0, &[ROWS, Piece::State(SEGMENTS)]));
		let asked = vec![Piece::Leaves, ROWS, Piece::State(SEGMENTS)];
		assert_eq!(view().groups[0].asked, asked);
		// One of them got it: what the other one lacks is asked for still.
		assert_ok!(withdraw(seats[0], 0));
		assert_eq!(view().groups[0].asked, asked[1..]);
		assert_ok!(ask(seats[0], 0, &[ROWS]));
		tick_until(is_rescue);
		let trainer = Balances::free_balance(TRAINERS[0]);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		// It has the half of its bytes once, whoever asked for them.
		assert_eq!(Balances::free_balance(TRAINERS[0]), trainer + 600 * BYTE / 2);
		round(&vec![speak(Say::Yes); 3]);
		finish();
		let owed: u128 = Owed::get().iter().map(|(_, amount)| amount).sum();
		assert_eq!(owed, 600 * BYTE / 2);
	});
}

/// Who commits has found what it says. An asker that vanishes is absent, and pays for what was stored.
#[test]
fn a_commitment_withdraws_and_an_asker_that_vanishes_is_absent() {
	run(|| {
		let seats = seated(1);
		assert_ok!(ask(seats[0], 0, &[ROWS]));
		assert_ok!(ask(seats[1], 0, &[ROWS]));
		let said = say(seats[0], &[Say::Yes]);
		assert_ok!(commit(seats[0], &said));
		assert_eq!(prepaid(seats[0]), 0);
		assert_noop!(ask(seats[0], 0, &[ROWS]), Error::<Test>::HasCommitted);
		tick_until(is_rescue);
		let money = Balances::free_balance(seats[1]) + prepaid(seats[1]);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		round(&[speak(Say::Yes), Act::Vanish, speak(Say::Yes)]);
		assert_eq!(finish(), (vec![Decision::Accepted], vec![seats[0], seats[2]]));
		assert_eq!(bond_of(seats[1]), BOND - ABSENCE);
		assert_eq!(Balances::free_balance(seats[1]), money - 200 * BYTE / 2);
		assert_eq!(Owed::get(), []);
	});
}

/// However many claims there are, and whenever they come, the time for commitments has an end.
#[test]
fn claims_do_not_put_an_audit_off_again_and_again() {
	run(|| {
		let seats = seated(1);
		let opened = System::block_number() as u32;
		let latest = opened + COMMIT + RELAY + COMMIT;
		let mut asked = 0;
		while System::block_number() <= u64::from(until()) {
			if System::block_number() == u64::from(until()) {
				let asks = |who: &&AccountId| ask(**who, 0, &[Piece::Leaves]).is_ok();
				if let Some(who) = seats.iter().find(asks) {
					assert_ok!(withdraw(*who, 0));
					asked += 1;
				}
			}
			System::set_block_number(System::block_number() + 1);
		}
		assert_eq!((asked, until()), (2, latest + RELAY));
		// The audit goes on when somebody looks at it.
		Due::set(Some(0));
		tick();
		assert_eq!((view().round, is_committing(&view().phase)), (1, false));
	});
}

/// A claim joins those that wait, and does not put them off.
#[test]
fn later_claims_join_the_first() {
	run(|| {
		let seats = seated(1);
		assert_ok!(ask(seats[0], 0, &[ROWS]));
		let end = System::block_number() as u32 + RELAY;
		for who in &seats[1..] {
			tick();
			assert_ok!(ask(*who, 0, &[Piece::Leaves]));
		}
		tick_until(is_rescue);
		assert_eq!(System::block_number() as u32, end + 1);
	});
}

#[test]
fn claims_have_conditions() {
	run(|| {
		let files = [ROWS];
		assert_noop!(ask(10, 0, &files), Error::<Test>::NoAudit);
		assert_noop!(withdraw(10, 0), Error::<Test>::NoAudit);
		bonded(3);
		open(2, 3);
		assert_noop!(ask(10, 0, &files), Error::<Test>::NotCommitting);
		assert_noop!(withdraw(10, 0), Error::<Test>::NotCommitting);
		tick_until(is_committing);
		let seats = committee();
		assert_noop!(ask(SUBMITTER, 0, &files), Error::<Test>::NotOnCommittee);
		assert_noop!(withdraw(SUBMITTER, 0), Error::<Test>::NotAsked);
		for group in [2, u32::MAX] {
			assert_noop!(ask(seats[0], group, &files), Error::<Test>::NoSuchGroup);
		}
		let pieces: Pieces = files.to_vec().try_into().unwrap();
		assert_noop!(
			Verification::request(RuntimeOrigin::none(), JOB, 0, pieces, 0),
			DispatchError::BadOrigin
		);
		assert_noop!(
			Verification::withdraw_request(RuntimeOrigin::none(), JOB, 0),
			DispatchError::BadOrigin
		);
		let rows = |from, to| vec![Piece::Rows { from, to }];
		let tensor = |checkpoint, index| vec![Piece::Tensor { checkpoint, index }];
		let (last, more) = (SEGMENTS, SEGMENTS + 1);
		let beyond = [vec![Piece::State(more)], rows(0, 26), tensor(more, 0), tensor(last, 2)];
		let none = [vec![], rows(7, 7), rows(8, 7), vec![ROWS; 2]];
		for bad in beyond.into_iter().chain(none) {
			assert_noop!(ask(seats[0], 0, &bad), Error::<Test>::NoSuchPiece);
		}
		// What a seat draws only the seat knows.
		assert_ok!(ask(seats[2], 0, &everything()));
		assert_ok!(withdraw(seats[2], 0));
		let last = until();
		System::set_block_number(u64::from(last) + 1);
		assert_noop!(ask(seats[0], 0, &files), Error::<Test>::TooLate);
		System::set_block_number(last.into());
		let rest = Balances::free_balance(seats[1]);
		let signed = RuntimeOrigin::signed(seats[1]);
		assert_ok!(Balances::transfer_allow_death(signed, JACKPOT, rest - 10));
		assert_noop!(ask(seats[1], 0, &files), TokenError::FundsUnavailable);
		assert_ok!(ask(seats[0], 0, &files));
		tick_until(is_rescue);
		assert_noop!(ask(seats[2], 0, &files), Error::<Test>::NotCommitting);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		// What is there is not asked for again.
		assert_noop!(ask(seats[0], 0, &files), Error::<Test>::IsStored);
		assert_ok!(ask(seats[0], 0, &[Piece::Leaves, ROWS]));
		assert_eq!(view().groups[0].asked, [Piece::Leaves]);
		assert_ok!(withdraw(seats[0], 0));
		assert_eq!(Claims::<Test>::get(JOB, seats[0]).len(), 2);
		// A claim too many.
		assert_ok!(ask(seats[2], 0, &[Piece::Leaves]));
		assert_ok!(ask(seats[0], 0, &[Piece::State(0)]));
		assert_ok!(withdraw(seats[0], 0));
		assert_noop!(ask(seats[0], 0, &[Piece::State(0)]), Error::<Test>::TooManyClaims);
	});
	// When the window is over, nobody claims.
	run(|| {
		bonded(3);
		open(1, 3);
		unanimous(Say::Yes);
		System::set_block_number(System::block_number() + u64::from(LENGTH) + 1);
		assert_noop!(ask(VERIFIERS[5], 0, &[ROWS]), Error::<Test>::TooLate);
	});
}

/// One seat asks a bounded number of times, and uses up nothing of what others have.
#[test]
fn windows_are_bounded() {
	run(|| {
		let seats = seated(1);
		let mut pieces = everything().into_iter();
		let mut windows = 0;
		for who in &seats {
			for _ in 0..2 {
				assert_ok!(ask(*who, 0, &[pieces.next().unwrap()]));
				tick_until(is_rescue);
				assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
				tick_until(is_committing);
				windows += 1;
			}
			let more = ask(*who, 0, &[Piece::State(SEGMENTS)]);
			assert_eq!(more, Err(Error::<Test>::TooManyWindows.into()));
		}
		// Leaves are in no blob, and the rows in four.
		assert_eq!((windows, Expected::get().len()), (6, 8));
		Verification::remove(JOB);
		assert!(Expected::get().is_empty());
	});
}

/// An audit that is forgotten leaves nothing on hold.
#[test]
fn an_audit_that_ends_early_returns_what_was_prepaid() {
	run(|| {
		let seats = seated(1);
		assert_ok!(ask(seats[0], 0, &[ROWS]));
		assert!(prepaid(seats[0]) > 0);
		Verification::remove(JOB);
		assert_eq!(prepaid(seats[0]), 0);
	});
}

/// What was claimed of a result whose trainer was convicted meanwhile returns.
#[test]
fn a_conviction_ends_what_was_claimed() {
	run(|| {
		bonded(3);
		open(2, 3);
		round(&vec![Act::Speak(vec![Say::Yes, Say::Yes]); 3]);
		let stranger = VERIFIERS[5];
		let money = Balances::free_balance(stranger);
		assert_ok!(ask(stranger, 1, &[ROWS]));
		tick_until(is_rescue);
		assert_ok!(store(TRAINERS[1], TRAINERS[1], 1, OTHER));
		convict(sue(TRAINERS[0], of_trainer(TRAINERS[1])), true);
		tick_until(is_standing);
		assert_eq!((Balances::free_balance(stranger), claimed()), (money, 0));
		assert_eq!(finish().0, [Decision::Accepted, Decision::Rejected]);
		assert!(Expected::get().is_empty());
	});
}
