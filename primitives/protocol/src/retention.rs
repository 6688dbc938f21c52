//! Stored chunks: what keeping them costs, which of them each block asks its author for, and what an
//! author shows of one.
//!
//! Each block draws a chunk of those that the chain retains, and 1 KiB of it, from the output of the
//! author of the block before it ([`seed`]). The author shows that KiB with its path up to the chunk
//! ([`show`]), whose value in BLAKE3's tree the chain has on record since the chunk was uploaded.

use crate::{
	blob,
	content::{OpeningError, CHUNK_BYTES},
	job::{Balance, BlockNumber},
	H256,
};
use alloc::vec::Vec;
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use sp_crypto_hashing::blake2_256;

/// Most entries of the path from 1 KiB up to its chunk: a chunk has at most 1,024 of them.
pub const MAX_LEVELS: u32 = 10;
/// Most chunks that are doubted at a time. While there are as many, none is drawn of the others, so each
/// doubted chunk is asked for in one block of so many at least.
pub const MAX_DOUBTED: u32 = 128;
/// Draws of a block: each chunk that is drawn counts with a probability of its length in
/// [`MAX_CHUNK`](blob::MAX_CHUNK), and the last one whatever its length is. So a thousand chunks of 4 KiB draw hardly
/// more from a chunk of 1 MiB than four of 1 MiB do.
pub const TRIES: u32 = 8;

/// Domain of the seed of a block.
const SEED: &[u8; 23] = b"trainyard/retained/seed";
/// Domain of the numbers that are drawn from it.
const DRAW: &[u8; 23] = b"trainyard/retained/draw";

/// Returns the seed of block `height`: of the output of the author of the block before it, which no
/// author can choose, and which nobody else knows before that block is there. Without one it is of the
/// height alone, which everybody knows; still nobody can choose it.
pub fn seed(entropy: Option<&H256>, height: BlockNumber) -> H256 {
	(SEED, entropy, height).using_encoded(blake2_256).into()
}

/// Returns number `number` of a seed, uniform in `0..bound`; 0 for a bound of 0.
fn below(seed: &H256, number: u32, bound: u64) -> u64 {
	let hash = (DRAW, seed, number).using_encoded(blake2_256);
	let (word, _) = hash.split_at(8);
	let word = word.iter().rev().fold(0u64, |sum, byte| (sum << 8) | u64::from(*byte));
	u64::try_from((u128::from(word) * u128::from(bound)) >> 64).unwrap_or_default()
}

/// Returns the place, below `count`, that try `number` draws.
pub fn place(seed: &H256, number: u32, count: u32) -> u32 {
	let place = below(seed, number.saturating_mul(2), count.into());
	u32::try_from(place).unwrap_or_default()
}

/// Returns whether the chunk of `length` bytes that try `number` drew is taken.
pub fn is_taken(seed: &H256, number: u32, length: u32) -> bool {
	let number_of = number.saturating_mul(2).saturating_add(1);
	let last = number.saturating_add(1) >= TRIES;
	last || below(seed, number_of, blob::MAX_CHUNK.into()) < u64::from(length)
}

/// Returns which KiB of a chunk of `length` bytes is asked for, counted from 0.
pub fn kib(seed: &H256, length: u32) -> u32 {
	let kib = below(seed, u32::MAX, u64::from(length).div_ceil(CHUNK_BYTES));
	u32::try_from(kib).unwrap_or_default()
}

/// A part of a chunk that a block asks its author for.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
pub struct Question {
	/// Root of the blob.
	pub root: H256,
	/// Length of the blob in bytes.
	pub size: u64,
	/// Index of the chunk.
	pub index: u32,
	/// `blake2_256` of the chunk, by which nodes have it.
	pub hash: H256,
	/// Which KiB of the chunk, counted from 0.
	pub kib: u32,
}

/// What a block asks its author for.
#[derive(
	Clone, Debug, Default, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize,
)]
pub struct Questions {
	/// A chunk that was drawn. Whoever does not show it has no reward for the block.
	pub drawn: Option<Question>,
	/// A chunk that another author could not show. It costs nothing not to have it.
	pub doubted: Option<Question>,
}

