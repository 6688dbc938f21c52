//! Into the pool, out of it, back again, and slashed.

use crate::{mock::*, Error, Event, Fault, HoldReason, Pool, SETTLING};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::{DispatchError, TokenError};
use trainyard_protocol::{seats::Resources, views::Standing};

fn held(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::VerifierBond.into(), &who)
}

fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

fn standing(who: AccountId) -> Standing {
	entry(who).standing
}

/// Takes from the bond of `who` what `fault` costs in a seat.
fn slash(who: AccountId, fault: Fault) -> u128 {
	Pool::<Test>::mutate(|pool| {
		let entry = pool.get_mut(&who).unwrap();
		Verification::take(entry, &who, fault, FEE, STAKE)
	})
}

#[test]
fn a_verifier_registers_with_a_bond() {
	run(|| {
		assert_ok!(register_keyless(10, MIN_BOND));
		let standing = Standing::Waiting { since: 1 };
		System::assert_last_event(
			Event::Registered { verifier: 10, bond: MIN_BOND, standing }.into(),
		);
		assert_eq!((held(10), Verification::verifiers()), (MIN_BOND, vec![]));
		assert_ok!(set_key(10, key()));
		System::assert_has_event(Event::VrfKeySet { verifier: 10, key: key() }.into());
		System::assert_last_event(Event::Admitted { verifier: 10, bond: MIN_BOND }.into());
		assert_ok!(register(11, BOND));
		let standing = Standing::Active;
		assert_eq!(Verification::verifiers(), vec![(10, MIN_BOND), (11, BOND)]);
		let view = Verification::verifier(11).unwrap();
		assert_eq!((view.standing, view.bond, view.counted), (standing, BOND, BOND));
		assert_eq!((view.locked, view.capacity, view.absences), (0, ROOM, 0));
		assert_eq!(Verification::verifier(12), None);
	});
}

#[test]
fn registration_has_conditions() {
	run(|| {
		let root = RuntimeOrigin::root();
		assert_noop!(Verification::register(root, BOND, ROOM), DispatchError::BadOrigin);
		assert_noop!(register(10, MIN_BOND - 1), Error::<Test>::BondTooSmall);
		assert_noop!(register(10, ENDOWMENT + 1), TokenError::FundsUnavailable);
		assert_ok!(register(10, BOND));
		assert_noop!(register(10, BOND), Error::<Test>::AlreadyVerifier);
	});
}

#[test]
fn a_bond_can_be_raised() {
	run(|| {
		assert_noop!(Verification::bond_extra(signed(10), 5), Error::<Test>::NotVerifier);
		bonded(1);
		assert_ok!(Verification::bond_extra(signed(10), 5));
		System::assert_last_event(Event::BondRaised { verifier: 10, bond: BOND + 5 }.into());
		assert_eq!((held(10), bond_of(10)), (BOND + 5, BOND + 5));
		assert_noop!(Verification::bond_extra(signed(10), ENDOWMENT), TokenError::FundsUnavailable);
		// Whoever leaves may raise it as well, and comes back with all of it.
		assert_ok!(Verification::deregister(signed(10)));
		assert_ok!(Verification::bond_extra(signed(10), 5));
		assert_ok!(Verification::resume(signed(10)));
		assert_eq!(Verification::verifiers(), vec![(10, BOND + 10)]);
	});
}

#[test]
fn a_capacity_can_be_changed() {
	run(|| {
		assert_noop!(Verification::set_capacity(signed(10), ROOM), Error::<Test>::NotVerifier);
		bonded(1);
		System::set_block_number(100);
		let capacity = Resources { work: 5, ..ROOM };
		assert_ok!(Verification::set_capacity(signed(10), capacity));
		System::assert_last_event(Event::CapacityDeclared { verifier: 10, capacity }.into());
		assert_eq!(Verification::verifier(10).unwrap().capacity, capacity);
		// It counts from now on: a draw that is known cannot be won by it.
		assert!(entry(10).is_able(99, &NEEDS) && !entry(10).is_able(100, &NEEDS));
	});
}

