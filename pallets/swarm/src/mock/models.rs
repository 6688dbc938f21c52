//! What is trained: the job, files of models, and slices of rows.

use super::*;
use trainyard_program::spec::{FileRef, InitialModel, JobSpec, ON_CHAIN};
use trainyard_protocol::{
	blob, content,
	federation::{self, PartData, Pieces},
	model_file::Layout,
	swarm::Model,
};

/// What is trained: the digits in one segment, from a model on chain.
pub fn template() -> JobSpec {
	let mut spec = trained();
	let file = on_chain(&model_file(0));
	spec.initial_model = Some(InitialModel { file, parameters: parameters(&model_file(0)) });
	spec
}

/// The same without its model: half of the rows validate.
fn trained() -> JobSpec {
	let mut spec = JobSpec::example();
	spec.training.steps = spec.training.checkpoint_interval;
	spec.training.input_noise_nano = 1_000_000;
	let data = &mut spec.dataset;
	(data.train_rows, data.validation_rows, data.validation_every) = (LABELS, LABELS, 2);
	spec
}

pub fn layout() -> Layout {
	Layout::of(&trained().check().unwrap())
}

/// A file of the model, whose numbers follow from `seed`.
pub fn model_file(seed: u32) -> Vec<u8> {
	let layout = layout();
	let mut bytes = layout.header.clone();
	let mut at = 0u32;
	while (bytes.len() as u64) < layout.size {
		at += 1;
		bytes.extend_from_slice(&((seed * 31 + at) as f32 / 1_024.0).to_le_bytes());
	}
	bytes
}

/// The mean of two files.
pub fn mean(one: &[u8], two: &[u8]) -> Vec<u8> {
	federation::aggregate(&layout(), &federation::weights(&[1, 1]), 0, &[one, two]).unwrap()
}

pub fn root(file: &[u8]) -> H256 {
	blob::root_of(file.len() as u64, &content::hash(file))
}

/// The values of the pieces of a file.
pub fn pieces(file: &[u8]) -> Pieces {
	Pieces::truncate_from(federation::piece_values(&layout(), file).unwrap())
}

pub fn parameters(file: &[u8]) -> H256 {
	federation::parameters(&layout(), &pieces(file)).unwrap()
}

pub fn model(file: &[u8]) -> Model {
	Model { root: root(file), parameters: parameters(file) }
}

fn on_chain(file: &[u8]) -> FileRef {
	FileRef { content_hash: root(file), bytes: file.len() as u64, location: text(ON_CHAIN) }
}

/// Puts a file on chain; returns its root.
pub fn store(bytes: &[u8]) -> H256 {
	let root = root(bytes);
	Stored::mutate(|all| all.insert(root, FakeBlob { bytes: bytes.to_vec(), is_complete: true }));
	root
}

/// The file of slice `number`.
pub fn slice_file(number: u32) -> Vec<u8> {
	(0..5_000u32).map(|at| (at * 7 + number) as u8).collect()
}

/// The rows of slice `number`.
pub fn slice(number: u32) -> PartData {
	PartData {
		file: on_chain(&slice_file(number)),
		labels: None,
		train_rows: LABELS,
		validation_rows: LABELS,
		rows: H256::from_low_u64_be(u64::from(number) + 1),
	}
}

pub fn slices(numbers: Range<u32>) -> crate::NewSlices {
	crate::NewSlices::truncate_from(numbers.map(slice).collect())
}
