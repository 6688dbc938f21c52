//! The aggregate of a round, and what is false in a proposal of one.

use trainyard_protocol::{
	blob,
	content::{self, OpeningError, CHUNK_BYTES},
	federation::{self, ModelOpening},
	model_file::Layout,
	H256,
};
use trainyard_strict::{canonical_bits, fma};

/// Says why there is no aggregate, or no refutation.
#[derive(Debug, thiserror::Error)]
pub enum MadeError {
	/// A model does not have the length of the federation's.
	#[error("the model {root:?} has {found} bytes, and models of this federation have {expected}")]
	Length {
		/// Root of the model.
		root: H256,
		/// Its length.
		found: usize,
		/// What it should be.
		expected: u64,
	},
	/// A chunk or a piece is not there.
	#[error("a model cannot be opened: {0}")]
	Opening(OpeningError),
}

impl From<OpeningError> for MadeError {
	fn from(error: OpeningError) -> Self {
		Self::Opening(error)
	}
}

/// The mean of models, made of one after the other: one is in memory at a time.
pub struct Mean<'a> {
	layout: &'a Layout,
	weights: Vec<f32>,
	values: Vec<f32>,
	taken: usize,
}

impl<'a> Mean<'a> {
	/// Begins the mean of models of parts with so many rows that train.
	pub fn new(layout: &'a Layout, rows: &[u32]) -> Self {
		Self { layout, weights: federation::weights(rows), values: Vec::new(), taken: 0 }
	}

	/// Takes the next model, in the order of the parts. Fails where it has another length than such models have.
	pub fn take(&mut self, root: H256, file: &[u8]) -> Result<(), MadeError> {
		let expected = self.layout.size;
		if file.len() as u64 != expected {
			return Err(MadeError::Length { root, found: file.len(), expected });
		}
		let numbers = file.get(self.layout.header.len()..).unwrap_or_default();
		let numbers = numbers.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
		let weight = self.weights.get(self.taken).copied().unwrap_or(0.0);
		match self.taken {
			0 => self.values = numbers.map(|value| weight * value).collect(),
			_ => {
				for (sum, value) in self.values.iter_mut().zip(numbers) {
					*sum = fma(weight, value, *sum);
				}
			}
		}
		self.taken += 1;
		Ok(())
	}

	/// Returns the aggregate of what was taken. Fails where a piece cannot be hashed.
	pub fn finish(self) -> Result<Made, MadeError> {
		let mut file = self.layout.header.clone();
		file.reserve(self.values.len().saturating_mul(4));
		for value in &self.values {
			file.extend_from_slice(&canonical_bits(*value).to_le_bytes());
		}
		Made::of(self.layout, file)
	}
}

/// An aggregate, with what a proposal says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
	/// Its file.
	pub file: Vec<u8>,
	/// Content hash of the file.
	pub content: H256,
	/// Root of its blob.
	pub root: H256,
	/// The values of the pieces of its tensors.
	pub pieces: Vec<H256>,
	/// State hash of its parameters.
	pub parameters: H256,
}

/// What is false in a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
	/// The file, at this chunk.
	Chunk(u64),
	/// What is said of the piece with this number.
	Piece(u32),
}

impl Made {
	/// Returns what a proposal says of this file.
	pub fn of(layout: &Layout, file: Vec<u8>) -> Result<Self, MadeError> {
		let content = content::hash(&file);
		let root = blob::root_of(file.len() as u64, &content);
		let pieces = federation::piece_values(layout, &file)?;
		let parameters = federation::parameters(layout, &pieces)?;
		Ok(Self { file, content, root, pieces, parameters })
	}

	/// Returns the first chunk at which another file of the same length differs from this one.
	pub fn differs_at(&self, other: &[u8]) -> Option<u64> {
		let chunk = CHUNK_BYTES as usize;
		let differs = self.file.chunks(chunk).zip(other.chunks(chunk)).position(|(a, b)| a != b);
		differs.and_then(|at| u64::try_from(at).ok())
	}

	/// Returns the first piece of which something else is said than is so of this file.
	pub fn lies_about(&self, said: &[H256]) -> Option<u32> {
		let lie = self.pieces.iter().zip(said).position(|(a, b)| a != b);
		lie.and_then(|at| u32::try_from(at).ok())
	}
}

