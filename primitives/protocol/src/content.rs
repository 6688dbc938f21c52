//! Content hashes of tensors, and openings: proofs of chunks of 1 KiB of a content.
//!
//! The content hash is BLAKE3, a hash over a tree whose leaves are chunks of 1,024 bytes. It is split
//! as in [`crate::merkle`]: the left part of a subtree has the largest power of two of chunks below
//! all of them. An opening is one or more chunks and their siblings, the chaining values beside the
//! ways from them to the root: for one chunk at most one for each doubling of the content, for many
//! fewer than their separate openings have. BLAKE3 hashes each chunk with its index, and chunks, nodes
//! and the root by different rules, so none can stand for another.
//!
//! Siblings are listed level by level from the chunks upwards, in each level from left to right, each
//! once. For one chunk this is its path, and whoever checks an opening needs a list of the nodes of
//! one level and neither recursion nor a stack. A node without a neighbour on its right moves up a
//! level as it is, and a sibling belongs to the level in which it is merged.
//!
//! A [`Node`] is a subtree: it opens as a chunk does, and its value merges from those of its parts.

use crate::H256;
use alloc::{vec, vec::Vec};
use blake3::{
	hazmat::{merge_subtrees_non_root, merge_subtrees_root, HasherExt, Mode},
	Hasher,
};
use core::fmt;
use trainyard_strict::canonical_bits;

mod node;
pub use node::Node;

/// Bytes of a chunk, what one opening shows. The last chunk of a content has 1 to as many.
pub const CHUNK_BYTES: u64 = blake3::CHUNK_LEN as u64;

/// Returns the bytes that are hashed of these numbers: little endian, every NaN by its [canonical
/// bits](canonical_bits).
pub fn le_bytes(values: &[f32]) -> Vec<u8> {
	let mut bytes = vec![0; values.len().saturating_mul(4)];
	let (words, _) = bytes.as_chunks_mut::<4>();
	for (word, value) in words.iter_mut().zip(values) {
		*word = canonical_bits(*value).to_le_bytes();
	}
	bytes
}

/// Returns the content hash of a tensor with these [bytes](le_bytes), row major: their BLAKE3 hash.
pub fn hash(bytes: &[u8]) -> H256 {
	H256(*blake3::hash(bytes).as_bytes())
}

/// Returns the number of chunks of a content of `bytes` bytes. An empty content has none.
pub fn chunks(bytes: u64) -> u64 {
	bytes.div_ceil(CHUNK_BYTES)
}

/// Says why an opening is refused, or values that should merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningError {
	/// It opens no chunk.
	Empty,
	/// The indices of its chunks do not strictly ascend.
	Order,
	/// The content has no chunk of this index.
	NoSuchChunk,
	/// The tree over the content has no such node.
	NoSuchNode,
	/// The bytes are not as many as the chunk of this index, or the node, has.
	ChunkLength,
	/// The values are not as many as the node has parts.
	ValueCount,
	/// There are fewer siblings than lie beside the ways from the chunks to the root, or more.
	SiblingCount,
	/// Chunks and siblings lead to a different root.
	Root,
}

impl fmt::Display for OpeningError {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			OpeningError::Empty => "it opens no chunk",
			OpeningError::Order => "the indices of the chunks do not ascend",
			OpeningError::NoSuchChunk => "the content has no chunk of this index",
			OpeningError::NoSuchNode => "the tree over the content has no such node",
			OpeningError::ChunkLength => {
				"a chunk or node has more or fewer bytes than it should have"
			}
			OpeningError::ValueCount => "there are more or fewer values than the node has parts",
			OpeningError::SiblingCount => "siblings are missing or left over",
			OpeningError::Root => "chunks and siblings do not lead to the content hash",
		})
	}
}

impl core::error::Error for OpeningError {}

/// Returns the bytes of chunk `index` of a content, 1 to [`CHUNK_BYTES`]. Fails with
/// [`OpeningError::NoSuchChunk`].
pub fn chunk(bytes: &[u8], index: u64) -> Result<&[u8], OpeningError> {
	let (start, length) = place(bytes.len() as u64, index)?;
	part(bytes, start, length)
}

