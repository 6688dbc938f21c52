//! How ranges are divided.

use super::types::FAN;
use alloc::vec::Vec;

/// Returns the least `r` with `FAN^r >= count`: how often a range of `count` is divided until ones
/// are left.
pub fn levels(count: u64) -> u32 {
	let (mut found, mut reached) = (0u32, 1u64);
	while reached < count {
		reached = reached.saturating_mul(FAN.into());
		found = found.saturating_add(1);
	}
	found
}

/// Returns the boundaries at which a range is divided: `from + part, from + 2 part, ..` below `to`,
/// with the least `part` that is a multiple of `unit` and makes at most [`FAN`] parts. None where the
/// range is a unit at most.
pub fn boundaries(from: u64, to: u64, unit: u64) -> Vec<u64> {
	let unit = unit.max(1);
	let units = to.saturating_sub(from).div_ceil(unit);
	let part = units.div_ceil(FAN.into()).saturating_mul(unit).max(1);
	let next = |at: &u64| at.checked_add(part).filter(|at| *at < to);
	core::iter::successors(next(&from), next).collect()
}

/// Returns the [`boundaries`] of a range of numbers of 32 bits.
pub fn boundaries32(from: u32, to: u32, unit: u32) -> Vec<u32> {
	let all = boundaries(from.into(), to.into(), unit.into());
	// They are below `to`.
	all.into_iter().filter_map(|at| u32::try_from(at).ok()).collect()
}

/// Returns the number of [`boundaries`].
pub fn parts_between(from: u64, to: u64, unit: u64) -> u32 {
	let unit = unit.max(1);
	let units = to.saturating_sub(from).div_ceil(unit);
	let part = units.div_ceil(FAN.into()).max(1);
	// At most FAN.
	u32::try_from(units.div_ceil(part)).unwrap_or(FAN).saturating_sub(1)
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn ranges_are_divided_into_64_at_most() {
		for unit in [1, 2, 64, 128] {
			for length in (0..300).chain([4_095, 4_096, 4_097, 262_144, 262_145]) {
				for from in [0, 7 * unit, 1 << 40] {
					let to = from + length;
					let found = boundaries(from, to, unit);
					assert_eq!(
						found.len() as u32,
						parts_between(from, to, unit),
						"{length} {unit}"
					);
					assert!(found.len() < FAN as usize);
					assert!(found.iter().all(|at| (at - from).is_multiple_of(unit)));
					let ends = [&[from], &found[..], &[to]].concat();
					assert!(length == 0 || ends.is_sorted_by(|a, b| a < b), "{ends:?}");
					let longest = ends.windows(2).map(|at| (at[1] - at[0]).div_ceil(unit)).max();
					let units = length.div_ceil(unit);
					assert!(levels(longest.unwrap()) <= levels(units).saturating_sub(1), "{units}");
				}
			}
		}
		assert_eq!(boundaries(10, 12, 1), [11]);
		assert_eq!(boundaries(0, 130, 1).last(), Some(&129));
		assert_eq!(boundaries(0, u64::MAX, 1).len(), 63);
		assert_eq!(boundaries32(5, u32::MAX, 1).len(), 63);
		assert!(boundaries(3, 3, 1).is_empty() && boundaries(4, 3, 1).is_empty());
	}

	#[test]
	fn levels_are_counted() {
		for (count, expected) in
			[(0, 0), (1, 0), (2, 1), (64, 1), (65, 2), (4_096, 2), (4_097, 3), (u64::MAX, 11)]
		{
			assert_eq!(levels(count), expected, "{count}");
		}
	}
}
