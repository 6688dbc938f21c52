//! Elements from pieces of tensors: what a referee computes from, and what it has to be shown.

use crate::{
	ops::TensorId,
	parts::{Inputs, PartError, CHUNK_ELEMENTS},
};
use std::{
	cell::RefCell,
	collections::{BTreeMap, BTreeSet},
};

/// A chunk of a tensor: its number, from 0, among the pieces of [`CHUNK_ELEMENTS`] elements, row
/// major.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chunk {
	/// The tensor.
	pub tensor: TensorId,
	/// The number of the chunk.
	pub number: u64,
}

/// Returns the chunk of element `index` of a tensor, and its place there.
fn place(tensor: TensorId, index: u64) -> (Chunk, usize) {
	let at = usize::try_from(index % CHUNK_ELEMENTS).unwrap_or_default();
	(Chunk { tensor, number: index / CHUNK_ELEMENTS }, at)
}

/// Why an element cannot be computed from chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenedError {
	/// No chunk with this element was shown, or the shown one ends before it.
	Missing {
		/// The tensor.
		tensor: TensorId,
		/// The element.
		index: u64,
	},
	/// The part cannot be computed.
	Part(PartError),
}

impl From<PartError> for OpenedError {
	fn from(error: PartError) -> Self {
		OpenedError::Part(error)
	}
}

/// The chunks that were opened, and nothing else of their tensors. Words are 4 bytes: the bits of a
/// number, or a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
	chunks: BTreeMap<Chunk, Vec<u32>>,
	/// Which of the tensors are labels.
	labels: TensorId,
}

impl Opened {
	/// Returns an empty store in which labels are tensor number `labels`.
	pub fn new(labels: TensorId) -> Self {
		Self { chunks: BTreeMap::new(), labels }
	}

	/// Adds a chunk of these words. The caller has checked that they are of its tensor.
	pub fn insert(&mut self, chunk: Chunk, words: Vec<u32>) {
		self.chunks.insert(chunk, words);
	}

	fn word(&self, tensor: TensorId, index: u64) -> Result<u32, OpenedError> {
		let (chunk, at) = place(tensor, index);
		let word = self.chunks.get(&chunk).and_then(|words| words.get(at));
		word.copied().ok_or(OpenedError::Missing { tensor, index })
	}
}

impl Inputs for Opened {
	type Error = OpenedError;

	fn number(&self, tensor: TensorId, index: u64) -> Result<f32, OpenedError> {
		self.word(tensor, index).map(f32::from_bits)
	}

	fn label(&self, index: u64) -> Result<u32, OpenedError> {
		self.word(self.labels, index)
	}
}

/// Reads from other inputs, and notes which chunks that takes: a referee has to be shown these.
#[derive(Debug)]
pub struct Recorder<'a, I> {
	inputs: &'a I,
	labels: TensorId,
	read: RefCell<BTreeSet<Chunk>>,
}

impl<'a, I> Recorder<'a, I> {
	/// Returns a recorder of what is read from `inputs`, in which labels are tensor number `labels`.
	pub fn new(inputs: &'a I, labels: TensorId) -> Self {
		Self { inputs, labels, read: RefCell::default() }
	}

	/// Returns the chunks that were read, in order.
	pub fn into_chunks(self) -> BTreeSet<Chunk> {
		self.read.into_inner()
	}

	fn note(&self, tensor: TensorId, index: u64) {
		self.read.borrow_mut().insert(place(tensor, index).0);
	}
}

impl<I: Inputs> Inputs for Recorder<'_, I> {
	type Error = I::Error;

	fn number(&self, tensor: TensorId, index: u64) -> Result<f32, I::Error> {
		self.note(tensor, index);
		self.inputs.number(tensor, index)
	}

	fn label(&self, index: u64) -> Result<u32, I::Error> {
		self.note(self.labels, index);
		self.inputs.label(index)
	}
}
