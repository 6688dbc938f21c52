//! Checks by samples.

use super::*;
use crate::{Period, Phase, Report, CHECKERS, CHECK_PAUSE, DOUBTERS, MAX_CHECK_WAIT, MAX_OPEN};
use trainyard_protocol::stint::{ReportPhase, Samples, Siblings, CERTAIN, SAMPLES};

#[test]
fn a_true_report_is_confirmed_and_its_verifiers_are_paid() {
	run(|| {
		let results = laps(1, 100);
		let id = report(DRILLER, &results);
		until_checked(id);
		let found = get(id);
		assert_eq!((found.samples.len() as u32, found.committee.len() as u32), (SAMPLES, CHECKERS));
		assert_eq!(Seated::get().len(), 3);
		let who = sitting(id)[0];
		let view = &Stinting::checks(&who)[0];
		assert_eq!((view.id, view.phase, view.committed), (id, ReportPhase::Checking, false));
		assert_eq!(view.samples, found.samples.to_vec());
		let before = Balances::free_balance(who);
		let digest = digest(id, &results);
		check(id, Some(&results), |_| Some(digest));
		assert!(!Reports::<Test>::contains_key(id));
		assert_eq!(stock(DRILLER), stint::work(100));
		assert_eq!(Balances::free_balance(who), before + CHECK_FEE);
		assert!(Seated::get().is_empty() && Stinting::checks(&who).is_empty());
		assert!(events().contains(&Event::Credited {
			report: id,
			driller: DRILLER,
			work: stint::work(100),
			checked: true
		}));
	});
}

/// A majority of the three confirms where the third is absent. Where it found something else others
/// decide, and it pays for it.
#[test]
fn two_of_three_confirm() {
	run(|| {
		let results = laps(1, 10);
		let id = report(DRILLER, &results);
		until_checked(id);
		let (digest, seats) = (digest(id, &results), sitting(id));
		check(id, Some(&results), |seat| (seat != 2).then_some(digest));
		assert_eq!((stock(DRILLER), Absent::get()), (stint::work(10), vec![seats[2]]));

		let id = report(DRILLER, &laps(1, 1_000));
		until_checked(id);
		let (digest, seats) = (super::digest(id, &laps(1, 1_000)), sitting(id));
		let of = |seat| Some(if seat == 1 { H256::repeat_byte(9) } else { digest });
		check(id, Some(&laps(1, 1_000)), of);
		assert!(Contrary::get().is_empty());
		check(id, None, |_| Some(digest));
		assert_eq!(Contrary::get(), vec![seats[1]]);
		assert_eq!(stock(DRILLER), stint::work(10) + stint::work(1_000));
	});
}

/// Three verifiers convict nobody. Fifteen others do, and the honest driller whom the three accused
/// has its laps.
#[test]
fn three_liars_convict_nobody() {
	run(|| {
		let results = laps(1, 100);
		let id = report(DRILLER, &results);
		let lie = H256::repeat_byte(9);
		check(id, Some(&results), |_| Some(lie));
		assert!(matches!(get(id).phase, Phase::Drawing { waits: Some(_), .. }));
		let liars = sitting(id);
		until_checked(id);
		assert_eq!(sitting(id).len() as u32, DOUBTERS);
		let digest = digest(id, &results);
		// What was opened stays open, and a driller opens once.
		assert!(get(id).opened.is_some());
		check(id, None, |seat| Some(if seat < 7 { lie } else { digest }));
		assert_eq!((stock(DRILLER), Forgers::get()), (stint::work(100), vec![]));
		// Eight of fifteen make nobody pay; eleven do.
		assert!(Contrary::get().is_empty() && Seated::get().is_empty());
		let id = report(DRILLER, &results);
		check(id, Some(&results), |_| Some(lie));
		assert!(Seated::get().is_empty(), "who has revealed waits for nobody");
		let others = sitting(id);
		until_checked(id);
		let digest = super::digest(id, &results);
		check(id, None, |seat| Some(if seat < 4 { lie } else { digest }));
		assert!(others.iter().all(|liar| Contrary::get().contains(liar)));
		assert_eq!((Contrary::get().len(), liars.len()), (3 + 4, 3));
		assert!(Seated::get().is_empty());
	});
}

