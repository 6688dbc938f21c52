use super::*;
use crate::{average, late_weight, norm, Aggregation, Contribution, Fault, OuterStep, RuleError};
use proptest::prelude::*;
use trainyard_strict::{dot, fma};

/// The aggregate of whole updates, block by block; none where there is none.
fn aggregate_of(
	layout: &Layout,
	rule: Aggregation,
	updates: &[Update],
	late: &[u32],
) -> Option<Vec<f32>> {
	let norms: Vec<f32> = updates.iter().map(norm::<Soft>).collect();
	let weights: Vec<f32> = late.iter().map(|late| late_weight(*late)).collect();
	let scales = rule.scales(&norms, &weights);
	let mut all = Vec::new();
	for at in 0..layout.blocks() {
		let terms = updates.iter().zip(&scales).zip(&weights);
		let peers: Vec<_> = terms
			.map(|((update, scale), weight)| Contribution {
				block: &update.blocks[at],
				scale: *scale,
				weight: *weight,
			})
			.collect();
		all.extend(rule.block::<Soft>(layout.length_of(at).unwrap(), &peers)?);
	}
	Some(all)
}

pub fn aggregate(layout: &Layout, rule: Aggregation, updates: &[Update], late: &[u32]) -> Vec<f32> {
	aggregate_of(layout, rule, updates, late).unwrap()
}

pub fn updates(layout: &Layout, peers: u32, seed: u32) -> Vec<Update> {
	(0..peers)
		.map(|peer| {
			read(
				layout,
				&compressed(layout, &values(layout.values() as usize, seed ^ (peer * 77))).0,
			)
		})
		.collect()
}

#[test]
fn rules_have_bounds() {
	for clip in [0.0, -1.0, f32::NAN, f32::INFINITY] {
		assert_eq!(Aggregation::new(Some(clip), 0), Err(RuleError::Clip));
	}
	for (rate, momentum) in [
		(-0.1, 0.0),
		(f32::NAN, 0.0),
		(f32::INFINITY, 0.0),
		(1.0, 1.0),
		(1.0, -0.1),
		(1.0, f32::NAN),
	] {
		assert_eq!(OuterStep::new(rate, momentum), Err(RuleError::Outer), "{rate} {momentum}");
	}
}

#[test]
fn a_norm_is_over_what_an_update_has() {
	let layout = laid_out(rule(512, 3), [9_000]);
	for update in updates(&layout, 3, 4) {
		let said: Vec<f32> = update
			.blocks
			.iter()
			.flat_map(|block| block.entries.iter().map(|it| block.value::<Soft>(it)))
			.collect();
		let squares = dot(said.iter().copied(), said.iter().copied());
		assert_eq!(norm::<Soft>(&update), squares.sqrt());
	}
}

/// Whoever sends a huge update moves the model no further than twice the median does.
#[test]
fn no_update_is_longer_than_the_bound() {
	let clip = |clip, norms: &[f32], weights: &[f32]| {
		Aggregation::new(Some(clip), 0).unwrap().scales(norms, weights)
	};
	let norms = [1.0, 3.0, 1e30, f32::INFINITY, 2.0, 0.0];
	// The lower median is 2.
	assert_eq!(clip(2.0, &norms, &[1.0; 6]), [1.0, 1.0, 4.0 / 1e30, 0.0, 1.0, 1.0]);
	assert!(clip(2.0, &[], &[]).is_empty());
	assert_eq!(clip(0.5, &[4.0], &[1.0]), [0.5]);
	// An infinite norm has no part in it, whatever the bound is.
	assert_eq!(clip(2.0, &[f32::INFINITY, f32::INFINITY, 1.0], &[1.0; 3]), [0.0, 0.0, 1.0]);
	// Who is too late to count does not move the median.
	assert_eq!(clip(1.0, &[4.0, 5.0, 0.0, 0.0, 0.0], &[1.0, 1.0, 0.0, 0.0, 0.0])[..2], [1.0, 0.8]);
	assert_eq!(Aggregation::new(None, 0).unwrap().scales(&[f32::INFINITY], &[1.0]), [1.0]);
}

