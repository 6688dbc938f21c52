//! Gives the cores of a shared machine out. Whatever computes takes a [`Lease`] first, and waits for it as
//! long as the [arbiter](super::arbiter) lets others go first. One that can rest looks between two steps
//! whether it should.

use super::{
	arbiter::{computes, Claimant, Class, Need},
	turns::Turn,
};
use serde::Serialize;
use std::{
	collections::BTreeMap,
	sync::{
		atomic::{AtomicBool, AtomicU64, Ordering},
		Arc, Condvar, Mutex, MutexGuard, PoisonError,
	},
	time::{Duration, Instant},
};
use tokio::sync::Notify;
use trainyard_protocol::job::BlockNumber;

/// How long a computation that rests waits before it looks whether it should end.
const TICK: Duration = Duration::from_millis(50);

/// The cores of a machine. Clones give out the same.
#[derive(Clone, Debug)]
pub struct Cores(Arc<Shared>);

#[derive(Debug)]
struct Shared {
	places: usize,
	state: Mutex<State>,
	/// Wakes those who wait for a lease,
	changed: Notify,
	/// and those who rest on a thread of their own.
	rested: Condvar,
}

#[derive(Debug, Default)]
struct State {
	claims: BTreeMap<u64, Claim>,
	came: u64,
}

/// Somebody who computes, or wants to.
#[derive(Debug)]
struct Claim {
	role: &'static str,
	what: String,
	need: Need,
	rests: bool,
	computes: bool,
}

/// Somebody who computes, or waits for it, as a status shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Present {
	/// Whose.
	pub role: &'static str,
	/// What it computes.
	pub what: String,
	/// What it is worth.
	pub class: Class,
	/// The block by which it must be done.
	pub deadline: BlockNumber,
	/// Whether it computes now; it waits, or rests, otherwise.
	pub computes: bool,
}

/// Cores that are held until this is dropped; of a machine that is not shared, nothing.
#[derive(Debug, Default)]
pub struct Lease {
	claim: Option<(Cores, u64)>,
	/// Milliseconds for which it rested.
	rested: AtomicU64,
	/// The turn among several programs, held as long.
	_turn: Option<Turn>,
}

impl Cores {
	/// Makes cores for so many computations at once.
	pub fn new(places: usize) -> Self {
		let (state, changed, rested) = Default::default();
		Self(Arc::new(Shared { places, state, changed, rested }))
	}

	fn state(&self) -> MutexGuard<'_, State> {
		self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Waits until `role` may compute. It may be dropped at any time.
	pub async fn lease(&self, role: &'static str, what: &str, need: Need, rests: bool) -> Lease {
		let id = {
			let mut state = self.state();
			state.came += 1;
			let id = state.came;
			let claim = Claim { role, what: what.to_owned(), need, rests, computes: false };
			state.claims.insert(id, claim);
			id
		};
		// From here on it goes with this, whatever happens.
		let (claim, rested) = (Some((self.clone(), id)), AtomicU64::default());
		let lease = Lease { claim, rested, _turn: None };
		self.decide();
		loop {
			let changed = self.0.changed.notified();
			let mut changed = std::pin::pin!(changed);
			// What changes from now on is heard.
			changed.as_mut().enable();
			if self.computes(id) {
				return lease;
			}
			changed.await;
		}
	}

	fn computes(&self, id: u64) -> bool {
		self.state().claims.get(&id).is_none_or(|claim| claim.computes)
	}

	/// Decides again who computes, and tells everybody.
	fn decide(&self) {
		let mut state = self.state();
		let claimants: Vec<Claimant> = state
			.claims
			.iter()
			.map(|(came, claim)| Claimant {
				need: claim.need,
				came: *came,
				is_held: claim.computes && !claim.rests,
			})
			.collect();
		for (claim, computes) in state.claims.values_mut().zip(computes(self.0.places, &claimants))
		{
			claim.computes = computes;
		}
		drop(state);
		self.0.changed.notify_waiters();
		self.0.rested.notify_all();
	}

	/// Returns whether anybody computes or waits for it.
	pub fn is_busy(&self) -> bool {
		!self.state().claims.is_empty()
	}

	/// Returns the duties of other roles that compute or wait for it.
	pub fn duties_beside(&self, role: &'static str) -> usize {
		let state = self.state();
		let others = state.claims.values().filter(|claim| claim.role != role);
		others.filter(|claim| claim.need.class <= Class::Duty).count()
	}

	/// Returns who computes and who waits, the first first.
	pub fn present(&self) -> Vec<Present> {
		let state = self.state();
		let mut all: Vec<(Need, u64, Present)> = state
			.claims
			.iter()
			.map(|(came, claim)| {
				let Claim { role, need, computes, .. } = *claim;
				let Need { class, deadline } = need;
				let what = claim.what.clone();
				(need, *came, Present { role, what, class, deadline, computes })
			})
			.collect();
		all.sort_by_key(|(need, came, present)| (!present.computes, *need, *came));
		all.into_iter().map(|(_, _, present)| present).collect()
	}
}

impl Lease {
	/// Returns this lease, with a turn that it holds as long.
	pub(super) fn with(mut self, turn: Option<Turn>) -> Self {
		self._turn = turn;
		self
	}

