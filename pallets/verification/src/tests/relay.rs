//! Pieces that are too large for the chain: what a committee says of them, and what it costs to lie, to
//! vanish, and to ask for nothing.

use crate::{
	claims::Spent, mock::*, AuditRecords, Claims, Error, Event, Fault, HeldRelays, Rechecks,
	Relays, MAX_RELAYS,
};
use frame_support::{assert_noop, assert_ok};
use proptest::prelude::*;
use trainyard_protocol::{
	audit::Decision,
	pieces::Piece,
	relay::{RelayStage, APPEAL_SEATS, LACKING_SEATS, SEATS},
};
use trainyard_traits::{AuditRequest, Audits, MAX_WINDOWS};

mod doubts;
mod money;
mod samples;

const ALL: u128 = RELAY_FEE * SEATS as u128;
const APPEAL: u128 = RELAY_FEE * APPEAL_SEATS as u128;
/// A majority of the first committee.
const MOST: usize = SEATS as usize / 2 + 1;

fn free(who: AccountId) -> u128 {
	Balances::free_balance(who)
}

fn appeal(who: AccountId) {
	assert_ok!(Verification::appeal(RuntimeOrigin::signed(who), 0));
}

fn ask_seats(who: AccountId, seats: &[u32]) -> sp_runtime::DispatchResult {
	let seats = seats.to_vec().try_into().unwrap();
	Verification::ask_seats(RuntimeOrigin::signed(who), 0, seats)
}

/// The numbers of the seats of a relay that have the piece.
fn having(id: u32) -> Vec<u32> {
	let seats = relay_of(id).seats;
	(0u32..).zip(&seats).filter(|(_, seat)| seat.has()).map(|(at, _)| at).collect()
}

fn ended(held: Option<bool>) {
	let wanted = RuntimeEvent::from(Event::RelayEnded { relay: 0, held });
	assert!(System::events().iter().any(|record| record.event == wanted));
}

/// Seats whose word is the answer earn the fee, others nothing, and what they did not earn returns.
#[test]
fn what_a_majority_has_is_held_and_paid_for() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		assert_eq!((free(ASKER), for_relays(ASKER)), (ENDOWMENT - ALL, ALL));
		relay_until(0, is_saying);
		let seats = relay_seats(0);
		assert_eq!(seats.len(), SEATS as usize);
		assert!(seats.iter().all(|who| entry(*who).locked >= STAKE));
		let money: Vec<u128> = seats.iter().map(|who| free(*who)).collect();
		vote(0, 20);
		assert!(is_held(&relay_of(0).stage));
		relay_over(0);
		ended(Some(true));
		let earned: Vec<u128> =
			seats.iter().zip(&money).map(|(who, money)| free(*who) - money).collect();
		assert_eq!(earned, [vec![RELAY_FEE; 20], vec![0; 11]].concat());
		assert_eq!((free(ASKER), for_relays(ASKER)), (ENDOWMENT - 20 * RELAY_FEE, 0));
		assert!(seats.iter().all(|who| entry(*who).load == Default::default()));
		assert_eq!(finish().0, [Decision::Accepted]);
		assert_eq!(Owed::get(), []);
	});
}

/// Where no majority has it after the trainers had time to serve it, the result is lost. Who asked rightly
/// has what it paid back.
#[test]
fn what_no_majority_has_is_lost() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		vote(0, MOST - 1);
		assert!(is_serving(&relay_of(0).stage));
		vote(0, MOST - 1);
		assert!(is_lacking(&relay_of(0).stage));
		let seats = relay_seats(0);
		relay_over(0);
		ended(Some(false));
		// Those who have it earn nothing, though they do: what counts is what all can have.
		let lacked = (SEATS as usize - (MOST - 1)) as u128;
		assert_eq!(free(ASKER), ENDOWMENT - lacked * RELAY_FEE);
		assert!(seats.iter().all(|who| bond_of(*who) == BOND));
		assert_eq!(finish().0, [Decision::Unavailable]);
		assert_eq!(Owed::get(), [(ASKER, lacked * RELAY_FEE)]);
	});
}

