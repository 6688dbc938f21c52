//! The decision rule by itself.

use crate::{
	mock::evidence,
	verdicts::{stance, tally, Outcome, Stance, Vote},
};
use trainyard_protocol::audit::{GroupVerdict, RejectReason};

fn yes(number: u8) -> GroupVerdict {
	GroupVerdict::Accept(evidence(&[1, 4], number).try_into().unwrap())
}

/// The votes of a committee; who is absent says nothing.
fn votes<'a>(said: &[Option<&'a GroupVerdict>]) -> Vec<Vote<'a>> {
	said.iter().map(|said| said.map_or(Vote::Nothing, Vote::Says)).collect()
}

const NO: GroupVerdict = GroupVerdict::Reject(RejectReason::WrongModel);
const GONE: GroupVerdict = GroupVerdict::Unavailable;

#[test]
fn a_strict_majority_of_the_seats_decides() {
	let (one, two) = (yes(1), yes(2));
	let (a, b, n, g) = (Some(&one), Some(&two), Some(&NO), Some(&GONE));
	let one_wins = Some(Outcome::from(&one));
	for (said, outcome) in [
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
		assert_eq!(tally(&votes(&said)), outcome, "{said:?}");
	}
}

/// Whoever lacks something asks for it; the word of a machine that could not, or did not, is none.
#[test]
fn unavailable_is_no_word_of_who_did_not_ask() {
	let one = yes(1);
	let (a, n, g) = (Vote::Says(&one), Vote::Says(&NO), Vote::Says(&GONE));
	let u = Vote::Unasked;
	for (votes, outcome) in [
		(vec![u, u, u], None),
		(vec![u, u, a], None),
		(vec![n, u, a], None),
		(vec![n, u, u], None),
		(vec![g, u, u], None),
		(vec![g, n, u], Some(Outcome::Unavailable)),
		(vec![n, n, u], Some(Outcome::Reject)),
		(vec![a, a, u], Some(Outcome::from(&one))),
		(vec![n, n, a, a, u], None),
	] {
		assert_eq!(tally(&votes), outcome, "{votes:?}");
	}
	assert_eq!(stance(u, None), Stance::InVain);
	assert_eq!(stance(g, None), Stance::Agrees);
	assert_eq!(stance(a, None), Stance::Agrees);
	for outcome in [Outcome::Reject, Outcome::Unavailable, Outcome::from(&one)] {
		assert_eq!(stance(u, Some(&outcome)), Stance::InVain);
	}
}

#[test]
fn reasons_to_reject_add_up() {
	let start = GroupVerdict::Reject(RejectReason::WrongInitialState);
	assert_eq!(tally(&votes(&[Some(&NO), Some(&start), Some(&GONE)])), Some(Outcome::Reject));
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
		let said = vote.map_or(Vote::Nothing, Vote::Says);
		assert_eq!(stance(said, outcome), expected, "{vote:?} against {outcome:?}");
	}
}

/// Whoever contradicts is not saved by having been silent elsewhere.
#[test]
fn the_worst_stance_counts() {
	let order = [Stance::Agrees, Stance::InVain, Stance::Silent, Stance::Contradicts];
	assert!(order.is_sorted());
}