/// 1 KiB of a chunk with its path up to the chunk.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Shown {
	/// The bytes, 1 to 1,024.
	pub bytes: BoundedVec<u8, ConstU32<1_024>>,
	/// The values of the nodes beside the way up to the chunk, from the bytes upwards.
	pub path: BoundedVec<H256, ConstU32<MAX_LEVELS>>,
}

/// What an author shows of what its block asks for.
#[derive(
	Clone,
	Debug,
	Default,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Answers {
	/// Of the chunk that was drawn.
	pub drawn: Option<Shown>,
	/// Of the chunk that is doubted.
	pub doubted: Option<Shown>,
}

/// Returns what shows that somebody has `chunk`, all bytes of a chunk, for this question. Fails where
/// the chunk is not the one that is asked for by its length, or the blob has no such KiB.
pub fn show(question: &Question, chunk: &[u8]) -> Result<Shown, OpeningError> {
	let node = blob::chunk_node(question.size, question.index).ok_or(OpeningError::NoSuchNode)?;
	let path = node.open_chunk(question.size, chunk, question.kib.into())?;
	let begin = usize::try_from(question.kib).ok().and_then(|kib| kib.checked_mul(1_024));
	let rest = begin.and_then(|begin| chunk.get(begin..)).ok_or(OpeningError::NoSuchChunk)?;
	let bytes: Vec<u8> = rest.iter().copied().take(1_024).collect();
	Ok(Shown {
		bytes: bytes.try_into().map_err(|_| OpeningError::ChunkLength)?,
		path: path.try_into().map_err(|_| OpeningError::SiblingCount)?,
	})
}

/// Checks what was shown of a chunk whose value in the tree over its blob's content is `value`.
pub fn check(question: &Question, value: &H256, shown: &Shown) -> Result<(), OpeningError> {
	let node = blob::chunk_node(question.size, question.index).ok_or(OpeningError::NoSuchNode)?;
	node.verify_chunk(question.size, value, question.kib.into(), &shown.bytes, &shown.path)
}

/// Returns what keeping a blob of `size` bytes for `blocks` blocks costs at `rate` for a KiB and a
/// block; a part of a KiB counts as a whole one.
pub fn rent(rate: Balance, size: u64, blocks: BlockNumber) -> Balance {
	rate.saturating_mul(size.div_ceil(CHUNK_BYTES).into()).saturating_mul(blocks.into())
}

/// A chunk that nodes keep.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct RetainedChunk {
	/// Root of its blob.
	pub root: H256,
	/// Its index.
	pub index: u32,
	/// Its `blake2_256`.
	pub hash: H256,
	/// Its length in bytes.
	pub length: u32,
}

/// What the chain retains.
#[derive(
	Clone, Debug, Default, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize,
)]
pub struct RetentionView {
	/// Chunks that are drawn.
	pub chunks: u32,
	/// Chunks that the author that was asked for them could not show, and nobody since, with the height
	/// since when.
	pub doubted: Vec<(H256, u32, BlockNumber)>,
	/// Chunks that are lost.
	pub lost: u32,
}

