//! Commitments and reveals: who may give which, and when.

use crate::{mock::*, Error, Event, Phase};
use frame_support::{assert_noop, assert_ok};
use trainyard_protocol::{
	drill::{commitment, Mismatch, UnitResult},
	H256,
};

/// Gives a unit to two drillers, and returns them.
fn begun() -> (AccountId, AccountId) {
	active(Mismatch::Majority, 2, 10);
	enlisted(2);
	until(0, committing);
	let members = who(&unit(0).members);
	(members[0], members[1])
}

#[test]
fn a_commitment_has_conditions() {
	run(|| {
		let (one, _) = begun();
		let hash = H256::repeat_byte(9);
		let give = |who, id| Drilling::commit(signed(who), id, hash);
		assert_noop!(give(one, 1), Error::<Test>::NoSuchAssignment);
		assert_noop!(give(13, 0), Error::<Test>::NotAssigned);
		assert_noop!(reveal(one, 0, result(1)), Error::<Test>::NotRevealing);
		assert_noop!(Drilling::check(signed(one), 0, hash), Error::<Test>::NotCommitting);
		assert_ok!(give(one, 0));
		System::assert_last_event(Event::Committed { assignment: 0, who: one }.into());
		assert_noop!(give(one, 0), Error::<Test>::AlreadyCommitted);
	});
}

#[test]
fn commitments_have_a_last_block() {
	run(|| {
		let (one, other) = begun();
		let Phase::Committing { until } = unit(0).phase else { panic!() };
		System::set_block_number(until);
		assert_ok!(commit(one, 0, result(1)));
		System::set_block_number(until + 1);
		assert_noop!(commit(other, 0, result(1)), Error::<Test>::TooLate);
		System::set_block_number(until);
	});
}

#[test]
fn reveals_open_in_the_block_behind_the_last_commitment() {
	run(|| {
		let (one, other) = begun();
		assert_ok!(commit(one, 0, result(1)));
		next_block();
		assert!(committing(&unit(0).phase));
		assert_ok!(commit(other, 0, result(1)));
		next_block();
		let until = System::block_number() + REVEAL;
		assert_eq!(unit(0).phase, Phase::Revealing { until });
		System::assert_last_event(Event::RevealOpened { assignment: 0, until }.into());
		assert_noop!(commit(one, 0, result(1)), Error::<Test>::NotCommitting);
	});
}

#[test]
fn a_reveal_has_conditions() {
	run(|| {
		active(Mismatch::Majority, 3, 10);
		enlisted(3);
		until(0, committing);
		let members = who(&unit(0).members);
		assert_ok!(commit(members[0], 0, result(1)));
		assert_ok!(commit(members[1], 0, result(1)));
		until(0, revealing);
		assert_noop!(reveal(members[2], 0, result(1)), Error::<Test>::NotCommitted);
		assert_noop!(reveal(18, 0, result(1)), Error::<Test>::NotAssigned);
		assert_noop!(reveal(members[0], 7, result(1)), Error::<Test>::NoSuchAssignment);
		assert_noop!(reveal(members[0], 0, result(2)), Error::<Test>::WrongReveal);
		assert_noop!(
			Drilling::reveal(signed(members[0]), 0, result(1), [0; 32]),
			Error::<Test>::WrongReveal
		);
		assert_noop!(check_reveal(members[0], 0, result(1)), Error::<Test>::NotRevealing);
		assert_ok!(reveal(members[0], 0, result(1)));
		System::assert_last_event(Event::Revealed { assignment: 0, who: members[0] }.into());
		assert_noop!(reveal(members[0], 0, result(1)), Error::<Test>::AlreadyRevealed);
		let Phase::Revealing { until } = unit(0).phase else { panic!() };
		System::set_block_number(until + 1);
		assert_noop!(reveal(members[1], 0, result(1)), Error::<Test>::TooLate);
		System::set_block_number(until);
	});
}

/// A commitment that somebody else made opens to nothing: the account is in it.
#[test]
fn a_copied_commitment_is_worth_nothing() {
	run(|| {
		let (one, other) = begun();
		let genesis = Drilling::genesis_hash();
		let copied = commitment(&genesis, 0, &one, &result(1), &salt(one));
		assert_ok!(Drilling::commit(signed(one), 0, copied));
		assert_ok!(Drilling::commit(signed(other), 0, copied));
		until(0, revealing);
		assert_ok!(reveal(one, 0, result(1)));
		assert_noop!(
			Drilling::reveal(signed(other), 0, result(1), salt(one)),
			Error::<Test>::WrongReveal
		);
	});
}

/// A chain has no score.
#[test]
fn a_result_has_the_form_of_its_template() {
	run(|| {
		let (one, other) = begun();
		let scored = UnitResult { score: Some(score(0.5)), ..result(1) };
		assert_ok!(commit(one, 0, scored));
		assert_ok!(commit(other, 0, result(1)));
		until(0, revealing);
		assert_noop!(reveal(one, 0, scored), Error::<Test>::WrongForm);
		assert_ok!(reveal(other, 0, result(1)));
	});
}
