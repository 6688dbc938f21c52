//! The long-running roles, and what they share.
//!
//! A daemon keeps no queue and listens to no events: at each best block it looks at the
//! jobs on chain and at its own files, decides by a pure function what is missing, and does
//! that. So it can be killed, restarted and disconnected at any moment, and a transaction
//! that was lost is simply missing at the next block.
//!
//! The loop of all roles is in [`run`], over [`blocks`]. A role adds its own rules:
//!
//! - [`plan`] and [`trainer`]: apply, train, commit, reveal, store, rescue.
//! - [`verifier`]: fetch, replay, commit, reveal.
//! - [`whistleblower`]: fetch, replay, accuse.
//! - [`driller`]: enlist, compute units, commit, reveal; [`units`] sees a unit through, for
//!   drillers and for verifiers that recompute.
//! - [`work`] plays all of these in one process, for the owner of a machine.
//!
//! What they share:
//!
//! - [`machine`]: cores and memory, where several roles share them.
//! - [`disputes`] plays what is disputed at the court, for trainers, verifiers and whistleblowers.
//! - [`common`]: becoming a trainer, and the files of a job.
//! - [`http`] serves bundles and data; [`fetch`] downloads them, and [`openings`] parts of checkpoints.
//! - [`replay`] starts a process for each replay, under a limit of memory.
//! - [`store`] keeps what must survive; [`tasks`] runs what takes long; [`report`] and [`display`]
//!   report it to people and programs, and [`metrics`] to Prometheus.
//!
//! [`submit`] posts a job and follows it. It is no role: it ends with its job.

pub mod blocks;
pub mod common;
pub mod display;
pub mod disputes;
pub mod driller;
pub mod fetch;
pub mod http;
pub mod job;
pub mod machine;
pub mod metrics;
pub mod openings;
pub mod plan;
mod recent;
pub mod replay;
pub mod report;
pub mod run;
pub mod store;
pub mod submit;
pub mod tasks;
pub mod trainer;
pub mod units;
pub mod verifier;
pub mod whistleblower;
pub mod work;

use trainyard_client::JobView;
use trainyard_program::spec::{CheckedSpec, SpecError};

/// The specification of a job on chain. The chain took it, so that it is valid there; here it is
/// checked by the rules of this program, before anything is computed from it.
fn checked(job: &JobView) -> Result<CheckedSpec, SpecError> {
	job.spec.clone().check()
}
