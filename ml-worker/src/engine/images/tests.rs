//! Training of a CNN on every kernel and several threads against the reference executor.

use super::super::{Data, Engine, EngineError, State, Table};
use super::*;
use std::sync::Arc;
use trainyard_primitives::{
	lower,
	ops::Role,
	spec::{Activation, CnnLayer, JobSpec, Model},
	strict::exec::{self, Moment},
	H256,
};

fn rows(count: usize, features: usize) -> Table {
	let mut state = 0x2545_F491u32;
	let mut next = || {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		(state >> 8) as f32 / 8_388_608.0 - 1.0
	};
	let x: Vec<f32> = (0..count * features).map(|_| next()).collect();
	let y = x.chunks(features).map(|row| ((row[0] + 1.0) * 1.499) as u32).collect();
	Table { features, x, y, ..Table::default() }
}

/// A CNN with every layer on images, one of them of overlapping windows.
fn job() -> (JobSpec, Arc<Data>) {
	let mut spec = JobSpec::example();
	spec.dataset.features = 2 * 13 * 11;
	spec.dataset.classes = 3;
	spec.dataset.train_rows = 30;
	spec.dataset.validation_rows = 7;
	spec.training.steps = 6;
	spec.training.batch_size = 8;
	spec.training.checkpoint_interval = 3;
	let layers = vec![
		CnnLayer::Conv { filters: 5, kernel: 3, stride: 1, padding: 1 },
		CnnLayer::MaxPool { kernel: 2, stride: 2 },
		CnnLayer::Conv { filters: 7, kernel: 3, stride: 2, padding: 1 },
		CnnLayer::AvgPool { kernel: 2, stride: 1 },
		CnnLayer::Linear { outputs: 4 },
	];
	spec.model = Model::Cnn {
		channels: 2,
		height: 13,
		width: 11,
		layers: layers.try_into().unwrap(),
		activation: Activation::Relu,
	};
	(spec, Arc::new(Data { train: rows(30, 286), validation: rows(7, 286) }))
}

#[test]
fn a_cnn_trains_to_the_reference_state() {
	let (spec, data) = job();
	let seed = H256::repeat_byte(9);
	let vectors = |state: &State| -> exec::State {
		let values = |t: &Tensor| t.flatten_all().unwrap().to_vec1::<f32>().unwrap();
		state.tensors.iter().map(|(name, t)| (name.clone(), values(t))).collect()
	};
	let program = lower::training_step(&spec);
	let mut expected = vectors(&Engine::initial_state(&spec, &seed, None).unwrap());
	let kernels = Kernel::supported();
	let new = |kernel| Engine::with_kernel(&spec, seed, data.clone(), kernel).unwrap();
	let engine = new(kernels[0]);
	let mut losses = Vec::new();
	for step in 0..spec.training.steps {
		let (x, y) = engine.batch(step).unwrap();
		let x: Vec<f32> = x.flatten_all().unwrap().to_vec1().unwrap();
		let y: Vec<u32> = y.to_vec1().unwrap();
		let moment = Moment { seed, step };
		let values = exec::run_at(&program, &x, &y, &expected, moment).unwrap();
		losses.push(values.role(&program, Role::Loss)[0].to_bits());
		values.advance(&program, &mut expected);
	}
	for kernel in kernels {
		for threads in [1, 2, 8] {
			let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
			let engine = new(kernel);
			let mut state = Engine::initial_state(&spec, &seed, None).unwrap();
			for step in 0..spec.training.steps {
				let trace = pool.install(|| engine.step(&mut state, step)).unwrap();
				assert_eq!(trace.loss.to_bits(), losses[step as usize], "{kernel} {step}");
			}
			assert_eq!(vectors(&state), expected, "{kernel}, {threads} threads");
		}
	}
}

#[test]
fn other_operators_are_left_alone() {
	let read = |_| -> Result<&Tensor, EngineError> { panic!("nothing is to be read") };
	let kind = OpKind::Relu { a: 0, len: 1 };
	assert!(apply(Kernel::Scalar, &kind, &[1], read).is_none());
}
