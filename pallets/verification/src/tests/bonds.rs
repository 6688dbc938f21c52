//! Into the pool, out of it, and slashed.

use crate::{mock::*, Entry, Error, Event, Fault, HoldReason, Leaving, LeavingVerifiers, Pool};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::{DispatchError, TokenError};

fn held(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::VerifierBond.into(), &who)
}

fn signed(who: AccountId) -> RuntimeOrigin {
	RuntimeOrigin::signed(who)
}

#[test]
fn a_verifier_registers_with_a_bond() {
	run(|| {
		assert_ok!(Verification::register(signed(10), MIN_BOND));
		System::assert_last_event(Event::Registered { verifier: 10, bond: MIN_BOND }.into());
		assert_eq!(held(10), MIN_BOND);
		assert_ok!(Verification::register(signed(11), BOND));
		assert_eq!(Verification::verifiers(), vec![(10, MIN_BOND), (11, BOND)]);
	});
}

#[test]
fn registration_has_conditions() {
	run(|| {
		assert_noop!(Verification::register(RuntimeOrigin::root(), BOND), DispatchError::BadOrigin);
		assert_noop!(Verification::register(signed(10), MIN_BOND - 1), Error::<Test>::BondTooSmall);
		assert_noop!(
			Verification::register(signed(10), ENDOWMENT + 1),
			TokenError::FundsUnavailable
		);
		assert_ok!(Verification::register(signed(10), BOND));
		assert_noop!(Verification::register(signed(10), BOND), Error::<Test>::AlreadyVerifier);
	});
}

#[test]
fn the_pool_is_bounded() {
	run(|| {
		let mut pool = Pool::<Test>::get();
		for who in 100..132 {
			pool.try_insert(who, Entry::new(BOND, 0)).unwrap();
		}
		Pool::<Test>::put(pool);
		assert_noop!(Verification::register(signed(10), BOND), Error::<Test>::PoolFull);
		Pool::<Test>::kill();
	});
}

/// Otherwise 32 small bonds would keep everybody else out.
#[test]
fn a_larger_bond_displaces_the_smallest_of_a_full_pool() {
	run(|| {
		bonded(2);
		assert_ok!(Verification::register(signed(12), BOND / 2));
		let mut pool = Pool::<Test>::get();
		for who in 100..129 {
			pool.try_insert(who, Entry::new(2 * BOND, 0)).unwrap();
		}
		Pool::<Test>::put(pool);
		assert_noop!(Verification::register(signed(13), BOND / 2), Error::<Test>::PoolFull);
		assert_ok!(Verification::register(signed(13), BOND / 2 + 1));
		System::assert_has_event(Event::Left { verifier: 12, until: 1 + UNBONDING }.into());
		assert_eq!(bond_of(12), BOND / 2);
		assert_eq!(held(12), BOND / 2);
		let active: Vec<_> = Verification::verifiers().into_iter().map(|(who, _)| who).collect();
		assert_eq!(active.len(), 32);
		assert!(active.contains(&13) && !active.contains(&12));
		// A verifier that was displaced can come back when its bond is free.
		assert_noop!(Verification::register(signed(12), BOND), Error::<Test>::StillLeaving);
		Pool::<Test>::kill();
	});
}

/// The room for those who left is bounded, and still many may come and go.
#[test]
fn those_who_left_are_forgotten_in_time() {
	run(|| {
		for turn in 0..5u64 {
			for who in VERIFIERS {
				assert_ok!(Verification::register(signed(who), BOND));
				assert_ok!(Verification::deregister(signed(who)));
			}
			System::set_block_number((turn + 1) * 100);
			for who in VERIFIERS {
				assert_ok!(Verification::withdraw(signed(who)));
			}
		}
		bonded(1);
		assert_eq!(Pool::<Test>::get().len(), 1);
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
		assert_ok!(Verification::deregister(signed(10)));
		assert_noop!(Verification::bond_extra(signed(10), 5), Error::<Test>::NotVerifier);
	});
}

