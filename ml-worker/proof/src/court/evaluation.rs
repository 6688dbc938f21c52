//! Evaluations, slice by slice.

use super::{lock, record::StateKey, HeldState, RecordError, Recorder};
use std::sync::Arc;
use trainyard_court::game::player::{SliceBytes, Slices};
use trainyard_engine::SliceValues;
use trainyard_protocol::{bundle::Evaluation, content};
use trainyard_strict::SumChain;

/// An evaluation, and what it is the mean of.
pub(super) struct Evaluated {
	/// Its slices.
	pub slices: Slices,
	/// The evaluation, infinite or NaN as it may be.
	pub evaluation: Evaluation,
}

impl Evaluated {
	fn new(values: Vec<SliceValues>) -> Self {
		let (mut sum, mut labels, mut correct) = (SumChain::default(), 0u64, 0u32);
		let mut take = |slice: SliceValues| -> SliceBytes {
			for loss in &slice.losses {
				sum.add(labels, *loss);
				labels += 1;
			}
			correct += slice.correct.iter().filter(|hit| **hit == 1.0).count() as u32;
			(content::le_bytes(&slice.losses), content::le_bytes(&slice.correct))
		};
		let slices = Slices::new(values.into_iter().map(&mut take).collect());
		let loss = sum.finish(labels) / labels as f32;
		Self { slices, evaluation: Evaluation::new(loss, correct, labels as u32) }
	}
}

impl Recorder {
	/// Returns the state that the evaluation of a checkpoint scores: the initial one, or the one to which
	/// the segment before comes. `None` where training diverged before.
	pub(super) fn try_evaluated_state(
		&self,
		checkpoint: u32,
	) -> Result<Option<Arc<HeldState>>, RecordError> {
		match checkpoint.checked_sub(1) {
			None => self.try_state(StateKey::Checkpoint(0)),
			Some(segment) => {
				let (_, steps) = self.steps_of(segment)?;
				self.try_state(StateKey::Steps { segment, steps })
			}
		}
	}

	/// Returns the evaluation of a checkpoint; `None` where training diverged before.
	pub(super) fn try_evaluated(
		&self,
		checkpoint: u32,
	) -> Result<Option<Arc<Evaluated>>, RecordError> {
		let held = lock(&self.memory).evaluated.clone();
		if let Some((_, held)) = held.filter(|(at, _)| *at == checkpoint) {
			return Ok(Some(held));
		}
		let Some(state) = self.try_evaluated_state(checkpoint)? else { return Ok(None) };
		self.count(|work| work.evaluations += 1);
		let values = self.engine.evaluate_values(&state.state(&self.tensors)?)?;
		let found = Arc::new(Evaluated::new(values));
		lock(&self.memory).evaluated = Some((checkpoint, found.clone()));
		Ok(Some(found))
	}
}
