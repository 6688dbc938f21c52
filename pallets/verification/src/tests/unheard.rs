//! Who says that it could not have a result, though it could ask for it on chain.

use super::rescues::BLOB;
use crate::{mock::*, AuditRecords, Event, Fault, MAX_WINDOWS};
use frame_support::assert_ok;
use trainyard_protocol::{
	audit::Decision,
	pieces::{Piece, PieceSizes},
};
use trainyard_traits::AuditRequest;

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

/// It is heard where a seat could not ask: all windows are used up.
#[test]
fn who_could_not_ask_is_heard() {
	assert_eq!(cost(|audit| audit.windows = MAX_WINDOWS), 0);
	// Two rescues carry all.
	assert_eq!(cost(|_| MaxRescue::set(10 * SIZES.state)), ABSENCE);
}

/// States of which each is larger than all else that is read.
const LARGE: PieceSizes = PieceSizes { state: 4_000, ..SIZES };

/// What is read is more than the rescues carry for which a seat can ask. Then it is heard if it asked for as much
/// as one carries: one state here, where two are not carried together. What it withdrew does not count.
#[test]
fn who_asked_for_as_much_as_a_rescue_carries_is_heard() {
	let two = 2 * LARGE.state;
	for (room, asks, withdraws, paid) in [
		(two - 1, false, false, ABSENCE),
		(two - 1, true, true, ABSENCE),
		(two - 1, true, false, 0),
		// Here another one would have gone with it.
		(two, true, false, ABSENCE),
	] {
		run(|| {
			bonded(3);
			MaxRescue::set(room);
			open_with(AuditRequest { sizes: LARGE, ..request(1, 3) });
			tick_until(is_committing);
			let seats = committee();
			if asks {
				assert_ok!(ask(seats[0], 0, &[Piece::State(SEGMENTS)]));
				if withdraws {
					assert_ok!(super::rescues::withdraw(seats[0], 0));
				} else {
					tick_until(is_rescue);
					assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
					tick_until(is_committing);
				}
			}
			round(&[speak(Say::Gone), speak(Say::Yes), speak(Say::Yes)]);
			assert_eq!(BOND - bond_of(seats[0]), paid, "{room} {asks} {withdraws}");
			finish();
		});
	}
}

/// Half of the seats that veto so pay in each round, though what is read is more than they can ask for.
#[test]
fn a_veto_of_what_is_more_than_two_rescues_costs_what_absence_does() {
	run(|| {
		bonded(3);
		MaxRescue::set(2 * LARGE.state - 1);
		open_with(AuditRequest { sizes: LARGE, ..request(1, 3) });
		let mut paid = 0;
		for _ in 0..3 {
			let seats = round(&[Say::Gone, Say::Gone, Say::Yes].map(speak));
			paid += seats.iter().map(|who| BOND - bond_of(*who)).sum::<u128>();
			for who in seats {
				crate::Pool::<Test>::mutate(|pool| pool.get_mut(&who).unwrap().absences = 0);
			}
		}
		assert_eq!(finish().0, [Decision::Undecided]);
		assert!(paid >= 6 * ABSENCE, "{paid}");
	});
}

/// A seat may have looked at the bundle of the trainer that is convicted while it replays, and has no time to
/// look at another one. So it pays nothing, whether it says so or names that trainer too late. In the next
/// round it is known who is out.
#[test]
fn who_looked_at_the_bundle_of_a_convict_pays_nothing() {
	for (say, before) in [(Say::Gone, false), (Say::No, false), (Say::Gone, true), (Say::No, true)]
	{
		run(|| {
			bonded(3);
			let groups = vec![group_of(&[TRAINERS[0], TRAINERS[1]])];
			open_with(AuditRequest { groups, ..request(1, 3) });
			if before {
				round(&vec![Act::Vanish; 3]);
			}
			tick_until(is_committing);
			let (seats, first) = (committee(), if before { 1 } else { 0 });
			let had: Vec<u128> = seats.iter().map(|who| bond_of(*who)).collect();
			convict(sue(SUBMITTER, of_trainer(TRAINERS[0])), true);
			assert_eq!(view().round, first);
			for _ in 0..=RELAY {
				tick();
			}
			assert!(is_committing(&view().phase));
			// Its rejection names the first trainer, more than a moment later.
			round(&[speak(say), Act::Vanish, Act::Vanish]);
			let lost: Vec<u128> =
				seats.iter().zip(had).map(|(who, had)| had - bond_of(*who)).collect();
			assert_eq!(lost, [0, ABSENCE, ABSENCE]);
			let had = bond_of(seats[0]);
			if !before {
				// It was out before this committee was drawn.
				let (at, acts) = play_again(seats[0], say);
				let Some(at) = at else { return };
				round(&acts);
				assert_eq!((at < 3, had - bond_of(seats[0])), (true, ABSENCE));
			}
		});
	}
}

