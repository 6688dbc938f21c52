//! Federated rounds: parts of data that are trained apart from one model, and the mean of what comes of them.
//!
//! A federation has a *template*, parts of data and a number of rounds. In each round every part is an
//! ordinary job, whose trainers are drawn: the template with the part's data, which begins with the model
//! of the round. The *aggregate* of the results is the model of the next round.
//!
//! Model files of one specification differ in the values of their tensors alone ([`Layout`]), so the
//! aggregate is defined byte by byte: the header is that of the layout, and each binary32 after it is
//! [`mean`] of those at its place. Whoever has a KiB of each file can compute a KiB of the aggregate, so
//! one that is false is refuted by openings of one chunk.
//!
//! The next job names the parameters of its initial model by their state hash, which is over the contents
//! of tensors. These begin at other bytes than chunks of the file do, so the one tree does not follow from
//! the other. Whoever proposes an aggregate says the values of *pieces* of the tensors' contents
//! ([`pieces`]), of 256 KiB at most; the state hash follows from them ([`parameters`]), and each of
//! them can be refuted by the bytes of the file.

use crate::{
	blob,
	content::{self, Node, OpeningError, CHUNK_BYTES},
	job::{Balance, BlockNumber, Terms},
	model_file::Layout,
	state::{state_hash, TensorDigest},
	JobId, Text, H256,
};
use alloc::vec::Vec;
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::ops::Range;
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};
use trainyard_program::spec::{FileRef, InitialModel, JobSpec, ON_CHAIN};
use trainyard_strict::{canonical_bits, fma};

/// Number of a federation: 0, 1, 2, … in order of opening.
pub type FederationId = u32;

/// Most parts of a federation.
pub const MAX_PARTS: u32 = 16;
/// Most rounds of a federation.
pub const MAX_ROUNDS: u32 = 1_000;
/// How often a part is posted in a round, at most.
pub const MAX_ATTEMPTS: u32 = 3;
/// Most bytes of a piece of a tensor: a power of two of chunks.
pub const PIECE_BYTES: u64 = 256 * 1024;
/// Most pieces of a model: those of the largest model there may be, and one more for each of thousands of
/// tensors.
pub const MAX_PIECES: u32 = 8_192;
/// Most proposals of an aggregate that stand beside one another.
pub const MAX_PROPOSALS: u32 = 8;
/// Most entries of a path in a model file, which has less than 2^32 bytes.
pub const MAX_PATH: u32 = 32;

/// The values of all pieces of a model.
pub type Pieces = BoundedVec<H256, ConstU32<MAX_PIECES>>;

/// The data of one part.
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
#[serde(deny_unknown_fields)]
pub struct PartData {
	/// The file of the rows.
	pub file: FileRef,
	/// The file of the labels, where the template's format has one.
	#[serde(default)]
	pub labels: Option<FileRef>,
	/// Rows that train: also the part's weight in the aggregate.
	pub train_rows: u32,
	/// Rows that validate.
	pub validation_rows: u32,
	/// The rows root of the files.
	pub rows: H256,
}

/// When the result of a part counts.
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
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
	/// As soon as all trainers that revealed, two at least and more than half of those drawn, revealed the
	/// same, and it is stored; or when the audit decided. Needs two replicas at least.
	Agreed,
	/// When the audit decided.
	Settled,
}

/// How a federation goes on.
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
#[serde(deny_unknown_fields)]
pub struct Plan {
	/// Rounds, 1 to [`MAX_ROUNDS`].
	pub rounds: u32,
	/// Parts of which a round needs a result, 1 to all.
	pub min_parts: u32,
	/// When the result of a part counts.
	pub rule: Rule,
	/// Blocks from the beginning of a round after which it goes on without the parts that have not answered,
	/// if enough have.
	pub round_blocks: BlockNumber,
	/// Whether all ends where a result that counted is found to be false afterwards.
	pub stop_if_tainted: bool,
	/// What whoever brings the aggregate of a round is paid.
	#[serde(with = "trainyard_program::text::decimal")]
	pub aggregate_fee: Balance,
	/// The most protocol fee for a `ut` at which a part is posted.
	#[serde(with = "trainyard_program::text::decimal")]
	pub max_fee_per_ut: Balance,
}

