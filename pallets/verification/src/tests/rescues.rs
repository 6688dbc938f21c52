//! Results that verifiers could not fetch.

use crate::{mock::*, Error, Event, H256};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::{DispatchError, DispatchResult};
use trainyard_protocol::audit::{AuditPhase, Decision};

const BLOB: H256 = H256([77; 32]);

fn rescue(who: AccountId, group: u32) -> DispatchResult {
	Verification::rescue(RuntimeOrigin::signed(who), JOB, group, BLOB)
}

/// Opens a rescue window for the only group, after a first round.
fn window() -> Vec<AccountId> {
	bonded(3);
	open(1, 3);
	let seats = unanimous(Say::Gone);
	assert!(is_rescue(&view().phase));
	seats
}

#[test]
fn a_rescued_result_is_accepted_over_the_same_segments() {
	run(|| {
		let first = window();
		let until = System::block_number() as u32 + RESCUE;
		System::assert_last_event(Event::RescueOpened { job: JOB, until }.into());
		let before = drawn();
		assert_eq!(before[0].len(), 2);
		assert!(first.iter().all(|who| bond_of(*who) == BOND));

		Stored::set(vec![BLOB]);
		assert_ok!(rescue(TRAINERS[0], 0));
		System::assert_last_event(
			Event::Rescued { job: JOB, group: 0, blob: BLOB, trainer: TRAINERS[0] }.into(),
		);
		assert_eq!(Progressed::get(), vec![JOB]);
		assert_eq!(view().groups[0].rescued, Some(BLOB));
		tick_until(is_committing);
		// The rescued states are of these segments; others could not be replayed.
		assert_eq!((view().round, drawn()), (1, before));
		let second = unanimous(Say::Yes(1));
		let fees: Vec<_> = first.into_iter().chain(second).collect();
		assert_eq!(Outcome::get(), Some((vec![Decision::Accepted], fees)));
	});
}

/// Blocks have room for what was announced, and wait for it while they are full.
#[test]
fn a_rescue_that_is_announced_has_room_and_time() {
	run(|| {
		window();
		let last = System::block_number() as u32 + RESCUE;
		for group in [1, u32::MAX] {
			assert_noop!(rescue(TRAINERS[0], group), Error::<Test>::NoSuchGroup);
		}
		assert_noop!(rescue(SUBMITTER, 0), Error::<Test>::NotTrainer);
		let signed = RuntimeOrigin::signed(TRAINERS[0]);
		assert_ok!(Verification::rescue(signed, JOB, 0, H256([5; 32])));
		assert_ok!(rescue(TRAINERS[0], 0));
		assert_ok!(rescue(TRAINERS[0], 0));
		assert_eq!(Expected::get(), vec![BLOB], "the last word counts");
		System::assert_last_event(
			Event::RescueAnnounced { job: JOB, group: 0, blob: BLOB, trainer: TRAINERS[0] }.into(),
		);
		assert_eq!(view().groups[0].rescued, None);
		FullBlocks::set(5);
		while System::block_number() < u64::from(last + 4) {
			tick();
		}
		assert_eq!(view().phase, AuditPhase::Rescue { until: last + 5 });
		Stored::set(vec![BLOB]);
		assert_ok!(rescue(TRAINERS[0], 0));
		tick_until(is_committing);
		assert_eq!(Expected::get(), vec![BLOB], "the next committee needs it");
		unanimous(Say::Yes(1));
		assert_eq!(Outcome::get().unwrap().0, vec![Decision::Accepted]);
		assert!(Expected::get().is_empty());
	});
}

