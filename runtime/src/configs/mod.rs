//! How the pallets are configured, one file for each subject.

pub mod audits;
#[cfg(feature = "runtime-benchmarks")]
pub mod benchmarks;
pub mod bets;
pub mod court;
pub mod drilling;
pub mod federation;
pub mod fees;
pub mod market;
pub mod money;
pub mod periods;
pub mod pools;
pub mod session;
pub mod sets;
pub mod stints;
pub mod swarm;
pub mod system;
pub mod tasks;
pub mod tools;
