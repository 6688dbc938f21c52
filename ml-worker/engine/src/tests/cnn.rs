//! A CNN with every layer on images, with every instruction set and several threads, against the
//! reference executor.

use super::*;

/// One of its windows overlaps.
fn job() -> (JobSpec, Arc<Data>) {
	let (mut spec, _) = small_spec(vec![], ADAM);
	spec.dataset.features = 2 * 13 * 11;
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
	(spec, Arc::new(Data { train: synthetic(30, 286, 3), validation: synthetic(7, 286, 3) }))
}

#[test]
fn a_cnn_trains_to_the_reference_state() {
	let (spec, data) = job();
	let program = lower::training_step(&checked(&spec));
	let mut expected = as_vectors(&Engine::initial_state(&checked(&spec), &seed(), None).unwrap());
	let kernels = Isa::supported();
	let new = |isa| Engine::with_isa(&checked(&spec), seed(), data.clone(), isa).unwrap();
	let engine = new(kernels[0]);
	let mut losses = Vec::new();
	for step in 0..spec.training.steps {
		let (x, y) = batch(&engine, step);
		let moment = StepContext { seed: seed(), step };
		let values = exec::run_at(&program, &x, &y, &expected, moment).unwrap();
		losses.push(values.role(&program, Role::Loss)[0].to_bits());
		values.advance(&program, &mut expected);
	}
	for isa in kernels {
		for threads in [1, 2, 8] {
			let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
			let engine = new(isa);
			let mut state = Engine::initial_state(&checked(&spec), &seed(), None).unwrap();
			for step in 0..spec.training.steps {
				let trace = pool.install(|| engine.step(&mut state, step)).unwrap();
				assert_eq!(trace.loss.to_bits(), losses[step as usize], "{isa} {step}");
			}
			assert_eq!(as_vectors(&state), expected, "{isa}, {threads} threads");
		}
	}
}