#[test]
fn trainers_have_an_hour_to_serve_the_committee() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		vote(0, 3);
		let RelayStage::Serving { until } = relay_of(0).stage else { panic!("it is served") };
		assert_eq!(until, System::block_number() as u32 + HOUR);
		vote(0, SEATS as usize);
		assert!(is_held(&relay_of(0).stage));
		relay_over(0);
		assert_eq!(free(ASKER), ENDOWMENT - ALL, "all of them said it in the end");
		assert_eq!(finish().0, [Decision::Accepted]);
	});
}

/// A word alone is worth nothing: the chunk is drawn after it, another one for each.
#[test]
fn who_says_yes_without_having_it_loses_its_stake() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		relay_until(0, is_saying);
		let seats = relay_seats(0);
		assert_noop!(show_number(seats[0], 0, 0), Error::<Test>::NothingToShow);
		let (last, others) = seats.split_last().unwrap();
		for who in others {
			assert_ok!(say_of(*who, 0, true));
		}
		assert_ok!(say_of(*last, 0, false));
		relay_until(0, is_showing);
		let (first, second) = (due_of(seats[0], 0).unwrap(), due_of(seats[1], 0).unwrap());
		assert_ne!(first, second);
		assert_noop!(show_number(seats[0], 0, second), Error::<Test>::WrongChunk);
		assert_noop!(show_number(ASKER, 0, first), Error::<Test>::NotOnCommittee);
		for who in &others[MOST..] {
			assert_ok!(show_due(*who, 0));
			assert_noop!(show_number(*who, 0, 0), Error::<Test>::NothingToShow);
		}
		relay_until(0, is_serving);
		for who in &seats[..MOST] {
			assert_eq!(bond_of(*who), BOND - STAKE);
			assert_noop!(say_of(*who, 0, true), Error::<Test>::NotSaying);
		}
		let (relay, verifier, fault) = (0, seats[0], Fault::NotShown);
		let lost = Event::RelaySlashed { relay, verifier, amount: STAKE, fault };
		assert!(System::events().iter().any(|r| r.event == lost.clone().into()));
		assert_eq!(free(JACKPOT), 1 + MOST as u128 * STAKE);
		relay_until(0, is_saying);
		assert_noop!(say_of(seats[0], 0, true), Error::<Test>::HasSaid);
		assert_noop!(say_of(others[MOST], 0, false), Error::<Test>::HasSaid);
		// There are too few left for a majority of all seats.
		relay_over(0);
		assert_eq!(finish().0, [Decision::Unavailable]);
	});
}

/// Of two trainers of a result the first is convicted while seats open chunks: what they opened in its bundle
/// counts all the same, and so does what is in the other one.
#[test]
fn a_chunk_is_opened_in_whichever_bundle_a_seat_has() {
	run(|| {
		let mut request = request(1, 3);
		request.groups[0] = group_of(&TRAINERS[..2]);
		large_state_of(request, &[Say::Yes; 3]);
		assert_ok!(ask_relay(ASKER));
		relay_until(0, is_saying);
		let seats = relay_seats(0);
		for who in &seats {
			assert_ok!(say_of(*who, 0, true));
		}
		relay_until(0, is_showing);
		let bundles = [0, 1].map(|at| bundle_by(TRAINERS[0], TRAINERS[at]));
		assert_eq!(view().groups[0].result.bundle_root, bundles[0]);
		convict(sue(VERIFIERS[5], of_trainer(TRAINERS[0])), true);
		assert_eq!(view().groups[0].result.bundle_root, bundles[1], "seats look at the other one");
		for (who, of) in seats.iter().zip(TRAINERS[..2].iter().cycle()) {
			let number = due_of(*who, 0).unwrap();
			// One that nobody delivered is none.
			assert_noop!(show_by(TRAINERS[2], *who, 0, number), Error::<Test>::WrongChunk);
			assert_ok!(show_by(*of, *who, 0, number));
		}
		relay_until(0, is_held);
		assert!(is_held(&relay_of(0).stage));
		assert!(seats.iter().all(|who| bond_of(*who) == BOND));
	});
}

