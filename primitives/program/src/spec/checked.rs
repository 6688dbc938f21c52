//! A specification that keeps all rules.

use super::{
	DataFormat, EarlyStop, InitialModel, Input, JobSpec, Optimizer, Placed, Schedule, Shaped,
	SpecError, MAX_BATCH, MAX_DECAY_NANO, MAX_NANO, MAX_PARAMETERS, MAX_SEGMENTS, MAX_SHRINK,
	MAX_STEPS,
};
use crate::H256;
use alloc::vec::Vec;
use core::ops::Deref;
use serde::{Serialize, Serializer};

/// A specification that was checked, with what checking has computed.
///
/// Only [`JobSpec::check`] makes one, and nothing changes one: code that holds one need not check
/// again. It can be written, as the specification that it is, but not read: a specification from
/// elsewhere is a [`JobSpec`] until it is checked here.
///
/// ```
/// use trainyard_program::{spec::{JobSpec, SpecError}, work::Parts};
///
/// let spec = JobSpec::example().check()?;
/// assert_eq!((spec.segments(), spec.parameters()), (30, 6_570));
/// let parts = Parts::of(&spec);
/// assert_eq!(parts.flop_of(&spec, 0), Ok(parts.evaluation));
///
/// let mut other = spec.into_spec();
/// other.training.steps = 0;
/// assert_eq!(other.check(), Err(SpecError::BadSteps));
/// # Ok::<(), SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedSpec {
	spec: JobSpec,
	layers: Vec<Shaped>,
	parameters: u64,
}

impl CheckedSpec {
	/// Returns the specification.
	pub fn spec(&self) -> &JobSpec {
		&self.spec
	}

	/// Returns the specification, which may be changed from here on.
	pub fn into_spec(self) -> JobSpec {
		self.spec
	}

	/// Returns the model's layers with their shapes, from the input on; there is at least one.
	pub fn layers(&self) -> &[Shaped] {
		&self.layers
	}

	/// Returns the number of parameters, from 1 to [`MAX_PARAMETERS`].
	pub fn parameters(&self) -> u64 {
		self.parameters
	}
}

impl Deref for CheckedSpec {
	type Target = JobSpec;

	fn deref(&self) -> &JobSpec {
		&self.spec
	}
}

/// It is encoded as the specification.
impl Serialize for CheckedSpec {
	fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
		self.spec.serialize(serializer)
	}
}

impl JobSpec {
	/// Checks the rules that a specification must keep; fails with the first that it breaks. The
	/// size of the work is checked where it is counted.
	pub fn check(self) -> Result<CheckedSpec, SpecError> {
		self.dataset.check()?;
		if let Some(InitialModel { file, parameters }) = &self.initial_model {
			let on_chain = file.is_on_chain() && file.is_sized();
			ensure(file.is_valid() || on_chain, SpecError::BadInitialModel)?;
			ensure(*parameters != H256::zero(), SpecError::NoInitialParameters)?;
		}
		let (layers, parameters) = self.check_model()?;
		let fits = self.initial_model.is_none() || !self.is_mapped();
		ensure(fits, SpecError::MappedFineTuning)?;
		self.check_training()?;
		Ok(CheckedSpec { spec: self, layers, parameters })
	}

	/// Checks the rules of the model, by itself and with the data. Returns its layers and the
	/// number of its parameters.
	fn check_model(&self) -> Result<(Vec<Shaped>, u64), SpecError> {
		let d = &self.dataset;
		let (tokens, text) = (self.model.input() == Input::Tokens, d.format == DataFormat::Text);
		ensure(tokens == text, SpecError::TokensDisagree)?;
		let layers = self.shaped_layers()?;
		let add = |sum: u64, layer: &Shaped| sum.checked_add(layer.parameters()?);
		let parameters = layers.iter().try_fold(0, add).unwrap_or(u64::MAX);
		ensure(layers.iter().any(Shaped::has_parameters), SpecError::NoParameters)?;
		ensure(parameters <= MAX_PARAMETERS, SpecError::ModelTooLarge)?;
		// Rows of vectors and matrices of attentions are counted in 32 bits.
		let most = layers.iter().map(|at| match at.placed {
			Placed::Attention { heads, .. } => heads.max(at.input.vectors().0),
			Placed::Mapping { width, .. } => at.input.vectors().1.checked_div(width).unwrap_or(0),
			_ => at.output.vectors().0,
		});
		let rows = self.training.batch_size.max(d.validation_rows);
		let fits = |n: u32| n.checked_mul(rows).is_some();
		ensure(most.max().is_none_or(fits), SpecError::TooManyPositions)?;
		Ok((layers, parameters))
	}

	/// Checks the rules of the training.
	fn check_training(&self) -> Result<(), SpecError> {
		let t = &self.training;
		ensure((1..=MAX_STEPS).contains(&t.steps), SpecError::BadSteps)?;
		ensure(
			(1..=MAX_BATCH).contains(&t.batch_size) && t.batch_size <= self.dataset.train_rows,
			SpecError::BadBatchSize,
		)?;
		ensure((1..=t.steps).contains(&t.checkpoint_interval), SpecError::BadCheckpointInterval)?;
		ensure(self.segments() <= MAX_SEGMENTS, SpecError::TooManySegments)?;
		ensure((1..=MAX_NANO).contains(&t.learning_rate_nano), SpecError::BadLearningRate)?;
		ensure(t.weight_decay_nano <= MAX_NANO, SpecError::BadWeightDecay)?;
		// The rate is never above its peak. Beyond 1 a decayed parameter changes its sign, and beyond
		// 2 it grows in every step, whatever the data: a trap for whoever trains it.
		let shrink =
			u128::from(t.learning_rate_nano).saturating_mul(u128::from(t.weight_decay_nano));
		ensure(shrink <= MAX_SHRINK, SpecError::DecayOvershoots)?;
		// The rate of a warm-up step is at least 10^-9.
		let rises = u64::from(t.warmup_steps) <= t.learning_rate_nano;
		ensure(t.warmup_steps < t.steps && rises, SpecError::BadWarmup)?;
		if let Schedule::Cosine { final_rate_nano } = t.schedule {
			ensure(final_rate_nano <= t.learning_rate_nano, SpecError::BadFinalRate)?;
		}
		ensure(t.clip_norm_nano <= MAX_NANO, SpecError::BadClipNorm)?;
		let noisy = t.input_noise_nano > 0 && self.model.input() == Input::Tokens;
		ensure(t.input_noise_nano <= MAX_NANO && !noisy, SpecError::BadInputNoise)?;
		if let Some(EarlyStop { patience, min_delta_nano }) = t.early_stop {
			ensure(patience > 0 && min_delta_nano <= MAX_NANO, SpecError::BadEarlyStop)?;
		}
		match t.optimizer {
			Optimizer::Sgd { momentum_nano, .. } => {
				ensure(momentum_nano <= MAX_DECAY_NANO, SpecError::BadMomentum)
			}
			Optimizer::AdamW { beta1_nano, beta2_nano, epsilon_nano }
			| Optimizer::Adam { beta1_nano, beta2_nano, epsilon_nano } => {
				ensure(
					beta1_nano <= MAX_DECAY_NANO && beta2_nano <= MAX_DECAY_NANO,
					SpecError::BadMomentum,
				)?;
				ensure((1..=MAX_NANO).contains(&epsilon_nano), SpecError::BadEpsilon)
			}
		}
	}
}

/// Fails with `error` unless `ok`.
pub(super) fn ensure(ok: bool, error: SpecError) -> Result<(), SpecError> {
	if ok {
		Ok(())
	} else {
		Err(error)
	}
}
