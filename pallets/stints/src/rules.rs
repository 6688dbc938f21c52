//! What committees decide, as pure functions.

use alloc::vec::Vec;
use trainyard_pallet_support::majority;

/// What is known of a report after a committee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
	/// Most verifiers found what the driller opened.
	Confirmed,
	/// The driller did not open what was drawn.
	Absent,
	/// The first committee did not confirm it: the second decides.
	Doubted,
	/// More than two thirds of the second committee found one other result.
	Refuted,
	/// The second committee neither confirms nor convicts.
	Undecided,
}

/// What a verifier's part earns or costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
	/// It found what was decided: it has earned a fee.
	Served,
	/// It found something else.
	Contrary,
	/// It gave no result.
	Absent,
	/// It gave one, and nothing was decided, or nothing against it.
	InVain,
}

/// Returns the result that a strict majority of these seats has, absent ones counted.
fn majority<R: Copy + PartialEq>(found: &[Option<R>]) -> Option<R> {
	majority::majority(found.iter().flatten().copied(), found.len())
}

/// Returns the result that more than two thirds of these seats have.
fn convicting<R: Copy + PartialEq>(found: &[Option<R>]) -> Option<R> {
	majority::found_by(found.iter().flatten().copied(), found.len(), majority::TWO_THIRDS)
}

/// Returns whether most of these seats found something else than `opened`.
pub fn is_contradicted<R: Copy + PartialEq>(opened: Option<R>, found: &[Option<R>]) -> bool {
	majority(found).is_some_and(|most| Some(most) != opened)
}

/// Returns what stands after the first committee, `first`, and the second, which is empty before it
/// was asked. `opened` is what the driller opened.
///
/// The first confirms by a majority that nobody contradicts, and convicts nobody. The second confirms
/// by a majority, and convicts by more than two thirds of all its seats.
pub fn judge<R: Copy + PartialEq>(
	opened: Option<R>,
	first: &[Option<R>],
	second: &[Option<R>],
) -> Finding {
	let Some(opened) = opened else { return Finding::Absent };
	if second.is_empty() {
		let contradicted = first.iter().flatten().any(|found| *found != opened);
		let confirmed = !contradicted && majority(first) == Some(opened);
		return if confirmed { Finding::Confirmed } else { Finding::Doubted };
	}
	if majority(second) == Some(opened) {
		return Finding::Confirmed;
	}
	match convicting(second) {
		Some(_) => Finding::Refuted,
		None => Finding::Undecided,
	}
}

/// Returns what each seat of both committees earns or costs once everything is over. What most of the
/// second found is right. Whoever of both found something else pays where more than two thirds of the
/// second agree, as a driller does: otherwise a majority of liars would make the honest pay. Where there
/// was no second what most of the first found is paid, unless one was asked for and never sat (`void`),
/// and nobody pays for having found something else: three do not convict a verifier either.
pub fn services<R: Copy + PartialEq>(
	first: &[Option<R>],
	second: &[Option<R>],
	void: bool,
) -> Vec<Service> {
	let decided = match (second.is_empty(), void) {
		(_, true) => None,
		(true, false) => majority(first),
		(false, false) => majority(second),
	};
	let service = |found: &Option<R>| match (found, decided) {
		(None, _) => Service::Absent,
		(Some(_), None) => Service::InVain,
		(Some(found), Some(decided)) if *found == decided => Service::Served,
		(Some(_), Some(_)) if convicting(second).is_none() => Service::InVain,
		(Some(_), Some(_)) => Service::Contrary,
	};
	first.iter().chain(second).map(service).collect()
}

#[cfg(test)]
mod tests {
	use super::{Finding::*, Service::*, *};
	use proptest::prelude::*;

	/// A second committee of fifteen with so many for 1 and for 2.
	fn fifteen(yeas: usize, noes: usize) -> Vec<Option<u8>> {
		let mut all = vec![None; 15];
		all[..yeas].fill(Some(1));
		all[yeas..yeas + noes].fill(Some(2));
		all
	}

	#[test]
	fn three_confirm_and_fifteen_decide() {
		let (yes, no) = (Some(1), Some(2));
		assert_eq!(judge(None, &[yes; 3], &[]), Finding::Absent);
		assert_eq!(judge(yes, &[yes, yes, None], &[]), Confirmed);
		assert_eq!(judge(yes, &[yes, yes, no], &[]), Doubted, "nobody may contradict");
		assert_eq!(judge(yes, &[yes, None, None], &[]), Doubted);
		assert_eq!(judge(yes, &[no; 3], &[]), Doubted, "three convict nobody");
		let second = |yeas, noes| judge(yes, &[no; 3], &fifteen(yeas, noes));
		assert_eq!((second(8, 7), second(8, 0)), (Confirmed, Confirmed));
		assert_eq!((second(4, 11), second(0, 11)), (Refuted, Refuted));
		assert_eq!((second(5, 10), second(7, 8), second(7, 0)), (Undecided, Undecided, Undecided));
		assert_eq!(judge(None, &[no; 3], &fifteen(7, 8)), Finding::Absent);
		for (size, needed) in [(3, 3), (5, 4), (9, 7), (15, 11)] {
			let found = |count: usize| {
				let mut all = vec![yes; size];
				all[..count].fill(no);
				judge(yes, &[no; 3], &all)
			};
			assert!(found(needed) == Refuted && found(needed - 1) != Refuted, "{size}");
		}
	}

	#[test]
	fn only_the_second_committee_makes_anybody_pay() {
		let (yes, no) = (Some(1), Some(2));
		assert_eq!(services(&[yes, no, None], &[], false), vec![InVain, InVain, Service::Absent]);
		assert_eq!(services(&[yes, yes, no], &[], false), vec![Served, Served, InVain]);
		assert_eq!(services(&[no, no, yes], &[], true), vec![InVain; 3], "nobody decided");
		let all = services(&[no, no, yes], &fifteen(11, 3), false);
		assert_eq!(all[..3], [Contrary, Contrary, Served]);
		assert_eq!((all[3], all[15], all[17]), (Served, Contrary, Service::Absent));
		let all = services(&[no, no, yes], &fifteen(8, 6), false);
		assert_eq!(all[..3], [InVain, InVain, Served], "eight make nobody pay");
		assert_eq!((all[3], all[12], all[17]), (Served, InVain, Service::Absent));
		assert!(services(&[no; 3], &fifteen(7, 7), false)[..17].iter().all(|s| *s == InVain));
	}

	proptest! {
		/// Eleven honest verifiers of the second committee decide, whatever the first one and the other
		/// four say, eight confirm what is true, and the first alone refutes nobody.
		#[test]
		fn honest_majorities_decide(
			first in proptest::collection::vec(proptest::option::of(0u8..3), 3),
			others in proptest::collection::vec(proptest::option::of(0u8..3), 7),
			opened in 0u8..3,
		) {
			prop_assert!(judge(Some(opened), &first, &[]) != Refuted);
			let second = [vec![Some(1); 8], others.clone()].concat();
			prop_assert_eq!(judge(Some(1), &first, &second), Confirmed);
			let second = [vec![Some(1); 11], others[..4].to_vec()].concat();
			let finding = judge(Some(opened), &first, &second);
			prop_assert_eq!(finding, if opened == 1 { Confirmed } else { Refuted });
			let services = services(&first, &second, false);
			prop_assert_eq!(services.len(), 18);
			prop_assert!(services[3..14].iter().all(|service| *service == Served));
		}
	}
}
