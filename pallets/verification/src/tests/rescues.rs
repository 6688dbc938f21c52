//! What somebody lacks: given by others, stored on chain, or lost. What it costs: `claims`.

use crate::{mock::*, Error, Event, HoldReason, H256};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::DispatchError;
use trainyard_protocol::audit::{AuditPhase, Decision, Piece};
use trainyard_traits::AuditRequest;

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
	let seats = seated(1);
	assert_ok!(ask(seats[0], 0, pieces));
	tick_until(is_rescue);
	seats
}

pub(super) fn withdraw(who: AccountId, group: u32) -> sp_runtime::DispatchResult {
	Verification::withdraw_request(RuntimeOrigin::signed(who), JOB, group)
}

pub(super) fn prepaid(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::Claim.into(), &who)
}

/// What is held for claims, of everybody.
pub(super) fn claimed() -> u128 {
	VERIFIERS.iter().map(|who| prepaid(*who)).sum()
}

pub(super) fn until() -> u32 {
	match view().phase {
		AuditPhase::Committing { until } | AuditPhase::Rescue { until } => until,
		phase => panic!("{phase:?} has no end"),
	}
}

#[test]
fn the_committee_that_lacked_something_goes_on_by_the_same_draws() {
	run(|| {
		let seats = seated(1);
		let before: Vec<_> = seats.iter().map(|who| wanted(*who, 0)).collect();
		let now = System::block_number() as u32;
		assert_ok!(ask(seats[1], 0, &everything()));
		let end = now + RELAY;
		assert_eq!(view().groups[0].asked, everything());
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
		let after: Vec<_> = seats.iter().map(|who| wanted(*who, 0)).collect();
		assert_eq!((view().round, committee(), after), (0, seats.clone(), before));
		assert_eq!(until(), System::block_number() as u32 + COMMIT);
		let group = &view().groups[0];
		assert_eq!((group.rescued.clone(), group.asked.clone()), (vec![BLOB], vec![]));
		assert_eq!(Expected::get(), vec![BLOB], "it stays while the audit runs");
		round(&vec![speak(Say::Yes); 3]);
		assert_eq!(finish(), (vec![Decision::Accepted], seats));
		assert!(Expected::get().is_empty());
	});
}

/// A trainer that stores nothing of what is asked for loses, and whether a seat was ready nobody knows.
#[test]
fn what_nobody_stores_is_lost() {
	run(|| {
		let seats = window(&everything());
		let money = Balances::free_balance(seats[0]) + prepaid(seats[0]);
		assert_eq!(finish(), (vec![Decision::Unavailable], seats.clone()));
		assert_eq!((view().round, Balances::free_balance(seats[0])), (0, money));
		assert!(seats.iter().all(|who| bond_of(*who) == BOND && entry(*who).locked == 0));
	});
}

/// A co-replica that names garbage names it for itself alone, and is not paid for the other's bytes.
#[test]
fn each_trainer_of_a_result_names_its_own_blob() {
	run(|| {
		window_of_two();
		let free = || [0, 1].map(|at| Balances::free_balance(TRAINERS[at]));
		let before = free();
		BlobSize::set(2);
		assert_ok!(upload(TRAINERS[1], TRAINERS[0], 0, OTHER));
		assert_noop!(store(TRAINERS[1], TRAINERS[0], 0, BLOB), Error::<Test>::AlreadyRescued);
		assert!(Progressed::get().is_empty(), "the other one has its time");
		BlobSize::set(1_000);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		assert_eq!(view().groups[0].rescued, vec![BLOB, OTHER]);
		// Who stores two bytes takes nothing of the other's.
		assert_eq!(free(), [before[0] + 1_000 * BYTE / 2, before[1] + 2 * BYTE / 2]);
	});
}

/// An audit of one result that two trainers revealed, in the window for what it reads.
fn window_of_two() {
	bonded(3);
	let mut request: AuditRequest<AccountId> = request(1, 3);
	request.groups[0].1 = vec![TRAINERS[0], TRAINERS[1]];
	open_with(request);
	tick_until(is_committing);
	assert_ok!(ask(committee()[0], 0, &everything()));
	tick_until(is_rescue);
}

/// Withholding is no business: a blob that was there before, or that others bring, is not paid.
#[test]
fn a_trainer_is_paid_for_what_it_stored_and_for_nothing_else() {
	run(|| {
		window_of_two();
		let (seat, money) = (committee()[0], Balances::free_balance(committee()[0]));
		let whole = money + prepaid(seat);
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
		assert_eq!(Balances::free_balance(seat), whole);
		assert!(Brought::get().is_empty());
	});
}

/// Replicas have the same states, so everybody can foresee the root of an archive. Whoever announces or
/// registers it first takes nothing of who brings it, and those who bring it together share.
#[test]
fn one_blob_of_two_trainers_is_paid_by_what_each_brought() {
	let half = 1_000 * BYTE / 2;
	for (bytes, paid) in [(1_000, [half, 0]), (600, [half * 6 / 10, half * 4 / 10])] {
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
			let has = [0, 1].map(|at| Balances::free_balance(TRAINERS[at]) - ENDOWMENT);
			assert_eq!(has, paid);
			assert!(Brought::get().is_empty());
		});
	}
}

/// Whatever a co-replica stores beside it, an honest trainer has its half; and nobody is paid for more
/// bytes than were asked for, though the index of an archive may take some.
#[test]
fn garbage_beside_the_states_takes_nothing_of_what_they_are_paid() {
	run(|| {
		window_of_two();
		let most = SIZES.sum(everything(), SEGMENTS);
		BlobSize::set(most);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		assert_ok!(upload(TRAINERS[1], TRAINERS[0], 0, OTHER));
		tick_until(is_committing);
		let half = u128::from(most) * BYTE / 2;
		let has = [0, 1].map(|at| Balances::free_balance(TRAINERS[at]) - ENDOWMENT);
		assert_eq!(has, [half, half]);
	});
	run(|| {
		window(&[Piece::Files]);
		BlobSize::set(SIZES.files + SIZES.manifest);
		assert_ok!(upload(TRAINERS[0], TRAINERS[0], 0, BLOB));
		tick_until(is_committing);
		let has = Balances::free_balance(TRAINERS[0]) - ENDOWMENT;
		assert_eq!(has, u128::from(SIZES.files) * BYTE / 2);
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
		round(&vec![speak(Say::Yes); 3]);
		assert_eq!(finish().0, vec![Decision::Accepted]);
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
			finish();
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
		let blind = Verification::commit(RuntimeOrigin::signed(seats[0]), JOB, H256::zero());
		assert_eq!(blind, Err(Error::<Test>::NotCommitting.into()));
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
		round(&vec![Act::Speak(vec![Say::Gone, Say::Yes, Say::No]); 3]);
		convict(disputes()[0], true);
		let decisions = vec![Decision::Unavailable, Decision::Accepted, Decision::Rejected];
		assert_eq!(finish(), (decisions, seats));
	});
}
