//! The mapping of the inputs.

use crate::{
	init,
	lower::*,
	ops::{Phase, TensorId},
	reference::{run_at, State, StepContext},
	spec::*,
	H256,
};

/// The digits with a mapping and one linear layer.
fn mapped(reflections: u32, patch: u32) -> JobSpec {
	let mut spec = JobSpec::example();
	let mapping = Layer::Mapping { reflections, patch };
	let input = Input::Image { channels: 1, height: 8, width: 8 };
	let layers = vec![mapping, Layer::Linear { outputs: 10 }].try_into().unwrap();
	spec.model = Model::Layers { input, layers };
	spec
}

/// A mapping comes after the noise and before all layers, and is taken on as it is.
#[test]
fn a_mapping_is_written_out() {
	let mut spec = mapped(2, 4);
	spec.training.input_noise_nano = 10_000_000;
	let spec = spec.check().unwrap();
	let program = training_step(&spec);
	let name = |id: TensorId| program.tensors[id as usize].name.as_str();
	let lines: Vec<String> = program
		.ops
		.iter()
		.filter(|op| op.phase == Phase::Forward || name(op.out).starts_with(MAPPING_PREFIX))
		.map(|op| {
			let inputs: Vec<&str> = op.kind.inputs().into_iter().map(name).collect();
			let layer = op.layer.map_or("-".into(), |layer| layer.to_string());
			let shape = &program.tensors[op.out as usize].shape;
			format!("{layer} {} {shape:?} <- {}", name(op.out), inputs.join(" "))
		})
		.collect();
	let expected = [
		"- features.noisy [32, 64] <- features",
		"- bands [32, 2, 1, 32] <- features.noisy",
		"- patches [128, 16] <- bands",
		"- along.0 [128, 1] <- patches mapping.0",
		"- part.0 [128, 16] <- along.0 mapping.0",
		"- reflected.0 [128, 16] <- part.0 patches",
		"- along.1 [128, 1] <- reflected.0 mapping.1",
		"- part.1 [128, 16] <- along.1 mapping.1",
		"- reflected.1 [128, 16] <- part.1 reflected.0",
		"- mapped [32, 16, 2, 2] <- reflected.1",
		"0 product.0 [32, 10] <- mapped layers.0.weight",
		"0 logits [32, 10] <- product.0 layers.0.bias",
		"- mapping.0.next [1, 16] <- mapping.0",
		"- mapping.1.next [1, 16] <- mapping.1",
	];
	assert_eq!(lines, expected);
	// 6 for each number and reflection, and what the step takes on.
	let mapped: u128 = program
		.ops
		.iter()
		.filter(|op| is_of_a_mapping(name(op.out)))
		.map(|op| op.kind.flop())
		.sum();
	assert_eq!(mapped, 32 * 64 * 6 * 2 + 2 * 16);
	let names: Vec<String> = state(&spec).into_iter().take(3).map(|t| t.name).collect();
	assert_eq!(names, ["mapping.0", "mapping.1", "layers.0.weight"]);
}

/// Whether a tensor of this name is one of a mapping.
fn is_of_a_mapping(name: &str) -> bool {
	let of = ["along.", "part.", "reflected.", MAPPING_PREFIX];
	of.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns what a mapping makes of these inputs, and its vectors.
fn images(spec: &CheckedSpec, x: &[f32], seed: u8) -> (Vec<f32>, Vec<Vec<f32>>) {
	let seed = H256::repeat_byte(seed);
	let state: State =
		state(spec).iter().map(|t| (t.name.clone(), init::initial(&seed, t))).collect();
	let program = evaluation_of(spec, 2);
	let moment = StepContext::default();
	let values = run_at(&program, x, &[1, 2], &state, moment).unwrap();
	let mapped = program.ops.iter().find(|op| op.layer == Some(0)).unwrap().kind.inputs()[0];
	let vectors = state.into_iter().filter(|(name, _)| name.starts_with(MAPPING_PREFIX));
	(values.get(mapped).to_vec(), vectors.map(|(_, values)| values).collect())
}

/// Two images of 8 x 8.
fn inputs() -> Vec<f32> {
	(0..128u32).map(|i| ((i * i * 7 + i * 13) % 17) as f32 / 16.0).collect()
}

fn norm(x: &[f32]) -> f64 {
	x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn a_mapping_keeps_lengths_and_depends_on_the_seed() {
	let x = inputs();
	for (reflections, patch) in [(1, 0), (16, 0), (4, 2), (4, 4), (4, 8)] {
		let spec = mapped(reflections, patch).check().unwrap();
		let (made, _) = images(&spec, &x, 1);
		assert_ne!(made, images(&spec, &x, 2).0);
		assert_eq!(made, images(&spec, &x, 1).0);
		for (x, y) in x.chunks(64).zip(made.chunks(64)) {
			assert!((norm(x) / norm(y) - 1.0).abs() < 1e-6, "{reflections} {patch}");
		}
	}
}

/// What patch is which channels, by a second way to say it; and who has the vectors goes back.
#[test]
fn whoever_knows_the_vectors_inverts_a_mapping() {
	let (x, spec) = (inputs(), mapped(3, 4).check().unwrap());
	let (made, vectors) = images(&spec, &x, 1);
	for image in 0..2 {
		for (above, beside) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
			let place = above * 2 + beside;
			let mut patch: Vec<f64> =
				(0..16).map(|channel| f64::from(made[image * 64 + channel * 4 + place])).collect();
			for vector in vectors.iter().rev() {
				let dot: f64 = patch.iter().zip(vector).map(|(x, v)| x * f64::from(*v)).sum();
				patch.iter_mut().zip(vector).for_each(|(x, v)| *x -= 2.0 * dot * f64::from(*v));
			}
			for (at, found) in patch.into_iter().enumerate() {
				let (row, column) = (above * 4 + at / 4, beside * 4 + at % 4);
				let expected = f64::from(x[image * 64 + row * 8 + column]);
				assert!((found - expected).abs() < 1e-6, "{image} {row} {column}");
			}
		}
	}
}
