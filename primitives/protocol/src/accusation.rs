//! What somebody is accused of: the target of a dispute, what is claimed instead, and the leaves of the
//! bundle that show what the accused said.

use crate::{
	bundle::{Checkpoint, Diverged, Evaluation},
	merkle::MAX_PROOF,
	H256,
};
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use serde::{Deserialize, Serialize};

/// Most hashes of a path, and most peaks of a [frontier](crate::merkle::Frontier): binary digits of the
/// number of leaves.
pub const MAX_PEAKS: u32 = MAX_PROOF as u32;
/// Hashes of a path, from the leaf upwards; or peaks of a frontier, the largest first.
pub type Peaks = BoundedVec<H256, ConstU32<MAX_PEAKS>>;
/// The leaves that an accusation shows.
pub type Leaves = BoundedVec<Leaf, ConstU32<2>>;

/// What is said to be false.
#[derive(
	Clone,
	Copy,
	Debug,
	PartialEq,
	Eq,
	PartialOrd,
	Ord,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
	Serialize,
	Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Target {
	/// The initial state of a result and its evaluation: leaf 0.
	Start,
	/// The end of a segment of a result: leaf `segment + 1`, computed from leaf `segment`.
	Segment(u32),
	/// The number of segments of a result, which follows from the validation losses by the rule for an
	/// early stop.
	Stop,
	/// The model file of a result: the parameters of its last state.
	Model,
	/// The blob that a trainer stored as the file of a state of its result.
	Rescue {
		/// Root of the blob.
		blob: H256,
		/// Index of the checkpoint.
		state: u32,
	},
	/// The end of a segment that a seat revealed, computed from leaf `segment` of the result that it
	/// replayed.
	Evidence(u32),
}

/// What a segment, or the start, comes to: what a leaf of a bundle says, but for the step of a
/// checkpoint, which follows from its index.
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
pub enum End {
	/// A checkpoint.
	Checkpoint {
		/// Hash of the state.
		state: H256,
		/// Its evaluation.
		evaluation: Evaluation,
		/// The [sealed](crate::trace::seal) trace.
		trace: H256,
	},
	/// Training diverged.
	Diverged(Diverged),
}

/// What a challenger says instead.
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
pub enum Claimed {
	/// This end, of `Target::Start`, `Target::Segment` and `Target::Evidence`.
	End(End),
	/// Something else, of all other targets.
	Other,
}

/// What a leaf of a bundle says.
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
pub enum LeafContent {
	/// A checkpoint.
	Checkpoint(Checkpoint),
	/// Training diverged after the last checkpoint.
	Diverged(Diverged),
}

/// A leaf of a bundle, and the proof that it is one.
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
pub struct Leaf {
	/// What it says.
	pub content: LeafContent,
	/// The path from the leaf to the bundle root.
	pub path: Peaks,
}

impl End {
	/// Returns what a leaf of a checkpoint says.
	pub fn of(checkpoint: &Checkpoint) -> Self {
		let Checkpoint { state, evaluation, trace, .. } = *checkpoint;
		End::Checkpoint { state, evaluation, trace }
	}
}

impl LeafContent {
	/// Returns the leaf.
	pub fn leaf(&self) -> H256 {
		match self {
			LeafContent::Checkpoint(checkpoint) => checkpoint.leaf(),
			LeafContent::Diverged(diverged) => diverged.leaf(),
		}
	}

	/// Returns the end of a segment that it says.
	pub fn end(&self) -> End {
		match self {
			LeafContent::Checkpoint(checkpoint) => End::of(checkpoint),
			LeafContent::Diverged(diverged) => End::Diverged(*diverged),
		}
	}
}

#[cfg(test)]
mod tests {
	use super::*;

	/// Frozen: challenges bind these bytes, and clients in other languages build them by hand.
	#[test]
	fn layout() {
		let (one, two) = (H256([1; 32]), H256([2; 32]));
		assert_eq!(Target::Start.encode(), [0]);
		assert_eq!(Target::Segment(258).encode(), [1, 2, 1, 0, 0]);
		assert_eq!((Target::Stop.encode(), Target::Model.encode()), (vec![2], vec![3]));
		let rescue = [&[4][..], &[1; 32], &[2, 1, 0, 0]].concat();
		assert_eq!(Target::Rescue { blob: one, state: 258 }.encode(), rescue);
		assert_eq!(Target::Evidence(258).encode(), [5, 2, 1, 0, 0]);
		let evaluation = Evaluation::new(1.5, 7, 9);
		let end = End::Checkpoint { state: one, evaluation, trace: two };
		let bytes = [&[0, 0][..], &[1; 32], &evaluation.encode(), &[2; 32]].concat();
		assert_eq!(Claimed::End(end).encode(), bytes);
		let end = End::Diverged(Diverged { step: 258, trace: two });
		assert_eq!(Claimed::End(end).encode(), [&[0, 1, 2, 1, 0, 0][..], &[2; 32]].concat());
		assert_eq!(Claimed::Other.encode(), [1]);
		let checkpoint = Checkpoint { step: 258, state: one, evaluation, trace: two };
		let content = LeafContent::Checkpoint(checkpoint);
		assert_eq!((content.leaf(), content.end()), (checkpoint.leaf(), End::of(&checkpoint)));
		let path = vec![one].try_into().unwrap();
		let leaf = [&[0][..], &checkpoint.encode(), &[4], &[1; 32]].concat();
		assert_eq!(Leaf { content, path }.encode(), leaf);
	}
}
