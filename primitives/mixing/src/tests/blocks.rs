use super::*;
use crate::{Block, Entry, Fault, RuleError, BLOCK};
use proptest::prelude::*;
use trainyard_strict::fma;

/// Places of the largest magnitudes, by sorting everything.
fn places(values: &[f32], count: usize) -> Vec<u32> {
	let mut order: Vec<usize> = (0..values.len()).collect();
	// Stable, so of equal ones those before come first.
	order.sort_by(|a, b| values[*b].abs().total_cmp(&values[*a].abs()));
	order.truncate(count);
	order.sort_unstable();
	order.into_iter().map(|place| place as u32).collect()
}

#[test]
fn rules_have_bounds() {
	assert_eq!(Compression::new(0, 2), Err(RuleError::Picks(0)));
	assert_eq!(Compression::new(BLOCK + 1, 2), Err(RuleError::Picks(BLOCK + 1)));
	assert_eq!(Compression::new(64, 1), Err(RuleError::Bits(1)));
	assert_eq!(Compression::new(64, 9), Err(RuleError::Bits(9)));
	assert!(Compression::new(BLOCK, 8).is_ok());
	for error in [RuleError::Picks(0), RuleError::Bits(9), RuleError::Clip, RuleError::Outer] {
		assert!(error.to_string().contains(' '), "{error}");
	}
}

/// The sizes that docs/mixing.md has.
#[test]
fn a_block_has_its_bytes() {
	for (picks, bits, bytes) in
		[(16, 2, 32), (32, 2, 52), (64, 2, 88), (128, 2, 152), (64, 4, 104), (4_096, 8, 5_128)]
	{
		assert_eq!(rule(picks, bits).block_bytes(BLOCK), bytes, "{picks} of {bits} bits");
	}
	assert_eq!(rule(64, 2).block_bytes(0), 0);
	assert_eq!(rule(64, 2).picked(1), 1);
	assert_eq!(rule(64, 2).picked(65), 2);
}

#[test]
fn what_is_not_finite_has_no_block() {
	for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
		assert_eq!(Block::of::<Soft>(rule(64, 2), &[1.0, bad, 0.5]), Err(Fault::NotFinite));
	}
	// The largest numbers have one.
	let block = Block::of::<Soft>(rule(4_096, 2), &[f32::MAX, -f32::MAX, 0.0]).unwrap();
	assert!(block.entries.iter().all(|entry| block.value::<Soft>(entry).is_finite()));
}

#[test]
fn bytes_of_another_length_are_refused() {
	let rule = rule(64, 2);
	let bytes = [0; 88];
	for length in [0, 87] {
		let fault = Fault::Length { found: length as u64, expected: 88 };
		assert_eq!(Block::read::<Soft>(rule, BLOCK, &bytes[..length]), Err(fault));
	}
	// All places 0, of which there are too few.
	assert_eq!(Block::read::<Soft>(rule, BLOCK, &bytes), Err(Fault::Places));
	assert!(Fault::Length { found: 0, expected: 88 }.to_string().contains("88"));
}

#[test]
fn a_block_has_a_value_to_4096() {
	let rule = rule(64, 2);
	assert_eq!(Block::of::<Soft>(rule, &[]), Err(Fault::Shape));
	assert_eq!(Block::of::<Soft>(rule, &[0.0; 4_097]), Err(Fault::Shape));
	for length in [0, 4_097, u32::MAX] {
		assert_eq!(Block::read::<Soft>(rule, length, &[]), Err(Fault::Shape));
	}
}

/// One block has one set of levels: else two updates would say the same.
#[test]
fn levels_are_those_of_the_scales() {
	let rule = rule(4_096, 2);
	let entry = |place, level| Entry { place, negative: false, level };
	let read = |block: &Block| {
		let mut bytes = Vec::new();
		block.write(rule, 2, &mut bytes);
		Block::read::<Soft>(rule, 2, &bytes)
	};
	let block = |step, levels: [u32; 2]| Block {
		least: 1.0,
		step,
		entries: vec![entry(0, levels[0]), entry(1, levels[1])],
	};
	assert!(read(&block(0.5, [0, 1])).is_ok());
	assert!(read(&block(0.0, [0, 0])).is_ok());
	assert_eq!(read(&block(0.0, [0, 1])), Err(Fault::Levels), "without a step all are equal");
	assert_eq!(read(&block(0.5, [1, 1])), Err(Fault::Levels), "the least has level 0");
}

