//! Fuel, stack, memory, places and sizes: whatever a step does, its outcome is defined.

use super::*;
use crate::Fault;

/// Adds one to each byte of the state.
const INCREMENT: &str = r#"
	(local $i i32)
	(block $done
		(loop $more
			(br_if $done (i32.ge_u (local.get $i) (local.get $len)))
			(i32.store8 (i32.add (local.get $at) (local.get $i))
				(i32.add (i32.const 1) (i32.load8_u (i32.add (local.get $at) (local.get $i)))))
			(local.set $i (i32.add (local.get $i) (i32.const 1)))
			(br $more)))
	(i64.or (i64.shl (i64.extend_i32_u (local.get $at)) (i64.const 32)) (i64.extend_i32_u (local.get $len)))"#;

#[test]
fn a_step_makes_the_next_state_and_says_its_fuel() {
	let module = stepping("", INCREMENT);
	let short = execute(&module, Call::Step(&[1, 2, 255])).unwrap();
	assert_eq!(short.bytes, [2, 3, 0]);
	let long = execute(&module, Call::Step(&[0; 1_003])).unwrap();
	assert_eq!(long.bytes, [1; 1_003]);
	let per_byte = (long.fuel - short.fuel) as f64 / 1_000.0;
	assert!((40.0..41.0).contains(&per_byte), "{per_byte} units of fuel for a byte");
	// Nothing but the bytes goes on to the next step.
	assert_eq!(execute(&module, Call::Step(&short.bytes)).unwrap().bytes, [3, 4, 1]);
}

#[test]
fn the_fuel_of_a_known_step_is_a_known_number() {
	// Changing what instructions cost changes the outcome of steps: it is a change of the protocol.
	let of = |bytes: &[u8]| execute(&stepping("", INCREMENT), Call::Step(bytes)).unwrap().fuel;
	let (none, one, two) = (of(&[]), of(&[0]), of(&[0, 0]));
	assert_eq!(two - one, one - none);
	let instance = prepared(&stepping("", INCREMENT)).instance_fuel();
	// 2000 for the instance, 8192 for its page, 4 for each of its two functions.
	assert_eq!(instance, 10_200);
	// `input` takes 20 to enter, 1 for its parameter, 1 for its constant; `step` 20, 3 for its locals, 1 for the loop; 15
	// the turn that ends it; 6 for a segment and 7 for what it returns. A byte takes a turn of 15, and then a segment:
	// 6, 12 to change it, 5 to count, 2 for the branch.
	assert_eq!((none, one - none), (instance + 74, 40));
}

#[test]
fn the_limit_of_fuel_is_exact() {
	let module = stepping("", INCREMENT);
	let fuel = execute(&module, Call::Step(&[7; 20])).unwrap().fuel;
	let within =
		|fuel| execute_within(&module, Limits { fuel, ..Limits::MAX }, Call::Step(&[7; 20]));
	assert_eq!(within(fuel).unwrap().fuel, fuel);
	assert_eq!(within(fuel - 1), Err(Fault::Fuel));
}

#[test]
fn what_never_ends_runs_out_of_fuel() {
	let endless = [
		"(loop br 0) i64.const 0",
		"(loop (br_if 0 (i32.const 1))) i64.const 0",
		"(loop (block (br_table 1 0 (i32.const 0)))) i64.const 0",
		"(loop (loop (br 1))) i64.const 0",
		"(loop (if (i32.const 1) (then (br 1)) (else (br 1)))) i64.const 0",
	];
	for code in endless {
		assert_eq!(execute(&stepping("", code), Call::Step(&[])), Err(Fault::Fuel), "{code}");
	}
	// In `input` as well.
	let module = module(
		r#"(module (memory (export "memory") 1)
			(func (export "input") (param i32) (result i32) (loop br 0) i32.const 0)
			(func (export "step") (param i32 i32) (result i64) i64.const 0))"#,
	);
	assert_eq!(execute(&module, Call::Step(&[])), Err(Fault::Fuel));
}

#[test]
fn calls_nest_to_a_depth_that_is_the_same_everywhere() {
	// Calls itself as often as the state's first four bytes say.
	let fields = r#"(func $down (param i32) (result i32)
		(if (result i32) (local.get 0)
			(then (i32.add (i32.const 1) (call $down (i32.sub (local.get 0) (i32.const 1)))))
			(else (i32.const 0))))"#;
	let step = format!(
		"(i32.store (i32.const 0) (call $down (i32.load (local.get $at)))) {}",
		returns(0, 4)
	);
	let module = stepping(fields, &step);
	let down = |depth: u32| execute(&module, Call::Step(&depth.to_le_bytes()));
	let deepest = (0..32_768u32).collect::<Vec<_>>().partition_point(|depth| down(*depth).is_ok());
	assert_eq!(down(deepest as u32 - 1).unwrap().bytes, (deepest as u32 - 1).to_le_bytes());
	assert_eq!(down(deepest as u32), Err(Fault::Stack));
	// 8 slots for each call, 1 parameter, and 3 operands at a time.
	assert_eq!(deepest, 32_768 / 12);
}

