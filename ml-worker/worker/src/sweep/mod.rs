//! Sweeps: sets of jobs that differ in seeds or hyperparameters, and population-based training.
//!
//! - [`file`](mod@file) reads SWEEP.toml, and makes the members of a job;
//! - [`cost`] says what a set costs, and completes what is offered;
//! - [`follow`] follows a set to its end, and shows what its members score;
//! - [`tell`] says what happened, and lays out the table.

pub mod cost;
pub mod file;
pub mod follow;
pub mod tell;
