//! Counts the memory that roles of one machine were promised of what they share.

use std::{
	collections::BTreeMap,
	sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Bytes by role: what was promised for jobs at hand, and what is taken for a while.
type Counted = BTreeMap<&'static str, (u64, u64)>;

/// What is promised. Clones count in the same place.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Counted>>);

/// Bytes that are taken until this is dropped.
#[derive(Debug, Default)]
pub struct Promised(Option<(Memory, &'static str, u64)>);

impl Memory {
	fn counted(&self) -> MutexGuard<'_, Counted> {
		self.0.lock().unwrap_or_else(PoisonError::into_inner)
	}

	/// Sets what `role` was promised for its jobs at hand.
	pub fn set(&self, role: &'static str, bytes: u64) {
		self.counted().entry(role).or_default().0 = bytes;
	}

	/// Takes bytes for `role` for a while.
	pub fn take(&self, role: &'static str, bytes: u64) -> Promised {
		let mut counted = self.counted();
		let (_, taken) = counted.entry(role).or_default();
		*taken = taken.saturating_add(bytes);
		drop(counted);
		Promised(Some((self.clone(), role, bytes)))
	}

	/// Returns what all but `role` have.
	pub fn beside(&self, role: &'static str) -> u64 {
		let counted = self.counted();
		let others = counted.iter().filter(|(other, _)| **other != role);
		others.fold(0, |sum, (_, (set, taken))| sum.saturating_add(*set).saturating_add(*taken))
	}
}

impl Drop for Promised {
	fn drop(&mut self) {
		if let Some((memory, role, bytes)) = self.0.take() {
			if let Some((_, taken)) = memory.counted().get_mut(role) {
				*taken = taken.saturating_sub(bytes);
			}
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn each_sees_what_the_others_have() {
		let memory = Memory::default();
		memory.set("trainer", 100);
		let look = memory.take("whistleblower", 30);
		let other = memory.take("whistleblower", 3);
		assert_eq!(memory.beside("trainer"), 33);
		assert_eq!(memory.beside("whistleblower"), 100);
		assert_eq!(memory.beside("driller"), 133);
		drop(look);
		memory.set("trainer", 10);
		assert_eq!((memory.beside("trainer"), memory.beside("driller")), (3, 13));
		drop(other);
		assert_eq!(memory.beside("trainer"), 0);
	}
}
