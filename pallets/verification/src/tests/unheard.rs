//! Who says that it could not have a result, though it could ask for it on chain.

use super::rescues::BLOB;
use crate::{mock::*, AuditRecords, Event, Fault, MAX_WINDOWS};
use frame_support::assert_ok;
use trainyard_protocol::{audit::Decision, pieces::Piece};

/// What a seat that says *unavailable* of the only result pays, where `change` was made to the audit.
fn cost(change: impl FnOnce(&mut crate::AuditOf<Test>)) -> u128 {
	let mut cost = 0;
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		AuditRecords::<Test>::mutate(JOB, |audit| change(audit.as_mut().unwrap()));
		let seats = round(&[speak(Say::Gone), speak(Say::Yes), speak(Say::Yes)]);
		cost = BOND - bond_of(seats[0]);
		assert_eq!(entry(seats[0]).absences.count_ones(), u32::from(cost > 0));
		assert_eq!(finish(), (vec![Decision::Accepted], seats[1..].to_vec()));
		assert_eq!(entry(seats[0]).locked, 0);
		let event = Event::Slashed {
			verifier: seats[0],
			amount: ABSENCE,
			job: JOB,
			fault: Fault::NoVerdict,
		};
		assert_eq!(System::events().iter().any(|e| e.event == event.clone().into()), cost > 0);
	});
	cost
}

/// It costs as much as to say nothing at all.
#[test]
fn who_says_unavailable_without_asking_is_absent() {
	assert_eq!(cost(|_| ()), ABSENCE);
}

/// It is heard where a seat could not ask: all windows are used up, or what is read is larger than the rescues
/// for which it can ask.
#[test]
fn who_could_not_ask_is_heard() {
	assert_eq!(cost(|audit| audit.windows = MAX_WINDOWS), 0);
	assert_eq!(cost(|_| MaxRescue::set(SIZES.state)), 0);
	// Two rescues carry all.
	assert_eq!(cost(|_| MaxRescue::set(10 * SIZES.state)), ABSENCE);
}

/// What no rescue carries a seat asks a committee for, while results stand. Where nobody did it pays at the end,
/// as for its absence; and no sooner, since it could not ask before. A seat that accuses another result, or
/// revealed evidence, pays nothing.
#[test]
fn who_asks_nobody_for_what_is_large_is_absent() {
	for asks in [false, true] {
		run(|| {
			let says = [Say::Gone, Say::Yes, Say::Yes];
			let seats = large_state_after(&says, STORAGE);
			assert!(seats.iter().all(|who| bond_of(*who) == BOND), "it could not ask yet");
			assert!(!view().groups[0].relayed);
			if asks {
				assert_ok!(ask_relay(ASKER));
				assert!(view().groups[0].relayed);
				vote(0, 31);
				relay_over(0);
			}
			let paid = if asks { 0 } else { ABSENCE };
			assert_eq!(finish(), (vec![Decision::Accepted], seats[1..].to_vec()));
			let bonds: Vec<u128> = seats.iter().map(|who| BOND - bond_of(*who)).collect();
			assert_eq!(bonds, [paid, 0, 0]);
			assert!(seats.iter().all(|who| entry(*who).locked == 0));
			let (verifier, fault) = (seats[0], Fault::NoVerdict);
			let event = Event::Slashed { verifier, amount: ABSENCE, job: JOB, fault };
			assert_eq!(System::events().iter().any(|e| e.event == event.clone().into()), !asks);
		});
	}
}

/// Half of the seats that say so in each round pay in each round: the result stands though it was not heard, so
/// that somebody can ask.
#[test]
fn a_veto_of_what_is_large_costs_what_absence_does() {
	for asks in [false, true] {
		run(|| {
			let says = [Say::Gone, Say::Gone, Say::Yes];
			let mut paid = 0;
			for number in 0..3 {
				let seats = match number {
					0 => large_state_after(&says, STORAGE),
					_ => round(&says.map(speak)),
				};
				assert_eq!((view().round, is_standing(&view().phase)), (number, true));
				if asks && number == 0 {
					assert_ok!(ask_relay(ASKER));
					vote(0, 31);
					relay_over(0);
				}
				tick_until(|phase| !is_standing(phase));
				paid += seats.iter().map(|who| BOND - bond_of(*who)).sum::<u128>();
				for who in seats {
					crate::Pool::<Test>::mutate(|pool| pool.get_mut(&who).unwrap().absences = 0);
				}
			}
			assert_eq!(finish().0, [Decision::Undecided]);
			// One relay is enough for all rounds.
			assert!(if asks { paid == 0 } else { paid >= 6 * ABSENCE });
		});
	}
}