/// It costs what absence from an audit costs, and counts as no.
#[test]
fn who_says_nothing_pays_for_it() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		relay_until(0, is_saying);
		let seats = relay_seats(0);
		for who in &seats[..MOST] {
			assert_ok!(say_of(*who, 0, true));
		}
		relay_until(0, is_showing);
		for who in &seats[..MOST] {
			assert_ok!(show_due(*who, 0));
		}
		relay_until(0, is_held);
		relay_over(0);
		for who in &seats[MOST..] {
			assert_eq!(bond_of(*who), BOND - 5 * RELAY_FEE);
			assert_eq!(entry(*who).view(None).absences, 1);
		}
		let silent = (SEATS as usize - MOST) as u128;
		assert_eq!(free(JACKPOT), 1 + silent * 5 * RELAY_FEE);
		assert_eq!(free(ASKER), ENDOWMENT - MOST as u128 * RELAY_FEE);
		assert_eq!(finish().0, [Decision::Accepted]);
	});
}

/// Who serves nobody though it showed that it has the piece is asked on chain, and loses its stake.
#[test]
fn a_seat_that_has_it_brings_what_it_is_asked_for() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		vote(0, 20);
		let seats = relay_seats(0);
		let before = free(ASKER);
		assert_noop!(ask_seats(ASKER, &[25]), Error::<Test>::NoSuchSeat);
		assert_noop!(ask_seats(ASKER, &[SEATS]), Error::<Test>::NoSuchSeat);
		assert_ok!(ask_seats(ASKER, &[0, 1]));
		assert_eq!(free(ASKER), before - 2 * ASK);
		assert_noop!(ask_seats(ASKER, &[0]), Error::<Test>::AlreadyAsked);
		// Others are asked meanwhile, and their chunks are drawn when these were brought.
		tick();
		assert_ok!(ask_seats(DOUBTER, &[1, 2]));
		assert_eq!(for_relays(DOUBTER), ASK);
		while due_of(seats[0], 0).is_none() {
			tick();
		}
		assert_eq!(due_of(seats[2], 0), None);
		let money = free(seats[0]);
		assert_ok!(show_due(seats[0], 0));
		assert_eq!(free(seats[0]), money + ASK);
		while due_of(seats[2], 0).is_none() {
			tick();
		}
		// The second vanished. What was for it returned.
		assert_eq!((bond_of(seats[1]), free(ASKER)), (BOND - STAKE, before - ASK));
		assert_ok!(show_due(seats[2], 0));
		relay_over(0);
		ended(Some(true));
		assert_eq!(for_relays(DOUBTER), 0);
		assert_eq!(free(ASKER), ENDOWMENT - 19 * RELAY_FEE - ASK);
	});
}

/// A cartel that has a majority and lets its stakes go does not keep an answer by it.
#[test]
fn where_seats_vanish_that_had_it_nobody_has_it() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		vote(0, MOST);
		assert_ok!(ask_seats(ASKER, &having(0)));
		relay_until(0, is_serving);
		assert_eq!(free(JACKPOT), 1 + MOST as u128 * STAKE);
		assert_eq!(for_relays(ASKER), ALL, "the price of chunks is back");
		vote(0, 0);
		relay_over(0);
		assert_eq!(finish().0, [Decision::Unavailable]);
	});
}

/// Nothing waits for who asked.
#[test]
fn an_asker_that_vanishes_holds_nothing_up() {
	run(|| {
		large_state();
		let before = System::block_number() as u32;
		assert_ok!(ask_relay(ASKER));
		vote(0, SEATS as usize);
		relay_over(0);
		assert!(System::block_number() as u32 <= before + 4 * HOUR);
		assert_eq!(finish().0, [Decision::Accepted]);
		assert_eq!((free(ASKER), for_relays(ASKER)), (ENDOWMENT - ALL, 0));
	});
}

