//! Recomputations of agreed units.

use crate::{
	mock::{
		Act::{self, *},
		*,
	},
	Error, Event, Failure, Phase, Pool, Results, CHECK_PAUSE, MAX_CHECK_WAIT,
};
use frame_support::{assert_noop, assert_ok};
use sp_runtime::Permill;
use trainyard_protocol::{drill::Mismatch, H256};

/// Brings a unit to its recomputation, after its two drillers agreed on result 1. Returns them.
fn agreed() -> Vec<AccountId> {
	CheckShare::set(Permill::one());
	active(Mismatch::Majority, 2, 10);
	enlisted(2);
	let members = play(0, &[Say(1), Say(1)]);
	until(0, checking);
	members
}

fn fees(count: u128) -> u128 {
	ED + 1_000 - count * CHECK_FEE
}

#[test]
fn three_verifiers_are_drawn_who_did_not_compute_it() {
	run(|| {
		// The drillers are verifiers too.
		VerifierBonds::mutate(|bonds| bonds.extend(DRILLERS.map(|who| (who, 1_000_000))));
		let members = agreed();
		let unit = unit(0);
		let verifiers = who(&unit.verifiers);
		assert_eq!(verifiers.len(), 3);
		assert!(verifiers.iter().all(|who| !members.contains(who)));
		let Phase::CheckCommitting { until } = unit.phase else { panic!() };
		System::assert_has_event(Event::CheckOpened { assignment: 0, verifiers, until }.into());
		// The verifiers have the time that the drillers had, or more.
		assert_eq!(until, System::block_number() + CHECK);
		assert!(Credited::get().is_empty());
	});
}

/// A verifier that has no room for a unit is not drawn for it.
#[test]
fn verifiers_are_drawn_for_what_a_unit_takes() {
	run(|| {
		CheckShare::set(Permill::one());
		assert_ok!(propose_by(PROPOSER, trial(), Mismatch::Majority, 2, 1));
		approve(0);
		enlisted(2);
		play(0, &[Say(1), Say(1)]);
		until(0, checking);
		let needs = trial().measure().unwrap().needs;
		assert!(needs.work > project(0).difficulty && needs.memory_mib > 0 && needs.disk_mib > 0);
		assert_eq!(Needed::get(), [needs; 3]);
		play_check(0, &[Say(1), Say(1), Vanish]);
		assert!(Needed::get().is_empty());
	});
}

/// Whoever reveals last decides in which block a unit is judged.
#[test]
fn the_height_of_a_check_is_not_that_of_the_last_reveal() {
	run(|| {
		SeedStep::set(16);
		active(Mismatch::Majority, 2, 10);
		enlisted(2);
		until(0, committing);
		play(0, &[Say(1), Say(1)]);
		until(0, settling);
		let Phase::Settling { after, .. } = unit(0).phase else { panic!() };
		assert_eq!(after, System::block_number().next_multiple_of(16));
	});
}

#[test]
fn verifiers_commit_and_reveal_on_conditions() {
	run(|| {
		let members = agreed();
		let verifiers = who(&unit(0).verifiers);
		let out = VERIFIERS.into_iter().find(|who| !verifiers.contains(who)).unwrap();
		assert_noop!(check(out, 0, result(1)), Error::<Test>::NotAssigned);
		assert_noop!(check(members[0], 0, result(1)), Error::<Test>::NotAssigned);
		assert_noop!(check(verifiers[0], 9, result(1)), Error::<Test>::NoSuchAssignment);
		assert_noop!(check_reveal(verifiers[0], 9, result(1)), Error::<Test>::NoSuchAssignment);
		assert_noop!(check_reveal(verifiers[0], 0, result(1)), Error::<Test>::NotRevealing);
		assert_noop!(commit(verifiers[0], 0, result(1)), Error::<Test>::NotCommitting);
		for who in &verifiers {
			assert_ok!(check(*who, 0, result(1)));
			assert_noop!(check(*who, 0, result(1)), Error::<Test>::AlreadyCommitted);
		}
		next_block();
		assert!(check_revealing(&unit(0).phase));
		assert_noop!(check(verifiers[0], 0, result(1)), Error::<Test>::NotCommitting);
		assert_noop!(check_reveal(verifiers[0], 0, result(2)), Error::<Test>::WrongReveal);
		assert_ok!(check_reveal(verifiers[0], 0, result(1)));
		assert_noop!(check_reveal(verifiers[0], 0, result(1)), Error::<Test>::AlreadyRevealed);
	});
}

#[test]
fn a_confirmed_result_is_credited_and_verifiers_are_paid() {
	run(|| {
		let members = agreed();
		let verifiers = play_check(0, &[Say(1), Say(1), Say(1)]);
		System::assert_has_event(Event::Confirmed { assignment: 0 }.into());
		assert_eq!(Credited::get(), [(members[0], work() / 2), (members[1], work() / 2)]);
		assert!(Results::<Test>::contains_key(0, 0));
		for verifier in verifiers {
			assert_eq!(Balances::free_balance(verifier), ENDOWMENT + CHECK_FEE);
			System::assert_has_event(
				Event::CheckPaid { assignment: 0, verifier, fee: CHECK_FEE }.into(),
			);
		}
		assert_eq!(Balances::free_balance(JACKPOT), fees(3));
		assert!(Absent::get().is_empty() && Contrary::get().is_empty());
	});
}

