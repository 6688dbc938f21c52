//! Which work is credited as power.

use super::{
	Activation, CnnLayer, DataFormat, InitialModel, Input, JobSpec, Layer, Model, NoPower,
	Optimizer, Schedule, MAX_NANO, ONE_NANO,
};
use crate::H256;
use alloc::{vec, vec::Vec};

type Change = fn(&mut JobSpec);

/// The digits as a convolutional network.
fn cnn(layers: &[CnnLayer]) -> Model {
	Model::Cnn {
		channels: 1,
		height: 8,
		width: 8,
		layers: layers.to_vec().try_into().unwrap(),
		activation: Activation::Relu,
	}
}

/// Text, with this share of elements dropped.
fn text(dropout_nano: u64) -> JobSpec {
	let mut spec = JobSpec::example();
	spec.dataset.format = DataFormat::Text;
	spec.dataset.feature_divisor = 1;
	spec.training.clip_norm_nano = ONE_NANO;
	let (layers, heads, width, mlp_factor) = (1, 2, 16, 4);
	spec.model = Model::Transformer { layers, heads, width, mlp_factor, dropout_nano };
	assert!(spec.clone().check().is_ok());
	spec
}

/// The example with one change, and why that earns no power. All of them are valid jobs.
#[track_caller]
fn assert_each(cases: &[(Option<NoPower>, Change)]) {
	for (index, (expected, change)) in cases.iter().enumerate() {
		let mut spec = JobSpec::noisy_example();
		change(&mut spec);
		assert!(spec.clone().check().is_ok(), "case {index}");
		assert_eq!(spec.no_power(), *expected, "case {index}");
		assert_eq!(spec.mints_power(), expected.is_none(), "case {index}");
	}
}

#[test]
fn a_fine_tuning_is_the_same_work_and_mints_no_power() {
	let spec = JobSpec::noisy_example();
	let model = InitialModel { file: spec.dataset.file(), parameters: H256::repeat_byte(3) };
	let tuned = JobSpec { initial_model: Some(model), ..spec.clone() };
	assert!(spec.mints_power());
	assert_eq!(tuned.no_power(), Some(NoPower::FineTuning));
	let [tuned, spec] = [tuned, spec].map(|spec| spec.check().unwrap());
	assert_eq!(crate::work::flop(&tuned), crate::work::flop(&spec));
}

#[test]
fn inputs_that_repeat_mint_no_power() {
	use NoPower::SameInputs;
	assert_each(&[
		(None, |_| ()),
		(Some(SameInputs), |s| s.training.input_noise_nano = 0),
		(Some(SameInputs), |s| s.training.input_noise_nano = 999_999),
		(None, |s| s.training.input_noise_nano = 1_000_000),
		(None, |s| s.training.input_noise_nano = ONE_NANO),
		(Some(SameInputs), |s| s.training.input_noise_nano = ONE_NANO + 1),
		// One batch that repeats: only the noise distinguishes its epochs.
		(None, |s| s.training.batch_size = s.dataset.train_rows),
		(Some(SameInputs), |s| {
			s.training.batch_size = s.dataset.train_rows;
			s.training.input_noise_nano = 0;
		}),
	]);
}

#[test]
fn tokens_need_a_dropout_after_their_embedding() {
	assert_eq!(text(0).no_power(), Some(NoPower::SameInputs));
	assert_eq!(text(9_999_999).no_power(), Some(NoPower::SameInputs));
	assert_eq!(text(10_000_000).no_power(), None);
	let mut spec = text(0);
	let dropout = Layer::Dropout { rate_nano: 100_000_000 };
	let (embedding, head) = (Layer::Embedding { width: 16 }, Layer::Linear { outputs: 10 });
	for (layers, expected) in [
		(vec![embedding, dropout, head], None),
		(vec![embedding, Layer::Linear { outputs: 16 }, dropout, head], Some(NoPower::SameInputs)),
		(vec![embedding, head], Some(NoPower::SameInputs)),
	] {
		spec.model = Model::Layers { input: Input::Tokens, layers: layers.try_into().unwrap() };
		assert!(spec.clone().check().is_ok());
		assert_eq!(spec.no_power(), expected);
	}
}

#[test]
fn steps_that_change_nothing_mint_no_power() {
	use NoPower::Standstill;
	// A learning rate of zero is no valid job at all.
	let mut still = JobSpec::noisy_example();
	still.training.learning_rate_nano = 0;
	assert_eq!(still.clone().check(), Err(super::SpecError::BadLearningRate));
	assert_eq!(still.no_power(), Some(Standstill));
	assert_each(&[
		(Some(Standstill), |s| s.training.learning_rate_nano = 1),
		(Some(Standstill), |s| s.training.learning_rate_nano = 999),
		(None, |s| s.training.learning_rate_nano = 1_000),
		(None, |s| s.training.warmup_steps = 750),
		(Some(Standstill), |s| s.training.warmup_steps = 751),
		(Some(Standstill), |s| s.training.clip_norm_nano = 1),
		(Some(Standstill), |s| s.training.clip_norm_nano = 999_999),
		(None, |s| s.training.clip_norm_nano = 1_000_000),
		(None, |s| s.training.schedule = Schedule::Cosine { final_rate_nano: 0 }),
		(Some(Standstill), |s| {
			let (beta1_nano, beta2_nano) = (0, 0);
			s.training.optimizer =
				Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano: 1_000_001 };
		}),
		(Some(Standstill), |s| {
			let (beta1_nano, beta2_nano) = (900_000_000, 999_000_000);
			s.training.optimizer =
				Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano: MAX_NANO };
		}),
	]);
}