/// The model with which a round begins.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, MaxEncodedLen, TypeInfo,
)]
pub struct Proposed {
	/// Content hash of its file.
	pub content: H256,
	/// State hash of its parameters.
	pub parameters: H256,
}

/// Returns what a part trains in a round that begins with this model.
pub fn spec_of_part(template: &JobSpec, part: &PartData, initial: &InitialModel) -> JobSpec {
	let mut spec = template.clone();
	let data = &mut spec.dataset;
	data.content_hash = part.file.content_hash;
	data.bytes = part.file.bytes;
	data.location = part.file.location.clone();
	data.labels = part.labels.clone();
	data.train_rows = part.train_rows;
	data.validation_rows = part.validation_rows;
	data.rows = part.rows;
	spec.initial_model = Some(initial.clone());
	spec
}

/// Returns the initial model of a job whose file, of `size` bytes with this content hash, is a blob of the
/// chain.
pub fn initial_on_chain(size: u64, proposed: &Proposed) -> InitialModel {
	let content_hash = blob::root_of(size, &proposed.content);
	let location = Text::new(ON_CHAIN).unwrap_or_default();
	let file = FileRef { content_hash, bytes: size, location };
	InitialModel { file, parameters: proposed.parameters }
}

/// Returns the weights of parts with so many rows that train: of each its number as a binary32, divided by
/// their sum as a binary32, rounded to nearest even. The sum is over integers.
pub fn weights(rows: &[u32]) -> Vec<f32> {
	let sum: u64 = rows.iter().map(|rows| u64::from(*rows)).sum();
	rows.iter().map(|rows| *rows as f32 / sum as f32).collect()
}

/// Returns the mean of numbers with these weights: the first product, rounded to a binary32, and to it each
/// further product by one fused multiply-add, in the order of the parts. A NaN has its canonical bits.
pub fn mean(pairs: impl IntoIterator<Item = (f32, f32)>) -> f32 {
	let mut pairs = pairs.into_iter();
	let first = pairs.next().map_or(0.0, |(weight, value)| weight * value);
	let sum = pairs.fold(first, |sum, (weight, value)| fma(weight, value, sum));
	f32::from_bits(canonical_bits(sum))
}

/// Returns the bytes of an aggregate from `begin`, a multiple of 4, on. `parts` are the same bytes of the
/// model files of the parts, all of one length, a multiple of 4, and not past the end of the file; `None`
/// where they are not.
pub fn aggregate(layout: &Layout, weights: &[f32], begin: u64, parts: &[&[u8]]) -> Option<Vec<u8>> {
	let length = parts.first()?.len();
	let fits = begin.checked_add(length as u64).is_some_and(|end| end <= layout.size);
	let same = parts.iter().all(|part| part.len() == length);
	let aligned = begin.is_multiple_of(4) && length.is_multiple_of(4);
	if !fits || !same || !aligned || weights.len() != parts.len() {
		return None;
	}
	let first = usize::try_from(begin).ok()?;
	let mut made = Vec::with_capacity(length);
	let mut words: Vec<_> = parts.iter().map(|part| part.as_chunks::<4>().0.iter()).collect();
	for at in (first..first.checked_add(length)?).step_by(4) {
		let row = words.iter_mut().map(|words| words.next().copied().unwrap_or_default());
		let values = row.map(f32::from_le_bytes);
		let value = mean(weights.iter().copied().zip(values)).to_bits();
		let header = layout.header.get(at..at.saturating_add(4));
		made.extend_from_slice(header.unwrap_or(&value.to_le_bytes()));
	}
	Some(made)
}

/// A piece of the contents of the tensors of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
	/// Which tensor, in the order of the file.
	pub tensor: usize,
	/// Bytes of the content of that tensor.
	pub content_bytes: u64,
	/// Which node of the content.
	pub node: Node,
	/// Where its bytes begin in the file.
	pub begin: u64,
	/// How many these are, 1 to [`PIECE_BYTES`].
	pub bytes: u64,
}

impl Piece {
	/// Returns the chunks of the file that hold the bytes of the piece.
	pub fn chunks(&self) -> Range<u64> {
		let end = self.begin.saturating_add(self.bytes);
		self.begin / CHUNK_BYTES..end.div_ceil(CHUNK_BYTES)
	}

