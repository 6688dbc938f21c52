//! What relays cost who asks for them, and who has it back.

use super::*;

/// Each answer that the piece is held makes the next relay dearer by a committee, and what is above the fees
/// is lost: `n` of them cost `n (n + 1) / 2`.
#[test]
fn asking_again_and_again_costs_its_square() {
	run(|| {
		large_state();
		let mut paid = 0;
		for id in 0..4u32 {
			let before = free(ASKER);
			assert_ok!(ask_relay(ASKER));
			assert_eq!(for_relays(ASKER), ALL * u128::from(id + 1));
			vote(id, SEATS as usize);
			relay_over(id);
			paid += before - free(ASKER);
		}
		assert_eq!(paid, ALL * 4 * 5 / 2);
		assert_eq!(free(JACKPOT), 1 + ALL * 6);
		assert_eq!(HeldRelays::<Test>::get(JOB, 0), 4 * ALL);
		finish();
		Verification::remove(JOB);
		assert_eq!(HeldRelays::<Test>::iter().count(), 0);
	});
}

/// Eight at once cost what eight one after the other do, and who would not pay that is told before.
#[test]
fn asking_for_much_at_once_costs_no_less() {
	run(|| {
		large_state();
		let mut prepaid = 0;
		for id in 0..4u32 {
			let (piece, price) = (Piece::State(id), ALL * u128::from(id + 1));
			let cheap = ask_relay_of(ASKER, piece, price - 1);
			assert_noop!(cheap, Error::<Test>::RelayTooDear);
			assert_ok!(ask_relay_of(ASKER, piece, price));
			prepaid += price;
			assert_eq!(for_relays(ASKER), prepaid);
		}
		// Which of them is over first changes nothing for the others.
		let before = free(ASKER) + prepaid;
		for id in 0..4 {
			vote(id, SEATS as usize);
		}
		for id in 0..4 {
			relay_over(id);
		}
		assert_eq!(before - free(ASKER), ALL * 4 * 5 / 2);
		assert_eq!(free(JACKPOT), 1 + ALL * 6);
	});
}

/// Of several relays of what is withheld the first that is over decides: whoever asked for another piece has
/// back what the seats were paid that had spoken, as far as the escrow goes.
#[test]
fn who_asked_beside_an_answer_that_nothing_is_to_be_had_has_its_fees_back() {
	for (storage, back) in [(STORAGE, 4 * RELAY_FEE), (RELAY_FEE * (SEATS as u128 + 1), RELAY_FEE)]
	{
		run(|| {
			large_state_after(&[Say::Yes; 3], storage);
			assert_ok!(ask_relay(ASKER));
			assert_ok!(ask_relay_of(DOUBTER, Piece::State(2), u128::MAX));
			relay_until(1, is_saying);
			for who in &relay_seats(1)[..4] {
				assert_ok!(say_of(*who, 1, false));
			}
			vote(0, 0);
			vote(0, 0);
			relay_over(0);
			ended(Some(false));
			relay_over(1);
			assert_eq!((free(DOUBTER), for_relays(DOUBTER)), (ENDOWMENT - 4 * RELAY_FEE, 0));
			assert_eq!(finish().0, [Decision::Unavailable]);
			assert_eq!(Owed::get(), [(ASKER, ALL), (DOUBTER, back)]);
		});
	}
}

/// So has who doubted what another relay says, for the seats that had spoken by then.
#[test]
fn who_doubts_beside_an_answer_that_nothing_is_to_be_had_has_its_fees_back() {
	run(|| {
		large_state_after(&[Say::Yes; 3], STORAGE);
		assert_ok!(ask_relay_of(ASKER, Piece::State(2), u128::MAX));
		assert_ok!(ask_relay(ASKER));
		vote(1, 0);
		vote(0, MOST);
		appeal(DOUBTER);
		relay_until(0, is_saying);
		for who in &relay_seats(0)[..4] {
			assert_ok!(say_of(*who, 0, false));
		}
		vote(1, 0);
		relay_over(1);
		relay_over(0);
		ended(None);
		assert_eq!((free(DOUBTER), for_relays(DOUBTER)), (ENDOWMENT - 4 * RELAY_FEE, 0));
		assert_eq!(finish().0, [Decision::Unavailable]);
		assert!(Owed::get().contains(&(DOUBTER, 4 * RELAY_FEE)), "{:?}", Owed::get());
	});
}

