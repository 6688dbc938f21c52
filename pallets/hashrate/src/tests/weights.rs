//! From power to shares of the weight.

use crate::shares::{Claim, Floors, Totals};
use proptest::prelude::*;
use trainyard_protocol::views::WHOLE_WEIGHT;

/// Floors of 1,000 and 500.
const FLOORS: Floors = Floors { drilling: 1_000, training: 500 };

fn claim(drilling: u64, training: u64, founder: u64) -> Claim {
	Claim { drilling, training, founder }
}

/// The shares of `all`, in parts of a million.
fn shares(all: &[Claim]) -> Vec<u64> {
	let totals = Totals::of(FLOORS, all.iter());
	all.iter().map(|claim| totals.share(claim) / (WHOLE_WEIGHT / 1_000_000)).collect()
}

#[test]
fn without_work_founders_have_everything() {
	assert_eq!(shares(&[claim(0, 0, 1), claim(0, 0, 3)]), [250_000, 750_000]);
	assert_eq!(shares(&[claim(0, 0, 0)]), [0]);
	assert_eq!(shares(&[]), Vec::<u64>::new());
}

#[test]
fn below_the_floors_work_counts_by_them() {
	// A tenth of one floor, and of the other: alone in the market all the same.
	assert_eq!(shares(&[claim(100, 0, 0), claim(0, 0, 1)]), [40_000, 960_000]);
	assert_eq!(shares(&[claim(0, 50, 0), claim(0, 0, 1)]), [60_000, 940_000]);
	// A founder may work too.
	assert_eq!(shares(&[claim(100, 50, 2), claim(0, 0, 2)]), [550_000, 450_000]);
}

#[test]
fn from_the_floors_on_each_kind_is_a_share_of_its_own() {
	let all = [claim(3_000, 0, 0), claim(1_000, 250, 0), claim(0, 250, 0), claim(0, 0, 1)];
	assert_eq!(shares(&all), [300_000, 400_000, 300_000, 0]);
	// A thousand times as much drilling moves nothing but the shares of drilling.
	let all = [claim(3_000_000, 0, 0), claim(1_000, 250, 0), claim(0, 250, 0), claim(0, 0, 1)];
	assert_eq!(shares(&all), [399_866, 300_133, 300_000, 0]);
}

/// When work ceases the weight goes back to the founders.
#[test]
fn what_is_not_worked_for_returns() {
	let half = [claim(500, 250, 0), claim(0, 0, 1)];
	assert_eq!(shares(&half), [500_000, 500_000]);
	let tenth = [claim(50, 25, 0), claim(0, 0, 1)];
	assert_eq!(shares(&tenth), [50_000, 950_000]);
}

/// Without a floor any work is a whole market, and none is none.
#[test]
fn floors_of_nothing_divide_by_nothing() {
	let of = |all: &[Claim]| {
		let totals = Totals::of(Floors::default(), all.iter());
		all.iter().map(|claim| totals.share(claim)).collect::<Vec<_>>()
	};
	assert_eq!(of(&[claim(0, 0, 1), claim(1, 0, 0)]), [WHOLE_WEIGHT / 5 * 3, WHOLE_WEIGHT / 5 * 2]);
	assert_eq!(of(&[claim(0, 0, 1), claim(0, 0, 0)]), [WHOLE_WEIGHT, 0]);
}

fn claims() -> impl Strategy<Value = Vec<Claim>> {
	let power = || prop_oneof![any::<u64>(), 0..2_000u64, Just(0)];
	let one = (power(), power(), power()).prop_map(|(d, t, f)| claim(d, t, f));
	proptest::collection::vec(one, 1..100)
}

