//! Why a module is not one that a task can have.

use alloc::string::String;
use core::fmt;

/// Why a module is refused. The text says what is wrong and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
	/// A limit of the task is zero, or more than any task can ask for.
	Limits,
	/// The module is longer than the limit.
	Long {
		/// Bytes of the module.
		bytes: usize,
		/// The limit.
		most: u32,
	},
	/// It is no valid WebAssembly, or uses a proposal that tasks cannot.
	Invalid {
		/// Byte of the module.
		offset: usize,
		/// What is wrong, by the validator.
		message: String,
	},
	/// It imports something.
	Import {
		/// The module of the import.
		module: String,
		/// The name of the import.
		name: String,
	},
	/// It has a start function.
	Start,
	/// It has more of something than the limit.
	Many {
		/// What.
		what: &'static str,
		/// How many it has.
		number: u64,
		/// The limit.
		most: u64,
	},
	/// It has no memory.
	NoMemory,
	/// Its memory begins with more pages than the limit.
	Pages {
		/// Pages that it begins with.
		pages: u64,
		/// The limit.
		most: u32,
	},
	/// An export that every task has is not there, or has another type.
	Export {
		/// What is expected.
		expected: &'static str,
	},
	/// It exports both `step` and `map`, or neither.
	Kind,
	/// It has something that tasks cannot have.
	Forbidden {
		/// What.
		what: &'static str,
		/// Byte of the module.
		offset: usize,
	},
	/// A segment of data or of functions does not fit where it belongs.
	Segment {
		/// Number of the segment.
		index: u32,
	},
	/// Its instance alone takes more fuel than a step has.
	Fuel {
		/// Fuel of the instance.
		instance: u64,
		/// The limit of a step.
		most: u64,
	},
	/// The interpreter refuses it, though it is valid; the text is the interpreter's.
	Engine(String),
	/// This machine has too little memory to compile it, which says nothing about the module.
	Memory,
}

impl fmt::Display for Refused {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		match self {
			Self::Limits => f.write_str("a limit of the task is zero or larger than any task can have"),
			Self::Long { bytes, most } => write!(
				f,
				"the module has {bytes} bytes, and the limit is {most}: compile it for size (-Os, opt-level = \"z\") \
				and strip names"
			),
			Self::Invalid { offset, message } => write!(
				f,
				"the module is no WebAssembly that a task can have: {message} (at byte {offset})"
			),
			Self::Import { module, name } => write!(
				f,
				"the module imports {name:?} of {module:?}: a task has no host, so link everything into it"
			),
			Self::Start => f.write_str("the module has a start function: export what it does, and call it from `step`"),
			Self::Many { what, number, most } => {
				write!(f, "the module has {number} {what}, and the limit is {most}")
			}
			Self::NoMemory => f.write_str("the module has no memory of its own"),
			Self::Pages { pages, most } => write!(
				f,
				"the module's memory begins with {pages} pages of 64 KiB, and the limit is {most}: give it a smaller \
				stack (-z stack-size=65536)"
			),
			Self::Export { expected } => write!(f, "the module must export {expected}"),
			Self::Kind => f.write_str(
				"the module must export either `step(i32, i32) -> i64` or `map(i32, i32, i64) -> i64`, and not both",
			),
			Self::Forbidden { what, offset } => {
				write!(f, "the module uses {what}, which a task cannot (at byte {offset})")
			}
			Self::Segment { index } => {
				write!(f, "segment {index} of the module does not fit into its memory or table")
			}
			Self::Fuel { instance, most } => write!(
				f,
				"to set up the module's memory takes {instance} of the {most} units of fuel that a step has: give it \
				fewer pages, or the task more fuel"
			),
			Self::Engine(text) => write!(f, "the interpreter refuses the module: {text}"),
			Self::Memory => f.write_str("this machine has too little memory to compile the module"),
		}
	}
}

impl core::error::Error for Refused {}

impl From<wasmparser::BinaryReaderError> for Refused {
	fn from(error: wasmparser::BinaryReaderError) -> Self {
		Self::Invalid { offset: error.offset(), message: error.message().into() }
	}
}
