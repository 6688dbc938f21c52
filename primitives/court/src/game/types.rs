//! Where a dispute can stand, and what is said there.

use crate::referee::{Computation, MeanStretch, StopStretch, Stretch};
use alloc::vec::Vec;
use bounded_collections::{BoundedVec, ConstU32};
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_protocol::{
	bundle::{Checkpoint, Diverged, Evaluation},
	content::Node,
	H256,
};

/// Most parts into which a range is divided, and so most digests of a post.
pub const FAN: u32 = 64;
/// Levels of the tree of a content between a node and its parts: `2^LEVELS` is [`FAN`].
pub const LEVELS: u32 = 6;
/// Most peaks of a [frontier](trainyard_protocol::merkle::Frontier): binary digits of its count.
pub const MAX_PEAKS: u32 = 32;
/// Most tensors of a state: 64 layers of 8 parameters, each with two moments, and two powers of beta.
pub const MAX_TENSORS: u32 = 64 * 8 * 3 + 2;
/// Bytes of a chunk of a content.
pub const MAX_CHUNK: u32 = 1_024;
/// Most results that a step, or a slice of an evaluation, of a job with a court may have: their
/// contents are brought all at once, in 208 KiB.
pub const MAX_RESULTS: u32 = 6_656;
/// Digests of a post.
pub type Roots = BoundedVec<H256, ConstU32<FAN>>;
/// Peaks of a frontier, the largest first.
pub type Peaks = BoundedVec<H256, ConstU32<MAX_PEAKS>>;
/// The bytes of a chunk of a content, or none.
pub type ChunkBytes = BoundedVec<u8, ConstU32<MAX_CHUNK>>;
/// The contents of all tensors of a state, in the order of
/// [`lower::state`](trainyard_program::lower::state), or none.
pub type Contents = BoundedVec<H256, ConstU32<MAX_TENSORS>>;

/// Derives what everything has that is stored on chain.
macro_rules! stored {
	($($item:item)*) => {$(
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
		)]
		$item
	)*};
}

/// Derives the same, and what names have.
macro_rules! name {
	($($item:item)*) => {stored! {$(
		#[derive(Copy, PartialOrd, Ord)]
		$item
	)*}};
}