/// Whoever withholds a state from a seat and gives it to a relay must not make it dear to look: a seat that
/// lacked the result has the fees of the seats back as far as the escrow goes, and nobody else has.
#[test]
fn a_seat_that_lacked_a_state_has_its_fees_back() {
	let kept = RELAY_FEE * u128::from(LACKING_SEATS);
	for (says, asks, storage, back) in [
		(Say::Gone, true, kept + ALL, ALL),
		(Say::Gone, true, kept + 5 * ALL, 2 * ALL),
		// What is due to whoever asks for what is not to be had is kept.
		(Say::Gone, true, kept + 7, 7),
		(Say::Gone, true, kept, 0),
		(Say::Gone, false, kept + ALL, 0),
	] {
		run(|| {
			let seats = large_state_after(&[says, Say::Yes, Say::Yes], storage);
			let asker = if asks { seats[0] } else { ASKER };
			mint(asker, ENDOWMENT);
			let before = free(asker);
			assert_ok!(ask_relay(asker));
			vote(0, SEATS as usize);
			relay_over(0);
			assert_eq!(free(asker), before - ALL);
			assert_ok!(ask_relay(asker));
			vote(1, SEATS as usize);
			relay_over(1);
			finish();
			let owed: u128 = Owed::get().into_iter().map(|(_, amount)| amount).sum();
			assert_eq!(owed, back, "{says:?} {asks} {storage}");
		});
	}
}

/// Of the seats that revealed evidence, those have their fees back that are drawn to replay some again.
#[test]
fn a_seat_that_replays_again_has_its_fees_back() {
	let mut backs = Vec::new();
	for at in 0..3 {
		run(|| {
			let storage = RELAY_FEE * u128::from(LACKING_SEATS) + ALL;
			let asker = large_state_after(&[Say::Yes; 3], storage)[at];
			mint(asker, ENDOWMENT);
			assert_ok!(ask_relay(asker));
			vote(0, SEATS as usize);
			relay_over(0);
			let audit = AuditRecords::<Test>::get(JOB).unwrap();
			let Rechecks::Drawn(drawn) = &audit.recheck else { panic!("it was a while") };
			let back = if drawn.iter().any(|of| of.by == asker) { ALL } else { 0 };
			assert_eq!(audit.owed.iter().map(|(_, amount)| *amount).sum::<u128>(), back);
			backs.push(back);
		});
	}
	backs.sort();
	assert_eq!(backs, [0, ALL, ALL], "two are drawn");
}

/// Who claims pieces cannot use up what is due to whoever asks for a relay.
#[test]
fn refunds_of_claims_leave_what_relays_may_cost() {
	let kept = RELAY_FEE * u128::from(LACKING_SEATS);
	for (large, storage, back) in [(true, kept + 3, 3), (true, kept, 0), (false, kept, kept)] {
		run(|| {
			bonded(3);
			open_with(AuditRequest { storage, ..request(1, 3) });
			tick_until(is_committing);
			let seat = committee()[0];
			assert_ok!(ask(seat, 0, &[Piece::Leaves]));
			if large {
				MaxRescue::set(SIZES.state - 1);
			}
			AuditRecords::<Test>::mutate(JOB, |audit| {
				let audit = audit.as_mut().unwrap();
				assert_eq!(audit.storage, storage);
				Claims::<Test>::mutate(JOB, seat, |claims| claims[0].paid = 10 * kept);
				let (_, output) = draw_of(seat);
				let found = say(seat, &[Say::Yes]).findings;
				let spent = Spent { output, place: (seat_of(seat), 3), findings: &found };
				Verification::note_refunds(JOB, audit, &seat, &spent);
				let owed: u128 = audit.owed.iter().map(|(_, amount)| *amount).sum();
				assert_eq!((owed, audit.storage), (back, storage - back));
			});
			Claims::<Test>::mutate(JOB, seat, |claims| claims[0].paid = 0);
		});
	}
}
