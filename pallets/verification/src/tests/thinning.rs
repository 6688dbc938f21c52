//! Results of which trainers do not keep all states: how much longer everybody has.

use super::rescues::{until, withdraw};
use crate::mock::*;
use frame_support::assert_ok;
use trainyard_protocol::{duties::Recompute, pieces::Piece};
use trainyard_traits::AuditRequest;

/// Trainers keep the states 0, 4, 8 and 10; a stretch takes 7 blocks, all that a committee may ask for 21.
const THIN: Recompute = Recompute { keep_every: 4, stretch: 7, round: 21 };

/// An audit of two results by three seats, who can commit.
fn seated() -> Vec<AccountId> {
	bonded(3);
	open_with(AuditRequest { recompute: THIN, ..request(2, 3) });
	tick_until(is_committing);
	committee()
}

#[test]
fn a_committee_has_the_time_in_which_states_are_computed_again() {
	run(|| {
		seated();
		assert_eq!(until(), System::block_number() as u32 + COMMIT + THIN.round);
	});
}

/// Each stretch of which something is asked for counts once; trainers of several results compute at the same time.
#[test]
fn a_rescue_has_the_time_of_the_stretches_that_are_asked_for() {
	for (first, second, stretches) in [
		(vec![Piece::State(4), Piece::State(8)], vec![], 0),
		(vec![Piece::Leaves, Piece::State(SEGMENTS)], vec![], 0),
		(vec![Piece::State(5)], vec![], 1),
		(vec![Piece::State(5), Piece::State(7)], vec![], 1),
		(vec![Piece::State(3), Piece::State(5), Piece::State(9)], vec![], 3),
		(vec![Piece::State(5)], vec![Piece::State(1), Piece::State(5)], 2),
		(vec![Piece::State(1), Piece::State(5)], vec![Piece::State(9)], 2),
	] {
		run(|| {
			let seats = seated();
			assert_ok!(ask(seats[0], 0, &first));
			if !second.is_empty() {
				assert_ok!(ask(seats[1], 1, &second));
			}
			tick_until(is_rescue);
			// All of these bytes take one block.
			let plain = System::block_number() as u32 + RESCUE + 1;
			assert_eq!(until(), plain + stretches * THIN.stretch, "{first:?} {second:?}");
		});
	}
}

/// Whoever took back what it asked for keeps nobody computing.
#[test]
fn what_is_not_asked_for_any_more_takes_no_time() {
	run(|| {
		let seats = seated();
		assert_ok!(ask(seats[0], 0, &[Piece::State(5)]));
		assert_ok!(ask(seats[1], 0, &[Piece::State(1)]));
		assert_ok!(withdraw(seats[0], 0));
		tick_until(is_rescue);
		assert_eq!(until(), System::block_number() as u32 + RESCUE + 1 + THIN.stretch);
	});
}

/// The periods of a committee that looks for a state that no rescue carries have time for its stretch.
#[test]
fn a_relay_of_a_state_that_is_not_kept_has_time_for_its_stretch() {
	for (keep_every, more) in [(1, 0), (3, 0), (2, 7)] {
		run(|| {
			let recompute = Recompute { keep_every, ..THIN };
			large_state_of(AuditRequest { recompute, ..request(1, 3) }, &[Say::Yes; 3]);
			assert_ok!(ask_relay(ASKER));
			assert_eq!(PIECE, Piece::State(3));
			assert_eq!(relay_of(0).span, HOUR + more, "{keep_every}");
		});
	}
}
