//! The job specification: everything that determines a training run but its seed.
//!
//! It is filled in by hand in polkadot.js Apps or from a JOB.toml, so fields are
//! named and hyper-parameters are scaled integers: `*_nano` counts 10^-9. A nano
//! value `n` becomes the binary32 nearest to the binary64 quotient `n / 10^9`
//! (both operands are exact in binary64 below 2^53, which [`JobSpec::check`]
//! demands).
//!
//! A [`JobSpec`] may be anything that its fields can hold. [`JobSpec::check`] makes a
//! [`CheckedSpec`] of it, which keeps all rules: programs, prices and trainings are made of that
//! one alone.

mod checked;
mod data;
mod error;
mod extent;
mod model;
mod power;
mod shapes;
mod training;

pub use checked::CheckedSpec;
pub use data::{DataFormat, Dataset, FileRef, InitialModel, InputFile, Normalization, ON_CHAIN};
pub use error::SpecError;
pub use extent::{Extent, FILE_BYTES, HEADER_BYTES, LINE_BYTES};
pub use model::{Activation, CnnLayer, Input, Layer, Model};
pub use power::*;
pub use shapes::{Placed, Shape, Shaped, SLICE_LABELS};
pub use training::{EarlyStop, Loss, Optimizer, Schedule, StopRule, Training};

use crate::{Text, H256};
use bounded_collections::BoundedVec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::ops::RangeInclusive;
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// Most hidden layers of an MLP.
pub const MAX_HIDDEN_LAYERS: u32 = 14;
/// Most layers of a convolutional network or of a list of layers.
pub const MAX_LAYERS: u32 = 64;
/// Most blocks of a transformer.
pub const MAX_BLOCKS: u32 = 24;
/// Most tokens of a row.
pub const MAX_CONTEXT: u32 = 8_192;
/// Widest fully connected layers of a transformer, as a multiple of its width.
pub const MAX_MLP_FACTOR: u32 = 16;
/// Most numbers of a row after any layer.
pub const MAX_ROW_ELEMENTS: u64 = 1 << 24;
/// Most numbers that a norm is over: what every device can sum as one row. A verifier that could not
/// replay a job would be fined for its silence.
pub const MAX_NORM_WIDTH: u32 = 1 << 20;
/// Most reflections of a mapping.
pub const MAX_REFLECTIONS: u32 = 16;
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
/// Largest momentum and beta x 10^9: anything above is one as a binary32, and Adam would divide by
/// its distance from one.
pub const MAX_DECAY_NANO: u64 = 999_999_970;
/// Largest share of dropped elements x 10^9: work on zeros can be left out.
pub const MAX_DROPOUT_NANO: u64 = 900_000_000;
/// One, in nano.
pub const ONE_NANO: u64 = 1_000_000_000;
/// Largest product of learning rate and weight decay, x 10^18: 1, the whole of a parameter.
pub const MAX_SHRINK: u128 = 1_000_000_000_000_000_000;
/// Most bytes of a file that a job reads: 2 GiB.
pub const MAX_DATASET_BYTES: u64 = 1 << 31;

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
	/// Fine-tuning: the parameters with which the training begins; without them they are drawn from
	/// the assignment seed.
	#[serde(default)]
	pub initial_model: Option<InitialModel>,
}

impl JobSpec {
	/// Returns the widths of an MLP's layers from the input to the output; `widths[i]` inputs and
	/// `widths[i + 1]` outputs make layer `i`. Empty for other models.
	pub fn widths(&self) -> alloc::vec::Vec<u32> {
		match &self.model {
			Model::Mlp { hidden, .. } => core::iter::once(self.dataset.features)
				.chain(hidden.iter().copied())
				.chain(core::iter::once(self.dataset.classes))
				.collect(),
			_ => alloc::vec![],
		}
	}

	/// Returns whether the model begins with a mapping. Then no other training goes on from it.
	pub fn is_mapped(&self) -> bool {
		let Model::Layers { layers, .. } = &self.model else { return false };
		matches!(layers.first(), Some(Layer::Mapping { .. }))
	}

