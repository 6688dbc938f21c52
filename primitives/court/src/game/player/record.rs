//! What a party holds.

use crate::{
	game::types::{Moment, Witness},
	referee::proving::Holder,
};
use alloc::vec::Vec;
use trainyard_protocol::{
	bundle::{Checkpoint, Evaluation},
	H256,
};

/// A slice of an evaluation: the bytes of the losses of its labels, and of what says which of them are
/// predicted.
pub type SliceBytes = (Vec<u8>, Vec<u8>);

/// What a party holds of a run, or can compute again. Bytes are those that are hashed, contents their
/// hashes. `None` is what it does not have: beyond the end of its run, for example, which for an honest
/// party is also where training diverged.
pub trait Record {
	/// A computation in memory.
	type Holder: Holder;

	/// Returns all checkpoints to which its result commits.
	fn checkpoints(&self) -> &[Checkpoint];

	/// Returns the leaves under its bundle root.
	fn leaves(&self) -> Vec<H256>;

	/// Returns the hash of the state after so many steps.
	fn state(&self, steps: u32) -> Option<H256>;

	/// Returns the bytes of the tensors of this state, in the order of `StateTensors`.
	fn tensors(&self, steps: u32) -> Option<Vec<Vec<u8>>>;

	/// Returns loss and content of the logits of a step.
	fn step(&self, step: u32) -> Option<(f32, H256)>;

	/// Returns the results of a step or of a slice, with what they were computed from.
	fn computed(&self, at: &Moment) -> Option<&Self::Holder>;

	/// Returns the slices of the evaluation of a checkpoint, or of the state at the end of a segment in
	/// which training diverged.
	fn slices(&self, checkpoint: u32) -> Option<Vec<SliceBytes>>;

	/// Returns this evaluation, infinite or NaN as it may be.
	fn evaluation(&self, checkpoint: u32) -> Option<Evaluation>;

	/// Returns the step in which training diverged, or the one after the last of a segment where that
	/// was noticed at its end, and what is not finite.
	fn divergence(&self) -> Option<(u32, Witness)>;

	/// Returns the bytes of the model file.
	fn model(&self) -> Vec<u8>;

	/// Returns the bytes of a tensor of the file that stands for a rescued state.
	fn stored(&self, state: u32, tensor: u32) -> Option<Vec<u8>>;

	/// Returns the bytes of that file.
	fn blob(&self) -> Option<Vec<u8>>;

	/// Returns the bytes of the parameters with which a fine-tuning begins, in the order of
	/// `StateTensors`.
	fn parameters(&self) -> Vec<Vec<u8>>;
}
