//! The stages of a round, and who holds one up.

use super::*;
use crate::Claims;

#[test]
fn a_round_goes_from_claims_to_pay() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		let number = claim(id, 11, 1);
		assert_eq!(get(id).stage, Stage::Collecting { until: 6 });
		assert_eq!(held(11), PEER + STAKE + FEE);
		to(6);
		assert_eq!(get(id).stage, Stage::Collecting { until: 6 });
		to(7);
		assert_eq!(get(id).stage, Stage::Drawing { after: 8 });
		to(11);
		let Stage::Showing { slice, until } = get(id).stage else { panic!("nothing drawn") };
		assert_eq!(until, 17);
		assert!(!get(id).waiting.contains(&slice));
		store(&slice_file(slice));
		pass(2);
		assert!(matches!(get(id).stage, Stage::Counting { .. }));
		say(id, 11, number, 1, 620, 600);
		pass(1);
		assert!(matches!(get(id).stage, Stage::Challenging { .. }), "all have said it");
		let all = finish(id);
		let gained = |event: &Event<Test>| {
			matches!(event, Event::Gained { amount: 2_000, due: 2_000, points: 20_000, .. })
		};
		assert!(happened(&all, gained));
		assert_eq!(free(11), ENDOWMENT - PEER - FEE + 2_000);
		let swarm = get(id);
		assert_eq!((swarm.progress, swarm.budget), (520_000, BUDGET - 2_000));
		assert_eq!((swarm.best, swarm.round), (model(&model_file(1)), 1));
		assert_eq!(swarm.shown.to_vec(), [slice]);
		// The deposit of the slice is back.
		assert_eq!(Slices::<Test>::get(id, slice).unwrap().deposit, 0);
	});
}

#[test]
fn what_is_no_claim_is_refused() {
	run(|| {
		let id = open(Payer::Budget);
		let claim = |who, id| Swarming::claim(signed(who), id, trainyard_protocol::H256::zero());
		assert_noop!(claim(11, id), Error::<Test>::NotPeer);
		assert_noop!(claim(11, 6), Error::<Test>::NoSuchSwarm);
		(11..20).for_each(|who| join(id, who));
		for who in 11..19 {
			assert_ok!(claim(who, id));
			assert_ok!(claim(who, id));
			assert_noop!(claim(who, id), Error::<Test>::TooManyClaims);
		}
		assert_noop!(claim(19, id), Error::<Test>::TooManyClaims);
		pass(6);
		assert_noop!(claim(12, id), Error::<Test>::RoundRuns);
		show(id);
		assert_noop!(claim(12, id), Error::<Test>::RoundRuns);
		finish(id);
		impoverish(12, STAKE);
		assert!(claim(12, id).is_err(), "too little for stake and fee");
		to(1_001);
		assert_noop!(claim(11, id), Error::<Test>::HasEnded);
	});
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		for _ in 0..5 {
			claim(id, 11, 1);
			show(id);
			finish(id);
		}
		let call = Swarming::claim(signed(11), id, trainyard_protocol::H256::zero());
		assert_noop!(call, Error::<Test>::NothingToDraw);
		assert_ok!(Swarming::add_slices(signed(OPENER), id, slices(5..6)));
		claim(id, 11, 1);
	});
}

#[test]
fn what_is_said_is_what_was_committed_to() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		join(id, 12);
		let number = claim(id, 11, 1);
		claim(id, 12, 1);
		let file = model_file(1);
		let say = |who, number, said, salt| Swarming::say(signed(who), id, number, said, salt);
		assert_noop!(say(11, number, said(&file, 1, 1), [7; 32]), Error::<Test>::NotCounting);
		show(id);
		let good = || said(&file, 620, 600);
		assert_noop!(say(11, 9, good(), [7; 32]), Error::<Test>::NoSuchClaim);
		assert_noop!(say(12, number, good(), [7; 32]), Error::<Test>::NotClaimant);
		assert_noop!(say(11, number, good(), [8; 32]), Error::<Test>::WrongCommitment);
		let other = model_file(2);
		store(&other);
		let wrong = said(&other, 620, 600);
		assert_noop!(say(11, number, wrong, [7; 32]), Error::<Test>::WrongCommitment);
		let mut bad = good();
		bad.pieces.pop();
		assert_noop!(say(11, number, bad, [7; 32]), Error::<Test>::BadPieces);
		let mut bad = good();
		bad.new.labels = 999;
		assert_noop!(say(11, number, bad, [7; 32]), Error::<Test>::BadCount);
		let mut bad = good();
		bad.base.correct = 1_001;
		assert_noop!(say(11, number, bad, [7; 32]), Error::<Test>::BadCount);
		let mut bad = good();
		bad.promise = Some(promise(&ticket(id, 12, 11, 0, 1), 0));
		// The commitment was without a ticket.
		assert_noop!(say(11, number, bad, [7; 32]), Error::<Test>::WrongCommitment);
		assert_noop!(Swarming::say(signed(11), 5, 0, good(), [7; 32]), Error::<Test>::NoSuchSwarm);
		assert_ok!(say(11, number, good(), [7; 32]));
		assert_noop!(say(11, number, good(), [7; 32]), Error::<Test>::WasSaid);
		assert_eq!(get(id).said, 1);
	});
}

