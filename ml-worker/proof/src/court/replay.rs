//! A segment that is trained again, up to whatever step is asked for.

use super::{
	disk::{self, Mark, Marks},
	held::HeldState,
	RecordError, Recorder,
};
use std::{
	collections::BTreeSet,
	sync::{atomic::Ordering, Arc},
};
use trainyard_court::game::ranges::boundaries32;
use trainyard_engine::{EngineError, State, TensorMap};
use trainyard_protocol::{merkle::Frontier, H256};

/// Bytes that marks take beside the states, at most for one level of 64.
const MARKS: u64 = 64 << 10;

/// A segment, and how far it was trained again.
pub(super) struct Replay {
	pub segment: u32,
	/// Steps done before it.
	pub from: u32,
	/// Steps done after it.
	pub to: u32,
	/// Its folder on disk.
	key: String,
	pub marks: Marks,
	/// Whether there are marks that are not on disk.
	is_new: bool,
	/// After how many steps states are to be on disk, and the first of these, which is agreed.
	wanted: BTreeSet<u32>,
	cursor: Option<Cursor>,
}

/// A state on the way.
struct Cursor {
	steps: u32,
	state: State,
	leaves: Frontier,
}

impl Replay {
	/// Begins with a segment, whose first state has this hash. What is on disk of it is read.
	pub fn new(recorder: &Recorder, segment: u32, begin: &H256) -> Result<Self, RecordError> {
		let spec = &recorder.case().spec;
		let (from, to) = recorder.steps_of(segment)?;
		let key = disk::key(spec, &recorder.case().seed, segment, begin);
		let mut marks = Marks::default();
		if let Some(disk) = recorder.disk() {
			let (found, is_damaged) = disk.marks(&key)?;
			if is_damaged {
				tracing::warn!("marks of segment {segment} are damaged, and are computed again");
				recorder.count(|work| work.refused += 1);
			}
			marks = found.unwrap_or_default();
		}
		let (wanted, cursor, is_new) = (BTreeSet::new(), None, false);
		let mut replay = Self { segment, from, to, key, marks, is_new, wanted, cursor };
		replay.aim(recorder, from, to);
		Ok(replay)
	}

	/// Chooses which states are to be on disk for a dispute about the steps `from` to `to`: the first
	/// one, which is agreed, and as many of those at the boundaries as there is room for.
	fn aim(&mut self, recorder: &Recorder, from: u32, to: u32) {
		let Some(disk) = recorder.disk() else { return };
		let states = disk.room(recorder.state_layout().size, MARKS);
		let boundaries = boundaries32(from, to, 1);
		self.wanted = BTreeSet::new();
		if from > self.from && states > 0 {
			self.wanted.insert(from);
		}
		let rest = states.saturating_sub(self.wanted.len() as u64);
		if rest > 0 {
			let apart = (boundaries.len() as u64).div_ceil(rest).max(1) as usize;
			self.wanted.extend(boundaries.into_iter().skip(apart - 1).step_by(apart));
		}
	}

	/// Computes the milestones at the boundaries of the steps `from` to `to` and at `to`, in one pass
	/// where that is possible, and puts states on disk for what may be asked next.
	pub fn milestones(
		&mut self,
		recorder: &Recorder,
		from: u32,
		to: u32,
	) -> Result<(), RecordError> {
		self.aim(recorder, from, to);
		let mut all = boundaries32(from, to, 1);
		all.push(to);
		let is_known = |at: &u32| self.marks.after.contains_key(at);
		let is_whole = all.iter().all(is_known) && (from == self.from || is_known(&from));
		let lacks = self.lacks(recorder, from)?;
		if is_whole && !lacks {
			return Ok(());
		}
		if lacks && self.reach(recorder, from)? {
			self.note(recorder)?;
		}
		if !is_whole {
			for at in all {
				if self.marks.after.contains_key(&at) {
					continue;
				}
				if !self.reach(recorder, at)? {
					break;
				}
				self.note(recorder)?;
			}
		}
		self.keep_new(recorder)
	}

	/// Returns whether the state after so many steps should be on disk, and is not.
	fn lacks(&self, recorder: &Recorder, steps: u32) -> Result<bool, RecordError> {
		match recorder.disk() {
			Some(disk) if self.wanted.contains(&steps) => {
				Ok(!disk.states(&self.key)?.contains(&steps))
			}
			_ => Ok(false),
		}
	}

	/// Returns the mark after so many steps; `None` where training diverged before.
	pub fn mark(&mut self, recorder: &Recorder, steps: u32) -> Result<Option<Mark>, RecordError> {
		if self.is_past_the_end(steps) {
			return Ok(None);
		}
		if let Some(mark) = self.marks.after.get(&steps) {
			return Ok(Some(mark.clone()));
		}
		if !self.reach(recorder, steps)? {
			return Ok(None);
		}
		self.note(recorder)?;
		self.keep_new(recorder)?;
		Ok(self.marks.after.get(&steps).cloned())
	}

