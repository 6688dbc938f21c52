//! What follows from a file's bytes and keys.

use crate::{key::PublicKey, SealError, PIECE_BYTES};
use chacha20poly1305::{AeadInPlace, ChaCha20Poly1305, KeyInit, Nonce, Tag};
use x25519_dalek::{SharedSecret, StaticSecret};
use zeroize::Zeroizing;

const FINGERPRINT: &str = "trainyard seal/1: fingerprint of the bytes";
const EPHEMERAL: &str = "trainyard seal/1: ephemeral secret";
const KEY: &str = "trainyard seal/1: key";

/// The running fingerprint of a file. It is a secret: with it and the public key anybody opens the
/// sealed file.
pub(crate) struct Fingerprint(blake3::Hasher);

impl Fingerprint {
	pub(crate) fn new() -> Self {
		Self(blake3::Hasher::new_derive_key(FINGERPRINT))
	}

	pub(crate) fn update(&mut self, bytes: &[u8]) {
		self.0.update(bytes);
	}

	pub(crate) fn finish(&self) -> Zeroizing<[u8; 32]> {
		Zeroizing::new(*self.0.finalize().as_bytes())
	}
}

/// Returns the ephemeral secret of the file with this fingerprint, sealed for `recipient`.
pub(crate) fn ephemeral(fingerprint: &[u8; 32], recipient: &PublicKey) -> StaticSecret {
	StaticSecret::from(*derived(EPHEMERAL, &[fingerprint, recipient.bytes()]))
}

fn derived(context: &str, parts: &[&[u8; 32]]) -> Zeroizing<[u8; 32]> {
	let mut hasher = blake3::Hasher::new_derive_key(context);
	for part in parts {
		hasher.update(&part[..]);
	}
	Zeroizing::new(*hasher.finalize().as_bytes())
}

/// Seals and opens the pieces of one file.
pub(crate) struct Pieces(ChaCha20Poly1305);

impl Pieces {
	/// Fails with [`SealError::WeakKey`] where one of the keys is of low order: then everybody knows
	/// what is shared.
	pub(crate) fn new(
		shared: &SharedSecret,
		ephemeral: &[u8; 32],
		recipient: &PublicKey,
	) -> Result<Self, SealError> {
		if !shared.was_contributory() {
			return Err(SealError::WeakKey);
		}
		let key = derived(KEY, &[shared.as_bytes(), ephemeral, recipient.bytes()]);
		Ok(Self(ChaCha20Poly1305::new((&*key).into())))
	}

	/// Seals piece `index` in its place. `None` where it is longer than a piece.
	pub(crate) fn seal(&self, index: u64, last: bool, piece: &mut [u8]) -> Option<Tag> {
		let fits = piece.len() as u64 <= PIECE_BYTES;
		let sealed =
			fits.then(|| self.0.encrypt_in_place_detached(&nonce(index, last), &[], piece));
		sealed?.ok()
	}

	/// Opens piece `index` in its place. Returns whether it is that piece of this file.
	pub(crate) fn open(&self, index: u64, last: bool, piece: &mut [u8], tag: &Tag) -> bool {
		self.0.decrypt_in_place_detached(&nonce(index, last), &[], piece, tag).is_ok()
	}
}

/// Returns the nonce of a piece: its number in 11 bytes, the highest first, and whether it is the last.
fn nonce(index: u64, last: bool) -> Nonce {
	let mut nonce = [0; 12];
	nonce[3..11].copy_from_slice(&index.to_be_bytes());
	nonce[11] = u8::from(last);
	nonce.into()
}