#[test]
fn a_refuted_result_costs_all_who_agreed_on_it() {
	run(|| {
		let members = agreed();
		let verifiers = play_check(0, &[Say(2), Say(2), Say(1)]);
		assert_eq!(Forgers::get(), members);
		for driller in members {
			System::assert_has_event(
				Event::Forged { assignment: 0, driller, slashed: BOND / 2 }.into(),
			);
			// Nor do they go on drilling.
			assert!(!idle().contains(&driller));
		}
		assert!(Credited::get().is_empty());
		assert!(!Results::<Test>::contains_key(0, 0));
		assert_eq!(attempts(0, 0), Some(1));
		System::assert_has_event(
			Event::Reissued { assignment: 0, project: 0, index: 0, failure: Failure::Refuted }
				.into(),
		);
		assert_eq!(Contrary::get(), [verifiers[2]]);
		assert_eq!(Balances::free_balance(JACKPOT), fees(2));
	});
}

/// A driller that is slashed and works on another unit is judged there like any other.
#[test]
fn a_forger_at_work_leaves_behind_it() {
	run(|| {
		let members = agreed();
		until(1, committing);
		assert_eq!(who(&unit(1).members).len(), 2);
		play_check(0, &[Say(2), Say(2), Say(2)]);
		assert!(members.iter().all(|who| Pool::<Test>::get(who).is_some_and(|d| d.retiring)));
		CheckShare::set(Permill::zero());
		while crate::Assignments::<Test>::contains_key(1) {
			next_block();
		}
		assert_eq!(Pool::<Test>::count(), 0);
	});
}

#[test]
fn one_who_contradicts_is_outvoted() {
	run(|| {
		agreed();
		let verifiers = play_check(0, &[Say(1), Say(3), Say(1)]);
		assert_eq!(Contrary::get(), [verifiers[1]]);
		assert_eq!(Credited::get().len(), 2);
	});
}

#[test]
fn absent_verifiers_lose_and_the_others_decide() {
	run(|| {
		agreed();
		let verifiers = play_check(0, &[Say(1), Vanish, Say(1)]);
		assert_eq!(Absent::get(), [verifiers[1]]);
		assert_eq!(Credited::get().len(), 2);
		assert_eq!(Balances::free_balance(JACKPOT), fees(2));
	});
}

#[test]
fn without_a_majority_of_verifiers_the_unit_is_issued_again() {
	run(|| {
		for (acts, absent) in [
			([Say(1), Say(2), Say(3)], 0),
			([Say(1), Vanish, Seal], 2),
			([Vanish, Vanish, Vanish], 3),
		] {
			new_test_ext().execute_with(|| {
				agreed();
				play_check(0, &acts);
				assert!(Credited::get().is_empty() && Forgers::get().is_empty());
				assert_eq!((Absent::get().len(), Contrary::get().len()), (absent, 0));
				System::assert_has_event(
					Event::Reissued {
						assignment: 0,
						project: 0,
						index: 0,
						failure: Failure::Unchecked,
					}
					.into(),
				);
				assert_eq!(Balances::free_balance(JACKPOT), fees(0));
			});
		}
	});
}

/// Nothing is credited unchecked: without three verifiers a unit that was drawn waits for them.
#[test]
fn without_three_verifiers_a_unit_waits() {
	run(|| {
		let all = VerifierBonds::get();
		VerifierBonds::mutate(|bonds| bonds.retain(|who, _| *who < 23));
		CheckShare::set(Permill::one());
		active(Mismatch::Majority, 2, 1);
		enlisted(2);
		play(0, &[Say(1), Say(1)]);
		blocks(4 * CHECK_PAUSE);
		assert!(settling(&unit(0).phase) && Credited::get().is_empty());
		VerifierBonds::set(all);
		play_check(0, &[Say(1), Say(1), Say(1)]);
		assert_eq!(Credited::get().len(), 2);
	});
}

/// Newcomers have nothing to lose, so what they agree on is recomputed; who has much is trusted as
/// far as that.
#[test]
fn who_has_little_to_lose_is_recomputed() {
	for (has, checked) in [(0, true), (work(), true), (u64::MAX, false)] {
		run(|| {
			Drilled::set(has);
			active(Mismatch::Majority, 2, 1);
			enlisted(2);
			play(0, &[Say(1), Say(1)]);
			blocks(SEED_BLOCKS + 2);
			let drawn = crate::Assignments::<Test>::get(0).is_some_and(|u| !u.verifiers.is_empty());
			assert_eq!(drawn, checked, "{has}");
		});
	}
}

