//! Sealed files: who has the file's bytes and a public key makes them, and who has the secret key opens
//! them.
//!
//! A sealed file is a function of the bytes and the public key. So everybody who has the bytes makes
//! the same sealed file, with the same root on chain, and an upload that was killed goes on with it.
//! What that costs: whoever guesses *all* bytes of a file can check the guess.
//!
//! # The bytes
//!
//! | bytes | what |
//! |---|---|
//! | 16 | `trainyard/seal/1` |
//! | 32 | ephemeral public key (X25519) |
//! | 65,536 + 16 each, the last one fewer | pieces, by ChaCha20-Poly1305 |
//!
//! The last piece has 1 to 65,536 bytes of the file; the one piece of an empty file has none. The
//! nonce of a piece is its number, 11 bytes with the highest first, and a byte that is 1 for the last
//! piece and 0 for others (STREAM, as age has it), so pieces cannot be moved, dropped or added. With
//! BLAKE3 in its mode for deriving keys:
//!
//! ```text
//! fingerprint      = derive("trainyard seal/1: fingerprint of the bytes", bytes)
//! ephemeral secret = derive("trainyard seal/1: ephemeral secret", fingerprint, public key)
//! key              = derive("trainyard seal/1: key", shared, ephemeral public key, public key)
//! ```
//!
//! where `shared` is X25519 of the ephemeral secret and the public key. The fingerprint is none of the
//! hashes by which a file is named, and follows from none of them. Two files have two keys, so no
//! nonce is used twice with one.

mod derive;
mod key;
mod open;
mod sealer;

pub use key::{KeyError, PublicKey, SecretKey};
pub use open::{open, OpenError};
pub use sealer::{SealError, Sealer, SealingReader};

/// What a sealed file begins with.
pub const MAGIC: [u8; 16] = *b"trainyard/seal/1";
/// Bytes before the first piece: [`MAGIC`], and the ephemeral public key.
pub const HEADER_BYTES: u64 = 48;
/// Bytes of a file in each piece but the last.
pub const PIECE_BYTES: u64 = 65_536;
/// Bytes that sealing adds to each piece.
pub const TAG_BYTES: u64 = 16;
/// Bytes of each sealed piece but the last.
const SEALED_PIECE: u64 = PIECE_BYTES + TAG_BYTES;

/// Returns how many bytes a file of `plain` bytes has when it is sealed; `None` past `u64`.
pub fn sealed_len(plain: u64) -> Option<u64> {
	let tags = plain.div_ceil(PIECE_BYTES).max(1).checked_mul(TAG_BYTES)?;
	plain.checked_add(tags)?.checked_add(HEADER_BYTES)
}

/// Returns how many bytes a sealed file of `sealed` bytes has when it is opened; `None` where no sealed
/// file has this length.
pub fn plain_len(sealed: u64) -> Option<u64> {
	let pieces = sealed.checked_sub(HEADER_BYTES)?;
	let plain = pieces.checked_sub(pieces.div_ceil(SEALED_PIECE).checked_mul(TAG_BYTES)?)?;
	(sealed_len(plain) == Some(sealed)).then_some(plain)
}

#[cfg(test)]
mod tests;