#[test]
fn a_rescue_that_nobody_announced_gets_no_time_and_another_not_for_ever() {
	run(|| {
		window();
		let last = System::block_number() + u64::from(RESCUE);
		FullBlocks::set(1_000_000);
		while Outcome::get().is_none() {
			tick();
		}
		assert_eq!(System::block_number(), last + 1);
	});
	run(|| {
		window();
		let last = System::block_number() + u64::from(RESCUE);
		assert_ok!(rescue(TRAINERS[0], 0));
		FullBlocks::set(1_000_000);
		while Outcome::get().is_none() {
			tick();
		}
		assert_eq!(System::block_number(), last + 3 * u64::from(RESCUE) + 1);
		assert!(Expected::get().is_empty());
	});
}

#[test]
fn without_rescue_it_is_unavailable() {
	run(|| {
		let seats = window();
		let last = System::block_number() + u64::from(RESCUE);
		while Outcome::get().is_none() {
			tick();
		}
		assert_eq!(System::block_number(), last + 1);
		assert_eq!(Outcome::get(), Some((vec![Decision::Unavailable], seats)));
	});
}

#[test]
fn a_rescue_that_helps_nobody_is_unavailable() {
	run(|| {
		window();
		Stored::set(vec![BLOB]);
		assert_ok!(rescue(TRAINERS[0], 0));
		unanimous(Say::Gone);
		let (decisions, fees) = Outcome::get().unwrap();
		assert_eq!((decisions, fees.len()), (vec![Decision::Unavailable], 6));
	});
}

#[test]
fn a_rescued_cheat_is_rejected() {
	run(|| {
		window();
		Stored::set(vec![BLOB]);
		assert_ok!(rescue(TRAINERS[0], 0));
		unanimous(Say::No);
		assert_eq!(Outcome::get().unwrap().0, vec![Decision::Rejected]);
	});
}

#[test]
fn rescues_have_conditions() {
	run(|| {
		Stored::set(vec![BLOB]);
		assert_noop!(rescue(TRAINERS[0], 0), Error::<Test>::NoAudit);
		bonded(3);
		open(2, 3);
		assert_noop!(rescue(TRAINERS[0], 0), Error::<Test>::NotRescuing);
		round(&vec![Act::Speak(vec![Say::Gone, Say::No]); 3]);
		assert!(is_rescue(&view().phase));
		assert_noop!(
			Verification::rescue(RuntimeOrigin::none(), JOB, 0, BLOB),
			DispatchError::BadOrigin
		);
		assert_noop!(rescue(TRAINERS[0], 2), Error::<Test>::NoSuchGroup);
		assert_noop!(rescue(TRAINERS[0], u32::MAX), Error::<Test>::NoSuchGroup);
		assert_noop!(rescue(TRAINERS[1], 0), Error::<Test>::NotTrainer);
		assert_noop!(rescue(SUBMITTER, 0), Error::<Test>::NotTrainer);
		assert_noop!(rescue(TRAINERS[1], 1), Error::<Test>::NotAsked);

		let last = System::block_number() + u64::from(RESCUE);
		System::set_block_number(last + 1);
		assert_noop!(rescue(TRAINERS[0], 0), Error::<Test>::TooLate);
		System::set_block_number(last);
		assert_ok!(rescue(TRAINERS[0], 0));
		assert_noop!(rescue(TRAINERS[0], 0), Error::<Test>::AlreadyRescued);
	});
}

#[test]
fn only_the_rescued_of_several_gets_another_round() {
	run(|| {
		bonded(3);
		open(3, 3);
		round(&vec![Act::Speak(vec![Say::Gone, Say::Gone, Say::No]); 3]);
		Stored::set(vec![BLOB]);
		assert_ok!(rescue(TRAINERS[1], 1));
		// The other one's time is not over.
		assert!(Progressed::get().is_empty());
		tick_until(is_committing);
		let open: Vec<_> = view().groups.iter().map(|group| group.decision).collect();
		assert_eq!(open, vec![Some(Decision::Unavailable), None, Some(Decision::Rejected)]);
		round(&vec![Act::Speak(vec![Say::Gone, Say::Yes(1), Say::Gone]); 3]);
		let decisions = vec![Decision::Unavailable, Decision::Accepted, Decision::Rejected];
		assert_eq!(Outcome::get().unwrap().0, decisions);
	});
}

