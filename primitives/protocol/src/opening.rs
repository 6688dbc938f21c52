//! Chunks of tensors that were opened to somebody who knows only the tensors' contents.
//!
//! A [`Referee`] is told content hash and length of the tensors that a part of a program reads,
//! takes [openings](content::open) of their chunks, and computes from these alone what the trainer
//! computed from the whole: it runs the same function, [`trainyard_program::parts::element`].

use crate::{
	content::{self, OpeningError},
	H256,
};
use alloc::{collections::BTreeMap, vec::Vec};
use codec::{Decode, DecodeWithMemTracking, Encode};
use core::fmt;
use scale_info::TypeInfo;
use trainyard_program::{
	ops::TensorId,
	parts::{Chunk, Inputs, Opened, OpenedError, PartError, CHUNK_ELEMENTS},
};

/// Bytes of a number, and of a label.
const WORD: u64 = 4;
const _: () = assert!(CHUNK_ELEMENTS * WORD == content::CHUNK_BYTES);

/// What is known of a tensor before anything of it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTensor {
	/// Its [content hash](content::hash).
	pub content: H256,
	/// Its number of elements.
	pub elements: u64,
}

/// One chunk of a tensor, with the proof that it is of its content.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct Opening {
	/// The tensor, by its number in the list of parts.
	pub tensor: TensorId,
	/// Number of the chunk, from 0.
	pub chunk: u32,
	/// Its bytes: 1,024, or fewer in the last chunk.
	pub bytes: Vec<u8>,
	/// The path that [`content::open`] returns.
	pub path: Vec<H256>,
}

impl Opening {
	/// Opens a chunk of the tensor whose bytes these are. Fails with
	/// [`OpeningError::NoSuchChunk`].
	pub fn new(chunk: Chunk, bytes: &[u8]) -> Result<Self, OpeningError> {
		let path = content::open(bytes, chunk.number)?;
		let start = chunk.number.saturating_mul(content::CHUNK_BYTES);
		let end = start.saturating_add(content::CHUNK_BYTES).min(bytes.len() as u64);
		let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
		let shown = range.and_then(|(start, end)| bytes.get(start..end));
		Ok(Self {
			tensor: chunk.tensor,
			chunk: u32::try_from(chunk.number).map_err(|_| OpeningError::NoSuchChunk)?,
			bytes: shown.ok_or(OpeningError::NoSuchChunk)?.to_vec(),
			path,
		})
	}
}

/// Why a referee refuses what it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefereeError {
	/// Nothing is known of the tensor of an opening.
	UnknownTensor(TensorId),
	/// An opening does not belong to its tensor.
	Opening {
		/// The tensor.
		tensor: TensorId,
		/// The number of the chunk.
		chunk: u32,
		/// What is wrong with it.
		error: OpeningError,
	},
	/// What was opened does not suffice, or the part cannot be computed.
	Element(OpenedError),
}

impl From<OpenedError> for RefereeError {
	fn from(error: OpenedError) -> Self {
		RefereeError::Element(error)
	}
}

impl From<PartError> for RefereeError {
	fn from(error: PartError) -> Self {
		RefereeError::Element(error.into())
	}
}

impl fmt::Display for RefereeError {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			RefereeError::UnknownTensor(tensor) => {
				write!(f, "no tensor number {tensor} belongs to what is disputed")
			}
			RefereeError::Opening { tensor, chunk, error } => {
				write!(f, "opening of chunk {chunk} of tensor {tensor}: {error}")
			}
			RefereeError::Element(error) => error.fmt(f),
		}
	}
}

impl core::error::Error for RefereeError {}

/// What was opened to a referee, each chunk checked against the content of its tensor.
#[derive(Clone, Debug)]
pub struct Referee {
	known: BTreeMap<TensorId, KnownTensor>,
	opened: Opened,
}

impl Referee {
	/// Returns a referee who knows these tensors, and to whom nothing was opened; labels are tensor
	/// number `labels`.
	pub fn new(known: BTreeMap<TensorId, KnownTensor>, labels: TensorId) -> Self {
		Self { known, opened: Opened::new(labels) }
	}

