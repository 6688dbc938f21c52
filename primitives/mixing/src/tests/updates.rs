use super::*;
use crate::{move_of, Block, Fault, BLOCK, MAX_VALUES};
use proptest::prelude::*;
use trainyard_strict::fma;

#[test]
fn blocks_have_values_of_one_tensor() {
	let layout = laid_out(rule(64, 2), [5_000, 0, 10]);
	assert_eq!(layout.blocks(), 3);
	assert_eq!(
		(layout.length_of(0), layout.length_of(1), layout.length_of(2)),
		(Some(BLOCK), Some(904), Some(10))
	);
	assert_eq!(layout.length_of(3), None);
	assert_eq!(layout.values(), 5_010);
	let all: Vec<u32> = (0..5_010).collect();
	assert_eq!(layout.values_of(1, &all).unwrap()[0], 4_096);
	assert_eq!(layout.values_of(2, &all).unwrap(), &all[5_000..]);
	let bytes = vec![0; layout.bytes() as usize];
	let sizes: Vec<_> = (0..3).map(|block| layout.bytes_of(block, &bytes).unwrap().len()).collect();
	assert_eq!(sizes.iter().sum::<usize>() as u64, layout.bytes());
	assert_eq!(sizes[0], 88);
}

#[test]
fn lengths_that_differ_are_refused() {
	let layout = laid_out(rule(64, 2), [100]);
	let mut short = Residual::none(99);
	assert_eq!(compress::<Soft>(&layout, &mut short), Err(Fault::Shape));
	assert_eq!(move_of::<Soft>(&mut short, 1.0, &[0.0; 99], &[0.0; 98]), Err(Fault::Shape));
	assert_eq!(move_of::<Soft>(&mut short, 1.0, &[0.0; 98], &[0.0; 98]), Err(Fault::Shape));
	let (bytes, _) = compressed(&layout, &values(100, 1));
	assert!(matches!(Update::read::<Soft>(&layout, &bytes[1..]), Err(Fault::Length { .. })));
	let mut kept = Residual::none(2);
	for keep in [-0.1, 1.1, f32::NAN] {
		assert_eq!(move_of::<Soft>(&mut kept, keep, &[0.0; 2], &[0.0; 2]), Err(Fault::Keep));
	}
	for tensors in [vec![MAX_VALUES + 1], vec![MAX_VALUES, 1], vec![u64::MAX, 1]] {
		assert_eq!(Layout::new(rule(64, 2), tensors), Err(Fault::Shape));
	}
	let mut one = Residual::none(1);
	assert_eq!(move_of::<Soft>(&mut one, 1.0, &[f32::MAX], &[-f32::MAX]), Err(Fault::NotFinite));
}

/// What a block says can be checked without the rest.
#[test]
fn a_block_alone_is_what_the_whole_has_there() {
	let layout = laid_out(rule(32, 3), [9_000, 77, 1]);
	let all = values(9_078, 5);
	let (bytes, _) = compressed(&layout, &all);
	let update = read(&layout, &bytes);
	for at in 0..layout.blocks() {
		let (length, part) = (layout.length_of(at).unwrap(), layout.bytes_of(at, &bytes).unwrap());
		assert_eq!(Block::read::<Soft>(layout.rule(), length, part).unwrap(), update.blocks[at]);
		assert_eq!(
			Block::of::<Soft>(layout.rule(), layout.values_of(at, &all).unwrap()).unwrap(),
			update.blocks[at]
		);
	}
}

/// What was not said is said later: with no movement any more, updates say all of it in the end.
#[test]
fn what_is_left_drains() {
	let layout = laid_out(rule(256, 3), [4_096, 300]);
	let all = values(4_396, 9);
	let length = |values: &[f32]| values.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
	let mut residual = Residual(all.clone());
	let mut said = vec![0.0f64; all.len()];
	let still = vec![1.0; all.len()];
	for _ in 0..200 {
		move_of::<Soft>(&mut residual, 1.0, &still, &still).unwrap();
		let bytes = compress::<Soft>(&layout, &mut residual).unwrap();
		for (said, value) in said.iter_mut().zip(read(&layout, &bytes).dense::<Soft>(&layout)) {
			*said += f64::from(value);
		}
	}
	assert!(
		length(&residual.0) < 1e-3 * length(&all),
		"{} of {}",
		length(&residual.0),
		length(&all)
	);
	for (said, all) in said.iter().zip(&all) {
		assert!((said - f64::from(*all)).abs() < 1e-4, "{said} of {all}");
	}
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(64))]

	#[test]
	fn what_is_left_is_what_the_update_does_not_say(
		lengths in prop::collection::vec(0u64..6_000, 1..4), picks in 1u32..=512, bits in 2u32..=5, seed in any::<u32>(),
	) {
		let layout = laid_out(rule(picks, bits), lengths.iter().copied());
		let (from, to) = (values(layout.values() as usize, seed), values(layout.values() as usize, seed ^ 0xFFFF));
		let mut residual = Residual(values(layout.values() as usize, seed ^ 0x1234));
		let before = residual.clone();
		move_of::<Soft>(&mut residual, 0.95, &from, &to).unwrap();
		let moved = residual.clone();
		for at in 0..from.len() {
			prop_assert_eq!(moved.0[at].to_bits(), fma(0.95, before.0[at], from[at] - to[at]).to_bits());
		}
		let bytes = compress::<Soft>(&layout, &mut residual).unwrap();
		prop_assert_eq!(bytes.len() as u64, layout.bytes());
		let said = read(&layout, &bytes).dense::<Soft>(&layout);
		for at in 0..from.len() {
			let left = if said[at] == 0.0 { moved.0[at] } else { moved.0[at] - said[at] };
			prop_assert_eq!(residual.0[at], left);
		}
	}
}
