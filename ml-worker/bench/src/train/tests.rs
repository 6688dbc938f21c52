//! Both sides of the comparison, on models small enough to take no time.

use super::*;

/// Small models of every kind.
fn small() -> [Case; 3] {
	[
		Case::mlp([12, 9, 3], 4, 32),
		Case::cnn(10, [3, 4, 7], 3, 4, 32),
		Case::transformer(2, 2, 8, 6, 4),
	]
}

#[test]
fn models_are_read() {
	assert_eq!(parse_models("mlp, cnn,transformer,gpt").unwrap(), Model::ALL);
	assert_eq!(parse_models("cnn").unwrap(), [Model::Cnn]);
	for wrong in ["", "mlp,", "resnet", "MLP"] {
		let error = format!("{:#}", parse_models(wrong).unwrap_err());
		assert!(error.contains("mlp, cnn, transformer") && error.contains("is no model"));
		assert!(error.contains(wrong), "{error}");
	}
}

#[test]
fn the_models_are_those_of_the_table() {
	let [mlp, cnn, transformer, gpt] = Model::ALL.map(Model::case);
	assert_eq!(mlp.spec.widths(), [784, 256, 10]);
	assert_eq!(mlp.spec.training.batch_size, 64);
	let parameters = |case: &Case| case.spec.clone().check().unwrap().parameters();
	assert_eq!(parameters(&mlp), 785 * 256 + 257 * 10);
	assert_eq!((cnn.spec.dataset.features, cnn.spec.training.batch_size), (28 * 28, 64));
	// Two poolings halve 24 and 8: 64 planes of 4 x 4 are left.
	let expected = 26 * 32 + 801 * 64 + 1_025 * 1_024 + 1_025 * 10;
	assert_eq!(parameters(&cnn), expected);
	let spec = &transformer.spec;
	assert_eq!((spec.dataset.features, spec.training.batch_size), (64, 16));
	let block = 2 * 256 + 4 * 129 * 128 + 129 * 512 + 513 * 128;
	let ends = (65 + 64) * 128 + 256 + 129 * 65;
	assert_eq!(parameters(&transformer), 4 * block + ends);
	assert_eq!((gpt.spec.dataset.features, gpt.spec.training.batch_size), (256, 8));
	// What docs/cuda.md names.
	assert_eq!(parameters(&gpt), 85_352_513);
}

#[test]
fn every_model_is_measured() {
	let isas = Isa::supported();
	for case in small() {
		let row = measure(case.clone(), &isas, Duration::ZERO).unwrap();
		assert_eq!((&row.model, row.batch), (&case.name, 4));
		assert!(row.turns >= TURNS && row.steps >= 1 && row.flop > 0);
		assert!(row.difference <= TOLERANCE && row.difference.is_finite());
		assert_eq!(row.kernels.len(), isas.len());
		for side in row.kernels.iter().chain([&row.candle]) {
			assert!(side.steps_per_second > 0.0 && side.rate > 0.0, "{side:?}");
			assert_eq!(side.memory, None);
		}
		let text = serde_json::to_string(&row).unwrap();
		let read: Row = serde_json::from_str(&text).unwrap();
		assert_eq!((read.model, read.turns, read.flop), (row.model, row.turns, row.flop));
	}
}

/// Our parameters and candle's also agree after steps, tensor by tensor, so the gradient of each is
/// right.
#[test]
fn parameters_agree() {
	for case in small() {
		let ready = Ready::new(case).unwrap();
		let isa = Isa::supported()[0];
		let Training::Strict(mut strict) = ready.begin(Trainer::Strict(isa)).unwrap() else {
			panic!("not the engine");
		};
		let Training::Candle(mut stock) = ready.begin(Trainer::Candle).unwrap() else {
			panic!("not candle");
		};
		for step in 0..3 {
			strict.0.step(&mut strict.1, step).unwrap();
			stock.step(step).unwrap();
		}
		let elements = |tensor: &candle_core::Tensor| -> Vec<f32> {
			tensor.flatten_all().unwrap().to_vec1().unwrap()
		};
		let mut compared = 0;
		for (name, tensor) in strict.1.parameters() {
			let candle = elements(stock.parameters()[name]);
			// The gradient of a key's bias is 0 but for rounding, and AdamW enlarges it.
			if name.ends_with("key.bias") {
				continue;
			}
			for (ours, candle) in elements(tensor).into_iter().zip(candle) {
				assert!((ours - candle).abs() <= 2e-4, "{name}: {ours}, candle {candle}");
			}
			compared += 1;
		}
		assert!(compared >= 4);
	}
}

#[test]
fn a_case_without_candle_layers_is_refused() {
	let mut case = Case::transformer(1, 1, 4, 3, 2);
	let trainyard_program::spec::Model::Transformer { dropout_nano, .. } = &mut case.spec.model
	else {
		panic!("a transformer");
	};
	*dropout_nano = 100_000_000;
	let error = measure(case, &Isa::supported(), Duration::ZERO).unwrap_err();
	assert!(format!("{error:#}").contains("no layer Dropout"), "{error:#}");
}