	/// Returns the files that the job reads, each once; the data first.
	pub fn files(&self) -> impl Iterator<Item = (InputFile, FileRef)> + '_ {
		let labels = self.dataset.labels.clone().map(|file| (InputFile::Labels, file));
		let initial = self.initial_model.as_ref().map(|model| model.file.clone());
		core::iter::once((InputFile::Data, self.dataset.file()))
			.chain(labels)
			.chain(initial.map(|file| (InputFile::InitialModel, file)))
	}

	/// Returns the bytes of all files that the job reads; saturates.
	pub fn file_bytes(&self) -> u64 {
		self.files().fold(0, |sum, (_, file)| sum.saturating_add(file.bytes))
	}

	/// Returns the number of segments: checkpoint intervals, the last one possibly shorter. There
	/// is one checkpoint more. It is 0 only where [`Self::check`] fails.
	pub fn segments(&self) -> u32 {
		match self.training.checkpoint_interval {
			0 => 0,
			interval => self.training.steps.div_ceil(interval),
		}
	}

	/// Returns the step of checkpoint `index`; checkpoint 0 is the initial state. `None` past the
	/// last.
	pub fn checkpoint_step(&self, index: u32) -> Option<u32> {
		(index <= self.segments()).then(|| {
			self.training.checkpoint_interval.saturating_mul(index).min(self.training.steps)
		})
	}

	/// Returns how many segments a result of this job can have: all of them, or, where it may stop
	/// early, from the first at whose end it can.
	pub fn possible_segments(&self) -> RangeInclusive<u32> {
		let all = self.segments();
		let least = self.training.early_stop.map_or(all, |rule| rule.patience);
		least.min(all)..=all
	}

	/// Returns how many segments a training has when it ends, from its validation losses, one for
	/// each checkpoint so far; `None` while it goes on. There are fewer than all only where it
	/// stops early ([`EarlyStop::stops_at`]).
	pub fn ends_after(&self, losses: &[f32]) -> Option<u32> {
		let all = self.segments();
		let stop = self.training.early_stop.and_then(|rule| rule.stops_at(losses));
		let done = u32::try_from(losses.len()).unwrap_or(u32::MAX) > all;
		stop.filter(|at| *at < all).or(done.then_some(all))
	}

	/// Returns [`Self::example`] with noise on its inputs and clipped gradients, so that its work is
	/// credited as power.
	pub fn noisy_example() -> Self {
		let mut spec = Self::example();
		spec.training.clip_norm_nano = ONE_NANO;
		spec.training.input_noise_nano = 10_000_000;
		spec
	}

	/// Returns a specification of a model of GPT-2 small's size, for tests: a decoder of 12 blocks on the bytes of
	/// a text, 124 million parameters with AdamW.
	pub fn large_example() -> Self {
		let mut spec = Self::noisy_example();
		let dataset = &mut spec.dataset;
		(dataset.format, dataset.bytes) = (DataFormat::Text, 163_840);
		(dataset.features, dataset.classes, dataset.feature_divisor) = (256, 72, 1);
		(dataset.train_rows, dataset.validation_rows, dataset.validation_every) = (633, 6, 100);
		spec.model = Model::Transformer {
			layers: 12,
			heads: 16,
			width: 928,
			mlp_factor: 4,
			dropout_nano: 100_000_000,
		};
		let training = &mut spec.training;
		(training.steps, training.checkpoint_interval, training.batch_size) = (8, 1, 4);
		training.input_noise_nano = 0;
		spec
	}

	/// Returns a small valid specification, for tests and benchmarks: MLP 64-64-32-10 on the
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
				labels: None,
				normalization: Normalization::None,
				rows: H256::repeat_byte(2),
			},
			initial_model: None,
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
				loss: Loss::CrossEntropy,
				schedule: Schedule::Constant,
				warmup_steps: 0,
				clip_norm_nano: 0,
				input_noise_nano: 0,
				early_stop: None,
			},
		}
	}
}

#[cfg(test)]
mod power_tests;
#[cfg(test)]
mod tests;