#[test]
fn a_slice_is_drawn_that_no_claimant_owns() {
	run(|| {
		let id = open_with(Plan { open_slices: true, ..plan(Payer::Budget) });
		(11..13).for_each(|who| join(id, who));
		// Those of the opener are on chain already, which measures nothing.
		(0..5).for_each(|number| {
			let _ = store(&slice_file(number));
		});
		assert_ok!(Swarming::add_slices(signed(11), id, slices(5..8)));
		assert_ok!(Swarming::add_slices(signed(12), id, slices(8..9)));
		claim(id, 11, 1);
		until(id, |stage| matches!(stage, Stage::Showing { .. }));
		let Stage::Showing { slice, .. } = get(id).stage else { unreachable!() };
		assert_eq!(slice, 8);
		// Whoever shows one before it is drawn could leave a choice of the others: that costs the deposit.
		let lost = events().into_iter().filter(|event| matches!(event, Event::Withheld { .. }));
		assert_eq!(lost.count(), 5);
		assert_eq!(held(OPENER), BUDGET + get(id).record);
		assert!(free(OPENER) < ENDOWMENT - BUDGET - 5 * STAKE);
	});
}

#[test]
fn who_withholds_a_slice_loses_its_deposit_and_another_is_drawn() {
	run(|| {
		let id = open(Payer::Budget);
		(11..13).for_each(|who| join(id, who));
		let number = claim(id, 11, 1);
		claim(id, 12, 2);
		until(id, |stage| matches!(stage, Stage::Showing { .. }));
		let Stage::Showing { slice: first, until: last } = get(id).stage else { unreachable!() };
		let deposit = Slices::<Test>::get(id, first).unwrap().deposit;
		let (before, issued) = (held(OPENER), Balances::total_issuance());
		to(last + 1);
		let withheld = |event: &Event<Test>| matches!(event, Event::Withheld { slice, owner: OPENER, .. } if *slice == first);
		assert!(happened(&events(), withheld));
		assert_eq!(held(OPENER), before - deposit);
		let each = deposit / 4;
		assert_eq!(free(11), ENDOWMENT - PEER - STAKE - FEE + each);
		assert_eq!(Balances::total_issuance(), issued - (deposit - 2 * each));
		assert!(Slices::<Test>::get(id, first).is_none());
		let second = show(id);
		assert_ne!(second, first);
		say(id, 11, number, 1, 620, 600);
		let all = finish(id);
		assert!(happened(&all, |event| matches!(event, Event::Gained { .. })));
		assert!(happened(&all, |event| matches!(event, Event::Abandoned { claim: 1, .. })));
	});
}

#[test]
fn after_three_withheld_slices_everybody_has_its_stake_back() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		claim(id, 11, 1);
		let all = finish(id);
		let withheld = |event: &&Event<Test>| matches!(event, Event::Withheld { .. });
		assert_eq!(all.iter().filter(withheld).count(), 3);
		assert!(happened(&all, |event| matches!(event, Event::NoSlice { round: 0, .. })));
		assert_eq!(held(11), PEER);
		assert!(free(11) > ENDOWMENT - PEER);
		assert_eq!((get(id).waiting.len(), get(id).round), (2, 1));
	});
}

#[test]
fn a_full_chain_holds_up_what_has_to_be_stored() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		let number = claim(id, 11, 1);
		until(id, |stage| matches!(stage, Stage::Showing { .. }));
		let Stage::Showing { slice, until: last } = get(id).stage else { unreachable!() };
		FullBlocks::set(10);
		to(last + 9);
		assert!(matches!(get(id).stage, Stage::Showing { .. }));
		store(&slice_file(slice));
		pass(POLL + 1);
		let Stage::Counting { until: last, .. } = get(id).stage else { panic!("not shown") };
		FullBlocks::set(15);
		to(last + 5);
		say(id, 11, number, 1, 620, 600);
		pass(1);
		assert!(matches!(get(id).stage, Stage::Challenging { .. }));
	});
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		claim(id, 11, 1);
		until(id, |stage| matches!(stage, Stage::Showing { .. }));
		let Stage::Showing { until: last, .. } = get(id).stage else { unreachable!() };
		// For ever is too long: three times the period.
		FullBlocks::set(1_000);
		to(last + 18);
		assert!(matches!(get(id).stage, Stage::Showing { .. }));
		to(last + 19);
		assert!(!matches!(get(id).stage, Stage::Showing { .. }));
	});
}