	/// Returns the value of the piece by the bytes of [its chunks](Self::chunks) in a file of `size` bytes with
	/// this content hash; `siblings` lead from them to that. Fails where they do not.
	pub fn opened(
		&self,
		content: &H256,
		size: u64,
		bytes: &[u8],
		siblings: &[H256],
	) -> Result<H256, OpeningError> {
		let whole = usize::try_from(CHUNK_BYTES).unwrap_or(usize::MAX);
		let range = self.chunks();
		let count = range.end.saturating_sub(range.start);
		if bytes.chunks(whole).len() as u64 != count {
			return Err(OpeningError::ChunkLength);
		}
		content::verify_many(content, size, range.zip(bytes.chunks(whole)), siblings)?;
		self.value_in(bytes)
	}

	/// Returns the value of the piece that follows from the bytes of [these chunks](Self::chunks). Fails
	/// where they do not hold it.
	pub fn value_in(&self, bytes: &[u8]) -> Result<H256, OpeningError> {
		let skipped = usize::try_from(self.begin % CHUNK_BYTES).unwrap_or(usize::MAX);
		let end = skipped.saturating_add(usize::try_from(self.bytes).unwrap_or(usize::MAX));
		let own = bytes.get(skipped..end).ok_or(OpeningError::ChunkLength)?;
		self.node.value_of(self.content_bytes, own)
	}
}

/// Returns how many levels of the tree over a content of so many bytes lie above its pieces.
fn levels(bytes: u64) -> u32 {
	let whole = content::chunks(bytes).checked_next_power_of_two().unwrap_or(1);
	let most = PIECE_BYTES / CHUNK_BYTES;
	whole.checked_div(most).and_then(u64::checked_ilog2).unwrap_or_default()
}

/// Returns the pieces of the tensors of a model, in the order of the file.
pub fn pieces(layout: &Layout) -> Vec<Piece> {
	let mut all = Vec::new();
	for (tensor, place) in layout.tensors.iter().enumerate() {
		let content_bytes = place.bytes;
		// A tensor of a valid specification has elements.
		let nodes = Node::whole(content_bytes).parts(content_bytes, levels(content_bytes));
		for node in nodes.unwrap_or_default() {
			let Ok((from, bytes)) = node.place(content_bytes) else { continue };
			let begin = place.begin.saturating_add(from);
			all.push(Piece { tensor, content_bytes, node, begin, bytes });
		}
	}
	all
}

/// Returns the values of the [pieces] of the model file `bytes`. Fails where it is shorter than the layout
/// says.
pub fn piece_values(layout: &Layout, bytes: &[u8]) -> Result<Vec<H256>, OpeningError> {
	let value = |piece: Piece| {
		let begin = usize::try_from(piece.begin).unwrap_or(usize::MAX);
		let end = begin.saturating_add(usize::try_from(piece.bytes).unwrap_or(usize::MAX));
		let own = bytes.get(begin..end).ok_or(OpeningError::ChunkLength)?;
		piece.node.value_of(piece.content_bytes, own)
	};
	pieces(layout).into_iter().map(value).collect()
}

/// Returns the state hash of the parameters whose [pieces] have these values. Fails where they are more or
/// fewer than these.
pub fn parameters(layout: &Layout, values: &[H256]) -> Result<H256, OpeningError> {
	let (mut digests, mut rest) = (Vec::new(), values);
	for place in &layout.tensors {
		let (whole, levels) = (Node::whole(place.bytes), levels(place.bytes));
		let count = whole.parts(place.bytes, levels)?.len();
		let (own, after) = rest.split_at_checked(count).ok_or(OpeningError::ValueCount)?;
		let content = whole.merge(place.bytes, levels, own)?;
		digests.push(TensorDigest::of_f32(place.name.clone(), place.shape.clone(), content));
		rest = after;
	}
	match rest.is_empty() {
		true => Ok(state_hash(digests)),
		false => Err(OpeningError::ValueCount),
	}
}

/// A chunk of 1 KiB of a model file, with its path.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct ModelOpening {
	/// Content hash of the file. With its length it is the root of the blob.
	pub content: H256,
	/// The chunk.
	pub bytes: BoundedVec<u8, ConstU32<{ CHUNK_BYTES as u32 }>>,
	/// Its path, from the chunk upwards.
	pub path: BoundedVec<H256, ConstU32<MAX_PATH>>,
}

