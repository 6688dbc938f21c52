//! What committees decide, who is paid and who is slashed.

use crate::{mock::*, Event, Fault};
use trainyard_protocol::audit::{AuditPhase, Decision};

fn speak(say: Say) -> Act {
	Act::Speak(vec![say])
}

/// The outcome of the audit, which must be there.
fn outcome() -> (Vec<Decision>, Vec<AccountId>) {
	Outcome::get().expect("the audit is done")
}

#[test]
fn all_accept() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = unanimous(Say::Yes(1));
		assert_eq!(outcome(), (vec![Decision::Accepted], seats));
		assert!(VERIFIERS[..3].iter().all(|who| bond_of(*who) == BOND));
		System::assert_has_event(
			Event::Decided { job: JOB, group: 0, decision: Decision::Accepted }.into(),
		);
		System::assert_last_event(Event::AuditDone { job: JOB, fees: 3 }.into());
	});
}

/// Whether a training stood still is a part of the evidence, on which the majority must agree.
#[test]
fn a_result_that_stood_still_is_idle() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::Still(1)), speak(Say::Still(1)), speak(Say::Yes(1))]);
		assert_eq!(outcome(), (vec![Decision::Idle], vec![seats[0], seats[1]]));
		assert_eq!(bond_of(seats[2]), BOND - CONTRARY, "it did not look, or lied");
	});
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::Still(1)), speak(Say::Yes(1)), speak(Say::Yes(1))]);
		assert_eq!(outcome(), (vec![Decision::Accepted], vec![seats[1], seats[2]]));
	});
}

/// The last reveal ends the audit in the next block.
#[test]
fn a_complete_round_does_not_wait_for_deadlines() {
	run(|| {
		bonded(3);
		open(1, 3);
		unanimous(Say::Yes(1));
		// Seed at 4, commitments seen at 5, reveals seen at 6.
		assert_eq!(System::block_number(), 6);
	});
}

#[test]
fn the_majority_rejects_and_the_minority_pays() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::No), speak(Say::Yes(1)), speak(Say::No)]);
		assert_eq!(outcome(), (vec![Decision::Rejected], vec![seats[0], seats[2]]));
		assert_eq!(bond_of(seats[1]), BOND - CONTRARY);
		assert_eq!(Balances::free_balance(JACKPOT), 1 + CONTRARY);
		System::assert_has_event(
			Event::Slashed {
				verifier: seats[1],
				amount: CONTRARY,
				job: JOB,
				fault: Fault::Contrary,
			}
			.into(),
		);
	});
}

#[test]
fn acceptance_on_other_evidence_is_contrary() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::Yes(1)), speak(Say::Yes(2)), speak(Say::Yes(1))]);
		assert_eq!(outcome(), (vec![Decision::Accepted], vec![seats[0], seats[2]]));
		assert_eq!(bond_of(seats[1]), BOND - CONTRARY);
	});
}

#[test]
fn acceptance_on_different_evidence_is_no_majority() {
	run(|| {
		bonded(3);
		open(1, 3);
		round(&[speak(Say::Yes(1)), speak(Say::Yes(2)), speak(Say::Yes(3))]);
		assert_eq!(Outcome::get(), None);
		assert_eq!(view().round, 1);
	});
}

#[test]
fn an_absent_verifier_is_slashed_and_does_not_stop_the_rest() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::Yes(1)), Act::Vanish, speak(Say::Yes(1))]);
		assert_eq!(outcome(), (vec![Decision::Accepted], vec![seats[0], seats[2]]));
		assert_eq!(bond_of(seats[1]), BOND - ABSENCE);
		System::assert_has_event(
			Event::Slashed {
				verifier: seats[1],
				amount: ABSENCE,
				job: JOB,
				fault: Fault::NoVerdict,
			}
			.into(),
		);
	});
}

#[test]
fn a_commitment_without_reveal_counts_as_absent() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[Act::Seal, speak(Say::No), speak(Say::No)]);
		assert_eq!(outcome(), (vec![Decision::Rejected], vec![seats[1], seats[2]]));
		assert_eq!(bond_of(seats[0]), BOND - ABSENCE);
	});
}

