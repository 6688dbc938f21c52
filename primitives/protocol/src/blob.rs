//! Blobs: files kept on chain in chunks under one root (models, rescued states).
//!
//! The root of a blob is over the [content hash](content::hash) of its bytes. Its chunks are nodes of
//! the tree over this content, so each is proved by its path, and any 1 KiB of the blob opens under
//! the same root.

use crate::{
	content::{self, Node, OpeningError, CHUNK_BYTES},
	job::BlockNumber,
	H256,
};
use alloc::vec::Vec;
use codec::Encode;
use sp_crypto_hashing::blake2_256;
use trainyard_program::needs::Room;

/// Smallest and largest chunk, in bytes.
pub const MIN_CHUNK: u32 = 4 * 1024;
/// See [`MIN_CHUNK`].
pub const MAX_CHUNK: u32 = 1024 * 1024;
/// Most entries of the path of a chunk: a blob has less than 2^32 chunks.
pub const MAX_PATH: u32 = 32;

/// Most values of chunks that a node returns at once: it reads and hashes 64 MiB for them.
pub const VALUES_AT_ONCE: u32 = 64;

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

pub use trainyard_program::needs::{read_states, searched_states};

/// Most bytes of a blob: all rows that a job may have, of which anybody can ask for some; the file of the
/// largest model is a quarter of it.
pub const MAX_BLOB: u64 = 1 << 32;

/// Returns what a chain carries of a result that nobody serves, as far as root has set nothing else.
pub fn room() -> Room {
	Room { rescue: rescue_room(CARRY_BLOCKS).min(MAX_BLOB), blob: MAX_BLOB }
}

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

/// Returns the `blake2_256` of a chunk's bytes: what a node looks it up by.
pub fn chunk_hash(bytes: &[u8]) -> H256 {
	blake2_256(bytes).into()
}

/// Returns the root of a blob: `blake2_256(SCALE("trainyard/blob/v2", size: u64, content))` with the
/// [content hash](content::hash) of its bytes.
pub fn root_of(size: u64, content: &H256) -> H256 {
	(b"trainyard/blob/v2", size, content).using_encoded(blake2_256).into()
}

/// Returns the root of all bytes that come from `reader`, without holding them in memory.
#[cfg(feature = "std")]
pub fn root_of_reader(reader: impl std::io::Read) -> std::io::Result<H256> {
	let mut hasher = blake3::Hasher::new();
	hasher.update_reader(reader)?;
	Ok(root_of(hasher.count(), &H256(*hasher.finalize().as_bytes())))
}

/// Returns chunk `index` of a blob of `size` bytes as a node of its content; `None` past its end.
pub fn chunk_node(size: u64, index: u32) -> Option<Node> {
	let bytes = u64::from(chunk_size_at(size, index)?);
	let begin = u64::from(index).checked_mul(chunk_kib(size))?;
	Some(Node { begin, chunks: content::chunks(bytes) })
}

/// Returns whether chunk `index` stands at one place in blobs of `size` and of `other` bytes: it begins
/// there, has one length, and is either all of both blobs or of neither. Then equal bytes have equal
/// values in the trees over both.
pub fn is_same_place(size: u64, other: u64, index: u32) -> bool {
	let place = |size: u64| {
		let is_all = chunk_count(size)? == 1;
		Some((chunk_node(size, index)?, chunk_size_at(size, index)?, is_all))
	};
	place(size).is_some_and(|found| Some(found) == place(other))
}

/// Returns how many levels of the tree over the content of a blob of `size` bytes lie above its
/// chunks: its chunks are the [parts](Node::parts) so far below the whole.
pub fn levels(size: u64) -> u32 {
	let whole = content::chunks(size).checked_next_power_of_two().unwrap_or(1);
	whole.checked_div(chunk_kib(size)).and_then(u64::checked_ilog2).unwrap_or_default()
}

/// Checks by its `path` that `bytes` are chunk `index` of the blob of `size` bytes with this content
/// hash. Fails where the blob has no such chunk, and with what [`Node::value_of`] and
/// [`Node::verify`] fail with. Costs one compression for each 64 bytes, each KiB and each entry of the
/// path.
pub fn verify_chunk(
	size: u64,
	content: &H256,
	index: u32,
	bytes: &[u8],
	path: &[H256],
) -> Result<(), OpeningError> {
	checked_value(size, content, index, bytes, path).map(drop)
}

