//! What can be wrong with a specification.

use super::{
	MAX_BATCH, MAX_BLOCKS, MAX_CONTEXT, MAX_DATASET_BYTES, MAX_DECAY_NANO, MAX_DROPOUT_NANO,
	MAX_MLP_FACTOR, MAX_NANO, MAX_NORM_WIDTH, MAX_PARAMETERS, MAX_REFLECTIONS, MAX_ROW_ELEMENTS,
	MAX_SEGMENTS, MAX_STEPS, MAX_WIDTH,
};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;

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
	/// `dataset.location` is neither a URL that can be fetched nor [`ON_CHAIN`](super::ON_CHAIN).
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
	/// The image of the model does not have `dataset.features` numbers.
	BadImage,
	/// The model takes tokens, and `dataset.features` is zero or above [`MAX_CONTEXT`].
	BadContext,
	/// The blocks of a transformer are none or more than [`MAX_BLOCKS`].
	BadBlocks,
	/// `mlp_factor` is zero or above [`MAX_MLP_FACTOR`].
	BadMlpFactor,
	/// A width or a number of filters is zero or above [`MAX_WIDTH`], or a layer norm or
	/// an RMS norm is over one number or more than [`MAX_NORM_WIDTH`].
	BadLayerWidth,
	/// The heads of an attention do not divide its width.
	BadHeads,
	/// A share of dropped elements is zero (where it is a layer) or above
	/// [`MAX_DROPOUT_NANO`].
	BadDropout,
	/// A window or its stride is zero, a window is larger than its image, or its padding is
	/// larger than half of it.
	BadWindow,
	/// A skip leads to no layer, or to a different shape.
	BadSkip,
	/// A layer cannot take the output of the layer before it.
	LayerMismatch,
	/// A layer gives more than [`MAX_ROW_ELEMENTS`] numbers for a row.
	LayerTooLarge,
	/// The model has no layers, or the last layer does not give `dataset.classes` numbers.
	BadOutput,
	/// The model has no parameters.
	NoParameters,
	/// Rows times positions, heads or the patches of a mapping, of a batch or of the validation rows is above
	/// 2^32 - 1.
	TooManyPositions,
	/// The format and the model disagree on whether the inputs are tokens, or tokens are
	/// divided or normalised.
	TokensDisagree,
	/// The warm-up is as long as the training or longer, or its first rate is below 10^-9.
	BadWarmup,
	/// The final learning rate is above the learning rate.
	BadFinalRate,
	/// `training.clip_norm_nano` is above [`MAX_NANO`].
	BadClipNorm,
	/// `training.input_noise_nano` is above [`MAX_NANO`], or the inputs are tokens.
	BadInputNoise,
	/// `training.early_stop` has no patience, or a difference above [`MAX_NANO`].
	BadEarlyStop,
	/// `dataset.labels` is missing with a format that keeps labels apart, given with another, or it
	/// has no hash, no length, a length that is too large, or no URL.
	BadLabels,
	/// `initial_model` has no hash, no length, a length that is too large, or no URL.
	BadInitialModel,
	/// The learning rate at its peak times the weight decay is above 1.
	DecayOvershoots,
	/// `dataset.rows` is zero.
	NoRowsRoot,
	/// `initial_model.parameters` is zero.
	NoInitialParameters,
	/// A mapping is not the first layer of numbers or of an image, has no reflections or more than
	/// [`MAX_REFLECTIONS`], is over one number, or its patches do not divide the image.
	BadMapping,
	/// A fine-tuning has a mapping: its model was made for other inputs than this job's mapping gives.
	MappedFineTuning,
}