/// A job cannot be held for ever, by whom money is nothing.
#[test]
fn relays_are_opened_for_so_many_windows_and_no_longer() {
	run(|| {
		large_state();
		mint(ASKER, 1_000 * ENDOWMENT);
		let from = System::block_number() as u32;
		let mut id = 0;
		loop {
			let now = System::block_number() as u32;
			match ask_relay(ASKER) {
				Ok(()) => assert!(now <= from + MAX_WINDOWS * LENGTH),
				Err(error) => {
					assert_eq!(error, Error::<Test>::TooLate.into());
					assert!(now > from + MAX_WINDOWS * LENGTH - 4 * HOUR);
					break;
				}
			}
			vote(id, SEATS as usize);
			relay_over(id);
			id += 1;
		}
		assert!(id > 5);
		assert_eq!(finish().0, [Decision::Accepted]);
		let now = System::block_number() as u32;
		assert!(now <= from + MAX_WINDOWS * LENGTH + 4 * HOUR + AGAIN);
	});
}

#[test]
fn without_a_committee_nothing_is_said_and_nothing_paid() {
	run(|| {
		large_state();
		let mut away = Vec::new();
		crate::Pool::<Test>::mutate(|pool| {
			for (who, entry) in pool.iter_mut() {
				entry.put(trainyard_protocol::views::Standing::Paused, 1);
				away.push(*who);
			}
		});
		assert_ok!(ask_relay(ASKER));
		relay_over(0);
		ended(None);
		assert_eq!((free(ASKER), for_relays(ASKER)), (ENDOWMENT, 0));
		assert_eq!(HeldRelays::<Test>::get(JOB, 0), 0);
		assert_eq!(finish().0, [Decision::Accepted]);
	});
}

#[test]
fn only_what_is_too_large_is_relayed_and_only_while_results_stand() {
	run(|| {
		large_state();
		let relay = |piece| ask_relay_of(ASKER, piece, u128::MAX);
		assert_noop!(relay(Piece::State(SEGMENTS + 1)), Error::<Test>::NoSuchPiece);
		assert_noop!(relay(Piece::Rows { from: 1, to: 1 }), Error::<Test>::NoSuchPiece);
		assert_noop!(relay(Piece::Leaves), Error::<Test>::NoSuchPiece);
		MaxRescue::set(1 << 30);
		assert_noop!(relay(Piece::Leaves), Error::<Test>::FitsOnChain);
		MaxRescue::set(SIZES.state);
		assert_noop!(relay(PIECE), Error::<Test>::FitsOnChain);
		MaxRescue::set(SIZES.state - 1);
		assert_ok!(relay(PIECE));
		assert_noop!(relay(PIECE), Error::<Test>::AlreadyAsked);
		for at in 1..MAX_RELAYS {
			assert_ok!(relay(Piece::State(at + 3)));
		}
		assert_noop!(relay(Piece::State(2)), Error::<Test>::TooManyRelays);
		assert_eq!(Relays::<Test>::iter().count(), MAX_RELAYS as usize);
		let signed = RuntimeOrigin::signed(ASKER);
		let other = Verification::request_relay(signed, JOB, 1, PIECE, u128::MAX);
		assert_noop!(other, Error::<Test>::NoSuchGroup);
		for id in 0..MAX_RELAYS {
			relay_over(id);
		}
		finish();
		assert_noop!(relay(PIECE), Error::<Test>::NotStanding);
	});
}

/// What was decided meanwhile nobody needs: who spoke is paid, and the rest returns.
#[test]
fn a_result_that_is_convicted_meanwhile_ends_its_relay() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		relay_until(0, is_saying);
		let seats = relay_seats(0);
		for who in &seats[..4] {
			assert_ok!(say_of(*who, 0, false));
		}
		convict(sue(VERIFIERS[5], of_trainer(TRAINERS[0])), true);
		relay_over(0);
		ended(None);
		assert_eq!(free(ASKER), ENDOWMENT - 4 * RELAY_FEE);
		assert!(seats.iter().all(|who| bond_of(*who) == BOND), "nobody was absent");
		assert_eq!(finish().0, [Decision::Rejected]);
	});
}

