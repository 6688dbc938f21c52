//! What a peer computes: training on a slice, and how many rows a model gets right.

use crate::data::{rows, FEATURES};
use anyhow::{anyhow, Result};
use std::sync::Arc;
use trainyard_engine::{Data, Engine, State, Table, TensorMap};
use trainyard_mixing::average;
use trainyard_program::{
	lower::OPTIMIZER_PREFIX,
	spec::{Activation, CheckedSpec, JobSpec, Model, Optimizer},
	H256,
};
use trainyard_strict::Soft;

/// Rows of a batch.
pub const BATCH: u32 = 100;
/// Steps that a slice of these rows can be trained, at most.
const STEPS: u32 = 1_000_000;

/// Returns what is trained: 28-16-2, by stochastic gradient descent with momentum.
pub fn spec(rows: u32, learning_rate_nano: u64) -> Result<CheckedSpec> {
	let mut spec = JobSpec::example();
	let data = &mut spec.dataset;
	data.features = FEATURES as u32;
	data.feature_divisor = 1;
	data.classes = 2;
	data.train_rows = rows;
	data.validation_rows = rows;
	data.validation_every = 2;
	let hidden = vec![16].try_into().map_err(|_| anyhow!("too many layers"))?;
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	let training = &mut spec.training;
	training.steps = STEPS;
	training.batch_size = BATCH.min(rows);
	training.checkpoint_interval = STEPS;
	training.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false };
	training.learning_rate_nano = learning_rate_nano;
	spec.check().map_err(|error| anyhow!("the specification: {error}"))
}

/// A slice of rows that trains, and the rows by which its owner measures accuracy.
pub struct Slice(Engine);

/// The slices of a peer: all but the last train, and the last one says how accurate a model is.
pub struct Slices {
	/// Those that train.
	pub training: Vec<Arc<Slice>>,
}

impl Slices {
	/// Draws `count` slices of `rows` rows.
	pub fn draw(seed: u64, count: u32, rows_of_each: u32, learning_rate_nano: u64) -> Result<Self> {
		let spec = spec(rows_of_each, learning_rate_nano)?;
		let drawn = |slice: u32| {
			rows(seed.wrapping_mul(1_000_003).wrapping_add(u64::from(slice)), rows_of_each)
		};
		let validation: Table = drawn(count - 1);
		let training = (0..count - 1).map(|slice| {
			let data = Data { train: drawn(slice), validation: validation.clone() };
			let seed = H256::from_low_u64_be(seed ^ u64::from(slice) << 32);
			Ok(Arc::new(Slice(Engine::new(&spec, seed, Arc::new(data))?)))
		});
		Ok(Self { training: training.collect::<Result<_>>()? })
	}

	/// Returns how many of the rows of the last slice a model gets right.
	pub fn correct(&self, model: &TensorMap) -> Result<u32> {
		let Slice(engine) = &**self.training.first().ok_or_else(|| anyhow!("no slice trains"))?;
		Ok(engine.evaluate(&State::from_host(model.clone())?)?.correct)
	}
}

impl Slice {
	/// Trains a model on all rows once; `passes` says how often that was done before.
	pub fn train(&self, model: &TensorMap, passes: u32, rows: u32) -> Result<TensorMap> {
		let steps = rows / BATCH.min(rows);
		let mut state = State::from_host(model.clone())?;
		for step in 0..steps {
			self.0.step(&mut state, passes * steps + step)?;
		}
		Ok(state.to_host()?)
	}
}

/// Returns the model with which all peers of a session begin.
pub fn initial(seed: u64, rows: u32) -> Result<TensorMap> {
	let state = Engine::initial_state(&spec(rows, 1)?, &H256::from_low_u64_be(seed), None)?;
	Ok(state.to_host()?)
}

/// Returns the mean of the own model and of a remote one. What the optimizer keeps stays the own.
pub fn mix(own: &TensorMap, remote: &TensorMap) -> Result<TensorMap> {
	let mut mixed = own.clone();
	for (name, tensor) in mixed.iter_mut().filter(|(name, _)| !name.starts_with(OPTIMIZER_PREFIX)) {
		let other = remote.get(name).ok_or_else(|| anyhow!("the remote model has no {name}"))?;
		tensor.data = average::<Soft>(&tensor.data, &other.data)?;
	}
	Ok(mixed)
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn training_helps_and_is_the_same_again() {
		let slices = Slices::draw(1, 3, 500, 50_000_000).unwrap();
		let begin = initial(1, 500).unwrap();
		let mut trained = begin.clone();
		for pass in 0..4 {
			for slice in &slices.training {
				trained = slice.train(&trained, pass, 500).unwrap();
			}
		}
		let (before, after) = (slices.correct(&begin).unwrap(), slices.correct(&trained).unwrap());
		assert!(after > before + 50, "{before} {after}");
		assert_eq!(
			slices.training[0].train(&begin, 0, 500).unwrap(),
			slices.training[0].train(&begin, 0, 500).unwrap()
		);
		assert_eq!(mix(&trained, &trained).unwrap(), trained);
	}
}
