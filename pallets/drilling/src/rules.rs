//! The rules by which units and projects are judged: pure functions.

use alloc::vec::Vec;
use trainyard_pallet_support::majority::{is_majority, majority};
use trainyard_protocol::{drill::Mismatch, job::Balance};

/// What a member of a group delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brought<R> {
	/// No commitment.
	Nothing,
	/// A commitment that it did not open when it should have.
	Sealed,
	/// A commitment that it was never asked to open: too few others had one.
	Unasked,
	/// The answer that the unit's data are not to be had.
	Missing,
	/// A result.
	Result(R),
}

/// The outcome of a group's results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<R> {
	/// This is the unit's result.
	Agreed(R),
	/// The results differ by more than the project's rule allows.
	Disagreed,
	/// No result has the majority of the group, and the results that there are do not differ.
	TooFew,
}

/// What a member's part in a group costs or earns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lot {
	/// It brought the agreed result.
	Agrees,
	/// It brought a wrong result: it loses the unit's work in power.
	Contradicts,
	/// It did not commit: it loses the same and leaves the pool.
	NotCommitted,
	/// It did not open its commitment: likewise.
	NotRevealed,
	/// It gains and loses nothing.
	Spared,
}

/// Judges a group, all of whose members are in `brought`.
///
/// A strict majority of the *group*, absent members counted, must have brought the same result.
/// With [`Mismatch::Majority`] that is enough, and whoever brought a different one loses; without
/// such a majority nobody who brought a result loses. With [`Mismatch::AllLose`] any difference
/// makes everyone who brought a result lose.
pub fn judge<R: Clone + PartialEq>(
	rule: Mismatch,
	brought: &[Brought<R>],
) -> (Verdict<R>, Vec<Lot>) {
	let results: Vec<&R> = brought
		.iter()
		.filter_map(|b| match b {
			Brought::Result(result) => Some(result),
			_ => None,
		})
		.collect();
	let differ = results.iter().zip(results.iter().skip(1)).any(|(a, b)| a != b);
	let all_lose = differ && rule == Mismatch::AllLose;
	let agreed = majority(results.iter().copied(), brought.len()).filter(|_| !all_lose);
	let lots = brought
		.iter()
		.map(|b| match (b, agreed) {
			(Brought::Nothing, _) => Lot::NotCommitted,
			(Brought::Sealed, _) => Lot::NotRevealed,
			(Brought::Unasked | Brought::Missing, _) => Lot::Spared,
			(Brought::Result(_), _) if all_lose => Lot::Contradicts,
			(Brought::Result(result), Some(agreed)) if result == agreed => Lot::Agrees,
			(Brought::Result(_), Some(_)) => Lot::Contradicts,
			(Brought::Result(_), None) => Lot::Spared,
		})
		.collect();
	let verdict = match agreed {
		Some(result) => Verdict::Agreed(result.clone()),
		None if differ => Verdict::Disagreed,
		None => Verdict::TooFew,
	};
	(verdict, lots)
}

/// What a verifier of a recomputation answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<R> {
	/// This result.
	Result(R),
	/// The unit's data are not to be had.
	Missing,
}

/// What a recomputation says of an agreed result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
	/// It is true.
	Confirmed,
	/// It is false: most verifiers agree on a different result.
	Refuted,
	/// There is no agreed result, as most drillers had no data; and most verifiers had them.
	Present,
	/// Most verifiers had no data.
	Missing,
	/// No answer has the majority of the verifiers.
	Undecided,
}

/// What a verifier's part in a recomputation costs or earns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
	/// It found what was decided: it has earned a fee.
	Served,
	/// It found a result that differs from what was decided.
	Contrary,
	/// It gave no result.
	Absent,
	/// It gave one, and nothing was decided; or it had no data, which earns and costs nothing.
	InVain,
}

