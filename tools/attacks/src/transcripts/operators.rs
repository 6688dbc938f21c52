//! Every operator of jobs, and where it is disputed.

use super::matters::{Differs, Matter};
use trainyard_court::testing::{self, run::Job};
use trainyard_program::ops::OpKind;

/// A small job with some of the layers, optimizers, losses and options that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Net {
	/// A multilayer perceptron, AdamW, with clipping, noise, warm-up and a schedule.
	Mlp,
	/// A convolutional network, SGD with momentum, the squared error.
	Cnn,
	/// A list of layers with skips and norms, Adam.
	Layers,
	/// A transformer over text, SGD.
	Text,
}

impl Net {
	/// The job, with one segment of three steps.
	pub fn job(self) -> Job {
		let mut specs = testing::specs();
		let mut spec = specs.swap_remove(self as usize);
		(spec.training.steps, spec.training.checkpoint_interval) = (3, 3);
		Job::new(spec)
	}

	/// Its name in a table.
	pub fn name(self) -> &'static str {
		match self {
			Net::Mlp => "MLP",
			Net::Cnn => "convolutions",
			Net::Layers => "layers",
			Net::Text => "transformer",
		}
	}
}

/// Names every operator once: its job, or none. Whoever adds an operator adds a line here, or this does not
/// compile; and a line whose operator its job does not have fails the test of all transcripts.
macro_rules! operators {
	($($kind:ident => $net:expr;)*) => {
		/// Returns the name of an operator.
		pub fn name_of(kind: &OpKind) -> &'static str {
			match kind {
				$(OpKind::$kind { .. } => stringify!($kind),)*
			}
		}

		/// The operators, with the jobs in which they are disputed; none for those that no job has.
		const OPERATORS: &[(&str, Option<Net>)] = &[$((stringify!($kind), $net)),*];
	};
}

operators! {
	MatMul => Some(Net::Mlp);
	AddRow => Some(Net::Mlp);
	Relu => Some(Net::Mlp);
	ReluGrad => Some(Net::Mlp);
	LogSoftmax => Some(Net::Mlp);
	RowLoss => Some(Net::Mlp);
	RowLossGrad => Some(Net::Mlp);
	Correct => Some(Net::Mlp);
	Mean => Some(Net::Mlp);
	SumRows => Some(Net::Mlp);
	Scale => Some(Net::Mlp);
	Decay => Some(Net::Mlp);
	MulAdd => Some(Net::Cnn);
	Ema => Some(Net::Mlp);
	EmaSquare => Some(Net::Mlp);
	AdamStep => Some(Net::Mlp);
	Add => Some(Net::Layers);
	Activation => Some(Net::Cnn);
	ActivationGrad => Some(Net::Cnn);
	BatchMatMul => Some(Net::Text);
	SwapAxes => Some(Net::Text);
	Conv2d => Some(Net::Cnn);
	Conv2dWeightGrad => Some(Net::Cnn);
	Conv2dInputGrad => Some(Net::Cnn);
	AddChannel => Some(Net::Cnn);
	SumChannels => Some(Net::Cnn);
	MaxPool2d => Some(Net::Cnn);
	MaxPool2dGrad => Some(Net::Cnn);
	AvgPool2d => Some(Net::Cnn);
	AvgPool2dGrad => Some(Net::Cnn);
	LayerNorm => Some(Net::Layers);
	LayerNormGrad => Some(Net::Layers);
	LayerNormWeightGrad => Some(Net::Layers);
	RmsNorm => Some(Net::Layers);
	RmsNormGrad => Some(Net::Layers);
	RmsNormWeightGrad => Some(Net::Layers);
	Embedding => Some(Net::Text);
	EmbeddingGrad => Some(Net::Text);
	CausalSoftmax => Some(Net::Text);
	CausalSoftmaxGrad => Some(Net::Text);
	Dropout => Some(Net::Cnn);
	Noise => Some(Net::Mlp);
	SquaredLoss => Some(Net::Cnn);
	SquaredLossGrad => Some(Net::Cnn);
	SumSquares => Some(Net::Mlp);
	ClipFactor => Some(Net::Mlp);
	LearningRate => Some(Net::Mlp);
	// Work units of drilling have it, and no job.
	Whetstone => None;
}

/// Returns a matter for each operator of jobs.
pub fn all() -> Vec<Matter> {
	let of_jobs = OPERATORS.iter().filter_map(|(name, net)| Some((*name, (*net)?)));
	let matter = |(operator, net): (&'static str, Net)| Matter {
		name: operator,
		what: net.name(),
		job: match net {
			Net::Mlp => || Net::Mlp.job(),
			Net::Cnn => || Net::Cnn.job(),
			Net::Layers => || Net::Layers.job(),
			Net::Text => || Net::Text.job(),
		},
		differs: Differs::Operator,
		pieces: ["Stretch"; 2],
		reads: None,
	};
	of_jobs.map(matter).collect()
}