#[test]
fn scales_are_positive_and_their_values_finite() {
	let rule = rule(4_096, 2);
	let values = [1.0, -2.0, 3.0];
	let mut bytes = Vec::new();
	Block::of::<Soft>(rule, &values).unwrap().write(rule, 3, &mut bytes);
	assert!(Block::read::<Soft>(rule, 3, &bytes).is_ok());
	for bad in [-1.0f32, -0.0, f32::NAN, f32::INFINITY] {
		for at in [0, 4] {
			let mut bytes = bytes.clone();
			bytes[at..at + 4].copy_from_slice(&bad.to_le_bytes());
			assert_eq!(Block::read::<Soft>(rule, 3, &bytes), Err(Fault::Scale), "{bad} at {at}");
		}
	}
	bytes[4..8].copy_from_slice(&f32::MAX.to_le_bytes());
	assert_eq!(
		Block::read::<Soft>(rule, 3, &bytes),
		Err(Fault::Scale),
		"1.5 times the largest is infinite"
	);
}

proptest! {
	#![proptest_config(ProptestConfig::with_cases(256))]

	#[test]
	fn the_largest_are_picked_and_rounded_to_their_level(
		length in 1usize..=4_096, picks in 1u32..=4_096, bits in 2u32..=8, seed in any::<u32>(),
	) {
		let rule = rule(picks, bits);
		let values = values(length, seed);
		let block = Block::of::<Soft>(rule, &values).unwrap();
		let expected = places(&values, rule.picked(length as u32) as usize);
		prop_assert_eq!(block.entries.iter().map(|entry| entry.place).collect::<Vec<_>>(), expected.clone());
		let sizes: Vec<f32> = expected.iter().map(|at| values[*at as usize].abs()).collect();
		let least = sizes.iter().copied().fold(f32::INFINITY, f32::min);
		let most = sizes.iter().copied().fold(0.0, f32::max);
		prop_assert_eq!(block.least, least);
		prop_assert_eq!(block.step, (most - least) / (1u32 << (bits - 1)) as f32);
		for entry in &block.entries {
			let value = values[entry.place as usize];
			let level = if block.step > 0.0 { ((value.abs() - least) / block.step).floor() } else { 0.0 };
			let level = level.min((1u32 << (bits - 1)) as f32 - 1.0);
			prop_assert_eq!(entry.level as f32, level);
			let size = fma(block.step, level + 0.5, least);
			prop_assert_eq!(block.value::<Soft>(entry), if value.is_sign_negative() { -size } else { size });
			// No further from the value than half a level, and rounding.
			prop_assert!((size - value.abs()).abs() <= 0.5001 * block.step + 1e-9);
		}
	}

	/// Every block has one form, so bytes with a changed bit are another block or none.
	#[test]
	fn a_block_is_read_as_it_was_written_and_has_one_form(
		length in 1usize..=512, picks in 1u32..=4_096, bits in 2u32..=8, seed in any::<u32>(), flip in any::<u32>(),
	) {
		let (rule, length) = (rule(picks, bits), length as u32);
		let block = Block::of::<Soft>(rule, &values(length as usize, seed)).unwrap();
		let mut bytes = vec![7];
		block.write(rule, length, &mut bytes);
		prop_assert_eq!(bytes.remove(0), 7);
		prop_assert_eq!(bytes.len(), rule.block_bytes(length) as usize);
		prop_assert_eq!(&Block::read::<Soft>(rule, length, &bytes).unwrap(), &block);
		let at = flip as usize % (bytes.len() * 8);
		bytes[at / 8] ^= 1 << (at % 8);
		if let Ok(other) = Block::read::<Soft>(rule, length, &bytes) {
			prop_assert!(other != block);
			let mut again = Vec::new();
			other.write(rule, length, &mut again);
			prop_assert_eq!(again, bytes);
		}
	}
}