/// What keeping a blob costs and when it ends.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct KeepingView {
	/// What is on hold for its bytes, and returns at the end.
	pub deposit: Balance,
	/// What is on hold for its time.
	pub rent: Balance,
	/// What would be burned of both if it were removed now; the rest would return.
	pub due: Balance,
	/// The block from which on its time counts.
	pub since: BlockNumber,
	/// The last block that is paid for; of a blob that is not complete, the last one in which its next
	/// chunk can come.
	pub expires: BlockNumber,
	/// The last block in which its owner cannot remove it, since a job named it.
	pub kept: BlockNumber,
	/// Running jobs that name it: until there are none nobody removes it.
	pub awaited: u32,
	/// Indices of its chunks that are doubted.
	pub doubted: Vec<u32>,
	/// Indices of its chunks that are lost: whoever has them may upload them again.
	pub lost: Vec<u32>,
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::blob::{chunk_count, chunk_hash, chunk_node, Chunked};

	fn question(blob: &Chunked, size: u64, index: u32, kib: u32) -> Question {
		let hash = chunk_hash(blob.chunks[index as usize]);
		Question { root: blob.root, size, index, hash, kib }
	}

	#[test]
	fn every_kib_of_every_chunk_is_shown_and_nothing_else() {
		for size in [1u64, 1_023, 1_024, 1_025, 4_096, 4_097, 9_000, 262_145, 300_001] {
			let bytes: Vec<u8> = (0..size).map(|i| (i ^ i >> 9) as u8).collect();
			let blob = Chunked::new(&bytes);
			for index in 0..chunk_count(size).unwrap() {
				let chunk = blob.chunks[index as usize];
				let value = chunk_node(size, index).unwrap().value_of(size, chunk).unwrap();
				let count = (chunk.len() as u32).div_ceil(1_024);
				for kib in 0..count {
					let asked = question(&blob, size, index, kib);
					let shown = show(&asked, chunk).unwrap();
					assert_eq!(check(&asked, &value, &shown), Ok(()));
					assert!(shown.path.len() as u32 <= MAX_LEVELS);
					// Another KiB, another chunk and other bytes are not what was asked for.
					let other = Question { kib: (kib + 1) % count, ..asked.clone() };
					assert!(count == 1 || check(&other, &value, &shown).is_err());
					let mut wrong = shown.clone();
					wrong.bytes[0] ^= 1;
					assert_eq!(check(&asked, &value, &wrong), Err(OpeningError::Root));
					let mut longer = shown.clone();
					if longer.path.try_push(H256::zero()).is_ok() {
						assert!(check(&asked, &value, &longer).is_err());
					}
					assert!(check(&asked, &H256::zero(), &shown).is_err());
				}
				let past = question(&blob, size, index, count);
				assert_eq!(show(&past, chunk), Err(OpeningError::NoSuchChunk));
				assert_eq!(show(&past, &chunk[1..]), Err(OpeningError::ChunkLength));
			}
		}
	}

	#[test]
	fn a_large_chunk_has_ten_levels() {
		let size = 70u64 << 20;
		let chunk: Vec<u8> = (0..1u32 << 20).map(|i| (i >> 7) as u8).collect();
		let value = chunk_node(size, 3).unwrap().value_of(size, &chunk).unwrap();
		for kib in [0, 1, 511, 512, 1_023] {
			let asked = Question { root: H256::zero(), size, index: 3, hash: H256::zero(), kib };
			let shown = show(&asked, &chunk).unwrap();
			assert_eq!(shown.path.len(), 10);
			assert_eq!(check(&asked, &value, &shown), Ok(()));
			// The same bytes at another index of the blob have another value.
			let moved = Question { index: 4, ..asked };
			assert_eq!(check(&moved, &value, &shown), Err(OpeningError::Root));
		}
	}

	#[test]
	fn places_are_uniform_and_tiny_chunks_hardly_count() {
		let mut counts = [0u32; 10];
		for height in 0..10_000 {
			counts[place(&seed(Some(&H256::repeat_byte(7)), height), 0, 10) as usize] += 1;
		}
		assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
		assert_eq!(place(&H256::zero(), 0, 0), 0);
		// 100 chunks of 1 MiB and 900 of 4 KiB: most draws are of the former, as most bytes are.
		let large = (0..10_000u32).filter(|height| {
			let seed = seed(None, *height);
			let length = |number| if place(&seed, number, 1_000) < 100 { 1 << 20 } else { 4_096 };
			(0..TRIES).map(length).zip(0..).find(|(l, n)| is_taken(&seed, *n, *l)).unwrap().0
				> 4_096
		});
		let large = large.count();
		assert!((5_000..6_500).contains(&large), "{large}");
		assert!((0..1_000).map(|i| kib(&seed(None, i), 4_096)).all(|kib| kib < 4));
		assert!((0..1_000).any(|i| kib(&seed(None, i), 4_096) == 3));
	}

	#[test]
	fn rent_is_by_kib_and_block() {
		assert_eq!((rent(3, 1, 1), rent(3, 1_024, 1), rent(3, 1_025, 2)), (3, 3, 12));
		assert_eq!((rent(3, 0, 9), rent(3, 9, 0)), (0, 0));
		assert_eq!(rent(u128::MAX, u64::MAX, u32::MAX), u128::MAX);
	}
}
