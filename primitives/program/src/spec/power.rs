//! Which accepted work is credited as power.
//!
//! Power decides who writes blocks, so it must cost computation. The operator list counts every
//! operation, but a specification can be crafted such that most of them need not be done to know
//! their results: because a step repeats an earlier computation, because steps change nothing, or
//! because results are zero or not used. Such a job is valid: it is computed, checked and paid like
//! any other, but it earns no power.
//!
//! The rules read the specification alone, as the chain does not see the data. Data can still be
//! such that a training stands still once it has learned them. The cost that then remains is the
//! protocol fee on each `ut`, which is burned: `docs/proof-of-hashrate.md` counts it.

use super::{Input, JobSpec, Layer, Optimizer, ONE_NANO};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;

/// Least and largest standard deviation x 10^9 of the noise on the inputs: 10^-3 and 1.
/// Without noise a row has the same inputs in every epoch.
pub const POWER_NOISE_NANO: core::ops::RangeInclusive<u64> = 1_000_000..=ONE_NANO;
/// Least share x 10^9 of dropped elements directly after an embedding, 1 %. It does for tokens what
/// noise does for numbers.
pub const MIN_POWER_DROPOUT_NANO: u64 = 10_000_000;
/// Largest share x 10^9 of dropped elements: one half. Products with zeros can be left out.
pub const MAX_POWER_DROPOUT_NANO: u64 = 500_000_000;
/// Least learning rate x 10^9: 10^-6. A smaller change of a parameter is rounded away.
pub const MIN_POWER_RATE_NANO: u64 = 1_000;
/// Largest learning rate x 10^9 of SGD, 1, and of Adam and AdamW, 1/10: beyond them one step
/// can switch off all units of a layer for good.
pub const MAX_POWER_RATE_NANO: (u64, u64) = (ONE_NANO, ONE_NANO / 10);
/// Least norm x 10^9 that gradients are clipped to, where they are: 10^-3.
pub const MIN_POWER_CLIP_NANO: u64 = 1_000_000;
/// Largest norm x 10^9 that gradients are clipped to: 10. Moments are at most that large.
pub const MAX_POWER_CLIP_NANO: u64 = 10 * ONE_NANO;
/// Largest epsilon x 10^9 of Adam and AdamW, 10^-3: a larger one shortens all steps.
pub const MAX_POWER_EPSILON_NANO: u64 = 1_000_000;
/// Largest weight decay x 10^9: 1.
pub const MAX_POWER_DECAY_NANO: u64 = ONE_NANO;
/// Largest product of learning rate and weight decay, x 10^18: 1/10, the share of a parameter
/// that one step takes away.
pub const MAX_POWER_SHRINK: u128 = 100_000_000_000_000_000;
/// Least outputs or filters of every layer but the last. A layer of one or two units dies by
/// chance, and with it everything before it stands still: `n` ReLU units after `m` others are all
/// dead from the beginning where no weight is positive, with probability `2^(-m n)`.
pub const MIN_POWER_WIDTH: u32 = 4;

/// Least outputs or filters of the layer after a mapping, for each of its reflections. A reflection
/// counts 6 FLOP for each number of a row, of which 3 can be left out, as a vector has one magnitude.
/// The layer after it counts at least 4 for each number and output, so all that can be left out is at
/// most 9 % of both.
pub const MIN_POWER_MAPPED: u32 = 8;

