//! Blobs: files kept on chain in chunks under one root (models, rescued states).

use crate::{job::BlockNumber, merkle, H256};
use alloc::vec::Vec;
use codec::Encode;
use sp_crypto_hashing::blake2_256;

/// Smallest and largest chunk, in bytes.
pub const MIN_CHUNK: u32 = 4 * 1024;
/// See [`MIN_CHUNK`].
pub const MAX_CHUNK: u32 = 1024 * 1024;

/// Chunks of [`MAX_CHUNK`] bytes that ordinary transactions of a block can bring.
pub const CHUNKS_PER_BLOCK: u32 = 3;
/// Blocks for a rescue besides those that its bytes take, where root has not set another number: an
/// hour, in which a trainer's machine can be started again, and an attacker must fill every block.
pub const RESCUE_BLOCKS: BlockNumber = 600;
/// Blocks that carry the largest rescue there may be.
pub const CARRY_BLOCKS: BlockNumber = 300;
/// One part in this many of the bytes that blocks take may be one rescue's: models, and rescues of
/// other jobs, need them too.
const RESCUE_PART: u64 = 2;

pub use trainyard_program::needs::{rescue_bytes, searched_states};

/// Returns the most bytes of a rescue that `blocks` blocks can carry.
pub fn rescue_room(blocks: BlockNumber) -> u64 {
	let block = u64::from(CHUNKS_PER_BLOCK).saturating_mul(u64::from(MAX_CHUNK));
	u64::from(blocks).saturating_mul(block).checked_div(RESCUE_PART).unwrap_or_default()
}

/// Returns how many blocks a trainer has to store these `bytes`: those that carry them by
/// [`rescue_room`], and `more`.
pub fn rescue_blocks(bytes: u64, more: BlockNumber) -> BlockNumber {
	let blocks = bytes.div_ceil(rescue_room(1));
	u32::try_from(blocks).unwrap_or(u32::MAX).saturating_add(more)
}

/// Returns the chunk length for a blob of `size` bytes: the power of two that makes about 64
/// chunks, within [`MIN_CHUNK`]..=[`MAX_CHUNK`]. A function of the size alone, so that a blob has
/// one root.
pub fn chunk_len(size: u64) -> u32 {
	let wanted = size.div_ceil(64).checked_next_power_of_two().unwrap_or(u64::MAX);
	u32::try_from(wanted).unwrap_or(MAX_CHUNK).clamp(MIN_CHUNK, MAX_CHUNK)
}

/// Returns the number of chunks of a blob of `size` bytes; an empty blob has none. `None` past
/// `u32`.
pub fn chunk_count(size: u64) -> Option<u32> {
	u32::try_from(size.div_ceil(u64::from(chunk_len(size)))).ok()
}

/// Returns the length of chunk `index` of a blob of `size` bytes; `None` past its end.
pub fn chunk_size_at(size: u64, index: u32) -> Option<u32> {
	let len = u64::from(chunk_len(size));
	let start = len.checked_mul(u64::from(index))?;
	let left = size.checked_sub(start).filter(|left| *left > 0)?;
	u32::try_from(left.min(len)).ok()
}

/// Returns the content hash of a chunk, under which the node stores it and bitswap finds it.
pub fn chunk_hash(bytes: &[u8]) -> H256 {
	blake2_256(bytes).into()
}

/// Returns the Merkle leaf of a chunk with content hash `hash`.
pub fn chunk_leaf(hash: &H256) -> H256 {
	merkle::leaf(hash.as_bytes())
}

/// Returns the root of a blob: `blake2_256(SCALE("trainyard/blob/v1", size: u64, Merkle root of the
/// chunk leaves))`.
pub fn root_of(size: u64, merkle_root: &H256) -> H256 {
	(b"trainyard/blob/v1", size, merkle_root).using_encoded(blake2_256).into()
}

/// A blob that is cut into its chunks, with what an uploader needs.
pub struct Chunked<'a> {
	/// Root of the blob, see [`root_of`].
	pub root: H256,
	/// Merkle root of the chunk leaves, declared at registration.
	pub merkle_root: H256,
	/// The chunks, in order.
	pub chunks: Vec<&'a [u8]>,
	leaves: Vec<H256>,
}

