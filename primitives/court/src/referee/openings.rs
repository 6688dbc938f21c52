//! What is brought to a referee: chunks of tensors, contents and paths.

use super::{Origin, StateTensors, MAX_OPENINGS};
use crate::case::Refused;
use alloc::{collections::BTreeMap, vec::Vec};
use codec::{Compact, Decode, DecodeAll, Encode};
use trainyard_program::parts::{Accumulator, CHUNK_ELEMENTS};
use trainyard_protocol::{
	bundle::Checkpoint,
	content::{self, OpeningError, CHUNK_BYTES},
	H256,
};
use trainyard_strict::canonical_bits;

/// Bytes of a number, and of a label.
pub(super) const WORD: u64 = 4;
const _: () = assert!(CHUNK_ELEMENTS * WORD == CHUNK_BYTES);

/// Chunks of a content, with the proof that they are of it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Chunks {
	/// The numbers of the chunks, from 0 and ascending.
	pub numbers: Vec<Compact<u64>>,
	/// Their bytes, one chunk after the other: 1,024 each, or fewer of the last one of the content.
	pub bytes: Vec<u8>,
	/// The hashes beside the ways from the chunks to the content hash, as
	/// [`content::open_many`] returns them.
	pub siblings: Vec<H256>,
}

impl Chunks {
	/// Opens the chunks of these numbers. Fails where they are none, do not strictly ascend or are not
	/// of the content.
	pub fn open(
		content: &[u8],
		numbers: impl IntoIterator<Item = u64>,
	) -> Result<Self, OpeningError> {
		let numbers: Vec<u64> = numbers.into_iter().collect();
		let siblings = content::open_many(content, numbers.iter().copied())?;
		let mut bytes = Vec::new();
		for number in &numbers {
			bytes.extend_from_slice(content::chunk(content, *number)?);
		}
		Ok(Self { numbers: numbers.into_iter().map(Compact).collect(), bytes, siblings })
	}

	/// Checks that the chunks are of the content of `length` bytes with this hash, and returns them with
	/// their numbers.
	pub fn verify(&self, hash: &H256, length: u64) -> Result<Vec<(u64, &[u8])>, OpeningError> {
		let mut rest = self.bytes.as_slice();
		let mut chunks = Vec::with_capacity(self.numbers.len());
		for Compact(number) in &self.numbers {
			let begin = number.checked_mul(CHUNK_BYTES).ok_or(OpeningError::NoSuchChunk)?;
			let left = length.checked_sub(begin).ok_or(OpeningError::NoSuchChunk)?;
			let size = usize::try_from(left.min(CHUNK_BYTES)).unwrap_or_default();
			let (chunk, after) = rest.split_at_checked(size).ok_or(OpeningError::ChunkLength)?;
			chunks.push((*number, chunk));
			rest = after;
		}
		if !rest.is_empty() {
			return Err(OpeningError::ChunkLength);
		}
		content::verify_many(hash, length, chunks.iter().copied(), &self.siblings)?;
		Ok(chunks)
	}
}

/// What a tensor is whose chunks are opened, and how its content follows from what was agreed. Names,
/// shapes and numbers of tensors follow from the specification.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Source {
	/// A tensor of the state before the computation, or of the last state.
	State {
		/// Its index in [`StateTensors`].
		tensor: u32,
		/// Its content.
		content: H256,
		/// The path to the state hash, as [`StateTensors::path`] returns it.
		path: Vec<H256>,
	},
	/// A result before the one that is computed.
	Result {
		/// Its index.
		result: u32,
		/// Its content.
		content: H256,
		/// The path to the prefix root over the results so far.
		path: Vec<H256>,
	},
	/// The inputs of all training rows, or of all validation rows; see [`Tensors::rows`].
	Features,
	/// The labels of these rows.
	Labels,
	/// A tensor of the model that a fine-tuning begins with.
	Initial {
		/// Its index in [`StateTensors`].
		tensor: u32,
		/// Its content.
		content: H256,
		/// The path to the hash of the parameters.
		path: Vec<H256>,
	},
}

impl Source {
	/// Returns what the tensor is.
	pub fn origin(&self) -> Origin {
		match self {
			Source::State { tensor, .. } => Origin::State(*tensor),
			Source::Result { result, .. } => Origin::Result(*result),
			Source::Features => Origin::Features,
			Source::Labels => Origin::Labels,
			Source::Initial { tensor, .. } => Origin::Initial(*tensor),
		}
	}
}

/// Chunks of one tensor.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct TensorOpening {
	/// What the tensor is.
	pub source: Source,
	/// Its chunks.
	pub chunks: Chunks,
}

/// Chunks of tensors, each tensor once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Tensors {
	/// The four contents under the rows root, where features or labels are opened.
	pub rows: Option<[H256; 4]>,
	/// The tensors.
	pub tensors: Vec<TensorOpening>,
}

/// What a stretch of a chain reads.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct StretchOpening {
	/// What the chain holds before the stretch; none where it begins with it.
	pub before: Option<Accumulator>,
	/// What its terms read, and what comes before the first and after the last.
	pub tensors: Tensors,
}

