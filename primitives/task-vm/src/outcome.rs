//! What comes out of a step.

use alloc::vec::Vec;
use codec::{Decode, DecodeWithMemTracking, Encode, MaxEncodedLen};
use core::fmt;
use scale_info::TypeInfo;

/// What a step returned.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode, DecodeWithMemTracking, TypeInfo)]
pub struct Returned {
	/// The next state, or the result for an index.
	pub bytes: Vec<u8>,
	/// The fuel that it took, no more than the limit.
	pub fuel: u64,
}

/// Why a step returned nothing. This is a result like another: everybody who executes the step comes to the same one.
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
pub enum Fault {
	/// It needs more fuel than the limit.
	Fuel,
	/// Its calls are nested too deep.
	Stack,
	/// It did what WebAssembly forbids, or said `unreachable`: a panic, a division by zero, an access outside of the
	/// memory.
	Trap,
	/// It gave a place for its input, or for what it returns, that is not inside its memory.
	Place,
	/// What it returned is longer than the limit of a state.
	Size,
	/// The module is none that a task can have, so no step of it can be executed.
	Module,
}

impl fmt::Display for Fault {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.write_str(match self {
			Self::Fuel => "the step needs more fuel than the limit",
			Self::Stack => "the calls of the step are nested too deep",
			Self::Trap => {
				"the step trapped: it panicked, divided by zero or left its memory, for example"
			}
			Self::Place => "the module gave a place that is not inside its memory",
			Self::Size => "the step returned more bytes than the limit of a state",
			Self::Module => "the module is none that a task can have",
		})
	}
}

impl core::error::Error for Fault {}

/// What comes out of a step: the same bytes, fuel or fault on every machine.
pub type Outcome = Result<Returned, Fault>;

/// Why this machine could not execute a step. This says nothing about the step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Broken {
	/// It has too little memory.
	Memory,
	/// Something that cannot be with a prepared module; the text is the engine's.
	Engine(alloc::string::String),
}

impl fmt::Display for Broken {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			Self::Memory => f.write_str("this machine has too little memory for the step"),
			Self::Engine(text) => write!(f, "the engine failed: {text}"),
		}
	}
}

impl core::error::Error for Broken {}
