//! Nodes of the tree over a content: what they are, their parts, their values and their paths.

use super::{chunks, climb_from, hash, merge, part, subtree, OpeningError, CHUNK_BYTES};
use crate::H256;
use alloc::{vec, vec::Vec};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;

/// A node of the tree over a content, named by the chunks under it.
///
/// Level `h` of the tree has the nodes of `2^h` chunks that follow one another from the first chunk
/// on, and last a node of what is left. A node without a neighbour on its right moves up a level as
/// it is; it is the same node there. So a node begins at a multiple of the least power of two that
/// is not below the number of its chunks, its *level*, and has as many, or all that are left.
///
/// The *value* of a node is its chaining value in BLAKE3, or the content hash where it is
/// [whole](Node::whole).
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Node {
	/// Index of its first chunk.
	pub begin: u64,
	/// Number of its chunks, at least 1.
	pub chunks: u64,
}

impl Node {
	/// Returns the root of the tree over a content of `bytes` bytes. An empty content has no nodes,
	/// so what is returned for it does not [exist](Self::exists).
	pub fn whole(bytes: u64) -> Self {
		Self { begin: 0, chunks: chunks(bytes) }
	}

	/// Returns whether the tree over a content of `bytes` bytes has this node.
	pub fn exists(&self, bytes: u64) -> bool {
		let count = chunks(bytes);
		let end = self.begin.checked_add(self.chunks).filter(|end| *end <= count);
		let (Some(end), Some(size)) = (end, self.chunks.checked_next_power_of_two()) else {
			return false;
		};
		let is_complete = size == self.chunks || end == count;
		self.chunks > 0 && self.begin.is_multiple_of(size) && is_complete
	}

	/// Returns where this node begins in a content of `bytes` bytes and how many of its bytes it has,
	/// at least 1. Fails with [`OpeningError::NoSuchNode`].
	pub fn place(&self, bytes: u64) -> Result<(u64, u64), OpeningError> {
		if !self.exists(bytes) {
			return Err(OpeningError::NoSuchNode);
		}
		let begin = self.begin.saturating_mul(CHUNK_BYTES);
		let size = self.chunks.saturating_mul(CHUNK_BYTES);
		Ok((begin, bytes.saturating_sub(begin).min(size)))
	}

	/// Returns the nodes that lie `levels` levels below this one in a content of `bytes` bytes, or its
	/// chunks where there are fewer levels: from left to right, without gaps, at most `2^levels`. All
	/// have the same power of two of chunks, but for the last one, which has at most as many. Fails
	/// with [`OpeningError::NoSuchNode`].
	pub fn parts(&self, bytes: u64, levels: u32) -> Result<Vec<Node>, OpeningError> {
		let size = self.part_chunks(bytes, levels)?;
		let starts = (0..self.chunks).step_by(usize::try_from(size).unwrap_or(usize::MAX));
		let node = |start: u64| Node {
			begin: self.begin.saturating_add(start),
			chunks: self.chunks.saturating_sub(start).min(size),
		};
		Ok(starts.map(node).collect())
	}

	/// Returns the value of this node, merged from those of its [parts](Self::parts) in their order.
	/// Fails with [`OpeningError::NoSuchNode`], and with [`OpeningError::ValueCount`] where the values
	/// are not as many as the parts. Costs one compression for each value but the first.
	pub fn merge(&self, bytes: u64, levels: u32, values: &[H256]) -> Result<H256, OpeningError> {
		let size = self.part_chunks(bytes, levels)?;
		let count = self.chunks.div_ceil(size);
		if values.len() as u64 != count {
			return Err(OpeningError::ValueCount);
		}
		let is_whole = *self == Node::whole(bytes);
		let level = (0..).zip(values.iter().map(|value| value.0)).collect();
		let node = climb_from(
			count.saturating_sub(1),
			size.saturating_mul(CHUNK_BYTES),
			level,
			|_, _| Err(OpeningError::ValueCount),
			|left, right, is_last| merge(left, right, is_last && is_whole),
		)?;
		Ok(H256(node))
	}

	/// Returns the path from part `at` of this node, counted from 0 in the order of
	/// [`parts`](Self::parts), up to this node, from the values of all parts. Fails as
	/// [`merge`](Self::merge) does, and with [`OpeningError::NoSuchNode`] where there is no such part.
	pub fn part_path(
		&self,
		bytes: u64,
		levels: u32,
		values: &[H256],
		at: u64,
	) -> Result<Vec<H256>, OpeningError> {
		let size = self.part_chunks(bytes, levels)?;
		let count = self.chunks.div_ceil(size);
		if values.len() as u64 != count {
			return Err(OpeningError::ValueCount);
		}
		if at >= count {
			return Err(OpeningError::NoSuchNode);
		}
		let mut path = Vec::new();
		// Each node with whether the part is below it.
		let level = (0..).zip(values).map(|(index, value)| (index, (value.0, index == at)));
		climb_from(
			count.saturating_sub(1),
			size.saturating_mul(CHUNK_BYTES),
			level.collect(),
			|_, _| Err(OpeningError::ValueCount),
			|(left, in_left), (right, in_right), _| {
				if in_left || in_right {
					path.push(H256(if in_left { right } else { left }));
				}
				(merge(left, right, false), in_left || in_right)
			},
		)?;
		Ok(path)
	}

	/// Returns the value of this node of a content. Fails with [`OpeningError::NoSuchNode`].
	pub fn value(&self, content: &[u8]) -> Result<H256, OpeningError> {
		let bytes = content.len() as u64;
		let (begin, size) = self.place(bytes)?;
		self.value_of(bytes, part(content, begin, size)?)
	}

