//! Pieces that are too large for the chain: what a relay committee says of them, and openings of single
//! chunks.
//!
//! A piece that no rescue can carry is asked of a committee that is drawn for it. Who of it says that it
//! has the piece opens one chunk of 1 KiB, which a later seed draws, under the revealed root of the
//! result, or of the rows of the specification. Chunks of a state are numbered through the contents of all its
//! tensors, in ascending bytewise order of name, and those of all rows through the four contents of
//! [`Rows`]. No other piece is opened by chunks: leaves are brought by an answer, some of the rows are
//! a part of all, and a tensor is a part of its state.

use crate::{
	content::{self, CHUNK_BYTES},
	job::{Balance, BlockNumber, WorkResult},
	pieces::{Leaf, Piece},
	rows::Rows,
	state::{ExpectedTensor, TensorDigest, TensorProof},
	JobId, Text, H256,
};
use alloc::{string::String, vec::Vec};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use sp_crypto_hashing::blake2_256;
use trainyard_program::{
	lower,
	spec::{CheckedSpec, Dataset},
};

/// Seats of a relay committee.
pub const SEATS: u32 = 31;
/// Seats of the committee that is drawn when somebody doubts the answer of the first.
pub const APPEAL_SEATS: u32 = 61;
/// Most seats that earn a fee in a relay of what is not to be had: those of the first committee, and those of
/// the larger one where somebody doubts the first.
pub const LACKING_SEATS: u32 = SEATS + APPEAL_SEATS;
/// The fee of a seat for 4 GiB in this many parts is the price of a chunk that it is asked for.
pub const ASK_PART: Balance = 5;
/// Bytes of a piece for which there is one [hour](hours).
pub const HOUR_BYTES: u64 = 4 << 30;
/// Domain of the draw of a chunk.
const CHUNK: &[u8; 24] = b"trainyard/relay/chunk/v1";

/// Number of a relay, counted over all jobs.
pub type RelayId = u32;

/// Returns how many of the periods in which 4 GiB are fetched a piece of so many bytes takes, at least
/// one. At an hour each that is 1.2 MB/s.
pub fn hours(bytes: u64) -> u32 {
	u32::try_from(bytes.div_ceil(HOUR_BYTES)).unwrap_or(u32::MAX).max(1)
}

/// Returns what so many seats earn for a piece of `bytes` bytes, where `fee` is that for 4 GiB; 0 for no
/// bytes. `None` on overflow.
pub fn price(bytes: u64, fee: Balance, seats: u32) -> Option<Balance> {
	match bytes {
		0 => Some(0),
		bytes => fee.checked_mul(hours(bytes).into())?.checked_mul(seats.into()),
	}
}

/// Returns what the escrow of a job has for relays of a result whose states have `bytes` bytes: the fees of
/// [`LACKING_SEATS`] of what is not to be had, and those of one committee that found a state held which a
/// seat of the audit lacked. `None` on overflow.
pub fn escrowed(bytes: u64, fee: Balance) -> Option<Balance> {
	price(bytes, fee, LACKING_SEATS.checked_add(SEATS)?)
}

/// Returns which of the `chunks` chunks of a piece the seat of an account opens, by a seed:
/// `x = blake2_256(SCALE("trainyard/relay/chunk/v1", seed, account))`, of which the first eight bytes
/// are a little-endian number `n`, and the chunk is the high half of the 128 bits of `n` times `chunks`.
pub fn drawn(seed: &H256, account: &impl Encode, chunks: u64) -> u64 {
	let hash = (CHUNK, seed, account).using_encoded(blake2_256);
	let (word, _) = hash.split_at(8);
	let word = word.iter().rev().fold(0u64, |acc, byte| (acc << 8) | u64::from(*byte));
	((u128::from(word) * u128::from(chunks)) >> 64) as u64
}

/// A chunk of a state: of which tensor, how long that is, and the index in it.
struct Place {
	tensor: ExpectedTensor,
	bytes: u64,
	chunk: u64,
}

