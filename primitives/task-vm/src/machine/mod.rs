//! Executes steps.

mod interpreter;

use crate::{
	limits::Limits,
	outcome::{Broken, Fault, Outcome, Returned},
	prepare::{prepare, Kind, Prepared, Refused, COPIED_BYTES, STACK},
};
pub use interpreter::Machine;

/// What the globals of the meter and the memory of a module say, and its calls, whatever the engine.
pub(crate) trait Instance {
	/// Calls `input`.
	fn input(&mut self, length: u32) -> Result<u32, Stop>;
	/// Calls `step`.
	fn step(&mut self, place: u32, length: u32) -> Result<u64, Stop>;
	/// Calls `map`.
	fn map(&mut self, place: u32, length: u32, index: u64) -> Result<u64, Stop>;
	/// Returns the memory.
	fn memory(&mut self) -> &mut [u8];
	/// Returns the fuel that is left.
	fn fuel(&mut self) -> i64;
	/// Sets it.
	fn set_fuel(&mut self, fuel: i64) -> Result<(), Broken>;
	/// Returns the slots of the stack that are left.
	fn stack(&mut self) -> i32;
	/// Sets them.
	fn set_stack(&mut self, slots: i32) -> Result<(), Broken>;
}

/// Why a call did not return.
pub(crate) enum Stop {
	/// The module trapped.
	Trap,
	/// The engine failed.
	Broken(Broken),
}

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call<'a> {
	/// The state after this one.
	Step(&'a [u8]),
	/// The result for an index, with the input of the task.
	Map(&'a [u8], u64),
}

impl<'a> Call<'a> {
	/// Returns what a module must compute for this call.
	pub fn kind(&self) -> Kind {
		match self {
			Self::Step(_) => Kind::Step,
			Self::Map(..) => Kind::Map,
		}
	}

	fn bytes(&self) -> &'a [u8] {
		match self {
			Self::Step(bytes) | Self::Map(bytes, _) => bytes,
		}
	}
}

/// Executes one call of a module that may be anything, as a referee does, by the interpreter. A module that no task can
/// have, or that does not compute what is asked for, is a [fault](Fault::Module).
///
/// # Errors
///
/// [`Broken`] where this machine cannot, which says nothing about the step.
pub fn execute(module: &[u8], limits: &Limits, call: Call<'_>) -> Result<Outcome, Broken> {
	let machine = prepare(module, limits).and_then(Machine::new);
	match machine {
		Ok(machine) if machine.prepared().kind == call.kind() => machine.execute(call),
		Err(Refused::Memory) => Err(Broken::Memory),
		Ok(_) | Err(_) => Ok(Err(Fault::Module)),
	}
}

/// Executes one call in a fresh instance.
pub(crate) fn drive(
	instance: &mut impl Instance,
	prepared: &Prepared,
	call: Call<'_>,
) -> Result<Outcome, Broken> {
	match driven(instance, prepared, call) {
		Ok(returned) => Ok(Ok(returned)),
		Err(End::Fault(fault)) => Ok(Err(fault)),
		Err(End::Stop(Stop::Broken(broken))) => Err(broken),
		Err(End::Stop(Stop::Trap)) => match (instance.fuel(), instance.stack()) {
			(_, crate::prepare::NO_MEMORY) => Err(Broken::Memory),
			(fuel, _) if fuel < 0 => Ok(Err(Fault::Fuel)),
			(_, stack) if stack < 0 => Ok(Err(Fault::Stack)),
			_ => Ok(Err(Fault::Trap)),
		},
	}
}

enum End {
	Fault(Fault),
	Stop(Stop),
}

impl From<Fault> for End {
	fn from(fault: Fault) -> Self {
		Self::Fault(fault)
	}
}

impl From<Stop> for End {
	fn from(stop: Stop) -> Self {
		Self::Stop(stop)
	}
}

impl From<Broken> for End {
	fn from(broken: Broken) -> Self {
		Self::Stop(Stop::Broken(broken))
	}
}

fn driven(
	instance: &mut impl Instance,
	prepared: &Prepared,
	call: Call<'_>,
) -> Result<Returned, End> {
	let limits = prepared.limits;
	let bytes = call.bytes();
	let length = u32::try_from(bytes.len()).map_err(|_| Fault::Size)?;
	if length > limits.state_bytes {
		return Err(Fault::Size.into());
	}
	// Limits are below 2^63 (`MAX_FUEL`).
	let limit = i64::try_from(limits.fuel).unwrap_or(i64::MAX);
	let copied = |length: u32| (u64::from(length) / COPIED_BYTES) as i64;
	let instance_fuel = i64::try_from(prepared.instance_fuel).unwrap_or(i64::MAX);
	let fuel = limit.saturating_sub(instance_fuel).saturating_sub(copied(length));
	if fuel < 0 {
		return Err(Fault::Fuel.into());
	}
	instance.set_fuel(fuel)?;
	instance.set_stack(STACK)?;
	let place = instance.input(length)?;
	let end = u64::from(place).saturating_add(length.into());
	let to = instance.memory().get_mut(place as usize..end as usize).ok_or(Fault::Place)?;
	to.copy_from_slice(bytes);
	// Each call begins with the whole stack.
	instance.set_stack(STACK)?;
	let packed = match call {
		Call::Step(_) => instance.step(place, length)?,
		Call::Map(_, index) => instance.map(place, length, index)?,
	};
	let (place, length) = ((packed >> 32) as u32, packed as u32);
	let left = instance.fuel().saturating_sub(copied(length));
	if left < 0 {
		return Err(Fault::Fuel.into());
	}
	if length > limits.state_bytes {
		return Err(Fault::Size.into());
	}
	let end = u64::from(place).saturating_add(length.into());
	let returned = instance.memory().get(place as usize..end as usize).ok_or(Fault::Place)?;
	Ok(Returned { bytes: returned.into(), fuel: limit.saturating_sub(left).unsigned_abs() })
}
