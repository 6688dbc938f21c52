//! What keeps a recorder from saying what a dispute asks for.

use crate::{
	bundle::{BundleError, FileError},
	data::DataError,
};
use primitive_types::H256;
use std::path::PathBuf;
use trainyard_court::Refused;
use trainyard_engine::EngineError;
use trainyard_protocol::content::OpeningError;

/// Why a recorder cannot say what a dispute asks for. None of it is an answer.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
	/// The rows are not those that the specification names.
	#[error("the rows that were given have the root {found:?}, and dataset.rows is {expected:?}")]
	Rows {
		/// The root of what was given.
		found: H256,
		/// The specification's.
		expected: H256,
	},
	/// The rows cannot be hashed.
	#[error(transparent)]
	Data(#[from] DataError),
	/// Rows in a file cannot be read.
	#[error("cannot read the rows of the data: {0}")]
	ReadRows(#[from] std::io::Error),
	/// The result commits to no such checkpoint.
	#[error("the result commits to no checkpoint {checkpoint}")]
	NoCheckpoint {
		/// Index of the checkpoint.
		checkpoint: u32,
	},
	/// The job has no such segment.
	#[error("the job has no segment {segment}")]
	NoSegment {
		/// The segment.
		segment: u32,
	},
	/// The state of a checkpoint is not here.
	#[error(
		"the state of checkpoint {checkpoint} is missing: there is no {}. Get it from who has the \
		 bundle",
		.path.display()
	)]
	MissingState {
		/// Index of the checkpoint.
		checkpoint: u32,
		/// Where it should be.
		path: PathBuf,
	},
	/// A file is not the state of its checkpoint.
	#[error("{} is not the state of checkpoint {checkpoint}: {why}", .path.display())]
	WrongState {
		/// Index of the checkpoint.
		checkpoint: u32,
		/// The file.
		path: PathBuf,
		/// What was found.
		why: String,
	},
	/// The blob that stands for a state was not given, or it is not as long as such a file.
	#[error("the blob that stands for a state of checkpoint {state} is missing, or no such file")]
	Blob {
		/// Index of the checkpoint.
		state: u32,
	},
	/// The result claims other bits than those to which the recorder comes.
	#[error(
		"{what} of checkpoint {checkpoint} is another one than the result claims: it was computed \
		 again from the checkpoint before, so the claim is false, or this machine computes wrong"
	)]
	OtherThanClaimed {
		/// Index of the checkpoint, or of the last leaf of a result that diverged.
		checkpoint: u32,
		/// What is another one.
		what: &'static str,
	},
	/// The same was computed twice, and came to different bits.
	#[error(
		"step {step} came to other bits when it was computed again: this machine computes wrong. \
		 Check its memory"
	)]
	Disagrees {
		/// The step, from 0.
		step: u32,
	},
	/// A part cannot be computed or opened.
	#[error("cannot compute what the dispute asks for: {0}")]
	Part(Refused),
	/// A chunk cannot be opened.
	#[error("cannot open what the dispute asks for: {0}")]
	Opening(OpeningError),
	/// The engine failed.
	#[error(transparent)]
	Engine(#[from] EngineError),
	/// The bundle cannot be read.
	#[error(transparent)]
	Bundle(#[from] BundleError),
	/// A file cannot be read or written.
	#[error(transparent)]
	File(#[from] FileError),
	/// Stopped on request.
	#[error("stopped before what the dispute asks for was computed")]
	Stopped,
}

impl From<Refused> for RecordError {
	fn from(error: Refused) -> Self {
		RecordError::Part(error)
	}
}

impl From<OpeningError> for RecordError {
	fn from(error: OpeningError) -> Self {
		RecordError::Opening(error)
	}
}
