//! Chunks of tensors that were opened to somebody who knows only the tensors' contents.
//!
//! A [`Referee`] is told content hash and length of the tensors that a part of a program reads,
//! takes [openings](Opening) of their chunks, and computes from these alone what the trainer
//! computed from the whole: it runs the same function, [`trainyard_program::parts::element`].

use crate::{
	content::{self, OpeningError},
	H256,
};
use alloc::{
	collections::{BTreeMap, BTreeSet},
	vec::Vec,
};
use codec::{Decode, DecodeWithMemTracking, Encode};
use core::fmt;
use scale_info::TypeInfo;
use trainyard_program::{
	ops::TensorId,
	parts::{Chunk, Inputs, Opened, OpenedError, PartError, CHUNK_ELEMENTS},
};
use trainyard_strict::canonical_bits;

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

/// Chunks of one tensor, with the proof that they are of its content.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct Opening {
	/// The tensor, by its number in the list of parts.
	pub tensor: TensorId,
	/// The numbers of its chunks, from 0 and ascending, and their bytes: 1,024 each, or fewer in the
	/// last chunk of the tensor.
	pub chunks: Vec<(u32, Vec<u8>)>,
	/// The siblings that [`content::open_many`] returns.
	pub siblings: Vec<H256>,
}

impl Opening {
	/// Opens the chunks of these numbers of the tensor whose bytes these are. Fails where the numbers
	/// are none, do not strictly ascend or are not of the tensor.
	pub fn new(tensor: TensorId, numbers: &[u32], bytes: &[u8]) -> Result<Self, OpeningError> {
		let siblings = content::open_many(bytes, numbers.iter().map(|number| (*number).into()))?;
		let shown = |number: &u32| {
			content::chunk(bytes, (*number).into()).map(|shown| (*number, shown.to_vec()))
		};
		let chunks = numbers.iter().map(shown).collect::<Result<_, _>>()?;
		Ok(Self { tensor, chunks, siblings })
	}

	/// Opens these chunks, for example those that a [recorder](trainyard_program::parts::Recorder)
	/// noted: one opening for each tensor, in order. `bytes` returns the bytes of a tensor. Fails
	/// where it has none, or where a chunk is not of its tensor.
	pub fn all<B: AsRef<[u8]>>(
		chunks: &BTreeSet<Chunk>,
		mut bytes: impl FnMut(TensorId) -> Option<B>,
	) -> Result<Vec<Self>, RefereeError> {
		let mut numbers = BTreeMap::<TensorId, Vec<u32>>::new();
		for Chunk { tensor, number } in chunks {
			let number = u32::try_from(*number)
				.map_err(|_| RefereeError::opening(*tensor, OpeningError::NoSuchChunk))?;
			numbers.entry(*tensor).or_default().push(number);
		}
		let open = |(tensor, numbers): (TensorId, Vec<u32>)| {
			let bytes = bytes(tensor).ok_or(RefereeError::UnknownTensor(tensor))?;
			Self::new(tensor, &numbers, bytes.as_ref())
				.map_err(|error| RefereeError::opening(tensor, error))
		};
		numbers.into_iter().map(open).collect()
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
		/// What is wrong with it.
		error: OpeningError,
	},
	/// An opening of a tensor of numbers shows a NaN by bits other than the [canonical
	/// ones](canonical_bits), which no honest party hashes.
	NotCanonical(TensorId),
	/// What was opened does not suffice, or the part cannot be computed.
	Element(OpenedError),
}

impl RefereeError {
	fn opening(tensor: TensorId, error: OpeningError) -> Self {
		RefereeError::Opening { tensor, error }
	}
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
			RefereeError::Opening { tensor, error } => {
				write!(f, "opening of tensor {tensor}: {error}")
			}
			RefereeError::NotCanonical(tensor) => {
				write!(f, "opening of tensor {tensor}: it shows a NaN that is not 7FC00000")
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
	/// Which of them are labels. Their words are whole numbers, and none of them is a NaN.
	labels: TensorId,
	opened: Opened,
}

impl Referee {
	/// Returns a referee who knows these tensors, and to whom nothing was opened; labels are tensor
	/// number `labels`.
	pub fn new(known: BTreeMap<TensorId, KnownTensor>, labels: TensorId) -> Self {
		Self { known, labels, opened: Opened::new(labels) }
	}

