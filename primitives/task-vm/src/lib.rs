//! Tasks in WebAssembly: what a module may be, its meter, and the machine that executes one step.
//!
//! A *task* is a WebAssembly module and an input. The module has `step`, which makes the next state of a state, or
//! `map`, which makes a result of an index; states and results are bytes. Whoever executes a step, on any machine and by
//! any engine, comes to the same bytes, the same fuel, or the same [`Fault`]:
//!
//! - [`prepare`] refuses what could differ (imports, threads, SIMD) or take too long to compile, and writes the meter
//!   *into* the module: fuel and the depth of calls are counted by the module's own instructions, in two globals. So an
//!   engine needs no meter, and its version changes nothing;
//! - results of float operations that are NaN are canonical (the deterministic profile of WebAssembly 3.0), which the
//!   engines do;
//! - [`Machine`] executes each step in a fresh instance by an interpreter, `wasmi`, on a worker as in the chain's runtime.
//!   With the feature `native`, `native::Machine` does the same by `wasmtime`, as native code.
//!
//! `docs/tasks.md` says how modules are written.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

extern crate alloc;

mod limits;
mod machine;
#[cfg(feature = "native")]
pub mod native;
mod outcome;
mod prepare;
#[cfg(test)]
mod tests;

pub use limits::{Limits, MAX_FUEL, MAX_MEMORY_PAGES, MAX_MODULE_BYTES, MAX_STATE_BYTES, PAGE};
pub use machine::{execute, Call, Machine};
pub use outcome::{Broken, Fault, Outcome, Returned};
pub use prepare::{prepare, Facts, Kind, Prepared, Refused};
