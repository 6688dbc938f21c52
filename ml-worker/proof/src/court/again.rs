//! Computes a state again that is not on disk: of a job whose trainers do not keep all.

use super::{held::HeldState, RecordError, Recorder};
use crate::bundle::{files, manifest::checkpoint_file, tensors};
use std::{path::Path, sync::atomic::Ordering};
use trainyard_engine::{state_hash, NanRule};
use trainyard_protocol::bundle::Checkpoint;

impl Recorder {
	/// Computes a state again that is not there, from the nearest one before it that is, and keeps its file. Every state
	/// on the way must be the one that the result commits to.
	pub(super) fn computed_again(
		&self,
		checkpoint: u32,
		path: &Path,
	) -> Result<HeldState, RecordError> {
		let missing = || RecordError::MissingState { checkpoint, path: path.to_owned() };
		let file = |listed: &Checkpoint| self.states.join(checkpoint_file(listed.step));
		let is_there = |at: &u32| {
			let listed = self.claims.checkpoints.get(*at as usize);
			// The first one is computed in any case.
			*at == 0 || listed.is_some_and(|listed| file(listed).is_file())
		};
		let first = checkpoint.saturating_sub(self.options.again);
		let from = (first..checkpoint).rev().find(is_there).ok_or_else(missing)?;
		let begin = match from {
			0 => self.begin_of(0)?,
			_ => self.committed(from)?,
		};
		let mut state = begin.state(&self.tensors)?;
		drop(begin);
		for at in from..checkpoint {
			let (begin, end) = self.steps_of(at)?;
			for step in begin..end {
				if self.options.stop.load(Ordering::Relaxed) {
					return Err(RecordError::Stopped);
				}
				self.engine.step(&mut state, step)?;
			}
			let (next, raw) = (at.saturating_add(1), state.to_host()?);
			let listed = self.checkpoint(next)?.state;
			let wrong =
				|why| RecordError::WrongState { checkpoint: next, path: path.to_owned(), why };
			if next < checkpoint {
				let found = state_hash(&raw, NanRule::Allow)?;
				if found != listed {
					return Err(wrong(format!("training comes to {found:?}, not to {listed:?}")));
				}
				continue;
			}
			let bytes = tensors::encode(&raw);
			let held = HeldState::new(&self.tensors, raw).map_err(wrong)?;
			if held.hash != listed {
				return Err(wrong(format!("training comes to {:?}, not to {listed:?}", held.hash)));
			}
			// The next move needs it again.
			files::write(path, &bytes)?;
			return Ok(held);
		}
		Err(missing())
	}
}