#[test]
fn every_verifier_has_room_for_every_audit() {
	run(|| {
		LeastRoom::set(NEEDS);
		for capacity in [
			Resources { work: NEEDS.work - 1, ..ROOM },
			Resources { memory_mib: NEEDS.memory_mib - 1, ..ROOM },
			Resources { disk_mib: NEEDS.disk_mib - 1, ..ROOM },
		] {
			let register = || Verification::register(signed(10), BOND, capacity);
			assert_noop!(register(), Error::<Test>::CapacityTooSmall);
		}
		assert_ok!(Verification::register(signed(10), BOND, NEEDS));
		assert_ok!(set_key(10, key()));
		let less = Resources { work: NEEDS.work - 1, ..ROOM };
		let set = Verification::set_capacity(signed(10), less);
		assert_eq!(set, Err(Error::<Test>::CapacityTooSmall.into()));
	});
}

/// What counted is remembered for a while, and that has a bound.
#[test]
fn nobody_changes_all_the_time() {
	run(|| {
		bonded(1);
		System::set_block_number(100);
		for work in 1..=3 {
			System::set_block_number(100 + work);
			let capacity = Resources { work, ..ROOM };
			assert_ok!(Verification::set_capacity(signed(10), capacity));
			assert_ok!(Verification::bond_extra(signed(10), 1));
		}
		System::set_block_number(110);
		assert_noop!(Verification::set_capacity(signed(10), ROOM), Error::<Test>::TooManyChanges);
		assert_noop!(Verification::bond_extra(signed(10), 1), Error::<Test>::TooManyChanges);
		assert_noop!(Verification::deregister(signed(10)), Error::<Test>::TooManyChanges);
		System::set_block_number(110 + u64::from(SETTLING));
		assert_ok!(Verification::deregister(signed(10)));
	});
}

#[test]
fn leaving_takes_the_unbonding_period() {
	run(|| {
		assert_noop!(Verification::deregister(signed(10)), Error::<Test>::NotVerifier);
		assert_noop!(Verification::withdraw(signed(10)), Error::<Test>::NotLeaving);
		bonded(1);
		assert_noop!(Verification::withdraw(signed(10)), Error::<Test>::NotLeaving);
		System::set_block_number(2);
		assert_ok!(Verification::deregister(signed(10)));
		let until = 2 + UNBONDING;
		System::assert_last_event(Event::Left { verifier: 10, until }.into());
		assert!(Verification::verifiers().is_empty());
		assert_noop!(Verification::deregister(signed(10)), Error::<Test>::NotVerifier);

		System::set_block_number(until.into());
		assert_noop!(Verification::withdraw(signed(10)), Error::<Test>::StillBonded);
		System::set_block_number(u64::from(until) + 1);
		assert_ok!(Verification::withdraw(signed(10)));
		System::assert_last_event(Event::Withdrawn { verifier: 10, amount: BOND }.into());
		assert_eq!((held(10), Balances::free_balance(10)), (0, ENDOWMENT));
		assert_noop!(Verification::withdraw(signed(10)), Error::<Test>::NotLeaving);
		assert_ok!(register(10, BOND));
	});
}

#[test]
fn leaving_can_be_taken_back() {
	run(|| {
		assert_noop!(Verification::resume(signed(10)), Error::<Test>::NotVerifier);
		bonded(2);
		assert_noop!(Verification::resume(signed(10)), Error::<Test>::NothingToResume);
		System::set_block_number(2);
		assert_ok!(Verification::deregister(signed(10)));
		System::set_block_number(3);
		assert_ok!(Verification::resume(signed(10)));
		let standing = Standing::Active;
		System::assert_last_event(Event::Resumed { verifier: 10, standing }.into());
		assert_eq!(Verification::verifiers(), vec![(10, BOND), (11, BOND)]);
		// By a new registration as well, with at least the bond that it names.
		let later = 4 + u64::from(SETTLING);
		System::set_block_number(later);
		assert_ok!(Verification::deregister(signed(10)));
		assert_ok!(Verification::deregister(signed(11)));
		System::set_block_number(later + 1);
		assert_ok!(register(10, BOND / 2));
		assert_ok!(register(11, 2 * BOND));
		assert_eq!(Verification::verifiers(), vec![(10, BOND), (11, 2 * BOND)]);
	});
}

