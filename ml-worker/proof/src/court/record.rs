//! What a recorder holds, as a dispute asks for it.

use super::{disk::Mark, lock, Computed, HeldState, Lent, RecordError, Recorder};
use crate::bundle::files;
use rayon::prelude::*;
use std::sync::Arc;
use trainyard_court::{
	game::{
		player::{Record, Slices, StateAt},
		Moment, Witness,
	},
	referee::StateTensors,
};
use trainyard_engine::{canonical_bytes, content_hash, Tensor32};
use trainyard_protocol::{
	bundle::{bundle_leaves, Checkpoint, Evaluation},
	merkle::Frontier,
	model_file::Layout,
	trace, H256,
};

pub(super) use trainyard_court::game::player::StateAt as StateKey;

impl Recorder {
	/// Returns a state; `None` where training diverged before.
	pub(super) fn try_state(&self, at: StateAt) -> Result<Option<Arc<HeldState>>, RecordError> {
		let held = lock(&self.memory).state.clone();
		if let Some((_, held)) = held.filter(|(key, _)| *key == at) {
			return Ok(Some(held));
		}
		let found = match at {
			StateAt::Checkpoint(0) => Some(Arc::new(self.initial()?)),
			StateAt::Checkpoint(checkpoint) => Some(Arc::new(self.committed(checkpoint)?)),
			StateAt::Steps { segment, steps } => {
				self.with_replay(segment, |replay| replay.state(self, steps))?
			}
		};
		if let Some(found) = &found {
			lock(&self.memory).state = Some((at, found.clone()));
		}
		Ok(found)
	}

	/// Returns the mark of a segment after so many steps; `None` where training diverged before.
	pub(super) fn try_mark(&self, segment: u32, steps: u32) -> Result<Option<Mark>, RecordError> {
		self.with_replay(segment, |replay| replay.mark(self, steps))
	}

	/// Returns the leaves of the steps of a segment before step `to`.
	pub(super) fn try_steps(&self, segment: u32, to: u32) -> Result<Option<Frontier>, RecordError> {
		let (from, _) = self.steps_of(segment)?;
		if to == from {
			return Ok(Some(Frontier::new()));
		}
		Ok(self.try_mark(segment, to)?.map(|mark| mark.steps))
	}

	/// Returns whether training diverged in a segment, where and by what.
	pub(super) fn try_divergence(
		&self,
		segment: u32,
	) -> Result<Option<(u32, Witness)>, RecordError> {
		if let Some(known) = self.with_replay(segment, |replay| Ok(replay.marks.divergence))? {
			return Ok(known);
		}
		let (_, to) = self.steps_of(segment)?;
		let end = self.try_state(StateAt::Steps { segment, steps: to })?;
		let found = match end {
			Some(end) => self.divergence_at_end(segment, to, &end)?,
			None => {
				let ends_in = self.with_replay(segment, |replay| Ok(replay.marks.ends_in))?;
				let step = ends_in.ok_or(RecordError::NoSegment { segment })?;
				let made = self.try_computed(&Moment::Step { segment, step })?;
				// Training it ended there, so recording it shows why.
				let witness = made.and_then(|made| made.witness);
				Some((step, witness.ok_or(RecordError::Disagrees { step })?))
			}
		};
		self.with_replay(segment, |replay| {
			replay.marks.divergence = Some(found);
			replay.keep(self)
		})?;
		Ok(found)
	}

	/// Returns what is not finite at the end of a segment.
	fn divergence_at_end(
		&self,
		segment: u32,
		to: u32,
		end: &HeldState,
	) -> Result<Option<(u32, Witness)>, RecordError> {
		if let Some((tensor, element)) = end.not_finite() {
			return Ok(Some((to, Witness::State { tensor, element })));
		}
		let Some(found) = self.try_evaluated(segment.saturating_add(1))? else { return Ok(None) };
		let evaluation = found.evaluation;
		let slices = trace::slices_root(found.slices.contents());
		let is_finite = evaluation.loss().is_finite();
		Ok((!is_finite).then_some((to, Witness::Evaluation { evaluation, slices })))
	}

	/// Returns the bytes of the model file of the last checkpoint.
	fn try_model(&self) -> Result<&[u8], RecordError> {
		if let Some(held) = self.model.get() {
			return Ok(held);
		}
		let last = self.claims.checkpoints.len().saturating_sub(1) as u32;
		let layout = Layout::of(&self.case.spec);
		let state = self.try_state(StateAt::Checkpoint(last))?;
		let state = state.ok_or(RecordError::NoCheckpoint { checkpoint: last })?;
		Ok(self.model.get_or_init(|| state.file(&self.tensors, &layout)))
	}

	/// Returns the bytes of the blob that stands for a state, if one was given.
	fn try_blob(&self, state: u32) -> Result<Option<&[u8]>, RecordError> {
		let Some(path) = &self.blob else { return Ok(None) };
		if let Some(held) = self.blob_bytes.get() {
			return Ok(Some(held));
		}
		let bytes = files::read(path, self.layout.size)?;
		if bytes.len() as u64 != self.layout.size {
			return Err(RecordError::Blob { state });
		}
		Ok(Some(self.blob_bytes.get_or_init(|| bytes)))
	}

