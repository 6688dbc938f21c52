//! What seats lack: asked for, given by others, stored on chain, or lost.

use crate::{mock::*, Claims, Error, Event, HoldReason, H256};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::{DispatchError, TokenError};
use trainyard_protocol::audit::{AuditPhase, Decision, Piece, Pieces};

const BLOB: H256 = H256([77; 32]);
const OTHER: H256 = H256([78; 32]);
/// Blocks for storing what a seat asks for: its bytes take one.
const WINDOW: u32 = RESCUE + 1;

/// An audit of that many results by three seats, who can commit.
fn seated(groups: usize) -> Vec<AccountId> {
	bonded(3);
	open(groups, 3);
	tick_until(is_committing);
	committee()
}

/// The first seat asks for these pieces of the only result, and nobody gives them to it.
fn window(pieces: &[Piece]) -> Vec<AccountId> {
	window_of(|| pieces.to_vec())
}

/// The first seat asks for what `pieces` returns once the segments are drawn.
fn window_of(pieces: impl Fn() -> Vec<Piece>) -> Vec<AccountId> {
	let seats = seated(1);
	assert_ok!(ask(seats[0], 0, &pieces()));
	tick_until(is_rescue);
	seats
}

fn speak(say: Say) -> Act {
	Act::Speak(vec![say])
}

fn withdraw(who: AccountId, group: u32) -> sp_runtime::DispatchResult {
	Verification::withdraw_request(RuntimeOrigin::signed(who), JOB, group)
}

fn prepaid(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::Claim.into(), &who)
}

fn until() -> u32 {
	match view().phase {
		AuditPhase::Committing { until } | AuditPhase::Rescue { until } => until,
		phase => panic!("{phase:?} has no end"),
	}
}

#[test]
fn the_committee_that_lacked_something_goes_on_over_the_same_segments() {
	run(|| {
		let seats = seated(1);
		let before = drawn();
		let now = System::block_number() as u32;
		let pieces = everything(0);
		assert_ok!(ask(seats[1], 0, &pieces));
		let asked: Pieces = pieces.clone().try_into().unwrap();
		let (verifier, end) = (seats[1], now + RELAY);
		System::assert_last_event(
			Event::Asked { job: JOB, group: 0, verifier, pieces: asked, prepaid: 0, until: end }
				.into(),
		);
		assert_eq!(view().groups[0].asked, pieces);
		assert_eq!(until(), end + COMMIT, "who gets it from others must still replay it");
		tick_until(is_rescue);
		assert_eq!(System::block_number() as u32, end + 1);
		assert_eq!(until(), end + 1 + WINDOW);
		// Nobody else draws, and nobody was slashed.
		assert_eq!(committee(), seats);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		System::assert_last_event(
			Event::Rescued { job: JOB, group: 0, blob: BLOB, trainer: TRAINERS[0] }.into(),
		);
		assert_eq!(Progressed::get(), vec![JOB]);
		tick();
		assert_eq!((view().round, committee(), drawn()), (0, seats.clone(), before));
		assert_eq!(until(), System::block_number() as u32 + COMMIT);
		let group = &view().groups[0];
		assert_eq!((group.rescued.clone(), group.asked.clone()), (vec![BLOB], vec![]));
		assert_eq!(Expected::get(), vec![BLOB], "it stays while the audit runs");
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Outcome::get(), Some((vec![Decision::Accepted], seats)));
		// Half of the price of its 1,000 bytes, by the escrow.
		assert_eq!(Owed::get(), [(TRAINERS[0], 1_000 * BYTE / 2)]);
		assert!(Expected::get().is_empty());
	});
}

/// A cheat that serves nobody, or only some, gets no second draw: of ten honest seats and five of its
/// own, the same sit after the window.
#[test]
fn a_trainer_that_withholds_gets_no_second_committee() {
	for stores in [true, false] {
		run(|| {
			let seats = seated(1);
			let (honest, own) = (seats[0], seats[2]);
			assert_ok!(ask(honest, 0, &everything(0)));
			tick_until(is_rescue);
			if stores {
				assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
				tick_until(is_committing);
				assert_eq!((view().round, committee()), (0, seats.clone()));
				assert!(committee().contains(&own));
				round(&[speak(Say::No), speak(Say::No), speak(Say::Yes(1))]);
				assert_eq!(Outcome::get().unwrap().0, vec![Decision::Rejected]);
				assert_eq!(Owed::get(), [], "what was stored for a false result is not paid");
			} else {
				while Outcome::get().is_none() {
					tick();
				}
				assert_eq!(view().round, 0);
				// What a seat did meanwhile nobody knows: all earned the fee.
				assert_eq!(Outcome::get(), Some((vec![Decision::Unavailable], seats.clone())));
				assert!(seats.iter().all(|who| bond_of(*who) == BOND));
			}
		});
	}
}

