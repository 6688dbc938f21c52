//! Samples of the states of a run, as whoever gives them to others keeps them: of each state one file beside the
//! others of its bundle, with the parts that were read of it and their proofs.
//!
//! A state of which the whole file is there needs none. What is read of a state is [`Part`]s of all of its
//! tensors; [`Samples::opening`] gives any of them on, and [`Samples::chunk`] opens a single chunk, as a seat of a
//! relay does ([`relay::opens`](trainyard_protocol::relay::opens)).

use super::{
	files::{self, at, FileError},
	openings::{Opened, Opening, Part, Parts, Tensors},
};
use codec::{Decode, DecodeAll, Encode};
use primitive_types::H256;
use std::{
	io::ErrorKind,
	path::{Path, PathBuf},
};
use trainyard_protocol::{
	content::{self, Node, OpeningError},
	relay::{Chunk, TensorChunk},
};

/// Parts of a state, with their proofs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Samples {
	/// Tensor and chunks of each part, as in [`Part`].
	parts: Vec<(u32, Vec<u32>)>,
	/// Content hashes of all tensors of the state.
	contents: Vec<H256>,
	/// The parts, in that order.
	opened: Vec<Opened>,
}

impl Samples {
	/// Returns where the samples of a state are that has this checkpoint file.
	pub fn beside(checkpoint: &Path) -> PathBuf {
		checkpoint.with_extension("samples")
	}

	/// Adds the `parts` that this opening shows, which must have been checked, of the same state as what is here.
	/// Returns false, and adds nothing, where it is of another one.
	pub fn add(&mut self, parts: &Parts, opening: Opening) -> bool {
		let is_same = self.parts.is_empty() || self.contents == opening.contents;
		if is_same && parts.len() == opening.parts.len() {
			self.contents = opening.contents;
			self.parts.extend(parts.iter().map(|part| (part.tensor, part.chunks.clone())));
			self.opened.extend(opening.parts);
			return true;
		}
		false
	}

	/// Returns those in this file; `None` where there is none, or it holds something else.
	pub fn load(path: &Path) -> Result<Option<Self>, FileError> {
		match std::fs::read(path) {
			Ok(bytes) => Ok(Self::decode_all(&mut &bytes[..]).ok().filter(Self::is_sound)),
			Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
			Err(e) => Err(at("read", path)(e)),
		}
	}

	fn is_sound(&self) -> bool {
		self.parts.len() == self.opened.len()
	}

	/// Writes them; they are on disk when this returns.
	pub fn save(&self, path: &Path) -> Result<(), FileError> {
		files::write(path, &self.encode())
	}

	/// Returns the part of this tensor, with its chunks.
	fn of_tensor(&self, tensor: u32) -> Option<(&[u32], &Opened)> {
		let at = self.parts.iter().position(|(of, _)| *of == tensor)?;
		Some((&self.parts.get(at)?.1, self.opened.get(at)?))
	}

	/// Returns the opening of these parts, if all of them are here.
	pub fn opening(&self, parts: &[Part]) -> Option<Opening> {
		let opened = |part: &Part| {
			let (chunks, opened) = self.of_tensor(part.tensor)?;
			(chunks == part.chunks).then(|| opened.clone())
		};
		let parts = parts.iter().map(opened).collect::<Option<Vec<_>>>()?;
		Some(Opening { contents: self.contents.clone(), parts })
	}

	/// Returns the content hashes of all tensors of the state.
	pub fn contents(&self) -> &[H256] {
		&self.contents
	}

	/// Returns the chunk at this place of the state of a job with these tensors, if it is here.
	pub fn chunk(&self, tensors: &Tensors, place: &TensorChunk) -> Option<Chunk> {
		let (chunks, Opened { bytes, siblings }) = self.of_tensor(place.tensor)?;
		if chunks.is_empty() {
			return Chunk::of(bytes, place.chunk);
		}
		let wanted = u32::try_from(place.chunk).ok()?;
		let at = chunks.iter().position(|chunk| *chunk == wanted)?;
		let size = content::CHUNK_BYTES as usize;
		let opened = || chunks.iter().map(|chunk| u64::from(*chunk)).zip(bytes.chunks(size));
		let path =
			path_among(tensors.bytes(place.tensor)?, opened(), siblings, place.chunk).ok()?;
		let own = bytes.chunks(size).nth(at)?.to_vec();
		Some(Chunk { bytes: own.try_into().ok()?, siblings: path.try_into().ok()? })
	}
}

