//! Commitments: who may, when, and that they hasten the round.

use crate::{mock::*, Error, Event, H256};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::DispatchError;
use trainyard_protocol::audit::AuditPhase;
use trainyard_traits::AuditRequest;

fn blind(who: AccountId) -> sp_runtime::DispatchResult {
	Verification::commit(RuntimeOrigin::signed(who), JOB, H256([1; 32]))
}

#[test]
fn only_the_committee_commits() {
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
		assert_noop!(
			Verification::commit(RuntimeOrigin::signed(seats[1]), JOB + 1, H256([1; 32])),
			Error::<Test>::NoAudit
		);
		let committed: Vec<bool> =
			view().committee.iter().map(|m| m.commitment.is_some()).collect();
		assert_eq!(committed, vec![true, false, false]);
	});
}

/// Half of the least time is for fetching. What takes longer is added, and a seat takes no more of its
/// verifier's room for it.
#[test]
fn commitments_have_time_for_what_is_fetched() {
	let until = |fetch| {
		let mut found = Default::default();
		run(|| {
			bonded(3);
			open_with(AuditRequest { fetch, ..request(1, 3) });
			tick_until(is_committing);
			let AuditPhase::Committing { until } = view().phase else { unreachable!() };
			let pool = crate::Pool::<Test>::get().into_inner();
			let load = pool.get(&committee()[0]).unwrap().load;
			found = (until - System::block_number() as u32, load);
		});
		found
	};
	let (least, load) = until(0);
	assert_eq!(least, COMMIT);
	assert_eq!(until(COMMIT / 2), (COMMIT, load));
	assert_eq!(until(COMMIT / 2 + 7), (COMMIT + 7, load));
}

/// A commitment that a short fork took to a different draw says nothing about this one.
#[test]
fn a_commitment_may_be_replaced_while_they_are_taken() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let seats = committee();
		let said = say(seats[0], &[Say::Yes]);
		assert_ok!(blind(seats[0]));
		assert_ok!(commit(seats[0], &said));
		for who in &seats[1..] {
			assert_ok!(blind(*who));
		}
		tick();
		assert!(is_revealing(&view().phase));
		assert_noop!(commit(seats[0], &said), Error::<Test>::NotCommitting);
		assert_ok!(reveal(seats[0], &said));
		assert_noop!(reveal(seats[1], &say(seats[1], &[Say::Yes])), Error::<Test>::WrongReveal);
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

/// A larger job has more time, and takes no more of what a verifier has room for in the least time.
#[test]
fn there_is_as_much_time_as_the_work_takes() {
	run(|| {
		bonded(3);
		// Ten times 1 ut at 10 MFLOP/s: 12/7 of 43,200 s, in blocks of 6 s.
		let needs = trainyard_protocol::seats::Resources { work: 1_000_000, ..NEEDS };
		let slow = AuditRequest { needs, rate: 10_000_000, ..request(1, 3) };
		open_with(slow);
		tick_until(is_committing);
		let (now, time) = (System::block_number() as u32, 12_343);
		let until = now + time;
		assert_eq!(view().phase, trainyard_protocol::audit::AuditPhase::Committing { until });
		// Of 1,000,000 micro-ut in 12,343 blocks, 811 are done in 10.
		assert_eq!(entry(committee()[0]).load.work, 811);
	});
}
