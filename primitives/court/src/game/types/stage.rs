//! Where a dispute stands.

use super::{End, Entry, Moment, Target, Turn, Witness};
use crate::referee::{MeanStretch, StopStretch, Stretch};
use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_protocol::{bundle::Evaluation, content::Node, H256};

stored! {
	/// What tensors a dispute is about, with what is known of how they are computed.
	#[derive(Copy)]
	pub enum Scene {
		/// See [`Moment::Initial`].
		Initial,
		/// See [`Moment::Stored`].
		Stored {
			/// Index of the checkpoint.
			state: u32,
			/// Root of the blob.
			blob: H256,
		},
		/// See [`Moment::Model`].
		Model {
			/// Hash of the last state.
			state: H256,
		},
		/// See [`Moment::Step`].
		Step {
			/// The segment.
			segment: u32,
			/// The step, from 0 in the job.
			step: u32,
			/// Hash of the state before it.
			state: H256,
			/// What is said to follow from its results.
			after: After,
		},
		/// See [`Moment::Slice`].
		Slice {
			/// Index of the checkpoint that is evaluated.
			checkpoint: u32,
			/// The slice, from 0.
			slice: u32,
			/// Hash of the state that is evaluated.
			state: H256,
			/// Content hash of the losses of its labels.
			losses: H256,
			/// Content hash of what says which of them are predicted.
			correct: H256,
		},
	}

	/// What is said to follow from the results of a step.
	#[derive(Copy)]
	pub enum After {
		/// The next state, and the leaf of the step.
		Next {
			/// Hash of the next state.
			state: H256,
			/// Bits of the loss.
			loss: u32,
			/// Content hash of the logits.
			logits: H256,
		},
		/// Training diverged: this element is not finite.
		Diverged {
			/// Index of the result.
			result: u32,
			/// The element.
			element: u64,
		},
	}

	/// What a call decides: what was agreed, and what was denied.
	#[derive(Copy)]
	pub enum Piece {
		/// A stretch of the chain of an element of a result of a step or of a slice, or the rest of
		/// the element, or all of it.
		Stretch {
			/// The moment of the result: a step or a slice.
			at: Moment,
			/// Hash of the state that is read. Agreed.
			state: H256,
			/// Prefix root over the results before this one. Agreed.
			results: H256,
			/// The stretch. Its end is denied.
			stretch: Stretch,
		},
		/// An element of the initial state.
		Initial {
			/// Index of the tensor.
			tensor: u32,
			/// The element.
			element: u64,
			/// Its bits. Denied.
			bits: u32,
		},
		/// What follows from all results of a step.
		StepJoin {
			/// The segment.
			segment: u32,
			/// The step.
			step: u32,
			/// Root over all its results. Agreed.
			results: H256,
			/// Hash of the next state. Denied, or one of the next two is.
			after: H256,
			/// Bits of the loss.
			loss: u32,
			/// Content hash of the logits.
			logits: H256,
		},
		/// What follows from all results of a slice.
		SliceJoin {
			/// Index of the checkpoint that is evaluated.
			checkpoint: u32,
			/// The slice.
			slice: u32,
			/// Root over all its results. Agreed.
			results: H256,
			/// Content hash of the losses of its labels. Denied, or the next is.
			losses: H256,
			/// Content hash of what says which of them are predicted.
			correct: H256,
		},
		/// Slices on the way to an evaluation, or the rest of it, or all of it.
		Mean {
			/// Index of the checkpoint that is evaluated.
			checkpoint: u32,
			/// Root over the leaves of all slices. Agreed.
			slices: H256,
			/// The stretch. Its end is denied.
			stretch: MeanStretch,
		},
		/// Checkpoints under the rule for an early stop.
		Stop(StopStretch),
		/// A chunk of the model file, against the parameters of the last state.
		Model {
			/// Index of the chunk.
			chunk: u64,
			/// Value of this chunk as a node of the file's content. Denied.
			value: H256,
			/// Hash of the last state. Agreed.
			state: H256,
		},
		/// A chunk of a tensor of a state, against the blob that is said to be its file.
		Stored {
			/// Root of the blob.
			blob: H256,
			/// Index of the tensor.
			tensor: u32,
			/// Index of the chunk in the tensor's content.
			chunk: u64,
			/// Value of this chunk as a node of the tensor's content. Denied.
			value: H256,
		},
		/// A chunk of the header of the blob that is said to be the file of a state.
		StoredHeader {
			/// Root of the blob.
			blob: H256,
			/// Index of the chunk.
			chunk: u64,
		},
		/// An element of a result of a step, which one side says is not finite.
		NotFinite {
			/// The segment.
			segment: u32,
			/// The step.
			step: u32,
			/// Root over all its results. Agreed.
			results: H256,
			/// Index of the result.
			result: u32,
			/// The element.
			element: u64,
			/// Whether it is the defender that says so: training diverged there. Otherwise it is the
			/// challenger: the training goes on past it.
			by_defender: bool,
		},
		/// An element of the state at the end of a segment, which one side says is not finite.
		NotFiniteState {
			/// Hash of the state. Agreed.
			state: H256,
			/// Index of the tensor.
			tensor: u32,
			/// The element.
			element: u64,
			/// As in [`Piece::NotFinite`].
			by_defender: bool,
		},
	}

	/// What is compared in a dispute. It does not change.
	#[derive(Copy)]
	pub struct Subject {
		/// What is said to be false.
		pub target: Target,
		/// The state that is agreed: that of leaf `s` of a segment `s`, the last one of
		/// [`Target::Model`], and that of the leaf of [`Target::Rescue`]. Zero where none is.
		pub begin: H256,
		/// What is denied, of [`Target::Start`], [`Target::Segment`] and [`Target::Evidence`].
		pub end: Option<End>,
	}

	/// The result whose content is narrowed.
	#[derive(Copy)]
	pub struct Owner {
		/// Whose result it is.
		pub scene: Scene,
		/// Index of the result.
		pub result: u32,
		/// Prefix root over the results before it. Agreed.
		pub before: H256,
	}

	/// Where a dispute stands: a place, and what was agreed and denied on the way to it.
	#[derive(Copy)]
	pub enum Level {
		/// At `Place::Ends`, which are to be opened.
		Ends,
		/// At `Place::Ends` of a segment that ends in a checkpoint.
		Segment {
			/// Root over the leaves of its steps.
			steps: H256,
			/// Root over the leaves of the slices of the evaluation.
			slices: H256,
		},
		/// At `Place::Ends` of a segment that is said to diverge.
		Diverged {
			/// Hash of the state before the step in which that was noticed, or at the end.
			state: H256,
			/// Root over the leaves of the steps before.
			steps: H256,
			/// What is not finite.
			witness: Witness,
		},
		/// At `Place::Ends` of [`Target::Start`], or of [`Target::Rescue`], which has no slices.
		Tensors {
			/// Root over the leaves of the slices of the evaluation.
			slices: Option<H256>,
		},
		/// At `Place::Steps`.
		Steps {
			/// Steps done before.
			from: u32,
			/// Steps done after.
			to: u32,
			/// Milestone after `from` steps.
			agreed: H256,
			/// Milestone after `to` steps.
			denied: H256,
		},
		/// At `Place::Slices`.
		Slices {
			/// Hash of the state that is evaluated.
			state: H256,
			/// Slices before.
			from: u32,
			/// Slices after.
			to: u32,
			/// Prefix root over `from` slices.
			agreed: H256,
			/// Prefix root over `to` slices.
			denied: H256,
		},
		/// At `Place::Results`.
		Results {
			/// Whose results.
			scene: Scene,
			/// Results before.
			from: u32,
			/// Results after.
			to: u32,
			/// Prefix root over `from` results.
			agreed: H256,
			/// Prefix root over `to` results; none where these are all results and the last root is
			/// posted with the others.
			denied: Option<H256>,
		},
		/// At `Place::Content` or, of a single chunk, at `Place::Chunk`.
		Content {
			/// Whose content.
			owner: Owner,
			/// The node.
			node: Node,
			/// Its value. Denied.
			value: H256,
		},
		/// At `Place::Chain`.
		Chain {
			/// Whose content.
			owner: Owner,
			/// The element.
			element: u64,
			/// Its bits. Denied.
			bits: u32,
			/// Terms before.
			from: u64,
			/// Terms after.
			to: u64,
			/// Digest after `from` terms; none at the beginning.
			agreed: Option<H256>,
			/// Digest after `to` terms; none where these are all terms.
			denied: Option<H256>,
		},
		/// At `Place::Mean`.
		Mean {
			/// Root over the leaves of all slices.
			slices: H256,
			/// The evaluation. Denied.
			evaluation: Evaluation,
			/// Slices before.
			from: u32,
			/// Slices after.
			to: u32,
			/// Digest after `from` slices; none at the beginning.
			agreed: Option<H256>,
			/// Digest after `to` slices; none where these are all slices.
			denied: Option<H256>,
		},
		/// At `Place::Stops`.
		Stops {
			/// Checkpoints before.
			from: u32,
			/// Checkpoints after.
			to: u32,
			/// Digest after `from` checkpoints; none at the beginning.
			agreed: Option<H256>,
			/// Digest after `to` checkpoints; none where these are all checkpoints.
			denied: Option<H256>,
		},
		/// At a piece.
		Judge {
			/// The piece.
			piece: Piece,
		},
	}

	/// A dispute, as far as it has come.
	#[derive(Copy)]
	pub struct Stage {
		/// What is compared.
		pub subject: Subject,
		/// Where it stands.
		pub level: Level,
		/// Who is to move.
		pub turn: Turn,
	}

	/// How a dispute ends, but for clocks, withdrawals and what happens elsewhere.
	#[derive(Copy)]
	pub enum Outcome {
		/// The defendant is convicted: what it said is false.
		Convicted,
		/// The challenger loses: it denied what is true.
		Acquitted,
	}
}

/// What a move comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
	/// Where the dispute stands now.
	pub next: Next,
	/// What the move said, to be kept for all disputes with this defendant.
	pub said: Vec<Entry>,
}

/// Where a dispute stands after a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // There is one at a time.
pub enum Next {
	/// It goes on.
	Stage(Stage),
	/// It is over.
	Ended(Outcome),
}

impl Moved {
	/// Returns the end of a dispute.
	pub(in crate::game) fn ended(outcome: Outcome) -> Self {
		Self { next: Next::Ended(outcome), said: Vec::new() }
	}
}

impl Scene {
	/// Returns the moment by which places are named.
	pub fn moment(&self) -> Moment {
		match *self {
			Scene::Initial => Moment::Initial,
			Scene::Stored { state, .. } => Moment::Stored { state },
			Scene::Model { .. } => Moment::Model,
			Scene::Step { segment, step, .. } => Moment::Step { segment, step },
			Scene::Slice { checkpoint, slice, .. } => Moment::Slice { checkpoint, slice },
		}
	}
}
