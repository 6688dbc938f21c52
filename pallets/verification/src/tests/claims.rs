//! What seats claim, when, and what they pay for it.

use super::rescues::{prepaid, seated, speak, until, window, window_of, withdraw, BLOB, OTHER};
use crate::{mock::*, Claims, Error, Event};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::{DispatchError, TokenError};
use trainyard_protocol::audit::{Decision, Piece, Pieces};

/// A claim that is withdrawn costs nothing: what a trainer gives late, and then late again, is no
/// fault of the seat. How often a seat asks is bounded.
#[test]
fn asking_for_what_was_there_costs_nothing() {
	run(|| {
		let seats = seated(1);
		let who = seats[0];
		let pieces = [Piece::Files, Piece::State(SEGMENTS)];
		assert_ok!(ask(who, 0, &pieces));
		assert_noop!(ask(who, 0, &[Piece::Manifest]), Error::<Test>::AlreadyAsked);
		assert_ok!(withdraw(who, 0));
		System::assert_last_event(
			Event::RequestWithdrawn { job: JOB, group: 0, verifier: who }.into(),
		);
		assert!(view().groups[0].asked.is_empty());
		assert_noop!(withdraw(who, 0), Error::<Test>::NotAsked);
		let money = Balances::free_balance(who);
		assert_ok!(ask(who, 0, &pieces));
		assert_eq!(prepaid(who), 0);
		assert_ok!(withdraw(who, 0));
		assert_eq!((Balances::free_balance(who), Balances::free_balance(JACKPOT)), (money, 1));
		assert_noop!(ask(who, 0, &pieces), Error::<Test>::TooManyWindows);
		// Nobody was asked to store anything.
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Outcome::get(), Some((vec![Decision::Accepted], seats)));
	});
}

/// Neither the seat that gives what another one asks for nor a trainer is paid for what was there, so
/// no pair of them gains.
#[test]
fn an_asker_and_its_friend_gain_nothing() {
	run(|| {
		let seats = seated(1);
		let wealth = |who: &AccountId| Balances::free_balance(who) + prepaid(*who);
		let before: u128 = seats[..2].iter().chain(&TRAINERS).map(wealth).sum();
		for _ in 0..2 {
			assert_ok!(ask(seats[0], 0, &everything(0)));
			assert_ok!(withdraw(seats[0], 0));
		}
		let after: u128 = seats[..2].iter().chain(&TRAINERS).map(wealth).sum();
		assert_eq!(before, after);
	});
}

/// An audit whose first seat has had its manifest stored.
fn answered() -> Vec<AccountId> {
	let seats = window(&[Piece::Manifest]);
	BlobSize::set(50);
	assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
	tick_until(is_committing);
	seats
}

/// Of what had to be stored for a seat a second time the seat pays half, of its own bytes; the rest of
/// what it prepaid returns.
#[test]
fn a_second_claim_pays_half_of_what_was_stored() {
	run(|| {
		let seats = answered();
		// What is there it does not pay for again.
		let pieces = [Piece::Manifest, Piece::State(SEGMENTS)];
		let price = u128::from(SIZES.state) * BYTE;
		let money = Balances::free_balance(seats[0]);
		assert_ok!(ask(seats[0], 0, &pieces));
		assert_eq!(prepaid(seats[0]), price);
		// Where it comes in time, that is nothing.
		assert_ok!(withdraw(seats[0], 0));
		assert_eq!((prepaid(seats[0]), Balances::free_balance(seats[0])), (0, money));
		assert_ok!(ask(seats[1], 0, &[Piece::Searched]));
		assert_eq!(prepaid(seats[1]), 0, "nothing was stored for this one");
		assert_ok!(withdraw(seats[1], 0));
		assert_noop!(ask(seats[0], 0, &pieces), Error::<Test>::TooManyWindows);
		assert_ok!(ask(seats[2], 0, &[Piece::Files]));
		assert_ok!(ask(seats[0], 0, &pieces));
		assert_ok!(withdraw(seats[2], 0));
		tick_until(is_rescue);
		BlobSize::set(300);
		let trainer = Balances::free_balance(TRAINERS[0]);
		let seat = Balances::free_balance(seats[0]);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, OTHER));
		tick_until(is_committing);
		let half = 300 * BYTE / 2;
		assert_eq!(Balances::free_balance(TRAINERS[0]), trainer + half);
		assert_eq!((prepaid(seats[0]), Balances::free_balance(seats[0])), (0, seat + price - half));
		assert_eq!(view().groups[0].rescued, vec![BLOB, OTHER]);
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Owed::get(), [(TRAINERS[0], 50 * BYTE / 2)], "the first one is the escrow's");
	});
}

