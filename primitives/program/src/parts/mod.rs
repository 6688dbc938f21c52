//! Parts: operators taken apart until every element can be computed alone.
//!
//! An operator of [`crate::ops`] may compute a lot for one element of its result: a layer norm reads
//! its row three times. Its parts do not. Of a part, every element is one *chain*, a fold over terms
//! that can stop and go on after any of them ([`Accumulator`]), and a rest that reads a few numbers.
//! What lies between the parts, such as the means of the rows, are tensors of their own
//! ([`expand`]).
//!
//! [`element`] computes one element, and reads what it needs through [`Inputs`]. The reference
//! executor reads tensors in memory. A referee reads proved openings of tensors, and the same function
//! fails where one is missing. So there is one definition of each operator, and a dispute over any
//! number ends in a stretch of one chain.
//!
//! - [`Part`] are the parts, [`expand`] takes an operator apart, [`PartList`] a whole program;
//! - [`stretch`] says how long a piece of a chain can be by the bytes of what it reads;
//! - `chain` is what a chain holds; `element`, `rows`, `images` and `each` compute.

mod chain;
mod each;
mod element;
mod expand;
mod images;
mod kind;
mod list;
mod rows;
mod stretch;
#[cfg(test)]
mod tests;

pub use chain::Accumulator;
pub use each::dropout_threshold;
pub use element::{advance, element, finish, start, terms, Inputs, Moment, PartError};
pub use expand::{expand, Expanded};
pub use kind::{Norm, Part};
pub use list::{PartList, PartOp};
pub use stretch::{
	opening_bytes, reads, stretch, stretch_bytes, stretches, Reach, Read, Storage, CHUNK_ELEMENTS,
	MAX_REST_READS, MAX_STRETCH,
};