#[test]
fn late_updates_count_by_halves() {
	assert_eq!([0, 3, 23].map(late_weight), [1.0, 0.125, 1.0 / 8_388_608.0]);
	assert_eq!([24, u32::MAX].map(late_weight), [0.0; 2]);
	let layout = laid_out(rule(64, 2), [500]);
	let all = updates(&layout, 2, 3);
	let plain = Aggregation::new(None, 0).unwrap();
	let found = aggregate(&layout, plain, &all, &[0, 1]);
	let dense: Vec<_> = all.iter().map(|update| update.dense::<Soft>(&layout)).collect();
	for at in 0..500 {
		assert_eq!(found[at], (dense[0][at] + 0.5 * dense[1][at]) / 1.5);
	}
}

/// What all say is what comes out, however late some are and whoever is left out.
#[test]
fn a_mean_of_equal_values_is_their_value() {
	let layout = laid_out(rule(4_096, 4), [5]);
	let one = read(&layout, &compressed(&layout, &[1.0; 5]).0);
	for late in [[0, 0, 1], [0, 1, 1], [0, 2, 5], [1, 1, 1]] {
		for trim in 0..2 {
			let rule = Aggregation::new(None, trim).unwrap();
			let found = aggregate(&layout, rule, &vec![one.clone(); 3], &late);
			assert!(found.iter().all(|x| (x - 1.0).abs() < 1e-6), "{late:?} {trim}: {found:?}");
		}
	}
}

#[test]
fn nothing_moves_where_nobody_came() {
	let plain = Aggregation::new(Some(2.0), 1).unwrap();
	assert_eq!(plain.block::<Soft>(3, &[]), None);
	let layout = laid_out(rule(64, 2), [50]);
	// Who is too late counts nothing: alone, and beside others.
	let all = updates(&layout, 3, 3);
	assert_eq!(aggregate_of(&layout, plain, &all[..1], &[24]), None);
	let without = aggregate(&layout, plain, &all[..2], &[0, 0]);
	assert_eq!(aggregate(&layout, plain, &all, &[0, 0, 24]), without);
}

#[test]
fn a_mean_is_that_of_federated_rounds() {
	let (own, remote) = (values(100, 1), values(100, 2));
	let mixed = average::<Soft>(&own, &remote).unwrap();
	for at in 0..100 {
		assert_eq!(mixed[at].to_bits(), fma(0.5, remote[at], 0.5 * own[at]).to_bits());
	}
	assert_eq!(average::<Soft>(&own, &remote[1..]), Err(Fault::Shape));
	assert_eq!(
		bits(&average::<Soft>(&own, &own).unwrap()),
		bits(&own),
		"with itself nothing changes"
	);
}

