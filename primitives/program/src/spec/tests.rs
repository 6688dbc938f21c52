//! The rules of a specification, and its bytes.

use super::*;
use bounded_collections::ConstU32;

#[test]
fn the_example_is_valid() {
	let spec = JobSpec::example().check().unwrap();
	assert_eq!(spec.parameters(), 64 * 65 + 65 * 32 + 33 * 10);
	assert_eq!(spec.segments(), 30);
	assert_eq!(spec.checkpoint_step(30), Some(1_500));
	assert_eq!(spec.checkpoint_step(31), None);
}

/// What checking has computed is what the specification says, and the specification is whole.
#[test]
fn a_checked_specification_is_the_one_that_was_checked() {
	for spec in [JobSpec::example(), of_text(), of_everything()] {
		let checked = spec.clone().check().unwrap();
		assert_eq!(checked.spec(), &spec);
		let layers: Vec<Layer> = checked.layers().iter().map(|at| at.layer).collect();
		assert_eq!(layers, spec.model.layers(&spec.dataset));
		let ends = checked.layers().iter().map(|at| at.output);
		assert!(ends.zip(&checked.layers()[1..]).all(|(before, at)| before == at.input));
		let (rows, classes) = checked.layers().last().unwrap().output.vectors();
		assert_eq!((rows, classes), (spec.labels_per_row(), spec.dataset.classes));
		assert_eq!(serde_json::to_string(&checked).unwrap(), serde_json::to_string(&spec).unwrap());
		assert_eq!(checked.into_spec(), spec);
	}
}

#[test]
fn a_job_ends_where_it_stops_early_or_is_done() {
	let mut spec = JobSpec::example();
	spec.training.checkpoint_interval = 400;
	assert_eq!((spec.segments(), spec.possible_segments()), (4, 4..=4));
	let flat = [1.0f32; 9];
	assert_eq!(spec.ends_after(&flat[..4]), None);
	assert_eq!(spec.ends_after(&flat[..5]), Some(4));
	assert_eq!(spec.ends_after(&flat), Some(4), "there is nothing after the end");

	let stop = |patience| Some(EarlyStop { patience, min_delta_nano: 0 });
	spec.training.early_stop = stop(2);
	assert_eq!(spec.possible_segments(), 2..=4);
	assert_eq!(spec.ends_after(&flat[..2]), None);
	assert_eq!(spec.ends_after(&flat[..3]), Some(2));
	assert_eq!(spec.ends_after(&flat), Some(2));
	let falling = [5.0, 4.0, 3.0, 2.0, 1.0];
	assert_eq!(spec.ends_after(&falling[..4]), None);
	assert_eq!(spec.ends_after(&falling), Some(4));
	assert_eq!(spec.ends_after(&[3.0, 2.0, 1.0, 2.0, 2.0]), Some(4), "both at once");
	// It cannot stop before its end.
	spec.training.early_stop = stop(9);
	assert_eq!(spec.possible_segments(), 4..=4);
	assert_eq!(spec.ends_after(&flat[..4]), None);
	assert_eq!(spec.ends_after(&flat), Some(4));
}

#[test]
fn files_are_listed() {
	let mut spec = JobSpec::example();
	let file = |byte| FileRef { content_hash: H256::repeat_byte(byte), ..spec.dataset.file() };
	let (labels, initial) = (file(2), file(3));
	assert_eq!(spec.files().collect::<Vec<_>>(), [(InputFile::Data, spec.dataset.file())]);
	assert_eq!(spec.file_bytes(), spec.dataset.bytes);
	spec.dataset.format = DataFormat::Idx;
	spec.dataset.labels = Some(labels.clone());
	spec.initial_model = Some(beginning_with(initial.clone()));
	assert!(spec.clone().check().is_ok());
	let data = (InputFile::Data, spec.dataset.file());
	let all = [data, (InputFile::Labels, labels), (InputFile::InitialModel, initial)];
	assert_eq!(spec.files().collect::<Vec<_>>(), all);
	assert_eq!(spec.file_bytes(), 3 * spec.dataset.bytes);
	spec.dataset.bytes = u64::MAX;
	assert_eq!(spec.file_bytes(), u64::MAX);
}

