//! The bytes on a connection, protocol `trainyard/files/1`.
//!
//! Whoever connected opens streams in both directions, one for each request. All integers are little
//! endian. The first byte of a stream says what it is for:
//!
//! | byte | then | answer |
//! |---|---|---|
//! | 0 | bytes of another protocol, HTTP/1.1 | the same |
//! | 1 | `path` | status; of 0: `head`: u32 length and bytes, `parts`: u32 number and of each its length u64 and hash, 32 bytes |
//! | 2 | `path`, number of spans u16, of each `part` u32, `from` u64, `bytes` u64 | status; of 0: of each span what BLAKE3 needs to check it |
//!
//! `path` is a u16 length and so many bytes of UTF-8. `from` is a multiple of 16 KiB; a span ends at one or
//! with its part. The answer to a span is the part's hash tree in preorder, of the nodes above the span
//! alone, with groups of 16 KiB as leaves: pairs of hashes of 32 bytes, and the bytes of groups.

use crate::{
	index::{Index, PartHash, MOST_HEAD, MOST_PARTS},
	units::{GROUP, MOST_SPANS, UNIT},
};
use bao_tree::{BaoTree, BlockSize, ChunkNum, ChunkRanges};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Name of the protocol.
pub(crate) const ALPN: &[u8] = b"trainyard/files/1";
/// A stream for another protocol.
pub(crate) const BYTES: u8 = 0;
/// A request for an index.
pub(crate) const INDEX: u8 = 1;
/// A request for spans.
pub(crate) const SPANS: u8 = 2;
/// Longest path.
pub(crate) const MOST_PATH: usize = 512;
/// 2^4 chunks of 1 KiB make a group.
const BLOCK: BlockSize = BlockSize::from_chunk_log(4);

/// What a provider answers first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Status {
	#[error("it is there")]
	Here,
	#[error("it does not have it")]
	NotHere,
	#[error("it says that the request makes no sense")]
	Senseless,
	#[error("it cannot read it")]
	Failed,
	#[error("it has no time now")]
	Busy,
}

impl Status {
	pub(crate) fn byte(self) -> u8 {
		self as u8
	}

	pub(crate) fn of(byte: u8) -> Option<Self> {
		let all = [Self::Here, Self::NotHere, Self::Senseless, Self::Failed, Self::Busy];
		all.into_iter().find(|status| status.byte() == byte)
	}
}

/// Bytes of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
	/// Number of the part.
	pub part: u32,
	/// Where it begins in the part, in bytes.
	pub from: u64,
	/// Its length.
	pub bytes: u64,
}

impl Span {
	/// Returns the chunks of BLAKE3 in it.
	pub(crate) fn chunks(&self) -> ChunkRanges {
		let end = ChunkNum::chunks(self.from.saturating_add(self.bytes));
		ChunkRanges::from(ChunkNum::full_chunks(self.from)..end)
	}

	/// Returns whether a part of so many bytes has it, and it begins and ends where spans do.
	pub(crate) fn fits(&self, bytes: u64) -> bool {
		let end = self.from.checked_add(self.bytes);
		let ends = end.is_some_and(|end| end == bytes || (end < bytes && end % GROUP == 0));
		self.bytes > 0 && self.from % GROUP == 0 && ends
	}
}

/// Returns the shape of the hash tree of a part of so many bytes.
pub(crate) fn tree(bytes: u64) -> BaoTree {
	BaoTree::new(bytes, BLOCK)
}

/// A request on a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
	Index { path: String },
	Spans { path: String, spans: Vec<Span> },
}

fn invalid(what: &str) -> io::Error {
	io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Request {
	/// Returns its bytes; fails where the path is too long.
	pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
		let (kind, path) = match self {
			Self::Index { path } => (INDEX, path),
			Self::Spans { path, .. } => (SPANS, path),
		};
		if path.len() > MOST_PATH {
			return Err(invalid("the path is too long"));
		}
		let mut bytes = vec![kind];
		bytes.extend((path.len() as u16).to_le_bytes());
		bytes.extend(path.as_bytes());
		if let Self::Spans { spans, .. } = self {
			bytes.extend((spans.len() as u16).to_le_bytes());
			for span in spans {
				bytes.extend(span.part.to_le_bytes());
				bytes.extend(span.from.to_le_bytes());
				bytes.extend(span.bytes.to_le_bytes());
			}
		}
		Ok(bytes)
	}

	/// Reads one whose first byte was `kind`.
	pub(crate) async fn read(kind: u8, from: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
		let length = usize::from(from.read_u16_le().await?);
		if length > MOST_PATH {
			return Err(invalid("the path is too long"));
		}
		let mut path = vec![0; length];
		from.read_exact(&mut path).await?;
		let path = String::from_utf8(path).map_err(|_| invalid("the path is no text"))?;
		match kind {
			INDEX => Ok(Self::Index { path }),
			SPANS => {
				let count = usize::from(from.read_u16_le().await?);
				if count == 0 || count > MOST_SPANS {
					return Err(invalid("no spans, or too many"));
				}
				let (mut spans, mut sum) = (Vec::with_capacity(count), 0u64);
				for _ in 0..count {
					let part = from.read_u32_le().await?;
					let (begin, bytes) = (from.read_u64_le().await?, from.read_u64_le().await?);
					sum = sum.saturating_add(bytes);
					spans.push(Span { part, from: begin, bytes });
				}
				match sum <= UNIT {
					true => Ok(Self::Spans { path, spans }),
					false => Err(invalid("the spans have too many bytes")),
				}
			}
			_ => Err(invalid("a kind of stream that there is not")),
		}
	}
}