/// Judges a recomputation: a strict majority of the verifiers, absent ones counted, decides. Without
/// an `agreed` result only whether there are data is asked.
pub fn judge_check<R: PartialEq>(
	agreed: Option<&R>,
	found: &[Option<Answer<R>>],
) -> (Finding, Vec<Service>) {
	let results = found.iter().flatten().filter_map(|answer| match answer {
		Answer::Result(result) => Some(result),
		Answer::Missing => None,
	});
	let results: Vec<&R> = results.collect();
	let missing = found.iter().flatten().filter(|answer| matches!(answer, Answer::Missing));
	let without = is_majority(missing.count(), found.len());
	let decided = majority(results.iter().copied(), found.len());
	let services = found
		.iter()
		.map(|answer| match (answer, decided) {
			(None, _) => Service::Absent,
			(Some(Answer::Missing), _) | (Some(_), None) => Service::InVain,
			(Some(Answer::Result(result)), Some(decided)) if result == decided => Service::Served,
			(Some(Answer::Result(_)), Some(_)) => Service::Contrary,
		})
		.collect();
	let finding = match (decided, agreed) {
		(None, _) if without => Finding::Missing,
		(None, _) => Finding::Undecided,
		(Some(_), None) => Finding::Present,
		(Some(decided), Some(agreed)) if decided == agreed => Finding::Confirmed,
		(Some(_), Some(_)) => Finding::Refuted,
	};
	(finding, services)
}

/// The outcome of a vote on a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
	/// Its units count from now on.
	Approved,
	/// They never will.
	Rejected,
	/// They never will, and two thirds were against it: its deposit is lost.
	Condemned,
}

/// Judges a vote by the bonds of both sides. Approval needs `least` of them, and more than are
/// against it; two thirds against it, and at least `least`, condemn it.
pub fn judge_vote(ayes: Balance, nays: Balance, least: Balance) -> Opinion {
	if ayes >= least && ayes > nays {
		Opinion::Approved
	} else if nays >= least.max(1) && nays / 2 >= ayes {
		Opinion::Condemned
	} else {
		Opinion::Rejected
	}
}

/// Judges a vote on the end of a project that `approved` bonds had approved. It goes on
/// ([`Opinion::Approved`]) unless `least` of them, more than are for it, and more than approved it, are
/// against it. Its deposit is lost where these are twice as many.
pub fn judge_recall(ayes: Balance, nays: Balance, approved: Balance, least: Balance) -> Opinion {
	let least_for = ayes.max(approved);
	if nays < least.max(1) || nays <= least_for {
		Opinion::Approved
	} else if nays / 2 >= least_for {
		Opinion::Condemned
	} else {
		Opinion::Rejected
	}
}

#[cfg(test)]
mod tests {
	use super::{Brought::*, Lot::*, *};
	use proptest::prelude::*;
	use Mismatch::{AllLose, Majority};

	fn r(n: u8) -> Brought<u8> {
		Result(n)
	}

	#[test]
	fn groups_by_majority() {
		let table: [(&[Brought<u8>], Verdict<u8>, &[Lot]); 9] = [
			(&[r(1), r(1)], Verdict::Agreed(1), &[Agrees, Agrees]),
			(&[r(1), r(2)], Verdict::Disagreed, &[Spared, Spared]),
			(&[r(1), Sealed], Verdict::TooFew, &[Spared, NotRevealed]),
			(&[r(1), r(1), r(2)], Verdict::Agreed(1), &[Agrees, Agrees, Contradicts]),
			(&[r(2), r(1), r(1)], Verdict::Agreed(1), &[Contradicts, Agrees, Agrees]),
			(&[r(1), r(1), Nothing], Verdict::Agreed(1), &[Agrees, Agrees, NotCommitted]),
			(&[r(1), r(2), r(3)], Verdict::Disagreed, &[Spared, Spared, Spared]),
			(&[r(1), r(1), r(2), r(2)], Verdict::Disagreed, &[Spared; 4]),
			(&[Unasked, Nothing, Nothing], Verdict::TooFew, &[Spared, NotCommitted, NotCommitted]),
		];
		for (brought, verdict, lots) in table {
			assert_eq!(judge(Majority, brought), (verdict, lots.to_vec()), "{brought:?}");
		}
	}

