//! A module that computes every float instruction. The tests have it, and the bench, which compares the referee with
//! this machine.

/// Instructions of two operands, and of one, whose results could be NaN of any bits.
const TWO: [&str; 7] = ["add", "sub", "mul", "div", "min", "max", "copysign"];
const ONE: [&str; 7] = ["sqrt", "ceil", "floor", "trunc", "nearest", "neg", "abs"];

/// A module that computes everything of each pair of numbers of its state, and returns the bits of all results.
pub fn everything() -> String {
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
	code.push_str(&format!("i64.const {at}"));
	// The state is at 4096, behind the results.
	format!(
		r#"(module (memory (export "memory") 1)
			(func (export "input") (param i32) (result i32) i32.const 4096)
			(func (export "step") (param $at i32) (param $len i32) (result i64) {code}))"#
	)
}

/// Bits of numbers at the edge of something.
pub fn edges() -> Vec<u64> {
	[
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
	.collect()
}