#[test]
fn leaving_takes_the_unbonding_period() {
	run(|| {
		assert_noop!(Verification::deregister(signed(10)), Error::<Test>::NotVerifier);
		assert_noop!(Verification::withdraw(signed(10)), Error::<Test>::NotLeaving);
		bonded(1);
		assert_noop!(Verification::withdraw(signed(10)), Error::<Test>::NotLeaving);
		assert_ok!(Verification::deregister(signed(10)));
		let until = 1 + UNBONDING;
		System::assert_last_event(Event::Left { verifier: 10, until }.into());
		assert!(Verification::verifiers().is_empty());
		assert_noop!(Verification::deregister(signed(10)), Error::<Test>::NotVerifier);
		assert_noop!(Verification::register(signed(10), BOND), Error::<Test>::StillLeaving);

		System::set_block_number(until.into());
		assert_noop!(Verification::withdraw(signed(10)), Error::<Test>::StillBonded);
		System::set_block_number(u64::from(until) + 1);
		assert_ok!(Verification::withdraw(signed(10)));
		System::assert_last_event(Event::Withdrawn { verifier: 10, amount: BOND }.into());
		assert_eq!((held(10), Balances::free_balance(10)), (0, ENDOWMENT));
		assert_noop!(Verification::withdraw(signed(10)), Error::<Test>::NotLeaving);
		assert_ok!(Verification::register(signed(10), BOND));
	});
}

#[test]
fn slashes_go_to_the_jackpot() {
	run(|| {
		bonded(2);
		Verification::slash(JOB, &10, Fault::NoVerdict);
		System::assert_last_event(
			Event::Slashed { verifier: 10, amount: BOND / 10, job: JOB, fault: Fault::NoVerdict }
				.into(),
		);
		Verification::slash(JOB, &11, Fault::Contrary);
		assert_eq!((bond_of(10), held(10)), (9_000, 9_000));
		assert_eq!((bond_of(11), held(11)), (7_000, 7_000));
		assert_eq!(Balances::free_balance(JACKPOT), 1 + 1_000 + 3_000);
		// A stranger has nothing to lose.
		Verification::slash(JOB, &12, Fault::Contrary);
		assert_eq!(Balances::free_balance(JACKPOT), 1 + 1_000 + 3_000);
	});
}

#[test]
fn a_bond_below_the_minimum_leaves_the_pool() {
	run(|| {
		assert_ok!(Verification::register(signed(10), MIN_BOND + 10));
		Verification::slash(JOB, &10, Fault::NoVerdict);
		assert!(Verification::verifiers().is_empty());
		let left = Leaving { bond: 909, until: 1 + UNBONDING };
		assert_eq!(LeavingVerifiers::<Test>::get(10), Some(left));
		// A bond that is leaving is still slashed, and the rest comes back in the end.
		Verification::slash(JOB, &10, Fault::Contrary);
		assert_eq!(bond_of(10), 637);
		System::set_block_number(u64::from(2 + UNBONDING));
		assert_ok!(Verification::withdraw(signed(10)));
		assert_eq!(Balances::free_balance(10), ENDOWMENT - 101 - 272);
	});
}

/// A jackpot that does not exist cannot take dust; nothing is lost and nothing panics.
#[test]
fn a_missing_jackpot_takes_no_dust() {
	run(|| {
		bonded(1);
		JackpotAccount::set(98);
		Verification::slash(JOB, &10, Fault::NoVerdict);
		assert_eq!((bond_of(10), Balances::free_balance(98)), (9_000, 1_000));

		JackpotAccount::set(97);
		LeavingVerifiers::<Test>::insert(11, Leaving { bond: 5, until: 0 });
		Verification::slash(JOB, &11, Fault::NoVerdict);
		assert_eq!(bond_of(11), 5);
		LeavingVerifiers::<Test>::remove(11);
	});
}
