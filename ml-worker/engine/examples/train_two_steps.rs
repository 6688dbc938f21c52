//! Trains two steps of a small model and hashes the state: the same hash on every machine.

use std::sync::Arc;
use trainyard_engine::{Data, Engine, Table};
use trainyard_program::{
	spec::{Activation, JobSpec, Model},
	H256,
};

/// Rows of two features; the class of a row says which of them is larger.
fn rows(count: u32) -> Table {
	let features = |i: u32| [(7 * i % 16) as f32 / 16.0, (5 * i % 16) as f32 / 16.0];
	let classes = (0..count).map(|i| u32::from(features(i)[0] < features(i)[1]));
	Table {
		features: 2,
		x: (0..count).flat_map(features).collect(),
		y: classes.collect(),
		..Table::default()
	}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
	// 1. What to compute: a perceptron 2-8-2, batches of 8.
	let mut spec = JobSpec::example();
	spec.dataset.features = 2;
	spec.dataset.classes = 2;
	spec.dataset.train_rows = 48;
	spec.dataset.validation_rows = 12;
	let hidden = vec![8].try_into().map_err(|_| "too many layers")?;
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	spec.training.batch_size = 8;
	let spec = spec.check()?;

	// 2. On what, and from which random numbers.
	let data = Arc::new(Data { train: rows(48), validation: rows(12) });
	let seed = H256::repeat_byte(7);

	// 3. Two steps. Each needs nothing but the state before it and its own number.
	let engine = Engine::new(&spec, seed, data)?;
	let mut state = Engine::initial_state(&spec, &seed, None)?;
	for step in 0..2 {
		let trace = engine.step(&mut state, step)?;
		println!("step {step}: loss {}", trace.loss);
	}
	let evaluation = engine.evaluate(&state)?;
	println!("validation: loss {}, accuracy {:.3}", evaluation.loss(), evaluation.accuracy());

	// 4. Every machine that does the same gets the same hash.
	let hash = state.hash()?;
	println!("state {hash:?}");
	assert_eq!(format!("{hash:?}"), STATE);
	Ok(())
}

/// The hash that every machine computes.
const STATE: &str = "0xe7def0815f5d5bd5c829ab38f95b0d88f13be87823dae74dcdc35382ff4180fa";
