//! What a dispute is about, and what a referee says.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;
use trainyard_program::{parts::PartError, spec::CheckedSpec};
use trainyard_protocol::{bundle::Evaluation, content::OpeningError, H256};

/// The computation that a dispute is about: everything that it follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
	/// What is trained, on what, and how.
	pub spec: CheckedSpec,
	/// The assignment seed.
	pub seed: H256,
}

/// What a referee found out about what a defendant said. A piece that is decided has one; one that
/// cannot be decided from its openings is [`Refused`].
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
pub enum Verdict {
	/// It is so: the challenger denied what is true.
	Same,
	/// It is not so: the defendant is convicted.
	Other {
		/// What the computation gives.
		found: Value,
		/// What the defendant said.
		claimed: Value,
	},
}

impl Verdict {
	/// Compares what was found with what was claimed.
	pub fn of(found: Value, claimed: Value) -> Self {
		match found == claimed {
			true => Verdict::Same,
			false => Verdict::Other { found, claimed },
		}
	}

	/// Returns whether the defendant is right.
	pub fn is_same(&self) -> bool {
		*self == Verdict::Same
	}
}

/// What a piece comes to.
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
pub enum Value {
	/// A digest or a hash.
	Digest(H256),
	/// The bits of a number.
	Bits(u32),
	/// An evaluation.
	Evaluation(Evaluation),
	/// Segments of a result; none where training goes on.
	Segments(Option<u32>),
}

/// Why a referee does not decide. Nothing follows from it: whoever has to bring the openings may
/// bring others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
	/// The piece is none of this case: it names a tensor, an element, a step or a range that there is
	/// not.
	NoSuchPiece,
	/// An element that is read was not opened.
	Missing {
		/// The number of the tensor in the program that the piece belongs to, those between parts
		/// included.
		tensor: u32,
		/// The element.
		index: u64,
	},
	/// What was opened is more than [`MAX_OPENINGS`](crate::referee::MAX_OPENINGS) bytes.
	TooLong,
	/// Something was opened that the piece does not read.
	LeftOver,
	/// A tensor was opened twice.
	Twice,
	/// A hash or a list does not lead to what was agreed, or there are too few of them.
	WrongOpening,
	/// Chunks are not of their tensor.
	Chunks(OpeningError),
	/// A number was opened that is a NaN by other bits than the canonical ones.
	NotCanonical,
	/// The part cannot be computed from what it reads.
	Part(PartError),
}

impl From<PartError> for Refused {
	fn from(error: PartError) -> Self {
		Refused::Part(error)
	}
}

impl fmt::Display for Refused {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			Refused::NoSuchPiece => f.write_str("there is no such piece of this training"),
			Refused::Missing { tensor, index } => {
				write!(f, "element {index} of tensor {tensor} was not opened")
			}
			Refused::TooLong => f.write_str("the openings are too long"),
			Refused::LeftOver => f.write_str("something was opened that the piece does not read"),
			Refused::Twice => f.write_str("a tensor was opened twice"),
			Refused::WrongOpening => {
				f.write_str("an opening does not lead to what was agreed, or is not whole")
			}
			Refused::Chunks(error) => write!(f, "opening of a tensor: {error}"),
			Refused::NotCanonical => {
				f.write_str("opening of a tensor: it shows a NaN that is not 7FC00000")
			}
			Refused::Part(error) => error.fmt(f),
		}
	}
}

impl core::error::Error for Refused {}