	/// Takes an opening. Fails where the tensor is not known or the opening is not of it; then
	/// nothing is taken.
	pub fn take(&mut self, opening: &Opening) -> Result<(), RefereeError> {
		let Opening { tensor, chunk, bytes, path } = opening;
		let known = self.known.get(tensor).ok_or(RefereeError::UnknownTensor(*tensor))?;
		let length = known.elements.saturating_mul(WORD);
		content::verify(&known.content, length, (*chunk).into(), bytes, path)
			.map_err(|error| RefereeError::Opening { tensor: *tensor, chunk: *chunk, error })?;
		// The length of a tensor is a multiple of a word's, and so is that of each of its chunks.
		let (words, _) = bytes.as_chunks::<4>();
		let words = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
		self.opened.insert(Chunk { tensor: *tensor, number: (*chunk).into() }, words);
		Ok(())
	}
}

impl Inputs for Referee {
	type Error = RefereeError;

	fn number(&self, tensor: TensorId, index: u64) -> Result<f32, RefereeError> {
		Ok(self.opened.number(tensor, index)?)
	}

	fn label(&self, index: u64) -> Result<u32, RefereeError> {
		Ok(self.opened.label(index)?)
	}
}

#[cfg(test)]
mod tests {
	use super::*;
	use alloc::collections::BTreeSet;
	use trainyard_program::{
		init, lower,
		ops::{Program, Role},
		parts::{element, terms, Moment, PartList, PartOp, Recorder},
		reference::StepContext,
		spec::{Activation, CheckedSpec, CnnLayer, DataFormat, JobSpec, Loss, Model},
	};
	use trainyard_strict::canonical_bits;

	/// All tensors of a step, those between parts too, as bytes.
	struct Whole {
		bytes: BTreeMap<TensorId, Vec<u8>>,
		labels: TensorId,
	}

	impl Whole {
		fn word(&self, tensor: TensorId, index: u64) -> u32 {
			let at = index as usize * 4;
			u32::from_le_bytes(self.bytes[&tensor][at..at + 4].try_into().unwrap())
		}

		fn known(&self) -> BTreeMap<TensorId, KnownTensor> {
			let known = |bytes: &Vec<u8>| KnownTensor {
				content: content::hash(bytes),
				elements: bytes.len() as u64 / WORD,
			};
			self.bytes.iter().map(|(id, bytes)| (*id, known(bytes))).collect()
		}

		fn openings(&self, chunks: BTreeSet<Chunk>) -> Vec<Opening> {
			let open = |chunk: Chunk| Opening::new(chunk, &self.bytes[&chunk.tensor]).unwrap();
			chunks.into_iter().map(open).collect()
		}
	}

	impl Inputs for Whole {
		type Error = RefereeError;

		fn number(&self, tensor: TensorId, index: u64) -> Result<f32, RefereeError> {
			Ok(f32::from_bits(self.word(tensor, index)))
		}

		fn label(&self, index: u64) -> Result<u32, RefereeError> {
			Ok(self.word(self.labels, index))
		}
	}

	fn specs() -> Vec<JobSpec> {
		let mut all = vec![JobSpec::example()];
		let mut cnn = JobSpec::example();
		cnn.training.batch_size = 3;
		cnn.training.loss = Loss::MeanSquaredError;
		cnn.training.clip_norm_nano = 500_000_000;
		cnn.model = Model::Cnn {
			channels: 1,
			height: 8,
			width: 8,
			layers: vec![
				CnnLayer::Conv { filters: 4, kernel: 3, stride: 1, padding: 1 },
				CnnLayer::MaxPool { kernel: 2, stride: 1 },
				CnnLayer::Linear { outputs: 12 },
			]
			.try_into()
			.unwrap(),
			activation: Activation::Gelu,
		};
		all.push(cnn);
		let mut text = JobSpec::example();
		text.training.batch_size = 2;
		text.dataset.format = DataFormat::Text;
		text.dataset.feature_divisor = 1;
		(text.dataset.features, text.dataset.classes) = (9, 7);
		text.model = Model::Transformer {
			layers: 1,
			heads: 2,
			width: 6,
			mlp_factor: 2,
			dropout_nano: 100_000_000,
		};
		all.push(text);
		all
	}