#[test]
fn a_false_report_costs_bond_and_power() {
	run(|| {
		let (claimed, truth) = (laps(1, 100), laps(2, 100));
		Stock::mutate(|all| all.insert(DRILLER, stint::work(100)));
		let id = report(DRILLER, &claimed);
		until_checked(id);
		let found = digest(id, &truth);
		check(id, Some(&claimed), |_| Some(found));
		check(id, None, |_| Some(found));
		assert_eq!((Forgers::get(), stock(DRILLER)), (vec![DRILLER], 0));
		assert!(events()
			.iter()
			.any(|e| *e == Event::Forged { report: id, driller: DRILLER, slashed: BOND / 2 }));
		assert!(Contrary::get().is_empty() && Absent::get().is_empty());
		assert_eq!(Stints::<Test>::get(DRILLER).unwrap().report, None);
	});
}

/// Who does not open loses as much as a liar with such a chance of a check must fear.
#[test]
fn who_does_not_open_loses_what_a_liar_would() {
	run(|| {
		let work = stint::work(10);
		Stock::mutate(|all| all.insert(DRILLER, 4 * work));
		// Half of such reports are checked: with this salt the first is.
		let id = (0..).find_map(|salt| {
			SeedSalt::set(salt);
			let id = report(DRILLER, &laps(1, 10));
			pass(SEED_BLOCKS + 1);
			let drawn = Reports::<Test>::contains_key(id);
			Stock::mutate(|all| all.insert(DRILLER, 4 * work));
			drawn.then_some(id)
		});
		let id = id.unwrap();
		let chance = get(id).chance;
		assert_eq!(chance, CERTAIN / 2);
		let digest = digest(id, &laps(1, 10));
		let seats = sitting(id);
		check(id, None, |_| Some(digest));
		assert_eq!(stock(DRILLER), 0, "twice the work over a half");
		let (driller, work, slashed) = (DRILLER, 4 * work, 0);
		assert!(events().contains(&Event::NotOpened { report: id, driller, work, slashed }));
		// The verifiers did their part.
		assert!(Contrary::get().is_empty() && Absent::get().is_empty());
		assert!(seats.iter().all(|who| Balances::free_balance(who) == ENDOWMENT + CHECK_FEE));
		assert!(Forgers::get().is_empty());
	});
}

/// Nothing is credited unchecked: without three verifiers a report waits, and is void in the end.
#[test]
fn without_verifiers_nothing_is_credited() {
	run(|| {
		Pool::set(vec![21, 22]);
		let id = report(DRILLER, &laps(1, 10));
		pass(SEED_BLOCKS + 1);
		let until = System::block_number() + CHECK_PAUSE;
		assert_eq!(events(), vec![Event::CheckPostponed { report: id, until }]);
		assert_eq!(stock(DRILLER), 0);
		let samples = get(id).samples.clone();
		Pool::set(VERIFIERS.collect());
		until_checked(id);
		assert_eq!(get(id).samples, samples, "drawn once");

		Busy::set(true);
		let id = report(DRILLERS[1], &laps(1, 10));
		pass(MAX_CHECK_WAIT + 100);
		assert!(!Reports::<Test>::contains_key(id));
		assert!(stock(DRILLERS[1]) == 0 && !Forgers::get().contains(&DRILLERS[1]));
		assert_eq!(Stints::<Test>::get(DRILLERS[1]).unwrap().report, None);
	});
}

/// Where there are too few verifiers every report is checked, so that none is credited unchecked: also
/// of those whose reports are drawn once in 64.
#[test]
fn without_verifiers_everything_is_drawn() {
	run(|| {
		Stock::mutate(|all| all.insert(DRILLER, 1_000 * stint::work(10)));
		Pool::set(vec![21]);
		report(DRILLERS[1], &laps(1, 1));
		pass(SEED_BLOCKS + 1);
		let id = report(DRILLER, &laps(1, 10));
		assert_eq!(get(id).chance, CERTAIN);
		pass(100);
		assert_eq!(stock(DRILLER), 1_000 * stint::work(10));
		// Later it is as before.
		Pool::set(VERIFIERS.collect());
		pass(crate::SCARCITY + MAX_CHECK_WAIT);
		Stock::mutate(|all| all.insert(DRILLER, 1_000 * stint::work(10)));
		let id = report(DRILLER, &laps(1, 10));
		assert_eq!(get(id).chance, CERTAIN / 64);
	});
}

