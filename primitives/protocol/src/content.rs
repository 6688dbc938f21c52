//! Content hashes of tensors, and openings: proofs of one chunk of 1 KiB of a content.
//!
//! The content hash is BLAKE3, a hash over a tree whose leaves are chunks of 1,024 bytes. It is split
//! as in [`crate::merkle`]: the left part of a subtree has the largest power of two of chunks below
//! all of them. An opening is a chunk and the chaining values beside the way from it to the root, at
//! most one for each doubling of the content. BLAKE3 hashes each chunk with its index, and chunks,
//! nodes and the root by different rules, so none can stand for another.

use crate::H256;
use alloc::{vec, vec::Vec};
use blake3::{
	hazmat::{merge_subtrees_non_root, merge_subtrees_root, HasherExt, Mode},
	Hasher,
};
use core::fmt;
use trainyard_strict::canonical_bits;

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

/// Says why an opening is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningError {
	/// The content has no chunk of this index.
	NoSuchChunk,
	/// The bytes are not as many as the chunk of this index has.
	ChunkLength,
	/// The path has fewer entries than lie between the chunk and the root, or more.
	PathLength,
	/// Chunk and path lead to a different root.
	Root,
}

impl fmt::Display for OpeningError {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			OpeningError::NoSuchChunk => "the content has no chunk of this index",
			OpeningError::ChunkLength => "the chunk has more or fewer bytes than it should have",
			OpeningError::PathLength => "the path has entries missing or left over",
			OpeningError::Root => "chunk and path do not lead to the content hash",
		})
	}
}

impl core::error::Error for OpeningError {}

/// Returns the path that opens chunk `index` of a content: the chaining values beside the way from
/// the chunk up to the root. Hashes all bytes once. Fails with [`OpeningError::NoSuchChunk`].
pub fn open(bytes: &[u8], index: u64) -> Result<Vec<H256>, OpeningError> {
	let (start, _) = place(bytes.len() as u64, index)?;
	let (mut begin, mut rest, mut path) = (0u64, bytes, Vec::new());
	loop {
		let left = left_bytes(rest.len() as u64);
		let halves = usize::try_from(left).ok().and_then(|left| rest.split_at_checked(left));
		let Some((first, second)) = halves.filter(|(first, _)| !first.is_empty()) else { break };
		let middle = begin.saturating_add(left);
		if start < middle {
			path.push(subtree(middle, second));
			rest = first;
		} else {
			path.push(subtree(begin, first));
			(begin, rest) = (middle, second);
		}
	}
	path.reverse();
	Ok(path.into_iter().map(H256).collect())
}

