//! What the budget pays.

use super::*;

#[test]
fn a_worse_model_costs_as_much_as_a_better_one_brings() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		let all = round(id, 11, 1, 580, 600);
		assert!(happened(&all, |event| matches!(event, Event::Lost { amount: 2_000, .. })));
		assert_eq!(free(11), ENDOWMENT - PEER - FEE - 2_000);
		let swarm = get(id);
		assert_eq!((burned(), swarm.budget, swarm.progress), (2_000, BUDGET, 500_000));
		assert_eq!(swarm.best, model(&model_file(0)));
		round(id, 11, 2, 625, 600);
		assert_eq!(get(id).budget, BUDGET - 2_500);
		assert_eq!(free(11), ENDOWMENT - PEER - 2 * FEE + 500);
		let all = round(id, 11, 3, 625, 625);
		assert!(happened(&all, |event| matches!(event, Event::Even { .. })));
	});
}

#[test]
fn claims_of_one_round_share_one_comparison() {
	run(|| {
		let id = open(Payer::Budget);
		(11..15).for_each(|who| join(id, who));
		let numbers: Vec<u32> = (11..15).map(|who| claim(id, who, who as u32)).collect();
		show(id);
		for (who, new) in [(11, 610), (12, 640), (13, 630), (14, 590)] {
			say(id, who, numbers[who as usize - 11], who as u32, new, 600);
		}
		finish(id);
		let earned: Vec<u128> = (11..15).map(|who| peer(id, who).earned).collect();
		assert_eq!(earned, [1_000, 3_000, 0, 0], "each is paid for what it adds");
		assert_eq!(free(13), ENDOWMENT - PEER - FEE);
		assert_eq!(free(14), ENDOWMENT - PEER - FEE - 1_000);
		assert_eq!((get(id).best, get(id).progress), (model(&model_file(12)), 540_000));
		assert_eq!(get(id).budget, BUDGET - 4_000);
	});
}

#[test]
fn nothing_is_paid_below_the_floor() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		let all = round(id, 11, 1, 450, 300);
		assert!(happened(&all, |event| matches!(event, Event::Even { .. })));
		assert_eq!(get(id).best, model(&model_file(0)), "and it is not the best one");
		round(id, 11, 2, 510, 300);
		assert_eq!(peer(id, 11).earned, 1_000);
	});
}

#[test]
fn the_budget_ends_and_so_does_the_limit_of_a_peer() {
	run(|| {
		let plan = plan(Payer::Budget);
		let id = open_with(Plan { most_per_peer: 2_500, ..plan });
		(11..13).for_each(|who| join(id, who));
		round(id, 11, 1, 620, 600);
		let all = round(id, 11, 2, 640, 620);
		assert!(happened(&all, |event| matches!(
			event,
			Event::Gained { amount: 500, due: 2_000, .. }
		)));
		assert_eq!(peer(id, 11).earned, 2_500);
		assert_eq!(get(id).progress, 540_000, "the gain is there all the same");
		round(id, 12, 3, 650, 640);
		assert_eq!(peer(id, 12).earned, 1_000);
	});
	run(|| {
		store(&model_file(0));
		let plan = plan(Payer::Budget);
		let open = Swarming::open(signed(OPENER), Box::new(template()), slices(0..5), plan, 700);
		assert_ok!(open);
		join(0, 11);
		let all = round(0, 11, 1, 620, 600);
		assert!(happened(&all, |event| matches!(
			event,
			Event::Gained { amount: 700, due: 2_000, .. }
		)));
		assert_eq!(get(0).budget, 0);
	});
}

#[test]
fn a_stake_is_the_most_that_a_claim_brings_or_costs() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		round(id, 11, 1, 900, 600);
		assert_eq!(peer(id, 11).earned, STAKE);
		round(id, 11, 2, 500, 900);
		assert_eq!(free(11), ENDOWMENT - PEER - 2 * FEE);
	});
}

#[test]
fn pay_follows_the_pace() {
	run(|| {
		let mut plan = plan(Payer::Budget);
		(plan.reward.pace.first, plan.reward.pace.last, plan.end) = (2_000, 0, 101);
		let id = open_with(plan);
		join(id, 11);
		to(51);
		round(id, 11, 1, 620, 600);
		assert_eq!(peer(id, 11).earned, 2_000, "half of the time is over");
	});
}

#[test]
fn what_claims_lose_is_burned() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		let issued = Balances::total_issuance();
		round(id, 11, 1, 580, 600);
		assert_eq!(Balances::total_issuance(), issued - 2_000);
		to(1_001);
		assert_eq!(free(OPENER), ENDOWMENT - get(id).record + FEE);
	});
}

#[test]
fn a_fee_is_the_owners_of_a_slice_that_decided_something() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		let before = free(OPENER) + held(OPENER);
		round(id, 11, 1, 600, 600);
		assert_eq!((free(OPENER) + held(OPENER), burned()), (before, FEE));
		round(id, 11, 2, 620, 600);
		assert_eq!(free(OPENER) + held(OPENER), before + FEE - 2_000);
	});
}

#[test]
fn closing_changes_no_pay_of_a_round_that_runs() {
	run(|| {
		let mut plan = plan(Payer::Budget);
		(plan.reward.pace.first, plan.reward.pace.last, plan.end) = (1_000, 0, 1_001);
		let id = open_with(plan);
		join(id, 11);
		to(101);
		let number = claim(id, 11, 1);
		show(id);
		assert_ok!(Swarming::close(signed(OPENER), id));
		say(id, 11, number, 1, 620, 600);
		finish(id);
		assert_eq!(peer(id, 11).earned, 1_800, "nine tenths of the time were left");
	});
}

#[test]
fn a_claim_by_the_budget_names_no_ticket() {
	run(|| {
		let id = open(Payer::Budget);
		(11..13).for_each(|who| join(id, who));
		let ticket = ticket(id, 12, 11, 0, 2);
		let file = model_file(1);
		let made = commitment(id, 11, &file, Some(ticket.digest(&genesis())));
		assert_ok!(Swarming::claim(signed(11), id, made));
		show(id);
		store(&file);
		let mut with = said(&file, 620, 600);
		with.promise = Some(promise(&ticket, 0));
		let call = Swarming::say(signed(11), id, 0, with, [7; 32]);
		assert_noop!(call, Error::<Test>::NeedsNoTicket);
	});
}