#[test]
fn an_initial_model_and_data_may_be_on_chain() {
	let mut spec = JobSpec::example();
	let location = Text::new(ON_CHAIN).unwrap();
	let file = FileRef { location: location.clone(), ..spec.dataset.file() };
	assert!(file.is_on_chain() && !file.is_valid());
	spec.initial_model = Some(beginning_with(file.clone()));
	assert!(spec.clone().check().is_ok());
	spec.initial_model = Some(beginning_with(FileRef { bytes: 0, ..file }));
	assert_eq!(spec.clone().check().unwrap_err(), SpecError::BadInitialModel);
	spec.initial_model = None;
	spec.dataset.location = location.clone();
	assert!(spec.clone().check().is_ok());
	spec.dataset.location = Text::new("chain").unwrap();
	assert_eq!(spec.clone().check().unwrap_err(), SpecError::BadLocation);
	spec.dataset.location = location;
	spec.dataset.format = DataFormat::Idx;
	spec.dataset.labels = Some(spec.dataset.file());
	assert!(spec.clone().check().is_ok());
	spec.dataset.labels = Some(FileRef { bytes: 0, ..spec.dataset.file() });
	assert_eq!(spec.check().unwrap_err(), SpecError::BadLabels);
}

#[test]
fn every_rule_is_enforced() {
	use SpecError::*;
	type Break = fn(&mut JobSpec);
	let cases: &[(SpecError, Break)] = &[
		(NoContentHash, |s| s.dataset.content_hash = H256::zero()),
		(EmptyDataset, |s| s.dataset.bytes = 0),
		(DatasetTooLarge, |s| s.dataset.bytes = MAX_DATASET_BYTES + 1),
		(BadLocation, |s| s.dataset.location = Text::new("ftp://x").unwrap()),
		(BadLocation, |s| s.dataset.location = Text::new("http://").unwrap()),
		(BadLabels, |s| s.dataset.labels = Some(s.dataset.file())),
		(BadLabels, |s| s.dataset.format = DataFormat::Idx),
		(BadLabels, |s| {
			s.dataset.format = DataFormat::Idx;
			s.dataset.labels = Some(FileRef { bytes: 0, ..s.dataset.file() });
		}),
		(BadInitialModel, |s| {
			let content_hash = H256::zero();
			s.initial_model = Some(beginning_with(FileRef { content_hash, ..s.dataset.file() }));
		}),
		(BadInitialModel, |s| {
			let bytes = MAX_DATASET_BYTES + 1;
			s.initial_model = Some(beginning_with(FileRef { bytes, ..s.dataset.file() }));
		}),
		(BadInitialModel, |s| {
			let location = Text::new("ftp://x").unwrap();
			s.initial_model = Some(beginning_with(FileRef { location, ..s.dataset.file() }));
		}),
		(NoInitialParameters, |s| {
			let (file, parameters) = (s.dataset.file(), H256::zero());
			s.initial_model = Some(InitialModel { file, parameters });
		}),
		(NoRowsRoot, |s| s.dataset.rows = H256::zero()),
		(BadSplit, |s| s.dataset.validation_every = 1),
		(RowsDisagree, |s| s.dataset.validation_rows = 360),
		(RowsDisagree, |s| s.dataset.train_rows = u32::MAX),
		(BadFeatures, |s| s.dataset.features = 0),
		(BadClasses, |s| s.dataset.classes = 1),
		(ZeroDivisor, |s| s.dataset.feature_divisor = 0),
		(BadHiddenWidth, |s| {
			hidden(s)[0] = 0;
		}),
		(ModelTooLarge, |s| {
			*hidden(s) = BoundedVec::truncate_from(vec![MAX_WIDTH; 14]);
		}),
		(BadSteps, |s| s.training.steps = 0),
		(BadBatchSize, |s| s.training.batch_size = 0),
		(BadBatchSize, |s| s.training.batch_size = 1_439),
		(BadCheckpointInterval, |s| s.training.checkpoint_interval = 0),
		(BadCheckpointInterval, |s| s.training.checkpoint_interval = 1_501),
		(TooManySegments, |s| {
			s.training.steps = MAX_STEPS;
			s.training.checkpoint_interval = 1;
		}),
		(BadLearningRate, |s| s.training.learning_rate_nano = 0),
		(BadWeightDecay, |s| s.training.weight_decay_nano = u64::MAX),
		(DecayOvershoots, |s| {
			// Parameters would grow by a twentieth in every step, whatever the data.
			s.training.learning_rate_nano = 2_050_000_000;
			s.training.weight_decay_nano = 1_000_000_000;
		}),
		(DecayOvershoots, |s| {
			s.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
			s.training.learning_rate_nano = 1_000_000_001;
			s.training.weight_decay_nano = 1_000_000_000;
		}),
		(BadWarmup, |s| s.training.warmup_steps = 1_500),
		(BadWarmup, |s| {
			s.training.warmup_steps = 10;
			s.training.learning_rate_nano = 9;
		}),
		(BadFinalRate, |s| {
			s.training.schedule = Schedule::Cosine { final_rate_nano: 2_000_001 };
		}),
		(BadClipNorm, |s| s.training.clip_norm_nano = MAX_NANO + 1),
		(BadInputNoise, |s| s.training.input_noise_nano = MAX_NANO + 1),
		(BadEarlyStop, |s| {
			s.training.early_stop = Some(EarlyStop { patience: 0, min_delta_nano: 0 });
		}),
		(BadEarlyStop, |s| {
			let min_delta_nano = MAX_NANO + 1;
			s.training.early_stop = Some(EarlyStop { patience: 1, min_delta_nano });
		}),
		(BadMomentum, |s| {
			s.training.optimizer = Optimizer::Sgd { momentum_nano: ONE_NANO, nesterov: false }
		}),
		(BadEpsilon, |s| {
			s.training.optimizer =
				Optimizer::AdamW { beta1_nano: 0, beta2_nano: 0, epsilon_nano: 0 }
		}),
	];
	for (error, break_it) in cases {
		let mut spec = JobSpec::example();
		break_it(&mut spec);
		assert_eq!(spec.clone().check(), Err(*error));
		assert!(!error.field().is_empty() && !error.to_string().is_empty());
	}
}