proptest! {
	/// All shares are the whole, less than a part for each; without a founder they are less.
	#[test]
	fn shares_make_the_whole(
		all in claims(),
		floors in (any::<u64>(), any::<u64>()),
	) {
		let floors = Floors { drilling: floors.0, training: floors.1 };
		let totals = Totals::of(floors, all.iter());
		let sum: u64 = all.iter().map(|claim| totals.share(claim)).sum();
		prop_assert!(sum <= WHOLE_WEIGHT);
		if all.iter().any(|claim| claim.founder > 0) {
			prop_assert!(sum + 4 * all.len() as u64 + 4 >= WHOLE_WEIGHT, "{sum}");
		}
	}

	/// Splitting one's power in any way changes neither one's share nor that of others.
	#[test]
	fn splitting_is_neutral(
		mut all in claims(),
		parts in (0.0..1.0, 0.0..1.0, 0.0..1.0),
	) {
		let totals = Totals::of(FLOORS, all.iter());
		let (whole, other) = (all[0], *all.last().unwrap());
		let part = |power: u64, part: f64| ((power as f64 * part) as u64).min(power);
		let first = claim(
			part(whole.drilling, parts.0),
			part(whole.training, parts.1),
			part(whole.founder, parts.2),
		);
		let second = claim(
			whole.drilling - first.drilling,
			whole.training - first.training,
			whole.founder - first.founder,
		);
		all.splice(0..1, [first, second]);
		let split = Totals::of(FLOORS, all.iter());
		prop_assert_eq!(split, totals);
		let both = split.share(&first) + split.share(&second);
		prop_assert!(both.abs_diff(totals.share(&whole)) <= 3);
		prop_assert_eq!(split.share(&other), totals.share(&other));
	}

	/// More work of one's own never lowers one's share, and never raises that of another who works
	/// as it did.
	#[test]
	fn more_work_is_more_weight(
		mut all in claims(),
		more in any::<u64>(),
	) {
		let before = Totals::of(FLOORS, all.iter());
		let then = all[0];
		all[0].drilling = then.drilling.saturating_add(more);
		let after = Totals::of(FLOORS, all.iter());
		prop_assert!(after.share(&all[0]) + 2 >= before.share(&then) || then.founder > 0);
		for other in &all[1..] {
			prop_assert!(after.share(other) <= before.share(other) + 2);
		}
	}
}

/// A part `p` of the training among which it is shared out brings six tenths of `p` of all blocks.
#[test]
fn training_is_shared_out_among_the_training_of_all() {
	let volume = |all: &[Claim]| {
		let totals = Totals::of(FLOORS, all.iter());
		let weight: u64 = all.iter().map(|claim| totals.share(claim)).sum();
		// What the training of the first brings, in a part of all blocks.
		if let Some(first) = all.first().filter(|first| first.training > 0) {
			let alone = claim(0, first.training, 0);
			let part = totals.share(&alone) as f64 / weight as f64;
			let expected = 0.6 * first.training as f64 / totals.training_volume(weight) as f64;
			assert!((part / expected - 1.0).abs() < 0.01, "{part}, {expected}: {all:?}");
		}
		totals.training_volume(weight)
	};
	// Below the floor it is the floor, where founders have the rest.
	assert_eq!(volume(&[claim(0, 0, 1)]), 500);
	assert_eq!(volume(&[claim(0, 50, 0), claim(0, 0, 1)]), 500);
	assert_eq!(volume(&[claim(0, 5_000, 0), claim(0, 0, 1)]), 5_000);
	// Where nobody has what drilling lacks, there are as many blocks for fewer.
	assert_eq!(volume(&[claim(0, 5_000, 0)]), 3_000);
	assert_eq!(volume(&[claim(500, 5_000, 0)]), 4_000);
	assert_eq!(volume(&[claim(1_000, 5_000, 0)]), 5_000);
	// Nobody, or nobody with anything: as if there were six tenths of the floor.
	assert_eq!((volume(&[]), volume(&[claim(0, 0, 0)])), (300, 300));
	let none = Floors::default();
	assert_eq!(Totals::of(none, [].iter()).training_volume(WHOLE_WEIGHT), 0);
	let most = Totals::of(FLOORS, [claim(0, u64::MAX, 0), claim(0, u64::MAX, 0)].iter());
	assert_eq!(most.training_volume(u64::MAX), u64::MAX);
}
