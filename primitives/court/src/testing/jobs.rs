//! Small jobs.

use super::run::Job;
use trainyard_program::spec::{
	Activation, CnnLayer, EarlyStop, JobSpec, Loss, Model, Optimizer, ONE_NANO,
};

/// An MLP of 6-5-3 with 3 segments of 2 steps.
pub fn spec() -> JobSpec {
	let mut spec = JobSpec::example();
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (40, 10);
	(spec.dataset.features, spec.dataset.classes) = (6, 3);
	let hidden = vec![5].try_into().unwrap();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	(spec.training.batch_size, spec.training.steps) = (4, 6);
	spec.training.checkpoint_interval = 2;
	spec
}

pub fn small() -> Job {
	Job::new(spec())
}

/// A convolutional network.
pub fn cnn() -> Job {
	let mut spec = spec();
	spec.dataset.features = 18;
	spec.model = Model::Cnn {
		channels: 2,
		height: 3,
		width: 3,
		layers: vec![
			CnnLayer::Conv { filters: 2, kernel: 2, stride: 1, padding: 0 },
			CnnLayer::MaxPool { kernel: 2, stride: 1 },
		]
		.try_into()
		.unwrap(),
		activation: Activation::Tanh,
	};
	Job::new(spec)
}

/// One segment of 70 steps: milestones in two levels.
pub fn steps() -> Job {
	let mut spec = spec();
	(spec.training.steps, spec.training.checkpoint_interval) = (70, 70);
	Job::new(spec)
}

/// Evaluations of three slices.
pub fn slices() -> Job {
	let mut spec = spec();
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (8_400, 2_100);
	spec.dataset.features = 2;
	spec.model = Model::Mlp { hidden: Default::default(), activation: Activation::Relu };
	(spec.training.steps, spec.training.checkpoint_interval) = (1, 1);
	Job::new(spec)
}

/// Evaluations whose mean is taken in several stretches.
pub fn means() -> Job {
	let mut spec = slices().spec().spec().clone();
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (104_000, 26_000);
	(spec.dataset.features, spec.dataset.classes) = (1, 2);
	Job::new(spec)
}

/// Contents of two levels, and chains of several stretches.
pub fn broad() -> Job {
	let mut spec = spec();
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (240, 60);
	spec.dataset.features = 144;
	let hidden = vec![130].try_into().unwrap();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
	spec.training.batch_size = 220;
	(spec.training.steps, spec.training.checkpoint_interval) = (1, 1);
	Job::new(spec)
}

/// A training that makes too little progress, and stops after 140 of 150 segments.
pub fn stops() -> Job {
	let mut spec = spec();
	spec.dataset.features = 1;
	spec.model = Model::Mlp { hidden: Default::default(), activation: Activation::Relu };
	spec.training.batch_size = 1;
	(spec.training.steps, spec.training.checkpoint_interval) = (150, 1);
	spec.training.early_stop = Some(EarlyStop { patience: 140, min_delta_nano: 100 * ONE_NANO });
	Job::new(spec)
}

/// The same, of 3 segments, with 2.
pub fn stops_soon() -> Job {
	let mut spec = spec();
	spec.training.early_stop = Some(EarlyStop { patience: 2, min_delta_nano: 100 * ONE_NANO });
	Job::new(spec)
}

fn linear(interval: u32) -> JobSpec {
	let mut spec = spec();
	spec.dataset.features = 2;
	spec.model = Model::Mlp { hidden: Default::default(), activation: Activation::Relu };
	spec.training.optimizer = Optimizer::Sgd { momentum_nano: 0, nesterov: false };
	spec.training.learning_rate_nano = 1_000 * ONE_NANO;
	spec.training.checkpoint_interval = interval;
	spec
}

/// The loss of a step in the middle of a segment is not finite.
pub fn diverges_in_a_loss() -> Job {
	let inputs = |validates: bool, at: u64| match validates {
		true => 0.0,
		false => 1e35 * (1 + at % 3) as f32,
	};
	Job::new(linear(4)).with_inputs(inputs)
}

/// A tensor of the state is NaN after a step whose loss is finite.
pub fn diverges_in_a_state() -> Job {
	let mut spec = linear(4);
	spec.training.loss = Loss::MeanSquaredError;
	spec.training.clip_norm_nano = ONE_NANO;
	spec.model = Model::Mlp { hidden: vec![2].try_into().unwrap(), activation: Activation::Relu };
	let parameter = |name: &str, _| match name {
		"layers.0.bias" => 1.0,
		"layers.1.weight" => 1e10,
		_ => 0.0,
	};
	Job::new(spec).with_inputs(|validates, _| if validates { 0.0 } else { 1e20 }).tuned(parameter)
}

/// The state is infinite at the end of a segment, after a step whose numbers are not NaN.
pub fn diverges_at_an_end() -> Job {
	let inputs = |validates: bool, at: u64| match validates {
		true => 0.0,
		false => 3e37 * (1 + at % 3) as f32,
	};
	Job::new(linear(1)).with_inputs(inputs).tuned(|_, _| 0.0)
}

/// The loss of the evaluation at the end of a segment is not finite, and the state is.
pub fn diverges_in_an_evaluation() -> Job {
	let inputs = |validates: bool, at: u64| match validates {
		true => 1e37 * (1 + at % 3) as f32,
		false => (at % 5) as f32,
	};
	Job::new(linear(2)).with_inputs(inputs).tuned(|_, element| element as f32 / 64.0)
}

/// The initial state has no finite loss.
pub fn diverges_before_it_begins() -> Job {
	let parameter = |_: &str, at| [1e30, -1e30, 3e30][at as usize % 3];
	Job::new(linear(2)).with_inputs(|_, at| 1e30 * (at % 7) as f32).tuned(parameter)
}

/// A fine-tuning.
pub fn tuned() -> Job {
	small().tuned(|_, at| (at % 7) as f32 / 4.0 - 0.6)
}
