//! Seals a file: as a stream, or any part of it.

use crate::{
	derive::{ephemeral, Fingerprint, Pieces},
	key::PublicKey,
	HEADER_BYTES, MAGIC, PIECE_BYTES, SEALED_PIECE,
};
use std::io::{self, Read, Seek, SeekFrom};
use zeroize::Zeroizing;

/// Says why a file is not sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
	/// It cannot be read.
	#[error("cannot read what is to be sealed: {0}")]
	Read(#[from] io::Error),
	/// One of the keys is of low order.
	#[error("this key cannot be sealed for: everybody could open it")]
	WeakKey,
	/// It is longer than a file can be.
	#[error("a file of {plain} bytes is too long to be sealed")]
	TooLong {
		/// Its bytes.
		plain: u64,
	},
}

/// A file to be sealed for a key. It knows the file's length and what its pieces are sealed with, and
/// reads the bytes again when they are needed.
pub struct Sealer {
	pieces: Pieces,
	fingerprint: Zeroizing<[u8; 32]>,
	header: [u8; HEADER_BYTES as usize],
	plain: u64,
	sealed: u64,
}

impl std::fmt::Debug for Sealer {
	fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
		f.debug_struct("Sealer").field("plain", &self.plain).finish_non_exhaustive()
	}
}

impl Sealer {
	/// Reads all of `plain` once, to seal it for `recipient`.
	///
	/// # Errors
	///
	/// Fails where it cannot be read.
	pub fn of(mut plain: impl Read, recipient: &PublicKey) -> Result<Self, SealError> {
		let mut fingerprint = Fingerprint::new();
		let mut buffer = Zeroizing::new(vec![0; PIECE_BYTES as usize]);
		let mut length: u64 = 0;
		loop {
			let read = filled(&mut plain, &mut buffer)?;
			fingerprint.update(&buffer[..read]);
			length = length.saturating_add(read as u64);
			if read < buffer.len() {
				break;
			}
		}
		Self::with(fingerprint.finish(), length, recipient)
	}

	fn with(
		fingerprint: Zeroizing<[u8; 32]>,
		plain: u64,
		recipient: &PublicKey,
	) -> Result<Self, SealError> {
		let sealed = crate::sealed_len(plain).ok_or(SealError::TooLong { plain })?;
		let secret = ephemeral(&fingerprint, recipient);
		let public = x25519_dalek::PublicKey::from(&secret).to_bytes();
		let shared = secret.diffie_hellman(&(*recipient.bytes()).into());
		let pieces = Pieces::new(&shared, &public, recipient)?;
		let mut header = [0; HEADER_BYTES as usize];
		header[..MAGIC.len()].copy_from_slice(&MAGIC);
		header[MAGIC.len()..].copy_from_slice(&public);
		Ok(Self { pieces, fingerprint, header, plain, sealed })
	}

	/// Returns the length of the file in bytes.
	pub fn plain_len(&self) -> u64 {
		self.plain
	}

	/// Returns the length of the sealed file in bytes.
	pub fn sealed_len(&self) -> u64 {
		self.sealed
	}

	/// Returns the number of the last piece.
	fn last(&self) -> u64 {
		self.plain.div_ceil(PIECE_BYTES).saturating_sub(1)
	}

	/// Returns how many bytes of the file are in piece `index`.
	fn length(&self, index: u64) -> u64 {
		self.plain.saturating_sub(index.saturating_mul(PIECE_BYTES)).min(PIECE_BYTES)
	}

	/// Reads piece `index` of the file from where `plain` stands, and puts it, sealed, into `piece`.
	/// Shows the bytes to `seen` before they are sealed.
	fn piece(
		&self,
		plain: &mut impl Read,
		index: u64,
		piece: &mut Vec<u8>,
		seen: impl FnOnce(&[u8]),
	) -> io::Result<()> {
		piece.resize(self.length(index) as usize, 0);
		plain.read_exact(piece).map_err(|e| match e.kind() {
			io::ErrorKind::UnexpectedEof => changed(),
			_ => e,
		})?;
		seen(piece);
		let tag = self.pieces.seal(index, index == self.last(), piece).ok_or_else(changed)?;
		piece.extend_from_slice(&tag);
		Ok(())
	}