/// A slice of an evaluation: the bytes of two results of it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct SliceOpening {
	/// The losses of its labels, the whole content.
	pub losses: Vec<u8>,
	/// Which of them are predicted, the whole content.
	pub correct: Vec<u8>,
	/// The path from the leaf of the slice to the root over all of them.
	pub path: Vec<H256>,
}

/// What a stretch of the mean of an evaluation reads.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct MeanOpening {
	/// The sum of the losses of the slices before, an [`Accumulator::Sum`], and their labels that are
	/// predicted; none where there are none before.
	pub before: Option<(Accumulator, u64)>,
	/// The slices of the stretch, ascending.
	pub slices: Vec<SliceOpening>,
}

/// A checkpoint of a result.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct CheckpointOpening {
	/// The checkpoint.
	pub checkpoint: Checkpoint,
	/// The path from its leaf to the bundle root.
	pub path: Vec<H256>,
}

/// What a stretch of the rule for an early stop reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct StopOpening {
	/// The bits of the least loss, and the checkpoints since then, after the checkpoints before; none
	/// where there are none before.
	pub before: Option<(u32, u32)>,
	/// The checkpoints of the stretch, ascending.
	pub checkpoints: Vec<CheckpointOpening>,
}

/// What is brought to a referee. Each kind of piece has its own.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[allow(clippy::large_enum_variant)] // There is one at a time.
pub enum Openings {
	/// For a stretch of a chain.
	Stretch(StretchOpening),
	/// For an element that is no chain's: of the initial state, one that is not finite, and for a chunk
	/// of the model's file.
	Tensors(Tensors),
	/// For a join of results: the contents of all of them, in order.
	Contents(Vec<H256>),
	/// For the mean of an evaluation.
	Mean(MeanOpening),
	/// For the rule for an early stop.
	Stop(StopOpening),
	/// For a chunk of a stored state: the content hash of the blob, and its chunks.
	Blob(H256, Chunks),
}

impl Openings {
	/// Decodes openings. Fails with [`Refused::TooLong`], before anything is decoded, where they are
	/// more than [`MAX_OPENINGS`] bytes, and with [`Refused::WrongOpening`].
	pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refused> {
		if bytes.len() > MAX_OPENINGS {
			return Err(Refused::TooLong);
		}
		Self::decode_all(&mut &*bytes).map_err(|_| Refused::WrongOpening)
	}
}

/// A tensor whose content is known.
pub(super) struct Known {
	/// Its content hash.
	pub content: H256,
	/// Its number of elements.
	pub elements: u64,
}

/// The words that were opened, checked.
#[derive(Debug, Default)]
pub(super) struct Proved {
	chunks: BTreeMap<(Origin, u64), Vec<u32>>,
}

impl Proved {
	/// Checks chunks of tensors. `known` says by its source which content a tensor has and how long it
	/// is, or why it is refused. Fails where a tensor is opened twice, where chunks are not of it, and
	/// where a number is a NaN that is not canonical.
	pub fn new(
		tensors: &[TensorOpening],
		known: impl Fn(&Source) -> Result<Known, Refused>,
	) -> Result<Self, Refused> {
		let mut proved = Self::default();
		for TensorOpening { source, chunks } in tensors {
			let origin = source.origin();
			if proved.chunks.range((origin, 0)..=(origin, u64::MAX)).next().is_some() {
				return Err(Refused::Twice);
			}
			let Known { content, elements } = known(source)?;
			let length = elements.checked_mul(WORD).ok_or(Refused::NoSuchPiece)?;
			for (number, bytes) in chunks.verify(&content, length).map_err(Refused::Chunks)? {
				let words = words(bytes);
				if origin != Origin::Labels && !words.iter().copied().all(is_canonical) {
					return Err(Refused::NotCanonical);
				}
				proved.chunks.insert((origin, number), words);
			}
		}
		Ok(proved)
	}
}

impl super::lowered::Words for Proved {
	fn word(&self, origin: Origin, index: u64) -> Option<u32> {
		let words = self.chunks.get(&(origin, index / CHUNK_ELEMENTS))?;
		words.get(usize::try_from(index % CHUNK_ELEMENTS).ok()?).copied()
	}
}

/// Returns the content of a tensor of a state with this hash. Fails with [`Refused::WrongOpening`].
pub(super) fn of_state(
	tensors: &StateTensors,
	state: &H256,
	tensor: u32,
	content: &H256,
	path: &[H256],
) -> Result<Known, Refused> {
	if !tensors.proves(state, tensor, content, path) {
		return Err(Refused::WrongOpening);
	}
	let elements = tensors.elements(tensor).ok_or(Refused::WrongOpening)?;
	Ok(Known { content: *content, elements })
}

/// Returns the words of a chunk: the length of a tensor is a multiple of a word's, and so is that of
/// each of its chunks.
pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
	let (words, _) = bytes.as_chunks::<4>();
	words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Returns whether these are the bits by which a number is hashed.
pub(super) fn is_canonical(word: u32) -> bool {
	canonical_bits(f32::from_bits(word)) == word
}
