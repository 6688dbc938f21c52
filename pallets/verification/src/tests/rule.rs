//! The decision rule by itself.

use crate::{
	mock::evidence,
	verdicts::{stance, tally, Outcome, Stance},
};
use trainyard_protocol::audit::{GroupVerdict, RejectReason};

fn yes(number: u8) -> GroupVerdict {
	GroupVerdict::Accept(evidence(&[1, 4], number).try_into().unwrap())
}

const NO: GroupVerdict = GroupVerdict::Reject(RejectReason::WrongModel);
const GONE: GroupVerdict = GroupVerdict::Unavailable;

#[test]
fn a_strict_majority_of_the_seats_decides() {
	let (one, two) = (yes(1), yes(2));
	let (a, b, n, g) = (Some(&one), Some(&two), Some(&NO), Some(&GONE));
	let one_wins = Some(Outcome::from(&one));
	for (votes, outcome) in [
		(vec![], None),
		(vec![None], None),
		(vec![a], one_wins),
		(vec![a, None], None),
		(vec![a, a], one_wins),
		(vec![a, n], None),
		(vec![a, a, n], one_wins),
		(vec![n, a, a], one_wins),
		(vec![a, b, a], one_wins),
		(vec![a, b, n], None),
		(vec![n, n, g], Some(Outcome::Reject)),
		(vec![g, g, a], Some(Outcome::Unavailable)),
		(vec![a, a, n, n], None),
		(vec![a, a, None, None], None),
		// Only together the majority.
		(vec![n, g, a], Some(Outcome::Unavailable)),
		(vec![n, g, None], Some(Outcome::Unavailable)),
		(vec![n, g, a, b], None),
		(vec![a, a, a, None, None], one_wins),
		(vec![a, a, b, b, b], Some(Outcome::from(&two))),
	] {
		assert_eq!(tally(&votes, true), outcome, "{votes:?}");
	}
}

/// Before anything was stored, who lacks something asks for it.
#[test]
fn unavailable_is_no_word_where_nothing_was_stored() {
	let one = yes(1);
	let (a, n, g) = (Some(&one), Some(&NO), Some(&GONE));
	for (votes, outcome) in [
		(vec![g, g, g], None),
		(vec![g, g, a], None),
		(vec![n, g, a], None),
		(vec![n, n, g], Some(Outcome::Reject)),
		(vec![a, a, g], Some(Outcome::from(&one))),
		(vec![n, n, a, a, g], None),
	] {
		assert_eq!(tally(&votes, false), outcome, "{votes:?}");
	}
	assert_eq!(stance(g, None, false), Stance::InVain);
	assert_eq!(stance(g, None, true), Stance::Agrees);
	assert_eq!(stance(a, None, false), Stance::Agrees);
}

#[test]
fn reasons_to_reject_add_up() {
	let start = GroupVerdict::Reject(RejectReason::WrongInitialState);
	assert_eq!(tally(&[Some(&NO), Some(&start), Some(&GONE)], true), Some(Outcome::Reject));
}

#[test]
fn stances() {
	let (one, two) = (yes(1), yes(2));
	let accepted = Outcome::from(&one);
	for (vote, outcome, expected) in [
		(Some(&one), Some(&accepted), Stance::Agrees),
		(Some(&two), Some(&accepted), Stance::Contradicts),
		(Some(&NO), Some(&accepted), Stance::Contradicts),
		(Some(&GONE), Some(&accepted), Stance::InVain),
		(None, Some(&accepted), Stance::Silent),
		(Some(&NO), Some(&Outcome::Reject), Stance::Agrees),
		(Some(&one), Some(&Outcome::Reject), Stance::Contradicts),
		(Some(&GONE), Some(&Outcome::Reject), Stance::InVain),
		(Some(&GONE), Some(&Outcome::Unavailable), Stance::Agrees),
		(Some(&one), Some(&Outcome::Unavailable), Stance::Agrees),
		(Some(&NO), Some(&Outcome::Unavailable), Stance::Agrees),
		(None, Some(&Outcome::Unavailable), Stance::Silent),
		(Some(&one), None, Stance::Agrees),
		(None, None, Stance::Silent),
	] {
		assert_eq!(stance(vote, outcome, true), expected, "{vote:?} against {outcome:?}");
	}
}

/// Whoever contradicts is not saved by having been silent elsewhere.
#[test]
fn the_worst_stance_counts() {
	let order = [Stance::Agrees, Stance::InVain, Stance::Silent, Stance::Contradicts];
	assert!(order.is_sorted());
}