/// A word that is not backed by a claim decides nothing and earns nothing.
#[test]
fn who_asks_for_nothing_cannot_say_that_it_was_not_there() {
	run(|| {
		let seats = seated(1);
		round(&[speak(Say::Gone), speak(Say::Gone), speak(Say::Yes(1))]);
		assert_eq!((Outcome::get(), view().round), (None, 1));
		round(&vec![speak(Say::Yes(1)); 3]);
		let (decisions, fees) = Outcome::get().unwrap();
		assert_eq!((decisions, fees.len()), (vec![Decision::Accepted], 4));
		assert!(seats.iter().all(|who| bond_of(*who) == BOND));
	});
}

#[test]
fn what_was_stored_and_is_of_no_use_is_unavailable() {
	run(|| {
		let seats = window_of(|| everything(0));
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		// Another seat that lacks it says so, and asks nobody to store it again.
		assert_ok!(ask(seats[1], 0, &everything(0)));
		System::assert_last_event(
			Event::StoredInVain { job: JOB, group: 0, verifier: seats[1] }.into(),
		);
		assert!(view().groups[0].asked.is_empty() && prepaid(seats[1]) == 0);
		round(&[speak(Say::Gone), speak(Say::Gone), speak(Say::Yes(1))]);
		assert_eq!(Outcome::get(), Some((vec![Decision::Unavailable], seats)));
		assert_eq!(Owed::get(), []);
	});
}

/// One seat asks for a piece that nobody needs, and the trainer stores it. What other machines could
/// not do for reasons of their own is no word against the trainer, and no help to a minority that
/// rejects.
#[test]
fn one_claim_does_not_make_the_troubles_of_others_count() {
	run(|| {
		let seats = window(&[Piece::Searched]);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		// Whoever lacks more can ask for it still.
		assert_ok!(ask(seats[1], 0, &everything(0)));
		assert!(!view().groups[0].asked.contains(&Piece::Searched));
		assert_ok!(withdraw(seats[1], 0));
		round(&[speak(Say::No), speak(Say::Gone), speak(Say::Gone)]);
		assert_eq!((Outcome::get(), view().round), (None, 1));
		assert!(seats.iter().all(|who| bond_of(*who) == BOND));
	});
}

/// The first claim is free until it must be stored; the next one is not, and nobody gets it back.
#[test]
fn asking_for_what_was_there_costs_its_bytes() {
	run(|| {
		let seats = seated(1);
		let who = seats[0];
		let pieces = [Piece::Files, Piece::State(SEGMENTS)];
		assert_ok!(ask(who, 0, &pieces));
		assert_noop!(ask(who, 0, &[Piece::Manifest]), Error::<Test>::AlreadyAsked);
		assert_ok!(withdraw(who, 0));
		System::assert_last_event(
			Event::RequestWithdrawn { job: JOB, group: 0, verifier: who, paid: 0 }.into(),
		);
		assert!(view().groups[0].asked.is_empty());
		assert_noop!(withdraw(who, 0), Error::<Test>::NotAsked);
		assert_ok!(ask(who, 0, &pieces));
		let price = (SIZES.files + SIZES.state) as u128 * BYTE;
		assert_eq!(prepaid(who), price);
		assert_ok!(withdraw(who, 0));
		// As much as if it had waited until all was stored.
		assert_eq!((prepaid(who), Balances::free_balance(JACKPOT)), (0, 1 + price / 2));
		assert_noop!(ask(who, 0, &pieces), Error::<Test>::TooManyWindows);
		// Nobody was asked to store anything.
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Outcome::get(), Some((vec![Decision::Accepted], seats)));
	});
}