/// What a fine-tuning of the model in this file begins with.
fn beginning_with(file: FileRef) -> InitialModel {
	InitialModel { file, parameters: H256::repeat_byte(3) }
}

fn hidden(spec: &mut JobSpec) -> &mut BoundedVec<u32, ConstU32<MAX_HIDDEN_LAYERS>> {
	match &mut spec.model {
		Model::Mlp { hidden, .. } => hidden,
		other => panic!("{other:?}"),
	}
}

/// The example as an image of 8 x 8 through these layers.
fn of_layers(layers: Vec<Layer>) -> JobSpec {
	let input = Input::Image { channels: 1, height: 8, width: 8 };
	let model = Model::Layers { input, layers: layers.try_into().unwrap() };
	JobSpec { model, ..JobSpec::example() }
}

/// A transformer on text.
fn of_text() -> JobSpec {
	let mut spec = JobSpec::example();
	spec.dataset.format = DataFormat::Text;
	spec.dataset.feature_divisor = 1;
	spec.model =
		Model::Transformer { layers: 2, heads: 4, width: 16, mlp_factor: 4, dropout_nano: 1 };
	spec
}

const HEAD: Layer = Layer::Linear { outputs: 10 };

#[test]
fn every_rule_of_the_models_is_enforced() {
	use SpecError::*;
	let window = |kernel, stride, padding| {
		of_layers(vec![Layer::Conv2d { filters: 2, kernel, stride, padding }, HEAD])
	};
	let dropout = |rate_nano| of_layers(vec![Layer::Dropout { rate_nano }, HEAD]);
	let text = |change: fn(&mut JobSpec)| {
		let mut spec = of_text();
		change(&mut spec);
		spec
	};
	let transformer = |layers, heads, width, mlp_factor, dropout_nano| {
		let model = Model::Transformer { layers, heads, width, mlp_factor, dropout_nano };
		JobSpec { model, ..of_text() }
	};
	for good in [window(3, 1, 1), dropout(1), of_text(), of_layers(vec![HEAD])] {
		assert!(good.clone().check().is_ok());
	}
	let cnn = |channels| {
		let mut spec = JobSpec::example();
		spec.model = Model::Cnn {
			channels,
			height: 8,
			width: 8,
			layers: Default::default(),
			activation: Activation::Relu,
		};
		spec
	};
	assert!(cnn(1).check().is_ok());
	let relu = Layer::Activation { function: Activation::Relu };
	let mapping = |reflections, patch| Layer::Mapping { reflections, patch };
	for patch in [0, 2, 4, 8] {
		let spec = of_layers(vec![mapping(MAX_REFLECTIONS, patch), HEAD]).check().unwrap();
		let width = if patch == 0 { 64 } else { u64::from(patch * patch) };
		assert_eq!(spec.parameters(), 650 + u64::from(MAX_REFLECTIONS) * width);
	}
	let cases = [
		(BadImage, cnn(2)),
		(BadContext, text(|s| s.dataset.features = MAX_CONTEXT + 1)),
		(BadBlocks, transformer(0, 4, 16, 4, 0)),
		(BadBlocks, transformer(MAX_BLOCKS + 1, 4, 16, 4, 0)),
		(BadMlpFactor, transformer(1, 4, 16, 0, 0)),
		(BadMlpFactor, transformer(1, 4, 16, 17, 0)),
		(BadLayerWidth, transformer(1, 1, 0, 4, 0)),
		(BadLayerWidth, transformer(1, 1, 8_192, 16, 0)),
		(BadLayerWidth, of_layers(vec![Layer::Linear { outputs: 0 }, HEAD])),
		(BadLayerWidth, {
			let narrow = Layer::Linear { outputs: 1 };
			of_layers(vec![narrow, Layer::LayerNorm, HEAD])
		}),
		(BadLayerWidth, {
			let narrow = Layer::Linear { outputs: 1 };
			of_layers(vec![narrow, Layer::RmsNorm, HEAD])
		}),
		(BadHeads, transformer(1, 3, 16, 4, 0)),
		(BadHeads, transformer(1, 0, 16, 4, 0)),
		(BadDropout, transformer(1, 4, 16, 4, MAX_DROPOUT_NANO + 1)),
		(BadDropout, dropout(0)),
		(BadDropout, dropout(MAX_DROPOUT_NANO + 1)),
		(BadWindow, window(0, 1, 0)),
		(BadWindow, window(3, 0, 1)),
		(BadWindow, window(9, 1, 0)),
		(BadWindow, window(3, 1, 2)),
		(BadWindow, window(9, 1, 1)),
		(BadWindow, of_layers(vec![Layer::MaxPool2d { kernel: 9, stride: 1 }, HEAD])),
		(BadSkip, of_layers(vec![relu, Layer::Skip { back: 0 }, HEAD])),
		(BadSkip, of_layers(vec![relu, Layer::Skip { back: 2 }, HEAD])),
		(BadSkip, of_layers(vec![HEAD, Layer::Skip { back: 1 }])),
		(BadSkip, of_layers(vec![mapping(1, 0), Layer::Skip { back: 1 }, HEAD])),
		(BadMapping, of_layers(vec![mapping(0, 0), HEAD])),
		(BadMapping, of_layers(vec![mapping(MAX_REFLECTIONS + 1, 0), HEAD])),
		(BadMapping, of_layers(vec![mapping(1, 3), HEAD])),
		(BadMapping, of_layers(vec![mapping(1, 16), HEAD])),
		(BadMapping, of_layers(vec![mapping(1, u32::MAX), HEAD])),
		(BadMapping, of_layers(vec![mapping(1, 1), HEAD])),
		(BadMapping, of_layers(vec![relu, mapping(1, 0), HEAD])),
		(BadMapping, of_layers(vec![mapping(1, 0), mapping(1, 0), HEAD])),
		(BadMapping, {
			let layers = vec![mapping(1, 1), HEAD].try_into().unwrap();
			let model = Model::Layers { input: Input::Numbers, layers };
			JobSpec { model, ..JobSpec::example() }
		}),
		(BadMapping, {
			let embedding = Layer::Embedding { width: 4 };
			let layers = vec![mapping(1, 0), embedding, HEAD].try_into().unwrap();
			JobSpec { model: Model::Layers { input: Input::Tokens, layers }, ..of_text() }
		}),
		(MappedFineTuning, {
			let mut spec = of_layers(vec![mapping(1, 0), HEAD]);
			let file = spec.dataset.file();
			spec.initial_model = Some(InitialModel { file, parameters: H256::repeat_byte(3) });
			spec
		}),
		(NoParameters, {
			let mut spec = of_layers(vec![mapping(1, 0)]);
			spec.dataset.classes = 64;
			let layers = vec![mapping(1, 0)].try_into().unwrap();
			spec.model = Model::Layers { input: Input::Numbers, layers };
			spec
		}),
		(LayerMismatch, of_layers(vec![HEAD, Layer::MaxPool2d { kernel: 1, stride: 1 }])),
		(LayerMismatch, of_layers(vec![Layer::Embedding { width: 4 }, HEAD])),
		(LayerMismatch, of_layers(vec![Layer::Attention { heads: 1 }, HEAD])),
		(LayerMismatch, {
			let layers = vec![HEAD].try_into().unwrap();
			JobSpec { model: Model::Layers { input: Input::Tokens, layers }, ..of_text() }
		}),
		(
			LayerTooLarge,
			text(|s| {
				s.dataset.features = 1_024;
				s.model = Model::Layers {
					input: Input::Tokens,
					layers: vec![Layer::Embedding { width: MAX_WIDTH }, HEAD].try_into().unwrap(),
				};
			}),
		),
		(BadOutput, of_layers(vec![])),
		(BadOutput, of_layers(vec![Layer::Linear { outputs: 11 }])),
		(NoParameters, {
			let mut spec = of_layers(vec![relu]);
			spec.dataset.classes = 64;
			spec.model = match spec.model {
				Model::Layers { layers, .. } => Model::Layers { input: Input::Numbers, layers },
				other => other,
			};
			spec
		}),
		(
			TooManyPositions,
			text(|s| {
				s.dataset.train_rows = u32::MAX / 2 + 1;
				s.dataset.validation_rows = u32::MAX / 2;
				s.dataset.validation_every = 2;
			}),
		),
		(TooManyPositions, {
			let mut spec = of_layers(vec![mapping(1, 4), HEAD]);
			let dataset = &mut spec.dataset;
			(dataset.train_rows, dataset.validation_rows) = (u32::MAX / 2 + 1, u32::MAX / 2);
			dataset.validation_every = 2;
			spec
		}),
		(TokensDisagree, JobSpec { model: of_text().model, ..JobSpec::example() }),
		(TokensDisagree, JobSpec { model: JobSpec::example().model, ..of_text() }),
		(TokensDisagree, text(|s| s.dataset.feature_divisor = 2)),
		(TokensDisagree, text(|s| s.dataset.normalization = Normalization::Standard)),
		(BadInputNoise, text(|s| s.training.input_noise_nano = 1)),
	];
	for (error, spec) in cases {
		assert_eq!(spec.clone().check(), Err(error), "{:?}", spec.model);
		assert!(!error.field().is_empty() && !error.to_string().is_empty());
	}
}

