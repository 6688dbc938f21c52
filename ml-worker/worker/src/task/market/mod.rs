//! Tasks on chain: what is offered for one, who computes and audits it, and who challenges a false claim.
//!
//! - [`plan`]: what an account does about a task now, as a pure function of the chain's view;
//! - [`work`]: does it; [`role`] is a daemon that does nothing else;
//! - [`dispute`]: what is brought to the chain in a dispute;
//! - [`tell`]: tasks in words.

pub mod dispute;
pub mod plan;
pub mod role;
pub mod tell;
pub mod work;