/// Returns the tensors of a job's states in ascending bytewise order of name, each with its length in bytes.
fn tensors(spec: &CheckedSpec) -> Vec<(ExpectedTensor, u64)> {
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
fn row_contents(dataset: &Dataset) -> [u64; 4] {
	Rows::of(dataset, Default::default()).content_bytes()
}

/// Returns whether a piece is all rows of a dataset.
fn is_all_rows(dataset: &Dataset, piece: Piece) -> bool {
	let all = dataset.train_rows.saturating_add(dataset.validation_rows);
	piece == Piece::Rows { from: 0, to: all }
}

/// Returns how many chunks of 1 KiB a piece of a job's results has; 0 for one that is not opened by chunks.
pub fn chunks(spec: &CheckedSpec, piece: Piece) -> u64 {
	let sum = |sum: u64, bytes: u64| sum.saturating_add(content::chunks(bytes));
	let dataset = &spec.spec().dataset;
	match piece {
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
/// this specification.
pub fn opens(
	spec: &CheckedSpec,
	result: &WorkResult,
	piece: Piece,
	number: u64,
	opening: &ChunkOpening,
) -> bool {
	let dataset = &spec.spec().dataset;
	match (piece, opening) {
		(Piece::State(at), ChunkOpening::State(opening)) => {
			opening.leaf.index == at && opens_state(spec, result, number, opening)
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
			Piece::State(_) | Piece::Rows { .. } | Piece::Leaves | Piece::Tensor { .. },
			ChunkOpening::State(_) | ChunkOpening::Rows { .. },
		) => false,
	}
}

/// Returns whether `opening` shows chunk `number` of a state of `result`.
fn opens_state(spec: &CheckedSpec, result: &WorkResult, number: u64, opening: &StateChunk) -> bool {
	let Some(place) = place(spec, number) else { return false };
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

/// Where a relay stands.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub enum RelayStage {
	/// The seed forms by which a committee is drawn.
	Drawing {
		/// Height whose successors make it.
		after: BlockNumber,
	},
	/// Each seat fetches the piece, and says whether it has it.
	Saying {
		/// Last block for that.
		until: BlockNumber,
	},
	/// The seed forms by which the chunks are drawn.
	Seeding {
		/// Height whose successors make it.
		after: BlockNumber,
	},
	/// Who said that it has the piece opens a chunk of it.
	Showing {
		/// By which the chunk of each seat is [drawn].
		seed: H256,
		/// Last block for that.
		until: BlockNumber,
	},
	/// No majority had it: the trainers serve it to the committee, which then says it again.
	Serving {
		/// Last block of that.
		until: BlockNumber,
	},
	/// A majority has it, and gives it to whoever asks.
	Held {
		/// Last block of that, and for a doubt.
		until: BlockNumber,
	},
	/// No majority had it in the second vote either.
	Lacking {
		/// Last block for a doubt.
		until: BlockNumber,
	},
}

/// A seat of a relay committee, as clients read it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo)]
pub struct RelaySeatView<AccountId> {
	/// Who.
	pub who: AccountId,
	/// Whether it says that it has the piece; `None` before it said anything.
	pub says: Option<bool>,
	/// Whether it opened a chunk since it said so.
	pub shown: bool,
	/// Whether it lost its stake.
	pub lost: bool,
	/// The chunk that it must open now.
	pub due: Option<u64>,
	/// Where it serves, if it does: the base URL of an HTTP server.
	pub location: Option<Text>,
}

/// A relay, as clients read it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo)]
pub struct RelayView<AccountId> {
	/// Its number.
	pub id: RelayId,
	/// Of which job.
	pub job: JobId,
	/// Of which result, in the audit's order.
	pub group: u32,
	/// What is asked for.
	pub piece: Piece,
	/// Chunks that it has.
	pub chunks: u64,
	/// Who asked for it.
	pub by: AccountId,
	/// What a seat earns.
	pub fee: u128,
	/// Where it stands.
	pub stage: RelayStage,
	/// The last block of that stage, as far as blocks had room; `None` while a seed forms.
	pub until: Option<BlockNumber>,
	/// Whether this is the committee that somebody asked for who doubted the first.
	pub appealed: bool,
	/// The committee.
	pub seats: Vec<RelaySeatView<AccountId>>,
}

#[cfg(test)]
mod tests {
	use super::*;
	use crate::{
		bundle::{Checkpoint, Evaluation},
		merkle, state,
	};
	use trainyard_program::spec::JobSpec;

	fn spec() -> CheckedSpec {
		JobSpec::example().check().unwrap()
	}

	/// The bytes of a tensor of these tests.
	fn bytes_of(name: &str, bytes: u64) -> Vec<u8> {
		(0..bytes).map(|at| (at as usize * 7 + name.len()) as u8).collect()
	}

	/// A run with one state, with the digests of its tensors.
	fn scene(spec: &CheckedSpec) -> (WorkResult, Leaf, Vec<TensorDigest>) {
		let tensors: Vec<TensorDigest> = tensors(spec)
			.into_iter()
			.map(|(tensor, _)| {
				let mut digest = TensorDigest::of_f32(tensor.name, tensor.shape, H256::zero());
				let bytes = bytes_of(&digest.name, digest.content_bytes().unwrap());
				digest.content = content::hash(&bytes);
				digest
			})
			.collect();
		let state = state::state_hash(tensors.clone());
		let all: Vec<Checkpoint> = (0..3u32)
			.map(|step| Checkpoint {
				step,
				state: if step == 1 { state } else { H256([step as u8; 32]) },
				evaluation: Evaluation::new(1.5, step, 20),
				trace: H256::zero(),
			})
			.collect();
		let hashes: Vec<H256> = all.iter().map(Checkpoint::leaf).collect();
		let (bundle_root, model_root) = (merkle::root(&hashes), H256::zero());
		let result = WorkResult {
			bundle_root,
			true_root: bundle_root,
			model_root,
			segments: 2,
			diverged: false,
		};
		let path = merkle::proof(&hashes, 1).unwrap().try_into().unwrap();
		(result, Leaf { index: 1, checkpoint: all[1], path }, tensors)
	}

	fn opened(spec: &CheckedSpec, leaf: &Leaf, all: &[TensorDigest], number: u64) -> ChunkOpening {
		let at = tensor_chunk(spec, number).unwrap();
		let tensor = &all[at.tensor as usize];
		let bytes = bytes_of(&tensor.name, tensor.content_bytes().unwrap());
		let contents: Vec<H256> = all.iter().map(|tensor| tensor.content).collect();
		let chunk = Chunk::of(&bytes, at.chunk).unwrap();
		open(spec, leaf.clone(), &contents, at.tensor, chunk).unwrap()
	}

	#[test]
	fn every_chunk_of_a_state_opens_at_its_number_and_at_no_other() {
		let spec = spec();
		let (result, leaf, tensors) = scene(&spec);
		let piece = Piece::State(1);
		let all = chunks(&spec, piece);
		let own: u64 = tensors.iter().map(|t| content::chunks(t.content_bytes().unwrap())).sum();
		assert_eq!(all, own);
		assert!(all > 3, "a state of several chunks");
		for number in 0..all {
			let opening = opened(&spec, &leaf, &tensors, number);
			assert!(opens(&spec, &result, piece, number, &opening), "chunk {number}");
			for other in [number ^ 1, number + 1, all, u64::MAX] {
				assert!(!opens(&spec, &result, piece, other, &opening), "as chunk {other}");
			}
			assert!(!opens(&spec, &result, Piece::State(2), number, &opening));
			assert!(!opens(&spec, &result, Piece::Leaves, number, &opening));
			assert!(!opens(&spec, &result, all_rows(&spec), number, &opening));
		}
		assert_eq!(tensor_chunk(&spec, all), None);
	}

	#[test]
	fn whatever_is_changed_of_an_opening_is_refused() {
		let spec = spec();
		let (result, leaf, tensors) = scene(&spec);
		let number = chunks(&spec, Piece::State(1)) / 2;
		let good = opened(&spec, &leaf, &tensors, number);
		let ChunkOpening::State(good) = good else { panic!("{good:?}") };
		let changes: [fn(&mut StateChunk); 5] = [
			|o| o.content.0[0] ^= 1,
			|o| o.leaf.checkpoint.state.0[3] ^= 1,
			|o| o.chunk.bytes[0] ^= 1,
			|o| o.path.try_push(H256::zero()).unwrap(),
			|o| o.chunk.siblings.try_push(H256::zero()).unwrap(),
		];
		for (at, change) in changes.into_iter().enumerate() {
			let mut other = good.clone();
			change(&mut other);
			assert_ne!(other, good);
			let other = ChunkOpening::State(other);
			assert!(!opens(&spec, &result, Piece::State(1), number, &other), "change {at}");
		}
		let good = ChunkOpening::State(good);
		let decoded = ChunkOpening::decode(&mut &good.encode()[..]).unwrap();
		assert_eq!(decoded, good);
		assert!(good.encode().len() <= ChunkOpening::max_encoded_len());
	}

	/// All rows of a job as a piece.
	fn all_rows(spec: &CheckedSpec) -> Piece {
		let dataset = &spec.spec().dataset;
		Piece::Rows { from: 0, to: dataset.train_rows + dataset.validation_rows }
	}

	/// A job whose rows root is that of these contents.
	fn with_rows() -> (CheckedSpec, [Vec<u8>; 4]) {
		let mut spec = JobSpec::example();
		let contents = row_contents(&spec.dataset);
		let bytes = [0usize, 1, 2, 3].map(|at| bytes_of(&"r".repeat(at), contents[at]));
		let hashes = bytes.each_ref().map(|bytes| content::hash(bytes));
		spec.dataset.rows = Rows::of(&spec.dataset, hashes).root();
		(spec.check().unwrap(), bytes)
	}

	#[test]
	fn every_chunk_of_the_rows_opens_at_its_number_and_at_no_other() {
		let (spec, contents) = with_rows();
		let (result, _, _) = scene(&spec);
		let (piece, hashes) = (all_rows(&spec), contents.each_ref().map(|all| content::hash(all)));
		let all = chunks(&spec, piece);
		let own: u64 = contents.iter().map(|bytes| content::chunks(bytes.len() as u64)).sum();
		assert_eq!(all, own);
		assert!(all > 4, "contents of several chunks");
		for number in 0..all {
			let RowsChunk { content, chunk } = rows_chunk(&spec, number).unwrap();
			let chunk = Chunk::of(&contents[content], chunk).unwrap();
			let opening = ChunkOpening::Rows { contents: hashes, chunk };
			assert!(opens(&spec, &result, piece, number, &opening), "chunk {number}");
			for other in [number ^ 1, number + 1, all, u64::MAX] {
				assert!(!opens(&spec, &result, piece, other, &opening), "as chunk {other}");
			}
			let part = Piece::Rows { from: 0, to: 1 };
			assert!(!opens(&spec, &result, part, number, &opening));
			assert!(!opens(&spec, &result, Piece::State(1), number, &opening));
			let ChunkOpening::Rows { contents, chunk } = opening else { unreachable!() };
			for at in 0..4 {
				let mut contents = contents;
				contents[at].0[9] ^= 1;
				let other = ChunkOpening::Rows { contents, chunk: chunk.clone() };
				assert!(!opens(&spec, &result, piece, number, &other), "content {at}");
			}
			let mut damaged = chunk.clone();
			damaged.bytes[0] ^= 1;
			let other = ChunkOpening::Rows { contents, chunk: damaged };
			assert!(!opens(&spec, &result, piece, number, &other));
			// Another job's rows are none of this one.
			let opening = ChunkOpening::Rows { contents, chunk };
			let example = JobSpec::example().check().unwrap();
			assert!(!opens(&example, &result, piece, number, &opening));
		}
		assert_eq!(rows_chunk(&spec, all), None);
	}

	#[test]
	fn what_has_no_chunks_is_not_relayed() {
		assert_eq!(chunks(&spec(), Piece::Leaves), 0);
		assert_eq!(chunks(&spec(), Piece::Rows { from: 0, to: 1 }), 0);
		assert_eq!(chunks(&spec(), Piece::Tensor { checkpoint: 1, index: 0 }), 0);
		let (result, leaf, all) = scene(&spec());
		assert_eq!(open(&spec(), leaf, &[], 0, Chunk::of(&[1], 0).unwrap()), None);
		assert!(all.len() > 1 && result.segments == 2);
	}

	/// Frozen: whoever opens a chunk in another language draws it.
	#[test]
	fn seats_draw_chunks_of_their_own() {
		let bytes = [&b"trainyard/relay/chunk/v1"[..], &[1; 32], &[9, 0, 0, 0]].concat();
		let hash = blake2_256(&bytes);
		let n = u64::from_le_bytes(hash[..8].try_into().unwrap());
		let by_hand = (u128::from(n) * 1_000_000) >> 64;
		assert_eq!(u128::from(drawn(&H256([1; 32]), &9u32, 1_000_000)), by_hand);
		assert_ne!(drawn(&H256([1; 32]), &8u32, 1_000_000), by_hand as u64);
		assert_eq!(drawn(&H256([1; 32]), &8u32, 1), 0);
	}

	/// `P(k of n seats or more are the cheat's)` at a share of the bonds.
	fn tail(seats: u32, share: f64) -> f64 {
		let least = seats / 2 + 1;
		(least..=seats)
			.map(|k| {
				let choose = (0..k).fold(1.0, |c, i| c * f64::from(seats - i) / f64::from(i + 1));
				choose * share.powi(k as i32) * (1.0 - share).powi((seats - k) as i32)
			})
			.sum()
	}

	/// The page names these figures.
	#[test]
	fn an_owner_of_two_fifths_has_a_majority_that_often() {
		let [first, second] = [tail(SEATS, 0.4), tail(APPEAL_SEATS, 0.4)];
		assert_eq!(format!("{:.1} {:.1}", 100.0 * first, 100.0 * second), "12.8 5.7");
		assert_eq!(format!("{:.2}", 100.0 * first * second), "0.73");
		let [first, second] = [tail(SEATS, 0.3), tail(APPEAL_SEATS, 0.3)];
		assert!(first < 0.011 && first * second < 0.000_01, "{first} {second}");
	}

	#[test]
	fn large_pieces_have_more_time() {
		let all = [0, 1, HOUR_BYTES, HOUR_BYTES + 1, u64::MAX].map(hours);
		assert_eq!(all, [1, 1, 1, 2, u32::MAX]);
	}
}
