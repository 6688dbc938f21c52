//! Commitments: who may, when, and that they hasten the round.

use crate::{mock::*, Error, Event, H256};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::DispatchError;

fn blind(who: AccountId) -> sp_runtime::DispatchResult {
	Verification::commit(RuntimeOrigin::signed(who), JOB, H256([1; 32]))
}

#[test]
fn only_the_committee_commits_and_each_once() {
	run(|| {
		bonded(4);
		open(1, 3);
		assert_noop!(blind(10), Error::<Test>::NotCommitting);
		tick_until(is_committing);
		assert_noop!(
			Verification::commit(RuntimeOrigin::none(), JOB, H256([1; 32])),
			DispatchError::BadOrigin
		);
		let seats = committee();
		let outsider = *VERIFIERS[..4].iter().find(|who| !seats.contains(who)).unwrap();
		for who in [outsider, SUBMITTER, TRAINERS[0]] {
			assert_noop!(blind(who), Error::<Test>::NotOnCommittee);
		}
		assert_ok!(blind(seats[0]));
		System::assert_last_event(Event::Committed { job: JOB, verifier: seats[0] }.into());
		assert_noop!(blind(seats[0]), Error::<Test>::AlreadyCommitted);
		assert_noop!(
			Verification::commit(RuntimeOrigin::signed(seats[1]), JOB + 1, H256([1; 32])),
			Error::<Test>::NoAudit
		);
		let committed: Vec<bool> = view().committee.iter().map(|m| m.committed).collect();
		assert_eq!(committed, vec![true, false, false]);
	});
}

#[test]
fn the_deadline_is_the_last_block() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let last = System::block_number() + u64::from(COMMIT);
		let seats = committee();
		assert_ok!(blind(seats[0]));
		System::set_block_number(last);
		assert_ok!(blind(seats[1]));
		// Should the market come late, the deadline holds all the same.
		System::set_block_number(last + 1);
		assert_noop!(blind(seats[2]), Error::<Test>::TooLate);
		System::set_block_number(last);
		tick();
		assert!(is_revealing(&view().phase));
		assert_noop!(blind(seats[2]), Error::<Test>::NotCommitting);
	});
}

#[test]
fn the_last_commitment_opens_the_reveals() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let seats = committee();
		assert_ok!(blind(seats[0]));
		assert_ok!(blind(seats[1]));
		assert!(Progressed::get().is_empty());
		tick();
		assert!(is_committing(&view().phase));
		assert_ok!(blind(seats[2]));
		assert_eq!(Progressed::get(), vec![JOB]);
		tick();
		let until = System::block_number() as u32 + REVEAL;
		assert!(is_revealing(&view().phase));
		System::assert_last_event(Event::RevealOpened { job: JOB, until }.into());
	});
}
