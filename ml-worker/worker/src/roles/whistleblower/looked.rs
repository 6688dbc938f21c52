//! What was drawn of a result, in its folder: a kill in between draws nothing again.

use crate::roles::store::{load, save, StoreError};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, path::Path};
use trainyard_proof::bundle::files;

/// Name of the file.
const FILE: &str = "looked.json";

/// A look at a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
	/// The segments that were drawn, ascending.
	pub segments: Vec<u32>,
	/// Whether all of them were replayed.
	pub done: bool,
}

impl Looked {
	/// Draws up to `count` segments of so many, each with the same probability.
	pub fn draw(trained: u32, count: u32) -> Self {
		let mut drawn = BTreeSet::new();
		while (drawn.len() as u32) < count.min(trained) {
			drawn.insert(rand::random_range(0..trained));
		}
		Self { segments: drawn.into_iter().collect(), done: false }
	}

	/// Returns the one in the folder of a result, if it can be read.
	pub fn load(folder: &Path) -> Option<Self> {
		load(&folder.join(FILE)).ok()?
	}

	/// Writes it; it is on disk when this returns.
	pub fn save(&self, folder: &Path) -> Result<(), StoreError> {
		files::create_private_folder(folder)?;
		save(&folder.join(FILE), self)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn every_segment_can_be_drawn_and_none_twice() {
		let mut found = BTreeSet::new();
		for _ in 0..500 {
			let Looked { segments, done } = Looked::draw(5, 2);
			assert!(!done && segments.len() == 2 && segments[0] < segments[1] && segments[1] < 5);
			found.extend(segments);
		}
		assert_eq!(found.len(), 5);
		assert_eq!(Looked::draw(3, 9).segments, [0, 1, 2]);
		assert!(Looked::draw(0, 2).segments.is_empty(), "training ended before its first step");
	}

	#[test]
	fn what_was_drawn_is_there_after_a_kill() {
		let dir = tempfile::tempdir().unwrap();
		let folder = dir.path().join("result");
		assert_eq!(Looked::load(&folder), None);
		let drawn = Looked { segments: vec![2, 7], done: false };
		drawn.save(&folder).unwrap();
		assert_eq!(Looked::load(&folder), Some(drawn));
		std::fs::write(folder.join(FILE), "{").unwrap();
		assert_eq!(Looked::load(&folder), None, "it is drawn again");
	}
}
