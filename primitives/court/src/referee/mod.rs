//! The referee: decides about a piece of a training from openings.
//!
//! A piece is small: a [stretch](stretch()) of the chain of one element of one result, or a join of
//! hashes. What was agreed before it is given, and so is what the defendant said that it comes to.
//! The openings are what it reads, with the proofs that they are of what was agreed. What is
//! malformed is [`Refused`](crate::Refused), and nothing follows from it; otherwise the function
//! computes and compares.
//!
//! | piece | function | openings |
//! |---|---|---|
//! | a stretch of a chain, or an element | [`stretch()`] | [`StretchOpening`] |
//! | state, loss and logits after a step; losses and correct labels of a slice | [`step_join`], [`slice_join`] | the contents of all results |
//! | the mean of an evaluation | [`mean()`] | [`MeanOpening`] |
//! | the rule for an early stop | [`stop()`] | [`StopOpening`] |
//! | an element of the initial state | [`initial()`] | [`Tensors`] |
//! | a chunk of the model file | [`model`] | [`Tensors`] |
//! | a chunk of a state that was stored as a blob, or of the header of its file | [`stored`], [`stored_header`] | content hash of the blob, and [`Chunks`] |
//! | a number past which no training goes on | [`not_finite`], [`not_finite_in_state`] | [`Tensors`] |
//!
//! Results are numbered as the parts of a computation ([`Lowered`]), tensors of a state in the order of
//! [`StateTensors`].

mod cost;
mod files;
mod finite;
mod initial;
mod joins;
mod lowered;
mod mean;
mod openings;
pub mod proving;
mod state;
mod stop;
mod stretch;
#[cfg(test)]
mod tests;

pub use cost::{Cost, Work};
pub use files::{model, model_chunks, state_file, stored, stored_chunks, stored_header};
pub use finite::{ends_training, not_finite, not_finite_in_state};
pub use initial::initial;
pub use joins::{results_root, slice_join, state_after, step_join, SliceEnd, StepEnd};
#[cfg(any(test, feature = "testing"))]
pub(crate) use lowered::Words;
pub use lowered::{Computation, Lowered, Origin};
pub use mean::{mean, mean_slices, MeanStretch, MeanTo};
pub use openings::{
	CheckpointOpening, Chunks, MeanOpening, Openings, SliceOpening, Source, StopOpening,
	StretchOpening, TensorOpening, Tensors,
};
pub use state::StateTensors;
pub use stop::{stop, Committed, StopStretch, STOP_STRETCH};
pub use stretch::{stretch, Agreed, Stretch, To};

/// Most bytes of the openings of a piece, SCALE-encoded: 240 KiB.
pub const MAX_OPENINGS: usize = 240 * 1024;

/// Most bytes that the chunks of a stretch take, with the hashes beside them: 200 KiB. The rest is for
/// what comes before the first term and after the last, and for the paths of the tensors.
pub const STRETCH_BYTES: u64 = 200 * 1024;