	/// Returns the sealed file as a stream. `plain` stands at the file's beginning.
	///
	/// Where the file is not any more what it was, reading fails with [`io::ErrorKind::InvalidData`]
	/// at the latest after the last piece. What was read before must be thrown away: two files that
	/// are sealed with the same key show where they differ, and how.
	pub fn reader<R: Read>(&self, plain: R) -> SealingReader<'_, R> {
		let (fingerprint, piece) = (Fingerprint::new(), self.header.to_vec());
		SealingReader { sealer: self, plain, fingerprint, next: 0, piece, at: 0, ended: false }
	}

	/// Fills `buffer` with the bytes of the sealed file from byte `begin` on.
	///
	/// The caller compares them with the hash of what [`Self::reader`] gave before it shows them to
	/// anybody: of a file that changed they must not be seen, see there.
	///
	/// # Errors
	///
	/// Fails where the file cannot be read, and with [`io::ErrorKind::InvalidData`] where it is shorter
	/// than it was, or the sealed file ends before the buffer is full.
	pub fn read_at(
		&self,
		plain: &mut (impl Read + Seek),
		begin: u64,
		buffer: &mut [u8],
	) -> io::Result<()> {
		let end = begin.checked_add(buffer.len() as u64).filter(|end| *end <= self.sealed);
		let end = end.ok_or_else(|| invalid("the sealed file is shorter than this"))?;
		let mut at = begin;
		let (mut rest, mut piece) = (buffer, Vec::new());
		while at < end {
			let (from, part): (u64, &[u8]) = match at.checked_sub(HEADER_BYTES) {
				None => (0, &self.header),
				Some(inside) => {
					let index = inside / SEALED_PIECE;
					plain.seek(SeekFrom::Start(index.saturating_mul(PIECE_BYTES)))?;
					self.piece(plain, index, &mut piece, |_| {})?;
					(HEADER_BYTES.saturating_add(index.saturating_mul(SEALED_PIECE)), &piece)
				}
			};
			let part = part.get(at.saturating_sub(from) as usize..).unwrap_or_default();
			let length = part.len().min(rest.len());
			if length == 0 {
				return Err(changed());
			}
			let (now, later) = rest.split_at_mut(length);
			now.copy_from_slice(&part[..length]);
			(rest, at) = (later, at.saturating_add(length as u64));
		}
		Ok(())
	}
}

/// A sealed file as a stream, see [`Sealer::reader`].
pub struct SealingReader<'a, R> {
	sealer: &'a Sealer,
	plain: R,
	fingerprint: Fingerprint,
	/// The piece that comes next.
	next: u64,
	/// What is being given out, and from where on.
	piece: Vec<u8>,
	at: usize,
	ended: bool,
}

impl<R: Read> Read for SealingReader<'_, R> {
	fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
		if buffer.is_empty() {
			return Ok(0);
		}
		if self.at == self.piece.len() && !self.ended {
			let Self { sealer, plain, fingerprint, next, piece, .. } = self;
			sealer.piece(plain, *next, piece, |bytes| fingerprint.update(bytes))?;
			// The last piece is given out only of a file that is what it was.
			if *next == sealer.last() {
				let longer = plain.read(&mut [0])? > 0;
				if longer || *fingerprint.finish() != *sealer.fingerprint {
					return Err(changed());
				}
				self.ended = true;
			}
			(self.next, self.at) = (self.next.saturating_add(1), 0);
		}
		let rest = &self.piece[self.at..];
		let length = rest.len().min(buffer.len());
		buffer[..length].copy_from_slice(&rest[..length]);
		self.at += length;
		Ok(length)
	}
}

/// Reads until `buffer` is full or the source ends, and returns how many bytes were read.
pub(crate) fn filled(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
	let mut read = 0;
	while read < buffer.len() {
		match source.read(&mut buffer[read..]) {
			Ok(0) => break,
			Ok(n) => read += n,
			Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
			Err(e) => return Err(e),
		}
	}
	Ok(read)
}

fn changed() -> io::Error {
	invalid("it changed while it was sealed")
}

fn invalid(what: &str) -> io::Error {
	io::Error::new(io::ErrorKind::InvalidData, what)
}
