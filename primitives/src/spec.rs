//! The job specification: everything that determines a training run but its seed.
//!
//! It is filled in by hand in polkadot.js Apps or from a JOB.toml, so fields are
//! named and hyper-parameters are scaled integers: `*_nano` counts 10^-9. A nano
//! value `n` becomes the binary32 nearest to the binary64 quotient `n / 10^9`
//! (both operands are exact in binary64 below 2^53, which [`JobSpec::validate`]
//! demands).

use crate::{Text, H256};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// Most hidden layers of an MLP.
pub const MAX_HIDDEN_LAYERS: u32 = 14;
/// Widest layer, most features and most classes.
pub const MAX_WIDTH: u32 = 65_536;
/// Most parameters of a model.
pub const MAX_PARAMETERS: u64 = 1 << 28;
/// Most steps of a job.
pub const MAX_STEPS: u32 = 100_000_000;
/// Most segments (checkpoint intervals) of a job.
pub const MAX_SEGMENTS: u32 = 65_536;
/// Most rows of a batch.
pub const MAX_BATCH: u32 = 65_536;
/// Largest `*_nano` value: 10^9 times 1,000.
pub const MAX_NANO: u64 = 1_000_000_000_000;
/// Largest momentum and beta x 10^9: any above are one as binary32, and Adam would divide
/// by their distance from one.
pub const MAX_DECAY_NANO: u64 = 999_999_970;
/// Most bytes of a data file: 2 GiB.
pub const MAX_DATASET_BYTES: u64 = 1 << 31;
/// One, in nano.
pub const ONE_NANO: u64 = 1_000_000_000;

/// What to train, on what, and how.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
	/// The data, by content.
	pub dataset: Dataset,
	/// The model.
	pub model: Model,
	/// How it is trained.
	pub training: Training,
}

/// A labelled table. Row `i` (from 0) is a validation row when
/// `i mod validation_every = validation_every - 1`, and a training row otherwise.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
	/// `blake2_256` of the file.
	pub content_hash: H256,
	/// Length of the file in bytes, 1 to [`MAX_DATASET_BYTES`].
	pub bytes: u64,
	/// Where it can be had: an `http://` or `https://` URL.
	pub location: Text,
	/// How to read it.
	pub format: DataFormat,
	/// Rows that train; must match the file.
	pub train_rows: u32,
	/// Rows that validate; must match the file.
	pub validation_rows: u32,
	/// One row in this many validates; at least 2.
	pub validation_every: u32,
	/// Inputs of a row.
	pub features: u32,
	/// Classes; labels are 0 to `classes - 1`.
	pub classes: u32,
	/// Every input is divided by this (binary32 division).
	pub feature_divisor: u32,
}

/// File formats.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum DataFormat {
	/// Comma-separated decimal numbers behind one header line, label last.
	CsvLabelLast,
	/// Comma-separated decimal numbers behind one header line, label first.
	CsvLabelFirst,
}

/// Models by declaration.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Model {
	/// Fully connected layers: features, the hidden widths, classes. An activation
	/// follows every layer but the last.
	Mlp {
		/// Widths of the hidden layers, from the input on; may be empty.
		hidden: BoundedVec<u32, ConstU32<MAX_HIDDEN_LAYERS>>,
		/// Activation behind each hidden layer.
		activation: Activation,
	},
}

/// Activations.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
	/// `x` where `x > 0`, otherwise +0.
	Relu,
}

/// How the model is trained. The loss is softmax cross-entropy, mean over the batch.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct Training {
	/// Optimizer steps.
	pub steps: u32,
	/// Rows of a batch; an epoch drops its last, short batch.
	pub batch_size: u32,
	/// Steps between checkpoints. The last segment may be shorter.
	pub checkpoint_interval: u32,
	/// The optimizer.
	pub optimizer: Optimizer,
	/// Learning rate x 10^9.
	pub learning_rate_nano: u64,
	/// Decoupled weight decay x 10^9 (Loshchilov and Hutter 2019); 0 for none.
	pub weight_decay_nano: u64,
}

/// Optimizers.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Optimizer {
	/// Stochastic gradient descent: `v = momentum v + g; p = p - lr v`.
	Sgd {
		/// Momentum x 10^9; 0 for none, at most [`MAX_DECAY_NANO`].
		momentum_nano: u64,
	},
	/// AdamW (Loshchilov and Hutter 2019, algorithm 2).
	#[serde(rename = "adamw")]
	AdamW {
		/// Decay of the first moment x 10^9, at most [`MAX_DECAY_NANO`].
		beta1_nano: u64,
		/// Decay of the second moment x 10^9, at most [`MAX_DECAY_NANO`].
		beta2_nano: u64,
		/// Added to the root of the second moment, x 10^9; above 0.
		epsilon_nano: u64,
	},
}

