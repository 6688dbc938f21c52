//! What drillers and verifiers try, and what comes of it.

use super::*;
use crate::Phase;
use frame_support::traits::fungible::Inspect;
use trainyard_protocol::stint::CERTAIN;

/// One machine of ten times the rate, or ten accounts of a tenth each: the same laps, the same power.
/// What ten accounts have more is ten deposits and ten fees.
#[test]
fn ten_identities_earn_what_one_does() {
	run(|| {
		let honest = |who: AccountId, count: u32| {
			let results = laps(who, count);
			let id = report(who, &results);
			until_checked(id);
			let digest = digest(id, &results);
			check(id, Some(&results), |_| Some(digest));
		};
		honest(DRILLERS[0], 3_000);
		for who in &DRILLERS[1..] {
			honest(*who, 1_000);
		}
		let split: u64 = DRILLERS[1..].iter().map(|who| stock(*who)).sum();
		assert!(stock(DRILLERS[0]).abs_diff(split) <= 3);
		let paid = |who: &AccountId| ENDOWMENT - <Balances as Inspect<u64>>::total_balance(who);
		assert_eq!(paid(&DRILLERS[0]), 3 * CHECK_FEE);
		assert_eq!(DRILLERS[1..].iter().map(paid).sum::<u128>(), 9 * CHECK_FEE);
	});
}

/// A stint cannot be computed before it begins, nor the same laps be reported twice: each has a seed of
/// its own, of a block that came shortly before, the driller and the number of the stint.
#[test]
fn laps_are_of_one_stint() {
	run(|| {
		let mut seeds = std::collections::BTreeSet::new();
		for who in DRILLERS {
			for _ in 0..5 {
				assert_ok!(Stinting::begin(signed(who)));
				assert!(seeds.insert(Stints::<Test>::get(who).unwrap().seed));
			}
		}
	});
}

/// What was computed over weeks cannot be shown at once.
#[test]
fn hoarded_work_does_not_count() {
	run(|| {
		assert_ok!(Stinting::begin(signed(DRILLER)));
		pass(MAX_STINT + 1);
		let late = Stinting::report(signed(DRILLER), 0, H256::zero(), 1_000_000);
		assert_noop!(late, Error::<Test>::TooLate);
	});
}

/// A newcomer that claims much is checked, whatever it claims: nothing is credited before.
#[test]
fn a_newcomers_claim_is_checked_before_it_counts() {
	run(|| {
		for (who, count) in DRILLERS.into_iter().zip([1, 10, 1_000]) {
			let id = report(who, &laps(1, count));
			assert_eq!(get(id).chance, CERTAIN);
			until_checked(id);
			assert_eq!(stock(who), 0);
		}
	});
}

/// A verifier cannot wait for what the driller opens: it has committed before, or it has no part.
#[test]
fn nobody_repeats_what_was_opened() {
	run(|| {
		let results = laps(1, 10);
		let id = report(DRILLER, &results);
		until_checked(id);
		let seats = sitting(id);
		pass(CHECK + 1);
		assert!(matches!(get(id).phase, Phase::Opening { .. }));
		assert_ok!(open(id, &results));
		let made = H256::repeat_byte(1);
		assert_noop!(Stinting::check(signed(seats[0]), id, made), Error::<Test>::NotChecking);
	});
}

/// A driller whose verifiers are kept busy gets no other samples by it, and no second chance to escape
/// the check.
#[test]
fn busy_verifiers_help_nobody() {
	run(|| {
		Busy::set(true);
		let id = report(DRILLER, &laps(1, 1_000));
		pass(SEED_BLOCKS + 1);
		let samples = get(id).samples.clone();
		assert_eq!(samples.len(), 4);
		for _ in 0..20 {
			pass(40);
			assert_eq!((get(id).samples.clone(), stock(DRILLER)), (samples.clone(), 0));
		}
		Busy::set(false);
		until_checked(id);
		assert_eq!(get(id).samples, samples);
	});
}