#[test]
fn steps_that_kill_units_mint_no_power() {
	use NoPower::TooLargeSteps;
	fn sgd(s: &mut JobSpec) {
		s.training.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false };
		s.training.clip_norm_nano = ONE_NANO / 10;
	}
	assert_each(&[
		(Some(NoPower::LongSteps), |s| s.training.learning_rate_nano = ONE_NANO / 10),
		(Some(TooLargeSteps), |s| s.training.learning_rate_nano = ONE_NANO / 10 + 1),
		(Some(TooLargeSteps), |s| s.training.learning_rate_nano = MAX_NANO),
		(None, |s| {
			sgd(s);
			s.training.learning_rate_nano = ONE_NANO;
		}),
		(Some(TooLargeSteps), |s| {
			sgd(s);
			s.training.learning_rate_nano = ONE_NANO + 1;
		}),
		(None, |s| s.training.weight_decay_nano = ONE_NANO),
		(Some(TooLargeSteps), |s| s.training.weight_decay_nano = ONE_NANO + 1),
		// Together they would take more than a tenth of every parameter in each step.
		(None, |s| {
			sgd(s);
			s.training.learning_rate_nano = ONE_NANO / 2;
			s.training.weight_decay_nano = ONE_NANO / 5;
		}),
		(Some(TooLargeSteps), |s| {
			sgd(s);
			s.training.learning_rate_nano = ONE_NANO / 2;
			s.training.weight_decay_nano = ONE_NANO / 5 + 1;
		}),
	]);
}

#[test]
fn states_without_bounds_mint_no_power() {
	use NoPower::{BetasDisagree, DecayPastClipping, LongSteps, Unclipped};
	fn adamw(s: &mut JobSpec, beta1_nano: u64, beta2_nano: u64) {
		s.training.optimizer = Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano: 10 };
	}
	fn adam(s: &mut JobSpec, weight_decay_nano: u64) {
		let (beta1_nano, beta2_nano) = (900_000_000, 999_000_000);
		s.training.optimizer = Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano: 10 };
		s.training.weight_decay_nano = weight_decay_nano;
	}
	fn sgd(s: &mut JobSpec, rate: u64, clip: u64) {
		s.training.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false };
		(s.training.learning_rate_nano, s.training.clip_norm_nano) = (rate, clip);
	}
	assert_each(&[
		(Some(Unclipped), |s| s.training.clip_norm_nano = 0),
		(None, |s| s.training.clip_norm_nano = 10 * ONE_NANO),
		(Some(Unclipped), |s| s.training.clip_norm_nano = 10 * ONE_NANO + 1),
		(None, |s| adam(s, 0)),
		(Some(DecayPastClipping), |s| adam(s, 1)),
		(None, |s| s.training.weight_decay_nano = 1),
		(Some(BetasDisagree), |s| adamw(s, 900_000_000, 810_000_000)),
		(Some(BetasDisagree), |s| adamw(s, 900_000_000, 800_000_000)),
		// K is 7.2703 for the betas of the example.
		(None, |s| s.training.learning_rate_nano = 13_754_600),
		(Some(LongSteps), |s| s.training.learning_rate_nano = 13_754_610),
		// It is 5,774 for these.
		(Some(LongSteps), |s| adamw(s, 0, 999_999_970)),
		(Some(LongSteps), |s| adamw(s, 900_000_000, 810_000_001)),
		(None, |s| sgd(s, 50_000_000, 2 * ONE_NANO)),
		(Some(LongSteps), |s| sgd(s, 50_000_000, 2 * ONE_NANO + 1)),
		(Some(LongSteps), |s| sgd(s, ONE_NANO, ONE_NANO)),
	]);
	// A trial of drilling is computed again from its initial state on.
	let mut trial = JobSpec::noisy_example();
	trial.training.clip_norm_nano = 0;
	assert_eq!((trial.no_power_in_one_go(), trial.no_power()), (None, Some(Unclipped)));
}

