//! Updates that are here, and which of them count.

use std::{
	collections::BTreeMap,
	future::Future,
	sync::{Arc, Mutex, MutexGuard, PoisonError},
	time::{Duration, Instant},
};
use tokio::sync::Notify;

/// Rounds that are kept for whoever was not there.
const KEPT: u32 = 3;

/// What a peer has of the rounds. Clones share it.
#[derive(Clone, Default)]
pub struct Inbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
	held: Mutex<Held>,
	changed: Notify,
}

/// An update, and when it came.
type Came = (Arc<Vec<u8>>, Instant);

#[derive(Default)]
struct Held {
	/// By round and peer, with the time when each came.
	updates: BTreeMap<(u32, u32), Came>,
	counted: BTreeMap<u32, Vec<u32>>,
}

impl Inbox {
	fn held(&self) -> MutexGuard<'_, Held> {
		self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Takes the update of a peer. What is too old is dropped.
	pub fn put(&self, round: u32, peer: u32, update: Vec<u8>) {
		let mut held = self.held();
		held.updates.entry((round, peer)).or_insert_with(|| (Arc::new(update), Instant::now()));
		drop(held);
		self.0.changed.notify_waiters();
	}

	/// Drops what nobody needs any more in this round.
	pub fn drop_before(&self, round: u32) {
		let mut held = self.held();
		held.updates.retain(|(of, _), _| of + KEPT >= round);
	}

	/// Takes note of which updates of a round count.
	pub fn count(&self, round: u32, peers: Vec<u32>) {
		self.held().counted.insert(round, peers);
		self.0.changed.notify_waiters();
	}

	/// Returns the update of a peer, if it is here.
	pub fn get(&self, round: u32, peer: u32) -> Option<Arc<Vec<u8>>> {
		self.held().updates.get(&(round, peer)).map(|(update, _)| update.clone())
	}

	/// Returns whose updates of a round are here, ascending.
	pub fn has(&self, round: u32) -> Vec<u32> {
		self.held()
			.updates
			.range((round, 0)..=(round, u32::MAX))
			.map(|((_, peer), _)| *peer)
			.collect()
	}

	/// Returns how long after a moment each update of others came.
	pub fn arrivals(&self, round: u32, me: u32, since: Instant) -> Vec<Duration> {
		let held = self.held();
		let others = held.updates.range((round, 0)..=(round, u32::MAX));
		let others = others.filter(|((_, peer), _)| *peer != me);
		others.map(|(_, (_, came))| came.saturating_duration_since(since)).collect()
	}

	/// Waits until something can be said of what is here.
	async fn until<T>(&self, of: impl Fn(&Held) -> Option<T>) -> T {
		loop {
			let changed = self.0.changed.notified();
			tokio::pin!(changed);
			// Before it is looked at, or what changes in between would be missed.
			changed.as_mut().enable();
			if let Some(found) = of(&self.held()) {
				return found;
			}
			changed.await;
		}
	}

	/// Waits until so many updates of a round are here.
	pub fn all(&self, round: u32, peers: usize) -> impl Future<Output = ()> + '_ {
		self.until(move |held| {
			(held.updates.range((round, 0)..=(round, u32::MAX)).count() >= peers).then_some(())
		})
	}

	/// Waits until it is said which updates of a round count.
	pub fn counted(&self, round: u32) -> impl Future<Output = Vec<u32>> + '_ {
		self.until(move |held| held.counted.get(&round).cloned())
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[tokio::test]
	async fn waiting_ends_when_all_are_here() {
		let inbox = Inbox::default();
		let other = inbox.clone();
		let waiting = tokio::spawn(async move {
			other.all(4, 2).await;
			other.counted(4).await
		});
		inbox.put(4, 1, vec![1]);
		inbox.put(3, 0, vec![9]);
		tokio::task::yield_now().await;
		assert!(!waiting.is_finished());
		inbox.put(4, 0, vec![0]);
		inbox.count(4, vec![0, 1]);
		assert_eq!(waiting.await.unwrap(), [0, 1]);
		assert_eq!(inbox.has(4), [0, 1]);
		assert_eq!(inbox.arrivals(4, 0, Instant::now()).len(), 1);
	}

	#[test]
	fn the_first_of_two_updates_stays_and_old_ones_go() {
		let inbox = Inbox::default();
		inbox.put(1, 0, vec![1]);
		inbox.put(1, 0, vec![2]);
		assert_eq!(*inbox.get(1, 0).unwrap(), [1]);
		inbox.drop_before(4);
		assert!(inbox.get(1, 0).is_some());
		inbox.drop_before(5);
		assert!(inbox.get(1, 0).is_none());
	}
}