/// What is wrong with a specification.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
#[scale_info(capture_docs = "always")]
pub enum SpecError {
	/// `dataset.content_hash` is zero.
	NoContentHash,
	/// `dataset.bytes` is zero.
	EmptyDataset,
	/// `dataset.location` is empty or not an http(s) URL in UTF-8.
	BadLocation,
	/// `dataset.validation_every` is below 2.
	BadSplit,
	/// `dataset.train_rows` and `dataset.validation_rows` cannot both come from one
	/// table split by `dataset.validation_every`.
	RowsDisagree,
	/// `dataset.features` is zero or above [`MAX_WIDTH`].
	BadFeatures,
	/// `dataset.classes` is below 2 or above [`MAX_WIDTH`].
	BadClasses,
	/// `dataset.feature_divisor` is zero.
	ZeroDivisor,
	/// A hidden layer is of width zero or above [`MAX_WIDTH`].
	BadHiddenWidth,
	/// The model has more than [`MAX_PARAMETERS`] parameters.
	ModelTooLarge,
	/// `training.steps` is zero or above [`MAX_STEPS`].
	BadSteps,
	/// `training.batch_size` is zero, above [`MAX_BATCH`] or above the training rows.
	BadBatchSize,
	/// `training.checkpoint_interval` is zero or above the steps.
	BadCheckpointInterval,
	/// There would be more than [`MAX_SEGMENTS`] segments.
	TooManySegments,
	/// `training.learning_rate_nano` is zero or above [`MAX_NANO`].
	BadLearningRate,
	/// `training.weight_decay_nano` is above [`MAX_NANO`].
	BadWeightDecay,
	/// A momentum or beta is above [`MAX_DECAY_NANO`].
	BadMomentum,
	/// `epsilon_nano` is zero or above [`MAX_NANO`].
	BadEpsilon,
	/// The work of the job does not fit the unit of work.
	WorkOverflow,
	/// `dataset.bytes` is above [`MAX_DATASET_BYTES`].
	DatasetTooLarge,
}

impl SpecError {
	/// The field of the specification that is wrong, as written in a JOB.toml.
	pub fn field(&self) -> &'static str {
		use SpecError::*;
		match self {
			NoContentHash => "dataset.content_hash",
			EmptyDataset | DatasetTooLarge => "dataset.bytes",
			BadLocation => "dataset.location",
			BadSplit => "dataset.validation_every",
			RowsDisagree => "dataset.validation_rows",
			BadFeatures => "dataset.features",
			BadClasses => "dataset.classes",
			ZeroDivisor => "dataset.feature_divisor",
			BadHiddenWidth | ModelTooLarge => "model.mlp.hidden",
			BadSteps | WorkOverflow => "training.steps",
			BadBatchSize => "training.batch_size",
			BadCheckpointInterval | TooManySegments => "training.checkpoint_interval",
			BadLearningRate => "training.learning_rate_nano",
			BadWeightDecay => "training.weight_decay_nano",
			BadMomentum | BadEpsilon => "training.optimizer",
		}
	}
}

impl fmt::Display for SpecError {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		use SpecError::*;
		match self {
			NoContentHash => f.write_str("the content hash is zero"),
			EmptyDataset => f.write_str("the data has no bytes"),
			DatasetTooLarge => write!(f, "the data has more than {MAX_DATASET_BYTES} bytes"),
			BadLocation => f.write_str("the location must be an http:// or https:// URL"),
			BadSplit => f.write_str("one row in how many validates? At least 2"),
			RowsDisagree => f.write_str(
				"train_rows and validation_rows do not fit validation_every: of n rows, \
				 floor(n / validation_every) validate",
			),
			BadFeatures => write!(f, "features must be 1 to {MAX_WIDTH}"),
			BadClasses => write!(f, "classes must be 2 to {MAX_WIDTH}"),
			ZeroDivisor => f.write_str("the divisor of the inputs is zero"),
			BadHiddenWidth => write!(f, "hidden widths must be 1 to {MAX_WIDTH}"),
			ModelTooLarge => write!(f, "the model has more than {MAX_PARAMETERS} parameters"),
			BadSteps => write!(f, "steps must be 1 to {MAX_STEPS}"),
			BadBatchSize => {
				write!(f, "the batch must have 1 to {MAX_BATCH} rows and no more than train_rows")
			}
			BadCheckpointInterval => f.write_str("the checkpoint interval must be 1 to steps"),
			TooManySegments => {
				write!(f, "steps / checkpoint_interval is more than {MAX_SEGMENTS} segments")
			}
			BadLearningRate => {
				write!(f, "the learning rate (x 10^9) must be 1 to {MAX_NANO}")
			}
			BadWeightDecay => write!(f, "the weight decay (x 10^9) must be 0 to {MAX_NANO}"),
			BadMomentum => {
				write!(f, "momentum and betas (x 10^9) must be 0 to {MAX_DECAY_NANO}")
			}
			BadEpsilon => write!(f, "epsilon (x 10^9) must be 1 to {MAX_NANO}"),
			WorkOverflow => f.write_str("the work of the job is too large to count"),
		}
	}
}

