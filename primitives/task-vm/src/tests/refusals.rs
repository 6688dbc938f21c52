//! What a module may not have, each with an error that says so.

use super::*;
use crate::Fault;

fn with(fields: &str) -> Vec<u8> {
	stepping(fields, "i64.const 0")
}

#[test]
fn what_could_differ_between_machines_is_refused() {
	let step = r#"(memory (export "memory") 1) (func (export "input") (param i32) (result i32) i32.const 0)
		(func (export "step") (param i32 i32) (result i64) i64.const 0)"#;
	let import = module(&format!(r#"(module (import "env" "clock" (func)) {step})"#));
	let text = refused(&import).to_string();
	assert!(text.contains("clock") && text.contains("env"), "{text}");
	let shared = step.replace("\"memory\") 1", "\"memory\") 1 2 shared");
	assert!(matches!(refused(&module(&format!("(module {shared})"))), Refused::Invalid { .. }));
	let wide = step.replace("\"memory\") 1", "\"memory\") i64 1");
	assert!(matches!(refused(&module(&format!("(module {wide})"))), Refused::Invalid { .. }));
	for code in [
		"(func (drop (v128.const i32x4 0 0 0 0)))",
		"(func (param v128))",
		"(func (local v128))",
		"(func (drop (i32.atomic.load (i32.const 0))))",
		"(func $f (return_call $f))",
		"(tag) (func (throw 0))",
		"(memory 1)",
		"(func (drop (ref.null func)))",
		"(func (param funcref))",
		"(func (local externref))",
		"(global funcref (ref.null func))",
		"(table 1 externref)",
		"(table 1 funcref) (table 1 funcref)",
		"(table 1 funcref) (func (drop (table.size 0)))",
		"(type (struct)) (func)",
		"(rec (type (func)) (type (func))) (func)",
		r#"(data "abc") (func)"#,
		"(func $f) (table 1 funcref) (elem func $f)",
		"(global i32 (i32.add (i32.const 1) (i32.const 1)))",
		"(func $f) (start $f)",
	] {
		let refused = refused(&with(code));
		assert!(
			matches!(
				refused,
				Refused::Invalid { .. }
					| Refused::Forbidden { .. }
					| Refused::Many { .. }
					| Refused::Start
			),
			"{code}: {refused}"
		);
	}
}

#[test]
fn what_has_no_bound_is_refused() {
	let many = |what: &str, code: &str| {
		let refused = refused(&with(code));
		assert!(matches!(refused, Refused::Many { .. }), "{what}: {refused}");
		assert!(refused.to_string().contains(what), "{refused}");
	};
	many(
		"types",
		&(0..300)
			.map(|n| format!("(type (func (param {})))", "i32 ".repeat(n % 30)))
			.collect::<String>(),
	);
	many("parameters", &format!("(func (param {}))", "i32 ".repeat(33)));
	many("results", &format!("(func (result {}) unreachable)", "i32 ".repeat(9)));
	many("functions", &"(func)".repeat(2_047));
	many("globals", &"(global i32 (i32.const 0))".repeat(257));
	many("entries", "(table 4097 funcref)");
	many("segments of data", &r#"(data (i32.const 0) "")"#.repeat(513));
	many("locals", &format!("(func (local {}))", "i32 ".repeat(513)));
	many("operands", &format!("(func {} {})", "i32.const 0 ".repeat(513), "drop ".repeat(513)));
	many("blocks", &format!("(func {} {})", "block ".repeat(300), "end ".repeat(300)));
	// Four billion locals in a few bytes.
	let mut locals = with("(func (local i64))");
	let at = locals.windows(3).rposition(|bytes| bytes == [1, 1, 0x7e]).unwrap();
	locals.splice(at + 1..at + 2, [0xff, 0xff, 0xff, 0xff, 0x0f]);
	// Lengths of the section and of the function are wrong now; what counts is that nothing is allocated.
	assert!(prepare(&locals, &Limits::MAX).is_err());
}

#[test]
fn sizes_beyond_the_limits_are_refused() {
	let fine = with("");
	let within = |limits: Limits| prepare(&fine, &limits).map(|_| ());
	assert_eq!(within(Limits { module_bytes: fine.len() as u32, ..Limits::MAX }), Ok(()));
	assert_eq!(
		within(Limits { module_bytes: fine.len() as u32 - 1, ..Limits::MAX }),
		Err(Refused::Long { bytes: fine.len(), most: fine.len() as u32 - 1 })
	);
	for limits in [
		Limits { fuel: 0, ..Limits::MAX },
		Limits { fuel: Limits::MAX.fuel + 1, ..Limits::MAX },
		Limits { memory_pages: 0, ..Limits::MAX },
		Limits { memory_pages: Limits::MAX.memory_pages + 1, ..Limits::MAX },
		Limits { state_bytes: Limits::MAX.state_bytes + 1, ..Limits::MAX },
		Limits { module_bytes: Limits::MAX.module_bytes + 1, ..Limits::MAX },
	] {
		assert_eq!(within(limits), Err(Refused::Limits), "{limits:?}");
	}
	let instance = prepared(&fine).instance_fuel();
	assert!(within(Limits { fuel: instance, ..Limits::MAX }).is_ok());
	assert_eq!(
		within(Limits { fuel: instance - 1, ..Limits::MAX }),
		Err(Refused::Fuel { instance, most: instance - 1 })
	);
	let pages = |pages: u32| {
		module(&format!(
			r#"(module (memory (export "memory") {pages})
				(func (export "input") (param i32) (result i32) i32.const 0)
				(func (export "step") (param i32 i32) (result i64) i64.const 0))"#
		))
	};
	assert!(prepare(&pages(128), &Limits::MAX).is_ok());
	assert_eq!(refused(&pages(129)), Refused::Pages { pages: 129, most: 128 });
}

#[test]
fn segments_that_would_not_fit_are_refused_before_an_instance_traps() {
	let refuses =
		|code: &str| assert_eq!(refused(&with(code)), Refused::Segment { index: 0 }, "{code}");
	refuses(r#"(data (i32.const 65535) "ab")"#);
	refuses(r#"(data (i32.const -1) "a")"#);
	refuses("(func $f) (table 1 funcref) (elem (i32.const 1) $f)");
	assert!(prepare(&with(r#"(data (i32.const 65534) "ab")"#), &Limits::MAX).is_ok());
}

#[test]
fn a_task_exports_its_memory_and_two_functions() {
	let memory = r#"(memory (export "memory") 1)"#;
	let input = r#"(func (export "input") (param i32) (result i32) i32.const 0)"#;
	let step = r#"(func (export "step") (param i32 i32) (result i64) i64.const 0)"#;
	let map = r#"(func (export "map") (param i32 i32 i64) (result i64) i64.const 0)"#;
	let of =
		|fields: &[&str]| prepare(&module(&format!("(module {})", fields.concat())), &Limits::MAX);
	assert!(of(&[memory, input, step]).is_ok());
	assert!(of(&[memory, input, map]).is_ok());
	assert_eq!(of(&[memory, input, step, map]).unwrap_err(), Refused::Kind);
	assert_eq!(of(&[memory, input]).unwrap_err(), Refused::Kind);
	assert_eq!(of(&[input, step]).unwrap_err(), Refused::NoMemory);
	assert!(matches!(of(&["(memory 1)", input, step]).unwrap_err(), Refused::Export { .. }));
	assert!(matches!(of(&[memory, step]).unwrap_err(), Refused::Export { .. }));
	let wrong = step.replace("i32 i32", "i32 i64");
	assert!(matches!(of(&[memory, input, &wrong]).unwrap_err(), Refused::Export { .. }));
	let variable = r#"(global (export "input") i32 (i32.const 0))"#;
	assert!(matches!(of(&[memory, variable, step]).unwrap_err(), Refused::Export { .. }));
}

#[test]
fn a_referee_comes_to_a_fault_where_there_is_no_module() {
	let execute = |module: &[u8], call| crate::execute(module, &Limits::MAX, call).unwrap();
	assert_eq!(execute(b"no module", Call::Step(&[])), Err(Fault::Module));
	let step = stepping("", &returns(1024, 2));
	assert_eq!(execute(&step, Call::Step(&[1, 2])).unwrap().bytes, [1, 2]);
	assert_eq!(execute(&step, Call::Map(&[1, 2], 0)), Err(Fault::Module));
	assert_eq!(execute(&step[..50], Call::Step(&[1, 2])), Err(Fault::Module));
}

proptest::proptest! {
	/// Whatever bytes a stranger sends, they are refused or prepared, and what is prepared is a module.
	#[test]
	fn nothing_panics(changes in proptest::collection::vec((0usize..400, proptest::num::u8::ANY), 1..6)) {
		let mut bytes = with("(table 2 funcref) (func $f (param i32) (result i32) (local i64)
			(block (loop (br_if 1 (local.get 0)) (br 0))) (memory.grow (local.get 0))) (elem (i32.const 0) $f)
			(data (i32.const 8) \"abc\")");
		for (at, byte) in changes {
			let at = at % bytes.len();
			bytes[at] = byte;
		}
		if let Ok(prepared) = prepare(&bytes, &Limits { fuel: 200_000, ..Limits::MAX }) {
			let machine = Machine::new(prepared).unwrap();
			let call = match machine.prepared().kind() {
				crate::Kind::Step => Call::Step(&[1, 2]),
				crate::Kind::Map => Call::Map(&[1, 2], 3),
			};
			machine.execute(call).unwrap().ok();
		}
	}
}
