//! The models that are measured, and made-up data for them.

use crate::numbers;
use anyhow::{bail, Context};
use trainyard_engine::{Data, Table};
use trainyard_program::spec::{
	self, Activation, CnnLayer, DataFormat, Input, JobSpec, Loss, Optimizer,
};

/// A kind of model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
	/// Fully connected: 784-256-10, batch 64.
	Mlp,
	/// Convolutional, on images of 28 x 28: two convolutions, two fully connected layers, batch
	/// 64. Those of the MNIST example that comes with candle.
	Cnn,
	/// A decoder of characters: 4 blocks, width 128, context 64, batch 16.
	Transformer,
	/// A decoder of the size of GPT-2 small without its vocabulary: 12 blocks, width 768, context 256,
	/// batch 8. A step is a second of many cores.
	Gpt,
}

impl Model {
	/// All of them.
	pub const ALL: [Self; 4] = [Model::Mlp, Model::Cnn, Model::Transformer, Model::Gpt];

	/// Returns its name on the command line.
	pub fn name(self) -> &'static str {
		match self {
			Model::Mlp => "mlp",
			Model::Cnn => "cnn",
			Model::Transformer => "transformer",
			Model::Gpt => "gpt",
		}
	}

	/// Returns the case that is measured.
	pub fn case(self) -> Case {
		match self {
			Model::Mlp => Case::mlp([784, 256, 10], 64, 4_096),
			Model::Cnn => Case::cnn(28, [32, 64, 1_024], 5, 64, 4_096),
			Model::Transformer => Case::transformer(4, 4, 128, 64, 16),
			Model::Gpt => Case { name: "gpt".into(), ..Case::transformer(12, 12, 768, 256, 8) },
		}
	}
}

/// A model with the way it is trained: AdamW, cross-entropy.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
	/// Name of the model.
	pub name: String,
	/// Its layers, for people.
	pub layers: String,
	/// The specification.
	pub spec: JobSpec,
}

impl Case {
	/// Returns a fully connected model of one hidden layer, with ReLU.
	pub fn mlp([inputs, hidden, classes]: [u32; 3], batch: u32, rows: u32) -> Self {
		let model = spec::Model::Mlp {
			hidden: vec![hidden].try_into().unwrap_or_default(),
			activation: Activation::Relu,
		};
		let layers = format!("{inputs}-{hidden}-{classes}");
		Self::new("mlp", layers, model, [inputs, classes], batch, rows)
	}

	/// Two convolutions with windows of `kernel` x `kernel`, each with ReLU and a pooling by 2,
	/// and two fully connected layers, on images of `size` x `size`.
	pub fn cnn(size: u32, widths: [u32; 3], kernel: u32, batch: u32, rows: u32) -> Self {
		let [first, second, outputs] = widths;
		let conv = |filters| CnnLayer::Conv { filters, kernel, stride: 1, padding: 0 };
		let pool = CnnLayer::MaxPool { kernel: 2, stride: 2 };
		let layers = vec![conv(first), pool, conv(second), pool, CnnLayer::Linear { outputs }];
		let model = spec::Model::Cnn {
			channels: 1,
			height: size,
			width: size,
			layers: layers.try_into().unwrap_or_default(),
			activation: Activation::Relu,
		};
		let layers = format!(
			"{size}x{size}, conv {first} and {second} of {kernel}x{kernel}, pools, {outputs}-10"
		);
		Self::new("cnn", layers, model, [size * size, 10], batch, rows)
	}

	/// A transformer on 65 characters.
	pub fn transformer(blocks: u32, heads: u32, width: u32, context: u32, batch: u32) -> Self {
		let model = spec::Model::Transformer {
			layers: blocks,
			heads,
			width,
			mlp_factor: 4,
			dropout_nano: 0,
		};
		let layers =
			format!("{blocks} blocks, {heads} heads, width {width}, context {context}, 65 tokens");
		Self::new("transformer", layers, model, [context, 65], batch, batch * 64)
	}

	fn new(
		name: &str,
		layers: String,
		model: spec::Model,
		[features, classes]: [u32; 2],
		batch: u32,
		rows: u32,
	) -> Self {
		let mut spec = JobSpec::example();
		let dataset = &mut spec.dataset;
		if model.input() == Input::Tokens {
			dataset.format = DataFormat::Text;
		}
		(dataset.features, dataset.classes, dataset.feature_divisor) = (features, classes, 1);
		// One row validates: the last.
		(dataset.train_rows, dataset.validation_rows) = (rows, 1);
		dataset.validation_every = rows + 1;
		spec.model = model;
		let training = &mut spec.training;
		(training.steps, training.checkpoint_interval) = (1_000_000, 1_000);
		training.batch_size = batch;
		training.loss = Loss::CrossEntropy;
		training.optimizer =
			Optimizer::AdamW { beta1_nano: 900_000_000, beta2_nano: 999_000_000, epsilon_nano: 10 };
		(training.learning_rate_nano, training.weight_decay_nano) = (1_000_000, 10_000_000);
		Self { name: name.into(), layers, spec }
	}

	/// Returns rows of the right shape, the same on each call: numbers or tokens, and labels, drawn
	/// evenly.
	pub fn data(&self) -> Data {
		let dataset = &self.spec.dataset;
		let labels = self.spec.labels_per_row() as usize;
		let below = |x: f32, n: u32| ((x + 1.0) / 2.0 * n as f32).min(n as f32 - 1.0).floor();
		let tokens = self.spec.model.input() == Input::Tokens;
		let table = |rows: u32, seed| {
			let mut x = numbers(rows as usize * dataset.features as usize, seed);
			if tokens {
				x.iter_mut().for_each(|x| *x = below(*x, dataset.classes));
			}
			let y = numbers(rows as usize * labels, seed + 1);
			let y = y.into_iter().map(|y| below(y, dataset.classes) as u32).collect();
			Table { features: dataset.features as usize, x, y, ..Table::default() }
		};
		Data { train: table(dataset.train_rows, 1), validation: table(dataset.validation_rows, 3) }
	}
}

/// Returns the models that a list names, separated by commas.
///
/// # Errors
/// Fails if a name is none of them.
pub fn parse_models(list: &str) -> anyhow::Result<Vec<Model>> {
	let models = list.split(',').map(|entry| {
		let entry = entry.trim();
		match Model::ALL.into_iter().find(|model| model.name() == entry) {
			Some(model) => Ok(model),
			None => bail!("\"{entry}\" is no model"),
		}
	});
	let names = Model::ALL.map(Model::name).join(", ");
	models
		.collect::<anyhow::Result<_>>()
		.with_context(|| format!("models are {names}, separated by commas"))
}
