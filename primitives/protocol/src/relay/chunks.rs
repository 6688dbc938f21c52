//! Chunks of pieces: how they are numbered, and what opens one.

use crate::{
	content::{self, CHUNK_BYTES},
	job::WorkResult,
	pieces::{Leaf, Piece},
	rows::Rows,
	state::{ExpectedTensor, TensorDigest, TensorProof},
	vrf, H256,
};
use alloc::{string::String, vec::Vec};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_program::{
	lower,
	samples::{self, SLICES},
	spec::{CheckedSpec, Dataset},
	thinning,
};

/// A chunk of a state: of which tensor, how long that is, and the index in it.
struct Place {
	tensor: ExpectedTensor,
	bytes: u64,
	chunk: u64,
}

/// Returns the tensors of a job's states in ascending bytewise order of name, each with its length in bytes.
pub(super) fn tensors(spec: &CheckedSpec) -> Vec<(ExpectedTensor, u64)> {
	let mut tensors: Vec<(String, Vec<u32>)> =
		lower::state(spec).into_iter().map(|tensor| (tensor.name, tensor.shape)).collect();
	tensors.sort();
	let count = u32::try_from(tensors.len()).unwrap_or(u32::MAX);
	(0u32..)
		.zip(tensors)
		.map(|(index, (name, shape))| {
			let all = |bytes: u64, extent: &u32| bytes.saturating_mul((*extent).into());
			let bytes = shape.iter().fold(4, all);
			(ExpectedTensor { name, shape, index, count }, bytes)
		})
		.collect()
}

/// Returns the bytes of the four contents of the rows of a dataset, as [`Rows`] numbers them.
pub(super) fn row_contents(dataset: &Dataset) -> [u64; 4] {
	Rows::of(dataset, Default::default()).content_bytes()
}

/// Returns whether a piece is all rows of a dataset.
fn is_all_rows(dataset: &Dataset, piece: Piece) -> bool {
	let all = dataset.train_rows.saturating_add(dataset.validation_rows);
	piece == Piece::Rows { from: 0, to: all }
}

/// Returns how many chunks of 1 KiB a piece of this result of a job has; 0 for one that is not opened by
/// chunks, and of samples where no segment can be picked by them. Trainers of the job [keep](thinning) one state in
/// `every`, of which there are samples.
pub fn chunks(spec: &CheckedSpec, every: u32, result: &WorkResult, piece: Piece) -> u64 {
	let sum = |sum: u64, bytes: u64| sum.saturating_add(content::chunks(bytes));
	let dataset = &spec.spec().dataset;
	match piece {
		Piece::Samples => {
			samples::chunks_of_run(samples::chunks_of_state(spec), every, result.segments)
		}
		Piece::State(_) => tensors(spec).iter().map(|(_, bytes)| *bytes).fold(0, sum),
		Piece::Rows { .. } if is_all_rows(dataset, piece) => {
			row_contents(dataset).into_iter().filter(|bytes| *bytes > 0).fold(0, sum)
		}
		Piece::Leaves | Piece::Rows { .. } | Piece::Tensor { .. } => 0,
	}
}

/// Returns where the chunk `number` of a state lies; `None` past its end.
fn place(spec: &CheckedSpec, number: u64) -> Option<Place> {
	let mut before = 0u64;
	for (tensor, bytes) in tensors(spec) {
		let end = before.saturating_add(content::chunks(bytes));
		if number < end {
			return Some(Place { tensor, bytes, chunk: number.saturating_sub(before) });
		}
		before = end;
	}
	None
}

/// A chunk among the samples of all states that are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleChunk {
	/// Index of the checkpoint.
	pub checkpoint: u32,
	/// Where it lies in the state there.
	pub place: TensorChunk,
}

/// Returns which chunks of a tensor are read, as [`vrf::own_chunks`] draws them from `places`; all of one that is
/// read whole, which [`samples`] says. `tensor` is its index among those of a state in ascending bytewise order of
/// name, `bytes` its length.
pub fn sampled(places: &H256, tensor: u32, bytes: u64) -> Vec<u32> {
	let count = u32::try_from(content::chunks(bytes)).unwrap_or(u32::MAX);
	match bytes < samples::WHOLE_BYTES {
		true => (0..count).collect(),
		false => vrf::own_chunks(places, tensor, count, SLICES),
	}
}