#[test]
fn models_are_written_out() {
	let spec = of_text();
	let layers = spec.model.layers(&spec.dataset);
	let dropout = Layer::Dropout { rate_nano: 1 };
	assert_eq!(layers.len(), 2 + 2 * 10 + 2);
	assert_eq!(layers[..2], [Layer::Embedding { width: 16 }, dropout]);
	let block = [
		Layer::LayerNorm,
		Layer::Attention { heads: 4 },
		dropout,
		Layer::Skip { back: 3 },
		Layer::LayerNorm,
		Layer::Linear { outputs: 64 },
		Layer::Activation { function: Activation::Gelu },
		Layer::Linear { outputs: 16 },
		dropout,
		Layer::Skip { back: 5 },
	];
	assert_eq!(layers[2..12], block);
	assert_eq!(layers[12..22], block);
	assert_eq!(layers[22..], [Layer::LayerNorm, HEAD]);
	assert_eq!(spec.labels_per_row(), 64);
	let tables = (10 + 64) * 16;
	let one = 2 * 2 * 16 + 4 * 17 * 16 + 17 * 64 + 65 * 16;
	assert_eq!(spec.check().unwrap().parameters(), tables + 2 * one + 2 * 16 + 17 * 10);
	let spec = JobSpec::example();
	assert_eq!(spec.labels_per_row(), 1);
	let function = Activation::Relu;
	let (relu, linear) = (Layer::Activation { function }, |outputs| Layer::Linear { outputs });
	let expected = [linear(64), relu, linear(32), relu, linear(10)];
	assert_eq!(spec.model.layers(&spec.dataset), expected);
}

