//! What the sides say: leaves and ends, posts and openings.

use super::{ChunkBytes, Contents, Peaks, Place, Roots, Witness};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_protocol::{
	bundle::{Checkpoint, Diverged, Evaluation},
	H256,
};

stored! {
	/// What a segment, or the start, comes to: what a leaf of a bundle says, but for the step of a
	/// checkpoint, which follows from its index.
	#[derive(Copy)]
	pub enum End {
		/// A checkpoint.
		Checkpoint {
			/// Hash of the state.
			state: H256,
			/// Its evaluation.
			evaluation: Evaluation,
			/// The [sealed](trainyard_protocol::trace::seal) trace.
			trace: H256,
		},
		/// Training diverged.
		Diverged(Diverged),
	}

	/// What a challenger says instead.
	#[derive(Copy)]
	pub enum Claimed {
		/// This end, of `Target::Start`, `Target::Segment` and `Target::Evidence`.
		End(End),
		/// Something else, of all other targets.
		Other,
	}

	/// What a leaf of a bundle says.
	#[derive(Copy)]
	pub enum LeafContent {
		/// A checkpoint.
		Checkpoint(Checkpoint),
		/// Training diverged after the last checkpoint.
		Diverged(Diverged),
	}

	/// A leaf of a bundle, and the proof that it is one.
	pub struct Leaf {
		/// What it says.
		pub content: LeafContent,
		/// The path from the leaf to the bundle root.
		pub path: Peaks,
	}

	/// What an opening shows at a place, and what is kept of it. The counts of frontiers follow from
	/// the place.
	#[allow(clippy::large_enum_variant)] // There are few at a time, and all are stored.
	pub enum Opened {
		/// [`Place::Ends`] of a segment that ends in a checkpoint.
		Segment {
			/// Frontier of the leaves of its steps.
			steps: Peaks,
			/// Root over the leaves of the slices of the evaluation.
			slices: H256,
		},
		/// [`Place::Ends`] of a segment in which training is said to diverge.
		Diverged {
			/// Hash of the state before the step in which that was noticed, or at the end.
			state: H256,
			/// Frontier of the leaves of the steps before.
			steps: Peaks,
			/// What is not finite.
			witness: Witness,
		},
		/// [`Place::Ends`] of `Target::Start`.
		Start {
			/// Root over the leaves of the slices of the evaluation.
			slices: H256,
		},
		/// [`Place::Ends`] of `Target::Rescue`.
		Stored,
		/// [`Place::Ends`] of `Target::Model`.
		Model {
			/// Content hash of the model file.
			content: H256,
		},
		/// One step.
		Step {
			/// Hash of the state before it.
			state: H256,
			/// Frontier of the leaves of the steps before it in this segment.
			steps: Peaks,
			/// Hash of the state after it.
			after: H256,
			/// Bits of the loss.
			loss: u32,
			/// Content hash of the logits.
			logits: H256,
		},
		/// One slice of an evaluation.
		Slice {
			/// Content hash of the losses of its labels.
			losses: H256,
			/// Content hash of what says which of them are predicted.
			correct: H256,
			/// Frontier of the leaves of the slices before it.
			slices: Peaks,
		},
		/// One result.
		Result {
			/// Its content hash.
			content: H256,
			/// Frontier of the leaves of the results before it.
			results: Peaks,
		},
		/// One chunk of a content.
		Chunk {
			/// Its bytes.
			bytes: ChunkBytes,
		},
	}

	/// What a defender brings to open a place.
	pub struct Opening {
		/// What is kept.
		pub opened: Opened,
		/// The contents of all tensors of the state, where the ends of `Target::Start` or of
		/// `Target::Rescue` are opened; otherwise none.
		pub contents: Contents,
		/// The only chunk of a result whose content has one, where that result is opened and is to be
		/// narrowed to an element; otherwise none.
		pub chunk: ChunkBytes,
		/// The post of the place to which this leads; none where it takes no post.
		pub roots: Roots,
	}
}

/// What a defendant has posted and opened so far, in all disputes together.
pub trait Said {
	/// Returns the digests that were posted at a place.
	fn posted(&self, place: &Place) -> Option<Roots>;

	/// Returns what was opened at a place.
	fn opened(&self, place: &Place) -> Option<Opened>;
}

/// One thing that was said, for whoever keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
	/// These digests were posted at a place.
	Posted(Place, Roots),
	/// This was opened at a place.
	Opened(Place, Opened),
}

impl End {
	/// Returns what a leaf of a checkpoint says.
	pub fn of(checkpoint: &Checkpoint) -> Self {
		let Checkpoint { state, evaluation, trace, .. } = *checkpoint;
		End::Checkpoint { state, evaluation, trace }
	}
}