	/// Returns the bytes of each tensor of the blob that stands for a state, in the order of
	/// [`StateTensors`].
	fn blob_tensors(&self, state: u32) -> Result<Option<Vec<&[u8]>>, RecordError> {
		let Some(blob) = self.try_blob(state)? else { return Ok(None) };
		let mut tensors = vec![&[][..]; self.tensors.tensors().len()];
		for place in &self.layout.tensors {
			let at = self.tensors.find(&place.name).and_then(|at| tensors.get_mut(at as usize));
			let end = place.begin.saturating_add(place.bytes);
			if let (Some(at), Some(bytes)) = (at, blob.get(place.begin as usize..end as usize)) {
				*at = bytes;
			}
		}
		Ok(Some(tensors))
	}

	/// Returns the parameters with which a fine-tuning begins, in the order of [`StateTensors`].
	fn initial_parameters(&self) -> Option<Vec<&Tensor32>> {
		let model = self.inputs.initial_model()?;
		let names = StateTensors::parameters(&self.case.spec);
		names.tensors().iter().map(|tensor| model.get(&tensor.name)).collect()
	}

	fn evaluated_of<T>(
		&self,
		checkpoint: u32,
		read: impl FnOnce(&super::Evaluated) -> T,
	) -> Option<T> {
		self.noted(self.try_evaluated(checkpoint)).map(|found| read(&found))
	}

	fn computed_at(&self, at: &Moment) -> Option<Arc<Computed>> {
		self.noted(self.try_computed(at))
	}
}

impl Record for Recorder {
	type Computed<'a> = Lent<'a>;

	fn checkpoints(&self) -> &[Checkpoint] {
		&self.shown.as_ref().unwrap_or(&self.claims).checkpoints
	}

	fn leaves(&self) -> Vec<H256> {
		bundle_leaves(self.checkpoints().iter().copied(), self.claims.diverged)
	}

	fn state(&self, at: StateAt) -> Option<H256> {
		self.noted(match at {
			StateAt::Steps { segment, steps } => {
				self.try_mark(segment, steps).map(|mark| mark.map(|mark| mark.state))
			}
			_ => self.try_state(at).map(|state| state.map(|state| state.hash)),
		})
	}

	fn contents(&self, at: StateAt) -> Option<Vec<H256>> {
		self.noted(self.try_state(at)).map(|state| state.contents.clone())
	}

	fn tensor<T>(&self, at: StateAt, tensor: u32, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		self.noted(self.try_state(at))?.bytes(tensor).map(read)
	}

	fn steps(&self, segment: u32, to: u32) -> Option<Frontier> {
		self.noted(self.try_steps(segment, to))
	}

	fn step(&self, segment: u32, step: u32) -> Option<(f32, H256)> {
		self.computed_at(&Moment::Step { segment, step })?.step
	}

	fn computed(&self, at: &Moment) -> Option<Lent<'_>> {
		Some(Lent { recorder: self, made: self.computed_at(at)? })
	}

	fn slices<T>(&self, checkpoint: u32, read: impl FnOnce(&Slices) -> T) -> Option<T> {
		self.evaluated_of(checkpoint, |found| read(&found.slices))
	}

	fn evaluation(&self, checkpoint: u32) -> Option<Evaluation> {
		self.evaluated_of(checkpoint, |found| found.evaluation)
	}

	fn divergence(&self, segment: u32) -> Option<(u32, Witness)> {
		self.noted(self.try_divergence(segment))
	}

	fn witness(&self, segment: u32, step: u32) -> Option<Witness> {
		self.computed_at(&Moment::Step { segment, step })?.witness
	}

	fn model<T>(&self, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		self.noted(self.try_model().map(Some)).map(read)
	}

	fn stored_contents(&self, state: u32) -> Option<Vec<H256>> {
		match self.noted(self.blob_tensors(state)) {
			Some(tensors) => Some(tensors.into_par_iter().map(content_hash).collect()),
			None if self.blob.is_none() => self.contents(StateAt::Checkpoint(state)),
			None => None,
		}
	}

	fn stored<T>(&self, state: u32, tensor: u32, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		match self.noted(self.blob_tensors(state)) {
			Some(tensors) => tensors.get(tensor as usize).map(|bytes| read(bytes)),
			None if self.blob.is_none() => self.tensor(StateAt::Checkpoint(state), tensor, read),
			None => None,
		}
	}

	fn blob<T>(&self, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		let found = self.try_blob(0).and_then(|blob| blob.ok_or(RecordError::Blob { state: 0 }));
		self.noted(found.map(Some)).map(read)
	}

	fn parameters(&self) -> Option<Vec<H256>> {
		let parameters = self.initial_parameters()?;
		let content = |tensor: &&Tensor32| content_hash(&canonical_bytes(&tensor.data));
		Some(parameters.par_iter().map(content).collect())
	}

	fn parameter<T>(&self, tensor: u32, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
		let parameters = self.initial_parameters()?;
		parameters.get(tensor as usize).map(|tensor| read(&canonical_bytes(&tensor.data)))
	}
}
