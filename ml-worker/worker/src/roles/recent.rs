//! A map that forgets what was put in first where there is too much: what strangers can make a role
//! remember must not fill its memory.

use std::{
	collections::{BTreeMap, HashMap},
	hash::Hash,
};

/// Entries that a role remembers of one kind.
const MOST: usize = 4_096;

/// The latest entries by key.
#[derive(Debug)]
pub struct Recent<K, V> {
	/// Values, each with the number under which its key is in `order`.
	values: HashMap<K, (u64, V)>,
	order: BTreeMap<u64, K>,
	next: u64,
}

impl<K, V> Default for Recent<K, V> {
	fn default() -> Self {
		Self { values: HashMap::new(), order: BTreeMap::new(), next: 0 }
	}
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
	/// Puts a value in, as the latest. Returns the one that was there under this key.
	pub fn insert(&mut self, key: K, value: V) -> Option<V> {
		let before = self.remove(&key);
		self.order.insert(self.next, key.clone());
		self.values.insert(key, (self.next, value));
		self.next += 1;
		if self.values.len() > MOST {
			if let Some((_, oldest)) = self.order.pop_first() {
				self.values.remove(&oldest);
			}
		}
		before
	}

	/// Takes a value out.
	pub fn remove(&mut self, key: &K) -> Option<V> {
		let (number, value) = self.values.remove(key)?;
		self.order.remove(&number);
		Some(value)
	}

	/// Returns the value under a key, if it is there still.
	pub fn get(&self, key: &K) -> Option<&V> {
		self.values.get(key).map(|(_, value)| value)
	}

	/// Returns whether a key is there still.
	pub fn contains(&self, key: &K) -> bool {
		self.values.contains_key(key)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn the_oldest_is_forgotten_and_nothing_grows() {
		let mut recent = Recent::default();
		for n in 0..3 * MOST {
			assert_eq!(recent.insert(n, n), None);
			// What was put in again is not the oldest any more.
			recent.insert(0, 0);
		}
		assert_eq!((recent.values.len(), recent.order.len()), (MOST, MOST));
		assert!(recent.contains(&0) && !recent.contains(&1));
		assert_eq!(recent.get(&(3 * MOST - 1)), Some(&(3 * MOST - 1)));
		assert_eq!(recent.remove(&0), Some(0));
		assert_eq!((recent.remove(&0), recent.order.len()), (None, MOST - 1));
	}
}
