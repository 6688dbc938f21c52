//! What a party holds.

use crate::{
	game::types::{Moment, Witness},
	referee::proving::Holder,
};
use alloc::vec::Vec;
use trainyard_protocol::{
	bundle::{Checkpoint, Evaluation},
	content,
	merkle::Frontier,
	trace, H256,
};

/// A state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateAt {
	/// That of the checkpoint of this index, as the run commits to it; of checkpoint 0 what the party
	/// computed itself.
	Checkpoint(u32),
	/// What a segment comes to after so many steps of the job, from the state with which it begins.
	Steps {
		/// The segment.
		segment: u32,
		/// Steps done, in the job.
		steps: u32,
	},
}

/// A slice of an evaluation: the bytes of the losses of its labels, and of what says which of them are
/// predicted.
pub type SliceBytes = (Vec<u8>, Vec<u8>);

/// The slices of an evaluation, hashed once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slices {
	bytes: Vec<SliceBytes>,
	contents: Vec<(H256, H256)>,
	leaves: Vec<H256>,
}

impl Slices {
	/// Hashes slices, all of an evaluation and in order.
	pub fn new(bytes: Vec<SliceBytes>) -> Self {
		let content =
			|(losses, correct): &SliceBytes| (content::hash(losses), content::hash(correct));
		let contents: Vec<_> = bytes.iter().map(content).collect();
		let leaf = |(slice, (losses, correct))| trace::slice_leaf(slice, losses, correct);
		let leaves = (0..).zip(contents.iter().map(|(a, b)| (a, b))).map(leaf).collect();
		Self { bytes, contents, leaves }
	}

	/// Returns their bytes.
	pub fn bytes(&self) -> &[SliceBytes] {
		&self.bytes
	}

	/// Returns the content hashes of losses and of correct labels, by slice.
	pub fn contents(&self) -> &[(H256, H256)] {
		&self.contents
	}

	/// Returns their leaves.
	pub fn leaves(&self) -> &[H256] {
		&self.leaves
	}
}

/// What a party holds of a run, or can compute again. Bytes are those that are hashed, contents their
/// hashes. `None` is what it does not have: beyond the end of its run, for example, which for an honest
/// party is also where training diverged. Whatever is large is lent to a function, so that it need not
/// be copied.
pub trait Record {
	/// A computation.
	type Computed<'a>: Holder
	where
		Self: 'a;

	/// Returns all checkpoints to which its result commits, as they are under its bundle root: those that
	/// are forced to be false among them.
	fn checkpoints(&self) -> &[Checkpoint];

	/// Returns the leaves under its bundle root.
	fn leaves(&self) -> Vec<H256>;

	/// Returns the hash of a state.
	fn state(&self, at: StateAt) -> Option<H256>;

	/// Returns the contents of the tensors of a state, in the order of `StateTensors`.
	fn contents(&self, at: StateAt) -> Option<Vec<H256>>;

	/// Lends the bytes of a tensor of a state.
	fn tensor<T>(&self, at: StateAt, tensor: u32, read: impl FnOnce(&[u8]) -> T) -> Option<T>;

	/// Returns the frontier of the leaves of the steps of a segment before step `to`.
	fn steps(&self, segment: u32, to: u32) -> Option<Frontier>;

	/// Returns loss and content of the logits of a step.
	fn step(&self, segment: u32, step: u32) -> Option<(f32, H256)>;

	/// Returns the results of a step or of a slice, with what they were computed from.
	fn computed(&self, at: &Moment) -> Option<Self::Computed<'_>>;

	/// Lends the slices of the evaluation of a checkpoint, or of the state at the end of a segment in
	/// which training diverged.
	fn slices<T>(&self, checkpoint: u32, read: impl FnOnce(&Slices) -> T) -> Option<T>;

	/// Returns this evaluation, infinite or NaN as it may be.
	fn evaluation(&self, checkpoint: u32) -> Option<Evaluation>;

	/// Returns the step of a segment in which training diverged, or the one after the last where that
	/// was noticed at its end, and what is not finite.
	fn divergence(&self, segment: u32) -> Option<(u32, Witness)>;

	/// Returns what is not finite among the results of a step, where training diverged in it.
	fn witness(&self, segment: u32, step: u32) -> Option<Witness>;

	/// Lends the bytes of the model file.
	fn model<T>(&self, read: impl FnOnce(&[u8]) -> T) -> Option<T>;

	/// Returns the contents of the tensors of the file that stands for a rescued state.
	fn stored_contents(&self, state: u32) -> Option<Vec<H256>>;

	/// Lends the bytes of a tensor of it.
	fn stored<T>(&self, state: u32, tensor: u32, read: impl FnOnce(&[u8]) -> T) -> Option<T>;

	/// Lends the bytes of that file.
	fn blob<T>(&self, read: impl FnOnce(&[u8]) -> T) -> Option<T>;

	/// Returns the contents of the parameters with which a fine-tuning begins, in the order of
	/// `StateTensors`.
	fn parameters(&self) -> Option<Vec<H256>>;

	/// Lends the bytes of one of them.
	fn parameter<T>(&self, tensor: u32, read: impl FnOnce(&[u8]) -> T) -> Option<T>;
}
