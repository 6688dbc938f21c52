//! How a model is trained.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// How the model is trained.
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
	/// Learning rate x 10^9; with a schedule, its peak.
	pub learning_rate_nano: u64,
	/// Weight decay x 10^9; 0 for none. It is decoupled (Loshchilov and Hutter 2019), except with
	/// [`Optimizer::Adam`].
	pub weight_decay_nano: u64,
	/// The loss that is minimised, as its mean over the labels of the batch.
	#[serde(default)]
	pub loss: Loss,
	/// What the learning rate does after the warm-up.
	#[serde(default)]
	pub schedule: Schedule,
	/// First steps, in which the learning rate rises linearly to its peak; 0 for none.
	#[serde(default)]
	pub warmup_steps: u32,
	/// Largest norm x 10^9 of the gradient of all parameters together: a longer one is scaled
	/// down to it; 0 for no limit.
	#[serde(default)]
	pub clip_norm_nano: u64,
	/// Standard deviation x 10^9 of the noise that each step adds to its inputs, drawn from the
	/// assignment seed; 0 for none. Tokens cannot have noise.
	#[serde(default)]
	pub input_noise_nano: u64,
	/// When to end before all steps are done.
	#[serde(default)]
	pub early_stop: Option<EarlyStop>,
}

/// Losses.
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
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
pub enum Loss {
	/// Cross-entropy of the softmax of the outputs.
	#[default]
	CrossEntropy,
	/// Mean over the outputs of the squared distance to 1 for the label and 0 for the rest.
	MeanSquaredError,
}

/// What the learning rate does after the warm-up, see [`crate::schedule`].
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
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
pub enum Schedule {
	/// It stays.
	#[default]
	Constant,
	/// It falls along half a cosine.
	Cosine {
		/// Rate x 10^9 towards which it falls; at most the learning rate.
		final_rate_nano: u64,
	},
}

/// When a training ends early: at the first checkpoint at which, for `patience` checkpoints in a
/// row, the validation loss was not below the least loss so far minus `min_delta`.
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
#[serde(deny_unknown_fields)]
pub struct EarlyStop {
	/// Checkpoints without progress, at least 1.
	pub patience: u32,
	/// By how much x 10^9 a loss must fall to count as progress.
	pub min_delta_nano: u64,
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
		/// Momentum x 10^9; 0 for none, at most [`super::MAX_DECAY_NANO`].
		momentum_nano: u64,
		/// Nesterov's momentum: `p = p - lr (g + momentum v)`.
		#[serde(default)]
		nesterov: bool,
	},
	/// AdamW (Loshchilov and Hutter 2019, algorithm 2).
	#[serde(rename = "adamw")]
	AdamW {
		/// Decay of the first moment x 10^9, at most [`super::MAX_DECAY_NANO`].
		beta1_nano: u64,
		/// Decay of the second moment x 10^9, at most [`super::MAX_DECAY_NANO`].
		beta2_nano: u64,
		/// Added to the root of the second moment, x 10^9; above 0.
		epsilon_nano: u64,
	},
	/// Adam (Kingma and Ba 2015); weight decay is added to the gradient.
	Adam {
		/// Decay of the first moment x 10^9, at most [`super::MAX_DECAY_NANO`].
		beta1_nano: u64,
		/// Decay of the second moment x 10^9, at most [`super::MAX_DECAY_NANO`].
		beta2_nano: u64,
		/// Added to the root of the second moment, x 10^9; above 0.
		epsilon_nano: u64,
	},
}

/// What the rule for an early stop holds after some checkpoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
	/// The least validation loss so far; infinite before the first checkpoint. No loss of a checkpoint
	/// is a NaN.
	pub least: f32,
	/// Checkpoints since then.
	pub waited: u32,
}

impl Default for StopRule {
	fn default() -> Self {
		Self { least: f32::INFINITY, waited: 0 }
	}
}

impl EarlyStop {
	/// Takes the validation loss of checkpoint `checkpoint` (from 0), after those of all before it, and
	/// returns whether training ends there. (A rule that has said so is not asked again.)
	///
	/// The least loss starts with checkpoint 0; a loss is progress, and becomes the least, where
	/// `loss < least - min_delta` in binary32.
	pub fn take(&self, rule: &mut StopRule, checkpoint: u32, loss: f32) -> bool {
		let delta = trainyard_strict::from_nano(self.min_delta_nano);
		if checkpoint == 0 || loss < rule.least - delta {
			*rule = StopRule { least: loss, waited: 0 };
			return false;
		}
		rule.waited = rule.waited.saturating_add(1);
		rule.waited >= self.patience
	}

	/// Returns the checkpoint (from 0) at which a training with these validation losses, one for
	/// each checkpoint so far, ends; `None` while it goes on.
	pub fn stops_at(&self, losses: &[f32]) -> Option<u32> {
		let mut rule = StopRule::default();
		let mut checkpoints = (0u32..).zip(losses);
		checkpoints.find(|(at, loss)| self.take(&mut rule, *at, **loss)).map(|(at, _)| at)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn training_stops_without_progress() {
		let rule = EarlyStop { patience: 2, min_delta_nano: 100_000_000 };
		assert_eq!(rule.stops_at(&[]), None);
		assert_eq!(rule.stops_at(&[2.0, 1.5, 1.0, 0.5]), None);
		// 0.95 is below 1.0, but not by 0.1; two such losses in a row end the training.
		assert_eq!(rule.stops_at(&[2.0, 1.0, 0.95]), None);
		assert_eq!(rule.stops_at(&[2.0, 1.0, 0.95, 0.91]), Some(3));
		assert_eq!(rule.stops_at(&[2.0, 1.0, 0.95, 0.5, 0.6, 0.7, 0.1]), Some(5));
		let strict = EarlyStop { patience: 1, min_delta_nano: 0 };
		assert_eq!(strict.stops_at(&[1.0, 1.0]), Some(1));
		assert_eq!(strict.stops_at(&[f32::INFINITY, 1.0, f32::INFINITY]), Some(2));
	}
}
