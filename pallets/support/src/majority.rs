//! What most of a group or a committee say.
//!
//! Seats that say nothing count: half of a committee is no majority of it, whoever is absent.

/// A part of all seats, as a numerator and a denominator; at least a half.
pub type Part = (usize, usize);

/// The part that a strict majority exceeds.
pub const HALF: Part = (1, 2);
/// The part that must be exceeded where somebody is convicted.
pub const TWO_THIRDS: Part = (2, 3);

/// Returns whether `count` is more than `part` of `all` seats.
pub fn exceeds(count: usize, all: usize, part: Part) -> bool {
	let (numerator, denominator) = part;
	count.saturating_mul(denominator) > all.saturating_mul(numerator)
}

/// Returns whether `count` is a strict majority of `all` seats, those included that say nothing.
pub fn is_majority(count: usize, all: usize) -> bool {
	exceeds(count, all, HALF)
}

/// Returns what more than `part` of `all` seats found, of what was `found` by those that say something.
pub fn found_by<R: PartialEq>(
	found: impl Iterator<Item = R> + Clone,
	all: usize,
	part: Part,
) -> Option<R> {
	let supporters = |result: &R| found.clone().filter(|other| other == result).count();
	found.clone().find(|result| exceeds(supporters(result), all, part))
}

/// Returns what a strict majority of `all` seats found.
pub fn majority<R: PartialEq>(found: impl Iterator<Item = R> + Clone, all: usize) -> Option<R> {
	found_by(found, all, HALF)
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	#[test]
	fn half_is_no_majority() {
		for (count, seats, yes) in [
			(0, 0, false),
			(0, 1, false),
			(1, 1, true),
			(1, 2, false),
			(2, 3, true),
			(7, 15, false),
		] {
			assert_eq!(is_majority(count, seats), yes, "{count} of {seats}");
		}
		assert!(is_majority(8, 15) && is_majority(usize::MAX, usize::MAX - 1));
	}

	#[test]
	fn ten_of_fifteen_are_two_thirds_and_no_more() {
		for (count, seats, yes) in [(0, 0, false), (2, 3, false), (10, 15, false), (11, 15, true)] {
			assert_eq!(exceeds(count, seats, TWO_THIRDS), yes, "{count} of {seats}");
		}
	}

	#[test]
	fn absent_seats_count() {
		let found = |found: &[u8], all| majority(found.iter().copied(), all);
		assert_eq!(found(&[], 0), None);
		assert_eq!(found(&[1, 1], 3), Some(1));
		assert_eq!(found(&[1, 1], 4), None);
		assert_eq!(found(&[2, 1, 1], 3), Some(1));
		assert_eq!(found(&[2, 2, 1, 1], 4), None);
		assert_eq!(found_by([1, 1, 2].into_iter(), 3, TWO_THIRDS), None);
		assert_eq!(found_by([2, 1, 1, 1].into_iter(), 4, TWO_THIRDS), Some(1));
	}

	proptest! {
		/// There is one at most, and it is found wherever there is one.
		#[test]
		fn it_is_what_more_than_the_part_have(
			found in prop::collection::vec(0u8..4, 0..16),
			absent in 0usize..8,
			two_thirds: bool,
		) {
			let part = if two_thirds { TWO_THIRDS } else { HALF };
			let all = found.len() + absent;
			let count = |result: u8| found.iter().filter(|other| **other == result).count();
			let those: Vec<u8> = (0..4)
				.filter(|result| count(*result) * part.1 > all * part.0)
				.collect();
			prop_assert!(those.len() <= 1);
			prop_assert_eq!(found_by(found.iter().copied(), all, part), those.first().copied());
		}
	}
}
