//! Steps by an interpreter, the same for workers and for the chain's runtime.

use super::{drive, Call, Instance, Stop};
use crate::{
	outcome::{Broken, Outcome},
	prepare::{exports, Kind, Prepared, Refused},
};
use alloc::{format, string::ToString};
use wasmi::{
	errors::ErrorKind, CompilationMode, Config, Engine, Global, Linker, Memory, Module, Store,
	TrapCode, TypedFunc, Val,
};

/// Frames and bytes of the interpreter's stack: more than the meter lets a module have.
const FRAMES: usize = 16_384;
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// A module, ready to execute steps.
pub struct Machine {
	module: Module,
	prepared: Prepared,
}

impl Machine {
	/// Compiles a module for the interpreter.
	///
	/// # Errors
	///
	/// [`Refused::Engine`] where the interpreter refuses the module, [`Refused::Memory`] where this machine cannot compile
	/// it.
	pub fn new(prepared: Prepared) -> Result<Self, Refused> {
		let mut config = Config::default();
		config
			.compilation_mode(CompilationMode::Eager)
			.consume_fuel(false)
			.allow_start_fn(false)
			.ignore_custom_sections(true)
			.set_max_recursion_depth(FRAMES)
			.set_max_stack_height(STACK_BYTES)
			.set_max_cached_stacks(1);
		let module = Module::new(&Engine::new(&config), &prepared.bytes).map_err(refused)?;
		Ok(Self { module, prepared })
	}

	/// Returns the module that it executes.
	pub fn prepared(&self) -> &Prepared {
		&self.prepared
	}

	/// Executes one step in a fresh instance.
	///
	/// # Errors
	///
	/// [`Broken`] where this machine cannot. A step that traps or takes too much is no error: that is its [`Outcome`].
	pub fn execute(&self, call: Call<'_>) -> Result<Outcome, Broken> {
		if call.kind() != self.prepared.kind {
			return Err(Broken::Engine("the module computes no such thing".into()));
		}
		let mut running = Running::new(&self.module, self.prepared.kind)?;
		drive(&mut running, &self.prepared, call)
	}
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

fn missing() -> Broken {
	Broken::Engine("an export of the module is missing".into())
}

fn refused(error: wasmi::Error) -> Refused {
	let text = error.to_string();
	// The kind of this error is private.
	if text.contains("out of system memory") {
		return Refused::Memory;
	}
	Refused::Engine(text)
}

fn failed(error: wasmi::Error) -> Broken {
	match error.kind() {
		ErrorKind::TrapCode(TrapCode::OutOfSystemMemory) => Broken::Memory,
		_ => Broken::Engine(error.to_string()),
	}
}

fn stopped(error: wasmi::Error) -> Stop {
	match error.as_trap_code() {
		// The meter is below the engine's own limits.
		Some(code @ (TrapCode::StackOverflow | TrapCode::OutOfFuel)) => {
			Stop::Broken(Broken::Engine(format!("{code}")))
		}
		Some(TrapCode::OutOfSystemMemory | TrapCode::GrowthOperationLimited) => {
			Stop::Broken(Broken::Memory)
		}
		Some(_) => Stop::Trap,
		None => Stop::Broken(Broken::Engine(error.to_string())),
	}
}

impl Running {
	fn new(module: &Module, kind: Kind) -> Result<Self, Broken> {
		let engine = module.engine();
		let mut store = Store::new(engine, ());
		let instance =
			Linker::new(engine).instantiate_and_start(&mut store, module).map_err(failed)?;
		let memory = instance.get_memory(&store, exports::MEMORY).ok_or_else(missing)?;
		let fuel = instance.get_global(&store, exports::FUEL).ok_or_else(missing)?;
		let stack = instance.get_global(&store, exports::STACK).ok_or_else(missing)?;
		let input = instance.get_typed_func(&store, exports::INPUT).map_err(failed)?;
		let (step, map) = match kind {
			Kind::Step => {
				(Some(instance.get_typed_func(&store, exports::STEP).map_err(failed)?), None)
			}
			Kind::Map => {
				(None, Some(instance.get_typed_func(&store, exports::MAP).map_err(failed)?))
			}
		};
		Ok(Self { memory, fuel, stack, input, step, map, store })
	}

	fn set(&mut self, global: Global, value: Val) -> Result<(), Broken> {
		global.set(&mut self.store, value).map_err(|error| Broken::Engine(error.to_string()))
	}
}

impl Instance for Running {
	fn input(&mut self, length: u32) -> Result<u32, Stop> {
		self.input.call(&mut self.store, length).map_err(stopped)
	}

	fn step(&mut self, place: u32, length: u32) -> Result<u64, Stop> {
		let step = self.step.ok_or_else(|| Stop::Broken(missing()))?;
		step.call(&mut self.store, (place, length)).map_err(stopped)
	}

	fn map(&mut self, place: u32, length: u32, index: u64) -> Result<u64, Stop> {
		let map = self.map.ok_or_else(|| Stop::Broken(missing()))?;
		map.call(&mut self.store, (place, length, index)).map_err(stopped)
	}

	fn memory(&mut self) -> &mut [u8] {
		self.memory.data_mut(&mut self.store)
	}

	fn fuel(&mut self) -> i64 {
		self.fuel.get(&self.store).i64().unwrap_or(i64::MIN)
	}

	fn set_fuel(&mut self, fuel: i64) -> Result<(), Broken> {
		self.set(self.fuel, Val::I64(fuel))
	}

	fn stack(&mut self) -> i32 {
		self.stack.get(&self.store).i32().unwrap_or(i32::MIN)
	}

	fn set_stack(&mut self, slots: i32) -> Result<(), Broken> {
		self.set(self.stack, Val::I32(slots))
	}
}
