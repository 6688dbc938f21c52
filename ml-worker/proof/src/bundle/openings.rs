//! Parts of states, with the proof that they belong to them: how whoever wants a little of many
//! checkpoints reads them without one whole file.
//!
//! An [`Opening`] has the content hashes of all tensors of a state, from which the state hash follows
//! with the names and shapes of the specification, and of each part its bytes: a whole tensor, which
//! its content hash shows, or chunks of 1 KiB with their siblings
//! ([`content::open_many`]). A list of all content hashes is shorter than a proof for each tensor
//! where most tensors are read.

use super::{files::at, FileError};
use codec::{Decode, Encode};
use primitive_types::H256;
use std::{
	collections::BTreeMap,
	fmt,
	fs::File,
	io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom},
	path::Path,
	str::FromStr,
};
use trainyard_engine::content_hash;
use trainyard_program::{lower, spec::CheckedSpec};
use trainyard_protocol::{
	content::{self, OpeningError, CHUNK_BYTES},
	pieces::Leaf,
	relay::{self, Chunk, ChunkOpening, TensorChunk},
	state::{state_hash, TensorDigest},
};

/// Most parts that are opened at once.
pub const MAX_PARTS: usize = 256;
/// Most chunks of a tensor that are opened at once.
pub const MAX_CHUNKS: usize = 16;
/// A tensor is opened whole if it has fewer bytes than this, and by chunks otherwise.
pub use trainyard_program::samples::WHOLE_BYTES;
/// Most bytes of tensors that are opened at once.
pub const MAX_BYTES: u64 = 4 << 20;
/// Longest header of a checkpoint file that is read. One of a job has about 150 bytes for each tensor.
const MAX_HEADER: u64 = 16 << 20;

/// A part of a state that is opened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
	/// Index of its tensor among those of the state in ascending bytewise order of name.
	pub tensor: u32,
	/// Indices of its chunks, ascending; none for the whole tensor.
	pub chunks: Vec<u32>,
}

impl Part {
	/// Returns how many bytes of its tensor, which has `bytes`, it asks for; fails where the tensor lacks
	/// a chunk, or is too long to be opened whole.
	fn wanted(&self, bytes: u64) -> Result<u64, OpenError> {
		let refused = |why| OpenError::NoSuchPart { tensor: self.tensor, why };
		let Some(last) = self.chunks.last() else {
			return match bytes < WHOLE_BYTES {
				true => Ok(bytes),
				false => Err(refused(format!("it has {bytes} bytes; name chunks of it"))),
			};
		};
		let chunks = content::chunks(bytes);
		match u64::from(*last) < chunks {
			true => Ok(CHUNK_BYTES.saturating_mul(self.chunks.len() as u64)),
			false => Err(refused(format!("it has {chunks} chunks"))),
		}
	}
}

/// Parts of one state in ascending order of their tensors: at least one, and at most as many as are
/// opened at once.
///
/// As text, as it is in a URL: the parts with commas between them, and each the index of its tensor
/// and then those of its chunks, each after a full stop. `0,2.17.4001` is the whole of tensor 0 and
/// two chunks of tensor 2.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parts(Vec<Part>);

impl Parts {
	/// Takes these parts; `None` where their tensors or the chunks of one do not strictly ascend, or
	/// where there are none or too many.
	pub fn new(parts: Vec<Part>) -> Option<Self> {
		let ascending = |list: &[u32]| list.windows(2).all(|pair| pair[0] < pair[1]);
		let tensors: Vec<u32> = parts.iter().map(|part| part.tensor).collect();
		let fit = (1..=MAX_PARTS).contains(&parts.len())
			&& ascending(&tensors)
			&& parts.iter().all(|part| part.chunks.len() <= MAX_CHUNKS && ascending(&part.chunks));
		fit.then_some(Self(parts))
	}
}

impl std::ops::Deref for Parts {
	type Target = [Part];

	fn deref(&self) -> &[Part] {
		&self.0
	}
}

impl fmt::Display for Parts {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		for (at, part) in self.iter().enumerate() {
			write!(f, "{}{}", if at == 0 { "" } else { "," }, part.tensor)?;
			part.chunks.iter().try_for_each(|chunk| write!(f, ".{chunk}"))?;
		}
		Ok(())
	}
}