/// As [`verify_chunk`]. Returns the value of the chunk as a node of the tree over the content.
pub fn checked_value(
	size: u64,
	content: &H256,
	index: u32,
	bytes: &[u8],
	path: &[H256],
) -> Result<H256, OpeningError> {
	let node = chunk_node(size, index).ok_or(OpeningError::NoSuchChunk)?;
	let value = node.value_of(size, bytes)?;
	node.verify(content, size, &value, path)?;
	Ok(value)
}

/// Returns how many chunks of a content make up a chunk of a blob of `size` bytes, a power of two.
fn chunk_kib(size: u64) -> u64 {
	u64::from(chunk_len(size)).checked_div(CHUNK_BYTES).unwrap_or_default()
}

/// A blob that is cut into its chunks, with what an uploader needs.
pub struct Chunked<'a> {
	/// Root of the blob, see [`root_of`].
	pub root: H256,
	/// Content hash of the blob, declared at registration.
	pub content: H256,
	/// The chunks, in order.
	pub chunks: Vec<&'a [u8]>,
	/// Values of the chunks as nodes of the content.
	values: Vec<H256>,
	size: u64,
}

impl<'a> Chunked<'a> {
	/// Cuts `bytes` by the rule of [`chunk_len`].
	pub fn new(bytes: &'a [u8]) -> Self {
		let size = bytes.len() as u64;
		let chunks: Vec<&[u8]> = bytes.chunks(chunk_len(size) as usize).collect();
		let value =
			|(index, chunk): (u32, &&[u8])| chunk_node(size, index)?.value_of(size, chunk).ok();
		let values: Vec<H256> = (0..).zip(&chunks).filter_map(value).collect();
		let merged = Node::whole(size).merge(size, levels(size), &values);
		// An empty blob has no nodes.
		let content = merged.unwrap_or_else(|_| content::hash(bytes));
		Self { root: root_of(size, &content), content, chunks, values, size }
	}