impl ModelOpening {
	/// Returns the opening of chunk `index` of a file. Fails where it has no such chunk.
	pub fn new(file: &[u8], index: u64) -> Result<Self, OpeningError> {
		Ok(Self {
			content: content::hash(file),
			bytes: BoundedVec::truncate_from(content::chunk(file, index)?.to_vec()),
			path: BoundedVec::truncate_from(content::open(file, index)?),
		})
	}

	/// Checks that this is chunk `index` of the blob of `size` bytes with this root.
	pub fn verify(&self, root: &H256, size: u64, index: u64) -> Result<(), OpeningError> {
		if blob::root_of(size, &self.content) != *root {
			return Err(OpeningError::Root);
		}
		content::verify(&self.content, size, index, &self.bytes, &self.path)
	}
}

/// Where a federation stands.
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
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
	/// The parts of a round are posted and trained.
	Training,
	/// Enough parts have a result; the aggregate is waited for.
	Aggregating,
	/// All rounds are over, and results that counted before their audit are not decided yet.
	Finishing,
	/// Over.
	Ended(FederationEnding),
}

/// How a federation ended.
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
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum FederationEnding {
	/// All rounds have a model.
	Done,
	/// Fewer parts than the plan asks for had a result.
	TooFewParts,
	/// Nobody brought an aggregate in time.
	NoAggregate,
	/// A result that counted was found to be false, and the plan says that all ends then.
	Tainted,
	/// The submitter stopped it.
	Cancelled,
}

/// A part of the running round, as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct PartView {
	/// Its data.
	pub data: PartData,
	/// How often it was posted in this round, or could not be.
	pub attempts: u32,
	/// Its job, while one runs or when it answered.
	pub job: Option<JobId>,
	/// The root of the model that counts.
	pub answer: Option<H256>,
	/// Whether the round goes on without it.
	pub given_up: bool,
}

/// A proposal of an aggregate, as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct ProposalView<AccountId> {
	/// Its number.
	pub number: u32,
	/// Who made it.
	pub proposer: AccountId,
	/// Root of the blob of the model.
	pub root: H256,
	/// State hash of its parameters, which follows from the pieces.
	pub parameters: H256,
	/// The last block in which it can be refuted.
	pub until: BlockNumber,
}

/// A round that has a model.
#[derive(
	Clone, Debug, PartialEq, Eq, Encode, Decode, MaxEncodedLen, TypeInfo, Serialize, Deserialize,
)]
pub struct Round {
	/// Root of the blob of its model.
	pub root: H256,
	/// State hash of its parameters.
	pub parameters: H256,
	/// The jobs whose results are in it, each with the number of its part and the root of its model.
	pub parts: BoundedVec<(u32, JobId, H256), ConstU32<MAX_PARTS>>,
	/// The block from which it stands.
	pub at: BlockNumber,
}

/// A federation, as clients see it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, TypeInfo, Serialize, Deserialize)]
pub struct FederationView<AccountId> {
	/// Its number.
	pub id: FederationId,
	/// Who opened it.
	pub submitter: AccountId,
	/// What its parts train, but for their data and the model with which they begin.
	pub template: JobSpec,
	/// What is offered to the trainers of each part.
	pub terms: Terms,
	/// How it goes on.
	pub plan: Plan,
	/// Where it stands.
	pub stage: Stage,
	/// The running round, from 0; all of them where none runs any more.
	pub round: u32,
	/// The block in which stage and round began.
	pub since: BlockNumber,
	/// The model with which the running round begins.
	pub initial: InitialModel,
	/// The parts of the running round.
	pub parts: Vec<PartView>,
	/// The proposals that stand, in order.
	pub proposals: Vec<ProposalView<AccountId>>,
	/// The rounds that have a model, in order.
	pub rounds: Vec<Round>,
	/// Results that counted and are not decided yet.
	pub undecided: u32,
	/// The first round with a result that counted and was found to be false.
	pub tainted: Option<u32>,
	/// What is held for aggregates to come.
	#[serde(with = "trainyard_program::text::decimal")]
	pub fees: Balance,
}

#[cfg(test)]
mod tests;