/// A text that names no parts, or names them in another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
	"parts are like 0,2.17.4001: ascending tensors, each with its ascending chunks; at most \
	 {MAX_PARTS} tensors, and {MAX_CHUNKS} chunks of each"
)]
pub struct NotParts;

impl FromStr for Parts {
	type Err = NotParts;

	fn from_str(text: &str) -> Result<Self, NotParts> {
		let mut parts = Vec::new();
		for item in text.split(',').take(MAX_PARTS + 1) {
			let numbers = item.split('.').take(MAX_CHUNKS + 2).map(str::parse);
			let numbers: Vec<u32> = numbers.collect::<Result<_, _>>().map_err(|_| NotParts)?;
			let (tensor, chunks) = numbers.split_first().ok_or(NotParts)?;
			parts.push(Part { tensor: *tensor, chunks: chunks.to_vec() });
		}
		let parts = Self::new(parts).ok_or(NotParts)?;
		// A number has one form, and so has a list.
		(parts.to_string() == text).then_some(parts).ok_or(NotParts)
	}
}

/// A part that was opened.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Opened {
	/// The bytes of the tensor, or of its chunks one after the other.
	pub bytes: Vec<u8>,
	/// The siblings of the chunks; none of a whole tensor.
	pub siblings: Vec<H256>,
}

/// Parts of a state, opened. It is sent as its SCALE bytes.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Opening {
	/// Content hashes of all tensors of the state in ascending bytewise order of name.
	pub contents: Vec<H256>,
	/// The parts that were asked for, in their order.
	pub parts: Vec<Opened>,
}

/// Says why parts of a checkpoint file are not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
	/// The file is not there, or cannot be read.
	#[error(transparent)]
	File(#[from] FileError),
	/// The state has no such tensor, or the tensor no such chunk.
	#[error("tensor {tensor}: {why}")]
	NoSuchPart {
		/// Index of the tensor.
		tensor: u32,
		/// What is wrong, in one line.
		why: String,
	},
	/// The parts have more bytes than are opened at once.
	#[error("the parts have {bytes} bytes, and at most {MAX_BYTES} are opened at once")]
	TooMuch {
		/// Bytes of all parts.
		bytes: u64,
	},
}

/// Opens the chunk at this place of a state of this job, as a seat of a relay does: of the checkpoint file at
/// `path`, which `leaf` leads to. `None` where the state has no such chunk.
///
/// Hashes the whole state, as [`Opening::of_file`] does.
pub fn relay_chunk(
	spec: &CheckedSpec,
	path: &Path,
	leaf: Leaf,
	place: &TensorChunk,
) -> Result<Option<ChunkOpening>, OpenError> {
	let tensor = place.tensor;
	let Ok(chunk) = u32::try_from(place.chunk) else { return Ok(None) };
	let Some(parts) = Parts::new(vec![Part { tensor, chunks: vec![chunk] }]) else {
		return Ok(None);
	};
	let Opening { contents, parts } = Opening::of_file(path, &parts)?;
	let chunk = parts.into_iter().next().and_then(|Opened { bytes, siblings }| {
		Some(Chunk { bytes: bytes.try_into().ok()?, siblings: siblings.try_into().ok()? })
	});
	Ok(chunk.and_then(|chunk| relay::open(spec, leaf, &contents, tensor, chunk)))
}

/// Says why an opening does not show parts of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongOpening {
	/// It has more or fewer parts than were asked for.
	#[error("more or fewer parts than were asked for")]
	Count,
	/// The content hashes are those of another state.
	#[error("content hashes of another state")]
	State,
	/// The bytes are not those of the tensor.
	#[error("other bytes than those of the tensor")]
	Tensor,
	/// The chunks are not those of the tensor.
	#[error("chunks that are not of the tensor: {0}")]
	Chunks(OpeningError),
}

/// A tensor in a checkpoint file.
pub(super) struct Place {
	/// Byte of the file at which it begins.
	pub begin: u64,
	pub bytes: u64,
}

impl Opening {
	/// Opens these parts of the state in the checkpoint file at `path`.
	///
	/// Hashes the whole state, one tensor after the other, so it takes memory for the largest tensor
	/// and what it returns. What cannot be opened is found before that.
	pub fn of_file(path: &Path, parts: &Parts) -> Result<Self, OpenError> {
		let file = File::open(path).map_err(at("open", path))?;
		let about = file.metadata().map_err(at("read", path))?;
		if !about.is_file() {
			return Err(at("read", path)(ErrorKind::NotFound.into()).into());
		}
		Self::read(file, about.len(), path, parts)
	}