	/// Returns the path of chunk `index`; `None` past the last one.
	pub fn proof(&self, index: usize) -> Option<Vec<H256>> {
		let (size, at) = (self.size, u64::try_from(index).ok()?);
		Node::whole(size).part_path(size, levels(size), &self.values, at).ok()
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

	/// Every length of a chunk is a power of two of KiB, so chunks are nodes.
	#[test]
	fn chunks_are_nodes_of_the_content() {
		for shift in 0..64 {
			for size in [(1u64 << shift) - 1, 1 << shift, (1 << shift) + 1, 3 << (shift / 2)] {
				let length = chunk_len(size);
				assert!(length.is_power_of_two() && length.is_multiple_of(1_024), "{length}");
				let Some(count) = chunk_count(size) else { continue };
				for index in [0, 1, count / 2, count.saturating_sub(1)] {
					let Some(node) = chunk_node(size, index) else {
						assert!(index >= count);
						continue;
					};
					let begin = u64::from(index) * u64::from(length);
					let bytes = chunk_size_at(size, index).unwrap();
					assert_eq!(node.place(size), Ok((begin, u64::from(bytes))));
				}
				assert_eq!(chunk_node(size, count), None);
				assert!(levels(size) <= MAX_PATH);
			}
		}
		for size in [1, 4_096, 4_097, 30_000, 262_144, 262_145, 70_000_000] {
			let nodes = (0..chunk_count(size).unwrap()).map(|i| chunk_node(size, i).unwrap());
			let parts = Node::whole(size).parts(size, levels(size)).unwrap();
			assert_eq!(nodes.collect::<Vec<_>>(), parts);
		}
	}

	#[test]
	fn equal_bytes_at_one_place_have_equal_values() {
		let sizes = [1u64, 4_095, 4_096, 4_097, 8_192, 20_000, 262_144, 262_145, 524_288, 600_000];
		let bytes: Vec<u8> = (0..600_000u32).map(|i| (i ^ i >> 7) as u8).collect();
		let value = |size: u64, index: u32| {
			let from = index as usize * chunk_len(size) as usize;
			let length = chunk_size_at(size, index)? as usize;
			chunk_node(size, index)?.value_of(size, &bytes[from..][..length]).ok()
		};
		let mut same = 0;
		for (size, other) in sizes.iter().flat_map(|a| sizes.map(|b| (*a, b))) {
			for index in 0..chunk_count(size).unwrap() + 2 {
				let is_same = is_same_place(size, other, index);
				assert_eq!(is_same, is_same_place(other, size, index));
				let (one, two) = (value(size, index), value(other, index));
				assert_eq!(is_same, one.is_some() && one == two, "{size} {other} {index}");
				same += u32::from(is_same && size != other);
			}
		}
		assert!(same > 50, "{same}");
	}

	#[test]
	fn the_root_has_its_layout() {
		for size in [0usize, 1, 1_024, 4_096, 4_097, 30_000, 262_144, 262_145] {
			let bytes: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
			let blob = Chunked::new(&bytes);
			let hash = blake3::hash(&bytes);
			assert_eq!(blob.content.0, *hash.as_bytes());
			let layout =
				[&b"trainyard/blob/v2"[..], &(size as u64).to_le_bytes(), hash.as_bytes()].concat();
			assert_eq!(blob.root.0, blake2_256(&layout));
			assert_eq!(root_of_reader(&bytes[..]).unwrap(), blob.root);
		}
	}

	#[test]
	fn every_chunk_has_a_proof_under_the_root() {
		for size in [1u32, 4_096, 4_097, 20_000, 30_000, 262_144, 300_001] {
			let bytes: Vec<u8> = (0..size).map(|i| (i ^ i >> 9) as u8).collect();
			let blob = Chunked::new(&bytes);
			let count = chunk_count(size.into()).unwrap();
			assert_eq!(blob.chunks.len() as u32, count);
			for (index, chunk) in (0..).zip(&blob.chunks) {
				let path = blob.proof(index as usize).unwrap();
				let verify = |index, chunk: &[u8], path: &[H256]| {
					verify_chunk(size.into(), &blob.content, index, chunk, path)
				};
				assert_eq!(verify(index, chunk, &path), Ok(()));
				assert_eq!(chunk_node(size.into(), index).unwrap().open(&bytes), Ok(path.clone()));
				let mut other = chunk.to_vec();
				other[0] ^= 1;
				assert_eq!(verify(index, &other, &path), Err(OpeningError::Root));
				assert_eq!(verify(index, &chunk[1..], &path), Err(OpeningError::ChunkLength));
				assert_eq!(verify(count, chunk, &path), Err(OpeningError::NoSuchChunk));
				let longer = [&path[..], &[H256::zero()]].concat();
				assert_eq!(verify(index, chunk, &longer), Err(OpeningError::SiblingCount));
				for other in (0..count).filter(|other| *other != index) {
					assert!(verify(other, chunk, &path).is_err(), "{index} as {other}");
				}
			}
			assert_eq!(blob.proof(count as usize), None);
		}
		assert_eq!(Chunked::new(&[]).proof(0), None);
	}

	use trainyard_program::{needs::MachineClass, spec::MAX_PARAMETERS};

	#[test]
	fn half_of_the_blocks_is_room_for_a_rescue() {
		assert_eq!(rescue_room(CARRY_BLOCKS), 450 << 20);
		assert_eq!((rescue_room(0), rescue_room(1)), (0, 3 << 19));
		assert_eq!(room(), Room { rescue: 450 << 20, blob: 1 << 32 });
		let largest = MachineClass::ALL.map(|class| class.limits().rows);
		assert!(largest.iter().all(|rows| *rows <= MAX_BLOB), "whose rows no blob holds");
		assert!(4 * MAX_PARAMETERS + (1 << 20) <= MAX_BLOB, "which holds no model");
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
		use trainyard_program::{
			needs::Needs,
			spec::{InitialModel, JobSpec, Optimizer},
		};
		let mut spec = JobSpec::example();
		let bound = |spec: &JobSpec, k: u32, checkpoints: u64, tensors: u64| {
			let spec = &spec.clone().check().unwrap();
			let values = 6_570 * 4 * tensors * checkpoints;
			let bytes = Needs::of(spec).lacking(k, room().rescue, 1).stored;
			// What is not values, rows and leaves: indices.
			let rest = bytes - values - Needs::of(spec).rows - 81 * 32;
			assert!(rest > 0 && rest < 32 * 1024 * checkpoints, "{rest}");
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
		// The first state is asked for by who lacks the initial model.
		bound(&spec, 3, 18, 2);
	}
}