/// Returns the siblings that open chunk `index` of a content: its path, from the chunk upwards.
/// Otherwise as [`open_many`].
pub fn open(bytes: &[u8], index: u64) -> Result<Vec<H256>, OpeningError> {
	open_many(bytes, [index])
}

/// Checks one chunk by its path; otherwise as [`verify_many`].
pub fn verify(
	root: &H256,
	bytes: u64,
	index: u64,
	chunk: &[u8],
	path: &[H256],
) -> Result<(), OpeningError> {
	verify_many(root, bytes, [(index, chunk)], path)
}

/// Returns the siblings that open the chunks of these indices of a content, in [the order of this
/// module](self). Hashes what was not opened once. Fails where the indices are none, do not strictly
/// ascend or are not of the content.
pub fn open_many(
	bytes: &[u8],
	indices: impl IntoIterator<Item = u64>,
) -> Result<Vec<H256>, OpeningError> {
	open_many_by(bytes.len() as u64, indices, |node| node.value(bytes))
}

/// As [`open_many`], of a content of `bytes` bytes that need not be in memory: `value` returns the
/// [value](Node) of each node that is a sibling, and what it fails with is the error.
pub fn open_many_by<E: From<OpeningError>>(
	bytes: u64,
	indices: impl IntoIterator<Item = u64>,
	mut value: impl FnMut(Node) -> Result<H256, E>,
) -> Result<Vec<H256>, E> {
	let mut level = Vec::new();
	for index in indices {
		ascends(&level, index)?;
		place(bytes, index)?;
		level.push((index, ()));
	}
	let (mut siblings, all) = (Vec::new(), chunks(bytes));
	let sibling = |at: u64, size: u64| {
		let (begin, most) = (at.saturating_mul(size) / CHUNK_BYTES, size / CHUNK_BYTES);
		let node = Node { begin, chunks: all.saturating_sub(begin).min(most) };
		siblings.push(value(node)?);
		Ok::<_, E>(())
	};
	climb(bytes, level, sibling, |(), (), _| ())?;
	Ok(siblings)
}

/// Checks that these chunks, each after its index, are of the content of `bytes` bytes whose hash is
/// `root`, by the `siblings` that [`open_many`] returns. The first fault is the error; an opening of
/// no chunk is refused.
///
/// `bytes` must be known, for example from the shape of the tensor, which is bound beside the root:
/// an opening shows the indices of its chunks and the length of the last one, but not how many there
/// are. Costs at most one compression for each 64 bytes of a chunk, one for each chunk and one for
/// each sibling.
pub fn verify_many<'a>(
	root: &H256,
	bytes: u64,
	chunks: impl IntoIterator<Item = (u64, &'a [u8])>,
	siblings: &[H256],
) -> Result<(), OpeningError> {
	let mut level = Vec::new();
	for (index, chunk) in chunks {
		ascends(&level, index)?;
		let (start, length) = place(bytes, index)?;
		if chunk.len() as u64 != length {
			return Err(OpeningError::ChunkLength);
		}
		// The only chunk of a content is its root.
		let node = match bytes <= CHUNK_BYTES {
			true => hash(chunk).0,
			false => subtree(start, chunk),
		};
		level.push((index, node));
	}
	let mut rest = siblings.iter();
	let sibling = |_, _| rest.next().map(|H256(node)| *node).ok_or(OpeningError::SiblingCount);
	let found = climb(bytes, level, sibling, merge)?;
	if rest.next().is_some() {
		return Err(OpeningError::SiblingCount);
	}
	match H256(found) == *root {
		true => Ok(()),
		false => Err(OpeningError::Root),
	}
}

/// Fails with [`OpeningError::Order`] unless `index` is above those of all nodes of a level, which
/// ascend.
fn ascends<N>(level: &[(u64, N)], index: u64) -> Result<(), OpeningError> {
	match level.last() {
		Some((before, _)) if *before >= index => Err(OpeningError::Order),
		_ => Ok(()),
	}
}

