use super::{
	aggregates::{aggregate, updates},
	*,
};
use crate::{Aggregation, Counted, Fault, OuterStep};
use proptest::prelude::*;

fn counted<'a>(updates: &'a [Update], late: &[u32]) -> Vec<Counted<&'a Update>> {
	updates.iter().zip(late).map(|(update, late)| Counted { update, late: *late }).collect()
}

/// A step of rate 0.7 by updates that are clipped at twice the median.
fn ruled(momentum: f32, trim: u32) -> (OuterStep, Aggregation) {
	(OuterStep::new(0.7, momentum).unwrap(), Aggregation::new(Some(2.0), trim).unwrap())
}

#[test]
fn who_is_too_late_moves_nothing_and_nobody_does() {
	let layout = laid_out(rule(64, 2), [5_000]);
	let start = values(5_000, 4);
	let all = updates(&layout, 2, 3);
	let (step, clipped) = ruled(0.0, 0);
	for late in [&[][..], &[24], &[24, 99]] {
		let mut model = start.clone();
		let moved =
			step.take::<Soft, _>(&layout, clipped, &counted(&all, late), &mut model, &mut []);
		assert_eq!((moved, bits(&model)), (Ok(false), bits(&start)));
	}
	// Beside others it is as if it were not there.
	let [mut with, mut without] = [start.clone(), start.clone()];
	let take = |late: &[u32], model: &mut [f32]| {
		step.take::<Soft, _>(&layout, clipped, &counted(&all, late), model, &mut []).unwrap()
	};
	assert!(take(&[0, 24], &mut with) && take(&[0], &mut without));
	assert_eq!(bits(&with), bits(&without));
	assert_ne!(bits(&with), bits(&start));
}

#[test]
fn other_lengths_are_refused_and_change_nothing() {
	let layout = laid_out(rule(64, 2), [5_000, 10]);
	let other = laid_out(rule(64, 2), [5_000]);
	let (start, all) = (values(5_010, 4), updates(&layout, 2, 3));
	let foreign = updates(&other, 2, 3);
	for momentum in [0.0, 0.9] {
		let (step, clipped) = ruled(momentum, 0);
		let right = if momentum > 0.0 { 5_010 } else { 0 };
		let refused = |updates: &[Update], length: usize, of_velocity: usize| {
			let mut model = start[..length].to_vec();
			let mut velocity = vec![0.0; of_velocity];
			let updates = counted(updates, &[0, 0]);
			let taken = step.take::<Soft, _>(&layout, clipped, &updates, &mut model, &mut velocity);
			assert_eq!((taken, &model[..]), (Err(Fault::Shape), &start[..length]));
		};
		refused(&all, 5_009, right);
		refused(&all, 5_010, 5_010 - right);
		refused(&foreign, 5_010, right);
		refused(&[all[0].clone(), foreign[0].clone()], 5_010, right);
	}
}

#[test]
fn a_number_that_is_not_finite_fails() {
	let layout = laid_out(rule(4_096, 2), [2]);
	let huge = read(&layout, &compressed(&layout, &[f32::MAX, -f32::MAX]).0);
	let step = OuterStep::new(2.0, 0.0).unwrap();
	let plain = Aggregation::new(None, 0).unwrap();
	let taken =
		step.take::<Soft, _>(&layout, plain, &counted(&[huge], &[0]), &mut [0.0; 2], &mut []);
	assert_eq!(taken, Err(Fault::NotFinite));
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(32))]

	/// The same by its parts: the aggregate of all blocks, and then one step by it.
	#[test]
	fn a_step_is_that_by_the_whole_aggregate(
		peers in 1u32..6, trim in 0u32..2, momentum in 0u32..2, seed in any::<u32>(),
		lengths in prop::collection::vec(0u64..6_000, 1..4),
	) {
		let layout = laid_out(rule(256, 3), lengths.iter().copied());
		let count = layout.values() as usize;
		let (step, rule) = ruled(momentum as f32 * 0.9, trim);
		let all = updates(&layout, peers, seed);
		let late: Vec<u32> = (0..peers).map(|peer| peer * 7 % 30).collect();
		let (mut model, mut expected) = (values(count, seed ^ 1), values(count, seed ^ 1));
		let of_velocity = if momentum > 0 { count } else { 0 };
		let mut velocity = values(of_velocity, seed ^ 2);
		let mut expected_velocity = velocity.clone();
		let moved = step
			.take::<Soft, _>(&layout, rule, &counted(&all, &late), &mut model, &mut velocity)
			.unwrap();
		prop_assert!(moved);
		let aggregate = aggregate(&layout, rule, &all, &late);
		step.apply::<Soft>(&mut expected, &mut expected_velocity, &aggregate).unwrap();
		prop_assert_eq!(bits(&model), bits(&expected));
		prop_assert_eq!(bits(&velocity), bits(&expected_velocity));
	}
}
