//! From power to weights.

use crate::session::{weigh, MAX_TOTAL_WEIGHT};
use proptest::prelude::*;

fn weights(powers: &[u64]) -> Vec<u64> {
	let mut list: Vec<(usize, u64)> = powers.iter().copied().enumerate().collect();
	weigh(&mut list);
	assert!(list.iter().enumerate().all(|(i, (a, _))| i == *a), "order is kept");
	list.into_iter().map(|(_, weight)| weight).collect()
}

#[test]
fn small_powers_are_weights() {
	assert_eq!(weights(&[]), Vec::<u64>::new());
	assert_eq!(weights(&[0, 1, 6_000]), vec![1, 1, 6_000]);
	assert_eq!(weights(&[MAX_TOTAL_WEIGHT]), vec![MAX_TOTAL_WEIGHT]);
	assert_eq!(weights(&[MAX_TOTAL_WEIGHT - 1, 0]), vec![MAX_TOTAL_WEIGHT - 1, 1]);
}

#[test]
fn too_large_a_sum_is_shifted() {
	assert_eq!(
		weights(&[MAX_TOTAL_WEIGHT, 0, 1]),
		vec![MAX_TOTAL_WEIGHT / 2, 1, 1],
		"the clamped count towards the sum"
	);
	assert_eq!(weights(&[u64::MAX]), vec![u64::MAX >> 2]);
	// Shifted by 3 they would still be 3 too many.
	assert_eq!(weights(&[u64::MAX, u64::MAX, 40]), vec![u64::MAX >> 4, u64::MAX >> 4, 2]);
}

proptest! {
	#[test]
	fn weights_fit_and_are_shifted_as_little_as_needed(
		powers in proptest::collection::vec(
			prop_oneof![any::<u64>(), 0..100u64, (0..64u32).prop_map(|b| 1u64 << b)], 1..100),
	) {
		let weights = weights(&powers);
		let sum = |list: &[u64]| list.iter().map(|w| u128::from(*w)).sum::<u128>();
		prop_assert!(sum(&weights) <= u128::from(MAX_TOTAL_WEIGHT));
		let by = (0..64u32)
			.find(|by| powers.iter().zip(&weights).all(|(p, w)| (p >> by).max(1) == *w));
		prop_assert!(by.is_some(), "one shift for all");
		if let Some(less) = by.and_then(|by| by.checked_sub(1)) {
			let larger: Vec<u64> = powers.iter().map(|p| (p >> less).max(1)).collect();
			prop_assert!(larger == weights || sum(&larger) > u128::from(MAX_TOTAL_WEIGHT));
		}
	}
}