	/// Returns the state after so many steps; `None` where training diverged before.
	pub fn state(
		&mut self,
		recorder: &Recorder,
		steps: u32,
	) -> Result<Option<Arc<HeldState>>, RecordError> {
		match self.reach(recorder, steps)? {
			true => self.note(recorder).map(Some),
			false => Ok(None),
		}
	}

	/// Keeps what is known of the segment on disk.
	pub fn keep(&mut self, recorder: &Recorder) -> Result<(), RecordError> {
		self.is_new = false;
		match recorder.disk() {
			Some(disk) => disk.keep_marks(&self.key, &self.marks),
			None => Ok(()),
		}
	}

	/// Does so if there is anything new.
	fn keep_new(&mut self, recorder: &Recorder) -> Result<(), RecordError> {
		match self.is_new {
			true => self.keep(recorder),
			false => Ok(()),
		}
	}

	fn is_past_the_end(&self, steps: u32) -> bool {
		self.marks.ends_in.is_some_and(|last| steps > last)
	}

	/// Hashes the present state, notes it, and puts it on disk if it is wanted there.
	fn note(&mut self, recorder: &Recorder) -> Result<Arc<HeldState>, RecordError> {
		let Some(Cursor { steps, state, leaves }) = &self.cursor else {
			return Err(RecordError::NoSegment { segment: self.segment });
		};
		let steps = *steps;
		let tensors = state.to_host()?;
		let held = recorder.hold(tensors, self.segment)?;
		let mark = Mark { state: held.hash, steps: leaves.clone() };
		match self.marks.after.get(&steps) {
			Some(before) if *before != mark => return Err(RecordError::Disagrees { step: steps }),
			Some(_) => {}
			None => {
				self.marks.after.insert(steps, mark);
				self.is_new = true;
			}
		}
		if self.lacks(recorder, steps)? {
			// Without its mark, a state is of no use.
			self.keep_new(recorder)?;
			if let Some(disk) = recorder.disk() {
				let file = held.file(recorder.tensors(), recorder.state_layout());
				disk.keep_state(&self.key, steps, &file, &|at| self.wanted.contains(&at))?;
			}
		}
		Ok(Arc::new(held))
	}

	/// Trains up to so many steps; false where training diverged before. Begins with the nearest state
	/// that there is.
	fn reach(&mut self, recorder: &Recorder, steps: u32) -> Result<bool, RecordError> {
		if steps < self.from || steps > self.to || self.is_past_the_end(steps) {
			return Ok(false);
		}
		self.seek(recorder, steps)?;
		while let Some(at) = &self.cursor {
			if at.steps == steps {
				return Ok(true);
			}
			if self.lacks(recorder, at.steps)? {
				self.note(recorder)?;
			}
			let Some(at) = &mut self.cursor else { break };
			if recorder.stop().load(Ordering::Relaxed) {
				return Err(RecordError::Stopped);
			}
			recorder.count(|work| work.steps += 1);
			match recorder.engine().step(&mut at.state, at.steps) {
				Ok(made) if made.loss.is_finite() => {
					// A job has at most 100,000,000 steps, and a frontier counts to 2^32.
					let _ = at.leaves.push(made.leaf(at.steps));
					at.steps += 1;
				}
				Ok(_) | Err(EngineError::NotANumber { .. }) => {
					self.marks.ends_in = Some(at.steps);
					// A step with an infinite loss is taken by the engine, and is none of the segment.
					self.cursor = None;
					self.keep(recorder)?;
				}
				Err(error) => return Err(error.into()),
			}
		}
		Ok(false)
	}

	/// Takes the nearest state at or before so many steps.
	fn seek(&mut self, recorder: &Recorder, steps: u32) -> Result<(), RecordError> {
		let near = self.cursor.as_ref().map(|at| at.steps).filter(|at| *at <= steps);
		if let Some(disk) = recorder.disk() {
			let nearer = |at: &u32| *at <= steps && near.is_none_or(|near| *at > near);
			let saved: Vec<u32> = disk.states(&self.key)?.into_iter().filter(nearer).collect();
			for at in saved.into_iter().rev() {
				let found = disk.state(&self.key, at, recorder.state_layout().size)?;
				match found.and_then(|state| self.right(recorder, at, state)) {
					Some(cursor) => {
						self.cursor = Some(cursor);
						return Ok(());
					}
					None => {
						tracing::warn!(
							"a state after {at} steps is damaged, and is computed again"
						);
						recorder.count(|work| work.refused += 1);
						disk.forget(&self.key, at)?;
					}
				}
			}
		}
		if near.is_none() {
			let begin = recorder.begin_of(self.segment)?;
			let state = begin.state(recorder.tensors())?;
			self.cursor = Some(Cursor { steps: self.from, state, leaves: Frontier::new() });
		}
		Ok(())
	}

	/// Returns where a state that was on disk leads, if it is the one that was put there.
	fn right(&self, recorder: &Recorder, steps: u32, state: TensorMap) -> Option<Cursor> {
		let mark = self.marks.after.get(&steps)?;
		let held = recorder.hold(state, self.segment).ok()?;
		let state = held.state(recorder.tensors()).ok()?;
		let leaves = mark.steps.clone();
		(held.hash == mark.state).then_some(Cursor { steps, state, leaves })
	}
}