/// Power decays between a report and its check. Who had enough of it has the time of restarts, and loses
/// nothing of its bond.
#[test]
fn decay_uncovers_nobody() {
	run(|| {
		let work = stint::work(10);
		let id = (0..).find_map(|salt| {
			SeedSalt::set(salt);
			Stock::mutate(|all| all.insert(DRILLER, 4 * work));
			let id = report(DRILLER, &laps(1, 10));
			pass(SEED_BLOCKS + 1);
			Reports::<Test>::contains_key(id).then_some(id)
		});
		let id = id.unwrap();
		// A thousandth of it is gone.
		Stock::mutate(|all| all.insert(DRILLER, 4 * work - 4 * work / 1_000));
		let digest = digest(id, &laps(1, 10));
		let before = System::block_number();
		check(id, None, |_| Some(digest));
		assert!(System::block_number() - before >= OPEN);
		assert_eq!((stock(DRILLER), Forgers::get(), Bonds::get()[&DRILLER]), (0, vec![], BOND));
	});
}

/// However long stints are, a check ends before bonds can be withdrawn.
#[test]
fn long_periods_leave_no_time_to_unbond() {
	run(|| {
		let id = report(DRILLER, &laps(1, 10));
		let record = Report { chance: CERTAIN / 2, ..get(id) };
		let time = |period| {
			Period::<Test>::put(period);
			Stinting::time_to_open(&record)
		};
		assert_eq!((time(10), time(3 * OPEN)), (OPEN, 3 * OPEN / 2));
		assert_eq!((time(1_000_000), time(u32::MAX)), (MAX_OPEN, MAX_OPEN));
	});
}

/// A small pool decides with the most that it has.
#[test]
fn a_small_pool_convicts_too() {
	run(|| {
		for (size, second) in [(6, 3), (7, 3), (8, 5), (12, 9), (20, 15)] {
			Pool::set(VERIFIERS.take(size).collect());
			Stock::mutate(|all| all.insert(DRILLER, 0));
			Bonds::mutate(|bonds| bonds.insert(DRILLER, BOND));
			Forgers::set(Vec::new());
			let id = report(DRILLER, &laps(1, 10));
			until_checked(id);
			let found = digest(id, &laps(2, 10));
			check(id, Some(&laps(1, 10)), |_| Some(found));
			until_checked(id);
			assert_eq!(sitting(id).len(), second);
			check(id, None, |_| Some(found));
			assert_eq!(Forgers::get(), vec![DRILLER]);
			assert!(Seated::get().is_empty());
		}
	});
}

/// Where there are not three others nobody is convicted, and no verifier pays.
#[test]
fn without_others_a_doubted_report_is_void() {
	run(|| {
		Pool::set(VERIFIERS.take(5).collect());
		let id = report(DRILLER, &laps(1, 10));
		until_checked(id);
		let (lie, truth) = (digest(id, &laps(2, 10)), digest(id, &laps(1, 10)));
		let before = Balances::free_balance(JACKPOT);
		check(id, Some(&laps(1, 10)), |seat| Some(if seat < 2 { lie } else { truth }));
		pass(MAX_CHECK_WAIT + 100);
		assert!(!Reports::<Test>::contains_key(id));
		assert_eq!((stock(DRILLER), Forgers::get(), Contrary::get()), (0, vec![], vec![]));
		assert_eq!(Balances::free_balance(JACKPOT), before, "nobody is paid for a doubt");

		// Where most of the three found something else that costs what silence does in power.
		Stock::mutate(|all| all.insert(DRILLER, stint::work(10)));
		let id = report(DRILLER, &laps(1, 10));
		until_checked(id);
		let lie = digest(id, &laps(2, 10));
		check(id, Some(&laps(1, 10)), |_| Some(lie));
		pass(MAX_CHECK_WAIT + 100);
		assert_eq!((stock(DRILLER), Forgers::get(), Contrary::get()), (0, vec![], vec![]));
	});
}

