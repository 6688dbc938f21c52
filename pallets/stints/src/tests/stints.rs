//! Beginning, reporting, leaving.

use super::*;
use crate::{HoldReason, NextReport};
use frame_support::traits::fungible::InspectHold;
use sp_runtime::TokenError;
use trainyard_protocol::stint::{CERTAIN, MAX_LAPS};

fn held(who: AccountId) -> u128 {
	Balances::balance_on_hold(&HoldReason::Driller.into(), &who)
}

#[test]
fn a_stint_begins_with_a_deposit_and_a_seed_of_its_own() {
	run(|| {
		to(40);
		assert_ok!(Stinting::begin(signed(DRILLER)));
		let first = Stints::<Test>::get(DRILLER).unwrap();
		assert_eq!(
			(first.number, first.begun, first.report, held(DRILLER)),
			(0, 40, None, DEPOSIT)
		);
		assert_eq!(first.seed, stint::seed(&System::block_hash(32), &DRILLER, 0));
		assert_eq!(events(), vec![Event::Begun { driller: DRILLER, number: 0, seed: first.seed }]);
		// Again: the stint before is given up, and nothing more is held.
		pass(1);
		assert_ok!(Stinting::begin(signed(DRILLER)));
		let second = Stints::<Test>::get(DRILLER).unwrap();
		assert_eq!((second.number, second.begun, held(DRILLER)), (1, 41, DEPOSIT));
		assert_ne!(first.seed, second.seed);
		assert_ok!(Stinting::begin(signed(DRILLERS[1])));
		assert_ne!(Stints::<Test>::get(DRILLERS[1]).unwrap().seed, first.seed);
	});
}

#[test]
fn beginning_refuses() {
	run(|| {
		assert_noop!(Stinting::begin(signed(77)), Error::<Test>::NotATrainer);
		Bonds::mutate(|bonds| bonds.insert(77, BOND));
		assert_noop!(Stinting::begin(signed(77)), TokenError::FundsUnavailable);
	});
}

#[test]
fn who_retires_has_its_deposit_back() {
	run(|| {
		assert_noop!(Stinting::retire(signed(DRILLER)), Error::<Test>::NoStint);
		assert_ok!(Stinting::begin(signed(DRILLER)));
		assert_ok!(Stinting::retire(signed(DRILLER)));
		assert_eq!((held(DRILLER), Stints::<Test>::count()), (0, 0));
		assert_eq!(events().last(), Some(&Event::Retired { driller: DRILLER }));
		report(DRILLER, &laps(1, 5));
		assert_noop!(Stinting::retire(signed(DRILLER)), Error::<Test>::Unsettled);
	});
}

#[test]
fn a_report_is_noted_paid_and_followed_by_the_next_stint() {
	run(|| {
		let results = laps(1, 7);
		let (before, jackpot) = (Balances::free_balance(DRILLER), Balances::free_balance(JACKPOT));
		let id = report(DRILLER, &results);
		let now = System::block_number();
		let work = stint::work(7);
		// Who has nothing to lose is checked, and pays all of it.
		let fee = 3 * CHECK_FEE;
		let (laps, chance) = (7, CERTAIN);
		assert_eq!(
			events()[0],
			Event::Reported { report: id, driller: DRILLER, laps, work, chance, fee }
		);
		assert_eq!(Balances::free_balance(DRILLER), before - DEPOSIT - fee);
		assert_eq!(Balances::free_balance(JACKPOT), jackpot + fee);
		let stint = Stints::<Test>::get(DRILLER).unwrap();
		assert_eq!((stint.number, stint.begun, stint.report), (1, now, Some(0)));
		let found = get(id);
		assert_eq!(
			(found.number, found.root, found.laps, found.work),
			(0, root(&results), 7, work)
		);
		assert_eq!(NextReport::<Test>::get(), 1);
		let view = Stinting::pending(&DRILLER).unwrap();
		assert_eq!((view.id, view.laps, view.seed), (0, 7, found.seed));
		let view = Stinting::stint(&DRILLER).unwrap();
		assert!((now + MIN_PERIOD..=now + MIN_PERIOD * 3 / 2).contains(&view.from));
		assert_eq!(view.until, now + MAX_STINT);
		assert_eq!((view.report, view.check_price), (Some(0), fee));
	});
}

