//! Opens a sealed file.

use crate::{
	derive::{ephemeral, Fingerprint, Pieces},
	key::SecretKey,
	sealer::filled,
	HEADER_BYTES, MAGIC, SEALED_PIECE, TAG_BYTES,
};
use chacha20poly1305::Tag;
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// Says why a file does not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
	/// The sealed file cannot be read.
	#[error("cannot read the sealed file: {0}")]
	Read(io::Error),
	/// The opened file cannot be written.
	#[error("cannot write the opened file: {0}")]
	Write(io::Error),
	/// It is no sealed file.
	#[error("this is no sealed file, or one of another version: it does not begin with trainyard/seal/1")]
	NotSealed,
	/// The first piece does not open.
	#[error("it does not open: it is sealed for another key, or damaged")]
	OtherKey,
	/// A later piece does not open.
	#[error("piece {piece} of the sealed file does not open: the file is damaged, cut or put together of several")]
	Damaged {
		/// The piece, from 0 on.
		piece: u64,
	},
	/// It opens, and is not what sealing gives.
	#[error("it opens, but it is not what sealing these bytes for this key gives: another program made it")]
	OtherForm,
}

/// Opens the sealed file that `sealed` reads, writes its bytes into `out`, and returns how many they are.
///
/// What was written is the whole file, unchanged, only where this returns without an error: the caller
/// writes it to a place where nobody takes it for the file before.
///
/// # Errors
///
/// Fails with what [`OpenError`] lists.
pub fn open(
	mut sealed: impl Read,
	secret: &SecretKey,
	mut out: impl Write,
) -> Result<u64, OpenError> {
	let mut header = [0; HEADER_BYTES as usize];
	if filled(&mut sealed, &mut header).map_err(OpenError::Read)? < header.len() {
		return Err(OpenError::NotSealed);
	}
	let (magic, rest) = header.split_at(MAGIC.len());
	let mut public = [0; 32];
	public.copy_from_slice(rest);
	if magic != MAGIC {
		return Err(OpenError::NotSealed);
	}
	let pieces = Pieces::new(&secret.shared(&public), &public, secret.public());
	let pieces = pieces.map_err(|_| OpenError::OtherForm)?;
	let mut fingerprint = Fingerprint::new();
	let (mut index, mut written): (u64, u64) = (0, 0);
	// The last piece is the one after which nothing comes, so one is read ahead.
	let mut now = Zeroizing::new(vec![0; SEALED_PIECE as usize]);
	let mut next = now.clone();
	let mut length = filled(&mut sealed, &mut now).map_err(OpenError::Read)?;
	loop {
		let after = match length < now.len() {
			true => 0,
			false => filled(&mut sealed, &mut next).map_err(OpenError::Read)?,
		};
		let last = after == 0;
		let damaged = || match index {
			0 => OpenError::OtherKey,
			piece => OpenError::Damaged { piece },
		};
		let plain = length.checked_sub(TAG_BYTES as usize).ok_or_else(damaged)?;
		// A last piece of nothing belongs to an empty file alone: a file has one form.
		if plain == 0 && index > 0 {
			return Err(damaged());
		}
		let (piece, tag) = now[..length].split_at_mut(plain);
		if !pieces.open(index, last, piece, Tag::from_slice(tag)) {
			return Err(damaged());
		}
		fingerprint.update(piece);
		out.write_all(piece).map_err(OpenError::Write)?;
		written = written.saturating_add(plain as u64);
		if last {
			break;
		}
		std::mem::swap(&mut now, &mut next);
		(length, index) = (after, index.saturating_add(1));
	}
	out.flush().map_err(OpenError::Write)?;
	let expected = ephemeral(&fingerprint.finish(), secret.public());
	match x25519_dalek::PublicKey::from(&expected).to_bytes() == public {
		true => Ok(written),
		false => Err(OpenError::OtherForm),
	}
}
