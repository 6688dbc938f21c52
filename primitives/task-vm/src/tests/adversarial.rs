//! Modules that are made to take long: what they take is bounded by their bytes and by fuel.

use super::*;
use crate::{Fault, MAX_FUEL, MAX_MODULE_BYTES};

/// Bytes of the largest module.
const MOST: usize = MAX_MODULE_BYTES as usize - 400;

fn full(text: &str, bytes: usize) -> Vec<u8> {
	let module =
		stepping("(func $f)", &format!("(local $l i32) {} i64.const 0", text.repeat(MOST / bytes)));
	assert!(
		(60_000..=MAX_MODULE_BYTES as usize).contains(&module.len()),
		"{text}: {}",
		module.len()
	);
	module
}

#[test]
fn a_prepared_module_is_at_most_so_much_longer() {
	// The meter adds most bytes for code that is all loops, or all calls.
	for (text, bytes, times) in [
		("(loop)", 3, 10),
		("unreachable ", 1, 10),
		("call $g ", 2, 10),
		("(if (local.get $l) (then))", 5, 3),
		("nop ", 1, 2),
		("(drop (memory.grow (local.get $l)))", 5, 2),
	] {
		let module = if text.contains("$g") {
			stepping(
				"(func $g (call $f)) (func $f)",
				&format!("{} i64.const 0", text.repeat(MOST / bytes)),
			)
		} else {
			full(text, bytes)
		};
		let prepared = prepared(&module);
		let ratio = prepared.bytes().len() / module.len();
		assert!(ratio <= times, "{text}: {ratio} times as long");
		Machine::new(prepared).unwrap();
	}
}

#[test]
fn a_large_table_of_branches_is_one_instruction_of_its_length() {
	let targets = " 0".repeat(MOST);
	let module =
		stepping("", &format!("(block (br_table{targets} (i32.const 7))) {}", returns(0, 0)));
	let prepared = prepared(&module);
	assert!(prepared.bytes().len() < module.len() + 500);
	let small = stepping("", &format!("(block (br_table 0 0 (i32.const 7))) {}", returns(0, 0)));
	let fuel = |module: &[u8]| execute(module, Call::Step(&[])).unwrap().fuel;
	assert_eq!(fuel(&module), fuel(&small));
}

#[test]
fn many_locals_cost_fuel_in_each_call() {
	let of = |locals: &str| {
		let module = stepping(
			&format!("(func $f (local {locals}))"),
			&format!("{} {}", "call $f ".repeat(1_000), returns(0, 0)),
		);
		execute(&module, Call::Step(&[])).unwrap().fuel
	};
	assert_eq!(of(&"i64 ".repeat(400)) - of(""), 400 * 1_000);
}

#[test]
fn a_function_overdraws_by_no_more_than_its_own_code() {
	// Calls without end, each of a long function without a loop: it stops after the first that is too much.
	let module = stepping(
		&format!("(func $long {})", "(drop (i32.const 1))".repeat(18_000)),
		"(loop (call $long) (br 0)) i64.const 0",
	);
	assert_eq!(execute(&module, Call::Step(&[])), Err(Fault::Fuel));
	// Calls of calls of calls, without a loop: they would take 10^12 instructions.
	let mut fields = String::from("(func $f0 (drop (i32.const 1)))");
	for level in 1..12 {
		fields
			.push_str(&format!("(func $f{level} {})", format!("call $f{} ", level - 1).repeat(10)));
	}
	assert_eq!(
		execute(&stepping(&fields, "call $f11 i64.const 0"), Call::Step(&[])),
		Err(Fault::Fuel)
	);
}

#[test]
fn growing_a_memory_page_by_page_runs_out_of_fuel_before_it_copies_much() {
	// 128 pages one by one copy up to 8,000 pages: 66 million units.
	let module = stepping(
		"",
		"(loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) i64.const 0",
	);
	assert_eq!(execute(&module, Call::Step(&[])), Err(Fault::Fuel));
	let pages = |pages: u64| pages * (pages + 1) / 2 * 8_192;
	assert!(pages(128) > MAX_FUEL && pages(64) < MAX_FUEL);
}

#[test]
fn the_largest_frames_fill_the_stack_before_the_engine_does() {
	// 500 locals and 500 operands that are all alive over the call.
	let fields = format!(
		"(func $f (param i64) (local {}) {} (call $f (local.get 0)) {} drop)",
		"i64 ".repeat(500),
		"(i64.mul (local.get 0) (i64.const 3)) ".repeat(500),
		"i64.add ".repeat(499),
	);
	let module = stepping(&fields, "(call $f (i64.const 7)) i64.const 0");
	assert_eq!(execute(&module, Call::Step(&[])), Err(Fault::Stack));
}

#[test]
fn a_module_whose_parts_fill_it_costs_fuel_before_it_runs() {
	let functions = stepping(&"(func)".repeat(2_000), &returns(0, 0));
	let none = stepping("", &returns(0, 0));
	let instance = |module: &[u8]| prepared(module).instance_fuel();
	assert_eq!(instance(&functions) - instance(&none), 4 * 2_000);
	let table = stepping("(table 4096 funcref)", &returns(0, 0));
	assert_eq!(instance(&table) - instance(&none), 4 * 4_096);
	let data = format!(r#"(data (i32.const 0) "{}")"#, "a".repeat(40_000));
	assert_eq!(instance(&stepping(&data, &returns(0, 0))) - instance(&none), 4 + 10_000);
}