#[test]
fn work_without_effect_mints_no_power() {
	use NoPower::Unused;
	const CONV: CnnLayer = CnnLayer::Conv { filters: 8, kernel: 3, stride: 1, padding: 1 };
	assert_each(&[
		(None, |s| s.model = cnn(&[CONV, CnnLayer::MaxPool { kernel: 2, stride: 2 }])),
		(Some(Unused), |s| s.model = cnn(&[CONV, CnnLayer::MaxPool { kernel: 1, stride: 7 }])),
		(Some(Unused), |s| s.model = cnn(&[CONV, CnnLayer::AvgPool { kernel: 2, stride: 3 }])),
		(Some(Unused), |s| {
			s.model = cnn(&[CONV, CnnLayer::Conv { filters: 8, kernel: 1, stride: 2, padding: 0 }])
		}),
		(None, |s| s.model = cnn(&[CONV, CnnLayer::Dropout { rate_nano: 500_000_000 }])),
		(Some(Unused), |s| s.model = cnn(&[CONV, CnnLayer::Dropout { rate_nano: 500_000_001 }])),
	]);
}

#[test]
fn a_bottleneck_mints_no_power() {
	use NoPower::TooNarrow;
	fn mlp(s: &mut JobSpec, hidden: &[u32]) {
		let hidden = hidden.to_vec().try_into().unwrap();
		s.model = Model::Mlp { hidden, activation: Activation::Relu };
	}
	assert_each(&[
		(None, |s| mlp(s, &[])),
		(None, |s| mlp(s, &[1_024, 4])),
		(Some(TooNarrow), |s| mlp(s, &[1_024, 3])),
		// A layer of one ReLU unit after another such layer is dead with probability one half, for
		// good.
		(Some(TooNarrow), |s| mlp(s, &[1_024, 1_024, 1, 1])),
		(Some(TooNarrow), |s| {
			s.model = cnn(&[CnnLayer::Conv { filters: 3, kernel: 3, stride: 1, padding: 1 }])
		}),
	]);
	// The classes themselves may be two.
	let mut spec = JobSpec::noisy_example();
	spec.dataset.classes = 2;
	assert_eq!(spec.no_power(), None);
}

/// A mapping counts more than the best program needs, so it must be a small part of the work.
#[test]
fn a_mapping_that_is_much_of_the_work_mints_no_power() {
	use NoPower::MostlyMapping;
	fn mapped(s: &mut JobSpec, reflections: u32, patch: u32, next: Layer) {
		let (mapping, head) =
			(Layer::Mapping { reflections, patch }, Layer::Linear { outputs: 10 });
		let layers = vec![mapping, next, head].try_into().unwrap();
		let input = Input::Image { channels: 1, height: 8, width: 8 };
		s.model = Model::Layers { input, layers };
	}
	fn conv(filters: u32, stride: u32) -> Layer {
		Layer::Conv2d { filters, kernel: 2, stride, padding: 0 }
	}
	assert_each(&[
		(None, |s| mapped(s, 2, 0, Layer::Linear { outputs: 16 })),
		(Some(MostlyMapping), |s| mapped(s, 2, 0, Layer::Linear { outputs: 15 })),
		(None, |s| mapped(s, 1, 2, conv(8, 1))),
		(Some(MostlyMapping), |s| mapped(s, 1, 2, conv(7, 1))),
		(Some(MostlyMapping), |s| mapped(s, 1, 2, conv(8, 2))),
		(Some(MostlyMapping), |s| mapped(s, 1, 2, Layer::AvgPool2d { kernel: 2, stride: 1 })),
		// It does not make inputs fresh: it is the same in every epoch.
		(Some(NoPower::SameInputs), |s| {
			mapped(s, 2, 0, Layer::Linear { outputs: 16 });
			s.training.input_noise_nano = 0;
		}),
	]);
}

/// Why a bottleneck of two single ReLU units is refused: where the second has a negative
/// weight it never fires, and every gradient before it is zero, whatever the inputs are. A
/// step of such a model changes nothing but the last bias, and needs none of its products.
#[test]
fn a_dead_bottleneck_makes_all_work_before_it_free() {
	use crate::{
		init, lower,
		reference::{run_at, State, StepContext},
		H256,
	};
	let mut spec = JobSpec::noisy_example();
	let hidden = vec![64, 1, 1].try_into().unwrap();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
	let spec = spec.check().unwrap();
	let program = lower::training_step(&spec);
	let seed = H256::repeat_byte(7);
	let mut state: State = lower::state(&spec)
		.iter()
		.map(|tensor| (tensor.name.clone(), init::initial(&seed, tensor)))
		.collect();
	state.insert("layers.2.weight".into(), vec![-0.5]);
	let rows = spec.training.batch_size;
	let x: Vec<f32> = (0..rows * 64).map(|i| (i % 17) as f32 / 16.0).collect();
	let y: Vec<u32> = (0..rows).map(|i| i % 10).collect();
	let before = state.clone();
	for step in 0..3 {
		run_at(&program, &x, &y, &state, StepContext { seed, step })
			.unwrap()
			.advance(&program, &mut state);
	}
	let moved: Vec<&String> =
		before.iter().filter(|(name, old)| state[*name] != **old).map(|(name, _)| name).collect();
	assert!(!moved.is_empty());
	assert!(moved.iter().all(|name| name.contains("layers.3.bias")), "{moved:?}");
}
