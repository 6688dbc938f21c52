//! What executes a step of a task: the machine of `trainyard_task_vm`, by its interpreter.

use alloc::vec::Vec;
use codec::Encode;
use frame_support::weights::Weight;
use pallet_tasks::Referee;
use trainyard_task::{
	spec::{MAX_MODULE, MAX_PAGES, MAX_STATE},
	state::{self, Call, Fault, MAX_FAULT},
	Limits,
};
use trainyard_task_vm as vm;

/// Weight of a unit of fuel, in picoseconds: twice the most that `tools/task-referee/run` measured.
const FUEL: u64 = 12_000;
/// Weight of hashing, preparing and compiling the worst module, of an instance, and of what is copied: twice the
/// most that was measured.
const MODULE: u64 = 115_000_000_000;

const _: () = {
	// What a task may ask for is what the machine takes.
	assert!(MAX_MODULE == vm::MAX_MODULE_BYTES);
	assert!(MAX_STATE == vm::MAX_STATE_BYTES);
	assert!(MAX_PAGES == vm::MAX_MEMORY_PAGES);
};

/// Executes steps by an interpreter.
pub struct Machine;

/// Returns what is said of bytes that describe a fault, which are few.
fn fault(bytes: Vec<u8>) -> Fault {
	debug_assert!(bytes.len() <= MAX_FAULT as usize, "faults are short");
	Fault::truncate_from(bytes)
}

impl Referee for Machine {
	fn execute(module: &[u8], limits: &Limits, call: Call<'_>) -> Option<Result<Vec<u8>, Fault>> {
		let limits = vm::Limits {
			fuel: limits.fuel,
			memory_pages: limits.pages,
			state_bytes: limits.state,
			module_bytes: MAX_MODULE,
		};
		let call = match call {
			Call::Step { state } => vm::Call::Step(state),
			Call::Map { input, index } => vm::Call::Map(input, index.into()),
		};
		// What is refused is refused everywhere: a task of it has one result, which is this fault.
		let refused = || Some(Err(state::refused()));
		let Ok(prepared) = vm::prepare(module, &limits) else { return refused() };
		if prepared.kind() != call.kind() {
			return refused();
		}
		let Ok(machine) = vm::Machine::new(prepared) else { return refused() };
		match machine.execute(call) {
			Ok(Ok(returned)) => Some(Ok(returned.bytes)),
			Ok(Err(found)) => Some(Err(fault(found.encode()))),
			// Of this machine alone.
			Err(_) => None,
		}
	}

	fn weight(limits: &Limits) -> Weight {
		Weight::from_parts(limits.fuel.saturating_mul(FUEL).saturating_add(MODULE), 0)
	}
}
