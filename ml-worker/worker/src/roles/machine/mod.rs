//! The machine that a role computes on. A role alone has all of it; several roles in one process share
//! its cores, its memory and its disk, within what their owner allows.
//!
//! - [`arbiter`] decides who computes, by a pure function.
//! - [`cores`] gives the cores out by that decision: whatever computes holds a [`Lease`] of them.
//! - [`memory`] counts what is promised to whom.
//! - [`turns`] lets programs of several accounts compute one after the other.
//!
//! The disk is shared by [`Home::beside`](super::store::Home::beside): a folder's quota counts its neighbours.

pub mod arbiter;
pub mod cores;
pub mod memory;
pub mod turns;

pub use arbiter::{Class, Need};
pub use cores::{Lease, Present};

use super::tasks::{stopped, TaskError};
use cores::Cores;
use memory::{Memory, Promised};
use std::{
	num::NonZeroUsize,
	sync::{atomic::AtomicBool, Arc},
};
use turns::Turns;

/// A machine, alone or shared. Clones are the same machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
	shared: Option<Arc<Shared>>,
	turns: Option<Turns>,
}

#[derive(Debug)]
struct Shared {
	cores: Cores,
	memory: Memory,
	threads: NonZeroUsize,
}

impl Machine {
	/// Makes a machine that several roles share: `places` computations at once, each on `threads` threads.
	pub fn shared(places: NonZeroUsize, threads: NonZeroUsize) -> Self {
		let (cores, memory) = (Cores::new(places.get()), Memory::default());
		Self { shared: Some(Arc::new(Shared { cores, memory, threads })), turns: None }
	}

	/// Lets whatever computes wait for its turn among the programs that share these.
	pub fn in_turns(self, turns: Option<Turns>) -> Self {
		Self { turns, ..self }
	}

	/// Waits until `role` may compute `what`; at once on a machine that is not shared. A computation that
	/// can `rest` lets others go first whenever it looks at [`Lease::rest`].
	pub async fn lease(&self, role: &'static str, what: &str, need: Need, rests: bool) -> Lease {
		let lease = match &self.shared {
			Some(shared) => shared.cores.lease(role, what, need, rests).await,
			None => Lease::default(),
		};
		match &self.turns {
			Some(turns) => lease.with(turns.take(what).await),
			None => lease,
		}
	}

	/// Does what [`Self::lease`] does, until `stop` is set.
	pub async fn lease_until(
		&self,
		role: &'static str,
		what: &str,
		need: Need,
		rests: bool,
		stop: &AtomicBool,
	) -> Result<Lease, TaskError> {
		tokio::select! {
			biased;
			lease = self.lease(role, what, need, rests) => Ok(lease),
			() = stopped(stop) => Err(TaskError::Stopped),
		}
	}

	/// Returns whether laps rest: somebody computes, or waits for it.
	pub fn is_busy(&self) -> bool {
		self.shared.as_ref().is_some_and(|shared| shared.cores.is_busy())
	}

	/// Returns the duties of other roles than `role` that compute or wait for it.
	pub fn duties_beside(&self, role: &'static str) -> usize {
		self.shared.as_ref().map_or(0, |shared| shared.cores.duties_beside(role))
	}

	/// Returns who computes and who waits, the first first.
	pub fn present(&self) -> Vec<Present> {
		self.shared.as_ref().map_or_else(Vec::new, |shared| shared.cores.present())
	}

	/// Returns whether several roles share it.
	pub fn is_shared(&self) -> bool {
		self.shared.is_some()
	}

	/// Returns the threads of a computation; `None` on a machine that is not shared.
	pub fn threads(&self) -> Option<NonZeroUsize> {
		self.shared.as_ref().map(|shared| shared.threads)
	}

	/// Notes that `role` was promised so many bytes of memory for its jobs at hand, in the place of what
	/// it was promised before.
	pub fn promise_memory(&self, role: &'static str, bytes: u64) {
		if let Some(shared) = &self.shared {
			shared.memory.set(role, bytes);
		}
	}

	/// Notes that `role` takes so many bytes of memory until what is returned is dropped.
	pub fn take_memory(&self, role: &'static str, bytes: u64) -> Promised {
		match &self.shared {
			Some(shared) => shared.memory.take(role, bytes),
			None => Promised::default(),
		}
	}

	/// Returns the bytes of memory that others than `role` were promised of what they share.
	pub fn memory_beside(&self, role: &'static str) -> u64 {
		self.shared.as_ref().map_or(0, |shared| shared.memory.beside(role))
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[tokio::test]
	async fn who_is_alone_waits_for_nobody() {
		let machine = Machine::default();
		let need = Need::by(Class::Watch, 9);
		let (_one, _two) = (
			machine.lease("trainer", "a", need, false).await,
			machine.lease("trainer", "b", need, false).await,
		);
		let _memory = machine.take_memory("trainer", 7);
		assert!(!machine.is_busy() && machine.present().is_empty());
		assert_eq!((machine.memory_beside("driller"), machine.threads()), (0, None));
	}
}
