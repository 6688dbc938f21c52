//! The command `trainyard`.

use clap::Parser;
use mimalloc::MiMalloc;
use std::process::ExitCode;

/// A training step frees what it allocates, megabytes at a time. The allocators of most
/// systems hand such memory back and fetch it again, page by page, which takes longer than the
/// arithmetic of a small model.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
	trainyard_worker::cli::Cli::parse().main()
}
