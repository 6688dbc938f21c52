//! What a job reads: data and labels, and the model that a fine-tuning begins with.

use super::{checked::ensure, SpecError, MAX_DATASET_BYTES, MAX_WIDTH};
use crate::{Text, H256};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// The location of an [initial model](InitialModel) that is a blob of the chain: whoever needs it asks a
/// node, or somebody who has it.
pub const ON_CHAIN: &str = "chain:";

/// A file, by content.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct FileRef {
	/// `blake2_256` of the file; of a file [on chain](ON_CHAIN), the root of its blob.
	pub content_hash: H256,
	/// Length of the file in bytes, 1 to [`MAX_DATASET_BYTES`].
	pub bytes: u64,
	/// Where it can be fetched: an `http://`, `https://`, `iroh://`, `s3://`, `gs://` or `hf://` URL, or
	/// [`ON_CHAIN`].
	pub location: Text,
}

/// The model that a fine-tuning begins with.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct InitialModel {
	/// A `model.safetensors` with the parameters of the job's model.
	pub file: FileRef,
	/// The state hash of these parameters alone (`state_hash` in `trainyard_protocol::state`). The
	/// court opens them by it; they must be those of the file.
	pub parameters: H256,
}

/// What a job reads a file for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputFile {
	/// [`JobSpec::dataset`](super::JobSpec::dataset).
	Data,
	/// [`Dataset::labels`].
	Labels,
	/// [`JobSpec::initial_model`](super::JobSpec::initial_model).
	InitialModel,
}

/// Labelled rows. Row `i` (from 0) is a validation row when
/// `i mod validation_every = validation_every - 1`, and a training row otherwise.
#[derive(
	Clone,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
	/// `blake2_256` of the file; of a file [on chain](ON_CHAIN), the root of its blob.
	pub content_hash: H256,
	/// Length of the file in bytes, 1 to [`MAX_DATASET_BYTES`].
	pub bytes: u64,
	/// Where it can be fetched: an `http://`, `https://`, `iroh://`, `s3://`, `gs://` or `hf://` URL, or
	/// [`ON_CHAIN`].
	pub location: Text,
	/// How to read it.
	pub format: DataFormat,
	/// Rows that train; must match the file.
	pub train_rows: u32,
	/// Rows that validate; must match the file.
	pub validation_rows: u32,
	/// One row in this many validates; at least 2.
	pub validation_every: u32,
	/// Inputs of a row; for text, the context.
	pub features: u32,
	/// Classes; labels are 0 to `classes - 1`. For text, the vocabulary.
	pub classes: u32,
	/// Every input is divided by this (binary32 division); 1 for tokens.
	pub feature_divisor: u32,
	/// The labels, where they are a separate file: with [`DataFormat::Idx`], and only with it.
	#[serde(default)]
	pub labels: Option<FileRef>,
	/// What happens to the inputs after the division.
	#[serde(default)]
	pub normalization: Normalization,
	/// The rows root: what training reads, decoded from the files, divided and normalised (`Rows` in
	/// `trainyard_protocol::rows`). The court opens rows by it; it must be that of the files.
	pub rows: H256,
}

/// File formats. CSV and IDX files may be compressed by gzip; hash and length are those of the
/// file as it is.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum DataFormat {
	/// Comma-separated decimal numbers after one header line, label last.
	CsvLabelLast,
	/// Comma-separated decimal numbers after one header line, label first. Labels are whole
	/// numbers, written in any way (`1.000000000000000000e+00`).
	CsvLabelFirst,
	/// Text, one token for each byte. Tokens number the bytes that occur in the file, in ascending
	/// order. Row `i` is as many tokens as there are features, from token `i features` on; its
	/// labels are the tokens one position later; a last, shorter row is dropped.
	Text,
	/// Two files in the format of MNIST (LeCun, Cortes and Burges 1998): inputs `[rows, ..]`, and
	/// labels `[rows]` in [`Dataset::labels`].
	Idx,
	/// A NumPy array file: `[rows, features + 1]`, label last.
	Npy,
	/// A NumPy archive with the arrays `x` of `[rows, ..]` and `y` of `[rows]`, or with the arrays
	/// `x_train` and `y_train`.
	Npz,
	/// A safetensors file with the tensors `x` of `[rows, ..]` and `y` of `[rows]`.
	Safetensors,
	/// A Parquet file of columns of numbers, the label in the last one.
	Parquet,
	/// A Parquet file of columns of numbers, the label in the first one.
	ParquetLabelFirst,
}