#[cfg(feature = "std")]
impl std::error::Error for SpecError {}

impl JobSpec {
	/// Widths of the layers from the input to the output; `widths[i]` inputs and
	/// `widths[i + 1]` outputs make layer `i`.
	pub fn widths(&self) -> alloc::vec::Vec<u32> {
		let Model::Mlp { hidden, .. } = &self.model;
		core::iter::once(self.dataset.features)
			.chain(hidden.iter().copied())
			.chain(core::iter::once(self.dataset.classes))
			.collect()
	}

	/// Number of parameters; `None` past `u64`.
	pub fn parameters(&self) -> Option<u64> {
		self.widths().windows(2).try_fold(0u64, |sum, pair| match pair {
			[inputs, outputs] => u64::from(*inputs)
				.checked_add(1)?
				.checked_mul(u64::from(*outputs))?
				.checked_add(sum),
			_ => None,
		})
	}

	/// Number of segments: checkpoint intervals, the last one possibly shorter. There is
	/// one checkpoint more. 0 only where [`Self::validate`] fails.
	pub fn segments(&self) -> u32 {
		match self.training.checkpoint_interval {
			0 => 0,
			interval => self.training.steps.div_ceil(interval),
		}
	}

	/// Steps at which checkpoint `index` stands; checkpoint 0 is the initial state.
	/// `None` past the last.
	pub fn checkpoint_step(&self, index: u32) -> Option<u32> {
		(index <= self.segments()).then(|| {
			self.training.checkpoint_interval.saturating_mul(index).min(self.training.steps)
		})
	}

