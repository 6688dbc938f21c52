//! What the sides say: leaves and ends, posts and openings.

use super::{ChunkBytes, Contents, Peaks, Place, Roots, Witness};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_protocol::{forced::Forced, H256};

stored! {
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

	/// Returns the leaf `index` of its result, where the defendant has opened it as forced.
	fn forced(&self, _index: u32) -> Option<Forced> {
		None
	}
}

/// One thing that was said, for whoever keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
	/// These digests were posted at a place.
	Posted(Place, Roots),
	/// This was opened at a place.
	Opened(Place, Opened),
}