/// Who does not answer any more loses at most what it has, and its stint goes on without it.
#[test]
fn who_vanishes_holds_nobody_up() {
	run(|| {
		let id = report(DRILLER, &laps(1, 10));
		pass(1_000);
		// Neither driller nor verifiers ever came.
		assert!(!Reports::<Test>::contains_key(id));
		assert_eq!(Absent::get().len(), 3);
		assert_ok!(Stinting::retire(signed(DRILLER)));
	});
}

/// Accounts that claim made-up laps, and are silent where they are checked by others than friends, lose
/// half of their bond each time: power that they do not have cannot answer for them.
#[test]
fn silence_is_not_free_for_who_has_no_power() {
	run(|| {
		let id = report(DRILLER, &laps(1, 10));
		until_checked(id);
		let found = digest(id, &laps(1, 10));
		let before = System::block_number();
		check(id, None, |_| Some(found));
		assert_eq!(Bonds::get()[&DRILLER], BOND / 2);
		// Nor does it hold the verifiers' seats for long.
		assert!(System::block_number() - before <= 2 * CHECK + 3);
		assert!(Seated::get().is_empty());

		// Who has a part of what it should answer with pays for the rest.
		let who = DRILLERS[1];
		Stock::mutate(|all| all.insert(who, stint::work(10)));
		let id = report(who, &laps(1, 10));
		until_checked(id);
		check(id, None, |_| None);
		assert_eq!(Bonds::get()[&who], BOND - BOND / 4, "half of the stake is covered");
		assert_eq!(stock(who), 0);
	});
}

/// Two friends among three verifiers confirm nothing that the third contradicts, and the third pays
/// nothing for it.
#[test]
fn two_friends_of_three_confirm_nothing() {
	run(|| {
		let (made_up, truth) = (laps(1, 10), laps(2, 10));
		let id = report(DRILLER, &made_up);
		until_checked(id);
		let (lie, found) = (digest(id, &made_up), digest(id, &truth));
		let honest = sitting(id)[2];
		check(id, Some(&made_up), |seat| Some(if seat < 2 { lie } else { found }));
		until_checked(id);
		assert!(!sitting(id).contains(&honest), "others decide");
		check(id, None, |_| Some(found));
		assert_eq!((Forgers::get(), stock(DRILLER)), (vec![DRILLER], 0));
		assert!(!Contrary::get().contains(&honest) && Contrary::get().len() == 2);
	});
}

/// Friends of a liar without power who abstain in the second committee do not save it: what most of
/// the others found costs it what silence would.
#[test]
fn friends_who_abstain_save_no_liar() {
	run(|| {
		let (made_up, truth) = (laps(1, 10), laps(2, 10));
		let id = report(DRILLER, &made_up);
		until_checked(id);
		let found = digest(id, &truth);
		check(id, Some(&made_up), |_| Some(found));
		until_checked(id);
		check(id, None, |seat| (seat < 8).then_some(found));
		assert_eq!(Bonds::get()[&DRILLER], BOND / 2);
		assert!(Contrary::get().is_empty());
	});
}

/// Ten of fifteen take power, and no bond of who has it; eleven convict. So a cartel that has 40 % of all seats
/// convicts an honest driller in fewer than one of a hundred checks that it doubts.
#[test]
fn a_bond_is_lost_by_more_than_two_thirds() {
	for (liars, forged) in [(10, false), (11, true)] {
		run(|| {
			let results = laps(1, 10);
			Stock::mutate(|all| all.insert(DRILLER, 1_000 * stint::work(10)));
			let id = (0..).find_map(|salt| {
				SeedSalt::set(salt);
				let id = report(DRILLER, &results);
				pass(SEED_BLOCKS + 1);
				Reports::<Test>::contains_key(id).then_some(id)
			});
			let id = id.unwrap();
			let (lie, found) = (H256::repeat_byte(9), digest(id, &results));
			check(id, Some(&results), |_| Some(lie));
			until_checked(id);
			let before = stock(DRILLER);
			check(id, None, |seat| Some(if seat < liars { lie } else { found }));
			assert_eq!(!Forgers::get().is_empty(), forged);
			let left = before.saturating_sub(128 * stint::work(10));
			assert!(stock(DRILLER) == if forged { 0 } else { left });
		});
	}
}