#[test]
fn outer_steps_are_those_of_nesterov() {
	let (gradient, start) = (values(50, 1), values(50, 2));
	let mut plain = start.clone();
	OuterStep::new(0.7, 0.0).unwrap().apply::<Soft>(&mut plain, &mut [], &gradient).unwrap();
	let step = OuterStep::new(0.7, 0.9).unwrap();
	let (mut x, mut v) = (start.clone(), vec![0.0; 50]);
	step.apply::<Soft>(&mut x, &mut v, &gradient).unwrap();
	step.apply::<Soft>(&mut x, &mut v, &gradient).unwrap();
	for at in 0..50 {
		assert_eq!(plain[at], fma(-0.7, gradient[at], start[at]));
		let g = f64::from(gradient[at]);
		// v is g and then 1.9 g; the steps are 1.9 g and 2.71 g.
		assert!((f64::from(v[at]) - 1.9 * g).abs() < 1e-8);
		assert!((f64::from(x[at]) - f64::from(start[at]) + 0.7 * 4.61 * g).abs() < 1e-8);
	}
	assert_eq!(step.apply::<Soft>(&mut x, &mut [], &gradient), Err(Fault::Shape));
	assert_eq!(step.apply::<Soft>(&mut x, &mut v, &gradient[1..]), Err(Fault::Shape));
	assert!(step.has_velocity());
	let mut huge = [f32::MAX];
	let far = OuterStep::new(2.0, 0.0).unwrap();
	assert_eq!(far.apply::<Soft>(&mut huge, &mut [], &[-f32::MAX]), Err(Fault::NotFinite));
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(64))]

	/// The definition once more, over dense arrays.
	#[test]
	fn aggregates_equal_their_second_definition(
		peers in 1u32..7, trim in 0u32..3, clip in prop::option::of(1u32..4), seed in any::<u32>(), length in 1u64..5_000,
	) {
		let layout = laid_out(rule(1_024, 3), [length]);
		let all = updates(&layout, peers, seed);
		let late: Vec<u32> = (0..peers).map(|peer| peer % 3).collect();
		let clip = clip.map(|clip| clip as f32 / 2.0);
		let rule = Aggregation::new(clip, trim).unwrap();
		let found = aggregate(&layout, rule, &all, &late);

		let norms: Vec<f32> = all.iter().map(norm::<Soft>).collect();
		let mut sorted = norms.clone();
		sorted.sort_by(f32::total_cmp);
		let median = sorted[(sorted.len() - 1) / 2];
		let scale = |peer: usize| {
			let bound = clip.map_or(f32::INFINITY, |clip| clip * median);
			if norms[peer] > bound { bound / norms[peer] } else { 1.0 }
		};
		let weights: Vec<f32> = late.iter().map(|late| [1.0, 0.5, 0.25][*late as usize]).collect();
		let total: f32 = weights.iter().sum();
		let mut expected = vec![0.0f32; length as usize];
		for (at, expected) in expected.iter_mut().enumerate() {
			let (block, place) = (at / 4_096, (at % 4_096) as u32);
			let mut here: Vec<(usize, f32)> = Vec::new();
			for (peer, update) in all.iter().enumerate() {
				let block = &update.blocks[block];
				if let Some(entry) = block.entries.iter().find(|entry| entry.place == place) {
					here.push((peer, block.value::<Soft>(entry) * scale(peer)));
				}
			}
			let (count, trim) = (here.len(), trim as usize);
			let mut sum = 0.0;
			if count > 2 * trim {
				let there: f32 = here.iter().map(|(peer, _)| weights[*peer]).sum();
				here.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
				let mut kept = here[trim..count - trim].to_vec();
				kept.sort_by_key(|(peer, _)| *peer);
				for (peer, value) in &kept {
					sum += value * weights[*peer];
				}
				if trim > 0 {
					sum *= there / kept.iter().map(|(peer, _)| weights[*peer]).sum::<f32>();
				}
			}
			*expected = sum / total;
		}
		prop_assert_eq!(bits(&found), bits(&expected));
	}

	/// As many liars as are trimmed on each side cannot move a place out of what honest peers have there.
	#[test]
	fn liars_that_are_trimmed_move_no_place_away(
		seed in any::<u32>(), lie in -1e6f32..1e6, late in prop::collection::vec(0u32..4, 7),
	) {
		let layout = laid_out(rule(4_096, 8), [64]);
		let honest = updates(&layout, 5, seed);
		let liar = read(&layout, &compressed(&layout, &[lie; 64]).0);
		let rule = Aggregation::new(None, 2).unwrap();
		let mut all = honest.clone();
		all.insert(1, liar.clone());
		all.push(liar);
		let found = aggregate(&layout, rule, &all, &late);
		let dense: Vec<_> = honest.iter().map(|update| update.dense::<Soft>(&layout)).collect();
		for at in 0..64 {
			let here: Vec<f32> = dense.iter().map(|values| values[at]).collect();
			let low = here.iter().copied().fold(f32::INFINITY, f32::min);
			let high = here.iter().copied().fold(f32::NEG_INFINITY, f32::max);
			prop_assert!(low - 1e-7 <= found[at] && found[at] <= high + 1e-7, "{} of {:?}", found[at], here);
		}
	}
}
