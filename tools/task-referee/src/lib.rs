//! What executes steps of tasks, compiled to WebAssembly as the chain's runtime is, so that its time can be measured:
//! `tools/task-referee/run`.

#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::{
	alloc::{GlobalAlloc, Layout},
	arch::wasm32,
	cell::{Cell, RefCell},
};
use codec::Encode;
use trainyard_task_vm::{prepare, Call, Limits, Machine, Prepared};

/// What this module holds between calls. It has one thread.
#[derive(Default)]
struct Held {
	module: Vec<u8>,
	state: Vec<u8>,
	outcome: Vec<u8>,
	prepared: Option<Prepared>,
	machine: Option<Machine>,
}

struct Single<T>(T);
// SAFETY: there is one thread.
unsafe impl<T> Sync for Single<T> {}

static HELD: Single<RefCell<Held>> =
	Single(RefCell::new(Held {
		module: Vec::new(),
		state: Vec::new(),
		outcome: Vec::new(),
		prepared: None,
		machine: None,
	}));

/// Gives memory and takes none back: an instance lives for one measurement.
struct Bump(Cell<(usize, usize)>);

const PAGE: usize = 65_536;

#[global_allocator]
static ALLOCATOR: Single<Bump> = Single(Bump(Cell::new((0, 0))));

// SAFETY: every piece begins where the one before it ended, inside memory that has grown.
unsafe impl GlobalAlloc for Single<Bump> {
	unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
		let (mut free, mut end) = self.0 .0.get();
		if end == 0 {
			end = wasm32::memory_size(0) * PAGE;
			free = end;
		}
		let at = free.next_multiple_of(layout.align());
		let after = at + layout.size();
		if after > end {
			let pages = (after - end).div_ceil(PAGE) + 64;
			if wasm32::memory_grow(0, pages) == usize::MAX {
				return core::ptr::null_mut();
			}
			end += pages * PAGE;
		}
		self.0 .0.set((after, end));
		at as *mut u8
	}

	unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
	wasm32::unreachable()
}

/// Returns where the caller writes a module of so many bytes.
#[no_mangle]
pub extern "C" fn place(length: usize) -> *mut u8 {
	let mut held = HELD.0.borrow_mut();
	*held = Held { module: alloc::vec![0; length], ..Default::default() };
	held.module.as_mut_ptr()
}

/// Prepares the module; returns whether it could.
#[export_name = "prepare"]
pub extern "C" fn prepare_module() -> u32 {
	let mut held = HELD.0.borrow_mut();
	held.prepared = prepare(&held.module, &Limits::MAX).ok();
	held.prepared.is_some().into()
}

/// Compiles the module for the interpreter; returns whether it could.
#[no_mangle]
pub extern "C" fn compile() -> u32 {
	let mut held = HELD.0.borrow_mut();
	held.machine = held.prepared.take().and_then(|prepared| Machine::new(prepared).ok());
	held.machine.is_some().into()
}

/// Returns where the caller writes a state of so many bytes.
#[no_mangle]
pub extern "C" fn place_state(length: usize) -> *mut u8 {
	let mut held = HELD.0.borrow_mut();
	held.state = alloc::vec![0; length];
	held.state.as_mut_ptr()
}

/// Executes a step of the state; returns whether this machine could.
#[no_mangle]
pub extern "C" fn execute() -> u32 {
	let mut held = HELD.0.borrow_mut();
	let state = core::mem::take(&mut held.state);
	let outcome = held.machine.as_ref().and_then(|machine| machine.execute(Call::Step(&state)).ok());
	held.state = state;
	held.outcome = outcome.as_ref().map(Encode::encode).unwrap_or_default();
	outcome.is_some().into()
}

/// Returns the place of the encoded outcome in the upper half, and its length in the lower one.
#[no_mangle]
pub extern "C" fn outcome() -> u64 {
	let held = HELD.0.borrow();
	(held.outcome.as_ptr() as u64) << 32 | held.outcome.len() as u64
}