/// Checks that `chunk` is chunk `index` of the content of `bytes` bytes whose hash is `root`, by the
/// `path` that [`open`] returns.
///
/// `bytes` must be known, for example from the shape of the tensor, which is bound beside the root: a
/// path shows the index of a chunk and the length of the last one, but not how many there are.
/// Costs at most one compression for each 64 bytes of the chunk and one for each entry of the path.
pub fn verify(
	root: &H256,
	bytes: u64,
	index: u64,
	chunk: &[u8],
	path: &[H256],
) -> Result<(), OpeningError> {
	let (start, length) = place(bytes, index)?;
	if chunk.len() as u64 != length {
		return Err(OpeningError::ChunkLength);
	}
	let (mut at, mut last) = (index, chunks(bytes).saturating_sub(1));
	let mut siblings = path.iter();
	// The only chunk of a content is its root.
	let mut found = match last {
		0 => hash(chunk).0,
		_ => subtree(start, chunk),
	};
	while last > 0 {
		// Without a neighbour on its right, a subtree moves up as it is.
		if at % 2 == 1 || at < last {
			let H256(sibling) = siblings.next().ok_or(OpeningError::PathLength)?;
			let (left, right) = match at % 2 {
				1 => (sibling, &found),
				_ => (&found, sibling),
			};
			found = match last {
				1 => *merge_subtrees_root(left, right, Mode::Hash).as_bytes(),
				_ => merge_subtrees_non_root(left, right, Mode::Hash),
			};
		}
		at /= 2;
		last /= 2;
	}
	if siblings.next().is_some() {
		return Err(OpeningError::PathLength);
	}
	match H256(found) == *root {
		true => Ok(()),
		false => Err(OpeningError::Root),
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

/// Returns how many bytes the left part of a subtree of `bytes` bytes has: the largest power of two
/// below `bytes`, or 0 where it is one chunk and has no parts.
fn left_bytes(bytes: u64) -> u64 {
	match bytes.checked_sub(1).and_then(u64::checked_ilog2) {
		Some(power) if bytes > CHUNK_BYTES => 1 << power,
		_ => 0,
	}
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
mod tests {
	use super::*;
	use blake3::hazmat::left_subtree_len;
	use proptest::prelude::*;

	/// Input of the official vectors of BLAKE3: 0, 1, …, 250, 0, 1, …
	fn input(bytes: usize) -> Vec<u8> {
		(0..bytes).map(|i| (i % 251) as u8).collect()
	}

	/// Opens every chunk of a content of so many bytes, and returns it with root and paths.
	fn opened(bytes: usize) -> (Vec<u8>, H256, Vec<Vec<H256>>) {
		let content = input(bytes);
		let root = hash(&content);
		let count = chunks(bytes as u64);
		assert_eq!(count as usize, content.chunks(1_024).count());
		let paths = (0..count).map(|index| open(&content, index).unwrap()).collect();
		for past in [count, count + 1, u64::MAX / 1_024, u64::MAX] {
			assert_eq!(open(&content, past), Err(OpeningError::NoSuchChunk));
		}
		(content, root, paths)
	}

	/// The length of a chunk and on which sides of the way to it, from the root downwards, the other
	/// parts are. The length of a content has no other trace in an opening.
	fn way(bytes: u64, index: u64) -> Option<(u64, Vec<bool>)> {
		let start = index.checked_mul(1_024).filter(|start| *start < bytes)?;
		let (mut begin, mut rest, mut sides) = (0, bytes, Vec::new());
		while rest > 1_024 {
			let left = left_subtree_len(rest);
			let is_right = start - begin >= left;
			sides.push(is_right);
			(begin, rest) = if is_right { (begin + left, rest - left) } else { (begin, left) };
		}
		Some((rest, sides))
	}

	/// From test_vectors.json of the BLAKE3 project, the first 32 bytes of each.
	#[test]
	fn equals_the_official_vectors() {
		for (bytes, expected) in [
			(0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
			(1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"),
			(1_023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"),
			(1_024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"),
			(1_025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"),
			(2_048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"),
			(102_400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"),
		] {
			assert_eq!(hex::encode(hash(&input(bytes))), expected, "{bytes} bytes");
		}
	}

	#[test]
	fn every_chunk_opens() {
		for count in 1..71usize {
			for bytes in [1_024 * count - 1_023, 1_024 * count - 1, 1_024 * count] {
				let (content, root, paths) = opened(bytes);
				for (index, (chunk, path)) in content.chunks(1_024).zip(&paths).enumerate() {
					let found = verify(&root, bytes as u64, index as u64, chunk, path);
					assert_eq!(found, Ok(()), "chunk {index} of {bytes} bytes");
					assert!(path.len() as u32 <= count.next_power_of_two().ilog2());
				}
			}
		}
	}

	#[test]
	fn an_empty_content_has_nothing_to_open() {
		let (_, root, paths) = opened(0);
		assert!(paths.is_empty());
		for (index, chunk) in [(0, &[][..]), (0, &[0]), (1, &[])] {
			assert_eq!(verify(&root, 0, index, chunk, &[]), Err(OpeningError::NoSuchChunk));
		}
	}

	/// Indices and lengths near the end of their range do not overflow.
	#[test]
	fn the_longest_content_is_refused_without_a_panic() {
		let (root, chunk, last) = (H256::zero(), [7; 1_024], u64::MAX / 1_024);
		for index in [0, 1, last - 1] {
			for length in [0, 53, 54, 55, 70] {
				let path = vec![root; length];
				let found = verify(&root, u64::MAX, index, &chunk, &path);
				let expected = match length {
					54 => OpeningError::Root,
					_ => OpeningError::PathLength,
				};
				assert_eq!(found, Err(expected), "{index}, {length} entries");
			}
		}
		let found = verify(&root, u64::MAX, last, &chunk[1..], &[root; 54]);
		assert_eq!(found, Err(OpeningError::Root));
		let found = verify(&root, u64::MAX, last + 1, &chunk, &[root; 54]);
		assert_eq!(found, Err(OpeningError::NoSuchChunk));
		assert_eq!(verify(&root, u64::MAX, last, &chunk, &[]), Err(OpeningError::ChunkLength));
	}

	/// Neither a node nor the bytes under it open as a chunk.
	#[test]
	fn a_node_is_no_chunk() {
		let (content, root, paths) = opened(2_048);
		let (left, right) = (paths[1][0], paths[0][0]);
		let node = [left.0, right.0].concat();
		assert_ne!(hash(&node), root);
		assert_eq!(verify(&root, 64, 0, &node, &[]), Err(OpeningError::Root));
		assert_eq!(verify(&root, 2_048, 0, &content, &[]), Err(OpeningError::ChunkLength));
		// Each chunk is bound to its place: equal ones have different paths.
		let same = [7; 2_048];
		assert_ne!(open(&same, 0), open(&same, 1));
	}

	#[test]
	fn every_nan_has_the_same_bytes() {
		let payload = f32::from_bits(0xFFC0_0001);
		assert_eq!(le_bytes(&[payload, f32::NAN])[..4], le_bytes(&[f32::NAN]));
		let values = [1.5, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE / 2.0];
		let plain: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
		assert_eq!(le_bytes(&values), plain);
		assert!(le_bytes(&[]).is_empty());
	}

	proptest! {
		#[test]
		fn whatever_is_changed_is_refused(
			bytes in 1usize..72_000,
			pick in any::<u64>(),
			place in any::<usize>(),
			bit in 0u8..8,
		) {
			let content = input(bytes);
			let (root, bytes) = (hash(&content), bytes as u64);
			let count = chunks(bytes);
			let index = pick % count;
			let path = open(&content, index).unwrap();
			let chunk = content.chunks(1_024).nth(index as usize).unwrap().to_vec();
			prop_assert_eq!(verify(&root, bytes, index, &chunk, &path), Ok(()));

			let mut other = chunk.clone();
			let byte = place % other.len();
			other[byte] ^= 1 << bit;
			prop_assert_eq!(verify(&root, bytes, index, &other, &path), Err(OpeningError::Root));
			let mut other = root;
			other.0[place % 32] ^= 1 << bit;
			prop_assert_eq!(verify(&other, bytes, index, &chunk, &path), Err(OpeningError::Root));
			if !path.is_empty() {
				let mut other = path.clone();
				let entry = place % other.len();
				other[entry].0[place / 64 % 32] ^= 1 << bit;
				prop_assert_eq!(verify(&root, bytes, index, &chunk, &other), Err(OpeningError::Root));
				let shorter = &path[1..];
				prop_assert_eq!(
					verify(&root, bytes, index, &chunk, shorter),
					Err(OpeningError::PathLength)
				);
				let mut swapped = path.clone();
				swapped.reverse();
				let same = swapped == path;
				prop_assert_eq!(verify(&root, bytes, index, &chunk, &swapped).is_ok(), same);
			}
			let longer = [&path[..], &[root]].concat();
			prop_assert_eq!(
				verify(&root, bytes, index, &chunk, &longer),
				Err(OpeningError::PathLength)
			);
			for flipped in 0..64 {
				let index = index ^ 1 << flipped;
				prop_assert!(verify(&root, bytes, index, &chunk, &path).is_err(), "index {}", index);
			}
			for other in (0..64).map(|flipped| bytes ^ 1 << flipped) {
				let same = way(other, index) == way(bytes, index);
				let found = verify(&root, other, index, &chunk, &path);
				prop_assert_eq!(found.is_ok(), same, "{} bytes", other);
			}
			let shorter = &chunk[1..];
			prop_assert_eq!(
				verify(&root, bytes, index, shorter, &path),
				Err(OpeningError::ChunkLength)
			);
			let longer = [&chunk[..], &[0]].concat();
			prop_assert_eq!(
				verify(&root, bytes, index, &longer, &path),
				Err(OpeningError::ChunkLength)
			);
		}
	}
}
