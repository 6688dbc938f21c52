//! From a module as compilers make it to one that every engine executes alike.
//!
//! [`prepare`] reads the module once, validating it and counting what must be bounded ([`read`]), and writes it again
//! with the meter in it ([`write`](mod@write)). What is written is a function of the module's bytes and the limit of pages.

mod code;
mod cost;
mod read;
mod refused;
mod write;

use crate::limits::Limits;
use alloc::vec::Vec;
pub use refused::Refused;

pub(crate) use cost::COPIED_BYTES;
pub(crate) use write::NO_MEMORY;

/// Slots of locals and operands that calls may have at a time; a call has [`FRAME`] more than its function names.
pub(crate) const STACK: i32 = 32_768;
/// Slots of a call beside its locals and operands.
const FRAME: u32 = 8;

/// Names of exports of a module, and of the two that the meter adds.
pub(crate) mod exports {
	pub(crate) const MEMORY: &str = "memory";
	pub(crate) const INPUT: &str = "input";
	pub(crate) const STEP: &str = "step";
	pub(crate) const MAP: &str = "map";
	pub(crate) const FUEL: &str = "fuel";
	pub(crate) const STACK: &str = "stack";
}

/// What a module computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
	/// The next state of a state.
	Step,
	/// A result of an index.
	Map,
}

/// A module that every engine executes alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prepared {
	/// The module with its meter.
	pub(crate) bytes: Vec<u8>,
	/// What it computes.
	pub(crate) kind: Kind,
	/// Fuel of an instance of it.
	pub(crate) instance_fuel: u64,
	/// The limits of the task.
	pub(crate) limits: Limits,
	facts: Facts,
}

/// What a module has, for those who want to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
	/// Functions.
	pub functions: u32,
	/// Instructions of all functions.
	pub instructions: u64,
	/// Bytes of data segments.
	pub data_bytes: u64,
	/// Pages of memory that it begins with.
	pub pages: u32,
	/// Pages of memory that it can have, no more than the limit.
	pub most_pages: u32,
}

impl Prepared {
	/// Returns the module with its meter, as engines execute it.
	pub fn bytes(&self) -> &[u8] {
		&self.bytes
	}

	/// Returns what it computes.
	pub fn kind(&self) -> Kind {
		self.kind
	}

	/// Returns the fuel that each step takes before the module's own code runs, for its memory and tables.
	pub fn instance_fuel(&self) -> u64 {
		self.instance_fuel
	}

	/// Returns what it has.
	pub fn facts(&self) -> Facts {
		self.facts
	}

	/// Returns the limits of the task.
	pub fn limits(&self) -> Limits {
		self.limits
	}
}

/// Checks a module, and writes its meter into it.
///
/// # Errors
///
/// [`Refused`] where the module could differ between machines, is larger than the limits, or could take longer to
/// compile than a referee has. Whether a module is refused depends on nothing but its bytes and the limits.
pub fn prepare(module: &[u8], limits: &Limits) -> Result<Prepared, Refused> {
	if !limits.are_possible() {
		return Err(Refused::Limits);
	}
	if module.len() as u64 > u64::from(limits.module_bytes) {
		return Err(Refused::Long { bytes: module.len(), most: limits.module_bytes });
	}
	let read = read::Module::read(module, limits)?;
	if read.instance_fuel > limits.fuel {
		return Err(Refused::Fuel { instance: read.instance_fuel, most: limits.fuel });
	}
	Ok(Prepared {
		bytes: write::write(&read, limits)?,
		kind: read.kind,
		instance_fuel: read.instance_fuel,
		limits: *limits,
		facts: read.facts,
	})
}