/// What happens to inputs before they train, after the division by [`Dataset::feature_divisor`].
#[derive(
	Clone,
	Copy,
	Debug,
	Default,
	PartialEq,
	Eq,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Normalization {
	/// Nothing.
	#[default]
	None,
	/// From each feature its mean over the training rows is subtracted, and the difference is
	/// divided by its standard deviation over them (by 1 where that is zero).
	Standard,
}

impl InputFile {
	/// Returns the field of the specification that names it.
	pub fn field(self) -> &'static str {
		match self {
			InputFile::Data => "dataset",
			InputFile::Labels => "dataset.labels",
			InputFile::InitialModel => "initial_model",
		}
	}
}

impl FileRef {
	/// Returns whether hash, length and location are such that the file can be fetched.
	pub fn is_valid(&self) -> bool {
		self.is_sized() && self.location.is_location()
	}

	/// Returns whether the file is a blob of the chain: its hash is the root of that, and its location
	/// [`ON_CHAIN`].
	pub fn is_on_chain(&self) -> bool {
		self.location.0.as_slice() == ON_CHAIN.as_bytes()
	}

	/// Returns whether hash and length are such that the file can be recognised.
	pub(super) fn is_sized(&self) -> bool {
		self.content_hash != H256::zero() && (1..=MAX_DATASET_BYTES).contains(&self.bytes)
	}
}

impl Dataset {
	/// Returns the file of the rows.
	pub fn file(&self) -> FileRef {
		FileRef {
			content_hash: self.content_hash,
			bytes: self.bytes,
			location: self.location.clone(),
		}
	}

	/// Returns the labels of a row: one, or of text one for each token.
	pub fn labels_per_row(&self) -> u32 {
		match self.format {
			DataFormat::Text => self.features,
			_ => 1,
		}
	}

	/// Checks the rules that need nothing but the dataset, and fails with the first violation.
	pub(super) fn check(&self) -> Result<(), SpecError> {
		ensure(self.content_hash != H256::zero(), SpecError::NoContentHash)?;
		ensure(self.bytes > 0, SpecError::EmptyDataset)?;
		ensure(self.bytes <= MAX_DATASET_BYTES, SpecError::DatasetTooLarge)?;
		ensure(self.location.is_location() || self.file().is_on_chain(), SpecError::BadLocation)?;
		let apart = self.format == DataFormat::Idx;
		let labels = self.labels.as_ref();
		let named = |file: &FileRef| file.is_valid() || (file.is_on_chain() && file.is_sized());
		ensure(labels.is_some() == apart && labels.is_none_or(named), SpecError::BadLabels)?;
		ensure(self.validation_every >= 2, SpecError::BadSplit)?;
		let rows = u64::from(self.train_rows).saturating_add(u64::from(self.validation_rows));
		let validating = rows.checked_div(u64::from(self.validation_every));
		ensure(
			self.validation_rows > 0 && validating == Some(u64::from(self.validation_rows)),
			SpecError::RowsDisagree,
		)?;
		ensure((1..=MAX_WIDTH).contains(&self.features), SpecError::BadFeatures)?;
		ensure((2..=MAX_WIDTH).contains(&self.classes), SpecError::BadClasses)?;
		ensure(self.feature_divisor > 0, SpecError::ZeroDivisor)?;
		let plain = self.feature_divisor == 1 && self.normalization == Normalization::None;
		ensure(self.format != DataFormat::Text || plain, SpecError::TokensDisagree)?;
		ensure(self.rows != H256::zero(), SpecError::NoRowsRoot)
	}
}