	/// Opens these parts of the state in the checkpoint file that has these `bytes`.
	pub fn of_bytes(bytes: &[u8], parts: &Parts) -> Result<Self, OpenError> {
		Self::read(Cursor::new(bytes), bytes.len() as u64, Path::new("a checkpoint"), parts)
	}

	/// Opens parts of a checkpoint file of `length` bytes; `path` names it in errors.
	fn read(
		mut file: impl Read + Seek,
		length: u64,
		path: &Path,
		parts: &Parts,
	) -> Result<Self, OpenError> {
		let places = places(&mut file, length).map_err(at("read", path))?;
		let mut sum = 0u64;
		for part in parts.iter() {
			let place = places.get(part.tensor as usize).ok_or_else(|| OpenError::NoSuchPart {
				tensor: part.tensor,
				why: format!("the state has {} tensors", places.len()),
			})?;
			sum = sum.saturating_add(part.wanted(place.bytes)?);
		}
		if sum > MAX_BYTES {
			return Err(OpenError::TooMuch { bytes: sum });
		}
		let (mut contents, mut opened) = (Vec::with_capacity(places.len()), Vec::new());
		let mut wanted = parts.iter().peekable();
		for (tensor, place) in (0u32..).zip(&places) {
			let mut read = || -> io::Result<Vec<u8>> {
				let length = usize::try_from(place.bytes).map_err(io::Error::other)?;
				let mut bytes = vec![0; length];
				file.seek(SeekFrom::Start(place.begin))?;
				file.read_exact(&mut bytes)?;
				Ok(bytes)
			};
			let bytes = read().map_err(at("read", path))?;
			contents.push(content_hash(&bytes));
			if let Some(part) = wanted.next_if(|part| part.tensor == tensor) {
				opened.push(open(part, bytes)?);
			}
		}
		Ok(Self { contents, parts: opened })
	}

	/// Returns the elements of each of these parts of the state whose hash is `state`, of a job with
	/// these tensors. The error has the index of the first part that it does not show.
	pub fn elements(
		&self,
		state: &H256,
		tensors: &Tensors,
		parts: &Parts,
	) -> Result<Vec<Vec<f32>>, (usize, WrongOpening)> {
		if self.parts.len() != parts.len() {
			return Err((0, WrongOpening::Count));
		}
		if self.contents.len() != tensors.0.len() || tensors.hash(&self.contents) != *state {
			return Err((0, WrongOpening::State));
		}
		let shown = |(at, (part, opened)): (usize, (&Part, &Opened))| {
			let place = part.tensor as usize;
			let (content, bytes) = (self.contents.get(place), tensors.bytes(part.tensor));
			let (content, bytes) = content.zip(bytes).ok_or((at, WrongOpening::Count))?;
			opened.check(content, bytes, &part.chunks).map_err(|wrong| (at, wrong))?;
			let (words, _) = opened.bytes.as_chunks::<4>();
			Ok(words.iter().map(|word| f32::from_le_bytes(*word)).collect())
		};
		parts.iter().zip(&self.parts).enumerate().map(shown).collect()
	}
}

impl Opened {
	/// Fails unless it is these chunks, or all, of a content of `bytes` bytes with this hash.
	fn check(&self, content: &H256, bytes: u64, chunks: &[u32]) -> Result<(), WrongOpening> {
		if chunks.is_empty() {
			let same = self.bytes.len() as u64 == bytes
				&& self.siblings.is_empty()
				&& content_hash(&self.bytes) == *content;
			return same.then_some(()).ok_or(WrongOpening::Tensor);
		}
		// All chunks but the last of a content are of one length.
		let size = CHUNK_BYTES as usize;
		if self.bytes.len().div_ceil(size) != chunks.len() {
			return Err(WrongOpening::Chunks(OpeningError::ChunkLength));
		}
		let opened = chunks.iter().map(|chunk| u64::from(*chunk)).zip(self.bytes.chunks(size));
		content::verify_many(content, bytes, opened, &self.siblings).map_err(WrongOpening::Chunks)
	}
}

