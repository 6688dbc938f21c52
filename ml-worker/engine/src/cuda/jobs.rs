//! Compares a training step and an evaluation of three small jobs on a device with the scalar
//! reference, bit for bit.
//!
//! The functions of [`check`](super::check) are computed alone there; here every kind of layer, the
//! sums, the products and the update are computed as a training computes them. A device that
//! disagrees is refused before a result depends on it.

use super::{Accelerator, DeviceError};
use crate::{host, Data, Engine, EngineError, State, Table, Target};
use std::sync::Arc;
use trainyard_program::{
	ops::Role,
	reference::{self, StepContext},
	spec::{
		Activation, CheckedSpec, CnnLayer, DataFormat, JobSpec, Loss, Model, Optimizer, Schedule,
	},
	H256,
};
use trainyard_strict::philox;

/// Seed of the jobs.
const SEED: H256 = H256([42; 32]);
/// The step that is compared: the rate still grows, and dropout and noise are drawn.
const STEP: u32 = 2;
/// Rows that train and that validate.
const ROWS: [usize; 2] = [48, 12];
/// Classes of the jobs; of text, the vocabulary.
const CLASSES: u32 = 5;

/// Compares the jobs in turn. The first difference is the error.
pub fn check(device: &Arc<dyn Accelerator>) -> Result<(), DeviceError> {
	for (name, spec, data) in [mlp(), cnn(), transformer()] {
		let differs = |what: String| DeviceError::Differs(format!("{name}: {what}"));
		let spec = spec.check().map_err(|e| differs(e.to_string()))?;
		compare(device, &spec, data).map_err(|difference| match difference {
			Difference::Device(error) => error,
			Difference::Found(what) => differs(what),
		})?;
	}
	Ok(())
}

/// Says why a job was not computed as the reference does.
enum Difference {
	/// The device failed.
	Device(DeviceError),
	/// A value differs, or there is none.
	Found(String),
}

impl From<EngineError> for Difference {
	fn from(error: EngineError) -> Self {
		match error {
			EngineError::Device(error) => Self::Device(error),
			other => Self::Found(other.to_string()),
		}
	}
}

impl From<reference::ExecError> for Difference {
	fn from(error: reference::ExecError) -> Self {
		Self::Found(error.to_string())
	}
}

fn compare(
	device: &Arc<dyn Accelerator>,
	spec: &CheckedSpec,
	data: Arc<Data>,
) -> Result<(), Difference> {
	let engine = Engine::on(spec, SEED, data, Target::Cuda(device.clone()))?;
	let mut state = Engine::initial_state(spec, &SEED, None)?;
	let mut expected = numbers(&state)?;

	let (x, y) = engine.batch_values(STEP)?;
	let program = engine.step.program();
	let moment = StepContext { seed: SEED, step: STEP };
	let values = reference::run_at(program, &x, &y, &expected, moment)?;
	let (trace, logits) = engine.step_on(device, &mut state, STEP)?;
	same("the loss of a step", values.role(program, Role::Loss), &[trace.loss])?;
	same("the logits of a step", values.role(program, Role::Logits), &logits)?;
	values.advance(program, &mut expected);
	let found = numbers(&state)?;
	for (tensor, expected) in &expected {
		let found = found.get(tensor).map_or(&[][..], Vec::as_slice);
		same(&format!("{tensor} after a step"), expected, found)?;
	}

	let (found, losses) = engine.evaluate_on(device, &state)?;
	let (mut expected_losses, mut correct) = (Vec::new(), 0);
	for (rows, plan) in &engine.evaluation {
		let (x, y) = engine.validation_values(rows.clone())?;
		let values = reference::run(plan.program(), &x, &y, &expected)?;
		expected_losses.extend_from_slice(values.role(plan.program(), Role::RowLosses));
		let hits = values.role(plan.program(), Role::Correct);
		correct += hits.iter().filter(|hit| **hit == 1.0).count() as u32;
	}
	same("the losses of an evaluation", &expected_losses, &losses)?;
	match found.evaluation.correct == correct {
		true => Ok(()),
		false => Err(Difference::Found(format!(
			"an evaluation has {} correct labels there, and must have {correct}",
			found.evaluation.correct
		))),
	}
}

