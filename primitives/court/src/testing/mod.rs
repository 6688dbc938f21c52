//! Jobs with their data, and whole computations in memory, for tests.

pub mod jobs;
pub mod run;

use crate::{
	case::Case,
	referee::{proving::Holder, Computation, Lowered, Origin, Words},
};
use std::{borrow::Cow, collections::BTreeMap, sync::OnceLock};
use trainyard_program::{
	init, lower,
	parts::{self, PartOp},
	spec::{
		Activation, CnnLayer, DataFormat, Input, JobSpec, Layer, Loss, Model, Optimizer, Schedule,
		ONE_NANO,
	},
};
use trainyard_protocol::{content, rows::Rows, H256};

/// A job with its rows.
pub struct World {
	pub case: Case,
	/// Inputs and labels of the training rows, and of the validation rows, as they are hashed.
	pub rows: [Vec<u8>; 4],
}

impl World {
	/// Makes rows for a job: inputs of both signs, or tokens. The rows root is theirs.
	pub fn new(mut spec: JobSpec) -> Self {
		let data = &spec.dataset;
		let (features, labels) = (data.features, data.labels_per_row());
		let is_text = data.format == DataFormat::Text;
		let inputs = |rows: u32, salt: u32| {
			let input = |at: u32| match (at.wrapping_mul(2_654_435_761) ^ salt) >> 7 {
				word if is_text => (word % data.classes) as f32,
				word => (word % 41) as f32 / 8.0 - 2.5,
			};
			content::le_bytes(&(0..rows * features).map(input).collect::<Vec<_>>())
		};
		let classes = |rows: u32, salt: u32| {
			let class = |at: u32| (at.wrapping_mul(40_503) >> 3 ^ salt) % data.classes;
			(0..rows * labels).flat_map(|at| class(at).to_le_bytes()).collect::<Vec<u8>>()
		};
		let (train, validation) = (data.train_rows, data.validation_rows);
		let rows =
			[inputs(train, 1), classes(train, 2), inputs(validation, 3), classes(validation, 4)];
		spec.dataset.rows = Rows::of(data, contents(&rows)).root();
		let spec = spec.check().unwrap();
		Self { case: Case { spec, seed: H256::repeat_byte(5) }, rows }
	}

	/// Returns the bytes of the tensors of the initial state.
	pub fn initial(&self) -> Vec<Vec<u8>> {
		let Case { spec, seed } = &self.case;
		let tensors = lower::state(spec);
		tensors.iter().map(|t| content::le_bytes(&init::initial(seed, t))).collect()
	}
}

fn contents(all: &[Vec<u8>; 4]) -> [H256; 4] {
	all.each_ref().map(|bytes| content::hash(bytes))
}

/// A computation in memory: what it reads, and its results.
#[derive(Clone)]
pub struct Computed {
	bytes: BTreeMap<Origin, Vec<u8>>,
	state: Vec<H256>,
	results: Vec<H256>,
	rows: [H256; 4],
}

impl Computed {
	/// Computes all results from the state with these bytes. With `cheat`, an element of one result
	/// is written with other bits, and all later results are computed from these.
	pub fn new(
		lowered: &Lowered<'_>,
		world: &World,
		state: &[Vec<u8>],
		cheat: Option<(u32, u64, u32)>,
	) -> Self {
		let [train, train_labels, validation, validation_labels] = &world.rows;
		let (inputs, labels) = match lowered.computation() {
			Computation::Step { .. } => (train, train_labels),
			Computation::Slice { .. } => (validation, validation_labels),
		};
		let given = [(Origin::Features, inputs.clone()), (Origin::Labels, labels.clone())];
		let states = (0..).zip(state).map(|(i, bytes)| (Origin::State(i), bytes.clone()));
		let mut made = Self {
			bytes: given.into_iter().chain(states).collect(),
			state: state.iter().map(|bytes| content::hash(bytes)).collect(),
			results: Vec::new(),
			rows: contents(&world.rows),
		};
		for (result, PartOp { len, part, .. }) in (0..).zip(lowered.parts()) {
			let inputs = lowered.inputs(&made);
			let x: Result<Vec<f32>, _> = (0..*len)
				.map(|index| parts::element(part, index, lowered.moment(), &inputs))
				.collect();
			let mut bytes = content::le_bytes(&x.unwrap());
			if let Some((_, index, bits)) = cheat.filter(|(at, ..)| *at == result) {
				bytes[index as usize * 4..][..4].copy_from_slice(&bits.to_le_bytes());
			}
			made.write(result, bytes);
		}
		made
	}

	/// Writes the next result, or another one again.
	pub fn write(&mut self, result: u32, bytes: Vec<u8>) {
		self.results.truncate(result as usize);
		self.results.push(content::hash(&bytes));
		self.bytes.insert(Origin::Result(result), bytes);
	}

	/// Returns the bits of an element of a result.
	pub fn bits(&self, result: u32, index: u64) -> u32 {
		Words::word(self, Origin::Result(result), index).unwrap()
	}
}

impl Words for Computed {
	fn word(&self, origin: Origin, index: u64) -> Option<u32> {
		let word = self.bytes.get(&origin)?.get(index as usize * 4..)?.get(..4)?;
		Some(u32::from_le_bytes(word.try_into().unwrap()))
	}
}

