//! Float operations give the same bits by an interpreter and as native code, NaN included.

use super::{
	everything::{edges, everything},
	*,
};
use proptest::prelude::*;

/// Bits that are often at the edge of something, beside all others.
fn bits() -> impl Strategy<Value = u64> {
	prop_oneof![proptest::sample::select(edges()), any::<u64>()]
}

#[cfg(feature = "native")]
#[test]
fn every_float_operation_gives_the_same_bits_by_both_engines() {
	let prepared = prepared(&module(&everything()));
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
