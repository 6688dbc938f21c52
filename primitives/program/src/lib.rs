//! What a job is and what it computes: the specification, the [`ops::Program`] that it lowers to,
//! the count of its work, and a scalar executor that defines what each operator means.
//!
//! - [`spec`] is a job as its submitter writes it, and what makes it valid;
//! - [`lower`] turns a specification into programs: one for a training step, one for an
//!   evaluation, and the tensors of its state;
//! - [`ops`] are the operators of programs, with the FLOP of each;
//! - [`work`] counts a job, [`units`] says what the count is worth;
//! - [`thinning`] says which states of a run its trainer keeps;
//! - [`needs`] counts what it asks of a machine, and says how much it may ask;
//! - [`init`], [`order`] and [`schedule`] are its initial state, the order of its rows and its
//!   learning rate, each a pure function of seed and index;
//! - [`reachable`] bounds the states that an honest run can have;
//! - [`parts`] takes operators apart until every element can be computed alone: their definition;
//! - [`mod@reference`] executes a program by it, in memory: what kernels are tested against.
//!
//! Everything here is a pure function of its arguments, `no_std`, free of panics and identical in
//! the runtime's wasm and in the worker.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

extern crate alloc;

pub mod init;
pub mod lower;
pub mod needs;
pub mod ops;
pub mod order;
pub mod parts;
pub mod reachable;
pub mod reference;
pub mod samples;
pub mod schedule;
pub mod spec;
pub mod text;
pub mod thinning;
pub mod units;
pub mod work;

pub use primitive_types::H256;
pub use text::Text;
pub use units::MicroUt;