	/// Rests while others go first, on the thread that computes, or until `stop` is set.
	pub fn rest(&self, stop: &AtomicBool) {
		let Some((cores, id)) = &self.claim else { return };
		let (mut state, begun) = (cores.state(), Instant::now());
		while state.claims.get(id).is_some_and(|claim| !claim.computes)
			&& !stop.load(Ordering::Relaxed)
		{
			let waited = cores.0.rested.wait_timeout(state, TICK);
			state = waited.unwrap_or_else(PoisonError::into_inner).0;
		}
		let rested = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
		self.rested.fetch_add(rested, Ordering::Relaxed);
	}

	/// Returns for how long it rested in all.
	pub fn rested(&self) -> Duration {
		Duration::from_millis(self.rested.load(Ordering::Relaxed))
	}
}

impl Drop for Lease {
	fn drop(&mut self) {
		if let Some((cores, id)) = self.claim.take() {
			cores.state().claims.remove(&id);
			cores.decide();
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	static NEVER: AtomicBool = AtomicBool::new(false);

	fn need(class: Class, deadline: BlockNumber) -> Need {
		Need::by(class, deadline)
	}

	/// Waits until `cores` have that many claims.
	async fn until_claimed(cores: &Cores, count: usize) {
		while cores.present().len() != count {
			tokio::time::sleep(Duration::from_millis(1)).await;
		}
	}

	#[tokio::test]
	async fn who_has_no_place_waits_and_the_best_is_next() {
		let cores = Cores::new(1);
		let first = cores.lease("verifier", "a", need(Class::Duty, 9), false).await;
		let (done, mut order) = tokio::sync::mpsc::unbounded_channel();
		let wanted =
			[("look", Class::Watch, 1), ("late", Class::Duty, 90), ("soon", Class::Duty, 20)];
		for (at, (name, class, deadline)) in wanted.into_iter().enumerate() {
			let (mine, done) = (cores.clone(), done.clone());
			tokio::spawn(async move {
				let _lease = mine.lease("trainer", name, need(class, deadline), false).await;
				done.send(name).unwrap();
			});
			until_claimed(&cores, at + 2).await;
		}
		assert!(order.try_recv().is_err(), "there is one place");
		assert_eq!(cores.duties_beside("verifier"), 2);
		let names: Vec<String> = cores.present().into_iter().map(|it| it.what).collect();
		assert_eq!(names, ["a", "soon", "late", "look"]);
		drop(first);
		for expected in ["soon", "late", "look"] {
			assert_eq!(order.recv().await, Some(expected));
		}
		until_claimed(&cores, 0).await;
		assert!(!cores.is_busy());
	}

	#[tokio::test]
	async fn whoever_waits_no_more_claims_nothing() {
		let cores = Cores::new(1);
		let first = cores.lease("a", "a", need(Class::Duty, 9), false).await;
		let waiting = cores.lease("b", "b", need(Class::Duty, 1), false);
		assert!(tokio::time::timeout(Duration::from_millis(5), waiting).await.is_err());
		assert_eq!(cores.present().len(), 1);
		drop(first);
		assert!(!cores.is_busy());
	}

	/// A training rests between two steps for as long as a seat computes, and goes on after it.
	#[tokio::test]
	async fn what_can_rest_lets_a_duty_go_first() {
		let cores = Cores::new(1);
		let training = cores.lease("trainer", "job 1", need(Class::Duty, 500), true).await;
		training.rest(&NEVER);
		assert!(training.rested() < Duration::from_millis(50), "nobody else wants to");
		let seat = cores.lease("verifier", "job 2", need(Class::Duty, 40), false).await;
		let present = cores.present();
		assert_eq!((present[0].what.as_str(), present[0].computes), ("job 2", true));
		assert!(!present[1].computes);
		let resting = tokio::task::spawn_blocking(move || {
			training.rest(&NEVER);
			training
		});
		tokio::time::sleep(Duration::from_millis(200)).await;
		assert!(!resting.is_finished());
		drop(seat);
		let training = resting.await.unwrap();
		let rested = training.rested();
		assert!(rested >= Duration::from_millis(100), "{rested:?}");
		training.rest(&NEVER);
		assert!(training.rested() < rested + Duration::from_millis(50));
		// One that should end does not rest for ever.
		let _seat = cores.lease("verifier", "job 3", need(Class::Duty, 40), false).await;
		let stop = AtomicBool::new(true);
		training.rest(&stop);
	}

	#[tokio::test]
	async fn a_duty_begins_beside_a_look_that_cannot_rest() {
		let cores = Cores::new(1);
		let look = cores.lease("whistleblower", "job 1", need(Class::Watch, 9), false).await;
		let seat = cores.lease("verifier", "job 2", need(Class::Duty, 40), false).await;
		assert!(cores.present().iter().all(|it| it.computes));
		drop(look);
		let next = cores.lease("whistleblower", "job 1", need(Class::Watch, 9), false);
		assert!(tokio::time::timeout(Duration::from_millis(5), next).await.is_err());
		drop(seat);
		cores.lease("whistleblower", "job 1", need(Class::Watch, 9), false).await;
	}
}