impl<'a> Chunked<'a> {
	/// Cuts `bytes` by the rule of [`chunk_len`].
	pub fn new(bytes: &'a [u8]) -> Self {
		let size = bytes.len() as u64;
		let chunks: Vec<&[u8]> = bytes.chunks(chunk_len(size) as usize).collect();
		let leaves: Vec<H256> = chunks.iter().map(|c| chunk_leaf(&chunk_hash(c))).collect();
		let merkle_root = merkle::root(&leaves);
		Self { root: root_of(size, &merkle_root), merkle_root, chunks, leaves }
	}

	/// Returns the inclusion proof of chunk `index`.
	pub fn proof(&self, index: usize) -> Option<Vec<H256>> {
		merkle::proof(&self.leaves, index)
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	#[test]
	fn chunks_cover_the_blob() {
		for size in [0u64, 1, 4095, 4096, 4097, 26_680, 262_144, 262_145, 70_000_000] {
			let count = chunk_count(size).unwrap();
			let total: u64 = (0..count).map(|i| u64::from(chunk_size_at(size, i).unwrap())).sum();
			assert_eq!(total, size);
			assert_eq!(chunk_size_at(size, count), None);
		}
		assert_eq!(chunk_len(26_680), 4096);
		assert_eq!(chunk_len(u64::MAX), MAX_CHUNK);
	}

	#[test]
	fn every_chunk_has_a_proof_under_the_root() {
		let bytes: Vec<u8> = (0..30_000u32).map(|i| i as u8).collect();
		let blob = Chunked::new(&bytes);
		assert_eq!(blob.chunks.len(), 8);
		for (i, c) in blob.chunks.iter().enumerate() {
			let p = blob.proof(i).unwrap();
			assert!(merkle::verify(
				&blob.merkle_root,
				&chunk_leaf(&chunk_hash(c)),
				i as u32,
				8,
				&p
			));
		}
		assert_eq!(blob.root, root_of(30_000, &blob.merkle_root));
	}

	#[test]
	fn half_of_the_blocks_is_room_for_a_rescue() {
		assert_eq!(rescue_room(CARRY_BLOCKS), 450 << 20);
		assert_eq!((rescue_room(0), rescue_room(1)), (0, 3 << 19));
		assert!(rescue_room(u32::MAX) > 1 << 50);
	}

	#[test]
	fn a_window_fits_its_bytes() {
		assert_eq!(rescue_blocks(0, RESCUE_BLOCKS), 600);
		assert_eq!((rescue_blocks(1, 300), rescue_blocks(3 << 19, 300)), (301, 301));
		assert_eq!((rescue_blocks((3 << 19) + 1, 300), rescue_blocks(300 << 20, 300)), (302, 500));
		assert_eq!(rescue_blocks(450 << 20, RESCUE_BLOCKS), 900);
		assert_eq!(rescue_blocks(u64::MAX, u32::MAX), u32::MAX);
	}

	#[test]
	fn a_rescue_holds_the_ends_of_all_segments_that_are_looked_at() {
		use trainyard_program::spec::{InitialModel, JobSpec, Optimizer};
		let mut spec = JobSpec::example();
		let bound = |spec: &JobSpec, k: u32, checkpoints: u64, tensors: u64| {
			let spec = &spec.clone().check().unwrap();
			let values = 6_570 * 4 * tensors * checkpoints;
			let bytes = rescue_bytes(spec, k);
			// What is not values and data: indices and the manifest.
			let rest = bytes - values - spec.file_bytes();
			assert!(rest > 64 * 1024 + 31 * 512, "{rest}");
			assert!(rest < 64 * 1024 + 31 * 512 + 32 * 1024 * checkpoints, "{rest}");
		};
		// Ten of the search among 30 segments.
		bound(&spec, 3, 17, 3);
		// There are 31 checkpoints.
		bound(&spec, 15, 31, 3);
		bound(&spec, 16, 31, 3);
		spec.training.optimizer = Optimizer::Sgd { momentum_nano: 900_000_000, nesterov: false };
		bound(&spec, 3, 17, 2);
		let parameters = H256::repeat_byte(3);
		spec.initial_model = Some(InitialModel { file: spec.dataset.file(), parameters });
		bound(&spec, 3, 17, 2);
	}
}
