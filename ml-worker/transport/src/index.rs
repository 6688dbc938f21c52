//! What a file consists of: a head, and parts with their hashes.

use blake3::Hash;

/// Most parts of a file.
pub(crate) const MOST_PARTS: usize = 1 << 16;
/// Longest head of a file, in bytes. That of a state has about 150 for each of its tensors.
pub(crate) const MOST_HEAD: usize = 16 << 20;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartHash {
	/// Its length in bytes.
	pub bytes: u64,
	/// The BLAKE3 hash of its bytes.
	pub hash: Hash,
}

/// What a file consists of: its head, and then its parts without gaps. It is a source's word until somebody
/// checks it against what is known of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
	/// The bytes before the first part.
	pub head: Vec<u8>,
	/// The parts, in order.
	pub parts: Vec<PartHash>,
}

impl Index {
	/// Returns the length of the file in bytes; `None` where it is 2^64 or more.
	pub fn bytes(&self) -> Option<u64> {
		let mut lengths = self.parts.iter().map(|part| part.bytes);
		lengths.try_fold(self.head.len() as u64, u64::checked_add)
	}

	/// Returns a hash of the whole: of two files with the same one every byte is the same.
	pub(crate) fn name(&self) -> [u8; 32] {
		let mut hasher = blake3::Hasher::new_derive_key("trainyard/transport/index/v1");
		hasher.update(&(self.head.len() as u64).to_le_bytes());
		hasher.update(&self.head);
		for part in &self.parts {
			hasher.update(&part.bytes.to_le_bytes()).update(part.hash.as_bytes());
		}
		*hasher.finalize().as_bytes()
	}

	/// Returns where in the file each part begins.
	pub(crate) fn begins(&self) -> Vec<u64> {
		let mut at = self.head.len() as u64;
		let mut begins = Vec::with_capacity(self.parts.len());
		for part in &self.parts {
			begins.push(at);
			at = at.saturating_add(part.bytes);
		}
		begins
	}
}