/// A first claim is paid by the escrow, also where a seat that was drawn before prepays the same.
#[test]
fn what_a_first_claim_names_no_seat_pays() {
	run(|| {
		let seats = answered();
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		assert_ok!(ask(seats[1], 0, &[Piece::Files]));
		let money = Balances::free_balance(seats[0]) + prepaid(seats[0]);
		tick_until(is_rescue);
		BlobSize::set(200);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, OTHER));
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!((prepaid(seats[0]), Balances::free_balance(seats[0])), (0, money));
		assert_eq!(Owed::get(), [(TRAINERS[0], 250 * BYTE / 2)]);
	});
}

/// What is prepaid returns where nobody stored what it was for.
#[test]
fn who_asked_in_vain_gets_back_what_it_prepaid() {
	run(|| {
		let seats = answered();
		let free = Balances::free_balance(seats[0]);
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		assert!(prepaid(seats[0]) > 0);
		while Outcome::get().is_none() {
			tick();
		}
		assert_eq!((prepaid(seats[0]), Balances::free_balance(seats[0])), (0, free));
		assert_eq!(Outcome::get().unwrap().0, vec![Decision::Unavailable]);
	});
}

#[test]
fn several_who_lack_the_same_share_one_window() {
	run(|| {
		let seats = seated(1);
		assert_ok!(ask(seats[0], 0, &[Piece::Manifest, Piece::Files]));
		tick();
		assert_ok!(ask(seats[1], 0, &[Piece::Files, Piece::State(SEGMENTS)]));
		let asked = vec![Piece::Manifest, Piece::Files, Piece::State(SEGMENTS)];
		assert_eq!(view().groups[0].asked, asked);
		// One of them got it: what the other one lacks is asked for still.
		assert_ok!(withdraw(seats[0], 0));
		assert_eq!(view().groups[0].asked, asked[1..]);
		tick_until(is_rescue);
		BlobSize::set(500);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Owed::get(), [(TRAINERS[0], 500 * BYTE / 2)]);
	});
}

/// Who commits has found what it says. An asker that vanishes is absent, and the trainer has stored
/// what it asked for.
#[test]
fn a_commitment_withdraws_and_an_asker_that_vanishes_is_absent() {
	run(|| {
		let seats = seated(1);
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		assert_ok!(ask(seats[1], 0, &[Piece::Files]));
		assert_ok!(commit(seats[0], &findings(&[Say::Yes(1)])));
		assert_noop!(ask(seats[0], 0, &[Piece::Files]), Error::<Test>::HasCommitted);
		tick_until(is_rescue);
		BlobSize::set(250);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		round(&[speak(Say::Yes(1)), Act::Vanish, speak(Say::Yes(1))]);
		assert_eq!(Outcome::get(), Some((vec![Decision::Accepted], vec![seats[0], seats[2]])));
		assert_eq!(bond_of(seats[1]), BOND - ABSENCE);
		// Two hundred of these bytes were asked for; the rest is the index of the archive.
		assert_eq!(Owed::get(), [(TRAINERS[0], 200 * BYTE / 2)]);
	});
}

/// A seat that asks for everything and waits for it costs the trainer no more than half of the price
/// of its bytes for each piece, once.
#[test]
fn a_griefing_seat_can_ask_for_each_piece_once() {
	run(|| {
		let seats = window_of(|| everything(0));
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		let nothing_more =
			|| assert!(view().groups[0].asked.is_empty() && is_committing(&view().phase));
		for who in &seats {
			for piece in everything(0).into_iter().take(2) {
				assert_ok!(ask(*who, 0, &[piece]));
				nothing_more();
			}
		}
		// Nor in another round.
		round(&[speak(Say::Yes(1)), speak(Say::No), speak(Say::Yes(2))]);
		tick_until(is_committing);
		assert_eq!(view().round, 1);
		for who in committee() {
			assert_ok!(ask(who, 0, &everything(0)));
			nothing_more();
		}
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Owed::get(), [(TRAINERS[0], 1_000 * BYTE / 2)]);
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
				let asks = |who: &&AccountId| ask(**who, 0, &[Piece::Manifest]).is_ok();
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
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		let end = System::block_number() as u32 + RELAY;
		for who in &seats[1..] {
			tick();
			assert_ok!(ask(*who, 0, &[Piece::Manifest]));
		}
		tick_until(is_rescue);
		assert_eq!(System::block_number() as u32, end + 1);
	});
}