/// Why the accepted work of a job is not credited as power.
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
pub enum NoPower {
	/// It begins with a given model. A model that is crafted of dead units lets most operations be
	/// skipped, as `fma(0, b, acc)` is `acc`.
	FineTuning,
	/// A row has the same inputs in every epoch: `training.input_noise_nano` is out of
	/// [`POWER_NOISE_NANO`], or the embedding of tokens is not followed by a dropout of at least
	/// [`MIN_POWER_DROPOUT_NANO`].
	SameInputs,
	/// Steps can be too small to change a parameter: the learning rate is below
	/// [`MIN_POWER_RATE_NANO`], more than half of the steps warm up, gradients are clipped below
	/// [`MIN_POWER_CLIP_NANO`], or epsilon is above [`MAX_POWER_EPSILON_NANO`].
	Standstill,
	/// Steps can be so large that units die: the learning rate is above
	/// [`MAX_POWER_RATE_NANO`], or parameters are decayed by more than
	/// [`MAX_POWER_DECAY_NANO`] or [`MAX_POWER_SHRINK`].
	TooLargeSteps,
	/// Results are zero or unused: more than [`MAX_POWER_DROPOUT_NANO`] are dropped, or windows
	/// have gaps between them.
	Unused,
	/// A layer before the last has fewer than [`MIN_POWER_WIDTH`] outputs, and can die by
	/// chance.
	TooNarrow,
	/// Gradients are not clipped, or to more than [`MAX_POWER_CLIP_NANO`]: moments and velocities
	/// can be so large that they round gradients away, and a start state can hold such ones.
	Unclipped,
	/// Adam adds the weight decay to the gradient after clipping, so parameters of any size make
	/// moments of any size. AdamW decays the parameters themselves.
	DecayPastClipping,
	/// The square of beta1 is not below beta2: a first moment can outlast the second, and a step
	/// can be as long as it likes.
	BetasDisagree,
	/// A step can be so long that it reaches any state: its longest is the learning rate times
	/// `K` of Adam and AdamW, at most 1/10, and times the largest velocity of SGD, at most 1.
	LongSteps,
	/// A mapping is not directly followed by a linear layer or a convolution of stride 1, of at least
	/// [`MIN_POWER_MAPPED`] outputs for each of its reflections: much of the work would be the mapping's.
	MostlyMapping,
}

impl JobSpec {
	/// Returns whether accepted work is credited as power. Work that is not credited pays its
	/// trainers like any other.
	pub fn mints_power(&self) -> bool {
		self.no_power().is_none()
	}

	/// Returns the first reason why accepted work is not credited as power; `None` where it is.
	pub fn no_power(&self) -> Option<NoPower> {
		self.no_power_in_one_go().or_else(|| crate::reachable::unbounded(self))
	}

	/// Does what [`Self::no_power`] does for a training that is computed again as a whole, from its
	/// initial state on, as a trial of drilling: no state in it is taken from whoever trained it.
	pub fn no_power_in_one_go(&self) -> Option<NoPower> {
		let layers = self.model.layers(&self.dataset);
		let reasons = [
			(self.initial_model.is_some(), NoPower::FineTuning),
			(!self.has_fresh_inputs(&layers), NoPower::SameInputs),
			(self.may_stand_still(), NoPower::Standstill),
			(self.may_leap(), NoPower::TooLargeSteps),
			(layers.iter().any(leaves_unused), NoPower::Unused),
			(is_narrow(&layers), NoPower::TooNarrow),
			(is_mostly_mapping(&layers), NoPower::MostlyMapping),
		];
		reasons.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
	}

	/// Returns whether what a step computes depends on the seed, whatever the rows are: inputs have noise, or tokens
	/// are dropped behind their embedding.
	pub fn has_noise(&self) -> bool {
		self.has_fresh_inputs(&self.model.layers(&self.dataset))
	}

	/// Returns whether the seed gives every step different inputs.
	fn has_fresh_inputs(&self, layers: &[Layer]) -> bool {
		match self.model.input() {
			Input::Numbers | Input::Image { .. } => {
				POWER_NOISE_NANO.contains(&self.training.input_noise_nano)
			}
			Input::Tokens => matches!(
				layers,
				[Layer::Embedding { .. }, Layer::Dropout { rate_nano }, ..]
					if *rate_nano >= MIN_POWER_DROPOUT_NANO
			),
		}
	}

	fn may_stand_still(&self) -> bool {
		let t = &self.training;
		let epsilon = match t.optimizer {
			Optimizer::Sgd { .. } => 0,
			Optimizer::AdamW { epsilon_nano, .. } | Optimizer::Adam { epsilon_nano, .. } => {
				epsilon_nano
			}
		};
		t.learning_rate_nano < MIN_POWER_RATE_NANO
			|| t.warmup_steps > t.steps / 2
			|| (1..MIN_POWER_CLIP_NANO).contains(&t.clip_norm_nano)
			|| epsilon > MAX_POWER_EPSILON_NANO
	}