	/// Rules that a specification must keep, first violation. The size of the work is
	/// checked where it is counted.
	pub fn validate(&self) -> Result<(), SpecError> {
		let ensure = |ok: bool, error: SpecError| if ok { Ok(()) } else { Err(error) };
		let d = &self.dataset;
		ensure(d.content_hash != H256::zero(), SpecError::NoContentHash)?;
		ensure(d.bytes > 0, SpecError::EmptyDataset)?;
		ensure(d.bytes <= MAX_DATASET_BYTES, SpecError::DatasetTooLarge)?;
		let location = core::str::from_utf8(&d.location.0).unwrap_or_default();
		let rest = location.strip_prefix("http://").or(location.strip_prefix("https://"));
		ensure(rest.is_some_and(|rest| !rest.is_empty()), SpecError::BadLocation)?;
		ensure(d.validation_every >= 2, SpecError::BadSplit)?;
		let rows = u64::from(d.train_rows).saturating_add(u64::from(d.validation_rows));
		let validating = rows.checked_div(u64::from(d.validation_every));
		ensure(
			d.validation_rows > 0 && validating == Some(u64::from(d.validation_rows)),
			SpecError::RowsDisagree,
		)?;
		ensure((1..=MAX_WIDTH).contains(&d.features), SpecError::BadFeatures)?;
		ensure((2..=MAX_WIDTH).contains(&d.classes), SpecError::BadClasses)?;
		ensure(d.feature_divisor > 0, SpecError::ZeroDivisor)?;

		let Model::Mlp { hidden, .. } = &self.model;
		ensure(hidden.iter().all(|w| (1..=MAX_WIDTH).contains(w)), SpecError::BadHiddenWidth)?;
		ensure(self.parameters().is_some_and(|p| p <= MAX_PARAMETERS), SpecError::ModelTooLarge)?;

		let t = &self.training;
		ensure((1..=MAX_STEPS).contains(&t.steps), SpecError::BadSteps)?;
		ensure(
			(1..=MAX_BATCH).contains(&t.batch_size) && t.batch_size <= d.train_rows,
			SpecError::BadBatchSize,
		)?;
		ensure((1..=t.steps).contains(&t.checkpoint_interval), SpecError::BadCheckpointInterval)?;
		ensure(self.segments() <= MAX_SEGMENTS, SpecError::TooManySegments)?;
		ensure((1..=MAX_NANO).contains(&t.learning_rate_nano), SpecError::BadLearningRate)?;
		ensure(t.weight_decay_nano <= MAX_NANO, SpecError::BadWeightDecay)?;
		match t.optimizer {
			Optimizer::Sgd { momentum_nano } => {
				ensure(momentum_nano <= MAX_DECAY_NANO, SpecError::BadMomentum)
			}
			Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano } => {
				ensure(
					beta1_nano <= MAX_DECAY_NANO && beta2_nano <= MAX_DECAY_NANO,
					SpecError::BadMomentum,
				)?;
				ensure((1..=MAX_NANO).contains(&epsilon_nano), SpecError::BadEpsilon)
			}
		}
	}

	/// A small valid specification, for tests and benchmarks: MLP 64-64-32-10 on the
	/// handwritten digits.
	pub fn example() -> Self {
		Self {
			dataset: Dataset {
				content_hash: H256::repeat_byte(1),
				bytes: 264_964,
				location: Text::new("http://127.0.0.1:8600/digits.csv").unwrap_or_default(),
				format: DataFormat::CsvLabelLast,
				train_rows: 1_438,
				validation_rows: 359,
				validation_every: 5,
				features: 64,
				classes: 10,
				feature_divisor: 16,
			},
			model: Model::Mlp {
				hidden: BoundedVec::truncate_from(alloc::vec![64, 32]),
				activation: Activation::Relu,
			},
			training: Training {
				steps: 1_500,
				batch_size: 32,
				checkpoint_interval: 50,
				optimizer: Optimizer::AdamW {
					beta1_nano: 900_000_000,
					beta2_nano: 999_000_000,
					epsilon_nano: 10,
				},
				learning_rate_nano: 2_000_000,
				weight_decay_nano: 0,
			},
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn the_example_is_valid() {
		let spec = JobSpec::example();
		assert_eq!(spec.validate(), Ok(()));
		assert_eq!(spec.parameters(), Some(64 * 65 + 65 * 32 + 33 * 10));
		assert_eq!(spec.segments(), 30);
		assert_eq!(spec.checkpoint_step(30), Some(1_500));
		assert_eq!(spec.checkpoint_step(31), None);
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
			(BadSplit, |s| s.dataset.validation_every = 1),
			(RowsDisagree, |s| s.dataset.validation_rows = 360),
			(RowsDisagree, |s| s.dataset.train_rows = u32::MAX),
			(BadFeatures, |s| s.dataset.features = 0),
			(BadClasses, |s| s.dataset.classes = 1),
			(ZeroDivisor, |s| s.dataset.feature_divisor = 0),
			(BadHiddenWidth, |s| {
				let Model::Mlp { hidden, .. } = &mut s.model;
				hidden[0] = 0;
			}),
			(ModelTooLarge, |s| {
				let Model::Mlp { hidden, .. } = &mut s.model;
				*hidden = BoundedVec::truncate_from(vec![MAX_WIDTH; 14]);
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
			(BadMomentum, |s| s.training.optimizer = Optimizer::Sgd { momentum_nano: ONE_NANO }),
			(BadEpsilon, |s| {
				s.training.optimizer =
					Optimizer::AdamW { beta1_nano: 0, beta2_nano: 0, epsilon_nano: 0 }
			}),
		];
		for (error, break_it) in cases {
			let mut spec = JobSpec::example();
			break_it(&mut spec);
			assert_eq!(spec.validate(), Err(*error));
			assert!(!error.field().is_empty() && !error.to_string().is_empty());
		}
	}

	/// Frozen: clients tell errors by these numbers, so new ones stand behind the old.
	#[test]
	fn errors_keep_their_numbers() {
		for (error, number) in [
			(SpecError::NoContentHash, 0),
			(SpecError::WorkOverflow, 18),
			(SpecError::DatasetTooLarge, 19),
		] {
			assert_eq!(error.encode(), [number]);
		}
	}

	/// Frozen: clients and stored jobs depend on these bytes.
	#[test]
	fn layout() {
		let bytes = JobSpec::example().encode();
		assert_eq!(bytes.len(), 162);
		assert_eq!(JobSpec::decode(&mut &bytes[..]), Ok(JobSpec::example()));
		assert_eq!(
			hex::encode(sp_crypto_hashing::blake2_256(&bytes)),
			"ba5db2a7c715cb1fa6b3083ee7a08ecb6a44ebec9a9f1dba1099d9dbbcd4c605"
		);
	}
}