/// Nobody can ask for rows that no rescue carries, so who lacks them pays nothing, whatever the states are.
#[test]
fn who_lacks_rows_that_nothing_carries_pays_nothing() {
	for rows_fit in [true, false] {
		run(|| {
			let seats = large_state_after(&[Say::Gone, Say::Gone, Say::Yes], STORAGE);
			if !rows_fit {
				let rows = SIZES.sum([SIZES.all_rows()], &view().groups[0].result, &[]);
				MaxRescue::set(rows.min(SIZES.state) - 1);
			}
			tick_until(|phase| !is_standing(phase));
			let bonds: Vec<u128> = seats.iter().map(|who| BOND - bond_of(*who)).collect();
			let paid = if rows_fit { ABSENCE } else { 0 };
			assert_eq!(bonds, [paid, paid, 0]);
		});
	}
}

/// Of two results none is accepted while both stand, and where nobody lacked anything nobody has to ask: another
/// committee is drawn at once.
#[test]
fn what_nobody_can_mend_by_asking_does_not_stand() {
	let gone = |groups| vec![Act::Speak(vec![Say::Gone; groups]); 3];
	for (groups, acts, stands) in
		[(1, gone(1), true), (2, gone(2), false), (1, vec![Act::Vanish; 3], false)]
	{
		run(|| {
			bonded(3);
			open(groups, 3);
			MaxRescue::set(SIZES.state - 1);
			round(&acts);
			let round = u32::from(!stands);
			assert_eq!((view().round, is_standing(&view().phase)), (round, stands));
		});
	}
}

/// Whoever asks has it after that, or the result is lost. An honest seat that asks pays nothing.
#[test]
fn who_asks_need_not_say_so() {
	for stores in [true, false] {
		run(|| {
			bonded(3);
			open(1, 3);
			tick_until(is_committing);
			let seats = committee();
			assert_ok!(ask(seats[0], 0, &[Piece::State(SEGMENTS)]));
			tick_until(is_rescue);
			if stores {
				assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
				tick_until(is_committing);
				// What it asked for is there: it says all the same that it is not.
				round(&[speak(Say::Gone), speak(Say::Yes), speak(Say::Yes)]);
			}
			let decision = if stores { Decision::Accepted } else { Decision::Unavailable };
			assert_eq!(finish().0, [decision]);
			let paid = if stores { ABSENCE } else { 0 };
			assert_eq!(bond_of(seats[0]), BOND - paid);
		});
	}
}

/// Of several results a seat accuses as many as its bond covers, and says nothing of the rest.
#[test]
fn who_accuses_one_may_say_nothing_of_another() {
	for (says, paid) in [([Say::No, Say::Gone], 0), ([Say::Yes, Say::Gone], ABSENCE)] {
		run(|| {
			bonded(3);
			open(2, 3);
			tick_until(is_committing);
			let both = vec![Say::Yes, Say::Yes];
			let acts = [says.to_vec(), both.clone(), both].map(Act::Speak);
			let seats = round(&acts);
			assert_eq!(bond_of(seats[0]), BOND - paid);
			// It still answers for what it said of the other result.
			let locked = entry(seats[0]).locked;
			assert_eq!(locked, STAKE - paid);
			if says[0] == Say::No {
				disputes().into_iter().for_each(|id| convict(id, true));
			} else {
				convict(sue(VERIFIERS[5], of_seat(seats[0], TRAINERS[0], 0)), true);
				assert_eq!(bond_of(seats[0]), BOND - paid - STAKE);
			}
			finish();
			assert_eq!(entry(seats[0]).locked, 0);
		});
	}
}
