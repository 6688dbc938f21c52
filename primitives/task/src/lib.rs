//! Deterministic tasks: what is computed, how a run is committed to, and how two runs that differ are
//! compared until a chain can decide by executing one step.
//!
//! A *task* is a WebAssembly module and an input, both named by their [hashes](File). In the form
//! [`Form::Step`] the module takes a state to the next one, so many times, and the input is the first
//! state. In the form [`Form::Map`] it takes each index, with the input, to a record, and no index looks at
//! another. A state is nothing but bytes, and what a step may use is [bounded](Limits), so whoever has the
//! module and the state before a step can say what comes after it. A [fault](StateId::Fault) is a result.
//!
//! - [`spec`]: what is computed, and what is offered for it;
//! - [`offer`]: the terms that follow from what somebody offers;
//! - [`state`]: names of states, and records of maps;
//! - [`trace`]: all states of a run under one root;
//! - [`claim`]: what a replica says that a task results in, and its commitment to that;
//! - [`descent`]: two traces that differ, narrowed to the first step after which they do;
//! - [`views`]: what clients ask a chain.
//!
//! Everything here is a pure function and `no_std`. The machine that executes steps is another crate's.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
	not(test),
	deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

extern crate alloc;

pub mod claim;
pub mod descent;
pub mod offer;
pub mod spec;
pub mod state;
pub mod trace;
pub mod views;

pub use claim::{Claim, Ends};
pub use descent::{Descent, Narrowed, Nodes, FAN, FAN_LEVELS};
pub use offer::Offer;
pub use spec::{Bounds, File, Form, Limits, TaskSpec, TaskTerms};
pub use state::{Call, Fault, StateId};
pub use trace::Trace;
pub use trainyard_protocol::{bets::TaskId, H256};