/// Whoever fills the seats of verifiers with audits of its own must not turn recomputation off.
#[test]
fn a_unit_waits_for_busy_verifiers() {
	run(|| {
		CheckShare::set(Permill::one());
		VerifiersBusy::set(true);
		active(Mismatch::Majority, 2, 1);
		enlisted(2);
		play(0, &[Say(1), Say(1)]);
		let postponed = || {
			let postponed = |event: &Event<Test>| matches!(event, Event::CheckPostponed { .. });
			events().iter().filter(|event| postponed(event)).count()
		};
		blocks(SEED_BLOCKS + 2);
		assert_eq!(postponed(), 1);
		// The share that is recomputed changes nothing any more, nor does a lost seed.
		CheckShare::set(Permill::zero());
		LostSeeds::set(1);
		blocks(CHECK_PAUSE + 2 * (SEED_BLOCKS + 2));
		assert_eq!(postponed(), 2);
		assert!(settling(&unit(0).phase) && Credited::get().is_empty());
		VerifiersBusy::set(false);
		play_check(0, &[Say(2), Say(2), Say(2)]);
		assert_eq!(Forgers::get().len(), 2);
		assert!(Credited::get().is_empty());
	});
}

/// A unit does not wait for longer than a bond answers for it.
#[test]
fn a_unit_waits_for_half_a_day_at_most() {
	run(|| {
		CheckShare::set(Permill::one());
		VerifiersBusy::set(true);
		active(Mismatch::Majority, 2, 1);
		enlisted(2);
		play(0, &[Say(1), Say(1)]);
		until(0, |phase| matches!(phase, Phase::Settling { busy: Some(_), .. }));
		let since = System::block_number();
		let failure = Failure::Unchecked;
		let over = Event::Reissued { assignment: 0, project: 0, index: 0, failure };
		while !events().contains(&over) {
			assert!(System::block_number() <= since + MAX_CHECK_WAIT + SEED_BLOCKS + 1);
			System::reset_events();
			next_block();
		}
		assert!(System::block_number() > since + MAX_CHECK_WAIT - 2 * CHECK_PAUSE);
		assert!(Credited::get().is_empty() && Forgers::get().is_empty());
	});
}

#[test]
fn the_jackpot_pays_what_it_has() {
	run(|| {
		agreed();
		assert_ok!(Balances::transfer_allow_death(
			signed(JACKPOT),
			PROPOSER,
			1_000 - CHECK_FEE - 3
		));
		play_check(0, &[Say(1), Say(1), Say(1)]);
		// One fee, a part of another, and nothing: never below the existential deposit.
		assert_eq!(Balances::free_balance(JACKPOT), ED);
		let mut paid: Vec<u128> = events()
			.into_iter()
			.filter_map(|event| match event {
				Event::CheckPaid { fee, .. } => Some(fee),
				_ => None,
			})
			.collect();
		paid.sort();
		assert_eq!(paid, [0, 3, CHECK_FEE]);
		assert_eq!(Credited::get().len(), 2);
	});
}

/// The share of seeds by which a unit is recomputed is the one that the runtime sets.
#[test]
fn the_share_of_recomputed_units_is_kept() {
	run(|| {
		active(Mismatch::Majority, 2, 1);
		enlisted(2);
		until(0, committing);
		let drawn = |share| {
			CheckShare::set(share);
			let chance = Drilling::check_chance(&unit(0));
			let seeds = (0..16_000).map(H256::from_low_u64_be);
			seeds.filter(|seed| Drilling::is_checked(seed, chance)).count()
		};
		// One in 64 is always.
		let least = drawn(Permill::zero());
		assert!((155..=345).contains(&least), "{least}");
		assert_eq!(drawn(Permill::one()), 16_000);
		// 1,000 expected, standard deviation 30.6: six of them.
		let sixteenth = drawn(Permill::from_parts(62_500));
		assert!((817..=1183).contains(&sixteenth), "{sixteenth}");
	});
}

#[test]
fn a_lost_seed_of_the_draw_is_made_up_for() {
	run(|| {
		active(Mismatch::Majority, 2, 1);
		enlisted(2);
		until(0, committing);
		LostSeeds::set(1);
		play(0, &[Say(1), Say(1)]);
		until_over(0);
		System::assert_has_event(Event::<Test>::SeedLost.into());
		assert_eq!(Credited::get().len(), 2);
	});
}

/// A check of a project that its proposer ended still decides about the power.
#[test]
fn a_check_outlives_its_project() {
	run(|| {
		agreed();
		assert_ok!(Drilling::withdraw_project(signed(PROPOSER), 0));
		play_check(0, &[Say(2), Say(2), Act::Vanish]);
		assert_eq!(Forgers::get().len(), 2);
		System::assert_has_event(
			Event::Abandoned { assignment: 0, project: 0, index: 0, failure: Failure::Refuted }
				.into(),
		);
	});
}
