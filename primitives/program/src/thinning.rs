//! Which states of a run its trainer keeps. The others follow from them, to the bit, so it computes those again that
//! somebody asks for.
//!
//! Of a run whose checkpoints have the numbers 0 to `last`, one in `every` is kept, from the first on, and the last.
//! Between two kept ones is a *stretch*. Every count below is of a run with so many segments, and `every` counts as 1,
//! by which all are kept, where it is 0.

/// Returns whether the state of checkpoint `index` is kept.
pub fn keeps(every: u32, index: u32, last: u32) -> bool {
	index.is_multiple_of(every.max(1)) || index >= last
}

/// Returns how many stretches a run has.
pub fn stretches(every: u32, segments: u32) -> u32 {
	segments.div_ceil(every.max(1))
}

/// Returns how many states are kept.
pub fn kept(every: u32, segments: u32) -> u32 {
	stretches(every, segments).saturating_add(1)
}

/// Returns the checkpoint of the kept state number `at`; `None` where there are fewer.
pub fn kept_index(every: u32, at: u32, last: u32) -> Option<u32> {
	(at < kept(every, last)).then(|| at.saturating_mul(every.max(1)).min(last))
}

/// Returns the number of the stretch in which the state of checkpoint `index` lies; `None` for one that is kept.
pub fn stretch_of(every: u32, index: u32, last: u32) -> Option<u32> {
	let stretch = index.checked_div(every.max(1))?;
	(!keeps(every, index, last)).then_some(stretch)
}

/// Returns how many segments are trained again, at most, so that all states of a stretch are there.
pub fn segments_of_stretch(every: u32, segments: u32) -> u32 {
	every.min(segments).saturating_sub(1)
}

/// Returns how many segments are trained again so that the states of so many stretches are there, at most.
pub fn segments_of_stretches(every: u32, segments: u32, count: u32) -> u32 {
	let all = segments.saturating_sub(stretches(every, segments));
	segments_of_stretch(every, segments).saturating_mul(count).min(all)
}

#[cfg(test)]
mod tests {
	use super::*;

	fn all(every: u32, last: u32) -> Vec<u32> {
		(0..=last).filter(|index| keeps(every, *index, last)).collect()
	}

	#[test]
	fn the_first_and_the_last_are_kept() {
		assert_eq!(all(1, 3), [0, 1, 2, 3]);
		assert_eq!(all(0, 3), [0, 1, 2, 3]);
		assert_eq!(all(4, 10), [0, 4, 8, 10]);
		assert_eq!(all(5, 10), [0, 5, 10]);
		assert_eq!(all(99, 10), [0, 10]);
		assert_eq!(all(4, 0), [0]);
	}

	/// What is counted is what is listed.
	#[test]
	fn counts_are_those_of_the_list() {
		for every in 0..12 {
			for last in 0..30 {
				let listed = all(every, last);
				assert_eq!(kept(every, last) as usize, listed.len(), "{every} of {last}");
				let numbered: Vec<u32> = (0..listed.len() as u32 + 3)
					.filter_map(|at| kept_index(every, at, last))
					.collect();
				assert_eq!(numbered, listed, "{every} of {last}");
				let mut longest = 0;
				for (at, ends) in listed.windows(2).enumerate() {
					for index in ends[0] + 1..ends[1] {
						assert_eq!(stretch_of(every, index, last), Some(at as u32));
					}
					longest = longest.max(ends[1] - ends[0] - 1);
				}
				assert_eq!(segments_of_stretch(every, last), longest, "{every} of {last}");
				let dropped = last + 1 - listed.len() as u32;
				assert_eq!(
					segments_of_stretches(every, last, u32::MAX),
					dropped,
					"{every} of {last}"
				);
				assert_eq!(segments_of_stretches(every, last, 1), longest);
				assert!(listed.iter().all(|index| stretch_of(every, *index, last).is_none()));
			}
		}
		assert_eq!(kept(1, u32::MAX), u32::MAX);
		assert_eq!(kept_index(u32::MAX, 1, 7), Some(7));
	}
}