	/// Computes a step of a job from its initial state, part by part.
	fn step(program: &Program, spec: &CheckedSpec) -> (Whole, PartList) {
		let list = PartList::of(program).unwrap();
		let labels = program.find(Role::Labels).unwrap();
		let mut whole = Whole { bytes: BTreeMap::new(), labels };
		let state = lower::state(spec);
		for (id, tensor) in (0..).zip(&program.tensors) {
			let len = tensor.len() as u32;
			let bytes = match tensor.role {
				Role::Features => {
					let x: Vec<f32> = (0..len).map(|i| ((i * 29 + 3) % 7) as f32).collect();
					content::le_bytes(&x)
				}
				Role::Labels => (0..len).flat_map(|i| (i * 3 % 7).to_le_bytes()).collect(),
				Role::State => {
					let begun = state.iter().find(|t| t.name == tensor.name).unwrap();
					content::le_bytes(&init::initial(&H256::repeat_byte(5), begun))
				}
				_ => continue,
			};
			whole.bytes.insert(id, bytes);
		}
		let moment = Moment::from(StepContext { seed: H256::repeat_byte(5), step: 3 });
		for PartOp { out, len, part, .. } in &list.parts {
			let x: Result<Vec<f32>, _> =
				(0..*len).map(|index| element(part, index, &moment, &whole)).collect();
			whole.bytes.insert(*out, content::le_bytes(&x.unwrap()));
		}
		(whole, list)
	}

	/// Whatever a trainer has computed in a step, a referee recomputes from openings; and every
	/// opening that is bent is refused, or leaves an element that is not the same.
	#[test]
	fn elements_of_steps_are_recomputed_from_openings() {
		let (mut judged, mut largest) = (0, 0);
		for spec in specs() {
			let spec = spec.check().unwrap();
			let program = lower::training_step(&spec);
			let (whole, list) = step(&program, &spec);
			let moment = Moment::from(StepContext { seed: H256::repeat_byte(5), step: 3 });
			for PartOp { out, len, part, .. } in &list.parts {
				for index in [0, len / 2, len - 1] {
					let recorder = Recorder::new(&whole, whole.labels);
					element(part, index, &moment, &recorder).unwrap();
					let openings = whole.openings(recorder.into_chunks());
					let mut referee = Referee::new(whole.known(), whole.labels);
					for opening in &openings {
						referee.take(opening).unwrap();
					}
					let found = element(part, index, &moment, &referee).unwrap();
					assert_eq!(canonical_bits(found), whole.word(*out, index), "{part:?}");
					judged += 1;
					let bytes = openings.iter().map(Encode::encoded_size).sum::<usize>();
					largest = largest.max(bytes * usize::from(terms(part, index) > 0));
				}
			}
		}
		assert!(judged > 150 && largest > 10_000, "{judged} {largest}");
	}

	#[test]
	fn what_is_not_of_its_tensor_is_refused() {
		let spec = JobSpec::example().check().unwrap();
		let program = lower::training_step(&spec);
		let (whole, _) = step(&program, &spec);
		let (id, bytes) = whole.bytes.iter().find(|(_, bytes)| bytes.len() > 5_000).unwrap();
		let good = Opening::new(Chunk { tensor: *id, number: 2 }, bytes).unwrap();
		let known = whole.known();
		let refused = |opening: &Opening| {
			let mut referee = Referee::new(known.clone(), whole.labels);
			let error = referee.take(opening).unwrap_err();
			// Nothing of it was taken.
			assert!(matches!(referee.number(*id, 512), Err(RefereeError::Element(_))));
			error
		};
		let opening = |error| RefereeError::Opening { tensor: *id, chunk: 2, error };
		let mut bent = good.clone();
		bent.bytes[7] ^= 1;
		assert_eq!(refused(&bent), opening(OpeningError::Root));
		bent = good.clone();
		bent.bytes.pop();
		assert_eq!(refused(&bent), opening(OpeningError::ChunkLength));
		bent = good.clone();
		bent.path.pop();
		assert_eq!(refused(&bent), opening(OpeningError::PathLength));
		bent = Opening { chunk: u32::MAX, ..good.clone() };
		let error = OpeningError::NoSuchChunk;
		assert_eq!(refused(&bent), RefereeError::Opening { tensor: *id, chunk: u32::MAX, error });
		bent = Opening { tensor: 9_999, ..good.clone() };
		assert_eq!(refused(&bent), RefereeError::UnknownTensor(9_999));
		let mut referee = Referee::new(known.clone(), whole.labels);
		referee.take(&good).unwrap();
		let expected = f32::from_bits(whole.word(*id, 2 * 256));
		assert_eq!(referee.number(*id, 2 * 256).unwrap().to_bits(), expected.to_bits());
		let (tensor, index) = (*id, 3 * 256);
		let missing = RefereeError::Element(OpenedError::Missing { tensor, index });
		assert_eq!(referee.number(*id, 3 * 256), Err(missing));
	}
}
