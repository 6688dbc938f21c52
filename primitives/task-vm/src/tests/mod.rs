//! Tests of modules in the text format of WebAssembly.

mod adversarial;
mod everything;
mod floats;
mod meter;
mod refusals;

use crate::{prepare, Call, Limits, Machine, Outcome, Prepared, Refused};

/// Makes a module of its text.
fn module(text: &str) -> Vec<u8> {
	wat::parse_str(text).unwrap()
}

/// A module with this body of `step`, its input at 1024, and these other fields.
fn stepping(fields: &str, step: &str) -> Vec<u8> {
	module(&format!(
		r#"(module (memory (export "memory") 1)
			{fields}
			(func (export "input") (param i32) (result i32) i32.const 1024)
			(func (export "step") (param $at i32) (param $len i32) (result i64) {step}))"#
	))
}

/// Returns what stands for `len` bytes at `at`, as `step` returns it.
fn returns(at: u32, len: u32) -> String {
	format!("i64.const {}", u64::from(at) << 32 | u64::from(len))
}

fn prepared(module: &[u8]) -> Prepared {
	prepare(module, &Limits::MAX).unwrap()
}

fn refused(module: &[u8]) -> Refused {
	prepare(module, &Limits::MAX).unwrap_err()
}

/// Executes a call by every engine, which must agree.
fn execute_within(module: &[u8], limits: Limits, call: Call<'_>) -> Outcome {
	let prepared = prepare(module, &limits).unwrap();
	let outcome = Machine::new(prepared.clone()).unwrap().execute(call).unwrap();
	#[cfg(feature = "native")]
	on_a_large_stack(|| {
		let native = crate::native::Machine::new(prepared).unwrap();
		assert!(native.is_native());
		assert_eq!(native.execute(call).unwrap(), outcome, "native code differs");
	});
	outcome
}

fn execute(module: &[u8], call: Call<'_>) -> Outcome {
	execute_within(module, Limits::MAX, call)
}

/// Runs what executes native code: threads of tests have 2 MiB of stack.
#[cfg(feature = "native")]
fn on_a_large_stack(run: impl FnOnce() + Send) {
	std::thread::scope(|scope| {
		let thread = std::thread::Builder::new().stack_size(crate::native::STACK_BYTES + (1 << 20));
		if let Err(panic) = thread.spawn_scoped(scope, run).unwrap().join() {
			std::panic::resume_unwind(panic);
		}
	});
}