#[test]
fn endless_recursion_is_a_fault_in_every_form() {
	let direct = stepping("(func $f call $f)", "call $f i64.const 0");
	let mutual = stepping("(func $f call $g) (func $g call $f)", "call $f i64.const 0");
	let indirect = stepping(
		"(table 1 funcref) (elem (i32.const 0) $f) (type $t (func))
		(func $f (call_indirect (type $t) (i32.const 0)))",
		"call $f i64.const 0",
	);
	for module in [direct, mutual, indirect] {
		assert_eq!(execute(&module, Call::Step(&[])), Err(Fault::Stack));
	}
}

#[test]
fn what_webassembly_forbids_is_a_trap() {
	let traps = [
		"unreachable",
		"(i64.extend_i32_u (i32.div_u (i32.const 1) (i32.const 0)))",
		"(i64.div_s (i64.const -9223372036854775808) (i64.const -1))",
		"(i64.load (i32.const 65536))",
		"(i64.load offset=4294967295 (i32.const 65536))",
		"(i64.trunc_f64_s (f64.const nan))",
		"(memory.fill (i32.const 65535) (i32.const 0) (i32.const 2)) i64.const 0",
		"(memory.copy (i32.const 0) (i32.const 65535) (i32.const 2)) i64.const 0",
	];
	for code in traps {
		assert_eq!(execute(&stepping("", code), Call::Step(&[])), Err(Fault::Trap), "{code}");
	}
	let indirect = |called: &str| {
		stepping(
			"(table 2 funcref) (elem (i32.const 0) $f) (func $f (result i32) i32.const 0)",
			&format!("(call_indirect (result i64) (i32.const {called}))"),
		)
	};
	for called in ["0", "1", "2"] {
		assert_eq!(execute(&indirect(called), Call::Step(&[])), Err(Fault::Trap), "{called}");
	}
}

#[test]
fn memory_grows_to_the_limit_and_costs_its_size() {
	let grow = |by: &str| {
		let step =
			format!("(i32.store (i32.const 0) (memory.grow (i32.const {by}))) {}", returns(0, 4));
		let limits = Limits { memory_pages: 16, ..Limits::MAX };
		execute_within(&stepping("", &step), limits, Call::Step(&[])).unwrap()
	};
	let (none, one, all) = (grow("0"), grow("1"), grow("15"));
	for grown in [&none, &one, &all] {
		assert_eq!(grown.bytes, 1u32.to_le_bytes());
	}
	assert_eq!(one.fuel - none.fuel, 8_192);
	assert_eq!(all.fuel - none.fuel, 15 * 8_192);
	for too_many in ["16", "-1", "65536"] {
		assert_eq!(grow(too_many).bytes, (-1i32).to_le_bytes(), "{too_many}");
	}
	// A module's own maximum stands where it is less.
	let own = module(
		r#"(module (memory (export "memory") 1 2)
			(func (export "input") (param i32) (result i32) i32.const 0)
			(func (export "step") (param i32 i32) (result i64)
				(i32.store (i32.const 0) (memory.grow (i32.const 2))) i64.const 4))"#,
	);
	assert_eq!(execute(&own, Call::Step(&[])).unwrap().bytes, (-1i32).to_le_bytes());
}

#[test]
fn bytes_that_are_filled_and_copied_cost_fuel() {
	for code in ["memory.fill", "memory.copy"] {
		let of = |bytes: u32| {
			let step = format!(
				"({code} (i32.const 0) (i32.const 0) (i32.const {bytes})) {}",
				returns(0, 0)
			);
			execute(&stepping("", &step), Call::Step(&[])).unwrap().fuel
		};
		assert_eq!(of(65_536) - of(0), 65_536 / 4, "{code}");
	}
	// More than a memory has is refused by its cost before anything is copied.
	let step =
		format!("(memory.fill (i32.const 0) (i32.const 0) (i32.const -1)) {}", returns(0, 0));
	assert_eq!(execute(&stepping("", &step), Call::Step(&[])), Err(Fault::Fuel));
}