/// Returns where the chunk `number` of the samples of all states lies that are kept of a run, one in `every` of those
/// up to checkpoint `last`. They are read at these `places`.
pub fn sample_chunk(
	spec: &CheckedSpec,
	(every, last): (u32, u32),
	places: &H256,
	number: u64,
) -> Option<SampleChunk> {
	let (checkpoint, place) = sample_place(spec, (every, last), places, number)?;
	let place = TensorChunk { tensor: place.tensor.index, chunk: place.chunk };
	Some(SampleChunk { checkpoint, place })
}

/// Returns the checkpoint of the chunk `number` of the samples, and where it lies in the state there.
fn sample_place(
	spec: &CheckedSpec,
	(every, last): (u32, u32),
	places: &H256,
	number: u64,
) -> Option<(u32, Place)> {
	let tensors = tensors(spec);
	let counts = tensors.iter().map(|(_, bytes)| samples::chunks_of_tensor(*bytes));
	let of_state = counts.fold(0, u64::saturating_add);
	let at = u32::try_from(number.checked_div(of_state)?).ok()?;
	let checkpoint = thinning::kept_index(every, at, last)?;
	let mut rest = number.checked_rem(of_state)?;
	for (tensor, bytes) in tensors {
		let count = samples::chunks_of_tensor(bytes);
		if rest < count {
			let chunks = sampled(places, tensor.index, bytes);
			let chunk = u64::from(*chunks.get(usize::try_from(rest).ok()?)?);
			return Some((checkpoint, Place { tensor, bytes, chunk }));
		}
		rest = rest.saturating_sub(count);
	}
	None
}

/// Bytes of a chunk, and what leads from it to the content hash.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Chunk {
	/// The bytes, 1 to 1,024.
	pub bytes: BoundedVec<u8, ConstU32<{ CHUNK_BYTES as u32 }>>,
	/// Its [path](content::open) in the content.
	pub siblings: BoundedVec<H256, ConstU32<54>>,
}

impl Chunk {
	/// Returns chunk `index` of these bytes of a content; `None` past their end.
	pub fn of(content: &[u8], index: u64) -> Option<Self> {
		let bytes = content::chunk(content, index).ok()?.to_vec().try_into().ok()?;
		let siblings = content::open(content, index).ok()?.try_into().ok()?;
		Some(Self { bytes, siblings })
	}
}

/// One chunk of a state, with what leads from it to the root of a result.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct StateChunk {
	/// Leads from the state to the revealed root.
	pub leaf: Leaf,
	/// Content hash of the tensor.
	pub content: H256,
	/// Leads from the tensor to the state, from its leaf upwards.
	pub path: BoundedVec<H256, ConstU32<32>>,
	/// The chunk.
	pub chunk: Chunk,
}

/// One chunk of a piece, with what leads from it to a root that the chain has.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub enum ChunkOpening {
	/// Of a state, under the root of a result.
	State(StateChunk),
	/// Of the rows, under the rows root of the specification.
	Rows {
		/// The four contents of [`Rows`].
		contents: [H256; 4],
		/// The chunk.
		chunk: Chunk,
	},
}

impl ChunkOpening {
	/// Returns whether it is one under this root of a result, or of what all results have.
	pub fn fits(&self, result: &WorkResult) -> bool {
		match self {
			Self::State(opening) => opening.leaf.fits(result),
			Self::Rows { .. } => true,
		}
	}
}