/// Climbs from chunks of a content of `bytes` bytes to its root, and returns what is found there.
///
/// `level` has the chunks: indices of the content in strictly ascending order, and what is known of
/// each; none is [`OpeningError::Empty`]. `sibling` is asked, in [the order of this module](self),
/// for every node that is missing, by its index in its level and the bytes of a whole node of that
/// level. `merge` makes a node of its left and its right part, and is told whether it is the root.
fn climb<N, E: From<OpeningError>>(
	bytes: u64,
	level: Vec<(u64, N)>,
	sibling: impl FnMut(u64, u64) -> Result<N, E>,
	merge: impl FnMut(N, N, bool) -> N,
) -> Result<N, E> {
	climb_from(chunks(bytes).saturating_sub(1), CHUNK_BYTES, level, sibling, merge)
}

/// As [`climb`], from a level whose last node has the index `last` and whose whole nodes have `size`
/// bytes.
fn climb_from<N, E: From<OpeningError>>(
	mut last: u64,
	mut size: u64,
	mut level: Vec<(u64, N)>,
	mut sibling: impl FnMut(u64, u64) -> Result<N, E>,
	mut merge: impl FnMut(N, N, bool) -> N,
) -> Result<N, E> {
	while last > 0 {
		let mut above = Vec::with_capacity(level.len());
		let mut nodes = level.into_iter().peekable();
		while let Some((at, node)) = nodes.next() {
			let beside = at ^ 1;
			let node = if beside > last {
				// Without a neighbour on its right, a node moves up as it is.
				node
			} else if beside < at {
				merge(sibling(beside, size)?, node, last == 1)
			} else {
				let right = match nodes.next_if(|(next, _)| *next == beside) {
					Some((_, right)) => right,
					None => sibling(beside, size)?,
				};
				merge(node, right, last == 1)
			};
			above.push((at / 2, node));
		}
		level = above;
		last /= 2;
		size = size.saturating_mul(2);
	}
	level.into_iter().next().map(|(_, root)| root).ok_or(OpeningError::Empty.into())
}

/// Returns the value of the node with these two parts: the content hash where it is the root, and a
/// chaining value otherwise.
fn merge(left: [u8; 32], right: [u8; 32], is_root: bool) -> [u8; 32] {
	match is_root {
		true => *merge_subtrees_root(&left, &right, Mode::Hash).as_bytes(),
		false => merge_subtrees_non_root(&left, &right, Mode::Hash),
	}
}

/// Returns where chunk `index` of a content of `bytes` bytes begins, and how many bytes it has, 1 to
/// [`CHUNK_BYTES`].
fn place(bytes: u64, index: u64) -> Result<(u64, u64), OpeningError> {
	let start = index.checked_mul(CHUNK_BYTES).ok_or(OpeningError::NoSuchChunk)?;
	match bytes.checked_sub(start) {
		None | Some(0) => Err(OpeningError::NoSuchChunk),
		Some(rest) => Ok((start, rest.min(CHUNK_BYTES))),
	}
}

/// Returns the bytes of a content from `begin` on, `size` or what there is, at least one.
fn part(bytes: &[u8], begin: u64, size: u64) -> Result<&[u8], OpeningError> {
	let end = begin.saturating_add(size).min(bytes.len() as u64);
	let range = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
	let part = range.and_then(|(begin, end)| bytes.get(begin..end));
	part.filter(|part| !part.is_empty()).ok_or(OpeningError::NoSuchChunk)
}

/// Returns the chaining value of the subtree of these bytes, which begins at byte `begin` of its
/// content. `begin` must be that of a chunk, and `bytes` be all of a subtree that begins there: the
/// library panics otherwise.
fn subtree(begin: u64, bytes: &[u8]) -> [u8; 32] {
	let mut hasher = Hasher::new();
	hasher.set_input_offset(begin);
	hasher.update(bytes);
	hasher.finalize_non_root()
}

#[cfg(test)]
mod tests;
