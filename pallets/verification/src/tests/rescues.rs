//! What seats lack: given by others, stored on chain, or lost. What they claim for it: `claims`.

use crate::{mock::*, Error, Event, HoldReason, H256};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::DispatchError;
use trainyard_protocol::audit::{AuditPhase, Decision, Piece, Pieces};

pub(super) const BLOB: H256 = H256([77; 32]);
pub(super) const OTHER: H256 = H256([78; 32]);
/// Blocks for storing what a seat asks for: its bytes take one.
const WINDOW: u32 = RESCUE + 1;

/// An audit of that many results by three seats, who can commit.
pub(super) fn seated(groups: usize) -> Vec<AccountId> {
	bonded(3);
	open(groups, 3);
	tick_until(is_committing);
	committee()
}

/// The first seat asks for these pieces of the only result, and nobody gives them to it.
pub(super) fn window(pieces: &[Piece]) -> Vec<AccountId> {
	window_of(|| pieces.to_vec())
}

/// The first seat asks for what `pieces` returns once the segments are drawn.
pub(super) fn window_of(pieces: impl Fn() -> Vec<Piece>) -> Vec<AccountId> {
	let seats = seated(1);
	assert_ok!(ask(seats[0], 0, &pieces()));
	tick_until(is_rescue);
	seats
}

pub(super) fn speak(say: Say) -> Act {
	Act::Speak(vec![say])
}

pub(super) fn withdraw(who: AccountId, group: u32) -> sp_runtime::DispatchResult {
	Verification::withdraw_request(RuntimeOrigin::signed(who), JOB, group)
}

pub(super) fn prepaid(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::Claim.into(), &who)
}

pub(super) fn until() -> u32 {
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

/// A co-replica that names garbage names it for itself alone, and is not paid for the other's bytes.
#[test]
fn each_trainer_of_a_result_names_its_own_blob() {
	run(|| {
		window_of_two();
		BlobSize::set(2);
		assert_ok!(upload(TRAINERS[1], TRAINERS[0], 0, OTHER));
		assert_noop!(store(TRAINERS[1], TRAINERS[0], 0, BLOB), Error::<Test>::AlreadyRescued);
		assert!(Progressed::get().is_empty(), "the other one has its time");
		BlobSize::set(1_000);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		assert_eq!(view().groups[0].rescued, vec![BLOB, OTHER]);
		round(&vec![speak(Say::Yes(1)); 3]);
		// Who stores two bytes takes nothing of the other's.
		assert_eq!(Owed::get(), [(TRAINERS[1], 2 * BYTE / 2), (TRAINERS[0], 1_000 * BYTE / 2)]);
	});
}

/// An audit of one result that two trainers revealed, in the window for what it reads.
fn window_of_two() {
	bonded(3);
	let mut request = request(1, 3);
	request.groups[0].1 = vec![TRAINERS[0], TRAINERS[1]];
	<Verification as trainyard_traits::Audits<_>>::open(JOB, request).unwrap();
	Due::set(Some(System::block_number() as u32 + 1));
	tick_until(is_committing);
	assert_ok!(ask(committee()[0], 0, &everything(0)));
	tick_until(is_rescue);
}

/// Withholding is no business: a blob that was there before, or that others bring, is not paid.
#[test]
fn a_trainer_is_paid_for_what_it_stored_and_for_nothing_else() {
	run(|| {
		window_of_two();
		// Its own, of another job.
		Stored::set(vec![BLOB]);
		assert_ok!(store(TRAINERS[0], TRAINERS[0], 0, BLOB));
		// Announced while another one was storing it; nor does a second word begin another count.
		assert_ok!(store(TRAINERS[1], TRAINERS[0], 0, OTHER));
		bring(TRAINERS[0], OTHER, 1_000);
		assert_ok!(store(TRAINERS[1], TRAINERS[0], 0, OTHER));
		Stored::mutate(|stored| stored.push(OTHER));
		assert_ok!(store(TRAINERS[1], TRAINERS[0], 0, OTHER));
		tick_until(is_committing);
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Outcome::get().unwrap().0, [Decision::Accepted]);
		assert_eq!(Owed::get(), []);
		assert!(Brought::get().is_empty());
	});
}

/// Replicas have the same states, so everybody can foresee the root of an archive. Whoever announces or
/// registers it first takes nothing of who brings it, and those who bring it together share.
#[test]
fn one_blob_of_two_trainers_is_paid_by_what_each_brought() {
	let half = 1_000 * BYTE / 2;
	let first = (TRAINERS[0], half);
	let shared = vec![(TRAINERS[0], half * 6 / 10), (TRAINERS[1], half * 4 / 10)];
	for (bytes, owed) in [(1_000, vec![first]), (600, shared)] {
		run(|| {
			window_of_two();
			for who in [TRAINERS[1], TRAINERS[0]] {
				assert_ok!(store(who, TRAINERS[0], 0, BLOB));
			}
			bring(TRAINERS[0], BLOB, bytes);
			bring(TRAINERS[1], BLOB, 1_000 - bytes);
			Stored::set(vec![BLOB]);
			for who in [TRAINERS[1], TRAINERS[0]] {
				assert_ok!(store(who, TRAINERS[0], 0, BLOB));
			}
			tick_until(is_committing);
			round(&vec![speak(Say::Yes(1)); 3]);
			let mut paid = Owed::get();
			paid.sort_by_key(|(_, amount)| core::cmp::Reverse(*amount));
			assert_eq!(paid, owed);
			assert!(Brought::get().is_empty() && Expected::get().is_empty());
		});
	}
}

/// Whatever a co-replica stores beside it, an honest trainer has its half; and nobody is paid for more
/// bytes than were asked for, though the index of an archive may take some.
#[test]
fn garbage_beside_the_states_takes_nothing_of_what_they_are_paid() {
	run(|| {
		window_of_two();
		let most = SIZES.sum(everything(0), SEGMENTS);
		BlobSize::set(most);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		assert_ok!(upload(TRAINERS[1], TRAINERS[0], 0, OTHER));
		tick_until(is_committing);
		round(&vec![speak(Say::Yes(1)); 3]);
		let half = u128::from(most) * BYTE / 2;
		assert_eq!(Owed::get(), [(TRAINERS[0], half), (TRAINERS[1], half)]);
	});
	run(|| {
		window(&[Piece::Files]);
		BlobSize::set(SIZES.files + SIZES.manifest);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		round(&vec![speak(Say::Yes(1)); 3]);
		assert_eq!(Owed::get(), [(TRAINERS[0], u128::from(SIZES.files) * BYTE / 2)]);
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
