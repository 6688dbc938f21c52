//! What was chosen of a result, in its folder: a kill in between chooses nothing again.

use crate::roles::store::{load, save, StoreError};
use serde::{Deserialize, Serialize};
use std::path::Path;
use trainyard_proof::bundle::files;
use trainyard_protocol::H256;

/// Name of the file.
const FILE: &str = "looked.json";

/// A look at a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
	/// Random bytes, from which it follows which parts of large tensors are read to see how far they move.
	pub random: H256,
	/// The segments that are replayed, in their order; `None` until they are chosen.
	pub segments: Option<Vec<u32>>,
	/// Whether the look is over.
	pub done: bool,
}

impl Looked {
	/// Begins a look, which nobody knows anything of.
	pub fn begin() -> Self {
		Self { random: H256(rand::random()), segments: None, done: false }
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
	fn what_was_chosen_is_there_after_a_kill() {
		let dir = tempfile::tempdir().unwrap();
		let folder = dir.path().join("result");
		assert_eq!(Looked::load(&folder), None);
		let begun = Looked::begin();
		assert_ne!(begun.random, Looked::begin().random);
		begun.save(&folder).unwrap();
		assert_eq!(Looked::load(&folder), Some(begun.clone()));
		let chosen = Looked { segments: Some(vec![7, 2]), ..begun };
		chosen.save(&folder).unwrap();
		assert_eq!(Looked::load(&folder), Some(chosen));
		std::fs::write(folder.join(FILE), "{").unwrap();
		assert_eq!(Looked::load(&folder), None, "it is begun again");
	}
}
