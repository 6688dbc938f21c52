//! Deterministic tasks: modules that this machine executes, whole tasks, and what of them is on disk.
//!
//! A task that is killed goes on where it was: [`saved`] keeps the last state, and the leaves of the trace or the
//! records so far. The result is the same whatever happened meanwhile, and on how many cores a map ran.
//!
//! [`market`] does all this for tasks that are on chain: it applies, computes, audits and challenges.

pub mod market;
pub mod run;
pub mod saved;

use codec::Encode;
use rayon::ThreadPool;
use std::fmt;
use trainyard_task::{Fault, File, Form, Limits, TaskSpec};
use trainyard_task_vm::{native, prepare, Broken, Call, Kind, Prepared, Refused};

pub use trainyard_task::offer::{work, FLOP_PER_FUEL};

/// Why a task cannot be executed here.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
	/// The module is refused.
	#[error("the module, with these limits, cannot be that of a task")]
	Refused(#[from] Refused),
	/// This machine fails.
	#[error(transparent)]
	Broken(#[from] Broken),
	/// The module computes steps and a map is asked for, or the other way round.
	#[error("{0}")]
	Kind(&'static str),
	/// The task breaks a rule.
	#[error("this cannot be a task: {0}")]
	Rule(trainyard_task::spec::TaskFault),
	/// Threads cannot be started.
	#[error("cannot start threads")]
	Threads(#[from] rayon::ThreadPoolBuildError),
	/// A file cannot be read or written.
	#[error(transparent)]
	File(#[from] trainyard_proof::bundle::files::FileError),
	/// What was saved is of something else, or damaged.
	#[error("{0}")]
	Saved(String),
	/// It was stopped; what it did is saved if there is a place for it.
	#[error("stopped after {done} of {all}{}", .saved.then_some(": the same command goes on").unwrap_or_default())]
	Stopped {
		/// Steps or indices that are done.
		done: u32,
		/// All of them.
		all: u32,
		/// Whether they are saved.
		saved: bool,
	},
}

/// A module, ready to execute, and threads with room for it.
pub struct Program {
	/// `None` of a module that the machine refuses for the task: each step of that is a fault.
	machine: Option<native::Machine>,
	fuel: u64,
	threads: ThreadPool,
	file: File,
}

impl fmt::Debug for Program {
	fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
		f.debug_struct("Program").field("file", &self.file).finish_non_exhaustive()
	}
}

/// Returns the limits of a machine for those of a task.
fn machine_limits(limits: &Limits) -> trainyard_task_vm::Limits {
	trainyard_task_vm::Limits {
		fuel: limits.fuel,
		memory_pages: limits.pages,
		state_bytes: limits.state,
		module_bytes: trainyard_task_vm::MAX_MODULE_BYTES,
	}
}

impl Program {
	/// Compiles a module for a task with these limits, to be executed on `threads` threads, or on one for each core.
	///
	/// # Errors
	///
	/// [`TaskError::Refused`] where the module is none that a task can have; [`TaskError::Threads`].
	pub fn new(module: &[u8], limits: &Limits, threads: usize) -> Result<Self, TaskError> {
		let machine = native::Machine::new(prepare(module, &machine_limits(limits))?)?;
		Self::with(Some(machine), module, limits, threads)
	}

	/// Does the same for a task that is on chain, whose module may be anything: what the machine refuses for it has one
	/// result, the fault that [`refused`](trainyard_task::state::refused) returns.
	///
	/// # Errors
	///
	/// [`TaskError::Broken`] where this machine cannot compile it; [`TaskError::Threads`].
	pub fn of_task(spec: &TaskSpec, module: &[u8], threads: usize) -> Result<Self, TaskError> {
		let wanted = match spec.form {
			Form::Step { .. } => Kind::Step,
			Form::Map { .. } => Kind::Map,
		};
		let prepared = prepare(module, &machine_limits(&spec.limits)).ok();
		let prepared = prepared.filter(|prepared| prepared.kind() == wanted);
		let machine = prepared.map(native::Machine::new).transpose()?;
		Self::with(machine, module, &spec.limits, threads)
	}

	fn with(
		machine: Option<native::Machine>,
		module: &[u8],
		limits: &Limits,
		threads: usize,
	) -> Result<Self, TaskError> {
		let threads = rayon::ThreadPoolBuilder::new()
			.num_threads(threads)
			.stack_size(native::STACK_BYTES + (1 << 20))
			.thread_name(|index| format!("task-{index}"))
			.build()?;
		Ok(Self { machine, fuel: limits.fuel, threads, file: File::of(module) })
	}

	/// Returns the name of the module.
	pub fn file(&self) -> File {
		self.file
	}

	/// Returns the module; `None` where it is refused.
	pub fn prepared(&self) -> Option<&Prepared> {
		self.machine.as_ref().map(native::Machine::prepared)
	}

	/// Returns whether it computes steps or indices; `None` where it is refused.
	pub fn kind(&self) -> Option<Kind> {
		self.prepared().map(Prepared::kind)
	}

	/// Executes one call on one of its threads.
	fn execute(&self, call: Call<'_>) -> Result<Executed, Broken> {
		let Some(machine) = &self.machine else {
			return Ok(Executed { result: Err(trainyard_task::state::refused()), fuel: self.fuel });
		};
		Ok(match machine.execute(call)? {
			Ok(returned) => Executed { result: Ok(returned.bytes), fuel: returned.fuel },
			// What a fault used is not counted: it counts as all that it may.
			Err(fault) => {
				let bytes = Fault::try_from(fault.encode()).unwrap_or_default();
				Executed { result: Err(bytes), fuel: self.fuel }
			}
		})
	}
}

/// What one call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Executed {
	pub(crate) result: Result<Vec<u8>, Fault>,
	pub(crate) fuel: u64,
}

/// Says what a fault is, as far as this version knows it.
pub fn describe(fault: &Fault) -> String {
	match <trainyard_task_vm::Fault as codec::Decode>::decode(&mut fault.as_slice()) {
		Ok(fault) => fault.to_string(),
		Err(_) => format!("a fault that this version does not know (0x{})", hex::encode(fault)),
	}
}
