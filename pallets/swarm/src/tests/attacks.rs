//! What a cheat, a griefer, a sybil or somebody who vanishes gets out of it.

use super::*;
use trainyard_protocol::H256;

/// A sybil lets one of its peers have a bad model, and has it made better by another.
#[test]
fn a_gain_over_a_bad_model_of_ones_own_brings_nothing() {
	run(|| {
		let id = open(Payer::Budget);
		(11..13).for_each(|who| join(id, who));
		// What is compared with is the best of the swarm, not a model that somebody names.
		round(id, 11, 1, 600, 600);
		round(id, 12, 2, 600, 600);
		assert_eq!(get(id).budget, BUDGET);
		assert_eq!((free(11), free(12)), (ENDOWMENT - PEER - FEE, ENDOWMENT - PEER - FEE));
	});
}

/// Many claims of nothing in one round: chance makes one of them the best by luck, and the others pay for it.
#[test]
fn claims_without_a_gain_pay_one_another() {
	run(|| {
		let id = open(Payer::Budget);
		(11..21).for_each(|who| join(id, who));
		let numbers: Vec<u32> = (11..21).map(|who| claim(id, who, who as u32)).collect();
		show(id);
		for (who, number) in (11..21u64).zip(numbers) {
			// As often above as below.
			let of = who as u32 - 11;
			let new = if of % 2 == 0 { 605 + of } else { 595 - (of - 1) };
			say(id, who, number, who as u32, new, 600);
		}
		finish(id);
		let (won, lost) = (1_300u128, 500 + 700 + 900 + 1_100 + 1_300u128);
		let all: u128 = (11..21).map(free).sum();
		assert_eq!(all, 10 * (ENDOWMENT - PEER - FEE) + won - lost);
	});
}

/// Who has seen the slice and finds that it loses cannot step back.
#[test]
fn vanishing_costs_at_least_as_much_as_losing() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		claim(id, 11, 1);
		show(id);
		finish(id);
		assert_eq!(free(11), ENDOWMENT - PEER - FEE - STAKE);
	});
}

/// Somebody claims a model that another one has committed to, after it saw it.
#[test]
fn a_copy_that_was_committed_to_later_brings_nothing() {
	run(|| {
		let id = open(Payer::Budget);
		(11..13).for_each(|who| join(id, who));
		let maker = claim(id, 11, 1);
		let copy = claim(id, 12, 1);
		show(id);
		say(id, 12, copy, 1, 620, 600);
		say(id, 11, maker, 1, 620, 600);
		finish(id);
		assert_eq!((peer(id, 11).earned, peer(id, 12).earned), (2_000, 0));
	});
}

/// The commitment of another peer, copied byte for byte, can be claimed and never said.
#[test]
fn a_copied_commitment_is_of_no_use() {
	run(|| {
		let id = open(Payer::Budget);
		(11..13).for_each(|who| join(id, who));
		claim(id, 11, 1);
		let copied = crate::Claims::<Test>::get(id, 0).unwrap().commitment;
		assert_ok!(Swarming::claim(signed(12), id, copied));
		show(id);
		store(&model_file(1));
		let call = Swarming::say(signed(12), id, 1, said(&model_file(1), 620, 600), [7; 32]);
		assert_noop!(call, Error::<Test>::WrongCommitment);
	});
}

/// A payer fills its memory of payments with dust, so that a claim against it finds no room.
#[test]
fn dust_payments_keep_no_claim_away() {
	run(|| {
		let id = open(Payer::Peers);
		(11..14).for_each(|who| join(id, who));
		assert_ok!(Swarming::fund(signed(11), id, 10_000));
		assert_ok!(Swarming::announce(signed(12), id, root(&model_file(2))));
		let dust = (0..32).map(|byte| Payment {
			to: 13,
			amount: 1,
			ticket: H256::repeat_byte(byte),
			expires: 31,
		});
		assert_ok!(Swarming::pay(signed(11), id, dust.collect::<Vec<_>>().try_into().unwrap()));
		let ticket = ticket(id, 11, 12, 1, 2);
		let mixed = mean(&model_file(1), &model_file(2));
		let made = commitment(id, 12, &mixed, Some(ticket.digest(&genesis())));
		assert_ok!(Swarming::claim(signed(12), id, made));
		show(id);
		[&mixed, &model_file(1), &model_file(2)].into_iter().for_each(|file| {
			let _ = store(file);
		});
		let mut said = said(&mixed, 620, 600);
		said.promise = Some(promise(&ticket, 1));
		assert_ok!(Swarming::say(signed(12), id, 0, said, [7; 32]));
		finish(id);
		assert_eq!(peer(id, 12).earned, 2_000);
	});
}

/// An opener keeps all slices to itself rather than pay.
#[test]
fn withholding_costs_more_than_paying() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		claim(id, 11, 1);
		finish(id);
		// Three slices are lost with their deposits, each of which is at least the most that the claim brings.
		assert!(free(11) > ENDOWMENT - PEER);
		to(1_001);
		assert!(free(OPENER) < ENDOWMENT - 3 * STAKE);
	});
}

