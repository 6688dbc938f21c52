//! Keys of the chain's storage, made from names as FRAME makes them.

use codec::Encode;
use sp_crypto_hashing::{blake2_128, twox_128, twox_64};

/// Where a value stands, and what it is called in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
	/// For people.
	pub name: String,
	/// The key.
	pub bytes: Vec<u8>,
}

impl Key {
	/// Returns the key of a value of a pallet.
	pub fn of(pallet: &str, item: &str) -> Self {
		let bytes = [twox_128(pallet.as_bytes()), twox_128(item.as_bytes())].concat();
		Self { name: format!("{pallet}.{item}"), bytes }
	}

	/// Returns the key of an entry of this map, by a key that is hashed by `Twox64Concat`.
	pub fn twox(self, key: &impl Encode) -> Self {
		let key = key.encode();
		self.with(&twox_64(&key), &key)
	}

	/// Returns the key of an entry of this map, by a key that is hashed by `Blake2_128Concat`.
	pub fn blake2(self, key: &impl Encode) -> Self {
		let key = key.encode();
		self.with(&blake2_128(&key), &key)
	}

	/// Returns the key of an entry of this map, by a key that stands for itself.
	pub fn identity(self, key: &impl Encode) -> Self {
		self.with(&[], &key.encode())
	}

	/// Returns the same key under another name.
	pub fn called(self, name: String) -> Self {
		Self { name, ..self }
	}

	fn with(mut self, hash: &[u8], key: &[u8]) -> Self {
		self.bytes.extend(hash);
		self.bytes.extend(key);
		self
	}
}
