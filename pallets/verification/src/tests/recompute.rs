//! Draws and slashes for other pallets.

use crate::{mock::*, Event, Fault, H256};
use frame_support::assert_ok;
use std::collections::BTreeSet;
use trainyard_protocol::seats::Resources;
use trainyard_traits::{Drawn, VerifierPool};

/// Draws, without keeping the seats.
fn draw(seed: u8, after: u32, excluded: &[AccountId], count: u32) -> Vec<AccountId> {
	let seed = H256([seed; 32]);
	let drawn = match Verification::draw(b"test", &seed, after, excluded, count, &NEEDS) {
		Drawn::Seated(drawn) => drawn,
		Drawn::TooFew => Vec::new(),
		Drawn::Busy => panic!("nobody has a seat"),
	};
	for who in &drawn {
		Verification::release(who, &NEEDS, true);
	}
	drawn
}

#[test]
fn a_draw_is_of_distinct_verifiers_without_the_excluded() {
	run(|| {
		bonded(6);
		let mut seen = BTreeSet::new();
		for seed in 0..60 {
			let drawn = draw(seed, 1, &[10, 12], 3);
			assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 3);
			assert!(drawn.iter().all(|who| VERIFIERS.contains(who) && ![10, 12].contains(who)));
			seen.extend(drawn);
		}
		assert_eq!(seen, [11, 13, 14, 15].into());
	});
}

#[test]
fn fewer_than_wanted_are_nobody() {
	run(|| {
		bonded(4);
		assert_eq!(draw(1, 1, &[], 4).len(), 4);
		assert!(draw(1, 1, &[], 5).is_empty());
		assert!(draw(1, 1, &[11], 4).is_empty());
	});
}

/// Who keeps verifiers busy must not make them look as if they were not there.
#[test]
fn busy_verifiers_are_not_too_few() {
	run(|| {
		bonded(4);
		let needs = Resources { work: ROOM.work, ..NEEDS };
		let draw = |count| Verification::draw(b"test", &H256([1; 32]), 1, &[13], count, &needs);
		assert_eq!(draw(4), Drawn::TooFew);
		let Drawn::Seated(drawn) = draw(3) else { panic!("all are idle") };
		assert_eq!(draw(3), Drawn::Busy);
		assert_eq!(draw(4), Drawn::TooFew);
		Verification::release(&drawn[0], &needs, true);
		assert_eq!(draw(3), Drawn::Busy, "one is free");
		drawn[1..].iter().for_each(|who| Verification::release(who, &needs, true));
		let Drawn::Seated(drawn) = draw(3) else { panic!("all are idle") };
		drawn.iter().for_each(|who| Verification::release(who, &needs, true));
		// Nobody has room for this.
		let large = Resources { work: ROOM.work + 1, ..NEEDS };
		let none = Verification::draw(b"test", &H256([1; 32]), 1, &[], 3, &large);
		assert_eq!(none, Drawn::TooFew);
	});
}

/// The author of the last block of a seed knows it: who comes then must not count.
#[test]
fn only_who_was_there_before_the_seed_is_drawn() {
	run(|| {
		bonded(3);
		System::set_block_number(5);
		assert_ok!(register(13, BOND));
		assert_ok!(Verification::deregister(RuntimeOrigin::signed(10)));
		for seed in 0..20 {
			let mut before = draw(seed, 4, &[], 3);
			before.sort();
			assert_eq!(before, [10, 11, 12]);
			let mut behind = draw(seed, 5, &[], 3);
			behind.sort();
			assert_eq!(behind, [11, 12, 13]);
		}
	});
}

#[test]
fn absence_and_contradiction_cost_what_they_cost_in_an_audit() {
	run(|| {
		bonded(2);
		assert_eq!(Verification::slash_absent(&10, FEE), ABSENCE);
		System::assert_last_event(
			Event::SlashedInRecompute { verifier: 10, amount: ABSENCE, fault: Fault::NoVerdict }
				.into(),
		);
		assert_eq!(Verification::slash_contrary(&11, FEE), CONTRARY);
		assert_eq!((bond_of(10), bond_of(11)), (BOND - ABSENCE, BOND - CONTRARY));
		assert_eq!(Balances::free_balance(JACKPOT), 1 + ABSENCE + CONTRARY);
		// A stranger has nothing to lose.
		assert_eq!(Verification::slash_contrary(&12, FEE), 0);
	});
}

#[test]
fn a_seat_is_taken_until_it_is_released() {
	run(|| {
		bonded(3);
		let drawn = Verification::draw(b"test", &H256([1; 32]), 1, &[], 3, &NEEDS);
		let Drawn::Seated(drawn) = drawn else { panic!("{drawn:?}") };
		for who in &drawn {
			let entry = entry(*who);
			assert_eq!((entry.locked, entry.load.work, entry.checks), (STAKE, NEEDS.work, 1));
		}
		Verification::do_try_state().unwrap();
		for (at, who) in drawn.iter().enumerate() {
			Verification::release(who, &NEEDS, at > 0);
		}
		assert!(drawn.iter().all(|who| entry(*who).locked == 0 && entry(*who).checks == 0));
		assert_eq!(entry(drawn[0]).view(None).absences, 1);
	});
}
