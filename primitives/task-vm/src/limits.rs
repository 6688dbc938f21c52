//! What a step may take, and what any step may take at most.

use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use scale_info::TypeInfo;

/// Bytes in a page of a memory, as WebAssembly has them.
pub const PAGE: u32 = 65_536;

/// Most fuel of a step. `docs/decisions/0037-tasks-in-wasm.md` says how it follows from a quarter of a block.
pub const MAX_FUEL: u64 = 32_000_000;
/// Most pages of a memory: 8 MiB. The runtime's allocator gives 32 MiB at once and no more, and a memory that grows is
/// copied.
pub const MAX_MEMORY_PAGES: u32 = 128;
/// Most bytes of a state, an input or a result.
pub const MAX_STATE_BYTES: u32 = 65_536;
/// Most bytes of a module.
pub const MAX_MODULE_BYTES: u32 = 65_536;

/// What a step of a task may take. The module is refused, or the step ends with a [`Fault`](crate::Fault), where it
/// would be more.
#[derive(
	Clone,
	Copy,
	PartialEq,
	Eq,
	Debug,
	Encode,
	Decode,
	DecodeWithMemTracking,
	MaxEncodedLen,
	TypeInfo,
)]
pub struct Limits {
	/// Fuel of a step.
	pub fuel: u64,
	/// Pages of 64 KiB of the module's memory.
	pub memory_pages: u32,
	/// Bytes of a state, of the input, and of a result.
	pub state_bytes: u32,
	/// Bytes of the module.
	pub module_bytes: u32,
}

impl Limits {
	/// The most that a task can ask for.
	pub const MAX: Self = Self {
		fuel: MAX_FUEL,
		memory_pages: MAX_MEMORY_PAGES,
		state_bytes: MAX_STATE_BYTES,
		module_bytes: MAX_MODULE_BYTES,
	};

	/// Returns whether each limit is at least one and no more than [`Limits::MAX`] has.
	pub fn are_possible(&self) -> bool {
		let within = |value: u64, most: u64| (1..=most).contains(&value);
		within(self.fuel, MAX_FUEL)
			&& within(self.memory_pages.into(), MAX_MEMORY_PAGES.into())
			&& within(self.state_bytes.into(), MAX_STATE_BYTES.into())
			&& within(self.module_bytes.into(), MAX_MODULE_BYTES.into())
	}
}