/// Neither the seat that gives what another one asks for nor a trainer is paid for what was there, so
/// no pair of them gains.
#[test]
fn an_asker_and_its_friend_only_lose() {
	run(|| {
		let seats = seated(1);
		let wealth = |who: &AccountId| Balances::free_balance(who) + prepaid(*who);
		let before: u128 = seats[..2].iter().chain(&TRAINERS).map(wealth).sum();
		for _ in 0..2 {
			assert_ok!(ask(seats[0], 0, &everything(0)));
			assert_ok!(withdraw(seats[0], 0));
		}
		let after: u128 = seats[..2].iter().chain(&TRAINERS).map(wealth).sum();
		let all: u128 = everything(0).iter().map(|p| u128::from(SIZES.of(*p, SEGMENTS))).sum();
		assert_eq!(before - after, all * BYTE / 2);
	});
}

/// Of what had to be stored for a second claim the seat pays half, of its own bytes; the rest of
/// what it prepaid returns.
#[test]
fn a_second_claim_pays_half_of_what_was_stored() {
	run(|| {
		let seats = window(&[Piece::Manifest]);
		BlobSize::set(50);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		// What is there it does not pay for again.
		let pieces = [Piece::Manifest, Piece::State(SEGMENTS)];
		let price = u128::from(SIZES.state) * BYTE;
		assert_ok!(ask(seats[0], 0, &pieces));
		assert_eq!(prepaid(seats[0]), price);
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
		let seats = seated(1);
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		assert_ok!(withdraw(seats[0], 0));
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		assert_ok!(ask(seats[1], 0, &[Piece::Files]));
		let money = Balances::free_balance(seats[0]) + prepaid(seats[0]);
		tick_until(is_rescue);
		BlobSize::set(200);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!((prepaid(seats[0]), Balances::free_balance(seats[0])), (0, money));
		assert_eq!(Owed::get(), [(TRAINERS[0], 200 * BYTE / 2)]);
	});
}

