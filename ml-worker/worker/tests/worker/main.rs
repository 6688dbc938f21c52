//! Tests of the command `trainyard` as a user calls it, in one binary.

mod bench;
mod commands;
mod common;
mod data;
mod faults;
mod fine_tuning;
mod kernels;
mod kill;
mod ranks;
mod replay;
mod task;
mod train;
mod verify;