#[test]
fn reporting_refuses() {
	run(|| {
		let stint = || Stints::<Test>::get(DRILLER).unwrap();
		let report_laps = |laps| {
			let number = Stints::<Test>::get(DRILLER).map_or(0, |stint| stint.number);
			Stinting::report(signed(DRILLER), number, H256::zero(), laps)
		};
		assert_noop!(report_laps(1), Error::<Test>::NoStint);
		assert_ok!(Stinting::begin(signed(DRILLER)));
		to(stint().from - 1);
		assert_noop!(report_laps(1), Error::<Test>::TooEarly);
		pass(1);
		assert_noop!(report_laps(0), Error::<Test>::BadLaps);
		assert_noop!(report_laps(MAX_LAPS + 1), Error::<Test>::BadLaps);
		// What nobody has shown to compute: 2 ut a block, or twice its power.
		let most = stint::FREE_WORK * u64::from(stint().from - stint().begun) / stint::work(1);
		assert_noop!(report_laps(most as u32 + 2), Error::<Test>::TooMuch);
		let other = Stinting::report(signed(DRILLER), 1, H256::zero(), 1);
		assert_noop!(other, Error::<Test>::OtherStint);
		to(stint().until + 1);
		assert_noop!(report_laps(1), Error::<Test>::TooLate);
		assert_ok!(Stinting::begin(signed(DRILLER)));
		to(stint().from);
		Bonds::mutate(|bonds| bonds.remove(&DRILLER));
		assert_noop!(report_laps(1), Error::<Test>::NotATrainer);
		Bonds::mutate(|bonds| bonds.insert(DRILLER, BOND));
		// Who cannot pay for its checks does not report.
		let all = Balances::free_balance(DRILLER) - ED - 3 * CHECK_FEE;
		assert_ok!(Balances::transfer_keep_alive(signed(DRILLER), JACKPOT, all + 1));
		assert_noop!(report_laps(1), TokenError::Frozen);
		assert_ok!(Balances::transfer_keep_alive(signed(21), DRILLER, 1));
		Busy::set(true);
		assert_ok!(report_laps(1));
		to(stint().from);
		assert_noop!(report_laps(1), Error::<Test>::Unsettled);
	});
}

/// The more a driller has to lose beside what it claims, the less it is checked, and the less it pays.
#[test]
fn who_has_shown_much_is_checked_seldom() {
	run(|| {
		let work = stint::work(10);
		for (has, chance, fee) in [
			(0, CERTAIN, 192),
			(2 * work, CERTAIN, 192),
			(8 * work, CERTAIN / 4, 48),
			(1_000 * work, CERTAIN / 64, 3),
		] {
			Stock::mutate(|all| all.insert(DRILLER, has));
			let free = Balances::free_balance(DRILLER);
			let id = report(DRILLER, &laps(1, 10));
			assert_eq!(get(id).chance, chance, "{has}");
			let deposit = if id == 0 { DEPOSIT } else { 0 };
			assert_eq!(Balances::free_balance(DRILLER), free - deposit - fee);
			Pool::set(Vec::new());
			pass(8_000);
			Pool::set(VERIFIERS.collect());
			assert_ok!(Stinting::begin(signed(DRILLER)));
		}
	});
}

/// Without a check the laps are credited as soon as there is a seed.
#[test]
fn what_is_not_drawn_is_credited() {
	run(|| {
		let work = stint::work(10);
		Stock::mutate(|all| all.insert(DRILLER, 1_000 * work));
		// One in 64 is checked: this salt draws none of the first.
		SeedSalt::set(1);
		let id = report(DRILLER, &laps(1, 10));
		pass(SEED_BLOCKS);
		assert!(Reports::<Test>::contains_key(id));
		pass(1);
		assert_eq!(
			events(),
			vec![Event::Credited { report: id, driller: DRILLER, work, checked: false }]
		);
		assert_eq!(stock(DRILLER), 1_001 * work);
		assert_eq!(Stints::<Test>::get(DRILLER).unwrap().report, None);
	});
}
