//! What disputes are about, and the places in it.

use super::Target;
use crate::referee::Computation;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;
use trainyard_protocol::{bundle::Evaluation, content::Node, H256};

name! {
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