/// What answers for a seat stays until the seat ends.
#[test]
fn a_seat_is_not_unbonded() {
	run(|| {
		bonded(1);
		System::set_block_number(2);
		Pool::<Test>::mutate(|pool| pool.get_mut(&10).unwrap().sit(STAKE, &NEEDS));
		Pool::<Test>::mutate(|pool| pool.get_mut(&10).unwrap().checks = 1);
		assert_ok!(Verification::deregister(signed(10)));
		System::set_block_number(u64::from(UNBONDING) + 10);
		assert_ok!(Verification::withdraw(signed(10)));
		assert_eq!((held(10), bond_of(10)), (STAKE, STAKE));
		assert_noop!(Verification::withdraw(signed(10)), Error::<Test>::StillBonded);
		Pool::<Test>::mutate(|pool| {
			let entry = pool.get_mut(&10).unwrap();
			entry.checks = 0;
			entry.rise(STAKE, &NEEDS, false)
		});
		assert_ok!(Verification::withdraw(signed(10)));
		assert_eq!(Balances::free_balance(10), ENDOWMENT);
		assert!(Pool::<Test>::get().is_empty());
	});
}

#[test]
fn slashes_go_to_the_jackpot() {
	run(|| {
		bonded(2);
		assert_eq!(slash(10, Fault::NoVerdict), ABSENCE);
		assert_eq!(slash(11, Fault::Contrary), CONTRARY);
		assert_eq!((bond_of(10), held(10)), (BOND - ABSENCE, BOND - ABSENCE));
		assert_eq!((bond_of(11), held(11)), (BOND - CONTRARY, BOND - CONTRARY));
		assert_eq!(Balances::free_balance(JACKPOT), 1 + ABSENCE + CONTRARY);
	});
}

/// Nothing unbonds by itself: whoever has the least bond and is absent once keeps its place.
#[test]
fn one_absence_at_the_least_bond_costs_no_place() {
	run(|| {
		assert_ok!(register(10, MIN_BOND));
		slash(10, Fault::NoVerdict);
		assert_eq!((standing(10), bond_of(10)), (Standing::Active, MIN_BOND - ABSENCE));
		assert_eq!(entry(10).seats(1, STAKE), (MIN_BOND - ABSENCE) / STAKE);
		// Even one that lost all but its last seat.
		for _ in 0..15 {
			slash(10, Fault::Contrary);
		}
		assert_eq!((standing(10), entry(10).seats(1, STAKE)), (Standing::Active, 0));
		assert_ok!(Verification::bond_extra(signed(10), STAKE));
		assert_eq!(entry(10).seats(1, STAKE), 1);
	});
}

/// A jackpot that does not exist cannot take dust; nothing is lost and nothing panics.
#[test]
fn a_missing_jackpot_takes_no_dust() {
	run(|| {
		bonded(1);
		JackpotAccount::set(98);
		slash(10, Fault::NoVerdict);
		assert_eq!((bond_of(10), Balances::free_balance(98)), (BOND - ABSENCE, ABSENCE));

		JackpotAccount::set(97);
		Pool::<Test>::mutate(|pool| {
			let entry = pool.get_mut(&10).unwrap();
			assert_eq!(Verification::take(entry, &10, Fault::NoVerdict, 0, STAKE), 0);
		});
		assert_eq!(bond_of(10), BOND - ABSENCE);
	});
}

/// Other seats fetch there what one of them has. It goes with the bond.
#[test]
fn a_verifier_says_where_it_serves_other_seats() {
	run(|| {
		let here = Some(trainyard_protocol::Text::new("http://203.0.113.5:8610").unwrap());
		let set = |who, location| Verification::set_location(RuntimeOrigin::signed(who), location);
		assert_noop!(set(10, here.clone()), Error::<Test>::NotVerifier);
		assert_noop!(
			Verification::set_location(RuntimeOrigin::none(), None),
			sp_runtime::DispatchError::BadOrigin
		);
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		assert_ok!(set(10, here.clone()));
		let seats = view().committee;
		let said = |who| seats.iter().find(|seat| seat.verifier == who).unwrap().location.clone();
		assert_eq!((said(10), said(11)), (here.clone(), None));
		assert_eq!(Verification::verifier(10).unwrap().location, here);
		assert_ok!(set(10, None));
		assert!(view().committee.iter().all(|seat| seat.location.is_none()));
		// It is forgotten with the last of the bond.
		assert_ok!(set(11, here));
		<Verification as trainyard_traits::Audits<_>>::remove(JOB);
		assert_ok!(Verification::deregister(RuntimeOrigin::signed(11)));
		System::set_block_number(System::block_number() + u64::from(UNBONDING) + 1);
		assert_ok!(Verification::withdraw(RuntimeOrigin::signed(11)));
		assert!(!crate::Locations::<Test>::contains_key(11));
	});
}