	#[test]
	fn groups_where_all_lose() {
		let table: [(&[Brought<u8>], Verdict<u8>, &[Lot]); 6] = [
			(&[r(1), r(1)], Verdict::Agreed(1), &[Agrees, Agrees]),
			(&[r(1), r(2)], Verdict::Disagreed, &[Contradicts, Contradicts]),
			(&[r(1), r(1), r(2)], Verdict::Disagreed, &[Contradicts; 3]),
			(&[r(1), r(1), Nothing], Verdict::Agreed(1), &[Agrees, Agrees, NotCommitted]),
			(&[r(1), Nothing, Sealed], Verdict::TooFew, &[Spared, NotCommitted, NotRevealed]),
			(&[r(1), r(2), Sealed], Verdict::Disagreed, &[Contradicts, Contradicts, NotRevealed]),
		];
		for (brought, verdict, lots) in table {
			assert_eq!(judge(AllLose, brought), (verdict, lots.to_vec()), "{brought:?}");
		}
	}

	#[test]
	fn who_has_no_data_is_spared() {
		let table: [(&[Brought<u8>], Verdict<u8>, &[Lot]); 3] = [
			(&[r(1), r(1), Missing], Verdict::Agreed(1), &[Agrees, Agrees, Spared]),
			(&[r(1), Missing, Missing], Verdict::TooFew, &[Spared, Spared, Spared]),
			(&[Unasked, Missing, Nothing], Verdict::TooFew, &[Spared, Spared, NotCommitted]),
		];
		for (brought, verdict, lots) in table {
			assert_eq!(judge(Majority, brought), (verdict.clone(), lots.to_vec()), "{brought:?}");
			assert_eq!(judge(AllLose, brought), (verdict, lots.to_vec()), "{brought:?}");
		}
	}

	#[test]
	fn recomputations() {
		use Service::*;
		let (one, two, three, none) =
			(Some(Answer::Result(1)), Some(Answer::Result(2)), Some(Answer::Result(3)), None);
		let missing = Some(Answer::Missing);
		let table: [(&[Option<Answer<u8>>], Finding, &[Service]); 12] = [
			(&[one, one, one], Finding::Confirmed, &[Served; 3]),
			(&[one, one, two], Finding::Confirmed, &[Served, Served, Contrary]),
			(&[one, none, one], Finding::Confirmed, &[Served, Absent, Served]),
			(&[two, one, two], Finding::Refuted, &[Served, Contrary, Served]),
			(&[one, two, three], Finding::Undecided, &[InVain; 3]),
			(&[one, none, none], Finding::Undecided, &[InVain, Absent, Absent]),
			(&[none, none, none], Finding::Undecided, &[Absent; 3]),
			(&[one, one, missing], Finding::Confirmed, &[Served, Served, InVain]),
			(&[two, missing, two], Finding::Refuted, &[Served, InVain, Served]),
			(&[one, missing, missing], Finding::Missing, &[InVain; 3]),
			(&[missing, missing, none], Finding::Missing, &[InVain, InVain, Absent]),
			(&[one, missing, none], Finding::Undecided, &[InVain, InVain, Absent]),
		];
		for (found, finding, services) in table {
			assert_eq!(judge_check(Some(&1), found), (finding, services.to_vec()), "{found:?}");
			// Where nothing was agreed on, any result shows that there are data.
			let doubted = match finding {
				Finding::Confirmed | Finding::Refuted => Finding::Present,
				other => other,
			};
			assert_eq!(judge_check(None, found), (doubted, services.to_vec()), "{found:?}");
		}
	}