/// Returns the opening of a chunk of a file.
pub fn opening(file: &[u8], chunk: u64) -> Result<ModelOpening, MadeError> {
	Ok(ModelOpening::new(file, chunk)?)
}

/// Returns the chunks of a file that hold the piece with this number, and what leads from them to its root.
pub fn piece(layout: &Layout, file: &[u8], number: u32) -> Result<(Vec<u8>, Vec<H256>), MadeError> {
	let all = federation::pieces(layout);
	let piece = usize::try_from(number).ok().and_then(|at| all.get(at));
	let chunks = piece.ok_or(OpeningError::NoSuchNode)?.chunks();
	let place =
		|chunk: u64| usize::try_from(chunk.saturating_mul(CHUNK_BYTES)).unwrap_or(usize::MAX);
	let range = place(chunks.start)..place(chunks.end).min(file.len());
	let bytes = file.get(range).ok_or(OpeningError::NoSuchChunk)?.to_vec();
	Ok((bytes, content::open_many(file, chunks)?))
}

#[cfg(test)]
mod tests {
	use super::*;
	use trainyard_program::spec::JobSpec;

	fn layout() -> Layout {
		Layout::of(&JobSpec::example().check().unwrap())
	}

	fn file(layout: &Layout, seed: u32) -> Vec<u8> {
		let mut bytes = layout.header.clone();
		for at in 0..((layout.size as usize - bytes.len()) / 4) as u32 {
			let value = ((at * 37 + seed * 101) % 1_009) as f32 / 300.0 - 1.5;
			bytes.extend_from_slice(&value.to_le_bytes());
		}
		bytes
	}

	/// The aggregate of files of these seeds and rows.
	fn made(layout: &Layout, rows: &[u32]) -> Made {
		let mut mean = Mean::new(layout, rows);
		for seed in 0..rows.len() as u32 {
			mean.take(H256::zero(), &file(layout, seed)).unwrap();
		}
		mean.finish().unwrap()
	}

	#[test]
	fn one_after_the_other_is_what_the_chain_computes() {
		let layout = layout();
		for rows in [&[7][..], &[480, 479, 479], &[1, 2, 3, 4, 5, 6, 7, 8]] {
			let files: Vec<_> = (0..rows.len() as u32).map(|seed| file(&layout, seed)).collect();
			let parts: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
			let weights = federation::weights(rows);
			let whole = federation::aggregate(&layout, &weights, 0, &parts).unwrap();
			let found = made(&layout, rows);
			assert_eq!(found.file, whole);
			assert_eq!(found.root, blob::Chunked::new(&whole).root);
		}
	}

	#[test]
	fn a_model_of_another_length_is_refused() {
		let layout = layout();
		let error = Mean::new(&layout, &[1]).take(H256::zero(), &[0; 9]).unwrap_err();
		assert!(error.to_string().contains("has 9 bytes"), "{error}");
	}

	#[test]
	fn what_is_false_is_found_and_opened() {
		let layout = layout();
		let true_one = made(&layout, &[3, 5]);
		assert_eq!(true_one.differs_at(&true_one.file), None);
		assert_eq!(true_one.lies_about(&true_one.pieces), None);
		for at in [0, 1_023, 1_024, true_one.file.len() - 1] {
			let mut other = true_one.file.clone();
			other[at] ^= 1;
			let chunk = true_one.differs_at(&other).unwrap();
			assert_eq!(chunk, at as u64 / CHUNK_BYTES);
			let root = Made::of(&layout, other.clone()).unwrap().root;
			assert_eq!(opening(&other, chunk).unwrap().verify(&root, layout.size, chunk), Ok(()));
		}
		let mut said = true_one.pieces.clone();
		said[4] = H256::zero();
		let number = true_one.lies_about(&said).unwrap();
		assert_eq!(number, 4);
		let (bytes, siblings) = piece(&layout, &true_one.file, number).unwrap();
		let shown = &federation::pieces(&layout)[4];
		let chunks = shown.chunks().zip(bytes.chunks(1_024));
		assert_eq!(content::verify_many(&true_one.content, layout.size, chunks, &siblings), Ok(()));
		assert_eq!(shown.value_in(&bytes), Ok(true_one.pieces[4]));
		assert!(piece(&layout, &true_one.file, 99).is_err());
	}
}