/// Frozen: clients and stored jobs depend on these bytes.
#[test]
fn layout() {
	let mut cnn = JobSpec::example();
	cnn.model = Model::Cnn {
		channels: 1,
		height: 8,
		width: 8,
		layers: vec![
			CnnLayer::Conv { filters: 8, kernel: 3, stride: 1, padding: 1 },
			CnnLayer::MaxPool { kernel: 2, stride: 2 },
			CnnLayer::AvgPool { kernel: 2, stride: 2 },
			CnnLayer::Dropout { rate_nano: 500_000_000 },
			CnnLayer::Linear { outputs: 32 },
		]
		.try_into()
		.unwrap(),
		activation: Activation::Silu,
	};
	cnn.training.optimizer = Optimizer::Adam { beta1_nano: 1, beta2_nano: 2, epsilon_nano: 3 };
	assert!(cnn.clone().check().is_ok());
	let mut tuned = JobSpec::example();
	tuned.initial_model = Some(beginning_with(FileRef {
		content_hash: H256::repeat_byte(2),
		bytes: 26_664,
		location: Text::new("http://127.0.0.1:8600/model.safetensors").unwrap(),
	}));
	assert!(tuned.clone().check().is_ok());
	let mut files = JobSpec::example();
	let file = |byte| FileRef { content_hash: H256::repeat_byte(byte), ..files.dataset.file() };
	let (labels, initial) = (file(2), beginning_with(file(3)));
	(files.dataset.labels, files.initial_model) = (Some(labels), Some(initial));
	files.dataset.format = DataFormat::Idx;
	files.dataset.normalization = Normalization::Standard;
	assert!(files.clone().check().is_ok());
	let rms = of_layers(vec![Layer::Linear { outputs: 24 }, Layer::RmsNorm, HEAD]);
	let mapped = of_layers(vec![Layer::Mapping { reflections: 4, patch: 2 }, HEAD]);
	assert!(rms.clone().check().is_ok());
	assert!(mapped.clone().check().is_ok());
	let all = [JobSpec::example(), of_everything(), cnn, of_text(), tuned, files, rms, mapped];
	let found = all.map(|spec| {
		let bytes = spec.encode();
		assert_eq!(JobSpec::decode(&mut &bytes[..]), Ok(spec));
		format!("{} {}", bytes.len(), hex::encode(sp_crypto_hashing::blake2_256(&bytes)))
	});
	let frozen = [
		"220 3307c6a7d3036abc4f9007e60d5a96abb03e3b11d575baf0a5f3699745fdd015",
		"299 8b15af5088514e90b0ba70041ff4f15340577923d5bd04c3a2bb34c179eee467",
		"273 7b1953cf27cf32831cfcec96cfb01d1f841837c447d86c1f042a5da638e90e6a",
		"234 acc81acbe8cd869bd9622664d71cc0f13848877707ba78689d3973360884a3f3",
		"332 9d1d9aea0ea99ee3f07995026be0de2c28982b8f6e9a5734eae1d2bb5e972f5b",
		"398 14b2c6da5d9a46ec0378e0a6ebff37f34d576688388105de90973cc6f7b138f7",
		"235 0f381c41e2876462f148c1698938641756ef1b8c667c17929424a5abd4b17e80",
		"238 bd7bb6769f464074aab680fe52b117ec8e4a21eb019144bb927eeb989552ee0c",
	];
	assert_eq!(found, frozen);
}