/// Returns where `who` sits in the next committee, if it does, and acts in which it alone speaks.
fn play_again(who: AccountId, say: Say) -> (Option<usize>, Vec<Act>) {
	tick_until(is_committing);
	let seats = committee();
	let act = |of: &AccountId| if *of == who { speak(say) } else { Act::Vanish };
	(seats.iter().position(|of| *of == who), seats.iter().map(act).collect())
}

/// Who rejects one result may have no stake for another one. So it is where its own accusation decided the first
/// at once.
#[test]
fn who_rejected_what_was_decided_at_once_is_no_absentee() {
	for flagrant in [false, true] {
		run(|| {
			Flagrant::set(if flagrant { vec![TRAINERS[0]] } else { vec![] });
			bonded(3);
			open(2, 3);
			let both = Act::Speak(vec![Say::Yes, Say::Yes]);
			let seats = round(&[Act::Speak(vec![Say::No, Say::Gone]), both.clone(), both]);
			assert_eq!(view().groups[0].decision.is_some(), flagrant);
			assert_eq!(bond_of(seats[0]), BOND);
			disputes().into_iter().for_each(|id| convict(id, true));
			finish();
			assert_eq!(bond_of(seats[0]), BOND);
		});
	}
}

/// A result that was decided long before a seat committed is nothing that it could reject.
#[test]
fn who_rejects_what_was_decided_long_ago_risks_nothing() {
	run(|| {
		bonded(3);
		open(2, 3);
		tick_until(is_committing);
		let seats = committee();
		convict(sue(SUBMITTER, of_trainer(TRAINERS[0])), true);
		for _ in 0..=RELAY {
			tick();
		}
		let both = Act::Speak(vec![Say::Yes, Say::Yes]);
		round(&[Act::Speak(vec![Say::No, Say::Gone]), both.clone(), both]);
		assert_eq!(BOND - bond_of(seats[0]), ABSENCE);
		finish();
	});
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

/// Rows that no rescue carries are asked of a committee as states are, so who lacks them and asks nobody pays,
/// whatever the states are.
#[test]
fn who_asks_nobody_for_large_rows_is_absent() {
	for (state, asks) in [(100, false), (100, true), (SIZES.state, false)] {
		run(|| {
			let sizes = PieceSizes { state, ..SIZES };
			let request = AuditRequest { sizes, ..request(1, 3) };
			let seats = large_rows_of(request, &[Say::Gone, Say::Gone, Say::Yes]);
			assert!(seats.iter().all(|who| bond_of(*who) == BOND), "it could not ask yet");
			if asks {
				assert_ok!(ask_relay_of(ASKER, ROWS, u128::MAX));
				vote(0, 31);
				relay_over(0);
			}
			tick_until(|phase| !is_standing(phase));
			let bonds: Vec<u128> = seats.iter().map(|who| BOND - bond_of(*who)).collect();
			let paid = if asks { 0 } else { ABSENCE };
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

#[test]
fn what_a_seat_reads_may_be_more_than_its_claims_can_name() {
	run(|| {
		open(1, 3);
		let suffices = || {
			let audit = AuditRecords::<Test>::get(JOB).unwrap();
			Verification::claims_suffice(&audit, &audit.groups[0].result)
		};
		// Two draws, two by duty and where results part: all eleven states of ten segments.
		let result = result_of(TRAINERS[0]);
		let others = SIZES.sum([Piece::Leaves, SIZES.all_rows()], &result, &[]);
		let all = 11 * SIZES.state + others;
		MaxRescue::set(all);
		assert!(suffices());
		// It can begin two windows, and each may leave room for which the next piece is too large.
		let two = all.div_ceil(2) + others.max(SIZES.state);
		MaxRescue::set(two);
		assert!(two < all && suffices());
		MaxRescue::set(two - 1);
		assert!(!suffices());
	});
}
