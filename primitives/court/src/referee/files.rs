//! Files that follow from a state: the model, and what was stored in the place of a checkpoint.

use super::{
	lowered::Words,
	openings::{of_state, Proved, WORD},
	Chunks, Origin, Source, StateTensors, Tensors,
};
use crate::case::{Case, Refused, Value, Verdict};
use alloc::vec::Vec;
use trainyard_program::parts::CHUNK_ELEMENTS;
use trainyard_protocol::{
	blob,
	content::{self, Node, CHUNK_BYTES},
	model_file::{self, Layout},
	H256,
};

/// Returns the layout of the file of a checkpoint of this job: that of a model file, with all tensors
/// of the state.
pub fn state_file(case: &Case) -> Layout {
	let mut tensors: Vec<_> = StateTensors::of(&case.spec).tensors().to_vec();
	tensors.sort_by(|a, b| a.name.cmp(&b.name));
	Layout::new(tensors.into_iter().map(|tensor| (tensor.name, tensor.shape)))
}

/// Returns where chunk `chunk` of a content of `bytes` bytes begins, and how many bytes it has. Fails
/// with [`Refused::NoSuchPiece`].
fn place(bytes: u64, chunk: u64) -> Result<(Node, u64, u64), Refused> {
	let node = Node { begin: chunk, chunks: 1 };
	let (begin, size) = node.place(bytes).map_err(|_| Refused::NoSuchPiece)?;
	Ok((node, begin, size))
}

/// What a byte range of the model file is made of: bytes of the header, or of a tensor of the state.
enum Made<'a> {
	Header(&'a [u8]),
	Tensor { tensor: u32, begin: u64, bytes: u64 },
}

/// Returns what a chunk of the model file is made of, in order.
fn made<'a>(
	layout: &'a Layout,
	tensors: &StateTensors,
	begin: u64,
	bytes: u64,
) -> Result<Vec<Made<'a>>, Refused> {
	let make = |part: model_file::Part| match part.source {
		model_file::Source::Header => {
			let end = part.begin.saturating_add(part.bytes);
			let range = usize::try_from(part.begin).ok()?..usize::try_from(end).ok()?;
			layout.header.get(range).map(Made::Header)
		}
		model_file::Source::Tensor(at) => {
			let tensor = tensors.find(&layout.tensors.get(at)?.name)?;
			Some(Made::Tensor { tensor, begin: part.begin, bytes: part.bytes })
		}
	};
	let parts = layout.parts(begin, bytes).into_iter();
	parts.map(|part| make(part).ok_or(Refused::NoSuchPiece)).collect()
}

/// Returns the chunks of tensors of the last state that chunk `chunk` of the model file is made of, by
/// tensor and chunk; none where there is no such chunk.
pub fn model_chunks(case: &Case, chunk: u64) -> Vec<(u32, u64)> {
	let (layout, tensors) = (Layout::of(&case.spec), StateTensors::of(&case.spec));
	let mut chunks = Vec::new();
	let parts = place(layout.size, chunk)
		.and_then(|(_, begin, bytes)| made(&layout, &tensors, begin, bytes));
	for part in parts.unwrap_or_default() {
		if let Made::Tensor { tensor, begin, bytes } = part {
			let last = begin.saturating_add(bytes).saturating_sub(1) / CHUNK_BYTES;
			chunks.extend((begin / CHUNK_BYTES..=last).map(|chunk| (tensor, chunk)));
		}
	}
	chunks
}

/// Decides about chunk `chunk` of the model file, of which the defendant said that it has this value as
/// a node of the file's content: whether it is made of the header that follows from the specification
/// and of the parameters of the last state, whose hash is agreed. Fails with [`Refused::NoSuchPiece`]
/// where there is no such chunk.
pub fn model(
	case: &Case,
	state: &H256,
	chunk: u64,
	value: &H256,
	opening: &Tensors,
) -> Result<Verdict, Refused> {
	let (layout, tensors) = (Layout::of(&case.spec), StateTensors::of(&case.spec));
	let (node, begin, size) = place(layout.size, chunk)?;
	if opening.rows.is_some() {
		return Err(Refused::LeftOver);
	}
	let proved = Proved::new(&opening.tensors, |source| match source {
		Source::State { tensor, content, path } => {
			of_state(&tensors, state, *tensor, content, path)
		}
		_ => Err(Refused::LeftOver),
	})?;
	let mut bytes = Vec::new();
	for part in made(&layout, &tensors, begin, size)? {
		match part {
			Made::Header(header) => bytes.extend_from_slice(header),
			// Header and tensors have whole words.
			Made::Tensor { tensor, begin, bytes: size } => {
				for element in begin / WORD..begin.saturating_add(size) / WORD {
					let word = proved.word(Origin::State(tensor), element);
					let word = word.ok_or(Refused::Missing { tensor, index: element })?;
					bytes.extend_from_slice(&word.to_le_bytes());
				}
			}
		}
	}
	let found = node.value_of(layout.size, &bytes).map_err(Refused::Chunks)?;
	Ok(Verdict::of(Value::Digest(found), Value::Digest(*value)))
}