impl SpecError {
	/// Returns the field of the specification that is wrong, as written in a JOB.toml.
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
			BadWeightDecay | DecayOvershoots => "training.weight_decay_nano",
			BadMomentum | BadEpsilon => "training.optimizer",
			BadContext => "dataset.features",
			TokensDisagree => "dataset.format",
			BadImage | BadBlocks | BadMlpFactor | BadLayerWidth | BadHeads | BadDropout
			| BadWindow | BadSkip | LayerMismatch | LayerTooLarge | BadOutput | NoParameters
			| TooManyPositions | BadMapping | MappedFineTuning => "model",
			BadWarmup => "training.warmup_steps",
			BadFinalRate => "training.schedule",
			BadClipNorm => "training.clip_norm_nano",
			BadInputNoise => "training.input_noise_nano",
			BadEarlyStop => "training.early_stop",
			BadLabels => "dataset.labels",
			BadInitialModel => "initial_model",
			NoRowsRoot => "dataset.rows",
			NoInitialParameters => "initial_model.parameters",
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
			BadLocation => f.write_str("the location must be an http://, https://, iroh://, s3://, gs:// or hf:// URL, or chain:"),
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
			BadImage => f.write_str("channels x height x width must be dataset.features"),
			BadContext => write!(f, "a row of tokens must have 1 to {MAX_CONTEXT}"),
			BadBlocks => write!(f, "a transformer must have 1 to {MAX_BLOCKS} layers"),
			BadMlpFactor => write!(f, "mlp_factor must be 1 to {MAX_MLP_FACTOR}"),
			BadLayerWidth => write!(
				f,
				"widths, outputs and filters must be 1 to {MAX_WIDTH}, and a layer norm or an RMS \
				 norm must be over 2 to {MAX_NORM_WIDTH} numbers"
			),
			BadHeads => f.write_str("the heads of an attention must divide its width"),
			BadDropout => write!(f, "a dropout (x 10^9) must be 1 to {MAX_DROPOUT_NANO}"),
			BadWindow => f.write_str(
				"kernel and stride must be at least 1, the kernel must fit the image, and the \
				 padding be at most half the kernel",
			),
			BadSkip => f.write_str("a skip must step over layers to an equal shape"),
			LayerMismatch => f.write_str(
				"a layer cannot take what the one before it gives: windows need an image, an \
				 embedding tokens, an attention a sequence, and nothing but an embedding takes \
				 tokens",
			),
			LayerTooLarge => {
				write!(f, "a layer gives more than {MAX_ROW_ELEMENTS} numbers for a row")
			}
			BadOutput => f.write_str("the last layer must give dataset.classes numbers"),
			NoParameters => f.write_str("the model has nothing to train"),
			TooManyPositions => f.write_str(
				"rows of a batch, or validation rows, times positions, heads or patches must be below 2^32",
			),
			TokensDisagree => f.write_str(
				"text needs a model of tokens, a model of tokens needs text, and it is neither \
				 divided nor normalised",
			),
			BadWarmup => f.write_str(
				"the warm-up must be shorter than the training, and the learning rate (x 10^9) at \
				 least its steps",
			),
			BadFinalRate => {
				f.write_str("the final learning rate must not be above the learning rate")
			}
			BadClipNorm => write!(f, "the largest norm (x 10^9) must be 0 to {MAX_NANO}"),
			BadInputNoise => write!(
				f,
				"the noise (x 10^9) must be 0 to {MAX_NANO}, and 0 where the inputs are tokens"
			),
			BadEarlyStop => {
				write!(f, "patience must be at least 1 and min_delta (x 10^9) at most {MAX_NANO}")
			}
			BadLabels => write!(
				f,
				"the format idx needs a file of labels with content hash, 1 to \
				 {MAX_DATASET_BYTES} bytes and an http://, https:// or iroh:// location; other \
				 formats take none"
			),
			BadInitialModel => write!(
				f,
				"the initial model needs a content hash, 1 to {MAX_DATASET_BYTES} bytes and an \
				 http://, https:// or iroh:// location, or chain: for a blob of the chain"
			),
			DecayOvershoots => f.write_str(
				"the learning rate at its peak times the weight decay is above 1: a step would take \
				 more of a parameter than there is, and training would diverge",
			),
			NoRowsRoot => f.write_str(
				"the rows root is zero. It is computed from the data: where dataset.path names the \
				 file, trainyard estimate JOB.toml prints it, and trainyard submit fills it in",
			),
			NoInitialParameters => f.write_str(
				"the hash of the initial parameters is zero. It is computed from the model: where \
				 initial_model.path names the file, trainyard estimate JOB.toml prints it, and \
				 trainyard submit fills it in",
			),
			BadMapping => write!(
				f,
				"a mapping must be the first layer, of numbers or of an image (tokens have none), with 1 \
				 to {MAX_REFLECTIONS} reflections over at least 2 numbers, and its patches must divide \
				 height and width of the image"
			),
			MappedFineTuning => f.write_str(
				"a fine-tuning has no mapping: its seed would draw another one than the initial model was \
				 trained with. Fold that into the first layer (docs/mapping.md), and leave the mapping out",
			),
		}
	}
}

#[cfg(feature = "std")]
impl std::error::Error for SpecError {}