	/// Takes an opening. Fails where the tensor is not known, where anything of the opening is not of
	/// it, or where a tensor of numbers shows a NaN that is not canonical; then nothing is taken.
	pub fn take(&mut self, opening: &Opening) -> Result<(), RefereeError> {
		let Opening { tensor, chunks, siblings } = opening;
		let known = self.known.get(tensor).ok_or(RefereeError::UnknownTensor(*tensor))?;
		let length = known.elements.saturating_mul(WORD);
		let shown = chunks.iter().map(|(number, bytes)| (u64::from(*number), bytes.as_slice()));
		content::verify_many(&known.content, length, shown, siblings)
			.map_err(|error| RefereeError::opening(*tensor, error))?;
		let words = |bytes: &[u8]| -> Vec<u32> {
			// The length of a tensor is a multiple of a word's, and so is that of each of its chunks.
			let (words, _) = bytes.as_chunks::<4>();
			words.iter().map(|word| u32::from_le_bytes(*word)).collect()
		};
		let shown: Vec<_> = chunks.iter().map(|(number, bytes)| (*number, words(bytes))).collect();
		let is_canonical = |word: &u32| canonical_bits(f32::from_bits(*word)) == *word;
		if *tensor != self.labels && !shown.iter().all(|(_, words)| words.iter().all(is_canonical))
		{
			return Err(RefereeError::NotCanonical(*tensor));
		}
		for (number, words) in shown {
			self.opened.insert(Chunk { tensor: *tensor, number: number.into() }, words);
		}
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

		/// Opens chunks with one set of siblings for each tensor.
		fn openings(&self, chunks: &BTreeSet<Chunk>) -> Vec<Opening> {
			Opening::all(chunks, |tensor| self.bytes.get(&tensor)).unwrap()
		}

		/// Opens each chunk by its own path.
		fn apart(&self, chunks: &BTreeSet<Chunk>) -> Vec<Opening> {
			let open = |chunk: &Chunk| self.openings(&BTreeSet::from([*chunk])).remove(0);
			chunks.iter().map(open).collect()
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

	fn bytes(openings: &[Opening]) -> usize {
		openings.iter().map(Encode::encoded_size).sum()
	}

	/// Bytes of siblings.
	fn beside(openings: &[Opening]) -> usize {
		openings.iter().map(|opening| opening.siblings.len() * 32).sum()
	}

	/// Whatever a trainer has computed in a step, a referee recomputes from openings, and an opening
	/// of many chunks is never longer than those of each.
	#[test]
	fn elements_of_steps_are_recomputed_from_openings() {
		let (mut judged, mut largest, mut shared, mut apart) = (0, 0, [0; 2], [0; 2]);
		for spec in specs() {
			let spec = spec.check().unwrap();
			let program = lower::training_step(&spec);
			let (whole, list) = step(&program, &spec);
			let moment = Moment::from(StepContext { seed: H256::repeat_byte(5), step: 3 });
			for PartOp { out, len, part, .. } in &list.parts {
				for index in [0, len / 2, len - 1] {
					let recorder = Recorder::new(&whole, whole.labels);
					element(part, index, &moment, &recorder).unwrap();
					let chunks = recorder.into_chunks();
					let openings = whole.openings(&chunks);
					assert!(openings.is_sorted_by_key(|opening| opening.tensor));
					let mut referee = Referee::new(whole.known(), whole.labels);
					for opening in &openings {
						referee.take(opening).unwrap();
					}
					let found = element(part, index, &moment, &referee).unwrap();
					assert_eq!(canonical_bits(found), whole.word(*out, index), "{part:?}");
					judged += 1;
					let paths = whole.apart(&chunks);
					let sizes = (bytes(&openings), bytes(&paths));
					assert!(sizes.0 <= sizes.1 && beside(&openings) <= beside(&paths), "{part:?}");
					shared = [shared[0] + sizes.0, shared[1] + beside(&openings)];
					apart = [apart[0] + sizes.1, apart[1] + beside(&paths)];
					largest = largest.max(sizes.0 * usize::from(terms(part, index) > 0));
				}
			}
		}
		println!(
			"{judged} elements: {} bytes, {} of them siblings; chunk by chunk {} and {}; the largest \
			 has {largest}",
			shared[0], shared[1], apart[0], apart[1]
		);
		assert!(judged > 150 && largest > 10_000, "{judged} {largest}");
		// Even in the small tensors of these steps, less than two siblings of five are left.
		assert!(shared[1] * 5 < apart[1] * 2, "{shared:?} {apart:?}");
	}

	/// A column of a matrix with 4 chunks in a row: its chunks share all but the lowest two levels.
	#[test]
	fn a_column_of_a_matrix_is_opened_by_few_siblings() {
		let (rows, width) = (200u64, 1_024);
		let values: Vec<f32> = (0..rows * width).map(|i| i as f32).collect();
		let content = content::le_bytes(&values);
		let column = |row| Chunk { tensor: 7, number: (row * width + 300) / CHUNK_ELEMENTS };
		let chunks: BTreeSet<Chunk> = (0..rows).map(column).collect();
		let whole = Whole { bytes: BTreeMap::from([(7, content)]), labels: 0 };
		let (shared, apart) = (whole.openings(&chunks), whole.apart(&chunks));
		let [opening] = &shared[..] else { panic!("{} openings", shared.len()) };
		assert_eq!((opening.chunks.len(), opening.siblings.len()), (200, 400));
		println!(
			"a column of 200 rows: {} bytes, {} of them siblings; chunk by chunk {} and {}",
			bytes(&shared),
			beside(&shared),
			bytes(&apart),
			beside(&apart)
		);
		assert!(bytes(&shared) < 240 * 1_024 && bytes(&apart) > 240 * 1_024);
		let mut referee = Referee::new(whole.known(), whole.labels);
		referee.take(opening).unwrap();
		for row in 0..rows {
			let index = row * width + 300;
			assert_eq!(referee.number(7, index), Ok(index as f32));
		}
	}

	#[test]
	fn what_is_not_of_its_tensor_is_refused() {
		let spec = JobSpec::example().check().unwrap();
		let program = lower::training_step(&spec);
		let (whole, _) = step(&program, &spec);
		let (id, bytes) = whole.bytes.iter().find(|(_, bytes)| bytes.len() > 5_000).unwrap();
		let good = Opening::new(*id, &[0, 2, 3], bytes).unwrap();
		let known = whole.known();
		let refused = |opening: &Opening| {
			let mut referee = Referee::new(known.clone(), whole.labels);
			let error = referee.take(opening).unwrap_err();
			// Nothing of it was taken.
			for (chunk, _) in &good.chunks {
				let index = u64::from(*chunk) * CHUNK_ELEMENTS;
				let missing = OpenedError::Missing { tensor: *id, index };
				assert_eq!(referee.number(*id, index), Err(RefereeError::Element(missing)));
			}
			error
		};
		type Bend = fn(&mut Opening);
		let faults: [(OpeningError, Bend); 9] = [
			(OpeningError::Root, |bent| bent.chunks[1].1[7] ^= 1),
			(OpeningError::Root, |bent| bent.siblings[0].0[31] ^= 128),
			(OpeningError::ChunkLength, |bent| bent.chunks[2].1.truncate(9)),
			(OpeningError::SiblingCount, |bent| bent.siblings.truncate(1)),
			(OpeningError::SiblingCount, |bent| bent.siblings.push(H256::zero())),
			(OpeningError::Order, |bent| bent.chunks.swap(0, 1)),
			(OpeningError::Order, |bent| bent.chunks.insert(1, bent.chunks[1].clone())),
			(OpeningError::NoSuchChunk, |bent| bent.chunks[2].0 = u32::MAX),
			(OpeningError::Empty, |bent| bent.chunks.clear()),
		];
		for (error, bend) in faults {
			let mut bent = good.clone();
			bend(&mut bent);
			assert_eq!(refused(&bent), RefereeError::Opening { tensor: *id, error });
		}
		let bent = Opening { tensor: 9_999, ..good.clone() };
		assert_eq!(refused(&bent), RefereeError::UnknownTensor(9_999));
		let mut referee = Referee::new(known.clone(), whole.labels);
		referee.take(&good).unwrap();
		for index in [0, 255, 512, 1_023] {
			let expected = f32::from_bits(whole.word(*id, index));
			assert_eq!(referee.number(*id, index).unwrap().to_bits(), expected.to_bits());
		}
		let (tensor, index) = (*id, 256);
		let missing = RefereeError::Element(OpenedError::Missing { tensor, index });
		assert_eq!(referee.number(*id, 256), Err(missing));
	}

	/// A trainer that hashed other bits of a NaN cannot open them. Labels are no numbers.
	#[test]
	fn a_nan_that_is_not_canonical_is_refused() {
		let mut bytes = content::le_bytes(&[1.0; 600]);
		let index = 300;
		for (word, is_refused) in [
			(0x7FC0_0000u32, false),
			(0x7F80_0000, false),
			(0xFF80_0000, false),
			(0x7FC0_0001, true),
			(0x7F80_0001, true),
			(0xFFC0_0000, true),
			(u32::MAX, true),
		] {
			bytes[index * 4..][..4].copy_from_slice(&word.to_le_bytes());
			let known = KnownTensor { content: content::hash(&bytes), elements: 600 };
			let known = BTreeMap::from([(3, known), (4, known)]);
			let mut referee = Referee::new(known, 4);
			let refused = Err(RefereeError::NotCanonical(3));
			let expected = if is_refused { refused } else { Ok(()) };
			let taken = referee.take(&Opening::new(3, &[0, 1], &bytes).unwrap());
			assert_eq!(taken, expected, "{word:08X}");
			// Nothing of a refused opening is taken, not even a chunk without a NaN.
			assert_eq!(referee.number(3, 0).is_err(), is_refused, "{word:08X}");
			referee.take(&Opening::new(4, &[1], &bytes).unwrap()).unwrap();
			assert_eq!(referee.label(index as u64), Ok(word));
		}
	}

	#[test]
	fn what_cannot_be_opened_is_an_error_of_its_tensor() {
		let content = [1; 3_000];
		let all = |tensor, number| {
			let bytes = |id| (id == 4).then_some(&content[..]);
			Opening::all(&BTreeSet::from([Chunk { tensor, number }]), bytes)
		};
		assert_eq!(all(4, 2).unwrap()[0].chunks, [(2, vec![1; 952])]);
		let none = RefereeError::Opening { tensor: 4, error: OpeningError::NoSuchChunk };
		for number in [3, u32::MAX.into(), 1 << 32, u64::MAX] {
			assert_eq!(all(4, number), Err(none));
		}
		assert_eq!(all(5, 0), Err(RefereeError::UnknownTensor(5)));
		assert_eq!(Opening::all(&BTreeSet::new(), |_| Some([0])), Ok(Vec::new()));
		for (numbers, error) in [
			(&[][..], OpeningError::Empty),
			(&[1, 0], OpeningError::Order),
			(&[1, 1], OpeningError::Order),
			(&[0, 3], OpeningError::NoSuchChunk),
		] {
			assert_eq!(Opening::new(4, numbers, &content), Err(error));
		}
	}
}
