//! Normalisation: the mean of each feature over the training rows is subtracted from it, and the
//! difference is divided by its standard deviation over them. Section 1 of
//! `docs/strict-arithmetic.md` defines every bit.

use super::DataError;
use std::{io, path::Path, sync::Arc};
use trainyard_engine::{Normalizer, Table};
use trainyard_strict as strict;
use trainyard_strict::{LANES, SUM_BLOCK};

/// The strict sum of each column of rows that come one by one: in blocks of [`SUM_BLOCK`] rows,
/// in [`LANES`] lanes.
struct ColumnSums {
	columns: usize,
	rows: u64,
	/// `[LANES, columns]`: the lanes of the block that is being summed.
	lanes: Vec<f32>,
	/// `[blocks, columns]`: sums of the finished blocks.
	blocks: Vec<f32>,
}

impl ColumnSums {
	fn new(columns: usize) -> Self {
		Self { columns, rows: 0, lanes: vec![0.0; LANES * columns], blocks: Vec::new() }
	}

	fn add(&mut self, row: impl Iterator<Item = f32>) {
		// The length of a block is a multiple of the number of lanes.
		let lane = (self.rows % LANES as u64) as usize * self.columns;
		let lane = &mut self.lanes[lane..lane + self.columns];
		lane.iter_mut().zip(row).for_each(|(lane, x)| *lane += x);
		self.rows += 1;
		if self.rows.is_multiple_of(SUM_BLOCK as u64) {
			self.end_block();
		}
	}

	fn end_block(&mut self) {
		let mut width = LANES / 2;
		while width > 0 {
			let (low, high) = self.lanes.split_at_mut(width * self.columns);
			low.iter_mut().zip(high.iter()).for_each(|(low, high)| *low += *high);
			width /= 2;
		}
		self.blocks.extend_from_slice(&self.lanes[..self.columns]);
		self.lanes.fill(0.0);
	}

	/// Returns the sum of each column.
	fn finish(mut self) -> Vec<f32> {
		if !self.rows.is_multiple_of(SUM_BLOCK as u64) {
			self.end_block();
		}
		let blocks = self.blocks.len() / self.columns.max(1);
		match blocks {
			0 => vec![0.0; self.columns],
			1 => self.blocks,
			_ => (0..self.columns)
				.map(|column| {
					strict::sum((0..blocks).map(|block| self.blocks[block * self.columns + column]))
				})
				.collect(),
		}
	}
}

/// Returns mean and standard deviation of each feature over the rows of `train`, which have
/// `labels` labels each.
pub(super) fn measure(train: &Table, labels: usize) -> io::Result<Normalizer> {
	let features = train.features;
	let rows = (train.inputs() / features.max(1)) as f32;
	let (mut sums, mut first, mut varies) =
		(ColumnSums::new(features), Vec::new(), vec![false; features]);
	train.each(labels, |row, x, _| {
		if row == 0 {
			first = x.to_vec();
		}
		varies.iter_mut().zip(x.iter().zip(&first)).for_each(|(v, (x, first))| *v |= x != first);
		sums.add(x.iter().copied());
		Ok::<_, io::Error>(())
	})?;
	let mean: Vec<f32> = sums.finish().into_iter().map(|sum| sum / rows).collect();
	let mut squares = ColumnSums::new(features);
	train.each(labels, |_, x, _| {
		squares.add(x.iter().zip(&mean).map(|(x, mean)| {
			let difference = x - mean;
			difference * difference
		}));
		Ok::<_, io::Error>(())
	})?;
	let deviation = squares.finish().into_iter().zip(varies).map(|(sum, varies)| {
		let deviation = strict::sqrt(sum / rows);
		if varies && deviation != 0.0 {
			deviation
		} else {
			1.0
		}
	});
	Ok(Normalizer { deviation: deviation.collect(), mean })
}

/// Says why a table is not normalised.
enum Failure {
	Io(io::Error),
	/// A number of this feature becomes infinite or NaN.
	Overflow(usize),
}

impl From<io::Error> for Failure {
	fn from(error: io::Error) -> Self {
		Failure::Io(error)
	}
}