/// A trainer may refuse its bundle to one verifier; that one loses its fee and nothing else.
#[test]
fn unavailable_against_the_majority_earns_and_costs_nothing() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::Gone), speak(Say::Yes(1)), speak(Say::Yes(1))]);
		assert_eq!(outcome(), (vec![Decision::Accepted], vec![seats[1], seats[2]]));
		assert_eq!(bond_of(seats[0]), BOND);
		assert_eq!(entry(seats[0]).absences, 0);
		assert_eq!(Balances::free_balance(JACKPOT), 1);
	});
}

/// The majority is of the seats, not of those who speak.
#[test]
fn one_voice_of_three_decides_nothing() {
	run(|| {
		bonded(3);
		open(1, 3);
		let seats = round(&[speak(Say::Yes(1))]);
		assert_eq!((Outcome::get(), view().round), (None, 1));
		assert_eq!(bond_of(seats[0]), BOND);
		assert!(seats[1..].iter().all(|who| bond_of(*who) == BOND - ABSENCE));
	});
}

#[test]
fn a_split_is_drawn_again() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let drawn = drawn();
		let first = round(&[speak(Say::Yes(1)), speak(Say::No), speak(Say::Yes(2))]);
		assert_eq!(Outcome::get(), None);
		let view = view();
		assert_eq!(view.round, 1);
		assert!(matches!(view.phase, AuditPhase::Drawing { .. }));
		assert!(view.committee.is_empty());
		assert_eq!(view.groups[0].drawn, drawn[0], "other segments would be another chance");
		// All answered. It is not known who was right, so all earned their fee.
		assert!(first.iter().all(|who| bond_of(*who) == BOND));
		let second = unanimous(Say::No);
		let fees: Vec<_> = first.into_iter().chain(second).collect();
		assert_eq!(outcome(), (vec![Decision::Rejected], fees));
	});
}

#[test]
fn three_splits_leave_it_undecided() {
	run(|| {
		bonded(3);
		open(1, 3);
		let mut fees = Vec::new();
		for _ in 0..3 {
			fees.extend(round(&[speak(Say::Yes(1)), speak(Say::No), speak(Say::Yes(2))]));
		}
		assert_eq!(outcome(), (vec![Decision::Undecided], fees));
		assert_eq!(view().phase, AuditPhase::Done);
	});
}

#[test]
fn groups_are_decided_each_for_itself() {
	run(|| {
		bonded(3);
		open(3, 3);
		let says = vec![Say::No, Say::Yes(1), Say::No];
		let seats = round(&vec![Act::Speak(says); 3]);
		let decisions = vec![Decision::Rejected, Decision::Accepted, Decision::Rejected];
		assert_eq!(outcome(), (decisions, seats));
	});
}

/// Replicas share the seed: at most one of two different results is true.
#[test]
fn two_results_that_pass_are_not_both_accepted() {
	run(|| {
		bonded(3);
		open(2, 3);
		let both = vec![Say::Yes(1), Say::Yes(2)];
		tick_until(is_committing);
		let first = round(&vec![Act::Speak(both); 3]);
		assert_eq!((Outcome::get(), view().round), (None, 1));
		assert!(view().groups.iter().all(|group| group.decision.is_none()));
		assert!(drawn().iter().all(Vec::is_empty), "other segments may tell them apart");
		let second = round(&vec![Act::Speak(vec![Say::Yes(1), Say::No]); 3]);
		let fees: Vec<_> = first.into_iter().chain(second).collect();
		assert_eq!(outcome(), (vec![Decision::Accepted, Decision::Rejected], fees));
		assert!(VERIFIERS[..3].iter().all(|who| bond_of(*who) == BOND));
	});
}

#[test]
fn a_result_that_passes_behind_an_accepted_one_is_not_accepted() {
	run(|| {
		bonded(3);
		open(2, 3);
		let parted = |second| Act::Speak(vec![Say::Yes(1), second]);
		round(&[parted(Say::Yes(1)), parted(Say::Yes(2)), parted(Say::No)]);
		assert_eq!(view().groups[0].decision, Some(Decision::Accepted));
		for _ in 0..2 {
			round(&vec![Act::Speak(vec![Say::Gone, Say::Yes(1)]); 3]);
		}
		assert_eq!(outcome().0, [Decision::Accepted, Decision::Undecided]);
	});
}

