//! Looking at hundreds of millions of elements: a stretch at a time, so that the compiler compares
//! whole vectors.

/// Elements that are looked at before it is asked whether one of them was wrong.
const STRETCH: usize = 1 << 10;
/// Sums that are added to in turn. One binary64 sum is as slow as the latency of an addition.
const LANES: usize = 8;

/// Returns the first pair of elements of `a` and `b` at the same index that `is_wrong`, with that index.
/// Elements that the other has not are left out.
///
/// `is_wrong` should have no branches; it is asked about elements after the first wrong one, too.
pub(super) fn first_wrong(
	a: &[f32],
	b: &[f32],
	is_wrong: impl Fn(f32, f32) -> bool,
) -> Option<(u64, f32, f32)> {
	let stretches = (0u64..).step_by(STRETCH).zip(a.chunks(STRETCH).zip(b.chunks(STRETCH)));
	for (at, (a, b)) in stretches {
		if a.iter().zip(b).fold(false, |any, (x, y)| any | is_wrong(*x, *y)) {
			let mut pairs = (at..).zip(a.iter().zip(b)).map(|(at, (x, y))| (at, *x, *y));
			return pairs.find(|(_, x, y)| is_wrong(*x, *y));
		}
	}
	None
}

/// Returns the sum of `term` over the pairs of elements of `a` and `b`, which have the same length: what
/// belongs to index `i` is added to sum `i` modulo 8, and these are added up in order. So the bits are
/// the same on all machines.
pub(super) fn sum(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f64) -> f64 {
	let mut sums = [0.0f64; LANES];
	for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
		for (sum, (x, y)) in sums.iter_mut().zip(a.iter().zip(b)) {
			*sum += term(*x, *y);
		}
	}
	sums.iter().sum()
}

#[cfg(test)]
mod tests {
	use super::*;

	/// Numbers of which none is within a rounding of another.
	fn numbers(count: usize) -> Vec<f32> {
		(0..count).map(|i| i as f32 + 0.5).collect()
	}

	#[test]
	fn the_first_wrong_one_is_found_wherever_it_is() {
		for count in [1, 7, STRETCH - 1, STRETCH, STRETCH + 1, 3 * STRETCH + 5] {
			let all = numbers(count);
			assert_eq!(first_wrong(&all, &all, |x, y| x != y), None);
			for at in [0, count / 2, count - 1] {
				let wrong = all[at];
				let found = first_wrong(&all, &all, |x, _| x >= wrong);
				assert_eq!(found, Some((at as u64, wrong, wrong)), "{count} {at}");
			}
		}
	}

	#[test]
	fn sums_hold_every_element_once() {
		for count in [0, 1, LANES - 1, LANES, 5 * LANES + 3, 4 * STRETCH + 1] {
			let all = numbers(count);
			let count = count as f64;
			assert_eq!(sum(&all, &all, |x, _| f64::from(x)), count * count / 2.0);
		}
	}
}