impl Holder for Computed {
	fn bytes(&self, origin: Origin) -> Option<Cow<'_, [u8]>> {
		self.bytes.get(&origin).map(Cow::from)
	}

	fn state(&self) -> &[H256] {
		&self.state
	}

	fn results(&self) -> &[H256] {
		&self.results
	}

	fn rows(&self) -> [H256; 4] {
		self.rows
	}
}

/// A small job: 40 training rows and 10 validation rows.
fn base() -> JobSpec {
	let mut spec = JobSpec::example();
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (40, 10);
	(spec.dataset.features, spec.dataset.classes) = (32, 3);
	spec.training.batch_size = 4;
	spec
}

/// Small jobs with every layer, optimizer, loss and option.
pub fn specs() -> Vec<JobSpec> {
	let (beta1_nano, beta2_nano, epsilon_nano) = (900_000_000, 999_000_000, 10);
	let sgd = |nesterov| Optimizer::Sgd { momentum_nano: 900_000_000, nesterov };
	let adam = Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano };
	let adamw = Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano };
	let mut mlp = base();
	let hidden = vec![7, 5].try_into().unwrap();
	mlp.model = Model::Mlp { hidden, activation: Activation::Relu };
	mlp.training.optimizer = adamw;
	mlp.training.weight_decay_nano = 10_000_000;
	mlp.training.clip_norm_nano = ONE_NANO / 2;
	mlp.training.input_noise_nano = 10_000_000;
	mlp.training.warmup_steps = 2;
	mlp.training.schedule = Schedule::Cosine { final_rate_nano: 1 };
	let mut cnn = base();
	cnn.model = Model::Cnn {
		channels: 2,
		height: 4,
		width: 4,
		layers: vec![
			CnnLayer::Conv { filters: 3, kernel: 3, stride: 1, padding: 1 },
			CnnLayer::MaxPool { kernel: 2, stride: 1 },
			CnnLayer::Conv { filters: 2, kernel: 2, stride: 2, padding: 1 },
			CnnLayer::AvgPool { kernel: 2, stride: 1 },
			CnnLayer::Dropout { rate_nano: 300_000_000 },
			CnnLayer::Linear { outputs: 5 },
		]
		.try_into()
		.unwrap(),
		activation: Activation::Tanh,
	};
	cnn.training.loss = Loss::MeanSquaredError;
	cnn.training.optimizer = sgd(true);
	cnn.training.weight_decay_nano = 10_000_000;
	let activation = |function| Layer::Activation { function };
	let mut layers = base();
	layers.model = Model::Layers {
		input: Input::Image { channels: 2, height: 4, width: 4 },
		layers: vec![
			Layer::AvgPool2d { kernel: 1, stride: 1 },
			activation(Activation::Sigmoid),
			Layer::Conv2d { filters: 2, kernel: 3, stride: 1, padding: 1 },
			activation(Activation::Gelu),
			Layer::Conv2d { filters: 2, kernel: 3, stride: 1, padding: 1 },
			Layer::Skip { back: 2 },
			activation(Activation::Silu),
			Layer::Skip { back: 6 },
			Layer::LayerNorm,
			Layer::Dropout { rate_nano: 250_000_000 },
			Layer::RmsNorm,
			Layer::Linear { outputs: 3 },
			activation(Activation::Tanh),
		]
		.try_into()
		.unwrap(),
	};
	layers.training.optimizer = adam;
	layers.training.weight_decay_nano = 10_000_000;
	let mut mapped = base();
	mapped.model = Model::Layers {
		input: Input::Image { channels: 2, height: 4, width: 4 },
		layers: vec![
			Layer::Mapping { reflections: 2, patch: 2 },
			Layer::Conv2d { filters: 2, kernel: 2, stride: 1, padding: 0 },
			Layer::Linear { outputs: 3 },
		]
		.try_into()
		.unwrap(),
	};
	mapped.training.input_noise_nano = 10_000_000;
	let mut text = base();
	text.dataset.format = DataFormat::Text;
	text.dataset.feature_divisor = 1;
	(text.dataset.features, text.dataset.classes) = (5, 7);
	let dropout_nano = 100_000_000;
	text.model = Model::Transformer { layers: 1, heads: 2, width: 4, mlp_factor: 2, dropout_nano };
	text.training.optimizer = sgd(false);
	vec![mlp, cnn, layers, text, mapped]
}

/// A job with chains of several stretches, and its step 1: they read columns of many rows.
pub fn long() -> &'static (World, Computed) {
	static LONG: OnceLock<(World, Computed)> = OnceLock::new();
	LONG.get_or_init(|| {
		let world = World::new(wide());
		let step = Lowered::new(&world.case, Computation::Step { step: 1 }).unwrap();
		let made = Computed::new(&step, &world, &world.initial(), None);
		(world, made)
	})
}

fn wide() -> JobSpec {
	let mut spec = base();
	(spec.dataset.train_rows, spec.dataset.validation_rows) = (640, 160);
	spec.dataset.features = 128;
	spec.training.batch_size = 600;
	let hidden = vec![100].try_into().unwrap();
	spec.model = Model::Mlp { hidden, activation: Activation::Relu };
	spec
}
