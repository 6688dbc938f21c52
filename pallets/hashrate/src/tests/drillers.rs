//! What drilling does to trainers.

use super::*;
use crate::{HoldReason, Power, Trainers};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::Permill;
use trainyard_traits::{Drillers, TrainerRegistry};

fn is_trainer(who: &u64) -> bool {
	<Hashrate as Drillers<u64>>::is_trainer(who)
}

fn bond(who: &u64) -> u128 {
	<Hashrate as Drillers<u64>>::bond(who)
}

#[test]
fn drilling_is_credited_and_debited() {
	Genesis::default().run(|| {
		register(5);
		Hashrate::credit_drilling(&5, 6_000);
		// 6,000 x ln 2 / 7 = 594.13.
		assert_last(Event::DrillingCredited { trainer: 5, work: 6_000, effective: 594 });
		// 0.4 of it.
		assert_eq!(Hashrate::ecp(&5), 237);
		let ledger = Power::<Test>::get(5);
		assert_eq!((ledger.drilling.total, ledger.training), (6_000, Default::default()));
		assert_eq!(Hashrate::trainer(&5).unwrap().drilling_total, 6_000);

		assert_eq!(<Hashrate as Drillers<u64>>::drilled(&5), 6_000);
		Hashrate::debit_drilling(&5, 2_000);
		assert_last(Event::DrillingDebited { trainer: 5, work: 2_000, effective: 396 });
		assert_eq!(Power::<Test>::get(5).drilling.total, 6_000);
		// At most what there is, and training power is another matter.
		<Hashrate as TrainerRegistry<u64>>::credit_training(&5, 10);
		Hashrate::debit_drilling(&5, u64::MAX);
		assert_last(Event::DrillingDebited { trainer: 5, work: u64::MAX, effective: 0 });
		assert_eq!(Power::<Test>::get(5).training.total, 10);
	});
}

#[test]
fn drillers_are_trainers() {
	Genesis::default().run(|| {
		assert!(!is_trainer(&5));
		assert_eq!(bond(&5), 0);
		register(5);
		assert!(is_trainer(&5));
		assert_eq!(bond(&5), MIN_BOND);
	});
}

#[test]
fn strangers_neither_drill_nor_pay() {
	Genesis::default().run(|| {
		let before = events();
		Hashrate::credit_drilling(&5, 6_000);
		Hashrate::debit_drilling(&5, 6_000);
		assert_eq!(Hashrate::slash(&5, Permill::one()), 0);
		assert!(!Power::<Test>::contains_key(5));
		assert_eq!(events(), before);
	});
}

#[test]
fn a_slash_takes_drilling_power_and_a_part_of_the_bond() {
	Genesis::default().run(|| {
		let jackpot = Balances::free_balance(JACKPOT);
		assert_ok!(Hashrate::bond_extra(RuntimeOrigin::signed(2), 50));
		set_power(2, 20);
		assert_eq!(Hashrate::slash(&2, Permill::from_percent(20)), 30);
		assert_last(Event::DrillerSlashed { trainer: 2, amount: 30 });
		assert_eq!(Trainers::<Test>::get(2).unwrap().bond, 120);
		assert_eq!(Balances::balance_on_hold(&HoldReason::Bond.into(), &2), 120);
		assert_eq!(Balances::free_balance(JACKPOT), jackpot + 30);
		// 0.6 of 20 is left.
		assert_eq!(Hashrate::ecp(&2), 12);
		assert!(is_trainer(&2) && Hashrate::is_candidate(&2));
	});
}

#[test]
fn a_bond_below_the_least_suspends() {
	Genesis::default().run(|| {
		assert_eq!(Hashrate::slash(&2, Permill::from_percent(30)), 30);
		assert!(events().contains(&Event::CandidacyChanged { trainer: 2, candidate: false }));
		assert!(!is_trainer(&2) && !Hashrate::is_candidate(&2));
		assert_eq!(bond(&2), 70);
		let stand = || Hashrate::set_candidate(RuntimeOrigin::signed(2), true);
		assert_noop!(stand(), crate::Error::<Test>::BondTooSmall);
		Hashrate::do_try_state().unwrap();

		// It bonds more, and is back.
		assert_ok!(Hashrate::bond_extra(RuntimeOrigin::signed(2), 30));
		assert!(is_trainer(&2));
		assert_ok!(stand());
	});
}

#[test]
fn one_who_is_leaving_is_slashed_too() {
	Genesis::default().run(|| {
		register(5);
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(5)));
		assert_eq!(Hashrate::slash(&5, Permill::one()), MIN_BOND);
		run_to(1 + UNBONDING, 1);
		assert_ok!(Hashrate::withdraw(RuntimeOrigin::signed(5)));
		assert_last(Event::Withdrawn { trainer: 5, bond: 0 });
		assert_eq!(Balances::free_balance(5), FUNDS - MIN_BOND);
	});
}

#[cfg(feature = "runtime-benchmarks")]
#[test]
fn benchmarks_get_a_driller() {
	Genesis::default().run(|| {
		Hashrate::make_driller(&1_000);
		assert!(is_trainer(&1_000));
		assert_eq!(Trainers::<Test>::get(1_000).unwrap().bond, MIN_BOND);
		assert!(Hashrate::ecp(&1_000) > 0);
	});
}