/// Names and shapes of the tensors of a job's states, in ascending bytewise order of name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensors(Vec<(String, Vec<u32>)>);

impl Tensors {
	/// Returns those of this job.
	pub fn of(spec: &CheckedSpec) -> Self {
		let mut all: Vec<_> =
			lower::state(spec).into_iter().map(|tensor| (tensor.name, tensor.shape)).collect();
		all.sort();
		Self(all)
	}

	/// Returns their names, in order.
	pub fn names(&self) -> impl Iterator<Item = &str> {
		self.0.iter().map(|(name, _)| name.as_str())
	}

	/// Returns the bytes of the tensor of this index, if there is one.
	pub fn bytes(&self, tensor: u32) -> Option<u64> {
		let (_, shape) = self.0.get(tensor as usize)?;
		shape.iter().try_fold(4u64, |bytes, extent| bytes.checked_mul((*extent).into()))
	}

	/// Returns the hash of the state whose tensors have these content hashes.
	fn hash(&self, contents: &[H256]) -> H256 {
		let digests = self.0.iter().zip(contents).map(|((name, shape), content)| {
			TensorDigest::of_f32(name.clone(), shape.clone(), *content)
		});
		state_hash(digests.collect())
	}

	/// Returns the most bytes that an opening of these parts has.
	pub fn most_bytes(&self, parts: &Parts) -> u64 {
		// A length before a list of SCALE has 5 bytes at most for these.
		let of_part = |part: &Part| {
			let bytes = self.bytes(part.tensor).unwrap_or_default();
			let chunks = part.chunks.len() as u64;
			let levels = u64::from(content::chunks(bytes).max(1).next_power_of_two().ilog2());
			match chunks {
				0 => bytes.saturating_add(10),
				_ => chunks.saturating_mul(CHUNK_BYTES + 32 * levels).saturating_add(10),
			}
		};
		let lists = (self.0.len() as u64).saturating_mul(32).saturating_add(10);
		parts.iter().map(of_part).fold(lists, u64::saturating_add)
	}
}

/// Opens a part of a tensor of these bytes.
fn open(part: &Part, bytes: Vec<u8>) -> Result<Opened, OpenError> {
	let tensor = part.tensor;
	if part.chunks.is_empty() {
		return Ok(Opened { bytes, siblings: Vec::new() });
	}
	let chunks = part.chunks.iter().map(|chunk| u64::from(*chunk));
	let no_such = |e: OpeningError| OpenError::NoSuchPart { tensor, why: e.to_string() };
	let siblings = content::open_many(&bytes, chunks.clone()).map_err(no_such)?;
	let mut opened = Vec::new();
	for chunk in chunks {
		opened.extend_from_slice(content::chunk(&bytes, chunk).map_err(no_such)?);
	}
	Ok(Opened { bytes: opened, siblings })
}

/// Returns where the tensors of a checkpoint file of so many `bytes` lie, in ascending bytewise order of name.
pub(super) fn places(file: &mut impl Read, bytes: u64) -> io::Result<Vec<Place>> {
	let wrong = |what: &str| io::Error::new(ErrorKind::InvalidData, what.to_owned());
	let mut length = [0; 8];
	file.read_exact(&mut length)?;
	let length = u64::from_le_bytes(length);
	if length > MAX_HEADER.min(bytes) {
		return Err(wrong("its header is too long"));
	}
	let mut header = vec![0; usize::try_from(length).map_err(io::Error::other)?];
	file.read_exact(&mut header)?;
	let header: safetensors::tensor::Metadata = serde_json::from_slice(&header)?;
	let first = length.saturating_add(8);
	let place = |info: &safetensors::tensor::TensorInfo| {
		let (begin, end) = info.data_offsets;
		let (begin, end) = (begin as u64, end as u64);
		let length = end.checked_sub(begin)?;
		let here = first.checked_add(end).is_some_and(|end| end <= bytes);
		here.then_some(Place { begin: first.saturating_add(begin), bytes: length })
	};
	let sorted: BTreeMap<String, _> = header.tensors().into_iter().collect();
	let places: Option<Vec<_>> = sorted.into_values().map(place).collect();
	places.ok_or_else(|| wrong("its header names more bytes than there are"))
}

#[cfg(test)]
#[path = "openings_tests.rs"]
mod tests;
