//! Steps as native code, by wasmtime: the same results as the interpreter's.
//!
//! The prepared module carries its meter, and float results that are NaN are canonical by a setting of the compiler. So
//! there is one way in which native code can differ: a function whose native frame is larger than its slots make one
//! expect may overflow the native stack. Such a step, and any in which this engine fails, is executed by the interpreter.

use crate::{
	machine::{drive, Call, Instance, Stop},
	outcome::{Broken, Outcome},
	prepare::{exports, Kind, Prepared, Refused},
};
use alloc::string::ToString;
use wasmtime::{
	Config, Engine, Global, Memory, Module, OptLevel, Store, Trap, TypedFunc, Val,
	WasmBacktraceDetails,
};

/// Bytes of native stack that a step may use. Threads that execute steps need 1 MiB more.
pub const STACK_BYTES: usize = 3 * 1024 * 1024;

/// A module, ready to execute steps.
pub struct Machine {
	/// None where the compiler fails: the interpreter alone says which modules there are.
	module: Option<Module>,
	interpreter: crate::Machine,
}

impl Machine {
	/// Compiles a module.
	///
	/// # Errors
	///
	/// As [`crate::Machine::new`].
	pub fn new(prepared: Prepared) -> Result<Self, Refused> {
		let interpreter = crate::Machine::new(prepared)?;
		let module = compile(interpreter.prepared().bytes()).ok();
		Ok(Self { module, interpreter })
	}

	/// Returns whether it executes native code, and not the interpreter alone.
	pub fn is_native(&self) -> bool {
		self.module.is_some()
	}

	/// Returns the module that it executes.
	pub fn prepared(&self) -> &Prepared {
		self.interpreter.prepared()
	}

	/// Executes one step in a fresh instance. The thread needs [`STACK_BYTES`] of stack and 1 MiB more.
	///
	/// # Errors
	///
	/// [`Broken`] where this machine cannot. A step that traps or takes too much is no error: that is its [`Outcome`].
	pub fn execute(&self, call: Call<'_>) -> Result<Outcome, Broken> {
		let Some(module) = self.module.as_ref().filter(|_| call.kind() == self.prepared().kind)
		else {
			return self.interpreter.execute(call);
		};
		let native = Running::new(module, call.kind())
			.and_then(|mut running| drive(&mut running, self.prepared(), call));
		match native {
			Err(Broken::Engine(_)) => self.interpreter.execute(call),
			known => known,
		}
	}
}

fn compile(module: &[u8]) -> wasmtime::Result<Module> {
	let mut config = Config::new();
	config
		.cranelift_nan_canonicalization(true)
		.cranelift_opt_level(OptLevel::Speed)
		.max_wasm_stack(STACK_BYTES)
		.wasm_backtrace(false)
		.wasm_backtrace_details(WasmBacktraceDetails::Disable)
		.memory_guaranteed_dense_image_size(0);
	Module::new(&Engine::new(&config)?, module)
}

struct Running {
	store: Store<()>,
	memory: Memory,
	fuel: Global,
	stack: Global,
	input: TypedFunc<u32, u32>,
	step: Option<TypedFunc<(u32, u32), u64>>,
	map: Option<TypedFunc<(u32, u32, u64), u64>>,
}

fn failed(error: impl ToString) -> Broken {
	Broken::Engine(error.to_string())
}

fn missing() -> Broken {
	failed("an export of the module is missing")
}

fn stopped(error: wasmtime::Error) -> Stop {
	match error.downcast_ref::<Trap>() {
		Some(Trap::StackOverflow) | None => Stop::Broken(failed(error)),
		Some(_) => Stop::Trap,
	}
}

impl Running {
	fn new(module: &Module, kind: Kind) -> Result<Self, Broken> {
		let mut store = Store::new(module.engine(), ());
		let instance = wasmtime::Instance::new(&mut store, module, &[]).map_err(failed)?;
		let memory = instance.get_memory(&mut store, exports::MEMORY).ok_or_else(missing)?;
		let fuel = instance.get_global(&mut store, exports::FUEL).ok_or_else(missing)?;
		let stack = instance.get_global(&mut store, exports::STACK).ok_or_else(missing)?;
		let input = instance.get_typed_func(&mut store, exports::INPUT).map_err(failed)?;
		let (step, map) = match kind {
			Kind::Step => {
				(Some(instance.get_typed_func(&mut store, exports::STEP).map_err(failed)?), None)
			}
			Kind::Map => {
				(None, Some(instance.get_typed_func(&mut store, exports::MAP).map_err(failed)?))
			}
		};
		Ok(Self { memory, fuel, stack, input, step, map, store })
	}
}

impl Instance for Running {
	fn input(&mut self, length: u32) -> Result<u32, Stop> {
		self.input.call(&mut self.store, length).map_err(stopped)
	}

	fn step(&mut self, place: u32, length: u32) -> Result<u64, Stop> {
		let step = self.step.as_ref().ok_or_else(|| Stop::Broken(missing()))?;
		step.call(&mut self.store, (place, length)).map_err(stopped)
	}

	fn map(&mut self, place: u32, length: u32, index: u64) -> Result<u64, Stop> {
		let map = self.map.as_ref().ok_or_else(|| Stop::Broken(missing()))?;
		map.call(&mut self.store, (place, length, index)).map_err(stopped)
	}

	fn memory(&mut self) -> &mut [u8] {
		self.memory.data_mut(&mut self.store)
	}

	fn fuel(&mut self) -> i64 {
		self.fuel.get(&mut self.store).i64().unwrap_or(i64::MIN)
	}

	fn set_fuel(&mut self, fuel: i64) -> Result<(), Broken> {
		self.fuel.set(&mut self.store, Val::I64(fuel)).map_err(failed)
	}

	fn stack(&mut self) -> i32 {
		self.stack.get(&mut self.store).i32().unwrap_or(i32::MIN)
	}

	fn set_stack(&mut self, slots: i32) -> Result<(), Broken> {
		self.stack.set(&mut self.store, Val::I32(slots)).map_err(failed)
	}
}
