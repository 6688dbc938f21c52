//! The vectors of docs/mixing.md, which `tools/cross-check/mixing.py` computes as well.

use super::*;
use crate::{average, late_weight, norm, Aggregation, Contribution, OuterStep};
use sp_crypto_hashing::blake2_256;
use std::collections::BTreeMap;

fn numbers(cell: &str) -> Vec<f32> {
	let number = |word: &str| f32::from_bits(u32::from_str_radix(word, 16).unwrap());
	cell.split_whitespace().map(number).collect()
}

fn words(values: &[f32]) -> String {
	let words: Vec<String> =
		values.iter().map(|value| format!("{:08x}", value.to_bits())).collect();
	words.join(" ")
}

fn counts<const N: usize>(cell: &str) -> [u32; N] {
	let counts: Vec<u32> = cell.split_whitespace().map(|word| word.parse().unwrap()).collect();
	counts.try_into().unwrap()
}

fn hash(bytes: &[u8]) -> String {
	hex::encode(blake2_256(bytes))
}

/// The layout of such tensors, and the values of the page's formula.
fn by_formula(rule_of: &str, tensors: &str, seed: &str) -> (Layout, Vec<f32>) {
	let [picks, bits] = counts(rule_of);
	let [seed] = counts(seed);
	let tensors = tensors.split_whitespace().map(|n| n.parse().unwrap());
	let layout = laid_out(rule(picks, bits), tensors.collect::<Vec<u64>>());
	let value = |i: u64| ((37 * i + u64::from(seed)) % 101) as f32 / 64.0 - 0.75;
	let values = (0..layout.values()).map(value).collect();
	(layout, values)
}

/// What the last cells of a row should be, from those before.
fn compute(name: &str, given: &[&str]) -> Vec<String> {
	match (name, given) {
		("block", [rule_of, values]) => {
			let [picks, bits] = counts(rule_of);
			let values = numbers(values);
			let layout = laid_out(rule(picks, bits), [values.len() as u64]);
			let (bytes, left) = compressed(&layout, &values);
			vec![hex::encode(bytes), words(&left)]
		}
		("update", [rule_of, tensors, seed]) => {
			let (layout, values) = by_formula(rule_of, tensors, seed);
			let (bytes, left) = compressed(&layout, &values);
			let left: Vec<u8> = left.iter().flat_map(|value| value.to_le_bytes()).collect();
			vec![bytes.len().to_string(), hash(&bytes), hash(&left)]
		}
		("average", [own, remote]) => {
			vec![words(&average::<Soft>(&numbers(own), &numbers(remote)).unwrap())]
		}
		("aggregate", [shape, terms, late, updates]) => {
			let [picks, bits, length] = counts(shape);
			let layout = laid_out(rule(picks, bits), [u64::from(length)]);
			let (clip, trim) = terms.split_once(' ').unwrap();
			let clip = (clip != "-").then(|| numbers(clip)[0]);
			let rule = Aggregation::new(clip, trim.parse().unwrap()).unwrap();
			let late: Vec<u32> = late.split_whitespace().map(|n| n.parse().unwrap()).collect();
			let updates: Vec<Update> = updates
				.split_whitespace()
				.map(|update| read(&layout, &hex::decode(update).unwrap()))
				.collect();
			let norms: Vec<f32> = updates.iter().map(norm::<Soft>).collect();
			let weights: Vec<f32> = late.iter().map(|late| late_weight(*late)).collect();
			let scales = rule.scales(&norms, &weights);
			let terms = updates.iter().zip(&scales).zip(&weights);
			let peers: Vec<_> = terms
				.map(|((update, scale), weight)| Contribution {
					block: &update.blocks[0],
					scale: *scale,
					weight: *weight,
				})
				.collect();
			let made = rule.block::<Soft>(length, &peers);
			vec![words(&norms), made.map_or("-".into(), |made| words(&made))]
		}
		("norm", [rule_of, tensors, seed]) => {
			let (layout, values) = by_formula(rule_of, tensors, seed);
			let update = read(&layout, &compressed(&layout, &values).0);
			vec![words(&[norm::<Soft>(&update)])]
		}
		("outer", [terms, values, velocity, aggregate]) => {
			let [rate, momentum] = numbers(terms).try_into().unwrap();
			let (mut values, mut velocity) = (numbers(values), numbers(velocity));
			let step = OuterStep::new(rate, momentum).unwrap();
			step.apply::<Soft>(&mut values, &mut velocity, &numbers(aggregate)).unwrap();
			vec![words(&values), words(&velocity)]
		}
		_ => panic!("{name} with {} cells", given.len()),
	}
}

#[test]
fn the_page_has_what_is_computed() {
	let page = include_str!("../../../../docs/mixing.md");
	let given =
		[("block", 2), ("update", 3), ("average", 2), ("aggregate", 4), ("norm", 3), ("outer", 4)];
	let mut seen = BTreeMap::<&str, u32>::new();
	for line in page.lines().filter(|line| line.starts_with("| `")) {
		let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
		let cells = &cells[1..cells.len() - 1];
		let Some((name, count)) = given.iter().find(|(name, _)| *name == cells[0]) else {
			continue;
		};
		assert_eq!(compute(name, &cells[1..=*count]), cells[1 + count..], "{line}");
		*seen.entry(name).or_default() += 1;
	}
	assert_eq!(seen.len(), given.len(), "{seen:?}");
	assert!(seen.values().sum::<u32>() >= 12, "{seen:?}");
}
