//! Registration and bonds.

use super::*;
use crate::{Error, HoldReason, Power, Trainer, Trainers};
use frame_support::{assert_noop, assert_ok, traits::fungible::InspectHold};
use sp_runtime::{ArithmeticError, DispatchError, TokenError};

fn held(who: u64) -> u128 {
	Balances::balance_on_hold(&HoldReason::Bond.into(), &who)
}

#[test]
fn register_holds_the_bond() {
	Genesis::default().run(|| {
		assert_ok!(Hashrate::register(RuntimeOrigin::signed(5), 250, hardware()));
		assert_eq!(
			Trainers::<Test>::get(5),
			Some(Trainer { bond: 250, hardware: hardware(), free_at: None })
		);
		assert_eq!(held(5), 250);
		assert_eq!(Balances::free_balance(5), FUNDS - 250);
		assert_last(Event::Registered { trainer: 5, bond: 250 });
	});
}

#[test]
fn register_refuses() {
	Genesis::default().run(|| {
		let call = |who, bond| Hashrate::register(RuntimeOrigin::signed(who), bond, hardware());
		assert_noop!(call(5, MIN_BOND - 1), Error::<Test>::BondTooSmall);
		assert_noop!(call(5, FUNDS + 1), TokenError::FundsUnavailable);
		assert_noop!(call(1, MIN_BOND), Error::<Test>::AlreadyRegistered);
		assert_noop!(
			Hashrate::register(RuntimeOrigin::root(), MIN_BOND, hardware()),
			DispatchError::BadOrigin
		);
		// One who is leaving has its old bond still held.
		register(5);
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(5)));
		assert_noop!(call(5, MIN_BOND), Error::<Test>::AlreadyRegistered);
	});
}

#[test]
fn bond_extra_adds() {
	Genesis::default().run(|| {
		register(5);
		assert_ok!(Hashrate::bond_extra(RuntimeOrigin::signed(5), 50));
		assert_eq!(Trainers::<Test>::get(5).unwrap().bond, MIN_BOND + 50);
		assert_eq!(held(5), MIN_BOND + 50);
		assert_last(Event::BondExtended { trainer: 5, bond: MIN_BOND + 50 });
	});
}

#[test]
fn bond_extra_refuses() {
	Genesis::default().run(|| {
		let call = |who, amount| Hashrate::bond_extra(RuntimeOrigin::signed(who), amount);
		assert_noop!(call(5, 1), Error::<Test>::NotRegistered);
		register(5);
		assert_noop!(call(5, FUNDS), TokenError::FundsUnavailable);
		assert_noop!(call(5, u128::MAX), ArithmeticError::Overflow);
		assert_noop!(Hashrate::bond_extra(RuntimeOrigin::none(), 1), DispatchError::BadOrigin);
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(5)));
		assert_noop!(call(5, 1), Error::<Test>::Leaving);
	});
}

#[test]
fn update_hardware_replaces_the_report() {
	Genesis::default().run(|| {
		register(5);
		let better = Hardware { cores: 64, ..hardware() };
		assert_ok!(Hashrate::update_hardware(RuntimeOrigin::signed(5), better.clone()));
		assert_eq!(Trainers::<Test>::get(5).unwrap().hardware, better);
		assert_last(Event::HardwareUpdated { trainer: 5 });
	});
}

#[test]
fn update_hardware_refuses() {
	Genesis::default().run(|| {
		let call = |who| Hashrate::update_hardware(RuntimeOrigin::signed(who), hardware());
		assert_noop!(call(5), Error::<Test>::NotRegistered);
		register(5);
		assert_noop!(
			Hashrate::update_hardware(RuntimeOrigin::root(), hardware()),
			DispatchError::BadOrigin
		);
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(5)));
		assert_noop!(call(5), Error::<Test>::Leaving);
	});
}

#[test]
fn leaving_takes_the_unbonding_period() {
	Genesis::default().run(|| {
		register(5);
		set_power(5, 7);
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(5)));
		let free_at = 1 + UNBONDING;
		assert_eq!(Trainers::<Test>::get(5).unwrap().free_at, Some(free_at));
		assert_last(Event::Leaving { trainer: 5, free_at });
		assert_eq!(held(5), MIN_BOND);

		run_to(free_at - 1, 1);
		assert_noop!(Hashrate::withdraw(RuntimeOrigin::signed(5)), Error::<Test>::StillBonded);
		run_block(1);
		assert_ok!(Hashrate::withdraw(RuntimeOrigin::signed(5)));
		assert_eq!(held(5), 0);
		assert_eq!(Balances::free_balance(5), FUNDS);
		assert_eq!(Trainers::<Test>::get(5), None);
		assert!(!Power::<Test>::contains_key(5));
		assert_last(Event::Withdrawn { trainer: 5, bond: MIN_BOND });

		// And may come back, without its power.
		register(5);
		assert_eq!(Hashrate::ecp(&5), 0);
	});
}

#[test]
fn deregister_ends_candidacy() {
	Genesis::default().run(|| {
		assert_ok!(Hashrate::deregister(RuntimeOrigin::signed(3)));
		assert!(!Hashrate::is_candidate(&3));
		assert!(events().contains(&Event::CandidacyChanged { trainer: 3, candidate: false }));
	});
}

#[test]
fn deregister_refuses() {
	Genesis::default().run(|| {
		let call = |who| Hashrate::deregister(RuntimeOrigin::signed(who));
		assert_noop!(call(5), Error::<Test>::NotRegistered);
		assert_noop!(Hashrate::deregister(RuntimeOrigin::root()), DispatchError::BadOrigin);
		register(5);
		assert_ok!(call(5));
		assert_noop!(call(5), Error::<Test>::Leaving);
	});
}

#[test]
fn withdraw_refuses() {
	Genesis::default().run(|| {
		let call = |who| Hashrate::withdraw(RuntimeOrigin::signed(who));
		assert_noop!(call(5), Error::<Test>::NotRegistered);
		assert_noop!(Hashrate::withdraw(RuntimeOrigin::root()), DispatchError::BadOrigin);
		register(5);
		assert_noop!(call(5), Error::<Test>::NotLeaving);
	});
}

#[test]
fn a_record_keeps_its_layout() {
	use codec::Encode;
	let trainer = Trainer {
		bond: 3,
		hardware: Hardware { cores: 8, memory_mib: 9, ..Default::default() },
		free_at: Some(7),
	};
	let bytes = [
		&3u128.to_le_bytes()[..],
		&[0],
		&8u32.to_le_bytes(),
		&9u32.to_le_bytes(),
		&[0],
		&[1],
		&7u32.to_le_bytes(),
	]
	.concat();
	assert_eq!(trainer.encode(), bytes);
}