#[test]
fn places_and_sizes_outside_of_the_limits_are_faults() {
	let at = |place: u64, length: u64| {
		execute(
			&stepping("", &format!("i64.const {}", (place << 32 | length) as i64)),
			Call::Step(&[1]),
		)
	};
	assert_eq!(at(0, 65_536).unwrap().bytes.len(), 65_536);
	assert_eq!(at(65_536, 0).unwrap().bytes, Vec::<u8>::new());
	assert_eq!(at(1, 65_536), Err(Fault::Place));
	assert_eq!(at(u32::MAX.into(), 1), Err(Fault::Place));
	assert_eq!(at(0, 65_537), Err(Fault::Size));
	assert_eq!(at(u32::MAX.into(), u32::MAX.into()), Err(Fault::Fuel), "bytes cost fuel first");
	let input = |place: i32| {
		let module = module(&format!(
			r#"(module (memory (export "memory") 1)
				(func (export "input") (param i32) (result i32) i32.const {place})
				(func (export "step") (param i32 i32) (result i64) i64.const 0))"#
		));
		execute(&module, Call::Step(&[1, 2])).map(|returned| returned.bytes)
	};
	assert_eq!(input(65_534), Ok(Vec::new()));
	assert_eq!(input(65_535), Err(Fault::Place));
	assert_eq!(input(-1), Err(Fault::Place));
	// A state that is too long to begin with.
	let long = vec![0; 65_537];
	assert_eq!(execute(&stepping("", "i64.const 0"), Call::Step(&long)), Err(Fault::Size));
	let limits = Limits { state_bytes: 3, ..Limits::MAX };
	let step = stepping("", &returns(0, 4));
	assert_eq!(execute_within(&step, limits, Call::Step(&[1])), Err(Fault::Size));
}

#[test]
fn an_index_is_mapped_by_the_input() {
	let module = module(
		r#"(module (memory (export "memory") 1)
			(func (export "input") (param i32) (result i32) i32.const 64)
			(func (export "map") (param $at i32) (param $len i32) (param $index i64) (result i64)
				(i64.store (i32.const 0) (i64.add (local.get $index) (i64.load8_u (local.get $at))))
				(i64.const 8)))"#,
	);
	assert_eq!(prepared(&module).kind(), crate::Kind::Map);
	let of = |index| execute(&module, Call::Map(&[5], index)).unwrap().bytes;
	assert_eq!(of(7), 12u64.to_le_bytes());
	assert_eq!(of(u64::MAX), 4u64.to_le_bytes());
	let machine = Machine::new(prepared(&module)).unwrap();
	assert!(machine.execute(Call::Step(&[])).is_err(), "a module computes what it exports");
}

#[test]
fn an_instance_knows_nothing_of_those_before() {
	let step = format!(
		"(i32.store8 (i32.const 0) (i32.add (i32.load8_u (i32.const 0)) (i32.const 1)))
		(global.set $g (i32.add (global.get $g) (i32.const 1)))
		(i32.store8 (i32.const 1) (global.get $g)) {}",
		returns(0, 2)
	);
	let machine =
		Machine::new(prepared(&stepping("(global $g (mut i32) (i32.const 0))", &step))).unwrap();
	let first = machine.execute(Call::Step(&[])).unwrap().unwrap();
	assert_eq!(first.bytes, [1, 1]);
	assert_eq!(machine.execute(Call::Step(&[])).unwrap().unwrap(), first);
}

#[test]
fn exports_of_the_meter_cannot_be_had_by_the_module() {
	// A module that exports names of the meter exports something else: its own are dropped.
	let module = stepping(
		r#"(global (export "fuel") (mut i64) (i64.const 0)) (global (export "stack") (mut i32) (i32.const 0))
		(func (export "more") )"#,
		&format!("(loop br 0) {}", returns(0, 0)),
	);
	assert_eq!(execute(&module, Call::Step(&[])), Err(Fault::Fuel));
	assert!(prepared(&module).bytes().len() > module.len());
}

/// The shipped examples, by both engines.
#[test]
fn the_shipped_modules_compute_the_same_by_every_engine() {
	let pi = include_bytes!("../../../../ml-worker/examples/tasks/pi.wasm");
	let first = execute(pi, Call::Step(&7u64.to_le_bytes())).unwrap();
	let second = execute(pi, Call::Step(&first.bytes)).unwrap();
	assert_eq!(second.bytes[8..16], 200_000u64.to_le_bytes());
	let sweep = include_bytes!("../../../../ml-worker/examples/tasks/sweep.wasm");
	let numbers = [0.1f64, 0.05, 0.02, 0.03, 0.001, 0.25].map(f64::to_le_bytes).concat();
	let input = [numbers, [16u32, 200].map(u32::to_le_bytes).concat()].concat();
	for index in [0, 17, 255] {
		assert_eq!(execute(sweep, Call::Map(&input, index)).unwrap().bytes.len(), 32);
	}
	// What has no place for its input says so by `unreachable`.
	assert_eq!(execute(pi, Call::Step(&[1])), Err(Fault::Trap));
}
