//! Float operations give the same bits by an interpreter and as native code, NaN included.

use super::*;
use proptest::prelude::*;

/// Instructions of two operands, and of one, whose results could be NaN of any bits.
const TWO: [&str; 7] = ["add", "sub", "mul", "div", "min", "max", "copysign"];
const ONE: [&str; 7] = ["sqrt", "ceil", "floor", "trunc", "nearest", "neg", "abs"];

/// A module that computes everything of each pair of numbers of its state, and returns the bits of all results.
fn everything() -> Vec<u8> {
	let mut code = String::new();
	let mut at = 0;
	let mut store = |kind: &str, value: String| {
		code.push_str(&format!("({kind}.store (i32.const {at}) {value})\n"));
		at += if kind == "f32" { 4 } else { 8 };
	};
	for (kind, size) in [("f32", 4), ("f64", 8)] {
		let (a, b) = (
			format!("({kind}.load (local.get $at))"),
			format!("({kind}.load offset={size} (local.get $at))"),
		);
		for op in TWO {
			store(kind, format!("({kind}.{op} {a} {b})"));
			// Results that are operands of others.
			store(kind, format!("({kind}.neg ({kind}.{op} {b} {a}))"));
			store(kind, format!("({kind}.copysign {a} ({kind}.{op} {a} {b}))"));
			store(kind, format!("({kind}.max ({kind}.{op} {a} {b}) ({kind}.{op} {b} {a}))"));
		}
		for op in ONE {
			store(kind, format!("({kind}.{op} {a})"));
			store(kind, format!("({kind}.{op} ({kind}.mul {a} {b}))"));
		}
	}
	let (single, double) = ("(f32.load (local.get $at))", "(f64.load (local.get $at))");
	store("f32", format!("(f32.demote_f64 {double})"));
	store("f64", format!("(f64.promote_f32 {single})"));
	store("f64", format!("(f64.promote_f32 (f32.demote_f64 {double}))"));
	for (kind, of) in [("f32", single), ("f64", double)] {
		for sign in ["s", "u"] {
			store("f64", format!("(f64.convert_i64_{sign} (i64.trunc_sat_{kind}_{sign} {of}))"));
			store("f32", format!("(f32.convert_i32_{sign} (i32.trunc_sat_{kind}_{sign} {of}))"));
		}
	}
	store(
		"f64",
		format!("(f64.reinterpret_i64 (i64.reinterpret_f64 (f64.add {double} {double})))"),
	);
	code.push_str(&returns(0, at));
	// The state is at 4096, behind the results.
	let text = format!(
		r#"(module (memory (export "memory") 1)
			(func (export "input") (param i32) (result i32) i32.const 4096)
			(func (export "step") (param $at i32) (param $len i32) (result i64) {code}))"#
	);
	module(&text)
}

/// Bits that are often at the edge of something, beside all others.
fn bits() -> impl Strategy<Value = u64> {
	let edges: Vec<u64> = [
		0.0f64,
		-0.0,
		1.0,
		-1.5,
		2.5,
		f64::MAX,
		f64::MIN_POSITIVE,
		f64::INFINITY,
		f64::NEG_INFINITY,
		4.5e15,
	]
	.iter()
	.flat_map(|x| [x.to_bits(), u64::from((*x as f32).to_bits()) * 0x1_0000_0001])
	.chain([
		// NaN: canonical, of the other sign, with payloads, signaling; of both widths.
		0x7ff8_0000_0000_0000,
		0xfff8_0000_0000_0000,
		0x7ff0_0000_0000_0001,
		0xfff7_ffff_ffff_ffff,
		0x7fff_ffff_ffff_ffff,
		0x7fc0_0000_7fc0_0000,
		0xffc0_0000_ffc0_0000,
		0x7f80_0001_7f80_0001,
		0xffbf_ffff_ffbf_ffff,
		1,
		0x8000_0000_0000_0001,
	])
	.collect();
	prop_oneof![proptest::sample::select(edges), any::<u64>()]
}

#[cfg(feature = "native")]
#[test]
fn every_float_operation_gives_the_same_bits_by_both_engines() {
	let prepared = prepared(&everything());
	let interpreter = Machine::new(prepared.clone()).unwrap();
	on_a_large_stack(|| {
		let native = crate::native::Machine::new(prepared).unwrap();
		proptest!(ProptestConfig::with_cases(2_000), |(a in bits(), b in bits())| {
			let state = [a.to_le_bytes(), b.to_le_bytes()].concat();
			let outcome = interpreter.execute(Call::Step(&state)).unwrap();
			prop_assert!(outcome.is_ok());
			prop_assert_eq!(outcome, native.execute(Call::Step(&state)).unwrap());
		});
	});
}

#[test]
fn a_result_that_is_not_a_number_is_the_canonical_one() {
	let of = |code: &str| {
		let step = format!("{code} {}", returns(0, 8));
		let bytes = execute(&stepping("", &step), Call::Step(&[])).unwrap().bytes;
		u64::from_le_bytes(bytes.try_into().unwrap())
	};
	// x86 makes this one negative, ARM positive.
	let zero = "(f64.store (i32.const 0) (f64.div (f64.const 0) (f64.const 0)))";
	assert_eq!(of(zero), 0x7ff8_0000_0000_0000);
	let payload =
		"(f64.store (i32.const 0) (f64.add (f64.const -nan:0x8000000001234) (f64.const 1)))";
	assert_eq!(of(payload), 0x7ff8_0000_0000_0000);
	let single = "(f32.store (i32.const 0) (f32.sqrt (f32.const -1)))";
	assert_eq!(of(single), 0x7fc0_0000);
	let narrowed = "(f32.store (i32.const 0) (f32.demote_f64 (f64.const -nan:0xc000000000000)))";
	assert_eq!(of(narrowed), 0x7fc0_0000);
	// What only moves bits keeps them.
	let kept = "(f64.store (i32.const 0) (f64.neg (f64.const nan:0x8000000001234)))";
	assert_eq!(of(kept), 0xfff8_0000_0000_1234);
}