	#[test]
	fn votes() {
		use Opinion::*;
		for (ayes, nays, opinion) in [
			(100, 0, Approved),
			(100, 99, Approved),
			(99, 0, Rejected),
			(100, 100, Rejected),
			(0, 0, Rejected),
			(0, 99, Rejected),
			(0, 100, Condemned),
			(50, 100, Condemned),
			(51, 100, Rejected),
			(200, 400, Condemned),
			(Balance::MAX, 0, Approved),
			(0, Balance::MAX, Condemned),
			(Balance::MAX, Balance::MAX, Rejected),
		] {
			assert_eq!(judge_vote(ayes, nays, 100), opinion, "{ayes} {nays}");
		}
		// A vote that nobody cast neither approves nor condemns, even where no bond is asked for.
		assert_eq!(judge_vote(0, 0, 0), Rejected);
	}

	#[test]
	fn recalls() {
		use Opinion::*;
		for (ayes, nays, approved, opinion) in [
			(0, 99, 0, Approved),
			(0, 100, 0, Condemned),
			(0, 100, 50, Condemned),
			(0, 100, 51, Rejected),
			(0, 100, 100, Approved),
			(50, 100, 0, Condemned),
			(51, 100, 0, Rejected),
			(100, 100, 0, Approved),
			(500, 501, 0, Rejected),
			(0, Balance::MAX, Balance::MAX, Approved),
			(0, Balance::MAX, Balance::MAX - 1, Rejected),
			(Balance::MAX, Balance::MAX, 0, Approved),
		] {
			assert_eq!(judge_recall(ayes, nays, approved, 100), opinion, "{ayes} {nays}");
		}
		assert_eq!(judge_recall(0, 0, 0, 0), Approved, "a vote that nobody cast ends nothing");
	}

	fn brought() -> impl Strategy<Value = Brought<u8>> {
		prop_oneof![
			1 => Just(Nothing),
			1 => Just(Sealed),
			1 => Just(Missing),
			6 => (0u8..3).prop_map(Result),
		]
	}

	proptest! {
		/// Those who agree are a strict majority of the group with one result; nobody gains by a
		/// result that was not agreed, and the order of the members does not matter.
		#[test]
		fn judgements_are_consistent(
			mut group in proptest::collection::vec(brought(), 2..=7),
			all_lose in any::<bool>(),
			turn in 0usize..7,
		) {
			let rule = if all_lose { AllLose } else { Majority };
			let (verdict, lots) = judge(rule, &group);
			prop_assert_eq!(lots.len(), group.len());
			let agreeing = lots.iter().filter(|lot| **lot == Agrees).count();
			match &verdict {
				Verdict::Agreed(result) => {
					prop_assert!(is_majority(agreeing, group.len()));
					for (lot, b) in lots.iter().zip(&group) {
						prop_assert_eq!(*lot == Agrees, *b == Result(*result));
					}
				}
				_ => prop_assert_eq!(agreeing, 0),
			}
			for (lot, b) in lots.iter().zip(&group) {
				match b {
					Nothing => prop_assert_eq!(*lot, NotCommitted),
					Sealed => prop_assert_eq!(*lot, NotRevealed),
					_ => prop_assert!(!matches!(lot, NotCommitted | NotRevealed)),
				}
			}
			let losers = lots.iter().filter(|lot| **lot == Contradicts).count();
			if rule == Majority {
				prop_assert!(losers == 0 || agreeing > losers, "a minority made a majority lose");
			} else {
				prop_assert!(losers == 0 || agreeing == 0, "some lose and some do not");
			}
			let by = turn % group.len();
			group.rotate_left(by);
			prop_assert_eq!(judge(rule, &group).0, verdict);
		}

		/// One honest verifier in three decides nothing, two decide everything.
		#[test]
		fn two_honest_verifiers_decide(other in proptest::option::of(0u8..4), seat in 0usize..3, agreed in 0u8..2) {
			let mut found = vec![Some(Answer::Result(1)); 3];
			found[seat] = other.map(|n| if n == 3 { Answer::Missing } else { Answer::Result(n) });
			let (finding, services) = judge_check(Some(&agreed), &found);
			prop_assert_eq!(finding, if agreed == 1 { Finding::Confirmed } else { Finding::Refuted });
			prop_assert!(services.iter().filter(|s| **s == Service::Served).count() >= 2);
		}
	}
}
