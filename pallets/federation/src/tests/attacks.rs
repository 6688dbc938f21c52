//! What somebody may try.

use super::*;
use trainyard_protocol::federation::MAX_PROPOSALS;

fn false_file(id: u32, at: usize) -> Vec<u8> {
	let mut file = aggregate(id);
	file[at] ^= 1;
	file
}

/// A false proposal that came first holds a round up until it is refuted, and the true one does not wait
/// again.
#[test]
fn false_proposals_before_and_after_the_true_one_cost_no_time() {
	run(|| {
		let id = open();
		answer(id, &[1, 2]);
		let begun = System::block_number();
		let (early, late) = (false_file(id, 900), false_file(id, 2_000));
		let file = aggregate(id);
		let first = propose(11, id, &early);
		propose(12, id, &file);
		pass(5);
		propose(13, id, &late);
		pass(WINDOW - 6);
		assert_ok!(Fed::refute(signed(14), id, first, 0, openings(id, &early, 0)));
		pass(2);
		assert_eq!(System::block_number(), begun + WINDOW + 1);
		assert_eq!(get(id).round, 1);
		assert_eq!(Fed::view(id).unwrap().rounds[0].root, store(&file));
		// Nobody refuted the last one, and nothing came of it.
		assert_eq!((held(13), free(13)), (0, ENDOWMENT));
	});
}

/// Whoever fills the order with false proposals loses a deposit for each, half of it to whoever makes room.
#[test]
fn a_full_order_is_emptied_at_the_cost_of_who_filled_it() {
	run(|| {
		let id = open();
		answer(id, &[1, 2]);
		let all: Vec<_> =
			(0..MAX_PROPOSALS as usize).map(|n| false_file(id, 600 + 4 * n)).collect();
		for file in &all {
			propose(13, id, file);
		}
		let before = free(14);
		for (number, file) in (0..).zip(&all) {
			assert_ok!(Fed::refute(signed(14), id, number, 0, openings(id, file, 0)));
		}
		let deposit = DEPOSIT + 32 * 6;
		let count = u128::from(MAX_PROPOSALS);
		assert_eq!(free(14), before + count * (deposit / 2));
		assert_eq!((free(13), held(13)), (ENDOWMENT - count * deposit, 0));
		let file = aggregate(id);
		propose(12, id, &file);
		pass(WINDOW + 1);
		assert_eq!(get(id).round, 1);
	});
}

/// Who refutes its own false proposals to hold a round up burns half of each deposit.
#[test]
fn refuting_oneself_costs_half_of_the_deposit() {
	run(|| {
		let id = open();
		answer(id, &[1, 2]);
		let file = false_file(id, 700);
		propose(13, id, &file);
		assert_ok!(Fed::refute(signed(13), id, 0, 0, openings(id, &file, 0)));
		let deposit = DEPOSIT + 32 * 6;
		assert_eq!(free(13), ENDOWMENT - (deposit - deposit / 2));
	});
}

/// A result that was revealed by one of two trainers alone is no agreement; the market says so, and here it
/// does not count until the audit decides.
#[test]
fn differing_results_wait_for_the_audit() {
	run(|| {
		let id = open();
		until_posted(id);
		set(job_of(id, 0), JobStanding::Agreed(store(&model(1))));
		set(job_of(id, 1), JobStanding::Running);
		pass(20);
		assert_eq!(get(id).stage, Stage::Training);
		set(job_of(id, 1), JobStanding::Accepted(store(&model(2))));
		pass(POLL + 1);
		assert_eq!(get(id).stage, Stage::Aggregating);
		assert_eq!(get(id).undecided.len(), 1, "the other one is decided");
	});
}

/// The header of a result does not reach the aggregate: a trainer cannot break the next round's file.
#[test]
fn a_false_header_of_a_result_changes_nothing() {
	run(|| {
		let id = open();
		until_posted(id);
		let mut other = model(1);
		other[20] ^= 3;
		set(job_of(id, 0), JobStanding::Agreed(store(&other)));
		set(job_of(id, 1), JobStanding::Agreed(store(&model(2))));
		pass(POLL + 1);
		let file = aggregate(id);
		assert_eq!(file[..layout().header.len()], layout().header[..]);
		propose(12, id, &file);
		let refuted = Fed::refute(signed(13), id, 0, 0, openings(id, &file, 0));
		assert_noop!(refuted, Error::<Test>::NotRefuted);
	});
}