name! {
	/// What is said to be false.
	pub enum Target {
		/// The initial state of a result and its evaluation: leaf 0.
		Start,
		/// The end of a segment of a result: leaf `segment + 1`, computed from leaf `segment`.
		Segment(u32),
		/// The number of segments of a result, which follows from the validation losses by the rule
		/// for an early stop.
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
		/// The end of a segment that a seat revealed, computed from leaf `segment` of the result that
		/// it replayed.
		Evidence(u32),
	}

	/// What tensors a place is about, and when they are computed.
	pub enum Moment {
		/// The tensors of the initial state.
		Initial,
		/// The tensors of the state of a checkpoint, of which a blob is said to be the file.
		Stored {
			/// Index of the checkpoint.
			state: u32,
		},
		/// The model file, a content like that of a tensor.
		Model,
		/// The results of a step.
		Step {
			/// The segment.
			segment: u32,
			/// The step, from 0 in the job.
			step: u32,
		},
		/// The results of a slice of an evaluation.
		Slice {
			/// Index of the checkpoint that is evaluated.
			checkpoint: u32,
			/// The slice, from 0.
			slice: u32,
		},
	}

	/// A place in what a defendant says that it computed. What is posted or opened at a place follows
	/// from the defendant's result, or evidence, and from what it posted above; so it is the same in
	/// every dispute with this defendant.
	///
	/// Ranges are of what comes between two digests: the digest `from` stands before the first, the
	/// digest `to` after the last.
	pub enum Place {
		/// What a target consists of. Opened; of [`Target::Segment`] and [`Target::Evidence`] with a
		/// post of the milestones within the segment, of [`Target::Start`] and [`Target::Rescue`] with
		/// one that the chain computes, of the results roots over the tensors of the state.
		Ends {
			/// The target.
			target: Target,
		},
		/// The steps `from` to `to`. Post: [milestones](trainyard_protocol::court::milestone). One
		/// step is opened.
		Steps {
			/// The segment.
			segment: u32,
			/// Steps done before.
			from: u32,
			/// Steps done after.
			to: u32,
		},
		/// The slices `from` to `to` of an evaluation. Post: prefix roots over the
		/// [leaves](trainyard_protocol::trace::slice_leaf) of slices. One slice is opened.
		Slices {
			/// Index of the checkpoint that is evaluated.
			checkpoint: u32,
			/// Slices before.
			from: u32,
			/// Slices after.
			to: u32,
		},
		/// The results `from` to `to`. Post: prefix roots over [their
		/// leaves](trainyard_protocol::court::result_leaf); of all results also the last one. One
		/// result is opened.
		Results {
			/// Whose results.
			at: Moment,
			/// Results before.
			from: u32,
			/// Results after.
			to: u32,
		},
		/// A node of the tree over the content of a result. Post: the values of its parts.
		Content {
			/// Whose results.
			at: Moment,
			/// Index of the result.
			result: u32,
			/// The node.
			node: Node,
		},
		/// A chunk of the content of a result. Opened.
		Chunk {
			/// Whose results.
			at: Moment,
			/// Index of the result.
			result: u32,
			/// Index of the chunk.
			chunk: u64,
		},
		/// The terms `from` to `to` of the chain of an element. Post: [what the chain
		/// holds](trainyard_protocol::court::chain); of all terms also after the last one.
		Chain {
			/// Whose results.
			at: Moment,
			/// Index of the result.
			result: u32,
			/// Index of the element.
			element: u64,
			/// Terms before.
			from: u64,
			/// Terms after.
			to: u64,
		},
		/// The slices `from` to `to` on the way to the mean of an evaluation. Post: [the
		/// mean](trainyard_protocol::court::mean) so far; of all slices also after the last one.
		Mean {
			/// Index of the checkpoint that is evaluated.
			checkpoint: u32,
			/// Slices before.
			from: u32,
			/// Slices after.
			to: u32,
		},
		/// The checkpoints `from` to `to` under the rule for an early stop. Post: [what the rule
		/// holds](trainyard_protocol::court::stop); of all checkpoints also after the last one.
		Stops {
			/// Checkpoints before.
			from: u32,
			/// Checkpoints after.
			to: u32,
		},
	}

	/// A number that is infinite or NaN where a training that goes on has none.
	pub enum Witness {
		/// An element of a result of a step: of the loss, infinite or NaN, or of a tensor of the next
		/// state, NaN.
		Result {
			/// Index of the result.
			result: u32,
			/// The element.
			element: u64,
		},
		/// An element of the state at the end of a segment, infinite or NaN.
		State {
			/// Index of the tensor in [`lower::state`](trainyard_program::lower::state).
			tensor: u32,
			/// The element.
			element: u64,
		},
		/// The loss of the evaluation at the end of a segment, infinite or NaN.
		Evaluation {
			/// The evaluation.
			evaluation: Evaluation,
			/// Root over the leaves of its slices.
			slices: H256,
		},
	}

	/// Who is to move. Whoever is and does not loses by its clock.
	pub enum Turn {
		/// The defender: something is to be posted or opened.
		Defender,
		/// The challenger: it names the first claim that it denies.
		Challenger,
		/// A piece is left. Either side may bring the openings; the defender loses if nobody does.
		Piece,
	}
}

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
		/// This end, of [`Target::Start`], [`Target::Segment`] and [`Target::Evidence`].
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
		/// [`Place::Ends`] of [`Target::Start`].
		Start {
			/// Root over the leaves of the slices of the evaluation.
			slices: H256,
		},
		/// [`Place::Ends`] of [`Target::Rescue`].
		Stored,
		/// [`Place::Ends`] of [`Target::Model`].
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
		/// The contents of all tensors of the state, where the ends of [`Target::Start`] or of
		/// [`Target::Rescue`] are opened; otherwise none.
		pub contents: Contents,
		/// The only chunk of a result whose content has one, where that result is opened and is to be
		/// narrowed to an element; otherwise none.
		pub chunk: ChunkBytes,
		/// The post of the place to which this leads; none where it takes no post.
		pub roots: Roots,
	}

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
		/// At [`Place::Ends`], which are to be opened.
		Ends,
		/// At [`Place::Ends`] of a segment that ends in a checkpoint.
		Segment {
			/// Root over the leaves of its steps.
			steps: H256,
			/// Root over the leaves of the slices of the evaluation.
			slices: H256,
		},
		/// At [`Place::Ends`] of a segment that is said to diverge.
		Diverged {
			/// Hash of the state before the step in which that was noticed, or at the end.
			state: H256,
			/// Root over the leaves of the steps before.
			steps: H256,
			/// What is not finite.
			witness: Witness,
		},
		/// At [`Place::Ends`] of [`Target::Start`], or of [`Target::Rescue`], which has no slices.
		Tensors {
			/// Root over the leaves of the slices of the evaluation.
			slices: Option<H256>,
		},
		/// At [`Place::Steps`].
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
		/// At [`Place::Slices`].
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
		/// At [`Place::Results`].
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
		/// At [`Place::Content`] or, of a single chunk, at [`Place::Chunk`].
		Content {
			/// Whose content.
			owner: Owner,
			/// The node.
			node: Node,
			/// Its value. Denied.
			value: H256,
		},
		/// At [`Place::Chain`].
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
		/// At [`Place::Mean`].
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
		/// At [`Place::Stops`].
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

/// What a defendant has posted and opened so far, in all disputes together.
pub trait Said {
	/// Returns the digests that were posted at a place.
	fn posted(&self, place: &Place) -> Option<Roots>;

	/// Returns what was opened at a place.
	fn opened(&self, place: &Place) -> Option<Opened>;
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
	pub(super) fn ended(outcome: Outcome) -> Self {
		Self { next: Next::Ended(outcome), said: Vec::new() }
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

impl End {
	/// Returns what a leaf of a checkpoint says.
	pub fn of(checkpoint: &Checkpoint) -> Self {
		let Checkpoint { state, evaluation, trace, .. } = *checkpoint;
		End::Checkpoint { state, evaluation, trace }
	}
}

impl Moment {
	/// Returns the computation whose results these are; `None` where they are none's.
	pub fn computation(&self) -> Option<Computation> {
		match *self {
			Moment::Step { step, .. } => Some(Computation::Step { step }),
			Moment::Slice { slice, .. } => Some(Computation::Slice { slice }),
			Moment::Initial | Moment::Stored { .. } | Moment::Model => None,
		}
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

#[cfg(test)]
mod tests {
	use super::*;

	/// A pallet has 64 disputes of a defendant in its state, and a post for each place.
	#[test]
	fn what_is_stored_is_small() {
		let sizes = [Stage::max_encoded_len(), Place::max_encoded_len(), Opened::max_encoded_len()];
		println!("stage, place, opened: {sizes:?} bytes at most");
		assert!(sizes[0] <= 450 && sizes[1] <= 48 && sizes[2] <= 1_228, "{sizes:?}");
		assert_eq!(1 << LEVELS, FAN);
	}
}
