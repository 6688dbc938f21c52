//! Doubts in what a committee says, and what a cartel has of lying.

use super::*;

/// A committee that is wholly away lets a result be lost, and each of its seats pays.
#[test]
fn where_all_seats_vanish_the_account_can_doubt() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		relay_until(0, is_lacking);
		appeal(TRAINERS[0]);
		assert_eq!(for_relays(TRAINERS[0]), APPEAL);
		vote(0, APPEAL_SEATS as usize);
		assert!(is_held(&relay_of(0).stage));
		relay_over(0);
		assert_eq!(free(JACKPOT), 1 + u128::from(SEATS) * 5 * RELAY_FEE);
		// What the first committee did not earn is the doubter's.
		assert_eq!(free(TRAINERS[0]), ENDOWMENT - APPEAL + ALL);
		assert_eq!(free(ASKER), ENDOWMENT - ALL);
		assert_eq!(finish().0, [Decision::Accepted]);
	});
}

/// A majority of a cartel that says no though it was served: 12.8 % at 40 % of the bonds. The account doubts
/// it, and the cartel's seats earned nothing.
#[test]
fn a_cartel_that_says_no_is_doubted() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		vote(0, MOST - 1);
		vote(0, MOST - 1);
		let seats = relay_seats(0);
		let (honest, cartel) = seats.split_at(MOST - 1);
		let money: u128 = cartel.iter().map(|who| free(*who)).sum();
		appeal(TRAINERS[0]);
		let again = Verification::appeal(RuntimeOrigin::signed(DOUBTER), 0);
		assert_noop!(again, Error::<Test>::AlreadyAppealed);
		relay_until(0, is_saying);
		let second = relay_seats(0);
		assert_eq!(second.len(), APPEAL_SEATS as usize);
		assert!(second.iter().all(|who| !seats.contains(who)));
		vote(0, APPEAL_SEATS as usize);
		assert_eq!(second, relay_seats(0));
		relay_over(0);
		ended(Some(true));
		assert_eq!(cartel.iter().map(|who| free(*who)).sum::<u128>(), money);
		let unearned = cartel.len() as u128 * RELAY_FEE;
		assert_eq!(free(TRAINERS[0]), ENDOWMENT - APPEAL + unearned);
		assert_eq!(free(ASKER), ENDOWMENT - ALL);
		assert!(honest.iter().all(|who| free(*who) == 1 + RELAY_FEE));
		assert_eq!(finish().0, [Decision::Accepted]);
	});
}

/// A majority of a cartel that says yes, has the piece, and gives it to nobody: who asked doubts it, and has
/// all back.
#[test]
fn a_cartel_that_has_it_and_gives_it_to_nobody_is_doubted() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		vote(0, MOST);
		let seats = relay_seats(0);
		appeal(ASKER);
		assert_eq!(for_relays(ASKER), ALL + APPEAL);
		vote(0, 0);
		vote(0, 0);
		relay_over(0);
		ended(Some(false));
		assert!(seats[..MOST].iter().all(|who| free(*who) == 1), "its seats earned nothing");
		let others = (SEATS as usize - MOST) as u128 * RELAY_FEE;
		assert_eq!(free(ASKER), ENDOWMENT - APPEAL - others);
		assert_eq!(finish().0, [Decision::Unavailable]);
		let back: u128 = Owed::get()
			.iter()
			.map(|(who, amount)| {
				assert_eq!(*who, ASKER);
				amount
			})
			.sum();
		assert_eq!(back, APPEAL + others);
	});
}

/// Who doubts for nothing pays the second committee.
#[test]
fn a_doubt_that_was_wrong_costs_the_committee() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		vote(0, 0);
		vote(0, 0);
		appeal(DOUBTER);
		vote(0, 0);
		vote(0, 0);
		relay_over(0);
		assert_eq!((free(DOUBTER), free(ASKER)), (ENDOWMENT - APPEAL, ENDOWMENT - ALL));
		assert_eq!(finish().0, [Decision::Unavailable]);
		assert_eq!(Owed::get(), [(ASKER, ALL)]);
	});
}

/// Where there is no larger committee the answer stands, and the doubt costs nothing.
#[test]
fn a_doubt_without_a_larger_committee_changes_nothing() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		vote(0, SEATS as usize);
		// Nobody beside them is there any more.
		let seats = relay_seats(0);
		crate::Pool::<Test>::mutate(|pool| {
			let others = pool.iter_mut().filter(|(who, _)| !seats.contains(who));
			others.for_each(|(_, entry)| entry.put(trainyard_protocol::views::Standing::Paused, 1));
		});
		appeal(DOUBTER);
		relay_over(0);
		ended(Some(true));
		assert_eq!(free(DOUBTER), ENDOWMENT);
		assert_eq!(free(ASKER), ENDOWMENT - ALL);
	});
}

/// What counts after a doubt is a majority of both committees: who doubts what is so needs as many as who said
/// what is not.
#[test]
fn both_committees_count_after_a_doubt() {
	let all = SEATS + APPEAL_SEATS;
	let least = (all / 2 + 1) as usize;
	let first = SEATS as usize;
	for (having, then, held) in [
		(first, least - first, true),
		(first, least - first - 1, false),
		(0, least, true),
		(0, least - 1, false),
	] {
		run(|| {
			large_state();
			assert_ok!(ask_relay(ASKER));
			vote(0, having);
			if having == 0 {
				vote(0, having);
			}
			appeal(DOUBTER);
			vote(0, then);
			if !held {
				vote(0, then);
			}
			relay_over(0);
			ended(Some(held));
			let decision = if held { Decision::Accepted } else { Decision::Unavailable };
			assert_eq!(finish().0, [decision], "{having} {then}");
		});
	}
}