/// Normalises both tables of the data at `path` by mean and deviation of the first, the training
/// rows.
pub(super) fn standard(
	path: &Path,
	train: &mut Table,
	validation: &mut Table,
	labels: usize,
) -> Result<(), DataError> {
	let normalizer = Arc::new(measure(train, labels).map_err(DataError::Scratch)?);
	for table in [train, validation] {
		let done = table.update(|_, row| {
			normalizer.apply(row);
			match row.iter().position(|x| !x.is_finite()) {
				Some(feature) => Err(Failure::Overflow(feature)),
				None => Ok(()),
			}
		});
		done.map_err(|failure| match failure {
			Failure::Io(error) => DataError::Scratch(error),
			Failure::Overflow(feature) => DataError::File {
				path: path.to_owned(),
				what: format!(
					"feature {feature} (from 0) cannot be normalised: its mean is {}, its \
					 deviation {}, and a number is not finite then. Set dataset.feature_divisor \
					 so that the numbers are of ordinary size, or leave dataset.normalization out",
					normalizer.mean[feature], normalizer.deviation[feature]
				),
			},
		})?;
		table.normalizer = Some(normalizer.clone());
	}
	Ok(())
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;
	use trainyard_engine::kernels::{reduce, Isa};

	fn table(features: usize, x: Vec<f32>) -> Table {
		Table { features, y: vec![0; x.len() / features], x, ..Table::default() }
	}

	/// Numbers of many magnitudes.
	fn noise(count: usize) -> Vec<f32> {
		let mut state = 1u32;
		let mut next = || {
			state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
			state
		};
		(0..count)
			.map(|_| (next() >> 8) as f32 / 65_536.0 * 10f32.powi((next() >> 29) as i32 - 4) - 3.0)
			.collect()
	}

	/// The definition, column by column, with the reference's sum.
	fn by_definition(x: &[f32], features: usize) -> Normalizer {
		let rows = x.len() / features;
		let column = |at: usize| (0..rows).map(move |row| x[row * features + at]);
		let n = rows as f32;
		let mean: Vec<f32> = (0..features).map(|at| strict::sum(column(at)) / n).collect();
		let deviation = (0..features).map(|at| {
			let squares = column(at).map(|x| (x - mean[at]) * (x - mean[at]));
			let deviation = strict::sqrt(strict::sum(squares) / n);
			let constant = column(at).all(|value| value == x[at]);
			if constant || deviation == 0.0 {
				1.0
			} else {
				deviation
			}
		});
		Normalizer { deviation: deviation.collect(), mean }
	}

	#[test]
	fn the_measures_are_the_definitions() {
		// A block and its neighbours, several, more than a block of blocks.
		for (rows, features) in
			[(1, 3), (15, 1), (17, 40), (1_023, 2), (1_024, 3), (1_025, 3), (5_000, 7)]
		{
			let x = noise(rows * features);
			let found = measure(&table(features, x.clone()), 1).unwrap();
			assert_eq!(found, by_definition(&x, features), "{rows} x {features}");
		}
		let rows = 1_024 * 1_024 + 1_030;
		let x = noise(rows);
		assert_eq!(measure(&table(1, x.clone()), 1).unwrap(), by_definition(&x, 1));
	}

	#[test]
	fn the_sums_of_columns_are_those_of_the_kernels() {
		let x = noise(3_000 * 5);
		let mut sums = ColumnSums::new(5);
		x.chunks(5).for_each(|row| sums.add(row.iter().copied()));
		let found = sums.finish();
		for isa in Isa::supported() {
			assert_eq!(found, reduce::sum_rows(isa, &x, 5), "{isa}");
		}
		assert_eq!(ColumnSums::new(3).finish(), [0.0; 3]);
	}

	#[test]
	fn normalised_rows_have_mean_zero_and_deviation_one() {
		let (rows, features) = (4_000, 6);
		let x = noise(rows * features);
		let (mut train, mut validation) = (table(features, x.clone()), table(features, x.clone()));
		standard(Path::new("a.csv"), &mut train, &mut validation, 1).unwrap();
		assert_eq!(train.x, validation.x);
		for column in 0..features {
			let raw = || (0..rows).map(|row| f64::from(x[row * features + column]));
			let mean = raw().sum::<f64>() / rows as f64;
			let deviation =
				(raw().map(|x| (x - mean) * (x - mean)).sum::<f64>() / rows as f64).sqrt();
			for (row, raw) in raw().enumerate() {
				let (found, expected) =
					(f64::from(train.x[row * features + column]), (raw - mean) / deviation);
				assert!(
					(found - expected).abs() <= 2e-6 * expected.abs().max(1.0),
					"{found} {expected}"
				);
			}
		}
		let normalizer = train.normalizer.unwrap();
		assert_eq!(Some(&normalizer), validation.normalizer.as_ref());
		let mut row = x[..features].to_vec();
		normalizer.apply(&mut row);
		assert_eq!(row, train.x[..features]);
	}

	#[test]
	fn what_does_not_vary_is_not_divided() {
		// The sum of 0.1 rounds: mean and deviation would be off by little, and a validation row
		// that differs would be thrown far away.
		let x: Vec<f32> = (0..3_000).flat_map(|i| [0.1, 7.0, (i % 2) as f32]).collect();
		let (mut train, mut validation) = (table(3, x), table(3, vec![0.3, -0.0, 1.0]));
		standard(Path::new("a.csv"), &mut train, &mut validation, 1).unwrap();
		let normalizer = train.normalizer.unwrap();
		assert_eq!(normalizer.deviation, [1.0, 1.0, 0.5]);
		assert_ne!(normalizer.mean[0], 0.1, "the mean of many tenths rounds");
		assert!((validation.x[0] - 0.2).abs() < 1e-4);
		assert_eq!(validation.x[1..], [-7.0, 1.0]);
		// Squares that vanish: a feature that varies by so little is not divided either.
		let tiny = measure(&table(1, vec![0.0, 1e-30]), 1).unwrap();
		assert_eq!(tiny, Normalizer { mean: vec![5e-31], deviation: vec![1.0] });
	}

	#[test]
	fn numbers_that_leave_the_finite_ones_are_named() {
		for (train, validation) in [
			(vec![0.0, 3e38, 1.0, 3e38], vec![0.0, 0.0]),
			(vec![0.0, 1e-20, 0.0, 2e-20], vec![0.0, 3e38]),
		] {
			let (mut train, mut validation) = (table(2, train), table(2, validation));
			let error = standard(Path::new("a.csv"), &mut train, &mut validation, 1).unwrap_err();
			let error = error.to_string();
			for part in ["a.csv: feature 1 (from 0)", "dataset.feature_divisor"] {
				assert!(error.contains(part), "{error}");
			}
		}
	}

	proptest! {
		#![proptest_config(ProptestConfig::with_cases(64))]

		#[test]
		fn any_table_is_measured_by_definition(
			features in 1usize..6, rows in 1usize..2_200, scale in -10i32..10,
		) {
			let x: Vec<f32> =
				noise(rows * features).into_iter().map(|x| x * 2f32.powi(scale)).collect();
			let found = measure(&table(features, x.clone()), 1).unwrap();
			prop_assert_eq!(found, by_definition(&x, features));
		}
	}
}
