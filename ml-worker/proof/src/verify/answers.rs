//! What a trainer answers to who lacks pieces of its result, from its bundle.

use super::VerifyError;
use crate::{
	bundle::{files, manifest::checkpoint_file, Bundle},
	data::contents_of,
	inputs::Inputs,
};
use std::{ops::Range, path::Path};
use trainyard_program::{samples, spec::CheckedSpec};
use trainyard_protocol::{
	accusation::LeafContent,
	blob::{chunk_count, Chunked},
	content, merkle,
	pieces::{Answer, Leaf, LeavesPart, Piece, PieceSizes},
	state::{ExpectedTensor, TensorDigest, TensorProof},
	H256,
};

/// An answer, and what is stored for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
	/// What is said.
	pub answer: Answer,
	/// The blobs that hold the piece, and the chunks of each that do.
	pub blobs: Vec<(Vec<u8>, Range<u32>)>,
}

/// Returns what the sizes of the pieces of a job's results follow from; of its samples, where trainers keep all states.
pub fn sizes_of(spec: &CheckedSpec) -> PieceSizes {
	let dataset = &spec.dataset;
	PieceSizes {
		state: crate::bundle::max_checkpoint_bytes(spec),
		train_rows: dataset.train_rows,
		validation_rows: dataset.validation_rows,
		features: dataset.features,
		labels_per_row: dataset.labels_per_row(),
		samples: samples::chunks_of_state(spec).saturating_mul(samples::CHUNK_BYTES),
		keep_every: 1,
	}
}

/// Returns the leaf of this checkpoint among all, with its path; `None` where there is no such checkpoint.
fn leaf(leaves: &[LeafContent], hashes: &[H256], index: u32) -> Option<Leaf> {
	match leaves.get(index as usize)? {
		LeafContent::Checkpoint(checkpoint) => {
			let path = merkle::proof(hashes, index as usize)?.try_into().ok()?;
			Some(Leaf { index, checkpoint: *checkpoint, path })
		}
		LeafContent::Diverged(_) => None,
	}
}

/// Returns what shows the state of this checkpoint under the root of the bundle in `dir`; `None` where it
/// has no such checkpoint.
pub fn state_leaf(dir: &Path, checkpoint: u32) -> Result<Option<Leaf>, VerifyError> {
	let leaves = Bundle::open(dir)?.shown_leaves()?;
	let hashes: Vec<H256> = leaves.iter().map(LeafContent::leaf).collect();
	Ok(leaf(&leaves, &hashes, checkpoint))
}

/// Returns answers with these pieces of the result whose whole bundle is in `dir`: one for each, but for
/// leaves, of which there is one for each part. `inputs` reads the data of the job, where rows are among
/// them. A piece that the result has not is left out.
pub fn answers(
	dir: &Path,
	spec: &CheckedSpec,
	pieces: &[Piece],
	inputs: impl FnOnce() -> Result<Inputs, VerifyError>,
) -> Result<Vec<Prepared>, VerifyError> {
	let bundle = Bundle::open(dir)?;
	let leaves = bundle.shown_leaves()?;
	let hashes: Vec<H256> = leaves.iter().map(LeafContent::leaf).collect();
	let leaf = |index: u32| leaf(&leaves, &hashes, index);
	let whole = |bytes: Vec<u8>| {
		let chunks = chunk_count(bytes.len() as u64).unwrap_or(u32::MAX);
		(bytes, 0..chunks)
	};
	let is_rows = |piece: &Piece| matches!(piece, Piece::Rows { .. });
	let contents = match pieces.iter().any(is_rows) {
		true => Some(
			contents_of(&inputs()?.data, &spec.dataset).map_err(crate::inputs::InputError::from)?,
		),
		false => None,
	};
	let mut prepared = Vec::new();
	for piece in pieces {
		match *piece {
			Piece::Leaves => {
				let parts = (0..).map_while(|part| LeavesPart::of(&leaves, part));
				let answer = |part| Prepared { answer: Answer::Leaves(part), blobs: Vec::new() };
				prepared.extend(parts.map(answer));
			}
			Piece::Rows { from, to } => {
				let Some(contents) = &contents else { continue };
				let spans = sizes_of(spec).spans(from, to).into_iter();
				let blobs = spans
					.filter_map(|span| Some((contents.get(span.content)?.clone(), span.chunks)))
					.collect();
				let hashes = contents.each_ref().map(|bytes| content::hash(bytes));
				let answer = Answer::Rows { from, to, contents: hashes };
				prepared.push(Prepared { answer, blobs });
			}
			// No answer brings them.
			Piece::Samples => {}
			Piece::State(index) => {
				let Some((leaf, step)) = leaf(index).zip(spec.checkpoint_step(index)) else {
					continue;
				};
				let bytes = files::read(&dir.join(checkpoint_file(step)), u64::MAX - 1)?;
				let answer = Answer::State { leaf, blob: Chunked::new(&bytes).root };
				prepared.push(Prepared { answer, blobs: vec![whole(bytes)] });
			}
			Piece::Tensor { checkpoint, index } => {
				let Some((leaf, step)) = leaf(checkpoint).zip(spec.checkpoint_step(checkpoint))
				else {
					continue;
				};
				let Some(expected) = ExpectedTensor::all(spec).into_iter().nth(index as usize)
				else {
					continue;
				};
				let state = bundle.checkpoint(step)?;
				let digests = state.iter().map(|(name, tensor)| {
					let shape = tensor.shape.clone();
					let hash = content::hash(&content::le_bytes(&tensor.data));
					TensorDigest::of_f32(name.clone(), shape, hash)
				});
				let proof = TensorProof::new(digests.collect(), &expected.name);
				let Some((proof, tensor)) = proof.zip(state.get(&expected.name)) else { continue };
				let Ok(path) = proof.path.try_into() else { continue };
				let answer = Answer::Tensor { leaf, index, content: proof.tensor.content, path };
				let blobs = vec![whole(content::le_bytes(&tensor.data))];
				prepared.push(Prepared { answer, blobs });
			}
		}
	}
	Ok(prepared)
}
