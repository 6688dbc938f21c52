//! Rows in the shape of HEPMASS: 27 features and the mass of a particle, and whether it was there.
//!
//! The numbers are made up, as by `ml-worker/examples/data/hepmass.py`: the means of the features differ by
//! label and mass. They come from a seed and strict arithmetic, so they are the same on every machine.

use rand::{rngs::StdRng, Rng, SeedableRng};
use trainyard_engine::Table;
use trainyard_strict::{cos_pi, inverse_normal};

/// Features of a row, with the mass.
pub const FEATURES: usize = 28;
/// The masses, divided by 1,000.
const MASSES: [f32; 5] = [0.5, 0.75, 1.0, 1.25, 1.5];
/// How far the features of a signal of mass 1,000 are from those of background, by a factor.
const SHIFT: f32 = 0.6;

/// Returns `count` rows of this seed.
pub fn rows(seed: u64, count: u32) -> Table {
	let mut draw = StdRng::seed_from_u64(seed);
	let mut table = Table { features: FEATURES, ..Table::default() };
	for _ in 0..count {
		let label: u32 = draw.random_range(0..2);
		let mass = MASSES[draw.random_range(0..MASSES.len())];
		let apart = label as f32 * mass * SHIFT;
		for feature in 0..FEATURES as u16 - 1 {
			let normal =
				inverse_normal((draw.random_range(0..1u32 << 23) as f32 + 0.5) / 4_194_304.0 - 1.0);
			table.x.push(normal + apart * cos_pi(f32::from(feature) * 0.541_126));
		}
		table.x.push((mass - 1.0) / 0.353_553);
		table.y.push(label);
	}
	table
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn rows_are_those_of_their_seed_and_there_is_something_to_learn() {
		let table = rows(7, 4_000);
		assert_eq!((&table.x, &table.y), (&rows(7, 4_000).x, &rows(7, 4_000).y));
		assert_ne!(table.x, rows(8, 4_000).x);
		assert_eq!((table.x.len(), table.y.len()), (4_000 * FEATURES, 4_000));
		let positive = table.y.iter().sum::<u32>();
		assert!((1_900..2_100).contains(&positive), "{positive}");
		// The first feature of signals is 0.6 on average, that of background 0.
		let mean = |label: u32| {
			let of = table.x.chunks(FEATURES).zip(&table.y).filter(|(_, y)| **y == label);
			let (sum, count) =
				of.fold((0.0, 0.0), |(sum, count), (row, _)| (sum + row[0], count + 1.0));
			sum / count
		};
		assert!(mean(0).abs() < 0.08 && (mean(1) - 0.6).abs() < 0.08, "{} {}", mean(0), mean(1));
	}
}
