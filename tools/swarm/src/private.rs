//! What hiding rows costs: the accuracy of one peer that trains with clipped gradients and noise, beside one that
//! does not.

use crate::{
	data::rows,
	model::{initial, spec, BATCH},
	report::{percent, spread, table},
};
use anyhow::Result;
use clap::Args;
use rand::{rngs::StdRng, SeedableRng};
use std::sync::Arc;
use trainyard_engine::{
	private::{accountant::Spent, Hiding, PrivateSteps},
	Data, Engine, State,
};
use trainyard_program::H256;

/// Norm to which the gradient of a row is scaled down.
const CLIP: f32 = 1.0;
/// Deviations of the noise, in units of that.
const NOISES: [f64; 3] = [0.5, 1.0, 2.0];
/// Learning rate x 10^9.
const LEARNING_RATE_NANO: u64 = 10_000_000;
/// Epsilon is counted for this delta.
const DELTA: f64 = 1e-6;

/// How much is measured.
#[derive(Args, Clone, Debug)]
pub struct Size {
	/// Rows of a peer, separated by commas.
	#[arg(long, value_delimiter = ',', default_value = "2000,20000")]
	private_rows: Vec<u32>,
	/// How often as many rows are taken.
	#[arg(long, default_value_t = 10)]
	private_passes: u32,
	/// Trainings of each kind, each with other rows and another beginning.
	#[arg(long, default_value_t = 5)]
	private_seeds: u64,
}

/// Trains one model, with this noise or without any, and returns what part of as many unseen rows it gets right.
fn trained(size: &Size, count: u32, seed: u64, noise: Option<f64>) -> Result<f64> {
	let spec = spec(count, LEARNING_RATE_NANO)?;
	let data =
		Data { train: rows(2 * seed + 1_000, count), validation: rows(2 * seed + 1_001, count) };
	let engine = Engine::new(&spec, H256::from_low_u64_be(seed), Arc::new(data))?;
	let mut state = State::from_host(initial(seed, count)?)?;
	// The table is the same again because its noise is drawn from a seed. A peer's is not.
	let mut random = StdRng::seed_from_u64(seed);
	let private = match noise {
		Some(noise) => Some(PrivateSteps::new(&spec, Hiding { clip: CLIP, noise })?),
		None => None,
	};
	for step in 0..count / BATCH * size.private_passes {
		match &private {
			Some(private) => private.step(&engine, &mut state, step, &mut random)?,
			None => {
				engine.step(&mut state, step)?;
			}
		}
	}
	Ok(engine.evaluate(&state)?.accuracy())
}

/// Returns the table.
pub fn run(size: &Size) -> Result<String> {
	let mut lines = Vec::new();
	for count in &size.private_rows {
		let steps = count / BATCH * size.private_passes;
		for noise in std::iter::once(None).chain(NOISES.map(Some)) {
			let found = (0..size.private_seeds).map(|seed| trained(size, *count, seed, noise));
			let found = found.collect::<Result<Vec<f64>>>()?;
			let [least, mean, most] = spread(found.into_iter());
			let epsilon = noise.map(|noise| {
				let mut spent = Spent::default();
				spent.add(f64::from(BATCH) / f64::from(*count), noise, steps);
				spent.epsilon(DELTA)
			});
			lines.push(vec![
				count.to_string(),
				steps.to_string(),
				noise.map_or("none".into(), |noise| noise.to_string()),
				epsilon.map_or("-".into(), |epsilon| format!("{epsilon:.2}")),
				percent(mean),
				format!("{} to {}", percent(least), percent(most)),
			]);
		}
	}
	let head = ["rows", "steps", "noise", "epsilon", "right", "of the trainings"];
	Ok(table(&head, &lines))
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn noise_costs_accuracy_and_much_of_it_more() {
		let size = Size { private_rows: vec![2_000], private_passes: 10, private_seeds: 1 };
		let of = |noise| trained(&size, 2_000, 3, noise).unwrap();
		let (none, little, much) = (of(None), of(Some(0.5)), of(Some(40.0)));
		assert!(none > 0.78 && little > 0.7, "{none} {little}");
		assert!(much < little - 0.1, "{little} {much}");
		assert_eq!(of(Some(0.5)), little);
	}
}