/// A device that could not sum a row could not replay the job, and its verifier would be fined.
#[test]
fn a_norm_is_over_no_more_numbers_than_every_device_takes() {
	for norm in [Layer::LayerNorm, Layer::RmsNorm] {
		// Over filters x 8 x 8 numbers.
		let over = |filters| {
			let images = Layer::Conv2d { filters, kernel: 3, stride: 1, padding: 1 };
			of_layers(vec![images, norm, HEAD]).check().map(|_| ())
		};
		assert_eq!(over(MAX_NORM_WIDTH / 64), Ok(()));
		assert_eq!(over(MAX_NORM_WIDTH / 64 + 1), Err(SpecError::BadLayerWidth));
	}
}

/// A specification with every layer and every option of the training.
fn of_everything() -> JobSpec {
	let mut spec = of_layers(vec![
		Layer::Conv2d { filters: 4, kernel: 3, stride: 1, padding: 1 },
		Layer::Activation { function: Activation::Relu },
		Layer::Skip { back: 1 },
		Layer::MaxPool2d { kernel: 2, stride: 2 },
		Layer::AvgPool2d { kernel: 2, stride: 2 },
		Layer::LayerNorm,
		Layer::Dropout { rate_nano: 100_000_000 },
		Layer::Linear { outputs: 12 },
		Layer::Activation { function: Activation::Gelu },
		Layer::Activation { function: Activation::Silu },
		Layer::Activation { function: Activation::Tanh },
		Layer::Activation { function: Activation::Sigmoid },
		HEAD,
	]);
	let t = &mut spec.training;
	t.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: true };
	t.loss = Loss::MeanSquaredError;
	t.schedule = Schedule::Cosine { final_rate_nano: 20_000 };
	t.warmup_steps = 100;
	t.clip_norm_nano = 1_000_000_000;
	t.input_noise_nano = 10_000_000;
	t.early_stop = Some(EarlyStop { patience: 3, min_delta_nano: 1_000_000 });
	assert!(spec.clone().check().is_ok());
	spec
}

