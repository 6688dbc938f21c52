//! The command `trainyard-node`.

use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// Compiling a runtime takes 100 MiB and more for a moment. Unlike the allocators of most systems,
/// this one gives them back; and importing blocks is faster with it.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
	match trainyard_node::command::run() {
		Ok(()) => ExitCode::SUCCESS,
		Err(error) => {
			eprintln!("Error: {error}");
			ExitCode::FAILURE
		}
	}
}