#[test]
fn a_seed_that_was_lost_is_drawn_again() {
	run(|| {
		let id = open(Payer::Budget);
		pass(10);
		join(id, 11);
		claim(id, 11, 1);
		LostSeeds::set(3);
		until(id, |stage| matches!(stage, Stage::Showing { .. }));
	});
}

#[test]
fn a_round_of_which_nothing_is_said_costs_its_claimants_everything() {
	run(|| {
		let id = open(Payer::Budget);
		(11..14).for_each(|who| join(id, who));
		(11..14).for_each(|who| {
			let _ = claim(id, who, 1);
		});
		show(id);
		let all = finish(id);
		let abandoned = |event: &&Event<Test>| matches!(event, Event::Abandoned { .. });
		assert_eq!(all.iter().filter(abandoned).count(), 3);
		assert!((11..14).all(|who| free(who) == ENDOWMENT - PEER - STAKE - FEE));
		assert_eq!(Claims::<Test>::iter_prefix(id).count(), 0);
		// Nobody has them.
		assert_eq!(burned(), 3 * (STAKE + FEE));
		to(1_001);
		assert_eq!(free(OPENER), ENDOWMENT - get(id).record);
	});
}

#[test]
fn the_last_eight_slices_that_were_shown_stay_on_record() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		assert_ok!(Swarming::add_slices(signed(OPENER), id, slices(5..12)));
		for _ in 0..10 {
			claim(id, 11, 1);
			show(id);
			finish(id);
		}
		assert_eq!(get(id).shown.len(), 8);
		let view = Swarming::view(id).unwrap();
		let shown = view.slices.iter().filter(|slice| !slice.waits).count();
		assert_eq!((shown, view.slices.len()), (8, 10));
		check();
	});
}

#[test]
fn stages_have_blocks_of_their_own() {
	run(|| {
		let stages = Stages { collect: 3, show: 10, count: 20, challenge: 30 };
		let id = open_with(Plan { stages, ..plan(Payer::Budget) });
		join(id, 11);
		let number = claim(id, 11, 1);
		assert_eq!(get(id).stage, Stage::Collecting { until: 4 });
		show(id);
		let now = System::block_number();
		let Stage::Counting { until, .. } = get(id).stage else { panic!("not shown") };
		assert_eq!(until, now + 20);
		say(id, 11, number, 1, 620, 600);
		pass(1);
		let Stage::Challenging { until, .. } = get(id).stage else { panic!("not said") };
		assert_eq!(until, now + 31);
	});
}

#[test]
fn who_says_what_is_not_on_chain_in_time_has_said_nothing() {
	run(|| {
		let id = open(Payer::Budget);
		(11..13).for_each(|who| join(id, who));
		let (late, good) = (claim(id, 11, 1), claim(id, 12, 2));
		show(id);
		let call = Swarming::say(signed(11), id, late, said(&model_file(1), 620, 600), [7; 32]);
		assert_ok!(call);
		// It is awaited from now on, so blocks keep room for it and nobody takes it away.
		assert_eq!(Names::get()[&root(&model_file(1))], 1);
		say(id, 12, good, 2, 610, 600);
		pass(2);
		assert!(matches!(get(id).stage, Stage::Counting { .. }), "it is waited for");
		let all = finish(id);
		assert!(happened(&all, |event| matches!(event, Event::Abandoned { claim: 0, .. })));
		assert!(happened(&all, |event| matches!(event, Event::Gained { claim: 1, .. })));
	});
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		let number = claim(id, 11, 1);
		show(id);
		let said = said(&model_file(1), 620, 600);
		assert_ok!(Swarming::say(signed(11), id, number, said, [7; 32]));
		pass(3);
		store(&model_file(1));
		pass(POLL);
		assert!(matches!(get(id).stage, Stage::Challenging { .. }));
	});
}

#[test]
fn a_slice_that_was_added_after_the_first_claim_is_not_drawn() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		(0..5).for_each(|number| {
			store(&slice_file(number));
		});
		claim(id, 11, 1);
		assert_ok!(Swarming::add_slices(signed(OPENER), id, slices(5..7)));
		let all = finish(id);
		assert!(happened(&all, |event| matches!(event, Event::NoSlice { .. })));
		assert_eq!(get(id).waiting.to_vec(), [5, 6]);
	});
}