/// Returns the path of chunk `wanted` of a content of so many bytes, of which several chunks were opened
/// together: what lies beside its way up is a sibling of them, or follows from one of the others.
fn path_among<'a>(
	bytes: u64,
	opened: impl Iterator<Item = (u64, &'a [u8])> + Clone,
	siblings: &[H256],
	wanted: u64,
) -> Result<Vec<H256>, OpeningError> {
	let mut nodes = Vec::new();
	content::open_many_by(bytes, opened.clone().map(|(chunk, _)| chunk), |node| {
		nodes.push(node);
		Ok::<_, OpeningError>(H256::zero())
	})?;
	if nodes.len() != siblings.len() {
		return Err(OpeningError::SiblingCount);
	}
	let mut known: Vec<(Node, H256)> = nodes.into_iter().zip(siblings.iter().copied()).collect();
	for (chunk, own) in opened {
		let node = Node { begin: chunk, chunks: 1 };
		known.push((node, node.value_of(bytes, own)?));
	}
	content::open_many_by(bytes, [wanted], |node| value(bytes, &known, node))
}

/// Returns the value of a node, which is known or follows from its parts.
fn value(bytes: u64, known: &[(Node, H256)], node: Node) -> Result<H256, OpeningError> {
	if let Some((_, value)) = known.iter().find(|(of, _)| *of == node) {
		return Ok(*value);
	}
	if node.chunks <= 1 {
		return Err(OpeningError::SiblingCount);
	}
	let parts = node.parts(bytes, 1)?;
	let values = parts.into_iter().map(|part| value(bytes, known, part));
	node.merge(bytes, 1, &values.collect::<Result<Vec<_>, _>>()?)
}

#[cfg(test)]
mod tests {
	use super::*;
	use proptest::prelude::*;

	proptest! {
		/// Whatever is opened together, each chunk opens alone as from the whole content.
		#[test]
		fn each_chunk_of_several_opens_alone(
			chunks in 2u64..70,
			short in 0u64..1_024,
			picked in proptest::collection::btree_set(0u64..70, 1..4),
		) {
			let size = chunks * 1_024 - short;
			let content: Vec<u8> = (0..size).map(|at| (at * 7 + at / 1_024) as u8).collect();
			let picked: Vec<u64> = picked.into_iter().map(|at| at % chunks).collect();
			let picked: std::collections::BTreeSet<u64> = picked.into_iter().collect();
			let siblings = content::open_many(&content, picked.iter().copied()).unwrap();
			let of = |at: &u64| (*at, content::chunk(&content, *at).unwrap());
			let opened: Vec<(u64, &[u8])> = picked.iter().map(of).collect();
			for wanted in &picked {
				let path = path_among(size, opened.iter().copied(), &siblings, *wanted).unwrap();
				prop_assert_eq!(path, content::open(&content, *wanted).unwrap());
			}
			let other = (0..chunks).find(|at| !picked.contains(at));
			if let (Some(other), false) = (other, siblings.is_empty()) {
				let few = path_among(size, opened.iter().copied(), &siblings[1..], other);
				prop_assert_eq!(few, Err(OpeningError::SiblingCount));
			}
		}
	}

	#[test]
	fn what_is_kept_is_given_on_and_opened() {
		let dir = tempfile::tempdir().unwrap();
		let path = Samples::beside(&dir.path().join("step-7.safetensors"));
		assert_eq!(path, dir.path().join("step-7.samples"));
		assert_eq!(Samples::load(&path).unwrap(), None);
		let part = |tensor, chunks: &[u32]| Part { tensor, chunks: chunks.to_vec() };
		let small = Opened { bytes: vec![7; 1_500], siblings: vec![] };
		let large: Vec<u8> = (0..70_000u32).map(|at| (at / 5) as u8).collect();
		let siblings = content::open_many(&large, [2, 41]).unwrap();
		let both = [2, 41].map(|at| content::chunk(&large, at).unwrap()).concat();
		let large_part = Opened { bytes: both, siblings };
		let contents = vec![content::hash(&small.bytes), content::hash(&large)];
		let mut samples = Samples::default();
		let first = Parts::new(vec![part(0, &[])]).unwrap();
		let opening = |parts| Opening { contents: contents.clone(), parts };
		assert!(samples.add(&first, opening(vec![small.clone()])));
		let second = Parts::new(vec![part(1, &[2, 41])]).unwrap();
		let other = Opening { contents: vec![H256::zero(); 2], parts: vec![large_part.clone()] };
		assert!(!samples.add(&second, other), "another state");
		assert!(!samples.add(&second, opening(vec![])), "a part is missing");
		assert!(samples.add(&second, opening(vec![large_part.clone()])));
		samples.save(&path).unwrap();
		let samples = Samples::load(&path).unwrap().unwrap();
		assert_eq!(samples.contents(), contents);
		let found = samples.opening(&[part(1, &[2, 41])]).unwrap();
		assert_eq!(found, opening(vec![large_part]));
		assert_eq!(samples.opening(&[part(0, &[])]), Some(opening(vec![small])));
		for missing in [part(1, &[2]), part(1, &[]), part(2, &[]), part(0, &[0])] {
			assert_eq!(samples.opening(&[missing]), None);
		}
		std::fs::write(&path, [1, 2]).unwrap();
		assert_eq!(Samples::load(&path).unwrap(), None);
	}
}
