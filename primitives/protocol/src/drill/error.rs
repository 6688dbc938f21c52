//! What can be wrong with a template.

use super::{
	MAX_CHAIN_SIZE, MAX_RATES, MAX_TRIAL_BYTES, MAX_UNIT_WORK, MIN_CHAIN_SIZE, MIN_UNIT_WORK,
};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;
use trainyard_program::spec::{NoPower, SpecError};

/// What is wrong with a template.
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
)]
#[scale_info(capture_docs = "always")]
pub enum DrillError {
	/// The matrices of a chain are smaller than [`MIN_CHAIN_SIZE`] or larger than
	/// [`MAX_CHAIN_SIZE`].
	BadSize,
	/// A chain has no links.
	NoLinks,
	/// A calibration has no passes.
	NoPasses,
	/// A trial has no learning rates.
	NoRates,
	/// The job of a trial is invalid, at its least or its largest learning rate.
	Spec(SpecError),
	/// The work of a trial could be skipped, at its least or its largest learning rate: a job like
	/// it earns no power.
	NoPower(NoPower),
	/// The job of a trial may stop early, so its work is not known beforehand.
	EarlyStop,
	/// The files of a trial have more than [`MAX_TRIAL_BYTES`].
	DataTooLarge,
	/// A unit is less work than [`MIN_UNIT_WORK`].
	TooLittleWork,
	/// A unit is more work than [`MAX_UNIT_WORK`], with its evaluation.
	TooMuchWork,
	/// A trial takes more memory than a machine of [`UNIT_MACHINE`](super::UNIT_MACHINE) has for
	/// tensors.
	MemoryTooLarge,
	/// The rows of a trial's data are more bytes, decoded or as text, than such a machine takes.
	RowsTooLarge,
}

impl From<SpecError> for DrillError {
	fn from(error: SpecError) -> Self {
		DrillError::Spec(error)
	}
}

impl fmt::Display for DrillError {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			DrillError::BadSize => {
				write!(f, "the size of a chain must be {MIN_CHAIN_SIZE} to {MAX_CHAIN_SIZE}")
			}
			DrillError::NoLinks => f.write_str("a chain must have at least one link"),
			DrillError::NoPasses => f.write_str("a calibration must have at least one pass"),
			DrillError::NoRates => {
				write!(f, "a trial must have 1 to {MAX_RATES} learning rates")
			}
			DrillError::Spec(error) => write!(f, "{error} ({})", error.field()),
			DrillError::NoPower(reason) => {
				write!(f, "the job of a trial must be one whose work earns power: {reason}")
			}
			DrillError::EarlyStop => {
				f.write_str("the job of a trial must not stop early: its work must be known")
			}
			DrillError::DataTooLarge => write!(
				f,
				"the files of a trial must have at most {MAX_TRIAL_BYTES} bytes: every driller \
				 fetches them"
			),
			DrillError::TooLittleWork => write!(
				f,
				"a unit must be at least {MIN_UNIT_WORK} micro-ut of work, more than its \
				 transactions: take more links, passes or steps"
			),
			DrillError::TooMuchWork => write!(
				f,
				"a unit must be at most {MAX_UNIT_WORK} micro-ut of work: take fewer links, passes \
				 or steps, and more units; the evaluation of a trial counts here, so it may have too \
				 many validation rows"
			),
			DrillError::MemoryTooLarge => f.write_str(
				"a trial takes more memory than a machine with 8 GiB has for it: lower the batch \
				 size or the widths of the layers",
			),
			DrillError::RowsTooLarge => f.write_str(
				"the rows of a trial's data are more than a machine with 8 GiB takes, as text or \
				 when they are decoded: give it fewer rows",
			),
		}
	}
}

#[cfg(feature = "std")]
impl std::error::Error for DrillError {}