/// A split group waits with the others for the rescue, then both are asked about again.
#[test]
fn a_split_group_shares_the_round_behind_a_rescue() {
	run(|| {
		bonded(3);
		open(2, 3);
		let split = [Say::Yes(1), Say::No, Say::Yes(2)];
		round(&split.clone().map(|say| Act::Speak(vec![Say::Gone, say])));
		assert!(is_rescue(&view().phase));
		Stored::set(vec![BLOB]);
		assert_ok!(rescue(TRAINERS[0], 0));
		let before = drawn();
		// One more split, and the segments are still those that were rescued.
		round(&split.map(|say| Act::Speak(vec![say, Say::No])));
		tick_until(is_committing);
		assert_eq!((view().round, drawn()), (2, before));
		round(&vec![Act::Speak(vec![Say::Yes(1), Say::Gone]); 3]);
		assert_eq!(Outcome::get().unwrap().0, vec![Decision::Accepted, Decision::Rejected]);
	});
}

/// The states that were rescued are of the segments drawn: a contradiction draws others only of
/// the result that was not rescued.
#[test]
fn a_rescued_result_keeps_its_segments_in_a_contradiction() {
	run(|| {
		bonded(3);
		open(2, 3);
		let split = [Say::Yes(1), Say::No, Say::Yes(2)];
		round(&split.map(|say| Act::Speak(vec![Say::Gone, say])));
		Stored::set(vec![BLOB]);
		assert_ok!(rescue(TRAINERS[0], 0));
		let before = drawn();
		round(&vec![Act::Speak(vec![Say::Yes(1), Say::Yes(1)]); 3]);
		assert_eq!(drawn(), [before[0].clone(), vec![]]);
		tick_until(is_committing);
		let after = drawn();
		assert_eq!((view().round, &after[0], after[1].len()), (2, &before[0], 2));
		round(&vec![Act::Speak(vec![Say::Yes(1), Say::No]); 3]);
		assert_eq!(Outcome::get().unwrap().0, vec![Decision::Accepted, Decision::Rejected]);
	});
}

/// The trainers did what was asked of them, and no round is left to look at it.
#[test]
fn a_rescue_behind_the_last_round_leaves_it_undecided() {
	run(|| {
		bonded(3);
		open(1, 3);
		for _ in 0..2 {
			round(&[Say::Yes(1), Say::No, Say::Yes(2)].map(|say| Act::Speak(vec![say])));
		}
		unanimous(Say::Gone);
		assert_eq!(view().round, 2);
		assert!(is_rescue(&view().phase));
		Stored::set(vec![BLOB]);
		assert_ok!(rescue(TRAINERS[0], 0));
		tick();
		assert_eq!(Outcome::get().unwrap().0, vec![Decision::Undecided]);
	});
}

#[test]
fn no_rescue_behind_the_last_round_is_unavailable() {
	run(|| {
		bonded(3);
		open(1, 3);
		for _ in 0..2 {
			round(&[Say::Yes(1), Say::No, Say::Yes(2)].map(|say| Act::Speak(vec![say])));
		}
		unanimous(Say::Gone);
		tick_until(|phase| *phase == AuditPhase::Done);
		assert_eq!(Outcome::get().unwrap().0, vec![Decision::Unavailable]);
	});
}

/// Where most could not fetch it, those who could were not wrong.
#[test]
fn nobody_is_slashed_for_what_others_could_not_have() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[
			Act::Speak(vec![Say::Gone]),
			Act::Speak(vec![Say::Yes(1)]),
			Act::Speak(vec![Say::Gone]),
		]);
		assert!(is_rescue(&view().phase));
		assert!(seats.iter().all(|who| bond_of(*who) == BOND));
	});
}
