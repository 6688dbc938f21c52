//! Finds and removes what a folder keeps of other chains: `DIR/<genesis>/` of each.

use super::{files, Home, StoreError};
use std::path::PathBuf;

/// What a folder keeps of another chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherChain {
	/// Where it is. Its name is the beginning of the genesis hash.
	pub path: PathBuf,
	/// Its bytes.
	pub bytes: u64,
}

impl Home {
	/// Returns what the folder keeps of other chains. It counts towards the quota, and no role removes
	/// it by itself: this node may be the wrong one, and salts of jobs that run on the other chain are
	/// in there.
	pub fn other_chains(&self) -> Result<Vec<OtherChain>, StoreError> {
		let entries =
			std::fs::read_dir(&self.root).map_err(files::at("read the folder", &self.root))?;
		let mut found = Vec::new();
		for entry in entries {
			let path = entry.map_err(files::at("read the folder", &self.root))?.path();
			let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
			let is_chain = name.len() == 16 && hex::decode(&name).is_ok();
			// Files of others are left alone, and so is what is only named like a chain.
			if is_chain && path != self.chain && path.join("jobs").is_dir() {
				let bytes = files::size(&path)?;
				found.push(OtherChain { path, bytes });
			}
		}
		found.sort_by(|a, b| a.path.cmp(&b.path));
		Ok(found)
	}

	/// Removes what the folder keeps of another chain, salts included.
	pub fn forget(&self, chain: &OtherChain) -> Result<(), StoreError> {
		std::fs::remove_dir_all(&chain.path).map_err(files::at("remove", &chain.path))?;
		Ok(())
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_protocol::H256;

	#[test]
	fn only_other_chains_are_found_and_forgotten() {
		let dir = tempfile::tempdir().unwrap();
		for genesis in [1, 2] {
			drop(Home::open(dir.path(), &H256::repeat_byte(genesis)).unwrap());
		}
		let [old, here] = [1, 2].map(|byte: u8| dir.path().join(hex::encode([byte; 8])));
		std::fs::write(old.join("blobs.json"), [1; 100]).unwrap();
		// What looks like a chain and is none stays.
		std::fs::create_dir(dir.path().join("00112233445566aa")).unwrap();
		std::fs::create_dir(dir.path().join("notes")).unwrap();
		let home = Home::open(dir.path(), &H256::repeat_byte(2)).unwrap();
		let others = home.other_chains().unwrap();
		assert_eq!(others, [OtherChain { path: old.clone(), bytes: 100 }]);
		home.forget(&others[0]).unwrap();
		assert!(!old.exists() && here.exists() && home.other_chains().unwrap().is_empty());
		assert!(dir.path().join("00112233445566aa").exists() && dir.path().join("notes").exists());
	}
}