	fn may_leap(&self) -> bool {
		let t = &self.training;
		let (sgd, adam) = MAX_POWER_RATE_NANO;
		let most = match t.optimizer {
			Optimizer::Sgd { .. } => sgd,
			Optimizer::AdamW { .. } | Optimizer::Adam { .. } => adam,
		};
		let shrink =
			u128::from(t.learning_rate_nano).saturating_mul(u128::from(t.weight_decay_nano));
		t.learning_rate_nano > most
			|| t.weight_decay_nano > MAX_POWER_DECAY_NANO
			|| shrink > MAX_POWER_SHRINK
	}
}

/// Returns whether many results of a layer, or of the one before it, are zero or go nowhere.
fn leaves_unused(layer: &Layer) -> bool {
	match *layer {
		Layer::Conv2d { kernel, stride, .. }
		| Layer::MaxPool2d { kernel, stride }
		| Layer::AvgPool2d { kernel, stride } => stride > kernel,
		Layer::Dropout { rate_nano } => rate_nano > MAX_POWER_DROPOUT_NANO,
		_ => false,
	}
}

/// Returns whether a layer, other than the last that sets its own number of outputs, has too few of
/// them.
fn is_narrow(layers: &[Layer]) -> bool {
	let mut widths = layers.iter().rev().filter_map(|layer| match *layer {
		Layer::Linear { outputs } => Some(outputs),
		Layer::Conv2d { filters, .. } => Some(filters),
		Layer::Embedding { width } => Some(width),
		_ => None,
	});
	// The last one gives the classes.
	widths.next();
	widths.any(|width| width < MIN_POWER_WIDTH)
}

/// Returns whether a mapping is followed by less work than it counts.
fn is_mostly_mapping(layers: &[Layer]) -> bool {
	match layers {
		[Layer::Mapping { reflections, .. }, rest @ ..] => match rest.first() {
			// With longer strides a convolution may leave the end of an image unread.
			Some(Layer::Linear { outputs } | Layer::Conv2d { filters: outputs, stride: 1, .. }) => {
				*outputs < reflections.saturating_mul(MIN_POWER_MAPPED)
			}
			_ => true,
		},
		_ => false,
	}
}

impl fmt::Display for NoPower {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			NoPower::FineTuning => "a fine-tuning may skip what its initial model makes zero",
			NoPower::SameInputs => {
				"its inputs repeat from epoch to epoch: set training.input_noise to 0.001 to 1, or \
				 for tokens a dropout of at least 0.01 behind the embedding"
			}
			NoPower::Standstill => {
				"its steps may change nothing: the learning rate must be at least 0.000001, \
				 clip_norm 0 or at least 0.001, epsilon at most 0.001, and the warm-up at most half \
				 of the steps"
			}
			NoPower::TooLargeSteps => {
				"its steps may switch units off for good: the learning rate must be at most 0.1 (1 \
				 with SGD), the weight decay at most 1, and their product at most 0.1"
			}
			NoPower::Unused => {
				"much of its work has no effect: dropout must be at most 0.5, and a stride no \
				 longer than its kernel"
			}
			NoPower::TooNarrow => {
				"a narrow layer may die: every layer but the last needs at least 4 outputs or \
				 filters"
			}
			NoPower::Unclipped => {
				"its moments have no bound that binds: set training.clip_norm to at most 10, for \
				 example to 1.0"
			}
			NoPower::DecayPastClipping => {
				"Adam adds its weight decay to the clipped gradient, so its moments have no bound: \
				 use adamw, or set training.weight_decay = 0"
			}
			NoPower::BetasDisagree => {
				"its steps have no bound: the square of beta1 must be below beta2"
			}
			NoPower::LongSteps => {
				"one step may reach any state: the learning rate times K of its betas must be at \
				 most 0.1 (with SGD the learning rate times clip_norm / (1 - momentum) at most 1)"
			}
			NoPower::MostlyMapping => {
				"its mapping is much of its work: a linear layer or a convolution of stride 1, of at least \
				 8 outputs for each reflection, must directly follow it"
			}
		})
	}
}
