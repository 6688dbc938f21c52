//! The chunks that are still to come, and who may be asked for them.

use super::Fetched;
use crate::blobs::{BlobError, Outline};
use std::{
	collections::{BTreeMap, BTreeSet},
	sync::{Arc, Mutex, MutexGuard},
	time::{Duration, Instant},
};
use tokio::sync::Notify;
use trainyard_protocol::H256;

/// After so long a chunk is asked of a second node, too, where nothing else is left to ask for.
const SLOW: Duration = Duration::from_secs(3);

#[derive(Default)]
struct State {
	/// Chunks that nobody is asked for.
	open: BTreeSet<u32>,
	/// Chunks that nodes are asked for now: which, and since when.
	asked: BTreeMap<u32, Vec<(usize, Instant)>>,
	/// Chunks that are not here; without those that are.
	left: BTreeSet<u32>,
	/// Who said that it has no such chunk.
	lacking: BTreeSet<(usize, u32)>,
	/// Whether somebody said that the chain does not have it.
	gone: bool,
	dropped: BTreeSet<usize>,
	by: BTreeMap<usize, u32>,
	stopped: bool,
	bytes: u64,
}

/// What the workers of a download share.
pub(super) struct Queue {
	outline: Arc<Outline>,
	state: Mutex<State>,
	changed: Notify,
}

impl Queue {
	/// Makes a queue of all chunks but those that are `here`.
	pub(super) fn new(outline: Arc<Outline>, here: Vec<u32>) -> Self {
		let here: BTreeSet<u32> = here.into_iter().collect();
		let left: BTreeSet<u32> =
			(0..outline.chunks()).filter(|index| !here.contains(index)).collect();
		let lengths = here.iter().filter_map(|index| outline.place(*index));
		let bytes = lengths.map(|(_, length)| u64::from(length)).sum();
		let state = State { open: left.clone(), left, bytes, ..State::default() };
		Self { outline, state: Mutex::new(state), changed: Notify::new() }
	}

	fn state(&self) -> MutexGuard<'_, State> {
		self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
	}

	/// Returns the next chunk that `source` is asked for; `None` where there is none any more.
	pub(super) async fn take(&self, source: usize) -> Option<u32> {
		loop {
			let woken = self.changed.notified();
			tokio::pin!(woken);
			// From here on it hears what changes.
			woken.as_mut().enable();
			{
				let mut state = self.state();
				if state.stopped || state.left.is_empty() || state.dropped.contains(&source) {
					return None;
				}
				let may = |index: &&u32| !state.lacking.contains(&(source, **index));
				if let Some(index) = state.open.iter().find(may).copied() {
					state.open.remove(&index);
					state.asked.entry(index).or_default().push((source, Instant::now()));
					return Some(index);
				}
				let slow = state.asked.iter().find(|(index, by)| {
					may(index)
						&& by
							.iter()
							.all(|(other, since)| *other != source && since.elapsed() >= SLOW)
				});
				if let Some(index) = slow.map(|(index, _)| *index) {
					state.asked.entry(index).or_default().push((source, Instant::now()));
					return Some(index);
				}
				// What others are asked for may come back, if it is something that this one may have.
				if !state.asked.keys().any(|index| may(&index)) {
					return None;
				}
			}
			let _ = tokio::time::timeout(SLOW / 2, woken).await;
		}
	}

	/// Waits until all chunks are here.
	pub(super) async fn whole(&self) {
		loop {
			let woken = self.changed.notified();
			tokio::pin!(woken);
			woken.as_mut().enable();
			if self.state().left.is_empty() {
				return;
			}
			woken.await;
		}
	}

	/// Returns whether a chunk has come.
	pub(super) fn is_here(&self, index: u32) -> bool {
		!self.state().left.contains(&index)
	}

	/// Notes that a chunk is in the file, brought by `source`. Returns whether it was not before.
	pub(super) fn done(&self, index: u32, source: usize) -> bool {
		let mut state = self.state();
		let is_new = state.left.remove(&index);
		state.asked.remove(&index);
		state.open.remove(&index);
		if is_new {
			let length = self.outline.place(index).map_or(0, |(_, length)| u64::from(length));
			state.bytes = state.bytes.saturating_add(length);
			*state.by.entry(source).or_default() += 1;
		}
		drop(state);
		self.changed.notify_waiters();
		is_new
	}

	/// Notes that `source` brings no chunk of this number now.
	pub(super) fn give_back(&self, source: usize, index: u32) {
		self.forget(&mut self.state(), source, index);
		self.changed.notify_waiters();
	}

	/// Notes that `source` has no such chunk; `gone` if it says that the chain has none either.
	pub(super) fn lacks(&self, source: usize, index: u32, gone: bool) {
		let mut state = self.state();
		state.lacking.insert((source, index));
		state.gone |= gone;
		self.forget(&mut state, source, index);
		drop(state);
		self.changed.notify_waiters();
	}

	fn forget(&self, state: &mut State, source: usize, index: u32) {
		if let Some(by) = state.asked.get_mut(&index) {
			by.retain(|(other, _)| *other != source);
			if by.is_empty() {
				state.asked.remove(&index);
				if state.left.contains(&index) {
					state.open.insert(index);
				}
			}
		}
	}

	/// Asks `source` no more. Returns whether it was asked until now.
	pub(super) fn drop_source(&self, source: usize) -> bool {
		let mut state = self.state();
		let is_new = state.dropped.insert(source);
		let asked: Vec<u32> = state.asked.keys().copied().collect();
		for index in asked {
			self.forget(&mut state, source, index);
		}
		drop(state);
		self.changed.notify_waiters();
		is_new
	}

	/// Ends the download.
	pub(super) fn stop(&self) {
		self.state().stopped = true;
		self.changed.notify_waiters();
	}

	/// Returns how much is here.
	pub(super) fn here(&self) -> Fetched {
		let state = self.state();
		let left = u32::try_from(state.left.len()).unwrap_or(u32::MAX);
		Fetched::Here { chunks: self.outline.chunks().saturating_sub(left), bytes: state.bytes }
	}

	/// Returns how many chunks each of so many sources brought.
	pub(super) fn by(&self, sources: usize) -> Vec<u32> {
		let state = self.state();
		(0..sources).map(|source| state.by.get(&source).copied().unwrap_or_default()).collect()
	}

	/// Fails unless all chunks are here.
	pub(super) fn finished(&self, root: H256) -> Result<(), BlobError> {
		let state = self.state();
		let missing = state.left.len();
		match missing {
			0 => Ok(()),
			_ if state.gone => {
				Err(BlobError::Gone { root, missing, chunks: self.outline.chunks() })
			}
			_ => Err(BlobError::NobodyHas { root, missing, chunks: self.outline.chunks() }),
		}
	}
}