/// What is stored for nobody's second claim is returned, where nobody stored it.
#[test]
fn who_asked_in_vain_gets_back_what_it_prepaid() {
	run(|| {
		let seats = seated(1);
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		assert_ok!(withdraw(seats[0], 0));
		let free = Balances::free_balance(seats[0]);
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
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
		assert_eq!(Owed::get(), [(TRAINERS[0], 250 * BYTE / 2)]);
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

/// A co-replica that names garbage names it for itself alone, and is not paid for the other's bytes.
#[test]
fn each_trainer_of_a_result_names_its_own_blob() {
	run(|| {
		bonded(3);
		let mut request = request(1, 3);
		request.groups[0].1 = vec![TRAINERS[0], TRAINERS[1]];
		<Verification as trainyard_traits::Audits<_>>::open(JOB, request).unwrap();
		Due::set(Some(System::block_number() as u32 + 1));
		tick_until(is_committing);
		let seats = committee();
		assert_ok!(ask(seats[0], 0, &everything(0)));
		tick_until(is_rescue);
		BlobSize::set(2);
		assert_ok!(upload(TRAINERS[1], TRAINERS[0], 0, OTHER));
		assert_noop!(store(TRAINERS[1], TRAINERS[0], 0, BLOB), Error::<Test>::AlreadyRescued);
		assert!(Progressed::get().is_empty(), "the other one has its time");
		BlobSize::set(1_000);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		assert_eq!(view().groups[0].rescued, vec![BLOB, OTHER]);
		round(&vec![speak(Say::Yes(1)); 3]);
		// Each by its part of all bytes: who names two takes nothing of the other's.
		let half = 1_000 * BYTE / 2;
		assert_eq!(Owed::get(), [(TRAINERS[0], half * 1_000 / 1_002)]);
	});
}

/// Withholding is no business: a blob that was there before, or is somebody else's, is not paid.
#[test]
fn a_trainer_is_paid_for_what_it_stored_and_for_nothing_else() {
	run(|| {
		bonded(3);
		let mut request = request(1, 3);
		request.groups[0].1 = vec![TRAINERS[0], TRAINERS[1]];
		<Verification as trainyard_traits::Audits<_>>::open(JOB, request).unwrap();
		Due::set(Some(System::block_number() as u32 + 1));
		tick_until(is_committing);
		assert_ok!(ask(committee()[0], 0, &everything(0)));
		tick_until(is_rescue);
		// Its own, of another job.
		Stored::set(vec![BLOB]);
		Owners::mutate(|owners| owners.insert(BLOB, TRAINERS[0]));
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		// Announced while another one was storing it.
		assert_ok!(store(TRAINERS[1], TRAINERS[0], 0, OTHER));
		Stored::mutate(|stored| stored.push(OTHER));
		Owners::mutate(|owners| owners.insert(OTHER, TRAINERS[0]));
		assert_ok!(store(TRAINERS[1], TRAINERS[0], 0, OTHER));
		tick_until(is_committing);
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Outcome::get().unwrap().0, [Decision::Accepted]);
		assert_eq!(Owed::get(), []);
	});
	// Everybody can foresee the root of an archive, and register it before its trainer does.
	run(|| {
		window_of(|| everything(0));
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		Stored::set(vec![BLOB]);
		Owners::mutate(|owners| owners.insert(BLOB, 10));
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Owed::get(), [(TRAINERS[0], 1_000 * BYTE / 2)]);
	});
}

/// Roots that were made up have no leaves.
#[test]
fn a_rescue_leads_to_the_revealed_root() {
	run(|| {
		window(&[Piece::Manifest, Piece::State(SEGMENTS)]);
		Stored::set(vec![BLOB]);
		let wrong = Error::<Test>::WrongLeaves;
		assert_noop!(store(TRAINERS[0], TRAINERS[1], 0, BLOB), wrong);
		let signed = || RuntimeOrigin::signed(TRAINERS[0]);
		let few = leaves(TRAINERS[0], &[]);
		let wrong = Error::<Test>::WrongLeaves;
		assert_noop!(Verification::rescue(signed(), JOB, 0, BLOB, few), wrong);
		let wrong = Error::<Test>::WrongLeaves;
		let more = leaves(TRAINERS[0], &[Piece::State(0), Piece::State(SEGMENTS)]);
		assert_noop!(Verification::rescue(signed(), JOB, 0, BLOB, more), wrong);
		// And so for a blob that is only announced.
		let wrong = Error::<Test>::WrongLeaves;
		assert_noop!(store(TRAINERS[0], TRAINERS[1], 0, OTHER), wrong);
		BlobSize::set(SIZES.manifest + SIZES.state + 1);
		assert_noop!(store(TRAINERS[0], TRAINERS[0], 0, BLOB), Error::<Test>::RescueTooLarge);
		BlobSize::set(SIZES.manifest + SIZES.state);
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
	});
}

/// Blocks have room for what was announced, and wait for it while they are full.
#[test]
fn a_rescue_that_is_announced_has_room_and_time() {
	run(|| {
		window(&[Piece::Files]);
		let last = until();
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, OTHER));
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		assert_eq!(Expected::get(), vec![BLOB], "the last word counts");
		System::assert_last_event(
			Event::RescueAnnounced { job: JOB, group: 0, blob: BLOB, trainer: TRAINERS[0] }.into(),
		);
		assert!(view().groups[0].rescued.is_empty());
		FullBlocks::set(5);
		while System::block_number() < u64::from(last + 4) {
			tick();
		}
		assert_eq!(view().phase, AuditPhase::Rescue { until: last + 5 });
		BlobSize::set(250);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		assert_eq!(Expected::get(), vec![BLOB], "the committee needs it");
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Outcome::get().unwrap().0, vec![Decision::Accepted]);
		assert!(Expected::get().is_empty());
	});
}

