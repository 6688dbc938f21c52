//! Which segments of a result a whistleblower replays.
//!
//! First those that show most: the segment that moved farthest by the parameters, and by the moments;
//! then the first and the last, which nothing is compared with. All others are random. One at least
//! always is: what moved farthest a cheat can compute as well where tensors are read whole, and what
//! nobody would replay it could make up.

use std::collections::BTreeSet;

/// Returns the segments that are replayed of a result with so many, in their order: `count`, or all where
/// there are fewer. `picks` are those that moved farthest, as far as that is known.
pub fn choose(picks: &[u32], trained: u32, count: u32) -> Vec<u32> {
	let count = count.min(trained) as usize;
	// Which of them comes first is random, too: few segments do not always hold both.
	let mut known = picks.to_vec();
	if rand::random() {
		known.reverse();
	}
	known.extend([0, trained.saturating_sub(1)]);
	let most = match count {
		// Without any movement to go by, random ones say more than the ends.
		_ if picks.is_empty() => 0,
		1 => usize::from(rand::random::<bool>()),
		_ => count.saturating_sub(1),
	};
	let mut chosen = Vec::new();
	let mut taken = BTreeSet::new();
	let known = known.into_iter().filter(|segment| *segment < trained);
	for segment in known {
		if chosen.len() < most && taken.insert(segment) {
			chosen.push(segment);
		}
	}
	while chosen.len() < count {
		let segment = rand::random_range(0..trained);
		if taken.insert(segment) {
			chosen.push(segment);
		}
	}
	chosen
}

#[cfg(test)]
mod tests {
	use super::*;
	use std::collections::BTreeMap;

	/// How often each choice comes in 2,000.
	fn often(picks: &[u32], trained: u32, count: u32) -> BTreeMap<Vec<u32>, u32> {
		let mut found = BTreeMap::new();
		for _ in 0..2_000 {
			*found.entry(choose(picks, trained, count)).or_default() += 1;
		}
		found
	}

	#[test]
	fn what_moved_farthest_comes_first_and_the_last_is_random() {
		let all = often(&[7, 3], 9, 5);
		let begins: BTreeSet<&[u32]> = all.keys().map(|chosen| &chosen[..4]).collect();
		assert_eq!(begins, BTreeSet::from([&[7, 3, 0, 8][..], &[3, 7, 0, 8]]));
		let random: BTreeSet<u32> = all.keys().map(|chosen| chosen[4]).collect();
		assert_eq!(random, BTreeSet::from([1, 2, 4, 5, 6]));
		assert!(all.values().all(|count| (100..350).contains(count)), "{all:?}");
		// With two, either comes first as often.
		let all = often(&[7, 3], 9, 2);
		let sevens: u32 = all.iter().filter(|(chosen, _)| chosen[0] == 7).map(|(_, n)| n).sum();
		assert!((850..1_150).contains(&sevens), "{sevens}");
		assert!(all.keys().all(|chosen| [3, 7].contains(&chosen[0])));
		assert_eq!(all.len(), 2 * 8);
	}

	#[test]
	fn one_alone_is_random_in_a_half_of_all_looks() {
		let all = often(&[7], 100, 1);
		assert!((900..1_120).contains(&all[&vec![7]]), "{}", all[&vec![7]]);
		assert!(all.len() > 90);
	}

	#[test]
	fn without_movement_all_are_random() {
		let all = often(&[], 5, 2);
		assert_eq!(all.len(), 5 * 4);
		assert!(all.values().all(|count| (40..170).contains(count)), "{all:?}");
	}

	#[test]
	fn a_short_run_is_replayed_whole_and_none_twice() {
		for picks in [&[][..], &[1], &[1, 1], &[0, 2], &[9]] {
			let mut chosen = choose(picks, 3, 9);
			chosen.sort_unstable();
			assert_eq!(chosen, [0, 1, 2], "{picks:?}");
		}
		assert_eq!(choose(&[0], 1, 2), [0]);
		assert!(choose(&[], 0, 2).is_empty(), "training ended before its first step");
	}
}