/// Only those that contradict each other are drawn again: for the third, other segments would be
/// another chance.
#[test]
fn a_split_keeps_its_segments_beside_two_that_contradict() {
	run(|| {
		bonded(3);
		open(3, 3);
		tick_until(is_committing);
		let before = drawn();
		let says = [Say::Yes(1), Say::No, Say::Yes(2)];
		round(&says.map(|say| Act::Speak(vec![Say::Yes(1), Say::Yes(1), say])));
		assert_eq!(drawn(), [vec![], vec![], before[2].clone()]);
		tick_until(is_committing);
		let after = drawn();
		assert_eq!((after[0].len(), after[1].len(), &after[2]), (2, 2, &before[2]));
		assert!(after[0] != before[0] || after[1] != before[1]);
		round(&vec![Act::Speak(vec![Say::Yes(1), Say::No, Say::No]); 3]);
		let decisions = [Decision::Accepted, Decision::Rejected, Decision::Rejected];
		assert_eq!(outcome().0, decisions);
	});
}

#[test]
fn who_is_wrong_about_one_group_earns_nothing() {
	run(|| {
		bonded(3);
		open(2, 3);
		let seats = round(&[
			Act::Speak(vec![Say::Yes(1), Say::No]),
			Act::Speak(vec![Say::Yes(1), Say::Yes(1)]),
			Act::Speak(vec![Say::Yes(1), Say::No]),
		]);
		let decisions = vec![Decision::Accepted, Decision::Rejected];
		assert_eq!(outcome(), (decisions, vec![seats[0], seats[2]]));
		assert_eq!(bond_of(seats[1]), BOND - CONTRARY);
	});
}

/// A slash for a false verdict swallows the one for a missing verdict.
#[test]
fn a_member_is_slashed_once_a_round_for_its_worst_fault() {
	run(|| {
		bonded(3);
		open(2, 3);
		let seats = round(&[
			Act::Speak(vec![Say::Gone, Say::Yes(9)]),
			Act::Speak(vec![Say::Yes(1), Say::No]),
			Act::Speak(vec![Say::Yes(1), Say::No]),
		]);
		assert_eq!(bond_of(seats[0]), BOND - CONTRARY);
	});
}

#[test]
fn a_decided_group_is_not_asked_again() {
	run(|| {
		bonded(3);
		open(2, 3);
		let first = round(&[
			Act::Speak(vec![Say::Yes(1), Say::Yes(1)]),
			Act::Speak(vec![Say::Yes(1), Say::No]),
			Act::Speak(vec![Say::Yes(1), Say::Yes(2)]),
		]);
		let view_ = view();
		let decided: Vec<_> = view_.groups.iter().map(|group| group.decision).collect();
		assert_eq!((view_.round, decided), (1, vec![Some(Decision::Accepted), None]));
		// Whatever stands for the first group now, it is not looked at: neither as malformed,
		// nor as contrary.
		let second =
			round(&[Say::Gone, Say::No, Say::Yes(3)].map(|say| Act::Speak(vec![say, Say::No])));
		let fees: Vec<_> = first.into_iter().chain(second).collect();
		assert_eq!(outcome(), (vec![Decision::Accepted, Decision::Rejected], fees));
		assert!(VERIFIERS[..3].iter().all(|who| bond_of(*who) == BOND));
	});
}

#[test]
fn everyone_vanishes() {
	run(|| {
		bonded(3);
		open(1, 3);
		for _ in 0..3 {
			round(&[]);
		}
		assert_eq!(outcome(), (vec![Decision::Undecided], vec![]));
		// Nobody committed, so nobody was waited for at the reveal.
		assert_eq!(System::block_number(), 1 + 3 * u64::from(SEED_BLOCKS + 1 + COMMIT + 1));
		assert!(VERIFIERS[..3].iter().all(|who| bond_of(*who) == BOND - 3 * ABSENCE));
	});
}

/// A verifier on a committee cannot save its bond by leaving.
#[test]
fn leaving_does_not_save_the_bond() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		let seats = committee();
		Verification::deregister(RuntimeOrigin::signed(seats[1])).unwrap();
		round(&[speak(Say::Yes(1)), Act::Vanish, speak(Say::Yes(1))]);
		assert_eq!(bond_of(seats[1]), BOND - ABSENCE);
	});
}

/// A member that left the pool may still give its verdict.
#[test]
fn who_is_leaving_may_finish_its_work() {
	run(|| {
		bonded(3);
		open(1, 3);
		tick_until(is_committing);
		Verification::deregister(RuntimeOrigin::signed(committee()[1])).unwrap();
		let seats = unanimous(Say::Yes(1));
		assert_eq!(outcome(), (vec![Decision::Accepted], seats));
	});
}