/// Nobody keeps an announcement out by filling blocks, and nobody an audit for ever.
#[test]
fn a_rescue_waits_while_blocks_are_full_and_not_for_ever() {
	for announced in [false, true] {
		run(|| {
			window(&[Piece::Files]);
			let last = u64::from(until());
			if announced {
				assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
			}
			FullBlocks::set(1_000_000);
			while Outcome::get().is_none() {
				tick();
			}
			assert_eq!(System::block_number(), last + 3 * u64::from(WINDOW) + 1);
			assert!(Expected::get().is_empty());
		});
	}
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
		assert_ok!(withdraw(seats[0], 0));
		// A second one needs its price.
		let rest = Balances::free_balance(seats[0]);
		assert_ok!(Balances::transfer_allow_death(
			RuntimeOrigin::signed(seats[0]),
			JACKPOT,
			rest - 10
		));
		assert_noop!(ask(seats[0], 0, &files), TokenError::FundsUnavailable);
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

#[test]
fn rescues_have_conditions() {
	run(|| {
		Stored::set(vec![BLOB]);
		BlobSize::set(10);
		let none = leaves(TRAINERS[0], &[]);
		let call = |who, group| {
			Verification::rescue(RuntimeOrigin::signed(who), JOB, group, BLOB, none.clone())
		};
		assert_noop!(call(TRAINERS[0], 0), Error::<Test>::NoAudit);
		let seats = seated(2);
		assert_noop!(call(TRAINERS[0], 0), Error::<Test>::NotRescuing);
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		tick_until(is_rescue);
		assert_noop!(
			Verification::rescue(RuntimeOrigin::none(), JOB, 0, BLOB, none.clone()),
			DispatchError::BadOrigin
		);
		for group in [2, u32::MAX] {
			assert_noop!(call(TRAINERS[0], group), Error::<Test>::NoSuchGroup);
		}
		for who in [TRAINERS[1], SUBMITTER] {
			assert_noop!(call(who, 0), Error::<Test>::NotTrainer);
		}
		assert_noop!(call(TRAINERS[1], 1), Error::<Test>::NotAsked);
		// Seats wait, too.
		assert_noop!(ask(seats[1], 1, &[Piece::Files]), Error::<Test>::NotCommitting);
		assert_noop!(withdraw(seats[0], 0), Error::<Test>::NotCommitting);
		assert_noop!(commit(seats[0], &findings(&[])), Error::<Test>::NotCommitting);
		let last = u64::from(until());
		System::set_block_number(last + 1);
		assert_noop!(call(TRAINERS[0], 0), Error::<Test>::TooLate);
		System::set_block_number(last);
		assert_ok!(call(TRAINERS[0], 0));
		assert_noop!(call(TRAINERS[0], 0), Error::<Test>::AlreadyRescued);
	});
}

#[test]
fn of_several_results_only_the_one_that_is_not_stored_is_lost() {
	run(|| {
		let seats = seated(3);
		for group in 0..2 {
			assert_ok!(ask(seats[0], group, &[Piece::Files]));
		}
		tick_until(is_rescue);
		BlobSize::set(10);
		assert_ok!(upload(TRAINERS[1], TRAINERS[1], 1, BLOB));
		// The other one's time is not over.
		assert!(Progressed::get().is_empty());
		tick_until(is_committing);
		let open: Vec<_> = view().groups.iter().map(|group| group.decision).collect();
		assert_eq!(open, vec![Some(Decision::Unavailable), None, None]);
		assert_noop!(ask(seats[1], 0, &[Piece::Files]), Error::<Test>::NoSuchGroup);
		round(&vec![Act::Speak(vec![Say::Gone, Say::Yes(1), Say::No]); 3]);
		let decisions = vec![Decision::Unavailable, Decision::Accepted, Decision::Rejected];
		assert_eq!(Outcome::get().unwrap().0, decisions);
	});
}

/// A cheat that had something stored does not keep a draw that it likes: a contradiction draws other
/// segments of both, and what these read can be asked for.
#[test]
fn a_stored_result_has_other_segments_after_a_contradiction() {
	run(|| {
		let seats = seated(2);
		assert_ok!(ask(seats[0], 0, &everything(0)));
		tick_until(is_rescue);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		round(&vec![Act::Speak(vec![Say::Yes(1), Say::Yes(1)]); 3]);
		assert!(drawn().iter().all(Vec::is_empty));
		tick_until(is_committing);
		assert!(drawn().iter().all(|drawn| drawn.len() == 2) && view().round == 1);
		assert_eq!(view().groups[0].rescued, vec![BLOB], "the next round has it still");
		// Manifest, files and the last state are there; the others are of other segments.
		assert_ok!(ask(committee()[0], 0, &everything(0)));
		let asked = &view().groups[0].asked;
		for there in [Piece::Manifest, Piece::Files, Piece::State(SEGMENTS)] {
			assert!(!asked.contains(&there), "{there:?}");
		}
		assert!(asked.contains(&Piece::Searched));
		assert_ok!(withdraw(committee()[0], 0));
		round(&vec![Act::Speak(vec![Say::Yes(1), Say::No]); 3]);
		assert_eq!(Outcome::get().unwrap().0, vec![Decision::Accepted, Decision::Rejected]);
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
		let seats = seated(1);
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		assert_ok!(withdraw(seats[0], 0));
		assert_ok!(ask(seats[0], 0, &[Piece::Files]));
		assert!(prepaid(seats[0]) > 0);
		<Verification as trainyard_traits::Audits<_>>::remove(JOB);
		assert_eq!(prepaid(seats[0]), 0);
	});
}