	/// Returns the value of this node of a content of `bytes` bytes from the node's `own` bytes. Fails
	/// with [`OpeningError::NoSuchNode`], and with [`OpeningError::ChunkLength`] where they are more or
	/// fewer than it has.
	pub fn value_of(&self, bytes: u64, own: &[u8]) -> Result<H256, OpeningError> {
		let (begin, size) = self.place(bytes)?;
		if own.len() as u64 != size {
			return Err(OpeningError::ChunkLength);
		}
		match *self == Node::whole(bytes) {
			true => Ok(hash(own)),
			false => Ok(H256(subtree(begin, own))),
		}
	}

	/// Returns the path of this node of a content: the values of the nodes beside the way to the root,
	/// from the node upwards. Hashes all that is not under the node once. Fails with
	/// [`OpeningError::NoSuchNode`].
	pub fn open(&self, content: &[u8]) -> Result<Vec<H256>, OpeningError> {
		let mut path = Vec::new();
		let sibling = |at: u64, size| {
			let begin = at.saturating_mul(size);
			path.push(H256(subtree(begin, part(content, begin, size)?)));
			Ok(())
		};
		self.climb(content.len() as u64, (), sibling, |(), (), _| ())?;
		Ok(path)
	}

	/// Checks that this node of the content of `bytes` bytes whose hash is `root` has this value, by
	/// the path that [`open`](Self::open) returns. Costs one compression for each entry.
	///
	/// `bytes` must be known, as in [`verify_many`](super::verify_many).
	pub fn verify(
		&self,
		root: &H256,
		bytes: u64,
		value: &H256,
		path: &[H256],
	) -> Result<(), OpeningError> {
		let mut rest = path.iter();
		let sibling = |_, _| rest.next().map(|H256(node)| *node).ok_or(OpeningError::SiblingCount);
		let found = self.climb(bytes, value.0, sibling, merge)?;
		if rest.next().is_some() {
			return Err(OpeningError::SiblingCount);
		}
		match H256(found) == *root {
			true => Ok(()),
			false => Err(OpeningError::Root),
		}
	}

	/// Returns the path of chunk `at` of this node, counted from its first, up to this node, from the
	/// node's `own` bytes in a content of `bytes` bytes. Fails as [`value_of`](Self::value_of) does, and
	/// with [`OpeningError::NoSuchChunk`]. Hashes all of the bytes once.
	pub fn open_chunk(&self, bytes: u64, own: &[u8], at: u64) -> Result<Vec<H256>, OpeningError> {
		let (begin, size) = self.place(bytes)?;
		if own.len() as u64 != size {
			return Err(OpeningError::ChunkLength);
		}
		if at >= self.chunks {
			return Err(OpeningError::NoSuchChunk);
		}
		let start = |at: u64| begin.saturating_add(at.saturating_mul(CHUNK_BYTES));
		let values = (0u64..).zip(own.chunks(CHUNK_BYTES as usize));
		let values: Vec<H256> = values.map(|(at, chunk)| H256(subtree(start(at), chunk))).collect();
		self.part_path(bytes, u64::BITS, &values, at)
	}

	/// Checks that `chunk` is chunk `at`, counted from the first, of this node of a content of `bytes`
	/// bytes, which has this value, by the path that [`open_chunk`](Self::open_chunk) returns. Costs one
	/// compression for each 64 bytes of the chunk and one for each entry.
	pub fn verify_chunk(
		&self,
		bytes: u64,
		value: &H256,
		at: u64,
		chunk: &[u8],
		path: &[H256],
	) -> Result<(), OpeningError> {
		if !self.exists(bytes) {
			return Err(OpeningError::NoSuchNode);
		}
		if at >= self.chunks {
			return Err(OpeningError::NoSuchChunk);
		}
		let one = Node { begin: self.begin.saturating_add(at), chunks: 1 };
		let is_whole = *self == Node::whole(bytes);
		let mut rest = path.iter();
		let found = climb_from(
			self.chunks.saturating_sub(1),
			CHUNK_BYTES,
			vec![(at, one.value_of(bytes, chunk)?.0)],
			|_, _| rest.next().map(|H256(node)| *node).ok_or(OpeningError::SiblingCount),
			|left, right, is_last| merge(left, right, is_last && is_whole),
		)?;
		if rest.next().is_some() {
			return Err(OpeningError::SiblingCount);
		}
		match H256(found) == *value {
			true => Ok(()),
			false => Err(OpeningError::Root),
		}
	}

	/// Returns the number of chunks of each part but the last one, a power of two. Fails with
	/// [`OpeningError::NoSuchNode`].
	fn part_chunks(&self, bytes: u64, levels: u32) -> Result<u64, OpeningError> {
		if !self.exists(bytes) {
			return Err(OpeningError::NoSuchNode);
		}
		Ok(self.chunks.next_power_of_two().checked_shr(levels).unwrap_or(0).max(1))
	}

	/// Climbs from this node to the root; otherwise as [`climb`](super::climb).
	fn climb<N>(
		&self,
		bytes: u64,
		value: N,
		sibling: impl FnMut(u64, u64) -> Result<N, OpeningError>,
		merge: impl FnMut(N, N, bool) -> N,
	) -> Result<N, OpeningError> {
		let size = self.part_chunks(bytes, 0)?;
		let level = size.trailing_zeros();
		climb_from(
			chunks(bytes).saturating_sub(1) >> level,
			size.saturating_mul(CHUNK_BYTES),
			vec![(self.begin >> level, value)],
			sibling,
			merge,
		)
	}
}

#[cfg(test)]
mod tests;