/// An opener whose slices follow a secret takes stakes of those who believe it.
#[test]
fn what_others_lose_is_not_the_openers() {
	run(|| {
		let id = open(Payer::Budget);
		(11..13).for_each(|who| join(id, who));
		round(id, 11, 1, 550, 600);
		to(1_001);
		pass(RETENTION + 3);
		assert_eq!(free(OPENER), ENDOWMENT + FEE);
	});
}

/// An opener shows its slices before they are drawn, so that there is none left.
#[test]
fn spoiling_slices_costs_what_withholding_does() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		claim(id, 11, 1);
		(0..5).for_each(|number| {
			store(&slice_file(number));
		});
		let all = finish(id);
		assert!(happened(&all, |event| matches!(event, Event::NoSlice { .. })));
		assert!(free(11) > ENDOWMENT - PEER);
		to(1_001);
		assert!(free(OPENER) < ENDOWMENT - 5 * STAKE);
	});
}

/// One account fills a round with claims of nothing, measured by slices of its own second account.
#[test]
fn claims_of_nothing_cost_their_fees_whosever_the_slices_are() {
	run(|| {
		let id = open_with(Plan { open_slices: true, ..plan(Payer::Budget) });
		(11..13).for_each(|who| join(id, who));
		(0..5).for_each(|number| {
			store(&slice_file(number));
		});
		assert_ok!(Swarming::add_slices(signed(12), id, slices(5..6)));
		let numbers = [claim(id, 11, 1), claim(id, 11, 2)];
		show(id);
		say(id, 11, numbers[0], 1, 600, 600);
		say(id, 11, numbers[1], 2, 600, 600);
		let before = burned();
		finish(id);
		assert_eq!(burned() - before, 2 * FEE);
	});
}

/// A peer announces so many models that those for which it has tickets are forgotten, or somebody waits for that
/// to take them.
#[test]
fn a_model_is_its_makers_as_long_as_a_ticket_for_it_holds() {
	run(|| {
		let id = open(Payer::Peers);
		(11..13).for_each(|who| join(id, who));
		assert_ok!(Swarming::announce(signed(12), id, root(&model_file(2))));
		for byte in 0..15 {
			assert_ok!(Swarming::announce(signed(12), id, H256::repeat_byte(byte)));
		}
		let call = Swarming::announce(signed(12), id, H256::repeat_byte(99));
		assert_noop!(call, Error::<Test>::TooManyModels);
		let call = Swarming::announce(signed(11), id, root(&model_file(2)));
		assert_noop!(call, Error::<Test>::IsAnnounced);
	});
}

/// One who is refuted by an account of its own loses half of the stake all the same.
#[test]
fn refuting_oneself_costs_half() {
	run(|| {
		let id = open(Payer::Budget);
		(11..13).for_each(|who| join(id, who));
		let number = claim(id, 11, 1);
		show(id);
		say(id, 11, number, 1, 700, 600);
		until_challenging(id);
		let job = challenge(id, 12, 1);
		testify(id, 12, 1, measure(job, 600));
		finish(id);
		assert_eq!(free(11) + free(12), 2 * (ENDOWMENT - PEER) - FEE - STAKE / 2);
	});
}

/// Parameters that are not those of the file make a job that measures another model: what it counts is said of
/// no honest claim.
#[test]
fn a_job_of_other_parameters_convicts_nobody_else() {
	run(|| {
		let id = open(Payer::Budget);
		(11..13).for_each(|who| join(id, who));
		let honest = claim(id, 11, 1);
		let cheat = claim(id, 12, 1);
		show(id);
		say(id, 11, honest, 1, 620, 600);
		let file = model_file(1);
		let mut other = said(&file, 620, 600);
		other.pieces[0] = H256::repeat_byte(9);
		let parameters =
			trainyard_protocol::federation::parameters(&layout(), &other.pieces).unwrap();
		assert_ok!(Swarming::say(signed(12), id, cheat, other, [7; 32]));
		until_challenging(id);
		let faked = Model { root: root(&file), parameters };
		assert_ok!(Swarming::challenge(signed(12), id, faked, 10_000));
		assert_ok!(Swarming::testify(signed(12), id, faked, measure(0, 10)));
		finish(id);
		assert_eq!(peer(id, 11).earned, 2_000);
		assert_eq!(free(11), ENDOWMENT - PEER - FEE + 2_000);
	});
}

/// Counts say what they are of: one that is not as many labels as the slice has is no score.
#[test]
fn nobody_claims_a_score_of_few_labels() {
	run(|| {
		let id = open(Payer::Budget);
		join(id, 11);
		let number = claim(id, 11, 1);
		show(id);
		store(&model_file(1));
		let mut few = said(&model_file(1), 1, 0);
		few.new = Count { correct: 1, labels: 1 };
		few.base = Count { correct: 0, labels: 1 };
		let call = Swarming::say(signed(11), id, number, few, [7; 32]);
		assert_noop!(call, Error::<Test>::BadCount);
	});
}