/// Returns where the bytes of chunk `chunk` of a tensor lie in the file of a checkpoint, with the chunk
/// as a node of the tensor's content and the length of that.
fn stored_place(
	case: &Case,
	layout: &Layout,
	tensor: u32,
	chunk: u64,
) -> Result<(Node, u64, u64, u64), Refused> {
	let tensors = StateTensors::of(&case.spec);
	let name = &tensors.get(tensor).ok_or(Refused::NoSuchPiece)?.name;
	let stored = layout.tensors.iter().find(|stored| stored.name == *name);
	let stored = stored.ok_or(Refused::NoSuchPiece)?;
	let (node, begin, size) = place(stored.bytes, chunk)?;
	Ok((node, stored.bytes, stored.begin.saturating_add(begin), size))
}

/// Returns the chunks of the file of a checkpoint in which chunk `chunk` of a tensor lies; none where
/// there is no such chunk.
pub fn stored_chunks(case: &Case, tensor: u32, chunk: u64) -> Vec<u64> {
	let place = stored_place(case, &state_file(case), tensor, chunk);
	let chunks = |(_, _, begin, size): (Node, u64, u64, u64)| {
		let last = begin.saturating_add(size).saturating_sub(1) / CHUNK_BYTES;
		(begin / CHUNK_BYTES..=last).collect()
	};
	place.map(chunks).unwrap_or_default()
}

/// Decides about chunk `chunk` of a tensor of a state, which has this value as a node of the tensor's
/// content: whether the file whose blob root is `blob` has these bytes there. `content` is the content
/// hash of the file. Fails with [`Refused::NoSuchPiece`] where the states of the case have no such
/// chunk.
pub fn stored(
	case: &Case,
	blob: &H256,
	tensor: u32,
	chunk: u64,
	value: &H256,
	opening: (&H256, &Chunks),
) -> Result<Verdict, Refused> {
	let layout = state_file(case);
	let (node, length, begin, size) = stored_place(case, &layout, tensor, chunk)?;
	let bytes = shown(&layout, blob, begin, size, opening)?.map_err(|at| {
		let first = chunk.saturating_mul(CHUNK_ELEMENTS);
		Refused::Missing { tensor, index: first.saturating_add(at / WORD) }
	})?;
	let found = node.value_of(length, &bytes).map_err(Refused::Chunks)?;
	Ok(Verdict::of(Value::Digest(found), Value::Digest(*value)))
}

/// Decides about chunk `chunk` of the file of a checkpoint, as far as it is of the header: whether the
/// file whose blob root is `blob` has the header that follows from the specification. The digests of
/// the verdict are the content hashes of that part. Otherwise as [`stored`]; fails with
/// [`Refused::NoSuchPiece`] for a chunk without a byte of the header.
pub fn stored_header(
	case: &Case,
	blob: &H256,
	chunk: u64,
	opening: (&H256, &Chunks),
) -> Result<Verdict, Refused> {
	let layout = state_file(case);
	let (_, begin, size) = place(layout.header.len() as u64, chunk)?;
	let range = usize::try_from(begin).ok().zip(usize::try_from(begin.saturating_add(size)).ok());
	let header = range.and_then(|(begin, end)| layout.header.get(begin..end));
	let header = header.ok_or(Refused::NoSuchPiece)?;
	let bytes = shown(&layout, blob, begin, size, opening)?.map_err(|_| Refused::WrongOpening)?;
	let digest = |bytes: &[u8]| Value::Digest(content::hash(bytes));
	Ok(Verdict::of(digest(&bytes), digest(header)))
}

/// Returns the bytes of a stored file of this layout from `begin` on, `size` of them, from the chunks in
/// which they lie; instead of them how many there are before the first that was not opened.
fn shown(
	layout: &Layout,
	blob: &H256,
	begin: u64,
	size: u64,
	(content, chunks): (&H256, &Chunks),
) -> Result<Result<Vec<u8>, u64>, Refused> {
	if blob::root_of(layout.size, content) != *blob {
		return Err(Refused::WrongOpening);
	}
	let end = begin.saturating_add(size);
	let mut bytes = Vec::new();
	for (number, shown) in chunks.verify(content, layout.size).map_err(Refused::Chunks)? {
		let at = number.saturating_mul(CHUNK_BYTES);
		let (from, to) = (begin.max(at), end.min(at.saturating_add(shown.len() as u64)));
		if from >= to {
			return Err(Refused::LeftOver);
		}
		if from != begin.saturating_add(bytes.len() as u64) {
			break;
		}
		let offset = |byte: u64| usize::try_from(byte.saturating_sub(at)).unwrap_or(usize::MAX);
		bytes.extend_from_slice(shown.get(offset(from)..offset(to)).unwrap_or_default());
	}
	let found = bytes.len() as u64;
	Ok(if found == size { Ok(bytes) } else { Err(found) })
}
