//! How large pieces are, of jobs that fit no test.

use super::*;
use trainyard_program::{
	parts::{MAX_REST_READS, MAX_STRETCH},
	spec::{Activation, CnnLayer, DataFormat, JobSpec, Model, Optimizer, MAX_SEGMENTS},
};
use trainyard_protocol::bundle::Evaluation;

/// The jobs of docs/decisions/0029-a-court-decides-by-recomputing.md, and others at the limits.
fn large() -> Vec<(&'static str, JobSpec)> {
	let (beta1_nano, beta2_nano, epsilon_nano) = (900_000_000, 990_000_000, 10);
	let text = |layers, width, context, batch| {
		let mut spec = JobSpec::noisy_example();
		spec.training.input_noise_nano = 0;
		spec.training.weight_decay_nano = 10_000_000;
		spec.training.optimizer = Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano };
		spec.dataset.format = DataFormat::Text;
		spec.dataset.feature_divisor = 1;
		(spec.dataset.features, spec.dataset.classes) = (context, 256);
		(spec.dataset.train_rows, spec.dataset.validation_rows) = (40_000, 10_000);
		spec.training.batch_size = batch;
		let dropout_nano = 100_000_000;
		spec.model = Model::Transformer { layers, heads: 8, width, mlp_factor: 4, dropout_nano };
		spec
	};
	let mut wide = JobSpec::noisy_example();
	(wide.dataset.train_rows, wide.dataset.validation_rows) = (400_000_000, 100_000_000);
	(wide.dataset.features, wide.dataset.classes) = (1, 65_536);
	wide.training.batch_size = 65_536;
	let hidden = vec![2_048].try_into().unwrap();
	wide.model = Model::Mlp { hidden, activation: Activation::Gelu };
	let mut images = JobSpec::noisy_example();
	(images.dataset.train_rows, images.dataset.validation_rows) = (40_000, 10_000);
	images.dataset.features = 3 * 64 * 64;
	images.training.batch_size = 4_096;
	let layers = vec![
		CnnLayer::Conv { filters: 256, kernel: 5, stride: 1, padding: 2 },
		CnnLayer::MaxPool { kernel: 3, stride: 2 },
		CnnLayer::Conv { filters: 256, kernel: 3, stride: 1, padding: 1 },
		CnnLayer::AvgPool { kernel: 2, stride: 2 },
	];
	images.model = Model::Cnn {
		channels: 3,
		height: 64,
		width: 64,
		layers: layers.try_into().unwrap(),
		activation: Activation::Silu,
	};
	// All rows lie in 64 chunks, and a column is read along 16,384 of them.
	let mut narrow = JobSpec::example();
	(narrow.dataset.train_rows, narrow.dataset.validation_rows) = (16_384, 4_096);
	narrow.dataset.features = 1;
	narrow.training.batch_size = 16_384;
	let hidden = vec![1].try_into().unwrap();
	narrow.model = Model::Mlp { hidden, activation: Activation::Relu };
	let mut dots = narrow.clone();
	let layers = vec![CnnLayer::Conv { filters: 1, kernel: 1, stride: 1, padding: 0 }];
	let (layers, activation) = (layers.try_into().unwrap(), Activation::Relu);
	dots.model = Model::Cnn { channels: 1, height: 1, width: 1, layers, activation };
	vec![
		("rows of one number", narrow),
		("images of one number", dots),
		("digits", JobSpec::example()),
		("characters", text(4, 128, 64, 32)),
		("8 blocks", text(8, 512, 256, 64)),
		("24 blocks", text(24, 896, 2_048, 512)),
		("the longest context", text(1, 64, 8_192, 64)),
		("a single feature", wide),
		("images", images),
	]
}

/// Whatever is disputed of the largest jobs, what its pieces open fits one call.
#[test]
fn no_piece_is_larger_than_a_call() {
	for (name, spec) in large() {
		let case = crate::Case { spec: spec.check().unwrap(), seed: H256::zero() };
		let (mut most, mut stretches, mut rows) = (0, 0, 0);
		for computation in [Computation::Step { step: 0 }, Computation::Slice { slice: 0 }] {
			let lowered = Lowered::new(&case, computation).unwrap();
			// A join opens the contents of all results.
			assert!(Cost::of_join(&lowered).bytes <= MAX_OPENINGS as u64);
			for (result, part) in (0..).zip(lowered.parts()) {
				let (all, length) = (
					lowered.terms(result, part.len / 2).unwrap(),
					lowered.stretch(result).unwrap(),
				);
				let to = match all > length {
					true => To::Chain { taken: length, digest: H256::zero() },
					false => To::Element { bits: 0 },
				};
				let piece = Stretch { result, element: part.len / 2, from: None, to };
				let cost = Cost::of(&lowered, &piece).unwrap();
				assert!(cost.bytes <= MAX_OPENINGS as u64, "{name} {:?} {cost:?}", part.part);
				assert!(cost.terms == all.min(length) && cost.parts == lowered.results());
				// A call is weighed by no more than this, whatever lies in how few chunks.
				let rows_at_most = STRETCH_BYTES / 1_024 + 2 * MAX_REST_READS;
				assert!(cost.terms <= MAX_STRETCH && cost.rows <= rows_at_most, "{name} {cost:?}");
				most = most.max(cost.bytes);
				stretches = stretches.max(all.div_ceil(length));
				rows = rows.max(cost.rows);
			}
		}
		println!("{name}: {most} bytes, {stretches} stretches, {rows} rows");
		let digest = H256::zero();
		let (length, slices) = (mean_slices(&case), case.spec.slices());
		let to = match slices > length {
			true => MeanTo::Slices { taken: length, digest },
			false => MeanTo::Evaluation(Evaluation::NONE),
		};
		let mean = Cost::of_mean(&case, &MeanStretch { from: None, to }).unwrap();
		assert!(mean.bytes <= MAX_OPENINGS as u64, "{name} {mean:?}");
		assert!(Cost::of_chunks(&case, None, 2).bytes <= MAX_OPENINGS as u64);
	}
	// Of as many checkpoints as a job may have.
	let committed = Committed { root: H256::zero(), segments: MAX_SEGMENTS, diverged: true };
	let to = Some((STOP_STRETCH, H256::zero()));
	let stop = Cost::of_stop(&committed, &StopStretch { from: None, to }).unwrap();
	assert!(stop.bytes <= MAX_OPENINGS as u64, "{stop:?}");
}