/// Returns the bytes of an index.
pub(crate) fn encode_index(index: &Index) -> Vec<u8> {
	let mut bytes = Vec::with_capacity(8 + index.head.len() + 40 * index.parts.len());
	bytes.extend((index.head.len() as u32).to_le_bytes());
	bytes.extend(&index.head);
	bytes.extend((index.parts.len() as u32).to_le_bytes());
	for part in &index.parts {
		bytes.extend(part.bytes.to_le_bytes());
		bytes.extend(part.hash.as_bytes());
	}
	bytes
}

/// Reads an index of a file that has at most `limit` bytes.
pub(crate) async fn read_index(
	from: &mut (impl AsyncRead + Unpin),
	limit: u64,
) -> io::Result<Index> {
	let length = from.read_u32_le().await?;
	if u64::from(length) > limit.min(MOST_HEAD as u64) {
		return Err(invalid("the head is too long"));
	}
	let mut head = Vec::new();
	// What is announced is not yet there: memory is taken for what comes.
	if (&mut *from).take(length.into()).read_to_end(&mut head).await? < length as usize {
		return Err(io::ErrorKind::UnexpectedEof.into());
	}
	let count = from.read_u32_le().await? as usize;
	if count > MOST_PARTS {
		return Err(invalid("too many parts"));
	}
	let mut index = Index { head, parts: Vec::new() };
	for _ in 0..count {
		let bytes = from.read_u64_le().await?;
		let mut hash = [0; 32];
		from.read_exact(&mut hash).await?;
		index.parts.push(PartHash { bytes, hash: hash.into() });
	}
	match index.bytes() {
		Some(bytes) if bytes <= limit => Ok(index),
		_ => Err(invalid("the file is too long")),
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	async fn read(bytes: &[u8]) -> io::Result<Request> {
		let mut rest = bytes;
		let kind = rest.read_u8().await?;
		Request::read(kind, &mut rest).await
	}

	#[tokio::test]
	async fn requests_are_read_as_they_were_written_and_bounded() {
		let span = Span { part: 3, from: GROUP, bytes: 5 };
		let index = Request::Index { path: "/bundle/ab".into() };
		let spans = Request::Spans { path: "/é".into(), spans: vec![span; MOST_SPANS] };
		for request in [index, spans] {
			let bytes = request.encode().unwrap();
			assert_eq!(read(&bytes).await.unwrap(), request);
			for length in 1..bytes.len() {
				assert!(read(&bytes[..length]).await.is_err());
			}
		}
		let with = |spans| Request::Spans { path: "/".into(), spans }.encode().unwrap();
		assert!(read(&with(vec![])).await.is_err());
		assert!(read(&with(vec![span; MOST_SPANS + 1])).await.is_err());
		assert!(read(&with(vec![Span { bytes: UNIT + 1, ..span }])).await.is_err());
		assert!(read(&with(vec![Span { bytes: u64::MAX, ..span }; 3])).await.is_err());
		assert!(Request::Index { path: "x".repeat(MOST_PATH + 1) }.encode().is_err());
		assert!(read(&[INDEX, 255, 255]).await.is_err());
		assert!(read(&[INDEX, 1, 0, 0xff]).await.is_err());
		assert!(read(&[9, 0, 0]).await.is_err());
	}

	#[tokio::test]
	async fn an_index_is_bounded_before_memory_is_taken() {
		let hash = blake3::hash(b"x");
		let index = Index { head: vec![1, 2], parts: vec![PartHash { bytes: 5, hash }; 2] };
		let bytes = encode_index(&index);
		assert_eq!(read_index(&mut &bytes[..], 12).await.unwrap(), index);
		assert!(read_index(&mut &bytes[..], 11).await.is_err());
		for length in 0..bytes.len() {
			assert!(read_index(&mut &bytes[..length], 12).await.is_err());
		}
		let endless = [0xff; 8];
		assert!(read_index(&mut &endless[..], u64::MAX).await.is_err());
		let many = [&[0; 4][..], &[0xff; 4]].concat();
		assert!(read_index(&mut &many[..], u64::MAX).await.is_err());
		let huge = Index { head: vec![], parts: vec![PartHash { bytes: u64::MAX, hash }; 2] };
		assert!(read_index(&mut &encode_index(&huge)[..], u64::MAX).await.is_err());
	}

	#[test]
	fn spans_begin_and_end_between_groups() {
		let fits = |from, bytes, of| Span { part: 0, from, bytes }.fits(of);
		assert!(fits(0, 5, 5) && fits(0, GROUP, 2 * GROUP) && fits(GROUP, 5, GROUP + 5));
		assert!(!fits(0, 4, 5) && !fits(0, 6, 5) && !fits(1, 4, 5) && !fits(0, 0, 0));
		assert!(!fits(GROUP, u64::MAX, u64::MAX) && !fits(GROUP, 1, GROUP));
		assert_eq!([0, 1, 2, 3, 4].map(Status::of).map(|s| s.unwrap().byte()), [0, 1, 2, 3, 4]);
		assert_eq!(Status::of(5), None);
	}
}