#[test]
fn a_second_committee_without_a_majority_takes_power_alone() {
	run(|| {
		let results = laps(1, 10);
		let id = report(DRILLER, &results);
		check(id, Some(&results), |_| None);
		until_checked(id);
		let found = digest(id, &results);
		check(id, None, |seat| (seat < 7).then_some(found));
		let (driller, work, slashed) = (DRILLER, 2 * stint::work(10), 0);
		assert!(events().contains(&Event::Unconfirmed { report: id, driller, work, slashed }));
		assert_eq!((stock(DRILLER), Forgers::get(), Contrary::get()), (0, vec![], vec![]));
		assert_eq!(Absent::get().len(), 3 + 8);
	});
}

#[test]
fn a_lost_seed_is_replaced() {
	run(|| {
		LostSeeds::set(2);
		let id = report(DRILLER, &laps(1, 10));
		pass(SEED_BLOCKS + 1);
		assert_eq!(events(), vec![Event::SeedLost { report: id }]);
		until_checked(id);
	});
}

#[test]
fn checking_refuses() {
	run(|| {
		let results = laps(1, 10);
		let id = report(DRILLER, &results);
		let commit_to = |who, id| Stinting::check(signed(who), id, H256::zero());
		assert_noop!(commit_to(21, 5), Error::<Test>::NoSuchReport);
		assert_noop!(commit_to(21, id), Error::<Test>::NotChecking);
		until_checked(id);
		let seats = sitting(id);
		let stranger = VERIFIERS.into_iter().find(|who| !seats.contains(who)).unwrap();
		assert_noop!(commit_to(stranger, id), Error::<Test>::NotSeated);
		assert_noop!(commit_to(DRILLER, id), Error::<Test>::NotSeated);
		let nothing = || (Samples::default(), Siblings::default());
		let open_nothing = |who, id| {
			let (samples, siblings) = nothing();
			Stinting::open(signed(who), id, samples, siblings)
		};
		assert_noop!(open_nothing(DRILLER, id), Error::<Test>::NotOpening);
		let digest = digest(id, &results);
		commit(id, seats[0], digest);
		assert_noop!(commit_to(seats[0], id), Error::<Test>::AlreadyCommitted);
		let reveal = |who, digest, salt| Stinting::check_reveal(signed(who), id, digest, salt);
		assert_noop!(reveal(seats[0], digest, SALT), Error::<Test>::NotOpening);
		pass(CHECK + 1);
		assert_noop!(commit_to(seats[1], id), Error::<Test>::NotChecking);
		assert_noop!(reveal(seats[1], digest, SALT), Error::<Test>::NotCommitted);
		assert_noop!(reveal(stranger, digest, SALT), Error::<Test>::NotSeated);
		assert_noop!(reveal(seats[0], digest, [8; 32]), Error::<Test>::WrongReveal);
		assert_noop!(reveal(seats[0], H256::zero(), SALT), Error::<Test>::WrongReveal);
		assert_ok!(reveal(seats[0], digest, SALT));
		assert_noop!(reveal(seats[0], digest, SALT), Error::<Test>::AlreadyRevealed);
		assert_noop!(open_nothing(DRILLER, id), Error::<Test>::WrongOpening);
		assert_noop!(open_nothing(seats[0], id), Error::<Test>::NotSeated);
		assert_noop!(open_nothing(DRILLER, 7), Error::<Test>::NoSuchReport);
		assert_noop!(
			Stinting::check_reveal(signed(21), 7, digest, SALT),
			Error::<Test>::NoSuchReport
		);
		// Other results than those under the root.
		let found = get(id).samples.iter().map(|at| laps(2, 10)[*at as usize]).collect();
		let wrong = Stinting::open(signed(DRILLER), id, Samples::truncate_from(found), nothing().1);
		assert_noop!(wrong, Error::<Test>::WrongOpening);
		assert_ok!(open(id, &results));
		assert_noop!(open(id, &results), Error::<Test>::AlreadyRevealed);
	});
}