/// A job that was written before newer fields existed keeps its meaning.
#[test]
fn new_fields_have_defaults() {
	let training = &JobSpec::example().training;
	let text = r#"{
		"steps": 1500, "batch_size": 32, "checkpoint_interval": 50,
		"optimizer": {"adamw": {
			"beta1_nano": 900000000, "beta2_nano": 999000000, "epsilon_nano": 10
		}},
		"learning_rate_nano": 2000000, "weight_decay_nano": 0
	}"#;
	assert_eq!(&serde_json::from_str::<Training>(text).unwrap(), training);
	let sgd = r#"{"sgd": {"momentum_nano": 5}}"#;
	let expected = Optimizer::Sgd { momentum_nano: 5, nesterov: false };
	assert_eq!(serde_json::from_str::<Optimizer>(sgd).unwrap(), expected);
}

/// Frozen: clients know errors by these numbers, so new ones are appended.
#[test]
fn errors_keep_their_numbers() {
	for (error, number) in [
		(SpecError::NoContentHash, 0),
		(SpecError::WorkOverflow, 18),
		(SpecError::DatasetTooLarge, 19),
		(SpecError::BadEarlyStop, 39),
		(SpecError::BadInitialModel, 41),
		(SpecError::DecayOvershoots, 42),
		(SpecError::BadMapping, 45),
		(SpecError::MappedFineTuning, 46),
	] {
		assert_eq!(error.encode(), [number]);
	}
}