/// Returns whether `opening` shows chunk `number` of this piece of `result`, which is one of a job with
/// this specification, whose trainers keep one state in `every`. Samples are read at these `places`, at which no other
/// piece looks.
pub fn opens(
	spec: &CheckedSpec,
	every: u32,
	result: &WorkResult,
	(piece, places): (Piece, &H256),
	number: u64,
	opening: &ChunkOpening,
) -> bool {
	let dataset = &spec.spec().dataset;
	match (piece, opening) {
		(Piece::State(at), ChunkOpening::State(opening)) => {
			let place = place(spec, number);
			opening.leaf.index == at
				&& place.is_some_and(|place| opens_state(&place, result, opening))
		}
		(Piece::Samples, ChunkOpening::State(opening)) => {
			let found = sample_place(spec, (every, result.segments), places, number);
			found.is_some_and(|(checkpoint, place)| {
				opening.leaf.index == checkpoint && opens_state(&place, result, opening)
			})
		}
		(Piece::Rows { .. }, ChunkOpening::Rows { contents, chunk }) => {
			let Some(RowsChunk { content, chunk: at }) = rows_chunk(spec, number) else {
				return false;
			};
			let bytes = row_contents(dataset).get(content).copied().unwrap_or_default();
			let (own, siblings) = (&chunk.bytes, &chunk.siblings);
			is_all_rows(dataset, piece)
				&& Rows::of(dataset, *contents).root() == dataset.rows
				&& contents
					.get(content)
					.is_some_and(|hash| content::verify(hash, bytes, at, own, siblings).is_ok())
		}
		(
			Piece::State(_)
			| Piece::Rows { .. }
			| Piece::Leaves
			| Piece::Tensor { .. }
			| Piece::Samples,
			ChunkOpening::State(_) | ChunkOpening::Rows { .. },
		) => false,
	}
}

/// Returns whether `opening` shows the chunk at this place of a state of `result`.
fn opens_state(place: &Place, result: &WorkResult, opening: &StateChunk) -> bool {
	let StateChunk { leaf, content, path, chunk } = opening;
	let ExpectedTensor { name, shape, index, count } = &place.tensor;
	let tensor = TensorDigest::of_f32(name.clone(), shape.clone(), *content);
	let proof = TensorProof { tensor, index: *index, count: *count, path: path.to_vec() };
	let (bytes, siblings) = (&chunk.bytes, &chunk.siblings);
	leaf.fits(result)
		&& proof.verify(&leaf.checkpoint.state, &place.tensor)
		&& content::verify(content, place.bytes, place.chunk, bytes, siblings).is_ok()
}

/// What a chunk of the rows is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsChunk {
	/// Which of the four contents of [`Rows`].
	pub content: usize,
	/// Index of the chunk in it.
	pub chunk: u64,
}

/// Returns in which content the chunk `number` of all rows of this job lies; `None` past their end.
pub fn rows_chunk(spec: &CheckedSpec, number: u64) -> Option<RowsChunk> {
	let mut before = 0u64;
	let contents = row_contents(&spec.spec().dataset);
	for (content, bytes) in contents.into_iter().enumerate().filter(|(_, bytes)| *bytes > 0) {
		let end = before.saturating_add(content::chunks(bytes));
		if number < end {
			return Some(RowsChunk { content, chunk: number.saturating_sub(before) });
		}
		before = end;
	}
	None
}

/// What a chunk of a state is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorChunk {
	/// Index of the tensor among those of the state in ascending bytewise order of name.
	pub tensor: u32,
	/// Index of the chunk in its content.
	pub chunk: u64,
}

/// Returns in which tensor the chunk `number` of a state of this job lies; `None` past its end.
pub fn tensor_chunk(spec: &CheckedSpec, number: u64) -> Option<TensorChunk> {
	let place = place(spec, number)?;
	Some(TensorChunk { tensor: place.tensor.index, chunk: place.chunk })
}

/// Opens a chunk of tensor number `tensor` of the state of a job with this leaf, of whose tensors these are
/// the content hashes, in ascending bytewise order of name. `None` where there are more or fewer.
pub fn open(
	spec: &CheckedSpec,
	leaf: Leaf,
	contents: &[H256],
	tensor: u32,
	chunk: Chunk,
) -> Option<ChunkOpening> {
	let tensors = tensors(spec);
	if tensors.len() != contents.len() {
		return None;
	}
	let name = tensors.get(tensor as usize)?.0.name.clone();
	let digests = tensors
		.into_iter()
		.zip(contents)
		.map(|((tensor, _), content)| TensorDigest::of_f32(tensor.name, tensor.shape, *content));
	let proof = TensorProof::new(digests.collect(), &name)?;
	let content = proof.tensor.content;
	let path = proof.path.try_into().ok()?;
	Some(ChunkOpening::State(StateChunk { leaf, content, path, chunk }))
}
