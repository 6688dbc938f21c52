//! Gives turns by deadline: whoever must be done first is next.

use std::{
	collections::BTreeMap,
	sync::{Arc, Mutex, MutexGuard},
};
use tokio::sync::oneshot;
use trainyard_protocol::job::BlockNumber;

/// Work of one daemon that takes all processors, or much memory, waits for its turn here. Clones
/// share the places.
#[derive(Clone, Debug)]
pub struct Queue(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
	/// Places that nobody has.
	free: usize,
	/// Who waits, by deadline, and then by the order in which they came.
	waiting: BTreeMap<(BlockNumber, u64), oneshot::Sender<Turn>>,
	/// How many have come.
	came: u64,
}

/// A place. When it is dropped, whoever has the nearest deadline gets it.
#[derive(Debug)]
pub struct Turn(Queue);

impl Queue {
	/// Makes a queue with that many places, at least one.
	pub fn new(places: usize) -> Self {
		let (free, waiting, came) = (places.max(1), BTreeMap::new(), 0);
		Self(Arc::new(Mutex::new(State { free, waiting, came })))
	}

	fn state(&self) -> MutexGuard<'_, State> {
		self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
	}

	/// Waits for a place for what must be done by `deadline`. It may be dropped at any time.
	pub async fn turn(&self, deadline: BlockNumber) -> Turn {
		loop {
			let waiting = {
				let mut state = self.state();
				if state.free > 0 {
					state.free -= 1;
					return Turn(self.clone());
				}
				let (sender, receiver) = oneshot::channel();
				state.came += 1;
				let key = (deadline, state.came);
				state.waiting.insert(key, sender);
				receiver
			};
			// A place that was given to somebody who waits no more comes back by its drop. Nobody
			// takes a waiting sender away without using it.
			if let Ok(turn) = waiting.await {
				return turn;
			}
		}
	}

	/// Returns how many wait.
	#[cfg(test)]
	pub fn waiting(&self) -> usize {
		self.state().waiting.len()
	}
}

impl Drop for Turn {
	fn drop(&mut self) {
		let mut state = self.0.state();
		let Some((_, next)) = state.waiting.pop_first() else {
			state.free += 1;
			return;
		};
		drop(state);
		// Whoever has gone gives it back at once, by the drop of what is returned here.
		let _ = next.send(Turn(self.0.clone()));
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use std::time::Duration;

	/// Waits until that many wait.
	async fn until_waiting(queue: &Queue, count: usize) {
		while queue.waiting() != count {
			tokio::time::sleep(Duration::from_millis(1)).await;
		}
	}

	#[tokio::test]
	async fn the_nearest_deadline_is_next_and_equals_keep_their_order() {
		let queue = Queue::new(1);
		let first = queue.turn(90).await;
		let (done, mut order) = tokio::sync::mpsc::unbounded_channel();
		for (at, (name, deadline)) in
			[("late", 80), ("soon", 20), ("soon too", 20), ("soonest", 10)].into_iter().enumerate()
		{
			let (queue, done) = (queue.clone(), done.clone());
			let waits = queue.clone();
			tokio::spawn(async move {
				let _turn = queue.turn(deadline).await;
				done.send(name).unwrap();
			});
			until_waiting(&waits, at + 1).await;
		}
		drop(first);
		for expected in ["soonest", "soon", "soon too", "late"] {
			assert_eq!(order.recv().await, Some(expected));
		}
	}

	#[tokio::test]
	async fn whoever_waits_no_more_loses_no_place() {
		let queue = Queue::new(2);
		let (one, two) = (queue.turn(1).await, queue.turn(2).await);
		let gone = tokio::time::timeout(Duration::from_millis(5), queue.turn(0)).await;
		assert!(gone.is_err());
		drop(one);
		let again = queue.turn(5).await;
		assert_eq!(queue.waiting(), 0);
		drop((two, again));
		let _both = (queue.turn(1).await, queue.turn(1).await);
		let third = tokio::time::timeout(Duration::from_millis(5), queue.turn(1)).await;
		assert!(third.is_err(), "there are two places");
	}
}