/// Fails with the first place at which bits differ.
fn same(what: &str, expected: &[f32], found: &[f32]) -> Result<(), Difference> {
	if expected.len() != found.len() {
		return Err(Difference::Found(format!(
			"{what}: there are {} numbers, and must be {}",
			found.len(),
			expected.len()
		)));
	}
	let pairs = expected.iter().zip(found).enumerate();
	match pairs.into_iter().find(|(_, (x, y))| x.to_bits() != y.to_bits()) {
		None => Ok(()),
		Some((at, (expected, found))) => Err(Difference::Found(format!(
			"number {at} (from 0) of {what} is {found:e} ({:#010x}) there, and must be {expected:e} \
			 ({:#010x})",
			found.to_bits(),
			expected.to_bits()
		))),
	}
}

fn numbers(state: &State) -> Result<reference::State, EngineError> {
	let tensors: host::TensorMap = state.to_host()?;
	Ok(tensors.into_iter().map(|(name, tensor)| (name, tensor.data)).collect())
}

/// A job's name, specification and data.
type Job = (&'static str, JobSpec, Arc<Data>);

/// A job with every option that all models have, whose rows have that many features.
fn options(features: u32) -> JobSpec {
	let mut spec = JobSpec::example();
	(spec.dataset.features, spec.dataset.classes) = (features, CLASSES);
	[spec.dataset.train_rows, spec.dataset.validation_rows] = ROWS.map(|rows| rows as u32);
	let t = &mut spec.training;
	(t.steps, t.batch_size, t.checkpoint_interval) = (12, 24, 6);
	(t.learning_rate_nano, t.weight_decay_nano) = (20_000_000, 10_000_000);
	t.optimizer =
		Optimizer::AdamW { beta1_nano: 900_000_000, beta2_nano: 999_000_000, epsilon_nano: 10 };
	t.schedule = Schedule::Cosine { final_rate_nano: 1_000 };
	t.warmup_steps = 4;
	t.clip_norm_nano = 100_000_000;
	t.input_noise_nano = 10_000_000;
	spec
}

fn mlp() -> Job {
	let mut spec = options(33);
	let hidden = vec![70, 40].try_into().unwrap_or_default();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	spec.training.loss = Loss::MeanSquaredError;
	spec.training.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: true };
	("a multi-layer perceptron", spec, rows(33))
}

fn cnn() -> Job {
	let mut spec = options(2 * 10 * 9);
	let layers = vec![
		CnnLayer::Conv { filters: 5, kernel: 3, stride: 1, padding: 1 },
		CnnLayer::MaxPool { kernel: 2, stride: 2 },
		CnnLayer::Conv { filters: 4, kernel: 2, stride: 1, padding: 0 },
		CnnLayer::AvgPool { kernel: 2, stride: 1 },
		CnnLayer::Dropout { rate_nano: 200_000_000 },
		CnnLayer::Linear { outputs: 7 },
	];
	let layers = layers.try_into().unwrap_or_default();
	let activation = Activation::Gelu;
	spec.model = Model::Cnn { channels: 2, height: 10, width: 9, layers, activation };
	("a convolutional network", spec, rows(2 * 10 * 9))
}

fn transformer() -> Job {
	let mut spec = options(12);
	spec.dataset.format = DataFormat::Text;
	spec.dataset.feature_divisor = 1;
	spec.training.batch_size = 6;
	spec.training.input_noise_nano = 0;
	spec.model = Model::Transformer {
		layers: 1,
		heads: 2,
		width: 16,
		mlp_factor: 2,
		dropout_nano: 100_000_000,
	};
	let table = |count: usize| {
		let tokens: Vec<u32> =
			random(count as u32).take(count * 12 + 1).map(|n| n % CLASSES).collect();
		let x = tokens[..count * 12].iter().map(|token| *token as f32).collect();
		Table { features: 12, x, y: tokens[1..].to_vec(), ..Table::default() }
	};
	let [train, validation] = ROWS.map(table);
	("a transformer", spec, Arc::new(Data { train, validation }))
}

/// Rows of that many features around 0, and labels.
fn rows(features: usize) -> Arc<Data> {
	let table = |count: usize| {
		let number = |bits: u32| (bits >> 8) as f32 / 8_388_608.0 - 1.0;
		let x = random(1).take(count * features).map(number).collect();
		let y = random(2).take(count).map(|bits| bits % CLASSES).collect();
		Table { features, x, y, ..Table::default() }
	};
	let [train, validation] = ROWS.map(table);
	Arc::new(Data { train, validation })
}

/// Returns random words, the same for the same `stream`.
fn random(stream: u32) -> impl Iterator<Item = u32> {
	(0..).flat_map(move |i| philox::philox4x32_10([i, 0, 0, 0], [stream, 7]))
}