#[test]
fn claims_have_conditions() {
	run(|| {
		let files = [Piece::Files];
		assert_noop!(ask(10, 0, &files), Error::<Test>::NoAudit);
		assert_noop!(withdraw(10, 0), Error::<Test>::NoAudit);
		bonded(3);
		open(2, 3);
		assert_noop!(ask(10, 0, &files), Error::<Test>::NotCommitting);
		assert_noop!(withdraw(10, 0), Error::<Test>::NotCommitting);
		tick_until(is_committing);
		let seats = committee();
		assert_noop!(ask(SUBMITTER, 0, &files), Error::<Test>::NotOnCommittee);
		assert_noop!(withdraw(SUBMITTER, 0), Error::<Test>::NotOnCommittee);
		for group in [2, u32::MAX] {
			assert_noop!(ask(seats[0], group, &files), Error::<Test>::NoSuchGroup);
		}
		let pieces: Pieces = files.to_vec().try_into().unwrap();
		assert_noop!(
			Verification::request(RuntimeOrigin::none(), JOB, 0, pieces),
			DispatchError::BadOrigin
		);
		assert_noop!(
			Verification::withdraw_request(RuntimeOrigin::none(), JOB, 0),
			DispatchError::BadOrigin
		);
		let odd = (0..SEGMENTS)
			.find(|at| !drawn()[0].iter().any(|s| s == at || s + 1 == *at))
			.expect("two of ten are drawn");
		let beyond = vec![Piece::State(SEGMENTS + 1)];
		for bad in [vec![], beyond, vec![Piece::Files; 2]] {
			assert_noop!(ask(seats[0], 0, &bad), Error::<Test>::NotRead);
		}
		// Two results part somewhere: there one state more can be asked for.
		assert_ok!(ask(seats[2], 0, &[Piece::State(odd)]));
		assert_ok!(withdraw(seats[2], 0));
		let last = until();
		System::set_block_number(u64::from(last) + 1);
		assert_noop!(ask(seats[0], 0, &files), Error::<Test>::TooLate);
		System::set_block_number(last.into());
		assert_ok!(ask(seats[0], 0, &files));
		tick_until(is_rescue);
		BlobSize::set(SIZES.files);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		// A second one needs its price.
		let manifest = [Piece::Manifest];
		let rest = Balances::free_balance(seats[0]);
		assert_ok!(Balances::transfer_allow_death(
			RuntimeOrigin::signed(seats[0]),
			JACKPOT,
			rest - 10
		));
		assert_noop!(ask(seats[0], 0, &manifest), TokenError::FundsUnavailable);
		assert_eq!(Claims::<Test>::get(JOB, seats[0]).len(), 1);
	});
}

#[test]
fn one_result_parts_from_none() {
	run(|| {
		let seats = seated(1);
		let odd = (0..SEGMENTS).find(|at| !everything(0).contains(&Piece::State(*at))).unwrap();
		assert_noop!(ask(seats[0], 0, &[Piece::State(odd)]), Error::<Test>::NotRead);
	});
}

/// One seat asks a bounded number of times, and uses up nothing of what others have.
#[test]
fn windows_are_bounded() {
	run(|| {
		let seats = seated(1);
		BlobSize::set(10);
		let pieces = everything(0);
		let mut windows = 0;
		for who in &seats {
			for _ in 0..2 {
				assert_ok!(ask(*who, 0, &pieces[windows..windows + 1]));
				tick_until(is_rescue);
				assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
				tick_until(is_committing);
				windows += 1;
				if windows == pieces.len() - 1 {
					break;
				}
			}
			let more = ask(*who, 0, &pieces[windows..]);
			assert_eq!(more, Err(Error::<Test>::TooManyWindows.into()));
			if windows == pieces.len() - 1 {
				break;
			}
		}
		assert!(windows >= 4);
		assert_eq!(Expected::get().len(), windows);
		<Verification as trainyard_traits::Audits<_>>::remove(JOB);
		assert!(Expected::get().is_empty());
	});
}

/// An audit that is forgotten leaves nothing on hold.
#[test]
fn an_audit_that_ends_early_returns_what_was_prepaid() {
	run(|| {
		let seats = answered();
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		assert!(prepaid(seats[0]) > 0);
		<Verification as trainyard_traits::Audits<_>>::remove(JOB);
		assert_eq!(prepaid(seats[0]), 0);
	});
}