/// While a relay runs the window is open, and for a while after it.
#[test]
fn the_window_is_open_while_a_relay_runs() {
	run(|| {
		large_state();
		assert_ok!(ask_relay(ASKER));
		let from = System::block_number() as u32;
		vote(0, SEATS as usize);
		while Relays::<Test>::contains_key(0) {
			assert!(is_standing(&view().phase));
			tick();
		}
		let over = System::block_number() as u32;
		assert!(over > from + LENGTH, "longer than the window alone");
		assert!(is_standing(&view().phase));
		finish();
		assert_eq!(System::block_number() as u32, over + AGAIN + 1);
	});
}

/// Who fills blocks lets nobody be late, and nobody holds a relay for ever by it.
#[test]
fn periods_stand_still_while_blocks_have_no_room() {
	for (full, longer) in [(5, 5), (1_000, 3 * HOUR)] {
		run(|| {
			large_state();
			assert_ok!(ask_relay(ASKER));
			relay_until(0, is_saying);
			let RelayStage::Saying { until } = relay_of(0).stage else { panic!("it is drawn") };
			let who = relay_seats(0)[0];
			FullBlocks::mutate(|blocks| *blocks += full);
			assert_eq!(relay_view(0).until, Some(until + longer));
			while (System::block_number() as u32) < until + longer {
				tick();
			}
			assert_ok!(say_of(who, 0, true));
			tick();
			assert_noop!(say_of(who, 0, true), Error::<Test>::NotSaying);
		});
	}
}

/// Neither who is party to the job or judges it, nor who asks or doubts.
#[test]
fn nobody_who_is_concerned_sits_in_a_relay() {
	run(|| {
		large_state();
		let mut concerned = committee();
		concerned.extend([SUBMITTER, TRAINERS[0], VERIFIERS[0], VERIFIERS[1]]);
		for who in VERIFIERS {
			assert_ok!(register(who, BOND));
		}
		assert_ok!(ask_relay(VERIFIERS[0]));
		vote(0, 0);
		vote(0, 0);
		assert!(relay_seats(0).iter().all(|who| !concerned.contains(who)));
		appeal(VERIFIERS[1]);
		relay_until(0, is_saying);
		assert!(relay_seats(0).iter().all(|who| !concerned.contains(who)));
		relay_over(0);
	});
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(6))]
	/// Whatever seats, askers and doubters do, what is held is what was prepaid, and what seats lock is what
	/// they can lose (`do_try_state`, in each block); a relay and its audit end, and no money is left on hold.
	#[test]
	fn whatever_is_done_a_relay_ends_and_the_books_balance(
		acts in proptest::collection::vec((0u8..9, any::<u8>(), any::<bool>()), 30..150),
	) {
		run(|| {
			large_state();
			assert_ok!(ask_relay(ASKER));
			for (act, pick, yes) in acts {
				let Some(relay) = Relays::<Test>::get(0) else { break };
				let seat = relay.seats.get(pick as usize % relay.seats.len().max(1));
				let who = seat.map_or(ASKER, |seat| seat.who);
				let all: Vec<AccountId> = relay.seats.iter().map(|seat| seat.who).collect();
				let _ = match act {
					0 => say_of(who, 0, yes),
					1 => show_number(who, 0, pick.into()),
					2 => ask_seats(if yes { ASKER } else { DOUBTER }, &[u32::from(pick) % 31]),
					3 if pick < 40 => Verification::appeal(RuntimeOrigin::signed(DOUBTER), 0),
					// Nearly all of them.
					4 => all.iter().skip(pick as usize % 4).try_for_each(|who| say_of(*who, 0, yes)),
					5 => all.iter().filter(|who| due_of(**who, 0).is_some()).skip(pick as usize % 3)
						.try_for_each(|who| show_due(*who, 0)),
					_ => {
						(0..=pick % 8).for_each(|_| tick());
						Ok(())
					}
				};
			}
			relay_over(0);
			finish();
			for who in [ASKER, DOUBTER] {
				assert_eq!(for_relays(who), 0);
			}
			assert!(CROWD.into_iter().all(|who| entry(who).load == Default::default()));
		});
	}
}
