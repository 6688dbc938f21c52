//! The window in which results stand, and the evidence that is replayed again.

use crate::{mock::*, Event, Recheck, Rechecks};
use std::collections::BTreeSet;
use trainyard_protocol::{
	audit::{AuditPhase, Decision, GroupVerdict},
	views::RecheckView,
};
use trainyard_traits::{AuditRequest, AuditStatus, Audited, Audits};

fn now() -> u32 {
	System::block_number() as u32
}

/// A dispute holds the window open, and after it ends it is open for one replay more.
#[test]
fn a_window_is_open_again_after_a_dispute() {
	run(|| {
		bonded(3);
		open(1, 3);
		unanimous(Say::Yes);
		let until = now() + LENGTH;
		while now() < until {
			tick();
		}
		// The last block counts.
		let id = sue(VERIFIERS[4], of_trainer(TRAINERS[0]));
		for _ in 0..20 {
			tick();
			assert!(is_standing(&view().phase));
		}
		acquit(id);
		let ended = now();
		while now() < ended + AGAIN {
			tick();
			assert!(is_standing(&view().phase));
		}
		tick();
		assert_eq!(view().phase, AuditPhase::Done);
		assert_eq!(Outcome::get().unwrap().0, [Decision::Accepted]);
	});
}

/// Two blocks before the end of the window nothing more is needed than one who looks.
#[test]
fn nothing_is_decided_before_the_window_is_over() {
	run(|| {
		bonded(3);
		open(1, 3);
		unanimous(Say::Yes);
		let until = now() + LENGTH;
		let window = Verification::window(JOB).unwrap();
		assert_eq!((window.from, window.until, window.again), (now(), until, AGAIN));
		for _ in 0..LENGTH {
			tick();
			let AuditStatus::Pending(at) = Verification::advance(JOB) else { panic!("it stands") };
			assert!(at > now() && at <= until + 1);
		}
		tick();
		assert_eq!(view().phase, AuditPhase::Done);
	});
}

/// A second seed says who replays which of another one's segments again.
#[test]
fn evidence_is_replayed_again_by_others() {
	new_test_ext().execute_with(|| {
		let mut pairs = BTreeSet::new();
		for salt in 0..12 {
			SeedSalt::set(salt);
			crate::Pool::<Test>::kill();
			filled(100 * (salt + 1)..100 * (salt + 1) + 5, BOND);
			open(1, 5);
			let seats = round(&[
				speak(Say::Yes),
				speak(Say::Yes),
				Act::Vanish,
				speak(Say::Gone),
				speak(Say::Yes),
			]);
			let opened = now();
			assert!(view().rechecks.is_empty());
			while now() < opened + SEED_BLOCKS + 1 {
				tick();
			}
			let drawn = view().rechecks;
			assert_eq!(drawn.len(), 2);
			assert_ne!(drawn[0].by, drawn[1].by);
			for RecheckView { by, of, group, segment } in &drawn {
				assert!(by != of && *group == 0);
				let at = |who| seats.iter().position(|seat| seat == who).unwrap();
				assert!(![2, 3].contains(&at(by)) && ![2, 3].contains(&at(of)));
				let member = view().committee.into_iter().find(|m| m.verifier == *of).unwrap();
				let findings = member.findings.unwrap();
				let GroupVerdict::Replayed(replayed) = &findings.verdicts[0] else { panic!() };
				assert!(replayed.evidence.iter().any(|e| e.segment == *segment));
				pairs.insert((at(by), at(of), *segment));
			}
			let rechecks: Vec<_> = drawn
				.into_iter()
				.map(|RecheckView { by, of, group, segment }| Recheck { by, of, group, segment })
				.collect();
			System::assert_has_event(Event::RechecksDrawn { job: JOB, rechecks }.into());
			finish();
			Verification::remove(JOB);
			Outcome::set(None);
		}
		assert!(pairs.len() > 8, "the seed draws: {pairs:?}");
		crate::Pool::<Test>::kill();
	});
}

/// One alone has nobody who looks at it again, and a seed that is lost is drawn again.
#[test]
fn a_lost_seed_is_drawn_again() {
	run(|| {
		bonded(1);
		open(1, 1);
		unanimous(Say::Yes);
		finish();
		assert!(view().rechecks.is_empty());
	});
	run(|| {
		bonded(3);
		open_with(AuditRequest { window: 100, ..request(1, 3) });
		unanimous(Say::Yes);
		SeedWindow::set(5);
		System::set_block_number(System::block_number() + 50);
		Due::set(Some(0));
		tick();
		let audit = crate::AuditRecords::<Test>::get(JOB).unwrap();
		assert_eq!(audit.recheck, Rechecks::Drawing { after: now() });
		for _ in 0..SEED_BLOCKS + 1 {
			tick();
		}
		assert_eq!(view().rechecks.len(), 2);
	});
}

/// Results of earlier rounds do not stand while another committee replays them.
#[test]
fn a_redraw_closes_the_window() {
	run(|| {
		bonded(4);
		open(1, 3);
		let seats = unanimous(Say::Yes);
		for who in &seats[1..] {
			convict(sue(VERIFIERS[5], of_seat(*who, TRAINERS[0], 0)), true);
		}
		tick_until(is_committing);
		assert_eq!((view().round, Verification::window(JOB)), (1, None));
		assert!(view().rechecks.is_empty());
	});
}
