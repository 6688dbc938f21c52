//! Seats: who can take one, and who is paused.

use crate::{mock::*, Event};
use frame_support::assert_ok;
use trainyard_protocol::{seats::Resources, views::Standing};
use trainyard_traits::{AuditRequest, Audits};

/// Opens the audit of a job that needs this, and draws its committee at once.
fn open_for(job: u32, needs: Resources) -> Vec<AccountId> {
	assert_ok!(Verification::open(job, AuditRequest { needs, ..request(1, 3) }));
	System::set_block_number(System::block_number() + 3);
	Verification::advance(job);
	Verification::do_try_state().unwrap();
	let view = Verification::audit_view(job).unwrap();
	view.committee.into_iter().map(|member| member.verifier).collect()
}

/// Its work is over when it revealed, and what it answers for when results do not stand any more.
#[test]
fn a_seat_locks_its_stake_until_results_are_decided() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let has = |locked, work, disk| {
			for who in &VERIFIERS[..3] {
				let view = Verification::verifier(*who).unwrap();
				let found = (view.locked, view.load.work, view.load.disk_mib);
				assert_eq!(found, (locked, work, disk));
			}
		};
		has(STAKE, 10, 100);
		unanimous(Say::Yes);
		assert!(is_standing(&view().phase));
		has(STAKE, 0, 0);
		finish();
		has(0, 0, 0);
	});
}

/// A seat is never too poor to accuse, and guessing never pays.
#[test]
fn a_stake_is_what_a_challenge_or_a_guess_costs() {
	run(|| {
		bonded(3);
		let locks = |request: AuditRequest<AccountId>| {
			assert_ok!(Verification::open(JOB, request));
			System::set_block_number(System::block_number() + 3);
			Verification::advance(JOB);
			let locked = entry(committee()[0]).locked;
			Verification::remove(JOB);
			locked
		};
		assert_eq!(locks(request(1, 3)), STAKE);
		assert_eq!(locks(AuditRequest { challenge: 700, ..request(1, 3) }), 700);
		// Two draws of ten hit the one forced error with 1/5: 5/4 x 300 x 5.
		assert_eq!(locks(AuditRequest { fee: 300, ..request(1, 3) }), 1_876);
	});
}

/// The next round needs other seats.
#[test]
fn each_round_has_seats_of_its_own() {
	run(|| {
		bonded(3);
		open(1, 3);
		round(&[speak(Say::Yes), Act::Vanish, Act::Vanish]);
		assert!(VERIFIERS[..3].iter().all(|who| entry(*who).locked == 0));
		tick_until(is_committing);
		assert!(VERIFIERS[..3].iter().all(|who| entry(*who).locked == STAKE));
	});
}

#[test]
fn who_has_too_little_room_is_not_drawn() {
	run(|| {
		bonded(6);
		for (who, capacity) in [
			(10, Resources { work: 39, ..ROOM }),
			(11, Resources { memory_mib: 2_047, ..ROOM }),
			(12, Resources { disk_mib: 399, ..ROOM }),
		] {
			assert_ok!(Verification::set_capacity(RuntimeOrigin::signed(who), capacity));
		}
		System::set_block_number(100);
		let needs = Resources { work: 40, memory_mib: 2_048, disk_mib: 400 };
		for job in 0..10 {
			let mut committee = open_for(job, needs);
			committee.sort();
			assert_eq!(committee, [13, 14, 15]);
			Verification::remove(job);
		}
	});
}

/// A second result makes an audit larger. Whoever declared any room would be drawn alone for one that
/// most cannot take, and decide it.
#[test]
fn an_audit_that_most_have_no_room_for_is_given_to_nobody() {
	run(|| {
		MinSeats::set(3);
		bonded(6);
		System::set_block_number(100);
		for who in &VERIFIERS[..2] {
			let capacity = Resources { work: 39, ..ROOM };
			assert_ok!(Verification::set_capacity(RuntimeOrigin::signed(*who), capacity));
		}
		System::set_block_number(200);
		let needs = Resources { work: 40, ..NEEDS };
		assert_eq!(open_for(1, needs).len(), 3, "four of six can");
		Verification::remove(1);
		for who in &VERIFIERS[2..4] {
			let capacity = Resources { work: 39, ..ROOM };
			assert_ok!(Verification::set_capacity(RuntimeOrigin::signed(*who), capacity));
		}
		System::set_block_number(300);
		assert!(open_for(2, needs).is_empty());
	});
}

/// A committee is drawn while half of the seats of those who are able is free.
#[test]
fn audits_wait_while_most_seats_are_taken() {
	run(|| {
		MinSeats::set(3);
		for who in [10, 11, 12] {
			assert_ok!(register(who, MIN_BOND));
		}
		let seats = (MIN_BOND / STAKE) as u32;
		let drawn = (0..20).filter(|job| !open_for(*job, NEEDS).is_empty()).count() as u32;
		assert_eq!(drawn, seats / 2 + 1);
		assert!([10, 11, 12].iter().all(|who| entry(*who).locked == u128::from(drawn) * STAKE));
		for job in 0..20 {
			Verification::remove(job);
		}
	});
}

/// Work adds up over the seats that somebody has at once.
#[test]
fn declared_work_is_not_exceeded() {
	run(|| {
		MinSeats::set(3);
		bonded(3);
		let needs = Resources { work: 300, ..NEEDS };
		let drawn = (0..6).filter(|job| !open_for(*job, needs).is_empty()).count();
		assert_eq!(drawn, 3, "1,000 hold three times 300");
		assert!(VERIFIERS[..3].iter().all(|who| entry(*who).load.work == 900));
		for job in 0..6 {
			Verification::remove(job);
		}
	});
}

#[test]
fn who_is_absent_too_often_is_paused_and_resumes_at_once() {
	run(|| {
		bonded(3);
		open(1, 3);
		for _ in 0..3 {
			round(&[]);
		}
		assert!(VERIFIERS[..3].iter().all(|who| entry(*who).standing == Standing::Paused));
		System::assert_has_event(Event::Paused { verifier: 10 }.into());
		assert!(Verification::verifiers().is_empty());
		// All of the bond but the price of three absences is there, and nothing unbonds.
		assert_eq!(bond_of(10), BOND - 3 * ABSENCE);
		assert_ok!(Verification::resume(RuntimeOrigin::signed(10)));
		assert_ok!(register(11, BOND));
		assert_eq!((bond_of(11), entry(11).absences), (BOND, 0));
		assert_eq!(Verification::verifiers().len(), 2);
		// One absence after that is one.
		Verification::remove(JOB);
		open(1, 1);
		round(&[]);
		assert_eq!(Verification::verifiers().len(), 2);
	});
}

#[test]
fn two_absences_among_a_hundred_seats_do_not_pause() {
	run(|| {
		bonded(3);
		for turn in 0..8 {
			open(1, 3);
			if turn % 4 == 0 {
				round(&[]);
			}
			unanimous(Say::Yes);
			Verification::remove(JOB);
			Outcome::set(None);
		}
		assert_eq!(Verification::verifiers().len(), 3);
		assert!(VERIFIERS[..3].iter().all(|who| entry(*who).view(None).absences == 2));
	});
}
