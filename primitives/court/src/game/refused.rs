//! Why a move is refused.

use crate::case;
use core::fmt;

/// Why a move is refused. It changes nothing, and clocks go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
	/// The result, or the evidence, has nothing that such a dispute could be about.
	NoSuchTarget,
	/// The leaves are not those that the target needs, or are not under the bundle root.
	WrongLeaves,
	/// What is claimed is no end where the target has one, or one where it has none; or it is what the
	/// leaf says.
	NothingDenied,
	/// It is not the turn for such a move.
	NotNow,
	/// The dispute stands at another place than the move is for.
	WrongPlace,
	/// What is brought was said before: the dispute only has to go on.
	AlreadySaid,
	/// The place takes so many digests.
	WrongCount {
		/// How many.
		expected: u32,
	},
	/// The values of the parts of a content do not merge into it.
	WrongRoots,
	/// What is opened does not lead to what was agreed and to what was denied.
	WrongOpening,
	/// There are not as many claims.
	NoSuchClaim,
	/// No such number makes a training diverge.
	NoSuchWitness,
	/// What was said before is not there.
	Unsaid,
	/// The specification has no such computation, or one that has no court.
	Computation(case::Refused),
	/// The referee does not decide.
	Piece(case::Refused),
}

impl From<case::Refused> for Refused {
	fn from(error: case::Refused) -> Self {
		Refused::Computation(error)
	}
}

impl fmt::Display for Refused {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			Refused::NoSuchTarget => "there is no such target",
			Refused::WrongLeaves => "the leaves are not those of the target",
			Refused::NothingDenied => "the challenger claims nothing else than the defendant",
			Refused::NotNow => "it is not the turn for this move",
			Refused::WrongPlace => "the dispute stands at another place",
			Refused::AlreadySaid => "this was posted or opened before",
			Refused::WrongCount { expected } => {
				return write!(f, "this place takes {expected} digests");
			}
			Refused::WrongRoots => "the parts do not merge into the content",
			Refused::WrongOpening => {
				"what is opened does not lead from what was agreed to what was denied"
			}
			Refused::NoSuchClaim => "there are fewer claims",
			Refused::NoSuchWitness => "no such number makes a training diverge",
			Refused::Unsaid => "what was said before is missing",
			Refused::Computation(error) | Refused::Piece(error) => return error.fmt(f),
		})
	}
}

impl core::error::Error for Refused {}
